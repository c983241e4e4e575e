//! Keeps account of every manager's moves, so that no manager has to: the account of the last move, and the statistics
//! of the game.

mod game_statistics;
mod move_account;

pub(super) use game_statistics::Classes;
pub use game_statistics::{PhaseUse, Statistics};
pub use move_account::MoveAccount;

use super::plan::Plan;
use super::{Estimates, MoveOutcome, MoveRequest, SearchSnapshot, TimeManager, Verdict};
use std::borrow::Cow;

/// Keeps the account of a manager's moves, and leaves its decisions as they are.
#[derive(Debug)]
pub(super) struct Accounted {
    inner: Box<dyn TimeManager>,
    classes: Classes,
    /// The class of the game's time control where the manager has no classes; its first clock decides.
    control: Option<&'static str>,
    statistics: Statistics,
    open: Option<Open>,
    last: Option<MoveAccount>,
}

/// A move that has been planned.
#[derive(Clone, Debug)]
struct Open {
    request: MoveRequest,
    budget_ms: f64,
    hard_limit_ms: f64,
    target_nodes: Option<f64>,
    is_emergency: bool,
    limit_ms: Option<f64>,
    due_ms: Option<f64>,
    /// `due_ms` as if the search had been looked at from its start: a first batch that takes longer than the limit is
    /// late.
    due_since_start_ms: f64,
}

/// The moment at which a limit is due that is seen at `elapsed_ms`. A limit that was due before stays so, however it
/// moves in the past.
fn due(before_ms: f64, limit_ms: f64, elapsed_ms: f64) -> f64 {
    if limit_ms > elapsed_ms { limit_ms } else { before_ms.min(elapsed_ms).max(limit_ms) }
}

impl Accounted {
    /// `inner` with its account; `classes` are those of its statistics where it names none itself.
    pub fn around(inner: Box<dyn TimeManager>, classes: Classes) -> Self {
        Self { inner, classes, control: None, statistics: Statistics::new(&classes), open: None, last: None }
    }
}

