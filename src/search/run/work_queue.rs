//! Queues the batches of a search between one worker and the next.
//!
//! Half of the time of a batch needs the tree: selection and backup. One worker that does them for all batches keeps the
//! tree in the caches of its processor; with a lock that goes round, half of the time is spent on fetching from the other
//! processor the lines that it has just written. So there are two queues: batches that need the tree, and batches that need
//! a worker alone (leaf extension, the network). One worker at a time owns the tree, until the first queue is empty.

use crate::search::gather::batch::Batch;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Looks at the desk before the operating system is asked to wait: some 300 microseconds. Falling asleep
/// and waking up again take longer than a batch of a costless network does.
const LOOKS: u32 = 10_000;

/// The next stage of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The tree: to be gathered.
    Fresh,
    /// A worker: to extend its leaves.
    Extend,
    /// The tree: some leaves can be backed up, which frees their places.
    BackUpOutOfOrder,
    /// A worker: to ask the network.
    Evaluate,
    /// The tree.
    BackUp,
}

impl Stage {
    fn needs_tree(self) -> bool {
        matches!(self, Stage::Fresh | Stage::BackUpOutOfOrder | Stage::BackUp)
    }
}

/// A batch on its round.
pub(crate) struct QueuedBatch {
    pub batch: Batch,
    pub stage: Stage,
    /// Whether some of it was backed up while it was gathered.
    pub progress: bool,
    /// The time that the network took for it, in milliseconds.
    pub took_ms: f64,
    /// Why the network did not answer.
    pub error: Option<String>,
}

/// The next task of a worker.
pub(crate) enum Task {
    /// It has the tree, until [`WorkQueue::give_tree_back`].
    Tree,
    Batch(Box<QueuedBatch>),
    Leave,
}

struct Piles {
    for_tree: VecDeque<Box<QueuedBatch>>,
    for_workers: VecDeque<Box<QueuedBatch>>,
    /// Batches for which there was nothing to gather, until another one is backed up.
    #[allow(clippy::vec_box, reason = "batches go from pile to pile as they are")]
    parked: Vec<Box<QueuedBatch>>,
    tree_taken: bool,
    last_owner: usize,
    closed: bool,
}

pub(crate) struct WorkQueue {
    piles: Mutex<Piles>,
    batches: usize,
    changed: Condvar,
    /// Counts the changes, for workers that spin.
    changes: AtomicU64,
}

impl WorkQueue {
    /// A queue with `batches` batches.
    pub fn new(batches: usize) -> WorkQueue {
        let fresh = |_| {
            let batch = Batch::default();
            Box::new(QueuedBatch { batch, stage: Stage::Fresh, progress: false, took_ms: 0.0, error: None })
        };
        let piles = Piles {
            for_tree: (0..batches).map(fresh).collect(),
            for_workers: VecDeque::new(),
            parked: Vec::new(),
            tree_taken: false,
            last_owner: 0,
            closed: false,
        };
        WorkQueue { piles: Mutex::new(piles), batches, changed: Condvar::new(), changes: AtomicU64::new(0) }
    }

    /// The next task of `worker`; `None` when there was nothing for it within `patience`. `awake`: it looks out for work for a
    /// while before it goes to sleep.
    pub fn next(&self, worker: usize, awake: bool, patience: Duration) -> Option<Task> {
        let mut seen = self.changes.load(Ordering::Acquire);
        for look in 0..if awake { LOOKS } else { 1 } {
            let now = self.changes.load(Ordering::Acquire);
            if look == 0 || now != seen {
                seen = now;
                if let Some(task) = WorkQueue::choose(&mut self.piles.lock(), worker) {
                    return Some(task);
                }
            }
            std::hint::spin_loop();
        }
        let mut piles = self.piles.lock();
        let mut task = WorkQueue::choose(&mut piles, worker);
        if task.is_none() {
            self.changed.wait_for(&mut piles, patience);
            task = WorkQueue::choose(&mut piles, worker);
        }
        task
    }

    fn choose(piles: &mut MutexGuard<Piles>, worker: usize) -> Option<Task> {
        if piles.closed {
            return Some(Task::Leave);
        }
        let stays = piles.last_owner == worker || piles.for_workers.is_empty();
        if !piles.tree_taken && stays && !piles.for_tree.is_empty() {
            (piles.tree_taken, piles.last_owner) = (true, worker);
            return Some(Task::Tree);
        }
        piles.for_workers.pop_front().map(Task::Batch)
    }

    /// Wakes all who wait, that they see what else has happened.
    pub fn wake(&self) {
        // With the lock, or one between its look and its sleep would miss it.
        let piles = self.piles.lock();
        self.change();
        drop(piles);
    }

    fn change(&self) {
        self.changes.fetch_add(1, Ordering::Release);
        self.changed.notify_all();
    }

    /// Adds a batch to the queue of its stage.
    pub fn put(&self, queued: Box<QueuedBatch>) {
        let mut piles = self.piles.lock();
        if queued.stage.needs_tree() {
            piles.for_tree.push_back(queued)
        } else {
            piles.for_workers.push_back(queued)
        }
        drop(piles);
        self.change();
    }

    /// The next batch for the worker that has the tree.
    pub fn take_for_tree(&self) -> Option<Box<QueuedBatch>> {
        self.piles.lock().for_tree.pop_front()
    }

    /// The worker that has the tree gives it up.
    pub fn release_tree(&self) {
        self.piles.lock().tree_taken = false;
        self.change();
    }

    /// Parks a batch for which there was nothing to gather. Returns whether all of them are parked now.
    pub fn park(&self, queued: Box<QueuedBatch>) -> bool {
        let mut piles = self.piles.lock();
        piles.parked.push(queued);
        piles.parked.len() == self.batches
    }

    /// Returns the parked batches to the queue.
    pub fn unpark_all(&self) {
        let mut piles = self.piles.lock();
        let Piles { for_tree, parked, .. } = &mut *piles;
        for_tree.extend(parked.drain(..));
    }

    /// Tells all workers to leave.
    pub fn close(&self) {
        self.piles.lock().closed = true;
        self.change();
    }

    /// Takes any batch out of the queues.
    pub fn clear(&self) -> Option<Box<QueuedBatch>> {
        let mut piles = self.piles.lock();
        let Piles { for_tree, for_workers, parked, .. } = &mut *piles;
        for_tree.pop_front().or_else(|| for_workers.pop_front()).or_else(|| parked.pop())
    }
}

#[cfg(test)]
#[path = "work_queue_tests.rs"]
mod tests;
