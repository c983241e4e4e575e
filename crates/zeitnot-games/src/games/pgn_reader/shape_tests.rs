//! Tests the reader on games that are written otherwise than PGN's standard says, as public files are.

use super::*;
use zeitnot_engine::chess::to_uci;

/// The tags, the moves, the result and the problem of each game, in one line.
fn told(text: &[u8]) -> Vec<String> {
    let told = |game: PgnGame| {
        let moves: Vec<String> = game.game.moves().iter().map(|mv| to_uci(*mv, false)).collect();
        let tags: Vec<String> = game.tags.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let problem = game.problem.map_or(String::new(), |problem| format!(" ({problem})"));
        format!("{}: {} {}{problem}", tags.join(", "), moves.join(" "), game.result.unwrap_or("none"))
    };
    read_games(text).unwrap().into_iter().map(told).collect()
}

/// The moves and the problem of a game from the start position, or from a FEN.
fn line(fen: &str, moves: &str) -> String {
    let tag = if fen.is_empty() { String::new() } else { format!("[FEN \"{fen}\"]\n\n") };
    let text = format!("{tag}{moves} *\n");
    let games = told(text.as_bytes());
    assert_eq!(games.len(), 1, "{games:?}");
    games[0].split_once(": ").unwrap().1.replace(" *", "")
}

/// Text between two games belongs to the right one.
#[test]
fn games_are_cut_where_they_end() {
    // A remark between two games is of neither.
    let text = "[White \"A\"]\n\n1. e4 1-0\n\n{Black forfeits on time}\n\n[White \"X\"]\n\n1. d4 *\n";
    let games = read_games(text.as_bytes()).unwrap();
    let remarks = |game: &PgnGame| game.comments.concat().join(" ");
    assert_eq!(games.iter().map(remarks).collect::<Vec<_>>(), ["", ""]);
    assert_eq!(told(text.as_bytes()), ["White=A: e2e4 1-0", "White=X: d2d4 *"]);
    // A blank line within moves with numbers ends no game.
    for text in ["1. e4 e5\n\nNf3 Nc6 *\n", "1. e4 e5 2. Nf3\n\nNc6 *\n"] {
        assert_eq!(told(text.as_bytes()), [": e2e4 e7e5 g1f3 b8c6 *"], "{text}");
    }
    assert_eq!(told(b"e4 e5\n\nd4 d5 *\n"), [": e2e4 e7e5 none", ": d2d4 d7d5 *"]);
    // A tag without a blank behind its name.
    let text = "[White\"a\"]\n\n1. e4 1-0\n[White\"b\"]\n\n1. d4 *\n";
    assert_eq!(told(text.as_bytes()), ["White=a: e2e4 1-0", "White=b: d2d4 *"]);
    // More tags than are kept make no game of their own.
    let tags: String = (0..1_100).map(|number| format!("[Tag{number} \"x\"]\n")).collect();
    assert_eq!(read_games(format!("{tags}\n1. e4 *\n").as_bytes()).unwrap().len(), 1);
}

#[test]
fn each_clock_belongs_to_its_own_move() {
    let fen = "[FEN \"8/4P1k1/8/8/8/8/6K1/8 w - - 0 1\"]\n\n";
    let moves = "1. Kg3 {[%clk 0:00:59]} Kf7 {[%clk 0:00:58]} 2. e8Q {[%clk 0:00:40]} 1-0\n";
    let game = &read_games(format!("{fen}{moves}").as_bytes()).unwrap()[0];
    assert_eq!((game.game.moves().len(), &game.problem, game.result), (3, &None, Some("1-0")));
    assert_eq!(
        (game.comments_of(1), game.comments_of(2)),
        (&["[%clk 0:00:58]".to_owned()][..], &["[%clk 0:00:40]".to_owned()][..])
    );
    // Nor behind a move by numbers.
    let moves = "1. Kg3 {[%clk 0:00:59]} 7776 {[%clk 0:00:58]} 2. 5758 {[%clk 0:00:40]} 1-0\n";
    let game = &read_games(format!("{fen}{moves}").as_bytes()).unwrap()[0];
    assert_eq!(game.problem.as_deref(), Some("illegal move 7776 after 1 plies"));
    assert_eq!(game.comments_of(0), ["[%clk 0:00:59]".to_owned()]);
    // Behind a word that is no move no comment counts.
    let moves = "1. Kg3 {[%clk 0:00:59]} Tf7 {[%clk 0:00:58]} 2. e8Q {[%clk 0:00:40]} 1-0\n";
    let game = &read_games(format!("{fen}{moves}").as_bytes()).unwrap()[0];
    assert_eq!(game.problem.as_deref(), Some("illegal move Tf7 after 1 plies (a piece in another language's letters)"));
    assert_eq!((game.comments_of(0), game.game.moves().len()), (&["[%clk 0:00:59]".to_owned()][..], 1));
}

