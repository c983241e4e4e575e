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
#[cfg(target_arch = "aarch64")]
use super::neon::Neon;
#[cfg(target_arch = "aarch64")]
use super::neon_words::{Lanes, MixedBytes, SignedBytes, WideningBytes};
use super::product::Product;
use super::quantise::Quantisation;
use super::rows::RowProduct;
#[cfg(target_arch = "x86_64")]
use super::simd::{Avx2, Avx512};
use super::simd::{Portable, Simd};
use super::token_rows::Normalisation;
use super::winograd::{Four, Two};
use super::{legal_moves, product, quantise, rows, token_rows};

/// The type [`Entries`], and a macro `instance` that compiles the kernels for one instruction set: `S` are its vectors, `N`
/// its words of numbers and `B` its words of bytes.
macro_rules! entries {
    ($dollar:tt $($name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? = $kernel:expr;)*) => {
        /// The kernels for one instruction set. Each function is unsafe as its kernel is.
        pub(super) struct Entries {
            pub lanes: usize,
            pub panel: usize,
            /// Whether `rows_of_bytes` adds up products in 16 bits.
            pub has_short_sums: bool,
            $(pub $name: unsafe fn($($type),*) $(-> $result)?,)*
        }

        macro_rules! instance {
            ($dollar(#[$dollar feature:meta])* $dollar name:ident, $dollar s:ty, $dollar n:ty, $dollar b:ty) => {
                mod $dollar name {
                    use super::*;

                    type S = $dollar s;
                    type N = $dollar n;
                    type B = $dollar b;

                    pub(super) static ENTRIES: Entries = Entries {
                        lanes: S::LANES,
                        panel: S::PANEL,
                        has_short_sums: <B as Arithmetic<S>>::HAS_SHORT_SUMS,
                        $($name,)*
                    };
                    $(
                        $dollar(#[$dollar feature])*
                        unsafe fn $name($($argument: $type),*) $(-> $result)? {
                            // SAFETY: the caller's.
                            unsafe { $kernel($($argument),*) }
                        }
                    )*
                }
            };
        }
    };
}

entries! { $
    product(job: &Product) = product::product::<S, N>;
    input_four(job: &Input<'_>) = input::<S, Four, 6, 4>;
    input_two(job: &Input<'_>) = input::<S, Two, 4, 2>;
    epilogue_four(job: &Epilogue) = epilogue::<S, Four, 6, 4>;
    epilogue_two(job: &Epilogue) = epilogue::<S, Two, 4, 2>;
    activate(numbers: *mut f32, vectors: usize, activation: Activation) = activate_all::<S>;
    convolve_one(board: *const f32, weights: *const f32, columns: usize, square: usize) -> f32 =
        legal_moves::convolve_one::<S>;
    rows(job: &RowProduct) = rows::rows::<S, N>;
    rows_of_bytes(job: &RowProduct) = rows::rows::<S, B>;
    quantise(job: &Quantisation) = quantise::quantise::<S>;
    normalise(job: &Normalisation) = token_rows::normalise::<S>;
    softmax(numbers: *mut f32, rows: usize, pitch: usize, columns: usize) = token_rows::softmax::<S>;
    transpose(from: *const f32, rows: usize, pitch: usize, columns: usize, to: *mut f32) = token_rows::transpose::<S>;
    add_scaled(to: *mut f32, to_next: usize, from: *const f32, from_next: usize, vectors: usize, factor: f32) =
        token_rows::add_scaled::<S>;
    gate(numbers: *mut f32, factors: *const f32, terms: *const f32, vectors: usize) = token_rows::gate::<S>;
    dot_rows(a: *const f32, a_next: usize, b: *const f32, b_next: usize, vectors: usize) -> f32 =
        token_rows::dot_rows::<S>;
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

#[cfg(target_arch = "x86_64")]
instance! { #[target_feature(enable = "avx512f,avx2,fma")] avx512, Avx512, Float32, Bytes }
#[cfg(target_arch = "x86_64")]
instance! { #[target_feature(enable = "avx512f,avx512vnni,avx2,fma")] vnni, Avx512, Float32, Vnni }
#[cfg(target_arch = "x86_64")]
instance! { #[target_feature(enable = "avx2,fma")] avx2, Avx2, Float32, ShortSums }
#[cfg(target_arch = "x86_64")]
instance! { #[target_feature(enable = "avx2,fma,avxvnni")] avx_vnni, Avx2, Float32, AvxVnni }
#[cfg(target_arch = "x86_64")]
instance! { #[target_feature(enable = "avx2,fma,avx512vl,avx512vnni")] vnni_256, Avx2, Float32, Vnni256 }
#[cfg(target_arch = "aarch64")]
instance! { #[target_feature(enable = "neon")] neon, Neon, Lanes, WideningBytes }
#[cfg(target_arch = "aarch64")]
instance! { #[target_feature(enable = "neon,dotprod")] dot_product, Neon, Lanes, SignedBytes }
#[cfg(target_arch = "aarch64")]
instance! { #[target_feature(enable = "neon,dotprod,i8mm")] i8mm, Neon, Lanes, MixedBytes }
instance! { portable, Portable, Float32, Bytes }
