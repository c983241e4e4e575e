//! The last layer of a policy head, for the legal moves alone: some thirty of 1858.

use super::first_convolution::TAPS;
use super::simd::Simd;
use super::winograd::SQUARES;

/// Squares of a rank.
const SIDE: usize = 8;

/// One output of a 3x3 convolution at one square, without its bias: for the head whose moves are squares of planes.
///
/// `board` lies as `[vector of planes][square][lane]`, `weights` as `[vector of planes][tap][lane]`, `columns` vectors
/// each.
///
/// # Safety
/// The pointers are good for these sizes, `square` is below 64, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn convolve_one<S: Simd>(
    board: *const f32,
    weights: *const f32,
    columns: usize,
    square: usize,
) -> f32 {
    let (rank, file) = (square / SIDE, square % SIDE);
    // SAFETY: the caller's; taps beyond the board are left out.
    unsafe {
        let mut sums = [S::splat(0.0); 3];
        for y in 0..3 {
            if !(1..=SIDE).contains(&(rank + y)) {
                continue;
            }
            for x in 0..3 {
                if !(1..=SIDE).contains(&(file + x)) {
                    continue;
                }
                let from = board.add(((rank + y - 1) * SIDE + file + x - 1) * S::LANES);
                let weight = weights.add((y * 3 + x) * S::LANES);
                for column in 0..columns {
                    let numbers = S::load(from.add(column * SQUARES * S::LANES));
                    sums[x] = S::fma(numbers, S::load(weight.add(column * TAPS * S::LANES)), sums[x]);
                }
            }
        }
        S::sum(S::add(sums[0], S::add(sums[1], sums[2])))
    }
}
