//! Gathering a batch: leaves for the network, and the collisions on the way (lc0.md C.4).
//!
//! A round of visits goes down the tree together, a level at a time: each node is looked at once, however many of them
//! pass it, and deals them out to its children. Only that and the backup need the tree. What a leaf is (its position, its
//! legal moves, what the network is asked) is found out between rounds, without the lock.

use super::backup::{Hop, backup, cancel};
use super::expand::{End, make_terminal};
use super::graph::{self, Found};
use super::node::{Body, NodeId, Terminal, Value};
use super::packed::PackedMove;
use super::params::SearchParams;
use super::positions::Identity;
use super::puct::DrawScore;
use super::select::Dealer;
use super::tree::Tree;
use crate::backend::{Backend, Query};
use crate::chess::Position;
use crate::tablebase::Probes;
use std::ops::Range;

/// What all gathering of one search goes by.
pub(super) struct Rules<'a> {
    pub params: &'a SearchParams,
    pub backend: &'a dyn Backend,
    pub has_moves_left: bool,
    pub draw: DrawScore,
    /// `go searchmoves`, packed; empty: all.
    pub search_moves: &'a [u16],
    /// The root's position.
    pub position: &'a Position,
    /// The endgame tables.
    pub probes: &'a Probes,
    /// Bytes that the tree may take; without a limit as many as it can address.
    pub tree_limit: Option<usize>,
}

impl Rules<'_> {
    /// Whether a root move, packed, may be searched.
    pub fn allows(&self, mv: u16) -> bool {
        self.search_moves.is_empty() || self.search_moves.contains(&mv)
    }
}

/// What the search knows of its own end while it gathers.
pub(super) struct Horizon {
    /// Visits that the root may have.
    pub node_limit: u64,
    /// Playouts that the stoppers expect; root moves that cannot catch up with the best one in so many are left alone.
    pub playouts_expected: f64,
    /// The root's best edge at present.
    pub best_edge: Option<usize>,
}

/// A node that visits of this batch pass.
pub(super) struct Step {
    pub node: NodeId,
    /// The shared position that the visits entered by the node; the node itself where there is none.
    pub position: NodeId,
    /// The step before, or [`ROOT`].
    pub before: u32,
    /// The number of the move that leads here.
    pub edge: u8,
    /// The move itself, or its number in the order of the move generator.
    pub mv: PackedMove,
    /// Plies below the root.
    pub depth: u32,
    pub(super) visits: u32,
}

/// Steps between asking for the children of a node and looking at them.
const LOOK_AHEAD: usize = 2;

/// How many times the visits wanted a round sends at most. With more of them, those of two large batches at once mostly
/// meet each other: kiwipete with `random`, two threads and batches of 256 is half as fast again with 2 as with no bound.
const MOST_SENT: u32 = 2;

/// Stands for the step before the root's.
pub(super) const ROOT: u32 = u32::MAX;

/// A node where visits of this batch end.
pub(super) struct Leaf {
    pub step: u32,
    pub visits: u32,
    pub kind: LeafKind,
}

pub(super) enum LeafKind {
    /// Nothing is known of it yet.
    New,
    /// Terminal already.
    Terminal,
    /// A shared position that is known, by this way or others.
    Shared,
    /// A repetition of a position on the way.
    Repeats,
    /// The game ends there.
    Ends(End),
    /// The network is asked; the number of the query.
    Queued(u32),
    /// Evaluated: its value, and where its priors are among the batch's codes.
    Known(Value, Range<usize>),
    /// Backed up.
    Done,
}

impl LeafKind {
    /// Whether all is known that it takes to back the leaf up.
    fn needs_no_network(&self) -> bool {
        matches!(
            self,
            LeafKind::Terminal | LeafKind::Shared | LeafKind::Repeats | LeafKind::Ends(_) | LeafKind::Known(..)
        )
    }
}

/// The moves of an expanded node, found on the way through it.
pub(super) struct Resolved {
    pub node: NodeId,
    /// Where they are among the batch's moves, in the order of the move generator.
    pub moves: Range<usize>,
}

