//! Reads the inputs of a file: games, or results of other commands, each by its kind.

use super::ReportError;
use super::audits::Audit;
use super::matches::Match;
use super::runs::RunRow;
use crate::results::{ComparisonResult, LabResult};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{Read, Seek};
use zeitnot_base::files::without_marks;
use zeitnot_games::is_match_journal;

/// Number of bytes at the beginning of a file that show whether it may be JSON.
const HEAD: u64 = 1 << 16;

/// An input in a file.
#[derive(Clone, Debug)]
pub enum Input {
    /// Games in PGN, or an unknown file: games are too many to be held, and only reading them tells.
    Games,
    /// A replay or a simulation.
    Row(RunRow),
    Comparison(ComparisonResult),
    Matches(Vec<Match>),
    /// The audit of games.
    Audit(Audit),
}

/// Reads a file from its beginning, whatever its name is.
///
/// # Errors
/// [`ReportError`], when the file is a damaged input, or JSON of something else.
pub(crate) fn read_input(source: &mut (impl Read + Seek)) -> Result<Vec<Input>, ReportError> {
    source.rewind()?;
    let mut bytes = Vec::new();
    source.by_ref().take(HEAD).read_to_end(&mut bytes)?;
    if may_be_json(&without_marks(&bytes).map_err(ReportError::Text)?) {
        source.read_to_end(&mut bytes)?;
        if let Some(values) = json_values(&without_marks(&bytes).map_err(ReportError::Text)?)? {
            return read_json(values);
        }
    }
    Ok(vec![Input::Games])
}

/// Whether a text with this beginning may be JSON: it begins with a value, which may be cut off.
fn may_be_json(head: &[u8]) -> bool {
    match serde_json::Deserializer::from_slice(head).into_iter::<Value>().next() {
        Some(Ok(_)) => true,
        Some(Err(error)) => error.is_eof(),
        None => false,
    }
}

/// All values of a stream of JSON, arrays split into their items; `None` for a text that does not begin with an object
/// or an array, and for one without values. A tag of PGN begins like an array.
fn json_values(bytes: &[u8]) -> Result<Option<Vec<Value>>, ReportError> {
    let mut values = Vec::new();
    for value in serde_json::Deserializer::from_slice(bytes).into_iter::<Value>() {
        match value {
            Ok(Value::Array(items)) => values.extend(items),
            Ok(value @ Value::Object(_)) => values.push(value),
            Ok(_) if values.is_empty() => return Ok(None),
            Ok(_) => return Err(ReportError::UnknownJson),
            Err(error) if error.is_eof() && (!values.is_empty() || begins_like_json(bytes)) => {
                return Err(ReportError::Json { line: error.line(), reason: "the JSON is cut off".to_owned() });
            }
            Err(_) if values.is_empty() => return Ok(None),
            Err(error) => return Err(ReportError::Json { line: error.line(), reason: reason(&error) }),
        }
    }
    // An empty array has no kind.
    Ok(Some(values).filter(|values| !values.is_empty()))
}

/// Whether a text begins with an object that has a key, or with an array of objects. PGN may begin with a `{comment}`
/// or with a `[Tag`.
fn begins_like_json(bytes: &[u8]) -> bool {
    let mut signs = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
    matches!((signs.next(), signs.next()), (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'{')))
}

fn read_json(values: Vec<Value>) -> Result<Vec<Input>, ReportError> {
    let (mut inputs, mut matches, mut audits) = (Vec::new(), Vec::new(), Vec::new());
    for (at, value) in values.into_iter().enumerate() {
        if !value.is_object() {
            return Err(ReportError::UnknownJson);
        }
        if at == 0 && is_match_journal(&value) {
            return Err(ReportError::Journal);
        }
        if value.get("kind").is_none() {
            return Err(ReportError::NoKind { number: at + 1 });
        }
        match read(at, value)? {
            LabResult::Comparison(comparison) => inputs.push(Input::Comparison(comparison)),
            LabResult::Replay(replay) => inputs.push(Input::Row(RunRow::Replay(replay))),
            LabResult::Simulation(simulation) => inputs.push(Input::Row(RunRow::Simulation(simulation))),
            LabResult::Game(game) => open(&mut matches, |last: &Match| last.score.is_none()).games.push(game),
            LabResult::Match { summary } => open(&mut matches, |last| last.score.is_none()).score = Some(summary.score),
            LabResult::Move(mv) => open(&mut audits, |last: &Audit| last.sums.is_none()).moves.push(mv),
            LabResult::LostOnTime(lost) => open(&mut audits, |last| last.sums.is_none()).lost.push(*lost),
            LabResult::Audit { summary } => open(&mut audits, |last| last.sums.is_none()).sums = Some(summary),
            LabResult::Rating { .. } => {}
            LabResult::Recording(_) | LabResult::Verification(_) | LabResult::BatchSpeed(_) => {
                return Err(ReportError::UnknownJson);
            }
        }
    }
    let is_audit = !audits.is_empty();
    audits.retain(|audit| !audit.moves.is_empty() || !audit.lost.is_empty());
    inputs.extend((!matches.is_empty()).then_some(Input::Matches(matches)));
    inputs.extend(audits.into_iter().map(Input::Audit));
    match inputs.is_empty() {
        true if is_audit => Err(ReportError::EmptyAudit),
        true => Err(ReportError::UnknownJson),
        false => Ok(inputs),
    }
}

