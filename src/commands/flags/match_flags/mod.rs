//! Declares and reads the flags of matches: those that `match` and `time compare` share, openings, clock, adjudication and
//! seed, and in `of_match` those of `match` alone.

mod of_match;

pub use of_match::{command, limits};

use super::{fen_option, flag, game_from, text_with_paths};
use crate::commands::output::notes;
use crate::commands::{cores, engine_options};
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Map, Value};
use std::path::PathBuf;
use std::sync::Arc;
use zeitnot_base::files::read_text;
use zeitnot_engine::backend::CostModel;
use zeitnot_engine::clock::VirtualClock;
use zeitnot_engine::tablebase::Tablebase;
use zeitnot_games::setup::{self, Contestant, MatchClock};
use zeitnot_games::{
    Adjudication, DrawRule, LagModel, Limits, MatchPlan, OpeningOrder, Openings, ResignRule, Rules, Starts,
};
use zeitnot_lab::measure::MeasuredCosts;

/// Evaluations a second on a virtual clock without `--nps`: a game of 10+0.1 with the built-in network then takes two
/// to three seconds of a core (60 games of smooth with itself on Zen 5: 2.2).
const VIRTUAL_NPS: f64 = 1_000.0;

/// A flag, and whether an interrupted match may be resumed with another value of it.
pub struct Declared(Resumed, Arg);

/// The rule whether a match may be resumed with another value of a flag.
#[derive(Clone, Copy, PartialEq)]
enum Resumed {
    /// Another value is allowed here; where it would change a player, the player's identity is compared anyway.
    Free,
    /// The value has to be the same.
    Same,
    /// The value has to be the same, and the files that it names must have the same content.
    SameFiles,
}

fn arg(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    flag(name, value).help(help)
}

/// A flag that must keep its value when a match is resumed.
fn same(arg: Arg) -> Declared {
    Declared(Resumed::Same, arg)
}

/// A flag that may have another value when a match is resumed.
fn free(arg: Arg) -> Declared {
    Declared(Resumed::Free, arg)
}

/// The flags that `match` and `time compare` share: those of the short help, and the rarer ones.
fn declared() -> [Vec<Declared>; 2] {
    let file = |name, help| Declared(Resumed::SameFiles, arg(name, "FILE", help).value_parser(value_parser!(PathBuf)));
    let with = |Declared(resumed, arg): Declared, more: fn(Arg) -> Arg| Declared(resumed, more(arg));
    let common = vec![
        with(file("openings", "Start positions: EPD, FEN or PGN; may be given again [default: builtin]"), |arg| {
            arg.long_help(
                "Start positions: EPD, FEN, PGN or the output of genfens; may be given again [default: builtin, a book inside the \
                 program]",
            )
            .action(ArgAction::Append)
            .conflicts_with("fen")
        }),
        same(arg("clock", "CLOCK", "Clock of the games")
            .long_help("Clock of the games: the machine's (real), or a virtual one, on which games are computations that repeat themselves")
            .value_parser(["real", "virtual"])
            .default_value("real")),
        same(arg("nps", "N", "Speed on the virtual clock, in evaluations a second [default: 1000]")
            .value_delimiter(',')
            .value_parser(value_parser!(f64))),
        same(arg("draw", "FROM,MOVES,CP", "Adjudication of draws: from a move on, moves in a row, limit in centipawns")
            .long_help("Adjudication of draws: from the move FROM on, after MOVES moves of both players within CP centipawns")
            .value_parser(|text: &str| text.parse::<DrawRule>())),
        same(arg("resign", "MOVES,CP", "Adjudication of losses: moves in a row, limit in centipawns")
            .long_help("Adjudication of losses: after MOVES moves at which both players see it by CP centipawns")
            .value_parser(|text: &str| text.parse::<ResignRule>())),
        same(arg("seed", "N", "Seed of all that is random")
            .long_help("Seed of all that is random: the order of openings, lags, the players' seeds")
            .value_parser(value_parser!(u64))
            .default_value("1")),
        free(arg("concurrency", "N", "Games at once [default: 1, on a virtual clock the machine's cores]")
            .value_parser(value_parser!(u64).range(1..=256))),
    ];
    let rare = vec![
        same(
            arg("plies", "N", "Plies of a PGN's games that are the opening [default: all]")
                .value_parser(value_parser!(u64).range(0..=1000))
                .conflicts_with("fen"),
        ),
        same(
            arg("order", "ORDER", "Order of the openings; the random one depends on --seed")
                .value_parser(["random", "sequential"])
                .default_value("random"),
        ),
        same(fen_option().help("Start position of every game, instead of openings: a FEN, or startpos")),
        with(file("batch-ms", "Time of batches on the virtual clock, from an output of backendbench --json"), |arg| {
            arg.conflicts_with("nps")
        }),
        with(
            file("like", "Time of batches and playouts on the virtual clock, from an output of benchmark --json"),
            |arg| arg.conflicts_with_all(["nps", "batch-ms"]),
        ),
        same(
            arg("jitter", "SHARE", "Variation of the time of a batch on the virtual clock, from 0 to 1 [default: 0]")
                .value_parser(value_parser!(f64)),
        ),
        same(
            arg("lag", "MS[,WORST]", "Lag of the GUI on the virtual clock, its average and its worst [default: 0]")
                .value_parser(|text: &str| text.parse::<LagModel>()),
        ),
        same(
            arg("tb", "FOLDERS", "Adjudication by the Syzygy tables of these folders").value_parser(text_with_paths()),
        ),
        same(
            arg("max-moves", "N", "Moves of each side after which a game is adjudicated a draw [default: no limit]")
                .value_parser(value_parser!(u32).range(1..)),
        ),
    ];
    [common, rare]
}

