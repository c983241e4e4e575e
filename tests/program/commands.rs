//! The commands around networks and measurements: what they print for people and for machines, and what they leave
//! behind.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use assert_cmd::Command;
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::Path;
use tempfile::TempDir;
use zeitnot_engine::network::testing::{random_network, with_renamed_ends};
use zeitnot_engine::network::{Conversion, Network};

/// The binary, in a folder of its own that is also the user's home.
fn zeitnot(folder: &TempDir) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder.path()).env_remove("RUST_LOG").timeout(std::time::Duration::from_secs(300));
    // Where Linux keeps a user's data; the cache, with ONNX Runtime in it, stays the user's.
    command.env("XDG_DATA_HOME", folder.path().join("data"));
    for proxy in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"] {
        command.env_remove(proxy);
    }
    command
}

/// A folder with the random network `tiny.pb.gz` in it.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("tiny.pb.gz"), random_network(1, 1, 8)).unwrap();
    folder
}

/// The output of the command; it must succeed.
fn text(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

fn json(command: &mut Command) -> Value {
    let text = text(command);
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Fails with the exit code 1, prints nothing, and says why in one line that names each of `parts`.
fn fails(command: &mut Command, parts: &[&str]) {
    let assert = command.assert().code(1).stdout("");
    let text = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
    assert!(text.lines().count() == 1 && text.starts_with("zeitnot: "), "{text}");
    for part in parts {
        assert!(text.contains(part), "without {part:?}: {text}");
    }
}

#[test]
fn wrong_command_lines_exit_with_2() {
    let folder = folder();
    for wrong in [
        &["net"][..],
        &["net", "convert"],
        &["net", "convert", "x", "--opset=3"],
        &["net", "convert", "x", "--precision=int4"],
        &["net", "convert", "x", "--batch=0"],
        &["net", "convert", "x", "--batch=1025"],
        &["net", "fetch"],
        &["backendbench", "--batch-sizes=0"],
        &["backendbench", "--seconds=0"],
        &["benchmark", "--positions=99"],
        &["benchmark", "--seconds=soon"],
        &["completions", "csh"],
    ] {
        zeitnot(&folder).args(wrong).assert().code(2).stdout("");
    }
}

#[test]
fn a_damaged_network_that_nobody_named_is_passed_over() {
    let folder = folder();
    let whole = fs::read(folder.path().join("tiny.pb.gz")).unwrap();
    let models = folder.path().join("models");
    fs::create_dir(&models).unwrap();
    fs::write(models.join("cut.pb.gz"), &whole[..whole.len() / 2]).unwrap();
    // In the working folder it does not play unasked.
    let fetched = folder.path().join("data/zeitnot/networks");
    fs::create_dir_all(&fetched).unwrap();
    fs::rename(folder.path().join("tiny.pb.gz"), fetched.join("tiny.pb.gz")).unwrap();
    let taken = |name: &str| {
        let mut command = zeitnot(&folder);
        command.args(["eval", "--backend=native", "--fen=startpos"]);
        let stderr = command.assert().success().get_output().stderr.clone();
        let said = String::from_utf8(stderr).unwrap();
        assert!(said.contains("cut.pb.gz") && said.contains("it is passed over"), "{said}");
        let mut command = zeitnot(&folder);
        let described = text(command.args(["net", "describe"]));
        assert!(described.contains(name), "{described}");
    };
    taken("tiny.pb.gz: ");
    fs::rename(fetched.join("tiny.pb.gz"), folder.path().join("tiny.pb.gz")).unwrap();
    taken("zeitnot-small (built in): ");
    let mut named = zeitnot(&folder);
    named.args(["eval", "--weights=models/cut.pb.gz"]).assert().code(1).stderr(predicates::str::contains("cut.pb.gz"));
}

#[test]
fn networks_are_described() {
    let folder = folder();
    let line = text(zeitnot(&folder).args(["net", "describe", "tiny.pb.gz"]));
    assert!(line.starts_with("SE 1x8, relu, policy convolution, value WDL") && line.lines().count() == 1, "{line}");
    fs::create_dir(folder.path().join("models")).unwrap();
    fs::copy(folder.path().join("tiny.pb.gz"), folder.path().join("models/tiny.pb.gz")).unwrap();
    let own = text(zeitnot(&folder).args(["net", "describe"]));
    assert!(own.contains("tiny.pb.gz: ") && own.ends_with(&line), "the one the engine would take, by name: {own}");
    let object = json(zeitnot(&folder).args(["net", "describe", "--json", "tiny.pb.gz"]));
    let length = fs::metadata(folder.path().join("tiny.pb.gz")).unwrap().len();
    assert_eq!((&object["file"], &object["bytes"]), (&"tiny.pb.gz".into(), &length.into()), "{object}");
    assert_eq!(object["text"], line.trim());
    for (field, value) in
        [("architecture", "residual"), ("policy", "convolution"), ("value", "WDL"), ("input", "classical")]
    {
        assert_eq!(object[field], value, "{object}");
    }
    assert_eq!((&object["blocks"], &object["filters"], &object["moves_left"]), (&1.into(), &8.into(), &true.into()));
    let object = json(zeitnot(&folder).args(["net", "describe", "--json", "zeitnot-small"]));
    assert!(object["file"].is_null() && object["bytes"].as_u64().is_some_and(|bytes| bytes > 1_000_000), "{object}");
    let converted = text(zeitnot(&folder).args(["net", "convert", "zeitnot-small"]));
    assert!(converted.starts_with("zeitnot-small.onnx: ") && converted.contains("SE 6x64"), "{converted}");
    // What is no network is named; the others are described all the same.
    fs::write(folder.path().join("text.pb.gz"), "hello").unwrap();
    let output = zeitnot(&folder).args(["net", "describe", "text.pb.gz", "tiny.pb.gz", "none"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("tiny.pb.gz: {line}"));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.lines().count() == 2 && errors.contains("text.pb.gz") && errors.contains("none"), "{errors}");
}

#[test]
fn a_conversion_gives_the_same_evaluations() {
    let folder = folder();
    let line = text(zeitnot(&folder).args(["net", "convert", "tiny.pb.gz"]));
    assert!(line.starts_with("tiny.onnx: ") && line.contains("float32, opset 17, any batch; SE 1x8"), "{line}");
    // A model is used as it is: nothing is claimed that was not done.
    let line = text(zeitnot(&folder).args(["net", "convert", "tiny.onnx", "--output=copy.onnx"]));
    assert!(line.starts_with("copy.onnx: ") && line.contains("as it came; ONNX") && !line.contains("opset"), "{line}");
    let half = ["net", "convert", "tiny.onnx", "--output=half.onnx", "--precision=float16"];
    fails(zeitnot(&folder).args(half), &["tiny.onnx", "came as ONNX", "float16"]);
    fs::remove_file(folder.path().join("copy.onnx")).unwrap();
    let onto_itself = ["net", "convert", "tiny.pb.gz", "--output=./tiny.pb.gz", "--force"];
    fails(zeitnot(&folder).args(onto_itself), &["tiny.pb.gz", "is the network itself"]);
    let evaluation =
        |weights: &str| json(zeitnot(&folder).args(["eval", "--backend=onnxruntime", "--weights", weights]));
    assert_eq!(evaluation("tiny.onnx"), evaluation("tiny.pb.gz"));
    // Nothing is replaced unasked, nothing half-made is left.
    let before = fs::read(folder.path().join("tiny.onnx")).unwrap();
    fs::write(folder.path().join("other.pb.gz"), random_network(2, 1, 8)).unwrap();
    let arguments = ["net", "convert", "other.pb.gz", "--output=tiny.onnx"];
    fails(zeitnot(&folder).args(arguments), &["tiny.onnx exists", "--force"]);
    assert_eq!(fs::read(folder.path().join("tiny.onnx")).unwrap(), before);
    text(zeitnot(&folder).args(arguments).arg("--force"));
    assert_ne!(fs::read(folder.path().join("tiny.onnx")).unwrap(), before);
    fs::create_dir(folder.path().join("models")).unwrap();
    let onto_folder = ["net", "convert", "tiny.pb.gz", "--force", "-o=models/"];
    fails(zeitnot(&folder).args(onto_folder), &["models/ is a folder"]);
    fs::remove_dir(folder.path().join("models")).unwrap();
    let nowhere = Path::new("no").join("folder").join("x.onnx");
    fails(zeitnot(&folder).args(["net", "convert", "tiny.pb.gz", "-o"]).arg(&nowhere), &["cannot write", "x.onnx"]);
    fails(zeitnot(&folder).args(["net", "convert", "none.pb.gz"]), &["none.pb.gz"]);
    fails(zeitnot(&folder).args(["net", "convert", "tiny.pb.gz", "-o=x.onnx", "--policy-head=wild"]), &["wild"]);
    let mut names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["other.pb.gz", "tiny.onnx", "tiny.pb.gz"]);
}

/// Every command that reads a network takes the names of its inputs and outputs, and its input format.
#[test]
fn a_model_with_names_of_its_own_runs_in_every_command() {
    let folder = folder();
    let network = Network::load(&folder.path().join("tiny.pb.gz")).unwrap();
    let model = network.onnx(&Conversion::default()).unwrap().bytes;
    fs::write(folder.path().join("own.onnx"), with_renamed_ends(&model, |name| name.replace('/', "_"))).unwrap();
    let names = "input_planes=_input_planes,output_policy=_output_policy,output_wdl=_output_wdl,output_mlh=_output_mlh";
    let wrong = names.replace("=_output_policy", "=_output_wdl");
    let wrong_size = ["own.onnx", "_output_wdl does not have the sizes"];
    let commands: [&[&str]; 6] = [
        &["eval", "--backend=onnxruntime", "--weights=own.onnx"],
        &["doctor", "--json", "--backend=onnxruntime", "--weights=own.onnx"],
        &["net", "fetch", "--prepare", "--backend=onnxruntime", "--weights=own.onnx"],
        &["net", "describe", "own.onnx"],
        &["net", "convert", "own.onnx", "--output=copy.onnx", "--force"],
        &[
            "backendbench",
            "--backend=ort",
            "--versus=bare",
            "--weights=own.onnx",
            "--seconds=0.05",
            "--batch-sizes=1",
            "--json",
        ],
    ];
    for arguments in commands {
        let told = |options: &str| {
            let mut command = zeitnot(&folder);
            command.args(arguments).arg(format!("--backend-opts={options}"));
            command
        };
        if arguments[0] == "doctor" {
            let report = json(&mut told(names));
            let found = report["checks"].as_array().unwrap().iter().find(|check| check["name"] == "network").unwrap();
            assert!(found["finding"].as_str().unwrap().contains("own.onnx: ONNX model"), "{report}");
            continue;
        }
        told(names).assert().success();
        fails(&mut told(&wrong), &wrong_size);
        fails(
            zeitnot(&folder).args(arguments),
            &["no input /input/planes (input_planes names another)", "_input_planes"],
        );
    }
    let mut with = zeitnot(&folder);
    with.args(commands[0]).arg(format!("-o={names}"));
    assert_eq!(json(&mut with), json(zeitnot(&folder).args(["eval", "--backend=onnxruntime", "--weights=tiny.pb.gz"])));
    let to_lc0s = ["eval", "--weights=tiny.pb.gz", "-o=output_policy=p"];
    fails(zeitnot(&folder).args(to_lc0s), &["tiny.pb.gz", "in Lc0's own format", "output_policy is for ONNX models"]);
    fails(
        zeitnot(&folder).args(["net", "describe", "tiny.pb.gz", "--backend-opts=gpus=1"]),
        &["--backend-opts", "gpus"],
    );
}

#[test]
fn a_conversion_to_half_precision_is_half_the_size() {
    let folder = folder();
    let length = |precision: &str| {
        let output = format!("{precision}.onnx");
        let arguments = ["net", "convert", "tiny.pb.gz", "-o", &output, "--precision", precision, "--batch=3"];
        let line = text(zeitnot(&folder).args(arguments));
        assert!(line.contains(precision) && line.contains("batch 3"), "{line}");
        fs::metadata(folder.path().join(output)).unwrap().len() as f64
    };
    let whole = length("float32");
    for half in [length("float16"), length("bfloat16")] {
        assert!((0.5..0.6).contains(&(half / whole)), "{half} of {whole}");
    }
}

#[test]
fn a_model_does_not_choose_how_much_memory_a_run_takes() {
    let folder = folder();
    let network = Network::load(&folder.path().join("tiny.pb.gz")).unwrap();
    let conversion = Conversion { batch: Some(1 << 40), ..Conversion::default() };
    fs::write(folder.path().join("huge.onnx"), network.onnx(&conversion).unwrap().bytes).unwrap();
    fails(
        zeitnot(&folder).args(["backendbench", "--weights=huge.onnx", "--backend=onnxruntime"]),
        &["huge", "/input/planes", "a fixed batch of 1099511627776, more than 1024"],
    );
}

/// README.md shows a match: the words, and the columns that they stand in, are those of today.
#[test]
fn a_match_prints_what_the_readme_shows() {
    let readme = include_str!("../../README.md");
    let block = readme.split("```console\n$ zeitnot match --tc 10+0.1 --games 1 --fen startpos\n").nth(1).unwrap();
    let shown: Vec<&str> = block.split("```").next().unwrap().lines().filter(|line| *line != "...").collect();
    let [start, moves @ .., game, score, forfeits, file] = &shown[..] else { panic!("{shown:?}") };
    let flags = ["--tc=10+0.1", "--games=1", "--clock=virtual", "--nps=400", "--backend=random", "--max-moves=3"];
    let printed = text(zeitnot(&folder()).arg("match").args(flags));
    let printed: Vec<&str> = printed.lines().collect();
    let [first, mv, .., last_game, last_score, last_forfeits, last_file] = &printed[..] else { panic!("{printed:?}") };
    for (shown, printed) in [(start, first), (game, last_game), (score, last_score), (forfeits, last_forfeits)] {
        assert_eq!(words(shown), words(printed));
    }
    assert_eq!(file, last_file);
    assert!(moves.len() > 5, "{moves:?}");
    for shown in moves {
        assert_eq!(words(shown), words(mv), "{shown}");
    }
}

/// The words of a line with their places: neither numbers and moves, nor the reason behind a game's result.
fn words(line: &str) -> Vec<(usize, &str)> {
    let line = line.rsplit_once(" (").filter(|(_, reason)| reason.ends_with(')')).map_or(line, |(line, _)| line);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_alphabetic() || "():;,".contains(c));
    let (mut words, mut at) = (Vec::new(), 0);
    for word in line.split(' ') {
        if is_word(word) {
            words.push((at, word));
        }
        at += word.len() + 1;
    }
    words
}

