//! Lets another engine play, as a process on the machine's clock.

use super::external::{ExternalAnswer, ExternalEngine, ExternalError, Patience};
use super::player::{Player, PlayerError, Thought, Turn};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use zeitnot_engine::chess::{Color, Game};
use zeitnot_engine::engine::GoParams;

/// Milliseconds to wait for an engine beyond its clock before it counts as hanging.
const PATIENCE_MS: f64 = 10_000.0;
/// Milliseconds to wait for a move without a clock before the engine counts as hanging.
const PATIENCE_WITHOUT_CLOCK_MS: f64 = 600_000.0;

/// Another engine as a player.
pub struct ExternalPlayer {
    name: String,
    engine: ExternalEngine,
    /// Whether the engine failed in the last game, so that its process is gone.
    has_failed: bool,
    ponders: bool,
    /// The game up to the reply that the engine expects and on which it ponders; `None` where it does not ponder.
    expected: Option<Game>,
}

impl ExternalPlayer {
    /// Starts the engine of a command line with these options. The player is called `name`, or else by the engine's own
    /// name. Once `stop` is set, all waits end.
    ///
    /// # Errors
    /// [`PlayerError::Unfit`] when there is no such engine, or it lacks an option; [`PlayerError::Interrupted`].
    pub fn start(
        command: &str,
        options: &[(String, String)],
        name: Option<&str>,
        stop: Arc<AtomicBool>,
    ) -> Result<ExternalPlayer, PlayerError> {
        let engine = ExternalEngine::start_with(command, options, Patience::default(), stop).map_err(unfit)?;
        let name = name.unwrap_or(engine.name()).to_owned();
        Ok(ExternalPlayer { name, engine, has_failed: false, ponders: false, expected: None })
    }

    /// This player, which thinks on its opponent's time if `ponders` holds and the engine can.
    pub(crate) fn with_pondering(self, ponders: bool) -> ExternalPlayer {
        ExternalPlayer { ponders, ..self }
    }

    /// Lets the engine ponder on the reply that it expects, with the clocks as they stand after its move. After the
    /// last move of a period of the time control it does not ponder, as the next period's clock is not known here.
    fn expect_reply(&mut self, turn: &Turn<'_>, answer: &ExternalAnswer) {
        let go = &turn.go;
        let Some(reply) = answer.ponder.filter(|_| self.ponders && go.movestogo != Some(1)) else { return };
        let mut game = turn.game.clone();
        game.push(answer.mv);
        game.push(reply);
        if game.outcome().is_some() {
            return;
        }
        let mut go = GoParams { movestogo: go.movestogo.map(|moves| moves - 1), ..go.clone() };
        let (time_ms, increment_ms) = match turn.game.current().turn() {
            Color::White => (&mut go.wtime, go.winc),
            Color::Black => (&mut go.btime, go.binc),
        };
        *time_ms = time_ms.map(|ms| ms - answer.used_ms + increment_ms.unwrap_or(0.0));
        self.expected = self.engine.ponder(&game, &go).then_some(game);
    }

    fn check<T>(&mut self, result: Result<T, ExternalError>) -> Result<T, PlayerError> {
        self.has_failed |= result.is_err();
        result.map_err(failed)
    }
}

/// The error of an engine that cannot be started.
pub(super) fn unfit(error: ExternalError) -> PlayerError {
    match error {
        ExternalError::CalledOff { .. } => PlayerError::Interrupted(error.to_string()),
        error => PlayerError::Unfit(error.to_string()),
    }
}

/// The error of an engine in a game.
pub(super) fn failed(error: ExternalError) -> PlayerError {
    let text = error.to_string();
    match error {
        ExternalError::Stalled { .. } if error.is_in_search() => PlayerError::Stalled(text),
        ExternalError::Stalled { .. } => PlayerError::NotReady(text),
        ExternalError::CalledOff { .. } => PlayerError::Interrupted(text),
        ExternalError::BadMove { .. } => PlayerError::IllegalMove(text),
        ExternalError::Ended { .. } | ExternalError::NotRunning { .. } => PlayerError::Crashed(text),
        ExternalError::Command { .. }
        | ExternalError::Start { .. }
        | ExternalError::Flood { .. }
        | ExternalError::Option { .. }
        | ExternalError::Endless { .. }
        | ExternalError::Chess960 { .. } => PlayerError::Unfit(text),
    }
}

impl Player for ExternalPlayer {
    fn name(&self) -> &str {
        &self.name
    }

    /// Begins a game; the seed is not used.
    fn new_game(&mut self, _: u64) -> Result<(), PlayerError> {
        if std::mem::take(&mut self.has_failed) {
            // An engine that cannot even be started loses no games by that: the match ends.
            self.engine.restart().map_err(unfit)?;
        }
        self.expected = None;
        let begun = self.engine.new_game(self.ponders);
        self.check(begun)
    }

    fn think(&mut self, turn: &Turn<'_>) -> Result<Thought, PlayerError> {
        let go = &turn.go;
        let has_clock = go.movetime.is_some() || go.clock(turn.game.current().turn()).is_some();
        let patience_ms = if has_clock { PATIENCE_MS } else { PATIENCE_WITHOUT_CLOCK_MS };
        let is_expected = self.expected.take().is_some_and(|expected| expected.moves() == turn.game.moves());
        let answer = match is_expected {
            true => self.engine.ponder_hit(turn.game, go, patience_ms),
            false => self.engine.go(turn.game, go, patience_ms),
        };
        let answer = self.check(answer)?;
        self.expect_reply(turn, &answer);
        Ok(Thought {
            nodes: answer.nodes.unwrap_or(0),
            depth: answer.depth.unwrap_or(0),
            evaluation: answer.score,
            ..Thought::of_move(answer.mv, answer.used_ms)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_is_late_only_where_its_clock_ran() {
        let stalled = |awaited| failed(ExternalError::Stalled { engine: "A".into(), awaited, waited_ms: 1.0 });
        assert!(matches!(stalled("bestmove"), PlayerError::Stalled(_)));
        assert!(matches!(stalled("readyok"), PlayerError::NotReady(_)));
    }
}
