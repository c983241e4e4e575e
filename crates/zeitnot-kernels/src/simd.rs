//! Vectors of `f32` as the kernels see them: one small trait, one implementation for each instruction set.
//!
//! Kernels are written once, generic over [`Simd`] and always inlined; the entry points in `entries` give each instance
//! its instruction set. Nothing here may be called elsewhere: a vector operation that is not inlined into such an entry
//! point would be compiled without the instructions it stands for.

/// Operations on vectors of [`LANES`](Simd::LANES) numbers.
///
/// # Safety
/// Every method may be called only where the processor has the instruction set; pointers must be good for the whole
/// vector (and need no alignment).
pub(super) trait Simd: Copy {
    /// A vector register.
    type Vector: Copy;
    /// Numbers in a vector.
    const LANES: usize;
    /// Vectors of columns that a tile of a product spans, 1 or 2; with [`ROWS`](Simd::ROWS), as many as the registers hold.
    const PANEL: usize;
    /// Rows that a tile of a product spans at most: 4, 6, 8 or 12.
    const ROWS: usize;

    unsafe fn load(from: *const f32) -> Self::Vector;
    unsafe fn store(to: *mut f32, vector: Self::Vector);
    unsafe fn splat(number: f32) -> Self::Vector;
    unsafe fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn sub(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn mul(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    unsafe fn div(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The smaller of each pair; `b` where either is not a number.
    unsafe fn min(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The larger of each pair; `b` where either is not a number.
    unsafe fn max(a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// `a * b + c`
    unsafe fn fma(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// `c - a * b`
    unsafe fn fnma(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector;
    /// The low bits of each number, moved into the exponent: `2^n` for `n + 1.5 * 2^23`.
    unsafe fn exponent(shifted: Self::Vector) -> Self::Vector;
    /// The sum of the lanes.
    unsafe fn sum(vector: Self::Vector) -> f32;
    /// The largest of the lanes.
    unsafe fn largest(vector: Self::Vector) -> f32;
    /// Transposes a square block of numbers, with as many rows as a vector has lanes.
    unsafe fn transpose(from: *const f32, to: *mut f32);
    /// Stores numbers from 0 to 255 as bytes, each rounded to the nearest.
    unsafe fn store_bytes(to: *mut u8, vector: Self::Vector);
    /// Prefetches a cache line, where there is an instruction for that. Any address will do.
    fn prefetch(from: *const f32);
}

/// Whether the compiler's target multiplies and adds in one instruction; elsewhere `mul_add` would be a function call.
const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

/// Arrays that the compiler turns into vectors of the target.
#[derive(Clone, Copy)]
pub(super) struct Portable;

/// Numbers in a portable vector: two registers of SSE2 or NEON.
const PORTABLE: usize = 8;

#[inline(always)]
fn zip(a: [f32; PORTABLE], b: [f32; PORTABLE], operation: impl Fn(f32, f32) -> f32) -> [f32; PORTABLE] {
    let mut result = [0.0; PORTABLE];
    for lane in 0..PORTABLE {
        result[lane] = operation(a[lane], b[lane]);
    }
    result
}

/// Transposes a block number by number.
#[inline(always)]
unsafe fn transpose_numbers<const LANES: usize>(from: *const f32, to: *mut f32) {
    for row in 0..LANES {
        for column in 0..LANES {
            // SAFETY: the caller's pointers are good for a block.
            unsafe { *to.add(column * LANES + row) = *from.add(row * LANES + column) }
        }
    }
}

impl Simd for Portable {
    type Vector = [f32; PORTABLE];
    const LANES: usize = PORTABLE;
    const PANEL: usize = 1;
    const ROWS: usize = 4;

    inlined! {
        fn load(from: *const f32) -> Self::Vector = from.cast::<[f32; PORTABLE]>().read();
        fn store(to: *mut f32, vector: Self::Vector) = to.cast::<[f32; PORTABLE]>().write(vector);
        fn splat(number: f32) -> Self::Vector = [number; PORTABLE];
        fn add(a: Self::Vector, b: Self::Vector) -> Self::Vector = zip(a, b, |a, b| a + b);
        fn sub(a: Self::Vector, b: Self::Vector) -> Self::Vector = zip(a, b, |a, b| a - b);
        fn mul(a: Self::Vector, b: Self::Vector) -> Self::Vector = zip(a, b, |a, b| a * b);
        fn div(a: Self::Vector, b: Self::Vector) -> Self::Vector = zip(a, b, |a, b| a / b);
        fn min(a: Self::Vector, b: Self::Vector) -> Self::Vector = zip(a, b, |a, b| if a < b { a } else { b });
        fn max(a: Self::Vector, b: Self::Vector) -> Self::Vector = zip(a, b, |a, b| if a > b { a } else { b });
        fn fma(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector = {
            let mut result = c;
            for lane in 0..PORTABLE {
                result[lane] = if FUSED { a[lane].mul_add(b[lane], c[lane]) } else { a[lane] * b[lane] + c[lane] };
            }
            result
        };
        fn fnma(a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector = {
            let mut result = c;
            for lane in 0..PORTABLE {
                result[lane] = if FUSED { (-a[lane]).mul_add(b[lane], c[lane]) } else { c[lane] - a[lane] * b[lane] };
            }
            result
        };
        fn exponent(shifted: Self::Vector) -> Self::Vector =
            zip(shifted, shifted, |number, _| f32::from_bits((number.to_bits() << 23).wrapping_add(1.0f32.to_bits())));
        fn sum(vector: Self::Vector) -> f32 = vector.iter().sum();
        fn largest(vector: Self::Vector) -> f32 =
            vector.into_iter().fold(f32::NEG_INFINITY, |a, b| if a > b { a } else { b });
        fn transpose(from: *const f32, to: *mut f32) = transpose_numbers::<PORTABLE>(from, to);
        fn store_bytes(to: *mut u8, vector: Self::Vector) =
            to.cast::<[u8; PORTABLE]>().write(vector.map(|number| number.round_ties_even() as u8));
    }
    #[inline(always)]
    fn prefetch(_from: *const f32) {}
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Simd, transpose_numbers};

    #[derive(Clone, Copy)]
    pub(crate) struct Avx512;

    impl Simd for Avx512 {
        type Vector = __m512;
        const LANES: usize = 16;
        const PANEL: usize = 2;
        // 24 of the 32 registers are sums; the others hold two vectors of weights and the broadcast inputs.
        const ROWS: usize = 12;

        inlined! {
            fn load(from: *const f32) -> __m512 = _mm512_loadu_ps(from);
            fn store(to: *mut f32, vector: __m512) = _mm512_storeu_ps(to, vector);
            fn splat(number: f32) -> __m512 = _mm512_set1_ps(number);
            fn add(a: __m512, b: __m512) -> __m512 = _mm512_add_ps(a, b);
            fn sub(a: __m512, b: __m512) -> __m512 = _mm512_sub_ps(a, b);
            fn mul(a: __m512, b: __m512) -> __m512 = _mm512_mul_ps(a, b);
            fn div(a: __m512, b: __m512) -> __m512 = _mm512_div_ps(a, b);
            fn min(a: __m512, b: __m512) -> __m512 = _mm512_min_ps(a, b);
            fn max(a: __m512, b: __m512) -> __m512 = _mm512_max_ps(a, b);
            fn fma(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fmadd_ps(a, b, c);
            fn fnma(a: __m512, b: __m512, c: __m512) -> __m512 = _mm512_fnmadd_ps(a, b, c);
            fn exponent(shifted: __m512) -> __m512 = {
                let bits = _mm512_slli_epi32::<23>(_mm512_castps_si512(shifted));
                _mm512_castsi512_ps(_mm512_add_epi32(bits, _mm512_set1_epi32(1.0f32.to_bits() as i32)))
            };
            fn sum(vector: __m512) -> f32 = _mm512_reduce_add_ps(vector);
            fn largest(vector: __m512) -> f32 = _mm512_reduce_max_ps(vector);
            fn transpose(from: *const f32, to: *mut f32) = transpose_16(from, to);
            fn store_bytes(to: *mut u8, vector: __m512) =
                _mm_storeu_si128(to.cast(), _mm512_cvtusepi32_epi8(_mm512_cvtps_epi32(vector)));
        }

        #[inline(always)]
        fn prefetch(from: *const f32) {
            // SAFETY: the instruction is part of SSE, and does nothing where the address is bad.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
        }
    }

    #[derive(Clone, Copy)]
    pub(crate) struct Avx2;

    impl Simd for Avx2 {
        type Vector = __m256;
        const LANES: usize = 8;
        const PANEL: usize = 2;
        // 12 of the 16 registers are sums, two hold weights, one a broadcast input; without one to spare, sums go to
        // memory.
        const ROWS: usize = 6;

        inlined! {
            fn load(from: *const f32) -> __m256 = _mm256_loadu_ps(from);
            fn store(to: *mut f32, vector: __m256) = _mm256_storeu_ps(to, vector);
            fn splat(number: f32) -> __m256 = _mm256_set1_ps(number);
            fn add(a: __m256, b: __m256) -> __m256 = _mm256_add_ps(a, b);
            fn sub(a: __m256, b: __m256) -> __m256 = _mm256_sub_ps(a, b);
            fn mul(a: __m256, b: __m256) -> __m256 = _mm256_mul_ps(a, b);
            fn div(a: __m256, b: __m256) -> __m256 = _mm256_div_ps(a, b);
            fn min(a: __m256, b: __m256) -> __m256 = _mm256_min_ps(a, b);
            fn max(a: __m256, b: __m256) -> __m256 = _mm256_max_ps(a, b);
            fn fma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fmadd_ps(a, b, c);
            fn fnma(a: __m256, b: __m256, c: __m256) -> __m256 = _mm256_fnmadd_ps(a, b, c);
            fn exponent(shifted: __m256) -> __m256 = {
                let bits = _mm256_slli_epi32::<23>(_mm256_castps_si256(shifted));
                _mm256_castsi256_ps(_mm256_add_epi32(bits, _mm256_set1_epi32(1.0f32.to_bits() as i32)))
            };
            fn sum(vector: __m256) -> f32 = {
                let half = _mm_add_ps(_mm256_castps256_ps128(vector), _mm256_extractf128_ps::<1>(vector));
                let pair = _mm_add_ps(half, _mm_movehl_ps(half, half));
                _mm_cvtss_f32(_mm_add_ss(pair, _mm_shuffle_ps::<1>(pair, pair)))
            };
            fn largest(vector: __m256) -> f32 = {
                let half = _mm_max_ps(_mm256_castps256_ps128(vector), _mm256_extractf128_ps::<1>(vector));
                let pair = _mm_max_ps(half, _mm_movehl_ps(half, half));
                _mm_cvtss_f32(_mm_max_ss(pair, _mm_shuffle_ps::<1>(pair, pair)))
            };
            fn transpose(from: *const f32, to: *mut f32) = transpose_numbers::<8>(from, to);
            fn store_bytes(to: *mut u8, vector: __m256) = {
                let words = _mm256_cvtps_epi32(vector);
                let (low, high) = (_mm256_castsi256_si128(words), _mm256_extracti128_si256::<1>(words));
                let halves = _mm_packus_epi32(low, high);
                _mm_storel_epi64(to.cast(), _mm_packus_epi16(halves, halves));
            };
        }

        #[inline(always)]
        fn prefetch(from: *const f32) {
            // SAFETY: the instruction is part of SSE, and does nothing where the address is bad.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(from.cast()) }
        }
    }

    inlined! {
        /// Transposes 16 by 16 numbers: pairs of rows, then pairs of pairs, then the quarters of the registers.
        fn transpose_16(from: *const f32, to: *mut f32) = {
            let mut rows = [_mm512_setzero_ps(); 16];
            for row in 0..16 {
                rows[row] = _mm512_loadu_ps(from.add(row * 16));
            }
            // `fours[4 g + j]`, quarter q: the column 4 q + j of the rows 4 g to 4 g + 3.
            let mut fours = [_mm512_setzero_pd(); 16];
            for g in 0..4 {
                let [a, b, c, d] = [rows[4 * g], rows[4 * g + 1], rows[4 * g + 2], rows[4 * g + 3]];
                let low = [_mm512_unpacklo_ps(a, b), _mm512_unpacklo_ps(c, d)].map(|pair| _mm512_castps_pd(pair));
                let high = [_mm512_unpackhi_ps(a, b), _mm512_unpackhi_ps(c, d)].map(|pair| _mm512_castps_pd(pair));
                fours[4 * g] = _mm512_unpacklo_pd(low[0], low[1]);
                fours[4 * g + 1] = _mm512_unpackhi_pd(low[0], low[1]);
                fours[4 * g + 2] = _mm512_unpacklo_pd(high[0], high[1]);
                fours[4 * g + 3] = _mm512_unpackhi_pd(high[0], high[1]);
            }
            for j in 0..4 {
                let [a, b, c, d] = [fours[j], fours[4 + j], fours[8 + j], fours[12 + j]];
                let (low, high) = (_mm512_shuffle_f64x2::<0x44>(a, b), _mm512_shuffle_f64x2::<0xee>(a, b));
                let (low_2, high_2) = (_mm512_shuffle_f64x2::<0x44>(c, d), _mm512_shuffle_f64x2::<0xee>(c, d));
                let columns = [
                    _mm512_shuffle_f64x2::<0x88>(low, low_2),
                    _mm512_shuffle_f64x2::<0xdd>(low, low_2),
                    _mm512_shuffle_f64x2::<0x88>(high, high_2),
                    _mm512_shuffle_f64x2::<0xdd>(high, high_2),
                ];
                for q in 0..4 {
                    _mm512_storeu_ps(to.add((4 * q + j) * 16), _mm512_castpd_ps(columns[q]));
                }
            }
        };
    }
}
