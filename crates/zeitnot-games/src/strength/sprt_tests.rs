//! Compares log-likelihood ratios with those of fastchess, and checks decisions, texts and error rates.

use proptest::prelude::*;

use super::super::tests::{any_results, is_near, paired, unpaired};
use super::SprtModel::{Logistic, Normalized};
use super::*;

/// `N` counts of results; the two hypotheses; the model; the LLR of fastchess; the LLR with exact multipliers.
///
/// The numbers are from fastchess's class `SPRT` at commit 74deac23, printed with 9 digits: as it is, and with a
/// bisection to the last bit in place of `itp`, which finds the multiplier of the logistic model to 1e-3
/// only.
type Case<const N: usize> = ([u64; N], [f64; 2], SprtModel, f64, f64);

/// Wins, draws and losses. The first five are the cases of fastchess's `app/tests/sprt_test.cpp`.
const GAMES: [Case<3>; 15] = [
    ([36433, 68692, 36027], [0.0, 2.0], Normalized, 0.923293449, 0.923293449),
    ([10871, 20431, 10650], [-1.75, 0.25], Normalized, 2.29750041, 2.29750041),
    ([4250, 0, 0], [0.0, 10.0], Normalized, 120.548268, 120.548268),
    ([21404, 40708, 21184], [0.5, 2.5], Logistic, -1.57203161, -1.57188879),
    ([57433, 106593, 57030], [0.0, 2.0], Logistic, -2.59333136, -2.59302416),
    ([136, 111, 96], [0.0, 5.0], Normalized, 0.66448806, 0.66448806),
    ([136, 111, 96], [0.0, 5.0], Logistic, 0.799005501, 0.799005446),
    ([34, 0, 356], [-3.0, 1.0], Normalized, -3.6942081, -3.6942081),
    ([34, 0, 356], [-3.0, 1.0], Logistic, -3.69424827, -3.69424826),
    ([990, 9, 1], [0.0, 100.0], Normalized, 242.45618, 242.45618),
    ([990, 9, 1], [0.0, 100.0], Logistic, 246.378899, 246.378898),
    ([1, 998, 1], [0.0, 5.0], Normalized, -0.106213329, -0.106213329),
    ([1, 998, 1], [0.0, 5.0], Logistic, -11.4730475, -11.4730475),
    ([0, 5, 0], [-3.0, 1.0], Normalized, 0.000174291819, 0.000174291819),
    ([0, 0, 4], [0.0, 5.0], Logistic, -0.057979024, -0.0579790238),
];

/// Pairs LL, LD, WL, DD, WD and WW. The first five are fastchess's.
const PAIRS: [Case<6>; 14] = [
    ([365, 16618, 36029, 200, 16974, 390], [0.0, 2.0], Normalized, 2.2503677, 2.2503677),
    ([127, 4883, 10311, 401, 5150, 104], [-1.75, 0.25], Normalized, 3.0101542, 3.0101542),
    ([0, 0, 0, 0, 0, 5550], [0.0, 5.0], Normalized, 111.797555, 111.797555),
    ([223, 9863, 20279, 1000, 10037, 246], [0.5, 2.5], Logistic, -3.07442286, -3.07412644),
    ([871, 26175, 55003, 980, 26678, 821], [0.0, 2.0], Logistic, -4.97961187, -4.97867286),
    ([3, 40, 50, 60, 55, 9], [0.0, 5.0], Normalized, 0.637043348, 0.637043348),
    ([3, 40, 50, 60, 55, 9], [0.0, 5.0], Logistic, 1.06063755, 1.06064133),
    ([0, 0, 1, 30, 200, 769], [0.0, 100.0], Normalized, 295.577359, 295.577359),
    ([0, 0, 1, 30, 200, 769], [-3.0, 1.0], Logistic, 11.545516, 11.5460595),
    ([500, 0, 0, 0, 0, 2], [-3.0, 1.0], Normalized, -8.07490482, -8.07490482),
    ([500, 0, 0, 0, 0, 2], [-3.0, 1.0], Logistic, -5.71683645, -5.71683645),
    ([0, 0, 0, 1000, 1, 0], [-3.0, 1.0], Normalized, 0.432845551, 0.432845531),
    ([0, 0, 0, 1000, 1, 0], [-3.0, 1.0], Logistic, 6.88948216, 6.89135373),
    ([1, 0, 0, 0, 0, 1], [-200.0, 150.0], Logistic, 0.13403468, 0.134034726),
];

/// How far the multipliers of fastchess let its ratios be from the exact ones, of their size.
const FASTCHESS_ERROR: f64 = 1e-3;

fn sprt([elo0, elo1]: [f64; 2], model: SprtModel) -> Sprt {
    Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, model }
}

fn assert_is_llr(results: &Results, sprt: Sprt, fastchess: f64, exact: f64) {
    let llr = sprt.llr(results);
    assert!(is_near(llr, exact), "{results:?} {sprt:?}: {llr} is not {exact}");
    let error = if sprt.model == Normalized { 1e-6 } else { FASTCHESS_ERROR };
    assert!((llr - fastchess).abs() < error * llr.abs().max(1.0), "{results:?} {sprt:?}: {llr} is not {fastchess}");
}

#[test]
fn games_give_the_ratios_of_fastchess() {
    for (games, elos, model, fastchess, exact) in GAMES {
        assert_is_llr(&unpaired(games), sprt(elos, model), fastchess, exact);
    }
}

#[test]
fn pairs_give_the_ratios_of_fastchess() {
    for (pairs, elos, model, fastchess, exact) in PAIRS {
        assert_is_llr(&paired(pairs), sprt(elos, model), fastchess, exact);
    }
}

