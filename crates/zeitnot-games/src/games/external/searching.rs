//! Lets another engine search: for its move, and on its opponent's time.

use super::error::{BEST_MOVE, one_line};
use super::go_command::{go_command, position, time_ms};
use super::info_line::{InfoLine, best_move};
use super::process::{Output, Process};
use super::{CHESS960, ExternalAnswer, ExternalEngine, ExternalError, PONDER, Running};
use zeitnot_engine::chess::{Game, parse_uci};
use zeitnot_engine::engine::GoParams;

/// Nodes past its limit, and past a quarter more, that an engine may search: some look at it once in many thousands.
const MOST_PAST: u64 = 50_000;

impl ExternalEngine {
    /// Lets the engine move in a game that is not over. Waits for the answer as long as the mover's clock runs and
    /// `patience_ms` milliseconds more, or only `patience_ms` where the mover has no clock. The caller judges by
    /// [`ExternalAnswer::used_ms`] whether the answer came too late for the clock.
    ///
    /// # Errors
    /// [`ExternalError::Stalled`] without an answer, [`ExternalError::CalledOff`], [`ExternalError::Ended`] when the
    /// process ended, [`ExternalError::BadMove`] when the answer is no legal move, [`ExternalError::Chess960`] when the
    /// engine cannot play the game, [`ExternalError::NotRunning`] after an earlier error.
    pub fn go(&mut self, game: &Game, clock: &GoParams, patience_ms: f64) -> Result<ExternalAnswer, ExternalError> {
        let mut running = self.take_running()?;
        let answer = self.search(&mut running, game, clock, patience_ms)?;
        self.running = Some(running);
        Ok(answer)
    }

    /// Lets the engine search on its opponent's time in the position of `game`, which it expects. Returns whether it
    /// does: an engine that does not run, or has no option `Ponder`, does not.
    pub fn ponder(&mut self, game: &Game, clock: &GoParams) -> bool {
        let Some(running) = self.running.as_mut().filter(|running| running.command(PONDER, "true").is_some()) else {
            return false;
        };
        running.process.tell(&position(game));
        running.pondering_since_ms = Some(running.process.now_ms());
        running.process.tell(&go_command(clock).replacen("go", "go ponder", 1));
        true
    }

    /// Lets the engine move in the position in which it ponders, as [`ExternalEngine::go`] does.
    ///
    /// # Errors
    /// The errors of [`ExternalEngine::go`].
    pub fn ponder_hit(
        &mut self,
        game: &Game,
        clock: &GoParams,
        patience_ms: f64,
    ) -> Result<ExternalAnswer, ExternalError> {
        let mut running = self.take_running()?;
        let limit_ms = time_ms(clock, game.current().turn()) + patience_ms.max(0.0);
        let since_ms = running.pondering_since_ms.take();
        let answer = self.answer(&mut running.process, game, "ponderhit", limit_ms, since_ms)?;
        self.running = Some(running);
        Ok(answer)
    }

    /// Lets the engine, started to be heard, search `nodes` nodes as if it had searched nothing before. `hear` gets each
    /// `info` line, and ends the search by `false`. Returns the line `bestmove`.
    ///
    /// # Errors
    /// The errors of [`ExternalEngine::go`], and [`ExternalError::Endless`]; an engine is waited for `patience_ms`.
    pub(in crate::games) fn go_nodes(
        &mut self,
        game: &Game,
        nodes: u64,
        patience_ms: f64,
        mut hear: impl FnMut(&str) -> bool,
    ) -> Result<String, ExternalError> {
        self.new_game(false)?;
        let mut running = self.take_running()?;
        self.tell_position(&mut running, game)?;
        let process = &mut running.process;
        let stop = process.teller();
        process.tell(&format!("go nodes {nodes}"));
        let most = nodes.saturating_add(nodes / 4 + MOST_PAST);
        let mut goes_on = true;
        let line = self.wait(process, BEST_MOVE, patience_ms, |output| match output {
            Output::BestMove { line, .. } => Some(Some(line)),
            Output::Info(line) => {
                if InfoLine::parse(&line).nodes > Some(most) {
                    return Some(None);
                }
                if goes_on && !hear(&line) {
                    goes_on = false;
                    stop("stop");
                }
                None
            }
            _ => None,
        })?;
        let line = line.ok_or_else(|| ExternalError::Endless { engine: self.name().to_owned(), nodes })?;
        self.running = Some(running);
        Ok(line)
    }

    /// Ends a search on the opponent's time; its move is not wanted.
    pub(super) fn stop_pondering(&self, running: &mut Running) -> Result<(), ExternalError> {
        let Some(since_ms) = running.pondering_since_ms.take() else { return Ok(()) };
        running.process.tell("stop");
        self.wait(&mut running.process, "bestmove after stop", self.patience.ready_ms, |output| {
            matches!(output, Output::BestMove { at_ms, .. } if at_ms >= since_ms).then_some(())
        })
    }

    fn search(
        &self,
        running: &mut Running,
        game: &Game,
        clock: &GoParams,
        patience_ms: f64,
    ) -> Result<ExternalAnswer, ExternalError> {
        self.stop_pondering(running)?;
        self.tell_position(running, game)?;
        let limit_ms = time_ms(clock, game.current().turn()) + patience_ms.max(0.0);
        self.answer(&mut running.process, game, &go_command(clock), limit_ms, None)
    }

    /// Tells the engine the position, and waits until it is ready.
    fn tell_position(&self, running: &mut Running, game: &Game) -> Result<(), ExternalError> {
        if game.is_chess960() != running.is_chess960 {
            let command = running.command(CHESS960, &game.is_chess960().to_string());
            running.process.tell(&command.ok_or_else(|| ExternalError::Chess960 { engine: self.name.clone() })?);
            running.is_chess960 = game.is_chess960();
        }
        let process = &mut running.process;
        process.tell(&position(game));
        // Reading the position is not part of the search, and late answers to earlier searches are skipped.
        self.wait_ready(process)
    }

    /// Sends a command and waits up to `limit_ms` for the move. `since_ms`: the time when a ponder search began, since
    /// when an answer counts; `None` where only answers to this command count.
    fn answer(
        &self,
        process: &mut Process<Output>,
        game: &Game,
        command: &str,
        limit_ms: f64,
        since_ms: Option<f64>,
    ) -> Result<ExternalAnswer, ExternalError> {
        let began_ms = process.now_ms();
        // Without a stamp the engine has ended, or does not read: the wait below fails.
        let sent_ms = process.tell_and_stamp(command, began_ms + limit_ms).unwrap_or(began_ms);
        let since_ms = since_ms.unwrap_or(sent_ms);
        let (line, at_ms, told) = self.wait(process, BEST_MOVE, limit_ms, |output| match output {
            Output::BestMove { line, at_ms, told } if at_ms >= since_ms => Some((line, at_ms, told)),
            _ => None,
        })?;
        let bad = |reason| ExternalError::BadMove { engine: self.name.clone(), answer: one_line(&line), reason };
        let (best, ponder) = best_move(&line);
        let best = best.ok_or_else(|| bad("it names no move".to_owned()))?;
        let mv = parse_uci(game.current().chess(), best).map_err(|error| bad(one_line(&error.to_string())))?;
        let ponder = ponder.and_then(|text| {
            let mut next = game.clone();
            next.push(mv);
            parse_uci(next.current().chess(), text).ok()
        });
        let used_ms = (at_ms - sent_ms).max(0.0);
        Ok(ExternalAnswer { mv, ponder, used_ms, depth: told.depth, nodes: told.nodes, score: told.score })
    }
}
