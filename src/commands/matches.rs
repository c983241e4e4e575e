//! `zeitnot match`: timed games between two configurations of this engine.

use super::engine_options::{self, MAY_INSTALL};
use super::output;
use super::{fen_option, game_from, json_flag};
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};
use std::cell::Cell;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot::announcer::Announcer;
use zeitnot::chess::Color;
use zeitnot::lab::{self, GameRecord, Player, Score, TimeControl};
use zeitnot::time_manager::Plan;

/// The exit code that a shell reports of a program that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Options that mean nothing where nobody speaks UCI.
const WITHOUT_EFFECT: [&str; 2] = ["LogFile", "Ponder"];

pub fn command() -> Command {
    let option = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("NAME=VALUE").action(ArgAction::Append).help(help)
    };
    let command = Command::new("match")
        .about("Play timed games between two configurations of this engine")
        .arg(
            Arg::new("tc")
                .long("tc")
                .value_name("[MOVES/]TIME[+INC]")
                .default_value("10+0.1")
                .allow_hyphen_values(true)
                .value_parser(|text: &str| text.parse::<TimeControl>())
                .help("Time control in seconds (or minutes:seconds); the clocks begin with TIME and INC, as in fastchess"),
        )
        .arg(
            Arg::new("preset")
                .long("preset")
                .value_name("NAME")
                .value_parser(lab::PRESETS.map(|(name, _)| name))
                .conflicts_with("tc")
                .help(
                    "A time control by name: bullet (1+0 minutes), blitz (3+2), rapid (10+5), classical (30+0), infinite and \
                     fixed-depth (no clock, every move to depth 5)",
                ),
        )
        .arg(
            Arg::new("games")
                .long("games")
                .value_name("N")
                .default_value("1")
                .value_parser(value_parser!(u64).range(1..))
                .help("Games to play; the sides alternate"),
        )
        .arg(
            Arg::new("pgn")
                .long("pgn")
                .value_name("FILE")
                .default_value("match.pgn")
                .value_parser(value_parser!(PathBuf))
                .help("Where the games go; a file that exists is added to"),
        )
        .arg(fen_option().help("Where every game begins: a FEN, or startpos [default: startpos]"))
        .after_help(
            "A line a move: the budget that the time manager granted and the hard limit that the search may stretch it to, what was \
             used, the nodes of the tree, q as White sees it (-1 to 1), and the clocks of White and Black.",
        )
        .arg(option("option1", "A UCI option of the first configuration alone; may be given again"))
        .arg(option("option2", "A UCI option of the second configuration alone; may be given again"))
        .arg(json_flag());
    engine_options::add_to(command)
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    for name in engine_options::given(matches).filter(|name| WITHOUT_EFFECT.contains(name)) {
        eprintln!("option {name} has no effect: it is about UCI");
    }
    let time_control = match matches.get_one::<String>("preset") {
        Some(name) => lab::PRESETS.iter().find(|preset| preset.0 == name).context("clap knows the presets")?.1,
        None => *matches.get_one::<TimeControl>("tc").context("--tc has a default")?,
    };
    let games = *matches.get_one::<u64>("games").context("--games has a default")?;
    let pgn_path = matches.get_one::<PathBuf>("pgn").context("--pgn has a default")?;
    let json = matches.get_flag("json");
    let mut first = player(matches, "option1", "Zeitnot 1")?;
    let mut second = player(matches, "option2", "Zeitnot 2")?;
    let fen = matches.get_one::<String>("fen").map(String::as_str);
    let start = game_from(fen, first.engine.options().chess960)?;
    // An engine searches it all the same, but no game begins with the king's capture, and PGN has no word for it.
    anyhow::ensure!(!start.current().is_illegal(), "--fen {}: the side to move could take the king", start.fen());
    let cannot_write = || format!("cannot write {} (--pgn=FILE names another file)", pgn_path.display());
    let mut pgn = OpenOptions::new().create(true).append(true).open(pgn_path).with_context(cannot_write)?;
    // What cannot be looked at (an empty file, a pipe) has no line to end.
    if is_torn(pgn_path).unwrap_or(false) {
        pgn.write_all(b"\n\n").with_context(cannot_write)?;
    }
    let news = (first.engine.prepare()?.unwrap_or_default(), second.engine.prepare()?.unwrap_or_default());
    if news.0 == news.1 {
        eprintln!("both: {}", news.0);
    } else {
        eprintln!("{}: {}\n{}: {}", first.name, news.0, second.name, news.1);
    }
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || {
        // A second Ctrl-C means it.
        if flag.swap(true, Ordering::SeqCst) {
            std::process::exit(INTERRUPTED);
        }
    })?;
    let bar = ProgressBar::new(games).with_style(
        ProgressStyle::with_template("{bar:30} game {pos}/{len} {msg} [{elapsed_precise}]")
            .unwrap_or(ProgressStyle::default_bar()),
    );
    bar.tick();
    // Without a reader the match ends as by Ctrl-C: the game so far is written.
    let is_unread = Cell::new(false);
    let tell = |line: String| {
        if !is_unread.get() && !output::is_read(format_args!("{line}\n")) {
            is_unread.set(true);
            interrupted.store(true, Ordering::SeqCst);
        }
    };
    let mut score = Score::default();
    for round in 0..games as usize {
        let first_is_white = round % 2 == 0;
        let players = if first_is_white { [&mut first, &mut second] } else { [&mut second, &mut first] };
        let show = |record: &GameRecord| {
            bar.set_message(format!("move {}", record.moves.len().div_ceil(2)));
            if !json && let Some(line) = move_line(record) {
                bar.suspend(|| tell(line));
            }
            if interrupted.load(Ordering::SeqCst) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        if !json {
            let [white, black] = players.each_ref().map(|player| player.name.as_str());
            bar.suspend(|| {
                tell(format!("game {}: {white} (White) - {black} (Black); clocks: White, Black", round + 1))
            });
        }
        let record = lab::play(players, start.clone(), time_control, show)?;
        if record.termination != lab::Termination::Unfinished {
            score.count(&record, first_is_white);
        }
        let date = today();
        lab::write_pgn(&mut pgn, &record, "zeitnot match", &date, round + 1).with_context(cannot_write)?;
        bar.inc(1);
        bar.suspend(|| match json {
            true => tell(game_json(&record, round + 1).to_string()),
            false => {
                let [white, black] = &record.players;
                tell(format!("game {}: {white} - {black} {} ({})", round + 1, record.result(), record.termination));
            }
        });
        if interrupted.load(Ordering::SeqCst) {
            break;
        }
    }
    bar.finish_and_clear();
    match json {
        true => tell(score_json(&score).to_string()),
        false => tell(format!("{}: {score}; games in {}", first.name, pgn_path.display())),
    }
    anyhow::ensure!(
        !is_unread.get(),
        "the match ended when nobody read its output any more; games in {}",
        pgn_path.display()
    );
    Ok(())
}

