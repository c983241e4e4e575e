//! Tests the work queue under every order of its workers.

use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// Longer than any test: a worker that waits as long was forgotten.
const FOR_EVER: Duration = Duration::from_secs(100_000);
const NOW: Duration = Duration::ZERO;

fn batch(task: Option<Task>) -> Box<QueuedBatch> {
    match task {
        Some(Task::Batch(queued)) => queued,
        _ => panic!("a batch was expected"),
    }
}

fn takes_tree(queue: &WorkQueue, worker: usize) -> bool {
    matches!(queue.next(worker, false, NOW), Some(Task::Tree))
}

fn put(queue: &WorkQueue, mut queued: Box<QueuedBatch>, stage: Stage) {
    queued.stage = stage;
    queue.put(queued);
}

#[test]
fn one_worker_goes_round_without_waiting() {
    let queue = WorkQueue::new(1);
    for _ in 0..100 {
        assert!(takes_tree(&queue, 0));
        put(&queue, queue.take_for_tree().unwrap(), Stage::Extend);
        assert!(queue.take_for_tree().is_none());
        queue.release_tree();
        put(&queue, batch(queue.next(0, true, FOR_EVER)), Stage::Evaluate);
        let queued = batch(queue.next(0, true, FOR_EVER));
        // All there is lies in its hands.
        assert!(queue.next(0, true, NOW).is_none());
        put(&queue, queued, Stage::BackUp);
    }
}

#[test]
fn batches_are_taken_in_the_order_in_which_they_were_laid_down() {
    let queue = WorkQueue::new(3);
    assert!(takes_tree(&queue, 0));
    for number in 0..3 {
        let mut queued = queue.take_for_tree().unwrap();
        queued.took_ms = f64::from(number);
        put(&queue, queued, Stage::Evaluate);
    }
    queue.release_tree();
    for number in 0..3 {
        let queued = batch(queue.next(1, false, NOW));
        assert_eq!(queued.took_ms, f64::from(number));
        put(&queue, queued, Stage::BackUp);
    }
    assert!(takes_tree(&queue, 1));
    for number in 0..3 {
        assert_eq!(queue.take_for_tree().unwrap().took_ms, f64::from(number));
    }
}

#[test]
fn the_tree_stays_with_one_worker_unless_another_has_nothing_else_to_do() {
    let queue = WorkQueue::new(4);
    assert!(takes_tree(&queue, 0));
    assert!(queue.next(1, false, NOW).is_none(), "one worker at a time has the tree");
    for _ in 0..2 {
        put(&queue, queue.take_for_tree().unwrap(), Stage::Extend);
    }
    queue.release_tree();
    // Both queues have something: the last owner gets the tree, the other one batches, and then the tree.
    put(&queue, batch(queue.next(1, false, NOW)), Stage::BackUpOutOfOrder);
    assert!(takes_tree(&queue, 0));
    queue.release_tree();
    batch(queue.next(1, false, NOW));
    assert!(takes_tree(&queue, 1));
    queue.release_tree();
    assert!(takes_tree(&queue, 1));
}

#[test]
fn resting_batches_come_back_when_they_are_roused() {
    let queue = WorkQueue::new(2);
    assert!(takes_tree(&queue, 0));
    let jobs = [queue.take_for_tree().unwrap(), queue.take_for_tree().unwrap()];
    let rested = jobs.map(|queued| queue.park(queued));
    assert_eq!(rested, [false, true], "the last one says that all of them rest");
    assert!(queue.take_for_tree().is_none());
    queue.unpark_all();
    assert!(queue.take_for_tree().is_some() && queue.take_for_tree().is_some() && queue.take_for_tree().is_none());
}

#[test]
fn a_closed_queue_is_left_and_cleared() {
    let queue = WorkQueue::new(4);
    assert!(takes_tree(&queue, 0));
    put(&queue, queue.take_for_tree().unwrap(), Stage::Evaluate);
    assert!(!queue.park(queue.take_for_tree().unwrap()));
    queue.close();
    for worker in 0..3 {
        assert!(matches!(queue.next(worker, true, FOR_EVER), Some(Task::Leave)));
    }
    assert_eq!(std::iter::from_fn(|| queue.clear()).count(), 4);
}

/// Whether the worker sleeps or still looks out when something happens, it learns of it.
#[test]
fn who_sleeps_is_woken() {
    for awake in [false, true] {
        for round in 0..200 {
            let queue = Arc::new(WorkQueue::new(1));
            assert!(takes_tree(&queue, 0));
            let queued = queue.take_for_tree().unwrap();
            let sleeper = {
                let queue = Arc::clone(&queue);
                std::thread::spawn(move || {
                    loop {
                        // `wake` alone gives nothing to do.
                        if let Some(task) = queue.next(1, awake, FOR_EVER) {
                            break matches!(task, Task::Leave);
                        }
                    }
                })
            };
            // At different moments of its falling asleep.
            for _ in 0..round * 50 {
                std::hint::spin_loop();
            }
            match round % 3 {
                0 => queue.close(),
                1 => put(&queue, queued, Stage::Evaluate),
                _ => {
                    queue.wake();
                    put(&queue, queued, Stage::BackUp);
                    queue.release_tree();
                }
            }
            assert_eq!(sleeper.join().unwrap(), round % 3 == 0);
        }
    }
}

/// Workers that take and lay down as fast as they can: no batch is lost or doubled, and the tree has one owner at a
/// time.
#[test]
fn nothing_is_lost_between_many_workers() {
    const WORKERS: usize = 4;
    const ROUNDS: usize = 3_000;
    let queue = WorkQueue::new(WORKERS);
    let (references, rounds) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (queue, references, rounds) = (&queue, &references, &rounds);
            scope.spawn(move || {
                let mut lately = false;
                loop {
                    let task = queue.next(worker, lately, FOR_EVER);
                    lately = task.is_some();
                    match task {
                        Some(Task::Leave) => break,
                        Some(Task::Batch(queued)) => put(queue, queued, Stage::BackUp),
                        Some(Task::Tree) => {
                            assert_eq!(references.fetch_add(1, Ordering::SeqCst), 0);
                            while let Some(queued) = queue.take_for_tree() {
                                if rounds.fetch_add(1, Ordering::SeqCst) == ROUNDS {
                                    queue.close();
                                }
                                if queued.stage != Stage::BackUp {
                                    put(queue, queued, Stage::Evaluate);
                                } else if queue.park(queued) {
                                    queue.unpark_all();
                                    put(queue, queue.take_for_tree().unwrap(), Stage::Evaluate);
                                }
                            }
                            references.fetch_sub(1, Ordering::SeqCst);
                            queue.release_tree();
                        }
                        None => {}
                    }
                }
            });
        }
    });
    assert!(rounds.load(Ordering::SeqCst) >= ROUNDS);
    assert_eq!(std::iter::from_fn(|| queue.clear()).count(), WORKERS);
}