#[test]
fn every_word_of_the_main_line_is_a_move_or_about_one() {
    for moves in [
        "1. e4 e5 2. Nf3",
        "1.e4 e5 2.Nf3",
        "1.e4 1...e5 2.Nf3",
        "1 e4 1... e5 2 Nf3",
        "e4 e5 Nf3",
        "1. e2-e4 e7-e5 2. Ng1-f3",
        "1. e2e4 e7e5 2. g1f3",
        "1. Pe4 Pe7-e5 2. N1f3",
        "1. e4! e5?! 2. Nf3!?",
        "1. e4 $1 e5 $14 $2 2. Nf3$3",
        "1. e4\u{b1} e5 += 2. Nf3 \u{2a72}",
        "1. e4 = e5 +- 2. Nf3 -/+",
        "1. e4 N e5 D 2. Nf3 TN",
        "1. e4+ e5++ 2. Nf3#",
        "1. e4, e5. 2. Nf3;",
        "1.e4!e5?2.Nf3",
        "1.\u{2026}e4 1\u{2026}e5 2. \u{2026} Nf3",
        "1e4 1...e5 2Nf3",
        "1) e4 e5 2) Nf3",
        "1.\u{a0}e4\u{a0}e5 2.\u{2009}\u{200b}Nf3",
        "1. e4 (1. d4 -- 2. x (2. y) Zz9) e5 (nonsense {)} [ ) 2. Nf3 (2. f4",
        "1. e4 ; d5 x {\n e5 {Nf6\n\n\nx} 2. Nf3",
        "1. e4\n% d5 nonsense {\ne5\n%\n2. Nf3",
        "1. e4 e5\n\n2. Nf3",
        "1. e4 (1. d4\n\nSome words.\n\n1... d5\n\n) e5\n\n2. Nf3",
        "1. e4\n\n1... e5\n\n2 Nf3",
        "... e4 e5 2. Nf3",
        "1.\ne4\ne5\n2.\nNf3",
        "1. e4 e5\n\n{A paragraph.}\n\n2. Nf3",
    ] {
        let read = line("", moves);
        assert!(read.starts_with("e2e4 e7e5 g1f3"), "{moves}: {read}");
        assert_eq!(read.contains('('), moves.ends_with("f4"), "{moves}: {read}");
    }
    for (fen, moves, read) in [
        ("rnbqkbnr/pppp2pp/8/4ppP1/8/8/PPPPPP1P/RNBQKBNR w KQkq f6 0 1", "1. gxf6ep", "g5f6"),
        ("rnbqkbnr/pppp2pp/8/4ppP1/8/8/PPPPPP1P/RNBQKBNR w KQkq f6 0 1", "1. gxf6 e.p.! Nxf6", "g5f6 g8f6"),
        ("rnbqkbnr/pppp2pp/8/4ppP1/8/8/PPPPPP1P/RNBQKBNR w KQkq f6 0 1", "1. gf6 ep Nf6", "g5f6 g8f6"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "1. 0-0-0 0-0+!?", "e1c1 e8g8"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "1. 00 {O-O} 000", "e1g1 e8c8"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "1. O\u{2013}O O\u{2013}O\u{2013}O", "e1g1 e8c8"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "1. e1g1 e8c8", "e1g1 e8c8"),
        ("8/4P1k1/8/8/8/8/6K1/8 w - - 0 1", "1. e8(Q) Kf6", "e7e8q g7f6"),
        ("8/4P1k1/8/8/8/8/6K1/8 w - - 0 1", "1. e8=Q+!? (1. e8(N)) Kf6", "e7e8q g7f6"),
        ("8/4P1k1/8/8/8/8/6K1/8 w - - 0 1", "1. e7-e8r Kf6", "e7e8r g7f6"),
        ("8/4P1k1/8/8/8/8/6K1/8 b - - 0 7", "7\u{2026}Kf7 8.e8N", "g7f7 e7e8n"),
        ("8/4P1k1/8/8/8/8/6K1/8 b - - 0 7", "7. ... Kf7 8.e8N", "g7f7 e7e8n"),
        ("8/4P1k1/8/8/8/8/6K1/8 b - - 0 7", "1...Kf7 2.e8N", "g7f7 e7e8n"),
    ] {
        assert_eq!(line(fen, moves), read, "{moves}");
    }
}

