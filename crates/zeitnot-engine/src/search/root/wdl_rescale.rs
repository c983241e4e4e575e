//! Rescales win, draw and loss: sharper or flatter results, and contempt (docs/lc0.md, 3.7).
//!
//! The outcome of a game is modelled as a logistic random walk: with a strength `mu` and a spread `s` of the position,
//! `W = logistic((mu - 1) / s)` and `L = logistic((-mu - 1) / s)`, so that 1 is an even chance to win. A network's
//! answer is taken apart into `mu` and `s`, the spread is multiplied by a ratio, the strength shifted in favour of one
//! side, and both are put together again. What a GUI is shown keeps the spread of the tree, and the shift is taken back
//! as far as `WDLEvalObjectivity` says.
//!
//! Lc0 approximates logarithm and logistic; here they are exact, so results differ by a few thousandths.

use zeitnot_chess::Color;

/// Probabilities nearer to 0 or 1 than this are left as they are (Lc0's limit): the logarithms are not steady there.
const MARGIN: f32 = 1e-4;
/// Smallest spread used, whatever `WDLMaxS` says: the model divides by the spread.
const LEAST_SPREAD: f32 = 1e-3;

/// Rescales win, draw and loss before they enter the tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct WdlRescale {
    /// The factor of the spread; 1 leaves the spread as it is.
    pub ratio: f32,
    /// Shift of the strength at a spread of 1; 0: no contempt.
    pub diff: f32,
    /// Side that the shift favours, if any.
    pub side: Option<Color>,
    /// Upper bound of the spread: a larger one is cut to it (`WDLMaxS`).
    pub max_spread: f32,
    /// The share of the shift that is taken back in what is shown (`WDLEvalObjectivity`): 0 shows what the tree holds.
    pub objectivity: f32,
}

/// A value as a GUI is shown it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shown {
    /// Win minus loss.
    pub wl: f32,
    /// Draw probability.
    pub d: f32,
    /// The strength `mu`, where 1 is an even chance to win; `None` where win, draw or loss is all but excluded.
    pub mu: Option<f32>,
}

/// The random walk that models a position: its strength `mu` and its spread.
#[derive(Clone, Copy)]
struct Walk {
    mu: f32,
    spread: f32,
}

impl Walk {
    /// The walk that has these values; `None` where win, draw or loss is within [`MARGIN`] of 0 or 1.
    fn of(wl: f32, d: f32) -> Option<Walk> {
        let (w, l) = ((1.0 + wl - d) / 2.0, (1.0 - wl - d) / 2.0);
        let inside = |p: f32| p > MARGIN && p < 1.0 - MARGIN;
        if !(inside(w) && inside(d) && inside(l)) {
            return None;
        }
        let (a, b) = ((1.0 / l - 1.0).ln(), (1.0 / w - 1.0).ln());
        Some(Walk { mu: (a - b) / (a + b), spread: 2.0 / (a + b) })
    }

    /// Win minus loss and the draw probability of the walk.
    fn wl_and_d(self) -> (f32, f32) {
        let logistic = |x: f32| 1.0 / (1.0 + (-x).exp());
        let (w, l) = (logistic((self.mu - 1.0) / self.spread), logistic((-self.mu - 1.0) / self.spread));
        (w - l, (1.0 - w - l).max(0.0))
    }
}

impl WdlRescale {
    /// No rescaling: all values stay as they are.
    pub(crate) const NONE: WdlRescale =
        WdlRescale { ratio: 1.0, diff: 0.0, side: None, max_spread: 1.4, objectivity: 1.0 };

    /// Whether the rescaling changes any value.
    pub(crate) fn is_active(&self) -> bool {
        self.ratio != 1.0 || self.shifts()
    }

    fn shifts(&self) -> bool {
        self.diff != 0.0 && self.side.is_some()
    }

    /// Whether a tree grown under `other` holds the values that this rescaling would give.
    pub(crate) fn grows_as(&self, other: &WdlRescale) -> bool {
        let shift = |rescale: &WdlRescale| rescale.shifts().then_some((rescale.diff, rescale.side));
        let effect = |rescale: &WdlRescale| rescale.is_active().then_some((rescale.ratio, rescale.max_spread));
        effect(self) == effect(other) && shift(self) == shift(other)
    }

    /// The rescaling in words, as far as it decides a tree's values.
    pub(crate) fn effect(&self) -> String {
        let side = self.side.filter(|_| self.shifts()).map(|side| format!(", {} for {side}", self.diff));
        match self.is_active() {
            true => format!("ratio {}, spread {}{}", self.ratio, self.max_spread, side.unwrap_or_default()),
            false => "none".to_owned(),
        }
    }

    /// The shift for a spread of 1, as `turn` sees it.
    fn diff_for(&self, turn: Color) -> f32 {
        match self.side {
            Some(side) if side == turn => self.diff,
            Some(_) => -self.diff,
            None => 0.0,
        }
    }

    /// Win minus loss and draw for the tree, from those of the network, both as `turn` sees them.
    pub(crate) fn apply(&self, wl: f32, d: f32, turn: Color) -> (f32, f32) {
        let Some(walk) = Walk::of(wl, d).filter(|_| self.is_active()) else { return (wl, d) };
        let spread = walk.spread.min(self.max_spread).max(LEAST_SPREAD);
        let mu = walk.mu + spread * spread * self.diff_for(turn);
        Walk { mu, spread: spread * self.ratio }.wl_and_d()
    }

