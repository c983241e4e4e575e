//! Compares time managers by the regret of their choices at equal mean nodes, with the oracle that knows all in hindsight as the
//! bound, and errors by bootstrap over pairs of games.

use super::replay::{ReplayRules, Replayed, replay};
use super::replayed_search::Speed;
use super::trace::SearchTrace;
use crate::splitmix::SplitMix64;
use crate::time_manager::SpecError;

/// Halvings of the speed that makes the nodes meet.
const HALVINGS: u32 = 30;
/// How far apart mean nodes may be that count as equal.
const EQUAL: f64 = 0.001;
/// How far apart the mean playouts of managers may be that are compared: a search ends with a batch, so that few moves meet them less
/// exactly.
const FARTHEST: f64 = 0.05;
/// Resamplings of the games.
const RESAMPLINGS: usize = 2_000;
/// Their seed.
const SEED: u64 = 27;

/// The choices of one time manager, or of the oracle.
#[derive(Clone, Debug, PartialEq)]
pub struct Regret {
    /// The value that a choice loses, on average.
    pub mean: f64,
    /// Its 95 % interval.
    pub interval: [f64; 2],
    /// Share of the choices that are the whole search's own.
    pub agreement: f64,
}

/// The best stops in hindsight.
#[derive(Clone, Debug, PartialEq)]
pub struct Oracle {
    /// Playouts of a move, on average.
    pub mean_nodes: f64,
    /// The value that a choice loses, for each trace.
    pub regrets: Vec<f64>,
}

/// Replays a manager at the speed at which its moves have `nodes` playouts on average. Returns the speed, too; the clock stays as
/// it is, so that the manager sees the same times.
///
/// # Errors
/// [`SpecError`], when there is no such manager.
pub fn equal_nodes(
    traces: &[SearchTrace],
    spec: &str,
    rules: &ReplayRules,
    nodes: f64,
) -> Result<(f64, Replayed), SpecError> {
    let batch = rules.speed.batch;
    let at = |nps: f64| replay(traces, spec, &ReplayRules { speed: Speed { nps, batch }, ..rules.clone() });
    let mut nps = rules.speed.nps;
    let (mut low, mut high) = (nps / 64.0, nps * 64.0);
    let mut replayed = at(nps)?;
    for _ in 0..HALVINGS {
        let mean = replayed.mean_nodes();
        if (mean / nodes - 1.0).abs() < EQUAL {
            break;
        }
        if mean < nodes {
            low = nps;
        } else {
            high = nps;
        }
        nps = (low * high).sqrt();
        replayed = at(nps)?;
    }
    Ok((nps, replayed))
}

/// Whether a replay has `nodes` playouts a move, nearly: no speed leads to more than were recorded.
pub fn meets_nodes(replayed: &Replayed, nodes: f64) -> bool {
    (replayed.mean_nodes() / nodes - 1.0).abs() < FARTHEST
}

/// Stops each search in hindsight, so that all of them lose the least that can be lost with `nodes` playouts a move: where the
/// regret and the price of the playouts are least together, at the price at which the playouts are as many.
pub fn oracle(traces: &[SearchTrace], nodes: f64) -> Oracle {
    let choices: Vec<Vec<(f64, f64)>> = traces.iter().map(choices).collect();
    let at = |price: f64| -> Oracle {
        let cost = |(nodes, regret): &(f64, f64)| regret + price * nodes;
        let cheapest = |stops: &Vec<(f64, f64)>| {
            stops.iter().copied().min_by(|a, b| cost(a).total_cmp(&cost(b))).unwrap_or_default()
        };
        let chosen: Vec<(f64, f64)> = choices.iter().map(cheapest).collect();
        let mean_nodes = chosen.iter().map(|choice| choice.0).sum::<f64>() / chosen.len().max(1) as f64;
        Oracle { mean_nodes, regrets: chosen.iter().map(|choice| choice.1).collect() }
    };
    // At a price of 1 nothing is searched for, at a price of nearly nothing all that helps.
    let (mut cheap, mut dear) = (1e-12_f64, 1.0_f64);
    let mut best = at(dear);
    for _ in 0..2 * HALVINGS {
        let price = (cheap * dear).sqrt();
        let found = at(price);
        if found.mean_nodes <= nodes {
            dear = price;
            best = found;
        } else {
            cheap = price;
        }
    }
    best
}

/// Playouts and regret of every stop of a trace.
fn choices(trace: &SearchTrace) -> Vec<(f64, f64)> {
    let choice = |best: u32| trace.regret(best as usize);
    trace
        .snapshots
        .iter()
        .filter_map(|snapshot| Some((snapshot.new_nodes as f64, choice(snapshot.best_move?))))
        .collect()
}

