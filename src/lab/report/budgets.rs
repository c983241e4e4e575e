//! Draws the times of moves beside the budgets: the player's own, and those that our managers would have granted; and the
//! managers' estimates of the moves left beside the truth.

use super::figure::{Figure, Table};
use super::svg::{Axis, Curve, LinePlot, Mark, Plot, Quantity, Reference, Spread};
use super::words::{count, counted, grouped, percent, time};

/// Moves that are averaged together, as in the tables of `time compare`.
const STRIDE: usize = 5;
/// Moves that an average needs.
const LEAST_MOVES: usize = 5;
/// Points that a chart shows; more make a blot, and a large file.
const MOST_POINTS: usize = 2_000;

/// A move of a game, and what managers say of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AuditedMove {
    /// The number of its game among those that are told of.
    pub game: usize,
    /// Who played it; empty where that is not known.
    pub player: String,
    /// Its number among the moves of this side that have times, from 1.
    pub number: usize,
    /// Time used, in milliseconds.
    pub used_ms: f64,
    /// The budget of the player's own time manager, in milliseconds, where it is told.
    pub budget_ms: Option<f64>,
    /// Moves of this side that followed, this one among them.
    pub moves_left: f64,
    /// The budget of each manager that was asked, in milliseconds; `None` where one is not told.
    pub budgets_ms: Vec<Option<f64>>,
    /// The moves left by each manager's estimate, `None` where it makes none; empty where they are not told.
    pub estimates: Vec<Option<f64>>,
}

fn mean(numbers: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = numbers.fold((0.0, 0), |(sum, count), number| (sum + number, count + 1));
    if count > 0 { sum / f64::from(count) } else { 0.0 }
}

/// Draws the budget of each move against the time that it used. `None` where no budget is told.
pub fn beside_used(players: &[String], moves: &[AuditedMove]) -> Option<Figure> {
    let budgets = |player: &str| -> Vec<(f64, f64)> {
        let own = moves.iter().filter(|mv| mv.player == *player);
        own.filter_map(|mv| Some((mv.budget_ms?, mv.used_ms))).collect()
    };
    let by_player: Vec<_> = players
        .iter()
        .enumerate()
        .map(|(color, player)| (color, player, budgets(player)))
        .filter(|(_, _, budgets)| !budgets.is_empty())
        .collect();
    let all: usize = by_player.iter().map(|(_, _, budgets)| budgets.len()).sum();
    let (_, first, first_budgets) = by_player.first()?;
    let every = all.div_ceil(MOST_POINTS);
    let mut table =
        Table::new(&["player", "moves", "mean budget", "mean time used", "used of the budget", "moves above it"]);
    for (_, player, budgets) in &by_player {
        let (budget, used) = (mean(budgets.iter().map(|pair| pair.0)), mean(budgets.iter().map(|pair| pair.1)));
        let above = budgets.iter().filter(|(budget, used)| used > budget).count() as f64 / budgets.len() as f64;
        let of = if budget > 0.0 { percent(used / budget) } else { "-".to_owned() };
        table.row(vec![(*player).clone(), count(budgets.len() as f64), time(budget), time(used), of, percent(above)]);
    }
    let curves = by_player.iter().map(|(color, player, budgets)| Curve {
        mark: Mark::Points,
        // A logarithmic axis has no 0: less than a millisecond is one.
        ..Curve::line(
            player,
            *color,
            budgets.iter().step_by(every).map(|(budget, used)| (budget.max(1.0), used.max(1.0))).collect(),
        )
    });
    let shown = match every {
        1 => String::new(),
        _ => format!(" One in {every} of {} is drawn.", counted(all, "move")),
    };
    let cells = &table.rows[0];
    Some(Figure {
        name: "budget-beside-used".to_owned(),
        title: "Budget beside time used".to_owned(),
        caption: format!(
            "{first}: {} of the budgets is used ({} of {} a move, the means of {}), and {} of the moves take longer.{shown}",
            cells[4],
            cells[3],
            cells[2],
            counted(first_budgets.len(), "move"),
            cells[5]
        ),
        plot: Plot::Lines(LinePlot {
            x: Axis::log("budget", Quantity::Time),
            y: Axis::log("time used", Quantity::Time),
            curves: curves.collect(),
            references: vec![Reference::Diagonal("used as granted".to_owned())],
            marker: None,
        }),
        table,
    })
}

