//! Tests the searches of a game.

use super::*;
use zeitnot_engine::engine::{RuntimePolicy, load_network};

fn analyst() -> Analyst {
    let mut options = Options::default();
    options.set("Backend", "random").unwrap();
    let backend = load_network(&options, RuntimePolicy::FindOnly, &Default::default()).unwrap().backend;
    Analyst::new(&options, backend, false).unwrap()
}

fn game(moves: &[&str]) -> Game {
    let mut game = Game::new();
    moves.iter().for_each(|mv| game.push_uci(mv).unwrap());
    game
}

#[test]
fn a_game_has_the_same_facts_whatever_was_analysed_before() {
    let go_on = AtomicBool::new(false);
    let facts = |analyst: &mut Analyst, moves: &[&str]| {
        analyst.facts(&game(moves), &|| Effort::Nodes(400), &go_on).unwrap().unwrap()
    };
    let fool = ["f2f3", "e7e5", "g2g4", "d8h4"];
    let first = facts(&mut analyst(), &fool);
    let mut other = analyst();
    facts(&mut other, &["e2e4", "e7e5"]);
    assert_eq!(facts(&mut other, &fool), first);
    assert_eq!(first.len(), 5);
    assert_eq!((first[4].mate, first[4].wdl), (Some(0), Some([0, 0, 1000])));
    // One move mates, from Black's side and so against White.
    assert_eq!((first[3].mate, first[3].line[0].as_str()), (Some(-1), "d8h4"));
    assert!(first[..4].iter().all(|facts| facts.early.is_some() && !facts.line.is_empty()));
}

#[test]
fn a_move_is_compared_with_what_the_search_would_play() {
    let mut analyst = analyst();
    // Behind it Black mates.
    let until = game(&["f2f3", "e7e5"]);
    let played = parse_uci(until.current().chess(), "g2g4").unwrap();
    let mated = PositionFacts { wdl: Some([0, 0, 1000]), ..PositionFacts::of(Eval::Mate(-1)) };
    let best = analyst.best(&until, Effort::Nodes(100), Some((played, &mated))).unwrap();
    assert!(best.line[0] != "g2g4" && best.mate.is_none() && best.early.is_some(), "{best:?}");
    // It turned out well: nothing is better, whatever the search says, and White mates a move later.
    let won =
        PositionFacts { wdl: Some([1000, 0, 0]), line: vec!["a7a6".to_owned()], ..PositionFacts::of(Eval::Mate(3)) };
    let best = analyst.best(&until, Effort::Nodes(100), Some((played, &won))).unwrap();
    assert_eq!((best.mate, &best.line[..]), (Some(4), &["g2g4".to_owned(), "a7a6".to_owned()][..]));
    assert_eq!(best.wdl, won.wdl);
    // No other move is legal: what comes behind it counts.
    let forced = Game::from_fen("7k/8/8/8/8/8/1q6/K7 w - - 0 1", false).unwrap();
    let only = forced.current().legal_moves()[0];
    let lost = PositionFacts { wdl: Some([0, 0, 1000]), ..PositionFacts::of(Eval::Mate(-3)) };
    let best = analyst.best(&forced, Effort::Nodes(100), Some((only, &lost))).unwrap();
    assert_eq!((best.mate, best.line), (Some(-3), vec![to_uci(only, false)]));
    // A mate on the board was a mate in one before it.
    let fool = game(&["f2f3", "e7e5", "g2g4", "d8h4"]);
    let mate = PositionFacts::of_outcome(fool.outcome().unwrap());
    let until = game(&["f2f3", "e7e5", "g2g4"]);
    let best = analyst.best(&until, Effort::Nodes(100), Some((fool.moves()[3], &mate))).unwrap();
    assert_eq!((best.mate, best.line[0].as_str()), (Some(-1), "d8h4"));
}

#[test]
fn what_the_search_would_play_loses_nothing() {
    let moves = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6", "b5c6", "d7c6", "f3e5", "d8d4", "e5f3", "d4e4"];
    let game = game(&moves);
    let facts = analyst().facts(&game, &|| Effort::Nodes(60), &AtomicBool::new(false)).unwrap().unwrap();
    let mut own = 0;
    for (ply, (before, after)) in facts.iter().zip(&facts[1..]).enumerate() {
        let turn = game.positions()[ply].turn();
        let loss = worth(before, turn, turn) - worth(after, turn.other(), turn);
        assert!(loss >= 0.0, "{ply}: {before:?} {after:?}");
        if before.line[0] == moves[ply] {
            own += 1;
            assert_eq!(
                (before.cp, before.wdl, &before.line[1..]),
                (after.cp, after.wdl, &after.line[..before.line.len() - 1])
            );
        }
    }
    assert!(own > 0);
}

