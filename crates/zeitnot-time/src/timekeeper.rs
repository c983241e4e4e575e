//! The time of one game, from move to move: a pure state machine that a game, a replay and a simulation drive alike.

use super::accounting::{Accounted, MoveAccount};
use super::estimators::overhead::LagEstimator;
use super::event_log::{Answer, BookMove, Event, ManagerChoice, Observer, SearchStart};
use super::stoppers::Stoppers;
use super::{GameReport, MoveOutcome, MoveRequest, Plan, SearchSnapshot, SpecError, TimeManager, Verdict, due};
use std::sync::Arc;

/// A maker of managers that this crate does not have, from a specification; `None` for one that the maker does not
/// know, and this crate may. The same specification succeeds or fails each time.
pub type Maker = Arc<dyn Fn(&str) -> Result<Option<Box<dyn TimeManager>>, SpecError> + Send + Sync>;

/// The time of one game: the manager and its specification, the measured lag, the stoppers of the running search, and
/// the rule by which a move is due.
///
/// The calls for a move are [`begin`](Timekeeper::begin), any number of [`observe`](Timekeeper::observe), then
/// [`end`](Timekeeper::end). The same calls give the same answers.
pub struct Timekeeper {
    spec: String,
    manager: Accounted,
    /// Whether the manager was told anything since it was made.
    is_used: bool,
    /// Maker of managers from elsewhere, which is asked first.
    maker: Option<Maker>,
    /// The measured lag. `None`: it is not measured, as in scripts written by hand, whose clocks need not add up.
    lag: Option<LagEstimator>,
    /// Stoppers of the running search; `None`: the manager alone is asked.
    stoppers: Option<Stoppers>,
    open: Option<OpenMove>,
    observer: Option<Box<dyn Observer>>,
}

/// A search that runs on a clock.
#[derive(Clone, Debug)]
struct OpenMove {
    request: MoveRequest,
    hard_limit_ms: f64,
    due_ms: f64,
}

/// The time limits of a search that begins. Times are in milliseconds since the move's clock started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Begun {
    /// The decision, where the move has a clock.
    pub plan: Option<Plan>,
    /// The latest end of the search, by the clock or `movetime`; `None`: no time ends it.
    pub hard_limit_ms: Option<f64>,
    /// The moment at which an answer is due even if nothing was evaluated.
    pub due_ms: Option<f64>,
}

/// The time manager's report after a move.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeReport {
    /// The account of the move.
    pub account: MoveAccount,
    /// The report on the game so far, if the manager makes one ([`TimeManager::report`]).
    pub game: Option<GameReport>,
}

impl Timekeeper {
    /// The time of a new game with the manager that `spec` describes; the lag is measured.
    ///
    /// # Errors
    /// [`SpecError`], when there is no such manager.
    pub fn new(spec: &str) -> Result<Timekeeper, SpecError> {
        Timekeeper::of(spec, None)
    }

    /// The time of a new game with the manager that `spec` describes, which may be one of `maker`'s; the lag is
    /// measured. A new game is a new manager of the same specification.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use zeitnot_time::{MoveOutcome, MoveRequest, Plan, SearchSnapshot, StopReason, TimeManager, Timekeeper, Verdict};
    ///
    /// /// A fortieth of the clock for each move.
    /// #[derive(Debug, Default)]
    /// struct Fortieth {
    ///     hard_limit_ms: f64,
    /// }
    ///
    /// impl TimeManager for Fortieth {
    ///     fn name(&self) -> &'static str {
    ///         "fortieth"
    ///     }
    ///     fn plan(&mut self, request: &MoveRequest) -> Plan {
    ///         let plan = Plan::new(self.name(), request, request.clock_ms / 40.0, 0.0, None);
    ///         self.hard_limit_ms = plan.hard_limit_ms;
    ///         plan
    ///     }
    ///     fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
    ///         Verdict::at_limit(snapshot, self.hard_limit_ms, StopReason::Time)
    ///     }
    ///     fn finish(&mut self, _: &MoveOutcome) {}
    /// }
    ///
    /// let maker = |spec: &str| Ok((spec == "fortieth").then(|| Box::<Fortieth>::default() as Box<dyn TimeManager>));
    /// let mut time = Timekeeper::with("fortieth", Arc::new(maker))?;
    /// let request = MoveRequest { clock_ms: 60_000.0, ..MoveRequest::default() };
    /// let plan = time.begin(&Default::default(), Some(&request)).plan.unwrap();
    /// assert_eq!(plan.budget_ms, 1_500.0);
    /// # Ok::<(), zeitnot_time::SpecError>(())
    /// ```
    ///
    /// # Errors
    /// [`SpecError`], when there is no such manager.
    pub fn with(spec: &str, maker: Maker) -> Result<Timekeeper, SpecError> {
        Timekeeper::of(spec, Some(maker))
    }

