//! Computes the numbers that a GUI is shown: the score from the network's win, draw and loss (docs/lc0.md, 3.8), and
//! the index of a move in the network's policy.

use super::words::words;
use crate::search::Line;
use zeitnot_chess::{Color, Move};
use zeitnot_network::Transform;

/// Sum of |win minus loss| and draw from which on the strength of `WDL_mu` cannot be computed reliably (Lc0's limit).
const MU_CERTAINTY_LIMIT: f32 = 0.996;

words! {
    /// The kinds of score that `info score cp` can carry (`ScoreType`).
    pub enum ScoreType {
        /// Centipawns from win minus loss.
        Centipawn = "centipawn",
        /// Centipawns from the expected score, in which draws have the value that `DrawScore` gives them.
        CentipawnWithDrawScore = "centipawn_with_drawscore",
        /// Centipawns by the formula of Lc0's releases of 2019.
        Centipawn2019 = "centipawn_2019",
        /// Centipawns by the formula of Lc0's releases of 2018.
        Centipawn2018 = "centipawn_2018",
        /// Expected points, in hundredths of a percent.
        WinPercentage = "win_percentage",
        /// The expected score, in ten-thousandths.
        Q = "Q",
        /// Win minus loss, in ten-thousandths.
        WinMinusLoss = "W-L",
        /// The strength `mu` that win, draw and loss imply (`wdl_rescale`), times 100: 100 is an even chance to win.
        WdlMu = "WDL_mu",
    }
}

/// The score of a line in the unit of `score_type`, from the side to move. `has_wdl`: whether the network gives win,
/// draw and loss; `WDL_mu` needs them, and shows centipawns otherwise.
pub fn score(score_type: ScoreType, line: &Line, has_wdl: bool) -> i32 {
    let (wl, q) = (line.wl, line.q);
    let value = match score_type {
        ScoreType::Centipawn => centipawn(wl),
        ScoreType::CentipawnWithDrawScore => centipawn(q),
        ScoreType::Centipawn2019 => 295.0 * wl / (1.0 - 0.976_953_1 * wl.powi(14)),
        ScoreType::Centipawn2018 => 290.680_63 * (1.548_090_8 * wl).tan(),
        ScoreType::WinPercentage => wl * 5000.0 + 5000.0,
        ScoreType::Q => q * 10000.0,
        ScoreType::WinMinusLoss => wl * 10000.0,
        ScoreType::WdlMu => wdl_mu(line).filter(|_| has_wdl).unwrap_or_else(|| centipawn_for_mu(wl)),
    };
    value.round() as i32
}

// Tangents here stay finite: their arguments stay below pi / 2 for |wl| <= 1.
fn centipawn(wl: f32) -> f32 {
    90.0 * (1.563_754_2 * wl).tan()
}

/// The score by `WDL_mu`, where 100 is an even chance to win. `None` where it is unreliable, and where it is 100 or
/// more (either sign) but not above what the centipawn formula in its place gives.
fn wdl_mu(line: &Line) -> Option<f32> {
    let mu = line.mu.filter(|mu| *mu != 0.0 && line.wl.abs() + line.d < MU_CERTAINTY_LIMIT)?;
    (mu.abs() < 1.0 || centipawn_for_mu(line.wl).abs() < (100.0 * mu).abs()).then_some(100.0 * mu)
}

fn centipawn_for_mu(wl: f32) -> f32 {
    45.0 * (1.567_280_7 * wl).tan()
}

/// Win, draw and loss in permille for the side to move; they sum to 1000.
pub fn wdl_permille(line: &Line) -> (u32, u32, u32) {
    let permille = |p: f32| (p.clamp(0.0, 1.0) * 1000.0).round() as u32;
    let w = permille((1.0 + line.wl - line.d) / 2.0);
    let l = permille((1.0 - line.wl - line.d) / 2.0).min(1000 - w);
    (w, 1000 - w - l, l)
}

/// The index of a move of the side `turn` in the policy of a network, as `VerboseMoveStats` prints it: that of the
/// board as it stands, without the symmetries of canonical inputs.
pub fn policy_index(mv: Move, turn: Color) -> u16 {
    zeitnot_network::policy_index(mv, turn, Transform::NONE)
}

#[cfg(test)]
mod tests {
    use super::super::words::Word as _;
    use super::*;

