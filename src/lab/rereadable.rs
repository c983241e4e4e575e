//! Opens files that are read more than once, also those that can be read only once.

use crate::files::open;
use std::fs::File;
use std::io::{self, Seek as _};
use std::path::Path;

/// Opens a file for reading. What a pipe holds is copied to a file without a name first: its readers look at it, and begin again.
///
/// # Errors
/// Those of the operating system.
pub fn open_rereadable(path: &Path) -> io::Result<File> {
    let mut file = open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let mut copy = tempfile::tempfile()?;
    io::copy(&mut file, &mut copy)?;
    copy.rewind()?;
    Ok(copy)
}
