//! Reports the course of a match: a progress bar, lines for people or objects of JSON, and its results.

use super::live::Live;
use crate::commands::output::{self, say};
use crate::commands::progress;
use indicatif::ProgressBar;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use zeitnot_games::strength::Results;
use zeitnot_games::strength::elo::EloDifference;
use zeitnot_games::strength::ratings::{Encounter, Rating, RatingValue, rate};
use zeitnot_games::strength::sprt::{Decision, Sprt, SprtModel};
use zeitnot_games::{Evaluation, GameRecord, MatchEnd, MoveRecord};
use zeitnot_lab::results::{LabResult, MatchGame, MatchScore, RatingResult};

/// Reports a match to people or programs.
pub struct News<'a> {
    bar: ProgressBar,
    json: bool,
    interrupted: &'a AtomicBool,
    is_unread: bool,
    /// Whether the players of this match have clocks.
    has_clock: bool,
    names: [String; 2],
    /// The display of running games, with `--live`; `None`: each move has a line.
    live: Option<Live>,
}

impl<'a> News<'a> {
    /// Reports a match of `games` games, and sets `interrupted` if nobody reads the output any more.
    pub fn new(names: [&str; 2], games: u64, json: bool, has_clock: bool, interrupted: &'a AtomicBool) -> News<'a> {
        let bar = progress::games(games);
        bar.tick();
        News { bar, json, interrupted, is_unread: false, has_clock, names: names.map(str::to_owned), live: None }
    }

    /// Replaces the lines for moves by a display of the running games.
    pub fn with_live(self) -> News<'a> {
        News { live: Some(Live::new(&self.bar, self.has_clock)), ..self }
    }

    /// Whether nobody reads the output any more.
    pub fn is_unread(&self) -> bool {
        self.is_unread
    }

    fn tell(&mut self, line: &str) {
        let is_read = self.is_unread || self.bar.suspend(|| output::is_read(format_args!("{line}\n")));
        if !is_read {
            self.is_unread = true;
            self.interrupted.store(true, Ordering::SeqCst);
        }
    }

    fn print(&mut self, result: &LabResult) {
        self.tell(&serde_json::to_string(result).expect("a result has no map with other keys than texts"));
    }

    /// Reports that a game begins.
    pub fn started(&mut self, game: u64, [white, black]: [&str; 2]) {
        match &mut self.live {
            Some(live) => live.started(game, [white, black]),
            None if self.json => {}
            None => {
                let clocks = if self.has_clock { "; clocks: White, Black" } else { "" };
                self.tell(&format!("game {game}: {white} (White) - {black} (Black){clocks}"));
            }
        }
    }

    /// Reports a move.
    pub fn moved(&mut self, game: u64, number: usize, last: &MoveRecord) {
        if let Some(live) = &self.live {
            return live.moved(game, number, last);
        }
        self.bar.set_message(format!("move {number}"));
        if !self.json {
            self.tell(&move_line(number, last, self.has_clock));
        }
    }

    /// Removes a game that is over from the live display, at once and not in the order of the games.
    pub fn game_ended(&mut self, game: u64) {
        if let Some(live) = &mut self.live {
            live.ended(game);
        }
    }

    /// Reports a game that is over, once all games before it are over.
    pub fn finished(&mut self, record: &GameRecord, results: &Results, is_resumed: bool) {
        self.bar.set_position(record.game);
        if is_resumed {
            // The time to the end is estimated from the games that are played now.
            self.bar.reset_eta();
        }
        let Results { wins, draws, losses, .. } = results;
        self.bar.set_message(format!("+{wins} ={draws} -{losses}"));
        if self.json {
            return self.print(&LabResult::Game(MatchGame::new(record)));
        }
        if is_resumed {
            return;
        }
        let [white, black] = &record.players;
        let over = record.over_ms().map(|ms| format!(", {:.0} ms over", ms.ceil())).unwrap_or_default();
        let error = record.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        self.tell(&format!(
            "game {}: {white} - {black} {} ({}{over}{error})",
            record.game,
            record.result(),
            record.termination
        ));
    }

    /// Reports the results of the match.
    pub fn ended(&mut self, end: &MatchEnd, sprt: Option<&Sprt>, seconds: f64) {
        self.bar.finish_and_clear();
        if self.json {
            return self.print(&LabResult::Match { summary: Box::new(MatchScore::new(end, sprt, seconds)) });
        }
        for line in summary_lines(&self.names, end, sprt) {
            self.tell(&line);
        }
    }
}

/// The line about a move: its budget and hard limit, the time it took, and the clocks.
fn move_line(number: usize, last: &MoveRecord, has_clock: bool) -> String {
    let dots = if last.white { "." } else { "..." };
    let evaluation = last.evaluation.map_or_else(String::new, |evaluation| evaluation_text(&evaluation, last.white));
    let budget = last.budget_ms.zip(last.hard_limit_ms);
    let budget = budget.map(|(budget, limit)| format!("budget {budget:>7.0} to {limit:>7.0} ms  "));
    let clocks = || format!(" clocks {:>8} {:>8}", seconds(last.clocks_ms[0]), seconds(last.clocks_ms[1]));
    format!(
        "{:<12} {}used {:>7.0} ms  nodes {:>7}  {evaluation:<9}{}",
        format!("{number}{dots} {}", last.san),
        budget.unwrap_or_default(),
        last.used_ms,
        last.nodes,
        if has_clock { clocks() } else { String::new() },
    )
    .trim_end()
    .to_owned()
}

