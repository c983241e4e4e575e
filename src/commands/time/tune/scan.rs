//! `zeitnot time tune scan`: measures the worth of parameters of the search, by short searches of recorded positions.

use crate::commands::engine_options::{self, MAY_INSTALL};
use crate::commands::flags::{flag, json_flag, time_flags};
use crate::commands::output::{note, notes, say};
use crate::commands::{cores, interrupt, progress};
use anyhow::Context as _;
use clap::{ArgAction, ArgMatches, Command, value_parser};
use std::sync::Arc;
use zeitnot_engine::backend::SharedEvaluations;
use zeitnot_engine::engine::{self, Options, is_same_network};
use zeitnot_lab::recordings::{Chooser, RecordedSearch, Regret, choose_all};
use zeitnot_lab::results::{LabResult, ScanPoint, known};
use zeitnot_text::printable::plain;

/// Evaluations that are kept: all values of a parameter search the same positions.
const SHARED_EVALUATIONS: usize = 2_000_000;
/// Values are shown in thousandths.
const SHOWN: f64 = 1e3;

pub fn command() -> Command {
    let command = Command::new("scan")
        .about("Scan values of parameters: short searches of recorded positions, judged by the long ones")
        .arg(time_flags::files("Recordings of time record"))
        .arg(
            flag("with", "NAME=VALUE,...")
                .action(ArgAction::Append)
                .required(true)
                .help("Option and its values, or several options (CPuct=1.5;FpuValue=0.3); may be given again"),
        )
        .arg(
            flag("playouts", "N")
                .value_parser(value_parser!(u64).range(1..))
                .help("Playouts of a search [default: those of the recording's moves]"),
        )
        .arg(time_flags::part())
        .arg(json_flag());
    engine_options::add_to(command)
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let (searches, nodes) = time_flags::searches_of_part(matches, time_flags::named_files(matches))?;
    let playouts = matches.get_one::<u64>("playouts").copied().unwrap_or(nodes);
    let base = engine_options::engine(matches, MAY_INSTALL)?.options().clone();
    let mut candidates = vec![("as it is".to_owned(), base.clone())];
    for text in matches.get_many::<String>("with").unwrap_or_default() {
        for (name, options) in candidates_of(text, &base).with_context(|| format!("--with {text}"))? {
            anyhow::ensure!(is_same_network(&base, &options), "--with {name}: it loads another network");
            candidates.push((name, options));
        }
    }
    let loaded = engine::load_network(&base, MAY_INSTALL, &notes())?;
    note!("{}", loaded.news);
    let backend = SharedEvaluations::around(Arc::clone(&loaded.backend), SHARED_EVALUATIONS);
    let interrupted = interrupt::on_request()?;
    let bar = progress::positions((searches.len() * candidates.len()) as u64);
    let (mut points, mut first_regrets) = (Vec::new(), None);
    for (name, options) in candidates {
        bar.set_message(plain(&name));
        let make = || Chooser::new(&options, Arc::clone(&backend), playouts);
        let Some(choices) = choose_all(&searches, cores(), &make, &interrupted, &|| bar.inc(1))? else {
            bar.finish_and_clear();
            interrupt::exit("interrupted");
        };
        points.push(point(name, &searches, &choices, playouts, &mut first_regrets));
    }
    bar.finish_and_clear();
    if matches.get_flag("json") {
        let points: Vec<LabResult> = points.into_iter().map(LabResult::Scan).collect();
        say!("{}", serde_json::to_string(&points)?);
    } else {
        table(&points, &searches, playouts);
    }
    Ok(())
}

/// The points that a text names: `A=1,2` names two, `A=1;B=2` one.
fn candidates_of(text: &str, base: &Options) -> anyhow::Result<Vec<(String, Options)>> {
    let set = |name: &str| Ok((name.to_owned(), time_flags::options_with(base, name.split(';'))?));
    if text.contains(';') {
        return Ok(vec![set(text)?]);
    }
    let (option, values) = engine_options::name_value(text)?;
    values.split(',').map(|value| set(&format!("{option}={}", value.trim()))).collect()
}

/// The result of a point; `first_regrets` keeps the regrets of the first one, to compare with.
fn point(
    with: String,
    searches: &[RecordedSearch],
    choices: &[Option<usize>],
    playouts: u64,
    first_regrets: &mut Option<Vec<f64>>,
) -> ScanPoint {
    let regrets: Vec<f64> = searches
        .iter()
        .zip(choices)
        .map(|(search, choice)| choice.map_or(0.0, |choice| search.regret(choice)))
        .collect();
    let regret = Regret::of_choices(searches, &regrets, choices);
    let (gain, gain_interval) = Regret::gain(searches, first_regrets.get_or_insert_with(|| regrets.clone()), &regrets);
    ScanPoint {
        with,
        positions: searches.len(),
        playouts,
        regret: regret.mean,
        regret_interval: known(regret.interval),
        agreement: regret.agreement,
        gain,
        gain_interval: known(gain_interval),
    }
}

fn table(points: &[ScanPoint], searches: &[RecordedSearch], playouts: u64) {
    let games = searches.chunk_by(|a, b| a.game == b.game).count();
    say!(
        "{} positions of {games} games, {playouts} playouts each; values in thousandths of -1 to 1, with 95 % intervals over pairs of games",
        searches.len()
    );
    say!("| options | regret | gain | agreement |");
    say!("|---|---|---|---|");
    let interval = |ends| super::super::interval(ends, SHOWN, 2);
    for point in points {
        say!(
            "| {} | {:.2} {} | {:+.2} {} | {:.1} % |",
            point.with,
            point.regret * SHOWN,
            interval(point.regret_interval),
            point.gain * SHOWN,
            interval(point.gain_interval),
            point.agreement * 100.0,
        );
    }
}
