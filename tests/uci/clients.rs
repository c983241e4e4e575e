//! Options that clients send by themselves or by their default configuration, against the list that `uci` gives. Names and
//! values were read in the clients' sources in November 2026; Scid's were seen in its sessions, Arena's are from knowledge.

use super::driver::{Uci, errors, zeitnot};

/// Condition on which a client sends an option.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sent {
    /// Only one that is listed; where it is not, what the user set is lost.
    OrLost,
    /// Only one that is listed, and nobody misses it else.
    IfListed,
    /// Listed or not.
    Always,
}
use Sent::{Always, IfListed, OrLost};

/// A client, and the options that it sends, with their values.
struct Client {
    name: &'static str,
    options: &'static [(Sent, &'static str, &'static str)],
}

const CLIENTS: &[Client] = &[
    // `config.yml.default`. python-chess ends the bot with an error where one of `uci_options` is not listed.
    Client {
        name: "lichess-bot",
        options: &[
            (OrLost, "Move Overhead", "100"),
            (OrLost, "Threads", "4"),
            (OrLost, "Hash", "512"),
            (OrLost, "SyzygyPath", "./syzygy/"),
            (OrLost, "UCI_ShowWDL", "true"),
            (OrLost, "Ponder", "true"),
            (IfListed, "UCI_Opponent", "BOT 3000 computer another"),
        ],
    },
    // It manages these itself. It raises an error where a board of Chess960 or more than one line meet no such option.
    Client {
        name: "python-chess",
        options: &[
            (OrLost, "UCI_Chess960", "true"),
            (OrLost, "MultiPV", "3"),
            (OrLost, "Ponder", "false"),
            (IfListed, "UCI_Variant", "chess"),
            (IfListed, "UCI_AnalyseMode", "true"),
            (IfListed, "UCI_Opponent", "none none human somebody"),
        ],
    },
    // It warns of an option that is not listed, or whose range the value is not in, and goes on without it.
    Client {
        name: "fastchess",
        options: &[
            (OrLost, "Threads", "1"),
            (OrLost, "Hash", "16"),
            (OrLost, "Move Overhead", "50"),
            (OrLost, "UCI_Chess960", "true"),
        ],
    },
    // As fastchess. It takes an engine that lists UCI_Chess960 for one that plays it.
    Client {
        name: "cutechess",
        options: &[
            (OrLost, "Threads", "1"),
            (OrLost, "Hash", "16"),
            (OrLost, "Move Overhead", "50"),
            (OrLost, "UCI_Chess960", "true"),
            (OrLost, "Ponder", "true"),
            (IfListed, "UCI_Variant", "chess"),
            (IfListed, "UCI_Opponent", "none none computer another"),
        ],
    },
    // The worker's fastchess; the options of a test are those of the form, which docs/openbench/Zeitnot.json fills in.
    Client {
        name: "OpenBench",
        options: &[
            (OrLost, "Threads", "1"),
            (OrLost, "Hash", "64"),
            (OrLost, "SyzygyPath", ""),
            (IfListed, "SyzygyProbeLimit", "5"),
        ],
    },
    Client {
        name: "c-chess-cli",
        options: &[(Always, "Threads", "1"), (Always, "Hash", "16"), (Always, "UCI_Chess960", "true")],
    },
    // Some versions send only what is listed.
    Client {
        name: "polyglot, for xboard",
        options: &[
            (Always, "Hash", "68"),
            (Always, "Threads", "1"),
            (Always, "SyzygyPath", "/EGT/Syzygy"),
            (Always, "Ponder", "true"),
            (Always, "UCI_Chess960", "false"),
            (Always, "UCI_Opponent", "none none computer another"),
            (Always, "UCI_AnalyseMode", "false"),
        ],
    },
    Client {
        name: "Nibbler, which takes the name for Lc0's",
        options: &[
            (Always, "LogLiveStats", "true"),
            (Always, "MoveOverheadMs", "0"),
            (Always, "MultiPV", "500"),
            (Always, "ScoreType", "WDL_mu"),
            (Always, "SmartPruningFactor", "0"),
            (Always, "UCI_ShowWDL", "true"),
            (Always, "VerboseMoveStats", "true"),
            (Always, "UCI_Chess960", "true"),
            (IfListed, "ContemptMode", "white_side_analysis"),
            (IfListed, "Contempt", "0"),
            (IfListed, "WDLCalibrationElo", "0"),
            (IfListed, "WDLEvalObjectivity", "0"),
        ],
    },
    Client {
        name: "En Croissant",
        options: &[(Always, "UCI_Chess960", "false"), (IfListed, "MultiPV", "3"), (IfListed, "Threads", "2")],
    },
    Client {
        name: "Scid",
        options: &[
            (OrLost, "MultiPV", "5"),
            (IfListed, "UCI_AnalyseMode", "true"),
            (IfListed, "UCI_ShowWDL", "true"),
            (IfListed, "Ponder", "true"),
            (IfListed, "OwnBook", "false"),
        ],
    },
    Client {
        name: "Arena",
        options: &[
            (IfListed, "Hash", "128"),
            (IfListed, "Ponder", "true"),
            (IfListed, "OwnBook", "false"),
            (IfListed, "UCI_AnalyseMode", "true"),
            (IfListed, "NalimovPath", "c:\\tb"),
            (IfListed, "Clear Hash", ""),
        ],
    },
];

