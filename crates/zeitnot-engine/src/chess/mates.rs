//! Proves short mates by checks alone.

use super::position::legal_moves;
use super::{FIFTY_MOVES_PLIES, Move, Position};
use shakmaty::{Chess, Position as _};

/// Most positions that a proof may look at.
const MOST_POSITIONS: u32 = 20_000;

/// The line of the shortest mate in at most `plies` plies in which every move of the side to move gives check, whatever
/// the other side replies; of the replies it has one that holds out longest.
pub fn mate_by_checks(position: &Position, plies: u32) -> Option<Vec<Move>> {
    let mut left = MOST_POSITIONS;
    let most = plies.min(FIFTY_MOVES_PLIES.saturating_sub(position.rule50()));
    (1..=most).step_by(2).find_map(|plies| mate(position.chess(), plies, &mut left))
}

fn mate(chess: &Chess, plies: u32, left: &mut u32) -> Option<Vec<Move>> {
    legal_moves(chess).into_iter().find_map(|mv| {
        *left = left.checked_sub(1)?;
        let mut checked = chess.clone();
        checked.play_unchecked(mv);
        let replies = legal_moves(&checked);
        if !checked.is_check() || plies == 1 && !replies.is_empty() {
            return None;
        }
        let mut longest = Vec::new();
        for reply in replies {
            let mut next = checked.clone();
            next.play_unchecked(reply);
            let line = mate(&next, plies - 2, left)?;
            if line.len() >= longest.len() {
                longest = [vec![reply], line].concat();
            }
        }
        Some([vec![mv], longest].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::super::Game;
    use super::*;

    #[test]
    fn mates_by_checks_are_found() {
        for (fen, plies, first) in [
            // Two checks drive the king into the third (Qxa7 in a club player's game).
            ("2r3k1/Qp1b2pp/4p3/3P2q1/8/5n2/PP5P/1K1R1B1R b - - 0 1", Some(5), ""),
            ("6k1/5ppp/8/8/8/8/8/R6K w - - 0 1", Some(1), "a1a8"),
            ("6k1/5ppp/8/8/8/8/8/R6K w - - 99 90", Some(1), "a1a8"),
            ("6k1/5ppp/8/8/8/8/8/R6K b - - 0 1", None, ""),
            // Smothered.
            ("6rk/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1", Some(1), "h6f7"),
            ("5r1k/6pp/8/6N1/2Q5/8/8/6K1 w - - 0 1", Some(5), ""),
            // A quiet move mates in two, and no check does.
            ("7k/8/5K2/8/8/8/8/6R1 w - - 0 1", None, ""),
            ("4k3/8/8/8/8/8/8/8 w - - 0 1", None, ""),
        ] {
            let game = Game::from_fen(fen, false).unwrap();
            let line = mate_by_checks(game.current(), 5);
            assert_eq!(line.as_ref().map(Vec::len), plies, "{fen} {line:?}");
            let Some(line) = line else { continue };
            assert!(super::super::to_uci(line[0], false).starts_with(first), "{fen} {line:?}");
            let mut after = game.clone();
            line.iter().for_each(|mv| after.push(*mv));
            assert_eq!(after.outcome().and_then(|outcome| outcome.winner()), Some(game.current().turn()), "{fen}");
            assert_eq!(mate_by_checks(game.current(), plies.unwrap() as u32 - 1), None, "{fen}");
        }
    }
}
