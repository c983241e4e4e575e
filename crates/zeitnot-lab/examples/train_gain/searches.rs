//! Reads recorded searches as moments: what the gain network sees, and what stopping there costs.

use anyhow::Context as _;
use std::path::Path;
use zeitnot_lab::recordings::{RecordedSearch, RecordedSnapshot, read_recording};
use zeitnot_time::managers::price::gain::{GROWTH, GainNetwork};
use zeitnot_time::managers::price::root_history::{INPUTS, RootHistory};

/// New nodes before which no search stops.
const LEAST_NODES: u64 = 16;
/// A tree that is this share of [`GROWTH`] times as large counts as grown.
const NEARLY: f64 = 0.97;

/// A search, from its first moment at which it may stop.
pub struct Search {
    /// The games with one opening have one number.
    pub pair: u32,
    /// In the order of their nodes, at least one.
    pub moments: Vec<Moment>,
}

/// A moment of a search.
pub struct Moment {
    pub inputs: [f64; INPUTS],
    pub new_nodes: f64,
    pub total_nodes: f64,
    /// Loss of the choice against the choice at the end.
    pub regret: f64,
    /// Gain of the choice when the tree grows by [`GROWTH`], where the record goes on so far.
    pub gain: Option<f64>,
    /// Visits and value of the choice.
    pub best: (f64, f64),
    /// Visits and value of each other move that was visited.
    pub rivals: Vec<(f64, f64)>,
}

/// Reads the searches of several files.
pub fn read(paths: &[String]) -> anyhow::Result<Vec<Search>> {
    let (mut searches, mut pairs) = (Vec::new(), 0);
    for path in paths {
        let (_, mut traces) = read_recording(Path::new(path)).with_context(|| path.clone())?;
        // Games of different files are no pair, and every second pair of each file stays one.
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
    /// The gain of one more node that a network predicts here.
    pub fn gain_of_a_node(&self, network: &GainNetwork) -> f64 {
        network.gain(&self.inputs) / (self.total_nodes * (GROWTH - 1.0))
    }
}
