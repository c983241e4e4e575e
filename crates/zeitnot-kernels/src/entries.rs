//! The kernels compiled for each instruction set, as tables of functions.

use super::activate::activate_all;
use super::activation::Activation;
use super::arithmetic::{Arithmetic, Bytes, Float32};
#[cfg(target_arch = "x86_64")]
use super::arithmetic::{AvxVnni, ShortSums, Vnni, Vnni256};
use super::epilogue::{Epilogue, epilogue};
use super::first_convolution::{Input, input};
use super::isa::Isa;
#[cfg(target_arch = "x86_64")]
use super::isa::has_avx_vnni;
use super::legal_moves::{convolve_one, dot};
#[cfg(target_arch = "aarch64")]
use super::neon::Neon;
#[cfg(target_arch = "aarch64")]
use super::neon_words::{Lanes, MixedBytes, SignedBytes, WideningBytes};
use super::product::{Product, product};
use super::quantise::{Quantisation, quantise};
use super::rows::{RowProduct, rows};
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Portable, Simd};
use super::token_rows::{Normalisation, add_scaled, dot_rows, gate, normalise, softmax, transpose};
use super::winograd::{Four, Two};

/// The kernels for one instruction set. Each function is unsafe as the kernel of its name is.
pub(super) struct Entries {
    pub lanes: usize,
    pub panel: usize,
    /// Whether `rows_of_bytes` adds up products in 16 bits.
    pub has_short_sums: bool,
    pub product: unsafe fn(&Product),
    pub input_four: unsafe fn(&Input<'_>),
    pub input_two: unsafe fn(&Input<'_>),
    pub epilogue_four: unsafe fn(&Epilogue),
    pub epilogue_two: unsafe fn(&Epilogue),
    pub activate: unsafe fn(*mut f32, usize, Activation),
    pub convolve_one: unsafe fn(*const f32, *const f32, usize, usize) -> f32,
    pub dot: unsafe fn(*const f32, *const f32, usize) -> f32,
    pub rows: unsafe fn(&RowProduct),
    pub rows_of_bytes: unsafe fn(&RowProduct),
    pub quantise: unsafe fn(&Quantisation),
    pub normalise: unsafe fn(&Normalisation),
    pub softmax: unsafe fn(*mut f32, usize, usize, usize),
    pub transpose: unsafe fn(*const f32, usize, usize, usize, *mut f32),
    pub add_scaled: unsafe fn(*mut f32, usize, *const f32, usize, usize, f32),
    pub gate: unsafe fn(*mut f32, *const f32, *const f32, usize),
    pub dot_rows: unsafe fn(*const f32, usize, *const f32, usize, usize) -> f32,
}

impl Entries {
    /// The table for an instruction set, which must be available.
    pub(super) fn of(isa: Isa) -> &'static Entries {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 if isa.multiplies_bytes() => &vnni::ENTRIES,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => &avx512::ENTRIES,
            #[cfg(target_arch = "x86_64")]
            Isa::AvxVnni if has_avx_vnni() => &avx_vnni::ENTRIES,
            #[cfg(target_arch = "x86_64")]
            Isa::AvxVnni => &vnni_256::ENTRIES,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => &avx2::ENTRIES,
            #[cfg(target_arch = "aarch64")]
            Isa::I8mm => &i8mm::ENTRIES,
            #[cfg(target_arch = "aarch64")]
            Isa::DotProd => &dot_product::ENTRIES,
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => &neon::ENTRIES,
            _ => &portable::ENTRIES,
        }
    }
}

