//! Keeps all that the time managers of a match were asked, saw and decided, and checks that a replay decides the same.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use thiserror::Error;
use zeitnot_base::files::TextLines;
use zeitnot_engine::announcer::Announcer;
use zeitnot_time::Timekeeper;
use zeitnot_time::event_log::{Answer, Event, Line, Observer, read, write};

/// Writes the events of a player's games to a file, as they happen: the lines of an [event
/// log](zeitnot_time::event_log). A player who decided nothing, because other threads of the match played all games,
/// leaves no file.
pub struct DecisionLog {
    path: PathBuf,
    has_decisions: bool,
    /// The open file; `None` once a write has failed.
    file: Option<BufWriter<File>>,
    announcer: Announcer,
}

impl DecisionLog {
    /// Creates the file. If a later write fails, `announcer` says so once, and the games go on.
    ///
    /// # Errors
    /// When the file exists already, or cannot be created.
    pub fn create(path: PathBuf, announcer: Announcer) -> io::Result<DecisionLog> {
        let file = File::create_new(&path)?;
        Ok(DecisionLog { path, has_decisions: false, file: Some(BufWriter::new(file)), announcer })
    }
}

impl Observer for DecisionLog {
    fn happened(&mut self, event: &Event, answer: Option<&Answer>) {
        let Some(file) = &mut self.file else { return };
        self.has_decisions |= answer.is_some();
        let mut written = file.write_all(write(event, answer).as_bytes());
        // A match may be ended between any two moves.
        if matches!(event, Event::Finish(_)) {
            written = written.and_then(|()| file.flush());
        }
        if let Err(error) = written {
            self.announcer.say(&format!("{}: {error}: no more decisions are kept", self.path.display()));
            self.file = None;
        }
    }
}

