//! Allocates the memory of the tree: runs of equal items in large chunks, addressed by 32 bits.
//!
//! The general allocator adds 8 to 16 bytes to each of the small pieces a tree is made of, and an address of it takes 8
//! more wherever it is kept. Here a run costs its items alone, a freed one is kept for another of its length, and a whole
//! tree is freed chunk by chunk. A tree takes and gives runs of each length in much the same proportions, so that this
//! wastes little; longer runs are cut only when much is free of other lengths than are asked for, as after a change from
//! a middlegame to an endgame. Cutting at every need would leave nothing but short runs in the end.
//!
//! A chunk is mapped from the system, which gives it memory page by page as it is first written, in huge pages where there
//! are any: a large tree has more small pages than the processor knows the addresses of. So the system's account of what is free
//! is asked as the chunk is filled, piece by piece: what is promised is not in it. When the system has no more, the pool stays at
//! its present size, and the tree prunes instead of growing.

use crate::memory;
use bytemuck::Pod;
use memmap2::MmapMut;
use parking_lot::Mutex;
use std::alloc::{Layout, handle_alloc_error};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a chunk; in unit tests so few that their trees take several.
pub(crate) const CHUNK_BYTES: usize = if cfg!(test) { 1 << 20 } else { 32 << 20 };

/// Bytes of a piece, for which the system is asked.
const PIECE_BYTES: usize = CHUNK_BYTES / PIECES;
const PIECES: usize = (32 << 20) / memory::GROWTH;

/// Bytes of a pool for which it is not asked: what the visits of a batch are on their way to has to fit in any case.
const FIRST_BYTES: usize = CHUNK_BYTES / 4;

/// Longer runs are cut when the free share of the pool is larger than one divided by this.
const CUTTING_FROM: usize = 4;

/// The longest run: the body of a node with as many moves as are kept takes 262 words.
const LONGEST: usize = 511;

/// Items that 32 bits can address.
const ADDRESSES: usize = u32::MAX as usize;

/// Hands chunks to the pools of a tree: those of trees that were given up, as long as a thread has not freed those yet,
/// and from the system. So the old tree and the new one hardly take more memory than the larger of them.
///
/// How far that thread has got depends on the machine. No decision of a search may: what is spare counts for nothing in
/// them, no more than which memory of a chunk an earlier tree has written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spare(Arc<SpareChunks>);

struct SpareChunks {
    /// Chunks, with the bytes of each that were ever written.
    chunks: Mutex<Vec<(MmapMut, usize)>>,
    /// The sum of those; it counts a chunk until the system has it back.
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

    /// Bytes that earlier trees have written and that the system has not got back yet.
    pub(crate) fn bytes(&self) -> usize {
        self.0.bytes.load(Ordering::Relaxed)
    }

    fn add(&self, chunk: MmapMut, written: usize) {
        self.0.bytes.fetch_add(written, Ordering::Relaxed);
        self.0.chunks.lock().push((chunk, written));
    }

    /// A chunk of an earlier tree with its old content, and the bytes of it that were ever written.
    fn take(&self) -> Option<(MmapMut, usize)> {
        let (chunk, written) = self.0.chunks.lock().pop()?;
        self.0.bytes.fetch_sub(written, Ordering::Relaxed);
        Some((chunk, written))
    }

    /// Whether the system has memory for another piece, and for everything else: other allocations are small, but where they fail the
    /// process ends.
    fn has_headroom(&self) -> bool {
        (self.0.has_headroom)()
    }

    /// Frees what there is.
    pub(crate) fn free(&self) {
        loop {
            // The lock is not held while the system takes a chunk back.
            let Some((chunk, written)) = self.0.chunks.lock().pop() else { return };
            drop(chunk);
            self.0.bytes.fetch_sub(written, Ordering::Relaxed);
        }
    }
}

