//! Reads a line of the input: a request for a search, or to end one.

use crate::commands::flags::game_from;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::num::NonZeroU32;
use zeitnot::uci::did_you_mean;
use zeitnot_engine::chess::{Game, Move, parse_uci};
use zeitnot_engine::engine::{GoParams, MOST_MOVES};

/// Longest time of a search, in milliseconds: a year.
const LONGEST_MS: f64 = 365.0 * 86_400e3;

/// Longest line, in bytes: the moves of the longest games are a tenth of it.
const LONGEST_LINE: usize = 1 << 20;

/// A line of the input that could be read.
pub enum Request {
    Search(Box<Asked>),
    /// A request to end one search or, without `of`, the program once all requests are answered. `echo` is its line.
    Terminate {
        echo: String,
        of: Option<Id>,
    },
}

/// The id of a request, as it came: any JSON.
pub type Id = Box<RawValue>;

/// The fields of a JSON object, with their values unparsed.
type Fields = BTreeMap<String, Box<RawValue>>;

/// A search that is asked for.
pub struct Asked {
    pub id: Id,
    pub game: Game,
    pub go: GoParams,
    /// Lines of analysis; `None`: as many as the option `MultiPV` says.
    pub multi_pv: Option<u32>,
    /// Whether castling is written as king takes rook.
    pub chess960: bool,
    /// Whether the statistics of all moves are asked for.
    pub stats: bool,
}

/// The reason why a line cannot be served as a request.
pub struct Fault {
    /// The id of the request, where its line has one.
    pub id: Option<Id>,
    pub error: String,
}

impl Fault {
    pub fn json(&self) -> String {
        super::answer::json(self.id.as_deref(), &json!({ "error": self.error }))
    }
}

/// The fields of a request for a search.
const FIELDS: [&str; 10] =
    ["id", "fen", "moves", "chess960", "nodes", "movetime", "depth", "searchmoves", "multipv", "stats"];

/// Reads a line as a request. `chess960` is the engine's option, which holds where the request does not say.
pub fn read(line: &str, chess960: bool) -> Result<Request, Fault> {
    let anonymous = |error: String| Fault { id: None, error };
    let line = line.trim_start_matches('\u{feff}').trim();
    if line.len() > LONGEST_LINE {
        return Err(anonymous(format!("a line of more than {LONGEST_LINE} bytes is no request")));
    }
    let mut objects = serde_json::Deserializer::from_str(line).into_iter::<Fields>();
    let mut map = objects
        .next()
        .unwrap_or_else(|| Ok(Fields::new()))
        .map_err(|error| anonymous(format!("no JSON object: {error}")))?;
    let Some(id) = map.get("id").cloned() else { return Err(anonymous("the request has no id".to_owned())) };
    let of_request = |error| Fault { id: Some(id.clone()), error };
    if objects.byte_offset() < line.len() {
        return Err(of_request("there is text behind the JSON object".to_owned()));
    }
    match take::<Value>(&mut map, "action").map_err(of_request)? {
        Some(action) if action == "terminate" => {
            Ok(Request::Terminate { echo: line.to_owned(), of: map.remove("terminateId") })
        }
        Some(action) => Err(of_request(format!("no such action: {action}; there is terminate"))),
        None => asked(id.clone(), map, chess960).map(|asked| Request::Search(Box::new(asked))).map_err(of_request),
    }
}

fn asked(id: Id, mut map: Fields, chess960: bool) -> Result<Asked, String> {
    // A limit that is mistyped would not hold.
    if let Some(unknown) = map.keys().find(|key| !FIELDS.contains(&key.as_str())) {
        return Err(format!("unknown field {unknown:?}{}", did_you_mean(unknown, FIELDS)));
    }
    let chess960 = take(&mut map, "chess960")?.unwrap_or(chess960);
    let fen: Option<String> = take(&mut map, "fen")?;
    let mut game = game_from(fen.as_deref(), chess960).map_err(|error| error.to_string())?;
    let moves: Vec<String> = take(&mut map, "moves")?.unwrap_or_default();
    for mv in words(&moves) {
        game.push_uci(mv).map_err(|error| error.to_string())?;
    }
    let mut count = |key| take(&mut map, key).map(|count: Option<NonZeroU32>| count.map(NonZeroU32::get));
    let (nodes, depth, multi_pv) = (count("nodes")?, count("depth")?, count("multipv")?);
    let movetime: Option<f64> = take(&mut map, "movetime")?;
    if let Some(movetime) = movetime.filter(|ms| !(*ms > 0.0 && *ms <= LONGEST_MS)) {
        return Err(format!("movetime is {movetime}: it takes more than 0 and at most {LONGEST_MS} milliseconds"));
    }
    if nodes.is_none() && movetime.is_none() && depth.is_none() {
        return Err("the request has no limit: nodes, movetime or depth".to_owned());
    }
    let search_moves: Vec<String> = take(&mut map, "searchmoves")?.unwrap_or_default();
    let search_moves = read_search_moves(&game, &search_moves)?;
    let go = GoParams { nodes: nodes.map(u64::from), movetime, depth, search_moves, ..GoParams::default() };
    Ok(Asked { id, game, go, multi_pv, chess960, stats: take(&mut map, "stats")?.unwrap_or_default() })
}

