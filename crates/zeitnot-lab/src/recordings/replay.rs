//! Replays the moves of recorded searches under a time manager, through the same timekeeper as a game: when each search
//! stops, and what is played.

use super::recorded_search::{RecordedSearch, RecordedSnapshot};
use super::replayed_search::{ReplayedSearch, Speed};
use zeitnot_engine::managers::maker_for_computation;
use zeitnot_games::period_clock::PeriodClock;
use zeitnot_games::time_control::TimeControl;
use zeitnot_time::{MoveRequest, SpecError, StopReason, StopperParams, Timekeeper};

/// Settings of a replay: the clock, the speed and the stoppers.
#[derive(Clone, Debug)]
pub struct ReplayRules {
    /// The clock that each game begins with.
    pub control: TimeControl,
    /// The speed of the searches.
    pub speed: Speed,
    /// The options of the stoppers, the overhead of a move among them.
    pub stoppers: StopperParams,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ReplayedMove {
    /// Playouts of the search.
    pub nodes: u64,
    pub used_ms: f64,
    /// The clock before the move, in milliseconds.
    pub clock_ms: f64,
    /// The manager's budget, in milliseconds.
    pub budget_ms: f64,
    /// The move that is played, by its index among the recorded search's moves; `None` where nothing was searched.
    pub choice: Option<usize>,
    /// Why the search stopped; `None` where it went on to the end of its record.
    pub stop: Option<StopReason>,
    /// The value that the choice loses ([`RecordedSearch::regret`]).
    pub regret: f64,
}

/// The moves of all games of a replay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replayed {
    /// The moves, in the order of the recorded searches.
    pub moves: Vec<ReplayedMove>,
    /// Number of moves that used more than their clock.
    pub forfeits: u64,
}

impl Replayed {
    /// Playouts of a move, on average.
    pub fn mean_nodes(&self) -> f64 {
        let sum: u64 = self.moves.iter().map(|mv| mv.nodes).sum();
        sum as f64 / self.moves.len().max(1) as f64
    }

    /// The value that each choice loses.
    pub fn regrets(&self) -> Vec<f64> {
        self.moves.iter().map(|mv| mv.regret).collect()
    }
}

/// Replays every game of the recorded searches, which stand in the order of games and moves, with a new manager for
/// each game.
///
/// A recorded search has a snapshot at every 10 % more visits. Between two snapshots the visits of the moves grow
/// evenly, and the values stay those of the earlier snapshot. A move begins with the recorded tree, whatever the replay
/// spent before.
///
/// # Errors
/// [`SpecError`], when there is no such manager.
pub fn replay(traces: &[RecordedSearch], spec: &str, rules: &ReplayRules) -> Result<Replayed, SpecError> {
    let mut replayed = Replayed::default();
    let periods = [rules.control];
    for game in traces.chunk_by(|a, b| a.game == b.game) {
        let mut time = Timekeeper::with(spec, maker_for_computation())?.without_lag();
        let mut periods = PeriodClock::new(&periods);
        // As in a match, the first move has its increment.
        let mut clock_ms = rules.control.base_ms + rules.control.increment_ms;
        for trace in game {
            let played = replay_move(trace, &mut time, rules, clock_ms, periods.moves_to_go());
            clock_ms -= played.used_ms;
            replayed.forfeits += u64::from(clock_ms < 0.0);
            clock_ms = clock_ms.max(0.0) + periods.count_move();
            replayed.moves.push(played);
        }
    }
    Ok(replayed)
}

fn replay_move(
    trace: &RecordedSearch,
    time: &mut Timekeeper,
    rules: &ReplayRules,
    clock_ms: f64,
    moves_to_go: Option<u32>,
) -> ReplayedMove {
    let request = MoveRequest {
        clock_ms,
        increment_ms: rules.control.increment_ms,
        moves_to_go,
        overhead_ms: rules.stoppers.overhead_ms,
        ..trace.request()
    };
    let steps = steps(trace, rules.speed.batch);
    let search = ReplayedSearch::run(&trace.priors(), steps, time, &request, rules.speed, &rules.stoppers);
    let choice = search.choice;
    ReplayedMove {
        nodes: search.nodes,
        used_ms: search.used_ms,
        clock_ms,
        budget_ms: search.budget_ms,
        choice,
        stop: search.stop,
        regret: choice.map_or(0.0, |choice| trace.regret(choice)),
    }
}

/// The snapshots of a recorded search, and between them interpolated ones, one for each batch.
fn steps(trace: &RecordedSearch, batch: u64) -> impl Iterator<Item = RecordedSnapshot> + '_ {
    let first = trace.snapshots.first().cloned();
    let pairs = trace.snapshots.windows(2);
    let between = pairs.flat_map(move |pair| {
        let (from, to) = (&pair[0], &pair[1]);
        let steps = to.new_nodes.saturating_sub(from.new_nodes).div_ceil(batch.max(1)).max(1);
        (1..=steps)
            .map(move |step| if step == steps { to.clone() } else { from.towards(to, step as f64 / steps as f64) })
    });
    first.into_iter().chain(between)
}

#[cfg(test)]
mod tests {
    use super::super::packing::tests::example;
    use super::*;

    fn rules(tc: &str, nps: f64) -> ReplayRules {
        let stoppers = StopperParams { smart_pruning_factor: 0.0, overhead_ms: 0.0, ..StopperParams::default() };
        ReplayRules { control: tc.parse().unwrap(), speed: Speed { nps, batch: 8 }, stoppers }
    }

    #[test]
    fn a_fixed_share_of_the_clock_stops_at_its_time() {
        // alphazero takes 12 % of the clock.
        let traces = [example(0, 0), example(0, 2), example(1, 1)];
        let replayed = replay(&traces, "alphazero", &rules("10", 100.0)).unwrap();
        let used: Vec<f64> = replayed.moves.iter().map(|mv| mv.used_ms).collect();
        assert_eq!(used[0], 1200.0);
        assert!((used[1] - 1056.0).abs() < 1e-9, "of the clock that is left: {used:?}");
        assert_eq!(used[2], 1200.0, "another game");
        assert!(replayed.moves.iter().all(|mv| mv.stop == Some(StopReason::Time)));
        // 120 playouts at most, the last batch of which is not ready.
        assert!((104..=120).contains(&replayed.moves[0].nodes), "{:?}", replayed.moves[0]);
    }

    #[test]
    fn more_time_finds_the_better_move() {
        let regret = |nps| replay(&[example(0, 0)], "alphazero", &rules("10", nps)).unwrap().moves[0].regret;
        assert!((regret(100.0) - 0.15).abs() < 1e-6, "the first move instead of the last");
        assert_eq!(regret(600.0), 0.0);
    }

    #[test]
    fn a_search_that_outlasts_its_trace_ends_with_it() {
        let replayed = replay(&[example(0, 0)], "alphazero", &rules("1000", 100.0)).unwrap();
        let mv = &replayed.moves[0];
        assert_eq!((mv.nodes, mv.stop, mv.used_ms), (320, None, 3200.0));
    }

    #[test]
    fn a_clock_of_moves_starts_again() {
        let traces: Vec<RecordedSearch> = (0..5).map(|index| example(0, 2 * index)).collect();
        let replayed = replay(&traces, "simple", &rules("2/10", 1000.0)).unwrap();
        assert!(replayed.moves[2].clock_ms > 10_000.0 && replayed.moves[1].clock_ms < 10_000.0);
        assert_eq!(replayed.forfeits, 0);
    }
}
