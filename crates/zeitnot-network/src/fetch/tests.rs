//! Tests downloads from a server on this machine that misbehaves on purpose.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;
use std::thread::JoinHandle;

use tempfile::TempDir;

use super::agent::http_agent;
use super::*;
use crate::testing::random_network;

/// Answer of the server to one request.
#[derive(Clone, Copy)]
enum Answer {
    /// The file from where it was asked for.
    Ranges,
    /// The whole file for any request.
    Whole,
    /// A number of bytes of the requested range, and then the end of the connection.
    CutAfter(usize),
    /// A number of bytes, and then nothing more until the test ends.
    StallAfter(usize),
    /// Another status.
    Status(&'static str),
    /// The part that begins at byte 0, where another was asked for.
    WrongPart,
    /// The part that begins at byte 7 for any request.
    Skipping,
    /// The whole file, of a length that is not given.
    Unsized,
    /// The file again and again, of a length that is not given, until the client hangs up.
    Endless,
    /// A redirect to the address itself, by its path.
    Redirect,
}

/// A server that answers one connection after the other, and reports the requests it got.
struct Server {
    url: String,
    requests: mpsc::Receiver<Vec<String>>,
    /// Dropped at the end of the test, which ends a stall.
    _end: mpsc::Sender<()>,
    _thread: JoinHandle<()>,
}

impl Server {
    fn start(content: Vec<u8>, tag: &'static str, answers: &[Answer]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/nets/tiny.pb.gz", listener.local_addr().unwrap());
        let (sender, requests) = mpsc::channel();
        let (end, ended) = mpsc::channel();
        let answers = answers.to_vec();
        let thread = std::thread::spawn(move || {
            for answer in answers {
                // A client that refuses an address may have connected before, and asks nothing.
                let (mut stream, request) = loop {
                    let (stream, _) = listener.accept().unwrap();
                    let lines = BufReader::new(&stream).lines().map_while(Result::ok);
                    let request: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
                    if !request.is_empty() {
                        break (stream, request);
                    }
                };
                let field = |name: &str| {
                    let prefix = format!("{name}: ");
                    request.iter().find_map(|line| line.to_lowercase().strip_prefix(&prefix).map(str::to_owned))
                };
                let same = field("if-range").is_none_or(|version| version == tag.to_lowercase());
                let asked =
                    field("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok());
                let from = match (answer, asked.filter(|_| same)) {
                    (Answer::Skipping, _) => 7,
                    (Answer::Whole | Answer::WrongPart, _) | (_, None) => 0,
                    (_, Some(from)) => from,
                };
                sender.send(request).ok();
                let length = content.len();
                let head = match answer {
                    Answer::Status(status) => format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n"),
                    Answer::Unsized | Answer::Endless => "HTTP/1.1 200 OK\r\n".to_owned(),
                    Answer::Redirect => {
                        "HTTP/1.1 302 Found\r\nLocation: /there/tiny.pb.gz\r\nContent-Length: 0\r\n".to_owned()
                    }
                    _ if from >= length => {
                        format!(
                            "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */{length}\r\n\
                             Content-Length: 0\r\n"
                        )
                    }
                    _ if from > 0 || matches!(answer, Answer::WrongPart) => format!(
                        "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes {from}-{}/{length}\r\n\
                         Content-Length: {}\r\n",
                        length - 1,
                        length - from
                    ),
                    _ => format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n"),
                };
                // In one piece: a client follows a redirect as soon as it has read where to, and hangs up.
                let head = format!("{head}ETag: {tag}\r\nConnection: close\r\n\r\n");
                stream.write_all(head.as_bytes()).unwrap();
                let rest = content.get(from..).unwrap_or_default();
                let sent = match answer {
                    Answer::CutAfter(count) | Answer::StallAfter(count) => &rest[..count],
                    Answer::Status(_) | Answer::Redirect => &[],
                    _ => rest,
                };
                while matches!(answer, Answer::Endless) && stream.write_all(sent).is_ok() {}
                // The client may have seen enough.
                stream.write_all(sent).ok();
                stream.flush().ok();
                if matches!(answer, Answer::StallAfter(_)) {
                    ended.recv().ok();
                }
            }
        });
        Server { url, requests, _end: end, _thread: thread }
    }

    fn source(&self) -> Source {
        Source::from_url(&self.url).unwrap()
    }

    fn request(&self) -> Vec<String> {
        self.requests.recv_timeout(Duration::from_secs(10)).unwrap()
    }
}

fn fetcher(folder: &TempDir) -> Fetcher {
    Fetcher { folder: folder.path().join("networks"), patience: Duration::from_secs(20), force: false }
}

fn quiet(_: FetchProgress) {}

fn sha256(content: &[u8]) -> String {
    use sha2::Digest as _;
    sha2::Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// All files below the folder of networks.
fn files(folder: &TempDir) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![folder.path().join("networks")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path())
            } else {
                names.push(entry.file_name().into_string().unwrap())
            }
        }
    }
    names.sort();
    names
}

