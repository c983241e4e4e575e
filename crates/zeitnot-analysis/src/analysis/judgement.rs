//! Judges moves as lichess does: by the loss of chances to win, and by mates that come up or are lost.
//!
//! Source: lila, `Advice.scala`.

use super::evaluation::{Eval, winning_chances};
use serde::{Deserialize, Serialize};
use zeitnot_engine::chess::Color;

/// A judgement of a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Judgement {
    /// A small loss.
    Inaccuracy,
    /// A loss.
    Mistake,
    /// A large loss.
    Blunder,
}

/// The judgements, each with the loss of winning chances, which run from -1 to 1, from which on it applies.
const LOSSES: [(f64, Judgement); 3] =
    [(0.3, Judgement::Blunder), (0.2, Judgement::Mistake), (0.1, Judgement::Inaccuracy)];
/// Factor of these losses where our own searches gave the evaluations: they see less of a loss than Stockfish does
/// (games of club players, docs/results/2026-11-judging.md).
const SEARCHED: f64 = 0.85;
/// Centipawns of an advantage above which allowing or missing a mate is an inaccuracy, and above which a mistake.
const DECIDED: (i32, i32) = (999, 700);

impl Judgement {
    /// All judgements, the mildest first.
    pub const ALL: [Judgement; 3] = [Judgement::Inaccuracy, Judgement::Mistake, Judgement::Blunder];

    /// The signs behind the move.
    pub fn glyph(self) -> &'static str {
        match self {
            Judgement::Inaccuracy => "?!",
            Judgement::Mistake => "?",
            Judgement::Blunder => "??",
        }
    }

    /// The number of the glyph in PGN.
    pub(crate) fn nag(self) -> u32 {
        match self {
            Judgement::Inaccuracy => 6,
            Judgement::Mistake => 2,
            Judgement::Blunder => 4,
        }
    }

    pub fn word(self) -> &'static str {
        match self {
            Judgement::Inaccuracy => "Inaccuracy",
            Judgement::Mistake => "Mistake",
            Judgement::Blunder => "Blunder",
        }
    }
}

/// The judgement of a move of `mover` by the evaluations before and after it; `None` for a move without fault.
/// `is_searched`: our own searches gave the evaluations.
pub fn judge(before: Eval, after: Eval, mover: Color, is_searched: bool) -> Option<Judgement> {
    let sign = if mover.is_white() { 1 } else { -1 };
    // From the mover's side: positive where the mover mates.
    let mate = |eval: Eval| match eval {
        Eval::Cp(_) => None,
        Eval::Mate(moves) => Some(sign * moves.signum()),
        Eval::Checkmate(winner) => Some(if winner == mover { 1 } else { -1 }),
    };
    // Without a cut, unlike the win percentage.
    let cp = |eval: Eval| if let Eval::Cp(cp) = eval { sign.saturating_mul(cp) } else { 0 };
    match (mate(before), mate(after)) {
        (None, None) => {
            let loss = winning_chances(cp(before)) - winning_chances(cp(after));
            let part = if is_searched { SEARCHED } else { 1.0 };
            LOSSES.into_iter().find(|(least, _)| part * least <= loss).map(|(_, judgement)| judgement)
        }
        // The side will be mated.
        (None, Some(-1)) => Some(by_centipawns(-cp(before))),
        // The side has let a mate slip.
        (Some(1), None | Some(-1)) => Some(by_centipawns(cp(after))),
        _ => None,
    }
}

/// The judgement of a move that allows or misses a mate, where the mating side is `cp` centipawns ahead without it.
fn by_centipawns(cp: i32) -> Judgement {
    match cp {
        cp if cp > DECIDED.0 => Judgement::Inaccuracy,
        cp if cp > DECIDED.1 => Judgement::Mistake,
        _ => Judgement::Blunder,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Eval::{Checkmate, Cp, Mate};
    use Judgement::{Blunder, Inaccuracy, Mistake};

    #[test]
    fn losses_of_chances_are_judged() {
        // Chances by hand: 2 / (1 + e^(-0.00368208 cp)) - 1 = 0.0915 at 50, 0.1821 at 100, 0.3554 at 202.
        for (before, after, judgement) in [
            (0, -50, None),
            (0, -55, Some(Inaccuracy)),
            (0, -100, Some(Inaccuracy)),
            (0, -111, Some(Mistake)),
            (0, -202, Some(Blunder)),
            (0, 200, None),
            (900, 700, None),
            // Beyond 1,000 chances still grow.
            (3000, 750, Some(Inaccuracy)),
        ] {
            assert_eq!(judge(Cp(before), Cp(after), Color::White, false), judgement, "{before} {after}");
            assert_eq!(judge(Cp(-before), Cp(-after), Color::Black, false), judgement, "{before} {after}");
        }
        // By our own searches a little less is asked.
        for (before, after, judgement) in
            [(0, -46, None), (0, -50, Some(Inaccuracy)), (0, -100, Some(Mistake)), (0, -150, Some(Blunder))]
        {
            assert_eq!(judge(Cp(before), Cp(after), Color::White, true), judgement, "{before} {after}");
        }
    }

    #[test]
    fn mates_are_judged_by_what_the_game_was_worth() {
        for (before, after, judgement) in [
            (Cp(0), Mate(-4), Some(Blunder)),
            (Cp(-700), Mate(-4), Some(Blunder)),
            (Cp(-701), Mate(-4), Some(Mistake)),
            (Cp(-1000), Mate(-4), Some(Inaccuracy)),
            (Mate(3), Cp(1000), Some(Inaccuracy)),
            (Mate(3), Cp(999), Some(Mistake)),
            (Mate(3), Cp(700), Some(Blunder)),
            (Mate(3), Mate(-2), Some(Blunder)),
            (Mate(3), Mate(9), None),
            (Mate(-3), Mate(-1), None),
            (Mate(-3), Cp(0), None),
            (Cp(0), Mate(4), None),
            (Mate(1), Checkmate(Color::White), None),
            (Mate(-1), Mate(-1), None),
        ] {
            assert_eq!(judge(before, after, Color::White, false), judgement, "{before:?} {after:?}");
        }
        assert_eq!(judge(Cp(0), Mate(4), Color::Black, false), Some(Blunder));
        assert_eq!(judge(Mate(-4), Cp(-800), Color::Black, false), Some(Mistake));
    }
}
