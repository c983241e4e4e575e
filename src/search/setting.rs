//! What one search is asked for, the same for all its threads from beginning to end.

use super::clock::Clock;
use super::params::SearchParams;
use super::puct::DrawScore;
use super::ranking::Reader;
use super::rules::Rules;
use super::tree::Tree;
use crate::backend::Backend;
use crate::chess::{Game, Move};
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
    pub probes: Probes,
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