/// Runs of `T`, of 1 to [`LONGEST`] items each. Run 0 is never given out, so that 0 can stand for none.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    chunks: Vec<MmapMut>,
    /// Source of chunks.
    spare: Spare,
    /// The first item never given out.
    top: usize,
    /// The first item for which the system has not been asked.
    granted: usize,
    /// The items that it is meant to hold; who takes them keeps to it.
    pub most: usize,
    /// The system had no memory for another piece. It is not asked again until [`Pool::ask_again`].
    is_refused: bool,
    /// Free runs by length.
    free: Vec<Vec<u32>>,
    /// Bit `n` is set when `free[n]` holds something.
    lengths: [u64; LONGEST / 64 + 1],
    /// Items given out.
    in_use: usize,
    /// Bytes of the lists of free runs.
    listed: usize,
    items: PhantomData<T>,
}

impl<T: Pod> Pool<T> {
    /// Items of a chunk, as a power of two.
    const CHUNK_BITS: u32 = (CHUNK_BYTES / size_of::<T>()).ilog2();
    const CHUNK: usize = 1 << Self::CHUNK_BITS;
    /// Items of a piece.
    const PIECE: usize = PIECE_BYTES / size_of::<T>();

    /// An empty pool with one chunk, and more from where `spare` has them. Without memory for the first the process ends, as
    /// it does in every other place without memory.
    pub(crate) fn new(spare: Spare) -> Pool<T> {
        let first = spare.take().or_else(|| Some((new_chunk()?, 0)));
        let Some((first, written)) = first else { handle_alloc_error(Layout::new::<[u8; CHUNK_BYTES]>()) };
        Pool::of(first, written / size_of::<T>(), spare)
    }

    /// An empty pool whose first chunk has `granted` items for which the system need not be asked.
    fn of(first: MmapMut, granted: usize, spare: Spare) -> Pool<T> {
        let free = (0..=LONGEST).map(|_| Vec::new()).collect();
        Pool {
            chunks: vec![first],
            spare,
            top: 1,
            granted: granted.clamp(FIRST_BYTES / size_of::<T>(), Self::CHUNK),
            most: ADDRESSES,
            is_refused: false,
            free,
            lengths: [0; _],
            in_use: 0,
            listed: 0,
            items: PhantomData,
        }
    }

    /// Empties the pool. It keeps its first chunk, so that this takes no memory, and gives the others up.
    pub(crate) fn start_anew(&mut self) {
        let (top, granted, spare) = (self.top, self.granted, self.spare.clone());
        let mut chunks = std::mem::take(&mut self.chunks).into_iter();
        let first = chunks.next().expect("a pool has a chunk from the beginning");
        for (index, chunk) in chunks.enumerate() {
            let here = top.saturating_sub((index + 1) * Self::CHUNK).min(Self::CHUNK);
            spare.add(chunk, here * size_of::<T>());
        }
        *self = Pool::of(first, granted, spare);
    }

    /// Bytes of the items that were ever given out.
    pub(crate) fn bytes_reached(&self) -> usize {
        self.top * size_of::<T>()
    }

    /// Bytes of the lists of what is free.
    pub(crate) fn bytes_listed(&self) -> usize {
        self.listed
    }

    /// Bytes of the runs that were given back.
    pub(crate) fn bytes_given_back(&self) -> usize {
        (self.top - 1 - self.in_use) * size_of::<T>()
    }

    /// Bytes of the items that it is meant to hold, or can hold where the system has refused another piece.
    pub(crate) fn bytes_most(&self) -> usize {
        let most = if self.is_refused { self.most.min(self.granted) } else { self.most };
        most.saturating_mul(size_of::<T>())
    }

    /// Whether the system has refused another piece.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// The system is asked again for the next chunk: another program may have ended since.
    pub(crate) fn ask_again(&mut self) {
        self.is_refused = false;
    }

    /// Items given out.
    #[cfg(test)]
    pub fn in_use(&self) -> usize {
        self.in_use
    }

    /// Whether a run of `len` items can be had without new memory from the system.
    pub(crate) fn has_free(&self, len: usize) -> bool {
        self.free_for(len).is_some()
    }

    /// A run of `len` items with any content: a free one of that length, a piece of a longer one, or a new one. `None`
    /// when there is neither, and no memory for a piece.
    pub(crate) fn take(&mut self, len: usize) -> Option<u32> {
        if let Some(longer) = self.free_for(len) {
            return Some(self.take_from(longer, len));
        }
        while self.granted - self.top < len {
            if !self.grow() {
                let longer = self.shortest_free(len)?;
                return Some(self.take_from(longer, len));
            }
        }
        let at = u32::try_from(self.top).expect("Pool::grow keeps to the items that 32 bits can address");
        self.top += len;
        self.in_use += len;
        Some(at)
    }

