//! The requests to lichess and to its broker.

use super::stream::Stream;
use super::token::Token;
use super::work::Job;
use anyhow::bail;
use parking_lot::Mutex;
use rand::distr::{Alphanumeric, SampleString as _};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::time::{Duration, Instant};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc2822;
use ureq::http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, HeaderName, LOCATION, RETRY_AFTER};
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body, SendBody};
use zeitnot_base::printable::{beginning, without_password};
use zeitnot_engine::network::{http_reason, service_agent};

/// Longest silence of a server, and the longest time for an answer. The broker answers a long poll after 10 s.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longest answer that is read, in bytes: a list of some 500 engines, or a game of 10,000 moves.
const LONGEST_ANSWER: u64 = 256 << 10;

/// Longest pause that is kept when a server asks for one, in seconds.
const LONGEST_PAUSE: f64 = 3_600.0;

/// Pause after lichess has answered 429, too many requests, without naming one, in seconds.
const AFTER_TOO_MANY: f64 = 60.0;

/// Characters of the secret by which the broker knows this process.
const SECRET: usize = 32;

/// Most characters of a server's reason that are shown, and of an id.
const REASON: usize = 200;

const ENGINES: &str = "/api/external-engine";
const WORK: &str = "/api/external-engine/work";
const JSON: &str = "application/json";

/// The entry of the engine in the user's list at lichess.
pub struct Registration {
    pub name: String,
    pub threads: u64,
    pub megabytes: u64,
}

/// Depth of a usual search, which lichess asks every engine for: the mean depth of some ten thousand nodes.
const USUAL_DEPTH: u32 = 12;

/// A request that failed.
pub struct Failure {
    /// The reason, in one line.
    pub reason: String,
    /// Whether the same request would fail again.
    pub is_final: bool,
    /// Time for which the server asks to be left alone.
    pub pause: Duration,
}

impl Failure {
    fn passing(reason: String) -> Failure {
        Failure { reason, is_final: false, pause: Duration::ZERO }
    }
}

/// An engine in lichess' list.
#[derive(Deserialize)]
struct Listed {
    id: String,
    name: String,
}

/// lichess and its broker.
pub struct Server {
    lichess: Site,
    broker: Site,
    /// The HTTP agent that sends the lines of searches to the broker.
    for_lines: Mutex<Agent>,
    /// The time until which no request is taken, after the broker has refused lines.
    rest: Mutex<Instant>,
    token: Token,
    /// The secret by which the broker knows this process; random, and new in each.
    secret: String,
}

/// The address of a server, with the HTTP agent that calls it.
struct Site {
    url: String,
    agent: Agent,
}

impl Site {
    fn new(url: &str) -> anyhow::Result<Site> {
        if !url.starts_with("https://") && !url.starts_with("http://") {
            bail!("{} is no address: it has to begin with https:// or http://", without_password(url));
        }
        Ok(Site { url: url.trim_end_matches('/').to_owned(), agent: agent(url) })
    }

    fn host(&self) -> String {
        let shown = without_password(&self.url);
        shown.split('/').nth(2).unwrap_or(&shown).to_owned()
    }

    fn unreached(&self, error: &ureq::Error) -> Failure {
        let reason = http_reason(error, PATIENCE);
        Failure::passing(format!("cannot reach {}: {}", self.host(), first_line(&reason)))
    }

    /// The failure for an answer with an unexpected status.
    fn refusal(&self, mut response: Response<Body>) -> Failure {
        let (status, pause) = (response.status(), pause(&response));
        let is_final = match status {
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => false,
            StatusCode::MOVED_PERMANENTLY | StatusCode::PERMANENT_REDIRECT => true,
            _ => status.is_client_error(),
        };
        let reason = match header(&response, LOCATION) {
            Some(place) if status.is_redirection() => {
                format!("it leads to {}, which is not followed", without_password(&place))
            }
            _ => text(&mut response).unwrap_or_default(),
        };
        let reason = if reason.is_empty() { reason } else { format!(": {}", first_line(&reason)) };
        Failure { reason: format!("{} answers {status}{reason}", self.host()), is_final, pause }
    }

