//! The safe face of the kernels of transformers: sizes are checked here.

use std::ptr;

use super::Kernels;
use super::activation::Activation;
use super::buffer::Buffer;
use super::quantise::Quantisation;
use super::rows::{Quantised, RowProduct, Start};
use super::token_rows::Normalisation;
use super::winograd::SQUARES;

/// The largest byte of a weight.
const LARGEST_BYTE: f32 = 127.0;

/// The largest sum of four weights of one sign, in bytes before rounding. Rounding adds half a byte to each at most,
/// and a byte of a row is at most 255: `128 * 255` is below `2^15`.
const LARGEST_SHORT_SUM: f32 = 126.0;

/// Bytes of a word.
const WORD: usize = 4;

/// Sizes of a product of rows; see `rows` for the layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowShape {
    /// Groups of rows.
    pub groups: usize,
    /// Rows of a group.
    pub rows: usize,
    /// Places for rows in a group, of which the first `rows` are used.
    pub pitch: usize,
    /// Columns of the input, in vectors.
    pub inner: usize,
    /// Columns of the output, in vectors.
    pub columns: usize,
}

impl RowShape {
    /// Places for the squares of a board: one more than there are, see `rows`.
    pub const BOARD: usize = SQUARES + 1;

    /// Rows of the squares of some boards.
    pub fn boards(boards: usize, inner: usize, columns: usize) -> RowShape {
        RowShape { groups: boards, rows: SQUARES, pitch: RowShape::BOARD, inner, columns }
    }

    /// Single rows, one after another.
    pub fn single(rows: usize, inner: usize, columns: usize) -> RowShape {
        RowShape { groups: rows, rows: 1, pitch: 1, inner, columns }
    }
}

/// The right factor of a product.
#[derive(Clone, Copy, Debug)]
pub enum Matrix<'a> {
    /// Weights in panels, each at its [`Kernels::place`].
    Packed(&'a [f32]),
    /// Numbers as they lie in a buffer.
    Plain {
        /// The buffer.
        numbers: &'a [f32],
        /// Distance from one row to the next.
        row: usize,
        /// Distance from one vector of columns to the next.
        column: usize,
    },
}

/// Weights of 8 bits: `scale * byte`, four rows to a word; see [`Kernels::byte_scale`].
#[derive(Clone, Copy, Debug)]
pub struct ByteMatrix<'a> {
    /// Words in panels, each at its [`Kernels::place`].
    pub words: &'a [u32],
    /// Scale of each column.
    pub scales: &'a [f32],
    /// Sum of the bytes of each column.
    pub sums: &'a [f32],
}

/// Rows of bytes, each with its step and its least number; see `quantise`.
#[derive(Default)]
pub struct QuantisedRows {
    words: Buffer<u32>,
    steps: Buffer,
    least: Buffer,
}

impl QuantisedRows {
    /// Makes room for `rows` rows that have `words` words in all, padding included.
    fn make_room(&mut self, rows: usize, words: usize) {
        if self.words.len() < words {
            self.words = Buffer::new(words);
        }
        if self.steps.len() < rows {
            (self.steps, self.least) = (Buffer::new(rows), Buffer::new(rows));
        }
    }
}

