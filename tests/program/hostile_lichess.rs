//! The provider of analysis for lichess, against servers that lead it away, do not read, never end or answer nonsense.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use crate::lichess::{Provider, TOKEN, errors};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
#[cfg(target_os = "linux")]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Only what hangs takes so long, even on a machine that is busy with something else.
const HANG: Duration = Duration::from_secs(120);
const FEN: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// A connection, of which something may have been read.
type Connection = BufReader<TcpStream>;

/// A request that has come.
#[derive(Clone)]
struct Request {
    at: Instant,
    /// Method and path.
    line: String,
    authorization: String,
    body: String,
}

/// A server that answers each request by a function, which may write what it likes.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    /// `answer` gets the request, the number of those of its line before, and the connection.
    fn start(answer: impl Fn(&Request, usize, &mut Connection) + Send + Sync + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (shared, answer) = (Arc::clone(&requests), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (shared, answer) = (Arc::clone(&shared), Arc::clone(&answer));
                std::thread::spawn(move || serve(stream, &shared, &*answer));
            }
        });
        Server { url, requests }
    }

    fn requests(&self) -> Vec<Request> {
        self.requests.lock().unwrap().clone()
    }

    /// Waits until requests of a line are there, and returns them.
    fn wait_for(&self, line: &str, count: usize) -> Vec<Request> {
        let deadline = Instant::now() + HANG;
        loop {
            let found: Vec<Request> = self.requests().into_iter().filter(|request| request.line == line).collect();
            if found.len() >= count {
                return found;
            }
            assert!(Instant::now() < deadline, "{} of {count} {line}", found.len());
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// Serves a connection: one request, of which a body without a length is not read.
fn serve(stream: TcpStream, requests: &Mutex<Vec<Request>>, answer: &dyn Fn(&Request, usize, &mut Connection)) {
    let mut reader = BufReader::new(stream);
    let (mut text, mut length) = (String::new(), 0);
    let mut request =
        Request { at: Instant::now(), line: String::new(), authorization: String::new(), body: String::new() };
    loop {
        text.clear();
        if reader.read_line(&mut text).unwrap_or(0) == 0 {
            return;
        }
        let line = text.trim_end();
        match line.split_once(": ") {
            _ if line.is_empty() => break,
            None => request.line = line.trim_end_matches(" HTTP/1.1").to_owned(),
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => length = value.parse().unwrap(),
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                request.authorization = value.to_owned()
            }
            Some(_) => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    request.body = String::from_utf8(body).unwrap();
    let before = {
        let mut requests = requests.lock().unwrap();
        requests.push(request.clone());
        requests.iter().filter(|other| other.line == request.line).count() - 1
    };
    answer(&request, before, &mut reader);
}

/// Writes an answer, if anybody reads it.
fn reply(stream: &mut Connection, status: &str, headers: &str, body: &str) {
    let length = body.len();
    let text = format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}");
    let _ = stream.get_mut().write_all(text.as_bytes());
}

/// What lichess answers where nothing is wrong; returns whether it is a request that it answers.
fn usual(request: &Request, stream: &mut Connection) -> bool {
    match request.line.split_once(" /").unwrap() {
        ("GET", "api/external-engine") => reply(stream, "200 OK", "", "[]"),
        ("POST", "api/external-engine") => {
            reply(stream, "201 Created", "", &json!({ "id": "eei_1", "name": "Zeitnot" }).to_string())
        }
        _ => return false,
    }
    true
}

const LIST: &str = "GET /api/external-engine";
const WORK: &str = "POST /api/external-engine/work";

fn job(id: &str, change: &[(&str, Value)]) -> String {
    let mut work = json!({
        "sessionId": "s", "threads": 1, "hash": 16, "multiPv": 1, "variant": "chess", "initialFen": FEN, "moves": [], "nodes": 50,
    });
    for (key, value) in change {
        work[*key] = value.clone();
    }
    json!({ "id": id, "work": work, "engine": {} }).to_string()
}

/// Reads the lines of a search to their end.
fn read_lines(stream: &mut Connection) -> String {
    let (mut text, mut bytes) = (String::new(), [0; 4096]);
    while !text.contains("bestmove ") {
        match stream.read(&mut bytes) {
            Ok(count) if count > 0 => text += &String::from_utf8_lossy(&bytes[..count]),
            _ => break,
        }
    }
    text
}

/// Takes the lines of a search.
fn take(stream: &mut Connection) {
    read_lines(stream);
    reply(stream, "200 OK", "", "");
}

/// Kilobytes of memory of a process, by Linux' account.
#[cfg(target_os = "linux")]
fn status(id: u32, key: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let value = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
    value.split_whitespace().next().unwrap().parse().unwrap()
}

#[test]
fn a_redirect_is_followed_nowhere() {
    let elsewhere = Server::start(|_, _, stream| reply(stream, "200 OK", "", "[]"));
    let other = elsewhere.url.clone();
    // The path of the address says what is to happen: /where/code/to.
    let server = Server::start(move |request, before, stream| {
        let (method, path) = request.line.split_once(" /").unwrap();
        let Some((scenario, path)) = path.split_once("/api/") else { return reply(stream, "200 OK", "", "[]") };
        let [place, code, to] = scenario.split('/').collect::<Vec<_>>()[..] else { panic!("{scenario}") };
        let at = match (method, path) {
            ("GET", _) => "list",
            ("POST", "external-engine") => "post",
            ("PUT", _) => "put",
            (_, "external-engine/work") if place == "lines" && before > 0 => "",
            (_, "external-engine/work") => "work",
            _ => "lines",
        };
        let target = if to == "other" { format!("{other}/api/there") } else { "/there".to_owned() };
        let listed = if place == "put" { json!([{ "id": "eei_1", "name": "Zeitnot" }]) } else { json!([]) };
        match at {
            "lines" if place == "lines" => {
                read_lines(stream);
                reply(stream, &format!("{code} Away"), &format!("location: {target}\r\n"), "");
            }
            _ if at == place => reply(stream, &format!("{code} Away"), &format!("location: {target}\r\n"), ""),
            "list" => reply(stream, "200 OK", "", &listed.to_string()),
            "post" => reply(stream, "201 Created", "", &json!({ "id": "eei_1", "name": "Zeitnot" }).to_string()),
            "work" => reply(stream, "200 OK", "", &job("job1", &[])),
            _ => reply(stream, "204 No Content", "", ""),
        }
    });
    let mut runs = Vec::new();
    for place in ["list", "post", "put", "work", "lines"] {
        for code in [301, 302, 303, 307, 308] {
            let to = if (code + place.len()) % 2 == 0 { "other" } else { "same" };
            runs.push((place, code, to));
        }
    }
    runs.extend([("post", 301, "other"), ("post", 302, "other"), ("post", 307, "other"), ("list", 302, "other")]);
    for runs in runs.chunks(6) {
        let begin = |&(place, code, to): &(&'static str, usize, &'static str)| {
            let url = format!("{}/{place}/{code}/{to}", server.url);
            (place, code, Provider::start_at(&url, &url, &[], Some(TOKEN)))
        };
        let providers: Vec<_> = runs.iter().map(begin).collect();
        for (place, code, provider) in providers {
            provider.wait_for(&format!("answers {code} "));
            let is_registered = matches!(place, "work" | "lines");
            let is_final = !is_registered && matches!(code, 301 | 308);
            let said = if is_final { provider.ends().1 } else { provider.kill() };
            assert_eq!(said.contains("lichess lists the engine"), is_registered, "{place} {code}: {said}");
            let told = format!("answers {code} ");
            let line = said.lines().find(|line| line.contains(&told));
            assert!(line.is_some_and(|line| line.contains("/there, which is not followed")), "{place} {code}: {said}");
            assert_eq!(errors(&said).len(), usize::from(is_final), "{place} {code}: {said}");
        }
    }
    assert!(elsewhere.requests().is_empty(), "{:?}", elsewhere.requests()[0].line);
    let requests = server.requests();
    assert!(requests.iter().all(|request| !request.line.contains("there")), "nothing is followed");
    let shown = |request: &&Request| request.authorization.contains(TOKEN);
    assert!(
        requests.iter().filter(shown).all(|request| !request.line.contains("external-engine/work")),
        "the broker has no token"
    );
}

#[test]
fn a_server_is_left_alone_as_long_as_it_asks() {
    let server = Server::start(|request, before, stream| match (request.line.as_str(), before) {
        (LIST, 0) => reply(stream, "429 Too Many Requests", "retry-after: 3\r\n", ""),
        (WORK, 0) => reply(stream, "503 Service Unavailable", "Retry-After: 4\r\n", "busy\x1b[2J\nno"),
        (WORK, 1) => reply(stream, "429 Too Many Requests", "", ""),
        _ => drop(usual(request, stream)),
    });
    let provider = Provider::start_at(&server.url, &server.url, &[], Some(TOKEN));
    let gaps = |requests: &[Request]| requests.windows(2).map(|two| two[1].at - two[0].at).collect::<Vec<_>>();
    let work = server.wait_for(WORK, 2);
    assert!(gaps(&work)[0] >= Duration::from_secs(4), "{:?}", gaps(&work));
    let lists = server.wait_for(LIST, 2);
    assert!(gaps(&lists)[0] >= Duration::from_secs(3), "{:?}", gaps(&lists));
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(server.wait_for(WORK, 2).len(), 2, "lichess wants a minute of silence");
    let said = provider.kill();
    assert!(
        said.contains("429 Too Many Requests; it is tried again in 3 s") && said.contains(": busy\\u001b[2J; it is"),
        "{said}"
    );
}

#[test]
fn a_server_that_takes_no_lines_is_left_alone() {
    let refused = AtomicUsize::new(0);
    let server = Server::start(move |request, before, stream| {
        let Some((_, id)) = request.line.split_once("/work/job") else {
            if request.line != WORK {
                usual(request, stream);
                return;
            }
            // A request at every poll, soon after the one before was refused.
            while refused.load(Ordering::Relaxed) < before {
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(Duration::from_secs(1));
            return reply(stream, "200 OK", "", &job(&format!("job{before}"), &[]));
        };
        read_lines(stream);
        match id {
            "0" => reply(stream, "503 Service Unavailable", "retry-after: 4\r\n", "busy"),
            "1" => reply(stream, "400 Bad Request", "", "strange"),
            _ => reply(stream, "429 Too Many Requests", "Retry-After: 3600\r\n", ""),
        }
        refused.fetch_add(1, Ordering::Relaxed);
    });
    let provider = Provider::start_at(&server.url, &server.url, &[], Some(TOKEN));
    provider.wait_for("; it is tried again in 3600 s");
    let at = |line: &str| server.wait_for(line, 1)[0].at;
    let pause = at(&format!("{WORK}/job1")) - at(&format!("{WORK}/job0"));
    assert!(pause >= Duration::from_secs(4), "{pause:?}");
    std::thread::sleep(Duration::from_secs(3));
    let requests = server.requests();
    assert!(!requests.iter().any(|request| request.line.ends_with("/job3")), "lichess wants an hour of silence");
    assert!(requests.iter().filter(|request| request.line == WORK).count() <= 4, "one may have waited");
    let said = provider.kill();
    assert_eq!(said.matches("; it is tried again in ").count(), 2, "{said}");
    assert!(
        said.contains("503 Service Unavailable: busy; it is tried again in 4 s") && !said.contains("strange"),
        "{said}"
    );
}

#[test]
fn a_long_pause_is_told_where_a_short_one_was() {
    let server = Server::start(|request, before, stream| match (request.line.as_str(), before) {
        (WORK, 0) => reply(stream, "503 Service Unavailable", "", ""),
        (WORK, _) => reply(stream, "429 Too Many Requests", "retry-after: 3600\r\n", ""),
        _ => drop(usual(request, stream)),
    });
    let provider = Provider::start_at(&server.url, &server.url, &[], Some(TOKEN));
    provider.wait_for("503 Service Unavailable; it is tried again in 1 s");
    provider.wait_for("429 Too Many Requests; it is tried again in 3600 s");
    assert_eq!(provider.kill().matches("; it is tried again in ").count(), 2);
}

#[test]
fn hostile_texts_are_short_lines() {
    let long = |text: &str| text.repeat(100_000 / text.len());
    let texts = ["a\nb\r\n\x1b[2J\x1b]0;t\x07\u{202e}x", &long("\n\x1b[31m"), &long("8/"), &long("♔")];
    let mut jobs = Vec::new();
    for text in texts {
        // Of those that are no requests none follows another, whose pause it would lengthen.
        jobs.push(job("job", &[("initialFen", text.into())]));
        jobs.push(job("job", &[("threads", text.into())]));
        jobs.push(job("job", &[("variant", text.into())]));
        jobs.push(job(text, &[]));
        jobs.push(job("job", &[("moves", json!([text]))]));
        jobs.push(text.to_owned());
    }
    // Moves without end, and texts as many as an answer may hold.
    jobs.push(job("job", &[("moves", ["g1f3", "g8f6", "f3g1", "f6g8"].repeat(4_000).into())]));
    jobs.push(job("job", &[("moves", vec![""; 80_000].into())]));
    jobs.push("[".repeat(200_000));
    jobs.push(format!("\"{}", long("x").repeat(10)));
    let count = jobs.len();
    let server = Server::start(move |request, before, stream| match request.line.as_str() {
        WORK if before < count => reply(stream, "200 OK", "", &jobs[before]),
        WORK if before == count => reply(stream, "200 OK", "", &job("last", &[])),
        WORK => reply(stream, "204 No Content", "", ""),
        line if line.starts_with("POST /api/external-engine/work/") => take(stream),
        _ => drop(usual(request, stream)),
    });
    let provider = Provider::start_at(&server.url, &server.url, &[], Some(TOKEN));
    server.wait_for("POST /api/external-engine/work/last", 1);
    #[cfg(target_os = "linux")]
    assert!(status(provider.id(), "VmHWM:") < 150_000, "{}", status(provider.id(), "VmHWM:"));
    let said = provider.kill();
    assert!(said.lines().count() < 3 * count, "{said}");
    for line in said.lines() {
        assert!(line.chars().count() < 500 && !line.contains(|c: char| c.is_control() || c == '\u{202e}'), "{line:?}");
    }
    assert!(said.matches("is refused: ").count() >= 12, "{said}");
}

/// A broker that hands out requests without a pause and reads no answer, and later does what it should.
#[cfg(target_os = "linux")]
#[test]
fn a_broker_that_reads_nothing_costs_no_threads() {
    let is_good = Arc::new(AtomicBool::new(false));
    let good = Arc::clone(&is_good);
    let server = Server::start(move |request, before, stream| match request.line.as_str() {
        WORK if !good.load(Ordering::Relaxed) => {
            reply(stream, "200 OK", "", &job(&format!("bad{before}"), &[("nodes", Value::Null)]))
        }
        WORK if before % 2 == 0 => reply(stream, "200 OK", "", &job(&format!("good{before}"), &[])),
        WORK => {
            std::thread::sleep(Duration::from_secs(1));
            reply(stream, "204 No Content", "", "");
        }
        line if line.contains("/work/bad") => std::thread::sleep(HANG),
        line if line.contains("/work/good") => take(stream),
        _ => drop(usual(request, stream)),
    });
    let provider = Provider::start_at(&server.url, &server.url, &["--threads=1", "--ramlimit-mb=20"], Some(TOKEN));
    server.wait_for(WORK, 10);
    let (threads, memory) = (status(provider.id(), "Threads:"), status(provider.id(), "VmRSS:"));
    server.wait_for(WORK, 60);
    for (key, before, more) in [("Threads:", threads, 12), ("VmRSS:", memory, 50_000)] {
        let now = status(provider.id(), key);
        assert!(now <= before + more, "{key} {before}, then {now}");
    }
    is_good.store(true, Ordering::Relaxed);
    let deadline = Instant::now() + HANG;
    while !server.requests().iter().any(|request| request.line.contains("/work/good")) {
        assert!(Instant::now() < deadline, "no answer");
        std::thread::sleep(Duration::from_millis(20));
    }
    let said = provider.kill();
    assert!(said.contains("their connections are closed") && !said.contains("is left out"), "{said}");
}

/// Answers that come too slowly or are too long are failures with a line each.
#[test]
fn an_answer_has_an_end() {
    let slowly = |stream: &mut Connection, text: &str| {
        for byte in text.as_bytes() {
            if stream.get_mut().write_all(&[*byte]).is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(500));
        }
    };
    let forever = |stream: &mut Connection, start: &str, text: &str| {
        let _ = stream.get_mut().write_all(start.as_bytes());
        while stream.get_mut().write_all(text.as_bytes()).is_ok() {}
    };
    let server = Server::start(move |request, _, stream| match request.line.split('/').nth(1).unwrap() {
        "head" => slowly(stream, &format!("HTTP/1.1 200 OK\r\nx: {}", "x".repeat(200))),
        "body" => {
            let _ = stream.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 200\r\n\r\n");
            slowly(stream, &" ".repeat(200));
        }
        "line" => forever(stream, "HTTP/1.1 200 OK\r\nx: ", "xxxxxxxx"),
        "lines" => forever(stream, "HTTP/1.1 200 OK\r\n", "x: x\r\n"),
        "long" => forever(stream, "HTTP/1.1 200 OK\r\n\r\n", "[[[[[[[["),
        "chunks" => forever(stream, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "4\r\n    \r\n"),
        "chunk" => forever(stream, "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1111111111111111"),
        "status" => forever(stream, "", "HTTP/1.1 100 Continue\r\n\r\n"),
        _ => {}
    });
    let kinds = ["head", "body", "line", "lines", "long", "chunks", "chunk", "status", "nothing"];
    let begin = |kind: &&str| {
        let url = format!("{}/{kind}", server.url);
        Provider::start_at(&url, &url, &[], Some(TOKEN))
    };
    let providers: Vec<Provider> = kinds.iter().map(begin).collect();
    for (kind, provider) in kinds.iter().zip(providers) {
        provider.wait_for("; it is tried again in ");
        #[cfg(target_os = "linux")]
        assert!(status(provider.id(), "VmHWM:") < 150_000, "{kind}: {}", status(provider.id(), "VmHWM:"));
        let said = provider.kill();
        assert_eq!(said.matches("; it is tried again in ").count(), 1, "{kind}: {said}");
        let slow = match *kind {
            "head" => "no answer for 20 s",
            "body" => "its answer takes more than 20 s",
            _ => "",
        };
        assert!(said.contains(slow), "{kind}: {said}");
    }
}
