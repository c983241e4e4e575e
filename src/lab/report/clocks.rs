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
    let courses: Vec<Vec<Course>> = players.iter().map(|player| courses_of(games, player)).collect();
    let is_banded = courses.iter().all(|courses| courses.len() >= BAND_GAMES);
    let mut curves = Vec::new();
    let mut table = match is_banded {
        true => Table::new(&["player", "move", "games", "5 %", "median", "95 %"]),
        false => Table::new(&["player", "game", "move", "clock"]),
    };
    for (color, (player, courses)) in players.iter().zip(&courses).enumerate() {
        if is_banded {
            let by_move = quantiles(courses);
            let band = by_move.iter().map(|(at, _, clock)| (*at, clock.p5, clock.p95)).collect();
            let points = by_move.iter().map(|(at, _, clock)| (*at, clock.p50)).collect();
            let spread = if players.len() <= MOST_BANDS { Spread::Band(band) } else { Spread::None };
            curves.push(Curve { spread, ..Curve::line(player, color, points) });
            for (at, games, clock) in by_move {
                let times = [clock.p5, clock.p50, clock.p95].map(time);
                table.row([player.clone(), count(at), games.to_string()].into_iter().chain(times).collect());
            }
            continue;
        }
        let mark = if games.len() == 1 { Mark::Line } else { Mark::Thin };
        for (number, course) in courses.iter().enumerate() {
            for (at, clock_ms) in course {
                table.row(vec![player.clone(), (number + 1).to_string(), count(*at), time(*clock_ms)]);
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
    let drawn = match (is_banded, players.len() <= MOST_BANDS) {
        (true, true) => " Lines are medians of the games that came so far, with bands from 5 to 95 %.",
        (true, false) => " Lines are medians of the games that came so far.",
        (false, _) => "",
    };
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

/// The clocks of a player in each of its games.
fn courses_of(games: &[AuditedGame], player: &str) -> Vec<Course> {
    let sides = |game| [Color::White, Color::Black].into_iter().map(move |color| (game, color));
    games
        .iter()
        .flat_map(sides)
        .filter(|(game, color)| game.player(*color) == player)
        .map(|(game, color)| course(game, color, false))
        .filter(|course| !course.is_empty())
        .collect()
}

/// By move: its number, the games that came so far, and their clocks.
fn quantiles(courses: &[Course]) -> Vec<(f64, usize, Quantiles)> {
    let least = (courses.len() as f64 * LEAST_SHARE).ceil().max(2.0) as usize;
    // A game may begin at any number of moves: only those that there are are looked at.
    let mut by_move: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for (at, clock_ms) in courses.iter().flatten() {
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
}
