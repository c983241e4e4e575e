//! Accounts for one move: planned and used time, the reason of its end, and the estimates after it.

use crate::{Estimates, StopReason};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// How the last move under a clock went.
///
/// `{}` prints it in one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MoveAccount {
    /// Name and preset of the manager, [`TimeManager::name`](crate::TimeManager::name).
    pub manager: Cow<'static, str>,
    /// Time the move was planned to take.
    pub budget_ms: f64,
    /// Time it was not to exceed.
    pub hard_limit_ms: f64,
    /// Time it took.
    pub used_ms: f64,
    /// The reason of the search's end; `None`: it was told to stop, or nothing was left to search.
    pub stop: Option<StopReason>,
    /// The manager's last limit, on the move's clock: when time would have ended the search otherwise.
    pub limit_ms: Option<f64>,
    /// The moment at which that limit was due: the limit, or later where it moved back into the past while the search
    /// ran.
    pub due_ms: Option<f64>,
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
            if let Some(due_ms) = self.due_ms.filter(|due_ms| *due_ms > limit_ms) {
                write!(f, " due={due_ms:.0}ms")?;
            }
        }
        write!(f, " nodes={total_nodes}")?;
        if let Some(target_nodes) = self.target_nodes {
            write!(f, " target_nodes={target_nodes:.0}")?;
        }
        let Estimates { nps, tree_reuse, timeuse, bank_ms, gain, price } = self.estimates;
        let known = [
            ("nps", nps, 0),
            ("tree_reuse", tree_reuse, 3),
            ("timeuse", timeuse, 3),
            ("bank_ms", bank_ms, 0),
            ("gain", gain, 5),
            ("price", price, 5),
        ];
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
