//! Reads the commands of a GUI.

use super::nearest::did_you_mean;
use thiserror::Error;
use zeitnot_engine::chess::{Color, FenError, Game, MoveError, parse_uci};
use zeitnot_engine::engine::{GoParams, MOST_MOVES};

/// Largest time, in milliseconds, that is taken seriously: about 31 years. Larger input is cut to it.
const LONGEST_MS: f64 = 1e12;
/// Largest number of nodes, moves or plies. Larger input is cut to it.
const LARGEST_COUNT: f64 = u32::MAX as f64;

/// The words that `go` knows: `searchmoves` takes the words up to the next of them.
const GO_WORDS: &[&str] = &[
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "movetime",
    "nodes",
    "depth",
    "mate",
    "infinite",
    "ponder",
    "searchmoves",
];

/// The first words of commands.
pub(super) const COMMAND_WORDS: [&str; 19] = [
    "uci",
    "isready",
    "ucinewgame",
    "setoption",
    "position",
    "go",
    "stop",
    "ponderhit",
    "wait",
    "fen",
    "help",
    "d",
    "eval",
    "savetree",
    "loadtree",
    "quit",
    "exit",
    "debug",
    "register",
];

/// A command of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Command<'a> {
    Uci,
    IsReady,
    NewGame,
    SetOption { name: String, value: String },
    Position(&'a str),
    Go(&'a str),
    Stop,
    PonderHit,
    Wait,
    Fen,
    Help,
    Board,
    Eval,
    SaveTree(&'a str),
    LoadTree(&'a str),
    Quit,
    Debug,
    Empty,
    Unknown(&'a str),
}

/// An error in a `position` or `setoption`; its text is one line.
#[derive(Clone, Debug, Error, PartialEq)]
pub(super) enum ParseError {
    #[error("position needs \"startpos\" or \"fen ...\", not \"{0}\"")]
    Position(String),
    #[error(transparent)]
    Fen(#[from] FenError),
    #[error(transparent)]
    Move(#[from] MoveError),
    #[error("setoption needs \"name\", not \"{0}\"")]
    SetOption(String),
}

pub(super) fn command(line: &str) -> Result<Command<'_>, ParseError> {
    // A byte order mark, which a script or a shell may put before the first command.
    let line = line.trim_start_matches('\u{feff}').trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    Ok(match word {
        "" => Command::Empty,
        "uci" => Command::Uci,
        "isready" => Command::IsReady,
        "ucinewgame" => Command::NewGame,
        "setoption" => return set_option(rest),
        "position" => Command::Position(rest),
        "go" => Command::Go(rest),
        "stop" => Command::Stop,
        "ponderhit" => Command::PonderHit,
        "wait" => Command::Wait,
        "fen" if rest.is_empty() => Command::Fen,
        // As it is typed; a GUI says `position` before it.
        "fen" => Command::Position(line),
        "help" => Command::Help,
        "d" => Command::Board,
        "eval" => Command::Eval,
        "savetree" => Command::SaveTree(rest),
        "loadtree" => Command::LoadTree(rest),
        "quit" | "exit" => Command::Quit,
        "debug" | "register" => Command::Debug,
        _ => Command::Unknown(line),
    })
}

/// Reads the words of `setoption`: `name <words> [value <text>]`. Both may hold spaces; a value, such as a path, keeps
/// them as they are.
fn set_option(rest: &str) -> Result<Command<'_>, ParseError> {
    let error = || ParseError::SetOption(rest.to_owned());
    let named = rest.strip_prefix("name").filter(|rest| rest.starts_with(char::is_whitespace)).ok_or_else(error)?;
    let value_at = named.match_indices("value").map(|(at, _)| at).find(|at| {
        let (before, after) = (&named[..*at], &named[at + "value".len()..]);
        before.ends_with(char::is_whitespace) && (after.is_empty() || after.starts_with(char::is_whitespace))
    });
    let (name, value) = match value_at {
        Some(at) => (&named[..at], named[at + "value".len()..].trim()),
        None => (named, ""),
    };
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    if name.is_empty() {
        return Err(error());
    }
    Ok(Command::SetOption { name, value: value.to_owned() })
}

/// Reads the words of `position`: `startpos` or `fen <fen>`, and `moves <moves>` if any.
pub(super) fn position(rest: &str, chess960: bool) -> Result<Game, ParseError> {
    let words: Vec<&str> = rest.split_whitespace().collect();
    let moves_at = words.iter().position(|word| *word == "moves").unwrap_or(words.len());
    let mut game = match words.first() {
        Some(&"startpos") if moves_at == 1 => Game::new(),
        Some(&"fen") => Game::from_fen(&words[1..moves_at].join(" "), chess960)?,
        _ => return Err(ParseError::Position(rest.to_owned())),
    };
    for mv in words.get(moves_at + 1..).unwrap_or_default() {
        game.push_uci(mv)?;
    }
    Ok(game)
}

/// Reads the words of `go`; returns complaints about wrong values, too. A value that makes no sense is replaced by the
/// nearest one that does, since a search with limits must end in any case.
pub(super) fn go(rest: &str, game: &Game) -> (GoParams, Vec<String>) {
    let mut go = GoParams::default();
    let mut complaints = Vec::new();
    let mut words = rest.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let mut number = |largest: f64| {
            let text = words.next();
            read_number(word, text, largest, &mut complaints)
        };
        match word {
            "wtime" => go.wtime = Some(number(LONGEST_MS)),
            "btime" => go.btime = Some(number(LONGEST_MS)),
            "winc" => go.winc = Some(number(LONGEST_MS)),
            "binc" => go.binc = Some(number(LONGEST_MS)),
            "movestogo" => go.movestogo = Some(number(LARGEST_COUNT) as u32),
            "movetime" => go.movetime = Some(number(LONGEST_MS)),
            "nodes" => go.nodes = Some(number(LARGEST_COUNT) as u64),
            "depth" => go.depth = Some(number(LARGEST_COUNT) as u32),
            "mate" => go.mate = Some(number(LARGEST_COUNT) as u32),
            "infinite" => go.infinite = true,
            "ponder" => go.ponder = true,
            "searchmoves" => {
                let legal = game.current().legal_moves();
                let known = &legal[..legal.len().min(MOST_MOVES)];
                let mut illegal = Vec::new();
                while let Some(text) = words.next_if(|word| !GO_WORDS.contains(word)) {
                    match parse_uci(game.current().chess(), text) {
                        Ok(mv) if known.contains(&mv) => go.search_moves.push(mv),
                        _ => illegal.push(text),
                    }
                }
                let beyond = match legal.len() > MOST_MOVES {
                    true => format!(" of the first {MOST_MOVES}"),
                    false => String::new(),
                };
                let illegal = illegal.join(" ");
                match (go.search_moves.is_empty(), illegal.is_empty()) {
                    (true, true) => complaints.push("go searchmoves names no move: all are searched".to_owned()),
                    (true, false) => {
                        complaints.push(format!(
                            "go searchmoves names no legal move{beyond} (\"{illegal}\"): all are searched"
                        ));
                    }
                    (false, false) => {
                        complaints.push(format!("go searchmoves \"{illegal}\" is no legal move{beyond}: ignored"))
                    }
                    (false, true) => {}
                }
            }
            _ => {
                let meant = did_you_mean(word, GO_WORDS.iter().copied());
                complaints.push(format!("go does not know \"{word}\": ignored{meant}"));
            }
        }
    }
    let (name, other) = match game.current().turn() {
        Color::White => ("wtime", "btime"),
        Color::Black => ("btime", "wtime"),
    };
    if go.clock(game.current().turn()).is_some_and(|clock| !clock.is_own) {
        complaints.push(format!("go has no {name}: {other} is taken for it"));
    }
    (go, complaints)
}

fn read_number(name: &str, text: Option<&str>, largest: f64, complaints: &mut Vec<String>) -> f64 {
    let Some(text) = text else {
        complaints.push(format!("go {name} lacks its number: taken as 0"));
        return 0.0;
    };
    match text.parse::<f64>() {
        Ok(value) if (0.0..=largest).contains(&value) => value,
        Ok(value) if value > largest => {
            // A runner has to write something for the clock of a player without one.
            if !["wtime", "btime"].contains(&name) {
                complaints.push(format!("go {name} {text} is too large: taken as {largest}"));
            }
            largest
        }
        Ok(value) if value < 0.0 => {
            complaints.push(format!("go {name} {text} is negative: taken as 0"));
            0.0
        }
        _ => {
            complaints.push(format!("go {name} \"{text}\" is not a number: taken as 0"));
            0.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_engine::chess::to_uci;

    #[test]
    fn commands() {
        assert_eq!(command("  uci \r"), Ok(Command::Uci));
        assert_eq!(command("\u{feff}uci"), Ok(Command::Uci));
        assert_eq!(command("\u{feff}"), Ok(Command::Empty));
        assert_eq!(command(""), Ok(Command::Empty));
        assert_eq!(command("go  nodes 5"), Ok(Command::Go("nodes 5")));
        assert_eq!(command("xyz 1"), Ok(Command::Unknown("xyz 1")));
        assert!(COMMAND_WORDS.iter().all(|word| !matches!(command(word), Ok(Command::Unknown(_)))));
        let set = |name: &str, value: &str| Ok(Command::SetOption { name: name.into(), value: value.into() });
        assert_eq!(command("setoption name Threads value 2"), set("Threads", "2"));
        assert_eq!(command("setoption name Move Overhead value 30"), set("Move Overhead", "30"));
        assert_eq!(command("setoption name WeightsFile value a b.pb"), set("WeightsFile", "a b.pb"));
        assert_eq!(command("setoption name WeightsFile value a  b.pb"), set("WeightsFile", "a  b.pb"));
        assert_eq!(command("setoption name valued value value"), set("valued", "value"));
        assert_eq!(command("setoption name X value"), set("X", ""));
        assert!(command("setoption name value 3").is_err());
        assert_eq!(command("setoption name ClearTree"), set("ClearTree", ""));
        assert!(command("setoption Threads 2").is_err());
        assert!(command("setoption name").is_err());
    }

    #[test]
    fn positions() {
        assert_eq!(position("startpos moves e2e4 e7e5", false).unwrap().moves().len(), 2);
        assert_eq!(position("fen 8/8/8/4k3/8/8/8/K7 b moves e5e4", false).unwrap().current().ply(), 2);
        assert!(matches!(position("startpos e2e4", false), Err(ParseError::Position(_))));
        assert!(matches!(position("", false), Err(ParseError::Position(_))));
        assert!(matches!(position("fen", false), Err(ParseError::Fen(_))));
        assert!(matches!(position("startpos moves e2e5", false), Err(ParseError::Move(_))));
    }

    #[test]
    fn go_limits() {
        let game = Game::new();
        let (params, complaints) = go("wtime 1000 btime 900 winc 10 binc 5 movestogo 40", &game);
        assert_eq!((params.wtime, params.btime, params.movestogo), (Some(1000.0), Some(900.0), Some(40)));
        assert!(complaints.is_empty());
        let (params, complaints) = go("searchmoves e2e4 d2d4 infinite", &game);
        assert_eq!(params.search_moves.iter().map(|mv| to_uci(*mv, false)).collect::<Vec<_>>(), ["e2e4", "d2d4"]);
        assert!(params.infinite && complaints.is_empty());
    }

    #[test]
    fn senseless_numbers_are_bent_and_named() {
        let game = Game::new();
        for (text, complaint) in [
            ("wtime -5", "go wtime -5 is negative: taken as 0"),
            ("movetime 1e300", "go movetime 1e300 is too large: taken as 1000000000000"),
            ("nodes 99999999999999999999999", "go nodes 99999999999999999999999 is too large: taken as 4294967295"),
            ("depth x", "go depth \"x\" is not a number: taken as 0"),
            ("nodes nan", "go nodes \"nan\" is not a number: taken as 0"),
            ("movetime", "go movetime lacks its number: taken as 0"),
            ("searchmoves e2e5", "go searchmoves names no legal move (\"e2e5\"): all are searched"),
            ("searchmoves nodes 5", "go searchmoves names no move: all are searched"),
            ("searchmoves e2e4 e2e5 zz nodes 5", "go searchmoves \"e2e5 zz\" is no legal move: ignored"),
            ("btime 1000", "go has no wtime: btime is taken for it"),
            ("btime 1000 nodes 5", "go has no wtime: btime is taken for it"),
            ("fast", "go does not know \"fast\": ignored"),
            ("infinte", "go does not know \"infinte\": ignored; did you mean \"infinite\"?"),
        ] {
            let complaints = go(text, &game).1;
            assert_eq!(complaints, [complaint]);
        }
        let endless = "wtime 9 btime 4611686018427387888";
        for text in ["btime 1000 infinite", "btime 1000 ponder", "winc 5", "btime 9 wtime 9", endless] {
            assert!(go(text, &game).1.is_empty(), "{text}");
        }
        assert_eq!(go("wtime -5", &game).0.wtime, Some(0.0));
        assert_eq!(go("nodes 99999999999999999999999", &game).0.nodes, Some(u64::from(u32::MAX)));
    }
}
