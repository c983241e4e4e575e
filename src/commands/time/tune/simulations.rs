//! Compares two points of a tuning over simulated games, drawn from the recordings that the flags name.

use super::args::point_of;
use super::{Judge, file_name};
use crate::commands::flags::time_flags;
use crate::commands::{cores, engine_options};
use anyhow::Context as _;
use clap::ArgMatches;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use zeitnot_lab::recordings::Speed;
use zeitnot_lab::simulation::{GameModel, built_in_recording};
use zeitnot_lab::tune::{Judgement, Probe, SimulationCell, SimulationJudge, Spsa, Targets};
use zeitnot_lab::{LagModel, TimeControl};

/// The regret of a game that counts as one point without `--point`: five Elo.
const POINT: f64 = 1e-2;

/// Compares two points over simulated games.
pub struct SimulatedJudge {
    models: Vec<(String, GameModel)>,
    clocks: Vec<(TimeControl, f64)>,
    targets: Targets,
    options: BTreeMap<&'static str, String>,
    batch: u64,
    lag: Option<LagModel>,
    games: usize,
    seed: u64,
    point: f64,
}

impl SimulatedJudge {
    /// Reads the recordings, or takes the one in the program.
    pub fn new(matches: &ArgMatches, spsa: &Spsa) -> anyhow::Result<SimulatedJudge> {
        let engine = engine_options::engine(matches, engine_options::ONLY_FIND)?;
        let count = |name: &str| matches.get_one::<u64>(name).copied().context("it has a default");
        let batch = count("batch")?;
        let model = |path: &PathBuf| {
            let (searches, nodes) = time_flags::searches(std::iter::once(path))?;
            Ok((file_name(path), GameModel::new(&searches, nodes, batch)?))
        };
        let models = match matches.get_many::<PathBuf>("traces") {
            Some(paths) => paths.map(model).collect::<anyhow::Result<_>>()?,
            None => {
                let (header, searches) = built_in_recording()?;
                vec![("built-in".to_owned(), GameModel::new(&searches, header.nodes, batch)?)]
            }
        };
        let speeds = time_flags::speeds(matches)?;
        // One speed is for all controls.
        let nps = |at: usize| speeds.get(at).or(speeds.first()).copied().unwrap_or(Speed::USUAL_NPS);
        let judge = SimulatedJudge {
            models,
            clocks: time_flags::controls_with_speeds(matches)?
                .into_iter()
                .enumerate()
                .map(|(at, tc)| (tc, nps(at)))
                .collect(),
            targets: Targets::new(engine.options(), &spsa.parameters)?,
            options: engine.options().changed().collect(),
            batch,
            lag: matches.get_one("lag").copied(),
            games: count("games")? as usize,
            seed: spsa.seed,
            point: point_of(matches, POINT)?,
        };
        judge.targets.check_effect(&spsa.parameters)?;
        Ok(judge)
    }

    fn judge_of_cells(&self) -> SimulationJudge<'_> {
        let cells = self.clocks.iter().flat_map(|(control, nps)| {
            let cell = |(name, model)| SimulationCell { name, model, control: *control, nps: *nps };
            self.models.iter().map(|(name, model)| (name.as_str(), model)).map(cell)
        });
        SimulationJudge {
            cells: cells.collect(),
            targets: self.targets.clone(),
            batch: self.batch,
            lag: self.lag,
            games: self.games,
            seed: self.seed,
            point: self.point,
            threads: cores(),
        }
    }
}

impl Judge for SimulatedJudge {
    fn comparisons(&self) -> u64 {
        (self.models.len() * self.clocks.len()) as u64
    }

    fn targets(&self) -> &Targets {
        &self.targets
    }

    fn settings(&self, matches: &ArgMatches) -> anyhow::Result<Value> {
        let controls: Vec<String> = self.clocks.iter().map(|(control, _)| control.to_string()).collect();
        let speeds: Vec<f64> = self.clocks.iter().map(|(_, nps)| *nps).collect();
        let settings = json!({
            "tc": controls,
            "nps": speeds,
            "batch": self.batch,
            "lag": self.lag.map(|lag| format!("{lag:?}")),
            "games": self.games,
            "point": self.point,
            "options": self.options,
        });
        super::with_recordings(matches, settings)
    }

    fn judge(&self, probe: &Probe) -> anyhow::Result<Option<Judgement>> {
        Ok(Some(self.judge_of_cells().judge(probe)?))
    }
}
