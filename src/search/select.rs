//! Which children of a node get the visits that come by (lc0.md C.2).

use super::body::{self, View};
use super::gather::{Horizon, Rules};
use super::node::{Node, NodeId};
use super::packed::PackedMove;
use super::puct::Selector;
use super::tree::Tree;

/// A share of the visits of a node.
#[derive(Clone, Copy)]
pub(super) struct Share {
    /// The number of the move.
    pub edge: u8,
    pub mv: PackedMove,
    /// The child, if there is a node for it.
    pub node: Option<NodeId>,
    pub visits: u32,
}

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
}

impl Candidate {
    #[inline]
    fn new(index: usize, utility: f32, u_numerator: f32, n_started: u32) -> Candidate {
        Candidate { index: index as u8, given: 0, divisor: n_started + 1, utility, u_numerator }
    }

    #[inline]
    fn score(&self) -> f32 {
        self.utility + self.u_numerator / self.divisor as f32
    }

    fn give(&mut self, visits: u32) {
        self.given += visits;
        self.divisor += visits;
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
    /// Their scores, apart: they are looked through for each share.
    scores: Vec<f32>,
    /// Children that no visit has come back from.
    unvisited: Vec<u8>,
    shares: Vec<Share>,
}

impl Dealer {
    /// Deals `visits` out to the children of the expanded node `id`, `depth` plies below the root, as choosing the highest
    /// score for each in turn would, the first move of equals. A share may go to the first moves without a node.
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
        if visits == 1 && depth > 0 {
            self.shares.push(share(&view, node, best(tree, &view, node, &selector), 1));
            return &self.shares;
        }
        let noise = tree.root_noise().filter(|_| depth == 0);
        let fpu = match noise {
            Some(noise) => self
                .gather_candidates(tree, &view, node, &selector, |index, child| noise.prior(&view, index, Some(child))),
            None => self.gather_candidates(tree, &view, node, &selector, |index, _| view.p(index)),
        };
        // Sorted by prior, no later untried move can score higher than the first.
        let at_root = depth == 0;
        let next_untried = |from| (from..view.moves.len()).find(|next| !at_root || rules.allows(view.moves[*next]));
        let untried = |index: usize| Candidate::new(index, fpu, selector.u_numerator(view.p(index)), 0);
        let mut fresh = next_untried(usize::from(node.children));
        self.candidates.extend(fresh.map(untried));
        if at_root {
            self.keep_allowed(tree, &view, node, rules, horizon);
        }
        self.scores.clear();
        self.scores.extend(self.candidates.iter().map(Candidate::score));
        let mut left = visits;
        while left > 0 {
            let (best, rival) = best_and_rival(&self.scores);
            let candidate = &mut self.candidates[best];
            let is_fresh = fresh == Some(usize::from(candidate.index));
            let visits = if is_fresh { 1 } else { candidate.visits_before(rival).min(left) };
            candidate.give(visits);
            self.scores[best] = candidate.score();
            left -= visits;
            if is_fresh {
                // With an untried move its successor joins in.
                fresh = fresh.and_then(|index| next_untried(index + 1));
                self.candidates.extend(fresh.map(untried));
                self.scores.extend(fresh.map(|index| untried(index).score()));
            }
        }
        let dealt = self.candidates.iter().filter(|candidate| candidate.given > 0);
        self.shares.extend(dealt.map(|candidate| share(&view, node, usize::from(candidate.index), candidate.given)));
        &self.shares
    }

    /// Takes up the children there are nodes for. Returns the value of an unvisited move.
    #[inline]
    fn gather_candidates(
        &mut self,
        tree: &Tree,
        view: &View,
        node: &Node,
        selector: &Selector,
        prior: impl Fn(usize, &Node) -> f32,
    ) -> f32 {
        self.candidates.clear();
        // Unvisited children are valued when it is known how much of the policy was visited.
        self.unvisited.clear();
        let (mut visited_policy, mut index) = (0.0, 0);
        for segment in tree.children(view, node) {
            for child in segment {
                let p = prior(index, child);
                let mut utility = 0.0;
                if child.n > 0 {
                    visited_policy += p;
                    utility = selector.visited(child);
                } else {
                    self.unvisited.push(index as u8);
                }
                self.candidates.push(Candidate::new(index, utility, selector.u_numerator(p), child.n_started()));
                index += 1;
            }
        }
        let fpu = selector.unvisited(visited_policy);
        for index in &self.unvisited {
            self.candidates[usize::from(*index)].utility = fpu;
        }
        fpu
    }

