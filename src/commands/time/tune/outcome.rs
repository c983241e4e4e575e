//! Prints the result of a tuning: a table, the options as they are given, and the lines of OpenBench.

use super::super::charts::write_charts;
use super::file_name;
use crate::commands::output::{note, say};
use anyhow::Context as _;
use std::fs::File;
use std::path::Path;
use zeitnot_engine::engine::options::find;
use zeitnot_lab::report::{Report, ReportRules};
use zeitnot_lab::results::{LabResult, TunedParameter, TuningResult};
use zeitnot_lab::strength::elo::EloDifference;
use zeitnot_lab::tune::{Iteration, Measured, Parameter, Spsa, Targets};
use zeitnot_text::files::write_whole;

/// The file with the parameters at their new values, in the folder of the tuning.
const TUNED: &str = "tuned.params";
/// Regrets are shown in thousandths of a value, as `time replay` prints them.
const SHOWN: f64 = 1e3;

/// Writes the charts of the course into the folder.
pub fn charts(out: &Path, course: &Path, is_begun: bool) -> anyhow::Result<()> {
    if !is_begun {
        return Ok(());
    }
    let mut file = File::open(course).with_context(|| format!("cannot read {}", course.display()))?;
    let mut report = Report::default();
    report.add(file_name(out), &mut file, &ReportRules::default()).with_context(|| course.display().to_string())?;
    write_charts(out, &report.sections()).map(drop)
}

/// Prints the result.
///
/// # Errors
/// The system's errors, and one if the result lost a game on time: such a result is refused.
pub fn tell(
    spsa: &Spsa,
    values: &[f64],
    course: &[&Iteration],
    targets: &Targets,
    out: &Path,
    is_json: bool,
) -> anyhow::Result<()> {
    let result = spsa.result(values);
    let (iterations, comparisons): (Vec<&Iteration>, Vec<&Iteration>) =
        course.iter().partition(|done| done.iteration <= spsa.iterations);
    let refused: usize = iterations.iter().map(|done| done.judgement.refused.iter().flatten().count()).sum();
    let is_fit = comparisons.iter().all(|done| done.judgement.refused[0].is_none());
    let settings = targets.settings(&result)?;
    let lines: Vec<String> =
        spsa.parameters.iter().zip(&result).map(|(parameter, value)| parameter.line(*value)).collect();
    let path = out.join(TUNED);
    if is_fit {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        write_whole(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if is_json {
        let parameter = |(parameter, value): (&Parameter, &f64)| TunedParameter {
            name: parameter.name.clone(),
            start: parameter.start,
            value: *value,
        };
        let tuning = TuningResult {
            parameters: spsa.parameters.iter().zip(&result).map(parameter).collect(),
            iterations: spsa.iterations,
            refused_points: refused,
            is_refused: !is_fit,
            against_start: comparisons.iter().map(|done| done.judgement.clone()).collect(),
            flags: flags(&settings),
            options: settings.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect(),
            openbench: lines.clone(),
        };
        say!("{}", serde_json::to_string(&LabResult::Tuning(tuning))?);
    } else {
        table(spsa, &result);
        say!(
            "\n{} iterations; points refused because of time: {refused} of {}",
            iterations.len(),
            2 * iterations.len()
        );
        comparisons.iter().for_each(|done| say!("{}", comparison(done)));
    }
    if let Some(done) = comparisons.iter().find(|done| done.judgement.refused[0].is_some()) {
        let why = done.judgement.refused[0].as_deref().unwrap_or_default();
        anyhow::bail!("the result is REFUSED: it {why} at {}", done.judgement.cell);
    }
    if !is_json {
        say!("\n{}\n", flags(&settings));
        settings.iter().for_each(|(name, value)| say!("setoption name {name} value {value}"));
        say!("");
        lines.iter().for_each(|line| say!("{line}"));
    }
    note!("the course, its charts and these lines ({TUNED}) in {}", out.display());
    Ok(())
}

fn table(spsa: &Spsa, result: &[f64]) {
    say!("| parameter | start | result | steps of c_end | range |\n|---|---|---|---|---|");
    for (parameter, value) in spsa.parameters.iter().zip(result) {
        let steps = (value - parameter.start) / parameter.c_end;
        let at_end = if *value == parameter.min || *value == parameter.max { ", at its end" } else { "" };
        let (name, start, min, max) = (&parameter.name, parameter.start, parameter.min, parameter.max);
        say!("| {name} | {start} | {value} | {steps:+.1} | {min} to {max}{at_end} |");
    }
}

/// The comparison of the result with the start, in a line.
fn comparison(done: &Iteration) -> String {
    let cell = &done.judgement.cell;
    let told = match &done.judgement.measured {
        Measured::Games(results) => format!(
            "+{} ={} -{}, Elo {}",
            results.wins,
            results.draws,
            results.losses,
            EloDifference::new(results).logistic
        ),
        Measured::Regret([now, before]) => {
            let shown = |regret: &Option<f64>| {
                regret.map_or_else(|| "unknown".to_owned(), |regret| format!("{:.3}", regret * SHOWN))
            };
            format!("regret {} instead of {} thousandths", shown(now), shown(before))
        }
    };
    let of_start = done.judgement.refused[1].as_ref().map(|why| format!("; the start {why}")).unwrap_or_default();
    format!("result against the start at {cell}: {told}{of_start}")
}

/// The settings as flags of the command line.
fn flags(settings: &[(&'static str, String)]) -> String {
    let flag = |(name, value): &(&'static str, String)| {
        let flag = find(name).map_or(*name, |spec| spec.flag);
        // A specification has parentheses, which a shell reads.
        if value.contains('(') {
            format!("--{flag}='{}'", value.replace('\'', "\""))
        } else {
            format!("--{flag}={value}")
        }
    };
    settings.iter().map(flag).collect::<Vec<_>>().join(" ")
}
