//! One position of a game, with the counters that the board alone does not show.

use shakmaty::fen::{Fen, LossyFenError};
use shakmaty::san::{San, SanPlus};
use shakmaty::zobrist::{Zobrist64, ZobristValue as _};
use shakmaty::{Board, CastlingSide, Chess, Color, EnPassantMode, File, Move, MoveList, Position as _, Role, Square};
use std::num::NonZeroU32;

/// A position of a game: the board, and the counters that the moves before it add.
#[derive(Clone, Debug)]
pub struct Position {
    chess: Chess,
    key: u64,
    ply: u32,
    rule50: u32,
    repetitions: u32,
    cycle_length: u32,
}

impl Position {
    /// A first position: nothing before it is known, so nothing repeats. `fullmoves` is the counter of its FEN.
    pub(super) fn first(chess: Chess, fullmoves: NonZeroU32) -> Position {
        let moves_before = fullmoves.get() - 1;
        let ply = moves_before.saturating_mul(2).saturating_add(u32::from(chess.turn().is_black()));
        Position { key: key_of(&chess), ply, rule50: chess.halfmoves(), repetitions: 0, cycle_length: 0, chess }
    }

    /// The position after `mv`, a legal move here; `earlier` are the game's positions so far, this one last.
    pub fn after(&self, mv: Move, earlier: &[Position]) -> Position {
        let mut chess = self.chess.clone();
        chess.play_unchecked(mv);
        // shakmaty updates the key for plain moves only; after other moves the key is computed anew.
        let key = self.chess.update_zobrist_hash(Zobrist64(self.key), mv, EnPassantMode::Legal);
        let mut next = Position {
            key: key.map_or_else(|| key_of(&chess), |key| key.0),
            ply: self.ply.saturating_add(1),
            rule50: chess.halfmoves(),
            repetitions: 0,
            cycle_length: 0,
            chess,
        };
        // A position can only return after an even number of plies, four at least, with no pawn move or capture
        // between.
        for distance in (4..=next.rule50 as usize).step_by(2) {
            let Some(index) = earlier.len().checked_sub(distance) else { break };
            if earlier[index].key == next.key {
                next.repetitions = earlier[index].repetitions + 1;
                next.cycle_length = distance as u32;
                break;
            }
        }
        next
    }

    /// The position in shakmaty's form, which knows the rules.
    pub fn chess(&self) -> &Chess {
        &self.chess
    }

    /// The position as FEN, with an en passant square only where a capture is legal.
    pub fn fen(&self) -> String {
        let mut setup = self.chess.to_setup(EnPassantMode::Legal);
        setup.fullmoves = self.fullmoves();
        Fen::try_from_setup(setup).unwrap_or_else(LossyFenError::ignore).to_string()
    }

    /// The pieces.
    pub fn board(&self) -> &Board {
        self.chess.board()
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        self.chess.turn()
    }

    /// Plies since the last capture or pawn move; 100 is a draw.
    pub fn rule50(&self) -> u32 {
        self.rule50
    }

    /// Plies since the standard start position, by the counters of the FEN: full-move number N with White to move is
    /// ply 2(N-1). Lc0 takes the full-move number itself (docs/lc0.md, 7.2), which halves what its time managers see.
    pub fn ply(&self) -> u32 {
        self.ply
    }

    /// The full-move number of this position's FEN. In [`Position::chess`] the number can be one too high after a first
    /// position that shakmaty refuses to read (see [`Position::is_illegal`]).
    pub fn fullmoves(&self) -> NonZeroU32 {
        match self.ply {
            // The ply of a move as late as this one is not known.
            u32::MAX => self.chess.fullmoves(),
            ply => NonZeroU32::MIN.saturating_add(ply / 2),
        }
    }

    /// Number of earlier positions of this game that are equal to this one.
    pub fn repetitions(&self) -> u32 {
        self.repetitions
    }

    /// Plies back to the last equal position; 0 if there is none.
    pub fn cycle_length(&self) -> u32 {
        self.cycle_length
    }

    /// A legal move in the notation of PGN, with its check or mate sign.
    pub fn san(&self, mv: Move) -> String {
        match mv.capture() {
            // shakmaty panics where it looks for a mate of the king that is gone.
            Some(Role::King) => San::from_move(&self.chess, mv).to_string(),
            _ => SanPlus::from_move(self.chess.clone(), mv).to_string(),
        }
    }

    /// Zobrist key of all that decides the legal moves: pieces, side to move, the rooks that may castle, and the file
    /// of an en passant capture that is legal. Two positions are the same by FIDE 9.2.3 when their keys are equal.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The en passant target square, when an enemy pawn stands ready to capture (whether or not it is pinned).
    pub fn en_passant(&self) -> Option<Square> {
        self.chess.pseudo_legal_ep_square()
    }

