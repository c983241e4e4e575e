//! Keeps the time of an engine that is driven: what it tells becomes snapshots, and the manager's verdict its end.

use super::heard::Heard;
use crate::games::record::Evaluation;
use zeitnot_engine::chess::{Game, Move};
use zeitnot_engine::engine::{GoParams, move_request};
use zeitnot_time::event_log::{Observer, SearchStart};
use zeitnot_time::{Maker, MoveOutcome, Plan, SpecError, StopReason, StopperParams, Timekeeper};

/// The overhead of a driven engine where nobody has said one, in milliseconds.
pub const DRIVEN_OVERHEAD_MS: u32 = 50;

/// The least time that an engine has for its first line, in milliseconds: stopped before it, Stockfish 15.1 plays the first
/// legal move of its list.
const FIRST_LINE_MS: f64 = 50.0;

/// The least time between two looks at an engine that tells nothing, in milliseconds: a manager may ask for a time that
/// has come.
const LEAST_WAIT_MS: f64 = 1.0;

/// The time of the games of one engine, which keeps no tree from move to move.
pub struct DrivenClock {
    time: Timekeeper,
    /// The position of the last move on a clock.
    last: Option<Game>,
    search: Option<Search>,
}

/// A search on a clock. Times are in milliseconds since the clock started.
struct Search {
    heard: Heard,
    hard_limit_ms: f64,
    /// The earliest end of a search that has told nothing.
    silent_ms: f64,
    stop: Option<StopReason>,
}

/// The answer to a look at a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Whether the search is to end now.
    pub stops: bool,
    /// The time of the next look if the engine tells nothing until then, in milliseconds since the clock started.
    pub next_ms: f64,
}

impl DrivenClock {
    /// The time of a game with the manager that `spec` describes, which may be one of `maker`'s.
    ///
    /// # Errors
    /// [`SpecError`], when there is no such manager.
    pub fn new(spec: &str, maker: Maker) -> Result<DrivenClock, SpecError> {
        let time = Timekeeper::with(&Timekeeper::spec_without_tree_reuse(spec), maker)?;
        Ok(DrivenClock { time, last: None, search: None })
    }

    /// Changes the manager.
    ///
    /// # Errors
    /// [`SpecError`], and nothing is changed.
    pub fn choose(&mut self, spec: &str) -> Result<(), SpecError> {
        self.time.choose(&Timekeeper::spec_without_tree_reuse(spec))
    }

    /// Lets `observer` see every decision from now on.
    pub fn observe_by(&mut self, observer: Box<dyn Observer>) {
        self.time.observe_by(Some(observer));
    }

    /// Forgets all that was learned, and waits until the manager is ready.
    pub fn new_game(&mut self) {
        (self.last, self.search) = (None, None);
        self.time.new_game();
        self.time.get_ready();
    }

    /// Begins a search on the clock of `go`; `None` where the side to move has none. A game that does not go on with the
    /// last one's moves is another one. `pondered` is the last line of a search on the opponent's time that goes on.
    pub fn begin(&mut self, game: &Game, go: &GoParams, overhead_ms: f64, pondered: Option<&str>) -> Option<Plan> {
        self.search = None;
        let clock = go.clock(game.current().turn())?;
        let goes_on = |last: &Game| last.start_fen() == game.start_fen() && game.moves().starts_with(last.moves());
        if !self.last.as_ref().is_none_or(goes_on) {
            self.time.other_game(false);
        }
        self.last = Some(game.clone());
        // Smart pruning counts visits of a tree.
        let stoppers = StopperParams { smart_pruning_factor: 0.0, ..StopperParams::default() };
        let request = move_request(game, clock, go, overhead_ms);
        let begun = self.time.begin(&SearchStart { stoppers, ..SearchStart::default() }, Some(&request));
        let hard_limit_ms = begun.hard_limit_ms.unwrap_or(0.0);
        let mut heard = Heard::new(game);
        pondered.into_iter().for_each(|line| heard.go_on_from(line));
        // With more, Stockfish lost 4 of 100 games at 1+0.01 on a machine with six times the load of its cores.
        let silent_ms = (begun.due_ms.unwrap_or(0.0) / 2.0).min(FIRST_LINE_MS);
        self.search = Some(Search { heard, hard_limit_ms, silent_ms, stop: None });
        begun.plan
    }