/// Adds the flags; the rarer ones are in the long help alone.
pub fn add_to(command: Command) -> Command {
    add_declared(command, declared())
}

fn add_declared(command: Command, [common, rare]: [Vec<Declared>; 2]) -> Command {
    let common = common.into_iter().map(|Declared(_, arg)| arg);
    command.args(common).args(rare.into_iter().map(|Declared(_, arg)| arg.hide_short_help(true)))
}

/// The clock for the time control with index `at`; each time control may have its own `--nps`.
pub fn clock(matches: &ArgMatches, at: usize) -> anyhow::Result<MatchClock> {
    let virtual_flags = ["nps", "batch-ms", "like", "jitter", "lag"];
    if matches.get_one::<String>("clock").is_some_and(|clock| clock == "real") {
        if let Some(flag) = virtual_flags.iter().find(|flag| matches.contains_id(flag)) {
            anyhow::bail!("--{flag} is for games on a virtual clock (--clock virtual)");
        }
        return Ok(MatchClock::Real);
    }
    let path = |name: &str| matches.get_one::<PathBuf>(name);
    let read = |path: &PathBuf| read_text(path).with_context(|| format!("cannot read {}", path.display()));
    let (cost, playout_ms) = if let Some(path) = path("batch-ms") {
        let cost = CostModel::from_backendbench(&read(path)?).with_context(|| path.display().to_string())?;
        (cost, VirtualClock::PLAYOUT_MS)
    } else if let Some(path) = path("like") {
        let costs = MeasuredCosts::from_benchmark(&read(path)?).with_context(|| path.display().to_string())?;
        (costs.cost, costs.playout_ms)
    } else {
        let mut speeds = matches.get_many::<f64>("nps").unwrap_or_default();
        let only = (speeds.len() == 1).then(|| speeds.clone().next()).flatten();
        let speed = only.or_else(|| speeds.nth(at)).copied().unwrap_or(VIRTUAL_NPS);
        (CostModel::constant(speed).context("--nps")?, VirtualClock::PLAYOUT_MS)
    };
    let jitter = matches.get_one::<f64>("jitter").copied().unwrap_or_default();
    Ok(MatchClock::Virtual { cost: cost.with_jitter(jitter, seed(matches)?).context("--jitter")?, playout_ms })
}

/// The seed of all that is random.
fn seed(matches: &ArgMatches) -> anyhow::Result<u64> {
    matches.get_one::<u64>("seed").copied().context("--seed has a default")
}

/// The plan of a match by the flags, with this number of games and these limits of the two players.
pub fn plan(
    matches: &ArgMatches,
    clock: &MatchClock,
    limits: [Limits; 2],
    games: u64,
    chess960: bool,
) -> anyhow::Result<MatchPlan> {
    let lag = matches.get_one::<LagModel>("lag").copied();
    Ok(MatchPlan {
        rules: Rules { limits, adjudication: adjudication(matches)?, lag, seed: seed(matches)?, ..Rules::default() },
        games,
        starts: starts(matches, chess960)?,
        chess960,
        concurrency: concurrency(matches, clock),
        sprt: None,
        tells_moves: false,
    })
}

/// This engine as a player with the options of the command line and `settings` of its own, which its name shows; errors
/// name `flag` as the source of the settings.
pub fn own_player<'a>(
    matches: &ArgMatches,
    flag: &str,
    settings: impl Iterator<Item = &'a str>,
    name: &str,
) -> anyhow::Result<Contestant> {
    // Only to read the options: it loads nothing.
    let mut engine = engine_options::engine(matches, engine_options::MAY_INSTALL)?;
    let mut texts = Vec::new();
    for (option, value) in pairs(flag, settings)? {
        engine.set_flag(&option, &value).with_context(|| format!("{flag} {option}={value}"))?;
        texts.push(format!("{option}={value}"));
    }
    let name = if texts.is_empty() { name.to_owned() } else { format!("{name} ({})", texts.join(", ")) };
    Ok(Contestant::own(engine.options().clone(), name))
}