    /// All legal moves; castling as king takes rook. Empty when the king is gone, see [`Position::is_illegal`].
    pub fn legal_moves(&self) -> MoveList {
        legal_moves(&self.chess)
    }

    /// Whether the side that does not move stands in check. No game has such a position, but a FEN can; as in Lc0 it
    /// can be searched all the same. Taking the king ends the game like stalemate.
    pub fn is_illegal(&self) -> bool {
        let (board, turn) = (self.board(), self.turn());
        board.king_of(turn.other()).is_some_and(|king| board.attacks_to(king, turn, board.occupied()).any())
    }

    /// Whether the side to move is in check.
    pub fn is_check(&self) -> bool {
        self.chess.is_check()
    }

    /// Whether neither side can ever mate: bare kings, one minor piece, or bishops of one colour only.
    pub(crate) fn is_insufficient_material(&self) -> bool {
        self.chess.is_insufficient_material()
    }

    /// Number of pieces on the board, kings and pawns included: 2 to 32.
    pub fn piece_count(&self) -> u32 {
        self.board().occupied().count() as u32
    }
}

/// All legal moves; empty when the king of the side to move is gone, where shakmaty would panic.
pub(super) fn legal_moves(chess: &Chess) -> MoveList {
    if has_king(chess) { chess.legal_moves() } else { MoveList::new() }
}

/// Whether the side to move has its king.
pub(super) fn has_king(chess: &Chess) -> bool {
    chess.board().king_of(chess.turn()).is_some()
}

fn key_of(chess: &Chess) -> u64 {
    let mut key = chess.zobrist_hash::<Zobrist64>(EnPassantMode::Legal);
    // shakmaty distinguishes castling rights by side, and in Chess960 a side can have several rooks. One elsewhere than
    // in the corner adds the key of a pawn on its square, where no pawn ever stands.
    for color in Color::ALL {
        for (side, corner) in [(CastlingSide::QueenSide, File::A), (CastlingSide::KingSide, File::H)] {
            if let Some(rook) = chess.castles().rook(color, side).filter(|rook| rook.file() != corner) {
                key ^= Zobrist64::zobrist_for_piece(rook, color.pawn());
            }
        }
    }
    key.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Game;

    /// Squares in the order of the moves that a knight has there.
    const KNIGHT_MOVES: [(usize, usize); 5] = [(8, 16), (6, 16), (4, 20), (3, 8), (2, 4)];

    /// Most moves of pawns on the last rank but one, by their number.
    fn promotions() -> [usize; 9] {
        let mut most = [0; 9];
        for files in 0..256_usize {
            let pawn = |file: usize| (1..=8).contains(&file) as usize & files >> file.saturating_sub(1);
            // A square takes one pawn where it is empty, and the two beside it where something stands to be captured.
            let moves = (1..=8).map(|file| pawn(file).max(pawn(file - 1) + pawn(file + 1))).sum::<usize>() * 4;
            let pawns = files.count_ones() as usize;
            most[pawns] = moves.max(most[pawns]);
        }
        most
    }

    /// shakmaty panics where a list has no room. A square that is not our own is reached by one sliding piece from each
    /// of eight directions at most, and a queen reaches 27 squares.
    #[test]
    fn a_list_has_room_for_the_moves_of_any_board() {
        let knights: Vec<usize> = KNIGHT_MOVES.iter().flat_map(|(moves, squares)| vec![*moves; *squares]).collect();
        let promotions = promotions();
        let mut most = 0;
        for sliders in 0..64 {
            for knight_count in 0..64 - sliders {
                for (pawns, promotions) in promotions.iter().enumerate() {
                    // The king is one of them. Each other pawn has four moves, and takes a square that eight could
                    // reach.
                    let Some(targets) = 63_usize.checked_sub(sliders + knight_count + pawns) else { continue };
                    let sliding = (27 * sliders).min(8 * targets);
                    let king_and_castling = 8 + 2;
                    let jumps: usize = knights[..knight_count].iter().sum();
                    most = most.max(sliding + jumps + promotions + king_and_castling);
                }
            }
        }
        assert!(most <= MoveList::new().capacity(), "{most}");
    }

    /// Castling, en passant, promotions and captures of rooks among them.
    #[test]
    fn incremental_zobrist_key_is_the_full_one() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        ] {
            let mut game = Game::from_fen(fen, false).unwrap();
            for first in game.current().legal_moves() {
                game.push(first);
                for second in game.current().legal_moves() {
                    game.push(second);
                    assert_eq!(game.current().key, key_of(&game.current().chess), "{fen}: {first} {second}");
                    game.truncate(1);
                }
                game.truncate(0);
            }
        }
    }
}
