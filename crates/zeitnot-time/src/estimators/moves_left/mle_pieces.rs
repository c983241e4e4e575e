//! Estimates moves left from the number of pieces on the board.

use super::LEAST_MOVES;
use super::choice::WEIGHT;
use crate::params::{GroupSpec, ParamValues, param_specs};

param_specs! {
    BASE "base" -8.7 -1000.0 1000.0 Moves "Moves left that an empty board would have.";
    PER_PIECE "per-piece" 2.31 0.0 100.0 Moves "Moves that every piece on the board adds.";
    FLOOR "floor" 7.0 1.0 1000.0 Moves "Least moves left, however few pieces there are.";
}

/// The group under which [`MlePieces`] is configured.
pub(super) const MLE_PIECES: GroupSpec = GroupSpec {
    name: "mle-pieces",
    help: "Moves left from the number of pieces on the board.",
    params: &[BASE, PER_PIECE, FLOOR, WEIGHT],
};

/// The estimator `mle-pieces`: a straight line over the number of pieces, in the manner that the design page of
/// `smooth` suggests (docs/documents.md, 1.3).
///
/// The line is the least absolute deviation fit to 209 TCEC games; a table with one value a piece count is no better
/// (mean error 19.2 moves against 19.3). Fitted to every other game it is off by 18 and by 22 moves on the rest.
#[derive(Clone, Debug)]
pub(super) struct MlePieces {
    base: f64,
    per_piece: f64,
    floor: f64,
}

impl MlePieces {
    pub(crate) fn new(values: &ParamValues) -> Self {
        let value = |param| values.get_in(MLE_PIECES.name, param);
        Self { base: value(&BASE), per_piece: value(&PER_PIECE), floor: value(&FLOOR) }
    }

    /// Expected moves left with `pieces` on the board, kings and pawns among them.
    pub(super) fn estimate(&self, pieces: u32) -> f64 {
        (self.base + self.per_piece * f64::from(pieces)).max(self.floor).max(LEAST_MOVES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mle_pieces_is_a_line_with_a_floor() {
        let line = MlePieces::new(&ParamValues::default());
        for (pieces, expected) in [(32, 65.22), (20, 37.5), (10, 14.4), (6, 7.0), (2, 7.0)] {
            assert!((line.estimate(pieces) - expected).abs() < 1e-9, "{pieces}: {}", line.estimate(pieces));
        }
    }
}
