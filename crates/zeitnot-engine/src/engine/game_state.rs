//! Holds one game: its position, the tree below it, and its clock.

use super::GoParams;
use super::book::polyglot_key;
use super::timed_move::TimedMove;
use crate::search::{Tree, WdlRescale};
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt as _, SeedableRng as _};
use std::collections::BTreeMap;
use zeitnot_base::splitmix::mix;
use zeitnot_chess::Game;
use zeitnot_network::Ratings;
use zeitnot_time::Timekeeper;

/// The game of an engine.
pub(super) struct GameState {
    pub game: Game,
    /// `None` while a search has the tree.
    pub tree: Option<Tree>,
    /// The timekeeper of the game; `None` while a search has it.
    pub time: Option<Timekeeper>,
    pub grown: Grown,
    /// The last move of the game that was searched on a clock.
    pub last_timed: Option<TimedMove>,
    /// Set for a position that came without moves and can be the game's next one: the plies by which its FEN's counters
    /// lag behind the game. The clock of its search decides whether the game goes on.
    pub next_by_board: Option<u32>,
    /// Plies by which the counters of the game's FENs lag behind the game.
    pub missing_plies: u32,
    /// The network's prior of the reply that the opponent has just played, by the last search.
    pub reply_prior: Option<f32>,
    /// Seed of the choice between two levels and of the `human` time manager, used without a `RandomSeed`.
    pub seed: u64,
    /// Source of the seeds for the searches of a game; `None` before the first one, and without `RandomSeed`.
    pub random: Option<Xoshiro256PlusPlus>,
}

/// The settings under which a tree got its values.
pub(super) struct Grown {
    /// Rescaling by which the values were computed.
    pub rescaled: WdlRescale,
    /// Ratings that the network got with the tree's positions; `None` for a network that takes none.
    pub rated: Option<Ratings>,
    /// The options that decide what a tree holds; `None` before the first search.
    pub decisive: Option<BTreeMap<String, String>>,
}

impl GameState {
    pub(super) fn new(time: Timekeeper) -> GameState {
        let game = Game::new();
        GameState {
            tree: Some(Tree::new(game.clone())),
            game,
            time: Some(time),
            grown: Grown { rescaled: WdlRescale::NONE, rated: None, decisive: None },
            last_timed: None,
            next_by_board: None,
            missing_plies: 0,
            reply_prior: None,
            seed: rand::random(),
            random: None,
        }
    }

    /// The ply of the current position in the game, corrected where the counters of its FEN lag behind.
    pub(super) fn ply(&self) -> u32 {
        self.game.current().ply().saturating_add(self.missing_plies)
    }

    /// Tells the time manager that the next tree does not continue the last tree that it knows.
    pub(super) fn tree_changed(&mut self) {
        if let Some(time) = &mut self.time {
            time.tree_changed();
        }
    }

    /// Begins another game, of which nothing but the position is known. `keep_time_stats`: the manager keeps its
    /// estimates.
    pub(super) fn other_game(&mut self, keep_time_stats: bool) {
        (self.last_timed, self.missing_plies) = (None, 0);
        self.seed = rand::random();
        if let Some(time) = &mut self.time {
            time.other_game(keep_time_stats);
        }
    }

    /// Notes the clock, if any, with which a search begins. For a position that came without moves it decides whether
    /// the game goes on or another begins.
    pub(super) fn note_clock(&mut self, params: &GoParams, start_ms: f64, keep_time_stats: bool) {
        let position = self.game.current();
        if params.clock(position.turn()).is_none() {
            return;
        }
        let fits = |last: &TimedMove| last.fits(position, params, start_ms);
        match self.next_by_board.take() {
            Some(missing_plies) if self.last_timed.as_ref().is_some_and(fits) => self.missing_plies = missing_plies,
            Some(_) => self.other_game(keep_time_stats),
            None => {}
        }
        let position = self.game.current().clone();
        self.last_timed = Some(TimedMove { ply: self.ply(), position, go: params.clone(), start_ms });
    }

    /// The seed of the next search; `fixed`: `RandomSeed`, if it is not 0.
    pub(super) fn next_seed(&mut self, fixed: u64) -> u64 {
        match fixed {
            0 => rand::random(),
            seed => self.random.get_or_insert_with(|| Xoshiro256PlusPlus::seed_from_u64(seed)).random(),
        }
    }

    /// The seed of the game; `fixed`: `RandomSeed`, if it is not 0.
    pub(super) fn seed(&self, fixed: u64) -> u64 {
        if fixed == 0 { self.seed } else { fixed }
    }

    /// A number from 0 to below 1 that depends on the position, its ply and the seed of the game alone. `fixed`: as in
    /// [`GameState::next_seed`].
    pub(super) fn chance(&self, fixed: u64) -> f64 {
        let drawn = mix(polyglot_key(self.game.current()) ^ mix(self.seed(fixed) ^ u64::from(self.ply())));
        (drawn >> 11) as f64 / (1u64 << 53) as f64
    }
}
