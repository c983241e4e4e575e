//! Reads how much effort an analysis may take, and divides an effort for all games among their positions.

use crate::commands::flags::{flag, seconds};
use clap::{Arg, ArgMatches, value_parser};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;
use zeitnot_analysis::analysis::Effort;

/// Nodes a position without a flag. With the searches behind the compared moves they take as long as 400 nodes in the
/// position alone (docs/results/2026-11-judging.md).
const USUAL_NODES: u64 = 300;
/// Least time for a position, in milliseconds, even when the time for all is used up.
const LEAST_MS: f64 = 5.0;

/// The effort that a command line names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// An equal effort for each position.
    Each(Effort),
    /// Time for all positions, in milliseconds.
    Time(f64),
    /// Nodes for all positions.
    Nodes(u64),
}

/// The flags that set the effort: `--nodes`, `--time` and `--budget`.
pub fn flags() -> [Arg; 3] {
    [
        flag("nodes", "N")
            .value_parser(value_parser!(u64).range(1..))
            .conflicts_with_all(["time", "budget"])
            .help(format!("Nodes a position [default: {USUAL_NODES}]")),
        flag("time", "S").value_parser(seconds).conflicts_with("budget").help("Seconds a position"),
        flag("budget", "T")
            .value_parser(budget)
            .help("Time for all games, such as 90s, 30m or 8h; or nodes for all, such as 5000000n"),
    ]
}

/// Reads the value of `--budget`: a time with its unit, seconds without one, or nodes as `5000000n`.
fn budget(text: &str) -> Result<Limit, String> {
    let units = [("n", 0.0), ("s", 1e3), ("m", 60e3), ("h", 3600e3)];
    let split = units.into_iter().find_map(|(unit, ms)| Some((text.strip_suffix(unit)?, ms)));
    let (number, ms) = split.unwrap_or((text, 1e3));
    let limit = match number.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= 1e15) {
        Some(number) if ms == 0.0 && number >= 1.0 => Some(Limit::Nodes(number as u64)),
        Some(number) if ms > 0.0 => Some(Limit::Time(number * ms)),
        _ => None,
    };
    limit.ok_or_else(|| "a time such as 90s, 30m or 8h is needed, or a number of nodes such as 5000000n".to_owned())
}

impl Limit {
    /// The effort that the command line names.
    pub fn of(matches: &ArgMatches) -> Limit {
        if let Some(limit) = matches.get_one::<Limit>("budget") {
            return *limit;
        }
        match matches.get_one::<f64>("time") {
            Some(seconds) => Limit::Each(Effort::Time(1e3 * seconds)),
            None => Limit::Each(Effort::Nodes(matches.get_one("nodes").copied().unwrap_or(USUAL_NODES))),
        }
    }

    /// Whether the searches end by the clock, so that a second run may differ.
    pub fn is_timed(self) -> bool {
        matches!(self, Limit::Time(_) | Limit::Each(Effort::Time(_)))
    }

    /// The effort in words.
    pub fn words(self) -> String {
        match self {
            Limit::Each(Effort::Nodes(nodes)) => format!("{nodes} nodes a move"),
            Limit::Each(Effort::Time(ms)) => format!("{} s a move", ms / 1e3),
            Limit::Time(ms) => format!("{} s for all games", ms / 1e3),
            Limit::Nodes(nodes) => format!("{nodes} nodes for all games"),
        }
    }
}

/// Divides an effort among positions, on several threads.
pub struct Shares {
    limit: Limit,
    begin: Instant,
    /// Time that earlier runs of an interrupted analysis took, in milliseconds.
    spent_ms: f64,
    positions: u64,
    left: AtomicU64,
    /// Threads that are analysing a game.
    busy: AtomicUsize,
}

impl Shares {
    /// Divides `limit` among `positions`, of which `left` are still to come; `spent_ms` was spent in earlier runs.
    pub fn new(limit: Limit, positions: u64, left: u64, spent_ms: f64) -> Shares {
        let (left, busy) = (AtomicU64::new(left), AtomicUsize::new(0));
        Shares { limit, begin: Instant::now(), spent_ms, positions, left, busy }
    }

    /// Notes that a thread has begun or finished its work on games.
    pub fn set_busy(&self, is_busy: bool) {
        match is_busy {
            true => self.busy.fetch_add(1, Ordering::SeqCst),
            false => self.busy.fetch_sub(1, Ordering::SeqCst),
        };
    }

    /// The effort for the next position.
    pub fn next(&self) -> Effort {
        let left = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| Some(left.saturating_sub(1)));
        match self.limit {
            Limit::Each(effort) => effort,
            Limit::Nodes(nodes) => Effort::Nodes((nodes / self.positions.max(1)).max(1)),
            Limit::Time(ms) => {
                let passed_ms = self.spent_ms + 1e3 * self.begin.elapsed().as_secs_f64();
                let busy = self.busy.load(Ordering::SeqCst).max(1) as f64;
                let left = left.unwrap_or(1).max(1) as f64;
                Effort::Time(((ms - passed_ms) * busy / left).max(LEAST_MS))
            }
        }
    }

    /// Time of this run in milliseconds.
    pub fn elapsed_ms(&self) -> f64 {
        1e3 * self.begin.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn budgets_are_times_or_nodes() {
        for (text, limit) in [
            ("90", Some(Limit::Time(90e3))),
            ("90s", Some(Limit::Time(90e3))),
            ("1.5m", Some(Limit::Time(90e3))),
            ("2h", Some(Limit::Time(7_200e3))),
            ("5000n", Some(Limit::Nodes(5000))),
            ("0.5n", None),
            ("0", None),
            ("-3s", None),
            ("NaN", None),
            ("inf", None),
            ("soon", None),
            ("", None),
        ] {
            assert_eq!(budget(text).ok(), limit, "{text}");
        }
    }

    #[test]
    fn time_for_all_is_divided_among_what_is_left() {
        let shares = Shares::new(Limit::Time(10_000.0), 100, 10, 5_000.0);
        shares.set_busy(true);
        shares.set_busy(true);
        let Effort::Time(ms) = shares.next() else { panic!() };
        assert!((900.0..=1_000.0).contains(&ms), "{ms}");
        shares.set_busy(false);
        let last = (0..20).map(|_| shares.next()).last().unwrap();
        assert!(matches!(last, Effort::Time(ms) if ms <= 5_000.0));
        let late = Shares::new(Limit::Time(10.0), 9, 9, 1e6);
        assert_eq!(late.next(), Effort::Time(LEAST_MS));
        assert_eq!(Shares::new(Limit::Nodes(1000), 10, 3, 0.0).next(), Effort::Nodes(100));
    }
}
