//! Chooses the estimator of moves left, or blends several.

use super::{LEAST_MOVES, MLE_LEGACY, MLE_MLH, MleLegacy, MleMlh};
use crate::params::{GroupSpec, ParamValues, param_specs};

/// The estimators that can be chosen.
pub(crate) const GROUPS: &[GroupSpec] = &[MLE_LEGACY, MLE_MLH];

// The parameter that every estimator has.
param_specs! {
    WEIGHT "weight" 1.0 0.0 1000.0 Ratio "Weight of this estimator where several are named.";
}

/// The estimators that a specification names, both of them blended by their weights. If it names none, the estimate is
/// the mean of both, or that of `mle-legacy` alone for a network without a moves-left head.
#[derive(Clone, Debug)]
pub(crate) struct MovesLeft {
    legacy: MleLegacy,
    mlh: MleMlh,
    /// Weights of `legacy` and `mlh`, in this order; 0 for one that is not used.
    weights: [f64; 2],
    ply: u32,
}

impl MovesLeft {
    /// Reads which estimators are named, and their parameters.
    pub(crate) fn new(values: &ParamValues) -> Self {
        let is_named = |group: &GroupSpec| values.has(group.name);
        let weight = |group: &GroupSpec| if is_named(group) { values.get_in(group.name, &WEIGHT) } else { 0.0 };
        let weights = match GROUPS.iter().any(is_named) {
            true => [&MLE_LEGACY, &MLE_MLH].map(weight),
            false => [1.0, 1.0],
        };
        Self { legacy: MleLegacy::new(values, &MLE_LEGACY), mlh: MleMlh::new(values), weights, ply: 0 }
    }

    pub(crate) fn begin_move(&mut self, ply: u32) {
        self.ply = ply;
        self.mlh.begin_move(ply);
    }

    /// Takes in the output of the moves-left head for the position of this move, in plies.
    pub(crate) fn read(&mut self, plies: Option<f64>) {
        if let Some(plies) = plies {
            self.mlh.read(self.ply, plies);
        }
    }

    /// The source of the estimate as a formula of its term: `from` and the estimators that it is made of.
    pub(crate) fn source(&self) -> &'static str {
        let [by_number, by_head] = self.weights.map(|weight| weight > 0.0);
        match (by_number, by_head && self.mlh.estimate().is_some()) {
            (false, true) => "from mle-mlh",
            (true, true) => "from mle-legacy and mle-mlh",
            (_, false) => "from mle-legacy",
        }
    }

    /// Expected moves left. Without a moves-left head, and where no named estimator has weight, `mle-legacy` decides.
    pub(crate) fn estimate(&self) -> f64 {
        let legacy = self.legacy.estimate(self.ply);
        let [by_number, by_head] = self.weights;
        let (by_head, head) = self.mlh.estimate().map_or((0.0, 0.0), |moves| (by_head, moves));
        let weight = by_number + by_head;
        if weight <= 0.0 {
            return legacy;
        }
        ((legacy * by_number + head * by_head) / weight).max(LEAST_MOVES)
    }
}

#[cfg(test)]
mod tests {
    use crate::{MoveRequest, build};

    fn moves_left(spec: &str, plies: Option<f64>) -> f64 {
        let request = MoveRequest { clock_ms: 60_000.0, ply: 40, moves_left_plies: plies, ..MoveRequest::default() };
        build(&format!("smooth({spec})")).unwrap().plan(&request).moves_left
    }

    #[test]
    fn head_and_move_number_are_the_default_and_mle_legacy_stands_in() {
        let by_number = moves_left("mle-legacy", Some(120.0));
        assert!((moves_left("", Some(120.0)) - (30.0 + by_number) / 2.0).abs() < 1e-9);
        assert_eq!(moves_left("", None), by_number);
        assert_eq!(moves_left("mle-mlh", None), by_number);
    }

    #[test]
    fn naming_an_estimator_chooses_it_and_naming_both_blends_them() {
        let by_number = moves_left("mle-legacy", Some(120.0));
        let blend = "mle-mlh(weight=3),mle-legacy(weight=2)";
        assert!((moves_left("mle-mlh", Some(120.0)) - 30.0).abs() < 1e-9);
        assert!((moves_left(blend, Some(120.0)) - (3.0 * 30.0 + 2.0 * by_number) / 5.0).abs() < 1e-9);
        assert_eq!(moves_left(blend, None), by_number, "what is silent has no weight");
    }
}
