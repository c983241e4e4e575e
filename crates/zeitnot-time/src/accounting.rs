//! Keeps an account of the moves of any manager: planned and used time, the end of the search, and the moment at which
//! its limit was reached.

use super::plan::Plan;
use super::{
    Estimates, GameReport, MoveOutcome, MoveRequest, SearchSnapshot, SpecError, StopReason, TimeManager, Verdict,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The account of the last move under a clock.
///
/// `{}` prints it in one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MoveAccount {
    /// Name and preset of the manager, [`TimeManager::name`].
    pub manager: Cow<'static, str>,
    /// Time the move was planned to take.
    pub budget_ms: f64,
    /// Time the move was not to exceed.
    pub hard_limit_ms: f64,
    /// Time the move took.
    pub used_ms: f64,
    /// The reason of the search's end; `None`: it was stopped from outside, or nothing was left to search.
    pub stop: Option<StopReason>,
    /// The manager's time limit at its last look, on the move's clock: where it stops a search that nothing else stops.
    pub limit_ms: Option<f64>,
    /// The moment at which `limit_ms` was reached: the limit itself, or a later moment if the limit moved into the past
    /// while the search ran.
    #[serde(rename = "due_ms")]
    pub limit_reached_at_ms: Option<f64>,
    /// Nodes in the tree at the end.
    pub total_nodes: u64,
    /// Nodes the tree was meant to have.
    pub target_nodes: Option<f64>,
    /// The manager's estimates after the move.
    pub estimates: Estimates,
}

impl fmt::Display for MoveAccount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { manager, budget_ms, hard_limit_ms, used_ms, total_nodes, .. } = self;
        write!(f, "{manager}: used={used_ms:.0}ms budget={budget_ms:.0}ms hard_limit={hard_limit_ms:.0}ms")?;
        if let Some(limit_ms) = self.limit_ms {
            write!(f, " limit={limit_ms:.0}ms")?;
            if let Some(reached_at_ms) = self.limit_reached_at_ms.filter(|reached_at_ms| *reached_at_ms > limit_ms) {
                write!(f, " due={reached_at_ms:.0}ms")?;
            }
        }
        write!(f, " nodes={total_nodes}")?;
        if let Some(target_nodes) = self.target_nodes {
            write!(f, " target_nodes={target_nodes:.0}")?;
        }
        let Estimates { nps, tree_reuse, timeuse, bank_ms } = self.estimates;
        let known = [("nps", nps, 0), ("tree_reuse", tree_reuse, 3), ("timeuse", timeuse, 3), ("bank_ms", bank_ms, 0)];
        for (name, value, decimals) in known {
            if let Some(value) = value {
                write!(f, " {name}={value:.decimals$}")?;
            }
        }
        match self.stop {
            Some(stop) => write!(f, " stopped by {stop}"),
            None if *total_nodes == 0 => write!(f, " due before an evaluation"),
            None => write!(f, " stopped from outside"),
        }
    }
}

/// A manager with the account of its moves. Its decisions stay as they are.
#[derive(Debug)]
pub(super) struct Accounted {
    inner: Box<dyn TimeManager>,
    open: Option<Open>,
    last: Option<MoveAccount>,
}

/// A move that has been planned.
#[derive(Clone, Debug)]
struct Open {
    /// The account, as far as it is known.
    account: MoveAccount,
    /// As [`MoveAccount::limit_reached_at_ms`], but before the first look the budget counts as the limit: so a first
    /// batch that takes longer than that is late.
    reached_since_start_ms: f64,
}

/// The moment at which `limit_ms`, seen in a look at `elapsed_ms`, is reached: the limit itself while it lies ahead;
/// once past, the earlier of `before_ms`, the moment by the look before, and `elapsed_ms`, but none before the limit.
fn reached_at(before_ms: f64, limit_ms: f64, elapsed_ms: f64) -> f64 {
    if limit_ms > elapsed_ms { limit_ms } else { before_ms.min(elapsed_ms).max(limit_ms) }
}

impl Accounted {
    /// The manager that `spec` describes, with its account.
    pub(crate) fn build(spec: &str) -> Result<Self, SpecError> {
        let (manager, values) = super::specification::resolve(spec, super::managers::ALL)?;
        Ok(Self::around((manager.build)(&values)))
    }

    /// `inner` with an account.
    pub(crate) fn around(inner: Box<dyn TimeManager>) -> Self {
        Self { inner, open: None, last: None }
    }

    /// The account of the last planned move that is finished; `None` before the first.
    pub(crate) fn last_move(&self) -> Option<&MoveAccount> {
        self.last.as_ref()
    }
}

impl TimeManager for Accounted {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn get_ready(&mut self) {
        self.inner.get_ready();
    }

