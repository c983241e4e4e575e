//! Checks the counts of games and pairs, and makes the results that the tests of this folder share.

use proptest::prelude::*;

use super::GameResult::{Draw, Loss, Win};
use super::*;

/// Results whose games are all in pairs, from the numbers of pairs LL, LD, WL, DD, WD and WW, as fastchess counts them.
pub fn paired([ll, ld, wl, dd, wd, ww]: [u64; 6]) -> Results {
    Results {
        wins: wl + wd + 2 * ww,
        draws: ld + 2 * dd + wd,
        losses: 2 * ll + ld + wl,
        pentanomial: [ll, ld, wl + dd, wd, ww],
    }
}

/// Results without pairs, from the numbers of wins, draws and losses.
pub fn unpaired([wins, draws, losses]: [u64; 3]) -> Results {
    Results { wins, draws, losses, pentanomial: [0; 5] }
}

/// Any results, with pairs and without: none, few or many of each.
pub fn any_results() -> impl Strategy<Value = Results> {
    let count = || prop_oneof![Just(0), 1..5_u64, 1..100_000_u64];
    prop_oneof![
        [count(), count(), count(), count(), count(), count()].prop_map(paired),
        [count(), count(), count()].prop_map(unpaired),
    ]
}

/// Whether two numbers differ by no more than a millionth of their size, or a millionth.
pub fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * a.abs().max(1.0)
}

#[test]
fn games_and_pairs_are_counted() {
    let mut results = Results::default();
    for (first, second) in [(Loss, Loss), (Draw, Loss), (Draw, Draw), (Win, Loss), (Loss, Win), (Win, Draw), (Win, Win)]
    {
        results.add_pair([first, second]);
    }
    assert_eq!(results, Results { wins: 5, draws: 4, losses: 5, pentanomial: [1, 1, 3, 1, 1] });
    assert_eq!((results.games(), results.pairs(), results.points()), (14, 7, 7.0));
    assert!(results.is_paired());

    results.add_game(Win);
    results.add_game(Draw);
    assert_eq!(results, Results { wins: 6, draws: 5, losses: 5, pentanomial: [1, 1, 3, 1, 1] });
    assert_eq!(results.score(), Some(8.5 / 16.0));
    assert!(!results.is_paired());
}

#[test]
fn no_games_have_no_score() {
    assert_eq!(Results::default().score(), None);
    assert!(Results::default().is_paired());
}

#[test]
fn results_are_written_and_read() {
    let results = paired([1, 2, 3, 4, 5, 6]);
    let text = r#"{"wins":20,"draws":15,"losses":7,"pentanomial":[1,2,7,5,6]}"#;
    assert_eq!(serde_json::to_string(&results).unwrap(), text);
    assert_eq!(serde_json::from_str::<Results>(text).unwrap(), results);
}

proptest! {
    #[test]
    fn the_players_share_the_points(results in any_results()) {
        let swapped = results.swapped();
        prop_assert_eq!(results.points() + swapped.points(), results.games() as f64);
        prop_assert_eq!(results.is_paired(), swapped.is_paired());
        prop_assert_eq!(swapped.swapped(), results);
    }

    #[test]
    fn sums_count_both(first in any_results(), second in any_results()) {
        let mut sum = first.clone();
        sum += &second;
        prop_assert_eq!(sum.games(), first.games() + second.games());
        prop_assert_eq!(sum.pairs(), first.pairs() + second.pairs());
        prop_assert_eq!(sum.points(), first.points() + second.points());
        sum += &sum.swapped();
        prop_assert_eq!(sum.swapped(), sum);
    }
}