/// The leaves of one batch and the queries the network is asked for them. It keeps its memory from one batch to the next.
#[derive(Default)]
pub(super) struct Batch {
    pub(super) steps: Vec<Step>,
    pub(super) leaves: Vec<Leaf>,
    /// Steps where visits came to a leaf that was taken, and how many.
    pub(super) collisions: Vec<(u32, u32)>,
    /// Queries of this batch, and then some of earlier ones.
    pub(super) queries: Vec<Query>,
    /// How many are of this one.
    pub(super) asked: usize,
    pub(super) codes: Vec<u8>,
    pub(super) moves: Vec<u16>,
    pub(super) resolved: Vec<Resolved>,
    /// Leaves before this one have been looked at.
    pub(super) looked_at: usize,
    /// The positions of the leaves that have been looked at, where positions are shared.
    pub(super) identities: Vec<Identity>,
    /// Leaves before this one have met the positions that are shared.
    pub(super) met: usize,
    /// The queries of those.
    pub(super) met_asked: usize,
    /// Steps from the root whose moves the worker's game has made.
    pub(super) trail: Vec<u32>,
    /// Visits that wait for the end of the batch.
    pub(super) waiting: u32,
    /// Visits backed up out of order.
    out_of_order: u32,
    pub(super) collided: u32,
    collision_budget: u32,
    collision_events: u32,
    dealer: Dealer,
    path: Vec<Hop>,
}

/// What backing up some visits did to the statistics of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub playouts: u64,
    /// Sum of the depths of the leaves, the root's being 1.
    pub depth_sum: u64,
    pub deepest: u32,
    /// Nodes visited for the first time.
    pub new_nodes: u64,
    /// Visits that came to nothing.
    pub collisions: u64,
}

impl Progress {
    fn count(&mut self, path: &[Hop], visits: u32) {
        self.playouts += u64::from(visits);
        self.depth_sum += path.len() as u64 * u64::from(visits);
        self.deepest = self.deepest.max(path.len() as u32);
    }
}

