//! Gathering a batch: leaves for the network, found one visit at a time, and the collisions on the way (lc0.md C.4).

use super::backup::{backup, cancel};
use super::expand::{edges, legal_moves_or_end};
use super::node::{NodeId, Value};
use super::params::SearchParams;
use super::puct::{DrawScore, Selector};
use super::tree::Tree;
use crate::backend::{Attributes, Backend, Evaluation, Query, cache_key};
use crate::chess::{Game, Move};

/// What all gathering of one search goes by.
pub(super) struct Rules<'a> {
    pub params: &'a SearchParams,
    pub backend: &'a dyn Backend,
    pub draw: DrawScore,
    /// `go searchmoves`; empty: all.
    pub search_moves: &'a [Move],
}

/// What the search knows of its own end while it gathers.
pub(super) struct Horizon {
    /// Visits that a node limit leaves.
    pub visits_left: u64,
    /// Playouts that the stoppers expect; root moves that cannot catch up with the best one in so many are left alone.
    pub playouts_expected: f64,
    /// The root's best edge at present.
    pub best_edge: Option<usize>,
}

/// A leaf that was picked, and where its value comes from.
struct Leaf {
    path: Vec<NodeId>,
    kind: LeafKind,
}

enum LeafKind {
    Terminal,
    Known { moves: Vec<Move>, evaluation: Evaluation },
    Queued { moves: Vec<Move>, query: usize },
}

/// The leaves of one batch and the queries the network is asked for them.
#[derive(Default)]
pub(super) struct Batch {
    leaves: Vec<Leaf>,
    collisions: Vec<Vec<NodeId>>,
    queries: Vec<Query>,
}

/// What backing up some visits did to the statistics of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    pub playouts: u64,
    /// Sum of the depths of the leaves, the root's being 1.
    pub depth_sum: u64,
    pub deepest: u32,
}

impl Progress {
    fn count(&mut self, path: &[NodeId]) {
        self.playouts += 1;
        self.depth_sum += path.len() as u64;
        self.deepest = self.deepest.max(path.len() as u32);
    }
}

enum Pick {
    Visit(Vec<NodeId>),
    Collision(Vec<NodeId>),
}

impl Batch {
    /// The queries to ask the network.
    pub fn queries(&self) -> &[Query] {
        &self.queries
    }

    /// Whether there is nothing to back up.
    pub fn is_empty(&self) -> bool {
        self.leaves.is_empty()
    }

    /// Fills the batch with up to `size` leaves. `game` stands at the root, and does again afterwards.
    pub fn gather(
        &mut self,
        tree: &mut Tree,
        game: &mut Game,
        rules: &Rules,
        horizon: &Horizon,
        size: usize,
    ) -> Progress {
        let params = rules.params;
        let root_plies = game.moves().len();
        let mut progress = Progress::default();
        let expected = horizon.playouts_expected.clamp(0.0, f64::from(u32::MAX)) as u32;
        let mut collisions_left = params.collision_budget(tree.visits().min(expected));
        let out_of_order_limit = ((f64::from(params.max_out_of_order_evals_factor) * size as f64) as u64).max(1);
        while self.leaves.len() < size
            && progress.playouts < out_of_order_limit
            && progress.playouts + (self.leaves.len() as u64) < horizon.visits_left
        {
            let pick = pick(tree, game, rules, horizon);
            let path = match pick {
                Pick::Visit(path) => path,
                Pick::Collision(path) => {
                    game.truncate(root_plies);
                    self.collisions.push(path);
                    collisions_left -= 1;
                    if collisions_left == 0 {
                        break;
                    }
                    continue;
                }
            };
            let kind = self.classify(tree, &path, game, rules);
            game.truncate(root_plies);
            let leaf = Leaf { path, kind };
            if params.out_of_order_eval && !matches!(leaf.kind, LeafKind::Queued { .. }) {
                progress.count(&leaf.path);
                finish(tree, leaf, &[], params);
                self.cancel_collisions(tree);
            } else {
                self.leaves.push(leaf);
            }
        }
        progress
    }

    fn classify(&mut self, tree: &mut Tree, path: &[NodeId], game: &Game, rules: &Rules) -> LeafKind {
        let id = *path.last().expect("a path holds the root at least");
        if tree[id].is_terminal() {
            return LeafKind::Terminal;
        }
        let depth = path.len() as u32 - 1;
        let Some(moves) = legal_moves_or_end(tree, id, depth, game, rules.params) else { return LeafKind::Terminal };
        let known = rules.backend.cached(cache_key(game)).filter(|known| known.logits.len() == moves.len());
        if let Some(evaluation) = known {
            return LeafKind::Known { moves, evaluation };
        }
        self.queries.push(Query::new(game, &moves, rules.backend.attributes()));
        LeafKind::Queued { moves, query: self.queries.len() - 1 }
    }

