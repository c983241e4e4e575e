//! Defines the time manager that asks a program. Where the program does not answer, the default manager decides, which
//! sees all that the program sees.

use super::pipe::{Pipe, Silence};
use super::{EXTERNAL, LONGEST_WAIT, Patience};
use crate::announcer::Announcer;
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::Duration;
use zeitnot_time::event_log::{self, Event};
use zeitnot_time::{
    DEFAULT_MANAGER, Estimates, GameReport, MoveOutcome, MoveRequest, Plan, SearchSnapshot, StopReason, TimeManager,
    Verdict,
};

/// The part of the default manager's budget that a running clock gives the program for its plan.
const PART_FOR_PLAN: f64 = 0.5;
/// Shortest wait for an answer on a running clock, and the wait for a program that owes an answer from before: a pipe
/// needs some tens of microseconds.
const SHORTEST_ON_CLOCK_MS: f64 = 5.0;
/// Longest wait for an answer on a running clock: the engine hears no command meanwhile.
const LONGEST_ON_CLOCK_MS: f64 = 1_000.0;
/// Characters of an answer that an error quotes.
const QUOTED: usize = 100;

/// A time manager that is a program.
#[derive(Debug)]
pub(super) struct External {
    command: String,
    /// `Err`: it is not running, for a reason that is to be said.
    process: Result<Pipe, Option<String>>,
    /// Decides where the program does not answer.
    own: Box<dyn TimeManager>,
    patience: Patience,
    announcer: Sink,
    /// The latest end of the move, where the program planned it.
    hard_limit_ms: Option<f64>,
    /// Whether the program is asked about the move.
    is_asked: bool,
    /// Whether its last answer did not come in time.
    is_late: bool,
}

/// The announcer of the engine, whichever that is now.
struct Sink(Arc<Mutex<Announcer>>);

impl std::fmt::Debug for Sink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sink")
    }
}

/// An answer to a plan.
#[derive(Deserialize)]
struct Planned {
    budget_ms: f64,
    hard_limit_ms: Option<f64>,
    target_nodes: Option<f64>,
}

/// An answer to a look.
#[derive(Deserialize)]
struct Observed {
    stop: bool,
    remaining_ms: Option<f64>,
}

impl External {
    /// Starts the program of a command line. Where it does not start, that is said at the first plan.
    pub fn start(command: &str, patience: Patience, announcer: Arc<Mutex<Announcer>>) -> External {
        External {
            command: command.to_owned(),
            process: Pipe::start(command).map_err(Some),
            own: zeitnot_time::build(DEFAULT_MANAGER).expect("the default manager exists"),
            patience,
            announcer: Sink(announcer),
            hard_limit_ms: None,
            is_asked: false,
            is_late: false,
        }
    }

    /// The program's answer to an event; `None` where it has none in time or none that can be read, which is said.
    fn ask<A: DeserializeOwned>(&mut self, event: &Event, what: &'static str, wait_ms: f64) -> Option<A> {
        let patience = match self.patience {
            Patience::Long => LONGEST_WAIT,
            Patience::UntilDue if self.is_late => Duration::from_secs_f64(SHORTEST_ON_CLOCK_MS / 1e3),
            Patience::UntilDue => {
                Duration::from_secs_f64(wait_ms.clamp(SHORTEST_ON_CLOCK_MS, LONGEST_ON_CLOCK_MS) / 1e3)
            }
        };
        let pipe = match &mut self.process {
            Ok(pipe) => pipe,
            Err(reason) => {
                if let Some(reason) = reason.take() {
                    self.complain(&format!("{reason}; {DEFAULT_MANAGER} plays"));
                }
                return None;
            }
        };
        let answer = pipe.ask(what, &event_log::write(event, None), patience);
        self.is_late = matches!(answer, Err(Silence::Late(_)));
        let problem = match answer {
            Ok(answer) => match serde_json::from_str(&answer) {
                Ok(answer) => return Some(answer),
                Err(error) => {
                    pipe.settle();
                    let quoted: String = answer.chars().take(QUOTED).collect();
                    format!("{quoted} is no answer to {what}: {error}; {DEFAULT_MANAGER} decides this move")
                }
            },
            Err(Silence::Late(owed)) => {
                format!("no answer to {owed} within {} ms; {DEFAULT_MANAGER} decides this move", patience.as_millis())
            }
            Err(Silence::Ended(how)) => {
                self.process = Err(None);
                format!("the program has ended ({how}); {DEFAULT_MANAGER} plays on")
            }
        };
        self.complain(&format!("{}: {problem}", self.command));
        None
    }

    fn complain(&self, problem: &str) {
        let announcer = self.announcer.0.lock().clone();
        announcer.complain(format_args!("time manager {EXTERNAL}: {problem}"));
    }
}

impl TimeManager for External {
    fn name(&self) -> &'static str {
        EXTERNAL
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        let own = self.own.plan(request);
        let answer = self.ask::<Planned>(&Event::Plan(request.clone()), "plan", own.budget_ms * PART_FOR_PLAN);
        let Some(Planned { budget_ms, hard_limit_ms, target_nodes }) = answer else {
            (self.hard_limit_ms, self.is_asked) = (None, false);
            return own;
        };
        let extra_ms = hard_limit_ms.map_or(0.0, |limit_ms| limit_ms - budget_ms);
        let plan = Plan::new(EXTERNAL, request, budget_ms, extra_ms, target_nodes);
        (self.hard_limit_ms, self.is_asked) = (Some(plan.hard_limit_ms), true);
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        let own = self.own.observe(snapshot);
        let Some(hard_limit_ms) = self.hard_limit_ms else { return own };
        let limit = Verdict::at_limit(snapshot, hard_limit_ms, StopReason::Time);
        if limit.stop.is_some() {
            return limit;
        }
        let left_ms = hard_limit_ms - snapshot.elapsed_ms;
        let answer = match self.is_asked {
            true => self.ask::<Observed>(&Event::Observe(snapshot.clone()), "observe", left_ms),
            false => None,
        };
        self.is_asked = answer.is_some();
        match answer {
            Some(answer) => Verdict {
                stop: answer.stop.then_some(StopReason::Time),
                remaining_ms: Some(answer.remaining_ms.unwrap_or(left_ms).clamp(0.0, left_ms)),
                ..Verdict::default()
            },
            // The default manager has a plan of its own, but the latest end stays.
            None => Verdict { remaining_ms: Some(own.remaining_ms.unwrap_or(left_ms).min(left_ms)), ..own },
        }
    }

    fn wants_root_values(&self) -> bool {
        false
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        self.own.finish(outcome);
        self.hard_limit_ms = None;
        if std::mem::take(&mut self.is_asked)
            && let Ok(pipe) = &mut self.process
        {
            // A process that has ended is noticed at the next plan.
            let _ = pipe.tell("finish", &event_log::write(&Event::Finish(outcome.clone()), None));
        }
    }

    fn estimates(&self) -> Estimates {
        Estimates::default()
    }

    fn report(&self) -> Option<GameReport> {
        None
    }

    fn set_nps(&mut self, nps: f64) {
        self.own.set_nps(nps);
    }
}

#[cfg(all(test, unix))]
#[path = "external_tests.rs"]
mod tests;
