//! The factor `phase` on the time of a move: by the phase of the game.

use super::{factor, read};
use crate::params::{GroupSpec, ParamSpec, ParamValues};

/// Number of pieces assumed where the request gives none.
const UNKNOWN_PIECES: u32 = 32;

/// The phases of Sharp Rustic (docs/documents.md, 3.3).
///
/// The document's list counts moves ("first 20 moves") and its table plies ("0-20"); the table is the more complete of
/// the two, and its example (15 moves played, `Phase=EarlyMiddlegame`) follows it, so plies are meant. "≤12 pieces" is
/// an endgame whatever the ply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum GamePhase {
    /// Plies 0 to 20.
    #[default]
    Opening,
    /// Plies 21 to 30.
    EarlyMiddlegame,
    /// Plies 31 to 40.
    LateMiddlegame,
    /// Plies after 40, and positions with at most 12 pieces.
    Endgame,
}

/// Last ply of the opening; the next two are those of the other phases (docs/documents.md, 3.2).
const OPENING_PLIES: u32 = 20;
const EARLY_MIDDLEGAME_PLIES: u32 = 30;
const LATE_MIDDLEGAME_PLIES: u32 = 40;
/// Most pieces of an endgame.
const ENDGAME_PIECES: u32 = 12;

impl GamePhase {
    pub(crate) const ALL: [Self; 4] = [Self::Opening, Self::EarlyMiddlegame, Self::LateMiddlegame, Self::Endgame];

    /// The phase at `ply` with `pieces` on the board.
    pub(crate) fn of(ply: u32, pieces: Option<u32>) -> Self {
        if ply > LATE_MIDDLEGAME_PLIES || pieces.is_some_and(|pieces| pieces <= ENDGAME_PIECES) {
            Self::Endgame
        } else if ply <= OPENING_PLIES {
            Self::Opening
        } else if ply <= EARLY_MIDDLEGAME_PLIES {
            Self::EarlyMiddlegame
        } else {
            Self::LateMiddlegame
        }
    }
}

/// The phases of Mergen (docs/documents.md, 2.5), which counts moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MovePhase {
    /// Moves 1 to 10.
    Opening,
    /// Moves 11 to 35.
    Middlegame,
    /// Fewer than 10 pieces, or after move 35.
    Endgame,
}

/// Number of the last move of the opening (docs/documents.md, 2.5).
pub(crate) const LAST_OPENING_MOVE: u32 = 10;
pub(crate) const LAST_MIDDLEGAME_MOVE: u32 = 35;
const ENDGAME_BELOW_PIECES: u32 = 10;

impl MovePhase {
    /// The phase at `ply` with `pieces` on the board.
    pub(crate) fn of(ply: u32, pieces: Option<u32>) -> Self {
        let number = move_number(ply);
        if number > LAST_MIDDLEGAME_MOVE || pieces.unwrap_or(UNKNOWN_PIECES) < ENDGAME_BELOW_PIECES {
            Self::Endgame
        } else if number <= LAST_OPENING_MOVE {
            Self::Opening
        } else {
            Self::Middlegame
        }
    }
}

/// The number of the move at this ply, from 1.
pub(crate) fn move_number(ply: u32) -> u32 {
    ply / 2 + 1
}

/// Factors of the phases (docs/documents.md, 2.5).
pub(crate) const PARAMS: [ParamSpec; 3] = [
    factor("opening", 0.7, "Factor in the opening (moves 1 to 10)."),
    factor("middlegame", 1.2, "Factor in the middlegame (moves 11 to 35)."),
    factor("endgame", 1.0, "Factor in the endgame (fewer than 10 pieces, or after move 35)."),
];

pub(crate) const GROUP: GroupSpec =
    GroupSpec { name: "phase", help: "More time where the game is decided.", params: &PARAMS };

#[derive(Clone, Debug)]
pub(crate) struct PhaseFactor {
    factors: [f64; 3],
}

impl PhaseFactor {
    pub(crate) fn new(values: &ParamValues, group: &'static str) -> Self {
        Self { factors: read(values, group, &PARAMS) }
    }

    pub(crate) fn of(&self, phase: MovePhase) -> f64 {
        self.factors[phase as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // docs/documents.md, 3.2 and 3.3: with the plies of the table.
    #[test]
    fn sharp_rustic_game_phase_detection() {
        use GamePhase::*;
        for (ply, pieces, expected) in [
            (0, Some(32), Opening),
            (20, Some(30), Opening),
            (20, None, Opening),
            (21, Some(30), EarlyMiddlegame),
            (30, Some(13), EarlyMiddlegame),
            (31, Some(20), LateMiddlegame),
            (40, Some(13), LateMiddlegame),
            (41, Some(32), Endgame),
            (25, Some(12), Endgame),
            (5, Some(12), Endgame),
        ] {
            assert_eq!(GamePhase::of(ply, pieces), expected, "{ply} {pieces:?}");
        }
        assert_eq!(GamePhase::ALL.map(|phase| phase as usize), [0, 1, 2, 3]);
        let names = ["Opening", "EarlyMiddlegame", "LateMiddlegame", "Endgame"];
        assert_eq!(GamePhase::ALL.map(|phase| format!("{phase:?}")), names, "as the statistics print them");
    }

    // docs/documents.md, 2.5.
    #[test]
    fn mergen_game_phase_detection_and_factors() {
        let factor = PhaseFactor::new(&ParamValues::default(), "test");
        for (number, pieces, phase, expected) in [
            (1, 32, MovePhase::Opening, 0.7),
            (10, 28, MovePhase::Opening, 0.7),
            (11, 28, MovePhase::Middlegame, 1.2),
            (35, 10, MovePhase::Middlegame, 1.2),
            (36, 20, MovePhase::Endgame, 1.0),
            (15, 9, MovePhase::Endgame, 1.0),
        ] {
            let ply = (number - 1) * 2;
            assert_eq!(MovePhase::of(ply, Some(pieces)), phase, "{number}");
            assert_eq!(MovePhase::of(ply + 1, Some(pieces)), phase, "the same move by Black");
            assert_eq!(factor.of(phase), expected);
        }
        assert_eq!(MovePhase::of(0, None), MovePhase::Opening);
    }
}
