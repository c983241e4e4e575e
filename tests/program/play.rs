//! Plays games of a script against the engine through pipes, as a person does in a terminal.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use zeitnot_analysis::audit::move_times;
use zeitnot_engine::chess::{Game, parse_san};
use zeitnot_games::{PgnGame, read_games};

/// Only what hangs takes so long, even on a machine that is busy with something else.
const HANG: Duration = Duration::from_secs(120);

fn command(folder: &Path, flags: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_zeitnot"));
    command.current_dir(folder).env_remove("RUST_LOG").env_remove("LC_ALL").env("LC_CTYPE", "C.UTF-8");
    command.args(["play", "--threads=1"]).args(flags);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A program that plays.
struct Table {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    said: String,
}

impl Table {
    fn sit_down(folder: &Path, flags: &[&str]) -> Table {
        let mut child = command(folder, flags).spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || output.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()));
        let input = child.stdin.take();
        Table { child, input, lines, said: String::new() }
    }

    fn send(&mut self, line: &str) {
        self.said += &format!("> {line}\n");
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// The next line with this beginning; those before it are passed over.
    fn wait(&mut self, begin: &str) -> String {
        loop {
            let Ok(line) = self.lines.recv_timeout(HANG) else {
                let _ = self.child.kill();
                let mut errors = String::new();
                self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
                panic!("no line {begin:?}\n{}{errors}", self.said);
            };
            self.said += &format!("{line}\n");
            if line.starts_with(begin) {
                return line;
            }
        }
    }

    fn ask(&mut self, line: &str, begin: &str) -> String {
        self.send(line);
        self.wait(begin)
    }

    /// Plays a move; `game` gets it, and the answer.
    fn play(&mut self, game: &mut Game, san: &str) {
        let mv = parse_san(game.current().chess(), san);
        game.push(mv.unwrap_or_else(|error| panic!("{san} {error}\n{}", self.said)));
        let line = self.ask(san, "Zeitnot plays ");
        let number = game.current().fullmoves();
        let dots = if game.current().turn().is_white() { "." } else { "..." };
        let rest = line.strip_prefix(&format!("Zeitnot plays {number}{dots} ")).unwrap_or_else(|| panic!("{line}"));
        let san = rest.split(' ').next().unwrap();
        game.push(parse_san(game.current().chess(), san).unwrap());
        assert!(line.contains(" s of target ") && line.contains(" nodes; "), "{line}");
    }

    /// What is still said until the program ends, which it must do well.
    fn ends(mut self) -> String {
        self.input = None;
        let mut rest = String::new();
        while let Ok(line) = self.lines.recv_timeout(HANG) {
            rest += &format!("{line}\n");
        }
        assert!(self.child.wait().unwrap().success(), "{}{rest}", self.said);
        rest
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        // Whatever the test was about, it is over.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// All that is said to lines that come at once.
fn said(folder: &Path, flags: &[&str], lines: &str) -> Output {
    let mut child = command(folder, flags).spawn().unwrap();
    // A program that refuses its command line reads nothing.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(folder: &Path, flags: &[&str], lines: &str) -> String {
    let output = said(folder, flags, lines);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// The only game of a file, which must be whole.
fn game_in(path: &Path) -> PgnGame {
    let mut games = read_games(fs::File::open(path).unwrap()).unwrap();
    assert_eq!(games.len(), 1);
    let game = games.remove(0);
    assert_eq!(game.problem, None);
    game
}

fn some_move(game: &Game) -> String {
    game.san(game.current().legal_moves()[0])
}

/// The words of a file's moves.
fn movetext(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    text.split("\n\n").nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_game_goes_on_through_takebacks_bad_lines_and_a_kill() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("play.pgn");
    // The backend is the same on every machine, and so is the game.
    let engine = ["--backend=random", "--nodes=9", "--random-seed=3", "--ascii"];
    let begin = [&engine[..], &["--tc=60:00+5", "--name=Ada"]].concat();
    let resume = [&engine[..], &["--resume"]].concat();
    let mut game = Game::new();
    let mut table = Table::sit_down(folder.path(), &begin);
    table.wait("1  R N B Q K B N R");
    for number in 1..=32 {
        match number {
            4 => {
                let before = game.clone();
                let san = some_move(&game);
                table.play(&mut game, &san);
                table.send("undo");
                table.ask("fen", &before.fen());
                game = before;
            }
            6 => {
                assert_eq!(table.ask("Ke5", "Ke5 is"), "Ke5 is illegal here:");
                table.wait("1  ");
                table.ask("hnit", "\"hnit\" is no move and no command (help lists them); did you mean \"hint\"?");
                table.send("");
            }
            10 => {
                table.child.kill().unwrap();
                table.child.wait().unwrap();
                let kept = movetext(&path);
                table = Table::sit_down(folder.path(), &resume);
                table.wait("You have White, Zeitnot has Black");
                table.ask("fen", &game.fen());
                let san = some_move(&game);
                table.play(&mut game, &san);
                table.send("takeback");
                game.truncate(game.moves().len() - 2);
                table.ask("fen", &game.fen());
                assert_eq!(movetext(&path), kept, "clocks, times and scores are as before");
            }
            20 => {
                let rest = table.ends();
                assert!(rest.contains("the game is in play.pgn; zeitnot play --resume --nodes=9 --ascii "), "{rest}");
                table = Table::sit_down(folder.path(), &resume);
            }
            _ => {}
        }
        if number % 16 == 2 {
            let hint = table.ask("hint", "Hint: ");
            assert!(hint.contains(&format!("  (line {number}. ")), "{hint}");
        }
        let legal = game.current().legal_moves();
        let sans: Vec<String> = legal.iter().map(|mv| game.san(*mv)).collect();
        let quiet = sans.iter().find(|san| !san.contains(['x', '+', '#', '='])).unwrap_or(&sans[0]).clone();
        table.play(&mut game, &quiet);
    }
    assert!(table.ask("moves", "1. ").split(' ').count() >= 96);
    table.ask("save copy.pgn", "the game is in copy.pgn");
    table.ask("save copy.pgn", "cannot write copy.pgn: ");
    table.ask("resign", "0-1: Zeitnot wins (resignation)");
    table.ends();
    assert_eq!(game_in(&folder.path().join("copy.pgn")).game.moves(), game.moves());
    let written = game_in(&path);
    assert_eq!((written.game.moves(), written.result), (game.moves(), Some("0-1")));
    let tags = ["White", "Black", "TimeControl", "Termination", "BlackNetwork"].map(|tag| written.tag(tag).to_owned());
    assert_eq!(tags, ["Ada", "Zeitnot", "3600+5", "normal", "random"]);
    for ply in 0..64 {
        let times = move_times(written.comments_of(ply));
        assert!(times.clock_ms > Some(3_000_000.0) && times.used_ms.is_some(), "{ply}: {times:?}");
        assert_eq!(times.nodes.is_some(), ply % 2 == 1, "a person has no nodes");
    }
    let again = said(folder.path(), &resume, "");
    assert!(String::from_utf8_lossy(&again.stderr).contains("the last game of play.pgn is over (0-1)"));
}

#[test]
fn the_flag_of_a_person_falls() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = Table::sit_down(folder.path(), &["--backend=random", "--tc=0.2,60:00"]);
    table.wait("Your flag has fallen.");
    table.wait("0-1: Zeitnot wins (time forfeit)");
    table.ends();
    let game = game_in(&folder.path().join("play.pgn"));
    assert_eq!((game.tag("Termination"), game.result), ("time forfeit", Some("0-1")));
    // Against a bare king it is a draw.
    let bare = "--fen=8/8/8/8/8/k7/7Q/K7 w - - 0 1";
    let mut table = Table::sit_down(folder.path(), &["--backend=random", "--tc=0.2,60:00", "--pgn=b.pgn", bare]);
    table.wait("1/2-1/2: a draw (time forfeit)");
    table.ends();
}

#[test]
fn a_draw_is_for_an_engine_that_stands_worse() {
    let folder = tempfile::tempdir().unwrap();
    let flags = |fen: &'static str, pgn: &'static str| ["--weights=zeitnot-tiny", "--nodes=100", fen, pgn];
    let lost = text(folder.path(), &flags("--fen=7k/8/8/8/8/8/QR6/K7 w - - 0 1", "--pgn=lost.pgn"), "draw\n");
    assert!(
        lost.contains("Zeitnot accepts the draw: it expects 0.") && lost.contains("1/2-1/2: a draw (agreement)"),
        "{lost}"
    );
    let won = text(folder.path(), &flags("--fen=7K/8/8/8/8/8/qr6/k7 w - - 0 1", "--pgn=won.pgn"), "draw\nquit\n");
    assert!(won.contains("Zeitnot declines the draw: it expects "), "{won}");
    assert!(won.contains("no move was played"), "{won}");
}

#[test]
fn the_board_is_seen_from_the_side_of_the_person() {
    let folder = tempfile::tempdir().unwrap();
    let lines = "board\nflip\nhelp\nclock\nexplain\nmoves\n";
    let white = text(folder.path(), &["--backend=random", "--nodes=5"], lines);
    assert!(white.contains("\n1  ♖ ♘ ♗ ♕ ♔ ♗ ♘ ♖\n   a b c d e f g h\n"), "{white}");
    assert!(white.contains("\n8  ♜ ♞ ♝ ♚ ♛ ♝ ♞ ♜\n   h g f e d c b a\n"), "{white}");
    for said in ["undo           takes", "this game has no clocks", "Zeitnot has not moved yet", "no move yet"] {
        assert!(white.contains(said), "{said}: {white}");
    }
    let black = text(folder.path(), &["--backend=random", "--nodes=5", "--side=black", "--ascii"], "explain\nundo\n");
    assert!(black.contains("\n8  r n b k q b n r\n   h g f e d c b a\n"), "{black}");
    assert!(
        black.contains("Zeitnot's last move had no clock") && black.contains("there is no move of yours"),
        "{black}"
    );
}

#[test]
fn the_time_of_a_move_is_explained() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--backend=random", "--nodes=20", "--preset=bullet", "--time-manager=complexity"];
    let said = text(folder.path(), &flags, "e4\nexplain\n");
    assert!(said.contains("Zeitnot is thinking... (target ") && said.contains("time manager complexity"), "{said}");
    assert!(said.contains("  emergency ") && said.contains("complexity: used="), "{said}");
}

#[test]
fn the_rules_end_a_game() {
    let folder = tempfile::tempdir().unwrap();
    let mate = ["--backend=random", "--nodes=5", "--fen=6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"];
    let said = text(folder.path(), &mate, "Ra8\nnever read\n");
    assert!(said.contains("1-0: you win (checkmate)\nthe game is in play.pgn\n"), "{said}");
    // A second game goes behind the first.
    let stalemate = ["--backend=random", "--nodes=5", "--fen=7k/8/6K1/8/8/8/5Q2/8 w - - 0 1"];
    let said = text(folder.path(), &stalemate, "f2f7\n");
    assert!(said.contains("1/2-1/2: a draw (stalemate)\n"), "{said}");
    let games = read_games(fs::File::open(folder.path().join("play.pgn")).unwrap()).unwrap();
    assert_eq!(games.iter().map(|game| game.result.unwrap()).collect::<Vec<_>>(), ["1-0", "1/2-1/2"]);
}

#[test]
fn a_game_that_cannot_be_played_is_refused_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("other.pgn"), "[Event \"x\"]\n\n1. e4 *\n").unwrap();
    for (flags, part) in [
        (&["--resume"][..], "cannot go on with play.pgn"),
        (&["--resume", "--pgn=other.pgn"], "the last game of other.pgn is not of zeitnot play"),
        (&["--pgn=no/such.pgn"], "cannot write no/such.pgn"),
        (&["--fen=7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"], "--fen: "),
    ] {
        let output = said(folder.path(), &[&["--backend=random"], flags].concat(), "");
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), errors.lines().count()), (Some(1), 1), "{errors}");
        assert!(errors.contains(part), "{errors}");
    }
    let mut table = Table::sit_down(folder.path(), &["--backend=random", "--nodes=5"]);
    table.wait("You have White");
    let output = said(folder.path(), &["--backend=random"], "");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("play.pgn has a game that is being played"), "{errors}");
    let wrong = said(folder.path(), &["--resume", "--side=black"], "");
    assert_eq!(wrong.status.code(), Some(2));
}

