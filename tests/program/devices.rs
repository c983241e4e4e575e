//! Backends by name, their options, `doctor`, and devices that this machine may have.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::common::shared;
use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use zeitnot_engine::network::testing::random_network;
use zeitnot_engine::runtime::{self, Provider};

/// A folder with a small network, and the library of ONNX Runtime for the CPU.
struct Bench {
    folder: TempDir,
    library: String,
}

impl Bench {
    fn new() -> Bench {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("net.pb.gz"), random_network(1, 1, 8)).unwrap();
        // Not one with other providers in it, which the environment may name.
        let library = runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap().path.display().to_string();
        Bench { folder, library }
    }

    /// The binary, in the folder, with its network and library.
    fn zeitnot(&self, arguments: &[&str]) -> Command {
        let mut command = plain(&self.folder);
        command.args(arguments).args(["--weights=net.pb.gz", "--onnxruntime"]).arg(&self.library);
        command
    }
}

fn plain(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder.path()).env_remove("RUST_LOG").timeout(std::time::Duration::from_secs(120));
    command
}

/// Fails with the exit code 1, prints nothing, and says why in one line that holds each of `parts`.
fn fails(command: &mut Command, parts: &[&str]) {
    let assert = command.assert().code(1).stdout("");
    let text = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(parts.iter().all(|part| text.contains(part)), "{parts:?}: {text}");
}

#[test]
fn backends_that_are_none_are_named() {
    let bench = Bench::new();
    fails(
        &mut bench.zeitnot(&["eval", "--backend=gpu9000"]),
        &["gpu9000", "auto, native, onnxruntime, cuda, tensorrt"],
    );
    fails(&mut bench.zeitnot(&["eval", "--backend=metal"]), &["metal", "coreml"]);
}

#[test]
fn options_that_are_none_are_named() {
    let bench = Bench::new();
    for (options, parts) in [
        ("gpus=1", &["--backend-opts", "\"gpus\"", "gpu, devices"][..]),
        ("batch=x", &["--backend-opts", "batch", "\"x\"", "1 to 1024"]),
        ("threads", &["--backend-opts", "\"threads\"", "key=value"]),
        ("gpu=1", &["backend cpu does not take gpu"]),
        ("units=ane", &["backend cpu does not take units"]),
    ] {
        let option = format!("--backend-opts={options}");
        fails(&mut bench.zeitnot(&["eval", "--backend=onnxruntime", &option]), parts);
    }
}

#[test]
fn options_change_how_the_cpu_runs_and_not_what_it_says() {
    let bench = Bench::new();
    let eval = |options: &str| -> Value {
        let output = bench.zeitnot(&["eval", "--backend=onnx-cpu", "-o", options]).assert().success();
        serde_json::from_slice(&output.get_output().stdout).unwrap()
    };
    let usual = eval("");
    for options in ["threads=2", "batch=16", "batch=16,steps=1", "optimize=0", "datatype=f32,opset=17"] {
        let other = eval(options);
        let close = |a: &Value, b: &Value| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs() < 1e-5;
        assert!(close(&usual["q"], &other["q"]) && close(&usual["d"], &other["d"]), "{options}: {usual} {other}");
    }
}

/// On a machine with nothing installed each device names the first thing that is missing: the driver where no library
/// would help without it, else the library.
#[test]
fn without_anything_each_device_names_the_first_thing_that_is_missing() {
    let bench = Bench::new();
    let home = tempfile::tempdir().unwrap();
    let nvidia = runtime::nvidia::driver().err().map(|reason| reason.to_string());
    let vulkan = runtime::vulkan::device().err().filter(|_| cfg!(target_os = "linux")).map(|reason| reason.to_string());
    let amd = (cfg!(target_os = "linux") && !Path::new("/dev/kfd").exists())
        .then(|| "there is no AMD driver for computing (/dev/kfd is missing)".to_owned());
    for (backend, provider, driver) in [
        ("cuda", Provider::Cuda, &nvidia),
        ("tensorrt", Provider::TensorRt, &nvidia),
        ("tensorrt-rtx", Provider::TensorRtRtx, &nvidia),
        ("migraphx", Provider::MiGraphX, &amd),
        ("webgpu", Provider::WebGpu, &vulkan),
    ] {
        let mut command = plain(&bench.folder);
        command.args(["eval", "--weights=net.pb.gz", "--backend", backend]).env_remove("ORT_DYLIB_PATH");
        for home_of in ["HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "APPDATA"] {
            command.env(home_of, home.path());
        }
        let missing = driver.as_ref().map(|reason| format!("{provider} cannot run here: {reason}"));
        // The driver of a card may be there, and the card be one that the provider does not drive.
        let nothing = format!("no ONNX Runtime with {provider} was found; ");
        match (missing, provider) {
            (Some(line), _) => fails(&mut command, &[&line]),
            (None, Provider::TensorRtRtx) => fails(&mut command, &["TensorRT for RTX"]),
            (None, _) => fails(&mut command, &[&nothing]),
        }
    }
}

