//! The tree: nodes and their moves in two pools, and a root that follows the game.

use super::body::{self, View};
use super::graph::Shared;
use super::node::{Body, Bounds, Node, NodeId, Terminal};
use super::noise::RootNoise;
use super::packed::PackedMove;
use super::policy;
use super::pool::{Pool, Spare};
use super::prefetch::prefetch;
use crate::chess::{Game, Move, Position};
use std::ops::{Index, IndexMut};

/// Moves of a position that the tree keeps: a node counts them in a byte. No position of a game has more than 218.
pub(super) const MOST_MOVES: usize = 255;

/// Abandoned nodes that are taken apart at most in the hope of a run of the length wanted.
const DISMANTLED_FOR_A_RUN: usize = 8;

/// Bytes of a cache line.
const LINE: usize = 64;

/// The search tree. It outlives a search: when the game goes on, the part below the moves played is kept.
#[derive(Debug)]
pub struct Tree {
    pub(super) nodes: Pool<Node>,
    pub(super) words: Pool<u32>,
    /// What is left of earlier trees.
    pub(super) spare: Spare,
    /// Positions that several moves lead to, if they are to share their statistics.
    pub(super) shared: Option<Shared>,
    /// What is not needed any more: each stands for all below it. They are taken apart one by one when memory is wanted,
    /// so that starting a move costs the same however much of the tree it gives up.
    pub(super) abandoned: Vec<Node>,
    pub(super) root: NodeId,
    /// The node of a root that is no shared position.
    pub(super) home: NodeId,
    /// What a search mixes into the priors of its root.
    pub(super) root_noise: Option<RootNoise>,
    pub(super) game: Game,
    pub(super) behind: Option<Behind>,
}

