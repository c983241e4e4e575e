//! The score a GUI is shown, from the network's win, draw and loss (lc0.md C.9).

use crate::search::Line;

/// Above this certainty of win or loss, or draw, WDL_mu's inverse is not steady (Lc0's limit).
const MU_CERTAINTY_LIMIT: f32 = 0.996;
/// Largest spread of the logistic that WDL_mu allows (Lc0's WDLMaxS).
const MU_MAX_SPREAD: f32 = 1.4;
/// Probabilities nearer to 0 or 1 than this are not inverted.
const MU_MARGIN: f32 = 1e-4;

/// The score of a line in the unit that `score_type` (one of [`SCORE_TYPES`](super::options::SCORE_TYPES)) names;
/// centipawns for most of them, from the side to move.
pub fn score(score_type: &str, line: &Line, has_wdl: bool) -> i32 {
    let (wl, q) = (line.wl, line.q);
    let value = match score_type {
        "centipawn_with_drawscore" => centipawn(q),
        "centipawn_2019" => 295.0 * wl / (1.0 - 0.976_953_1 * wl.powi(14)),
        "centipawn_2018" => 290.680_63 * (1.548_090_8 * wl).tan(),
        "win_percentage" => wl * 5000.0 + 5000.0,
        "Q" => q * 10000.0,
        "W-L" => wl * 10000.0,
        "WDL_mu" if has_wdl => wdl_mu(wl, line.d).unwrap_or_else(|| centipawn(wl)),
        _ => centipawn(wl),
    };
    value.round() as i32
}

// Tangents here stay finite: their arguments stay below pi / 2 for |wl| <= 1.
fn centipawn(wl: f32) -> f32 {
    90.0 * (1.563_754_2 * wl).tan()
}

/// The position's strength in hundredths of a unit in which 1 is an even chance to win. `None` where it says less than
/// the centipawn formula.
fn wdl_mu(wl: f32, d: f32) -> Option<f32> {
    let (w, l) = ((1.0 + wl - d) / 2.0, (1.0 - wl - d) / 2.0);
    let inside = |p: f32| p > MU_MARGIN && p < 1.0 - MU_MARGIN;
    if !inside(w) || !inside(l) || !(0.0..).contains(&d) || wl.abs() + d >= MU_CERTAINTY_LIMIT {
        return None;
    }
    let (a, b) = ((1.0 / l - 1.0).ln(), (1.0 / w - 1.0).ln());
    let spread = 2.0 / (a + b);
    let mu = if spread > MU_MAX_SPREAD { MU_MAX_SPREAD * (a - b) / 2.0 } else { (a - b) / (a + b) };
    let plain = 45.0 * (1.567_280_7 * wl).tan();
    (mu != 0.0 && (mu.abs() < 1.0 || plain.abs() < (100.0 * mu).abs())).then_some(100.0 * mu)
}

/// Win, draw and loss in permille for the side to move; they sum to 1000.
pub fn wdl_permille(line: &Line) -> (u32, u32, u32) {
    let permille = |p: f32| (p.clamp(0.0, 1.0) * 1000.0).round() as u32;
    let w = permille((1.0 + line.wl - line.d) / 2.0);
    let l = permille((1.0 - line.wl - line.d) / 2.0).min(1000 - w);
    (w, 1000 - w - l, l)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(wl: f32, d: f32) -> Line {
        Line { moves: vec![], wl, d, q: wl - 0.1 * d, m: None, mate: None, visits: 1 }
    }

    #[test]
    fn score_types() {
        // By hand: 90 tan(1.5637541897 * 0.2) = 29.07; 295 * 0.2 / (1 - 0.977 * 0.2^14) = 59; and so on.
        for (kind, expected) in [
            ("centipawn", 29),
            ("centipawn_with_drawscore", 20),
            ("centipawn_2019", 59),
            ("centipawn_2018", 93),
            ("win_percentage", 6000),
            ("Q", 1400),
            ("W-L", 2000),
            // W 0.3, D 0.6, L 0.1: a = ln 9, b = ln(7/3); (a - b) / (a + b) = 0.4433.
            ("WDL_mu", 44),
        ] {
            assert_eq!(score(kind, &line(0.2, 0.6), true), expected, "{kind}");
        }
        assert_eq!(score("WDL_mu", &line(0.2, 0.0), false), 29, "without a WDL head mu means nothing");
        for wl in [-1.0, 0.0, 1.0] {
            for kind in super::super::options::SCORE_TYPES {
                assert!(score(kind, &line(wl, 0.0), true).abs() < 100_000, "{kind} {wl}");
            }
        }
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
