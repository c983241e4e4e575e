//! Reads standard input on a thread of its own, so that a signal to end the program is heard as the end of the input: the
//! engine answers, and saves what it keeps.

use super::interrupt;
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// Most reads of the input that wait for the engine; then no more is read.
const WAITING: usize = 16;

/// The program's input, which ends with standard input or at a signal.
pub struct Input {
    parts: Receiver<io::Result<Vec<u8>>>,
    part: Vec<u8>,
    at: usize,
    has_ended: bool,
    asked_to_end: Arc<AtomicBool>,
}

/// Begins to read standard input.
///
/// # Errors
/// When the system takes no handler of signals, or has no thread.
pub fn standard() -> anyhow::Result<Input> {
    let (sender, parts) = sync_channel(WAITING);
    let wakes = sender.clone();
    let asked_to_end = interrupt::on_request_do(move || {
        // Where the queue is full the flag is seen with the next part.
        let _ = wakes.try_send(Ok(Vec::new()));
    })?;
    std::thread::Builder::new().name("input".to_owned()).spawn(move || read(&sender))?;
    Ok(Input { parts, part: Vec::new(), at: 0, has_ended: false, asked_to_end })
}

fn read(sender: &SyncSender<io::Result<Vec<u8>>>) {
    let mut stdin = io::stdin().lock();
    loop {
        let part = stdin.fill_buf().map(<[u8]>::to_vec);
        let read = part.as_ref().map_or(0, Vec::len);
        stdin.consume(read);
        if sender.send(part).is_err() || read == 0 {
            return;
        }
    }
}

impl BufRead for Input {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.part.len() && !self.has_ended {
            let part = self.parts.recv().unwrap_or_else(|_| Ok(Vec::new()));
            // The end is told once: nothing follows it.
            self.has_ended = part.as_ref().map_or(true, Vec::is_empty);
            (self.part, self.at) = (part?, 0);
        }
        if self.asked_to_end.load(Ordering::SeqCst) {
            (self.at, self.has_ended) = (self.part.len(), true);
        }
        Ok(&self.part[self.at..])
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}
