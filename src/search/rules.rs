//! What gathering goes by: the rules of a search, and what it knows of its end.

use super::params::SearchParams;
use super::puct::DrawScore;
use crate::backend::Backend;
use crate::chess::Position;
use crate::tablebase::Probes;

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
