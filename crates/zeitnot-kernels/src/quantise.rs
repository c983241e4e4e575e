//! Quantises rows to bytes: each row with a step and a least number of its own, so that no row depends on another.

use super::simd::Simd;

/// Steps between the least number of a row and the largest.
const STEPS: f32 = 255.0;

/// Rows to quantise: `number * factor` becomes a byte that stands for `least + step * byte`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantisation {
    pub rows: usize,
    pub pitch: usize,
    /// Columns, in vectors.
    pub columns: usize,
    /// `[vector of columns][row][lane]`
    pub input: *const f32,
    /// One number for each column, or null.
    pub factors: *const f32,
    /// `[four vectors of columns][row][byte]`
    pub output: *mut u8,
    /// One number for each row.
    pub steps: *mut f32,
    pub least: *mut f32,
}

/// Turns the rows into bytes.
///
/// # Safety
/// Every pointer is good for the sizes beside it, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn quantise<S: Simd>(job: &Quantisation) {
    for row in 0..job.rows {
        // SAFETY: the caller's, for each row.
        unsafe {
            if job.factors.is_null() {
                quantise_row::<S>(job, row, |number, _| number);
            } else {
                quantise_row::<S>(job, row, |number, column| {
                    S::mul(number, S::load(job.factors.add(column * S::LANES)))
                });
            }
        }
    }
}

#[inline(always)]
unsafe fn quantise_row<S: Simd>(job: &Quantisation, row: usize, scaled: impl Fn(S::Vector, usize) -> S::Vector) {
    // SAFETY: the caller's.
    unsafe {
        let from = job.input.add(row * S::LANES);
        let next = job.pitch * S::LANES;
        let first = scaled(S::load(from), 0);
        let (mut least, mut largest) = (first, first);
        for column in 1..job.columns {
            let number = scaled(S::load(from.add(column * next)), column);
            least = S::min(least, number);
            largest = S::max(largest, number);
        }
        let least = -S::largest(S::sub(S::splat(0.0), least));
        let range = S::largest(largest) - least;
        let steps = if range > 0.0 { STEPS / range } else { 0.0 };
        *job.steps.add(row) = range / STEPS;
        *job.least.add(row) = least;
        let (steps, shift) = (S::splat(steps), S::splat(least));
        for column in 0..job.columns {
            let number = scaled(S::load(from.add(column * next)), column);
            let (block, part) = (column / 4, column % 4);
            let to = job.output.add(((block * job.pitch + row) * 4 + part) * S::LANES);
            S::store_bytes(to, S::mul(S::sub(number, shift), steps));
        }
    }
}
