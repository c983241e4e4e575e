//! [pr1195]: crate::managers::smooth::pr1195
//! [smooth]: crate::managers::smooth
#![doc = include_str!("../../../docs/smooth-lc0.md")]

use super::shared;
use super::trend::Trend;
use crate::estimators::exponential_decay;
use crate::estimators::moves_left::{MLE_LEGACY_ALONE, MleLegacy};
use crate::params::{GroupSpec, ManagerSpec, ParamSpec, ParamValues, param_specs};
use crate::plan::Plan;
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;
use crate::{Estimates, MS_PER_SECOND, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};

/// Speed before the first measurement (docs/lc0.md, 1.7: a constant in Lc0).
const INIT_NPS: f64 = 20_000.0;
/// Least estimate of speed, so that nothing is divided by zero.
const LEAST_NPS: f64 = 1e-3;

const INIT_TREE_REUSE: ParamSpec = shared::INIT_TREE_REUSE.defaulting_to(0.52);
const MAX_TREE_REUSE: ParamSpec = shared::MAX_TREE_REUSE.defaulting_to(0.73);
const TREE_REUSE_UPDATE_RATE: ParamSpec = shared::TREE_REUSE_UPDATE_RATE.defaulting_to(3.39);
const INIT_TIMEUSE: ParamSpec = shared::INIT_TIMEUSE.defaulting_to(0.7);
const MIN_TIMEUSE: ParamSpec = shared::MIN_TIMEUSE.defaulting_to(0.34);
const TIMEUSE_UPDATE_RATE: ParamSpec = shared::TIMEUSE_UPDATE_RATE.defaulting_to(5.51);
const MAX_MOVE_BUDGET: ParamSpec = shared::MAX_MOVE_BUDGET
    .defaulting_to(0.42)
    .helping("Largest fraction of the clock that one move may use, the bank apart.");

param_specs! {
    NPS_UPDATE_PERIOD "nps-update-period" 20.0 0.01 10000.0 Seconds
        "Time of one move's search in which the expected speed falls to the measured one.";
    INIT_PIGGYBANK "init-piggybank" 0.09 0.0 0.9 Ratio "Fraction of the first clock that goes into the bank.";
    PER_MOVE_PIGGYBANK "per-move-piggybank" 0.12 0.0 1.0 Ratio
        "Fraction of each move's expected time that goes into the bank.";
    MAX_PIGGYBANK_USE "max-piggybank-use" 0.94 0.0 1.0 Ratio "Fraction of the bank that one move may draw.";
    MAX_PIGGYBANK_MOVES "max-piggybank-moves" 36.5 0.0 1000.0 Moves "Most that the bank holds, in average move times.";
    TREND_PERIOD "trend-nps-update-period-ms" 3000.0 0.0 1e9 Milliseconds
        "Window in which the growth of visits is measured (inverted in Lc0: the longest gap it survives).";
    BEST_OPTIMISM "bestmove-optimism" 0.2 0.0 1000.0 Ratio
        "Factor on the growth of the best move's visits when they are projected.";
    OVERTAKER_OPTIMISM "overtaker-optimism" 4.0 0.0 1000.0 Ratio "The same for every other move.";
    FORCE_PIGGYBANK "force-piggybank-ms" 1000.0 0.0 1e9 Milliseconds
        "Time after the first batch in which the bank is open.";
}

const MLE_LEGACY: GroupSpec = GroupSpec {
    params: &[MLE_LEGACY_ALONE.params[0].defaulting_to(45.2), MLE_LEGACY_ALONE.params[1].defaulting_to(5.93)],
    ..MLE_LEGACY_ALONE
};

const TITLE: &str = "smooth(preset=lc0)";

