//! Endgame tables and books through the protocol. Tests that need tables read those of ../shared.

use super::driver::{Uci, errors};
use std::io::Write as _;
use std::path::PathBuf;

/// The moves e2e4 (weight 1) and d2d4 (weight 3) under the start position's key, and d7d5 under that of the position
/// after the latter.
const BOOK: [(u64, u16, u16); 3] = [
    (0x463b_9618_1691_fc9c, 4 | 3 << 3 | 4 << 6 | 1 << 9, 1),
    (0x463b_9618_1691_fc9c, 3 | 3 << 3 | 3 << 6 | 1 << 9, 3),
    (0x830e_b9b2_0758_d1de, 3 | 4 << 3 | 3 << 6 | 6 << 9, 1),
];

fn book() -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for (key, mv, weight) in BOOK {
        let entry = [&key.to_be_bytes()[..], &mv.to_be_bytes(), &weight.to_be_bytes(), &[0; 4]].concat();
        file.write_all(&entry).unwrap();
    }
    file
}

fn with_tables(options: &[&str]) -> Uci {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let folder = std::env::var_os("ZEITNOT_SHARED").map_or(beside, PathBuf::from).join("data/syzygy");
    let path = format!("--syzygy-paths={}", folder.display());
    Uci::ready_with(&[&["--backend=uniform", &path], options].concat())
}

// docs/documents.md, 4.6.
#[test]
fn a_book_move_is_answered_at_once() {
    let file = book();
    let mut engine = Uci::uniform();
    engine.send(&format!("setoption name BookFile value {}", file.path().display()));
    assert!(engine.reply().is_empty(), "it is not asked for yet");
    engine.send("setoption name OwnBook value true\nsetoption name BestBookMove value true");
    assert!(engine.reply()[0].contains("book with 3 entries"));
    let answer = engine.search("startpos", "go wtime 1000 btime 1000");
    assert_eq!((answer.best.as_str(), answer.ponder.as_deref()), ("d2d4", Some("d7d5")));
    assert!(answer.lines.iter().all(|line| !line.starts_with("info string time ")), "{:?}", answer.lines);
    assert!(answer.lines.iter().any(|line| line.contains("book move, weight 3 of 4")), "{:?}", answer.lines);
    let answer = engine.search("startpos", "go nodes 10 searchmoves e2e4 a2a3");
    assert_eq!((answer.best.as_str(), answer.ponder), ("e2e4", None), "the book has no reply to it");
    // What the book does not know is searched, and so is what the user analyses.
    let answer = engine.search("startpos moves a2a3", "go nodes 10");
    assert!(answer.infos().count() > 0, "{:?}", answer.lines);
    for go in ["go infinite", "go ponder"] {
        engine.send(&format!("position startpos\n{go}\nisready"));
        let lines = engine.until("readyok");
        assert!(lines.iter().all(|line| !line.starts_with("bestmove")), "{lines:?}");
        engine.send("stop");
        engine.until("bestmove");
    }
    engine.send("position startpos\ngo ponder wtime 1000 btime 1000\nponderhit");
    assert!(engine.until("bestmove").last().unwrap().starts_with("bestmove d2d4"));
    engine.send("setoption name BookDepth value 1");
    assert_eq!(engine.search("startpos", "go nodes 10").best, "d2d4");
    let drawn = |engine: &mut Uci| engine.search("startpos", "go nodes 10").best;
    engine.send("setoption name BestBookMove value false");
    let drawn: Vec<String> = (0..60).map(|_| drawn(&mut engine)).collect();
    let played = |mv: &str| drawn.iter().filter(|best| *best == mv).count();
    assert!(
        played("d2d4") > played("e2e4") && played("e2e4") > 0 && played("d2d4") + played("e2e4") == 60,
        "{drawn:?}"
    );
}

#[test]
fn what_cannot_be_opened_is_said_once() {
    let mut engine = Uci::uniform();
    engine.send("setoption name OwnBook value true\nsetoption name BookFile value /no/such/book.bin");
    engine.send("setoption name SyzygyPath value /no/such/tables");
    let lines = engine.reply();
    assert_eq!(errors(&lines).len(), 2, "{lines:?}");
    assert!(
        lines.iter().any(|line| line.contains("option BookFile") && line.contains("/no/such/book.bin")),
        "{lines:?}"
    );
    assert!(
        lines.iter().any(|line| line.contains("option SyzygyPath") && line.contains("/no/such/tables")),
        "{lines:?}"
    );
    assert!(engine.reply().is_empty());
    engine.plays();
    // Nor at another option; but whoever sets the path again wants it to be tried again.
    assert!(engine.tell("setoption name MultiPV value 1").is_empty());
    for (option, path) in [("BookFile", "/no/such/book.bin"), ("SyzygyPath", "/no/such/tables")] {
        engine.complains(&format!("setoption name {option} value {path}"), &[option, path]);
    }
    engine.send("setoption name SyzygyPath value <empty>");
    assert!(engine.reply().is_empty());
    engine.plays();
}

#[test]
fn a_book_that_comes_later_is_found_when_it_is_named_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("late.bin");
    let name = format!("setoption name BookFile value {}", path.display());
    let mut engine = Uci::uniform();
    engine.send("setoption name OwnBook value true\nsetoption name BestBookMove value true");
    engine.complains(&name, &["BookFile", "late.bin"]);
    std::fs::copy(book().path(), &path).unwrap();
    assert!(engine.tell(&name)[0].contains("book with 3 entries"));
    assert_eq!(engine.search("startpos", "go nodes 10").best, "d2d4");
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_won_endgame_keeps_to_the_moves_that_win() {
    let mut engine = with_tables(&["--multipv=50"]);
    // The pawn wins with one move only: the king must keep its opposite off (Ke6 and Kg6 do, the rest draws).
    let answer = engine.search("5k2/8/5K2/5P2/8/8/8/8 w - - 0 1", "go nodes 200");
    let firsts: std::collections::BTreeSet<&str> =
        answer.infos().filter_map(|line| line.split(" pv ").nth(1)?.split(' ').next()).collect();
    assert_eq!(firsts, ["f6e6", "f6g6"].into(), "{:?}", answer.lines);
    assert!(answer.number("tbhits") > 0);
    // Asked for, the others are searched all the same.
    let answer = engine.search("5k2/8/5K2/5P2/8/8/8/8 w - - 0 1", "go nodes 50 searchmoves f6e5");
    assert_eq!(answer.best, "f6e5");
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn a_capture_into_the_tables_is_proven() {
    let mut engine = with_tables(&[]);
    // Five pieces: taking the rook leaves a won ending of four.
    let answer = engine.search("7k/8/8/3r4/8/3R4/4PK2/8 w - - 0 1", "go nodes 500");
    assert_eq!(answer.best, "d3d5");
    let last = answer.infos().last().unwrap();
    assert!(
        last.contains(" score mate 1") && answer.number("mate") > 100,
        "a win by tables is further off than a mate: {last}"
    );
    assert!(answer.number("tbhits") > 0);
}