    /// The value that a GUI is shown for a value of the tree, both as `turn` sees them.
    pub(crate) fn shown(&self, wl: f32, d: f32, turn: Color) -> Shown {
        let Some(walk) = Walk::of(wl, d) else { return Shown { wl, d, mu: None } };
        if !self.shifts() || self.objectivity == 0.0 {
            return Shown { wl, d, mu: Some(walk.mu) };
        }
        // The shift went by the spread that the network gave.
        let believed = (walk.spread / self.ratio).min(self.max_spread);
        let mu = walk.mu - believed * believed * self.diff_for(turn) * self.objectivity;
        let (wl, d) = Walk { mu, ..walk }.wl_and_d();
        Shown { wl, d, mu: Some(mu) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contempt(ratio: f32, diff: f32) -> WdlRescale {
        WdlRescale { ratio, diff, side: Some(Color::White), ..WdlRescale::NONE }
    }

    #[test]
    fn nothing_is_changed_by_default() {
        assert_eq!(WdlRescale::NONE.apply(0.3, 0.4, Color::White), (0.3, 0.4));
        // W 0.5, D 0.4, L 0.1: a = ln 9, b = 0, so mu is 1: an even chance to win.
        assert_eq!(WdlRescale::NONE.shown(0.4, 0.4, Color::Black), Shown { wl: 0.4, d: 0.4, mu: Some(1.0) });
        assert_eq!(WdlRescale::NONE.shown(1.0, 0.0, Color::White).mu, None);
    }

    #[test]
    fn the_shift_by_hand() {
        // W = L = 0.25, D 0.5: a = b = ln 3, mu 0, s = 1 / ln 3 = 0.910239. A diff of 1 moves mu to s^2 = 0.828535 for
        // White: W = logistic(-0.171465 / s) = 0.453045, L = logistic(-1.828535 / s) = 0.118277.
        let (wl, d) = contempt(1.0, 1.0).apply(0.0, 0.5, Color::White);
        assert!((wl - 0.334769).abs() < 1e-5 && (d - 0.428678).abs() < 1e-5, "{wl} {d}");
        assert_eq!(contempt(1.0, 1.0).apply(0.0, 0.5, Color::Black).0, -wl);
        // Half the spread: W = L = logistic(-2 ln 3) = 0.1.
        let (wl, d) = contempt(0.5, 0.0).apply(0.0, 0.5, Color::White);
        assert!(wl.abs() < 1e-6 && (d - 0.8).abs() < 1e-6, "{wl} {d}");
    }

    #[test]
    fn the_shift_is_not_shown_but_the_spread_is() {
        for (ratio, diff) in [(1.0, 1.5), (0.6, -0.7), (1.5, 0.2)] {
            let rescale = contempt(ratio, diff);
            for (wl, d) in [(0.0, 0.5), (0.3, 0.4), (-0.5, 0.3), (0.02, 0.4)] {
                for turn in [Color::White, Color::Black] {
                    let (tree_wl, tree_d) = rescale.apply(wl, d, turn);
                    let shown = rescale.shown(tree_wl, tree_d, turn);
                    let (wl, d) = contempt(ratio, 0.0).apply(wl, d, turn);
                    let close = (shown.wl - wl).abs() < 1e-4 && (shown.d - d).abs() < 1e-4;
                    assert!(close, "{ratio} {diff} {wl} {d} {shown:?}");
                    let inside = WdlRescale { objectivity: 0.0, ..rescale }.shown(tree_wl, tree_d, turn);
                    assert_eq!(inside.mu, Walk::of(tree_wl, tree_d).map(|walk| walk.mu));
                }
            }
        }
    }

    /// Lc0 0.32.1 with maia-1900, one thread, batches of one, `go nodes 100`: WL and D by `VerboseMoveStats`, and the
    /// score by `ScoreType` WDL_mu.
    #[test]
    fn mu_is_lc0s() {
        for (wl, d, score) in [
            (0.02771, 0.051, 53.0),
            (0.03839, 0.056, 68.0),
            (0.03511, 0.505, 8.0),
            (-0.04061, 0.477, -9.0),
            (-0.40718, 0.040, -900.0),
            (-0.45719, 0.031, -1302.0),
            (-0.89793, 0.084, -287.0),
        ] {
            let mu = 100.0 * WdlRescale::NONE.shown(wl, d, Color::White).mu.unwrap();
            // Three digits of D, and Lc0's rough logarithm.
            assert!((mu - score).abs() < 2.0 + 0.04 * score.abs(), "{wl} {d}: {mu} for {score}");
        }
    }

    #[test]
    fn a_broad_spread_is_not_believed() {
        // W 0.48, L 0.47: the spread is 10; shifted by it squared nothing would be left of the network's opinion.
        let rescale = contempt(1.0, 0.5);
        let (wl, _) = rescale.apply(0.01, 0.05, Color::White);
        let unlimited = WdlRescale { max_spread: 100.0, ..rescale }.apply(0.01, 0.05, Color::White).0;
        assert!(wl > 0.2 && wl < 0.7 && unlimited > 0.9, "{wl} {unlimited}");
    }

    #[test]
    fn which_trees_can_be_kept() {
        let white = contempt(1.0, 0.5);
        let black = WdlRescale { side: Some(Color::Black), ..white };
        let nobody = WdlRescale { side: None, ..white };
        assert!(white.grows_as(&WdlRescale { objectivity: 0.0, ..white }) && !white.grows_as(&black));
        assert!(nobody.grows_as(&WdlRescale::NONE) && !white.grows_as(&nobody));
        assert!(!contempt(0.5, 0.0).grows_as(&WdlRescale::NONE));
    }
}
