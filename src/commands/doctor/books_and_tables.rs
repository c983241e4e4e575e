//! Checks the endgame tables and the opening book.

use super::Check;
use zeitnot_base::files::to_path;
use zeitnot_engine::engine::{Book, Options};
use zeitnot_engine::tablebase::Tablebase;

/// Checks the book and the tables that the options name; `look` gets a result for each. Without files there is none.
pub fn checks(options: &Options, look: &mut impl FnMut(Check)) {
    if !options.syzygy_path.is_empty() {
        let name = "endgame tables";
        let (tables, errors) = Tablebase::open(&options.syzygy_path);
        for error in errors {
            look(Check::warning(name, error.to_string(), "name folders with .rtbw and .rtbz files in SyzygyPath"));
        }
        if tables.files() > 0 {
            look(Check::ok(name, format!("{} files of up to {} pieces", tables.files(), tables.max_pieces())));
        }
    }
    let name = "book";
    if options.book_file.is_empty() {
        if options.own_book {
            look(Check::warning(name, "OwnBook is set, and BookFile names none", "name a book in Polyglot's format"));
        }
        return;
    }
    look(match Book::open(&to_path(&options.book_file)) {
        Ok(book) if options.own_book => Check::ok(name, format!("{} entries", book.entries())),
        Ok(_) => Check::warning(name, "BookFile names one, and OwnBook is not set", "set OwnBook to play from it"),
        Err(error) => Check::warning(name, error.to_string(), "name a book in Polyglot's format"),
    });
}
