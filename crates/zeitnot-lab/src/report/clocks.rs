//! Draws the clocks of the players over the moves of their games.

use super::clock_figures::{MOST_BANDS, banded};
use super::figure::{Figure, Table};
use super::games::AuditedGame;
use std::collections::BTreeMap;
use zeitnot_base::words::{count, counted, percent, time};
use zeitnot_charts::{Axis, Curve, LinePlot, Mark, Plot, Quantity};
use zeitnot_engine::chess::Color;
use zeitnot_games::sample::{Quantiles, Sample};

/// Least games of a player whose clocks are drawn as a band; clocks of fewer games are drawn one by one.
const BAND_GAMES: usize = 6;
/// Least share of a player's games that must come to a move for its quantiles to be shown: a few long games would pass
/// for the course of all.
const LEAST_SHARE: f64 = 0.25;
/// Most clocks of a player at one move that are kept for their quantiles.
const MOST_CLOCKS: usize = 4_000;

/// A clock at the beginning of a move: the number of the move, and milliseconds.
type Course = Vec<(f64, f64)>;

/// The clock of one side of a game at the beginning of each of its moves, and after the last one. Moves are counted as
/// the game counts them.
fn course(game: &AuditedGame, color: Color) -> Course {
    let positions = game.game.game.positions();
    let place = |ply: usize| 1.0 + (f64::from(positions[ply].ply()) / 2.0).floor();
    let own = game.times.moves.iter().filter(|mv| mv.color == color);
    let mut course: Course = own.filter_map(|mv| Some((place(mv.ply), mv.clock_ms?))).collect();
    let end_ms = game.times.end_ms[usize::from(color == Color::Black)];
    if let (Some((last, _)), Some(end_ms)) = (course.last().copied(), end_ms) {
        course.push((last + 1.0, end_ms.max(0.0)));
    }
    course
}

/// The clocks of one player, game by game.
#[derive(Clone, Debug)]
struct PlayerCourses {
    games: usize,
    /// The courses of the first few games, with the games' numbers: where there are no more, they are drawn one by one.
    first: Vec<(usize, Course)>,
    /// The clocks by move number, only for the numbers that occur: a game may begin at any of them.
    by_move: BTreeMap<u64, Sample>,
    /// The clock at the start, where it is the same in all games.
    start_ms: Option<f64>,
    has_one_start: bool,
    starts: usize,
    ends_ms: Sample,
}

impl Default for PlayerCourses {
    fn default() -> PlayerCourses {
        PlayerCourses {
            games: 0,
            first: Vec::new(),
            by_move: BTreeMap::new(),
            start_ms: None,
            has_one_start: true,
            starts: 0,
            ends_ms: Sample::new(MOST_CLOCKS),
        }
    }
}

impl PlayerCourses {
    fn add(&mut self, game: &AuditedGame, color: Color, in_shares: bool) {
        let side = usize::from(color == Color::Black);
        if game.times.moves.iter().any(|mv| mv.color == color)
            && let Some(start_ms) = game.times.start_ms[side]
        {
            self.starts += 1;
            self.has_one_start &= *self.start_ms.get_or_insert(start_ms) == start_ms;
        }
        let mut course = course(game, color);
        let start_ms = game.times.start_ms[side].or(course.first().map(|(_, clock_ms)| *clock_ms));
        let unit = start_ms.filter(|start_ms| in_shares && *start_ms > 0.0).unwrap_or(1.0);
        course.iter_mut().for_each(|(_, clock_ms)| *clock_ms /= unit);
        if game.times.moves.iter().any(|mv| mv.color == color) {
            game.times.end_ms[side].into_iter().for_each(|end_ms| self.ends_ms.add((end_ms / unit) as f32));
        }
        if course.is_empty() {
            return;
        }
        self.games += 1;
        for (at, clock_ms) in &course {
            self.by_move.entry(*at as u64).or_insert_with(|| Sample::new(MOST_CLOCKS)).add(*clock_ms as f32);
        }
        if self.first.len() < BAND_GAMES {
            self.first.push((game.game.number, course));
        }
    }

    fn is_banded(&self) -> bool {
        self.games >= BAND_GAMES
    }

    /// For each move number that enough games reached: the number, how many games did, and the quantiles of their
    /// clocks.
    fn quantiles(&self) -> impl Iterator<Item = (f64, usize, Quantiles)> {
        let least = (self.games as f64 * LEAST_SHARE).ceil().max(2.0) as usize;
        let told = self.by_move.iter().filter(move |(_, clocks)| clocks.seen() >= least);
        told.map(|(number, clocks)| (*number as f64, clocks.seen(), clocks.quantiles()))
    }

    /// A sentence such as `smooth has 2.5 s of 10 s left at the end (median of 20 games)`; `told` writes a clock.
    fn end(&self, player: &str, told: fn(f64) -> String) -> String {
        let of = match self.start_ms {
            _ if !self.has_one_start => " of its time".to_owned(),
            Some(start_ms) if self.has_one_start && self.starts == self.ends_ms.seen() => {
                format!(" of {}", time(start_ms))
            }
            _ => String::new(),
        };
        let median = told(self.ends_ms.quantiles().p50);
        match self.ends_ms.seen() {
            0 => format!("the clock of {player} at the end is not known"),
            1 => format!("{player} has {median}{of} left at the end"),
            games => format!("{player} has {median}{of} left at the end (median of {})", counted(games, "game")),
        }
    }
}

