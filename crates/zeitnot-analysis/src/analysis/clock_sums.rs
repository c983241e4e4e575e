//! Sums the use of a clock over moves and games, and gives it a score.

use super::document::{ClockScore, Instant, LongThoughts, PhaseTime, Trouble};
use super::phase::Phase;

/// Expected score lost in haste and in time trouble, a game, that halves the score of the use of the clock.
const HALVING_COST: f64 = 0.5;

/// Sums of a player's use of the clock, over moves and games.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ClockSums {
    /// Games with times.
    pub games: u32,
    pub used_ms: f64,
    pub long_thoughts: LongThoughts,
    pub instant: Instant,
    /// Moves in time trouble and what they lost; in `calm`, all other moves.
    pub troubled: Losses,
    pub calm: Losses,
    /// Time used in each phase of the game; `usual_ms` is the usual time of the same moves where it is known.
    pub phases_ms: [f64; 3],
    pub usual_ms: [f64; 3],
}

/// Moves and the expected score that they lost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Losses {
    pub moves: u32,
    pub loss: f64,
}

impl Losses {
    pub(super) fn add(&mut self, moves: u32, loss: f64) {
        self.moves += moves;
        self.loss += loss;
    }
}

impl ClockSums {
    /// Adds other games.
    pub(super) fn add(&mut self, other: &ClockSums) {
        self.games += other.games;
        self.used_ms += other.used_ms;
        self.long_thoughts.count += other.long_thoughts.count;
        self.long_thoughts.ms += other.long_thoughts.ms;
        self.instant.count += other.instant.count;
        self.instant.cost += other.instant.cost;
        self.troubled.add(other.troubled.moves, other.troubled.loss);
        self.calm.add(other.calm.moves, other.calm.loss);
        for phase in 0..3 {
            self.phases_ms[phase] += other.phases_ms[phase];
            self.usual_ms[phase] += other.usual_ms[phase];
        }
    }

    /// The cost of time trouble: what its moves lost in excess of as many of the player's other moves.
    fn trouble(&self) -> Trouble {
        let usual = self.calm.loss / f64::from(self.calm.moves.max(1));
        let Losses { moves, loss } = self.troubled;
        Trouble { moves, loss, cost: (loss - f64::from(moves) * usual).max(0.0) }
    }

    /// The score: the share of the time that was not wasted, halved for each half point lost in haste and in time
    /// trouble.
    fn score(&self) -> f64 {
        let wasted = if self.used_ms > 0.0 { self.long_thoughts.ms / self.used_ms } else { 0.0 };
        let cost = (self.instant.cost + self.trouble().cost) / f64::from(self.games.max(1));
        100.0 * (1.0 - wasted) * libm::exp2(-cost / HALVING_COST)
    }

    /// The sums as they are written to the result; `None` without a game.
    pub(super) fn told(&self) -> Option<ClockScore> {
        if self.games == 0 {
            return None;
        }
        let usual_ms: f64 = self.usual_ms.iter().sum();
        let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let phase = |(index, name): (usize, Phase)| PhaseTime {
            name,
            ms: self.phases_ms[index],
            share: share(self.phases_ms[index], self.used_ms),
            usual_share: (usual_ms > 0.0).then(|| share(self.usual_ms[index], usual_ms)),
        };
        Some(ClockScore {
            score: self.score(),
            long_thoughts: self.long_thoughts,
            instant: self.instant,
            phases: Phase::ALL.into_iter().enumerate().map(phase).collect(),
            trouble: self.trouble(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waste_and_losses_lower_the_score() {
        let clean = ClockSums { games: 1, used_ms: 100_000.0, ..ClockSums::default() };
        let wasteful = ClockSums { long_thoughts: LongThoughts { count: 1, ms: 25_000.0 }, ..clean };
        let hasty = ClockSums { instant: Instant { count: 2, cost: 0.3 }, ..wasteful };
        // The other moves lost 0.01 each.
        let (troubled, calm) = (Losses { moves: 9, loss: 0.29 }, Losses { moves: 20, loss: 0.2 });
        let late = ClockSums { troubled, calm, ..hasty };
        let score = |sums: &ClockSums| sums.told().unwrap().score;
        assert_eq!(score(&clean), 100.0);
        assert_eq!(score(&wasteful), 75.0);
        assert!((score(&late) - 37.5).abs() < 1e-9);
        // Twice the same game has the same score.
        let mut twice = late;
        twice.add(&late);
        assert!((score(&twice) - 37.5).abs() < 1e-9 && twice.troubled.moves == 18);
        let quick = ClockSums { troubled: Losses { moves: 30, loss: 0.1 }, ..late };
        assert_eq!(
            quick.told().unwrap().trouble,
            Trouble { moves: 30, loss: 0.1, cost: 0.0 },
            "better than the other moves"
        );
        assert_eq!(ClockSums::default().told(), None);
    }

    #[test]
    fn shares_are_of_the_time_used_and_of_the_usual() {
        let sums = ClockSums {
            games: 1,
            used_ms: 40.0,
            phases_ms: [10.0, 30.0, 0.0],
            usual_ms: [5.0, 3.0, 2.0],
            ..ClockSums::default()
        };
        let told = sums.told().unwrap();
        let shares: Vec<_> = told.phases.iter().map(|phase| (phase.share, phase.usual_share)).collect();
        assert_eq!(shares, [(0.25, Some(0.5)), (0.75, Some(0.3)), (0.0, Some(0.2))]);
    }
}
