//! `zeitnot match`: timed games between two configurations of this engine, or this engine and another one.

mod args;
mod contestants;
mod live;
mod match_args;
mod match_files;
mod news;
mod pgn_file;

pub use args::{
    MatchClock, Starts, add_to as add_match_flags, check_repetition, clock, concurrency, program_sha256, rules,
    settings, starts,
};
pub use contestants::{Contestant, check, load};
pub use match_args::command;
pub use news::estimate_text;

use super::output::{note, say};
use super::{engine_options, interrupt};
use anyhow::Context as _;
use clap::ArgMatches;
use match_files::MatchFiles;
use news::News;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_engine::chess::Game;
use zeitnot_engine::clock::{Clock as _, MonotonicClock};
use zeitnot_lab::strength::Results;
use zeitnot_lab::strength::ratings::Encounter;
use zeitnot_lab::strength::sprt::Sprt;
use zeitnot_lab::{Event, GameRecord, MatchPlan, Rules, run_match};

/// Games at the most that an SPRT plays unless told.
const MOST_SPRT_GAMES: u64 = 100_000;
/// Options that mean nothing where nobody speaks UCI.
const WITHOUT_EFFECT: [&str; 1] = ["LogFile"];

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    for name in engine_options::given(matches).filter(|name| WITHOUT_EFFECT.contains(name)) {
        note!("option {name} has no effect: it is about UCI");
    }
    let mut players = vec![own(matches, "option1", "Zeitnot 1")?];
    players.extend(opponents(matches)?);
    check(&players)?;
    let setup = MatchSetup::new(matches, &players)?;
    contestants::load(&mut players, 2 * setup.concurrency, &setup.clock)?;
    let interrupted = interrupt::on_request()?;
    players.iter_mut().for_each(|player| player.heed(&interrupted));
    let [first, opponents @ ..] = &players[..] else { anyhow::bail!("a match needs two players") };
    let opening = |pair: u64| setup.starts.get(pair);
    let plan = setup.plan(&opening);
    let mut files = setup.files(first, opponents, &plan)?;
    if opponents.len() > 1 {
        let begun = setup.begin_pool(opponents, &mut files);
        if interrupted.load(Ordering::SeqCst) {
            interrupt::exit("interrupted before its first move");
        }
        begun?;
    }
    let mut encounters = Vec::new();
    for (opponent, files) in opponents.iter().zip(&mut files) {
        let results = setup.play([first, opponent], &plan, files, &interrupted)?;
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
        news::rating(&first.name, &encounters, &anchors, setup.json)?;
    }
    if !setup.json {
        let paths: Vec<String> = files.iter().map(|files| files.path.display().to_string()).collect();
        say!("games in {}", paths.join(", "));
    }
    Ok(())
}

/// The configuration of this engine with its own options.
fn own(matches: &ArgMatches, flag: &str, name: &str) -> anyhow::Result<Contestant> {
    Contestant::own(
        matches,
        &format!("--{flag}"),
        matches.get_many::<String>(flag).unwrap_or_default().map(String::as_str),
        name,
    )
}

/// The second configuration of this engine, another engine, or the engines of a pool.
fn opponents(matches: &ArgMatches) -> anyhow::Result<Vec<Contestant>> {
    let settings = || matches.get_many::<String>("option2").unwrap_or_default().map(String::as_str);
    let mut opponents = match (matches.get_one::<PathBuf>("pool"), matches.get_one::<String>("engine2")) {
        (Some(path), _) => Contestant::pool(path)?,
        (None, Some(command)) => vec![Contestant::external(command, settings(), matches.get_one("name2"))?],
        (None, None) => vec![own(matches, "option2", "Zeitnot 2")?],
    };
    if let Some(rating) = matches.get_one::<f64>("rating2") {
        opponents[0].rating = Some(*rating);
    }
    Ok(opponents)
}

/// All that the matches against several opponents have in common.
struct MatchSetup<'a> {
    matches: &'a ArgMatches,
    pgn: &'a Path,
    json: bool,
    games: u64,
    clock: MatchClock,
    concurrency: usize,
    rules: Rules,
    sprt: Option<Sprt>,
    starts: args::Starts,
    chess960: bool,
    is_live: bool,
}

