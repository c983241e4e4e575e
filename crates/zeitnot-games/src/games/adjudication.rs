//! Ends games early where the players' evaluations or the endgame tables leave no doubt. Nothing is adjudicated unless
//! asked for.

use super::record::{Evaluation, Termination};
use std::str::FromStr;
use std::sync::Arc;
use thiserror::Error;
use zeitnot_engine::chess::{Color, Game};
use zeitnot_engine::tablebase::Tablebase;

/// Rule for counting a game as drawn (as in cutechess; fastchess also begins to count anew at a capture or pawn move):
/// from move `from_move` on, when both evaluations were within `cp` centipawns of 0 for `moves` moves in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawRule {
    /// The first move, counted from the first one played, that can end the game.
    pub from_move: u32,
    /// Moves in a row of each player.
    pub moves: u32,
    /// Largest distance of both evaluations from 0, in centipawns.
    pub cp: i32,
}

/// Rule for counting a player as having resigned: the player's evaluations were at or below `-cp` for `moves` moves in
/// a row, and the opponent's meanwhile at or above `cp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResignRule {
    /// Moves in a row of each player.
    pub moves: u32,
    /// Least distance of both evaluations from 0, in centipawns.
    pub cp: i32,
}

/// Error for a text that is not a rule.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("\"{text}\" is not {expected}")]
pub struct RuleError {
    text: String,
    expected: &'static str,
}

/// The `N` whole numbers of a text, split by commas; otherwise an error that says `expected`.
fn numbers<const N: usize>(text: &str, expected: &'static str) -> Result<[u32; N], RuleError> {
    let error = || RuleError { text: text.to_owned(), expected };
    let numbers: Vec<u32> =
        text.split(',').map(|number| number.trim().parse().map_err(|_| error())).collect::<Result<_, _>>()?;
    <[u32; N]>::try_from(numbers)
        .ok()
        .filter(|numbers| numbers.iter().all(|number| *number <= 100_000))
        .ok_or_else(error)
}

impl FromStr for DrawRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<DrawRule, RuleError> {
        let expected = "FROM_MOVE,MOVES,CENTIPAWNS such as 40,8,10";
        let [from_move, moves, cp] = numbers(text, expected)?;
        match moves {
            0 => Err(RuleError { text: text.to_owned(), expected }),
            _ => Ok(DrawRule { from_move, moves, cp: cp as i32 }),
        }
    }
}

impl FromStr for ResignRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<ResignRule, RuleError> {
        let expected = "MOVES,CENTIPAWNS such as 4,600";
        // At 0 centipawns an equal position would be resigned.
        match numbers(text, expected)? {
            [0, _] | [_, 0] => Err(RuleError { text: text.to_owned(), expected }),
            [moves, cp] => Ok(ResignRule { moves, cp: cp as i32 }),
        }
    }
}

/// The rules by which games of a match are adjudicated.
#[derive(Clone, Default)]
pub struct Adjudication {
    /// Draws by evaluations.
    pub draw: Option<DrawRule>,
    /// Losses by evaluations.
    pub resign: Option<ResignRule>,
    /// Endgame tables that decide right after a capture or pawn move; a win that the fifty-move rule spoils is drawn.
    pub tables: Option<Arc<Tablebase>>,
    /// Moves of each side after which a game is drawn.
    pub move_limit: Option<u32>,
}

/// Counts of the evaluations of a game so far, by which the rules of [`Adjudication`] judge it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Course {
    plies: u32,
    /// Plies in a row whose evaluation was within the bounds of a draw.
    level: u32,
    /// Plies in a row at which both evaluations saw White, and saw Black, as lost.
    lost: [u32; 2],
}

