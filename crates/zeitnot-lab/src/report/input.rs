//! Tells by its content which input a file is, and reads it.

use super::ReportError;
use super::records::{
    Audit, AuditRecord, AuditSummary, ComparisonRecord, GameRecord, LostRecord, MatchRecord, ReplayRecord,
    ResultsRecord, SimulationRecord, TmgrRecord, TuningRecord,
};
use crate::audit::{TmgrMove, is_tmgr_log, read_tmgr_log};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::{Read, Seek};
use zeitnot_text::files::without_marks;

/// Bytes at the beginning that show whether a file may be JSON.
const HEAD: u64 = 1 << 16;

/// What a file holds.
#[derive(Clone, Debug)]
pub enum Input {
    /// Games in PGN, or nothing that is known: they are too many to be held, and tell that when they are read.
    Games,
    /// Replays over recorded searches.
    Replays(Vec<ReplayRecord>),
    /// A comparison.
    Comparison(ComparisonRecord),
    /// Simulated games.
    Simulations(Vec<SimulationRecord>),
    /// A tuning.
    Tuning(TuningRecord),
    /// Matches.
    Matches(Vec<MatchRecord>),
    /// The audit of games.
    Audit(Audit),
    /// Moves of Lc0's log.
    Tmgr(Vec<TmgrMove>),
}

/// Reads a file from its beginning, whatever its name is. Lines about games and about Lc0's log may stand together in one; they are two
/// inputs.
///
/// # Errors
/// [`ReportError`], when it is a damaged input, or JSON of something else.
pub fn read_input(source: &mut (impl Read + Seek)) -> Result<Vec<Input>, ReportError> {
    source.rewind()?;
    let mut bytes = Vec::new();
    source.by_ref().take(HEAD).read_to_end(&mut bytes)?;
    if may_be_json(&without_marks(&bytes).map_err(ReportError::Text)?) {
        source.read_to_end(&mut bytes)?;
        if let Some(values) = json_values(&without_marks(&bytes).map_err(ReportError::Text)?)? {
            return read_json(values);
        }
    }
    source.rewind()?;
    if !is_tmgr_log(source.by_ref())? {
        return Ok(vec![Input::Games]);
    }
    source.rewind()?;
    bytes.clear();
    source.read_to_end(&mut bytes)?;
    let moves = read_tmgr_log(&String::from_utf8_lossy(&bytes));
    if moves.is_empty() { Err(ReportError::EmptyLog) } else { Ok(vec![Input::Tmgr(moves)]) }
}

/// Whether a text that begins so may be JSON: a value, or one that is cut off.
fn may_be_json(head: &[u8]) -> bool {
    match serde_json::Deserializer::from_slice(head).into_iter::<Value>().next() {
        Some(Ok(_)) => true,
        Some(Err(error)) => error.is_eof(),
        None => false,
    }
}

/// All values of a stream of JSON, arrays taken apart; `None` of a text that does not begin with an object or an array.
/// A tag of PGN begins like an array, but is none.
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
    // An empty array tells nothing of its kind.
    Ok(Some(values).filter(|values| !values.is_empty()))
}

/// Whether a text begins with an object that has a name, or with an array of objects. PGN may begin with a `{comment}` or
/// with a `[Tag`.
fn begins_like_json(bytes: &[u8]) -> bool {
    let mut signs = bytes.iter().filter(|byte| !byte.is_ascii_whitespace());
    matches!((signs.next(), signs.next()), (Some(b'{'), Some(b'"')) | (Some(b'['), Some(b'{')))
}

fn read_json(values: Vec<Value>) -> Result<Vec<Input>, ReportError> {
    let first = &values[0];
    let has = |key: &str| first.get(key).is_some();
    let summary_has = |key: &str| first.get("summary").is_some_and(|summary| summary.get(key).is_some());
    match () {
        () if has("cells") => {
            values.into_iter().enumerate().map(|(at, value)| Ok(Input::Comparison(read(at, value)?))).collect()
        }
        () if has("order") && has("parameters") => read_tuning(values),
        () if has("manager") && has("clock_ms") => Ok(vec![Input::Simulations(read_all(values)?)]),
        () if has("regret") => Ok(vec![Input::Replays(read_all(values)?)]),
        () if has("white") && has("game") || summary_has("pentanomial") => read_matches(values),
        () if has("used_ms") && has("managers") || has("tmgr") || has("lost_on_time") || summary_has("players") => {
            read_audit(values)
        }
        () => Err(ReportError::UnknownJson),
    }
}

