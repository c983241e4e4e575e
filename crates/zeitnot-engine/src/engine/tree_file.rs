//! Saves the forest of an analysis in a file, and takes it up again (`savetree`, `loadtree`, `TreeFile`).
//!
//! A file is compressed (gzip, whose checksum finds damage). It has a line of JSON on what the forest belongs to, and
//! then the forest (`search/tree/saved.rs`). A kill while it is written leaves the file before or the new one.

use super::options::{Options, SPECS};
use super::{Engine, GoParams};
use crate::announcer::ERROR;
use crate::chess::{Game, to_uci};
use crate::search::{Saved, SavedTop, Search, Tree, tree_share};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use thiserror::Error;
use zeitnot_text::files::{named_path, open_regular, write_whole};

/// Version of the form of files; a file of another one is refused.
const FORMAT: u32 = 2;

/// The options that decide what a tree holds. Others only say how a search goes on in it.
const DECISIVE: [&str; 15] = [
    "PolicyTemperature",
    "HistoryFill",
    "TwoFoldDraws",
    "StickyEndgames",
    "ContemptMode",
    "Contempt",
    "ContemptMaxValue",
    "WDLCalibrationElo",
    "WDLContemptAttenuation",
    "WDLMaxS",
    "WDLDrawRateTarget",
    "WDLDrawRateReference",
    "WDLBookExitBias",
    "SelfElo",
    "OppoElo",
];

/// Interval at which a search saves its tree in `TreeFile`.
const SAVED_EVERY: Duration = Duration::from_secs(180);
/// Interval at which that is looked at, and whether the search is over.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The facts about a saved tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TreeFacts {
    format: u32,
    /// Version of the program that wrote it.
    pub version: String,
    /// The network's name.
    pub network: String,
    /// The SHA-256 of the network's file; `None` where the backend has none.
    pub network_sha256: Option<String>,
    /// Options that decide what a tree holds, and their values.
    pub options: BTreeMap<String, String>,
    chess960: bool,
    /// The start position of the analysed game, as a FEN.
    pub start: String,
    /// The moves up to the root, in UCI's notation.
    pub moves: Vec<String>,
    /// Number of positions.
    pub positions: usize,
    /// The positions that trees begin with.
    tops: Vec<SavedTop>,
    /// Visits of the root.
    pub visits: u32,
    /// Number of other positions that were searched for themselves.
    pub kept: usize,
}

/// A tree that cannot be saved or taken up. The text is one line.
#[derive(Debug, Error)]
pub enum TreeFileError {
    /// There is no forest.
    #[error("there is no analysis to save: only trees of searches without a clock are kept (TreeMemory=forest)")]
    NothingKept,
    /// The file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file is no saved tree, or it is damaged.
    #[error("{}: no saved tree, or a damaged one ({reason})", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The tree is of another network, or of other options.
    #[error("{}: the tree was saved with {saved}, and here it is {here}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// The fact that differs, as the file has it.
        saved: String,
        /// The same fact here.
        here: String,
    },
}

impl TreeFacts {
    /// These facts with another game.
    fn at(&self, game: &Game) -> TreeFacts {
        let moves = game.moves().iter().map(|mv| to_uci(*mv, game.is_chess960())).collect();
        TreeFacts { start: game.start_fen(), moves, chess960: game.is_chess960(), ..self.clone() }
    }

    /// The tree with these facts, of which it has its own numbers; `None` where positions are not kept.
    fn snapshot(self, tree: &Tree) -> Option<Snapshot> {
        let Saved { tops, bytes, positions, kept } = tree.save()?;
        Some(Snapshot { facts: TreeFacts { tops, positions, visits: tree.visits(), kept, ..self }, bytes })
    }

    /// The game at whose end the root stands.
    fn game(&self) -> Option<Game> {
        let mut game = Game::from_fen(&self.start, self.chess960).ok()?;
        self.moves.iter().try_for_each(|mv| game.push_uci(mv)).ok()?;
        Some(game)
    }
}

/// Reads the facts about a saved tree; all of the file is checked.
///
/// # Errors
/// [`TreeFileError::File`] and [`TreeFileError::Damaged`].
pub fn tree_facts(path: &Path) -> Result<TreeFacts, TreeFileError> {
    let (facts, source) = open(path)?;
    load(path, &facts, source, 0)?;
    Ok(facts)
}

/// Merges saved trees into one file: of a position that several have, the one with the most visits stays. The root is
/// that of the first file. Returns the facts about it.
///
/// # Errors
/// [`TreeFileError`]: then nothing is written.
pub fn merge_trees(first: &Path, others: &[PathBuf], out: &Path) -> Result<TreeFacts, TreeFileError> {
    let (facts, source) = open(first)?;
    let game = facts.game().ok_or_else(|| damaged(first, NO_GAME))?;
    let mut sources = vec![(facts.tops.clone(), source)];
    for path in others {
        let (other, source) = open(path)?;
        let named = |facts: &TreeFacts| (facts.network_sha256.clone(), facts.options.clone(), facts.chess960);
        if named(&other) != named(&facts) {
            let told = |facts: &TreeFacts| format!("{} and {:?}", facts.network, facts.options);
            return Err(TreeFileError::Other { path: path.clone(), saved: told(&other), here: told(&facts) });
        }
        sources.push((other.tops, source));
    }
    let tree = Tree::load(game, sources, usize::MAX).map_err(|error| damaged(first, error.0))?;
    let snapshot = facts.snapshot(&tree).ok_or(TreeFileError::NothingKept)?;
    snapshot.write(out)?;
    Ok(snapshot.facts)
}

