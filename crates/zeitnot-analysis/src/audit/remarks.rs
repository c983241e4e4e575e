//! Gathers what was assumed or left out in reading the clocks of many games, in one line for each kind.

use super::clocked_move::Doubt;
use super::game_times::GameTimes;
use super::move_name::move_name;
use std::collections::BTreeMap;
use zeitnot_base::printable::plain;
use zeitnot_base::words::time;
use zeitnot_games::pgn_reader::PgnGame;

/// A note about the times of a game that the user should know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// A time control that cannot be read.
    Control(String),
    /// A time control that is taken as minutes.
    Minutes(String),
    /// Clocks of two parts, which are taken as hours and minutes.
    Hours,
    /// Times given for moves that contradict the clocks; the clocks are trusted.
    Times,
    /// Times without a clock or a time control.
    NoClock,
    /// Clocks of a game with days a move that do not show the time left.
    NotLeft,
    /// An increment in milliseconds that no tag names, but that the clocks show.
    Increment(u64),
}

/// The kinds of lines in [`Remarks::lines`], in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Control,
    Minutes,
    Hours,
    Times,
    NoClock,
    NotLeft,
    Increment,
    Above,
    Overrun,
    Below,
}

/// The number of remarks of one kind.
#[derive(Clone, Debug)]
struct Sum {
    games: usize,
    moves: usize,
    last_game: usize,
    /// The game of the first remark, and its detail.
    first: String,
}

/// The remarks about the games of a file.
#[derive(Clone, Debug, Default)]
pub struct Remarks {
    sums: BTreeMap<Kind, Sum>,
}

impl Remarks {
    /// Adds the remarks about a game.
    pub fn add(&mut self, game: &PgnGame, times: &GameTimes) {
        for remark in &times.remarks {
            let (kind, detail) = match remark {
                Remark::Control(tag) => (Kind::Control, format!(": \"{}\"", plain(tag))),
                Remark::Minutes(tag) => (Kind::Minutes, format!(": \"{}\"", plain(tag))),
                Remark::Hours => (Kind::Hours, String::new()),
                Remark::Times => (Kind::Times, String::new()),
                Remark::NoClock => (Kind::NoClock, String::new()),
                Remark::NotLeft => (Kind::NotLeft, String::new()),
                Remark::Increment(ms) => (Kind::Increment, format!(": {}", time(*ms as f64))),
            };
            self.count(kind, game.number, || format!("game {}{detail}", game.number));
        }
        for Doubt { ply, clock_ms, used_ms, is_left_out } in times.doubts.iter().copied() {
            let name = || format!("game {}, {}", game.number, move_name(&game.game, ply));
            match () {
                () if used_ms < 0.0 => {
                    self.count(Kind::Below, game.number, || format!("{}: by {}", name(), time(-used_ms)));
                }
                () => {
                    let kind = if is_left_out { Kind::Above } else { Kind::Overrun };
                    self.count(kind, game.number, || format!("{}: {} of {}", name(), time(used_ms), time(clock_ms)));
                }
            }
        }
    }

    fn count(&mut self, kind: Kind, game: usize, first: impl FnOnce() -> String) {
        let sum = self.sums.entry(kind).or_insert_with(|| Sum { games: 0, moves: 0, last_game: 0, first: first() });
        sum.games += usize::from(sum.last_game != game);
        sum.moves += 1;
        sum.last_game = game;
    }

    /// The lines, one for each kind.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.sums.iter().map(|(kind, sum)| line(*kind, sum))
    }
}

fn line(kind: Kind, Sum { games, moves, first, .. }: &Sum) -> String {
    let noun = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    let games = noun(*games, "game");
    let moves = noun(*moves, "move");
    match kind {
        Kind::Control => {
            format!(
                "the TimeControl of {games} is not read (first {first}): their clocks are those of the comments alone"
            )
        }
        Kind::Minutes => {
            format!("the TimeControl of {games} is taken as minutes, which their clocks show (first {first})")
        }
        Kind::Hours => format!("the clocks of {games} are taken as hours and minutes (first {first})"),
        Kind::Times => {
            format!("the times told in {games} are not those of the clocks, which are taken instead (first {first})")
        }
        Kind::NoClock => {
            format!(
                "times, but neither a clock nor a time control, in {games} (first {first}): managers are not asked there"
            )
        }
        Kind::NotLeft => {
            format!("the clocks of {games} do not show the time left for a move (first {first}): they are left out")
        }
        Kind::Increment => {
            format!(
                "the clocks of {games} show an increment that no TimeControl names: the least that fits them is taken (first {first})"
            )
        }
        Kind::Above => format!(
            "{moves} of {games} would have used more than their clock though nobody lost on time (first {first}): the comments do not \
             hold what the time control says, and these moves are left out"
        ),
        Kind::Overrun => format!(
            "{moves} of {games} used more than their clock by their own comments though nobody lost on time (first {first}): they count \
             as overrun"
        ),
        Kind::Below => format!(
            "the clock went up in {moves} of {games} by more than the time control gives (first {first}): these moves are left out"
        ),
    }
}
