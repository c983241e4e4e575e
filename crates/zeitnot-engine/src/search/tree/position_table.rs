//! Keeps the positions that several moves may lead to in a hash table.

use super::node::{Node, NodeId, Value};
use super::pool::Pool;
use crate::chess::Position;
use bytemuck::{Pod, Zeroable};

/// The identity of positions that share their statistics: the board and the fifty-move counter. Because of the counter
/// no position can be reached from itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// [`Position::key`].
    pub board: u64,
    /// Plies since the last capture or pawn move.
    pub rule50: u32,
}

impl Identity {
    pub(crate) fn of(position: &Position) -> Identity {
        Identity { board: position.key(), rule50: position.rule50() }
    }

    /// The hash of the identity. Zobrist keys are random, but the counter is not, so it is spread over all bits. The
    /// factor is 2^64 over the golden ratio (Knuth, "The Art of Computer Programming" 3, 6.4).
    fn hash(self) -> usize {
        (self.board ^ u64::from(self.rule50).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)) as usize
    }
}

/// The facts of a shared position besides its node, in the item after the node.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Record {
    board: u64,
    rule50: u32,
    /// Number of owners: moves of the tree that lead here, and the root or previous root if it is here.
    pub references: u32,
    /// The next record of the same bucket; 0: none.
    next: u32,
    /// The network's own evaluation: win minus loss, draw probability, plies left.
    wl: f32,
    d: f32,
    m: f32,
}

const _: () = assert!(size_of::<Record>() == size_of::<Node>());

/// Items of the pool of nodes that a shared position takes: its node and its record.
pub(crate) const RUN: usize = 2;

impl Record {
    pub(crate) fn identity(&self) -> Identity {
        Identity { board: self.board, rule50: self.rule50 }
    }

    /// The record outside a table, without owners.
    pub(crate) fn alone(self) -> Record {
        Record { references: 0, next: 0, ..self }
    }

    pub(crate) fn own(&self) -> Value {
        Value { wl: self.wl, d: self.d, m: self.m }
    }

    pub(crate) fn set_own(&mut self, value: Value) {
        (self.wl, self.d, self.m) = (value.wl, value.d, value.m);
    }
}

/// The record of a shared position.
#[inline]
pub(crate) fn record(nodes: &Pool<Node>, id: NodeId) -> &Record {
    bytemuck::cast_ref(nodes.item(id.0 + 1))
}

pub(crate) fn record_mut(nodes: &mut Pool<Node>, id: NodeId) -> &mut Record {
    bytemuck::cast_mut(nodes.item_mut(id.0 + 1))
}

/// The index of shared positions: a hash table of chains of their records, with as many buckets as there are records.
///
/// It grows by one bucket at a time (Litwin, "Linear hashing: a new tool for file and table addressing", 1980), so that
/// no visit has to wait until millions of records have moved.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    /// The first record of each bucket; 0: none.
    buckets: Vec<u32>,
    len: usize,
}

impl Positions {
    pub(crate) fn bytes(&self) -> usize {
        self.buckets.capacity() * size_of::<u32>()
    }

    /// Positions in the table.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.len
    }

    fn bucket(&self, hash: usize) -> usize {
        let full = self.buckets.len().next_power_of_two();
        let bucket = hash & (full - 1);
        if bucket < self.buckets.len() { bucket } else { bucket - full / 2 }
    }

    pub(crate) fn find(&self, nodes: &Pool<Node>, identity: Identity) -> Option<NodeId> {
        let mut at = *self.buckets.get(self.bucket(identity.hash()))?;
        while at != 0 {
            let known = record(nodes, NodeId(at));
            if known.identity() == identity {
                return Some(NodeId(at));
            }
            at = known.next;
        }
        None
    }

    /// Puts a position into the table, which must not have it yet; `id` has room for its node and its record.
    pub(crate) fn insert(&mut self, nodes: &mut Pool<Node>, id: NodeId, identity: Identity) {
        self.len += 1;
        // With fewer buckets than positions a search in it takes longer, where there is no memory for more.
        if self.buckets.len() < self.len && self.buckets.try_reserve(1).is_ok() {
            self.grow(nodes);
        }
        let Identity { board, rule50 } = identity;
        *record_mut(nodes, id) = Record { board, rule50, ..Record::zeroed() };
        self.prepend(nodes, id);
    }

    fn prepend(&mut self, nodes: &mut Pool<Node>, id: NodeId) {
        let known = record_mut(nodes, id);
        let bucket = self.bucket(known.identity().hash());
        known.next = std::mem::replace(&mut self.buckets[bucket], id.0);
    }

    /// Adds a bucket, and moves its share of an existing bucket into it.
    fn grow(&mut self, nodes: &mut Pool<Node>) {
        let new = self.buckets.len();
        self.buckets.push(0);
        let divided = new - (new + 1).next_power_of_two() / 2;
        if divided == new {
            return;
        }
        let mut at = std::mem::take(&mut self.buckets[divided]);
        while at != 0 {
            let next = record(nodes, NodeId(at)).next;
            self.prepend(nodes, NodeId(at));
            at = next;
        }
    }

    /// Takes a position out of the table.
    pub(crate) fn remove(&mut self, nodes: &mut Pool<Node>, id: NodeId) {
        let gone = *record(nodes, id);
        let bucket = self.bucket(gone.identity().hash());
        if self.buckets[bucket] == id.0 {
            self.buckets[bucket] = gone.next;
        } else {
            let mut at = self.buckets[bucket];
            while at != 0 && record(nodes, NodeId(at)).next != id.0 {
                at = record(nodes, NodeId(at)).next;
            }
            debug_assert_ne!(at, 0, "a shared position is in the table as long as it has references");
            if at != 0 {
                record_mut(nodes, NodeId(at)).next = gone.next;
            }
        }
        self.len -= 1;
    }
}

/// The shared positions of a tree, and those of the game before its root.
#[derive(Debug, Default)]
pub(crate) struct SharedPositions {
    pub table: Positions,
    /// Keys of positions of the game before the root that can return.
    pub history: Vec<u64>,
    /// Keys in the history that occurred twice.
    pub twice: Vec<u64>,
}

impl SharedPositions {
    pub(crate) fn bytes(&self) -> usize {
        self.table.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tree::chunks::Spare;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        /// Compares the table with a map of the standard library over random insertions and removals.
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((any::<bool>(), 0u64..40, 0u32..4), 1..400)) {
            let mut nodes = Pool::<Node>::new(Spare::default());
            let (mut table, mut map) = (Positions::default(), HashMap::new());
            for (put, board, rule50) in steps {
                // Keys that agree in their lower bits, as random ones seldom do.
                let identity = Identity { board: board << 3, rule50 };
                let known = map.get(&(board, rule50)).copied();
                prop_assert_eq!(table.find(&nodes, identity), known);
                match known {
                    None if put => {
                        let id = NodeId(nodes.take(RUN).unwrap());
                        table.insert(&mut nodes, id, identity);
                        map.insert((board, rule50), id);
                    }
                    Some(id) if !put => {
                        table.remove(&mut nodes, id);
                        nodes.give(id.0, RUN);
                        map.remove(&(board, rule50));
                    }
                    _ => {}
                }
            }
            prop_assert_eq!(table.len(), map.len());
            for ((board, rule50), id) in map {
                prop_assert_eq!(table.find(&nodes, Identity { board: board << 3, rule50 }), Some(id));
            }
        }
    }
}
