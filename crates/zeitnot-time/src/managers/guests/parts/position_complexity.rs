//! The factor `complexity` on the time of a move: by moves, pieces, captures and check in a position
//! (docs/documents.md, 2.4).

use super::{factor, read};
use crate::MoveRequest;
use crate::params::{GroupSpec, ParamSpec, ParamValues};

/// Weight of mobility, by the number of legal moves.
const MOBILITY_WEIGHT: f64 = 0.4;
/// Weight of material, by the number of pieces.
const MATERIAL_WEIGHT: f64 = 0.3;
/// Number of legal moves from which mobility counts in full.
const MOST_MOVES: f64 = 50.0;
/// Number of pieces from which material counts in full.
const MOST_PIECES: f64 = 32.0;
/// Complexity that a check adds.
const CHECK_BONUS: f64 = 0.3;
/// Most complexity that captures add.
const CAPTURES_BONUS: f64 = 0.2;
/// Captures that add the whole [`CAPTURES_BONUS`]; the document leaves the number open, and few positions have more.
const MOST_CAPTURES: f64 = 5.0;
/// Most that check and captures add together.
const TACTICAL_WEIGHT: f64 = 0.3;

/// Complexity of a position whose moves or pieces are not given: in the middle, so that its factor is 1.
const UNKNOWN: f64 = 0.5;

/// The complexity of a position, 0 to 1.
///
/// Mobility counts for 40 %, material for 30 %, tactics for 30 %. The document gives check +0.3 and captures "up to
/// +0.2", which are more than 30 % together: the sum of both is cut at 0.3.
pub(crate) fn score(request: &MoveRequest) -> f64 {
    let (Some(legal_moves), Some(pieces)) = (request.legal_moves, request.pieces) else { return UNKNOWN };
    let mobility = (f64::from(legal_moves) / MOST_MOVES).min(1.0);
    let material = (f64::from(pieces) / MOST_PIECES).min(1.0);
    let captures = CAPTURES_BONUS * (f64::from(request.captures.unwrap_or(0)) / MOST_CAPTURES).min(1.0);
    let check = if request.in_check { CHECK_BONUS } else { 0.0 };
    MOBILITY_WEIGHT * mobility + MATERIAL_WEIGHT * material + (captures + check).min(TACTICAL_WEIGHT)
}

/// Factors of the simplest and the most complex position (docs/documents.md, 2.3).
pub(crate) const PARAMS: [ParamSpec; 2] = [
    factor("simplest", 0.8, "Factor of the simplest position (complexity 0)."),
    factor("hardest", 1.2, "Factor of the most complex position (complexity 1)."),
];

pub(crate) const GROUP: GroupSpec = GroupSpec {
    name: "complexity",
    help: "More time where there are many moves, pieces, captures, or a check.",
    params: &PARAMS,
};

/// A factor by the complexity of the position.
#[derive(Clone, Debug)]
pub(crate) struct Complexity {
    range: [f64; 2],
}

impl Complexity {
    pub(crate) fn new(values: &ParamValues, group: &'static str) -> Self {
        Self { range: read(values, group, &PARAMS) }
    }

    pub(crate) fn of(&self, score: f64) -> f64 {
        let [simplest, hardest] = self.range;
        simplest + (hardest - simplest) * score
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(legal_moves: u32, pieces: u32, captures: u32, in_check: bool) -> MoveRequest {
        MoveRequest {
            legal_moves: Some(legal_moves),
            pieces: Some(pieces),
            captures: Some(captures),
            in_check,
            ..MoveRequest::default()
        }
    }

    // docs/documents.md, 2.4: each weight and normalisation.
    #[test]
    fn mergen_complexity_score() {
        let near = |request: &MoveRequest, expected: f64| {
            assert!((score(request) - expected).abs() < 1e-12, "{request:?}: {}", score(request));
        };
        near(&position(50, 0, 0, false), 0.4); // mobility: 40 %
        near(&position(25, 0, 0, false), 0.2); // legal_moves / 50
        near(&position(100, 0, 0, false), 0.4);
        near(&position(0, 32, 0, false), 0.3); // material: 30 %
        near(&position(0, 16, 0, false), 0.15); // piece_count / 32
        near(&position(0, 0, 0, true), 0.3); // in check: +0.3
        near(&position(0, 0, 5, false), 0.2); // captures: up to +0.2
        near(&position(0, 0, 50, false), 0.2);
        near(&position(0, 0, 5, true), 0.3); // tactical: 30 %
        near(&position(218, 32, 74, true), 1.0); // "0.0 to 1.0"
        near(&MoveRequest::default(), 0.5);
    }

    // docs/documents.md, 2.4: the examples.
    #[test]
    fn mergen_example_complexity_scores() {
        let pawn_ending = score(&position(7, 3, 0, false)); // K+P vs K: "~0.2"
        assert!((0.05..0.25).contains(&pawn_ending), "{pawn_ending}");
        let quiet = score(&position(35, 24, 1, false)); // "Quiet middlegame: ~0.5"
        assert!((0.45..0.6).contains(&quiet), "{quiet}");
        let sharp = score(&position(45, 28, 8, false)); // "Sharp tactical position: ~0.8-1.0"
        assert!((0.78..1.0).contains(&sharp), "{sharp}");
    }

    // docs/documents.md, 2.3: the factor of the complexity.
    #[test]
    fn mergen_complexity_factor() {
        let complexity = Complexity::new(&ParamValues::default(), "test");
        for (score, factor) in [(0.0, 0.8), (0.25, 0.9), (0.5, 1.0), (1.0, 1.2)] {
            assert!((complexity.of(score) - factor).abs() < 1e-12);
        }
    }
}
