//! What a new leaf is: an end of the game, or a position for the network (lc0.md C.5).

use super::node::{Edge, NodeId, Terminal};
use super::params::SearchParams;
use super::tree::Tree;
use crate::chess::{Game, Move, Position};

/// Plies from the root before a first repetition may count as a draw.
const TWO_FOLD_MINIMUM_DEPTH: u32 = 4;

/// Plies without capture or pawn move after which the game is drawn.
const RULE50_DRAW: u32 = 100;

/// An end of the game at a leaf.
struct End {
    /// For the player who moved here: 1 mates, 0 draws.
    result: i8,
    m: f32,
    kind: Terminal,
}

/// Marks the leaf as terminal if the game ends there, and returns its legal moves otherwise.
/// `depth`: plies below the root; `game` stands at the leaf.
pub(super) fn legal_moves_or_end(
    tree: &mut Tree,
    id: NodeId,
    depth: u32,
    game: &Game,
    params: &SearchParams,
) -> Option<Vec<Move>> {
    let position = game.current();
    let moves = position.legal_moves();
    let end = match moves.is_empty() {
        true if position.is_check() => Some(End { result: 1, m: 0.0, kind: Terminal::End }),
        true => Some(End { result: 0, m: 0.0, kind: Terminal::End }),
        // The root is searched even where the game could be claimed as drawn.
        false if depth == 0 => None,
        false => draw(position, depth, params),
    };
    match end {
        Some(end) => {
            make_terminal(tree, id, end.result, end.m, end.kind);
            None
        }
        None => Some(moves.into_iter().collect()),
    }
}

fn draw(position: &Position, depth: u32, params: &SearchParams) -> Option<End> {
    let (repetitions, cycle) = (position.repetitions(), position.cycle_length());
    if position.is_insufficient_material() || position.rule50() >= RULE50_DRAW || repetitions >= 2 {
        return Some(End { result: 0, m: 0.0, kind: Terminal::End });
    }
    let two_fold = repetitions == 1 && params.two_fold_draws && depth >= TWO_FOLD_MINIMUM_DEPTH && depth >= cycle;
    two_fold.then_some(End { result: 0, m: cycle as f32, kind: Terminal::TwoFold })
}

/// Makes a node terminal. A lost move keeps no prior: no doubt about it is left that exploring could resolve.
pub(super) fn make_terminal(tree: &mut Tree, id: NodeId, result: i8, m: f32, kind: Terminal) {
    tree[id].make_terminal(result, m, kind);
    if result == -1
        && let Some(parent) = tree[id].parent
    {
        let index = usize::from(tree[id].edge_index);
        tree[parent].edges[index].p = 0.0;
    }
}

/// The edges of an evaluated node: priors are the softmax of the logits over the policy temperature, largest first.
pub(super) fn edges(moves: &[Move], logits: &[f32], temperature: f32) -> Box<[Edge]> {
    debug_assert_eq!(moves.len(), logits.len());
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut edges: Vec<Edge> = moves
        .iter()
        .zip(logits)
        .map(|(mv, logit)| Edge { mv: *mv, p: ((logit - largest) / temperature).exp(), child: None })
        .collect();
    let sum: f32 = edges.iter().map(|edge| edge.p).sum();
    for edge in &mut edges {
        edge.p /= sum;
    }
    edges.sort_by(|a, b| b.p.total_cmp(&a.p));
    edges.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end_after(fen: &str, moves: &[&str], depth: u32) -> Option<(i8, f32, Terminal)> {
        let mut game = Game::from_fen(fen, false).unwrap();
        for mv in moves {
            game.push_uci(mv).unwrap();
        }
        let mut tree = Tree::new(Game::new());
        let root = tree.root();
        match legal_moves_or_end(&mut tree, root, depth, &game, &SearchParams::LC0) {
            Some(_) => None,
            None => Some((tree[root].wl as i8, tree[root].m, tree[root].terminal)),
        }
    }

    #[test]
    fn ends_of_the_game() {
        let end = |result, m| Some((result, m, Terminal::End));
        assert_eq!(end_after("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", &[], 1), end(1, 0.0), "mate");
        assert_eq!(end_after("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", &[], 1), end(0, 0.0), "stalemate");
        assert_eq!(end_after("7k/6Q1/6K1/8/8/8/8/8 b - - 100 90", &[], 1), end(1, 0.0), "mate goes before the counter");
        assert_eq!(end_after("7k/8/6K1/8/8/8/8/R7 b - - 100 90", &[], 1), end(0, 0.0), "fifty moves");
        assert_eq!(end_after("7k/8/6K1/8/8/8/8/R7 b - - 99 90", &[], 1), None);
        assert_eq!(end_after("7k/8/6K1/8/8/8/8/8 b - - 0 1", &[], 1), end(0, 0.0), "bare kings");
        assert_eq!(end_after("7k/8/6K1/8/8/8/8/8 b - - 0 1", &[], 0), None, "the root is searched all the same");
    }

    #[test]
    fn repetitions() {
        let shuffle = ["g1f3", "g8f6", "f3g1", "f6g8"];
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
        assert_eq!(end_after(start, &shuffle, 4), Some((0, 4.0, Terminal::TwoFold)));
        assert_eq!(end_after(start, &shuffle, 3), None, "the first occurrence lies above the root");
        assert_eq!(end_after(start, &[shuffle, shuffle].concat(), 1), Some((0, 0.0, Terminal::End)), "three-fold");
    }

    #[test]
    fn priors_are_a_sorted_softmax() {
        let moves: Vec<Move> = Game::new().current().legal_moves().into_iter().take(3).collect();
        let edges = edges(&moves, &[0.0, 2.0, 1.0], 2.0);
        assert_eq!(edges.iter().map(|edge| edge.mv).collect::<Vec<_>>(), [moves[1], moves[2], moves[0]]);
        // exp(0), exp(-1/2), exp(-1) over their sum 1.974410.
        for (edge, p) in edges.iter().zip([0.506_480, 0.307_196, 0.186_324]) {
            assert!((edge.p - p).abs() < 1e-5, "{} {p}", edge.p);
        }
    }
}
