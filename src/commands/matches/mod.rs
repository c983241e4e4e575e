//! `zeitnot match`: plays timed games between two configurations of this engine, or this engine and another one.

mod live;
mod match_args;
mod match_files;
mod news;
mod pgn_file;

pub use match_args::command;

use super::output::{note, notes, say};
use super::{engine_options, interrupt};
use crate::commands::flags::match_flags;
use anyhow::Context as _;
use clap::ArgMatches;
use match_files::MatchFiles;
use news::News;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_engine::announcer::Announcer;
use zeitnot_engine::chess::Game;
use zeitnot_engine::clock::{Clock as _, MonotonicClock};
use zeitnot_lab::setup::{self, Contestant, MatchClock, MatchSetup};
use zeitnot_lab::strength::Results;
use zeitnot_lab::strength::ratings::Encounter;
use zeitnot_lab::strength::sprt::Sprt;
use zeitnot_lab::{DecisionLog, Event, ExternalPlayer, GameRecord, MatchPlan, Player as _, PlayerError, run_match};

/// Most games of an SPRT without `--games`.
const MOST_SPRT_GAMES: u64 = 100_000;
/// Options without effect where nobody speaks UCI.
const WITHOUT_EFFECT: [&str; 1] = ["LogFile"];

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    for name in engine_options::given(matches).filter(|name| WITHOUT_EFFECT.contains(name)) {
        note!("option {name} has no effect: it is about UCI");
    }
    let mut players = vec![own(matches, "option1", "Zeitnot 1")?];
    players.extend(opponents(matches)?);
    setup::check(&players)?;
    let games = Match::new(matches, &players)?;
    match_flags::load(&mut players, games.setup.concurrency, &games.clock)?;
    let interrupted = interrupt::on_request()?;
    players.iter_mut().for_each(|player| player.heed(&interrupted));
    let [first, opponents @ ..] = &players[..] else { anyhow::bail!("a match needs two players") };
    let opening = |pair: u64| games.setup.starts.get(pair);
    let plan = games.plan(&opening);
    let mut files = games.files(first, opponents, &plan)?;
    if opponents.len() > 1 {
        let begun = games.begin_pool(opponents, &mut files);
        if interrupted.load(Ordering::SeqCst) {
            interrupt::exit("interrupted before its first move");
        }
        begun?;
    }
    let mut encounters = Vec::new();
    for (opponent, files) in opponents.iter().zip(&mut files) {
        let results = games.play([first, opponent], &plan, files, &interrupted)?;
        encounters.push(Encounter { players: [first.name.clone(), opponent.name.clone()], results });
        if interrupted.load(Ordering::SeqCst) {
            interrupt::exit(match files.journal.has_other() {
                true => "interrupted before its first move",
                false => "interrupted: --resume goes on with it",
            });
        }
    }
    let anchors: BTreeMap<String, f64> =
        opponents.iter().filter_map(|opponent| Some((opponent.name.clone(), opponent.rating?))).collect();
    if !anchors.is_empty() {
        news::rating(&first.name, &encounters, &anchors, games.json)?;
    }
    if !games.json {
        let paths: Vec<String> = files.iter().map(|files| files.path.display().to_string()).collect();
        say!("games in {}", paths.join(", "));
    }
    Ok(())
}

/// This engine as a player with the options that `flag` gives.
fn own(matches: &ArgMatches, flag: &str, name: &str) -> anyhow::Result<Contestant> {
    let settings = matches.get_many::<String>(flag).unwrap_or_default().map(String::as_str);
    match_flags::own_player(matches, &format!("--{flag}"), settings, name)
}

/// The second configuration of this engine, another engine, or the engines of a pool.
fn opponents(matches: &ArgMatches) -> anyhow::Result<Vec<Contestant>> {
    let mut opponents = match (matches.get_one::<PathBuf>("pool"), matches.get_one::<String>("engine2")) {
        (Some(path), _) => setup::pool(path)?,
        (None, Some(command)) => vec![external(matches, command)?],
        (None, None) => vec![own(matches, "option2", "Zeitnot 2")?],
    };
    if let Some(rating) = matches.get_one::<f64>("rating2") {
        opponents[0].rating = Some(*rating);
    }
    Ok(opponents)
}

