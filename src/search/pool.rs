//! Memory of the tree: runs of equal items in large chunks, addressed by 32 bits.
//!
//! The general allocator adds 8 to 16 bytes to each of the small pieces a tree is made of, and an address of it takes 8
//! more wherever it is kept. Here a run costs its items alone, a freed one is kept for another of its length, and a whole
//! tree is freed chunk by chunk. A tree takes and gives runs of each length in much the same proportions, so that this
//! wastes little; longer runs are cut only when much is free of other lengths than are asked for, as after a change from
//! a middlegame to an endgame. Cutting at every need would leave nothing but short runs in the end.
//!
//! A chunk is mapped from the system, which gives it memory page by page as it is first written, in huge pages where there
//! are any: a large tree has more small pages than the processor knows the addresses of.

use bytemuck::Pod;
use memmap2::MmapMut;
use parking_lot::Mutex;
use std::alloc::{Layout, handle_alloc_error};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a chunk.
const CHUNK_BYTES: usize = 32 << 20;

/// Longer runs are cut when one part in so many of the pool is free.
const CUTTING_FROM: usize = 4;

/// The longest run: the body of a node with as many moves as are kept takes 262 words.
const LONGEST: usize = 511;

/// Items that 32 bits can address.
const ADDRESSES: usize = u32::MAX as usize;

/// Chunks of trees that were given up. A thread frees them, and who needs a chunk meanwhile takes one of these, so that
/// the old tree and the new one never take more memory than the larger of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare(Arc<SpareChunks>);

#[derive(Debug, Default)]
struct SpareChunks {
    /// With the bytes of each that were ever written.
    chunks: Mutex<Vec<(MmapMut, usize)>>,
    /// The sum of those; it counts a chunk until the system has it back.
    bytes: AtomicUsize,
}

impl Spare {
    pub fn bytes(&self) -> usize {
        self.0.bytes.load(Ordering::Relaxed)
    }

    fn add(&self, chunk: MmapMut, written: usize) {
        self.0.bytes.fetch_add(written, Ordering::Relaxed);
        self.0.chunks.lock().push((chunk, written));
    }

    /// A chunk, whatever it holds, and how much of it was written.
    fn take(&self) -> Option<(MmapMut, usize)> {
        let taken = self.0.chunks.lock().pop()?;
        self.0.bytes.fetch_sub(taken.1, Ordering::Relaxed);
        Some(taken)
    }

