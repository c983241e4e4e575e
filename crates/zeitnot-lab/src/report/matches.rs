//! Draws the charts of a match: the score, the Elo difference, the pairs, and how the games ended.

use super::comparisons::elo_row;
use super::figure::{Figure, Section, Table};
use super::records::{MatchRecord, ResultsRecord};
use zeitnot_charts::{Axis, DotPlot, Plot, Quantity, Reference, StackPlot, StackRow};
use zeitnot_text::words::{counted, elo, percent};

/// A match with its results, and the names of its players.
struct Played<'a> {
    name: String,
    players: [String; 2],
    results: &'a ResultsRecord,
}

/// Builds the section about matches.
pub fn section(name: &str, matches: &[MatchRecord]) -> Section {
    let played: Vec<Played<'_>> = matches.iter().filter_map(played).collect();
    let games: usize = matches.iter().map(|record| record.games.len()).sum();
    let unfinished = if played.len() < matches.len() { "; a match without its summary has no score" } else { "" };
    let figures = [score(&played), difference(&played), pairs(&played), endings(matches)];
    Section {
        title: format!("Match of {name}"),
        introduction: format!("{}{unfinished}.", counted(games, "game")),
        figures: figures.into_iter().flatten().collect(),
        ..Section::default()
    }
}

/// The players, the first before the second: it has White in games of odd numbers.
fn players(record: &MatchRecord) -> Option<[String; 2]> {
    let game = record.games.first()?;
    let (white, black) = (game.white.clone(), game.black.clone());
    Some(if game.game % 2 == 1 { [white, black] } else { [black, white] })
}

fn played(record: &MatchRecord) -> Option<Played<'_>> {
    let players = players(record).unwrap_or_else(|| ["the first", "the second"].map(str::to_owned));
    let results = record.summary.as_ref()?;
    Some(Played { name: format!("{} against {}", players[0], players[1]), players, results })
}

