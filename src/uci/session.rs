//! Runs the loop between a GUI and the engine.

use super::by_hand;
use super::lines::Lines;
use super::nearest::did_you_mean;
use super::output::Output;
use super::parse::{self, Command};
use super::print::{self, Display};
use super::reporter::Reporter;
use crate::crash_report;
use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;
use zeitnot_base::files::named_path;
use zeitnot_engine::announcer::{Announcer, ERROR};
use zeitnot_engine::chess::divide;
use zeitnot_engine::engine::options::SPECS;
use zeitnot_engine::engine::{Engine, EngineError, MOST_MOVES, OptionError, Prepared, ignored_options};

/// The engine's name in GUIs.
const NAME: &str = "Zeitnot";

/// The buttons that save the tree to the file `TreeFile`, and load it.
const TREE_BUTTONS: [&str; 2] = ["SaveTree", "LoadTree"];

/// Deepest `go perft`, in plies: a deeper one takes hours and cannot be stopped.
const DEEPEST_PERFT: u32 = 7;

/// The switches of a session that are no options of the engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Switches {
    /// Whether the network and all else that options name is loaded at the start, not at the first `isready` or `go`.
    pub preload: bool,
    /// Whether `uci` lists all options, not only those that people set.
    pub show_hidden: bool,
}

/// Facts about earlier commands that later ones need.
#[derive(Default)]
struct Memory {
    /// Whether the last position could not be read.
    refused: bool,
    /// Whether Chess960 is on because `UCI_Variant` says so.
    is_by_variant: bool,
}

/// Why a session ended before `quit` and the end of the input. The text is one line.
#[derive(Debug, Error)]
pub enum SessionError {
    /// The input cannot be read.
    #[error(transparent)]
    Input(#[from] std::io::Error),
    /// The option `Strict` is set, and what the options name cannot be loaded.
    #[error("{0} (option Strict: nothing else plays)")]
    Strict(EngineError),
}

/// Speaks UCI over `input` and `output` until `quit` or the end of the input.
///
/// # Errors
/// [`SessionError`].
pub fn run(mut engine: Engine, switches: Switches, input: impl BufRead, output: &Output) -> Result<(), SessionError> {
    let told = output.clone();
    engine.announce_to(Announcer::new(move |line| match line.starts_with(ERROR) {
        true => told.tell(line),
        false => told.line(&print::info(&line)),
    }));
    engine.play_maias_as_people();
    output.say_on_console(&format!("{NAME} {}", env!("CARGO_PKG_VERSION")));
    output.log_to(&engine.options().log_file);
    let ended = converse(&mut engine, switches, input, output);
    engine.finish();
    engine.save_tree_file();
    if let Err(error @ SessionError::Strict(_)) = &ended {
        output.line(&print::info(&print::error(error)));
    }
    ended
}

fn converse(engine: &mut Engine, switches: Switches, input: impl BufRead, output: &Output) -> Result<(), SessionError> {
    if switches.preload {
        prepare(engine, output)?;
    }
    let mut lines = Lines::of(input);
    let mut memory = Memory::default();
    while let Some(line) = lines.read()? {
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                output.error(&error);
                continue;
            }
        };
        output.log(">>", line.trim_end());
        crash_report::remember(line.trim_end());
        match parse::command(&line) {
            Ok(Command::Quit) => break,
            Ok(Command::Uci) => introduce(engine, switches.show_hidden, output),
            Ok(command) => {
                memory.refused &= command != Command::NewGame;
                obey(engine, command, &mut memory, output)?;
            }
            Err(error) => output.error(&error),
        }
    }
    Ok(())
}

/// Answers `uci`.
fn introduce(engine: &Engine, show_hidden: bool, output: &Output) {
    // Nibbler and other GUIs know Lc0's dialect by the word; xboard shows 23 letters.
    output.line(&format!("id name {NAME} {} (Lc0)", env!("CARGO_PKG_VERSION")));
    output.line("id author the Zeitnot developers");
    // What the command line set is the default here: a GUI may send all defaults back.
    for spec in SPECS {
        for name in spec.listed_names(show_hidden) {
            output.line(&print::option(name, spec, engine.options()));
        }
    }
    output.line("option name ClearTree type button");
    if !engine.options().tree_file.is_empty() {
        TREE_BUTTONS.iter().for_each(|name| output.line(&format!("option name {name} type button")));
    }
    output.line("uciok");
}

