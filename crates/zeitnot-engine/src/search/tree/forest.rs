//! Keeps the positions that were searched (`TreeMemory=forest`): who steps back, forth and aside through an analysis
//! finds each position as its last search left it (lc0's issues 517, 1455 and 1543).
//!
//! Every root is a shared position (see `transpositions`), owned by the forest until memory is wanted; then the one that
//! was left first is felled first, but for what others have in common with it. A move counts the visits that went
//! through it, so that a root has only visits that searches through it gave, and learns of what was found below it by
//! other roots when a visit passes.

use super::Tree;
use super::node::NodeId;
use super::position_table::{self, Identity, RUN};
use super::reuse::goes_on;
use crate::chess::Game;

impl Tree {
    /// Makes the end of the game the root of an empty forest. In other trees it does nothing.
    pub(super) fn plant(&mut self) {
        if let Some(kept) = &mut self.kept {
            kept.clear();
            self.root = self.owned_position(Identity::of(self.game.current()));
        }
    }

    /// Moves the root to the end of `game`, and keeps the old one. Returns whether `game` goes on from the old game.
    pub(super) fn step_to(&mut self, game: Game) -> bool {
        let continues = goes_on(&self.game, &game);
        let (old, next) = (Identity::of(self.game.current()), Identity::of(game.current()));
        self.forget_alternatives();
        if old != next {
            self.restrict_root(&[]);
            self.set_root_noise(None);
            let root = self.owned_position(next);
            self.leave(root);
            self.root = root;
            self.restart_if_forgotten();
            self.prepare_root(game.current());
        }
        self.game = game;
        self.arrive();
        continues
    }

    /// Puts the root among the kept positions, if it was visited, and takes `next` out of them.
    fn leave(&mut self, next: NodeId) {
        let root = self.root;
        let is_known = self[root].n > 0;
        let Some(kept) = &mut self.kept else { return };
        let was_kept = kept.iter().position(|known| *known == next).map(|index| kept.remove(index)).is_some();
        if is_known {
            kept.push(root);
        } else {
            self.release_position(root);
        }
        if was_kept {
            // The root owns it now.
            position_table::record_mut(&mut self.nodes, next).references -= 1;
        }
    }

    /// The shared position of this identity, which is made if it is not known, with one more owner.
    pub(super) fn owned_position(&mut self, identity: Identity) -> NodeId {
        let known = self.shared.as_ref().and_then(|shared| shared.table.find(&self.nodes, identity));
        let position = known.unwrap_or_else(|| self.new_position(identity));
        position_table::record_mut(&mut self.nodes, position).references += 1;
        position
    }

    /// A shared position without an owner, put into the table.
    pub(super) fn new_position(&mut self, identity: Identity) -> NodeId {
        let position = NodeId(self.take_nodes(RUN));
        if let Some(shared) = &mut self.shared {
            shared.table.insert(&mut self.nodes, position, identity);
        }
        position
    }

    /// Gives up the kept position that was left first. Returns whether there was one.
    pub(super) fn fell_oldest(&mut self) -> bool {
        let Some(kept) = self.kept.as_mut().filter(|kept| !kept.is_empty()) else { return false };
        let oldest = kept.remove(0);
        self.release_position(oldest);
        true
    }
}

#[cfg(test)]
#[path = "forest_tests.rs"]
pub(super) mod tests;
