//! The search through the engine's face, with the evaluators that need no network.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::common::{Answer, engine, search};
use std::sync::Arc;
use std::time::Duration;
use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::engine::{Engine, GoParams};
use zeitnot_engine::search::{EndReason, Listener, SearchEnd};
use zeitnot_time::StopReason;

fn nodes(count: u64) -> GoParams {
    GoParams { nodes: Some(count), ..GoParams::default() }
}

fn set(engine: &mut Engine, fen: &str) {
    engine.set_game(Game::from_fen(fen, false).unwrap());
}

fn best(end: &SearchEnd) -> String {
    to_uci(end.best.unwrap(), false)
}

#[test]
fn a_node_limit_is_met_exactly() {
    for (threads, batch) in [("1", "1"), ("1", "32"), ("2", "16")] {
        let options =
            [("Backend", "random"), ("Threads", threads), ("MinibatchSize", batch), ("SmartPruningFactor", "0")];
        let mut engine = engine(&options);
        for count in [1, 2, 100, 1000] {
            engine.new_game();
            let end = search(&mut engine, &nodes(count));
            assert_eq!(end.report.nodes, count, "{threads} threads, batches of {batch}");
            assert_eq!(end.reason, EndReason::Stopper(StopReason::Nodes));
        }
    }
}

#[test]
fn one_thread_repeats_itself() {
    let run = || {
        let mut engine = engine(&[
            ("Backend", "random"),
            ("Threads", "1"),
            ("VerboseMoveStats", "true"),
            ("SmartPruningFactor", "0"),
        ]);
        search(&mut engine, &nodes(3000)).move_stats
    };
    assert_eq!(run(), run());
}

#[test]
fn root_visits_add_up() {
    let mut engine = engine(&[("Backend", "random"), ("Threads", "2"), ("VerboseMoveStats", "true")]);
    let end = search(&mut engine, &nodes(2000));
    let (root, moves) = end.move_stats.split_last().unwrap();
    assert_eq!(moves.len(), 20);
    assert_eq!(root.n, moves.iter().map(|stats| stats.n).sum::<u32>() + 1);
    // The answer may come while the other thread evaluates; once the search has ended no visit is on its way.
    let after = search(&mut engine, &nodes(1)).move_stats;
    assert!(after.iter().all(|stats| stats.in_flight == 0), "{after:?}");
    let prior: f32 = moves.iter().map(|stats| stats.p).sum();
    assert!((prior - 1.0).abs() < 1e-4);
}

#[test]
fn mates_are_found_proven_and_played() {
    let mut engine = engine(&[("Backend", "uniform"), ("Threads", "1")]);
    for (fen, mv, mate) in [
        ("r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4", "h5f7", 1),
        ("6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1", "d1d8", 1),
        // Two moves: the king steps aside or the rook waits; black can only shuffle.
        ("7k/8/5K2/8/8/8/8/6R1 w - - 0 1", "f6f7", 2),
    ] {
        set(&mut engine, fen);
        let end = search(&mut engine, &nodes(20_000));
        assert_eq!((best(&end).as_str(), end.report.lines[0].mate), (mv, Some(mate)), "{fen}");
        assert_eq!(end.reason, EndReason::Stopper(StopReason::WinFound), "a win in hand needs no more search");
    }
}

#[test]
fn a_lost_side_resists_longest() {
    // Kc1 is mated by Rh1, after Ka1 it takes black a move more.
    let mut engine = engine(&[("Backend", "uniform"), ("Threads", "1"), ("SmartPruningFactor", "0"), ("MultiPV", "2")]);
    set(&mut engine, "8/8/8/8/8/2k5/7r/1K6 w - - 0 1");
    let end = search(&mut engine, &nodes(5000));
    assert_eq!(best(&end), "b1a1");
    let mates: Vec<_> = end.report.lines.iter().map(|line| line.mate).collect();
    assert_eq!(mates, [Some(-2), Some(-1)]);
}

#[test]
fn roots_full_of_drawn_ends_are_ranked() {
    // Many moves stalemate or leave bare kings here: open moves and drawn ends of different lengths stand side by side.
    let mut engine = engine(&[("Backend", "uniform"), ("Threads", "1"), ("MultiPV", "500")]);
    for fen in [
        "7k/5Q2/8/8/8/8/8/K7 w - - 0 1",
        "8/8/8/8/8/k7/p7/2K5 w - - 0 1",
        "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    ] {
        set(&mut engine, fen);
        assert!(search(&mut engine, &nodes(20_000)).best.is_some(), "{fen}");
    }
}

