//! Queues the batches of a search for its workers.
//!
//! Half of the time of a batch needs the tree: selection and backup. One worker that does them for all batches keeps
//! the tree in the caches of its processor; with a lock that goes round, half of the time is spent on fetching from the
//! other processor the lines that it has just written. So there are two queues: batches that need the tree, and batches
//! that need a worker alone (leaf extension, the network). One worker at a time owns the tree, until the first queue is
//! empty.

use crate::search::gather::batch::Batch;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Number of looks at the queues before the operating system is asked to wait: some 300 microseconds. Falling asleep
/// and waking up again take longer than a batch of a costless network does.
const LOOKS: u32 = 10_000;

/// The next stage of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Needs the tree, to be gathered.
    Fresh,
    /// The batch waits for a worker that makes the queries of its leaves.
    Extend,
    /// Needs the tree: some leaves can be backed up, which frees their places.
    BackUpOutOfOrder,
    /// Needs a worker, to ask the network.
    Evaluate,
    /// Needs the tree, to be backed up.
    BackUp,
}

impl Stage {
    fn needs_tree(self) -> bool {
        matches!(self, Stage::Fresh | Stage::BackUpOutOfOrder | Stage::BackUp)
    }
}

/// A batch and what is known of it as it goes from stage to stage.
pub(crate) struct QueuedBatch {
    pub batch: Batch,
    pub stage: Stage,
    /// Whether a part of the batch was backed up while it was gathered.
    pub progress: bool,
    /// The time of the network for the batch, in milliseconds.
    pub took_ms: f64,
    /// Why the network did not answer.
    pub error: Option<String>,
}

/// The next task of a worker.
pub(crate) enum Task {
    /// Ownership of the tree, until [`WorkQueue::release_tree`].
    Tree,
    Batch(Box<QueuedBatch>),
    Leave,
}

struct Queues {
    for_tree: VecDeque<Box<QueuedBatch>>,
    for_workers: VecDeque<Box<QueuedBatch>>,
    /// Batches for which there was nothing to gather, until another one is backed up.
    #[allow(clippy::vec_box, reason = "batches go from queue to queue as they are")]
    parked: Vec<Box<QueuedBatch>>,
    tree_taken: bool,
    last_owner: usize,
    closed: bool,
}

pub(crate) struct WorkQueue {
    queues: Mutex<Queues>,
    batches: usize,
    changed: Condvar,
    /// Counts the changes, for workers that spin.
    changes: AtomicU64,
}

impl WorkQueue {
    /// A queue with `batches` batches.
    pub(crate) fn new(batches: usize) -> WorkQueue {
        let fresh = |_| {
            let batch = Batch::default();
            Box::new(QueuedBatch { batch, stage: Stage::Fresh, progress: false, took_ms: 0.0, error: None })
        };
        let queues = Queues {
            for_tree: (0..batches).map(fresh).collect(),
            for_workers: VecDeque::new(),
            parked: Vec::new(),
            tree_taken: false,
            last_owner: 0,
            closed: false,
        };
        WorkQueue { queues: Mutex::new(queues), batches, changed: Condvar::new(), changes: AtomicU64::new(0) }
    }

    /// The next task of `worker`; `None` when there was none for it within `patience`. `awake`: the worker looks out
    /// for work for a while before it goes to sleep.
    pub(crate) fn next(&self, worker: usize, awake: bool, patience: Duration) -> Option<Task> {
        let mut seen = self.changes.load(Ordering::Acquire);
        for look in 0..if awake { LOOKS } else { 1 } {
            let now = self.changes.load(Ordering::Acquire);
            if look == 0 || now != seen {
                seen = now;
                if let Some(task) = WorkQueue::choose(&mut self.queues.lock(), worker) {
                    return Some(task);
                }
            }
            std::hint::spin_loop();
        }
        let mut queues = self.queues.lock();
        let mut task = WorkQueue::choose(&mut queues, worker);
        if task.is_none() {
            self.changed.wait_for(&mut queues, patience);
            task = WorkQueue::choose(&mut queues, worker);
        }
        task
    }

    fn choose(queues: &mut MutexGuard<Queues>, worker: usize) -> Option<Task> {
        if queues.closed {
            return Some(Task::Leave);
        }
        let stays = queues.last_owner == worker || queues.for_workers.is_empty();
        if !queues.tree_taken && stays && !queues.for_tree.is_empty() {
            (queues.tree_taken, queues.last_owner) = (true, worker);
            return Some(Task::Tree);
        }
        queues.for_workers.pop_front().map(Task::Batch)
    }

    /// Wakes all workers that wait, so that they see what has changed elsewhere.
    pub(crate) fn wake(&self) {
        // With the lock, or one between its look and its sleep would miss it.
        let queues = self.queues.lock();
        self.change();
        drop(queues);
    }

    fn change(&self) {
        self.changes.fetch_add(1, Ordering::Release);
        self.changed.notify_all();
    }

    /// Adds a batch to the queue of its stage.
    pub(crate) fn put(&self, queued: Box<QueuedBatch>) {
        let mut queues = self.queues.lock();
        if queued.stage.needs_tree() {
            queues.for_tree.push_back(queued)
        } else {
            queues.for_workers.push_back(queued)
        }
        drop(queues);
        self.change();
    }

    /// The next batch for the worker that has the tree.
    pub(crate) fn take_for_tree(&self) -> Option<Box<QueuedBatch>> {
        self.queues.lock().for_tree.pop_front()
    }

    /// Gives up the ownership of the tree.
    pub(crate) fn release_tree(&self) {
        self.queues.lock().tree_taken = false;
        self.change();
    }

    /// Parks a batch for which there was nothing to gather. Returns whether all batches are parked now.
    pub(crate) fn park(&self, queued: Box<QueuedBatch>) -> bool {
        let mut queues = self.queues.lock();
        queues.parked.push(queued);
        queues.parked.len() == self.batches
    }

    /// Returns the parked batches to the queue.
    pub(crate) fn unpark_all(&self) {
        let mut queues = self.queues.lock();
        let Queues { for_tree, parked, .. } = &mut *queues;
        for_tree.extend(parked.drain(..));
    }

    /// Makes all workers leave.
    pub(crate) fn close(&self) {
        self.queues.lock().closed = true;
        self.change();
    }

    /// Takes any one batch out of the queues; `None` when they are empty.
    pub(crate) fn clear(&self) -> Option<Box<QueuedBatch>> {
        let mut queues = self.queues.lock();
        let Queues { for_tree, for_workers, parked, .. } = &mut *queues;
        for_tree.pop_front().or_else(|| for_workers.pop_front()).or_else(|| parked.pop())
    }
}

#[cfg(test)]
#[path = "work_queue_tests.rs"]
mod tests;
