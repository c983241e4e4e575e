//! Tests the settings of each provider without the provider.

use super::*;
use zeitnot_network::testing::{random_network, with_external_data};
use zeitnot_network::{Conversion, Network, ValueOutput};

fn model() -> OnnxModel {
    OnnxModel {
        bytes: vec![1, 2, 3],
        input: ModelInput::Dense("/input/planes".into()),
        policy: "/output/policy".into(),
        value: ValueOutput::Wdl("/output/wdl".into()),
        moves_left: None,
        types: EndTypes::default(),
        folder: None,
    }
}

#[test]
fn networks_with_convolutions_run_in_one_size_with_cuda() {
    let convert =
        |bytes: &[u8]| Network::from_bytes(bytes, "tiny.pb.gz").unwrap().onnx(&Conversion::default()).unwrap();
    let plan_of = |model: &OnnxModel, provider, options: &str| {
        let options: DeviceOptions = options.parse().unwrap();
        let precision = options.conversion(provider).precision;
        SessionPlan::new(provider, 0, precision, &options, model).unwrap()
    };
    let rows_of = |model: &OnnxModel, provider, options: &str| plan_of(model, provider, options).rows;
    let residual = convert(&random_network(1, 1, 8));
    assert_eq!(rows_of(&residual, Provider::Cuda, ""), Rows::fixed(256));
    assert_eq!(rows_of(&residual, Provider::MiGraphX, ""), Rows::fixed(256));
    assert_eq!(rows_of(&residual, Provider::Cpu, ""), Rows::any(1, 256));
    let nothing = OnnxModel { bytes: Vec::new(), ..residual.clone() };
    assert_eq!(rows_of(&nothing, Provider::Cuda, ""), Rows::of_provider(Provider::Cuda));
    assert_eq!(rows_of(&nothing, Provider::Cuda, "graphs=on").sizes()[..6], [1, 2, 4, 8, 16, 32]);
    assert_eq!(rows_of(&nothing, Provider::Cuda, "graphs=on,batch=64").sizes(), [1, 2, 4, 8, 16, 32, 64]);
    assert_eq!(rows_of(&nothing, Provider::Cuda, "graphs=on,batch=24,steps=24").sizes(), [1, 2, 4, 8, 16, 24]);
    // The graph of another size would launch kernels of a plan that is gone.
    for (options, rows) in [("graphs=on", 256), ("graphs=auto,batch=64,steps=4", 64), ("graphs=on,min_batch=16", 256)] {
        assert_eq!(rows_of(&residual, Provider::Cuda, options), Rows::fixed(rows), "{options}");
    }
}

/// Through ONNX Runtime's CPU, which refuses to run on the CPU if it is told so.
#[test]
fn operators_that_a_provider_leaves_to_the_cpu_are_told() {
    let runtime = zeitnot_runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let network = Network::from_bytes(&random_network(1, 1, 8), "tiny.pb.gz").unwrap();
    let model_io = ModelIo::new(&network, Provider::Cpu, &Conversion::default()).unwrap();
    let options = DeviceOptions::default();
    let new = || SessionPlan::new(Provider::Cpu, 0, Precision::Float32, &options, &model_io.model).unwrap();
    let said = std::sync::Arc::new(parking_lot::Mutex::new(Vec::new()));
    let lines = std::sync::Arc::clone(&said);
    let announcer = Announcer::new(move |line| lines.lock().push(line.to_owned()));
    for strict in [false, true] {
        let mut plan = new();
        plan.leaves_to_cpu = !strict;
        let builder = plan.builder(&runtime, &model_io).unwrap();
        plan.first_session(&runtime, builder, &model_io, &announcer).unwrap();
        assert!(plan.leaves_to_cpu);
    }
    assert_eq!(*said.lock(), ["CPU has not all operators of tiny: the others run on the CPU"]);
}

#[test]
fn a_type_without_a_kernel_is_named() {
    let runtime = zeitnot_runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap();
    let network = Network::from_bytes(&random_network(1, 1, 8), "tiny.pb.gz").unwrap();
    let options: DeviceOptions = "datatype=bf16".parse().unwrap();
    let model_io = ModelIo::new(&network, Provider::Cpu, &options.conversion(Provider::Cpu)).unwrap();
    let plan = SessionPlan::new(Provider::Cpu, 0, Precision::Bfloat16, &options, &model_io.model).unwrap();
    let line = plan.commit(plan.builder(&runtime, &model_io).unwrap(), &model_io).err().unwrap().to_string();
    assert!(line.contains("CPU does not compute it in bfloat16") && line.contains("Conv(22)"), "{line}");
}

