use super::*;
use std::fs;
use zeitnot_engine::chess::to_uci;

/// The openings of files with these names and texts.
fn read(files: &[(&str, &[u8])], plies: Option<usize>) -> Result<Openings, String> {
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| folder.path().join(name)).collect();
    for (path, (_, text)) in paths.iter().zip(files) {
        fs::write(path, text).unwrap();
    }
    // The name of the folder is another one in each run.
    Openings::read(&paths, plies)
        .map_err(|error| error.to_string().replace(&format!("{}/", folder.path().display()), ""))
}

fn epd(text: &str) -> Result<Openings, String> {
    read(&[("book.epd", text.as_bytes())], None)
}

fn pgn(text: &str) -> Result<Openings, String> {
    read(&[("book.pgn", text.as_bytes())], None)
}

/// The moves of an opening.
fn moves(game: &Game) -> String {
    game.moves().iter().map(|mv| to_uci(*mv, game.is_chess960())).collect::<Vec<_>>().join(" ")
}

#[test]
fn without_files_there_is_the_start_position() {
    let openings = Openings::read(&[], None).unwrap();
    assert_eq!(openings.len(), 1);
    for game in [openings.at(0.5, 0.5), openings.get(0), openings.get(7)] {
        assert!(game.starts_from_standard() && game.moves().is_empty());
    }
}

#[test]
fn openings_read_epd_and_fen_lines() {
    // The forms of the books that engines are tested with: counters, none, spaces at the end, operations, a byte order
    // mark, line ends of Windows, and a name in Latin-1.
    let text = b"\xef\xbb\xbf8/8/4k3/8/8/4K3/4P3/8 w - - bm e4; id \"1 2\";\n\n\
        8/8/4k3/8/8/4K3/4P3/8 b - - 7 40\r\n\
        r1bq1rk1/ppp2ppp/5n2/2bp4/2NPP3/2P5/PP3PPP/RNBQK2R w KQ d6 0 9\n\
        rnbqkb1r/pp2pppp/3p1n2/8/3NP3/2N5/PPP2PPP/R1BQKB1R b KQkq -  \n\
        8/8/4k3/8/8/4K3/4P3/8 w - - id \"Kopen\xeb\"; hmvc 3;";
    let openings = read(&[("book.epd", text)], None).unwrap();
    assert_eq!(openings.len(), 5);
    let rule50: Vec<u32> = (0..5).map(|index| openings.get(index).current().rule50()).collect();
    assert_eq!(rule50, [0, 7, 0, 0, 3]);
    assert_eq!(openings.get(1).current().fullmoves().get(), 40);
    assert_eq!(openings.at(0.0, 0.0).fen(), openings.get(0).fen());
    assert_eq!(openings.at(0.99, 0.99).fen(), openings.get(4).fen());
}

#[test]
fn counters_of_an_epd_are_operations() {
    let position = "8/8/4k3/8/8/4K3/4P3/8 w - -";
    for (rest, counters) in [
        (" hmvc 4; fmvn 30;", (4, 30)),
        (" hmvc 4;fmvn 30", (4, 30)),
        (" 4 30; id \"a\";", (4, 30)),
        (" 4 30;D1 20;", (4, 30)),
        ("  fmvn 30 ;  hmvc  4 ;", (4, 30)),
        (" hmvc 4;", (4, 1)),
        (" fmvn 30;", (0, 30)),
        (" bm e4; hmvc 4; id \"a; fmvn 9; b\"; fmvn 30;", (4, 30)),
        (" c0 \"hmvc 9;\"; hmvc 4; c1 \"\"; fmvn 30;", (4, 30)),
        (" id \"hmvc 9\"; acd 4;", (0, 1)),
        (" 4 30", (4, 30)),
        (" 4 30 ;D1 5 ;D2 20", (4, 30)),
        (" 4 30 bm e4; id \"x\";", (4, 30)),
        (" 4", (4, 1)),
        (" 0 1 hmvc 4; fmvn 30;", (4, 30)),
        ("", (0, 1)),
        (" fmvn 0; hmvc 0;", (0, 1)),
    ] {
        let openings = epd(&format!("{position}{rest}\n")).unwrap();
        let game = openings.get(0);
        assert_eq!((game.current().rule50(), game.current().fullmoves().get()), counters, "{rest}");
        assert_eq!(openings.len(), 1);
    }
    for (operation, reason) in
        [("hmvc x;", "hmvc \"x\" is no number"), ("fmvn -1;", "fmvn \"-1\" is no number"), ("hmvc;", "hmvc \"\" is")]
    {
        let error = epd(&format!("{position} {operation}")).unwrap_err();
        assert!(error.starts_with(&format!("book.epd line 1: {reason}")), "{error}");
    }
    let over = epd(&format!("{position} hmvc 100;")).unwrap_err();
    assert!(over.contains("fifty-move rule"), "{over}");
}

