//! Opens files that are read more than once, also those that can be read only once.

use std::fs::File;
use std::io::{self, Seek as _};
use std::path::Path;

/// Opens a file for reading. What a pipe holds is copied to a file without a name first: its readers look at it, and begin again.
///
/// # Errors
/// Those of the operating system.
pub fn open_rereadable(path: &Path) -> io::Result<File> {
    let mut file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() || metadata.is_dir() {
        return Ok(file);
    }
    let mut copy = tempfile::tempfile()?;
    io::copy(&mut file, &mut copy)?;
    copy.rewind()?;
    Ok(copy)
}
