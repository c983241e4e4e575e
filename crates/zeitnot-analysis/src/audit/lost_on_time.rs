//! Reports how a side came to lose on time: its clock, the move that came too late, and the longest thought before it.

use super::clocked_move::ClockedMove;
use super::game_times::GameTimes;
use super::move_name::move_name;
use serde::{Deserialize, Serialize};
use std::path::Path;
use zeitnot_base::printable::is_safe;
use zeitnot_base::words::time;
use zeitnot_engine::chess::Color;
use zeitnot_engine::engine::Options;
use zeitnot_games::pgn_reader::PgnGame;

/// A side that ran out of time. Times are in milliseconds, and `None` where nothing gives them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LostOnTime {
    pub player: String,
    /// The player's side: `white` or `black`.
    pub side: String,
    /// Whether the game is drawn, as the other side could not mate.
    #[serde(rename = "drawn")]
    pub is_drawn: bool,
    /// Plies before the move that came too late; `None` where the rest of the game is damaged.
    pub ply: Option<usize>,
    /// The late move with its number; the number alone where the file lacks the move, as most programs leave it out.
    #[serde(rename = "move")]
    pub move_name: Option<String>,
    /// Whether the late move is in the file.
    #[serde(rename = "in_file")]
    pub is_in_file: bool,
    /// The clock before the late move.
    pub clock_ms: Option<f64>,
    /// Time that the late move used.
    pub used_ms: Option<f64>,
    /// Time that the late move used beyond its clock.
    pub over_ms: Option<f64>,
    /// Time that went by outside of the engine, by the runner's measure.
    pub latency_ms: Option<f64>,
    /// The longest thought of this side before the late move.
    pub longest: Option<LongThought>,
    /// The command that explains what a manager would have granted the late move, where the clock is known.
    pub explain: Option<String>,
}

/// A move that a side thought long about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LongThought {
    /// Plies before the move.
    pub ply: usize,
    /// The move with its number.
    #[serde(rename = "move")]
    pub move_name: String,
    pub used_ms: f64,
}

impl LostOnTime {
    /// The columns of [`LostOnTime::cells`].
    pub const COLUMNS: [&str; 8] =
        ["game", "player", "move", "clock before", "used", "over", "latency", "longest thought before it"];

    /// The row of a table for people; `number` is the number of the game.
    pub fn cells(&self, number: usize) -> [String; 8] {
        let told = |ms: Option<f64>| ms.map_or_else(|| "-".to_owned(), time);
        let drawn = if self.is_drawn { ", drawn" } else { "" };
        let left_out = if self.is_in_file { "" } else { " (not in the file)" };
        [
            number.to_string(),
            format!("{} ({}{drawn})", self.player, self.side),
            self.move_name.as_ref().map_or_else(|| "-".to_owned(), |name| format!("{name}{left_out}")),
            told(self.clock_ms),
            told(self.used_ms),
            told(self.over_ms),
            told(self.latency_ms),
            self.longest
                .as_ref()
                .map_or_else(|| "-".to_owned(), |mv| format!("{}: {}", mv.move_name, time(mv.used_ms))),
        ]
    }
}

