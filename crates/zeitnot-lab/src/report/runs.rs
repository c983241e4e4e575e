//! Puts rows of several files together that have the same conditions, and names the sections by the conditions that
//! differ.

use crate::recordings::Speed;
use crate::results::{ReplayResult, SimulationResult};
use std::mem::discriminant;
use zeitnot_text::words::listed;

/// Characters of a digest that are shown.
const SHOWN_DIGEST: usize = 8;

/// Rows of one kind, whose curves belong together.
#[derive(Clone, Debug)]
pub enum Rows {
    /// Replays.
    Replays(Vec<ReplayResult>),
    /// Simulations.
    Simulations(Vec<SimulationResult>),
}

/// A condition that the rows of a section have in common.
#[derive(Clone, Debug, PartialEq)]
struct Condition {
    name: &'static str,
    value: String,
    /// Whether the value is a digest of files, which does not name them.
    is_digest: bool,
}

/// Rows with the same conditions.
#[derive(Clone, Debug)]
pub struct Run {
    /// The files that the rows come from.
    names: Vec<String>,
    conditions: Vec<Condition>,
    /// The rows.
    pub rows: Rows,
}

impl Run {
    /// The rows of a file.
    pub fn new(name: &str, rows: Rows) -> Run {
        Run { names: vec![name.to_owned()], conditions: rows.conditions(), rows }
    }

    /// Whether other rows are of the same kind and have the same conditions.
    pub fn has_conditions_of(&self, rows: &Rows) -> bool {
        self.rows.is_kind_of(rows) && self.conditions == rows.conditions()
    }

    /// Adds rows of a file.
    pub fn add(&mut self, name: &str, rows: Rows) {
        if self.names.last().is_none_or(|last| last != name) {
            self.names.push(name.to_owned());
        }
        match (&mut self.rows, rows) {
            (Rows::Replays(own), Rows::Replays(more)) => own.extend(more),
            (Rows::Simulations(own), Rows::Simulations(more)) => own.extend(more),
            _ => {}
        }
    }

    /// The files of the run, and the conditions in which it differs from the other runs of its kind. Digests are named
    /// only where the files are the same.
    pub fn title(&self, runs: &[&Run]) -> String {
        let differs = |condition: &&Condition| {
            runs.iter().filter(|run| run.rows.is_kind_of(&self.rows)).any(|run| {
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

impl Rows {
    fn is_kind_of(&self, other: &Rows) -> bool {
        discriminant(self) == discriminant(other)
    }

    /// The conditions of the first row: for replays all but the manager and the playouts, for simulations all but the
    /// manager and the time control.
    fn conditions(&self) -> Vec<Condition> {
        let digest = |name, value: &str| Condition { name, value: value.to_owned(), is_digest: true };
        let fact = |name, value: String| Condition { name, value, is_digest: false };
        match self {
            Rows::Replays(rows) => rows.first().map_or_else(Vec::new, |row| {
                vec![digest("traces", &row.traces), fact("tc", row.tc.clone()), fact("batch", row.batch.to_string())]
            }),
            Rows::Simulations(rows) => rows.first().map_or_else(Vec::new, |row| {
                let usual =
                    || if row.fit.is_some() { "of the journal".to_owned() } else { Speed::USUAL_NPS.to_string() };
                vec![
                    digest("traces", &row.traces),
                    digest("fit", row.fit.as_deref().unwrap_or("none")),
                    fact("nps", row.nps.map_or_else(usual, |nps| nps.to_string())),
                    fact("batch", row.batch.to_string()),
                    fact("lag", row.lag.clone().unwrap_or_else(|| "none".to_owned())),
                    fact("games", row.simulation.games.to_string()),
                    fact("seed", row.seed.to_string()),
                ]
            }),
        }
    }
}
