//! Reads the `info` lines of a search as snapshots of a time manager.

use crate::games::external::info_line::InfoLine;
use crate::games::record::Evaluation;
use zeitnot_engine::chess::{Game, Move, parse_uci};
use zeitnot_time::{SearchSnapshot, centipawns};

/// Everything that an engine has told of one search. Each node counts as a visit of the move that was best when its line
/// came, unless the engine tells the visits itself.
pub(super) struct Heard {
    game: Game,
    moves: Vec<Move>,
    nodes_of: Vec<u64>,
    /// Whether the engine has told visits, as Lc0 does with `VerboseMoveStats`.
    has_visits: bool,
    nodes: u64,
    /// Nodes from before the clock started.
    pondered: u64,
    /// Times of the first line and of the last one with nodes, in milliseconds since the clock started.
    first_ms: Option<f64>,
    last_ms: f64,
    lines: u64,
    depth: u32,
    /// The iteration that ended last, where the engine tells of their beginnings with lines of their own.
    ended: Option<u32>,
    best: Option<usize>,
    pub evaluation: Option<Evaluation>,
    second_value: Option<f64>,
}

/// The best move that a line `info` tells of a search of this position; `None` for a bound, for a further line of
/// `MultiPV`, and for a line without a move.
pub fn told_move(game: &Game, line: &str) -> Option<Move> {
    let mut heard = Heard::new(game);
    heard.hear(line, 0.0);
    heard.best_move()
}

impl Heard {
    pub fn new(game: &Game) -> Heard {
        let moves = game.current().legal_moves().to_vec();
        Heard {
            game: game.clone(),
            nodes_of: vec![0; moves.len()],
            moves,
            has_visits: false,
            nodes: 0,
            pondered: 0,
            first_ms: None,
            last_ms: 0.0,
            lines: 0,
            depth: 0,
            ended: None,
            best: None,
            evaluation: None,
            second_value: None,
        }
    }

    /// The nodes that a line tells, where it is one that this takes in: others come at times of their own. Scores that are
    /// bounds say neither a move nor a value for sure.
    pub fn nodes_in(line: &str) -> Option<u64> {
        let info = InfoLine::parse(line);
        info.nodes.filter(|_| info.pv.is_some() && info.score.is_some() && info.place == 1)
    }

    /// Begins with the last line `info` of a search on the opponent's time: its move and its value count, its nodes do not.
    pub fn go_on_from(&mut self, line: &str) {
        self.hear(line, 0.0);
        self.pondered = self.nodes;
        self.nodes_of.fill(0);
    }

    /// Takes in a line `info` that came `at_ms` milliseconds after the clock started.
    pub fn hear(&mut self, line: &str, at_ms: f64) {
        let info = InfoLine::parse(line);
        if let Some((mv, visits)) = info.string.and_then(|text| self.visits_in(text)) {
            (self.has_visits, self.nodes_of[mv]) = (true, visits);
        }
        // Toga's first line of a depth comes in the midst of it. It writes `info depth 8` at its beginning, and at its end
        // `info depth 8 nodes 9`; without the first, the second may be any engine's report of a running iteration.
        if let (Some(depth), None, None) = (info.depth, info.pv, info.string)
            && !["currmove", "score"].iter().any(|word| line.contains(word))
        {
            self.ended = match info.nodes {
                None => Some(depth.saturating_sub(1)),
                Some(_) => self.ended.map(|_| depth),
            };
        }
        let (Some(score), Some(pv)) = (info.score, info.pv) else { return };
        match info.place {
            1 => {}
            2 => {
                self.second_value = Some(value(score));
                return;
            }
            _ => return,
        }
        self.best = pv.split_ascii_whitespace().next().and_then(|mv| self.place_of(mv)).or(self.best);
        self.evaluation = Some(score);
        self.depth = info.depth.unwrap_or(self.depth);
        self.first_ms = self.first_ms.or(Some(at_ms));
        self.lines += 1;
        if let Some(nodes) = info.nodes {
            let new = nodes.saturating_sub(self.nodes);
            if let Some(best) = self.best.filter(|_| !self.has_visits) {
                self.nodes_of[best] += new;
            }
            (self.nodes, self.last_ms) = (self.nodes + new, at_ms);
        }
    }

