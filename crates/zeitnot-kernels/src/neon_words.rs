//! Words that NEON multiplies: four words of a row lie in one register, and an instruction takes one of them for all
//! columns.

use std::arch::aarch64::*;
use std::arch::asm;

use super::arithmetic::Arithmetic;
use super::neon::Neon;

/// Words of a row in a register.
const STEP: usize = 4;

/// Words in half a vector of columns.
const HALF: usize = 4;

/// Words that are numbers of 32 bits (`f32`).
pub(super) struct Lanes;

/// `sums + row[LANE] * weights`, for both registers of a vector.
#[inline(always)]
unsafe fn add_lane<const LANE: i32>(row: float32x4_t, weights: float32x4x2_t, sums: float32x4x2_t) -> float32x4x2_t {
    // SAFETY: the caller has the instructions.
    unsafe {
        float32x4x2_t(vfmaq_laneq_f32::<LANE>(sums.0, weights.0, row), vfmaq_laneq_f32::<LANE>(sums.1, weights.1, row))
    }
}

impl Arithmetic<Neon> for Lanes {
    type Words = [float32x4x2_t; STEP];
    type Row = float32x4_t;
    type Sums = float32x4x2_t;
    const IS_QUANTISED: bool = false;
    const STEP: usize = STEP;

    inlined! {
        fn zero() -> float32x4x2_t = float32x4x2_t(vdupq_n_f32(0.0), vdupq_n_f32(0.0));
        fn weights(from: *const u32, next: usize) -> [float32x4x2_t; STEP] = {
            let half = |word: usize, half: usize| from.wrapping_add(word * next + half * HALF).cast();
            [
                float32x4x2_t(vld1q_f32(half(0, 0)), vld1q_f32(half(0, 1))),
                float32x4x2_t(vld1q_f32(half(1, 0)), vld1q_f32(half(1, 1))),
                float32x4x2_t(vld1q_f32(half(2, 0)), vld1q_f32(half(2, 1))),
                float32x4x2_t(vld1q_f32(half(3, 0)), vld1q_f32(half(3, 1))),
            ]
        };
        fn repeat(from: *const u32) -> float32x4_t = vld1q_f32(from.cast());
        fn multiply_add(row: float32x4_t, weights: [float32x4x2_t; STEP], sums: float32x4x2_t) -> float32x4x2_t = {
            let sums = add_lane::<1>(row, weights[1], add_lane::<0>(row, weights[0], sums));
            add_lane::<3>(row, weights[3], add_lane::<2>(row, weights[2], sums))
        };
        fn number(sums: float32x4x2_t) -> float32x4x2_t = sums;
    }
}

/// The highest bit of a byte: flipped, it turns an unsigned byte into a signed one that is [`OFFSET`] less.
const SIGN: u8 = 0x80;
const OFFSET: i32 = 128;

inlined! {
    /// Four words of bytes.
    fn four_words(from: *const u32) -> int8x16_t = vreinterpretq_s8_u32(vld1q_u32(from));

    /// Four words of unsigned bytes, made signed: each byte is [`OFFSET`] less.
    fn signed_row(from: *const u32) -> int8x16_t =
        vreinterpretq_s8_u8(veorq_u8(vreinterpretq_u8_u32(vld1q_u32(from)), vdupq_n_u8(SIGN)));

    /// Correction of the sums of columns for rows made signed: [`OFFSET`] times the sum of each column's weight bytes.
    fn offsets(column_sums: *const f32) -> int32x4_t = vmulq_n_s32(vcvtq_s32_f32(vld1q_f32(column_sums)), OFFSET);

    /// Loads the weights of one step, `next` words apart: each word's two registers have four columns each.
    fn bytes_of_step(from: *const u32, next: usize) -> [[int8x16_t; 2]; STEP] = {
        let half = |word: usize, half: usize| from.wrapping_add(word * next + half * HALF);
        [
            [four_words(half(0, 0)), four_words(half(0, 1))],
            [four_words(half(1, 0)), four_words(half(1, 1))],
            [four_words(half(2, 0)), four_words(half(2, 1))],
            [four_words(half(3, 0)), four_words(half(3, 1))],
        ]
    };
}