#[test]
fn what_runs_no_network_has_nothing_to_prepare() {
    let line = text(zeitnot(&folder()).args(["net", "fetch", "--prepare", "--backend=random"]));
    assert!(line.starts_with("nothing to prepare") && line.contains("random"), "{line}");
    let told = json(zeitnot(&folder()).args(["net", "fetch", "--prepare", "--backend=random", "--json"]));
    assert_eq!(told, serde_json::json!({ "preparation": line.trim_end() }));
}

#[test]
fn the_catalogue_is_listed() {
    let folder = folder();
    let lines = text(zeitnot(&folder).args(["net", "list"]));
    assert!(lines.contains("BT4-it332") && lines.contains("maia-1900"), "{lines}");
    let entries = json(zeitnot(&folder).args(["net", "list", "--json"]));
    for entry in entries.as_array().unwrap() {
        assert!(entry["url"].as_str().unwrap().starts_with("https://"), "{entry}");
        assert!(entry["bytes"].as_u64().is_some() && entry["advice"].is_string(), "{entry}");
        assert!(entry["sha256"].is_null() || entry["sha256"].as_str().unwrap().len() == 64, "{entry}");
    }
}

/// A server on this machine that gives one file to whoever comes first.
fn serve(content: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/random.pb.gz", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let request = BufReader::new(&stream).lines().map(Result::unwrap);
        assert!(request.take_while(|line| !line.is_empty()).count() > 0);
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", content.len()).unwrap();
        stream.write_all(&content).unwrap();
    });
    url
}

