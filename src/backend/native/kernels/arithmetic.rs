//! How words of 32 bits are multiplied and added up in the products of rows: a number of 32 bits, or four bytes.

use super::simd::Simd;

/// Vectors of words, and their sums of products.
///
/// # Safety
///
/// As for [`Simd`].
pub(super) trait Arithmetic<S: Simd> {
    /// A vector of words.
    type Words: Copy;
    /// A vector of sums.
    type Sums: Copy;
    /// Whether sums are of quantised numbers.
    const IS_QUANTISED: bool;

    unsafe fn zero() -> Self::Sums;
    /// The words of some columns.
    unsafe fn weights(from: *const u32) -> Self::Words;
    /// One word of a row, for all columns.
    unsafe fn repeat(from: *const u32) -> Self::Words;
    /// `sums + repeated * weights`
    unsafe fn multiply_add(repeated: Self::Words, weights: Self::Words, sums: Self::Sums) -> Self::Sums;
    unsafe fn number(sums: Self::Sums) -> S::Vector;
}

/// Words are numbers.
pub(super) struct Float32;

impl<S: Simd> Arithmetic<S> for Float32 {
    type Words = S::Vector;
    type Sums = S::Vector;
    const IS_QUANTISED: bool = false;

    #[inline(always)]
    unsafe fn zero() -> S::Vector {
        // SAFETY: the caller's.
        unsafe { S::splat(0.0) }
    }
    #[inline(always)]
    unsafe fn weights(from: *const u32) -> S::Vector {
        // SAFETY: the caller's.
        unsafe { S::load(from.cast()) }
    }
    #[inline(always)]
    unsafe fn repeat(from: *const u32) -> S::Vector {
        // SAFETY: the caller's.
        unsafe { S::splat(*from.cast()) }
    }
    #[inline(always)]
    unsafe fn multiply_add(repeated: S::Vector, weights: S::Vector, sums: S::Vector) -> S::Vector {
        // SAFETY: the caller's.
        unsafe { S::fma(repeated, weights, sums) }
    }
    #[inline(always)]
    unsafe fn number(sums: S::Vector) -> S::Vector {
        sums
    }
}
