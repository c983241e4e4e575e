//! Puts rows of several files together that have the same conditions, and names the sections by the conditions that
//! differ.

use crate::results::{ReplayResult, SimulationResult};
use std::mem::discriminant;
use zeitnot_base::words::listed;
use zeitnot_games::USUAL_NPS;

/// Characters of a digest that are shown.
const SHOWN_DIGEST: usize = 8;

#[derive(Clone, Debug)]
pub enum RunRow {
    Replay(Box<ReplayResult>),
    Simulation(Box<SimulationResult>),
}

/// Rows of one kind, whose curves are drawn in the same charts.
#[derive(Clone, Debug)]
pub enum RunRows {
    Replays(Vec<ReplayResult>),
    Simulations(Vec<SimulationResult>),
}

/// A condition that the rows of a section have in common.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    name: &'static str,
    value: String,
    /// Whether the value is the digest of a file's content, which says nothing to a reader.
    is_digest: bool,
}

/// Rows with the same conditions.
#[derive(Clone, Debug)]
pub struct Run {
    /// The files that the rows come from.
    names: Vec<String>,
    conditions: Vec<Condition>,
    pub rows: RunRows,
}

impl Run {
    /// A run of one row of a file.
    pub fn new(name: &str, row: RunRow) -> Run {
        let conditions = row.conditions();
        let rows = match row {
            RunRow::Replay(row) => RunRows::Replays(vec![*row]),
            RunRow::Simulation(row) => RunRows::Simulations(vec![*row]),
        };
        Run { names: vec![name.to_owned()], conditions, rows }
    }

    /// Adds a row of the file `name` if it has the conditions of this run; otherwise returns the row.
    #[must_use]
    pub fn add(&mut self, name: &str, row: RunRow) -> Option<RunRow> {
        if self.conditions != row.conditions() {
            return Some(row);
        }
        match (&mut self.rows, row) {
            (RunRows::Replays(rows), RunRow::Replay(row)) => rows.push(*row),
            (RunRows::Simulations(rows), RunRow::Simulation(row)) => rows.push(*row),
            (_, other) => return Some(other),
        }
        if self.names.last().is_none_or(|last| last != name) {
            self.names.push(name.to_owned());
        }
        None
    }

    /// The files of the run, and the conditions in which it differs from the runs of its kind in `runs`. Digests are
    /// named only where the other run is from the same files.
    pub fn title(&self, runs: &[&Run]) -> String {
        let differs = |condition: &&Condition| {
            runs.iter().filter(|run| discriminant(&run.rows) == discriminant(&self.rows)).any(|run| {
                let is_other = |other: &Condition| other.name == condition.name && other.value != condition.value;
                (!condition.is_digest || run.names == self.names) && run.conditions.iter().any(is_other)
            })
        };
        let named = self.conditions.iter().filter(differs).map(|Condition { name, value, is_digest }| {
            let most = if *is_digest { SHOWN_DIGEST } else { usize::MAX };
            format!(", {name} {}", value.chars().take(most).collect::<String>())
        });
        listed(&self.names) + &named.collect::<String>()
    }
}

impl RunRow {
    /// The conditions under which the row was made: all but manager and playouts for a replay, all but manager and time
    /// control for a simulation.
    fn conditions(&self) -> Vec<Condition> {
        let digest = |name, value: &str| Condition { name, value: value.to_owned(), is_digest: true };
        let fact = |name, value: String| Condition { name, value, is_digest: false };
        match self {
            RunRow::Replay(row) => {
                vec![digest("recording", &row.traces), fact("tc", row.tc.clone()), fact("batch", row.batch.to_string())]
            }
            RunRow::Simulation(row) => {
                let usual = || if row.fit.is_some() { "of the journal".to_owned() } else { USUAL_NPS.to_string() };
                vec![
                    digest("recording", &row.traces),
                    digest("fit", row.fit.as_deref().unwrap_or("none")),
                    fact("nps", row.nps.map_or_else(usual, |nps| nps.to_string())),
                    fact("batch", row.batch.to_string()),
                    fact("lag", row.lag.clone().unwrap_or_else(|| "none".to_owned())),
                    fact("games", row.simulation.games.to_string()),
                    fact("seed", row.seed.to_string()),
                ]
            }
        }
    }
}
