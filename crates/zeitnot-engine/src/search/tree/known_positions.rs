//! Recognises positions by what decides their value, and merges what two trees know of one position.

use super::Tree;
use super::node::{Node, NodeId, Terminal};
use shakmaty::Position as _;
use zeitnot_base::splitmix::mix;
use zeitnot_chess::{Game, Position};

/// The position that a tree begins with.
#[derive(Clone, Debug)]
pub(crate) struct Top {
    pub node: NodeId,
    /// The board with its rights, and the fifty-move counter.
    pub position: Position,
    /// Hash of the earlier positions that can still repeat, in any order.
    pub history: u64,
    /// The greatest mean depth of a search in the tree, in plies.
    pub depth: u32,
}

impl Top {
    /// The top at the end of `game`.
    pub(crate) fn of(game: &Game, node: NodeId) -> Top {
        Top { node, position: game.current().clone(), history: history(game.positions()), depth: 0 }
    }

    /// Whether `position` has the value of this top: equal key, fifty-move counter and hash of earlier positions.
    pub(super) fn is(&self, position: &Position, history: impl FnOnce() -> u64) -> bool {
        let facts = |position: &Position| (position.key(), position.rule50());
        facts(&self.position) == facts(position) && self.history == history()
    }
}

/// The hash of those positions before the last that can still repeat.
fn history(positions: &[Position]) -> u64 {
    let (last, earlier) = positions.split_last().expect("a game always holds its start position");
    let rights = |position: &Position| position.chess().castles().castling_rights();
    // A right to castle that is gone does not come back.
    let run = earlier.iter().rev().take(last.rule50() as usize).filter(|position| rights(position) == rights(last));
    run.map(|position| mix(position.key())).fold(0, u64::wrapping_add)
}

impl Tree {
    /// The index of the top that is the same as the last of a game's `positions`.
    pub(super) fn find_top(&self, positions: &[Position]) -> Option<usize> {
        let last = positions.last()?;
        self.tops.iter().position(|top| top.is(last, || history(positions)))
    }

    /// Takes up what other trees know of the positions after the root's moves.
    pub(crate) fn take_up_known_positions(&mut self) {
        if self.tops.len() < 2 {
            return;
        }
        let (root, mut game) = (self.root, self.game.clone());
        for mv in game.current().legal_moves() {
            let Some(index) = self.move_index(&self[root], self.game.current(), mv) else { continue };
            game.push(mv);
            if let Some(other) = self.find_top(game.positions()).filter(|top| top + 1 < self.tops.len()) {
                self.take_up_behind(root, index, other, game.current());
            }
            game.truncate(self.game.moves().len());
        }
    }

    /// Takes up what the tree with the top `top` knows of `position`, to which move `index` of `parent` leads; corrects
    /// the value of `parent`.
    pub(super) fn take_up_behind(&mut self, parent: NodeId, index: usize, top: usize, position: &Position) {
        let child = self.child(parent, index);
        let before = self[child];
        self.take_up(child, top);
        if before.n == 0 && position.outcome(&position.legal_moves()).is_some() {
            self[child].make_terminal(0, 0.0, Terminal::End);
        } else if self.proves && !self[child].is_terminal() {
            self.prove(child, Some((parent, index)), None);
        }
        let after = self[child];
        self.correct(parent, &before, &after);
    }

    /// Gives a node what the tree with the top `top` knows of its position; that tree is then given up.
    pub(super) fn take_up(&mut self, id: NodeId, top: usize) {
        self.unite(id, self.tops[top].node);
        self.discard_top(top);
    }

    /// Merges the subtrees of two nodes of one position. At each position that both have, that of `id` gets the node
    /// with more visits, that of `other` the other; visits through a node of `id` stay counted.
    fn unite(&mut self, id: NodeId, other: NodeId) {
        let mut open = vec![(id, other)];
        while let Some((id, other)) = open.pop() {
            let (here, there) = (self[id], self[other]);
            if !there.has_edges() {
                continue;
            }
            let known = self.known_visits(&there);
            if known > self.known_visits(&here) || !here.has_edges() {
                self[id] = Node { in_flight: here.in_flight, ..there };
                self.set_visits(id, here.n);
                if here.is_terminal() {
                    self[id].take_result_of(&here);
                }
                self[other] = here;
            }
            let small = self[other];
            for index in 0..usize::from(small.children) {
                let (Some(view), Some(below)) = (self.view(&small), self.existing_child(&small, index)) else { break };
                if !self[below].has_edges() {
                    continue;
                }
                let same =
                    self.view(&self[id]).and_then(|here| here.moves.iter().position(|mv| *mv == view.moves[index]));
                if let Some(same) = same {
                    open.push((self.child(id, same), below));
                }
            }
        }
    }
}
