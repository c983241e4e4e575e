//! Reports the progress of long work in lines of text, while it goes on.

use std::fmt;
use std::sync::Arc;
use std::thread::Builder;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

/// Interval between the lines of a long task.
const INTERVAL: Duration = Duration::from_secs(10);
/// Step in which the duration of a task is counted.
const TICK: Duration = Duration::from_secs(1);

/// The beginning of a line that reports an error, in the spelling that Nibbler shows.
pub const ERROR: &str = "ERROR: ";

/// A sink of progress lines: it passes them to a GUI as `info string`, to a person on standard error, or drops them.
#[derive(Clone)]
pub struct Announcer(Arc<dyn Fn(&str) + Send + Sync>);

impl Announcer {
    /// An announcer that passes each line to the function `say`, from any thread.
    pub fn new(say: impl Fn(&str) + Send + Sync + 'static) -> Announcer {
        Announcer(Arc::new(say))
    }

    /// Says a line.
    pub fn say(&self, line: &str) {
        (self.0)(line);
    }

    /// Says an error.
    pub fn complain(&self, error: impl fmt::Display) {
        self.say(&format!("{ERROR}{error}"));
    }

    /// Runs `work`, whose name is `what`. Says the line `start` before it, the time taken every ten seconds meanwhile,
    /// and at the end that the work has finished or failed.
    ///
    /// # Errors
    /// As for `work`.
    pub fn during<T, E>(&self, what: &str, start: &str, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        self.ticking(what, start, TICK, work)
    }

    /// [`Announcer::during`] with a `tick` that tests shorten. Ticks are counted, so that no clock is asked.
    fn ticking<T, E>(
        &self,
        what: &str,
        start: &str,
        tick: Duration,
        work: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        self.say(start);
        let finished = (Mutex::new(false), Condvar::new());
        std::thread::scope(|scope| {
            // Without a thread from the system nothing is said meanwhile.
            let watch = Builder::new().spawn_scoped(scope, || {
                let (done, bell) = &finished;
                let mut done = done.lock();
                let mut seconds = 0;
                while !*done {
                    if bell.wait_for(&mut done, tick).timed_out() {
                        seconds += TICK.as_secs();
                        if seconds % INTERVAL.as_secs() == 0 {
                            self.say(&format!("{what}: {seconds} s so far"));
                        }
                    }
                }
                seconds
            });
            // Also rung when the work panics: the scope waits for the watch.
            let ring = Ring(&finished);
            let result = work();
            drop(ring);
            let seconds = watch.ok().and_then(|watch| watch.join().ok());
            let ended = if result.is_ok() { "finished" } else { "failed" };
            let after = seconds.map_or(String::new(), |seconds| format!(" after {seconds} s"));
            self.say(&format!("{what}: {ended}{after}"));
            result
        })
    }
}

struct Ring<'a>(&'a (Mutex<bool>, Condvar));

impl Drop for Ring<'_> {
    fn drop(&mut self) {
        *self.0.0.lock() = true;
        self.0.1.notify_all();
    }
}

impl Default for Announcer {
    /// An announcer that drops all lines.
    fn default() -> Announcer {
        Announcer::new(|_| ())
    }
}

impl fmt::Debug for Announcer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Announcer")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_work_is_told_of() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let announcer = Announcer::new(move |line| kept.lock().push(line.to_owned()));
        let answer = announcer.ticking("engine", "engine: minutes", Duration::from_millis(5), || {
            while lines.lock().len() < 3 {
                std::thread::sleep(Duration::from_millis(1));
            }
            Ok::<_, ()>(7)
        });
        assert_eq!(answer, Ok(7));
        let lines = lines.lock();
        assert_eq!(lines[..3], ["engine: minutes", "engine: 10 s so far", "engine: 20 s so far"]);
        assert!(lines.last().is_some_and(|line| line.starts_with("engine: finished after ")), "{lines:?}");
    }

    #[test]
    fn work_that_fails_is_not_said_to_be_finished() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let announcer = Announcer::new(move |line| kept.lock().push(line.to_owned()));
        assert_eq!(announcer.during("engine", "engine: minutes", || Err::<(), _>("no memory")), Err("no memory"));
        assert_eq!(*lines.lock(), ["engine: minutes", "engine: failed after 0 s"]);
    }
}
