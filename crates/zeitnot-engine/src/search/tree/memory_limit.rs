//! Keeps the tree within its memory limit: the subtrees with the fewest visits are pruned first, wherever they are,
//! those of other positions before those below the root. A sweep finds them; it goes on where it last stopped.
//!
//! A pruned node keeps its visits and its value. When the search comes back to it, the network evaluates it again and
//! its subtree grows anew.

use super::Tree;
use super::node::{EdgeState, NodeId};

/// Bytes that one more visit may take: a node, its priors, and now and then the moves of its parent.
const VISIT: usize = 256;

/// Visits up to which any subtree may be pruned: the way to it costs as much as one visit, and frees room for several.
const PIECE: u32 = 32;

/// Nodes looked at for each pruned subtree; after a sweep that took more, the next sweep prunes larger subtrees, too.
const RARE: u32 = 16;

/// Divisor of the root's visits: subtrees with more visits than the quotient stay, and so the best lines.
const LARGEST: u32 = 64;

/// Divisor of the limit: the quotient is allowed for free runs whose lengths nobody asks for (see `pool`).
const UNUSABLE: usize = 8;

/// Divisor of the limit: a full tree keeps the quotient free, so that a free run of the right length is found nearly
/// always.
const SPARE: usize = 16;

/// Most nodes looked at for pruning in a round, and on top for each of its visits. A few hundred microseconds, since
/// the lock must not be held for long, and yet more than the visits need (the way to a [`PIECE`] passes some hundreds).
const LOOKS_A_ROUND: usize = 4096;
const LOOKS_A_VISIT: usize = 32;

/// Index in `Tree::sweeps` of the sweep below the root; that at [`ELSEWHERE`] covers the rest of the tree.
const BELOW_ROOT: usize = 0;
const ELSEWHERE: usize = 1;

/// A sweep over a tree for subtrees to prune.
#[derive(Debug, Default)]
pub(super) struct Sweep {
    from: Option<NodeId>,
    /// Indices of children, from the node where the sweep begins down to the child that it looks at next.
    way: Vec<u16>,
    /// Most known visits that a subtree may have to be pruned.
    most: u32,
    looked_at: u32,
    pruned: u32,
}

/// The use of a part of the memory and its limit, in bytes.
struct Store {
    limit: usize,
    /// Bytes that were ever in use since the tree started anew.
    reached: usize,
    /// Bytes of those reached that are free again.
    free: usize,
}

impl Store {
    /// Bytes of the limit that may be used.
    fn usable(&self) -> usize {
        self.limit - self.limit / UNUSABLE
    }

    /// Bytes that must be free for `need` more to fit. A store over its limit gets more free memory to choose from,
    /// since not every free run has a useful length.
    fn wanted(&self, need: usize) -> usize {
        let limit = self.usable();
        if self.reached.saturating_add(need) <= limit {
            return 0;
        }
        let wanted = need.max(limit / SPARE) + 2 * self.reached.saturating_sub(limit);
        // Memory beyond a limit that has become smaller stays taken: half of the limit is still for what is known.
        wanted.min(self.reached.saturating_sub(limit / 2))
    }
}

impl Tree {
    /// Share of `limit` bytes of memory that is in use, in permille: at 1000 something is pruned for each visit.
    pub(crate) fn fill(&self, limit: usize) -> u32 {
        let [all, ..] = self.stores(limit);
        let used = all.reached - all.free + all.wanted(VISIT);
        (used as f64 / all.usable().max(all.reached).max(1) as f64 * 1e3).min(1e3) as u32
    }

    /// Makes sure that `visits` more visits fit into `limit` bytes and into what the pools can address, by pruning if
    /// need be. A tree far over its limit gets there in several rounds; it does not grow meanwhile.
    pub(crate) fn make_room(&mut self, limit: usize, visits: u32) {
        let need = VISIT * visits as usize;
        let wanted = self.stores(limit).map(|store| store.wanted(need));
        let has_room =
            |tree: &Tree| tree.stores(limit).iter().zip(&wanted).all(|(store, wanted)| store.free >= *wanted);
        if has_room(self) {
            return;
        }
        let mut looks = LOOKS_A_ROUND + LOOKS_A_VISIT * visits as usize;
        while looks > 0 && !has_room(self) {
            let cost = self.discarded.last().map(|node| 1 + usize::from(node.children));
            if self.free_discarded() {
                looks = looks.saturating_sub(cost.unwrap_or(1));
            } else if !self.prune_elsewhere(&mut looks) && !self.prune_next(self.root, BELOW_ROOT, &mut looks) {
                return;
            }
        }
    }

