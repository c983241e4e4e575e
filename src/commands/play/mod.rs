//! `zeitnot play`: a game of a person against the engine, line by line in the terminal.
//!
//! | file | content |
//! |---|---|
//! | `args` | the flags, and the choice of a time control |
//! | `keyboard`, `typed` | lines that a person types, and what they mean |
//! | `words` | clocks, limits and moves in words |
//! | `opponent` | the engine's thoughts: moves, hints, answers to offers of a draw |
//! | `manner` | how the engine plays, for a game that goes on |
//! | `game_file` | the game in its PGN file, and back |
//! | `session`, `answers` | the turns and the end; answers to commands that change nothing |

mod answers;
mod args;
mod game_file;
mod keyboard;
mod manner;
mod opponent;
mod session;
mod typed;
mod words;

pub use args::command;

use super::flags::game_from;
use super::interrupt;
use super::output::{note, say};
use anyhow::Context as _;
use clap::ArgMatches;
use game_file::GameFile;
use keyboard::Keyboard;
use opponent::Opponent;
use session::Session;
use std::path::Path;
use std::sync::Arc;
use zeitnot::uci::Signs;
use zeitnot_engine::chess::{Color, Game};
use zeitnot_engine::engine::Options;
use zeitnot_games::{GameRecord, Limits, Preset, Referee, Rules, Starts};

/// The engine's name in the tags of the game.
const NAME: &str = "Zeitnot";

/// A game that begins or goes on.
struct Start {
    file: GameFile,
    record: GameRecord,
    game: Game,
    /// The limits of White and Black, and their clocks at the start of the game.
    limits: [Limits; 2],
    start_ms: [f64; 2],
    you: Color,
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let path = args::pgn(matches)?;
    let mut options = args::options(matches)?;
    let interrupted = interrupt::on_request()?;
    let keyboard = Keyboard::listen(Arc::clone(&interrupted));
    let start = match matches.get_flag("resume") {
        true => Some(resumed(matches, path, &mut options)?),
        false => new_game(matches, path, options.chess960, &keyboard)?,
    };
    let Some(Start { mut file, mut record, game, limits, start_ms, you }) = start else {
        say!("no move was played");
        return Ok(());
    };
    let engines = usize::from(you.is_white());
    file.manner = manner::of(&options, &limits[engines]);
    args::note_if_maia_searches(matches, &limits[engines], &options);
    let opponent = Opponent::load(options, interrupted)?;
    let before = record.networks[engines].replace(opponent.network.clone());
    if let Some(before) = before.filter(|before| *before != opponent.network) {
        note!("the game began with the network {before}; now {} plays", opponent.network);
    }
    let rules = Rules::default();
    let left_ms = record.clocks_ms;
    let mut referee = Referee::new(&rules, limits.each_ref(), game, record);
    referee.set_clocks(left_ms);
    let session = Session {
        keyboard,
        opponent,
        file,
        referee,
        start_ms,
        you,
        viewer: you,
        signs: if matches.get_flag("ascii") || !speaks_utf8() { Signs::Letters } else { Signs::Pictures },
        resume: args::resume(matches),
        unkept: None,
    };
    session.play()
}

/// A new game by the flags; `None` where the person left before it began.
fn new_game(matches: &ArgMatches, path: &Path, chess960: bool, keyboard: &Keyboard) -> anyhow::Result<Option<Start>> {
    let game = game_from(matches.get_one::<String>("fen").map(String::as_str), chess960).context("--fen")?;
    Starts::one(game.clone()).context("--fen")?;
    let you = args::side(matches);
    let file = GameFile::open(path)?;
    let Some([yours, engines]) = args::limits(matches, keyboard) else { return Ok(None) };
    let limits = by_color(you, yours, engines);
    let start_ms = limits.each_ref().map(start_ms);
    let name = matches.get_one::<String>("name").context("--name has a default")?.clone();
    let players = by_color(you, name, NAME.to_owned());
    let record = GameRecord::begin(1, players, limits.each_ref(), &game, chess960);
    let record = GameRecord { first_is_white: you.is_white(), clocks_ms: start_ms, ..record };
    Ok(Some(Start { file, record, game, limits, start_ms, you }))
}

/// Sorts a value of the person, who plays `you`, and one of the engine by colour: White's first.
fn by_color<T>(you: Color, yours: T, engines: T) -> [T; 2] {
    if you.is_white() { [yours, engines] } else { [engines, yours] }
}

/// The last game of the file with its clocks; sets the engine's manner of playing that the file names in `options`.
fn resumed(matches: &ArgMatches, path: &Path, options: &mut Options) -> anyhow::Result<Start> {
    let (file, pgn) = GameFile::resume(path)?;
    let tags = pgn.record([0.0; 2]);
    anyhow::ensure!(
        tags.networks[0].is_some() != tags.networks[1].is_some(),
        "the tags of the game do not tell who has which side (WhiteNetwork or BlackNetwork is the engine's)"
    );
    let you = if tags.first_is_white { Color::White } else { Color::Black };
    let mut limits = [Limits::default(), Limits::default()];
    for (limits, text) in limits.iter_mut().zip(&tags.controls) {
        match text.strip_suffix("/move") {
            _ if text == "-" || text.is_empty() => {}
            Some(seconds) => limits.movetime_ms = seconds.parse::<f64>().ok().map(|seconds| seconds * 1e3),
            None => limits.clock = Some(text.parse()?),
        }
    }
    let start_ms = limits.each_ref().map(start_ms);
    let engines = &mut limits[usize::from(you.is_white())];
    let flags = manner::restore(&file.manner, matches, options).with_context(|| path.display().to_string())?;
    engines.movetime_ms = flags.movetime_ms.filter(|_| engines.clock.is_none()).or(engines.movetime_ms);
    (engines.nodes, engines.depth) = (flags.nodes, flags.depth);
    if *engines == Limits::default() {
        // The file does not tell another limit than time.
        engines.depth = Preset::find("fixed-depth").and_then(|preset| preset.control.depth);
    }
    let record = pgn.record(start_ms);
    Ok(Start { file, record, game: pgn.game, limits, start_ms, you })
}

/// The clock at the start of a game. As over the board the increment comes after the first move, not before it.
fn start_ms(limits: &Limits) -> f64 {
    limits.clock.as_ref().map_or(0.0, |clock| if clock.base_ms > 0.0 { clock.base_ms } else { clock.increment_ms })
}

/// Whether the terminal shows characters beyond ASCII, by its locale; on Windows it always does.
fn speaks_utf8() -> bool {
    let said = ["LC_ALL", "LC_CTYPE", "LANG"].iter().filter_map(|name| std::env::var(name).ok());
    let said = said.into_iter().find(|value| !value.is_empty()).unwrap_or_default().to_ascii_uppercase();
    cfg!(windows) || said.contains("UTF-8") || said.contains("UTF8")
}
