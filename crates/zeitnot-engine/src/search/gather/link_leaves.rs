//! Links leaves to shared positions (see `tree/transpositions.rs`), and ends visits at positions that are known.

use super::batch::{Batch, Leaf, LeafKind, Step, steps_up};
use crate::search::context::SearchContext;
use crate::search::tree::Tree;
use crate::search::tree::node::NodeId;

impl Batch {
    /// The kind of leaf that ends the visits at a shared position; `None` when they go on below it.
    pub(crate) fn ends_at(
        &self,
        tree: &mut Tree,
        step: usize,
        position: NodeId,
        context: &SearchContext,
    ) -> Option<LeafKind> {
        let Step { node, before, .. } = self.steps[step];
        if tree[node].is_terminal() {
            Some(LeafKind::Terminal)
        } else if tree.repeats(
            position,
            steps_up(&self.steps, before).map(|step| step.position),
            context.params.two_fold_draws,
        ) {
            Some(LeafKind::Repeats)
        } else {
            tree.forget_stale_repeats(node, position);
            tree.lags(node, position).then_some(LeafKind::SharedPosition)
        }
    }

    /// Links the new leaves to their shared positions. A leaf with a known position needs no network; a leaf whose
    /// position is being evaluated is a collision.
    pub(crate) fn link_leaves(&mut self, tree: &mut Tree) {
        let mut asked = self.linked_asked;
        for index in self.linked..self.leaves.len() {
            let Leaf { step, visits, .. } = self.leaves[index];
            let Step { node, position, depth, .. } = self.steps[step as usize];
            // A repetition can be of a position that was known to be linked, and then was not looked at.
            let identity = self.identities.get(index).copied().unwrap_or_default();
            let needs_opinion = matches!(self.leaves[index].kind, LeafKind::Queued(_) | LeafKind::Known(..));
            if !needs_opinion && !matches!(self.leaves[index].kind, LeafKind::Repeats) {
                continue;
            }
            if depth > 0 && position == node {
                let position = tree.link(node, identity);
                if !needs_opinion {
                    continue;
                }
                if tree[position].n > 0 {
                    self.leaves[index].kind = LeafKind::SharedPosition;
                } else if tree[position].in_flight > 0 {
                    self.leaves[index].kind = LeafKind::Done;
                    self.waiting -= visits;
                    self.collided += visits;
                    self.collisions.push((step, visits));
                } else {
                    // All visits of the step enter, those that collided among them.
                    tree[position].in_flight += self.steps[step as usize].visits;
                    self.steps[step as usize].position = position;
                }
            }
            if let LeafKind::Queued(query) = &mut self.leaves[index].kind {
                self.queries.swap(asked, *query as usize);
                *query = asked as u32;
                asked += 1;
            }
        }
        (self.asked, self.linked_asked, self.linked) = (asked, asked, self.leaves.len());
    }
}
