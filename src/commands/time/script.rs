//! Events of a game, read from a file: what a manager is told, in the order it is told it.

use super::super::output::say;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;
use zeitnot::time_manager::{
    Estimates, MoveAccount, MoveOutcome, MoveRequest, Plan, SearchLimits, SearchSnapshot, StopReason, StopperParams,
    Stoppers, TimeManager,
};

/// One line of a script. Times are in milliseconds on the move's clock.
#[derive(Debug, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
enum Event {
    Plan {
        clock_ms: f64,
        #[serde(default)]
        inc_ms: f64,
        #[serde(default)]
        movestogo: Option<u32>,
        #[serde(default)]
        ply: u32,
        /// Instead of the command line's.
        #[serde(default)]
        overhead_ms: Option<f64>,
        #[serde(default)]
        reused: u64,
        /// In plies.
        #[serde(default)]
        moves_left: Option<f64>,
        #[serde(default)]
        pieces: Option<u32>,
        #[serde(default)]
        legal_moves: Option<u32>,
        #[serde(default)]
        captures: Option<u32>,
        #[serde(default)]
        check: bool,
    },
    Observe {
        t_ms: f64,
        /// Since the end of the first batch; absent or null before it.
        #[serde(default)]
        first_batch_ms: Option<f64>,
        #[serde(default)]
        new_nodes: u64,
        /// The reused ones among them; they are added where it is absent.
        #[serde(default)]
        total_nodes: Option<u64>,
        #[serde(default)]
        batches: u64,
        /// Average depth in plies.
        #[serde(default)]
        depth: u32,
        #[serde(default)]
        visits: Vec<u32>,
        #[serde(default)]
        need_more_time: bool,
        /// Index into the visits; the most visited one where it is absent.
        #[serde(default)]
        best_move: Option<usize>,
        /// −1 to 1.
        #[serde(default)]
        best_value: Option<f64>,
        #[serde(default)]
        second_value: Option<f64>,
        /// In plies.
        #[serde(default)]
        moves_left: Option<f64>,
    },
    Finish {
        t_ms: f64,
        #[serde(default)]
        total_nodes: u64,
    },
}

/// What is said to an event: a line of JSON each, or `{}` for people.
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
            Self::Observed(Observed { t_ms, reason, remaining_ms, nps, .. }) => {
                write!(f, "{t_ms:.0} ms: ")?;
                match reason {
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
                let told = account.map(ToString::to_string).into_iter().chain(finished.statistics.clone());
                f.write_str(&told.collect::<Vec<_>>().join("\n"))
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
    reason: Option<StopReason>,
    remaining_ms: Option<f64>,
    remaining_nodes: Option<f64>,
    nps: Option<f64>,
}

/// The answer to the end of a move.
#[derive(Serialize)]
struct Finished {
    #[serde(flatten)]
    estimates: Estimates,
    statistics: Option<String>,
    /// What the move took, what stopped it, and when time would have.
    #[serde(rename = "move")]
    account: Option<MoveAccount>,
}

/// Answers every event of the file, with one line of JSON or as a table.
pub(super) fn answer(
    manager: &mut dyn TimeManager,
    path: &Path,
    overhead_ms: f64,
    stoppers: Option<StopperParams>,
    as_table: bool,
) -> anyhow::Result<()> {
    let cannot_read = || format!("cannot read {}", path.display());
    let lines: Box<dyn BufRead> = match path.as_os_str() == "-" {
        true => Box::new(stdin().lock()),
        false => Box::new(BufReader::new(File::open(path).with_context(cannot_read)?)),
    };
    let mut game = Game { manager, overhead_ms, params: stoppers, stoppers: None, reused_nodes: 0, stop: None };
    for (index, line) in lines.lines().enumerate() {
        let line = line.with_context(cannot_read)?;
        if line.trim().is_empty() {
            continue;
        }
        let at = || format!("{} line {} is no event", path.display(), index + 1);
        let event: Event = serde_json::from_str(&line).with_context(at)?;
        let answer = game.answer(event);
        match as_table {
            true => say!("{answer}"),
            false => say!("{}", serde_json::to_string(&answer)?),
        }
    }
    Ok(())
}

/// What must be known from one event to the next.
struct Game<'a> {
    manager: &'a mut dyn TimeManager,
    /// Where an event does not say.
    overhead_ms: f64,
    /// Of all stoppers, where they are asked.
    params: Option<StopperParams>,
    /// Those of the move.
    stoppers: Option<Stoppers>,
    reused_nodes: u64,
    stop: Option<StopReason>,
}

impl Game<'_> {
    fn answer(&mut self, event: Event) -> Answer {
        match event {
            Event::Plan {
                clock_ms,
                inc_ms,
                movestogo,
                ply,
                overhead_ms,
                reused,
                moves_left,
                pieces,
                legal_moves,
                captures,
                check,
            } => {
                (self.reused_nodes, self.stop) = (reused, None);
                self.stoppers = self.params.as_ref().map(|params| Stoppers::new(&SearchLimits::default(), params));
                Answer::Plan(self.manager.plan(&MoveRequest {
                    clock_ms,
                    increment_ms: inc_ms,
                    moves_to_go: movestogo,
                    ply,
                    overhead_ms: overhead_ms.unwrap_or(self.overhead_ms),
                    reused_nodes: reused,
                    moves_left_plies: moves_left,
                    pieces,
                    legal_moves,
                    captures,
                    in_check: check,
                }))
            }
            Event::Observe {
                t_ms,
                first_batch_ms,
                new_nodes,
                total_nodes,
                batches,
                depth,
                visits,
                need_more_time,
                best_move,
                best_value,
                second_value,
                moves_left,
            } => {
                let snapshot = SearchSnapshot {
                    elapsed_ms: t_ms,
                    since_first_batch_ms: first_batch_ms,
                    new_nodes,
                    total_nodes: total_nodes.unwrap_or(self.reused_nodes.saturating_add(new_nodes)),
                    batches,
                    average_depth: depth,
                    root_visits: &visits,
                    need_more_time,
                    best_move,
                    best_value,
                    second_value,
                    moves_left_plies: moves_left,
                    ..SearchSnapshot::default()
                };
                let verdict = match &mut self.stoppers {
                    Some(stoppers) => stoppers.check(&snapshot, Some(&mut *self.manager)),
                    None => self.manager.observe(&snapshot),
                };
                self.stop = verdict.stop;
                Answer::Observed(Observed {
                    t_ms,
                    stop: verdict.stop.is_some(),
                    reason: verdict.stop,
                    remaining_ms: verdict.remaining_ms,
                    remaining_nodes: verdict.remaining_playouts,
                    nps: verdict.nps,
                })
            }
            Event::Finish { t_ms, total_nodes } => {
                self.manager.finish(&MoveOutcome {
                    elapsed_ms: t_ms,
                    total_nodes,
                    stop: self.stop.take(),
                    ..MoveOutcome::default()
                });
                Answer::Finished(Box::new(Finished {
                    estimates: self.manager.estimates(),
                    statistics: self.manager.statistics().map(ToString::to_string),
                    account: self.manager.last_move().cloned(),
                }))
            }
        }
    }
}