impl TimeManager for Accounted {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        let plan = self.inner.plan(request);
        self.statistics.control = plan.time_class.clone().unwrap_or_else(|| {
            let control = self.control.get_or_insert_with(|| (self.classes.control)(request.clock_ms));
            Cow::Borrowed(*control)
        });
        self.open = Some(Open {
            request: request.clone(),
            budget_ms: plan.budget_ms,
            hard_limit_ms: plan.hard_limit_ms,
            target_nodes: plan.target_nodes,
            is_emergency: plan.term("emergency").is_some_and(|term| term.value > 0.0),
            limit_ms: None,
            due_ms: None,
            due_since_start_ms: plan.budget_ms,
        });
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        let verdict = self.inner.observe(snapshot);
        if let Some(open) = &mut self.open {
            open.limit_ms = verdict.remaining_ms.map(|remaining| snapshot.elapsed_ms + remaining);
            let elapsed_ms = snapshot.elapsed_ms;
            open.due_ms = open.limit_ms.map(|limit_ms| due(open.due_ms.unwrap_or(elapsed_ms), limit_ms, elapsed_ms));
            if let Some(limit_ms) = open.limit_ms {
                open.due_since_start_ms = due(open.due_since_start_ms, limit_ms, elapsed_ms);
            }
        }
        verdict
    }

    fn wants_root_values(&self) -> bool {
        self.inner.wants_root_values()
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        let open = self.open.take();
        let due_ms = open.as_ref().map(|open| open.due_since_start_ms);
        self.inner.finish(&MoveOutcome { due_ms, ..outcome.clone() });
        let Some(open) = open else { return };
        let used_ms = if outcome.elapsed_ms.is_finite() { outcome.elapsed_ms.max(0.0) } else { 0.0 };
        let Open { request, hard_limit_ms, .. } = open;
        let is_lost = used_ms > request.clock_ms;
        let statistics = &mut self.statistics;
        statistics.moves += 1;
        // The overhead may be more than the clock.
        statistics.successes += u64::from(!is_lost && used_ms <= hard_limit_ms + request.whole_overhead_ms().max(0.0));
        statistics.losses += u64::from(is_lost);
        statistics.used_ms += used_ms;
        statistics.emergency = open.is_emergency;
        let phase = &mut statistics.phases[(self.classes.phase)(request.ply, request.pieces)];
        statistics.phase = phase.phase;
        phase.moves += 1;
        phase.used_ms += used_ms;
        self.last = Some(MoveAccount {
            manager: self.inner.name().into(),
            budget_ms: open.budget_ms,
            hard_limit_ms,
            used_ms,
            stop: outcome.stop,
            limit_ms: open.limit_ms.filter(|limit| limit.is_finite()),
            due_ms: open.due_ms.filter(|due| due.is_finite()),
            total_nodes: outcome.total_nodes,
            target_nodes: open.target_nodes,
            estimates: self.inner.estimates(),
        });
    }

    fn estimates(&self) -> Estimates {
        self.inner.estimates()
    }

    fn reports_statistics(&self) -> bool {
        self.inner.reports_statistics()
    }

    fn statistics(&self) -> Option<&Statistics> {
        Some(&self.statistics)
    }

    fn last_move(&self) -> Option<&MoveAccount> {
        self.last.as_ref()
    }

    fn set_nps(&mut self, nps: f64) {
        self.inner.set_nps(nps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::managers::guests::CLASSES;
    use crate::{StopReason, build};

    // docs/documents.md, 3.6: moves, successes, losses, average, by phase, rate.
    #[test]
    fn sharp_rustic_statistics_tracking() {
        let mut manager = build("adaptive").unwrap();
        let mut play = |clock_ms, ply, used: &dyn Fn(&Plan) -> f64| {
            let pieces = Some(20);
            let plan =
                manager.plan(&MoveRequest { clock_ms, ply, pieces, overhead_ms: 100.0, ..MoveRequest::default() });
            manager.finish(&MoveOutcome { elapsed_ms: used(&plan), ..MoveOutcome::default() });
            manager.statistics().unwrap().clone()
        };
        let first = play(300_000.0, 0, &|plan| plan.hard_limit_ms);
        assert_eq!((first.moves, first.successes, first.losses, first.emergency), (1, 1, 0, false));
        let second = play(10_000.0, 24, &|plan| plan.hard_limit_ms + 101.0);
        assert_eq!((second.moves, second.successes, second.losses, second.emergency), (2, 1, 0, true));
        assert_eq!((second.phase, second.control.as_ref()), ("EarlyMiddlegame", "Blitz"));
        // A hard limit of 0 and an overhead of 100 ms, but only 50 on the clock.
        let third = play(50.0, 26, &|_| 60.0);
        assert_eq!((third.moves, third.losses, third.success_rate()), (3, 1, 100.0 / 3.0), "a loss is no success");
        assert_eq!(
            (third.phases[0].moves, third.phases[1].moves, third.phases[1].used_ms),
            (1, 2, second.used_ms - first.used_ms + 60.0)
        );
        assert_eq!(third.average_ms(), third.used_ms / 3.0);
    }

    // docs/documents.md, 3.6: `Emergency=false`; each manager's own document says when it is one.
    #[test]
    fn statistics_have_the_emergency_of_the_manager() {
        let emergency = |spec: &str, clock_ms: f64| {
            let mut manager = build(spec).unwrap();
            manager.plan(&MoveRequest { clock_ms, ..MoveRequest::default() });
            manager.finish(&MoveOutcome { elapsed_ms: 1.0, ..MoveOutcome::default() });
            manager.statistics().unwrap().emergency
        };
        for (spec, clock_ms) in [
            ("adaptive", 60_000.0),
            ("complexity", 10_000.0),
            // Under 30 s is the textbook's time trouble, under 10 s its emergency.
            ("soft-hard", 10_000.0),
            ("soft-hard(preset=basic)", 10_000.0),
            ("soft-hard(adjust(phase))", 10_000.0),
        ] {
            assert!(!emergency(spec, clock_ms) && emergency(spec, clock_ms - 1.0), "{spec}");
        }
        assert!(!emergency("smooth", 1.0), "it has none");
    }

    #[test]
    fn move_account_names_the_stop_reason() {
        let mut manager = build("alphazero").unwrap();
        assert_eq!(manager.last_move(), None);
        manager.plan(&MoveRequest { clock_ms: 10_200.0, overhead_ms: 200.0, ..MoveRequest::default() });
        manager.observe(&SearchSnapshot { elapsed_ms: 700.0, ..SearchSnapshot::default() });
        let stop = Some(StopReason::CannotBeOvertaken);
        manager.finish(&MoveOutcome { elapsed_ms: 710.0, total_nodes: 42, stop, ..MoveOutcome::default() });
        assert_eq!(
            manager.last_move().unwrap().to_string(),
            "alphazero: used=710ms budget=1200ms hard_limit=1200ms limit=1200ms nodes=42 stopped by smart pruning: the \
             best move cannot be overtaken"
        );
        manager.finish(&MoveOutcome::default());
        assert_eq!(manager.statistics().unwrap().moves, 1, "what was not planned is not counted");
    }

    #[test]
    fn statistics_have_the_time_class_of_the_manager() {
        let class = |spec: &str, minutes: f64| {
            let mut manager = build(spec).unwrap();
            manager.plan(&MoveRequest { clock_ms: minutes * 60_000.0, ..MoveRequest::default() });
            manager.statistics().unwrap().control.clone()
        };
        for (spec, expected) in [
            ("smooth", "Blitz"), // Sharp Rustic's: up to 15 minutes
            ("adaptive", "Blitz"),
            ("adaptive(control(blitz-minutes=5))", "Rapid"),
            ("complexity", "Rapid"), // Mergen's: up to 10 minutes
            ("complexity(class=classical)", "Classical"),
            ("legacy(adjust(control))", "Rapid"),
            ("adaptive(adjust(control))", "Blitz"), // the manager's own
        ] {
            assert_eq!(class(spec, 10.0), expected, "{spec}");
        }
    }

    /// A manager that has a limit for each look.
    #[derive(Debug)]
    struct Limits(Vec<f64>);

    impl TimeManager for Limits {
        fn name(&self) -> &'static str {
            "limits"
        }

        fn plan(&mut self, request: &MoveRequest) -> Plan {
            build("alphazero").unwrap().plan(request)
        }

        fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
            Verdict::at_limit(snapshot, self.0.remove(0), StopReason::Time)
        }

        fn finish(&mut self, _: &MoveOutcome) {}

        fn estimates(&self) -> Estimates {
            Estimates::default()
        }

        fn set_nps(&mut self, _: f64) {}
    }

    #[test]
    fn a_limit_that_moves_into_the_past_is_due_when_it_does() {
        let account = |limits: &[f64]| {
            let mut manager = Accounted::around(Box::new(Limits(limits.to_vec())), CLASSES);
            manager.plan(&MoveRequest { clock_ms: 10_200.0, ..MoveRequest::default() });
            for elapsed_ms in [300.0, 700.0, 900.0] {
                manager.observe(&SearchSnapshot { elapsed_ms, ..SearchSnapshot::default() });
            }
            manager.finish(&MoveOutcome {
                elapsed_ms: 901.0,
                total_nodes: 42,
                stop: Some(StopReason::Time),
                ..MoveOutcome::default()
            });
            manager.last_move().unwrap().clone()
        };
        let moved = account(&[1_200.0, 1_200.0, 600.0]);
        assert_eq!((moved.limit_ms, moved.due_ms), (Some(600.0), Some(900.0)));
        assert!(moved.to_string().contains(" limit=600ms due=900ms nodes=42 "), "{moved}");
        let twice = account(&[1_200.0, 650.0, 600.0]);
        assert_eq!((twice.limit_ms, twice.due_ms), (Some(600.0), Some(700.0)), "what is due stays due");
        let kept = account(&[1_200.0, 899.0, 899.0]);
        assert_eq!((kept.limit_ms, kept.due_ms), (Some(899.0), Some(899.0)));
        assert!(kept.to_string().contains(" limit=899ms nodes=42 "), "{kept}");
    }
}
