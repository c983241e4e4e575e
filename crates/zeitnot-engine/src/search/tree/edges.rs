//! Lays out the edges of an expanded node (its moves, their priors, the places of their children) in words.
//!
//! ```text
//! scale | slots: where the children are | moves, 16 bits each | prior codes, 8 bits each
//! ```
//!
//! Moves are sorted by prior, so that those with children come first. Children lie in segments of 1, 1, 2 and then 4
//! nodes: most nodes have one or two children and never more, and a segment never moves. A small body has slots for the
//! first two segments; it is replaced by a large one when a third is needed.

use super::node::{EdgeState, Node};
use super::prior_codes;

/// Index of the word with the scale of the prior codes; the slots follow it.
pub(crate) const SCALE: usize = 0;
pub(crate) const SLOTS: usize = 1;
/// Slots of a small body.
pub(crate) const SMALL_SLOTS: usize = 2;

/// Number of children that come before the segments of four; [`SINGLE_SEGMENTS`] segments hold them.
const SINGLE_CHILDREN: usize = 4;
const SINGLE_SEGMENTS: usize = 3;
const SEGMENT: usize = 4;

/// Number of nodes in the segment of a slot.
#[inline]
pub(crate) fn segment(slot: usize) -> usize {
    match slot {
        0 | 1 => 1,
        2 => 2,
        _ => SEGMENT,
    }
}

/// The slot of the child with this index, and the child's place in the slot's segment.
#[inline]
pub(crate) fn place(index: usize) -> (usize, usize) {
    match index {
        0 | 1 => (index, 0),
        2 | 3 => (2, index - 2),
        _ => (SINGLE_SEGMENTS + (index - SINGLE_CHILDREN) / SEGMENT, (index - SINGLE_CHILDREN) % SEGMENT),
    }
}

/// Number of words for the priors of a node that is not expanded.
pub(crate) fn priors_len(moves: u8) -> usize {
    usize::from(moves).div_ceil(4)
}

/// Number of words of a node's edges.
pub(crate) fn len(node: &Node) -> usize {
    match node.edge_state() {
        EdgeState::None => 0,
        EdgeState::Priors => priors_len(node.moves),
        EdgeState::Small | EdgeState::Large => EdgeLayout::of(node).len,
    }
}

/// The offsets of the parts in the words of a node's edges.
pub(crate) struct EdgeLayout {
    pub slots: usize,
    pub moves: usize,
    pub codes: usize,
    pub len: usize,
}

impl EdgeLayout {
    #[inline]
    pub(crate) fn of(node: &Node) -> EdgeLayout {
        let count = usize::from(node.moves);
        let slots = match node.edge_state() {
            EdgeState::Large => SINGLE_SEGMENTS + count.saturating_sub(SINGLE_CHILDREN).div_ceil(SEGMENT),
            _ => SMALL_SLOTS,
        };
        let moves = SLOTS + slots;
        let codes = moves + count.div_ceil(2);
        EdgeLayout { slots, moves, codes, len: codes + count.div_ceil(4) }
    }
}

/// The moves of an expanded node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeView<'a> {
    scale: f32,
    /// Places of the segments of children; 0 where there is no segment yet.
    pub slots: &'a [u32],
    /// Packed moves, by prior.
    pub moves: &'a [u16],
    codes: &'a [u8],
}

impl<'a> EdgeView<'a> {
    #[inline]
    pub(crate) fn new(run: &'a [u32], layout: &EdgeLayout, count: usize) -> EdgeView<'a> {
        EdgeView {
            scale: f32::from_bits(run[SCALE]),
            slots: &run[SLOTS..layout.moves],
            moves: &bytemuck::cast_slice(&run[layout.moves..layout.codes])[..count],
            codes: &bytemuck::cast_slice(&run[layout.codes..])[..count],
        }
    }

    /// The prior of a move.
    #[inline]
    pub(crate) fn p(&self, index: usize) -> f32 {
        self.scale * prior_codes::share(self.codes[index])
    }
}

/// The moves and codes of a body, to be written.
pub(crate) fn moves_and_codes_mut<'a>(
    run: &'a mut [u32],
    layout: &EdgeLayout,
    count: usize,
) -> (&'a mut [u16], &'a mut [u8]) {
    let (before, codes) = run.split_at_mut(layout.codes);
    let moves = bytemuck::cast_slice_mut(&mut before[layout.moves..]);
    (&mut moves[..count], &mut bytemuck::cast_slice_mut(codes)[..count])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_child_has_a_place_of_its_own() {
        let mut last = None;
        for index in 0..255 {
            let (slot, offset) = place(index);
            assert!(offset < segment(slot));
            match last {
                Some((before, place)) if before == slot => assert_eq!(offset, place + 1),
                Some((before, place)) => assert_eq!((slot, offset, place + 1), (before + 1, 0, segment(before))),
                None => assert_eq!((slot, offset), (0, 0)),
            }
            last = Some((slot, offset));
        }
    }

    #[test]
    fn all_children_find_a_slot() {
        for count in 1..=255u8 {
            let mut node = Node::new();
            node.moves = count;
            node.set_edge_state(EdgeState::Large);
            assert!(place(usize::from(count) - 1).0 < EdgeLayout::of(&node).slots, "{count}");
        }
    }
}
