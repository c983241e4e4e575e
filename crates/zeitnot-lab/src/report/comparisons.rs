//! Draws the charts of a comparison of players at several time controls: ratings, matches, and how each used its clock.

use super::clock_figures::{PlayerRow, left, phases};
use super::figure::{Figure, Section, Table, at_control, color_of, each_once};
use crate::results::{ComparisonResult, RankResult};
use zeitnot_base::words::{count, counted, elo, time};
use zeitnot_charts::{Axis, Curve, DotPlot, DotRow, LinePlot, Plot, Quantity, Reference};
use zeitnot_games::{Cell, PlayerTimes};

/// Builds the section about a comparison.
pub fn section(name: &str, comparison: &ComparisonResult) -> Section {
    let ComparisonResult { cells, times, ranking } = comparison;
    let players = each_once(times.iter().map(|times| times.player.as_str()));
    let tcs = each_once(times.iter().map(|times| times.tc.as_str()));
    let games: u64 = cells.iter().map(|cell| cell.score.games).fold(0, u64::saturating_add);
    let mut figures: Vec<Figure> = [rating(ranking, &players), matches(cells)].into_iter().flatten().collect();
    for tc in &tcs {
        let own: Vec<&PlayerTimes> = times.iter().filter(|times| times.tc == *tc).collect();
        let clocks: Vec<PlayerRow> = own.iter().map(|times| clock_use(times, &players)).collect();
        figures.extend(at_control(tc, [left(&clocks), by_move(&own, &players), phases(&clocks)]));
    }
    Section {
        title: format!("Comparison of {name}"),
        introduction: format!(
            "{} at {}, {} in all.",
            counted(players.len(), "player"),
            counted(tcs.len(), "time control"),
            counted(games as usize, "game")
        ),
        figures,
        ..Section::default()
    }
}

fn clock_use(times: &PlayerTimes, players: &[&str]) -> PlayerRow {
    PlayerRow {
        name: times.player.clone(),
        games: times.clock_use.games,
        left_ms: Some(times.clock_use.clock_left_ms),
        share_by_phase: times.clock_use.share_by_phase,
        color: color_of(players, &times.player),
    }
}

/// An Elo difference as a row of a chart, with the interval `elo` ± `error` where both are known.
pub(crate) fn elo_row(name: &str, elo: Option<f64>, error: Option<f64>, color: usize) -> DotRow {
    let interval = elo.zip(error).map(|(elo, error)| [elo - error, elo + error]);
    DotRow { name: name.to_owned(), value: elo, interval, color }
}

fn rating(ranking: &[RankResult], players: &[&str]) -> Option<Figure> {
    let best = ranking.first()?;
    let mut table = Table::new(&["player", "Elo, all controls"]);
    for rank in ranking {
        table.row(vec![rank.manager.clone(), elo(rank.all.elo, rank.all.elo_error)]);
    }
    let color = |rank: &RankResult| color_of(players, &rank.manager);
    let rows = ranking.iter().map(|rank| elo_row(&rank.manager, rank.all.elo, rank.all.elo_error, color(rank)));
    let anchor = ranking.iter().find(|rank| rank.all.elo == Some(0.0) && rank.all.elo_error == Some(0.0));
    let against = anchor.map_or_else(String::new, |rank| format!(", {} being 0", rank.manager));
    Some(Figure {
        name: "ranking".to_owned(),
        title: "Ranking".to_owned(),
        caption: format!(
            "{} is first with Elo {}{against}. Lines are 95 % errors.",
            best.manager,
            elo(best.all.elo, best.all.elo_error)
        ),
        plot: Plot::Dots(DotPlot {
            axis: Axis::new("Elo", Quantity::Number),
            rows: rows.collect(),
            references: Vec::new(),
        }),
        table,
    })
}

fn matches(cells: &[Cell]) -> Option<Figure> {
    let mut table =
        Table::new(&["control", "first", "second", "games", "+ = -", "pairs", "Elo of the first", "lost on time"]);
    for Cell { tc, first, second, score, .. } in cells {
        let [one, other] = score.forfeits;
        table.row(vec![
            tc.clone(),
            first.clone(),
            second.clone(),
            score.games.to_string(),
            format!("+{} ={} -{}", score.wins, score.draws, score.losses),
            format!("{:?}", score.pentanomial),
            elo(score.elo, score.elo_error),
            format!("{one}, {other}"),
        ]);
    }
    let tcs = each_once(cells.iter().map(|cell| cell.tc.as_str()));
    let color = |cell: &Cell| color_of(&tcs, &cell.tc);
    let name = |cell: &Cell| format!("{} against {}, {}", cell.first, cell.second, cell.tc);
    let rows = cells.iter().map(|cell| elo_row(&name(cell), cell.score.elo, cell.score.elo_error, color(cell)));
    // A difference counts by its size, whichever player was named first.
    let widest = cells.iter().max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let forfeits: u64 = cells.iter().flat_map(|cell| cell.score.forfeits).fold(0, u64::saturating_add);
    let lost = if forfeits == 0 { "No game".to_owned() } else { counted(forfeits as usize, "game") };
    let were = if forfeits > 1 { "were" } else { "was" };
    Some(Figure {
        name: "elo-by-match".to_owned(),
        title: "Elo by match".to_owned(),
        caption: format!(
            "The widest difference: {}: Elo {} in {}. {lost} {were} lost on time. Lines are 95 % errors.",
            name(widest),
            elo(widest.score.elo, widest.score.elo_error),
            counted(widest.score.games as usize, "game")
        ),
        plot: Plot::Dots(DotPlot {
            axis: Axis::new("Elo of the first", Quantity::Number),
            rows: rows.collect(),
            references: vec![Reference::Value("equal".to_owned(), 0.0)],
        }),
        table,
    })
}

