//! Rewrites old spellings of commands before the command line is parsed. Old spellings stay until version 1.0, and
//! those of `time explain` and `time tune` for good.

use std::ffi::{OsStr, OsString};

/// The flag that marks an old spelling.
#[derive(Clone, Copy)]
enum Flag {
    /// No flag: the words suffice.
    None,
    /// Any flag, which is kept, unless one of the words [`NOT_A_MOVE`] is given.
    Any,
    /// A switch, which is dropped.
    Switch(&'static str),
    /// A flag, which is dropped; its value becomes the first argument of the new spelling.
    Value(&'static str),
}

/// An old spelling: its words, its flag, and the words of today.
type Spelling = (&'static [&'static str], Flag, &'static [&'static str]);

const SPELLINGS: [Spelling; 10] = [
    // Lc0 names its searches by the first word, and settings of GUIs may have it.
    (&["classic"], Flag::None, &["uci", "--search-algorithm=classic"]),
    (&["policyhead"], Flag::None, &["uci", "--search-algorithm=policyhead"]),
    (&["valuehead"], Flag::None, &["uci", "--search-algorithm=valuehead"]),
    (&["net", "prepare"], Flag::None, &["net", "fetch", "--prepare"]),
    (&["time", "map"], Flag::None, &["time", "tune", "scan"]),
    (&["time", "replay"], Flag::Switch("--decisions"), &["time", "verify"]),
    (&["time", "tune"], Flag::Value("--on"), &["time", "tune"]),
    (&["time", "explain"], Flag::Value("--script"), &["time", "explain", "script"]),
    (&["time", "explain"], Flag::Value("--game"), &["time", "explain", "game"]),
    (&["time", "explain"], Flag::Any, &["time", "explain", "move"]),
];

/// Words after `time explain` that rule out the old spelling: help, or today's subcommands.
const NOT_A_MOVE: [&str; 5] = ["-h", "--help", "move", "script", "game"];

/// Commands that are gone, and what takes their place.
const GONE: [(&str, &str); 1] = [("perft", "as a UCI engine zeitnot counts the leaves: go perft DEPTH")];

/// The arguments in the spelling of today; the first is the program.
///
/// # Errors
/// A line for the user, if the command is gone.
pub fn modernise(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    if let Some((name, instead)) = GONE.iter().find(|(name, _)| arguments.get(1).is_some_and(|first| first == name)) {
        return Err(format!("{name} is no command any more: {instead}"));
    }
    Ok(SPELLINGS.iter().find_map(|spelling| rewritten(&arguments, spelling)).unwrap_or(arguments))
}

/// The arguments in the new spelling; `None` if they are not in this old one.
fn rewritten(arguments: &[OsString], (words, flag, now): &Spelling) -> Option<Vec<OsString>> {
    let (program, given) = arguments.split_first()?;
    let rest = given.get(words.len()..).filter(|_| given.iter().zip(*words).all(|(one, word)| one == word))?;
    // Where today's words begin with the old ones, today's spelling goes on with a subcommand, the old one with a flag.
    let is_flag = |argument: &OsString| argument.to_str().is_some_and(|text| text.starts_with('-'));
    if now.starts_with(words) && !rest.first().is_some_and(is_flag) {
        return None;
    }
    let mut rest = rest.to_vec();
    let mut value = None;
    match *flag {
        Flag::None => {}
        Flag::Any => {
            if rest.iter().any(|argument| NOT_A_MOVE.iter().any(|word| argument == word)) {
                return None;
            }
        }
        Flag::Switch(name) => {
            rest.remove(position(&rest, name)?);
        }
        Flag::Value(name) => {
            let at = position(&rest, name)?;
            let flag = rest.remove(at);
            value = match flag.to_str().and_then(|text| text.split_once('=')) {
                Some((_, text)) => Some(text.into()),
                None => (at < rest.len()).then(|| rest.remove(at)),
            };
        }
    }
    let words = now.iter().map(OsString::from);
    Some(std::iter::once(program.clone()).chain(words).chain(value).chain(rest).collect())
}

/// The place of a flag, `--name` or `--name=VALUE`.
fn position(arguments: &[OsString], name: &str) -> Option<usize> {
    let is_it = |argument: &OsString| {
        argument == OsStr::new(name)
            || argument.to_str().and_then(|text| text.split_once('=')).is_some_and(|(flag, _)| flag == name)
    };
    arguments.iter().position(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(text: &str) -> String {
        let arguments = std::iter::once("zeitnot").chain(text.split_whitespace()).map(OsString::from).collect();
        let words: Vec<String> = match modernise(arguments) {
            Ok(arguments) => arguments.into_iter().skip(1).map(|word| word.into_string().unwrap()).collect(),
            Err(error) => vec![error],
        };
        words.join(" ")
    }

    #[test]
    fn old_spellings_are_rewritten() {
        for (old, new) in [
            ("policyhead --threads=1", "uci --search-algorithm=policyhead --threads=1"),
            ("valuehead", "uci --search-algorithm=valuehead"),
            ("classic", "uci --search-algorithm=classic"),
            ("net prepare --backend cuda", "net fetch --prepare --backend cuda"),
            ("time map a.zt --with CPuct=1,2", "time tune scan a.zt --with CPuct=1,2"),
            ("time replay --decisions --json a.jsonl", "time verify --json a.jsonl"),
            ("time replay a.jsonl --decisions", "time verify a.jsonl"),
            ("time tune --parameters p --on match --seed 2", "time tune match --parameters p --seed 2"),
            ("time tune --on=replay --parameters p", "time tune replay --parameters p"),
            ("time explain --manager smooth --clock 1000", "time explain move --manager smooth --clock 1000"),
            ("time explain --clock=1000 --json", "time explain move --clock=1000 --json"),
            ("time explain --manager smooth", "time explain move --manager smooth"),
            ("time explain --overhead 5 --script - --table", "time explain script - --overhead 5 --table"),
            ("time explain --script=s.jsonl", "time explain script s.jsonl"),
            ("time explain --game g.pgn --ply 3", "time explain game g.pgn --ply 3"),
            ("perft 5", "perft is no command any more: as a UCI engine zeitnot counts the leaves: go perft DEPTH"),
        ] {
            assert_eq!(now(old), new, "{old}");
        }
    }

    #[test]
    fn the_spellings_of_today_stay() {
        for text in [
            "",
            "uci --search-algorithm=policyhead",
            "net fetch --prepare",
            "time",
            "time explain",
            "time explain --help",
            "time explain -h",
            "time explain --log-level debug move --clock 1",
            "time explain script --script",
            "time explain game g.pgn --ply 3",
            "time explain move --clock 1",
            "time tune --help",
            "time tune match --on replay",
            "time replay a.zt",
            "match --decisions folder",
            "eval --moves perft",
        ] {
            assert_eq!(now(text), text);
        }
    }

    #[test]
    fn a_flag_without_its_value_goes() {
        assert_eq!(now("time tune --on"), "time tune");
        assert_eq!(now("time explain --nps 1 --script"), "time explain script --nps 1");
    }
}
