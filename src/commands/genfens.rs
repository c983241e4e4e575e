//! `zeitnot genfens`: draws start positions for games that make training data, as OpenBench asks for them.

use super::engine_options::{self, MAY_INSTALL};
use super::output::say;
use anyhow::{Context as _, bail};
use clap::{Arg, ArgMatches, Command};
use std::ffi::OsString;
use std::path::PathBuf;
use zeitnot_engine::chess::{Game, Move};
use zeitnot_engine::engine::{Engine, GoParams};
use zeitnot_engine::network::BUILT_IN;
use zeitnot_engine::splitmix::SplitMix64;
use zeitnot_games::Openings;

/// The name of the command; OpenBench sends it with its words as one argument.
const NAME: &str = "genfens";
/// Words of a request: N, seed, S, book and a file. What comes after them is for engines that know it.
const WORDS: usize = 5;
/// Random moves from the start position, and one more in every second position, so that both sides are to move.
const PLIES: usize = 8;
/// Random moves from the positions of a book, which are past the beginning already.
const PLIES_OF_A_BOOK: usize = 4;
/// Largest distance of a value from a draw: positions beyond it are decided, and no game is played from them.
const MOST_VALUE: f32 = 0.6;
/// Nodes of the search that looks at a position which the network does not find decided.
const NODES: u64 = 100;
/// Most positions drawn to find one that is not decided, before the book is given up.
const MOST_DRAWN: usize = 1_000;

pub fn command() -> Command {
    let request = Arg::new("request").num_args(1..).required(true).value_name("N seed S book FILE|None").help("Number of positions, seed, and book of openings").long_help(
        "Number of positions, seed, and book of openings (EPD or PGN), or None for the start position; words after that are ignored",
    );
    let command = Command::new(NAME)
        .about("Draw start positions for games that make training data, as OpenBench asks for them")
        .after_long_help(
            "From each opening 8 or 9 random moves are played, 4 or 5 from one of a book. Positions that the built-in network \
             values further than 0.6 from a draw, at once or after 100 nodes, are left out: whatever network is to be trained.",
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

/// The positions that OpenBench asks for; without a book they begin at the start position.
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
    for (name, value) in [("WeightsFile", BUILT_IN), ("Threads", "1"), ("MinibatchSize", "8")] {
        engine.set_option(name, value)?;
    }
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
            if evaluator.evaluate(&game, &moves)?.1.q.abs() <= MOST_VALUE && is_undecided(&mut engine, &game)? {
                break game.fen();
            }
        };
        say!("info string {NAME} {fen}");
    }
    Ok(())
}

/// Whether a search finds neither a mate nor a value beyond the limit: the network alone does not see what hangs.
fn is_undecided(engine: &mut Engine, game: &Game) -> anyhow::Result<bool> {
    engine.new_game();
    engine.set_game(game.clone());
    let go = GoParams { nodes: Some(NODES), ..GoParams::default() };
    let (end, _) = engine.run(&go, engine.now_ms(), None)?;
    Ok(end.best_line().is_some_and(|line| line.mate.is_none() && line.wl.abs() <= MOST_VALUE))
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
