//! A server on the loopback that is lichess and its broker for external engines: a list of engines behind a token, long
//! polls for work, and the lines of a search as the body of a request.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Only what hangs takes so long, even on a machine that is busy with something else.
const HANG: Duration = Duration::from_secs(120);
/// Time that a poll waits for work; the broker's is 10 s.
const POLL: Duration = Duration::from_secs(2);

/// The words of `info` that the broker reads, each with the words that follow it; any other is an error there. `pv` has
/// the rest of the line.
const WORDS: [(&str, usize); 9] = [
    ("depth", 1),
    ("seldepth", 1),
    ("time", 1),
    ("nodes", 1),
    ("score", 2),
    ("hashfull", 1),
    ("nps", 1),
    ("tbhits", 1),
    ("multipv", 1),
];

/// A request for analysis.
#[derive(Clone)]
pub struct Job {
    pub id: String,
    pub work: Value,
    /// Lines after which who asked goes away.
    pub cut: Option<usize>,
}

impl Job {
    pub fn new(id: &str, work: Value) -> Job {
        Job { id: id.to_owned(), work, cut: None }
    }

    pub fn cut_after(self, lines: usize) -> Job {
        Job { cut: Some(lines), ..self }
    }
}

#[derive(Default)]
struct State {
    token: String,
    is_away: bool,
    /// Connections that were closed while the server was away.
    turned_away: usize,
    engines: Vec<Value>,
    registered: usize,
    waited_for: usize,
    secrets: BTreeSet<String>,
    jobs: VecDeque<Job>,
    taken: BTreeMap<String, Job>,
    /// The lines about each request, and whether they have ended.
    lines: BTreeMap<String, (Vec<String>, bool)>,
    faults: Vec<String>,
    paths: Vec<String>,
}

/// The server.
pub struct FakeLichess {
    pub url: String,
    state: Arc<(Mutex<State>, Condvar)>,
}

impl FakeLichess {
    pub fn start(token: &str) -> FakeLichess {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new((Mutex::new(State { token: token.to_owned(), ..State::default() }), Condvar::new()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || Connection { reader: BufReader::new(stream), shared }.serve());
            }
        });
        FakeLichess { url, state }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.0.lock().unwrap()
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.state.1.notify_all();
    }

    /// Waits until the state has something.
    fn wait<T>(&self, what: &str, mut found: impl FnMut(&mut State) -> Option<T>) -> T {
        let (mut state, deadline) = (self.lock(), Instant::now() + HANG);
        loop {
            if let Some(found) = found(&mut state) {
                return found;
            }
            assert!(Instant::now() < deadline, "{what}; faults: {:?}; requests: {:?}", state.faults, state.paths);
            state = self.state.1.wait_timeout(state, Duration::from_millis(100)).unwrap().0;
        }
    }

    /// Closes every connection, and each new one at once, until [`FakeLichess::come_back`].
    pub fn go_away(&self) {
        self.change(|state| state.is_away = true);
    }

    /// Serves again, after somebody has come in vain or a poll has been cut.
    pub fn come_back(&self) {
        self.wait_for_attempts(1);
        self.change(|state| (state.is_away, state.turned_away) = (false, 0));
    }

    pub fn wait_for_attempts(&self, count: usize) {
        self.wait("nobody comes", |state| (state.turned_away >= count).then_some(()));
    }

    /// The engine that was registered since the last call.
    pub fn wait_for_registration(&self) -> Value {
        self.wait("no registration", |state| {
            let is_new = state.registered > state.waited_for;
            state.waited_for = state.registered;
            is_new.then(|| state.engines[0].clone())
        })
    }

    pub fn ask(&self, job: Job) {
        self.change(|state| state.jobs.push_back(job));
    }

    pub fn wait_for_lines(&self, job: &Job, count: usize) {
        self.wait("no lines", |state| (state.lines.get(&job.id)?.0.len() >= count).then_some(()));
    }

    /// The lines about a request, when they have ended.
    pub fn lines_of(&self, job: &Job) -> Vec<String> {
        self.wait(&format!("no end of {}", job.id), |state| {
            state.lines.get(&job.id).filter(|lines| lines.1).map(|lines| lines.0.clone())
        })
    }

    pub fn faults(&self) -> Vec<String> {
        self.lock().faults.clone()
    }

    pub fn secrets(&self) -> BTreeSet<String> {
        self.lock().secrets.clone()
    }

    /// Method and path of each request.
    pub fn paths(&self) -> Vec<String> {
        self.lock().paths.clone()
    }
}

/// A connection, with one request after the other.
struct Connection {
    reader: BufReader<TcpStream>,
    shared: Arc<(Mutex<State>, Condvar)>,
}

/// The head of a request.
struct Head {
    method: String,
    path: String,
    authorization: String,
    length: usize,
    is_chunked: bool,
}

