//! Puts the positions of one forest into another.

use super::Tree;
use super::edges::{EdgeLayout, SLOTS, priors_len};
use super::node::{EdgeState, Node, NodeId};
use super::position_table::{record, record_mut};
use std::collections::HashSet;

impl Tree {
    /// Takes over from `other`, a forest as this one, the positions that are unknown here or have fewer visits. Those
    /// that were searched for themselves there are kept here, too, as left before those of this forest.
    pub(crate) fn absorb(&mut self, other: &mut Tree) {
        // Visits of a search among some moves are not those of one among all.
        self.restrict_root(&[]);
        other.restrict_root(&[]);
        let other = &*other;
        let there: Vec<NodeId> = other.kept.iter().flatten().copied().chain(std::iter::once(other.root)).collect();
        let mut seen: HashSet<u32> = there.iter().map(|id| id.0).collect();
        let mut open: Vec<NodeId> = there.iter().rev().copied().collect();
        let mut kept = Vec::new();
        for root in there {
            let place = self.owned_position(record(&other.nodes, root).identity());
            let is_kept = self.kept.as_ref().is_some_and(|known| known.contains(&place));
            if place == self.root || is_kept {
                self.release_position(place);
            } else {
                kept.push(place);
            }
        }
        if let Some(known) = &mut self.kept {
            known.splice(0..0, kept);
        }
        while let Some(id) = open.pop() {
            let node = other[id];
            let identity = record(&other.nodes, id).identity();
            let here = self.shared.as_ref().and_then(|shared| shared.table.find(&self.nodes, identity));
            if let Some(place) = here.filter(|place| self[*place].n < node.n && !node.is_pruned()) {
                self.take_over(place, other, id);
            }
            for link in other.existing_children(&node).filter_map(|child| other[child].link()) {
                if seen.insert(link.0) {
                    open.push(link);
                }
            }
        }
    }

    /// Replaces a position by that of another forest. Positions below it that are unknown here are made, unvisited.
    fn take_over(&mut self, place: NodeId, other: &Tree, id: NodeId) {
        let node = other[id];
        record_mut(&mut self.nodes, place).set_own(record(&other.nodes, id).own());
        let children: Vec<Node> = other.existing_children(&node).map(|child| other[child]).collect();
        // Before the old children are given up, which may own the same positions.
        let links: Vec<Option<NodeId>> = children
            .iter()
            .map(|child| Some(self.owned_position(record(&other.nodes, child.link()?).identity())))
            .collect();
        let old = self[place];
        self[place] = node;
        (self[place].at, self[place].children) = (0, 0);
        self.discard(old);
        let words = match node.edge_state() {
            EdgeState::None => &[][..],
            EdgeState::Priors => other.words.run(node.at, priors_len(node.moves)),
            EdgeState::Small | EdgeState::Large => other.words.run(node.at, EdgeLayout::of(&node).len),
        };
        if !words.is_empty() {
            let at = self.take_words(words.len());
            self.words.run_mut(at, words.len()).copy_from_slice(words);
            self[place].at = at;
            if matches!(node.edge_state(), EdgeState::Small | EdgeState::Large) {
                let slots = EdgeLayout::of(&node).slots;
                self.words.run_mut(at, words.len())[SLOTS..SLOTS + slots].fill(0);
            }
        }
        for (index, (mut child, link)) in children.into_iter().zip(links).enumerate() {
            if let Some(link) = link {
                child.at = link.0;
            }
            let id = self.child(place, index);
            self[id] = child;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::forest::tests::{START, forest, game};

    #[test]
    fn two_analyses_become_one() {
        let (mut one, mut two) = (forest(START), forest(START));
        one.search(500, 4, false);
        one.tree.step_to(game(START, "e2e4"));
        one.search(100, 4, false);
        two.search(50, 4, false);
        for moves in ["e2e4", "d2d4", "d2d4 d7d5"] {
            two.tree.step_to(game(START, moves));
            two.search(400, 4, false);
        }
        one.tree.absorb(&mut two.tree);
        for (moves, least) in [("e2e4", 400), ("", 500), ("d2d4", 400), ("d2d4 d7d5", 400)] {
            one.tree.step_to(game(START, moves));
            assert!(one.tree.visits() >= least && one.tree.has_own_visits(), "{moves}: {}", one.tree.visits());
            one.search(u64::from(one.tree.visits()) + 50, 4, false);
        }
        let bytes = one.tree.save().unwrap().0;
        assert!(super::Tree::load(one.tree.game().clone(), &bytes).is_ok());
        while one.tree.fell_oldest() {}
        one.audit(false);
    }
}
