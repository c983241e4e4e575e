//! Chess960 on the wire: positions that differ in the castling rook alone, and castling beside the king's own step.

use super::driver::{Uci, errors, game, words_after};
use std::collections::HashSet;

/// One search after the other, as in a game: what is kept of the first must not be taken for the second. Every move of
/// an answer is checked by its position.
#[test]
fn a_right_of_another_rook_makes_another_position() {
    for options in [&["--backend=random"][..], &[]] {
        let mut engine = Uci::ready_with(&[&["--chess960", "--multipv=50", "--threads=1"], options].concat());
        for (board, rights) in [
            ("2rkr3/2p1p3/8/8/8/8/8/RRK5 w", ["B", "A"]),
            ("rrk5/8/8/8/8/8/2P1P3/2RKR3 b", ["b", "a"]),
            ("k7/8/8/8/8/8/8/2K1R1RR w", ["G", "H"]),
            ("1rk1rr2/8/8/8/8/8/8/2K5 b", ["eb", "fb"]),
            ("r3k1rr/pppppppp/8/8/8/8/PPPPPPPP/RR2K1RR w", ["HAha", "GBga"]),
        ] {
            for right in [rights[0], rights[1], rights[0]] {
                let fen = format!("{board} {right} - 0 1");
                let answer = engine.search(&fen, "go nodes 300");
                assert!(errors(&answer.lines).is_empty(), "{fen}: {:?}", answer.lines);
                let firsts: HashSet<&str> =
                    answer.infos().map(|line| words_after(line, "pv").next().unwrap()).collect();
                assert_eq!(firsts.len(), game(&fen).current().legal_moves().len(), "{fen}");
            }
        }
        engine.quit();
    }
}

/// The GUI has not said that it plays Chess960. No two moves have the same spelling all the same.
#[test]
fn castling_is_told_from_the_kings_step() {
    let mut engine = Uci::ready_with(&["--backend=random", "--multipv=50", "--verbose-move-stats"]);
    for (fen, castling, step) in [
        ("4k3/8/8/8/8/8/8/5K1R w H - 0 1", "f1h1", "f1g1"),
        ("5k1r/8/8/8/8/8/8/4K3 b h - 0 1", "f8h8", "f8g8"),
        ("4k3/8/8/8/8/8/8/RK6 w A - 0 1", "b1a1", "b1c1"),
        ("4k3/8/8/8/8/8/8/R2K4 w A - 0 1", "d1a1", "d1c1"),
        ("1k6/pppppppp/8/8/8/8/PPPPPPPP/1R1K4 w B - 0 1", "d1b1", "d1c1"),
    ] {
        let answer = engine.search(fen, "go nodes 300");
        let last: Vec<&String> = answer.infos().collect();
        let count = game(fen).current().legal_moves().len();
        let firsts: HashSet<&str> =
            last[last.len() - count..].iter().map(|line| words_after(line, "pv").next().unwrap()).collect();
        assert_eq!(firsts.len(), count, "{fen}: {last:?}");
        let [castled, stepped] = [castling, step].map(|mv| {
            assert!(firsts.contains(mv), "{fen} {mv}: {firsts:?}");
            assert_eq!(engine.search(fen, &format!("go nodes 20 searchmoves {mv}")).best, mv);
            engine.send(&format!("position fen {fen} moves {mv}"));
            let after = engine.ask("fen", "info").remove(0);
            assert_eq!(after, format!("info string {}", game(&format!("{fen} moves {mv}")).fen()));
            after
        });
        assert_ne!(castled, stepped);
        engine.send(&format!("position fen {fen}"));
        let perft = engine.tell("go perft 1");
        assert!(perft.iter().any(|line| *line == format!("{castling}: 1")), "{perft:?}");
        assert!(perft.iter().any(|line| *line == format!("{step}: 1")), "{perft:?}");
    }
    engine.quit();
}