#[cfg(target_os = "linux")]
#[test]
fn a_fetched_network_is_found_by_the_engine() {
    let folder = tempfile::tempdir().unwrap();
    let content = random_network(3, 1, 8);
    let fetched = text(zeitnot(&folder).args(["net", "fetch", &serve(content.clone())]));
    let path = folder.path().join("data/zeitnot/networks/random.pb.gz");
    assert_eq!(fs::read(&path).unwrap(), content);
    for part in ["fetched: ", &path.display().to_string(), "sha256: ", "SE 1x8"] {
        assert!(fetched.contains(part), "without {part}: {fetched}");
    }
    assert!(text(zeitnot(&folder).args(["eval", "--weights=random"])).contains("\"policy\""), "by its name");
    // It is there, and needs no server.
    let again = json(zeitnot(&folder).args(["net", "fetch", "--json", "http://127.0.0.1:9/random.pb.gz"]));
    assert_eq!((&again["was_there"], &again["verified"]), (&true.into(), &true.into()), "{again}");
}

#[test]
fn a_fetch_that_fails_is_one_line() {
    let folder = folder();
    fails(zeitnot(&folder).args(["eval", "--weights=T1-256"]), &["`zeitnot net fetch T1-256` downloads it"]);
    fails(zeitnot(&folder).args(["net", "fetch", "maja-1900"]), &["maja-1900", "net", "catalogue"]);
    fails(
        zeitnot(&folder).args(["net", "fetch", "ftp://example.org/a.pb.gz"]),
        &["ftp://example.org/a.pb.gz", "https"],
    );
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let nobody = format!("http://127.0.0.1:{port}/a.pb.gz");
    fails(zeitnot(&folder).args(["net", "fetch", &nobody]), &["cannot reach 127.0.0.1", "offline"]);
    fails(zeitnot(&folder).args(["net", "fetch", &serve(b"no network".to_vec())]), &["random.pb.gz", "not a network"]);
    assert!(!folder.path().join("data").exists(), "no folder is left behind");
}

