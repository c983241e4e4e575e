//! Reads the lines `info` and `bestmove` of an engine.

use crate::games::record::Evaluation;

/// Largest size of a score, in centipawns; larger scores are cut to it.
const MOST_CP: i32 = 1_000_000;

/// The values of a line that begins with `info`, where it has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::games) struct InfoLine<'a> {
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
    /// Number of the line in `MultiPV`, from 1, which is the best.
    pub place: u32,
    /// From the view of the side that moved; `None` for a score that is a bound.
    pub score: Option<Evaluation>,
    /// The text of the moves, or of what `string` says.
    pub pv: Option<&'a str>,
    pub string: Option<&'a str>,
}

impl<'a> InfoLine<'a> {
    /// Reads a line. Unknown words are skipped, as UCI demands.
    pub fn parse(line: &'a str) -> InfoLine<'a> {
        let mut info = InfoLine { depth: None, nodes: None, place: 1, score: None, pv: None, string: None };
        let mut words = line.split_ascii_whitespace().skip(1).peekable();
        while let Some(word) = words.next() {
            match word {
                "depth" => info.depth = words.next().and_then(|word| word.parse().ok()).or(info.depth),
                "nodes" => info.nodes = words.next().and_then(|word| word.parse().ok()).or(info.nodes),
                // No number is not the first, either.
                "multipv" => info.place = words.next().and_then(|word| word.parse().ok()).unwrap_or(0),
                "score" => {
                    let score = match (words.next(), words.next().and_then(|word| word.parse::<i32>().ok())) {
                        (Some("cp"), Some(cp)) => {
                            Some(Evaluation { cp: cp.clamp(-MOST_CP, MOST_CP), mate: None, q: None })
                        }
                        (Some("mate"), mate @ Some(_)) => Some(Evaluation { cp: 0, mate, q: None }),
                        _ => None,
                    };
                    let is_bound = words.peek().is_some_and(|word| ["lowerbound", "upperbound"].contains(word));
                    info.score = score.filter(|_| !is_bound);
                }
                // With Stockfish's `UCI_ShowWDL`, in thousandths.
                "wdl" if info.score.is_some() => {
                    let mut part = || words.next()?.parse::<u16>().ok().filter(|part| *part <= 1000);
                    if let (Some(score), Some(win), Some(_), Some(loss)) = (&mut info.score, part(), part(), part()) {
                        score.q = Some((f64::from(win) - f64::from(loss)) / 1000.0);
                    }
                }
                // The rest of the line is free text, or moves.
                "string" | "pv" => {
                    let rest = line.split_once(&format!(" {word} ")).map(|(_, rest)| rest);
                    (info.pv, info.string) = if word == "pv" { (rest, None) } else { (None, rest) };
                    break;
                }
                _ => {}
            }
        }
        info
    }
}

/// Values that an engine has reported of its search: the last one of each kind, for the best line.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub depth: Option<u32>,
    pub nodes: Option<u64>,
    /// From the view of the side that moved.
    pub score: Option<Evaluation>,
}

impl Told {
    /// Takes over the values of a line that begins with `info`; lines of MultiPV other than the first are passed over.
    pub fn update(&mut self, line: &str) {
        let InfoLine { depth, nodes, score, .. } = match InfoLine::parse(line) {
            info if info.place == 1 => info,
            _ => return,
        };
        *self = Told { depth: depth.or(self.depth), nodes: nodes.or(self.nodes), score: score.or(self.score) };
    }
}

/// The best move and the expected reply of a line that begins with `bestmove`; `None` where one is missing.
pub(in crate::games) fn best_move(line: &str) -> (Option<&str>, Option<&str>) {
    let mut words = line.split_ascii_whitespace().skip(1);
    let best = words.next();
    let is_ponder = words.next() == Some("ponder");
    (best, words.next().filter(|_| is_ponder))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(lines: &[&str]) -> Told {
        let mut told = Told::default();
        lines.iter().for_each(|line| told.update(line));
        told
    }

    #[test]
    fn info_lines_tell_depth_nodes_and_score() {
        let cp = Some(Evaluation { cp: -31, mate: None, q: Some(-0.002) });
        let line = "info depth 12 seldepth 20 multipv 1 score cp -31 wdl 1 2 3 nodes 5000000000 nps 1 pv e2e4 nodes 7";
        assert_eq!(told(&[line]), Told { depth: Some(12), nodes: Some(5_000_000_000), score: cp });
        // The last value counts; other lines, bounds and free text do not.
        let lines = [
            line,
            "info depth 13 currmove e2e4 currmovenumber 1",
            "info depth 99 multipv 2 score cp 500 nodes 1",
            "info depth 13 score cp 70 lowerbound nodes 5000000001",
            "info string depth 50 nodes 60",
        ];
        assert_eq!(told(&lines), Told { depth: Some(13), nodes: Some(5_000_000_001), score: cp });
        for nonsense in ["inf 0 0", "nan 0 0", "-1 0 1001", "1 2", "1001 0 0"] {
            let told = told(&[&format!("info score cp -31 wdl {nonsense}")]).score;
            assert_eq!(told, Some(Evaluation { cp: -31, mate: None, q: None }), "{nonsense}");
        }
        let mate = told(&["info score mate -3"]).score;
        assert_eq!(mate, Some(Evaluation { cp: 0, mate: Some(-3), q: None }));
    }

    #[test]
    fn nonsense_tells_nothing() {
        for line in
            ["info", "info depth", "info depth x nodes -1 score", "info score cp", "info score cp 1e5", "info multipv"]
        {
            assert_eq!(told(&[line]), Told::default(), "{line}");
        }
    }

    #[test]
    fn best_moves_may_have_a_ponder_move() {
        assert_eq!(best_move("bestmove e2e4 ponder e7e5"), (Some("e2e4"), Some("e7e5")));
        assert_eq!(best_move("bestmove  e2e4  "), (Some("e2e4"), None));
        assert_eq!(best_move("bestmove e2e4 e7e5 e7e6"), (Some("e2e4"), None));
        assert_eq!(best_move("bestmove e2e4 ponder"), (Some("e2e4"), None));
        assert_eq!(best_move("bestmove"), (None, None));
    }
}
