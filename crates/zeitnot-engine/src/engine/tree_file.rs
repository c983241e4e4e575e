//! Saves the trees of an analysis in a file, and takes them up again (`savetree`, `loadtree`, `TreeFile`).
//!
//! A file is compressed (gzip, whose checksum finds damage). It has a line of JSON on what the trees belong to, and
//! then the trees (`search/tree/saved.rs`). A program that is killed while it writes leaves either the old file or the
//! new one. Only one program at a time writes a file, and none writes over what it has not read.

use super::options::{Options, SPECS};
use super::{Engine, GoParams};
use crate::search::{NoTree, Saved, SavedTop, Search, Tree, WdlRescale, tree_share};
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
use std::time::{Duration, SystemTime};
use thiserror::Error;
use zeitnot_backend::DeviceOptions;
use zeitnot_base::announcer::ERROR;
use zeitnot_base::files::{Claim, OtherKind, is_same_file, named_path, open_regular, write_whole};
use zeitnot_chess::{Game, to_uci};
use zeitnot_network::Location;

/// Version of the file format; a file of another version is refused.
const FORMAT: u32 = 2;

/// Interval at which a search saves its tree in `TreeFile`.
const SAVED_EVERY: Duration = Duration::from_secs(180);
/// Interval at which the saving thread checks whether a save is due and whether the search is over.
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
    /// The SHA-256 of each other file of the network (`.onnx.data`).
    external_sha256: Vec<String>,
    /// Options that decide what a tree holds, and their values.
    pub options: BTreeMap<String, String>,
    /// The rescaling of values in words; besides the options it depends on the side that contempt favours.
    rescaled: String,
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
}

/// Why a tree cannot be saved or taken up; displays as one line.
#[derive(Debug, Error)]
pub enum TreeFileError {
    /// There is no tree of an analysis to save.
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
    /// Another program writes the file.
    #[error("{}: in use by another program, which saves its own tree there; nothing is saved", .0.display())]
    InUse(PathBuf),
    /// The trees of the file could not be taken up, so the file is not written over.
    #[error("{}: not taken up, and so not written over (savetree FILE saves elsewhere)", .0.display())]
    NotTakenUp(PathBuf),
    /// The file has changed since this program read or wrote it.
    #[error("{}: changed since it was read; nothing is saved there (savetree FILE saves elsewhere)", .0.display())]
    Changed(PathBuf),
    /// The tree does not fit into the memory limit.
    #[error("{}: the tree is larger than the memory limit (option RamLimitMb)", .0.display())]
    TooLarge(PathBuf),
    /// The file is no saved tree, or it is damaged.
    #[error("{}: no saved tree, or a damaged one ({reason})", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The fault.
        reason: String,
    },
    /// The tree is of another network, or of other options.
    #[error("{}: the tree was saved with {saved}, and here it is {here}", path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// The first difference from the present settings, with the file's value.
        saved: String,
        /// The value here of what differs.
        here: String,
    },
}

impl TreeFacts {
    /// These facts, with the start position and the moves of `game`.
    fn at(&self, game: &Game) -> TreeFacts {
        let moves = game.moves().iter().map(|mv| to_uci(*mv, game.is_chess960())).collect();
        TreeFacts { start: game.start_fen(), moves, chess960: game.is_chess960(), ..self.clone() }
    }

    /// The trees as bytes with these facts, counts filled in; `None` where the tree does not keep all positions.
    fn snapshot(self, tree: &Tree) -> Option<Snapshot> {
        let Saved { tops, bytes, positions } = tree.save()?;
        Some(Snapshot { facts: TreeFacts { tops, positions, visits: tree.visits(), ..self }, bytes })
    }

    /// The first difference from `here` (option, rescaling, else network): the value in `self`, then that in `here`.
    fn difference(&self, here: &TreeFacts) -> (String, String) {
        let differs =
            self.options.iter().find(|(name, value)| here.options.get(*name).is_some_and(|own| own != *value));
        match differs {
            Some((name, value)) => (format!("{name}={value}"), here.options[name].clone()),
            None if self.rescaled != here.rescaled => {
                (format!("contempt or rescaling ({})", self.rescaled), here.rescaled.clone())
            }
            None => (format!("the network {}", self.network), here.network.clone()),
        }
    }

