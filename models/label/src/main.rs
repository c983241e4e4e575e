//! Makes labelled games, from which the networks of the project learn (`models/README.md`).
//!
//! A *player*, any policy network, plays games against itself by drawing its moves from its policy; the *teacher*, a
//! strong network, evaluates the positions. A player that imitates people (Maia) makes people's mistakes, whose
//! refutations a small network has to learn; a strong one shows how a game goes on without mistakes.
//!
//! | file | content |
//! |---|---|
//! | `game_file` | games and labels as bytes: about 20 bytes for a ply of which half have a label |
//! | `sampling` | the recipe of a game: how moves are drawn, which positions get labels, and when it ends |
//! | `generator` | many games at once, so that batches are full |
//! | `recipe`, `shards` | the files: how they were made, and each whole or not at all |

mod game_file;
mod generator;
mod recipe;
mod sampling;
mod shards;

use anyhow::{Context as _, ensure};
use clap::Parser;
use generator::Generator;
use recipe::Recipe;
use sampling::Sampling;
use shards::Plan;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use zeitnot_engine::backend::Backend;
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::{Engine, NetworkEvaluator, Options, RuntimePolicy};
use zeitnot_games::Openings;

/// Most games that a worker plays at once; more would only take memory, as backends take far smaller batches.
const MOST_AT_ONCE: u64 = 4096;

/// Makes labelled games to train a network with: a player draws the moves, a teacher labels the positions.
///
/// A shard that is complete is left alone, so the same command goes on where it was stopped; another --seed makes other
/// games. models/README.md describes the format and the steps that follow.
#[derive(Debug, Parser)]
#[command(name = "zeitnot-label", version)]
struct Arguments {
    /// The folder of the shards, which are called NAME-SEED-NNNN.bin.gz
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    /// The beginning of the shards' names
    #[arg(long, default_value = "games")]
    name: String,
    /// The network of the teacher [default: as the engine's option WeightsFile]
    #[arg(short, long, value_name = "FILE", default_value = "")]
    weights: String,
    /// The network whose policy plays [default: the teacher]
    #[arg(long, value_name = "FILE")]
    player: Option<String>,
    /// An option of the engine for teacher and player, as NAME=VALUE (Backend, BackendOptions, Threads, HistoryFill);
    /// may be given again
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// A file of start positions: EPD, FEN or PGN (the last position of a game); may be given again, all files count
    /// the same [default: the start position]
    #[arg(long, value_name = "FILE")]
    openings: Vec<PathBuf>,
    /// Shards to make
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    shards: u64,
    /// Least labels of a shard
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u64).range(1..))]
    shard_labels: u64,
    /// Games that a worker plays at once
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u64).range(1..=MOST_AT_ONCE))]
    at_once: u64,
    /// Seed of the games; every shard draws its own from it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seed: u64,
    /// Bounds of the temperature that each game draws
    #[arg(long, value_name = "LOW,HIGH", num_args = 1, value_parser = temperature)]
    player_temperature: Option<(f32, f32)>,
    /// Share of the moves that are drawn from all legal ones alike
    #[arg(long, value_name = "SHARE", default_value_t = Sampling::default().deviations, value_parser = share)]
    deviations: f32,
    /// Share of the positions that get a label, where a player plays
    #[arg(long, value_name = "SHARE", requires = "player", value_parser = share)]
    labelled: Option<f32>,
    /// Cost of a move, in the player's W - L, after which the position always gets a label
    #[arg(long, value_name = "SHARE", requires = "player", value_parser = share)]
    blunder: Option<f32>,
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

fn main() -> ExitCode {
    // ONNX Runtime reports its use to its makers unless this is set.
    // SAFETY: nothing else runs yet, so no other thread reads or writes the environment.
    unsafe { std::env::set_var("ORT_DISABLE_TELEMETRY", "1") };
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("zeitnot-label: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> anyhow::Result<()> {
    let Arguments { out, name, seed, shards, .. } = &arguments;
    ensure!(!name.contains(['/', '\\']), "--name: a file's name is needed, not a path: {name}");
    let defaults = Sampling::default();
    let sampling = Sampling {
        temperature: arguments.player_temperature.unwrap_or(defaults.temperature),
        deviations: arguments.deviations,
        labelled: arguments.labelled.unwrap_or(defaults.labelled),
        blunder: arguments.blunder.unwrap_or(defaults.blunder),
        ..defaults
    };
    let teacher_engine = engine(&arguments.options, &arguments.weights)?;
    let (threads, options) = (teacher_engine.options().threads, recipe::changed(teacher_engine.options()));
    let (teacher, teacher_is) = backend(teacher_engine)?;
    let player = arguments.player.as_ref().map(|file| backend(engine(&arguments.options, file).context("--player")?));
    let (player, player_is) = player.transpose()?.unzip();
    let openings = Openings::read(&arguments.openings, None)?;
    fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let prefix = format!("{name}-{seed}");
    let recipe = Recipe {
        teacher: teacher_is,
        player: player_is,
        options,
        openings: recipe::books(&arguments.openings)?,
        sampling: sampling.clone(),
        shard_labels: arguments.shard_labels,
        at_once: arguments.at_once,
    };
    recipe.keep(out, &prefix)?;
    let threads = match threads {
        0 => teacher.attributes().preferred_threads,
        threads => threads as usize,
    };
    let plan = Plan {
        folder: out,
        prefix,
        seed: *seed,
        shards: *shards,
        labels: arguments.shard_labels,
        games: arguments.at_once as usize,
        next: AtomicU64::new(0),
        failed: AtomicBool::new(false),
        bar: shards::bar(*shards)?,
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

/// Makes an engine with the options and the network.
fn engine(options: &[String], weights: &str) -> anyhow::Result<Engine> {
    let policy = RuntimePolicy::Install(|line| eprintln!("{line}"));
    let mut engine = Engine::new(Options::default(), Arc::new(MonotonicClock::new()), policy);
    for option in options {
        let (name, value) = option.split_once('=').with_context(|| format!("--option {option}: no NAME=VALUE"))?;
        engine.set_option(name.trim(), value.trim()).with_context(|| format!("--option {option}"))?;
    }
    engine.set_option("WeightsFile", weights)?;
    Ok(engine)
}

/// Prepares an engine and names its backend on standard error; the backend, and its evaluator for the recipe.
fn backend(mut engine: Engine) -> anyhow::Result<(Arc<dyn Backend>, recipe::Evaluator)> {
    // Every position gets an evaluation of its own: the key of a cache leaves the history out.
    engine.set_option("NNCacheSize", "0")?;
    if let Some(news) = engine.prepare()? {
        eprintln!("{news}");
    }
    let backend = engine.backend().context("a prepared engine has a backend")?;
    let evaluator = recipe::Evaluator::of(&backend.attributes().name, engine.network_location())?;
    Ok((backend, evaluator))
}
