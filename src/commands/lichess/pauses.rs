//! Growing pauses between attempts.

use std::time::Duration;

const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(30);

/// The pauses after failures in a row.
pub struct Pauses(Duration);

impl Default for Pauses {
    fn default() -> Pauses {
        Pauses(FIRST)
    }
}

impl Pauses {
    /// The pause after one more failure.
    pub fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (2 * pause).min(LONGEST);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_half_a_minute() {
        let mut pauses = Pauses::default();
        let seconds: Vec<u64> = (0..8).map(|_| pauses.next().as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 30, 30, 30]);
    }
}