/// The node that the root's move came from. With it the other moves there are kept, until a search is sure that they were
/// not played: an opponent whose move was only predicted may play another.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind {
    pub node: Node,
    /// Where the root was taken from; unknown where positions are shared: then nothing is taken out of its place.
    pub child: Option<NodeId>,
    /// The shared position that was the root. It is owned from here; `node` is not in use then.
    pub position: Option<NodeId>,
    /// Moves of the game up to it.
    pub plies: usize,
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
    pub fn new(game: Game) -> Tree {
        Tree::with_spare(game, Spare::default())
    }

    fn with_spare(game: Game, spare: Spare) -> Tree {
        let mut nodes = Pool::new(spare.clone());
        let root = NodeId(nodes.take(1));
        *nodes.item_mut(root.0) = Node::new();
        let (words, abandoned) = (Pool::new(spare.clone()), Vec::new());
        Tree { nodes, words, spare, shared: None, abandoned, root, home: root, root_noise: None, game, behind: None }
    }

    /// The game at whose end the root stands.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Visits of the root: what a new search finds.
    pub fn visits(&self) -> u32 {
        self[self.root].n
    }

    /// Plies the game is expected to go on from the root; `None` before the first visit.
    pub fn moves_left(&self) -> Option<f64> {
        (!self.is_empty()).then(|| f64::from(self[self.root].m))
    }

    /// Whether nothing was searched yet.
    pub fn is_empty(&self) -> bool {
        self.visits() == 0
    }

    /// Memory taken from the system, in bytes, with what an earlier tree has not given back yet.
    pub fn bytes(&self) -> usize {
        self.nodes.bytes() + self.words.bytes() + self.spare.bytes() + self.bytes_beside()
    }

    /// What has ever been in use of it since the tree started anew.
    pub(super) fn bytes_reached(&self) -> usize {
        self.nodes.bytes_reached() + self.words.bytes_reached() + self.bytes_listed() + self.bytes_beside()
    }

    fn bytes_listed(&self) -> usize {
        self.nodes.bytes_listed() + self.words.bytes_listed()
    }

    /// Memory beside the pools.
    fn bytes_beside(&self) -> usize {
        self.shared.as_ref().map_or(0, Shared::bytes) + self.abandoned.capacity() * size_of::<Node>()
    }

    /// Bytes of it that can be used again.
    pub(super) fn bytes_free(&self) -> usize {
        self.nodes.bytes_free() + self.words.bytes_free() + self.spare.bytes()
    }

    pub(super) fn root(&self) -> NodeId {
        self.root
    }

    /// Moves the root to the end of `game`, keeping what lies below it. Returns whether it was the same game going on:
    /// the same start position, and all the moves of the old game followed by none or more new ones; its last move may
    /// have been another, as long as [`Tree::forget_alternatives`] was not called since it was made.
    pub fn follow(&mut self, game: Game) -> bool {
        if self
            .behind
            .is_some_and(|behind| !game.moves().starts_with(self.game.moves()) && behind.leads_to(&self.game, &game))
        {
            self.climb_back();
        }
        let (old, new) = (&self.game, &game);
        let same = old.positions()[0].key() == new.positions()[0].key()
            && old.positions()[0].rule50() == new.positions()[0].rule50()
            && new.moves().starts_with(old.moves());
        if !same {
            self.reset(game);
            return false;
        }
        for ply in self.game.moves().len()..game.moves().len() {
            self.descend(game.moves()[ply], ply);
            self.restart_if_forgotten();
            self.settle_root(&game.positions()[ply + 1]);
        }
        self.game = game;
        self.note_history();
        if self[self.root].is_terminal() {
            self.reopen(self.root);
        }
        true
    }

    /// A root whose moves were forgotten starts anew. Its visits tell nothing that its moves could be chosen by, and no
    /// limit would let it have the one that finds them again.
    fn restart_if_forgotten(&mut self) {
        let root = self.root;
        if self[root].is_forgotten() {
            self[root] = Node::new();
        }
    }

    /// Starts anew at the end of `game`. The old nodes are freed in the background: that takes a while for some millions.
    pub fn reset(&mut self, game: Game) {
        self.start_anew(game);
        let spare = self.spare.clone();
        if std::thread::Builder::new().name("free".to_owned()).spawn(move || spare.free()).is_err() {
            self.spare.free();
        }
    }

    /// Starts anew at the end of `game`, with the memory of the old nodes to spare.
    fn start_anew(&mut self, game: Game) {
        let shares = self.shared.is_some();
        self.nodes.retire();
        self.words.retire();
        *self = Tree::with_spare(game, self.spare.clone());
        self.shared = shares.then(Shared::default);
        self.note_history();
    }

    /// Gives up what would be needed if the last move of the game were taken back or another one.
    pub fn forget_alternatives(&mut self) {
        if let Some(behind) = self.behind.take() {
            self.let_go(behind);
        }
    }

    /// Gives up the other moves to the position before the last one, but not the way back to it.
    pub(super) fn strip_alternatives(&mut self) {
        if let Some(behind) = self.behind {
            self.behind = Some(Behind { node: Node::new(), child: None, position: None, plies: behind.plies });
            self.let_go(behind);
        }
    }

    fn let_go(&mut self, behind: Behind) {
        self.abandon(behind.node);
        if let Some(position) = behind.position {
            self.disown(position);
        }
    }

    /// Takes the last move back.
    fn climb_back(&mut self) {
        let Some(behind) = self.behind.take() else { return };
        self.game.truncate(behind.plies);
        if self.shared.is_some() {
            self.root_back_at(behind);
            return;
        }
        let root = self.root;
        let node = std::mem::replace(&mut self[root], behind.node);
        match behind.child {
            Some(child) => self[child] = node,
            None => self.abandon(node),
        }
    }

    /// Makes the child by `mv`, which follows `plies` moves, the root. The rest is kept behind it.
    fn descend(&mut self, mv: Move, plies: usize) {
        self.forget_alternatives();
        let old = self[self.root];
        let packed = PackedMove::new(mv).0;
        let index = self.view(&old).and_then(|view| view.moves.iter().position(|known| *known == packed));
        let next = index.and_then(|index| self.existing_child(&old, index));
        self.root_noise = None;
        if self.shared.is_some() {
            self.root_at(next, plies);
            return;
        }
        let root = self.root;
        self[root] = next.map_or_else(Node::new, |next| std::mem::replace(&mut self[next], Node::new()));
        self.behind = Some(Behind { node: old, child: next, position: None, plies });
    }

    /// Sorts the root's moves and makes them known: they are asked for before the search has come by again.
    pub(super) fn settle_root(&mut self, position: &Position) {
        let root = self.root;
        if self[root].body() == Body::Priors {
            self.expand(root);
        }
        let unknown = |view: View| view.moves.first().is_some_and(|mv| PackedMove(*mv).number().is_some());
        if self.view(&self[root]).is_some_and(unknown) {
            let moves: Vec<u16> = position.legal_moves().into_iter().map(|mv| PackedMove::new(mv).0).collect();
            self.resolve(root, &moves);
        }
    }

    /// Whether the root has noise, and moves that could have it.
    pub(super) fn root_noise(&self) -> Option<&RootNoise> {
        self.root_noise.as_ref()
    }

    /// Mixes noise into the priors of the root's moves, or takes it away. The order of the moves is that of their priors, so
    /// with noise there is a node for each of them from the beginning.
    pub(super) fn set_root_noise(&mut self, noise: Option<RootNoise>) {
        let root = self.root;
        if noise.is_some() && self.view(&self[root]).is_some() && self[root].moves > 0 {
            self.child(root, usize::from(self[root].moves) - 1);
        }
        self.root_noise = noise;
    }

    /// The prior of a root move, with noise if there is any. `view`: the root's moves.
    pub(super) fn root_prior(&self, view: &View, index: usize, child: Option<&Node>) -> f32 {
        self.root_noise.as_ref().map_or_else(|| view.p(index), |noise| noise.prior(view, index, child))
    }

    pub(super) fn abandon(&mut self, node: Node) {
        if node.body() != Body::None {
            self.abandoned.push(node);
        }
    }

    /// Takes one abandoned node apart. Returns whether there was one.
    pub(super) fn dismantle(&mut self) -> bool {
        let Some(node) = self.abandoned.pop() else { return false };
        if self.view(&node).is_some() {
            for index in 0..usize::from(node.children) {
                if let Some(child) = self.existing_child(&node, index) {
                    let child = self[child];
                    match child.link() {
                        Some(position) => self.disown(position),
                        None => self.abandon(child),
                    }
                }
            }
            let layout = body::Layout::of(&node);
            for slot in 0..layout.slots {
                let at = self.words.run(node.at, layout.len)[body::SLOTS + slot];
                if at != 0 {
                    self.nodes.give(at, body::segment(slot));
                }
            }
            self.words.give(node.at, layout.len);
        } else {
            self.words.give(node.at, body::priors_len(node.moves));
        }
        true
    }

    fn take_words(&mut self, len: usize) -> u32 {
        for _ in 0..DISMANTLED_FOR_A_RUN {
            if self.words.has_free(len) || !self.dismantle() {
                break;
            }
        }
        self.words.take(len)
    }

    pub(super) fn take_nodes(&mut self, len: usize) -> u32 {
        for _ in 0..DISMANTLED_FOR_A_RUN {
            if self.nodes.has_free(len) || !self.dismantle() {
                break;
            }
        }
        let at = self.nodes.take(len);
        self.nodes.run_mut(at, len).fill(Node::new());
        at
    }

    /// The moves of an expanded node; `None` while it has none, or only their priors.
    #[inline]
    pub(super) fn view(&self, node: &Node) -> Option<View<'_>> {
        if !matches!(node.body(), Body::Small | Body::Large) {
            return None;
        }
        let layout = body::Layout::of(node);
        Some(View::new(self.words.run(node.at, layout.len), &layout, usize::from(node.moves)))
    }

    /// The priors of an evaluated node that was not expanded yet, as codes in the order of the move generator.
    pub(super) fn priors(&self, node: &Node) -> Option<&[u8]> {
        let run = (node.body() == Body::Priors).then(|| self.words.run(node.at, body::priors_len(node.moves)))?;
        Some(&bytemuck::cast_slice(run)[..usize::from(node.moves)])
    }

    /// The move with the largest prior of a node that was not expanded yet.
    pub(super) fn first_move(&self, node: &Node) -> Option<PackedMove> {
        let codes = self.priors(node)?;
        let largest = codes.iter().max()?;
        let number = codes.iter().position(|code| code == largest)?;
        Some(PackedMove::unresolved(number as u8))
    }

    /// The children of `node` that there are nodes for, in the order of its moves.
    #[inline]
    pub(super) fn children<'a>(&'a self, view: &View<'a>, node: &Node) -> impl Iterator<Item = &'a [Node]> + use<'a> {
        let mut left = usize::from(node.children);
        view.slots.iter().enumerate().map_while(move |(slot, at)| {
            let len = left.min(body::segment(slot));
            left -= len;
            (len > 0).then(|| self.nodes.run(*at, len))
        })
    }

    /// Asks for the memory of a node's moves.
    #[inline]
    pub(super) fn prefetch_body(&self, id: NodeId) {
        let node = &self[id];
        let len = match node.body() {
            Body::None => {
                if let Some(position) = node.link() {
                    prefetch(&self[position]);
                }
                return;
            }
            Body::Priors => body::priors_len(node.moves),
            Body::Small | Body::Large => body::Layout::of(node).len,
        };
        for line in self.words.run(node.at, len).chunks(LINE / size_of::<u32>()) {
            prefetch(&line[0]);
        }
    }

    /// Asks for the memory of a node's children.
    #[inline]
    pub(super) fn prefetch_children(&self, id: NodeId) {
        let node = &self[id];
        let Some(view) = self.view(node) else {
            if let Some(position) = node.link() {
                self.prefetch_children(position);
            }
            return;
        };
        for segment in self.children(&view, node) {
            for line in segment.chunks(LINE / size_of::<Node>()) {
                prefetch(&line[0]);
            }
        }
    }

    /// The child by the move of that index, if there is a node for it.
    pub(super) fn existing_child(&self, node: &Node, index: usize) -> Option<NodeId> {
        if index >= usize::from(node.children) {
            return None;
        }
        let (slot, offset) = body::place(index);
        Some(NodeId(self.view(node)?.slots[slot] + offset as u32))
    }

    /// The child by the move of that index; it and those before it are made if they are not there yet. The node must be
    /// expanded.
    pub(super) fn child(&mut self, parent: NodeId, index: usize) -> NodeId {
        for missing in usize::from(self[parent].children)..=index {
            self.make_child(parent, missing);
        }
        let node = self[parent];
        let layout = body::Layout::of(&node);
        let (slot, offset) = body::place(index);
        NodeId(self.words.run(node.at, layout.len)[body::SLOTS + slot] + offset as u32)
    }

    fn make_child(&mut self, parent: NodeId, index: usize) {
        let (slot, offset) = body::place(index);
        if offset == 0 {
            if slot >= body::SMALL_SLOTS && self[parent].body() == Body::Small {
                self.enlarge(parent);
            }
            let at = self.take_nodes(body::segment(slot));
            let node = self[parent];
            self.words.run_mut(node.at, body::Layout::of(&node).len)[body::SLOTS + slot] = at;
        }
        self[parent].children = index as u8 + 1;
    }

    /// Gives a node room for all its children.
    fn enlarge(&mut self, id: NodeId) {
        let old = self[id];
        let mut new = old;
        new.set_body(Body::Large);
        let (small, large) = (body::Layout::of(&old), body::Layout::of(&new));
        new.at = self.take_words(large.len);
        let copy = self.words.run(old.at, small.len).to_vec();
        let run = self.words.run_mut(new.at, large.len);
        run.fill(0);
        run[..body::SLOTS + small.slots].copy_from_slice(&copy[..body::SLOTS + small.slots]);
        run[large.moves..].copy_from_slice(&copy[small.moves..]);
        self.words.give(old.at, small.len);
        self[id] = new;
    }

    /// Gives an evaluated node the priors of its moves, as codes in the order of the move generator.
    pub(super) fn set_priors(&mut self, id: NodeId, codes: &[u8]) {
        let at = self.take_words(body::priors_len(codes.len() as u8));
        let run = self.words.run_mut(at, body::priors_len(codes.len() as u8));
        bytemuck::cast_slice_mut::<u32, u8>(run)[..codes.len()].copy_from_slice(codes);
        let node = &mut self[id];
        (node.at, node.moves, node.children) = (at, codes.len() as u8, 0);
        node.set_body(Body::Priors);
    }

    /// Sorts the moves of an evaluated node by prior, the first of the move generator first among equals, and makes room
    /// for children. The moves are numbers as yet: see [`Tree::resolve`].
    pub(super) fn expand(&mut self, id: NodeId) {
        let old = self[id];
        let Some(codes) = self.priors(&old) else { return };
        let mut order = [0u16; MOST_MOVES];
        let order = &mut order[..codes.len()];
        for (number, (key, code)) in order.iter_mut().zip(codes).enumerate() {
            // Ascending keys: the largest code first, and then the smallest number.
            *key = u16::from(u8::MAX - code) << 8 | number as u16;
        }
        let scale = policy::scale(codes);
        if !order.is_sorted() {
            order.sort_unstable();
        }
        let mut new = old;
        new.set_body(Body::Small);
        new.children = 0;
        let layout = body::Layout::of(&new);
        new.at = self.take_words(layout.len);
        let run = self.words.run_mut(new.at, layout.len);
        run.fill(0);
        run[body::SCALE] = scale.to_bits();
        let (moves, codes) = body::moves_and_codes_mut(run, &layout, order.len());
        for ((mv, code), key) in moves.iter_mut().zip(codes).zip(order) {
            *mv = PackedMove::unresolved(*key as u8).0;
            *code = u8::MAX - (*key >> 8) as u8;
        }
        self.words.give(old.at, body::priors_len(old.moves));
        self[id] = new;
    }

    /// Tells an expanded node its moves, which come in the order of the move generator.
    pub(super) fn resolve(&mut self, id: NodeId, moves: &[u16]) {
        let node = self[id];
        if self.view(&node).is_none() {
            return;
        }
        let layout = body::Layout::of(&node);
        let run = self.words.run_mut(node.at, layout.len);
        for mv in body::moves_and_codes_mut(run, &layout, usize::from(node.moves)).0 {
            if let Some(known) = PackedMove(*mv).number().and_then(|number| moves.get(number)) {
                *mv = *known;
            }
        }
    }

    /// Takes the prior of a move away.
    pub(super) fn clear_prior(&mut self, id: NodeId, index: usize) {
        let node = self[id];
        let layout = body::Layout::of(&node);
        let run = self.words.run_mut(node.at, layout.len);
        body::moves_and_codes_mut(run, &layout, usize::from(node.moves)).1[index] = 0;
    }

    /// A terminal that is not one any more: a root, which has to be searched, or a two-fold draw whose first occurrence
    /// is now above the root. Its values come from its children again, if it has any.
    fn reopen(&mut self, id: NodeId) {
        let (mut sum, mut visits) = ((0.0, 0.0, 0.0), 0);
        let node = self[id];
        let view = self.view(&node);
        for child in view.iter().flat_map(|view| self.children(view, &node)).flatten() {
            let n = f64::from(child.n);
            sum.0 -= child.wl * n;
            sum.1 += f64::from(child.d) * n;
            sum.2 += (f64::from(child.m) + 1.0) * n;
            visits += child.n;
        }
        // The node's own first visit counts again. Where its network value is not kept, the children's mean stands for it.
        let first = u32::from(view.is_some());
        let own = self.own_value(id).filter(|_| view.is_some() && visits > 0);
        if let Some(own) = own {
            sum = (sum.0 + f64::from(own.wl), sum.1 + f64::from(own.d), sum.2 + f64::from(own.m));
        }
        let counted = visits + u32::from(own.is_some());
        let node = &mut self[id];
        node.set_terminal(Terminal::No);
        node.set_bounds(Bounds::UNKNOWN);
        (node.wl, node.d, node.m, node.n) = (0.0, 0.0, 0.0, visits + first);
        if visits > 0 {
            let n = f64::from(counted);
            (node.wl, node.d, node.m) = (sum.0 / n, (sum.1 / n) as f32, (sum.2 / n) as f32);
        }
    }

    /// Makes a two-fold draw an open node when the root has passed its first occurrence, and takes its visits out of the
    /// nodes above it, which `above` names from its parent to the root. `depth` is its distance from the root in plies.
    pub(super) fn reopen_stale_repetition(&mut self, id: NodeId, depth: u32, above: impl Iterator<Item = NodeId>) {
        let node = &self[id];
        if node.terminal() != Terminal::TwoFold || depth as f32 >= node.m {
            return;
        }
        let visits = node.n;
        let mut value = node.value();
        for above in above {
            value = value.one_ply_up();
            self[above].remove_visits(value, visits);
        }
        self.reopen(id);
    }
}

impl Behind {
    /// Whether `new` goes on from here, where `old` did.
    fn leads_to(&self, old: &Game, new: &Game) -> bool {
        old.moves().get(..self.plies).is_some_and(|moves| new.moves().starts_with(moves))
    }
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
