#![doc = include_str!("../../../docs/human.md")]

mod control;
mod curve;

use crate::grammar::{self, Content, Entry};
use crate::params::{ManagerSpec, ParamValues, param_specs};
use crate::plan::Plan;
use crate::plan_builder::PlanBuilder;
use crate::specification;
use crate::unit::Unit;
use crate::{MS_PER_SECOND, MoveOutcome, MoveRequest, SearchSnapshot, StopReason, TimeManager, Verdict};
use control::Control;
pub use curve::Curve;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use std::f64::consts::TAU;

param_specs! {
    ELO "elo" 1500.0 600.0 3000.0 Ratio "Rating on lichess of the person whose time is taken.";
    OPPONENT_PACE "opponent-pace" 0.0 0.0 1.0 Ratio
        "How far the opponent's own pace is followed: 0 not at all, 1 wholly.";
    FLAG "flag" 0.0 0.0 1.0 Ratio
        "How far the flag may fall as a person's does: 0 never, 1 where the clock is shorter than a person's move.";
    SEED "seed" 1.0 0.0 1e9 Ratio "Seed of the spread.";
}

pub(super) const SPEC: ManagerSpec = ManagerSpec {
    name: "human",
    preset: None,
    is_first: true,
    help: "The time that a person of a rating would take; a search that ends before it waits with its move.",
    params: &[ELO, OPPONENT_PACE, FLAG, SEED],
    groups: &[],
    build: |values| Box::new(Human::new(values)),
};

/// The rating that a specification of this manager names; `None` for another manager.
pub fn rating_of(spec: &str) -> Option<f64> {
    let (manager, values) = specification::resolve(spec, super::ALL).ok()?;
    (manager.name == SPEC.name).then(|| values.get(&ELO))
}

/// The specification with `seed` added if it is one of this manager without a seed; any other unchanged.
pub fn with_seed(spec: &str, seed: u64) -> String {
    let mut entries = grammar::parse(spec).unwrap_or_default();
    if let [Entry { name, content: Content::Group(params), .. }] = entries.as_mut_slice()
        && name == SPEC.name
        && params.iter().all(|param| param.name != SEED.name)
    {
        let content = Content::Number((seed % SEED.max as u64) as f64);
        params.push(Entry { name: SEED.name.to_owned(), content, offset: 0 });
        return entries[0].to_string();
    }
    spec.to_owned()
}

/// Standard deviation of the logarithm of a move's time.
const SPREAD: f64 = 0.8;
/// Correlation of that logarithm with the one of the move before.
const PERSISTENCE: f64 = 0.55;
/// Largest share of the clock for a move.
const MOST_OF_CLOCK: f64 = 0.35;
/// Factor on the curve with an increment: without it 0.93 of the curve was used at 3+2.
const WITH_INCREMENT: f64 = 1.1;
/// Share of the initial time below which a move takes less than the curve says.
const SHORT_OF_TIME: f64 = 0.25;

/// Exponent on the ratio of the clock to the usual clock, for a factor on a move's time.
const AHEAD_POWER: f64 = 0.3;
/// Bounds of that factor.
const AHEAD: (f64, f64) = (0.8, 1.25);

/// Factor on the time of a forced move.
const FORCED: f64 = 0.3;
/// Factor on the time of a move that may take the piece which has just captured.
const RECAPTURE: f64 = 0.4;
/// Probability that a forced move or a recapture is a premove, decided before the opponent has moved: with little time
/// on the clock, and otherwise.
const PREMOVES: (f64, f64) = (0.5, 0.1);
/// Time on the clock, in milliseconds, below which it is little for [`PREMOVES`].
const PREMOVE_CLOCK_MS: f64 = 20_000.0;

/// Prior below which the opponent's reply is a surprise.
const EXPECTED_PRIOR: f64 = 0.1;
/// Part by which a reply of prior 0 prolongs our next move.
const SURPRISE: f64 = 0.4;
/// Usual entropy of the policy, in nats.
const USUAL_ENTROPY: f64 = 1.6;
/// Part of a move's time that is proportional to the entropy of the policy.
const ENTROPY_PART: f64 = 0.5;
/// Change of the best move's value since our last move that prolongs a move by half; larger changes do no more.
const SWING: f64 = 0.4;
/// Bounds of the factor that the running search puts on a move's time ([`Human::seen`]).
const SEEN: (f64, f64) = (0.4, 2.0);
/// Weight of one move in [`Human::usual_factor`].
const FACTOR_UPDATE: f64 = 0.05;
/// Weight of one move in the opponent's pace.
const PACE_UPDATE: f64 = 0.15;
/// Largest pace that a single move of the opponent's counts with.
const MOST_PACE: f64 = 4.0;

