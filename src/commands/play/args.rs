//! Declares the flags of `play`, and reads them.

use super::keyboard::{Heard, Keyboard};
use super::words;
use crate::commands::engine_options;
use crate::commands::flags::{fen_option, flag, preset_flag, switch, time_control};
use crate::commands::interrupt;
use crate::commands::output::{note, say};
use anyhow::Context as _;
use clap::parser::ValueSource;
use clap::{ArgAction, ArgMatches, Command, value_parser};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};
use zeitnot_engine::chess::Color;
use zeitnot_engine::engine::Options;
use zeitnot_engine::network::catalogue;
use zeitnot_engine::splitmix::mix;
use zeitnot_games::{Limits, Preset, TimeControl, TimeControls};

/// The time control where nobody chooses one.
const USUAL: &str = "rapid";
/// Flags of a new game only; a resumed game has them from its file.
const OF_A_NEW_GAME: [&str; 5] = ["side", "tc", "preset", "fen", "name"];
/// The ratings of the Maias in words.
const RATINGS: &str = "1100 to 1900 in hundreds, and 2200";
/// Options without effect in a game with a person.
const WITHOUT_EFFECT: [(&str, &str); 2] =
    [("LogFile", "it is about UCI"), ("Ponder", "the engine rests while a person thinks")];

pub fn command() -> Command {
    let number = |name, value, help| flag(name, value).help(help).value_parser(value_parser!(u64).range(1..));
    let command = Command::new("play")
        .about("Play a game against the engine in the terminal")
        .args([
            flag("side", "SIDE")
                .value_parser(["white", "black", "random"])
                .default_value("white")
                .help("Your side"),
            flag("elo", "ELO")
                .help("Strength of the engine, as UCI_Elo under UCI_LimitStrength (docs/levels.md)")
                .value_parser(value_parser!(u64)),
            flag("maia", "RATING")
                .help(format!("Opponent as people rated {RATINGS}, in their time"))
                .value_parser(rating)
                .conflicts_with_all(["WeightsFile", "elo"]),
            flag("tc", "[MOVES/]TIME[+INC]")
                .help("Time control in seconds, 3m or minutes:seconds, or yours and the engine's (T1,T2)")
                .value_parser(time_control::<TimeControls>),
            preset_flag(),
            number("nodes", "N", "Nodes of the engine's moves, without clocks unless they are asked for"),
            number("depth", "N", "Depth of the engine's moves, likewise"),
            number("movetime", "MS", "Milliseconds of each of the engine's moves, without clocks")
                .conflicts_with_all(["tc", "preset"]),
            fen_option(),
            flag("pgn", "FILE")
                .help("File of the game; one that exists is added to")
                .default_value("play.pgn")
                .value_parser(value_parser!(PathBuf)),
            switch("resume", "Continuation of the file's last game, with the same other flags")
                .conflicts_with_all(OF_A_NEW_GAME),
            switch("ascii", "Letters as pieces"),
            flag("name", "NAME").help("Your name in the file").default_value("You"),
        ])
        .after_long_help(
            "The move of the engine has its time, and what the time manager granted it: the target, and the most to which the search \
             may stretch it; the nodes of the tree; and the score in pawns as White sees it, or # and the moves to mate.",
        );
    engine_options::add_to(command)
}

/// Reads the rating of one of the Maia networks.
fn rating(text: &str) -> Result<u64, String> {
    let known = |rating: &u64| catalogue::ENTRIES.iter().any(|entry| entry.name == format!("maia-{rating}"));
    text.parse().ok().filter(known).ok_or_else(|| format!("there are: {RATINGS}"))
}

/// The command line that goes on with the game: with the flags of this one, so that the same engine plays.
pub fn resume(matches: &ArgMatches) -> String {
    let mut line = "zeitnot play --resume".to_owned();
    for arg in command().get_arguments() {
        let name = arg.get_id().as_str();
        let is_given = matches.value_source(name) == Some(ValueSource::CommandLine);
        let Some(flag) = arg.get_long().filter(|_| is_given && name != "resume" && !OF_A_NEW_GAME.contains(&name))
        else {
            continue;
        };
        if matches!(arg.get_action(), ArgAction::SetTrue) {
            line += &format!(" --{flag}");
            continue;
        }
        for value in matches.get_raw(name).into_iter().flatten() {
            let value = value.to_string_lossy();
            line += &format!(" --{flag}={}", shlex::try_quote(&value).unwrap_or_else(|_| value.clone()));
        }
    }
    line
}

