//! Makes the HTTP agent: the certificates that the system trusts, and the proxy that the environment names.

use std::time::Duration;
use ureq::config::ConfigBuilder;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::typestate::AgentScope;
use ureq::{Agent, Timeout};

/// The HTTP agent of the program. `patience` is the longest silence of a server: while connecting, before its answer, and
/// between two pieces of it. An error status such as 404 is no `Err`: it comes back as a response.
pub(crate) fn http_agent(https_only: bool, patience: Duration) -> Agent {
    config(https_only, patience).build().into()
}

/// The HTTP agent for a service whose answers are short: `patience` also bounds the time of a whole answer. It follows
/// no redirect: a redirected POST would become a GET, and its secrets are for one server.
pub fn service_agent(https_only: bool, patience: Duration) -> Agent {
    let patient = config(https_only, patience).timeout_recv_body(Some(patience)).timeout_per_write(Some(patience));
    patient.max_redirects(0).build().into()
}

fn config(https_only: bool, patience: Duration) -> ConfigBuilder<AgentScope> {
    Agent::config_builder()
        .http_status_as_error(false)
        .https_only(https_only)
        .tls_config(TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build())
        .user_agent(concat!("zeitnot/", env!("CARGO_PKG_VERSION")))
        // The file as it lies there: some servers would compress the compressed file once more.
        .accept_encoding("identity")
        .timeout_resolve(Some(patience))
        .timeout_connect(Some(patience))
        .timeout_recv_response(Some(patience))
        .timeout_per_read(Some(patience))
}

/// The reason why a request with this patience failed, in words.
pub fn http_reason(error: &ureq::Error, patience: Duration) -> String {
    match error {
        ureq::Error::HostNotFound => "no such server is known".to_owned(),
        ureq::Error::ConnectionFailed => "no connection".to_owned(),
        ureq::Error::Timeout(Timeout::RecvBody) => format!("its answer takes more than {} s", patience.as_secs()),
        ureq::Error::Timeout(_) => format!("no answer for {} s", patience.as_secs()),
        ureq::Error::RequireHttpsOnly(url) => format!("it leads to {url}, which is not https"),
        ureq::Error::Io(reason) => reason.to_string(),
        other => match other.to_string() {
            text if text.contains("No CA certificates") => {
                format!("{text} (install the package ca-certificates, or name a file of certificates by SSL_CERT_FILE)")
            }
            text => text,
        },
    }
}