pub(crate) const SPEC: ManagerSpec = ManagerSpec {
    name: "smooth",
    preset: Some("lc0"),
    is_first: false,
    help: "Lc0's present smooth manager with its piggybank, number for number.",
    params: &[
        INIT_TREE_REUSE,
        MAX_TREE_REUSE,
        TREE_REUSE_UPDATE_RATE,
        NPS_UPDATE_PERIOD,
        INIT_TIMEUSE,
        MIN_TIMEUSE,
        TIMEUSE_UPDATE_RATE,
        MAX_MOVE_BUDGET,
        INIT_PIGGYBANK,
        PER_MOVE_PIGGYBANK,
        MAX_PIGGYBANK_USE,
        MAX_PIGGYBANK_MOVES,
        TREND_PERIOD,
        BEST_OPTIMISM,
        OVERTAKER_OPTIMISM,
        FORCE_PIGGYBANK,
    ],
    groups: &[MLE_LEGACY],
    build: |values| Box::new(Lc0Smooth::new(values.clone())),
};

#[derive(Debug)]
struct Lc0Smooth {
    values: ParamValues,
    moves_left: MleLegacy,
    reuse: f64,
    /// Whether the maximum limited `reuse`. As in Lc0 initial values are not limited.
    reuse_limited: bool,
    nps: Speed,
    timeuse: f64,
    /// Whether the minimum limited `timeuse`.
    timeuse_limited: bool,
    average_ms: f64,
    last_nodes: u64,
    /// Time set aside for hard moves (Lc0's piggybank), in whole milliseconds.
    bank_ms: f64,
    is_first_move: bool,
    current: Option<CurrentMove>,
}

#[derive(Debug)]
struct CurrentMove {
    /// Allocated time, before it is cut to whole milliseconds.
    allocated_ms: f64,
    budget_ms: f64,
    extra_ms: f64,
    trend: Trend,
    bank_used: bool,
}

impl Lc0Smooth {
    fn new(values: ParamValues) -> Self {
        Self {
            moves_left: MleLegacy::new(&values, &MLE_LEGACY),
            reuse: values.get(&INIT_TREE_REUSE),
            reuse_limited: false,
            nps: Speed {
                estimate: INIT_NPS,
                reliable: false,
                updated_at_ms: 0.0,
                window_ms: values.get(&NPS_UPDATE_PERIOD) * MS_PER_SECOND,
            },
            timeuse: values.get(&INIT_TIMEUSE),
            timeuse_limited: false,
            average_ms: 0.0,
            last_nodes: 0,
            bank_ms: 0.0,
            is_first_move: true,
            current: None,
            values,
        }
    }

    fn average_moves(&self, ms: f64) -> f64 {
        if self.average_ms > 0.0 { ms / self.average_ms } else { 0.0 }
    }

    /// Learns tree reuse (docs/lc0.md, 1.7: step 2).
    fn learn_reuse(&mut self, reused_nodes: u64) {
        if self.last_nodes == 0 || self.nps.updated_at_ms == 0.0 {
            return;
        }
        let sample = reused_nodes as f64 / self.last_nodes as f64;
        let average_moves = self.average_moves(self.nps.updated_at_ms);
        let rate = self.values.get(&TREE_REUSE_UPDATE_RATE);
        let moved = exponential_decay(self.reuse, sample, rate, average_moves);
        let most = self.values.get(&MAX_TREE_REUSE);
        (self.reuse, self.reuse_limited) = (moved.min(most), moved > most);
    }
}