fn obey(engine: &mut Engine, command: Command<'_>, memory: &mut Memory, output: &Output) -> Result<(), SessionError> {
    match command {
        Command::IsReady => {
            prepare(engine, output)?;
            engine.await_manager();
            output.line("readyok");
        }
        Command::NewGame => engine.new_game(),
        Command::SetOption { name, value } => set_option(engine, &name, &value, &mut memory.is_by_variant, output),
        Command::Position(rest) => match parse::position(rest, engine.options().chess960) {
            Ok(game) => {
                if game.positions()[0].is_illegal() {
                    let check = "the side that does not move is in check";
                    output.error(&format!("illegal position, {check}; it is taken as it is: {}", game.fen()));
                }
                let moves = game.current().legal_moves().len();
                if moves > MOST_MOVES {
                    let fen = game.fen();
                    output
                        .error(&format!("{moves} legal moves, of which a search knows the first {MOST_MOVES}: {fen}"));
                }
                engine.set_game(game);
                memory.refused = false;
            }
            Err(error) => {
                output.error(&format!("{error}; nothing is searched until there is a position"));
                memory.refused = true;
            }
        },
        // A move for the position before would be illegal on the board of who asks.
        Command::Go(_) | Command::Eval if memory.refused => {
            engine.finish();
            output.error(&"the last position was refused: nothing is searched");
            if matches!(command, Command::Go(rest) if !rest.starts_with("perft")) {
                output.line("bestmove (none)");
            }
        }
        Command::Go(rest) => go(engine, rest, output)?,
        Command::Stop => engine.stop(),
        Command::PonderHit => {
            let start_ms = engine.now_ms();
            match engine.ponder_hit(start_ms) {
                Some(Ok(_)) => {}
                Some(Err(error)) => cannot_search(engine, &error, output),
                None => output.error(&"ponderhit without go ponder: ignored"),
            }
        }
        Command::Wait if engine.is_endless() => output.error(&"wait: only stop is sure to end this search"),
        Command::Wait => engine.wait(),
        Command::Fen => output.line(&print::info(&engine.game().fen())),
        Command::Help => output.lines(by_hand::help().iter().map(String::as_str)),
        Command::Board => output.lines(by_hand::board(engine.game()).iter().map(String::as_str)),
        Command::Eval => {
            prepare(engine, output)?;
            match by_hand::evaluation(engine) {
                Ok(lines) => output.lines(lines.iter().map(String::as_str)),
                Err(error) => output.error(&error),
            }
        }
        Command::SaveTree(file) => save_tree(engine, file, output),
        Command::LoadTree(file) => {
            // The network decides whether the tree is its own.
            prepare(engine, output)?;
            memory.refused &= !load_tree(engine, file, output);
        }
        Command::Quit | Command::Uci | Command::Debug | Command::Empty => {}
        Command::Unknown(line) => match by_hand::play(engine.game(), line) {
            Some(Ok((game, text))) => {
                engine.set_game(game);
                memory.refused = false;
                output.line(&print::info(&text));
            }
            Some(Err((why, game))) => output.error(&format!("{why} in {}", game.fen())),
            None => {
                let word = line.split_whitespace().next().unwrap_or_default();
                output.error(&format!("unknown command \"{line}\"{}", did_you_mean(word, parse::COMMAND_WORDS)));
            }
        },
    }
    Ok(())
}

/// Loads what the options name, and prints a line about it. Returns whether there was anything to load.
///
/// # Errors
/// Where it cannot be had, with `Strict`.
fn prepare(engine: &mut Engine, output: &Output) -> Result<bool, SessionError> {
    if engine.options().strict {
        let news = engine.prepare().map_err(SessionError::Strict)?;
        news.iter().for_each(|news| output.tell(news));
        return Ok(news.is_some());
    }
    match engine.prepare_for_play() {
        Prepared::Ready(None) => return Ok(false),
        Prepared::Ready(Some(news)) => output.tell(&news),
        // A game must go on, and on the clock. Loud as this is, a user who asked for something else hears of it.
        Prepared::Substituted { error, news } => {
            output.error(&error);
            output.tell(&print::substituted(&news));
        }
        Prepared::Failed(error) => output.error(&error),
    }
    Ok(true)
}

