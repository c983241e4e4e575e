use super::*;
use proptest::prelude::*;

fn candidates(moves: &[(f32, f32, u32)]) -> Candidates {
    let mut candidates = Candidates::default();
    for (index, (utility, u_numerator, n_started)) in moves.iter().enumerate() {
        candidates.push(index, *utility, *u_numerator, *n_started);
    }
    candidates
}

fn one_by_one(moves: &[(f32, f32, u32)], visits: u32) -> Vec<(usize, u32)> {
    let mut given = vec![0; moves.len()];
    for _ in 0..visits {
        let score = |at: usize| score(moves[at].0, moves[at].1, moves[at].2 + 1 + given[at]);
        let best = (0..moves.len()).rev().max_by(|a, b| score(*a).total_cmp(&score(*b))).unwrap();
        given[best] += 1;
    }
    given.into_iter().enumerate().filter(|given| given.1 > 0).collect()
}

/// proptest's own ranges of f32 now and then fail an assertion of their own.
fn between(low: f32, high: f32) -> impl Strategy<Value = f32> {
    (0u32..1 << 24).prop_map(move |share| low + (high - low) * share as f32 / (1 << 24) as f32)
}

fn some_moves() -> impl Strategy<Value = Vec<(f32, f32, u32)>> {
    // Utility, U's numerator, visits started; also moves without a prior, and many alike.
    let one = (between(-1.0, 1.0), prop_oneof![4 => between(0.0, 30.0), 1 => Just(0.0)], 0u32..2000);
    let alike = (Just(0.1f32), Just(2.0f32), 0u32..2);
    prop::collection::vec(prop_oneof![one, alike], 1..=255)
}

/// The moves of a node of many visits, which were dealt by their scores: they all stand at nearly the same.
fn searched_moves() -> impl Strategy<Value = Vec<(f32, f32, u32)>> {
    let one = (between(-0.3, 0.0), between(0.002, 0.2));
    (prop::collection::vec(one, 2..60), 10f64.powi(3)..10f64.powi(6)).prop_map(|(moves, n)| {
        let u = |p: f32| 2.0 * p * n.sqrt() as f32;
        // Visits as for values q and a level of 0.01, brought to the sum of n; then the utilities that lead to that
        // level.
        let raw: Vec<f64> = moves.iter().map(|(q, p)| f64::from(u(*p) / (0.01 - q))).collect();
        let scale = n / raw.iter().sum::<f64>();
        let searched = |((_, p), raw): (&(f32, f32), &f64)| {
            let visits = ((raw * scale) as u32).max(1);
            (0.01 - u(*p) / (visits + 1) as f32, u(*p), visits)
        };
        moves.iter().zip(&raw).map(searched).collect()
    })
}

proptest! {
    #[test]
    fn visits_go_one_by_one_to_the_highest_score(moves in some_moves(), visits in 1u32..600) {
        let mut candidates = candidates(&moves);
        candidates.allocate(visits);
        prop_assert_eq!(candidates.allocations().collect::<Vec<_>>(), one_by_one(&moves, visits));
    }

    #[test]
    fn they_do_in_large_trees(moves in searched_moves(), visits in 1u32..600) {
        let mut candidates = candidates(&moves);
        candidates.allocate(visits);
        prop_assert_eq!(candidates.allocations().collect::<Vec<_>>(), one_by_one(&moves, visits));
    }

    // At the level that a score falls to exactly, rounding decides; the estimate by division is off there to either
    // side.
    #[test]
    fn visits_at_a_level_are_counted_exactly(moves in searched_moves(), at: prop::sample::Index, further in 0u32..300) {
        let mut candidates = candidates(&moves);
        (0..moves.len()).for_each(|at| candidates.give(at, 0));
        let (utility, u_numerator, n_started) = moves[at.index(moves.len())];
        let level = score(utility, u_numerator, n_started + 1 + further);
        candidates.count_at(level, 500);
        for (at, (utility, u_numerator, n_started)) in moves.iter().enumerate() {
            let visits = (0..500).take_while(|given| score(*utility, *u_numerator, n_started + 1 + given) > level);
            prop_assert_eq!(candidates.at_level[at], visits.count() as u32);
        }
    }

    // Now and then none is equal: f32 has too few levels between too many visits and too few.
    #[test]
    fn a_level_is_found_for_most_of_the_visits(nodes in prop::collection::vec((searched_moves(), 100u32..600), 50)) {
        let (mut given, mut wanted) = (0, 0);
        for (moves, visits) in nodes {
            let mut candidates = candidates(&moves);
            for at in 0..moves.len() {
                candidates.give(at, 0);
            }
            let dealt = candidates.deal_to_level(visits);
            prop_assert!(dealt <= visits);
            given += dealt;
            wanted += visits;
        }
        prop_assert!(given >= wanted * 4 / 5, "{given} of {wanted}");
    }

    #[test]
    fn best_and_rival_are_the_highest_scores(scores in prop::collection::vec(-5i8..5, 1..60)) {
        let scores: Vec<f32> = scores.into_iter().map(f32::from).collect();
        let (best, runner_up) = best_and_runner_up(&scores);
        let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        prop_assert_eq!(Some(best), scores.iter().position(|score| *score == highest));
        let others = scores.iter().enumerate().filter(|other| other.0 != best).map(|other| *other.1);
        prop_assert_eq!(runner_up, others.fold(f32::NEG_INFINITY, f32::max));
    }
}

#[test]
fn only_what_is_kept_gets_visits() {
    let mut candidates = candidates(&[(0.0, 1.0, 0); 5]);
    candidates.retain(|index| index % 2 == 1);
    candidates.allocate(9);
    assert_eq!(candidates.allocations().collect::<Vec<_>>(), [(1, 5), (3, 4)]);
}
