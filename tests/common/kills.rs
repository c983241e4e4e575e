//! Kills work that goes on where it was.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::process::Child;
use std::time::Duration;
use zeitnot_engine::splitmix::SplitMix64;

/// Kills of one work at the most: it may get nowhere between two of them.
const MOST: usize = 21;

/// Begins work over and over and kills it at random moments, until it ends before that; how often it was killed.
/// `whole_ms`: how long all of it takes.
pub fn until_over(begin: &dyn Fn() -> Child, whole_ms: usize, random: &mut SplitMix64) -> usize {
    for kills in 0.. {
        let mut child = begin();
        // Nobody reads the pipes, which are large enough for work of this length.
        std::thread::sleep(Duration::from_millis(random.below(whole_ms / 2 + 50) as u64));
        if child.try_wait().unwrap().is_some() || kills >= MOST {
            child.wait().unwrap();
            return kills;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    unreachable!("numbers do not end")
}
