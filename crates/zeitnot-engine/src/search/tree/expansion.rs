//! Expands nodes: makes their edges and children, and finds the memory for them.

use super::edges;
use super::node::{EdgeState, Node, NodeId};
use super::packed_move::PackedMove;
use super::pool::Pool;
use super::prior_codes;
use super::{MOST_MOVES, Tree};
use bytemuck::Pod;

/// Most discarded nodes that are freed at once in the hope of a free run of the wanted length.
const FREED_FOR_A_RUN: usize = 8;

/// Divisor of the size of a pool that cannot grow: the quotient is freed before its free runs are joined again.
const FREED_AT_ONCE: usize = 16;

impl Tree {
    pub(crate) fn discard(&mut self, node: Node) {
        if node.has_edges() {
            self.discarded.push(node);
        }
    }

    /// Frees the memory of one discarded node and discards its children. Returns whether there was one.
    pub(crate) fn free_discarded(&mut self) -> bool {
        let Some(node) = self.discarded.pop() else { return false };
        for index in 0..usize::from(node.children) {
            if let Some(child) = self.existing_child(&node, index) {
                self.discard(self[child]);
            }
        }
        for slot in 0..self.view(&node).map_or(0, |view| view.slots.len()) {
            let at = self.words.run(node.at, edges::len(&node))[edges::SLOTS + slot];
            if at != 0 {
                self.nodes.give(at, edges::segment(slot));
            }
        }
        self.words.give(node.at, edges::len(&node));
        true
    }

    pub(super) fn take_words(&mut self, len: usize) -> u32 {
        for _ in 0..FREED_FOR_A_RUN {
            if self.words.has_free(len) || !self.free_discarded() {
                break;
            }
        }
        match self.words.take(len) {
            Some(at) => at,
            None => self.take_by_force(len, |tree| &mut tree.words),
        }
    }

    pub(crate) fn take_nodes(&mut self, len: usize) -> u32 {
        for _ in 0..FREED_FOR_A_RUN {
            if self.nodes.has_free(len) || !self.free_discarded() {
                break;
            }
        }
        let at = match self.nodes.take(len) {
            Some(at) => at,
            None => self.take_by_force(len, |tree| &mut tree.nodes),
        };
        self.nodes.run_mut(at, len).fill(Node::new());
        at
    }

    /// Takes a run of `len` items from a pool that has none free and cannot grow: subtrees are given up until there is
    /// one. [`Tree::make_room`] knows the pool's limit from then on, so that this stays the exception.
    fn take_by_force<T: Pod>(&mut self, len: usize, pool: impl Fn(&mut Tree) -> &mut Pool<T>) -> u32 {
        let mut is_spent = false;
        loop {
            pool(self).join_free();
            if let Some(at) = pool(self).take(len) {
                return at;
            }
            assert!(!is_spent, "what visits are on their way to is far less than a chunk");
            let target = pool(self).bytes_given_back() + pool(self).bytes_most() / FREED_AT_ONCE;
            while pool(self).bytes_given_back() < target && !is_spent {
                is_spent = !self.free_least_visited();
                if let Some(at) = pool(self).take(len) {
                    return at;
                }
            }
        }
    }

    /// The child by the move with this index. Children up to this index that are missing are made. The node must be
    /// expanded.
    pub(crate) fn child(&mut self, parent: NodeId, index: usize) -> NodeId {
        for missing in usize::from(self[parent].children)..=index {
            self.make_child(parent, missing);
        }
        let node = self[parent];
        let layout = edges::EdgeLayout::of(&node);
        let (slot, offset) = edges::place(index);
        NodeId(self.words.run(node.at, layout.len)[edges::SLOTS + slot] + offset as u32)
    }

    fn make_child(&mut self, parent: NodeId, index: usize) {
        let (slot, offset) = edges::place(index);
        if offset == 0 {
            if slot >= edges::SMALL_SLOTS && self[parent].edge_state() == EdgeState::Small {
                self.enlarge(parent);
            }
            let at = self.take_nodes(edges::segment(slot));
            let node = self[parent];
            self.words.run_mut(node.at, edges::EdgeLayout::of(&node).len)[edges::SLOTS + slot] = at;
        }
        self[parent].children = index as u8 + 1;
    }

