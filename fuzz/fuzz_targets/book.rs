//! Looks up positions in a book of Polyglot's format.
#![no_main]

use libfuzzer_sys::fuzz_target;
use zeitnot_engine::chess::Game;
use zeitnot_engine::engine::Book;

fuzz_target!(|data: &[u8]| {
    zeitnot_fuzz::count(data);
    zeitnot_fuzz::with_file(".bin", data, |path| {
        let Ok(book) = Book::open(path) else { return };
        let castling = "r3k2r/1P6/8/8/8/8/8/R3K2R w KQkq - 0 1";
        for mut game in [Game::new(), Game::from_fen(castling, false).expect("a FEN")] {
            for best in [true, false] {
                let Ok(Some(choice)) = book.choose(&game, best, &[], Some(data.len() as u64)) else { continue };
                assert!(choice.weight > 0 && choice.weight <= choice.total, "{choice:?}");
                game.push(choice.mv);
            }
        }
    });
});
