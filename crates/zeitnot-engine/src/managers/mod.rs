//! Makes the time managers that specifications name: those of [`zeitnot_time`], and `external(command="...")`, a program
//! behind a pipe (docs/time-managers/external.md).

mod external;
mod pipe;

use external::External;
use parking_lot::Mutex;
use pipe::Ending;
use std::sync::Arc;
use std::time::Duration;
use zeitnot_base::announcer::{Announcer, ERROR};
use zeitnot_base::child::program_file;
use zeitnot_time::grammar::{self, Content, Entry};
use zeitnot_time::{Maker, SpecError, TimeManager};

/// The name of the managers that are programs.
const EXTERNAL: &str = "external";

/// Longest wait for an answer where the clock stands still meanwhile.
const LONGEST_WAIT: Duration = Duration::from_secs(10);

/// The time that a program has for an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Until the answer is due: the clock runs.
    UntilDue,
    /// Ten seconds: the clock stands still meanwhile.
    Long,
}

impl Patience {
    /// `long` where the clock stands still, else `until_due`.
    fn time(self, long: Duration, until_due: Duration) -> Duration {
        if self == Self::Long { long } else { until_due }
    }
}

/// A maker of the managers that are programs. Their problems go to the announcer that `announcer` holds at that moment.
pub fn maker(patience: Patience, announcer: Arc<Mutex<Announcer>>) -> Maker {
    let ending = Arc::<Ending>::default();
    Arc::new(move |spec| {
        Ok(command(spec)?.map(|command| -> Box<dyn TimeManager> {
            let mut manager = External::start(&command, patience, Arc::clone(&announcer));
            manager.ending = Arc::clone(&ending);
            Box::new(manager)
        }))
    })
}

/// A maker for games on a virtual clock, where programs have ten seconds for an answer; errors go to the log.
pub fn maker_for_computation() -> Maker {
    let log = Announcer::new(|line| tracing::error!("{}", line.strip_prefix(ERROR).unwrap_or(line)));
    maker(Patience::Long, Arc::new(Mutex::new(log)))
}

/// Builds the manager that `spec` describes, for a game on a virtual clock.
///
/// # Errors
/// [`SpecError`], when there is no such manager.
pub fn build(spec: &str) -> Result<Box<dyn TimeManager>, SpecError> {
    maker_for_computation()(spec)?.map_or_else(|| zeitnot_time::build(spec), Ok)
}

/// Checks a specification; no program is started.
///
/// # Errors
/// [`SpecError`], when there is no such manager or no file of its program.
pub fn check(spec: &str) -> Result<(), SpecError> {
    match command(spec)? {
        Some(command) => {
            let (program, _) = pipe::words(&command).map_err(elsewhere)?;
            program_file(&command).map(drop).ok_or_else(|| elsewhere(format!("there is no program {program}")))
        }
        None => zeitnot_time::build(spec).map(drop),
    }
}

/// The command line of a specification `external(command="...")`; `None` for other managers and for no specification.
///
/// # Errors
/// [`SpecError`], when its parameters are others, or there is no such manager.
fn command(spec: &str) -> Result<Option<String>, SpecError> {
    // Errors of the grammar are those of the other managers.
    let Ok(entries) = grammar::parse(spec) else { return Ok(None) };
    let [entry] = entries.as_slice() else { return Ok(None) };
    let Content::Group(params) = &entry.content else { return Ok(None) };
    if zeitnot_time::names().any(|name| name == entry.name) {
        return Ok(None);
    }
    if entry.name != EXTERNAL {
        let known = zeitnot_time::names().chain([EXTERNAL]).collect::<Vec<_>>().join(", ");
        return Err(SpecError::UnknownManager { name: entry.name.clone(), known });
    }
    match params.as_slice() {
        [Entry { name, content: Content::Text(text), .. }] if name == "command" && !text.is_empty() => {
            Ok(Some(text.clone()))
        }
        _ => Err(elsewhere("write external(command=\"PROGRAM ARGUMENT ...\")".to_owned())),
    }
}

fn elsewhere(problem: String) -> SpecError {
    SpecError::Elsewhere { name: EXTERNAL.to_owned(), problem }
}
