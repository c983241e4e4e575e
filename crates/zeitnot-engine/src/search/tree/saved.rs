//! Writes a forest as bytes, and reads it again: all its positions, each with its moves, in an order that begins with
//! the root and the other kept positions.
//!
//! Numbers are little-endian. A position is its record, its node, its words without the places of its children, and
//! the nodes of its children. Where an address lies in memory, the file has the number of the position that a child is
//! linked to plus one, or 0.

use super::Tree;
use super::allocation::Restriction;
use super::edges::{EdgeLayout, SLOTS, priors_len};
use super::node::{EdgeState, Node, NodeId};
use super::position_table::{Record, record, record_mut};
use crate::chess::Game;
use bytemuck::{Pod, bytes_of, cast_slice, pod_read_unaligned};
use std::collections::HashMap;

/// Bytes that are no forest.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NoForest;

/// Words of a node's edges that a file has: all but the places of children.
fn kept_words(node: &Node) -> usize {
    match node.edge_state() {
        EdgeState::None => 0,
        EdgeState::Priors => priors_len(node.moves),
        EdgeState::Small | EdgeState::Large => {
            let layout = EdgeLayout::of(node);
            layout.len - layout.slots
        }
    }
}

/// A node without visits on their way, with this in the place of its address.
fn at_rest(node: Node, at: u32) -> Node {
    let mut node = node;
    (node.at, node.in_flight) = (at, 0);
    node
}

impl Tree {
    /// Number of positions that are kept besides the root; `None` where positions are not kept.
    pub(crate) fn kept_positions(&self) -> Option<usize> {
        self.kept.as_ref().map(Vec::len)
    }

    /// The forest as bytes, and the number of its positions; `None` where positions are not kept.
    pub(crate) fn save(&self) -> Option<(Vec<u8>, usize)> {
        let kept = self.kept.as_ref()?;
        let mut found: Vec<NodeId> = std::iter::once(self.root).chain(kept.iter().copied()).collect();
        let roots = found.len();
        let mut numbers: HashMap<u32, u32> = found.iter().zip(0..).map(|(id, number)| (id.0, number)).collect();
        let (moves, visits) = self.restriction.as_ref().map_or((&[][..], &[][..]), Restriction::parts);
        let mut head: Vec<u32> = vec![0, roots as u32, self.depth, moves.len() as u32, visits.len() as u32];
        head.extend(moves.iter().map(|mv| u32::from(*mv)).chain(visits.iter().copied()));
        let mut bytes = cast_slice::<u32, u8>(&head).to_vec();
        for number in 0.. {
            let Some(&id) = found.get(number) else { break };
            let node = self[id];
            bytes.extend(bytes_of(&record(&self.nodes, id).alone()));
            bytes.extend(bytes_of(&at_rest(node, 0)));
            match node.edge_state() {
                EdgeState::None => {}
                EdgeState::Priors => bytes.extend(cast_slice::<u32, u8>(self.words.run(node.at, kept_words(&node)))),
                EdgeState::Small | EdgeState::Large => {
                    let layout = EdgeLayout::of(&node);
                    let words = self.words.run(node.at, layout.len);
                    bytes.extend(cast_slice::<u32, u8>(&words[..SLOTS]));
                    bytes.extend(cast_slice::<u32, u8>(&words[layout.moves..]));
                }
            }
            for child in self.existing_children(&node).map(|child| self[child]) {
                let link = child.link().map_or(0, |position| {
                    1 + *numbers.entry(position.0).or_insert_with(|| {
                        found.push(position);
                        found.len() as u32 - 1
                    })
                });
                bytes.extend(bytes_of(&at_rest(child, link)));
            }
        }
        bytes[..size_of::<u32>()].copy_from_slice(&(found.len() as u32).to_le_bytes());
        Some((bytes, found.len()))
    }

    /// The forest that [`Tree::save`] wrote, with its root at the end of `game`.
    ///
    /// # Errors
    /// [`NoForest`] for other bytes.
    pub(crate) fn load(game: Game, bytes: &[u8]) -> Result<Tree, NoForest> {
        let mut tree = Tree::new(game);
        tree.take_kind(false, true);
        let mut at = Reader(bytes);
        let [count, roots, depth, moves, visits] = [(); 5].map(|()| at.take::<u32>());
        let (count, roots, depth) = (count? as usize, roots? as usize, depth?);
        let moves = at.words(moves? as usize)?.into_iter().map(|mv| mv as u16).collect::<Vec<_>>();
        let visits = at.words(visits? as usize)?;
        let start = at.0;
        // A place for each, since a move may be linked to a later one.
        let mut places = Vec::new();
        for number in 0..count {
            let (known, node) = (at.take::<Record>()?, at.position()?);
            at.skip(kept_words(&node) * size_of::<u32>() + usize::from(node.children) * size_of::<Node>())?;
            let identity = known.identity();
            let is_known =
                tree.shared.as_ref().is_some_and(|shared| shared.table.find(&tree.nodes, identity).is_some());
            places.push(match number {
                0 if is_known => tree.root,
                _ if number > 0 && !is_known => tree.new_position(identity),
                _ => return Err(NoForest),
            });
        }
        if roots == 0 || roots > count || !at.0.is_empty() {
            return Err(NoForest);
        }
        let mut at = Reader(start);
        let mut below = Below::default();
        for &place in &places {
            tree.load_position(place, &mut at, &places, &mut below)?;
        }
        for &place in &places[1..roots] {
            record_mut(&mut tree.nodes, place).references += 1;
        }
        // Each has an owner, and none lies below itself.
        if places.iter().any(|place| record(&tree.nodes, *place).references == 0) || below.has_cycle() {
            return Err(NoForest);
        }
        (tree.kept, tree.depth) = (Some(places[1..roots].to_vec()), depth);
        tree.restriction = (!moves.is_empty()).then(|| Restriction::of(moves, visits));
        tree.note_history();
        Ok(tree)
    }

