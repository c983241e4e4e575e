//! Recognises a position that a few moves lead to, by the board alone.

use super::Position;
use super::position::legal_moves;
use shakmaty::{Bitboard, Board, Chess, Color, Position as _, Role};

/// Most squares that a move changes: the four of a castling.
const SQUARES_OF_A_MOVE: usize = 4;

impl Position {
    /// Whether exactly `plies` legal moves can lead from here to the pieces and the side to move of `next`. Counters,
    /// castling rights and the en passant square of `next` do not count: not every program that writes a FEN keeps
    /// them.
    pub fn leads_to(&self, next: &Position, plies: usize) -> bool {
        leads_to(self.chess(), next.chess(), plies)
    }
}

fn leads_to(chess: &Chess, next: &Chess, plies: usize) -> bool {
    let differing = differing(chess.board(), next.board()).count();
    if plies == 0 {
        return differing == 0 && chess.turn() == next.turn();
    }
    // This decides nearly all positions without a look at their moves.
    differing <= SQUARES_OF_A_MOVE * plies
        && legal_moves(chess).into_iter().any(|mv| {
            let mut after = chess.clone();
            after.play_unchecked(mv);
            leads_to(&after, next, plies - 1)
        })
}

/// The squares that hold different pieces.
fn differing(one: &Board, other: &Board) -> Bitboard {
    let by_color = Color::ALL.map(|color| one.by_color(color) ^ other.by_color(color));
    let by_role = Role::ALL.map(|role| one.by_role(role) ^ other.by_role(role));
    by_color.into_iter().chain(by_role).fold(Bitboard::EMPTY, |all, some| all | some)
}

#[cfg(test)]
mod tests {
    use crate::{Game, Position};

    fn position(fen: &str) -> Position {
        Game::from_fen(fen, true).unwrap().current().clone()
    }

    /// The plies, up to 3, that lead from one FEN to another.
    fn plies(from: &str, to: &str) -> Vec<usize> {
        let (from, to) = (position(from), position(to));
        (0..=3).filter(|plies| from.leads_to(&to, *plies)).collect()
    }

    const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    #[test]
    fn a_position_is_reached_by_its_moves_alone() {
        assert_eq!(plies(START, START), [0]);
        assert_eq!(plies(START, "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"), [1]);
        assert_eq!(plies(START, "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2"), [2]);
        assert_eq!(
            plies(START, "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2"),
            [3],
            "e2e3, e7e5, e3e4"
        );
        assert_eq!(plies(START, "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2"), [3]);
        // Another opening, and a piece that fell without a capture.
        assert!(plies(START, "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 4 4").is_empty());
        assert!(plies(START, "rnbqkbnr/pppp1ppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2").is_empty());
    }

    #[test]
    fn counters_rights_and_en_passant_squares_do_not_count() {
        for fields in ["KQkq e6 0 2", "KQkq - 0 1", "- - 17 40", "KQ - 0 2"] {
            let fen = format!("rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w {fields}");
            assert_eq!(plies(START, &fen), [2], "{fields}");
        }
    }

    #[test]
    fn castling_captures_en_passant_and_promotions_are_moves() {
        for (from, to, expected) in [
            ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "2kr3r/8/8/8/8/8/8/R4RK1 w - - 2 2", 2),
            ("1r2k2r/8/8/8/8/8/8/1R2K2R w BHbh - 0 1", "1r2k2r/8/8/8/8/8/8/2KR3R b hb - 1 1", 1),
            ("8/8/8/8/k2Pp2K/8/8/8 b - d3 0 1", "8/8/8/8/k6K/3p4/8/8 w - - 0 2", 1),
            ("8/P6k/8/8/8/8/8/K7 w - - 0 1", "N7/7k/8/8/8/8/8/K7 b - - 0 1", 1),
            ("1q5k/P7/8/8/8/8/8/K7 w - - 0 1", "1R6/6k1/8/8/8/8/8/K7 w - - 0 2", 2),
        ] {
            assert_eq!(plies(from, to).first(), Some(&expected), "{from} {to}");
        }
    }

    #[test]
    fn a_position_without_a_king_leads_nowhere() {
        let mut game = Game::from_fen("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1", false).unwrap();
        game.push_uci("e7e8").unwrap();
        assert!((1..=2).all(|plies| !game.current().leads_to(&position(START), plies)));
    }
}