#[test]
fn a_game_whose_file_was_cut_goes_on_before_the_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("play.pgn");
    text(folder.path(), &["--backend=random", "--tc=60:00", "--nodes=5"], "e4\na4\nquit\n");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, &whole[..whole.find("2... ").unwrap() - 3]).unwrap();
    let output = said(folder.path(), &["--backend=random", "--nodes=5", "--resume"], "moves\nquit\n");
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(
        errors.contains("play.pgn: a comment without an end after 3 plies: the game goes on from there"),
        "{errors}"
    );
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("Zeitnot plays 2... ") && said.contains("\n1. e4 ") && said.contains(" 2. a4 "), "{said}");
    assert_eq!(game_in(&path).game.moves().len(), 4);
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_ends_no_game() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--backend=random", "--nodes=5", "--pgn=/dev/full", "--fen=6k1/5ppp/8/8/8/8/R7/6K1 w - - 0 1"];
    let output = said(folder.path(), &flags, "Ra1\nsave saved.pgn\nresign\n");
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(
        said.contains("cannot write /dev/full") && said.contains("; save FILE writes the game elsewhere\n"),
        "{said}"
    );
    assert!(said.contains("the game is in saved.pgn\n") && said.contains("{resignation} 0-1\n"), "{said}");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(game_in(&folder.path().join("saved.pgn")).game.moves().len(), 2);
}