#[test]
fn signs_of_annotators_cost_a_book_nothing() {
    let passant = "[FEN \"rnbqkbnr/pppp2pp/8/4ppP1/8/8/PPPPPP1P/RNBQKBNR w KQkq f6 0 1\"]\n\n";
    for (text, expected) in [
        (format!("{passant}1. gxf6 e.p. *"), "g5f6"),
        (format!("{passant}1. gxf6ep! Nxf6 ep *"), "g5f6 g8f6"),
        ("1. e4! \u{b1} e5 $14 += 2. Ng1-f3 N +- (2. Sf3) Nb8c6 \u{2a72} ch *".to_owned(), "e2e4 e7e5 g1f3 b8c6"),
        ("1.e4 e5 2.Nf3\n\n{A paragraph.}\n\n2...Nc6 D 1/2-1/2".to_owned(), "e2e4 e7e5 g1f3 b8c6"),
        ("[Variant \"wild/fr\"]\n; x\n[Event \"a \"b\"\"]\n\n1. e4 *".to_owned(), "e2e4"),
    ] {
        assert_eq!(moves(&pgn(&format!("{text}\n")).unwrap().get(0)), expected, "{text}");
    }
}

#[test]
fn damage_behind_the_moves_of_an_opening_costs_nothing() {
    let text = "[Event \"A\"]\n\n1. e4 e5 2. Ke3 *\n";
    for (plies, is_read) in [(None, false), (Some(3), false), (Some(2), true), (Some(1), true)] {
        assert_eq!(read(&[("book.pgn", text.as_bytes())], plies).is_ok(), is_read, "{plies:?}");
    }
}

#[test]
fn utf_16_is_called_what_it_is() {
    for text in ["[Event \"A\"]\n\n1. e4 *\n", "8/8/4k3/8/8/4K3/4P3/8 w - -\n"] {
        let bytes: Vec<u8> = format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect();
        for name in ["book.pgn", "book.epd"] {
            let error = read(&[(name, &bytes)], None).unwrap_err();
            assert_eq!(error, format!("cannot read {name}: it is UTF-16; save it as UTF-8"));
        }
    }
}

#[test]
fn castling_rights_tell_chess960() {
    let openings = epd("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1\n\
        bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf -\n\
        rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n")
    .unwrap();
    assert_eq!([0, 1, 2].map(|index| openings.get(index).is_chess960()), [true, true, false]);
    assert_eq!(openings.get(0).fen(), openings.get(1).fen());
}

