//! Damages lines: words and characters are lost, doubled, exchanged and replaced.

use zeitnot_engine::splitmix::SplitMix64 as Random;

/// Words that mean something somewhere.
const WORDS: [&str; 40] = [
    "go",
    "position",
    "startpos",
    "fen",
    "moves",
    "setoption",
    "name",
    "value",
    "stop",
    "ponderhit",
    "isready",
    "uci",
    "nodes",
    "depth",
    "movetime",
    "mate",
    "infinite",
    "ponder",
    "searchmoves",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "e2e4",
    "e7e8q",
    "0000",
    "true",
    "false",
    "w",
    "b",
    "KQkq",
    "-",
    "(",
    ")",
    "=",
    ",",
    "<empty>",
    "\"",
    "'",
];

/// Numbers at which arithmetic goes wrong.
const NUMBERS: [&str; 18] = [
    "0",
    "-1",
    "1",
    "+5",
    "0.5",
    "-0.0",
    "1e3",
    "1e308",
    "1e999",
    "-1e999",
    "nan",
    "inf",
    "-inf",
    "0x10",
    "4294967296",
    "18446744073709551616",
    "-9223372036854775809",
    "٣",
];

/// Characters that readers stumble over: blanks that are none, controls, what is two bytes or four.
const CHARACTERS: [char; 26] = [
    ' ', '\t', '\r', '\u{0}', '\u{1b}', '\u{b}', '\u{1f}', '\u{85}', '\u{a0}', '\u{2028}', '\u{feff}', '\u{7f}', 'é',
    'ß', '棋', '♔', '😀', '/', '\\', '%', '{', '=', '(', ')', ',', '.',
];

/// A number as no GUI should send it.
pub fn number(random: &mut Random) -> &'static str {
    random.choice(&NUMBERS)
}

/// A word of the protocol.
pub fn word(random: &mut Random) -> &'static str {
    random.choice(&WORDS)
}

/// The line with one to four damages.
pub fn line(random: &mut Random, line: &str) -> String {
    let mut line = line.to_owned();
    for _ in 0..=random.below(4) {
        line = if random.below(2) == 0 { words(random, &line) } else { characters(random, &line) };
    }
    // It stays one line.
    line.replace('\n', " ")
}

fn words(random: &mut Random, line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    let (at, other) = (random.below(words.len()), random.below(words.len()));
    match random.below(7) {
        0 => drop(words.remove(at)),
        1 => words.insert(at, words[other]),
        2 => words.swap(at, other),
        3 => words[at] = number(random),
        4 => words[at] = word(random),
        5 => words.insert(at, word(random)),
        _ => words.truncate(at),
    }
    words.join(" ")
}

fn characters(random: &mut Random, line: &str) -> String {
    let mut characters: Vec<char> = line.chars().collect();
    if characters.is_empty() {
        return CHARACTERS[random.below(CHARACTERS.len())].to_string();
    }
    let at = random.below(characters.len());
    let other = random.below(characters.len());
    match random.below(6) {
        0 => drop(characters.remove(at)),
        1 => characters.insert(at, characters[other]),
        2 => characters.swap(at, other),
        3 => characters[at] = CHARACTERS[random.below(CHARACTERS.len())],
        4 => characters[at] = char::from(32 + random.below(95) as u8),
        _ => characters.insert(at, CHARACTERS[random.below(CHARACTERS.len())]),
    }
    characters.into_iter().collect()
}

/// Bytes that need not be text.
pub fn bytes(random: &mut Random) -> Vec<u8> {
    let length = random.below(80);
    (0..length).map(|_| random.below(256) as u8).filter(|byte| *byte != b'\n').collect()
}
