use super::*;
use crate::games::{Limits, PlayerError, Thought, Turn};
use serde_json::json;
use zeitnot_engine::chess::Game;
use zeitnot_engine::engine::GoParams;

/// A player whose games end by the move that a rule of the pair's number names.
struct Resigning {
    name: &'static str,
    wins: fn(u64) -> bool,
    seed: u64,
}

impl Player for Resigning {
    fn name(&self) -> &str {
        self.name
    }

    fn new_game(&mut self, seed: u64) -> Result<(), PlayerError> {
        self.seed = seed;
        Ok(())
    }

    fn think(&mut self, turn: &Turn<'_>) -> Result<Thought, PlayerError> {
        assert_eq!(turn.go, GoParams { nodes: Some(1), ..GoParams::default() });
        // Some games take longer than others that began later.
        std::thread::sleep(std::time::Duration::from_millis(self.seed % 8));
        match (self.wins)(self.seed) {
            false => Err(PlayerError::Stalled(format!("{} gave up", self.name))),
            true => Ok(Thought {
                mv: turn.game.current().legal_moves()[0],
                used_ms: 1.0,
                budget_ms: None,
                nodes: 1,
                playouts: 1,
                depth: 1,
                evaluation: None,
            }),
        }
    }
}

/// The games reported, in their order, and the end of a match in which the first player wins the games for which
/// `wins`.
fn played(wins: fn(u64) -> bool, games: u64, concurrency: usize, sprt: Option<&str>) -> (Vec<u64>, MatchEnd, Journal) {
    let home = tempfile::tempdir().unwrap();
    let mut journal = Journal::create(&home.path().join("journal"), json!({})).unwrap();
    let limits = Limits { nodes: Some(1), ..Limits::default() };
    let plan = MatchPlan {
        rules: Rules { limits: [limits.clone(), limits], ..Rules::default() },
        games,
        starts: Starts::one(Game::new()).unwrap(),
        chess960: false,
        concurrency,
        sprt: sprt.map(|text| text.parse().unwrap()),
        tells_moves: false,
    };
    let make = |_: usize| -> Result<Players, PlayerError> {
        let first: Box<dyn Player> = Box::new(Resigning { name: "A", wins, seed: 0 });
        Ok([first, Box::new(Resigning { name: "B", wins: |_| false, seed: 0 })])
    };
    let mut told = Vec::new();
    let end = run_match(&plan, &make, &mut journal, &AtomicBool::new(false), &mut |event| {
        if let Event::Finished { record, results, .. } = event {
            told.push(record.game);
            assert_eq!(results.games(), record.game, "counted in order");
        }
    });
    (told, end.unwrap(), journal)
}

#[test]
fn games_are_told_in_order_however_many_are_played_at_once() {
    for concurrency in [1, 3, 8] {
        let (told, end, journal) = played(|_| true, 16, concurrency, None);
        assert_eq!(told, (1..=16).collect::<Vec<_>>());
        assert_eq!((end.results.wins, end.results.losses), (16, 0), "{concurrency}");
        assert_eq!(journal.games().len(), 16);
    }
}

#[test]
fn an_sprt_decides_by_the_games_in_their_order() {
    let alone = played(|_| true, 200, 1, Some("0,50"));
    assert_eq!(alone.1.decision, Some(Decision::AcceptH1));
    assert!(alone.0.len() < 60 && alone.0.len().is_multiple_of(2), "{}", alone.0.len());
    let many = played(|_| true, 200, 5, Some("0,50"));
    assert_eq!((many.0, many.1.results), (alone.0, alone.1.results), "later games are dropped");
}

#[test]
fn a_match_that_never_starts_leaves_the_games_of_another() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("journal");
    let mut journal = Journal::create(&path, json!({ "match": 1 })).unwrap();
    journal.add(crate::games::record::drawn_game(1)).unwrap();
    journal.end().unwrap();
    drop(journal);
    let finished = std::fs::read(&path).unwrap();
    let limits = Limits { nodes: Some(1), ..Limits::default() };
    let plan = MatchPlan {
        rules: Rules { limits: [limits.clone(), limits], ..Rules::default() },
        games: 8,
        starts: Starts::one(Game::new()).unwrap(),
        chess960: false,
        concurrency: 3,
        sprt: None,
        tells_moves: false,
    };
    let player = |name| -> Box<dyn Player> { Box::new(Resigning { name, wins: |_| true, seed: 0 }) };
    // A thread has its players, the others have not, and say so before it begins.
    let failures = AtomicU64::new(0);
    let make = |thread: usize| {
        if thread > 0 {
            failures.fetch_add(1, Ordering::SeqCst);
            return Err(PlayerError::Unfit("no such engine".to_owned()));
        }
        while failures.load(Ordering::SeqCst) < 2 {
            std::thread::yield_now();
        }
        Ok([player("A"), player("B")])
    };
    let mut journal = Journal::create(&path, json!({ "match": 2 })).unwrap();
    let mut broken_off = 0;
    let mut tell = |event: Event<'_>| broken_off += u32::from(matches!(event, Event::BrokenOff(_)));
    let end = run_match(&plan, &make, &mut journal, &AtomicBool::new(false), &mut tell);
    assert_eq!(end.unwrap_err().to_string(), "no such engine");
    drop(journal);
    assert!(broken_off == 0 && std::fs::read(&path).unwrap() == finished);
    // A game that is broken off belongs to a match that --resume knows.
    let mut journal = Journal::create(&path, json!({ "match": 3 })).unwrap();
    let interrupted = AtomicBool::new(false);
    let make = |_: usize| Ok([player("A"), player("B")]);
    let plan = MatchPlan { concurrency: 1, tells_moves: true, ..plan };
    run_match(&plan, &make, &mut journal, &interrupted, &mut |event| match event {
        Event::Moved { .. } => interrupted.store(true, Ordering::SeqCst),
        Event::BrokenOff(_) => assert!(std::fs::read_to_string(&path).unwrap().contains("\"match\":3")),
        _ => {}
    })
    .unwrap();
    assert!(!journal.has_other());
}
