//! Sums up how a player used its clock over many games.

use super::games::record::GameRecord;
use super::sample::Quantiles;
use serde::{Deserialize, Serialize};

/// Numbers of the last move of the first and of the second phase; the first move out of book is number 1.
const PHASE_ENDS: [usize; 2] = [15, 40];
/// Consecutive move numbers that are averaged together.
const STRIDE: usize = 5;
/// Games that must have reached a move for its average to be shown.
const LEAST_GAMES: usize = 5;

/// Sums over the moves of each of three phases, by their numbers: moves 1 to 15 out of book, 16 to 40, and later.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ByPhase(pub [f64; 3]);

impl ByPhase {
    /// The phases in words.
    pub const NAMES: [&str; 3] = ["moves 1 to 15", "moves 16 to 40", "later moves"];

    /// Adds `part` to the phase of the move with index `number`, counted from 0 at the first move out of book.
    pub fn add(&mut self, number: usize, part: f64) {
        self.0[PHASE_ENDS.iter().filter(|end| number >= **end).count()] += part;
    }

    /// The sum over all moves.
    pub fn sum(&self) -> f64 {
        self.0.iter().sum()
    }

    /// The share of each phase in the sum; zeros where the sum is 0.
    pub fn shares(&self) -> [f64; 3] {
        let all = self.sum();
        self.0.map(|part| if all > 0.0 { part / all } else { 0.0 })
    }
}

/// Mean time and mean visits of the moves at five consecutive move numbers, over all games.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MoveTime {
    /// The first of the five move numbers, counted from 1 out of book.
    pub from_move: usize,
    pub mean_ms: f64,
    /// Mean visits of a move.
    pub mean_playouts: f64,
    /// Number of moves that were made at these five move numbers.
    pub moves: usize,
}

/// The use of the clock by one player.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ClockUse {
    pub games: usize,
    /// The clock at the end of a game.
    pub clock_left_ms: Quantiles,
    /// Shares of all time used in moves 1 to 15 out of book, 16 to 40, and later.
    pub share_by_phase: [f64; 3],
    /// Mean time and visits by move number.
    pub by_move: Vec<MoveTime>,
    /// Mean visits of a move.
    pub mean_playouts: f64,
    /// Mean moves of a game.
    pub mean_moves: f64,
}

impl ClockUse {
    /// Clock use of a player in these games; each comes with whether this player was the match's first player.
    pub fn of<'a>(games: impl IntoIterator<Item = (&'a GameRecord, bool)>) -> ClockUse {
        let mut left = Vec::new();
        let mut phases_ms = ByPhase::default();
        // Sums of time and visits, and the number, for each move number.
        let mut by_move: Vec<(f64, u64, usize)> = Vec::new();
        for (game, is_first) in games {
            let is_white = game.first_is_white == is_first;
            left.push(game.clocks_ms[usize::from(!is_white)]);
            for (number, mv) in game.moves.iter().filter(|mv| mv.white == is_white).enumerate() {
                phases_ms.add(number, mv.used_ms);
                if by_move.len() <= number {
                    by_move.push((0.0, 0, 0));
                }
                let sums = &mut by_move[number];
                *sums = (sums.0 + mv.used_ms, sums.1 + mv.playouts, sums.2 + 1);
            }
        }
        let games = left.len();
        let moves: usize = by_move.iter().map(|sums| sums.2).sum();
        let playouts: u64 = by_move.iter().map(|sums| sums.1).sum();
        let ratio = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let strides = by_move.chunks(STRIDE).enumerate().filter_map(|(index, moves)| {
            let made: usize = moves.iter().map(|sums| sums.2).sum();
            let is_told = moves.first().is_some_and(|sums| sums.2 >= LEAST_GAMES);
            is_told.then(|| MoveTime {
                from_move: index * STRIDE + 1,
                mean_ms: moves.iter().map(|sums| sums.0).sum::<f64>() / made as f64,
                mean_playouts: moves.iter().map(|sums| sums.1).sum::<u64>() as f64 / made as f64,
                moves: made,
            })
        });
        ClockUse {
            games,
            share_by_phase: phases_ms.shares(),
            by_move: strides.collect(),
            mean_playouts: ratio(playouts as f64, moves as f64),
            mean_moves: ratio(moves as f64, games as f64),
            clock_left_ms: Quantiles::of(left),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::record::{MoveRecord, drawn_game};

    /// A game in which White's moves take 100 ms each and Black's 10.
    fn game(first_is_white: bool, moves: usize, left: [f64; 2]) -> GameRecord {
        let mv = |ply: usize| MoveRecord {
            uci: "e2e4".into(),
            san: "e4".into(),
            white: ply.is_multiple_of(2),
            used_ms: if ply.is_multiple_of(2) { 100.0 } else { 10.0 },
            clocks_ms: [0.0; 2],
            budget_ms: None,
            hard_limit_ms: None,
            nodes: 0,
            playouts: if ply.is_multiple_of(2) { 50 } else { 5 },
            depth: 0,
            evaluation: None,
        };
        GameRecord { first_is_white, moves: (0..2 * moves).map(mv).collect(), clocks_ms: left, ..drawn_game(1) }
    }

    #[test]
    fn time_is_that_of_the_player_with_either_color() {
        let games = [game(true, 30, [1.0, 9.0]), game(false, 30, [8.0, 2.0])];
        let first = ClockUse::of(games.iter().map(|game| (game, true)));
        assert_eq!(first.clock_left_ms, Quantiles { p5: 1.0, p50: 2.0, p95: 2.0 });
        assert_eq!((first.games, first.mean_moves, first.mean_playouts), (2, 30.0, 27.5));
        assert_eq!(first.share_by_phase, [0.5, 0.5, 0.0]);
        assert_eq!(ClockUse::of(games.iter().map(|game| (game, false))).clock_left_ms.p50, 9.0);
        assert_eq!(ClockUse::of([]), ClockUse::default());
    }

    #[test]
    fn time_by_move_number_is_told_where_enough_games_came_so_far() {
        let mut games = vec![game(true, 12, [0.0; 2]); 4];
        games.push(game(true, 7, [0.0; 2]));
        let by_move = ClockUse::of(games.iter().map(|game| (game, true))).by_move;
        let told: Vec<(usize, usize)> = by_move.iter().map(|time| (time.from_move, time.moves)).collect();
        assert_eq!(told, [(1, 25), (6, 22)], "the eleventh move was made in four games");
        assert_eq!((by_move[0].mean_ms, by_move[0].mean_playouts), (100.0, 50.0));
    }
}