/// A device that was asked for is never replaced by the CPU. Where it cannot run whatever is installed, it is said why,
/// and nothing is to be installed.
#[test]
fn a_runtime_without_the_provider_is_an_error_that_says_what_to_install() {
    let bench = Bench::new();
    for (backend, name, provider) in [
        ("cuda", "CUDA", Provider::Cuda),
        ("onnx-trt", "TensorRT", Provider::TensorRt),
        ("openvino", "OpenVINO", Provider::OpenVino),
        ("dml", "DirectML", Provider::DirectMl),
        ("onnx-webgpu", "WebGPU", Provider::WebGpu),
        ("tensorrt-rtx", "TensorRT for RTX", Provider::TensorRtRtx),
    ] {
        let backend = format!("--backend={backend}");
        let no_card = match provider {
            _ if provider.is_nvidia() => runtime::nvidia::driver().err().map(|reason| reason.to_string()),
            Provider::WebGpu => runtime::vulkan::device().err().map(|reason| reason.to_string()),
            _ => None,
        };
        if let Some(reason) = no_card {
            for arguments in [&["eval", &backend][..], &["net", "fetch", "--prepare", &backend]] {
                let line = format!("zeitnot: {provider} cannot run here: {reason}\n");
                bench.zeitnot(arguments).assert().code(1).stdout("").stderr(line);
            }
            continue;
        }
        let has_package = provider.variants().iter().any(|variant| variant.pin().is_some());
        let source = if has_package { provider.command() } else { "no package of it for this platform" };
        fails(&mut bench.zeitnot(&["eval", &backend]), &[name, "without", source]);
    }
}

#[test]
fn a_process_keeps_its_runtime_and_says_so() {
    let bench = Bench::new();
    let input = "isready\nsetoption name Backend value openvino\nisready\ngo nodes 10\nwait\nquit\n";
    let output = bench.zeitnot(&["uci", "--backend=onnxruntime"]).write_stdin(input).assert().success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let error = text.lines().find(|line| line.contains("ERROR: ")).unwrap_or_else(|| panic!("{text}"));
    assert!(error.contains("OpenVINO needs another ONNX Runtime") && error.contains("restart"), "{error}");
    assert!(text.contains("playing on with native, net") && text.contains("bestmove"), "{text}");
}

#[test]
fn preparing_a_network_says_what_is_ready() {
    let bench = Bench::new();
    let output = bench.zeitnot(&["net", "fetch", "--prepare", "--backend=onnxruntime"]).assert().success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.starts_with("prepared: onnxruntime cpu, net ("), "{text}");
    fails(&mut bench.zeitnot(&["net", "fetch", "--prepare", "--backend=cuda"]), &["CUDA"]);
}

fn doctor(command: &mut Command) -> (bool, Value) {
    let output = command.arg("--json").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert_eq!(report["can_play"].as_bool(), Some(output.status.success()), "{report}");
    (output.status.success(), report)
}

