//! Chooses a move by the rules of chess and the value of the pieces alone, for answers that are due before any
//! evaluation.

use super::Position;
use shakmaty::{Chess, Color, Move, Position as _, Role, Square};

/// A move chosen without an evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaterialChoice {
    /// The move.
    pub mv: Move,
    /// Whether the move mates.
    pub mates: bool,
}

/// The usual values of the pieces, in pawns. A king is worth more than all of them, so that it captures last.
pub(super) fn value(role: Role) -> i32 {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 100,
    }
}

/// The best of `moves` by mate and material: a mate, else the move that wins the most material, counting its capture,
/// the piece it saves and the piece it leaves to be captured. Equal moves keep their order. `None` without a move.
pub fn best_by_material(position: &Position, moves: &[Move]) -> Option<MaterialChoice> {
    let chess = position.chess();
    let mut best: Option<(i32, Move)> = None;
    for &mv in moves {
        let mut after = chess.clone();
        after.play_unchecked(mv);
        // A king can be gone in a position of a FEN; then there is nothing to ask about mates.
        let has_king = after.board().king_of(after.turn()).is_some();
        if has_king && after.is_checkmate() {
            return Some(MaterialChoice { mv, mates: true });
        }
        let drawn = has_king && (after.is_stalemate() || after.is_insufficient_material());
        let gain = if drawn { -balance(chess) } else { gain(chess, &after, mv) };
        if best.is_none_or(|(most, _)| gain > most) {
            best = Some((gain, mv));
        }
    }
    best.map(|(_, mv)| MaterialChoice { mv, mates: false })
}

/// Material that a move wins: captured, promoted and saved, less the piece that the opponent can capture at once.
fn gain(before: &Chess, after: &Chess, mv: Move) -> i32 {
    let us = before.turn();
    let captured = mv.capture().map_or(0, value);
    let promoted = mv.promotion().map_or(0, |role| value(role) - value(Role::Pawn));
    let saved = mv.from().map_or(0, |from| loss_at(before, from, us));
    let risked = match mv {
        Move::Castle { .. } => 0,
        _ => loss_at(after, mv.to(), us),
    };
    captured + promoted + saved - risked
}

/// Material that `side` loses when the opponent captures on `square` with the cheapest piece, and is captured back
/// where the square is defended.
fn loss_at(chess: &Chess, square: Square, side: Color) -> i32 {
    let board = chess.board();
    let (Some(role), occupied) = (board.role_at(square), board.occupied()) else { return 0 };
    let attackers = board.attacks_to(square, side.other(), occupied);
    let cheapest = attackers.into_iter().filter_map(|from| board.role_at(from)).map(value).min();
    let Some(cheapest) = cheapest.filter(|_| role != Role::King) else { return 0 };
    let defended = board.attacks_to(square, side, occupied).any();
    if defended { (value(role) - cheapest).max(0) } else { value(role) }
}

/// Material of the side to move, less that of the other side.
pub fn balance(chess: &Chess) -> i32 {
    let of = |color: Color| -> i32 {
        let pieces = chess.board().by_color(color);
        pieces.into_iter().filter_map(|square| chess.board().role_at(square)).map(value).sum()
    };
    of(chess.turn()) - of(chess.turn().other())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Game, to_uci};

    fn best(fen: &str) -> (String, bool) {
        let game = Game::from_fen(fen, false).unwrap();
        let moves = game.current().legal_moves();
        let choice = best_by_material(game.current(), &moves).unwrap();
        (to_uci(choice.mv, false), choice.mates)
    }

    #[test]
    fn best_by_material_prefers_mates() {
        assert_eq!(best("6k1/5ppp/8/8/8/8/q7/1R5K w - - 0 1"), ("b1b8".to_owned(), true));
    }

    #[test]
    fn free_pieces_are_taken_and_defended_ones_are_not() {
        assert_eq!(best("4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1").0, "d1d5", "a free queen");
        assert_ne!(best("4k3/8/2p5/3p4/8/8/8/3QK3 w - - 0 1").0, "d1d5", "a defended pawn");
        assert_eq!(best("4k3/8/2p5/3q4/8/8/8/3RK3 w - - 0 1").0, "d1d5", "a queen for a rook");
    }

    #[test]
    fn pieces_that_hang_are_saved_and_pawns_are_promoted() {
        let (mv, _) = best("4k3/8/8/8/3p4/2Q5/8/4K3 w - - 0 1");
        assert!(mv.starts_with("c3"), "{mv}");
        assert_eq!(best("8/P6k/8/8/8/8/8/K7 w - - 0 1").0, "a7a8q");
    }

    #[test]
    fn stalemate_is_avoided_when_ahead() {
        // Qf7 would be stalemate.
        let game = Game::from_fen("7k/8/8/5Q2/8/8/8/K7 w - - 0 1", false).unwrap();
        let moves = game.current().legal_moves();
        let stalemate = moves.iter().copied().find(|mv| to_uci(*mv, false) == "f5f7").unwrap();
        let other = moves.iter().copied().find(|mv| to_uci(*mv, false) == "a1a2").unwrap();
        assert_eq!(best_by_material(game.current(), &[stalemate, other]).unwrap().mv, other);
        assert_eq!(best_by_material(game.current(), &[]), None);
    }
}
