//! Makes the random lines that a session reads.

use super::super::driver::position_command;
use super::{damage, specification};
use zeitnot_engine::chess::{Game, to_uci};
use zeitnot_engine::splitmix::SplitMix64 as Random;

/// Starts of games. In the last three a king stands in check out of turn, or no game reaches the position.
const STARTS: [&str; 16] = [
    "startpos",
    "startpos",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
    "8/5k2/8/8/8/2Q5/1K6/8 w - - 96 150",
    "6k1/5ppp/8/8/8/8/8/K2R4 w - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "R6k/8/6K1/8/8/8/8/8 b - - 0 1",
    "k7/8/8/8/8/8/8/K7 w - - 0 1",
    "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
    "2nnrbkr/p1qppppp/8/1ppb4/6PP/3PP3/PPP2P2/BQNNRBKR w HEhe - 1 9",
    "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1",
    "4k3/4R3/8/8/8/8/8/4K3 w - - 0 1",
    "8/8/1k6/8/8/8/1QK5/8 w - - 0 1",
    "3rk3/8/8/8/8/8/3r4/3K3r w - - 0 1",
];

/// Options whose values change how a search runs.
const TELLING: [&str; 13] = [
    "Threads",
    "MinibatchSize",
    "MultiPV",
    "Backend",
    "TimeManager",
    "NNCacheSize",
    "RamLimitMb",
    "OutOfOrderEval",
    "UCI_Chess960",
    "VerboseMoveStats",
    "PerPVCounters",
    "SmartPruningFactor",
    "TimeManagerLog",
];

/// Searches after which `wait` is said: those that end of themselves, and those that only `stop` ends.
const WAITED_FOR: [&str; 9] = [
    "nodes 20",
    "depth 1",
    "movetime 3",
    "wtime 20 btime 20",
    "infinite",
    "ponder wtime 100 btime 100",
    "mate 1",
    "movetime 3 mate 2",
    "nodes 5 mate 3",
];

/// An option as the engine lists it.
pub struct Listed {
    pub name: String,
    /// The type, and what stands behind it.
    words: Vec<String>,
}

impl Listed {
    /// Reads a line of the answer to `uci`.
    pub fn read(line: &str) -> Option<Listed> {
        let (name, rest) = line.strip_prefix("option name ")?.split_once(" type ")?;
        Some(Listed { name: name.to_owned(), words: rest.split(' ').map(str::to_owned).collect() })
    }

    fn after(&self, key: &str) -> impl Iterator<Item = &str> {
        self.words.windows(2).filter(move |pair| pair[0] == key).map(|pair| pair[1].as_str())
    }
}

/// A line to send, or a pause.
pub enum Step {
    Say(Vec<u8>),
    /// Nothing is sent for this number of microseconds, and searches go on.
    Pause(u64),
}

/// The source of a session's lines.
pub struct Generator {
    pub random: Random,
    options: Vec<Listed>,
    /// Moves of the position that was set last, as far as it was not damaged.
    moves: Vec<String>,
}

impl Generator {
    pub fn new(random: Random, options: Vec<Listed>) -> Generator {
        Generator { random, options, moves: Vec::new() }
    }

    /// The next lines, which belong together, and pauses.
    pub fn next(&mut self) -> Vec<Step> {
        let say = |line: String| Step::Say(line.into_bytes());
        match self.random.below(100) {
            0..18 => vec![say(self.position())],
            // Where the engine stands is asked for, so that the move can be judged.
            18..40 => vec![say("fen".to_owned()), say(self.go())],
            40..54 => vec![say(self.option())],
            54..62 => vec![say(self.command())],
            62..84 => {
                let line = match self.random.below(8) {
                    0..2 => self.position(),
                    2..5 => self.go(),
                    5..7 => self.option(),
                    _ => self.command(),
                };
                vec![say(damage::line(&mut self.random, &line))]
            }
            84..88 => {
                let mut bytes = damage::bytes(&mut self.random);
                if self.random.below(2) == 0 {
                    bytes.splice(0..0, format!("{} ", damage::word(&mut self.random)).into_bytes());
                }
                vec![Step::Say(bytes)]
            }
            88..90 => vec![say(self.long())],
            90..93 => {
                let go = format!("go {}", self.random.choice(&WAITED_FOR));
                vec![say("fen".to_owned()), say(go), say("wait".to_owned())]
            }
            93..95 => vec![say(format!("go perft {}", self.random.below(3)))],
            _ => vec![Step::Pause(self.random.below(4_000) as u64)],
        }
    }

    /// A game of random moves, as `startpos` or a FEN and the moves.
    pub fn game(&mut self) -> (Game, String) {
        let start = self.random.choice(&STARTS);
        let mut game = if start == "startpos" { Game::new() } else { Game::from_fen(start, false).unwrap() };
        let mut text = start.to_owned();
        for ply in 0..[0, 1, 8, 60][self.random.below(4)] {
            let legal = game.current().legal_moves();
            if legal.is_empty() {
                break;
            }
            let mv = legal[self.random.below(legal.len())];
            text.push_str(if ply == 0 { " moves " } else { " " });
            text.push_str(&to_uci(mv, false));
            game.push(mv);
        }
        self.moves = game.current().legal_moves().into_iter().map(|mv| to_uci(mv, false)).collect();
        (game, text)
    }

