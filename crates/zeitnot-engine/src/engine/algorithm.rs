//! Configures Lc0's other searches (docs/lc0.md, 3.10), `policyhead` and `valuehead`: they play by the network without
//! a tree.
//!
//! Both are searches with a limit of their own. `policyhead` makes one visit, which gives the policy; `Temperature` draws
//! from it. `valuehead` makes one visit more than there are moves and prefers unvisited moves to all others, so that every
//! move gets its value. No time is divided, but a clock or a `movetime` that would run out ends them.
//!
//! Unlike in Lc0, the name of the program's file does not choose among them (docs/lc0.md, 3.10): a copy plays as the
//! original does.

use super::words::words;
use crate::search::{Fpu, SearchParams, Temperature};
use zeitnot_time::{SearchLimits, StopperParams};

words! {
    /// Way to choose a move (`SearchAlgorithm`).
    pub enum SearchAlgorithm {
        /// Tree search.
        Classic = "classic",
        /// The network's policy alone.
        PolicyHead = "policyhead",
        /// The network's value of each move.
        ValueHead = "valuehead",
    }
}

/// FPU value above that of any move: it makes the search visit every move before any of them twice.
const BEYOND_ALL_VALUES: f32 = 100.0;

/// The limits and parameters of a search, as its [`SearchAlgorithm`] sets them.
pub(super) struct Configured {
    /// The limits besides the clock.
    pub limits: SearchLimits,
    /// The parameters of the search.
    pub params: SearchParams,
    /// The parameters of the stoppers.
    pub stoppers: StopperParams,
    /// Whether the network alone decides, without a tree and without a time manager.
    pub network_alone: bool,
}

/// Adapts limits and parameters to `algorithm`, for a position with `moves` legal moves. `clock_ms`: time that the
/// clock leaves for the move.
pub(super) fn configure(
    algorithm: SearchAlgorithm,
    moves: usize,
    clock_ms: Option<f64>,
    limits: SearchLimits,
    params: SearchParams,
    stoppers: StopperParams,
) -> Configured {
    let nodes = match algorithm {
        SearchAlgorithm::PolicyHead => 1,
        SearchAlgorithm::ValueHead => 1 + moves as u64,
        SearchAlgorithm::Classic => return Configured { limits, params, stoppers, network_alone: false },
    };
    let SearchLimits { infinite, ponder, movetime_ms, .. } = limits;
    // The policy may be drawn from; visits of one each say nothing of a value.
    let temperature = if algorithm == SearchAlgorithm::PolicyHead { params.temperature } else { Temperature::NONE };
    let movetime_ms = [movetime_ms, clock_ms].into_iter().flatten().reduce(f64::min);
    Configured {
        limits: SearchLimits { nodes: Some(nodes), infinite, ponder, movetime_ms, ..SearchLimits::default() },
        params: SearchParams { fpu_at_root: Some(Fpu::Absolute(BEYOND_ALL_VALUES)), temperature, ..params },
        stoppers: StopperParams { smart_pruning_factor: 0.0, minimum_kld_gain: 0.0, ..stoppers },
        network_alone: true,
    }
}
