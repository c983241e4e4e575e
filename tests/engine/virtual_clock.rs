//! Plays timed games as computations: the synchronous search on a virtual clock, and the event log of a game.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::common::search;
use parking_lot::Mutex;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_engine::backend::{self, Backend, BackendSettings, CostModel, CostedBackend};
use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::clock::{Clock, MonotonicClock, VirtualClock};
use zeitnot_engine::engine::{Engine, EngineError, GoParams, Options, RuntimePolicy};
use zeitnot_engine::network::testing::random_network;
use zeitnot_engine::network::{self, BUILT_IN, Network, OnnxInterface};
use zeitnot_engine::search::{EndReason, Guess, SearchEnd};
use zeitnot_games::{EnginePlayer, GameRecord, Limits, MoveRecord, Pairing, Rules, TimeControl, play};
use zeitnot_time::event_log::{self, Answer, Event, Line, Observer};
use zeitnot_time::{StopReason, Timekeeper, managers};

/// A backend without a cache.
fn bare(name: &str) -> Arc<dyn Backend> {
    // The kernels of a debug build are too slow for the built-in network: there a tiny one plays.
    let network = match cfg!(debug_assertions) {
        true => Network::from_bytes(&random_network(1, 1, 8), "tiny.pb.gz").unwrap(),
        false => network::find(Some(BUILT_IN.as_ref())).unwrap().load(&OnnxInterface::default()).unwrap(),
    };
    backend::create(name, Some(&network), &BackendSettings { cache_size: 0, ..BackendSettings::default() }).unwrap()
}

fn options(given: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    // One search thread is enough for a search on the caller's, and a seed makes the rest repeat.
    for (name, value) in [("Threads", "1"), ("RandomSeed", "7")].iter().chain(given) {
        options.set(name, value).unwrap();
    }
    options
}

/// An engine on `backend`, whose batches cost `evals_per_s` on `clock`.
fn engine(backend: &Arc<dyn Backend>, evals_per_s: f64, clock: &Arc<VirtualClock>, given: &[(&str, &str)]) -> Engine {
    let model = CostModel::constant(evals_per_s).and_then(|model| model.with_jitter(0.1, 3)).unwrap();
    let costed = Arc::new(CostedBackend::new(Arc::clone(backend), model));
    Engine::with_backend(options(given), Arc::clone(clock) as Arc<dyn Clock>, costed).unwrap()
}

fn pair(backend: &Arc<dyn Backend>, evals_per_s: f64, given: &[(&str, &str)]) -> [EnginePlayer; 2] {
    [[("TimeManager", "smooth")], [("TimeManager", "legacy")]].map(|manager| {
        let clock = Arc::new(VirtualClock::default());
        let engine = engine(backend, evals_per_s, &clock, &[&manager, given].concat());
        EnginePlayer::on_virtual_clock(manager[0].1.to_owned(), engine, clock, false)
    })
}

fn rules(control: TimeControl) -> Rules {
    let limits = Limits { clock: Some(control), ..Limits::default() };
    Rules { limits: [limits.clone(), limits], lag: Some("2,30".parse().unwrap()), seed: 7, ..Rules::default() }
}

/// The first game of a match, from the start position.
fn play_game(
    [white, black]: &mut [EnginePlayer; 2],
    control: TimeControl,
    on_move: impl FnMut(&GameRecord) -> ControlFlow<()>,
) -> GameRecord {
    let pairing = Pairing { game: 1, start: Game::new(), chess960: false, first_is_white: true };
    play([white, black], &rules(control), &pairing, on_move).unwrap()
}

/// A whole game, a line a move: the move, its time, its nodes, the clocks.
fn game_of(players: &mut [EnginePlayer; 2], control: TimeControl) -> Vec<String> {
    let record = play_game(players, control, |_| ControlFlow::Continue(()));
    let line = |mv: &MoveRecord| format!("{} {:?} {} {:?}", mv.uci, mv.used_ms, mv.nodes, mv.clocks_ms);
    let end = format!("{} {:?} {:?}", record.result(), record.termination, record.clocks_ms);
    record.moves.iter().map(line).chain([end]).collect()
}

