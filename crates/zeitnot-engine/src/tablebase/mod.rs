//! Probes Syzygy endgame tables: the value of a position with perfect play, the fifty-move rule included (docs/lc0.md,
//! 3.4).
//!
//! The files are read as they are asked for, a few hundred bytes at a time: a probe may wait for the disk, so that
//! nobody should hold a lock meanwhile. [`Tablebase::wdl`] serves positions right after a capture or pawn move, inside
//! a search; [`Tablebase::rank_root`] the position to move in, with its history.

mod root;

pub use root::RootMoves;

use shakmaty::{Chess, Position as _};
use shakmaty_syzygy::{SyzygyError, Wdl};
use std::collections::HashSet;
use std::ffi::OsStr;
use std::fmt;
use std::fs::ReadDir;
use std::io::{self, ErrorKind};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use thiserror::Error;
use zeitnot_base::files::{OtherKind, to_path};
use zeitnot_chess::Position;

/// Why tables are not used; displays as one line.
#[derive(Debug, Error)]
pub enum TablebaseError {
    /// The folder cannot be read.
    #[error("cannot read the tables in \"{}\": {error}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The operating system's reason.
        error: std::io::Error,
    },
    /// A file with the name of a table is not a table. The others serve all the same.
    #[error("{} is no table: {error}", file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// A folder in which no file has the name of a table.
    #[error("no Syzygy tables (files such as KQvK.rtbw) in \"{}\"", .0.display())]
    Empty(PathBuf),
    /// A probe panicked. The tables give no answers any more.
    #[error("a table file is damaged so badly that reading it failed: no tables are used until they are named again")]
    Broken,
}

/// The tables of one or several folders.
pub struct Tablebase {
    tables: shakmaty_syzygy::Tablebase<Chess>,
    files: usize,
    broken: AtomicBool,
}

impl fmt::Debug for Tablebase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tablebase").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Tablebase {
    /// Finds the tables in `folders`: any number of folders, separated by `;` (outside Windows also by `:`). A folder
    /// without tables and a file that cannot be a table each give an error, and the others serve all the same. No table
    /// file is opened yet.
    pub fn open(folders: &str) -> (Tablebase, Vec<TablebaseError>) {
        let mut tables = shakmaty_syzygy::Tablebase::new();
        // A folder may be named by several ways, and a table lie in several folders.
        let (mut looked_at, mut names) = (HashSet::new(), HashSet::new());
        let mut errors = Vec::new();
        for folder in split(folders) {
            let entries = match entries(&folder) {
                Ok((real, _)) if !looked_at.insert(real.clone()) => continue,
                Ok((_, entries)) => entries,
                Err(error) => {
                    errors.push(TablebaseError::Folder { folder, error });
                    continue;
                }
            };
            let mut is_empty = true;
            for file in entries.flatten().map(|entry| entry.path()) {
                match tables.add_file(&file) {
                    Ok(()) => names.extend(file.file_name().map(OsStr::to_owned)),
                    // Its name is not that of a table.
                    Err(error) if error.kind() == ErrorKind::InvalidInput => continue,
                    Err(error) => errors.push(TablebaseError::File { file, error }),
                }
                is_empty = false;
            }
            if is_empty {
                errors.push(TablebaseError::Empty(folder));
            }
        }
        (Tablebase { tables, files: names.len(), broken: AtomicBool::new(false) }, errors)
    }

    /// Number of tables found; WDL and DTZ of the same pieces are two.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Pieces of the largest table, kings included; 0 without tables.
    pub fn max_pieces(&self) -> u32 {
        self.tables.max_pieces() as u32
    }

    /// Whether the tables can still be asked.
    ///
    /// # Errors
    /// [`TablebaseError::Broken`], once a probe has panicked.
    pub fn check(&self) -> Result<(), TablebaseError> {
        if self.broken.load(Ordering::Relaxed) { Err(TablebaseError::Broken) } else { Ok(()) }
    }

    /// The answer of `ask` from the tables; `None` when they have none or a probe has panicked. The library
    /// decompresses files unchecked and panics on some damaged ones; that must not cost the game, whichever the thread.
    pub(crate) fn probe<T>(
        &self,
        ask: impl FnOnce(&shakmaty_syzygy::Tablebase<Chess>) -> Result<T, SyzygyError>,
    ) -> Option<T> {
        self.check().ok()?;
        // What a panic leaves behind is not looked at again.
        match catch_unwind(AssertUnwindSafe(|| ask(&self.tables))) {
            Ok(found) => found.inspect_err(note).ok(),
            Err(_) => {
                self.broken.store(true, Ordering::Relaxed);
                None
            }
        }
    }

    /// Whether the tables may know the position: few pieces, no castling rights, two kings, and none to be taken.
    fn covers(&self, position: &Position) -> bool {
        position.piece_count() <= self.max_pieces()
            && position.chess().castles().is_empty()
            && position.board().kings().count() == 2
            && !position.is_illegal()
    }

    /// The result for the side to move of a position right after a capture or pawn move: 1 won, 0 drawn, -1 lost. A win
    /// or loss that the fifty-move rule makes a draw is drawn. `None` for any other position, or when no table has it.
    pub fn wdl(&self, position: &Position) -> Option<i8> {
        if position.rule50() != 0 || !self.covers(position) {
            return None;
        }
        let wdl = self.probe(|tables| tables.probe_wdl_after_zeroing(position.chess()))?;
        Some(match wdl {
            Wdl::Win => 1,
            Wdl::Loss => -1,
            Wdl::CursedWin | Wdl::Draw | Wdl::BlessedLoss => 0,
        })
    }
}

