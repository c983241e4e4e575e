//! Lists the instruction sets that the kernels are built for.

#[cfg(target_arch = "aarch64")]
use std::arch::is_aarch64_feature_detected;
use std::fmt;
use std::str::FromStr;

/// An instruction set, the widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// AVX-512 (the foundation instructions): 16 numbers at once.
    Avx512,
    /// AVX2 with products of bytes: AVX-VNNI, or AVX-512 VNNI in registers of 256 bits.
    AvxVnni,
    /// AVX2 with fused multiply-add: 8 numbers at once.
    Avx2,
    /// NEON with products of signed bytes by unsigned ones (the extension `i8mm` of 64-bit ARM).
    I8mm,
    /// NEON with products of signed bytes (the extension `dotprod` of 64-bit ARM).
    DotProd,
    /// NEON, which every 64-bit ARM processor has: 8 numbers in two registers.
    Neon,
    /// The instructions of the compiler's target, SSE2 on x86-64.
    Portable,
}

impl Isa {
    /// Every instruction set, the fastest first.
    pub const ALL: [Isa; 7] = [Isa::Avx512, Isa::AvxVnni, Isa::Avx2, Isa::I8mm, Isa::DotProd, Isa::Neon, Isa::Portable];

    /// The fastest instruction set that this processor has.
    pub fn best() -> Isa {
        Isa::ALL.into_iter().find(|isa| isa.is_available()).unwrap_or(Isa::Portable)
    }

    /// Whether one instruction multiplies bytes and adds their products up in 32 bits (VNNI), with this instruction set
    /// on this processor.
    pub(super) fn multiplies_bytes(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => self.is_available() && has_avx512_vnni(),
            Isa::Avx2 | Isa::Neon | Isa::Portable => false,
            _ => self.is_available(),
        }
    }

    /// Whether products of bytes are faster than those of numbers with this instruction set on this processor.
    pub fn is_fast_in_8_bits(self) -> bool {
        self == Isa::Avx2 && self.is_available() || self.multiplies_bytes()
    }

    /// Whether this processor and its operating system can run the instruction set.
    pub fn is_available(self) -> bool {
        match self {
            #[cfg(target_arch = "x86_64")]
            // The compiler may use the narrower sets as well.
            Isa::Avx512 => {
                is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("fma")
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"),
            #[cfg(target_arch = "x86_64")]
            Isa::AvxVnni => Isa::Avx2.is_available() && (has_avx_vnni() || has_avx512_vnni()),
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 | Isa::AvxVnni | Isa::Avx2 => false,
            #[cfg(target_arch = "aarch64")]
            Isa::I8mm => Isa::DotProd.is_available() && is_aarch64_feature_detected!("i8mm"),
            #[cfg(target_arch = "aarch64")]
            Isa::DotProd => Isa::Neon.is_available() && is_aarch64_feature_detected!("dotprod"),
            #[cfg(target_arch = "aarch64")]
            Isa::Neon => is_aarch64_feature_detected!("neon"),
            #[cfg(not(target_arch = "aarch64"))]
            Isa::I8mm | Isa::DotProd | Isa::Neon => false,
            Isa::Portable => true,
        }
    }
}

/// Whether the processor multiplies bytes without AVX-512.
#[cfg(target_arch = "x86_64")]
pub(super) fn has_avx_vnni() -> bool {
    is_x86_feature_detected!("avxvnni")
}

/// Whether the processor multiplies bytes with AVX-512, in registers of 512 bits and of 256.
#[cfg(target_arch = "x86_64")]
fn has_avx512_vnni() -> bool {
    is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512vl")
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Isa::Avx512 => "AVX-512",
            Isa::AvxVnni => "AVX-VNNI",
            Isa::Avx2 => "AVX2",
            Isa::I8mm => "I8MM",
            Isa::DotProd => "DotProd",
            Isa::Neon => "NEON",
            Isa::Portable => "portable",
        })
    }
}

/// A text that is not the name of an instruction set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown instruction set {0}; there are: avx512, avxvnni, avx2, i8mm, dotprod, neon, portable")]
pub struct UnknownIsa(String);

impl FromStr for Isa {
    type Err = UnknownIsa;

    /// Reads a name of [`UnknownIsa`]'s list in any case, with or without hyphens.
    fn from_str(text: &str) -> Result<Isa, UnknownIsa> {
        let letters = |name: &str| name.to_ascii_lowercase().replace('-', "");
        let known = Isa::ALL.into_iter().find(|isa| letters(&isa.to_string()) == letters(text));
        known.ok_or_else(|| UnknownIsa(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for isa in Isa::ALL {
            assert_eq!(isa.to_string().parse(), Ok(isa));
        }
        let line = "sse9".parse::<Isa>().unwrap_err().to_string();
        assert_eq!(
            line,
            "unknown instruction set sse9; there are: avx512, avxvnni, avx2, i8mm, dotprod, neon, portable"
        );
    }

    #[test]
    fn the_best_can_run() {
        assert!(Isa::best().is_available());
        assert!(Isa::Portable.is_available());
    }
}
