//! Searches positions of games far beyond their budgets, each with the tree that the game would have left, and records
//! how the root grows.

use super::in_order::in_order;
use super::packing::rounded;
use super::positions::{PositionsError, SideOfGame, Sides};
use super::recorded_search::{RecordedMove, RecordedSearch, RecordedSnapshot};
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use thiserror::Error;
use zeitnot_engine::backend::Backend;
use zeitnot_engine::chess::{Game, Move, to_uci};
use zeitnot_engine::clock::VirtualClock;
use zeitnot_engine::engine::{Engine, EngineError, GoParams, Options};
use zeitnot_engine::search::{RootMove, RootObserver};
use zeitnot_time::SearchSnapshot;

/// Earlier moves of the same side that are searched before a position, so that a tree is reused as in a game: about a
/// quarter of a move's tree is left for the next move, and little of it for the move after.
const MOVES_BEFORE: usize = 2;

/// The size of the searches that are recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recording {
    /// Playouts per move as a game would have them: earlier moves of the side are searched with so many.
    pub nodes: u64,
    /// Playouts of a recorded search, as a multiple of `nodes`.
    pub factor: f64,
    /// The factor by which visits grow from snapshot to snapshot.
    pub growth: f64,
}

/// Why a recording fails. Displays as one line.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum RecordError {
    /// The engine cannot search.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The file of games cannot be read any further.
    #[error(transparent)]
    Positions(#[from] PositionsError),
    /// A search failed.
    #[error("game {game} ply {ply}: {reason}")]
    Search { game: u32, ply: usize, reason: String },
}

/// An engine whose searches are recorded.
pub struct Recorder {
    engine: Engine,
    recording: Recording,
    growing: Arc<Mutex<Growing>>,
}

/// Snapshots of the root of the running search, each with more visits than the one before.
#[derive(Default)]
struct Growing {
    growth: f64,
    next: f64,
    /// Visits of the root at which the search ends.
    end: u64,
    moves: Vec<RecordedMove>,
    snapshots: Vec<RecordedSnapshot>,
}

impl RootObserver for Growing {
    fn next_visits(&self) -> u64 {
        (self.next.ceil() as u64).min(self.end)
    }

    fn observe(&mut self, snapshot: &SearchSnapshot, moves: &[RootMove]) {
        if self.moves.is_empty() {
            self.moves =
                moves.iter().map(|root| RecordedMove { uci: to_uci(root.mv, true), prior: root.prior }).collect();
        }
        // The stoppers look more often than the tree grows.
        if self.snapshots.last().is_some_and(|last| last.total_nodes == snapshot.total_nodes) {
            return;
        }
        self.next = (snapshot.total_nodes as f64 * self.growth).max(snapshot.total_nodes as f64 + 1.0);
        self.snapshots.push(RecordedSnapshot {
            new_nodes: snapshot.new_nodes,
            total_nodes: snapshot.total_nodes,
            batches: snapshot.batches,
            average_depth: snapshot.average_depth,
            mate_depth: snapshot.mate_depth,
            win_found: snapshot.win_found,
            may_resign: snapshot.may_resign,
            need_more_time: snapshot.need_more_time,
            losing_edges: snapshot.losing_edges,
            best_move: snapshot.best_move.map(|place| place as u32),
            moves_left_plies: snapshot.moves_left_plies.map(|plies| plies as f32),
            visits: moves.iter().map(|root| root.visits).collect(),
            values: moves.iter().map(|root| root.q.map(rounded)).collect(),
        });
    }
}

impl Recorder {
    /// A recorder on a loaded network. Of `options` only those of the search are used; nothing but the number of
    /// playouts ends a search, and it has one thread.
    ///
    /// # Errors
    /// When the backend has no room for another engine.
    pub fn new(options: &Options, backend: Arc<dyn Backend>, recording: Recording) -> Result<Recorder, RecordError> {
        Ok(Recorder { engine: engine_for(options, backend)?, recording, growing: Arc::default() })
    }

