//! Checks levels and the manner of a Maia.

use super::*;
use std::sync::Arc;
use zeitnot_backend::{Attributes, Backend, BackendError, EvaluationCache, Evaluator, RandomBackend};
use zeitnot_base::clock::VirtualClock;
use zeitnot_chess::Game;

/// A backend that says it is a Maia for players rated 1500.
struct Maia(RandomBackend, Attributes);

impl Backend for Maia {
    fn attributes(&self) -> &Attributes {
        &self.1
    }
    fn evaluator(&self) -> Result<Box<dyn Evaluator>, BackendError> {
        self.0.evaluator()
    }
    fn cache(&self) -> Option<&dyn EvaluationCache> {
        None
    }
}

fn engine(is_maia: bool, options: &[(&str, &str)]) -> Engine {
    let random = RandomBackend::new(1);
    let attributes = Attributes { maia: is_maia.then_some(1500), ..random.attributes().clone() };
    let mut all = Options::default();
    all.set("NNCacheSize", "0").unwrap();
    options.iter().for_each(|(name, value)| all.set(name, value).unwrap());
    Engine::with_backend(all, Arc::new(VirtualClock::default()), Arc::new(Maia(random, attributes))).unwrap()
}

fn on_clock() -> GoParams {
    GoParams { wtime: Some(60_000.0), btime: Some(60_000.0), ..GoParams::default() }
}

#[test]
fn levels_rise_with_elo() {
    // The mean logarithm of the nodes, and the mean temperature of moves by one node.
    let of = |elo: u64| {
        let moves = (0..1000).map(|chance| Manner::of_level(elo, (f64::from(chance) + 0.5) / 1000.0));
        let sums = moves.fold((0.0, 0.0), |(nodes, heat), manner| {
            let cold = if manner.nodes == 1 { f64::from(manner.temperature) } else { 0.0 };
            (nodes + (manner.nodes as f64).ln(), heat + cold)
        });
        sums.0 - sums.1
    };
    let levels: Vec<f64> = (LOWEST_ELO..=HIGHEST_ELO).step_by(20).map(of).collect();
    assert!(levels.windows(2).all(|pair| pair[0] < pair[1]), "{levels:?}");
    for (elo, nodes, temperature) in LEVELS {
        for chance in [0.0, 0.999] {
            let level = Manner::of_level(elo, chance);
            assert_eq!((level.nodes, level.temperature), (nodes, temperature), "{elo}");
        }
    }
    assert_eq!(Manner::of_level(1, 0.5), Manner::of_level(LOWEST_ELO, 0.5));
}

#[test]
fn options_of_the_search_do_not_change_a_level() {
    let mut given = Options::default();
    for (name, value) in [
        ("CPuct", "9"),
        ("TopP", "0.1"),
        ("TempDecayMoves", "2"),
        ("SearchAlgorithm", "policyhead"),
        ("PolicyTemperature", "3"),
        ("DirichletNoiseEpsilon", "0.5"),
        ("Contempt", "100"),
        ("Temperature", "0"),
        ("TimeManager", "simple"),
    ] {
        given.set(name, value).unwrap();
    }
    let level = Manner::of_level(2300, 0.5);
    let (plain, played) = (level.options(&Options::default(), true), level.options(&given, true));
    assert_eq!(played.search_params(), plain.search_params());
    assert_eq!((played.algorithm, played.time_manager.as_str()), (SearchAlgorithm::Classic, "simple"));
}

#[test]
fn a_level_varies_its_openings() {
    const CHESS960: &str = "bqnbnrkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBNRKR w HFhf - 0 1";
    let temperatures = |elo: u64| {
        let mut engine = engine(false, &[("UCI_LimitStrength", "true"), ("UCI_Elo", &elo.to_string())]);
        [
            Game::new().start_fen().as_str(),
            CHESS960,
            "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1",
            "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1",
        ]
        .map(|fen| {
            engine.set_game(Game::from_fen(fen, fen == CHESS960).unwrap());
            let temperature = engine.turn(&on_clock()).search.temperature;
            [0, 7, 8, 200].map(|ply| temperature.at(ply))
        })
    };
    let (opens, plays) = ([0.5, 0.5, 0.1, 0.1], [0.1; 4]);
    assert_eq!(temperatures(1640), [opens, opens, plays, plays], "four moves of each side of a whole game");
    assert_eq!(temperatures(LOWEST_ELO), [[0.65; 4]; 4], "a weak level's own varies them more");
    let maia = Manner::of_maia(1500, true).options(&Options::default(), true).search_params().temperature;
    assert_eq!([0, 200].map(|ply| maia.at(ply)), [1.0; 2]);
}

