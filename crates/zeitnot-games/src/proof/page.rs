//! Writes the page of a proof.

use super::{PlayedCell, Pooled, Proof, Verdict, digest, pooled};
use crate::clock_use::ClockUse;
use crate::strength::Results;
use crate::strength::elo::EloDifference;
use std::fmt::Write as _;

/// The manager against which the bounds are declared.
const BOUNDED: &str = "legacy";

/// The page of a proof in Markdown: its declaration, tables and digest. `heading`: program, date and instruction set.
pub fn page(proof: &Proof, cells: &[PlayedCell], heading: &str) -> String {
    let mut text = format!("# What {} is worth\n\n{heading}\n\n", proof.first);
    let Proof { first, book, seed, bounds, .. } = proof;
    let _ = write!(
        text,
        "`{first}` against other managers of the same program with the same network, on a virtual clock. Openings: {book}, each with both\n\
         colours, in the order of seed {seed}. Errors are 95 %, by pairs. Declared before the games: against `{BOUNDED}` all games of a\n\
         scale together have a lower bound above {:+} Elo, and no cell is below {:+}.\n\n",
        bounds.pooled_lower, bounds.cell
    );
    row(&mut text, ["nodes a move", "against", "games", "+ = -", "Elo", "bound"].map(str::to_owned));
    row(&mut text, ["---"; 6].map(str::to_owned));
    for together in pooled(proof, cells) {
        let Pooled { scale, second, results, .. } = &together;
        let bound = if second == BOUNDED { words(together.is_above(bounds.pooled_lower)) } else { "" };
        row(
            &mut text,
            [
                scale.to_string(),
                format!("`{second}`"),
                results.games().to_string(),
                score(results),
                elo(results),
                bound.to_owned(),
            ],
        );
    }
    text.push('\n');
    let head = [
        "nodes a move",
        "network",
        "control",
        "against",
        "games",
        "+ = -",
        "Elo",
        "bound",
        "lost on time",
        "clock left in games of 40 moves, median of each",
    ];
    row(&mut text, head.map(str::to_owned));
    row(&mut text, head.map(|_| "---".to_owned()));
    for played in cells {
        let (cell, results) = (&played.cell, played.results());
        let bound = if cell.second == BOUNDED { words(played.reaches(bounds.cell)) } else { "" };
        row(
            &mut text,
            [
                cell.scale.to_string(),
                cell.network.clone(),
                cell.tc.clone(),
                format!("`{}`", cell.second),
                results.games().to_string(),
                score(&results),
                elo(&results),
                bound.to_owned(),
                forfeits(played),
                format!("{}, {}", left(played, true), left(played, false)),
            ],
        );
    }
    let _ = write!(text, "\nDigest of all games: `{}`\n", digest(cells));
    text
}

fn row<const N: usize>(text: &mut String, cells: [String; N]) {
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

fn score(results: &Results) -> String {
    format!("+{} ={} -{}", results.wins, results.draws, results.losses)
}

fn elo(results: &Results) -> String {
    EloDifference::new(results).logistic.to_string()
}

fn words(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Held => "held",
        Verdict::Missed => "missed",
        Verdict::Unknown => "no estimate",
        Verdict::Incomplete => "incomplete",
    }
}

/// The cell of a table with the number of games that the first, and the second, player lost on time.
fn forfeits(played: &PlayedCell) -> String {
    let lost = |is_first| played.games.iter().filter(|game| game.lost_on_time_by_first() == Some(is_first)).count();
    format!("{}, {}", lost(true), lost(false))
}

/// Least moves of each side in a game for [`left`] to count it as long.
const LONG: usize = 40;

/// The cell of a table with a player's median clock at the end of long games, in per cent of the base time.
fn left(played: &PlayedCell, is_first: bool) -> String {
    let long = played.games.iter().filter(|game| game.moves.len() >= 2 * LONG).map(|game| (game, is_first));
    let base_ms = played.cell.time_control().base_ms;
    match long.clone().next() {
        Some(_) => format!("{:.1} %", 100.0 * ClockUse::of(long).clock_left_ms.p50 / base_ms),
        None => "none".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::games::record::drawn_game;

    #[test]
    fn a_page_has_a_row_for_each_cell_and_scale() {
        let proof = Proof::built_in();
        let cells: Vec<PlayedCell> = proof
            .cells
            .iter()
            .map(|cell| PlayedCell { cell: cell.clone(), games: (1..=4).map(drawn_game).collect() })
            .collect();
        let page = page(&proof, &cells, "a heading");
        let lines = |beginning: &str| page.lines().filter(|line| line.starts_with(beginning)).count();
        assert!(page.contains("\na heading\n") && page.contains(&digest(&cells)), "{page}");
        assert_eq!(lines("| 15000 | zeitnot-tiny |"), 4);
        assert_eq!(lines("| 15000 | `legacy` | 12 | +0 =12 -0 |"), 1);
        assert_eq!(
            lines("| 15000 | `legacy` | 12 | +0 =12 -0 | +0.0, its error beyond measure | incomplete |"),
            1,
            "{page}"
        );
    }
}
