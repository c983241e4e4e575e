//! The facts about a position that an analysis begins with: of a search, or of a comment.

use super::evaluation::Eval;
use serde::{Deserialize, Serialize};
use zeitnot_engine::chess::{Color, Game, Move, Outcome, to_uci};
use zeitnot_games::pgn_reader::{PgnGame, command};

/// Number from which on `[%eval]` values without a decimal point and a depth are taken as centipawns, not pawns.
const LEAST_CENTIPAWNS: f64 = 30.0;

/// The facts about a position that a search or a comment gave, from White's side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PositionFacts {
    /// Centipawns; `None` beside a mate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cp: Option<i32>,
    /// Moves to mate, negative where Black mates; 0 for a mate on the board.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mate: Option<i32>,
    /// Win, draw and loss of White in permille, where a search gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wdl: Option<[u32; 3]>,
    /// Mean depth of the search; 0 where none was made.
    #[serde(default)]
    pub depth: u32,
    /// The best line as moves of UCI; empty where none is known.
    #[serde(default)]
    pub line: Vec<String>,
    /// The best move after the first eighth of the search's effort.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub early: Option<String>,
}

impl PositionFacts {
    /// The facts where nothing but an evaluation is known.
    pub fn of(eval: Eval) -> PositionFacts {
        match eval {
            Eval::Cp(cp) => PositionFacts { cp: Some(cp), ..PositionFacts::default() },
            Eval::Mate(moves) => PositionFacts { mate: Some(moves), ..PositionFacts::default() },
            Eval::Checkmate(_) => PositionFacts { mate: Some(0), ..PositionFacts::default() },
        }
    }

    /// The facts of a game that is over.
    pub(crate) fn of_outcome(outcome: Outcome) -> PositionFacts {
        let (eval, wdl) = match outcome.winner() {
            Some(Color::White) => (Eval::Checkmate(Color::White), [1000, 0, 0]),
            Some(Color::Black) => (Eval::Checkmate(Color::Black), [0, 0, 1000]),
            None => (Eval::Cp(0), [0, 1000, 0]),
        };
        PositionFacts { wdl: Some(wdl), ..PositionFacts::of(eval) }
    }

    /// The facts of a position in which the side to move mates by this line.
    pub(crate) fn of_mate(game: &Game, line: &[Move]) -> PositionFacts {
        let (sign, wdl) = if game.current().turn().is_white() { (1, [1000, 0, 0]) } else { (-1, [0, 0, 1000]) };
        let line: Vec<String> = line.iter().map(|mv| to_uci(*mv, game.is_chess960())).collect();
        PositionFacts {
            wdl: Some(wdl),
            depth: line.len() as u32,
            early: line.first().cloned(),
            line: line.clone(),
            ..PositionFacts::of(Eval::Mate(sign * (line.len() as i32 + 1) / 2))
        }
    }

    /// The evaluation; `turn` is the side to move, which is mated where a mate stands on the board.
    pub fn eval(&self, turn: Color) -> Option<Eval> {
        match self.mate {
            Some(0) => Some(Eval::Checkmate(turn.other())),
            Some(moves) => Some(Eval::Mate(moves)),
            None => self.cp.map(Eval::Cp),
        }
    }

    /// White's expected score, 0 to 1: by win, draw and loss, else by the chance to win.
    pub fn expected(&self, turn: Color) -> Option<f64> {
        match self.wdl {
            Some([win, draw, _]) => Some((f64::from(win) + f64::from(draw) / 2.0) / 1000.0),
            None => self.eval(turn).map(|eval| eval.win_percent() / 100.0),
        }
    }
}

/// The facts that the comments of a game give about its positions, the one before the first move included. A mate on the
/// board needs no comment.
pub fn facts_in_comments(game: &PgnGame) -> Vec<Option<PositionFacts>> {
    let plies = game.game.moves().len();
    let mated = game.game.outcome().filter(|outcome| outcome.winner().is_some());
    let value = |comments: &Vec<String>| comments.iter().find_map(|comment| Some(command(comment, "eval")?.to_owned()));
    let values: Vec<Option<String>> = game.comments.iter().map(value).collect();
    // Fritz writes centipawns (`24,15`), none of them with a point; whole pawns have neither a depth nor such numbers.
    let numbers = || values.iter().flatten().filter(|value| !value.starts_with('#'));
    let is_hundredths =
        |value: &String| value.contains(',') || value.parse().is_ok_and(|pawns: f64| pawns.abs() >= LEAST_CENTIPAWNS);
    let are_centipawns = numbers().all(|value| !value.contains('.')) && numbers().any(is_hundredths);
    let eval = |value: &String| match Eval::parse(value)? {
        Eval::Cp(cp) if are_centipawns => Some(Eval::Cp(cp / 100)),
        eval => Some(eval),
    };
    let told = |index: usize| {
        let told = values.get(index).and_then(|value| eval(value.as_ref()?)).map(PositionFacts::of);
        let of_mate = |outcome| PositionFacts { wdl: None, ..PositionFacts::of_outcome(outcome) };
        if index == plies { mated.map(of_mate).or(told) } else { told }
    };
    (0..=plies).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_games::pgn_reader::read_games;

    #[test]
    fn comments_have_evaluations_and_a_mate_needs_none() {
        let text = "1. f3 { [%eval -0.5] [%clk 0:01:00] } e5 {a} {[%eval -0.45,20]} 2. g4 {[%eval #-1]} Qh4# 0-1\n";
        let game = &read_games(text.as_bytes()).unwrap()[0];
        let facts = facts_in_comments(game);
        let evals: Vec<Option<Eval>> = facts
            .iter()
            .zip(game.game.positions())
            .map(|(facts, position)| facts.as_ref()?.eval(position.turn()))
            .collect();
        let known = [Eval::Cp(-50), Eval::Cp(-45), Eval::Mate(-1), Eval::Checkmate(Color::Black)];
        assert_eq!(evals[0], None);
        assert_eq!(evals[1..], known.map(Some));
        assert_eq!(facts[4].as_ref().unwrap().expected(Color::White), Some(Eval::Mate(-1).win_percent() / 100.0));
    }

    #[test]
    fn centipawns_of_fritz_are_known_from_pawns() {
        let evals = |text: &str| {
            let game = &read_games(format!("{text} *\n").as_bytes()).unwrap()[0];
            facts_in_comments(game).into_iter().map(|facts| facts?.cp).collect::<Vec<_>>()
        };
        assert_eq!(
            evals("1. e4 {[%eval 24,15]} e5 {[%eval -7,14]} 2. d4 {[%eval #3,9]}"),
            [None, Some(24), Some(-7), None]
        );
        assert_eq!(evals("1. e4 {[%eval 24]} e5 {[%eval 31]}"), [None, Some(24), Some(31)]);
        assert_eq!(evals("1. e4 {[%eval 0.24,15]} e5 {[%eval 1,14]}"), [None, Some(24), Some(100)]);
        assert_eq!(evals("1. e4 {[%eval 1]} e5 {[%eval -2]}"), [None, Some(100), Some(-200)]);
    }

    #[test]
    fn draws_and_mates_have_results() {
        let drawn = PositionFacts::of_outcome(Outcome::Stalemate);
        assert_eq!((drawn.eval(Color::White), drawn.expected(Color::White)), (Some(Eval::Cp(0)), Some(0.5)));
        let mated = PositionFacts::of_outcome(Outcome::Checkmate { winner: Color::Black });
        assert_eq!(mated.eval(Color::White), Some(Eval::Checkmate(Color::Black)));
        assert_eq!(mated.expected(Color::White), Some(0.0));
    }
}
