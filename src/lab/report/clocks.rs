//! Draws the clocks of the players over the moves of their games.

use super::figure::{Figure, Table};
use super::games::AuditedGame;
use super::svg::{Axis, Curve, LinePlot, Mark, Plot, Quantity, Spread};
use super::words::{count, counted, time};
use crate::chess::Color;
use crate::lab::time_use::Quantiles;
use std::collections::BTreeMap;

/// Games of a player from which its clocks are drawn as a band; those of fewer are drawn one by one.
const BAND_GAMES: usize = 6;
/// Players whose bands are drawn; those of more would hide each other, so that their medians are drawn alone.
const MOST_BANDS: usize = 3;
/// The share of a player's games that must have come to a move for its quantiles to be told: the long games of a few
/// would pass for the course of all.
const LEAST_SHARE: f64 = 0.25;

/// A clock at the beginning of a move: the number of the move, and milliseconds.
type Course = Vec<(f64, f64)>;

/// The clock of one side of a game at the beginning of each of its moves, and after the last one. Moves are counted as
/// the game counts them; those of Black lie half a move behind White's if `is_by_ply`.
pub fn course(game: &AuditedGame, color: Color, is_by_ply: bool) -> Course {
    let positions = game.game.game.positions();
    let place = |ply: usize| {
        let ply = f64::from(positions[ply].ply());
        1.0 + if is_by_ply { ply / 2.0 } else { (ply / 2.0).floor() }
    };
    let own = game.times.moves.iter().filter(|mv| mv.color == color);
    let mut course: Course = own.map(|mv| (place(mv.ply), mv.clock_ms)).collect();
    let end_ms = game.times.end_ms[usize::from(color == Color::Black)];
    if let (Some((last, _)), Some(end_ms)) = (course.last().copied(), end_ms) {
        course.push((last + 1.0, end_ms.max(0.0)));
    }
    course
}

/// Draws the clocks of these players in these games. `None` where no clock is known.
pub fn clocks(games: &[AuditedGame], players: &[String]) -> Option<Figure> {
    let courses: Vec<Vec<(usize, Course)>> = players.iter().map(|player| courses_of(games, player)).collect();
    // Each player for itself: one with a few games does not turn the bands of the others into hundreds of lines.
    let is_banded = |courses: &[(usize, Course)]| courses.len() >= BAND_GAMES;
    let has_bands = courses.iter().any(|courses| is_banded(courses));
    let has_games = courses.iter().any(|courses| !courses.is_empty() && !is_banded(courses));
    let columns: &[usize] = match (has_bands, has_games) {
        (true, true) => &[0, 1, 2, 3, 4, 5, 6],
        (true, false) => &[0, 2, 3, 4, 5, 6],
        (false, _) => &[0, 1, 2, 5],
    };
    let last = if has_bands { "median" } else { "clock" };
    let head = ["player", "game", "move", "games", "5 %", last, "95 %"];
    let mut table = Table::new(&columns.iter().map(|column| head[*column]).collect::<Vec<_>>());
    let mut row = |cells: [String; 7]| table.row(columns.iter().map(|column| cells[*column].clone()).collect());
    let dash = || "-".to_owned();
    let mut curves = Vec::new();
    for (color, (player, courses)) in players.iter().zip(&courses).enumerate() {
        if is_banded(courses) {
            let by_move = quantiles(courses);
            let band = by_move.iter().map(|(at, _, clock)| (*at, clock.p5, clock.p95)).collect();
            let points = by_move.iter().map(|(at, _, clock)| (*at, clock.p50)).collect();
            let spread = if players.len() <= MOST_BANDS { Spread::Band(band) } else { Spread::None };
            curves.push(Curve { spread, ..Curve::line(player, color, points) });
            for (at, games, clock) in by_move {
                let [p5, p50, p95] = [clock.p5, clock.p50, clock.p95].map(time);
                row([player.clone(), dash(), count(at), games.to_string(), p5, p50, p95]);
            }
            continue;
        }
        let mark = if games.len() == 1 { Mark::Line } else { Mark::Thin };
        for (number, course) in courses {
            for (at, clock_ms) in course {
                let one = "1".to_owned();
                row([player.clone(), number.to_string(), count(*at), one, dash(), time(*clock_ms), dash()]);
            }
            curves.push(Curve { mark, ..Curve::line(player, color, course.clone()) });
        }
    }
    if curves.iter().all(|curve| curve.points.is_empty()) {
        return None;
    }
    // One sentence for each of many players would be a table, and that stands below.
    let told = if players.len() > MOST_BANDS { &players[..1] } else { players };
    let ends: Vec<String> = told.iter().map(|player| end(games, player)).collect();
    let mut drawn = match (has_bands, players.len() <= MOST_BANDS) {
        (true, true) => " Lines are medians of the games that came so far, with bands from 5 to 95 %.".to_owned(),
        (true, false) => " Lines are medians of the games that came so far.".to_owned(),
        (false, _) => String::new(),
    };
    if has_bands && has_games {
        drawn += &format!(" Thin lines are single games of players with fewer than {BAND_GAMES}.");
    }
    Some(Figure {
        name: "clocks".to_owned(),
        title: "Clocks by move".to_owned(),
        caption: format!("{}.{drawn}", ends.join("; ")),
        plot: Plot::Lines(LinePlot {
            x: Axis::new("move", Quantity::Count),
            y: Axis::new("clock", Quantity::Time),
            curves,
            references: Vec::new(),
            marker: None,
        }),
        table,
    })
}

