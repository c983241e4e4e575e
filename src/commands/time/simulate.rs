//! `zeitnot time simulate`: simulates the clocks of thousands of timed games.

use crate::commands::flags::{flag, json_flag, time_flags};
use crate::commands::output::{note, say};
use crate::commands::{cores, progress};
use anyhow::Context as _;
use clap::{ArgMatches, Command, value_parser};
use std::path::PathBuf;
use zeitnot_base::printable::plain;
use zeitnot_engine::clock::{Clock as _, MonotonicClock};
use zeitnot_engine::digest::sha256;
use zeitnot_engine::digest::sha256_of_file;
use zeitnot_games::{GameRecord, LagModel, read_journal};
use zeitnot_lab::results::{LabResult, SimulationResult, known};
use zeitnot_lab::simulation::{
    GameModel, MOST_BEYOND_RECORD, SimulatedGame, Simulation, SimulationRules, built_in_recording, gain, simulate_games,
};

/// Move numbers whose clocks the table shows.
const SHOWN_MOVES: [usize; 4] = [10, 20, 40, 60];

pub fn command() -> Command {
    let number = |name, usual, most, help| {
        let parser = value_parser!(u64).range(1..=most);
        flag(name, "N").default_value(usual).value_parser(parser).help(help)
    };
    Command::new("simulate")
        .about("Simulate the clocks of thousands of games, drawn from recorded ones")
        .arg(time_flags::managers("Time manager", ", or options such as TimeManager=smooth;SmartPruningFactor=0"))
        .arg(time_flags::time_control())
        .arg(number("games", "2000", 1_000_000, "Games of each manager"))
        .arg(number("seed", "1", u64::MAX, "Seed of all that is random"))
        .arg(
            time_flags::file_list("traces", "Recording of games from which searches are drawn [default: the built-in one]")
                .long_help("Recording of games by time record, from which searches are drawn; may be given again [default: the built-in one]"),
        )
        .arg(
            time_flags::file_list("fit", "Journal of a match (FILE.pgn.jsonl) to which the games are fitted").long_help(
                "Journal of a match (FILE.pgn.jsonl), from which lengths of games, speeds and the mean tree reuse are taken; may be \
                 given again [default: those of the recording's games]",
            ),
        )
        .arg(
            flag("nps", "N")
                .value_parser(value_parser!(f64))
                .help("Playouts a second [default: those of --fit, else 1000]"),
        )
        .arg(time_flags::judged().requires("traces"))
        .arg(time_flags::batch())
        .arg(time_flags::lag())
        .arg(json_flag())
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let nps = time_flags::speeds(matches)?.first().copied();
    let count = |name: &str| matches.get_one::<u64>(name).copied().context("it has a default");
    let (control, batch, seed) = (time_flags::control(matches)?, count("batch")?, count("seed")?);
    let lag: Option<LagModel> = matches.get_one("lag").copied();
    let managers: Vec<_> = time_flags::named_managers(matches)
        .into_iter()
        .map(|spec| Ok((spec, time_flags::options_of(spec)?)))
        .collect::<anyhow::Result<_>>()?;
    let drawn = drawn_from(matches, batch)?;
    let lag_text = matches.get_raw("lag").and_then(|mut raw| Some(raw.next()?.to_string_lossy().into_owned()));
    let mut results: Vec<SimulationResult> = Vec::new();
    let mut first: Option<Vec<SimulatedGame>> = None;
    let bar = progress::games(count("games")? * managers.len() as u64);
    for (spec, options) in &managers {
        let rules = SimulationRules { control, nps, batch, stoppers: options.stopper_params(), lag, seed };
        let games = count("games")? as usize;
        let timer = MonotonicClock::new();
        bar.set_message(plain(spec));
        let played = simulate_games(&drawn.model, &options.time_manager_spec(), &rules, games, cores(), &|| bar.inc(1))
            .with_context(|| format!("--manager {spec}"))?;
        let games_per_s = (games as f64 / (timer.now_ms() / 1e3)).round();
        let simulation = Simulation::of(&played);
        let is_told =
            simulation.regret.is_some() && results.first().is_none_or(|first| first.simulation.regret.is_some());
        let gain = gain(first.as_deref().unwrap_or(&played), &played).filter(|_| is_told);
        results.push(SimulationResult {
            manager: (*spec).to_owned(),
            tc: control.to_string(),
            traces: drawn.traces.clone(),
            fit: drawn.fit.clone(),
            nps,
            batch,
            lag: lag_text.clone(),
            seed,
            simulation,
            gain: gain.map(|gain| gain.0),
            gain_interval: gain.and_then(|gain| known(gain.1)),
            games_per_s,
        });
        first.get_or_insert(played);
    }
    bar.finish_and_clear();
    if matches.get_flag("json") {
        let result = |result| LabResult::Simulation(Box::new(result));
        let results: Vec<LabResult> = results.into_iter().map(result).collect();
        // One manager is one object.
        let text = if let [one] = &results[..] { serde_json::to_string(one) } else { serde_json::to_string(&results) };
        say!("{}", text?);
        return Ok(());
    }
    table(&results, lag.is_some());
    Ok(())
}