fn set_option(engine: &mut Engine, name: &str, value: &str, is_by_variant: &mut bool, output: &Output) {
    let (name, value) = match (name.to_ascii_lowercase().as_str(), value.to_ascii_lowercase().as_str()) {
        // Stockfish's name of it is in the buttons of GUIs.
        ("cleartree" | "clear hash", _) => return engine.clear_tree(),
        ("savetree", _) => return save_tree(engine, &engine.options().tree_file.clone(), output),
        ("loadtree", _) if prepare(engine, output).is_ok() => {
            load_tree(engine, &engine.options().tree_file.clone(), output);
            return;
        }
        // GUIs tell every engine. Analysis is known by its go, but for movetime.
        ("uci_analysemode", is_on) => return engine.set_analysis(is_on == "true"),
        // Who names the variant alone writes castling as in Chess960, until he names another. Beside the option it says
        // nothing new.
        ("uci_variant", "chess960" | "fischerandom") => {
            *is_by_variant |= !engine.options().chess960;
            ("UCI_Chess960", "true")
        }
        ("uci_variant", "chess" | "standard" | "normal") if std::mem::take(is_by_variant) => ("UCI_Chess960", "false"),
        ("uci_variant", "chess" | "standard" | "normal") => return,
        ("uci_chess960", "true" | "false") => {
            *is_by_variant = false;
            (name, value)
        }
        _ => (name, value),
    };
    let before = engine.options().clone();
    match engine.set_option(name, value) {
        // After this option alone: other options must not repeat the complaint about a log that cannot be opened.
        Ok(()) if name.eq_ignore_ascii_case("LogFile") => output.log_to(&engine.options().log_file),
        Ok(()) if engine.is_searching() && *engine.options() != before => {
            output.line(&print::info(&format!("option {name}: it counts from the next move on")));
        }
        Ok(()) => {}
        Err(error @ OptionError::Unknown(_)) => match ignored_options::find(name) {
            Some(ignored) => {
                output.line(&print::without_effect(ignored));
            }
            None => {
                let known = SPECS.iter().flat_map(|spec| spec.listed_names(true));
                output.error(&format!("{error}{}", did_you_mean(name, known)));
            }
        },
        Err(error) => output.error(&error),
    }
}

/// Saves the tree of the analysis in a file, and says what it has.
fn save_tree(engine: &mut Engine, file: &str, output: &Output) {
    match named_path(file).map(|path| engine.save_tree(&path)) {
        Some(Ok(facts)) => output.line(&print::info(&print::tree("saved", file, &facts))),
        Some(Err(error)) => output.error(&error),
        None => output.error(&"savetree needs a file"),
    }
}

/// Loads a saved tree and its position; returns whether that succeeded.
fn load_tree(engine: &mut Engine, file: &str, output: &Output) -> bool {
    match named_path(file).map(|path| engine.load_tree(&path)) {
        Some(Ok(facts)) => {
            output.line(&print::info(&print::tree("loaded", file, &facts)));
            output.line(&print::info(&engine.game().fen()));
            return true;
        }
        Some(Err(error)) => output.error(&error),
        None => output.error(&"loadtree needs a file"),
    }
    false
}

fn go(engine: &mut Engine, rest: &str, output: &Output) -> Result<(), SessionError> {
    let mut start_ms = engine.now_ms();
    if let Some(depth) = rest.strip_prefix("perft") {
        match depth.trim().parse::<u32>() {
            Ok(depth) if depth <= DEEPEST_PERFT => count_leaves(engine, depth, output),
            _ => output.error(&format!(
                "go perft takes a depth up to {DEEPEST_PERFT}, not \"{}\": nothing is counted",
                depth.trim()
            )),
        }
        return Ok(());
    }
    let (mut params, complaints) = parse::go(rest, engine.game());
    for complaint in complaints {
        output.error(&complaint);
    }
    engine.finish();
    if prepare(engine, output)? {
        // Loading a network took part of the clock. It is over before the move: its plan has what is left, and neither
        // lag nor overrun is learned from it.
        params = params.after(engine.game().current().turn(), engine.now_ms() - start_ms);
        start_ms = engine.now_ms();
    }
    if let Some(note) = engine.contempt_note(&params) {
        output.line(&print::info(&note));
    }
    let options = engine.options();
    let display = Display::of(engine);
    if engine.game().current().legal_moves().is_empty() {
        // Only the end of a search can be waited for: the score of a finished game is known.
        output.line(display.no_moves());
    }
    let time_log = options.time_manager_log;
    let verbose = options.verbose_move_stats;
    let reporter =
        Arc::new(Reporter { output: output.clone(), display, time_log, verbose, failed: AtomicBool::new(false) });
    if let Err(error) = engine.go(&params, start_ms, reporter) {
        cannot_search(engine, &error, output);
    }
    Ok(())
}

fn count_leaves(engine: &Engine, depth: u32, output: &Output) {
    let parts = divide(engine.game().current().chess(), depth, engine.options().chess960);
    for (mv, leaves) in &parts {
        output.line(&format!("{mv}: {leaves}"));
    }
    output.line("");
    output.line(&format!("Nodes searched: {}", parts.iter().map(|part| part.1).sum::<u64>()));
}

/// Answers `go` without a search, since the game must go on: prints the reason, and a legal move.
fn cannot_search(engine: &Engine, error: &EngineError, output: &Output) {
    match error {
        // The reason was given when a network was looked for.
        EngineError::NothingLoaded => output.line(&print::info(&print::by_material(error))),
        _ => output.error(&print::by_material(error)),
    }
    let best = engine
        .unsearched()
        .map_or_else(|| "(none)".to_owned(), |mv| zeitnot_engine::chess::to_uci(mv, engine.options().chess960));
    output.line(&format!("bestmove {best}"));
}
