//! Puts rows of several files together that have the same conditions, and names the sections by the conditions that differ.

use super::Part;
use super::records::{ReplayRecord, SimulationRecord};
use crate::traces::Speed;
use zeitnot_text::words::listed;

/// Characters of a digest that are shown.
const SHOWN_DIGEST: usize = 8;

/// The conditions of a row: all that rows of one section have in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conditions {
    /// Whether all of them are told; older files lack some, and their rows belong to those of their file alone.
    is_whole: bool,
    facts: Vec<Fact>,
}

/// A condition.
#[derive(Clone, Debug, PartialEq)]
struct Fact {
    name: &'static str,
    value: String,
    /// Whether it is the digest of files, which names no file.
    is_digest: bool,
}

/// A row whose curves belong to those of other rows.
pub trait Row: Sized {
    /// The conditions that it shares with them.
    fn conditions(&self) -> Conditions;
    /// A part of a report that has such rows.
    fn part(run: Run<Self>) -> Part;
    /// The rows of a part, if they are such.
    fn run(part: &Part) -> Option<&Run<Self>>;
    /// The same, to be changed.
    fn run_mut(part: &mut Part) -> Option<&mut Run<Self>>;
}

/// Rows with the same conditions.
#[derive(Clone, Debug)]
pub struct Run<T> {
    /// The files that they come from.
    names: Vec<String>,
    conditions: Conditions,
    /// The rows.
    pub rows: Vec<T>,
}

/// Adds a row of a file to those with its conditions. `first`: the first part of this file.
pub fn add_row<T: Row>(parts: &mut Vec<Part>, first: usize, name: &str, row: T) {
    let conditions = row.conditions();
    let is_its = |(at, part): (usize, &Part)| {
        (conditions.is_whole || at >= first) && T::run(part).is_some_and(|run| run.conditions == conditions)
    };
    let at = parts.iter().enumerate().position(is_its);
    match at.and_then(|at| T::run_mut(&mut parts[at])) {
        Some(run) => {
            if run.names.last().is_none_or(|last| last != name) {
                run.names.push(name.to_owned());
            }
            run.rows.push(row);
        }
        None => parts.push(T::part(Run { names: vec![name.to_owned()], conditions, rows: vec![row] })),
    }
}

impl<T: Row> Run<T> {
    /// The rows of a part, if they are such.
    pub fn of_part(part: &Part) -> Option<&Run<T>> {
        T::run(part)
    }

    /// Its files, and the conditions in which it differs from the other runs. Digests are named only where the files are the same.
    pub fn title(&self, runs: &[&Run<T>]) -> String {
        let differs = |fact: &&Fact| {
            runs.iter().any(|run| {
                let is_other = |other: &Fact| other.name == fact.name && other.value != fact.value;
                (!fact.is_digest || run.names == self.names) && run.conditions.facts.iter().any(is_other)
            })
        };
        let told = self.conditions.facts.iter().filter(differs).map(|fact| {
            let most = if fact.is_digest { SHOWN_DIGEST } else { usize::MAX };
            format!(", {} {}", fact.name, fact.value.chars().take(most).collect::<String>())
        });
        listed(&self.names) + &told.collect::<String>()
    }
}

impl Conditions {
    /// The conditions of those facts that are told; each with whether it is a digest.
    fn new(facts: impl IntoIterator<Item = (&'static str, Option<String>, bool)>) -> Conditions {
        let mut conditions = Conditions { is_whole: true, facts: Vec::new() };
        for (name, value, is_digest) in facts {
            match value {
                Some(value) => conditions.facts.push(Fact { name, value, is_digest }),
                None => conditions.is_whole = false,
            }
        }
        conditions
    }
}

impl Row for ReplayRecord {
    /// All but the manager and the playouts.
    fn conditions(&self) -> Conditions {
        Conditions::new([
            ("traces", self.traces.clone(), true),
            ("tc", self.tc.clone(), false),
            ("batch", self.batch.map(|batch| batch.to_string()), false),
        ])
    }

    fn part(run: Run<ReplayRecord>) -> Part {
        Part::Replays(run)
    }

    fn run(part: &Part) -> Option<&Run<ReplayRecord>> {
        if let Part::Replays(run) = part { Some(run) } else { None }
    }

    fn run_mut(part: &mut Part) -> Option<&mut Run<ReplayRecord>> {
        if let Part::Replays(run) = part { Some(run) } else { None }
    }
}

impl Row for SimulationRecord {
    /// All but the manager and the time control.
    fn conditions(&self) -> Conditions {
        // Files that tell the seed tell all of them; a fact may be nothing.
        let Some(seed) = self.seed else { return Conditions::default() };
        let usual = || if self.fit.is_some() { "of the journal".to_owned() } else { Speed::USUAL_NPS.to_string() };
        let or_none = |fact: &Option<String>| Some(fact.clone().unwrap_or_else(|| "none".to_owned()));
        Conditions::new([
            ("traces", self.traces.clone(), true),
            ("fit", or_none(&self.fit), true),
            ("nps", Some(self.nps.map_or_else(usual, |nps| nps.to_string())), false),
            ("batch", self.batch.map(|batch| batch.to_string()), false),
            ("lag", or_none(&self.lag), false),
            ("games", Some(self.games.to_string()), false),
            ("seed", Some(seed.to_string()), false),
        ])
    }

    fn part(run: Run<SimulationRecord>) -> Part {
        Part::Simulations(run)
    }

    fn run(part: &Part) -> Option<&Run<SimulationRecord>> {
        if let Part::Simulations(run) = part { Some(run) } else { None }
    }

    fn run_mut(part: &mut Part) -> Option<&mut Run<SimulationRecord>> {
        if let Part::Simulations(run) = part { Some(run) } else { None }
    }
}
