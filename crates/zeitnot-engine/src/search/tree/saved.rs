//! Writes trees as bytes, and reads them again.
//!
//! Numbers are little-endian. After the head come the trees, each with the node of its top and then the *bodies*, in the
//! order in which a walk finds them that goes down first: the words of a node's edges without the places of its children,
//! and the nodes of these. So the bytes can only be a tree. Every move is compared with the legal moves of its position,
//! and every number with its range: a file may come from anywhere.

use super::allocation::Restriction;
use super::edges::{EdgeLayout, SCALE, SLOTS, priors_len};
use super::known_positions::Top;
use super::node::{EdgeState, Node, NodeId};
use super::packed_move::PackedMove;
use super::{MOST_MOVES, Tree};
use bytemuck::{Pod, bytes_of, cast_slice, cast_slice_mut, pod_read_unaligned};
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use thiserror::Error;
use zeitnot_chess::{Game, Position};

/// Why bytes are not read as a tree.
#[derive(Debug, Error)]
pub(crate) enum NoTree {
    #[error(transparent)]
    Unread(#[from] io::Error),
    #[error("its positions do not fit together")]
    Unfit,
    #[error("it is larger than the memory limit")]
    TooLarge,
}

/// The position that a saved tree begins with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SavedTop {
    fen: String,
    /// [`Top::history`].
    history: u64,
}

/// Trees as bytes, with the positions that they begin with and their number of nodes.
#[derive(Debug, PartialEq)]
pub(crate) struct Saved {
    pub tops: Vec<SavedTop>,
    pub bytes: Vec<u8>,
    /// Nodes with visits.
    pub positions: usize,
}

/// Most visits of a node that is read: below the largest count, so that a search can add some.
const MOST_VISITS: u32 = 4_000_000_000;

/// Numbers of words of a node's edges: before the places of its children, of these places, and after them.
fn parts(node: &Node) -> [usize; 3] {
    match node.edge_state() {
        EdgeState::None => [0; 3],
        EdgeState::Priors => [0, 0, priors_len(node.moves)],
        EdgeState::Small | EdgeState::Large => {
            let layout = EdgeLayout::of(node);
            [SLOTS, layout.slots, layout.len - layout.moves]
        }
    }
}

impl Tree {
    /// The trees as bytes; `None` for a tree that keeps nothing besides what lies below its root.
    pub(crate) fn save(&self) -> Option<Saved> {
        if !self.keeps {
            return None;
        }
        let Restriction { moves, visits } = self.restriction.clone().unwrap_or_default();
        let head = [self.depth, moves.len() as u32, visits.len() as u32].into_iter();
        let head: Vec<u32> = head.chain(moves.into_iter().map(u32::from)).chain(visits).collect();
        let mut bytes = cast_slice::<u32, u8>(&head).to_vec();
        let mut positions = 0;
        let mut write = |node: &Node, bytes: &mut Vec<u8>| {
            positions += usize::from(node.n > 0);
            bytes.extend(bytes_of(&Node { at: 0, ..*node }));
        };
        for top in &self.tops {
            let mut open = vec![self.at_rest(top.node)];
            write(&open[0], &mut bytes);
            while let Some(node) = open.pop() {
                let [before, places, after] = parts(&node);
                let words: &[u8] = cast_slice(self.words.run(node.at, before + places + after));
                bytes.extend(&words[..before * size_of::<u32>()]);
                bytes.extend(&words[(before + places) * size_of::<u32>()..]);
                let first = open.len();
                for child in self.existing_children(&node).map(|child| self.at_rest(child)) {
                    write(&child, &mut bytes);
                    open.extend(child.has_edges().then_some(child));
                }
                open[first..].reverse();
            }
        }
        let tops = self.tops.iter().map(|top| SavedTop { fen: top.position.fen(), history: top.history });
        Some(Saved { tops: tops.collect(), bytes, positions })
    }

    /// A node as it is when no search is under way and the root is elsewhere.
    pub(super) fn at_rest(&self, id: NodeId) -> Node {
        Node { in_flight: 0, ..if id == self.root { self.as_left() } else { self[id] } }
    }

    /// Reads the trees that [`Tree::save`] wrote, from several sources with their games; the root is at the end of the
    /// first game. `limit`: most bytes of memory. A position that several trees hold is there once.
    ///
    /// # Errors
    /// [`NoTree`].
    pub(crate) fn load<R: Read>(
        sources: impl IntoIterator<Item = (Game, Vec<SavedTop>, R)>,
        limit: usize,
    ) -> Result<Tree, NoTree> {
        let (mut tree, mut first) = (Tree::new(Game::new()), None);
        for (game, tops, mut source) in sources {
            // Visits of a search among some moves are taken back, and the root is the top of a tree.
            tree.go_to(Game::new());
            let [depth, moves, visits] = take::<[u32; 3]>(&mut source)?;
            if moves.max(visits) as usize > MOST_MOVES {
                return Err(NoTree::Unfit);
            }
            tree.depth = tree.depth.max(depth);
            let mut list = |len: u32| (0..len).map(|_| take::<u32>(&mut source)).collect::<Result<Vec<u32>, NoTree>>();
            let moves: Vec<u16> = list(moves)?.into_iter().map(|mv| mv as u16).collect();
            let visits = list(visits)?;
            tops.iter().try_for_each(|top| tree.read(top, game.is_chess960(), &mut source, limit))?;
            // A checksum comes at the end.
            if source.read(&mut [0])? > 0 {
                return Err(NoTree::Unfit);
            }
            tree.go_to(game.clone());
            tree.restriction = (!moves.is_empty()).then_some(Restriction { moves, visits });
            first.get_or_insert(game);
        }
        tree.keeps = true;
        tree.follow(first.unwrap_or_default());
        Ok(tree)
    }