#[test]
fn a_whole_game_on_a_virtual_clock_repeats_itself_whatever_goes_on_beside_and_before_it() {
    let backend = bare("native");
    let control: TimeControl = "0.5+0.005".parse().unwrap();
    let noise = [("DirichletNoiseEpsilon", "0.1"), ("Temperature", "0.5"), ("TempDecayMoves", "6")];
    let alone = game_of(&mut pair(&backend, 1_000.0, &noise), control);
    assert!(alone.len() > 30, "{alone:?}");
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let mut players = pair(&backend, 1_000.0, &noise);
        let other = game_of(&mut players, "0.3+0.003".parse().unwrap());
        assert_ne!(other, alone);
        assert_eq!(game_of(&mut players, control), alone, "after another game, on a busy machine");
        over.store(true, Ordering::Relaxed);
    });
}

#[test]
fn the_synchronous_search_visits_what_one_thread_visits() {
    for name in ["random", "native"] {
        let backend = bare(name);
        let given = [("MinibatchSize", "1"), ("VerboseMoveStats", "true"), ("SmartPruningFactor", "0")];
        let on_clock = || Arc::new(MonotonicClock::new()) as Arc<dyn Clock>;
        let engine = || Engine::with_backend(options(&given), on_clock(), Arc::clone(&backend)).unwrap();
        let (mut threads, mut caller) = (engine(), engine());
        for moves in [&[][..], &["e2e4", "e7e5"], &["e2e4", "e7e5", "g1f3", "b8c6"]] {
            let mut game = Game::new();
            moves.iter().for_each(|mv| game.push_uci(mv).unwrap());
            let go = GoParams { nodes: Some(400), ..GoParams::default() };
            threads.set_game(game.clone());
            caller.set_game(game);
            let real = search(&mut threads, &go);
            let start_ms = caller.now_ms();
            let (end, _) = caller.run(&go, start_ms, None).unwrap();
            assert_eq!(end.move_stats, real.move_stats, "{name} after {moves:?}");
            assert_eq!((end.best, end.report.nodes, end.reason), (real.best, real.report.nodes, real.reason));
        }
    }
}

fn timed(wtime: f64) -> GoParams {
    GoParams { wtime: Some(wtime), btime: Some(wtime), ..GoParams::default() }
}

fn run(engine: &mut Engine, go: &GoParams) -> SearchEnd {
    let start_ms = engine.now_ms();
    engine.run(go, start_ms, None).unwrap().0
}

/// 16 positions take 160 ms: a batch does not fit into what is left.
#[test]
fn a_move_with_a_kept_tree_ends_at_its_limit() {
    let clock = Arc::new(VirtualClock::default());
    let given = [("MoveOverheadMs", "20"), ("MinibatchSize", "16"), ("NNCacheSize", "0")];
    let mut engine = engine(&bare("random"), 100.0, &clock, &given);
    let kept = run(&mut engine, &GoParams { nodes: Some(400), ..GoParams::default() }).report.nodes;
    assert!(kept > 100, "{kept}");
    let plan_of = |engine: &mut Engine, wtime| {
        // The opponent thinks while the batch that the last answer did not wait for is evaluated.
        clock.pass(500.0);
        let start_ms = engine.now_ms();
        let (end, plan) = engine.run(&timed(wtime), start_ms, None).unwrap();
        (end, plan.unwrap())
    };
    for wtime in [1.0, 30.0, 100.0, 300.0, 700.0, 1_000.0] {
        let (end, plan) = plan_of(&mut engine, wtime);
        let late_ms = end.report.elapsed_ms - plan.hard_limit_ms;
        assert!(late_ms <= 1e-6, "{wtime}: {} of {}", end.report.elapsed_ms, plan.hard_limit_ms);
        assert!(end.report.nodes >= kept && end.best.is_some());
    }
    // A limit on nodes that the tree has already costs nothing.
    let end = run(&mut engine, &GoParams { nodes: Some(1), ..GoParams::default() });
    assert_eq!((end.report.playouts, end.reason), (0, EndReason::Stopper(StopReason::Nodes)));
}