impl Course {
    /// Judges the game after a move of `color`: the winner and why the game ends; `None` where it goes on.
    pub fn judge(
        &mut self,
        rules: &Adjudication,
        color: Color,
        evaluation: Option<Evaluation>,
        game: &Game,
    ) -> Option<(Option<Color>, Termination)> {
        self.plies += 1;
        let cp = evaluation.map(|evaluation| match evaluation.mate {
            Some(mate) => {
                if mate > 0 {
                    i32::MAX
                } else {
                    -i32::MAX
                }
            }
            None => evaluation.cp,
        });
        if let Some(tables) = &rules.tables
            && let Some(wdl) = tables.wdl(game.current())
        {
            let turn = game.current().turn();
            let winner = match wdl {
                1 => Some(turn),
                -1 => Some(turn.other()),
                _ => None,
            };
            return Some((winner, Termination::TablebaseAdjudication));
        }
        if let Some(rule) = rules.draw {
            let is_level = cp.is_some_and(|cp| cp.unsigned_abs() <= rule.cp.unsigned_abs());
            self.level = if is_level { self.level + 1 } else { 0 };
            if self.level >= 2 * rule.moves && self.plies.div_ceil(2) >= rule.from_move {
                return Some((None, Termination::DrawAdjudication));
            }
        }
        if let Some(rule) = rules.resign {
            for (side, loser) in [Color::White, Color::Black].into_iter().enumerate() {
                let of_loser = cp.map(|cp| if color == loser { cp } else { cp.saturating_neg() });
                let is_lost = of_loser.is_some_and(|cp| cp <= -rule.cp);
                self.lost[side] = if is_lost { self.lost[side] + 1 } else { 0 };
                if self.lost[side] >= 2 * rule.moves {
                    return Some((Some(loser.other()), Termination::ResignAdjudication));
                }
            }
        }
        let is_over_long = rules.move_limit.is_some_and(|moves| self.plies >= 2 * moves);
        is_over_long.then_some((None, Termination::MoveLimit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluation(cp: i32) -> Option<Evaluation> {
        Some(Evaluation { cp, mate: None, q: None })
    }

    /// The ply, from 1, at which these evaluations, each from its mover's side, end a game, and how.
    fn end(rules: &Adjudication, evaluations: &[Option<Evaluation>]) -> Option<(usize, Option<Color>, Termination)> {
        let (mut course, game) = (Course::default(), Game::new());
        evaluations.iter().enumerate().find_map(|(ply, evaluation)| {
            let color = if ply % 2 == 0 { Color::White } else { Color::Black };
            let (winner, termination) = course.judge(rules, color, *evaluation, &game)?;
            Some((ply + 1, winner, termination))
        })
    }

    #[test]
    fn a_draw_needs_both_players_for_some_moves_in_a_row() {
        let rules = Adjudication { draw: Some("3,2,10".parse().unwrap()), ..Adjudication::default() };
        let level = |n| vec![evaluation(5); n];
        assert_eq!(end(&rules, &level(20)), Some((5, None, Termination::DrawAdjudication)), "move 3 is the first");
        let disturbed = [level(3), vec![evaluation(-11)], level(3)].concat();
        assert_eq!(end(&rules, &disturbed), None);
        assert_eq!(end(&rules, &[disturbed, level(1)].concat()).map(|end| end.0), Some(8));
        let unsaid = [level(3), vec![None], level(3)].concat();
        assert_eq!(end(&rules, &unsaid), None, "a book move says nothing");
    }

    #[test]
    fn a_player_resigns_when_both_see_it_lost() {
        let rules = Adjudication { resign: Some("2,500".parse().unwrap()), ..Adjudication::default() };
        let course: Vec<_> = (0..10).map(|ply| evaluation(if ply % 2 == 0 { -500 } else { 600 })).collect();
        assert_eq!(end(&rules, &course), Some((4, Some(Color::Black), Termination::ResignAdjudication)));
        let one_sided: Vec<_> = (0..10).map(|ply| evaluation(if ply % 2 == 0 { -500 } else { 400 })).collect();
        assert_eq!(end(&rules, &one_sided), None);
        let mate = Some(Evaluation { cp: 0, mate: Some(-3), q: None });
        let mated: Vec<_> = (0..10).map(|ply| if ply % 2 == 0 { evaluation(900) } else { mate }).collect();
        assert_eq!(end(&rules, &mated), Some((4, Some(Color::White), Termination::ResignAdjudication)));
    }

    #[test]
    fn a_game_of_many_moves_is_drawn_where_there_is_a_limit() {
        let rules = Adjudication { move_limit: Some(3), ..Adjudication::default() };
        assert_eq!(end(&rules, &[evaluation(300); 9]), Some((6, None, Termination::MoveLimit)));
        assert_eq!(end(&Adjudication::default(), &[evaluation(0); 400]), None, "off unless asked for");
    }

    #[test]
    fn bad_rules_are_refused() {
        for text in ["", "40", "40,8", "40,0,10", "40,8,-1", "1,2,3,4", "a,b,c"] {
            assert!(text.parse::<DrawRule>().unwrap_err().to_string().starts_with(&format!("\"{text}\" is not")));
        }
        for text in ["0,600", "4,0", "4", "4,-1"] {
            assert!(text.parse::<ResignRule>().is_err(), "{text}");
        }
        assert_eq!("4,600".parse(), Ok(ResignRule { moves: 4, cp: 600 }));
    }
}
