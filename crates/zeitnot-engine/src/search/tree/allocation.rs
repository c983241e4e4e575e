//! Keeps a move's visits at those that its position gave it, even where more is known of the position after it.
//!
//! Visits decide the move that is played, smart pruning and the time budget, so the root's count is one more than the
//! sum of its moves'. A position that was once searched as the root has more visits below it than came through the move
//! that leads to it: a surplus. Its node counts only those through the move, but its value is the mean of all. The same
//! holds for a move that a search among some of the moves (`go searchmoves`, endgame tables) has given more visits than
//! a search among all would: before the next search among other moves each move gets back its earlier count.

use super::Tree;
use super::node::{Node, NodeId};
use super::packed_move::PackedMove;
use zeitnot_chess::Move;

/// A restriction of searches to some of the root's moves.
#[derive(Clone, Debug, Default)]
pub(crate) struct Restriction {
    /// The moves, packed and sorted.
    pub moves: Vec<u16>,
    /// Visits of the root's moves before the restriction, in the order of the tree; moves beyond the end had none.
    pub visits: Vec<u32>,
}

impl Tree {
    /// Prepares the root for a search among `moves` (empty: all). The visits of a search among other moves are taken
    /// back.
    pub(crate) fn restrict_root(&mut self, moves: &[Move]) {
        let mut moves: Vec<u16> = moves.iter().map(|mv| PackedMove::new(*mv).0).collect();
        moves.sort_unstable();
        if self.restriction.as_ref().map_or(&[][..], |restriction| &restriction.moves) == moves {
            return;
        }
        if let Some(Restriction { visits, .. }) = self.restriction.take() {
            self.take_back_visits(&visits);
        }
        if !moves.is_empty() {
            self.restriction = Some(Restriction { moves, visits: self.root_visits() });
        }
    }

    /// Sets the visits of the root, or of a node that no move leads to, to one more than the sum of its moves'. A node
    /// that becomes the root may have counted more (visits to a subtree since pruned) or fewer.
    pub(super) fn count_own_visits(&mut self, id: NodeId) {
        if self.view(&self[id]).is_some() {
            self[id].n = 1 + self.visits_below(&self[id]);
            self[id].set_surplus(false);
        }
    }

    /// All visits known of a node, those of searches that began there included.
    #[inline]
    pub(crate) fn known_visits(&self, node: &Node) -> u32 {
        if node.has_surplus() { (1 + self.visits_below(node)).max(node.n) } else { node.n }
    }

    /// Sets the visits that a node counts, and whether it has a surplus.
    pub(super) fn set_visits(&mut self, id: NodeId, visits: u32) {
        let has_surplus = self[id].has_edges() && 1 + self.visits_below(&self[id]) > visits;
        self[id].n = visits;
        self[id].set_surplus(has_surplus);
    }

    fn visits_below(&self, node: &Node) -> u32 {
        let Some(view) = self.view(node) else { return 0 };
        self.children(&view, node).flatten().map(|child| child.n).sum()
    }

    /// Whether the root's count of visits is one more than the sum of its moves'.
    pub(crate) fn has_own_visits(&self) -> bool {
        self.view(&self[self.root]).is_none() || self.visits() == 1 + self.visits_below(&self[self.root])
    }

    /// The visits of the root's moves that the restriction leaves out of the search.
    pub(crate) fn excluded_visits(&self) -> u32 {
        let Some(Restriction { moves, .. }) = &self.restriction else { return 0 };
        let Some(view) = self.view(&self[self.root]) else { return 0 };
        let visits = self.root_visits();
        view.moves.iter().zip(visits).filter(|(mv, _)| moves.binary_search(mv).is_err()).map(|(_, visits)| visits).sum()
    }

    fn root_visits(&self) -> Vec<u32> {
        let root = self[self.root];
        self.existing_children(&root).map(|child| self[child].n).collect()
    }

    /// Takes from each of the root's moves the visits that it has beyond its entry in `visits`.
    fn take_back_visits(&mut self, visits: &[u32]) {
        let root = self.root;
        let node = self[root];
        let children: Vec<NodeId> = self.existing_children(&node).collect();
        for (index, child) in children.into_iter().enumerate() {
            let own = visits.get(index).copied().unwrap_or(0);
            let Node { n, .. } = self[child];
            if n > own {
                let value = self[child].value().one_ply_up();
                self[root].remove_visits(value, n - own);
                self.set_visits(child, own);
            }
        }
    }
}

#[cfg(test)]
#[path = "allocation_tests.rs"]
mod tests;
