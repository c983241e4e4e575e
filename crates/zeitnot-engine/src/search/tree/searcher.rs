//! Searches trees for tests, without threads, and checks the consistency of all nodes.

use super::edges::{place, segment};
use super::node::NodeId;
use super::packed_move::PackedMove;
use super::{EdgeState, Tree};
use crate::search::context::{RemainingLimits, SearchContext};
use crate::search::gather::batch::Batch;
use crate::search::params::SearchParams;
use std::sync::Arc;
use zeitnot_backend::{self, Backend, BackendSettings, Evaluator};
use zeitnot_chess::Game;

pub(super) const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

pub(super) fn game(fen: &str, moves: &str) -> Game {
    let mut game = Game::from_fen(fen, false).unwrap();
    moves.split_whitespace().for_each(|mv| game.push_uci(mv).unwrap());
    game
}

/// A tree that keeps all positions, with an evaluator to search it.
pub(super) struct Searcher {
    pub(super) tree: Tree,
    backend: Arc<dyn Backend>,
    evaluator: Box<dyn Evaluator>,
    pub(super) memory_limit: Option<usize>,
}

impl Searcher {
    pub(super) fn new(fen: &str) -> Searcher {
        let options = BackendSettings { cache_size: 0, ..BackendSettings::default() };
        let backend = zeitnot_backend::create("random", None, &options).unwrap();
        let mut tree = Tree::new(game(fen, ""));
        tree.keeps = true;
        let evaluator = backend.evaluator().unwrap();
        Searcher { tree, backend, evaluator, memory_limit: None }
    }

    /// Searches until the root has this many visits, in batches of `size`; with `give_up`, every third batch is
    /// cancelled.
    pub(super) fn search(&mut self, visits: u64, size: usize, give_up: bool) {
        let mut game = self.tree.game().clone();
        let plies = game.moves().len();
        let params = SearchParams { memory_limit: self.memory_limit, ..SearchParams::LC0 };
        let context = SearchContext::of_test(params, Arc::clone(&self.backend), game.clone());
        let limits = RemainingLimits { node_limit: visits, playouts_expected: f64::INFINITY, best_edge: None };
        let mut batch = Batch::default();
        for round in 0.. {
            if u64::from(self.tree.visits()) >= visits {
                break;
            }
            batch.begin(self.tree.visits(), &context.params, &limits);
            while batch.pick(&mut self.tree, &context, &limits, size) {
                batch.extend_leaves(&mut game, plies, &context);
                batch.back_up_out_of_order(&mut self.tree, &context);
            }
            if give_up && round % 3 == 2 {
                batch.cancel(&mut self.tree);
                continue;
            }
            if !batch.queries().is_empty() {
                let answers = self.evaluator.evaluate(batch.queries()).unwrap();
                batch.take_answers(&answers, &context);
            }
            batch.back_up(&mut self.tree, &context);
        }
    }

    /// Goes to the position after `moves` from the start, and searches until it has this many visits.
    pub(super) fn analyse(&mut self, moves: &str, visits: u64) {
        self.tree.follow(game(START, moves));
        self.search(visits, 4, false);
    }

    /// Walks through positions by the numbers of their legal moves, from 1; 0 steps back. Each position gets `visits`
    /// more. `looked_at` is called after each step with the visits known before it.
    pub(super) fn walk(&mut self, steps: &[usize], visits: u64, mut looked_at: impl FnMut(&mut Searcher, u32)) {
        let start = self.tree.game().clone();
        for step in steps {
            let mut game = self.tree.game().clone();
            let legal = game.current().legal_moves();
            match step {
                0 => game.truncate(game.moves().len().saturating_sub(1)),
                _ if legal.is_empty() => game = start.clone(),
                step => game.push(legal[(step - 1) % legal.len()]),
            }
            self.tree.follow(game);
            assert!(self.tree.has_own_visits());
            let known = self.tree.visits();
            if !self.tree.game().current().legal_moves().is_empty() {
                self.search(u64::from(known) + visits, 4, false);
            }
            looked_at(self, known);
        }
    }

    /// Visits of the root's move `mv`, in UCI notation.
    pub(super) fn visits_of(&self, mv: &str) -> u32 {
        let visited = self.tree.visited_moves();
        let is = |(known, _): &&(zeitnot_chess::Move, u32)| zeitnot_chess::to_uci(*known, false) == mv;
        visited.iter().find(is).map_or(0, |(_, visits)| *visits)
    }

    /// Checks every node: counts add up, no visits are in flight, no memory is lost, every move is legal. `is_whole`:
    /// nothing was pruned.
    pub(super) fn audit(&mut self, is_whole: bool) {
        while self.tree.free_discarded() {}
        let tree = &self.tree;
        let mut nodes = 0;
        for top in &tree.tops {
            nodes += 1;
            let chess = Game::from_fen(&top.position.fen(), false).unwrap().current().clone();
            let mut open: Vec<(NodeId, zeitnot_chess::Position)> = vec![(top.node, chess)];
            while let Some((id, position)) = open.pop() {
                let node = tree[id];
                assert_eq!(node.in_flight, 0);
                assert!(node.wl.abs() <= 1.0 + 1e-6 && (-1e-6..=1.0 + 1e-6).contains(&node.d), "{node:?}");
                let Some(view) = tree.view(&node) else {
                    assert!(!node.has_surplus() || node.edge_state() == EdgeState::Priors);
                    continue;
                };
                let children: Vec<NodeId> = tree.existing_children(&node).collect();
                let begun = (0..children.len()).map(place).filter(|(_, offset)| *offset == 0);
                nodes += begun.map(|(slot, _)| segment(slot)).sum::<usize>();
                let known = 1 + children.iter().map(|child| tree.at_rest(*child).n).sum::<u32>();
                let is_own = id == tree.root || tree.tops.iter().any(|top| top.node == id);
                match node.has_surplus() {
                    // Visits that end at a result go no further.
                    _ if node.is_terminal() => {}
                    true => assert!(known > node.n && !is_own, "{known} {node:?}"),
                    false => assert!(known == node.n || !is_own && known < node.n && !is_whole, "{known} {node:?}"),
                }
                let legal = position.legal_moves();
                for (child, mv) in children.into_iter().zip(view.moves) {
                    let packed = PackedMove(*mv);
                    let mv = packed.number().map_or_else(|| packed.unpack(position.board()), |number| legal[number]);
                    assert!(legal.contains(&mv));
                    open.push((child, position.after(mv, &[])));
                }
            }
        }
        assert_eq!(nodes, tree.nodes.in_use(), "every node is somewhere");
    }
}