fn is_asked_from(request: &[String], from: usize) -> bool {
    request.iter().any(|line| line.eq_ignore_ascii_case(&format!("range: bytes={from}-")))
}

#[test]
fn downloads_a_whole_file() {
    let content = random_network(1, 1, 8);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(content.clone(), "\"1\"", &[Answer::Ranges]);
    let mut seen = Vec::new();
    let fetched = fetcher(&folder).fetch(&server.source(), &mut |progress| seen.push(progress)).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), content);
    assert_eq!((fetched.sha256.clone(), fetched.verified, fetched.was_there), (sha256(&content), false, false));
    assert_eq!(files(&folder), ["tiny.pb.gz", "tiny.pb.gz.sha256"], "nothing is left over");
    let total = Some(content.len() as u64);
    assert_eq!(seen.first(), Some(&FetchProgress::Downloading { bytes: 0, total }));
    assert!(seen.contains(&FetchProgress::Downloading { bytes: content.len() as u64, total }));
    assert_eq!(seen.last(), Some(&FetchProgress::Checking));
    assert!(server.request()[0].starts_with("GET /nets/tiny.pb.gz "));
}

#[test]
fn a_file_that_is_there_is_checked_and_not_fetched_again() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(random_network(1, 1, 8), "\"1\"", &[Answer::Ranges, Answer::Ranges]);
    let mut fetcher = fetcher(&folder);
    fetcher.fetch(&server.source(), &mut quiet).unwrap();
    let again = fetcher.fetch(&server.source(), &mut quiet).unwrap();
    assert!(again.was_there && again.verified, "against the recorded checksum");
    // Another network in its place is noticed, by that checksum and by a known one.
    fs::write(&again.path, random_network(2, 1, 8)).unwrap();
    let line = fetcher.fetch(&server.source(), &mut quiet).unwrap_err().to_string();
    assert!(line.contains("tiny.pb.gz") && line.contains("--force") && line.contains(&again.sha256), "{line}");
    fetcher.force = true;
    assert!(!fetcher.fetch(&server.source(), &mut quiet).unwrap().was_there);
}

#[test]
fn the_checksum_of_a_file_that_is_there_is_recorded() {
    let content = random_network(1, 1, 8);
    let folder = tempfile::tempdir().unwrap();
    let networks = folder.path().join("networks");
    fs::create_dir(&networks).unwrap();
    fs::write(networks.join("tiny.pb.gz"), &content).unwrap();
    let source = Source::from_url("https://no-such-server.invalid/tiny.pb.gz").unwrap();
    let first = fetcher(&folder).fetch(&source, &mut quiet).unwrap();
    assert!(first.was_there && !first.verified);
    assert_eq!(files(&folder), ["tiny.pb.gz", "tiny.pb.gz.sha256"]);
    assert!(fetcher(&folder).fetch(&source, &mut quiet).unwrap().verified);
    // A record without a checksum does not count.
    fs::write(networks.join("tiny.pb.gz.sha256"), "nonsense\n").unwrap();
    assert!(!fetcher(&folder).fetch(&source, &mut quiet).unwrap().verified);
    assert!(fetcher(&folder).fetch(&source, &mut quiet).unwrap().verified);
    fs::write(networks.join("tiny.pb.gz"), random_network(2, 1, 8)).unwrap();
    let error = fetcher(&folder).fetch(&source, &mut quiet).unwrap_err();
    assert!(matches!(error, FetchError::Differs { .. }), "{error}");
}

