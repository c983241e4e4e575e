//! Lets the engine think about its moves, about hints, and about offers of a draw.

use super::keyboard::LOOK;
use super::words;
use crate::commands::engine_options::MAY_INSTALL;
use crate::commands::output::{note, notes, say};
use anyhow::Context as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use zeitnot_engine::chess::{Game, Move};
use zeitnot_engine::clock::MonotonicClock;
use zeitnot_engine::engine::{EndReason, Engine, GoParams, Listener, Options, Report, SearchEnd, load_network};
use zeitnot_engine::memory;
use zeitnot_engine::network::{InputFormat, Location};
use zeitnot_games::Evaluation;
use zeitnot_time::Plan;

/// Expected points, 0 to 1, up to which the engine accepts a draw at any time: it stands worse.
const WORSE: f64 = 0.4;
/// Expected points up to which the engine accepts a draw from move [`OLD`] on.
const EVEN: f64 = 0.55;
/// The number of the move from which on the engine may accept a draw in an even game.
const OLD: usize = 20;

/// Evaluation in centipawns, at most, at which an engine that plays like a person counts a game as lost.
const LOST_CP: i32 = -400;
/// Centipawns up to which a game counts as even; after `EVEN_MOVES` such own moves in a row a draw is offered.
const EVEN_CP: i32 = 50;
const EVEN_MOVES: usize = 6;

/// The engine in a game with a person.
pub struct Opponent {
    engine: Engine,
    /// A second engine at full strength, loaded for the first hint if this one is weaker or a Maia.
    adviser: Option<Box<Opponent>>,
    /// The name of the network, or of the backend where there is none.
    pub network: String,
    /// The rating of the people that the engine plays like; `None` at full strength.
    pub level: Option<u64>,
    interrupted: Arc<AtomicBool>,
    /// The thought that led to the engine's last move.
    pub last: Option<Thought>,
}

/// A search of the engine and what came of it.
pub struct Thought {
    pub mv: Move,
    pub used_ms: f64,
    /// The time manager's plan; `None` where it did not decide the time.
    pub plan: Option<Plan>,
    pub evaluation: Option<Evaluation>,
    pub end: SearchEnd,
}

impl Thought {
    /// The thought as the referee takes it.
    pub fn told(&self) -> zeitnot_games::Thought {
        zeitnot_games::Thought {
            mv: self.mv,
            used_ms: self.used_ms,
            budget_ms: self.plan.as_ref().map(|plan| (plan.budget_ms, plan.hard_limit_ms)),
            nodes: self.end.report.nodes,
            playouts: self.end.report.playouts,
            depth: self.end.report.depth,
            evaluation: self.evaluation,
        }
    }

    pub fn is_book(&self) -> bool {
        matches!(self.end.reason, EndReason::Book { .. })
    }

    /// Expected points of the side to move; `None` where nothing was searched.
    pub fn points(&self) -> Option<f64> {
        self.end.best_line().map(|line| f64::midpoint(1.0, f64::from(line.wl)))
    }
}

/// A listener that prints the plan and hands on the end of the search.
struct Ear {
    end: Sender<SearchEnd>,
    says_plan: bool,
    is_limited: bool,
}

/// Whether the plan decides the time of a move. At a level, `is_limited`, the nodes end a search long before, unless
/// the manager `human` waits.
fn decides(plan: &Plan, is_limited: bool) -> bool {
    !is_limited || plan.manager.starts_with("human")
}

impl Listener for Ear {
    fn planned(&self, plan: &Plan) {
        if self.says_plan && decides(plan, self.is_limited) {
            say!("{}", words::thinking(plan));
        }
    }
    // It is in the end's error, too.
    fn failed(&self, _: &str) {}
    fn report(&self, _: &Report) {}
    fn finished(&self, end: &SearchEnd) {
        // After Ctrl-C nobody waits for it.
        let _ = self.end.send(end.clone());
    }
}

impl Opponent {
    /// Loads the network that the options name. `interrupted` ends every search.
    pub fn load(options: Options, interrupted: Arc<AtomicBool>) -> anyhow::Result<Opponent> {
        let loaded = load_network(&options, MAY_INSTALL, &notes())?;
        note!("{}", loaded.news);
        let network = loaded.location.as_ref().map_or_else(|| options.backend.clone(), Location::name);
        let options = Options { automatic_memory: memory::automatic_limit(), ..options };
        let mut engine = Engine::with_backend(options, Arc::new(MonotonicClock::new()), loaded.backend)?;
        engine.announce_to(notes());
        engine.play_maias_as_people();
        engine.prepare()?;
        Ok(Opponent { level: engine.level(), engine, adviser: None, network, interrupted, last: None })
    }

    /// Searches for the engine's own move, and keeps the thought in `last`; `None` after Ctrl-C.
    pub fn think(&mut self, game: &Game, go: &GoParams) -> anyhow::Result<Option<&Thought>> {
        self.last = self.search(game, go, true)?;
        Ok(self.last.as_ref())
    }

    /// Searches a position without playing a move; `None` after Ctrl-C.
    pub fn look(&mut self, game: &Game, go: &GoParams) -> anyhow::Result<Option<Thought>> {
        self.search(game, go, false)
    }