    /// Reads the tree of a top.
    fn read(&mut self, top: &SavedTop, chess960: bool, source: &mut impl Read, limit: usize) -> Result<(), NoTree> {
        let position = Game::from_fen(&top.fen, chess960).map_err(|_| NoTree::Unfit)?.current().clone();
        let node = NodeId(self.take_nodes(1));
        self[node] = sound(take(source)?)?;
        let mut open = vec![(node, position.clone())];
        open.retain(|(top, _)| self[*top].has_edges());
        while let Some((id, position)) = open.pop() {
            let first = open.len();
            self.read_body(id, &position, source, &mut open)?;
            open[first..].reverse();
            if self.bytes_reached() > limit {
                return Err(NoTree::TooLarge);
            }
        }
        self.count_own_visits(node);
        let known = self.tops.iter().find(|known| known.is(&position, || top.history)).map(|known| known.node);
        let place = self.tops.len() - 1;
        self.tops.insert(place, Top { node, position, history: top.history, depth: self.depth });
        if let Some(known) = known {
            self.take_up(known, place);
            self.count_own_visits(known);
        }
        Ok(())
    }

    /// Reads the body of a node, and adds the children that have bodies to `open`.
    fn read_body(
        &mut self,
        id: NodeId,
        position: &Position,
        source: &mut impl Read,
        open: &mut Vec<(NodeId, Position)>,
    ) -> Result<(), NoTree> {
        let (node, legal) = (self[id], position.legal_moves());
        self[id].children = 0;
        if usize::from(node.moves) != legal.len().min(MOST_MOVES) || legal.is_empty() {
            return Err(NoTree::Unfit);
        }
        let [before, places, after] = parts(&node);
        let at = self.take_words(before + places + after);
        self[id].at = at;
        let run = self.words.run_mut(at, before + places + after);
        run.fill(0);
        source.read_exact(cast_slice_mut(&mut run[..before]))?;
        source.read_exact(cast_slice_mut(&mut run[before + places..]))?;
        if node.edge_state() == EdgeState::Priors {
            return Ok(());
        }
        let scale = f32::from_bits(run[SCALE]);
        let packed: Vec<u16> = legal.iter().take(MOST_MOVES).map(|mv| PackedMove::new(*mv).0).collect();
        let moves: &mut [u16] = &mut cast_slice_mut(&mut run[before + places..])[..packed.len()];
        for mv in moves.iter_mut() {
            *mv = PackedMove(*mv).number().map_or(Some(*mv), |number| packed.get(number).copied()).unwrap_or_default();
        }
        let moves = moves.to_vec();
        let is_as = |mv: &u16| moves.iter().filter(|known| *known == mv).count() == 1;
        if !(packed.iter().all(is_as) && scale > 0.0 && scale <= 1.0) {
            return Err(NoTree::Unfit);
        }
        let mut known = 1_u32;
        for (index, mv) in moves[..usize::from(node.children)].iter().enumerate() {
            let child = sound(take(source)?)?;
            known = known.checked_add(child.n).filter(|known| *known <= MOST_VISITS).ok_or(NoTree::Unfit)?;
            let place = self.child(id, index);
            self[place] = child;
            if child.has_edges() {
                open.push((place, position.after(PackedMove(*mv).unpack(position.board()), &[])));
            }
        }
        self.set_visits(id, node.n);
        Ok(())
    }
}

/// The next bytes of a source.
fn take<T: Pod>(source: &mut impl Read) -> Result<T, NoTree> {
    let mut bytes = [0_u8; size_of::<Node>()];
    source.read_exact(&mut bytes[..size_of::<T>()])?;
    Ok(pod_read_unaligned(&bytes[..size_of::<T>()]))
}

/// Checks that a node's numbers are possible: value, visits, no address, no more children than its edges have room for.
fn sound(node: Node) -> Result<Node, NoTree> {
    let most = match node.edge_state() {
        EdgeState::None | EdgeState::Priors => 0,
        EdgeState::Small => node.moves.min(2),
        EdgeState::Large => node.moves,
    };
    let bounds = node.bounds();
    let is_result = bounds.lower <= bounds.upper && bounds.upper >= -1 && bounds.lower <= 1;
    let is_value = (-1.0..=1.0).contains(&node.wl) && (0.0..=1.0).contains(&node.d) && (0.0..1e9).contains(&node.m);
    let is_whole = node.n <= MOST_VISITS && node.at == 0 && node.in_flight == 0 && node.children <= most;
    if is_value && is_result && is_whole { Ok(node) } else { Err(NoTree::Unfit) }
}

#[cfg(test)]
#[path = "saved_tests.rs"]
mod tests;
