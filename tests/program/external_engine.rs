//! Other engines as processes: this one, and a script that has every fault.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::engine::GoParams;
use zeitnot_games::{Evaluation, ExternalEngine, ExternalError, Patience};

/// Only what hangs takes so long, even on a machine that is busy with something else; in milliseconds.
const HANG_MS: f64 = 120_000.0;
/// Milliseconds in which an answer that never comes does not come.
const SOON_MS: f64 = 300.0;

const NODES: GoParams = GoParams {
    wtime: None,
    btime: None,
    winc: None,
    binc: None,
    movestogo: None,
    movetime: None,
    nodes: Some(100),
    depth: None,
    mate: None,
    infinite: false,
    ponder: false,
    search_moves: Vec::new(),
};

/// The command of the script with this fault and these further arguments.
fn script(fault: &str, rest: &str) -> String {
    format!("python3 '{}/tests/faulty_engine.py' {fault} {rest}", env!("CARGO_MANIFEST_DIR"))
}

fn faulty(fault: &str) -> ExternalEngine {
    ExternalEngine::start(&script(fault, ""), &[]).unwrap()
}

fn zeitnot() -> ExternalEngine {
    let command = format!("'{}' --backend=uniform --threads=1", env!("CARGO_BIN_EXE_zeitnot"));
    ExternalEngine::start(&command, &[("multipv".into(), "2".into())]).unwrap()
}

/// The line of an error, which must be one.
fn line(error: &ExternalError) -> String {
    let line = error.to_string();
    assert!(!line.contains(|c: char| c.is_control()), "{line:?}");
    line
}

/// Lets two engines play, and returns the moves.
fn play(engines: &mut [ExternalEngine; 2], mut game: Game, plies: usize) -> String {
    engines.iter_mut().for_each(|engine| engine.new_game(false).unwrap());
    for ply in 0..plies {
        let answer = engines[ply % 2].go(&game, &NODES, HANG_MS).unwrap();
        assert!(answer.used_ms >= 0.0 && answer.nodes >= Some(1), "{answer:?}");
        assert!(answer.depth.is_some() && answer.score.is_some(), "{answer:?}");
        game.push(answer.mv);
    }
    game.moves().iter().map(|mv| to_uci(*mv, game.is_chess960())).collect::<Vec<_>>().join(" ")
}

#[test]
fn engines_play_games_of_chess_and_chess960() {
    let mut engines = [zeitnot(), zeitnot()];
    assert!(engines[0].name().starts_with("Zeitnot "), "{}", engines[0].name());
    // Only castling mates, the rook goes over the king: the engine writes it as king takes rook, once it is told of
    // Chess960.
    let mate = Game::from_fen("2rkr3/2p1p3/8/8/8/8/8/1RK5 w B - 0 1", false).unwrap();
    assert!(mate.is_chess960());
    for _ in 0..2 {
        assert_eq!(play(&mut engines, mate.clone(), 1), "c1b1");
        assert_eq!(play(&mut engines, Game::new(), 8).split(' ').count(), 8);
    }
}

