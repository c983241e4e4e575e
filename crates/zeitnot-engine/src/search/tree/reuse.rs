//! Reuses the tree: the root follows the game, and the rest is discarded. Sets the noise at the root.

use super::edges::EdgeView;
use super::node::{Bounds, EdgeState, Node, NodeId, Terminal};
use super::packed_move::PackedMove;
use super::position_table::SharedPositions;
use super::root_noise::RootNoise;
use super::{PreviousRoot, Tree, first_node};
use crate::chess::{Game, Move, Position};

impl Tree {
    /// Moves the root to the end of `game`, keeping what lies below it. Returns whether `game` continues the old game:
    /// the same start position, and all the moves of the old game followed by none or more new ones. Another move may
    /// stand in place of the old game's last one, as long as [`Tree::forget_alternatives`] was not called since that
    /// was made.
    ///
    /// If the last move was only taken back, the tree starts anew: that move has the visits of its own search as the
    /// root, which its parent did not allocate.
    pub(crate) fn follow(&mut self, game: Game) -> bool {
        if self.kept.is_some() {
            return self.step_to(game);
        }
        if self.previous_root.is_some_and(|previous_root| {
            !game.moves().starts_with(self.game.moves()) && previous_root.leads_to(&self.game, &game)
        }) {
            self.return_to_previous_root();
        }
        if !goes_on(&self.game, &game) {
            self.reset(game);
            return false;
        }
        for ply in self.game.moves().len()..game.moves().len() {
            self.descend(game.moves()[ply], ply);
            self.restart_if_forgotten();
            self.prepare_root(&game.positions()[ply + 1]);
        }
        self.game = game;
        self.arrive();
        true
    }

    /// Prepares the root for searches of its own, after it has become the end of the game.
    pub(super) fn arrive(&mut self) {
        self.note_history();
        if self[self.root].is_terminal() {
            self.reopen(self.root);
        }
        self.count_own_visits();
    }

    /// The network's prior of the last move of `game`, where `game` is the old game with our move and a reply to it, and
    /// the search has evaluated the position between them.
    pub(crate) fn reply_prior(&self, game: &Game) -> Option<f32> {
        let plies = self.game.moves().len();
        let &[own, reply] = game.moves().get(plies..).filter(|_| game.moves().starts_with(self.game.moves()))? else {
            return None;
        };
        let root = self[self.root];
        let own = PackedMove::new(own).0;
        let index = self.view(&root)?.moves.iter().position(|known| *known == own)?;
        let child = *self.place(&self[self.existing_child(&root, index)?]);
        let legal = game.positions()[plies + 1].legal_moves();
        let number = legal.iter().position(|mv| *mv == reply)?;
        let is_reply = |packed: &u16| {
            *packed == PackedMove::new(reply).0 || PackedMove(*packed).number().is_some_and(|known| known == number)
        };
        let view = self.view(&child)?;
        Some(view.p(view.moves.iter().position(is_reply)?))
    }

    /// Starts the root anew if its moves were pruned: its visits do not help to choose a move, and a limit on visits
    /// could refuse the one that would find the moves again.
    pub(super) fn restart_if_forgotten(&mut self) {
        let root = self.root;
        if self[root].is_pruned() {
            self[root] = Node::new();
        }
    }

    /// Starts anew at the end of `game`. The old nodes are freed in the background: that takes a while for some
    /// millions.
    pub(crate) fn reset(&mut self, game: Game) {
        self.start_anew(game);
        let spare = self.spare.clone();
        if std::thread::Builder::new().name("free".to_owned()).spawn(move || spare.free()).is_err() {
            self.spare.free();
        }
    }

    /// Starts anew at the end of `game`, with the memory of the old nodes to spare. This takes no new memory.
    pub(crate) fn start_anew(&mut self, game: Game) {
        self.nodes.start_anew();
        self.words.start_anew();
        self.root = first_node(&mut self.nodes);
        self.home = self.root;
        self.discarded = Vec::new();
        (self.root_noise, self.previous_root, self.restriction, self.game) = (None, None, None, game);
        self.shared = self.shared.is_some().then(SharedPositions::default);
        self.plant();
        self.note_history();
    }

