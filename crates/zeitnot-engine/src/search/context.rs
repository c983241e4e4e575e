//! Holds the facts of one search that stay the same for all its threads from beginning to end: the request, the
//! backend, the parameters.

use crate::search::params::SearchParams;
use crate::tablebase::Probes;
use std::sync::Arc;
use zeitnot_backend::{Backend, Evaluation, cache_key};
use zeitnot_base::clock::Clock;
use zeitnot_chess::{Color, Game, Move, Position};

/// Fewest bytes that a tree gets, whatever the limit: without any a search has no result.
const SMALLEST_TREE: usize = 1 << 20;

/// The facts of one search that stay the same.
pub(crate) struct SearchContext {
    pub params: SearchParams,
    pub backend: Arc<dyn Backend>,
    pub clock: Arc<dyn Clock>,
    pub game: Game,
    pub search_moves: Vec<Move>,
    /// Root moves to search, packed as in the tree.
    pub packed_search_moves: Vec<u16>,
    pub multi_pv: usize,
    /// Whether root moves that are proven won get no more visits, so that the other lines of `MultiPV` get them;
    /// `false` where the move is drawn by its visits.
    pub leaves_wins: bool,
    /// The mean depth that was asked for, in plies.
    pub depth_limit: Option<u32>,
    /// Positions in one call of the network.
    pub minibatch_size: usize,
    /// Fewest positions in a batch while the tree is small; at most `minibatch_size`.
    pub least_batch: usize,
    /// Most visits that a batch may back up out of order, as a multiple of its size.
    pub most_out_of_order: f32,
    /// Threads that gather and evaluate.
    pub workers: usize,
    /// Playouts a second not to be exceeded; 0: no limit.
    pub nps_limit: f64,
    pub draw: DrawScore,
    /// Whether the network has a moves-left head.
    pub has_moves_left: bool,
    /// Whether the search began on the opponent's time.
    pub pondering: bool,
    /// Whether every report carries the statistics of the moves.
    pub live_stats: bool,
    /// Whether the end carries statistics of the moves.
    pub with_move_stats: bool,
    pub probes: Probes,
}

impl SearchContext {
    /// The root's position.
    pub(crate) fn position(&self) -> &Position {
        self.game.current()
    }

    /// The cached evaluation of the last position of `game`.
    pub(crate) fn cached(&self, game: &Game) -> Option<Evaluation> {
        self.backend.cached(cache_key(game, self.params.ratings))
    }

    /// Splits a batch of `positions` that took `took_ms` in all into the network's calls: the positions and the time of
    /// each.
    pub(crate) fn calls(&self, positions: usize, took_ms: f64) -> impl Iterator<Item = (usize, f64)> + use<> {
        let calls = positions.div_ceil(self.minibatch_size);
        (0..calls).map(move |_| (positions / calls, took_ms / calls as f64))
    }

    /// Whether a root move, packed, may be searched.
    pub(crate) fn allows(&self, mv: u16) -> bool {
        self.packed_search_moves.is_empty() || self.packed_search_moves.contains(&mv)
    }

    /// Bytes that the tree may take, without the share of the cache; `None`: no limit.
    pub(crate) fn tree_limit(&self) -> Option<usize> {
        Some(tree_share(self.params.memory_limit?, self.backend.cache_bytes()))
    }
}

/// The part of a memory limit, in bytes, that a cache of `cache_bytes` leaves to the tree.
pub(crate) fn tree_share(limit: usize, cache_bytes: usize) -> usize {
    limit.saturating_sub(cache_bytes).max(SMALLEST_TREE)
}

/// The worth of a draw to the player who moved into a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawScore {
    for_root_mover: f32,
}

impl DrawScore {
    /// `white` is the value of a draw for White; `turn` the side to move at the root.
    pub(crate) fn new(white: f32, turn: Color) -> DrawScore {
        DrawScore { for_root_mover: if turn.is_white() { white } else { -white } }
    }

    /// Score of a draw for the player who moved into a node `depth` plies below the root (0: the root itself).
    pub(crate) fn at(self, depth: u32) -> f32 {
        if depth % 2 == 1 { self.for_root_mover } else { -self.for_root_mover }
    }
}

/// The limits that a search observes while it gathers a batch.
pub(crate) struct RemainingLimits {
    /// Most visits that the root may have.
    pub node_limit: u64,
    /// Playouts that the stoppers still expect; root moves that cannot catch up with the best in these get no visits.
    pub playouts_expected: f64,
    /// The root's best edge at present.
    pub best_edge: Option<usize>,
}

#[cfg(test)]
impl SearchContext {
    /// A context of a unit test: no limits, no clock that moves.
    pub fn of_test(params: SearchParams, backend: Arc<dyn Backend>, game: Game) -> SearchContext {
        SearchContext {
            draw: DrawScore::new(params.draw_score, game.current().turn()),
            has_moves_left: backend.attributes().has_moves_left,
            nps_limit: 0.0,
            minibatch_size: 1,
            least_batch: 1,
            most_out_of_order: params.max_out_of_order_evals_factor,
            workers: 1,
            params,
            clock: Arc::new(zeitnot_base::clock::VirtualClock::new(1.0)),
            game,
            packed_search_moves: Vec::new(),
            search_moves: Vec::new(),
            multi_pv: 1,
            leaves_wins: false,
            probes: Probes::default(),
            pondering: false,
            live_stats: false,
            with_move_stats: false,
            depth_limit: None,
            backend,
        }
    }
}
