//! Searches on the software device, as a GUI asks for them.

use super::device::{Device, TINY};
use crate::uci::{Answer, Uci, errors, words_after};

/// Visits that take several runs of four. A search of 30 may end before them, where nothing can overtake its best move.
const SEVERAL_RUNS: usize = 8;

/// Waits until the engine is ready, with no limit for the pipelines as long as their progress is told; returns its lines.
fn ready(engine: &mut Uci) -> Vec<String> {
    engine.send("isready");
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line| line != "readyok") {
        lines.extend(engine.until_line(|line| line == "readyok" || line.contains("so far")));
    }
    lines
}

/// An engine with these `BackendOptions`, that are loaded, and the lines it said of them.
fn engine(device: &Device, options: &str) -> (Uci, Vec<String>) {
    let mut program = device.program();
    program.args(["uci", "--backend=webgpu", "--threads=2", "--weights", TINY, "--backend-opts", options]);
    let mut engine = Uci::spawn(program);
    let lines = ready(&mut engine);
    assert!(errors(&lines).is_empty(), "{lines:?}");
    (engine, lines)
}

/// The visits of a search.
fn nodes(answer: &Answer) -> usize {
    let last = answer.infos().last().unwrap();
    words_after(last, "nodes").next().unwrap().parse().unwrap()
}

#[test]
#[cfg_attr(not(software_card), ignore = "needs chromium and libvulkan1")]
fn a_search_is_answered_whatever_the_device_does() {
    let Some(device) = Device::find() else { return };
    let (mut engine, lines) = engine(&device, "devices=0,0,batch=4");
    let says = |part: &str| lines.iter().any(|line| line.contains(part));
    assert!(says("compiling its pipelines for runs of 1, 4 positions"), "before any clock: {lines:?}");
    assert!(says("float32, for the device has no float16"), "{lines:?}");
    assert!(says("WebGPU software device SwiftShader"), "the device has a name: {lines:?}");
    assert!(nodes(&engine.search("startpos", "go nodes 30")) > SEVERAL_RUNS);
    // A run is under way whenever these come.
    engine.send("position startpos moves e2e4");
    engine.send("go infinite");
    engine.until_line(|line| line.contains(" nodes "));
    engine.ask("stop", "bestmove");
    engine.send("go ponder wtime 3000 btime 3000");
    engine.until_line(|line| line.contains(" nodes "));
    engine.ask("ponderhit", "bestmove");
    engine.send("go infinite");
    engine.ask("stop", "bestmove");
    engine.ask("go wtime 100 btime 100", "bestmove");
    engine.ask("go wtime 2000 btime 2000 winc 100 binc 100", "bestmove");
    // Two sessions for the same device, which take turns.
    engine.send("setoption name BackendOptions value runs=2,batch=4,min_batch=4");
    let lines = ready(&mut engine);
    assert!(errors(&lines).is_empty() && lines.iter().any(|line| line.contains("runs of 4 positions")), "{lines:?}");
    assert!(nodes(&engine.search("startpos", "go nodes 30")) > SEVERAL_RUNS);
    engine.complains("setoption name BackendOptions value gpu=1", &["gpu: \"1\" is not 0"]);
    engine.complains("setoption name BackendOptions value datatype=f16", &["SwiftShader", "has no float16; leave out"]);
}
