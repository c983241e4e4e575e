//! Reads a line of the person as a move or a command.

use zeitnot::uci::{did_you_mean, play_line};
use zeitnot_engine::chess::{Game, Move, to_uci};

/// The commands as they are typed, and what each does.
const COMMANDS: [(&str, &str); 15] = [
    ("e2e4, Nf3 ...", "plays a move"),
    ("undo", "takes your last move back, as takeback does; the clocks go back, too"),
    ("hint", "tells the move that the engine likes best for you; your clock runs meanwhile"),
    ("draw", "offers a draw; the engine looks at the position for as long as for a hint"),
    ("resign", "ends the game"),
    ("board", "draws the board"),
    ("flip", "turns the board"),
    ("clock", "tells the clocks"),
    ("explain", "explains the time of the engine's last move"),
    ("moves", "lists the moves"),
    ("fen", "prints the position as a FEN"),
    ("pgn", "prints the game as PGN"),
    ("save FILE", "writes the game to another file, which must be new"),
    ("help", "lists the commands"),
    ("quit", "ends the program; --resume goes on with the game"),
];

/// A line of the person.
#[derive(Debug, PartialEq)]
pub enum Typed {
    Move(Move),
    Undo,
    Hint,
    Draw,
    Resign,
    Board,
    Flip,
    Clock,
    Explain,
    Moves,
    Fen,
    Pgn,
    Save(String),
    Help,
    Quit,
    Nothing,
    /// A move that cannot be played, and why.
    NoMove(String),
}

/// The list of commands.
pub fn help() -> Vec<String> {
    COMMANDS.iter().map(|(usage, effect)| format!("{usage:<14} {effect}")).collect()
}

/// Reads a line of the person; an error is one line of text for the person.
pub fn read(line: &str, game: &Game) -> Result<Typed, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let typed = match word.to_ascii_lowercase().as_str() {
        "" => Typed::Nothing,
        "undo" | "takeback" | "back" => Typed::Undo,
        "hint" => Typed::Hint,
        "draw" => Typed::Draw,
        "resign" => Typed::Resign,
        "board" => Typed::Board,
        "flip" => Typed::Flip,
        "clock" => Typed::Clock,
        "explain" => Typed::Explain,
        "moves" => Typed::Moves,
        "fen" => Typed::Fen,
        "pgn" => Typed::Pgn,
        "save" if rest.trim().is_empty() => return Err("save needs the name of a file".to_owned()),
        "save" => return Ok(Typed::Save(rest.trim().to_owned())),
        "help" | "?" => Typed::Help,
        "quit" | "exit" => Typed::Quit,
        _ => return played(line, word, game),
    };
    if rest.is_empty() { Ok(typed) } else { Err(format!("{word} stands alone: what is \"{rest}\"?")) }
}

/// A line that is no command, as a move.
fn played(line: &str, word: &str, game: &Game) -> Result<Typed, String> {
    let read = play_line(game, line);
    if let Some(fault) = lacks_its_piece(line, game).filter(|_| !matches!(read, Some(Ok(_)))) {
        return Err(fault);
    }
    match read {
        Some(Ok((after, _))) => match after.moves()[game.moves().len()..] {
            [mv] => Ok(Typed::Move(mv)),
            _ => Err("one move at a time".to_owned()),
        },
        Some(Err((why, _))) => Ok(Typed::NoMove(why)),
        None => {
            let known = COMMANDS.iter().skip(1).filter_map(|(usage, _)| usage.split(' ').next());
            Err(format!("\"{line}\" is no move and no command (help lists them){}", did_you_mean(word, known)))
        }
    }
}

/// An error for a pawn move to the last rank that lacks the piece of its promotion, else `None`.
fn lacks_its_piece(line: &str, game: &Game) -> Option<String> {
    let typed = line.rsplit([' ', '.']).next().unwrap_or(line);
    let written = |mv: Move| [game.san(mv).trim_end_matches(['+', '#']).to_owned(), to_uci(mv, game.is_chess960())];
    let legal = game.current().legal_moves();
    let mut moves = legal.iter().flat_map(|mv| written(*mv));
    let whole =
        moves.find(|mv| [format!("{typed}=Q"), format!("{typed}q")].iter().any(|q| q.eq_ignore_ascii_case(mv)))?;
    Some(format!("{typed} needs a piece: {whole}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_the_list_is_read() {
        let game = Game::new();
        for (usage, _) in COMMANDS {
            let line = usage.split(',').next().unwrap();
            assert!(read(line, &game).is_ok(), "{usage}");
            assert!(help().iter().any(|text| text.starts_with(usage)));
        }
        assert_eq!(read("save  a game.pgn ", &game), Ok(Typed::Save("a game.pgn".to_owned())));
        assert_eq!(read("  ", &game), Ok(Typed::Nothing));
        for (line, typed) in [("Takeback", Typed::Undo), ("exit", Typed::Quit), ("?", Typed::Help)] {
            assert_eq!(read(line, &game), Ok(typed), "{line}");
        }
    }

    #[test]
    fn moves_are_read_in_both_notations() {
        let game = Game::new();
        let mv = read("e2e4", &game).unwrap();
        for text in ["e4", "1. e4", "1.e4", "E4", "1. E2E4"] {
            assert_eq!(read(text, &game).unwrap(), mv, "{text}");
        }
    }

    #[test]
    fn a_promotion_without_its_piece_is_told_it() {
        let said = |fen: &str, line: &str| read(line, &Game::from_fen(fen, false).unwrap()).unwrap_err();
        let seventh = "7k/4P3/8/8/8/8/8/K7 w - - 0 1";
        assert_eq!(said(seventh, "E8"), "E8 needs a piece: e8=Q");
        assert_eq!(said(seventh, "e8"), "e8 needs a piece: e8=Q");
        assert_eq!(said(seventh, "e7e8"), "e7e8 needs a piece: e7e8q");
        assert!(said(seventh, "hnit").ends_with("did you mean \"hint\"?"));
    }

    #[test]
    fn wrong_lines_are_named() {
        let said = |line: &str| read(line, &Game::new()).unwrap_err();
        assert_eq!(read("e5", &Game::new()), Ok(Typed::NoMove("e5 is illegal".to_owned())));
        assert_eq!(said("e4 e5"), "one move at a time");
        assert_eq!(said("hnit"), "\"hnit\" is no move and no command (help lists them); did you mean \"hint\"?");
        assert_eq!(said("xyzzy"), "\"xyzzy\" is no move and no command (help lists them)");
        assert_eq!(said("resign now"), "resign stands alone: what is \"now\"?");
        assert_eq!(said("save"), "save needs the name of a file");
    }
}
