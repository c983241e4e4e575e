//! Holds the threads that searches run on: the workers, and the watchdog that answers when they are late.

use super::shared::SharedSearch;
use super::watchdog::watch;
use super::worker::work;
use crossbeam::channel::{Sender, unbounded};
use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use zeitnot_base::memory::has_headroom;

/// The threads of one engine's searches. They are made once and sleep between the searches: on a busy machine a new
/// thread may have to wait a second for a processor, on the clock. A worker that still evaluates a batch of the
/// previous search joins the next search when that batch is over.
#[derive(Default)]
pub(crate) struct SearchThreads {
    watchdog: Option<SearchThread>,
    workers: Vec<SearchThread>,
}

impl SearchThreads {
    /// Makes the threads of a search with `workers` workers, as far as the system has any to give.
    ///
    /// # Errors
    /// The operating system's, when there is no thread for a watchdog and a worker.
    pub(crate) fn ensure(&mut self, workers: usize) -> io::Result<()> {
        if self.watchdog.is_none() {
            self.watchdog = Some(SearchThread::new("watchdog".to_owned())?);
        }
        while self.workers.len() < workers {
            // The stacks must not take the memory that the search needs.
            let made = if self.workers.is_empty() || has_headroom(false) {
                SearchThread::new(format!("search-{}", self.workers.len()))
            } else {
                Err(io::ErrorKind::OutOfMemory.into())
            };
            match made {
                Ok(worker) => self.workers.push(worker),
                // Fewer workers are slower, but they do.
                Err(error) if self.workers.is_empty() => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, workers = self.workers.len(), "the system gives no more threads");
                    break;
                }
            }
        }
        Ok(())
    }

    /// Starts the threads on a search, the watchdog first, since it has to answer in time.
    pub(super) fn search(&self, shared: &Arc<SharedSearch>) {
        if let Some(watchdog) = &self.watchdog {
            let shared = Arc::clone(shared);
            watchdog.run(move || {
                if shared.guarded(|| watch(&shared)).is_none() {
                    shared.answer_without_watchdog();
                }
            });
        }
        let workers = &self.workers[..self.workers.len().min(shared.context.workers)];
        *shared.working.lock() = workers.len();
        for (index, worker) in workers.iter().enumerate() {
            let shared = Arc::clone(shared);
            worker.run(move || {
                shared.guarded(|| work(&shared, index));
                *shared.working.lock() -= 1;
                shared.left.notify_all();
            });
        }
    }
}

impl Drop for SearchThreads {
    fn drop(&mut self) {
        let threads = self.watchdog.take().into_iter().chain(std::mem::take(&mut self.workers));
        let threads: Vec<JoinHandle<()>> = threads.map(|thread| thread.handle).collect();
        for thread in threads {
            // It catches the panics of its work.
            let _ = thread.join();
        }
    }
}

/// A thread that runs one piece of work after the other, until nobody has any to give.
struct SearchThread {
    work: Sender<Work>,
    handle: JoinHandle<()>,
}

type Work = Box<dyn FnOnce() + Send>;

impl SearchThread {
    fn new(name: String) -> io::Result<SearchThread> {
        let (work, received) = unbounded::<Work>();
        let handle = Builder::new().name(name).spawn(move || received.iter().for_each(|work| work()))?;
        Ok(SearchThread { work, handle })
    }

    fn run(&self, work: impl FnOnce() + Send + 'static) {
        // The other end is open as long as the thread runs.
        let _ = self.work.send(Box::new(work));
    }
}
