//! Runs a search: on threads of its own with a watchdog that keeps the promise to answer in time ([`Search::start`]), or
//! on the caller's thread by the machine's clock or a virtual one ([`Search::run`]).

mod answer;
mod batch_size;
mod depth_growth;
mod move_limits;
mod search;
mod shared;
mod state;
mod synchronous;
mod threads;
mod watchdog;
mod work_queue;
mod worker;

#[cfg(test)]
mod bare_tests;
#[cfg(test)]
mod deadline_tests;
#[cfg(test)]
mod failures_tests;

pub(crate) use search::{Hit, Search};
pub(crate) use threads::SearchThreads;

use crate::search::context::{DrawScore, SearchContext};
use crate::search::request::SearchRequest;
use crate::search::tree::Tree;
use crate::search::tree::packed_move::PackedMove;
use batch_size::least_batch;
use move_limits::MoveLimits;
use state::State;
use std::sync::Arc;
use zeitnot_backend::Backend;
use zeitnot_base::clock::Clock;

/// Begins a search on `tree`. Returns the facts that stay the same while it runs, and the state that its threads share.
pub(crate) fn begin_search(
    mut tree: Tree,
    backend: Arc<dyn Backend>,
    workers: usize,
    clock: Arc<dyn Clock>,
    request: SearchRequest,
) -> (SearchContext, State) {
    tree.follow(request.game.clone());
    tree.restrict_root(&request.search_moves);
    debug_assert!(tree.has_own_visits(), "the root has visits that it did not allocate");
    tree.begin_search(request.params.sticky_endgames);
    let attributes = backend.attributes();
    let minibatch_size = match request.params.minibatch_size {
        0 => attributes.preferred_batch,
        size => size,
    };
    let minibatch_size = minibatch_size.clamp(1, attributes.maximum_batch.max(1));
    let least_batch = match request.params.minibatch_size {
        0 => least_batch(attributes),
        // A size that was asked for is kept.
        _ => minibatch_size,
    };
    let SearchRequest { start_ms, hard_limit_ms, due_ms, longest_batch_ms, .. } = request;
    let limits =
        MoveLimits { longest_batch_ms, ..MoveLimits::new(&request.limits, &tree, start_ms, hard_limit_ms, due_ms) };
    let is_drawn = request.params.temperature.at(request.game.current().ply()) > 0.0;
    let context = SearchContext {
        draw: DrawScore::new(request.params.draw_score, request.game.current().turn()),
        has_moves_left: attributes.has_moves_left,
        nps_limit: f64::from(request.params.nps_limit),
        minibatch_size,
        least_batch: least_batch.clamp(1, minibatch_size),
        workers,
        params: request.params,
        clock,
        game: request.game,
        packed_search_moves: request.search_moves.iter().map(|mv| PackedMove::new(*mv).0).collect(),
        search_moves: request.search_moves,
        multi_pv: request.multi_pv,
        leaves_wins: request.multi_pv > 1 && !is_drawn,
        probes: request.probes,
        pondering: request.limits.ponder,
        live_stats: request.with_live_stats,
        with_move_stats: request.with_move_stats,
        depth_limit: request.limits.depth,
        backend,
    };
    let mut state =
        State::new(tree, request.time, request.latency, request.seed, limits).observed_by(request.root_observer);
    // A tree that was kept may be all that the time allows, or all that was asked for.
    state.check(&context);
    (context, state)
}
