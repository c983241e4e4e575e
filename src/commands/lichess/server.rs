//! The requests to lichess and to its broker.

use super::stream::Stream;
use super::token::Token;
use super::work::Job;
use anyhow::bail;
use rand::distr::{Alphanumeric, SampleString as _};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use std::time::Duration;
use ureq::http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE};
use ureq::http::{Response, StatusCode};
use ureq::{Agent, Body, SendBody};
use zeitnot_engine::network::{http_agent, http_reason};
use zeitnot_text::printable::{plain, without_password};

/// Longest silence of a server. The broker answers a long poll after 10 s.
const PATIENCE: Duration = Duration::from_secs(30);

/// Characters of the secret by which the broker knows this process.
const SECRET: usize = 32;

/// Most characters of a server's reason that are shown.
const REASON: usize = 200;

const ENGINES: &str = "/api/external-engine";
const WORK: &str = "/api/external-engine/work";
const JSON: &str = "application/json";

/// What lichess shows of the engine.
pub struct Registration {
    pub name: String,
    pub threads: u64,
    pub megabytes: u64,
}

/// Depth of a usual search, which lichess asks every engine for: the mean depth of some ten thousand nodes.
const USUAL_DEPTH: u32 = 12;

/// The reason why a request failed, in one line.
pub enum Failure {
    /// It would fail again.
    Final(String),
    /// It may succeed later.
    Passing(String),
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
    token: Token,
    /// Chosen at random by this process, and gone with it.
    secret: String,
}

/// An address with its agent.
struct Site {
    url: String,
    agent: Agent,
}

impl Site {
    fn new(url: &str) -> anyhow::Result<Site> {
        let is_https = url.starts_with("https://");
        if !is_https && !url.starts_with("http://") {
            bail!("{} is no address: it has to begin with https:// or http://", without_password(url));
        }
        Ok(Site { url: url.trim_end_matches('/').to_owned(), agent: http_agent(is_https, PATIENCE) })
    }

    fn host(&self) -> String {
        let shown = without_password(&self.url);
        shown.split('/').nth(2).unwrap_or(&shown).to_owned()
    }

    fn unreached(&self, error: &ureq::Error) -> String {
        format!("cannot reach {}: {}", self.host(), first_line(&http_reason(error, PATIENCE)))
    }

    /// The text about an answer that is none of those expected.
    fn refusal(&self, response: Response<Body>) -> String {
        let status = response.status();
        let reason = first_line(&response.into_body().read_to_string().unwrap_or_default());
        let reason = if reason.is_empty() { reason } else { format!(": {reason}") };
        format!("{} answers {status}{reason}", self.host())
    }

    fn read<T: DeserializeOwned>(&self, response: Response<Body>) -> Result<T, String> {
        let text = response.into_body().read_to_string().map_err(|error| self.unreached(&error))?;
        serde_json::from_str(&text).map_err(|error| format!("{}: the answer is not understood: {error}", self.host()))
    }
}

impl Server {
    /// lichess and its broker at these addresses.
    ///
    /// # Errors
    /// When one is no address.
    pub fn new(lichess: &str, broker: &str, token: Token) -> anyhow::Result<Server> {
        let secret = Alphanumeric.sample_string(&mut rand::rng(), SECRET);
        Ok(Server { lichess: Site::new(lichess)?, broker: Site::new(broker)?, token, secret })
    }

    /// Puts the engine into the user's list, in the place of the one that has its name.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn register(&self, registration: &Registration) -> Result<(), Failure> {
        let (site, agent) = (&self.lichess, &self.lichess.agent);
        let url = format!("{}{ENGINES}", site.url);
        let unreached = |error| Failure::Passing(site.unreached(&error));
        let listed = agent.get(&url).header(AUTHORIZATION, self.token.authorization()).call().map_err(unreached)?;
        let listed: Vec<Listed> = site.read(self.checked(listed)?).map_err(Failure::Passing)?;
        let form = json!({
            "name": registration.name, "maxThreads": registration.threads, "maxHash": registration.megabytes,
            "defaultDepth": USUAL_DEPTH, "variants": ["chess"], "providerSecret": self.secret,
        });
        let request = match listed.iter().find(|engine| engine.name == registration.name && is_plain(&engine.id)) {
            Some(engine) => agent.put(format!("{url}/{}", engine.id)),
            None => agent.post(&url),
        };
        let request = request.header(AUTHORIZATION, self.token.authorization()).header(CONTENT_TYPE, JSON);
        self.checked(request.send(form.to_string()).map_err(unreached)?).map(drop)
    }

    /// An answer of lichess that tells of no error.
    fn checked(&self, response: Response<Body>) -> Result<Response<Body>, Failure> {
        match response.status() {
            status if status.is_success() => Ok(response),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Err(Failure::Final(format!(
                "{} does not take the token ({}): it has to be valid, with the scopes engine:read and engine:write",
                self.lichess.host(),
                response.status()
            ))),
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
                Err(Failure::Passing(self.lichess.refusal(response)))
            }
            status if status.is_client_error() => Err(Failure::Final(self.lichess.refusal(response))),
            _ => Err(Failure::Passing(self.lichess.refusal(response))),
        }
    }

    /// Waits for a request as long as the broker lets it wait; `None` where nobody asked.
    ///
    /// # Errors
    /// The reason, in one line.
    pub fn work(&self) -> Result<Option<Job>, String> {
        let (site, url) = (&self.broker, format!("{}{WORK}", self.broker.url));
        let body = json!({ "providerSecret": self.secret }).to_string();
        let response = site.agent.post(url).header(CONTENT_TYPE, JSON).send(body);
        let response = response.map_err(|error| site.unreached(&error))?;
        match response.status() {
            StatusCode::OK => site.read(response).and_then(|job: Job| match is_plain(&job.id) {
                true => Ok(Some(job)),
                false => Err(format!("{}: a request has a strange id", site.host())),
            }),
            StatusCode::NO_CONTENT => Ok(None),
            _ => Err(site.refusal(response)),
        }
    }

    /// Sends the lines of a search while they come, to their end or until nobody wants them any more.
    ///
    /// # Errors
    /// The reason, in one line, where lichess found fault with the lines.
    pub fn submit(&self, id: &str, lines: Stream) -> Result<(), String> {
        let (site, url) = (&self.broker, format!("{}{WORK}/{id}", self.broker.url));
        let request = site.agent.post(url).header(CONTENT_TYPE, "text/plain");
        // A connection that was kept may be dead, and lines that were sent are gone.
        match request.header(CONNECTION, "close").send(SendBody::from_owned_reader(lines)) {
            // Who asked has gone: lichess forgets the request, or closes the connection.
            Ok(response) if response.status().is_success() || response.status() == StatusCode::NOT_FOUND => Ok(()),
            Ok(response) => Err(site.refusal(response)),
            Err(ureq::Error::Io(_)) => Ok(()),
            Err(error) => Err(site.unreached(&error)),
        }
    }
}

/// Whether an id can be a part of an address as it is.
fn is_plain(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}

fn first_line(text: &str) -> String {
    plain(text.lines().next().unwrap_or_default()).chars().take(REASON).collect()
}