/// The clocks of some players, game by game.
#[derive(Clone, Debug)]
pub struct Clocks<'a> {
    players: &'a [String],
    courses: Vec<PlayerCourses>,
    games: usize,
    /// Whether clocks are shown as shares of the time at the start, as a player's games begin with different times.
    in_shares: bool,
}

impl<'a> Clocks<'a> {
    /// Clocks of these players, without any game yet.
    pub fn new(players: &'a [String], in_shares: bool) -> Clocks<'a> {
        Clocks { players, courses: vec![PlayerCourses::default(); players.len()], games: 0, in_shares }
    }

    pub fn add(&mut self, game: &AuditedGame) {
        self.games += 1;
        for color in [Color::White, Color::Black] {
            let place = self.players.iter().position(|player| player == game.player(color));
            if let Some(courses) = place.and_then(|place| self.courses.get_mut(place)) {
                courses.add(game, color, self.in_shares);
            }
        }
    }

    /// Draws the clocks. `None` where no clock is known.
    pub fn figure(&self) -> Option<Figure> {
        let Clocks { players, courses, .. } = self;
        // Each player is judged alone: one with a few games does not turn the bands of the others into hundreds of
        // lines.
        let has_bands = courses.iter().any(PlayerCourses::is_banded);
        let has_games = courses.iter().any(|courses| courses.games > 0 && !courses.is_banded());
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
        for (color, (player, courses)) in players.iter().zip(courses).enumerate() {
            if courses.is_banded() {
                let by_move: Vec<_> = courses.quantiles().collect();
                let course: Vec<_> = by_move.iter().map(|(at, _, clock)| (*at, *clock)).collect();
                curves.push(banded(player, color, players.len(), &course));
                for (at, games, clock) in by_move {
                    let [p5, p50, p95] = [clock.p5, clock.p50, clock.p95].map(self.told());
                    row([player.clone(), dash(), count(at), games.to_string(), p5, p50, p95]);
                }
                continue;
            }
            let mark = if self.games == 1 { Mark::Line } else { Mark::Thin };
            for (number, course) in &courses.first {
                for (at, clock_ms) in course {
                    let one = "1".to_owned();
                    row([player.clone(), number.to_string(), count(*at), one, dash(), self.told()(*clock_ms), dash()]);
                }
                curves.push(Curve { mark, ..Curve::line(player, color, course.clone()) });
            }
        }
        if curves.iter().all(|curve| curve.points.is_empty()) {
            return None;
        }
        Some(Figure {
            name: "clocks".to_owned(),
            title: "Clocks by move".to_owned(),
            caption: self.caption(has_bands, has_games),
            plot: Plot::Lines(LinePlot::new(
                Axis::new("move", Quantity::Count),
                if self.in_shares {
                    Axis::new("share of the time at the start", Quantity::Share)
                } else {
                    Axis::new("clock", Quantity::Time)
                },
                curves,
            )),
            table,
        })
    }

    /// The function that writes a clock as text: as a share of the time at the start, or as a time.
    fn told(&self) -> fn(f64) -> String {
        if self.in_shares { percent } else { time }
    }

    fn caption(&self, has_bands: bool, has_games: bool) -> String {
        // One sentence for each of many players would be a table, and that stands below.
        let told = if self.players.len() > MOST_BANDS { 1 } else { self.players.len() };
        let ends =
            self.players.iter().zip(&self.courses).take(told).map(|(player, courses)| courses.end(player, self.told()));
        let ends: Vec<String> = ends.collect();
        let mut drawn = match (has_bands, self.players.len() <= MOST_BANDS) {
            (true, true) => " Lines are medians of the games that came so far, with bands from 5 to 95 %.".to_owned(),
            (true, false) => " Lines are medians of the games that came so far.".to_owned(),
            (false, _) => String::new(),
        };
        if has_bands && has_games {
            drawn += &format!(" Thin lines are single games of players with fewer than {BAND_GAMES}.");
        }
        format!("{}.{drawn}", ends.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::games::audited;
    use super::*;
    use zeitnot_charts::Spread;

    fn clocks(games: &[AuditedGame], players: &[String]) -> Option<Figure> {
        let mut clocks = Clocks::new(players, false);
        games.iter().for_each(|game| clocks.add(game));
        clocks.figure()
    }

    #[test]
    fn one_game_has_two_curves_and_its_clocks_in_the_caption() {
        let games = audited(
            "[White \"a\"]\n[Black \"b\"]\n[TimeControl \"10+1\"]\n\n1. e4 {0.1/5 2} e5 {0.0/5 3} 2. Nf3 {0.0/4 1} *\n",
        );
        let figure = clocks(&games, &["a".to_owned(), "b".to_owned()]).unwrap();
        assert_eq!(figure.caption, "a has 9 s of 10 s left at the end; b has 8 s of 10 s left at the end.");
        let Plot::Lines(plot) = &figure.plot else { panic!() };
        assert_eq!(plot.curves[0].points, [(1.0, 10_000.0), (2.0, 9_000.0), (3.0, 9_000.0)]);
        assert_eq!(plot.curves[1].points, [(1.0, 10_000.0), (2.0, 8_000.0)]);
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
