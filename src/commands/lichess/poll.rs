//! Registers the engine, and waits for requests, on a thread of its own.

use super::pauses::Pauses;
use super::server::{Failure, Registration, Server};
use super::work::Job;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

/// Least time between two polls without an outcome: a broker that does not let them wait is not asked without end.
const LEAST: Duration = Duration::from_secs(1);

/// News for the provider.
pub enum Event {
    /// lichess lists the engine.
    Registered,
    /// Somebody asks for analysis.
    Job(Box<Job>),
    /// Nobody asks, and the broker can be reached.
    Idle,
    /// An attempt failed; the next one is made after the pause.
    Trouble { reason: String, pause: Duration },
    /// lichess does not take the engine.
    Refused(String),
    /// The request of this number has no reader any more.
    Over { number: u64, fault: Option<String> },
}

/// Starts the thread. It ends when nobody listens.
pub fn start(server: Arc<Server>, registration: Registration, events: Sender<Event>) {
    std::thread::spawn(move || {
        if register(&server, &registration, &events) {
            poll(&server, &events);
        }
    });
}

/// Registers the engine; returns whether it is.
fn register(server: &Server, registration: &Registration, events: &Sender<Event>) -> bool {
    let mut pauses = Pauses::default();
    loop {
        match server.register(registration) {
            Ok(()) => return events.send(Event::Registered).is_ok(),
            Err(Failure::Final(reason)) => {
                // The provider ends with it.
                let _ = events.send(Event::Refused(reason));
                return false;
            }
            Err(Failure::Passing(reason)) => {
                if !pause(events, reason, &mut pauses) {
                    return false;
                }
            }
        }
    }
}

fn poll(server: &Server, events: &Sender<Event>) {
    let mut pauses = Pauses::default();
    loop {
        let asked = Instant::now();
        let goes_on = match server.work() {
            Ok(job) => {
                pauses = Pauses::default();
                if job.is_none() {
                    std::thread::sleep(LEAST.saturating_sub(asked.elapsed()));
                }
                events.send(job.map_or(Event::Idle, |job| Event::Job(Box::new(job)))).is_ok()
            }
            Err(reason) => pause(events, reason, &mut pauses),
        };
        if !goes_on {
            return;
        }
    }
}

/// Tells of trouble and waits; returns whether anybody listens.
fn pause(events: &Sender<Event>, reason: String, pauses: &mut Pauses) -> bool {
    let pause = pauses.next();
    let heard = events.send(Event::Trouble { reason, pause }).is_ok();
    std::thread::sleep(pause);
    heard
}
