//! `zeitnot time replay`: asks time managers when they would have stopped recorded searches, and at what price.

use crate::commands::json_flag;
use crate::commands::output::say;
use anyhow::Context as _;
use clap::{ArgMatches, Command};
use serde_json::{Map, Value, json};
use zeitnot_lab::traces::{
    Oracle, Regret, ReplayRules, Replayed, SearchTrace, Speed, equal_nodes, meets_nodes, oracle,
};

/// Values are shown in thousandths.
const SHOWN: f64 = 1e3;

pub fn command() -> Command {
    Command::new("replay")
        .about("Replay time managers over recorded searches: when they stop, what they play, and what that loses")
        .arg(super::files("Recordings of time record"))
        .arg(super::managers(
            "Time manager such as \"smooth(preset=lc0)\"",
            ", or options such as TimeManager=smooth;MinimumKLDGainPerNode=0.00005; the others are compared with the first",
        ))
        .arg(super::time_control())
        .arg(super::mean_nodes())
        .arg(super::batch())
        .arg(super::part())
        .arg(json_flag())
}

/// A manager's replay.
struct Row<'a> {
    spec: &'a str,
    nps: f64,
    replayed: Replayed,
    regret: Regret,
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let (traces, nodes) = super::traces_to_replay(matches, super::named_files(matches))?;
    let control = super::control(matches)?;
    let batch = *matches.get_one::<u64>("batch").context("--batch has a default")?;
    let mut rows = Vec::new();
    for spec in super::named_managers(matches) {
        let options = super::options_of(spec)?;
        // Any speed does: the one that leads to the nodes is looked for from here.
        let speed = Speed { nps: 5.0 * nodes, batch };
        let rules = ReplayRules { control, speed, stoppers: options.stopper_params() };
        let (nps, replayed) = equal_nodes(&traces, &options.time_manager_spec(), &rules, nodes)
            .with_context(|| format!("--manager {spec}"))?;
        anyhow::ensure!(
            meets_nodes(&replayed, nodes),
            "--manager {spec}: no speed leads to {nodes} playouts a move, the nearest to {:.0}; the record's longest search has {}",
            replayed.mean_nodes(),
            traces.iter().filter_map(|trace| Some(trace.snapshots.last()?.new_nodes)).max().unwrap_or_default()
        );
        let regret = Regret::of(&traces, &replayed);
        rows.push(Row { spec, nps, replayed, regret });
    }
    let bound = oracle(&traces, nodes);
    if matches.get_flag("json") {
        let conditions = json!({ "traces": super::identity(&traces)?, "tc": control.to_string(), "batch": batch });
        let objects: Vec<Value> = rows.iter().map(|row| object(row, &rows[0], &traces, &bound, &conditions)).collect();
        say!("{}", Value::Array(objects));
        return Ok(());
    }
    table(&rows, &traces, &bound).iter().for_each(|line| say!("{line}"));
    Ok(())
}

