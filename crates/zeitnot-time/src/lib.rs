#![doc = include_str!("../README.md")]
//!
//! # Modules
//!
//! Lowest first: a module knows the rows above its own, and the items of this file. A test reads this table and every
//! import.
//!
//! | module | content |
//! |---|---|
//! | `unit` | [`Unit`] of a term or a parameter |
//! | [`centipawns`] | the scale between values and centipawns |
//! | `exact` | numbers that read back from JSON bit by bit |
//! | `interface` | what goes in and out: [`MoveRequest`], [`SearchSnapshot`], [`Verdict`], [`MoveOutcome`], [`Estimates`], [`StopReason`] |
//! | `params` | declarations of parameters, [`ParamSpec`], [`GroupSpec`], [`ManagerSpec`], and their values |
//! | [`grammar`], `grammar_text` | the grammar `name(param=value,...)`, read and written |
//! | `specification` | the manager and the values that a text names; [`SpecError`] |
//! | [`due`] | the answer deadline: when a move is played although nothing is evaluated |
//! | `plan`, `plan_builder` | [`Plan`] and its [`Term`]s; the guard that keeps every budget on the clock |
//! | [`estimators`] | small state machines: speed, tree reuse, use of the budget, overrun, moves left, lag, batches |
//! | [`managers`](mod@managers) | the time managers, and the guests among them |
//! | `accounting` | [`MoveAccount`] of the last move, kept around every manager |
//! | [`stoppers`] | every rule that can end a search, the manager first |
//! | [`event_log`] | what happens to a timekeeper, as events that serialise: a recorded game comes out again bit by bit |
//! | `timekeeper` | [`Timekeeper`]: the time of one game; engine, replay and simulation drive this one thing |
//!
//! Every plan goes through one guard: each budget is a number, at least 0, and ends before the clock less the overhead.
//! `property_tests.rs` checks this with random specifications and histories, and `formulas.rs` computes every printed
//! formula again.

mod accounting;
pub mod centipawns;
pub mod due;
pub mod estimators;
pub mod event_log;
mod exact;
pub mod grammar;
mod grammar_text;
mod interface;
pub mod managers;
mod params;
mod plan;
mod plan_builder;
mod specification;
pub mod stoppers;
mod timekeeper;
mod unit;

pub use accounting::MoveAccount;
pub use interface::{Estimates, GameReport, MoveOutcome, MoveRequest, SearchSnapshot, ShownLines, StopReason, Verdict};
pub use params::{GroupSpec, ManagerSpec, ParamSpec};
pub use plan::{Plan, Term};
pub use specification::SpecError;
pub use stoppers::{SearchLimits, StopperParams};
pub use timekeeper::{Begun, Maker, TimeReport, Timekeeper};
pub use unit::Unit;

/// The default time manager; docs/time-managers/evidence.md says why it is this one.
pub const DEFAULT_MANAGER: &str = "smooth";

const MS_PER_SECOND: f64 = 1000.0;

/// Divides a clock among the moves of a game. One instance serves one game and learns from move to move.
///
/// The calls for a move are `plan`, any number of `observe`, then `finish` if the move is played; an abandoned search
/// has no `finish`.
pub trait TimeManager: Send + std::fmt::Debug {
    /// The name of the manager in specifications, with its preset unless the first is meant ([`ManagerSpec::title`]).
    fn name(&self) -> &'static str;

    /// Waits until the manager can plan without delay, before a clock runs: it may be another program that has to load.
    fn get_ready(&mut self) {}

    /// Plans the time of a move. Every request gets a plan, however absurd its numbers are.
    fn plan(&mut self, request: &MoveRequest) -> Plan;

    /// Learns from a running search and says whether its time is over, which it never is without a plan.
    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict;

    /// Whether the manager needs [`SearchSnapshot::root_priors`] at its next look.
    fn wants_root_priors(&self) -> bool {
        false
    }

    /// Learns from the end of a search whose move was played. Without a plan before it, the call says that something
    /// else changed the tree (an untimed search, say): the next tree tells nothing about the last search.
    fn finish(&mut self, outcome: &MoveOutcome);

    /// The manager's estimates so far in the game; none by default.
    fn estimates(&self) -> Estimates {
        Estimates::default()
    }

    /// A report on the game so far that the engine prints after every move; `None`, the default, for no report.
    fn report(&self) -> Option<GameReport> {
        None
    }

    /// Replaces the estimate of speed, in nodes per second, as if learned. By default there is none to replace.
    fn set_nps(&mut self, _nps: f64) {}
}

/// The managers that exist, each with its parameters. A manager that comes in several forms is there with each of them:
/// [`ManagerSpec::title`] tells them apart, and [`names`] has every name once.
pub fn managers() -> &'static [ManagerSpec] {
    managers::ALL
}

/// The names of the managers, each once.
pub fn names() -> impl Iterator<Item = &'static str> {
    specification::names(managers::ALL)
}

/// Builds the manager that `spec` describes: `name` or `name(param=value,...)`, see [`grammar`].
///
/// If a parameter is given twice the last value counts, as in Lc0, so that a specification can be extended by
/// appending. Without a `preset` the specification means the manager's first form that knows all the parameters:
/// `smooth(force-piggybank-ms=0)`, a specification of Lc0's, is `smooth(preset=lc0,force-piggybank-ms=0)`.
///
/// # Errors
///
/// [`SpecError`], whose text is one line that names what is wrong and what is possible instead.
pub fn build(spec: &str) -> Result<Box<dyn TimeManager>, SpecError> {
    Ok(Box::new(accounting::Accounted::build(spec)?))
}

#[cfg(test)]
mod clock_kinds_tests;
#[cfg(test)]
mod formulas;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod tests;
