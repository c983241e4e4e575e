//! Input and policy of Maia-3 (arXiv 2605.19091), which plays like people of a given rating against people of a given
//! rating. Networks of it come as ONNX alone, in the form that their users export: `tokens` for the board, two ratings,
//! and logits of moves and of loss, draw and win.
//!
//! The tokens are the 64 squares, a1 first and rank by rank. A square has twelve features for each position of the
//! history, the earliest first: the pawn, knight, bishop, rook, queen and king of the side to move there, then those of
//! the other side. Each position is seen from its own side to move, so that two in a row are seen from both. Positions
//! before the first known one repeat it. Neither castling rights nor en passant, repetitions or counters are told.

use shakmaty::{CastlingSide, Color, File, Move, Role, Square};

use super::Ratings;
use super::planes::{self, ALL, HISTORY, Planes};
use zeitnot_chess::Game;

/// Features of a square in one position: one for each of the six kinds of piece of either side.
pub const PIECES: usize = 12;
/// Features of a square, in all positions of the history.
pub(crate) const FEATURES: usize = HISTORY * PIECES;
/// The plane, full of one value, that carries the rating of the side to move.
pub const OWN_RATING: usize = FEATURES;
/// The plane that carries the rating of the other side.
pub const OPPONENT_RATING: usize = FEATURES + 1;
/// Squares of a board.
pub const SQUARES: usize = 64;
/// Pairs of squares, which come first in the policy: `from * 64 + to`.
const PAIRS: u16 = 64 * 64;
/// Moves of the policy: pairs of squares, then the promotions to queen, rook, bishop and knight from each file to each.
pub const MOVES: usize = 4352;

/// The input of a position: in the first [`FEATURES`] planes the squares that have a feature, then the ratings.
pub(super) fn encode(game: &Game) -> Planes {
    let mut planes = Planes::empty();
    let positions = game.positions();
    for (slot, features) in planes.masks[..FEATURES].as_chunks_mut::<PIECES>().0.iter_mut().enumerate() {
        let position = &positions[(positions.len() + slot).saturating_sub(HISTORY)];
        planes::write_pieces(features, position, position.turn());
    }
    write_ratings(&mut planes, game.current().turn(), Ratings::default());
    planes
}

/// Writes the ratings into the input of a position where the side `turn` is to move.
pub fn write_ratings(planes: &mut Planes, turn: Color, ratings: Ratings) {
    for (plane, color) in [(OWN_RATING, turn), (OPPONENT_RATING, !turn)] {
        planes.masks[plane] = ALL;
        planes.values[plane] = f32::from(ratings.get(color));
    }
}

/// The policy index, 0..4352, of a legal move of the side `turn`. Castling is the king's own step of two squares.
pub fn policy_index(mv: Move, turn: Color) -> u16 {
    let to = match mv.castling_side() {
        Some(CastlingSide::KingSide) => Square::from_coords(File::G, mv.to().rank()),
        Some(CastlingSide::QueenSide) => Square::from_coords(File::C, mv.to().rank()),
        None => mv.to(),
    };
    let seen = |square: Square| if turn.is_white() { square } else { square.flip_vertical() };
    // A move without an origin exists only in chess variants.
    let (from, to) = (seen(mv.from().unwrap_or(to)), seen(to));
    let piece = match mv.promotion() {
        None => return u16::from(from) * 64 + u16::from(to),
        Some(Role::Queen) => 0,
        Some(Role::Rook) => 1,
        Some(Role::Bishop) => 2,
        Some(_) => 3,
    };
    PAIRS + (u16::from(from.file()) * 8 + u16::from(to.file())) * 4 + piece
}

/// Writes the tokens for a model that sees the last `boards` positions, ordered `square * boards * 12 + feature`.
///
/// # Panics
/// If `tokens` does not hold 64 * `boards` * 12 numbers.
pub fn write_tokens(planes: &Planes, boards: usize, tokens: &mut [f32]) {
    let width = boards * PIECES;
    assert_eq!(tokens.len(), SQUARES * width, "the caller gives room for 64 squares");
    tokens.fill(0.0);
    for (feature, &mask) in planes.masks[FEATURES - width..FEATURES].iter().enumerate() {
        let mut rest = mask;
        while rest != 0 {
            tokens[rest.trailing_zeros() as usize * width + feature] = 1.0;
            rest &= rest - 1;
        }
    }
}

#[cfg(test)]
#[path = "maia3_tests.rs"]
mod tests;
