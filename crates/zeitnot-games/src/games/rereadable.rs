//! Reads files more than once, also those that can be read only once.

use std::io;
use std::path::Path;
use tempfile::NamedTempFile;
use zeitnot_base::files::open;

/// A file, or a copy of what a pipe held.
pub struct Rereadable<'a> {
    path: &'a Path,
    copy: Option<NamedTempFile>,
}

impl<'a> Rereadable<'a> {
    /// Takes a file as it is, and copies a pipe to a temporary file that goes with this value.
    ///
    /// # Errors
    /// The errors of [`open`], and of writing the copy.
    pub fn new(path: &'a Path) -> io::Result<Rereadable<'a>> {
        let mut file = open(path)?;
        if file.metadata()?.is_file() {
            return Ok(Rereadable { path, copy: None });
        }
        let mut copy = NamedTempFile::new()?;
        io::copy(&mut file, &mut copy)?;
        Ok(Rereadable { path, copy: Some(copy) })
    }

    /// The path of the file to read: the file itself, or the temporary copy.
    pub fn path(&self) -> &Path {
        self.copy.as_ref().map_or(self.path, NamedTempFile::path)
    }
}