#[test]
fn other_words_end_their_game_by_name() {
    let letters = " (a piece in another language's letters)";
    for (moves, problem) in [
        ("1. e4 e5 2. Sf3", "illegal move Sf3"),
        ("1. e4 e5 2. \u{2658}f3", "illegal move \u{2658}f3"),
        ("1. e4 e5 2. Nf3xyz", "illegal move Nf3xyz"),
        ("1. e4 e5 2. nonsense", "illegal move nonsense"),
        ("1. e4 e5 2. Nf6", "illegal move Nf6"),
        ("1. e4 e5 [%clk 0:01:00] 2. Nc3", "illegal move [%clk"),
        ("1. e4 e5 2. P@e4", "illegal move P@e4"),
        ("1. e4 e5 2. --", "null move --"),
        ("1. e4 e5 2. Z0 Nf6", "null move Z0"),
        ("1. e4 e5 2.0000 Nf6", "null move 0000"),
        ("1. e4 e5 2. @@@@", "null move @@@@"),
        ("1. e4 e5 2. \u{2013}\u{2013} Nf6", "null move --"),
        ("1. e4 e5 1-0 2. Nc3", "a move after the result, Nc3"),
    ] {
        assert_eq!(
            line("", moves).replace("none", ""),
            format!("e2e4 e7e5 ({problem} after 2 plies{})", if moves.ends_with("f3") { letters } else { "" }),
            "{moves}"
        );
    }
    assert_eq!(
        line("", "1. Sf3 Sf6 2. c4"),
        " (illegal move Sf3 after 0 plies (a piece in another language's letters))"
    );
    assert_eq!(line("", "Sf3 Sf6\n2. c4 e6"), " (no move but \"Sf3 Sf6\" after 0 plies)");
    assert_eq!(told(b"[White \"A\"]\n\nSf3 Sf6 *\n"), ["White=A:  none (no moves but \"Sf3 Sf6 *\")"]);
}

