//! Registers the engine, and waits for requests, on a thread of its own.

use super::server::{Failure, Registration, Server};
use super::work::Job;
use std::sync::Arc;
use std::sync::mpsc::{SendError, SyncSender};
use std::time::{Duration, Instant};

/// The pause after a first failure; each failure in a row doubles it, up to `LONGEST_PAUSE`.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Least time from a poll without a request to the next, for a broker that answers polls at once.
const LEAST: Duration = Duration::from_secs(1);

/// Least time from one request to the next: a person who leafs through a game makes several a second.
const LEAST_AFTER_JOB: Duration = Duration::from_millis(100);

/// News from the polling thread and the sending threads for the provider.
pub enum Event {
    /// lichess lists the engine.
    Registered,
    /// Somebody asks for analysis.
    Job(Box<Job>),
    /// Nobody asks, and the broker can be reached.
    Idle,
    /// An attempt failed; the next one is made after the pause.
    Trouble(Failure),
    /// lichess does not take the engine.
    Refused(String),
    /// The connection for the lines of this request has ended; `failure` says why, where lichess found fault.
    Over { number: u64, failure: Option<Failure> },
}

/// Starts the thread that registers the engine and polls the broker. It ends when `events` has no receiver.
pub fn start(server: Arc<Server>, registration: Registration, events: SyncSender<Event>) {
    std::thread::spawn(move || poll(&server, &registration, &events));
}

fn poll(server: &Server, registration: &Registration, events: &SyncSender<Event>) -> Result<(), SendError<Event>> {
    let (mut is_registered, mut pause) = (false, PAUSE);
    loop {
        std::thread::sleep(server.rest());
        let asked = Instant::now();
        let answer = match is_registered {
            false => server.register(registration).map(|()| (Event::Registered, Duration::ZERO)),
            true => server.work().map(|job| match job {
                Some(job) => (Event::Job(Box::new(job)), LEAST_AFTER_JOB),
                None => (Event::Idle, LEAST),
            }),
        };
        let (event, wait) = match answer {
            Ok((event, least)) => {
                (is_registered, pause) = (true, PAUSE);
                (event, least.saturating_sub(asked.elapsed()))
            }
            // The provider ends with it.
            Err(Failure { reason, is_final: true, .. }) if !is_registered => {
                return events.send(Event::Refused(reason));
            }
            Err(failure) => {
                let wait = pause.max(failure.pause);
                pause = (2 * pause).min(LONGEST_PAUSE);
                (Event::Trouble(Failure { pause: wait, ..failure }), wait)
            }
        };
        // A request that came meanwhile waits, too.
        std::thread::sleep(server.rest());
        events.send(event)?;
        std::thread::sleep(wait);
    }
}