/// The options of `NAME=VALUE` texts; errors name `flag` as their source.
pub fn pairs<'a>(flag: &str, settings: impl Iterator<Item = &'a str>) -> anyhow::Result<Vec<(String, String)>> {
    let pair = |setting| {
        let (name, value) = engine_options::name_value(setting).with_context(|| flag.to_owned())?;
        Ok((name.to_owned(), value.to_owned()))
    };
    settings.map(pair).collect()
}

/// The pairs of players that meet, by their places: all meet all, or in a gauntlet the first meets the others.
pub fn pairings(players: usize, is_gauntlet: bool) -> Vec<[usize; 2]> {
    let firsts = if is_gauntlet { 0..1 } else { 0..players };
    firsts.flat_map(|first| (first + 1..players).map(move |second| [first, second])).collect()
}

/// Loads the networks of all players for games on this clock.
pub fn load(contestants: &mut [Contestant], concurrency: usize, clock: &MatchClock) -> anyhow::Result<()> {
    // Each game has two engines.
    Ok(setup::load(contestants, 2 * concurrency, clock, engine_options::MAY_INSTALL, &notes())?)
}

/// The adjudication of games that the flags ask for.
fn adjudication(matches: &ArgMatches) -> anyhow::Result<Adjudication> {
    let tables = match matches.get_one::<String>("tb") {
        None => None,
        Some(folders) => {
            let (tables, errors) = Tablebase::open(folders);
            if let Some(error) = errors.first() {
                anyhow::bail!("--tb {folders}: {error}");
            }
            anyhow::ensure!(tables.files() > 0, "--tb {folders}: no table there");
            Some(Arc::new(tables))
        }
    };
    Ok(Adjudication {
        draw: matches.get_one("draw").copied(),
        resign: matches.get_one("resign").copied(),
        tables,
        move_limit: matches.get_one("max-moves").copied(),
    })
}

/// The number of games at once; without `--concurrency` one on the real clock, one for each core on a virtual one.
pub fn concurrency(matches: &ArgMatches, clock: &MatchClock) -> usize {
    let usual = match clock {
        MatchClock::Real => 1,
        MatchClock::Virtual { .. } => cores(),
    };
    matches.get_one::<u64>("concurrency").map_or(usual, |games| *games as usize)
}

/// The start positions that the flags name.
fn starts(matches: &ArgMatches, chess960: bool) -> anyhow::Result<Starts> {
    let files: Vec<PathBuf> = matches.get_many("openings").unwrap_or_default().cloned().collect();
    if let Some(text) = matches.get_one::<String>("fen") {
        let start = game_from(Some(text), chess960)?;
        let fen = start.fen();
        return Starts::one(start).with_context(|| format!("--fen {fen}"));
    }
    let plies = matches.get_one::<u64>("plies").map(|plies| *plies as usize);
    let openings = if files.is_empty() { Openings::built_in(plies) } else { Openings::read(&files, plies)? };
    let order = match matches.get_one::<String>("order").map(String::as_str) {
        Some("sequential") => OpeningOrder::Sequential,
        _ => OpeningOrder::Shuffled { seed: seed(matches)? },
    };
    Ok(Starts::Many(openings.in_order(order)))
}

/// The flags that decide the games of a match, as given and without those in `except`, and the SHA-256 of the files
/// that the flags name.
pub fn settings(matches: &ArgMatches, except: &[&str]) -> anyhow::Result<Value> {
    let (mut settings, mut files) = (Map::new(), Vec::new());
    for Declared(resumed, arg) in declared().into_iter().chain(of_match::declared()).flatten() {
        let name = arg.get_id().as_str();
        let Ok(Some(values)) = matches.try_get_raw(name) else { continue };
        if resumed == Resumed::Free || except.contains(&name) {
            continue;
        }
        let values: Vec<String> = values.map(|value| value.to_string_lossy().into_owned()).collect();
        settings.insert(name.to_owned(), values.join(" ").into());
        if resumed == Resumed::SameFiles {
            files.extend(matches.get_many::<PathBuf>(name).unwrap_or_default());
        }
    }
    // Named, for work may have begun when games without openings began at the start position.
    if !matches.contains_id("fen") {
        settings.entry("openings").or_insert("builtin".into());
    }
    let mut settings = Value::Object(settings);
    setup::add_digests(&mut settings, files.into_iter().filter(|path| !Openings::is_built_in(path)))?;
    Ok(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_meet_all_or_the_first_meets_the_others() {
        assert_eq!(pairings(3, false), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(pairings(3, true), [[0, 1], [0, 2]]);
    }
}