fn score(played: &[Played<'_>]) -> Option<Figure> {
    let first = played.first()?;
    let mut table = Table::new(&["match", "games", "won", "drawn", "lost", "score", "lost on time"]);
    let share =
        |results: &ResultsRecord| (results.wins as f64 + results.draws as f64 / 2.0) / results.games.max(1) as f64;
    for Played { name, results, .. } in played {
        let [one, other] = results.forfeits;
        let counts = [results.games, results.wins, results.draws, results.losses].map(|count| count.to_string());
        let more = [percent(share(results)), format!("{one}, {other}")];
        table.row([name.clone()].into_iter().chain(counts).chain(more).collect());
    }
    let rows = played.iter().map(|played| StackRow {
        name: played.name.clone(),
        parts: [played.results.wins, played.results.draws, played.results.losses].map(|count| count as f64).to_vec(),
    });
    let [one, other] = &first.players;
    let ResultsRecord { games, wins, draws, losses, .. } = first.results;
    Some(Figure {
        name: "score".to_owned(),
        title: "Score".to_owned(),
        caption: format!(
            "{one} scores {} against {other}: +{wins} ={draws} -{losses} in {}.",
            percent(share(first.results)),
            counted(*games as usize, "game")
        ),
        plot: Plot::Stacks(StackPlot {
            parts: ["won", "drawn", "lost"].map(str::to_owned).to_vec(),
            rows: rows.collect(),
            tells_counts: true,
        }),
        table,
    })
}

fn difference(played: &[Played<'_>]) -> Option<Figure> {
    let first = played.first()?;
    let mut table = Table::new(&["match", "Elo"]);
    for Played { name, results, .. } in played {
        table.row(vec![name.clone(), elo(results.elo, results.elo_error)]);
    }
    let rows = played
        .iter()
        .enumerate()
        .map(|(color, played)| elo_row(&played.name, played.results.elo, played.results.elo_error, color));
    Some(Figure {
        name: "elo".to_owned(),
        title: "Elo difference".to_owned(),
        caption: format!(
            "Elo of {} against {}: {}. Lines are 95 % errors.",
            first.players[0],
            first.players[1],
            elo(first.results.elo, first.results.elo_error)
        ),
        plot: Plot::Dots(DotPlot {
            axis: Axis::new("Elo of the first", Quantity::Number),
            rows: rows.collect(),
            references: vec![Reference::Value("equal".to_owned(), 0.0)],
        }),
        table,
    })
}

fn pairs(played: &[Played<'_>]) -> Option<Figure> {
    const POINTS: [&str; 5] = ["0", "1/2", "1", "3/2", "2"];
    let paired: Vec<&Played<'_>> =
        played.iter().filter(|played| played.results.pentanomial.iter().any(|count| *count > 0)).collect();
    let first = paired.first()?;
    let mut table = Table::with_columns(&["match"], POINTS.iter().map(|points| format!("{points} points")));
    for Played { name, results, .. } in &paired {
        table.row([name.clone()].into_iter().chain(results.pentanomial.map(|count| count.to_string())).collect());
    }
    let rows = paired.iter().map(|played| StackRow {
        name: played.name.clone(),
        parts: played.results.pentanomial.map(|count| count as f64).to_vec(),
    });
    let [worst, .., best] = first.results.pentanomial;
    Some(Figure {
        name: "pairs".to_owned(),
        title: "Pairs of games by their points".to_owned(),
        caption: format!(
            "{} wins both games of {} and loses both of {}.",
            first.players[0],
            counted(best as usize, "pair"),
            worst
        ),
        plot: Plot::Stacks(StackPlot {
            parts: POINTS.iter().map(|points| format!("{points} points")).collect(),
            rows: rows.collect(),
            tells_counts: true,
        }),
        table,
    })
}

/// Draws how the games ended. `None` where no game is told.
fn endings(matches: &[MatchRecord]) -> Option<Figure> {
    let mut sums: Vec<(&str, usize)> = Vec::new();
    for game in matches.iter().flat_map(|record| &record.games) {
        match sums.iter_mut().find(|sum| sum.0 == game.termination) {
            Some(sum) => sum.1 += 1,
            None => sums.push((&game.termination, 1)),
        }
    }
    sums.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let games: usize = sums.iter().map(|sum| sum.1).sum();
    let (main, number) = *sums.first()?;
    let mut table = Table::new(&["end", "games"]);
    for (end, games) in &sums {
        table.row(vec![(*end).to_owned(), games.to_string()]);
    }
    let forfeits = matches.iter().filter_map(|record| record.summary.as_ref()).flat_map(|summary| summary.forfeits);
    let forfeits: u64 = forfeits.fold(0, u64::saturating_add);
    let lost = if forfeits == 0 { "none".to_owned() } else { forfeits.to_string() };
    Some(Figure {
        name: "endings".to_owned(),
        title: "How the games ended".to_owned(),
        caption: format!("{number} of {} end by {main}; {lost} on time.", counted(games, "game")),
        plot: Plot::Stacks(StackPlot {
            parts: sums.iter().map(|sum| sum.0.to_owned()).collect(),
            rows: vec![StackRow { name: "all games".to_owned(), parts: sums.iter().map(|sum| sum.1 as f64).collect() }],
            tells_counts: true,
        }),
        table,
    })
}

#[cfg(test)]
mod tests {
    use super::super::records::GameRecord;
    use super::*;

    #[test]
    fn captions_have_the_first_players_view() {
        let game = |game, white: &str, black: &str| GameRecord {
            game,
            white: white.into(),
            black: black.into(),
            termination: "checkmate".into(),
        };
        let summary = ResultsRecord {
            games: 4,
            wins: 1,
            draws: 2,
            losses: 1,
            pentanomial: [0, 1, 0, 1, 0],
            elo: None,
            elo_error: None,
            forfeits: [1, 0],
        };
        // The second game of a pair is told first, as after an interruption.
        let record = MatchRecord { games: vec![game(2, "b", "a"), game(3, "a", "b")], summary: Some(summary) };
        let section = section("m.jsonl", &[record]);
        let captions: Vec<&str> = section.figures.iter().map(|figure| figure.caption.as_str()).collect();
        assert_eq!(captions[0], "a scores 50 % against b: +1 =2 -1 in 4 games.");
        assert_eq!(captions[1], "Elo of a against b: beyond measure. Lines are 95 % errors.");
        assert_eq!(captions[2], "a wins both games of 0 pairs and loses both of 0.");
        assert_eq!(captions[3], "2 of 2 games end by checkmate; 1 on time.");
    }
}
