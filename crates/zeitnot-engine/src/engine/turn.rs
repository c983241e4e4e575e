//! Decides what one `go` means: the options that are played, the limits, the clock, and what the tree keeps.

use super::strength::{Manner, is_start};
use super::words::TreeMemory;
use super::{Engine, GoParams, Options, SearchAlgorithm, SideClock, contempt};
use crate::search::SearchParams;
use zeitnot_base::splitmix::mix;
use zeitnot_time::SearchLimits;
use zeitnot_time::managers::human;

/// Everything that one `go` means, decided once.
pub(super) struct Turn {
    /// The parameters as they came.
    pub go: GoParams,
    /// The clock of the side to move.
    pub clock: Option<SideClock>,
    /// The level, or a Maia's manner, that the move is played in.
    pub manner: Option<Manner>,
    /// The options that the move is played with.
    pub options: Options,
    /// The limits besides the clock.
    pub limits: SearchLimits,
    /// The parameters of the search.
    pub search: SearchParams,
    /// The specification of the time manager that plays the game.
    pub manager: String,
    pub positions: Positions,
}

/// The positions that a tree keeps.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Positions {
    /// Only the positions below the current one.
    OfGame,
    /// All positions that an analysis searches; it has no clock.
    All,
    /// All positions if the tree has kept all so far, so that a move on a clock goes on in the tree of an analysis.
    AsBefore,
}

impl Engine {
    /// Works out what `go` means in the present position.
    pub(super) fn turn(&self, go: &GoParams) -> Turn {
        let side = self.state.game.current().turn();
        let fixed_seed = self.options.random_seed;
        let is_on_clock = GoParams { ponder: false, ..go.clone() }.clock(side).is_some();
        let (maia, chance) = (self.maia_rating(), self.state.chance(fixed_seed));
        let manner = self.persona.manner(&self.options, go, is_on_clock, maia, chance);
        let options = match &manner {
            Some(manner) => manner.options(&self.options, is_start(&self.state.game.start_fen())),
            None => self.options.clone(),
        };
        let mut search = options.search_params();
        search.wdl_rescale.side = contempt::side(self.options.contempt_mode, side, go);
        search.ratings = self.ratings();
        search.overlooks = manner.as_ref().map(|manner| manner.overlooks);
        let most = Some(options.nodes_per_move).filter(|most| *most > 0 && is_on_clock);
        let of_manner = manner.as_ref().map(|manner| manner.nodes);
        let nodes = go.nodes.into_iter().chain(most).chain(of_manner).min();
        Turn {
            go: go.clone(),
            clock: go.clock(side),
            limits: GoParams { nodes, ..go.clone() }.limits(side, options.nodes_as_playouts),
            search,
            manager: human::with_seed(&options.time_manager_spec(), mix(self.state.seed(fixed_seed))),
            positions: self.positions(go, manner.is_some()),
            manner,
            options,
        }
    }

    fn positions(&self, go: &GoParams, has_manner: bool) -> Positions {
        let Options { tree_memory, algorithm, .. } = &self.options;
        let is_plain = *algorithm == SearchAlgorithm::Classic && !has_manner;
        if *tree_memory != TreeMemory::Forest || !is_plain || self.options.memory_limit().is_none() {
            return Positions::OfGame;
        }
        let is_move = go.movetime.is_some() && !self.is_analysis;
        let is_timed = go.clock(self.state.game.current().turn()).is_some() || is_move || go.ponder;
        if is_timed { Positions::AsBefore } else { Positions::All }
    }
}