/// Another engine. Without `--name2` it is asked for its name.
fn external(matches: &ArgMatches, command: &str) -> anyhow::Result<Contestant> {
    let settings = matches.get_many::<String>("option2").unwrap_or_default().map(String::as_str);
    let options = match_flags::pairs("--option2", settings)?;
    let name = match matches.get_one::<String>("name2") {
        Some(name) => name.clone(),
        None => {
            note!("asking {command} for its name");
            ExternalPlayer::start(command, &options, None, Arc::default())?.name().to_owned()
        }
    };
    Ok(Contestant::external(command.to_owned(), options, name))
}

/// The flags of a match, read.
struct Match<'a> {
    matches: &'a ArgMatches,
    pgn: &'a Path,
    json: bool,
    games: u64,
    clock: MatchClock,
    setup: MatchSetup,
    sprt: Option<Sprt>,
    is_live: bool,
}

impl<'a> Match<'a> {
    fn new(matches: &'a ArgMatches, players: &[Contestant]) -> anyhow::Result<Match<'a>> {
        let is_asked = matches.value_source("games") == Some(clap::parser::ValueSource::CommandLine);
        let games = match *matches.get_one::<u64>("games").context("--games has a default")? {
            _ if matches.contains_id("sprt") && !is_asked => MOST_SPRT_GAMES,
            games => games,
        };
        let clock = match_flags::clock(matches, 0)?;
        if let Some(foreign) = players.iter().find(|player| player.options().is_none()) {
            let name = &foreign.name;
            anyhow::ensure!(!clock.is_virtual(), "{name}: another engine plays on the machine's clock (--clock real)");
            let ponders = players.iter().any(|player| player.options().is_some_and(|options| options.ponder));
            anyhow::ensure!(!ponders, "{name}: --ponder is for matches of this engine with itself");
        }
        anyhow::ensure!(
            matches.get_many::<f64>("nps").is_none_or(|speeds| speeds.len() == 1),
            "--nps: both players have one speed in a match"
        );
        let chess960 = players[0].options().is_some_and(|options| options.chess960);
        let mut setup = match_flags::setup(matches, &clock, match_args::limits(matches)?, chess960)?;
        setup.concurrency = setup.concurrency.min(games as usize);
        for opponent in &players[1..] {
            setup.check_repetition(&clock, games, [&players[0], opponent], &notes())?;
        }
        if let Some(folder) = matches.get_one::<PathBuf>("decisions") {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        Ok(Match {
            matches,
            pgn: matches.get_one::<PathBuf>("pgn").context("--pgn has a default")?,
            json: matches.get_flag("json"),
            games,
            clock,
            setup,
            sprt: matches.get_one::<String>("sprt").map(|text| text.parse()).transpose().context("--sprt")?,
            is_live: live::is_given(matches)?,
        })
    }

    /// The PGN file of a match; `number` is that of the opponent, if there are several: each has a file of its own.
    fn pgn_path(&self, number: Option<usize>) -> PathBuf {
        let Some(number) = number else { return self.pgn.to_owned() };
        let extension = self.pgn.extension().map_or_else(|| "pgn".into(), std::ffi::OsStr::to_string_lossy);
        self.pgn.with_extension(format!("{number}.{extension}"))
    }

    /// The plan of the match against each opponent.
    fn plan<'p>(&self, opening: &'p (dyn Fn(u64) -> Game + Sync)) -> MatchPlan<'p> {
        MatchPlan {
            sprt: self.sprt,
            tells_moves: self.is_live || (self.setup.concurrency == 1 && !self.json),
            ..self.setup.plan(self.games, opening)
        }
    }

