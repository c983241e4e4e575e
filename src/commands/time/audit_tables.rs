//! Prints an audit: how each player used its clock, the games lost on time, and the managers beside them.

use super::audit::{Audit, LostGame};
use crate::commands::output::{self, say};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;
use zeitnot_lab::audit::{LostOnTime, PlayerClock, TmgrMove};
use zeitnot_text::words::{plain, seconds};

/// Players whose objects are printed together.
const TOGETHER: usize = 1_000;

/// A text as the cell of a table: nothing in it commands the terminal or ends the cell.
fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}

/// Prints the moves of a log.
pub fn log(path: &Path, moves: &[TmgrMove], is_json: bool) {
    if is_json {
        for mv in moves {
            say!("{}", json!({ "file": path.display().to_string(), "tmgr": mv }));
        }
        return;
    }
    say!("{}: {} moves of Lc0's smooth", path.display(), moves.len());
    say!("| White's clock | Black's clock | granted | target takes | moves left | nps | reused nodes | nodes to add |");
    say!("|---|---|---|---|---|---|---|---|");
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.0}"));
    let time = |ms: Option<f64>| ms.map_or("-".to_owned(), |ms| format!("{} s", seconds(ms)));
    for mv in moves {
        say!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |",
            time(mv.clocks_ms[0]),
            time(mv.clocks_ms[1]),
            time(mv.allocated_ms),
            time(mv.brutto_ms),
            mv.moves.map_or("-".to_owned(), |moves| format!("{moves:.1}")),
            number(mv.nps),
            number(mv.reused),
            number(mv.expected_new)
        );
    }
}

/// Prints the sums as one line of JSON, which may be long: the players come in parts.
pub fn summary(audit: &Audit) {
    output::text("{\"summary\":{\"players\":[");
    let mut part = String::new();
    for (index, clock) in audit.players.clocks(&audit.specs).enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = write!(part, "{comma}{}", json!(clock));
        if index % TOGETHER == TOGETHER - 1 {
            output::text(std::mem::take(&mut part));
        }
    }
    let managers: Vec<Value> = audit
        .specs
        .iter()
        .zip(&audit.managers)
        .map(|(spec, sums)| {
            let errors = sums.moves_left_errors().map(|[median, mean]| json!({ "median": median, "mean": mean }));
            let (moves, budget_to_used) = (sums.moves(), sums.budget_to_used());
            json!({ "manager": spec, "moves": moves, "moves_left_error": errors, "budget_to_used": budget_to_used })
        })
        .collect();
    say!("{part}],\"lost_on_time\":{},\"managers\":{}}}}}", audit.lost_count, Value::Array(managers));
}

/// Prints the sums as tables.
pub fn show(audit: &Audit) {
    players(audit);
    lost(audit);
    managers(audit);
}

fn players(audit: &Audit) {
    let specs: Vec<String> = audit.specs.iter().map(|spec| cell(spec)).collect();
    say!(
        "| player | games | mean time | clock left, 5 / 50 / 95 % | moves 1-15, 16-40, later | hoarded | rushed | risked | overrun | \
         lost on time | budgets of {} beside its times |",
        specs.join(" / ")
    );
    say!("|---|---|---|---|---|---|---|---|---|---|---|");
    let mut part = String::new();
    for (index, clock) in audit.players.clocks(&audit.specs).enumerate() {
        let _ = writeln!(part, "{}", player(&clock, &audit.specs));
        if index % TOGETHER == TOGETHER - 1 {
            output::text(std::mem::take(&mut part));
        }
    }
    output::text(part);
    say!(
        "\nhoarded: games that ended with a quarter of the first clock or more; rushed: moves below a twentieth of an equal share \
         with a fifth of the first clock there; risked: moves that ended with less than a two-hundredth of the first clock; overrun: \
         moves in the file that took more than the clock had; lost on time: games\n"
    );
}

fn player(clock: &PlayerClock, specs: &[&str]) -> String {
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let [opening, middle, end] = clock.share_by_phase.map(|share| 100.0 * share);
    let left = match clock.known_ends {
        0 => "-".to_owned(),
        _ => {
            let left = clock.clock_left_ms;
            format!("{} / {} / {} s", seconds(left.p5), seconds(left.p50), seconds(left.p95))
        }
    };
    let budgets = specs.iter().map(|spec| match clock.budget_to_used.get(*spec) {
        Some(share) if *share > 0.0 => format!("{share:.2}"),
        _ => "-".to_owned(),
    });
    format!(
        "| {} | {} | {} s | {left} | {opening:.0} / {middle:.0} / {end:.0} % | {:.0} % | {:.1} % | {:.1} % | {} | {} | {} |",
        cell(&clock.player),
        clock.games,
        seconds(clock.mean_ms),
        share(clock.hoarded, clock.games),
        share(clock.rushed, clock.moves),
        share(clock.risked, clock.moves),
        clock.overrun,
        clock.lost_on_time,
        budgets.collect::<Vec<_>>().join(" / "),
    )
}

/// The games that were lost on time, and the commands that go on from there.
fn lost(audit: &Audit) {
    if audit.lost.is_empty() {
        return;
    }
    let has_files = audit.lost.iter().any(|game| game.file != audit.lost[0].file);
    let columns = has_files.then_some("file").into_iter().chain(LostOnTime::COLUMNS);
    let columns: Vec<&str> = columns.collect();
    say!("Lost on time:\n\n| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
    for LostGame { file, number, lost } in &audit.lost {
        let file = has_files.then(|| file.clone());
        let cells: Vec<String> = file.into_iter().chain(lost.cells(*number)).map(|text| cell(&text)).collect();
        say!("| {} |", cells.join(" | "));
    }
    if let left @ 1.. = audit.lost_count - audit.lost.len() {
        say!("\n({left} more; --json has all)");
    }
    let commands: Vec<&str> = audit.lost.iter().filter_map(|game| game.lost.explain.as_deref()).collect();
    if !commands.is_empty() {
        say!("\nWhat a manager would have granted there:\n");
        commands.iter().for_each(|command| say!("    {command}"));
    }
    say!("");
}

fn managers(audit: &Audit) {
    say!("| manager | moves left, median / mean error | its budgets beside the times used, all players together |");
    say!("|---|---|---|");
    for (spec, sums) in audit.specs.iter().zip(&audit.managers) {
        let [median, mean] = match sums.moves_left_errors() {
            Some(errors) => errors.map(|error| format!("{error:.0}")),
            None => ["-", "-"].map(str::to_owned),
        };
        say!("| {} | {median} / {mean} | {:.2} |", cell(spec), sums.budget_to_used());
    }
}
