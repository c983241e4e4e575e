//! [smooth]: crate::managers::smooth
#![doc = include_str!("../../../docs/smooth-alpha-beta.md")]

use super::{EXTENSION, OPENING, PLAIN_MOVE_BUDGET, PLAIN_TREE_REUSE, SCORE_DROP, Smooth, VISIT_SHARE};
use crate::SearchSnapshot;
use crate::estimators::moves_left::GROUPS;
use crate::params::{ManagerSpec, ParamSpec};
use crate::plan_builder::PlanBuilder;
use crate::unit::Unit;

pub(crate) const SPEC: ManagerSpec = ManagerSpec {
    name: "smooth",
    preset: Some("alpha-beta"),
    is_first: false,
    help: "Plain smooth for an engine that searches by iterations: it ends with one where it can.",
    params: &[NO_TREE_REUSE, PLAIN_MOVE_BUDGET, NO_OPENING, EXTENSION, SCORE_DROP, VISIT_SHARE],
    groups: GROUPS,
    build: |values| {
        let values = values.with_default_of(&NO_TREE_REUSE).with_default_of(&NO_OPENING);
        Box::new(Smooth::new(&values, "smooth(preset=alpha-beta)", Some(Iterations::default())))
    },
};

const NO_TREE_REUSE: ParamSpec = PLAIN_TREE_REUSE.defaulting_to(0.0);
// Nobody has measured it in such an engine.
const NO_OPENING: ParamSpec = OPENING.defaulting_to(1.0);

/// Share of a search's limit from which the end of an iteration ends the search.
const EARLIEST: f64 = 0.7;
/// Share of a search's limit up to which an iteration may go on.
const LATEST: f64 = 1.4;

/// The iterations of a search.
#[derive(Debug, Default)]
pub(super) struct Iterations {
    depth: u32,
}

impl Iterations {
    /// Begins a search.
    pub(super) fn begin(&mut self) {
        self.depth = 0;
    }

    /// Records between which times a search ends with an iteration, as long as its limit is its `budget`.
    pub(super) fn terms(&self, plan: &mut PlanBuilder, budget: f64, reserve: f64) {
        plan.term("earliest_end = 0.7 * limited_budget", EARLIEST * budget, Unit::Milliseconds);
        let name = "latest_end = min(1.4 * limited_budget, limited_budget + reserve)";
        plan.at_most(name, LATEST * budget, budget + reserve, Unit::Milliseconds);
    }

    /// The limit of a search that without iterations would end at `limit_ms`.
    pub(super) fn limit(&mut self, snapshot: &SearchSnapshot, limit_ms: f64) -> f64 {
        let has_ended = snapshot.average_depth > self.depth;
        self.depth = self.depth.max(snapshot.average_depth);
        limit_ms * if has_ended && snapshot.elapsed_ms >= EARLIEST * limit_ms { EARLIEST } else { LATEST }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MoveRequest, build};

    #[test]
    fn a_search_ends_with_an_iteration_where_it_can() {
        // Times in shares of the plain limit, and depths; the last one ends the search.
        for looks in [
            &[(0.5, 9), (0.69, 10), (0.71, 11)][..],
            &[(0.69, 9), (0.8, 9), (1.3, 9), (1.31, 10)],
            &[(0.69, 9), (1.39, 9), (1.4, 9)],
            // An end of an iteration that came too early does not count later.
            &[(0.69, 9), (0.75, 9), (0.99, 10)],
        ] {
            let mut manager = build("smooth(preset=alpha-beta,visit-share=0)").unwrap();
            let plan = manager.plan(&MoveRequest { clock_ms: 60_000.0, ..MoveRequest::default() });
            let stops = looks.iter().map(|(share, depth)| {
                let elapsed_ms = share * plan.budget_ms;
                let snapshot = SearchSnapshot { elapsed_ms, average_depth: *depth, ..SearchSnapshot::default() };
                manager.observe(&snapshot).stop.is_some()
            });
            let expected = (1..=looks.len()).map(|look| look == looks.len());
            assert!(stops.eq(expected), "{looks:?}");
        }
    }

    #[test]
    fn nothing_goes_past_the_hard_limit() {
        let mut manager = build("smooth(preset=alpha-beta,extension=0)").unwrap();
        let plan = manager.plan(&MoveRequest { clock_ms: 60_000.0, ..MoveRequest::default() });
        let mut stops = |elapsed_ms: f64| {
            manager.observe(&SearchSnapshot { elapsed_ms, ..SearchSnapshot::default() }).stop.is_some()
        };
        assert_eq!([0.99, 1.0].map(|share| stops(share * plan.hard_limit_ms)), [false, true]);
    }
}
