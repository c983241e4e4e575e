//! `zeitnot time explain script`: answers the events of a game that a file lists.

use super::{explanation, nps, overhead_ms};
use crate::commands::flags::{lines_of, switch, time_flags};
use crate::commands::output::say;
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use zeitnot_engine::engine::Options;
use zeitnot_engine::managers::maker_for_computation;
use zeitnot_time::event_log::{self, Event, ManagerChoice, SearchStart};
use zeitnot_time::{
    Estimates, GameReport, MoveAccount, MoveOutcome, Plan, StopReason, StopperParams, Timekeeper, Verdict,
};

const SCRIPT_HELP: &str = r#"A script has one event a line, in the order of a game: a plan, any number of looks at the search, the end. The event
log of a game is a script, too; the answers in it are passed over.
Times are in milliseconds on the move's clock; what stands in brackets may be left out.

  {"event":"plan","clock_ms":60000,"inc_ms":600,"ply":24,"reused":9000}
  {"event":"observe","t_ms":1200,"first_batch_ms":1150,"new_nodes":1200,"visits":[800,400]}
  {"event":"finish","t_ms":2100,"total_nodes":11100}

  plan     the facts that the manager gets before the move: clock_ms [inc_ms, movestogo, ply, overhead_ms (else that of
           --overhead), lag_ms, missing_inc_ms, opponents_clock (bool), evaluation_ms (of one position), reused (nodes), moves_left
           (plies, of the network), pieces, legal_moves, captures, check (bool)]
  observe  a look at the running search: t_ms [first_batch_ms (since the end of the first batch), new_nodes, total_nodes
           (else new and reused ones), batches, depth (average, whole plies), mate (in moves), visits (of the moves at the
           root), win_found, may_resign, need_more_time (bool), losing_edges, best_move (index into visits; else the most
           visited), best_value and second_value (-1 to 1), moves_left, lines (with
           MultiPV: unvisited, visited or proven)]
  finish   the move is played: t_ms [total_nodes, stop (else that of the last look), first_evaluation_ms]

Rarer ones, as an event log has them: another manager (--manager goes before it), a new game, another game that goes on, a tree
that is not the last one's, a move from the book, and the limits beside the clock with the options of all stoppers, before
the plan of their move:

  {"event":"manager","spec":"smooth","measure_lag":true}
  {"event":"new_game"}
  {"event":"other_game","keep_time_stats":false}
  {"event":"tree_changed"}
  {"event":"book_move","ply":2,"clock_ms":60000,"inc_ms":600}
  {"event":"search","limits":{"movetime_ms":3000},"stoppers":{"smart_pruning_factor":1.33},"evaluation_ms":2.5}"#;

pub fn command() -> Command {
    explanation("script", "Answer the events of a script, such as the event log of a game")
        .after_long_help(SCRIPT_HELP)
        .arg(
            Arg::new("script")
                .value_name("FILE.jsonl")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Events, one JSON object a line (- reads standard input)")
                .long_help(
                    "Events, one JSON object a line (- reads standard input); each is answered with one line of JSON",
                ),
        )
        .arg(nps())
        .arg(
            switch("table", "Answers for people")
                .long_help("Answers for people: every term of a plan, and what became of the move")
                .conflicts_with("json"),
        )
        .arg(
            switch("stoppers", "Answers of all stoppers, not of the manager alone")
                .long_help("Answers of all stoppers at each look, smart pruning among them, not of the manager alone"),
        )
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let defaults = Options::default();
    let path = matches.get_one::<PathBuf>("script").context("FILE.jsonl is required")?;
    let manager = matches.get_one::<String>("manager");
    let overhead_ms = overhead_ms(matches)?;
    let overhead_is_set = matches.contains_id("overhead");
    let params = StopperParams { overhead_ms, overhead_is_set, ..defaults.stopper_params() };
    let terms = Terms {
        spec: manager.unwrap_or(&defaults.time_manager),
        insists: manager.is_some(),
        nps: time_flags::speeds(matches)?.first().copied(),
        overhead_ms,
        stoppers: matches.get_flag("stoppers").then_some(params),
        as_table: matches.get_flag("table"),
    };
    answer(path, &terms)
}

/// The answer to an event: serialised for programs, displayed for people.
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
    /// The account of the move; `None` for a search without a clock.
    #[serde(rename = "move")]
    account: Option<MoveAccount>,
}

/// Settings for reading and answering a script.
struct Terms<'a> {
    /// The manager that is asked.
    spec: &'a str,
    /// Whether `spec` is asked even if the script names another manager.
    insists: bool,
    /// The speed that the manager expects, in nodes a second, as if it had learned it.
    nps: Option<f64>,
    /// The move overhead for plans that name none, in milliseconds.
    overhead_ms: f64,
    /// The options of the stoppers for searches whose beginning the script lacks; `None`: the manager alone decides
    /// there.
    stoppers: Option<StopperParams>,
    /// Whether the answers are for people.
    as_table: bool,
}

/// Answers each event of the file with a line of JSON, or with text for people. Answers in an event log are skipped.
fn answer(path: &Path, terms: &Terms) -> anyhow::Result<()> {
    let cannot_read = || format!("cannot read {}", path.display());
    let mut game = Game::new(terms)?;
    for (index, line) in lines_of(path).with_context(cannot_read)?.enumerate() {
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

/// The state of the answered game between two events.
struct Game<'a> {
    terms: &'a Terms<'a>,
    time: Timekeeper,
    /// Whether the script had an event for the beginning of the search that is planned next.
    search_began: bool,
    reused_nodes: u64,
    stop: Option<StopReason>,
}

impl<'a> Game<'a> {
    fn new(terms: &'a Terms<'a>) -> anyhow::Result<Game<'a>> {
        // Clocks that are written by hand need not add up.
        let time = Timekeeper::with(terms.spec, maker_for_computation())?.without_lag();
        let mut game = Game { terms, time, search_began: false, reused_nodes: 0, stop: None };
        game.set_nps();
        Ok(game)
    }

    /// Sets the manager's estimate of speed, if a flag gives one.
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
                    // A search without a clock has no account.
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
