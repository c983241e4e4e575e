//! Defines a node of the tree and the arithmetic of one visit.
//!
//! A node's values are from the side of the player whose move led to it: a good `wl` is a good move.

use bytemuck::{Pod, Zeroable};

/// Index of a node in its [`Tree`](crate::search::tree::Tree).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) u32);

/// Whether a node's value is known for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Terminal {
    No,
    /// End of the game by the rules as set, or proven from such ends.
    End,
    /// A first repetition inside the search: a draw as long as the first occurrence is below the root.
    TwoFold,
    /// Result of the endgame tables, or proven with their help: the way there is not known.
    Tablebase,
}

/// Proven bounds: worst and best result still possible for the player who moved here (-1, 0, 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    pub lower: i8,
    pub upper: i8,
}

impl Bounds {
    pub(crate) const UNKNOWN: Bounds = Bounds { lower: -1, upper: 1 };
    pub(crate) const fn exact(result: i8) -> Bounds {
        Bounds { lower: result, upper: result }
    }
    pub(crate) fn is_loss(self) -> bool {
        self.upper == -1
    }
    pub(crate) fn is_win(self) -> bool {
        self.lower == 1
    }
}

/// Storage of a node's edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EdgeState {
    /// No edges: not evaluated, or forgotten again.
    None,
    /// Priors, in the order of the move generator.
    Priors,
    /// Moves by prior, with room for two children.
    Small,
    /// Moves by prior, with room for all children.
    Large,
}

/// One position of the tree. All bytes zero is a new node.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Node {
    /// Mean of win minus loss.
    pub wl: f64,
    /// Mean draw probability.
    pub d: f32,
    /// Mean plies left.
    pub m: f32,
    /// Visits backed up.
    pub n: u32,
    /// Visits in flight: on their way, not backed up yet.
    pub in_flight: u32,
    /// Address of the edges, in the form of [`Node::edge_state`]; without edges 0.
    pub(crate) at: u32,
    /// Number of legal moves, once they are known.
    pub(crate) moves: u8,
    /// The number of children that have nodes: those of the first moves.
    pub(crate) children: u8,
    /// Two bits each, from the lowest: terminal, edge state, lower bound + 1, 1 - upper bound.
    pub(super) flags: u8,
    /// 1 where the moves have more visits than came through the node (see `allocation`), else 0.
    pub(super) surplus: u8,
}

// The tree is the engine's memory: a node must not grow unnoticed.
const _: () = assert!(size_of::<Node>() == 32);

impl Node {
    pub(crate) fn new() -> Node {
        Node::zeroed()
    }

    pub(crate) fn terminal(&self) -> Terminal {
        match self.flags & 3 {
            0 => Terminal::No,
            1 => Terminal::End,
            2 => Terminal::TwoFold,
            _ => Terminal::Tablebase,
        }
    }

    pub(crate) fn set_terminal(&mut self, terminal: Terminal) {
        self.flags = self.flags & !3 | terminal as u8;
    }

    pub(crate) fn is_terminal(&self) -> bool {
        self.flags & 3 != 0
    }

    /// Whether the game ends here by the rules, or repeats a position of the search: nothing follows, unlike after a
    /// result that is proven.
    pub(crate) fn is_end_by_rule(&self) -> bool {
        self.terminal() == Terminal::TwoFold || self.is_played_out() && self.m == 0.0
    }

    /// Whether the game was followed to its end here: a mate that can be shown, not a win that tables promise.
    pub(crate) fn is_played_out(&self) -> bool {
        self.terminal() == Terminal::End
    }

    pub(crate) fn edge_state(&self) -> EdgeState {
        match self.flags >> 2 & 3 {
            0 => EdgeState::None,
            1 => EdgeState::Priors,
            2 => EdgeState::Small,
            _ => EdgeState::Large,
        }
    }

    pub(crate) fn set_edge_state(&mut self, state: EdgeState) {
        self.flags = self.flags & !12 | (state as u8) << 2;
    }

    /// Whether the node was evaluated, but its moves were removed from memory.
    pub(crate) fn is_pruned(&self) -> bool {
        self.n > 0 && self.edge_state() == EdgeState::None && !self.is_terminal()
    }

    /// Whether the moves have more visits than came through the node.
    #[inline]
    pub(crate) fn has_surplus(&self) -> bool {
        self.surplus != 0
    }

    pub(crate) fn set_surplus(&mut self, has_surplus: bool) {
        self.surplus = u8::from(has_surplus);
    }

    /// Whether the node has moves, be it only their priors.
    pub(crate) fn has_edges(&self) -> bool {
        self.edge_state() != EdgeState::None
    }

    pub(crate) fn bounds(&self) -> Bounds {
        Bounds { lower: (self.flags >> 4 & 3) as i8 - 1, upper: 1 - (self.flags >> 6) as i8 }
    }

    pub(crate) fn set_bounds(&mut self, bounds: Bounds) {
        self.flags = self.flags & 15 | ((bounds.lower + 1) as u8) << 4 | ((1 - bounds.upper) as u8) << 6;
    }

    /// Visits done and in flight: the count that PUCT sees (Lc0's virtual loss is on the count alone).
    pub(crate) fn n_started(&self) -> u32 {
        self.n + self.in_flight
    }

    /// Value with draws worth `draw_score` to the player who moved here.
    pub(crate) fn q(&self, draw_score: f32) -> f32 {
        self.wl as f32 + draw_score * self.d
    }

    /// The mean value of the node's visits.
    pub(crate) fn value(&self) -> Value {
        Value { wl: self.wl as f32, d: self.d, m: self.m }
    }

