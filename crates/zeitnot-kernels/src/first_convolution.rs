//! The first convolution. Nearly all input numbers are zeros, and nearly all others are ones in planes of a few
//! squares, so that adding the weights of each set square is several times cheaper than any dense convolution.

use super::activate::activate;
use super::activation::Activation;
use super::simd::Simd;
use super::winograd::{SQUARES, Tiling, empty, half, place, scatter};

/// Weights of a plane for one output: a 3x3 kernel.
pub const TAPS: usize = 9;
/// Squares of a rank.
const SIDE: usize = 8;
/// A rank with a square of padding on both sides.
const PADDED: usize = SIDE + 2;

/// A plane whose squares all have one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FullPlane {
    /// Index of the plane's set of weights.
    pub plane: u32,
    /// Value of every square.
    pub value: f32,
}

/// A square that is set in a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetSquare {
    /// Index of the plane's set of weights.
    pub plane: u32,
    /// 0..64.
    pub square: u32,
    /// Value of the square.
    pub value: f32,
}

/// The first convolution for one board.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input<'a> {
    pub full: &'a [FullPlane],
    pub set: &'a [SetSquare],
    /// Output planes, in vectors.
    pub columns: usize,
    /// `[plane][vector][tap][lane]`
    pub weights: *const f32,
    pub bias: *const f32,
    pub activation: Activation,
    /// Place for the board.
    pub output: *mut f32,
    /// Place for the tiles of the next convolution, or null.
    pub next: *mut f32,
    /// Distance in `next` from one number of a tile to the next.
    pub next_slab: usize,
}

/// Runs the first convolution.
///
/// # Safety
/// Every pointer is good for the sizes beside it, every plane has weights, every square is below 64, and the processor
/// has the instruction set.
#[inline(always)]
pub(super) unsafe fn input<S: Simd, T: Tiling<IN, OUT>, const IN: usize, const OUT: usize>(job: &Input<'_>) {
    let tiles = SQUARES / (OUT * OUT);
    // SAFETY: the caller's.
    unsafe {
        let zero = S::splat(0.0);
        let mut padded = [zero; PADDED * PADDED];
        let mut board = empty::<S>();
        let mut half = half::<S, IN>();
        for column in 0..job.columns {
            let weights = |plane: u32| job.weights.add((plane as usize * job.columns + column) * TAPS * S::LANES);
            // All full planes together are one plane of ones with these weights.
            let mut taps = [zero; TAPS];
            for full in job.full {
                let from = weights(full.plane);
                let value = S::splat(full.value);
                for tap in 0..TAPS {
                    taps[tap] = S::fma(value, S::load(from.add(tap * S::LANES)), taps[tap]);
                }
            }
            fill::<S>(&mut padded, &taps, S::load(job.bias.add(column * S::LANES)));
            for set in job.set {
                let from = weights(set.plane);
                let value = S::splat(set.value);
                let (rank, file) = (set.square as usize / SIDE, set.square as usize % SIDE);
                // A tap at (y, x) looks from a square to the one at (y - 1, x - 1) from it: the square it looks from is
                // as far the other way.
                let sums = padded.as_mut_ptr().add(rank * PADDED + file);
                for y in 0..3 {
                    for x in 0..3 {
                        let sum = sums.add((2 - y) * PADDED + 2 - x);
                        *sum = S::fma(value, S::load(from.add((y * 3 + x) * S::LANES)), *sum);
                    }
                }
            }
            let output = job.output.add(column * SQUARES * S::LANES);
            match job.activation {
                Activation::Relu => {
                    for square in 0..SQUARES {
                        board[place(square)] = activate::<S>(padded[within(square)], Activation::Relu);
                    }
                }
                Activation::Mish => {
                    for square in 0..SQUARES {
                        board[place(square)] = activate::<S>(padded[within(square)], Activation::Mish);
                    }
                }
                other => {
                    for square in 0..SQUARES {
                        board[place(square)] = activate::<S>(padded[within(square)], other);
                    }
                }
            }
            for square in 0..SQUARES {
                S::store(output.add(square * S::LANES), board[place(square)]);
            }
            if !job.next.is_null() {
                scatter::<S, T, IN, OUT>(&board, &mut half, job.next.add(column * tiles * S::LANES), job.next_slab);
            }
        }
    }
}

/// Place of a square in the padded board.
const fn within(square: usize) -> usize {
    (square / SIDE + 1) * PADDED + square % SIDE + 1
}

/// Writes the convolution of a plane of ones, for each square: at the edges some taps look beyond the board.
#[inline(always)]
unsafe fn fill<S: Simd>(padded: &mut [S::Vector; PADDED * PADDED], taps: &[S::Vector; TAPS], bias: S::Vector) {
    // SAFETY: the caller's.
    unsafe {
        for rank in 0..SIDE {
            // Inner ranks are alike.
            if (2..SIDE - 1).contains(&rank) {
                for file in 0..SIDE {
                    padded[(rank + 1) * PADDED + file + 1] = padded[2 * PADDED + file + 1];
                }
                continue;
            }
            let mut rows = [S::splat(0.0); 3];
            for y in 0..3 {
                if (1..=SIDE).contains(&(rank + y)) {
                    for x in 0..3 {
                        rows[x] = S::add(rows[x], taps[y * 3 + x]);
                    }
                }
            }
            let middle = S::add(rows[1], bias);
            for file in 0..SIDE {
                let mut sum = middle;
                if file > 0 {
                    sum = S::add(sum, rows[0]);
                }
                if file < SIDE - 1 {
                    sum = S::add(sum, rows[2]);
                }
                padded[(rank + 1) * PADDED + file + 1] = sum;
            }
        }
    }
}
