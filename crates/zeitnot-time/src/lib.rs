//! Time management: how long a move may take, and when its search stops.
//!
//! This room is pure. Time comes in as numbers, in milliseconds on the move's clock; nothing here reads a clock, starts
//! a thread or knows chess. A manager is a state machine: the same calls give the same answers, in a game, in a replay
//! and in a simulation.
//!
//! - [`build`] makes a [`TimeManager`] from a specification such as `smooth(init-nps=5000)`; [`managers()`] lists those
//!   that exist, with their parameters.
//! - [`TimeManager::plan`] answers a [`MoveRequest`] with a [`Plan`], which carries every quantity that led to it.
//! - [`TimeManager::observe`] looks at the running search, and [`TimeManager::finish`] learns from its end.
//! - [`TimeManager::last_move`] and [`TimeManager::statistics`] say how it went.
//! - [`Stoppers`] is the chain of everything that can end one search, the manager first.
//! - [`Timekeeper`] is everything about the time of one game: the manager, the stoppers, the measured lag, the rule by which
//!   a move is [`due`]. Engine, replay and simulation all drive this one thing.
//! - [`trace`] is what happens to it, as events that serialise: a recorded game replays bit by bit.
//!
//! # The managers
//!
//! Each has a manual page with its formulas, a worked example, when to use it, and where it differs from the document
//! it comes from.
//!
//! | manager | a move gets | use it |
//! |---|---|---|
//! | [`smooth`](managers::smooth) | what makes the trees of all moves equally large | always, unless there is a reason |
//! | [`smooth(preset=pr1195)`](managers::smooth::pr1195) | the same, by the letter of Lc0's design page | to compare with that page |
//! | [`smooth(preset=lc0)`](managers::smooth::lc0) | number for number Lc0's master, with its defects | to compare with Lc0's `smooth` |
//! | [`price`](managers::price) | as long as more nodes are expected to gain more than they cost | to spend the clock where it buys most |
//! | [`legacy`](managers::legacy) | an equal share of the rest of the game, and what earlier moves left | to compare with Lc0's default |
//! | [`simple`](managers::simple) | a share of the clock that grows with the ply and the increment | against engines, with an increment |
//! | [`alphazero`](managers::alphazero) | a fixed share of the clock | to repeat AlphaZero's matches |
//! | [`adaptive`](managers::guests::adaptive) | a share by phase, time control and how clear the choice is | to see statistics after each move |
//! | [`complexity`](managers::guests::complexity) | more where there is more on the board | against people |
//! | [`soft-hard`](managers::guests::soft_hard) | a textbook's soft limit, moved by the search | as the plain one to measure others against |
//!
//! `adaptive` below 60 s, `complexity` and `soft-hard` below 10 s on the clock are in emergencies of their documents: their
//! pages say how little time a move gets then.
//!
//! # Parts for all of them
//!
//! Any manager takes `adjust(...)` with the parts of [`parts`](managers::guests::parts): `legacy(adjust(stability,
//! score-drop))`. A part is in effect when it is named, and has parameters of its own: `adjust(score-drop(drop=30,
//! dropped=1.4))`. The time a move is granted is multiplied by the factors of the parts.
//!
//! # What holds for every manager
//!
//! Every plan goes through one guard: no budget is negative, no number, or past the clock less the overhead. A search
//! is never ended before its first evaluation, whatever the clock says. More time on the clock is never less for a
//! move, unless classes of time controls are given factors that say so (and but for one of Lc0's rules in
//! `smooth(preset=lc0)`). `property_tests.rs` checks this with random specifications and histories.
//!
//! Every plan says how it came about, term by term: `zeitnot time explain` prints them. A term has a formula, and
//! `formulas.rs` computes it again, or says in words (`from ...`) what it was learned or read from.
//!
//! ```
//! use zeitnot_time::{MoveRequest, build};
//!
//! let mut manager = build("smooth(init-nps=5000)")?;
//! let plan = manager.plan(&MoveRequest { clock_ms: 60_000.0, overhead_ms: 200.0, ..MoveRequest::default() });
//! assert!(plan.hard_limit_ms <= 59_800.0);
//! println!("{plan:#}"); // how it came to its budget
//! # Ok::<(), zeitnot_time::SpecError>(())
//! ```

