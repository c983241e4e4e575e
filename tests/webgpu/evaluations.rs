//! Compares evaluations with those of the CPU, and measures them.

use super::device::{DRIVERS, Device, TINY};
use crate::common::{shared, small_set};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Bounds of float32 for the difference in q and in a logit.
const BOUNDS: [f64; 2] = [1e-4, 1e-3];

/// Evaluations of `count` positions, spread over the golden ones, by this network.
fn evaluations(device: &Device, network: &Path, golden: &Path, count: usize, arguments: &[&str]) -> Vec<Value> {
    let all = fs::read_to_string(golden.join("golden/positions.jsonl")).unwrap();
    let lines: Vec<&str> = all.lines().collect();
    let chosen = lines.iter().step_by((lines.len() / count).max(1)).take(count);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), chosen.fold(String::new(), |text, line| text + line + "\n")).unwrap();
    let mut command = device.command();
    command.arg("eval").args(arguments).arg("--weights").arg(network).arg("--positions").arg(file.path());
    let output = command.assert().success().get_output().stdout.clone();
    let lines: Vec<Value> =
        String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), count);
    lines
}

/// Checks that WebGPU and the CPU evaluate alike; returns a line with the differences.
fn agree(device: &Device, network: &Path, golden: &Path, count: usize, options: &str) -> String {
    let cpu = evaluations(device, network, golden, count, &["--backend=onnxruntime"]);
    let webgpu = evaluations(device, network, golden, count, &["--backend=webgpu", "-o", options]);
    let number = |value: &Value| value.as_f64().unwrap();
    let mut worst = [0.0_f64; 2];
    for (cpu, webgpu) in cpu.iter().zip(&webgpu) {
        worst[0] = worst[0].max((number(&cpu["q"]) - number(&webgpu["q"])).abs());
        let [ours, theirs] = [cpu, webgpu].map(|one| one["policy"].as_array().unwrap());
        for (a, b) in ours.iter().zip(theirs) {
            assert_eq!(a["move"], b["move"]);
            worst[1] = worst[1].max((number(&a["logit"]) - number(&b["logit"])).abs());
        }
    }
    let name = network.file_name().unwrap().to_string_lossy().into_owned();
    assert!(worst[0] < BOUNDS[0] && worst[1] < BOUNDS[1], "{name}: {worst:?}");
    format!("{name}: {count} positions, q within {:.1e}, logits within {:.1e}", worst[0], worst[1])
}

#[test]
#[cfg_attr(not(software_card), ignore = "needs chromium and libvulkan1")]
fn the_smallest_network_agrees_with_the_cpu() {
    let Some(device) = Device::find() else { return };
    eprintln!("{}", agree(&device, Path::new(TINY), &small_set(), 5, "batch=4,steps=1"));
}

/// Eleven positions make a full run and one that is filled up to the smaller size.
#[test]
#[cfg_attr(not(all(software_card, whole)), ignore = "needs chromium and libvulkan1; slow: ZEITNOT_WHOLE=1 cargo test")]
fn small_networks_agree_with_the_cpu_in_every_size() {
    let Some(device) = Device::find() else { return };
    let small = Path::new(TINY).with_file_name("zeitnot-small.pb.gz");
    for network in [Path::new(TINY), &small] {
        eprintln!("{}", agree(&device, network, &small_set(), 11, "batch=8,steps=2"));
    }
}

#[test]
#[cfg_attr(
    not(all(software_card, shared, whole)),
    ignore = "needs chromium, libvulkan1 and ../shared; slow: ZEITNOT_WHOLE=1 cargo test"
)]
fn maia_agrees_with_the_cpu() {
    let Some(device) = Device::find() else { return };
    eprintln!("{}", agree(&device, &shared().join("nets/maia-1900.pb.gz"), &shared(), 4, "batch=4,steps=1"));
}

/// All networks of the shared folder, half an hour.
#[test]
#[ignore = "needs chromium and libvulkan1; half an hour: cargo test --test webgpu every_network -- --ignored --nocapture"]
fn every_network_agrees_with_the_cpu() {
    let Some(device) = Device::find() else { return };
    let shared = shared();
    let folders = ["nets", "nets/synthetic"].map(|folder| fs::read_dir(shared.join(folder)).unwrap());
    let paths = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let mut networks: Vec<_> = paths.filter(|path| path.to_string_lossy().ends_with(".pb.gz")).collect();
    networks.sort_by_key(|path| path.metadata().unwrap().len());
    assert!(networks.len() >= 19, "{networks:?}");
    for network in networks {
        let is_large = network.metadata().unwrap().len() > 10_000_000;
        let (count, options) = if is_large { (8, "batch=1") } else { (20, "batch=4") };
        eprintln!("{}", agree(&device, &network, &shared, count, options));
    }
}

#[test]
#[cfg_attr(not(all(software_card, whole)), ignore = "needs chromium and libvulkan1; slow: ZEITNOT_WHOLE=1 cargo test")]
fn measurements_run_to_their_end() {
    let Some(device) = Device::find() else { return };
    let common = ["--backend=webgpu", "--weights", TINY, "-o", "batch=4,steps=1", "--json", "--seconds=1"];
    for (what, arguments) in [
        ("backendbench", &["--versus=bare", "--batch-sizes=4"][..]),
        ("benchmark", &["--no-grid", "--positions=1", "--no-install"]),
    ] {
        let assert = device.command().arg(what).args(common).args(arguments).assert().success();
        let report: Value = serde_json::from_slice(&assert.get_output().stdout).unwrap();
        let mut text = String::new();
        write!(text, "{report}").unwrap();
        assert!(text.contains("webgpu"), "{what}: {text}");
    }
}

/// The CPU never takes the place of a card that was asked for, and a software device never that of the CPU.
#[test]
#[cfg_attr(not(software_card), ignore = "needs chromium and libvulkan1")]
fn the_device_is_there_or_it_is_said_what_is_missing() {
    let Some(device) = Device::find() else { return };
    let mut command = device.command();
    command.env(DRIVERS, "/there/is/none.json").args(["eval", "--backend=webgpu", "--weights", TINY]);
    let assert = command.assert().code(1).stdout("");
    let line = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    let start = "zeitnot: WebGPU cannot run here: Vulkan finds no graphics card";
    assert!(line.starts_with(start) && line.lines().count() == 1, "{line}");
    assert!(line.contains("limited by VK_ICD_FILENAMES=/there/is/none.json"), "{line}");
    let probed = device.command().args(["doctor", "--probe-provider=webgpu"]).assert().success();
    drop(probed);
    let loaded = device.command().args(["net", "fetch", "--prepare", "--weights", TINY]).assert().success();
    let text = String::from_utf8_lossy(&loaded.get_output().stdout).into_owned();
    assert!(text.starts_with("prepared: native, zeitnot-tiny"), "{text}");
}