/// An entry of the catalogue without a checksum relies on this.
#[test]
fn a_server_that_has_another_file_than_at_first_is_noticed() {
    let (old, new) = (random_network(1, 1, 8), random_network(2, 1, 8));
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(old.clone(), "\"1\"", &[Answer::Ranges, Answer::Ranges]);
    let path = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap().path;
    fs::remove_file(&path).unwrap();
    let same = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap();
    assert!(same.verified && !same.was_there);
    fs::remove_file(&path).unwrap();
    let server = Server::start(new.clone(), "\"1\"", &[Answer::Ranges, Answer::Ranges, Answer::Ranges]);
    let line = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap_err().to_string();
    let parts = [&sha256(&old), &sha256(&new), "tiny.pb.gz.sha256", "--force"];
    assert!(parts.iter().all(|part| line.contains(*part)) && line.lines().count() == 1, "{line}");
    assert_eq!(files(&folder), ["tiny.pb.gz.sha256"], "the record stays");
    // A checksum that is known goes before one that was recorded.
    let known = Source { sha256: Some(sha256(&new)), ..server.source() };
    assert!(fetcher(&folder).fetch(&known, &mut quiet).unwrap().verified);
    let forced = Fetcher { force: true, ..fetcher(&folder) }.fetch(&server.source(), &mut quiet).unwrap();
    assert!(!forced.verified);
    assert!(fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap().verified, "the new one is recorded");
}

#[test]
fn downloads_end_at_their_limit_of_bytes() {
    let content = random_network(3, 1, 8);
    let length = content.len() as u64;
    // A length that is given is refused before anything comes; one that is not, once it is passed.
    for answer in [Answer::Ranges, Answer::Unsized, Answer::Endless] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(content.clone(), "\"1\"", &[answer]);
        let source = Source { limit: length - 1, ..server.source() };
        let mut most = 0;
        let mut look = |progress| {
            if let FetchProgress::Downloading { bytes, .. } = progress {
                most = most.max(bytes);
            }
        };
        let line = fetcher(&folder).fetch(&source, &mut look).unwrap_err().to_string();
        let parts = [&server.url, &format!("more than {} bytes", length - 1), "removed"];
        assert!(parts.iter().all(|part| line.contains(*part)) && line.lines().count() == 1, "{line}");
        assert!(most < length, "{most}");
        assert_eq!(files(&folder), [""; 0]);
    }
    for answer in [Answer::Ranges, Answer::Unsized] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(content.clone(), "\"1\"", &[answer]);
        let source = Source { limit: length, ..server.source() };
        assert_eq!(fs::read(fetcher(&folder).fetch(&source, &mut quiet).unwrap().path).unwrap(), content);
    }
    // A part of another attempt that is too long already is not gone on with.
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(content.clone(), "\"1\"", &[Answer::CutAfter(900), Answer::Ranges]);
    fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap_err();
    let source = Source { limit: 800, ..server.source() };
    assert!(matches!(fetcher(&folder).fetch(&source, &mut quiet), Err(FetchError::TooLarge { limit: 800, .. })));
    assert!(!is_asked_from(&server.request(), 900) && !is_asked_from(&server.request(), 900));
}

/// A server of https cannot be had in a test; the same agent is led to one of http.
#[test]
fn https_is_never_left_for_http() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(random_network(4, 1, 8), "\"1\"", &[Answer::Redirect, Answer::Ranges]);
    let fetcher = fetcher(&folder);
    let part = Part::open(folder.path().join("tiny.pb.gz")).unwrap();
    let agent = http_agent(Source::from_url("https://a.org/tiny.pb.gz").unwrap().is_https(), fetcher.patience);
    let line = fetcher.ask(&agent, &server.source(), &part, 0).unwrap_err().to_string();
    assert!(line.contains("not https") && line.contains(&server.url) && line.lines().count() == 1, "{line}");
    // What was typed as http is taken, and led elsewhere by its server.
    fetcher.fetch(&server.source(), &mut quiet).unwrap();
    assert!(server.request()[0].starts_with("GET /nets/"), "the first request of all");
    assert!(server.request()[0].starts_with("GET /there/"));
}

#[test]
fn a_cut_download_goes_on_where_it_ended() {
    let content = random_network(3, 2, 16);
    let folder = tempfile::tempdir().unwrap();
    let answers = [Answer::CutAfter(1000), Answer::CutAfter(500), Answer::Ranges];
    let server = Server::start(content.clone(), "\"1\"", &answers);
    let source = Source { sha256: Some(sha256(&content)), ..server.source() };
    for have in [1000, 1500] {
        let line = fetcher(&folder).fetch(&source, &mut quiet).unwrap_err().to_string();
        let parts = ["connection ended", &format!("{have} of {}", content.len()), "go on"];
        assert!(parts.iter().all(|part| line.contains(part)) && line.lines().count() == 1, "{line}");
        assert_eq!(files(&folder), ["tiny.pb.gz", "tiny.pb.gz.version"]);
        assert!(!folder.path().join("networks/tiny.pb.gz").exists(), "no engine finds it");
    }
    let fetched = fetcher(&folder).fetch(&source, &mut quiet).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), content);
    assert!(fetched.verified);
    assert_eq!(files(&folder), ["tiny.pb.gz"]);
    assert!(!is_asked_from(&server.request(), 0));
    for from in [1000, 1500] {
        let request = server.request();
        assert!(is_asked_from(&request, from), "{request:?}");
        assert!(request.iter().any(|line| line.eq_ignore_ascii_case("if-range: \"1\"")), "{request:?}");
    }
}

