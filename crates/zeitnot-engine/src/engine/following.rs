//! Follows the game from move to move: its position, the tree below it, and whether its clock goes on.

use super::Engine;
use super::game_state::GameState;
use crate::search::{Tree, WdlRescale};
use zeitnot_chess::{Game, Move};

/// The kept tree's evaluation of its root, from the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeValue {
    /// Visits.
    pub visits: u64,
    /// Win minus loss, -1 to 1, contempt included.
    pub q: f32,
    /// Probability of a draw.
    pub d: f32,
    /// Plies left; `None` when the network does not say.
    pub m: Option<f32>,
    /// Visited moves, the most visited first, and their visits.
    pub moves: Vec<(Move, u32)>,
}

impl Engine {
    /// Forgets the game: tree, cached evaluations and how long they took, everything the time manager learned, the
    /// measured lag. With a `RandomSeed` other than 0 nothing in the next game depends on the games before.
    pub fn new_game(&mut self) {
        self.finish();
        self.state.game = Game::new();
        match &mut self.state.tree {
            // The analysis of a file is of no one game.
            Some(tree) if self.shelf.tree_file.is_some() => {
                tree.follow(self.state.game.clone());
            }
            _ => {
                self.reset_tree();
                self.state.grown.rescaled = WdlRescale::NONE;
            }
        }
        self.running.busy_until_ms = f64::NEG_INFINITY;
        let GameState { time, last_timed, next_by_board, missing_plies, seed, random, .. } = &mut self.state;
        (*last_timed, *next_by_board, *missing_plies) = (None, None, 0);
        (*seed, *random) = (rand::random(), None);
        if let Some(time) = time {
            time.new_game();
        }
        let is_to_repeat = self.options.random_seed != 0;
        if let Some(loaded) = &mut self.device.loaded {
            loaded.new_game(is_to_repeat);
        }
    }

    /// Forgets the tree.
    pub fn clear_tree(&mut self) {
        self.finish();
        self.reset_tree();
    }

    /// Gives up the tree. The file of `TreeFile` keeps it, and is taken up again by the next analysis.
    pub(super) fn reset_tree(&mut self) {
        self.save_tree_file();
        self.shelf.tree_file = None;
        match &mut self.state.tree {
            Some(tree) => tree.reset(self.state.game.clone()),
            None => self.state.tree = Some(Tree::new(self.state.game.clone())),
        }
        self.state.tree_changed();
    }

    /// Memory that the tree takes, in bytes; 0 while a search has the tree.
    #[cfg(any(test, feature = "testing"))]
    pub fn tree_bytes(&self) -> usize {
        self.state.tree.as_ref().map_or(0, Tree::bytes)
    }

    /// Visits that the next search begins with, without those of excluded root moves; 0 while a search has the tree.
    pub fn tree_visits(&self) -> u64 {
        self.state.tree.as_ref().map_or(0, |tree| u64::from(tree.visits() - tree.excluded_visits()))
    }

    /// Plies that the network expects to follow, by the kept tree; `None` without a moves-left head or a visit.
    pub fn tree_moves_left(&self) -> Option<f64> {
        let has_moves_left = self.attributes().is_some_and(|attributes| attributes.has_moves_left);
        self.state.tree.as_ref().and_then(Tree::moves_left).filter(|_| has_moves_left)
    }

    /// The kept tree's evaluation of the current position; `None` without a visit, and while a search has the tree.
    pub fn tree_value(&self) -> Option<TreeValue> {
        let tree = self.state.tree.as_ref().filter(|tree| !tree.is_empty())?;
        let (q, d) = tree.root_value();
        let m = self.tree_moves_left().map(|m| m as f32);
        Some(TreeValue { visits: self.tree_visits(), q, d, m, moves: tree.visited_moves() })
    }

    /// The game as it stands.
    pub fn game(&self) -> &Game {
        &self.state.game
    }

    /// Makes the end of `game` the current position. If it continues the game so far, tree and time manager are kept.
    /// If it came without moves but its position can be the next of the game so far, the time manager is kept, provided
    /// that the clock of the next search fits, too.
    pub fn set_game(&mut self, game: Game) {
        self.finish();
        let tree = self.state.tree.get_or_insert_with(|| Tree::new(game.clone()));
        self.state.reply_prior = tree.reply_prior(&game);
        let continues = tree.follow(game.clone());
        self.state.game = game;
        if continues {
            return;
        }
        let position = self.state.game.current();
        let ply = self.state.last_timed.as_ref().and_then(|last| last.ply_of(position));
        self.state.next_by_board = ply.map(|ply| ply.saturating_sub(position.ply()));
        if self.state.next_by_board.is_none() {
            self.state.other_game(self.options.keep_time_stats);
        }
    }
}
