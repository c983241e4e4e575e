//! Arithmetic of neural networks for chess on a processor, for each instruction set: convolutions of boards of 8 by 8
//! squares, the layers of transformers, float32 and 8 bits.
//!
//! [`Kernels`] is the safe face: it checks all sizes, so that nothing outside this crate is unsafe. Layouts and the
//! order of arithmetic are in the files.
//!
//! ```
//! use zeitnot_kernels::{Isa, Kernels};
//!
//! let kernels = Kernels::new(Isa::best()).expect("this processor has its own best");
//! let row = vec![0.5; 2 * kernels.lanes()];
//! assert_eq!(kernels.dot(&row, &row), 0.5 * kernels.lanes() as f32);
//! ```
//!
//! | file | what |
//! |---|---|
//! | `isa` | the instruction sets |
//! | `buffer` | numbers that begin on a cache line |
//! | `activation` | the nonlinearities of networks |
//! | `simd`, `neon` | vectors as the kernels see them, for each instruction set |
//! | `arithmetic`, `neon_words` | the words that products multiply: numbers, or four bytes |
//! | `product` | matrix products |
//! | `tiling`, `winograd` | the ways to compute 3x3 convolutions, and their transforms |
//! | `epilogue` | the arithmetic between two convolutions |
//! | `first_convolution` | the first convolution, from set squares |
//! | `legal_moves` | the last layer of a policy, for the legal moves |
//! | `rows` | products of the rows of transformers |
//! | `token_rows` | other arithmetic on those rows: normalisation, softmax |
//! | `quantise` | rows to bytes |
//! | `row_kernels` | the safe face of those |
//! | `activate` | relu, mish, sigmoid and others |
//! | `entries` | all of them compiled for each instruction set |
// Loops over indices are what unrolls into registers; iterators of arrays of arrays of vectors do not always.
#![allow(clippy::needless_range_loop, reason = "see above")]

use std::ptr;

pub use activation::Activation;
pub use buffer::Buffer;
use entries::Entries;
pub use first_convolution::{FullPlane, SetSquare, TAPS};
pub use isa::{Isa, UnknownIsa};
pub use row_kernels::{ByteMatrix, Matrix, NormPlan, QuantisedRows, RowShape, RowStart};
pub use tiling::Tiling;
use winograd::SQUARES;

/// Unsafe functions that are always inlined, each an expression: a vector operation that is not inlined would be compiled
/// without the instructions it stands for.
macro_rules! inlined {
    ($($(#[$doc:meta])* fn $name:ident($($arguments:tt)*) $(-> $result:ty)? = $body:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[allow(unused_unsafe, reason = "some expressions are safe")]
        unsafe fn $name($($arguments)*) $(-> $result)? {
            // SAFETY: the caller warrants the instruction set and the pointers.
            unsafe { $body }
        }
    )*};
}

mod activate;
mod activation;
mod arithmetic;
mod buffer;
mod entries;
mod epilogue;
mod first_convolution;
mod isa;
mod legal_moves;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "aarch64")]
mod neon_words;
mod product;
mod quantise;
mod row_kernels;
#[cfg(test)]
mod row_tests;
mod rows;
mod simd;
#[cfg(test)]
mod tests;
mod tiling;
mod token_rows;
mod winograd;

/// Sizes of a product; see `product` for the layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Groups of rows.
    pub groups: usize,
    /// Rows of a group: 1, 4, 16 or 64.
    pub group_rows: usize,
    /// Columns of the input, in vectors.
    pub inner: usize,
    /// Columns of the output, in vectors.
    pub columns: usize,
}

/// Weights of squeeze and excitation; see `epilogue` for the layouts. Sizes in vectors.
pub struct SqueezeExcitation<'a> {
    /// Outputs of the first layer.
    pub hidden: usize,
    /// Weights of the first layer.
    pub squeeze: &'a [f32],
    /// Bias of the first layer.
    pub squeeze_bias: &'a [f32],
    /// Weights of the second layer: gates, then summands.
    pub excite: &'a [f32],
    /// Bias of the second layer.
    pub excite_bias: &'a [f32],
}