#[test]
fn bounds_follow_from_the_error_rates() {
    let sprt = Sprt { alpha: 0.05, beta: 0.1, ..sprt([0.0, 5.0], Normalized) };
    // fastchess's `getLowerBound` and `getUpperBound`.
    assert!(is_near(sprt.lower_bound(), -2.2512918), "{}", sprt.lower_bound());
    assert!(is_near(sprt.upper_bound(), 2.89037176), "{}", sprt.upper_bound());
}

// The ratios are those of the tables above; the bounds are -2.94 and 2.94.
#[test]
fn a_match_is_decided_at_the_bounds() {
    let decision = |pairs, elos, model| sprt(elos, model).decision(&paired(pairs));
    assert_eq!(
        decision([127, 4883, 10311, 401, 5150, 104], [-1.75, 0.25], Normalized),
        Some(Decision::AcceptH1),
        "3.01"
    );
    assert_eq!(decision([365, 16618, 36029, 200, 16974, 390], [0.0, 2.0], Normalized), None, "2.25");
    assert_eq!(decision([223, 9863, 20279, 1000, 10037, 246], [0.5, 2.5], Logistic), Some(Decision::AcceptH0), "-3.07");
    assert_eq!(sprt([0.0, 2.0], Logistic).decision(&unpaired([57433, 106593, 57030])), None, "-2.59");
    assert_eq!(sprt([0.0, 5.0], Normalized).decision(&Results::default()), None);
}

#[test]
fn hypotheses_are_read() {
    assert_eq!("0,5".parse(), Ok(sprt([0.0, 5.0], Normalized)));
    assert_eq!(" -1.75, 0.25 ".parse(), Ok(sprt([-1.75, 0.25], Normalized)));
    assert_eq!("0,5,logistic".parse(), Ok(sprt([0.0, 5.0], Logistic)));
    for (text, message) in [
        ("", "\"\" is not two Elo differences E0,E1 such as 0,5 (or E0,E1,logistic)"),
        ("5", "\"5\" is not two Elo differences E0,E1 such as 0,5 (or E0,E1,logistic)"),
        ("0,5,9", "\"9\" is not an SPRT model: normalized or logistic"),
        ("a,5", "\"a,5\" is not two Elo differences E0,E1 such as 0,5 (or E0,E1,logistic)"),
        ("5,0", "SPRT: E0 = 5 Elo is not below E1 = 0 Elo"),
        ("3,3", "SPRT: E0 = 3 Elo is not below E1 = 3 Elo"),
        ("0,500", "SPRT: 500 Elo is not between -200 and 200"),
        ("-inf,0", "SPRT: -inf Elo is not between -200 and 200"),
        ("nan,0", "SPRT: NaN Elo is not between -200 and 200"),
    ] {
        assert_eq!(text.parse::<Sprt>().unwrap_err().to_string(), message);
    }
}

#[test]
fn error_rates_are_checked() {
    let validated = |alpha, beta| Sprt { alpha, beta, ..sprt([0.0, 5.0], Normalized) }.validate();
    assert_eq!(validated(0.05, 0.9), Ok(()));
    for (alpha, beta) in [(0.0, 0.05), (0.05, 0.0), (0.5, 0.5), (1.5, -1.0), (f64::INFINITY, 0.05)] {
        assert_eq!(validated(alpha, beta), Err(SprtError::ErrorRates(alpha, beta)));
    }
    assert!(validated(f64::NAN, 0.05).is_err());
    let error = validated(0.5, 0.5).unwrap_err();
    assert_eq!(error.to_string(), "SPRT: alpha = 0.5 and beta = 0.5 are not above 0 with a sum below 1");
}

#[test]
fn models_are_read_by_the_names_of_fastchess() {
    for (name, model) in [("normalized", Normalized), ("logistic", Logistic)] {
        assert_eq!(name.parse(), Ok(model));
        assert_eq!(serde_json::to_string(&model).unwrap(), format!("\"{name}\""));
    }
    let error = "elo".parse::<SprtModel>().unwrap_err();
    assert_eq!(error.to_string(), "\"elo\" is not an SPRT model: normalized or logistic");
}

fn any_elos() -> impl Strategy<Value = [f64; 2]> {
    (-LARGEST_ELO..LARGEST_ELO - 1.0, 0.5..100.0)
        .prop_map(|(elo0, width): (f64, f64)| [elo0, (elo0 + width).min(LARGEST_ELO)])
}

proptest! {
    #[test]
    fn exchanged_players_negate_the_ratio(
        results in any_results(),
        elos in any_elos(),
        model in prop::sample::select(vec![Normalized, Logistic]),
    ) {
        let llr = sprt(elos, model).llr(&results);
        let swapped = sprt([-elos[1], -elos[0]], model).llr(&results.swapped());
        prop_assert!(is_near(llr, -swapped), "{llr} {swapped}");
    }

    // Not so for normalised Elo: a win among draws raises the standard deviation more than the score.
    #[test]
    fn a_win_raises_the_ratio_of_logistic_hypotheses(results in any_results(), elos in any_elos()) {
        let sprt = sprt(elos, Logistic);
        let llr = sprt.llr(&results);
        let (mut won, mut lost) = (results.clone(), results.clone());
        if results.is_paired() {
            won.add_pair([super::super::GameResult::Win; 2]);
            lost.add_pair([super::super::GameResult::Loss; 2]);
        } else {
            won.add_game(super::super::GameResult::Win);
            lost.add_game(super::super::GameResult::Loss);
        }
        prop_assert!(sprt.llr(&won) > llr && llr > sprt.llr(&lost), "{} {llr} {}", sprt.llr(&lost), sprt.llr(&won));
    }
}