#[test]
fn another_version_on_the_server_is_fetched_from_the_start() {
    let content = random_network(4, 1, 8);
    let folder = tempfile::tempdir().unwrap();
    let old = Server::start(random_network(5, 1, 8), "\"old\"", &[Answer::CutAfter(700)]);
    fetcher(&folder).fetch(&old.source(), &mut quiet).unwrap_err();
    let new = Server::start(content.clone(), "\"new\"", &[Answer::Ranges]);
    let fetched = fetcher(&folder).fetch(&new.source(), &mut quiet).unwrap();
    assert!(is_asked_from(&new.request(), 700), "it is asked to go on");
    assert_eq!(fs::read(&fetched.path).unwrap(), content);
}

#[test]
fn a_server_without_ranges_sends_all_of_it_again() {
    let content = random_network(6, 1, 8);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(content.clone(), "\"1\"", &[Answer::CutAfter(900), Answer::Whole]);
    fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap_err();
    let fetched = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), content);
}

#[test]
fn a_file_that_was_whole_but_not_in_place_is_finished() {
    let content = random_network(7, 1, 8);
    let folder = tempfile::tempdir().unwrap();
    let unfinished = folder.path().join("networks").join(UNFINISHED);
    fs::create_dir_all(&unfinished).unwrap();
    fs::write(unfinished.join("tiny.pb.gz"), &content).unwrap();
    fs::write(unfinished.join("tiny.pb.gz.version"), "\"1\"").unwrap();
    let server = Server::start(content.clone(), "\"1\"", &[Answer::Ranges]);
    let fetched = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), content);
    // More than the file has is not of this file.
    let folder = tempfile::tempdir().unwrap();
    let unfinished = folder.path().join("networks").join(UNFINISHED);
    fs::create_dir_all(&unfinished).unwrap();
    fs::write(unfinished.join("tiny.pb.gz"), vec![7; content.len() + 1]).unwrap();
    fs::write(unfinished.join("tiny.pb.gz.version"), "\"1\"").unwrap();
    let server = Server::start(content.clone(), "\"1\"", &[Answer::Ranges, Answer::Ranges]);
    let fetched = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), content);
}

#[test]
fn part_without_a_version_is_not_continued() {
    let content = random_network(11, 1, 8);
    let folder = tempfile::tempdir().unwrap();
    let unfinished = folder.path().join("networks").join(UNFINISHED);
    fs::create_dir_all(&unfinished).unwrap();
    fs::write(unfinished.join("tiny.pb.gz"), [7; 500]).unwrap();
    let server = Server::start(content.clone(), "\"1\"", &[Answer::Ranges]);
    let fetched = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), content);
    let request = server.request();
    assert!(!request.iter().any(|line| line.to_lowercase().starts_with("range:")), "{request:?}");
}

#[test]
fn a_wrong_checksum_leaves_nothing() {
    let content = random_network(8, 1, 8);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(content.clone(), "\"1\"", &[Answer::Ranges]);
    let source = Source { sha256: Some("0".repeat(64)), ..server.source() };
    let line = fetcher(&folder).fetch(&source, &mut quiet).unwrap_err().to_string();
    assert!(line.contains(&sha256(&content)) && line.contains(&"0".repeat(64)) && line.lines().count() == 1, "{line}");
    assert_eq!(files(&folder), [""; 0]);
}

#[test]
fn downloaded_file_that_is_no_network_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(b"<html>Please log in</html>".to_vec(), "\"1\"", &[Answer::Ranges]);
    let line = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap_err().to_string();
    assert!(line.contains("not a network") && line.contains("tiny.pb.gz") && line.lines().count() == 1, "{line}");
    assert_eq!(files(&folder), [""; 0]);
}

#[test]
fn errors_of_the_server_are_named() {
    for (status, words) in [("404 Not Found", "404 Not Found"), ("503 Service Unavailable", "503 Service Unavailable")]
    {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(Vec::new(), "\"1\"", &[Answer::Status(status)]);
        let line = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap_err().to_string();
        assert!(line.contains(words) && line.contains(&server.url) && line.lines().count() == 1, "{line}");
    }
}

