//! Matrix products of the rows of transformers: squares of boards, or boards, times the weights of a dense layer or the
//! numbers of another matrix.
//!
//! A group of rows (the squares of a board, say) lies as `[vector of columns][row][lane]`, with places for
//! [`pitch`](RowProduct::pitch) rows. A large group has one place more than rows, because vectors of a row at multiples
//! of 4096 bytes from one another would share the few places that a first-level cache has for them. The input is read
//! in words of 32 bits; [`Arithmetic`] says what a word holds.

use super::activation::Activation;
use super::arithmetic::Arithmetic;
use super::simd::Simd;

/// Words of a cache line.
const LINE: usize = 16;

/// A product `output = activation(input * weights + start)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowProduct {
    pub groups: usize,
    /// Rows of a group.
    pub rows: usize,
    /// Places for rows in a group, in the input and the output.
    pub pitch: usize,
    /// Words of a row of the input, in vectors.
    pub inner: usize,
    /// Columns of the output, in vectors.
    pub columns: usize,
    pub input: *const u32,
    /// Distance from one group of the input to the next, in words.
    pub input_group: usize,
    pub weights: *const u32,
    /// Distance from the weights for one word of the input to those for the next, in words; 0 where panels are packed,
    /// one after the other.
    pub weights_row: usize,
    /// Distance from one vector of columns to the next, in words; not used for packed panels.
    pub weights_column: usize,
    /// Scales of quantised words, or null.
    pub quantised: *const Quantised,
    pub start: Start,
    pub output: *mut f32,
    /// Distance from one group of the output to the next, in numbers.
    pub output_group: usize,
    pub activation: Activation,
    /// The kernel of the activation.
    pub activate: unsafe fn(*mut f32, usize, Activation),
}

/// Summand of a product.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    Nothing,
    /// One number for each column.
    Bias(*const f32),
    /// Numbers in the layout of the output, which may be the output itself.
    Numbers(*const f32),
}

/// The scales of quantised numbers: a word of the input stands for four numbers `least + step * byte`, a word of the
/// weights for four numbers `scale * byte`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Quantised {
    /// Steps of the rows, `[group][row]`; the field `least` has the rows' least numbers.
    pub steps: *const f32,
    pub least: *const f32,
    /// Scale of each column; the field `sums` has the sum of the column's bytes.
    pub scales: *const f32,
    pub sums: *const f32,
}

/// Runs the product of rows.
///
/// # Safety
/// Every pointer is good for the sizes beside it, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn rows<S: Simd, A: Arithmetic<S>>(job: &RowProduct) {
    let is_packed = job.weights_row == 0;
    let mut first = 0;
    while first < job.columns {
        let width = S::PANEL.min(job.columns - first);
        // SAFETY: the caller's, for each panel.
        unsafe {
            let place = if is_packed { job.inner * S::LANES * S::LANES } else { job.weights_column };
            let panel = Panel { job, weights: job.weights.add(first * place), first };
            match (width, is_packed || A::IS_QUANTISED) {
                (1, true) => panel.run::<S, A, 1, true>(),
                (_, true) => panel.run::<S, A, 2, true>(),
                (1, false) => panel.run::<S, A, 1, false>(),
                (_, false) => panel.run::<S, A, 2, false>(),
            }
        }
        first += width;
    }
}

/// The columns of a panel, whose weights stay in the first-level cache while all rows are computed.
struct Panel<'a> {
    job: &'a RowProduct,
    weights: *const u32,
    /// The first vector of columns.
    first: usize,
}