#[test]
fn ends_of_the_game_have_no_move() {
    let mut engine = engine(&[("Backend", "uniform")]);
    for fen in ["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"] {
        set(&mut engine, fen);
        let end = search(&mut engine, &GoParams { wtime: Some(1e4), btime: Some(1e4), ..GoParams::default() });
        assert_eq!((end.best, end.reason), (None, EndReason::NoMoves), "{fen}");
    }
}

#[test]
fn a_threefold_draw_is_seen() {
    // f6g8 would bring the start position for the third time: a proven draw, whatever the evaluator says.
    let mut engine = engine(&[("Backend", "uniform"), ("Threads", "1"), ("VerboseMoveStats", "true")]);
    let mut game = Game::new();
    for mv in ["g1f3", "g8f6", "f3g1", "f6g8", "g1f3", "g8f6", "f3g1"] {
        game.push_uci(mv).unwrap();
    }
    engine.set_game(game);
    let end = search(&mut engine, &nodes(500));
    let back = end.move_stats.iter().find(|stats| stats.mv.is_some_and(|mv| to_uci(mv, false) == "f6g8")).unwrap();
    assert_eq!((back.bounds, back.d, back.wl), ((0, 0), Some(1.0), Some(0.0)));
}

#[test]
fn the_tree_is_kept_along_the_game_and_only_there() {
    let mut engine = engine(&[("Backend", "random"), ("Threads", "1")]);
    let end = search(&mut engine, &nodes(3000));
    let mut game = Game::new();
    game.push(end.best.unwrap());
    game.push(end.ponder.unwrap());
    engine.set_game(game.clone());
    let reused = search(&mut engine, &nodes(1)).report;
    assert!(reused.nodes > 50 && reused.playouts == 0, "{reused:?}");
    let mut other = Game::new();
    other.push_uci("a2a3").unwrap();
    engine.set_game(other);
    assert_eq!(search(&mut engine, &nodes(1)).report.nodes, 1);
    engine.set_game(game);
    assert_eq!(search(&mut engine, &nodes(1)).report.nodes, 1, "what was left is gone");
}

#[test]
fn only_the_moves_asked_for_are_searched() {
    let mut engine = engine(&[("Backend", "random"), ("VerboseMoveStats", "true"), ("Threads", "1")]);
    let wanted: Vec<_> = Game::new().current().legal_moves().into_iter().take(2).collect();
    let end = search(&mut engine, &GoParams { search_moves: wanted.clone(), ..nodes(500) });
    assert!(wanted.contains(&end.best.unwrap()));
    for stats in end.move_stats.iter().filter(|stats| stats.mv.is_some()) {
        assert_eq!(stats.n > 0, wanted.contains(&stats.mv.unwrap()), "{stats:?}");
    }
}

#[test]
fn multi_pv_gives_ranked_lines() {
    let mut engine = engine(&[("Backend", "random"), ("MultiPV", "5"), ("Threads", "1")]);
    let lines = search(&mut engine, &nodes(1000)).report.lines;
    assert_eq!(lines.len(), 5);
    assert!(lines.is_sorted_by(|a, b| a.visits >= b.visits));
}

#[test]
fn stop_answers_an_endless_search() {
    let mut engine = engine(&[("Backend", "random"), ("Threads", "2")]);
    let answer = Arc::new(Answer::default());
    let go = GoParams { infinite: true, ..GoParams::default() };
    engine.go(&go, engine.now_ms(), Arc::clone(&answer) as Arc<dyn Listener>).unwrap();
    while answer.reports.lock().is_empty() {
        std::thread::yield_now();
    }
    assert!(answer.end.lock().is_none());
    engine.stop();
    engine.wait();
    let end = answer.end.lock().take().unwrap();
    assert_eq!(end.reason, EndReason::Stopped);
    assert!(end.best.is_some());
}

#[test]
fn an_endless_search_waits_although_a_win_is_found() {
    let mut engine = engine(&[("Backend", "uniform"), ("Threads", "1")]);
    set(&mut engine, "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1");
    let answer = Arc::new(Answer::default());
    let go = GoParams { infinite: true, ..GoParams::default() };
    engine.go(&go, engine.now_ms(), Arc::clone(&answer) as Arc<dyn Listener>).unwrap();
    while !answer.reports.lock().iter().any(|report| report.lines[0].mate == Some(1)) {
        std::thread::yield_now();
    }
    assert!(answer.end.lock().is_none());
    engine.finish();
    assert_eq!(best(&answer.end.lock().take().unwrap()), "d1d8");
}