/// An [`Arithmetic`] of words of four bytes for an instruction that multiplies the words of four columns by one word of
/// a row and adds the products up. (The functions of `std::arch` for these instructions are not stable. A step is one
/// `asm!`: the compiler takes each `asm!` for a large piece of code, and would not unroll a loop over many.)
macro_rules! one_instruction {
    ($(#[$doc:meta])* $name:ident, $instruction:literal, $row:ident, |$column_sums:ident| $start:expr) => {
        $(#[$doc])*
        pub(super) struct $name;

        impl Arithmetic<Neon> for $name {
            type Words = [[int8x16_t; 2]; STEP];
            type Row = int8x16_t;
            type Sums = [int32x4_t; 2];
            const IS_QUANTISED: bool = true;
            const STEP: usize = STEP;

            inlined! {
                fn zero() -> [int32x4_t; 2] = [vdupq_n_s32(0); 2];
                fn start($column_sums: *const f32) -> [int32x4_t; 2] = $start;
                fn weights(from: *const u32, next: usize) -> [[int8x16_t; 2]; STEP] = bytes_of_step(from, next);
                fn repeat(from: *const u32) -> int8x16_t = $row(from);
                fn multiply_add(row: int8x16_t, weights: Self::Words, sums: Self::Sums) -> Self::Sums = {
                    let [mut low, mut high] = sums;
                    asm!(
                        concat!($instruction, " {low:v}.4s, {a:v}.16b, {row:v}.4b[0]"),
                        concat!($instruction, " {high:v}.4s, {b:v}.16b, {row:v}.4b[0]"),
                        concat!($instruction, " {low:v}.4s, {c:v}.16b, {row:v}.4b[1]"),
                        concat!($instruction, " {high:v}.4s, {d:v}.16b, {row:v}.4b[1]"),
                        concat!($instruction, " {low:v}.4s, {e:v}.16b, {row:v}.4b[2]"),
                        concat!($instruction, " {high:v}.4s, {f:v}.16b, {row:v}.4b[2]"),
                        concat!($instruction, " {low:v}.4s, {g:v}.16b, {row:v}.4b[3]"),
                        concat!($instruction, " {high:v}.4s, {h:v}.16b, {row:v}.4b[3]"),
                        low = inout(vreg) low,
                        high = inout(vreg) high,
                        a = in(vreg) weights[0][0],
                        b = in(vreg) weights[0][1],
                        c = in(vreg) weights[1][0],
                        d = in(vreg) weights[1][1],
                        e = in(vreg) weights[2][0],
                        f = in(vreg) weights[2][1],
                        g = in(vreg) weights[3][0],
                        h = in(vreg) weights[3][1],
                        row = in(vreg) row,
                        options(pure, nomem, nostack, preserves_flags),
                    );
                    [low, high]
                };
                fn number(sums: [int32x4_t; 2]) -> float32x4x2_t =
                    float32x4x2_t(vcvtq_f32_s32(sums[0]), vcvtq_f32_s32(sums[1]));
            }
        }
    };
}

one_instruction!(
    /// Words of four bytes, multiplied by the extension `dotprod`: both factors are signed.
    SignedBytes,
    "sdot",
    signed_row,
    |column_sums| [offsets(column_sums), offsets(column_sums.add(HALF))]
);
one_instruction!(
    /// Words of four bytes, multiplied by the extension `i8mm`: weights are signed, rows are not.
    MixedBytes,
    "sudot",
    four_words,
    |_column_sums| [vdupq_n_s32(0); 2]
);

/// Words of four bytes, multiplied by NEON alone: two products of signed bytes have a sum of 16 bits, since no weight is
/// below -127.
pub(super) struct WideningBytes;

impl Arithmetic<Neon> for WideningBytes {
    type Words = [[int8x16_t; 2]; 2];
    type Row = [int8x16_t; 2];
    /// `[half of the columns][quarter]`: a register has two columns, each with a sum for the first two bytes of its
    /// words and one for the other two.
    type Sums = [[int32x4_t; 2]; 2];
    const IS_QUANTISED: bool = true;
    const STEP: usize = 2;
    const ROWS: usize = 4;

    inlined! {
        fn zero() -> Self::Sums = [[vdupq_n_s32(0); 2]; 2];
        fn start(column_sums: *const f32) -> Self::Sums = {
            let zero = vdupq_n_s32(0);
            let offsets = [offsets(column_sums), offsets(column_sums.add(HALF))];
            offsets.map(|half| [vzip1q_s32(half, zero), vzip2q_s32(half, zero)])
        };
        fn weights(from: *const u32, next: usize) -> Self::Words = {
            let half = |word: usize, half: usize| from.wrapping_add(word * next + half * HALF);
            [
                [four_words(half(0, 0)), four_words(half(0, 1))],
                [four_words(half(1, 0)), four_words(half(1, 1))],
            ]
        };
        fn repeat(from: *const u32) -> Self::Row = {
            let sign = u32::from_ne_bytes([SIGN; 4]);
            [*from, *from.add(1)].map(|word| vreinterpretq_s8_u32(vdupq_n_u32(word ^ sign)))
        };
        fn multiply_add(row: Self::Row, weights: Self::Words, mut sums: Self::Sums) -> Self::Sums = {
            for half in 0..2 {
                let [a, b] = [weights[0][half], weights[1][half]];
                let low = vmull_s8(vget_low_s8(a), vget_low_s8(row[0]));
                let low = vmlal_s8(low, vget_low_s8(b), vget_low_s8(row[1]));
                let high = vmlal_high_s8(vmull_high_s8(a, row[0]), b, row[1]);
                sums[half] = [vpadalq_s16(sums[half][0], low), vpadalq_s16(sums[half][1], high)];
            }
            sums
        };
        fn number(sums: Self::Sums) -> float32x4x2_t = {
            let [low, high] = sums.map(|[a, b]| vcvtq_f32_s32(vpaddq_s32(a, b)));
            float32x4x2_t(low, high)
        };
    }
}
