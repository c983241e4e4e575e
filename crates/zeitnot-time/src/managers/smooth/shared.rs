//! Holds what the forms of `smooth` and `price` share: declarations of parameters, terms of plans, the estimates of
//! tree reuse and budget use, and the projection of visits.

use crate::estimators::budget_use::BudgetUse;
use crate::estimators::overrun::Overrun;
use crate::estimators::tree_reuse::TreeReuse;
use crate::params::{ParamValues, param_specs};
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;
use crate::{Estimates, MoveOutcome, MoveRequest};

// A form may change default and help text; meaning and range of each parameter are declared here once.
param_specs! {
    INIT_TREE_REUSE "init-tree-reuse" 0.5 0.0 0.99 Ratio
        "Fraction of the tree that is reused after a full move, at the start of a game.";
    MAX_TREE_REUSE "max-tree-reuse" 0.7 0.0 0.99 Ratio "The expected tree reuse never goes above this.";
    TREE_REUSE_UPDATE_RATE "tree-reuse-update-rate" 4.0 0.01 10000.0 Moves
        "Average move times after which the expected tree reuse has moved half-way.";
    INIT_NPS "init-nps" 20000.0 0.1 1e9 NodesPerSecond "Expected speed at the start of a game.";
    NPS_UPDATE_RATE "nps-update-rate" 5.0 0.01 10000.0 Moves
        "Average move times after which a measured speed counts for half.";
    INIT_TIMEUSE "init-timeuse" 0.7 0.01 1.0 Ratio
        "Fraction of its budget that a move really uses, at the start of a game.";
    MIN_TIMEUSE "min-timeuse" 0.3 0.01 1.0 Ratio "The expected time use never falls below this.";
    TIMEUSE_UPDATE_RATE "timeuse-update-rate" 10.0 0.01 10000.0 Moves
        "Average move times after which the expected time use has moved half-way.";
    MAX_MOVE_BUDGET "max-move-budget" 0.3 0.001 1.0 Ratio "Largest fraction of the clock that one move may use.";
}

/// Records the time for the next `moves` moves of the game, less `bank_ms`, which are kept back, and less the expected
/// overrun of every move.
pub fn game_time_term(plan: &mut PlanBuilder, name: &'static str, moves: f64, bank_ms: f64, overrun: &Overrun) -> f64 {
    let MoveRequest { clock_ms, increment_ms, overhead_ms, .. } = *plan.request();
    // The increment of the last move never comes.
    let mut game_time = clock_ms + increment_ms * (moves - 1.0) - overhead_ms - bank_ms;
    let overrun_ms = overrun.average_ms();
    if overrun_ms > 0.0 {
        let name = "overrun = from what moves took past their limits";
        game_time -= moves * plan.term(name, overrun_ms, Unit::Milliseconds);
    }
    plan.at_least(name, game_time, 0.0, Unit::Milliseconds)
}

/// Records the speed that was learned, in nodes per second.
pub fn nps_term(plan: &mut PlanBuilder, nps: f64) -> f64 {
    plan.term("nps = from the searches, at first its initial value", nps, Unit::NodesPerSecond)
}

/// Records the reused share of the tree, and the nodes of a tree that gets `new_per_move` new nodes on every move.
pub fn total_nodes_term(plan: &mut PlanBuilder, new_per_move: f64, reuse: f64, limited: bool) -> f64 {
    let name = "tree_reuse = from the searches (at most max-tree-reuse), at first its initial value";
    let reuse = plan.estimate(name, reuse, Unit::Ratio, limited);
    let total = new_per_move / (1.0 - reuse);
    plan.term("average_total_nodes = average_new_nodes / (1 - tree_reuse)", total, Unit::Nodes)
}

/// Records the share of a budget that searches use.
pub fn time_use_term(plan: &mut PlanBuilder, time_use: f64, limited: bool) -> f64 {
    let name = "timeuse = from the searches (at least min-timeuse), at first its initial value";
    plan.estimate(name, time_use, Unit::Ratio, limited)
}

/// Records the largest fraction of the clock that this move may use. Before a time control it is at least an equal
/// share: time is added at the control, so nothing has to be saved.
pub fn max_move_budget_term(plan: &mut PlanBuilder, max_move_budget: f64) -> f64 {
    let (name, share) = match plan.request().moves_to_go {
        Some(moves) => ("max_move_budget = max(max-move-budget, 1 / moves_to_go)", 1.0 / f64::from(moves)),
        None => ("max_move_budget = max-move-budget", 0.0),
    };
    plan.at_least(name, max_move_budget, share, Unit::Ratio)
}

