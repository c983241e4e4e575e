//! The results of `time tune`: the settings with which the journal of its course begins, and the end.

use crate::tune::{Judgement, Parameter};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The settings that decide the course of a tuning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CourseSettings {
    /// The SHA-256 of the program, where it can be read.
    pub program: Option<String>,
    /// The names of the parameters, in the order of the values of an iteration.
    pub order: Vec<String>,
    /// The declarations of the parameters.
    pub parameters: BTreeMap<String, DeclaredParameter>,
    /// Iterations of the schedule.
    pub iterations: u64,
    /// The seed.
    pub seed: u64,
    /// The kind of the judgement.
    pub on: Option<String>,
    /// The settings of the judgement.
    pub judge: Value,
}

/// The declaration of a parameter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeclaredParameter {
    /// `int` or `float`.
    #[serde(rename = "type")]
    pub number: String,
    /// The value at the start.
    pub start: f64,
    /// The smallest value.
    pub min: f64,
    /// The largest value.
    pub max: f64,
    /// The perturbation of the last iteration.
    pub c_end: f64,
    /// The learning rate of the last iteration.
    pub r_end: f64,
}

impl From<&Parameter> for DeclaredParameter {
    fn from(parameter: &Parameter) -> DeclaredParameter {
        let Parameter { is_whole, start, min, max, c_end, r_end, .. } = *parameter;
        let number = if is_whole { "int" } else { "float" }.to_owned();
        DeclaredParameter { number, start, min, max, c_end, r_end }
    }
}

/// The end of a tuning.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuningResult {
    /// The parameters.
    pub parameters: Vec<TunedParameter>,
    /// Iterations of the schedule.
    pub iterations: u64,
    /// Points that were refused since they lost games on time.
    pub refused_points: usize,
    /// Whether the result itself is refused.
    pub is_refused: bool,
    /// The comparisons of the result with the start.
    pub against_start: Vec<Judgement>,
    /// The result as flags of the command line.
    pub flags: String,
    /// The result as options of UCI.
    pub options: BTreeMap<String, String>,
    /// The parameters at their new values, as lines of OpenBench.
    pub openbench: Vec<String>,
}

/// A parameter that was tuned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TunedParameter {
    /// The name.
    pub name: String,
    /// The value at the start.
    pub start: f64,
    /// The value at the end.
    pub value: f64,
}
