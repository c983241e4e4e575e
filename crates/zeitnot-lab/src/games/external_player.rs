//! Lets another engine play, as a process on the machine's clock.

use super::external::{ExternalEngine, ExternalError, ExternalScore, GoClock, Patience};
use super::player::{Player, PlayerError, Thought, Turn};
use super::record::Evaluation;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Milliseconds to wait for an engine beyond its clock before it counts as hanging.
const PATIENCE_MS: f64 = 10_000.0;
/// Milliseconds to wait for a move without a clock before the engine counts as hanging.
const PATIENCE_WITHOUT_CLOCK_MS: f64 = 600_000.0;

/// Largest size of a score, in centipawns; larger scores are cut to it.
const MOST_CP: i32 = 1_000_000;

/// Another engine as a player.
pub struct ExternalPlayer {
    name: String,
    engine: ExternalEngine,
    /// Whether the engine failed in the last game, so that its process is gone.
    has_failed: bool,
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
        Ok(ExternalPlayer { name, engine, has_failed: false })
    }

    fn check<T>(&mut self, result: Result<T, ExternalError>) -> Result<T, PlayerError> {
        self.has_failed |= result.is_err();
        result.map_err(failed)
    }
}

/// The error of an engine that cannot be started.
fn unfit(error: ExternalError) -> PlayerError {
    match error {
        ExternalError::CalledOff { .. } => PlayerError::Interrupted(error.to_string()),
        error => PlayerError::Unfit(error.to_string()),
    }
}

/// The error of an engine in a game.
fn failed(error: ExternalError) -> PlayerError {
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
        let begun = self.engine.new_game();
        self.check(begun)
    }

    fn think(&mut self, turn: &Turn<'_>) -> Result<Thought, PlayerError> {
        let go = &turn.go;
        let clock = GoClock {
            wtime_ms: go.wtime,
            btime_ms: go.btime,
            winc_ms: go.winc.unwrap_or(0.0),
            binc_ms: go.binc.unwrap_or(0.0),
            movestogo: go.movestogo,
            nodes: go.nodes,
            depth: go.depth,
        };
        let has_clock = go.clock(turn.game.current().turn()).is_some();
        let patience_ms = if has_clock { PATIENCE_MS } else { PATIENCE_WITHOUT_CLOCK_MS };
        let answer = self.engine.go(turn.game, &clock, patience_ms);
        let answer = self.check(answer)?;
        let evaluation = answer.score.map(|score| match score {
            ExternalScore::Centipawns(cp) => Evaluation { cp: cp.clamp(-MOST_CP, MOST_CP), mate: None, q: None },
            ExternalScore::Mate(mate) => Evaluation { cp: 0, mate: Some(mate), q: None },
        });
        Ok(Thought {
            mv: answer.mv,
            used_ms: answer.used_ms,
            budget_ms: None,
            nodes: answer.nodes.unwrap_or(0),
            playouts: 0,
            depth: answer.depth.unwrap_or(0),
            evaluation,
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