/// The tree reuse and the budget use of a game, which plain `smooth` and `smooth(preset=pr1195)` learn alike.
#[derive(Debug)]
pub struct Learned {
    pub tree_reuse: TreeReuse,
    budget_use: BudgetUse,
}

impl Learned {
    /// The estimates at the start of a game.
    pub fn new(values: &ParamValues) -> Self {
        let [reuse, most, reuse_rate] =
            [&INIT_TREE_REUSE, &MAX_TREE_REUSE, &TREE_REUSE_UPDATE_RATE].map(|p| values.get(p));
        let [used, least, use_rate] = [&INIT_TIMEUSE, &MIN_TIMEUSE, &TIMEUSE_UPDATE_RATE].map(|p| values.get(p));
        Self { tree_reuse: TreeReuse::new(reuse, most, reuse_rate), budget_use: BudgetUse::new(used, least, use_rate) }
    }

    /// [`total_nodes_term`] with the learned tree reuse.
    pub fn total_nodes_term(&self, plan: &mut PlanBuilder, new_per_move: f64) -> f64 {
        total_nodes_term(plan, new_per_move, self.tree_reuse.factor(), self.tree_reuse.limited())
    }

    /// [`time_use_term`] with the learned budget use.
    pub fn time_use_term(&self, plan: &mut PlanBuilder) -> f64 {
        time_use_term(plan, self.budget_use.factor(), self.budget_use.limited())
    }

    /// Learns from a search that was planned to take `budget_ms`, in a game whose moves take `average_move_ms`.
    pub fn search_ended(&mut self, outcome: &MoveOutcome, budget_ms: f64, average_move_ms: f64) {
        let average_moves = if average_move_ms > 0.0 { outcome.elapsed_ms / average_move_ms } else { 0.0 };
        self.tree_reuse.search_ended(outcome.total_nodes, average_moves);
        self.budget_use.search_ended(outcome.elapsed_ms, budget_ms, average_moves);
    }

    /// The estimates of the manager, with its speed and its bank.
    pub fn estimates(&self, nps: f64, bank_ms: Option<f64>) -> Estimates {
        let (tree_reuse, timeuse) = (Some(self.tree_reuse.factor()), Some(self.budget_use.factor()));
        Estimates { nps: Some(nps), tree_reuse, timeuse, bank_ms, ..Estimates::default() }
    }
}

/// The growth of the visits of the root's moves, projected to see whether the best move is being overtaken
/// (docs/lc0.md, 1.9).
#[derive(Clone, Debug)]
pub struct Trend {
    period_ms: f64,
    window: Window,
    best_optimism: f64,
    overtaker_optimism: f64,
    previous: Option<Sample>,
    current: Option<Sample>,
    last: Option<Sample>,
}

/// The rule for measuring growth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Growth is measured over at least one period.
    Shortest,
    /// Lc0's rule with its flaws (docs/lc0.md, 1.9 and 7.4): growth is measured between the last two looks, a second
    /// look in one millisecond is passed over, the period is the longest gap that the rule survives, and a count that
    /// shrinks reads as a huge growth.
    Lc0,
}

#[derive(Clone, Debug)]
struct Sample {
    at_ms: f64,
    visits: Vec<u32>,
}

impl Trend {
    /// A projection that multiplies growth: the best move's by `best_optimism`, that of others by `overtaker_optimism`.
    pub fn new(period_ms: f64, best_optimism: f64, overtaker_optimism: f64, window: Window) -> Self {
        Self { period_ms, window, best_optimism, overtaker_optimism, previous: None, current: None, last: None }
    }

    /// Takes in the visits at `now_ms`.
    pub fn observe(&mut self, now_ms: f64, visits: &[u32]) {
        if self.window == Window::Lc0 && self.last.as_ref().is_some_and(|last| now_ms <= last.at_ms) {
            return;
        }
        let sample = Sample { at_ms: now_ms, visits: visits.to_vec() };
        let moves_on = |current: &Sample| match self.window {
            Window::Shortest => now_ms - current.at_ms >= self.period_ms,
            Window::Lc0 => current.at_ms + self.period_ms >= now_ms,
        };
        if self.current.as_ref().is_none_or(moves_on) {
            self.previous = self.current.replace(sample.clone());
        }
        self.last = Some(sample);
    }