impl<'a> MatchSetup<'a> {
    fn new(matches: &'a ArgMatches, players: &[Contestant]) -> anyhow::Result<MatchSetup<'a>> {
        let is_asked = matches.value_source("games") == Some(clap::parser::ValueSource::CommandLine);
        let games = match *matches.get_one::<u64>("games").context("--games has a default")? {
            _ if matches.contains_id("sprt") && !is_asked => MOST_SPRT_GAMES,
            games => games,
        };
        let clock = args::clock(matches, 0)?;
        let is_foreign = |player: &Contestant| player.options().is_none();
        if let (MatchClock::Virtual { .. }, Some(player)) = (&clock, players.iter().find(|player| is_foreign(player))) {
            anyhow::bail!("{}: another engine plays on the machine's clock (--clock real)", player.name);
        }
        let ponders = |player: &Contestant| player.options().is_some_and(|options| options.ponder);
        if let (true, Some(player)) = (players.iter().any(ponders), players.iter().find(|player| is_foreign(player))) {
            anyhow::bail!("{}: --ponder is for matches of this engine with itself", player.name);
        }
        anyhow::ensure!(
            matches.get_many::<f64>("nps").is_none_or(|speeds| speeds.len() == 1),
            "--nps: both players have one speed in a match"
        );
        let chess960 = players[0].options().is_some_and(|options| options.chess960);
        let setup = MatchSetup {
            matches,
            pgn: matches.get_one::<PathBuf>("pgn").context("--pgn has a default")?,
            json: matches.get_flag("json"),
            games,
            concurrency: args::concurrency(matches, &clock).min(games as usize),
            clock,
            rules: args::rules(matches, match_args::limits(matches)?)?,
            sprt: matches.get_one::<String>("sprt").map(|text| text.parse()).transpose().context("--sprt")?,
            starts: args::starts(matches, chess960)?,
            chess960,
            is_live: live::is_given(matches)?,
        };
        if let Some(folder) = matches.get_one::<PathBuf>("decisions") {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        let has_time = setup.rules.limits.iter().any(|limits| limits.clock.is_some());
        for opponent in &players[1..] {
            let pair = [&players[0], opponent];
            args::check_repetition(matches, &setup.clock, has_time, setup.games, &setup.starts, pair)?;
        }
        Ok(setup)
    }

    /// The PGN file of a match; `number`: of the opponent, where there are several, and each has its own.
    fn pgn_path(&self, number: Option<usize>) -> PathBuf {
        let Some(number) = number else { return self.pgn.to_owned() };
        let extension = self.pgn.extension().map_or_else(|| "pgn".into(), std::ffi::OsStr::to_string_lossy);
        self.pgn.with_extension(format!("{number}.{extension}"))
    }

    /// The plan of the match against each opponent.
    fn plan<'p>(&self, opening: &'p (dyn Fn(u64) -> Game + Sync)) -> MatchPlan<'p> {
        MatchPlan {
            rules: self.rules.clone(),
            games: self.games,
            opening,
            chess960: self.chess960,
            concurrency: self.concurrency,
            sprt: self.sprt,
            tells_moves: self.is_live || (self.concurrency == 1 && !self.json),
        }
    }

    /// Opens and checks the files of all matches; no game in them is lost yet.
    fn files(
        &self,
        first: &Contestant,
        opponents: &[Contestant],
        plan: &MatchPlan<'_>,
    ) -> anyhow::Result<Vec<MatchFiles>> {
        let is_resumed = self.matches.get_flag("resume");
        let (program, first) = (args::program_sha256(), first.identity()?);
        let settings = args::settings(self.matches, &[])?;
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

    /// Begins the journals of a pool, all at once: no game of the one before is taken for one of this. An engine that does not
    /// start, and decisions that could not be written, are told before that, not hours later.
    fn begin_pool(&self, opponents: &[Contestant], files: &mut [MatchFiles]) -> anyhow::Result<()> {
        for opponent in opponents {
            opponent.player(&self.clock, 1, None).with_context(|| opponent.name.clone())?;
        }
        for files in &*files {
            let paths = (0..self.concurrency).filter_map(|thread| self.decisions(&files.path, 1, thread));
            if let Some(path) = paths.into_iter().find(|path| path.exists()) {
                anyhow::bail!("cannot write {}: it exists already", path.display());
            }
        }
        Ok(files.iter_mut().try_for_each(|files| files.journal.begin())?)
    }

    /// The file that gets the decisions of a player, 1 or 2, in the games of a thread.
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
        let has_clock = self.rules.limits.iter().any(|limits| limits.clock.is_some());
        let mut news = News::new([&first.name, &second.name], self.games, self.json, has_clock, interrupted);
        if self.is_live {
            news = news.with_live();
        }
        let make = |thread: usize| {
            let player =
                |number: usize, of: &Contestant| of.player(&self.clock, thread, self.decisions(path, number, thread));
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