impl Panel<'_> {
    #[inline(always)]
    unsafe fn run<S: Simd, A: Arithmetic<S>, const N: usize, const PACKED: bool>(&self) {
        let job = self.job;
        let mut group = 0;
        // SAFETY: the caller's; every tile lies within the groups.
        unsafe {
            if job.rows == 1 {
                while group < job.groups {
                    let left = job.groups - group;
                    // Eight rows are twice four: six would leave two alone.
                    group += match (left, A::ROWS) {
                        (8.., 8 | 12) => self.tile::<S, A, 1, 8, N, PACKED>(group, 0),
                        (6 | 10.., 6) => self.tile::<S, A, 1, 6, N, PACKED>(group, 0),
                        (4.., _) => self.tile::<S, A, 1, 4, N, PACKED>(group, 0),
                        _ => self.tile::<S, A, 1, 1, N, PACKED>(group, 0),
                    };
                }
                return;
            }
            while group < job.groups {
                let mut row = 0;
                while row < job.rows {
                    let left = job.rows - row;
                    if A::ROWS == 12 && left >= 12 {
                        self.tile::<S, A, 12, 1, N, PACKED>(group, row);
                        row += 12;
                    } else if A::ROWS == 8 && left >= 8 {
                        self.tile::<S, A, 8, 1, N, PACKED>(group, row);
                        row += 8;
                    } else if A::ROWS == 6 && left >= 6 {
                        self.tile::<S, A, 6, 1, N, PACKED>(group, row);
                        row += 6;
                    } else if left >= 4 {
                        self.tile::<S, A, 4, 1, N, PACKED>(group, row);
                        row += 4;
                    } else {
                        self.tile::<S, A, 1, 1, N, PACKED>(group, row);
                        row += 1;
                    }
                }
                group += 1;
            }
        }
    }

    /// Computes `R` rows of each of `G` groups times `N` vectors of columns, summed in registers. Returns `G`.
    #[inline(always)]
    unsafe fn tile<S: Simd, A: Arithmetic<S>, const R: usize, const G: usize, const N: usize, const PACKED: bool>(
        &self,
        group: usize,
        row: usize,
    ) -> usize {
        let job = self.job;
        // Distances that the compiler knows leave their registers to the sums.
        let (next_row, next_column) =
            if PACKED { (N * S::LANES, S::LANES) } else { (job.weights_row, job.weights_column) };
        // SAFETY: the caller's.
        unsafe {
            let mut start = [A::zero(); N];
            if A::IS_QUANTISED {
                for n in 0..N {
                    start[n] = A::start((*job.quantised).sums.add((self.first + n) * S::LANES));
                }
            }
            let mut sums = [[start; R]; G];
            let mut from = [job.input; G];
            for g in 0..G {
                from[g] = job.input.add((group + g) * job.input_group + row * S::LANES);
            }
            let mut weights = [self.weights; N];
            for n in 0..N {
                weights[n] = self.weights.add(n * next_column);
            }
            // The first tile of a panel prefetches the next panel, which may still be in memory; other tiles prefetch
            // what they load anyway.
            let ahead = if group == 0 && row == 0 { job.inner * S::LANES * N * S::LANES } else { 0 };
            for _ in 0..job.inner {
                for word in (0..S::LANES).step_by(A::STEP) {
                    let mut columns = [A::weights(weights[0], next_row); N];
                    for n in 0..N {
                        columns[n] = A::weights(weights[n], next_row);
                        for _ in 0..A::STEP {
                            // One prefetch for each cache line is faster in steps of several words; two are in those of
                            // one (by 7 % in float32 with AVX2, Zen 3).
                            if PACKED && (A::STEP == 1 || n * S::LANES % LINE == 0) {
                                S::prefetch(weights[n].wrapping_add(ahead).cast());
                            }
                            weights[n] = weights[n].add(next_row);
                        }
                    }
                    for g in 0..G {
                        for r in 0..R {
                            let repeated = A::repeat(from[g].add(r * S::LANES + word));
                            for n in 0..N {
                                sums[g][r][n] = A::multiply_add(repeated, columns[n], sums[g][r][n]);
                            }
                        }
                    }
                }
                for g in 0..G {
                    from[g] = from[g].add(job.pitch * S::LANES);
                }
            }
            // The sums stay in registers only if no index of theirs is left to the run time, as those below are.
            let mut numbers = [[[S::splat(0.0); N]; R]; G];
            for g in 0..G {
                for r in 0..R {
                    for n in 0..N {
                        numbers[g][r][n] = A::number(sums[g][r][n]);
                    }
                }
            }
            for g in 0..G {
                for n in 0..N {
                    let column = self.first + n;
                    let place = (group + g) * job.output_group + (column * job.pitch + row) * S::LANES;
                    for r in 0..R {
                        let mut number = numbers[g][r][n];
                        if A::IS_QUANTISED {
                            let quantised = &*job.quantised;
                            let at = (group + g) * job.rows + row + r;
                            let (step, least) = (*quantised.steps.add(at), *quantised.least.add(at));
                            let sum = S::load(quantised.sums.add(column * S::LANES));
                            let scale = S::load(quantised.scales.add(column * S::LANES));
                            number = S::fma(S::splat(step), number, S::mul(S::splat(least), sum));
                            number = S::mul(number, scale);
                        }
                        number = match job.start {
                            Start::Nothing => number,
                            Start::Bias(bias) => S::add(number, S::load(bias.add(column * S::LANES))),
                            Start::Numbers(numbers) => S::add(number, S::load(numbers.add(place + r * S::LANES))),
                        };
                        S::store(job.output.add(place + r * S::LANES), number);
                    }
                }
            }
            // No sum is in use any more: one that were would be kept in memory during the call, and all along the loop.
            if job.activation != Activation::None {
                for g in 0..G {
                    for n in 0..N {
                        let place = (group + g) * job.output_group + ((self.first + n) * job.pitch + row) * S::LANES;
                        (job.activate)(job.output.add(place), R, job.activation);
                    }
                }
            }
        }
        G
    }
}
