//! Prints an audit: how each player used its clock, the games lost on time, and the managers beside them.

use crate::commands::output::{self, say};
use zeitnot_analysis::audit::{GameSpeed, LostOnTime, PlayerClock};
use zeitnot_base::printable::plain;
use zeitnot_base::words::seconds;
use zeitnot_lab::results::{AuditSums, LostGame, ManagerTotals};

/// A text as a table's cell, without characters that would command the terminal or end the cell.
fn cell(text: &str) -> String {
    plain(text).replace('|', "\\|")
}

/// Prints the sums as tables, and the first games that were lost on time.
pub fn show(sums: &AuditSums, specs: &[String], lost_games: &[LostGame]) {
    players(&sums.players, specs);
    lost(lost_games, sums.lost_on_time);
    managers(&sums.managers);
}

fn players(clocks: &[PlayerClock], specs: &[String]) {
    let names: Vec<String> = specs.iter().map(|spec| cell(spec)).collect();
    say!(
        "| player | speed | games | mean time | clock left, 5 / 50 / 95 % | moves 1-15, 16-40, later | hoarded | rushed | risked | overrun | \
         lost on time | budgets of {} beside its times |",
        names.join(" / ")
    );
    say!("|---|---|---|---|---|---|---|---|---|---|---|---|");
    output::text(clocks.iter().map(|clock| player(clock, specs) + "\n").collect::<String>());
    say!(
        "\ngames: those with times; hoarded: games that ended with a quarter of the first clock or more; rushed: moves below a twentieth of an equal share \
         with a fifth of the first clock there; risked: moves that ended with less than a two-hundredth of the first clock; overrun: \
         moves in the file that took more than the clock had; lost on time: games\n"
    );
}

fn player(clock: &PlayerClock, specs: &[String]) -> String {
    let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
    let [opening, middle, end] = clock.share_by_phase.map(|share| 100.0 * share);
    let left = match clock.known_ends {
        0 => "-".to_owned(),
        _ => {
            let left = clock.clock_left_ms;
            format!("{} / {} / {} s", seconds(left.p5), seconds(left.p50), seconds(left.p95))
        }
    };
    let games = match clock.all_games {
        all if all > clock.games => format!("{} of {all}", clock.games),
        _ => clock.games.to_string(),
    };
    let budgets = specs.iter().map(|spec| match clock.budget_to_used.get(spec) {
        Some(share) if *share > 0.0 => format!("{share:.2}"),
        _ => "-".to_owned(),
    });
    format!(
        "| {} | {} | {} | {} s | {left} | {opening:.0} / {middle:.0} / {end:.0} % | {:.0} % | {:.1} % | {:.1} % | {} | {} | {} |",
        cell(&clock.player),
        clock.speed.map_or("-", GameSpeed::word),
        games,
        seconds(clock.mean_ms),
        share(clock.hoarded, clock.games),
        share(clock.rushed, clock.moves),
        share(clock.risked, clock.moves),
        clock.overrun,
        clock.lost_on_time,
        budgets.collect::<Vec<_>>().join(" / "),
    )
}

/// Prints the games that were lost on time, of `count` in all, and the commands that explain the late moves.
fn lost(games: &[LostGame], count: usize) {
    let Some(first) = games.first() else { return };
    let has_files = games.iter().any(|game| game.file != first.file);
    let columns = has_files.then_some("file").into_iter().chain(LostOnTime::COLUMNS);
    let columns: Vec<&str> = columns.collect();
    say!("Lost on time:\n\n| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
    for LostGame { file, game, lost_on_time } in games {
        let file = has_files.then(|| file.clone());
        let cells: Vec<String> = file.into_iter().chain(lost_on_time.cells(*game)).map(|text| cell(&text)).collect();
        say!("| {} |", cells.join(" | "));
    }
    if let left @ 1.. = count - games.len() {
        say!("\n({left} more; --json has all)");
    }
    let commands: Vec<&str> = games.iter().filter_map(|game| game.lost_on_time.explain.as_deref()).collect();
    if !commands.is_empty() {
        say!("\nWhat a manager would have granted there:\n");
        commands.iter().for_each(|command| say!("    {command}"));
    }
    say!("");
}

fn managers(managers: &[ManagerTotals]) {
    say!("| manager | moves left, median / mean error | its budgets beside the times used, all players together |");
    say!("|---|---|---|");
    for ManagerTotals { manager, moves_left_error, budget_to_used, .. } in managers {
        let errors = moves_left_error
            .map_or_else(|| "- / -".to_owned(), |errors| format!("{:.0} / {:.0}", errors.median, errors.mean));
        say!("| {} | {errors} | {budget_to_used:.2} |", cell(manager));
    }
}
