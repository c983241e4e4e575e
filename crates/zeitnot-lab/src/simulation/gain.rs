//! Computes the regret per game that one manager saves compared with another in the same simulated games, with its
//! error.

use super::game::SimulatedGame;
use std::collections::BTreeMap;
use zeitnot_games::bootstrap::mean_and_interval;

/// The regret per game that manager `second` saves compared with `first`, and its 95 % interval. Both simulated the
/// same games: same model, seed and numbers. The interval is by bootstrap over pairs of recorded games with all
/// simulated moves drawn from them: recorded games are few, however many are simulated. `None` where no game was
/// finished by both.
pub fn gain(first: &[SimulatedGame], second: &[SimulatedGame]) -> Option<(f64, [f64; 2])> {
    let both = || first.iter().zip(second).filter(|(a, b)| !a.is_lost_on_time && !b.is_lost_on_time);
    let mut sources: BTreeMap<u32, (f64, f64)> = BTreeMap::new();
    let (mut games, mut moves) = (0, 0);
    for (a, b) in both() {
        games += 1;
        moves += b.sources.len();
        for ((regret, saved_to), source) in a.regrets.iter().zip(&b.regrets).zip(&b.sources) {
            let sums = sources.entry(*source).or_default();
            *sums = (sums.0 + regret - saved_to, sums.1 + 1.0);
        }
    }
    if games == 0 {
        return None;
    }
    let groups: Vec<(f64, f64)> = sources.into_values().collect();
    let (mean, interval) = mean_and_interval(&groups);
    let of_game = moves as f64 / f64::from(games);
    Some((mean * of_game, interval.map(|end| end * of_game)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A game of two moves from each of ten pairs of recorded games.
    fn game(regret: impl Fn(u32) -> f64) -> SimulatedGame {
        let sources: Vec<u32> = (0..20).map(|mv| mv / 2).collect();
        SimulatedGame { regrets: sources.iter().map(|source| regret(*source)).collect(), sources, ..Default::default() }
    }

    #[test]
    fn a_gain_is_that_of_a_game() {
        let (first, second) = (vec![game(|_| 0.03); 5], vec![game(|_| 0.02); 5]);
        let (mean, interval) = gain(&first, &second).unwrap();
        assert!((mean - 0.2).abs() < 1e-12 && interval.iter().all(|end| (end - 0.2).abs() < 1e-12), "{interval:?}");
        assert_eq!(gain(&first, &first), Some((0.0, [0.0, 0.0])));
    }

    #[test]
    fn more_simulated_games_do_not_narrow_the_interval() {
        let width = |games: usize| {
            let (first, second) = (vec![game(f64::from); games], vec![game(|_| 0.0); games]);
            let (mean, [low, high]) = gain(&first, &second).unwrap();
            assert!(low < mean && mean < high);
            high - low
        };
        assert!((width(5) / width(500) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn games_that_either_lost_on_time_do_not_count() {
        let lost = SimulatedGame { is_lost_on_time: true, ..game(|_| 9.0) };
        let (first, second) = ([game(|_| 0.03), game(|_| 0.03)], [lost.clone(), game(|_| 0.02)]);
        assert!((gain(&first, &second).unwrap().0 - 0.2).abs() < 1e-12);
        assert_eq!(gain(&first[..1], &[lost]), None);
    }
}
