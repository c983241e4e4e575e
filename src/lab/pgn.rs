//! Writes games as PGN, with the clock (`%clk`) and the time of each move (`%emt`).

use super::GameRecord;
use crate::chess::Color;
use std::io::{self, Write};

/// PGN's limit of a line, in characters.
const LINE: usize = 80;

/// Writes a game. The caller tells the date, in PGN's form: `2026.11.20`, or question marks.
///
/// # Errors
/// Those of `out`.
pub fn write_pgn(out: &mut impl Write, game: &GameRecord, event: &str, date: &str, round: usize) -> io::Result<()> {
    let round = round.to_string();
    let time_control = game.time_control.to_string();
    let termination = match game.termination {
        super::Termination::TimeForfeit => "time forfeit",
        super::Termination::Unfinished => "unterminated",
        _ => "normal",
    };
    let mut tags = vec![
        ("Event", event),
        ("Site", "?"),
        ("Date", date),
        ("Round", &round),
        ("White", &game.players[0]),
        ("Black", &game.players[1]),
        ("Result", game.result()),
        ("TimeControl", &time_control),
        ("Termination", termination),
    ];
    if let Some(fen) = &game.start_fen {
        tags.extend([("SetUp", "1"), ("FEN", fen.as_str())]);
    }
    for (name, value) in tags {
        writeln!(out, "[{name} \"{}\"]", value.replace('\\', "\\\\").replace('"', "\\\""))?;
    }
    writeln!(out)?;
    let mut width = 0;
    for token in tokens(game) {
        let space = if width == 0 { 0 } else { 1 };
        if width + space + token.len() > LINE {
            writeln!(out)?;
            width = 0;
        }
        if width > 0 {
            write!(out, " ")?;
            width += 1;
        }
        write!(out, "{token}")?;
        width += token.len();
    }
    writeln!(out, "\n")
}

fn tokens(game: &GameRecord) -> Vec<String> {
    let mut tokens = Vec::new();
    let first_number = game.start_fen.as_deref().and_then(|fen| fen.rsplit(' ').next()?.parse().ok()).unwrap_or(1);
    let mut number: u32 = first_number;
    for record in &game.moves {
        match record.color {
            Color::White => tokens.push(format!("{number}.")),
            // After a comment, and every move has one, PGN wants Black's number again.
            Color::Black => tokens.push(format!("{number}...")),
        }
        tokens.push(record.san.clone());
        let clock = record.clocks_ms[usize::from(record.color.is_black())];
        let clock = match game.time_control.depth {
            Some(_) => String::new(),
            None => format!("[%clk {}] ", hms(clock)),
        };
        tokens.push(format!("{{{clock}[%emt {}]}}", hms(record.used_ms)));
        if record.color.is_black() {
            number += 1;
        }
    }
    tokens.push(game.result().to_owned());
    tokens
}

/// Hours, minutes and seconds with milliseconds: `0:00:09.876`.
fn hms(ms: f64) -> String {
    let ms = ms.max(0.0).round() as u64;
    let (s, ms) = (ms / 1000, ms % 1000);
    format!("{}:{:02}:{:02}.{ms:03}", s / 3600, s / 60 % 60, s % 60)
}

#[cfg(test)]
mod tests {
    use super::super::{MoveRecord, Termination};
    use super::*;
    use crate::chess::Game;
    use crate::engine::Report;

    fn report() -> Report {
        let (depth, seldepth, nodes, playouts) = (1, 1, 1, 1);
        Report { depth, seldepth, elapsed_ms: 1.0, nodes, playouts, lines: vec![], ..Report::default() }
    }

    fn record(fen: Option<&str>, moves: &[&str]) -> GameRecord {
        let mut game = fen.map_or_else(Game::new, |fen| Game::from_fen(fen, false).unwrap());
        let mut records = Vec::new();
        for text in moves {
            let color = game.current().turn();
            let mv = crate::chess::parse_uci(game.current().chess(), text).unwrap();
            let (san, clocks_ms) = (game.san(mv), [9_876.4, 3_661_000.0]);
            records.push(MoveRecord { mv, san, color, plan: None, used_ms: 123.6, clocks_ms, report: report() });
            game.push(mv);
        }
        GameRecord {
            players: ["A \"x\"".into(), "B".into()],
            time_control: "10+0.1".parse().unwrap(),
            start_fen: fen.map(str::to_owned),
            moves: records,
            winner: Some(Color::Black),
            termination: Termination::Checkmate,
            clocks_ms: [0.0; 2],
        }
    }

    #[test]
    fn a_game_reads_as_pgn() {
        let mut out = Vec::new();
        write_pgn(&mut out, &record(None, &["f2f3", "e7e5", "g2g4", "d8h4"]), "test", "2026.11.20", 3).unwrap();
        insta::assert_snapshot!(String::from_utf8(out).unwrap());
    }

    #[test]
    fn black_may_begin() {
        let mut out = Vec::new();
        let fen = "8/8/8/4k3/8/8/8/K6R b - - 0 40";
        write_pgn(&mut out, &record(Some(fen), &["e5e4", "h1h4"]), "test", "????.??.??", 1).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains(&format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n")), "{text}");
        assert!(text.contains("\n40... Ke4 {[%clk 1:01:01.000] [%emt 0:00:00.124]} 41."), "{text}");
        assert!(text.lines().all(|line| line.len() <= LINE));
    }
}