macro_rules! entries {
    ($(#[$feature:meta])* $name:ident, $simd:ty, $numbers:ty, $bytes:ty) => {
        mod $name {
            use super::*;

            pub(super) static ENTRIES: Entries = Entries {
                lanes: <$simd>::LANES,
                panel: <$simd>::PANEL,
                has_short_sums: <$bytes as Arithmetic<$simd>>::HAS_SHORT_SUMS,
                product: run_product,
                input_four: run_input_four,
                input_two: run_input_two,
                epilogue_four: run_epilogue_four,
                epilogue_two: run_epilogue_two,
                activate: run_activate,
                convolve_one: run_convolve_one,
                dot: run_dot,
                rows: run_rows,
                rows_of_bytes: run_rows_of_bytes,
                quantise: run_quantise,
                normalise: run_normalise,
                softmax: run_softmax,
                transpose: run_transpose,
                add_scaled: run_add_scaled,
                gate: run_gate,
                dot_rows: run_dot_rows,
            };

            $(#[$feature])*
            unsafe fn run_product(job: &Product) {
                // SAFETY: the caller's.
                unsafe { product::<$simd, $numbers>(job) }
            }
            $(#[$feature])*
            unsafe fn run_input_four(job: &Input<'_>) {
                // SAFETY: the caller's.
                unsafe { input::<$simd, Four, 6, 4>(job) }
            }
            $(#[$feature])*
            unsafe fn run_input_two(job: &Input<'_>) {
                // SAFETY: the caller's.
                unsafe { input::<$simd, Two, 4, 2>(job) }
            }
            $(#[$feature])*
            unsafe fn run_epilogue_four(job: &Epilogue) {
                // SAFETY: the caller's.
                unsafe { epilogue::<$simd, Four, 6, 4>(job) }
            }
            $(#[$feature])*
            unsafe fn run_epilogue_two(job: &Epilogue) {
                // SAFETY: the caller's.
                unsafe { epilogue::<$simd, Two, 4, 2>(job) }
            }
            $(#[$feature])*
            unsafe fn run_activate(numbers: *mut f32, vectors: usize, activation: Activation) {
                // SAFETY: the caller's.
                unsafe { activate_all::<$simd>(numbers, vectors, activation) }
            }
            $(#[$feature])*
            unsafe fn run_convolve_one(board: *const f32, weights: *const f32, columns: usize, square: usize) -> f32 {
                // SAFETY: the caller's.
                unsafe { convolve_one::<$simd>(board, weights, columns, square) }
            }
            $(#[$feature])*
            unsafe fn run_dot(a: *const f32, b: *const f32, vectors: usize) -> f32 {
                // SAFETY: the caller's.
                unsafe { dot::<$simd>(a, b, vectors) }
            }
            $(#[$feature])*
            unsafe fn run_rows(job: &RowProduct) {
                // SAFETY: the caller's.
                unsafe { rows::<$simd, $numbers>(job) }
            }
            $(#[$feature])*
            unsafe fn run_rows_of_bytes(job: &RowProduct) {
                // SAFETY: the caller's.
                unsafe { rows::<$simd, $bytes>(job) }
            }
            $(#[$feature])*
            unsafe fn run_quantise(job: &Quantisation) {
                // SAFETY: the caller's.
                unsafe { quantise::<$simd>(job) }
            }
            $(#[$feature])*
            unsafe fn run_normalise(job: &Normalisation) {
                // SAFETY: the caller's.
                unsafe { normalise::<$simd>(job) }
            }
            $(#[$feature])*
            unsafe fn run_softmax(numbers: *mut f32, rows: usize, pitch: usize, columns: usize) {
                // SAFETY: the caller's.
                unsafe { softmax::<$simd>(numbers, rows, pitch, columns) }
            }
            $(#[$feature])*
            unsafe fn run_transpose(from: *const f32, rows: usize, pitch: usize, columns: usize, to: *mut f32) {
                // SAFETY: the caller's.
                unsafe { transpose::<$simd>(from, rows, pitch, columns, to) }
            }
            $(#[$feature])*
            unsafe fn run_add_scaled(
                to: *mut f32,
                to_next: usize,
                from: *const f32,
                from_next: usize,
                vectors: usize,
                factor: f32,
            ) {
                // SAFETY: the caller's.
                unsafe { add_scaled::<$simd>(to, to_next, from, from_next, vectors, factor) }
            }
            $(#[$feature])*
            unsafe fn run_gate(numbers: *mut f32, factors: *const f32, terms: *const f32, vectors: usize) {
                // SAFETY: the caller's.
                unsafe { gate::<$simd>(numbers, factors, terms, vectors) }
            }
            $(#[$feature])*
            unsafe fn run_dot_rows(a: *const f32, a_next: usize, b: *const f32, b_next: usize, vectors: usize) -> f32 {
                // SAFETY: the caller's.
                unsafe { dot_rows::<$simd>(a, a_next, b, b_next, vectors) }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
entries!(
    #[target_feature(enable = "avx512f,avx2,fma")]
    avx512,
    Avx512,
    Float32,
    Bytes
);
#[cfg(target_arch = "x86_64")]
entries!(
    #[target_feature(enable = "avx512f,avx512vnni,avx2,fma")]
    vnni,
    Avx512,
    Float32,
    Vnni
);
#[cfg(target_arch = "x86_64")]
entries!(
    #[target_feature(enable = "avx2,fma")]
    avx2,
    Avx2,
    Float32,
    ShortSums
);
#[cfg(target_arch = "x86_64")]
entries!(
    #[target_feature(enable = "avx2,fma,avxvnni")]
    avx_vnni,
    Avx2,
    Float32,
    AvxVnni
);
#[cfg(target_arch = "x86_64")]
entries!(
    #[target_feature(enable = "avx2,fma,avx512vl,avx512vnni")]
    vnni_256,
    Avx2,
    Float32,
    Vnni256
);
#[cfg(target_arch = "aarch64")]
entries!(
    #[target_feature(enable = "neon")]
    neon,
    Neon,
    Lanes,
    WideningBytes
);
#[cfg(target_arch = "aarch64")]
entries!(
    #[target_feature(enable = "neon,dotprod")]
    dot_product,
    Neon,
    Lanes,
    SignedBytes
);
#[cfg(target_arch = "aarch64")]
entries!(
    #[target_feature(enable = "neon,dotprod,i8mm")]
    i8mm,
    Neon,
    Lanes,
    MixedBytes
);
entries!(portable, Portable, Float32, Bytes);