/// The evaluation as text, from White's side: q, else moves to mate, else centipawns, whichever the player gives.
/// `white`: that player has White.
fn evaluation_text(evaluation: &Evaluation, white: bool) -> String {
    let sign = if white { 1 } else { -1 };
    match (evaluation.q, evaluation.mate) {
        (Some(q), _) => format!("q {:>+6.3}", q * f64::from(sign)),
        (None, Some(mate)) => format!("mate {:+}", sign * mate),
        (None, None) => format!("cp {:>+5}", sign * evaluation.cp),
    }
}

/// A time as minutes and seconds, such as `1:05.31`.
pub fn seconds(ms: f64) -> String {
    let s = ms.max(0.0) / 1e3;
    format!("{}:{:05.2}", (s / 60.0) as u64, s % 60.0)
}

fn summary_lines(names: &[String; 2], end: &MatchEnd, sprt: Option<&Sprt>) -> Vec<String> {
    let Results { wins, draws, losses, pentanomial } = &end.results;
    let difference = EloDifference::new(&end.results);
    let mut lines =
        vec![format!("{} against {}: games {}, +{wins} ={draws} -{losses}", names[0], names[1], end.results.games())];
    if end.results.games() > 1 {
        let los = difference.los.map(|los| format!(", LOS {:.1} %", 100.0 * los)).unwrap_or_default();
        lines.push(format!("Elo {}, nElo {}{los}", difference.logistic, difference.normalised));
        lines.push(format!("pairs with 0, 1/2, 1, 3/2, 2 points: {pentanomial:?}"));
    }
    if let Some(sprt) = sprt {
        let decision = end.decision.map_or("goes on", |decision| match decision {
            Decision::AcceptH0 => "H0 accepted",
            Decision::AcceptH1 => "H1 accepted",
        });
        let Sprt { elo0, elo1, .. } = sprt;
        let unit = match sprt.model {
            SprtModel::Normalized => "nElo",
            SprtModel::Logistic => "Elo",
        };
        let (low, high) = (sprt.lower_bound(), sprt.upper_bound());
        lines.push(format!(
            "SPRT [{elo0}, {elo1}] {unit}: LLR {:.2} of {low:.2} to {high:.2}, {decision}",
            sprt.llr(&end.pairs)
        ));
    }
    let told = |counts: [u64; 2], text: &dyn Fn(&str, u64) -> String| -> Vec<String> {
        std::iter::zip(names, counts).filter(|(_, count)| *count > 0).map(|(name, count)| text(name, count)).collect()
    };
    let forfeits = told(end.forfeits, &|name, count| format!("{name} LOST {count} ON TIME"));
    lines.push(if forfeits.is_empty() { "no game was lost on time".to_owned() } else { forfeits.join("; ") });
    let drawn = told(end.drawn_forfeits, &|name, count| format!("draws in which {name} RAN OUT OF TIME: {count}"));
    if !drawn.is_empty() {
        lines.push(drawn.join("; "));
    }
    lines
}

/// Reports the rating of a player from its results against others, some of whose ratings are known.
pub fn rating(
    player: &str,
    encounters: &[Encounter],
    anchors: &BTreeMap<String, f64>,
    json: bool,
) -> anyhow::Result<()> {
    let ratings = rate(encounters, anchors)?;
    let value = ratings.iter().find(|rating| rating.player == *player).map(|rating| rating.value);
    if json {
        let (elo, error) = match value {
            Some(RatingValue::Estimated { elo, margin }) => (Some(elo), Some(margin)),
            _ => (None, None),
        };
        let rating = RatingResult { elo, elo_error: error, anchors: anchors.clone(), all: ratings };
        say!("{}", serde_json::to_string(&LabResult::Rating { rating })?);
        return Ok(());
    }
    let names: Vec<String> = anchors.iter().map(|(name, elo)| format!("{name} {elo:.0}")).collect();
    match value {
        Some(RatingValue::Estimated { elo, margin }) => {
            say!("{player}: rating {elo:.0} +- {margin:.0} (95 %) by {}", names.join(", "));
        }
        Some(RatingValue::Above) => say!("{player}: rating above all of {}", names.join(", ")),
        Some(RatingValue::Below) => say!("{player}: rating below all of {}", names.join(", ")),
        _ => say!("{player}: no rating by {}", names.join(", ")),
    }
    Ok(())
}

/// Reports the ratings of all players of a round robin from their results; some are known.
pub fn ranking(encounters: &[Encounter], anchors: &BTreeMap<String, f64>, json: bool) -> anyhow::Result<()> {
    let all = rate(encounters, anchors)?;
    if json {
        let rating = RatingResult { elo: None, elo_error: None, anchors: anchors.clone(), all };
        say!("{}", serde_json::to_string(&LabResult::Rating { rating })?);
        return Ok(());
    }
    for (place, rating) in (1..).zip(&all) {
        let Rating { player, value, games, points } = rating;
        say!("{place}. {player}: {points} points of {games} games, rating {value}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_from_whites_side_and_as_the_player_tells_them() {
        let cp = Evaluation { cp: 35, mate: None, q: None };
        let mate = Evaluation { mate: Some(-3), ..cp };
        assert_eq!([true, false].map(|white| evaluation_text(&cp, white)), ["cp   +35", "cp   -35"]);
        assert_eq!([true, false].map(|white| evaluation_text(&mate, white)), ["mate -3", "mate +3"]);
        assert_eq!(evaluation_text(&Evaluation { q: Some(0.086), ..cp }, false), "q -0.086");
    }

    #[test]
    fn draws_in_which_a_clock_ran_out_are_not_told_as_lost() {
        let end = MatchEnd {
            results: Results::default(),
            pairs: Results::default(),
            forfeits: [0, 2],
            drawn_forfeits: [1, 0],
            decision: None,
        };
        let lines = summary_lines(&["A".to_owned(), "B".to_owned()], &end, None);
        assert_eq!(lines[1..], ["B LOST 2 ON TIME", "draws in which A RAN OUT OF TIME: 1"]);
    }
}