#[test]
fn a_limit_comes_from_either_option() {
    let limit = |options: &[(&str, &str)]| engine(false, options).options.elo_limit();
    assert_eq!(limit(&[]), None);
    assert_eq!(limit(&[("UCI_Elo", "1800")]), None, "UCI_LimitStrength is off");
    assert_eq!(limit(&[("UCI_Elo", "1800"), ("UCI_LimitStrength", "true"), ("Skill Level", "3")]), Some(1800));
    assert_eq!(limit(&[("Skill Level", "0")]), Some(LOWEST_ELO));
    assert_eq!(limit(&[("Skill Level", "10")]), Some((LOWEST_ELO + HIGHEST_ELO) / 2));
    assert_eq!(limit(&[("Skill Level", "20")]), None);
}

#[test]
fn a_level_limits_every_search_with_an_end() {
    let mut engine = engine(false, &[("UCI_LimitStrength", "true"), ("UCI_Elo", "2600")]);
    let nodes = Manner::of_level(2600, 0.5).nodes;
    for go in [
        on_clock(),
        GoParams { movetime: Some(60_000.0), ..GoParams::default() },
        GoParams { depth: Some(90), ..GoParams::default() },
        GoParams { nodes: Some(1_000_000), ..GoParams::default() },
    ] {
        // Twice: nodes that were searched before do not count.
        for _ in 0..2 {
            let (end, _) = engine.run(&go, engine.now_ms(), None).unwrap();
            assert!((nodes..nodes + 8).contains(&end.report.nodes), "{} {nodes} {go:?}", end.report.nodes);
        }
    }
    let few = GoParams { nodes: Some(3), ..GoParams::default() };
    assert_eq!(engine.run(&few, 0.0, None).unwrap().0.report.nodes, 3);
    assert_eq!(engine.turn(&GoParams { infinite: true, ..on_clock() }).manner, None);
    assert_eq!(engine.turn(&GoParams::default()).manner, None);
}

#[test]
fn a_maia_plays_as_people_only_where_it_is_free_to() {
    let manner = |plays: bool, options: &[(&str, &str)], go: &GoParams| {
        let mut engine = engine(true, options);
        if plays {
            engine.play_maias_as_people();
        }
        engine.turn(go).manner
    };
    let played = manner(true, &[], &on_clock()).unwrap();
    assert_eq!(played, Manner::of_maia(1500, true));
    assert_eq!(
        manner(true, &[], &GoParams { ponder: true, ..on_clock() }),
        Some(played),
        "the move that it may become"
    );
    assert_eq!(manner(false, &[], &on_clock()), None, "a match or a measurement");
    for (name, value) in [("TimeManager", zeitnot_time::DEFAULT_MANAGER), ("NodesPerMove", "0")] {
        assert_eq!(manner(true, &[(name, value)], &on_clock()), None, "{name} was set");
    }
    for go in [
        GoParams { nodes: Some(9), ..on_clock() },
        GoParams { movetime: Some(9.0), ..GoParams::default() },
        GoParams { infinite: true, ..on_clock() },
        GoParams::default(),
    ] {
        assert_eq!(manner(true, &[], &go), None, "{go:?}");
    }
    let limited = [("UCI_LimitStrength", "true")];
    assert_eq!(manner(false, &limited, &on_clock()), Some(Manner::of_maia(1500, false)), "its level is its own");
}

#[test]
fn a_maia_takes_the_options_that_the_user_did_not_set() {
    let maia = Manner::of_maia(1500, true);
    let options = maia.options(&Options::default(), true);
    assert_eq!((options.temperature, options.policy_temperature), (1.0, 1.0));
    assert_eq!(options.time_manager, "human(elo=1500)");
    let mut given = Options::default();
    given.set("Temperature", "0").unwrap();
    let options = maia.options(&given, true);
    assert_eq!((options.temperature, options.policy_temperature), (0.0, 1.0));
    assert!(
        maia.note(&given).starts_with("this Maia plays as people rated 1500 do: one node a move, Temperature 0.00, ")
    );
}

#[test]
fn a_maia_draws_its_moves() {
    let mut engine = engine(true, &[]);
    engine.play_maias_as_people();
    let mut moves = std::collections::BTreeSet::new();
    for _ in 0..40 {
        let (end, plan) = engine.run(&on_clock(), engine.now_ms(), None).unwrap();
        assert_eq!(end.report.nodes, 1);
        assert_eq!(plan.unwrap().manager, "human");
        moves.extend(end.best.map(|mv| mv.to_string()));
    }
    assert!(moves.len() > 3, "{moves:?}");
}

