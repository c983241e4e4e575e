//! Writes a report about games, matches and replays: one page with charts, their numbers as tables, and boards, which needs no
//! other file and makes no request.
//!
//! | file | what |
//! |---|---|
//! | `input`, `records` | which input a file is, told by its content; the JSON of other commands |
//! | `games`, `clocks`, `budgets`, `board` | games with clocks, and one of them move by move |
//! | `replays`, `comparisons`, `simulations`, `matches`, `audits`, `tmgr` | the sections about the other inputs |
//! | `clock_use` | the figures that several sections have |
//! | `figure` | sections, figures and tables |
//! | `words` | numbers as people read them |
//! | [`svg`] | the charts |
//! | `page` | the page, from the templates in `templates/` |

mod audits;
mod board;
mod budgets;
mod clock_use;
mod clocks;
mod comparisons;
mod figure;
mod games;
mod input;
mod matches;
mod page;
mod records;
mod replays;
mod simulations;
pub mod svg;
mod tmgr;
mod words;

pub use board::{Board, BoardSquare, Ply};
pub use figure::{Figure, Section, Table};
pub use page::page;
pub use words::{grouped, time};

use crate::time_manager::SpecError;
use input::{Input, read_input};
use records::{ReplayRecord, SimulationRecord};
use words::{listed, slug};

/// How games are looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportRules {
    /// The time managers that are asked about each move of games in PGN.
    pub managers: Vec<String>,
    /// The overhead of a move that they keep clear, in milliseconds.
    pub overhead_ms: f64,
    /// The number of the game whose board is shown, from 1, in each file of games; `None`: the first one with clocks.
    pub game: Option<usize>,
}

