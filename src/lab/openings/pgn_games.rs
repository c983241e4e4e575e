//! Reads openings from games of PGN: the main line, from the position of the FEN tag or the standard one.

use super::{Book, MOVES, check_goes_on, quoted, start};
use crate::chess::{Game, to_uci};
use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use std::io::{self, Cursor, Seek as _};
use std::ops::ControlFlow;

/// The values of the tag `Variant` that are standard chess or Chess960, in lower case and without signs. Which of the two a
/// game is, the castling rights of its start say.
const KNOWN_VARIANTS: [&str; 9] =
    ["", "chess", "standard", "normal", "fromposition", "chess960", "fischerandom", "fischerrandom", "freestyle"];

/// Reads a file; `plies` of a game at most. An error has the number of the game, from 1.
pub(super) fn read(bytes: &[u8], plies: Option<usize>) -> Result<Book, (usize, String)> {
    let mut reader = Reader::new(Cursor::new(bytes));
    let mut visitor = MainLine { plies: plies.unwrap_or(usize::MAX) };
    let mut book = Book::new();
    loop {
        let number = book.len() + 1;
        let mut next = || -> io::Result<_> {
            let begin = reader.stream_position()?;
            let opening = reader.read_game(&mut visitor)?;
            Ok((opening, begin as usize..reader.stream_position()? as usize))
        };
        let (opening, range) = next().map_err(|error| (number, error.to_string()))?;
        let Some(opening) = opening else { return Ok(book) };
        // The reader passes over words that it cannot read, and the next move would be blamed.
        if let Some(token) = bytes.get(range).and_then(unreadable_token) {
            return Err((number, format!("illegal move {}", token.escape_debug())));
        }
        book.push(opening.map_err(|reason| (number, reason))?);
    }
}

/// Plays the main line of a game.
struct MainLine {
    /// Moves that are taken at most.
    plies: usize,
}

/// The tags that decide where a game begins.
#[derive(Default)]
struct Tags {
    fen: Option<String>,
    variant: String,
}

/// The moves so far.
struct Line {
    game: Game,
    has_result: bool,
}

impl Visitor for MainLine {
    type Tags = Tags;
    type Movetext = Line;
    /// The opening, or why there is none.
    type Output = Result<Box<str>, String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Tags> {
        ControlFlow::Continue(Tags::default())
    }

    fn tag(&mut self, tags: &mut Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        let value = || value.decode_utf8_lossy().trim().to_owned();
        match name.trim_ascii() {
            b"FEN" => tags.fen = Some(value()),
            b"Variant" => tags.variant = value(),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Tags) -> ControlFlow<Self::Output, Line> {
        let variant: String = tags.variant.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
        if !KNOWN_VARIANTS.contains(&variant.as_str()) {
            return ControlFlow::Break(Err(format!("it is of another variant, {}", quoted(&tags.variant))));
        }
        match tags.fen.map_or_else(|| Ok(Game::new()), |fen| start(&fen)) {
            Ok(game) => ControlFlow::Continue(Line { game, has_result: false }),
            Err(reason) => ControlFlow::Break(Err(reason)),
        }
    }

    fn san(&mut self, line: &mut Line, san: SanPlus) -> ControlFlow<Self::Output> {
        if line.has_result {
            return ControlFlow::Break(Err(format!("a move after the result, {san}")));
        }
        if line.game.moves().len() < self.plies {
            match san.san.to_move(line.game.current().chess()) {
                Ok(mv) => line.game.push(mv),
                Err(pgn_reader::shakmaty::san::SanError::AmbiguousSan) => {
                    return ControlFlow::Break(Err(format!("ambiguous move {san}")));
                }
                Err(_) => return ControlFlow::Break(Err(format!("illegal move {san}"))),
            }
        }
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, line: &mut Line, _: pgn_reader::Outcome) -> ControlFlow<Self::Output> {
        line.has_result = true;
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, line: Line) -> Self::Output {
        if !line.has_result {
            return Err("no result ends it (is the file cut off?)".to_owned());
        }
        check_goes_on(&line.game)?;
        // Castling as king takes rook has one meaning in all positions.
        let moves: Vec<String> = line.game.moves().iter().map(|mv| to_uci(*mv, true)).collect();
        let start = line.game.start_fen();
        Ok(if moves.is_empty() { start } else { start + MOVES + &moves.join(" ") }.into())
    }
}

/// The first word of a game's main line that has letters and is no move.
fn unreadable_token(game: &[u8]) -> Option<String> {
    let mut rest = game;
    let mut depth = 0_usize;
    let mut is_new_line = true;
    while let [first, after @ ..] = rest {
        let skip_to = |end: u8| after.iter().position(|byte| *byte == end).map_or(&[][..], |at| &after[at..]);
        rest = match first {
            b'{' => skip_to(b'}'),
            b';' => skip_to(b'\n'),
            b'%' if is_new_line => skip_to(b'\n'),
            b'[' => after_tag(after),
            byte if is_token_end(*byte) => after,
            _ => {
                let length = rest.iter().position(|byte| is_token_end(*byte)).unwrap_or(rest.len());
                let (token, after) = rest.split_at(length);
                // A number may stand at its move without a point.
                let mv = &token[token.iter().take_while(|byte| byte.is_ascii_digit()).count()..];
                if depth == 0 && mv.iter().any(u8::is_ascii_alphabetic) && SanPlus::from_ascii(mv).is_err() {
                    return Some(String::from_utf8_lossy(token).chars().take(super::QUOTED).collect());
                }
                after
            }
        };
        match first {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        is_new_line = *first == b'\n';
    }
    None
}

/// The text after a tag of which the bracket has been read.
fn after_tag(text: &[u8]) -> &[u8] {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\n' => return &text[at..],
            b']' if !is_quoted => return &text[at + 1..],
            b'"' if !is_escaped => is_quoted = !is_quoted,
            _ => {}
        }
        is_escaped = *byte == b'\\' && !is_escaped;
    }
    &[]
}

/// Whether a byte ends a word of the moves.
fn is_token_end(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"{}()[];!?$.*".contains(&byte)
}
