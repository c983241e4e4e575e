//! Runs an engine process on random lines, and checks that each `go` among them gets one legal move.

use super::super::driver::{Uci, errors, lonely, position_command};
use super::lines::{Generator, Listed, Step};
use std::path::Path;
use std::time::Duration;
use zeitnot_engine::chess::{Game, to_uci};

/// The first words of the lines that the engine may say; ranks of a board begin with their numbers, and what perft and
/// `eval` say has another form.
const SAID: [&str; 16] =
    ["id", "option", "uciok", "readyok", "info", "bestmove", "Nodes", "", "1", "2", "3", "4", "5", "6", "7", "8"];

/// Options before a search with a known answer: whatever was set, it is played on.
const SOUND: [(&str, &str); 12] = [
    // A file of other options is refused in a line.
    ("TreeFile", "<empty>"),
    ("Backend", "random"),
    ("BackendOptions", "<empty>"),
    ("BookFile", "<empty>"),
    ("NodesPerSecondLimit", "0"),
    ("OnnxRuntime", "<empty>"),
    ("OwnBook", "false"),
    ("SyzygyPath", "<empty>"),
    ("Threads", "2"),
    ("TimeManager", "smooth"),
    ("UCI_Chess960", "false"),
    ("WeightsFile", "<empty>"),
];

/// Deepest perft that is let through, in plies: deeper ones are right to take long.
const DEEPEST_PERFT: u32 = 2;

/// The meaning of a line to the engine.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Meaning {
    Go,
    Fen,
    /// It would end the session, or rightly take for ever.
    Unsayable,
    Other,
}

impl Meaning {
    /// The meaning by the protocol: by the first word, which may have a byte order mark before it.
    fn of(line: &[u8]) -> Meaning {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_start_matches('\u{feff}').trim();
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        match word {
            "go" => match rest.trim().strip_prefix("perft") {
                None => Meaning::Go,
                Some(depth) if depth.trim().parse::<u32>().is_ok_and(|depth| depth > DEEPEST_PERFT) => {
                    Meaning::Unsayable
                }
                Some(_) => Meaning::Other,
            },
            "fen" if rest.trim().is_empty() => Meaning::Fen,
            "quit" | "exit" => Meaning::Unsayable,
            _ => Meaning::Other,
        }
    }
}

/// An engine process, and what it has been asked so far.
pub struct Session {
    engine: Uci,
    seed: u64,
    marks: usize,
    /// Random lines that were sent.
    pub lines: usize,
    /// Sent lines that ask for a move.
    pub searches: usize,
    /// Moves that were found to be legal.
    pub moves: usize,
    /// The working folder, where nothing is that a search could use.
    _folder: tempfile::TempDir,
}

impl Session {
    pub fn start(seed: u64) -> Session {
        let folder = tempfile::tempdir().unwrap();
        let mut command = lonely(Path::new(env!("CARGO_BIN_EXE_zeitnot")), folder.path());
        // The network that is built in is the slowest.
        command.arg(["--backend=random", "--backend=uniform", "--backend=random", "--backend=auto"][seed as usize % 4]);
        command.arg(["--threads=1", "--threads=2", "--threads=0"][seed as usize % 3]);
        command.arg("--show-hidden");
        let engine = Uci::spawn(command);
        Session { engine, seed, marks: 0, lines: 0, searches: 0, moves: 0, _folder: folder }
    }

    /// The options that the engine lists, but for `Strict`, with which a wrong network ends it.
    pub fn options(&mut self) -> Vec<Listed> {
        let listed = self.engine.ask("uci", "uciok");
        listed.iter().filter_map(|line| Listed::read(line)).filter(|option| option.name != "Strict").collect()
    }

