//! The ONNX Runtime that `zeitnot runtime install` obtains: one wheel per platform, pinned by sha256.
//!
//! The wheels are those of the PyPI package `onnxruntime` 1.31.1. The library in them does not depend on Python, so the
//! wheel of one CPython version (3.11) is pinned and pip is told to fetch that one whatever Python it runs under.
//! Sizes and hashes were taken with `pip download` and `pip hash`; the index publishes the same wheel hashes.
//! To pin another version: change [`VERSION`], run `pip download` with the arguments of
//! [`install::pip_arguments`](super::install::pip_arguments) for each platform, and take the hashes anew.

/// The package's name on PyPI.
pub const PACKAGE: &str = "onnxruntime";
/// The pinned version. The `ort` release that this crate builds with wraps the same one.
pub const VERSION: &str = "1.31.1";
/// CPython version whose wheel is pinned, as pip's `--python-version` wants it.
pub const PYTHON_VERSION: &str = "3.11";
/// The same as an ABI tag, for pip's `--abi`.
pub const PYTHON_ABI: &str = "cp311";

/// One platform's wheel and the library in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Short name of the platform, part of the cache folder's name.
    pub platform: &'static str,
    /// Platform tag of the wheel, for pip's `--platform`.
    pub tag: &'static str,
    /// The wheel's sha256, lower-case hex.
    pub wheel_sha256: &'static str,
    /// The wheel's size in bytes (for the progress display).
    pub wheel_bytes: u64,
    /// Path of the library inside the wheel.
    pub library: &'static str,
    /// The library's sha256, lower-case hex.
    pub library_sha256: &'static str,
}

impl Pin {
    /// File name of the library.
    pub fn library_name(&self) -> &'static str {
        self.library.rsplit('/').next().unwrap_or(self.library)
    }

    /// Name of the folder below the cache that this wheel's library is put into; a new version gets a new folder.
    pub fn folder(&self) -> String {
        format!("{PACKAGE}-{VERSION}-{}", self.platform)
    }
}

/// Every pinned wheel. There is none for macOS on Intel, nor for musl, since the package has none.
pub const PINS: [Pin; 5] = [
    Pin {
        platform: "linux-x86_64",
        tag: "manylinux_2_28_x86_64",
        wheel_sha256: "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f",
        wheel_bytes: 23_753_652,
        library: "onnxruntime/capi/libonnxruntime.so.1.31.1",
        library_sha256: "fc44112fbe06d7d689c57e11d3862031f64711007e4ee020f8eed5185fd2c1d3",
    },
    Pin {
        platform: "linux-aarch64",
        tag: "manylinux_2_28_aarch64",
        wheel_sha256: "da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3",
        wheel_bytes: 21_413_526,
        library: "onnxruntime/capi/libonnxruntime.so.1.31.1",
        library_sha256: "8aa3b76b28c778a2b1dd660d34161adb1d508c9ccd04ff9dc80e26eca5df8467",
    },
    Pin {
        platform: "macos-aarch64",
        tag: "macosx_14_0_arm64",
        wheel_sha256: "60b6b69bfe580eab576cacc5d132a0e9cf2a37fcfd18d46dd191042b1d1ed0d7",
        wheel_bytes: 20_871_676,
        library: "onnxruntime/capi/libonnxruntime.1.31.1.dylib",
        library_sha256: "f8b06155feece624e55e49124340eea279da812529ae6fbc46a9f2be9c9cad2e",
    },
    Pin {
        platform: "windows-x86_64",
        tag: "win_amd64",
        wheel_sha256: "c3d91b5de31e2fc82d71bd65b2b22bddee8b49057a3a36338e9a868e0ea90c05",
        wheel_bytes: 14_885_761,
        library: "onnxruntime/capi/onnxruntime.dll",
        library_sha256: "8482d2ee174e28504f99730fb01d6861575870283de4ed3a897ad39170d9a9b9",
    },
    Pin {
        platform: "windows-aarch64",
        tag: "win_arm64",
        wheel_sha256: "93800007a7023b3ab26ad72e6463d0d57d84ead49a2f6341954d91438e046bc0",
        wheel_bytes: 14_735_267,
        library: "onnxruntime/capi/onnxruntime.dll",
        library_sha256: "f4f7729bf4aa0c78b6ab5253747f3593bb9a28b4c4275a0a9f59f04ea580d61f",
    },
];

/// The pinned wheel for the platform that this program was built for.
pub fn for_this_platform() -> Option<&'static Pin> {
    if cfg!(target_env = "musl") { None } else { find(std::env::consts::OS, std::env::consts::ARCH) }
}

fn find(os: &str, architecture: &str) -> Option<&'static Pin> {
    let platform = format!("{os}-{architecture}");
    PINS.iter().find(|pin| pin.platform == platform)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_have_the_form_of_sha256_and_differ() {
        let mut seen = std::collections::HashSet::new();
        for pin in &PINS {
            for hash in [pin.wheel_sha256, pin.library_sha256] {
                assert_eq!(hash.len(), 64, "{}", pin.platform);
                assert!(hash.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b)), "{}", pin.platform);
                assert!(seen.insert(hash), "{} repeats a hash", pin.platform);
            }
        }
    }

    #[test]
    fn platforms_without_a_wheel_have_no_pin() {
        assert!(find("macos", "x86_64").is_none());
        assert!(find("freebsd", "x86_64").is_none());
        assert_eq!(find("linux", "aarch64").map(|pin| pin.tag), Some("manylinux_2_28_aarch64"));
        assert_eq!(find("windows", "x86_64").map(Pin::library_name), Some("onnxruntime.dll"));
    }
}