#[test]
fn an_engine_is_told_options_positions_and_limits() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("told.txt");
    let options = [("hash", "32"), ("play style", "very risky"), ("Clear Hash", "")];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let command = script("none", &format!("'{}'", log.display()));
    let patience = Patience { quit_ms: HANG_MS, ..Patience::default() };
    let mut engine = ExternalEngine::start_with(&command, &options, patience, Arc::default()).unwrap();
    assert_eq!(engine.name(), "Faulty");
    engine.new_game(false).unwrap();
    let mut game = Game::new();
    game.push_uci("e2e4").unwrap();
    game.push_uci("e7e5").unwrap();
    let clock = GoParams { wtime: Some(60_000.7), btime: Some(50_000.0), winc: Some(100.0), ..GoParams::default() };
    let answer = engine.go(&game, &clock, HANG_MS).unwrap();
    assert_eq!(to_uci(answer.mv, false), "g1f3");
    assert_eq!(answer.ponder.map(|mv| to_uci(mv, false)).as_deref(), Some("a7a6"));
    assert_eq!((answer.depth, answer.nodes), (Some(3), Some(120)));
    assert_eq!(answer.score, Some(Evaluation { cp: 25, mate: None, q: None }));
    let chess960 = Game::from_fen("1r2k2r/8/8/8/8/8/4P3/1R2K2R w KQkq - 0 1", false).unwrap();
    engine.go(&chess960, &GoParams { depth: Some(3), ..GoParams::default() }, HANG_MS).unwrap();
    engine.quit();
    let told = fs::read_to_string(&log).unwrap();
    let expected = "uci\nsetoption name Hash value 32\nsetoption name Play Style value Very Risky\nsetoption name Clear Hash\n\
        isready\nucinewgame\nisready\nposition startpos moves e2e4 e7e5\nisready\n\
        go wtime 60000 winc 100 btime 50000 binc 0\nsetoption name UCI_Chess960 value true\n\
        position fen 1r2k2r/8/8/8/8/8/4P3/1R2K2R w KQkq - 0 1\nisready\ngo depth 3\nquit\n";
    assert_eq!(told, expected);
    assert_eq!(line(&engine.new_game(false).unwrap_err()), "Faulty does not run");
    engine.restart().unwrap();
    engine.new_game(false).unwrap();
}

#[test]
fn an_engine_ponders_where_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("told.txt");
    let mut engine = ExternalEngine::start(&script("ponders", &format!("'{}'", log.display())), &[]).unwrap();
    engine.new_game(true).unwrap();
    let mut game = Game::new();
    let answer = engine.go(&game, &NODES, HANG_MS).unwrap();
    game.push(answer.mv);
    let mut other = game.clone();
    game.push(answer.ponder.unwrap());
    other.push_uci("e7e5").unwrap();
    assert!(engine.ponder(&game, &NODES));
    assert_eq!(to_uci(engine.ponder_hit(&game, &NODES, HANG_MS).unwrap().mv, false), "g1f3");
    // Another move was played, and then the game ends.
    assert!(engine.ponder(&game, &NODES));
    assert_eq!(to_uci(engine.go(&other, &NODES, HANG_MS).unwrap().mv, false), "g1f3");
    assert!(engine.ponder(&game, &NODES));
    engine.new_game(true).unwrap();
    engine.quit();
    let told = fs::read_to_string(&log).unwrap();
    let expected = "uci\nisready\nsetoption name Ponder value true\nucinewgame\nisready\n\
        position startpos\nisready\ngo nodes 100\n\
        position startpos moves e2e4 a7a6\ngo ponder nodes 100\nponderhit\n\
        position startpos moves e2e4 a7a6\ngo ponder nodes 100\nstop\n\
        position startpos moves e2e4 e7e5\nisready\ngo nodes 100\n\
        position startpos moves e2e4 a7a6\ngo ponder nodes 100\nstop\n\
        setoption name Ponder value true\nucinewgame\nisready\nquit\n";
    assert_eq!(told, expected);
    let mut without = faulty("none");
    without.new_game(true).unwrap();
    assert!(!without.ponder(&game, &NODES), "it has no option for that");
}

#[test]
fn options_that_an_engine_has_not_are_refused() {
    for (name, value, reason) in [
        ("Hsah", "32", "Faulty: option Hsah: the engine has no such option"),
        ("Hash", "65", "Faulty: option Hash: \"65\" is not a whole number from 1 to 64"),
        ("Hash", "", "Faulty: option Hash: \"\" is not a whole number from 1 to 64"),
        ("Play Style", "Wild", "Faulty: option Play Style: \"Wild\" is not one of Solid, Very Risky"),
        ("Hash", "1\nquit", "Faulty: option Hash: a value is one line"),
    ] {
        let error = ExternalEngine::start(&script("none", ""), &[(name.into(), value.into())]).err().unwrap();
        assert_eq!(line(&error), reason);
    }
}

