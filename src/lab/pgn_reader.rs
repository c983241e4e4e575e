//! Reads the games of PGN files with their comments, as far as each of them is sound.

use crate::chess::Game;
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Characters of a bad value that a problem quotes.
const QUOTED: usize = 60;
/// The longest line of a tag that is read, in bytes; a longer one is left out.
const TAG_LINE: usize = 1 << 16;

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
pub fn read_games(mut source: impl Read) -> io::Result<Vec<PgnGame>> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    Ok(parse_games(&bytes))
}

/// Reads every game of the content of a file, as [`read_games`].
pub fn parse_games(mut bytes: &[u8]) -> Vec<PgnGame> {
    let mut games = Vec::new();
    loop {
        let mut reader = Reader::build(bytes).set_supported_tag_line_length(TAG_LINE).finish();
        let mut visitor = Collector::default();
        let swallowed = loop {
            visitor.game.number = games.len() + 1;
            match reader.read_game(&mut visitor) {
                Ok(Some(())) => {}
                Ok(None) => break 0,
                // The reader has left that line out, and the game goes on behind it.
                Err(_) if visitor.in_tags => continue,
                Err(_) => visitor.lose_comment(),
            }
            games.push(std::mem::take(&mut visitor.game));
            if visitor.swallowed > 0 {
                break visitor.swallowed;
            }
        };
        if swallowed == 0 {
            if visitor.in_tags {
                visitor.game.problem = Some("it ends within its tags".to_owned());
                games.push(visitor.game);
            }
            return games;
        }
        let unread = reader.buffer().len() + reader.into_inner().len();
        bytes = &bytes[bytes.len() - unread - swallowed..];
    }
}

/// Whether a line is a tag pair, like `[White "name"]`.
pub fn is_tag_pair(line: &[u8]) -> bool {
    let Some(rest) = line.strip_prefix(b"[") else { return false };
    let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    name > 0 && rest[name..].trim_ascii_start().starts_with(b"\"") && rest[name] != b'"'
}

/// Collects the game under way, so that damage to the text leaves what was read before it.
#[derive(Default)]
struct Collector {
    game: PgnGame,
    /// Whether its tags are not over.
    in_tags: bool,
    /// A comment that has not ended yet.
    comment: Vec<u8>,
    /// Bytes of games that a comment without an end took in; they are the last that were read.
    swallowed: usize,
}

impl Collector {
    /// Ends the game within a comment whose end is missing, and finds the tags of the game behind it.
    fn lose_comment(&mut self) {
        let plies = self.game.game.moves().len();
        self.game.problem = Some(format!("a comment without an end after {plies} plies"));
        self.swallowed = next_tags(&self.comment).map_or(0, |at| self.comment.len() - at);
        self.comment.clear();
    }
}

/// Where the first line with a tag pair begins behind the first line of a comment.
fn next_tags(comment: &[u8]) -> Option<usize> {
    let mut begins = comment.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    begins.find(|at| is_tag_pair(&comment[*at..]))
}

impl Visitor for Collector {
    type Tags = ();
    type Movetext = ();
    type Output = ();

    fn begin_tags(&mut self) -> ControlFlow<()> {
        self.in_tags = true;
        ControlFlow::Continue(())
    }