/// Each number is there and positive.
fn check_numbers(object: &Value, keys: &[&str]) {
    for key in keys {
        assert!(object[key].as_f64().is_some_and(|number| number > 0.0), "{key}: {object}");
    }
}

#[test]
fn backendbench_compares_with_the_bare_runtime() {
    let folder = folder();
    let mut command = zeitnot(&folder);
    command.args([
        "backendbench",
        "--weights=tiny.pb.gz",
        "--backend=ort",
        "--versus=BARE",
        "--seconds=0.05",
        "--json",
    ]);
    let rows = json(command.arg("--batch-sizes=1,16"));
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.iter().map(|row| row["batch"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 16]);
    for row in rows {
        check_numbers(
            row,
            &["evals_per_s", "evals_per_cpu_s", "versus_evals_per_s", "versus_evals_per_cpu_s", "ratio"],
        );
        check_numbers(row, &["mean_evals_per_s", "p95_evals_per_s", "latency_p50_ms", "latency_p95_ms", "batches"]);
        let ratio = row["evals_per_s"].as_f64().unwrap() / row["versus_evals_per_s"].as_f64().unwrap();
        assert!((ratio / row["ratio"].as_f64().unwrap() - 1.0).abs() < 1e-9, "{row}");
    }
}

#[test]
fn backendbench_prints_tables() {
    let folder = folder();
    let bench = |arguments: &[&str]| {
        let mut command = zeitnot(&folder);
        text(command.args(["backendbench", "--backend=random", "--seconds=0.01"]).args(arguments))
    };
    let table = bench(&["--batch-sizes=1,4", "--versus=uniform", "--threads=2"]);
    assert!(table.contains("2 threads") && table.contains("versus uniform"), "{table}");
    assert_eq!(table.lines().filter(|line| line.contains(" | ")).count(), 3, "{table}");
    assert!(table.lines().last().unwrap().starts_with("best batch: "), "{table}");
    assert!(!table.contains(" W, "), "no card, no word of it: {table}");
    let alone = bench(&["--batch-sizes=2", "--json"]);
    let alone: Value = serde_json::from_str(&alone).unwrap();
    assert!(alone[0]["ratio"].is_null() && alone[0]["versus_evals_per_s"].is_null(), "{alone}");
    assert_eq!(alone[0]["kind"], "batch-speed");
    assert!(alone[0]["cards"].is_null() && alone[0]["threads"] == 1 && alone[0]["version"].is_string(), "{alone}");
    let rising: Value = serde_json::from_str(&bench(&["--json", "--svg=speed.svg"])).unwrap();
    let sizes: Vec<u64> = rising.as_array().unwrap().iter().map(|row| row["batch"].as_u64().unwrap()).collect();
    assert!(sizes.len() >= 3 && sizes.iter().zip(0..).all(|(size, power)| *size == 1 << power), "{sizes:?}");
    assert!(*sizes.last().unwrap() <= 256, "{sizes:?}");
    let svg = fs::read_to_string(folder.path().join("speed.svg")).unwrap();
    assert!(svg.starts_with("<svg ") && svg.contains(", 1 thread<") && svg.contains(">evaluations a second<"), "{svg}");
    fails(
        zeitnot(&folder).args(["backendbench", "--backend=random", "--svg=nowhere/speed.svg"]),
        &["--svg", "nowhere"],
    );
    fails(
        zeitnot(&folder).args(["backendbench", "--backend=random", "--versus=gpu9000", "--json", "--seconds=0.01"]),
        &["gpu9000", "bare"],
    );
    fails(
        zeitnot(&folder).args(["backendbench", "--backend=random", "-o=devices=0,1", "--versus=bare", "--json"]),
        &["bare", "one device"],
    );
}

