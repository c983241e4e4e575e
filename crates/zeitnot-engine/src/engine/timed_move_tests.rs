use super::*;
use crate::engine::{Engine, Options, RuntimePolicy};
use crate::search::SearchEnd;
use std::sync::Arc;
use zeitnot_base::clock::{Clock, MonotonicClock, VirtualClock};
use zeitnot_chess::{Game, parse_uci};

/// Both sides' moves of a game: castling on both sides, a capture en passant.
const LINE: [&str; 24] = [
    "b1c3", "e7e5", "a2a3", "e5e4", "d2d4", "e4d3", "c2d3", "g8f6", "g1f3", "f8e7", "g2g3", "e8g8", "f1g2", "d7d5",
    "e1g1", "c7c6", "c1f4", "b8d7", "h2h3", "d7b6", "a1c1", "c8f5", "d1d2", "f8e8",
];

/// The game after some plies of the line.
fn after(plies: usize) -> Game {
    let mut game = Game::new();
    LINE[..plies].iter().for_each(|mv| game.push_uci(mv).unwrap());
    game
}

/// Form in which an interface gives the position.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Moves,
    Fen,
    /// A FEN whose counters and en passant square were never kept.
    BareFen,
    /// FEN after the last capture or pawn move, and the moves from there.
    MovesFromFen,
}

fn given(plies: usize, how: Form) -> Game {
    let game = after(plies);
    let fen = game.fen();
    match how {
        Form::Moves => game,
        Form::Fen => Game::from_fen(&fen, false).unwrap(),
        Form::BareFen => {
            let fields: Vec<&str> = fen.split(' ').collect();
            Game::from_fen(&format!("{} {} {} - 0 1", fields[0], fields[1], fields[2]), false).unwrap()
        }
        Form::MovesFromFen => {
            let quiet = game.current().rule50() as usize;
            let mut from_fen = Game::from_fen(&after(plies - quiet).fen(), false).unwrap();
            LINE[plies - quiet..plies].iter().for_each(|mv| from_fen.push_uci(mv).unwrap());
            from_fen
        }
    }
}

fn engine(manager: &str) -> (Engine, Arc<VirtualClock>) {
    let clock = Arc::new(VirtualClock::new(1.0));
    (engine_on(Arc::clone(&clock) as _, manager), clock)
}

fn engine_on(clock: Arc<dyn Clock>, manager: &str) -> Engine {
    let mut options = Options::default();
    for (name, value) in [("Backend", "uniform"), ("SmartPruningFactor", "0"), ("TimeManager", manager)] {
        options.set(name, value).unwrap();
    }
    let mut engine = Engine::new(options, clock, RuntimePolicy::FindOnly);
    engine.prepare().unwrap();
    engine
}

fn go(wtime_ms: f64) -> GoParams {
    GoParams { wtime: Some(wtime_ms), btime: Some(9_000.0), ..GoParams::default() }
}

/// The manager that counts the moves of its game.
const COUNTING: &str = "adaptive";

/// The moves of the game that the manager has counted, by its report.
fn moves(end: SearchEnd) -> Option<u64> {
    end.time.unwrap().game?.numbers["moves"].as_u64()
}

/// The budgets of White's moves in a game of 10 s, and the moves that the manager has counted.
fn budgets(manager: &str, how: Form) -> (Vec<f64>, Option<u64>) {
    let (mut engine, clock) = engine(manager);
    let (mut left_ms, mut budgets, mut counted) = (10_000.0, Vec::new(), None);
    for plies in (0..LINE.len()).step_by(2) {
        engine.set_game(given(plies, how));
        let start_ms = clock.now_ms();
        let (end, plan) = engine.run(&go(left_ms), start_ms, None).unwrap();
        budgets.push(plan.unwrap().budget_ms);
        counted = moves(end);
        left_ms -= clock.now_ms() - start_ms;
        clock.pass(300.0);
    }
    (budgets, counted)
}

#[test]
fn a_fen_for_each_move_is_one_game_for_the_manager() {
    for manager in ["legacy", "simple"] {
        let by_moves = budgets(manager, Form::Moves);
        assert!(by_moves.0[1..].iter().all(|budget| *budget < by_moves.0[0] * 1.5), "{by_moves:?}");
        assert_eq!(budgets(manager, Form::Fen), by_moves, "{manager}");
        assert_eq!(budgets(manager, Form::MovesFromFen), by_moves, "{manager}");
        // The plies are not given there, on which budgets and the lag depend.
        assert_eq!(budgets(manager, Form::BareFen), by_moves, "{manager}");
    }
    for how in [Form::Moves, Form::Fen, Form::MovesFromFen, Form::BareFen] {
        assert_eq!(budgets(COUNTING, how).1, Some(12));
    }
}

