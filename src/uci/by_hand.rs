//! Answers commands that people type and GUIs do not send: `help`, `d`, `eval`, and moves alone.

use super::board::{self, Signs};
use zeitnot_engine::backend::softmax;
use zeitnot_engine::chess::{Color, Game, Move, Outcome, Position, SanError, Square, parse_san, to_uci};
use zeitnot_engine::engine::{Engine, EngineError, TreeValue};

/// Most moves that `eval` shows.
const SHOWN_MOVES: usize = 5;

/// The commands as they are typed, and what each does.
const COMMANDS: [(&str, &str); 17] = [
    ("help", "lists the commands"),
    ("e2e4, Nf3 ...", "moves alone are played"),
    ("d", "draws the board"),
    ("fen", "prints the position as a FEN; fen FEN sets it"),
    ("eval", "prints what the network and the last search say of the position"),
    ("position startpos moves e2e4", "sets a position; position fen FEN sets another one"),
    ("go movetime 5000", "searches; other limits: nodes, depth, mate, infinite, wtime, btime, winc, binc"),
    ("go perft 4", "counts the leaves of the legal move tree"),
    ("stop", "ends the search with its move"),
    ("wait", "waits for the end of the search"),
    ("savetree FILE", "saves the tree of an analysis; loadtree FILE takes it up again"),
    ("setoption name MultiPV value 3", "sets an option"),
    ("uci", "lists the options"),
    ("isready", "loads the network, and answers readyok"),
    ("ucinewgame", "forgets the game"),
    ("ponderhit", "tells a search that began with go ponder that its move was played"),
    ("quit", "ends the program; outside it, zeitnot --help has more commands"),
];

/// The list of commands.
pub(super) fn help() -> Vec<String> {
    COMMANDS.iter().map(|(usage, effect)| format!("{usage:<30} {effect}")).collect()
}

/// The lines that `d` prints: the board and the facts of the position.
pub(super) fn board(game: &Game) -> Vec<String> {
    let position = game.current();
    let mut lines = board::board(position, Signs::Letters, Color::White);
    lines.push(format!("fen: {}", game.fen()));
    lines.push(format!("key: {:016x}", position.key()));
    lines.push(format!("moves: {} legal for {}", position.legal_moves().len(), position.turn()));
    let checkers: Vec<String> = checkers(position).map(|square| square.to_string()).collect();
    if !checkers.is_empty() {
        lines.push(format!("check: from {}", checkers.join(", ")));
    }
    if let Some(outcome) = game.outcome() {
        lines.push(format!("result: {}", result(outcome)));
    }
    lines
}

/// The squares of the pieces that give check to the side to move.
fn checkers(position: &Position) -> impl Iterator<Item = Square> {
    let (board, turn) = (position.board(), position.turn());
    let attackers = board.king_of(turn).map(|king| board.attacks_to(king, turn.other(), board.occupied()));
    attackers.into_iter().flatten()
}

fn result(outcome: Outcome) -> String {
    match outcome.winner() {
        Some(winner) => format!("{}, {winner} wins", outcome.reason()),
        None => format!("draw by {}", outcome.reason()),
    }
}