/// The share of what the oracle saves against the first manager that this one saves, too.
fn share(row: &Row, first: &Row, bound: f64) -> Option<f64> {
    let headroom = first.regret.mean - bound;
    (headroom > 0.0).then(|| (first.regret.mean - row.regret.mean) / headroom)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

fn stops(replayed: &Replayed) -> Map<String, Value> {
    let mut stops: Map<String, Value> = Map::new();
    for mv in &replayed.moves {
        let name = mv.stop.and_then(|stop| serde_json::to_value(stop).ok());
        let name = name.as_ref().and_then(Value::as_str).unwrap_or("end_of_trace").to_owned();
        let count = stops.get(&name).and_then(Value::as_u64).unwrap_or(0) + 1;
        stops.insert(name, count.into());
    }
    stops
}

fn object(row: &Row, first: &Row, traces: &[SearchTrace], bound: &Oracle, conditions: &Value) -> Value {
    let (gain, interval) = Regret::gain(traces, &first.replayed.regrets(), &row.replayed.regrets());
    json!({
        "manager": row.spec,
        "traces": conditions["traces"],
        "tc": conditions["tc"],
        "batch": conditions["batch"],
        "moves": row.replayed.moves.len(),
        "mean_nodes": row.replayed.mean_nodes(),
        "nps": row.nps,
        "regret": row.regret.mean,
        "regret_interval": super::known(row.regret.interval),
        "agreement": row.regret.agreement,
        "gain": gain,
        "gain_interval": super::known(interval),
        "oracle_share": share(row, first, mean(&bound.regrets)),
        "forfeits": row.replayed.forfeits,
        "stops": stops(&row.replayed),
        "oracle_regret": mean(&bound.regrets),
    })
}

/// The lines of the table.
fn table(rows: &[Row], traces: &[SearchTrace], bound: &Oracle) -> Vec<String> {
    let mut lines = Vec::new();
    let games = traces.chunk_by(|a, b| a.game == b.game).count();
    lines.push(format!(
        "{} moves of {games} games; values in thousandths of -1 to 1, with 95 % intervals over pairs of games",
        traces.len()
    ));
    // Moves that used more than the clock are told where there are any.
    let has_forfeits = rows.iter().any(|row| row.replayed.forfeits > 0);
    let [forfeits_head, forfeits_line] = if has_forfeits { [" moves lost on time |", "---|"] } else { [""; 2] };
    lines.push(format!(
        "| manager | mean nodes | regret | gain on {} | of the oracle's | agreement |{forfeits_head} stops |",
        rows[0].spec
    ));
    lines.push(format!("|---|---|---|---|---|---|{forfeits_line}---|"));
    let interval = |ends: [f64; 2]| super::interval(ends, SHOWN, 2);
    for row in rows {
        let (gain, gains) = Regret::gain(traces, &rows[0].replayed.regrets(), &row.replayed.regrets());
        let share = share(row, &rows[0], mean(&bound.regrets));
        let stops: Vec<String> = stops(&row.replayed).iter().map(|(name, count)| format!("{name} {count}")).collect();
        lines.push(format!(
            "| {} | {:.0} | {:.2} {} | {:+.2} {} | {} | {:.1} % |{} {} |",
            row.spec,
            row.replayed.mean_nodes(),
            row.regret.mean * SHOWN,
            interval(row.regret.interval),
            gain * SHOWN,
            interval(gains),
            share.map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0)),
            row.regret.agreement * 100.0,
            if has_forfeits { format!(" {} |", row.replayed.forfeits) } else { String::new() },
            stops.join(", "),
        ));
    }
    let oracle = Regret::of_choices(traces, &bound.regrets, &bound.choices);
    lines.push(format!(
        "| oracle | {:.0} | {:.2} {} | | 100 % | {:.1} % |{} |",
        bound.mean_nodes,
        oracle.mean * SHOWN,
        interval(oracle.interval),
        oracle.agreement * 100.0,
        if has_forfeits { " |" } else { "" }
    ));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_lost_on_time_are_told_where_there_are_any() {
        let row = |spec, forfeits| {
            let replayed = Replayed { forfeits, ..Replayed::default() };
            Row { spec, nps: 1.0, regret: Regret::of(&[], &replayed), replayed }
        };
        let lines = |forfeits| table(&[row("smooth", 0), row("alphazero", forfeits)], &[], &oracle(&[], 1.0));
        let cells = |lines: &[String], line: usize| lines[line].matches('|').count();
        let told = lines(3);
        assert!(told[1].contains("| moves lost on time |") && told[4].contains("| 3 |"), "{told:?}");
        assert!((2..told.len()).all(|line| cells(&told, line) == cells(&told, 1)), "{told:?}");
        let none = lines(0);
        assert!(!none[1].contains("on time"), "{none:?}");
        assert!((2..none.len()).all(|line| cells(&none, line) == cells(&none, 1)), "{none:?}");
    }
}
