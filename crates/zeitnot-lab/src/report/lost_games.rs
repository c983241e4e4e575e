//! Lists the games that were lost on time.

use super::figure::{Listing, Table};
use zeitnot_analysis::audit::LostOnTime;
use zeitnot_base::words::counted;

/// Most games that the table has.
const MOST_GAMES: usize = 200;

/// Games that were lost on time, one after another.
#[derive(Clone, Debug, Default)]
pub struct LostGames {
    count: usize,
    rows: Vec<Vec<String>>,
}

impl LostGames {
    /// Adds a game by its number.
    pub fn add(&mut self, number: usize, lost: LostOnTime) {
        self.count += 1;
        if self.rows.len() < MOST_GAMES {
            let explain = lost.explain.clone().unwrap_or_else(|| "-".to_owned());
            self.rows.push(lost.cells(number).into_iter().chain([explain]).collect());
        }
    }

    /// The table; `None` without games.
    pub(crate) fn listing(self) -> Option<Listing> {
        let shown = match self.count - self.rows.len() {
            0 => String::new(),
            left => format!(" {} more are left out.", counted(left, "game")),
        };
        let head: Vec<&str> = LostOnTime::COLUMNS.into_iter().chain(["what a manager would have granted"]).collect();
        (self.count > 0).then(|| Listing {
            name: "lost-on-time".to_owned(),
            title: "Lost on time".to_owned(),
            caption: format!(
                "{} ended by a clock that ran out.{shown} The commands go on from there, in the folder of the file.",
                counted(self.count, "game")
            ),
            table: Table { rows: self.rows, ..Table::new(&head) },
        })
    }
}