fn verdict<'a>(report: &'a Value, name: &str) -> (&'a str, &'a str) {
    let checks = report["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["name"] == name).unwrap_or_else(|| panic!("no {name}: {report}"));
    (check["verdict"].as_str().unwrap(), check["finding"].as_str().unwrap())
}

#[test]
fn the_doctor_finds_a_plain_machine_well() {
    let bench = Bench::new();
    let (can_play, report) = doctor(&mut bench.zeitnot(&["doctor", "--backend=onnxruntime"]));
    assert!(can_play, "{report}");
    for name in ["processor", "threads", "clock", "cache folder", "graphics card"] {
        assert_ne!(verdict(&report, name).0, "error", "{report}");
    }
    for name in ["runtime", "provider cpu", "network", "engine"] {
        assert_eq!(verdict(&report, name).0, "ok", "{report}");
    }
    assert!(verdict(&report, "engine").1.contains("onnxruntime cpu, net"), "{report}");
    let output = bench.zeitnot(&["doctor", "--backend=onnxruntime"]).assert().success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    let starts = ["ok ", "unused ", "warning ", "error "];
    assert!(text.lines().all(|line| starts.iter().any(|start| line.starts_with(start))), "{text}");
}

#[test]
fn the_doctor_names_what_keeps_the_engine_from_playing() {
    let bench = Bench::new();
    let (can_play, report) =
        doctor(plain(&bench.folder).args(["doctor", "--weights=absent.pb.gz", "--backend=onnxruntime"]));
    assert!(!can_play && verdict(&report, "network").0 == "error", "{report}");
    assert!(verdict(&report, "network").1.contains("absent.pb.gz"), "{report}");
    let (can_play, report) = doctor(&mut bench.zeitnot(&["doctor", "--backend=cuda"]));
    assert!(!can_play, "{report}");
    for name in ["runtime", "provider cuda", "engine"] {
        let (verdict, finding) = verdict(&report, name);
        assert!(verdict == "error" && finding.contains("CUDA"), "{name}: {report}");
    }
    // Without a network there is nothing to miss.
    let (can_play, report) = doctor(plain(&bench.folder).args(["doctor", "--backend=uniform"]));
    assert!(can_play, "{report}");
    // Nor is anything needed that only helps.
    let help = ["doctor", "--backend=uniform", "--syzygy-paths=no/tables", "--own-book", "--book-file=no/book.bin"];
    let (can_play, report) = doctor(plain(&bench.folder).args(help));
    assert!(can_play, "{report}");
    for (name, file) in [("endgame tables", "no/tables"), ("book", "no/book.bin")] {
        let (verdict, finding) = verdict(&report, name);
        assert!(verdict == "warning" && finding.contains(file), "{name}: {report}");
    }
}

#[cfg_attr(not(shared), ignore = "needs ../shared")]
#[test]
fn the_doctor_warns_of_a_maia_that_nobody_named() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("models")).unwrap();
    let path = folder.path().join("models/maia-1900.pb.gz");
    fs::copy(shared().join("nets/maia-1900.pb.gz"), path).unwrap();
    for (flags, wanted) in [(&["doctor"][..], "warning"), (&["doctor", "--weights=maia-1900"], "ok")] {
        let (can_play, report) = doctor(plain(&folder).args(flags));
        assert!(can_play && verdict(&report, "network").0 == wanted, "{flags:?}: {report}");
    }
}

/// Evaluations of the golden positions by maia-1900, one a line.
fn golden(shared: &Path, arguments: &[&str]) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let mut command = plain(&folder);
    // A first engine of TensorRT's takes minutes.
    command.timeout(std::time::Duration::from_secs(1200));
    command.arg("eval").args(arguments).arg("--weights").arg(shared.join("nets/maia-1900.pb.gz"));
    command.arg("--positions").arg(shared.join("golden/positions.jsonl"));
    let output = command.assert().success().get_output().stdout.clone();
    let lines = output.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn logits(line: &Value) -> Vec<f64> {
    line["policy"].as_array().unwrap().iter().map(|entry| entry["logit"].as_f64().unwrap()).collect()
}