    /// Takes a run from the start of a free one that is at least as long.
    fn take_from(&mut self, longer: usize, len: usize) -> u32 {
        let at = self.pop(longer);
        if longer > len {
            self.push(at + len as u32, longer - len);
        }
        self.in_use += len;
        at
    }

    /// Adds a piece of the last chunk, or a chunk, in which the next new run begins: none crosses from one to another. Returns whether
    /// there is one: once the system has refused, it is not asked again, and the pool keeps its size.
    fn grow(&mut self) -> bool {
        let end = self.chunks.len() * Self::CHUNK;
        if self.is_refused || self.granted == end && end >= self.most {
            return false;
        }
        if self.granted < end {
            self.is_refused = !self.spare.has_headroom();
            if !self.is_refused {
                self.granted = end.min(self.granted + Self::PIECE);
            }
            return !self.is_refused;
        }
        let fresh = || new_chunk().filter(|_| self.spare.has_headroom()).map(|chunk| (chunk, PIECE_BYTES));
        let Some((chunk, written)) = self.spare.take().or_else(fresh) else {
            self.is_refused = true;
            return false;
        };
        let left = end - self.top;
        if left > 0 {
            self.push(self.top as u32, left);
        }
        (self.top, self.granted) = (end, end + (written / size_of::<T>()).min(Self::CHUNK));
        self.chunks.push(chunk);
        true
    }

    /// Joins free runs that lie side by side. That looks at all of them, so it is for a pool that cannot grow and has no run
    /// of the length wanted.
    pub(crate) fn join_free(&mut self) {
        let mut runs: Vec<(u32, u16)> = Vec::new();
        if runs.try_reserve_exact(self.free.iter().map(Vec::len).sum()).is_err() {
            return;
        }
        for (len, free) in self.free.iter_mut().enumerate() {
            // No run is longer than `LONGEST`.
            runs.extend(free.drain(..).map(|at| (at, len as u16)));
        }
        self.lengths = [0; _];
        runs.sort_unstable();
        let mut joined: Option<(u32, usize)> = None;
        for (at, len) in runs {
            let len = usize::from(len);
            joined = match joined {
                // A run does not cross chunks.
                Some((start, before))
                    if start as usize + before == at as usize && !(at as usize).is_multiple_of(Self::CHUNK) =>
                {
                    Some((start, before + len))
                }
                earlier => {
                    earlier.into_iter().for_each(|(start, before)| self.push(start, before));
                    Some((at, len))
                }
            };
        }
        joined.into_iter().for_each(|(start, len)| self.push(start, len));
    }

    /// Gives a run back.
    pub(crate) fn give(&mut self, at: u32, len: usize) {
        self.in_use -= len;
        self.push(at, len);
    }

    pub(crate) fn run(&self, at: u32, len: usize) -> &[T] {
        &self.chunk(at)[at as usize & (Self::CHUNK - 1)..][..len]
    }

    pub(crate) fn run_mut(&mut self, at: u32, len: usize) -> &mut [T] {
        &mut self.chunk_mut(at)[at as usize & (Self::CHUNK - 1)..][..len]
    }

    #[inline]
    pub(crate) fn item(&self, at: u32) -> &T {
        &self.chunk(at)[at as usize & (Self::CHUNK - 1)]
    }

    #[inline]
    pub(crate) fn item_mut(&mut self, at: u32) -> &mut T {
        &mut self.chunk_mut(at)[at as usize & (Self::CHUNK - 1)]
    }

    #[inline]
    fn chunk(&self, at: u32) -> &[T] {
        bytemuck::cast_slice(&self.chunks[at as usize >> Self::CHUNK_BITS])
    }