/// Transformed tiles of some boards.
pub struct Tiles<'a> {
    /// The first number of every tile, then the second of every tile, and so on.
    pub numbers: &'a mut [f32],
    /// Distance from one number of a tile to the next.
    pub slab: usize,
}

/// The end of a convolution; see `epilogue`.
pub struct Epilogue<'a> {
    /// Number of boards.
    pub boards: usize,
    /// Planes, in vectors.
    pub columns: usize,
    /// The transformed tiles that the products gave, and the distance from one number of a tile to the next.
    pub tiles: (&'a [f32], usize),
    /// A number for each plane.
    pub bias: &'a [f32],
    /// Squeeze and excitation, where the block has it.
    pub squeeze_excitation: Option<SqueezeExcitation<'a>>,
    /// Whether the boards in `output` are added before the activation.
    pub residual: bool,
    /// The nonlinearity at the end.
    pub activation: Activation,
    /// Place for the boards.
    pub output: Option<&'a mut [f32]>,
    /// Place for the tiles of the next convolution.
    pub next: Option<Tiles<'a>>,
}

/// The first convolution of a board; see `first_convolution`.
pub struct Input<'a> {
    /// Planes whose squares all have one value.
    pub full: &'a [FullPlane],
    /// Single squares that are not 0.
    pub set: &'a [SetSquare],
    /// Output planes, in vectors.
    pub columns: usize,
    /// Nine taps for each pair of an input and an output plane.
    pub weights: &'a [f32],
    /// A number for each output plane.
    pub bias: &'a [f32],
    /// The nonlinearity at the end.
    pub activation: Activation,
    /// Place for the board.
    pub output: &'a mut [f32],
    /// Place for the tiles of several boards, in which this one's tiles are those of the board `board`.
    pub next: Option<Tiles<'a>>,
    /// Number of the board among those of `next`.
    pub board: usize,
}

/// The kernels of one instruction set.
#[derive(Clone, Copy)]
pub struct Kernels {
    entries: &'static Entries,
    isa: Isa,
}

impl Kernels {
    /// Kernels for `isa`, if this processor has it.
    pub fn new(isa: Isa) -> Option<Kernels> {
        isa.is_available().then(|| Kernels { entries: Entries::of(isa), isa })
    }

    /// The instruction set.
    pub fn isa(&self) -> Isa {
        self.isa
    }

    /// Numbers in a vector.
    pub fn lanes(&self) -> usize {
        self.entries.lanes
    }

    /// Vectors in a panel of weights; the last panel of a matrix may have fewer.
    fn panel(&self) -> usize {
        self.entries.panel
    }

    /// The place of the weight of `row` and `column` in a packed matrix of `rows` rows and `columns` vectors of columns.
    pub fn place(&self, rows: usize, columns: usize, row: usize, column: usize) -> usize {
        let (lanes, panel) = (self.lanes(), self.panel());
        let (vector, lane) = (column / lanes, column % lanes);
        let first = vector / panel * panel;
        let width = panel.min(columns - first);
        first * rows * lanes + (row * width + vector - first) * lanes + lane
    }

    /// Computes `output = input * weights + bias`.
    pub fn product(&self, shape: Shape, input: &[f32], weights: &[f32], bias: &[f32], output: &mut [f32]) {
        let job = self.job(1, shape, (input, 0), weights, (output, 0));
        assert!(bias.len() >= shape.columns * self.lanes(), "every column has a bias");
        // SAFETY: `job` checks the sizes, and the instruction set is there: there are no kernels without.
        unsafe { (self.entries.product)(&product::Product { bias: bias.as_ptr(), ..job }) }
    }

