//! Tests the annotated PGN.

use super::super::analysed::analysed;
use super::super::evaluation::Eval;
use super::super::position_facts::{PositionFacts, facts_in_comments};
use super::*;
use zeitnot_games::pgn_reader::read_games;

fn game(text: &str) -> PgnGame {
    read_games(text.as_bytes()).unwrap().remove(0)
}

const TEXT: &str = "[White \"A \\\"x\\\"\"]\n[Result \"1-0\"]\n\n{before} 1. e4 $14 {[%clk 0:01:00] good} \
    (1. d4 $1 d5 {a (b) \"c\"} (1... Nf6 ; to the end\n) 2. c4) e5?! {[%eval 0.3,5] [%clk 0:00:59]} {more} (1... c5) \
    2. Nf3 {(0.30 \u{2192} 0.10) Inaccuracy. d4 was best.} ?! Nc6!? 1-0\n";

/// The game searched: Black's first move is a blunder.
fn annotated(text: &str) -> String {
    let game = game(text);
    let facts: Vec<_> = [20, 30, 300, 300, 290]
        .iter()
        .map(|cp| {
            let line = vec!["c7c5".to_owned(), "g1f3".to_owned()];
            Some(PositionFacts { line, wdl: Some([500, 300, 200]), ..PositionFacts::of(Eval::Cp(*cp)) })
        })
        .collect();
    annotated_with_rest(&game, &analysed("g.pgn", &game, &facts), &[7, 8, 9, 10], "")
}

#[test]
fn what_the_game_had_stays_and_the_analysis_comes_to_it() {
    let text = annotated(TEXT);
    let flat = text.replace('\n', " ");
    assert!(text.starts_with("[White \"A \\\"x\\\"\"]\n[Result \"1-0\"]\n\n{before} 1. e4 $14 {[%eval"), "{text}");
    for part in [
        "{[%eval 0.30,7] [%wdl 500,300,200] [%clk 0:01:00] good} \
         (1. d4 $1 d5 {a (b) \"c\"} (1... Nf6 {to the end} ) 2. c4) 1... e5 $6",
        // The mark of the game stays; ours is in the comment.
        "{[%eval 3.00,8] [%wdl 500,300,200] [%clk 0:00:59]} {more} \
         {(0.30 -> 3.00) Blunder, 0.00 points lost. c5 was best: c5 Nf3.} (1... c5) 2. Nf3",
        // An earlier analysis is replaced, with its mark.
        "2. Nf3 {[%eval 3.00,9] [%wdl 500,300,200]} 2... Nc6 $5 {[%eval 2.90,10]",
    ] {
        assert!(flat.contains(part), "{part} is not in\n{flat}");
    }
    assert!(text.ends_with(" 1-0\n\n") && text.lines().all(|line| line.len() < 200), "{text}");
}

#[test]
fn analysed_twice_it_is_the_same() {
    let once = annotated(TEXT);
    assert_eq!(annotated(&once), once);
    let [first, again] = [TEXT, &once].map(game);
    assert_eq!(first.game.moves(), again.game.moves());
    assert_eq!(again.variations[1].len(), 1);
}

#[test]
fn evaluations_of_comments_stay_as_they_are() {
    let text = "1. e4 {[%eval 0.2] [%clk 0:01:00]} e5 {[%eval 3.1]} *\n";
    let game = game(text);
    let text = annotated_with_rest(&game, &analysed("g.pgn", &game, &facts_in_comments(&game)), &[], "");
    let known = "1. e4 {[%eval 0.2] [%clk 0:01:00]} 1... e5 $4 {[%eval 3.1]}\n\
                 {(0.20 -> 3.10) Blunder, 0.24 points lost.} *\n\n";
    assert_eq!(text, known);
}

