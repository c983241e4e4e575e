//! Analyses games on several threads, each with an engine of its own on one network, and keeps the finished ones in a
//! work file, so that interrupted work goes on.

use super::effort::{Limit, Shares};
use super::sources::{NumberedGame, Sources};
use crate::commands::engine_options::{self, MAY_INSTALL};
use crate::commands::output::{note, notes};
use crate::commands::{cores, interrupt, progress};
use anyhow::Context as _;
use clap::ArgMatches;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use zeitnot_analysis::analysis::{AnalysedNetwork, Analyst, PositionFacts};
use zeitnot_engine::backend::Backend;
use zeitnot_engine::engine::{self, LoadedNetwork, Options};
use zeitnot_engine::memory;
use zeitnot_games::{Entry, Journal, JournalError};

/// A finished game in the work file.
#[derive(Clone, Serialize, Deserialize)]
pub struct FinishedGame {
    /// The number of the game over all files.
    number: u64,
    /// Time since the run began, in milliseconds.
    elapsed_ms: f64,
    facts: Vec<PositionFacts>,
}

impl Entry for FinishedGame {
    const WHOLE: &'static str = "run of analyse";
    const ENTRY: &'static str = "game";

    fn number(&self) -> u64 {
        self.number
    }
}

/// The facts of all games that a search gave, and the network that it used.
pub struct Searched {
    facts: BTreeMap<u64, Vec<PositionFacts>>,
    pub network: Option<AnalysedNetwork>,
    /// The work file; `None` where no output is a file.
    journal: Option<PathBuf>,
}

impl Searched {
    /// The facts of the positions of a game.
    pub fn facts(&self, number: u64) -> Vec<Option<PositionFacts>> {
        self.facts.get(&number).map_or_else(Vec::new, |facts| facts.iter().cloned().map(Some).collect())
    }

    /// Removes the work file, when the results are written.
    pub fn forget(self) -> anyhow::Result<()> {
        self.journal.map_or(Ok(()), |path| {
            std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
        })
    }
}

/// The path of the work file that belongs to an output.
fn work_file(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".work.jsonl");
    name.into()
}

/// Searches all games that the work file does not hold yet. Ends the program after Ctrl-C.
pub fn search(
    matches: &ArgMatches,
    sources: &Sources<'_>,
    limit: Limit,
    out: Option<&Path>,
) -> anyhow::Result<Searched> {
    let positions = sources.positions()?;
    let options = engine_options::engine(matches, MAY_INSTALL)?.options().clone();
    let loaded = engine::load_network(&options, MAY_INSTALL, &notes())?;
    note!("{}", loaded.news);
    let network = network_of(&loaded)?;
    let settings = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "network": network.as_ref().map(|network| network.sha256.clone()),
        "backend": loaded.backend.attributes().to_string(),
        "options": options.changed().collect::<BTreeMap<_, _>>(),
        "limit": limit.words(),
        "games": sources.digests()?,
    });
    let journal = out.map(work_file);
    let mut work = match &journal {
        None => Journal::<FinishedGame>::private(settings)?,
        Some(path) => Journal::resume(path, settings, &[]).map_err(|error| match error {
            JournalError::OtherSettings { .. } | JournalError::Line { .. } => {
                anyhow::Error::new(error).context(format!("delete {}, or name another --out", path.display()))
            }
            error => error.into(),
        })?,
    };
    let done = work.entries().values().map(|game| game.facts.len() as u64).sum();
    if done > 0 {
        note!("{} of {} games are analysed already", work.entries().len(), positions.len());
    }
    let total: u64 = positions.iter().sum();
    let spent_ms = work.entries().values().map(|game| game.elapsed_ms).fold(0.0, f64::max);
    let bar = progress::positions(total);
    bar.set_position(done);
    bar.reset_eta();
    let team = Team {
        options,
        backend: Arc::clone(&loaded.backend),
        threads: matches.get_one::<u64>("parallel").map_or_else(cores, |count| *count as usize).min(positions.len()),
        shares: Shares::new(limit, total, total.saturating_sub(done), spent_ms),
        is_timed: limit.is_timed(),
        interrupted: interrupt::on_request()?,
    };
    let is_done: Vec<bool> = (1..=positions.len() as u64).map(|number| work.entries().contains_key(&number)).collect();
    let missing = sources
        .games()
        .filter(|game| game.as_ref().map_or(true, |game| is_done.get(game.number as usize - 1) != Some(&true)));
    team.search(missing, &|| bar.inc(1), &mut |game| {
        Ok(work.add(FinishedGame { elapsed_ms: spent_ms + game.elapsed_ms, ..game })?)
    })?;
    bar.finish_and_clear();
    if team.interrupted.load(Ordering::SeqCst) {
        interrupt::exit(match journal {
            Some(_) => "interrupted: the same command goes on with it",
            None => "interrupted: only with a file as an output is the work kept",
        });
    }
    // A work file that was never begun has no game: there was nothing to search.
    work.begin()?;
    let facts = work.entries().iter().map(|(number, game)| (*number, game.facts.clone())).collect();
    Ok(Searched { facts, network, journal })
}