/// A move that is being searched.
#[derive(Clone, Copy, Debug)]
struct CurrentMove {
    /// Planned time, before the search has shown the position's policy and value.
    budget_ms: f64,
    hard_limit_ms: f64,
    /// Time that the move takes at least, even if the clock runs out (the parameter `flag`); 0 if that is 0.
    least_ms: f64,
    /// The time of the answer, once the search has shown the position.
    answer_ms: Option<f64>,
    /// Factor by what is known before the search: a forced move, a recapture or a surprise.
    situation: f64,
    /// Whether the move needs no thought: it is forced, or a recapture is possible.
    is_obvious: bool,
    value: Option<f64>,
}

#[derive(Debug)]
struct Human {
    values: ParamValues,
    control: Option<Control>,
    /// State from which every random number is drawn.
    state: u64,
    /// Deviation of the last move's time, in standard deviations of its logarithm.
    deviation: f64,
    /// Mean over the moves so far of the factors of their positions, before and in the search.
    usual_factor: f64,
    /// The opponent's times as a multiple of those of the curve, on average.
    pace: f64,
    last_value: Option<f64>,
    current: Option<CurrentMove>,
}

impl Human {
    fn new(values: &ParamValues) -> Self {
        Self {
            values: values.clone(),
            control: None,
            state: values.get(&SEED) as u64,
            deviation: 0.0,
            usual_factor: 1.0,
            pace: 1.0,
            last_value: None,
            current: None,
        }
    }

    /// Takes in the opponent's last move.
    fn see_opponent(&mut self, control: &mut Control, request: &MoveRequest) {
        let now_ms = request.opponent_clock_ms.filter(|ms| ms.is_finite());
        if let (Some(before_ms), Some(now_ms)) = (control.opponent_clock_ms, now_ms) {
            let used_ms = before_ms - now_ms + request.increment_ms;
            let usual_ms = MS_PER_SECOND * control.curve().mean_s(f64::from(control.number.max(1)));
            self.pace += PACE_UPDATE * ((used_ms / usual_ms).clamp(0.0, MOST_PACE) - self.pace);
        }
        control.opponent_clock_ms = now_ms;
    }

    /// A generator of random numbers for this move. It depends on the seed, the earlier moves and this position, but
    /// not on this move's clock: with more time the same numbers are drawn.
    fn random(&mut self, request: &MoveRequest) -> Xoshiro256PlusPlus {
        for fact in [Some(request.ply), request.legal_moves, request.captures, request.pieces] {
            self.mix(u64::from(fact.unwrap_or(0)));
        }
        Xoshiro256PlusPlus::seed_from_u64(self.state)
    }

    /// Mixes a fact into the state from which random numbers are drawn.
    fn mix(&mut self, fact: u64) {
        self.state = Xoshiro256PlusPlus::seed_from_u64(self.state ^ fact).random();
    }

    /// The factor on the move's time by what the search shows: the entropy of the policy and the change of the value.
    fn seen(&self, current: &CurrentMove, snapshot: &SearchSnapshot) -> f64 {
        if current.is_obvious {
            return 1.0;
        }
        let sum: f64 = snapshot.root_priors.iter().map(|prior| f64::from(*prior)).sum();
        let shares = snapshot.root_priors.iter().map(|prior| f64::from(*prior) / sum).filter(|share| *share > 0.0);
        let entropy: f64 = shares.map(|share| -share * libm::log(share)).sum();
        let by_entropy = 1.0 - ENTROPY_PART + ENTROPY_PART * entropy / USUAL_ENTROPY;
        let change = snapshot.best_value.zip(self.last_value).map_or(0.0, |(now, before)| (now - before).abs());
        let by_swing = 1.0 + 0.5 * (change / SWING).min(1.0);
        let seen = by_entropy * by_swing;
        if seen.is_finite() { seen.clamp(SEEN.0, SEEN.1) } else { 1.0 }
    }
}