    /// The game at whose end the root stands.
    fn game(&self) -> Option<Game> {
        let mut game = Game::from_fen(&self.start, self.chess960).ok()?;
        self.moves.iter().try_for_each(|mv| game.push_uci(mv)).ok()?;
        Some(game)
    }
}

/// Reads the facts about a saved tree, and checks the whole file. `limit`: most bytes of memory that this may take.
///
/// # Errors
/// [`TreeFileError::File`] and [`TreeFileError::Damaged`].
pub fn tree_facts(path: &Path, limit: Option<usize>) -> Result<TreeFacts, TreeFileError> {
    let (facts, source) = open(path)?;
    load(path, &facts, source, limit.unwrap_or(usize::MAX))?;
    Ok(facts)
}

/// Merges saved trees into one file: of a position that several have, the one with the most visits stays. The root is
/// that of the first file. `limit`: most bytes of memory that the trees may take. Returns the facts about the new file.
///
/// # Errors
/// [`TreeFileError`]: then nothing is written.
pub fn merge_trees(
    first: &Path,
    others: &[PathBuf],
    out: &Path,
    limit: Option<usize>,
) -> Result<TreeFacts, TreeFileError> {
    let (facts, source) = open(first)?;
    let game = facts.game().ok_or_else(|| damaged(first, NO_GAME))?;
    let mut sources = vec![(game, facts.tops.clone(), source)];
    for path in others {
        let (other, source) = open(path)?;
        let named = |facts: &TreeFacts| {
            let TreeFacts { network_sha256, external_sha256, options, rescaled, chess960, .. } = facts.clone();
            (network_sha256, external_sha256, options, rescaled, chess960)
        };
        if named(&other) != named(&facts) {
            let (saved, here) = other.difference(&facts);
            return Err(TreeFileError::Other { path: path.clone(), saved, here });
        }
        let game = other.game().ok_or_else(|| damaged(path, NO_GAME))?;
        sources.push((game, other.tops, source));
    }
    let tree = Tree::load(sources, limit.unwrap_or(usize::MAX)).map_err(|error| refused(first, error))?;
    let snapshot = facts.snapshot(&tree).ok_or(TreeFileError::NothingKept)?;
    snapshot.write_claimed(out)?;
    Ok(snapshot.facts)
}

/// A saved file from which the line of facts has been read: the trees follow.
type Source = BufReader<GzDecoder<BufReader<File>>>;

const NO_GAME: &str = "its game cannot be played";

/// The most bytes of the line of facts.
const LONGEST_FACTS: u64 = 1 << 22;

/// Opens a file and reads its facts; the trees follow in the source returned.
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

/// Reads the tree that follows the facts; `limit`: most bytes of memory that it may take.
fn load(path: &Path, facts: &TreeFacts, source: Source, limit: usize) -> Result<Tree, TreeFileError> {
    let game = facts.game().ok_or_else(|| damaged(path, NO_GAME))?;
    Tree::load([(game, facts.tops.clone(), source)], limit).map_err(|error| refused(path, error))
}

fn refused(path: &Path, error: NoTree) -> TreeFileError {
    match error {
        NoTree::Unread(_) | NoTree::Unfit => damaged(path, error),
        NoTree::TooLarge => TreeFileError::TooLarge(path.to_owned()),
    }
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
        self.facts.positions > 0
    }

    /// Writes a file that this program has not claimed, claiming it meanwhile.
    ///
    /// # Errors
    /// As [`Snapshot::write`], and [`TreeFileError::InUse`].
    fn write_claimed(&self, path: &Path) -> Result<(), TreeFileError> {
        let claim = Claim::of(path).map_err(|error| TreeFileError::File { path: path.to_owned(), error })?;
        let _claim = claim.ok_or_else(|| TreeFileError::InUse(path.to_owned()))?;
        self.write(path)
    }

    /// Writes the file.
    ///
    /// # Errors
    /// [`TreeFileError::File`]: then the file before stays.
    fn write(&self, path: &Path) -> Result<(), TreeFileError> {
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
    let specs = SPECS.iter().filter(|spec| spec.facts.tree);
    let device = options.backend_options.parse::<DeviceOptions>().unwrap_or_default();
    let heads = [("policy_head", device.policy_head), ("value_head", device.value_head)];
    let heads = heads.map(|(name, head)| (name.to_owned(), head.unwrap_or_default()));
    specs.map(|spec| (spec.name.to_owned(), spec.value(options))).chain(heads).collect()
}

