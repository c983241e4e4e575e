//! Operations on the rows of transformers besides products: normalisation, softmax, transposition, sums of rows.
//!
//! Rows lie as in `rows`: `[vector of columns][row][lane]`, with a place for `pitch` rows.

use super::activate::exp;
use super::simd::Simd;

/// A layer normalisation `to = gammas * (x - mean) / sqrt(variance + epsilon) + betas` of each row of
/// `x = input + branch`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Normalisation {
    pub rows: usize,
    pub pitch: usize,
    /// Columns, in vectors.
    pub columns: usize,
    /// Number of columns that are features; the other columns have a mask of 0, and stay 0.
    pub features: f32,
    pub epsilon: f32,
    /// One number for each column.
    pub mask: *const f32,
    pub gammas: *const f32,
    pub betas: *const f32,
    pub input: *const f32,
    /// Summand that is added first, or null.
    pub branch: *const f32,
    /// Place for the output, which may be the input or the branch.
    pub output: *mut f32,
}

/// Normalises the rows.
///
/// # Safety
/// Every pointer is good for the sizes beside it, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn normalise<S: Simd>(job: &Normalisation) {
    let next = job.pitch * S::LANES;
    for row in 0..job.rows {
        // SAFETY: the caller's, for each row.
        unsafe {
            let first = row * S::LANES;
            let mut sum = S::splat(0.0);
            for column in 0..job.columns {
                let at = first + column * next;
                let mut number = S::load(job.input.add(at));
                if !job.branch.is_null() {
                    number = S::add(number, S::load(job.branch.add(at)));
                }
                number = S::mul(number, S::load(job.mask.add(column * S::LANES)));
                S::store(job.output.add(at), number);
                sum = S::add(sum, number);
            }
            let mean = S::splat(S::sum(sum) / job.features);
            let mut squares = S::splat(0.0);
            for column in 0..job.columns {
                let number = S::sub(S::load(job.output.add(first + column * next)), mean);
                let number = S::mul(number, S::load(job.mask.add(column * S::LANES)));
                squares = S::fma(number, number, squares);
            }
            let deviation = (S::sum(squares) / job.features + job.epsilon).sqrt();
            let inverse = S::splat(1.0 / deviation);
            for column in 0..job.columns {
                let at = job.output.add(first + column * next);
                let gamma = S::mul(inverse, S::load(job.gammas.add(column * S::LANES)));
                let number = S::sub(S::load(at), mean);
                S::store(at, S::fma(number, gamma, S::load(job.betas.add(column * S::LANES))));
            }
        }
    }
}

/// Computes the softmax of each row of a square matrix, in place.
///
/// # Safety
/// `numbers` is good for `columns` vectors of `pitch` rows, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn softmax<S: Simd>(numbers: *mut f32, rows: usize, pitch: usize, columns: usize) {
    let next = pitch * S::LANES;
    for row in 0..rows {
        // SAFETY: the caller's, for each row.
        unsafe {
            let first = numbers.add(row * S::LANES);
            let mut largest = S::load(first);
            for column in 1..columns {
                largest = S::max(largest, S::load(first.add(column * next)));
            }
            let largest = S::splat(S::largest(largest));
            let mut sum = S::splat(0.0);
            for column in 0..columns {
                let at = first.add(column * next);
                let number = exp::<S>(S::sub(S::load(at), largest));
                S::store(at, number);
                sum = S::add(sum, number);
            }
            let inverse = S::splat(1.0 / S::sum(sum));
            for column in 0..columns {
                let at = first.add(column * next);
                S::store(at, S::mul(S::load(at), inverse));
            }
        }
    }
}

/// Transposes `rows` rows, a multiple of the lanes, to `[vector of rows][column][lane of rows]`.
///
/// # Safety
/// `from` is good for `columns` vectors of `pitch` rows, `to` for `columns` vectors of `rows`, and the processor has
/// the instruction set.
#[inline(always)]
pub(super) unsafe fn transpose<S: Simd>(from: *const f32, rows: usize, pitch: usize, columns: usize, to: *mut f32) {
    let block = S::LANES * S::LANES;
    for vector in 0..rows / S::LANES {
        for column in 0..columns {
            // SAFETY: the caller's, for each block.
            unsafe {
                let from = from.add((column * pitch + vector * S::LANES) * S::LANES);
                S::transpose(from, to.add((vector * columns + column) * block));
            }
        }
    }
}

/// `to += factor * from` for `vectors` vectors, which are `to_next` and `from_next` numbers apart.
///
/// # Safety
/// The pointers are good for these vectors, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn add_scaled<S: Simd>(
    to: *mut f32,
    to_next: usize,
    from: *const f32,
    from_next: usize,
    vectors: usize,
    factor: f32,
) {
    for vector in 0..vectors {
        // SAFETY: the caller's.
        unsafe {
            let at = to.add(vector * to_next);
            S::store(at, S::fma(S::splat(factor), S::load(from.add(vector * from_next)), S::load(at)));
        }
    }
}

/// `numbers = numbers * factors + terms` for `vectors` vectors; factors or terms may be null.
///
/// # Safety
/// The pointers are good for these vectors, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn gate<S: Simd>(numbers: *mut f32, factors: *const f32, terms: *const f32, vectors: usize) {
    for vector in 0..vectors {
        // SAFETY: the caller's.
        unsafe {
            let at = vector * S::LANES;
            let mut number = S::load(numbers.add(at));
            if !factors.is_null() {
                number = S::mul(number, S::load(factors.add(at)));
            }
            if !terms.is_null() {
                number = S::add(number, S::load(terms.add(at)));
            }
            S::store(numbers.add(at), number);
        }
    }
}

/// The sum of products of two rows, whose vectors are `a_next` and `b_next` numbers apart.
///
/// # Safety
/// The pointers are good for these vectors, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn dot_rows<S: Simd>(
    a: *const f32,
    a_next: usize,
    b: *const f32,
    b_next: usize,
    vectors: usize,
) -> f32 {
    /// Sums that run side by side, so that no addition waits for the one before it.
    const SUMS: usize = 4;
    // SAFETY: the caller's.
    unsafe {
        let mut sums = [S::splat(0.0); SUMS];
        for vector in 0..vectors {
            let (x, y) = (S::load(a.add(vector * a_next)), S::load(b.add(vector * b_next)));
            sums[vector % SUMS] = S::fma(x, y, sums[vector % SUMS]);
        }
        S::sum(S::add(S::add(sums[0], sums[1]), S::add(sums[2], sums[3])))
    }
}