/// Tells how a game was lost on time; `None` if it was not. `file`, the game's file, and `overhead_ms`, the move
/// overhead, go into the command in [`LostOnTime::explain`].
pub fn lost_on_time(game: &PgnGame, times: &GameTimes, file: &Path, overhead_ms: f64) -> Option<LostOnTime> {
    let loss = times.loss?;
    let is_white = loss.color.is_white();
    let side = usize::from(!is_white);
    let plies = game.game.moves().len();
    // Where the side is to move the file lacks the late move, and so does a damaged game.
    let is_in_file = game.game.current().turn() != loss.color && game.problem.is_none() && plies > 0;
    let ply = if is_in_file { Some(plies - 1) } else { game.problem.is_none().then_some(plies) };
    let own = || times.moves.iter().filter(|mv| mv.color == loss.color);
    let late = own().find(|mv| Some(mv.ply) == ply);
    let clock_ms = match late {
        Some(late) => late.clock_ms,
        None => times.next_ms[side].filter(|_| ply.is_some() && !is_in_file),
    };
    let told_over_ms = loss.over_ms.or(late.and_then(|late| late.over_ms));
    let used_ms = late.map(|late| late.used_ms).or_else(|| Some(clock_ms? + told_over_ms?));
    let over_ms = told_over_ms.or_else(|| Some(used_ms? - clock_ms?).filter(|ms| *ms > 0.0));
    let longest = own().filter(|mv| ply.is_none_or(|ply| mv.ply < ply)).max_by(|a, b| a.used_ms.total_cmp(&b.used_ms));
    let long_thought =
        |mv: &ClockedMove| LongThought { ply: mv.ply, move_name: move_name(&game.game, mv.ply), used_ms: mv.used_ms };
    Some(LostOnTime {
        player: player_name(game, loss.color).to_owned(),
        side: if is_white { "white" } else { "black" }.to_owned(),
        is_drawn: loss.is_drawn,
        ply,
        move_name: ply.map(|ply| move_name(&game.game, ply)),
        is_in_file,
        clock_ms,
        used_ms,
        over_ms,
        latency_ms: late.and_then(|late| late.latency_ms),
        longest: longest.map(long_thought),
        explain: ply.zip(clock_ms).map(|(ply, clock_ms)| {
            let command = format!("zeitnot time explain game {} --number {} --ply {ply}", quoted(file), game.number);
            command + &overhead_flag(overhead_ms, clock_ms)
        }),
    })
}

/// The move that the side to move still owed when the game ended, with its clock: the late move, where a game lost on
/// time ends before it. `None` where the clock is unknown, the game is damaged or no move is legal.
pub fn unplayed_move(game: &PgnGame, times: &GameTimes) -> Option<ClockedMove> {
    let turn = game.game.current().turn();
    if game.problem.is_some() || game.game.current().legal_moves().is_empty() {
        return None;
    }
    let side = usize::from(!turn.is_white());
    let clock_ms = times.next_ms[side]?;
    Some(ClockedMove {
        ply: game.game.moves().len(),
        color: turn,
        clock_ms: Some(clock_ms),
        used_ms: 0.0,
        increment_ms: times.next_increment_ms[side],
        moves_to_go: times.next_moves_to_go[side],
        moves_left: 1,
        nodes: None,
        budget_ms: None,
        latency_ms: None,
        over_ms: None,
        is_overrun: false,
    })
}

/// The player's name by the tags, or the name of the colour where they lack it.
pub fn player_name(game: &PgnGame, color: Color) -> &str {
    let name = if color.is_white() { "White" } else { "Black" };
    Some(game.tag(name)).filter(|tag| !tag.is_empty()).unwrap_or(name)
}

/// Whether a player's name is the one that the user asked for; letter case does not matter.
pub fn is_player(name: &str, player: &str) -> bool {
    name.trim().to_lowercase() == player.trim().to_lowercase()
}

/// The flag `--overhead`; empty for the engine's own overhead. An overhead as long as the clock, or longer, becomes a
/// tenth of the clock.
fn overhead_flag(overhead_ms: f64, clock_ms: f64) -> String {
    let overhead_ms = if overhead_ms < clock_ms { overhead_ms } else { (clock_ms / 10.0).floor() };
    let is_usual = overhead_ms == Options::default().move_overhead as f64;
    if is_usual { String::new() } else { format!(" --overhead {overhead_ms}") }
}

