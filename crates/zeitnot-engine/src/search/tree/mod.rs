//! Holds the search tree: nodes and their edges in two pools, and the ways to find them there.

pub(crate) mod allocation;
pub(crate) mod backup;
mod chunks;
pub(crate) mod edges;
pub(crate) mod expansion;
pub(crate) mod known_positions;
pub(crate) mod memory_limit;
pub(crate) mod node;
pub(crate) mod packed_move;
pub(crate) mod pool;
mod prefetch;
pub(crate) mod prior_codes;
pub(crate) mod reuse;
pub(crate) mod root_noise;
pub(crate) mod saved;
pub(crate) mod terminal;

use allocation::Restriction;
use chunks::Spare;
use edges::EdgeView;
use known_positions::Top;
use memory_limit::Sweep;
use node::{EdgeState, Node, NodeId};
use packed_move::PackedMove;
use pool::Pool;
use prefetch::prefetch;
use root_noise::RootNoise;
use std::ops::{Index, IndexMut};
use zeitnot_chess::{Game, Move};

/// Most moves of a position that the tree keeps: a node counts them in a byte. No position of a game has more than 218,
/// but one of a FEN can.
pub const MOST_MOVES: usize = 255;

/// Bytes of a cache line.
const LINE: usize = 64;

/// The search tree. It outlives a search: when the game goes on, the part below the moves played is kept.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Pool<Node>,
    words: Pool<u32>,
    /// Chunks of memory that earlier trees have left.
    spare: Spare,
    /// Subtrees that are not needed any more, by their roots. They are freed one by one when memory is wanted,
    /// so that starting a move costs the same however much of the tree it gives up.
    discarded: Vec<Node>,
    /// The positions that trees begin with, in the order in which they were left; that of the root comes last.
    tops: Vec<Top>,
    /// The nodes from the last top down to the root, and the index of the move that is made at each.
    above: Vec<(NodeId, usize)>,
    root: NodeId,
    sweeps: [Sweep; 2],
    /// A copy of the root's node from before it became the root; it counts where a move leads to the root.
    as_child: Node,
    /// The noise that a search mixes into the priors of its root.
    pub root_noise: Option<RootNoise>,
    game: Game,
    /// Number of moves before the game's last one, as long as another move may still replace that; else `None`.
    pub alternatives: Option<usize>,
    /// Whether positions that do not lie below the root are kept.
    pub keeps: bool,
    /// Whether proven results travel up the tree.
    proves: bool,
    /// The restriction of the root's last search to some moves, if it had one.
    restriction: Option<Restriction>,
    /// The greatest mean depth of a search in this tree, in plies, since the root was last empty.
    pub depth: u32,
}

impl Index<NodeId> for Tree {
    type Output = Node;
    #[inline]
    fn index(&self, id: NodeId) -> &Node {
        self.nodes.item(id.0)
    }
}

impl IndexMut<NodeId> for Tree {
    #[inline]
    fn index_mut(&mut self, id: NodeId) -> &mut Node {
        self.nodes.item_mut(id.0)
    }
}

impl Tree {
    /// An empty tree at the end of `game`.
    pub(crate) fn new(game: Game) -> Tree {
        let spare = Spare::default();
        let (mut nodes, words) = (Pool::new(spare.clone()), Pool::new(spare.clone()));
        let root = first_node(&mut nodes);
        Tree {
            nodes,
            words,
            spare,
            discarded: Vec::new(),
            tops: vec![Top::of(&game, root)],
            above: Vec::new(),
            root,
            sweeps: Default::default(),
            as_child: Node::new(),
            root_noise: None,
            game,
            alternatives: None,
            keeps: false,
            proves: true,
            restriction: None,
            depth: 0,
        }
    }

    /// The game at whose end the root stands.
    pub(crate) fn game(&self) -> &Game {
        &self.game
    }

    /// Visits of the root: what a new search finds.
    pub(crate) fn visits(&self) -> u32 {
        self[self.root].n
    }

    /// Plies the game is expected to go on from the root; `None` before the first visit.
    pub(crate) fn moves_left(&self) -> Option<f64> {
        (!self.is_empty()).then(|| f64::from(self[self.root].m))
    }

    /// Win minus loss and the probability of a draw for the side to move at the root, by the visits so far.
    pub(crate) fn root_value(&self) -> (f32, f32) {
        let root = &self[self.root];
        (-root.wl as f32, root.d)
    }

    /// The root's moves that were visited, the most visited first, with their visits.
    pub(crate) fn visited_moves(&self) -> Vec<(Move, u32)> {
        let root = &self[self.root];
        let Some(view) = self.view(root) else { return Vec::new() };
        let children = self.children(&view, root).flatten();
        let board = self.game.current().board();
        let mut visited: Vec<(Move, u32)> = view
            .moves
            .iter()
            .zip(children)
            .filter(|(_, child)| child.n > 0)
            .map(|(mv, child)| (PackedMove(*mv).unpack(board), child.n))
            .collect();
        visited.sort_by_key(|(_, visits)| std::cmp::Reverse(*visits));
        visited
    }

