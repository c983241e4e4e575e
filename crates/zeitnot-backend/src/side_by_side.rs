//! Runs pieces of work on threads of their own, as far as the system has any to give.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

/// The results of `work` for the tasks, in their order. A task for which the system has no thread is done on this one.
pub(super) fn side_by_side<T: Copy + Send, R: Send>(
    tasks: impl Iterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let work = &work;
    thread::scope(|scope| {
        let begin = |task| Builder::new().spawn_scoped(scope, move || work(task)).map_err(|_| work(task));
        let begun: Vec<_> = tasks.map(begin).collect();
        let results = begun.into_iter().map(|begun| match begun {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(result) => result,
        });
        results.collect()
    })
}

/// The results of `work` for the parts of `items`, in their order, on as many threads as there are cores; `work` gets
/// the index of the part's first item and the part.
pub(super) fn in_parts<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &[T]) -> Vec<R> + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let length = items.len().div_ceil(threads).max(1);
    let parts = items.chunks(length).enumerate();
    side_by_side(parts, |(index, part)| work(index * length, part)).into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back_in_their_order() {
        for count in [0, 1, 2, 7, 100] {
            let items: Vec<usize> = (0..count).collect();
            let found = in_parts(&items, |first, part| {
                assert_eq!(part.first(), Some(&first));
                part.iter().map(|item| item * 2).collect()
            });
            assert_eq!(found, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }
}