#[cfg(unix)]
#[test]
fn ctrl_c_says_how_to_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = Table::sit_down(folder.path(), &["--backend=random", "--nodes=5", "--pgn=my.pgn"]);
    table.ask("e4", "Zeitnot plays 1... ");
    Command::new("sh").args(["-c", &format!("kill -INT {}", table.child.id())]).status().unwrap();
    assert_eq!(table.child.wait().unwrap().code(), Some(130));
    let mut errors = String::new();
    table.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert!(
        errors.ends_with(
            "the game is in my.pgn; zeitnot play --resume --nodes=5 --pgn=my.pgn --backend=random --threads=1 goes on with it\n"
        ),
        "{errors}"
    );
    assert_eq!(game_in(&folder.path().join("my.pgn")).game.moves().len(), 2);
}

#[test]
fn the_line_that_goes_on_has_the_flags_of_the_game() {
    let folder = tempfile::tempdir().unwrap();
    let level = ["--elo=1500", "--tc=3:00", "--side=white", "--pgn=my game.pgn", "--time-manager=human(elo=1500)"];
    let first =
        said(folder.path(), &[&level[..], &["--weights=zeitnot-tiny", "--syzygy-fast-play=false"]].concat(), "e4\n");
    let said_first = String::from_utf8_lossy(&first.stdout).into_owned();
    let (_, line) = said_first.rsplit_once("; zeitnot ").unwrap_or_else(|| panic!("{first:?}"));
    let line = line.strip_suffix(" goes on with it\n").unwrap();
    let words = shlex::split(line).unwrap();
    assert_eq!(words[..3], ["play", "--resume", "--elo=1500"], "{line}");
    for flag in ["--pgn=my game.pgn", "--time-manager=human(elo=1500)", "--syzygy-fast-play=false", "--threads=1"] {
        assert!(words.iter().any(|word| word == flag), "{flag}: {line}");
    }
    assert!(!line.contains("--tc") && !line.contains("--side"), "{line}");
    let flags: Vec<&str> = words[1..].iter().map(String::as_str).filter(|word| *word != "--threads=1").collect();
    let again = said(folder.path(), &flags, "quit\n");
    assert!(again.status.success() && !String::from_utf8_lossy(&again.stderr).contains("began with"), "{again:?}");
    let other =
        said(folder.path(), &["--resume", "--pgn=my game.pgn", "--skill-level=20", "--backend=random"], "quit\n");
    let errors = String::from_utf8_lossy(&other.stderr).into_owned();
    assert!(errors.contains("the game began with the network zeitnot-small; now random plays"), "{errors}");
}

