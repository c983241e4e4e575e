//! Counts the leaves of the legal move tree, the common check of a move generator.

use super::position::legal_moves;
use super::to_uci;
use shakmaty::{Chess, Move, Position as _};

/// Counts the leaves of the legal move tree `depth` plies deep. A move that takes the king ends its line, as in a
/// search.
pub fn perft(chess: &Chess, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => legal_moves(chess).len() as u64,
        _ => legal_moves(chess).into_iter().map(|mv| perft(&after(chess, mv), depth - 1)).sum(),
    }
}

/// [`perft`] split by root move, in UCI notation; empty at depth 0.
pub fn divide(chess: &Chess, depth: u32, chess960: bool) -> Vec<(String, u64)> {
    let Some(below) = depth.checked_sub(1) else { return Vec::new() };
    let count = |mv| (to_uci(mv, chess960), perft(&after(chess, mv), below));
    legal_moves(chess).into_iter().map(count).collect()
}

fn after(chess: &Chess, mv: Move) -> Chess {
    let mut next = chess.clone();
    next.play_unchecked(mv);
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Game;

    /// The six positions every engine is checked against (Chess Programming Wiki, "Perft Results").
    #[test]
    fn perft_of_the_standard_positions() {
        for (fen, depth, leaves) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 4, 197_281),
            ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 3, 97_862),
            ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 5, 674_624),
            ("r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1", 3, 9_467),
            ("rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 3, 62_379),
            ("r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10", 3, 89_890),
        ] {
            let game = Game::from_fen(fen, false).unwrap();
            assert_eq!(perft(game.current().chess(), depth), leaves, "{fen}");
        }
    }

    #[test]
    fn a_king_that_can_be_taken_ends_the_line() {
        let game = Game::from_fen("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", false).unwrap();
        let parts = divide(game.current().chess(), 2, false);
        assert_eq!(parts.len(), game.current().legal_moves().len());
        assert_eq!(parts.iter().find(|part| part.0 == "e7e8"), Some(&("e7e8".to_owned(), 0)));
        // d8, f8 and the unguarded rook.
        assert_eq!(parts.iter().find(|part| part.0 == "e1d1"), Some(&("e1d1".to_owned(), 3)));
        assert_eq!(parts.iter().map(|part| part.1).sum::<u64>(), perft(game.current().chess(), 2));
    }

    #[test]
    fn divide_adds_up() {
        let chess = Chess::new();
        let parts = divide(&chess, 3, false);
        assert_eq!(parts.len(), 20);
        assert_eq!(parts.iter().map(|part| part.1).sum::<u64>(), perft(&chess, 3));
        assert!(divide(&chess, 0, false).is_empty());
    }
}
