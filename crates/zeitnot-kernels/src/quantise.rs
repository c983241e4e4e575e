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
    /// One number for each column.
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
    let mut row = 0;
    while row < job.rows {
        // SAFETY: the caller's, for each row.
        unsafe {
            row += match job.rows - row {
                4.. => block::<S, 4>(job, row),
                _ => block::<S, 1>(job, row),
            }
        }
    }
}

/// Turns `R` rows into bytes, which share cache lines. Returns `R`.
#[inline(always)]
unsafe fn block<S: Simd, const R: usize>(job: &Quantisation, row: usize) -> usize {
    // SAFETY: the caller's.
    unsafe {
        let number = |column: usize, r: usize| {
            let factor = S::load(job.factors.add(column * S::LANES));
            S::mul(S::load(job.input.add((column * job.pitch + row + r) * S::LANES)), factor)
        };
        let mut ranges = [[number(0, 0); 2]; R];
        for r in 0..R {
            ranges[r] = [number(0, r); 2];
        }
        for column in 1..job.columns {
            for r in 0..R {
                let number = number(column, r);
                ranges[r] = [S::min(ranges[r][0], number), S::max(ranges[r][1], number)];
            }
        }
        let mut shifts = [S::splat(0.0); R];
        let mut steps = [S::splat(0.0); R];
        for r in 0..R {
            let least = -S::largest(S::sub(S::splat(0.0), ranges[r][0]));
            let range = S::largest(ranges[r][1]) - least;
            *job.steps.add(row + r) = range / STEPS;
            *job.least.add(row + r) = least;
            (shifts[r], steps[r]) = (S::splat(least), S::splat(if range > 0.0 { STEPS / range } else { 0.0 }));
        }
        for column in 0..job.columns {
            let (four, part) = (column / 4, column % 4);
            for r in 0..R {
                let to = job.output.add(((four * job.pitch + row + r) * 4 + part) * S::LANES);
                S::store_bytes(to, S::mul(S::sub(number(column, r), shifts[r]), steps[r]));
            }
        }
    }
    R
}