    /// Fixes the value: `result` -1, 0 or 1 for the player who moved here, `m` plies to the end.
    /// A two-fold repetition proves nothing to the parent, so it leaves the bounds open.
    pub(crate) fn make_terminal(&mut self, result: i8, m: f32, kind: Terminal) {
        self.set_terminal(kind);
        self.wl = f64::from(result);
        self.d = if result == 0 { 1.0 } else { 0.0 };
        self.m = m;
        if kind != Terminal::TwoFold {
            self.set_bounds(Bounds::exact(result));
        }
    }

    /// Takes over value and result of another node of the position.
    pub(crate) fn take_result_of(&mut self, other: &Node) {
        (self.wl, self.d, self.m) = (other.wl, other.d, other.m);
        self.flags = self.flags & 12 | other.flags & !12;
    }

    /// Whether value, result and bounds equal those of `other`.
    pub(crate) fn is_as_valued(&self, other: &Node) -> bool {
        (self.wl, self.d, self.m, self.flags & !12) == (other.wl, other.d, other.m, other.flags & !12)
    }

    #[cfg(test)]
    /// Adds `visits` visits of one value to the means.
    pub(crate) fn add_visits(&mut self, value: Value, visits: u32) {
        self.add_visits_of(self.n + visits, value, visits);
    }

    /// Adds `visits` visits of one value to means over `all` visits, these included.
    pub(crate) fn add_visits_of(&mut self, all: u32, value: Value, visits: u32) {
        let share = f64::from(visits) / f64::from(all);
        self.wl += share * (f64::from(value.wl) - self.wl);
        self.d += share as f32 * (value.d - self.d);
        self.m += share as f32 * (value.m - self.m);
        self.n += visits;
    }

    /// Corrects means over `all` visits when `visits` of them turn out to be worth `delta` more each.
    pub(crate) fn adjust(&mut self, delta: Value, visits: f32, all: u32) {
        let share = visits / all as f32;
        self.wl += f64::from(share * delta.wl);
        self.d += share * delta.d;
        self.m += share * delta.m;
    }

    /// Takes `visits` visits of one value out of the means again.
    pub(crate) fn remove_visits(&mut self, value: Value, visits: u32) {
        let left = self.n.saturating_sub(visits);
        if left == 0 {
            (self.wl, self.d, self.m, self.n) = (0.0, 0.0, 0.0, 0);
            return;
        }
        let share = f64::from(visits) / f64::from(left);
        self.wl -= share * (f64::from(value.wl) - self.wl);
        self.d -= share as f32 * (value.d - self.d);
        self.m -= share as f32 * (value.m - self.m);
        self.n = left;
    }
}

/// A value on its way up: win minus loss, draw probability, plies left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Value {
    pub wl: f32,
    pub d: f32,
    pub m: f32,
}

impl Value {
    /// The value that lies this share of the way from here to `other`.
    pub(crate) fn towards(self, other: Value, share: f32) -> Value {
        let mix = |from: f32, to: f32| from + share * (to - from);
        Value { wl: mix(self.wl, other.wl), d: mix(self.d, other.d), m: mix(self.m, other.m) }
    }

    /// The value one ply up: from the other player's side, and a ply further from the end.
    pub(crate) fn one_ply_up(self) -> Value {
        Value { wl: -self.wl, d: self.d, m: self.m + 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Value = Value { wl: 0.5, d: 0.25, m: 40.0 };
    const B: Value = Value { wl: -0.25, d: 0.5, m: 20.0 };

    #[test]
    fn flags_do_not_disturb_each_other() {
        let mut node = Node::new();
        assert_eq!(
            (node.terminal(), node.edge_state(), node.bounds()),
            (Terminal::No, EdgeState::None, Bounds::UNKNOWN)
        );
        for terminal in [Terminal::End, Terminal::TwoFold, Terminal::Tablebase, Terminal::No] {
            for state in [EdgeState::Priors, EdgeState::Small, EdgeState::Large, EdgeState::None] {
                for (lower, upper) in [(-1, -1), (-1, 0), (0, 0), (0, 1), (1, 1), (-1, 1)] {
                    node.set_terminal(terminal);
                    node.set_bounds(Bounds { lower, upper });
                    node.set_edge_state(state);
                    assert_eq!((node.terminal(), node.edge_state()), (terminal, state));
                    assert_eq!(node.bounds(), Bounds { lower, upper });
                }
            }
        }
    }

    #[test]
    fn means_add_and_remove() {
        let mut node = Node::new();
        node.add_visits(A, 1);
        node.add_visits(B, 3);
        assert_eq!((node.n, node.wl, node.d, node.m), (4, -0.0625, 0.4375, 25.0));
        node.remove_visits(B, 3);
        assert_eq!((node.n, node.wl, node.d, node.m), (1, 0.5, 0.25, 40.0));
        node.remove_visits(A, 1);
        assert_eq!((node.n, node.wl), (0, 0.0));
    }

    #[test]
    fn a_corrected_value_moves_the_mean_by_its_share() {
        let mut node = Node::new();
        node.add_visits(A, 4);
        node.adjust(Value { wl: 0.5, d: -0.25, m: 8.0 }, 2.0, 4);
        assert_eq!((node.wl, node.d, node.m), (0.75, 0.125, 44.0));
    }

    #[test]
    fn only_real_ends_prove_something() {
        let mut node = Node::new();
        node.make_terminal(0, 4.0, Terminal::TwoFold);
        assert_eq!(node.bounds(), Bounds::UNKNOWN);
        node.make_terminal(1, 0.0, Terminal::End);
        assert!(node.bounds().is_win() && node.wl == 1.0 && node.d == 0.0);
    }
}
