//! Divides a search into iterations, which stand in for the depths of an alpha-beta search.
//!
//! An alpha-beta search of depth *d* visits about *b* to the power of *d* nodes, with an effective branching factor *b*
//! of about 2 in today's engines. So the *d*-th iteration ends here when the search has added 2^*d* nodes: 10
//! iterations are a thousand nodes, 20 a million. If several iterations have ended since the last look, only the last
//! of them counts.

use crate::{SearchSnapshot, centipawns};

/// Nodes at the end of an iteration, divided by the nodes at the end of the iteration before.
const BRANCHING_FACTOR: f64 = 2.0;

/// An iteration that has just ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Iteration {
    /// Number of the iteration, from 1.
    pub depth: u32,
    /// Whether the best move differs from that of the iteration before.
    pub changed: bool,
    /// Changes of the best move so far in this search, this one among them.
    pub changes: u32,
    /// Iterations in a row, up to this one, without a change of the best move.
    pub stable: u32,
    /// Fall of the score since the iteration before, in centipawns; in the first iteration, since the last move of the
    /// game. `None` if either score is unknown.
    pub drop_cp: Option<f64>,
}

/// Follows one search, and remembers the score from move to move.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    depth: u32,
    best_move: Option<usize>,
    changes: u32,
    stable: u32,
    score_cp: Option<f64>,
}

impl History {
    /// Begins another search. `same_game`: whether its scores can be compared with those of the last search.
    pub(crate) fn begin_move(&mut self, same_game: bool) {
        *self = Self { score_cp: self.score_cp.filter(|_| same_game), ..Self::default() };
    }

    /// Looks at the search. Returns the iteration that has ended since the last look, if any.
    pub(crate) fn observe(&mut self, snapshot: &SearchSnapshot) -> Option<Iteration> {
        if snapshot.new_nodes == 0 {
            return None;
        }
        let depth = (snapshot.new_nodes as f64).log(BRANCHING_FACTOR).floor().max(0.0) as u32;
        let best_move = snapshot.best_move.or_else(|| most_visited(&snapshot.root_visits));
        if depth <= self.depth || best_move.is_none() {
            return None;
        }
        self.depth = depth;
        let changed = self.best_move.is_some() && self.best_move != best_move;
        self.changes += u32::from(changed);
        self.stable = if self.best_move.is_some() && !changed { self.stable + 1 } else { 0 };
        self.best_move = best_move;
        let score_cp = snapshot.best_value.filter(|value| !value.is_nan()).map(centipawns::of_value);
        let drop_cp = self.score_cp.zip(score_cp).map(|(before, now)| before - now);
        self.score_cp = score_cp.or(self.score_cp);
        Some(Iteration { depth, changed, changes: self.changes, stable: self.stable, drop_cp })
    }
}

fn most_visited(visits: &[u32]) -> Option<usize> {
    (0..visits.len()).rev().max_by_key(|index| visits[*index]).filter(|index| visits[*index] > 0)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A look at a search with its best move at `best` and this value.
    pub fn look(new_nodes: u64, best: usize, value: f64) -> SearchSnapshot<'static> {
        let (best_move, best_value) = (Some(best), Some(value));
        SearchSnapshot { new_nodes, best_move, best_value, ..SearchSnapshot::default() }
    }

    /// The value that is worth `cp` centipawns.
    pub fn value(cp: f64) -> f64 {
        centipawns::value_of(cp)
    }

    #[test]
    fn iterations_end_when_the_nodes_have_doubled() {
        let mut history = History::default();
        let depths: Vec<_> = [1, 2, 3, 4, 7, 8, 9, 100, 127, 128]
            .iter()
            .filter_map(|nodes| history.observe(&look(*nodes, 0, 0.0)))
            .map(|iteration| iteration.depth)
            .collect();
        assert_eq!(depths, [1, 2, 3, 6, 7]);
    }

    #[test]
    fn best_moves_and_scores_are_compared_between_iterations() {
        let mut history = History::default();
        let seen =
            [(2, 0, 10.0), (3, 5, 999.0), (4, 0, 30.0), (8, 1, -20.0), (16, 1, -20.0), (32, 1, 0.0), (64, 2, -5.0)];
        let iterations: Vec<_> =
            seen.iter().filter_map(|(nodes, best, cp)| history.observe(&look(*nodes, *best, value(*cp)))).collect();
        let told: Vec<_> = iterations.iter().map(|i| (i.changed, i.changes, i.stable)).collect();
        assert_eq!(
            told,
            [(false, 0, 0), (false, 0, 1), (true, 1, 0), (false, 1, 1), (false, 1, 2), (true, 2, 0)],
            "what happens inside an iteration is not seen"
        );
        let drops: Vec<_> = iterations.iter().map(|i| i.drop_cp.map(|cp| cp.round())).collect();
        assert_eq!(drops, [None, Some(-20.0), Some(50.0), Some(0.0), Some(-20.0), Some(5.0)]);
        history.begin_move(true);
        assert_eq!(history.observe(&look(2, 0, value(-55.0))).unwrap().drop_cp.map(f64::round), Some(50.0));
        history.begin_move(false);
        assert_eq!(history.observe(&look(2, 0, 0.0)).unwrap().drop_cp, None);
    }

    #[test]
    fn no_iteration_ends_without_visits_or_best_move() {
        let mut history = History::default();
        assert_eq!(history.observe(&SearchSnapshot { new_nodes: u64::MAX, ..SearchSnapshot::default() }), None);
        assert_eq!(
            history.observe(&SearchSnapshot { new_nodes: 9, root_visits: (&[0, 0]).into(), ..Default::default() }),
            None
        );
        let visits = SearchSnapshot { new_nodes: 9, root_visits: (&[3, 6]).into(), ..SearchSnapshot::default() };
        assert_eq!(history.observe(&visits).unwrap().drop_cp, None);
        assert_eq!(history.best_move, Some(1));
    }
}