    fn read<T: DeserializeOwned>(&self, mut response: Response<Body>) -> Result<T, Failure> {
        let text = text(&mut response).map_err(|error| self.unreached(&error))?;
        serde_json::from_str(&text).map_err(|error| {
            let reason = beginning(&error.to_string(), REASON);
            Failure::passing(format!("{}: the answer is not understood: {reason}", self.host()))
        })
    }
}

impl Server {
    /// Sets up the connections to lichess and its broker at these addresses.
    ///
    /// # Errors
    /// When one is no address.
    pub fn new(lichess: &str, broker: &str, token: Token) -> anyhow::Result<Server> {
        let secret = Alphanumeric.sample_string(&mut rand::rng(), SECRET);
        let (lichess, broker) = (Site::new(lichess)?, Site::new(broker)?);
        let for_lines = Mutex::new(agent(&broker.url));
        Ok(Server { lichess, broker, for_lines, rest: Mutex::new(Instant::now()), token, secret })
    }

    /// Puts the engine into the user's list, in the place of the one that has its name.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn register(&self, registration: &Registration) -> Result<(), Failure> {
        let (site, agent) = (&self.lichess, &self.lichess.agent);
        let url = format!("{}{ENGINES}", site.url);
        let unreached = |error| site.unreached(&error);
        let listed = agent.get(&url).header(AUTHORIZATION, self.token.authorization()).call().map_err(unreached)?;
        let listed: Vec<Listed> = site.read(self.checked(listed)?)?;
        let form = json!({
            "name": registration.name, "maxThreads": registration.threads, "maxHash": registration.megabytes,
            "defaultDepth": USUAL_DEPTH, "variants": ["chess"], "providerSecret": self.secret,
        });
        let request = match listed.iter().find(|engine| engine.name == registration.name && is_plain(&engine.id)) {
            Some(engine) => agent.put(format!("{url}/{}", engine.id)),
            None => agent.post(&url),
        };
        let request = request.header(AUTHORIZATION, self.token.authorization()).header(CONTENT_TYPE, JSON);
        let answer = self.checked(request.send(form.to_string()).map_err(unreached)?)?;
        // Who stands between may answer anything.
        site.read::<Listed>(answer).map(drop)
    }

    /// Passes on an answer of lichess with a success status; others become failures.
    fn checked(&self, response: Response<Body>) -> Result<Response<Body>, Failure> {
        match response.status() {
            status if status.is_success() => Ok(response),
            status @ (StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => {
                const NEEDED: &str = "it has to be valid, with the scopes engine:read and engine:write";
                let reason = format!("{} does not take the token ({status}): {NEEDED}", self.lichess.host());
                Err(Failure { reason, is_final: true, pause: Duration::ZERO })
            }
            _ => Err(self.lichess.refusal(response)),
        }
    }

    /// Asks the broker for a request, and waits as long as it keeps the poll open; `None` where nobody asked.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn work(&self) -> Result<Option<Job>, Failure> {
        let (site, url) = (&self.broker, format!("{}{WORK}", self.broker.url));
        let body = json!({ "providerSecret": self.secret }).to_string();
        let response = site.agent.post(url).header(CONTENT_TYPE, JSON).send(body);
        let response = response.map_err(|error| site.unreached(&error))?;
        match response.status() {
            StatusCode::OK => site.read(response).and_then(|job: Job| match is_plain(&job.id) {
                true => Ok(Some(job)),
                false => Err(Failure::passing(format!("{}: a request has a strange id", site.host()))),
            }),
            StatusCode::NO_CONTENT => Ok(None),
            _ => Err(site.refusal(response)),
        }
    }

    /// Sends the lines of a search to the broker as they come, until they end or nobody reads them any more.
    ///
    /// # Errors
    /// [`Failure`], where lichess found fault with the lines, and before whose pause no request is taken.
    pub fn submit(&self, id: &str, lines: Stream) -> Result<(), Failure> {
        let (site, url) = (&self.broker, format!("{}{WORK}/{id}", self.broker.url));
        let agent = self.for_lines.lock().clone();
        let request = agent.post(url).header(CONTENT_TYPE, "text/plain");
        // A connection that was kept may be dead, and lines that were sent are gone.
        let failure = match request.header(CONNECTION, "close").send(SendBody::from_owned_reader(lines)) {
            // Who asked has gone: lichess forgets the request, or closes the connection.
            Ok(response) if response.status().is_success() || response.status() == StatusCode::NOT_FOUND => {
                return Ok(());
            }
            Ok(response) => site.refusal(response),
            Err(ureq::Error::Io(_)) => return Ok(()),
            Err(error) => site.unreached(&error),
        };
        let failure = Failure { pause: failure.pause.max(Duration::from_secs(1)), ..failure };
        let mut rest = self.rest.lock();
        *rest = (*rest).max(Instant::now() + failure.pause);
        Err(failure)
    }

    /// The time until the next request may be taken.
    pub fn rest(&self) -> Duration {
        self.rest.lock().saturating_duration_since(Instant::now())
    }

    /// Closes the connections on which lines are sent.
    pub fn stop_sending(&self) {
        std::mem::replace(&mut *self.for_lines.lock(), agent(&self.broker.url)).shutdown();
    }
}