#[test]
fn errors_of_lines_name_file_and_line() {
    let king = "8/8/4k3/8/8/4K3/4P3/8 w - -";
    for (line, reason) in [
        ("nonsense", "\"nonsense\": "),
        ("8/8/4k3/8/8/4K3/4P3/8 x - -", "turn"),
        ("R6k/5Q2/8/8/8/8/8/K7 b - - 0 1", "the game is over: checkmate in R6k/5Q2/"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - -", "the game is over: stalemate in"),
        ("7k/8/6K1/8/8/8/8/8 b - -", "the game is over: insufficient material in"),
        ("7k/8/6K1/8/8/8/8/R7 b - - 100 90", "the game is over: the fifty-move rule in"),
        ("8/8/1k6/8/8/8/1QK5/8 w - - 0 1", "the side to move could take the king in 8/8/1k6/"),
        ("PK\u{3}\u{4}\u{1b}[31m", "\"PK\\u0003\\u0004\\u001b[31m\": "),
    ] {
        let error = epd(&format!("{king}\n\n{line}\n{king}\n")).unwrap_err();
        assert!(error.starts_with("book.epd line 3: ") && error.contains(reason), "{error}");
        assert!(!error.contains(|c: char| c.is_control()), "{error:?}");
    }
    let error = epd(&"x".repeat(100_000)).unwrap_err();
    assert!(error.len() < 300, "{error}");
}

#[test]
fn files_without_positions_are_refused() {
    assert_eq!(epd("\n \n").unwrap_err(), "book.epd holds no positions");
    assert_eq!(pgn("\n").unwrap_err(), "book.pgn holds no positions");
    let error = Openings::read(&["/nowhere/book.epd".into()], None).unwrap_err().to_string();
    assert_eq!(error, "there is no file /nowhere/book.epd, and \"builtin\" is the only book inside the program");
}

#[test]
fn the_book_inside_the_program_is_known_in_any_case() {
    let named = |name: &str| Openings::read(&[name.into()], Some(4)).unwrap();
    for name in ["builtin", "Builtin", "BUILTIN"] {
        assert!(Openings::is_built_in(Path::new(name)));
        assert_eq!(named(name).len(), 1000);
    }
    assert_eq!(named("builtin").get(7).fen(), Openings::built_in(Some(4)).get(7).fen());
    assert!(!Openings::is_built_in(Path::new("./builtin")));
}

#[test]
fn positions_that_an_engine_drew_are_read_from_its_output() {
    let drawn = "info string genfens 8/8/4k3/8/8/4K3/4P3/8 w - - 3 40";
    let text = format!("Engine 1.0 by A\n{drawn}\ninfo string hello\r\n{drawn}\nbestmove (none)\n");
    let openings = epd(&text).unwrap();
    assert_eq!((openings.len(), openings.get(1).current().rule50()), (2, 3));
    let error = epd(&format!("{drawn}\n\ninfo string genfens x\n{drawn}\n")).unwrap_err();
    assert!(error.starts_with("book.epd line 3: "), "{error}");
    // Without such a line a line of output is no position.
    let error = epd("Engine 1.0 by A\n8/8/4k3/8/8/4K3/4P3/8 w - -\n").unwrap_err();
    assert!(error.starts_with("book.epd line 1: "), "{error}");
}

#[test]
fn openings_read_the_main_lines_of_games() {
    let text = "[Event \"A\"]\n[White \"\\\"x\\\" ]\"]\n\n1. e4 {a comment (with 1. d4) and\n\na paragraph} e5 2.Nf3!? $14 (2. f4 exf4 \
        (2... d5) 3. Nf3) Nc6\n; a line of Nonsense\n% and another\n3. Bb5 +- 1/2-1/2\n\n\
        [FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 3 17\"]\n[SetUp \"1\"]\n\n17... Ke7 18. e4 *\n\n\
        [Event \"no moves\"]\n\n*\n";
    let all = pgn(text).unwrap();
    assert_eq!(all.len(), 3);
    assert_eq!([0, 1, 2].map(|index| moves(&all.get(index))), ["e2e4 e7e5 g1f3 b8c6 f1b5", "e8e7 e2e4", ""]);
    assert_eq!(all.get(1).fen(), "8/4k3/8/8/4P3/8/8/4K3 b - - 0 18");
    let two = read(&[("book.PGN", text.as_bytes())], Some(2)).unwrap();
    assert_eq!([0, 1].map(|index| moves(&two.get(index))), ["e2e4 e7e5", "e8e7 e2e4"]);
    // A file by another name is known by its first tag.
    let named = read(&[("book.txt", text.as_bytes())], Some(0)).unwrap();
    assert_eq!((named.len(), moves(&named.get(0)).as_str()), (3, ""));
}

#[test]
fn the_moves_of_an_opening_count_as_repetitions() {
    let openings = pgn("1. Nf3 Nf6 2. Ng1 Ng8 *").unwrap();
    assert_eq!(openings.get(0).current().repetitions(), 1);
}

#[test]
fn games_of_chess960_castle_with_their_rooks() {
    let text = "[Variant \"Chess 960\"]\n[FEN \"1r2k2r/8/8/8/8/8/8/1R2K2R w BHbh - 0 1\"]\n\n1. O-O-O 0-0 *";
    let game = pgn(text).unwrap().get(0);
    assert_eq!(moves(&game), "e1b1 e8h8");
    assert_eq!(game.fen(), "1r3rk1/8/8/8/8/8/8/2KR3R w - - 2 2");
}

#[test]
fn errors_of_games_name_file_and_game() {
    let good = "[Event \"A\"]\n\n1. e4 e5 *\n\n";
    let fen = |fen: &str| format!("[FEN \"{fen}\"]\n\n*");
    for (game, reason) in [
        ("1. e4 e5 2. Ke3 *".to_owned(), "illegal move Ke3"),
        ("1. e4 e5 2. Nf9 Nc6 *".to_owned(), "illegal move Nf9"),
        ("1. e4 e5 2. Nf3xyz *".to_owned(), "illegal move Nf3xyz"),
        ("1. e4 nonsense *".to_owned(), "illegal move nonsense"),
        ("1. e4 -- 2. d4 *".to_owned(), "null move --"),
        ("1. e4 e5 2. Bxf7 *".to_owned(), "illegal move Bxf7"),
        ("1. d4 Nf6 2. Nf3 Na6 3. Nd2 *".to_owned(), "ambiguous move Nd2"),
        ("1. e4 e5 *\n1. d4 d5 *".to_owned(), "a move after the result, d4"),
        ("1. f3 e5 2. g4 Qh4# 0-1".to_owned(), "the game is over after 4 plies: checkmate in"),
        (
            "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 *".to_owned(),
            "the game is over after 8 plies: threefold repetition in",
        ),
        (fen("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), "the game is over: stalemate"),
        (fen("8/8/1k6/8/8/8/1QK5/8 w - - 0 1"), "the side to move could take the king"),
        (fen("nonsense"), "\"nonsense\": "),
        ("[Variant \"Atomic\"]\n\n1. e4 *".to_owned(), "it is of another variant, \"Atomic\""),
        // Where a file can be cut off.
        ("[FEN \"4k3/8/8/8/8/8/4P".to_owned(), "it ends within its tags"),
        ("[Event \"A\"]\n".to_owned(), "no result ends it (is the file cut off?)"),
        ("1. e4 e5 2. Nf".to_owned(), "illegal move Nf"),
        ("1. e4 e5 2. Nf3".to_owned(), "no result ends it"),
        ("1. e4 e5 {a comm".to_owned(), "a comment without an end after 2 plies"),
        ("1. e4 e5 (1... c5 2. N".to_owned(), "a variation without an end after 2 plies"),
    ] {
        let error = pgn(&format!("{good}{good}{game}")).unwrap_err();
        assert!(error.starts_with(&format!("book.pgn game 3: {reason}")), "{game}: {error}");
        assert!(!error.contains(|c: char| c.is_control()), "{error:?}");
    }
}

#[test]
fn any_beginning_of_a_file_is_read_or_refused() {
    let text = "[Event \"A\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 b - - 3 17\"]\n\n17... Ke7 {x} (17... Kd7 $1) 18. e4 *\n";
    for length in 0..text.len() {
        let read = pgn(&text[..length]);
        assert_eq!(read.is_ok(), text[..length].contains('*'), "{:?}: {read:?}", &text[..length]);
    }
}

#[test]
fn openings_come_in_order_and_begin_again() {
    let lines: Vec<String> = (1..=9).map(|number| format!("8/8/4k3/8/8/4K3/4P3/8 w - - 0 {number}")).collect();
    let files = [("a.epd", lines[..4].join("\n")), ("b.epd", lines[4..].join("\n"))];
    let files = files.each_ref().map(|(name, text)| (*name, text.as_bytes()));
    let numbers = |openings: &Openings, places: std::ops::Range<usize>| -> Vec<u32> {
        places.map(|place| openings.get(place).current().fullmoves().get()).collect()
    };
    let openings = read(&files, None).unwrap();
    assert_eq!(openings.len(), 9);
    assert_eq!(numbers(&openings, 0..11), [1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2]);
    let openings = openings.in_order(OpeningOrder::Shuffled { seed: 1 });
    let shuffled = numbers(&openings, 0..9);
    // On every machine.
    assert_eq!(shuffled, [3, 5, 4, 1, 7, 9, 2, 8, 6]);
    assert_eq!(numbers(&openings, 9..18), shuffled);
    let mut sorted = shuffled.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let openings = openings.in_order(OpeningOrder::Shuffled { seed: 2 });
    assert_ne!(numbers(&openings, 0..9), shuffled);
    assert_eq!(numbers(&openings.in_order(OpeningOrder::Sequential), 0..3), [1, 2, 3]);
}
