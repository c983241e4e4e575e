//! Lists the settings of each provider.

use super::SessionPlan;
use crate::{Arithmetic, DeviceOptions, Rows, preferences};
use zeitnot_network::{OnnxModel, Precision};
use zeitnot_runtime::Provider;

/// The settings of the plan's provider, by ONNX Runtime's names for them.
pub(super) fn of(plan: &SessionPlan, options: &DeviceOptions, model: &OnnxModel) -> Vec<(&'static str, String)> {
    let precision = plan.precision;
    let flag = |on: bool| u8::from(on).to_string();
    let folder = plan.cache.as_deref().map(|path| path.to_string_lossy().into_owned());
    match plan.provider {
        Provider::Cpu | Provider::DirectMl | Provider::WebGpu | Provider::MiGraphX => Vec::new(),
        Provider::Cuda => {
            let mut settings = cuda(plan.device, precision);
            if !model.has_convolutions() {
                // On an H200 a transformer ran 1.12, 1.03 and 1.09 times as fast with it at batches of 32, 256 and
                // 1,024, a tower of convolutions 0.87 times as fast (docs/results/2026-11-h200.md).
                settings.push(("prefer_nhwc", flag(true)));
            }
            if plan.card.is_some() {
                settings.push(("enable_cuda_graph", flag(true)));
            }
            if options.fused == Some(true) {
                // Else sums and squares of a normalisation are added up in half precision.
                settings.push(("enable_skip_layer_norm_strict_mode", flag(true)));
                // cuDNN adds the biases of a convolution within it.
                settings.push(("fuse_conv_bias", flag(true)));
            }
            settings
        }
        Provider::TensorRt => {
            let [least, usual, most] = profile(plan, model);
            let mut settings = vec![
                ("device_id", plan.device.to_string()),
                ("trt_fp16_enable", flag(precision == Precision::Float16)),
                ("trt_bf16_enable", flag(precision == Precision::Bfloat16)),
                // The squares that a layer normalisation adds up leave the range of half precision.
                ("trt_layer_norm_fp32_fallback", flag(precision == Precision::Float16)),
                ("trt_profile_min_shapes", least),
                ("trt_profile_opt_shapes", usual),
                ("trt_profile_max_shapes", most),
            ];
            if let Some(folder) = folder {
                settings.extend([
                    ("trt_engine_cache_enable", flag(true)),
                    ("trt_engine_cache_path", folder.clone()),
                    ("trt_timing_cache_enable", flag(true)),
                    ("trt_timing_cache_path", folder),
                ]);
            }
            settings
        }
        Provider::TensorRtRtx => {
            let [least, usual, most] = profile(plan, model);
            let mut settings = vec![
                ("nv_profile_min_shapes", least),
                ("nv_profile_opt_shapes", usual),
                ("nv_profile_max_shapes", most),
            ];
            settings.extend(folder.map(|folder| ("nv_runtime_cache_path", folder)));
            settings
        }
        Provider::OpenVino => {
            let device = plan.units.clone().unwrap_or_default();
            let mut settings = vec![("device_type", device.clone())];
            if plan.is_cpu() {
                settings.extend([("num_of_threads", plan.threads.to_string()), ("num_streams", "1".to_owned())]);
            }
            if let Some(arithmetic) = options.arithmetic {
                settings.push(openvino_arithmetic(&device, arithmetic));
            }
            settings.extend(folder.map(|folder| ("cache_dir", folder)));
            settings
        }
        Provider::CoreMl => {
            let units = match plan.units.as_deref() {
                Some("cpu") => "CPUOnly",
                Some("gpu") => "CPUAndGPU",
                Some("ane") => "CPUAndNeuralEngine",
                _ => "ALL",
            };
            let mut settings = vec![
                ("ModelFormat", "MLProgram".to_owned()),
                ("MLComputeUnits", units.to_owned()),
                ("RequireStaticInputShapes", flag(plan.rows.only().is_some())),
            ];
            settings.extend(folder.map(|folder| ("ModelCacheDirectory", folder)));
            settings
        }
    }
}

/// The shapes of the model's inputs in runs of the least, the usual and the most rows, as TensorRT's provider writes them.
/// It would read several profiles, but runs only the first (ONNX Runtime's `tensorrt_execution_provider.cc` selects none).
fn profile(plan: &SessionPlan, model: &OnnxModel) -> [String; 3] {
    let Rows { least, most, .. } = plan.rows;
    [least, preferences(plan.provider).batch.clamp(least, most), most].map(|rows| {
        let tensor = |(name, sizes): (&str, Vec<usize>)| {
            let sizes: Vec<String> = std::iter::once(rows).chain(sizes).map(|size| size.to_string()).collect();
            format!("{name}:{}", sizes.join("x"))
        };
        model.input.tensors().into_iter().map(tensor).collect::<Vec<_>>().join(",")
    })
}

/// CUDA's settings, also where CUDA takes operators in the place of TensorRT.
pub(super) fn cuda(device: u32, precision: Precision) -> Vec<(&'static str, String)> {
    // By default the memory that a session takes grows to powers of two, and a second session finds no room.
    let mut settings =
        vec![("device_id", device.to_string()), ("arena_extend_strategy", "kSameAsRequested".to_owned())];
    if precision == Precision::Float32 {
        // Who asks for 32 bits does not mean the 19 of TensorFloat-32.
        settings.push(("use_tf32", "0".to_owned()));
    }
    settings
}

/// OpenVINO's setting for the arithmetic inside it. (ONNX Runtime's own option `precision` knows FP32 alone for a CPU.)
fn openvino_arithmetic(device: &str, arithmetic: Arithmetic) -> (&'static str, String) {
    let name = match arithmetic {
        Arithmetic::Float32 => "f32",
        Arithmetic::Float16 => "f16",
        Arithmetic::Bfloat16 => "bf16",
        // `DeviceOptions::check_for` has refused it.
        Arithmetic::Int8 => "i8",
    };
    // The provider looks up each device of `HETERO:GPU.1,CPU` by itself and without its index, and passes over one that
    // is not there without a word.
    let mut kinds: Vec<&str> = device.split([':', ',']).filter_map(|one| one.split('.').next()).collect();
    if kinds.len() > 1 {
        // The one that deals out to the others computes nothing.
        kinds.remove(0);
    }
    kinds.dedup();
    let entry = |kind: &&str| format!("\"{kind}\":{{\"INFERENCE_PRECISION_HINT\":\"{name}\"}}");
    ("load_config", format!("{{{}}}", kinds.iter().map(entry).collect::<Vec<_>>().join(",")))
}
