//! Writes trees as bytes, and reads them again within a limit of memory.
//!
//! Numbers are little-endian. After the head come the trees, each with the node of its top and then the *bodies*, in the
//! order in which a walk finds them that goes down first: the words of a node's edges without the places of its children,
//! and the nodes of these. So the bytes can only be a tree. Every move is compared with the legal moves of its position,
//! and every number with its range: a file may come from anywhere.
//!
//! The head tells how much memory the bodies of nodes with at least 1, 2, 4, ... visits take. Where not all fit, those
//! with the fewest visits stay out, as if they had been pruned.

use super::Tree;
use super::allocation::Restriction;
use super::edges::{EdgeLayout, SCALE, SLOTS, priors_len};
use super::known_positions::{Identity, Top};
use super::node::{EdgeState, Node, NodeId};
use super::packed_move::PackedMove;
use super::{MOST_MOVES, edges};
use crate::chess::{Game, Position};
use bytemuck::{Pod, bytes_of, cast_slice, cast_slice_mut, pod_read_unaligned};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};

/// Bytes that are no tree, and the reason.
#[derive(Debug)]
pub(crate) struct NoTree(pub String);

impl From<io::Error> for NoTree {
    fn from(error: io::Error) -> NoTree {
        NoTree(error.to_string())
    }
}

fn no_tree() -> NoTree {
    NoTree("its positions do not fit together".to_owned())
}

/// The position that a saved tree begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedTop {
    fen: String,
    /// [`Identity::history`].
    history: u64,
}

/// Trees as bytes, and their numbers.
#[derive(Debug, PartialEq)]
pub(crate) struct Saved {
    pub tops: Vec<SavedTop>,
    pub bytes: Vec<u8>,
    /// Nodes with visits.
    pub positions: usize,
    /// Positions besides the root that have visits of searches that began there.
    pub kept: usize,
}

/// Powers of two that the visits of a node can have.
const CLASSES: usize = u32::BITS as usize;

/// The greatest value of plies left that is taken for one.
const MOST_PLIES: f32 = 1e5;

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

/// Bytes of memory that a node's edges and children take.
fn body_bytes(node: &Node) -> u64 {
    let words = match node.edge_state() {
        EdgeState::None | EdgeState::Priors => kept_words(node),
        EdgeState::Small | EdgeState::Large => EdgeLayout::of(node).len,
    };
    (words * size_of::<u32>() + edges::allocated(usize::from(node.children)) * size_of::<Node>()) as u64
}

impl Tree {
    /// The trees as bytes; `None` for a tree that keeps nothing besides what lies below its root.
    pub(crate) fn save(&self) -> Option<Saved> {
        if !self.keeps {
            return None;
        }
        let (moves, visits) = self.restriction.as_ref().map_or((&[][..], &[][..]), Restriction::parts);
        let mut head: Vec<u32> = vec![self.depth, moves.len() as u32, visits.len() as u32];
        head.extend(moves.iter().map(|mv| u32::from(*mv)).chain(visits.iter().copied()));
        let mut bytes = cast_slice::<u32, u8>(&head).to_vec();
        let (table_at, mut table) = (bytes.len(), [0_u64; CLASSES]);
        bytes.resize(table_at + size_of_val(&table), 0);
        let (mut positions, mut kept) = (0, 0);
        let mut count = |node: &Node| {
            positions += usize::from(node.n > 0);
            kept += usize::from(node.has_surplus());
        };
        for top in &self.tops {
            let node = self.at_rest(top.node);
            count(&node);
            bytes.extend(bytes_of(&Node { at: 0, ..node }));
            let mut open = vec![node].into_iter().filter(Node::has_edges).collect::<Vec<_>>();
            while let Some(node) = open.pop() {
                table[self.known_visits(&node).max(1).ilog2() as usize] += body_bytes(&node);
                match node.edge_state() {
                    EdgeState::None | EdgeState::Priors => {
                        bytes.extend(cast_slice::<u32, u8>(self.words.run(node.at, kept_words(&node))));
                    }
                    EdgeState::Small | EdgeState::Large => {
                        let layout = EdgeLayout::of(&node);
                        let words = self.words.run(node.at, layout.len);
                        bytes.extend(cast_slice::<u32, u8>(&words[..SLOTS]));
                        bytes.extend(cast_slice::<u32, u8>(&words[layout.moves..]));
                    }
                }
                let first = open.len();
                for child in self.existing_children(&node).map(|child| self.at_rest(child)) {
                    count(&child);
                    bytes.extend(bytes_of(&Node { at: 0, ..child }));
                    if child.has_edges() {
                        open.push(child);
                    }
                }
                open[first..].reverse();
            }
        }
        bytes[table_at..table_at + size_of_val(&table)].copy_from_slice(bytes_of(&table));
        let others = self.tops.iter().filter(|top| top.node != self.root && self[top.node].n > 0).count();
        // The root is counted as it is seen from above.
        kept = kept + others - usize::from(self.as_left().has_surplus());
        let tops = self.tops.iter().map(|top| SavedTop { fen: top.position.fen(), history: top.identity.history });
        Some(Saved { tops: tops.collect(), bytes, positions, kept })
    }

