//! Declares and reads the flags that `match` and `time compare` share: openings, clock, adjudication, seed.

use super::Contestant;
use crate::commands::output::note;
use crate::commands::{cores, fen_option, game_from, text_with_paths};
use anyhow::Context as _;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::Value;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use zeitnot_engine::backend::CostModel;
use zeitnot_engine::chess::Game;
use zeitnot_engine::clock::VirtualClock;
use zeitnot_engine::digest::sha256;
use zeitnot_engine::digest::sha256_of_file;
use zeitnot_engine::engine::Options;
use zeitnot_engine::tablebase::Tablebase;
use zeitnot_lab::measure::MeasuredCosts;
use zeitnot_lab::{Adjudication, DrawRule, LagModel, Limits, OpeningOrder, Openings, ResignRule, Rules, Termination};
use zeitnot_text::files::read_text;

/// Evaluations a second on a virtual clock unless told: a game of 10+0.1 with the built-in network then takes two to three
/// seconds of a core (60 games of smooth with itself on Zen 5: 2.2).
const VIRTUAL_NPS: f64 = 1_000.0;

/// The clock of a match.
#[derive(Clone)]
pub enum MatchClock {
    /// The machine's.
    Real,
    /// A virtual one, on which a batch and a playout cost what is told.
    Virtual {
        /// The cost of batches.
        cost: CostModel,
        /// Milliseconds of a playout beside the network's time.
        playout_ms: f64,
    },
}

fn arg(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value).help(help)
}

/// Adds the flags.
pub fn add_to(command: Command) -> Command {
    let file = |name, help| arg(name, "FILE", help).value_parser(value_parser!(PathBuf));
    command
        .arg(
            file("openings", "Start positions: EPD, FEN or PGN; may be given again")
                .action(ArgAction::Append)
                .conflicts_with("fen"),
        )
        .arg(
            Arg::new("plies")
                .long("plies")
                .value_name("N")
                .value_parser(value_parser!(u64).range(0..=1000))
                .requires("openings")
                .help("Plies of a PGN's games that are played as the opening [default: all]"),
        )
        .arg(
            Arg::new("order")
                .long("order")
                .value_name("ORDER")
                .value_parser(["random", "sequential"])
                .default_value("random")
                .help("The order of openings, random by --seed"),
        )
        .arg(fen_option().help("Where every game begins: a FEN, or startpos [default: startpos]"))
        .arg(
            arg("clock", "CLOCK", "real, or virtual: games are computations that repeat themselves")
                .value_parser(["real", "virtual"])
                .default_value("real"),
        )
        .arg(
            arg("nps", "N", "Virtual clock: evaluations a second [default: 1000]")
                .value_delimiter(',')
                .value_parser(value_parser!(f64)),
        )
        .arg(
            file("batch-ms", "Virtual clock: batches take as long as this output of backendbench --json says")
                .conflicts_with("nps"),
        )
        .arg(
            file("like", "Virtual clock: batches and playouts take as long as this output of benchmark --json says")
                .conflicts_with_all(["nps", "batch-ms"]),
        )
        .arg(
            arg("jitter", "SHARE", "Virtual clock: how much the time of a batch varies, from 0 to 1 [default: 0]")
                .value_parser(value_parser!(f64)),
        )
        .arg(
            arg("lag", "MS[,WORST]", "Virtual clock: the lag of the GUI, its average and its worst [default: none]")
                .value_parser(|text: &str| text.parse::<LagModel>()),
        )
        .arg(
            arg(
                "draw",
                "FROM,MOVES,CP",
                "Adjudicate draws: from this move on, this many moves of both within so many centipawns",
            )
            .value_parser(|text: &str| text.parse::<DrawRule>()),
        )
        .arg(
            arg(
                "resign",
                "MOVES,CP",
                "Adjudicate losses: this many moves at which both players see it by so many centipawns",
            )
            .value_parser(|text: &str| text.parse::<ResignRule>()),
        )
        .arg(arg("tb", "FOLDERS", "Adjudicate by the Syzygy tables of these folders").value_parser(text_with_paths()))
        .arg(
            arg("max-moves", "N", "Adjudicate a draw after so many moves of each side")
                .value_parser(value_parser!(u32).range(1..)),
        )
        .arg(
            arg("seed", "N", "Decides whatever is random: the order of openings, lags, the players' seeds")
                .value_parser(value_parser!(u64))
                .default_value("1"),
        )
        .arg(
            arg("concurrency", "N", "Games at once [default: 1, on a virtual clock the machine's cores]")
                .value_parser(value_parser!(u64).range(1..=256)),
        )
}

impl MatchClock {
    /// The clock as a setting of a match.
    pub fn settings(&self) -> Value {
        match self {
            MatchClock::Real => "real".into(),
            MatchClock::Virtual { cost, playout_ms } => format!("{cost:?}, {playout_ms} ms a playout").into(),
        }
    }
}

/// The clock; `at`: the place of the time control among several, each of which may have its own `--nps`.
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
    let seed = *matches.get_one::<u64>("seed").context("--seed has a default")?;
    Ok(MatchClock::Virtual { cost: cost.with_jitter(jitter, seed).context("--jitter")?, playout_ms })
}