/// Moves in groups of the same numbers, each with its first number; small groups are left out.
fn groups(moves: &[AuditedMove], number: impl Fn(&AuditedMove) -> usize) -> Vec<(usize, Vec<&AuditedMove>)> {
    let last = moves.iter().map(&number).max().unwrap_or(0);
    // Five moves of one game are no average over games.
    let is_one_game = moves.iter().all(|mv| mv.game == moves[0].game);
    let (stride, least) = if is_one_game { (1, 1) } else { (STRIDE, LEAST_MOVES) };
    let mut groups: Vec<(usize, Vec<&AuditedMove>)> =
        (1..=last).step_by(stride).map(|first| (first, Vec::new())).collect();
    for mv in moves {
        if let Some(index) = number(mv).checked_sub(1) {
            groups[index / stride].1.push(mv);
        }
    }
    groups.retain(|(_, moves)| moves.len() >= least);
    groups
}

/// Draws the mean time used by move number beside the budgets that the managers would have granted on the same clocks.
/// `None` without moves or managers.
pub fn beside_managers(specs: &[String], moves: &[AuditedMove]) -> Option<Figure> {
    if specs.is_empty() || moves.is_empty() {
        return None;
    }
    let groups = groups(moves, |mv| mv.number);
    // A group that a manager was not asked about has no mean of its budgets.
    let means = |of: &dyn Fn(&AuditedMove) -> Option<f64>| -> Vec<Option<f64>> {
        let known = |moves: &[&AuditedMove]| moves.iter().filter_map(|mv| of(mv)).collect::<Vec<f64>>();
        let mean_of = |known: Vec<f64>| (!known.is_empty()).then(|| mean(known.into_iter()));
        groups.iter().map(|(_, moves)| mean_of(known(moves))).collect()
    };
    let mut by_group = vec![means(&|mv| Some(mv.used_ms))];
    by_group.extend((0..specs.len()).map(|at| means(&|mv| mv.budgets_ms[at])));
    let names = ["time used".to_owned()].into_iter().chain(specs.iter().map(|spec| format!("budget of {spec}")));
    let curves = names.zip(&by_group).enumerate().map(|(color, (name, means))| {
        let points = groups.iter().zip(means).filter_map(|((first, _), mean)| Some((*first as f64, (*mean)?)));
        Curve::line(&name, color, points.collect())
    });
    let curves: Vec<Curve> = curves.collect();
    let mut table = Table::with_columns(&["from move", "moves", "time used"], specs.iter().cloned());
    for (index, (first, moves)) in groups.iter().enumerate() {
        let means = by_group.iter().map(|means| means[index].map_or_else(|| "-".to_owned(), time));
        table.row([first.to_string(), moves.len().to_string()].into_iter().chain(means).collect());
    }
    let used = mean(moves.iter().map(|mv| mv.used_ms));
    let budgets = specs.iter().enumerate().map(|(at, spec)| {
        let asked = || moves.iter().filter_map(|mv| Some((mv.budgets_ms[at]?, mv.used_ms)));
        let (granted, used) = (mean(asked().map(|pair| pair.0)), mean(asked().map(|pair| pair.1)));
        let of = if used > 0.0 { format!(", {:.2} of it", granted / used) } else { String::new() };
        format!("{spec} would have granted {}{of}", time(granted))
    });
    Some(Figure {
        name: "used-beside-managers".to_owned(),
        title: "Time used beside the budgets of managers".to_owned(),
        caption: format!(
            "A move took {} on average, of {}; on the same clocks {}.",
            time(used),
            counted(moves.len(), "move"),
            budgets.collect::<Vec<_>>().join("; ")
        ),
        plot: Plot::Lines(LinePlot {
            x: Axis::new("move out of book", Quantity::Count),
            y: Axis::new("mean time of a move", Quantity::Time),
            curves,
            references: Vec::new(),
            marker: None,
        }),
        table,
    })
}

