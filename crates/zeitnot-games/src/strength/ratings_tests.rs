//! Compares ratings with those of Ordo and with the truth of simulated games.

use std::f64::consts::LN_10;

use proptest::prelude::*;

use super::super::tests::unpaired;
use super::*;
use zeitnot_engine::splitmix::SplitMix64;

fn encounter(first: &str, second: &str, results: [u64; 3]) -> Encounter {
    Encounter { players: [first, second].map(str::to_owned), results: unpaired(results) }
}

fn anchors(known: &[(&str, f64)]) -> BTreeMap<String, f64> {
    known.iter().map(|&(name, elo)| (name.to_owned(), elo)).collect()
}

fn value(ratings: &[Rating], player: &str) -> RatingValue {
    ratings.iter().find(|rating| rating.player == player).unwrap().value
}

fn elo(ratings: &[Rating], player: &str) -> f64 {
    value(ratings, player).elo().unwrap()
}

fn assert_near(value: f64, expected: f64, error: f64) {
    assert!((value - expected).abs() <= error, "{value} is not {expected}");
}

// 75 points of 100: odds of 3, and a variance of 0.75 · 0.25 a game.
#[test]
fn two_players_differ_by_the_odds_of_their_score() {
    let ratings = rate(&[encounter("A", "B", [70, 10, 20])], &anchors(&[("B", 1000.0)])).unwrap();
    let RatingValue::Estimated { elo, margin } = ratings[0].value else { panic!("{ratings:?}") };
    assert_near(elo, 1000.0 + 400.0 * 3.0_f64.log10(), 1e-9);
    assert_near(margin, 1.959_964 * 400.0 / LN_10 / (100.0 * 0.75 * 0.25_f64).sqrt(), 1e-4);
    assert_eq!((&*ratings[0].player, ratings[0].games, ratings[0].points), ("A", 100, 75.0));
    assert_eq!(ratings[1].value, RatingValue::Anchor { elo: 1000.0 });
    assert_eq!((ratings[1].games, ratings[1].points), (100, 25.0));
}

#[test]
fn a_lopsided_score_is_rated() {
    let ratings = rate(&[encounter("A", "B", [999_999, 1, 0])], &anchors(&[("B", 0.0)])).unwrap();
    assert_near(elo(&ratings, "A"), 400.0 * (999_999.5_f64 / 0.5).log10(), 1e-6);
}

fn pool() -> Vec<Encounter> {
    [
        ("A", "B", [50, 80, 30]),
        ("A", "C", [90, 60, 10]),
        ("B", "C", [40, 100, 20]),
        ("C", "D", [70, 50, 40]),
        ("D", "E", [30, 20, 10]),
        ("A", "E", [100, 20, 4]),
        ("B", "D", [61, 37, 22]),
        ("C", "E", [9, 3, 0]),
    ]
    .map(|(first, second, results)| encounter(first, second, results))
    .to_vec()
}

// Computed by Ordo 1.2.6 from a PGN of these results: `ordo -M -N 6 -z 200.24094`, the scale of this formula, with
// `-a 2800 -A A` or `-m` and a file of both anchors. It iterates to about 1e-5 Elo.
#[test]
fn a_pool_has_the_ratings_of_ordo() {
    let assert_is_ordo = |known: &[(&str, f64)], expected: [f64; 5]| {
        let ratings = rate(&pool(), &anchors(known)).unwrap();
        let names: Vec<&str> = ratings.iter().map(|rating| &*rating.player).collect();
        assert_eq!(names, ["A", "B", "C", "D", "E"], "the highest first");
        for (player, expected) in names.into_iter().zip(expected) {
            assert_near(elo(&ratings, player), expected, 2e-5);
        }
    };
    assert_is_ordo(&[("A", 2800.0)], [2800.0, 2720.43373, 2651.24688, 2588.26756, 2446.17196]);
    assert_is_ordo(&[("A", 2800.0), ("C", 2650.0)], [2800.0, 2719.72444, 2650.0, 2587.31805, 2445.6348]);
}

