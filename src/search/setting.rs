//! Holds what one search is asked for, the same for all its threads from beginning to end.

use super::packed::PackedMove;
use super::params::SearchParams;
use super::puct::DrawScore;
use super::ranking::Reader;
use super::request::SearchRequest;
use super::rules::Rules;
use super::state::State;
use super::tree::Tree;
use crate::backend::Backend;
use crate::chess::{Game, Move};
use crate::clock::Clock;
use crate::tablebase::Probes;
use std::sync::Arc;

/// Bytes that a tree gets in any case: a search needs some to say anything.
const SMALLEST_TREE: usize = 1 << 20;

/// What one search is asked for, and by which rules.
pub(super) struct Setting {
    pub params: SearchParams,
    pub backend: Arc<dyn Backend>,
    pub clock: Arc<dyn Clock>,
    pub game: Game,
    pub search_moves: Vec<Move>,
    /// The same, as the tree has them.
    pub packed_search_moves: Vec<u16>,
    pub multi_pv: usize,
    /// When the move's clock started, on [`Setting::clock`].
    pub start_ms: f64,
    /// The visits the root may reach at most.
    pub node_limit: u64,
    /// Positions that the network is asked at once.
    pub minibatch_size: usize,
    /// Threads that gather and evaluate.
    pub workers: usize,
    /// Playouts a second not to be exceeded; 0: no limit.
    pub nps_limit: f64,
    pub draw: DrawScore,
    /// Whether every report carries the statistics of the moves.
    pub live_stats: bool,
    /// Whether the end carries them.
    pub with_move_stats: bool,
    /// Only `stop` (or `ponderhit`) ends the search.
    pub infinite: bool,
    /// When an answer is due although nothing is evaluated, in milliseconds since the move's clock started.
    pub due_ms: Option<f64>,
    /// The tree had no node when the search began.
    pub began_empty: bool,
    pub probes: Probes,
}

/// Takes up a request on `tree`: what stays the same while the search runs, and what its threads share.
pub(super) fn take_up(
    mut tree: Tree,
    backend: Arc<dyn Backend>,
    workers: usize,
    clock: Arc<dyn Clock>,
    request: SearchRequest,
) -> (Setting, State) {
    tree.share_positions(request.params.transpositions);
    tree.follow(request.game.clone());
    tree.ask_for_memory_again();
    // Every search draws its own.
    tree.set_root_noise(None);
    let attributes = backend.attributes();
    let minibatch_size = match request.params.minibatch_size {
        0 => attributes.preferred_batch,
        size => size,
    };
    let nodes = request.limits.nodes;
    let playouts = request.limits.playouts.map(|playouts| playouts.saturating_add(u64::from(tree.visits())));
    let setting = Setting {
        draw: DrawScore::new(request.params.draw_score, request.game.current().turn()),
        nps_limit: f64::from(request.params.nps_limit),
        minibatch_size: minibatch_size.clamp(1, attributes.maximum_batch.max(1)),
        workers,
        params: request.params,
        clock,
        game: request.game,
        packed_search_moves: request.search_moves.iter().map(|mv| PackedMove::new(*mv).0).collect(),
        search_moves: request.search_moves,
        multi_pv: request.multi_pv,
        probes: request.probes,
        start_ms: request.start_ms,
        live_stats: request.with_live_stats,
        with_move_stats: request.with_move_stats,
        infinite: request.limits.infinite || request.limits.ponder,
        due_ms: request.due_ms,
        began_empty: tree.is_empty(),
        node_limit: [nodes, playouts].into_iter().flatten().min().unwrap_or(u64::from(u32::MAX)),
        backend,
    };
    let mut state = State::new(tree, request.time, request.latency, request.seed, request.limit_ms);
    // A tree that was kept may be all that the time allows, or all that was asked for.
    state.check(&setting);
    (setting, state)
}

impl Setting {
    pub fn elapsed_ms(&self) -> f64 {
        (self.clock.now_ms() - self.start_ms).max(0.0)
    }

    pub fn rules(&self) -> Rules<'_> {
        Rules {
            params: &self.params,
            backend: self.backend.as_ref(),
            has_moves_left: self.backend.attributes().has_moves_left,
            draw: self.draw,
            search_moves: &self.packed_search_moves,
            position: self.game.current(),
            probes: &self.probes,
            tree_limit: self.tree_limit(),
        }
    }

    /// Bytes that the tree may take: what the cache leaves of the limit, but never nothing.
    fn tree_limit(&self) -> Option<usize> {
        let limit = self.params.memory_limit?;
        Some(limit.saturating_sub(self.backend.cache_bytes()).max(SMALLEST_TREE))
    }

    pub fn reader<'a>(&'a self, tree: &'a Tree) -> Reader<'a> {
        Reader {
            tree,
            position: self.game.current(),
            params: &self.params,
            draw: self.draw,
            has_moves_left: self.backend.attributes().has_moves_left,
            search_moves: &self.packed_search_moves,
        }
    }
}