    fn line(wl: f32, d: f32) -> Line {
        Line { moves: vec![], wl, d, mu: None, q: wl - 0.1 * d, m: None, mate: None, visits: 1 }
    }

    #[test]
    fn score_types() {
        // By hand: 90 tan(1.5637541897 * 0.2) = 29.07; 295 * 0.2 / (1 - 0.977 * 0.2^14) = 59; and so on.
        for (kind, expected) in [
            (ScoreType::Centipawn, 29),
            (ScoreType::CentipawnWithDrawScore, 20),
            (ScoreType::Centipawn2019, 59),
            (ScoreType::Centipawn2018, 93),
            (ScoreType::WinPercentage, 6000),
            (ScoreType::Q, 1400),
            (ScoreType::WinMinusLoss, 2000),
            // W 0.3, D 0.6, L 0.1: a = ln 9, b = ln(7/3); (a - b) / (a + b) = 0.4433.
            (ScoreType::WdlMu, 44),
        ] {
            assert_eq!(score(kind, &Line { mu: Some(0.4433), ..line(0.2, 0.6) }, true), expected, "{kind:?}");
        }
        for wl in [-1.0, 0.0, 1.0] {
            for kind in ScoreType::ALL {
                assert!(score(*kind, &line(wl, 0.0), true).abs() < 100_000, "{kind:?} {wl}");
            }
        }
    }

    #[test]
    fn where_mu_gives_way_to_centipawns() {
        let score = |wl, d, mu, has_wdl| score(ScoreType::WdlMu, &Line { mu, ..line(wl, d) }, has_wdl);
        // 45 tan(1.56728071628 * 0.2) = 14.57, tan(1.56728071628 * 0.9) = 6.187 times 45 = 278.4.
        assert_eq!(score(0.2, 0.6, Some(0.4433), false), 15, "without a WDL head mu means nothing");
        assert_eq!(score(0.2, 0.6, None, true), 15);
        assert_eq!(score(0.9, 0.05, Some(3.5), true), 350);
        assert_eq!(score(0.9, 0.05, Some(2.5), true), 278, "a decided position, and mu says less");
        assert_eq!(score(0.5, 0.497, Some(1.5), true), 45, "one result is all but excluded");
    }

    /// Lc0 0.32.1 with maia-1900, `ScoreType` as named, `DrawScore` 0.2, one thread, batches of one, `MultiPV` 3,
    /// `go nodes 100`: WL, D and Q by `VerboseMoveStats`, and the score of the `info` line of the same move. Its
    /// logarithms are rough.
    #[test]
    fn scores_are_lc0s() {
        const ROUGH: f32 = 0.003;
        for (wl, d, q, scores) in [
            (0.9281, 0.061, 0.94031, [744, 888, 415, 2143, 9638, 9399, 9276]),
            (0.92541, 0.064, 0.93817, [719, 859, 405, 2078, 9624, 9377, 9249]),
            (-0.40718, 0.040, -0.39912, [-67, -65, -120, -213, 2952, -4015, -4095]),
            (-0.89793, 0.084, -0.88109, [-537, -462, -338, -1597, 507, -8817, -8984]),
            (0.02771, 0.051, 0.03789, [4, 5, 8, 12, 5142, 393, 285]),
        ] {
            for (kind, expected) in ScoreType::ALL.iter().zip(scores) {
                let at = |by: f32| score(*kind, &Line { q: q + by, ..line(wl + by, d) }, true);
                assert!(
                    (at(-ROUGH) - 1..=at(ROUGH) + 1).contains(&expected),
                    "{kind:?} {wl}: {} for {expected}",
                    at(0.0)
                );
            }
        }
        // The first position by WDL_mu: 385, which is the centipawn formula, as mu is 3.06 there.
        let at = |wl: f32| score(ScoreType::WdlMu, &Line { mu: Some(3.06), ..line(wl, 0.061) }, true);
        assert!((at(0.9281 - ROUGH)..=at(0.9281 + ROUGH)).contains(&385), "{}", at(0.9281));
    }

    #[test]
    fn permille_sums_to_1000() {
        assert_eq!(wdl_permille(&line(0.2, 0.6)), (300, 600, 100));
        for step in 0..=1000 {
            let d = step as f32 / 1000.0;
            for share in [-1.0, -0.3333, 0.0, 0.777, 1.0] {
                let (w, d, l) = wdl_permille(&line((1.0 - d) * share, d));
                assert_eq!(w + d + l, 1000);
            }
        }
    }
}