#[test]
fn lines_that_are_no_tags_cost_no_tags() {
    let fen = "8/4P1k1/8/8/8/8/6K1/8 w - - 0 1";
    for (line, tag) in [
        ("[TimeControl \"15'/game & 10\"/move\"]", ", TimeControl=15'/game & 10\"/move"),
        ("[Event \"The \"Open\" of \"X\"\"]", ", Event=The \"Open\" of \"X\""),
        ("[Event \"The \\\"Open\\\" \\\\\"]", ", Event=The \"Open\" \\"),
        ("[Site \"C:\\games\\\"]", ", Site=C:\\games\\"),
        ("  [ Event   \"x\"  ]  ", ", Event=x"),
        ("[Event \"x\"] [Site \"y\"]", ", Event=x, Site=y"),
        ("[Event \"x\"] ; said \"y\"]", ", Event=x"),
        ("[Event \"x\"] {said \"y\"]}", ", Event=x"),
        ("[Event \"x\"", ", Event=x"),
        ("[Event \"x", ", Event=x"),
        ("[Event x]", ", Event=x"),
        ("[Event \"a\nline\"]", ", Event=a"),
        ("[Event-Date \"2024\"]", ", Event-Date=2024"),
        ("; a line of comment [Event \"x\"]", ""),
        ("% an escape [Event \"x\"]", ""),
        ("{a comment}", ""),
        ("{a comment\nof two lines}", ""),
        ("Some words that are no tag.", ""),
        ("[", ""),
        ("[]", ""),
        ("[\"x\"]", ""),
        ("[%evp 0,1]", ""),
        ("\u{feff}", ""),
        ("\u{feff}[Event \"x\"]", ", Event=x"),
        ("", ""),
    ] {
        let text = format!("[White \"A\"]\n{line}\n[FEN \"{fen}\"]\n\n1. Kf3 Kf7 1-0\n");
        for (text, end) in
            [(text.clone(), "\n"), (text.replace('\n', "\r\n"), "\r\n"), (text.replace('\n', "\r"), "\r")]
        {
            if end == "\r" && line.starts_with('\u{feff}') {
                continue;
            }
            let expected = format!("White=A{tag}, FEN={fen}: g2f3 g7f7 1-0");
            assert_eq!(told(text.as_bytes()), std::slice::from_ref(&expected), "{line}");
            assert_eq!(told(format!("{text}{end}{text}").as_bytes()), [expected.clone(), expected], "{line}");
        }
    }
}

#[test]
fn an_escaped_value_comes_back() {
    for value in [
        "",
        "a \"b\"",
        "\"",
        "a\"] b",
        "a\"]; b",
        "a\"] {b}",
        "a\"] [Black \"b",
        "a\\",
        "\\\"",
        "a]",
        "[a \"b\"]",
        "a\"]",
    ] {
        let escaped = value.replace('\\', "\\\\").replace('"', "\\\"");
        let read = &read_games(format!("[White \"{escaped}\"]\n\n1. e4 *\n").as_bytes()).unwrap();
        assert_eq!((read.len(), read[0].tag("White"), read[0].tags.len()), (1, value, 1));
    }
}

#[test]
fn games_are_told_apart_by_their_tags() {
    // Without moves and result, with one blank line or none, and with a blank line among the tags.
    let game = |name: &str| format!("[Event \"x\"]\n[White \"{name}\"]\n");
    for between in ["\n", "\n\n\n", "", "\nThe game was not played.\n\n", "{not played}\n\n", "; x\n"] {
        let text = game("A") + between + &game("B") + "\n1. e4 1-0\n";
        let told = told(text.as_bytes());
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(told[0].starts_with("Event=x, White=A:  none"), "{told:?}");
        assert_eq!(
            (told[0].contains("no moves"), &told[1][..]),
            (between.contains("The"), "Event=x, White=B: e2e4 1-0")
        );
    }
    assert_eq!(told(b"[Event \"x\"]\n\n[White \"A\"]\n\n1. e4 *\n"), ["Event=x, White=A: e2e4 *"]);
    assert_eq!(told(b"[White \"A\"]\n\n[Event \"x\"]\n\n1. e4 *\n"), ["White=A:  none", "Event=x: e2e4 *"]);
    assert_eq!(told(b"[White \"A\"]\n\n1.\n\n[Black \"x\"]\n\n1. e4 *\n"), ["White=A:  none", "Black=x: e2e4 *"]);
    // Files that were joined, with their marks and without the end of the first one's last line.
    for mark in ["", "\n", "\u{feff}", "\n\u{feff}", "\r\n\u{feff}", " \n\n\u{feff}\n"] {
        let text = format!("\u{feff}{0}\n1. e4 1-0{mark}{0}\n1. d4 0-1{mark}", game("A"));
        assert_eq!(told(text.as_bytes()), ["Event=x, White=A: e2e4 1-0", "Event=x, White=A: d2d4 0-1"], "{mark:?}");
    }
    // Without tags, and without blank lines; a text around them is no game.
    assert_eq!(
        told(b"Some games.\n\n1. e4 e5\n\n1. d4 *\n\n1. c4\n\nThe end.\n"),
        [": e2e4 e7e5 none", ": d2d4 *", ": c2c4 none"]
    );
    assert_eq!(told(b"1 e4 e5\n\n1 d4 d5\n"), [": e2e4 e7e5 none", ": d2d4 d7d5 none"]);
    assert_eq!(told(b"e4 e5\n\nd4 d5\n"), [": e2e4 e7e5 none", ": d2d4 d7d5 none"]);
    assert_eq!(told(b"[White \"A\"]\n\ne4 e5\n\nd4 d5\n"), ["White=A: e2e4 e7e5 d2d4 d7d5 none"]);
    assert_eq!(told(b"[White \"A\"]\n1. e4 1-0\n[White \"B\"]\n1. d4 *"), ["White=A: e2e4 1-0", "White=B: d2d4 *"]);
    assert!(told(b"Nothing of a game.\n\n{x}\n").is_empty());
}

