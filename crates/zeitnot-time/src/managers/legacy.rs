//! [mle-legacy]: crate::estimators::moves_left#mle-legacy
#![doc = include_str!("../../docs/legacy.md")]

use crate::estimators::moves_left::MleLegacy;
use crate::params::{ManagerSpec, ParamValues, param_specs};
use crate::plan::Plan;
use crate::plan_builder::{MAX_MS, NO_RESERVE, PlanBuilder};
use crate::unit::Unit;
use crate::{Estimates, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};

param_specs! {
    SLOWMOVER "slowmover" 1.0 0.0 100.0 Ratio "Scales every budget; above 1 the game starts slower and ends faster.";
    MIDPOINT_MOVE "midpoint-move" 51.5 1.0 1000.0 Moves "Median length of a game, for the estimate of moves left.";
    STEEPNESS "steepness" 7.0 0.1 100.0 Ratio "How narrowly game lengths gather around the midpoint.";
    IMMEDIATE_USE "immediate-use" 1.0 0.0 1.0 Ratio
        "Fraction of the time that earlier moves left over which goes to the next move; the rest is kept back.";
    FIRST_MOVE_BONUS "first-move-bonus" 1.8 0.0 1000.0 Ratio
        "Extra time of the first move of a game, as a multiple of its share.";
    BOOK_PLY_BONUS "book-ply-bonus" 0.25 0.0 1000.0 Ratio
        "The same for every ply that a book played before the first move, of at most 12.";
}

/// Most plies played from a book that count for the bonus of the first move after it (docs/lc0.md, 1.4: step 4).
const MAX_BOOK_PLIES: u32 = 12;
/// Time, in milliseconds, up to which a `slowmover` above 1 lengthens no move, so that in time trouble no time is
/// borrowed from later moves (docs/lc0.md, 1.4: step 5).
const SLOW_MOVE_MS: f64 = 200.0;

pub(super) const SPEC: ManagerSpec = ManagerSpec {
    name: "legacy",
    preset: None,
    is_first: true,
    help: "Lc0's default: an equal share of the remaining game for every move, and the time that earlier moves left over.",
    params: &[SLOWMOVER, MIDPOINT_MOVE, STEEPNESS, IMMEDIATE_USE, FIRST_MOVE_BONUS, BOOK_PLY_BONUS],
    groups: &[],
    build: |values| Box::new(Legacy::new(values)),
};

#[derive(Debug)]
struct Legacy {
    values: ParamValues,
    moves_left: MleLegacy,
    /// Time that earlier moves left over, whole milliseconds; a debt when negative.
    spared_ms: f64,
    is_first_move: bool,
    hard_limit_ms: Option<f64>,
}

impl Legacy {
    fn new(values: &ParamValues) -> Self {
        Self {
            moves_left: MleLegacy::of(values.get(&MIDPOINT_MOVE), values.get(&STEEPNESS)),
            values: values.clone(),
            spared_ms: 0.0,
            is_first_move: true,
            hard_limit_ms: None,
        }
    }
}

impl TimeManager for Legacy {
    fn name(&self) -> &'static str {
        SPEC.name
    }

    /// Plans by the formulas of docs/lc0.md, 1.4, one term per quantity.
    fn plan(&mut self, request: &MoveRequest) -> Plan {
        use Unit::{Milliseconds, Ratio};
        let slowmover = self.values.get(&SLOWMOVER);
        let mut plan = PlanBuilder::new(SPEC.name, request);
        let MoveRequest { clock_ms, increment_ms, overhead_ms, .. } = *plan.request();
        let moves_left = plan.moves_left(self.moves_left.estimate(request.ply), "from mle-legacy");

        let game = clock_ms + increment_ms * (moves_left - 1.0) - overhead_ms;
        let name = "game_time = max(0, clock + increment * (moves_left - 1) - overhead)";
        let mut game = plan.at_least(name, game, 0.0, Milliseconds);
        let (mut from_spared, mut name) = (0.0, "share = game_time / moves_left");
        if self.spared_ms > 0.0 {
            let spared = plan.term("spared = from earlier moves", self.spared_ms, Milliseconds);
            game = plan.at_least("unspared_game_time = max(0, game_time - spared)", game - spared, 0.0, Milliseconds);
            from_spared = (spared * self.values.get(&IMMEDIATE_USE)).trunc();
            self.spared_ms -= from_spared;
            name = "share = unspared_game_time / moves_left";
        }
        let mut share = plan.term(name, game / moves_left, Milliseconds);
        if std::mem::take(&mut self.is_first_move) {
            let book_plies = f64::from(request.ply.min(MAX_BOOK_PLIES));
            let factor = plan.term(
                "first_move = 1 + first-move-bonus + book-ply-bonus * min(12, ply)",
                1.0 + self.values.get(&FIRST_MOVE_BONUS) + self.values.get(&BOOK_PLY_BONUS) * book_plies,
                Ratio,
            );
            share = plan.term("first_share = share * first_move", share * factor, Milliseconds);
        }
        let mut name = "share_and_spared = whole(max(share, first_share) + whole(spared * immediate-use))";
        if slowmover < 1.0 || share * slowmover > SLOW_MOVE_MS {
            self.spared_ms = (self.spared_ms - share * (slowmover - 1.0)).trunc().clamp(-MAX_MS, MAX_MS);
            let slowmover = plan.term("slowmover = slowmover", slowmover, Ratio);
            name = "share_and_spared = whole(paced_share + whole(spared * immediate-use))";
            share = plan.term("paced_share = max(share, first_share) * slowmover", share * slowmover, Milliseconds);
        }
        let budget = plan.term(name, (share + from_spared).trunc(), Milliseconds);
        let plan = plan.finish(("share_and_spared", budget), NO_RESERVE, None);
        self.hard_limit_ms = Some(plan.hard_limit_ms);
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        self.hard_limit_ms.map_or_else(Verdict::default, |limit| Verdict::at_limit(snapshot, limit, StopReason::Time))
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        // A time that is not a number says nothing, and no game is long enough for the bound.
        if let Some(limit_ms) = self.hard_limit_ms.take().filter(|_| outcome.elapsed_ms.is_finite()) {
            self.spared_ms = (self.spared_ms + (limit_ms - outcome.elapsed_ms).trunc()).clamp(-MAX_MS, MAX_MS);
        }
    }

    fn estimates(&self) -> Estimates {
        Estimates { bank_ms: Some(self.spared_ms.max(0.0)), ..Estimates::default() }
    }
}