/// Draws the moves left by the managers' estimates over those that were left, as far as managers estimate them. `None` where no
/// estimate is told.
pub fn moves_left(specs: &[String], moves: &[AuditedMove]) -> Option<Figure> {
    if specs.is_empty() || moves.is_empty() || moves.iter().any(|mv| mv.estimates.len() != specs.len()) {
        return None;
    }
    let estimates: Vec<(usize, &String, Vec<f64>)> = specs
        .iter()
        .enumerate()
        .filter_map(|(at, spec)| Some((at, spec, moves.iter().map(|mv| mv.estimates[at]).collect::<Option<_>>()?)))
        .collect();
    if estimates.is_empty() {
        return None;
    }
    let groups = groups(moves, |mv| mv.moves_left as usize);
    let truth: Vec<f64> = groups.iter().map(|(_, moves)| mean(moves.iter().map(|mv| mv.moves_left))).collect();
    // A manager has the colour that it has beside the times used.
    let curve = |(at, spec, _): &(usize, &String, Vec<f64>)| {
        let means = groups.iter().map(|(_, moves)| mean(moves.iter().filter_map(|mv| mv.estimates[*at])));
        Curve { spread: Spread::None, ..Curve::line(spec, at + 1, truth.iter().copied().zip(means).collect()) }
    };
    let curves: Vec<Curve> = estimates.iter().map(curve).collect();
    let names = estimates.iter().map(|(_, spec, _)| (*spec).clone());
    let mut table = Table::with_columns(&["moves left", "moves"], names);
    for (index, (_, moves)) in groups.iter().enumerate() {
        let estimates = curves.iter().map(|curve| grouped(curve.points[index].1, 1));
        table.row([grouped(truth[index], 1), moves.len().to_string()].into_iter().chain(estimates).collect());
    }
    let errors = estimates.iter().map(|(_, spec, estimates)| {
        let mut errors: Vec<f64> =
            moves.iter().zip(estimates).map(|(mv, estimate)| (estimate - mv.moves_left).abs()).collect();
        errors.sort_by(f64::total_cmp);
        format!("{spec}'s by {}", counted(errors[errors.len() / 2].round() as usize, "move"))
    });
    Some(Figure {
        name: "moves-left".to_owned(),
        title: "Moves left: estimates beside the truth".to_owned(),
        caption: format!(
            "Estimates of {} miss the moves that were left, in the median: {}. Lines are mean estimates.",
            counted(moves.len(), "move"),
            errors.collect::<Vec<_>>().join(", ")
        ),
        plot: Plot::Lines(LinePlot {
            x: Axis::new("moves that were left", Quantity::Count),
            y: Axis::new("estimate of the moves left", Quantity::Count),
            curves,
            references: vec![Reference::Diagonal("the truth".to_owned())],
            marker: None,
        }),
        table,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mv(game: usize, number: usize, used_ms: f64, estimate: f64) -> AuditedMove {
        AuditedMove {
            game,
            player: "a".into(),
            number,
            used_ms,
            budget_ms: Some(2.0 * used_ms),
            moves_left: (11 - number) as f64,
            budgets_ms: vec![Some(used_ms / 2.0)],
            estimates: vec![Some(estimate)],
        }
    }

    #[test]
    fn captions_have_the_means_of_the_moves() {
        let moves: Vec<AuditedMove> = (1..=10).map(|number| mv(0, number, 1_000.0 * number as f64, 8.0)).collect();
        let specs = ["smooth".to_owned()];
        let used = beside_used(&["a".to_owned()], &moves).unwrap();
        assert!(
            used.caption
                .starts_with("a: 50 % of the budgets is used (5.5 s of 11 s a move, the means of 10 moves), and 0 %"),
            "{}",
            used.caption
        );
        let managers = beside_managers(&specs, &moves).unwrap();
        assert!(managers.caption.contains("smooth would have granted 2.8 s, 0.50 of it"), "{}", managers.caption);
        assert_eq!(managers.table.rows.len(), 10, "a game alone is not averaged");
        let left = moves_left(&specs, &moves).unwrap();
        // Errors of 0 to 7: the sixth of them in order is 3.
        assert!(left.caption.contains("smooth's by 3 moves"), "{}", left.caption);
        let Plot::Lines(plot) = &left.plot else { panic!() };
        assert_eq!((plot.curves[0].points[0], plot.curves[0].points[9]), ((1.0, 8.0), (10.0, 8.0)));
    }

    #[test]
    fn a_manager_without_an_estimate_is_left_out() {
        let mut moves: Vec<AuditedMove> = (1..=10).map(|number| mv(0, number, 1_000.0, 8.0)).collect();
        let specs = ["simple", "smooth"].map(str::to_owned);
        moves.iter_mut().for_each(|mv| mv.estimates.insert(0, None));
        let figure = moves_left(&specs, &moves).unwrap();
        assert_eq!(figure.table.head, ["moves left", "moves", "smooth"]);
        let Plot::Lines(plot) = &figure.plot else { panic!() };
        assert_eq!((plot.curves.len(), plot.curves[0].color), (1, 2));
        moves.iter_mut().for_each(|mv| mv.estimates[1] = None);
        assert!(moves_left(&specs, &moves).is_none());
    }

    #[test]
    fn several_games_are_averaged_in_steps_of_five_moves() {
        let games = (0..3).flat_map(|game| (1..=6).map(move |number| mv(game, number, 100.0 * (game + 1) as f64, 1.0)));
        let managers = beside_managers(&["smooth".to_owned()], &games.collect::<Vec<_>>()).unwrap();
        assert_eq!(managers.table.rows, [["1", "15", "200 ms", "100 ms"]], "three moves are too few");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let unknown = AuditedMove { player: "a".into(), number: 1, moves_left: 1.0, ..AuditedMove::default() };
        let unknown = [unknown];
        assert!(beside_used(&["a".to_owned()], &unknown).is_none());
        assert!(beside_managers(&[], &unknown).is_none() && moves_left(&["smooth".to_owned()], &unknown).is_none());
    }
}
