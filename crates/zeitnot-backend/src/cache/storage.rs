//! Stores evaluations by key: shards under locks of their own, each replaced by the CLOCK rule when it is full.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crossbeam::utils::CachePadded;
use parking_lot::Mutex;

use crate::{CacheStatistics, Evaluation, EvaluationCache};
use zeitnot_base::memory;

/// Shards of a large cache: enough that workers seldom wait for each other's lock.
const SHARDS: usize = 64;
/// The least positions of a shard: in smaller shards, the unevenness of hashing would show.
const SMALLEST_SHARD: usize = 1024;
/// Bytes by which a cache grows before it asks the system again whether there is more memory. They are few, because an
/// allocator that has run out of its own memory takes a page for each evaluation, twenty times the bytes counted here.
const GROWTH_BETWEEN_QUESTIONS: usize = 1 << 20;
/// Interval, in questions about memory, at which the system's account of free memory is checked as well.
const QUESTIONS_BETWEEN_ACCOUNTS: usize = memory::GROWTH / GROWTH_BETWEEN_QUESTIONS;

/// Hasher that takes the bits of keys as they are, for they are hashes already.
pub(super) type KeyHasher = BuildHasherDefault<TakeKey>;

#[derive(Default)]
pub(super) struct TakeKey(u64);

impl Hasher for TakeKey {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Evaluations by key, for many threads.
pub(super) struct Cache {
    /// Shards, each on cache lines of its own, so that workers do not wait for a neighbour's.
    shards: Box<[CachePadded<Mutex<Shard>>]>,
    /// Bytes that the shards take: a search with a memory limit reads them at every round, every insertion writes them.
    bytes: CachePadded<AtomicUsize>,
    /// Whether the system has memory for more: [`memory::has_headroom`], or a stand-in in tests. The argument: whether
    /// to check the system's account of free memory as well.
    has_headroom: fn(bool) -> bool,
    /// Size of the cache, in bytes, at which the system is asked again whether there is more memory.
    asks_from: AtomicUsize,
    /// Whether memory ran out, which holds until the cache is emptied.
    is_short: AtomicBool,
}

impl Cache {
    pub(super) fn new(capacity: usize, has_headroom: fn(bool) -> bool) -> Cache {
        let count = (capacity / SMALLEST_SHARD).clamp(1, SHARDS);
        // The shares differ by at most one and add up to the whole.
        let share = |index: usize| capacity / count + usize::from(index < capacity % count);
        let shards = (0..count).map(|index| CachePadded::new(Mutex::new(Shard::new(share(index))))).collect();
        let (asks_from, is_short) = (AtomicUsize::new(0), AtomicBool::new(false));
        Cache { shards, bytes: CachePadded::new(AtomicUsize::new(0)), has_headroom, asks_from, is_short }
    }

    fn shard(&self, key: u64) -> &Mutex<Shard> {
        // From the middle of the key: the index within a shard uses its ends.
        &self.shards[(key >> 24) as u32 as usize % self.shards.len()]
    }

    /// The evaluation under a key; `None` if there is none, or its number of logits is not `logits` where that is
    /// given.
    pub(super) fn find(&self, key: u64, logits: Option<usize>) -> Option<Evaluation> {
        self.shard(key).lock().get(key, logits)
    }

    pub(super) fn insert(&self, key: u64, evaluation: Evaluation) {
        let may_grow = self.may_grow();
        let mut shard = self.shard(key).lock();
        let before = shard.bytes();
        let replaced = shard.insert(key, evaluation, may_grow);
        self.count(before, shard.bytes());
        // What is replaced is freed when the lock is no longer held.
        drop(shard);
        drop(replaced);
    }

    /// Whether the shards may take more memory; the system is asked now and then.
    fn may_grow(&self) -> bool {
        let bytes = self.bytes.load(Ordering::Relaxed);
        if bytes >= self.asks_from.load(Ordering::Relaxed) && !self.is_short.load(Ordering::Relaxed) {
            self.asks_from.store(bytes + GROWTH_BETWEEN_QUESTIONS, Ordering::Relaxed);
            let with_account = (bytes / GROWTH_BETWEEN_QUESTIONS).is_multiple_of(QUESTIONS_BETWEEN_ACCOUNTS);
            self.is_short.store(!(self.has_headroom)(with_account), Ordering::Relaxed);
        }
        !self.is_short.load(Ordering::Relaxed)
    }

    /// Adds to the sum of bytes the difference between what a shard takes now and took before.
    fn count(&self, before: usize, now: usize) {
        // Sums that wrap around come out right in the end.
        self.bytes.fetch_add(now.wrapping_sub(before), Ordering::Relaxed);
    }
}

impl EvaluationCache for Cache {
    fn get(&self, key: u64) -> Option<Evaluation> {
        self.find(key, None)
    }

