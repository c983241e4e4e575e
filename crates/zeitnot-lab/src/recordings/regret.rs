//! Compares time managers at equal mean nodes by regret: the value that their choices lose against the whole recorded
//! search. The bound is an oracle that stops each search in hindsight; errors are by bootstrap over pairs of games.

use super::recorded_search::RecordedSearch;
use super::replay::{ReplayRules, Replayed, replay};
use super::replayed_search::Speed;
use zeitnot_games::bootstrap::mean_and_interval;
use zeitnot_time::SpecError;

/// Most steps of the bisection for the speed that gives the wanted nodes.
const HALVINGS: u32 = 30;
/// Relative difference up to which mean nodes count as equal.
const EQUAL: f64 = 0.001;
/// Relative difference of mean playouts up to which managers are compared: a search ends with a whole batch, so that a
/// few moves meet the wanted playouts less exactly.
const FARTHEST: f64 = 0.05;

/// The regret of the choices of one time manager, or of the oracle.
#[derive(Clone, Debug, PartialEq)]
pub struct Regret {
    /// The value that a choice loses, on average.
    pub mean: f64,
    /// The 95 % interval of the mean.
    pub interval: [f64; 2],
    /// Share of the choices that equal the choice of the whole search.
    pub agreement: f64,
}

/// Outcome of the best stops in hindsight, as [`oracle`] finds them.
#[derive(Clone, Debug, PartialEq)]
pub struct Oracle {
    /// Playouts of a move, on average.
    pub mean_nodes: f64,
    /// The regret of each recorded search. One search may stop between two snapshots, and its regret lies between
    /// theirs.
    pub regrets: Vec<f64>,
    /// The choice of each recorded search, by its index among the moves; for a stop between two snapshots the choice at
    /// the earlier one.
    pub choices: Vec<Option<usize>>,
}

