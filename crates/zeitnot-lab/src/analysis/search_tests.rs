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
fn a_move_that_turned_out_worse_is_compared_with_the_others() {
    let mut analyst = analyst();
    // The search would play it and sees nothing; behind it Black mates.
    let until = game(&["f2f3", "e7e5"]);
    let played = zeitnot_engine::chess::parse_uci(until.current().chess(), "g2g4").unwrap();
    let found = PositionFacts {
        wdl: Some([300, 400, 300]),
        line: vec!["g2g4".to_owned()],
        early: Some("g2g4".to_owned()),
        ..PositionFacts::of(super::super::Eval::Cp(0))
    };
    let after = PositionFacts { wdl: Some([0, 0, 1000]), ..PositionFacts::of(super::super::Eval::Mate(-1)) };
    let effort = Effort::Nodes(100);
    let corrected = analyst.corrected(&until, effort, found.clone(), played, &after).unwrap();
    assert!(corrected.line[0] != "g2g4" && corrected.mate.is_none(), "{corrected:?}");
    assert_eq!(corrected.early.as_deref(), Some("g2g4"));
    // Where it is as good as the search said, or another move is the search's, nothing changes.
    let same = PositionFacts { wdl: Some([280, 400, 320]), ..found.clone() };
    assert_eq!(analyst.corrected(&until, effort, found.clone(), played, &same).unwrap(), found);
    let other = PositionFacts { line: vec!["e2e4".to_owned()], ..found };
    assert_eq!(analyst.corrected(&until, effort, other.clone(), played, &after).unwrap(), other);
    // No other move is legal: what comes behind it counts, a move later.
    let forced = Game::from_fen("7k/8/8/8/8/8/1q6/K7 w - - 0 1", false).unwrap();
    let only = forced.current().legal_moves()[0];
    let found = PositionFacts {
        wdl: Some([300, 400, 300]),
        line: vec![to_uci(only, false)],
        ..PositionFacts::of(super::super::Eval::Cp(0))
    };
    let won = PositionFacts { wdl: Some([0, 0, 1000]), ..PositionFacts::of(super::super::Eval::Mate(-3)) };
    let corrected = analyst.corrected(&forced, effort, found.clone(), only, &won).unwrap();
    assert_eq!((corrected.mate, corrected.line), (Some(-3), found.line));
}

#[test]
fn a_move_that_lost_much_is_looked_at_again() {
    let until = game(&["f2f3", "e7e5"]);
    let played = zeitnot_engine::chess::parse_uci(until.current().chess(), "g2g4").unwrap();
    let at =
        |cp, line: &str| PositionFacts { line: vec![line.to_owned()], ..PositionFacts::of(super::super::Eval::Cp(cp)) };
    let mated = PositionFacts::of(super::super::Eval::Mate(-1));
    assert!(has_lost_much(&until, played, &at(0, "e2e4"), &mated));
    assert!(has_lost_much(&until, played, &at(0, "e2e4"), &at(-120, "d7d5")));
    assert!(!has_lost_much(&until, played, &at(0, "e2e4"), &at(-80, "d7d5")), "an inaccuracy");
    assert!(!has_lost_much(&until, played, &at(0, "g2g4"), &mated), "the search would play it, too");
    // Both positions are searched with more effort, and an eighth of the first effort stays.
    let mut analyst = analyst();
    let fool = game(&["f2f3", "e7e5", "g2g4", "d8h4"]);
    let mut facts = vec![PositionFacts::of_outcome(fool.outcome().unwrap())];
    facts.push(PositionFacts { early: Some("a7a6".to_owned()), ..at(0, "a7a6") });
    let found = analyst.second_look(&fool, &until, Effort::Nodes(100), &mut facts).unwrap();
    assert_eq!((facts.len(), facts[1].mate, facts[1].early.as_deref()), (2, Some(-1), Some("a7a6")));
    assert_ne!(found.line[0], "g2g4");
    assert_eq!(Effort::Time(5.0).times(SECOND_LOOK), Effort::Time(20.0));
}

#[test]
fn an_interruption_leaves_nothing() {
    let stopped = AtomicBool::new(true);
    assert_eq!(analyst().facts(&game(&["e2e4"]), &|| Effort::Nodes(4), &stopped).unwrap(), None);
}