    #[inline]
    fn chunk_mut(&mut self, at: u32) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.chunks[at as usize >> Self::CHUNK_BITS])
    }

    /// The length of the free run that one of `len` is taken from.
    fn free_for(&self, len: usize) -> Option<usize> {
        let much_is_free = (self.top - 1 - self.in_use) * CUTTING_FROM > self.top;
        if much_is_free || self.lengths[len / 64] & 1 << (len % 64) != 0 { self.shortest_free(len) } else { None }
    }

    /// The length of the shortest free run of at least `len`.
    fn shortest_free(&self, len: usize) -> Option<usize> {
        let first = self.lengths[len / 64] & (u64::MAX << (len % 64));
        if first != 0 {
            return Some(len / 64 * 64 + first.trailing_zeros() as usize);
        }
        let word = (len / 64 + 1..self.lengths.len()).find(|word| self.lengths[*word] != 0)?;
        Some(word * 64 + self.lengths[word].trailing_zeros() as usize)
    }

    fn push(&mut self, at: u32, len: usize) {
        // What a chunk has left at its end can be longer than any run.
        let (mut at, mut len) = (at, len);
        while len > 0 {
            let piece = len.min(LONGEST);
            let free = &mut self.free[piece];
            let before = free.capacity();
            // Where there is no memory for the list, the run is lost until the pool starts anew.
            if free.try_reserve(1).is_ok() {
                free.push(at);
                self.lengths[piece / 64] |= 1 << (piece % 64);
            }
            self.listed += (free.capacity() - before) * size_of::<u32>();
            (at, len) = (at + piece as u32, len - piece);
        }
    }

    fn pop(&mut self, len: usize) -> u32 {
        let at = self.free[len].pop().expect("the bit of a length says that there is a run");
        if self.free[len].is_empty() {
            self.lengths[len / 64] &= !(1 << (len % 64));
        }
        at
    }
}