    /// Frees a discarded node or prunes the least visited subtree; false if visits in flight pass all that is left.
    pub(crate) fn free_least_visited(&mut self) -> bool {
        let mut looks = usize::MAX;
        self.free_discarded() || self.prune_elsewhere(&mut looks) || self.prune_next(self.root, BELOW_ROOT, &mut looks)
    }

    /// Prunes a subtree, not below the root, of the tree that was left first, or gives up that tree where nothing in it
    /// is left to prune. Returns whether it could.
    fn prune_elsewhere(&mut self, looks: &mut usize) -> bool {
        let (first, is_last) = (self.tops[0].node, self.tops.len() == 1);
        if is_last && self.above.is_empty() {
            return false;
        }
        let is_pruned = self.prune_next(first, ELSEWHERE, looks);
        if !is_pruned && !is_last && *looks > 0 {
            self.discard_top(0);
            return true;
        }
        is_pruned
    }

    /// The use of memory that has a limit: all of it, and that of each pool. Memory of earlier trees does not count:
    /// how much of it the system has back depends on the machine, and the choice of the pruned subtrees must not.
    fn stores(&self, limit: usize) -> [Store; 3] {
        let (nodes, words) = (&self.nodes, &self.words);
        // All of a pool that cannot grow is in use: it holds free runs of every length.
        let most = |most: usize, is_refused| if is_refused { most / (UNUSABLE - 1) * UNUSABLE } else { most };
        let pool = |limit, reached, free| Store { limit, reached, free };
        [
            Store { limit, reached: self.bytes_reached(), free: self.bytes_free() },
            pool(most(nodes.bytes_most(), nodes.is_refused()), nodes.bytes_reached(), nodes.bytes_given_back()),
            pool(most(words.bytes_most(), words.is_refused()), words.bytes_reached(), words.bytes_given_back()),
        ]
    }

    /// Prunes the next subtree with few visits below `from`, in the sweep `which`, which goes on where it stopped. Left
    /// out are the subtree of the root if `from` lies above it, nodes on the way to the root, and nodes with visits in
    /// flight. Takes the number of nodes looked at off `looks`, and ends at 0. Returns whether a subtree was pruned. A
    /// sweep of [`ELSEWHERE`] that has found nothing left does not begin again before the root moves.
    fn prune_next(&mut self, from: NodeId, which: usize, looks: &mut usize) -> bool {
        let mut sweep = std::mem::take(&mut self.sweeps[which]);
        if sweep.from != Some(from) {
            sweep = Sweep { from: Some(from), way: vec![0], most: PIECE, ..Sweep::default() };
        }
        let mut ids = vec![from];
        while let Some(index) = sweep.way.get(ids.len() - 1).filter(|_| ids.len() < sweep.way.len()) {
            let Some(child) = self.open_child(ids[ids.len() - 1], *index) else { break };
            ids.push(child);
        }
        // What is left of the way.
        sweep.way.truncate(ids.len());
        let is_pruned = loop {
            if *looks == 0 {
                break false;
            }
            *looks -= 1;
            sweep.looked_at += 1;
            let (Some(&id), Some(&index)) = (ids.last(), sweep.way.last()) else {
                // Where little is so small, larger ones go in the next sweep.
                let is_rare = sweep.looked_at > RARE * sweep.pruned;
                let largest = if which == BELOW_ROOT { PIECE.max(self[from].n / LARGEST) } else { u32::MAX };
                if sweep.pruned == 0 && sweep.most >= largest {
                    sweep.from = sweep.from.filter(|_| which == ELSEWHERE);
                    break false;
                }
                let most = if is_rare { sweep.most.saturating_mul(2).min(largest) } else { PIECE.max(sweep.most / 2) };
                sweep = Sweep { from: Some(from), way: vec![0], most, ..Sweep::default() };
                ids = vec![from];
                continue;
            };
            let child = self.open_child(id, index);
            let is_pruned = child.is_some_and(|id| self.known_visits(&self[id]) <= sweep.most && self.prune(id));
            if let Some(child) = child.filter(|_| !is_pruned) {
                ids.push(child);
                sweep.way.push(0);
                continue;
            }
            if usize::from(index) >= usize::from(self[id].children) {
                ids.pop();
                sweep.way.pop();
            }
            sweep.way.last_mut().into_iter().for_each(|index| *index += 1);
            if is_pruned {
                sweep.pruned += 1;
                break true;
            }
        };
        self.sweeps[which] = sweep;
        is_pruned
    }