#[test]
fn a_server_that_answers_with_another_part_is_asked_from_the_start() {
    let content = random_network(9, 1, 8);
    let answers = [Answer::CutAfter(300), Answer::WrongPart, Answer::Ranges];
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(content.clone(), "\"1\"", &answers);
    fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap_err();
    let fetched = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), content);
    assert!(!is_asked_from(&server.request(), 300) && is_asked_from(&server.request(), 300));
    assert!(!server.request().iter().any(|line| line.to_lowercase().starts_with("range:")));
    // One that does so unasked, too, gives nothing; the next attempt is as good as the first.
    let folder = tempfile::tempdir().unwrap();
    let answers = [Answer::CutAfter(300), Answer::Skipping, Answer::Skipping, Answer::Ranges];
    let server = Server::start(content.clone(), "\"1\"", &answers);
    fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap_err();
    let line = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap_err().to_string();
    assert!(line.contains("another part"), "{line}");
    let fetched = fetcher(&folder).fetch(&server.source(), &mut quiet).unwrap();
    assert_eq!(fs::read(&fetched.path).unwrap(), content);
}

#[test]
fn passwords_in_addresses_are_not_told() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(Vec::new(), "\"1\"", &[Answer::Status("404 Not Found"), Answer::CutAfter(0)]);
    let with_password = |url: &str| url.replace("http://", "http://user:secret@");
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for url in [&server.url, &server.url, &format!("http://127.0.0.1:{port}/a.pb.gz")] {
        let source = Source::from_url(&with_password(url)).unwrap();
        let line = fetcher(&folder).fetch(&source, &mut quiet).unwrap_err().to_string();
        assert!(line.contains("***@127.0.0.1") && !line.contains("secret"), "{line}");
    }
    for bad in ["ftp://user:secret@a.org/net.pb.gz", "http://user:secret@a.org/", "http://user:secret@"] {
        let line = Source::from_url(bad).unwrap_err().to_string();
        assert!(!line.contains("secret"), "{line}");
    }
}

#[test]
fn a_server_that_falls_silent_is_not_waited_for_forever() {
    let content = random_network(10, 1, 8);
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(content, "\"1\"", &[Answer::StallAfter(400)]);
    let impatient = Fetcher { patience: Duration::from_secs(1), ..fetcher(&folder) };
    let line = impatient.fetch(&server.source(), &mut quiet).unwrap_err().to_string();
    assert!(line.contains("nothing came for 1 s after 400 bytes") && line.lines().count() == 1, "{line}");
}

#[test]
fn unreachable_server_is_an_error_of_one_line() {
    let folder = tempfile::tempdir().unwrap();
    // A port on which no server listens any more.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let source = Source::from_url(&format!("http://127.0.0.1:{port}/a.pb.gz")).unwrap();
    let line = fetcher(&folder).fetch(&source, &mut quiet).unwrap_err().to_string();
    assert!(line.starts_with("cannot reach 127.0.0.1") && line.contains("offline?"), "{line}");
    assert_eq!((line.lines().count(), files(&folder)), (1, Vec::new()));
    let source = Source::from_url("https://no-such-server.invalid/a.pb.gz").unwrap();
    let line = fetcher(&folder).fetch(&source, &mut quiet).unwrap_err().to_string();
    assert!(line.starts_with("cannot reach no-such-server.invalid") && line.lines().count() == 1, "{line}");
}

#[test]
fn one_download_of_a_file_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pb.gz");
    let first = Part::open(path.clone()).unwrap();
    assert!(matches!(Part::open(path.clone()), Err(FetchError::Busy { .. })));
    drop(first);
    Part::open(path).unwrap();
}

#[test]
fn file_names_of_addresses() {
    let name = |url: &str| Source::from_url(url).map(|source| source.file_name);
    assert_eq!(name("https://a.org/x/BT4-1740.pb.gz").unwrap(), "BT4-1740.pb.gz");
    assert_eq!(name("https://a.org/Maia%202200.pb.gz?raw=true").unwrap(), "Maia-2200.pb.gz");
    assert_eq!(name("https://a.org/get_network?sha=00af53b0").unwrap(), "00af53b0.pb.gz");
    assert_eq!(name("https://a.org/files/net.onnx#top").unwrap(), "net.onnx");
    assert_eq!(name("https://a.org/a b;c/..%2fd").unwrap_err().to_string().lines().count(), 1);
    for bad in ["ftp://a.org/net.pb.gz", "net.pb.gz", "https://a.org", "https://a.org/", "https://a.org/.."] {
        assert!(matches!(name(bad), Err(FetchError::BadUrl(_))), "{bad}");
    }
}
