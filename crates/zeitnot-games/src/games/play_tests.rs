use super::*;
use crate::Evaluation;
use std::collections::VecDeque;
use zeitnot_engine::engine::GoParams;

/// A player that plays the first legal move, or the move that it is given, and takes the times that it is given.
struct Scripted {
    name: &'static str,
    /// Milliseconds of each move; the last is repeated.
    times_ms: VecDeque<f64>,
    moves: VecDeque<&'static str>,
    fails_after: Option<usize>,
    /// It fails by giving no answer, and does so from the start on with `fails_after` 0.
    hangs: bool,
    /// It hangs before its clock runs.
    is_unready: bool,
    /// The requests that it got.
    asked: Vec<GoParams>,
    since_ms: Vec<f64>,
}

impl Scripted {
    fn new(name: &'static str, times_ms: &[f64]) -> Scripted {
        Scripted {
            name,
            times_ms: times_ms.iter().copied().collect(),
            moves: VecDeque::new(),
            fails_after: None,
            hangs: false,
            is_unready: false,
            asked: Vec::new(),
            since_ms: Vec::new(),
        }
    }
}

impl Player for Scripted {
    fn name(&self) -> &str {
        self.name
    }

    fn new_game(&mut self, _: u64) -> Result<(), PlayerError> {
        match self.hangs && self.fails_after == Some(0) {
            true => Err(PlayerError::NotReady(format!("{} gave no readyok", self.name))),
            false => Ok(()),
        }
    }

    fn think(&mut self, turn: &Turn<'_>) -> Result<Thought, PlayerError> {
        if self.fails_after.is_some_and(|moves| self.asked.len() >= moves) {
            return Err(match self.hangs {
                true if self.is_unready => PlayerError::NotReady(format!("{} gave no readyok", self.name)),
                true => PlayerError::Stalled(format!("{} gave no bestmove", self.name)),
                false => PlayerError::Crashed(format!("{} ended before bestmove", self.name)),
            });
        }
        self.asked.push(turn.go.clone());
        self.since_ms.push(turn.since_answer_ms);
        let used_ms = if self.times_ms.len() > 1 { self.times_ms.pop_front() } else { self.times_ms.front().copied() };
        let position = turn.game.current();
        let mv = match self.moves.pop_front() {
            Some(text) => zeitnot_engine::chess::parse_uci(position.chess(), text).unwrap(),
            None => position.legal_moves()[0],
        };
        Ok(Thought {
            mv,
            used_ms: used_ms.unwrap(),
            budget_ms: None,
            nodes: 1,
            playouts: 1,
            depth: 1,
            evaluation: Some(Evaluation { cp: 0, mate: None, q: None }),
        })
    }
}

fn rules(controls: [&str; 2]) -> Rules {
    let limits = controls.map(|text| Limits { clock: Some(text.parse().unwrap()), ..Limits::default() });
    Rules { limits, ..Rules::default() }
}