    /// A node as it is when no search is under way and the root is elsewhere.
    pub(super) fn at_rest(&self, id: NodeId) -> Node {
        Node { in_flight: 0, ..if id == self.root { self.as_left() } else { self[id] } }
    }

    /// The trees that [`Tree::save`] wrote to several sources, with the root at the end of `game`; `limit`: bytes of
    /// memory. What is known of a position several times is there once.
    ///
    /// # Errors
    /// [`NoTree`] for other bytes.
    pub(crate) fn load<R: Read>(
        game: Game,
        sources: impl IntoIterator<Item = (Vec<SavedTop>, R)>,
        limit: usize,
    ) -> Result<Tree, NoTree> {
        let mut tree = Tree::new(Game::new());
        let mut restriction = None;
        for (tops, mut source) in sources {
            let head = tree.read(&tops, game.is_chess960(), &mut source, limit)?;
            restriction.get_or_insert(head);
        }
        tree.keeps = true;
        tree.go_to(game);
        tree.restriction = restriction.flatten();
        Ok(tree)
    }

    fn read(
        &mut self,
        tops: &[SavedTop],
        chess960: bool,
        source: &mut impl Read,
        limit: usize,
    ) -> Result<Option<Restriction>, NoTree> {
        let [depth, moves, visits] = take::<[u32; 3]>(source)?;
        if moves.max(visits) as usize > MOST_MOVES {
            return Err(no_tree());
        }
        self.depth = self.depth.max(depth);
        let mut list = |len: u32| (0..len).map(|_| take::<u32>(source)).collect::<Result<Vec<u32>, NoTree>>();
        let moves: Vec<u16> = list(moves)?.into_iter().map(|mv| mv as u16).collect();
        let restriction = Restriction::of(moves, list(visits)?);
        let table: [u64; CLASSES] = take(source)?;
        let (mut room, mut least) = ((limit as u64).saturating_sub(self.bytes_reached() as u64), u32::MAX);
        for (class, bytes) in table.iter().enumerate().rev() {
            room = room.saturating_sub(*bytes);
            if room == 0 && *bytes > 0 {
                break;
            }
            least = 1 << class;
        }
        for SavedTop { fen, history } in tops {
            let position = Game::from_fen(fen, chess960).map_err(|_| no_tree())?.current().clone();
            let identity = Identity { board: position.key(), rule50: position.rule50(), history: *history };
            let node = NodeId(self.take_nodes(1));
            self[node] = sound(take(source)?)?;
            let body = Reader { tree: self, source, least, limit };
            body.read_below(node, &position)?;
            self.own_visits(node);
            let known = self.tops.iter().find(|top| top.identity == identity).map(|top| top.node);
            let place = self.tops.len() - 1;
            self.tops.insert(place, Top { node, identity, position });
            if let Some(known) = known {
                self.take_up(known, place);
                self.own_visits(known);
            }
        }
        // A checksum comes at the end.
        if source.read(&mut [0])? > 0 {
            return Err(no_tree());
        }
        Ok((!restriction.parts().0.is_empty()).then_some(restriction))
    }
}

/// A reader of the bodies of one tree.
struct Reader<'a, R> {
    tree: &'a mut Tree,
    source: &'a mut R,
    /// Fewest visits of a node whose body is kept.
    least: u32,
    /// Bytes that the tree may take.
    limit: usize,
}

