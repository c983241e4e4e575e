//! Lets another engine value the moves that recorded searches chose, so that the network is not the judge of its own
//! choices. A judgement is a file beside the recording: a line of JSON that names the judge, then a line for each search
//! that ever changed its choice.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::in_order::in_order;
use super::recorded_search::RecordedSearch;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use zeitnot_analysis::analysis::winning_chances;
use zeitnot_engine::chess::Game;
use zeitnot_engine::engine::GoParams;
use zeitnot_games::setup::EngineLine;
use zeitnot_games::{Evaluation, ExternalEngine, ExternalError, Patience};

/// The kind of file, in its first line.
const FORMAT: &str = "zeitnot judgement 1";
/// Milliseconds to wait for one evaluation before the judge counts as hanging.
const PATIENCE_MS: f64 = 600_000.0;

/// The first line of a judgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JudgementHeader {
    /// The kind of file and its version.
    format: String,
    /// The name that the judge gives itself.
    pub judge: String,
    /// The judge's options, as they were given.
    options: Vec<(String, String)>,
    /// Nodes of each evaluation.
    pub nodes: u64,
    /// The digest of the recording.
    recording: String,
}

/// The values of the moves that one search chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Judged {
    game: u32,
    ply: u32,
    /// The value of each choice for the side to move, -1 to 1, by the move in UCI notation.
    values: BTreeMap<String, f64>,
}