#[test]
fn tags_are_found_in_any_letter_case() {
    let game = &read_games(&b"[fen \"8/4P1k1/8/8/8/8/6K1/8 w - - 0 1\"]\n[WHITE \"A\"]\n\n1. Kf3 *\n"[..]).unwrap()[0];
    assert_eq!((game.tag("White"), game.game.moves().len()), ("A", 1));
    let game = &read_games(&b"[Fen \"x\"]\n[FEN \"8/4P1k1/8/8/8/8/6K1/8 w - - 0 1\"]\n\n1. Kf3 *\n"[..]).unwrap()[0];
    assert_eq!((&game.tag("FEN")[..4], &game.problem), ("8/4P", &None));
}

#[test]
fn games_of_other_variants_are_named() {
    for variant in [
        "Chess 960",
        "fischerandom",
        "FRC",
        "960",
        "wild/fr",
        "Double Fischerandom",
        "Fischer Random Chess",
        "Chess960 (FRC)",
        "DFRC",
        "wild/5",
        "Classical",
        "From Position",
        "",
    ] {
        let text = format!("[Variant \"{variant}\"]\n\n1. e4 *\n");
        assert_eq!(told(text.as_bytes()), [format!("Variant={variant}: e2e4 *")]);
    }
    for variant in [
        "Atomic",
        "Crazyhouse",
        "Atomic960",
        "Crazyhouse 960",
        "Antichess",
        "wild/11",
        "Three-check",
        "Racing Kings",
        "wild/23",
        "King of the Hill",
    ] {
        let text = format!("[Variant \"{variant}\"]\n\n1. e4 *\n");
        let problem = format!("it is of another variant, \"{variant}\"");
        assert_eq!(told(text.as_bytes()), [format!("Variant={variant}:  * ({problem})")]);
    }
}

#[test]
fn whatever_stands_before_it_a_game_is_whole() {
    let parts = "[Event \"x\"]\n|[White \"a \"b\"\"]\r\n|[FEN \"8/4P1k1/8/8/8/8/6K1/8 w - - 0 1\"]\n|1. e4 {[%clk 0:01:00]} e5 |\
        2. Nf3 (2. f4 {x}) Nc6 $1 |1. e8(Q) |1-0|*|{|}|(|)|[|]|\"|;|%|\u{feff}|--| text |\u{e9}|\0|1.|\n|\r";
    let parts: Vec<&str> = parts.split('|').collect();
    let mut random = zeitnot_engine::splitmix::SplitMix64(44);
    for round in 0..3_000 {
        let before: String = (0..random.below(40)).map(|_| parts[random.below(parts.len())]).collect();
        let text =
            "; no UTF-16\n".to_owned() + &before + "\n\n[Event \"last\"]\n[White \"z\"]\n\n1. e4 e5 2. Nf3 1-0\n";
        let last = told(text.as_bytes()).pop();
        assert_eq!(last.as_deref(), Some("Event=last, White=z: e2e4 e7e5 g1f3 1-0"), "{round}: {text:?}");
    }
}