impl Batch {
    /// Whether there is nothing to back up.
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }

    /// Whether leaves were found that nothing is known of.
    pub fn has_news(&self) -> bool {
        self.leaves[self.looked_at..].iter().any(|leaf| matches!(leaf.kind, LeafKind::New))
    }

    /// The queries to ask the network.
    pub fn queries(&self) -> &[Query] {
        &self.queries[..self.asked]
    }

    /// Begins a batch in a tree of `visits`.
    pub fn begin(&mut self, visits: u32, params: &SearchParams, horizon: &Horizon) {
        self.clear();
        let expected = horizon.playouts_expected.clamp(0.0, f64::from(u32::MAX)) as u32;
        self.collision_budget = params.collision_visits(visits.min(expected)).max(1);
        self.collision_events = params.max_collision_events;
    }

    fn clear(&mut self) {
        self.steps.clear();
        self.leaves.clear();
        self.identities.clear();
        self.codes.clear();
        (self.waiting, self.out_of_order, self.collided) = (0, 0, 0);
        (self.looked_at, self.asked) = (0, 0);
        (self.met, self.met_asked) = (0, 0);
    }

    /// How many visits the next round may have: 0 when the batch is complete.
    fn wanted(&self, tree: &Tree, params: &SearchParams, horizon: &Horizon, size: usize) -> u32 {
        let events = self.collision_events.saturating_sub(self.collisions.len() as u32);
        if events == 0 {
            return 0;
        }
        let most = ((f64::from(params.max_out_of_order_evals_factor) * size as f64) as u32).max(1);
        let root = &tree[tree.root()];
        // Collisions come to nothing; something is always evaluated, however small the limit.
        let started = u64::from(root.n_started() - self.collided);
        let left = horizon.node_limit.saturating_sub(started).max(u64::from(started == 0));
        (size as u32)
            .saturating_sub(self.waiting)
            .min(most.saturating_sub(self.out_of_order))
            .min(self.collision_budget.saturating_sub(self.collided))
            .min(u32::try_from(left).unwrap_or(u32::MAX))
    }

    /// Sends a round of visits down the tree, counted as on their way. Returns whether there was one: not when the batch
    /// has its `size`, or none can be had.
    pub fn pick(&mut self, tree: &mut Tree, rules: &Rules, horizon: &Horizon, size: usize) -> bool {
        let wanted = self.wanted(tree, rules.params, horizon, size);
        if wanted == 0 {
            return false;
        }
        let sent = self.with_collisions(wanted);
        let mut room = wanted;
        tree.make_room(rules.tree_limit.unwrap_or(usize::MAX), sent);
        let mut next = self.steps.len();
        let node = tree.root();
        let root = Step { node, position: node, before: ROOT, edge: 0, mv: PackedMove(0), depth: 0, visits: sent };
        self.steps.push(root);
        while let Some(step) = self.steps.get(next) {
            if let Some(ahead) = self.steps.get(next + LOOK_AHEAD) {
                tree.prefetch_children(ahead.node);
            }
            let (mut id, depth, visits) = (step.node, step.depth, step.visits);
            let mut node = &mut tree[id];
            let mut taken = node.in_flight > 0;
            node.in_flight += visits;
            if rules.params.transpositions
                && let Some(position) = node.link()
            {
                if let Some(kind) = self.ends_at(tree, next, position, rules) {
                    let counted = visits.min(room);
                    room -= counted;
                    self.end_here(next, visits, counted, kind);
                    next += 1;
                    continue;
                }
                id = position;
                self.steps[next].position = id;
                node = &mut tree[id];
                taken = node.in_flight > 0;
                node.in_flight += visits;
            }
            if node.is_terminal() {
                let counted = visits.min(room);
                room -= counted;
                self.end_here(next, visits, counted, LeafKind::Terminal);
            } else if node.body() == Body::None {
                let counted = u32::from(!taken && room > 0);
                room -= counted;
                self.end_here(next, visits, counted, LeafKind::New);
            } else {
                if node.body() == Body::Priors {
                    tree.expand(id);
                }
                self.deal(tree, next, id, depth, visits, rules, horizon);
            }
            next += 1;
        }
        true
    }

    /// The visits to send for so many that count: those of this batch that came to nothing will not be the last.
    fn with_collisions(&self, wanted: u32) -> u32 {
        let counted = u64::from(self.waiting + self.out_of_order);
        let share = (counted + u64::from(self.collided)) * u64::from(wanted) / counted.max(1);
        let left = self.collision_budget.saturating_sub(self.collided);
        let most = wanted.saturating_mul(MOST_SENT).min(wanted.saturating_add(left));
        u32::try_from(share).unwrap_or(u32::MAX).clamp(wanted, most)
    }

    /// Visits end at a step; the first `counted` of them are of use.
    fn end_here(&mut self, step: usize, visits: u32, counted: u32, kind: LeafKind) {
        let step = step as u32;
        if counted > 0 {
            self.waiting += counted;
            self.leaves.push(Leaf { step, visits: counted, kind });
        }
        if visits > counted {
            self.collided += visits - counted;
            self.collisions.push((step, visits - counted));
        }
    }

    #[allow(clippy::too_many_arguments, reason = "a step of the loop above")]
    fn deal(
        &mut self,
        tree: &mut Tree,
        step: usize,
        id: NodeId,
        depth: u32,
        visits: u32,
        rules: &Rules,
        horizon: &Horizon,
    ) {
        for share in self.dealer.deal(tree, id, depth, visits, rules, horizon) {
            let node = match share.node {
                Some(node) => node,
                None => tree.child(id, usize::from(share.edge)),
            };
            if tree[node].terminal() == Terminal::TwoFold {
                let above = steps_up(&self.steps, step as u32).map(|step| step.node);
                tree.reopen_stale_repetition(node, depth + 1, above);
            }
            tree.prefetch_body(node);
            let (edge, mv, visits) = (share.edge, share.mv, share.visits);
            self.steps.push(Step { node, position: node, before: step as u32, edge, mv, depth: depth + 1, visits });
        }
    }

    /// Whether there are leaves that are backed up while the batch is still gathered, or that may turn out to be.
    pub fn has_out_of_order(&self, params: &SearchParams) -> bool {
        params.transpositions || params.out_of_order_eval && self.leaves.iter().any(|leaf| leaf.kind.needs_no_network())
    }

    /// Writes down what was found out about the leaves so far, and backs up what needs no network, unless that is to wait,
    /// too.
    pub fn settle(&mut self, tree: &mut Tree, rules: &Rules) -> Progress {
        self.write_moves(tree);
        if rules.params.transpositions {
            self.meet(tree);
        }
        let mut progress = Progress::default();
        if !rules.params.out_of_order_eval {
            return progress;
        }
        for index in 0..self.leaves.len() {
            if self.leaves[index].kind.needs_no_network() {
                self.out_of_order += self.leaves[index].visits;
                self.finish(index, tree, rules, &mut progress);
            }
        }
        if progress.playouts > 0 {
            progress.collisions = u64::from(self.collided);
            self.cancel_collisions(tree);
        }
        progress
    }

    /// Backs the whole batch up; the answers to its queries have been taken.
    pub fn back_up(&mut self, tree: &mut Tree, rules: &Rules) -> Progress {
        self.write_moves(tree);
        let mut progress = Progress::default();
        for index in 0..self.leaves.len() {
            self.finish(index, tree, rules, &mut progress);
        }
        progress.collisions = u64::from(self.collided);
        self.cancel_collisions(tree);
        progress
    }

    /// Forgets the batch: its visits never happened.
    pub fn cancel(&mut self, tree: &mut Tree) {
        self.write_moves(tree);
        for index in 0..self.leaves.len() {
            if !matches!(self.leaves[index].kind, LeafKind::Done) {
                self.trace(self.leaves[index].step);
                cancel(tree, &self.path, self.leaves[index].visits);
            }
        }
        self.cancel_collisions(tree);
        self.clear();
    }

    fn cancel_collisions(&mut self, tree: &mut Tree) {
        while let Some((step, visits)) = self.collisions.pop() {
            self.trace(step);
            cancel(tree, &self.path, visits);
        }
        self.collided = 0;
    }

    fn write_moves(&mut self, tree: &mut Tree) {
        for Resolved { node, moves } in self.resolved.drain(..) {
            tree.resolve(node, &self.moves[moves]);
        }
        self.moves.clear();
    }

    /// The way from a step up to the root.
    fn trace(&mut self, step: u32) {
        self.path.clear();
        let mut next = step;
        while let Some(step) = self.steps.get(next as usize) {
            self.path.push(Hop { node: step.node, edge: step.edge, position: step.position });
            next = step.before;
        }
    }

    /// Gives a leaf what is known of it, and counts its visits.
    fn finish(&mut self, index: usize, tree: &mut Tree, rules: &Rules, progress: &mut Progress) {
        let Leaf { step, visits, .. } = self.leaves[index];
        self.trace(step);
        let Step { node: id, position, .. } = self.steps[step as usize];
        let mut found = Found::Known;
        let value = match std::mem::replace(&mut self.leaves[index].kind, LeafKind::Done) {
            LeafKind::Done => return,
            LeafKind::Terminal | LeafKind::Shared => tree[id].value(),
            LeafKind::Repeats => {
                found = Found::Repetition;
                tree[id].value()
            }
            LeafKind::Ends(mut end) => {
                let parent = self.path.get(1).map(|parent| (parent.position, usize::from(self.path[0].edge)));
                if let (Terminal::Tablebase, Some((above, _))) = (end.kind, parent) {
                    // As far from the end as its parent was thought to be (lc0.md C.5).
                    end.m = (tree[above].m - 1.0).max(0.0);
                }
                make_terminal(tree, id, parent, end);
                tree[id].value()
            }
            LeafKind::Known(value, codes) => {
                tree.set_priors(position, &self.codes[codes]);
                found = Found::Opinion(value);
                if self.path.len() == 1 {
                    tree.settle_root(rules.position);
                }
                value
            }
            // The worker takes all answers before it backs up.
            LeafKind::New | LeafKind::Queued(_) => {
                cancel(tree, &self.path, visits);
                return;
            }
        };
        self.waiting -= visits;
        progress.count(&self.path, visits);
        progress.new_nodes += u64::from(tree[id].n == 0);
        let sticky = rules.params.sticky_endgames;
        match rules.params.transpositions {
            true => graph::backup(tree, &self.path, found, visits, sticky),
            false => backup(tree, &self.path, value, visits, sticky),
        }
    }
}

/// The steps from one up to the root.
pub(super) fn steps_up(steps: &[Step], from: u32) -> impl Iterator<Item = &Step> {
    let step = |next: u32| steps.get(next as usize);
    std::iter::successors(step(from), move |below| step(below.before))
}
