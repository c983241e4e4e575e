//! What happens between the products of one convolution and those of the next: the board is put together, squeezed and
//! excited, added to, activated, kept and taken apart again, while it is in the first-level cache.

use super::activate::{activate, sigmoid};
use super::simd::Simd;
use super::winograd::{SQUARES, Tiling, gather, scatter};
use crate::network::Activation;

/// The end of a convolution, for a number of boards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epilogue {
    pub boards: usize,
    /// Planes, in vectors.
    pub columns: usize,
    /// The transformed tiles that the products gave.
    pub tiles: *const f32,
    /// From one number of a tile to the next.
    pub tiles_slab: usize,
    /// One number for each plane.
    pub bias: *const f32,
    /// Squeeze and excitation, or null.
    pub squeeze_excitation: *const SqueezeExcitation,
    /// Boards to add before the activation, or null.
    pub residual: *const f32,
    pub activation: Activation,
    /// Where the boards are to be kept, or null. It may be the same as `residual`.
    pub output: *mut f32,
    /// Where the tiles of the next convolution go, or null.
    pub next: *mut f32,
    /// From one number of a tile there to the next.
    pub next_slab: usize,
}

/// Squeeze and excitation; matrices lie as `[input][output]`, in whole vectors.
#[derive(Clone, Copy, Debug)]
pub(super) struct SqueezeExcitation {
    /// Outputs of the first layer, in vectors.
    pub hidden: usize,
    /// `[planes][hidden]`
    pub squeeze: *const f32,
    pub squeeze_bias: *const f32,
    /// `[hidden][2 * planes]`: the gates, then what is added.
    pub excite: *const f32,
    pub excite_bias: *const f32,
    /// Room for one board, its means, the hidden layer and the excitation: `planes * 67 + hidden` numbers.
    pub scratch: *mut f32,
}

/// Runs it.
///
/// # Safety
///
/// Every pointer is good for the sizes beside it, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn epilogue<S: Simd, T: Tiling<IN, OUT>, const IN: usize, const OUT: usize>(job: &Epilogue) {
    let tiles = SQUARES / (OUT * OUT);
    // SAFETY: the caller's; each vector of planes of each board lies within its buffer.
    unsafe {
        let mut board = [S::splat(0.0); SQUARES];
        for index in 0..job.boards {
            if !job.squeeze_excitation.is_null() {
                let se = &*job.squeeze_excitation;
                let means = se.scratch.add(job.columns * SQUARES * S::LANES);
                for column in 0..job.columns {
                    let from = job.tiles.add((index * job.columns + column) * tiles * S::LANES);
                    gather::<S, T, IN, OUT>(from, job.tiles_slab, S::load(job.bias.add(column * S::LANES)), &mut board);
                    let kept = se.scratch.add(column * SQUARES * S::LANES);
                    let mut sums = [S::splat(0.0); 4];
                    for square in 0..SQUARES {
                        S::store(kept.add(square * S::LANES), board[square]);
                        sums[square % 4] = S::add(sums[square % 4], board[square]);
                    }
                    let sum = S::add(S::add(sums[0], sums[1]), S::add(sums[2], sums[3]));
                    S::store(means.add(column * S::LANES), S::mul(sum, S::splat(1.0 / SQUARES as f32)));
                }
                excitation::<S>(job, se, means);
            }
            for column in 0..job.columns {
                let place = index * job.columns + column;
                if job.squeeze_excitation.is_null() {
                    let from = job.tiles.add(place * tiles * S::LANES);
                    gather::<S, T, IN, OUT>(from, job.tiles_slab, S::load(job.bias.add(column * S::LANES)), &mut board);
                } else {
                    let scratch = (*job.squeeze_excitation).scratch;
                    let kept = scratch.add(column * SQUARES * S::LANES);
                    let excited =
                        scratch.add((job.columns * (SQUARES + 1) + (*job.squeeze_excitation).hidden) * S::LANES);
                    let gate = S::load(excited.add(column * S::LANES));
                    let added = S::load(excited.add((job.columns + column) * S::LANES));
                    for square in 0..SQUARES {
                        board[square] = S::fma(S::load(kept.add(square * S::LANES)), gate, added);
                    }
                }
                if !job.residual.is_null() {
                    let residual = job.residual.add(place * SQUARES * S::LANES);
                    for square in 0..SQUARES {
                        board[square] = S::add(board[square], S::load(residual.add(square * S::LANES)));
                    }
                }
                finish::<S, T, IN, OUT>(job, place, &mut board);
            }
        }
    }
}

/// The activation and what comes after it, for one vector of planes.
#[inline(always)]
unsafe fn finish<S: Simd, T: Tiling<IN, OUT>, const IN: usize, const OUT: usize>(
    job: &Epilogue,
    place: usize,
    board: &mut [S::Vector; SQUARES],
) {
    // SAFETY: the caller's.
    unsafe {
        match job.activation {
            Activation::Relu => {
                for square in 0..SQUARES {
                    board[square] = activate::<S>(board[square], Activation::Relu);
                }
            }
            Activation::Mish => {
                for square in 0..SQUARES {
                    board[square] = activate::<S>(board[square], Activation::Mish);
                }
            }
        }
        if !job.output.is_null() {
            let output = job.output.add(place * SQUARES * S::LANES);
            for square in 0..SQUARES {
                S::store(output.add(square * S::LANES), board[square]);
            }
        }
        if !job.next.is_null() {
            let tiles = SQUARES / (OUT * OUT);
            scatter::<S, T, IN, OUT>(board, job.next.add(place * tiles * S::LANES), job.next_slab);
        }
    }
}

/// From the means to the gates and what is added, behind the means in the scratch room.
#[inline(always)]
unsafe fn excitation<S: Simd>(job: &Epilogue, se: &SqueezeExcitation, means: *mut f32) {
    // SAFETY: the caller's.
    unsafe {
        let hidden = means.add(job.columns * S::LANES);
        let excited = hidden.add(se.hidden * S::LANES);
        matrix_vector::<S>(means, job.columns, se.squeeze, se.squeeze_bias, se.hidden, hidden);
        for vector in 0..se.hidden {
            let at = hidden.add(vector * S::LANES);
            S::store(at, activate::<S>(S::load(at), job.activation));
        }
        matrix_vector::<S>(hidden, se.hidden, se.excite, se.excite_bias, 2 * job.columns, excited);
        for vector in 0..job.columns {
            let at = excited.add(vector * S::LANES);
            S::store(at, sigmoid::<S>(S::load(at)));
        }
    }
}

/// `output = input * weights + bias` for a single row, sizes in vectors.
#[inline(always)]
unsafe fn matrix_vector<S: Simd>(
    input: *const f32,
    inner: usize,
    weights: *const f32,
    bias: *const f32,
    columns: usize,
    output: *mut f32,
) {
    /// Sums that run side by side, so that no addition waits for the one before it; a divisor of every vector's lanes.
    const SUMS: usize = 4;
    // SAFETY: the caller's.
    unsafe {
        for column in 0..columns {
            let mut sums = [S::splat(0.0); SUMS];
            sums[0] = S::load(bias.add(column * S::LANES));
            for row in (0..inner * S::LANES).step_by(SUMS) {
                for i in 0..SUMS {
                    let weight = S::load(weights.add(((row + i) * columns + column) * S::LANES));
                    sums[i] = S::fma(S::splat(*input.add(row + i)), weight, sums[i]);
                }
            }
            S::store(output.add(column * S::LANES), S::add(S::add(sums[0], sums[1]), S::add(sums[2], sums[3])));
        }
    }
}