impl TimeManager for Lc0Smooth {
    fn name(&self) -> &'static str {
        TITLE
    }

    /// Plans by the formulas of docs/lc0.md, 1.7, one term per quantity.
    fn plan(&mut self, request: &MoveRequest) -> Plan {
        use Unit::{Milliseconds, Nodes};
        let mut plan = PlanBuilder::new(TITLE, request);
        let MoveRequest { clock_ms, increment_ms, overhead_ms, .. } = *plan.request();
        if std::mem::take(&mut self.is_first_move) {
            self.bank_ms = (clock_ms * self.values.get(&INIT_PIGGYBANK)).trunc();
        }
        self.learn_reuse(request.reused_nodes);
        self.nps.updated_at_ms = 0.0;
        let moves_left = plan.moves_left(self.moves_left.estimate(request.ply), "from mle-legacy");

        let rest = clock_ms + increment_ms * (moves_left - 1.0) - overhead_ms;
        let max_bank = self.values.get(&MAX_PIGGYBANK_MOVES) * rest.max(0.0) / moves_left;
        let max_bank = plan.term(
            "max_bank = max-piggybank-moves * max(0, clock + increment * (moves_left - 1) - overhead) / moves_left",
            max_bank,
            Milliseconds,
        );
        self.bank_ms =
            plan.at_most("bank = from earlier moves, at most max_bank", self.bank_ms, max_bank, Milliseconds).trunc();
        let name = "game_time = max(0, clock + increment * (moves_left - 1) - overhead - whole(bank))";
        let game_time = plan.at_least(name, rest - self.bank_ms, 0.0, Milliseconds);
        let nps = shared::nps_term(&mut plan, self.nps.estimate);
        let game_nodes = plan.term("game_nodes = game_time / 1000 * nps", game_time * nps / MS_PER_SECOND, Nodes);
        let average_nodes = plan.term("average_new_nodes = game_nodes / moves_left", game_nodes / moves_left, Nodes);
        self.average_ms = plan.term("average_move_time = game_time / moves_left", game_time / moves_left, Milliseconds);
        let target = shared::total_nodes_term(&mut plan, average_nodes, self.reuse, self.reuse_limited);
        let reused = plan.term("reused_nodes", request.reused_nodes as f64, Nodes);
        let new_nodes =
            plan.at_least("target_new_nodes = max(0, average_total_nodes - reused_nodes)", target - reused, 0.0, Nodes);
        let gross =
            plan.term("gross_time = target_new_nodes / nps * 1000", new_nodes / nps * MS_PER_SECOND, Milliseconds);
        let tax = gross * self.values.get(&PER_MOVE_PIGGYBANK);
        let name = "bank_tax = min(per-move-piggybank * gross_time, max_bank - whole(bank))";
        let tax = plan.at_most(name, tax, max_bank - self.bank_ms, Milliseconds);
        let net = plan.term("net_time = gross_time - bank_tax", gross - tax, Milliseconds);
        let extra = (self.bank_ms * self.values.get(&MAX_PIGGYBANK_USE)).trunc();
        let timeuse = shared::time_use_term(&mut plan, self.timeuse, self.timeuse_limited);
        let allocated = plan.term("allocated = net_time / timeuse", net / timeuse, Milliseconds);
        let most = self.values.get(&MAX_MOVE_BUDGET) * clock_ms;
        let allocated =
            plan.at_most("limited_budget = min(allocated, max-move-budget * clock)", allocated, most, Milliseconds);
        let safe = clock_ms - overhead_ms;
        let allocated = if allocated > safe { safe.max(0.0) } else { allocated };
        let extra = plan.at_most(
            "bank_use = min(whole(max-piggybank-use * whole(bank)), \
             clock - overhead - min(limited_budget, max(0, clock - overhead)))",
            extra,
            safe - allocated,
            Milliseconds,
        );
        self.bank_ms =
            plan.term("bank_after_tax = whole(whole(bank) + bank_tax)", (self.bank_ms + tax).trunc(), Milliseconds);

        // Lc0 may answer with a negative reserve where the clock is inside the overhead.
        let plan = plan.finish(
            ("whole(min(limited_budget, max(0, clock - overhead)))", allocated.trunc()),
            ("max(0, whole(bank_use))", extra.trunc().max(0.0)),
            Some(target),
        );
        let parameter = |param| self.values.get(param);
        self.current = Some(CurrentMove {
            allocated_ms: allocated,
            budget_ms: plan.budget_ms,
            extra_ms: plan.extra_ms,
            trend: Trend::new(parameter(&TREND_PERIOD), parameter(&BEST_OPTIMISM), parameter(&OVERTAKER_OPTIMISM)),
            bank_used: false,
        });
        plan
    }

    /// Observes by the rules of docs/lc0.md, 1.9.
    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        // Lc0 has whole milliseconds: no speed is measured in less than one.
        let since_first_batch_ms = snapshot.since_first_batch_ms.unwrap_or(0.0).trunc();
        self.nps.observe(since_first_batch_ms, snapshot.new_nodes);
        let nps = Some(self.nps.estimate);
        let Some(current) = &mut self.current else { return Verdict { nps, ..Verdict::default() } };
        current.trend.observe(snapshot.elapsed_ms.trunc(), &snapshot.root_visits);
        let with_bank = current.budget_ms + current.extra_ms;
        let opens_bank = snapshot.need_more_time
            || since_first_batch_ms <= self.values.get(&FORCE_PIGGYBANK)
            || current.trend.is_overtaken_by(with_bank);
        let limit = if opens_bank { with_bank } else { current.budget_ms };
        current.bank_used |= opens_bank && snapshot.elapsed_ms >= current.budget_ms;
        Verdict { nps, ..Verdict::at_limit(snapshot, limit, StopReason::Time) }
    }

    /// Learns by the rules of docs/lc0.md, 1.10.
    fn finish(&mut self, outcome: &MoveOutcome) {
        let Some(current) = self.current.take() else {
            // Something else changed the tree: what is in it next is no sample of tree reuse.
            self.last_nodes = 0;
            return;
        };
        let used = outcome.elapsed_ms.max(0.0).trunc();
        let allocated = current.allocated_ms;
        let share = if allocated > 0.0 { used / allocated } else { 1.0 };
        if current.bank_used {
            self.bank_ms = (self.bank_ms - (used - current.budget_ms).max(0.0)).max(0.0).trunc();
        }
        let sample = if current.bank_used { 1.0 } else { share };
        let rate = self.values.get(&TIMEUSE_UPDATE_RATE);
        let moved = exponential_decay(self.timeuse, sample, rate, self.average_moves(used));
        let least = self.values.get(&MIN_TIMEUSE);
        (self.timeuse, self.timeuse_limited) = (moved.max(least).min(f64::MAX), moved < least);
        self.last_nodes = outcome.total_nodes;
        self.nps.reliable = true;
    }

    fn estimates(&self) -> Estimates {
        Estimates {
            nps: Some(self.nps.estimate),
            tree_reuse: Some(self.reuse),
            timeuse: Some(self.timeuse),
            bank_ms: Some(self.bank_ms),
        }
    }

    fn set_nps(&mut self, nps: f64) {
        if nps.is_finite() {
            self.nps.estimate = nps.max(LEAST_NPS);
            self.nps.reliable = true;
        }
    }
}

