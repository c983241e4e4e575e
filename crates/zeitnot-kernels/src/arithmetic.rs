//! Multiplies and adds up words of 32 bits in the products of rows: a word is a number of 32 bits, or four bytes.
//!
//! Sums of bytes are whole numbers, and so the same on every instruction set.

use super::simd::Simd;

/// Vectors of words, and their sums of products.
///
/// # Safety
/// As for [`Simd`].
pub(super) trait Arithmetic<S: Simd> {
    /// Weights of a vector of columns, for the words of one step.
    type Words: Copy;
    /// The words of a row for one step, in the form in which they multiply all columns.
    type Row: Copy;
    /// A vector of sums.
    type Sums: Copy;
    /// Whether the sums are those of quantised numbers.
    const IS_QUANTISED: bool;
    /// Words of a row that are multiplied in one step, a divisor of the lanes.
    const STEP: usize = 1;
    /// Whether four products of bytes are added up in 16 bits: those of the first two bytes of two words, and those of the
    /// others.
    const HAS_SHORT_SUMS: bool = false;
    /// Rows that a tile of a product spans at most: 4, 6, 8 or 12.
    const ROWS: usize = S::ROWS;

    unsafe fn zero() -> Self::Sums;
    inlined! {
        /// The initial sums. `_column_sums`: the sum of each column's weight bytes, for implementations that shift the
        /// bytes of rows by a constant.
        fn start(_column_sums: *const f32) -> Self::Sums = Self::zero();
    }
    /// Loads the weights of a vector of columns for one step, those of one word `next` words behind those of the word
    /// before.
    unsafe fn weights(from: *const u32, next: usize) -> Self::Words;
    /// Loads the words of one step from a row.
    unsafe fn repeat(from: *const u32) -> Self::Row;
    /// `sums + repeated * weights`
    unsafe fn multiply_add(repeated: Self::Row, weights: Self::Words, sums: Self::Sums) -> Self::Sums;
    unsafe fn number(sums: Self::Sums) -> S::Vector;
}

/// Words that are numbers of 32 bits (`f32`).
pub(super) struct Float32;

impl<S: Simd> Arithmetic<S> for Float32 {
    type Words = S::Vector;
    type Row = S::Vector;
    type Sums = S::Vector;
    const IS_QUANTISED: bool = false;

    inlined! {
        fn zero() -> S::Vector = S::splat(0.0);
        fn weights(from: *const u32, _next: usize) -> S::Vector = S::load(from.cast());
        fn repeat(from: *const u32) -> S::Vector = S::splat(*from.cast());
        fn multiply_add(repeated: S::Vector, weights: S::Vector, sums: S::Vector) -> S::Vector =
            S::fma(repeated, weights, sums);
        fn number(sums: S::Vector) -> S::Vector = sums;
    }
}

/// Words of four bytes: unsigned in rows, signed in weights.
///
/// The words are multiplied byte by byte, for instruction sets without products of bytes.
pub(super) struct Bytes;

/// The most lanes of a vector.
const MOST_LANES: usize = 16;

impl<S: Simd> Arithmetic<S> for Bytes {
    /// Address of the words.
    type Words = *const u32;
    type Row = *const u32;
    type Sums = [i32; MOST_LANES];
    const IS_QUANTISED: bool = true;