/// The value of a field; `None` where it is missing or null.
fn take<T: DeserializeOwned>(map: &mut Fields, key: &str) -> Result<Option<T>, String> {
    let Some(value) = map.remove(key) else { return Ok(None) };
    let value: serde_json::Result<Value> = serde_json::from_str(value.get());
    value.and_then(serde_json::from_value).map_err(|error| format!("{key}: {error}"))
}

fn read_search_moves(game: &Game, texts: &[String]) -> Result<Vec<Move>, String> {
    let legal = game.current().legal_moves();
    let known = &legal[..legal.len().min(MOST_MOVES)];
    let read = |text| match parse_uci(game.current().chess(), text) {
        Ok(mv) if known.contains(&mv) => Ok(mv),
        Ok(_) => Err(format!("searchmoves: {text} is not among the {MOST_MOVES} moves that a search knows")),
        Err(error) => Err(format!("searchmoves: {error}")),
    };
    words(texts).map(read).collect()
}

/// The words of texts, each of which may hold several: `["e2e4", "e7e5"]` or `["e2e4 e7e5"]`.
fn words(texts: &[String]) -> impl Iterator<Item = &str> {
    texts.iter().flat_map(|text| text.split_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(line: &str) -> Asked {
        match read(line, false) {
            Ok(Request::Search(asked)) => *asked,
            Ok(Request::Terminate { .. }) => panic!("{line}"),
            Err(fault) => panic!("{}", fault.json()),
        }
    }

    #[test]
    fn requests_are_read() {
        let asked = search(r#"{"id": "a", "moves": ["e2e4 e7e5", "g1f3"], "nodes": 9, "searchmoves": ["b8c6"]}"#);
        assert_eq!((asked.game.moves().len(), asked.go.nodes, asked.go.search_moves.len()), (3, Some(9), 1));
        let asked =
            search(r#"{"id": 1.5, "fen": "startpos", "movetime": 10.5, "depth": 3, "multipv": 4, "stats": true}"#);
        assert_eq!((asked.go.movetime, asked.go.depth), (Some(10.5), Some(3)));
        assert_eq!((asked.multi_pv, asked.stats, asked.chess960), (Some(4), true, false));
        let line = r#"{"id": 2, "action": "terminate", "terminateId": 1}"#;
        assert!(matches!(read(line, false), Ok(Request::Terminate { of: Some(of), .. }) if of.get() == "1"));
    }

    #[test]
    fn faults_name_what_is_wrong_and_the_request() {
        for (line, id, part) in [
            ("nodes 5", None, "no JSON object"),
            ("[1]", None, "no JSON object"),
            (r#"{"nodes": 5}"#, None, "no id"),
            (r#"{"id": 1, "nodes": 5} x"#, Some(1), "text behind"),
            (r#"{"id": 1, "nodes": 5}{"id": 2, "nodes": 5}"#, Some(1), "text behind"),
            (r#"{"id": 1, "nodes": 5}}"#, Some(1), "text behind"),
            (r#"{"id": 1, "nodes": 5"#, None, "no JSON object: EOF"),
            (r#"{"id": 1}"#, Some(1), "no limit"),
            (r#"{"id": 1, "node": 5}"#, Some(1), "unknown field \"node\"; did you mean \"nodes\"?"),
            (r#"{"id": 1, "nodes": 0}"#, Some(1), "nodes: "),
            (r#"{"id": 1, "nodes": -1}"#, Some(1), "nodes: "),
            (r#"{"id": 1, "nodes": 5, "moves": "e2e4"}"#, Some(1), "moves: "),
            (r#"{"id": 1, "movetime": -1}"#, Some(1), "movetime is -1"),
            (r#"{"id": 1, "movetime": 0}"#, Some(1), "movetime is 0"),
            (r#"{"id": 1, "nodes": 5, "movetime": 0.0}"#, Some(1), "movetime is 0"),
            (r#"{"id": 1, "movetime": 1e999}"#, Some(1), "movetime: number out of range"),
            (r#"{"id": 1, "depth": 0}"#, Some(1), "depth: "),
            (r#"{"id": 1, "multipv": 0, "nodes": 5}"#, Some(1), "multipv: "),
            (r#"{"id": 1, "nodes": 5, "fen": "x"}"#, Some(1), "x"),
            (r#"{"id": 1, "nodes": 5, "moves": ["e2e5"]}"#, Some(1), "e2e5"),
            (r#"{"id": 1, "nodes": 5, "searchmoves": ["e7e5"]}"#, Some(1), "searchmoves: illegal move e7e5"),
            (r#"{"id": 1, "action": "fly"}"#, Some(1), "no such action: \"fly\""),
        ] {
            let Err(fault) = read(line, false) else { panic!("{line}") };
            assert_eq!(fault.id.map(|id| id.to_string()), id.map(|id: u8| id.to_string()), "{line}");
            assert!(fault.error.contains(part) && !fault.error.contains('\n'), "{line}: {}", fault.error);
        }
    }
}
