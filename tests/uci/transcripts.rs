//! Sessions of clients, recorded or written, replayed from `transcripts/*.txt`. A line is sent as it stands; `< WORD` waits for an answer that
//! begins so; `#` begins a comment. Every `go` must get one legal move, and none before the client lets it come; nothing may
//! be an error; and no remark may look like analysis.

use super::driver::{Answer, Uci, errors, game, words_after, zeitnot};
use std::collections::VecDeque;
use std::path::Path;
use zeitnot_engine::chess::Game;

/// A search that has no answer yet.
struct Search {
    game: Game,
    /// Whether it ends only when it is told to.
    waits: bool,
    lines: Vec<String>,
    /// Number of lines of analysis that it shows.
    shown: usize,
}

/// State of a client and of what it has heard.
struct Session {
    name: String,
    game: Game,
    multi_pv: usize,
    searches: VecDeque<Search>,
    answered: usize,
}

impl Session {
    fn new(name: String) -> Session {
        Session { name, game: Game::new(), multi_pv: 1, searches: VecDeque::new(), answered: 0 }
    }

    fn say(&mut self, line: &str) {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            // Scid sends the word `moves` without a move.
            "position" => self.game = game(rest.strip_prefix("fen ").unwrap_or(rest).trim_end_matches(" moves")),
            "setoption" => {
                if let Some(value) = rest.strip_prefix("name MultiPV value ") {
                    self.multi_pv = value.parse().unwrap();
                }
            }
            "go" => {
                let waits = rest.split(' ').any(|word| ["infinite", "ponder"].contains(&word));
                let chosen = words_after(rest, "searchmoves").count();
                let moves = if chosen > 0 { chosen } else { self.game.current().legal_moves().len() };
                let shown = self.multi_pv.min(moves);
                self.searches.push_back(Search { game: self.game.clone(), waits, lines: Vec::new(), shown });
            }
            "stop" | "ponderhit" => self.searches.iter_mut().for_each(|search| search.waits = false),
            _ => {}
        }
    }

    fn hear(&mut self, line: String) {
        let name = &self.name;
        // lichess-bot's folder of tables is not there until somebody makes it.
        let is_known = line.contains("cannot read the tables in \"./syzygy/\"");
        assert!(is_known || errors(std::slice::from_ref(&line)).is_empty(), "{name}: {line}");
        if line.starts_with("info string ") {
            // c-chess-cli looks for these words in every info, and ends where a score is no number.
            let taken = |word: &str| ["score", "depth", "pv"].contains(&word);
            assert!(!line.split(' ').any(taken), "{name}: {line}");
        }
        let is_move = line.starts_with("bestmove ");
        let Some(search) = self.searches.front_mut() else {
            assert!(!is_move, "{name}: nothing is searched: {line}");
            return;
        };
        search.lines.push(line);
        if !is_move {
            return;
        }
        let search = self.searches.pop_front().unwrap();
        assert!(!search.waits, "{name}: nobody asked for the move yet: {:?}", search.lines);
        let answer = Answer::read(search.lines, &search.game);
        if let Some(last) = answer.infos().last().filter(|_| search.shown > 1) {
            let number = words_after(last, "multipv").next().unwrap();
            assert_eq!(number, search.shown.to_string(), "{name}: {:?}", answer.lines);
        }
        self.answered += 1;
    }
}

/// Plays a transcript; returns how many searches it had.
fn replay(path: &Path, folder: &Path) -> usize {
    let mut command = zeitnot();
    command.arg("--backend=random").current_dir(folder);
    let mut engine = Uci::spawn(command);
    let mut session = Session::new(path.file_stem().unwrap().to_string_lossy().into_owned());
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    for line in lines.by_ref().take_while(|line| *line != "quit") {
        if let Some(words) = line.strip_prefix("< ") {
            let is_last = |line: &str| line == words || line.starts_with(&format!("{words} "));
            engine.until_line(is_last).into_iter().for_each(|line| session.hear(line));
        } else {
            session.say(line);
            engine.send(line);
        }
    }
    assert_eq!(lines.next(), None, "{}: quit is the last line", session.name);
    engine.quit().into_iter().for_each(|line| session.hear(line));
    assert!(session.searches.is_empty(), "{}: a go without a move", session.name);
    session.answered
}

#[test]
fn sessions_of_clients() {
    let transcripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/uci/transcripts");
    let folder = tempfile::tempdir().unwrap();
    let mut played = 0;
    for entry in std::fs::read_dir(transcripts).unwrap() {
        let path = entry.unwrap().path();
        let searches = replay(&path, folder.path());
        assert!(searches >= 3, "{}: {searches} searches", path.display());
        played += 1;
    }
    assert!(played >= 12, "{played}");
}