/// Why a file is not reported on.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// It is none of the inputs.
    #[error(
        "neither games in PGN, nor JSON of match, time replay, compare, simulate or audit, nor a log of Lc0 with lines of TMGR:"
    )]
    Unknown,
    /// It is JSON of something else.
    #[error(
        "JSON of none of the commands match, time replay, time compare, time simulate and time audit (with --json)"
    )]
    UnknownJson,
    /// Its JSON is damaged.
    #[error("line {line}: {reason}")]
    Json {
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// An object in it is not like the first one.
    #[error("entry {number}: {reason}")]
    Entry {
        /// The number of the object, from 1.
        number: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// It is a log without a move.
    #[error("a log with lines of TMGR:, but no move in them")]
    EmptyLog,
    /// It is an audit without a move.
    #[error("an audit of no move")]
    EmptyAudit,
    /// No clock is told in any game.
    #[error("no move of its {games} games has a clock or a time in its comments")]
    NoClocks {
        /// Games in the file.
        games: usize,
    },
    /// The game whose board is asked for is not there.
    #[error("no game {number} with clocks among its {games}")]
    NoGame {
        /// The game that is asked for.
        number: usize,
        /// Games with clocks in the file.
        games: usize,
    },
    /// A manager that is to be asked is none.
    #[error(transparent)]
    Manager(#[from] SpecError),
    /// The template failed.
    #[error("the page cannot be written: {0}")]
    Page(#[from] askama::Error),
}

/// What a report tells of, in the order of its inputs. Replays over as many moves become one section, and so do all
/// simulations: their curves belong together, whatever files they come from.
#[derive(Clone, Debug, Default)]
pub struct Report {
    parts: Vec<Part>,
}

#[derive(Clone, Debug)]
enum Part {
    Whole(Box<Section>),
    Replays { names: Vec<String>, moves: u64, rows: Vec<ReplayRecord> },
    Simulations { names: Vec<String>, rows: Vec<SimulationRecord> },
}

impl Report {
    /// Adds a file. `name` is what the report calls it.
    ///
    /// # Errors
    /// [`ReportError`], and the report is as it was.
    pub fn add(&mut self, name: &str, bytes: &[u8], rules: &ReportRules) -> Result<(), ReportError> {
        for input in read_input(bytes)? {
            match input {
                Input::Games(games) => self.add_section(games::section(name, games, rules)?),
                Input::Comparison(record) => self.add_section(comparisons::section(name, &record)),
                Input::Matches(records) => self.add_section(matches::section(name, &records)),
                Input::Audit(audit) => self.add_section(audits::section(name, &audit)),
                Input::Tmgr(moves) => self.add_section(tmgr::section(name, &moves)),
                Input::Replays(rows) => self.add_replays(name, rows),
                Input::Simulations(rows) => self.add_simulations(name, rows),
            }
        }
        Ok(())
    }

    fn add_section(&mut self, section: Section) {
        self.parts.push(Part::Whole(Box::new(section)));
    }

    fn add_replays(&mut self, name: &str, new: Vec<ReplayRecord>) {
        let most = new.iter().map(|row| row.moves).max().unwrap_or(0);
        for part in &mut self.parts {
            if let Part::Replays { names, moves, rows } = part
                && *moves == most
            {
                names.push(name.to_owned());
                rows.extend(new);
                return;
            }
        }
        self.parts.push(Part::Replays { names: vec![name.to_owned()], moves: most, rows: new });
    }

    fn add_simulations(&mut self, name: &str, new: Vec<SimulationRecord>) {
        for part in &mut self.parts {
            if let Part::Simulations { names, rows } = part {
                names.push(name.to_owned());
                rows.extend(new);
                return;
            }
        }
        self.parts.push(Part::Simulations { names: vec![name.to_owned()], rows: new });
    }

    /// The sections, each with a name of its own.
    pub fn sections(&self) -> Vec<Section> {
        let mut sections: Vec<Section> = Vec::new();
        for part in &self.parts {
            let section = match part {
                Part::Whole(section) => Section::clone(section),
                Part::Replays { names, rows, .. } => replays::section(&listed(names), rows),
                Part::Simulations { names, rows } => simulations::section(&listed(names), rows),
            };
            let base = slug(&section.title);
            let names = (1..).map(|number| if number == 1 { base.clone() } else { format!("{base}-{number}") });
            let is_free = |name: &String| sections.iter().all(|other| other.name != *name);
            let name = names.into_iter().find(is_free).unwrap_or_default();
            sections.push(Section { name, ..section });
        }
        sections
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: fn() -> ReportRules = || ReportRules { managers: Vec::new(), overhead_ms: 0.0, game: None };

    #[test]
    fn replays_of_the_same_moves_become_one_section() {
        let row = |moves: u64, nodes: u64| {
            format!(
                r#"[{{"manager":"smooth","moves":{moves},"mean_nodes":{nodes},"regret":0.1,"agreement":0.5,"stops":{{"time":1}},"oracle_regret":0.0}}]"#
            )
        };
        let mut report = Report::default();
        for (name, moves, nodes) in [("a", 12, 100), ("b", 99, 100), ("c", 12, 200)] {
            report.add(name, row(moves, nodes).as_bytes(), &RULES()).unwrap();
        }
        let sections = report.sections();
        let titles: Vec<&str> = sections.iter().map(|section| section.title.as_str()).collect();
        assert_eq!(titles, ["Replays of a and c", "Replays of b"]);
        assert!(sections[0].figures.iter().any(|figure| figure.name == "regret-over-nodes"));
    }

    #[test]
    fn sections_have_names_of_their_own() {
        let mut report = Report::default();
        for _ in 0..3 {
            report.add("lc0.log", b"TMGR: MOVE TIME: allocated()=5ms", &RULES()).unwrap();
        }
        let names: Vec<String> = report.sections().into_iter().map(|section| section.name).collect();
        assert_eq!(names, ["lc0-s-log-lc0-log", "lc0-s-log-lc0-log-2", "lc0-s-log-lc0-log-3"]);
    }

    #[test]
    fn games_without_clocks_and_games_that_are_not_there_are_told() {
        let mut report = Report::default();
        let error = report.add("a", b"1. e4 e5 *\n\n1. d4 *\n", &RULES()).unwrap_err();
        assert_eq!(error.to_string(), "no move of its 2 games has a clock or a time in its comments");
        let rules = ReportRules { game: Some(5), ..RULES() };
        let error = report.add("a", b"1. e4 {[%emt 0:00:01] [%clk 0:00:09]} *\n", &rules).unwrap_err();
        assert_eq!(error.to_string(), "no game 5 with clocks among its 1");
        assert!(report.sections().is_empty());
    }
}