#[test]
fn the_clock_is_kept_and_the_plan_explained() {
    let mut engine = engine(&[("Backend", "random"), ("Threads", "1"), ("MoveOverheadMs", "50")]);
    let answer = Arc::new(Answer::default());
    let go = GoParams { wtime: Some(3000.0), winc: Some(20.0), btime: Some(1.0), ..GoParams::default() };
    let plan = engine.go(&go, engine.now_ms(), Arc::clone(&answer) as Arc<dyn Listener>).unwrap().unwrap();
    engine.wait();
    let end = answer.end.lock().take().unwrap();
    assert!(plan.budget_ms > 0.0 && plan.hard_limit_ms <= 2950.0, "{plan}");
    assert_eq!(plan.term("clock").unwrap().value, 3000.0);
    assert!(end.report.elapsed_ms < 3000.0 && end.best.is_some(), "{:?}", end.report);
}

#[test]
fn no_clock_at_all_still_gives_a_move() {
    let mut engine = engine(&[("Backend", "random")]);
    for clock in [0.0, 1.0, 150.0] {
        let go = GoParams { wtime: Some(clock), btime: Some(clock), ..GoParams::default() };
        let end = search(&mut engine, &go);
        // Where no time is left for an evaluation the rules choose, and a line says so.
        let evaluated = end.report.nodes >= 1 || matches!(end.reason, EndReason::Unevaluated(_));
        assert!(end.best.is_some() && evaluated && end.report.lines.len() == 1, "{clock} ms: {end:?}");
    }
}

#[test]
fn an_untimed_search_in_between_says_nothing_of_tree_reuse() {
    let mut engine =
        engine(&[("Backend", "random"), ("Threads", "1"), ("MoveOverheadMs", "10"), ("TimeManager", "smooth")]);
    let timed = GoParams { wtime: Some(400.0), btime: Some(400.0), ..GoParams::default() };
    let mut reuse_planned = |untimed: bool| {
        engine.new_game();
        let first = search(&mut engine, &timed);
        if untimed {
            search(&mut engine, &nodes(first.report.nodes * 3));
        }
        let mut game = Game::new();
        game.push(first.best.unwrap());
        game.push(game.current().legal_moves()[0]);
        engine.set_game(game);
        let answer = Arc::new(Answer::default());
        let plan = engine.go(&timed, engine.now_ms(), answer as Arc<dyn Listener>).unwrap().unwrap();
        engine.wait();
        plan.term("tree_reuse").unwrap().value
    };
    assert!(reuse_planned(false) < 0.5, "little of the tree lies below one reply of many");
    assert_eq!(reuse_planned(true), 0.5, "the first guess: nothing was learned");
}

#[test]
fn a_search_that_learns_nothing_more_stops() {
    let options =
        [("Backend", "random"), ("Threads", "1"), ("SmartPruningFactor", "0"), ("MinimumKLDGainPerNode", "0.0001")];
    let mut engine = engine(&options);
    let end = search(&mut engine, &nodes(1_000_000));
    assert_eq!(end.reason, EndReason::Stopper(StopReason::KldGain));
    assert!(end.report.nodes > 200, "two looks are needed to compare");
    engine.set_option("MinimumKLDGainPerNode", "0.000001").unwrap();
    engine.new_game();
    assert!(search(&mut engine, &nodes(1_000_000)).report.nodes > end.report.nodes);
}

#[test]
fn a_speed_limit_is_kept() {
    let mut engine =
        engine(&[("Backend", "random"), ("Threads", "2"), ("NodesPerSecondLimit", "2000"), ("MinibatchSize", "4")]);
    let end = search(&mut engine, &nodes(400));
    // Each thread may have a batch out beyond the limit.
    let nps = end.report.nps.unwrap();
    assert!(nps < 2500.0, "{nps}");
}

#[test]
fn a_search_lives_within_its_memory() {
    // Two megabytes hold some 25,000 of these visits.
    let mut engine = engine(&[
        ("Backend", "random"),
        ("Threads", "2"),
        ("MinibatchSize", "16"),
        ("SmartPruningFactor", "0"),
        ("NNCacheSize", "0"),
        ("RamLimitMb", "2"),
        ("VerboseMoveStats", "true"),
    ]);
    let end = search(&mut engine, &nodes(150_000));
    assert_eq!(end.report.nodes, 150_000, "{:?}", end.reason);
    let (root, moves) = end.move_stats.split_last().unwrap();
    assert_eq!(root.n, moves.iter().map(|stats| stats.n).sum::<u32>() + 1);
    let bytes = engine.tree_bytes();
    assert!(bytes < 2_100_000, "{bytes} bytes");
    assert!(bytes > 1_500_000, "the limit is made use of: {bytes} bytes");
}

