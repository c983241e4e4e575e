//! Opens regular files alone; for a folder, a pipe or a device the error says what it is. Opening a pipe would wait for
//! its other end, and a device has no size.

use std::fmt;
use std::fs::{File, FileType, Metadata};
use std::io::{self, Error, ErrorKind};
use std::path::Path;

/// Opens a regular file to read it.
///
/// # Errors
/// The system's, and [`ErrorKind::InvalidInput`] for everything but a regular file.
pub fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let metadata = path.metadata()?;
    match OtherKind::of(metadata.file_type()) {
        Some(kind) => Err(kind.not_a_file()),
        None => Ok((File::open(path)?, metadata)),
    }
}

/// Whether two paths name one file, by way of links, too; a file that does not exist is named by equal paths alone.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    one == other || matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// The kind of an entry of a folder that is not a regular file; displays as a noun with its article.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtherKind {
    /// A folder.
    Folder,
    /// A pipe, whose opening waits for its other end.
    Pipe,
    /// A socket.
    Socket,
    /// A device, whose content may never end.
    Device,
    /// Something else that the system knows.
    Unknown,
}

impl OtherKind {
    /// The kind of an entry with the file type `kind`; `None` for a regular file.
    pub fn of(kind: FileType) -> Option<OtherKind> {
        match kind {
            _ if kind.is_file() => None,
            _ if kind.is_dir() => Some(OtherKind::Folder),
            _ => Some(special(kind)),
        }
    }

    /// The error for an entry of this kind in the place of a file.
    pub fn not_a_file(self) -> Error {
        Error::new(ErrorKind::InvalidInput, format!("it is {self}, not a file"))
    }
}

impl fmt::Display for OtherKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            OtherKind::Folder => "a folder",
            OtherKind::Pipe => "a pipe",
            OtherKind::Socket => "a socket",
            OtherKind::Device => "a device",
            OtherKind::Unknown => "something else",
        })
    }
}

#[cfg(unix)]
fn special(kind: FileType) -> OtherKind {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        _ if kind.is_fifo() => OtherKind::Pipe,
        _ if kind.is_socket() => OtherKind::Socket,
        _ if kind.is_char_device() || kind.is_block_device() => OtherKind::Device,
        _ => OtherKind::Unknown,
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> OtherKind {
    OtherKind::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(path: &Path) -> String {
        open_regular(path).unwrap_err().to_string()
    }

    #[test]
    fn folders_are_no_files() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(reason(folder.path()), "it is a folder, not a file");
        let file = folder.path().join("a");
        std::fs::write(&file, "abc").unwrap();
        assert_eq!(open_regular(&file).unwrap().1.len(), 3);
        assert!(reason(&folder.path().join("none")).contains("os error 2"));
    }

    #[cfg(unix)]
    #[test]
    fn pipes_devices_and_sockets_are_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let [pipe, socket, link] = ["pipe", "socket", "link"].map(|name| folder.path().join(name));
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        std::os::unix::fs::symlink(folder.path(), &link).unwrap();
        assert_eq!(reason(&pipe), "it is a pipe, not a file");
        assert_eq!(reason(&socket), "it is a socket, not a file");
        assert_eq!(reason(&link), "it is a folder, not a file");
        assert_eq!(reason(Path::new("/dev/null")), "it is a device, not a file");
    }
}