impl Regret {
    /// Of the regrets of all moves, in the order of the traces. `agrees`: which choices are the whole search's.
    pub fn new(traces: &[SearchTrace], regrets: &[f64], agrees: &[bool]) -> Regret {
        let count = agrees.iter().filter(|agrees| **agrees).count();
        let (mean, interval) = bootstrap(traces, regrets);
        Regret { mean, interval, agreement: count as f64 / agrees.len().max(1) as f64 }
    }

    /// Of a replay.
    pub fn of(traces: &[SearchTrace], replayed: &Replayed) -> Regret {
        let moves = replayed.moves.iter().zip(traces);
        let agrees: Vec<bool> =
            moves.map(|(mv, trace)| mv.choice.is_some() && mv.choice == trace.best_move()).collect();
        Regret::new(traces, &replayed.regrets(), &agrees)
    }

    /// How much less `second` loses than `first` at each move, on average, with its 95 % interval.
    pub fn gain(traces: &[SearchTrace], first: &[f64], second: &[f64]) -> (f64, [f64; 2]) {
        let gains: Vec<f64> = first.iter().zip(second).map(|(first, second)| first - second).collect();
        bootstrap(traces, &gains)
    }
}

/// The mean of a number for each trace, and its 95 % interval by drawing whole pairs of games: the moves of one game are alike, and
/// the two games of a pair have one opening.
fn bootstrap(traces: &[SearchTrace], numbers: &[f64]) -> (f64, [f64; 2]) {
    let mut games: Vec<(f64, f64)> = Vec::new();
    let mut at = 0;
    for pair in traces.chunk_by(|a, b| a.pair() == b.pair()) {
        games.push((numbers[at..at + pair.len()].iter().sum(), pair.len() as f64));
        at += pair.len();
    }
    let mean = |sums: (f64, f64)| sums.0 / sums.1.max(1.0);
    let add = |a: (f64, f64), b: (f64, f64)| (a.0 + b.0, a.1 + b.1);
    let mut random = SplitMix64(SEED);
    let mut means: Vec<f64> = (0..RESAMPLINGS)
        .map(|_| mean((0..games.len()).map(|_| games[random.below(games.len())]).fold((0.0, 0.0), add)))
        .collect();
    means.sort_by(f64::total_cmp);
    let quantile = |share: f64| means[((RESAMPLINGS - 1) as f64 * share).round() as usize];
    (mean(games.iter().copied().fold((0.0, 0.0), add)), [quantile(0.025), quantile(0.975)])
}

#[cfg(test)]
mod tests {
    use super::super::packing::tests::example;
    use super::*;
    use crate::time_manager::StopperParams;

    fn traces() -> Vec<SearchTrace> {
        (0..30).map(|index| example(index / 6, index % 6)).collect()
    }

    #[test]
    fn the_oracle_searches_on_where_it_helps() {
        // The better move is found at 160 playouts: half of the traces can be given as many.
        let traces = traces();
        let half = oracle(&traces, 90.0);
        assert!(half.mean_nodes <= 90.0, "{half:?}");
        let all = oracle(&traces, 160.0);
        assert_eq!(all.regrets.iter().sum::<f64>(), 0.0);
        assert_eq!(all.mean_nodes, 160.0);
        assert!(oracle(&traces, 10.0).regrets.iter().all(|regret| (regret - 0.15).abs() < 1e-6));
    }

    #[test]
    fn equal_nodes_are_found_by_the_speed() {
        let stoppers = StopperParams { smart_pruning_factor: 0.0, overhead_ms: 0.0, ..StopperParams::default() };
        let rules = ReplayRules { control: "10+0.1".parse().unwrap(), speed: Speed { nps: 100.0, batch: 1 }, stoppers };
        let traces = traces();
        // With a larger reserve the searches of these few traces, all alike, jump from half to twice the nodes at one speed.
        for spec in ["simple", "legacy", "smooth(extension=0.5)"] {
            let (_, replayed) = equal_nodes(&traces, spec, &rules, 100.0).unwrap();
            assert!((replayed.mean_nodes() - 100.0).abs() < 1.0, "{spec}: {}", replayed.mean_nodes());
        }
    }

    #[test]
    fn an_interval_holds_the_mean_and_narrows_with_games() {
        let trace = |game| SearchTrace { game: 2 * game, ..example(0, 0) };
        let width = |games: u32| {
            let traces: Vec<SearchTrace> = (0..games).map(trace).collect();
            let numbers: Vec<f64> = (0..games).map(|game| f64::from(game % 5)).collect();
            let (mean, [low, high]) = bootstrap(&traces, &numbers);
            assert!(mean == 2.0 && low < mean && mean < high);
            high - low
        };
        // The standard error of 100 numbers of deviation 1.41 is 0.141.
        assert!((width(100) / (2.0 * 1.96 * 0.1414) - 1.0).abs() < 0.1);
        assert!(width(400) < 0.6 * width(100));
    }
}
