//! `zeitnot bench`: prints a node count that changes only when the search does, and the speed on this machine. The last
//! line is the one that OpenBench looks for: `<count> nodes <speed> nps`.

use super::engine_options::{self, MAY_INSTALL};
use super::output::{note, say};
use crate::commands::flags::{flag, json_flag};
use clap::{ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use zeitnot_engine::backend;
use zeitnot_lab::measure::{self, BENCH_POSITIONS, BenchResult};

/// Depth, in plies, that takes a thousand nodes or two where a network prefers some moves.
const DEPTH: u32 = 5;
/// Depth, in plies, that takes as many nodes as [`DEPTH`] where all moves are alike.
const DEPTH_WITHOUT_POLICY: u32 = 4;

/// Options that may be set while the node count remains a signature: that of the engine with the given network.
const OF_THE_NETWORK: [&str; 4] = ["WeightsFile", "Backend", "BackendOptions", "OnnxRuntime"];

pub fn command() -> Command {
    let command = Command::new("bench")
        .about("Search fixed positions to a fixed depth: the node count is the engine's signature, and its speed")
        .after_long_help(
            "The defaults are the network that is built in, one thread, batches of 16 and no smart pruning, so \
             that the count repeats: on this machine with any backend. Sums of a network's numbers differ in their last \
             bits between instruction sets and devices; the count of --backend=uniform is the same on all.",
        )
        .arg(
            flag("depth", "PLIES")
                .value_parser(value_parser!(u32).range(1..=100))
                .help("Mean depth of the visits at which a position is done [default: 5; without a network 4]"),
        )
        .arg(json_flag());
    engine_options::add_to(command)
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let json = matches.get_flag("json");
    let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
    engine_options::prefer_built_in(&mut engine)?;
    for (option, value) in [("Threads", "1"), ("MinibatchSize", "16"), ("SmartPruningFactor", "0")] {
        if !matches.contains_id(option) {
            engine.set_option(option, value)?;
        }
    }
    if let Some(news) = engine.prepare()? {
        note!("{news}");
    }
    let others = engine_options::given(matches).filter(|name| !OF_THE_NETWORK.contains(name));
    let others: Vec<&str> = others.chain(matches.contains_id("depth").then_some("--depth")).collect();
    if !others.is_empty() {
        note!("with {} given the count is not the engine's signature", others.join(", "));
    }
    let depth = match matches.get_one::<u32>("depth") {
        Some(depth) => *depth,
        None if backend::needs_network(&engine.options().backend)? => DEPTH,
        None => DEPTH_WITHOUT_POLICY,
    };
    let mut index = 0;
    let show = |result: &BenchResult| {
        index += 1;
        if !json {
            let BenchResult { fen, best, nodes, elapsed_ms } = result;
            say!("{index:>2}/{} {nodes:>8} nodes {elapsed_ms:>8.0} ms  {best:<6} {fen}", BENCH_POSITIONS.len());
        }
    };
    let results = measure::bench(&mut engine, depth, show)?;
    let total: u64 = results.iter().map(|result| result.nodes).sum();
    let elapsed_ms: f64 = results.iter().map(|result| result.elapsed_ms).sum();
    let nps = (total as f64 * 1e3 / elapsed_ms.max(1.0)) as u64;
    if json {
        let positions: Vec<Value> = results
            .iter()
            .map(|r| json!({ "fen": r.fen, "best": r.best, "nodes": r.nodes, "ms": r.elapsed_ms }))
            .collect();
        say!("{}", json!({ "nodes": total, "nps": nps, "positions": positions }));
    } else {
        say!("{total} nodes {nps} nps");
    }
    Ok(())
}