/// Quotes a path so that a shell reads one word that is not a flag. Characters that control a terminal are escaped, so
/// that the command can be printed.
fn quoted(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let before = if bytes.starts_with(b"-") { "./" } else { "" };
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+,:@%".contains(byte);
    if !bytes.is_empty() && bytes.iter().all(is_bare) {
        return format!("{before}{}", path.display());
    }
    match path.to_str().filter(|text| text.chars().all(is_safe)) {
        Some(text) => format!("'{before}{}'", text.replace('\'', r"'\''")),
        None => {
            // Not every shell knows $'...'.
            let spelled = bytes.iter().map(|byte| match byte {
                b'%' => "%%".to_owned(),
                b'\'' | b'\\' => format!("\\{byte:03o}"),
                b' '..=b'~' => char::from(*byte).to_string(),
                _ => format!("\\{byte:03o}"),
            });
            format!("\"$(printf '{before}{}')\"", spelled.collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::game_times;
    use super::*;
    use zeitnot_games::record::{MoveRecord, Termination, drawn_game};
    use zeitnot_games::{GameRecord, read_games, write_pgn};

    #[test]
    fn paths_are_one_word_of_a_shell() {
        for (path, word) in [
            ("own/sf.pgn", "own/sf.pgn"),
            ("-x.pgn", "./-x.pgn"),
            ("my games.pgn", "'my games.pgn'"),
            ("it's $HOME.pgn", r"'it'\''s $HOME.pgn'"),
            ("a|b`c`\\d.pgn", "'a|b`c`\\d.pgn'"),
            ("Zürich.pgn", "'Zürich.pgn'"),
            ("a\u{1b}[2J's.pgn", r#""$(printf 'a\033[2J\047s.pgn')""#),
            ("5%\u{202e}b", r#""$(printf '5%%\342\200\256b')""#),
        ] {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }

    #[test]
    fn a_hint_has_an_overhead_that_leaves_something() {
        for (overhead_ms, clock_ms, flag) in [
            (200.0, 5_000.0, ""),
            (10.0, 5_000.0, " --overhead 10"),
            (200.0, 200.0, " --overhead 20"),
            (200.0, 46.0, " --overhead 4"),
            (10.0, 3.0, " --overhead 0"),
        ] {
            assert_eq!(overhead_flag(overhead_ms, clock_ms), flag, "{overhead_ms} {clock_ms}");
        }
    }

    #[test]
    fn an_audit_reads_by_how_much_a_move_came_too_late() {
        let move_of = |uci: &str, san: &str, white| MoveRecord {
            uci: uci.into(),
            san: san.into(),
            white,
            used_ms: 123.6,
            clocks_ms: [440.0, 9_000.0],
            budget_ms: None,
            hard_limit_ms: None,
            nodes: 42,
            playouts: 40,
            depth: 5,
            evaluation: None,
        };
        let controls = ["10+0.1".into(), "10+0.1".into()];
        let moves = vec![move_of("e2e4", "e4", true), move_of("e7e5", "e5", false)];
        let mut record = GameRecord { controls, moves, white_won: Some(false), ..drawn_game(3) };
        (record.termination, record.forfeit, record.clocks_ms) =
            (Termination::TimeForfeit, Some(true), [-347.844, 9e3]);
        let told = |record: &GameRecord, end: &str| {
            let mut pgn = Vec::new();
            write_pgn(&mut pgn, record, "test", "2026.11.20").unwrap();
            let pgn = String::from_utf8(pgn).unwrap();
            assert!(pgn.replace('\n', " ").contains(end), "{pgn}");
            let game = &read_games(pgn.as_bytes()).unwrap()[0];
            let lost = lost_on_time(game, &game_times(game), Path::new("g.pgn"), 200.0).unwrap();
            (lost.side, lost.is_drawn, lost.clock_ms, lost.used_ms, lost.over_ms)
        };
        let late = |is_drawn| ("white".to_owned(), is_drawn, Some(440.0), Some(788.0), Some(348.0));
        assert_eq!(told(&record, "{White loses on time (348ms overrun)} 0-1"), late(false));
        record.white_won = None;
        assert_eq!(told(&record, "{White ran out of time (348ms overrun)} 1/2-1/2"), late(true));
        // A player that never answered: by how much it was late is not known.
        (record.white_won, record.error) = (Some(false), Some("A does not answer".into()));
        let unknown = ("white".to_owned(), false, Some(440.0), None, None);
        assert_eq!(told(&record, "{time forfeit: A does not answer} 0-1"), unknown);
    }
}
