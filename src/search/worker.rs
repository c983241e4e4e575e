//! A worker of a search: it finds out what the leaves of a batch are and asks the network, or it has the tree.

use super::desk::{Job, Stage, Task};
use super::shared::Shared;
use super::state::State;
use crate::backend::{BackendError, Evaluation, Evaluator, Query};
use crate::chess::Game;
use parking_lot::MutexGuard;
use std::time::Duration;

/// How long whoever has the tree and nothing to do with it waits before the next look.
const IDLE: Duration = Duration::from_millis(1);

/// How long a worker without work sleeps, unless something changes sooner, before it makes sure that the search goes on.
const ASLEEP: Duration = Duration::from_millis(100);

/// The worker of number `index`.
pub(super) fn work(shared: &Shared, index: usize, mut evaluator: Box<dyn Evaluator>) -> Box<dyn Evaluator> {
    let mut game = shared.setting.game.clone();
    if game.current().legal_moves().is_empty() {
        return evaluator;
    }
    // Whoever has just had work will soon have more of it, and looks out for it.
    let mut lately = false;
    loop {
        let task = shared.desk.next(index, lately, ASLEEP);
        lately = task.is_some();
        match task {
            Some(Task::Tree) => tend(shared),
            Some(Task::Batch(job)) => evaluate(shared, job, &mut game, evaluator.as_mut()),
            Some(Task::Leave) => break,
            None => {
                if !shared.goes_on(&shared.lock_soon()) {
                    shared.desk.close();
                }
            }
        }
    }
    leave(shared);
    evaluator
}

/// What needs no tree.
fn evaluate(shared: &Shared, mut job: Box<Job>, game: &mut Game, evaluator: &mut dyn Evaluator) {
    let setting = &shared.setting;
    if job.stage == Stage::Classify {
        job.batch.classify(game, setting.game.moves().len(), &setting.rules());
        job.stage = Stage::Evaluate;
        if job.batch.has_out_of_order(&setting.params) {
            job.stage = Stage::Settle;
            return shared.desk.put(job);
        }
    }
    if !job.batch.queries().is_empty() {
        let began_ms = setting.elapsed_ms();
        match ask(evaluator, job.batch.queries(), setting.minibatch_size) {
            Ok(answers) => job.batch.take_answers(&answers, &setting.rules()),
            Err(error) => job.error = Some(error.to_string()),
        }
        job.took_ms = setting.elapsed_ms() - began_ms;
    }
    job.stage = Stage::BackUp;
    shared.desk.put(job);
}

/// The network's answers to all queries, of which it is asked so many at once.
pub(super) fn ask(
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

/// What needs the tree, as long as there is something.
fn tend(shared: &Shared) {
    let mut state = shared.lock_soon();
    loop {
        if !shared.goes_on(&state) {
            shared.desk.close();
            break;
        }
        let Some(mut job) = shared.desk.take_for_tree() else { break };
        match job.stage {
            Stage::BackUp => back_up(shared, &mut state, job),
            Stage::Settle => {
                let freed = state.settle(&shared.setting, &mut job.batch);
                job.progress |= freed;
                if freed && (state.tree.is_empty() || !shared.must_end(&state)) {
                    gather(shared, &mut state, job);
                } else {
                    complete(shared, &mut state, job);
                }
            }
            _ => {
                job.progress = false;
                state.begin(&shared.setting, &mut job.batch);
                gather(shared, &mut state, job);
            }
        }
        // The watchdog must get the lock, too.
        MutexGuard::bump(&mut state);
    }
    drop(state);
    shared.desk.give_tree_back();
}

/// Fills a batch, round by round.
fn gather(shared: &Shared, state: &mut MutexGuard<State>, mut job: Box<Job>) {
    let setting = &shared.setting;
    loop {
        let mut picked = false;
        while !(picked && shared.must_end(state)) && state.pick(setting, &mut job.batch) {
            picked = true;
        }
        if picked && job.batch.has_news() {
            job.stage = Stage::Classify;
            return shared.desk.put(job);
        }
        if picked {
            MutexGuard::bump(state);
        }
        let freed = picked && state.settle(setting, &mut job.batch);
        job.progress |= freed;
        if !freed || shared.must_end(state) && !state.tree.is_empty() {
            return complete(shared, state, job);
        }
    }
}

/// Sends a batch to the network to which nothing more can be added.
fn complete(shared: &Shared, state: &mut MutexGuard<State>, mut job: Box<Job>) {
    if !job.batch.is_empty() {
        job.stage = if job.batch.queries().is_empty() { Stage::BackUp } else { Stage::Evaluate };
        return shared.desk.put(job);
    }
    // Nothing but collisions: their visits come to nothing, or they would count against a node limit for good.
    job.batch.cancel(&mut state.tree);
    job.stage = Stage::Fresh;
    if job.progress {
        // Cache hits and ends of the game were backed up on the way.
        state.batch_done(&shared.setting);
        return shared.desk.put(job);
    }
    state.check(&shared.setting);
    // Other batches hold the rest of the tree.
    if shared.desk.rest(job) {
        if shared.goes_on(state) {
            shared.idle.wait_for(state, IDLE);
        }
        shared.desk.rouse();
    }
}

fn back_up(shared: &Shared, state: &mut MutexGuard<State>, mut job: Box<Job>) {
    let setting = &shared.setting;
    if let Some(error) = job.error.take() {
        job.batch.cancel(&mut state.tree);
        state.error.get_or_insert(error);
        return;
    }
    if !job.batch.queries().is_empty() {
        state.observe(setting, job.batch.queries().len(), job.took_ms);
    }
    state.back_up(setting, &mut job.batch);
    state.batch_done(setting);
    if state.stop.is_some() {
        shared.wake.notify_all();
    }
    while state.too_fast(setting) && !shared.must_end(state) {
        shared.idle.wait_for(state, IDLE);
    }
    job.stage = Stage::Fresh;
    shared.desk.put(job);
    shared.desk.rouse();
}

/// The search is over: what was evaluated counts, and what was not has never happened.
fn leave(shared: &Shared) {
    let mut state = shared.lock_soon();
    while let Some(mut job) = shared.desk.clear() {
        if job.stage == Stage::BackUp && job.error.is_none() {
            // What came too late for this move tells the next how long an evaluation takes.
            if !job.batch.queries().is_empty() {
                state.observe(&shared.setting, job.batch.queries().len(), job.took_ms);
            }
            state.back_up(&shared.setting, &mut job.batch);
        } else {
            job.batch.cancel(&mut state.tree);
        }
    }
    drop(state);
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
            match self.batches.len() == self.fails_at {
                true => Err(BackendError::NoNetwork("test".to_owned())),
                false => Ok((0..batch.len()).map(|number| answer((asked + number) as f32)).collect()),
            }
        }

        fn told_ms(&self) -> Option<f64> {
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