/// Compares a device with the CPU over the golden positions: the same evaluations in 32 bits, to `tolerance` in a
/// logit, and mostly the same best move with the arithmetic that `short` chooses. Says why when the device is not here.
fn agrees_with_the_cpu(backend: &str, long: &str, tolerance: f64, short: &str) {
    let what = format!("{backend} against the CPU");
    let shared = shared();
    let folder = tempfile::tempdir().unwrap();
    let probe = plain(&folder).args(["doctor", &format!("--probe-provider={backend}")]).output().unwrap();
    if !probe.status.success() {
        eprint!("skipped: {what}: {}", String::from_utf8_lossy(&probe.stderr));
        return;
    }
    let backend = format!("--backend={backend}");
    let cpu = golden(&shared, &["--backend=onnxruntime"]);
    let same = golden(&shared, &[&backend, "-o", long]);
    let nearly = golden(&shared, &[&backend, "-o", short]);
    assert!(cpu.len() > 100 && cpu.len() == same.len() && cpu.len() == nearly.len());
    let best = |numbers: &[f64]| (0..numbers.len()).max_by(|&a, &b| numbers[a].total_cmp(&numbers[b]));
    let mut agree = 0;
    for ((cpu, same), nearly) in cpu.iter().zip(&same).zip(&nearly) {
        let (a, b) = (logits(cpu), logits(same));
        assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < tolerance), "{cpu} and {same}");
        let (q, r) = (cpu["q"].as_f64().unwrap(), same["q"].as_f64().unwrap());
        assert!((q - r).abs() < tolerance, "{cpu} and {same}");
        agree += usize::from(best(&a) == best(&logits(nearly)));
    }
    // Half the bits leave many positions with two moves that are nearly equal.
    assert!(agree * 10 >= cpu.len() * 9, "{agree} of {}", cpu.len());
    eprintln!("{what}: the best move is the same in {agree} of {} positions with {short}", cpu.len());
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn openvino_agrees_with_the_cpu() {
    agrees_with_the_cpu("openvino", "precision=f32", 2e-4, "precision=bf16");
}

/// cuDNN and TensorRT choose among algorithms that round differently, Winograd's among them.
#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn cuda_agrees_with_the_cpu() {
    agrees_with_the_cpu("cuda", "datatype=f32", 5e-3, "datatype=f16");
}

#[test]
#[cfg_attr(not(shared), ignore = "needs ../shared")]
fn tensorrt_agrees_with_the_cpu() {
    agrees_with_the_cpu("tensorrt", "datatype=f32", 5e-3, "datatype=f16");
}

/// A Maia that somebody fetched does not judge games, and plays no match.
#[cfg_attr(not(shared), ignore = "needs ../shared")]
#[test]
fn a_maia_plays_only_where_it_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("models")).unwrap();
    fs::copy(shared().join("nets/maia-1900.pb.gz"), folder.path().join("models/renamed.pb.gz")).unwrap();
    let network = |arguments: &[&str], input: &str| {
        let output = plain(&folder).args(arguments).write_stdin(input.to_owned()).output().unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
        let plays = said.lines().find(|line| line.contains("native, ")).unwrap_or_else(|| panic!("{said}")).to_owned();
        (plays, said.contains("renamed.pb.gz is a Maia, which plays only where it is named"))
    };
    for (arguments, input) in
        [(&[][..], "go nodes 1\nquit\n"), (&["match", "--nodes=1", "--games=1", "--pgn=m.pgn"], "")]
    {
        let (plays, is_told) = network(arguments, input);
        assert!(plays.contains("native, zeitnot-small") && is_told, "{arguments:?}: {plays}");
    }
    for (arguments, input) in [
        (&["play", "--nodes=1"][..], "quit\n"),
        (&["--time-manager=human"], "go nodes 1\nquit\n"),
        (&["--weights=renamed"], "go nodes 1\nquit\n"),
    ] {
        let (plays, is_told) = network(arguments, input);
        assert!(plays.contains("native, renamed") && !is_told, "{arguments:?}: {plays}");
    }
}

#[test]
fn a_setup_tells_its_plan_and_changes_nothing_unasked() {
    let folder = tempfile::tempdir().unwrap();
    let home = |arguments: &[&str]| {
        let mut command = plain(&folder);
        command.args(arguments).env("HOME", folder.path()).env_remove("XDG_CONFIG_HOME");
        command
    };
    let assert = home(&["setup", "--dry-run", "--network=maia-1900"]).assert().success();
    let told = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    let lines: Vec<&str> = told.lines().collect();
    assert!(
        lines[0].starts_with(&format!("machine: {} on {}", std::env::consts::OS, std::env::consts::ARCH)),
        "{told}"
    );
    assert!(told.contains("\nnetwork: `zeitnot net fetch maia-1900` (1 MB; SE 6x64)\n"), "{told}");
    assert_eq!(lines.last(), Some(&"nothing was changed"));
    // Nobody can be asked where the input is no terminal.
    let assert = home(&["setup"]).write_stdin("y\n").assert().code(1);
    let error = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert_eq!(error, "zeitnot: nobody to ask: --yes carries the plan out, --dry-run only tells it\n");
    fails(&mut home(&["setup", "--dry-run", "--network=none"]), &["none"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is written");
}
