//! Tests the analysis of a game: from facts, from comments, and with a clock.

use super::super::document::{Moment, MomentKind, ShownEvaluation, TimeVerdict};
use super::super::players::players;
use super::super::position_facts::facts_in_comments;
use super::*;
use zeitnot_games::pgn_reader::read_games;

fn game(text: &str) -> PgnGame {
    read_games(text.as_bytes()).unwrap().remove(0)
}

fn facts(cp: i32, wdl: [u32; 3], line: &[&str], early: &str) -> Option<PositionFacts> {
    let line = line.iter().map(|mv| (*mv).to_owned()).collect();
    Some(PositionFacts {
        wdl: Some(wdl),
        line,
        early: Some(early.to_owned()),
        depth: 9,
        ..PositionFacts::of(Eval::Cp(cp))
    })
}

/// White plays the best move, Black one that loses a third of a point.
fn two_moves() -> (PgnGame, Vec<Option<PositionFacts>>) {
    let text = "[White \"A\"]\n[Black \"B\"]\n[BlackElo \"1500\"]\n[TimeControl \"300\"]\n\n\
                1. e4 {[%emt 0:00:20]} e5 {[%emt 0:00:00.1]} 1-0\n";
    let facts = vec![
        facts(30, [300, 500, 200], &["e2e4", "e7e5"], "e2e4"),
        facts(20, [280, 500, 220], &["c7c5", "g1f3", "d7d6"], "c7c5"),
        facts(200, [700, 200, 100], &["g1f3"], "g1f3"),
    ];
    (game(text), facts)
}

#[test]
fn losses_are_of_the_mover_and_the_best_move_loses_nothing() {
    let (game, facts) = two_moves();
    let analysed = analysed("g.pgn", &game, &facts);
    let [first, second] = &analysed.moves[..] else { panic!() };
    assert_eq!((first.expected_loss, first.best.as_ref()), (Some(0.0), None));
    assert!((second.expected_loss.unwrap() - (0.8 - 0.53)).abs() < 1e-9, "{second:?}");
    let best = second.best.as_ref().unwrap();
    assert_eq!((best.san.as_str(), best.line.join(" ").as_str()), ("c5", "c5 Nf3 d6"));
    assert_eq!(best.eval, Some(ShownEvaluation::Cp(20)));
    assert_eq!((second.judgement, second.glyph.as_deref()), (Some(Judgement::Blunder), Some("??")));
    assert_eq!((second.eval, second.wdl), (Some(ShownEvaluation::Cp(200)), Some([700, 200, 100])));
    assert_eq!((second.ply, second.number, second.color.as_str()), (2, 1, "black"));
    assert_eq!(analysed.black.blunders, 1);
    assert_eq!(analysed.white.accuracy, Some(100.0));
    assert_eq!(analysed.black.average_loss_cp, Some(180.0));
}

#[test]
fn the_clock_is_judged_and_moments_are_named() {
    let (game, facts) = two_moves();
    let analysed = analysed("g.pgn", &game, &facts);
    let [_, second] = &analysed.moves[..] else { panic!() };
    assert_eq!(second.time.as_ref().unwrap().verdict, Some(TimeVerdict::NeededOne));
    assert_eq!((second.used_ms, second.clock_ms), (Some(100.0), Some(299_900.0)));
    let words = "1... e5 was played in 0.1 s and lost 27 % of the winning chances; c5 was better.".to_owned();
    assert_eq!(analysed.moments, [Moment { ply: 2, kind: MomentKind::NeededOne, words }]);
    let clock = analysed.black.clock.as_ref().unwrap();
    assert_eq!(clock.instant.count, 1);
    assert!((clock.score - 100.0 * (-0.54f64).exp2()).abs() < 1e-9, "{}", clock.score);
    // White has no rating, and one move makes no pace.
    assert_eq!(analysed.moves[0].time.as_ref().unwrap().usual_ms, None);
}

#[test]
fn players_are_summed_over_games() {
    let (game, facts) = two_moves();
    let one = analysed("g.pgn", &game, &facts);
    let all = players(&[one.clone(), one.clone()]);
    assert_eq!(all.iter().map(|player| (player.name.as_str(), player.games)).collect::<Vec<_>>(), [("A", 2), ("B", 2)]);
    assert_eq!(all[1].accuracy, one.black.accuracy);
    let [clock, of_one] = [&all[1].clock, &one.black.clock].map(|clock| clock.as_ref().unwrap());
    assert!((clock.score - of_one.score).abs() < 1e-9 && clock.instant.count == 2);
    assert_eq!(all[1].by_phase[0].moves, 2);
}

#[test]
fn comments_alone_give_accuracies_and_the_start_of_lichess() {
    let text = "1. e4 { [%eval 0.2] } e5 { [%eval 2.5] } 2. Nf3 Nc6 { [%eval 2.5] } *\n";
    let game = game(text);
    let analysed = analysed("g.pgn", &game, &facts_in_comments(&game));
    assert_eq!(analysed.start.eval, None);
    let judgements: Vec<_> = analysed.moves.iter().map(|mv| mv.judgement).collect();
    assert_eq!(judgements, [None, Some(Judgement::Blunder), None, None]);
    assert_eq!(analysed.moves[0].accuracy, Some(100.0));
    assert_eq!(
        (analysed.moves[2].accuracy, analysed.moves[2].eval, analysed.moves[3].expected_loss),
        (None, None, None)
    );
    assert!(analysed.moves[1].best.is_none() && analysed.white.clock.is_none());
}

#[test]
fn a_game_from_a_position_begins_with_the_search_of_it() {
    let text = "[FEN \"4k3/8/8/8/8/8/8/R3K3 b - - 0 31\"]\n\n31... Ke7 32. Ra7 *\n";
    let facts = vec![
        facts(900, [990, 10, 0], &["e8e7"], "e8e7"),
        facts(900, [990, 10, 0], &["a1a7"], "a1a2"),
        facts(900, [990, 10, 0], &["e7e6"], "e7e6"),
    ];
    let analysed = analysed("g.pgn", &game(text), &facts);
    assert_eq!((analysed.moves[0].number, analysed.moves[0].color.as_str()), (31, "black"));
    assert!(analysed.moves.iter().all(|mv| mv.judgement.is_none() && mv.accuracy == Some(100.0)));
    assert_eq!(analysed.moves[1].fen, "8/R3k3/8/8/8/8/8/4K3 b - - 2 32");
}