/// The name and the digest of the network's file; `None` for a backend without a network.
fn network_of(loaded: &LoadedNetwork) -> anyhow::Result<Option<AnalysedNetwork>> {
    let Some(location) = &loaded.location else { return Ok(None) };
    Ok(Some(AnalysedNetwork { name: location.name(), sha256: location.sha256()? }))
}

/// The threads that search, and what they share.
struct Team {
    options: Options,
    backend: Arc<dyn Backend>,
    threads: usize,
    shares: Shares,
    is_timed: bool,
    interrupted: Arc<AtomicBool>,
}

impl Team {
    /// Searches the games on all threads; `keep` gets each when it is finished, on the caller's thread, and `tick` is
    /// called for each position.
    fn search(
        &self,
        games: impl Iterator<Item = anyhow::Result<NumberedGame>> + Send,
        tick: &(dyn Fn() + Sync),
        keep: &mut dyn FnMut(FinishedGame) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let games = Mutex::new(games);
        let stop = AtomicBool::new(false);
        let next = || games.lock().next().filter(|_| !stop.load(Ordering::SeqCst));
        let (sender, receiver) = channel();
        std::thread::scope(|scope| {
            for _ in 0..self.threads.max(1) {
                let (sender, next) = (sender.clone(), &next);
                scope.spawn(move || self.work(next, tick, &sender));
            }
            drop(sender);
            let kept = receiver.iter().try_for_each(|game: anyhow::Result<FinishedGame>| keep(game?));
            stop.store(true, Ordering::SeqCst);
            if kept.is_err() {
                self.interrupted.store(true, Ordering::SeqCst);
            }
            kept
        })
    }

    /// Searches one game after another until there is none, or the first fails.
    fn work(
        &self,
        next: &(dyn Fn() -> Option<anyhow::Result<NumberedGame>> + Sync),
        tick: &(dyn Fn() + Sync),
        sender: &Sender<anyhow::Result<FinishedGame>>,
    ) {
        let automatic_memory = memory::automatic_limit().map(|bytes| bytes / self.threads.max(1));
        let options = Options { automatic_memory, ..self.options.clone() };
        let mut analyst = match Analyst::new(&options, Arc::clone(&self.backend), self.is_timed) {
            Ok(analyst) => analyst,
            Err(error) => return drop(sender.send(Err(error.into()))),
        };
        let effort = || {
            tick();
            self.shares.next()
        };
        while let Some(game) = next() {
            let finished = game.and_then(|NumberedGame { number, file, game, .. }| {
                self.shares.set_busy(true);
                let facts = analyst.facts(&game.game, &effort, &self.interrupted);
                self.shares.set_busy(false);
                let facts = facts.with_context(|| format!("{file} game {}", game.number))?;
                Ok(facts.map(|facts| FinishedGame { number, elapsed_ms: self.shares.elapsed_ms(), facts }))
            });
            let Some(finished) = finished.transpose() else { return };
            let has_failed = finished.is_err();
            if sender.send(finished).is_err() || has_failed {
                return;
            }
        }
    }
}
