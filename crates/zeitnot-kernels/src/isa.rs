//! Lists the instruction sets that the kernels are built for.

use std::fmt;
use std::str::FromStr;

/// An instruction set, the widest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// AVX-512 (the foundation instructions): 16 numbers at once.
    Avx512,
    /// AVX2 with fused multiply-add: 8 numbers at once.
    Avx2,
    /// The instructions of the compiler's target: SSE2 on x86-64, NEON on 64-bit ARM.
    Portable,
}

impl Isa {
    /// Every instruction set, the fastest first.
    pub const ALL: [Isa; 3] = [Isa::Avx512, Isa::Avx2, Isa::Portable];

    /// The fastest instruction set that this processor has.
    pub fn best() -> Isa {
        Isa::ALL.into_iter().find(|isa| isa.is_available()).unwrap_or(Isa::Portable)
    }

    /// Whether the kernels multiply bytes, 64 at a time (AVX-512 VNNI), with this instruction set on this processor.
    pub fn multiplies_bytes(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self == Isa::Avx512 && self.is_available() && is_x86_feature_detected!("avx512vnni");
        #[cfg(not(target_arch = "x86_64"))]
        false
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
            #[cfg(not(target_arch = "x86_64"))]
            Isa::Avx512 | Isa::Avx2 => false,
            Isa::Portable => true,
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Isa::Avx512 => "AVX-512",
            Isa::Avx2 => "AVX2",
            Isa::Portable => "portable",
        })
    }
}

/// A text that is not the name of an instruction set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown instruction set {0}; there are: avx512, avx2, portable")]
pub struct UnknownIsa(String);

impl FromStr for Isa {
    type Err = UnknownIsa;

    /// Reads `avx512`, `avx2` or `portable` in any case, with or without hyphens.
    fn from_str(text: &str) -> Result<Isa, UnknownIsa> {
        match text.to_ascii_lowercase().replace('-', "").as_str() {
            "avx512" => Ok(Isa::Avx512),
            "avx2" => Ok(Isa::Avx2),
            "portable" => Ok(Isa::Portable),
            _ => Err(UnknownIsa(text.to_owned())),
        }
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
        assert_eq!(line, "unknown instruction set sse9; there are: avx512, avx2, portable");
    }

    #[test]
    fn the_best_can_run() {
        assert!(Isa::best().is_available());
        assert!(Isa::Portable.is_available());
    }
}
