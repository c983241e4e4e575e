//! Networks and ONNX Runtime: absent, broken, exchanged while the engine runs.

use super::driver::{Uci, errors, lonely};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use tempfile::TempDir;
use zeitnot_engine::network::testing::{random_network, with_renamed_ends};
use zeitnot_engine::network::{Conversion, Network};
use zeitnot_engine::runtime;

/// A folder in which the binary is alone: neither it nor the folders around it hold a network or a library.
struct Island {
    folder: TempDir,
    executable: PathBuf,
}

impl Island {
    fn new() -> Island {
        let folder = tempfile::tempdir().unwrap();
        // Deep enough that no folder above, where `models` may be looked for, is anyone else's.
        let bin = folder.path().join("a/b/c/d");
        fs::create_dir_all(&bin).unwrap();
        let built = Path::new(env!("CARGO_BIN_EXE_zeitnot"));
        let executable = bin.join(built.file_name().unwrap());
        if fs::hard_link(built, &executable).is_err() {
            fs::copy(built, &executable).unwrap();
        }
        Island { folder, executable }
    }

    fn engine(&self) -> Uci {
        Uci::spawn(lonely(&self.executable, self.folder.path()))
    }

    fn write(&self, name: &str, content: &[u8]) -> String {
        let path = self.folder.path().join(name);
        fs::write(&path, content).unwrap();
        path.display().to_string()
    }
}

/// The library of ONNX Runtime, installed if it must be.
fn onnx_runtime() -> String {
    runtime::ensure_installed(&|line| eprintln!("{line}")).unwrap().path.display().to_string()
}

fn set(engine: &mut Uci, option: &str, value: &str) {
    engine.send(&format!("setoption name {option} value {value}"));
}

#[test]
fn alone_it_plays_with_the_network_inside_it() {
    let island = Island::new();
    let mut engine = island.engine();
    let greeting = engine.ask("uci", "uciok");
    assert!(errors(&greeting).is_empty(), "{greeting:?}");
    let news = engine.reply();
    assert!(errors(&news).is_empty() && news.iter().any(|line| line.contains("native, zeitnot-small")), "{news:?}");
    engine.plays();
    engine.quit();
}

#[test]
fn no_network_and_then_everything() {
    let island = Island::new();
    let mut engine = island.engine();
    set(&mut engine, "WeightsFile", "no/such/file");
    // A match must go on all the same, with the network that is always there; and it is said.
    let lines = engine.reply();
    let [error] = errors(&lines)[..] else { panic!("{lines:?}") };
    assert!(error.contains("cannot read the network file no/such/file"), "{lines:?}");
    let substitute = lines.iter().find(|line| line.contains("playing on with native, zeitnot-small"));
    assert!(substitute.is_some_and(|line| line.ends_with("; in place of what WeightsFile names")), "{lines:?}");
    for go in ["go nodes 10", "go wtime 1000 btime 1000"] {
        let answer = engine.search("startpos moves e2e4", go);
        assert!(errors(&answer.lines).is_empty(), "it is told once: {go}: {:?}", answer.lines);
        assert!(answer.number("nodes") >= 10, "{go}: {:?}", answer.lines);
    }
    let network = island.write("good.pb.gz", &random_network(1, 1, 8));
    set(&mut engine, "WeightsFile", &network);
    // The backend that runs residual networks on a CPU needs nothing else.
    let news = engine.reply();
    assert!(errors(&news).is_empty() && news.iter().any(|line| line.contains("native, good")), "{news:?}");
    engine.plays();
    set(&mut engine, "Backend", "onnxruntime");
    let lines = engine.reply();
    let [error] = errors(&lines)[..] else { panic!("{lines:?}") };
    assert!(error.contains("ONNX Runtime was not found") && error.contains("zeitnot runtime install"), "{lines:?}");
    // The network that was asked for runs on the CPU, too.
    assert!(lines.iter().any(|line| line.contains("playing on with native, good")), "{lines:?}");
    assert!(errors(&engine.reply()).is_empty(), "it is told once");
    set(&mut engine, "OnnxRuntime", &onnx_runtime());
    let news = engine.reply();
    assert!(errors(&news).is_empty() && news.iter().any(|line| line.contains("good")), "{news:?}");
    engine.plays();
    engine.quit();
}

