//! Holds the limits of a search by its move's clock and by visits. `ponderhit` gives a running search new ones.

use crate::search::tree::Tree;
use zeitnot_time::SearchLimits;

/// The limits of a search. Times are in milliseconds since the move's clock started.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MoveLimits {
    /// Start of the move's clock, on the search's clock.
    pub start_ms: f64,
    /// The latest end; `None`: no time ends the search.
    pub hard_limit_ms: Option<f64>,
    /// Deadline of an answer even if nothing is evaluated.
    pub due_ms: Option<f64>,
    /// Whether only `stop` (or `ponderhit`) ends the search.
    pub is_infinite: bool,
    /// The longest batch where no time limit is near, in milliseconds: the next move may have to wait for its end.
    pub longest_batch_ms: Option<f64>,
    /// Most visits that the root may reach.
    pub node_limit: u64,
}

impl MoveLimits {
    /// The limits of a search that begins on `tree`, whose root is restricted to the moves of the search.
    pub(crate) fn new(
        limits: &SearchLimits,
        tree: &Tree,
        start_ms: f64,
        hard_limit_ms: Option<f64>,
        due_ms: Option<f64>,
    ) -> MoveLimits {
        let nodes = limits.nodes.map(|nodes| nodes.saturating_add(u64::from(tree.excluded_visits())));
        let playouts = limits.playouts.map(|playouts| playouts.saturating_add(u64::from(tree.visits())));
        MoveLimits {
            start_ms,
            hard_limit_ms,
            due_ms,
            is_infinite: limits.infinite || limits.ponder,
            longest_batch_ms: None,
            node_limit: [nodes, playouts].into_iter().flatten().min().unwrap_or(u64::from(u32::MAX)),
        }
    }
}