/// Searches for the speed at which a manager's moves have `nodes` playouts on average. Returns that speed, in playouts
/// a second, and the replay at it. The clock stays as it is, so that the manager sees the same times.
///
/// # Errors
/// [`SpecError`], when there is no such manager.
pub fn equal_nodes(
    traces: &[RecordedSearch],
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

/// Whether a replay has nearly `nodes` playouts per move. It may not, as no speed gives more than were recorded.
pub fn meets_nodes(replayed: &Replayed, nodes: f64) -> bool {
    (replayed.mean_nodes() / nodes - 1.0).abs() < FARTHEST
}

/// Stops each search at one of its snapshots in hindsight, so that the searches together lose as little as possible
/// with `nodes` playouts a move. The steps that save the most for a playout come first, and the last step is taken as
/// far as the playouts go (the linear relaxation of a knapsack). So the loss is a lower bound for all such stops with
/// as many playouts.
pub fn oracle(traces: &[RecordedSearch], nodes: f64) -> Oracle {
    let hulls: Vec<Vec<Stop>> = traces.iter().map(hull).collect();
    let first = |hull: &Vec<Stop>| hull.first().copied().unwrap_or_default();
    let mut left = nodes * traces.len() as f64 - hulls.iter().map(|hull| first(hull).nodes).sum::<f64>();
    let mut stops: Vec<Stop> = hulls.iter().map(first).collect();
    let mut steps: Vec<(usize, [Stop; 2])> = Vec::new();
    for (place, hull) in hulls.iter().enumerate() {
        steps.extend(hull.windows(2).map(|pair| (place, [pair[0], pair[1]])));
    }
    // On a hull later steps save less: no step comes before the one that it starts from.
    steps.sort_by(|a, b| saved(&b.1).total_cmp(&saved(&a.1)));
    for (place, [from, to]) in steps {
        let more = to.nodes - from.nodes;
        if more <= left {
            stops[place] = to;
            left -= more;
            continue;
        }
        let share = (left / more).max(0.0);
        let between = |from: f64, to: f64| from + (to - from) * share;
        stops[place] =
            Stop { nodes: between(from.nodes, to.nodes), regret: between(from.regret, to.regret), choice: from.choice };
        break;
    }
    Oracle {
        mean_nodes: stops.iter().map(|stop| stop.nodes).sum::<f64>() / stops.len().max(1) as f64,
        regrets: stops.iter().map(|stop| stop.regret).collect(),
        choices: stops.iter().map(|stop| stop.choice).collect(),
    }
}

/// A point at which a recorded search may stop, with the playouts and the regret there.
#[derive(Clone, Copy, Default)]
struct Stop {
    nodes: f64,
    regret: f64,
    choice: Option<usize>,
}

/// The regret that going on from stop `from` to stop `to` saves, per playout.
fn saved([from, to]: &[Stop; 2]) -> f64 {
    (from.regret - to.regret) / (to.nodes - from.nodes)
}

/// The stops of a recorded search on the lower convex hull of regret over playouts: each loses less than all before.
fn hull(trace: &RecordedSearch) -> Vec<Stop> {
    let mut hull: Vec<Stop> = Vec::new();
    for snapshot in &trace.snapshots {
        let Some(choice) = snapshot.best_move.map(|best| best as usize) else { continue };
        let stop = Stop { nodes: snapshot.new_nodes as f64, regret: trace.regret(choice), choice: Some(choice) };
        if hull.last().is_some_and(|last| stop.regret >= last.regret || stop.nodes <= last.nodes) {
            continue;
        }
        while let [.., before, last] = hull[..] {
            if saved(&[last, stop]) < saved(&[before, last]) {
                break;
            }
            hull.pop();
        }
        hull.push(stop);
    }
    hull
}

impl Regret {
    /// Sums up the `regrets` and `choices` of all moves, one for each recorded search, in order.
    pub fn of_choices(traces: &[RecordedSearch], regrets: &[f64], choices: &[Option<usize>]) -> Regret {
        let agrees =
            |(choice, trace): &(&Option<usize>, &RecordedSearch)| choice.is_some() && **choice == trace.best_move();
        let count = choices.iter().zip(traces).filter(agrees).count();
        let (mean, interval) = bootstrap(traces, regrets);
        Regret { mean, interval, agreement: count as f64 / choices.len().max(1) as f64 }
    }

    /// Sums up the regrets and the choices of a replay.
    pub fn of(traces: &[RecordedSearch], replayed: &Replayed) -> Regret {
        let choices: Vec<Option<usize>> = replayed.moves.iter().map(|mv| mv.choice).collect();
        Regret::of_choices(traces, &replayed.regrets(), &choices)
    }

    /// The mean regret per move that `second` saves compared with `first`, and its 95 % interval. Both have a regret
    /// for each recorded search.
    pub fn gain(traces: &[RecordedSearch], first: &[f64], second: &[f64]) -> (f64, [f64; 2]) {
        let gains: Vec<f64> = first.iter().zip(second).map(|(first, second)| first - second).collect();
        bootstrap(traces, &gains)
    }
}

/// The mean of `numbers`, one for each recorded search, and its 95 % interval by bootstrap over whole pairs of games:
/// the moves of one game are alike, and the two games of a pair have one opening.
fn bootstrap(traces: &[RecordedSearch], numbers: &[f64]) -> (f64, [f64; 2]) {
    let mut games: Vec<(f64, f64)> = Vec::new();
    let mut at = 0;
    for pair in traces.chunk_by(|a, b| a.pair() == b.pair()) {
        games.push((numbers[at..at + pair.len()].iter().sum(), pair.len() as f64));
        at += pair.len();
    }
    mean_and_interval(&games)
}

#[cfg(test)]
mod tests {
    use super::super::packing::tests::example;
    use super::*;
    use zeitnot_time::StopperParams;

    fn traces() -> Vec<RecordedSearch> {
        (0..30).map(|index| example(index / 6, index % 6)).collect()
    }

    #[test]
    fn the_oracle_searches_on_where_it_helps() {
        // The better move is found at 160 playouts: half of the recorded searches can be given as many.
        let traces = traces();
        let half = oracle(&traces, 85.0);
        let sum = half.regrets.iter().sum::<f64>();
        assert!((sum - 15.0 * 0.15).abs() < 1e-6 && (half.mean_nodes - 85.0).abs() < 1e-9, "{half:?}");
        assert_eq!(half.choices.iter().filter(|choice| **choice == Some(2)).count(), 15);
        // A tenth of the way from 10 to 160 playouts is paid for of one more: nothing is left unspent.
        let more = oracle(&traces, 85.5);
        let sum = more.regrets.iter().sum::<f64>();
        assert!((sum - 14.9 * 0.15).abs() < 1e-6 && (more.mean_nodes - 85.5).abs() < 1e-9, "{more:?}");
        assert_eq!(Regret::of_choices(&traces, &more.regrets, &more.choices).agreement, 0.5);
        let all = oracle(&traces, 160.0);
        assert_eq!(all.regrets.iter().sum::<f64>(), 0.0);
        assert_eq!(all.mean_nodes, 160.0);
        assert!(oracle(&traces, 10.0).regrets.iter().all(|regret| (regret - 0.15).abs() < 1e-6));
        assert_eq!(oracle(&traces, 5.0).mean_nodes, 10.0, "no search stops before its first snapshot");
    }

    #[test]
    fn a_choice_agrees_only_where_it_is_the_very_move() {
        // The whole search values the first move as its own choice: it loses nothing, and is another move.
        let mut trace = example(0, 0);
        for snapshot in &mut trace.snapshots {
            snapshot.values = vec![Some(0.25); 3];
        }
        let traces = [trace];
        let bound = oracle(&traces, 320.0);
        assert_eq!((&bound.regrets[..], bound.choices[0]), (&[0.0][..], Some(0)));
        assert_eq!(Regret::of_choices(&traces, &bound.regrets, &bound.choices).agreement, 0.0);
    }

    #[test]
    fn equal_nodes_are_found_by_the_speed() {
        let stoppers = StopperParams { smart_pruning_factor: 0.0, overhead_ms: 0.0, ..StopperParams::default() };
        let rules = ReplayRules { control: "10+0.1".parse().unwrap(), speed: Speed { nps: 100.0, batch: 1 }, stoppers };
        let traces = traces();
        // With a larger reserve, or other limits for each share, the searches of these few recorded searches, all alike, jump from half to twice the
        // nodes at one speed.
        for spec in ["simple", "legacy", "smooth(extension=0.5,visit-share=0)"] {
            let (_, replayed) = equal_nodes(&traces, spec, &rules, 100.0).unwrap();
            assert!((replayed.mean_nodes() - 100.0).abs() < 1.0, "{spec}: {}", replayed.mean_nodes());
        }
    }
}