    /// Whether another move than the present best one is expected to have the most visits at `then_ms`.
    pub fn is_overtaken_by(&self, then_ms: f64) -> bool {
        // Before the first turn of the window growth is measured from the first look on.
        let earlier = self.previous.as_ref().or(self.current.as_ref());
        let (Some(previous), Some(last)) = (earlier, &self.last) else { return false };
        let (passed, to_come) = (last.at_ms - previous.at_ms, then_ms - last.at_ms);
        if !(passed > 0.0 && to_come > 0.0) {
            return false;
        }
        let Some(best) = (0..last.visits.len()).rev().max_by_key(|index| last.visits[*index]) else { return false };
        let projected = |index: usize, optimism: f64| {
            let before = previous.visits.get(index).copied().unwrap_or(0);
            let grown = match self.window {
                Window::Shortest => last.visits[index].saturating_sub(before),
                Window::Lc0 => last.visits[index].wrapping_sub(before),
            };
            let rate = f64::from(grown) / passed;
            f64::from(last.visits[index]) + optimism * rate * to_come
        };
        let to_beat = projected(best, self.best_optimism);
        (0..last.visits.len()).any(|index| index != best && projected(index, self.overtaker_optimism) > to_beat)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_that_grows_faster_overtakes_in_time() {
        let mut trend = Trend::new(3_000.0, 1.0, 1.0, Window::Lc0);
        trend.observe(0.0, &[100, 50]);
        assert!(!trend.is_overtaken_by(1e9), "one sample shows no growth");
        trend.observe(100.0, &[110, 80]);
        // 110 + 0.1 t against 80 + 0.3 t: level after 150 ms.
        assert!(!trend.is_overtaken_by(249.0));
        assert!(trend.is_overtaken_by(251.0));
        assert!(!trend.is_overtaken_by(100.0), "what is past is not projected");
    }

    #[test]
    fn lc0_window_passes_over_a_second_look_in_a_millisecond() {
        let mut trend = Trend::new(3_000.0, 1.0, 1.0, Window::Lc0);
        trend.observe(100.0, &[100, 50]);
        trend.observe(101.0, &[100, 90]);
        // Neither a later state of the same moment nor a thread that comes late with its own changes anything.
        for at_ms in [101.0, 100.0] {
            trend.observe(at_ms, &[180, 90]);
            assert!(trend.is_overtaken_by(102.0), "{at_ms}");
        }
        trend.observe(102.0, &[180, 91]);
        assert!(!trend.is_overtaken_by(1e6));
    }

    #[test]
    fn lc0_window_measures_a_first_gap_from_the_first_look_on() {
        let mut trend = Trend::new(1_000.0, 1.0, 1.0, Window::Lc0);
        trend.observe(10.0, &[10, 0]);
        trend.observe(3_010.0, &[1_000, 999]);
        // 1000 + 0.330 t against 999 + 0.333 t: level after 333 ms.
        assert!(!trend.is_overtaken_by(3_340.0) && trend.is_overtaken_by(3_350.0));
    }

    // docs/lc0.md, 7.4, kept.
    #[test]
    fn lc0_window_keeps_old_samples_after_a_long_gap() {
        let mut trend = Trend::new(1_000.0, 1.0, 1.0, Window::Lc0);
        trend.observe(0.0, &[10, 9]);
        trend.observe(100.0, &[11, 20]);
        trend.observe(5_000.0, &[500, 20]);
        trend.observe(5_100.0, &[510, 20]);
        // From the first sample on: 500 in 5100 ms against 11.
        assert!(!trend.is_overtaken_by(1e6));
        assert_eq!(trend.previous.as_ref().map(|sample| sample.at_ms), Some(0.0));
    }

    #[test]
    fn shortest_window_measures_over_the_period() {
        let mut trend = Trend::new(1_000.0, 1.0, 1.0, Window::Shortest);
        trend.observe(0.0, &[100, 50]);
        trend.observe(500.0, &[150, 150]);
        // 150 + 0.1 t against 150 + 0.2 t.
        assert!(trend.is_overtaken_by(600.0), "within the first period, all that was seen counts");
        trend.observe(1_000.0, &[400, 160]);
        trend.observe(1_010.0, &[395, 165]);
        // Over the whole second: 0.3 against 0.11, not the 10 ms in which one shrank.
        assert!(!trend.is_overtaken_by(1e6));
    }
}