    /// The time of a new game in an engine that keeps no tree from move to move: as [`Timekeeper::new`], but `smooth` does
    /// not begin with the guess that half of each tree is kept, which makes its first searches twice as long as they should
    /// be, and its first moves get as much as all others, as in the games of such engines that were measured.
    ///
    /// # Errors
    /// [`SpecError`], when there is no such manager.
    pub fn without_tree_reuse(spec: &str) -> Result<Timekeeper, SpecError> {
        Timekeeper::new(&Timekeeper::spec_without_tree_reuse(spec))
    }

    /// The specification `spec` for an engine that keeps no tree from move to move; other managers than `smooth` know
    /// nothing of trees, and theirs stays as it is.
    pub fn spec_without_tree_reuse(spec: &str) -> String {
        let name = |spec: &str| super::build(spec).ok().map(|manager| manager.name());
        let with = |param: &str| match spec.contains('(') {
            true => spec.replacen('(', &format!("({param},"), 1).replace(",)", ")"),
            false => format!("{spec}({param})"),
        };
        // A parameter must not choose another preset.
        let (plain, params) = (name(spec), ["init-tree-reuse=0", "max-tree-reuse=0,opening=1"]);
        let found = params.map(with).into_iter().find(|extended| plain.is_some() && name(extended) == plain);
        found.unwrap_or_else(|| spec.to_owned())
    }

    fn of(spec: &str, maker: Option<Maker>) -> Result<Timekeeper, SpecError> {
        let (manager, lag) = (make(spec, maker.as_ref())?, Some(LagEstimator::default()));
        let spec = spec.to_owned();
        Ok(Timekeeper { spec, manager, is_used: false, maker, lag, stoppers: None, open: None, observer: None })
    }

    /// The timekeeper without a measured lag, for events written by hand.
    pub fn without_lag(self) -> Timekeeper {
        Timekeeper { lag: None, ..self }
    }

    /// Lets `observer` see every event from now on, the choice of the manager first. Earlier estimates are not in the
    /// event log, so a log that is to be verified has to begin with a new game.
    pub fn observe_by(&mut self, observer: Option<Box<dyn Observer>>) {
        self.observer = observer;
        self.report_choice();
    }

    fn report_choice(&mut self) {
        let choice = ManagerChoice { spec: self.spec.clone(), measure_lag: self.lag.is_some() };
        self.report_event(|| Event::Manager(choice), None);
    }

    /// The manager.
    pub fn manager(&self) -> &dyn TimeManager {
        &self.manager
    }

    /// Waits until the manager can plan without delay, before a clock runs.
    pub fn get_ready(&mut self) {
        self.manager.get_ready();
    }

    /// Replaces the manager's estimate of speed, in nodes per second, as if learned.
    pub fn set_nps(&mut self, nps: f64) {
        self.is_used = true;
        self.manager.set_nps(nps);
    }

    /// The time to keep clear for the measured lag, in milliseconds; `clock_ms` is the clock less the user's overhead.
    pub fn lag_ms(&self, clock_ms: f64) -> f64 {
        self.lag.as_ref().map_or(0.0, |lag| lag.overhead_ms(clock_ms))
    }

    /// Changes to a new manager of the specification `spec`. The same specification changes nothing.
    ///
    /// # Errors
    /// [`SpecError`], and nothing is changed.
    pub fn choose(&mut self, spec: &str) -> Result<(), SpecError> {
        if self.spec != spec {
            (self.manager, self.is_used) = (make(spec, self.maker.as_ref())?, false);
            self.spec = spec.to_owned();
            self.report_choice();
        }
        Ok(())
    }

    /// Forgets all that was learned: a new game begins.
    pub fn new_game(&mut self) {
        self.rebuild();
        self.lag = self.lag.as_ref().map(|_| LagEstimator::default());
        self.report_event(|| Event::NewGame, None);
    }

