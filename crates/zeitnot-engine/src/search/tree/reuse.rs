//! Moves the root through the tree: down, up and sideways with the game or the analysis. Sets the root's noise.
//!
//! The tree stays as it is, and the root stands somewhere in it; `above` is the way to it. A position that no tree leads
//! to begins a tree of its own. So whoever steps back, forth and aside through an analysis finds each position as its
//! last search left it (lc0's issues 517, 1455 and 1543). A game keeps what lies below its root.

use super::edges::EdgeView;
use super::known_positions::Top;
use super::node::{Bounds, Node, NodeId, Terminal};
use super::packed_move::PackedMove;
use super::root_noise::RootNoise;
use super::{Tree, first_node};
use zeitnot_chess::{Game, Move, Position};

impl Tree {
    /// Moves the root to the end of `game`. Returns whether `game` continues the old game: the same start position, and
    /// all the moves of the old game followed by none or more new ones. Another move may stand in place of the old
    /// game's last one, as long as [`Tree::forget_alternatives`] was not called since that was made: an opponent whose
    /// move was only predicted may play another.
    pub(crate) fn follow(&mut self, game: Game) -> bool {
        let plies = game.moves().len();
        let continues = goes_on(&self.game, self.game.moves().len(), &game);
        let new_plies = plies != self.game.moves().len();
        let replaces = self.alternatives.is_some_and(|common| common < plies && goes_on(&self.game, common, &game));
        if continues && !new_plies {
            self.game = game;
            return true;
        }
        self.go_to(game);
        self.alternatives = plies.checked_sub(1).filter(|_| continues || replaces);
        continues || replaces
    }

    /// Moves the root to the end of `game`.
    pub(super) fn go_to(&mut self, game: Game) {
        let plies = game.moves().len();
        self.leave();
        let way = loop {
            let way = (0..=plies).find_map(|ply| {
                let top = self.find_top(&game.positions()[..=ply])?;
                Some((top, ply, self.way(self.tops[top].node, &game, ply)?))
            });
            let Some((_, from, steps)) = &way else { break None };
            // A tree that begins on the way is a part of this one.
            let other = (from + 1..=plies).find_map(|ply| Some((ply, self.find_top(&game.positions()[..=ply])?)));
            let Some((ply, other)) = other else { break way };
            let (parent, index) = steps[ply - from - 1];
            self.take_up_behind(parent, index, other, &game.positions()[ply]);
        };
        match way {
            Some((top, _, way)) => {
                let top = self.tops.remove(top);
                self.root = way.last().map_or(top.node, |(node, _)| *node);
                (self.above, _) = (way, self.tops.push(top));
                if let Some((node, edge)) = self.above.last().copied() {
                    self.root = self.child(node, edge);
                }
            }
            None => {
                let node = NodeId(self.take_nodes(1));
                self.tops.push(Top::of(&game, node));
                (self.root, self.above) = (node, Vec::new());
            }
        }
        let is_unused = |tree: &Tree, top: &Top| tree[top.node].n == 0 && !tree[top.node].has_edges();
        while let Some(unused) = self.tops[..self.tops.len() - 1].iter().position(|top| is_unused(self, top)) {
            self.discard_top(unused);
        }
        (self.game, self.sweeps) = (game, Default::default());
        self.depth = self.tops.last().map_or(0, |top| top.depth);
        self.arrive();
    }

    /// The way from a top, where `game` stands after `from` plies, to the end of the game; the last move may lead to a
    /// child that has no node yet. `None` where the tree does not know the way.
    fn way(&self, top: NodeId, game: &Game, from: usize) -> Option<Vec<(NodeId, usize)>> {
        let (mut at, mut way) = (Some(top), Vec::new());
        for (mv, position) in game.moves()[from..].iter().zip(&game.positions()[from..]) {
            let node = at?;
            let index = self.move_index(&self[node], position, *mv)?;
            way.push((node, index));
            at = self.existing_child(&self[node], index);
        }
        Some(way)
    }

    /// The index of a move among those of an expanded node, whose position is `position`.
    pub(super) fn move_index(&self, node: &Node, position: &Position, mv: Move) -> Option<usize> {
        let view = self.view(node)?;
        let is_numbered = view.moves.first().is_some_and(|mv| PackedMove(*mv).number().is_some());
        let packed = match is_numbered {
            true => PackedMove::unresolved(position.legal_moves().iter().position(|legal| *legal == mv)? as u8),
            false => PackedMove::new(mv),
        };
        view.moves.iter().position(|known| *known == packed.0)
    }