#[test]
fn a_level_goes_on_at_its_level() {
    let folder = tempfile::tempdir().unwrap();
    said(folder.path(), &["--elo=1200", "--nodes=40", "--tc=5:00", "--time-manager=smooth"], "e4\nquit\n");
    let path = folder.path().join("play.pgn");
    let pgn = fs::read_to_string(&path).unwrap();
    let tag = "[EngineOptions \"UCI_LimitStrength=true UCI_Elo=1200 TimeManager=smooth nodes=40\"]\n";
    assert!(pgn.contains(tag), "{pgn}");
    // Twice: what goes on is kept, too.
    for _ in 0..2 {
        let again = said(folder.path(), &["--resume"], "d4\nquit\n");
        let errors = String::from_utf8_lossy(&again.stderr).into_owned();
        assert!(errors.contains("for a level (UCI_LimitStrength"), "{errors}");
        let pgn = fs::read_to_string(&path).unwrap();
        assert!(pgn.contains(tag) && again.stdout.windows(8).any(|word| word == b"40 nodes"), "{again:?}");
    }
    let stronger = said(folder.path(), &["--resume", "--elo=1300"], "quit\n");
    assert!(fs::read_to_string(&path).unwrap().contains("UCI_Elo=1200"), "nothing was played: {stronger:?}");
    // A file from elsewhere starts no program.
    fs::write(&path, pgn.replace(tag, "[EngineOptions \"'TimeManager=external(command=\\\"true\\\")'\"]\n")).unwrap();
    let refused = said(folder.path(), &["--resume"], "");
    let errors = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(refused.status.code() == Some(1) && errors.contains("play.pgn: TimeManager=external"), "{errors}");
}

