//! What the desk promises to the workers of a search, whoever of them comes first.

use super::*;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// Longer than any test: whoever waits so long was forgotten.
const FOR_EVER: Duration = Duration::from_secs(100_000);
const NOW: Duration = Duration::ZERO;

fn batch(task: Option<Task>) -> Box<Job> {
    match task {
        Some(Task::Batch(job)) => job,
        _ => panic!("a batch was expected"),
    }
}

fn takes_tree(desk: &Desk, worker: usize) -> bool {
    matches!(desk.next(worker, false, NOW), Some(Task::Tree))
}

fn put(desk: &Desk, mut job: Box<Job>, stage: Stage) {
    job.stage = stage;
    desk.put(job);
}

#[test]
fn one_worker_goes_round_without_waiting() {
    let desk = Desk::new(1);
    for _ in 0..100 {
        assert!(takes_tree(&desk, 0));
        put(&desk, desk.take_for_tree().unwrap(), Stage::Classify);
        assert!(desk.take_for_tree().is_none());
        desk.give_tree_back();
        put(&desk, batch(desk.next(0, true, FOR_EVER)), Stage::Evaluate);
        let job = batch(desk.next(0, true, FOR_EVER));
        // All there is lies in its hands.
        assert!(desk.next(0, true, NOW).is_none());
        put(&desk, job, Stage::BackUp);
    }
}

#[test]
fn batches_are_taken_in_the_order_in_which_they_were_laid_down() {
    let desk = Desk::new(3);
    assert!(takes_tree(&desk, 0));
    for number in 0..3 {
        let mut job = desk.take_for_tree().unwrap();
        job.took_ms = f64::from(number);
        put(&desk, job, Stage::Evaluate);
    }
    desk.give_tree_back();
    for number in 0..3 {
        let job = batch(desk.next(1, false, NOW));
        assert_eq!(job.took_ms, f64::from(number));
        put(&desk, job, Stage::BackUp);
    }
    assert!(takes_tree(&desk, 1));
    for number in 0..3 {
        assert_eq!(desk.take_for_tree().unwrap().took_ms, f64::from(number));
    }
}

#[test]
fn the_tree_stays_with_one_worker_unless_another_has_nothing_else_to_do() {
    let desk = Desk::new(4);
    assert!(takes_tree(&desk, 0));
    assert!(desk.next(1, false, NOW).is_none(), "one worker at a time has the tree");
    for _ in 0..2 {
        put(&desk, desk.take_for_tree().unwrap(), Stage::Classify);
    }
    desk.give_tree_back();
    // Both piles have something: the last owner gets the tree, the other one batches, and then the tree.
    put(&desk, batch(desk.next(1, false, NOW)), Stage::Settle);
    assert!(takes_tree(&desk, 0));
    desk.give_tree_back();
    batch(desk.next(1, false, NOW));
    assert!(takes_tree(&desk, 1));
    desk.give_tree_back();
    assert!(takes_tree(&desk, 1));
}

#[test]
fn resting_batches_come_back_when_they_are_roused() {
    let desk = Desk::new(2);
    assert!(takes_tree(&desk, 0));
    let jobs = [desk.take_for_tree().unwrap(), desk.take_for_tree().unwrap()];
    let rested = jobs.map(|job| desk.rest(job));
    assert_eq!(rested, [false, true], "the last one says that all of them rest");
    assert!(desk.take_for_tree().is_none());
    desk.rouse();
    assert!(desk.take_for_tree().is_some() && desk.take_for_tree().is_some() && desk.take_for_tree().is_none());
}

#[test]
fn a_closed_desk_is_left_and_cleared() {
    let desk = Desk::new(4);
    assert!(takes_tree(&desk, 0));
    put(&desk, desk.take_for_tree().unwrap(), Stage::Evaluate);
    assert!(!desk.rest(desk.take_for_tree().unwrap()));
    desk.close();
    for worker in 0..3 {
        assert!(matches!(desk.next(worker, true, FOR_EVER), Some(Task::Leave)));
    }
    assert_eq!(std::iter::from_fn(|| desk.clear()).count(), 4);
}

/// Whether the worker sleeps or still looks out when something happens, it learns of it.
#[test]
fn who_sleeps_is_woken() {
    for awake in [false, true] {
        for round in 0..200 {
            let desk = Arc::new(Desk::new(1));
            assert!(takes_tree(&desk, 0));
            let job = desk.take_for_tree().unwrap();
            let sleeper = {
                let desk = Arc::clone(&desk);
                std::thread::spawn(move || {
                    loop {
                        // `wake` alone gives nothing to do.
                        if let Some(task) = desk.next(1, awake, FOR_EVER) {
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
                0 => desk.close(),
                1 => put(&desk, job, Stage::Evaluate),
                _ => {
                    desk.wake();
                    put(&desk, job, Stage::BackUp);
                    desk.give_tree_back();
                }
            }
            assert_eq!(sleeper.join().unwrap(), round % 3 == 0);
        }
    }
}

/// Workers that take and lay down as fast as they can: no batch is lost or doubled, and the tree has one owner at a time.
#[test]
fn nothing_is_lost_between_many_workers() {
    const WORKERS: usize = 4;
    const ROUNDS: usize = 3_000;
    let desk = Desk::new(WORKERS);
    let (owners, rounds) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (desk, owners, rounds) = (&desk, &owners, &rounds);
            scope.spawn(move || {
                let mut lately = false;
                loop {
                    let task = desk.next(worker, lately, FOR_EVER);
                    lately = task.is_some();
                    match task {
                        Some(Task::Leave) => break,
                        Some(Task::Batch(job)) => put(desk, job, Stage::BackUp),
                        Some(Task::Tree) => {
                            assert_eq!(owners.fetch_add(1, Ordering::SeqCst), 0);
                            while let Some(job) = desk.take_for_tree() {
                                if rounds.fetch_add(1, Ordering::SeqCst) == ROUNDS {
                                    desk.close();
                                }
                                if job.stage != Stage::BackUp {
                                    put(desk, job, Stage::Evaluate);
                                } else if desk.rest(job) {
                                    desk.rouse();
                                    put(desk, desk.take_for_tree().unwrap(), Stage::Evaluate);
                                }
                            }
                            owners.fetch_sub(1, Ordering::SeqCst);
                            desk.give_tree_back();
                        }
                        None => {}
                    }
                }
            });
        }
    });
    assert!(rounds.load(Ordering::SeqCst) >= ROUNDS);
    assert_eq!(std::iter::from_fn(|| desk.clear()).count(), WORKERS);
}
