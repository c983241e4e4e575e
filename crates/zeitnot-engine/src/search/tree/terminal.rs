//! Detects terminal positions (docs/lc0.md, 3.4).

use super::Tree;
use super::node::{NodeId, Terminal};
use crate::search::params::SearchParams;
use crate::tablebase::Probes;
use zeitnot_chess::{Move, Position};

/// Plies from the root before a first repetition may count as a draw.
const TWO_FOLD_MINIMUM_DEPTH: u32 = 4;

/// An end of the game at a leaf.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct GameEnd {
    /// Result for the player who moved here: 1 win, 0 draw, -1 loss.
    pub result: i8,
    /// Plies to the end.
    pub m: f32,
    pub kind: Terminal,
}

/// The end of the game at a leaf with the legal moves `moves`; `None` if it goes on. `depth`: plies below the root.
pub(crate) fn end_of_game(position: &Position, moves: &[Move], depth: u32, params: &SearchParams) -> Option<GameEnd> {
    // The root is searched even where the game could be claimed as drawn.
    if depth == 0 && !moves.is_empty() {
        return None;
    }
    if let Some(outcome) = position.outcome(moves) {
        let result = i8::from(outcome.winner().is_some());
        return Some(GameEnd { result, m: 0.0, kind: Terminal::End });
    }
    let (repetitions, cycle) = (position.repetitions(), position.cycle_length());
    let two_fold = repetitions == 1 && params.two_fold_draws && depth >= TWO_FOLD_MINIMUM_DEPTH && depth >= cycle;
    two_fold.then_some(GameEnd { result: 0, m: cycle as f32, kind: Terminal::TwoFold })
}

/// The result of a leaf by the endgame tables; `None` if they have none, and at the root (`depth` 0).
pub(crate) fn known_by_tables(position: &Position, depth: u32, probes: &Probes) -> Option<GameEnd> {
    if depth == 0 {
        return None;
    }
    // The tables speak for the side to move, and do not say how long it takes: see `Batch::finish`.
    probes.wdl(position).map(|result| GameEnd { result: -result, m: 0.0, kind: Terminal::Tablebase })
}

/// Makes a node terminal; `parent` is the move that leads to it. A move that loses gets the prior 0, since exploring it
/// can change nothing any more.
pub(crate) fn make_terminal(tree: &mut Tree, id: NodeId, parent: Option<(NodeId, usize)>, end: GameEnd) {
    tree[id].make_terminal(end.result, end.m, end.kind);
    if end.result == -1
        && let Some((parent, index)) = parent
    {
        tree.clear_prior(parent, index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_chess::Game;

    fn end_after(fen: &str, moves: &[&str], depth: u32) -> Option<(i8, f32, Terminal)> {
        let mut game = Game::from_fen(fen, false).unwrap();
        for mv in moves {
            game.push_uci(mv).unwrap();
        }
        let moves = game.current().legal_moves();
        end_of_game(game.current(), &moves, depth, &SearchParams::LC0).map(|end| (end.result, end.m, end.kind))
    }

    #[test]
    fn ends_of_the_game() {
        let end = |result, m| Some((result, m, Terminal::End));
        assert_eq!(end_after("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", &[], 1), end(1, 0.0), "mate");
        assert_eq!(end_after("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", &[], 1), end(0, 0.0), "stalemate");
        assert_eq!(end_after("7k/6Q1/6K1/8/8/8/8/8 b - - 100 90", &[], 1), end(1, 0.0), "mate goes before the counter");
        assert_eq!(end_after("7k/8/6K1/8/8/8/8/R7 b - - 100 90", &[], 1), end(0, 0.0), "fifty moves");
        assert_eq!(end_after("7k/8/6K1/8/8/8/8/R7 b - - 99 90", &[], 1), None);
        assert_eq!(end_after("7k/8/6K1/8/8/8/8/8 b - - 0 1", &[], 1), end(0, 0.0), "bare kings");
        assert_eq!(end_after("7k/8/6K1/8/8/8/8/8 b - - 0 1", &[], 0), None, "the root is searched all the same");
    }

    #[test]
    fn repetitions() {
        let shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(end_after(start, &shuffle, 4), Some((0, 4.0, Terminal::TwoFold)));
        assert_eq!(end_after(start, &shuffle, 3), None, "the first occurrence lies above the root");
        assert_eq!(end_after(start, &[shuffle, shuffle].concat(), 1), Some((0, 0.0, Terminal::End)), "three-fold");
    }
}
