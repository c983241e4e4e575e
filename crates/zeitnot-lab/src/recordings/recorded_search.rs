//! Holds one recorded search: the facts of its position, and its root at growing counts of visits.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use zeitnot_time::{MoveRequest, SearchSnapshot};

/// The search of one position, as it grew.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedSearch {
    /// The index of the game, from 0; the recorded searches of one game are of one side, in order.
    pub game: u32,
    /// Plies from the game's start position.
    pub ply: u32,
    /// The ply as time managers count it, by the move number of the position.
    pub game_ply: u32,
    /// The position.
    pub fen: String,
    /// The move that was played in the game, in UCI notation; empty without one.
    pub played: String,
    /// Plies of the game from here to its end; 0 without a game.
    pub plies_left: u32,
    /// Visits of the root in the reused tree, which the searches of earlier moves left.
    pub reused: u64,
    /// Plies left in the game as the network expected them in the reused tree.
    pub moves_left_plies: Option<f32>,
    /// Pieces on the board.
    pub pieces: u32,
    pub legal_moves: u32,
    /// Legal moves that capture.
    pub captures: u32,
    /// Whether the side to move is in check.
    pub in_check: bool,
    /// The moves that were searched; all lists in the snapshots have this order.
    pub moves: Vec<RecordedMove>,
    /// The root, at growing counts of visits.
    pub snapshots: Vec<RecordedSnapshot>,
    /// The value of each move for the side to move, -1 to 1, by another engine; `None` where it was not asked, and empty
    /// without a judgement.
    #[serde(skip)]
    pub judged: Vec<Option<f64>>,
}

/// A root move of a recorded search.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedMove {
    /// The move in UCI notation, castling as king takes rook.
    pub uci: String,
    pub prior: f32,
}

/// The root at one moment of a search: a [`SearchSnapshot`] without its time, and the value of each move.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RecordedSnapshot {
    /// Visits made by this search.
    pub new_nodes: u64,
    /// Visits of the root.
    pub total_nodes: u64,
    /// Batches evaluated.
    pub batches: u64,
    /// Mean depth, in whole plies.
    pub average_depth: u32,
    /// The shortest proven mate, in moves.
    pub mate_depth: Option<u32>,
    /// Whether a move wins by force.
    pub win_found: bool,
    /// Whether the position is as good as lost.
    pub may_resign: bool,
    /// Whether the most visited move is not the best by value.
    pub need_more_time: bool,
    /// Number of moves proven lost.
    pub losing_edges: u32,
    /// The move that would be played, by its index among the moves.
    pub best_move: Option<u32>,
    /// Plies left in the game as the network expects them.
    pub moves_left_plies: Option<f32>,
    /// Visits of each move.
    pub visits: Vec<u32>,
    /// The expected result of each move for the side to move, -1 to 1, in steps of 0.0001; `None` before its first
    /// visit.
    pub values: Vec<Option<f32>>,
}

impl RecordedSnapshot {
    /// The root interpolated between this snapshot (`share` 0) and a later one (1): counts grow evenly, all else stays.
    pub(crate) fn towards(&self, later: &RecordedSnapshot, share: f64) -> RecordedSnapshot {
        let between = |from: u64, to: u64| (from as f64 + (to as f64 - from as f64) * share).round() as u64;
        let visits = self.visits.iter().zip(&later.visits);
        RecordedSnapshot {
            new_nodes: between(self.new_nodes, later.new_nodes),
            total_nodes: between(self.total_nodes, later.total_nodes),
            batches: between(self.batches, later.batches),
            visits: visits.map(|(from, to)| between((*from).into(), (*to).into()) as u32).collect(),
            ..self.clone()
        }
    }

    /// The search as a time manager sees it after `new_nodes` playouts, `elapsed_ms` after the move's clock started and
    /// `since_first_batch_ms` after its first batch; `priors` are the priors of the recorded search.
    pub(crate) fn snapshot<'a>(
        &'a self,
        priors: &'a [f32],
        new_nodes: u64,
        elapsed_ms: f64,
        since_first_batch_ms: Option<f64>,
    ) -> SearchSnapshot<'a> {
        let value = |place: usize| self.values.get(place).copied().flatten().map(f64::from);
        let best_move = self.best_move.map(|place| place as usize);
        let others = (0..self.values.len()).filter(|place| Some(*place) != best_move);
        SearchSnapshot {
            elapsed_ms,
            since_first_batch_ms,
            new_nodes,
            total_nodes: self.total_nodes,
            batches: self.batches,
            average_depth: self.average_depth,
            mate_depth: self.mate_depth,
            root_visits: (&self.visits[..]).into(),
            root_priors: priors.into(),
            win_found: self.win_found,
            may_resign: self.may_resign,
            losing_edges: self.losing_edges,
            need_more_time: self.need_more_time,
            best_move,
            best_value: best_move.and_then(value),
            second_value: others.filter_map(value).max_by(f64::total_cmp),
            moves_left_plies: self.moves_left_plies.map(f64::from),
            lines: None,
        }
    }
}

impl RecordedSearch {
    /// The number of the pair of games: in a match games 0 and 1, 2 and 3 and so on have the same opening.
    pub fn pair(&self) -> u32 {
        self.game / 2
    }

    /// A time manager's request with the facts of the position, without a clock.
    pub fn request(&self) -> MoveRequest {
        MoveRequest {
            ply: self.game_ply,
            reused_nodes: self.reused,
            moves_left_plies: self.moves_left_plies.map(f64::from),
            pieces: Some(self.pieces),
            legal_moves: Some(self.legal_moves),
            captures: Some(self.captures),
            in_check: self.in_check,
            ..MoveRequest::default()
        }
    }

    /// The priors of the moves.
    pub(crate) fn priors(&self) -> Vec<f32> {
        self.moves.iter().map(|mv| mv.prior).collect()
    }

    /// The index of the move that the whole search chose; `None` without one.
    pub fn best_move(&self) -> Option<usize> {
        self.snapshots.last()?.best_move.map(|place| place as usize)
    }

    /// The moves that were the choice at one of the snapshots at least, by their indices, in rising order.
    pub fn choices(&self) -> BTreeSet<usize> {
        self.snapshots.iter().filter_map(|snapshot| snapshot.best_move.map(|place| place as usize)).collect()
    }

    /// The value that a choice loses, 0 to 2, and 0 where a value is unknown: against the best choice by a judgement, or
    /// without one against the choice of the whole search by the whole search's values. A move that these value higher
    /// than the whole search's choice loses nothing.
    pub fn regret(&self, choice: usize) -> f64 {
        if !self.judged.is_empty() {
            let best = self.judged.iter().copied().flatten().max_by(f64::total_cmp);
            let chosen = self.judged.get(choice).copied().flatten();
            return best.zip(chosen).map_or(0.0, |(best, chosen)| best - chosen);
        }
        let value = |place: usize| {
            let last = self.snapshots.last()?;
            last.values.get(place).copied().flatten().map(f64::from)
        };
        let best = self.best_move().and_then(value);
        best.zip(value(choice)).map_or(0.0, |(best, chosen)| (best - chosen).max(0.0))
    }
}