fn player(matches: &ArgMatches, own: &str, name: &str) -> anyhow::Result<Player> {
    let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
    let speaker = name.to_owned();
    engine.announce_to(Announcer::new(move |line| eprintln!("{speaker}: {line}")));
    engine_options::limit_memory(&mut engine, 2)?;
    for setting in matches.get_many::<String>(own).unwrap_or_default() {
        let (option, value) = setting.split_once('=').with_context(|| format!("--{own} {setting}: no NAME=VALUE"))?;
        engine.set_option(option.trim(), value.trim()).with_context(|| format!("--{own} {setting}"))?;
    }
    // Its own options tell it from the other one, also in a file to which other matches are added.
    let own: Vec<&str> = matches.get_many::<String>(own).unwrap_or_default().map(String::as_str).collect();
    let name = if own.is_empty() { name.to_owned() } else { format!("{name} ({})", own.join(", ")) };
    Ok(Player { name, engine, synchronous: false })
}

/// The last move: what it was to take and the most it might, what it took, and the clocks.
fn move_line(record: &GameRecord) -> Option<String> {
    let last = record.moves.last()?;
    let number = record.moves.len().div_ceil(2);
    let dots = if last.color.is_white() { "." } else { "..." };
    let line = last.report.lines.first();
    let score = line.map_or(0.0, |line| line.q) * if last.color == Color::White { 1.0 } else { -1.0 };
    let budget = last
        .plan
        .as_ref()
        .map(|plan: &Plan| format!("budget {:>7.0} to {:>7.0} ms  ", plan.budget_ms, plan.hard_limit_ms));
    let clocks = || format!("  clocks {:>8} {:>8}", seconds(last.clocks_ms[0]), seconds(last.clocks_ms[1]));
    Some(format!(
        "{:<12} {}used {:>7.0} ms  nodes {:>7}  q {score:>+6.3}{}",
        format!("{number}{dots} {}", last.san),
        budget.unwrap_or_default(),
        last.used_ms,
        last.report.nodes,
        if record.time_control.depth.is_some() { String::new() } else { clocks() },
    ))
}

fn seconds(ms: f64) -> String {
    let s = ms.max(0.0) / 1e3;
    format!("{}:{:05.2}", (s / 60.0) as u64, s % 60.0)
}

fn game_json(record: &GameRecord, round: usize) -> Value {
    json!({
        "game": round,
        "white": record.players[0],
        "black": record.players[1],
        "result": record.result(),
        "termination": record.termination.to_string(),
        "plies": record.moves.len(),
        "clock_ms": { "white": record.clocks_ms[0], "black": record.clocks_ms[1] },
        "forfeit": record.termination == lab::Termination::TimeForfeit,
    })
}

fn score_json(score: &Score) -> Value {
    let Score { wins, draws, losses, forfeits } = score;
    json!({ "wins": wins, "draws": draws, "losses": losses, "forfeits": forfeits })
}

/// Whether a file ends in the middle of a line.
fn is_torn(path: &Path) -> io::Result<bool> {
    let mut last = [0];
    let mut file = File::open(path)?;
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// The date that the PGN is told.
fn today() -> String {
    let now = time::OffsetDateTime::now_utc();
    format!("{:04}.{:02}.{:02}", now.year(), u8::from(now.month()), now.day())
}
