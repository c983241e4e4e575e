//! The requests to time managers, and their answers.

use super::exact;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The facts about a move under a clock, before its search. Times are in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveRequest {
    /// Time on our clock.
    #[serde(with = "exact::float")]
    pub clock_ms: f64,
    /// Increment that each of our moves adds, as the interface says.
    #[serde(rename = "inc_ms", default, with = "exact::float")]
    pub increment_ms: f64,
    /// Moves until the next time control, if the interface said so; 0 counts as unsaid.
    #[serde(rename = "movestogo", default, skip_serializing_if = "Option::is_none")]
    pub moves_to_go: Option<u32>,
    /// Game ply of the position to search, 0 at the start of a game.
    #[serde(default)]
    pub ply: u32,
    /// Time lost between this engine and the judge of the clock, per move, as the user says (`MoveOverheadMs`). A
    /// search never plans into the last `overhead_ms` and `lag_ms`.
    #[serde(default, with = "exact::float")]
    pub overhead_ms: f64,
    /// The lag that was measured on top of `overhead_ms`; a [`Timekeeper`](super::Timekeeper) fills it in.
    #[serde(default, skip_serializing_if = "is_zero", with = "exact::float")]
    pub lag_ms: f64,
    /// The part of the increment that is not to be counted on, since it did not come on earlier moves; a
    /// [`Timekeeper`](super::Timekeeper) fills it in.
    #[serde(rename = "missing_inc_ms", default, skip_serializing_if = "is_zero", with = "exact::float")]
    pub missing_increment_ms: f64,
    /// Whether the clock does not show the time that this manager's moves used: it is the opponent's, where no other is
    /// known, or that of a game which others played, as in an audit. From such clocks no lag is measured, and no
    /// manager takes the difference of two of them for time that it used.
    #[serde(rename = "opponents_clock", default, skip_serializing_if = "std::ops::Not::not")]
    pub is_foreign_clock: bool,
    /// Time of one evaluation, measured on the batches of earlier searches; `None` before the first batch.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub evaluation_ms: Option<f64>,
    /// Nodes already in the tree.
    #[serde(rename = "reused", default)]
    pub reused_nodes: u64,
    /// Expected length of the rest of the game in plies, from the network's moves-left head.
    #[serde(rename = "moves_left", default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub moves_left_plies: Option<f64>,
    /// Pieces on the board, kings and pawns among them; `smooth` takes all 32 where it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pieces: Option<u32>,
    /// Legal moves of the position.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub legal_moves: Option<u32>,
    /// Legal moves that capture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captures: Option<u32>,
    /// Whether the side to move is in check.
    #[serde(rename = "check", default, skip_serializing_if = "std::ops::Not::not")]
    pub in_check: bool,
    /// Legal moves that take the piece with which the opponent has just captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recaptures: Option<u32>,
    /// The network's prior of the reply that the opponent has just played, where the last search has one.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub reply_prior: Option<f64>,
    /// Time on the opponent's clock.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub opponent_clock_ms: Option<f64>,
}

fn is_zero(ms: &f64) -> bool {
    ms.to_bits() == 0
}

impl MoveRequest {
    /// Time that is kept clear at the end of the clock: the user's overhead and the measured lag.
    pub(super) fn whole_overhead_ms(&self) -> f64 {
        self.overhead_ms + self.lag_ms
    }
}

/// The state of a running search, as shown to a manager and to the stoppers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SearchSnapshot<'a> {
    /// Time since the start of the move's clock, in milliseconds.
    #[serde(rename = "t_ms", with = "exact::float")]
    pub elapsed_ms: f64,
    /// Time since the *end* of the first batch, in milliseconds; `None` before that end.
    #[serde(rename = "first_batch_ms", default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub since_first_batch_ms: Option<f64>,
    /// Nodes added by this search (playouts).
    #[serde(default)]
    pub new_nodes: u64,
    /// Nodes in the tree: `new_nodes` and the reused ones.
    #[serde(default)]
    pub total_nodes: u64,
    /// Batches evaluated by this search; 0 where they are not counted.
    #[serde(default)]
    pub batches: u64,
    /// Average depth of the playouts, in whole plies; of an engine that searches by iterations the one that ended last.
    #[serde(rename = "depth", default)]
    pub average_depth: u32,
    /// Shortest proven mate in moves, if any. Where several lines are shown and a move at the root has no visit, the
    /// longest of their mates, if all of them mate.
    #[serde(rename = "mate", default, skip_serializing_if = "Option::is_none")]
    pub mate_depth: Option<u32>,
    /// Visits of each root move that may be searched, in an order that stays the same for the whole search.
    #[serde(rename = "visits", default)]
    pub root_visits: Cow<'a, [u32]>,
    /// The network's priors of the moves in `root_visits`, as the search uses them; empty unless the manager asks for
    /// them ([`TimeManager::wants_root_priors`](super::TimeManager::wants_root_priors)).
    #[serde(rename = "priors", default, skip_serializing_if = "<[_]>::is_empty")]
    pub root_priors: Cow<'a, [f32]>,
    /// Whether a visited root move wins by force.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub win_found: bool,
    /// Whether the position is so lost that the search goes on only for the length of the mate: no root move has a
    /// value above −0.98 (docs/lc0.md, 2.6).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_resign: bool,
    /// Root moves proven lost.
    #[serde(default)]
    pub losing_edges: u32,
    /// Whether the most visited root move is not the best by value.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub need_more_time: bool,
    /// The move that would be played now, as an index into `root_visits`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_move: Option<usize>,
    /// Expected result of `best_move` for the side to move, −1 (loss) to 1 (win).
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub best_value: Option<f64>,
    /// Expected result of the best by value among the other root moves that were visited.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub second_value: Option<f64>,
    /// Plies the game is expected to go on, by the network's moves-left head averaged over the search.
    #[serde(rename = "moves_left", default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub moves_left_plies: Option<f64>,
    /// The lines that are shown, where there are several (`MultiPV`); `None` for the best alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<ShownLines>,
}

