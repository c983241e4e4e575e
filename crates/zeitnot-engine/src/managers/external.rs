//! Defines the time manager that asks a program. Where the program does not answer, the default manager decides; it
//! sees all that the program sees.

use super::pipe::{Ending, Pipe, Silence};
use super::{EXTERNAL, LONGEST_WAIT, Patience};
use parking_lot::Mutex;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;
use std::time::{Duration, Instant};
use zeitnot_base::announcer::Announcer;
use zeitnot_time::event_log::{self, Event};
use zeitnot_time::{
    DEFAULT_MANAGER, Estimates, GameReport, MoveOutcome, MoveRequest, Plan, SearchSnapshot, StopReason, TimeManager,
    Verdict,
};

/// Part of the default manager's budget for the move that the program may take for its plan on a running clock.
const PART_FOR_PLAN: f64 = 0.5;
/// Factor on the wait for a plan for each late answer since the last one in time: a program that is always late costs
/// hardly more time than one that is late once.
const PART_WHEN_LATE: f64 = 0.25;
/// Shortest wait for a plan on a running clock; also the wait for an overdue answer, and for the answer to `observe`
/// while the search stands still: a pipe needs some tens of microseconds.
const SHORTEST_ON_CLOCK: Duration = Duration::from_millis(5);
/// Longest wait for an answer on a running clock: the engine hears no command while it waits for a plan.
const LONGEST_ON_CLOCK: Duration = Duration::from_secs(1);
/// Wait for the first answer, before a clock runs: programs load for seconds, and GUIs wait for ten.
const START: Duration = Duration::from_secs(5);

/// A time manager that asks a program what to do.
#[derive(Debug)]
pub(super) struct External {
    command: String,
    /// `Err`: the program is not running; the reason, until the user has been told.
    process: Result<Pipe, Option<String>>,
    /// Decides where the program does not answer.
    own: Box<dyn TimeManager>,
    patience: Patience,
    /// The engine's announcer at any time: the engine may replace it.
    announcer: Arc<Mutex<Announcer>>,
    /// Takes over the process when the manager is dropped while a clock runs.
    pub ending: Arc<Ending>,
    /// The latest end of the move, where the program planned it.
    hard_limit_ms: Option<f64>,
    /// Whether the program planned this move and is still asked when to stop.
    is_asked: bool,
    /// Whether the program was ever asked for a plan.
    is_started: bool,
    /// Whether the program has ever given a plan.
    has_answered: bool,
    /// Answers that came too late since the last plan in time.
    late: i32,
    /// The look (`observe`) whose answer is still to come: when it was sent, on the machine's clock and on the move's.
    look: Option<(Instant, f64)>,
    /// Milliseconds until the program wants to stop, as it last said, and when it said so, on the move's clock.
    left: (f64, f64),
    /// The moment on the move's clock before which the program wants no look (`observe`).
    next_ms: f64,
}

/// The program's answer to `plan`.
#[derive(Deserialize)]
struct Planned {
    budget_ms: f64,
    hard_limit_ms: Option<f64>,
    target_nodes: Option<f64>,
    next_ms: Option<f64>,
}

/// The program's answer to `observe`, a look.
#[derive(Deserialize)]
struct Observed {
    stop: bool,
    remaining_ms: Option<f64>,
    next_ms: Option<f64>,
}

impl External {
    /// Starts the program of a command line. If it does not start, the user is told at the first plan.
    pub fn start(command: &str, patience: Patience, announcer: Arc<Mutex<Announcer>>) -> External {
        External {
            command: command.to_owned(),
            process: Pipe::start(command).map_err(Some),
            own: zeitnot_time::build(DEFAULT_MANAGER).expect("the default manager exists"),
            patience,
            announcer,
            ending: Arc::default(),
            hard_limit_ms: None,
            is_asked: false,
            is_started: false,
            has_answered: false,
            late: 0,
            look: None,
            left: (0.0, 0.0),
            next_ms: 0.0,
        }
    }

    /// Asks the program for its plan; on a running clock it has `on_clock` to answer. `None` without an answer.
    fn ask(&mut self, request: &MoveRequest, on_clock: Duration) -> Option<Planned> {
        self.is_started = true;
        if let Err(Some(reason)) = self.process.as_mut().map_err(Option::take) {
            self.complain(&format!("{reason}; {DEFAULT_MANAGER} plays"));
        }
        let pipe = self.process.as_mut().ok()?;
        let wait = self.patience.time(LONGEST_WAIT, on_clock);
        let for_owed = if self.late > 0 { self.patience.time(LONGEST_WAIT, SHORTEST_ON_CLOCK) } else { wait };
        let (now, line) = (Instant::now(), event_log::write(&Event::Plan(request.clone()), None));
        let answer = pipe.ask("plan", line, now + for_owed).and_then(|()| pipe.answer(now + wait));
        let plan = self.understood(answer, "plan")?;
        (self.late, self.has_answered) = (0, true);
        Some(plan)
    }

