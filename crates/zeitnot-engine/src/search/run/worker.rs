//! Runs a worker of a search: it extends and evaluates the leaves of batches, or it owns the tree and gathers and backs
//! up.

use super::shared::{SharedSearch, StateGuard};
use super::work_queue::{QueuedBatch, Stage, Task};
use std::time::Duration;
use zeitnot_backend::{BackendError, Evaluation, Evaluator, Query};
use zeitnot_chess::Game;

/// Wait of the worker that owns the tree when there is nothing to gather.
const IDLE: Duration = Duration::from_millis(1);

/// Longest sleep of a worker without work before it makes sure that the search goes on.
const ASLEEP: Duration = Duration::from_millis(100);

/// The error of a search for which no evaluator is left.
const NO_EVALUATOR: &str =
    "no evaluator is left: a batch of the search before panicked, a defect that standard error has reported";

/// Runs worker number `index`: waits for an evaluator, and then works until the search ends.
pub(crate) fn work(shared: &SharedSearch, index: usize) {
    let Some(mut evaluator) = shared.evaluators.lend(|| !shared.is_over()) else {
        if !shared.is_over() {
            shared.fail(NO_EVALUATOR);
        }
        return;
    };
    let mut game = shared.context.game.clone();
    // A worker that has just had a task will soon have another, and spins for it.
    let mut lately = false;
    loop {
        let task = shared.queue.next(index, lately, ASLEEP);
        lately = task.is_some();
        match task {
            Some(Task::Tree) => work_on_tree(shared),
            Some(Task::Batch(queued)) => evaluate(shared, queued, &mut game, &mut *evaluator),
            Some(Task::Leave) => break,
            None => {
                if !shared.goes_on(&shared.lock_soon()) {
                    shared.queue.close();
                }
            }
        }
    }
    leave(shared);
}

/// Extends or evaluates the leaves of a batch, without the tree.
fn evaluate(shared: &SharedSearch, mut queued: Box<QueuedBatch>, game: &mut Game, evaluator: &mut dyn Evaluator) {
    let context = &shared.context;
    if queued.stage == Stage::Extend {
        queued.batch.extend_leaves(game, context.game.moves().len(), context);
        queued.stage = Stage::Evaluate;
        if queued.batch.has_out_of_order(&context.params) {
            queued.stage = Stage::BackUpOutOfOrder;
            return shared.queue.put(queued);
        }
    }
    if !queued.batch.queries().is_empty() {
        let began_ms = context.clock.now_ms();
        match ask(evaluator, queued.batch.queries(), context.minibatch_size) {
            Ok(answers) => queued.batch.take_answers(&answers, context),
            Err(error) => {
                shared.evaluators.note_failure(&error);
                queued.error = Some(error.to_string());
            }
        }
        queued.took_ms = context.clock.now_ms() - began_ms;
    }
    queued.stage = Stage::BackUp;
    shared.queue.put(queued);
}

/// The network's answers to all queries, asked `at_once` at a time.
pub(crate) fn ask(
    evaluator: &mut dyn Evaluator,
    queries: &[Query],
    at_once: usize,
) -> Result<Vec<Evaluation>, BackendError> {
    let (first, rest) = queries.split_at(queries.len().min(at_once));
    let mut answers = evaluator.evaluate(first)?;
    for minibatch in rest.chunks(at_once) {
        answers.append(&mut evaluator.evaluate(minibatch)?);
    }
    Ok(answers)
}

/// Gathers and backs up batches as long as any needs the tree.
fn work_on_tree(shared: &SharedSearch) {
    let mut state = shared.lock_soon();
    loop {
        if !shared.goes_on(&state) {
            shared.queue.close();
            break;
        }
        let Some(mut queued) = shared.queue.take_for_tree() else { break };
        match queued.stage {
            Stage::BackUp => back_up(shared, &mut state, queued),
            Stage::BackUpOutOfOrder => {
                let freed = state.back_up_out_of_order(&shared.context, &mut queued.batch);
                queued.progress |= freed;
                if freed && (state.tree.is_empty() || !shared.must_end(&state)) {
                    gather(shared, &mut state, queued);
                } else {
                    complete(shared, &mut state, queued);
                }
            }
            _ => {
                queued.progress = false;
                state.begin(&shared.context, &mut queued.batch);
                gather(shared, &mut state, queued);
            }
        }
        // The others must get the lock, too.
        state.bump();
    }
    drop(state);
    shared.queue.release_tree();
}

/// Fills a batch, round by round.
fn gather(shared: &SharedSearch, state: &mut StateGuard, mut queued: Box<QueuedBatch>) {
    let context = &shared.context;
    loop {
        let mut picked = false;
        while !(picked && shared.must_end(state)) && state.pick(context, &mut queued.batch) {
            picked = true;
        }
        if picked && queued.batch.has_news() {
            queued.stage = Stage::Extend;
            return shared.queue.put(queued);
        }
        if picked {
            state.bump();
            if shared.is_over() {
                queued.stage = Stage::Extend;
                return shared.queue.put(queued);
            }
        }
        let freed = picked && state.back_up_out_of_order(context, &mut queued.batch);
        queued.progress |= freed;
        if !freed || shared.must_end(state) && !state.tree.is_empty() {
            return complete(shared, state, queued);
        }
    }
}

