//! Draws the times of moves beside the budgets: the player's own, and those that our managers would have granted; and
//! the managers' estimates of the moves left beside the truth.

use super::budgets::Budgets;
use super::figure::{Figure, Table};
use zeitnot_base::words::{count, counted, grouped, percent, time};
use zeitnot_charts::{Axis, Curve, LinePlot, Mark, Plot, Quantity, Reference, Spread};
use zeitnot_games::sample::Mean;

impl Budgets<'_> {
    /// Draws the budget of each move against the time that it used. `None` where no budget is given.
    pub(crate) fn beside_used(&self) -> Option<Figure> {
        let shown = self.players.iter().zip(&self.own).enumerate();
        let shown: Vec<_> = shown.filter(|(_, (_, own))| own.budget.count > 0).collect();
        let (_, (first, first_own)) = shown.first()?;
        let mut table =
            Table::new(&["player", "moves", "mean budget", "mean time used", "used of the budget", "moves above it"]);
        for (_, (player, own)) in &shown {
            let (budget, used) = (own.budget.mean(), own.used.mean());
            let above = own.above as f64 / own.budget.count as f64;
            let of = if budget > 0.0 { percent(used / budget) } else { "-".to_owned() };
            let moves = count(own.budget.count as f64);
            table.row(vec![(*player).clone(), moves, time(budget), time(used), of, percent(above)]);
        }
        let curves = shown.iter().map(|(color, (player, _))| {
            let own = self.points.items().iter().filter(|(player, ..)| player == color);
            // A logarithmic axis has no 0: times below a millisecond are drawn as one.
            let points = own.map(|(_, budget, used)| (f64::from(budget.max(1.0)), f64::from(used.max(1.0))));
            Curve { mark: Mark::Points, ..Curve::line(player, *color, points.collect()) }
        });
        let (drawn, all) = (self.points.items().len(), self.points.seen());
        let drawn = match drawn == all {
            true => String::new(),
            false => format!(" {} of {}, drawn by chance, are shown.", count(drawn as f64), counted(all, "move")),
        };
        let cells = &table.rows[0];
        Some(Figure {
            name: "budget-beside-used".to_owned(),
            title: "Budget beside time used".to_owned(),
            caption: format!(
                "{first}: {} of the budgets is used ({} of {} a move, the means of {}), and {} of the moves take longer.{drawn}",
                cells[4],
                cells[3],
                cells[2],
                counted(first_own.budget.count, "move"),
                cells[5]
            ),
            plot: Plot::Lines(LinePlot {
                x: Axis::log("budget", Quantity::Time),
                y: Axis::log("time used", Quantity::Time),
                curves: curves.collect(),
                references: vec![Reference::Diagonal("used as granted".to_owned())],
            }),
            table,
        })
    }

    /// Draws the mean time used by move number beside the budgets that the managers would have granted on the same
    /// clocks. `None` without moves or managers.
    pub(crate) fn beside_managers(&self) -> Option<Figure> {
        if self.specs.is_empty() || self.managers.iter().all(|manager| manager.budgets.count == 0) {
            return None;
        }
        let groups = self.by_number.groups(self.is_one_game);
        // A group that a manager was not asked about has no mean of its budgets.
        let known = |mean: Mean| (mean.count > 0).then(|| mean.mean());
        let mut by_group: Vec<Vec<Option<f64>>> = vec![groups.iter().map(|(_, row)| Some(row.first.mean())).collect()];
        by_group
            .extend((0..self.specs.len()).map(|at| groups.iter().map(|(_, row)| known(row.of_managers[at])).collect()));
        let names =
            ["time used".to_owned()].into_iter().chain(self.specs.iter().map(|spec| format!("budget of {spec}")));
        let curves = names.zip(&by_group).enumerate().map(|(color, (name, means))| {
            let points =
                groups.iter().zip(means).filter_map(|((first, _), mean)| Some(((*first + 1) as f64, (*mean)?)));
            Curve::line(&name, color, points.collect())
        });
        let curves: Vec<Curve> = curves.collect();
        let mut table = Table::with_columns(&["from move", "moves", "time used"], self.specs.iter().cloned());
        for (index, (first, row)) in groups.iter().enumerate() {
            let means = by_group.iter().map(|means| means[index].map_or_else(|| "-".to_owned(), time));
            table.row([(first + 1).to_string(), row.first.count.to_string()].into_iter().chain(means).collect());
        }
        let budgets = self.specs.iter().zip(&self.managers).map(|(spec, manager)| {
            let (granted, used) = (manager.budgets.mean(), manager.used.mean());
            let of = if used > 0.0 { format!(", {:.2} of it", granted / used) } else { String::new() };
            format!("{spec} would have granted {}{of}", time(granted))
        });
        Some(Figure {
            name: "used-beside-managers".to_owned(),
            title: "Time used beside the budgets of managers".to_owned(),
            caption: format!(
                "A move took {} on average, of {}; on the same clocks {}.",
                time(self.used.mean()),
                counted(self.used.count, "move"),
                budgets.collect::<Vec<_>>().join("; ")
            ),
            plot: Plot::Lines(LinePlot::new(
                Axis::new("move out of book", Quantity::Count),
                Axis::new("mean time of a move", Quantity::Time),
                curves,
            )),
            table,
        })
    }

    /// Draws the managers' estimates of the moves left over the moves that were left. `None` where no estimate is
    /// given.
    pub fn moves_left(&self) -> Option<Figure> {
        let managers = self.specs.iter().zip(&self.managers).enumerate();
        let estimating: Vec<(usize, &String, f64)> = managers
            .filter(|(_, (_, manager))| manager.estimates_all())
            .filter_map(|(at, (spec, manager))| Some((at, spec, manager.moves_left_errors()?[0])))
            .collect();
        let moves = estimating.first().map(|(at, ..)| self.managers[*at].budgets.count)?;
        let groups = self.by_moves_left.groups(self.is_one_game);
        let truth: Vec<f64> = groups.iter().map(|(_, row)| row.first.mean()).collect();
        // Each manager keeps its colour from the chart of the times used.
        let curve = |(at, spec, _): &(usize, &String, f64)| {
            let means = groups.iter().map(|(_, row)| row.of_managers[*at].mean());
            Curve { spread: Spread::None, ..Curve::line(spec, at + 1, truth.iter().copied().zip(means).collect()) }
        };
        let curves: Vec<Curve> = estimating.iter().map(curve).collect();
        let names = estimating.iter().map(|(_, spec, _)| (*spec).clone());
        let mut table = Table::with_columns(&["moves left", "moves"], names);
        for (index, (_, row)) in groups.iter().enumerate() {
            let estimates = curves.iter().map(|curve| grouped(curve.points[index].1, 1));
            let moves = row.first.count.to_string();
            table.row([grouped(truth[index], 1), moves].into_iter().chain(estimates).collect());
        }
        let errors = estimating
            .iter()
            .map(|(_, spec, median)| format!("{spec}'s by {}", counted(median.round() as usize, "move")));
        Some(Figure {
            name: "moves-left".to_owned(),
            title: "Moves left: estimates beside the truth".to_owned(),
            caption: format!(
                "Estimates of {} miss the moves that were left, in the median: {}. Lines are mean estimates.",
                counted(moves, "move"),
                errors.collect::<Vec<_>>().join(", ")
            ),
            plot: Plot::Lines(LinePlot {
                x: Axis::new("moves that were left", Quantity::Count),
                y: Axis::new("estimate of the moves left", Quantity::Count),
                curves,
                references: vec![Reference::Diagonal("the truth".to_owned())],
            }),
            table,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::budgets::{BudgetedMove, MOST_POINTS};
    use super::*;

    fn mv(game: usize, number: usize, used_ms: f64, estimate: f64) -> BudgetedMove {
        BudgetedMove {
            game,
            player: Some(0),
            number,
            used_ms,
            budget_ms: Some(2.0 * used_ms),
            moves_left: (11 - number) as f64,
            budgets_ms: vec![Some(used_ms / 2.0)],
            estimates: vec![Some(estimate)],
        }
    }

    fn specs(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    fn budgets<'a>(players: &'a [String], specs: &'a [String], moves: &[BudgetedMove]) -> Budgets<'a> {
        let mut budgets = Budgets::new(players, specs);
        moves.iter().for_each(|mv| budgets.add(mv));
        budgets
    }

    #[test]
    fn captions_have_the_means_of_the_moves() {
        let moves: Vec<BudgetedMove> = (1..=10).map(|number| mv(0, number, 1_000.0 * number as f64, 8.0)).collect();
        let (players, specs) = (specs(&["a"]), specs(&["smooth"]));
        let budgets = budgets(&players, &specs, &moves);
        let used = budgets.beside_used().unwrap();
        assert!(
            used.caption
                .starts_with("a: 50 % of the budgets is used (5.5 s of 11 s a move, the means of 10 moves), and 0 %"),
            "{}",
            used.caption
        );
        let managers = budgets.beside_managers().unwrap();
        assert!(managers.caption.contains("smooth would have granted 2.75 s, 0.50 of it"), "{}", managers.caption);
        assert_eq!(managers.table.rows.len(), 10, "a game alone is not averaged");
        let left = budgets.moves_left().unwrap();
        // Errors of 0 to 7: the sixth of them in order is 3.
        assert!(left.caption.contains("smooth's by 3 moves"), "{}", left.caption);
        let Plot::Lines(plot) = &left.plot else { panic!() };
        assert_eq!((plot.curves[0].points[0], plot.curves[0].points[9]), ((1.0, 8.0), (10.0, 8.0)));
    }

    #[test]
    fn a_manager_without_an_estimate_is_left_out() {
        let mut moves: Vec<BudgetedMove> = (1..=10).map(|number| mv(0, number, 1_000.0, 8.0)).collect();
        let specs = specs(&["simple", "smooth"]);
        moves.iter_mut().for_each(|mv| mv.estimates.insert(0, None));
        moves.iter_mut().for_each(|mv| mv.budgets_ms.push(Some(100.0)));
        let figure = budgets(&[], &specs, &moves).moves_left().unwrap();
        assert_eq!(figure.table.head, ["moves left", "moves", "smooth"]);
        let Plot::Lines(plot) = &figure.plot else { panic!() };
        assert_eq!((plot.curves.len(), plot.curves[0].color), (1, 2));
        moves.iter_mut().for_each(|mv| mv.estimates[1] = None);
        assert!(budgets(&[], &specs, &moves).moves_left().is_none());
    }

    #[test]
    fn several_games_are_averaged_in_steps_of_five_moves() {
        let games = (0..3).flat_map(|game| (1..=6).map(move |number| mv(game, number, 100.0 * (game + 1) as f64, 1.0)));
        let specs = specs(&["smooth"]);
        let managers = budgets(&[], &specs, &games.collect::<Vec<_>>()).beside_managers().unwrap();
        assert_eq!(managers.table.rows, [["1", "15", "200 ms", "100 ms"]], "three moves are too few");
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let unknown = [BudgetedMove { player: Some(0), number: 1, moves_left: 1.0, ..BudgetedMove::default() }];
        let (players, specs) = (specs(&["a"]), specs(&["smooth"]));
        let budgets = budgets(&players, &specs, &unknown);
        assert!(budgets.beside_used().is_none() && budgets.beside_managers().is_none());
        assert!(budgets.moves_left().is_none());
    }

    #[test]
    fn many_points_are_a_sample_of_both_players() {
        let (players, specs) = (specs(&["a", "b"]), Vec::new());
        let moves: Vec<BudgetedMove> = (0..9_000)
            .map(|number| BudgetedMove { player: Some(number % 2), budgets_ms: Vec::new(), ..mv(number, 1, 9.0, 1.0) })
            .collect();
        let figure = budgets(&players, &specs, &moves).beside_used().unwrap();
        let Plot::Lines(plot) = &figure.plot else { panic!() };
        assert_eq!(plot.curves.iter().map(|curve| curve.points.len()).sum::<usize>(), MOST_POINTS);
        assert!(plot.curves.iter().all(|curve| curve.points.len() > 900), "{}", figure.caption);
        assert!(figure.caption.ends_with(" 2,000 of 9,000 moves, drawn by chance, are shown."), "{}", figure.caption);
    }
}
