//! Writes a comparison as Markdown and CSV.

use std::fmt::Write as _;
use zeitnot_games::strength::ratings::{Rating, RatingValue};
use zeitnot_games::{Cell, Comparison, Rank};

fn elo_text(rating: Option<&Rating>) -> String {
    match rating.map(|rating| rating.value) {
        Some(RatingValue::Anchor { elo }) => format!("{elo:.0}"),
        Some(RatingValue::Estimated { elo, margin }) => format!("{elo:+.0} +- {margin:.0}"),
        Some(RatingValue::Above) => "above all".to_owned(),
        Some(RatingValue::Below) => "below all".to_owned(),
        Some(RatingValue::Unknown) | None => "-".to_owned(),
    }
}

/// Adds a row to a table. Writing to a string does not fail.
fn row(text: &mut String, cells: Vec<String>) {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    let _ = writeln!(text, "| {} |", cells.join(" | "));
}

/// Three tables: the ranking, the results of each pair at each time control, and how each player used its clock.
pub fn markdown(comparison: &Comparison, ranking: Option<&[Rank]>, tcs: &[String]) -> String {
    let mut text = String::new();
    let rule = |columns: usize| vec!["---".to_owned(); columns];
    if let Some(ranking) = ranking {
        let head = ["player", "Elo, all"].map(str::to_owned).into_iter().chain(tcs.iter().cloned());
        row(&mut text, head.collect());
        row(&mut text, rule(2 + tcs.len()));
        for rank in ranking {
            let by_tc = rank.by_tc.iter().map(|rating| elo_text(rating.as_ref()));
            row(
                &mut text,
                [format!("`{}`", rank.player), elo_text(rank.all.as_ref())].into_iter().chain(by_tc).collect(),
            );
        }
        text.push('\n');
    }
    let head = ["control", "first", "second", "games", "+ = -", "pairs", "Elo of the first", "lost on time"];
    row(&mut text, head.map(str::to_owned).to_vec());
    row(&mut text, rule(head.len()));
    for cell in &comparison.cells {
        let Cell { tc, first, second, score, .. } = cell;
        row(
            &mut text,
            vec![
                tc.clone(),
                format!("`{first}`"),
                format!("`{second}`"),
                score.games.to_string(),
                format!("+{} ={} -{}", score.wins, score.draws, score.losses),
                format!("{:?}", score.pentanomial),
                score.elo().to_string(),
                format!("{}, {}", score.forfeits[0], score.forfeits[1]),
            ],
        );
    }
    text.push('\n');
    let head = [
        "control",
        "player",
        "games",
        "clock left (s), 5 / 50 / 95 %",
        "time in moves 1-15 / 16-40 / later",
        "ms a move from move 1, 6, 11, ...",
        "visits a move",
        "moves",
    ];
    row(&mut text, head.map(str::to_owned).to_vec());
    row(&mut text, rule(head.len()));
    for times in &comparison.times {
        let clock_use = &times.clock_use;
        let left = clock_use.clock_left_ms;
        let shares: Vec<String> =
            clock_use.share_by_phase.iter().map(|share| format!("{:.0} %", 100.0 * share)).collect();
        let course: Vec<String> =
            clock_use.by_move.iter().take(12).map(|time| format!("{:.0}", time.mean_ms)).collect();
        row(
            &mut text,
            vec![
                times.tc.clone(),
                format!("`{}`", times.player),
                clock_use.games.to_string(),
                format!("{:.2} / {:.2} / {:.2}", left.p5 / 1e3, left.p50 / 1e3, left.p95 / 1e3),
                shares.join(" / "),
                course.join(" "),
                format!("{:.0}", clock_use.mean_playouts),
                format!("{:.0}", clock_use.mean_moves),
            ],
        );
    }
    text
}

/// The results as CSV, one line for each pair at each time control.
pub fn csv(comparison: &Comparison) -> String {
    let mut text =
        "tc,first,second,games,wins,draws,losses,p0,p1,p2,p3,p4,elo,elo_error,nelo,nelo_error,forfeits_first,\
                    forfeits_second,left_p5_ms,left_p50_ms,left_p95_ms\n"
            .to_owned();
    let number = |number: Option<f64>| number.map_or_else(String::new, |number| format!("{number:.2}"));
    for cell in &comparison.cells {
        let Cell { tc, first, second, score, .. } = cell;
        let mut fields = vec![tc.clone(), quoted(first), quoted(second)];
        fields.extend([score.games, score.wins, score.draws, score.losses].map(|count| count.to_string()));
        fields.extend(score.pentanomial.map(|count| count.to_string()));
        fields.extend([score.elo, score.elo_error, score.nelo, score.nelo_error].map(number));
        fields.extend(score.forfeits.map(|count| count.to_string()));
        let left = cell.clock_left_ms;
        fields.extend([left.p5, left.p50, left.p95].map(|ms| format!("{ms:.0}")));
        text.push_str(&fields.join(","));
        text.push('\n');
    }
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