    /// Takes in a line `info`.
    pub fn hear(&mut self, line: &str, at_ms: f64) {
        if let Some(search) = &mut self.search {
            search.heard.hear(line, at_ms);
        }
    }

    /// Asks the manager. Without a search nothing goes on.
    pub fn look(&mut self, at_ms: f64) -> Look {
        let Some(search) = &mut self.search else { return Look { stops: true, next_ms: at_ms } };
        let verdict = self.time.observe(&search.heard.snapshot(at_ms));
        let only_move = search.heard.has_one_move().then_some(StopReason::OnlyMove);
        let late = (at_ms >= search.hard_limit_ms).then_some(StopReason::Time);
        let is_silent = search.heard.best_move().is_none();
        search.stop = verdict.stop.or(only_move).or(late).filter(|_| !is_silent || at_ms >= search.silent_ms);
        let next_ms = verdict.remaining_ms.map_or(search.hard_limit_ms, |remaining_ms| at_ms + remaining_ms);
        let next_ms = next_ms.min(search.hard_limit_ms);
        Look { stops: search.stop.is_some(), next_ms: if is_silent { next_ms.max(search.silent_ms) } else { next_ms } }
    }

    /// Looks at each time that the manager asks for, from `next_ms` to `until_ms`, as if the engine told nothing meanwhile.
    /// Returns the first time at which the search stops, or else the first one after `until_ms`, and whether it stops.
    pub(super) fn look_until(&mut self, mut next_ms: f64, until_ms: f64) -> Look {
        while next_ms <= until_ms {
            let look = self.look(next_ms);
            if look.stops {
                return Look { stops: true, next_ms };
            }
            next_ms = look.next_ms.max(next_ms + LEAST_WAIT_MS);
        }
        Look { stops: false, next_ms }
    }

    /// Ends the search, whose move is played.
    pub fn end(&mut self, at_ms: f64) {
        let Some(Search { heard, stop, .. }) = self.search.take() else { return };
        let total_nodes = heard.nodes_at(at_ms);
        self.time.end(&MoveOutcome { elapsed_ms: at_ms, total_nodes, stop, ..MoveOutcome::default() });
    }

    /// The best move by the last line that the engine told.
    pub fn best_move(&self) -> Option<Move> {
        self.search.as_ref()?.heard.best_move()
    }

    /// The depth and the evaluation that the engine told last.
    pub(super) fn told(&self) -> (u32, Option<Evaluation>) {
        self.search.as_ref().map_or((0, None), |search| (search.heard.depth(), search.heard.evaluation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_time::{MoveRequest, SearchSnapshot, TimeManager, Verdict};

    /// A manager that wants to be asked at 100 ms, says then that it goes on to 300, and stops there.
    #[derive(Debug)]
    struct Twice;

    impl TimeManager for Twice {
        fn name(&self) -> &'static str {
            "twice"
        }

        fn plan(&mut self, request: &MoveRequest) -> Plan {
            Timekeeper::new("simple").unwrap().begin(&SearchStart::default(), Some(request)).plan.unwrap()
        }

        fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
            let end_ms = if snapshot.elapsed_ms < 100.0 { 100.0 } else { 300.0 };
            Verdict::at_limit(snapshot, end_ms, StopReason::Time)
        }

        fn finish(&mut self, _: &MoveOutcome) {}
    }

    #[test]
    fn a_silent_engine_is_looked_at_whenever_the_manager_asks() {
        let maker: Maker = std::sync::Arc::new(|_| Ok(Some(Box::new(Twice))));
        let mut clock = DrivenClock::new("twice", maker).unwrap();
        let go = GoParams { wtime: Some(60_000.0), btime: Some(60_000.0), ..GoParams::default() };
        clock.begin(&Game::new(), &go, 0.0, None).unwrap();
        clock.hear("info depth 1 nodes 5 score cp 1 pv e2e4", 5.0);
        let first = clock.look(5.0);
        assert_eq!(first, Look { stops: false, next_ms: 100.0 });
        assert_eq!(clock.look_until(first.next_ms, 99.0), Look { stops: false, next_ms: 100.0 });
        assert_eq!(clock.look_until(first.next_ms, 250.0), Look { stops: false, next_ms: 300.0 });
        assert_eq!(clock.look_until(300.0, 400.0), Look { stops: true, next_ms: 300.0 });
    }
}
