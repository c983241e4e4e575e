//! Reads the games of PGN files one after another with their comments, as far as each of them is sound.
//!
//! A word that could be a move is never skipped in silence: it is read, or the game ends there with a problem that
//! names it. The size of what is kept of a game has a limit, whatever the file is.

mod clock_comment;
mod game_draft;
mod played;
#[cfg(test)]
mod shape_tests;
mod tag_pair;
#[cfg(test)]
mod tests;
mod words;

pub use clock_comment::{MoveTimes, command, move_times};

use super::lines::Lines;
use game_draft::GameDraft;
use std::io::{self, Read};
use std::ops::Range;
pub(crate) use tag_pair::is_tag_pair;
use tag_pair::tag_pair;
pub use words::result;
use words::word_length;
use zeitnot_engine::chess::{Color, Game};

/// A game of a PGN file.
#[derive(Clone, Debug, Default)]
pub struct PgnGame {
    /// The number of the game in the file, from 1.
    pub number: usize,
    /// The tags of the game, in their order.
    pub tags: Vec<(String, String)>,
    /// The main line, as far as it is legal.
    pub game: Game,
    /// Comments before the first move, then the comments behind each move.
    pub comments: Vec<Vec<String>>,
    /// Numbers of the annotation glyphs (`$6`, or signs such as `?!`), indexed as the comments are: those before the
    /// first move, then those behind each move.
    pub glyphs: Vec<Vec<u32>>,
    /// Variations with their brackets, as they are written; indexed as the comments are.
    pub variations: Vec<Vec<String>>,
    /// The result behind the moves: `1-0`, `0-1`, `1/2-1/2` or `*`; `None` where it is missing.
    pub result: Option<&'static str>,
    /// Why the rest of the moves is left out, in one line; `None` where all are read.
    pub problem: Option<String>,
    /// The byte range in the source of the moves that are left out.
    pub rest: Range<u64>,
    /// Whether what is left out is sound to other programs: of another variant or position, with a null move, or with
    /// pieces in the letters of another language.
    pub is_foreign: bool,
}

impl PgnGame {
    /// The value of a tag; empty where it is missing. Where no tag has exactly this name, letter case is ignored.
    pub fn tag(&self, name: &str) -> &str {
        let exact = self.tags.iter().find(|tag| tag.0 == name);
        let tag = exact.or_else(|| self.tags.iter().find(|tag| tag.0.eq_ignore_ascii_case(name)));
        tag.map_or("", |tag| &tag.1)
    }

    /// The time control of a side, as its tag or the tag for both has it.
    pub fn time_control(&self, color: Color) -> &str {
        let own = self.tag(if color.is_white() { "WhiteTimeControl" } else { "BlackTimeControl" });
        if own.is_empty() { self.tag("TimeControl") } else { own }
    }

    /// The comments behind the move with this index, from 0.
    pub fn comments_of(&self, index: usize) -> &[String] {
        self.comments.get(index + 1).map_or(&[], |comments| comments)
    }
}

/// The games of a PGN, read one after another. A damaged game ends at the damage, and the next game is read. An error
/// of the source is the last item.
pub struct PgnGames<R> {
    lines: Lines<R>,
    draft: GameDraft,
    /// Games that were handed over.
    count: usize,
    /// Whether the current line belongs to the moves; else it may be a tag, or text between games.
    in_moves: bool,
    in_comment: bool,
    is_over: bool,
}

impl<R: Read> PgnGames<R> {
    /// Reads games from a source, which need not be buffered.
    pub fn new(source: R) -> PgnGames<R> {
        PgnGames {
            lines: Lines::new(source),
            draft: GameDraft::default(),
            count: 0,
            in_moves: false,
            in_comment: false,
            is_over: false,
        }
    }

    fn next_game(&mut self) -> io::Result<Option<PgnGame>> {
        loop {
            if self.lines.rest().is_empty() {
                if self.lines.next()? {
                    continue;
                }
                self.is_over = true;
                if self.in_comment {
                    self.draft.lose_comment();
                }
                return Ok(self.finish());
            }
            let (offset, was_sound) = (self.lines.offset(), !self.draft.has_problem());
            let game = if self.in_comment {
                self.comment()?
            } else if self.in_moves {
                self.movetext()?
            } else {
                self.between()?
            };
            if game.is_some() {
                return Ok(game);
            }
            if was_sound && self.draft.has_problem() {
                self.draft.begin_rest(offset);
            }
        }
    }

    /// Ends and returns the game that is being read; `None` where it has nothing of a game.
    fn finish(&mut self) -> Option<PgnGame> {
        (self.in_moves, self.in_comment) = (false, false);
        std::mem::take(&mut self.draft).finish(self.lines.offset())
    }