/// Games of every two of five players, and their true ratings; `drawn` is the share of points that draws have at least.
fn simulated(random: &mut SplitMix64, games: u64, drawn: f64) -> (Vec<Encounter>, [(&'static str, f64); 5]) {
    let players = [("A", 2800.0), ("B", 2740.0), ("C", 2690.0), ("D", 2610.0), ("E", 2480.0)];
    let mut encounters = Vec::new();
    for (index, (first, first_elo)) in players.iter().enumerate() {
        for (second, second_elo) in &players[index + 1..] {
            let expected = 1.0 / (1.0 + 10.0_f64.powf((second_elo - first_elo) / 400.0));
            let draw = drawn * 2.0 * expected.min(1.0 - expected);
            let win = expected - draw / 2.0;
            let mut results = [0; 3];
            for _ in 0..games {
                let number = random.unit();
                results[usize::from(number >= win) + usize::from(number >= win + draw)] += 1;
            }
            encounters.push(encounter(first, second, results));
        }
    }
    (encounters, players)
}

#[test]
fn a_simulated_pool_is_recovered() {
    let (encounters, players) = simulated(&mut SplitMix64(1), 2000, 0.6);
    let ratings = rate(&encounters, &anchors(&[("A", 2800.0), ("D", 2610.0)])).unwrap();
    for (player, expected) in players {
        if let RatingValue::Estimated { elo, margin } = value(&ratings, player) {
            assert!((3.0..15.0).contains(&margin), "{player}: {margin}");
            assert_near(elo, expected, margin);
        } else {
            assert_eq!(elo(&ratings, player), expected);
        }
    }
}

// Without draws margins are not too wide. 900 estimates cover the truth in 95 % of the cases; three standard deviations
// of that share are 2.2 %.
#[test]
fn margins_cover_the_truth() {
    let mut random = SplitMix64(2);
    let (mut covered, mut estimates) = (0.0, 0.0);
    for _ in 0..300 {
        let (encounters, players) = simulated(&mut random, 100, 0.0);
        let ratings = rate(&encounters, &anchors(&[("A", 2800.0), ("D", 2610.0)])).unwrap();
        for (player, expected) in players {
            if let RatingValue::Estimated { elo, margin } = value(&ratings, player) {
                estimates += 1.0;
                covered += f64::from(u8::from((elo - expected).abs() <= margin));
            }
        }
    }
    assert_eq!(estimates, 900.0);
    assert_near(covered / estimates, 0.95, 0.022);
}

#[test]
fn infinite_ratings_are_told() {
    let encounters = [
        encounter("known", "middling", [10, 5, 8]),
        encounter("winner", "middling", [3, 0, 0]),
        encounter("loser", "known", [0, 0, 4]),
        // These two score on each other, and nobody else on them.
        encounter("twin", "sister", [1, 2, 1]),
        encounter("twin", "known", [6, 0, 0]),
        encounter("sister", "middling", [5, 0, 0]),
        encounter("stranger", "loser", [2, 0, 0]),
    ];
    let ratings = rate(&encounters, &anchors(&[("known", 2000.0)])).unwrap();
    for (player, expected) in [
        ("winner", RatingValue::Above),
        ("twin", RatingValue::Above),
        ("sister", RatingValue::Above),
        ("loser", RatingValue::Below),
        ("stranger", RatingValue::Unknown),
    ] {
        assert_eq!(value(&ratings, player), expected, "{player}");
        assert_eq!(expected.elo(), None);
    }
    let finite = rate(&encounters[..1], &anchors(&[("known", 2000.0)])).unwrap();
    assert_eq!(value(&ratings, "middling"), value(&finite, "middling"), "games without information");
    let order = ["twin", "sister", "winner", "known", "middling", "loser", "stranger"];
    assert_eq!(ratings.iter().map(|rating| &*rating.player).collect::<Vec<_>>(), order);
}

#[test]
fn impossible_pools_are_refused() {
    let error = |encounters: &[Encounter], known| rate(encounters, &anchors(known)).unwrap_err().to_string();
    let games = [encounter("A", "B", [1, 1, 1]), encounter("C", "D", [1, 1, 1])];
    assert_eq!(error(&games, &[]), "no player has a known rating");
    assert_eq!(error(&games, &[("A", 0.0)]), "no games connect \"C\" with a player whose rating is known");
    assert_eq!(error(&games, &[("A", 0.0), ("X", 0.0)]), "\"X\" has a known rating and no games");
    assert_eq!(error(&games, &[("A", f64::NAN)]), "the known rating of \"A\" is NaN");
    assert_eq!(error(&[encounter("A", "A", [1, 0, 0])], &[("A", 0.0)]), "\"A\" plays against itself");

    let without_games = [encounter("A", "B", [1, 1, 1]), encounter("B", "C", [0, 0, 0])];
    assert_eq!(error(&without_games, &[("A", 0.0)]), "no games connect \"C\" with a player whose rating is known");

    let between = [encounter("A", "B", [0, 9, 0]), encounter("B", "C", [0, 9, 0])];
    let message = "the known ratings are too far apart for these results";
    assert_eq!(error(&between, &[("A", 0.0), ("C", 1e6)]), message);
    let ratings = rate(&between, &anchors(&[("A", 0.0), ("C", 3000.0)])).unwrap();
    assert_near(elo(&ratings, "B"), 1500.0, 1e-6);
}

#[test]
fn ratings_are_written_and_read() {
    let ratings =
        rate(&[encounter("A", "B", [1, 0, 0]), encounter("C", "B", [1, 1, 0])], &anchors(&[("B", 5.0)])).unwrap();
    let text = serde_json::to_string(&ratings).unwrap();
    assert!(text.starts_with(r#"[{"player":"A","value":{"kind":"above"},"games":1,"points":1.0},"#), "{text}");
    assert_eq!(serde_json::from_str::<Vec<Rating>>(&text).unwrap(), ratings);
}

proptest! {
    #[test]
    fn only_differences_of_anchors_count(
        results in prop::collection::vec([1..200_u64, 0..200_u64, 1..200_u64], 4),
        shift in -1000.0..1000.0,
    ) {
        let pairs = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "B")];
        let games = || pairs.iter().zip(&results);
        let encounters: Vec<_> = games().map(|((a, b), results)| encounter(a, b, *results)).collect();
        let mirrored: Vec<_> = games().map(|((a, b), [w, d, l])| encounter(b, a, [*l, *d, *w])).collect();
        let here = rate(&encounters, &anchors(&[("A", 0.0), ("C", 50.0)])).unwrap();
        let there = rate(&mirrored, &anchors(&[("A", shift), ("C", shift + 50.0)])).unwrap();
        for player in ["B", "D"] {
            let [here, there] = [&here, &there].map(|ratings| elo(ratings, player));
            prop_assert!((here + shift - there).abs() < 1e-6, "{player}: {here} + {shift} is not {there}");
        }
    }

    // At the maximum of the likelihood everybody scores as expected.
    #[test]
    fn rated_players_score_as_expected(results in prop::collection::vec([1..200_u64, 0..200_u64, 0..200_u64], 5)) {
        // A circle of players who scored on the next, so that all ratings are finite.
        let pairs = [("A", "B"), ("B", "C"), ("C", "D"), ("D", "E"), ("E", "A")];
        let encounters: Vec<Encounter> =
            pairs.iter().zip(&results).map(|(pair, results)| encounter(pair.0, pair.1, *results)).collect();
        let ratings = rate(&encounters, &anchors(&[("A", 2500.0)])).unwrap();
        for rating in &ratings {
            let expected: f64 = encounters.iter().filter_map(|encounter| {
                let other = match encounter.players.iter().position(|player| *player == rating.player)? {
                    0 => &encounter.players[1],
                    _ => &encounter.players[0],
                };
                let difference = elo(&ratings, other) - rating.value.elo()?;
                Some(encounter.results.games() as f64 / (1.0 + 10.0_f64.powf(difference / 400.0)))
            }).sum();
            prop_assert!((expected - rating.points).abs() < 1e-6, "{rating:?}: {expected}");
        }
    }
}

#[test]
fn players_without_a_rating_are_ranked_by_their_points() {
    let encounters = [
        encounter("Fish", "Legacy", [2, 0, 0]),
        encounter("Fish", "Small", [2, 0, 0]),
        encounter("Fish", "Toga", [2, 0, 0]),
        encounter("Legacy", "Small", [0, 1, 1]),
        encounter("Toga", "Legacy", [2, 0, 0]),
        encounter("Toga", "Small", [2, 0, 0]),
    ];
    let told = |anchor: &str| -> Vec<String> {
        let ratings = rate(&encounters, &anchors(&[(anchor, 2902.0)])).unwrap();
        ratings.iter().map(|rating| format!("{} {} {}", rating.player, rating.points, rating.value)).collect()
    };
    let below = "unknown: no point against a rated player";
    let expected = [format!("Toga 4 {below}"), format!("Small 1.5 {below}"), format!("Legacy 0.5 {below}")];
    assert_eq!(told("Fish")[0], "Fish 6 2902, which is given");
    assert_eq!(told("Fish")[1..], expected);
    let above = "unknown: no point lost to a rated player";
    assert_eq!(told("Small")[..2], [format!("Fish 6 {above}"), format!("Toga 4 {above}")]);
}
