//! Tests `zeitnot time report` from end to end: on the output of the other commands, on hostile and damaged files, and
//! in a browser where one is installed. There the page of analysed games is opened, too.
#![allow(clippy::unwrap_used, reason = "a test")]

mod browser;
mod games_page;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

/// Two games with clocks, whose players have names that would be elements and attributes if they were not escaped.
const GAMES: &str = "[White \"<script>alert(1)</script>\"]\n[Black \"b' onload=x </title>&amp; \u{5d0}\"]\n[TimeControl \"10+1\"]\n[Result \"1-0\"]\n\n\
    1. e4 {[%emt 0:00:02] [%budget 0:00:03]} e5 {[%emt 0:00:03] [%budget 0:00:02]} 2. Nf3 {[%emt 0:00:01] [%budget 0:00:02]} \
    Nc6 {[%emt 0:00:01]} 3. Bb5 {[%emt 0:00:01.5]} 1-0\n\n\
    [White \"c\"]\n[Black \"d\"]\n[TimeControl \"60\"]\n\n1. d4 {[%clk 0:00:55]} d5 {[%clk 0:00:50]} 2. c4 {</script><b>} *\n";

/// The output of `time simulate --json`.
const SIMULATION: &str = r#"{"kind":"simulation","manager":"smooth","tc":"10+0.1","traces":"1f","fit":null,"nps":null,"batch":8,"lag":null,
    "seed":1,"games":2000,"clock_ms":[{"move":1,"p5":9000,"p50":10000,"p95":10000,"budget_ms":500,"used_ms":400,"games":2000},
    {"move":2,"p5":8000,"p50":9000,"p95":9500,"budget_ms":500,"used_ms":400,"games":2000}],
    "left_ms":{"p5":100,"p50":2500,"p95":4000},"flag_rate":0.0035,"share_by_phase":[0.5,0.4,0.1],"regret":null,
    "regret_by_phase":null,"beyond_record":0,"mean_ms":400,"mean_playouts":300,"gain":null,"gain_interval":null,"games_per_s":900}"#;

fn zeitnot(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_zeitnot")).current_dir(folder).args(args).output().unwrap()
}

