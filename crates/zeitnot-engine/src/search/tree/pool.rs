//! Allocates the memory of the tree: runs of equal items in large chunks, addressed by 32 bits.
//!
//! The general allocator adds 8 to 16 bytes to each of the small pieces a tree is made of, and each address of a piece
//! takes 8 more. Here a run, a row of items taken and freed together, costs its items alone; a freed run is kept for
//! another of its length, and a whole tree is freed chunk by chunk. A tree takes and gives runs of each length in much
//! the same proportions, so little is wasted; longer runs are cut only when much is free of lengths that are not asked
//! for, as after a change from a middlegame to an endgame. Cutting at every need would leave only short runs in the
//! end.

use super::chunks::{CHUNK_BYTES, PIECE_BYTES, Spare, new_chunk};
use bytemuck::Pod;
use memmap2::MmapMut;
use std::alloc::{Layout, handle_alloc_error};
use std::marker::PhantomData;

/// Bytes that a pool may use without asking the system for memory: the nodes that the visits of a batch pass have to
/// fit in any case.
const FIRST_BYTES: usize = CHUNK_BYTES / 4;

/// A longer free run is cut to the wanted length when more than 1 / `CUTTING_FROM` of the pool is free.
const CUTTING_FROM: usize = 4;

/// Items of the longest run: the body of a node with as many moves as are kept takes 262 words.
const LONGEST: usize = 511;

/// Items that 32 bits can address.
const ADDRESSES: usize = u32::MAX as usize;

/// An allocator of runs of 1 to [`LONGEST`] items. Item 0 is never given out, so that address 0 can stand for none.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    chunks: Vec<MmapMut>,
    /// Source of chunks.
    spare: Spare,
    /// The first item never given out.
    top: usize,
    /// The first item whose memory the system has not granted yet.
    granted: usize,
    /// The items that the pool is meant to hold; its user keeps to this number.
    pub most: usize,
    /// Whether the system had no memory for another piece. It is not asked again until [`Pool::ask_again`].
    is_refused: bool,
    /// Free runs by length.
    free: Vec<Vec<u32>>,
    /// Bit `n` is set when `free[n]` holds something.
    lengths: [u64; LONGEST / 64 + 1],
    /// Number of items given out.
    in_use: usize,
    /// Bytes that the lists of free runs themselves take.
    listed: usize,
    items: PhantomData<T>,
}

impl<T: Pod> Pool<T> {
    /// Items of a chunk, as a power of two.
    const CHUNK_BITS: u32 = (CHUNK_BYTES / size_of::<T>()).ilog2();
    const CHUNK: usize = 1 << Self::CHUNK_BITS;
    /// Items of a piece.
    const PIECE: usize = PIECE_BYTES / size_of::<T>();

    /// An empty pool with one chunk, which takes its chunks from `spare` before it asks the system. Without memory for
    /// the first the process ends, as it does in every other place without memory.
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

    /// Bytes that the lists of free runs themselves take.
    pub(crate) fn bytes_listed(&self) -> usize {
        self.listed
    }

    /// Bytes of the runs that were given back and are free.
    pub(crate) fn bytes_given_back(&self) -> usize {
        (self.top - 1 - self.in_use) * size_of::<T>()
    }

    /// Bytes of the items that the pool is meant to hold, or can hold where the system has refused another piece.
    pub(crate) fn bytes_most(&self) -> usize {
        let most = if self.is_refused { self.most.min(self.granted) } else { self.most };
        most.saturating_mul(size_of::<T>())
    }

    /// Whether the system has refused another piece.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// Lets the pool ask the system again for its next chunk: another program may have ended since.
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

    /// The address of a run of `len` items with any content: a free run of that length, a part of a longer one, or a
    /// new one. `None` when there is none and no memory for a new one.
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

    /// Takes a run of `len` items from the start of a free run of `longer` items.
    fn take_from(&mut self, longer: usize, len: usize) -> u32 {
        let at = self.pop(longer);
        if longer > len {
            self.push(at + len as u32, longer - len);
        }
        self.in_use += len;
        at
    }

    /// Grants a piece of the last chunk, or adds a chunk, in which the next new run then begins: no run crosses chunks.
    /// Returns whether it could. Once the system has refused, it is not asked again, and the pool keeps its size.
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

    /// Joins free runs that lie side by side. That looks at all of them, so it is for a pool that cannot grow and has
    /// no run of the length wanted.
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

    /// The length of the free run to take a run of `len` items from; `None` where a new run is to be made instead.
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

#[cfg(test)]
#[path = "pool_tests.rs"]
mod tests;
