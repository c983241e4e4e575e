//! Lc0's other searches (docs/lc0.md, 3.10), `policyhead` and `valuehead`: the network's opinion without a tree.
//!
//! Both are searches with a limit of their own: one visit tells the policy, and when a move that was not visited goes before
//! every other one, as many visits as there are moves tell the value of each of them.
//!
//! Unlike in Lc0, the name of the program's file does not choose among them (docs/lc0.md, 3.10): a copy plays as the
//! original does.

use super::words::words;
use crate::search::{Fpu, SearchParams, Temperature};
use crate::time_manager::{SearchLimits, StopperParams};

words! {
    /// How a move is chosen (`SearchAlgorithm`); the command line has commands of the same names.
    pub enum SearchAlgorithm {
        /// By a tree search.
        Classic = "classic",
        /// By the network's policy alone.
        PolicyHead = "policyhead",
        /// By the network's value of each move.
        ValueHead = "valuehead",
    }
}

/// A value that no move reaches: it makes the search visit every move before any of them twice.
const BEYOND_ALL_VALUES: f32 = 100.0;

/// Bends a search in a position of `moves` moves to what `algorithm` asks for. Returns whether the network alone decides,
/// without a tree and without a clock.
pub(super) fn bend(
    algorithm: SearchAlgorithm,
    moves: usize,
    limits: &mut SearchLimits,
    params: &mut SearchParams,
    stoppers: &mut StopperParams,
) -> bool {
    let nodes = match algorithm {
        SearchAlgorithm::PolicyHead => 1,
        SearchAlgorithm::ValueHead => 1 + moves as u64,
        SearchAlgorithm::Classic => return false,
    };
    let SearchLimits { infinite, ponder, .. } = *limits;
    *limits = SearchLimits { nodes: Some(nodes), infinite, ponder, ..SearchLimits::default() };
    params.fpu_at_root = Some(Fpu::Absolute(BEYOND_ALL_VALUES));
    params.temperature = Temperature::NONE;
    (stoppers.smart_pruning_factor, stoppers.minimum_kld_gain) = (0.0, 0.0);
    true
}
