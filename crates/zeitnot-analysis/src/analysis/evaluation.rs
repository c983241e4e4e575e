//! Evaluations from White's side, as lichess writes them, and the chance to win that goes with them.

use std::fmt;
use zeitnot_engine::chess::Color;

/// The evaluation that lichess takes for the start of a game (scalachess, `Eval.Cp.initial`).
pub const START: Eval = Eval::Cp(15);
/// The largest centipawns that count, since a win is hardly more certain beyond them; a mate counts as much
/// (scalachess, `Eval.Cp.CEILING`).
const CEILING: i32 = 1000;
/// The factor of centipawns in the chance to win (scalachess, `WinPercent`).
const PER_CENTIPAWN: f64 = -0.00368208;
/// Points in centipawns of `ScoreType=WDL_mu`. `STOCKFISH` has the centipawns of Stockfish 15.1 that mean the same
/// chances in games of club players (16 games searched with `zeitnot-small`, 1,000 positions).
const MU: [f64; 11] = [0.0, 90.0, 150.0, 200.0, 350.0, 500.0, 750.0, 1350.0, 2900.0, 5000.0, 10_000.0];
const STOCKFISH: [f64; 11] = [0.0, 100.0, 205.0, 255.0, 380.0, 440.0, 540.0, 610.0, 690.0, 775.0, 1000.0];
/// Most pawns that a comment may give.
const MOST_PAWNS: f64 = 1e6;

/// An evaluation from White's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Eval {
    /// Centipawns.
    Cp(i32),
    /// Moves to mate, negative where Black mates.
    Mate(i32),
    /// A mate on the board, by this side.
    Checkmate(Color),
}

impl Eval {
    /// Reads the value of `[%eval ...]`: pawns or `#` and moves, perhaps with a depth behind a comma.
    pub fn parse(text: &str) -> Option<Eval> {
        let text = text.split(',').next()?.trim();
        if let Some(moves) = text.strip_prefix('#') {
            // A mate in 0 moves does not say whose it is.
            return moves.parse().ok().filter(|moves| *moves != 0).map(Eval::Mate);
        }
        let pawns: f64 = text.parse().ok().filter(|pawns: &f64| pawns.abs() <= MOST_PAWNS)?;
        Some(Eval::Cp((100.0 * pawns).round() as i32))
    }

    /// The evaluation in centipawns, cut at 1,000; a mate counts as 1,000.
    pub fn centipawns(self) -> i32 {
        let of_side = |is_white: bool| if is_white { CEILING } else { -CEILING };
        match self {
            Eval::Cp(cp) => cp.clamp(-CEILING, CEILING),
            Eval::Mate(moves) => of_side(moves > 0),
            Eval::Checkmate(winner) => of_side(winner.is_white()),
        }
    }

    /// White's chance to win in per cent.
    pub(crate) fn win_percent(self) -> f64 {
        50.0 + 50.0 * winning_chances(self.centipawns())
    }
}

/// A side's chance to win less its chance to lose, -1 to 1, at so many centipawns from its view.
pub fn winning_chances(cp: i32) -> f64 {
    (2.0 / (1.0 + libm::exp(PER_CENTIPAWN * f64::from(cp))) - 1.0).clamp(-1.0, 1.0)
}

/// Turns centipawns of `ScoreType=WDL_mu` into Stockfish's.
pub(super) fn as_stockfish(cp: i32) -> i32 {
    let size = f64::from(cp).abs();
    let above = MU.partition_point(|mu| *mu < size).clamp(1, MU.len() - 1);
    let part = (size - MU[above - 1]) / (MU[above] - MU[above - 1]);
    let scaled = STOCKFISH[above - 1] + part * (STOCKFISH[above] - STOCKFISH[above - 1]);
    scaled.round() as i32 * cp.signum()
}

/// The evaluation as it stands in `[%eval ...]`.
impl fmt::Display for Eval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Eval::Cp(cp) => write!(f, "{:.2}", f64::from(*cp) / 100.0),
            Eval::Mate(moves) => write!(f, "#{moves}"),
            Eval::Checkmate(_) => f.write_str("#0"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn win_percentages_are_scalachess() {
        // By scalachess' tests (WinPercentTest): 0 is 50, 100 is about 59, 300 about 75, beyond 1,000 is 97.5.
        for (cp, percent) in [(0, 50.0), (100, 59.1), (300, 75.1), (-300, 24.9), (1000, 97.5), (5000, 97.5)] {
            assert!((Eval::Cp(cp).win_percent() - percent).abs() < 0.06, "{cp}: {}", Eval::Cp(cp).win_percent());
        }
        assert_eq!(Eval::Mate(5).win_percent(), Eval::Cp(1000).win_percent());
        assert_eq!(Eval::Checkmate(Color::Black).win_percent(), Eval::Mate(-1).win_percent());
    }

    #[test]
    fn strong_evaluations_shrink_to_stockfishs() {
        for (mu, cp) in [(0, 0), (45, 50), (120, 153), (-120, -153), (350, 380), (2900, 690), (12_800, 1126)] {
            assert_eq!(as_stockfish(mu), cp, "{mu}");
        }
        assert!((0..13_000).all(|mu| as_stockfish(mu) <= as_stockfish(mu + 1)));
    }

    #[test]
    fn evaluations_of_comments_are_read_and_written() {
        for (text, eval) in [
            ("2.35", Some(Eval::Cp(235))),
            ("-0.07", Some(Eval::Cp(-7))),
            ("0.1,20", Some(Eval::Cp(10))),
            ("#-4", Some(Eval::Mate(-4))),
            ("#3,99", Some(Eval::Mate(3))),
            ("#0", None),
            ("NaN", None),
            ("1e300", None),
            ("", None),
        ] {
            assert_eq!(Eval::parse(text), eval, "{text}");
        }
        assert_eq!([Eval::Cp(-7), Eval::Mate(-4)].map(|eval| eval.to_string()), ["-0.07", "#-4"]);
    }
}