/// An error line where the path that `TreeFile` names can be no file, to be told before a tree would be lost.
pub(super) fn note(options: &Options) -> Option<String> {
    let path = named_path(&options.tree_file)?;
    let error = match path.metadata() {
        Ok(found) => OtherKind::of(found.file_type())?.not_a_file(),
        Err(_) => {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty())?;
            folder.metadata().err()?
        }
    };
    Some(format!("{ERROR}option TreeFile: {}: {error}; no tree is saved", path.display()))
}

impl Engine {
    /// The facts about a tree that searches of the present position grow; its counts are still 0.
    fn origin(&self) -> TreeFacts {
        let location = self.device.loaded.as_ref().and_then(|loaded| loaded.location.as_ref());
        let facts = TreeFacts {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            network: self.attributes().map(|attributes| attributes.name.clone()).unwrap_or_default(),
            network_sha256: location.and_then(|location| location.sha256().ok()),
            external_sha256: location.map(Location::external_digests).unwrap_or_default(),
            options: decisive(&self.options),
            rescaled: self.state.grown.rescaled.effect(),
            chess960: false,
            start: String::new(),
            moves: Vec::new(),
            positions: 0,
            tops: Vec::new(),
            visits: 0,
        };
        facts.at(&self.state.game)
    }

    /// Saves the trees of the analysis in a file, and returns the facts about them. A running search is ended.
    ///
    /// # Errors
    /// [`TreeFileError`]: then a file that was there stays.
    pub fn save_tree(&mut self, path: &Path) -> Result<TreeFacts, TreeFileError> {
        self.finish();
        let snapshot = self.state.tree.as_ref().and_then(|tree| self.origin().snapshot(tree));
        let snapshot = snapshot.filter(Snapshot::has_visits).ok_or(TreeFileError::NothingKept)?;
        self.claim_again();
        match self.shelf.tree_file.as_ref().filter(|file| is_same(&file.path, path)) {
            Some(TreeFile { own: Some(own), .. }) => own.write(own.draw(), &snapshot, path)?,
            Some(TreeFile { waits: None, .. }) => return Err(TreeFileError::NotTakenUp(path.to_owned())),
            Some(TreeFile { waits: Some(_), .. }) => return Err(TreeFileError::InUse(path.to_owned())),
            None => snapshot.write_claimed(path)?,
        }
        Ok(snapshot.facts)
    }

    /// Replaces the tree and the game by those of a file. A running search is ended. The tree is saved before in the
    /// file that `TreeFile` names; unless that is `path`, it is not written again: it is of another analysis.
    ///
    /// # Errors
    /// [`TreeFileError`]: then tree and game stay as they were.
    pub fn load_tree(&mut self, path: &Path) -> Result<TreeFacts, TreeFileError> {
        self.save_tree_file();
        // An analysis has no side to favour, or the one to move.
        let searches = [true, false].map(|infinite| GoParams { infinite, ..GoParams::default() });
        let facts = self.take_up(path, &searches.map(|go| self.turn(&go).search.wdl_rescale))?;
        let Some(named) = named_path(&self.options.tree_file) else { return Ok(facts) };
        let before = self.shelf.tree_file.take().and_then(|file| file.own);
        let own = match before {
            _ if !is_same(&named, path) => {
                let named = named.display();
                self.announcer.say(&format!("{named}: not written any more, since another file was taken up"));
                None
            }
            Some(own) => Some(own.read_again(path)),
            None => self.claim(path),
        };
        self.shelf.tree_file = Some(TreeFile { path: named, own, origin: self.origin(), waits: None });
        Ok(facts)
    }

