//! The source of a download: the address, and the name of the file here.

use super::FetchError;
use crate::catalogue::Entry;
use crate::file;
use zeitnot_base::printable::without_password;

/// Endings of network files.
const ENDINGS: [&str; 3] = [".pb.gz", ".pb", ".onnx"];

/// A file to download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The address. A download over https never goes on over http, not by a redirect either. An http address is used as
    /// it is: the catalogue has none, so the user typed it (for a server of his own network, say).
    pub url: String,
    /// The name of the downloaded file.
    pub file_name: String,
    /// SHA-256 in lower-case hexadecimal, where it is known.
    pub sha256: Option<String>,
    /// The most bytes that the file may have; a longer download is broken off.
    pub limit: u64,
}

impl Source {
    /// The file at an address. The file keeps its name, with `.pb.gz` added if it has no ending of a network, and may
    /// be as large as the largest network that can be read, 2 GiB.
    ///
    /// # Errors
    /// [`FetchError::BadUrl`].
    pub fn from_url(url: &str) -> Result<Source, FetchError> {
        let bad = || FetchError::BadUrl(without_password(url).into_owned());
        let rest = ["https://", "http://"].iter().find_map(|scheme| url.strip_prefix(scheme)).ok_or_else(bad)?;
        let (_, path) = rest.split_once('/').ok_or_else(bad)?;
        let path = path.split_once('#').map_or(path, |parts| parts.0);
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let last = path.rsplit('/').next().unwrap_or_default();
        // Lc0's training server gives files by hash: .../get_network?sha=HASH.
        let name = match query.rsplit_once('=') {
            Some((_, value)) if !ENDINGS.iter().any(|ending| last.ends_with(ending)) => value,
            _ => last,
        };
        let name = name.replace("%20", " ");
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-+".contains(c) { c } else { '-' };
        let mut file_name: String = name.chars().map(plain).collect();
        if file_name.trim_matches(['.', '-']).is_empty() || file_name.starts_with('.') {
            return Err(bad());
        }
        if !ENDINGS.iter().any(|ending| file_name.ends_with(ending)) {
            file_name.push_str(ENDINGS[0]);
        }
        Ok(Source { url: url.to_owned(), file_name, sha256: None, limit: file::LARGEST })
    }

    /// Whether the address begins with `https://`.
    pub(super) fn is_https(&self) -> bool {
        self.url.starts_with("https://")
    }

    /// The address, for messages: without a password.
    pub(super) fn shown(&self) -> String {
        without_password(&self.url).into_owned()
    }

    /// The server, for messages.
    pub(super) fn host(&self) -> String {
        let shown = self.shown();
        shown.split('/').nth(2).unwrap_or(&shown).to_owned()
    }
}

impl From<&Entry> for Source {
    fn from(entry: &Entry) -> Source {
        Source {
            url: entry.url.to_owned(),
            file_name: entry.file_name(),
            sha256: entry.sha256.map(str::to_owned),
            limit: entry.size.limit(),
        }
    }
}