#[test]
fn bench_repeats_and_ends_as_openbench_reads_it() {
    let folder = folder();
    let bench = |arguments: &[&str]| text(zeitnot(&folder).arg("bench").args(arguments));
    let nodes = |output: &str| {
        let last: Vec<&str> = output.lines().last().unwrap().split(' ').collect();
        assert!(last.len() == 4 && last[1] == "nodes" && last[3] == "nps", "{output}");
        assert!(last[2].parse::<u64>().unwrap() > 0, "{output}");
        last[0].parse::<u64>().unwrap()
    };
    let uniform = bench(&["--backend=uniform", "--depth=3"]);
    assert_eq!(uniform.lines().count(), 41, "{uniform}");
    let mut with_threads = zeitnot(&folder);
    with_threads.args(["bench", "--backend=uniform", "--depth=1", "--threads=2"]);
    with_threads.assert().success().stderr(predicates::str::contains("with Threads, --depth given"));
    let again = bench(&["--backend=uniform", "--depth=3"]);
    assert_eq!(nodes(&uniform), nodes(&again));
    let tiny = |depth| nodes(&bench(&["--weights=tiny.pb.gz", "--backend=native", depth]));
    assert_eq!(tiny("--depth=2"), tiny("--depth=2"));
    assert!(tiny("--depth=2") < tiny("--depth=3"));
    // The network that lies here is not the one that the signature is of.
    let own = |arguments: &[&str]| nodes(&bench(&[&["--backend=native", "--depth=2"], arguments].concat()));
    assert_eq!(own(&[]), own(&["--weights=zeitnot-small"]));
    assert_ne!(own(&[]), own(&["--weights=tiny.pb.gz"]));
    let result = json(zeitnot(&folder).args(["bench", "--backend=uniform", "--depth=3", "--json"]));
    assert_eq!(result["nodes"], nodes(&uniform));
    assert_eq!(result["positions"].as_array().unwrap().len(), 40);
}