    /// At the root: only the moves asked for, and of them only those that can still catch up with the best, if any.
    fn keep_allowed(&mut self, tree: &Tree, view: &View, root: &Node, rules: &Rules, horizon: &Horizon) {
        let allowed = |candidate: &Candidate| rules.allows(view.moves[usize::from(candidate.index)]);
        if !rules.search_moves.is_empty() && self.candidates.iter().any(allowed) {
            self.candidates.retain(allowed);
        }
        let Some(best) = horizon.best_edge.filter(|_| horizon.playouts_expected < f64::from(root.n)) else { return };
        let visits = |index: usize| child_of(view, root, index).map_or(0, |child| tree[child].n);
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

/// The child by a move, if there is a node for it.
#[inline]
fn child_of(view: &View, node: &Node, index: usize) -> Option<NodeId> {
    let (slot, offset) = body::place(index);
    (index < usize::from(node.children)).then(|| NodeId(view.slots[slot] + offset as u32))
}

#[inline]
fn share(view: &View, node: &Node, index: usize, visits: u32) -> Share {
    Share { edge: index as u8, mv: PackedMove(view.moves[index]), node: child_of(view, node, index), visits }
}

/// The move of the highest score, the first of equals.
#[inline]
fn best(tree: &Tree, view: &View, node: &Node, selector: &Selector) -> usize {
    let (mut visited_policy, mut best, mut highest) = (0.0, 0, f32::NEG_INFINITY);
    let (mut index, mut first_unvisited) = (0, None);
    for segment in tree.children(view, node) {
        for child in segment {
            let p = view.p(index);
            if child.n > 0 {
                visited_policy += p;
                let score = selector.visited(child) + selector.u_numerator(p) / (child.n_started() + 1) as f32;
                if score > highest {
                    (best, highest) = (index, score);
                }
            } else if first_unvisited.is_none() {
                first_unvisited = Some(index);
            }
            index += 1;
        }
    }
    let fpu = selector.unvisited(visited_policy);
    let mut consider = |index: usize, n_started: u32| {
        let score = fpu + selector.u_numerator(view.p(index)) / (n_started + 1) as f32;
        if score > highest || score == highest && index < best {
            (best, highest) = (index, score);
        }
    };
    if let Some(first) = first_unvisited {
        // Children on their way for the first time, and such as were given up.
        for (index, child) in tree.children(view, node).flatten().enumerate().skip(first) {
            if child.n == 0 {
                consider(index, child.in_flight);
            }
        }
    }
    if index < view.moves.len() {
        // Sorted by prior, no later untried move can score higher.
        consider(index, 0);
    }
    best
}

/// The place of the highest score, the first of equals, and the next highest of the others. In lanes, of which the
/// compiler makes vector code: this is most of what going down a wide tree costs.
fn best_and_rival(scores: &[f32]) -> (usize, f32) {
    const LANES: usize = 8;
    let (chunks, rest) = scores.as_chunks::<LANES>();
    let (mut highest, mut second) = ([f32::NEG_INFINITY; LANES], [f32::NEG_INFINITY; LANES]);
    let mut take = |lane: usize, score: f32| {
        let lesser = if score > highest[lane] { highest[lane] } else { score };
        highest[lane] = if score > highest[lane] { score } else { highest[lane] };
        second[lane] = if lesser > second[lane] { lesser } else { second[lane] };
    };
    for chunk in chunks {
        for (lane, score) in chunk.iter().enumerate() {
            take(lane, *score);
        }
    }
    for (lane, score) in rest.iter().enumerate() {
        take(lane, *score);
    }
    let (mut best, mut rival) = (f32::NEG_INFINITY, f32::NEG_INFINITY);
    for (highest, second) in highest.into_iter().zip(second) {
        rival = rival.max(highest.min(best)).max(second);
        best = best.max(highest);
    }
    (scores.iter().position(|score| *score == best).unwrap_or(0), rival)
}
