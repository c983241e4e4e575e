//! Opens the opening book and the endgame tables that the options name, and asks them for moves.

use super::Options;
use super::book::{Book, Choice};
use crate::tablebase::{Probes, RootMoves, Tablebase};
use std::path::Path;
use std::sync::Arc;
use zeitnot_base::announcer::Announcer;
use zeitnot_base::files::to_path;
use zeitnot_chess::{Game, Move};

/// Path of endgame tables that polyglot and xboard send where the user has named none; it may well not exist.
const UNASKED_TABLES: &str = "/EGT/Syzygy";

/// Open tables and book, and the option values that they were opened for: these are `None` before the first time, and
/// when [`BooksAndTables::open`] is to try the same values again.
#[derive(Debug, Default)]
pub(super) struct BooksAndTables {
    tables: Option<Arc<Tablebase>>,
    tables_named: Option<String>,
    /// Whether a folder or file of the tables gave an error, or a probe has panicked.
    tables_failed: bool,
    book: Option<Book>,
    book_named: Option<String>,
}

impl BooksAndTables {
    /// Opens the files that the options name, unless they are open already. A file that cannot be opened is announced
    /// in a line, once, and the engine plays without it. Returns whether the tables have changed.
    pub(crate) fn open(&mut self, options: &Options, announcer: &Announcer) -> bool {
        let book_wanted = if options.own_book { options.book_file.as_str() } else { "" };
        if self.book_named.as_deref() != Some(book_wanted) {
            self.book_named = Some(book_wanted.to_owned());
            self.book = None;
            if !book_wanted.is_empty() {
                match Book::open(&to_path(book_wanted)) {
                    Ok(book) => {
                        announcer.say(&format!("book with {} entries: {book_wanted}", book.entries()));
                        self.book = Some(book);
                    }
                    Err(error) => announcer.complain(format_args!("option BookFile: {error}")),
                }
            }
        }
        if self.tables_named.as_ref() == Some(&options.syzygy_path) {
            return false;
        }
        self.tables_named = Some(options.syzygy_path.clone());
        let (tables, errors) = Tablebase::open(&options.syzygy_path);
        self.tables_failed = !errors.is_empty();
        let is_unasked = options.syzygy_path == UNASKED_TABLES && !Path::new(UNASKED_TABLES).exists();
        for error in errors.into_iter().filter(|_| !is_unasked) {
            announcer.complain(format_args!("option SyzygyPath: {error}"));
        }
        if tables.files() > 0 {
            announcer.say(&format!("{} endgame tables of up to {} pieces", tables.files(), tables.max_pieces()));
        }
        self.tables = (tables.files() > 0).then(|| Arc::new(tables));
        true
    }

    /// Notes that the option `name` was set, perhaps to the same value. If its files could not be opened,
    /// [`BooksAndTables::open`] tries again.
    pub(crate) fn option_set(&mut self, name: &str) {
        if name.eq_ignore_ascii_case("BookFile") && self.book.is_none() {
            self.book_named = None;
        }
        if name.eq_ignore_ascii_case("SyzygyPath") && self.tables_failed {
            self.tables_named = None;
        }
    }

    /// A book move for the end of `game`. `None` without a book, after `BookDepth`, for a position that the book does
    /// not know, and for one that has occurred before: a book can lead in circles.
    pub(crate) fn book_move(
        &self,
        game: &Game,
        among: &[Move],
        options: &Options,
        seed: Option<u64>,
        announcer: &Announcer,
    ) -> Option<Choice> {
        let position = game.current();
        let in_time = u64::from(position.ply() / 2) < options.book_depth && position.repetitions() == 0;
        let book = self.book.as_ref().filter(|_| options.own_book && in_time)?;
        match book.choose(game, options.best_book_move, among, seed) {
            Ok(choice) => choice,
            Err(error) => {
                announcer.complain(format_args!("option BookFile: {error}"));
                None
            }
        }
    }

    /// The root moves that a search of `game` keeps to (`asked`, when the user named some; empty: all), and the tables
    /// to probe inside the search: none where the root moves are ranked by distance, since then any of them will do.
    /// Tables of which a probe has panicked, here or in the search before, are given up, and that is announced.
    pub(crate) fn root(
        &mut self,
        game: &Game,
        asked: &[Move],
        options: &Options,
        announcer: &Announcer,
    ) -> (Vec<Move>, Probes) {
        let ranked = self.tables.as_ref().filter(|_| asked.is_empty());
        let ranked = ranked.and_then(|tables| tables.rank_root(game, options.syzygy_fast_play));
        if let Some(Err(error)) = self.tables.as_ref().map(|tables| tables.check()) {
            announcer.complain(format_args!("option SyzygyPath: {error}"));
            (self.tables, self.tables_failed) = (None, true);
        }
        match ranked {
            Some(RootMoves { moves, by_dtz, probes }) => {
                (moves, Probes::new(self.tables.clone().filter(|_| !by_dtz), probes))
            }
            None => (asked.to_vec(), Probes::new(self.tables.clone(), 0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;

    /// The lines said to an announcer.
    fn listening() -> (Announcer, Arc<Mutex<Vec<String>>>) {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        (Announcer::new(move |line| kept.lock().push(line.to_owned())), lines)
    }

    #[test]
    fn broken_tables_are_given_up_in_one_line_until_they_are_named_again() {
        let (announcer, lines) = listening();
        let folder = tempfile::tempdir().unwrap();
        // As long as a table may be: 16 bytes over a multiple of 64.
        std::fs::write(folder.path().join("KQvK.rtbw"), [0; 80]).unwrap();
        let mut options = Options::default();
        options.set("SyzygyPath", folder.path().to_str().unwrap()).unwrap();
        let mut opened = BooksAndTables::default();
        assert!(opened.open(&options, &announcer));
        assert!(lines.lock().pop().is_some_and(|line| line.contains("1 endgame tables")));
        let _ = opened.tables.as_ref().unwrap().probe::<i8>(|_| panic!("damaged"));
        let game = Game::from_fen("8/8/8/8/8/4k3/8/4K2Q w - - 0 1", false).unwrap();
        for _ in 0..2 {
            let (moves, probes) = opened.root(&game, &[], &options, &announcer);
            assert!(moves.is_empty() && probes.hits() == 0);
            assert!(!opened.open(&options, &announcer));
        }
        let said = std::mem::take(&mut *lines.lock());
        assert!(
            said.len() == 1 && said[0].starts_with("ERROR: option SyzygyPath: a table file is damaged"),
            "{said:?}"
        );
        opened.option_set("syzygypath");
        assert!(opened.open(&options, &announcer) && opened.tables.is_some());
    }

    #[test]
    fn what_serves_is_not_opened_again() {
        let (announcer, lines) = listening();
        let mut book = tempfile::NamedTempFile::new().unwrap();
        std::io::Write::write_all(&mut book, &[0; 16]).unwrap();
        let mut options = Options::default();
        options.set("OwnBook", "true").unwrap();
        options.set("BookFile", book.path().to_str().unwrap()).unwrap();
        let mut opened = BooksAndTables::default();
        opened.open(&options, &announcer);
        opened.option_set("BookFile");
        opened.option_set("SyzygyPath");
        assert!(!opened.open(&options, &announcer));
        assert_eq!(lines.lock().len(), 1, "{lines:?}");
    }
}
