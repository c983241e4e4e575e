use super::*;
use crate::games::{Journal, LagModel, MatchPlan, Rules, Starts, run_match};
use serde_json::json;
use std::sync::atomic::AtomicBool;
use zeitnot_engine::announcer::Announcer;
use zeitnot_engine::backend::CostModel;
use zeitnot_engine::chess::Game;
use zeitnot_engine::engine::{Options, RuntimePolicy};

/// The mate in one from which a game is short.
const MATE_IN_ONE: &str = "k7/8/1K6/8/8/8/8/7R w - - 0 1";

fn options(settings: &[(&str, &str)]) -> Options {
    let mut options = Options::default();
    for (name, value) in [&[("Backend", "uniform"), ("Threads", "1")], settings].concat() {
        options.set(name, value).unwrap();
    }
    options
}

fn players() -> [Contestant; 2] {
    ["smooth", "legacy"].map(|manager| Contestant::own(options(&[("TimeManager", manager)]), manager.to_owned()))
}

fn virtual_clock() -> MatchClock {
    MatchClock::Virtual { cost: CostModel::constant(4_000.0).unwrap(), playout_ms: 0.01 }
}

fn plan(fen: &str, lag: Option<&str>, games: u64) -> MatchPlan {
    let starts = Starts::one(Game::from_fen(fen, false).unwrap()).unwrap();
    let lag: Option<LagModel> = lag.map(|lag| lag.parse().unwrap());
    let rules = Rules { lag, ..Rules::default() }.at("1+0.01".parse().unwrap());
    MatchPlan { rules, games, starts, chess960: false, concurrency: 1, sprt: None, tells_moves: false }
}

#[test]
fn a_match_is_prepared_and_played() {
    let (folder, clock) = (tempfile::tempdir().unwrap(), virtual_clock());
    let plan = plan(MATE_IN_ONE, None, 2);
    let mut players = players();
    check(&players).unwrap();
    load(&mut players, 2, &clock, RuntimePolicy::FindOnly, &Announcer::default()).unwrap();
    let make = |_| {
        let [first, second] = [&players[0], &players[1]];
        Ok([first.player(&clock, &Announcer::default(), None)?, second.player(&clock, &Announcer::default(), None)?])
    };
    let mut journal = Journal::create(&folder.path().join("games.jsonl"), json!({})).unwrap();
    let end = run_match(&plan, &make, &mut journal, &AtomicBool::new(false), &mut |_| {}).unwrap();
    // White mates in both.
    assert_eq!((end.results.games(), end.results.wins, end.results.losses), (2, 1, 1));
    assert_eq!(players[0].identity().unwrap()["options"]["Backend"], "uniform");
}

#[test]
fn games_on_a_virtual_clock_do_not_repeat_each_other() {
    let [first, second] = players();
    let check = |lag, clock: &MatchClock, games| {
        let players = [&first, &second];
        let error = plan(MATE_IN_ONE, lag, games).check_repetition(clock, players, &Announcer::default()).err();
        error.map(|error| error.to_string())
    };
    assert_eq!(check(None, &virtual_clock(), 2), None);
    let error = check(None, &virtual_clock(), 4).unwrap();
    assert!(error.starts_with("4 games from 1 opening would repeat each other on a virtual clock"), "{error}");
    assert_eq!(check(Some("2,50"), &virtual_clock(), 4), None);
    assert_eq!(check(None, &MatchClock::Real, 4), None);
}

#[test]
fn players_are_told_apart_and_starts_can_be_played() {
    let [first, second] = players();
    let error = |players: &[Contestant]| check(players).unwrap_err().to_string();
    assert_eq!(error(&[first.clone(), first.clone()]), "two players are called smooth");
    assert_eq!(error(&[Contestant { name: " ".into(), ..first.clone() }]), "\" \" is no name of a player");
    assert_eq!(error(&[first, Contestant { rating: Some(f64::NAN), ..second }]), "legacy: NaN is no rating");
    let start = |fen: &str| Starts::one(Game::from_fen(fen, false).unwrap()).err().map(|error| error.to_string());
    assert_eq!(start(MATE_IN_ONE), None);
    assert_eq!(start("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1").as_deref(), Some("the side to move could take the king"));
    assert_eq!(start("8/8/8/4k3/8/8/8/4K3 w - - 0 1").as_deref(), Some("the game is over (insufficient material)"));
}
