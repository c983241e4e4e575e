//! Reads recorded searches as moments, each with the inputs of the gain network and the cost of stopping there.

use anyhow::Context as _;
use std::path::Path;
use zeitnot_lab::recordings::{RecordedSearch, RecordedSnapshot, read_recording};
use zeitnot_time::managers::price::gain::{GROWTH, GainNetwork};
use zeitnot_time::managers::price::root_history::{INPUTS, RootHistory};

/// Least new nodes with which a search may stop.
const LEAST_NODES: u64 = 16;
/// Share of a growth by [`GROWTH`] from which a tree counts as grown.
const NEARLY: f64 = 0.97;

/// The moments of a recorded search at which it may stop.
pub struct Search {
    /// Number of the pair of games with the same opening.
    pub pair: u32,
    /// Moments in the order of their nodes; at least one.
    pub moments: Vec<Moment>,
}

/// A moment of a search.
pub struct Moment {
    pub inputs: [f64; INPUTS],
    pub new_nodes: f64,
    pub total_nodes: f64,
    /// Value that the move chosen here loses against the choice at the end.
    pub regret: f64,
    /// Drop of the regret when the tree grows by [`GROWTH`]; `None` where the record ends before.
    pub gain: Option<f64>,
    /// Visits and value of the move chosen here.
    pub best: (f64, f64),
    /// Visits and value of each other visited move.
    pub rivals: Vec<(f64, f64)>,
}

/// Reads the searches of several files.
pub fn read(paths: &[String]) -> anyhow::Result<Vec<Search>> {
    let (mut searches, mut pairs) = (Vec::new(), 0);
    for path in paths {
        let (_, mut traces) = read_recording(Path::new(path)).with_context(|| path.clone())?;
        // Games of different files are in different pairs, and each pair keeps its parity for `--hold-out`.
        traces.iter_mut().for_each(|trace| trace.game = trace.game.saturating_add(2 * pairs));
        pairs = traces.iter().map(|trace| trace.pair() + 1).fold(pairs, u32::max).next_multiple_of(2);
        searches.extend(traces.iter().map(search).filter(|search| !search.moments.is_empty()));
    }
    Ok(searches)
}

fn search(trace: &RecordedSearch) -> Search {
    let (mut history, priors) = (RootHistory::default(), trace.priors());
    let regret_at = |total: f64| {
        let later = trace.snapshots.iter().find(|later| later.total_nodes as f64 >= total)?;
        Some(trace.regret(later.best_move? as usize))
    };
    let moment = |snapshot: &RecordedSnapshot| {
        let inputs = history.inputs(&snapshot.snapshot(&priors, snapshot.new_nodes, 0.0, None))?;
        let (total_nodes, regret) = (snapshot.total_nodes as f64, trace.regret(snapshot.best_move? as usize));
        let gain = regret_at(total_nodes * GROWTH * NEARLY).map(|later| regret - later);
        let best = snapshot.best_move? as usize;
        let visited = |place: usize| {
            let value = snapshot.values.get(place).copied().flatten()?;
            Some((f64::from(snapshot.visits[place]), f64::from(value)))
        };
        let rivals = (0..snapshot.visits.len()).filter(|place| *place != best).filter_map(visited).collect();
        let new_nodes = snapshot.new_nodes as f64;
        Some(Moment { inputs, new_nodes, total_nodes, regret, gain, best: visited(best)?, rivals })
    };
    let moments = trace.snapshots.iter().filter_map(moment).filter(|moment| moment.new_nodes >= LEAST_NODES as f64);
    Search { pair: trace.pair(), moments: moments.collect() }
}

impl Moment {
    /// Gain of one more node at this moment, as a network predicts it.
    pub fn gain_of_a_node(&self, network: &GainNetwork) -> f64 {
        network.gain(&self.inputs) / (self.total_nodes * (GROWTH - 1.0))
    }
}
