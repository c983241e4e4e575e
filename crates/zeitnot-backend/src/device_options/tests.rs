//! Tests the values that `BackendOptions` takes and those that it refuses.

use super::*;
use crate::simulated::CARDS;
use zeitnot_network::{InputFormat, MishForm};

fn options(text: &str) -> DeviceOptions {
    text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn line(text: &str) -> String {
    text.parse::<DeviceOptions>().unwrap_err().to_string()
}

#[test]
fn lc0s_spelling_is_read() {
    let read = options("gpu=1, threads=2, batch=16, steps=4, min_batch=4, optimize=2, fp16=true, opset=18");
    assert_eq!((read.devices.as_slice(), read.threads, read.batch), (&[1][..], Some(2), Some(16)));
    assert_eq!((read.steps, read.min_batch, read.optimize, read.opset), (Some(4), Some(4), Some(2), Some(18)));
    assert_eq!(read.datatype, Some(Precision::Float16));
    let heads = options("policy_head='optimistic',value-head=\"st\",");
    assert_eq!((heads.policy_head.as_deref(), heads.value_head.as_deref()), (Some("optimistic"), Some("st")));
    assert_eq!(options("").given, [""; 0]);
}

#[test]
fn several_devices_are_one_value() {
    assert_eq!(options("devices=0,1,3,batch=64").devices, [0, 1, 3]);
    assert_eq!(options("batch=64,devices=2").devices, [2]);
    assert_eq!(options("devices='0, 1'").devices, [0, 1]);
}

#[test]
fn folders_may_hold_anything() {
    assert_eq!(options("cache-dir=/a b/c=d").cache_dir, Some(PathBuf::from("/a b/c=d")));
    assert_eq!(options("cache_dir='/a,b',device=gpu.1").cache_dir, Some(PathBuf::from("/a,b")));
    assert_eq!(options("device=gpu.1").units.as_deref(), Some("GPU.1"));
}

#[test]
fn what_is_wrong_is_named_in_one_line() {
    for (text, parts) in [
        ("gpus=1", &["unknown key \"gpus\"", "gpu, devices, threads"][..]),
        ("gpu", &["\"gpu\" is not of the form key=value"]),
        ("gpu=x", &["gpu: \"x\" is not the index of a device"]),
        ("gpu=0,1", &["gpu: \"0,1\""]),
        ("gpu=64", &["gpu: \"64\""]),
        ("devices=0,64", &["devices: \"0,64\" is not a list of device"]),
        ("gpu=0,devices=1", &["gpu and devices exclude each other"]),
        ("batch=8,batch=16", &["batch is given twice"]),
        ("fp16=true,datatype=f32", &["fp16 and datatype exclude each other"]),
        ("output_value=v,output_wdl=w", &["output_value and output_wdl exclude each other"]),
        ("output_mlh=", &["output_mlh: \"\" is not a name"]),
        ("batch=0", &["batch: \"0\" is not a whole number from 1 to 1024"]),
        ("batch=8,min_batch=16", &["min_batch: \"16\" is not at most batch"]),
        ("threads=-1", &["threads: \"-1\""]),
        ("optimize=4", &["optimize: \"4\" is not a whole number from 0 to 3"]),
        ("datatype=fp8", &["datatype: \"fp8\" is not one of f32, f16, bf16"]),
        ("opset=7", &["opset: \"7\" is not a whole number from 17 to 22"]),
        ("policy_head=", &["policy_head: \"\" is not a name"]),
        ("isa=sse9", &["isa: \"sse9\" is not one of avx512, avxvnni, avx2, i8mm, dotprod, neon, portable"]),
        ("device=gpu b", &["device: \"gpu b\""]),
        ("device=XPU", &["device: \"XPU\" is not a device of OpenVINO"]),
        ("units=tpu", &["units: \"tpu\" is not one of all, cpu, gpu, ane"]),
        ("card=h200", &["card: \"h200\" is not one of h100-t1, h100-20x256, h100-maia, none"]),
        ("multiplexing(backend=cuda)", &["key"]),
    ] {
        let line = line(text);
        assert!(!line.contains('\n') && parts.iter().all(|part| line.contains(part)), "{text}: {line}");
    }
}

#[test]
fn options_of_a_provider_are_handed_on() {
    let read = options("provider.prefer_nhwc=1,provider.trt_builder_optimization_level=5,runs=3");
    let given = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    assert_eq!(read.provider, [given("prefer_nhwc", "1"), given("trt_builder_optimization_level", "5")]);
    assert_eq!(
        (read.runs, read.check_for(Provider::Cuda), read.check_for(Provider::TensorRt)),
        (Some(3), Ok(()), Ok(()))
    );
    let line_for = |text: &str, provider| options(text).check_for(provider).unwrap_err().to_string();
    assert_eq!(line_for("provider.x=1", Provider::Cpu), "the backend cpu does not take provider.KEY");
    assert_eq!(line_for("runs=2", Provider::Cpu), "the backend cpu does not take runs");
    for (text, part) in [
        ("provider.=1", "provider.KEY: \"\" is not the name"),
        ("provider.a=1,provider.a=2", "provider.KEY: \"a\" is not given once"),
        ("provider.enable_cuda_graph=1", "the engine sets it"),
        ("provider.trt_cuda_graph_enable=1", "in the memory of the host"),
        ("graphs=maybe", "on, off, auto"),
        ("provider.device_id=1", "the engine sets it"),
        ("provider.user_compute_stream=123", "an address"),
        ("provider.trt_profile_max_shapes=x", "the engine sets it"),
        ("provider.KEY", "key=value"),
        ("runs=0", "a whole number from 1 to 8"),
        ("planes=flat", "packed, dense"),
        ("fused=1", "true or false"),
    ] {
        let line = line(text);
        assert!(line.contains(part), "{line}");
    }
}

#[test]
fn a_key_of_another_device_is_named() {
    let check = |text: &str, provider| options(text).check_for(provider).map_err(|error| error.to_string());
    assert_eq!(check("gpu=1,batch=32", Provider::Cuda), Ok(()));
    assert_eq!(check("threads=2", Provider::Cpu), Ok(()));
    assert_eq!(check("gpu=1", Provider::Cpu), Err("the backend cpu does not take gpu".into()));
    assert_eq!(check("batch=8,units=ane", Provider::Cuda), Err("the backend cuda does not take units".into()));
    assert_eq!(check("isa=avx2", Provider::Cpu), Err("the backend cpu does not take isa".into()));
    assert_eq!(options("isa=AVX-512").isa, Some(Isa::Avx512));
    assert_eq!(options("isa=portable").check_for_native(), Ok(()));
    assert_eq!(options("precision=int8,policy_head=soft").check_for_native(), Ok(()));
    let line = options("precision=bf16").check_for_native().unwrap_err().to_string();
    assert_eq!(line, "the backend native does not take precision=bf16");
    assert_eq!(check("precision=bf16", Provider::OpenVino), Ok(()));
    let line = check("precision=int8", Provider::OpenVino).unwrap_err();
    assert_eq!(line, "the backend openvino does not take precision=int8");
    assert_eq!(check("provider.preferredLayout=NHWC", Provider::WebGpu), Ok(()));
    let line = check("provider.layout=NHWC", Provider::WebGpu).unwrap_err();
    assert!(line.starts_with("provider.KEY: \"layout\" is not an option of WebGPU"), "{line}");
    for (text, start) in [
        ("datatype=bf16", "the backend webgpu does not take datatype=bf16"),
        ("planes=packed", "the backend webgpu does not take planes=packed"),
        ("provider.powerPreference=low", "provider.powerPreference: \"low\" is not one of high-performance, low-power"),
        ("gpu=1", "gpu: \"1\" is not 0: "),
        ("devices=0,1", "devices: \"0,1\" is not 0: "),
    ] {
        let line = check(text, Provider::WebGpu).unwrap_err();
        assert!(line.starts_with(start), "{line}");
    }
    for text in ["datatype=f16,planes=dense", "devices=0,0", "provider.powerPreference=low-power"] {
        assert_eq!(check(text, Provider::WebGpu), Ok(()));
    }
    let line = options("isa=avx2,threads=2").check_for_native().unwrap_err().to_string();
    assert_eq!(line, "the backend native does not take threads");
    let card = options("card=h100-t1");
    assert_eq!(card.check_for_simulated(), Ok(()));
    let line = card.check_for_native().unwrap_err().to_string();
    assert_eq!(line, "the backend native does not take card");
    assert_eq!(check("card=none", Provider::Cuda), Err("the backend cuda does not take card".into()));
    let line = options("card=none,runs=2").check_for_simulated().unwrap_err().to_string();
    assert_eq!(line, "the backend simulated does not take runs");
    // What an error names is what there is.
    assert!(CARDS.iter().all(|card| KEYS.iter().any(|key| key.name == CARD && key.expected.contains(card.name))));
}

#[test]
fn rows_follow_batch_steps_and_min_batch() {
    let rows = |text: &str, provider| options(text).rows(provider);
    assert_eq!(rows("", Provider::Cpu), Rows::any(1, 256));
    assert_eq!(rows("batch=64", Provider::Cpu), Rows::any(1, 64));
    assert_eq!(rows("batch=64,steps=4", Provider::Cuda).sizes(), [16, 32, 48, 64]);
    assert_eq!(rows("batch=16,steps=1", Provider::Cpu), Rows::fixed(16));
    assert_eq!(rows("batch=1024,steps=1024", Provider::Cuda), Rows::any(16, 1024));
    assert_eq!(options("provider.trt_cuda_graph_enable=0").provider.len(), 1);
    assert_eq!(rows("batch=16", Provider::Cuda), Rows::fixed(16));
    assert_eq!(rows("batch=32", Provider::DirectMl), Rows::fixed(32));
    assert_eq!(rows("batch=100", Provider::Cuda).sizes(), [16, 32, 64, 96, 100]);
    assert_eq!(rows("min_batch=8,batch=128", Provider::TensorRt).sizes(), [8, 16, 32, 64, 96, 128]);
    assert_eq!((rows("", Provider::Cuda).most, rows("", Provider::TensorRt).most), (1024, 1024));
    let one_size = |text: &str| options(text).one_size(Provider::Cuda);
    assert_eq!((one_size(""), one_size("batch=512")), (Rows::fixed(256), Rows::fixed(512)));
    assert_eq!(one_size("min_batch=8,batch=64"), rows("min_batch=8,batch=64", Provider::Cuda));
    assert_eq!(one_size("batch=64,steps=4").sizes(), [16, 32, 48, 64]);
    let few_sizes = |text: &str| options(text).few_sizes().sizes();
    assert_eq!((few_sizes(""), few_sizes("batch=4"), few_sizes("batch=1")), (vec![1, 8], vec![1, 4], vec![1]));
    assert_eq!((few_sizes("batch=8,steps=2"), few_sizes("batch=64,min_batch=16")), (vec![4, 8], vec![16, 64]));
}

#[test]
fn the_interface_of_a_network_is_of_no_backend() {
    let text =
        "input_format=canonical-v2,input-planes=x:0,output_policy='logits, raw',output_wdl=495,output_mlh=\"it's\"";
    let read = options(text);
    let name = |name: &str| Some(name.to_owned());
    let wanted = OnnxInterface {
        input_format: Some(InputFormat::CanonicalV2),
        input: name("x:0"),
        policy: name("logits, raw"),
        value: Some(ValueOutput::Wdl("495".to_owned())),
        moves_left: name("it's"),
    };
    assert_eq!(read.interface, wanted);
    assert_eq!((read.check_for(Provider::Cuda), read.check_for_native()), (Ok(()), Ok(())));
    assert_eq!(options("output_value=v").interface.value, Some(ValueOutput::Scalar("v".to_owned())));
    // Another backend gets it without the rest.
    let rest = options(&format!("threads=2,{text}")).interface_text();
    assert_eq!(options(&rest), DeviceOptions { given: options(&rest).given, interface: wanted, ..options("") });
    let marks = OnnxInterface { policy: name("it's a \"name\", too"), ..OnnxInterface::default() };
    let text = DeviceOptions { interface: marks.clone(), ..options("") }.interface_text();
    assert_eq!(options(&text).interface, marks, "{text}");
    assert_eq!(options("threads=2").interface_text(), "");
}

#[test]
fn a_model_is_asked_only_for_what_the_keys_ask() {
    let network = zeitnot_network::testing::random_network(1, 1, 8);
    let network = Network::from_bytes(&network, "x").unwrap();
    let model = Network::from_bytes(&network.onnx(&Conversion::default()).unwrap().bytes, "x.onnx").unwrap();
    let of = |text: &str, network, provider| options(text).conversion_of(network, provider).precision;
    assert_eq!(of("", &network, Provider::Cuda), Precision::Float16);
    assert_eq!(of("", &model, Provider::Cuda), Precision::Float32);
    assert_eq!(of("datatype=f16", &model, Provider::Cuda), Precision::Float16);
    assert_eq!(of("datatype=f16", &model, Provider::TensorRt), Precision::Float32);
}

#[test]
fn conversions_follow_type_and_heads() {
    assert_eq!(options("").conversion(Provider::Cpu), Conversion::default());
    let form = |text: &str, provider| {
        let Conversion { packed, mish, .. } = options(text).conversion(provider);
        (packed, mish)
    };
    assert_eq!(form("", Provider::Cuda), (true, MishForm::Softplus));
    assert_eq!(form("planes=dense", Provider::TensorRt), (false, MishForm::Softplus));
    assert_eq!(form("planes=packed", Provider::Cpu), (true, MishForm::Exponential));
    assert_eq!(form("", Provider::OpenVino), (false, MishForm::Softplus));
    assert_eq!(form("", Provider::WebGpu), (false, MishForm::Exponential));
    assert_eq!(options("").conversion(Provider::Cuda).precision, Precision::Float16);
    assert_eq!(
        ["", "fused=false", "fused=true"].map(|text| options(text).conversion(Provider::Cuda).fused),
        [false, false, true]
    );
    let bfloat = options("datatype=bf16,policy_head=soft").conversion(Provider::TensorRt);
    assert_eq!((bfloat.precision, bfloat.opset), (Precision::Bfloat16, 22));
    assert_eq!(bfloat.policy_head.as_deref(), Some("soft"));
}
