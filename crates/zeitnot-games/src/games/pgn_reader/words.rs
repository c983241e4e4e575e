//! Recognises the words of PGN that are not moves: results, annotations, and names of variants.

use zeitnot_engine::chess::is_san;

/// Bytes that end a word of the moves.
const WORD_ENDS: &[u8] = b"{}()[];!?$*";
/// The pieces that a pawn may become in brackets behind its move.
const PROMOTIONS: &[u8] = b"QRBN";
/// The ellipsis as one character; it has as many bytes as three dots.
const ELLIPSIS: &[u8] = "\u{2026}".as_bytes();
/// Words that people write behind a move: en passant, check, mate, novelty, diagram.
const ANNOTATIONS: [&str; 10] = ["e.p", "ep", "ch", "mate", "dis", "dbl", "N", "TN", "D", "RR"];
/// Words that make up the names of standard chess and Chess960 in the tag `Variant`, in lower case and without signs;
/// `wild/0` to `wild/8a` are start positions of FICS. The castling rights of the start position tell the two apart.
const CHESS: [&str; 15] = [
    "fromposition",
    "fischerandom",
    "fischer",
    "random",
    "freestyle",
    "standard",
    "classical",
    "classic",
    "orthodox",
    "normal",
    "double",
    "dfrc",
    "frc",
    "960",
    "chess",
];

/// Splits a line of moves into its move number, the number of bytes of dots behind it, and the text that follows:
/// `12...Nf6` gives 12, 3 and `Nf6`. The begin of a result such as `1-0` is no move number.
pub(super) fn numbered(line: &[u8]) -> (Option<u32>, usize, &[u8]) {
    let count = |text: &[u8], is_one: fn(&u8) -> bool| text.iter().take_while(|byte| is_one(byte)).count();
    let (digits, behind) = line.split_at(count(line, u8::is_ascii_digit));
    // Some write `1 .d4` and `1 . d4`.
    let apart = behind.trim_ascii_start();
    let are_points = !digits.is_empty() && (apart.starts_with(b".") || apart.starts_with(ELLIPSIS));
    let behind = if are_points { apart } else { behind };
    let points = match behind.strip_prefix(ELLIPSIS) {
        Some(_) => ELLIPSIS.len(),
        None if digits.is_empty() => count(behind, |byte| *byte == b'.'),
        None => count(behind, |byte| matches!(byte, b'.' | b')')),
    };
    let words = behind[points..].trim_ascii_start();
    let is_number = !digits.is_empty() && (points > 0 || words.len() < behind.len() || words.is_empty());
    let number = || str::from_utf8(digits).ok().and_then(|digits| digits.parse().ok()).unwrap_or(u32::MAX);
    match digits.is_empty() {
        true => (None, points, words),
        false if is_number => (Some(number()), points, words),
        false => (None, 0, line),
    }
}

/// Whether a word is a move in ICCF's notation, four digits for two squares; move numbers are never so large.
pub(super) fn is_iccf(word: &str) -> bool {
    word.len() == 4 && word.bytes().all(|digit| (b'1'..=b'8').contains(&digit))
}

/// Castling written as `00` or `000`, which is no move number; `None` for other words.
pub(super) fn castling(word: &str) -> Option<&'static str> {
    match word {
        "00" => Some("O-O"),
        "000" => Some("O-O-O"),
        _ => None,
    }
}

/// The first word of a text, without dots before it.
pub(super) fn first_word(text: &[u8]) -> String {
    let word = plain(&String::from_utf8_lossy(&text[..word_length(text)]));
    word.trim_start_matches('.').to_owned()
}

/// Length in bytes of the first word of a text that is not empty: a number without the dots behind it, a result, a
/// move or an annotation.
pub(super) fn word_length(text: &[u8]) -> usize {
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if text.get(digits) == Some(&b'.') {
        return digits;
    }
    let is_end = |byte: &u8| byte.is_ascii_whitespace() || WORD_ENDS.contains(byte);
    let length = 1 + text[1..].iter().take_while(|byte| !is_end(byte)).count();
    match text[length..] {
        [b'(', piece, b')', ..] if PROMOTIONS.contains(&piece) => length + 3,
        _ => length,
    }
}

/// The number of a numeric annotation glyph: of `$` and a number, or 1 to 6 for the signs `!` to `?!`; else `None`.
pub(super) fn glyph(word: &[u8]) -> Option<u32> {
    match word {
        b"!" => Some(1),
        b"?" => Some(2),
        b"!!" => Some(3),
        b"??" => Some(4),
        b"!?" => Some(5),
        b"?!" => Some(6),
        _ => str::from_utf8(word.strip_prefix(b"$")?).ok()?.parse().ok(),
    }
}

/// Whether a word behind a move is a remark about it, in signs or in one of the known words.
pub(super) fn is_annotation(word: &str) -> bool {
    !word.contains(char::is_alphanumeric)
        || ANNOTATIONS.contains(&word.trim_end_matches(|c: char| !c.is_alphanumeric()))
}

/// Whether a word would be a move with English letters for pieces: German `Sf3`, French `Cf3`, or one with a figurine.
pub(super) fn has_foreign_letter(word: &str) -> bool {
    let is_foreign = |c: &char| match c {
        'A'..='Z' => !"KQRBNPOZ".contains(*c),
        '\u{2654}'..='\u{265f}' => true,
        c => !c.is_ascii() && c.is_alphabetic(),
    };
    // A king of two letters, as in Russian, is one piece.
    let english: String = word.chars().filter(|c| !(is_foreign(c) && c.is_lowercase())).collect();
    let english = english.replace(|c: char| is_foreign(&c), "N");
    english != word && is_san(&english)
}

/// Whether the value of the tag `Variant` names standard chess or Chess960.
pub(super) fn is_chess(variant: &str) -> bool {
    let plain: String = variant.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    let is_wild = |kind: &str| matches!(kind, "fr" | "8a") || kind.len() == 1 && ("0"..="8").contains(&kind);
    plain.strip_prefix("wild").is_some_and(is_wild)
        || CHESS.iter().fold(plain, |rest, word| rest.replace(word, "")).is_empty()
}

/// The word with `-` for every kind of dash, dots for an ellipsis, and without invisible characters.
pub(super) fn plain(word: &str) -> String {
    let is_seen = |c: &char| !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    let dash = |c: char| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2026}' => '.',
        c => c,
    };
    word.chars().filter(is_seen).map(dash).collect()
}

/// The result that a word stands for; `None` for other words.
pub fn result(word: &str) -> Option<&'static str> {
    match word.trim_end_matches(['.', ',', ';']) {
        "1-0" => Some("1-0"),
        "0-1" => Some("0-1"),
        "1/2-1/2" | "1/2" | "½-½" => Some("1/2-1/2"),
        "*" => Some("*"),
        _ => None,
    }
}