    /// Replaces tree and game by those of a file, whose rescaling must be one of `rescales`, those of later searches.
    fn take_up(&mut self, path: &Path, rescales: &[WdlRescale]) -> Result<TreeFacts, TreeFileError> {
        self.finish();
        let (facts, source) = open(path)?;
        let here = self.origin();
        let here = TreeFacts { rescaled: rescales[0].effect(), ..here };
        let rescaled = rescales.iter().find(|rescale| rescale.effect() == facts.rescaled).copied();
        let named = |facts: &TreeFacts| (facts.network_sha256.clone(), facts.external_sha256.clone());
        let is_other = |(name, value)| here.options.get(name).is_some_and(|own: &String| own != value);
        let Some(rescaled) = rescaled.filter(|_| named(&facts) == named(&here) && !facts.options.iter().any(is_other))
        else {
            let (saved, here) = facts.difference(&here);
            return Err(TreeFileError::Other { path: path.to_owned(), saved, here });
        };
        let cache = self.device.loaded.as_ref().map_or(0, |loaded| loaded.backend.cache_bytes());
        let limit = self.options.memory_limit().map_or(usize::MAX, |limit| tree_share(limit, cache));
        let tree = load(path, &facts, source, limit)?;
        self.state.game = tree.game().clone();
        self.state.tree = Some(tree);
        self.state.other_game(self.options.keep_time_stats);
        self.state.tree_changed();
        // As the next search has them, which would start anew otherwise.
        self.state.grown.rescaled = rescaled;
        (self.state.grown.rated, self.state.grown.decisive) = (self.ratings(), Some(here.options));
        Ok(facts)
    }

    /// Takes up the trees of the file that `TreeFile` names, once, and stays in the present position. A file that
    /// cannot be taken up, or that another program writes, is not written.
    pub(super) fn take_up_tree_file(&mut self, rescale: &WdlRescale) {
        let named = named_path(&self.options.tree_file);
        if self.shelf.tree_file.as_ref().map(|known| &known.path) == named.as_ref() {
            return self.claim_again();
        }
        self.save_tree_file();
        self.shelf.tree_file = None;
        let Some(path) = named else { return };
        let (read, own) = (stamp(&path), self.claim(&path));
        let game = self.state.game.clone();
        let taken = if path.exists() { self.take_up(&path, &[*rescale]).map(Some) } else { Ok(None) };
        match &taken {
            Ok(Some(facts)) => {
                let name = path.display();
                self.announcer.say(&format!("{name}: {} positions", facts.positions));
            }
            Ok(None) => {}
            Err(error) => self.announcer.say(&format!("{ERROR}{error}; it is not written, either")),
        }
        if let Some(tree) = &mut self.state.tree {
            tree.follow(game.clone());
        }
        self.state.game = game;
        self.shelf.tree_file = Some(TreeFile {
            waits: Some(read).filter(|_| own.is_none() && taken.is_ok()),
            path,
            own: own.filter(|_| taken.is_ok()),
            origin: self.origin(),
        });
    }

    /// Claims the `TreeFile` that another program had claimed, if it is free now and unchanged since it was read.
    fn claim_again(&mut self) {
        let Some(TreeFile { path, own, waits, .. }) = &mut self.shelf.tree_file else { return };
        if waits.is_some_and(|read| read == stamp(path))
            && let Ok(Some(claim)) = Claim::of(path)
        {
            (*own, *waits) = (Some(Arc::new(Own::new(claim, path))), None);
        }
    }

    /// Claims a file for writing; where that fails, a line says why, and the result is `None`.
    fn claim(&self, path: &Path) -> Option<Arc<Own>> {
        let error = match Claim::of(path) {
            Ok(Some(claim)) => return Some(Arc::new(Own::new(claim, path))),
            Ok(None) => TreeFileError::InUse(path.to_owned()),
            Err(error) => TreeFileError::File { path: path.to_owned(), error },
        };
        self.announcer.say(&format!("{ERROR}{error}"));
        None
    }