    fn position(&mut self) -> String {
        position_command(&self.game().1)
    }

    fn go(&mut self) -> String {
        let mut text = "go".to_owned();
        for _ in 0..[1, 1, 1, 2, 4][self.random.below(5)] {
            text.push(' ');
            text.push_str(&self.limit());
        }
        text
    }

    fn limit(&mut self) -> String {
        let random = &mut self.random;
        let times = ["0", "1", "5", "20", "100", "1000", "60000", "1000000000000"];
        match random.below(16) {
            0..3 => format!("nodes {}", [1, 2, 30, 300][random.below(4)]),
            3 => format!("depth {}", random.below(4)),
            4 => format!("movetime {}", random.below(9)),
            5..9 => {
                let (white, black) = (random.choice(&times), random.choice(&times));
                let more = ["", " winc 1 binc 1", " winc 60000 binc 60000", " movestogo 1", " movestogo 40"];
                format!("wtime {white} btime {black}{}", random.choice(&more))
            }
            9 => format!("mate {}", random.below(4)),
            10..12 => "infinite".to_owned(),
            12 => "ponder".to_owned(),
            13..15 => {
                let mut text = "searchmoves".to_owned();
                for _ in 0..random.below(4) {
                    let mv = match self.moves.len() {
                        0 => "a1a1",
                        count => &self.moves[random.below(count)],
                    };
                    text.push(' ');
                    text.push_str(mv);
                }
                text
            }
            _ => {
                let key = random.choice(&["nodes", "depth", "movetime", "mate", "wtime", "btime", "winc", "movestogo"]);
                format!("{key} {}", damage::number(random))
            }
        }
    }

    fn option(&mut self) -> String {
        let listed = match self.random.below(2) {
            0 => self.random.below(self.options.len()),
            _ => {
                let telling = self.random.choice(&TELLING);
                self.options.iter().position(|option| option.name == telling).expect("the engine has this option")
            }
        };
        let value = self.value(listed);
        format!("setoption name {} value {value}", self.options[listed].name)
    }

    fn value(&mut self, listed: usize) -> String {
        let (option, random) = (&self.options[listed], &mut self.random);
        let words = |random: &mut Random, words: &[&str]| random.choice(words).to_owned();
        match (option.name.as_str(), option.words[0].as_str()) {
            // Files of the session's own folder alone.
            ("LogFile", _) => words(random, &["<empty>", "log", "nowhere/log"]),
            (_, "check") => words(random, &["true", "false", "True", "1", ""]),
            ("Threads", _) => words(random, &["0", "1", "2", "3", "4", "16", "129"]),
            ("MinibatchSize", _) => words(random, &["0", "1", "2", "8", "32", "1024", "1025"]),
            // A search that may do one node a second is one that is waited for.
            ("NodesPerSecondLimit", _) => words(random, &["0", "0", "5000", "100000"]),
            ("Backend", _) => {
                let known = ["random", "uniform", "random", "uniform", "auto", "native", "onnxruntime", "cuda", "xyz"];
                words(random, &known)
            }
            ("TimeManager", _) => specification::any(random),
            (name, "string") if name.ends_with("File") || name.ends_with("Path") || name == "OnnxRuntime" => {
                words(random, &["<empty>", "", "missing.pb.gz", ".", "/dev/null", "zeitnot-small", "x y", "\u{feff}"])
            }
            (_, "spin") => {
                let bounds: Vec<&str> = option.after("min").chain(option.after("max")).collect();
                match random.below(4) {
                    0 => damage::number(random).to_owned(),
                    1 => random.below(100).to_string(),
                    _ => words(random, &bounds),
                }
            }
            (_, "combo") => {
                let known: Vec<&str> = option.after("var").collect();
                if random.below(4) == 0 { damage::word(random).to_owned() } else { words(random, &known) }
            }
            (_, "button") => String::new(),
            _ => match random.below(4) {
                0 => damage::number(random).to_owned(),
                1 => damage::word(random).to_owned(),
                2 => option.after("default").collect::<Vec<_>>().join(" "),
                _ => format!("{:e}", (random.below(2001) as f64 - 1000.0) / 10_f64.powi(random.below(5) as i32)),
            },
        }
    }

    fn command(&mut self) -> String {
        let commands = [
            "uci",
            "isready",
            "ucinewgame",
            "stop",
            "stop",
            "stop",
            "ponderhit",
            "ponderhit",
            "fen",
            "d",
            "eval",
            "e2e4",
            "debug on",
            "register later",
            "",
            " ",
            "setoption name ClearTree",
            "setoption",
            "position",
            "position fen",
            "go",
        ];
        self.random.choice(&commands).to_owned()
    }

    /// A line as long as no command is.
    fn long(&mut self) -> String {
        let unit = match self.random.below(4) {
            0 => damage::word(&mut self.random).to_owned() + " ",
            1 => "8/".to_owned(),
            2 => "smooth(".to_owned(),
            _ => "x".to_owned(),
        };
        let start =
            self.random.choice(&["", "position fen ", "setoption name TimeManager value ", "position startpos moves "]);
        format!("{start}{}", unit.repeat(self.random.below(1 << 13)))
    }
}
