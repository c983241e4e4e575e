//! Defines the request of a search and its result.

use crate::search::params::SearchParams;
use crate::search::root::observer::SharedRootObserver;
use crate::search::root::report::{Line, MoveStats, Report};
use crate::search::tree::Tree;
use crate::tablebase::Probes;
use std::fmt;
use zeitnot_chess::{Game, Move};
use zeitnot_time::estimators::batch_latency::BatchLatency;
use zeitnot_time::{Plan, SearchLimits, StopReason, TimeReport, Timekeeper};

/// Listener to a search, called from the search's threads. No method has a default: a decorator cannot forget one.
pub trait Listener: Send + Sync {
    /// The time manager's plan, called before the search of a timed move starts.
    fn planned(&self, plan: &Plan);
    /// Called when a search that only `stop` (or `ponderhit`) ends has failed; the later answer has the error, too.
    fn failed(&self, error: &str);
    /// A report, called after a change of the best move or the depth, or when a second has passed.
    fn report(&self, report: &Report);
    /// The end of the search, called exactly once.
    fn finished(&self, end: &SearchEnd);
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// One of the stoppers, the time manager among them.
    Stopper(StopReason),
    /// Stopped from outside.
    Stopped,
    /// No legal move to choose from.
    NoMoves,
    /// A move from a book, without a search.
    Book {
        /// Weight of the move in the book.
        weight: u32,
        /// Sum of the weights of all moves of the position.
        total: u32,
    },
    /// An answer was due before anything was evaluated: the move was chosen without an evaluation.
    Unevaluated(Guess),
    /// The evaluator failed.
    Failed,
}

/// How a move is chosen where nothing was evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guess {
    /// Mate.
    Mate,
    /// The cache holds the network's policy for the position.
    CachedPolicy,
    /// Most material won at once, or the least lost.
    Material,
}

impl fmt::Display for Guess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Guess::Mate => "it mates",
            Guess::CachedPolicy => "the best by the cached policy",
            Guess::Material => "the best by material",
        })
    }
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct SearchEnd {
    /// The move to play; `None` when there is no legal move.
    pub best: Option<Move>,
    /// The reply expected.
    pub ponder: Option<Move>,
    /// The last state of the search; the line of the move to play is the first.
    pub report: Report,
    /// The best line, where a temperature drew another move to play; else `None`.
    pub not_drawn: Option<Line>,
    /// Statistics of the root's moves, when they were asked for.
    pub move_stats: Vec<MoveStats>,
    /// Why the search ended.
    pub reason: EndReason,
    /// The error in one line, if there was one.
    pub error: Option<String>,
    /// The time manager's account of the move, if it had a clock.
    pub time: Option<TimeReport>,
}

impl SearchEnd {
    /// The best line; at a temperature another one may have been drawn. `None` where nothing was searched.
    pub fn best_line(&self) -> Option<&Line> {
        self.not_drawn.as_ref().or(self.report.lines.first())
    }
}

/// Request for a search.
pub(crate) struct SearchRequest {
    /// The position, with its history.
    pub game: Game,
    /// The limits that end the search.
    pub limits: SearchLimits,
    /// The timekeeper of the game, already told that the search begins. It comes back with the end of the search.
    pub time: Timekeeper,
    /// Root moves to search; empty: all.
    pub search_moves: Vec<Move>,
    /// Parameters.
    pub params: SearchParams,
    /// Number of lines to report.
    pub multi_pv: usize,
    /// Whether the end carries [`SearchEnd::move_stats`].
    pub with_move_stats: bool,
    /// Whether the reports before the end carry [`Report::move_stats`].
    pub with_live_stats: bool,
    /// The measured latency of batches. It comes back with the end of the search.
    pub latency: BatchLatency,
    /// Seed of everything that is random: the noise at the root and the choice of the move.
    pub seed: u64,
    /// The endgame tables.
    pub probes: Probes,
    /// Start of the move's clock, on the injected clock.
    pub start_ms: f64,
    /// The latest end by the clock or `movetime`, in milliseconds since `start_ms`: it holds from the first batch on.
    pub hard_limit_ms: Option<f64>,
    /// Deadline of an answer even if nothing was evaluated yet, in milliseconds since `start_ms`.
    pub due_ms: Option<f64>,
    /// The longest batch where no time limit is near, in milliseconds; `None`: as long as it takes. A move that comes
    /// while a batch of pondering or analysis is evaluated has one evaluator fewer until that batch ends.
    pub longest_batch_ms: Option<f64>,
    /// Time, on the injected clock, at which the evaluator becomes free: the previous search may have answered before
    /// its last batch ended. Used only by searches on the caller's thread.
    pub busy_until_ms: f64,
    /// The observer of the root, if there is one.
    pub root_observer: Option<SharedRootObserver>,
}

/// The parts of a finished search that the next one takes over.
pub(crate) struct Finished {
    /// The tree.
    pub tree: Tree,
    /// The timekeeper of the game, which has seen the outcome.
    pub time: Timekeeper,
    /// Latency of batches, those of earlier searches among them.
    pub latency: BatchLatency,
    /// End of the last batch, on the injected clock: on the caller's thread an answer that is due does not wait for it.
    pub busy_until_ms: f64,
}

/// A search that did not start.
pub(crate) struct NotStarted {
    /// The operating system's reason.
    pub error: std::io::Error,
    /// The parts that the search was given, for the next search.
    pub remains: Box<Finished>,
}