    /// Computes the matrix products of a Winograd convolution, one for each number of a tile. With input and output
    /// comes the distance from one number of a tile to the next.
    pub fn products(
        &self,
        tiling: Tiling,
        shape: Shape,
        input: (&[f32], usize),
        weights: &[f32],
        output: (&mut [f32], usize),
    ) {
        let job = self.job(tiling.numbers(), shape, input, weights, output);
        // SAFETY: `job` checks the sizes, and the instruction set is there.
        unsafe { (self.entries.product)(&job) }
    }

    fn job(
        &self,
        slabs: usize,
        shape: Shape,
        (input, input_slab): (&[f32], usize),
        weights: &[f32],
        (output, output_slab): (&mut [f32], usize),
    ) -> product::Product {
        let Shape { groups, group_rows, inner, columns } = shape;
        let lanes = self.lanes();
        let rows = groups * group_rows;
        assert!(group_rows == 1 || group_rows.is_multiple_of(4), "rows of tiles come in fours");
        assert!(
            slabs > 0 && input.len() >= (slabs - 1) * input_slab + rows * inner * lanes,
            "the input is as large as said"
        );
        assert!(output.len() >= (slabs - 1) * output_slab + rows * columns * lanes, "the output has room");
        assert!(weights.len() >= slabs * inner * lanes * columns * lanes, "every input and output has a weight");
        product::Product {
            slabs,
            groups,
            group_rows,
            inner,
            columns,
            input: input.as_ptr(),
            input_slab,
            weights: weights.as_ptr(),
            bias: ptr::null(),
            output: output.as_mut_ptr(),
            output_slab,
        }
    }

    /// The numbers that [`epilogue`](Self::epilogue) needs as `scratch` for `columns` and `hidden` vectors.
    pub fn scratch(&self, columns: usize, hidden: usize) -> usize {
        (columns * (SQUARES + 1 + 2) + hidden) * self.lanes()
    }

    /// Computes boards, and the tiles of the next convolution, from the products of a convolution.
    pub fn epilogue(&self, tiling: Tiling, job: Epilogue<'_>, scratch: &mut [f32]) {
        let Epilogue { boards, columns, tiles, bias, squeeze_excitation, residual, activation, output, next } = job;
        let lanes = self.lanes();
        self.check_tiles(tiling, boards * columns, tiles.0.len(), tiles.1);
        assert!(bias.len() >= columns * lanes, "every plane has a bias");
        let squeeze_excitation = squeeze_excitation.map(|se| {
            let hidden = se.hidden;
            assert!(scratch.len() >= self.scratch(columns, hidden), "there is room to squeeze");
            assert!(se.squeeze.len() >= columns * lanes * hidden * lanes && se.squeeze_bias.len() >= hidden * lanes);
            assert!(
                se.excite.len() >= hidden * lanes * 2 * columns * lanes && se.excite_bias.len() >= 2 * columns * lanes
            );
            epilogue::SqueezeExcitation {
                hidden,
                squeeze: se.squeeze.as_ptr(),
                squeeze_bias: se.squeeze_bias.as_ptr(),
                excite: se.excite.as_ptr(),
                excite_bias: se.excite_bias.as_ptr(),
                scratch: scratch.as_mut_ptr(),
            }
        });
        assert!(!residual || output.is_some(), "what is added lies where the boards are kept");
        let output = output.map_or(ptr::null_mut(), |output| {
            assert!(output.len() >= boards * columns * SQUARES * lanes, "there is room for the boards");
            output.as_mut_ptr()
        });
        let (next, next_slab) = self.next(tiling, boards * columns, next);
        let job = epilogue::Epilogue {
            boards,
            columns,
            tiles: tiles.0.as_ptr(),
            tiles_slab: tiles.1,
            bias: bias.as_ptr(),
            squeeze_excitation: squeeze_excitation.as_ref().map_or(ptr::null(), ptr::from_ref),
            residual: if residual { output } else { ptr::null() },
            activation,
            output,
            next,
            next_slab,
        };
        let entry = match tiling {
            Tiling::Four => self.entries.epilogue_four,
            Tiling::Two => self.entries.epilogue_two,
        };
        // SAFETY: the sizes are checked above, and the instruction set is there.
        unsafe { entry(&job) }
    }