impl Drop for DecisionLog {
    fn drop(&mut self) {
        if !self.has_decisions {
            self.file = None;
            // A file that cannot be removed is an empty log, which a replay reports.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Counts of the decisions in a log, after a replay has repeated them all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verified {
    pub games: u64,
    /// Moves on a clock.
    pub moves: u64,
    /// Answers that were compared: plans, verdicts and accounts.
    pub answers: u64,
}

/// Why a log of decisions cannot be read, or is not repeated by this program. Displays as one line.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum DecisionError {
    /// The file cannot be read.
    #[error("cannot read {}: {reason}", path.display())]
    Read { path: PathBuf, reason: io::Error },
    /// A line is neither an event nor an answer.
    #[error("{} line {line}: {problem}", path.display())]
    Line { path: PathBuf, line: usize, problem: String },
    /// The file has no decision.
    #[error("{} has no decisions", path.display())]
    Empty { path: PathBuf },
    /// This program decides otherwise than the file.
    #[error("{} line {line}: decided otherwise now: {there} there, {here} here", path.display())]
    Differs { path: PathBuf, line: usize, there: String, here: String },
}

/// Replays a log, and compares every answer to the last bit.
///
/// # Errors
/// [`DecisionError`], at the first line that differs or cannot be read.
pub fn verify_decisions(path: &Path) -> Result<Verified, DecisionError> {
    let reading = |reason| DecisionError::Read { path: path.to_owned(), reason };
    let mut verified = Verified::default();
    let mut time: Option<Timekeeper> = None;
    let mut expected: Option<Answer> = None;
    let mut lines = 0;
    for (index, text) in TextLines::open(path).map_err(reading)?.enumerate() {
        let text = text.map_err(reading)?;
        lines = index + 1;
        let bad = |problem: String| DecisionError::Line { path: path.to_owned(), line: index + 1, problem };
        let not_a_log = |error| match index {
            0 => bad(format!("no event log, which match --decisions writes: {error}")),
            _ => bad(format!("{error}")),
        };
        match read(&text).map_err(not_a_log)? {
            Line::Event(event) => {
                if expected.is_some() {
                    return Err(bad("the answer to the event before it is missing".to_owned()));
                }
                if let (None, Event::Manager(choice)) = (&time, &event) {
                    time = Some(Timekeeper::new(&choice.spec).map_err(|error| bad(error.to_string()))?);
                }
                let time = time.as_mut().ok_or_else(|| bad("the first event names no manager".to_owned()))?;
                expected = time.apply(&event).map_err(|error| bad(error.to_string()))?;
                verified.games += u64::from(matches!(event, Event::NewGame));
                verified.moves += u64::from(matches!(event, Event::Plan(_)));
            }
            Line::Answer(there) => {
                let here = expected.take().ok_or_else(|| bad("an answer without an event".to_owned()))?;
                let texts = [&there, &here].map(|answer| serde_json::to_string(answer).unwrap_or_default());
                if texts[0] != texts[1] {
                    let [there, here] = texts;
                    return Err(DecisionError::Differs { path: path.to_owned(), line: index + 1, there, here });
                }
                verified.answers += 1;
            }
        }
    }
    let path = path.to_owned();
    match () {
        () if expected.is_some() => {
            let problem = "the answer to the last event is missing (is the file cut off?)".to_owned();
            Err(DecisionError::Line { path, line: lines, problem })
        }
        () if verified.answers == 0 => Err(DecisionError::Empty { path }),
        () => Ok(verified),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_time::{MoveOutcome, MoveRequest, SearchSnapshot};

    /// A log of a game of two moves.
    fn log(folder: &Path) -> PathBuf {
        let path = folder.join("decisions.jsonl");
        let mut time = Timekeeper::new("smooth").unwrap();
        let log = DecisionLog::create(path.clone(), Announcer::default()).unwrap();
        time.observe_by(Some(Box::new(log)));
        time.new_game();
        for ply in [0, 2] {
            let request = MoveRequest { clock_ms: 9_000.0, ply, overhead_ms: 200.0, ..MoveRequest::default() };
            time.begin(&zeitnot_time::event_log::SearchStart::default(), Some(&request));
            for batch in 1..5 {
                let visits = [8 * batch, 3];
                time.observe(&SearchSnapshot {
                    elapsed_ms: f64::from(batch) * 7.3,
                    since_first_batch_ms: Some(f64::from(batch - 1) * 7.3),
                    new_nodes: u64::from(8 * batch + 3),
                    total_nodes: u64::from(8 * batch + 3),
                    root_visits: (&visits[..]).into(),
                    ..SearchSnapshot::default()
                });
            }
            time.end(&MoveOutcome { elapsed_ms: 31.0, total_nodes: 35, ..MoveOutcome::default() });
        }
        path
    }

    #[test]
    fn decisions_are_made_again_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let verified = verify_decisions(&log(folder.path())).unwrap();
        assert_eq!(verified, Verified { games: 1, moves: 2, answers: 12 });
    }

    #[test]
    fn a_log_without_its_last_answer_or_any_fails() {
        let folder = tempfile::tempdir().unwrap();
        let path = log(folder.path());
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let read = |lines: &[&str]| {
            std::fs::write(&path, lines.join("\n")).unwrap();
            let result = verify_decisions(&path).map_err(|error| error.to_string());
            assert!(result.as_ref().err().is_none_or(|line| line.lines().count() == 1), "{result:?}");
            result
        };
        let error = read(&lines[..lines.len() - 1]).unwrap_err();
        assert!(error.contains(&format!("line {}: the answer", lines.len() - 1)), "{error}");
        let first = lines.iter().position(|line| line.contains("\"plan\"")).unwrap();
        for lines in [&[][..], &lines[..first]] {
            assert!(read(lines).unwrap_err().ends_with("has no decisions"));
        }
    }

    #[test]
    fn who_decides_nothing_leaves_no_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let mut log = DecisionLog::create(path.clone(), Announcer::default()).unwrap();
        log.happened(&Event::NewGame, None);
        assert!(path.exists());
        drop(log);
        assert!(!path.exists());
    }

    #[test]
    fn the_first_other_decision_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = log(folder.path());
        let text = std::fs::read_to_string(&path).unwrap();
        let changed =
            text.replacen("\"elapsed_ms\":31", "\"elapsed_ms\":32", 1).replacen("\"t_ms\":14.6", "\"t_ms\":15.6", 1);
        assert_ne!(changed, text);
        std::fs::write(&path, changed).unwrap();
        let line = verify_decisions(&path).unwrap_err().to_string();
        assert!(line.contains("decided otherwise") && !line.contains('\n'), "{line}");
        for (content, problem) in [
            ("nonsense\n", "line 1"),
            ("{\"event\":\"new_game\"}\n", "names no manager"),
            ("{\"event\":\"manager\",\"spec\":\"none\"}\n", "none"),
        ] {
            std::fs::write(&path, content).unwrap();
            let line = verify_decisions(&path).unwrap_err().to_string();
            assert!(line.contains(problem) && line.lines().count() == 1, "{line}");
        }
    }
}
