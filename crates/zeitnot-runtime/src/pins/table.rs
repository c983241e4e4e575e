//! Lists the pinned wheels.

use super::{Pin, Variant, Wheel};
use crate::tensorrt_rtx;

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
/// The last version that the index has for CUDA 12.
const VERSION_FOR_CUDA_12: &str = "1.26.0";
const WEBGPU: &str = "onnxruntime-webgpu";
/// The newest version that the index had on 2026-11-26.
const VERSION_FOR_WEBGPU: &str = "1.27.0";
const TENSORRT_RTX: &str = "onnxruntime-ep-nv-tensorrt-rtx-cu13";
/// The newest version that the index had on 2026-11-26, with TensorRT for RTX 1.7.1.
const VERSION_OF_TENSORRT_RTX: &str = "0.5.0";
const LINUX_LIBRARY: &str = "libonnxruntime.so.1.31.1";
const LINUX_LIBRARY_FOR_CUDA_12: &str = "libonnxruntime.so.1.26.0";
const WINDOWS_LIBRARY: &str = "onnxruntime.dll";

/// Every pinned package. macOS on Intel and musl have no package, since the index has none; the Windows wheel of
/// `onnxruntime-openvino` leaves OpenVINO itself out.
pub const PINS: [Pin; 17] = [
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
        variant: Variant::GpuCuda12,
        platform: "linux-x86_64",
        library: LINUX_LIBRARY_FOR_CUDA_12,
        library_sha256: None,
        wheels: &[
            wheel(
                GPU,
                VERSION_FOR_CUDA_12,
                "manylinux_2_28_x86_64",
                276_956_564,
                "4fa231294c2643911d2a7d16469c4808b0bdcdc4b5f4063d3a53744ce25b683a",
            ),
            wheel(
                "nvidia-cuda-runtime-cu12",
                "12.9.79",
                "manylinux2014_x86_64",
                3_493_179,
                "25bba2dfb01d48a9b59ca474a1ac43c6ebf7011f1b0b8cc44f54eb6ac48a96c3",
            ),
            wheel(
                "nvidia-cuda-nvrtc-cu12",
                "12.9.86",
                "manylinux2010_x86_64",
                89_568_129,
                "210cf05005a447e29214e9ce50851e83fc5f4358df8b453155d5e1918094dcb4",
            ),
            wheel(
                "nvidia-nvjitlink-cu12",
                "12.9.86",
                "manylinux2010_x86_64",
                39_748_338,
                "e3f1171dbdc83c5932a45f0f4c99180a70de9bd2718c1ab77d14104f6d7147f9",
            ),
            wheel(
                "nvidia-cublas-cu12",
                "12.9.2.10",
                "manylinux_2_27_x86_64",
                581_240_110,
                "e4f53a8ca8c5d6e8c492d0d0a3d565ecb59a751b19cfdaa4f6da0ab2104c1702",
            ),
            wheel(
                "nvidia-curand-cu12",
                "10.3.10.19",
                "manylinux_2_27_x86_64",
                68_295_626,
                "49b274db4780d421bd2ccd362e1415c13887c53c214f0d4b761752b8f9f6aa1e",
            ),
            wheel(
                "nvidia-cufft-cu12",
                "11.4.1.4",
                "manylinux2014_x86_64",
                200_877_592,
                "c67884f2a7d276b4b80eb56a79322a95df592ae5e765cf1243693365ccab4e28",
            ),
            wheel(
                "nvidia-cudnn-cu12",
                "9.10.2.21",
                "manylinux_2_27_x86_64",
                706_758_467,
                "949452be657fa16687d0930933f032835951ef0892b37d2d53824d1a84dc97a8",
            ),
        ],
    },
    Pin {
        variant: Variant::GpuCuda12,
        platform: "windows-x86_64",
        library: WINDOWS_LIBRARY,
        library_sha256: None,
        wheels: &[
            wheel(
                GPU,
                VERSION_FOR_CUDA_12,
                "win_amd64",
                226_539_455,
                "cc5329aad02d9745cc3ae9cdb185bfa1aad242a7bf89b8c471280002ec40f98a",
            ),
            wheel(
                "nvidia-cuda-runtime-cu12",
                "12.9.79",
                "win_amd64",
                3_591_604,
                "8e018af8fa02363876860388bd10ccb89eb9ab8fb0aa749aaf58430a9f7c4891",
            ),
            wheel(
                "nvidia-cuda-nvrtc-cu12",
                "12.9.86",
                "win_amd64",
                76_408_187,
                "72972ebdcf504d69462d3bcd67e7b81edd25d0fb85a2c46d3ea3517666636349",
            ),
            wheel(
                "nvidia-nvjitlink-cu12",
                "12.9.86",
                "win_amd64",
                35_584_936,
                "cc6fcec260ca843c10e34c936921a1c426b351753587fdd638e8cff7b16bb9db",
            ),
            wheel(
                "nvidia-cublas-cu12",
                "12.9.2.10",
                "win_amd64",
                553_162_896,
                "623f43027d40d44ceadf0043f002bd25cf353e8f13ce90b9a87057019f560661",
            ),
            wheel(
                "nvidia-curand-cu12",
                "10.3.10.19",
                "win_amd64",
                68_774_847,
                "e8129e6ac40dc123bd948e33d3e11b4aa617d87a583fa2f21b3210e90c743cde",
            ),
            wheel(
                "nvidia-cufft-cu12",
                "11.4.1.4",
                "win_amd64",
                200_067_309,
                "8e5bfaac795e93f80611f807d42844e8e27e340e0cde270dcb6c65386d795b80",
            ),
            wheel(
                "nvidia-cudnn-cu12",
                "9.10.2.21",
                "win_amd64",
                692_992_268,
                "c6288de7d63e6cf62988f0923f96dc339cea362decb1bf5b3141883392a7d65e",
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
    Pin {
        variant: Variant::WebGpu,
        platform: "linux-x86_64",
        library: "libonnxruntime.so.1.27.0",
        library_sha256: None,
        wheels: &[wheel(
            WEBGPU,
            VERSION_FOR_WEBGPU,
            "manylinux_2_28_x86_64",
            25_149_948,
            "142eb8bdb803c58117bf64164d201f43180bc87229cac14b590aa4ea79e0f70b",
        )],
    },
    Pin {
        variant: Variant::WebGpu,
        platform: "macos-aarch64",
        library: "libonnxruntime.1.27.0.dylib",
        library_sha256: None,
        wheels: &[wheel(
            WEBGPU,
            VERSION_FOR_WEBGPU,
            "macosx_14_0_arm64",
            24_068_177,
            "f39aec2f3e252dd445759065e1a7cd11f910fc87ce5de6e2edb1846ef7020034",
        )],
    },
    Pin {
        variant: Variant::WebGpu,
        platform: "windows-x86_64",
        library: WINDOWS_LIBRARY,
        library_sha256: None,
        wheels: &[wheel(
            WEBGPU,
            VERSION_FOR_WEBGPU,
            "win_amd64",
            27_224_981,
            "c2de23fb6bb775f86d2eef57e3cac6f885d16289a84e6232d2e78803f84f38c5",
        )],
    },
    Pin {
        variant: Variant::TensorRtRtx,
        platform: "linux-x86_64",
        library: tensorrt_rtx::PLUGIN,
        library_sha256: None,
        wheels: &[wheel(
            TENSORRT_RTX,
            VERSION_OF_TENSORRT_RTX,
            "manylinux_2_28_x86_64",
            146_476_965,
            "32f575c633d171b4edf4b53d3bb22b72a6c9c0a850d2982ce9a788a5d40d3298",
        )],
    },
    Pin {
        variant: Variant::TensorRtRtx,
        platform: "windows-x86_64",
        library: tensorrt_rtx::PLUGIN,
        library_sha256: None,
        wheels: &[wheel(
            TENSORRT_RTX,
            VERSION_OF_TENSORRT_RTX,
            "win_amd64",
            110_875_664,
            "609b19f7236c8522ef005a9f763003a78f492e5d871afad39fe1b247760eb3c7",
        )],
    },
    Pin {
        variant: Variant::MiGraphX,
        platform: "linux-x86_64",
        library: "libonnxruntime.so.1.27.1",
        library_sha256: None,
        wheels: &[wheel(
            "onnxruntime-migraphx",
            "1.27.1",
            "manylinux_2_34_x86_64",
            21_462_548,
            "4a178713a67dbcd1a952edb89d60e856ec70538f8f9848c89745ae2328305b6d",
        )],
    },
];
