//! Moves the visits of root moves that can no longer become the best to the other moves, as smart pruning does in a
//! search; recorded searches went on without it.

use super::recorded_search::RecordedSnapshot;

/// Visits of the root's moves in a replayed search with smart pruning, beside those in the record.
#[derive(Default)]
pub(super) struct RootPruning {
    /// Visits of each move in the record so far.
    recorded: Vec<u32>,
    /// Visits of each move in the replayed search; empty as long as they equal the record's.
    visits: Vec<f64>,
}

impl RootPruning {
    /// Takes in the next step of the record. `expected`: how many playouts were still expected at the step before.
    /// Returns the pruned root where it differs from the record, else `None`.
    pub fn step(&mut self, step: &RecordedSnapshot, expected: f64) -> Option<RecordedSnapshot> {
        if self.recorded.len() != step.visits.len() {
            self.recorded.clone_from(&step.visits);
            return None;
        }
        let is_active = !self.visits.is_empty() || expected < self.recorded.iter().map(|n| f64::from(*n)).sum();
        if !is_active {
            self.recorded.clone_from(&step.visits);
            return None;
        }
        if self.visits.is_empty() {
            self.visits = self.recorded.iter().map(|n| f64::from(*n)).collect();
        }
        let best = most(&self.visits);
        let lead = |place: usize| self.visits[best] - self.visits[place];
        let new = |place: usize| f64::from(step.visits[place].saturating_sub(self.recorded[place]));
        let places = 0..self.visits.len();
        let all: f64 = places.clone().map(new).sum();
        let hopeful: Vec<f64> = places.map(|place| if lead(place) <= expected { new(place) } else { 0.0 }).collect();
        let sum: f64 = hopeful.iter().sum();
        match sum > 0.0 {
            true => self.visits.iter_mut().zip(&hopeful).for_each(|(visits, new)| *visits += new * all / sum),
            false => self.visits[best] += all,
        }
        self.recorded.clone_from(&step.visits);
        let recorded_best = step.best_move.map(|place| place as usize);
        let best = most(&self.visits);
        // Among equally visited moves the record's best move is the best.
        let is_best = |place: &usize| self.visits.get(*place).is_some_and(|visits| *visits >= self.visits[best]);
        let best = recorded_best.filter(is_best).unwrap_or(best);
        Some(RecordedSnapshot {
            visits: self.visits.iter().map(|visits| visits.round() as u32).collect(),
            best_move: step.best_move.and(Some(best as u32)),
            ..step.clone()
        })
    }
}

/// The index of the most visited move, the first one among equals.
fn most(visits: &[f64]) -> usize {
    let mut best = 0;
    for (place, count) in visits.iter().enumerate() {
        if *count > visits[best] {
            best = place;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(visits: [u32; 3]) -> RecordedSnapshot {
        let best_move = Some((0..3).rev().max_by_key(|place| visits[*place]).unwrap() as u32);
        RecordedSnapshot {
            total_nodes: visits.iter().sum::<u32>().into(),
            visits: visits.to_vec(),
            best_move,
            ..RecordedSnapshot::default()
        }
    }

    #[test]
    fn moves_that_cannot_become_the_best_leave_their_visits_to_others() {
        let mut root = RootPruning::default();
        assert_eq!(root.step(&step([60, 30, 10]), f64::INFINITY), None);
        assert_eq!(root.step(&step([66, 33, 11]), 200.0), None, "enough follow for all");
        // 40 follow: the third move is 55 behind. Of ten new visits it has one.
        let pruned = root.step(&step([72, 36, 12]), 40.0).unwrap();
        assert_eq!((pruned.visits, pruned.total_nodes), (vec![73, 36, 11], 120));
        // Nothing is hopeful but the best.
        assert_eq!(root.step(&step([72, 46, 12]), 5.0).unwrap().visits, [83, 36, 11]);
        // A move that the record found late was given up.
        let late = root.step(&step([72, 46, 300]), 20.0).unwrap();
        assert_eq!((late.best_move, late.visits.iter().sum::<u32>()), (Some(0), 130 + 288));
    }
}