#[test]
fn what_is_no_engine_is_told_so() {
    let patience = Patience { ready_ms: SOON_MS, ..Patience::default() };
    let start = |command: &str| line(&ExternalEngine::start(command, &[]).err().unwrap());
    assert!(start("no-such-engine --fast").starts_with("cannot start no-such-engine: "));
    assert!(start(env!("CARGO_MANIFEST_DIR")).starts_with("cannot start "));
    assert_eq!(start("true"), "true ended before uciok (exit status: 0)");
    let said = start(&script("exit", ""));
    assert_eq!(said, "python3 ended before uciok (exit status: 3): cannot load libfaulty.so");
    let error = ExternalEngine::start_with(&script("mute", ""), &[], patience, Arc::default()).err().unwrap();
    assert_eq!(line(&error), "python3 gave no uciok within 300 ms");
    // Where the machine is busy not even `uciok` comes so soon.
    let error = ExternalEngine::start_with(&script("deaf", ""), &[], patience, Arc::default()).err().unwrap();
    assert!(matches!(error, ExternalError::Stalled { .. }), "{error}");
    let error = ExternalEngine::start_with("cat", &[], patience, Arc::default()).err().unwrap();
    assert_eq!(line(&error), "cat gave no uciok within 300 ms");
}

/// It is not waited for until its patience ends, and its memory is bounded.
#[test]
fn an_engine_that_declares_without_an_end_is_refused() {
    for fault in ["endless-options", "endless-names", "endless-values"] {
        let error = ExternalEngine::start(&script(fault, ""), &[]).err().unwrap();
        assert_eq!(line(&error), "python3 writes more than 512 KiB of id and option lines before uciok", "{fault}");
    }
}

#[test]
fn faults_are_errors_of_one_line_after_which_an_engine_can_be_restarted() {
    for (fault, reason) in [
        ("crash", "Faulty ended before bestmove (exit status: 101):  [31mpanicked at the fork"),
        ("close", "Faulty ended before bestmove (its output is closed)"),
        ("illegal", "Faulty answered \"bestmove e1e8\": illegal move e1e8 in rnbqkbnr/"),
        ("nonsense", "Faulty answered \"bestmove  [31mbanana\": \"\\u001b[31mbanana\" is not a move in UCI notation"),
        ("empty", "Faulty answered \"bestmove\": it names no move"),
        ("none-move", "Faulty answered \"bestmove (none)\": \"(none)\" is not a move in UCI notation"),
    ] {
        let mut engine = faulty(fault);
        let error = engine.go(&Game::new(), &NODES, HANG_MS).unwrap_err();
        assert!(line(&error).starts_with(reason), "{fault}: {error}");
        assert!(matches!(engine.go(&Game::new(), &NODES, HANG_MS), Err(ExternalError::NotRunning { .. })));
        engine.restart().unwrap();
        engine.new_game(false).unwrap();
    }
}

#[test]
fn an_engine_without_an_answer_is_given_up() {
    let clock = GoParams { wtime: Some(100.0), btime: Some(1e9), ..GoParams::default() };
    for fault in ["hang", "endless-lines", "endless-line"] {
        let mut engine = faulty(fault);
        let error = engine.go(&Game::new(), &clock, SOON_MS).unwrap_err();
        assert_eq!(line(&error), "Faulty gave no bestmove within 400 ms", "{fault}");
        engine.restart().unwrap();
    }
    let error = faulty("orphan").go(&Game::new(), &clock, SOON_MS).unwrap_err();
    assert_eq!(line(&error), "Faulty ended before bestmove (exit status: 3)", "its child has its output");
}

#[test]
fn a_hang_before_go_is_no_search() {
    // Long enough for Python to start.
    let patience = Patience { ready_ms: 6_000.0, ..Patience::default() };
    let mut engine = ExternalEngine::start_with(&script("deaf-in-game", ""), &[], patience, Arc::default()).unwrap();
    let error = engine.go(&Game::new(), &NODES, HANG_MS).unwrap_err();
    assert_eq!(line(&error), "Faulty gave no readyok within 6000 ms");
    assert!(!error.is_in_search());
    let error = faulty("hang").go(&Game::new(), &GoParams { wtime: Some(1.0), ..NODES }, SOON_MS).unwrap_err();
    assert!(error.is_in_search());
}