    /// Saves the tree in `TreeFile` every few minutes while the search goes on.
    pub(super) fn save_during(&self, search: &Search) {
        let Some(TreeFile { path, own: Some(own), origin, .. }) = &self.shelf.tree_file else { return };
        let (path, origin, announcer) = (path.clone(), origin.at(&self.state.game), self.announcer.clone());
        // The claim ends with the engine, also where the thread has not heard yet that the search is over.
        let own = Arc::downgrade(own);
        search.look_at_tree(LOOK_EVERY, SAVED_EVERY, move |tree| {
            let (own, snapshot) = (own.upgrade(), origin.clone().snapshot(tree));
            let (turn, path, announcer) = (own.as_ref().map(|own| own.draw()), path.clone(), announcer.clone());
            move || {
                let (Some(own), Some(turn), Some(snapshot)) = (own, turn, snapshot) else { return };
                if let Err(error) = own.write(turn, &snapshot, &path) {
                    announcer.say(&format!("{ERROR}{error}"));
                }
            }
        });
    }

    /// Saves the tree in `TreeFile`, if the tree keeps all its positions. A running search is ended.
    pub fn save_tree_file(&mut self) {
        self.claim_again();
        if self.shelf.tree_file.as_ref().is_none_or(|file| file.own.is_none()) {
            return;
        }
        self.finish();
        let (Some(TreeFile { path, own: Some(own), origin, .. }), Some(tree)) =
            (&self.shelf.tree_file, &self.state.tree)
        else {
            return;
        };
        let snapshot = origin.at(tree.game()).snapshot(tree).filter(Snapshot::has_visits);
        if let Some(Err(error)) = snapshot.map(|snapshot| own.write(own.draw(), &snapshot, path)) {
            self.announcer.say(&format!("{ERROR}{error}"));
        }
    }
}

/// The file that `TreeFile` names.
pub(super) struct TreeFile {
    path: PathBuf,
    /// The right to write it; `None` for a file that could not be taken up, or that another program writes.
    own: Option<Arc<Own>>,
    /// Date and size of a file that was read while another program had claimed it; it is claimed later if unchanged.
    waits: Option<Stamp>,
    /// The facts about the tree as it began: network and options may change before it is saved for the last time.
    origin: TreeFacts,
}

/// The right to write a file, for a search and its engine.
struct Own {
    _claim: Claim,
    drawn: AtomicU64,
    written: Mutex<Written>,
}

/// The state of a file as this program knows it.
struct Written {
    /// Serial number of the last tree that was written: an older tree is not written over a newer one.
    turn: u64,
    /// Date and size of the file as it was read or written; `None` where there was none.
    stamp: Stamp,
}

/// Date and size of a file; `None` where there is none.
type Stamp = Option<(SystemTime, u64)>;

impl Own {
    fn new(claim: Claim, path: &Path) -> Own {
        Own { _claim: claim, drawn: AtomicU64::new(0), written: Mutex::new(Written { turn: 0, stamp: stamp(path) }) }
    }

    /// Notes the present date and size of the file, which was read once more.
    fn read_again(self: Arc<Self>, path: &Path) -> Arc<Self> {
        self.written.lock().stamp = stamp(path);
        self
    }

    fn draw(&self) -> u64 {
        self.drawn.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn write(&self, turn: u64, snapshot: &Snapshot, path: &Path) -> Result<(), TreeFileError> {
        let mut written = self.written.lock();
        if turn <= written.turn {
            return Ok(());
        }
        // A file that was deleted is no work of another.
        if path.exists() && stamp(path) != written.stamp {
            return Err(TreeFileError::Changed(path.to_owned()));
        }
        snapshot.write(path)?;
        *written = Written { turn, stamp: stamp(path) };
        Ok(())
    }
}

/// Whether two paths name one file, which need not exist.
fn is_same(one: &Path, other: &Path) -> bool {
    let absolute = |path| std::path::absolute(path).ok();
    is_same_file(one, other) || absolute(one) == absolute(other)
}

fn stamp(path: &Path) -> Stamp {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

#[cfg(test)]
#[path = "tree_file_tests.rs"]
mod tests;