/// The rules of games with these limits.
pub fn rules(matches: &ArgMatches, limits: [Limits; 2]) -> anyhow::Result<Rules> {
    Ok(Rules {
        limits,
        adjudication: adjudication(matches)?,
        lag: matches.get_one::<LagModel>("lag").copied(),
        seed: *matches.get_one::<u64>("seed").context("--seed has a default")?,
    })
}

/// How games are adjudicated.
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

/// Games at once.
pub fn concurrency(matches: &ArgMatches, clock: &MatchClock) -> usize {
    let usual = match clock {
        MatchClock::Real => 1,
        MatchClock::Virtual { .. } => cores(),
    };
    matches.get_one::<u64>("concurrency").map_or(usual, |games| *games as usize)
}

/// Start positions.
pub enum Starts {
    /// The same for all games.
    One(Box<Game>),
    /// One for each pair of games.
    Many(Openings),
}

impl Starts {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Starts::One(_) => 1,
            Starts::Many(openings) => openings.len(),
        }
    }

    /// The start of a pair of games, numbered from 0.
    pub fn get(&self, pair: u64) -> Game {
        match self {
            Starts::One(game) => (**game).clone(),
            Starts::Many(openings) => openings.get(pair as usize),
        }
    }
}

/// The SHA-256 of this program, so that games of two builds are told apart; nothing where it cannot be read.
pub fn program_sha256() -> Option<String> {
    std::env::current_exe().and_then(File::open).and_then(sha256).ok()
}

/// Checks that games of two players on a virtual clock do not repeat each other: two games between the same players from one position are the
/// same game there, unless something is random. `has_time`: a clock ends searches, not nodes and depth alone.
pub fn check_repetition(
    matches: &ArgMatches,
    clock: &MatchClock,
    has_time: bool,
    games: u64,
    starts: &Starts,
    players: [&Contestant; 2],
) -> anyhow::Result<()> {
    let (pairs, openings) = (games.div_ceil(2), starts.len() as u64);
    let is_random = |options: &Options| options.temperature > 0.0 || options.noise_epsilon > 0.0;
    // The jitter of a batch is the same in every game: it does not make them differ.
    let varied = has_time && matches.get_one::<LagModel>("lag").is_some_and(LagModel::varies);
    let varied = varied || players.iter().filter_map(|player| player.options()).any(is_random);
    let s = if openings == 1 { "" } else { "s" };
    let would = format!("{games} games from {openings} opening{s} would repeat each other");
    if pairs <= openings || varied {
        return Ok(());
    }
    let is_virtual = matches!(clock, MatchClock::Virtual { .. });
    anyhow::ensure!(
        !is_virtual,
        "{would} on a virtual clock: --openings names files with more, a --lag with a worst varies the times"
    );
    // On the machine's clock, or with several threads, a search differs from itself.
    let is_single = |player: &Contestant| player.options().is_some_and(|options| options.threads == 1);
    if !has_time && players.into_iter().all(is_single) {
        note!("{would}, with a fixed number of nodes and one thread: --openings names files with more");
    }
    Ok(())
}

/// The start positions that the flags name.
pub fn starts(matches: &ArgMatches, chess960: bool) -> anyhow::Result<Starts> {
    let files: Vec<PathBuf> = matches.get_many("openings").unwrap_or_default().cloned().collect();
    if files.is_empty() {
        let start = game_from(matches.get_one::<String>("fen").map(String::as_str), chess960)?;
        // An engine searches it all the same, but no game begins with the king's capture, and PGN has no word for it.
        anyhow::ensure!(!start.current().is_illegal(), "--fen {}: the side to move could take the king", start.fen());
        if let Some(outcome) = start.outcome() {
            anyhow::bail!("--fen {}: the game is over ({})", start.fen(), Termination::from(outcome));
        }
        return Ok(Starts::One(Box::new(start)));
    }
    let plies = matches.get_one::<u64>("plies").map(|plies| *plies as usize);
    let seed = *matches.get_one::<u64>("seed").context("--seed has a default")?;
    let order = match matches.get_one::<String>("order").map(String::as_str) {
        Some("sequential") => OpeningOrder::Sequential,
        _ => OpeningOrder::Shuffled { seed },
    };
    Ok(Starts::Many(Openings::read(&files, plies)?.in_order(order)))
}

/// The flags that decide the games of a match, as they were given but for `except`, and the SHA-256 of the files they name.
pub fn settings(matches: &ArgMatches, except: &[&str]) -> anyhow::Result<Value> {
    const TEXTS: [&str; 15] = [
        "tc", "preset", "nodes", "depth", "openings", "plies", "order", "sprt", "fen", "clock", "nps", "batch-ms",
        "like", "jitter", "lag",
    ];
    const RULES: [&str; 5] = ["draw", "resign", "tb", "max-moves", "seed"];
    const FILES: [&str; 3] = ["openings", "batch-ms", "like"];
    let mut settings = serde_json::Map::new();
    for name in TEXTS.iter().chain(&RULES).filter(|name| !except.contains(name)) {
        if let Ok(Some(values)) = matches.try_get_raw(name) {
            let values: Vec<String> = values.map(|value| value.to_string_lossy().into_owned()).collect();
            settings.insert((*name).to_owned(), values.join(" ").into());
        }
    }
    for name in FILES {
        for path in matches.get_many::<PathBuf>(name).unwrap_or_default() {
            settings.insert(format!("sha256 of {}", path.display()), sha256_of_file(path)?.into());
        }
    }
    Ok(Value::Object(settings))
}
