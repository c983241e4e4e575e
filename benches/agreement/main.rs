//! How far a network in lower precision agrees with itself in float32 on ONNX Runtime's CPU provider, and how much
//! faster it is:
//!
//! ```text
//! cargo bench --bench agreement -- NETWORK...                                 in 8 bits on `native`
//! cargo bench --bench agreement -- --games FILE.pgn NETWORK...                the same on the positions of games
//! cargo bench --bench agreement -- --backend openvino --backend-options precision=bf16 --onnxruntime LIBRARY NETWORK...
//! ```
//!
//! Both run on one thread, in turns, on positions of games that the network plays with itself, or of given games. Times are those that the process spends on a core, so that other programs disturb little.
#![allow(clippy::print_stdout, reason = "this is a program")]

mod self_play;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use cpu_time::ProcessTime;
use self_play::self_play;
use zeitnot_engine::backend::{
    self, Backend, BackendError, BackendSettings, DeviceOptions, Evaluation, Evaluator, Query, softmax,
};
use zeitnot_engine::network::Network;
use zeitnot_engine::runtime;
use zeitnot_games::read_games;

/// Positions of one run.
const BATCH: usize = 16;
/// The seed of the games with itself.
const SEED: u64 = 20_261_120;

#[derive(Parser)]
struct Arguments {
    /// The networks.
    #[arg(required = true)]
    networks: Vec<PathBuf>,
    /// Backend of lower precision.
    #[arg(long, default_value = "native")]
    backend: String,
    /// Options of that backend.
    #[arg(long, default_value = "precision=int8")]
    backend_options: DeviceOptions,
    /// The library of ONNX Runtime for both sides.
    #[arg(long)]
    onnxruntime: Option<PathBuf>,
    /// Games in PGN, whose positions are compared, evenly spread over all, instead of games with itself.
    #[arg(long)]
    games: Option<PathBuf>,
    /// Positions that are compared.
    #[arg(long, default_value_t = 3008)]
    positions: usize,
    /// Passed by cargo.
    #[arg(long, hide = true)]
    bench: bool,
}

/// Result of a comparison, as sums over its positions.
#[derive(Default)]
struct Comparison {
    positions: usize,
    agreed: usize,
    divergence: f64,
    value: f64,
    moves_left: f64,
    float32: Vec<Duration>,
    other: Vec<Duration>,
}

impl Comparison {
    fn add(&mut self, wanted: &Evaluation, found: &Evaluation) {
        self.positions += 1;
        self.agreed += usize::from(first_choice(wanted) == first_choice(found));
        let priors = |evaluation: &Evaluation| softmax(&evaluation.logits, 1.0).into_iter().map(f64::from);
        let pairs = priors(wanted).zip(priors(found));
        self.divergence += pairs.map(|(p, q)| if p > 0.0 { p * (p / q).ln() } else { 0.0 }).sum::<f64>();
        self.value += f64::from((wanted.q - found.q).abs());
        self.moves_left += wanted.m.zip(found.m).map_or(0.0, |(wanted, found)| f64::from((wanted - found).abs()));
    }

    fn print(self, name: &str) {
        let count = self.positions as f64;
        println!(
            "{name}: first choice {:.1} %, KL {:.4}, value {:.4}, moves left {:.2} plies; {:.2} times the speed at batch {BATCH} ({} positions)",
            100.0 * self.agreed as f64 / count,
            self.divergence / count,
            self.value / count,
            self.moves_left / count,
            median(self.float32) / median(self.other),
            self.positions,
        );
    }
}

fn first_choice(evaluation: &Evaluation) -> Option<usize> {
    (0..evaluation.logits.len()).max_by(|&a, &b| evaluation.logits[a].total_cmp(&evaluation.logits[b]))
}

fn timed(evaluator: &mut dyn Evaluator, batch: &[Query]) -> Result<(Vec<Evaluation>, Duration), BackendError> {
    let start = ProcessTime::now();
    let answers = evaluator.evaluate(batch)?;
    Ok((answers, start.elapsed()))
}

/// Median in seconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// Positions of games, evenly spread over all of them.
fn of_games(path: &Path, backend: &dyn Backend, count: usize) -> anyhow::Result<Vec<Query>> {
    let games = read_games(File::open(path)?)?;
    let plies: Vec<(usize, usize)> = (0..games.len())
        .flat_map(|number| (0..games[number].game.moves().len()).map(move |ply| (number, ply)))
        .collect();
    let step = (plies.len() / count.max(1)).max(1);
    let query = |&(number, ply): &(usize, usize)| {
        let mut game = games[number].game.clone();
        game.truncate(ply);
        Query::new(&game, &game.current().legal_moves(), backend.attributes())
    };
    Ok(plies.iter().step_by(step).take(count).map(query).collect())
}

fn compare(arguments: &Arguments, path: &Path) -> anyhow::Result<()> {
    let network = Network::load_with(path, &arguments.backend_options.interface)?;
    let options =
        BackendSettings { cache_size: 0, runtime: arguments.onnxruntime.clone(), ..BackendSettings::default() };
    let float32 = backend::create("onnxruntime", Some(&network), &options)?;
    let narrow = BackendSettings { device: arguments.backend_options.clone(), ..options };
    let other = backend::create(&arguments.backend, Some(&network), &narrow)?;
    let positions = match &arguments.games {
        Some(path) => of_games(path, &*float32, arguments.positions)?,
        None => self_play(&*float32, arguments.positions, SEED)?,
    };
    let (mut float32, mut other) = (float32.evaluator()?, other.evaluator()?);
    let mut comparison = Comparison::default();
    for batch in positions.chunks_exact(BATCH) {
        let (wanted, time) = timed(&mut *float32, batch)?;
        comparison.float32.push(time);
        let (found, time) = timed(&mut *other, batch)?;
        comparison.other.push(time);
        wanted.iter().zip(&found).for_each(|(wanted, found)| comparison.add(wanted, found));
    }
    comparison.print(network.name());
    Ok(())
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if arguments.onnxruntime.is_none() {
        runtime::ensure_installed(&|line| eprintln!("{line}"))?;
    }
    for path in &arguments.networks {
        compare(&arguments, path)?;
    }
    Ok(())
}