/// The moves that the manager has counted after a search of White's first move on 10 s and then of `next` with `clock`.
fn counted(next: &Game, clock: &GoParams) -> u64 {
    let (mut engine, time) = engine(COUNTING);
    engine.set_game(Game::from_fen(&Game::new().fen(), false).unwrap());
    engine.run(&go(10_000.0), time.now_ms(), None).unwrap();
    time.pass(1_000.0);
    engine.set_game(next.clone());
    moves(engine.run(clock, time.now_ms(), None).unwrap().0).unwrap()
}

#[test]
fn a_clock_that_does_not_fit_is_another_game() {
    let next = given(2, Form::Fen);
    for (wtime_ms, moves) in [(9_400.0, 2), (10_000.0, 2), (5_000.0, 2), (2_000.0, 1), (12_000.0, 1), (60_000.0, 1)] {
        assert_eq!(counted(&next, &go(wtime_ms)), moves, "{wtime_ms}");
    }
    let increment = GoParams { winc: Some(5_000.0), ..go(12_000.0) };
    assert_eq!(counted(&next, &increment), 1, "none was given before");
}

#[test]
fn a_position_that_is_not_the_next_is_another_game() {
    assert_eq!(counted(&given(2, Form::Fen), &go(9_400.0)), 2);
    assert_eq!(counted(&given(1, Form::Fen), &go(9_400.0)), 2, "the other side, by the same engine");
    for plies in [4, 6, 20] {
        assert_eq!(counted(&given(plies, Form::Fen), &go(9_400.0)), 1, "{plies}");
    }
    let endgame = Game::from_fen("8/8/8/4k3/8/8/4P3/4K3 w - - 0 60", false).unwrap();
    assert_eq!(counted(&endgame, &go(9_400.0)), 1);
}

#[test]
fn a_new_game_is_a_new_game() {
    let (mut engine, time) = engine(COUNTING);
    let search = |engine: &mut Engine, game: Game, wtime_ms| {
        engine.set_game(game);
        let end = engine.run(&go(wtime_ms), time.now_ms(), None).unwrap().0;
        time.pass(500.0);
        moves(end).unwrap()
    };
    assert_eq!(search(&mut engine, given(8, Form::Fen), 10_000.0), 1);
    assert_eq!(search(&mut engine, given(10, Form::Fen), 9_000.0), 2);
    assert_eq!(search(&mut engine, given(0, Form::Fen), 9_000.0), 1, "from the start again");
    assert_eq!(search(&mut engine, given(2, Form::Fen), 8_500.0), 2);
    engine.new_game();
    assert_eq!(search(&mut engine, given(4, Form::Fen), 8_000.0), 1, "the interface says so");
}

#[test]
fn the_game_goes_on_after_pondering_on_another_reply() {
    let (mut engine, time) = engine(COUNTING);
    engine.set_game(given(0, Form::Fen));
    engine.run(&go(10_000.0), time.now_ms(), None).unwrap();
    let mut expected = Game::new();
    expected.push_uci("e2e4").unwrap();
    let reply = parse_uci(expected.current().chess(), "e7e5").unwrap();
    expected.push(reply);
    engine.set_game(Game::from_fen(&expected.fen(), false).unwrap());
    let ponder = GoParams { ponder: true, ..go(9_500.0) };
    let now_ms = time.now_ms();
    engine.run(&ponder, now_ms, Some(now_ms + 200.0)).unwrap();
    engine.set_game(given(2, Form::Fen));
    let end = engine.run(&go(9_300.0), time.now_ms(), None).unwrap().0;
    assert_eq!(moves(end), Some(2));
}

#[test]
fn another_game_is_one_at_ponderhit_too() {
    for (wtime_ms, expected) in [(9_500.0, 2), (60_000.0, 1)] {
        let mut engine = engine_on(Arc::new(MonotonicClock::new()), COUNTING);
        engine.set_game(given(0, Form::Fen));
        let few = |wtime_ms| GoParams { nodes: Some(20), ..go(wtime_ms) };
        engine.search_and_wait(&few(10_000.0), engine.now_ms()).unwrap();
        engine.set_game(given(2, Form::Fen));
        let pondered = engine.start_pondering(&few(wtime_ms)).unwrap();
        let (end, _) = engine.ponder_hit_and_wait(&pondered, &few(wtime_ms), engine.now_ms()).unwrap();
        assert_eq!(moves(end), Some(expected), "{wtime_ms}");
    }
}

#[test]
fn the_next_periods_time_may_come_on_top() {
    let before = given(0, Form::Fen);
    let last = |movestogo| TimedMove {
        position: before.current().clone(),
        ply: 0,
        go: GoParams { movestogo, ..go(3_000.0) },
        start_ms: 50.0,
    };
    let next = given(2, Form::Fen);
    let fits = |movestogo, wtime_ms| last(movestogo).fits(next.current(), &go(wtime_ms), 1_050.0);
    assert!(fits(Some(1), 62_000.0) && !fits(Some(2), 62_000.0) && !fits(None, 62_000.0));
    assert!(fits(None, 2_000.0) && fits(None, 0.0), "lag, or a clock that was stopped by hand");
    assert!(!last(None).fits(next.current(), &GoParams::default(), 1_050.0), "no clock");
}
