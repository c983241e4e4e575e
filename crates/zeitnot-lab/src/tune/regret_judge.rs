//! Compares two points by the regret of their stops in recorded searches, at equal mean playouts.

use super::course::Judgement;
use super::spsa::Probe;
use super::target::{TargetError, Targets};
use crate::games::time_control::TimeControl;
use crate::recordings::{RecordedSearch, ReplayRules, Speed, equal_nodes, meets_nodes};
use thiserror::Error;
use zeitnot_engine::engine::Options;
use zeitnot_time::SpecError;

/// Recorded searches and the clock that they are replayed with.
#[derive(Clone, Copy, Debug)]
pub struct RegretCell<'a> {
    /// The name of the recording.
    pub name: &'a str,
    /// The searches.
    pub searches: &'a [RecordedSearch],
    /// Mean playouts of a move.
    pub nodes: f64,
    /// The clock.
    pub control: TimeControl,
}

/// Compares two points of a tuning over recorded searches.
#[derive(Clone)]
pub struct RegretJudge<'a> {
    /// The recordings and clocks; each iteration takes the next one.
    pub cells: Vec<RegretCell<'a>>,
    /// Targets that the parameters are set on.
    pub targets: Targets,
    /// Playouts between two checks of the stoppers.
    pub batch: u64,
    /// The regret that counts as one point.
    pub point: f64,
}

/// Why two points cannot be compared. The text is one line.
#[derive(Debug, Error)]
pub enum JudgeError {
    /// Invalid values.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// An invalid time manager.
    #[error(transparent)]
    Manager(#[from] SpecError),
    /// Too many simulated searches outgrow their records, so that their choices lose nothing.
    #[error(
        "{cell}: {:.0} % of the moves end beyond their records, where no choice loses anything: a lower --nps, a shorter --tc, or recordings with a larger --factor",
        100.0 * .share
    )]
    BeyondRecord {
        /// The recording and the clock.
        cell: String,
        /// The share of such moves.
        share: f64,
    },
}

impl RegretJudge<'_> {
    /// Compares the two points of an iteration, each on a thread of its own.
    ///
    /// # Errors
    /// [`JudgeError`].
    pub fn judge(&self, probe: &Probe) -> Result<Judgement, JudgeError> {
        let cell = &self.cells[probe.turn(self.cells.len())];
        let [plus, minus] = [self.targets.options(&probe.plus)?, self.targets.options(&probe.minus)?];
        let (plus, minus) = std::thread::scope(|scope| {
            let other = scope.spawn(|| self.regret(cell, &minus));
            let one = self.regret(cell, &plus);
            (one, other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
        Ok(Judgement::of_regrets(format!("{} {}", cell.name, cell.control), [plus?, minus?], self.point))
    }

    /// The mean regret with these options, and why the options are refused, if they are.
    fn regret(&self, cell: &RegretCell<'_>, options: &Options) -> Result<(Option<f64>, Option<String>), SpecError> {
        // Any speed does as the start of the search for the speed that gives the nodes.
        let speed = Speed { nps: 5.0 * cell.nodes, batch: self.batch };
        let rules = ReplayRules { control: cell.control, speed, stoppers: options.stopper_params() };
        let (_, replayed) = equal_nodes(cell.searches, &options.time_manager_spec(), &rules, cell.nodes)?;
        let refused = if replayed.forfeits > 0 {
            Some(format!("used more than its clock in {} of {} moves", replayed.forfeits, replayed.moves.len()))
        } else if !meets_nodes(&replayed, cell.nodes) {
            let nearest = replayed.mean_nodes();
            Some(format!("no speed leads to {:.0} playouts a move, the nearest to {nearest:.0}", cell.nodes))
        } else {
            None
        };
        Ok((Some(replayed.mean_regret()), refused))
    }
}

#[cfg(test)]
mod tests {
    use super::super::course::Measured;
    use super::super::parameter_file::read_parameters;
    use super::super::spsa::Spsa;
    use super::*;
    use crate::simulation::built_in_recording;

    /// Two games of those in the program.
    fn traces() -> (Vec<RecordedSearch>, f64) {
        let (header, mut traces) = built_in_recording().unwrap();
        traces.retain(|trace| trace.game < 2);
        (traces, header.nodes as f64)
    }

    fn judge<'a>(traces: &'a [RecordedSearch], nodes: f64, lines: &str) -> (RegretJudge<'a>, Spsa) {
        let parameters = read_parameters(lines).unwrap();
        let targets = Targets::new(&Options::default(), &parameters).unwrap();
        let cell = RegretCell { name: "a", searches: traces, nodes, control: "10+0.1".parse().unwrap() };
        let cells = vec![cell, RegretCell { name: "b", ..cell }];
        (RegretJudge { cells, targets, batch: 64, point: 1e-4 }, Spsa { parameters, iterations: 10, seed: 1 })
    }

    const EXTENSION: &str = "smooth(extension), float, 0.5, 0, 4, 2, 0.002";

    #[test]
    fn points_are_the_regret_that_the_first_one_saves() {
        let (traces, nodes) = traces();
        let (judge, spsa) = judge(&traces, nodes, EXTENSION);
        let probe = spsa.probe(2, &[2.0]);
        let judged = judge.judge(&probe).unwrap();
        assert_eq!((judged.cell.as_str(), &judged.refused), ("b 10+0.1", &[None, None]));
        let Measured::Regret([Some(plus), Some(minus)]) = judged.measured else { panic!("{judged:?}") };
        assert!(plus > 0.0 && minus > 0.0 && plus != minus, "{judged:?}");
        assert!((judged.points - (minus - plus) * 1e4).abs() < 1e-9, "{judged:?}");
        assert_eq!(judge.judge(&probe).unwrap(), judged);
        let mut same = probe;
        same.minus.clone_from(&same.plus);
        assert_eq!(judge.judge(&same).unwrap().points, 0.0);
    }

    #[test]
    fn points_that_cannot_be_compared_are_refused() {
        let (traces, _) = traces();
        let (judge, spsa) = judge(&traces, 1e9, EXTENSION);
        let judged = judge.judge(&spsa.probe(1, &[2.0])).unwrap();
        let [Some(plus), Some(_)] = &judged.refused else { panic!("{judged:?}") };
        assert!(plus.starts_with("no speed leads to 1000000000 playouts"), "{plus}");
        assert_eq!(judged.counted_points(), 0.0);
    }

    #[test]
    fn parameters_of_the_search_are_refused() {
        let (traces, nodes) = traces();
        let check = |lines: &str| {
            let (judge, spsa) = judge(&traces, nodes, lines);
            judge.targets.check_effect(&spsa.parameters).map_err(|error| error.to_string())
        };
        assert_eq!(check(&format!("{EXTENSION}\nSmartPruningFactor, float, 1.33, 0, 4, 0.2, 0.002")), Ok(()));
        let error = check("CPuct, float, 1.7, 1, 3, 0.2, 0.002").unwrap_err();
        assert!(error.starts_with("CPuct has no effect on recorded searches") && error.lines().count() == 1, "{error}");
    }
}
