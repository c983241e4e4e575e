//! `zeitnot match`: plays timed games between two configurations of this engine, this engine and others, or others alone.

mod live;
mod match_files;
mod news;
mod pgn_file;
mod players;

pub use crate::commands::flags::match_flags::command;

use super::engine_options;
use super::output::{note, say};
use crate::commands::flags::match_flags;
use crate::commands::interrupt;
use crate::commands::series::{Pair, Series};
use crate::commands::warnings::Warnings;
use anyhow::Context as _;
use clap::ArgMatches;
use match_files::MatchFiles;
use news::News;
use players::Players;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use zeitnot_engine::announcer::Announcer;
use zeitnot_engine::clock::{Clock as _, MonotonicClock};
use zeitnot_games::setup::{Contestant, MatchClock};
use zeitnot_games::strength::Results;
use zeitnot_games::strength::ratings::Encounter;
use zeitnot_games::{Event, GameRecord, MatchPlan};

/// Most games of an SPRT without `--games`.
const MOST_SPRT_GAMES: u64 = 100_000;
/// Options that have no effect in a match, since the engine does not speak UCI there.
const WITHOUT_EFFECT: [&str; 1] = ["LogFile"];
/// Options that have an effect even where only other engines play.
const OF_ALL_ENGINES: [&str; 2] = ["Ponder", "UCI_Chess960"];

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let mut players = Players::of(matches)?;
    let warnings = Warnings::default();
    for name in engine_options::given(matches) {
        if WITHOUT_EFFECT.contains(&name) {
            warnings.warn(&format!("option {name} has no effect: it is about UCI"));
        } else if players.is_round_robin && !OF_ALL_ENGINES.contains(&name) {
            warnings.warn(&format!("option {name} has no effect: engines get theirs by option.NAME=VALUE"));
        }
    }
    let clock = match_flags::clock(matches, 0)?;
    let plan = plan(matches, &players, &clock, &warnings)?;
    match_flags::load(&mut players.all, plan.concurrency, &clock)?;
    let series = Series::new(plan, warnings)?;
    players.all.iter_mut().for_each(|player| player.heed(&series.interrupted));
    let games = Match {
        matches,
        pgn: matches.get_one::<PathBuf>("pgn").context("--pgn has a default")?,
        json: matches.get_flag("json"),
        clock,
        series,
    };
    let pairs: Vec<[&Contestant; 2]> =
        players.pairs().into_iter().map(|pair| pair.map(|place| &players.all[place])).collect();
    let mut files = games.files(&pairs)?;
    if pairs.len() > 1 {
        let begun = games.begin_pool(&players.all, &mut files);
        if games.series.is_interrupted() {
            interrupt::exit("interrupted before its first move");
        }
        begun?;
    }
    let mut encounters = Vec::new();
    for (&pair, files) in pairs.iter().zip(&mut files) {
        let results = games.play(pair, files)?;
        encounters.push(Encounter { players: pair.map(|player| player.name.clone()), results });
        if games.series.is_interrupted() {
            interrupt::exit(match files.journal.has_other() {
                true => "interrupted before its first move",
                false => "interrupted: --resume goes on with it",
            });
        }
    }
    let rated = players.all.iter().filter_map(|player| Some((player.name.clone(), player.rating?)));
    let mut anchors: BTreeMap<String, f64> = rated.collect();
    let first = &players.all[0].name;
    if players.is_round_robin {
        if anchors.is_empty() {
            anchors.insert(first.clone(), 0.0);
        }
        news::ranking(&encounters, &anchors, games.json)?;
    } else if !anchors.is_empty() {
        news::rating(first, &encounters, &anchors, games.json)?;
    }
    if !games.json {
        let paths: Vec<String> = files.iter().map(|files| files.path.display().to_string()).collect();
        say!("games in {}", paths.join(", "));
    }
    let warnings = &games.series.warnings;
    if let Some(line) = warnings.player_errors() {
        note!("{line}");
    }
    if matches.get_flag("fail-on-warning") { warnings.check() } else { Ok(()) }
}