/// A saved tree whose facts have been read.
type Source = BufReader<GzDecoder<BufReader<File>>>;

const NO_GAME: &str = "its game cannot be played";

/// The most bytes of the line of facts.
const LONGEST_FACTS: u64 = 1 << 26;

/// The facts of a file, and the trees that follow them.
fn open(path: &Path) -> Result<(TreeFacts, Source), TreeFileError> {
    let file = open_regular(path).map_err(|error| TreeFileError::File { path: path.to_owned(), error })?.0;
    let mut source = BufReader::new(GzDecoder::new(BufReader::new(file)));
    let mut line = Vec::new();
    source.by_ref().take(LONGEST_FACTS).read_until(b'\n', &mut line).map_err(|error| damaged(path, error))?;
    let facts: TreeFacts = serde_json::from_slice(&line).map_err(|error| damaged(path, error))?;
    if facts.format != FORMAT {
        let (saved, here) = (format!("format {} (version {})", facts.format, facts.version), FORMAT.to_string());
        return Err(TreeFileError::Other { path: path.to_owned(), saved, here });
    }
    Ok((facts, source))
}

/// The tree of a file; `limit`: bytes of memory.
fn load(path: &Path, facts: &TreeFacts, source: Source, limit: usize) -> Result<Tree, TreeFileError> {
    let game = facts.game().ok_or_else(|| damaged(path, NO_GAME))?;
    Tree::load(game, [(facts.tops.clone(), source)], limit).map_err(|error| damaged(path, error.0))
}

fn damaged(path: &Path, reason: impl ToString) -> TreeFileError {
    TreeFileError::Damaged { path: path.to_owned(), reason: reason.to_string() }
}

/// Trees and the facts about them, ready to be written.
pub(super) struct Snapshot {
    facts: TreeFacts,
    bytes: Vec<u8>,
}

impl Snapshot {
    /// Whether anything was searched.
    fn has_visits(&self) -> bool {
        self.facts.visits > 0 || self.facts.kept > 0
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`TreeFileError::File`]: then the file before stays.
    pub(super) fn write(&self, path: &Path) -> Result<(), TreeFileError> {
        let compressed = || -> io::Result<Vec<u8>> {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
            serde_json::to_writer(&mut encoder, &self.facts)?;
            encoder.write_all(b"\n")?;
            encoder.write_all(&self.bytes)?;
            encoder.finish()
        };
        let written = compressed().and_then(|bytes| write_whole(path, &bytes));
        written.map_err(|error| TreeFileError::File { path: path.to_owned(), error })
    }
}

/// The options that decide what a tree holds, and their values.
pub(super) fn decisive(options: &Options) -> BTreeMap<String, String> {
    let decisive = SPECS.iter().filter(|spec| DECISIVE.contains(&spec.name));
    decisive.map(|spec| (spec.name.to_owned(), spec.value(options))).collect()
}

impl Engine {
    /// The facts of the tree that searches of the present position grow, without its numbers.
    fn origin(&self) -> TreeFacts {
        let facts = TreeFacts {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            network: self.attributes().map(|attributes| attributes.name.clone()).unwrap_or_default(),
            network_sha256: self.loaded.as_ref().and_then(|loaded| loaded.location.as_ref()?.sha256().ok()),
            options: decisive(&self.options),
            chess960: false,
            start: String::new(),
            moves: Vec::new(),
            positions: 0,
            tops: Vec::new(),
            visits: 0,
            kept: 0,
        };
        facts.at(&self.game)
    }

    /// Saves the forest of the analysis in a file, and returns the facts about it. A search ends.
    ///
    /// # Errors
    /// [`TreeFileError`]: then a file that was there stays.
    pub fn save_tree(&mut self, path: &Path) -> Result<TreeFacts, TreeFileError> {
        self.finish();
        let snapshot = self.tree.as_ref().and_then(|tree| self.origin().snapshot(tree));
        let snapshot = snapshot.filter(Snapshot::has_visits).ok_or(TreeFileError::NothingKept)?;
        snapshot.write(path)?;
        Ok(snapshot.facts)
    }

    /// Takes up the forest of a file, and the game at whose end its root stands. A search ends. What `TreeFile` names is
    /// saved before, and is not written again: it is the file of another analysis.
    ///
    /// # Errors
    /// [`TreeFileError`]: then tree and game stay as they were.
    pub fn load_tree(&mut self, path: &Path) -> Result<TreeFacts, TreeFileError> {
        self.save_tree_file();
        let facts = self.take_up(path)?;
        self.tree_file = named_path(&self.options.tree_file).map(|named| {
            let is_ours = named == path;
            self.tree_file(named, is_ours)
        });
        Ok(facts)
    }

