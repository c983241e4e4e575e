//! A batch: the steps of its visits, the leaves they came to, and the queries the network is asked for them.

use super::backup::Hop;
use super::expand::End;
use super::node::{NodeId, Value};
use super::packed::PackedMove;
use super::params::SearchParams;
use super::positions::Identity;
use super::rules::Horizon;
use super::select::Dealer;
use crate::backend::Query;
use std::ops::Range;

/// A node that visits of this batch pass.
pub(super) struct Step {
    pub node: NodeId,
    /// The shared position that the visits entered by the node; the node itself where there is none.
    pub position: NodeId,
    /// The step before, or [`ROOT`].
    pub before: u32,
    /// The number of the move that leads here.
    pub edge: u8,
    /// The move itself, or its number in the order of the move generator.
    pub mv: PackedMove,
    /// Plies below the root.
    pub depth: u32,
    pub(super) visits: u32,
}

/// Stands for the step before the root's.
pub(super) const ROOT: u32 = u32::MAX;

/// A node where visits of this batch end.
pub(super) struct Leaf {
    pub step: u32,
    pub visits: u32,
    pub kind: LeafKind,
}

pub(super) enum LeafKind {
    /// Nothing is known of it yet.
    New,
    /// Terminal already.
    Terminal,
    /// A shared position that is known, by this way or others.
    Shared,
    /// A repetition of a position on the way.
    Repeats,
    /// The game ends there.
    Ends(End),
    /// The network is asked; the number of the query.
    Queued(u32),
    /// Evaluated: its value, and where its priors are among the batch's codes.
    Known(Value, Range<usize>),
    /// Backed up.
    Done,
}

impl LeafKind {
    /// Whether all is known that it takes to back the leaf up.
    pub(super) fn needs_no_network(&self) -> bool {
        matches!(
            self,
            LeafKind::Terminal | LeafKind::Shared | LeafKind::Repeats | LeafKind::Ends(_) | LeafKind::Known(..)
        )
    }
}

/// The moves of an expanded node, found on the way through it.
pub(super) struct Resolved {
    pub node: NodeId,
    /// Where they are among the batch's moves, in the order of the move generator.
    pub moves: Range<usize>,
}

/// The leaves of one batch and the queries the network is asked for them. It keeps its memory from one batch to the next.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) steps: Vec<Step>,
    pub(super) leaves: Vec<Leaf>,
    /// Steps where visits came to a leaf that was taken, and how many.
    pub(super) collisions: Vec<(u32, u32)>,
    /// Queries of this batch, and then some of earlier ones.
    pub(super) queries: Vec<Query>,
    /// How many are of this one.
    pub(super) asked: usize,
    pub(super) codes: Vec<u8>,
    pub(super) moves: Vec<u16>,
    pub(super) resolved: Vec<Resolved>,
    /// Leaves before this one have been looked at.
    pub(super) looked_at: usize,
    /// The positions of the leaves that have been looked at, where positions are shared.
    pub(super) identities: Vec<Identity>,
    /// Leaves before this one have met the positions that are shared.
    pub(super) met: usize,
    /// The queries of those.
    pub(super) met_asked: usize,
    /// Steps from the root whose moves the worker's game has made.
    pub(super) trail: Vec<u32>,
    /// Visits that wait for the end of the batch.
    pub(super) waiting: u32,
    /// Visits backed up out of order.
    pub(super) out_of_order: u32,
    pub(super) collided: u32,
    pub(super) collision_budget: u32,
    pub(super) collision_events: u32,
    pub(super) dealer: Dealer,
    pub(super) path: Vec<Hop>,
}

/// What backing up some visits did to the statistics of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub playouts: u64,
    /// Sum of the depths of the leaves, the root's being 1.
    pub depth_sum: u64,
    pub deepest: u32,
    /// Nodes visited for the first time.
    pub new_nodes: u64,
    /// Visits that came to nothing.
    pub collisions: u64,
}

impl Progress {
    pub(super) fn count(&mut self, path: &[Hop], visits: u32) {
        self.playouts += u64::from(visits);
        self.depth_sum += path.len() as u64 * u64::from(visits);
        self.deepest = self.deepest.max(path.len() as u32);
    }
}

impl Batch {
    /// Whether there is nothing to back up.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether leaves were found that nothing is known of.
    pub fn has_news(&self) -> bool {
        self.leaves[self.looked_at..].iter().any(|leaf| matches!(leaf.kind, LeafKind::New))
    }

    /// The queries to ask the network.
    pub fn queries(&self) -> &[Query] {
        &self.queries[..self.asked]
    }

    /// Begins a batch in a tree of `visits`.
    pub fn begin(&mut self, visits: u32, params: &SearchParams, horizon: &Horizon) {
        self.clear();
        let expected = horizon.playouts_expected.clamp(0.0, f64::from(u32::MAX)) as u32;
        self.collision_budget = params.collision_visits(visits.min(expected)).max(1);
        self.collision_events = params.max_collision_events;
    }

    pub(super) fn clear(&mut self) {
        self.steps.clear();
        self.leaves.clear();
        self.identities.clear();
        self.codes.clear();
        (self.waiting, self.out_of_order, self.collided) = (0, 0, 0);
        (self.looked_at, self.asked) = (0, 0);
        (self.met, self.met_asked) = (0, 0);
    }
}

/// The steps from one up to the root.
pub(super) fn steps_up(steps: &[Step], from: u32) -> impl Iterator<Item = &Step> {
    let step = |next: u32| steps.get(next as usize);
    std::iter::successors(step(from), move |below| step(below.before))
}