#[test]
fn a_substitute_reads_the_network_as_it_was_to_be_read() {
    let island = Island::new();
    let library = onnx_runtime();
    let network = Network::from_bytes(&random_network(1, 1, 8), "tiny.pb.gz").unwrap();
    let model = network.onnx(&Conversion::default()).unwrap().bytes;
    let path = island.write("own.onnx", &with_renamed_ends(&model, |name| name.replace('/', "_")));
    let mut engine = island.engine();
    set(&mut engine, "OnnxRuntime", &library);
    set(&mut engine, "WeightsFile", &path);
    // The library for the CPU has no CUDA.
    set(&mut engine, "Backend", "cuda");
    let names = "input_planes=_input_planes,output_policy=_output_policy,output_wdl=_output_wdl";
    set(&mut engine, "BackendOptions", &format!("gpu=0,{names}"));
    let lines = engine.reply();
    let [error] = errors(&lines)[..] else { panic!("{lines:?}") };
    assert!(!error.contains("own.onnx"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("playing on with onnxruntime cpu, own")), "{lines:?}");
    // Without its names it cannot be read.
    set(&mut engine, "BackendOptions", "");
    let lines = engine.reply();
    let [error] = errors(&lines)[..] else { panic!("{lines:?}") };
    assert!(error.contains("no input /input/planes") && error.contains("_input_planes"), "{lines:?}");
    engine.plays();
    engine.quit();
}

#[test]
fn a_network_beside_the_engine_is_found() {
    let island = Island::new();
    let models = island.folder.path().join("a/b/c/d/models");
    fs::create_dir(&models).unwrap();
    fs::write(models.join("beside.pb.gz"), random_network(1, 1, 8)).unwrap();
    let mut engine = island.engine();
    set(&mut engine, "OnnxRuntime", &onnx_runtime());
    let news = engine.reply();
    assert!(errors(&news).is_empty() && news.iter().any(|line| line.contains("beside")), "{news:?}");
    engine.plays();
}

