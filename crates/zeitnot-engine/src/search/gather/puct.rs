//! Scores moves: the terms of PUCT, first-play urgency and the moves-left utility (docs/lc0.md, 3.1 and 3.2). The sum
//! `Q + U`, with U divided by the visits, and its maximum are in `candidates.rs`, which hands out several visits at once.

use crate::search::context::DrawScore;
use crate::search::params::{Fpu, MovesLeftParams, SearchParams};
use crate::search::tree::node::Node;

/// The moves-left utility of the children of one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovesLeftUtility {
    params: MovesLeftParams,
    parent_m: f32,
    active: bool,
}

impl MovesLeftUtility {
    /// The utility for the children of `parent`. `enabled`: whether the network has a moves-left head.
    pub(crate) fn new(params: MovesLeftParams, parent: &Node, enabled: bool) -> MovesLeftUtility {
        let active = enabled && parent.wl.abs() as f32 > params.threshold;
        MovesLeftUtility { params, parent_m: parent.m, active }
    }

    /// Moves-left utility of a visited child whose value to the parent is `q`.
    #[inline]
    pub(crate) fn of(&self, child_m: f32, q: f32) -> f32 {
        if !self.active || q == 0.0 {
            return 0.0;
        }
        let params = &self.params;
        let effect = (params.slope * (child_m - self.parent_m)).clamp(-params.max_effect, params.max_effect);
        let threshold = params.threshold;
        let strength =
            if threshold > 0.0 && threshold < 1.0 { ((q.abs() - threshold) / (1.0 - threshold)).max(0.0) } else { q };
        -q.signum()
            * effect
            * (params.constant_factor
                + params.scaled_factor * strength.abs()
                + params.quadratic_factor * strength * strength)
    }
}

/// The quantities of a node that the scores of its children share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selector {
    fpu: Fpu,
    /// The node's value to the player to move there.
    q: f32,
    /// cpuct times the square root of the children's visits.
    u_coefficient: f32,
    moves_left: MovesLeftUtility,
    /// The value of a draw for the player to move.
    pub draw_score: f32,
}

impl Selector {
    /// The selector for the children of `node`, which has `visits` visits and lies `depth` plies below the root.
    #[inline]
    pub(crate) fn new(
        node: &Node,
        visits: u32,
        depth: u32,
        params: &SearchParams,
        draw: DrawScore,
        has_moves_left: bool,
    ) -> Self {
        let at_root = depth == 0;
        let cpuct = if at_root { params.cpuct_at_root } else { params.cpuct }.at(visits);
        let fpu = match (at_root, params.fpu_at_root) {
            (true, Some(fpu)) => fpu,
            _ => params.fpu,
        };
        Selector {
            fpu,
            q: -node.q(draw.at(depth)),
            u_coefficient: cpuct * (visits.saturating_sub(1).max(1) as f32).sqrt(),
            moves_left: MovesLeftUtility::new(params.moves_left, node, has_moves_left),
            draw_score: draw.at(depth + 1),
        }
    }

    /// Q and the moves-left utility of a visited child.
    #[inline]
    pub(crate) fn q_and_m(&self, child: &Node) -> (f32, f32) {
        let q = child.q(self.draw_score);
        (q, self.moves_left.of(child.m, q))
    }

    /// Sum of value and moves-left utility of a visited child.
    #[inline]
    pub(crate) fn visited(&self, child: &Node) -> f32 {
        let (q, m) = self.q_and_m(child);
        q + m
    }

    /// The value of an unvisited child, where the priors of the visited children add up to `visited_policy`.
    #[inline]
    pub(crate) fn unvisited(&self, visited_policy: f32) -> f32 {
        match self.fpu {
            Fpu::Absolute(value) => value,
            Fpu::Reduction(reduction) => self.q - reduction * visited_policy.sqrt(),
        }
    }

    /// The numerator of U: the prior times cpuct times the square root of the visits of the parent's children.
    #[inline]
    pub(crate) fn u_numerator(&self, p: f32) -> f32 {
        self.u_coefficient * p
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tree::node::Value;
    use zeitnot_chess::Color;

    fn parent(wl: f32, m: f32) -> Node {
        let mut node = Node::new();
        node.add_visits(Value { wl, d: 0.0, m }, 1);
        node
    }

    #[test]
    fn draw_score_has_two_sides() {
        let white = DrawScore::new(-0.2, Color::White);
        assert_eq!((white.at(0), white.at(1), white.at(2)), (0.2, -0.2, 0.2));
        assert_eq!(DrawScore::new(-0.2, Color::Black).at(1), 0.2);
    }

    #[test]
    fn moves_left_only_works_in_decided_positions() {
        let params = SearchParams::LC0.moves_left;
        assert_eq!(MovesLeftUtility::new(params, &parent(-0.7, 50.0), true).of(40.0, 0.9), 0.0);
        assert_eq!(MovesLeftUtility::new(params, &parent(-0.9, 50.0), false).of(40.0, 0.9), 0.0);
        // Winning: ten plies sooner is worth 0.027 times 1.6521 * 0.5 - 0.6521 * 0.25 at |Q| = 0.9.
        let winning = MovesLeftUtility::new(params, &parent(-0.9, 50.0), true);
        let expected = 0.027 * (1.6521 * 0.5 - 0.6521 * 0.25);
        assert!((winning.of(40.0, 0.9) - expected).abs() < 1e-6);
        assert!((winning.of(60.0, 0.9) + expected).abs() < 1e-6);
        // Losing: later is better; and the effect is bounded.
        let losing = MovesLeftUtility::new(params, &parent(0.95, 50.0), true);
        assert!(losing.of(60.0, -0.95) > 0.0);
        assert!(losing.of(500.0, -1.0) <= params.max_effect + 1e-6);
    }
}
