//! Puts a game together from the tags, words and comments of a PGN.

use super::PgnGame;
use super::words::{
    castling, first_word, glyph, has_foreign_letter, is_annotation, is_chess, is_iccf, numbered, plain, result,
};
use std::ops::Range;
use zeitnot_base::files::from_any_encoding;
use zeitnot_engine::chess::{Game, SanError, is_san, parse_san};

/// Characters of a bad value that a problem quotes.
const QUOTED: usize = 60;
/// Most bytes that are kept of one game's tags and comments; as many are kept of its variations.
const MOST_TEXT: usize = 1 << 24;
/// Bytes that a tag or a comment counts for in addition to its text.
const ENTRY: usize = 64;
/// Most tags of one game that are kept.
const MOST_TAGS: usize = 1_000;
/// Most plies of one game that are kept. By the 75-move rule no game is longer than 17,697.
const MOST_PLIES: usize = 20_000;

/// A game of which a part has been read; [`GameDraft::finish`] ends it.
#[derive(Debug)]
pub(super) struct GameDraft {
    game: PgnGame,
    /// Index of the first tag behind the last blank line.
    block: usize,
    is_set_up: bool,
    /// Depth of nested variations at this place; 0 in the main line.
    depth: usize,
    /// Text so far of the comment that is being read.
    comment: Vec<u8>,
    /// Text so far of the variation that is being read, with those nested in it.
    variation: Vec<u8>,
    /// Bytes of variations so far.
    variations_size: usize,
    /// Bytes of tags and comments so far.
    size: usize,
    /// The first line that was neither a tag nor moves, and the offsets from its begin to the end of the last such
    /// line.
    text: Option<(String, Range<u64>)>,
    /// Whether the file ended within the last line of the tags.
    pub(super) is_cut: bool,
    /// Whether the moves have numbers.
    has_numbers: bool,
    /// Offset in the source behind which nothing of the game is kept, as it is damaged there.
    rest_at: Option<u64>,
    /// Offset of the bracket or brace that was last opened in the main line.
    opened_at: u64,
}

impl Default for GameDraft {
    fn default() -> Self {
        GameDraft {
            game: PgnGame {
                comments: vec![Vec::new()],
                glyphs: vec![Vec::new()],
                variations: vec![Vec::new()],
                ..PgnGame::default()
            },
            block: 0,
            is_set_up: false,
            depth: 0,
            comment: Vec::new(),
            variation: Vec::new(),
            variations_size: 0,
            size: 0,
            text: None,
            is_cut: false,
            has_numbers: false,
            rest_at: None,
            opened_at: 0,
        }
    }
}

impl GameDraft {
    /// The finished game, which ends at offset `end` of the source; `None` for a draft without tags, moves, result and
    /// damage.
    pub(super) fn finish(mut self, end: u64) -> Option<PgnGame> {
        if self.is_cut {
            self.fail("it ends within its tags".to_owned());
        }
        self.set_up();
        if self.depth > 0 {
            self.fail_open("a variation without an end");
        }
        let game = &self.game;
        let is_bare = game.game.moves().is_empty() && game.problem.is_none();
        if is_bare && game.result.is_none() && game.tags.is_empty() {
            return None;
        }
        let mut end = end;
        if let (true, Some((text, place))) = (is_bare, self.text.take()) {
            end = end.max(place.end);
            self.fail_at(place.start, &text, format!("no moves but \"{text}\""));
        }
        if self.has_problem() {
            self.game.rest = self.rest_at.unwrap_or(end)..end;
        }
        Some(self.game)
    }

    pub(super) fn has_problem(&self) -> bool {
        self.game.problem.is_some()
    }

    /// Notes the offset behind which a damaged game is left out, unless one is noted already.
    pub(super) fn begin_rest(&mut self, offset: u64) {
        self.rest_at.get_or_insert(offset);
    }

    /// Notes where a bracket or a brace of the main line opens.
    pub(super) fn open_at(&mut self, offset: u64) {
        if self.depth == 0 {
            self.opened_at = offset;
        }
    }

    /// Marks the game as damaged by a comment or variation without an end, from whose begin on all is left out.
    fn fail_open(&mut self, problem: &str) {
        if !self.has_problem() {
            self.rest_at = Some(self.opened_at);
        }
        self.fail_here(problem);
    }

    /// Marks the game as damaged at offset `at`, where `text` stands in place of a move.
    fn fail_at(&mut self, at: u64, text: &str, problem: String) {
        self.rest_at.get_or_insert(at);
        self.game.is_foreign = text.split_whitespace().next().is_some_and(has_foreign_letter);
        self.fail(problem);
    }

    pub(super) fn has_result(&self) -> bool {
        self.game.result.is_some()
    }

    /// Whether the moves have begun, so that a tag would be one of the next game.
    pub(super) fn has_moves(&self) -> bool {
        self.is_set_up
    }

    fn plies(&self) -> usize {
        self.game.game.moves().len()
    }

    fn fail(&mut self, problem: String) {
        self.game.problem.get_or_insert(problem);
    }