    fn tag(&mut self, (): &mut (), name: &[u8], value: RawTag<'_>) -> ControlFlow<()> {
        let name = String::from_utf8_lossy(name).trim().to_owned();
        self.game.tags.push((name, value.decode_utf8_lossy().trim().to_owned()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, (): ()) -> ControlFlow<()> {
        self.in_tags = false;
        let Some((_, fen)) = self.game.tags.iter().find(|tag| tag.0 == "FEN") else {
            self.game.comments.push(Vec::new());
            return ControlFlow::Continue(());
        };
        match Game::from_fen(fen, false) {
            Ok(game) => {
                self.game.game = game;
                self.game.comments.push(Vec::new());
                ControlFlow::Continue(())
            }
            Err(error) => {
                let fen: String = fen.chars().take(QUOTED).collect();
                self.game.problem = Some(format!("\"{}\": {}", fen.escape_debug(), error.reason));
                ControlFlow::Break(())
            }
        }
    }

    fn san(&mut self, (): &mut (), san: SanPlus) -> ControlFlow<()> {
        let PgnGame { game, comments, problem, .. } = &mut self.game;
        match san.san.to_move(game.current().chess()) {
            Ok(mv) => {
                game.push(mv);
                comments.push(Vec::new());
                ControlFlow::Continue(())
            }
            Err(_) => {
                *problem = Some(format!("illegal move {san} after {} plies", game.moves().len()));
                ControlFlow::Break(())
            }
        }
    }

    /// A comment across the end of the reader's buffer comes in parts.
    fn partial_comment(&mut self, (): &mut (), part: RawComment<'_>) -> ControlFlow<()> {
        self.comment.extend(part.as_bytes());
        ControlFlow::Continue(())
    }

    fn comment(&mut self, (): &mut (), last: RawComment<'_>) -> ControlFlow<()> {
        self.comment.extend(last.as_bytes());
        // The games of a file that was cut off and gone on with, up to the next comment's end.
        if next_tags(&self.comment).is_some() {
            self.lose_comment();
            self.swallowed += 1;
            return ControlFlow::Break(());
        }
        let comment = std::mem::take(&mut self.comment);
        if let Some(comments) = self.game.comments.last_mut() {
            comments.push(String::from_utf8_lossy(&comment).trim().to_owned());
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, (): &mut ()) -> ControlFlow<(), Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, (): ()) {}
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

    const SOUND: &str = "[White \"A\"]\n\n1. e4 {[%clk 0:01:00]} e5 {[%clk 0:00:59]} 1-0\n\n";

    /// The white player, the plies and the problem of each game.
    fn told(text: &str) -> Vec<(String, usize, String)> {
        let told = |game: PgnGame| {
            let plies = game.game.moves().len();
            assert!(game.problem.is_some() || game.comments.len() == plies + 1, "{game:?}");
            (game.tag("White").to_owned(), plies, game.problem.unwrap_or_default())
        };
        read(text).into_iter().map(told).collect()
    }

    fn sound(games: usize) -> Vec<(String, usize, String)> {
        vec![("A".to_owned(), 2, String::new()); games]
    }

    #[test]
    fn a_comment_without_an_end_costs_its_own_game_only() {
        let cut = "[White \"B\"]\n\n1. d4 {[%clk 0:01:00]} d5 {[%clk 0:0";
        let lost = [("B".to_owned(), 2, "a comment without an end after 2 plies".to_owned())];
        let text = SOUND.repeat(3) + cut;
        assert_eq!(told(&text), [&sound(3)[..], &lost].concat());
        assert!(read(&text)[3].comments_of(1).is_empty(), "half a clock is none");
        // A runner that was begun again goes on in the same file, with comments or without.
        assert_eq!(told(&format!("{text}\n{}", SOUND.repeat(2))), [&sound(3)[..], &lost, &sound(2)].concat());
        let bare = [("C".to_owned(), 1, String::new())];
        assert_eq!(told(&format!("{text}\n[White \"C\"]\n\n1. e4 *\n")), [&sound(3)[..], &lost, &bare].concat());
        // Brackets that begin a line of a comment are no tags.
        let wrapped = "1. e4 {[%clk 0:01:00]\n[%emt 0:00:01]\n[see above]} e5 *\n";
        assert_eq!(told(wrapped), [(String::new(), 2, String::new())]);
    }

    #[test]
    fn games_before_any_cut_are_whole() {
        let whole = SOUND.repeat(3);
        for cut in 0..whole.len() {
            let told = told(&whole[..cut]);
            let before = cut / SOUND.len();
            assert_eq!(told[..before], sound(before), "{cut}");
            assert!(told.len() <= before + 1, "{cut}: {told:?}");
        }
    }

    #[test]
    fn a_long_tag_is_read_and_a_longer_one_left_out() {
        let tag = |length: usize| format!("[Black \"B\"]\n[Annotator \"{}\"]\n", "x".repeat(length));
        // Wherever the end of the reader's buffer is.
        for games in 200..220 {
            let text = SOUND.repeat(games) + &tag(5_000) + SOUND;
            let read = read(&text);
            assert_eq!((read.len(), read[games].tag("Annotator").len()), (games + 1, 5_000));
        }
        let read = read(&(SOUND.to_owned() + &tag(300_000) + &SOUND.repeat(2)));
        assert_eq!((read.len(), read[1].tag("Annotator"), read[1].tag("Black")), (3, "", "B"));
        assert_eq!(told(&(SOUND.to_owned() + &tag(300_000) + &SOUND.repeat(2))), sound(3));
        let cut = [(String::new(), 0, "it ends within its tags".to_owned())];
        assert_eq!(told(&(SOUND.to_owned() + "[Black \"B\"]\n[White \"A")), [&sound(1)[..], &cut].concat());
    }

    #[test]
    fn a_comment_is_one_wherever_the_readers_buffer_ends() {
        let comment = format!("{}, mt=161060, tl=3445940, {}", "pv=e4 \u{e9} ".repeat(15), "R50=49, ".repeat(40));
        let comment = comment.trim();
        assert!(comment.len() > 400);
        for end in [1 << 14, 1 << 17] {
            for begin in end - comment.len() - 60..=end + 1 {
                let text = format!("; {}\n1. e4 {{{comment}}} e5 {{x}} *\n", "-".repeat(begin - 20));
                let game = &read(&text)[0];
                assert_eq!(
                    (game.comments_of(0), game.comments_of(1)),
                    (&[comment.to_owned()][..], &["x".to_owned()][..])
                );
            }
        }
    }
}
