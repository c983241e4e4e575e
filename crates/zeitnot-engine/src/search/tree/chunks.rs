//! Takes chunks of memory for the tree's pools from the system, and keeps those of earlier trees until freed.
//!
//! A chunk is mapped from the system, which provides memory page by page as the chunk is first written, in huge pages
//! where there are any: a large tree has more small pages than the processor knows the addresses of. Memory that is
//! only promised still counts as free, so the free memory is read again for each piece of a chunk that is filled. When
//! the system has no more, the pool stays at its present size, and the tree prunes instead of growing.

use memmap2::MmapMut;
use parking_lot::Mutex;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zeitnot_base::memory;

/// Bytes of a chunk; in unit tests so few that their trees take several.
pub(crate) const CHUNK_BYTES: usize = if cfg!(test) { 1 << 20 } else { 32 << 20 };
/// Bytes of a piece of a chunk; the system is asked for memory a piece at a time.
pub(super) const PIECE_BYTES: usize = CHUNK_BYTES / PIECES;
pub(super) const PIECES: usize = (32 << 20) / memory::GROWTH;

/// Chunks of trees that were given up, for the pools of the next tree to take until a thread has freed them. So the old
/// tree and the new one hardly take more memory than the larger of them.
///
/// How far that thread has got depends on the machine, and decisions of a search must not depend on it. So these
/// disregard the spare chunks, and also how much of a chunk an earlier tree has written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spare(Arc<SpareChunks>);

struct SpareChunks {
    /// Chunks, with the bytes of each that were ever written.
    chunks: Mutex<Vec<(MmapMut, usize)>>,
    /// The sum of the bytes written; a chunk counts until the system has it back.
    bytes: AtomicUsize,
    /// Whether the system has memory for another piece.
    has_headroom: Box<dyn Fn() -> bool + Send + Sync>,
}

impl Default for SpareChunks {
    fn default() -> Self {
        let has_headroom = Box::new(|| memory::has_headroom(true));
        SpareChunks { chunks: Mutex::default(), bytes: AtomicUsize::default(), has_headroom }
    }
}

impl fmt::Debug for SpareChunks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpareChunks").field("bytes", &self.bytes).finish_non_exhaustive()
    }
}

impl Spare {
    /// No spare memory, and a system that has only this number of pieces.
    #[cfg(test)]
    pub fn with_pieces_left(pieces: usize) -> Spare {
        let left = AtomicUsize::new(pieces);
        let take = move || left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok();
        Spare(Arc::new(SpareChunks { has_headroom: Box::new(take), ..SpareChunks::default() }))
    }

    #[cfg(any(test, feature = "testing"))]
    /// Bytes that earlier trees have written and that the system has not got back yet.
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, chunk: MmapMut, written: usize) {
        self.0.bytes.fetch_add(written, Ordering::Relaxed);
        self.0.chunks.lock().push((chunk, written));
    }

    /// A chunk of an earlier tree with its old content, and the bytes of it that were ever written.
    pub(super) fn take(&self) -> Option<(MmapMut, usize)> {
        let (chunk, written) = self.0.chunks.lock().pop()?;
        self.0.bytes.fetch_sub(written, Ordering::Relaxed);
        Some((chunk, written))
    }

    /// Whether the system has memory for another piece with enough left for everything else: other allocations are
    /// small, but where they fail the process ends.
    pub(super) fn has_headroom(&self) -> bool {
        (self.0.has_headroom)()
    }

    /// Frees all spare chunks.
    pub(crate) fn free(&self) {
        loop {
            // The lock is not held while the system takes a chunk back.
            let Some((chunk, written)) = self.0.chunks.lock().pop() else { return };
            drop(chunk);
            self.0.bytes.fetch_sub(written, Ordering::Relaxed);
        }
    }
}

/// A new chunk, all zero, if the system has one. Nothing of it is in memory before it is written.
pub(super) fn new_chunk() -> Option<MmapMut> {
    let map = MmapMut::map_anon(CHUNK_BYTES).ok()?;
    #[cfg(target_os = "linux")]
    if let Err(error) = map.advise(memmap2::Advice::HugePage) {
        tracing::debug!(%error, "no huge pages for the tree");
    }
    Some(map)
}
