//! Shows one game move by move: its board, and its clocks beside it.

use super::clocks::course;
use super::figure::{Figure, Table};
use super::games::AuditedGame;
use crate::audit::TimedMove;
use serde::Serialize;
use zeitnot_charts::{Axis, Curve, LinePlot, Marker, Plot, Quantity};
use zeitnot_engine::chess::{Color, Move, Position, Role, Square};
use zeitnot_text::words::{clock, listed, time};

/// Plies that can be stepped to. Games of chess are hardly ever longer, and each ply holds its whole board.
const MOST_PLIES: usize = 600;

/// A ply of the game, as the page shows it. The texts are made here, so that the page's script has nothing to compute.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ply {
    /// The pieces from a8 to h1 as FEN names them, `.` where there is none.
    pub squares: String,
    /// The squares that the last move left and reached, counted from a8; none before the first move.
    pub moved: Vec<usize>,
    /// The last move with its number.
    pub title: String,
    /// The time that it used, its budget, and both clocks after it.
    pub times: String,
    /// All pieces in words.
    pub label: String,
}

/// A square of the picture that needs no script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardSquare {
    /// The classes of its element.
    pub class: String,
    /// The piece on it, a figurine; empty where there is none.
    pub piece: &'static str,
}

/// A game that can be stepped through.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// The players and the result.
    pub title: String,
    /// The positions, the first before any move.
    pub plies: Vec<Ply>,
    /// The clocks of both sides, with a mark at the position that is shown.
    pub chart: Figure,
    /// What is left out; empty where nothing is.
    pub note: String,
}

impl Board {
    /// Of a game with times; the last of its positions that can be stepped to is shown first.
    pub fn new(game: &AuditedGame) -> Board {
        let [white, black] = [Color::White, Color::Black].map(|color| game.player(color));
        let result = Some(game.game.tag("Result")).filter(|tag| !tag.is_empty()).unwrap_or("*");
        let title = format!("Game {}: {white} - {black} {result}", game.game.number);
        let sans = sans(game);
        let shown = sans.len().min(MOST_PLIES);
        let plies = times(game).into_iter().take(shown + 1).enumerate();
        let plies: Vec<Ply> = plies.map(|(played, times)| ply(game, &sans, played, times)).collect();
        let note = match sans.len() - shown {
            0 => String::new(),
            left => format!("The board shows the first {shown} plies; the {left} after them are left out."),
        };
        Board { title, chart: chart(game, [white, black], &sans, shown), plies, note }
    }

    /// The position that a page without a script shows: the last one.
    pub fn shown(&self) -> &Ply {
        &self.plies[self.plies.len() - 1]
    }

    /// The squares of that position, from a8 to h1.
    pub fn squares(&self) -> Vec<BoardSquare> {
        let shown = self.shown();
        let square = |(index, c): (usize, char)| {
            let shade = if (index / 8 + index % 8).is_multiple_of(2) { "light" } else { "dark" };
            let side = if c == '.' {
                ""
            } else if c.is_uppercase() {
                " white"
            } else {
                " black"
            };
            let moved = if shown.moved.contains(&index) { " moved" } else { "" };
            BoardSquare { class: format!("{shade}{side}{moved}"), piece: figurine(c) }
        };
        shown.squares.chars().enumerate().map(square).collect()
    }

    /// The plies for the page's script. `<` is written as JSON's escape, so that no text can end the element.
    pub fn data(&self) -> String {
        let json = serde_json::to_string(&self.plies).unwrap_or_else(|_| "[]".to_owned());
        json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }
}

/// The figurine of a piece. Both sides have the filled one, and the colour tells them apart; the selector behind it asks for
/// text, for which some telephones take a coloured picture.
fn figurine(piece: char) -> &'static str {
    match piece.to_ascii_lowercase() {
        'k' => "\u{265a}\u{fe0e}",
        'q' => "\u{265b}\u{fe0e}",
        'r' => "\u{265c}\u{fe0e}",
        'b' => "\u{265d}\u{fe0e}",
        'n' => "\u{265e}\u{fe0e}",
        'p' => "\u{265f}\u{fe0e}",
        _ => "",
    }
}