    /// Changes to another game, at any of its moves. `keep_time_stats`: whether the manager keeps its estimates.
    pub fn other_game(&mut self, keep_time_stats: bool) {
        if let Some(lag) = &mut self.lag {
            lag.forget_move();
        }
        match keep_time_stats {
            true => self.forget_tree(),
            false => self.rebuild(),
        }
        self.report_event(|| Event::OtherGame { keep_time_stats }, None);
    }

    /// Takes in a change of the tree: the next tree says nothing about the last search.
    pub fn tree_changed(&mut self) {
        self.forget_tree();
        self.report_event(|| Event::TreeChanged, None);
    }

    fn forget_tree(&mut self) {
        self.is_used = true;
        self.manager.finish(&MoveOutcome::default());
    }

    /// Takes in a move that is played without a search.
    pub fn book_move(&mut self, played: BookMove) {
        let BookMove { ply, clock_ms, increment_ms } = played;
        if let Some(lag) = &mut self.lag {
            lag.clock_seen(ply, clock_ms);
            lag.move_played(ply, clock_ms, increment_ms, 0.0);
        }
        self.report_event(|| Event::BookMove(played), None);
    }

    /// Begins a search and returns its time limits; `request` is `None` for a move without a clock, behind which the
    /// next tree is not compared with the last one. While pondering it is: an engine that loses its tree there calls
    /// [`tree_changed`](Timekeeper::tree_changed). The limits leave the user's overhead and the measured lag on the
    /// clock, and of a `movetime` [`StopperParams::overhead_ms`](super::StopperParams::overhead_ms).
    pub fn begin(&mut self, start: &SearchStart, request: Option<&MoveRequest>) -> Begun {
        self.search(start);
        let plan = match request {
            Some(request) => Some(self.plan(&MoveRequest { evaluation_ms: start.evaluation_ms, ..request.clone() })),
            // A search on the opponent's time goes on with the tree of the move before, or leaves it for the next move.
            None if start.limits.ponder => None,
            None => {
                self.tree_changed();
                None
            }
        };
        let limits = &start.limits;
        if limits.infinite || limits.ponder {
            return Begun { plan, ..Begun::default() };
        }
        let by_plan = plan.as_ref().map(|plan| (plan.hard_limit_ms, plan.due_ms));
        let movetime_ms = self.stoppers.as_ref().and_then(Stoppers::movetime_ms);
        let by_movetime = movetime_ms
            .zip(limits.movetime_ms)
            .map(|(end_ms, movetime_ms)| (end_ms, due::due_ms(end_ms, movetime_ms, start.evaluation_ms)));
        let (hard_limit_ms, due_ms) = match (by_plan, by_movetime) {
            (Some(plan), Some(movetime)) => (Some(plan.0.min(movetime.0)), Some(plan.1.min(movetime.1))),
            (one, other) => one.or(other).unzip(),
        };
        Begun { plan, hard_limit_ms, due_ms }
    }

    fn search(&mut self, start: &SearchStart) {
        self.stoppers = Some(Stoppers::new(&start.limits, &start.stoppers));
        self.open = None;
        self.report_event(|| Event::Search(start.clone()), None);
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        let mut asked = request.clone();
        if let Some(lag) = &mut self.lag {
            match request.is_foreign_clock {
                true => lag.forget_move(),
                false => lag.clock_seen(request.ply, request.clock_ms),
            }
            asked.lag_ms += lag.overhead_ms(request.clock_ms - request.overhead_ms);
            asked.missing_increment_ms += lag.missing_increment_ms(request.increment_ms);
        }
        self.is_used = true;
        let plan = self.manager.plan(&asked);
        let (hard_limit_ms, due_ms) = (plan.hard_limit_ms, plan.due_ms);
        self.open = Some(OpenMove { request: asked, hard_limit_ms, due_ms });
        self.report_event(|| Event::Plan(request.clone()), Some(&|| Answer::Plan(plan.clone())));
        plan
    }

    /// Whether the running search has to report the priors of the root's moves.
    pub fn wants_root_priors(&self) -> bool {
        self.open.is_some() && self.manager.wants_root_priors()
    }

