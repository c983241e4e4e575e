//! Writes games as PGN, with the clock (`%clk`), the time (`%emt`), the evaluation (`%eval`), the nodes and the budget
//! of each move.

use super::eco;
use super::record::{GameRecord, MoveRecord};
use std::io::{self, Write};

/// PGN's limit of a line, in characters.
const LINE: usize = 80;

/// Writes a game. The caller gives the date, in PGN's form: `2026.11.20`, or question marks.
///
/// # Errors
/// The errors of `out`.
pub fn write_pgn(out: &mut impl Write, game: &GameRecord, event: &str, date: &str) -> io::Result<()> {
    let round = game.game.to_string();
    let plies = (game.opening.len() + game.moves.len()).to_string();
    let mut tags = vec![
        ("Event", event),
        ("Site", "?"),
        ("Date", date),
        ("Round", &round),
        ("White", &game.players[0]),
        ("Black", &game.players[1]),
        ("Result", game.result()),
    ];
    let [white, black] = &game.controls;
    match white == black {
        true => tags.push(("TimeControl", white)),
        // As cutechess writes time odds.
        false => tags.extend([("WhiteTimeControl", white.as_str()), ("BlackTimeControl", black)]),
    }
    tags.extend([("Termination", game.termination.pgn()), ("PlyCount", &plies)]);
    for (tag, network) in ["WhiteNetwork", "BlackNetwork"].into_iter().zip(&game.networks) {
        tags.extend(network.as_deref().map(|network| (tag, network)));
    }
    if game.chess960 {
        tags.push(("Variant", "Chess960"));
    } else if let Some(opening) = eco::opening(game.start_fen.as_deref(), game.sans()) {
        tags.extend([("ECO", opening.eco), ("Opening", opening.name)]);
    }
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

/// The move text, split into the words between which a line may be broken.
fn tokens(game: &GameRecord) -> Vec<String> {
    let mut tokens = Vec::new();
    let (mut number, mut white) = game.first_move();
    let opening = game.opening.iter().map(|san| (san, None));
    let played = game.moves.iter().map(|mv| (&mv.san, Some(mv)));
    let mut is_after_comment = true;
    for (san, record) in opening.chain(played) {
        match white {
            true => tokens.push(format!("{number}.")),
            // After a comment PGN wants Black's number again.
            false if is_after_comment => tokens.push(format!("{number}...")),
            false => {}
        }
        tokens.push(san.clone());
        if let Some(record) = record {
            let control = &game.controls[usize::from(!record.white)];
            let has_clock = control != "-" && !control.ends_with("/move");
            let mut comment = comment(record, has_clock);
            if let Some(first) = comment.first_mut() {
                first.insert(0, '{');
            }
            if let Some(last) = comment.last_mut() {
                last.push('}');
            }
            tokens.extend(comment);
        }
        is_after_comment = record.is_some();
        number += usize::from(!white);
        white = !white;
    }
    let end = match (game.over_ms(), &game.error) {
        (Some(over_ms), _) => format!("{{{}}}", late(game, over_ms)),
        (None, Some(error)) => format!("{{{}: {error}}}", game.termination),
        (None, None) => format!("{{{}}}", game.termination),
    };
    // No brace may stand inside a comment.
    let end: String =
        end.chars().enumerate().filter(|(at, c)| *c != '}' && (*at == 0 || *c != '{')).map(|(_, c)| c).collect();
    tokens.extend(format!("{end}}}").split_whitespace().map(str::to_owned));
    tokens.push(game.result().to_owned());
    tokens
}

/// The sentence about a move that came `over_ms` too late and so is not among the moves, in the words of fastchess.
fn late(game: &GameRecord, over_ms: f64) -> String {
    let side = if game.forfeit == Some(true) { "White" } else { "Black" };
    let lost = if game.white_won.is_some() { "loses on time" } else { "ran out of time" };
    format!("{side} {lost} ({:.0}ms overrun)", over_ms.ceil())
}

/// The comment of a move, split at blanks. `has_clock`: whether the mover has a clock to be written.
fn comment(record: &MoveRecord, has_clock: bool) -> Vec<String> {
    let mut commands = Vec::new();
    if has_clock {
        commands.push(format!("[%clk {}]", hms(record.clocks_ms[usize::from(!record.white)])));
    }
    commands.push(format!("[%emt {}]", hms(record.used_ms)));
    if let Some(evaluation) = &record.evaluation {
        commands.push(format!("[%eval {},{}]", evaluation.for_white(record.white), record.depth));
    }
    if record.nodes > 0 {
        commands.push(format!("[%nodes {}]", record.nodes));
    }
    if let (Some(budget), Some(limit)) = (record.budget_ms, record.hard_limit_ms) {
        commands.push(format!("[%budget {}]", hms(budget)));
        commands.push(format!("[%limit {}]", hms(limit)));
    }
    commands.iter().flat_map(|command| command.split(' ').map(str::to_owned)).collect()
}

/// Hours, minutes and seconds with milliseconds: `0:00:09.876`.
fn hms(ms: f64) -> String {
    let ms = ms.max(0.0).round() as u64;
    let (s, ms) = (ms / 1000, ms % 1000);
    format!("{}:{:02}:{:02}.{ms:03}", s / 3600, s / 60 % 60, s % 60)
}

#[cfg(test)]
mod tests {
    use super::super::record::{Evaluation, Termination, drawn_game};
    use super::*;
    use zeitnot_engine::chess::Game;

    fn record(fen: Option<&str>, opening: &[&str], moves: &[&str]) -> GameRecord {
        let mut game = fen.map_or_else(Game::new, |fen| Game::from_fen(fen, false).unwrap());
        let mut san_of = |text: &str| {
            let white = game.current().turn().is_white();
            let san = game.san(zeitnot_engine::chess::parse_uci(game.current().chess(), text).unwrap());
            game.push_uci(text).unwrap();
            (white, san)
        };
        let opening = opening.iter().map(|text| san_of(text).1).collect();
        let mut records = Vec::new();
        for (ply, text) in moves.iter().enumerate() {
            let (white, san) = san_of(text);
            records.push(MoveRecord {
                uci: (*text).to_owned(),
                san,
                white,
                used_ms: 123.6,
                clocks_ms: [9_876.4, 3_661_000.0],
                budget_ms: (ply == 0).then_some(500.0),
                hard_limit_ms: (ply == 0).then_some(750.0),
                nodes: 42,
                playouts: 40,
                depth: 5,
                evaluation: match ply {
                    0 => Some(Evaluation { cp: 35, mate: None, q: Some(0.2) }),
                    1 => Some(Evaluation { cp: 35, mate: None, q: None }),
                    2 => None,
                    _ => Some(Evaluation { cp: 0, mate: Some(1), q: None }),
                },
            });
        }
        GameRecord {
            players: ["A \"x\"".into(), "B".into()],
            networks: [None, Some("net.pb.gz".into())],
            controls: ["10+0.1".into(), "10+0.1".into()],
            start_fen: fen.map(str::to_owned),
            opening,
            moves: records,
            white_won: Some(false),
            termination: Termination::Checkmate,
            clocks_ms: [9_876.4, 3_661_000.0],
            ..drawn_game(3)
        }
    }

    fn text(record: &GameRecord) -> String {
        let mut out = Vec::new();
        write_pgn(&mut out, record, "test", "2026.11.20").unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_game_reads_as_pgn() {
        insta::assert_snapshot!(text(&record(None, &["f2f3"], &["e7e5", "g2g4", "d8h4"])));
    }

    #[test]
    fn games_of_chess960_and_of_a_fixed_time_a_move_lack_what_they_have_not() {
        let mut record = record(None, &["e2e4"], &["e7e5"]);
        assert!(text(&record).contains("[ECO \"C20\"]\n[Opening \"King's Pawn Game\"]"));
        (record.chess960, record.controls) = (true, ["0.5/move".into(), "0.5/move".into()]);
        let pgn = text(&record);
        assert!(!pgn.contains("[ECO") && !pgn.contains("%clk") && pgn.contains("[TimeControl \"0.5/move\"]"), "{pgn}");
    }

    #[test]
    fn a_game_from_a_position_begins_with_its_number_and_side() {
        let fen = "4k3/8/8/8/8/8/8/R3K3 b - - 7 31";
        let pgn = text(&record(Some(fen), &[], &["e8d8", "a1a7"]));
        assert!(pgn.contains("[SetUp \"1\"]\n[FEN \"4k3/8/8/8/8/8/8/R3K3 b - - 7 31\"]"), "{pgn}");
        assert!(pgn.contains("\n31... Kd8 {") && pgn.contains("32. Ra7 {"), "{pgn}");
        assert_eq!(record(Some(fen), &[], &["e8d8", "a1a7"]).number_of_last(), 32);
        assert_eq!(record(None, &["e2e4"], &["e7e5"]).number_of_last(), 1);
    }

    #[test]
    fn time_odds_errors_and_missing_clocks_are_written() {
        let mut record = record(None, &[], &["e2e4", "e7e5"]);
        record.controls[1] = "-".into();
        (record.termination, record.error) = (Termination::Crash, Some("engine {x} \"y\" ended".into()));
        let pgn = text(&record);
        assert!(pgn.contains("[WhiteTimeControl \"10+0.1\"]\n[BlackTimeControl \"-\"]\n[Termination \"abandoned\"]"));
        let flat = pgn.replace('\n', " ");
        assert!(flat.contains("1... e5 {[%emt 0:00:00.124]"), "{pgn}");
        assert!(flat.contains("{crash: engine x \"y\" ended} 0-1"), "{pgn}");
    }

    #[test]
    fn clocks_have_hours_and_no_sign() {
        assert_eq!(hms(3_661_000.4), "1:01:01.000");
        assert_eq!(hms(-5.0), "0:00:00.000");
    }
}
