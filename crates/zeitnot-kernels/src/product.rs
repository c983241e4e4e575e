//! Matrix products: where nearly all the time goes.

use super::arithmetic::Arithmetic;
use super::simd::Simd;

/// Matrix products of one shape, `output[slab] = input[slab] * weights[slab]` with an optional bias in every row: the
/// 36 or 16 of a Winograd convolution, or the one of a 1x1 convolution or dense layer.
///
/// Rows come in groups, and the numbers of a group lie as `[vector of columns][row][lane]`, so that a kernel finds what
/// it needs of several rows at fixed distances: a group is the four (or sixteen) tiles of a board, the 64 squares of a
/// board, or a single row. Weights lie as `[panel][row of the matrix][vector of the panel][lane]`, in the order in
/// which the kernel reads them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Product {
    /// Number of products.
    pub slabs: usize,
    /// Groups of rows in each product.
    pub groups: usize,
    /// Rows of a group: 1, or a multiple of 4.
    pub group_rows: usize,
    /// Columns of the input, in vectors.
    pub inner: usize,
    /// Columns of the output, in vectors.
    pub columns: usize,
    pub input: *const f32,
    /// Distance from one slab of the input to the next, in numbers.
    pub input_slab: usize,
    pub weights: *const f32,
    /// One number for each column, or null.
    pub bias: *const f32,
    pub output: *mut f32,
    /// Distance from one slab of the output to the next, in numbers.
    pub output_slab: usize,
}

/// Runs the products.
///
/// # Safety
/// Every pointer is good for the sizes beside it, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn product<S: Simd, A: Arithmetic<S, Sums = S::Vector>>(job: &Product) {
    let slab_weights = job.inner * S::LANES * job.columns * S::LANES;
    for slab in 0..job.slabs {
        // SAFETY: the caller's, for each slab and panel.
        unsafe {
            let input = job.input.add(slab * job.input_slab);
            let output = job.output.add(slab * job.output_slab);
            let mut weights = job.weights.add(slab * slab_weights);
            let mut first = 0;
            while first < job.columns {
                let width = S::PANEL.min(job.columns - first);
                match width {
                    1 => panel::<S, A, 1>(job, input, weights, first, output),
                    _ => panel::<S, A, 2>(job, input, weights, first, output),
                }
                weights = weights.add(job.inner * S::LANES * width * S::LANES);
                first += width;
            }
        }
    }
}

/// Computes all rows of one panel of `N` vectors of columns, whose weights stay in the first-level cache meanwhile.
#[inline(always)]
unsafe fn panel<S: Simd, A: Arithmetic<S, Sums = S::Vector>, const N: usize>(
    job: &Product,
    input: *const f32,
    weights: *const f32,
    first: usize,
    output: *mut f32,
) {
    let rows = job.group_rows;
    let input_group = job.inner * rows * S::LANES;
    let output_group = job.columns * rows * S::LANES;
    // SAFETY: the caller's; every tile lies within the groups.
    unsafe {
        let bias = if job.bias.is_null() { job.bias } else { job.bias.add(first * S::LANES) };
        let output = output.add(first * rows * S::LANES);
        let mut group = 0;
        while group < job.groups {
            let left = job.groups - group;
            let (from, to) = (input.add(group * input_group), output.add(group * output_group));
            // The first tile of a panel prefetches the next panel, which may still be in memory; other tiles prefetch
            // what they load anyway.
            let ahead = if group == 0 { job.inner * S::LANES * N * S::LANES } else { 0 };
            let tile = Tile { rows, inner: job.inner, input_group, output_group, weights, ahead, bias };
            if rows == 1 {
                group += match left {
                    8.. => tile.run::<S, A, 1, 8, N>(from, to),
                    4..8 => tile.run::<S, A, 1, 4, N>(from, to),
                    _ => tile.run::<S, A, 1, 1, N>(from, to),
                };
            } else if rows == 4 {
                group += match left.min(A::ROWS / 4) {
                    3.. => tile.run::<S, A, 4, 3, N>(from, to),
                    2 => tile.run::<S, A, 4, 2, N>(from, to),
                    _ => tile.run::<S, A, 4, 1, N>(from, to),
                };
            } else {
                let mut row = 0;
                while row < rows {
                    let (from, to) = (from.add(row * S::LANES), to.add(row * S::LANES));
                    if A::ROWS >= 8 && rows - row >= 8 {
                        tile.run::<S, A, 8, 1, N>(from, to);
                        row += 8;
                    } else if A::ROWS == 6 && rows - row >= 6 {
                        tile.run::<S, A, 6, 1, N>(from, to);
                        row += 6;
                    } else {
                        tile.run::<S, A, 4, 1, N>(from, to);
                        row += 4;
                    }
                }
                group += 1;
            }
        }
    }
}

/// The sizes that the tiles of a panel share.
struct Tile {
    rows: usize,
    inner: usize,
    input_group: usize,
    output_group: usize,
    weights: *const f32,
    /// Distance between the weights in use and those that are prefetched.
    ahead: usize,
    bias: *const f32,
}

impl Tile {
    /// Computes `R` rows of each of `G` groups times `N` vectors of columns, summed in registers. Returns `G`.
    #[inline(always)]
    unsafe fn run<S: Simd, A: Arithmetic<S, Sums = S::Vector>, const R: usize, const G: usize, const N: usize>(
        &self,
        input: *const f32,
        output: *mut f32,
    ) -> usize {
        // SAFETY: the caller's pointers are good for the rows of the tile.
        unsafe {
            let mut sums = [[[S::splat(0.0); N]; R]; G];
            if !self.bias.is_null() {
                let mut bias = [S::splat(0.0); N];
                for n in 0..N {
                    bias[n] = S::load(self.bias.add(n * S::LANES));
                }
                sums = [[bias; R]; G];
            }
            let mut weights = self.weights;
            let mut from = [input; G];
            for g in 0..G {
                from[g] = input.add(g * self.input_group);
            }
            for _ in 0..self.inner {
                for word in (0..S::LANES).step_by(A::STEP) {
                    let next = N * S::LANES;
                    let mut columns = [A::weights(weights.cast(), next); N];
                    for n in 0..N {
                        columns[n] = A::weights(weights.add(n * S::LANES).cast(), next);
                        for step in 0..A::STEP {
                            S::prefetch(weights.wrapping_add(self.ahead + step * next + n * S::LANES));
                        }
                    }
                    weights = weights.add(A::STEP * next);
                    for g in 0..G {
                        for r in 0..R {
                            let repeated = A::repeat(from[g].add(r * S::LANES + word).cast());
                            for n in 0..N {
                                sums[g][r][n] = A::multiply_add(repeated, columns[n], sums[g][r][n]);
                            }
                        }
                    }
                }
                for g in 0..G {
                    from[g] = from[g].add(self.rows * S::LANES);
                }
            }
            for g in 0..G {
                for r in 0..R {
                    for n in 0..N {
                        let to = output.add(g * self.output_group + (n * self.rows + r) * S::LANES);
                        S::store(to, sums[g][r][n]);
                    }
                }
            }
        }
        G
    }
}
