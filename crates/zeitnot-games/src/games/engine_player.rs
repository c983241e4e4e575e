//! Lets this engine play: with threads on the machine's clock, or as a computation on a virtual one.

use super::player::{Player, PlayerError, Thought, Turn};
use super::record::Evaluation;
use parking_lot::Mutex;
use std::sync::Arc;
use zeitnot_engine::announcer::{Announcer, ERROR};
use zeitnot_engine::chess::Game;
use zeitnot_engine::clock::{Clock as _, VirtualClock};
use zeitnot_engine::engine::{Engine, GoParams, Options, Pondered, SearchEnd};
use zeitnot_engine::splitmix::mix;
use zeitnot_time::Plan;

/// The engine of this program as a player.
pub struct EnginePlayer {
    name: String,
    network: Option<String>,
    engine: Engine,
    /// The engine's clock, if it is virtual; no other engine has the same clock.
    virtual_clock: Option<Arc<VirtualClock>>,
    /// The option `RandomSeed` as the user gave it.
    seed: u64,
    ponders: bool,
    /// The position to search on the opponent's time, while this player ponders.
    expected: Option<Expected>,
    /// The errors that the engine announced since the last call of `take_errors`, each once.
    errors: Arc<Mutex<Vec<String>>>,
}

/// The position after the reply that the engine expects.
struct Expected {
    game: Game,
    /// The search that runs already, on the machine's clock; `None` on a virtual clock.
    search: Option<Pondered>,
}

impl EnginePlayer {
    /// A player on the machine's clock. With `ponders` it searches on its opponent's time.
    pub fn new(name: String, engine: Engine, ponders: bool) -> EnginePlayer {
        let seed = engine.options().random_seed;
        EnginePlayer {
            name,
            network: None,
            engine,
            virtual_clock: None,
            seed,
            ponders,
            expected: None,
            errors: Arc::default(),
        }
    }

    /// A player whose every search is a computation on the caller's thread. `clock` must be the clock of this engine
    /// and of no other.
    pub fn on_virtual_clock(name: String, engine: Engine, clock: Arc<VirtualClock>, ponders: bool) -> EnginePlayer {
        EnginePlayer { virtual_clock: Some(clock), ..EnginePlayer::new(name, engine, ponders) }
    }

    /// This player, with the name of its network for the records of its games.
    pub fn with_network(self, network: Option<String>) -> EnginePlayer {
        EnginePlayer { network, ..self }
    }

    /// Passes what the engine announces to `announcer`, with the player's name in front.
    pub fn announce_to(&mut self, announcer: Announcer) {
        let (name, errors) = (self.name.clone(), Arc::clone(&self.errors));
        self.engine.announce_to(Announcer::new(move |line| {
            let line = format!("{name}: {line}");
            announcer.say(&line);
            let mut errors = errors.lock();
            if line.contains(ERROR) && !errors.contains(&line) {
                errors.push(line);
            }
        }));
    }

    /// The engine.
    pub fn engine(&mut self) -> &mut Engine {
        &mut self.engine
    }

    /// Lets the time since the last answer pass on the virtual clock, and searches the expected position meanwhile.
    /// Returns when that time ends, in milliseconds on the clock; the last batch of the search may take longer.
    fn pass(&mut self, clock: &VirtualClock, turn: &Turn<'_>) -> Result<f64, PlayerError> {
        let ms = turn.since_answer_ms;
        let end_ms = clock.now_ms() + ms;
        if let Some(expected) = self.expected.take().filter(|_| ms > 0.0) {
            self.engine.set_game(expected.game);
            let start_ms = clock.now_ms();
            let go = GoParams { ponder: true, ..turn.go.clone() };
            self.engine.run(&go, start_ms, Some(end_ms))?;
        }
        clock.pass(end_ms - clock.now_ms());
        Ok(end_ms)
    }

    /// Searches on the machine's clock. Where the expected reply was played, the ponder search goes on.
    fn search(&mut self, turn: &Turn<'_>, start_ms: f64) -> Result<(SearchEnd, Option<Plan>), PlayerError> {
        let expected = self.expected.take();
        if let Some(Expected { game, search: Some(search) }) = expected
            && game.moves() == turn.game.moves()
        {
            return Ok(self.engine.ponder_hit_and_wait(&search, &turn.go, start_ms)?);
        }
        self.engine.set_game(turn.game.clone());
        Ok(self.engine.search_and_wait(&turn.go, start_ms)?)
    }

    /// Notes the reply that the search expects, if this player ponders; on the machine's clock begins to search the
    /// position after it.
    fn expect_reply(&mut self, turn: &Turn<'_>, end: &SearchEnd) -> Result<(), PlayerError> {
        let (Some(mv), Some(reply)) = (end.best.filter(|_| self.ponders), end.ponder) else { return Ok(()) };
        let mut game = turn.game.clone();
        game.push(mv);
        game.push(reply);
        if game.outcome().is_some() {
            return Ok(());
        }
        let search = match self.virtual_clock {
            Some(_) => None,
            None => {
                self.engine.set_game(game.clone());
                Some(self.engine.start_pondering(&turn.go)?)
            }
        };
        self.expected = Some(Expected { game, search });
        Ok(())
    }

    fn evaluation(&self, end: &SearchEnd) -> Option<Evaluation> {
        let line = end.report.lines.first()?;
        let has_wdl = self.engine.attributes().is_some_and(|attributes| attributes.has_wdl);
        Some(Evaluation::of(line, has_wdl))
    }
}

impl Player for EnginePlayer {
    fn name(&self) -> &str {
        &self.name
    }

    fn network(&self) -> Option<&str> {
        self.network.as_deref()
    }

    fn new_game(&mut self, seed: u64) -> Result<(), PlayerError> {
        self.expected = None;
        // 0 stands for another seed at each start; the option takes 31 bits.
        let random_seed = (mix(seed ^ mix(self.seed)) >> 33).max(1);
        let options = Options { random_seed, ..self.engine.options().clone() };
        self.engine.set_options(options).expect("the engine's own options with another seed");
        self.engine.new_game();
        self.engine.prepare()?;
        self.engine.await_manager();
        Ok(())
    }

    fn take_errors(&mut self) -> Vec<String> {
        std::mem::take(&mut self.errors.lock())
    }

    fn think(&mut self, turn: &Turn<'_>) -> Result<Thought, PlayerError> {
        let (end, plan, used_ms) = match self.virtual_clock.clone() {
            Some(clock) => {
                let start_ms = self.pass(&clock, turn)?;
                self.engine.set_game(turn.game.clone());
                let (end, plan) = self.engine.run(&turn.go, start_ms, None)?;
                (end, plan, clock.now_ms() - start_ms)
            }
            None => {
                let start_ms = self.engine.now_ms();
                let (end, plan) = self.search(turn, start_ms)?;
                (end, plan, self.engine.now_ms() - start_ms)
            }
        };
        if let Some(error) = end.error.clone() {
            return Err(zeitnot_engine::engine::EngineError::Search(error).into());
        }
        self.expect_reply(turn, &end)?;
        Ok(Thought {
            mv: end.best.expect("a position with legal moves has a best one"),
            used_ms,
            budget_ms: plan.map(|plan| (plan.budget_ms, plan.hard_limit_ms)),
            nodes: end.report.nodes,
            playouts: end.report.playouts,
            depth: end.report.depth,
            evaluation: self.evaluation(&end),
        })
    }
}