impl TimeManager for Human {
    fn name(&self) -> &'static str {
        SPEC.name
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        use Unit::{Milliseconds, Moves, Percent, Ratio, Seconds};
        let mut plan = PlanBuilder::new(SPEC.name, request);
        let request = plan.request().clone();
        let number = (request.ply / 2).saturating_add(1);
        let mut control = Control::at(self.control, &request, number, self.values.get(&ELO));
        self.see_opponent(&mut control, &request);
        self.control = Some(control);
        let initial = plan.term("initial = from the first clock of the game", control.initial_s, Seconds);
        let number = plan.term("move_number = 1 + whole(ply / 2)", f64::from(number), Moves);
        let by_increment = if request.increment_ms > 0.0 { WITH_INCREMENT } else { 1.0 };
        let curve = by_increment * MS_PER_SECOND * control.curve().mean_s(number);
        let curve = plan.term("curve = from people of this rating at this move", curve, Milliseconds);
        let share = if request.clock_ms > 0.0 { 100.0 * curve / request.clock_ms } else { 100.0 };
        let share = plan.at_most("share = min(100, 100 * curve / clock)", share, 100.0, Percent);
        plan.moves_left_by_share(share);
        let short = MS_PER_SECOND * SHORT_OF_TIME * initial;
        let short = if short > 0.0 { request.clock_ms / short } else { 1.0 };
        let short = plan.at_most("short_of_time = min(1, clock / (250 * initial))", short, 1.0, Ratio);
        let usual_ms = MS_PER_SECOND * control.expected_s();
        let usual_clock = plan.term("usual_clock = from people at this move", usual_ms, Milliseconds);
        let ahead = if usual_clock > 0.0 { libm::pow(request.clock_ms / usual_clock, AHEAD_POWER) } else { 1.0 };
        let ahead =
            plan.term("ahead = from clock / usual_clock, to the power of 0.3", ahead.clamp(AHEAD.0, AHEAD.1), Ratio);
        let pace = libm::pow(self.pace, self.values.get(&OPPONENT_PACE));
        let pace = plan.term("pace = from the opponent's times, to the power of opponent-pace", pace, Ratio);

        let mut random = self.random(&request);
        let normal =
            libm::sqrt(-2.0 * libm::log(1.0 - random.random::<f64>())) * libm::cos(TAU * random.random::<f64>());
        self.deviation = PERSISTENCE * self.deviation + libm::sqrt(1.0 - PERSISTENCE * PERSISTENCE) * normal;
        let spread = libm::exp(SPREAD * self.deviation - SPREAD * SPREAD / 2.0);
        let spread = plan.term("spread = from the seed and the move before", spread, Ratio);

        let is_forced = request.legal_moves == Some(1);
        let is_obvious = is_forced || request.recaptures.is_some_and(|moves| moves > 0);
        let premoves = if request.clock_ms < PREMOVE_CLOCK_MS { PREMOVES.0 } else { PREMOVES.1 };
        let is_premove = random.random::<f64>() < premoves && is_obvious;
        let surprise = request.reply_prior.map_or(0.0, |prior| (1.0 - prior / EXPECTED_PRIOR).clamp(0.0, 1.0));
        let situation = match (is_forced, is_obvious) {
            (true, _) => FORCED,
            (_, true) => RECAPTURE,
            _ => 1.0 + SURPRISE * surprise,
        };
        let situation = plan.term("situation = from forced moves, recaptures and unexpected replies", situation, Ratio);
        let usual = plan.term("usual_situation = from the moves so far", self.usual_factor, Ratio);
        let premove = plan.term("premove = from the seed", f64::from(u8::from(is_premove)), Ratio);
        let flag = self.values.get(&FLAG);
        let least_ms = flag * MS_PER_SECOND * control.curve().tail_s * spread * situation * (1.0 - premove);
        if flag > 0.0 {
            plan.term("least = from flag, the tail of the curve, spread and situation", least_ms, Milliseconds);
        }
        let wanted = curve * short * ahead * pace * spread * situation / usual * (1.0 - premove);
        let most = MOST_OF_CLOCK * request.clock_ms;
        let formula = "min(curve * short_of_time * ahead * pace * spread * situation / usual_situation * (1 - premove), 0.35 * clock)";
        let budget = wanted.min(most);
        let plan =
            plan.finish((formula, budget), ("min(budget, 0.35 * clock - budget)", budget.min(most - budget)), None);
        self.current = Some(CurrentMove {
            budget_ms: plan.budget_ms,
            hard_limit_ms: plan.hard_limit_ms,
            least_ms,
            answer_ms: None,
            situation,
            is_obvious,
            value: None,
        });
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        let Some(mut current) = self.current.take() else { return Verdict::default() };
        current.value = snapshot.best_value.filter(|value| value.is_finite()).or(current.value);
        let answer_ms = match current.answer_ms {
            None if !snapshot.root_priors.is_empty() || current.is_obvious => {
                let seen = self.seen(&current, snapshot);
                self.usual_factor += FACTOR_UPDATE * (current.situation * seen - self.usual_factor);
                *current.answer_ms.insert((current.budget_ms * seen).min(current.hard_limit_ms).max(current.least_ms))
            }
            known => known.unwrap_or(current.budget_ms),
        };
        self.current = Some(current);
        let limit_ms = answer_ms.min(current.hard_limit_ms);
        Verdict { answer_from_ms: Some(answer_ms), ..Verdict::at_limit(snapshot, limit_ms, StopReason::Time) }
    }

    fn wants_root_priors(&self) -> bool {
        self.current.is_some_and(|current| current.answer_ms.is_none())
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        if let Some(current) = self.current.take() {
            self.last_value = current.value;
            self.mix(outcome.elapsed_ms.to_bits() ^ outcome.total_nodes);
        } else {
            self.last_value = None;
        }
    }
}

#[cfg(test)]
mod tests;