#[test]
fn genfens_gives_openbench_positions_to_play_from() {
    let folder = folder();
    let fens = |arguments: &[&str]| -> Vec<String> {
        let text = text(zeitnot(&folder).args(arguments));
        text.lines().map(|line| line.strip_prefix("info string genfens ").unwrap().to_owned()).collect()
    };
    let asked = fens(&["genfens 6 seed 1 book None", "quit"]);
    assert_eq!(asked, fens(&["genfens", "6", "seed", "1", "book", "None"]));
    assert_ne!(asked, fens(&["genfens 6 seed 2 book None", "quit"]));
    assert_eq!(asked.len(), 6);
    for (index, fen) in asked.iter().enumerate() {
        assert!(!zeitnot_engine::chess::Game::from_fen(fen, false).unwrap().current().legal_moves().is_empty());
        assert!(fen.ends_with(" 5") && fen.contains([" w ", " b "][index % 2]), "{fen}");
    }
    // The eighth position of this seed had a mate in one, and hangs pieces to a network that searches nothing.
    for fen in fens(&["genfens 10 seed 1 book None", "quit"]) {
        let game = zeitnot_engine::chess::Game::from_fen(&fen, false).unwrap();
        let mates = |mv: zeitnot_engine::chess::Move| game.san(mv).ends_with('#');
        assert!(!game.current().legal_moves().into_iter().any(mates), "{fen}");
    }
    // Whatever network is to be trained with them.
    assert_eq!(asked, fens(&["genfens", "6", "seed", "1", "book", "None", "--weights", "tiny.pb.gz"]));
    fs::write(folder.path().join("book.epd"), "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n").unwrap();
    assert_eq!(fens(&["genfens 2 seed 1 book book.epd", "quit"]).len(), 2);
    // Whatever is played here, White wins.
    fs::write(folder.path().join("won.epd"), "6k1/5ppp/8/8/8/8/QQQQ4/K7 w - -\n").unwrap();
    fails(zeitnot(&folder).args(["genfens 1 seed 1 book won.epd", "quit"]), &["none was undecided"]);
    fails(zeitnot(&folder).args(["genfens 1 seed 1", "quit"]), &["N seed S book"]);
    fails(zeitnot(&folder).args(["genfens 1 seed 1 book no.epd", "quit"]), &["no.epd"]);
}

