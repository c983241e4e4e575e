//! Makes the HTTP agent: the certificates that the system trusts, and the proxy that the environment names.

use std::time::Duration;
use ureq::Agent;
use ureq::tls::{RootCerts, TlsConfig};

/// The HTTP agent of the program. `patience` is the longest silence of a server: while connecting, before its answer, and
/// between two pieces of it. A status that tells of an error is an answer as any other.
pub fn http_agent(https_only: bool, patience: Duration) -> Agent {
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
        .build()
        .into()
}

/// The reason why a request with this patience failed, in words.
pub fn http_reason(error: &ureq::Error, patience: Duration) -> String {
    match error {
        ureq::Error::HostNotFound => "no such server is known".to_owned(),
        ureq::Error::ConnectionFailed => "no connection".to_owned(),
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
