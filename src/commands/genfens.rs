//! `zeitnot genfens`: draws start positions for games that make training data, as OpenBench asks for them.

use super::engine_options::{self, MAY_INSTALL};
use super::output::say;
use anyhow::{Context as _, bail};
use clap::{Arg, ArgMatches, Command};
use std::ffi::OsString;
use std::path::PathBuf;
use zeitnot_engine::chess::Move;
use zeitnot_engine::splitmix::SplitMix64;
use zeitnot_lab::Openings;

/// The command as OpenBench writes it, in one argument.
const NAME: &str = "genfens";
/// Words of a request: N, seed, S, book and a file. What comes after them is for engines that know it.
const WORDS: usize = 5;
/// Random moves from the start position, and one more in every second position, so that both sides are to move.
const PLIES: usize = 8;
/// Random moves from the positions of a book, which are past the beginning already.
const PLIES_OF_A_BOOK: usize = 4;
/// Largest distance of a value from a draw: positions beyond it are decided, and no game is played from them.
const MOST_VALUE: f32 = 0.7;
/// Most positions drawn to find one that is not decided, before the book is given up.
const MOST_DRAWN: usize = 1_000;

pub fn command() -> Command {
    let request = Arg::new("request").num_args(1..).required(true).value_name("N seed S book FILE|None").help("Number of positions, seed, and book of openings").long_help(
        "Number of positions, seed, and book of openings (EPD or PGN), or None for the start position; words after that are ignored",
    );
    let command = Command::new(NAME)
        .about("Draw start positions for games that make training data, as OpenBench asks for them")
        .after_long_help(
            "From each opening 8 or 9 random moves are played, 4 or 5 from one of a book. Positions that the network, without \
             --weights the built-in one, values further than 0.7 from a draw are left out.",
        )
        .arg(request);
    engine_options::add_to(command)
}

/// Splits a command that OpenBench gives as one argument: `zeitnot "genfens 5 seed 1 book None" "quit"`.
pub fn split_argument(mut arguments: Vec<OsString>) -> Vec<OsString> {
    let words = arguments.get(1).and_then(|argument| argument.to_str()?.strip_prefix(NAME)?.strip_prefix(' '));
    if let Some(words) = words {
        let words: Vec<OsString> = words.split_ascii_whitespace().take(WORDS).map(OsString::from).collect();
        arguments.splice(1.., std::iter::once(OsString::from(NAME)).chain(words));
    }
    arguments
}

/// The positions that are asked for.
#[derive(Debug, PartialEq)]
struct Request {
    positions: usize,
    seed: u64,
    book: Option<PathBuf>,
}

impl Request {
    fn parse(words: &[&str]) -> anyhow::Result<Request> {
        let [positions, "seed", seed, "book", book, ..] = words else {
            bail!("{NAME} needs N seed S book FILE, or None instead of a file");
        };
        let number = |name, text: &str| text.parse::<u64>().with_context(|| format!("{name} {text} is no number"));
        Ok(Request {
            positions: number("N", positions)? as usize,
            seed: number("seed", seed)?,
            book: Some(*book).filter(|book| !book.eq_ignore_ascii_case("none")).map(PathBuf::from),
        })
    }
}

pub fn run(matches: &ArgMatches) -> anyhow::Result<()> {
    let words = matches.get_many::<String>("request").unwrap_or_default();
    let request = Request::parse(&words.map(String::as_str).collect::<Vec<_>>())?;
    let plies = if request.book.is_some() { PLIES_OF_A_BOOK } else { PLIES };
    let openings = Openings::read(request.book.as_slice(), None)?;
    let mut engine = engine_options::engine(matches, MAY_INSTALL)?;
    engine_options::prefer_built_in(&mut engine)?;
    engine.prepare()?;
    let mut evaluator = engine.network_evaluator()?;
    let mut random = SplitMix64(request.seed);
    for index in 0..request.positions {
        let mut drawn = 0;
        let fen = loop {
            drawn += 1;
            if drawn > MOST_DRAWN {
                bail!("of {MOST_DRAWN} positions drawn none was undecided: the book has too few that are");
            }
            let Some(game) = openings.with_random_moves(plies + index % 2, &mut random) else { continue };
            let moves: Vec<Move> = game.current().legal_moves().into_iter().collect();
            if evaluator.evaluate(&game, &moves)?.1.q.abs() <= MOST_VALUE {
                break game.fen();
            }
        };
        say!("info string {NAME} {fen}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_openbenchs() {
        let parse =
            |text: &str| Request::parse(&text.split(' ').collect::<Vec<_>>()).map_err(|error| error.to_string());
        assert_eq!(parse("5 seed 7 book None"), Ok(Request { positions: 5, seed: 7, book: None }));
        let with_book = Request { positions: 1, seed: 0, book: Some("Books/a.epd".into()) };
        assert_eq!(parse("1 seed 0 book Books/a.epd extra quit"), Ok(with_book));
        assert_eq!(parse("five seed 7 book None"), Err("N five is no number".into()));
        assert!(parse("5 seed 7").unwrap_err().contains("needs N seed S book"));
    }

    #[test]
    fn one_argument_is_a_command_with_its_words() {
        let split = |arguments: &[&str]| split_argument(arguments.iter().map(OsString::from).collect());
        assert_eq!(
            split(&["z", "genfens 5 seed 1 book None --fast", "quit"]),
            ["z", "genfens", "5", "seed", "1", "book", "None"]
        );
        for other in [&["z"][..], &["z", "bench"], &["z", "genfens", "5"], &["z", "genfensive 1"]] {
            assert_eq!(split(other), *other);
        }
    }
}