/// The progress of the search on the lines that are shown, all of which are to be searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShownLines {
    /// A line has no visit.
    Unvisited,
    /// Every line has visits.
    Visited,
    /// Every line mates in one, or the result of every root move is proven: more search finds no other lines.
    Proven,
}

/// The end of a move.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveOutcome {
    /// Time since the start of the move's clock, in milliseconds.
    #[serde(rename = "t_ms", with = "exact::float")]
    pub elapsed_ms: f64,
    /// Nodes in the tree at the end.
    #[serde(default)]
    pub total_nodes: u64,
    /// The stopper that ended the search, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopReason>,
    /// The moment, on the move's clock, at which the first batch of a search with an empty tree was backed up: before
    /// that there was no move to answer with. `None` where the tree had nodes, or nothing was evaluated.
    #[serde(rename = "first_evaluation_ms", default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub first_evaluation_ms: Option<f64>,
    /// The moment, on the move's clock, at which the manager's last limit was reached: the limit itself, or the moment
    /// of the change that moved it into the past. The caller leaves it out: this crate fills it in for the manager.
    #[serde(rename = "due_ms", default, skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub limit_reached_at_ms: Option<f64>,
}

/// The answer of a manager, or of a chain of stoppers, to a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Reason to stop the search now; `None` to go on.
    #[serde(rename = "reason")]
    pub stop: Option<StopReason>,
    /// Time until a time limit is reached, if there is one; negative past it.
    #[serde(with = "exact::option")]
    pub remaining_ms: Option<f64>,
    /// Nodes this search can still add, if that is known. A manager leaves it out: the stoppers fill it in.
    #[serde(rename = "remaining_nodes", with = "exact::option")]
    pub remaining_playouts: Option<f64>,
    /// Smoothed speed, in nodes per second.
    #[serde(with = "exact::option")]
    pub nps: Option<f64>,
    /// The move's usual time in milliseconds, where the speed is known from earlier moves: smart pruning then need not
    /// wait to see much of this move.
    #[serde(default, with = "exact::option", skip_serializing_if = "Option::is_none")]
    pub usual_ms: Option<f64>,
    /// The earliest moment of the answer, on the move's clock: a search that ends before it waits. `None`: at once.
    #[serde(default, with = "exact::option", skip_serializing_if = "Option::is_none")]
    pub answer_from_ms: Option<f64>,
}

impl Verdict {
    /// The verdict of a limit at `limit_ms` on the move's clock; `reason` is the one to stop with.
    pub fn at_limit(snapshot: &SearchSnapshot, limit_ms: f64, reason: StopReason) -> Self {
        let remaining = limit_ms - snapshot.elapsed_ms;
        // A time that is not a number is not before the limit.
        let stop = if remaining > 0.0 { None } else { Some(reason) };
        Self { stop, remaining_ms: Some(remaining), ..Self::default() }
    }
}

/// The estimates of a manager so far in the game; `None` for those that it does not make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimates {
    /// Speed, in nodes per second.
    pub nps: Option<f64>,
    /// Fraction of the tree that survives a full move.
    pub tree_reuse: Option<f64>,
    /// Fraction of the budget that is used.
    pub timeuse: Option<f64>,
    /// Time set aside for hard moves.
    pub bank_ms: Option<f64>,
}

/// A manager's own report on a game, for a manager that keeps more than its [`Estimates`].
#[derive(Clone, Debug, PartialEq)]
pub struct GameReport {
    /// Lines for people; the engine prints each as an `info string`.
    pub lines: Vec<String>,
    /// The numbers of the lines, as one object.
    pub numbers: serde_json::Value,
}

/// The reason of a search's end. It serialises under a name that stays (`kld_gain`); `{}` says it in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// The manager's limit is reached.
    Time,
    /// `go movetime` is over.
    #[serde(rename = "movetime")]
    MoveTime,
    /// The tree has as many nodes as asked for.
    Nodes,
    /// The search has added as many nodes as asked for.
    Playouts,
    /// The average depth is reached.
    Depth,
    /// A mate as short as asked for is found.
    Mate,
    /// More nodes hardly change the distribution of visits.
    KldGain,
    /// Smart pruning: there is only one move.
    OnlyMove,
    /// Smart pruning: every other move loses.
    OnlyNonLosingMove,
    /// Smart pruning: a move wins by force.
    WinFound,
    /// Smart pruning: what remains of the search cannot change the best move.
    CannotBeOvertaken,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Time => "time",
            Self::MoveTime => "movetime",
            Self::Nodes => "nodes",
            Self::Playouts => "playouts",
            Self::Depth => "depth",
            Self::Mate => "mate",
            Self::KldGain => "kld gain: more nodes hardly change the visits",
            Self::OnlyMove => "smart pruning: the only move",
            Self::OnlyNonLosingMove => "smart pruning: the only move that does not lose",
            Self::WinFound => "smart pruning: a forced win is found",
            Self::CannotBeOvertaken => "smart pruning: the best move cannot be overtaken",
        })
    }
}
