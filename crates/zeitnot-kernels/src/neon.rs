//! Vectors of 8 numbers in two registers of NEON.

use std::arch::aarch64::*;
use std::arch::asm;

use super::simd::Simd;

/// Numbers in a register.
const HALF: usize = 4;

/// Vectors of NEON.
#[derive(Clone, Copy)]
pub(super) struct Neon;

/// An operation on two vectors, register by register.
macro_rules! each {
    ($operation:ident($a:expr, $b:expr)) => {
        float32x4x2_t($operation($a.0, $b.0), $operation($a.1, $b.1))
    };
}

impl Simd for Neon {
    type Vector = float32x4x2_t;
    const LANES: usize = 2 * HALF;
    // 16 of the 32 registers are sums, 8 hold the weights of a step, the others numbers of rows.
    const PANEL: usize = 1;
    const ROWS: usize = 8;

    inlined! {
        fn load(from: *const f32) -> float32x4x2_t = float32x4x2_t(vld1q_f32(from), vld1q_f32(from.add(HALF)));
        fn store(to: *mut f32, vector: float32x4x2_t) = {
            vst1q_f32(to, vector.0);
            vst1q_f32(to.add(HALF), vector.1);
        };
        fn splat(number: f32) -> float32x4x2_t = float32x4x2_t(vdupq_n_f32(number), vdupq_n_f32(number));
        fn add(a: float32x4x2_t, b: float32x4x2_t) -> float32x4x2_t = each!(vaddq_f32(a, b));
        fn sub(a: float32x4x2_t, b: float32x4x2_t) -> float32x4x2_t = each!(vsubq_f32(a, b));
        fn mul(a: float32x4x2_t, b: float32x4x2_t) -> float32x4x2_t = each!(vmulq_f32(a, b));
        fn div(a: float32x4x2_t, b: float32x4x2_t) -> float32x4x2_t = each!(vdivq_f32(a, b));
        fn min(a: float32x4x2_t, b: float32x4x2_t) -> float32x4x2_t = each!(smaller(a, b));
        fn max(a: float32x4x2_t, b: float32x4x2_t) -> float32x4x2_t = each!(larger(a, b));
        fn fma(a: float32x4x2_t, b: float32x4x2_t, c: float32x4x2_t) -> float32x4x2_t =
            float32x4x2_t(vfmaq_f32(c.0, a.0, b.0), vfmaq_f32(c.1, a.1, b.1));
        fn fnma(a: float32x4x2_t, b: float32x4x2_t, c: float32x4x2_t) -> float32x4x2_t =
            float32x4x2_t(vfmsq_f32(c.0, a.0, b.0), vfmsq_f32(c.1, a.1, b.1));
        fn exponent(shifted: float32x4x2_t) -> float32x4x2_t = float32x4x2_t(power(shifted.0), power(shifted.1));
        fn sum(vector: float32x4x2_t) -> f32 = vaddvq_f32(vaddq_f32(vector.0, vector.1));
        fn largest(vector: float32x4x2_t) -> f32 = vmaxvq_f32(vmaxq_f32(vector.0, vector.1));
        fn transpose(from: *const f32, to: *mut f32) = {
            let row = 2 * HALF;
            transpose_quarter(from, to);
            transpose_quarter(from.add(HALF), to.add(HALF * row));
            transpose_quarter(from.add(HALF * row), to.add(HALF));
            transpose_quarter(from.add(HALF * row + HALF), to.add(HALF * row + HALF));
        };
        fn store_bytes(to: *mut u8, vector: float32x4x2_t) = {
            let halves = [vector.0, vector.1].map(|half| vqmovn_u32(vcvtnq_u32_f32(half)));
            vst1_u8(to, vqmovn_u16(vcombine_u16(halves[0], halves[1])));
        };
    }
    #[inline(always)]
    fn prefetch(from: *const f32) {
        // SAFETY: the instruction does nothing where the address is bad.
        unsafe { asm!("prfm pldl1keep, [{}]", in(reg) from.addr(), options(nomem, nostack, preserves_flags)) }
    }
}

inlined! {
    /// The smaller of each pair; `b` where either is not a number, for which NEON's own minimum has no preference.
    fn smaller(a: float32x4_t, b: float32x4_t) -> float32x4_t = vbslq_f32(vcltq_f32(a, b), a, b);

    /// The larger of each pair; `b` where either is not a number.
    fn larger(a: float32x4_t, b: float32x4_t) -> float32x4_t = vbslq_f32(vcgtq_f32(a, b), a, b);

    /// [`Simd::exponent`] of a register.
    fn power(shifted: float32x4_t) -> float32x4_t = {
        let bits = vshlq_n_u32::<23>(vreinterpretq_u32_f32(shifted));
        vreinterpretq_f32_u32(vaddq_u32(bits, vdupq_n_u32(1.0f32.to_bits())))
    };

    /// Transposes 4 by 4 numbers of rows of 8: pairs of rows, then pairs of pairs.
    fn transpose_quarter(from: *const f32, to: *mut f32) = {
        let row = 2 * HALF;
        let [a, b] = [vld1q_f32(from), vld1q_f32(from.add(row))];
        let [c, d] = [vld1q_f32(from.add(2 * row)), vld1q_f32(from.add(3 * row))];
        let pairs = |a, b| [vtrn1q_f32(a, b), vtrn2q_f32(a, b)].map(|pair| vreinterpretq_f64_f32(pair));
        let ([even, odd], [even_2, odd_2]) = (pairs(a, b), pairs(c, d));
        let columns =
            [vtrn1q_f64(even, even_2), vtrn1q_f64(odd, odd_2), vtrn2q_f64(even, even_2), vtrn2q_f64(odd, odd_2)];
        for column in 0..HALF {
            vst1q_f32(to.add(column * row), vreinterpretq_f32_f64(columns[column]));
        }
    };
}
