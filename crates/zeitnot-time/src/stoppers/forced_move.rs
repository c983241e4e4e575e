//! Ends a search whose root leaves no choice: there is only one move, all moves but one lose, or a move wins by force.

use crate::{SearchSnapshot, StopReason};

/// A move that is forced.
#[derive(Clone, Copy, Debug)]
pub(super) struct ForcedMove {
    reason: StopReason,
    /// Whether the move's own result is proven, too, so that more search cannot change its value.
    is_proven: bool,
}

impl ForcedMove {
    /// The forced move of a search; `None` if the root leaves a choice. A lost engine looks for the longest resistance:
    /// it still has a choice among losing moves (docs/lc0.md, 2.6).
    pub(super) fn of(snapshot: &SearchSnapshot) -> Option<Self> {
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

    /// The reason to stop now; `None` to search on. On a clock (`on_clock`) a forced move is played at once. Without
    /// one the search goes on to its limit or a proven result: the visits show what the move is worth.
    pub(super) fn stops(self, on_clock: bool) -> Option<StopReason> {
        (on_clock || self.is_proven).then_some(self.reason)
    }
}
