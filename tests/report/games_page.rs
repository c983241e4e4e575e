//! Opens the page of analysed games in Chromium.

use crate::browser::{NOTES, attribute, browser, open};
use serde_json::{Value, json};
use std::fs;
use zeitnot_charts::game_page;

/// Names that would be elements and attributes if they were not escaped.
const WHITE: &str = "</script><script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\">";
const BLACK: &str = "\"'{{data}}\u{2028}\u{202e}&amp;<!--<script>";

fn side(name: &str) -> Value {
    let phases = json!([{ "name": "opening", "ms": 1200, "share": 1.0, "usual_share": 0.5 }]);
    let clock = json!({
        "score": 71, "long_thoughts": { "count": 1, "ms": 9000 }, "instant": { "count": 0, "cost": 0 },
        "phases": phases, "trouble": { "moves": 1, "loss": 0.3, "cost": 0 },
    });
    json!({
        "name": name, "elo": null, "accuracy": 50, "average_loss_cp": null, "expected_loss": 0.3, "inaccuracies": 0,
        "mistakes": 0, "blunders": 1, "clock": clock,
    })
}

/// An analysis of a game of two moves, or as many times that game.
fn analysis(games: usize) -> String {
    let moves = json!([
        {
            "ply": 1, "number": 1, "color": "white", "san": "f3", "uci": "f2f3", "win": 20, "accuracy": 30,
            "fen": "rnbqkbnr/pppppppp/8/8/8/5P2/PPPPP1PP/RNBQKBNR b KQkq - 0 1", "eval": { "cp": -300 },
            "judgement": "blunder", "glyph": "??", "expected_loss": 0.3, "clock_ms": 58800, "used_ms": 1200,
            "best": { "san": "e4", "uci": "e2e4", "line": ["e4", "e5"], "eval": { "cp": 20 } },
            "time": { "usual_ms": 3000, "verdict": "needed_one", "cost": 0.3, "in_trouble": true, "words": "A sentence." },
        },
        {
            "ply": 2, "number": 1, "color": "black", "san": "e5", "uci": "e7e5", "win": null, "accuracy": null,
            "fen": "rnbqkbnr/pppp1ppp/8/4p3/8/5P2/PPPPP1PP/RNBQKBNR w KQkq - 0 2", "eval": null, "judgement": null,
            "glyph": null, "expected_loss": null, "best": null, "clock_ms": null, "used_ms": null, "time": null,
        },
    ]);
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let game = json!({
        "file": "x.pgn", "game": 1, "tags": { "Event": WHITE, "Result": "1-0" }, "start": { "fen": start, "win": 51 },
        "white": side(WHITE), "black": side(BLACK), "moves": moves,
        "moments": [{ "ply": 1, "kind": "needed_one", "words": WHITE }],
    });
    let player = json!({ "name": BLACK, "games": games, "accuracy": 50, "clock": null, "by_phase": [] });
    json!({
        "kind": "analysis", "version": "0", "network": null, "limit": "1 node a move", "games": vec![game; games],
        "players": [player],
    })
    .to_string()
}

#[test]
fn a_browser_shows_analysed_games() {
    let Some(browser) = browser() else {
        eprintln!("skipped: no chromium in the path, and none named by CHROMIUM");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let page = game_page(&analysis(2));
    fs::write(path.join("games.html"), &page).unwrap();
    let opened = open(&browser, path, "games.html", 1000);
    assert!(opened.console.is_empty(), "{:?}", opened.console);
    assert!(opened.page.contains("<title>Game analysis</title>") && !opened.page.contains("<img"), "{}", opened.page);
    // Two moves and the moment; 64 squares and 32 pieces.
    let counts = [" data-ply=", "<rect class=\"light\"", "<rect class=\"dark\"", "<g class=\"piece"]
        .map(|text| opened.page.matches(text).count());
    assert_eq!(counts, [3, 32, 32, 32], "{}", opened.page);

    // The policy would not let these notes run, which begin with a step to the first move.
    let step = "<script>document.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight' }))</script>";
    let free = page.replace("http-equiv=\"Content-Security-Policy\"", "name=\"none\"");
    fs::write(path.join("notes.html"), free.replace("</body>", &format!("{step}{NOTES}</body>"))).unwrap();
    let narrow = open(&browser, path, "notes.html", 400);
    assert!(narrow.console.is_empty(), "{:?}", narrow.console);
    assert_eq!(attribute(&narrow.page, "aria-valuenow"), Some("1"), "the key moved on");
    assert!(narrow.page.contains("A sentence.") && narrow.page.contains("class=\"arrow better\""), "{}", narrow.page);
    assert_eq!(attribute(&narrow.page, "data-resources"), Some("0"), "nothing was asked for");
    assert_eq!(attribute(&narrow.page, "data-wide"), Some("false"), "nothing is wider than the window");

    // The moment: the board before the move, with both moves.
    let moment = step.replace("ArrowRight", "n");
    fs::write(path.join("moment.html"), free.replace("</body>", &format!("{moment}{NOTES}</body>"))).unwrap();
    let moment = open(&browser, path, "moment.html", 400);
    assert!(moment.console.is_empty() && moment.page.contains("Board before 1. f3, White below"), "{}", moment.page);
    assert!(["arrow worse", "arrow better"].iter().all(|kind| moment.page.contains(kind)), "{}", moment.page);

    fs::write(path.join("none.html"), game_page(&analysis(0))).unwrap();
    let none = open(&browser, path, "none.html", 1000);
    assert!(none.page.contains("The analysis cannot be shown: it has no game."), "{}", none.page);
}