/// The moves in the notation of PGN.
fn sans(game: &AuditedGame) -> Vec<String> {
    let mut replayed = game.game.game.clone();
    replayed.truncate(0);
    let san = |mv: &Move| {
        let san = replayed.san(*mv);
        replayed.push(*mv);
        san
    };
    game.game.game.moves().iter().map(san).collect()
}

/// The position after `played` plies, with its `times`.
fn ply(game: &AuditedGame, sans: &[String], played: usize, times: String) -> Ply {
    let position = &game.game.game.positions()[played];
    let (title, moved) = match played.checked_sub(1) {
        None => ("Start position".to_owned(), Vec::new()),
        Some(before) => {
            let mv = game.game.game.moves()[before];
            (title(game, sans, before), mv.from().into_iter().chain([mv.to()]).map(index).collect())
        }
    };
    let label = format!("{title}. {}", pieces(position));
    Ply { squares: squares(position), moved, title, times, label }
}

/// A move with its number: `1... e5`.
fn title(game: &AuditedGame, sans: &[String], ply: usize) -> String {
    let position = &game.game.game.positions()[ply];
    let dots = if position.turn() == Color::White { "." } else { "..." };
    format!("{}{dots} {}", position.fullmoves(), sans[ply])
}

/// The place of a square, counted from a8.
fn index(square: Square) -> usize {
    (7 - square.rank() as usize) * 8 + square.file() as usize
}

fn squares(position: &Position) -> String {
    let mut squares = ['.'; 64];
    for square in Square::ALL {
        if let Some(piece) = position.board().piece_at(square) {
            squares[index(square)] = piece.char();
        }
    }
    squares.iter().collect()
}

/// `White: king g1, pawns f2 and g2. Black: king g8. White to move.`
fn pieces(position: &Position) -> String {
    const ROLES: [(Role, &str); 6] = [
        (Role::King, "king"),
        (Role::Queen, "queen"),
        (Role::Rook, "rook"),
        (Role::Bishop, "bishop"),
        (Role::Knight, "knight"),
        (Role::Pawn, "pawn"),
    ];
    let side = |color: Color| -> String {
        let of = |(role, name): (Role, &str)| {
            let is_one = |square: &Square| {
                position.board().piece_at(*square).is_some_and(|piece| piece.role == role && piece.color == color)
            };
            let squares: Vec<String> =
                Square::ALL.into_iter().filter(is_one).map(|square| square.to_string()).collect();
            let plural = if squares.len() > 1 { "s" } else { "" };
            (!squares.is_empty()).then(|| format!("{name}{plural} {}", listed(&squares)))
        };
        ROLES.into_iter().filter_map(of).collect::<Vec<_>>().join(", ")
    };
    let turn = if position.turn() == Color::White { "White" } else { "Black" };
    format!("White: {}. Black: {}. {turn} to move.", side(Color::White), side(Color::Black))
}

/// What the last move used, and both clocks after it, before the first move and after each. The clock of a side is told
/// by its next move, so that one pass from the end finds all.
fn times(game: &AuditedGame) -> Vec<String> {
    let mut timed: Vec<Option<&TimedMove>> = vec![None; game.game.game.moves().len()];
    for mv in &game.times.moves {
        timed[mv.ply] = Some(mv);
    }
    let mut clocks = game.times.end_ms;
    let mut all = Vec::new();
    for played in (0..=timed.len()).rev() {
        if let Some(Some(next)) = timed.get(played) {
            let clock_ms = &mut clocks[usize::from(next.color == Color::Black)];
            *clock_ms = next.clock_ms.or(*clock_ms);
        }
        let used = match played.checked_sub(1).map(|last| timed[last]) {
            Some(Some(TimedMove { used_ms, budget_ms: Some(budget_ms), .. })) => {
                format!("used {} of a budget of {}. ", time(*used_ms), time(*budget_ms))
            }
            Some(Some(mv)) => format!("used {}. ", time(mv.used_ms)),
            Some(None) => "time not told. ".to_owned(),
            None => String::new(),
        };
        let [white, black] = clocks.map(|ms| ms.map_or_else(|| "-".to_owned(), clock));
        all.push(format!("{used}Clocks: White {white}, Black {black}"));
    }
    all.reverse();
    all
}

