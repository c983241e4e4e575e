//! Knows the words of PGN that are no moves: results, annotations, and names of variants.

/// Words that people write behind a move: en passant, check, mate, novelty, diagram.
const ANNOTATIONS: [&str; 10] = ["e.p", "ep", "ch", "mate", "dis", "dbl", "N", "TN", "D", "RR"];
/// Words of which the names of standard chess and Chess960 are made in the tag `Variant`, in lower case and without signs; `wild/0` to
/// `wild/8a` are start positions of FICS. Which of the two a game is, the castling rights of its start say.
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

/// Whether a word behind a move says something about it, by signs or by one of the known words.
pub(super) fn is_annotation(word: &str) -> bool {
    !word.contains(char::is_alphanumeric)
        || ANNOTATIONS.contains(&word.trim_end_matches(|c: char| !c.is_alphanumeric()))
}

/// Whether the value of the tag `Variant` names standard chess or Chess960.
pub(super) fn is_chess(variant: &str) -> bool {
    let plain: String = variant.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect();
    let is_wild = |kind: &str| matches!(kind, "fr" | "8a") || kind.len() == 1 && ("0"..="8").contains(&kind);
    plain.strip_prefix("wild").is_some_and(is_wild)
        || CHESS.iter().fold(plain, |rest, word| rest.replace(word, "")).is_empty()
}

/// A word with one kind of dash, and without what programs put into a text unseen.
pub(super) fn plain(word: &str) -> String {
    let is_seen = |c: &char| !matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    let dash = |c: char| match c {
        '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
        '\u{2026}' => '.',
        c => c,
    };
    word.chars().filter(is_seen).map(dash).collect()
}

/// The result that a word is.
pub(super) fn result(word: &str) -> Option<&'static str> {
    match word.trim_end_matches(['.', ',', ';']) {
        "1-0" => Some("1-0"),
        "0-1" => Some("0-1"),
        "1/2-1/2" | "1/2" | "½-½" => Some("1/2-1/2"),
        "*" => Some("*"),
        _ => None,
    }
}