#[test]
fn a_wait_is_called_off() {
    let stop = Arc::new(AtomicBool::new(false));
    let mut engine =
        ExternalEngine::start_with(&script("hang", ""), &[], Patience::default(), Arc::clone(&stop)).unwrap();
    let caller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        stop.store(true, Ordering::SeqCst);
    });
    let error = engine.go(&Game::new(), &NODES, HANG_MS).unwrap_err();
    assert_eq!(line(&error), "the wait for bestmove of Faulty was called off");
    caller.join().unwrap();
    assert!(matches!(engine.restart(), Err(ExternalError::CalledOff { .. })));
}

/// More options than its pipe takes and a short queue would.
#[test]
fn no_option_is_lost_where_an_engine_reads_late() {
    const OPTIONS: usize = 5_000;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("told.txt");
    let options = vec![("Clear Hash".to_owned(), String::new()); OPTIONS];
    let engine = ExternalEngine::start(&script("slow-reader", &format!("'{}'", log.display())), &options).unwrap();
    let told = fs::read_to_string(&log).unwrap();
    assert_eq!(told.lines().filter(|line| *line == "setoption name Clear Hash").count(), OPTIONS);
    drop(engine);
}

#[test]
fn floods_are_read_and_forgotten() {
    // 27 MB of output and 24 MB of errors, or a line of 30 MB, before the answer; answers to searches that never were.
    for fault in ["flood", "long-line", "stale"] {
        let mut engine = faulty(fault);
        let mut game = Game::new();
        for expected in ["e2e4", "e7e5"] {
            let answer = engine.go(&game, &NODES, HANG_MS).unwrap();
            assert_eq!((to_uci(answer.mv, false).as_str(), answer.depth), (expected, Some(3)), "{fault}");
            game.push(answer.mv);
        }
    }
}

#[test]
fn an_engine_that_ends_after_its_answer_has_answered() {
    let mut engine = faulty("one-move");
    let answer = engine.go(&Game::new(), &NODES, HANG_MS).unwrap();
    assert_eq!(to_uci(answer.mv, false), "e2e4");
    let error = engine.new_game(false).unwrap_err();
    assert_eq!(line(&error), "Faulty ended before readyok (exit status: 0)");
}

#[test]
fn an_engine_without_chess960_is_told_apart() {
    let mut engine = faulty("standard");
    engine.go(&Game::new(), &NODES, HANG_MS).unwrap();
    let game = Game::from_fen("1r2k2r/8/8/8/8/8/4P3/1R2K2R w KQkq - 0 1", false).unwrap();
    assert_eq!(line(&engine.go(&game, &NODES, HANG_MS).unwrap_err()), "Faulty does not play Chess960");
}

/// Whether a process runs: one that has ended may wait to be asked how.
#[cfg(target_os = "linux")]
fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
    !matches!(state, None | Some('Z' | 'X'))
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_is_left_behind() {
    let patience = Patience { quit_ms: SOON_MS, ..Patience::default() };
    for after_error in [false, true] {
        let mut engine = ExternalEngine::start_with(&script("stubborn", ""), &[], patience, Arc::default()).unwrap();
        let pids: Vec<String> = engine.name().split(' ').skip(1).map(str::to_owned).collect();
        assert!(pids.len() == 2 && pids.iter().all(|pid| runs(pid)), "{pids:?}");
        if after_error {
            let over = Game::from_fen("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", false).unwrap();
            engine.go(&over, &NODES, HANG_MS).unwrap_err();
        } else {
            drop(engine);
        }
        // The child of a child is told, but nobody waits for it.
        while pids.iter().any(|pid| runs(pid)) {
            std::thread::yield_now();
        }
    }
}
