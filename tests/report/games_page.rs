//! Opens the page of analysed games in Chromium.

use crate::browser::{NOTES, attribute, browser, open};
use serde_json::{Value, json};
use std::fs;
use zeitnot_analysis::analysis::{Analysis, analysed, facts_in_comments, page_data};
use zeitnot_charts::game_page;
use zeitnot_games::read_games;

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
#[cfg_attr(not(browser), ignore = "needs chromium in the path, or named by CHROMIUM")]
fn a_browser_shows_analysed_games() {
    let browser = browser();
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

/// The analysis of games with evaluations in their comments.
fn of_games(text: &str) -> Analysis {
    let games = read_games(text.as_bytes()).unwrap();
    let games: Vec<_> = games.iter().map(|game| analysed("g.pgn", game, &facts_in_comments(game))).collect();
    Analysis::new("0", None, "", games)
}

#[test]
#[cfg_attr(not(browser), ignore = "needs chromium in the path, or named by CHROMIUM")]
fn positions_filters_and_notes_come_from_the_short_form() {
    let game =
        |white: &str, tags: &str, moves: &str| format!("[White \"{white}\"]\n[Black \"B\"]\n{tags}\n\n{moves}\n\n");
    let special = "1. e4 {[%eval 0.3] my words} e6 {[%eval 0.2]} (1... c5 {sharp}) 2. e5 d5 3. exd6 Nf6 4. dxc7 Bd6 5. Nf3 O-O 6. cxd8=N Rxd8 \
        7. Bd3 Nc6 8. O-O a5 9. b4 axb4 10. a3 bxa3 1-0";
    let freestyle = "[Variant \"Chess960\"]\n[FEN \"bnrqkrnb/pppppppp/8/8/8/8/PPPPPPPP/BNRQKRNB w KQkq - 0 1\"]";
    let text = [
        game(
            "A",
            "[Date \"2024.05.06\"]\n[TimeControl \"180+2\"]\n[Result \"1-0\"]\n[Site \"https://lichess.org/abcdefgh\"]",
            special,
        ),
        game("C", "[Date \"2023.01.02\"]\n[TimeControl \"600\"]\n[Result \"0-1\"]", "1. d4 d5 2. c4 0-1"),
        game("A", freestyle, "1. g3 g6 2. Nf3 Nf6 3. O-O O-O *"),
    ]
    .concat();
    let analysis = of_games(&text);
    let short = page_data(&analysis).to_string();
    assert!(short.len() < serde_json::to_string(&analysis).unwrap().len() / 2, "{}", short.len());
    let browser = browser();
    let folder = tempfile::tempdir().unwrap();
    let notes = "<script>
        document.body.dataset.fens = data.games.map((one) => unpacked(one).moves.map(({ fen }) => fen).join()).join(';');
        document.body.dataset.pgn = JSON.stringify(pgnOf(game));
        const found = (id, value) => {
          $(id).value = value;
          refilter();
          const count = document.querySelectorAll('[data-game]').length;
          $(id).value = '';
          return count;
        };
        document.body.dataset.found = [found('player', 'a'), found('search', 'queen'), found('speed', 'blitz'), found('from', '2024-01-01'),
          found('result', '0'), found('player', 'nobody')].join();
        refilter();
        show(1);
        </script>";
    let page = game_page(&short).replace("http-equiv=\"Content-Security-Policy\"", "name=\"none\"");
    fs::write(folder.path().join("short.html"), page.replace("</body>", &format!("{notes}{NOTES}</body>"))).unwrap();
    let opened = open(&browser, folder.path(), "short.html", 400);
    assert!(opened.console.is_empty(), "{:?}", opened.console);
    let whole = serde_json::to_value(&analysis).unwrap();
    let list = |value: &Value| value.as_array().unwrap().clone();
    let fens = |game: &Value| list(&game["moves"]).iter().map(|mv| mv["fen"].as_str().unwrap().to_owned()).collect();
    let known = list(&whole["games"])
        .iter()
        .map(|game| {
            let fens: Vec<String> = fens(game);
            fens.join(",")
        })
        .collect::<Vec<_>>()
        .into_iter();
    assert_eq!(attribute(&opened.page, "data-fens"), Some(known.collect::<Vec<_>>().join(";").as_str()));
    assert_eq!(attribute(&opened.page, "data-found"), Some("2,1,1,1,1,0"));
    assert_eq!(attribute(&opened.page, "data-wide"), Some("false"), "nothing is wider than the window");
    for text in [">my words<", "href=\"https://lichess.org/abcdefgh\""] {
        assert!(opened.page.contains(text), "{text}");
    }
    let pgn = attribute(&opened.page, "data-pgn").unwrap().replace("&quot;", "\"").replace("&amp;", "&");
    let pgn: String = serde_json::from_str(&pgn).unwrap();
    let copied = &read_games(pgn.as_bytes()).unwrap()[0];
    assert_eq!(
        (copied.game.moves().len(), &copied.problem, copied.tag("Site")),
        (20, &None, "https://lichess.org/abcdefgh")
    );
    assert_eq!((copied.comments_of(0).join(" ").as_str(), copied.variations[2].len()), ("[%eval 0.30] my words", 1));
}
