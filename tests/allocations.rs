//! Counts the allocations of an evaluation through ONNX Runtime: a steady run makes none.
#![allow(clippy::unwrap_used, reason = "a test")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use zeitnot_engine::backend::{self, BackendSettings, Query};
use zeitnot_engine::chess::Game;
use zeitnot_engine::network::Network;
use zeitnot_engine::network::testing::random_network;
use zeitnot_engine::runtime;

/// The system's allocator, which counts what each thread asks it for.
struct Counting;

thread_local! {
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call goes on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as the caller's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The answer itself is all that is left: one list of evaluations, and the logits of each.
#[test]
fn a_steady_run_allocates_nothing_but_its_answer() {
    runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let network = Network::from_bytes(&random_network(1, 2, 16), "tiny.pb.gz").unwrap();
    for planes in ["dense", "packed"] {
        let device = format!("planes={planes}").parse().unwrap();
        let options = BackendSettings { cache_size: 0, device, ..BackendSettings::default() };
        let backend = backend::create("onnxruntime", Some(&network), &options).unwrap();
        let mut game = Game::new();
        let mut queries = Vec::new();
        for text in ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "g8f6", "f3g5", "d7d5"] {
            game.push_uci(text).unwrap();
            queries.push(Query::new(&game, &game.current().legal_moves(), backend.attributes()));
        }
        let mut evaluator = backend.evaluator().unwrap();
        // The first run of a size makes its buffers.
        for size in [1, 2, 4, 8] {
            evaluator.evaluate(&queries[..size]).unwrap();
        }
        for size in [1, 2, 4, 8] {
            let before = COUNT.get();
            let answers = evaluator.evaluate(&queries[..size]).unwrap();
            assert_eq!(COUNT.get() - before, 1 + answers.len(), "{planes}, a batch of {size}");
        }
    }
}
