//! Opens files that are files: a folder, a pipe or a device of that name is called what it is. Opening a pipe would wait for its
//! other end, and a device has no size.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Error, ErrorKind};
use std::path::Path;

/// Opens a regular file to read it.
///
/// # Errors
/// The system's, and [`ErrorKind::InvalidInput`] for what is no regular file.
pub fn open_regular(path: &Path) -> io::Result<(File, Metadata)> {
    let metadata = path.metadata()?;
    if let Some(kind) = kind_of(metadata.file_type()) {
        return Err(Error::new(ErrorKind::InvalidInput, format!("it is {kind}, not a file")));
    }
    Ok((File::open(path)?, metadata))
}

/// The word for what is no regular file, with its article; `None` for a file.
pub fn kind_of(kind: FileType) -> Option<&'static str> {
    match kind {
        _ if kind.is_file() => None,
        _ if kind.is_dir() => Some("a folder"),
        _ => Some(special(kind)),
    }
}

#[cfg(unix)]
fn special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match kind {
        _ if kind.is_fifo() => "a pipe",
        _ if kind.is_socket() => "a socket",
        _ if kind.is_char_device() || kind.is_block_device() => "a device",
        _ => "something else",
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> &'static str {
    "something else"
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
