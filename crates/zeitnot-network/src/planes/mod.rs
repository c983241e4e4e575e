//! Encodes a game as the 112 input planes of a network (docs/lc0.md, 4.1).
//!
//! Planes 0..104 are eight boards of thirteen planes, the current one first and all of them from the mover's side: our
//! pawns, knights, bishops, rooks, queens and king, theirs, and whether the position had occurred before. The last
//! eight hold castling rights, en passant or the side to move, the fifty-move counter, and ones.

use shakmaty::{Bitboard, CastlingSide, Color, Position as _, Role, Square};

use super::{InputFormat, Transform, maia3};
use zeitnot_chess::{Game, Position};

/// Input planes of a network.
pub const PLANES: usize = 112;
/// Squares of a plane.
#[cfg(any(test, feature = "testing"))]
const SQUARES: usize = 64;
/// Boards of the history, the current one included.
pub(super) const HISTORY: usize = 8;
/// Planes of one board.
const PLANES_PER_BOARD: usize = 13;
/// The first plane after the history.
const AUXILIARY: usize = HISTORY * PLANES_PER_BOARD;
/// The plane of en passant in canonical formats, of the side to move in the others.
const EN_PASSANT_OR_COLOR: usize = AUXILIARY + 4;
const RULE50: usize = AUXILIARY + 5;
/// The plane of the side to move in armageddon formats; empty in the others (once it was a move counter).
const ARMAGEDDON_COLOR: usize = AUXILIARY + 6;
const ONES: usize = AUXILIARY + 7;
/// Divisor of the fifty-move counter in hectoplies formats.
const HECTOPLIES: f32 = 100.0;
/// Every square.
pub(super) const ALL: u64 = u64::MAX;

/// The input of a network, sparse: the set squares of each plane, and the value they share.
#[derive(Clone, Debug, PartialEq)]
pub struct Planes {
    /// The set squares: bit 0 is a1 from the mover's side, bit 63 is h8.
    pub masks: [u64; PLANES],
    /// The value of the set squares.
    pub values: [f32; PLANES],
}

impl Planes {
    pub(super) fn empty() -> Planes {
        Planes { masks: [0; PLANES], values: [1.0; PLANES] }
    }

    /// Writes the planes packed: into `boards` eight bytes for each plane, one for each rank with the file a in its
    /// lowest bit; into `values` the value of each plane.
    ///
    /// # Panics
    /// If `boards` does not hold 112 * 8 bytes, or `values` 112 numbers.
    pub fn write_packed(&self, boards: &mut [u8], values: &mut [f32]) {
        let (boards, rest) = boards.as_chunks_mut();
        assert!(boards.len() == PLANES && rest.is_empty(), "the caller gives room for 112 planes");
        boards.iter_mut().zip(&self.masks).for_each(|(ranks, mask)| *ranks = mask.to_le_bytes());
        values.copy_from_slice(&self.values);
    }

    /// Writes the planes in full, `plane * 64 + square`.
    ///
    /// # Panics
    /// If `out` does not hold 112 * 64 numbers.
    #[cfg(any(test, feature = "testing"))]
    pub fn write_dense(&self, out: &mut [f32]) {
        assert_eq!(out.len(), PLANES * SQUARES, "the caller gives room for 112 planes");
        for (plane, (&mask, &value)) in
            out.as_chunks_mut::<SQUARES>().0.iter_mut().zip(self.masks.iter().zip(&self.values))
        {
            if mask == ALL {
                plane.fill(value);
                continue;
            }
            plane.fill(0.0);
            let mut rest = mask;
            while rest != 0 {
                plane[rest.trailing_zeros() as usize] = value;
                rest &= rest - 1;
            }
        }
    }
}

/// The content of history planes for positions before the first known one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HistoryFill {
    /// Empty boards.
    No,
    /// The first known position again, except when it is the start position of chess.
    #[default]
    FenOnly,
    /// The first known position again.
    Always,
}

/// The planes of the current position of a game, and the symmetry under which they show it (none unless `format` is
/// canonical).
pub fn encode(game: &Game, format: InputFormat, fill: HistoryFill) -> (Planes, Transform) {
    if format == InputFormat::Maia3 {
        return (maia3::encode(game), Transform::NONE);
    }
    let mut planes = Planes::empty();
    write_history(&mut planes, game, format, fill);
    write_auxiliary(&mut planes, game, format);
    let transform = canonical_transform(game.current(), format);
    if transform != Transform::NONE {
        for mask in &mut planes.masks[..=EN_PASSANT_OR_COLOR] {
            *mask = transform.mask(*mask);
        }
    }
    (planes, transform)
}

/// The symmetry under which `format` shows a position, as [`encode`] returns it with the planes.
pub(crate) fn canonical_transform(position: &Position, format: InputFormat) -> Transform {
    if format.is_canonical() && position.chess().castles().is_empty() {
        Transform::canonical(position.board(), position.turn())
    } else {
        Transform::NONE
    }
}

