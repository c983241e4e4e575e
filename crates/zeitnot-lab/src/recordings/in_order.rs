//! Works on many tasks side by side, and hands the results on in the order of the tasks.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::Builder;

use parking_lot::Mutex;

/// Works on all tasks on `threads` threads, each with a worker that `make` makes, and hands `keep` the results in the
/// order of the tasks, on the caller's thread. `interrupted` ends the work after the tasks that are under way.
///
/// # Errors
/// The first error of a task, a worker or `keep`; an [`io::Error`], where no thread can be started.
pub(super) fn in_order<W, T: Send, R: Send, E: Send + From<io::Error>>(
    tasks: impl Iterator<Item = Result<T, E>> + Send,
    threads: usize,
    make: &(dyn Fn() -> Result<W, E> + Sync),
    work: &(dyn Fn(&mut W, T) -> Result<R, E> + Sync),
    interrupted: &AtomicBool,
    keep: &mut dyn FnMut(R) -> Result<(), E>,
) -> Result<(), E> {
    let tasks = Mutex::new(tasks.enumerate());
    let stop = AtomicBool::new(false);
    let is_over = || stop.load(Ordering::SeqCst) || interrupted.load(Ordering::SeqCst);
    let (sender, receiver) = channel::<Result<(usize, R), E>>();
    let serve = |sender: Sender<_>| {
        let mut worker = match make() {
            Ok(worker) => worker,
            Err(error) => return drop(sender.send(Err(error))),
        };
        while !is_over() {
            let Some((number, task)) = ({ tasks.lock().next() }) else { return };
            let done = task.and_then(|task| work(&mut worker, task));
            if sender.send(done.map(|done| (number, done))).is_err() {
                return;
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let (sender, serve) = (sender.clone(), &serve);
            if let Err(error) = Builder::new().name("laboratory".into()).spawn_scoped(scope, move || serve(sender)) {
                stop.store(true, Ordering::SeqCst);
                return Err(error.into());
            }
        }
        drop(sender);
        let mut keep_all = || {
            let (mut waiting, mut turn) = (BTreeMap::new(), 0);
            for done in &receiver {
                let (number, done) = done?;
                waiting.insert(number, done);
                while let Some(done) = waiting.remove(&turn) {
                    keep(done)?;
                    turn += 1;
                }
            }
            Ok(())
        };
        let kept = keep_all();
        stop.store(true, Ordering::SeqCst);
        kept
    })
}