/// The match of each pair by the flags, which are checked.
fn plan(matches: &ArgMatches, players: &Players, clock: &MatchClock, warnings: &Warnings) -> anyhow::Result<MatchPlan> {
    let is_asked = matches.value_source("games") == Some(clap::parser::ValueSource::CommandLine);
    let games = match *matches.get_one::<u64>("games").context("--games has a default")? {
        _ if matches.contains_id("sprt") && !is_asked => MOST_SPRT_GAMES,
        games => games,
    };
    let foreign = players.all.iter().find(|player| player.options().is_none());
    if let Some(Contestant { name, .. }) = foreign {
        anyhow::ensure!(!clock.is_virtual(), "{name}: another engine plays on the machine's clock (--clock real)");
    }
    let margin_ms = matches.get_one::<u64>("time-margin").copied();
    if foreign.is_some() && matches.contains_id("movetime") && margin_ms.is_none() {
        note!("an engine that takes more than its movetime loses on time: --time-margin 50 lets it");
    }
    anyhow::ensure!(
        matches.get_many::<f64>("nps").is_none_or(|speeds| speeds.len() == 1),
        "--nps: both players have one speed in a match"
    );
    let mut plan = match_flags::plan(matches, clock, match_flags::limits(matches)?, games, players.chess960)?;
    plan.rules.time_margin_ms = margin_ms.unwrap_or(0) as f64;
    plan.concurrency = plan.concurrency.min(games as usize);
    for pair in players.pairs() {
        plan.check_repetition(clock, pair.map(|place| &players.all[place]), &warnings.announcer())?;
    }
    if let Some(folder) = matches.get_one::<PathBuf>("decisions") {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
    }
    plan.sprt = matches.get_one::<String>("sprt").map(|text| text.parse()).transpose().context("--sprt")?;
    plan.tells_moves = live::is_given(matches)? || (plan.concurrency == 1 && !matches.get_flag("json"));
    Ok(plan)
}

/// The matches of all pairs.
struct Match<'a> {
    matches: &'a ArgMatches,
    pgn: &'a Path,
    json: bool,
    clock: MatchClock,
    series: Series,
}

