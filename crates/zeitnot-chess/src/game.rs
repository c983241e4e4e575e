//! A game: a start position and the moves from it.

use super::{FenError, MoveError, Position, fen, moves};
use shakmaty::{CastlingMode, Chess, EnPassantMode, Move, Position as _, Square};
use std::num::NonZeroU32;

/// A start position and the moves played from it, every position on the way kept.
#[derive(Clone, Debug)]
pub struct Game {
    positions: Vec<Position>,
    moves: Vec<Move>,
    standard: bool,
}

impl Default for Game {
    fn default() -> Self {
        Game::new()
    }
}

impl Game {
    /// A game from the standard start position.
    pub fn new() -> Game {
        let first = Position::first(Chess::new(), NonZeroU32::MIN);
        Game { positions: vec![first], moves: Vec::new(), standard: true }
    }

    /// A game from a FEN, which may be partial (ranks and fields left out), a Shredder-FEN, or an EPD with operations.
    /// Positions that no game can reach are accepted if they can be played on from (see [`Position::is_illegal`]).
    ///
    /// # Errors
    /// [`FenError`] when the text is no FEN or the position cannot be played.
    pub fn from_fen(text: &str, chess960: bool) -> Result<Game, FenError> {
        let (chess, fullmoves) = fen::parse(text, chess960)?;
        let standard = chess == Chess::new();
        Ok(Game { positions: vec![Position::first(chess, fullmoves)], moves: Vec::new(), standard })
    }

    /// Every position, the start first; never empty.
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// The last position, whose side to move is to play.
    pub fn current(&self) -> &Position {
        self.positions.last().expect("a game always holds its start position")
    }

    /// The moves played, in order; one fewer than [`Game::positions`].
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The square on which the last move has captured; `None` where it has not.
    pub fn captured_on(&self) -> Option<Square> {
        self.moves.last().filter(|mv| mv.is_capture()).map(|mv| mv.to())
    }

    /// Whether the first position is the standard start position.
    pub fn starts_from_standard(&self) -> bool {
        self.standard
    }

    /// Plays a move, which must be legal.
    pub fn push(&mut self, mv: Move) {
        let next = self.current().after(mv, &self.positions);
        self.positions.push(next);
        self.moves.push(mv);
    }

    /// Plays a move in UCI notation (see [`parse_uci`](super::parse_uci)).
    ///
    /// # Errors
    /// [`MoveError`], and the game is as it was.
    pub fn push_uci(&mut self, text: &str) -> Result<(), MoveError> {
        let mv = moves::parse_uci(self.current().chess(), text).map_err(|error| match error {
            MoveError::Illegal { text, .. } => MoveError::Illegal { text, fen: self.fen() },
            other => other,
        })?;
        self.push(mv);
        Ok(())
    }

    /// Takes moves back until `plies` are left; does nothing when there are fewer.
    pub fn truncate(&mut self, plies: usize) {
        self.moves.truncate(plies);
        self.positions.truncate(plies + 1);
    }

    /// A legal move in the notation of PGN, with its check or mate sign.
    pub fn san(&self, mv: Move) -> String {
        self.current().san(mv)
    }

    /// The current position as FEN, with an en passant square only where a capture is legal.
    pub fn fen(&self) -> String {
        self.current().fen()
    }

    /// The first position as FEN, as [`Game::fen`] writes it.
    pub fn start_fen(&self) -> String {
        self.positions[0].fen()
    }

