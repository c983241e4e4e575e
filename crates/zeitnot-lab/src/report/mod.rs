//! Writes a report about games, matches and replays: one page with charts and their numbers as tables, which needs no
//! other file and makes no request.
//!
//! | file | what |
//! |---|---|
//! | `input` | the inputs of a file: games, a log, or the results of commands by their kinds |
//! | `runs` | rows of several files that belong together, by their conditions |
//! | `games`, `clocks`, `budgets`, `means`, `budget_figures`, `people` | games with clocks |
//! | `lost_games` | the table of games lost on time |
//! | `replays`, `comparisons`, `simulations`, `matches`, `audits` | the sections about the other inputs |
//! | `clock_figures` | the figures that several sections have |
//! | `figure` | sections, figures and tables |
//! | `page` | the page, from the templates in `templates/` |

mod audits;
mod budget_figures;
mod budgets;
mod clock_figures;
mod clocks;
mod comparisons;
mod figure;
mod games;
mod input;
mod lost_games;
mod matches;
mod means;
mod page;
mod people;
mod replays;
mod runs;
mod simulations;

pub use figure::{Figure, Listing, Section, Table};
pub use page::page;

use input::{Input, read_input};
use runs::{Run, RunRow, RunRows};
use std::io::{self, Read, Seek};
use std::path::Path;
use zeitnot_base::words::slug;
use zeitnot_games::pgn_reader::PgnGame;
use zeitnot_time::SpecError;

/// Settings of a report about games.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportRules {
    /// The time managers that are asked about each move of games in PGN.
    pub managers: Vec<String>,
    /// The overhead per move that the managers reserve, in milliseconds.
    pub overhead_ms: f64,
    /// Whether the managers are asked only about games between engines.
    pub spares_people: bool,
    /// The only player that is shown; `None` shows all.
    pub player: Option<String>,
}

/// Advice to read another file in place of a match's journal.
pub const MATCH_JOURNAL: &str =
    "that is the journal of a match: its games are in the PGN beside it, whose name has no .jsonl";