impl Match<'_> {
    /// The PGN file of a match; `number` is that of the pair, if there are several: each has a file of its own.
    fn pgn_path(&self, number: Option<usize>) -> PathBuf {
        let Some(number) = number else { return self.pgn.to_owned() };
        let extension = self.pgn.extension().map_or_else(|| "pgn".into(), std::ffi::OsStr::to_string_lossy);
        self.pgn.with_extension(format!("{number}.{extension}"))
    }

    /// Opens and checks the files of all matches, without replacing a game in them.
    fn files(&self, pairs: &[[&Contestant; 2]]) -> anyhow::Result<Vec<MatchFiles>> {
        let is_resumed = self.matches.get_flag("resume");
        let settings = match_flags::settings(self.matches, &[])?;
        let open = |(index, [first, second]): (usize, &[&Contestant; 2])| {
            let identities = [first.identity()?, second.identity()?];
            let settings = self.series.settings(identities.each_ref(), json!({ "match": settings }));
            MatchFiles::open(&self.pgn_path((pairs.len() > 1).then_some(index + 1)), settings, is_resumed)
        };
        let mut files: Vec<MatchFiles> = pairs.iter().enumerate().map(open).collect::<anyhow::Result<_>>()?;
        if !is_resumed {
            match_files::check_pool(&files)?;
        }
        for files in &mut files {
            files.take_up(&self.series.plan)?;
        }
        Ok(files)
    }

    /// Begins the journals of a pool, all at once, so that no game of an earlier pool is taken for one of this pool. An
    /// engine that does not start and decisions that cannot be written are reported before that, not hours later.
    fn begin_pool(&self, players: &[Contestant], files: &mut [MatchFiles]) -> anyhow::Result<()> {
        for player in players.iter().filter(|player| player.options().is_none()) {
            player.player(&self.clock, &Announcer::default(), None).with_context(|| player.name.clone())?;
        }
        for files in &*files {
            let paths = (0..self.series.plan.concurrency).filter_map(|thread| self.decisions(&files.path, 1, thread));
            if let Some(path) = paths.into_iter().find(|path| path.exists()) {
                anyhow::bail!("cannot write {}: it exists already", path.display());
            }
        }
        Ok(files.iter_mut().try_for_each(|files| files.journal.begin())?)
    }

    /// The file for the decisions of a player, 1 or 2, in the games of a thread; `None` without `--decisions`.
    fn decisions(&self, pgn: &Path, player: usize, thread: usize) -> Option<PathBuf> {
        let folder = self.matches.get_one::<PathBuf>("decisions")?;
        let stem = pgn.file_stem().unwrap_or_default().to_string_lossy();
        Some(folder.join(format!("{stem}-{player}-{}.jsonl", thread + 1)))
    }

    /// Plays the match of a pair.
    fn play(&self, players: [&Contestant; 2], files: &mut MatchFiles) -> anyhow::Result<Results> {
        let ([first, second], Series { plan, interrupted, warnings, .. }) = (players, &self.series);
        if first.news() == second.news() {
            note!("both: {}", first.news());
        } else {
            note!("{}: {}\n{}: {}", first.name, first.news(), second.name, second.news());
        }
        let MatchFiles { pgn, journal, path, taken_up } = files;
        let begun = journal.games().len();
        if begun == 0 && journal.settings()["pgn_start"].as_u64() > Some(0) {
            note!("{} has games already: those of this match go behind them", path.display());
        }
        if begun > 0 {
            note!("{begun} games of {} are played already", plan.games);
        } else if self.matches.get_flag("resume") {
            note!("{:?} has no game to go on from: the match begins", journal.path());
        }
        if !journal.has_other() {
            journal.begin()?;
        }
        let timer = MonotonicClock::new();
        let has_clock = plan.rules.limits.iter().any(|limits| limits.clock.is_some());
        let mut news = News::new([&first.name, &second.name], plan.games, self.json, has_clock, interrupted);
        if self.matches.get_flag("live") {
            news = news.with_live();
        }
        let mut failure = None;
        let mut write = |record: &GameRecord| {
            if let Err(error) = pgn.write(record) {
                failure.get_or_insert(error);
                interrupted.store(true, Ordering::SeqCst);
            }
        };
        let decisions = |player, thread| self.decisions(path, player, thread);
        let pair = Pair { players, clock: &self.clock, bar: None, decisions: &decisions };
        let end = self.series.play(&pair, journal, &mut |event| match event {
            Event::Started { game, players } => news.started(game, players),
            Event::Moved { game, number, last } => news.moved(game, number, last),
            Event::Ended(game) => news.game_ended(game),
            Event::Finished { record, results, is_resumed } => {
                if !is_resumed || record.game > *taken_up {
                    write(record);
                }
                warnings.look_at(record);
                news.finished(record, results, is_resumed);
            }
            Event::BrokenOff(record) => write(record),
        });
        let end = end.with_context(|| match journal.games().is_empty() {
            true => format!("{}: the match ended before its first game did", path.display()),
            false => format!("{}: the match ended early (--resume goes on with it)", path.display()),
        })?;
        if let Some(error) = failure {
            return Err(error);
        }
        news.ended(&end, plan.sprt.as_ref(), timer.now_ms() / 1e3);
        anyhow::ensure!(
            !news.is_unread(),
            "the match ended when nobody read its output any more; games in {}",
            path.display()
        );
        if !self.series.is_interrupted() {
            journal.end()?;
        }
        Ok(end.results)
    }
}