/// Whether an id can be a part of an address as it is.
fn is_plain(id: &str) -> bool {
    (1..=REASON).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

fn first_line(text: &str) -> String {
    beginning(text.lines().next().unwrap_or_default(), REASON)
}

/// The HTTP agent for an address.
fn agent(url: &str) -> Agent {
    service_agent(url.starts_with("https://"), PATIENCE)
}

fn text(response: &mut Response<Body>) -> Result<String, ureq::Error> {
    response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_string()
}

fn header(response: &Response<Body>, name: HeaderName) -> Option<String> {
    response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
}

/// The pause that a server asks for by `Retry-After`, in seconds or as a date; a minute for 429 without one.
fn pause(response: &Response<Body>) -> Duration {
    let until =
        |text: &str| Some((OffsetDateTime::parse(text, &Rfc2822).ok()? - OffsetDateTime::now_utc()).as_seconds_f64());
    let asked = header(response, RETRY_AFTER).and_then(|text| text.trim().parse().ok().or_else(|| until(&text)));
    let usual = if response.status() == StatusCode::TOO_MANY_REQUESTS { AFTER_TOO_MANY } else { 0.0 };
    // A negative one is over.
    Duration::try_from_secs_f64(asked.unwrap_or(usual).min(LONGEST_PAUSE)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause_of(status: u16, asked: Option<&str>) -> u64 {
        let response =
            asked.iter().fold(Response::builder().status(status), |to, asked| to.header(RETRY_AFTER, *asked));
        pause(&response.body(Body::builder().data("")).unwrap()).as_secs()
    }

    #[test]
    fn a_server_is_left_alone_as_long_as_it_asks() {
        let date = |seconds| (OffsetDateTime::now_utc() + time::Duration::seconds(seconds)).format(&Rfc2822).unwrap();
        for (asked, from, to) in [
            ("7", 7, 7),
            (" 7 ", 7, 7),
            ("0", 0, 0),
            ("-5", 0, 0),
            ("999999999999999999999999999", 3_600, 3_600),
            ("inf", 3_600, 3_600),
            ("nan", 0, 3_600),
            (&date(100), 90, 100),
            (&date(100).replace("+0000", "GMT"), 90, 100),
            (&date(-100), 0, 0),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 3_600, 3_600),
            ("Fri, 99 Foo", 60, 60),
            ("soon", 60, 60),
            ("", 60, 60),
        ] {
            let pause = pause_of(429, Some(asked));
            assert!((from..=to).contains(&pause), "{asked}: {pause}");
        }
        assert_eq!((pause_of(429, None), pause_of(503, None), pause_of(503, Some("9"))), (60, 0, 9));
    }
}