/// The plan for options that name a cache folder of the test's own.
fn plan(provider: Provider, device: u32, options: &str) -> (tempfile::TempDir, SessionPlan) {
    let folder = tempfile::tempdir().unwrap();
    let mut options: DeviceOptions = options.parse().unwrap();
    options.cache_dir = Some(folder.path().to_path_buf());
    let precision = options.conversion(provider).precision;
    let plan = SessionPlan::new(provider, device, precision, &options, &model()).unwrap();
    (folder, plan)
}

fn setting(plan: &SessionPlan, key: &str) -> Option<String> {
    plan.settings.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone())
}

#[test]
fn tensorrt_gets_one_profile_and_a_folder_for_each_model() {
    let (folder, plan) = plan(Provider::TensorRt, 1, "batch=128");
    let get = |key| setting(&plan, key).unwrap();
    assert_eq!(get("device_id"), "1");
    assert_eq!(get("trt_profile_min_shapes"), "/input/planes:16x112x8x8");
    assert_eq!(get("trt_profile_opt_shapes"), "/input/planes:128x112x8x8");
    assert_eq!(get("trt_profile_max_shapes"), "/input/planes:128x112x8x8");
    assert_eq!((get("trt_fp16_enable"), get("trt_bf16_enable")), ("1".into(), "0".into()));
    // sha256 of the bytes 1, 2, 3.
    let expected = folder.path().join("tensorrt").join("039058c6f2c0cb49-16-128");
    for key in ["trt_engine_cache_path", "trt_timing_cache_path"] {
        assert_eq!(get(key), expected.display().to_string());
    }
    // The long build is announced; an engine that is there may be another card's.
    let line = can_be_compiled_long(&plan).unwrap();
    assert!(line.contains("minutes") && line.contains("net fetch --prepare") && !line.contains('\n'), "{line}");
    assert!(!expected.exists(), "a plan makes no folder");
    std::fs::create_dir_all(&expected).unwrap();
    std::fs::write(expected.join("x_sm90.engine"), "").unwrap();
    let line = can_be_compiled_long(&plan).unwrap();
    assert!(line.contains("loading") && line.contains("another card") && !line.contains('\n'), "{line}");
}

#[test]
fn tensorrt_for_rtx_gets_a_profile_and_a_folder() {
    let (folder, plan) = plan(Provider::TensorRtRtx, 1, "");
    let get = |key| setting(&plan, key).unwrap();
    for (key, rows) in [("min", 16), ("opt", 256), ("max", 1024)] {
        let shapes = setting(&plan, &format!("nv_profile_{key}_shapes"));
        assert_eq!(shapes, Some(format!("/input/planes:{rows}x112x8x8")));
    }
    let expected = folder.path().join("tensorrt-rtx").join("039058c6f2c0cb49-16-1024");
    assert_eq!(get("nv_runtime_cache_path"), expected.display().to_string());
    // The card is chosen among the plugin's devices.
    assert_eq!((setting(&plan, "device_id"), plan.sharing()), (None, Sharing::InTurn(2)));
    let line = can_be_compiled_long(&plan).unwrap();
    assert!(line.contains("a minute") && !line.contains('\n'), "{line}");
}

#[test]
fn float32_on_cuda_is_float32() {
    let usual = [("device_id", "0"), ("arena_extend_strategy", "kSameAsRequested"), ("prefer_nhwc", "1")];
    let usual = usual.map(|(key, value)| (key, value.to_owned()));
    assert_eq!(plan(Provider::Cuda, 0, "").1.settings, usual);
    let captured = [("enable_cuda_graph", "1".to_owned())];
    assert_eq!(plan(Provider::Cuda, 0, "graphs=on").1.settings, [&usual[..], &captured].concat());
    assert_eq!(setting(&plan(Provider::Cuda, 2, "datatype=f32").1, "use_tf32").as_deref(), Some("0"));
    let fused = plan(Provider::Cuda, 0, "fused=true").1;
    for key in ["enable_skip_layer_norm_strict_mode", "fuse_conv_bias"] {
        assert_eq!(setting(&fused, key).as_deref(), Some("1"));
    }
    assert_eq!(plan(Provider::Cuda, 0, "").1.sharing(), Sharing::InTurn(2));
    assert_eq!(plan(Provider::Cuda, 0, "runs=1").1.sharing(), Sharing::InTurn(1));
}

#[test]
fn what_tensorrt_leaves_to_cuda_has_the_same_precision() {
    let (_folder, float32) = plan(Provider::TensorRt, 1, "datatype=f32");
    let tf32 = |plan: &SessionPlan| plan.substitute().into_iter().find(|(key, _)| *key == "use_tf32");
    assert_eq!((&*float32.substitute()[0].1, tf32(&float32)), ("1", Some(("use_tf32", "0".to_owned()))));
    assert_eq!(setting(&float32, "trt_fp16_enable").as_deref(), Some("0"));
    assert_eq!(tf32(&plan(Provider::TensorRt, 0, "").1), None);
}