    /// Asks the program whether the search is to stop; `None` where the default manager has to decide. On a running
    /// clock the search waits only briefly: a later answer counts at the next look.
    fn look(&mut self, snapshot: &SearchSnapshot) -> Option<bool> {
        let pipe = self.process.as_mut().ok()?;
        let (sent, at_ms) = match self.look.take() {
            Some(look) => look,
            None if snapshot.elapsed_ms < self.next_ms => return Some(self.left_ms(snapshot) <= 0.0),
            None => {
                let (now, line) = (Instant::now(), event_log::write(&Event::Observe(snapshot.clone()), None));
                if let Err(silence) = pipe.ask("observe", line, now) {
                    return self.understood(Err(silence), "observe");
                }
                (now, snapshot.elapsed_ms)
            }
        };
        let answer = pipe.answer(sent + self.patience.time(LONGEST_WAIT, SHORTEST_ON_CLOCK));
        if matches!(answer, Err(Silence::Late(_)))
            && sent.elapsed() < self.patience.time(LONGEST_WAIT, LONGEST_ON_CLOCK)
        {
            self.look = Some((sent, at_ms));
            return Some(self.left_ms(snapshot) <= 0.0);
        }
        let Observed { stop, remaining_ms, next_ms } = self.understood(answer, "observe")?;
        self.left = (remaining_ms.unwrap_or(f64::INFINITY), at_ms);
        self.next_ms = next_ms.unwrap_or_default();
        Some(stop)
    }

    /// Milliseconds until the search is to stop, by the program's last answer.
    fn left_ms(&self, snapshot: &SearchSnapshot) -> f64 {
        self.left.0 - (snapshot.elapsed_ms - self.left.1)
    }

    /// The answer to the event `what`; `None`, and the user is told, where there is none that can be read. A program
    /// that will not answer any more is ended; where the clock stands still, as a rule also one that was late.
    fn understood<A: DeserializeOwned>(&mut self, answer: Result<String, Silence>, what: &str) -> Option<A> {
        let (problem, is_over) = match answer {
            Ok(answer) => match serde_json::from_str(&answer) {
                Ok(answer) => return Some(answer),
                Err(error) => (format!("{answer:.100} is no answer to {what}: {error}"), false),
            },
            Err(Silence::Late(owed)) => {
                self.late += 1;
                // Who answers as a rule, and says something else once, loses a move.
                let is_settled = self.process.as_mut().is_ok_and(Pipe::settle);
                let is_slip = is_settled && self.has_answered && self.late == 1;
                (format!("no answer to {owed}"), self.patience == Patience::Long && !is_slip)
            }
            Err(Silence::Ended(why)) => (why.to_owned(), true),
        };
        let over = if is_over { std::mem::replace(&mut self.process, Err(None)).ok() } else { None };
        let problem = match over {
            Some(pipe) => {
                let problem = pipe.give_up(problem, self.patience.time(LONGEST_ON_CLOCK, SHORTEST_ON_CLOCK));
                format!("{problem}; {DEFAULT_MANAGER} plays on")
            }
            None => format!("{problem}; {DEFAULT_MANAGER} decides this move"),
        };
        self.complain(&format!("{}: {problem}", self.command));
        None
    }

    fn complain(&self, problem: &str) {
        let announcer = self.announcer.lock().clone();
        announcer.complain(format_args!("time manager {EXTERNAL}: {problem}"));
    }
}

impl Drop for External {
    /// Does not wait for the end of the process while the clock runs.
    fn drop(&mut self) {
        if self.patience == Patience::UntilDue
            && let Ok(pipe) = std::mem::replace(&mut self.process, Err(None))
        {
            self.ending.add(pipe);
        }
    }
}

impl TimeManager for External {
    fn name(&self) -> &'static str {
        EXTERNAL
    }

    fn get_ready(&mut self) {
        // Where no clock runs there is nothing to wait for.
        if self.patience == Patience::UntilDue && !self.is_started {
            let start = MoveRequest {
                clock_ms: 60_000.0,
                pieces: Some(32),
                legal_moves: Some(20),
                captures: Some(0),
                is_foreign_clock: true,
                ..MoveRequest::default()
            };
            let _ = self.ask(&start, START);
        }
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        let own = self.own.plan(request);
        let part_ms = own.budget_ms * PART_FOR_PLAN * PART_WHEN_LATE.powi(self.late);
        let part = Duration::try_from_secs_f64(part_ms / 1e3).unwrap_or(LONGEST_ON_CLOCK);
        self.look = None;
        let answer = self.ask(request, part.clamp(SHORTEST_ON_CLOCK, LONGEST_ON_CLOCK));
        let Some(Planned { budget_ms, hard_limit_ms, target_nodes, next_ms }) = answer else {
            (self.hard_limit_ms, self.is_asked) = (None, false);
            return own;
        };
        let extra_ms = hard_limit_ms.map_or(0.0, |limit_ms| limit_ms - budget_ms);
        let plan = Plan::new(EXTERNAL, request, budget_ms, extra_ms, target_nodes);
        (self.hard_limit_ms, self.is_asked) = (Some(plan.hard_limit_ms), true);
        (self.left, self.next_ms) = ((f64::INFINITY, 0.0), next_ms.unwrap_or_default());
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
        let stop = if self.is_asked { self.look(snapshot) } else { None };
        self.is_asked = stop.is_some();
        match stop {
            Some(stop) => Verdict {
                stop: stop.then_some(StopReason::Time),
                remaining_ms: Some(self.left_ms(snapshot).clamp(0.0, left_ms)),
                ..Verdict::default()
            },
            // The default manager has a plan of its own, but the latest end stays.
            None => Verdict { remaining_ms: Some(own.remaining_ms.unwrap_or(left_ms).min(left_ms)), ..own },
        }
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        self.own.finish(outcome);
        self.hard_limit_ms = None;
        if std::mem::take(&mut self.is_asked)
            && let Ok(pipe) = &mut self.process
        {
            // A process that has ended is noticed at the next plan.
            let _ = pipe.tell("finish", event_log::write(&Event::Finish(outcome.clone()), None));
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