/// Plays at most `plies` of a game from `fen`.
fn game(
    players: [&mut Scripted; 2],
    rules: &Rules,
    fen: Option<&str>,
    first_is_white: bool,
    plies: usize,
) -> GameRecord {
    let start = fen.map_or_else(Game::new, |fen| Game::from_fen(fen, false).unwrap());
    let pairing = Pairing { game: 1, start, chess960: false, first_is_white };
    let [first, second] = players;
    let enough = |record: &GameRecord| match record.moves.len() >= plies {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    play([first, second], rules, &pairing, enough).unwrap()
}

#[test]
fn clocks_lose_the_time_used_and_then_gain_the_increment_and_the_next_control() {
    let (mut first, mut second) = (Scripted::new("A", &[100.0]), Scripted::new("B", &[50.0]));
    // The second player has White, and odds of time.
    let record = game([&mut first, &mut second], &rules(["2/1+0.01", "5"]), None, false, 6);
    assert_eq!(record.players, ["B", "A"]);
    assert_eq!(record.controls, ["5", "2/1+0.01"]);
    let black: Vec<f64> = record.moves.iter().filter(|mv| !mv.white).map(|mv| mv.clocks_ms[1]).collect();
    // It begins with 1.01 s; every second move another second comes.
    assert_eq!(black, [920.0, 1830.0, 1740.0]);
    assert_eq!(record.moves[4].clocks_ms[0], 4850.0);
    let told: Vec<_> = first.asked.iter().map(|go| (go.btime, go.binc, go.movestogo, go.wtime)).collect();
    assert_eq!(told[0], (Some(1010.0), Some(10.0), Some(2), Some(4950.0)));
    assert_eq!(told[1], (Some(920.0), Some(10.0), Some(1), Some(4900.0)));
    assert_eq!(told[2].2, Some(2));
    assert_eq!(second.asked[0].movestogo, None);
    assert_eq!((first.since_ms[0], first.since_ms[1]), (50.0, 50.0), "the opponent's time has passed");
}

#[test]
fn a_clock_that_runs_out_loses_but_not_against_a_bare_king() {
    let mut first = Scripted::new("A", &[400.0, 601.0]);
    let mut second = Scripted::new("B", &[1.0]);
    let record = game([&mut first, &mut second], &rules(["1", "1"]), None, true, 99);
    assert_eq!((record.white_won, record.termination), (Some(false), Termination::TimeForfeit));
    assert_eq!((record.moves.len(), record.clocks_ms[0]), (2, -1.0), "the late move does not count");
    assert_eq!(record.forfeit_of_first(), Some(true));
    // Exactly all of the time is in time.
    let mut exact = Scripted::new("A", &[1000.0]);
    let record = game([&mut exact, &mut Scripted::new("B", &[1.0])], &rules(["1", "1"]), None, true, 1);
    assert_eq!(record.termination, Termination::Unfinished);
    let mut late = Scripted::new("A", &[1001.0]);
    let rook = "4k3/8/8/8/8/8/8/R3K3 b - - 0 1";
    let record = game(
        [&mut Scripted::new("B", &[1.0]), &mut Scripted::new("C", &[1001.0])],
        &rules(["1", "1"]),
        Some(rook),
        true,
        9,
    );
    assert_eq!((record.white_won, record.forfeit_of_first()), (Some(true), Some(false)), "Black has the bare king");
    let record = game([&mut late, &mut Scripted::new("B", &[1.0])], &rules(["1", "1"]), Some(rook), true, 9);
    assert_eq!((record.white_won, record.termination), (None, Termination::TimeForfeit), "a bare king cannot win");
    assert_eq!((record.result(), record.forfeit_of_first()), ("1/2-1/2", Some(true)));
    assert_eq!(record.lost_on_time_by_first(), None, "nobody lost");
}

#[test]
fn limits_without_a_clock_never_run_out() {
    let limits = [Limits { nodes: Some(10), ..Limits::default() }, Limits { depth: Some(3), ..Limits::default() }];
    let rules = Rules { limits, ..Rules::default() };
    let (mut first, mut second) = (Scripted::new("A", &[1e9]), Scripted::new("B", &[1e9]));
    let record = game([&mut first, &mut second], &rules, None, true, 4);
    assert_eq!((record.moves.len(), record.clocks_ms, record.termination), (4, [0.0; 2], Termination::Unfinished));
    assert_eq!(first.asked[1], GoParams { nodes: Some(10), ..GoParams::default() });
    assert_eq!(second.asked[1], GoParams { depth: Some(3), ..GoParams::default() });
}

#[test]
fn nothing_of_the_time_of_a_move_is_kept() {
    let limits = [200.0, 100.0].map(|ms| Limits { movetime_ms: Some(ms), ..Limits::default() });
    let rules = Rules { limits, ..Rules::default() };
    let (mut first, mut second) = (Scripted::new("A", &[200.0]), Scripted::new("B", &[1.0, 1.0, 101.0]));
    let record = game([&mut first, &mut second], &rules, None, true, 9);
    assert_eq!(first.asked[1], GoParams { movetime: Some(200.0), ..GoParams::default() });
    assert_eq!(record.controls, ["0.2/move", "0.1/move"]);
    assert_eq!((record.moves.len(), record.moves[3].clocks_ms), (5, [0.0; 2]), "the late move does not count");
    assert_eq!((record.termination, record.forfeit_of_first()), (Termination::TimeForfeit, Some(false)));
    assert_eq!(record.clocks_ms, [0.0, -1.0]);
}

#[test]
fn a_margin_lets_a_player_be_late_and_nothing_of_it_is_owed() {
    let rules = |text| Rules { time_margin_ms: 50.0, ..rules([text, text]) };
    let (mut first, mut second) = (Scripted::new("A", &[1060.0, 60.0, 61.0]), Scripted::new("B", &[1.0]));
    let record = game([&mut first, &mut second], &rules("1+0.01"), None, true, 9);
    let clocks: Vec<f64> = record.moves.iter().filter(|mv| mv.white).map(|mv| mv.clocks_ms[0]).collect();
    assert_eq!((clocks, record.clocks_ms[0]), (vec![10.0, 10.0], -51.0));
    assert_eq!(record.termination, Termination::TimeForfeit);
}

#[test]
fn the_lag_is_taken_off_the_clock_and_passes_for_both() {
    let rules = Rules { lag: Some("5,40".parse().unwrap()), seed: 3, ..rules(["10", "10"]) };
    let (mut first, mut second) = (Scripted::new("A", &[100.0]), Scripted::new("B", &[50.0]));
    let record = game([&mut first, &mut second], &rules, None, true, 4);
    let lags: Vec<f64> = record.moves.iter().map(|mv| mv.used_ms - if mv.white { 100.0 } else { 50.0 }).collect();
    assert!(lags.iter().all(|lag| (0.0..=40.0).contains(lag)) && lags[0] != lags[2], "{lags:?}");
    // Between White's answers: its own lag, and Black's time with lag.
    assert!((first.since_ms[1] - (lags[0] + 50.0 + lags[1])).abs() < 0.01, "{:?} {lags:?}", first.since_ms);
}

#[test]
fn a_player_that_fails_loses_with_its_error_and_an_engine_of_this_program_ends_the_match() {
    let (mut first, mut second) = (Scripted::new("A", &[1.0]), Scripted::new("B", &[1.0]));
    second.fails_after = Some(2);
    let record = game([&mut first, &mut second], &rules(["1", "1"]), None, true, 99);
    assert_eq!((record.white_won, record.termination, record.moves.len()), (Some(true), Termination::Crash, 5));
    assert_eq!(record.error.as_deref(), Some("B ended before bestmove"));
    assert_eq!(record.termination.pgn(), "abandoned");
}

#[test]
fn the_rules_of_chess_end_a_game_and_its_opening_is_kept_apart() {
    let (mut first, mut second) = (Scripted::new("A", &[1.0]), Scripted::new("B", &[1.0]));
    let mut start = Game::new();
    start.push_uci("f2f3").unwrap();
    (second.moves, first.moves) = (["e7e5", "d8h4"].into(), ["g2g4"].into());
    let pairing = Pairing { game: 1, start, chess960: false, first_is_white: true };
    let go_on = |_: &GameRecord| ControlFlow::Continue(());
    let record = play([&mut first, &mut second], &rules(["1", "1"]), &pairing, go_on).unwrap();
    assert_eq!((record.white_won, record.termination), (Some(false), Termination::Checkmate));
    assert_eq!((record.opening, record.moves.len()), (vec!["f3".to_owned()], 3));
    assert_eq!(record.moves[0].uci, "e7e5");
}

#[test]
fn a_player_that_hangs_has_lost_on_time_where_its_clock_ran() {
    let hanging = |moves| Scripted { fails_after: Some(moves), hangs: true, ..Scripted::new("A", &[1.0]) };
    let play =
        |moves, fen, rules: &Rules| game([&mut hanging(moves), &mut Scripted::new("B", &[1.0])], rules, fen, true, 9);
    let record = play(1, None, &rules(["1", "1"]));
    assert_eq!((record.white_won, record.termination), (Some(false), Termination::TimeForfeit));
    assert!(record.forfeit_of_first() == Some(true) && record.clocks_ms[0] < 0.0, "{:?}", record.clocks_ms);
    let bare = play(0, Some("4k3/8/8/8/8/8/8/R3K3 b - - 0 1"), &Rules::default());
    assert_eq!(bare.termination, Termination::Stall, "no clock ran");
    let mut unready = Scripted { is_unready: true, ..hanging(1) };
    let record = game([&mut unready, &mut Scripted::new("B", &[1.0])], &rules(["1", "1"]), None, true, 9);
    assert_eq!((record.white_won, record.termination), (Some(false), Termination::Stall), "its clock did not run");
    assert!(record.forfeit.is_none() && record.clocks_ms[0] > 0.0, "{:?}", record.clocks_ms);
    let bare = play(1, Some("4k3/8/8/8/8/8/8/R3K3 w - - 0 1"), &rules(["1", "1"]));
    assert_eq!((bare.white_won, bare.termination), (None, Termination::TimeForfeit), "a bare king cannot win");
}
