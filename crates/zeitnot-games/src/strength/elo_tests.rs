//! Compares Elo differences, their margins and the likelihood of superiority with those of fastchess.

use proptest::prelude::*;

use super::super::tests::{any_results, is_near, paired, unpaired};
use super::*;

/// Values that fastchess computes: Elo and its margin, normalised Elo and its margin, and the likelihood of superiority
/// in percent, which it prints with two decimals. `INFINITY` stands for every value that is not finite there, and for
/// margins and likelihoods where no two observations differ: fastchess prints 0, and 0, 50 or 100 %.
type Expected = [f64; 5];

const NONE: f64 = f64::INFINITY;

/// Wins, draws and losses. The first three are the cases of fastchess's `app/tests/elo_test.cpp`; all numbers are from
/// its classes `EloWDL` and `EloPentanomial` at commit 74deac23, printed with 12 digits.
const GAMES: [([u64; 3], Expected); 11] = [
    ([76, 123, 89], [-15.6935207054, 30.458000717, -20.7564497774, 40.1260255576, 15.53]),
    ([136, 111, 96], [40.7024581865, 30.4272179436, 49.768415381, 36.768450595, 99.60]),
    ([34, 0, 356], [-407.988432372, 63.1645147358, -508.43532504, 34.4818124854, 0.00]),
    ([36433, 68692, 36027], [0.999342812931, 1.29863359604, 1.39479746253, 1.81250357255, 93.43]),
    ([990, 9, 1], [902.896839186, 132.156487022, 3027.81626968, 21.5338849953, 100.00]),
    ([1, 998, 1], [0.0, 0.963027079673, 0.0, 21.5338849953, 50.00]),
    ([2, 1, 0], [279.588001734, NONE, 491.348117097, 393.153152088, 99.28]),
    ([3, 0, 1], [190.848501888, NONE, 200.592028828, 340.480617286, 87.59]),
    ([1, 0, 0], [NONE, NONE, NONE, NONE, NONE]),
    ([0, 0, 4], [NONE, NONE, NONE, NONE, NONE]),
    ([0, 5, 0], [0.0, NONE, NONE, NONE, NONE]),
];

/// Pairs LL, LD, WL, DD, WD and WW, else as [`GAMES`].
const PAIRS: [([u64; 6], Expected); 11] = [
    ([34, 54, 31, 32, 64, 75], [55.5797804204, 27.6534295064, 57.9355999381, 28.2753762434, 100.00]),
    ([332, 433, 457, 41, 333, 334], [-8.64266726797, 10.3341944244, -9.17291427005, 10.9604588775, 5.05]),
    ([7895, 8757, 5485, 200, 568, 9999], [-21.0435205782, 2.94528086853, -19.0128342789, 2.6545019165, 0.00]),
    ([365, 16618, 36029, 200, 16974, 390], [0.999342812931, 0.923076813375, 1.96227079349, 1.81250357255, 98.31]),
    ([0, 1, 5, 1, 2, 0], [19.3218718298, 65.2637593995, 48.1806468663, 160.50410223, 72.19]),
    ([0, 0, 1, 30, 200, 769], [461.735202289, 22.3218969213, 844.959784135, 15.2267561054, 100.00]),
    ([0, 0, 0, 1000, 1, 0], [0.173544262946, 0.339970727346, 7.76889587031, 15.2191484327, 84.15]),
    ([500, 0, 0, 0, 0, 2], [-959.176003469, NONE, -1934.45507171, 21.4909459994, 0.00]),
    ([1, 0, 0, 0, 0, 1], [0.0, NONE, 0.0, 340.480617286, 50.00]),
    ([0, 0, 3, 7, 0, 0], [0.0, NONE, NONE, NONE, NONE]),
    ([0, 0, 0, 0, 0, 5550], [NONE, NONE, NONE, NONE, NONE]),
];

fn assert_is_expected(results: &Results, expected: Expected) {
    let EloDifference { logistic, normalised, los, .. } = EloDifference::new(results);
    let estimates = [logistic.elo, logistic.margin, normalised.elo, normalised.margin];
    for (value, expected) in estimates.into_iter().zip(expected) {
        match value {
            Some(value) => assert!(is_near(value, expected), "{results:?}: {value} is not {expected}"),
            None => assert_eq!(expected, NONE, "{results:?}"),
        }
    }
    match los {
        Some(los) => {
            assert!((100.0 * los - expected[4]).abs() < 0.005_001, "{results:?}: {los} is not {}", expected[4])
        }
        None => assert_eq!(expected[4], NONE, "{results:?}"),
    }
}

#[test]
fn games_give_the_numbers_of_fastchess() {
    GAMES.iter().for_each(|&(games, expected)| assert_is_expected(&unpaired(games), expected));
}

#[test]
fn pairs_give_the_numbers_of_fastchess() {
    PAIRS.iter().for_each(|&(pairs, expected)| assert_is_expected(&paired(pairs), expected));
}

// fastchess's `drawRatio` and `drawRatioPenta`.
#[test]
fn draws_and_even_pairs_have_rates() {
    let rates = |results: &Results| {
        let difference = EloDifference::new(results);
        (difference.draw_rate, difference.even_pair_rate)
    };
    assert_eq!(rates(&unpaired([12, 80, 8])), (Some(0.8), None));
    assert_eq!(rates(&paired([1, 2, 3, 4, 5, 5])), (Some(15.0 / 40.0), Some(7.0 / 20.0)));
    let mut results = paired([0, 0, 1, 1, 0, 0]);
    results.add_game(super::super::GameResult::Win);
    assert_eq!(rates(&results), (Some(2.0 / 5.0), None), "a game without a partner");
}

#[test]
fn no_games_tell_nothing() {
    assert_eq!(EloDifference::new(&Results::default()), EloDifference::default());
}

#[test]
fn differences_are_written_and_read() {
    for results in [unpaired([136, 111, 96]), unpaired([3, 0, 0]), Results::default()] {
        let difference = EloDifference::new(&results);
        let text = serde_json::to_string(&difference).unwrap();
        assert_eq!(serde_json::from_str::<EloDifference>(&text).unwrap(), difference, "{text}");
    }
}

fn are_near(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => is_near(a, b),
        (a, b) => a == b,
    }
}

proptest! {
    #[test]
    fn exchanged_players_negate_the_difference(results in any_results()) {
        let [here, there] = [&results, &results.swapped()].map(EloDifference::new);
        for (here, there) in [(here.logistic, there.logistic), (here.normalised, there.normalised)] {
            prop_assert!(are_near(here.elo, there.elo.map(|elo| -elo)), "{here:?} {there:?}");
            prop_assert!(are_near(here.margin, there.margin), "{here:?} {there:?}");
        }
        prop_assert!(are_near(here.los, there.los.map(|los| 1.0 - los)), "{here:?} {there:?}");
        prop_assert_eq!(here.draw_rate, there.draw_rate);
        prop_assert_eq!(here.even_pair_rate, there.even_pair_rate);
    }

    // The same score means the same difference, however the games were paired.
    #[test]
    fn pairs_leave_the_difference_alone(results in any_results()) {
        let unpaired = Results { pentanomial: [0; 5], ..results.clone() };
        let [paired, unpaired] = [&results, &unpaired].map(|results| EloDifference::new(results).logistic.elo);
        prop_assert!(are_near(paired, unpaired), "{paired:?} {unpaired:?}");
    }
}
