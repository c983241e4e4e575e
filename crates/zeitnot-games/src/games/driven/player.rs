//! Plays with an engine whose time is its nodes: on the virtual clock its searches are computations that repeat.
//!
//! Each move is a search from nothing, or a search would know what the nodes after the end of the last one found. A search
//! that ends between two lines of the engine is done again with as many nodes, so that its answer is that of its end.

use super::clock::{DRIVEN_OVERHEAD_MS, DrivenClock, Look};
use super::heard::Heard;
use crate::games::external::info_line::best_move;
use crate::games::external::{ExternalEngine, ExternalError, Patience};
use crate::games::external_player::{failed, unfit};
use crate::games::player::{Player, PlayerError, Thought, Turn};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use zeitnot_engine::chess::{Move, parse_uci};
use zeitnot_engine::managers::maker_for_computation;

/// Milliseconds to wait for a search before the engine counts as hanging.
const PATIENCE_MS: f64 = 600_000.0;

/// An engine with a time manager of ours in front, on the virtual clock.
pub struct DrivenPlayer {
    name: String,
    engine: ExternalEngine,
    clock: DrivenClock,
    /// Milliseconds of a node.
    node_ms: f64,
    has_failed: bool,
}

impl DrivenPlayer {
    /// Starts the engine of a command line with these options, driven by the manager `spec`; a node takes `node_ms`. Once
    /// `stop` is set, all waits end.
    ///
    /// # Errors
    /// [`PlayerError::Unfit`] when there is no such engine or manager, or the engine lacks an option;
    /// [`PlayerError::Interrupted`].
    pub fn start(
        name: &str,
        command: &str,
        options: &[(String, String)],
        spec: &str,
        node_ms: f64,
        stop: Arc<AtomicBool>,
    ) -> Result<DrivenPlayer, PlayerError> {
        let clock = DrivenClock::new(spec, maker_for_computation());
        let clock = clock.map_err(|error| PlayerError::Unfit(error.to_string()))?;
        let engine = ExternalEngine::start_heard(command, options, Patience::default(), stop, true).map_err(unfit)?;
        Ok(DrivenPlayer { name: name.to_owned(), engine, clock, node_ms, has_failed: false })
    }

    /// Searches up to the end that the manager decides. Returns the move and the end, in milliseconds.
    fn search(&mut self, turn: &Turn<'_>, limit_ms: f64) -> Result<(Move, f64), PlayerError> {
        let DrivenPlayer { engine, clock, node_ms, .. } = self;
        let most = ((limit_ms / *node_ms) as u64).max(1);
        let most_ms = most as f64 * *node_ms;
        // Where the search ends at a line, and where it is looked at, or has ended, if no line comes before.
        let (mut ended_ms, mut silent) = (None, Look { stops: false, ..clock.look(0.0) });
        let answer = engine.go_nodes(turn.game, most, PATIENCE_MS, |line| {
            let at_ms = Heard::nodes_in(line).map(|nodes| nodes as f64 * *node_ms);
            let Some(at_ms) = at_ms.filter(|at_ms| *at_ms < most_ms) else { return true };
            silent = clock.look_until(silent.next_ms, at_ms);
            if silent.stops {
                return false;
            }
            clock.hear(line, at_ms);
            let look = clock.look(at_ms);
            (ended_ms, silent.next_ms) = (look.stops.then_some(at_ms), look.next_ms);
            !look.stops
        });
        let mut answer = answer.map_err(failed)?;
        if let Some((mv, end_ms)) = clock.best_move().zip(ended_ms) {
            return Ok((mv, end_ms));
        }
        if !silent.stops {
            silent = clock.look_until(silent.next_ms, most_ms);
        }
        let end_ms = silent.next_ms.clamp(*node_ms, most_ms);
        if !silent.stops {
            clock.look(end_ms);
        }
        let nodes = ((end_ms / *node_ms) as u64).max(1);
        if nodes < most {
            answer = engine.go_nodes(turn.game, nodes, PATIENCE_MS, |_| true).map_err(failed)?;
        }
        let text = best_move(&answer).0.unwrap_or_default();
        let mv = parse_uci(turn.game.current().chess(), text).map_err(|error| {
            let engine = engine.name().to_owned();
            failed(ExternalError::BadMove { engine, answer: text.to_owned(), reason: error.to_string() })
        })?;
        Ok((mv, nodes as f64 * *node_ms))
    }
}

impl Player for DrivenPlayer {
    fn name(&self) -> &str {
        &self.name
    }

    /// Begins a game; the seed is not used.
    fn new_game(&mut self, _: u64) -> Result<(), PlayerError> {
        if std::mem::take(&mut self.has_failed) {
            self.engine.restart().map_err(unfit)?;
        }
        self.clock.new_game();
        Ok(())
    }

    fn think(&mut self, turn: &Turn<'_>) -> Result<Thought, PlayerError> {
        let plan = self.clock.begin(turn.game, &turn.go, f64::from(DRIVEN_OVERHEAD_MS), None);
        let plan = plan.ok_or_else(|| PlayerError::Unfit(format!("{}: a driven engine needs a clock", self.name)))?;
        let searched = self.search(turn, plan.hard_limit_ms);
        self.has_failed |= searched.is_err();
        let (mv, used_ms) = searched?;
        let (depth, evaluation) = self.clock.told();
        self.clock.end(used_ms);
        let nodes = (used_ms / self.node_ms).round() as u64;
        Ok(Thought {
            budget_ms: Some((plan.budget_ms, plan.hard_limit_ms)),
            nodes,
            playouts: nodes,
            depth,
            evaluation,
            ..Thought::of_move(mv, used_ms)
        })
    }
}
