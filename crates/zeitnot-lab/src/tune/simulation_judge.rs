//! Compares two points by the regret of whole simulated games: how a clock is shared out among the moves counts, too.

use super::course::Judgement;
use super::regret_judge::JudgeError;
use super::spsa::Probe;
use super::target::Targets;
use crate::games::lag::LagModel;
use crate::games::time_control::TimeControl;
use crate::simulation::{GameModel, MOST_BEYOND_RECORD, SimulationRules, simulate};
use zeitnot_engine::engine::Options;
use zeitnot_engine::splitmix::mix;

/// Games to draw from, and the clock that they are simulated with.
#[derive(Clone, Copy)]
pub struct SimulationCell<'a> {
    /// The name of the recording.
    pub name: &'a str,
    /// The games of the recording.
    pub model: &'a GameModel,
    /// The clock.
    pub control: TimeControl,
    /// Playouts a second.
    pub nps: f64,
}

/// Compares two points of a tuning over simulated games.
#[derive(Clone)]
pub struct SimulationJudge<'a> {
    /// The recordings and clocks; each iteration takes the next one.
    pub cells: Vec<SimulationCell<'a>>,
    /// Targets that the parameters are set on.
    pub targets: Targets,
    /// Playouts between two checks of the stoppers.
    pub batch: u64,
    /// The lag of the GUI.
    pub lag: Option<LagModel>,
    /// Games of an iteration, the same for both points.
    pub games: usize,
    /// The seed of the games, from which each iteration draws its own.
    pub seed: u64,
    /// The regret of a game that counts as one point.
    pub point: f64,
    /// Threads that simulate.
    pub threads: usize,
}

impl SimulationJudge<'_> {
    /// Compares the two points of an iteration.
    ///
    /// # Errors
    /// [`JudgeError`].
    pub fn judge(&self, probe: &Probe) -> Result<Judgement, JudgeError> {
        let cell = &self.cells[probe.turn(self.cells.len())];
        let [plus, minus] = [self.targets.options(&probe.plus)?, self.targets.options(&probe.minus)?];
        let of = |options| self.regret(cell, probe.iteration, options);
        Ok(Judgement::of_regrets(format!("{} {}", cell.name, cell.control), [of(&plus)?, of(&minus)?], self.point))
    }

    /// The mean regret of the games that were finished with these options, and why the options are refused, if they
    /// are.
    fn regret(
        &self,
        cell: &SimulationCell<'_>,
        iteration: u64,
        options: &Options,
    ) -> Result<(Option<f64>, Option<String>), JudgeError> {
        let rules = SimulationRules {
            control: cell.control,
            nps: Some(cell.nps),
            batch: self.batch,
            stoppers: options.stopper_params(),
            lag: self.lag,
            seed: self.seed ^ mix(iteration),
        };
        let simulation = simulate(cell.model, &options.time_manager_spec(), &rules, self.games, self.threads)?;
        let share = simulation.beyond_record;
        if share > MOST_BEYOND_RECORD {
            return Err(JudgeError::BeyondRecord { cell: format!("{} {}", cell.name, cell.control), share });
        }
        let lost = (simulation.flag_rate * self.games as f64).round();
        let refused = (lost > 0.0).then(|| format!("lost {lost} of {} games on time", self.games));
        Ok((simulation.regret, refused))
    }
}

#[cfg(test)]
mod tests {
    use super::super::course::Measured;
    use super::super::parameter_file::read_parameters;
    use super::super::spsa::Spsa;
    use super::*;
    use crate::simulation::built_in_recording;

    const EXTENSION: &str = "smooth(extension), float, 0.5, 0, 4, 0.5, 0.002";

    fn model() -> GameModel {
        let (header, traces) = built_in_recording().unwrap();
        GameModel::new(&traces, header.nodes, 8).unwrap()
    }

    fn judge<'a>(model: &'a GameModel, lines: &str, lag: Option<&str>) -> (SimulationJudge<'a>, Spsa) {
        let parameters = read_parameters(lines).unwrap();
        let targets = Targets::new(&Options::default(), &parameters).unwrap();
        let cell = SimulationCell { name: "a", model, control: "2".parse().unwrap(), nps: 1_000.0 };
        let judge = SimulationJudge {
            cells: vec![cell, SimulationCell { name: "b", ..cell }],
            targets,
            batch: 8,
            lag: lag.map(|lag| lag.parse().unwrap()),
            games: 6,
            seed: 1,
            point: 1e-3,
            threads: 2,
        };
        (judge, Spsa { parameters, iterations: 10, seed: 1 })
    }

    #[test]
    fn points_are_the_regret_that_the_first_one_saves() {
        let model = model();
        let (judge, spsa) = judge(&model, EXTENSION, None);
        let probe = spsa.probe(2, &[1.0]);
        let judged = judge.judge(&probe).unwrap();
        assert_eq!((judged.cell.as_str(), &judged.refused), ("b 2", &[None, None]));
        let Measured::Regret([Some(plus), Some(minus)]) = judged.measured else { panic!("{judged:?}") };
        assert!(plus > 0.0 && minus > 0.0 && plus != minus, "{judged:?}");
        assert!((judged.points - (minus - plus) * 1e3).abs() < 1e-9, "{judged:?}");
        assert_eq!(SimulationJudge { threads: 1, ..judge.clone() }.judge(&probe).unwrap(), judged);
        // Both points play the same games.
        let mut same = probe;
        same.minus.clone_from(&same.plus);
        assert_eq!(judge.judge(&same).unwrap().points, 0.0);
    }

    #[test]
    fn points_that_lose_on_time_are_refused() {
        let model = model();
        let (judge, spsa) = judge(&model, EXTENSION, Some("600"));
        let judged = judge.judge(&spsa.probe(1, &[1.0])).unwrap();
        let [Some(plus), Some(_)] = &judged.refused else { panic!("{judged:?}") };
        assert!(plus.starts_with("lost ") && plus.ends_with(" of 6 games on time"), "{plus}");
    }

    #[test]
    fn a_clock_that_outgrows_the_records_is_refused() {
        let model = model();
        let (mut judge, spsa) = judge(&model, EXTENSION, None);
        judge.cells.iter_mut().for_each(|cell| cell.control = "3600+60".parse().unwrap());
        let error = judge.judge(&spsa.probe(2, &[1.0])).unwrap_err().to_string();
        assert!(error.starts_with("b 3600+60: ") && error.contains("beyond their records"), "{error}");
        assert_eq!(error.lines().count(), 1);
    }

    #[test]
    fn parameters_of_the_search_are_refused() {
        let model = model();
        let (judge, spsa) = judge(&model, "CPuct, float, 1.7, 1, 3, 0.2, 0.002", None);
        let error = judge.targets.check_effect(&spsa.parameters).unwrap_err().to_string();
        assert!(error.starts_with("CPuct has no effect on") && error.lines().count() == 1, "{error}");
    }
}