    fn load_position(
        &mut self,
        place: NodeId,
        at: &mut Reader<'_>,
        places: &[NodeId],
        below: &mut Below,
    ) -> Result<(), NoForest> {
        let own = at.take::<Record>()?.own();
        record_mut(&mut self.nodes, place).set_own(own);
        let node = at.position()?;
        let words = at.words(kept_words(&node))?;
        self[place] = node;
        self[place].children = 0;
        match node.edge_state() {
            EdgeState::None => {}
            EdgeState::Priors => {
                let run = self.take_words(words.len());
                self.words.run_mut(run, words.len()).copy_from_slice(&words);
                self[place].at = run;
            }
            EdgeState::Small | EdgeState::Large => {
                let layout = EdgeLayout::of(&node);
                let at = self.take_words(layout.len);
                let run = self.words.run_mut(at, layout.len);
                run.fill(0);
                run[..SLOTS].copy_from_slice(&words[..SLOTS]);
                run[layout.moves..].copy_from_slice(&words[SLOTS..]);
                self[place].at = at;
            }
        }
        for index in 0..usize::from(node.children) {
            let mut child = at.take::<Node>()?;
            if child.edge_state() != EdgeState::None || child.in_flight != 0 {
                return Err(NoForest);
            }
            if let Some(NodeId(number)) = child.link() {
                let position = *places.get(number as usize - 1).ok_or(NoForest)?;
                record_mut(&mut self.nodes, position).references += 1;
                child.at = position.0;
                below.links.push(number - 1);
            }
            let id = self.child(place, index);
            self[id] = child;
        }
        below.ends.push(below.links.len());
        Ok(())
    }
}

/// The positions that the moves of each position lead to, by their numbers.
#[derive(Default)]
struct Below {
    links: Vec<u32>,
    /// The end of each position's part of `links`.
    ends: Vec<usize>,
}

impl Below {
    /// Whether a position lies below itself: a visit would go round for ever. (Kahn, "Topological sorting of large
    /// networks", 1962.)
    fn has_cycle(&self) -> bool {
        let mut above = vec![0_u32; self.ends.len()];
        for &link in &self.links {
            above[link as usize] += 1;
        }
        let mut open: Vec<usize> = (0..above.len()).filter(|number| above[*number] == 0).collect();
        let mut sorted = 0;
        while let Some(number) = open.pop() {
            sorted += 1;
            let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
            for &link in &self.links[begin..self.ends[number]] {
                above[link as usize] -= 1;
                if above[link as usize] == 0 {
                    open.push(link as usize);
                }
            }
        }
        sorted < above.len()
    }
}

/// Bytes that are read from the front.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn skip(&mut self, bytes: usize) -> Result<&[u8], NoForest> {
        let (taken, rest) = self.0.split_at_checked(bytes).ok_or(NoForest)?;
        self.0 = rest;
        Ok(taken)
    }

    fn take<T: Pod>(&mut self) -> Result<T, NoForest> {
        self.skip(size_of::<T>()).map(pod_read_unaligned)
    }

    fn words(&mut self, count: usize) -> Result<Vec<u32>, NoForest> {
        let bytes = self.skip(count.checked_mul(size_of::<u32>()).ok_or(NoForest)?)?;
        Ok(bytes.chunks_exact(size_of::<u32>()).map(pod_read_unaligned).collect())
    }

    /// The node of a position: one that has no address, and no more children than moves and than its edges have room
    /// for.
    fn position(&mut self) -> Result<Node, NoForest> {
        let node: Node = self.take()?;
        let most = match node.edge_state() {
            EdgeState::None | EdgeState::Priors => 0,
            EdgeState::Small => node.moves.min(2),
            EdgeState::Large => node.moves,
        };
        let is_whole = node.at == 0 && node.in_flight == 0 && node.children <= most;
        if is_whole { Ok(node) } else { Err(NoForest) }
    }
}

#[cfg(test)]
#[path = "saved_tests.rs"]
mod tests;