    /// Reads on within a comment. Returns the game if the tags of another one begin there, as where a file was cut off.
    fn comment(&mut self) -> io::Result<Option<PgnGame>> {
        let rest = self.lines.rest();
        // The file was cut off within a comment, and another game follows.
        if self.lines.is_begin() && is_tag_pair(rest) {
            self.draft.lose_comment();
            return Ok(self.finish());
        }
        let end = rest.iter().position(|byte| *byte == b'}');
        self.draft.add_to_comment(&rest[..end.unwrap_or(rest.len())]);
        self.draft.add_to_variation(&rest[..end.map_or(rest.len(), |end| end + 1)]);
        if end.is_some() {
            self.draft.end_comment();
            self.in_comment = false;
        }
        self.lines.take(end.map_or(usize::MAX, |end| end + 1));
        Ok(None)
    }

    /// Reads on where a tag, a comment, text or the moves may come.
    fn between(&mut self) -> io::Result<Option<PgnGame>> {
        let rest = self.lines.rest();
        let text = rest.trim_ascii_start();
        let space = rest.len() - text.len();
        match text.first() {
            None => {
                if self.lines.is_begin() {
                    self.draft.end_block();
                }
                self.lines.take(space);
            }
            Some(b'%') if self.lines.is_begin() && space == 0 => self.lines.skip()?,
            Some(b';') => self.lines.skip()?,
            Some(b'{') => {
                self.draft.open_at(self.lines.offset());
                self.in_comment = true;
                self.lines.take(space + 1);
            }
            Some(b'[') => return self.tag(),
            Some(_) if self.draft.is_followed_by(text) => return Ok(self.finish()),
            Some(_) if self.draft.begins_moves(text) => {
                self.draft.begin_moves(text);
                self.in_moves = true;
                self.lines.take(space);
            }
            Some(_) => {
                self.draft.pass_over(text, self.lines.offset() + space as u64);
                self.lines.skip()?;
            }
        }
        Ok(None)
    }

    /// Reads a line that begins with a bracket, as a tag does.
    fn tag(&mut self) -> io::Result<Option<PgnGame>> {
        let rest = self.lines.rest();
        let text = rest.trim_ascii_start();
        let pair = tag_pair(text);
        if pair.is_some() && self.draft.has_moves() {
            return Ok(self.finish());
        }
        match pair {
            Some(pair) if pair.is_closed || self.lines.has_end() => {
                self.lines.take(rest.len() - text.len() + pair.length);
                let earlier = self.draft.split_before(&pair.name);
                self.draft.add_tag(pair.name, pair.value);
                Ok(earlier.and_then(|earlier| earlier.finish(0)))
            }
            _ => {
                self.draft.pass_over(text, self.lines.offset() + (rest.len() - text.len()) as u64);
                self.lines.skip()?;
                self.draft.is_cut = !self.lines.has_end();
                Ok(None)
            }
        }
    }

    /// Reads a word of the moves, or what stands between two of them.
    fn movetext(&mut self) -> io::Result<Option<PgnGame>> {
        let rest = self.lines.rest();
        let is_begin = self.lines.is_begin();
        match rest[0] {
            b'%' if is_begin => self.lines.skip()?,
            b';' => {
                self.draft.add_to_comment(&rest[1..]);
                self.draft.end_comment();
                self.draft.add_line_to_variation(&rest[1..]);
                self.lines.skip()?;
            }
            b'[' if is_tag_pair(rest) => return Ok(self.finish()),
            b'{' => {
                self.draft.open_at(self.lines.offset());
                self.in_comment = true;
                self.draft.add_to_variation(b"{");
                self.lines.take(1);
            }
            byte if byte.is_ascii_whitespace() => {
                let space = rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
                if is_begin && space == rest.len() {
                    self.in_moves = false;
                    if self.draft.has_result() {
                        return Ok(self.finish());
                    }
                }
                self.draft.add_to_variation(b" ");
                self.lines.take(space);
            }
            byte @ (b'(' | b')') => {
                self.draft.open_at(self.lines.offset());
                self.draft.nest(byte == b'(');
                self.lines.take(1);
            }
            b'$' => {
                let digits = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                self.draft.add_glyph(&rest[..1 + digits]);
                self.lines.take(1 + digits);
            }
            b'!' | b'?' => {
                let signs = rest.iter().take_while(|byte| matches!(byte, b'!' | b'?')).count();
                self.draft.add_glyph(&rest[..signs]);
                self.lines.take(signs);
            }
            b'}' => self.lines.take(1),
            b'.' => {
                self.draft.add_to_variation(b".");
                self.lines.take(1);
            }
            _ => {
                let length = word_length(rest);
                self.draft.add_word(&rest[..length]);
                self.lines.take(length);
            }
        }
        Ok(None)
    }
}

impl<R: Read> Iterator for PgnGames<R> {
    type Item = io::Result<PgnGame>;

    fn next(&mut self) -> Option<io::Result<PgnGame>> {
        if self.is_over {
            return None;
        }
        let next = self.next_game();
        self.is_over |= next.is_err();
        self.count += 1;
        let number = self.count;
        next.map(|game| game.map(|game| PgnGame { number, ..game })).transpose()
    }
}

/// Reads every game of a source at once.
///
/// # Errors
/// The errors of the source, also for UTF-16, UTF-32 and compressed files
/// ([`mark_length`](zeitnot_base::files::mark_length)).
pub fn read_games(source: impl Read) -> io::Result<Vec<PgnGame>> {
    PgnGames::new(source).collect()
}