/// The lines that `eval` prints: the network's evaluation of the position, and what searches found in the tree. The
/// network must be loaded.
///
/// # Errors
/// [`EngineError`] where there is no network, or it does not evaluate.
pub(super) fn evaluation(engine: &Engine) -> Result<Vec<String>, EngineError> {
    let game = engine.game();
    let moves: Vec<Move> = game.current().legal_moves().into_iter().collect();
    if moves.is_empty() {
        return Ok(vec!["network: not asked, for there is no legal move".to_owned()]);
    }
    let mut network = engine.network_evaluator()?;
    let evaluation = network.evaluate(game, &moves)?.1;
    let probabilities = softmax(&evaluation.logits, 1.0);
    let mut policy: Vec<(Move, f32)> = moves.into_iter().zip(probabilities).collect();
    policy.sort_by(|a, b| b.1.total_cmp(&a.1));
    let chess960 = engine.options().chess960;
    let percent = |(mv, p): &(Move, f32)| format!("{} {:.1} %", to_uci(*mv, chess960), p * 100.0);
    let turn = game.current().turn();
    let mut lines = vec![
        format!("network: {}", network.attributes()),
        format!("value: {}", worth(turn, evaluation.q, evaluation.d, evaluation.m)),
        format!("policy: {}", first(&policy, percent)),
    ];
    if let Some(TreeValue { visits, q, d, m, moves }) = engine.tree_value() {
        let counted = |(mv, visits): &(Move, u32)| format!("{} {visits}", to_uci(*mv, chess960));
        lines.push(format!("search: {}", worth(turn, q, d, m)));
        lines.push(format!("visits: {visits}, of them {}", first(&moves, counted)));
    }
    Ok(lines)
}

/// The first items of a list as text, joined by commas.
fn first<T>(items: &[T], text: impl Fn(&T) -> String) -> String {
    items.iter().take(SHOWN_MOVES).map(text).collect::<Vec<_>>().join(", ")
}

/// The value of a position as text, for `turn`, the side to move.
fn worth(turn: Color, q: f32, d: f32, m: Option<f32>) -> String {
    let [win, loss] = [q, -q].map(|q| (1.0 - d + q) * 50.0);
    let left = m.map(|plies| format!(", {plies:.0} plies left")).unwrap_or_default();
    format!("{q:+.3} for {turn} (win {win:.1} %, draw {:.1} %, loss {loss:.1} %){left}", d * 100.0)
}

/// Plays the moves of a line, in UCI's notation or in PGN's with or without numbers. Returns the game and a text about
/// it, or for a move that cannot be played the reason and the game before it. `None` for a line that does not begin
/// with a move.
pub fn play(game: &Game, line: &str) -> Option<Result<(Game, String), (String, Game)>> {
    let mut words = moves(line);
    let is_other = |error: &SanError| matches!(error, SanError::Syntax | SanError::Null);
    if read(game.current(), words.next()?).is_err_and(|error| is_other(&error)) {
        return None;
    }
    let (mut game, mut played) = (game.clone(), Vec::new());
    for word in moves(line) {
        match read(game.current(), word) {
            Ok(mv) => {
                played.push(game.current().san(mv));
                game.push(mv);
            }
            Err(error) => return Some(Err((format!("{word} {error}"), game))),
        }
    }
    let text = format!("{}: {}", played.join(" "), game.fen());
    Some(Ok((game, text)))
}

/// Reads a move, in any letter case where that is unambiguous (`nf3`, `E4`); `Bxc3` is never a pawn's.
fn read(position: &Position, word: &str) -> Result<Move, SanError> {
    let small = word.to_ascii_lowercase();
    let capital = small.chars().take(1).map(|c| c.to_ascii_uppercase()).chain(small.chars().skip(1)).collect();
    let read = |word: &String| parse_san(position.chess(), word);
    match (parse_san(position.chess(), word), read(&small), read(&capital)) {
        (Err(SanError::Syntax), Ok(one), Ok(other)) if one != other => Err(SanError::Ambiguous),
        (Err(SanError::Syntax), Ok(mv), _) | (Err(SanError::Syntax), _, Ok(mv)) => Ok(mv),
        (Err(SanError::Illegal), _, Ok(mv)) if word.starts_with(char::is_lowercase) => Ok(mv),
        (Err(SanError::Syntax), small, Err(SanError::Syntax)) => small,
        (Err(SanError::Syntax), _, capital) => capital,
        (read, _, _) => read,
    }
}