/// The clocks over the plies, with the marker after `shown` of them.
fn chart(game: &AuditedGame, [white, black]: [&str; 2], sans: &[String], shown: usize) -> Figure {
    let names = [format!("White: {white}"), format!("Black: {black}")];
    let sides = [Color::White, Color::Black];
    let curve = |(side, color): (usize, Color)| Curve::line(&names[side], side, course(game, color, true));
    let positions = game.game.game.positions();
    let place = |position: &Position| 1.0 + f64::from(position.ply()) / 2.0;
    let (first, at) = (place(&positions[0]), place(&positions[shown]));
    let mut table = Table::new(&["move", "clock before it", "used", "budget"]);
    for mv in &game.times.moves {
        let budget = mv.budget_ms.map_or_else(|| "-".to_owned(), time);
        let before = mv.clock_ms.map_or_else(|| "-".to_owned(), clock);
        table.row(vec![title(game, sans, mv.ply), before, time(mv.used_ms), budget]);
    }
    let longest = game.times.moves.iter().max_by(|a, b| a.used_ms.total_cmp(&b.used_ms));
    let longest = longest.map_or_else(String::new, |mv| {
        format!("The longest thought is {}, {}. ", title(game, sans, mv.ply), time(mv.used_ms))
    });
    Figure {
        name: "clocks-of-the-game".to_owned(),
        title: "Clocks of the game".to_owned(),
        caption: format!("{longest}The upright line is the position on the board."),
        plot: Plot::Lines(LinePlot {
            x: Axis::new("move", Quantity::Count),
            y: Axis::new("clock", Quantity::Time),
            curves: sides.into_iter().enumerate().map(curve).collect(),
            references: Vec::new(),
            marker: Some(Marker { at, first, step: 0.5 }),
        }),
        table,
    }
}

#[cfg(test)]
mod tests {
    use super::super::games::audited;
    use super::*;

    const GAME: &str = "[White \"</script><b>\"]\n[Black \"b\"]\n[TimeControl \"10+1\"]\n\n\
        1. e4 {[%emt 0:00:02] [%budget 0:00:03]} e5 {0.0/5 3} 2. Nf3 {0.0/4 1} *\n";

    #[test]
    fn every_ply_has_its_board_and_its_times() {
        let board = Board::new(&audited(GAME)[0]);
        assert_eq!(board.plies.len(), 4);
        assert_eq!(board.plies[0].squares, "rnbqkbnrpppppppp................................PPPPPPPPRNBQKBNR");
        assert_eq!(board.plies[0].times, "Clocks: White 0:10.0, Black 0:10.0");
        let first = &board.plies[1];
        assert_eq!((first.title.as_str(), &first.moved[..]), ("1. e4", &[52, 36][..]));
        assert_eq!(first.times, "used 2 s of a budget of 3 s. Clocks: White 0:09.0, Black 0:10.0");
        assert_eq!(board.shown().title, "2. Nf3");
        assert!(board.shown().label.contains("White: king e1, queen d1, rooks a1 and h1,"), "{}", board.shown().label);
        assert!(board.shown().label.ends_with("Black to move."));
        let squares = board.squares();
        assert_eq!((squares[0].class.as_str(), squares[0].piece), ("light black", "\u{265c}\u{fe0e}"));
        assert_eq!(squares[45].class, "light white moved");
        assert!(board.chart.caption.starts_with("The longest thought is 1... e5, 3 s."), "{}", board.chart.caption);
    }

    #[test]
    fn a_game_of_thousands_of_plies_has_a_board_of_the_first() {
        let round = "Nf3 {0.1/5 1s} Nf6 {0.1/5 1s} Ng1 {0.1/5 1s} Ng8 {0.1/5 1s} ";
        let games = audited(&format!("[TimeControl \"9000\"]\n\n{} *\n", round.repeat(500)));
        let board = Board::new(&games[0]);
        assert_eq!(board.plies.len(), MOST_PLIES + 1);
        assert_eq!(board.note, "The board shows the first 600 plies; the 1400 after them are left out.");
        assert_eq!(board.shown().times, "used 1 s. Clocks: White 2:25:00, Black 2:25:00");
        assert_eq!(board.chart.table.rows.len(), 2_000);
        assert!(Board::new(&audited(GAME)[0]).note.is_empty());
    }

    #[test]
    fn data_cannot_end_its_element() {
        let mut board = Board::new(&audited(GAME)[0]);
        board.plies[0].title = "</script><script>".to_owned();
        assert!(!board.data().contains('<') && board.data().contains("\\u003c/script"));
    }
}
