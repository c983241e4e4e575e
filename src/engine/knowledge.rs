//! What the engine knows without thinking: endgame tables and an opening book, as the options name them.

use super::Options;
use super::book::{Book, Choice};
use crate::backend::Announcer;
use crate::chess::{Game, Move};
use crate::tablebase::{Probes, RootMoves, Tablebase};
use std::path::Path;
use std::sync::Arc;

/// Tables and book, and which options they were opened for.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    tables: Option<Arc<Tablebase>>,
    tables_named: String,
    book: Option<Book>,
    book_named: String,
}

impl Knowledge {
    /// Opens what the options name, unless it was opened for the same names already. What cannot be opened is said in a
    /// line each, once, and the engine does without. Returns whether the tables are others than before.
    pub fn open(&mut self, options: &Options, announcer: &Announcer) -> bool {
        let book_wanted = if options.own_book { options.book_file.as_str() } else { "" };
        if self.book_named != book_wanted {
            book_wanted.clone_into(&mut self.book_named);
            self.book = None;
            if !book_wanted.is_empty() {
                match Book::open(Path::new(book_wanted)) {
                    Ok(book) => {
                        announcer.say(&format!("book with {} entries: {book_wanted}", book.entries()));
                        self.book = Some(book);
                    }
                    Err(error) => announcer.say(&format!("error option BookFile: {error}")),
                }
            }
        }
        if self.tables_named == options.syzygy_path {
            return false;
        }
        options.syzygy_path.clone_into(&mut self.tables_named);
        let (tables, errors) = Tablebase::open(&options.syzygy_path);
        for error in errors {
            announcer.say(&format!("error option SyzygyPath: {error}"));
        }
        if tables.files() > 0 {
            announcer.say(&format!("{} endgame tables of up to {} pieces", tables.files(), tables.max_pieces()));
        }
        self.tables = (tables.files() > 0).then(|| Arc::new(tables));
        true
    }

    /// A book move for the end of `game`. No book, or a position that it does not know, gives none; so does one that has
    /// come up before: a book can lead in circles.
    pub fn book_move(&self, game: &Game, among: &[Move], options: &Options, announcer: &Announcer) -> Option<Choice> {
        let position = game.current();
        let in_time = u64::from(position.ply() / 2) < options.book_depth && position.repetitions() == 0;
        let book = self.book.as_ref().filter(|_| options.own_book && in_time)?;
        match book.choose(game, options.best_book_move, among) {
            Ok(choice) => choice,
            Err(error) => {
                announcer.say(&format!("error option BookFile: {error}"));
                None
            }
        }
    }

    /// What the tables have for a search at the end of `game`: the root moves to keep to (`asked`, when the user named
    /// some; empty: all), and the tables themselves unless the root's distances say everything.
    pub fn root(&self, game: &Game, asked: &[Move], options: &Options) -> (Vec<Move>, Probes) {
        let ranked = self.tables.as_ref().filter(|_| asked.is_empty());
        match ranked.and_then(|tables| tables.rank_root(game, options.syzygy_fast_play)) {
            Some(RootMoves { moves, by_dtz, probes }) => {
                (moves, Probes::new(self.tables.clone().filter(|_| !by_dtz), probes))
            }
            None => (asked.to_vec(), Probes::new(self.tables.clone(), 0)),
        }
    }
}
