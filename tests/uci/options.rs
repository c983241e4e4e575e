//! `setoption`, by the list that the engine itself gives.

use super::driver::{Uci, errors};
use zeitnot_time::DEFAULT_MANAGER;

/// An option as advertised: name, type and the rest of the line.
struct Advertised {
    name: String,
    kind: String,
    rest: String,
}

fn advertised(engine: &mut Uci) -> Vec<Advertised> {
    let lines = engine.ask("uci", "uciok");
    let options = lines.iter().filter_map(|line| line.strip_prefix("option name "));
    let parse = |line: &str| {
        let (name, rest) = line.split_once(" type ").unwrap();
        let (kind, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        Advertised { name: name.to_owned(), kind: kind.to_owned(), rest: rest.to_owned() }
    };
    options.map(parse).collect()
}

/// Numbers are strings to UCI, so their ends are not advertised; the error for a senseless value tells them.
fn ends(engine: &mut Uci, option: &Advertised) -> Option<Vec<String>> {
    if ["LogFile", "TreeFile"].contains(&option.name.as_str()) {
        // It would be written.
        return None;
    }
    let line = engine.tell_at_once(&format!("setoption name {} value none of these", option.name)).pop()?;
    let (_, range) = line.split_once(" number from ")?;
    Some(range.split(" to ").map(str::to_owned).collect())
}

#[test]
fn every_default_is_accepted() {
    let mut engine = Uci::ready_with(&["--backend=uniform", "--show-hidden"]);
    for option in advertised(&mut engine) {
        let Advertised { name, kind, rest } = option;
        assert!(["check", "spin", "combo", "string", "button"].contains(&&*kind), "{name}: {kind}");
        if kind == "button" {
            assert_eq!(engine.tell_at_once(&format!("setoption name {name}")), [""; 0]);
            continue;
        }
        let default = rest.strip_prefix("default ").unwrap();
        let end = [" min ", " var "].iter().filter_map(|key| default.find(key)).min().unwrap_or(default.len());
        let default = &default[..end];
        for name in [name.clone(), name.to_lowercase(), name.to_uppercase()] {
            let lines = engine.tell_at_once(&format!("setoption name {name} value {default}"));
            assert!(errors(&lines).is_empty(), "{name} {default}: {lines:?}");
        }
        if kind == "spin" {
            let words: Vec<&str> = rest.split(' ').collect();
            let number = |index: usize| words[index].parse::<i64>().unwrap();
            assert_eq!((words[0], words[2], words[4]), ("default", "min", "max"), "{name}");
            assert!((number(3)..=number(5)).contains(&number(1)), "{name}: {rest}");
        }
        if kind == "combo" {
            assert!(rest.split(" var ").skip(1).any(|word| word == default), "{name}: {rest}");
        }
    }
    engine.send("setoption name Backend value uniform");
    engine.plays();
    engine.quit();
}

/// The engine plays at both ends of every range.
#[test]
fn extremes_are_played_with() {
    let mut engine = Uci::ready_with(&["--backend=uniform", "--show-hidden"]);
    let mut tried = 0;
    for option in advertised(&mut engine) {
        let words: Vec<&str> = option.rest.split(' ').collect();
        let values: Vec<String> = match &*option.kind {
            "check" => vec!["true".into(), "false".into()],
            "spin" => vec![words[3].into(), words[5].into()],
            "combo" => option.rest.split(" var ").skip(1).map(str::to_owned).collect(),
            "string" => match ends(&mut engine, &option) {
                Some(ends) => ends,
                None => continue,
            },
            _ => continue,
        };
        for value in values {
            let mut engine = Uci::ready_with(&["--backend=random"]);
            engine.send(&format!("setoption name {} value {value}", option.name));
            for position in ["startpos", "startpos moves e2e4", "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"] {
                let answer = engine.search(position, "go nodes 300");
                assert!(errors(&answer.lines).is_empty(), "{} {value}: {:?}", option.name, answer.lines);
            }
            engine.quit();
            tried += 1;
        }
    }
    assert!(tried > 80, "{tried}");
}

#[test]
fn wrong_values_are_named_and_change_nothing() {
    let mut engine = Uci::uniform();
    for (option, value) in [
        ("Threads", "abc"),
        ("Threads", ""),
        ("Threads", "-1"),
        ("Threads", "129"),
        ("Threads", "1.5"),
        ("MultiPV", "0"),
        ("MultiPV", "99999999999999999999999"),
        ("CPuct", "nan"),
        ("CPuct", "inf"),
        ("CPuct", "-0.1"),
        ("CPuct", "1,5"),
        ("UCI_Chess960", "maybe"),
        ("UCI_Chess960", ""),
        ("ScoreType", "centipawns"),
        ("HistoryFill", "yes"),
    ] {
        engine.complains(&format!("setoption name {option} value {value}"), &[option, &format!("\"{value}\"")]);
    }
    engine.complains("setoption name No Such Thing value 1", &["\"No Such Thing\""]);
    engine.complains("setoption Threads 4", &["setoption", "\"Threads 4\""]);
    engine.complains("setoption", &["setoption"]);
    engine.complains("setoption name", &["setoption"]);
    engine.complains("setoption value 4", &["setoption"]);
    let answer = engine.search("startpos", "go nodes 100");
    assert!(answer.infos().all(|line| !line.contains("multipv")), "{:?}", answer.lines);
    engine.plays();
}

#[test]
fn lc0s_options_without_a_meaning_here_are_accepted() {
    let mut engine = Uci::uniform();
    for (option, value) in
        [("MaxPrefetch", "32"), ("ConfigFile", "/a b/c"), ("TaskWorkers", "-1"), ("StrictTiming", "true")]
    {
        let lines = engine.tell(&format!("setoption name {option} value {value}"));
        assert!(errors(&lines).is_empty(), "{lines:?}");
        let start = format!("info string option {option} has no effect: ");
        assert!(lines.len() == 1 && lines[0].starts_with(&start), "{lines:?}");
    }
    engine.plays();
}

#[test]
fn the_list_is_short_unless_all_is_asked_for() {
    let names = |flags: &[&str]| -> Vec<String> {
        let mut engine = Uci::start(&[&["--backend=uniform"], flags].concat());
        advertised(&mut engine).into_iter().map(|option| option.name).collect()
    };
    let short = names(&[]);
    assert!(short.len() <= 36, "{}: {short:?}", short.len());
    for name in ["WeightsFile", "Threads", "Hash", "Move Overhead", "Ponder", "MultiPV", "Strict", "ClearTree"] {
        assert_eq!(short.iter().filter(|known| *known == name).count(), 1, "{name}");
    }
    let all = names(&["--show-hidden"]);
    assert!(short.iter().all(|name| all.contains(name)) && all.len() > 90, "{}", all.len());
    for name in ["MoveOverheadMs", "CPuctBase"] {
        assert!(all.contains(&name.to_owned()) && !short.contains(&name.to_owned()), "{name}");
    }
}

#[test]
fn what_guis_tell_every_engine_passes_quietly() {
    let mut engine = Uci::uniform();
    for option in
        ["UCI_AnalyseMode value true", "UCI_Variant value chess", "Clear Hash", "UCI_Opponent value GM 2700 human X"]
    {
        assert_eq!(engine.tell(&format!("setoption name {option}")), [""; 0], "{option}");
    }
    for (variant, castling) in [
        ("standard", "e1g1"),
        ("Standard", "e1g1"),
        ("chess", "e1g1"),
        ("CHESS", "e1g1"),
        ("normal", "e1g1"),
        ("fischerandom", "e1h1"),
        ("chess960", "e1h1"),
        ("Chess960", "e1h1"),
        ("chess", "e1g1"),
        ("fischerandom", "e1h1"),
        ("standard", "e1g1"),
        // What the option has set stays, before the variant or after it.
        ("option true", "e1h1"),
        ("chess960", "e1h1"),
        ("chess", "e1h1"),
        ("option false", "e1g1"),
        ("chess960", "e1h1"),
        ("option true", "e1h1"),
        ("normal", "e1h1"),
        ("option false", "e1g1"),
    ] {
        let told = variant.strip_prefix("option ").map(|value| format!("UCI_Chess960 value {value}"));
        let told = told.unwrap_or_else(|| format!("UCI_Variant value {variant}"));
        assert_eq!(engine.tell(&format!("setoption name {told}")), [""; 0], "{variant}");
        engine.send("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1");
        let answer = engine.ask(&format!("go nodes 2 searchmoves {castling}"), "bestmove");
        assert!(answer.last().unwrap().starts_with(&format!("bestmove {castling}")), "{variant}: {answer:?}");
    }
    let other = engine.tell("setoption name UCI_Variant value atomic");
    assert_eq!(errors(&other).len(), 1, "a game that it does not play: {other:?}");
    // Polyglot's path where nobody named one.
    engine.send("setoption name SyzygyPath value /EGT/Syzygy");
    let lines = engine.ask("isready", "readyok");
    assert!(errors(&lines).is_empty(), "{lines:?}");
    engine.plays();
}

#[test]
fn other_spellings_of_the_overhead() {
    for (name, overhead) in [("Move Overhead", 33), ("moveoverheadms", 55)] {
        // A new one each: what it measures of a busy machine comes on top at the second move.
        let mut engine = Uci::ready_with(&["--backend=uniform", "--time-manager-log"]);
        assert!(engine.tell(&format!("setoption name {name} value {overhead}")).is_empty());
        let answer = engine.search("startpos", "go wtime 1000 btime 1000");
        let plan = answer.lines.iter().find(|line| line.starts_with("info string time ")).unwrap();
        assert!(plan.contains(&format!(" overhead={overhead}ms ")), "{plan}");
    }
}

#[test]
fn a_bad_time_manager_is_refused_with_what_there_is() {
    let mut engine = Uci::ready_with(&["--backend=uniform", "--time-manager-log"]);
    engine.send("setoption name TimeManager value smooth(init-nps=1234)");
    for (spec, part) in [
        ("nonsense", "smooth"),
        ("", "smooth"),
        ("smooth(", "offset 7"),
        ("smooth(extensio=1)", "extension"),
        ("smooth(init-nps=abc)", "init-nps"),
        ("smooth(init-nps=1),smooth", "time manager"),
        ("smooth(((((((((((", "offset"),
    ] {
        engine.complains(
            &format!("setoption name TimeManager value {spec}"),
            &["TimeManager", &format!("\"{spec}\""), part],
        );
        let answer = engine.search("startpos", "go wtime 300 btime 300");
        let plan = answer.lines.iter().find(|line| line.starts_with("info string time smooth(preset=pr1195): "));
        assert!(plan.is_some(), "{spec}: {:?}", answer.lines);
        engine.send("ucinewgame");
        let answer = engine.search("startpos", "go wtime 300 btime 300");
        assert!(answer.lines.iter().any(|line| line.contains(" nps=1234nps ")), "{spec}: {:?}", answer.lines);
    }
    engine.quit();
}

#[test]
fn what_a_move_took_is_told_on_request_and_statistics_by_who_keeps_them() {
    let mut engine = Uci::uniform();
    let told = |engine: &mut Uci, start: &str| {
        let answer = engine.search("startpos", "go wtime 400 btime 400");
        answer.lines.into_iter().filter(|line| line.starts_with(start)).collect::<Vec<_>>()
    };
    assert!(told(&mut engine, "info string Time ").is_empty());
    engine.send("setoption name TimeManagerLog value true");
    let lines = told(&mut engine, &format!("info string time {DEFAULT_MANAGER}: used="));
    assert!(lines.len() == 1 && lines[0].contains(" budget=") && lines[0].contains(" stopped by "), "{lines:?}");
    assert!(told(&mut engine, "info string Time ").is_empty(), "the manager keeps none");
    engine.send("setoption name TimeManagerLog value false");
    engine.send("setoption name TimeManager value adaptive");
    let lines = told(&mut engine, "info string Time ");
    let [stats, time_use] = &lines[..] else { panic!("{lines:?}") };
    assert!(stats.starts_with("info string Time Stats: Total=1, Success="), "{stats}");
    assert!(stats.ends_with(", Phase=Opening, Control=Bullet, Emergency=true"), "{stats}");
    assert!(time_use.starts_with("info string Time Use: Losses=") && time_use.contains("ms/1, Early"), "{time_use}");
    assert!(time_use.ends_with("ms/1, EarlyMiddlegame=0ms/0, LateMiddlegame=0ms/0, Endgame=0ms/0"), "{time_use}");
    engine.quit();
}

/// The page shows both lines of a move, with other numbers, and leaves terms of the first one out.
#[test]
fn the_lines_about_a_move_are_those_of_the_page() {
    let page = include_str!("../../crates/zeitnot-time/docs/README.md");
    let mut blocks = page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next());
    let block = blocks.find(|block| block.starts_with("info string time ")).unwrap();
    let block = masked(&block.replace("\n    ", " "));
    let (shown_plan, shown_account) = block.trim_end().split_once('\n').unwrap();
    let mut engine = Uci::uniform();
    engine.send("setoption name TimeManagerLog value true");
    let answer = engine.search("startpos moves e2e4 e7e5", "go wtime 10000 btime 10000 winc 100 binc 100");
    let lines = answer.lines.iter().filter(|line| line.starts_with("info string time "));
    let lines: Vec<String> = lines.map(|line| masked(line)).collect();
    let [plan, account] = &lines[..] else { panic!("{lines:?}") };
    let parts: Vec<&str> = shown_plan.split(" ... ").collect();
    assert!(parts.len() > 1 && plan.starts_with(parts[0]) && plan.ends_with(parts[parts.len() - 1]), "{plan}");
    let mut rest = plan.as_str();
    for part in parts {
        let at = rest.find(part).unwrap_or_else(|| panic!("{plan} has no {part} where the page has it"));
        rest = &rest[at + part.len()..];
    }
    // The reason is that of another search, and a look that a busy machine makes late is named as well.
    let known = |line: &str| line.split_once(" stopped by ").unwrap().0.replace(" due=#ms", "");
    assert_eq!(known(account), known(shown_account));
    engine.quit();
}