    /// Backs the whole batch up with the network's answers to [`Batch::queries`], in their order.
    pub fn back_up(mut self, tree: &mut Tree, answers: &[Evaluation], params: &SearchParams) -> Progress {
        let mut progress = Progress::default();
        for leaf in std::mem::take(&mut self.leaves) {
            progress.count(&leaf.path);
            finish(tree, leaf, answers, params);
        }
        self.cancel_collisions(tree);
        progress
    }

    /// Forgets the batch: its visits never happened.
    pub fn cancel(mut self, tree: &mut Tree) {
        for leaf in std::mem::take(&mut self.leaves) {
            cancel(tree, &leaf.path);
        }
        self.cancel_collisions(tree);
    }

    fn cancel_collisions(&mut self, tree: &mut Tree) {
        for path in self.collisions.drain(..) {
            cancel(tree, &path);
        }
    }
}

/// Gives a leaf its edges and counts its visit.
fn finish(tree: &mut Tree, leaf: Leaf, answers: &[Evaluation], params: &SearchParams) {
    let id = *leaf.path.last().expect("a path holds the root at least");
    let (moves, evaluation) = match &leaf.kind {
        LeafKind::Terminal => {
            let node = &tree[id];
            let value = Value { wl: node.wl as f32, d: node.d, m: node.m };
            backup(tree, &leaf.path, value, params.sticky_endgames);
            return;
        }
        LeafKind::Known { moves, evaluation } => (moves, evaluation),
        LeafKind::Queued { moves, query } => (moves, &answers[*query]),
    };
    tree[id].edges = edges(moves, &evaluation.logits, params.policy_temperature);
    // The network speaks for the side to move, a node for the one who moved.
    let value = Value { wl: -evaluation.q, d: evaluation.d, m: evaluation.m.unwrap_or(0.0) };
    backup(tree, &leaf.path, value, params.sticky_endgames);
}

/// Walks from the root to a leaf by PUCT, counting the visit as on its way; `game` follows.
fn pick(tree: &mut Tree, game: &mut Game, rules: &Rules, horizon: &Horizon) -> Pick {
    let mut id = tree.root();
    let mut path = vec![id];
    loop {
        let taken = tree[id].n == 0 && tree[id].in_flight > 0;
        tree[id].in_flight += 1;
        if taken {
            return Pick::Collision(path);
        }
        if tree[id].edges.is_empty() || tree[id].is_terminal() {
            return Pick::Visit(path);
        }
        let depth = path.len() as u32 - 1;
        let index = select(tree, id, depth, rules, horizon);
        game.push(tree[id].edges[index].mv);
        id = tree.child(id, index);
        tree.reopen_stale_repetition(id, depth + 1);
        path.push(id);
    }
}

/// The edge of `id` with the highest Q + U; the first of equals.
fn select(tree: &Tree, id: NodeId, depth: u32, rules: &Rules, horizon: &Horizon) -> usize {
    let Attributes { has_moves_left, .. } = *rules.backend.attributes();
    let selector = Selector::new(tree, id, depth, rules.params, rules.draw, has_moves_left);
    let at_root = depth == 0;
    let best_visits = horizon.best_edge.filter(|_| at_root).map_or(0, |best| visits_of(tree, id, best));
    let mut best = None;
    let mut fallback = None;
    for (index, edge) in tree[id].edges.iter().enumerate() {
        let child = edge.child.map(|child| &tree[child]);
        let n_started = child.map_or(0, super::node::Node::n_started);
        if at_root {
            if !rules.search_moves.is_empty() && !rules.search_moves.contains(&edge.mv) {
                continue;
            }
            fallback.get_or_insert(index);
            let behind = best_visits.saturating_sub(child.map_or(0, |child| child.n));
            if horizon.best_edge != Some(index) && horizon.playouts_expected < f64::from(behind) {
                continue;
            }
        }
        let (q, m) = selector.utility(child);
        let score = q + m + selector.u(edge.p, n_started);
        if best.is_none_or(|(_, highest)| score > highest) {
            best = Some((index, score));
        }
        if n_started == 0 {
            // Edges are sorted by prior: no later unvisited one can score higher.
            break;
        }
    }
    best.map(|best| best.0).or(fallback).unwrap_or(0)
}

fn visits_of(tree: &Tree, id: NodeId, edge_index: usize) -> u32 {
    tree[id].edges[edge_index].child.map_or(0, |child| tree[child].n)
}
