//! Reads the lines that Lc0's `smooth` writes to its log, each with the prefix `TMGR:` (docs/lc0.md, 1.7).

use crate::games::lines::Lines;
use crate::games::pgn_reader::is_tag_pair;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};

/// The mark of each line of the time manager.
const MARK: &[u8] = b"TMGR:";

/// The quantities of one move as the log names them; `None` where a version does not write a quantity. Times are in
/// milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TmgrMove {
    /// The clock of White and of Black, from the command `go` before the move.
    pub clocks_ms: [Option<f64>; 2],
    /// The time granted.
    pub allocated_ms: Option<f64>,
    /// The expected time of the new nodes, before the piggybank takes its share.
    pub brutto_ms: Option<f64>,
    /// The expected time of the new nodes, less the piggybank's share.
    pub netto_ms: Option<f64>,
    /// The estimated share of a budget that is used.
    pub timeuse: Option<f64>,
    /// Nodes that the move found in the tree.
    pub reused: Option<f64>,
    /// New nodes that the move is to add.
    pub expected_new: Option<f64>,
    /// The estimated share of a tree that survives a move.
    pub tree_reuse: Option<f64>,
    /// Expected moves left in the game.
    pub moves: Option<f64>,
    /// The estimated speed, in nodes a second.
    pub nps: Option<f64>,
    /// The time that is shared out among the moves.
    pub time_ms: Option<f64>,
}

/// Whether a file is a log with lines of Lc0's time manager. A comment of a game in PGN may quote one of them: a file
/// with a tag pair like `[White "name"]` at the start of a line is PGN.
///
/// # Errors
/// The errors of the source.
pub fn is_tmgr_log(source: impl Read) -> io::Result<bool> {
    let mut lines = Lines::new(source);
    let mut has_mark = false;
    while lines.next()? {
        if lines.is_begin() && is_tag_pair(lines.rest()) {
            return Ok(false);
        }
        has_mark = has_mark || lines.rest().windows(MARK.len()).any(|window| window == MARK);
        lines.take(usize::MAX);
    }
    Ok(has_mark)
}

/// Reads a log: a move for each line `MOVE TIME`, with the lines after it and the last `go` before it.
pub fn read_tmgr_log(text: &str) -> Vec<TmgrMove> {
    let mut moves: Vec<TmgrMove> = Vec::new();
    let mut clocks = [None; 2];
    for line in text.lines() {
        if let Some((_, go)) = line.split_once("go ").filter(|(before, _)| before.is_empty() || before.ends_with(">> "))
        {
            let words: Vec<&str> = go.split_whitespace().collect();
            let after =
                |name| words.iter().position(|word| *word == name).and_then(|at| words.get(at + 1)?.parse().ok());
            clocks = [after("wtime"), after("btime")];
        }
        let Some((_, entry)) = line.split_once("TMGR:") else { continue };
        if entry.trim_start().starts_with("MOVE TIME") {
            moves.push(TmgrMove { clocks_ms: clocks, ..TmgrMove::default() });
        }
        let Some(mv) = moves.last_mut() else { continue };
        for pair in entry.split([',', ' ', ':']).filter(|pair| pair.contains('=')) {
            let Some((name, value)) = pair.split_once('=') else { continue };
            let number = value.trim_end_matches("ms").parse::<f64>().ok().filter(|value| value.is_finite());
            let field = match (kind(entry), name) {
                ("MOVE TIME", "allocated()") => &mut mv.allocated_ms,
                ("MOVE TIME", "expected(brutto)") => &mut mv.brutto_ms,
                ("MOVE TIME", "expected(netto)") => &mut mv.netto_ms,
                ("MOVE TIME", "timeuse") => &mut mv.timeuse,
                ("MOVE NODES", "reused") => &mut mv.reused,
                ("MOVE NODES", "expected_new(brutto)") => &mut mv.expected_new,
                ("MOVE NODES", "tree_reuse") => &mut mv.tree_reuse,
                ("REMAINING GAME", "moves") => &mut mv.moves,
                ("REMAINING GAME", "nps") => &mut mv.nps,
                ("REMAINING GAME", "time") => &mut mv.time_ms,
                _ => continue,
            };
            *field = number;
        }
    }
    moves
}

/// The words before the colon of an entry.
fn kind(entry: &str) -> &str {
    entry.split_once(':').map_or("", |(kind, _)| kind.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Move 14 of the game of [Lc0's issue 1585](https://github.com/LeelaChessZero/lc0/issues/1585).
    const LOG: &str = "\
21:47:39.820010 36352 >> go wtime 3171701 btime 2696634 winc 7000 binc 7000
21:47:39.820072 36352 TMGR: Updating tree reuse. last_move_nodes=15273943, this_move_nodes=6675781 (tree_reuse=0.437070). avg_tree_reuse=0.534744
21:47:39.820094 36352 TMGR: MOVE TIME: allocated()=118529.5ms, expected(brutto)=88721.8ms, expected(netto)=78075.2ms, timeuse=0.65870
21:47:39.820107 36352 TMGR: MOVE NODES: avg_total_with_reuse(brutto)=12061319.0, reused=6675781, expected_new(brutto)=5385538.0, tree_reuse=0.53474
21:47:39.820130 36352 TMGR: PIGGYBANK: total=422180ms, increment=10646.6ms, longthink=386841ms, max=3840635.2ms
21:47:39.820140 36352 TMGR: REMAINING GAME: nodes=180746416.0, moves=32.2, time=2977632.8ms, nps=60701.4
";

    #[test]
    fn a_log_of_lc0_is_read() {
        let moves = read_tmgr_log(LOG);
        assert_eq!(moves.len(), 1);
        let mv = &moves[0];
        assert_eq!(mv.clocks_ms, [Some(3_171_701.0), Some(2_696_634.0)]);
        assert_eq!((mv.allocated_ms, mv.brutto_ms, mv.netto_ms), (Some(118_529.5), Some(88_721.8), Some(78_075.2)));
        assert_eq!((mv.timeuse, mv.reused, mv.tree_reuse), (Some(0.6587), Some(6_675_781.0), Some(0.53474)));
        assert_eq!((mv.moves, mv.nps, mv.time_ms), (Some(32.2), Some(60_701.4), Some(2_977_632.8)));
        // The log's own numbers: the nodes to add at this speed are the time expected.
        assert!((mv.expected_new.unwrap() / mv.nps.unwrap() * 1e3 / mv.brutto_ms.unwrap() - 1.0).abs() < 1e-4);
    }

    #[test]
    fn games_that_quote_a_log_are_none() {
        let is_tmgr_log = |text: &[u8]| is_tmgr_log(text).unwrap();
        assert!(is_tmgr_log(LOG.as_bytes()) && is_tmgr_log(b"[1] TMGR: x\n[Note]\n") && !is_tmgr_log(b"[TMGR]"));
        for game in ["[White \"a\"]\n\n1. e4 {TMGR: MOVE TIME} *\n", "\u{feff}[Event  \"\"]\r\n{\nTMGR: x}"] {
            assert!(!is_tmgr_log(game.as_bytes()), "{game}");
        }
    }

    #[test]
    fn other_logs_have_no_moves() {
        assert!(read_tmgr_log("").is_empty());
        assert!(read_tmgr_log("info depth 3\nTMGR:\nTMGR: MOVE NODES: reused=1\n>> go\n").is_empty());
        assert_eq!(read_tmgr_log("TMGR: MOVE TIME: allocated()=x, timeuse=inf").len(), 1);
    }
}
