//! The builder of a [`Plan`], which cleans the request, records each quantity as the manager computes it, and ends with the
//! one guard that keeps any budget on the clock. So no explanation can go stale, and no manager can be unsafe.

use super::due;
use super::interface::MoveRequest;
use super::plan::{ESTIMATED_MOVES_LEFT, Plan, Term};
use super::unit::Unit;
use std::borrow::Cow;

/// Longest time that is believed, about 31 years: it keeps sums and products of absurd input finite.
pub(super) const MAX_MS: f64 = 1e12;

/// Capacity that suffices for the terms of most plans.
const USUAL_TERMS: usize = 32;

/// The formula of a budget or a reserve, and the value in milliseconds that a manager wants before the guard.
pub(super) type Wanted = (&'static str, f64);

/// The reserve of a manager that plans none.
pub(super) const NO_RESERVE: Wanted = ("", 0.0);

/// Collects the terms of one plan. A term is named as `name = formula`, see [`Term::formula`].
pub(super) struct PlanBuilder {
    manager: &'static str,
    request: MoveRequest,
    moves_left: f64,
    terms: Vec<Term>,
}

impl PlanBuilder {
    /// Cleans the request and records its values: times are neither negative nor absurd, and a `moves_to_go` of 0
    /// counts as absent.
    pub(crate) fn new(manager: &'static str, request: &MoveRequest) -> Self {
        let mut builder =
            Self { manager, request: request.clone(), moves_left: 1.0, terms: Vec::with_capacity(USUAL_TERMS) };
        builder.request.clock_ms = builder.input_ms("clock", request.clock_ms);
        builder.request.increment_ms = match request.missing_increment_ms > 0.0 {
            true => {
                let announced = builder.input_ms("announced_increment", request.increment_ms);
                let missing = believed_ms(request.missing_increment_ms).min(announced);
                builder.term("missing_increment = from earlier moves of the game", missing, Unit::Milliseconds);
                let name = "increment = announced_increment - missing_increment";
                builder.term(name, announced - missing, Unit::Milliseconds)
            }
            false => builder.input_ms("increment", request.increment_ms),
        };
        builder.request.overhead_ms = match request.lag_ms > 0.0 {
            true => {
                builder.input_ms("move_overhead", request.overhead_ms);
                let name = "lag = from earlier moves of the game";
                builder.term(name, believed_ms(request.lag_ms), Unit::Milliseconds);
                builder.input_ms("overhead = move_overhead + lag", request.whole_overhead_ms())
            }
            false => builder.input_ms("overhead", request.overhead_ms),
        };
        (builder.request.lag_ms, builder.request.missing_increment_ms) = (0.0, 0.0);
        builder.request.moves_to_go = request.moves_to_go.filter(|moves| *moves > 0);
        builder.term("ply", f64::from(request.ply), Unit::Plies);
        builder
    }

    pub(crate) fn request(&self) -> &MoveRequest {
        &self.request
    }

    /// Records a quantity, whose `name` is `name = formula`, and returns its value.
    pub(crate) fn term(&mut self, name: &'static str, value: f64, unit: Unit) -> f64 {
        self.push(name, value, unit, false)
    }

    /// Records a quantity whose own estimator may have limited it.
    pub(crate) fn estimate(&mut self, name: &'static str, value: f64, unit: Unit, limited: bool) -> f64 {
        self.push(name, value, unit, limited)
    }

    /// Records a quantity that must not be below `floor`.
    pub(crate) fn at_least(&mut self, name: &'static str, value: f64, floor: f64, unit: Unit) -> f64 {
        self.push(name, value.max(floor), unit, value < floor)
    }

    /// Records a quantity that must not be above `ceiling`.
    pub(crate) fn at_most(&mut self, name: &'static str, value: f64, ceiling: f64, unit: Unit) -> f64 {
        self.push(name, value.min(ceiling), unit, value > ceiling)
    }

    /// Records how many moves the clock has to serve, and where the estimate is from. `moves_to_go` can only lower that
    /// number (docs/lc0.md, 1.1), which is at least 1: the move to be made.
    pub(crate) fn moves_left(&mut self, estimate: f64, formula: &'static str) -> f64 {
        self.record(ESTIMATED_MOVES_LEFT, formula, estimate, Unit::Moves, false);
        let (formula, horizon) = match self.request.moves_to_go {
            Some(moves) => {
                let moves = self.term("moves_to_go", f64::from(moves), Unit::Moves);
                ("max(1, min(estimated_moves_left, moves_to_go))", estimate.min(moves))
            }
            None => ("max(1, estimated_moves_left)", estimate),
        };
        let moves_left = horizon.max(1.0);
        self.moves_left = self.record("moves_left", formula, moves_left, Unit::Moves, moves_left != estimate);
        self.moves_left
    }

    /// Records the moves that the clock has to serve, for a manager that gives each move the same share of the clock,
    /// in per cent, and estimates no moves left.
    pub(crate) fn moves_left_by_share(&mut self, share: f64) -> f64 {
        let names = ["moves_left = max(1, 100 / share)", "moves_left = max(1, min(100 / share, moves_to_go))"];
        self.moves_left_without_estimate(names, 100.0 / share, f64::min)
    }

    /// Records the moves that the clock has to serve, for a manager that takes the interface's `moves_to_go` as it is,
    /// even above its own `guess`.
    pub(crate) fn moves_left_of(&mut self, guess: f64) -> f64 {
        let names = ["moves_left = max(1, moves)", "moves_left = max(1, moves_to_go)"];
        self.moves_left_without_estimate(names, guess, |_, moves_to_go| moves_to_go)
    }

    /// Records the moves that the clock has to serve, from a manager's `own` number. `names` are the terms without and
    /// with a `moves_to_go`; `join` combines `own` with that.
    fn moves_left_without_estimate(&mut self, names: [&'static str; 2], own: f64, join: fn(f64, f64) -> f64) -> f64 {
        let (name, moves) = match self.request.moves_to_go {
            Some(moves) => (names[1], join(own, self.term("moves_to_go", f64::from(moves), Unit::Moves))),
            None => (names[0], own),
        };
        self.moves_left = self.at_least(name, moves, 1.0, Unit::Moves);
        self.moves_left
    }

    /// The guard of every plan: whatever a manager computed, its budget and its reserve are numbers, not negative, and
    /// end before the clock less the overhead. Where the overhead leaves nothing both are 0, and the search stops after
    /// its first evaluation.
    pub(crate) fn finish(
        mut self,
        (budget_formula, budget_ms): Wanted,
        (extra_formula, extra_ms): Wanted,
        target_nodes: Option<f64>,
    ) -> Plan {
        let safe = self.request.clock_ms - self.request.overhead_ms;
        let safe = self.at_least("safe_clock = max(0, clock - overhead)", safe, 0.0, Unit::Milliseconds);
        let on_clock = |value: f64, room: f64| {
            if value.is_nan() { 0.0 } else { value.clamp(0.0, room) }
        };
        let budget = on_clock(budget_ms, safe);
        self.record("budget", budget_formula, budget, Unit::Milliseconds, budget != budget_ms);
        let extra = on_clock(extra_ms, safe - budget);
        if extra_ms != 0.0 {
            self.record("extra", extra_formula, extra, Unit::Milliseconds, extra != extra_ms);
        }
        let hard_limit =
            self.at_most("hard_limit = min(budget + extra, safe_clock)", budget + extra, safe, Unit::Milliseconds);
        let due = self.due(hard_limit);
        Plan {
            manager: Cow::Borrowed(self.manager),
            budget_ms: budget,
            extra_ms: extra,
            hard_limit_ms: hard_limit,
            due_ms: due,
            target_nodes: target_nodes.map(finite),
            moves_left: self.moves_left,
            terms: self.terms,
        }
    }

    /// Records when an answer is due although nothing was evaluated ([`due`]).
    fn due(&mut self, hard_limit: f64) -> f64 {
        let latest = due::latest_ms(hard_limit, self.request.clock_ms);
        if let Some(evaluation) = self.request.evaluation_ms {
            let evaluation = believed_ms(evaluation);
            self.term("first_evaluation = from the batches so far", evaluation, Unit::Milliseconds);
            if !due::evaluation_fits(Some(evaluation), latest) {
                let formula = "from first_evaluation, which would take longer than half of the time that is left";
                return self.record("due", formula, 0.0, Unit::Milliseconds, true);
            }
        }
        let formula = "hard_limit + min((clock - hard_limit) / 2, max(hard_limit, 1000))";
        self.record("due", formula, latest, Unit::Milliseconds, false)
    }

    fn input_ms(&mut self, name: &'static str, value: f64) -> f64 {
        let clean = believed_ms(value);
        self.push(name, clean, Unit::Milliseconds, clean != value)
    }

    fn push(&mut self, name: &'static str, value: f64, unit: Unit, clamped: bool) -> f64 {
        // A search for one byte is much cheaper than that for " = ", and audits make millions of terms.
        let (name, formula) = name.split_once('=').unwrap_or((name, ""));
        self.record(name.trim_ascii_end(), formula.trim_ascii_start(), value, unit, clamped)
    }

    fn record(&mut self, name: &'static str, formula: &'static str, value: f64, unit: Unit, clamped: bool) -> f64 {
        let clean = finite(value);
        self.terms.push(Term {
            name: Cow::Borrowed(name),
            formula: Cow::Borrowed(formula),
            value: clean,
            unit,
            clamped: clamped || clean != value,
        });
        clean
    }
}

impl Plan {
    /// The plan of a manager from elsewhere: a budget and a reserve in milliseconds, which the guard of every plan keeps
    /// on the clock less the overhead, and the nodes that the tree should have at the end.
    pub fn new(
        manager: &'static str,
        request: &MoveRequest,
        budget_ms: f64,
        extra_ms: f64,
        target_nodes: Option<f64>,
    ) -> Plan {
        let formula = "from the manager";
        PlanBuilder::new(manager, request).finish((formula, budget_ms), (formula, extra_ms), target_nodes)
    }
}

/// A time in milliseconds from outside, cleaned: neither negative nor absurd.
pub(super) fn believed_ms(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(0.0, MAX_MS) }
}

/// A number that JSON can hold. Cleaned input and ranged parameters keep every term of today's managers finite by
/// themselves.
fn finite(value: f64) -> f64 {
    if value.is_nan() { 0.0 } else { value.clamp(f64::MIN, f64::MAX) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn builder(clock_ms: f64, overhead_ms: f64) -> PlanBuilder {
        PlanBuilder::new("test", &MoveRequest { clock_ms, overhead_ms, ..MoveRequest::default() })
    }

    #[test]
    fn guard_keeps_any_budget_on_the_clock() {
        for (budget, extra, clock, overhead, expected) in [
            (300.0, 100.0, 1_000.0, 200.0, (300.0, 100.0, 400.0)),
            (300.0, 900.0, 1_000.0, 200.0, (300.0, 500.0, 800.0)),
            (900.0, 900.0, 1_000.0, 200.0, (800.0, 0.0, 800.0)),
            (-5.0, -5.0, 1_000.0, 200.0, (0.0, 0.0, 0.0)),
            (f64::NAN, f64::NAN, 1_000.0, 200.0, (0.0, 0.0, 0.0)),
            (f64::INFINITY, f64::NEG_INFINITY, 1_000.0, 200.0, (800.0, 0.0, 800.0)),
            (300.0, 100.0, 100.0, 200.0, (0.0, 0.0, 0.0)),
            (300.0, 100.0, -100.0, 0.0, (0.0, 0.0, 0.0)),
        ] {
            let plan = builder(clock, overhead).finish(("", budget), ("", extra), None);
            assert_eq!((plan.budget_ms, plan.extra_ms, plan.hard_limit_ms), expected);
        }
    }

    #[test]
    fn moves_to_go_only_shortens_the_horizon() {
        for (estimate, moves_to_go, expected, clamped) in [
            (30.0, None, 30.0, false),
            (30.0, Some(0), 30.0, false),
            (30.0, Some(10), 10.0, true),
            (30.0, Some(40), 30.0, false),
            (30.0, Some(u32::MAX), 30.0, false),
            (0.2, None, 1.0, true),
        ] {
            let request = MoveRequest { moves_to_go, ..MoveRequest::default() };
            let mut builder = PlanBuilder::new("test", &request);
            assert_eq!(builder.moves_left(estimate, ""), expected);
            let plan = builder.finish(NO_RESERVE, NO_RESERVE, None);
            assert_eq!(plan.term("moves_left").unwrap().clamped, clamped, "{estimate} {moves_to_go:?}");
        }
    }
}