/// The end of a search that has a minute.
fn search_in_time(engine: &mut Engine, go: &GoParams) -> SearchEnd {
    let answer = Arc::new(Answer::default());
    engine.go(go, engine.now_ms(), Arc::clone(&answer) as Arc<dyn Listener>).unwrap();
    for _ in 0..6000 {
        if answer.end.lock().is_some() {
            break;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    engine.stop();
    engine.wait();
    answer.end.lock().take().unwrap()
}

#[test]
fn a_move_that_was_forgotten_can_be_played() {
    for opening in ["", "e2e4"] {
        let mut engine = engine(&[
            ("Backend", "random"),
            ("Threads", "1"),
            ("MinibatchSize", "16"),
            ("SmartPruningFactor", "0"),
            ("NNCacheSize", "0"),
            ("RamLimitMb", "2"),
            ("VerboseMoveStats", "true"),
        ]);
        let mut game = Game::new();
        if !opening.is_empty() {
            game.push_uci(opening).unwrap();
        }
        engine.set_game(game.clone());
        let stats = search_in_time(&mut engine, &nodes(60_000)).move_stats;
        let (_, moves) = stats.split_last().unwrap();
        let least = moves.iter().filter(|stats| stats.n > 1).min_by_key(|stats| stats.n).unwrap();
        game.push(least.mv.unwrap());
        engine.set_game(game.clone());
        // As many as the move had: none are left to find its replies with, unless it starts anew.
        let end = search_in_time(&mut engine, &nodes(u64::from(least.n)));
        assert_eq!(end.reason, EndReason::Stopper(StopReason::Nodes), "{opening}");
        assert!(!end.report.lines.is_empty() && end.report.nodes >= 1);
    }
}

/// The moves that a temperature chooses in twelve games.
fn moves_at_random(options: &[(&str, &str)]) -> Vec<String> {
    // In batches as large as the search the visits are spread so that few moves have many.
    let settings =
        [("Backend", "random"), ("Threads", "1"), ("MinibatchSize", "256"), ("Temperature", "1"), ("RandomSeed", "7")];
    let mut engine = engine(&[&settings[..], options].concat());
    let game = |_| {
        engine.new_game();
        best(&search(&mut engine, &nodes(200)))
    };
    let first = (0..2).map(game).collect::<Vec<_>>();
    assert_eq!(first[0], first[1], "a seed makes games repeat");
    (0..12).map(|_| best(&search(&mut engine, &nodes(200)))).collect()
}

#[test]
fn a_temperature_varies_the_moves() {
    let warm = moves_at_random(&[]);
    assert_eq!(warm, moves_at_random(&[]));
    assert_ne!(warm, moves_at_random(&[("RandomSeed", "8")]));
    assert!(warm.iter().any(|mv| *mv != warm[0]), "{warm:?}");
    // From move 1 on the temperature of the endgame, which is none; and cut off by a value that no other move has.
    for calm in [("TempCutoffMove", "1"), ("TempValueCutoff", "0"), ("TempVisitOffset", "-60"), ("Temperature", "0.01")]
    {
        let moves = moves_at_random(&[calm]);
        if calm.0 != "TempValueCutoff" {
            assert!(moves.iter().all(|mv| *mv == moves[0]), "{calm:?}: {moves:?}");
        }
        assert!(moves.iter().all(|mv| warm.contains(mv) || *mv == moves[0]), "{calm:?}: {moves:?}");
    }
}

#[test]
fn noise_changes_the_priors_of_every_search_and_leaves_none() {
    let mut engine =
        engine(&[("Backend", "random"), ("Threads", "2"), ("VerboseMoveStats", "true"), ("SmartPruningFactor", "0")]);
    let priors = |engine: &mut Engine, count: u64| {
        let end = search(engine, &nodes(count));
        let (root, moves) = end.move_stats.split_last().unwrap();
        assert_eq!(root.n, moves.iter().map(|stats| stats.n).sum::<u32>() + 1);
        let mut priors: Vec<(String, f32)> =
            moves.iter().map(|stats| (to_uci(stats.mv.unwrap(), false), stats.p)).collect();
        priors.sort_by(|a, b| a.0.cmp(&b.0));
        priors
    };
    let plain = priors(&mut engine, 300);
    engine.set_option("DirichletNoiseEpsilon", "0.25").unwrap();
    // The tree is reused: Lc0 would leave its root as it is.
    let noisy = [600, 900].map(|count| priors(&mut engine, count));
    assert_ne!(noisy[0], noisy[1], "every search draws its own");
    for noisy in &noisy {
        assert!((noisy.iter().map(|prior| prior.1).sum::<f32>() - 1.0).abs() < 1e-4);
        for ((mv, plain), (_, noisy)) in plain.iter().zip(noisy) {
            assert!(*noisy >= 0.75 * plain - 1e-6 && *noisy <= 0.75 * plain + 0.25 + 1e-6, "{mv}: {plain} {noisy}");
        }
    }
    engine.set_option("DirichletNoiseEpsilon", "0").unwrap();
    assert_eq!(priors(&mut engine, 1200), plain);
}

#[test]
fn noise_alone_leads_the_search() {
    // All prior is noise, and alpha is so small that one move has nearly all of it: a new tree goes there.
    let mut engine = engine(&[
        ("Backend", "uniform"),
        ("Threads", "1"),
        ("MinibatchSize", "1"),
        ("DirichletNoiseEpsilon", "1"),
        ("DirichletNoiseAlpha", "0.01"),
        ("RandomSeed", "3"),
        ("VerboseMoveStats", "true"),
        ("SmartPruningFactor", "0"),
    ]);
    let end = search(&mut engine, &nodes(400));
    let moves = &end.move_stats[..end.move_stats.len() - 1];
    let likeliest = moves.iter().max_by(|a, b| a.p.total_cmp(&b.p)).unwrap();
    assert!(likeliest.p > 0.5 && likeliest.n > 200, "{likeliest:?}");
    assert_eq!(end.best, likeliest.mv);
}

#[test]
fn contempt_grows_another_tree() {
    let mut engine = engine(&[("Backend", "random"), ("Threads", "1"), ("SmartPruningFactor", "0")]);
    let new_nodes = |engine: &mut Engine, go: &GoParams| search(engine, go).report.playouts;
    assert_eq!(new_nodes(&mut engine, &nodes(100)), 100);
    assert_eq!(new_nodes(&mut engine, &nodes(200)), 100, "reused");
    engine.set_option("Contempt", "150").unwrap();
    assert_eq!(new_nodes(&mut engine, &nodes(300)), 300, "its values were other ones");
    engine.set_option("WDLEvalObjectivity", "0").unwrap();
    assert_eq!(new_nodes(&mut engine, &nodes(400)), 100, "only shown otherwise");
    engine.set_option("ContemptMode", "black_side_analysis").unwrap();
    assert_eq!(new_nodes(&mut engine, &nodes(300)), 300);
    assert!(engine.set_option("Contempt", "much").is_err());
}

#[test]
fn the_heads_of_the_network_alone() {
    for threads in ["1", "2"] {
        let options = [("Backend", "random"), ("Threads", threads), ("VerboseMoveStats", "true"), ("MultiPV", "3")];
        let mut engine = engine(&options);
        let timed = GoParams { wtime: Some(1e3), btime: Some(1e3), ..GoParams::default() };
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        ] {
            set(&mut engine, fen);
            engine.set_option("SearchAlgorithm", "policyhead").unwrap();
            let end = search(&mut engine, &timed);
            let moves = &end.move_stats[..end.move_stats.len() - 1];
            let likeliest = moves.iter().max_by(|a, b| a.p.total_cmp(&b.p)).unwrap();
            assert_eq!((end.report.nodes, end.best), (1, likeliest.mv), "{fen}");
            engine.set_option("SearchAlgorithm", "valuehead").unwrap();
            let end = search(&mut engine, &timed);
            let moves = &end.move_stats[..end.move_stats.len() - 1];
            assert!(moves.iter().all(|stats| stats.n == 1), "{fen}: {moves:?}");
            let dearest = moves.iter().max_by(|a, b| a.q.total_cmp(&b.q)).unwrap();
            assert_eq!((end.report.nodes, end.best), (1 + moves.len() as u64, dearest.mv), "{fen}");
            engine.set_option("SearchAlgorithm", "classic").unwrap();
        }
        // A mate is worth more than what the network says.
        set(&mut engine, "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1");
        engine.set_option("SearchAlgorithm", "valuehead").unwrap();
        assert_eq!(best(&search(&mut engine, &timed)), "d1d8");
    }
}
