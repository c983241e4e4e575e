//! Looks once, without the network, at a move that a very small search has chosen, before it is played: the policy of
//! one node does not see that its move ends the game.

use std::cmp::Ordering;
use zeitnot_chess::{Game, Move, balance, best_by_material};

/// Corrects `first`, the choice of `pick` among `moves`: any mate is played instead; where the choice lets the opponent
/// mate, the next pick; where it draws, the next pick if `better` than a draw. Returns the move and whether it mates.
pub(crate) fn look(
    game: &Game,
    moves: &[Move],
    first: Move,
    mut pick: impl FnMut(&[Move]) -> Option<Move>,
    better: impl Fn(Move) -> bool,
) -> (Move, bool) {
    let mate = |moves: &[Move]| best_by_material(game.current(), moves).filter(|choice| choice.mates);
    if let Some(mate) = mate(&[first]).or_else(|| mate(moves)) {
        return (mate.mv, true);
    }
    let (mut left, mut next, mut drawing) = (moves.to_vec(), Some(first), None);
    while let Some(mv) = next {
        match effect(game, mv) {
            Ordering::Greater => return (drawing.filter(|_| !better(mv)).unwrap_or(mv), false),
            Ordering::Equal => drawing = drawing.or(next),
            Ordering::Less => {}
        }
        left.retain(|other| *other != mv);
        next = pick(&left);
    }
    (drawing.unwrap_or(first), false)
}

/// The best of `moves` by material, corrected by [`look`], and whether it mates; `None` without a move.
pub(crate) fn look_by_material(game: &Game, moves: &[Move]) -> Option<(Move, bool)> {
    let position = game.current();
    let pick = |left: &[Move]| best_by_material(position, left).map(|choice| choice.mv);
    Some(look(game, moves, pick(moves)?, pick, |_| balance(position.chess()) > 0))
}

/// The effect of a move that does not mate on the side that makes it: `Less` where a reply mates, `Equal` where the
/// game is drawn, at once or by a reply, else `Greater`.
fn effect(game: &Game, mv: Move) -> Ordering {
    let after = game.current().after(mv, game.positions());
    let replies = after.legal_moves();
    let earlier = [game.positions(), std::slice::from_ref(&after)].concat();
    let end = |reply: &Move| {
        let end = after.after(*reply, &earlier);
        end.outcome(&end.legal_moves())
    };
    let ends: Vec<_> = replies.iter().filter_map(end).collect();
    match after.outcome(&replies) {
        None if ends.iter().any(|end| end.winner().is_some()) => Ordering::Less,
        None if ends.is_empty() => Ordering::Greater,
        _ => Ordering::Equal,
    }
}

#[cfg(test)]
#[path = "last_look_tests.rs"]
mod tests;
