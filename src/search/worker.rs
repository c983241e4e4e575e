//! A worker of a search: gather, evaluate, back up.

use super::running::Shared;
use super::state::State;
use crate::backend::Evaluator;
use parking_lot::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long a worker that found nothing to gather waits for the others, unless they back up sooner.
const IDLE: Duration = Duration::from_millis(1);

/// One worker: gather under the lock, evaluate without it, back up under it.
pub(super) fn work(shared: &Shared, mut evaluator: Box<dyn Evaluator>) -> Box<dyn Evaluator> {
    let mut game = shared.setting.game.clone();
    if game.current().legal_moves().is_empty() {
        return evaluator;
    }
    let mut state = shared.state.lock();
    // At least one evaluation is always made: without it there is nothing to choose by.
    let pending = |state: &State| state.tree.is_empty() && state.error.is_none() && !shared.over.load(Ordering::SeqCst);
    while !shared.must_end(&state) || pending(&state) {
        // A batch that asks the network nothing keeps the lock: the watchdog and the other workers must get it, too.
        MutexGuard::bump(&mut state);
        let playouts = state.playouts();
        let batch = state.gather(&shared.setting, &mut game);
        if batch.is_empty() {
            // Nothing but collisions: their visits come to nothing, or they would count against a node limit for good.
            batch.cancel(&mut state.tree);
            let progress = state.playouts() > playouts;
            if progress {
                state.batch_done(&shared.setting);
            } else {
                state.check(&shared.setting);
            }
            if shared.must_end(&state) && !pending(&state) {
                break;
            }
            // Unless cache hits and terminals were backed up on the way, other workers hold the rest of the tree.
            if !progress {
                shared.backed_up.wait_for(&mut state, IDLE);
            }
            continue;
        }
        let answers = if batch.queries().is_empty() {
            Ok(Vec::new())
        } else {
            drop(state);
            let began_ms = shared.setting.elapsed_ms();
            let answers = evaluator.evaluate(batch.queries());
            let took_ms = shared.setting.elapsed_ms() - began_ms;
            state = shared.state.lock();
            state.latency.observe(batch.queries().len(), took_ms);
            answers
        };
        match answers {
            Ok(answers) => {
                let progress = batch.back_up(&mut state.tree, &answers, &shared.setting.params);
                state.count(progress);
                state.batch_done(&shared.setting);
            }
            Err(error) => {
                batch.cancel(&mut state.tree);
                state.error.get_or_insert(error.to_string());
                break;
            }
        }
        shared.backed_up.notify_all();
        if state.stop.is_some() {
            shared.wake.notify_all();
        }
        while state.too_fast(&shared.setting) && !shared.must_end(&state) {
            shared.backed_up.wait_for(&mut state, IDLE);
        }
    }
    shared.wake.notify_all();
    evaluator
}