    /// Frees what there is.
    pub fn free(&self) {
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
pub(super) struct Pool<T> {
    chunks: Vec<MmapMut>,
    /// Where chunks are looked for before the system is asked.
    spare: Spare,
    /// The first item never given out.
    top: usize,
    /// Items before this one were written by an earlier tree.
    written: usize,
    /// The items that it is meant to hold; who takes them keeps to it.
    pub most: usize,
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

    /// An empty pool that takes chunks from `spare` as long as there are any.
    pub fn new(spare: Spare) -> Pool<T> {
        let free = (0..=LONGEST).map(|_| Vec::new()).collect();
        Pool {
            chunks: Vec::new(),
            spare,
            top: 1,
            written: 0,
            most: ADDRESSES,
            free,
            lengths: [0; _],
            in_use: 0,
            listed: 0,
            items: PhantomData,
        }
    }

    /// Gives the chunks up; the pool is of no use any more.
    pub fn retire(&mut self) {
        let written = self.written.max(self.top);
        for (index, chunk) in self.chunks.drain(..).enumerate() {
            let here = (written - index * Self::CHUNK).min(Self::CHUNK);
            self.spare.add(chunk, here * size_of::<T>());
        }
    }

    /// Bytes taken from the system: what was ever written, and the lists of what is free.
    pub fn bytes(&self) -> usize {
        self.top.max(self.written) * size_of::<T>() + self.listed
    }

    /// Bytes of the items that were ever given out.
    pub fn bytes_reached(&self) -> usize {
        self.top * size_of::<T>()
    }

    /// Bytes of the lists of what is free.
    pub fn bytes_listed(&self) -> usize {
        self.listed
    }

    /// Bytes of the runs that were given back.
    pub fn bytes_given_back(&self) -> usize {
        (self.top - 1 - self.in_use) * size_of::<T>()
    }

    /// Bytes that can be given out without new memory from the system.
    pub fn bytes_free(&self) -> usize {
        self.bytes_given_back() + self.written.saturating_sub(self.top) * size_of::<T>()
    }

    /// Bytes of the items that it is meant to hold.
    pub fn bytes_most(&self) -> usize {
        self.most.saturating_mul(size_of::<T>())
    }

    /// Items given out.
    #[cfg(test)]
    pub fn in_use(&self) -> usize {
        self.in_use
    }

    /// Whether a run of `len` items can be had without new memory from the system.
    pub fn has_free(&self, len: usize) -> bool {
        self.free_for(len).is_some()
    }

    /// A run of `len` items, whatever they hold: a free one of that length, a piece of a longer one, or a new one.
    pub fn take(&mut self, len: usize) -> u32 {
        let free = self.free_for(len);
        self.in_use += len;
        if let Some(longer) = free {
            let at = self.pop(longer);
            if longer > len {
                self.push(at + len as u32, longer - len);
            }
            return at;
        }
        let left = (self.chunks.len() * Self::CHUNK).saturating_sub(self.top);
        if left < len {
            // A run does not cross chunks.
            if left > 0 {
                self.push(self.top as u32, left);
            }
            self.top = (self.chunks.len() * Self::CHUNK).max(self.top);
            let (chunk, written) = self.spare.take().unwrap_or_else(|| (chunk(), 0));
            self.written = self.chunks.len() * Self::CHUNK + written / size_of::<T>();
            self.chunks.push(chunk);
        }
        let at = u32::try_from(self.top).expect("the tree forgets long before 2^32 items are reached: Tree::make_room");
        self.top += len;
        at
    }

    /// Gives a run back.
    pub fn give(&mut self, at: u32, len: usize) {
        self.in_use -= len;
        self.push(at, len);
    }

    pub fn run(&self, at: u32, len: usize) -> &[T] {
        &self.chunk(at)[at as usize & (Self::CHUNK - 1)..][..len]
    }

    pub fn run_mut(&mut self, at: u32, len: usize) -> &mut [T] {
        &mut self.chunk_mut(at)[at as usize & (Self::CHUNK - 1)..][..len]
    }

    #[inline]
    pub fn item(&self, at: u32) -> &T {
        &self.chunk(at)[at as usize & (Self::CHUNK - 1)]
    }

    #[inline]
    pub fn item_mut(&mut self, at: u32) -> &mut T {
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
            free.push(at);
            self.listed += (free.capacity() - before) * size_of::<u32>();
            self.lengths[piece / 64] |= 1 << (piece % 64);
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

/// A new chunk, all zero. Without memory for it the process ends, as it does wherever else there is none.
fn chunk() -> MmapMut {
    let Ok(map) = MmapMut::map_anon(CHUNK_BYTES) else { handle_alloc_error(Layout::new::<[u8; CHUNK_BYTES]>()) };
    #[cfg(target_os = "linux")]
    if let Err(error) = map.advise(memmap2::Advice::HugePage) {
        tracing::debug!(%error, "no huge pages for the tree");
    }
    map
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_free_run_is_used_again_whole_or_in_pieces() {
        let mut pool = Pool::<u32>::new(Spare::default());
        let run = pool.take(10);
        assert_ne!(run, 0);
        pool.give(run, 10);
        assert_eq!(pool.take(10), run);
        pool.give(run, 10);
        assert_eq!((pool.take(4), pool.take(6)), (run, run + 4));
        assert_eq!((pool.bytes_free(), pool.in_use, pool.chunks.len()), (0, 10, 1));
    }

    #[test]
    fn chunks_given_up_are_used_again_before_they_are_freed() {
        let spare = Spare::default();
        let mut old = Pool::<u32>::new(spare.clone());
        let length = CHUNK_BYTES / size_of::<u32>() + 5 * LONGEST;
        for _ in 0..length.div_ceil(LONGEST) {
            let at = old.take(LONGEST);
            old.run_mut(at, LONGEST).fill(7);
        }
        let taken = old.bytes_reached();
        old.retire();
        assert_eq!((spare.bytes(), old.chunks.len()), (taken, 0));
        let mut new = Pool::<[u32; 2]>::new(spare.clone());
        new.take(1);
        assert_eq!(spare.bytes() + new.bytes(), taken, "the last chunk changes its owner");
        assert_eq!(new.bytes_free() + 2 * size_of::<[u32; 2]>(), new.bytes(), "all but runs 0 and 1 are free");
        spare.free();
        assert_eq!(spare.bytes(), 0);
        let listed = new.free.iter().map(Vec::capacity).sum::<usize>() * size_of::<u32>();
        assert_eq!(new.listed, listed);
    }

    proptest! {
        /// Whatever is taken and given back: no two runs overlap, none crosses a chunk, and the count is right.
        #[test]
        fn runs_never_overlap(steps in prop::collection::vec((any::<bool>(), 1..=LONGEST, any::<prop::sample::Index>()), 1..800)) {
            let mut pool = Pool::<u32>::new(Spare::default());
            let mut held: Vec<(u32, usize, u32)> = Vec::new();
            for (mark, (give, len, which)) in steps.into_iter().enumerate() {
                if give && !held.is_empty() {
                    let (at, len, _) = held.swap_remove(which.index(held.len()));
                    pool.give(at, len);
                } else {
                    let at = pool.take(len);
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
