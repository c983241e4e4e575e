//! Answers the events of a game that are read from a file, in the order in which a manager is told them.

use super::super::output::say;
use anyhow::Context as _;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::io::stdin;
use std::path::Path;
use zeitnot_text::files::TextLines;
use zeitnot_time::event_log::{self, Event, ManagerChoice, SearchStart};
use zeitnot_time::{
    Estimates, GameReport, MoveAccount, MoveOutcome, Plan, StopReason, StopperParams, Timekeeper, Verdict,
};

/// The answer to an event: a line of JSON each, or `{}` for people.
#[derive(Serialize)]
#[serde(untagged)]
enum Answer {
    Plan(Plan),
    Observed(Observed),
    Finished(Box<Finished>),
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plan(plan) => f.write_str(format!("{plan:#}").trim_end()),
            Self::Observed(Observed { t_ms, verdict: Verdict { stop, remaining_ms, nps, .. }, .. }) => {
                write!(f, "{t_ms:.0} ms: ")?;
                match stop {
                    Some(reason) => write!(f, "stop ({reason})")?,
                    None => write!(f, "go on")?,
                }
                if let Some(remaining_ms) = remaining_ms {
                    write!(f, ", the limit is {:.0} ms", t_ms + remaining_ms)?;
                }
                nps.map_or(Ok(()), |nps| write!(f, ", {nps:.0} nps"))
            }
            Self::Finished(finished) => {
                let account = finished.account.as_ref();
                let lines = account.map(ToString::to_string).into_iter().chain(finished.lines.iter().cloned());
                f.write_str(&lines.collect::<Vec<_>>().join("\n"))
            }
        }
    }
}

/// The answer to an observation.
#[derive(Serialize)]
struct Observed {
    #[serde(skip)]
    t_ms: f64,
    stop: bool,
    #[serde(flatten)]
    verdict: Verdict,
}

/// The answer to the end of a move.
#[derive(Serialize)]
struct Finished {
    #[serde(flatten)]
    estimates: Estimates,
    /// The manager's own report on the game, if it makes one.
    #[serde(skip)]
    lines: Vec<String>,
    /// The first line of the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<String>,
    /// The numbers of the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    game: Option<Value>,
    /// The time of the move, what stopped it, and when time would have.
    #[serde(rename = "move")]
    account: Option<MoveAccount>,
}

/// How a script is read and answered.
pub(super) struct Terms<'a> {
    /// The manager that is asked.
    pub spec: &'a str,
    /// It is asked whatever manager the script names.
    pub insists: bool,
    /// Its estimate of speed, as if learned.
    pub nps: Option<f64>,
    /// The overhead of plans that say none, in milliseconds.
    pub overhead_ms: f64,
    /// The options of all stoppers, where a search that the script does not begin is to ask them.
    pub stoppers: Option<StopperParams>,
    /// The answers are for people.
    pub as_table: bool,
}

/// Answers every event of the file, with one line of JSON or as a table. The answers of an event log are passed over.
pub(super) fn answer(path: &Path, terms: &Terms) -> anyhow::Result<()> {
    let cannot_read = || format!("cannot read {}", path.display());
    let lines: Box<dyn Iterator<Item = _>> = match path.as_os_str() == "-" {
        true => Box::new(TextLines::of(stdin().lock())),
        false => Box::new(TextLines::open(path).with_context(cannot_read)?),
    };
    let mut game = Game::new(terms)?;
    for (index, line) in lines.enumerate() {
        let line = line.with_context(cannot_read)?;
        if line.trim().is_empty() {
            continue;
        }
        let at = || format!("{} line {} is no event", path.display(), index + 1);
        let mut value: Value = serde_json::from_str(&line).with_context(at)?;
        if value.get("answer").is_some() {
            continue;
        }
        game.complete(&mut value);
        let event: Event = serde_json::from_value(value).with_context(at)?;
        match game.answer(&event).with_context(at)? {
            Some(answer) if terms.as_table => say!("{answer}"),
            Some(answer) => say!("{}", serde_json::to_string(&answer)?),
            None => {}
        }
    }
    Ok(())
}

