//! Living within a memory limit: what was visited least is forgotten first.
//!
//! A forgotten node keeps its visits and its value. Should the search come back to it, the network is asked again and its
//! tree grows anew.

use super::node::{Body, Node, NodeId};
use super::tree::Tree;

/// Bytes that one more visit may take: a node, its priors, and now and then the moves of its parent.
const VISIT: usize = 256;

/// A subtree of at most so many visits is forgotten in one piece: the way to it costs as much as a visit, and gives room
/// for some.
const PIECE: u32 = 32;

/// One part in so many of the limit is left for free runs of lengths that nobody wants.
const UNUSABLE: usize = 8;

/// One part in so many of a full tree is kept free, so that a free run of the right length is found nearly always.
const SPARE: usize = 16;

/// Nodes taken apart at a time: the lock is not to be held for long.
const MOST_DISMANTLED: usize = 4096;

impl Tree {
    /// Makes sure that `visits` more fit into `limit` bytes, by forgetting if need be. A tree that is over its limit (a
    /// free run is not always of a useful length) gets the more free memory to choose from.
    pub(super) fn make_room(&mut self, limit: usize, visits: u32) {
        let limit = limit - limit / UNUSABLE;
        let bytes = self.bytes();
        let need = VISIT * visits as usize;
        if bytes + need <= limit {
            return;
        }
        // What may still be played is worth less than what is searched.
        self.strip_alternatives();
        let free = need.max(limit / SPARE) + 2 * bytes.saturating_sub(limit);
        let mut dismantled = 0;
        while self.bytes_free() < free && dismantled < MOST_DISMANTLED {
            if !self.dismantle() && !self.forget_least() {
                return;
            }
            dismantled += 1;
        }
    }

    /// Forgets a subtree with few visits. Returns whether there was one.
    fn forget_least(&mut self) -> bool {
        let mut id = self.root();
        let root = id;
        loop {
            let node = self[id];
            let Some(child) = self.least_expanded(&node) else {
                // No child of it has children: there is nothing smaller.
                return id != root && self.forget(id);
            };
            if self[child].n <= PIECE && self.forget(child) {
                return true;
            }
            id = child;
        }
    }

    /// The child (where positions are shared: its position) with the fewest visits among those that have children
    /// themselves.
    fn least_expanded(&self, node: &Node) -> Option<NodeId> {
        let children = (0..usize::from(node.children)).filter_map(|index| self.existing_child(node, index));
        let places = children.map(|child| self[child].link().unwrap_or(child));
        let expanded = places.filter(|place| matches!(self[*place].body(), Body::Small | Body::Large));
        expanded.min_by_key(|place| (self[*place].in_flight > 0, self[*place].n))
    }

    /// Forgets what is below a node, unless a visit is on its way there.
    fn forget(&mut self, id: NodeId) -> bool {
        if self[id].in_flight > 0 || self[id].body() == Body::None {
            return false;
        }
        let old = self[id];
        self[id].set_body(Body::None);
        (self[id].at, self[id].children) = (0, 0);
        self.abandon(old);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::packed::PackedMove;
    use super::super::tree::Tree;
    use super::*;
    use crate::chess::Game;

    /// A root with 20 moves, each leading to a node with 30 moves and two children; visits grow with the move's number.
    fn bushy() -> Tree {
        let mut tree = Tree::new(Game::new());
        let root = tree.root();
        tree.set_priors(root, &[255; 20]);
        tree.expand(root);
        for index in 0..20 {
            let child = tree.child(root, index);
            tree.set_priors(child, &[255; 30]);
            tree.expand(child);
            tree[child].n = 3 + index as u32;
            for below in 0..2 {
                let grandchild = tree.child(child, below);
                tree[grandchild].n = 1;
                tree.set_priors(grandchild, &[255; 25]);
            }
        }
        tree
    }

    fn expanded(tree: &Tree) -> Vec<usize> {
        let root = tree[tree.root()];
        let is =
            |index: &usize| tree.existing_child(&root, *index).is_some_and(|child| tree[child].body() != Body::None);
        (0..20).filter(is).collect()
    }

    #[test]
    fn the_least_visited_goes_first_and_keeps_its_visits() {
        let mut tree = bushy();
        let (full, limit) = (tree.bytes(), tree.bytes() - 1);
        tree.make_room(2 * full, 8);
        assert_eq!(expanded(&tree).len(), 20, "there is room");
        tree.make_room(limit, 1);
        let left = expanded(&tree);
        assert!(left.len() < 20 && left == (20 - left.len()..20).collect::<Vec<_>>(), "{left:?}");
        assert!(tree.bytes_free() >= VISIT);
        let root = tree[tree.root()];
        let first = tree.existing_child(&root, 0).unwrap();
        assert_eq!((tree[first].n, tree[first].children), (3, 0));
    }

    #[test]
    fn a_forgotten_node_that_becomes_the_root_starts_anew() {
        let mut tree = bushy();
        let (start, root) = (Game::new(), tree.root());
        tree[root].n = 300;
        let moves: Vec<u16> = start.current().legal_moves().into_iter().map(|mv| PackedMove::new(mv).0).collect();
        tree.resolve(root, &moves);
        let (forgotten, known) = (tree.child(root, 4), tree.child(root, 5));
        assert!(tree.forget(forgotten));
        let (visits, kept) = (tree[forgotten].n, tree[known].n);
        assert!(visits > 0 && tree[forgotten].is_forgotten());
        let after = |index: usize| {
            let mut game = start.clone();
            game.push(PackedMove(moves[index]).unpack(start.current().board()));
            game
        };
        assert!(tree.follow(after(4)) && tree.is_empty());
        // And when the last move is taken back, the others are as they were.
        assert!(tree.follow(after(5)));
        assert_eq!(tree.visits(), kept);
    }

    #[test]
    fn nodes_on_a_way_and_the_root_stay() {
        let mut tree = bushy();
        let root = tree[tree.root()];
        for index in 0..19 {
            let child = tree.existing_child(&root, index).unwrap();
            tree[child].in_flight = 1;
        }
        tree.make_room(0, 1000);
        assert_eq!(expanded(&tree), (0..19).collect::<Vec<_>>());
        assert!(tree.view(&tree[tree.root()]).is_some());
    }
}
