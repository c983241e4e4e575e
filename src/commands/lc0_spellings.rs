//! Rewrites Lc0's spellings of commands (docs/lc0.md, 5.3) before the command line is parsed.

use std::ffi::{OsStr, OsString};

/// A command of Lc0, a flag whose value becomes the first argument here, and our words for the command.
type Spelling = (&'static str, Option<&'static str>, &'static [&'static str]);

const SPELLINGS: [Spelling; 9] = [
    // Lc0 names its searches by the first word, and settings of GUIs may have it.
    ("classic", None, &["uci", "--search-algorithm=classic"]),
    ("dag-preview", None, &["uci", "--search-algorithm=classic"]),
    ("policyhead", None, &["uci", "--search-algorithm=policyhead"]),
    ("valuehead", None, &["uci", "--search-algorithm=valuehead"]),
    // Lc0's tools.
    ("describenet", Some("--weights"), &["net", "describe"]),
    ("describenet", Some("-w"), &["net", "describe"]),
    ("describenet", None, &["net", "describe"]),
    ("leela2onnx", Some("--input"), &["net", "convert"]),
    ("leela2onnx", None, &["net", "convert"]),
];

/// Commands of Lc0, or flags of a command, that do not exist here, each with advice on what to use instead.
const LC0S: [(&str, Option<&str>, &str); 9] = [
    ("selfplay", None, "zeitnot match plays games"),
    ("onnx2leela", None, "a network in ONNX plays as it is, with --weights=FILE.onnx"),
    ("rescore", None, "training data is not rewritten; cargo run --release -p zeitnot-label makes labelled games"),
    ("benchmark", Some("--num-positions"), "--positions has the number of positions"),
    ("benchmark", Some("--movetime"), "--seconds has the time of each setting"),
    ("benchmark", Some("--nodes"), "zeitnot bench searches to a fixed depth"),
    ("backendbench", Some("--start-batch-size"), "--batch-sizes=1,2,4 names the sizes"),
    ("backendbench", Some("--max-batch-size"), "--batch-sizes=1,2,4 names the sizes"),
    ("backendbench", Some("--batches"), "--seconds has the time of each size"),
];

/// Rewrites Lc0's commands into ours; `arguments` begin with the program.
///
/// # Errors
/// A line for the user, if the command is Lc0's alone.
pub fn translate(arguments: Vec<OsString>) -> Result<Vec<OsString>, String> {
    let is_given = |name: &str, flag: Option<&str>| {
        let named = arguments.get(1).is_some_and(|command| command == name);
        named && flag.is_none_or(|flag| position(&arguments[2..], flag).is_some())
    };
    let named = |name: &str, flag: Option<&str>| flag.map_or_else(|| name.to_owned(), |flag| format!("{name} {flag}"));
    if let Some((name, flag, instead)) = LC0S.iter().find(|(name, flag, _)| is_given(name, *flag)) {
        return Err(format!("{} is Lc0's alone: {instead}", named(name, *flag)));
    }
    Ok(SPELLINGS.iter().find_map(|spelling| rewritten(&arguments, spelling)).unwrap_or(arguments))
}

/// The arguments with the command of Lc0 rewritten by this spelling; `None` if they do not begin with its command.
fn rewritten(arguments: &[OsString], (word, flag, now): &Spelling) -> Option<Vec<OsString>> {
    let (program, given) = arguments.split_first()?;
    let (first, rest) = given.split_first()?;
    let mut rest = (first == word).then(|| rest.to_vec())?;
    let mut value = None;
    if let Some(name) = flag {
        let at = position(&rest, name)?;
        let flag = rest.remove(at);
        value = match flag.to_str().and_then(|text| text.split_once('=')) {
            Some((_, text)) => Some(text.into()),
            None => (at < rest.len()).then(|| rest.remove(at)),
        };
    }
    let words = now.iter().map(OsString::from);
    Some(std::iter::once(program.clone()).chain(words).chain(value).chain(rest).collect())
}

/// Whether an argument is this flag: `--name` or `--name=VALUE`.
fn is_flag(argument: &OsStr, name: &str) -> bool {
    argument == name || argument.to_str().and_then(|text| text.split_once('=')).is_some_and(|(flag, _)| flag == name)
}

/// The index of the argument that is this flag.
fn position(arguments: &[OsString], name: &str) -> Option<usize> {
    arguments.iter().position(|argument| is_flag(argument, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now(text: &str) -> String {
        let arguments = std::iter::once("zeitnot").chain(text.split_whitespace()).map(OsString::from).collect();
        let words: Vec<String> = match translate(arguments) {
            Ok(arguments) => arguments.into_iter().skip(1).map(|word| word.into_string().unwrap()).collect(),
            Err(error) => vec![error],
        };
        words.join(" ")
    }

    #[test]
    fn spellings_of_lc0_are_rewritten() {
        for (theirs, ours) in [
            ("policyhead --threads=1", "uci --search-algorithm=policyhead --threads=1"),
            ("valuehead", "uci --search-algorithm=valuehead"),
            ("classic", "uci --search-algorithm=classic"),
            ("dag-preview -w net.pb.gz", "uci --search-algorithm=classic -w net.pb.gz"),
            ("describenet --weights=net.pb.gz", "net describe net.pb.gz"),
            ("describenet -w net.pb.gz", "net describe net.pb.gz"),
            ("describenet net.pb.gz --json", "net describe net.pb.gz --json"),
            ("leela2onnx --input=a.pb.gz --output=a.onnx", "net convert a.pb.gz --output=a.onnx"),
            ("selfplay --games=10", "selfplay is Lc0's alone: zeitnot match plays games"),
            ("benchmark --movetime=500", "benchmark --movetime is Lc0's alone: --seconds has the time of each setting"),
        ] {
            assert_eq!(now(theirs), ours, "{theirs}");
        }
    }

    #[test]
    fn our_spellings_stay() {
        for text in [
            "",
            "uci --search-algorithm=policyhead",
            "net fetch --prepare",
            "time",
            "time explain",
            "time explain --help",
            "time explain -h",
            "time explain --log-level debug move --clock 1",
            "time --log-level debug explain move --clock 1",
            "time --log-level debug explain",
            "time --log-level",
            // No command stands behind a flag.
            "--log-level debug time explain --clock 1",
            "benchmark --json",
            "time compare --csv",
            "time explain script --script",
            "time explain game g.pgn --ply 3",
            "time explain move --clock 1",
            "time replay a.zt",
            "match --decisions folder",
            "eval --moves perft",
        ] {
            assert_eq!(now(text), text);
        }
    }

    #[test]
    fn a_flag_without_its_value_goes() {
        assert_eq!(now("describenet --json --weights"), "net describe --json");
    }
}