#[test]
fn strict_ends_where_others_play_on() {
    let island = Island::new();
    for (given, option) in [(true, ""), (false, "setoption name Strict value true\n")] {
        let mut command = lonely(&island.executable, island.folder.path());
        command.args(["--weights=no/such/net.pb.gz"]).args(given.then_some("--strict"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let said = format!("{option}uci\nisready\ngo nodes 1\n");
        child.stdin.take().unwrap().write_all(said.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let (lines, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{lines}");
        assert!(lines.contains("info string ERROR: ") && !lines.contains("readyok"), "{lines}");
        assert!(errors.contains("net.pb.gz") && errors.contains("option Strict"), "{errors}");
    }
}

#[test]
fn a_substitute_is_told_on_standard_error() {
    let island = Island::new();
    let mut command = lonely(&island.executable, island.folder.path());
    command.args(["--weights=no/such/net.pb.gz"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"isready\nquit\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = errors.lines().collect();
    assert!(output.status.success() && lines.len() == 3, "{errors}");
    assert!(lines[0].starts_with("Zeitnot ") && lines[1].starts_with("ERROR: "), "{errors}");
    assert!(lines[2].starts_with("playing on with "), "{errors}");
}

#[test]
fn a_bad_network_leaves_the_good_one_in_use() {
    let island = Island::new();
    let good = random_network(1, 1, 8);
    let network = island.write("good.pb.gz", &good);
    let mut engine = island.engine();
    set(&mut engine, "OnnxRuntime", &onnx_runtime());
    set(&mut engine, "WeightsFile", &network);
    assert!(errors(&engine.reply()).is_empty());
    let folder = island.folder.path().display().to_string();
    let mut flipped = good.clone();
    flipped[good.len() / 2] ^= 0xff;
    for (name, content) in [
        ("missing", None),
        ("empty", Some(&b""[..])),
        ("short", Some(&good[..10])),
        ("truncated", Some(&good[..good.len() / 2])),
        ("flipped", Some(&flipped[..])),
        ("text", Some(b"this is no network")),
        ("gzip_of_nothing", Some(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00")),
        ("gzip_start", Some(b"\x1f\x8b")),
        ("onnx_start", Some(b"\x08\x07")),
        ("magic_alone", Some(b"\x0d\xc0\x01\x00\x00")),
    ] {
        let path = match content {
            Some(content) => island.write(name, content),
            None => format!("{folder}/{name}"),
        };
        set(&mut engine, "WeightsFile", &path);
        let lines = engine.reply();
        assert!(errors(&lines).len() == 1 && errors(&lines)[0].contains(name), "{name}: {lines:?}");
        assert!(lines.iter().any(|line| line.contains("playing on with") && line.contains("good")), "{lines:?}");
        let answer = engine.search("startpos", "go nodes 20");
        assert_eq!(answer.number("nodes"), 20, "{name}: {:?}", answer.lines);
        assert!(errors(&answer.lines).is_empty(), "it is told once: {name}: {:?}", answer.lines);
    }
    // A file that changes is tried again.
    let path = island.write("mended", &good[..good.len() / 2]);
    set(&mut engine, "WeightsFile", &path);
    assert_eq!(errors(&engine.reply()).len(), 1);
    island.write("mended", &good);
    let lines = engine.reply();
    assert!(errors(&lines).is_empty() && lines.iter().any(|line| line.contains("mended")), "{lines:?}");
    set(&mut engine, "WeightsFile", &folder);
    assert_eq!(errors(&engine.reply()).len(), 1, "a folder is no network");
    set(&mut engine, "WeightsFile", &network);
    assert!(errors(&engine.reply()).is_empty());
    engine.plays();
    engine.quit();
}

#[test]
fn a_library_that_is_none_can_be_corrected() {
    let island = Island::new();
    let network = island.write("good.pb.gz", &random_network(1, 1, 8));
    let mut engine = island.engine();
    set(&mut engine, "WeightsFile", &network);
    let mut wrong = vec![
        island.write("text.so", b"no library"),
        island.write("empty.so", b""),
        island.folder.path().join("missing.so").display().to_string(),
        island.folder.path().display().to_string(),
    ];
    wrong.extend(some_other_library());
    for path in wrong {
        set(&mut engine, "OnnxRuntime", &path);
        let lines = engine.reply();
        assert!(errors(&lines).len() == 1 && errors(&lines)[0].contains(&path), "{path}: {lines:?}");
    }
    set(&mut engine, "OnnxRuntime", &onnx_runtime());
    assert!(errors(&engine.reply()).is_empty());
    engine.plays();
    // A process keeps its library: another one is refused, and the engine plays on.
    set(&mut engine, "OnnxRuntime", "elsewhere.so");
    assert_eq!(errors(&engine.reply()).len(), 1);
    let answer = engine.search("startpos", "go nodes 20");
    assert_eq!(answer.number("nodes"), 20);
    engine.quit();
}

/// A library that is not ONNX Runtime: the one of C, which this process has loaded.
fn some_other_library() -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    let path = maps.lines().filter_map(|line| line.split_whitespace().nth(5)).find(|path| path.contains("libc.so"))?;
    Some(path.to_owned())
}

/// Evaluations that take their time let workers meet on the same leaves. Visits that came to nothing once stayed in the
/// tree, and a node limit was never reached.
#[test]
fn workers_that_meet_count_to_the_last_node() {
    let folder = tempfile::tempdir().unwrap();
    let network = folder.path().join("slow.pb.gz");
    fs::write(&network, random_network(1, 4, 32)).unwrap();
    let weights = format!("--weights={}", network.display());
    let library = format!("--onnxruntime={}", onnx_runtime());
    for (threads, size) in [(1, 16), (2, 1), (4, 1), (4, 4)] {
        let options = [format!("--threads={threads}"), format!("--minibatch-size={size}")];
        let fixed =
            [weights.clone(), library.clone(), "--smart-pruning-factor=0".into(), "--verbose-move-stats".into()];
        let mut engine = Uci::ready_with(&[&options[..], &fixed].concat());
        for _ in 0..3 {
            engine.send("ucinewgame");
            let answer = engine.search("startpos", "go nodes 200");
            assert_eq!(answer.number("nodes"), 200, "{options:?}");
            for line in answer.move_stats() {
                assert!(threads > 1 || line.contains(" (+ 0) "), "{line}");
            }
        }
        engine.quit();
    }
}

#[test]
fn a_network_speaks_and_is_exchanged() {
    let folder = tempfile::tempdir().unwrap();
    let mut engine = Uci::start(&[format!("--onnxruntime={}", onnx_runtime()), "--show-wdl=true".into()]);
    let mut answers = Vec::new();
    for seed in [1, 2, 1] {
        let path = folder.path().join(format!("net {seed}.pb.gz"));
        fs::write(&path, random_network(seed, 1, 8)).unwrap();
        set(&mut engine, "WeightsFile", &path.display().to_string());
        let answer = engine.search("startpos", "go nodes 1");
        assert!(errors(&answer.lines).is_empty(), "{:?}", answer.lines);
        answers.push(
            answer.infos().last().unwrap().split(" wdl ").nth(1).unwrap().split(" pv ").next().unwrap().to_owned(),
        );
    }
    let wdl = |text: &String| text.split(' ').take(3).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(wdl(&answers[0]), wdl(&answers[2]));
    assert_ne!(wdl(&answers[0]), wdl(&answers[1]), "another network, another opinion");
    engine.quit();
}