/// The clocks of a player in each of its games, with the number of the game in its file.
fn courses_of(games: &[AuditedGame], player: &str) -> Vec<(usize, Course)> {
    let sides = |game| [Color::White, Color::Black].into_iter().map(move |color| (game, color));
    games
        .iter()
        .flat_map(sides)
        .filter(|(game, color)| game.player(*color) == player)
        .map(|(game, color)| (game.game.number, course(game, color, false)))
        .filter(|(_, course)| !course.is_empty())
        .collect()
}

/// By move: its number, the games that came so far, and their clocks.
fn quantiles(courses: &[(usize, Course)]) -> Vec<(f64, usize, Quantiles)> {
    let least = (courses.len() as f64 * LEAST_SHARE).ceil().max(2.0) as usize;
    // A game may begin at any number of moves: only those that there are are looked at.
    let mut by_move: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (at, clock_ms) in courses.iter().flat_map(|(_, course)| course) {
        by_move.entry(*at as u64).or_default().push(*clock_ms);
    }
    let told = by_move.into_iter().filter(|(_, clocks)| clocks.len() >= least);
    told.map(|(number, clocks)| (number as f64, clocks.len(), Quantiles::of(clocks))).collect()
}

/// `smooth has 2.5 s of 10 s left at the end (median of 20 games)`.
fn end(games: &[AuditedGame], player: &str) -> String {
    let (mut starts, mut ends) = (Vec::new(), Vec::new());
    for game in games {
        for (side, color) in [Color::White, Color::Black].into_iter().enumerate() {
            if game.player(color) == player && game.times.moves.iter().any(|mv| mv.color == color) {
                starts.extend(game.times.start_ms[side]);
                ends.extend(game.times.end_ms[side]);
            }
        }
    }
    let of = match &starts[..] {
        [start, rest @ ..] if starts.len() == ends.len() && rest.iter().all(|other| other == start) => {
            format!(" of {}", time(*start))
        }
        _ => String::new(),
    };
    let median = time(Quantiles::of(ends.clone()).p50);
    match ends.len() {
        0 => format!("the clock of {player} at the end is not known"),
        1 => format!("{player} has {median}{of} left at the end"),
        games => format!("{player} has {median}{of} left at the end (median of {})", counted(games, "game")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::games::audited;
    use super::*;

    #[test]
    fn one_game_has_two_curves_and_its_clocks_in_the_caption() {
        let games = audited(
            "[White \"a\"]\n[Black \"b\"]\n[TimeControl \"10+1\"]\n\n1. e4 {0.1/5 2s} e5 {0.0/5 3s} 2. Nf3 {0.0/4 1s} *\n",
        );
        let figure = clocks(&games, &["a".to_owned(), "b".to_owned()]).unwrap();
        assert_eq!(figure.caption, "a has 9 s of 10 s left at the end; b has 8 s of 10 s left at the end.");
        let Plot::Lines(plot) = &figure.plot else { panic!() };
        assert_eq!(plot.curves[0].points, [(1.0, 10_000.0), (2.0, 9_000.0), (3.0, 9_000.0)]);
        assert_eq!(plot.curves[1].points, [(1.0, 10_000.0), (2.0, 8_000.0)]);
        assert_eq!(course(&games[0], Color::Black, true)[0].0, 1.5);
    }

    #[test]
    fn many_games_have_bands_of_those_that_came_so_far() {
        let game = |used: u32, moves: &str| {
            format!(
                "[White \"a\"]\n[Black \"b\"]\n[TimeControl \"100\"]\n\n1. e4 {{0.1/5 {used}s}} e5 {{0.0/5 1s}} {moves} *\n\n"
            )
        };
        let text: String = (1..=8).map(|used| game(used, if used == 8 { "2. Nf3 {0.1/5 1s}" } else { "" })).collect();
        let figure = clocks(&audited(&text), &["a".to_owned(), "b".to_owned()]).unwrap();
        let Plot::Lines(plot) = &figure.plot else { panic!() };
        // After the first moves 1 to 8 s are gone; only one game came to the third.
        assert_eq!(plot.curves[0].points, [(1.0, 100_000.0), (2.0, 96_000.0)]);
        assert_eq!(plot.curves[0].spread, Spread::Band(vec![(1.0, 100_000.0, 100_000.0), (2.0, 92_000.0, 99_000.0)]));
        assert!(
            figure.caption.starts_with("a has 96 s of 100 s left at the end (median of 8 games); b has 99 s"),
            "{}",
            figure.caption
        );
    }

    #[test]
    fn one_player_with_few_games_leaves_the_bands_of_the_others() {
        let game = |white: &str, used: u32| {
            format!(
                "[White \"{white}\"]\n[Black \"b\"]\n[TimeControl \"100\"]\n\n1. e4 {{0.1/5 {used}s}} e5 {{0.0/5 1s}} *\n\n"
            )
        };
        let text: String = (1..=8).map(|used| game(if used == 7 { "c" } else { "a" }, used)).collect();
        let players = ["a", "b", "c"].map(str::to_owned);
        let figure = clocks(&audited(&text), &players).unwrap();
        let Plot::Lines(plot) = &figure.plot else { panic!() };
        let marks: Vec<(Mark, bool)> =
            plot.curves.iter().map(|curve| (curve.mark, curve.spread != Spread::None)).collect();
        assert_eq!(marks, [(Mark::Line, true), (Mark::Line, true), (Mark::Thin, false)]);
        // The seventh game of the file, the first of this player.
        assert_eq!(figure.table.rows.last().unwrap(), &["c", "7", "2", "1", "-", "93 s", "-"]);
        assert!(figure.caption.ends_with("Thin lines are single games of players with fewer than 6."));
        let alone = clocks(&audited(&text), &players[2..]).unwrap();
        assert_eq!(alone.table.rows[0], ["c", "7", "1", "100 s"]);
    }
}