    /// Computes the first convolution of one board.
    pub fn input(&self, tiling: Tiling, job: Input<'_>) {
        let Input { full, set, columns, weights, bias, activation, output, next, board } = job;
        let lanes = self.lanes();
        let planes = weights.len() / (columns * TAPS * lanes);
        assert!(full.iter().all(|full| (full.plane as usize) < planes), "every plane has weights");
        let on_board = |set: &SetSquare| (set.plane as usize) < planes && (set.square as usize) < SQUARES;
        assert!(set.iter().all(on_board), "every plane has weights and 64 squares");
        assert!(bias.len() >= columns * lanes, "every plane has a bias");
        assert!(output.len() >= columns * SQUARES * lanes, "there is room for the board");
        let (next, next_slab) = self.next(tiling, (board + 1) * columns, next);
        // Without tiles there is nothing to move to; `wrapping_add` keeps the null pointer out of the arithmetic's
        // rules.
        let next = if next.is_null() { next } else { next.wrapping_add(board * columns * tiling.tiles() * lanes) };
        let job = first_convolution::Input {
            full,
            set,
            columns,
            weights: weights.as_ptr(),
            bias: bias.as_ptr(),
            activation,
            output: output.as_mut_ptr(),
            next,
            next_slab,
        };
        let entry = match tiling {
            Tiling::Four => self.entries.input_four,
            Tiling::Two => self.entries.input_two,
        };
        // SAFETY: the sizes are checked above, and the instruction set is there.
        unsafe { entry(&job) }
    }

    fn next(&self, tiling: Tiling, vectors: usize, next: Option<Tiles<'_>>) -> (*mut f32, usize) {
        next.map_or((ptr::null_mut(), 0), |next| {
            self.check_tiles(tiling, vectors, next.numbers.len(), next.slab);
            (next.numbers.as_mut_ptr(), next.slab)
        })
    }

    fn check_tiles(&self, tiling: Tiling, vectors: usize, length: usize, slab: usize) {
        let numbers = vectors * tiling.tiles() * self.lanes();
        assert!(length >= (tiling.numbers() - 1) * slab + numbers, "there is room for the tiles");
    }

    /// Activates numbers in place; their count is a multiple of the lanes.
    pub fn activate(&self, numbers: &mut [f32], activation: Activation) {
        let vectors = numbers.len() / self.lanes();
        assert_eq!(vectors * self.lanes(), numbers.len(), "numbers come in whole vectors");
        // SAFETY: the count is checked, and the instruction set is there.
        unsafe { (self.entries.activate)(numbers.as_mut_ptr(), vectors, activation) }
    }

    /// One output of a 3x3 convolution of `board` at one square; see `legal_moves`.
    pub fn convolve_one(&self, board: &[f32], weights: &[f32], columns: usize, square: usize) -> f32 {
        assert!(square < SQUARES, "a board has 64 squares");
        assert!(board.len() >= columns * SQUARES * self.lanes(), "the board is whole");
        assert!(weights.len() >= columns * TAPS * self.lanes(), "every tap has a weight");
        // SAFETY: the sizes are checked above, and the instruction set is there.
        unsafe { (self.entries.convolve_one)(board.as_ptr(), weights.as_ptr(), columns, square) }
    }

    /// The sum of products of two rows, which are whole vectors.
    pub fn dot(&self, a: &[f32], b: &[f32]) -> f32 {
        let vectors = a.len() / self.lanes();
        assert!(a.len() == b.len() && vectors * self.lanes() == a.len(), "rows are whole vectors");
        self.dot_rows(vectors, (a, self.lanes()), (b, self.lanes()))
    }
}