/// The list that `uci` gives, as a runner keeps it.
struct Listed(Vec<String>);

impl Listed {
    fn of(engine: &mut Uci) -> Listed {
        Listed(engine.ask("uci", "uciok"))
    }

    /// The type of an option and what follows it.
    fn option(&self, name: &str) -> Option<&str> {
        let start = format!("option name {name} type ");
        self.0.iter().find_map(|line| line.strip_prefix(&start))
    }

    /// Whether the kind and the range of an option that is listed take this value.
    fn takes(&self, name: &str, value: &str) -> bool {
        let words: Vec<&str> = self.option(name).unwrap().split(' ').collect();
        let after = |key: &str| words.iter().skip_while(|word| **word != key).nth(1).unwrap().parse::<i64>().unwrap();
        match words[0] {
            "check" => ["true", "false"].contains(&value),
            "spin" => value.parse().is_ok_and(|number| (after("min")..=after("max")).contains(&number)),
            "combo" => words.windows(2).any(|pair| pair == ["var", value]),
            _ => true,
        }
    }

    /// Sends an option as fastchess does: one that is listed and takes the value. Returns whether it was sent.
    fn set_by_a_runner(&self, engine: &mut Uci, name: &str, value: &str) -> bool {
        let is_sent = self.option(name).is_some() && self.takes(name, value);
        if is_sent {
            engine.send(&format!("setoption name {name} value {value}"));
        }
        is_sent
    }
}

#[test]
fn options_of_clients_are_taken_or_pass_quietly() {
    let listed = Listed::of(&mut Uci::uniform());
    let folder = tempfile::tempdir().unwrap();
    for Client { name: client, options } in CLIENTS {
        let mut command = zeitnot();
        command.arg("--backend=uniform").current_dir(folder.path());
        let mut engine = Uci::spawn(command);
        engine.reply();
        for &(sent, name, value) in *options {
            let is_listed = listed.option(name).is_some();
            assert!(is_listed || sent != OrLost, "{client} loses {name}: it is not listed");
            assert!(!is_listed || listed.takes(name, value), "{client}: {name} does not take {value}");
            if is_listed || sent == Always {
                let said = engine.tell(&format!("setoption name {name} value {value}"));
                // lichess-bot's folder of tables is not there until somebody makes it.
                let is_known = |line: &&String| line.contains("cannot read the tables in \"./syzygy/\"");
                assert!(errors(&said).iter().all(is_known), "{client}: {said:?}");
            }
        }
        engine.plays();
        engine.quit();
    }
}

#[test]
fn a_runner_sets_a_hidden_option_when_all_are_listed() {
    for (flags, is_sent) in [(&["--backend=uniform"][..], false), (&["--backend=uniform", "--show-hidden"], true)] {
        let mut engine = Uci::ready_with(flags);
        let listed = Listed::of(&mut engine);
        assert_eq!(listed.set_by_a_runner(&mut engine, "CPuctBase", "20000"), is_sent);
        engine.plays();
        // The list has the values of the moment.
        let value = Listed::of(&mut engine).option("CPuctBase").map(|rest| rest.contains("default 20000"));
        assert_eq!(value, is_sent.then_some(true));
        engine.quit();
    }
}

/// A worker gives the engine no flags; what `make` builds lists all options.
#[test]
fn options_of_openbenchs_presets_are_listed() {
    let file = include_str!("../../docs/openbench/Zeitnot.json");
    let mut engine = Uci::ready_with(&["--backend=uniform", "--show-hidden"]);
    let listed = Listed::of(&mut engine);
    let mut tried = 0;
    let presets = file.lines().flat_map(|line| line.split('"')).filter(|text| text.contains("Threads="));
    for (name, value) in presets.flat_map(|text| text.split(' ')).map(|pair| pair.split_once('=').unwrap()) {
        assert!(listed.set_by_a_runner(&mut engine, name, value), "{name}={value}");
        let said = engine.reply();
        assert!(errors(&said).is_empty(), "{name}={value}: {said:?}");
        tried += 1;
    }
    assert!(tried > 8, "{tried}");
    engine.quit();
}
