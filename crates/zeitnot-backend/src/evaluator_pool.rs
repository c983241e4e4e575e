//! Lends the evaluators of a backend to the threads that search with them.

use super::{Backend, BackendError, Evaluator};
use parking_lot::{Condvar, Mutex};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::time::Duration;

/// Interval at which a thread that waits for an evaluator checks whether it still needs one.
const PATIENCE: Duration = Duration::from_millis(100);

/// The evaluators of a backend, lent to the threads of a search. A search may end while its threads still run their
/// last batches: each evaluator comes back when its batch is over, and the next search begins with those that are back.
#[derive(Default)]
pub struct EvaluatorPool {
    contents: Mutex<Contents>,
    given_back: Condvar,
}

#[derive(Default)]
struct Contents {
    here: Vec<Box<dyn Evaluator>>,
    lent: usize,
    wanted: usize,
    late: Vec<(usize, f64)>,
    failure: Option<String>,
}

impl EvaluatorPool {
    /// Makes or drops evaluators until there are `wanted`, including those on loan. Making one takes tens of
    /// milliseconds, which must not count as thinking time.
    ///
    /// # Errors
    /// As for the backend when it makes one.
    pub fn ensure(&self, backend: &dyn Backend, wanted: usize) -> Result<(), BackendError> {
        let mut contents = self.contents.lock();
        contents.wanted = wanted;
        while contents.here.len() + contents.lent < wanted {
            contents.here.push(backend.evaluator()?);
        }
        let surplus = (contents.here.len() + contents.lent - wanted).min(contents.here.len());
        let kept = contents.here.len() - surplus;
        contents.here.truncate(kept);
        Ok(())
    }

    /// The number of evaluators for a search, including those on loan. (More may be on loan than are still wanted:
    /// those that are not wanted do not count.)
    pub fn count(&self) -> usize {
        let contents = self.contents.lock();
        (contents.here.len() + contents.lent).min(contents.wanted)
    }

    /// Waits until no evaluator is on loan, so that no batch of an ended search still runs. No search may be running.
    pub fn wait_for_all(&self) {
        let mut contents = self.contents.lock();
        while contents.lent > 0 {
            self.given_back.wait_for(&mut contents, PATIENCE);
        }
    }

    /// Lends an evaluator as soon as one is free; `None` once `is_wanted` is false, or if the pool has no evaluators at
    /// all.
    pub fn lend(self: &Arc<Self>, is_wanted: impl Fn() -> bool) -> Option<LentEvaluator> {
        let mut contents = self.contents.lock();
        while is_wanted() {
            if let Some(evaluator) = contents.here.pop() {
                contents.lent += 1;
                return Some(LentEvaluator { evaluator: Some(evaluator), owner: Arc::clone(self) });
            }
            if contents.lent == 0 {
                break;
            }
            self.given_back.wait_for(&mut contents, PATIENCE);
        }
        None
    }

    /// Wakes the threads that wait for an evaluator, so that they check whether they still want one.
    pub fn wake(&self) {
        // With the lock, or one between its look and its sleep would miss it.
        let contents = self.contents.lock();
        self.given_back.notify_all();
        drop(contents);
    }

    /// Notes a batch that ended after its search: its number of positions, and the milliseconds that it took.
    pub fn note_late_batch(&self, positions: usize, took_ms: f64) {
        self.contents.lock().late.push((positions, took_ms));
    }

    /// Notes that an evaluation has failed, and why.
    pub fn note_failure(&self, error: &BackendError) {
        self.contents.lock().failure.get_or_insert_with(|| error.to_string());
    }

    /// Takes the first failure that [`EvaluatorPool::note_failure`] noted since the last call.
    pub fn take_failure(&self) -> Option<String> {
        self.contents.lock().failure.take()
    }

    /// Takes the batches that [`EvaluatorPool::note_late_batch`] noted since the last call.
    pub fn take_late_batches(&self) -> Vec<(usize, f64)> {
        std::mem::take(&mut self.contents.lock().late)
    }
}

/// An evaluator on loan. Dropping it gives it back, unless its thread panics, as the evaluator may then be broken.
pub struct LentEvaluator {
    evaluator: Option<Box<dyn Evaluator>>,
    owner: Arc<EvaluatorPool>,
}

const ON_LOAN: &str = "an evaluator leaves its loan at the end alone";

impl Deref for LentEvaluator {
    type Target = dyn Evaluator;

    fn deref(&self) -> &(dyn Evaluator + 'static) {
        self.evaluator.as_deref().expect(ON_LOAN)
    }
}

impl DerefMut for LentEvaluator {
    fn deref_mut(&mut self) -> &mut (dyn Evaluator + 'static) {
        self.evaluator.as_deref_mut().expect(ON_LOAN)
    }
}

impl Drop for LentEvaluator {
    fn drop(&mut self) {
        let mut contents = self.owner.contents.lock();
        contents.lent -= 1;
        if !std::thread::panicking() && contents.here.len() + contents.lent < contents.wanted {
            contents.here.extend(self.evaluator.take());
        }
        self.owner.given_back.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::UniformBackend;
    use std::sync::atomic::{AtomicBool, Ordering};

    fn pool(wanted: usize) -> Arc<EvaluatorPool> {
        let pool = Arc::new(EvaluatorPool::default());
        pool.ensure(&UniformBackend::new(), wanted).unwrap();
        pool
    }

    fn here(pool: &EvaluatorPool) -> usize {
        pool.contents.lock().here.len()
    }

    #[test]
    fn evaluators_come_back_and_are_not_made_twice() {
        let pool = pool(2);
        let lent = pool.lend(|| true);
        assert_eq!((pool.count(), here(&pool)), (2, 1));
        pool.ensure(&UniformBackend::new(), 2).unwrap();
        assert_eq!((pool.count(), here(&pool)), (2, 1), "the one on loan counts");
        drop(lent);
        assert_eq!((pool.count(), here(&pool)), (2, 2));
    }

    #[test]
    fn fewer_evaluators_are_wanted_while_some_are_on_loan() {
        let pool = pool(3);
        let lent = [pool.lend(|| true), pool.lend(|| true)];
        pool.ensure(&UniformBackend::new(), 1).unwrap();
        assert_eq!((pool.count(), here(&pool)), (1, 0));
        drop(lent);
        assert_eq!((pool.count(), here(&pool)), (1, 1));
    }

    #[test]
    fn nobody_waits_for_an_evaluator_that_is_not_wanted_any_more() {
        let pool = pool(1);
        let first = pool.lend(|| true);
        let wanted = AtomicBool::new(true);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| pool.lend(|| wanted.load(Ordering::SeqCst)).is_some());
            wanted.store(false, Ordering::SeqCst);
            pool.wake();
            assert!(!second.join().unwrap());
        });
        drop(first);
        assert_eq!(here(&pool), 1);
    }

    #[test]
    fn an_evaluator_whose_thread_panics_is_not_used_again() {
        let pool = pool(1);
        std::thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _lent = pool.lend(|| true);
                panic!("a panic on purpose: the test is about what follows");
            });
            assert!(panics.join().is_err());
        });
        assert_eq!(pool.count(), 0);
        pool.ensure(&UniformBackend::new(), 1).unwrap();
        assert_eq!(here(&pool), 1);
    }
}
