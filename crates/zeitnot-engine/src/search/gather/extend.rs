//! Extends the leaves of a batch: detects ends of the game, finds evaluations in the cache, or makes queries for the
//! network. None of it needs the tree.

use super::batch::{Batch, LeafKind, ROOT, Resolved};
use crate::search::context::SearchContext;
use crate::search::params::SearchParams;
use crate::search::tree::MOST_MOVES;
use crate::search::tree::node::{NodeId, Value};
use crate::search::tree::packed_move::PackedMove;
use crate::search::tree::prior_codes;
use crate::search::tree::terminal::{end_of_game, known_by_tables};
use zeitnot_backend::{Evaluation, Query};
use zeitnot_chess::{Color, FIFTY_MOVES_PLIES, Game, Move};

impl Batch {
    /// Extends the new leaves. `game` is the worker's own; its first `root_plies` moves lead to the root.
    pub(crate) fn extend_leaves(&mut self, game: &mut Game, root_plies: usize, context: &SearchContext) {
        self.trail.clear();
        for index in self.looked_at..self.leaves.len() {
            if !matches!(self.leaves[index].kind, LeafKind::New) {
                continue;
            }
            let step = self.leaves[index].step;
            self.walk_to(step, game, root_plies);
            let depth = self.steps[step as usize].depth;
            let position = game.current();
            self.leaves[index].ends_at = depth + 1 + FIFTY_MOVES_PLIES.saturating_sub(position.rule50());
            let legal = position.legal_moves();
            let moves = &legal[..legal.len().min(MOST_MOVES)];
            self.leaves[index].kind = if let Some(end) = end_of_game(position, moves, depth, &context.params) {
                LeafKind::Ends(end)
            } else if let Some(end) = known_by_tables(position, depth, &context.probes) {
                LeafKind::Ends(end)
            } else if let Some(known) = context.cached(game).filter(|known| known.logits.len() == moves.len()) {
                self.known(&known, position.turn(), &context.params)
            } else {
                self.ask(game, moves, context);
                LeafKind::Queued(self.asked as u32 - 1)
            };
        }
        self.looked_at = self.leaves.len();
        game.truncate(root_plies);
    }

    /// Adds the query for the end of `game`, in memory left by a query of an earlier batch.
    fn ask(&mut self, game: &Game, moves: &[Move], context: &SearchContext) {
        if self.asked == self.queries.len() {
            self.queries.push(Query::default());
        }
        self.queries[self.asked].fill(game, moves, context.params.ratings, context.backend.attributes());
        self.asked += 1;
    }

    /// Takes the answers to the batch's queries, in their order.
    pub(crate) fn take_answers(&mut self, answers: &[Evaluation], context: &SearchContext) {
        let root_turn = context.position().turn();
        for index in 0..self.leaves.len() {
            if let LeafKind::Queued(query) = self.leaves[index].kind
                && let Some(answer) = answers.get(query as usize)
            {
                let depth = self.steps[self.leaves[index].step as usize].depth;
                let turn = if depth.is_multiple_of(2) { root_turn } else { !root_turn };
                self.leaves[index].kind = self.known(answer, turn, &context.params);
            }
        }
    }

    /// The leaf kind for an evaluation; its priors are added to the batch's codes. `turn`: the side to move there.
    fn known(&mut self, evaluation: &Evaluation, turn: Color, params: &SearchParams) -> LeafKind {
        let from = self.codes.len();
        prior_codes::encode(&evaluation.logits, params.policy_temperature, &mut self.codes);
        let (wl, d) = if params.wdl_rescale.is_active() {
            params.wdl_rescale.apply(evaluation.q, evaluation.d, turn)
        } else {
            (evaluation.q, evaluation.d)
        };
        // The network speaks for the side to move, a node for the one who moved.
        let value = Value { wl: -wl, d, m: evaluation.m.unwrap_or(0.0) };
        LeafKind::Known(value, from..self.codes.len())
    }

    /// Plays the moves to a step. Neighbours in a batch share most of them.
    fn walk_to(&mut self, step: u32, game: &mut Game, root_plies: usize) {
        let mut common = self.steps[step as usize].depth as usize;
        let mut next = step;
        // The steps from the leaf up to the first that the game has played are put in its place.
        self.trail.truncate(common);
        let played = self.trail.len();
        self.trail.resize(common, ROOT);
        while common > 0 && (common > played || self.trail[common - 1] != next) {
            self.trail[common - 1] = next;
            next = self.steps[next as usize].before;
            common -= 1;
        }
        game.truncate(root_plies + common);
        for ply in common..self.trail.len() {
            let step = &self.steps[self.trail[ply] as usize];
            let (mv, parent) = (step.mv, self.steps[step.before as usize].node);
            let mv = self.resolve(mv, parent, game).unpack(game.current().board());
            game.push(mv);
        }
    }

    /// The move itself, also where `mv` is only its number; `game` stands at `node`, where the move is played.
    fn resolve(&mut self, mv: PackedMove, node: NodeId, game: &Game) -> PackedMove {
        let Some(number) = mv.number() else { return mv };
        if self.resolved.last().is_none_or(|last| last.node != node) {
            let from = self.moves.len();
            let pack = |mv: Move| PackedMove::new(mv).0;
            self.moves.extend(game.current().legal_moves().into_iter().take(MOST_MOVES).map(pack));
            self.resolved.push(Resolved { node, moves: from..self.moves.len() });
        }
        let found = self.resolved.last().and_then(|last| self.moves[last.moves.clone()].get(number));
        found.map_or(mv, |mv| PackedMove(*mv))
    }
}