    /// Whether castling needs the rules of Chess960: at the start a king or rook that may castle stands elsewhere than
    /// in standard chess.
    pub fn is_chess960(&self) -> bool {
        let setup = self.positions[0].chess().to_setup(EnPassantMode::Legal);
        CastlingMode::detect(&setup).is_chess960()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(fen: Option<&str>, moves: &[&str]) -> Game {
        let mut game = fen.map_or_else(Game::new, |fen| Game::from_fen(fen, false).unwrap());
        for mv in moves {
            game.push_uci(mv).unwrap();
        }
        game
    }

    #[test]
    fn ply_counts_from_the_standard_start() {
        assert_eq!(Game::new().current().ply(), 0);
        // Full-move number N with White to move is ply 2(N-1), with Black one more.
        for (fen, ply) in [("k7/8/8/8/8/8/8/K7 w - - 0 40", 78), ("k7/8/8/8/8/8/8/K7 b - - 0 40", 79)] {
            assert_eq!(played(Some(fen), &[]).current().ply(), ply);
        }
        assert_eq!(played(Some("k7/8/8/8/8/8/8/K7 w - - 0 40"), &["a1b1"]).current().ply(), 79);
        // A counter of 0 is read as 1; the largest one does not overflow.
        assert_eq!(played(Some("k7/8/8/8/8/8/8/K7 w - - 0 0"), &[]).current().ply(), 0);
        assert_eq!(played(Some("k7/8/8/8/8/8/8/K7 w - - 0 4294967295"), &["a1b1"]).current().ply(), u32::MAX);
    }

    #[test]
    fn repetitions_and_cycle_lengths_are_counted() {
        let shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let game = played(None, &[shuffle, shuffle].concat());
        let repetitions: Vec<u32> = game.positions().iter().map(Position::repetitions).collect();
        assert_eq!(repetitions, [0, 0, 0, 0, 1, 1, 1, 1, 2]);
        assert_eq!(game.current().cycle_length(), 4);
        assert_eq!(game.positions()[3].cycle_length(), 0);
    }

    #[test]
    fn lost_castling_rights_are_another_position() {
        let king_walk = ["e1e2", "e8e7", "e2e1", "e7e8"];
        let game = played(None, &["e2e4", "e7e5", "e1e2", "e8e7", "e2e1", "e7e8"]);
        assert_eq!(game.current().repetitions(), 0);
        let mut game = game;
        for mv in king_walk {
            game.push_uci(mv).unwrap();
        }
        assert_eq!(game.current().repetitions(), 1);
    }

    #[test]
    fn a_capturable_en_passant_pawn_is_another_position() {
        // docs/lc0.md, 6.1: f2f4 beside a pawn on g4 can be captured once; beside nothing it cannot, and then the
        // position repeats.
        let shuffle = ["g8f6", "g1f3", "f6g8", "f3g1"];
        let capturable = played(Some("rnbqkbnr/pppppp1p/8/8/6p1/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"), &["f2f4"]);
        let quiet = played(None, &["f2f4"]);
        for (mut game, repetitions) in [(capturable, 0), (quiet, 1)] {
            for mv in shuffle {
                game.push_uci(mv).unwrap();
            }
            assert_eq!(game.current().repetitions(), repetitions, "{}", game.fen());
        }
    }

    #[test]
    fn the_fen_of_a_game_is_the_one_that_it_came_from() {
        // Lc0's own reading of counters of 0 is 1; a check by the side to move is a position that shakmaty cannot read.
        for fen in [
            "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1",
            "4k3/4R3/8/8/8/8/8/4K3 w - - 3 17",
            "4k3/8/8/8/8/8/4r3/4K3 b - - 0 1",
            "4k3/8/8/8/8/8/4r3/4K3 b - - 5 17",
            "k7/8/8/8/8/8/8/K7 w - - 0 4294967295",
            "k7/8/8/8/8/8/8/K7 b - - 0 2147483648",
            "k7/8/8/8/8/8/8/K7 w - - 0 1",
        ] {
            assert_eq!(played(Some(fen), &[]).fen(), fen);
        }
        let mut game = played(Some("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1"), &[]);
        assert_eq!(game.current().ply(), 0);
        let line = game.push_uci("e1e5").unwrap_err().to_string();
        assert_eq!(line, "illegal move e1e5 in 4k3/4R3/8/8/8/8/8/4K3 w - - 0 1");
        game.push_uci("e1d1").unwrap();
        assert_eq!(game.fen(), "4k3/4R3/8/8/8/8/8/3K4 b - - 1 1");
    }

    #[test]
    fn a_game_remembers_its_start() {
        let fen = "4k3/8/8/8/8/8/4P3/4K3 b - - 3 17";
        assert_eq!(played(Some(fen), &["e8e7", "e2e4"]).start_fen(), fen);
    }

    #[test]
    fn chess960_is_known_by_the_castling_rights() {
        for (fen, is_chess960) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", false),
            ("bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w KQkq - 0 1", true),
            ("1r2k2r/8/8/8/8/8/8/1R2K2R w BHbh - 0 1", true),
            ("1r2k2r/8/8/8/8/8/8/1R2K2R w Kk - 0 1", false),
            ("1r2k2r/8/8/8/8/8/8/1R2K2R w - - 0 1", false),
        ] {
            for chess960 in [false, true] {
                assert_eq!(Game::from_fen(fen, chess960).unwrap().is_chess960(), is_chess960, "{fen}");
            }
        }
    }

