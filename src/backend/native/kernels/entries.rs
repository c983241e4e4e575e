//! The kernels compiled for each instruction set, as tables of functions.

use super::activate::{Nonlinearity, activate_all};
use super::epilogue::{Epilogue, epilogue};
use super::first_convolution::{Input, input};
use super::legal_moves::{convolve_one, dot};
use super::product::{Product, product};
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Portable, Simd};
use super::winograd::{Four, Two};
use crate::backend::native::isa::Isa;

/// The kernels for one instruction set. Each function is unsafe as the kernel of its name is.
pub(super) struct Entries {
    pub lanes: usize,
    pub panel: usize,
    pub product: unsafe fn(&Product),
    pub input_four: unsafe fn(&Input<'_>),
    pub input_two: unsafe fn(&Input<'_>),
    pub epilogue_four: unsafe fn(&Epilogue),
    pub epilogue_two: unsafe fn(&Epilogue),
    pub activate: unsafe fn(*mut f32, usize, Nonlinearity),
    pub convolve_one: unsafe fn(*const f32, *const f32, usize, usize) -> f32,
    pub dot: unsafe fn(*const f32, *const f32, usize) -> f32,
}

impl Entries {
    /// The table for an instruction set, which must be available.
    pub(super) fn of(isa: Isa) -> &'static Entries {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => &avx512::ENTRIES,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => &avx2::ENTRIES,
            _ => &portable::ENTRIES,
        }
    }
}

macro_rules! entries {
    ($(#[$feature:meta])* $name:ident, $simd:ty) => {
        mod $name {
            use super::*;

            pub(super) static ENTRIES: Entries = Entries {
                lanes: <$simd>::LANES,
                panel: <$simd>::PANEL,
                product: run_product,
                input_four: run_input_four,
                input_two: run_input_two,
                epilogue_four: run_epilogue_four,
                epilogue_two: run_epilogue_two,
                activate: run_activate,
                convolve_one: run_convolve_one,
                dot: run_dot,
            };

            $(#[$feature])*
            unsafe fn run_product(job: &Product) {
                // SAFETY: the caller's.
                unsafe { product::<$simd>(job) }
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
            unsafe fn run_activate(numbers: *mut f32, vectors: usize, activation: Nonlinearity) {
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
        }
    };
}

#[cfg(target_arch = "x86_64")]
entries!(
    #[target_feature(enable = "avx512f,avx2,fma")]
    avx512,
    Avx512
);
#[cfg(target_arch = "x86_64")]
entries!(
    #[target_feature(enable = "avx2,fma")]
    avx2,
    Avx2
);
entries!(portable, Portable);