    /// The best move by the last line; `None` before the first.
    pub fn best_move(&self) -> Option<Move> {
        self.best.map(|best| self.moves[best])
    }

    pub fn depth(&self) -> u32 {
        self.depth
    }

    pub fn has_one_move(&self) -> bool {
        self.moves.len() == 1 && self.best.is_some()
    }

    /// Nodes at a time, at the speed up to the last line.
    pub fn nodes_at(&self, at_ms: f64) -> u64 {
        let factor = if self.last_ms > 0.0 { (at_ms / self.last_ms).max(1.0) } else { 1.0 };
        ((self.nodes - self.pondered) as f64 * factor).round() as u64
    }

    /// The search as a time manager sees it `at_ms` milliseconds after the clock started.
    pub fn snapshot(&self, at_ms: f64) -> SearchSnapshot<'static> {
        let nodes = self.nodes_at(at_ms);
        let mate = self.evaluation.and_then(|evaluation| evaluation.mate);
        SearchSnapshot {
            elapsed_ms: at_ms,
            since_first_batch_ms: self.first_ms.map(|first_ms| at_ms - first_ms),
            new_nodes: nodes,
            // An engine that is silent at first searches all the same.
            total_nodes: nodes.max(1),
            batches: self.lines,
            // An engine that told of one iteration alone tells of none.
            average_depth: self.ended.filter(|ended| ended + 1 >= self.depth).unwrap_or(self.depth),
            mate_depth: mate.and_then(|moves| u32::try_from(moves).ok()),
            root_visits: self.nodes_of.iter().map(|nodes| u32::try_from(*nodes).unwrap_or(u32::MAX)).collect(),
            best_move: self.best,
            best_value: self.evaluation.map(value),
            second_value: self.second_value,
            ..SearchSnapshot::default()
        }
    }

    fn place_of(&self, mv: &str) -> Option<usize> {
        let mv = parse_uci(self.game.current().chess(), mv).ok()?;
        self.moves.iter().position(|legal| *legal == mv)
    }

    /// The move and its visits in a text as Lc0's, `e2e4  (322 ) N:    1500 (+ 0) (P: 11.5%) ...`.
    fn visits_in(&self, text: &str) -> Option<(usize, u64)> {
        let mut words = text.split_ascii_whitespace();
        let mv = words.next()?;
        let visits = words.skip_while(|word| *word != "N:").nth(1)?.parse().ok()?;
        Some((self.place_of(mv)?, visits))
    }
}