#[test]
fn what_a_first_evaluation_took_is_not_learned_as_lag() {
    let clock = Arc::new(VirtualClock::default());
    let mut engine = engine(&bare("random"), 2.0, &clock, &[("MoveOverheadMs", "20")]);
    let start_ms = engine.now_ms();
    let (end, plan) = engine.run(&timed(2_000.0), start_ms, None).unwrap();
    let plan = plan.unwrap();
    assert!(end.report.elapsed_ms > plan.hard_limit_ms, "half a second an evaluation");
    let mut game = Game::new();
    ["e2e4", "e7e5"].iter().for_each(|mv| game.push_uci(mv).unwrap());
    engine.set_game(game);
    let start_ms = engine.now_ms();
    let (_, next) = engine.run(&timed(2_000.0 - end.report.elapsed_ms), start_ms, None).unwrap();
    assert!(next.unwrap().term("lag").is_none());
}

#[test]
fn without_time_for_an_evaluation_the_best_move_that_is_known_is_played() {
    let clock = Arc::new(VirtualClock::default());
    let mut engine = engine(&bare("random"), 50.0, &clock, &[]);
    // 20 ms an evaluation, of which the engine learns here.
    run(&mut engine, &GoParams { nodes: Some(3), ..GoParams::default() });
    let mut answer = |fen: &str, wtime| {
        engine.set_game(Game::from_fen(fen, false).unwrap());
        let before = engine.now_ms();
        let end = run(&mut engine, &timed(wtime));
        (to_uci(end.best.unwrap(), false), end.reason, engine.now_ms() - before, end.report.lines.len())
    };
    let free_queen = "4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1";
    let (mv, reason, took_ms, lines) = answer(free_queen, 15.0);
    assert_eq!((mv.as_str(), reason, lines), ("d1d5", EndReason::Unevaluated(Guess::Material), 1));
    assert_eq!(took_ms, 0.0, "20 ms do not fit into 15");
    let (mv, reason, ..) = answer("6k1/5ppp/8/8/8/8/q7/1R5K w - - 0 1", 15.0);
    assert_eq!((mv.as_str(), reason), ("b1b8", EndReason::Unevaluated(Guess::Mate)));
    let (_, reason, took_ms, _) = answer("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", 100.0);
    assert!(!matches!(reason, EndReason::Unevaluated(_)) && took_ms >= 20.0, "they fit into 100");
    // The same position again: the cache knows it.
    answer(free_queen, 15.0);
    let (_, reason, took_ms, _) = answer("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", 10.0);
    assert_eq!((reason, took_ms), (EndReason::Unevaluated(Guess::CachedPolicy), 0.0));
}

#[test]
fn an_evaluation_that_comes_too_late_is_not_answered_with_but_learned_from() {
    let clock = Arc::new(VirtualClock::default());
    // Two seconds an evaluation, which nobody knows yet.
    let mut engine = engine(&bare("random"), 0.5, &clock, &[]);
    let free_queen = Game::from_fen("4k3/8/8/3q4/8/8/8/3RK3 w - - 0 1", false).unwrap();
    engine.set_game(free_queen.clone());
    let end = run(&mut engine, &timed(1_000.0));
    assert_eq!(end.reason, EndReason::Unevaluated(Guess::Material), "its policy is in the cache, but it came too late");
    let answered_ms = engine.now_ms();
    assert!(answered_ms < 1_000.0);
    // The next answer needs no evaluation, and waits for no batch of the last search.
    engine.set_game(Game::new());
    let start_ms = engine.now_ms();
    let (end, plan) = engine.run(&timed(3_000.0), start_ms, None).unwrap();
    assert_eq!(engine.now_ms(), answered_ms);
    assert_eq!(plan.unwrap().due_ms, 0.0, "two seconds are known not to fit");
    assert!(matches!(end.reason, EndReason::Unevaluated(_)));
    // One that needs an evaluation has it when that batch is over.
    let end = run(&mut engine, &GoParams { nodes: Some(1), ..GoParams::default() });
    assert!(end.report.nodes == 1 && engine.now_ms() >= 3_500.0, "{}", engine.now_ms());
}