    /// Gives a node room for all its children.
    fn enlarge(&mut self, id: NodeId) {
        let old = self[id];
        let mut new = old;
        new.set_edge_state(EdgeState::Large);
        let (small, large) = (edges::EdgeLayout::of(&old), edges::EdgeLayout::of(&new));
        new.at = self.take_words(large.len);
        let copy = self.words.run(old.at, small.len).to_vec();
        let run = self.words.run_mut(new.at, large.len);
        run.fill(0);
        run[..edges::SLOTS + small.slots].copy_from_slice(&copy[..edges::SLOTS + small.slots]);
        run[large.moves..].copy_from_slice(&copy[small.moves..]);
        self.words.give(old.at, small.len);
        self[id] = new;
    }

    /// Gives an evaluated node the priors of its moves, as codes in the order of the move generator.
    pub(crate) fn set_priors(&mut self, id: NodeId, codes: &[u8]) {
        let at = self.take_words(edges::priors_len(codes.len() as u8));
        let run = self.words.run_mut(at, edges::priors_len(codes.len() as u8));
        bytemuck::cast_slice_mut::<u32, u8>(run)[..codes.len()].copy_from_slice(codes);
        let node = &mut self[id];
        (node.at, node.moves, node.children) = (at, codes.len() as u8, 0);
        node.set_edge_state(EdgeState::Priors);
    }

    /// Sorts the moves of an evaluated node by prior, the first of the move generator first among equals, and makes
    /// room for children. The moves are numbers as yet: see [`Tree::resolve`].
    pub(crate) fn expand(&mut self, id: NodeId) {
        let old = self[id];
        let Some(codes) = self.priors(&old) else { return };
        let mut order = [0u16; MOST_MOVES];
        let order = &mut order[..codes.len()];
        for (number, (key, code)) in order.iter_mut().zip(codes).enumerate() {
            // Ascending keys: the largest code first, and then the smallest number.
            *key = u16::from(u8::MAX - code) << 8 | number as u16;
        }
        let scale = prior_codes::scale(codes);
        if !order.is_sorted() {
            order.sort_unstable();
        }
        let mut new = old;
        new.set_edge_state(EdgeState::Small);
        new.children = 0;
        let layout = edges::EdgeLayout::of(&new);
        new.at = self.take_words(layout.len);
        let run = self.words.run_mut(new.at, layout.len);
        run.fill(0);
        run[edges::SCALE] = scale.to_bits();
        let (moves, codes) = edges::moves_and_codes_mut(run, &layout, order.len());
        for ((mv, code), key) in moves.iter_mut().zip(codes).zip(order) {
            *mv = PackedMove::unresolved(*key as u8).0;
            *code = u8::MAX - (*key >> 8) as u8;
        }
        self.words.give(old.at, edges::priors_len(old.moves));
        self[id] = new;
    }

    /// Gives an expanded node its moves, which come in the order of the move generator.
    pub(crate) fn resolve(&mut self, id: NodeId, moves: &[u16]) {
        let node = self[id];
        if self.view(&node).is_none() {
            return;
        }
        let layout = edges::EdgeLayout::of(&node);
        let run = self.words.run_mut(node.at, layout.len);
        for mv in edges::moves_and_codes_mut(run, &layout, usize::from(node.moves)).0 {
            if let Some(known) = PackedMove(*mv).number().and_then(|number| moves.get(number)) {
                *mv = *known;
            }
        }
    }

    /// Sets the prior of a move to 0.
    pub(crate) fn clear_prior(&mut self, id: NodeId, index: usize) {
        let node = self[id];
        let layout = edges::EdgeLayout::of(&node);
        let run = self.words.run_mut(node.at, layout.len);
        edges::moves_and_codes_mut(run, &layout, usize::from(node.moves)).1[index] = 0;
    }
}