/// Lc0's estimate of speed (docs/lc0.md, 1.8).
#[derive(Debug)]
struct Speed {
    estimate: f64,
    /// Whether a move has ended; until then the latest measurement alone is the estimate.
    reliable: bool,
    /// Time of the last update since the first batch of this move ended.
    updated_at_ms: f64,
    window_ms: f64,
}

impl Speed {
    fn observe(&mut self, since_first_batch_ms: f64, new_nodes: u64) {
        if since_first_batch_ms.is_nan() || since_first_batch_ms <= 0.0 {
            return;
        }
        let raw = new_nodes as f64 * MS_PER_SECOND / since_first_batch_ms;
        let fresh = !self.reliable || since_first_batch_ms <= self.updated_at_ms;
        let estimate = if fresh || raw >= self.estimate || since_first_batch_ms >= self.window_ms {
            raw
        } else {
            // The estimate is taken to lie on a line that reaches the measurement at the end of the window.
            let passed = self.updated_at_ms / self.window_ms;
            let start = (passed * raw - self.estimate) / (passed - 1.0);
            start + (raw - start) * since_first_batch_ms / self.window_ms
        };
        self.estimate = estimate.clamp(LEAST_NPS, f64::MAX);
        self.updated_at_ms = since_first_batch_ms;
    }
}

#[cfg(test)]
#[path = "lc0_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "lc0_reference_tests.rs"]
mod reference_tests;