/// A new chunk, all zero, if the system has one. Nothing of it is in memory before it is written.
fn new_chunk() -> Option<MmapMut> {
    let map = MmapMut::map_anon(CHUNK_BYTES).ok()?;
    #[cfg(target_os = "linux")]
    if let Err(error) = map.advise(memmap2::Advice::HugePage) {
        tracing::debug!(%error, "no huge pages for the tree");
    }
    Some(map)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_free_run_is_used_again_whole_or_in_pieces() {
        let mut pool = Pool::<u32>::new(Spare::default());
        let run = pool.take(10).unwrap();
        assert_ne!(run, 0);
        pool.give(run, 10);
        assert_eq!(pool.take(10), Some(run));
        pool.give(run, 10);
        assert_eq!((pool.take(4), pool.take(6)), (Some(run), Some(run + 4)));
        assert_eq!((pool.bytes_given_back(), pool.in_use, pool.chunks.len()), (0, 10, 1));
    }

    #[test]
    fn chunks_given_up_are_used_again_before_they_are_freed() {
        let spare = Spare::default();
        let mut old = Pool::<u32>::new(spare.clone());
        let length = CHUNK_BYTES / size_of::<u32>() + 5 * LONGEST;
        for _ in 0..length.div_ceil(LONGEST) {
            let at = old.take(LONGEST).unwrap();
            old.run_mut(at, LONGEST).fill(7);
        }
        let second = old.bytes_reached() - CHUNK_BYTES;
        old.start_anew();
        assert_eq!((spare.bytes(), old.chunks.len(), old.in_use), (second, 1, 0));
        assert_eq!((old.bytes_reached(), old.bytes_given_back()), (size_of::<u32>(), 0));
        let new = Pool::<[u32; 2]>::new(spare.clone());
        assert_eq!((spare.bytes(), new.chunks.len()), (0, 1), "the second chunk changes its owner");
        // And what has no owner yet is freed.
        for _ in 0..length.div_ceil(LONGEST) {
            old.take(LONGEST).unwrap();
        }
        old.start_anew();
        assert_eq!(spare.bytes(), second);
        spare.free();
        assert_eq!(spare.bytes(), 0);
    }

    /// The pieces of the first chunk that are asked for, and those of a second one.
    const TWO_CHUNKS: usize = 12 + PIECES;

    /// Takes runs of `len` items until there is no more.
    fn fill(pool: &mut Pool<u32>, len: usize) -> Vec<u32> {
        std::iter::from_fn(|| pool.take(len)).collect()
    }

    #[test]
    fn without_memory_for_a_chunk_a_pool_keeps_its_size() {
        let mut pool = Pool::<u32>::new(Spare::with_pieces_left(TWO_CHUNKS));
        let runs = fill(&mut pool, 100);
        let chunk = CHUNK_BYTES / size_of::<u32>();
        assert_eq!((pool.chunks.len(), runs.len()), (2, (chunk - 1) / 100 + chunk / 100));
        assert_eq!((pool.bytes_most(), pool.is_refused()), (2 * CHUNK_BYTES, true));
        // The ends of the chunks are shorter; they are still of use.
        assert!(pool.take(10).is_some() && pool.take(101).is_none());
        pool.give(runs[7], 100);
        assert_eq!((pool.take(101), pool.take(60), pool.take(60)), (None, Some(runs[7]), None), "a longer run is cut");
    }

    #[test]
    fn memory_may_end_within_a_chunk() {
        let mut pool = Pool::<u32>::new(Spare::with_pieces_left(3));
        let runs = fill(&mut pool, 100);
        let bytes = FIRST_BYTES + 3 * PIECE_BYTES;
        assert_eq!((pool.chunks.len(), runs.len()), (1, (bytes / size_of::<u32>() - 1) / 100));
        assert_eq!((pool.bytes_most(), pool.is_refused()), (bytes, true));
        pool.ask_again();
        assert_eq!((pool.take(100), pool.is_refused()), (None, true));
    }

    #[test]
    fn a_pool_that_starts_anew_does_not_ask_for_what_it_has() {
        let mut pool = Pool::<u32>::new(Spare::with_pieces_left(TWO_CHUNKS));
        let runs = fill(&mut pool, 100);
        for _ in 0..2 {
            pool.start_anew();
            assert!(!pool.is_refused());
            assert_eq!(fill(&mut pool, 100), runs, "both chunks again, though the system has no more");
        }
    }

    #[test]
    fn free_runs_side_by_side_are_joined() {
        let mut pool = Pool::<u32>::new(Spare::with_pieces_left(TWO_CHUNKS));
        let runs = fill(&mut pool, 8);
        let (first, chunk) = (runs[0], (CHUNK_BYTES / size_of::<u32>()) as u32);
        let across = runs.iter().position(|run| *run == chunk).unwrap();
        for run in [0, 2, 3, 4, 6, across - 1, across] {
            pool.give(runs[run], 8);
        }
        assert_eq!(pool.take(24), None);
        pool.join_free();
        assert_eq!(pool.take(24), Some(first + 16));
        assert_eq!((pool.take(16), pool.bytes_given_back() / size_of::<u32>()), (None, 4 * 8 + 7 + 8 - 8));
        for run in [0, 6, across - 1, across] {
            let at = pool.take(8).unwrap();
            assert!([0, 6, across - 1, across].iter().any(|run| runs[*run] == at), "{run}: {at}");
        }
    }

    proptest! {
        /// No two runs overlap, none crosses a chunk, and the count is right, after any runs taken and given back.
        #[test]
        fn runs_never_overlap(steps in prop::collection::vec((any::<bool>(), 1..=LONGEST, any::<prop::sample::Index>()), 1..800)) {
            let mut pool = Pool::<u32>::new(Spare::default());
            let mut held: Vec<(u32, usize, u32)> = Vec::new();
            for (mark, (give, len, which)) in steps.into_iter().enumerate() {
                if give && !held.is_empty() {
                    let (at, len, _) = held.swap_remove(which.index(held.len()));
                    pool.give(at, len);
                } else {
                    let at = pool.take(len).unwrap();
                    pool.run_mut(at, len).fill(mark as u32);
                    held.push((at, len, mark as u32));
                }
            }
            for (at, len, mark) in &held {
                prop_assert!(pool.run(*at, *len).iter().all(|word| word == mark));
            }
            prop_assert_eq!(pool.listed, pool.free.iter().map(Vec::capacity).sum::<usize>() * size_of::<u32>());
            prop_assert_eq!(pool.in_use, held.iter().map(|run| run.1).sum::<usize>());
        }
    }
}
