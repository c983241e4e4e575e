//! Checks the reading of books and the choice of moves.

use super::*;
use std::io::Write as _;
use zeitnot_chess::to_uci;

fn game(fen: Option<&str>, moves: &str) -> Game {
    let mut game = fen.map_or_else(Game::new, |fen| Game::from_fen(fen, false).unwrap());
    for mv in moves.split_whitespace() {
        game.push_uci(mv).unwrap();
    }
    game
}

/// The test positions of the format's description.
#[test]
fn keys_are_polyglots() {
    for (moves, key) in [
        ("", 0x463b_9618_1691_fc9c),
        ("e2e4", 0x823c_9b50_fd11_4196),
        ("e2e4 d7d5", 0x0756_b944_61c5_0fb0),
        ("e2e4 d7d5 e4e5", 0x662f_afb9_65db_29d4),
        ("e2e4 d7d5 e4e5 f7f5", 0x22a4_8b5a_8e47_ff78),
        ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a_607c_a3f2_42c1),
        ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fd_d303_c946_bdd9),
        ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c81_23ea_7b06_7637),
        ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f_9b82_9b27_9560),
    ] {
        assert_eq!(polyglot_key(game(None, moves).current()), key, "{moves}");
    }
}

/// Target, origin and promotion as the format packs them.
fn packed(uci: &str) -> u16 {
    let bytes = uci.as_bytes();
    let digit = |at: usize, first: u8| u16::from(bytes[at] - first);
    let promotion = bytes.get(4).map_or(0, |role| b" nbrq".iter().position(|known| known == role).unwrap() as u16);
    digit(2, b'a') | digit(3, b'1') << 3 | digit(0, b'a') << 6 | digit(1, b'1') << 9 | promotion << 12
}

fn book(entries: &[(&Game, &str, u16)]) -> (tempfile::NamedTempFile, Book) {
    let mut rows: Vec<(u64, u16, u16)> =
        entries.iter().map(|(game, mv, weight)| (polyglot_key(game.current()), packed(mv), *weight)).collect();
    rows.sort_by_key(|row| row.0);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for (key, mv, weight) in rows {
        let learn = [0xff; 4];
        file.write_all(&[&key.to_be_bytes()[..], &mv.to_be_bytes(), &weight.to_be_bytes(), &learn].concat()).unwrap();
    }
    let book = Book::open(file.path()).unwrap();
    (file, book)
}

fn moves(book: &Book, game: &Game) -> Vec<(String, u32)> {
    book.moves(game.current()).unwrap().iter().map(|known| (to_uci(known.mv, false), known.weight)).collect()
}

#[test]
fn legal_moves_with_a_weight_are_known_the_best_first() {
    let (start, king_pawn) = (game(None, ""), game(None, "e2e4"));
    let entries =
        [(&start, "e2e4", 3), (&start, "d2d4", 5), (&start, "e2e5", 9), (&start, "c2c4", 0), (&king_pawn, "c7c5", 1)];
    let (_file, book) = book(&entries);
    assert_eq!(book.entries(), 5);
    assert_eq!(moves(&book, &start), [("d2d4".to_owned(), 5), ("e2e4".to_owned(), 3)]);
    assert_eq!(moves(&book, &king_pawn), [("c7c5".to_owned(), 1)]);
    assert_eq!(moves(&book, &game(None, "a2a3")), []);
}

/// More entries of one position than any has moves, whose weights together pass a `u32`.
#[test]
fn a_flood_of_entries_of_one_position_is_cut_off() {
    let start = game(None, "");
    let (_file, book) = book(&vec![(&start, "e2e4", u16::MAX); 70_000]);
    assert_eq!(moves(&book, &start), [("e2e4".to_owned(), MOST_ENTRIES as u32 * u32::from(u16::MAX))]);
    assert_eq!(
        book.choose(&start, false, &[], Some(7)).unwrap().map(|choice| to_uci(choice.mv, false)).unwrap(),
        "e2e4"
    );
}

#[test]
fn castling_promotion_and_en_passant() {
    let castling = game(Some("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"), "");
    let promotion = game(Some("8/P6k/8/8/8/8/8/K7 w - - 0 1"), "");
    let en_passant = game(None, "e2e4 a7a6 e4e5 d7d5");
    let entries = [
        (&castling, "e1h1", 2),
        (&castling, "e1a1", 1),
        (&promotion, "a7a8q", 3),
        (&promotion, "a7a8n", 1),
        (&en_passant, "e5d6", 1),
    ];
    let (_file, book) = book(&entries);
    assert_eq!(moves(&book, &castling), [("e1g1".to_owned(), 2), ("e1c1".to_owned(), 1)]);
    assert_eq!(moves(&book, &promotion), [("a7a8q".to_owned(), 3), ("a7a8n".to_owned(), 1)]);
    assert_eq!(moves(&book, &en_passant), [("e5d6".to_owned(), 1)]);
}

#[test]
fn a_move_is_drawn_by_its_weight_or_the_best_is_played() {
    let (start, queen_pawn) = (game(None, ""), game(None, "d2d4"));
    let entries = [(&start, "e2e4", 1), (&start, "d2d4", 3), (&queen_pawn, "d7d5", 1), (&queen_pawn, "g8f6", 2)];
    let (_file, book) = book(&entries);
    let chosen = |random, among: &[Move]| {
        let choice = book.choose_by(&start, among, random).unwrap();
        choice.map(|choice| {
            (to_uci(choice.mv, false), choice.reply.map(|mv| to_uci(mv, false)), choice.weight, choice.total)
        })
    };
    let king_pawn = Some(("e2e4".to_owned(), None, 1, 4));
    let with_reply = Some(("d2d4".to_owned(), Some("g8f6".to_owned()), 3, 4));
    assert_eq!(chosen(None, &[]), with_reply);
    for random in 0..8 {
        assert_eq!(chosen(Some(random), &[]), if random % 4 < 3 { with_reply.clone() } else { king_pawn.clone() });
    }
    let e4 = parse_uci(start.current().chess(), "e2e4").unwrap();
    assert_eq!(chosen(None, &[e4]), Some(("e2e4".to_owned(), None, 1, 1)));
    assert_eq!(book.choose(&game(None, "a2a3"), false, &[], None).unwrap(), None);
}

#[test]
fn what_is_no_book_is_named() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    assert!(matches!(Book::open(file.path()), Err(BookError::Length { length: 0, .. })));
    file.write_all(&[0; 17]).unwrap();
    let error = Book::open(file.path()).unwrap_err().to_string();
    assert!(error.contains("no Polyglot book") && error.contains("17 bytes") && !error.contains('\n'), "{error}");
    let error = Book::open(Path::new("/no/such/book.bin")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read the book \"/no/such/book.bin\": "), "{error}");
    assert!(Book::open(file.path().parent().unwrap()).is_err(), "a folder");
}
