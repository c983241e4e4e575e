//! Defines a batch: the paths of its visits from the root to their leaves, and the queries of those leaves for the
//! network.

use super::select::VisitAllocator;
use crate::search::context::RemainingLimits;
use crate::search::params::SearchParams;
use crate::search::tree::backup::PathEntry;
use crate::search::tree::node::{NodeId, Value};
use crate::search::tree::packed_move::PackedMove;
use crate::search::tree::terminal::GameEnd;
use std::ops::Range;
use zeitnot_backend::Query;

/// A node through which visits of this batch go.
pub(crate) struct Step {
    pub node: NodeId,
    /// The step before, or [`ROOT`].
    pub before: u32,
    /// The number of the move that leads here.
    pub edge: u8,
    /// The move itself, or its number in the order of the move generator.
    pub mv: PackedMove,
    /// Plies below the root.
    pub depth: u32,
    pub(crate) visits: u32,
}

/// Index of the missing step before the root's.
pub(crate) const ROOT: u32 = u32::MAX;

/// A node where visits of this batch end.
pub(crate) struct Leaf {
    pub step: u32,
    pub visits: u32,
    /// Depth (the root's is 1) at which the fifty-move rule ends the leaf's line if no capture or pawn move follows.
    pub ends_at: u32,
    pub kind: LeafKind,
}

pub(crate) enum LeafKind {
    /// A leaf that has not been looked at.
    New,
    /// A node that was terminal before.
    Terminal,
    /// The game ends at the leaf.
    Ends(GameEnd),
    /// The network is asked, by the query with this index.
    Queued(u32),
    /// Evaluated: the value, and the range of the leaf's priors among the batch's prior codes.
    Known(Value, Range<usize>),
    /// Backed up.
    Done,
}

impl LeafKind {
    /// Whether the leaf can be backed up without the network.
    pub(crate) fn needs_no_network(&self) -> bool {
        matches!(self, LeafKind::Terminal | LeafKind::Ends(_) | LeafKind::Known(..))
    }
}

/// The legal moves of an expanded node that had only their numbers, found on the way through it.
pub(crate) struct Resolved {
    pub node: NodeId,
    /// Range of the node's moves among the batch's moves, in the order of the move generator.
    pub moves: Range<usize>,
}

/// The leaves of one batch and the queries the network is asked for them. It keeps its memory from one batch to the
/// next.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) steps: Vec<Step>,
    pub(crate) leaves: Vec<Leaf>,
    /// Steps at which visits collided (another visit was already waiting at that leaf), and the number of these visits.
    pub(crate) collisions: Vec<(u32, u32)>,
    /// Queries of this batch, and behind them some of earlier batches, whose memory is used again.
    pub(crate) queries: Vec<Query>,
    /// Number of queries that are of this batch.
    pub(crate) asked: usize,
    pub(crate) codes: Vec<u8>,
    pub(crate) moves: Vec<u16>,
    pub(crate) resolved: Vec<Resolved>,
    /// Index of the first leaf that has not been looked at.
    pub(crate) looked_at: usize,
    /// Steps from the root down whose moves are now played in the worker's game.
    pub(crate) trail: Vec<u32>,
    /// Visits whose leaves wait for the end of the batch to be backed up.
    pub(crate) waiting: u32,
    /// Visits backed up out of order.
    pub(crate) out_of_order: u32,
    pub(crate) collided: u32,
    pub(crate) collision_budget: u32,
    pub(crate) collision_events: u32,
    pub(crate) allocator: VisitAllocator,
    pub(crate) path: Vec<PathEntry>,
}

/// The change of the search's statistics by a backup.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub playouts: u64,
    /// Sum of the depths of the leaves, the root's being 1.
    pub depth_sum: u64,
    pub deepest: u32,
    /// Playouts whose lines cannot grow beyond the depth that was asked for: they end with the game, at a proven node,
    /// or soon by the fifty-move rule.
    pub bounded: u64,
    /// Visits that collided, and do not count.
    pub collisions: u64,
}

impl Progress {
    pub(crate) fn count(&mut self, path: &[PathEntry], visits: u32) {
        self.playouts += u64::from(visits);
        self.depth_sum += path.len() as u64 * u64::from(visits);
        self.deepest = self.deepest.max(path.len() as u32);
    }
}

impl Batch {
    /// Whether there is nothing to back up.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether there are new leaves that have not been looked at.
    pub(crate) fn has_news(&self) -> bool {
        self.leaves[self.looked_at..].iter().any(|leaf| matches!(leaf.kind, LeafKind::New))
    }

    /// The queries to ask the network.
    pub(crate) fn queries(&self) -> &[Query] {
        &self.queries[..self.asked]
    }

    /// Begins a batch in a tree whose root has `visits`.
    pub(crate) fn begin(&mut self, visits: u32, params: &SearchParams, limits: &RemainingLimits) {
        self.clear();
        let expected = limits.playouts_expected.clamp(0.0, f64::from(u32::MAX)) as u32;
        self.collision_budget = params.collision_visits(visits.min(expected)).max(1);
        self.collision_events = params.max_collision_events;
    }

    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.leaves.clear();
        self.codes.clear();
        (self.waiting, self.out_of_order, self.collided) = (0, 0, 0);
        (self.looked_at, self.asked) = (0, 0);
    }
}

/// The steps from step `from` up to the root.
pub(crate) fn steps_up(steps: &[Step], from: u32) -> impl Iterator<Item = &Step> {
    let step = |next: u32| steps.get(next as usize);
    std::iter::successors(step(from), move |below| step(below.before))
}
