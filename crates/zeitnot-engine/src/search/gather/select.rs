//! Selects the children of a node that get its visits (docs/lc0.md, 3.1).

use super::candidates::Candidates;
use super::puct::Selector;
use crate::search::context::{RemainingLimits, SearchContext};
use crate::search::tree::Tree;
use crate::search::tree::edges::{self, EdgeView};
use crate::search::tree::node::{Node, NodeId};
use crate::search::tree::packed_move::PackedMove;

/// Visits of a node that go to one child.
#[derive(Clone, Copy)]
pub(crate) struct Allocation {
    /// The number of the move.
    pub edge: u8,
    pub mv: PackedMove,
    /// The child, if it has a node.
    pub node: Option<NodeId>,
    pub visits: u32,
}

/// Allocates visits to the children of a node. It keeps its memory from one node to the next.
#[derive(Default)]
pub(crate) struct VisitAllocator {
    candidates: Candidates,
    /// Indices of the children that have no visit yet.
    unvisited: Vec<u8>,
    allocations: Vec<Allocation>,
}

impl VisitAllocator {
    /// Allocates `visits` to the children of the expanded node `id`, `depth` plies below the root, as if each visit in
    /// turn chose the highest score, of equals the first move. The first moves that have no node yet may get some, too.
    pub(crate) fn allocate(
        &mut self,
        tree: &Tree,
        id: NodeId,
        depth: u32,
        visits: u32,
        context: &SearchContext,
        limits: &RemainingLimits,
    ) -> &[Allocation] {
        self.allocations.clear();
        let node = &tree[id];
        let Some(view) = tree.view(node) else { return &self.allocations };
        let selector =
            Selector::new(node, tree.known_visits(node), depth, &context.params, context.draw, context.has_moves_left);
        if visits == 1 && depth > 0 {
            self.allocations.push(allocation(&view, node, best(tree, &view, node, &selector), 1));
            return &self.allocations;
        }
        let noise = tree.root_noise.as_ref().filter(|_| depth == 0);
        let fpu = match noise {
            Some(noise) => self
                .gather_candidates(tree, &view, node, &selector, |index, child| noise.prior(&view, index, Some(child))),
            None => self.gather_candidates(tree, &view, node, &selector, |index, _| view.p(index)),
        };
        // Sorted by prior, no later untried move can score higher than the first: as many of them as there are visits.
        let at_root = depth == 0;
        let untried = usize::from(node.children)..view.moves.len();
        for index in untried.filter(|next| !at_root || context.allows(view.moves[*next])).take(visits as usize) {
            self.candidates.push(index, fpu, selector.u_numerator(view.p(index)), 0);
        }
        if at_root {
            self.keep_allowed(tree, &view, node, context, limits);
        }
        self.candidates.allocate(visits);
        self.allocations
            .extend(self.candidates.allocations().map(|(index, visits)| allocation(&view, node, index, visits)));
        &self.allocations
    }

    /// Makes candidates of the existing children. Returns the value of an unvisited move.
    #[inline]
    fn gather_candidates(
        &mut self,
        tree: &Tree,
        view: &EdgeView,
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
                self.candidates.push(index, utility, selector.u_numerator(p), child.n_started());
                index += 1;
            }
        }
        let fpu = selector.unvisited(visited_policy);
        for index in &self.unvisited {
            self.candidates.set_utility(usize::from(*index), fpu);
        }
        fpu
    }

    /// Restricts the root's candidates to the moves of `go searchmoves`, those not proven won
    /// ([`SearchContext::leaves_wins`]) and those that can still catch up with the best; a restriction that would leave
    /// none is passed over.
    fn keep_allowed(
        &mut self,
        tree: &Tree,
        view: &EdgeView,
        root: &Node,
        context: &SearchContext,
        limits: &RemainingLimits,
    ) {
        let allowed = |index: usize| context.allows(view.moves[index]);
        if !context.packed_search_moves.is_empty() && self.candidates.indices().any(allowed) {
            self.candidates.retain(allowed);
        }
        let is_open = |index: usize| child_of(view, root, index).is_none_or(|child| !tree[child].bounds().is_win());
        if context.leaves_wins && self.candidates.indices().any(is_open) {
            self.candidates.retain(is_open);
        }
        let Some(best) = limits.best_edge.filter(|_| limits.playouts_expected < f64::from(root.n)) else { return };
        let visits = |index: usize| child_of(view, root, index).map_or(0, |child| tree[child].n);
        let best_visits = visits(best);
        let hopeful = |index: usize| {
            index == best || limits.playouts_expected >= f64::from(best_visits.saturating_sub(visits(index)))
        };
        if self.candidates.indices().any(hopeful) {
            self.candidates.retain(hopeful);
        }
    }
}

/// The child by the move with this index, if it exists.
#[inline]
fn child_of(view: &EdgeView, node: &Node, index: usize) -> Option<NodeId> {
    let (slot, offset) = edges::place(index);
    (index < usize::from(node.children)).then(|| NodeId(view.slots[slot] + offset as u32))
}

#[inline]
fn allocation(view: &EdgeView, node: &Node, index: usize, visits: u32) -> Allocation {
    Allocation { edge: index as u8, mv: PackedMove(view.moves[index]), node: child_of(view, node, index), visits }
}

/// The index of the move with the highest score, the first of equals.
#[inline]
fn best(tree: &Tree, view: &EdgeView, node: &Node, selector: &Selector) -> usize {
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