#[test]
fn points_may_stand_apart_and_an_empty_position_is_none() {
    for text in ["1 .d4 d5 2 .c4 *", "1 . d4 d5 2 . c4 *", "1  . d4 1 ... d5 2 . c4 *", "1 \u{2026} d4 d5 c4 *"] {
        let game = &read_games(format!("[White \"A\"]\n\n{text}\n").as_bytes()).unwrap()[0];
        assert_eq!((game.game.moves().len(), &game.problem), (3, &None), "{text}");
    }
    for fen in ["", "?", "-"] {
        let game = &read_games(format!("[FEN \"{fen}\"]\n\n1. e4 *\n").as_bytes()).unwrap()[0];
        assert_eq!((game.game.moves().len(), &game.problem), (1, &None), "{fen}");
    }
}

#[test]
fn a_tag_that_stands_twice_makes_no_game() {
    for tags in ["[Event \"x\"]\n[Event \"y\"]", "[Event \"x\"]\n[Site \"z\"]\n[Event \"y\"]\n[White \"A\"]"] {
        assert_eq!(read_games(format!("{tags}\n\n1. e4 *\n").as_bytes()).unwrap().len(), 1, "{tags}");
    }
}

#[test]
fn what_is_left_out_has_its_place_and_its_kind() {
    let text = "[White \"A\"]\n\n1. e4 e5 2. -- Nf6 1-0\n\n[White \"B\"]\n\n1. e4 e5 2. Sf3 Sc6 *\n\n\
        [Variant \"Atomic\"]\n\n1. e4 *\n\n[White \"C\"]\n\n1. e4 Ke4 2. d4 *\n\n[White \"D\"]\n\n1. e4 e5 (1... c5 {x\n";
    let games = read_games(text.as_bytes()).unwrap();
    let told: Vec<(&str, bool)> = games
        .iter()
        .map(|game| (text[game.rest.start as usize..game.rest.end as usize].trim(), game.is_foreign))
        .collect();
    let known =
        [("-- Nf6 1-0", true), ("Sf3 Sc6 *", true), ("1. e4 *", true), ("Ke4 2. d4 *", false), ("(1... c5 {x", false)];
    assert_eq!(told, known);
    for (text, rest, is_foreign) in [
        ("[White \"A\"]\n\n   Sf3 Sf6 c4 *\n\n[White \"B\"]\n\n1. e4 *\n", "Sf3 Sf6 c4 *", true),
        ("[White \"A\"]\n\nhello world 1-0\n", "hello world 1-0", false),
        ("[White \"A\"]\n\nSf3 Sf6\n2. c4 e6 1-0\n", "Sf3 Sf6\n2. c4 e6 1-0", true),
        ("[White \"A\"]\n\nwhat follows\nis lost\n3. c4 e6 1-0\n", "what follows\nis lost\n3. c4 e6 1-0", false),
    ] {
        let game = &read_games(text.as_bytes()).unwrap()[0];
        let found = text[game.rest.start as usize..game.rest.end as usize].trim();
        assert_eq!((found, game.is_foreign), (rest, is_foreign), "{text}: {:?}", game.problem);
    }
    for word in ["Sf3", "Cf3", "Dxd5+", "Sbd7", "e8=D", "\u{2658}f3", "\u{41a}\u{440}f3", "Lb5"] {
        let game = &read_games(format!("1. {word} *\n").as_bytes()).unwrap()[0];
        let problem = game.problem.as_deref().unwrap_or_default();
        assert!(problem.ends_with("after 0 plies (a piece in another language's letters)"), "{word}: {problem}");
    }
}