/// Notes that a Maia network of `--maia` does not play like people, where the flags make it search.
pub fn note_if_maia_searches(matches: &ArgMatches, limits: &Limits, options: &Options) {
    let Some(rating) = matches.get_one::<u64>("maia") else { return };
    let has_clock_alone = *limits == Limits { clock: limits.clock, ..Limits::default() } && limits.clock.is_some();
    let is_set = ["TimeManager", "NodesPerMove"].iter().any(|name| options.was_set.contains(name));
    if options.elo_limit().is_none() && (!has_clock_alone || is_set) {
        note!(
            "with these flags maia-{rating} searches, and does not play like people: it does with a clock, and without other \
             limits and managers"
        );
    }
}

/// The file of the game.
pub fn pgn(matches: &ArgMatches) -> anyhow::Result<&Path> {
    Ok(matches.get_one::<PathBuf>("pgn").context("--pgn has a default")?)
}

/// The options of the engine. Options without an effect in `play` are reported.
pub fn options(matches: &ArgMatches) -> anyhow::Result<Options> {
    for (name, why) in WITHOUT_EFFECT.iter().filter(|(name, _)| matches.contains_id(name)) {
        note!("option {name} has no effect: {why}");
    }
    // Only to read the options: it loads nothing.
    let mut engine = engine_options::engine(matches, engine_options::MAY_INSTALL)?;
    if let Some(elo) = matches.get_one::<u64>("elo") {
        engine.set_flag("UCI_LimitStrength", "true")?;
        engine.set_flag("UCI_Elo", &elo.to_string())?;
    }
    let mut options = Options { against_person: true, ..engine.options().clone() };
    if let Some(rating) = matches.get_one::<u64>("maia") {
        options.set("WeightsFile", &format!("maia-{rating}"))?;
    }
    Ok(options)
}

/// The side of the person.
pub fn side(matches: &ArgMatches) -> Color {
    let is_white = match matches.get_one::<String>("side").map(String::as_str) {
        Some("black") => false,
        Some("random") => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            mix(now.as_nanos() as u64).is_multiple_of(2)
        }
        _ => true,
    };
    if is_white { Color::White } else { Color::Black }
}

/// The limits that the flags set for the engine besides its clock.
pub fn engine_limits(matches: &ArgMatches) -> Limits {
    let number = |name: &str| matches.get_one::<u64>(name).copied();
    Limits {
        clock: None,
        movetime_ms: number("movetime").map(|ms| ms as f64),
        nodes: number("nodes"),
        depth: number("depth").map(|depth| depth.min(u64::from(u32::MAX)) as u32),
    }
}

/// The limits of the person and of the engine. Without a flag the person is asked for a time control; `None` where no
/// answer came.
pub fn limits(matches: &ArgMatches, keyboard: &Keyboard) -> Option<[Limits; 2]> {
    let of_engine = engine_limits(matches);
    let preset = matches.get_one::<Preset>("preset").map(|preset| TimeControls::from(preset.control));
    let controls = match matches.get_one::<TimeControls>("tc").copied().or(preset) {
        Some(controls) => controls,
        None if of_engine != Limits::default() => return Some([Limits::default(), of_engine]),
        None => TimeControls::from(choose(keyboard)?.control),
    };
    let clock = |control: TimeControl| control.depth.is_none().then_some(control);
    let depth = of_engine.depth.or(controls.second.depth);
    Some([
        Limits { clock: clock(controls.first), ..Limits::default() },
        Limits { clock: clock(controls.second), depth, ..of_engine },
    ])
}

/// Lets the person choose one of six time controls, as Mergen does (docs/documents.md, 2.9); the usual one where the
/// input is no terminal. `None` where no answer came.
fn choose(keyboard: &Keyboard) -> Option<Preset> {
    if !keyboard.is_terminal() {
        return Preset::find(USUAL);
    }
    let names: Vec<&str> = Preset::names().collect();
    say!("Select a time control:");
    for (number, name) in names.iter().enumerate() {
        let control = Preset::find(name)?.control;
        say!("{}. {name} ({})", number + 1, words::control(&control));
    }
    let usual = 1 + names.iter().position(|name| *name == USUAL)?;
    loop {
        keyboard.prompt(&format!("Your choice (1-{}, default {usual}): ", names.len()));
        let text = match keyboard.wait(None) {
            Heard::Line { text, .. } => text,
            Heard::PassedOver(why) => {
                say!("{why}");
                continue;
            }
            Heard::Interrupted => interrupt::exit("interrupted: no move was played"),
            Heard::Late | Heard::End => return None,
        };
        let chosen = match text.trim() {
            "" => Preset::find(USUAL),
            text => match text.parse::<usize>() {
                Ok(number) => number.checked_sub(1).and_then(|at| Preset::find(names.get(at)?)),
                Err(_) => Preset::find(text),
            },
        };
        if chosen.is_some() {
            return chosen;
        }
        say!("{:?} is none of 1 to {}, and no name of them", text.trim(), names.len());
    }
}