#[test]
fn benchmark_measures_and_recommends() {
    let folder = folder();
    let mut command = zeitnot(&folder);
    let result = json(command.args([
        "benchmark",
        "--weights=tiny.pb.gz",
        "--backend=onnxruntime",
        "--seconds=0.5",
        "--positions=2",
        "--json",
    ]));
    let measured = &result["measured"];
    check_numbers(
        measured,
        &["visits_per_s", "evals_per_s", "mean_batch", "batch_fill", "first_evaluation_ms", "seconds"],
    );
    check_numbers(&measured["batch_latency_ms"], &["mean", "p50", "p95", "p99"]);
    assert!(measured["cache_hit_share"].as_f64().is_some_and(|share| (0.0..1.0).contains(&share)), "{measured}");
    assert!(result["device"].as_str().unwrap().contains("ONNX Runtime"), "{result}");
    assert!(result["runtime"]["version"].is_string() && result["machine"]["cores"].as_u64().unwrap() > 0, "{result}");
    let grid = result["grid"].as_array().unwrap();
    assert!(grid.len() >= 4, "{result}");
    let recommended = &result["recommended"];
    let of =
        |setting: &Value| (setting["threads"].clone(), setting["minibatch_size"].clone(), setting["backend"].clone());
    let choice = (recommended["Threads"].clone(), recommended["MinibatchSize"].clone(), recommended["Backend"].clone());
    assert!(grid.iter().any(|setting| of(setting) == choice), "{result}");
}

#[test]
fn other_backends_are_compared_but_never_installed() {
    let folder = folder();
    let cache = folder.path().join("cache");
    let result = json(zeitnot(&folder).env("XDG_CACHE_HOME", &cache).env_remove("ORT_DYLIB_PATH").args([
        "benchmark",
        "--no-install",
        "--weights=tiny.pb.gz",
        "--threads=1",
        "--minibatch-size=1",
        "--positions=1",
        "--seconds=0.02",
        "--json",
    ]));
    assert!(result["backend"].as_str().unwrap().starts_with("native"), "{result}");
    let reason = result["unavailable"].as_array().unwrap().iter().find(|other| other["backend"] == "onnxruntime");
    let reason = reason.unwrap_or_else(|| panic!("{result}"))["reason"].as_str().unwrap();
    assert!(reason.contains("zeitnot runtime install"), "{reason}");
    assert!(!cache.join("zeitnot/runtime").exists());
}

