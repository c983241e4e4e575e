//! Events of a game, read from a file: what a manager is told, in the order it is told it.

use super::super::output::say;
use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, BufReader, stdin};
use std::path::Path;
use zeitnot::time_manager::{Estimates, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager};

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

/// The answer to an observation.
#[derive(Serialize)]
struct Observed {
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
}

/// Answers every event of the file with one line of JSON.
pub(super) fn answer(manager: &mut dyn TimeManager, path: &Path, overhead_ms: f64) -> anyhow::Result<()> {
    let cannot_read = || format!("cannot read {}", path.display());
    let lines: Box<dyn BufRead> = match path.as_os_str() == "-" {
        true => Box::new(stdin().lock()),
        false => Box::new(BufReader::new(File::open(path).with_context(cannot_read)?)),
    };
    let mut reused = 0;
    for (index, line) in lines.lines().enumerate() {
        let line = line.with_context(cannot_read)?;
        if line.trim().is_empty() {
            continue;
        }
        let at = || format!("{} line {} is no event", path.display(), index + 1);
        let event: Event = serde_json::from_str(&line).with_context(at)?;
        say!("{}", answer_one(manager, event, overhead_ms, &mut reused)?);
    }
    Ok(())
}

fn answer_one(
    manager: &mut dyn TimeManager,
    event: Event,
    usual_overhead_ms: f64,
    reused_nodes: &mut u64,
) -> serde_json::Result<String> {
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
            *reused_nodes = reused;
            serde_json::to_string(&manager.plan(&MoveRequest {
                clock_ms,
                increment_ms: inc_ms,
                moves_to_go: movestogo,
                ply,
                overhead_ms: overhead_ms.unwrap_or(usual_overhead_ms),
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
            let verdict = manager.observe(&SearchSnapshot {
                elapsed_ms: t_ms,
                since_first_batch_ms: first_batch_ms,
                new_nodes,
                total_nodes: total_nodes.unwrap_or(reused_nodes.saturating_add(new_nodes)),
                batches,
                average_depth: depth,
                root_visits: &visits,
                need_more_time,
                best_move,
                best_value,
                second_value,
                moves_left_plies: moves_left,
                ..SearchSnapshot::default()
            });
            serde_json::to_string(&Observed {
                stop: verdict.stop.is_some(),
                reason: verdict.stop,
                remaining_ms: verdict.remaining_ms,
                remaining_nodes: verdict.remaining_playouts,
                nps: verdict.nps,
            })
        }
        Event::Finish { t_ms, total_nodes } => {
            manager.finish(&MoveOutcome { elapsed_ms: t_ms, total_nodes, stop: None });
            let statistics = manager.statistics().map(ToString::to_string);
            serde_json::to_string(&Finished { estimates: manager.estimates(), statistics })
        }
    }
}
