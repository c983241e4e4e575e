//! Reads the games of PGN files with their comments, as far as each of them is sound.

use crate::chess::Game;
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Characters of a bad value that a problem quotes.
const QUOTED: usize = 60;

/// A game of a PGN file.
#[derive(Clone, Debug, Default)]
pub struct PgnGame {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Its tags, in their order.
    pub tags: Vec<(String, String)>,
    /// The main line, as far as it is legal.
    pub game: Game,
    /// The comments before the first move, then those behind each move.
    pub comments: Vec<Vec<String>>,
    /// Why the rest of its moves is left out, in one line.
    pub problem: Option<String>,
}

impl PgnGame {
    /// The value of a tag; empty where it is missing.
    pub fn tag(&self, name: &str) -> &str {
        self.tags.iter().find(|tag| tag.0 == name).map_or("", |tag| &tag.1)
    }

    /// The comments behind the move of that number, from 0.
    pub fn comments_of(&self, index: usize) -> &[String] {
        self.comments.get(index + 1).map_or(&[], |comments| comments)
    }
}

/// Reads every game; one that is damaged ends where it is, and the next one is read.
///
/// # Errors
/// Those of the reader.
pub fn read_games(source: impl Read) -> io::Result<Vec<PgnGame>> {
    let mut reader = Reader::new(source);
    let mut games = Vec::new();
    loop {
        let mut visitor = Whole { number: games.len() + 1 };
        match reader.read_game(&mut visitor)? {
            Some(game) => games.push(game),
            None => return Ok(games),
        }
    }
}

struct Whole {
    number: usize,
}

impl Whole {
    fn bad(&self, tags: Vec<(String, String)>, problem: String) -> PgnGame {
        PgnGame { number: self.number, tags, problem: Some(problem), ..PgnGame::default() }
    }
}

impl Visitor for Whole {
    type Tags = Vec<(String, String)>;
    type Movetext = PgnGame;
    type Output = PgnGame;

    fn begin_tags(&mut self) -> ControlFlow<PgnGame, Self::Tags> {
        ControlFlow::Continue(Vec::new())
    }

    fn tag(&mut self, tags: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<PgnGame> {
        let name = String::from_utf8_lossy(name).trim().to_owned();
        tags.push((name, value.decode_utf8_lossy().trim().to_owned()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<PgnGame, PgnGame> {
        let fen = tags.iter().find(|tag| tag.0 == "FEN").map(|tag| tag.1.clone());
        match fen.as_ref().map_or_else(|| Ok(Game::new()), |fen| Game::from_fen(fen, false)) {
            Ok(game) => {
                let comments = vec![Vec::new()];
                ControlFlow::Continue(PgnGame { number: self.number, tags, game, comments, problem: None })
            }
            Err(error) => {
                let fen: String = fen.unwrap_or_default().chars().take(QUOTED).collect();
                ControlFlow::Break(self.bad(tags, format!("\"{}\": {}", fen.escape_debug(), error.reason)))
            }
        }
    }

    fn san(&mut self, game: &mut PgnGame, san: SanPlus) -> ControlFlow<PgnGame> {
        match san.san.to_move(game.game.current().chess()) {
            Ok(mv) => {
                game.game.push(mv);
                game.comments.push(Vec::new());
                ControlFlow::Continue(())
            }
            Err(_) => {
                let plies = game.game.moves().len();
                let mut game = std::mem::take(game);
                game.problem = Some(format!("illegal move {san} after {plies} plies"));
                ControlFlow::Break(game)
            }
        }
    }

    fn comment(&mut self, game: &mut PgnGame, comment: RawComment<'_>) -> ControlFlow<PgnGame> {
        if let Some(last) = game.comments.last_mut() {
            last.push(String::from_utf8_lossy(comment.as_bytes()).trim().to_owned());
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut PgnGame) -> ControlFlow<PgnGame, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, game: PgnGame) -> PgnGame {
        game
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<PgnGame> {
        read_games(text.as_bytes()).unwrap()
    }

    #[test]
    fn moves_have_their_comments_and_variations_are_left_out() {
        let games =
            read("[White \"A\"]\n\n{before} 1. e4 {[%clk 0:01:00]} {x} e5 (1... c5 {no}) 2. Nf3 1-0\n\n1. d4 *\n");
        assert_eq!(games.len(), 2);
        let game = &games[0];
        assert_eq!((game.tag("White"), game.tag("Black"), game.game.moves().len()), ("A", "", 3));
        assert_eq!(game.comments[0], ["before"]);
        assert_eq!(game.comments_of(0), ["[%clk 0:01:00]", "x"]);
        assert!(game.comments_of(1).is_empty() && game.problem.is_none());
    }

    #[test]
    fn damaged_games_end_where_they_are_and_the_next_is_read() {
        let games =
            read("[A \"1\"]\n\n1. e4 e5 2. Ke3 Nc6 1-0\n\n[FEN \"none\"]\n\n1. e4 *\n\n[A \"3\"]\n\n1. c4 1/2-1/2\n");
        let plies: Vec<usize> = games.iter().map(|game| game.game.moves().len()).collect();
        assert_eq!(plies, [2, 0, 1]);
        assert!(games[0].problem.as_ref().unwrap().contains("illegal move Ke3 after 2 plies"));
        assert!(games[1].problem.as_ref().unwrap().contains("\"none\""));
        assert_eq!(games[2].number, 3);
    }
}