/// Writes the boards of the history, the current one first.
///
/// A canonical format stops at positions that play cannot return to: at another set of castling rights, at a possible
/// en passant, and after a capture or pawn move.
fn write_history(planes: &mut Planes, game: &Game, format: InputFormat, fill: HistoryFill) {
    let positions = game.positions();
    let view = game.current().turn();
    let rights = game.current().chess().castles().castling_rights();
    let mut slot = 0;
    for plies_back in 0.. {
        if slot == HISTORY {
            break;
        }
        let invented = plies_back >= positions.len();
        let index = positions.len().saturating_sub(1 + plies_back);
        let position = &positions[index];
        let en_passant = en_passant(game, index);
        if format.is_canonical() {
            let other_rights = position.chess().castles().castling_rights() != rights;
            if other_rights || plies_back > 0 && en_passant.is_some() {
                break;
            }
        }
        if invented {
            let available = match fill {
                // The double push before an en passant is known even without a history.
                HistoryFill::No => plies_back == positions.len() && en_passant.is_some(),
                HistoryFill::FenOnly => !game.starts_from_standard(),
                HistoryFill::Always => true,
            };
            // The first position of a game repeats nothing, so V2 would look for a repetition for ever.
            if !available || format.is_v2() {
                break;
            }
        }
        if plies_back == 0 || !format.is_v2() || position.repetitions() > 0 {
            let base = slot * PLANES_PER_BOARD;
            let board = &mut planes.masks[base..base + PLANES_PER_BOARD];
            write_board(board, position, view);
            if let Some(target) = en_passant.filter(|_| invented) {
                undo_double_push(board, target, !position.turn(), view);
            }
            slot += 1;
        }
        if format.is_canonical() && position.rule50() == 0 {
            break;
        }
    }
}

/// Writes one board as `view` sees it.
fn write_board(planes: &mut [u64], position: &Position, view: Color) {
    write_pieces(planes, position, view);
    if position.repetitions() > 0 {
        planes[12] = ALL;
    }
}

/// Writes the pieces of one board as `view` sees them: its own pawns, knights, bishops, rooks, queens and king, then the
/// other side's.
pub(super) fn write_pieces(planes: &mut [u64], position: &Position, view: Color) {
    let board = position.board();
    for (first, color) in [(0, view), (6, !view)] {
        for (index, role) in Role::ALL.into_iter().enumerate() {
            planes[first + index] = seen(board.by_color(color) & board.by_role(role), view);
        }
    }
}

/// Takes back the double push of a pawn of the side `pushed` over the square `target`, in the `planes` of one board as
/// `view` sees it: they then show the board one ply earlier, as far as it is known.
fn undo_double_push(planes: &mut [u64], target: Square, pushed: Color, view: Color) {
    let target = Bitboard::from(target).0;
    let path = Bitboard(target << 8 | target >> 8);
    planes[if pushed == view { 0 } else { 6 }] ^= seen(path, view);
}

/// The en passant square of a position of the game. For the first position it is the square that the FEN states, as in
/// Lc0, even if no pawn can capture there: it shows the previous move.
fn en_passant(game: &Game, index: usize) -> Option<Square> {
    let position = &game.positions()[index];
    if index == 0 { position.chess().maybe_ep_square() } else { position.en_passant() }
}

/// Writes the planes after the boards of the history.
fn write_auxiliary(planes: &mut Planes, game: &Game, format: InputFormat) {
    let position = game.current();
    let us = position.turn();
    let castles = position.chess().castles();
    let sides = [CastlingSide::QueenSide, CastlingSide::KingSide];
    if format == InputFormat::Classical {
        let rights = [us, !us].into_iter().flat_map(|color| sides.map(|side| castles.has(color, side)));
        for (mask, right) in planes.masks[AUXILIARY..].iter_mut().zip(rights) {
            *mask = full_if(right);
        }
    } else {
        for (mask, side) in planes.masks[AUXILIARY..].iter_mut().zip(sides) {
            let rooks: Bitboard = Color::ALL.into_iter().filter_map(|color| castles.rook(color, side)).collect();
            *mask = seen(rooks, us);
        }
    }
    planes.masks[EN_PASSANT_OR_COLOR] = if format.is_canonical() {
        en_passant(game, game.positions().len() - 1).map_or(0, last_rank_of_file)
    } else {
        full_if(us.is_black())
    };
    let divisor = if format.is_hectoplies() { HECTOPLIES } else { 1.0 };
    if position.rule50() > 0 {
        planes.masks[RULE50] = ALL;
        planes.values[RULE50] = position.rule50() as f32 / divisor;
    }
    planes.masks[ARMAGEDDON_COLOR] = full_if(format.is_armageddon() && us.is_black());
    planes.masks[ONES] = ALL;
}

/// The square on the mover's eighth rank by which canonical formats mark the file of an en passant.
fn last_rank_of_file(target: Square) -> u64 {
    1 << (56 + u32::from(target.file()))
}

fn full_if(condition: bool) -> u64 {
    if condition { ALL } else { 0 }
}

/// A set of squares as `view` sees it.
fn seen(squares: Bitboard, view: Color) -> u64 {
    if view.is_white() { squares.0 } else { squares.flip_vertical().0 }
}

#[cfg(test)]
mod tests;
