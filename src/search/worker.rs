//! A worker of a search: gather, evaluate, back up.

use super::gather::Batch;
use super::running::Shared;
use super::state::State;
use crate::backend::Evaluator;
use crate::chess::Game;
use parking_lot::MutexGuard;
use std::time::Duration;

/// How long a worker that found nothing to gather waits for the others, unless they back up sooner.
const IDLE: Duration = Duration::from_millis(1);

/// One worker: gather under the lock, evaluate without it, back up under it.
pub(super) fn work(shared: &Shared, mut evaluator: Box<dyn Evaluator>) -> Box<dyn Evaluator> {
    let mut game = shared.setting.game.clone();
    if game.current().legal_moves().is_empty() {
        return evaluator;
    }
    let mut batch = Batch::default();
    let mut state = shared.state.lock();
    while shared.goes_on(&state) {
        let playouts = state.playouts();
        state = gather(shared, state, &mut batch, &mut game);
        if batch.is_empty() {
            // Nothing but collisions: their visits come to nothing, or they would count against a node limit for good.
            batch.cancel(&mut state.tree);
            let progress = state.playouts() > playouts;
            if progress {
                state.batch_done(&shared.setting);
            } else {
                state.check(&shared.setting);
            }
            if !shared.goes_on(&state) {
                break;
            }
            // Unless cache hits and terminals were backed up on the way, other workers hold the rest of the tree.
            if !progress {
                shared.backed_up.wait_for(&mut state, IDLE);
            }
            continue;
        }
        if !batch.queries().is_empty() {
            drop(state);
            let began_ms = shared.setting.elapsed_ms();
            let answers = evaluator.evaluate(batch.queries());
            let took_ms = shared.setting.elapsed_ms() - began_ms;
            match answers {
                Ok(answers) => {
                    batch.take_answers(&answers, &shared.setting.rules());
                    state = shared.state.lock();
                    state.observe(batch.queries().len(), took_ms);
                }
                Err(error) => {
                    state = shared.state.lock();
                    batch.cancel(&mut state.tree);
                    state.error.get_or_insert(error.to_string());
                    break;
                }
            }
        }
        state.back_up(&shared.setting, &mut batch);
        state.batch_done(&shared.setting);
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

/// Gathers a batch, round by round. What the leaves are is found out without the lock.
fn gather<'a>(
    shared: &'a Shared,
    state: MutexGuard<'a, State>,
    batch: &mut Batch,
    game: &mut Game,
) -> MutexGuard<'a, State> {
    let setting = &shared.setting;
    let root_plies = setting.game.moves().len();
    let mut state = state;
    state.begin(setting, batch);
    while state.pick(setting, batch) {
        if batch.has_news() {
            MutexGuard::unlocked(&mut state, || batch.classify(game, root_plies, &setting.rules()));
        } else {
            // The watchdog and the other workers must get the lock, too.
            MutexGuard::bump(&mut state);
        }
        state.settle(setting, batch);
        if shared.must_end(&state) && !state.tree.is_empty() {
            break;
        }
    }
    state
}