impl Connection {
    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let changed = change(&mut self.shared.0.lock().unwrap());
        self.shared.1.notify_all();
        changed
    }

    fn serve(mut self) {
        loop {
            let is_away = |state: &mut State| {
                state.turned_away += usize::from(state.is_away);
                state.is_away
            };
            if self.change(is_away) {
                return;
            }
            let Some(head) = self.head() else { return };
            if self.change(is_away) || self.answer(&head).is_none() {
                return;
            }
        }
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let count = self.reader.read_line(&mut line).ok()?;
        (count > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
    }

    fn head(&mut self) -> Option<Head> {
        let first = self.line()?;
        let mut words = first.split(' ').map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let mut head = Head { method, path, authorization: String::new(), length: 0, is_chunked: false };
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            match name.to_ascii_lowercase().as_str() {
                "authorization" => head.authorization = value.to_owned(),
                "content-length" => head.length = value.parse().ok()?,
                "transfer-encoding" => head.is_chunked = value == "chunked",
                _ => {}
            }
        }
        self.change(|state| state.paths.push(format!("{} {}", head.method, head.path)));
        Some(head)
    }

    fn reply(&mut self, status: &str, body: &str) -> Option<()> {
        let text = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        self.reader.get_mut().write_all(text.as_bytes()).ok()
    }

    /// Answers a request; `None` where the connection is to be closed.
    fn answer(&mut self, head: &Head) -> Option<()> {
        const ENGINES: &str = "/api/external-engine";
        if let Some(id) = head.path.strip_prefix("/api/external-engine/work/") {
            assert!(head.is_chunked);
            return self.take_lines(id);
        }
        let mut body = vec![0; head.length];
        std::io::Read::read_exact(&mut self.reader, &mut body).ok()?;
        let body: Value = serde_json::from_slice(&body).unwrap_or_default();
        if head.path == "/api/external-engine/work" {
            return self.give_work(&body);
        }
        if !self.change(|state| head.authorization == format!("Bearer {}", state.token)) {
            return self.reply("401 Unauthorized", "{\"error\":\"No such token\"}");
        }
        let of = head.path.strip_prefix(&format!("{ENGINES}/")).map(str::to_owned);
        let (status, answer) = self.change(|state| match (head.method.as_str(), of) {
            ("GET", None) => ("200 OK", Value::from(state.engines.clone())),
            ("POST", None) => {
                state.engines.push(Value::Null);
                let id = format!("eei_{}", state.engines.len());
                ("200 OK", register(state, &id, body))
            }
            ("PUT", Some(id)) if state.engines.iter().any(|engine| engine["id"] == *id) => {
                ("200 OK", register(state, &id, body))
            }
            _ => ("404 Not Found", Value::Null),
        });
        self.reply(status, &answer.to_string())
    }

    /// Long polling: a job, or nothing after a while.
    fn give_work(&mut self, body: &Value) -> Option<()> {
        let deadline = Instant::now() + POLL;
        let job = {
            let mut state = self.shared.0.lock().unwrap();
            loop {
                if state.is_away {
                    state.turned_away += 1;
                    return None;
                }
                let is_ours = state.engines.iter().any(|engine| engine["providerSecret"] == body["providerSecret"]);
                let job = if is_ours { state.jobs.pop_front() } else { None };
                if let Some(job) = job {
                    state.taken.insert(job.id.clone(), job.clone());
                    break Some(job);
                }
                if Instant::now() >= deadline {
                    break None;
                }
                state = self.shared.1.wait_timeout(state, Duration::from_millis(100)).unwrap().0;
            }
        };
        match job {
            Some(Job { id, work, .. }) => {
                self.reply("200 OK", &json!({ "id": id, "work": work, "engine": { "id": "eei_1" } }).to_string())
            }
            None => self.reply("204 No Content", ""),
        }
    }

    /// Takes the lines of a search as they come.
    fn take_lines(&mut self, id: &str) -> Option<()> {
        let Some(job) = self.change(|state| state.taken.remove(id)) else { return self.reply("404 Not Found", "") };
        let mut text = String::new();
        let mut count = 0;
        let fault = 'lines: loop {
            let Some(chunk) = self.chunk() else { break Some("the body is cut".to_owned()) };
            if chunk.is_empty() {
                break Some("the body ends without a move".to_owned());
            }
            text += &chunk;
            while let Some((line, rest)) = text.split_once('\n') {
                let (line, rest) = (line.to_owned(), rest.to_owned());
                text = rest;
                count += 1;
                let fault = fault_of(&line);
                let is_last = line.starts_with("bestmove ");
                self.change(|state| state.lines.entry(id.to_owned()).or_default().0.push(line));
                if fault.is_some() || is_last || job.cut == Some(count) {
                    break 'lines fault;
                }
            }
        };
        let (status, body) = if fault.is_some() { ("400 Bad Request", "uci protocol error") } else { ("200 OK", "") };
        self.change(|state| {
            state.lines.entry(id.to_owned()).or_default().1 = true;
            state.faults.extend(fault.map(|fault| format!("{id}: {fault}")));
        });
        self.reply(status, body);
        // Whatever follows of the body is not read.
        None
    }

    fn chunk(&mut self) -> Option<String> {
        let length = usize::from_str_radix(&self.line()?, 16).ok()?;
        let mut bytes = vec![0; length];
        std::io::Read::read_exact(&mut self.reader, &mut bytes).ok()?;
        self.line()?;
        String::from_utf8(bytes).ok()
    }
}

fn register(state: &mut State, id: &str, mut form: Value) -> Value {
    let secret = form["providerSecret"].as_str().unwrap_or_default().to_owned();
    state.secrets.insert(secret);
    form["id"] = id.into();
    let number = id.trim_start_matches("eei_").parse::<usize>().unwrap();
    state.engines[number - 1] = form.clone();
    state.registered += 1;
    form
}

/// What the broker would not read.
fn fault_of(line: &str) -> Option<String> {
    let mut words = line.split(' ');
    match words.next() {
        Some("bestmove") => return None,
        Some("info") => {}
        _ => return Some(format!("no line of UCI: {line}")),
    }
    while let Some(word) = words.next() {
        if word == "pv" {
            return None;
        }
        let Some((_, count)) = WORDS.iter().find(|(known, _)| *known == word) else {
            return Some(format!("unexpected {word}: {line}"));
        };
        if words.by_ref().take(*count).count() < *count {
            return Some(format!("{word} lacks its value: {line}"));
        }
    }
    Some(format!("no pv: {line}"))
}