    #[test]
    fn nothing_panics_where_a_king_is_taken() {
        let mut game = played(Some("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1"), &[]);
        let mv = super::super::parse_uci(game.current().chess(), "e7e8").unwrap();
        assert_eq!(game.san(mv), "Rxe8");
        game.push(mv);
        for text in ["e1e2", "e8e7", "e1g1", "a8a7"] {
            let line = game.push_uci(text).unwrap_err().to_string();
            assert_eq!(line, format!("illegal move {text} in 4R3/8/8/8/8/8/8/4K3 b - - 0 1"));
        }
        assert_eq!(super::super::perft(game.current().chess(), 2), 0);
    }

    #[test]
    fn a_king_can_be_taken_where_it_stands_in_check_out_of_turn() {
        let mut game = played(Some("8/8/1k6/8/8/8/1QK5/8 w - - 0 1"), &[]);
        assert!(game.current().is_illegal() && !Game::new().current().is_illegal());
        game.push_uci("b2b6").unwrap();
        assert!(game.current().legal_moves().is_empty() && !game.current().is_check());
        assert!(!game.current().is_illegal());
    }

    #[test]
    fn truncate_takes_moves_back() {
        let mut game = played(None, &["e2e4", "e7e5", "g1f3"]);
        let key = game.positions()[1].key();
        game.truncate(1);
        assert_eq!((game.moves().len(), game.positions().len(), game.current().key()), (1, 2, key));
        game.truncate(5);
        assert_eq!(game.moves().len(), 1);
    }

    #[test]
    fn insufficient_material_by_lc0s_table() {
        // docs/lc0.md, 6.1: bare kings, one minor, bishops of one colour are insufficient; everything else is not.
        for (pieces, insufficient) in [
            ("8/8/8/4k3/8/8/8/K7", true),
            ("8/8/8/4k3/8/8/8/KN6", true),
            ("8/8/8/4k3/8/8/8/KB6", true),
            ("8/8/8/4k3/8/8/8/KBB5", false),
            ("8/8/8/4k3/8/8/8/KB1B4", true),
            ("8/8/8/b3k3/8/8/8/K1B5", true),
            ("8/8/b7/4k3/8/8/8/K1B5", false),
            ("8/8/8/4k3/8/8/8/KNN5", false),
            ("8/8/8/4k3/8/8/8/KBN5", false),
            ("8/8/8/4k3/8/8/P7/K7", false),
            ("8/8/8/4k3/8/8/8/KR6", false),
            ("8/8/8/4k3/8/8/8/KQ6", false),
        ] {
            let game = played(Some(&format!("{pieces} w - - 0 1")), &[]);
            assert_eq!(game.current().is_insufficient_material(), insufficient, "{pieces}");
        }
    }
}