    /// Makes the root an ordinary node again, before another one becomes the root. Visits of searches from here do not
    /// count for the move that leads here, but the values above are corrected by what they found.
    pub(super) fn leave(&mut self) {
        self.restrict_root(&[]);
        self.set_root_noise(None);
        let (mut id, mut before) = (self.root, self.as_child);
        self[id] = self.as_left();
        for (parent, edge) in self.above.clone().into_iter().rev() {
            if self.proves && !self[id].is_terminal() {
                self.prove(id, Some((parent, edge)), None);
            }
            let (after, known) = (self[id], self[parent]);
            if known.is_terminal() || after.is_as_valued(&before) {
                break;
            }
            self.correct(parent, &before, &after);
            (id, before) = (parent, known);
        }
    }

    /// The root as an ordinary node, which counts the visits that came through it.
    pub(super) fn as_left(&self) -> Node {
        let (mut node, as_child) = (self[self.root], self.as_child);
        if self.above.is_empty() {
            return node;
        }
        let known = node.n;
        node.n = as_child.n;
        node.set_surplus(known > as_child.n && node.has_edges());
        if as_child.is_terminal() || known < as_child.n {
            node.take_result_of(&as_child);
        } else if as_child.n == 0 && self.game.outcome().is_some() {
            node.make_terminal(0, 0.0, Terminal::End);
        }
        node
    }

    /// Corrects a node's value after a child has changed from `before` to `after`, with its visits unchanged.
    pub(super) fn correct(&mut self, id: NodeId, before: &Node, after: &Node) {
        let all = self.known_visits(&self[id]).max(1);
        let share = f64::from(after.n) / f64::from(all);
        let node = &mut self[id];
        node.wl -= share * (after.wl - before.wl);
        node.d += share as f32 * (after.d - before.d);
        node.m += share as f32 * (after.m - before.m);
    }

    /// Prepares the root for searches of its own, after it has become the end of the game.
    pub(super) fn arrive(&mut self) {
        let root = self.root;
        self.as_child = self[root];
        if self[root].is_pruned() {
            // Its visits do not help to choose a move, and a limit on visits could refuse the one that finds moves again.
            self[root] = Node::new();
        }
        let position = self.game.current().clone();
        self.prepare_root(&position);
        if self[root].is_terminal() {
            self.reopen(root);
        }
        self.count_own_visits(root);
        self.take_up_known_positions();
    }

    /// The network's prior of the last move of `game`, where `game` is the old game with our move and a reply to it, and
    /// the search has evaluated the position between them.
    pub(crate) fn reply_prior(&self, game: &Game) -> Option<f32> {
        let plies = self.game.moves().len();
        let &[own, reply] = game.moves().get(plies..).filter(|_| game.moves().starts_with(self.game.moves()))? else {
            return None;
        };
        let root = self[self.root];
        let index = self.move_index(&root, self.game.current(), own)?;
        let child = self[self.existing_child(&root, index)?];
        let reply = self.move_index(&child, &game.positions()[plies + 1], reply)?;
        Some(self.view(&child)?.p(reply))
    }

    /// Starts anew at the end of `game`. The old nodes are freed in the background: that takes a while for millions.
    pub(crate) fn reset(&mut self, game: Game) {
        self.start_anew(game);
        let spare = self.spare.clone();
        if std::thread::Builder::new().name("free".to_owned()).spawn(move || spare.free()).is_err() {
            self.spare.free();
        }
    }

    /// Starts anew at the end of `game`, in the memory of the old nodes; this takes no new memory.
    pub(crate) fn start_anew(&mut self, game: Game) {
        self.nodes.start_anew();
        self.words.start_anew();
        self.root = first_node(&mut self.nodes);
        self.tops = vec![Top::of(&game, self.root)];
        (self.above, self.discarded) = (Vec::new(), Vec::new());
        (self.root_noise, self.alternatives, self.restriction) = (None, None, None);
        (self.keeps, self.game, self.sweeps) = (false, game, Default::default());
    }

