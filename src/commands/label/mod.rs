//! `zeitnot label`: labelled games to train a network with.

mod recipe;
mod shards;

use self::recipe::Recipe;
use self::shards::Plan;
use super::engine_options::{self, MAY_INSTALL};
use crate::commands::output::note;
use anyhow::{Context as _, ensure};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use zeitnot::backend::Backend;
use zeitnot::engine::{Engine, NetworkEvaluator};
use zeitnot::lab::Openings;
use zeitnot::labels::{Generator, Sampling};

/// Games at once beyond which a worker only takes memory: backends take no larger batches by far.
const MOST_AT_ONCE: u64 = 4096;

pub fn command() -> Command {
    let share = |name: &'static str, default: f32, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("SHARE")
            .default_value(default.to_string())
            .value_parser(|text: &str| share(text))
            .help(help)
    };
    let count = |name: &'static str, default: &'static str, most: u64, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("N")
            .default_value(default)
            .value_parser(value_parser!(u64).range(1..=most))
            .help(help)
    };
    let defaults = Sampling::default();
    let command = Command::new("label")
        .about("Make labelled games to train a network with: a player draws the moves, a teacher says what it thinks")
        .after_help(
            "The teacher is the network of --weights. A shard that is whole is left alone, so the same command goes on \
             where it was stopped; another --seed makes other games. models/README.md describes the format \
             and what comes next.",
        )
        .arg(
            Arg::new("out")
                .long("out")
                .value_name("FOLDER")
                .required(true)
                .value_parser(value_parser!(PathBuf))
                .help("Where the shards go, as NAME-SEED-NNNN.bin.gz"),
        )
        .arg(Arg::new("name").long("name").default_value("games").help("What the shards' names begin with"))
        .arg(
            Arg::new("player")
                .long("player")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .help("The network whose policy plays [default: the teacher]"),
        )
        .arg(
            Arg::new("openings")
                .long("openings")
                .value_name("FILE")
                .action(ArgAction::Append)
                .value_parser(value_parser!(PathBuf))
                .help(
                    "EPD, FEN or PGN file of start positions (the last one of a game); may be given again, all files count \
                     the same [default: the start position]",
                ),
        )
        .arg(count("shards", "20", u64::MAX, "Shards to make"))
        .arg(count("shard-labels", "50000", u64::MAX, "Labels in a shard, at least"))
        .arg(count("at-once", "32", MOST_AT_ONCE, "Games that a worker plays at once"))
        .arg(count("seed", "1", u64::MAX, "Of the games; every shard draws its own from it"))
        .arg(
            Arg::new("player-temperature")
                .long("player-temperature")
                .value_name("LOW,HIGH")
                .num_args(1)
                .default_value(format!("{},{}", defaults.temperature.0, defaults.temperature.1))
                .value_parser(|text: &str| temperature(text))
                .help("Each game draws its temperature between these"),
        )
        .arg(share("deviations", defaults.deviations, "Share of the moves that are drawn from all legal ones alike"))
        .arg(
            share("labelled", defaults.labelled, "Share of the positions that get a label, where a player plays")
                .requires("player"),
        )
        .arg(
            share(
                "blunder",
                defaults.blunder,
                "What follows a move that costs as much of the player's W - L always gets one",
            )
            .requires("player"),
        );
    engine_options::add_to(command)
}

fn share(text: &str) -> Result<f32, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "a share from 0 to 1 is needed".to_owned())
}

fn temperature(text: &str) -> Result<(f32, f32), String> {
    let bound = |text: &str| text.parse().ok().filter(|bound| (0.01..=100.0).contains(bound));
    let (low, high) = text.split_once(',').unwrap_or((text, text));
    match (bound(low), bound(high)) {
        (Some(low), Some(high)) if low <= high => Ok((low, high)),
        _ => Err("two numbers from 0.01 to 100 are needed, the lower one first".to_owned()),
    }
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let number = |name| *matches.get_one::<u64>(name).expect("clap gives the default");
    let share = |name| *matches.get_one::<f32>(name).expect("clap gives the default");
    let out = matches.get_one::<PathBuf>("out").context("--out is required")?;
    let name = matches.get_one::<String>("name").context("--name has a default")?;
    ensure!(!name.contains(['/', '\\']), "--name: a file's name is needed, not a path: {name}");
    let books: Vec<PathBuf> = matches.get_many("openings").unwrap_or_default().cloned().collect();
    let sampling = Sampling {
        temperature: *matches.get_one("player-temperature").context("--player-temperature has a default")?,
        deviations: share("deviations"),
        labelled: share("labelled"),
        blunder: share("blunder"),
        ..Sampling::default()
    };
    let engine = engine_options::engine(matches, MAY_INSTALL)?;
    let (threads, options) = (engine.options().threads, recipe::changed(engine.options()));
    let (teacher, teacher_is) = backend(engine)?;
    let (player, player_is) = match matches.get_one::<PathBuf>("player") {
        Some(path) => {
            let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
            engine.set_option("WeightsFile", &path.to_string_lossy()).context("--player")?;
            let (player, player_is) = backend(engine)?;
            (Some(player), Some(player_is))
        }
        None => (None, None),
    };
    let openings = Openings::read(&books, None)?;
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let prefix = format!("{name}-{}", number("seed"));
    let (labels, games) = (number("shard-labels"), number("at-once"));
    let recipe = Recipe {
        teacher: teacher_is,
        player: player_is,
        options,
        openings: recipe::books(&books)?,
        sampling: sampling.clone(),
        shard_labels: labels,
        at_once: games,
    };
    recipe.keep(out, &prefix)?;
    let threads = match threads {
        0 => teacher.attributes().preferred_threads,
        threads => threads as usize,
    };

    let shards = number("shards");
    let plan = Plan {
        folder: out,
        prefix,
        seed: number("seed"),
        shards,
        labels,
        games: games as usize,
        next: AtomicU64::new(0),
        failed: AtomicBool::new(false),
        bar: shards::bar(shards)?,
    };
    let work = || {
        plan.make_shards(|seed| {
            let player = player.clone().map(NetworkEvaluator::new).transpose()?;
            Ok(Generator::new(&openings, sampling.clone(), NetworkEvaluator::new(Arc::clone(&teacher))?, player, seed)?)
        })
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker returns its errors"))
    })
}

/// The backend of an engine, which is named on standard error, and what evaluates in it.
fn backend(mut engine: Engine) -> anyhow::Result<(Arc<dyn Backend>, recipe::Evaluator)> {
    // Every position gets an evaluation of its own: the key of a cache leaves the history out.
    engine.set_option("NNCacheSize", "0")?;
    if let Some(news) = engine.prepare()? {
        note!("{news}");
    }
    let backend = engine.backend().context("a prepared engine has a backend")?;
    let evaluator = recipe::Evaluator::of(&backend.attributes().name, engine.network_location())?;
    Ok((backend, evaluator))
}
