//! The inputs of the gain network, which describe a search's root and how it changed.

use crate::SearchSnapshot;
use std::collections::VecDeque;

/// Number of inputs of the gain network.
pub const INPUTS: usize = 17;
/// Growth of the tree over which visits are compared, as a factor.
const RECENT: f64 = 1.3;
/// Growth of the tree over which values are compared, as a factor.
const EARLIER: f64 = 2.0;
/// Growth of the tree from one kept state of the root to the next, as a factor.
pub(super) const KEPT_GROWTH: f64 = 1.1;
/// Nodes of the largest tree in the recordings; a larger tree counts as one of this size.
const LARGEST: f64 = 1_000.0;
/// Lead in value of a best move without a rival to compare with.
const NO_RIVAL: f64 = 1.0;
/// Small number that keeps logarithms of shares finite.
const EPSILON: f64 = 1e-9;

/// States of the root of a search, at growing numbers of nodes.
#[derive(Clone, Debug, Default)]
pub struct RootHistory {
    kept: VecDeque<Root>,
    best_move: Option<usize>,
    /// New nodes at the last change of the best move.
    changed_at: u64,
}

#[derive(Clone, Debug)]
struct Root {
    total_nodes: f64,
    visits: Vec<u32>,
    values: Vec<Option<f32>>,
}

impl RootHistory {
    /// Takes in the present root. Returns the inputs of the gain network, scaled so that most are between -1 and 1; `None`
    /// if the snapshot has no best move, or no value of that move.
    pub fn inputs(&mut self, now: &SearchSnapshot) -> Option<[f64; INPUTS]> {
        let best = now.best_move?;
        let value = |place: usize| now.root_values.get(place).copied().flatten().map(f64::from);
        let q = value(best)?;
        if self.best_move != Some(best) {
            (self.best_move, self.changed_at) = (Some(best), now.new_nodes);
        }
        let total = now.total_nodes.max(1) as f64;
        if self.kept.back().is_none_or(|last| last.total_nodes * KEPT_GROWTH <= total) {
            let (visits, values) = (now.root_visits.to_vec(), now.root_values.to_vec());
            self.kept.push_back(Root { total_nodes: total, visits, values });
        }
        while self.kept.get(1).is_some_and(|second| second.total_nodes * EARLIER <= total) {
            self.kept.pop_front();
        }
        let at = |factor: f64| {
            let is_old = |root: &&Root| root.total_nodes * factor <= total;
            self.kept.iter().rev().find(is_old).or_else(|| self.kept.front())
        };
        let (recent, earlier) = (at(RECENT)?, at(EARLIER)?);

        // Of the other moves the runner-up has the most visits, and the rival the best value.
        let visits = |place: usize| f64::from(now.root_visits.get(place).copied().unwrap_or(0));
        let others = || (0..now.root_visits.len()).filter(|place| *place != best);
        let runner_up = others().rev().max_by(|a, b| visits(*a).total_cmp(&visits(*b))).filter(|r| visits(*r) > 0.0);
        let rival = others().filter_map(|place| Some((place, value(place)?))).rev().max_by(|a, b| a.1.total_cmp(&b.1));
        let all = now.root_visits.iter().map(|count| f64::from(*count)).sum::<f64>().max(1.0);
        let (first, second) = (visits(best) / all, runner_up.map_or(0.0, visits) / all);
        let gap_to_runner_up = runner_up.and_then(value).map_or(NO_RIVAL, |value| q - value);
        let gap_to_rival = rival.map_or(NO_RIVAL, |(_, value)| q - value);
        let priors = now.root_priors.iter().map(|prior| f64::from(*prior)).sum::<f64>().max(EPSILON);
        let prior = |place: usize| now.root_priors.get(place).map_or(0.0, |prior| f64::from(*prior) / priors);
        let drift = |place: usize, now: f64| {
            let before = earlier.values.get(place).copied().flatten();
            before.map_or(0.0, |before| ((now - f64::from(before)) / 0.05).clamp(-2.0, 2.0))
        };
        let rival_facts = |(place, value)| [visits(place) / all, prior(place), drift(place, value)];
        let [rival_share, rival_prior, rival_drift] = rival.map_or([0.0; 3], rival_facts);
        let moved = divergence(&recent.visits, &now.root_visits);
        let age = ((now.new_nodes as f64 + 1.0) / (self.changed_at as f64 + 1.0)).max(1.0);
        Some([
            (libm::log(total.min(LARGEST)) - 6.0) / 2.0, // The tree's size, as a logarithm: 0 at 400 nodes.
            now.new_nodes as f64 / total * 2.0 - 1.0,    // The part of the tree that this search added.
            first * 2.0 - 1.0,                           // The best move's share of the visits.
            second * 4.0 - 1.0,                          // The runner-up's share of the visits.
            (first - second) * 2.0 - 1.0,                // The best move's lead in visits over the runner-up.
            libm::tanh(gap_to_rival / 0.05),             // The best move's lead in value over the rival, if small.
            libm::tanh(gap_to_rival / 0.2),              // The lead over the rival on a scale for large leads.
            libm::tanh(gap_to_runner_up / 0.05),         // The best move's lead in value over the runner-up, if small.
            libm::tanh(gap_to_runner_up / 0.2),          // The lead over the runner-up on a scale for large leads.
            (rival_share * 4.0).min(2.0) - 0.5,          // The rival's share of the visits.
            rival_prior * 4.0 - 0.5,                     // The rival's share of the policy.
            libm::log(moved + 1e-5) / 3.0 + 2.0,         // The recent change of the shares of visits, as a logarithm.
            prior(best) * 2.0 - 1.0,                     // The best move's share of the policy.
            libm::log(age).min(4.0) / 2.0 - 1.0,         // The growth of the search since the best move changed.
            drift(best, q),                              // The change of the best move's value while the tree doubled.
            rival_drift,                                 // The change of the rival's value while the tree doubled.
            q.abs() * 2.0 - 1.0,                         // The distance of the best move's value from a draw.
        ])
    }
}

/// The Kullback-Leibler divergence KL(`before` || `now`) of the shares of visits, in nats.
fn divergence(before: &[u32], now: &[u32]) -> f64 {
    let sum = |visits: &[u32]| visits.iter().map(|count| f64::from(*count)).sum::<f64>().max(1.0);
    let (all_before, all_now) = (sum(before), sum(now));
    let pairs = before.iter().zip(now).map(|(a, b)| (f64::from(*a) / all_before, f64::from(*b) / all_now));
    pairs.map(|(a, b)| a * libm::log((a + EPSILON) / (b + EPSILON))).sum::<f64>().max(0.0)
}
