//! `zeitnot time replay`: asks time managers when they would have stopped recorded searches, and at what price.

use crate::commands::flags::{json_flag, time_flags};
use crate::commands::output::say;
use anyhow::Context as _;
use clap::{ArgMatches, Command};
use serde_json::Value;
use std::collections::BTreeMap;
use zeitnot_lab::recordings::{
    Oracle, RecordedSearch, Regret, ReplayRules, Replayed, Speed, equal_nodes, meets_nodes, oracle,
};
use zeitnot_lab::results::{LabResult, ReplayResult, known};

/// Factor with which values are shown: in thousandths.
const SHOWN: f64 = 1e3;

pub fn command() -> Command {
    Command::new("replay")
        .about("Replay time managers over recorded searches: when they stop, what they play, and what that loses")
        .arg(time_flags::files("Recordings of time record"))
        .arg(time_flags::managers(
            "Time manager such as \"smooth(preset=lc0)\"",
            ", or options such as TimeManager=smooth;MinimumKLDGainPerNode=0.00005; the others are compared with the first",
        ))
        .arg(time_flags::time_control())
        .arg(time_flags::mean_nodes())
        .arg(time_flags::batch())
        .arg(time_flags::part())
        .arg(time_flags::judged())
        .arg(json_flag())
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let (searches, nodes) = time_flags::searches_to_replay(matches, time_flags::named_files(matches))?;
    let control = time_flags::control(matches)?;
    let batch = *matches.get_one::<u64>("batch").context("--batch has a default")?;
    let bound = oracle(&searches, nodes);
    let oracle_regret = mean(&bound.regrets);
    let identity = super::identity(&searches)?;
    let mut results: Vec<ReplayResult> = Vec::new();
    let mut first_regrets = None;
    for spec in time_flags::named_managers(matches) {
        let options = time_flags::options_of(spec)?;
        // Any speed does: the one that leads to the nodes is looked for from here.
        let speed = Speed { nps: 5.0 * nodes, batch };
        let rules = ReplayRules { control, speed, stoppers: options.stopper_params() };
        let (nps, replayed) = equal_nodes(&searches, &options.time_manager_spec(), &rules, nodes)
            .with_context(|| format!("--manager {spec}"))?;
        anyhow::ensure!(
            meets_nodes(&replayed, nodes),
            "--manager {spec}: no speed leads to {nodes} playouts a move, the nearest to {:.0}; the record's longest search has {}",
            replayed.mean_nodes(),
            searches.iter().filter_map(|search| Some(search.snapshots.last()?.new_nodes)).max().unwrap_or_default()
        );
        let regret = Regret::of(&searches, &replayed);
        let regrets = replayed.regrets();
        let (gain, gain_interval) =
            Regret::gain(&searches, first_regrets.get_or_insert_with(|| regrets.clone()), &regrets);
        results.push(ReplayResult {
            manager: spec.to_owned(),
            traces: identity.clone(),
            tc: control.to_string(),
            batch,
            moves: replayed.moves.len(),
            mean_nodes: replayed.mean_nodes(),
            nps,
            regret: regret.mean,
            regret_interval: known(regret.interval),
            agreement: regret.agreement,
            gain,
            gain_interval: known(gain_interval),
            oracle_share: share(regret.mean, results.first().map_or(regret.mean, |first| first.regret), oracle_regret),
            forfeits: replayed.forfeits,
            stops: stops(&replayed),
            oracle_regret,
        });
    }
    if matches.get_flag("json") {
        let results: Vec<LabResult> = results.into_iter().map(|result| LabResult::Replay(Box::new(result))).collect();
        say!("{}", serde_json::to_string(&results)?);
        return Ok(());
    }
    table(&results, &searches, &bound).iter().for_each(|line| say!("{line}"));
    Ok(())
}

/// The regret saved against the first manager, as a share of what the oracle saves; `None` if it saves nothing.
fn share(regret: f64, first: f64, oracle: f64) -> Option<f64> {
    let headroom = first - oracle;
    (headroom > 0.0).then(|| (first - regret) / headroom)
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len().max(1) as f64
}

fn stops(replayed: &Replayed) -> BTreeMap<String, u64> {
    let mut stops = BTreeMap::new();
    for mv in &replayed.moves {
        let name = mv.stop.and_then(|stop| serde_json::to_value(stop).ok());
        let name = name.as_ref().and_then(Value::as_str).unwrap_or("end_of_trace").to_owned();
        *stops.entry(name).or_default() += 1;
    }
    stops
}

/// The lines of the table.
fn table(rows: &[ReplayResult], searches: &[RecordedSearch], bound: &Oracle) -> Vec<String> {
    let mut lines = Vec::new();
    let games = searches.chunk_by(|a, b| a.game == b.game).count();
    lines.push(format!(
        "{} moves of {games} games; values in thousandths of -1 to 1, with 95 % intervals over pairs of games",
        searches.len()
    ));
    // Moves that used more than the clock are shown where there are any.
    let has_forfeits = rows.iter().any(|row| row.forfeits > 0);
    let [forfeits_head, forfeits_line] = if has_forfeits { [" moves lost on time |", "---|"] } else { [""; 2] };
    lines.push(format!(
        "| manager | mean nodes | regret | gain on {} | of the oracle's | agreement |{forfeits_head} stops |",
        rows[0].manager
    ));
    lines.push(format!("|---|---|---|---|---|---|{forfeits_line}---|"));
    let interval = |ends| super::interval(ends, SHOWN, 2);
    for row in rows {
        let stops: Vec<String> = row.stops.iter().map(|(name, count)| format!("{name} {count}")).collect();
        lines.push(format!(
            "| {} | {:.0} | {:.2} {} | {:+.2} {} | {} | {:.1} % |{} {} |",
            row.manager,
            row.mean_nodes,
            row.regret * SHOWN,
            interval(row.regret_interval),
            row.gain * SHOWN,
            interval(row.gain_interval),
            row.oracle_share.map_or("-".to_owned(), |share| format!("{:.0} %", share * 100.0)),
            row.agreement * 100.0,
            if has_forfeits { format!(" {} |", row.forfeits) } else { String::new() },
            stops.join(", "),
        ));
    }
    let oracle = Regret::of_choices(searches, &bound.regrets, &bound.choices);
    lines.push(format!(
        "| oracle | {:.0} | {:.2} {} | | 100 % | {:.1} % |{} |",
        bound.mean_nodes,
        oracle.mean * SHOWN,
        interval(known(oracle.interval)),
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
        let row = |manager: &str, forfeits| {
            let manager = manager.to_owned();
            ReplayResult { manager, forfeits, ..ReplayResult::default() }
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