    fn fail_here(&mut self, problem: &str) {
        self.fail(format!("{problem} after {} plies", self.plies()));
    }

    /// Adds `bytes` to the size of tags and comments. Returns false and marks the game as damaged if it exceeds
    /// [`MOST_TEXT`].
    fn has_room(&mut self, bytes: usize) -> bool {
        self.size += bytes;
        if self.size > MOST_TEXT {
            self.fail_here("more tags and comments than 16 MiB");
        }
        self.size <= MOST_TEXT
    }

    /// Takes a blank line, which ends a block of tags.
    pub(super) fn end_block(&mut self) {
        self.block = self.game.tags.len();
    }

    /// Splits off and returns the game so far, if the tag `name` belongs to another game; a block is a run of tags
    /// without a blank line. A later block begins another game if it has `Event` or repeats a name of an earlier block.
    /// Within a block its first two names, repeated in a row, do: a single tag may stand twice.
    pub(super) fn split_before(&mut self, name: &str) -> Option<GameDraft> {
        let tags = &mut self.game.tags;
        let (before, block) = tags.split_at(self.block);
        let at = match block {
            _ if before.iter().any(|tag| tag.0 == name || name == "Event") => self.block,
            [first, second, .., last] if first.0 == last.0 && second.0 == name && first.0 != name => tags.len() - 1,
            _ => return None,
        };
        let own = tags.split_off(at);
        let mut next = GameDraft::default();
        next.game.tags = own;
        Some(std::mem::replace(self, next))
    }

    pub(super) fn add_tag(&mut self, name: String, value: String) {
        self.is_cut = false;
        if self.game.tags.is_empty() {
            // Comments before the tags may be of the game before.
            self.game.comments[0].clear();
        }
        if self.game.tags.len() == MOST_TAGS {
            self.fail(format!("more than {MOST_TAGS} tags"));
        } else if self.has_room(name.len() + value.len() + ENTRY) {
            self.game.tags.push((name, value));
        }
    }

    /// Takes a line that is neither a tag nor a move; lines within variations are ignored.
    pub(super) fn pass_over(&mut self, text: &[u8], offset: u64) {
        self.is_cut = false;
        if self.depth > 0 {
            return;
        }
        let quote = || quoted(&String::from_utf8_lossy(&text[..text.len().min(4 * QUOTED)]));
        let end = offset + text.len() as u64;
        self.text.get_or_insert_with(|| (quote(), offset..end)).1.end = end;
    }

    /// Whether a line behind a blank one begins the next game, without tags: with White's number 1, or with a move
    /// where this game has neither tags nor numbers.
    pub(super) fn is_followed_by(&self, line: &[u8]) -> bool {
        let begins = match numbered(line) {
            (Some(1), points, _) => points < 2,
            (None, 0, words) => self.game.tags.is_empty() && !self.has_numbers && is_san(&first_word(words)),
            _ => false,
        };
        begins && self.depth == 0 && self.plies() > 0
    }

    /// Whether a line, the first one or one behind a blank line, has moves rather than text.
    pub(super) fn begins_moves(&self, line: &[u8]) -> bool {
        let (number, points, words) = numbered(line);
        match words.first() {
            Some(b'(' | b')' | b'$' | b'!' | b'?') if number.is_none() => self.plies() > 0,
            None => number.is_some(),
            Some(_) => {
                let word = first_word(words);
                number.is_some() && points > 0 || result(&word).is_some() || is_san(&word)
            }
        }
    }

    /// Prepares for a line of moves, the first one or one behind a blank line. If text was passed over and the line
    /// does not begin with the move number that is due, that text may have been moves: then the game is damaged.
    pub(super) fn begin_moves(&mut self, line: &[u8]) {
        self.is_cut = false;
        self.set_up();
        let Some((text, place)) = self.text.take() else { return };
        let (number, ..) = numbered(line);
        let plies_before = self.plies() + usize::from(self.game.game.positions()[0].turn().is_black());
        let due = [plies_before as u32 / 2 + 1, self.game.game.current().fullmoves().get()];
        if number.is_none_or(|number| !due.contains(&number)) {
            let problem = format!("no move but \"{text}\" after {} plies", self.plies());
            self.fail_at(place.start, &text, problem);
        }
    }

    /// Sets up the start position by the tags `Variant` and `FEN`, at the first call only.
    fn set_up(&mut self) {
        if std::mem::replace(&mut self.is_set_up, true) {
            return;
        }
        let variant = self.game.tag("Variant");
        if !is_chess(variant) {
            let problem = format!("it is of another variant, \"{}\"", quoted(variant));
            self.game.is_foreign = true;
            return self.fail(problem);
        }
        let fen = self.game.tag("FEN");
        // Programs write the tag without a position, too.
        let has_fen = !fen.trim_matches(['?', '-', '*']).is_empty();
        match has_fen.then(|| Game::from_fen(fen, false)) {
            None => {}
            Some(Ok(game)) => self.game.game = game,
            Some(Err(error)) => {
                let problem = format!("\"{}\": {}", quoted(fen), error.reason);
                self.game.is_foreign = true;
                self.fail(problem);
            }
        }
    }