fn read_all<T: DeserializeOwned>(values: Vec<Value>) -> Result<Vec<T>, ReportError> {
    values.into_iter().enumerate().map(|(at, value)| read(at, value)).collect()
}

fn read<T: DeserializeOwned>(at: usize, value: Value) -> Result<T, ReportError> {
    T::deserialize(value).map_err(|error| ReportError::Entry { number: at + 1, reason: reason(&error) })
}

/// The reason without a line break, which a text of the file may have brought into it.
fn reason(error: &serde_json::Error) -> String {
    error.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The journal of `time tune`: its settings, its iterations, and the line that ends it.
fn read_tuning(values: Vec<Value>) -> Result<Vec<Input>, ReportError> {
    let mut values = values.into_iter().enumerate().filter(|(_, value)| value.get("end").is_none());
    let Some((at, settings)) = values.next() else { return Err(ReportError::UnknownJson) };
    let mut tuning: TuningRecord = read(at, settings)?;
    // Courses are drawn in steps of the last perturbation.
    let is_declared = |name: &String| tuning.parameters.get(name).is_some_and(|parameter| parameter.c_end > 0.0);
    if let Some(name) = tuning.order.iter().find(|name| !is_declared(name)) {
        return Err(ReportError::Entry {
            number: at + 1,
            reason: format!("no parameter {name:?} with a c_end above 0"),
        });
    }
    tuning.course = values.map(|(at, value)| read(at, value)).collect::<Result<_, _>>()?;
    Ok(vec![Input::Tuning(tuning)])
}

/// The matches of `match --json`: each has its games, then its summary.
fn read_matches(values: Vec<Value>) -> Result<Vec<Input>, ReportError> {
    let mut matches = vec![MatchRecord::default()];
    for (at, mut value) in values.into_iter().enumerate() {
        if value.get("rating").is_some() {
            continue;
        }
        let is_over = matches.last().is_none_or(|last| last.summary.is_some());
        if is_over {
            matches.push(MatchRecord::default());
        }
        let Some(current) = matches.last_mut() else { continue };
        match value.get_mut("summary").map(Value::take) {
            Some(summary) => current.summary = Some(read::<ResultsRecord>(at, summary)?),
            None => current.games.push(read::<GameRecord>(at, value)?),
        }
    }
    Ok(vec![Input::Matches(matches)])
}

/// The moves of `time audit --json`, and its summary, which ends it; another audit may stand behind it.
fn read_audit(values: Vec<Value>) -> Result<Vec<Input>, ReportError> {
    let (mut audits, mut audit, mut tmgr) = (Vec::new(), Audit::default(), Vec::new());
    for (at, mut value) in values.into_iter().enumerate() {
        match value.get_mut("summary").map(Value::take) {
            Some(summary) => {
                audit.summary = read::<AuditSummary>(at, summary)?;
                audits.push(std::mem::take(&mut audit));
            }
            None if value.get("lost_on_time").is_some() => audit.lost.push(read::<LostRecord>(at, value)?),
            None if value.get("tmgr").is_some() => tmgr.push(read::<TmgrRecord>(at, value)?.tmgr),
            None => audit.moves.push(read::<AuditRecord>(at, value)?),
        }
    }
    audits.push(audit);
    audits.retain(|audit| !audit.moves.is_empty() || !audit.lost.is_empty());
    let mut inputs: Vec<Input> = audits.into_iter().map(Input::Audit).collect();
    if !tmgr.is_empty() {
        inputs.push(Input::Tmgr(tmgr));
    }
    if inputs.is_empty() { Err(ReportError::EmptyAudit) } else { Ok(inputs) }
}

#[cfg(test)]
mod tests {
    use super::super::{Report, ReportRules};
    use super::*;

    fn kind(text: &str) -> String {
        match read_input(&mut std::io::Cursor::new(text.as_bytes())) {
            Ok(inputs) => {
                let name = |input: &Input| format!("{input:?}").split(['(', '{']).next().unwrap().trim().to_owned();
                inputs.iter().map(name).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        }
    }

    const SIMULATION: &str = r#"{"manager":"smooth","tc":"10+0.1","games":1,"clock_ms":[],"left_ms":{"p5":1.0,"p50":1.0,"p95":1.0},"flag_rate":0.0,"share_by_phase":[1.0,0.0,0.0],"regret":0.1,"regret_by_phase":[0.1,0.0,0.0],"mean_ms":1.0,"mean_playouts":1.0,"games_per_s":1.0}"#;
    const TMGR_LINE: &str = r#"{"file":"l","tmgr":{"clocks_ms":[1.0,null],"allocated_ms":5.0}}"#;

    #[test]
    fn files_are_told_by_their_content() {
        let moved = r#"{"file":"f","game":1,"ply":0,"side":"white","clock_ms":9,"used_ms":1,"budget_ms":null,"moves_left_true":3,"managers":{"smooth":2.0}}"#;
        for (text, expected) in [
            ("[White \"a\"]\n\n1. e4 *\n", "Games"),
            ("\u{feff}1. e4 e5 *\n", "Games"),
            ("{a comment} 1. e4 e5 *\n", "Games"),
            ("[White \"a\"]\n\n1. e4 {TMGR: MOVE TIME: x} *\n", "Games"),
            ("TMGR: MOVE TIME: allocated()=5ms", "Tmgr"),
            (TMGR_LINE, "Tmgr"),
            (&format!("{moved}\n{TMGR_LINE}\n{{\"summary\":{{\"players\":[]}}}}\n"), "Audit Tmgr"),
            (&format!("{moved}\n{{\"summary\":{{\"players\":[]}}}}\n").repeat(2), "Audit Audit"),
            (r#"{"cells":[],"times":[],"ranking":[]}"#, "Comparison"),
            ("{\"order\":[],\"parameters\":{},\"iterations\":5}\n{\"end\":true}\n", "Tuning"),
            (r#"{"game":1,"white":"a","black":"b","termination":"checkmate"}"#, "Matches"),
            (SIMULATION, "Simulations"),
        ] {
            assert_eq!(kind(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_none_of_them_is_told() {
        for text in ["", "hello", "1", "\u{0}\u{1}", "[]", "{", "{ cut", "[Event"] {
            let (mut report, rules) = (Report::default(), ReportRules::default());
            let error = report.add("x", &mut std::io::Cursor::new(text), &rules).unwrap_err().to_string();
            assert!(error.starts_with("neither games"), "{text}: {error}");
        }
        for text in ["{}", r#"{"a":1}"#, "[1]", r#"[{"a":1}]"#] {
            assert!(kind(text).starts_with("JSON of none of the commands"), "{text}: {}", kind(text));
        }
        assert_eq!(kind(r#"{"cells":[]}"#), "entry 1: missing field `times`");
        let undeclared = r#"{"order":["a"],"parameters":{},"iterations":5}"#;
        assert_eq!(kind(undeclared), "entry 1: no parameter \"a\" with a c_end above 0");
        let cut = format!("{TMGR_LINE}\n{{\"file\":");
        assert!(kind(&cut).starts_with("line 2: "), "{}", kind(&cut));
        for cut in [r#"[{"manager":"smooth","mov"#, "{\n \"cells\": [", "[{", r#"[{"a":1},{"b""#] {
            let line = cut.lines().count();
            assert!(kind(cut).starts_with(&format!("line {line}: the JSON is cut off")), "{cut}: {}", kind(cut));
        }
        let mixed = format!("{TMGR_LINE}\n{{\"manager\":\"smooth\"}}");
        assert_eq!(kind(&mixed), "entry 2: missing field `file`");
        assert!(kind("TMGR: x").contains("no move"), "{}", kind("TMGR: x"));
    }
}