mod accounting;
pub mod due;
pub mod estimators;
mod exact;
pub mod grammar;
mod grammar_text;
mod interface;
pub mod managers;
mod params;
mod plan;
mod plan_builder;
mod specification;
mod stoppers;
mod timekeeper;
pub mod trace;
mod unit;

pub use accounting::{MoveAccount, PhaseUse, Statistics};
pub use interface::{Estimates, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, Verdict};
pub use params::{COMMON_GROUPS, ChoiceSpec, GroupSpec, ManagerSpec, ParamSpec};
pub use plan::{Plan, Term};
pub use specification::SpecError;
pub use stoppers::{SearchLimits, StopperParams, Stoppers};
pub use timekeeper::{Begun, TimeReport, Timekeeper};
pub use unit::Unit;

use managers::guests;

/// The manager that plays where none is chosen; docs/time-managers/evidence.md says why.
pub const DEFAULT_MANAGER: &str = "smooth";

const MS_PER_SECOND: f64 = 1000.0;

/// Divides a clock among the moves of a game. One value serves one game: it learns from move to move.
///
/// A move is `plan`, any number of `observe`, then `finish` if a move was really played; an abandoned search has no
/// `finish`.
pub trait TimeManager: Send + std::fmt::Debug {
    /// The name it is chosen by, [`ManagerSpec::title`], with the preset unless that is the first of the name.
    fn name(&self) -> &'static str;

    /// Decides about a move. Any request has an answer, however absurd its numbers are.
    fn plan(&mut self, request: &MoveRequest) -> Plan;

    /// Learns from a running search and says whether its time is over. Without a plan it never stops.
    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict;

    /// Whether [`SearchSnapshot::root_values`] and [`SearchSnapshot::root_priors`] are wanted.
    fn wants_root_values(&self) -> bool {
        false
    }

    /// Learns from the end of a search whose move was played. Without a plan before it, the tree was changed by
    /// something else (an untimed search, say), and the next tree says nothing about the last search.
    ///
    /// A manager inside `adjust(...)` learns [`MoveOutcome::factor`], by which the parts multiplied its budget. It
    /// compares the time used with the budget times that factor: otherwise it would take a factor of 0.7 for a search
    /// that spares a third, give more to the next move, and so undo the factor. Changes of the limit while the search
    /// runs are not in the factor: to the manager the search ended early, or needed a reserve. An overrun of the limit
    /// counts from [`MoveOutcome::due_ms`], which belongs to the limit with all factors.
    fn finish(&mut self, outcome: &MoveOutcome);

    /// The estimates so far.
    fn estimates(&self) -> Estimates;

    /// Whether the statistics of the game are reported after every move, asked for or not.
    fn reports_statistics(&self) -> bool {
        false
    }

    /// The statistics of the game so far; every manager that [`build`] makes has them.
    fn statistics(&self) -> Option<&Statistics> {
        None
    }

    /// The account of the last planned move, once it is finished.
    fn last_move(&self) -> Option<&MoveAccount> {
        None
    }

    /// Replaces the estimate of speed, in nodes per second, as if learned. A manager without one ignores it.
    fn set_nps(&mut self, nps: f64);
}

/// The managers that exist, each with its parameters.
pub fn managers() -> &'static [ManagerSpec] {
    managers::ALL
}

/// Builds the manager that `spec` describes: `name` or `name(param=value,...)`, see [`grammar`].
///
/// Of a parameter given twice the last value counts, as in Lc0, so that a specification can be extended by appending.
/// Without a `preset` the first form of a manager is meant that knows all the parameters:
/// `smooth(force-piggybank-ms=0)`, a specification of Lc0's, is `smooth(preset=lc0,force-piggybank-ms=0)`.
///
/// # Errors
///
/// [`SpecError`], whose text is one line that names what is wrong and what is possible instead.
pub fn build(spec: &str) -> Result<Box<dyn TimeManager>, SpecError> {
    let (manager, values) = specification::resolve(spec, managers::ALL)?;
    let adjusted = guests::parts::adjusted::Adjusted::around((manager.build)(&values), &values);
    Ok(Box::new(accounting::Accounted::around(adjusted, guests::CLASSES)))
}

#[cfg(test)]
mod clock_kinds_tests;
#[cfg(test)]
mod formulas;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