/// The last of `parts` if it is open, or else a new one. Parts are matches or audits: a file may have several, each of
/// which ends with its sums.
fn open<T: Default>(parts: &mut Vec<T>, is_open: impl Fn(&T) -> bool) -> &mut T {
    if !parts.last().is_some_and(is_open) {
        parts.push(T::default());
    }
    let last = parts.len() - 1;
    &mut parts[last]
}

fn read<T: DeserializeOwned>(at: usize, value: Value) -> Result<T, ReportError> {
    T::deserialize(value).map_err(|error| ReportError::Entry { number: at + 1, reason: reason(&error) })
}

/// The error as one line: its text may quote line breaks of the file.
fn reason(error: &serde_json::Error) -> String {
    error.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Report, ReportRules};
    use super::*;
    use crate::results::MatchGame;

    fn kind(text: &str) -> String {
        match read_input(&mut std::io::Cursor::new(text.as_bytes())) {
            Ok(inputs) => {
                let name = |input: &Input| format!("{input:?}").split(['(', '{']).next().unwrap().trim().to_owned();
                inputs.iter().map(name).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    const END: &str = r#"{"kind":"audit","summary":{"players":[],"lost_on_time":0,"managers":[]}}"#;

    #[test]
    fn files_are_known_by_their_content() {
        let simulation = serde_json::to_string(&LabResult::Simulation(Box::default())).unwrap();
        let replay = serde_json::to_string(&LabResult::Replay(Box::default())).unwrap();
        let game = serde_json::to_string(&LabResult::Game(MatchGame::default())).unwrap();
        let rating = r#"{"kind":"rating","rating":{"elo":1.0,"elo_error":2.0,"anchors":{},"all":[]}}"#;
        let moved = r#"{"kind":"move","file":"f","game":1,"ply":0,"side":"white","clock_ms":9,"used_ms":1,"budget_ms":null,"moves_left_true":3,"managers":{"smooth":2.0}}"#;
        for (text, expected) in [
            ("[White \"a\"]\n\n1. e4 *\n", "Games"),
            ("\u{feff}1. e4 e5 *\n", "Games"),
            ("{a comment} 1. e4 e5 *\n", "Games"),
            (&format!("{moved}\n{END}\n").repeat(2), "Audit Audit"),
            (r#"{"kind":"comparison","cells":[],"times":[],"ranking":[]}"#, "Comparison"),
            (&format!("{game}\n{rating}\n"), "Matches"),
            (&simulation, "Row"),
            // Whatever they are together.
            (&format!("[{replay},{simulation}]{game}"), "Row Row Matches"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        for text in ["", "hello", "1", "\u{0}\u{1}", "[]", "{", "{ cut", "[Event"] {
            let (mut report, rules) = (Report::default(), ReportRules::default());
            let error = report.add("x", &mut std::io::Cursor::new(text), &rules).unwrap_err().to_string();
            assert!(error.starts_with("neither games"), "{text}: {error}");
        }
        for (text, number) in [("{}", 1), (r#"{"a":1}"#, 1), (r#"[{"a":1}]"#, 1), (&format!("{END}{{\"a\":1}}"), 2)] {
            assert!(kind(text).starts_with(&format!("entry {number} has no \"kind\", ")), "{text}: {}", kind(text));
            assert!(kind(text).contains("make it again with match, time replay,"), "{text}: {}", kind(text));
        }
        assert!(kind("[1]").starts_with("JSON of none of the commands"), "{}", kind("[1]"));
        let verified = r#"{"kind":"verification","games":1,"moves":2,"answers":3}"#;
        assert!(kind(verified).starts_with("JSON of none of the commands"), "{}", kind(verified));
        assert!(kind(r#"{"kind":"benchmark"}"#).starts_with("entry 1: unknown variant `benchmark`, expected one of"));
        assert_eq!(kind(END), "an audit of no move");
        assert_eq!(kind(r#"{"kind":"comparison","cells":[]}"#), "entry 1: missing field `times`");
        let cut = format!("{END}\n{{\"file\":");
        assert!(kind(&cut).starts_with("line 2: "), "{}", kind(&cut));
        for cut in [r#"[{"manager":"smooth","mov"#, "{\n \"cells\": [", "[{", r#"[{"a":1},{"b""#] {
            let line = cut.lines().count();
            assert!(kind(cut).starts_with(&format!("line {line}: the JSON is cut off")), "{cut}: {}", kind(cut));
        }
        let mixed = format!("{END}\n{{\"kind\":\"move\"}}");
        assert_eq!(kind(&mixed), "entry 2: missing field `file`");
    }
}
