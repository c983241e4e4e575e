//! Checks the pool: runs, chunks and what happens without memory.

use super::super::chunks::PIECES;
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
