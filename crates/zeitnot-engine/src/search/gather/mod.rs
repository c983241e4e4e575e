//! Gathers a batch: leaves for the network, and the collisions on the way (docs/lc0.md, 3.3).
//!
//! A round of visits goes down the tree together, a level at a time: each node is looked at once, however many of them
//! pass it, and allocates them to its children. Only that and the backup need the tree. Leaves are extended (position,
//! legal moves, query for the network) between rounds, without the lock.

pub(crate) mod batch;
pub(crate) mod candidates;
pub(crate) mod extend;
pub(crate) mod finish;
pub(crate) mod puct;
pub(crate) mod select;

use crate::search::context::{RemainingLimits, SearchContext};
use crate::search::tree::Tree;
use crate::search::tree::node::{EdgeState, NodeId, Terminal};
use crate::search::tree::packed_move::PackedMove;
use batch::{Batch, Leaf, LeafKind, ROOT, Step, steps_up};

/// Steps between prefetching the children of a node and looking at them.
const LOOK_AHEAD: usize = 2;

/// The most visits that a round sends, as a multiple of the visits wanted. With more, the visits of two large batches
/// at once mostly collide with each other: kiwipete with `random`, two threads and batches of 256 is half as fast again
/// with 2 as with no bound.
const MOST_SENT: u32 = 2;

impl Batch {
    /// Number of visits that the next round may have: 0 when the batch is complete.
    fn wanted(&self, tree: &Tree, context: &SearchContext, limits: &RemainingLimits, size: usize) -> u32 {
        let events = self.collision_events.saturating_sub(self.collisions.len() as u32);
        if events == 0 {
            return 0;
        }
        let most = ((f64::from(context.most_out_of_order) * size as f64) as u32).max(1);
        let root = &tree[tree.root()];
        // Collisions come to nothing; something is always evaluated, however small the limit.
        let started = u64::from(root.n_started() - self.collided);
        let left = limits.node_limit.saturating_sub(started).max(u64::from(started == 0));
        (size as u32)
            .saturating_sub(self.waiting)
            .min(most.saturating_sub(self.out_of_order))
            .min(self.collision_budget.saturating_sub(self.collided))
            .min(u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Sends a round of visits down the tree, counted as in flight. Returns whether there was one: not when the batch
    /// has its `size`, or no more can be gathered.
    pub(crate) fn pick(
        &mut self,
        tree: &mut Tree,
        context: &SearchContext,
        limits: &RemainingLimits,
        size: usize,
    ) -> bool {
        let wanted = self.wanted(tree, context, limits, size);
        if wanted == 0 {
            return false;
        }
        let sent = self.with_collisions(wanted);
        let mut room = wanted;
        tree.make_room(context.tree_limit().unwrap_or(usize::MAX), sent);
        let mut next = self.steps.len();
        let node = tree.root();
        let root = Step { node, before: ROOT, edge: 0, mv: PackedMove(0), depth: 0, visits: sent };
        self.steps.push(root);
        while let Some(step) = self.steps.get(next) {
            if let Some(ahead) = self.steps.get(next + LOOK_AHEAD) {
                tree.prefetch_children(ahead.node);
            }
            let (id, depth, visits) = (step.node, step.depth, step.visits);
            let node = &mut tree[id];
            let taken = node.in_flight > 0;
            node.in_flight += visits;
            if node.is_terminal() {
                let counted = visits.min(room);
                room -= counted;
                self.end_here(next, visits, counted, LeafKind::Terminal);
            } else if node.edge_state() == EdgeState::None {
                let counted = u32::from(!taken && room > 0);
                room -= counted;
                self.end_here(next, visits, counted, LeafKind::New);
            } else {
                if node.edge_state() == EdgeState::Priors {
                    tree.expand(id);
                }
                self.allocate(tree, next, id, depth, visits, context, limits);
            }
            next += 1;
        }
        true
    }

    /// Number of visits to send so that `wanted` visits count, by the share of collisions so far.
    fn with_collisions(&self, wanted: u32) -> u32 {
        let counted = u64::from(self.waiting + self.out_of_order);
        let share = (counted + u64::from(self.collided)) * u64::from(wanted) / counted.max(1);
        let left = self.collision_budget.saturating_sub(self.collided);
        let most = wanted.saturating_mul(MOST_SENT).min(wanted.saturating_add(left));
        u32::try_from(share).unwrap_or(u32::MAX).clamp(wanted, most)
    }

    /// Ends `visits` visits at a step: `counted` of them make a leaf, the others are collisions.
    fn end_here(&mut self, step: usize, visits: u32, counted: u32, kind: LeafKind) {
        let step = step as u32;
        if counted > 0 {
            self.waiting += counted;
            self.leaves.push(Leaf { step, visits: counted, ends_at: u32::MAX, kind });
        }
        if visits > counted {
            self.collided += visits - counted;
            self.collisions.push((step, visits - counted));
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a step of the loop above")]
    fn allocate(
        &mut self,
        tree: &mut Tree,
        step: usize,
        id: NodeId,
        depth: u32,
        visits: u32,
        context: &SearchContext,
        limits: &RemainingLimits,
    ) {
        for allocation in self.allocator.allocate(tree, id, depth, visits, context, limits) {
            let node = match allocation.node {
                Some(node) => node,
                None => tree.child(id, usize::from(allocation.edge)),
            };
            if tree[node].terminal() == Terminal::TwoFold {
                let above = steps_up(&self.steps, step as u32).map(|step| step.node);
                tree.reopen_stale_repetition(node, depth + 1, above);
            }
            tree.prefetch_edges(node);
            let (edge, mv, visits) = (allocation.edge, allocation.mv, allocation.visits);
            self.steps.push(Step { node, before: step as u32, edge, mv, depth: depth + 1, visits });
        }
    }
}
