//! Nonlinearities of vectors.

use super::activation::Activation;
use super::simd::Simd;

/// `1.5 * 2^23`: added to a number below `2^22`, it leaves the nearest integer in the low bits.
const ROUND: f32 = 12_582_912.0;
/// Number below which `e^x` is no normal number.
const LOWEST: f32 = -87.3;
/// Number above which `e^x` is no finite number.
const HIGHEST: f32 = 88.3;
/// `ln 2` to the nine bits whose product with an exponent is exact, and the rest of `ln 2` (Cody and Waite, "Software
/// Manual for the Elementary Functions", 1980).
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];
/// Number from which mish is the identity: `1 - tanh(ln(1 + e^20))` is below 1e-17.
const MISH_IDENTITY: f32 = 20.0;

/// The factors of SELU, from its paper.
const SELU_SCALE: f32 = 1.050_701;
const SELU_ALPHA: f32 = 1.673_263_2;
/// Number from which `tanh` is 1 to the last digit of a float.
const TANH_ONE: f32 = 10.0;

/// `e^x` to about 1e-7 of its value: `2^n e^r`, the latter by Taylor's series to the seventh power, whose rest is below
/// 1e-8 for `|r| <= ln(2) / 2`.
#[inline(always)]
pub(super) unsafe fn exp<S: Simd>(x: S::Vector) -> S::Vector {
    // SAFETY: the caller's.
    unsafe {
        // The second operand is what remains where x is not a number, and must go on.
        let x = S::min(S::splat(HIGHEST), S::max(S::splat(LOWEST), x));
        let shifted = S::fma(x, S::splat(std::f32::consts::LOG2_E), S::splat(ROUND));
        let n = S::sub(shifted, S::splat(ROUND));
        let r = S::fnma(n, S::splat(LN_2[1]), S::fnma(n, S::splat(LN_2[0]), x));
        let mut series = S::splat(1.0 / 5040.0);
        for coefficient in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
            series = S::fma(series, r, S::splat(coefficient));
        }
        S::mul(series, S::exponent(shifted))
    }
}

/// `1 / (1 + e^-x)`
#[inline(always)]
pub(super) unsafe fn sigmoid<S: Simd>(x: S::Vector) -> S::Vector {
    // SAFETY: the caller's.
    unsafe {
        let one = S::splat(1.0);
        S::div(one, S::add(one, exp::<S>(S::sub(S::splat(0.0), x))))
    }
}

/// The activation of one vector. Not-a-number stays not-a-number, so that the check of the outputs finds it.
#[inline(always)]
pub(super) unsafe fn activate<S: Simd>(x: S::Vector, activation: Activation) -> S::Vector {
    // SAFETY: the caller's.
    unsafe {
        match activation {
            Activation::Relu => S::max(S::splat(0.0), x),
            Activation::None => x,
            Activation::Sigmoid => sigmoid::<S>(x),
            Activation::Swish => S::mul(x, sigmoid::<S>(x)),
            Activation::ReluSquared => {
                let positive = S::max(S::splat(0.0), x);
                S::mul(positive, positive)
            }
            // (e^2x - 1) / (e^2x + 1)
            Activation::Tanh => {
                let within = S::min(S::splat(TANH_ONE), S::max(S::splat(-TANH_ONE), x));
                let e = exp::<S>(S::add(within, within));
                S::div(S::sub(e, S::splat(1.0)), S::add(e, S::splat(1.0)))
            }
            Activation::Selu => {
                let zero = S::splat(0.0);
                let below = S::mul(S::splat(SELU_ALPHA), S::sub(exp::<S>(S::min(zero, x)), S::splat(1.0)));
                S::mul(S::splat(SELU_SCALE), S::add(S::max(zero, x), below))
            }
            // tanh(ln(1 + e)) = ((1 + e)^2 - 1) / ((1 + e)^2 + 1)
            Activation::Mish => {
                let e = exp::<S>(S::min(S::splat(MISH_IDENTITY), x));
                let n = S::mul(e, S::add(e, S::splat(2.0)));
                S::mul(x, S::div(n, S::add(n, S::splat(2.0))))
            }
        }
    }
}

/// The activation of `vectors` vectors, in place.
///
/// # Safety
/// `numbers` is good for as many vectors, and the processor has the instruction set.
#[inline(always)]
pub(super) unsafe fn activate_all<S: Simd>(numbers: *mut f32, vectors: usize, activation: Activation) {
    /// A loop for each activation, so that the choice is made once.
    macro_rules! each {
        ($($name:ident),*) => {
            match activation {
                Activation::None => {}
                $(Activation::$name => {
                    for vector in 0..vectors {
                        // SAFETY: the caller's.
                        unsafe {
                            let at = numbers.add(vector * S::LANES);
                            S::store(at, activate::<S>(S::load(at), Activation::$name));
                        }
                    }
                })*
            }
        };
    }
    each!(Relu, Mish, Tanh, Sigmoid, Selu, Swish, ReluSquared);
}