impl<R: Read> Reader<'_, R> {
    /// Reads what lies below a top.
    fn read_below(mut self, top: NodeId, position: &Position) -> Result<(), NoTree> {
        let mut open = Vec::new();
        let node = self.tree[top];
        self.tree[top].set_edge_state(EdgeState::None);
        (self.tree[top].children, self.tree[top].at) = (0, 0);
        if node.has_edges() {
            open.push((Some(top), node, position.clone()));
        }
        while let Some((place, node, position)) = open.pop() {
            let first = open.len();
            self.read_body(place, node, &position, &mut open)?;
            open[first..].reverse();
        }
        Ok(())
    }

    /// Reads the body of `node`, for the node in `place` if it is to be kept, and adds the children with bodies.
    fn read_body(
        &mut self,
        place: Option<NodeId>,
        node: Node,
        position: &Position,
        open: &mut Vec<(Option<NodeId>, Node, Position)>,
    ) -> Result<(), NoTree> {
        let legal = position.legal_moves();
        if usize::from(node.moves) != legal.len().min(MOST_MOVES) || legal.is_empty() {
            return Err(no_tree());
        }
        let mut words = vec![0_u32; kept_words(&node)];
        self.source.read_exact(cast_slice_mut(&mut words))?;
        let children: Vec<Node> =
            (0..node.children).map(|_| sound(take(self.source)?)).collect::<Result<_, NoTree>>()?;
        let below = children.iter().try_fold(1_u32, |sum, child| sum.checked_add(child.n)).ok_or_else(no_tree)?;
        let known = if node.has_surplus() { below } else { node.n };
        let is_kept = known >= self.least && self.tree.bytes_reached() < self.limit;
        let place = place.filter(|_| is_kept);
        if node.edge_state() == EdgeState::Priors {
            if let Some(place) = place {
                let at = self.tree.take_words(words.len());
                self.tree.words.run_mut(at, words.len()).copy_from_slice(&words);
                self.tree[place].at = at;
                self.tree[place].moves = node.moves;
                self.tree[place].set_edge_state(EdgeState::Priors);
                self.tree[place].set_surplus(node.has_surplus());
            }
            return Ok(());
        }
        let scale = f32::from_bits(words[SCALE]);
        let moves: &mut [u16] = &mut cast_slice_mut(&mut words[SLOTS..])[..usize::from(node.moves)];
        let packed: Vec<u16> = legal.iter().take(MOST_MOVES).map(|mv| PackedMove::new(*mv).0).collect();
        for mv in moves.iter_mut() {
            *mv =
                PackedMove(*mv).number().map_or(Some(*mv), |number| packed.get(number).copied()).ok_or_else(no_tree)?;
        }
        let sorted = |moves: &[u16]| {
            let mut moves = moves.to_vec();
            moves.sort_unstable();
            moves
        };
        if sorted(moves) != sorted(&packed) || !(scale > 0.0 && scale.is_finite()) {
            return Err(no_tree());
        }
        let moves = moves.to_vec();
        if let Some(place) = place {
            let layout = EdgeLayout::of(&node);
            let at = self.tree.take_words(layout.len);
            let run = self.tree.words.run_mut(at, layout.len);
            run.fill(0);
            run[..SLOTS].copy_from_slice(&words[..SLOTS]);
            run[layout.moves..].copy_from_slice(&words[SLOTS..]);
            self.tree[place].at = at;
            (self.tree[place].moves, self.tree[place].children) = (node.moves, 0);
            self.tree[place].set_edge_state(node.edge_state());
            self.tree[place].set_surplus(below > node.n);
        }
        for (index, (child, mv)) in children.into_iter().zip(moves).enumerate() {
            let bare = Node { at: 0, children: 0, ..child };
            let id = place.map(|place| self.tree.child(place, index));
            if let Some(id) = id {
                self.tree[id] = bare;
                self.tree[id].set_edge_state(EdgeState::None);
                self.tree[id].set_surplus(false);
            }
            if child.has_edges() {
                open.push((id, child, position.after(PackedMove(mv).unpack(position.board()), &[])));
            }
        }
        Ok(())
    }
}

/// The next bytes of a source.
fn take<T: Pod>(source: &mut impl Read) -> Result<T, NoTree> {
    let mut bytes = [0_u8; 256];
    let bytes = &mut bytes[..size_of::<T>()];
    source.read_exact(bytes)?;
    Ok(pod_read_unaligned(bytes))
}

/// A node whose numbers are in their ranges: no address, no more children than its edges have room for, and a value.
fn sound(node: Node) -> Result<Node, NoTree> {
    let most = match node.edge_state() {
        EdgeState::None | EdgeState::Priors => 0,
        EdgeState::Small => node.moves.min(2),
        EdgeState::Large => node.moves,
    };
    let bounds = node.bounds();
    let is_value =
        (-1.0..=1.0).contains(&node.wl) && (0.0..=1.0).contains(&node.d) && (0.0..=MOST_PLIES).contains(&node.m);
    let is_result = bounds.lower <= bounds.upper && bounds.upper >= -1 && bounds.lower <= 1;
    let is_whole = node.at == 0 && node.in_flight == 0 && node.children <= most;
    if is_value && is_result && is_whole { Ok(node) } else { Err(no_tree()) }
}

#[cfg(test)]
#[path = "saved_tests.rs"]
mod tests;
