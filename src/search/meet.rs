//! Visits that come to positions that are shared (see `graph`): which end there, and which positions the leaves of a batch
//! turn out to be.

use super::batch::{Batch, Leaf, LeafKind, Step, steps_up};
use super::node::NodeId;
use super::rules::Rules;
use super::tree::Tree;

impl Batch {
    /// What the visits that come to a shared position by a step end as if they end there: a leaf that needs no network.
    pub(super) fn ends_at(&self, tree: &mut Tree, step: usize, position: NodeId, rules: &Rules) -> Option<LeafKind> {
        let Step { node, before, .. } = self.steps[step];
        if tree[node].is_terminal() {
            Some(LeafKind::Terminal)
        } else if tree.repeats(
            position,
            steps_up(&self.steps, before).map(|step| step.position),
            rules.params.two_fold_draws,
        ) {
            Some(LeafKind::Repeats)
        } else {
            tree.forget_stale_repeats(node, position);
            tree.lags(node, position).then_some(LeafKind::Shared)
        }
    }

    /// Links the new leaves to their positions. One that is known needs no network, and one that is being evaluated is a
    /// collision.
    pub(super) fn meet(&mut self, tree: &mut Tree) {
        let mut asked = self.met_asked;
        for index in self.met..self.leaves.len() {
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
                    self.leaves[index].kind = LeafKind::Shared;
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
        (self.asked, self.met_asked, self.met) = (asked, asked, self.leaves.len());
    }
}