    /// Records the search of the position at `side.plies[index]`. The same position gives the same recorded search,
    /// whatever was recorded before.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn record(&mut self, side: &SideOfGame, index: usize) -> Result<RecordedSearch, RecordError> {
        self.engine.new_game();
        let (ply, nodes) = (side.plies[index], self.recording.nodes);
        for before in index.saturating_sub(MOVES_BEFORE)..index {
            let before = side.plies[before];
            self.engine.set_game(until(&side.game, before));
            self.search(side.number, before, nodes)?;
        }
        let game = until(&side.game, ply);
        self.engine.set_game(game.clone());
        let reused = self.engine.tree_visits();
        let end = (nodes as f64 * self.recording.factor) as u64;
        let growth = self.recording.growth;
        *self.growing.lock() = Growing { growth, next: 1.0, end: reused + end, ..Growing::default() };
        let moves_left_plies = self.engine.tree_moves_left().map(|plies| plies as f32);
        self.engine.observe_root(Some(self.growing.clone()));
        let searched = self.search(side.number, ply, end);
        self.engine.observe_root(None);
        searched?;
        let Growing { moves, snapshots, .. } = std::mem::take(&mut *self.growing.lock());
        let position = game.current();
        let legal_moves = position.legal_moves();
        Ok(RecordedSearch {
            game: side.number,
            ply: ply as u32,
            game_ply: position.ply(),
            fen: game.fen(),
            played: side.game.moves().get(ply).map(|mv| to_uci(*mv, true)).unwrap_or_default(),
            plies_left: (side.game.moves().len() - ply) as u32,
            reused,
            moves_left_plies,
            pieces: position.piece_count(),
            legal_moves: legal_moves.len() as u32,
            captures: legal_moves.iter().filter(|mv| mv.is_capture()).count() as u32,
            in_check: position.is_check(),
            moves,
            snapshots,
            judged: Vec::new(),
        })
    }

    /// Searches the engine's current position with the reused tree. `number` and `ply` name the position in errors.
    fn search(&mut self, number: u32, ply: usize, playouts: u64) -> Result<(), RecordError> {
        let failed = |reason| RecordError::Search { game: number + 1, ply, reason };
        search(&mut self.engine, playouts).map(drop).map_err(failed)
    }
}

/// An engine of one thread whose searches end by the number of playouts alone.
pub(super) fn engine_for(options: &Options, backend: Arc<dyn Backend>) -> Result<Engine, EngineError> {
    let options = Options {
        threads: 1,
        smart_pruning_factor: 0.0,
        minimum_kld_gain: 0.0,
        nodes_as_playouts: true,
        random_seed: 1,
        ..options.clone()
    };
    Engine::with_backend(options, Arc::new(VirtualClock::default()), backend)
}

/// Searches the engine's current position with this number of playouts. Returns the chosen move, or the error in one
/// line.
pub(super) fn search(engine: &mut Engine, playouts: u64) -> Result<Option<Move>, String> {
    let go = GoParams { nodes: Some(playouts), ..GoParams::default() };
    let start_ms = engine.now_ms();
    let (end, _) = engine.run(&go, start_ms, None).map_err(|error| error.to_string())?;
    end.error.map_or(Ok(end.best), Err)
}

/// The game as it stood after this number of plies.
fn until(game: &Game, plies: usize) -> Game {
    let mut game = game.clone();
    game.truncate(plies);
    game
}

/// Iterator over the positions to record: each is its game and its index in [`SideOfGame::plies`]. A game is read when its first
/// position is due.
struct Tasks<'a> {
    sides: Sides<'a>,
    side: Option<Arc<SideOfGame>>,
    index: usize,
}

impl Iterator for Tasks<'_> {
    type Item = Result<(Arc<SideOfGame>, usize), PositionsError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(side) = self.side.as_ref().filter(|side| self.index < side.plies.len()) {
                self.index += 1;
                return Some(Ok((Arc::clone(side), self.index - 1)));
            }
            match self.sides.next()? {
                Ok(side) => (self.side, self.index) = (Some(Arc::new(side)), 0),
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Records all positions but the first `done`, on `threads` threads. `keep` gets the recorded searches in their order
/// on the caller's thread. `interrupted` ends the recording.
///
/// # Errors
/// The first error of a recorder or of `keep`.
pub fn record_all<E: Send + From<RecordError> + From<io::Error>>(
    sides: Sides<'_>,
    done: usize,
    threads: usize,
    make: &(dyn Fn() -> Result<Recorder, RecordError> + Sync),
    interrupted: &AtomicBool,
    keep: &mut dyn FnMut(RecordedSearch) -> Result<(), E>,
) -> Result<(), E> {
    let tasks = Tasks { sides, side: None, index: 0 }.skip(done).map(|task| Ok(task.map_err(RecordError::from)?));
    let record = |recorder: &mut Recorder, (side, index): (Arc<SideOfGame>, usize)| Ok(recorder.record(&side, index)?);
    in_order(tasks, threads, &|| Ok(make()?), &record, interrupted, keep)
}