#[test]
fn a_level_has_no_target_and_its_hint_is_of_full_strength() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["--elo=1000", "--tc=5:00"];
    let said = text(folder.path(), &flags, "hint\nhint\ne4\nexplain\nquit\n");
    let hints: Vec<&str> = said.lines().filter_map(|line| line.strip_prefix("Hint: ")).collect();
    assert_eq!(hints.len(), 2, "{said}");
    for hint in hints {
        let (mv, rest) = hint.split_once("  (line 1. ").unwrap();
        // A node of its own, or of a move with one node, sees no line.
        assert!(rest.starts_with(mv) && rest.split(' ').count() > 3, "{hint}");
    }
    let few = text(folder.path(), &["--nodes=1", "--pgn=few.pgn"], "hint\nquit\n");
    let hint = few.lines().find(|line| line.starts_with("Hint: ")).unwrap();
    assert!(hint.split(' ').count() > 6, "{hint}");
    assert!(
        said.contains("Zeitnot plays 1... ") && !said.contains("target") && !said.contains("is thinking"),
        "{said}"
    );
    assert!(said.contains("limited by the nodes of its level"), "{said}");
    let pgn = fs::read_to_string(folder.path().join("play.pgn")).unwrap();
    assert!(pgn.contains("[%emt ") && !pgn.contains("%budget") && !pgn.contains("%limit"), "{pgn}");
    let paced = text(folder.path(), &["--elo=1000", "--tc=0:30", "--time-manager=human"], "e4\nquit\n");
    assert!(paced.contains("Zeitnot is thinking... (target "), "{paced}");
}

#[test]
fn flags_of_opponents_that_contradict_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, part) in [
        (&["--elo=1500", "--maia=1900"][..], "'--elo <ELO>' cannot be used with '--maia <RATING>'"),
        (&["--maia=1550"], "there are: 1100 to 1900 in hundreds, and 2200"),
        (&["--preset=rapids"], "there are: bullet, blitz, rapid, classical, infinite, fixed-depth"),
    ] {
        let output = said(folder.path(), flags, "");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && errors.contains(part), "{errors}");
    }
}

#[test]
fn a_level_out_of_its_range_is_the_nearest() {
    let folder = tempfile::tempdir().unwrap();
    for (flags, told) in [
        (&["--elo=900"][..], "option UCI_Elo: 900 is out of its range, 1000 is taken"),
        (&["--limit-strength=true", "--uci-elo=3000"], "option UCI_Elo: 3000 is out of its range, 2600 is taken"),
    ] {
        let output = said(folder.path(), &[&["--tc=5:00"], flags].concat(), "quit\n");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && errors.contains(told), "{errors}");
    }
}

#[test]
fn a_maia_that_searches_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let note = "maia-1500 searches, and does not play like people";
    for (flags, searches) in [
        (&["--preset=infinite"][..], true),
        (&["--nodes=10"], true),
        (&["--tc=3:00", "--time-manager=legacy"], true),
        (&["--tc=3:00", "--time-manager=smooth"], true),
        (&["--tc=3:00", "--nodes-per-move=0"], true),
        (&["--tc=3:00"], false),
    ] {
        // The line comes before the network, which need not be here.
        let output = said(folder.path(), &[&["--maia=1500", "--backend=random"], flags].concat(), "quit\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr).contains(note), searches, "{output:?}");
    }
}

#[test]
fn a_person_of_a_level_resigns_a_lost_game_and_full_strength_does_not() {
    let lost = ["--fen=7k/8/8/8/8/8/QR6/K7 w - - 0 1", "--preset=infinite", "--weights=zeitnot-tiny"];
    let moves = "Kb1\nKc1\nKd1\nKe1\nKf1\nKg1\nKh1\nquit\n";
    for (flags, resigns) in [(&["--elo=1000"][..], true), (&["--elo=2400"], true), (&["--nodes=1"], false)] {
        let folder = tempfile::tempdir().unwrap();
        let said = text(folder.path(), &[&lost[..], flags].concat(), moves);
        assert_eq!(said.contains("Zeitnot resigns.\n1-0: you win (resignation)"), resigns, "{flags:?}: {said}");
        let answers = said.matches("Zeitnot plays").count();
        assert_eq!(
            answers,
            if resigns { [2, 5][usize::from(flags == ["--elo=1000"])] } else { 7 },
            "{flags:?}: {said}"
        );
    }
}
