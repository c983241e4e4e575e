//! Shows the running games of a match in the terminal: the clocks, and each move beside its budget.

use super::news::seconds;
use clap::ArgMatches;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use zeitnot_base::printable;
use zeitnot_games::MoveRecord;

/// Whether `--live` is given.
pub fn is_given(matches: &ArgMatches) -> anyhow::Result<bool> {
    let is_given = matches.get_flag("live");
    anyhow::ensure!(!is_given || std::io::stderr().is_terminal(), "--live: standard error is no terminal");
    Ok(is_given)
}

/// The display of the running games: a line for each, above the progress bar of the match.
pub struct Live {
    lines: MultiProgress,
    games: BTreeMap<u64, LiveGame>,
    has_clock: bool,
}

struct LiveGame {
    players: [String; 2],
    line: ProgressBar,
}

impl Live {
    /// An empty display above this progress bar. `has_clock`: the lines show clocks.
    pub fn new(bar: &ProgressBar, has_clock: bool) -> Live {
        let lines = MultiProgress::new();
        lines.add(bar.clone());
        Live { lines, games: BTreeMap::new(), has_clock }
    }

    /// Shows a game that begins.
    pub fn started(&mut self, game: u64, players: [&str; 2]) {
        let style = ProgressStyle::with_template("{msg}").unwrap_or(ProgressStyle::default_spinner());
        let line = self.lines.insert(self.games.len(), ProgressBar::new_spinner().with_style(style));
        let players = players.map(str::to_owned);
        line.set_message(printable::line(&format!("game {game}: {} - {}", players[0], players[1])).into_owned());
        self.games.insert(game, LiveGame { players, line });
    }

    /// Shows a move of a game.
    pub fn moved(&self, game: u64, number: usize, last: &MoveRecord) {
        if let Some(shown) = self.games.get(&game) {
            let text = line(game, &shown.players, number, last, self.has_clock);
            shown.line.set_message(printable::line(&text).into_owned());
        }
    }

    /// Removes a game that is over.
    pub fn ended(&mut self, game: u64) {
        if let Some(shown) = self.games.remove(&game) {
            shown.line.finish_and_clear();
            self.lines.remove(&shown.line);
        }
    }
}

/// A running game in one line.
fn line(game: u64, [white, black]: &[String; 2], number: usize, last: &MoveRecord, has_clock: bool) -> String {
    let [white_clock, black_clock] = last.clocks_ms.map(|ms| if has_clock { seconds(ms) } else { String::new() });
    let dots = if last.white { "." } else { "..." };
    let budget = last.budget_ms.map_or_else(String::new, |ms| format!(" of {:.2}", ms / 1e3));
    format!(
        "game {game}: {white} {white_clock} - {black} {black_clock}  {number}{dots} {:<7} {:.2}{budget} s",
        last.san,
        last.used_ms / 1e3
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_one_line() {
        let last = MoveRecord {
            uci: "g1f3".into(),
            san: "Nf3".into(),
            white: true,
            used_ms: 310.4,
            clocks_ms: [5_310.0, 66_200.0],
            budget_ms: Some(402.0),
            hard_limit_ms: Some(600.0),
            nodes: 300,
            playouts: 200,
            depth: 5,
            evaluation: None,
        };
        let players = ["smooth".to_owned(), "legacy".to_owned()];
        let shown = line(7, &players, 12, &last, true);
        assert_eq!(shown, "game 7: smooth 0:05.31 - legacy 1:06.20  12. Nf3     0.31 of 0.40 s");
        let last = MoveRecord { white: false, budget_ms: None, ..last };
        assert_eq!(line(7, &players, 12, &last, false), "game 7: smooth  - legacy   12... Nf3     0.31 s");
    }
}
