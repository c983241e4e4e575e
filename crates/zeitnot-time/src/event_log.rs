//! The event log of a game's time: the events that a time manager sees, in order, and its answers. Neither loses
//! anything when serialised, so that a recorded game can be repeated bit by bit ([`Timekeeper::apply`]).
//!
//! An event log is a text of one JSON object a line: an event (`{"event":"plan","clock_ms":60000,...}`), and after it
//! its answer, if it has one (`{"answer":"plan","budget_ms":2100,...}`). `zeitnot time explain script` reads the
//! events. A game is: `manager` once, then for each move `search`, `plan` (if the move has a clock), any number of
//! `observe`, and `finish`.
//!
//! ```
//! use zeitnot_time::{Timekeeper, event_log::{self, Answer, Line}};
//!
//! let mut time = Timekeeper::new("simple")?;
//! let line = event_log::read(r#"{"event":"plan","clock_ms":60000,"inc_ms":600,"ply":24}"#).unwrap();
//! let Line::Event(event) = line else { panic!("it is an event") };
//! let Some(Answer::Plan(plan)) = time.apply(&event)? else { panic!("a plan answers a plan") };
//! assert!(plan.budget_ms > 0.0);
//! # Ok::<(), zeitnot_time::SpecError>(())
//! ```
//!
//! [`Timekeeper::apply`]: super::Timekeeper::apply

use super::interface::{MoveOutcome, MoveRequest, SearchSnapshot, Verdict};
use super::stoppers::{SearchLimits, StopperParams};
use super::{MoveAccount, Plan, exact};
use serde::{Deserialize, Serialize};

/// An event in the time of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event<'a> {
    /// A new manager, which has learned nothing yet, takes over.
    Manager(ManagerChoice),
    /// A new game begins: all that was learned is forgotten.
    NewGame,
    /// Another game takes over, perhaps in its middle: its clock says nothing about the last game's.
    OtherGame {
        /// Whether the estimates of the last game are kept (`KeepTimeStats`).
        #[serde(default)]
        keep_time_stats: bool,
    },
    /// The tree was changed: the next tree says nothing about the last search.
    TreeChanged,
    /// A move is played from a book.
    BookMove(BookMove),
    /// A search begins.
    Search(SearchStart),
    /// A move under a clock is planned, at the beginning of its search.
    Plan(MoveRequest),
    /// A look at the running search.
    Observe(SearchSnapshot<'a>),
    /// The search is over and its move is played.
    Finish(MoveOutcome),
}

/// The manager of a game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManagerChoice {
    /// Specification of the manager, such as `smooth(init-nps=5000)`.
    pub spec: String,
    /// Whether the lag between this engine and the judge of its clock is measured, as in games.
    #[serde(default)]
    pub measure_lag: bool,
}

/// A move from a book, under a clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BookMove {
    /// Game ply of the position.
    pub ply: u32,
    /// Time on our clock.
    #[serde(with = "exact::float")]
    pub clock_ms: f64,
    /// Increment that the move adds.
    #[serde(rename = "inc_ms", default, with = "exact::float")]
    pub increment_ms: f64,
}

/// The limits and options of a search that begins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchStart {
    /// Limits of the search beside the clock.
    pub limits: SearchLimits,
    /// Options of the stoppers; `overhead_ms` without the measured lag.
    pub stoppers: StopperParams,
    /// Time of one evaluation, measured on the batches of earlier searches; `None` before the first batch.
    #[serde(skip_serializing_if = "Option::is_none", with = "exact::option")]
    pub evaluation_ms: Option<f64>,
}

/// The answer to an event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// Answer to [`Event::Plan`].
    Plan(Plan),
    /// Answer to [`Event::Observe`].
    Observe(Verdict),
    /// Answer to [`Event::Finish`] of a move that was planned.
    Finish(MoveAccount),
}

/// A line of an event log.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// An event.
    Event(Event<'static>),
    /// The answer to the event before it.
    Answer(Answer),
}

/// Reads a line of an event log.
///
/// # Errors
/// The parser's error, when the line is neither an event nor an answer.
pub fn read(line: &str) -> Result<Line, serde_json::Error> {
    let value: serde_json::Value = serde_json::from_str(line)?;
    Ok(match value.get("answer") {
        Some(_) => Line::Answer(serde_json::from_value(value)?),
        None => Line::Event(serde_json::from_value(value)?),
    })
}

/// Writes an event and its answer as the lines of an event log, each with its line break.
pub fn write(event: &Event, answer: Option<&Answer>) -> String {
    const SERIALISES: &str = "numbers and texts under keys that are texts are JSON";
    let event = serde_json::to_string(event).expect(SERIALISES);
    match answer.map(|answer| serde_json::to_string(answer).expect(SERIALISES)) {
        Some(answer) => format!("{event}\n{answer}\n"),
        None => format!("{event}\n"),
    }
}

/// Receives every event of a game as it happens, with its answer. It is called on the search's own threads, under their
/// lock, so it must be quick.
pub trait Observer: Send {
    /// Takes in an event that has happened, and its answer.
    fn happened(&mut self, event: &Event, answer: Option<&Answer>);
}

#[cfg(test)]
#[path = "event_log_tests.rs"]
mod tests;
