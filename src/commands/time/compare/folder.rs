//! Plays pairs of players into journals in a folder, so that an interrupted comparison goes on.

use crate::commands::output::{note, notes};
use crate::commands::series::{Pair, Series};
use crate::commands::warnings::Warnings;
use crate::commands::{interrupt, progress, today};
use anyhow::Context as _;
use indicatif::ProgressBar;
use serde_json::Value;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use zeitnot_base::printable::plain;
use zeitnot_games::setup::{Contestant, MatchClock};
use zeitnot_games::{Event, GameRecord, Journal, MatchPlan, TimeControl, write_pgn};

/// The event of the games in their PGN.
const EVENT: &str = "zeitnot time compare";

/// A folder of games of many pairs of players.
pub struct Folder<'a> {
    out: &'a Path,
    /// The series of all pairs; the time control and the number of games are set for each pair.
    pub series: Series,
    bar: ProgressBar,
}

/// A match whose games come into the folder.
pub struct Cell<'a> {
    /// The name of its files, without an ending.
    pub name: String,
    pub players: [&'a Contestant; 2],
    /// The identities of the players, which the journal compares on a resumption.
    pub identities: [&'a Value; 2],
    pub control: TimeControl,
    pub clock: &'a MatchClock,
    /// Settings besides the players that decide the games.
    pub settings: Value,
}

impl<'a> Folder<'a> {
    /// Creates the folder, and a progress bar over `total` games.
    pub fn new(out: &'a Path, plan: MatchPlan, total: u64) -> anyhow::Result<Folder<'a>> {
        std::fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
        Ok(Folder { out, series: Series::new(plan, Warnings::default())?, bar: progress::games(total) })
    }

    /// Plays the games of a pair that its journal lacks, writes all of them as PGN, and returns them in order. After
    /// Ctrl-C it ends the program.
    pub fn play(&mut self, cell: Cell<'_>) -> anyhow::Result<Vec<GameRecord>> {
        let Cell { name, players, identities, control, clock, settings } = cell;
        let [first, second] = players.map(|player| &player.name);
        self.bar.set_message(plain(&format!("{control}: {first} - {second}")));
        let plan = &mut self.series.plan;
        plan.rules = plan.rules.at(control);
        let games = plan.games;
        let path = self.out.join(format!("{name}.jsonl"));
        let mut journal = Journal::resume(&path, self.series.settings(identities, settings), &["games"])?;
        let there = journal.games().len();
        if there > 0 {
            self.bar.suspend(|| note!("{}: {there} games are there and not played again", path.display()));
        }
        let mut told = |event: Event<'_>| {
            if let Event::Finished { is_resumed, .. } = event {
                self.bar.inc(1);
                if is_resumed {
                    self.bar.reset_eta();
                }
            }
        };
        let pair = Pair { players, clock, bar: Some(&self.bar), decisions: &|_, _| None };
        self.series
            .play(&pair, &mut journal, &mut told)
            .with_context(|| format!("{name}: the same command goes on with it"))?;
        let played = || journal.games().range(1..=games).map(|(_, game)| game);
        let pgn = self.out.join(format!("{name}.pgn"));
        write_games(&pgn, played()).with_context(|| format!("cannot write {}", pgn.display()))?;
        if self.series.is_interrupted() {
            self.bar.finish_and_clear();
            interrupt::exit("interrupted: the same command goes on with it");
        }
        Ok(played().cloned().collect())
    }

    /// Removes the progress bar. Fails if a player had an error.
    pub fn end(&self) -> anyhow::Result<()> {
        self.bar.finish_and_clear();
        self.series.warnings.player_errors().map_or(Ok(()), |line| Err(anyhow::Error::msg(line)))
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
pub fn check(plan: &MatchPlan, clock: &MatchClock, pair: [&Contestant; 2]) -> anyhow::Result<()> {
    let names = || format!("{} - {}", pair[0].name, pair[1].name);
    plan.check_repetition(clock, pair, &notes()).with_context(names)
}