/// The value of an evaluation, from −1 (loss) to 1 (win).
fn value(evaluation: Evaluation) -> f64 {
    match evaluation.mate {
        Some(moves) => {
            if moves > 0 {
                1.0
            } else {
                -1.0
            }
        }
        None => evaluation.q.unwrap_or_else(|| centipawns::value_of(f64::from(evaluation.cp))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_count_for_the_move_that_was_best_when_they_were_searched() {
        let mut heard = Heard::new(&Game::new());
        assert_eq!((heard.best_move(), heard.snapshot(3.0).total_nodes), (None, 1));
        for (line, at_ms) in [
            ("info depth 1 nodes 100 score cp 90 pv e2e4", 10.0),
            ("info depth 2 nodes 150 score cp 10 upperbound pv g1f3", 12.0),
            ("info depth 2 nodes 300 multipv 2 score cp -90 nodes 300 pv a2a3", 15.0),
            ("info depth 2 seldepth 4 multipv 1 score mate 3 nodes 400 pv d2d4 d7d5", 20.0),
            ("info depth 3 currmove e2e4 nodes 900", 21.0),
        ] {
            heard.hear(line, at_ms);
        }
        let seen = heard.snapshot(30.0);
        let visits: Vec<u32> = seen.root_visits.iter().copied().filter(|nodes| *nodes > 0).collect();
        assert_eq!(
            (visits.iter().sum::<u32>(), visits.len(), seen.root_visits[seen.best_move.unwrap()]),
            (400, 2, 300)
        );
        // At the speed of the last line.
        assert_eq!((seen.new_nodes, seen.average_depth, seen.batches), (600, 2, 2));
        assert_eq!((seen.mate_depth, seen.best_value, seen.since_first_batch_ms), (Some(3), Some(1.0), Some(20.0)));
        assert!(seen.second_value.is_some_and(|value| value < -0.4), "{seen:?}");
    }

    #[test]
    fn an_iteration_has_ended_when_the_engine_says_so() {
        let depths = |lines: &[&str]| {
            let mut heard = Heard::new(&Game::new());
            let after = |line: &&str| {
                heard.hear(line, 1.0);
                heard.snapshot(1.0).average_depth
            };
            lines.iter().map(after).collect::<Vec<_>>()
        };
        let of_toga = [
            "info depth 8",
            "info multipv 1 depth 8 seldepth 8 score cp 34 time 4 nodes 226 pv d2d4",
            "info depth 8 seldepth 8 time 4 nodes 446 nps 0",
            "info time 9 nodes 500 nps 0",
            "info depth 9",
            "info multipv 1 depth 9 seldepth 8 score cp 4 upperbound time 16 nodes 600 pv d2d4",
        ];
        assert_eq!(depths(&of_toga), [7, 7, 8, 8, 8, 8]);
        let of_stockfish = [
            "info depth 20 seldepth 29 multipv 1 score cp 30 nodes 9 time 5 pv e2e4",
            "info depth 21 currmove e2e4 currmovenumber 1",
            "info depth 21 seldepth 29 multipv 1 score cp 36 lowerbound nodes 10 time 6 pv e2e4",
            "info depth 21 seldepth 29 multipv 1 score cp 36 nodes 12 time 7 pv e2e4",
        ];
        assert_eq!(depths(&of_stockfish), [20, 20, 20, 21]);
        let of_others = [
            "info depth 1",
            "info depth 1 nodes 20 score cp 30 pv e2e4",
            "info depth 2 nodes 90 score cp 30 pv e2e4",
            "info depth 3 nodes 200 score cp 30 pv e2e4",
        ];
        assert_eq!(depths(&of_others), [0, 0, 2, 3]);
        let reports =
            ["info depth 7 nodes 20 score cp 30 pv e2e4", "info depth 8 seldepth 9 nodes 90 nps 5 hashfull 3"];
        assert_eq!(depths(&reports), [7, 7]);
    }

    #[test]
    fn visits_that_an_engine_tells_are_taken_as_they_are() {
        let mut heard = Heard::new(&Game::new());
        heard.hear("info depth 5 nodes 40 score cp 5 pv e2e4", 10.0);
        heard.hear("info string d2d4  (293 ) N:      30 (+ 0) (P: 10.00%) (WL: 0.1)", 10.0);
        heard.hear("info string node  ( 20) N:      40 (+ 0)", 10.0);
        heard.hear("info depth 5 nodes 80 score cp 5 pv e2e4", 20.0);
        let mut visits = heard.snapshot(20.0).root_visits.to_vec();
        visits.sort_unstable();
        assert_eq!(visits[18..], [30, 40]);
    }

    #[test]
    fn values_are_of_the_scale_of_their_engine() {
        let of = |cp, q| value(Evaluation { cp, mate: None, q });
        assert_eq!((of(0, None), of(50, Some(0.25))), (0.0, 0.25));
        assert!((of(90, None) - 0.502_25).abs() < 1e-4 && of(-100_000, None) == -1.0);
        assert_eq!(value(Evaluation { cp: 0, mate: Some(-2), q: None }), -1.0);
    }
}