#[test]
fn the_network_alone_answers_when_the_time_is_up() {
    for (algorithm, nodes) in [("valuehead", 2..=20), ("policyhead", 1..=1)] {
        let clock = Arc::new(VirtualClock::default());
        let given = [("MoveOverheadMs", "100"), ("MinibatchSize", "1"), ("SearchAlgorithm", algorithm)];
        let mut engine = engine(&bare("random"), 10.0, &clock, &given);
        for go in [timed(600.0), GoParams { movetime: Some(600.0), ..GoParams::default() }] {
            engine.set_game(Game::new());
            let end = run(&mut engine, &go);
            assert!(end.best.is_some() && end.report.elapsed_ms <= 500.0, "{algorithm}: {}", end.report.elapsed_ms);
            // All 20 moves would take two seconds.
            assert!(nodes.contains(&end.report.nodes), "{algorithm}: {}", end.report.nodes);
        }
    }
}

#[test]
fn nothing_loops_for_ever_on_a_virtual_clock() {
    let clock = Arc::new(VirtualClock::default());
    // A limit on the speed waits, decided positions are visited without evaluations, and neither takes real time.
    let mut engine = engine(&bare("random"), 1_000.0, &clock, &[("NodesPerSecondLimit", "50")]);
    let end = run(&mut engine, &GoParams { movetime: Some(2_200.0), ..GoParams::default() });
    assert!((90..=120).contains(&end.report.nodes), "{} nodes in 2 s", end.report.nodes);
    engine.set_option("NodesPerSecondLimit", "0").unwrap();
    engine.set_game(Game::from_fen("7k/8/8/8/8/8/8/K7 w - - 0 1", false).unwrap());
    let end = run(&mut engine, &GoParams { movetime: Some(700.0), ..GoParams::default() });
    assert!(end.best.is_some() && end.report.elapsed_ms <= 630.1, "{}", end.report.elapsed_ms);
    let start_ms = engine.now_ms();
    let endless = GoParams { infinite: true, ..GoParams::default() };
    assert!(matches!(engine.run(&endless, start_ms, None), Err(EngineError::Endless)));
    let (end, _) = engine.run(&endless, start_ms, Some(start_ms + 300.0)).unwrap();
    assert_eq!((end.reason, engine.now_ms() - start_ms), (EndReason::Stopped, 300.0));
}

/// Writes the event log down as a file has it.
struct Recorder(Arc<Mutex<String>>);

impl Observer for Recorder {
    fn happened(&mut self, event: &Event, answer: Option<&Answer>) {
        self.0.lock().push_str(&event_log::write(event, answer));
    }
}