/// Hands on a batch to which nothing can be added: to the network or to the backup; an empty one is gathered again.
fn complete(shared: &SharedSearch, state: &mut StateGuard, mut queued: Box<QueuedBatch>) {
    if !queued.batch.is_empty() {
        queued.stage = if queued.batch.queries().is_empty() { Stage::BackUp } else { Stage::Evaluate };
        return shared.queue.put(queued);
    }
    // Nothing but collisions: their visits come to nothing, or they would count against a node limit for good.
    queued.batch.cancel(&mut state.tree);
    queued.stage = Stage::Fresh;
    if queued.progress {
        // Cache hits and ends of the game were backed up on the way.
        state.batch_done(&shared.context);
        shared.queue.put(queued);
        return answer_if_due(shared, state);
    }
    state.check(&shared.context);
    // Other batches hold the rest of the tree.
    let all_parked = shared.queue.park(queued);
    answer_if_due(shared, state);
    if all_parked {
        if shared.goes_on(state) {
            state.wait_for(&shared.idle, IDLE);
        }
        shared.queue.unpark_all();
    }
}

fn back_up(shared: &SharedSearch, state: &mut StateGuard, mut queued: Box<QueuedBatch>) {
    let context = &shared.context;
    if let Some(error) = queued.error.take() {
        queued.batch.cancel(&mut state.tree);
        state.error.get_or_insert(error);
        return answer_if_due(shared, state);
    }
    if !queued.batch.queries().is_empty() {
        state.observe(context, queued.batch.queries().len(), queued.took_ms);
    }
    state.back_up(context, &mut queued.batch);
    state.batch_done(context);
    queued.stage = Stage::Fresh;
    shared.queue.put(queued);
    shared.queue.unpark_all();
    answer_if_due(shared, state);
    while !shared.must_end(state) && state.too_fast(context) {
        state.wait_for(&shared.idle, IDLE);
    }
}

/// Gives the answer where it is due: this worker has a processor, and the watchdog might have to wait for one.
fn answer_if_due(shared: &SharedSearch, state: &mut StateGuard) {
    if shared.is_due(state) {
        shared.answer(state);
    }
}

/// Ends the work of a search: evaluated batches are backed up, the others are cancelled. A batch that came too late for
/// this move still measures the latency.
pub(crate) fn clear_queue(shared: &SharedSearch, state: &mut StateGuard) {
    while let Some(mut queued) = shared.queue.clear() {
        let positions = queued.batch.queries().len();
        let is_evaluated = queued.stage == Stage::BackUp && queued.error.is_none();
        match (is_evaluated, state.is_taken()) {
            (true, true) => {
                let calls = shared.context.calls(positions, queued.took_ms);
                calls.for_each(|(positions, took_ms)| shared.evaluators.note_late_batch(positions, took_ms));
            }
            (false, true) => {}
            (true, false) => {
                if positions > 0 {
                    state.observe(&shared.context, positions, queued.took_ms);
                }
                state.back_up(&shared.context, &mut queued.batch);
            }
            (false, false) => queued.batch.cancel(&mut state.tree),
        }
    }
}

fn leave(shared: &SharedSearch) {
    clear_queue(shared, &mut shared.lock_soon());
    shared.wake.notify_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers with the number of queries that it has been asked, and writes down the sizes of the batches.
    struct Counting {
        batches: Vec<usize>,
        fails_at: usize,
    }

    impl Evaluator for Counting {
        fn evaluate(&mut self, batch: &[Query]) -> Result<Vec<Evaluation>, BackendError> {
            let asked: usize = self.batches.iter().sum();
            self.batches.push(batch.len());
            if self.batches.len() == self.fails_at {
                Err(BackendError::NoNetwork("test".to_owned()))
            } else {
                Ok((0..batch.len()).map(|number| answer((asked + number) as f32)).collect())
            }
        }

        fn modelled_cost_ms(&self) -> Option<f64> {
            None
        }
    }

    fn answer(q: f32) -> Evaluation {
        Evaluation { q, d: 0.0, m: None, logits: Box::default() }
    }

    #[test]
    fn the_network_is_asked_for_a_minibatch_at_a_time() {
        for (queries, sizes) in [(70, &[32, 32, 6][..]), (64, &[32, 32]), (32, &[32]), (3, &[3])] {
            let queries = vec![Query::default(); queries];
            let mut evaluator = Counting { batches: Vec::new(), fails_at: 0 };
            let answers = ask(&mut evaluator, &queries, 32).unwrap();
            assert_eq!(evaluator.batches, sizes);
            assert!(answers.iter().map(|answer| answer.q as usize).eq(0..queries.len()), "in the order of the queries");
        }
        let mut failing = Counting { batches: Vec::new(), fails_at: 2 };
        assert!(ask(&mut failing, &vec![Query::default(); 96], 32).is_err());
        assert_eq!(failing.batches, [32, 32], "nothing is asked after a failure");
    }
}