    /// Takes a bracket, which opens or closes a variation.
    pub(super) fn nest(&mut self, is_open: bool) {
        if is_open {
            self.depth += 1;
            self.add_to_variation(b"(");
            return;
        }
        self.add_to_variation(b")");
        if self.depth == 1 && self.game.problem.is_none() && !self.variation.is_empty() {
            let text = from_any_encoding(&self.variation);
            self.game.variations.last_mut().expect("the variations before the first move are there").push(text);
        }
        if self.depth <= 1 {
            self.variation.clear();
        }
        self.depth = self.depth.saturating_sub(1);
    }

    /// Keeps a part of the open variation as it is written; does nothing in the main line. Variations beyond the limit
    /// are left out, and cost the game nothing.
    pub(super) fn add_to_variation(&mut self, part: &[u8]) {
        if self.depth == 0 || self.game.problem.is_some() {
            return;
        }
        self.variations_size += part.len();
        match self.variations_size > MOST_TEXT {
            true => self.variation = Vec::new(),
            false => self.variation.extend(part),
        }
    }

    /// Keeps a comment that `;` begins, up to the end of its line, as one in braces; does nothing in the main line.
    pub(super) fn add_line_to_variation(&mut self, comment: &[u8]) {
        if self.depth > 0 {
            self.add_to_variation(b"{");
            self.add_to_variation(
                &comment.trim_ascii().iter().copied().filter(|byte| *byte != b'}').collect::<Vec<_>>(),
            );
            self.add_to_variation(b"} ");
        }
    }

    /// Takes a glyph: `$` and a number, or signs such as `?!`.
    pub(super) fn add_glyph(&mut self, word: &[u8]) {
        self.add_to_variation(word);
        if let (true, Some(number)) = (self.counts(), glyph(word))
            && self.has_room(ENTRY)
        {
            self.game.glyphs.last_mut().expect("the glyphs before the first move are there").push(number);
        }
    }

    /// Whether comments and glyphs at this place are kept: in the main line of a game without damage so far.
    fn counts(&self) -> bool {
        self.depth == 0 && self.game.problem.is_none()
    }

    pub(super) fn add_to_comment(&mut self, part: &[u8]) {
        if self.counts() && self.has_room(part.len()) {
            self.comment.extend(part);
        }
    }

    pub(super) fn end_comment(&mut self) {
        if self.counts() && self.has_room(ENTRY) {
            let text = from_any_encoding(&self.comment).trim().to_owned();
            self.game.comments.last_mut().expect("the comments before the first move are there").push(text);
        }
        self.comment.clear();
    }

    /// Marks the game as damaged, as the source ended within a comment.
    pub(super) fn lose_comment(&mut self) {
        self.fail_open("a comment without an end");
    }

    /// Takes a word of the moves; words within variations are only kept.
    pub(super) fn add_word(&mut self, word: &[u8]) {
        if self.depth > 0 {
            return self.add_to_variation(word);
        }
        let word = String::from_utf8_lossy(word);
        let words = if word.is_ascii() { word } else { plain(&word).into() };
        // Whitespace outside of ASCII parts words, too.
        for word in words.split_whitespace() {
            self.has_numbers |= word.bytes().all(|byte| byte.is_ascii_digit());
            if let Some(result) = result(word) {
                self.game.result = Some(result);
            } else if self.game.problem.is_none() {
                self.add_move(word);
            }
        }
    }

    fn add_move(&mut self, word: &str) {
        let unnumbered = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
        let mv = if unnumbered.starts_with(char::is_alphabetic) { unnumbered } else { castling(word).unwrap_or(word) };
        let problem = match parse_san(self.game.game.current().chess(), mv) {
            Err(SanError::Syntax)
                if unnumbered.is_empty() && !is_iccf(mv) || self.has_result() || is_annotation(mv) =>
            {
                return;
            }
            _ if self.has_result() => "a move after the result,",
            Ok(_) if self.plies() == MOST_PLIES => "more moves than a game can have,",
            Ok(mv) => {
                self.game.game.push(mv);
                self.game.comments.push(Vec::new());
                self.game.glyphs.push(Vec::new());
                self.game.variations.push(Vec::new());
                return;
            }
            Err(SanError::Null) => "null move",
            Err(SanError::Ambiguous) => "ambiguous move",
            Err(SanError::Syntax | SanError::Illegal) => "illegal move",
        };
        let has_foreign_letter = problem == "illegal move" && has_foreign_letter(mv);
        self.game.is_foreign = has_foreign_letter || problem == "null move";
        let more = if has_foreign_letter { " (a piece in another language's letters)" } else { "" };
        self.fail(format!("{problem} {} after {} plies{more}", quoted(mv), self.plies()));
    }
}

/// The first [`QUOTED`] characters of a text, on one line.
fn quoted(text: &str) -> String {
    let begin: String = text.trim_end().chars().take(QUOTED).collect();
    begin.escape_debug().to_string()
}