/// Why a judgement cannot be made or used. The text is one line.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum JudgementError {
    #[error("{}: {reason}", path.display())]
    Io { path: PathBuf, reason: io::Error },
    #[error("{} is no judgement of this recording: {problem}", path.display())]
    Foreign { path: PathBuf, problem: String },
    #[error("{} has {done} of {total} searches; `time judge` goes on with it", path.display())]
    Unfinished { path: PathBuf, done: usize, total: usize },
    #[error(transparent)]
    Judge(#[from] ExternalError),
    #[error("the judge gives no evaluation of {fen}")]
    NoScore { fen: String },
    #[error("the recording has {fen}, where {mv} cannot be played")]
    Position { fen: String, mv: String },
    #[error("cannot start a thread: {0}")]
    Thread(#[from] io::Error),
}

/// The judgement's file beside its recording.
pub fn judgement_of(recording: &Path) -> PathBuf {
    let mut name = recording.as_os_str().to_owned();
    name.push(".judged");
    name.into()
}

/// A judge, as a process.
pub struct Judge {
    engine: ExternalEngine,
    nodes: u64,
}

impl Judge {
    /// Starts the engine; once `stop` is set, all waits for it end.
    ///
    /// # Errors
    /// [`JudgementError::Judge`].
    pub fn start(line: &EngineLine, nodes: u64, stop: Arc<AtomicBool>) -> Result<Judge, JudgementError> {
        let engine = ExternalEngine::start_with(&line.command, &line.options, Patience::default(), stop)?;
        Ok(Judge { engine, nodes })
    }

    /// The header of a judgement by this engine.
    pub fn header(&self, line: &EngineLine, recording: String) -> JudgementHeader {
        let judge = self.engine.name().to_owned();
        JudgementHeader {
            format: FORMAT.to_owned(),
            judge,
            options: line.options.clone(),
            nodes: self.nodes,
            recording,
        }
    }

    fn judge(&mut self, search: &RecordedSearch) -> Result<Judged, JudgementError> {
        let choices = search.choices();
        let values = choices.iter().map(|choice| {
            let mv = &search.moves[*choice].uci;
            Ok((mv.clone(), self.value(&search.fen, mv)?))
        });
        Ok(Judged { game: search.game, ply: search.ply, values: values.collect::<Result<_, JudgementError>>()? })
    }

    /// The value of a move for the side that plays it, in a search of the position behind it with an empty hash table.
    fn value(&mut self, fen: &str, mv: &str) -> Result<f64, JudgementError> {
        let unplayable = || JudgementError::Position { fen: fen.to_owned(), mv: mv.to_owned() };
        let mut game = Game::from_fen(fen, true).map_err(|_| unplayable())?;
        let mover = game.current().turn();
        game.push_uci(mv).map_err(|_| unplayable())?;
        if let Some(outcome) = game.outcome() {
            return Ok(outcome.winner().map_or(0.0, |winner| if winner == mover { 1.0 } else { -1.0 }));
        }
        self.engine.new_game(false)?;
        let go = GoParams { nodes: Some(self.nodes), ..GoParams::default() };
        let answer = self.engine.go(&game, &go, PATIENCE_MS)?;
        let score = answer.score.ok_or_else(|| JudgementError::NoScore { fen: game.fen() })?;
        Ok(-value(&score))
    }
}

/// The chance to win less the chance to lose, for the side that evaluated.
fn value(score: &Evaluation) -> f64 {
    match (score.mate, score.q) {
        (Some(moves), _) => f64::from(moves.signum()),
        (None, Some(q)) => q,
        (None, None) => winning_chances(score.cp),
    }
}

/// A judgement that is added to.
pub struct JudgementFile {
    path: PathBuf,
    file: File,
    done: usize,
}

impl JudgementFile {
    /// Opens a judgement to add to it, or begins it. A last line that was cut off is removed.
    ///
    /// # Errors
    /// [`JudgementError`], when the file cannot be read or holds something else; then nothing is changed.
    pub fn open(path: &Path, header: &JudgementHeader) -> Result<JudgementFile, JudgementError> {
        let io = |reason| JudgementError::Io { path: path.to_owned(), reason };
        let mut file = OpenOptions::new().append(true).read(true).create(true).open(path).map_err(io)?;
        let text = io::read_to_string(&file).map_err(io)?;
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        let line = serde_json::to_string(header).map_err(io::Error::from).map_err(io)? + "\n";
        let foreign = |problem: &str| JudgementError::Foreign { path: path.to_owned(), problem: problem.to_owned() };
        match text[..whole].lines().next() {
            Some(first) if serde_json::from_str(first).is_ok_and(|there: JudgementHeader| there == *header) => {}
            Some(_) => {
                return Err(foreign(
                    "its first line names another judge, or a recording that has changed since; delete it for a new judgement",
                ));
            }
            None if line.starts_with(&text) => {}
            None => return Err(foreign("it has no whole line")),
        }
        file.set_len(whole as u64).map_err(io)?;
        if whole == 0 {
            file.write_all(line.as_bytes()).map_err(io)?;
        }
        Ok(JudgementFile { path: path.to_owned(), file, done: text[..whole].lines().count().saturating_sub(1) })
    }

    /// Number of searches that are judged.
    pub fn done(&self) -> usize {
        self.done
    }

    fn add(&mut self, judged: &Judged) -> Result<(), JudgementError> {
        let io = |reason| JudgementError::Io { path: self.path.clone(), reason };
        let line = serde_json::to_string(judged).map_err(io::Error::from).map_err(io)? + "\n";
        self.file.write_all(line.as_bytes()).map_err(io)?;
        self.done += 1;
        Ok(())
    }
}

/// The searches that are to be judged: those that ever changed their choice. The others lose nothing, whenever they
/// stop.
pub fn to_be_judged(searches: &[RecordedSearch]) -> impl Iterator<Item = &RecordedSearch> {
    searches.iter().filter(|search| search.choices().len() > 1)
}

/// Judges all searches that the file does not have yet, with `threads` judges at once.
///
/// # Errors
/// The first [`JudgementError`].
pub fn judge_all(
    searches: &[RecordedSearch],
    file: &mut JudgementFile,
    threads: usize,
    make: &(dyn Fn() -> Result<Judge, JudgementError> + Sync),
    interrupted: &AtomicBool,
    tell: &dyn Fn(),
) -> Result<(), JudgementError> {
    let tasks = to_be_judged(searches).skip(file.done).map(Ok);
    in_order(tasks, threads, make, &|judge: &mut Judge, search| judge.judge(search), interrupted, &mut |judged| {
        tell();
        file.add(&judged)
    })
}

/// Puts the values of a judgement into the searches of a recording with this digest. Returns its header.
///
/// # Errors
/// [`JudgementError`], when the file is of other searches, or not finished.
pub fn apply(path: &Path, recording: &str, searches: &mut [RecordedSearch]) -> Result<JudgementHeader, JudgementError> {
    let text = std::fs::read_to_string(path).map_err(|reason| JudgementError::Io { path: path.to_owned(), reason })?;
    let foreign = |problem: String| JudgementError::Foreign { path: path.to_owned(), problem };
    let mut lines = text.lines();
    let header: JudgementHeader =
        serde_json::from_str(lines.next().unwrap_or_default()).map_err(|error| foreign(error.to_string()))?;
    if header.format != FORMAT || header.recording != recording {
        return Err(foreign("its first line names another kind of file or recording".to_owned()));
    }
    let (mut done, total) = (0, to_be_judged(searches).count());
    for search in searches.iter_mut().filter(|search| search.choices().len() > 1) {
        let judged = lines.next().and_then(|line| serde_json::from_str::<Judged>(line).ok());
        let Some(judged) = judged else {
            return Err(JudgementError::Unfinished { path: path.to_owned(), done, total });
        };
        if (judged.game, judged.ply) != (search.game, search.ply) {
            return Err(foreign(format!("game {} ply {} is out of order", judged.game + 1, judged.ply)));
        }
        search.judged = search.moves.iter().map(|mv| judged.values.get(&mv.uci).copied()).collect();
        done += 1;
    }
    Ok(header)
}
