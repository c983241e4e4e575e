//! Follows the game from move to move: its position, the tree below it, and whether its clock goes on.

use super::timed_move::TimedMove;
use super::{Engine, GoParams};
use crate::search::{Tree, WdlRescale};
use zeitnot_chess::{Game, Move};

/// The worth of a position to the side to move, by the searches that the kept tree has of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeValue {
    /// Visits.
    pub visits: u64,
    /// Win minus loss, -1 to 1, with what contempt adds.
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
        self.game = Game::new();
        match &mut self.tree {
            // The analysis of a file is of no one game.
            Some(tree) if self.tree_file.is_some() => {
                tree.follow(self.game.clone());
            }
            _ => {
                self.reset_tree();
                self.rescaled = WdlRescale::NONE;
            }
        }
        self.busy_until_ms = f64::NEG_INFINITY;
        self.random = None;
        self.game_seed = rand::random();
        (self.last_timed, self.next_by_board, self.missing_plies) = (None, None, 0);
        if let Some(time) = &mut self.time {
            time.new_game();
        }
        let is_to_repeat = self.options.random_seed != 0;
        if let Some(loaded) = &mut self.loaded {
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
        self.tree_file = None;
        match &mut self.tree {
            Some(tree) => tree.reset(self.game.clone()),
            None => self.tree = Some(Tree::new(self.game.clone())),
        }
        self.tree_changed();
    }

    /// Tells the time manager that the next tree does not continue the last tree that it knows.
    pub(super) fn tree_changed(&mut self) {
        if let Some(time) = &mut self.time {
            time.tree_changed();
        }
    }

    /// Memory that the tree takes, in bytes; 0 while a search has the tree.
    #[cfg(any(test, feature = "testing"))]
    pub fn tree_bytes(&self) -> usize {
        self.tree.as_ref().map_or(0, Tree::bytes)
    }

    /// Visits that the next search begins with, without those of excluded root moves; 0 while a search has the tree.
    pub fn tree_visits(&self) -> u64 {
        self.tree.as_ref().map_or(0, |tree| u64::from(tree.visits() - tree.excluded_visits()))
    }

    /// Plies that the network expects to follow, by the kept tree; `None` without a moves-left head or a visit.
    pub fn tree_moves_left(&self) -> Option<f64> {
        let has_moves_left = self.attributes().is_some_and(|attributes| attributes.has_moves_left);
        self.tree.as_ref().and_then(Tree::moves_left).filter(|_| has_moves_left)
    }

    /// The worth of the position by the kept tree; `None` without a visit, and while a search has the tree.
    pub fn tree_value(&self) -> Option<TreeValue> {
        let tree = self.tree.as_ref().filter(|tree| !tree.is_empty())?;
        let (q, d) = tree.root_value();
        let m = self.tree_moves_left().map(|m| m as f32);
        Some(TreeValue { visits: self.tree_visits(), q, d, m, moves: tree.visited_moves() })
    }

    /// The game as it stands.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Takes up the end of `game`. If it continues the game so far, tree and time manager are kept. If it came without
    /// moves but its position can be the next of the game so far, the time manager is kept, provided that the clock of
    /// the next search fits, too.
    pub fn set_game(&mut self, game: Game) {
        self.finish();
        let tree = self.tree.get_or_insert_with(|| Tree::new(game.clone()));
        self.reply_prior = tree.reply_prior(&game);
        let continues = tree.follow(game.clone());
        self.game = game;
        if continues {
            return;
        }
        let position = self.game.current();
        let ply = self.last_timed.as_ref().and_then(|last| last.ply_of(position));
        self.next_by_board = ply.map(|ply| ply.saturating_sub(position.ply()));
        if self.next_by_board.is_none() {
            self.other_game();
        }
    }

    /// Notes that a search begins. If its position came without moves, the clock decides whether the game goes on.
    pub(super) fn note_clock(&mut self, params: &GoParams, start_ms: f64) {
        let position = self.game.current();
        if params.clock(position.turn()).is_none() {
            return;
        }
        let fits = |last: &TimedMove| last.fits(position, params, start_ms);
        match self.next_by_board.take() {
            Some(missing_plies) if self.last_timed.as_ref().is_some_and(fits) => self.missing_plies = missing_plies,
            Some(_) => self.other_game(),
            None => {}
        }
        let position = self.game.current().clone();
        self.last_timed = Some(TimedMove { ply: self.ply(), position, go: params.clone(), start_ms });
    }

    /// The ply of the current position in the game, also where the counters of its FEN lack plies.
    pub(super) fn ply(&self) -> u32 {
        self.game.current().ply().saturating_add(self.missing_plies)
    }

    pub(super) fn other_game(&mut self) {
        (self.last_timed, self.missing_plies) = (None, 0);
        self.game_seed = rand::random();
        let keep_time_stats = self.options.keep_time_stats;
        if let Some(time) = &mut self.time {
            time.other_game(keep_time_stats);
        }
    }
}