    /// Opens and checks the files of all matches, without replacing a game in them.
    fn files(
        &self,
        first: &Contestant,
        opponents: &[Contestant],
        plan: &MatchPlan<'_>,
    ) -> anyhow::Result<Vec<MatchFiles>> {
        let is_resumed = self.matches.get_flag("resume");
        let (program, first) = (setup::program_sha256(), first.identity()?);
        let settings = match_flags::settings(self.matches, &[])?;
        let open = |(index, opponent): (usize, &Contestant)| {
            let settings = json!({
                "program": program,
                "games": self.games,
                "first": first,
                "second": opponent.identity()?,
                "match": settings,
            });
            MatchFiles::open(&self.pgn_path((opponents.len() > 1).then_some(index + 1)), settings, is_resumed)
        };
        let mut files: Vec<MatchFiles> = opponents.iter().enumerate().map(open).collect::<anyhow::Result<_>>()?;
        if !is_resumed {
            match_files::check_pool(&files)?;
        }
        for files in &mut files {
            files.take_up(plan)?;
        }
        Ok(files)
    }

    /// Begins the journals of a pool, all at once, so that no game of an earlier pool is taken for one of this pool. An
    /// engine that does not start and decisions that cannot be written are reported before that, not hours later.
    fn begin_pool(&self, opponents: &[Contestant], files: &mut [MatchFiles]) -> anyhow::Result<()> {
        for opponent in opponents {
            opponent.player(&self.clock, &Announcer::default(), None).with_context(|| opponent.name.clone())?;
        }
        for files in &*files {
            let paths = (0..self.setup.concurrency).filter_map(|thread| self.decisions(&files.path, 1, thread));
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

    /// Plays the match against one opponent.
    fn play(
        &self,
        [first, second]: [&Contestant; 2],
        plan: &MatchPlan<'_>,
        files: &mut MatchFiles,
        interrupted: &AtomicBool,
    ) -> anyhow::Result<Results> {
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
            note!("{begun} games of {} are played already", self.games);
        } else if self.matches.get_flag("resume") {
            note!("{:?} has no game to go on from: the match begins", journal.path());
        }
        if !journal.has_other() {
            journal.begin()?;
        }
        let timer = MonotonicClock::new();
        let has_clock = self.setup.rules.limits.iter().any(|limits| limits.clock.is_some());
        let mut news = News::new([&first.name, &second.name], self.games, self.json, has_clock, interrupted);
        if self.is_live {
            news = news.with_live();
        }
        let make = |thread: usize| {
            let announcer = match_flags::announcer(thread);
            let player = |number: usize, of: &Contestant| {
                let decisions = self.decisions(path, number, thread).map(decision_log).transpose()?;
                of.player(&self.clock, &announcer, decisions)
            };
            Ok([player(1, first)?, player(2, second)?])
        };
        let mut failure = None;
        let mut write = |record: &GameRecord| {
            if let Err(error) = pgn.write(record) {
                failure.get_or_insert(error);
                interrupted.store(true, Ordering::SeqCst);
            }
        };
        let end = run_match(plan, &make, journal, interrupted, &mut |event| match event {
            Event::Started { game, players } => news.started(game, players),
            Event::Moved { game, number, last } => news.moved(game, number, last),
            Event::Ended(game) => news.game_ended(game),
            Event::Finished { record, results, is_resumed } => {
                if !is_resumed || record.game > *taken_up {
                    write(record);
                }
                news.finished(record, results, is_resumed);
            }
            Event::BrokenOff(record) => write(record),
        });
        let end =
            end.with_context(|| format!("{}: the match ended early (--resume goes on with it)", path.display()))?;
        if let Some(error) = failure {
            return Err(error);
        }
        news.ended(&end, self.sprt.as_ref(), timer.now_ms() / 1e3);
        anyhow::ensure!(
            !news.is_unread(),
            "the match ended when nobody read its output any more; games in {}",
            path.display()
        );
        if !interrupted.load(Ordering::SeqCst) {
            journal.end()?;
        }
        Ok(end.results)
    }
}

/// Creates the file of a player's decisions.
fn decision_log(path: PathBuf) -> Result<DecisionLog, PlayerError> {
    let name = path.display().to_string();
    DecisionLog::create(path, notes()).map_err(|error| PlayerError::Unfit(format!("cannot write {name}: {error}")))
}