/// Memory from one event to the next.
struct Game<'a> {
    terms: &'a Terms<'a>,
    time: Timekeeper,
    /// The script itself began the search whose move is planned next.
    search_began: bool,
    reused_nodes: u64,
    stop: Option<StopReason>,
}

impl<'a> Game<'a> {
    fn new(terms: &'a Terms<'a>) -> anyhow::Result<Game<'a>> {
        // Clocks that are written by hand need not add up.
        let time = Timekeeper::without_lag(terms.spec)?;
        let mut game = Game { terms, time, search_began: false, reused_nodes: 0, stop: None };
        game.set_nps();
        Ok(game)
    }

    /// Gives a manager that has learned nothing yet its estimate of speed.
    fn set_nps(&mut self) {
        if let Some(nps) = self.terms.nps {
            self.time.set_nps(nps);
        }
    }

    /// Fills in what a script may leave out: the overhead of a plan, and the nodes of the tree.
    fn complete(&mut self, event: &mut Value) {
        let Some(fields) = event.as_object_mut() else { return };
        let number =
            |fields: &serde_json::Map<String, Value>, name| fields.get(name).and_then(Value::as_u64).unwrap_or(0);
        match fields.get("event").and_then(Value::as_str) {
            Some("plan") => {
                self.reused_nodes = number(fields, "reused");
                let overhead = fields.entry("overhead_ms").or_insert(Value::Null);
                if overhead.is_null() {
                    *overhead = self.terms.overhead_ms.into();
                }
                if fields.get("inc_ms").is_some_and(Value::is_null) {
                    fields.remove("inc_ms");
                }
            }
            Some("observe") if fields.get("total_nodes").is_none_or(Value::is_null) => {
                let total = self.reused_nodes.saturating_add(number(fields, "new_nodes"));
                fields.insert("total_nodes".to_owned(), total.into());
            }
            _ => {}
        }
    }

    fn answer(&mut self, event: &Event) -> anyhow::Result<Option<Answer>> {
        match event {
            Event::Manager(ManagerChoice { measure_lag, .. }) if self.terms.insists => {
                let choice = ManagerChoice { spec: self.terms.spec.to_owned(), measure_lag: *measure_lag };
                self.time.apply(&Event::Manager(choice))?;
                self.set_nps();
                return Ok(None);
            }
            Event::Plan(_) if !std::mem::take(&mut self.search_began) => {
                if let Some(stoppers) = self.terms.stoppers.clone() {
                    self.time.apply(&Event::Search(SearchStart { stoppers, ..SearchStart::default() }))?;
                }
            }
            Event::Search(_) => self.search_began = true,
            _ => {}
        }
        let answer = match event {
            // A script may leave the reason to the last look.
            Event::Finish(outcome) => {
                let stop = outcome.stop.or(self.stop.take());
                let answer = self.time.apply(&Event::Finish(MoveOutcome { stop, ..outcome.clone() }))?;
                let manager = self.time.manager();
                let (lines, game) = manager.report().map(|GameReport { lines, numbers }| (lines, numbers)).unzip();
                let lines = lines.unwrap_or_default();
                return Ok(Some(Answer::Finished(Box::new(Finished {
                    estimates: manager.estimates(),
                    statistics: lines.first().cloned(),
                    lines,
                    game,
                    // A search without a clock has none.
                    account: match answer {
                        Some(event_log::Answer::Finish(account)) => Some(account),
                        _ => None,
                    },
                }))));
            }
            Event::Manager(_) | Event::NewGame => {
                self.time.apply(event)?;
                self.set_nps();
                None
            }
            other => self.time.apply(other)?,
        };
        Ok(match (event, answer) {
            (_, Some(event_log::Answer::Plan(plan))) => {
                self.stop = None;
                Some(Answer::Plan(plan))
            }
            (Event::Observe(snapshot), Some(event_log::Answer::Observe(verdict))) => {
                self.stop = verdict.stop;
                let stop = verdict.stop.is_some();
                Some(Answer::Observed(Observed { t_ms: snapshot.elapsed_ms, stop, verdict }))
            }
            _ => None,
        })
    }
}
