//! Computes what lies between the products of two convolutions: a board is put together from tiles, squeezed and
//! excited, added to the residual, activated, stored and split into tiles again, while it is in the first-level cache.

use super::activate::{activate, sigmoid};
use super::activation::Activation;
use super::simd::Simd;
use super::winograd::{Board, SQUARES, Tiling, empty, gather, half, place as at, scatter};

/// The end of a convolution, for a number of boards.
#[derive(Clone, Copy, Debug)]
pub(super) struct Epilogue {
    pub boards: usize,
    /// Planes, in vectors.
    pub columns: usize,
    /// The transformed tiles that the products gave.
    pub tiles: *const f32,
    /// Distance from one number of a tile to the next.
    pub tiles_slab: usize,
    /// One number for each plane.
    pub bias: *const f32,
    /// Squeeze and excitation, or null.
    pub squeeze_excitation: *const SqueezeExcitation,
    /// Boards to add before the activation, or null. They require an `output`.
    pub residual: *const f32,
    pub activation: Activation,
    /// Place for the boards, or null. It may be the place of `residual`.
    pub output: *mut f32,
    /// Place for the tiles of the next convolution, or null.
    pub next: *mut f32,
    /// Distance in `next` from one number of a tile to the next.
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
    /// `[hidden][2 * planes]`: the gates, then the summands.
    pub excite: *const f32,
    pub excite_bias: *const f32,
    /// Room for one board, its means, the hidden layer and the excitation: `planes * 67 + hidden` numbers.
    pub scratch: *mut f32,
}

/// Runs the end of a convolution.
///
/// # Safety
/// Every pointer is good for the sizes beside it, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn epilogue<S: Simd, T: Tiling<IN, OUT>, const IN: usize, const OUT: usize>(job: &Epilogue) {
    let tiles = SQUARES / (OUT * OUT);
    // SAFETY: the caller's; each vector of planes of each board lies within its buffer.
    unsafe {
        let mut board = empty::<S>();
        let mut half = half::<S, IN>();
        for index in 0..job.boards {
            let se = job.squeeze_excitation.as_ref();
            if let Some(se) = se {
                let means = se.scratch.add(job.columns * SQUARES * S::LANES);
                for column in 0..job.columns {
                    let from = job.tiles.add((index * job.columns + column) * tiles * S::LANES);
                    let bias = S::load(job.bias.add(column * S::LANES));
                    gather::<S, T, IN, OUT>(from, job.tiles_slab, bias, &mut board);
                    let mean = keep::<S>(&board, se.scratch.add(column * SQUARES * S::LANES));
                    S::store(means.add(column * S::LANES), mean);
                }
                excitation::<S>(job, se, means);
            }
            for column in 0..job.columns {
                let place = index * job.columns + column;
                let numbers = place * SQUARES * S::LANES;
                let residual = if job.residual.is_null() { None } else { Some(job.residual.add(numbers)) };
                let output = if job.output.is_null() { None } else { Some(job.output.add(numbers)) };
                if let Some(se) = se {
                    let kept = se.scratch.add(column * SQUARES * S::LANES);
                    let excited = se.scratch.add((job.columns * (SQUARES + 1) + se.hidden) * S::LANES);
                    let gate = S::load(excited.add(column * S::LANES));
                    let added = S::load(excited.add((job.columns + column) * S::LANES));
                    for square in 0..SQUARES {
                        board[at(square)] = S::fma(S::load(kept.add(square * S::LANES)), gate, added);
                    }
                } else {
                    let bias = S::load(job.bias.add(column * S::LANES));
                    gather::<S, T, IN, OUT>(job.tiles.add(place * tiles * S::LANES), job.tiles_slab, bias, &mut board);
                }
                match job.activation {
                    Activation::Relu => finish::<S>(&mut board, Activation::Relu, residual, output),
                    Activation::Mish => finish::<S>(&mut board, Activation::Mish, residual, output),
                    other => finish::<S>(&mut board, other, residual, output),
                }
                if !job.next.is_null() {
                    let next = job.next.add(place * tiles * S::LANES);
                    scatter::<S, T, IN, OUT>(&board, &mut half, next, job.next_slab);
                }
            }
        }
    }
}

/// Stores a board and returns the mean of each plane.
#[inline(always)]
unsafe fn keep<S: Simd>(board: &Board<S>, to: *mut f32) -> S::Vector {
    // SAFETY: the caller's.
    unsafe {
        let mut sums = [S::splat(0.0); 4];
        for square in (0..SQUARES).step_by(sums.len()) {
            for i in 0..sums.len() {
                let number = board[at(square + i)];
                S::store(to.add((square + i) * S::LANES), number);
                sums[i] = S::add(sums[i], number);
            }
        }
        S::mul(S::add(S::add(sums[0], sums[1]), S::add(sums[2], sums[3])), S::splat(1.0 / SQUARES as f32))
    }
}

/// Adds the residual if there is one, activates the board, and stores it if there is an output.
#[inline(always)]
unsafe fn finish<S: Simd>(
    board: &mut Board<S>,
    activation: Activation,
    residual: Option<*const f32>,
    output: Option<*mut f32>,
) {
    // SAFETY: the caller's.
    unsafe {
        match (residual, output) {
            (Some(residual), Some(output)) => {
                for square in 0..SQUARES {
                    let sum = S::add(board[at(square)], S::load(residual.add(square * S::LANES)));
                    let number = activate::<S>(sum, activation);
                    board[at(square)] = number;
                    S::store(output.add(square * S::LANES), number);
                }
            }
            (None, Some(output)) => {
                for square in 0..SQUARES {
                    let number = activate::<S>(board[at(square)], activation);
                    board[at(square)] = number;
                    S::store(output.add(square * S::LANES), number);
                }
            }
            (_, None) => {
                for square in 0..SQUARES {
                    board[at(square)] = activate::<S>(board[at(square)], activation);
                }
            }
        }
    }
}

/// Computes the gates and the summands from the means, and puts them behind the means in the scratch room.
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