#[test]
fn a_provider_that_is_only_tried_keeps_nothing() {
    let nothing = OnnxModel { bytes: Vec::new(), ..model() };
    for provider in Provider::ALL {
        let options = DeviceOptions::default();
        let plan = SessionPlan::new(provider, 0, preferences(provider).precision, &options, &nothing).unwrap();
        assert_eq!(plan.cache, None, "{provider}");
    }
}

#[test]
fn openvino_runs_on_its_device() {
    let (_folder, cpu) = plan(Provider::OpenVino, 0, "threads=3,precision=bf16");
    let get = |key| setting(&cpu, key);
    assert_eq!(get("device_type").as_deref(), Some("CPU"));
    // `plan` names a folder; unasked, nothing is kept for a CPU.
    assert_eq!((get("num_of_threads").as_deref(), get("cache_dir").is_some()), (Some("3"), true));
    let unasked = SessionPlan::new(Provider::OpenVino, 0, Precision::Float32, &DeviceOptions::default(), &model());
    assert_eq!(unasked.unwrap().cache, None);
    assert_eq!(get("load_config").as_deref(), Some(r#"{"CPU":{"INFERENCE_PRECISION_HINT":"bf16"}}"#));
    assert_eq!((cpu.sharing(), cpu.is_cpu()), (Sharing::PerWorker, true));
    let (_folder, gpu) = plan(Provider::OpenVino, 0, "device=gpu.1,precision=f16");
    assert_eq!(setting(&gpu, "device_type").as_deref(), Some("GPU.1"));
    assert!(setting(&gpu, "load_config").unwrap().contains("\"GPU\""));
    assert!(setting(&gpu, "cache_dir").is_some() && setting(&gpu, "num_of_threads").is_none());
    assert_eq!(gpu.sharing(), Sharing::InTurn(1));
    let (_folder, two) = plan(Provider::OpenVino, 0, "device='HETERO:GPU.1,CPU',precision=f16");
    assert_eq!(setting(&two, "device_type").as_deref(), Some("HETERO:GPU.1,CPU"));
    let each = r#"{"GPU":{"INFERENCE_PRECISION_HINT":"f16"},"CPU":{"INFERENCE_PRECISION_HINT":"f16"}}"#;
    assert_eq!(setting(&two, "load_config").as_deref(), Some(each));
}

#[test]
fn coreml_gets_units_and_a_fixed_batch() {
    let (_folder, plan) = plan(Provider::CoreMl, 0, "units=ane");
    assert_eq!(setting(&plan, "MLComputeUnits").as_deref(), Some("CPUAndNeuralEngine"));
    assert_eq!(setting(&plan, "RequireStaticInputShapes").as_deref(), Some("1"));
    assert!(setting(&plan, "ModelCacheDirectory").is_some());
    assert_eq!(plan.rows, Rows::fixed(16));
}

#[test]
fn every_provider_that_is_asked_for_must_load() {
    for provider in Provider::ALL {
        let (_folder, plan) = plan(provider, 0, "");
        let expected = match provider {
            // A plugin is registered by its device.
            Provider::Cpu | Provider::TensorRtRtx => 0,
            Provider::TensorRt => 2,
            _ => 1,
        };
        assert_eq!(plan.dispatches().len(), expected, "{provider}");
    }
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut options = DeviceOptions::default();
    options.cache_dir = Some(file.path().to_path_buf());
    let plan = SessionPlan::new(Provider::TensorRt, 0, Precision::Float16, &options, &model()).unwrap();
    let error = plan.make_cache().unwrap_err();
    let line = error.to_string();
    assert!(line.contains(&*file.path().to_string_lossy()) && !line.contains('\n'), "{line}");
}

/// The graph of a network that was trained further is the same, and so are its bytes where the weights lie elsewhere.
#[test]
fn compiled_models_of_other_external_data_lie_apart() {
    let home = tempfile::tempdir().unwrap();
    let inline = Network::from_bytes(&random_network(1, 1, 8), "tiny.pb.gz").unwrap();
    let inline = inline.onnx(&Conversion::default()).unwrap();
    let (bytes, data) = with_external_data(&inline.bytes, "weights.bin");
    let model = OnnxModel { bytes, folder: Some(home.path().to_owned()), ..inline };
    let mut options = DeviceOptions::default();
    options.cache_dir = Some(home.path().join("cache"));
    let cache = |data: &[u8]| {
        std::fs::write(home.path().join("weights.bin"), data).unwrap();
        SessionPlan::new(Provider::TensorRt, 0, Precision::Float16, &options, &model).unwrap().cache.unwrap()
    };
    let first = cache(&data);
    assert_ne!(first, cache(&data[1..]));
    assert_eq!(first, cache(&data));
}