/// Why there is no report on a file.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum ReportError {
    /// The file is none of the inputs.
    #[error("neither games in PGN, nor JSON of match, time replay, compare, simulate or audit")]
    Unknown,
    /// The file is JSON of something else.
    #[error(
        "JSON of none of the commands match, time replay, time compare, time simulate and time audit (with --json)"
    )]
    UnknownJson,
    /// The file is a journal, which has the games for `--resume` alone.
    #[error("{}", MATCH_JOURNAL)]
    Journal,
    /// An object in the file has no kind.
    #[error(
        "entry {number} has no \"kind\", which results have since version 0.1: make it again with match, time replay, time compare, time simulate or time audit (with --json)"
    )]
    NoKind { number: usize },
    /// The file is not a text that can be read.
    #[error("{0}")]
    Text(io::Error),
    /// The JSON is damaged.
    #[error("line {line}: {reason}")]
    Json { line: usize, reason: String },
    /// An object in the file is damaged, or not of its kind.
    #[error("entry {number}: {reason}")]
    Entry { number: usize, reason: String },
    /// The file is an audit without a move.
    #[error("an audit of no move")]
    EmptyAudit,
    /// No clock is known in any game.
    #[error("no move of its {games} games has a clock or a time in its comments{}", .problem.as_ref().map_or_else(String::new, |problem| format!("; {problem}")))]
    NoClocks { games: usize, problem: Option<String> },
    /// The player that is to be shown has no game.
    #[error("--player {0}: no game of that player has a clock")]
    NoPlayer(String),
    /// A manager that is to be asked does not exist.
    #[error(transparent)]
    Manager(#[from] SpecError),
    /// The file cannot be read.
    #[error("cannot read it")]
    Read(#[from] std::io::Error),
    /// The template failed.
    #[error("the page cannot be written: {0}")]
    Page(#[from] askama::Error),
}

/// Findings in a file that was added to a report, for messages: games, damage and assumptions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Added {
    /// Whether the file has games in PGN: managers are asked about the moves of these alone.
    pub has_games: bool,
    /// The damaged games of the file, and how each is damaged.
    pub problems: Vec<String>,
    /// Assumptions in reading clocks, and moves left out: a line for each kind.
    pub remarks: Vec<String>,
}

/// The contents of a report in the order of its inputs. Replays under the same conditions become one section, whatever
/// files they come from, and so do simulations: their curves belong together.
#[derive(Clone, Debug, Default)]
pub struct Report {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Whole(Box<Section>),
    Run(Run),
}

impl Part {
    fn run(&self) -> Option<&Run> {
        if let Part::Run(run) = self { Some(run) } else { None }
    }

    fn run_mut(&mut self) -> Option<&mut Run> {
        if let Part::Run(run) = self { Some(run) } else { None }
    }
}

impl Report {
    /// Adds a file, which the report calls `path`. Games are read twice, one after another, and never all held.
    ///
    /// # Errors
    /// [`ReportError`]; the report is then unchanged.
    pub fn add(
        &mut self,
        path: impl AsRef<Path>,
        source: &mut (impl Read + Seek),
        rules: &ReportRules,
    ) -> Result<Added, ReportError> {
        let path = path.as_ref();
        let name = &*path.to_string_lossy();
        let mut added = Added::default();
        for input in read_input(source)? {
            match input {
                Input::Games => self.add_section(games::section(path, source, rules, &mut added)?),
                Input::Comparison(comparison) => self.add_section(comparisons::section(name, &comparison)),
                Input::Matches(matches) => self.add_section(matches::section(name, &matches)),
                Input::Audit(audit) => self.add_section(audits::section(name, &audit)),
                Input::Row(row) => self.add_row(name, row),
            }
        }
        Ok(added)
    }

    /// Adds a row of the file `name` to the run with its conditions, or begins a run.
    fn add_row(&mut self, name: &str, row: RunRow) {
        let mut left = Some(row);
        for run in self.parts.iter_mut().filter_map(Part::run_mut) {
            left = left.and_then(|row| run.add(name, row));
        }
        self.parts.extend(left.map(|row| Part::Run(Run::new(name, row))));
    }

    fn add_section(&mut self, section: Section) {
        self.parts.push(Part::Whole(Box::new(section)));
    }

    /// The sections, each with a unique name, and in each the figures with unique names. No name holds `--`: with that
    /// between the two names, no two figures of a report have the same identifier or file.
    pub fn sections(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = Vec::new();
        let runs: Vec<&Run> = self.parts.iter().filter_map(Part::run).collect();
        for part in &self.parts {
            let section = match part {
                Part::Whole(section) => Section::clone(section),
                Part::Run(run) => match &run.rows {
                    RunRows::Replays(rows) => replays::section(&run.title(&runs), rows),
                    RunRows::Simulations(rows) => simulations::section(&run.title(&runs), rows),
                },
            };
            let name = free_name(&slug(&section.title), |name| sections.iter().all(|other| other.name != *name));
            let mut used: Vec<String> = Vec::new();
            let mut named = Section { name, ..section };
            for figure in &mut named.figures {
                figure.name = free_name(&figure.name, |name| !used.iter().any(|other| other == name));
                used.push(figure.name.clone());
            }
            sections.push(named);
        }
        sections
    }
}

/// The first free name of `base`, `base-2`, `base-3` and so on.
fn free_name(base: &str, is_free: impl Fn(&str) -> bool) -> String {
    let numbered = |number| if number == 1 { base.to_owned() } else { format!("{base}-{number}") };
    (1..).map(numbered).find(|name| is_free(name)).unwrap_or_default()
}

/// Describes the damage of a game, if it has any.
fn problem(game: &PgnGame) -> Option<String> {
    let problem = game.problem.as_ref()?;
    Some(format!("game {}: {problem}: the rest of it is left out", game.number))
}

#[cfg(test)]
mod tests;