/// Summand of a product.
#[derive(Clone, Copy, Debug)]
pub enum RowStart<'a> {
    /// No summand.
    Nothing,
    /// One number for each column.
    Bias(&'a [f32]),
    /// Numbers in the layout of the output.
    Numbers(&'a [f32]),
    /// The numbers that are in the output already.
    Output,
}

/// A layer normalisation.
pub struct NormPlan {
    /// Columns, in vectors.
    pub columns: usize,
    /// Number of columns that are features.
    pub features: usize,
    /// Summand of the variance, against a division by 0.
    pub epsilon: f32,
    /// One number for each column: 1 for features, 0 for others.
    pub mask: Buffer,
    /// Factors of the columns.
    pub gammas: Buffer,
    /// Summands of the columns.
    pub betas: Buffer,
}

impl Kernels {
    /// The scale of a column of a [`ByteMatrix`], at which every weight is a byte from -127 to 127, and no sum of
    /// products leaves the bits that this instruction set has for it.
    pub fn byte_scale(&self, column: &[f32]) -> f32 {
        let mut scale = column.iter().fold(0.0f32, |largest, weight| largest.max(weight.abs())) / LARGEST_BYTE;
        if self.entries.has_short_sums {
            for words in column.chunks(2 * WORD) {
                for pair in [0, 2] {
                    let four = || words.iter().skip(pair).take(2).chain(words.iter().skip(pair + WORD).take(2));
                    let above: f32 = four().map(|weight| weight.max(0.0)).sum();
                    let below: f32 = four().map(|weight| weight.min(0.0)).sum();
                    scale = scale.max(above.max(-below) / LARGEST_SHORT_SUM);
                }
            }
        }
        if scale > 0.0 { scale } else { 1.0 }
    }

    /// Computes `output = activation(input * weights + start)`.
    pub fn rows(
        &self,
        shape: RowShape,
        input: &[f32],
        weights: Matrix<'_>,
        start: RowStart<'_>,
        activation: Activation,
        output: &mut [f32],
    ) {
        let RowShape { groups, pitch, inner, columns, .. } = shape;
        let lanes = self.lanes();
        assert!(input.len() >= groups * inner * pitch * lanes, "the input is as large as said");
        let (weights, weights_row, weights_column) = match weights {
            Matrix::Packed(weights) => {
                assert!(weights.len() >= inner * lanes * columns * lanes, "every input and output has a weight");
                (weights.as_ptr(), 0, 0)
            }
            Matrix::Plain { numbers, row, column } => {
                let last = (columns.max(1) - 1) * column + (inner * lanes).max(1) * row - row + lanes;
                assert!(row > 0 && numbers.len() >= last, "the matrix is as large as said");
                (numbers.as_ptr(), row, column)
            }
        };
        let job = RowProduct {
            input: input.as_ptr().cast(),
            weights: weights.cast(),
            weights_row,
            weights_column,
            ..self.row_product(shape, start, activation, output)
        };
        // SAFETY: the sizes are checked above and in `row_product`, and the instruction set is there: there are no
        // kernels without.
        unsafe { (self.entries.rows)(&job) }
    }

    /// Computes `output = activation(input * weights + start)` from bytes. `inner` of the shape counts vectors of
    /// words, each of four bytes.
    pub fn rows_of_bytes(
        &self,
        shape: RowShape,
        input: &QuantisedRows,
        weights: ByteMatrix<'_>,
        start: RowStart<'_>,
        activation: Activation,
        output: &mut [f32],
    ) {
        let RowShape { groups, rows, pitch, inner, columns } = shape;
        let lanes = self.lanes();
        let QuantisedRows { words, steps, least } = input;
        assert!(words.len() >= groups * inner * pitch * lanes, "the input is as large as said");
        assert!(steps.len() >= groups * rows && least.len() >= groups * rows, "every row has its step");
        assert!(weights.words.len() >= inner * lanes * columns * lanes, "every input and output has a weight");
        assert!(weights.scales.len() >= columns * lanes && weights.sums.len() >= columns * lanes);
        let quantised = Quantised {
            steps: steps.as_ptr(),
            least: least.as_ptr(),
            scales: weights.scales.as_ptr(),
            sums: weights.sums.as_ptr(),
        };
        let job = RowProduct {
            input: words.as_ptr(),
            weights: weights.words.as_ptr(),
            quantised: &quantised,
            ..self.row_product(shape, start, activation, output)
        };
        // SAFETY: the sizes are checked above and in `row_product`, and the instruction set is there.
        unsafe { (self.entries.rows_of_bytes)(&job) }
    }

    /// Multiplies each column by its factor, then quantises each row. The input has `groups` groups of `rows` rows,
    /// with places for `pitch` rows in a group, and `columns` vectors in a row.
    pub fn quantise(
        &self,
        (groups, rows, pitch): (usize, usize, usize),
        columns: usize,
        input: &[f32],
        factors: &[f32],
        to: &mut QuantisedRows,
    ) {
        let lanes = self.lanes();
        let (group, words) = (columns * pitch * lanes, columns.div_ceil(4) * pitch * lanes);
        assert!(columns > 0 && rows <= pitch && input.len() >= groups * group, "every row has a place");
        to.make_room(groups * rows, groups * words);
        assert!(factors.len() >= columns * lanes, "every column has a factor");
        for index in 0..groups {
            let job = Quantisation {
                rows,
                pitch,
                columns,
                input: input[index * group..].as_ptr(),
                factors: factors.as_ptr(),
                output: to.words[index * words..].as_mut_ptr().cast(),
                steps: to.steps[index * rows..].as_mut_ptr(),
                least: to.least[index * rows..].as_mut_ptr(),
            };
            // SAFETY: the sizes are checked above, and the instruction set is there.
            unsafe { (self.entries.quantise)(&job) }
        }
    }

    /// The parts of a product that are the same for floats and bytes, with their sizes checked; the caller adds input
    /// and weights.
    fn row_product(
        &self,
        shape: RowShape,
        start: RowStart<'_>,
        activation: Activation,
        output: &mut [f32],
    ) -> RowProduct {
        let RowShape { groups, rows, pitch, inner, columns } = shape;
        let lanes = self.lanes();
        let output_group = columns * pitch * lanes;
        assert!(rows <= pitch, "every row has a place");
        assert!(output.len() >= groups * output_group, "the output has room");
        let to = output.as_mut_ptr();
        let start = match start {
            RowStart::Nothing => Start::Nothing,
            RowStart::Bias(bias) => {
                assert!(bias.len() >= columns * lanes, "every column has a bias");
                Start::Bias(bias.as_ptr())
            }
            RowStart::Numbers(numbers) => {
                assert!(numbers.len() >= groups * output_group, "every number of the output has one to start from");
                Start::Numbers(numbers.as_ptr())
            }
            RowStart::Output => Start::Numbers(to),
        };
        RowProduct {
            groups,
            rows,
            pitch,
            inner,
            columns,
            input: ptr::null(),
            input_group: inner * pitch * lanes,
            weights: ptr::null(),
            weights_row: 0,
            weights_column: 0,
            quantised: ptr::null(),
            start,
            output: to,
            output_group,
            activation,
            activate: self.entries.activate,
        }
    }

    /// Adds `branch`, if there is one, to `numbers` and normalises each row, in place. There are `groups` groups of
    /// `rows` rows, with places for `pitch` rows in a group.
    pub fn normalise(
        &self,
        norm: &NormPlan,
        (groups, rows, pitch): (usize, usize, usize),
        numbers: &mut [f32],
        branch: Option<&[f32]>,
    ) {
        let columns = norm.columns;
        let group = columns * pitch * self.lanes();
        assert!(rows <= pitch && numbers.len() >= groups * group, "every row has a place");
        assert!(branch.is_none_or(|branch| branch.len() >= groups * group), "the branch is as large");
        let each = [&norm.mask, &norm.gammas, &norm.betas];
        assert!(each.iter().all(|each| each.len() >= columns * self.lanes()), "every column has its numbers");
        for index in 0..groups {
            let numbers = &mut numbers[index * group..][..group];
            let numbers = numbers.as_mut_ptr();
            let job = Normalisation {
                rows,
                pitch,
                columns,
                features: norm.features as f32,
                epsilon: norm.epsilon,
                mask: norm.mask.as_ptr(),
                gammas: norm.gammas.as_ptr(),
                betas: norm.betas.as_ptr(),
                input: numbers,
                branch: branch.map_or(ptr::null(), |branch| branch[index * group..].as_ptr()),
                output: numbers,
            };
            // SAFETY: the sizes are checked above, and the instruction set is there.
            unsafe { (self.entries.normalise)(&job) }
        }
    }

    /// The softmax of each row of the scores of a board's squares, in place.
    pub fn softmax(&self, scores: &mut [f32]) {
        let columns = SQUARES / self.lanes();
        assert!(scores.len() >= columns * RowShape::BOARD * self.lanes(), "there are scores of all squares");
        // SAFETY: the size is checked above, and the instruction set is there.
        unsafe { (self.entries.softmax)(scores.as_mut_ptr(), SQUARES, RowShape::BOARD, columns) }
    }

    /// Transposes the rows of a board's squares, which have `columns` vectors each. The result is a [`Matrix::Plain`]
    /// with a column for each square, whose `row` is `lanes` and `column` is `columns * lanes * lanes`.
    pub fn transpose(&self, from: &[f32], columns: usize, to: &mut [f32]) {
        let lanes = self.lanes();
        assert!(from.len() >= columns * RowShape::BOARD * lanes, "there are rows of all squares");
        assert!(to.len() >= columns * SQUARES * lanes, "there is room for all rows");
        // SAFETY: the sizes are checked above, and the instruction set is there.
        unsafe { (self.entries.transpose)(from.as_ptr(), SQUARES, RowShape::BOARD, columns, to.as_mut_ptr()) }
    }

    /// Adds `factor` times a row of whole vectors to the row `to`, whose vectors are `next` numbers apart.
    pub fn add_scaled(&self, to: &mut [f32], next: usize, from: &[f32], factor: f32) {
        let lanes = self.lanes();
        let vectors = from.len() / lanes;
        assert!(vectors == 0 || to.len() >= (vectors - 1) * next + lanes, "there is a place for every number");
        // SAFETY: the sizes are checked above, and the instruction set is there.
        unsafe { (self.entries.add_scaled)(to.as_mut_ptr(), next, from.as_ptr(), lanes, vectors, factor) }
    }

    /// Computes `numbers * factors + terms` in place, with the factors and terms that there are; all are whole vectors.
    pub fn gate(&self, numbers: &mut [f32], factors: Option<&[f32]>, terms: Option<&[f32]>) {
        let vectors = numbers.len() / self.lanes();
        let pointer = |side: Option<&[f32]>| {
            side.map_or(ptr::null(), |side| {
                assert!(side.len() >= vectors * self.lanes(), "every number has its other side");
                side.as_ptr()
            })
        };
        // SAFETY: the sizes are checked above, and the instruction set is there.
        unsafe { (self.entries.gate)(numbers.as_mut_ptr(), pointer(factors), pointer(terms), vectors) }
    }

    /// The sum of products of two rows of `vectors` vectors; with each row comes the distance between its vectors.
    pub fn dot_rows(&self, vectors: usize, a: (&[f32], usize), b: (&[f32], usize)) -> f32 {
        let reaches = |(row, next): (&[f32], usize)| vectors == 0 || row.len() >= (vectors - 1) * next + self.lanes();
        assert!(reaches(a) && reaches(b), "both rows are whole");
        // SAFETY: the sizes are checked above, and the instruction set is there.
        unsafe { (self.entries.dot_rows)(a.0.as_ptr(), a.1, b.0.as_ptr(), b.1, vectors) }
    }
}