/// The text with every number as `#`.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    for c in text.chars() {
        if !c.is_ascii_digit() {
            masked.push(c);
        } else if !masked.ends_with('#') {
            masked.push('#');
        }
    }
    masked.replace("#.#", "#")
}

/// Panes of GUIs show every line: without the log there is a short one, whatever the manager.
#[test]
fn the_plan_of_a_move_is_one_short_line() {
    let mut engine = Uci::uniform();
    for spec in zeitnot_time::managers().iter().map(|manager| manager.name).chain(["smooth(preset=pr1195)"]) {
        engine.send(&format!("setoption name TimeManager value {spec}"));
        let answer = engine.search("startpos", "go wtime 100000 btime 100000 winc 1000 binc 1000 nodes 20");
        let lines: Vec<_> = answer.lines.iter().filter(|line| line.starts_with("info string time ")).collect();
        let [line] = lines[..] else { panic!("{spec}: {:?}", answer.lines) };
        assert!(line.len() < 120 && line.starts_with(&format!("info string time {spec}: clock=100000ms ")), "{line}");
        assert!(line.contains(" moves_left=") && line.contains(" budget=") && line.contains(" hard_limit="), "{line}");
    }
    engine.quit();
}

#[test]
fn what_was_learned_outlives_another_position_on_request() {
    for (keep, kept) in [("false", false), ("true", true)] {
        let mut engine = Uci::ready_with(&["--backend=uniform", "--time-manager-log"]);
        engine.send(&format!("setoption name KeepTimeStats value {keep}"));
        engine.send("setoption name TimeManager value smooth(init-nps=1234)");
        let estimate = |engine: &mut Uci, position: &str| {
            let answer = engine.search(position, "go wtime 3000 btime 3000");
            answer.lines.iter().any(|line| line.contains(" nps=1234nps "))
        };
        assert!(estimate(&mut engine, "startpos"), "nothing is learned yet");
        assert_eq!(estimate(&mut engine, "8/8/8/4k3/8/8/4P3/4K3 w - - 0 1"), !kept);
        engine.send("ucinewgame");
        assert!(estimate(&mut engine, "startpos"), "a new game is a new game");
        engine.quit();
    }
}

#[test]
fn fewer_threads_than_devices_are_told_once() {
    let mut engine = Uci::start(&["--backend=uniform", "--backend-opts=devices=0,1", "--threads=1"]);
    let told = |lines: &[String]| lines.iter().filter(|line| line.contains("of the 2 devices idle")).count();
    let lines = engine.tell("isready");
    assert!(told(&lines) == 1 && errors(&lines).is_empty(), "{lines:?}");
    assert_eq!(told(&engine.tell("isready")), 0);
    engine.tell("setoption name Threads value 2");
    assert_eq!(told(&engine.tell("isready")), 0);
}
