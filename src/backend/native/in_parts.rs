//! Computes the parts of a slice on as many threads as there are cores.

use std::panic::resume_unwind;
use std::thread::{self, Builder};

/// What `work` makes of the parts of `items`, in their order; it gets the index of a part's first item. A part for which the system
/// has no thread is computed on this one.
pub(super) fn in_parts<T: Sync, R: Send>(items: &[T], work: impl Fn(usize, &[T]) -> Vec<R> + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let length = items.len().div_ceil(threads).max(1);
    let work = &work;
    thread::scope(|scope| {
        let begin = |(index, part)| {
            let first = index * length;
            Builder::new().spawn_scoped(scope, move || work(first, part)).map_err(|_| work(first, part))
        };
        let parts: Vec<_> = items.chunks(length).enumerate().map(begin).collect();
        let results = parts.into_iter().map(|part| match part {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Err(result) => result,
        });
        results.flatten().collect()
    })
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