    /// Whether the root has no visit yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.visits() == 0
    }

    /// Whether the system refused memory to the last search.
    pub(crate) fn is_short_of_memory(&self) -> bool {
        self.nodes.is_refused() || self.words.is_refused()
    }

    /// Forgets marks of the previous search: a refusal of memory, the noise of the root, and the depth of an empty
    /// tree. `sticky`: whether proven results travel up the tree.
    pub(crate) fn begin_search(&mut self, sticky: bool) {
        self.proves = sticky;
        self.nodes.ask_again();
        self.words.ask_again();
        if self.is_empty() {
            self.depth = 0;
        }
        // Every search draws its own.
        self.set_root_noise(None);
    }

    /// Notes the mean depth of a search.
    pub(crate) fn note_depth(&mut self, mean_depth: u32) {
        self.depth = self.depth.max(mean_depth);
        if let Some(top) = self.tops.last_mut() {
            top.depth = top.depth.max(self.depth);
        }
    }

    #[cfg(any(test, feature = "testing"))]
    /// Memory taken from the system, in bytes, with the chunks that an earlier tree has not given back yet.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes_reached() + self.spare.bytes()
    }

    /// Bytes that were ever in use since the tree started anew.
    pub(crate) fn bytes_reached(&self) -> usize {
        let in_pools = self.nodes.bytes_reached() + self.words.bytes_reached();
        let listed = self.nodes.bytes_listed() + self.words.bytes_listed();
        in_pools + listed + self.discarded.capacity() * size_of::<Node>() + self.tops.capacity() * size_of::<Top>()
    }

    /// Bytes in the tree's pools that were used and given back; those never used do not count.
    pub(crate) fn bytes_free(&self) -> usize {
        self.nodes.bytes_given_back() + self.words.bytes_given_back()
    }

    /// The root, whose node counts all the visits that are known; every other node counts those that came through it.
    pub(crate) fn root(&self) -> NodeId {
        self.root
    }

    /// The moves of an expanded node; `None` while it has none, or only their priors.
    #[inline]
    pub(crate) fn view(&self, node: &Node) -> Option<EdgeView<'_>> {
        if !matches!(node.edge_state(), EdgeState::Small | EdgeState::Large) {
            return None;
        }
        let layout = edges::EdgeLayout::of(node);
        Some(EdgeView::new(self.words.run(node.at, layout.len), &layout, usize::from(node.moves)))
    }

    /// The priors of an evaluated node not expanded yet, as codes in the order of the move generator; else `None`.
    pub(crate) fn priors(&self, node: &Node) -> Option<&[u8]> {
        let run =
            (node.edge_state() == EdgeState::Priors).then(|| self.words.run(node.at, edges::priors_len(node.moves)))?;
        Some(&bytemuck::cast_slice(run)[..usize::from(node.moves)])
    }

    /// The move with the largest prior of an evaluated node not expanded yet; `None` for any other node.
    pub(crate) fn first_move(&self, node: &Node) -> Option<PackedMove> {
        let codes = self.priors(node)?;
        let largest = codes.iter().max()?;
        let number = codes.iter().position(|code| code == largest)?;
        Some(PackedMove::unresolved(number as u8))
    }

    /// The existing children of `node` in the order of its moves, segment by segment.
    #[inline]
    pub(crate) fn children<'a>(
        &'a self,
        view: &EdgeView<'a>,
        node: &Node,
    ) -> impl Iterator<Item = &'a [Node]> + use<'a> {
        let mut left = usize::from(node.children);
        view.slots.iter().enumerate().map_while(move |(slot, at)| {
            let len = left.min(edges::segment(slot));
            left -= len;
            (len > 0).then(|| self.nodes.run(*at, len))
        })
    }

    /// Prefetches the memory of a node's moves.
    #[inline]
    pub(crate) fn prefetch_edges(&self, id: NodeId) {
        let node = &self[id];
        for line in self.words.run(node.at, edges::len(node)).chunks(LINE / size_of::<u32>()) {
            prefetch(&line[0]);
        }
    }

    /// Prefetches the memory of a node's children.
    #[inline]
    pub(crate) fn prefetch_children(&self, id: NodeId) {
        let node = &self[id];
        let Some(view) = self.view(node) else { return };
        for segment in self.children(&view, node) {
            for line in segment.chunks(LINE / size_of::<Node>()) {
                prefetch(&line[0]);
            }
        }
    }

    /// The existing children of a node, in the order of its moves.
    pub(crate) fn existing_children<'a>(&'a self, node: &'a Node) -> impl Iterator<Item = NodeId> + 'a {
        (0..usize::from(node.children)).filter_map(|index| self.existing_child(node, index))
    }

    /// The child by the move with this index, if it exists.
    pub(crate) fn existing_child(&self, node: &Node, index: usize) -> Option<NodeId> {
        if index >= usize::from(node.children) {
            return None;
        }
        let (slot, offset) = edges::place(index);
        Some(NodeId(self.view(node)?.slots[slot] + offset as u32))
    }
}

/// Takes the first node of an empty pool.
pub(crate) fn first_node(nodes: &mut Pool<Node>) -> NodeId {
    let id = NodeId(nodes.take(1).expect("a pool has a chunk from the beginning"));
    *nodes.item_mut(id.0) = Node::new();
    id
}

#[cfg(test)]
mod searcher;
#[cfg(test)]
mod tests;
