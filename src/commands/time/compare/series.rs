//! Plays pairs of players into journals of a folder, which go on after an interruption.

use crate::commands::flags::match_flags;
use crate::commands::output::{note, notes};
use crate::commands::warnings::Warnings;
use crate::commands::{interrupt, progress, today};
use anyhow::Context as _;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_base::printable::plain;
use zeitnot_games::setup::{self, Contestant, MatchClock, MatchSetup};
use zeitnot_games::{Event, GameRecord, Journal, MatchPlan, TimeControl, run_match, write_pgn};

/// The event of the games in their PGN.
const EVENT: &str = "zeitnot time compare";

/// The games of many pairs of players.
pub struct Series<'a> {
    out: &'a Path,
    /// Rules, start positions and concurrency; the time control is that of each pair.
    setup: MatchSetup,
    program: Option<String>,
    bar: ProgressBar,
    interrupted: Arc<AtomicBool>,
    warnings: Warnings,
}

/// A pair of players, and how they play.
pub struct Pair<'a> {
    /// The name of its files, without an ending.
    pub name: String,
    pub players: [&'a Contestant; 2],
    pub control: TimeControl,
    pub clock: &'a MatchClock,
    pub games: u64,
    /// Settings that decide the games, the identities of the players among them.
    pub settings: Value,
}

impl<'a> Series<'a> {
    /// A series of `total` games whose journals come into a folder.
    pub fn new(out: &'a Path, setup: MatchSetup, total: u64) -> anyhow::Result<Series<'a>> {
        std::fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
        Ok(Series {
            out,
            setup,
            program: setup::program_sha256(),
            bar: progress::games(total),
            interrupted: interrupt::on_request()?,
            warnings: Warnings::default(),
        })
    }

    /// Loads a pair of players.
    pub fn load<'p>(
        &self,
        players: &'p mut [Contestant; 2],
        clock: &MatchClock,
        games: u64,
    ) -> anyhow::Result<[&'p Contestant; 2]> {
        check(&self.setup, clock, games, players.each_ref())?;
        match_flags::load(players, self.setup.concurrency, clock)?;
        Ok(players.each_ref())
    }

    /// Plays the missing games of a pair, and writes all of them as PGN. Returns them in order; ends the program after an
    /// interruption.
    pub fn play(&self, pair: Pair<'_>) -> anyhow::Result<Vec<GameRecord>> {
        let Pair { name, players: [first, second], control, clock, games, mut settings } = pair;
        self.bar.set_message(plain(&format!("{control}: {} - {}", first.name, second.name)));
        settings["program"] = json!(self.program);
        settings["games"] = json!(games);
        let path = self.out.join(format!("{name}.jsonl"));
        let mut journal = Journal::resume(&path, settings, &["games"])?;
        let there = journal.games().len();
        if there > 0 {
            self.bar.suspend(|| note!("{}: {there} games are there and not played again", path.display()));
        }
        let opening = |pair: u64| self.setup.starts.get(pair);
        let plan = MatchPlan { rules: self.setup.rules_at(control), ..self.setup.plan(games, &opening) };
        let make = |thread: usize| {
            let announcer = self.warnings.of_players(thread, Some(&self.bar));
            Ok([first.player(clock, &announcer, None)?, second.player(clock, &announcer, None)?])
        };
        let mut told = |event: Event<'_>| {
            if let Event::Finished { is_resumed, .. } = event {
                self.bar.inc(1);
                if is_resumed {
                    self.bar.reset_eta();
                }
            }
        };
        run_match(&plan, &make, &mut journal, &self.interrupted, &mut told)
            .with_context(|| format!("{name}: the same command goes on with it"))?;
        let played = || journal.games().range(1..=games).map(|(_, game)| game);
        let pgn = self.out.join(format!("{name}.pgn"));
        write_games(&pgn, played()).with_context(|| format!("cannot write {}", pgn.display()))?;
        if self.interrupted.load(Ordering::SeqCst) {
            self.bar.finish_and_clear();
            interrupt::exit("interrupted: the same command goes on with it");
        }
        Ok(played().cloned().collect())
    }

    /// Takes the bar away. An error where a player had one.
    pub fn end(&self) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        let errors = self.warnings.count();
        anyhow::ensure!(
            errors == 0,
            "players had {errors} errors, of which each kind is told above: the figures are not of what was named alone"
        );
        Ok(())
    }
}

fn write_games<'g>(path: &Path, games: impl Iterator<Item = &'g GameRecord>) -> anyhow::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    for game in games {
        write_pgn(&mut file, game, EVENT, &today())?;
    }
    Ok(file.flush()?)
}

/// Refuses a pair whose games would repeat each other.
pub fn check(setup: &MatchSetup, clock: &MatchClock, games: u64, pair: [&Contestant; 2]) -> anyhow::Result<()> {
    let names = || format!("{} - {}", pair[0].name, pair[1].name);
    setup.check_repetition(clock, games, pair, &notes()).with_context(names)
}
