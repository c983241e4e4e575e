//! Draws the charts of a match: the score, the Elo difference, the pairs, and how the games ended.

use super::comparisons::elo_row;
use super::figure::{Figure, Section, Table};
use crate::results::MatchGame;
use zeitnot_base::words::{counted, elo, percent};
use zeitnot_charts::{Axis, DotPlot, Plot, Quantity, Reference, StackPlot, StackRow};
use zeitnot_games::Score;

/// A match: its games, and its score if it came to an end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Match {
    pub games: Vec<MatchGame>,
    pub score: Option<Score>,
}

/// A match with its score, and the names of its players.
struct Played<'a> {
    name: String,
    players: [String; 2],
    score: &'a Score,
}

/// Builds the section about matches.
pub fn section(name: &str, matches: &[Match]) -> Section {
    let played: Vec<Played<'_>> = matches.iter().filter_map(played).collect();
    let games: usize = matches.iter().map(|one| one.games.len()).sum();
    let unfinished = if played.len() < matches.len() { "; a match without its summary has no score" } else { "" };
    let figures = [score(&played), difference(&played), pairs(&played), endings(matches)];
    Section {
        title: format!("Match of {name}"),
        introduction: format!("{}{unfinished}.", counted(games, "game")),
        figures: figures.into_iter().flatten().collect(),
        ..Section::default()
    }
}

/// The first and the second player; the first has White in games of odd numbers. `None` without games.
fn players(of: &Match) -> Option<[String; 2]> {
    let game = of.games.first()?;
    let (white, black) = (game.white.clone(), game.black.clone());
    Some(if game.game % 2 == 1 { [white, black] } else { [black, white] })
}

fn played(of: &Match) -> Option<Played<'_>> {
    let players = players(of).unwrap_or_else(|| ["the first", "the second"].map(str::to_owned));
    let score = of.score.as_ref()?;
    Some(Played { name: format!("{} against {}", players[0], players[1]), players, score })
}

fn score(played: &[Played<'_>]) -> Option<Figure> {
    let first = played.first()?;
    let mut table = Table::new(&["match", "games", "won", "drawn", "lost", "score", "lost on time"]);
    let share = |score: &Score| (score.wins as f64 + score.draws as f64 / 2.0) / score.games.max(1) as f64;
    for Played { name, score, .. } in played {
        let [one, other] = score.forfeits;
        let counts = [score.games, score.wins, score.draws, score.losses].map(|count| count.to_string());
        let more = [percent(share(score)), format!("{one}, {other}")];
        table.row([name.clone()].into_iter().chain(counts).chain(more).collect());
    }
    let rows = played.iter().map(|played| StackRow {
        name: played.name.clone(),
        parts: [played.score.wins, played.score.draws, played.score.losses].map(|count| count as f64).to_vec(),
    });
    let [one, other] = &first.players;
    let Score { games, wins, draws, losses, .. } = first.score;
    Some(Figure {
        name: "score".to_owned(),
        title: "Score".to_owned(),
        caption: format!(
            "{one} scores {} against {other}: +{wins} ={draws} -{losses} in {}.",
            percent(share(first.score)),
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
    for Played { name, score, .. } in played {
        table.row(vec![name.clone(), elo(score.elo, score.elo_error)]);
    }
    let rows = played
        .iter()
        .enumerate()
        .map(|(color, played)| elo_row(&played.name, played.score.elo, played.score.elo_error, color));
    Some(Figure {
        name: "elo".to_owned(),
        title: "Elo difference".to_owned(),
        caption: format!(
            "Elo of {} against {}: {}. Lines are 95 % errors.",
            first.players[0],
            first.players[1],
            elo(first.score.elo, first.score.elo_error)
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
        played.iter().filter(|played| played.score.pentanomial.iter().any(|count| *count > 0)).collect();
    let first = paired.first()?;
    let mut table = Table::with_columns(&["match"], POINTS.iter().map(|points| format!("{points} points")));
    for Played { name, score, .. } in &paired {
        table.row([name.clone()].into_iter().chain(score.pentanomial.map(|count| count.to_string())).collect());
    }
    let rows = paired.iter().map(|played| StackRow {
        name: played.name.clone(),
        parts: played.score.pentanomial.map(|count| count as f64).to_vec(),
    });
    let [worst, .., best] = first.score.pentanomial;
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

/// Draws how the games ended. `None` without a game.
fn endings(matches: &[Match]) -> Option<Figure> {
    let mut sums: Vec<(&str, usize)> = Vec::new();
    for game in matches.iter().flat_map(|one| &one.games) {
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
    let forfeits = matches.iter().filter_map(|one| one.score.as_ref()).flat_map(|score| score.forfeits);
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
    use super::*;

    #[test]
    fn captions_have_the_first_players_view() {
        let game = |game, white: &str, black: &str| MatchGame {
            game,
            white: white.into(),
            black: black.into(),
            termination: "checkmate".into(),
            ..MatchGame::default()
        };
        let score = Score {
            games: 4,
            wins: 1,
            draws: 2,
            losses: 1,
            pentanomial: [0, 1, 0, 1, 0],
            forfeits: [1, 0],
            ..Score::default()
        };
        // The second game of a pair comes first, as after an interruption.
        let one = Match { games: vec![game(2, "b", "a"), game(3, "a", "b")], score: Some(score) };
        let section = section("m.jsonl", &[one]);
        let captions: Vec<&str> = section.figures.iter().map(|figure| figure.caption.as_str()).collect();
        assert_eq!(captions[0], "a scores 50 % against b: +1 =2 -1 in 4 games.");
        assert_eq!(captions[1], "Elo of a against b: beyond measure. Lines are 95 % errors.");
        assert_eq!(captions[2], "a wins both games of 0 pairs and loses both of 0.");
        assert_eq!(captions[3], "2 of 2 games end by checkmate; 1 on time.");
    }
}
