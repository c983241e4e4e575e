//! `zeitnot time tune`: tunes parameters by SPSA, on matches, on replays of recorded searches or on simulated games;
//! and scans single values of parameters.

mod args;
mod games;
mod outcome;
mod replays;
mod scan;
mod simulations;

pub use args::command;

use crate::commands::output::note;
use crate::commands::{interrupt, progress};
use anyhow::Context as _;
use clap::ArgMatches;
use games::GameJudge;
use replays::ReplayJudge;
use serde_json::Value;
use simulations::SimulatedJudge;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use zeitnot_lab::Journal;
use zeitnot_lab::results::{CourseSettings, LabResult};
use zeitnot_lab::setup;
use zeitnot_lab::tune::{Iteration, Judgement, Parameter, Probe, Spsa, Targets, read_parameters, tune};
use zeitnot_text::files::read_text;
use zeitnot_text::printable::plain;

/// The journal of the course, in the folder of the tuning.
const COURSE: &str = "course.jsonl";

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    match matches.subcommand() {
        Some(("scan", matches)) => scan::run(matches),
        Some((judge, matches)) => tune_on(judge, matches),
        None => unreachable!("clap requires one of the commands"),
    }
}

/// Tunes with the judge named `on`.
fn tune_on(on: &str, matches: &ArgMatches) -> anyhow::Result<()> {
    let number = |name: &str| matches.get_one::<u64>(name).copied().with_context(|| format!("--{name} has a default"));
    let path = matches.get_one::<PathBuf>("parameters").context("clap requires --parameters")?;
    let out = matches.get_one::<PathBuf>("out").context("--out has a default")?;
    let text = read_text(path).with_context(|| format!("cannot read {}", path.display()))?;
    let parameters = read_parameters(&text).with_context(|| path.display().to_string())?;
    let spsa = Spsa { parameters, iterations: number("iterations")?, seed: number("seed")? };
    let interrupted = interrupt::on_request()?;
    let judge: Box<dyn Judge> = match on {
        "match" => Box::new(GameJudge::new(matches, &spsa.parameters, out, &interrupted)?),
        "replay" => Box::new(ReplayJudge::new(matches, &spsa.parameters)?),
        _ => Box::new(SimulatedJudge::new(matches, &spsa)?),
    };
    std::fs::create_dir_all(out).with_context(|| format!("cannot make the folder {}", out.display()))?;
    let mut journal = Journal::resume(&out.join(COURSE), settings(on, matches, &spsa, &*judge)?, &[])?;
    if let Some((there, _)) = journal.entries().last_key_value() {
        note!("{}: {there} iterations are there and go on", out.display());
    }
    let end = iterate(&spsa, &*judge, &mut journal, &interrupted)?;
    let course: Vec<&Iteration> = journal.entries().values().collect();
    outcome::charts(out, &out.join(COURSE), !course.is_empty())?;
    let Some(values) = end else { interrupt::exit("interrupted: the same command goes on with it") };
    outcome::tell(&spsa, &values, &course, judge.targets(), out, matches.get_flag("json"))
}

/// Compares the two points of an iteration.
trait Judge {
    /// Compares the points of `probe`; `None` after an interruption.
    fn judge(&self, probe: &Probe) -> anyhow::Result<Option<Judgement>>;

    /// Number of comparisons of the result with the start.
    fn comparisons(&self) -> u64;

    /// The targets that the parameters are set on.
    fn targets(&self) -> &Targets;

    /// The settings beside the parameters that decide the judgements.
    fn settings(&self, matches: &ArgMatches) -> anyhow::Result<Value>;
}

/// The settings of a judge of recorded searches, and the SHA-256 of the files that it reads.
fn with_recordings(matches: &ArgMatches, mut settings: Value) -> anyhow::Result<Value> {
    setup::add_digests(&mut settings, matches.get_many::<PathBuf>("traces").unwrap_or_default())?;
    Ok(settings)
}

/// The settings that decide the course of the tuning.
fn settings(on: &str, matches: &ArgMatches, spsa: &Spsa, judge: &dyn Judge) -> anyhow::Result<Value> {
    let settings = CourseSettings {
        program: setup::program_sha256(),
        order: spsa.parameters.iter().map(|parameter| parameter.name.clone()).collect(),
        parameters: spsa.parameters.iter().map(|parameter| (parameter.name.clone(), parameter.into())).collect(),
        iterations: spsa.iterations,
        seed: spsa.seed,
        on: Some(on.to_owned()),
        judge: judge.settings(matches)?,
    };
    Ok(serde_json::to_value(LabResult::Course(settings))?)
}

/// Runs the iterations that are missing. Returns the values at the end; `None` after an interruption.
fn iterate(
    spsa: &Spsa,
    judge: &dyn Judge,
    journal: &mut Journal<Iteration>,
    interrupted: &AtomicBool,
) -> anyhow::Result<Option<Vec<f64>>> {
    let bar = progress::iterations(spsa.iterations + judge.comparisons());
    bar.tick();
    let end = tune(
        spsa,
        judge.comparisons(),
        journal,
        interrupted,
        &mut |probe| judge.judge(probe),
        &mut |done, is_resumed| {
            bar.set_position(done.iteration);
            bar.set_message(plain(&assigned(spsa, &done.values)));
            if is_resumed {
                // The time to the end is estimated from the iterations that run now.
                bar.reset_eta();
                return;
            }
            let points = [&done.plus, &done.minus];
            for (refused, values) in done.judgement.refused.iter().zip(points) {
                if let Some(why) = refused {
                    let (number, cell) = (done.iteration, &done.judgement.cell);
                    bar.suspend(|| {
                        note!("iteration {number}: {} is REFUSED: it {why} at {cell}", assigned(spsa, values))
                    });
                }
            }
        },
    );
    bar.finish_and_clear();
    end
}

/// The parameters with these values, in a line.
fn assigned(spsa: &Spsa, values: &[f64]) -> String {
    let one = |(parameter, value): (&Parameter, &f64)| format!("{} {:.*}", parameter.name, parameter.decimals(), value);
    spsa.parameters.iter().zip(values).map(one).collect::<Vec<_>>().join(", ")
}

/// The name of a file without its folders.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
