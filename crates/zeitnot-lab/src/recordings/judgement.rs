//! Lets another engine value the moves that recorded searches chose, so that the network is not the judge of its own
//! choices. A judgement is a journal beside the recording: its settings name the judge, and each entry is a search that
//! ever changed its choice.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::in_order::in_order;
use super::recorded_search::RecordedSearch;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use thiserror::Error;
use zeitnot_analysis::analysis::winning_chances;
use zeitnot_engine::chess::Game;
use zeitnot_engine::engine::GoParams;
use zeitnot_games::setup::EngineLine;
use zeitnot_games::{Entry, Evaluation, ExternalEngine, ExternalError, Journal, JournalError, Patience, read_journal};

/// Milliseconds to wait for one evaluation before the judge counts as hanging.
const PATIENCE_MS: f64 = 600_000.0;

/// The values of the moves that one search chose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// The place of the search in the recording, from 1.
    search: u64,
    /// The value of each choice for the side to move, -1 to 1, by the move in UCI notation.
    values: BTreeMap<String, f64>,
}

impl Entry for Judged {
    const WHOLE: &'static str = "judgement";
    const ENTRY: &'static str = "search";

    fn number(&self) -> u64 {
        self.search
    }
}

/// Why a judgement cannot be made or used. The text is one line.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum JudgementError {
    #[error(transparent)]
    Journal(#[from] JournalError),
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

    /// The settings of this engine's judgement of the recording with this digest.
    pub fn settings(&self, line: &EngineLine, recording: &str) -> Value {
        let options: BTreeMap<_, _> = line.options.iter().cloned().collect();
        json!({ "judge": self.engine.name(), "options": options, "nodes": self.nodes, "recording": recording })
    }

    fn judge(&mut self, number: u64, search: &RecordedSearch) -> Result<Judged, JudgementError> {
        let choices = search.choices();
        let values = choices.iter().map(|choice| {
            let mv = &search.moves[*choice].uci;
            Ok((mv.clone(), self.value(&search.fen, mv)?))
        });
        Ok(Judged { search: number, values: values.collect::<Result<_, JudgementError>>()? })
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

/// The searches that are to be judged, by their places in the recording from 1: those that ever changed their choice. The
/// others lose nothing, whenever they stop.
pub fn to_be_judged(searches: &[RecordedSearch]) -> impl Iterator<Item = (u64, &RecordedSearch)> {
    (1..).zip(searches).filter(|(_, search)| search.choices().len() > 1)
}

/// Judges all searches that the journal does not have yet, with `threads` judges at once.
///
/// # Errors
/// The first [`JudgementError`].
pub fn judge_all(
    searches: &[RecordedSearch],
    journal: &mut Journal<Judged>,
    threads: usize,
    make: &(dyn Fn() -> Result<Judge, JudgementError> + Sync),
    interrupted: &AtomicBool,
    tell: &dyn Fn(),
) -> Result<(), JudgementError> {
    check(journal.path(), searches, journal.entries())?;
    let missing = to_be_judged(searches).filter(|(number, _)| !journal.entries().contains_key(number));
    let tasks: Vec<_> = missing.map(Ok).collect();
    let judge = |judge: &mut Judge, (number, search)| judge.judge(number, search);
    in_order(tasks.into_iter(), threads, make, &judge, interrupted, &mut |judged| {
        tell();
        Ok(journal.add(judged)?)
    })
}

/// Puts the values of a judgement into the searches of a recording with this digest. Returns its settings.
///
/// # Errors
/// [`JudgementError`], when the file is of other searches, or not finished.
pub fn apply(path: &Path, recording: &str, searches: &mut [RecordedSearch]) -> Result<Value, JudgementError> {
    let (settings, entries) = read_journal::<Judged>(path)?;
    if settings["recording"] != recording {
        let problem = "its first line names another recording".to_owned();
        return Err(JudgementError::Foreign { path: path.to_owned(), problem });
    }
    check(path, searches, &entries)?;
    let (done, total) = (entries.len(), to_be_judged(searches).count());
    if done < total {
        return Err(JudgementError::Unfinished { path: path.to_owned(), done, total });
    }
    for (number, Judged { values, .. }) in entries {
        let search = &mut searches[number as usize - 1];
        search.judged = search.moves.iter().map(|mv| values.get(&mv.uci).copied()).collect();
    }
    Ok(settings)
}

/// Checks that each entry values all choices of a search that is to be judged.
fn check(path: &Path, searches: &[RecordedSearch], entries: &BTreeMap<u64, Judged>) -> Result<(), JudgementError> {
    let asked: BTreeMap<u64, &RecordedSearch> = to_be_judged(searches).collect();
    let problem = entries.iter().find_map(|(number, Judged { values, .. })| {
        let Some(search) = asked.get(number) else { return Some(format!("search {number} never changed its choice")) };
        let value = |choice: &usize| values.get(&search.moves[*choice].uci);
        let is_known = |choice: &usize| value(choice).is_some_and(|value| (-1.0..=1.0).contains(value));
        (!search.choices().iter().all(is_known))
            .then(|| format!("search {number} has no value from -1 to 1 for each of its choices"))
    });
    problem.map_or(Ok(()), |problem| Err(JudgementError::Foreign { path: path.to_owned(), problem }))
}