/// The output of a command, which must not fail.
fn printed(folder: &Path, args: &[&str]) -> Vec<u8> {
    let output = zeitnot(folder, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Writes a report about files of a folder, and reads its page.
fn report(folder: &Path, files: &[&str]) -> String {
    printed(folder, &[&["time", "report", "--out", "report.html"], files].concat());
    fs::read_to_string(folder.join("report.html")).unwrap()
}

/// A folder with an input of each kind, those that other commands print made by them.
fn inputs() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |name: &str, bytes: &[u8]| fs::write(path.join(name), bytes).unwrap();
    write("games.txt", GAMES.as_bytes());
    write("simulation.x", SIMULATION.as_bytes());
    write("audit", &printed(path, &["time", "audit", "games.txt", "--json"]));
    let virtual_clock = ["--clock", "virtual", "--nps", "100", "--tc", "1+0.01", "--games", "2", "--backend", "random"];
    let played = ["match", "--option2", "TimeManager=simple", "--json"];
    write("match.pgn", &printed(path, &[&played[..], &virtual_clock].concat()));
    let compared = ["time", "compare", "smooth", "legacy", "--json"];
    write("comparison", &printed(path, &[&compared[..], &virtual_clock].concat()));
    printed(path, &["time", "record", "--games", "games.txt", "--nodes", "60", "--backend", "random", "--out", "t.zt"]);
    for nodes in ["30", "60"] {
        let args = ["time", "replay", "t.zt", "--manager", "simple", "--batch", "1", "--mean-nodes", nodes, "--json"];
        write(&format!("replay{nodes}"), &printed(path, &args));
    }
    folder
}

#[test]
fn every_input_is_known_by_its_content() {
    let folder = inputs();
    let files = ["games.txt", "replay30", "replay60", "comparison", "simulation.x", "match.pgn", "audit"];
    let page = report(folder.path(), &files);
    for (heading, charts) in [
        ("Games of games.txt", 6),
        ("Replays of replay30 and replay60", 3),
        ("Comparison of comparison", 4),
        ("Simulations of simulation.x", 4),
        ("Match of match.pgn", 4),
        ("Audit of audit", 4),
    ] {
        let (_, section) =
            page.split_once(&format!("-heading\">{heading}</h2>")).unwrap_or_else(|| panic!("{heading}"));
        let (section, _) = section.split_once("</section>").unwrap();
        assert_eq!(section.matches("<svg ").count(), charts, "{heading}");
        assert_eq!(section.matches("<details>").count(), charts, "every chart has its numbers: {heading}");
    }
    for number in [
        "smooth has 9 s at move 2, the median of its games, and 2.5 s at their ends.",
        "smooth loses 0.35 % of 2,000 games on time, the most.",
    ] {
        assert!(page.contains(number), "{number}");
    }
    // The same files make the same page.
    assert_eq!(report(folder.path(), &files), page);
}

#[test]
fn the_page_needs_nothing_from_elsewhere_and_escapes_all_text() {
    let folder = tempfile::tempdir().unwrap();
    let name = "<img src=x onerror=y>.pgn";
    fs::write(folder.path().join(name), GAMES).unwrap();
    let page = report(folder.path(), &[name]);
    for part in ["http:", "https:", "src=\"", "url(", "@import", "<img", "<link", "<iframe", "<object", "<script>alert"]
    {
        assert!(!page.contains(part), "{part}");
    }
    let links: Vec<&str> = page.split("href=\"").skip(1).collect();
    assert!(!links.is_empty() && links.iter().all(|link| link.starts_with('#')));
    assert!(!page.contains("<script") && !page.contains("</script"), "the page has no script");
    assert!(page.contains("&#60;script&#62;alert(1)") || page.contains("&lt;script&gt;alert(1)"));
    assert!(page.contains("http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'"));
    assert!(!page.contains(folder.path().to_str().unwrap()), "no path of this machine");
}

#[test]
fn the_page_is_accessible() {
    let folder = inputs();
    let page = report(folder.path(), &["games.txt", "games.txt", "comparison", "match.pgn"]);
    let ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let known: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), known.len(), "every identifier stands once");
    for labels in page.split("aria-labelledby=\"").skip(1) {
        for label in labels.split('"').next().unwrap().split(' ') {
            assert!(known.contains(label), "{label}");
        }
    }
    for svg in page.split("<svg ").skip(1) {
        let head = svg.split("</desc>").next().unwrap();
        assert!(head.starts_with("role=\"img\" aria-labelledby=") && head.contains("viewBox=\"0 0 "), "{head}");
        let text = |name: &str| head.split(&format!("<{name} ")).nth(1).unwrap().split('>').nth(1).unwrap().to_owned();
        assert!(text("title").len() > 4 && text("desc").len() > 20, "{head}");
    }
    // Headings go down by one level at a time.
    let levels: Vec<u32> = page.split("<h").skip(1).filter_map(|rest| rest.chars().next()?.to_digit(10)).collect();
    assert!(levels[0] == 1 && levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{levels:?}");
    for row in page.split("<tr>").skip(1) {
        assert!(row.contains("<td>") || row.contains("<th scope=\"col\">"), "{row}");
    }
}

#[test]
fn charts_are_files_that_say_what_they_show() {
    let folder = inputs();
    let args = ["time", "report", "games.txt", "comparison", "--svg", "charts"];
    let said = String::from_utf8(printed(folder.path(), &args)).unwrap();
    let names: Vec<&str> = said.lines().collect();
    assert_eq!(names.len(), 10, "{said}");
    assert!(names.iter().any(|name| name.ends_with("games-of-games-txt--clocks.svg")), "{said}");
    for name in names {
        let svg = fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"440\""), "{name}");
        assert!(svg.contains("prefers-color-scheme:dark") && svg.contains("class=\"bg\" width=\"440\""), "{name}");
        assert!(!svg.contains("<script") && svg.matches("http").count() == 1, "{name}");
    }
}

