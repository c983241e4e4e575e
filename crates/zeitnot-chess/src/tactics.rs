//! Short tactics by the rules of chess alone: mates by checks, and material that is won at once.

use super::material::{balance, value};
use super::position::legal_moves;
use super::{FIFTY_MOVES_PLIES, Move, Position};
use shakmaty::{Chess, Position as _};

/// Most positions that a proof, or a search for material, may look at.
const MOST_POSITIONS: u32 = 20_000;
/// The worth of a mate in pawns.
const MATE: i32 = 1000;
/// Plies of quiescence search after a search for material: only captures, promotions and ways out of check.
const QUIET_PLIES: i32 = 6;

/// The line of the shortest forced mate in at most `plies` plies in which every move of the side to move gives check.
/// The replies in it hold out longest. `None` where none is found.
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

/// The move that wins the most material, one pawn or more, by a search of `plies` plies and of the captures after them.
/// `None` where none does, or the search would take too many positions.
pub fn winning_material(position: &Position, plies: i32) -> Option<Move> {
    let chess = position.chess();
    let mut left = MOST_POSITIONS;
    let (mut most, mut best) = (balance(chess), None);
    for mv in captures_first(chess, false) {
        let mut after = chess.clone();
        after.play_unchecked(mv);
        let worth = -material(&after, plies - 1, -MATE, -most, &mut left);
        if worth > most {
            (most, best) = (worth, Some(mv));
        }
    }
    best.filter(|_| left > 0)
}

/// Material balance that the side to move reaches, by alpha-beta between `least` and `most`. `left`: positions that may
/// still be looked at.
fn material(chess: &Chess, plies: i32, least: i32, most: i32, left: &mut u32) -> i32 {
    *left = left.saturating_sub(1);
    let is_check = chess.is_check();
    let stands = balance(chess);
    if *left == 0 || plies <= -QUIET_PLIES {
        return stands;
    }
    let is_quiet = plies <= 0 && !is_check;
    let moves = captures_first(chess, is_quiet);
    if moves.is_empty() && !is_quiet {
        return if is_check { -MATE } else { 0 };
    }
    let mut best = if is_quiet { stands } else { -MATE };
    for mv in moves {
        if best >= most {
            break;
        }
        let mut after = chess.clone();
        after.play_unchecked(mv);
        best = best.max(-material(&after, plies - 1, -most, -best.max(least), left));
    }
    best
}

/// The legal moves, those that win the most first; with `only`, captures and promotions alone.
fn captures_first(chess: &Chess, only: bool) -> Vec<Move> {
    let gain = |mv: &Move| mv.capture().map_or(0, value) + mv.promotion().map_or(0, value);
    let mut moves: Vec<Move> = legal_moves(chess).into_iter().filter(|mv| !only || gain(mv) > 0).collect();
    moves.sort_by_key(|mv| -gain(mv));
    moves
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
            ("r6k/6pp/7N/8/2Q5/8/8/6K1 w - - 0 1", Some(3), "c4g8"),
            // A quiet move mates in two, and no check does.
            ("7k/8/5K2/8/8/8/8/6R1 w - - 0 1", None, ""),
            ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", None, ""),
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

    #[test]
    fn material_that_is_won_at_once_is_found() {
        for (fen, best) in [
            // The rook that takes the queen leaves the last rank.
            ("3r2k1/5ppp/8/3b4/8/8/5PPP/3QR1K1 w - - 0 1", "d1d5"),
            // A fork.
            ("r3k3/8/8/3N4/8/8/8/4K3 w q - 0 1", "d5c7"),
            // Defended, and nothing else to win.
            ("4k3/8/2p5/3p4/8/3Q4/8/4K3 w - - 0 1", ""),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", ""),
            ("k7/8/8/8/8/8/1q6/K7 w - - 0 1", "a1b2"),
        ] {
            let found = winning_material(Game::from_fen(fen, false).unwrap().current(), 3);
            assert_eq!(found.map(|mv| super::super::to_uci(mv, false)).unwrap_or_default(), best, "{fen}");
        }
    }
}
