//! Chooses the estimator of moves left, or blends several.

use super::{LEAST_MOVES, MLE_LEGACY, MLE_MLH, MLE_PIECES, MleLegacy, MleMlh, MlePieces};
use crate::params::{GroupSpec, ParamValues, param_specs};

/// The estimators that can be chosen.
pub(crate) const GROUPS: &[GroupSpec] = &[MLE_LEGACY, MLE_PIECES, MLE_MLH];

// The parameter that every estimator has.
param_specs! {
    WEIGHT "weight" 1.0 0.0 1000.0 Ratio "Weight of this estimator where several are named.";
}

/// The estimators that a specification names; several are blended by their weights. If it names none, the estimate is the
/// mean of the moves-left head's and `mle-legacy`'s, or that of `mle-legacy` alone for a network without the head.
#[derive(Clone, Debug)]
pub(crate) struct MovesLeft {
    legacy: MleLegacy,
    pieces: MlePieces,
    mlh: MleMlh,
    /// Weights of `legacy`, `pieces` and `mlh`, in this order; 0 for one that is not used.
    weights: [f64; 3],
    ply: u32,
    piece_count: Option<u32>,
}

impl MovesLeft {
    /// Reads which estimators are named, and their parameters.
    pub(crate) fn new(values: &ParamValues) -> Self {
        let is_named = |group: &GroupSpec| values.has(group.name);
        let weight = |group: &GroupSpec| if is_named(group) { values.get_in(group.name, &WEIGHT) } else { 0.0 };
        let weights = match GROUPS.iter().any(is_named) {
            true => [&MLE_LEGACY, &MLE_PIECES, &MLE_MLH].map(weight),
            false => [1.0, 0.0, 1.0],
        };
        let (legacy, pieces, mlh) = (MleLegacy::new(values, &MLE_LEGACY), MlePieces::new(values), MleMlh::new(values));
        Self { legacy, pieces, mlh, weights, ply: 0, piece_count: None }
    }

    pub(crate) fn begin_move(&mut self, ply: u32, pieces: Option<u32>) {
        (self.ply, self.piece_count) = (ply, pieces);
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
        let (pieces, mlh) = (self.piece_count.is_some(), self.mlh.estimate().is_some());
        let [by_number, by_pieces, by_head] = self.weights.map(|weight| weight > 0.0);
        match (by_number, pieces && by_pieces, mlh && by_head) {
            (false, false, true) => "from mle-mlh",
            (false, true, false) => "from mle-pieces",
            (_, false, false) => "from mle-legacy",
            (true, true, false) => "from mle-legacy and mle-pieces",
            (true, false, true) => "from mle-legacy and mle-mlh",
            (false, true, true) => "from mle-pieces and mle-mlh",
            (true, true, true) => "from mle-legacy, mle-pieces and mle-mlh",
        }
    }

    /// Expected moves left. An estimator without an estimate is left out; if all are, `mle-legacy` decides.
    pub(crate) fn estimate(&self) -> f64 {
        let legacy = self.legacy.estimate(self.ply);
        let pieces = self.piece_count.map(|pieces| self.pieces.estimate(pieces));
        let voices = [Some(legacy), pieces, self.mlh.estimate()].into_iter().zip(self.weights);
        let heard = || voices.clone().filter_map(|(moves, weight)| Some((moves?, weight)));
        let weight: f64 = heard().map(|(_, weight)| weight).sum();
        if weight <= 0.0 {
            return legacy;
        }
        (heard().map(|(moves, weight)| moves * weight).sum::<f64>() / weight).max(LEAST_MOVES)
    }
}

#[cfg(test)]
mod tests {
    use crate::{MoveRequest, build};

    fn moves_left(spec: &str, plies: Option<f64>, pieces: Option<u32>) -> f64 {
        let request =
            MoveRequest { clock_ms: 60_000.0, ply: 40, moves_left_plies: plies, pieces, ..MoveRequest::default() };
        build(&format!("smooth({spec})")).unwrap().plan(&request).moves_left
    }

    #[test]
    fn head_and_move_number_are_the_default_and_mle_legacy_stands_in() {
        let by_number = moves_left("mle-legacy", Some(120.0), None);
        assert!((moves_left("", Some(120.0), Some(20)) - (30.0 + by_number) / 2.0).abs() < 1e-9);
        assert_eq!(moves_left("", None, Some(20)), by_number);
        assert_eq!(moves_left("mle-mlh", None, None), moves_left("mle-legacy", None, None));
    }

    #[test]
    fn naming_an_estimator_chooses_it_and_naming_several_blends_them() {
        assert!((moves_left("mle-pieces", Some(90.0), Some(20)) - 37.5).abs() < 1e-9);
        let blend = "mle-mlh(weight=3),mle-pieces(weight=1)";
        assert!((moves_left(blend, Some(120.0), Some(20)) - (3.0 * 30.0 + 37.5) / 4.0).abs() < 1e-9);
        assert!((moves_left(blend, None, Some(20)) - 37.5).abs() < 1e-9, "what is silent has no weight");
    }
}
