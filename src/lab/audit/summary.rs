//! Sums up how each player of audited games used its clock: where it hoarded, rushed or risked.

use super::game_times::{GameTimes, TimedMove};
use crate::chess::Color;
use crate::lab::time_use::{Quantiles, phase, shares};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The clock at a game's end, as a share of the clock at its start, from which it was hoarded: a quarter.
const HOARDED: f64 = 0.25;
/// The share of an equal division of the clock among the moves that were left, below which a move was rushed.
const RUSHED: f64 = 0.05;
/// The share of the clock at the start above which a rushed move had no need to be.
const NO_NEED: f64 = 0.2;
/// The share of the clock at the start below which a move that ended there was a risk.
const RISKED: f64 = 0.005;

/// The clock of one player over all its games.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayerClock {
    /// The player.
    pub player: String,
    /// Games with times.
    pub games: usize,
    /// Moves with times.
    pub moves: usize,
    /// Mean time of a move, in milliseconds.
    pub mean_ms: f64,
    /// The clock at the end of a game, in milliseconds.
    pub clock_left_ms: Quantiles,
    /// Shares of all time used in moves 1 to 15 out of book, 16 to 40, and later.
    pub share_by_phase: [f64; 3],
    /// Games at whose end a quarter of the first clock was left, or more.
    pub hoarded: usize,
    /// Moves that took less than a twentieth of an equal share, while a fifth of the first clock was there.
    pub rushed: usize,
    /// Moves that ended with less than a two-hundredth of the first clock.
    pub risked: usize,
    /// Moves that used more than was there.
    pub overrun: usize,
}

/// The sums of one player.
#[derive(Default)]
struct Sums {
    clock: PlayerClock,
    left: Vec<f64>,
    phases_ms: [f64; 3],
}

/// The clocks of all players. With the times of each game stand the names of White and Black.
pub fn player_clocks<'a>(games: impl IntoIterator<Item = ([&'a str; 2], &'a GameTimes)>) -> Vec<PlayerClock> {
    let mut players: BTreeMap<&str, Sums> = BTreeMap::new();
    for (names, times) in games {
        for (side, color) in [Color::White, Color::Black].into_iter().enumerate() {
            let moves: Vec<&TimedMove> = times.moves.iter().filter(|mv| mv.color == color).collect();
            if !moves.is_empty() {
                let sums = players.entry(names[side]).or_default();
                sums.add(&moves, times.start_ms[side], times.end_ms[side]);
            }
        }
    }
    players.into_iter().map(|(name, sums)| sums.clock(name)).collect()
}

impl Sums {
    fn add(&mut self, moves: &[&TimedMove], start_ms: Option<f64>, end_ms: Option<f64>) {
        let clock = &mut self.clock;
        clock.games += 1;
        clock.moves += moves.len();
        let start_ms = start_ms.or(moves.first().map(|mv| mv.clock_ms)).unwrap_or_default();
        self.left.extend(end_ms);
        clock.hoarded += usize::from(end_ms.is_some_and(|end_ms| end_ms >= HOARDED * start_ms));
        for (number, mv) in moves.iter().enumerate() {
            self.phases_ms[phase(number)] += mv.used_ms;
            let equal_ms = mv.clock_ms / f64::from(mv.moves_left.max(1)) + mv.increment_ms;
            let rushed = mv.used_ms < RUSHED * equal_ms && mv.clock_ms > NO_NEED * start_ms;
            clock.rushed += usize::from(rushed);
            clock.risked += usize::from(mv.clock_ms - mv.used_ms < RISKED * start_ms);
            clock.overrun += usize::from(mv.used_ms > mv.clock_ms);
        }
    }

    fn clock(self, name: &str) -> PlayerClock {
        let all_ms: f64 = self.phases_ms.iter().sum();
        PlayerClock {
            player: name.to_owned(),
            mean_ms: all_ms / self.clock.moves.max(1) as f64,
            share_by_phase: shares(self.phases_ms),
            clock_left_ms: Quantiles::of(self.left),
            ..self.clock
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::game_times::game_times;
    use super::*;
    use crate::lab::pgn_reader::read_games;

    #[test]
    fn hoards_rushes_and_risks_are_counted() {
        let text =
            "[TimeControl \"100\"]\n\n1. e4 {+0.1/5 60s} e5 {0.0/5 0.1s} 2. Nf3 {0.0/4 39.8s} Nc6 {0.0/4 10s} *\n";
        let times = game_times(&read_games(text.as_bytes()).unwrap()[0]);
        let clocks = player_clocks([(["a", "b"], &times)]);
        let [a, b] = &clocks[..] else { panic!("{clocks:?}") };
        assert_eq!((a.player.as_str(), a.moves, a.hoarded, a.rushed, a.risked, a.overrun), ("a", 2, 0, 0, 1, 0));
        assert_eq!((b.hoarded, b.rushed, b.risked), (1, 1, 0));
        assert_eq!((a.mean_ms, a.clock_left_ms.p50, a.share_by_phase), (49_900.0, 200.0, [1.0, 0.0, 0.0]));
    }
}