/// The real path of a folder, and its entries.
fn entries(folder: &Path) -> io::Result<(PathBuf, ReadDir)> {
    let kind = folder.metadata()?.file_type();
    if !kind.is_dir() {
        let kind = OtherKind::of(kind).map_or_else(|| "a file".to_owned(), |kind| kind.to_string());
        return Err(io::Error::new(ErrorKind::NotADirectory, format!("it is {kind}, not a folder")));
    }
    Ok((folder.canonicalize()?, folder.read_dir()?))
}

/// Logs an error unless it is only a missing table: then a file is damaged.
fn note(error: &SyzygyError) {
    if let SyzygyError::ProbeFailed { .. } = error {
        tracing::warn!(%error, "tablebase");
    }
}

fn split(folders: &str) -> Vec<PathBuf> {
    let separator = |c: char| c == ';' || c == ':' && !cfg!(windows);
    folders.split(separator).map(str::trim).filter(|folder| !folder.is_empty()).map(to_path).collect()
}

/// The tables that one search probes, with a count of the positions found.
#[derive(Debug, Default)]
pub(crate) struct Probes {
    tables: Option<Arc<Tablebase>>,
    hits: AtomicU64,
}

impl Probes {
    /// Probes of `tables` inside the search, with `hits` positions already found at its root.
    pub(crate) fn new(tables: Option<Arc<Tablebase>>, hits: u64) -> Probes {
        Probes { tables, hits: AtomicU64::new(hits) }
    }

    /// The result by [`Tablebase::wdl`], which counts as a hit; `None` also without tables.
    pub(crate) fn wdl(&self, position: &Position) -> Option<i8> {
        let wdl = self.tables.as_ref()?.wdl(position)?;
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(wdl)
    }

    /// Positions found so far.
    pub(crate) fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_separated_by_either_sign() {
        assert_eq!(split(" /a b ;/c;; "), [PathBuf::from("/a b"), PathBuf::from("/c")]);
        assert!(split("").is_empty());
        #[cfg(not(windows))]
        assert_eq!(split("/a:/b"), [PathBuf::from("/a"), PathBuf::from("/b")]);
        #[cfg(windows)]
        assert_eq!(split("C:\\a;D:\\b"), [PathBuf::from("C:\\a"), PathBuf::from("D:\\b")]);
    }

    #[test]
    fn a_bad_folder_is_named_and_the_others_serve() {
        let empty = tempfile::tempdir().unwrap();
        let (tables, errors) = Tablebase::open(&format!("/no/such/folder;{}", empty.path().display()));
        assert_eq!((tables.files(), tables.max_pieces(), errors.len()), (0, 0, 2));
        let lines: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert!(lines[0].starts_with("cannot read the tables in \"/no/such/folder\": "), "{}", lines[0]);
        assert!(lines[1].contains("no Syzygy tables") && !lines[1].contains('\n'), "{}", lines[1]);
        let game = zeitnot_chess::Game::from_fen("8/8/8/8/8/4k3/8/4K2Q w - - 0 1", false).unwrap();
        assert_eq!(tables.wdl(game.current()), None);
    }

    #[test]
    fn a_table_counts_once_however_often_its_folder_is_named() {
        let home = tempfile::tempdir().unwrap();
        let [folder, other] = ["tables", "other"].map(|name| home.path().join(name));
        for (folder, names) in [(&folder, ["KQvK.rtbw", "KQvK.rtbz"]), (&other, ["KQvK.rtbw", "KRvK.rtbw"])] {
            std::fs::create_dir(folder).unwrap();
            // As long as a table may be: 16 bytes over a multiple of 64.
            names.iter().for_each(|name| std::fs::write(folder.join(name), [0; 80]).unwrap());
        }
        let one = folder.display();
        let mut named = vec![format!("{one}"), format!("{one}/"), format!("{one}/."), format!("{one}/../tables")];
        #[cfg(unix)]
        {
            let link = home.path().join("link");
            std::os::unix::fs::symlink(&folder, &link).unwrap();
            named.push(link.display().to_string());
        }
        for again in &named {
            let (tables, errors) = Tablebase::open(&format!("{one};{again}"));
            assert_eq!((tables.files(), errors.len()), (2, 0), "{again}");
        }
        let (tables, errors) = Tablebase::open(&format!("{};{}", named.join(";"), other.display()));
        assert_eq!((tables.files(), errors.len()), (3, 0));
        // What is wrong with a folder is said once, too.
        std::fs::write(folder.join("KBvK.rtbw"), "no table").unwrap();
        assert_eq!(Tablebase::open(&named.join(";")).1.len(), 1);
    }

    #[test]
    fn what_is_no_folder_is_called_what_it_is() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (_, errors) = Tablebase::open(&file.path().display().to_string());
        assert!(errors[0].to_string().ends_with("\": it is a file, not a folder"), "{}", errors[0]);
        #[cfg(unix)]
        assert!(Tablebase::open("/dev/null").1[0].to_string().ends_with("it is a device, not a folder"));
    }

    #[test]
    fn a_probe_that_panics_is_the_last() {
        let (tables, _) = Tablebase::open("");
        assert_eq!((tables.probe(|_| Ok(7)), tables.check().is_ok()), (Some(7), true));
        assert_eq!(tables.probe::<i8>(|_| panic!("damaged")), None);
        assert_eq!(tables.probe(|_| Ok(7)), None);
        assert!(matches!(tables.check(), Err(TablebaseError::Broken)));
    }
}
