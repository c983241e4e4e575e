//! Lists the pinned wheels.

use super::{Pin, Variant, Wheel};

const fn wheel(
    package: &'static str,
    version: &'static str,
    tag: &'static str,
    bytes: u64,
    sha256: &'static str,
) -> Wheel {
    Wheel { package, version, tag, sha256, bytes }
}

const CPU: &str = "onnxruntime";
const GPU: &str = "onnxruntime-gpu";
/// The version that the `ort` release in use wraps.
const VERSION: &str = "1.31.1";
const LINUX_LIBRARY: &str = "libonnxruntime.so.1.31.1";
const WINDOWS_LIBRARY: &str = "onnxruntime.dll";

/// Every pinned package. There is none for macOS on Intel, nor for musl, since the index has none; the Windows wheel of
/// `onnxruntime-openvino` leaves OpenVINO itself out.
pub const PINS: [Pin; 9] = [
    Pin {
        variant: Variant::Cpu,
        platform: "linux-x86_64",
        library: LINUX_LIBRARY,
        library_sha256: Some("fc44112fbe06d7d689c57e11d3862031f64711007e4ee020f8eed5185fd2c1d3"),
        wheels: &[wheel(
            CPU,
            VERSION,
            "manylinux_2_28_x86_64",
            23_753_652,
            "5752bd508126ae7c49894d3b9d2e83f0c3d487319246d04c444b393308d7ad7f",
        )],
    },
    Pin {
        variant: Variant::Cpu,
        platform: "linux-aarch64",
        library: LINUX_LIBRARY,
        library_sha256: Some("8aa3b76b28c778a2b1dd660d34161adb1d508c9ccd04ff9dc80e26eca5df8467"),
        wheels: &[wheel(
            CPU,
            VERSION,
            "manylinux_2_28_aarch64",
            21_413_526,
            "da05378364c44d4407e463982d2bf8d5e4cfea873283757e48beeb41df97b7f3",
        )],
    },
    Pin {
        variant: Variant::Cpu,
        platform: "macos-aarch64",
        library: "libonnxruntime.1.31.1.dylib",
        library_sha256: Some("f8b06155feece624e55e49124340eea279da812529ae6fbc46a9f2be9c9cad2e"),
        wheels: &[wheel(
            CPU,
            VERSION,
            "macosx_14_0_arm64",
            20_871_676,
            "60b6b69bfe580eab576cacc5d132a0e9cf2a37fcfd18d46dd191042b1d1ed0d7",
        )],
    },
    Pin {
        variant: Variant::Cpu,
        platform: "windows-x86_64",
        library: WINDOWS_LIBRARY,
        library_sha256: Some("8482d2ee174e28504f99730fb01d6861575870283de4ed3a897ad39170d9a9b9"),
        wheels: &[wheel(
            CPU,
            VERSION,
            "win_amd64",
            14_885_761,
            "c3d91b5de31e2fc82d71bd65b2b22bddee8b49057a3a36338e9a868e0ea90c05",
        )],
    },
    Pin {
        variant: Variant::Cpu,
        platform: "windows-aarch64",
        library: WINDOWS_LIBRARY,
        library_sha256: Some("f4f7729bf4aa0c78b6ab5253747f3593bb9a28b4c4275a0a9f59f04ea580d61f"),
        wheels: &[wheel(
            CPU,
            VERSION,
            "win_arm64",
            14_735_267,
            "93800007a7023b3ab26ad72e6463d0d57d84ead49a2f6341954d91438e046bc0",
        )],
    },
    Pin {
        variant: Variant::Gpu,
        platform: "linux-x86_64",
        library: LINUX_LIBRARY,
        library_sha256: None,
        wheels: &[
            wheel(
                GPU,
                VERSION,
                "manylinux_2_28_x86_64",
                255_560_985,
                "e26c475fe361b2015f45b4b824bd13f0bb20204e59b62814e6f0acd5f3d491a6",
            ),
            wheel(
                "nvidia-cuda-runtime",
                "13.5.37",
                "manylinux2014_x86_64",
                2_504_024,
                "df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d",
            ),
            wheel(
                "nvidia-cuda-nvrtc",
                "13.5.37",
                "manylinux2010_x86_64",
                58_185_930,
                "86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc",
            ),
            wheel(
                "nvidia-nvjitlink",
                "13.5.37",
                "manylinux2010_x86_64",
                46_642_491,
                "280d7cb9649704145f074b8dbde500de04ce02d0872e066e20a83c17bcaa93eb",
            ),
            wheel(
                "nvidia-cublas",
                "13.10.0.20",
                "manylinux1_x86_64",
                444_289_903,
                "dcc6d63884c53d07e267ce7e6feac17b2538cebaafec5db865736c3e28e4dc84",
            ),
            wheel(
                "nvidia-curand",
                "10.4.4.72",
                "manylinux_2_27_x86_64",
                61_498_332,
                "25c3457ae7a224fdd484dab90b0fc5dc0e842fab5db3012afa4a5bd2af4eb7e5",
            ),
            wheel(
                "nvidia-cufft",
                "12.4.0.43",
                "manylinux2014_x86_64",
                161_750_089,
                "0e8385013596b112d29c9ce8c63dc575b308d77636c7169104e18714f03961a8",
            ),
            wheel(
                "nvidia-cudnn-cu13",
                "9.27.0.42",
                "manylinux_2_27_x86_64",
                536_771_498,
                "9677e76f21862eb5da7ee5ed69d544738b2d8b5c3ce7e5ec125c5592e6cdbdc8",
            ),
        ],
    },
    Pin {
        variant: Variant::Gpu,
        platform: "windows-x86_64",
        library: WINDOWS_LIBRARY,
        library_sha256: None,
        wheels: &[
            wheel(
                GPU,
                VERSION,
                "win_amd64",
                168_096_711,
                "fd98341ba71c093153f0dcfc53eb69d57f706866fb45e94e5b0cde5d97a50dbf",
            ),
            wheel(
                "nvidia-cuda-runtime",
                "13.5.37",
                "win_amd64",
                2_780_254,
                "f225d3fa5ea6bfbb58fc4979ef72375cbe661d9107f0d8a4ff22cc151525e4a9",
            ),
            wheel(
                "nvidia-cuda-nvrtc",
                "13.5.37",
                "win_amd64",
                49_248_991,
                "e8e6c10b251385707ae3abd7b4ee118de6736fd7678d0f0f4eab4d759f679c21",
            ),
            wheel(
                "nvidia-nvjitlink",
                "13.5.37",
                "win_amd64",
                41_467_665,
                "4465d4e8f2212118220b580c82523c5654f93a62906bd51d29d79bdfc12376c1",
            ),
            wheel(
                "nvidia-cublas",
                "13.10.0.20",
                "win_amd64",
                427_284_863,
                "c310b749eea855b88fafb906de08d6819b87216c6711640771764fea5dcd8546",
            ),
            wheel(
                "nvidia-curand",
                "10.4.4.72",
                "win_amd64",
                56_731_059,
                "e0bce83e083ef25976ee74f59e8f067c15149a74538f1be6c2462e286e7c9c68",
            ),
            wheel(
                "nvidia-cufft",
                "12.4.0.43",
                "win_amd64",
                160_953_139,
                "4ff7075f2d0b5f69291f70938d37a86ec632cbe5747184c74ba1f50f17accacc",
            ),
            wheel(
                "nvidia-cudnn-cu13",
                "9.27.0.42",
                "win_amd64",
                436_469_905,
                "7d96f634adafd55c72231eb0500ca77ab109ec8ebff7b33000b76e081bc4558e",
            ),
        ],
    },
    Pin {
        variant: Variant::OpenVino,
        platform: "linux-x86_64",
        library: "libonnxruntime.so.1.24.1",
        library_sha256: None,
        wheels: &[wheel(
            "onnxruntime-openvino",
            "1.24.1",
            "manylinux_2_28_x86_64",
            84_430_935,
            "3007c803634cc69c6d52af1dea7ce729d9bb62b9a11070fd2f959119199007a8",
        )],
    },
    Pin {
        variant: Variant::DirectMl,
        platform: "windows-x86_64",
        library: WINDOWS_LIBRARY,
        library_sha256: None,
        wheels: &[wheel(
            "onnxruntime-directml",
            "1.24.4",
            "win_amd64",
            25_106_000,
            "96642a787e5a6f33bf043521c0f06eb1eb663f6b830e5862a2026d03f9c90543",
        )],
    },
];