    fn plan(&mut self, request: &MoveRequest) -> Plan {
        let plan = self.inner.plan(request);
        let account = MoveAccount {
            manager: self.inner.name().into(),
            budget_ms: plan.budget_ms,
            hard_limit_ms: plan.hard_limit_ms,
            used_ms: 0.0,
            stop: None,
            limit_ms: None,
            limit_reached_at_ms: None,
            total_nodes: 0,
            target_nodes: plan.target_nodes,
            estimates: Estimates::default(),
        };
        self.open = Some(Open { account, reached_since_start_ms: plan.budget_ms });
        plan
    }

    fn observe(&mut self, snapshot: &SearchSnapshot) -> Verdict {
        let verdict = self.inner.observe(snapshot);
        if let Some(Open { account, reached_since_start_ms }) = &mut self.open {
            let elapsed_ms = snapshot.elapsed_ms;
            account.limit_ms = verdict.remaining_ms.map(|remaining| elapsed_ms + remaining);
            let before_ms = account.limit_reached_at_ms.unwrap_or(elapsed_ms);
            account.limit_reached_at_ms = account.limit_ms.map(|limit_ms| reached_at(before_ms, limit_ms, elapsed_ms));
            if let Some(limit_ms) = account.limit_ms {
                *reached_since_start_ms = reached_at(*reached_since_start_ms, limit_ms, elapsed_ms);
            }
        }
        verdict
    }

    fn wants_root_priors(&self) -> bool {
        self.inner.wants_root_priors()
    }

    fn finish(&mut self, outcome: &MoveOutcome) {
        let open = self.open.take();
        let limit_reached_at_ms = open.as_ref().map(|open| open.reached_since_start_ms);
        self.inner.finish(&MoveOutcome { limit_reached_at_ms, ..outcome.clone() });
        let Some(Open { account, .. }) = open else { return };
        self.last = Some(MoveAccount {
            used_ms: if outcome.elapsed_ms.is_finite() { outcome.elapsed_ms.max(0.0) } else { 0.0 },
            stop: outcome.stop,
            limit_ms: account.limit_ms.filter(|limit_ms| limit_ms.is_finite()),
            limit_reached_at_ms: account.limit_reached_at_ms.filter(|reached_at_ms| reached_at_ms.is_finite()),
            total_nodes: outcome.total_nodes,
            estimates: self.inner.estimates(),
            ..account
        });
    }

    fn estimates(&self) -> Estimates {
        self.inner.estimates()
    }

    fn report(&self) -> Option<GameReport> {
        self.inner.report()
    }

    fn set_nps(&mut self, nps: f64) {
        self.inner.set_nps(nps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build;

    #[test]
    fn move_account_names_the_stop_reason() {
        let mut manager = Accounted::build("alphazero").unwrap();
        assert_eq!(manager.last_move(), None);
        manager.plan(&MoveRequest { clock_ms: 10_200.0, overhead_ms: 200.0, ..MoveRequest::default() });
        manager.observe(&SearchSnapshot { elapsed_ms: 700.0, ..SearchSnapshot::default() });
        let stop = Some(StopReason::CannotBeOvertaken);
        manager.finish(&MoveOutcome { elapsed_ms: 710.0, total_nodes: 42, stop, ..MoveOutcome::default() });
        let account = manager.last_move().unwrap().clone();
        assert_eq!(
            account.to_string(),
            "alphazero: used=710ms budget=1200ms hard_limit=1200ms limit=1200ms nodes=42 stopped by smart pruning: the \
             best move cannot be overtaken"
        );
        manager.finish(&MoveOutcome::default());
        assert_eq!(manager.last_move(), Some(&account), "without a plan there is no account");
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
    }

    #[test]
    fn a_limit_that_moves_into_the_past_is_reached_when_it_does() {
        let account = |limits: &[f64]| {
            let mut manager = Accounted::around(Box::new(Limits(limits.to_vec())));
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
        assert_eq!((moved.limit_ms, moved.limit_reached_at_ms), (Some(600.0), Some(900.0)));
        assert!(moved.to_string().contains(" limit=600ms due=900ms nodes=42 "), "{moved}");
        let twice = account(&[1_200.0, 650.0, 600.0]);
        assert_eq!((twice.limit_ms, twice.limit_reached_at_ms), (Some(600.0), Some(700.0)), "once reached, for good");
        let kept = account(&[1_200.0, 899.0, 899.0]);
        assert_eq!((kept.limit_ms, kept.limit_reached_at_ms), (Some(899.0), Some(899.0)));
        assert!(kept.to_string().contains(" limit=899ms nodes=42 "), "{kept}");
    }
}