    fn fill(&self) -> u32 {
        let CacheStatistics { positions, capacity, .. } = self.statistics();
        let permille = (positions as u64 * 1000).checked_div(capacity as u64).unwrap_or(0);
        permille as u32
    }

    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    fn clear(&self) {
        let forget = |shard: &CachePadded<Mutex<Shard>>| {
            let mut shard = shard.lock();
            let before = shard.bytes();
            let fresh = Shard::new(shard.capacity);
            let old = std::mem::replace(&mut *shard, fresh);
            self.count(before, shard.bytes());
            old
        };
        let old: Vec<Shard> = self.shards.iter().map(forget).collect();
        self.asks_from.store(0, Ordering::Relaxed);
        self.is_short.store(false, Ordering::Relaxed);
        // Millions of evaluations take half a second to free, and the clock of a move may start meanwhile. Where there
        // is no thread to be had they are freed here.
        let _ = std::thread::Builder::new().name("free".to_owned()).spawn(move || drop(old));
    }

    fn statistics(&self) -> CacheStatistics {
        let mut total = CacheStatistics::default();
        for shard in &self.shards {
            let shard = shard.lock();
            total.positions += shard.slots.len();
            total.capacity += shard.most;
            total.hits += shard.hits;
            total.misses += shard.misses;
        }
        total
    }
}

/// A part of the cache under one lock. A full shard replaces by the CLOCK rule (second chance): a hand goes round the
/// slots, spares each slot that was asked for since it last came by, and replaces the first other slot. Each spared
/// slot has had a hit to pay for it, so the cost is constant on average.
struct Shard {
    capacity: usize,
    /// The most slots: the capacity, or the number of slots when memory became short.
    most: usize,
    index: HashMap<u64, u32, KeyHasher>,
    slots: Vec<Slot>,
    hand: usize,
    hits: u64,
    misses: u64,
    /// Number of logits in all slots.
    logits: usize,
}

/// Bytes that an allocation takes beyond those asked for, as is usual for general allocators.
const ALLOCATION: usize = 16;

pub(super) struct Slot {
    key: u64,
    evaluation: Evaluation,
    /// Whether the slot was asked for since the hand last came by.
    recent: bool,
}

impl Shard {
    fn new(capacity: usize) -> Shard {
        // The index holds slots as u32; no machine has the memory for more.
        let capacity = capacity.min(u32::MAX as usize);
        let (index, slots) = (HashMap::default(), Vec::new());
        Shard { capacity, most: capacity, index, slots, hand: 0, hits: 0, misses: 0, logits: 0 }
    }

    fn get(&mut self, key: u64, logits: Option<usize>) -> Option<Evaluation> {
        let slot = &mut self.slots[*self.index.get(&key)? as usize];
        if logits.is_some_and(|count| count != slot.evaluation.logits.len()) {
            return None;
        }
        self.hits += 1;
        slot.recent = true;
        Some(slot.evaluation.clone())
    }

    /// Memory of the shard in bytes. An entry of the index has a byte of control beside it.
    fn bytes(&self) -> usize {
        let index = self.index.capacity() * (size_of::<(u64, u32)>() + 1);
        let logits = self.logits * size_of::<f32>() + self.slots.len() * ALLOCATION;
        index + self.slots.capacity() * size_of::<Slot>() + logits
    }

    fn insert(&mut self, key: u64, evaluation: Evaluation, may_grow: bool) -> Option<Evaluation> {
        let added = evaluation.logits.len();
        if self.slots.len() < self.most && !(may_grow && self.can_grow()) {
            self.most = self.slots.len();
        }
        let (before, replaced) = (self.slots.len(), self.place(key, evaluation));
        if self.slots.len() > before || replaced.is_some() {
            self.logits += added;
            self.logits -= replaced.as_ref().map_or(0, |old| old.logits.len());
        }
        replaced
    }

    /// Whether there is memory for another slot. The tables of a large shard double, which may take more than is free.
    fn can_grow(&mut self) -> bool {
        self.slots.try_reserve(1).is_ok() && self.index.try_reserve(1).is_ok()
    }

    /// Puts an evaluation into a slot, and returns the evaluation that it replaces, or itself if the index cannot grow.
    fn place(&mut self, key: u64, evaluation: Evaluation) -> Option<Evaluation> {
        self.misses += 1;
        if let Some(&place) = self.index.get(&key) {
            // Another worker was faster, or two positions share a key: the newer stays.
            return Some(std::mem::replace(&mut self.slots[place as usize].evaluation, evaluation));
        }
        let slot = Slot { key, evaluation, recent: false };
        if self.slots.len() < self.most {
            self.index.insert(key, self.slots.len() as u32);
            self.slots.push(slot);
            return None;
        }
        if self.most == 0 {
            return None;
        }
        // An index in which much was replaced is made anew, now and then in a larger place.
        if self.index.try_reserve(1).is_err() {
            return Some(slot.evaluation);
        }
        while std::mem::take(&mut self.slots[self.hand].recent) {
            self.hand = (self.hand + 1) % self.most;
        }
        let old = std::mem::replace(&mut self.slots[self.hand], slot);
        self.index.remove(&old.key);
        self.index.insert(key, self.hand as u32);
        self.hand = (self.hand + 1) % self.most;
        Some(old.evaluation)
    }
}
