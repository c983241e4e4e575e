//! Aligns buffers of numbers to cache lines.

use std::ops::{Deref, DerefMut};

/// Bytes of a cache line, and of the widest vector register: a vector that straddles two lines costs two loads.
const LINE: usize = 64;

/// A fixed number of numbers, the first at a multiple of 64 bytes.
#[derive(Debug, Default)]
pub struct Buffer<T = f32> {
    numbers: Vec<T>,
    start: usize,
    length: usize,
}

impl<T: Copy + Default> Buffer<T> {
    /// A buffer of `length` zeros.
    pub fn new(length: usize) -> Buffer<T> {
        let spare = LINE / size_of::<T>();
        let numbers = vec![T::default(); length + spare];
        // An allocation stays where it is, so that the start stays aligned. Where alignment cannot be had, the slices
        // are correct all the same: no kernel relies on it.
        let start = numbers.as_ptr().align_offset(LINE).min(spare);
        Buffer { numbers, start, length }
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.numbers[self.start..][..self.length]
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.numbers[self.start..][..self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_on_a_cache_line() {
        for length in [0, 1, 63, 1000] {
            let mut buffer = Buffer::<f32>::new(length);
            assert_eq!(buffer.len(), length);
            assert_eq!(buffer.as_ptr() as usize % LINE, 0);
            buffer.fill(1.0);
            let moved = buffer;
            assert_eq!(moved.as_ptr() as usize % LINE, 0);
            assert!(moved.iter().all(|&number| number == 1.0));
        }
    }
}