#[test]
fn benchmark_prints_tables() {
    let folder = folder();
    let bench = |arguments: &[&str]| {
        let mut command = zeitnot(&folder);
        text(command.args(["benchmark", "--backend=random", "--seconds=0.02", "--positions=1"]).args(arguments))
    };
    let table = bench(&["--threads=1"]);
    for part in ["machine: ", "visits/s", "cache hits: ", "p99", "recommended: Threads 1, MinibatchSize "] {
        assert!(table.contains(part), "without {part}: {table}");
    }
    let rows = bench(&["--minibatch-size=4"]);
    let rows: Vec<&str> = rows.lines().filter(|line| line.starts_with("random ")).collect();
    assert!(rows.len() >= 2 && rows.iter().all(|row| row.split_whitespace().nth(2) == Some("4")), "{rows:?}");
    assert!(!bench(&["--no-grid"]).contains("evals/s  cache"));
}

#[test]
fn benchmarks_are_shared_and_drawn() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let bench = |arguments: &[&str]| {
        let mut command = zeitnot(&folder);
        text(command.arg("benchmark").args(arguments))
    };
    let options = ["--backend=random", "--seconds=0.02", "--positions=1", "--minibatch-size=4", "--json"];
    let first = bench(&[&options[..], &["--threads=1", "--svg=one.svg"]].concat());
    fs::write(path("first.json"), &first).unwrap();
    let record: Value = serde_json::from_str(&first).unwrap();
    assert!(
        record["version"].is_string() && record["network"].is_null() && record["measured"]["cards"].is_null(),
        "{record}"
    );
    assert_eq!((&record["devices"][0]["backend"], &record["recommended"]["Threads"]), (&"random".into(), &1.into()));
    assert_eq!(record["kind"], "benchmark");
    let svg = fs::read_to_string(path("one.svg")).unwrap();
    assert!(svg.contains(">1 thread<") && svg.contains(">positions in a batch<"), "{svg}");
    let shown = bench(&[&options[..4], &["--threads=1"]].concat());
    for part in ["machine: ", "recommended: Threads 1, ", "visits/s"] {
        assert!(shown.contains(part), "without {part}: {shown}");
    }
    fs::write(path("bad.json"), "{\"measured\": ").unwrap();
    fs::write(path("old.json"), first.replace("\"kind\":\"benchmark\",", "")).unwrap();
    fs::write(path("foreign.json"), "[{\"batch\": 1, \"evals_per_s\": 100.0}]").unwrap();
    for (name, why) in [
        ("bad.json", "EOF"),
        ("foreign.json", "no output of benchmark --json"),
        ("old.json", "make it again with benchmark --json"),
        ("none.json", "cannot read"),
    ] {
        let argument = format!("--like={name}");
        fails(zeitnot(&folder).args(["match", "--backend=random", "--clock=virtual", &argument]), &[name, why]);
    }
}

#[test]
fn shells_and_manuals() {
    let folder = folder();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = text(zeitnot(&folder).args(["completions", shell]));
        assert!(script.contains("backendbench") && script.contains("weights"), "{shell}");
        assert!(!script.contains("probe-provider"), "{shell} is told what only the program itself uses");
    }
    assert!(text(zeitnot(&folder).arg("man")).contains(".TH zeitnot 1"));
    text(zeitnot(&folder).args(["man", "--folder=pages"]));
    assert!(folder.path().join("pages").join("zeitnot-net-fetch.1").is_file());
}

/// All lines end before the depth, which pondering has to know when it begins.
#[test]
fn a_match_with_pondering_ends_at_a_depth_beyond_the_ends() {
    let folder = folder();
    fs::write(folder.path().join("ends.epd"), "8/5k2/8/8/8/2R5/1K6/8 w - - 90 80\n").unwrap();
    let flags = ["--ponder", "--depth=30", "--games=2", "--openings=ends.epd", "--json"];
    let options = ["--backend=random", "--threads=1", "--smart-pruning-factor=0"];
    let lines = text(zeitnot(&folder).arg("match").args(flags).args(options));
    assert!(lines.contains("\"draws\":2,"), "{lines}");
}