    /// Gives up the parts that are needed only if the last move of the game is replaced by another one.
    pub(crate) fn forget_alternatives(&mut self) {
        if let Some(previous_root) = self.previous_root.take() {
            self.release(previous_root);
        }
    }

    /// Gives up the alternatives to the last move, but not the way back to the position before it.
    pub(crate) fn discard_alternatives(&mut self) {
        if let Some(previous_root) = self.previous_root {
            self.previous_root =
                Some(PreviousRoot { node: Node::new(), child: None, position: None, plies: previous_root.plies });
            self.release(previous_root);
        }
    }

    fn release(&mut self, previous_root: PreviousRoot) {
        self.discard(previous_root.node);
        if let Some(position) = previous_root.position {
            self.release_position(position);
        }
    }

    /// Takes the last move back, for another one to be made.
    fn return_to_previous_root(&mut self) {
        let Some(previous_root) = self.previous_root.take() else { return };
        self.game.truncate(previous_root.plies);
        if self.shared.is_some() {
            self.root_back_at(previous_root);
            return;
        }
        let root = self.root;
        let node = std::mem::replace(&mut self[root], previous_root.node);
        match previous_root.child {
            Some(child) => self[child] = node,
            None => self.discard(node),
        }
    }

    /// Makes the child by `mv`, which follows `plies` moves, the root. The old root is kept as the previous one.
    fn descend(&mut self, mv: Move, plies: usize) {
        self.forget_alternatives();
        let old = self[self.root];
        let packed = PackedMove::new(mv).0;
        let index = self.view(&old).and_then(|view| view.moves.iter().position(|known| *known == packed));
        let next = index.and_then(|index| self.existing_child(&old, index));
        (self.root_noise, self.restriction) = (None, None);
        if self.shared.is_some() {
            self.root_at(next, plies);
            return;
        }
        let root = self.root;
        self[root] = next.map_or_else(Node::new, |next| std::mem::replace(&mut self[next], Node::new()));
        self.previous_root = Some(PreviousRoot { node: old, child: next, position: None, plies });
    }

    /// Sorts the root's moves and resolves their numbers: they are needed before the search visits the root again.
    pub(crate) fn prepare_root(&mut self, position: &Position) {
        let root = self.root;
        if self[root].edge_state() == EdgeState::Priors {
            self.expand(root);
        }
        let unknown = |view: EdgeView| view.moves.first().is_some_and(|mv| PackedMove(*mv).number().is_some());
        if self.view(&self[root]).is_some_and(unknown) {
            let moves: Vec<u16> = position.legal_moves().into_iter().map(|mv| PackedMove::new(mv).0).collect();
            self.resolve(root, &moves);
        }
    }

    /// The noise on the root's priors; `None` without noise.
    pub(crate) fn root_noise(&self) -> Option<&RootNoise> {
        self.root_noise.as_ref()
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
        // The node's own first visit counts again. Where its network value is not kept, the children's mean stands for
        // it.
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
            self[above].remove_visits(value, visits);
        }
        self.reopen(id);
    }
}

/// Whether `new` has the start position of `old` and all its moves, followed by none or more.
pub(super) fn goes_on(old: &Game, new: &Game) -> bool {
    let (start, other) = (&old.positions()[0], &new.positions()[0]);
    start.key() == other.key() && start.rule50() == other.rule50() && new.moves().starts_with(old.moves())
}

impl PreviousRoot {
    /// Whether `new` goes on from here by another move than `old` did.
    fn leads_to(&self, old: &Game, new: &Game) -> bool {
        let goes_on = new.moves().len() > self.plies;
        goes_on && old.moves().get(..self.plies).is_some_and(|moves| new.moves().starts_with(moves))
    }
}
