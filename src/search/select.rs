//! Which children of a node get the visits that come by (lc0.md C.2).

use super::gather::{Horizon, Rules};
use super::node::{Node, NodeId};
use super::puct::Selector;
use super::tree::Tree;

/// A share of the visits of a node: the number of a move and the visits it gets.
pub(super) type Share = (u8, u32);

/// A move that may be chosen.
#[derive(Clone, Copy)]
struct Candidate {
    index: u8,
    /// Visits it got this time.
    given: u32,
    /// Its visits, those on their way among them, plus one.
    divisor: u32,
    /// Q and the moves-left utility.
    utility: f32,
    u_numerator: f32,
    score: f32,
}

impl Candidate {
    fn new(index: usize, utility: f32, u_numerator: f32, n_started: u32) -> Candidate {
        let divisor = n_started + 1;
        Candidate { index: index as u8, given: 0, divisor, utility, u_numerator, score: utility + u_numerator / divisor as f32 }
    }

    fn give(&mut self, visits: u32) {
        self.given += visits;
        self.divisor += visits;
        self.score = self.utility + self.u_numerator / self.divisor as f32;
    }

    /// Visits that it certainly gets before `rival` is as good, one at least.
    fn visits_before(&self, rival: f32) -> u32 {
        let gap = rival - self.utility;
        if gap <= 0.0 {
            return u32::MAX;
        }
        // The divisor at which the scores are equal; the cast saturates.
        ((self.u_numerator / gap) as u32).saturating_sub(self.divisor).max(1)
    }
}

/// Deals visits out to the children of a node. It keeps its memory from one node to the next.
#[derive(Default)]
pub(super) struct Dealer {
    candidates: Vec<Candidate>,
    shares: Vec<Share>,
}

impl Dealer {
    /// Deals `visits` out to the children of the expanded node `id`, `depth` plies below the root, as choosing the highest
    /// score for each in turn would, the first move of equals. A share may go to the first move without a node.
    pub fn deal(
        &mut self,
        tree: &Tree,
        id: NodeId,
        depth: u32,
        visits: u32,
        rules: &Rules,
        horizon: &Horizon,
    ) -> &[Share] {
        self.shares.clear();
        let node = &tree[id];
        let Some(view) = tree.view(node) else { return &self.shares };
        let selector = Selector::new(node, depth, rules.params, rules.draw, rules.has_moves_left);
        self.candidates.clear();
        // Unvisited children are valued when it is known how much of the policy was visited.
        let (mut visited_policy, mut unvisited) = (0.0, false);
        let mut index = 0;
        for child in tree.children(&view, node).flatten() {
            let p = view.p(index);
            let mut utility = 0.0;
            if child.n > 0 {
                visited_policy += p;
                let (q, m) = selector.visited(child);
                utility = q + m;
            } else {
                unvisited = true;
            }
            self.candidates.push(Candidate::new(index, utility, selector.u_numerator(p), child.n_started()));
            index += 1;
        }
        let fpu = selector.unvisited(visited_policy);
        if unvisited {
            let children = tree.children(&view, node).flatten();
            for (candidate, _) in self.candidates.iter_mut().zip(children).filter(|(_, child)| child.n == 0) {
                candidate.utility = fpu;
                candidate.give(0);
            }
        }
        // Sorted by prior, no later untried move can score higher than the first.
        let at_root = depth == 0;
        let next_untried = |from| (from..view.moves.len()).find(|next| !at_root || rules.allows(view.moves[*next]));
        let untried = |index: usize| Candidate::new(index, fpu, selector.u_numerator(view.p(index)), 0);
        let mut fresh = next_untried(index);
        self.candidates.extend(fresh.map(untried));
        if at_root {
            self.keep_allowed(tree, node, rules, horizon);
        }
        let mut left = visits;
        while left > 0 {
            let (best, rival) = best_and_rival(&self.candidates);
            let candidate = &mut self.candidates[best];
            let is_fresh = fresh == Some(usize::from(candidate.index));
            let visits = if is_fresh { 1 } else { candidate.visits_before(rival).min(left) };
            candidate.give(visits);
            left -= visits;
            if is_fresh {
                // With an untried move its successor joins in.
                fresh = fresh.and_then(|index| next_untried(index + 1));
                self.candidates.extend(fresh.map(untried));
            }
        }
        self.shares.extend(self.candidates.iter().filter(|candidate| candidate.given > 0).map(|c| (c.index, c.given)));
        &self.shares
    }

    /// At the root: only the moves asked for, and of them only those that can still catch up with the best, if any.
    fn keep_allowed(&mut self, tree: &Tree, root: &Node, rules: &Rules, horizon: &Horizon) {
        let Some(view) = tree.view(root) else { return };
        if self.candidates.iter().any(|candidate| rules.allows(view.moves[usize::from(candidate.index)])) {
            self.candidates.retain(|candidate| rules.allows(view.moves[usize::from(candidate.index)]));
        }
        let Some(best) = horizon.best_edge else { return };
        let visits = |index: usize| tree.existing_child(root, index).map_or(0, |child| tree[child].n);
        let best_visits = visits(best);
        let hopeful = |candidate: &Candidate| {
            let index = usize::from(candidate.index);
            index == best || horizon.playouts_expected >= f64::from(best_visits.saturating_sub(visits(index)))
        };
        if self.candidates.iter().any(hopeful) {
            self.candidates.retain(hopeful);
        }
    }
}

/// The place of the highest score, the first of equals, and the next highest of the others.
fn best_and_rival(candidates: &[Candidate]) -> (usize, f32) {
    let (mut best, mut highest, mut rival) = (0, f32::NEG_INFINITY, f32::NEG_INFINITY);
    for (place, candidate) in candidates.iter().enumerate() {
        if candidate.score > highest {
            rival = highest;
            (best, highest) = (place, candidate.score);
        } else if candidate.score > rival {
            rival = candidate.score;
        }
    }
    (best, rival)
}