    /// Searches a position for a hint, at full strength and not with a Maia. `is_free`: the opponent has no limit of
    /// nodes or depth. `None` after Ctrl-C.
    pub fn advise(&mut self, game: &Game, go: &GoParams, is_free: bool) -> anyhow::Result<Option<Thought>> {
        let against_person = !self.is_limited();
        let mut strong = Options { limit_strength: false, against_person, ..self.engine.options().clone() };
        strong.skill_level = Options::default().skill_level;
        let network = self.engine.attributes().map(|network| (network.maia, network.input));
        if matches!(network, Some((Some(_), _) | (_, Some((InputFormat::Maia3, _))))) {
            (strong.weights, strong.against_person) = (String::new(), false);
        }
        if is_free && strong == *self.engine.options() {
            return self.look(game, go);
        }
        let adviser = match self.adviser.take() {
            Some(adviser) => adviser,
            None => Box::new(Opponent::load(strong, Arc::clone(&self.interrupted))?),
        };
        self.adviser.insert(adviser).look(game, go)
    }

    /// Whether the engine plays at a limited strength.
    pub fn is_limited(&self) -> bool {
        self.engine.options().elo_limit().is_some()
    }

    fn search(&mut self, game: &Game, go: &GoParams, says_plan: bool) -> anyhow::Result<Option<Thought>> {
        let start_ms = self.engine.now_ms();
        self.engine.set_game(game.clone());
        let (sender, answer) = channel();
        let is_limited = self.is_limited();
        let ear = Ear { end: sender, says_plan, is_limited };
        let plan = self.engine.go(go, start_ms, Arc::new(ear))?.filter(|plan| decides(plan, is_limited));
        let end = loop {
            match answer.recv_timeout(LOOK) {
                Ok(end) => break end,
                Err(RecvTimeoutError::Timeout) if self.interrupted.load(Ordering::SeqCst) => return Ok(None),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => anyhow::bail!("the search ended without an answer"),
            }
        };
        let used_ms = self.engine.now_ms() - start_ms;
        if let Some(error) = &end.error {
            anyhow::bail!("{error}");
        }
        let has_wdl = self.engine.attributes().is_some_and(|attributes| attributes.has_wdl);
        let evaluation = end.best_line().map(|line| Evaluation::of(line, has_wdl));
        let mv = end.best.context("a position with legal moves has a best one")?;
        Ok(Some(Thought { mv, used_ms, plan, evaluation, end }))
    }
}

/// Whether an engine that plays like a person of this level resigns. `evaluations` are those of its own moves, the last
/// one first; stronger players resign sooner.
pub fn resigns(level: u64, mut evaluations: impl Iterator<Item = Evaluation>) -> bool {
    let moves = 2_500_u64.saturating_sub(level).div_euclid(250).clamp(3, 6);
    let is_lost = |it: Evaluation| it.mate.map_or(it.cp <= LOST_CP, |mate| mate < 0);
    (0..moves).all(|_| evaluations.next().is_some_and(is_lost))
}

/// Whether an engine that plays like a person offers a draw after move `number`. `evaluations` are those of its own
/// moves, the last one first.
pub fn offers_draw(number: usize, evaluations: impl Iterator<Item = Evaluation>) -> bool {
    let is_even = |it: &Evaluation| it.mate.is_none() && it.cp.abs() <= EVEN_CP;
    number >= 2 * OLD && number.is_multiple_of(10) && evaluations.take_while(is_even).nth(EVEN_MOVES - 1).is_some()
}

/// Whether the engine accepts a draw at move `number`, where it expects these points.
pub fn agrees_to_draw(points: f64, number: usize) -> bool {
    points <= WORSE || points <= EVEN && number >= OLD
}

#[cfg(test)]
mod tests {
    use super::{agrees_to_draw, offers_draw, resigns};
    use zeitnot_games::Evaluation;

    fn all(cp: i32, moves: usize) -> impl Iterator<Item = Evaluation> {
        std::iter::repeat_n(Evaluation { cp, mate: None, q: None }, moves)
    }

    #[test]
    fn who_is_stronger_resigns_sooner() {
        for (level, moves) in [(1000, 6), (1500, 4), (2600, 3)] {
            assert!(resigns(level, all(-400, moves)) && !resigns(level, all(-400, moves - 1)), "{level}");
            assert!(!resigns(level, all(-399, 9).chain(all(-900, 9))), "{level}");
        }
        assert!(resigns(1500, std::iter::repeat_n(Evaluation { cp: 0, mate: Some(-2), q: None }, 4)));
    }

    #[test]
    fn a_draw_is_offered_in_an_old_and_even_game() {
        assert!(offers_draw(40, all(-50, 6)) && offers_draw(50, all(50, 9)));
        assert!(!offers_draw(41, all(0, 9)) && !offers_draw(30, all(0, 9)) && !offers_draw(40, all(0, 5)));
        assert!(!offers_draw(40, all(51, 9)));
    }

    #[test]
    fn a_draw_is_for_who_stands_worse_and_for_old_games() {
        assert!(agrees_to_draw(0.4, 1) && !agrees_to_draw(0.41, 19));
        assert!(agrees_to_draw(0.55, 20) && !agrees_to_draw(0.56, 80));
    }
}
