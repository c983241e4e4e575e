//! Defines the observer that sees the root of a search at growing counts of visits.

use parking_lot::Mutex;
use std::sync::Arc;
use zeitnot_chess::Move;
use zeitnot_time::SearchSnapshot;

/// A root move and its statistics in a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RootMove {
    /// The move.
    pub mv: Move,
    /// Visits of the move.
    pub visits: u32,
    /// Expected result for the side to move at the root, -1 to 1; `None` before its first visit.
    pub q: Option<f32>,
    /// The network's prior, after the policy temperature.
    pub prior: f32,
}

/// An observer of a search's root. It is called on the search's own threads, under their lock, so it must be quick.
pub trait RootObserver: Send {
    /// The visits of the root from which the observer wants to look again.
    fn next_visits(&self) -> u64;

    /// Called when the root has at least [`RootObserver::next_visits`] visits. `moves` are the moves of the snapshot's
    /// `root_visits`, in the same order, which stays the same for the whole search.
    fn observe(&mut self, snapshot: &SearchSnapshot, moves: &[RootMove]);
}

/// An observer that its owner reads when the search is over.
pub(crate) type SharedRootObserver = Arc<Mutex<dyn RootObserver>>;