    /// Notes, before a search begins, that the last move of the game was really played. Unless the tree keeps all
    /// positions, it gives up all but the part below the root.
    pub(crate) fn forget_alternatives(&mut self) {
        self.alternatives = None;
        if self.keeps || self.above.is_empty() && self.tops.len() == 1 {
            return;
        }
        debug_assert_eq!(self[self.root].in_flight, 0, "batches know the root by its place");
        if self.is_empty() && !self[self.root].has_edges() {
            return self.reset(self.game.clone());
        }
        let root = self.root;
        let node = std::mem::replace(&mut self[root], Node::new());
        while !self.tops.is_empty() {
            self.discard_top(0);
        }
        let root = NodeId(self.take_nodes(1));
        (self.root, self.above, self[root]) = (root, Vec::new(), node);
        self.tops.push(Top { depth: self.depth, ..Top::of(&self.game, root) });
    }

    /// Gives up the tree of the top with this index.
    pub(super) fn discard_top(&mut self, index: usize) {
        let top = self.tops.remove(index).node;
        let node = self[top];
        self.discard(node);
        self.nodes.give(top.0, 1);
    }

    /// Sorts the root's moves and resolves their numbers: they are needed before the search visits the root again.
    pub(crate) fn prepare_root(&mut self, position: &Position) {
        let root = self.root;
        self.expand(root);
        let moves: Vec<u16> = position.legal_moves().into_iter().map(|mv| PackedMove::new(mv).0).collect();
        self.resolve(root, &moves);
    }

    /// Mixes noise into the priors of the root's moves, or takes it away (`None`). The moves are sorted by prior
    /// without noise, so with noise each of them has a node from the beginning.
    pub(crate) fn set_root_noise(&mut self, noise: Option<RootNoise>) {
        let root = self.root;
        if noise.is_some() && self.view(&self[root]).is_some() && self[root].moves > 0 {
            self.child(root, usize::from(self[root].moves) - 1);
        }
        self.root_noise = noise;
    }

    /// The prior of a root move, with noise if there is any. `view`: the root's moves.
    pub(crate) fn root_prior(&self, view: &EdgeView, index: usize, child: Option<&Node>) -> f32 {
        self.root_noise.as_ref().map_or_else(|| view.p(index), |noise| noise.prior(view, index, child))
    }

    /// Makes a terminal node open again: a root, which has to be searched, or a two-fold draw whose first occurrence is
    /// now above the root. Its value comes from its children again, if it has any.
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
        // The node's own first visit counts again; the children's mean stands for its value, which is not kept.
        let first = u32::from(view.is_some());
        let node = &mut self[id];
        node.set_terminal(Terminal::No);
        node.set_bounds(Bounds::UNKNOWN);
        (node.wl, node.d, node.m, node.n) = (0.0, 0.0, 0.0, visits + first);
        node.set_surplus(false);
        if visits > 0 {
            let n = f64::from(visits);
            (node.wl, node.d, node.m) = (sum.0 / n, (sum.1 / n) as f32, (sum.2 / n) as f32);
        }
    }

    /// Makes a two-fold draw an open node when the root has passed its first occurrence, and takes its visits out of
    /// the nodes above it, which `above` names from its parent to the root. `depth`: plies from the root to the node.
    pub(crate) fn reopen_stale_repetition(&mut self, id: NodeId, depth: u32, above: impl Iterator<Item = NodeId>) {
        let node = &self[id];
        if node.terminal() != Terminal::TwoFold || depth as f32 >= node.m {
            return;
        }
        let visits = node.n;
        let mut value = node.value();
        for above in above {
            value = value.one_ply_up();
            if self[above].has_surplus() {
                // It is not known which of them came through it.
                break;
            }
            self[above].remove_visits(value, visits);
        }
        self.reopen(id);
        self.set_visits(id, 0);
    }
}

/// Whether `new` has the start position of `old` and its first `plies` moves, followed by none or more.
fn goes_on(old: &Game, plies: usize, new: &Game) -> bool {
    let (start, other) = (&old.positions()[0], &new.positions()[0]);
    let is_start = start.key() == other.key() && start.rule50() == other.rule50();
    is_start && old.moves().get(..plies).is_some_and(|moves| new.moves().starts_with(moves))
}

#[cfg(test)]
#[path = "reuse_tests.rs"]
mod tests;