#[test]
fn options_that_are_sent_as_they_stand_are_no_wish() {
    let mut engine = engine(true, &[]);
    engine.play_maias_as_people();
    for (name, value) in [("TimeManager", zeitnot_time::DEFAULT_MANAGER), ("NodesPerMove", "0"), ("Temperature", "0")] {
        engine.set_option(name, value).unwrap();
    }
    assert_eq!(engine.turn(&on_clock()).manner, Some(Manner::of_maia(1500, true)));
    assert_eq!(engine.turn(&on_clock()).options.temperature, 1.0);
    engine.set_flag("TimeManager", zeitnot_time::DEFAULT_MANAGER).unwrap();
    assert_eq!(engine.turn(&on_clock()).manner, None, "a flag is a wish");
    engine.set_option("NodesPerMove", "5").unwrap();
    engine.set_option("NodesPerMove", "0").unwrap();
    assert_eq!(engine.turn(&on_clock()).manner, None, "and stays one");
}

/// Won positions in which the policy of the network built in stalemates.
const WON: [&str; 6] = [
    "5K2/8/4Q3/8/8/8/8/k7 w - - 0 1",
    "7k/8/8/7K/8/8/8/6Q1 w - - 0 1",
    "8/8/2q5/6k1/8/8/8/K7 b - - 0 1",
    "k7/8/8/8/7K/8/5Q2/8 w - - 0 1",
    "6q1/8/k7/8/8/8/8/7K b - - 0 1",
    "8/8/8/8/8/1q5k/8/5K2 b - - 0 1",
];

#[test]
fn a_won_game_is_not_drawn_by_a_move_of_one_node() {
    let trouble = GoParams { winc: Some(100.0), binc: Some(100.0), wtime: Some(1.0), btime: Some(1.0), ..on_clock() };
    let node = GoParams { nodes: Some(1), ..GoParams::default() };
    let level = [("UCI_LimitStrength", "true"), ("UCI_Elo", "1900"), ("RandomSeed", "1")];
    let policy = [("SearchAlgorithm", "policyhead"), ("Temperature", "2"), ("RandomSeed", "1")];
    for (options, go) in [(&[][..], &trouble), (&[], &node), (&level, &on_clock()), (&policy, &on_clock())] {
        let mut all = Options { weights: BUILT_IN.to_owned(), ..Options::default() };
        options.iter().for_each(|(name, value)| all.set(name, value).unwrap());
        let clock = Arc::new(VirtualClock::default());
        let mut engine = Engine::new(all, clock, crate::engine::RuntimePolicy::FindOnly);
        engine.prepare().unwrap();
        for fen in WON {
            for _ in 0..5 {
                engine.set_game(Game::from_fen(fen, false).unwrap());
                let (end, _) = engine.run(go, engine.now_ms(), None).unwrap();
                let mut game = engine.game().clone();
                game.push(end.best.unwrap());
                assert_eq!(game.outcome(), None, "{options:?} {go:?} {fen}: {}", game.fen());
            }
        }
    }
}

#[test]
fn who_plays_weaker_overlooks_more() {
    let chances: Vec<f32> = (LOWEST_ELO..=2600).step_by(100).map(overlooks).collect();
    assert!(chances.is_sorted_by(|a, b| a >= b) && chances[9] < 0.02, "{chances:?}");
    assert_eq!([chances[0], chances[4]], [0.75, 0.25]);
    assert_eq!(Manner::of_maia(1500, true).overlooks, Manner::of_level(1500, 0.5).overlooks);
    assert_eq!(engine(true, &[]).turn(&on_clock()).search.overlooks, None, "the engine itself never");
}

#[test]
fn each_game_has_a_seed_and_its_manager_stays() {
    let spreads = |options: &[(&str, &str)]| {
        let mut engine = engine(true, options);
        engine.play_maias_as_people();
        let mut spreads = Vec::new();
        for _ in 0..6 {
            engine.new_game();
            engine.set_game(Game::new());
            engine.prepare().unwrap();
            let (_, plan) = engine.run(&on_clock(), engine.now_ms(), None).unwrap();
            spreads.push(plan.unwrap().term("spread").unwrap().value.to_string());
        }
        // The next move of the last game: the clock at its beginning is known.
        let mut game = Game::new();
        ["e2e4", "e7e5"].iter().for_each(|mv| game.push_uci(mv).unwrap());
        engine.set_game(game);
        engine.prepare().unwrap();
        let go = GoParams { wtime: Some(50_000.0), ..on_clock() };
        let (_, plan) = engine.run(&go, engine.now_ms(), None).unwrap();
        assert_eq!(plan.unwrap().term("initial").unwrap().value, 60.0);
        spreads.into_iter().collect::<std::collections::BTreeSet<_>>().len()
    };
    assert!(spreads(&[]) > 3);
    assert_eq!(spreads(&[("RandomSeed", "7")]), 1);
}

#[test]
fn the_flag_of_a_maia_falls_against_a_person_alone() {
    let given = Options { against_person: true, ..Options::default() };
    assert_eq!(Manner::of_maia(1500, true).options(&given, true).time_manager, "human(elo=1500,flag=1)");
}