#[test]
fn a_recorded_game_replays_to_the_same_plans_verdicts_and_stops_for_all_managers() {
    let folder = tempfile::tempdir().unwrap();
    for manager in managers() {
        let title = manager.title();
        // A real game: threads, the machine's clock, and a tree that is kept.
        let clock: Arc<dyn Clock> = Arc::new(MonotonicClock::new());
        let mut players = [title.as_str(), "simple"].map(|spec| {
            let mut engine = Engine::new(Options::default(), Arc::clone(&clock), RuntimePolicy::FindOnly);
            let given = [("TimeManager", spec), ("Backend", "random"), ("Threads", "2"), ("MoveOverheadMs", "5")];
            given.iter().for_each(|(name, value)| engine.set_option(name, value).unwrap());
            EnginePlayer::new(spec.to_owned(), engine, false)
        });
        let lines = Arc::new(Mutex::new(String::new()));
        players[0].engine().observe_time(Some(Box::new(Recorder(Arc::clone(&lines)))));
        let enough = |record: &GameRecord| match record.moves.len() {
            30.. => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        play_game(&mut players, "2+0.02".parse().unwrap(), enough);
        let path = folder.path().join("trace.jsonl");
        std::fs::write(&path, &*lines.lock()).unwrap();
        let (plans, looks, ends) = replay(&std::fs::read_to_string(&path).unwrap());
        assert!(plans >= 5 && looks >= plans && ends == plans, "{title}: {plans} {looks} {ends}");
    }
}

/// Replays an event log; the numbers of its plans, looks and ends of timed moves, each answered as it was.
fn replay(text: &str) -> (usize, usize, usize) {
    let mut time = Timekeeper::new("alphazero").unwrap();
    let (mut plans, mut looks, mut ends) = (0, 0, 0);
    let mut answer = None;
    for (number, line) in text.lines().enumerate() {
        match event_log::read(line).unwrap() {
            Line::Event(event) => {
                assert_eq!(answer, None, "line {number}: an answer that was not given then");
                answer = time.apply(&event).unwrap();
            }
            Line::Answer(recorded) => {
                match &recorded {
                    Answer::Plan(_) => plans += 1,
                    Answer::Observe(_) => looks += 1,
                    Answer::Finish(_) => ends += 1,
                }
                assert_eq!(answer.take(), Some(recorded), "line {number}");
            }
        }
    }
    (plans, looks, ends)
}

#[test]
fn an_answer_waits_as_long_as_the_manager_says() {
    let backend = bare("native");
    let clock = Arc::new(VirtualClock::default());
    let given = [("TimeManager", "human(elo=1500)"), ("NodesPerMove", "1")];
    let mut engine = engine(&backend, 1000.0, &clock, &given);
    let (mut game, mut waited_ms) = (Game::new(), Vec::new());
    for _ in 0..12 {
        engine.set_game(game.clone());
        let go = GoParams { wtime: Some(600_000.0), btime: Some(600_000.0), ..GoParams::default() };
        let start_ms = engine.now_ms();
        let (end, plan) = engine.run(&go, start_ms, None).unwrap();
        let (plan, account) = (plan.unwrap(), end.time.unwrap().account);
        assert_eq!(end.report.nodes, 1);
        assert_eq!(engine.now_ms() - start_ms, account.used_ms);
        assert!(account.used_ms >= 0.4 * plan.budget_ms && account.used_ms <= plan.hard_limit_ms.max(5.0), "{plan}");
        waited_ms.push(account.used_ms);
        game.push(end.best.unwrap());
    }
    assert!(waited_ms.iter().sum::<f64>() > 6_000.0, "{waited_ms:?}");
    // `stop` ends the wait, and a `movetime` or a search without a clock knows none.
    for nodes in [None, Some(5)] {
        let go =
            GoParams { movetime: Some(60.0), wtime: Some(3.6e6), btime: Some(3.6e6), nodes, ..GoParams::default() };
        let start_ms = engine.now_ms();
        engine.run(&go, start_ms, None).unwrap();
        assert!(engine.now_ms() - start_ms <= 60.0, "{nodes:?}");
    }
    let hour = GoParams { wtime: Some(3.6e6), ..GoParams::default() };
    let start_ms = engine.now_ms();
    engine.run(&hour, start_ms, Some(start_ms + 50.0)).unwrap();
    assert_eq!(engine.now_ms() - start_ms, 50.0);
    let nodes = GoParams { nodes: Some(3), ..GoParams::default() };
    let start_ms = engine.now_ms();
    engine.run(&nodes, start_ms, None).unwrap();
    assert!(engine.now_ms() - start_ms < 50.0);
}
