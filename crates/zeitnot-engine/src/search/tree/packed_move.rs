//! Packs a move into 16 bits.

use shakmaty::{Board, Role, Square};
use zeitnot_chess::Move;

/// A move as the tree keeps it: the squares and a kind, to be completed from the board; or, before the moves of a node
/// are known, its number in the order of the move generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedMove(pub u16);

const SQUARE_BITS: u32 = 6;
const KIND_SHIFT: u32 = 2 * SQUARE_BITS;
const SQUARE_MASK: u16 = (1 << SQUARE_BITS) - 1;

const NORMAL: u16 = 0;
const EN_PASSANT: u16 = 1;
const CASTLE: u16 = 2;
/// Kind of a promotion to the first role of [`PROMOTIONS`]; the following kinds promote to the others in that order.
const PROMOTION: u16 = 3;
const PROMOTIONS: [Role; 6] = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen, Role::King, Role::Pawn];
const NUMBER: u16 = 15;

impl PackedMove {
    /// Packs a legal move.
    pub(crate) fn new(mv: Move) -> PackedMove {
        let (from, to, kind) = match mv {
            Move::Normal { from, to, promotion: None, .. } => (from, to, NORMAL),
            Move::Normal { from, to, promotion: Some(role), .. } => {
                let kind = PROMOTIONS.iter().position(|known| *known == role).unwrap_or_default();
                (from, to, PROMOTION + kind as u16)
            }
            Move::EnPassant { from, to } => (from, to, EN_PASSANT),
            Move::Castle { king, rook } => (king, rook, CASTLE),
            Move::Put { to, .. } => (to, to, NORMAL),
        };
        PackedMove(from as u16 | (to as u16) << SQUARE_BITS | kind << KIND_SHIFT)
    }

    /// A move known only by its number in the order of the move generator.
    pub(crate) fn unresolved(number: u8) -> PackedMove {
        PackedMove(NUMBER << KIND_SHIFT | u16::from(number))
    }

    /// The number of the move, where the move itself is not known yet.
    pub(crate) fn number(self) -> Option<usize> {
        (self.0 >> KIND_SHIFT == NUMBER).then_some(usize::from(self.0 & 0xff))
    }

    /// The move on the board it was packed for.
    pub(crate) fn unpack(self, board: &Board) -> Move {
        let square = |shift: u32| Square::new(u32::from(self.0 >> shift & SQUARE_MASK));
        let (from, to) = (square(0), square(SQUARE_BITS));
        match self.0 >> KIND_SHIFT {
            EN_PASSANT => Move::EnPassant { from, to },
            CASTLE => Move::Castle { king: from, rook: to },
            kind => Move::Normal {
                role: board.role_at(from).unwrap_or(Role::Pawn),
                from,
                capture: board.role_at(to),
                to,
                promotion: kind.checked_sub(PROMOTION).map(|kind| PROMOTIONS[usize::from(kind).min(5)]),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_chess::Game;

    #[test]
    fn every_kind_of_move_comes_back() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 b kq - 0 1",
            "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
            "rnbqkb1r/pp2pppp/8/2pP4/5n2/8/PPP2PPP/RNBQKBNR w KQkq c6 0 5",
        ] {
            let game = Game::from_fen(fen, false).unwrap();
            for mv in game.current().legal_moves() {
                let packed = PackedMove::new(mv);
                assert_eq!((packed.unpack(game.current().board()), packed.number()), (mv, None), "{fen}");
            }
        }
    }

    #[test]
    fn a_number_is_no_move() {
        assert_eq!(PackedMove::unresolved(0).number(), Some(0));
        assert_eq!(PackedMove::unresolved(254).number(), Some(254));
    }
}
