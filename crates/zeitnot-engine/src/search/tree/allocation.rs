//! Keeps the root's visits its own: its moves have only visits that searches of this root gave them.
//!
//! The visits decide the move, its smart pruning and its budget, so the root's count is one more than the sum of its
//! moves'. A search among some of the moves (`go searchmoves`, endgame tables) gives them more than a search among all
//! would: before the next one among others each move gets back its earlier count, and its subtree is trimmed to it.

use super::Tree;
use super::node::{Node, NodeId};
use super::packed_move::PackedMove;
use crate::chess::Move;

/// A restriction of searches to some of the root's moves.
#[derive(Debug)]
pub(crate) struct Restriction {
    /// The moves, packed and sorted.
    moves: Vec<u16>,
    /// Earlier visits of the root's moves, in the order of the tree; moves beyond the list's end had none.
    visits: Vec<u32>,
}

impl Restriction {
    pub(super) fn of(moves: Vec<u16>, visits: Vec<u32>) -> Restriction {
        Restriction { moves, visits }
    }

    pub(super) fn parts(&self) -> (&[u16], &[u32]) {
        (&self.moves, &self.visits)
    }
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

    /// Sets the root's count of visits to one more than the sum of its moves'. A node that becomes the root may have
    /// counted more: visits to a subtree that was pruned, or to a position that other moves led to, too.
    pub(crate) fn count_own_visits(&mut self) {
        let root = self.root;
        if self.view(&self[root]).is_some() {
            self[root].n = 1 + self.root_visits().iter().sum::<u32>();
        }
    }

    /// Whether the root's count of visits is one more than the sum of its moves'.
    pub(crate) fn has_own_visits(&self) -> bool {
        self.view(&self[self.root]).is_none() || self.visits() == 1 + self.root_visits().iter().sum::<u32>()
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
                self.trim(child, own);
            }
        }
    }

    /// Reduces a subtree to `visits` visits of its root. Each node divides its new count among its children in
    /// proportion to their old counts. It keeps its value, which the removed visits have improved.
    fn trim(&mut self, id: NodeId, visits: u32) {
        let mut trimmed = vec![(id, visits)];
        while let Some((id, visits)) = trimmed.pop() {
            if self[id].link().is_some() {
                // Its position counts its own.
                let repeats = self[id].repeats().min(visits);
                self[id].n = visits;
                self[id].set_repeats(repeats);
                continue;
            }
            if visits == 0 {
                let node = std::mem::replace(&mut self[id], Node::new());
                self.discard(node);
                continue;
            }
            self[id].n = visits;
            let node = self[id];
            let children: Vec<NodeId> = self.existing_children(&node).collect();
            let all: u64 = children.iter().map(|child| u64::from(self[*child].n)).sum();
            let shared = u64::from(visits - 1);
            let mut below = 0;
            for child in children.into_iter().filter(|_| shared < all) {
                let before = below * shared / all;
                below += u64::from(self[child].n);
                let share = (below * shared / all - before) as u32;
                if share < self[child].n {
                    trimmed.push((child, share));
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "allocation_tests.rs"]
mod tests;