    fn take_up(&mut self, path: &Path) -> Result<TreeFacts, TreeFileError> {
        self.finish();
        let (facts, source) = open(path)?;
        let here = self.origin();
        let other = |saved: String, here: String| TreeFileError::Other { path: path.to_owned(), saved, here };
        if facts.network_sha256 != here.network_sha256 {
            return Err(other(format!("the network {}", facts.network), here.network));
        }
        let differs =
            facts.options.iter().find(|(name, value)| here.options.get(*name).is_some_and(|own| own != *value));
        if let Some((name, value)) = differs {
            return Err(other(format!("{name}={value}"), here.options[name].clone()));
        }
        let cache = self.loaded.as_ref().map_or(0, |loaded| loaded.backend.cache_bytes());
        let limit = self.options.memory_limit().map_or(usize::MAX, |limit| tree_share(limit, cache));
        let tree = load(path, &facts, source, limit)?;
        self.game = tree.game().clone();
        self.tree = Some(tree);
        self.other_game();
        self.tree_changed();
        // As the next search has them, which would start anew otherwise.
        self.rescaled = self.search_params(&GoParams { infinite: true, ..GoParams::default() }).wdl_rescale;
        (self.rated, self.decisive) = (self.ratings(), Some(here.options));
        Ok(facts)
    }

    /// Takes up the forest of the file that `TreeFile` names, once, and stays in the present position. A file that
    /// cannot be taken up is not written, either.
    pub(super) fn take_up_tree_file(&mut self) {
        let named = named_path(&self.options.tree_file);
        if self.tree_file.as_ref().map(|known| &known.path) == named.as_ref() {
            return;
        }
        self.save_tree_file();
        self.tree_file = None;
        let Some(path) = named else { return };
        let game = self.game.clone();
        let taken = if path.exists() { self.take_up(&path).map(Some) } else { Ok(None) };
        match &taken {
            Ok(Some(facts)) => {
                let TreeFacts { positions, kept, .. } = facts;
                let name = path.display();
                self.announcer
                    .say(&format!("{name}: {positions} positions, {} of them searched for themselves", 1 + kept));
            }
            Ok(None) => {}
            Err(error) => self.announcer.say(&format!("{ERROR}{error}; it is not written, either")),
        }
        if let Some(tree) = &mut self.tree {
            tree.follow(game.clone());
        }
        self.game = game;
        self.tree_file = Some(self.tree_file(path, taken.is_ok()));
    }

    /// Saves the tree in `TreeFile` every few minutes while the search goes on.
    pub(super) fn save_during(&self, search: &Search) {
        let Some(TreeFile { path, is_ours: true, origin, turns }) = &self.tree_file else { return };
        let (path, origin, announcer) = (path.clone(), origin.at(&self.game), self.announcer.clone());
        let turns = Arc::clone(turns);
        search.look_at_tree(LOOK_EVERY, SAVED_EVERY, move |tree| {
            let (turn, snapshot) = (turns.draw(), origin.clone().snapshot(tree));
            let (path, announcer, turns) = (path.clone(), announcer.clone(), Arc::clone(&turns));
            move || {
                if let Some(Err(error)) = snapshot.map(|snapshot| turns.write(turn, &snapshot, &path)) {
                    announcer.say(&format!("{ERROR}{error}"));
                }
            }
        });
    }

    /// Saves the tree in `TreeFile`, if it is a forest. A search ends.
    pub fn save_tree_file(&mut self) {
        if self.tree_file.as_ref().is_none_or(|file| !file.is_ours) {
            return;
        }
        self.finish();
        let (Some(TreeFile { path, origin, turns, .. }), Some(tree)) = (&self.tree_file, &self.tree) else { return };
        let snapshot = origin.at(tree.game()).snapshot(tree).filter(Snapshot::has_visits);
        if let Some(Err(error)) = snapshot.map(|snapshot| turns.write(turns.draw(), &snapshot, path)) {
            self.announcer.say(&format!("{ERROR}{error}"));
        }
    }

    fn tree_file(&self, path: PathBuf, is_ours: bool) -> TreeFile {
        TreeFile { path, is_ours, origin: self.origin(), turns: Arc::default() }
    }
}

/// The file that `TreeFile` names.
pub(super) struct TreeFile {
    path: PathBuf,
    /// Whether the forest is that of the file, or the file is new.
    is_ours: bool,
    /// The facts about the tree as it began: network and options may change before it is saved for the last time.
    origin: TreeFacts,
    turns: Arc<Turns>,
}

/// The turns of those that write one file: a search and its engine. An older tree is not written over a newer one.
#[derive(Default)]
struct Turns {
    drawn: AtomicU64,
    /// The turn of the last tree that was written.
    written: Mutex<u64>,
}

impl Turns {
    fn draw(&self) -> u64 {
        self.drawn.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn write(&self, turn: u64, snapshot: &Snapshot, path: &Path) -> Result<(), TreeFileError> {
        let mut written = self.written.lock();
        if turn > *written {
            snapshot.write(path)?;
            *written = turn;
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "tree_file_tests.rs"]
mod tests;