/// The size of a match's Elo difference, without its sign; infinite where it is beyond measure.
fn size(cell: &Cell) -> f64 {
    cell.score.elo.map_or(f64::INFINITY, f64::abs)
}

fn by_move(times: &[&PlayerTimes], players: &[&str]) -> Option<Figure> {
    let mut table = Table::new(&["player", "from move", "mean time", "mean visits", "moves"]);
    let mut curves = Vec::new();
    for own in times.iter().filter(|own| !own.clock_use.by_move.is_empty()) {
        let color = color_of(players, &own.player);
        let points = own.clock_use.by_move.iter().map(|mv| (mv.from_move as f64, mv.mean_ms)).collect();
        curves.push(Curve::line(&own.player, color, points));
        for mv in &own.clock_use.by_move {
            let (from, moves) = (mv.from_move.to_string(), mv.moves.to_string());
            table.row(vec![own.player.clone(), from, time(mv.mean_ms), count(mv.mean_playouts), moves]);
        }
    }
    let (player, mv) = times
        .iter()
        .flat_map(|own| own.clock_use.by_move.iter().map(|mv| (own.player.as_str(), mv)))
        .max_by(|a, b| a.1.mean_ms.total_cmp(&b.1.mean_ms))?;
    Some(Figure {
        name: "time-by-move".to_owned(),
        title: "Time by move number".to_owned(),
        caption: format!(
            "{player} thinks longest from move {} out of book on: {} a move. Five moves are averaged, where five games came so far.",
            mv.from_move,
            time(mv.mean_ms)
        ),
        plot: Plot::Lines(LinePlot::new(
            Axis::new("move out of book", Quantity::Count),
            Axis::new("mean time of a move", Quantity::Time),
            curves,
        )),
        table,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::Elo;
    use zeitnot_games::Score;
    use zeitnot_games::clock_use::{ClockUse, MoveTime};
    use zeitnot_games::sample::Quantiles;

    #[test]
    fn captions_name_the_ends_of_a_comparison() {
        let cell = |second: &str, elo| Cell {
            tc: "10+0.1".into(),
            first: "a".into(),
            second: second.into(),
            score: Score {
                games: 40,
                wins: 1,
                draws: 2,
                losses: 37,
                elo,
                elo_error: Some(5.0),
                forfeits: [0, 1],
                ..Score::default()
            },
            clock_left_ms: Quantiles::default(),
        };
        let by_move = [(1, 500.0), (6, 800.0)].map(|(from_move, mean_ms)| MoveTime {
            from_move,
            mean_ms,
            mean_playouts: 9.0,
            moves: 25,
        });
        let times = |player: &str| PlayerTimes {
            tc: "10+0.1".into(),
            player: player.into(),
            clock_use: ClockUse {
                games: 40,
                by_move: by_move.to_vec(),
                share_by_phase: [0.5, 0.5, 0.0],
                ..ClockUse::default()
            },
        };
        let rank = |name: &str, elo, elo_error| RankResult {
            manager: name.into(),
            all: Elo { elo: Some(elo), elo_error: Some(elo_error) },
            by_tc: Vec::new(),
        };
        let record = ComparisonResult {
            cells: vec![cell("b", Some(-30.0)), cell("c", Some(20.0))],
            times: ["a", "b", "c"].map(times).to_vec(),
            ranking: vec![rank("b", 30.0, 5.0), rank("a", 0.0, 0.0)],
        };
        let section = section("grid.json", &record);
        let captions: Vec<&str> = section.figures.iter().map(|figure| figure.caption.as_str()).collect();
        assert_eq!(captions[0], "b is first with Elo +30.0 ± 5.0, a being 0. Lines are 95 % errors.");
        assert!(
            captions[1]
                .starts_with("The widest difference: a against b, 10+0.1: Elo -30.0 ± 5.0 in 40 games. 2 games were"),
            "{}",
            captions[1]
        );
        assert!(
            captions[3].starts_with("c thinks longest from move 6 out of book on: 800 ms a move."),
            "{}",
            captions[3]
        );
        assert_eq!(section.figures[3].name, "time-by-move-10-0-1");
        assert_eq!(section.introduction, "3 players at 1 time control, 80 games in all.");
    }
}
