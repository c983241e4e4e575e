//! Loads the networks of the players of a match.

use super::contestant::Kind;
use super::{Contestant, MatchClock};
use zeitnot_engine::announcer::Announcer;
use zeitnot_engine::backend::SharedEvaluations;
use zeitnot_engine::engine::{self, EngineError, RuntimePolicy};
use zeitnot_engine::memory;

/// Evaluations that a network keeps for each engine of games on virtual clocks: the players of a game evaluate much the
/// same positions.
const SHARED_EVALUATIONS: usize = 25_000;

/// Loads the networks of all players, each once, and divides the free memory among `engines` engines.
///
/// # Errors
/// When a network cannot be loaded.
pub fn load(
    contestants: &mut [Contestant],
    engines: usize,
    clock: &MatchClock,
    policy: RuntimePolicy,
    announcer: &Announcer,
) -> Result<(), EngineError> {
    let automatic = memory::automatic_limit().map(|bytes| bytes / engines.max(1));
    for index in 0..contestants.len() {
        let (before, rest) = contestants.split_at_mut(index);
        let Kind::Own { options, network } = &mut rest[0].kind else { continue };
        let same = before.iter().find_map(|other| match &other.kind {
            Kind::Own { options: others, network } if engine::is_same_network(others, options) => network.clone(),
            _ => None,
        });
        *network = match same {
            Some(network) => Some(network),
            None => {
                let mut loaded = engine::load_network(options, policy, announcer)?;
                if clock.is_virtual() {
                    loaded.backend = SharedEvaluations::around(loaded.backend, engines * SHARED_EVALUATIONS);
                }
                Some(loaded)
            }
        };
        options.automatic_memory = automatic;
    }
    Ok(())
}