    inlined! {
        fn zero() -> Self::Sums = [0; MOST_LANES];
        fn weights(from: *const u32, _next: usize) -> *const u32 = from;
        fn repeat(from: *const u32) -> *const u32 = from;
        fn multiply_add(repeated: *const u32, weights: *const u32, mut sums: Self::Sums) -> Self::Sums = {
            let repeated = (*repeated).to_ne_bytes().map(i32::from);
            for lane in 0..S::LANES {
                let weights = (*weights.add(lane)).to_ne_bytes().map(|byte| i32::from(byte as i8));
                for byte in 0..4 {
                    sums[lane] += repeated[byte] * weights[byte];
                }
            }
            sums
        };
        fn number(sums: Self::Sums) -> S::Vector = {
            let numbers = sums.map(|sum| sum as f32);
            // A vector has no more lanes than there are numbers.
            S::load(numbers.as_ptr())
        };
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{AvxVnni, ShortSums, Vnni, Vnni256};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::super::simd::{Avx2, Avx512};
    use super::Arithmetic;

    /// An [`Arithmetic`] of words of four bytes that one instruction multiplies and adds up.
    macro_rules! one_instruction {
        ($(#[$doc:meta])* $name:ident, $simd:ty, $vector:ty, $numbers:ty,
         $zero:ident, $load:ident, $repeat:ident, $multiply:ident, $number:ident) => {
            $(#[$doc])*
            pub(crate) struct $name;

            impl Arithmetic<$simd> for $name {
                type Words = $vector;
                type Row = $vector;
                type Sums = $vector;
                const IS_QUANTISED: bool = true;

                inlined! {
                    fn zero() -> $vector = $zero();
                    fn weights(from: *const u32, _next: usize) -> $vector = $load(from.cast());
                    fn repeat(from: *const u32) -> $vector = $repeat(*from.cast());
                    fn multiply_add(row: $vector, weights: $vector, sums: $vector) -> $vector =
                        $multiply(sums, row, weights);
                    fn number(sums: $vector) -> $numbers = $number(sums);
                }
            }
        };
    }

    /// Words of four bytes, multiplied by AVX2: the sums of four products have 16 bits. No sum leaves them where the weights
    /// have the scale of [`byte_scale`](crate::Kernels::byte_scale).
    pub(crate) struct ShortSums;

    impl Arithmetic<Avx2> for ShortSums {
        type Words = [__m256i; 2];
        type Row = [__m256i; 2];
        type Sums = __m256i;
        const IS_QUANTISED: bool = true;
        const STEP: usize = 2;
        const HAS_SHORT_SUMS: bool = true;
        // The words of a step and short sums take registers, too.
        const ROWS: usize = 4;

        inlined! {
            fn zero() -> __m256i = _mm256_setzero_si256();
            fn weights(from: *const u32, next: usize) -> [__m256i; 2] =
                [_mm256_loadu_si256(from.cast()), _mm256_loadu_si256(from.wrapping_add(next).cast())];
            fn repeat(from: *const u32) -> [__m256i; 2] =
                [_mm256_set1_epi32(*from.cast()), _mm256_set1_epi32(*from.add(1).cast())];
            fn multiply_add(row: [__m256i; 2], weights: [__m256i; 2], sums: __m256i) -> __m256i = {
                let (a, b) = (_mm256_maddubs_epi16(row[0], weights[0]), _mm256_maddubs_epi16(row[1], weights[1]));
                _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_add_epi16(a, b), _mm256_set1_epi16(1)))
            };
            fn number(sums: __m256i) -> __m256 = _mm256_cvtepi32_ps(sums);
        }
    }

    one_instruction! {
        /// Words of four bytes, multiplied by AVX-512 VNNI.
        Vnni, Avx512, __m512i, __m512,
        _mm512_setzero_si512, _mm512_loadu_si512, _mm512_set1_epi32, _mm512_dpbusd_epi32, _mm512_cvtepi32_ps
    }
    one_instruction! {
        /// Words of four bytes, multiplied by AVX-VNNI.
        AvxVnni, Avx2, __m256i, __m256,
        _mm256_setzero_si256, _mm256_loadu_si256, _mm256_set1_epi32, _mm256_dpbusd_avx_epi32, _mm256_cvtepi32_ps
    }
    one_instruction! {
        /// Words of four bytes, multiplied by AVX-512 VNNI in registers of 256 bits.
        Vnni256, Avx2, __m256i, __m256,
        _mm256_setzero_si256, _mm256_loadu_si256, _mm256_set1_epi32, _mm256_dpbusd_epi32, _mm256_cvtepi32_ps
    }
}