    /// Sends random lines without waiting for anything, and then checks what came.
    pub fn round(&mut self, generator: &mut Generator, count: usize) {
        // Of each `go`: which of the answers to `fen` says where the engine stood.
        let mut searches: Vec<Option<usize>> = Vec::new();
        let (mut places, mut before) = (0, Meaning::Other);
        let end = self.lines + count;
        while self.lines < end {
            for step in generator.next() {
                match step {
                    Step::Pause(us) => std::thread::sleep(Duration::from_micros(us)),
                    Step::Say(line) => {
                        let meaning = Meaning::of(&line);
                        match meaning {
                            Meaning::Unsayable => continue,
                            Meaning::Go => searches.push((before == Meaning::Fen).then(|| places - 1)),
                            Meaning::Fen => places += 1,
                            Meaning::Other => {}
                        }
                        before = meaning;
                        self.engine.send_bytes(&line);
                        self.lines += 1;
                    }
                }
            }
        }
        self.searches += searches.len();
        let lines = self.settle(searches.len());
        let fens: Vec<&str> = lines.iter().filter_map(|line| place(line)).collect();
        assert_eq!(fens.len(), places, "seed {}: answers to fen: {lines:#?}", self.seed);
        let before = std::iter::once("").chain(lines.iter().map(String::as_str));
        let moves = before.zip(&lines).filter_map(|(before, line)| Some((before, line.strip_prefix("bestmove ")?)));
        for ((before, answer), place) in moves.zip(searches) {
            if before.ends_with("the last position was refused: nothing is searched") {
                assert_eq!(answer, "(none)", "seed {}", self.seed);
            } else if let Some(place) = place {
                self.moves += 1;
                check(answer, fens[place], self.seed);
            }
        }
    }

    /// Stops, and takes the lines up to now, among which must be one `bestmove` for each of the searches.
    fn settle(&mut self, searches: usize) -> Vec<String> {
        self.marks += 1;
        let mark = format!("mark {}", self.marks);
        self.engine.send(&format!("stop\n{mark}"));
        let (seed, end) = (self.seed, format!("unknown command \"{mark}\""));
        let (mut moves, mut marked) = (0, false);
        let lines = self.engine.until_line(|line| {
            moves += usize::from(line.starts_with("bestmove"));
            marked |= line.ends_with(&end);
            marked && moves >= searches
        });
        assert_eq!(moves, searches, "seed {seed}: moves, and go: {lines:#?}");
        for line in &lines {
            let word = line.split(' ').next().unwrap_or_default();
            assert!(SAID.contains(&word) || word.ends_with(':'), "seed {seed}: {line:?}");
            assert!(!line.contains("this is a defect"), "seed {seed}: {line:?}");
        }
        lines
    }

    /// A search of a known position, whose answer is checked with its lines of analysis.
    pub fn control(&mut self, generator: &mut Generator) {
        for (name, value) in SOUND {
            self.engine.send(&format!("setoption name {name} value {value}"));
        }
        let (game, position) = generator.game();
        let said = self.engine.tell_at_once(&position_command(&position));
        assert!(errors(&said).len() == usize::from(game.positions()[0].is_illegal()), "seed {}: {said:?}", self.seed);
        self.engine.send(generator.random.choice(&[
            "go nodes 30",
            "go depth 2",
            "go movetime 5",
            "go wtime 50 btime 50",
        ]));
        let answer = self.engine.answer(&game);
        assert!(errors(&answer.lines).is_empty(), "seed {}: {:?}", self.seed, answer.lines);
        self.moves += 1;
    }

    /// Says `quit`: the process ends with exit code 0, nothing on standard error and no further move.
    pub fn end(self) {
        let rest = self.engine.quit();
        assert!(rest.is_empty(), "seed {}: {rest:?}", self.seed);
    }
}

/// The FEN of a line that answers `fen`.
fn place(line: &str) -> Option<&str> {
    let fen = line.strip_prefix("info string ")?;
    let words: Vec<&str> = fen.split(' ').collect();
    (words.len() == 6 && words[0].matches('/').count() == 7 && matches!(words[1], "w" | "b")).then_some(fen)
}

/// The move must be legal in that position, in either way of writing castling: which of them is in force is not known.
fn check(answer: &str, fen: &str, seed: u64) {
    // Where a king was taken, which the rules of chess do not know, nothing is left to play.
    let legal = Game::from_fen(fen, true).map(|game| game.current().legal_moves()).unwrap_or_default();
    let best = answer.split(' ').next().unwrap_or_default();
    let known = [false, true].iter().any(|&chess960| legal.iter().any(|&mv| to_uci(mv, chess960) == best));
    assert!(known || legal.is_empty() && answer == "(none)", "seed {seed}: bestmove {answer} in {fen}");
}