#[test]
fn inputs_that_are_none_are_named_in_one_line() {
    let folder = inputs();
    let path = folder.path();
    for (name, text) in [
        ("empty", ""),
        ("prose", "Nothing of the kind.\n"),
        ("other.json", "{\"a\": 1}"),
        ("cut.json", "[{\"manager\": \"smooth\", \"regret\""),
        ("half.json", "{\"kind\": \"comparison\", \"cells\": []}"),
        ("old.json", "{\"cells\": [], \"times\": [], \"ranking\": []}"),
        ("no-clocks.pgn", "1. e4 e5 *\n"),
        ("lines\n.json", "{\"kind\": \"game\", \"game\": 1, \"white\": \"\\n\", \"black\": 3}"),
    ] {
        fs::write(path.join(name), text).unwrap();
        let output = zeitnot(path, &["time", "report", "games.txt", name, "--out", "bad.html"]);
        let said = String::from_utf8(output.stderr).unwrap();
        let lines = said.lines().count() - name.lines().count().saturating_sub(1);
        assert!(!output.status.success() && lines == 1 && said.contains(name), "{name}: {said}");
        assert!(!path.join("bad.html").exists(), "{name}");
    }
    for (args, part) in [
        (&["missing.pgn", "--out", "bad.html"][..], "cannot read missing.pgn"),
        (
            &["old.json", "--out", "bad.html"],
            "old.json: entry 1 has no \"kind\", which results have since version 0.1: make it again with",
        ),
        (&["games.txt", "--out", "bad.html", "--manager", "none"], "none"),
        (&["games.txt", "--out", "games.txt"], "that is an input"),
        (&["games.txt", "--out", "no/such/folder.html"], "cannot write no/such/folder.html"),
    ] {
        let output = zeitnot(path, &[&["time", "report"], args].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.lines().count() == 1 && said.contains(part), "{args:?}: {said}");
    }
    assert_eq!(fs::read_to_string(path.join("games.txt")).unwrap(), GAMES);
    assert!(!zeitnot(path, &["time", "report", "games.txt"]).status.success(), "it would write nothing");
}

#[test]
fn a_wrong_move_and_hostile_names_harm_no_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let game = "[White \"a\u{1b}[2J|\u{1b}[2J\"]\n[Black \"b\"]\n[TimeControl \"10+1\"]\n\n\
        1. e4 {[%emt 0:00:02] x} e5 {[%emt 0:00:02]} 2. Ke3 *\n";
    for name in ["quotes.pgn", "quotes.txt"] {
        fs::write(path.join(name), game).unwrap();
        let output = zeitnot(path, &["time", "audit", name, "--manager", "smooth", "--manager", "smooth"]);
        let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
        assert!(output.status.success() && out.contains("| b | bullet | 1 |"), "{name}: {out}");
        assert!(out.contains("[2J\\|\\u001b[2J | bullet | 1 |") && !out.contains('\u{1b}'), "{name}: {out}");
        assert_eq!(out.matches("| smooth |").count(), 1, "{out}");
        let report = zeitnot(path, &["time", "report", name, "--svg=charts", "--manager", "smooth"]);
        let said = String::from_utf8(report.stderr).unwrap();
        assert!(report.status.success(), "{said}");
        assert!(err.contains("illegal move Ke3") && said.contains("game 1: illegal move Ke3"), "{err}{said}");
    }
    fs::write(path.join("c"), r#"{"kind":"comparison","cells":[],"times":[],"ranking":[]}"#).unwrap();
    let output = zeitnot(path, &["time", "report", "c", "--svg=charts", "--manager", "smooth"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.lines().count() == 1 && said.contains("no effect"), "{said}");
}