#[test]
fn commands_are_taken_out_of_comments() {
    for (comment, left) in [
        ("[%eval 0.3] [%clk 0:01:00] so", "[%clk 0:01:00] so"),
        ("so [%clk 1] [%eval 3", "so [%clk 1] [%eval 3"),
        ("[%wdl 1,2,3]", ""),
        ("[%evaluation 3] a", "[%evaluation 3] a"),
    ] {
        assert_eq!(without_commands(comment, &["eval", "wdl"]), left);
    }
}

#[test]
fn the_result_stands_in_no_comment() {
    let rest = |text: &str, rest: &str| {
        let game = game(text);
        let facts = vec![None; game.game.positions().len()];
        let written = annotated_with_rest(&game, &analysed("g.pgn", &game, &facts), &[], rest);
        written.trim_end().to_owned()
    };
    assert_eq!(rest("1. e4 e5 2. -- Nf6 ; a comment\n", "-- Nf6 ; a comment"), "1. e4 e5 2. -- Nf6 ; a comment\n*");
    assert_eq!(rest("1. e4 e5 2. -- Nf6 1-0\n", "-- Nf6 1-0"), "1. e4 e5 2. -- Nf6 1-0");
    assert_eq!(rest("1. e4 e5 2. -- Nf6 ; lost 1-0\n", "-- Nf6 ; lost 1-0"), "1. e4 e5 2. -- Nf6 ; lost 1-0\n*");
    assert_eq!(rest("[White \"A\"]\n\nhi ; 0-1\n", "hi ; 0-1"), "[White \"A\"]\n\n{Not read: hi ; 0-1}\n*");
    assert!(rest("[White \"A\"]\n\nhi {a; b} 0-1\n", "hi {a; b} 0-1").ends_with("\n0-1"));
    assert_eq!(rest("[White \"A\"]\n\nhello 0-1\n", "hello 0-1"), "[White \"A\"]\n\n{Not read: hello 0-1} 0-1");
}

#[test]
fn a_sentence_with_words_behind_it_is_its_owners() {
    let begin = "(0.20 -> 3.10) Blunder, 0.24 points lost.";
    for (behind, is_ours) in [
        ("", true),
        (" c5 was best: c5 Nf3.", true),
        ("\nc5 was best: c5\nNf3.", true),
        (" Best move was c5.", true),
        (" I saw it too late.", false),
        (" c5 was best: c5 Nf3. I saw it too late.", false),
        (" c5 was best: c5 Nf3.\nI saw it too late", false),
        (" c5 was best: c5 Nf3. [%csl Gd4]", false),
    ] {
        assert_eq!(is_judgement(&format!("{begin}{behind}")), is_ours, "{behind}");
    }
    for comment in
        ["(0.30 \u{2192} Mate in 3) Checkmate is now unavoidable. Nf3 was best.", "(0.3 -> 0.1) 0.12 points lost."]
    {
        assert!(is_judgement(comment), "{comment}");
    }
}

#[test]
fn only_an_analysis_of_the_same_game_is_one() {
    let one = game("1. e4 e5 2. Nf3 1-0\n");
    for (text, is_one) in [
        ("1. e4 e5 2. Nf3 1-0\n", true),
        ("1. e4 {[%eval 0.3]} e5 $4 {[%eval 3]} {(0.30 -> 3.00) Blunder, 0.2 points lost.} 2. Nf3 1-0\n", true),
        ("1. e4 e5? 2. Nf3 1-0\n", false),
        ("1. e4 e5 2. Nf3 0-1\n", false),
        ("1. e4 {Not read: mine} e5 2. Nf3 1-0\n", false),
        ("1. e4 e5 2. Nf3 {(0.30 -> 3.00) Blunder, 0.2 points lost. Mine.} 1-0\n", false),
    ] {
        assert_eq!(is_annotation_of(&game(text), &one), is_one, "{text}");
    }
    let damaged = game("1. e4 e5 2. Nf3 Ke5 1-0\n");
    assert!(is_annotation_of(&game("1. e4 e5 2. Nf3 {Not read: Ke5 1-0} 1-0\n"), &damaged));
}