/// The model that games are drawn from, with digests of the recordings and of the journals that it was fitted to.
struct DrawnFrom {
    model: GameModel,
    traces: String,
    fit: Option<String>,
}

/// Builds the model that games are drawn from. Facts that the journals of `--fit` lack are named on standard error.
fn drawn_from(matches: &ArgMatches, batch: u64) -> anyhow::Result<DrawnFrom> {
    let (searches, nodes) = match matches.get_many::<PathBuf>("traces") {
        Some(paths) => time_flags::searches(matches, paths)?,
        None => {
            let (header, searches) = built_in_recording()?;
            (searches, header.nodes)
        }
    };
    let drawn =
        DrawnFrom { model: GameModel::new(&searches, nodes, batch)?, traces: super::identity(&searches)?, fit: None };
    let Some(paths) = matches.get_many::<PathBuf>("fit") else { return Ok(drawn) };
    let (mut games, mut digests): (Vec<GameRecord>, String) = (Vec::new(), String::new());
    for path in paths {
        let (_, there) = read_journal(path).context("--fit: no journal such as FILE.pgn.jsonl")?;
        games.extend(there.into_values());
        digests.push_str(&sha256_of_file(path)?);
    }
    let (model, untold) = drawn.model.fit(&games).context("--fit")?;
    if untold.speeds && !matches.contains_id("nps") {
        note!("--fit tells no speed of a search: {} playouts a second (--nps sets others)", zeitnot_games::USUAL_NPS);
    }
    if untold.tree_reuse {
        note!("--fit tells no tree reuse: that of the recorded games is kept");
    }
    Ok(DrawnFrom { model, fit: Some(sha256(digests.as_bytes())?), ..drawn })
}

fn table(rows: &[SimulationResult], has_lag: bool) {
    let moves = SHOWN_MOVES.map(|number| format!("after move {number}")).join(" | ");
    let goes_beyond = rows.iter().any(|row| row.simulation.beyond_record > 0.0);
    let [beyond_head, beyond_line] = if goes_beyond { [" moves beyond their records |", "---|"] } else { [""; 2] };
    say!(
        "Clocks in seconds, 5 / 50 / 95 % of the games; moves are counted from the first one out of book; regret is of a finished game, \
         its gain has a 95 % interval over recorded games.\n\n\
         | manager | {moves} | at the end | time in moves 1-15 / 16-40 / later | ms a move | playouts | regret of a game | gain on {} |{beyond_head} lost on time |",
        rows.first().map_or("", |row| &row.manager)
    );
    say!("|---{}|---|---|---|---|---|---|{beyond_line}---|", "|---".repeat(SHOWN_MOVES.len()));
    let quantiles = |p5: f64, p50: f64, p95: f64| format!("{:.2} / {:.2} / {:.2}", p5 / 1e3, p50 / 1e3, p95 / 1e3);
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    for SimulationResult { manager, simulation, gain, gain_interval, .. } in rows {
        let clock = |number: usize| {
            let at = simulation.clock_ms.get(number - 1)?.clock_ms;
            Some(quantiles(at.p5, at.p50, at.p95))
        };
        let clocks = SHOWN_MOVES.map(|number| or_dash(clock(number))).join(" | ");
        let left = simulation.left_ms;
        let [opening, middle, end] = simulation.share_by_phase.map(|share| 100.0 * share);
        say!(
            "| {manager} | {clocks} | {} | {opening:.0} / {middle:.0} / {end:.0} % | {:.0} | {:.0} | {} | {} |{} {} |",
            quantiles(left.p5, left.p50, left.p95),
            simulation.mean_ms,
            simulation.mean_playouts,
            or_dash(simulation.regret.map(|regret| format!("{regret:.3}"))),
            or_dash(gain.map(|gain| format!("{gain:+.3} {}", super::interval(*gain_interval, 1.0, 3)))),
            if goes_beyond { format!(" {:.2} % |", 100.0 * simulation.beyond_record) } else { String::new() },
            // Without a lag no game is lost on time, by construction.
            if has_lag || simulation.flag_rate > 0.0 {
                format!("{:.2} %", 100.0 * simulation.flag_rate)
            } else {
                "no lag".to_owned()
            },
        );
    }
    let speed: f64 = rows.iter().map(|row| row.games_per_s).sum::<f64>() / rows.len().max(1) as f64;
    say!("\n{} games of each, {speed:.0} a second", rows.first().map_or(0, |row| row.simulation.games));
    if rows.iter().any(|row| row.simulation.beyond_record > MOST_BEYOND_RECORD) {
        say!(
            "No regret is told where more than {:.0} % of the moves end beyond their records: there no choice loses anything.",
            100.0 * MOST_BEYOND_RECORD
        );
    }
}