    /// Asks the manager, if the move has a clock, and every other stopper about the running search. Without a
    /// [`begin`](Timekeeper::begin) the manager alone is asked.
    pub fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        self.is_used = true;
        let manager = &mut self.manager;
        let verdict = match &mut self.stoppers {
            Some(stoppers) if self.open.is_some() => stoppers.check(snapshot, Some(manager)),
            Some(stoppers) => stoppers.check(snapshot, None),
            None => manager.observe(snapshot),
        };
        self.report_event(|| Event::Observe(snapshot.clone()), Some(&|| Answer::Observe(verdict)));
        verdict
    }

    /// Whether only `stop` is sure to end the search that has begun.
    pub fn is_endless(&self) -> bool {
        self.stoppers.as_ref().is_some_and(|stoppers| stoppers.is_endless(self.open.is_some()))
    }

    /// Ends the search, whose move is played. Returns the report, if the move had a clock.
    ///
    /// The wait for a first evaluation is not taken for lag: it is this engine's own decision.
    pub fn end(&mut self, outcome: &MoveOutcome) -> Option<TimeReport> {
        self.stoppers = None;
        let report = self.open.take().and_then(|open| {
            self.manager.finish(outcome);
            let account = self.manager.last_move()?.clone();
            if let Some(lag) = &mut self.lag {
                let OpenMove { request, hard_limit_ms, due_ms } = open;
                let MoveRequest { ply, clock_ms, increment_ms, .. } = request;
                if !request.is_foreign_clock {
                    lag.move_played(ply, clock_ms, increment_ms, account.used_ms);
                }
                let waited_ms = match outcome.total_nodes {
                    0 => due_ms,
                    _ => outcome.first_evaluation_ms.unwrap_or(0.0),
                };
                lag.search_ended(account.used_ms - hard_limit_ms.max(waited_ms), clock_ms - account.used_ms);
            }
            Some(TimeReport { account, game: self.manager.report() })
        });
        let account = report.as_ref().map(|report| &report.account);
        let answer = account.map(|account| move || Answer::Finish(account.clone()));
        let answer = answer.as_ref().map(|answer| answer as &dyn Fn() -> Answer);
        self.report_event(|| Event::Finish(outcome.clone()), answer);
        report
    }

    /// Applies an event of an event log. The manager that an event names is one of this crate: a log starts no other.
    ///
    /// # Errors
    /// [`SpecError`], when the event names an unknown manager; nothing is changed then.
    pub fn apply(&mut self, event: &Event) -> Result<Option<Answer>, SpecError> {
        match event {
            Event::Manager(ManagerChoice { spec, measure_lag }) => {
                (self.manager, self.is_used) = (Accounted::build(spec)?, false);
                self.spec.clone_from(spec);
                // The lag of a game outlives a change of its manager.
                if *measure_lag != self.lag.is_some() {
                    self.lag = measure_lag.then(LagEstimator::default);
                }
                self.report_event(|| event.clone(), None);
            }
            Event::NewGame => self.new_game(),
            Event::OtherGame { keep_time_stats } => self.other_game(*keep_time_stats),
            Event::TreeChanged => self.tree_changed(),
            Event::BookMove(played) => self.book_move(*played),
            Event::Search(start) => self.search(start),
            Event::Plan(request) => return Ok(Some(Answer::Plan(self.plan(request)))),
            Event::Observe(snapshot) => return Ok(Some(Answer::Observe(self.observe(snapshot)))),
            Event::Finish(outcome) => return Ok(self.end(outcome).map(|report| Answer::Finish(report.account))),
        }
        Ok(None)
    }

    /// Replaces the manager by a new one that has learned nothing. A manager that was told nothing yet stays: it may be
    /// a program, which has just started.
    fn rebuild(&mut self) {
        if !std::mem::take(&mut self.is_used) {
            return;
        }
        let made = make(&self.spec, self.maker.as_ref());
        self.manager = made.expect("a manager was built from the same specification before");
    }

    /// Reports an event and its answer to the observer; without an observer neither is made.
    fn report_event<'e>(&mut self, event: impl FnOnce() -> Event<'e>, answer: Option<&dyn Fn() -> Answer>) {
        if let Some(observer) = &mut self.observer {
            observer.happened(&event(), answer.map(|answer| answer()).as_ref());
        }
    }
}

/// The manager of a specification, from `maker` or this crate, with its account.
fn make(spec: &str, maker: Option<&Maker>) -> Result<Accounted, SpecError> {
    match maker.map_or(Ok(None), |maker| maker(spec))? {
        Some(manager) => Ok(Accounted::around(manager)),
        None => Accounted::build(spec),
    }
}

#[cfg(test)]
#[path = "timekeeper_tests.rs"]
mod tests;
