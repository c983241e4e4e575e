//! `zeitnot time simulate`: simulates the clocks of thousands of timed games.

use crate::commands::output::say;
use crate::commands::{cores, json_flag};
use anyhow::Context as _;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Instant;
use zeitnot::lab::simulation::{GameModel, Simulation, SimulationRules, built_in_traces, simulate};
use zeitnot::lab::{GameRecord, LagModel, TimeControl, read_journal};

/// Move numbers whose clocks the table tells.
const SHOWN_MOVES: [usize; 4] = [10, 20, 40, 60];

pub fn command() -> Command {
    let number = |name, usual, most, help| {
        let parser = value_parser!(u64).range(1..=most);
        Arg::new(name).long(name).value_name("N").default_value(usual).value_parser(parser).help(help)
    };
    Command::new("simulate")
        .about("Simulate the clocks of thousands of games, drawn from recorded ones")
        .arg(super::managers("A time manager, or options such as TimeManager=smooth;SmartPruningFactor=0"))
        .arg(super::time_control())
        .arg(number("games", "2000", 1_000_000, "Games of each manager"))
        .arg(number("seed", "1", u64::MAX, "The seed of all random numbers"))
        .arg(
            super::file_list("traces", "Traces of games by time record, from which searches are drawn; may be given again [default: those in the program]"),
        )
        .arg(super::file_list("fit", "Journal of a match (FILE.pgn.jsonl), from which lengths of games, speeds and the mean tree reuse are taken; may be given again [default: those of the traces' games]"))
        .arg(
            Arg::new("nps")
                .long("nps")
                .value_name("N")
                .value_parser(value_parser!(f64))
                .help("Playouts a second [default: those of --fit, else 1000]"),
        )
        .arg(super::batch())
        .arg(
            Arg::new("lag")
                .long("lag")
                .value_name("MS[,WORST]")
                .value_parser(|text: &str| text.parse::<LagModel>())
                .help("The lag of the GUI, its average and its worst; without it no search takes longer than its limit, and no game is lost on time [default: none]"),
        )
        .arg(json_flag())
}

/// A manager's games.
struct Row<'a> {
    spec: &'a str,
    simulation: Simulation,
    games_per_s: f64,
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let nps = super::speeds(matches)?.first().copied();
    let count = |name: &str| matches.get_one::<u64>(name).copied().context("it has a default");
    let (control, batch) = (super::control(matches)?, count("batch")?);
    let managers: Vec<_> = super::named_managers(matches)
        .into_iter()
        .map(|spec| Ok((spec, super::options_of(spec)?)))
        .collect::<anyhow::Result<_>>()?;
    let model = model(matches, batch)?;
    let mut rows = Vec::new();
    for (spec, options) in &managers {
        let rules = SimulationRules {
            control,
            nps,
            batch,
            stoppers: options.stopper_params(),
            lag: matches.get_one("lag").copied(),
            seed: count("seed")?,
        };
        let games = count("games")? as usize;
        let started = Instant::now();
        let simulation = simulate(&model, &options.time_manager_spec(), &rules, games, cores())
            .with_context(|| format!("--manager {spec}"))?;
        rows.push(Row { spec, simulation, games_per_s: games as f64 / started.elapsed().as_secs_f64() });
    }
    if matches.get_flag("json") {
        let mut objects: Vec<Value> = rows.iter().map(|row| object(row, control)).collect();
        // One manager is one object.
        let value = if objects.len() == 1 { objects.remove(0) } else { Value::Array(objects) };
        say!("{value}");
        return Ok(());
    }
    table(&rows, matches.contains_id("lag"));
    Ok(())
}

/// The games that are drawn from.
fn model(matches: &ArgMatches, batch: u64) -> anyhow::Result<GameModel> {
    let (traces, nodes) = match matches.get_many::<PathBuf>("traces") {
        Some(paths) => super::traces(paths)?,
        None => {
            let (header, traces) = built_in_traces()?;
            (traces, header.nodes)
        }
    };
    let model = GameModel::new(&traces, nodes, batch)?;
    let mut games: Vec<GameRecord> = Vec::new();
    for path in matches.get_many::<PathBuf>("fit").unwrap_or_default() {
        games.extend(read_journal(path).context("--fit: no journal such as FILE.pgn.jsonl")?);
    }
    match matches.contains_id("fit") {
        true => Ok(model.fit(&games).context("--fit")?),
        false => Ok(model),
    }
}

fn object(row: &Row, control: TimeControl) -> Value {
    let Simulation {
        games,
        clock_ms,
        left_ms,
        flag_rate,
        share_by_phase,
        regret,
        regret_by_phase,
        mean_ms,
        mean_playouts,
    } = &row.simulation;
    json!({
        "manager": row.spec,
        "tc": control.to_string(),
        "games": games,
        "clock_ms": clock_ms,
        "left_ms": left_ms,
        "flag_rate": flag_rate,
        "share_by_phase": share_by_phase,
        "regret": regret,
        "regret_by_phase": regret_by_phase,
        "mean_ms": mean_ms,
        "mean_playouts": mean_playouts,
        "games_per_s": row.games_per_s.round(),
    })
}

fn table(rows: &[Row], has_lag: bool) {
    let moves = SHOWN_MOVES.map(|number| format!("after move {number}")).join(" | ");
    say!(
        "Clocks in seconds, 5 / 50 / 95 % of the games; moves are counted from the first one out of book.\n\n\
         | manager | {moves} | at the end | time in moves 1-15 / 16-40 / later | ms a move | playouts | regret of a game | lost on time |"
    );
    say!("|---{}|---|---|---|---|---|---|", "|---".repeat(SHOWN_MOVES.len()));
    let quantiles = |p5: f64, p50: f64, p95: f64| format!("{:.2} / {:.2} / {:.2}", p5 / 1e3, p50 / 1e3, p95 / 1e3);
    for Row { spec, simulation, .. } in rows {
        let clock = |number: usize| {
            let at = simulation.clock_ms.get(number - 1)?.clock_ms;
            Some(quantiles(at.p5, at.p50, at.p95))
        };
        let clocks = SHOWN_MOVES.map(|number| clock(number).unwrap_or_else(|| "-".to_owned())).join(" | ");
        let left = simulation.left_ms;
        let [opening, middle, end] = simulation.share_by_phase.map(|share| 100.0 * share);
        say!(
            "| {spec} | {clocks} | {} | {opening:.0} / {middle:.0} / {end:.0} % | {:.0} | {:.0} | {:.3} | {} |",
            quantiles(left.p5, left.p50, left.p95),
            simulation.mean_ms,
            simulation.mean_playouts,
            simulation.regret,
            // Without a lag there is none by construction.
            if has_lag { format!("{:.2} %", 100.0 * simulation.flag_rate) } else { "no lag".to_owned() },
        );
    }
    let speed: f64 = rows.iter().map(|row| row.games_per_s).sum::<f64>() / rows.len().max(1) as f64;
    say!("\n{} games of each, {speed:.0} a second", rows.first().map_or(0, |row| row.simulation.games));
}