/// The moves in a line, without their numbers.
fn moves(line: &str) -> impl Iterator<Item = &str> {
    let unnumbered = |word: &'_ str| -> usize {
        let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() < word.len() && rest.starts_with('.') {
            word.len() - rest.trim_start_matches('.').len()
        } else {
            0
        }
    };
    line.split_whitespace().map(move |word| &word[unnumbered(word)..]).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(moves: &str) -> Game {
        play(&Game::new(), moves).unwrap().unwrap().0
    }

    #[test]
    fn moves_are_read_in_both_notations() {
        let game = after("e2e4 e5 Nf3 b8c6 Bb5 a6 Bxc6 dxc6 O-O");
        assert_eq!(game.fen(), "r1bqkbnr/1pp2ppp/p1p5/4p3/4P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 1 5");
        assert_eq!(after("1. e4 c5 2.Nf3 2... d6").fen(), after("e4 c5 Nf3 d6").fen());
        let text = play(&Game::new(), "e2e4 g8f6").unwrap().unwrap().1;
        assert_eq!(text, "e4 Nf6: rnbqkb1r/pppppppp/5n2/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 1 2");
        for (line, error) in
            [("e2e5", "e2e5 is illegal in "), ("e4 Ke4", "Ke4 is illegal in "), ("e4 foo", "foo is no move in ")]
        {
            let (why, game) = play(&Game::new(), line).unwrap().unwrap_err();
            let said = format!("{why} in {}", game.fen());
            assert!(said.starts_with(error), "{said}");
        }
        for line in ["", "foo", "go nodes 5", "postion startpos", "0000", "-- e4"] {
            assert!(play(&Game::new(), line).is_none(), "{line}");
        }
    }

    #[test]
    fn small_and_capital_letters_are_read_where_they_leave_no_doubt() {
        assert_eq!(
            after("E4 e5 nf3 NC6 bb5 a6 BXC6 dXc6 o-O").fen(),
            after("e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 O-O").fen()
        );
        let said = |fen: &str, line: &str| {
            play(&Game::from_fen(fen, false).unwrap(), line).map(|read| read.map_err(|(why, _)| why))
        };
        // A pawn and a bishop may take: small letters are the pawn's, and these may be either's.
        let both = "4k3/8/8/8/8/2p5/1P6/B3K3 w - - 0 1";
        assert!(said(both, "bxc3").unwrap().unwrap().1.starts_with("bxc3: "));
        assert_eq!(said("4k3/8/8/8/8/2p5/1P1B4/4K3 w - - 0 1", "BxC3").unwrap().unwrap_err(), "BxC3 is ambiguous");
        assert!(said("4k3/8/8/8/8/2p5/3B4/4K3 w - - 0 1", "bxc3").unwrap().unwrap().1.starts_with("Bxc3: "));
        assert_eq!(said("4k3/8/8/8/8/5N2/8/1N2K3 w - - 0 1", "nd2").unwrap().unwrap_err(), "nd2 is ambiguous");
        assert_eq!(said("7k/4P3/8/8/8/8/8/K7 w - - 0 1", "E8q").unwrap().unwrap().1.split(':').next(), Some("e8=Q+"));
        assert_eq!(said(both, "ne5").unwrap().unwrap_err(), "ne5 is illegal");
    }

    #[test]
    fn the_board_is_drawn_with_its_facts() {
        assert_eq!(
            board(&after("f3 e5 g4 Qh4")),
            [
                "8  r n b . k b n r",
                "7  p p p p . p p p",
                "6  . . . . . . . .",
                "5  . . . . p . . .",
                "4  . . . . . . P q",
                "3  . . . . . P . .",
                "2  P P P P P . . P",
                "1  R N B Q K B N R",
                "   a b c d e f g h",
                "fen: rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3",
                &format!("key: {:016x}", after("f3 e5 g4 Qh4").current().key()),
                "moves: 0 legal for white",
                "check: from h4",
                "result: checkmate, black wins",
            ]
        );
        let lines = board(&Game::new());
        assert!(lines.iter().all(|line| !line.starts_with("check") && !line.starts_with("result")), "{lines:?}");
    }
}