#[test]
fn a_move_that_allows_a_short_mate_is_marked() {
    // Qxa7, of a club player's game, allows a mate in three.
    let mut game = Game::from_fen("2r3k1/pp1b2pp/4p3/3P2q1/3Q4/5n2/PP5P/1K1R1B1R w - - 0 1", false).unwrap();
    game.push_uci("d4a7").unwrap();
    let facts = analyst().facts(&game, &|| Effort::Nodes(8), &AtomicBool::new(false)).unwrap().unwrap();
    assert_eq!(facts[1].mate, Some(-3), "{:?}", facts[1]);
    assert!(facts[0].line[0] != "d4a7" && facts[0].mate != Some(-3), "{:?}", facts[0]);
    let turn = game.positions()[0].turn();
    let judged =
        super::super::judgement::judge(facts[0].eval(turn).unwrap(), facts[1].eval(turn.other()).unwrap(), turn, true);
    assert!(judged.is_some());
}

#[test]
fn a_doubtful_move_is_looked_at_again() {
    let until = game(&["f2f3", "e7e5"]);
    let played = parse_uci(until.current().chess(), "g2g4").unwrap();
    let at = |cp, line: &str| PositionFacts { line: vec![line.to_owned()], ..PositionFacts::of(Eval::Cp(cp)) };
    assert!(is_doubtful(&until, played, &at(0, "e2e4"), &at(-120, "d7d5")));
    assert!(!is_doubtful(&until, played, &at(0, "e2e4"), &at(-20, "d7d5")), "a good move");
    assert!(!is_doubtful(&until, played, &at(0, "e2e4"), &PositionFacts::of(Eval::Mate(-1))), "beyond doubt");
    assert!(!is_doubtful(&until, played, &at(0, "g2g4"), &at(-120, "d7d5")), "the search would play it, too");
    // Both positions are searched with more effort, and an eighth of the first effort stays.
    let mut analyst = analyst();
    let fool = game(&["f2f3", "e7e5", "g2g4", "d8h4"]);
    let mut facts = vec![PositionFacts::of_outcome(fool.outcome().unwrap())];
    facts.push(PositionFacts { early: Some("a7a6".to_owned()), ..at(0, "a7a6") });
    let found = analyst.second_look(&fool, &until, Effort::Nodes(100), &mut facts).unwrap();
    assert_eq!((facts.len(), facts[1].mate, facts[1].early.as_deref()), (2, Some(-1), Some("a7a6")));
    assert_ne!(found.line[0], "g2g4");
    assert_eq!(Effort::Time(5.0).times(SECOND_LOOK), Effort::Time(5.0 * SECOND_LOOK));
}

#[test]
fn an_interruption_leaves_nothing() {
    let stopped = AtomicBool::new(true);
    assert_eq!(analyst().facts(&game(&["e2e4"]), &|| Effort::Nodes(4), &stopped).unwrap(), None);
}

#[test]
fn a_mate_that_was_played_is_no_loss() {
    let go_on = AtomicBool::new(false);
    for (fen, played, at) in [
        // Found by checks before the move, and by no search of so few nodes behind it.
        ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", &["f6a6"][..], 3),
        // The mate that was played is shorter than the one that the search finds.
        ("r3k2r/ppp2Npp/1b5n/4p2b/2B1P2q/BQP2P2/P5PP/RN5K w kq - 0 1", &["c4b5", "c7c6", "b5c6"], 3),
    ] {
        let mut game = Game::from_fen(fen, false).unwrap();
        played.iter().for_each(|mv| game.push_uci(mv).unwrap());
        for nodes in [8, 60] {
            let facts = analyst().facts(&game, &|| Effort::Nodes(nodes), &go_on).unwrap().unwrap();
            let mates: Vec<Option<i32>> = facts.iter().take(2).map(|facts| facts.mate).collect();
            assert_eq!(mates, [Some(at), Some(at - 1)], "{fen}: {facts:?}");
            assert_eq!(facts[0].line[0], played[0], "{fen}");
        }
    }
}
