//! Ends a search whose root leaves no choice: there is one move, every other one loses, or one wins by force.

use crate::{SearchSnapshot, StopReason};

/// A move that is forced.
#[derive(Clone, Copy, Debug)]
pub struct ForcedMove {
    reason: StopReason,
    /// Whether its own result is proven, too, so that more search cannot change what it is worth.
    is_proven: bool,
}

impl ForcedMove {
    /// The forced move of a search, if it has one. A lost engine looks for the longest resistance: it still has a
    /// choice among losing moves (docs/lc0.md, 2.6).
    pub fn of(snapshot: &SearchSnapshot) -> Option<Self> {
        let (moves, losing) = (snapshot.root_visits.len(), snapshot.losing_edges as usize);
        let spared = usize::from(!snapshot.may_resign);
        if moves == 0 {
            None
        } else if moves == 1 {
            Some(Self { reason: StopReason::OnlyMove, is_proven: snapshot.win_found || losing == 1 })
        } else if moves <= losing.saturating_add(spared) {
            Some(Self { reason: StopReason::OnlyNonLosingMove, is_proven: moves <= losing })
        } else {
            snapshot.win_found.then_some(Self { reason: StopReason::WinFound, is_proven: true })
        }
    }

    /// Why the search stops now, if it does. On a clock (`on_clock`) a forced move is played at once; otherwise it is
    /// searched to the limit that was asked for, or until its result is proven: its visits say what it is worth.
    pub fn stops(self, on_clock: bool) -> Option<StopReason> {
        (on_clock || self.is_proven).then_some(self.reason)
    }
}
