//! Compares two points of a tuning over the recorded searches that the flags name.

use super::args::point_of;
use super::{Judge, file_name};
use crate::commands::engine_options;
use crate::commands::flags::time_flags;
use anyhow::Context as _;
use clap::ArgMatches;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::PathBuf;
use zeitnot_lab::TimeControl;
use zeitnot_lab::recordings::RecordedSearch;
use zeitnot_lab::tune::{Judgement, Parameter, Probe, RegretCell, RegretJudge, Targets};

/// The regret that counts as one point without `--point`.
const POINT: f64 = 1e-4;

/// The recorded searches of a file.
struct Recording {
    name: String,
    searches: Vec<RecordedSearch>,
    nodes: f64,
}

/// Compares two points over recorded searches.
pub struct ReplayJudge {
    recordings: Vec<Recording>,
    controls: Vec<TimeControl>,
    targets: Targets,
    options: BTreeMap<&'static str, String>,
    batch: u64,
    point: f64,
}

impl ReplayJudge {
    /// Reads the recordings.
    pub fn new(matches: &ArgMatches, parameters: &[Parameter]) -> anyhow::Result<ReplayJudge> {
        let engine = engine_options::engine(matches, engine_options::ONLY_FIND)?;
        let targets = Targets::new(engine.options(), parameters)?;
        let paths = matches.get_many::<PathBuf>("traces").unwrap_or_default();
        let recording = |path: &PathBuf| {
            let (searches, nodes) = time_flags::searches_to_replay(matches, std::iter::once(path))?;
            Ok(Recording { name: file_name(path), searches, nodes })
        };
        let judge = ReplayJudge {
            recordings: paths.map(recording).collect::<anyhow::Result<_>>()?,
            controls: time_flags::controls(matches)?,
            targets,
            options: engine.options().changed().collect(),
            batch: *matches.get_one("batch").context("--batch has a default")?,
            point: point_of(matches, POINT)?,
        };
        judge.targets.check_effect(parameters)?;
        Ok(judge)
    }

    fn judge_of_cells(&self) -> RegretJudge<'_> {
        let cells = self.controls.iter().flat_map(|control| {
            self.recordings.iter().map(|recording| {
                let Recording { name, searches, nodes } = recording;
                RegretCell { name, searches, nodes: *nodes, control: *control }
            })
        });
        RegretJudge { cells: cells.collect(), targets: self.targets.clone(), batch: self.batch, point: self.point }
    }
}

impl Judge for ReplayJudge {
    fn comparisons(&self) -> u64 {
        (self.recordings.len() * self.controls.len()) as u64
    }

    fn targets(&self) -> &Targets {
        &self.targets
    }

    fn settings(&self, matches: &ArgMatches) -> anyhow::Result<Value> {
        let controls: Vec<String> = self.controls.iter().map(TimeControl::to_string).collect();
        let nodes: Vec<f64> = self.recordings.iter().map(|recording| recording.nodes).collect();
        let part = matches.get_one::<(u32, u32)>("part").map(|(number, parts)| format!("{number}/{parts}"));
        let settings = json!({
            "tc": controls,
            "mean-nodes": nodes,
            "batch": self.batch,
            "part": part,
            "point": self.point,
            "options": self.options,
        });
        super::with_recordings(matches, settings)
    }

    fn judge(&self, probe: &Probe) -> anyhow::Result<Option<Judgement>> {
        Ok(Some(self.judge_of_cells().judge(probe)?))
    }
}
