//! Keeps the last error of ONNX Runtime's log: it may hold a reason that the returned error leaves out.

use ort::logging::LogLevel;
use parking_lot::Mutex;

static LAST: Mutex<Option<String>> = Mutex::new(None);

/// The logger for ONNX Runtime: it keeps the last error; messages reach standard error only by `RUST_LOG`.
pub(super) fn keep(level: LogLevel, _category: &str, _id: &str, location: &str, message: &str) {
    tracing::debug!(location, message, ?level, "ONNX Runtime");
    if matches!(level, LogLevel::Error | LogLevel::Fatal) {
        *LAST.lock() = Some(message.to_owned());
    }
}

/// Takes out the last error that was logged, if any.
pub fn take() -> Option<String> {
    LAST.lock().take()
}

/// ONNX Runtime's message in one line, without locations in its source code.
pub fn plain(text: &str) -> String {
    // In the order of writing; the function and file that report it stand before each.
    const MARKS: [&str; 7] = [
        "[ONNXRuntimeError] : ",
        " : FAIL : ",
        "[ERROR] ",
        "CUDA failure",
        "CUDNN failure",
        " : INVALID_ARGUMENT : ",
        " was false. ",
    ];
    let mut rest = text.trim();
    for mark in MARKS {
        if let Some(at) = rest.find(mark) {
            // A failure's own name stays.
            rest = &rest[if mark.ends_with("failure") { at } else { at + mark.len() }..];
        }
    }
    // ONNX Runtime appends where and on which card, for its makers.
    let rest = rest.split(" ; GPU=").next().unwrap_or(rest);
    rest.lines().next().unwrap_or_default().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_makers_places_are_left_out() {
        let cuda = "/onnxruntime_src/core/providers/cuda/x.cc:63 static X::FromProviderOptions(const Y&) \
            [ONNXRuntimeError] : 1 : FAIL : provider_options_utils.h:187 Parse Failed to parse provider option \
            \"device_id\": CUDA failure 100: no CUDA-capable device is detected ; GPU=-1 ; hostname=vm ; file=/x ; line=70";
        assert_eq!(plain(cuda), "CUDA failure 100: no CUDA-capable device is detected");
        let openvino = "/onnxruntime/core/providers/openvino/openvino_provider_factory.cc:141 std::string \
            ParseDeviceType(X) [ERROR] [OpenVINO] Device GPU is not available\n";
        assert_eq!(plain(openvino), "[OpenVINO] Device GPU is not available");
        let webgpu = "/onnxruntime_src/core/providers/webgpu/webgpu_context.cc:65 X::Initialize(const Y&)::<lambda()> \
            status == wgpu::RequestAdapterStatus::Success was false. Failed to get a WebGPU adapter: No supported adapters";
        assert_eq!(plain(webgpu), "Failed to get a WebGPU adapter: No supported adapters");
        assert_eq!(plain("Load model failed:Protobuf parsing failed."), "Load model failed:Protobuf parsing failed.");
        assert_eq!(plain(""), "");
    }
}