    /// The child with this index, if it is expanded and not the root.
    fn open_child(&self, id: NodeId, index: u16) -> Option<NodeId> {
        let child = self.existing_child(&self[id], usize::from(index)).filter(|child| *child != self.root)?;
        matches!(self[child].edge_state(), EdgeState::Small | EdgeState::Large).then_some(child)
    }

    /// Prunes a node's subtree, unless it has visits in flight or is on the way to the root. Returns whether it did.
    fn prune(&mut self, id: NodeId) -> bool {
        let is_on_the_way = id == self.root || self.above.iter().any(|(node, _)| *node == id);
        if self[id].in_flight > 0 || !self[id].has_edges() || is_on_the_way {
            return false;
        }
        let old = self[id];
        self[id].set_edge_state(EdgeState::None);
        self[id].set_surplus(false);
        (self[id].at, self[id].children) = (0, 0);
        self.discard(old);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tree::Tree;
    use crate::search::tree::node::Node;
    use crate::search::tree::packed_move::PackedMove;
    use zeitnot_chess::Game;

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
        let is = |index: &usize| {
            tree.existing_child(&root, *index).is_some_and(|child| tree[child].edge_state() != EdgeState::None)
        };
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
        assert!(tree.prune(forgotten));
        assert!(tree[forgotten].n > 0 && tree[forgotten].is_pruned() && tree[known].n == 8);
        let after = |index: usize| {
            let mut game = start.clone();
            game.push(PackedMove(moves[index]).unpack(start.current().board()));
            game
        };
        assert!(tree.follow(after(4)) && tree.is_empty());
        // And when the last move is taken back, the others are as they were.
        assert!(tree.follow(after(5)));
        assert_eq!(tree.visits(), 3, "its own visit and those of its two moves");
    }

    #[test]
    fn where_one_way_is_taken_another_is_tried() {
        let mut tree = bushy();
        let root = tree[tree.root()];
        for index in 0..20 {
            let child = tree.existing_child(&root, index).unwrap();
            tree[child].in_flight = 1;
        }
        let child = tree[tree.existing_child(&root, 7).unwrap()];
        let free = tree.existing_child(&child, 1).unwrap();
        tree.expand(free);
        tree.make_room(0, 1000);
        assert_eq!((tree[free].edge_state(), expanded(&tree).len()), (EdgeState::None, 20));
    }

    #[test]
    fn a_round_does_not_take_all_apart() {
        let mut tree = bushy();
        let id = tree.child(tree.root(), 0);
        let kept = tree[id];
        let take = |_| {
            tree.set_priors(id, &[255; 20]);
            tree[id]
        };
        let given_up: Vec<Node> = (0..3 * LOOKS_A_ROUND).map(take).collect();
        tree[id] = kept;
        given_up.into_iter().for_each(|node| tree.discard(node));
        let full = tree.words.in_use();
        tree.make_room(0, 1);
        let taken_apart = (full - tree.words.in_use()) / 5;
        assert!(
            (LOOKS_A_ROUND..=LOOKS_A_ROUND + LOOKS_A_VISIT).contains(&taken_apart),
            "{taken_apart} of 20 / 4 words"
        );
    }

    #[test]
    fn without_a_limit_the_pools_are_one() {
        for of_words in [true, false] {
            let mut tree = bushy();
            tree.make_room(usize::MAX, 8);
            assert_eq!(expanded(&tree).len(), 20, "there is room");
            // As many as there are.
            if of_words {
                tree.words.most = tree.words.in_use()
            } else {
                tree.nodes.most = tree.nodes.in_use()
            }
            tree.make_room(usize::MAX, 1);
            assert!(expanded(&tree).len() < 20);
        }
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
