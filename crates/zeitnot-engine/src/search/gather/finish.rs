//! Finishes the visits of a batch: backs them up out of order while the batch is gathered, backs up the rest when the
//! evaluations are there, or cancels them.

use super::batch::{Batch, Leaf, LeafKind, Progress, Resolved, Step};
use crate::search::context::SearchContext;
use crate::search::params::SearchParams;
use crate::search::tree::Tree;
use crate::search::tree::backup::{PathEntry, backup, cancel};
use crate::search::tree::node::Terminal;
use crate::search::tree::terminal::make_terminal;

/// A playout counts as bounded by the fifty-move rule from 1 / `NEAR` of the depth on at which the rule ends its line.
/// Nearer to the root the rule is not why a depth is not reached.
const NEAR: u32 = 3;

impl Batch {
    /// Whether leaves can be backed up while the batch is still gathered.
    pub(crate) fn has_out_of_order(&self, params: &SearchParams) -> bool {
        params.out_of_order_eval && self.leaves.iter().any(|leaf| leaf.kind.needs_no_network())
    }

    /// Stores the moves found so far, and backs up the leaves that need no network (unless `OutOfOrderEval` is off).
    pub(crate) fn back_up_out_of_order(&mut self, tree: &mut Tree, context: &SearchContext) -> Progress {
        self.write_moves(tree);
        let mut progress = Progress::default();
        if !context.params.out_of_order_eval {
            return progress;
        }
        for index in 0..self.leaves.len() {
            if self.leaves[index].kind.needs_no_network() {
                self.out_of_order += self.leaves[index].visits;
                self.finish(index, tree, context, &mut progress);
            }
        }
        if progress.playouts > 0 {
            progress.collisions = u64::from(self.collided);
            self.cancel_collisions(tree);
        }
        progress
    }

    /// Backs the whole batch up; the answers to its queries have been taken.
    pub(crate) fn back_up(&mut self, tree: &mut Tree, context: &SearchContext) -> Progress {
        self.write_moves(tree);
        let mut progress = Progress::default();
        for index in 0..self.leaves.len() {
            self.finish(index, tree, context, &mut progress);
        }
        progress.collisions = u64::from(self.collided);
        self.cancel_collisions(tree);
        progress
    }

    /// Cancels the batch, as if its visits had never happened.
    pub(crate) fn cancel(&mut self, tree: &mut Tree) {
        self.write_moves(tree);
        for index in 0..self.leaves.len() {
            if !matches!(self.leaves[index].kind, LeafKind::Done) {
                self.trace(self.leaves[index].step);
                cancel(tree, &self.path, self.leaves[index].visits);
            }
        }
        self.cancel_collisions(tree);
        self.clear();
    }

    fn cancel_collisions(&mut self, tree: &mut Tree) {
        while let Some((step, visits)) = self.collisions.pop() {
            self.trace(step);
            cancel(tree, &self.path, visits);
        }
        self.collided = 0;
    }

    fn write_moves(&mut self, tree: &mut Tree) {
        for Resolved { node, moves } in self.resolved.drain(..) {
            tree.resolve(node, &self.moves[moves]);
        }
        self.moves.clear();
    }

    /// Sets `path` to the way from a step up to the root.
    fn trace(&mut self, step: u32) {
        self.path.clear();
        let mut next = step;
        while let Some(step) = self.steps.get(next as usize) {
            self.path.push(PathEntry { node: step.node, edge: step.edge });
            next = step.before;
        }
    }

    /// Stores the value of a leaf, and backs up its visits.
    fn finish(&mut self, index: usize, tree: &mut Tree, context: &SearchContext, progress: &mut Progress) {
        let Leaf { step, visits, ends_at, .. } = self.leaves[index];
        self.trace(step);
        let Step { node: id, .. } = self.steps[step as usize];
        let value = match std::mem::replace(&mut self.leaves[index].kind, LeafKind::Done) {
            LeafKind::Done => return,
            LeafKind::Terminal => tree[id].value(),
            LeafKind::Ends(mut end) => {
                let parent = self.path.get(1).map(|parent| (parent.node, usize::from(self.path[0].edge)));
                if let (Terminal::Tablebase, Some((above, _))) = (end.kind, parent) {
                    // As far from the end as its parent was thought to be (docs/lc0.md, 3.4).
                    end.m = (tree[above].m - 1.0).max(0.0);
                }
                make_terminal(tree, id, parent, end);
                tree[id].value()
            }
            LeafKind::Known(value, codes) => {
                tree.set_priors(id, &self.codes[codes]);
                if self.path.len() == 1 {
                    tree.prepare_root(context.position());
                    tree.take_up_known_positions();
                }
                value
            }
            // The worker takes all answers before it backs up.
            LeafKind::New | LeafKind::Queued(_) => {
                cancel(tree, &self.path, visits);
                return;
            }
        };
        self.waiting -= visits;
        progress.count(&self.path, visits);
        if let Some(asked) = context.depth_limit {
            let depth = self.path.len() as u32;
            let ends_at = if tree[id].is_terminal() { depth } else { ends_at };
            if ends_at <= asked && ends_at <= NEAR * depth {
                progress.bounded += u64::from(visits);
            }
        }
        backup(tree, &self.path, value, visits, context.params.sticky_endgames);
    }
}
