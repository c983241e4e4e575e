//! Where the batches of a search lie between one hand and the next.
//!
//! Half of what a batch takes needs the tree: going down it and backing up. Whoever does that for all batches keeps the
//! tree in the caches of one processor; with a lock that goes round, half of the time goes by fetching from the other
//! what it has just written. So there are two piles: batches that need the tree, and batches that need a worker alone
//! (what the leaves are, and the network). One worker at a time has the tree, and gives it up when the first pile is done.

use super::batch::Batch;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Looks at the desk before the operating system is asked to wait: some 300 microseconds. Falling asleep
/// and waking up again take longer than a batch of a costless network does.
const LOOKS: u32 = 10_000;

/// What a batch needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The tree: to be gathered.
    Fresh,
    /// A worker: to find out what its leaves are.
    Classify,
    /// The tree: some leaves can be backed up, which frees their places.
    Settle,
    /// A worker: to ask the network.
    Evaluate,
    /// The tree.
    BackUp,
}

impl Stage {
    fn needs_tree(self) -> bool {
        matches!(self, Stage::Fresh | Stage::Settle | Stage::BackUp)
    }
}

/// A batch on its round.
pub(super) struct Job {
    pub batch: Batch,
    pub stage: Stage,
    /// Whether some of it was backed up while it was gathered.
    pub progress: bool,
    /// What the network took for it, in milliseconds.
    pub took_ms: f64,
    /// Why the network did not answer.
    pub error: Option<String>,
}

/// What a worker does next.
pub(super) enum Task {
    /// It has the tree, until [`Desk::give_tree_back`].
    Tree,
    Batch(Box<Job>),
    Leave,
}

struct Piles {
    for_tree: VecDeque<Box<Job>>,
    for_workers: VecDeque<Box<Job>>,
    /// Batches for which there was nothing to gather, until another one is backed up.
    #[allow(clippy::vec_box, reason = "batches go from pile to pile as they are")]
    resting: Vec<Box<Job>>,
    tree_taken: bool,
    last_owner: usize,
    closed: bool,
}

pub(super) struct Desk {
    piles: Mutex<Piles>,
    batches: usize,
    changed: Condvar,
    /// Counts the changes, for those who wait awake.
    changes: AtomicU64,
}

impl Desk {
    /// A desk with so many batches.
    pub fn new(batches: usize) -> Desk {
        let fresh = |_| {
            let batch = Batch::default();
            Box::new(Job { batch, stage: Stage::Fresh, progress: false, took_ms: 0.0, error: None })
        };
        let piles = Piles {
            for_tree: (0..batches).map(fresh).collect(),
            for_workers: VecDeque::new(),
            resting: Vec::new(),
            tree_taken: false,
            last_owner: 0,
            closed: false,
        };
        Desk { piles: Mutex::new(piles), batches, changed: Condvar::new(), changes: AtomicU64::new(0) }
    }

    /// What `worker` does next; `None` when there was nothing for it within `patience`. `awake`: it looks out for work for a
    /// while before it goes to sleep.
    pub fn next(&self, worker: usize, awake: bool, patience: Duration) -> Option<Task> {
        let mut seen = self.changes.load(Ordering::Acquire);
        for look in 0..if awake { LOOKS } else { 1 } {
            let now = self.changes.load(Ordering::Acquire);
            if look == 0 || now != seen {
                seen = now;
                if let Some(task) = Desk::choose(&mut self.piles.lock(), worker) {
                    return Some(task);
                }
            }
            std::hint::spin_loop();
        }
        let mut piles = self.piles.lock();
        let mut task = Desk::choose(&mut piles, worker);
        if task.is_none() {
            self.changed.wait_for(&mut piles, patience);
            task = Desk::choose(&mut piles, worker);
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

    /// Lays a batch on the pile of its stage.
    pub fn put(&self, job: Box<Job>) {
        let mut piles = self.piles.lock();
        if job.stage.needs_tree() {
            piles.for_tree.push_back(job)
        } else {
            piles.for_workers.push_back(job)
        }
        drop(piles);
        self.change();
    }

    /// The next batch for the worker that has the tree.
    pub fn take_for_tree(&self) -> Option<Box<Job>> {
        self.piles.lock().for_tree.pop_front()
    }

    /// The worker that has the tree gives it up.
    pub fn give_tree_back(&self) {
        self.piles.lock().tree_taken = false;
        self.change();
    }

    /// Lays a batch aside for which there was nothing to gather. Returns whether all of them lie there now.
    pub fn rest(&self, job: Box<Job>) -> bool {
        let mut piles = self.piles.lock();
        piles.resting.push(job);
        piles.resting.len() == self.batches
    }

    /// What was laid aside may try again.
    pub fn rouse(&self) {
        let mut piles = self.piles.lock();
        let Piles { for_tree, resting, .. } = &mut *piles;
        for_tree.extend(resting.drain(..));
    }

    /// All workers are to leave.
    pub fn close(&self) {
        self.piles.lock().closed = true;
        self.change();
    }

    /// Takes any batch off the desk.
    pub fn clear(&self) -> Option<Box<Job>> {
        let mut piles = self.piles.lock();
        let Piles { for_tree, for_workers, resting, .. } = &mut *piles;
        for_tree.pop_front().or_else(|| for_workers.pop_front()).or_else(|| resting.pop())
    }
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
