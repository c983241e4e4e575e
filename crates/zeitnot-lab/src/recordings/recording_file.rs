//! Writes and reads recordings: a line of JSON that says what was recorded and how, then a block for each recorded
//! search, with its length before it. A file that was cut off goes on behind its last whole block.

use super::packing::{pack, unpack};
use super::recorded_search::RecordedSearch;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use thiserror::Error;
use zeitnot_base::files::mark_length;

/// The kind of file, in its first line.
const FORMAT: &str = "zeitnot traces 1";
/// The longest first line.
const LONGEST_HEADER: u64 = 1 << 20;
const LONGEST_BLOCK: u32 = 1 << 24;

/// The first line of a recording.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordingHeader {
    /// The kind of file and its version.
    pub format: String,
    /// Playouts per move as a game would have them: earlier moves of the side are searched with so many.
    pub nodes: u64,
    /// Playouts of a recorded search, as a multiple of `nodes`.
    pub factor: f64,
    /// The factor by which visits grow from snapshot to snapshot.
    pub growth: f64,
    /// Whatever else decides the searches: the program, its version, the network, options, the files of positions.
    pub settings: Value,
}

impl RecordingHeader {
    /// The header of a new file.
    pub fn new(nodes: u64, factor: f64, growth: f64, settings: Value) -> RecordingHeader {
        RecordingHeader { format: FORMAT.to_owned(), nodes, factor, growth, settings }
    }
}

/// Why a recording cannot be used. Displays as one line.
#[derive(Debug, Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum RecordingFileError {
    /// The file cannot be read or written.
    #[error("{}: {reason}", path.display())]
    Io { path: PathBuf, reason: io::Error },
    /// The file is something else.
    #[error("{} is no recording: {problem}", path.display())]
    Foreign { path: PathBuf, problem: String },
    /// A block is damaged.
    #[error("{} search {number}: {problem}", path.display())]
    Block { path: PathBuf, number: usize, problem: String },
    /// The header of the file differs from that of the searches that were to be added.
    #[error("{} was recorded otherwise: {there} there, {here} here; delete it, or name another file", path.display())]
    Other { path: PathBuf, there: String, here: String },
}

/// A recording that searches are added to.
pub struct RecordingFile {
    path: PathBuf,
    file: File,
    searches: usize,
}

impl RecordingFile {
    /// Opens a file to add recorded searches to it, or begins it. A block that is not whole is removed.
    ///
    /// # Errors
    /// [`RecordingFileError`], when the file cannot be read or holds something else; then nothing is changed.
    pub fn open(path: &Path, header: &RecordingHeader) -> Result<RecordingFile, RecordingFileError> {
        let io = |reason| RecordingFileError::Io { path: path.to_owned(), reason };
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path).map_err(io)?;
        let (mut searches, mut whole) = (0, 0);
        let line = serde_json::to_string(header).map_err(io::Error::from).map_err(io)? + "\n";
        let mut first = Vec::new();
        (&file).take(line.len() as u64).read_to_end(&mut first).map_err(io)?;
        // A file that was cut off within this very line has nothing to lose.
        let is_begun = first.len() >= line.len() || !line.as_bytes().starts_with(&first);
        if is_begun {
            let mut blocks = Blocks::open(path)?;
            if blocks.header != *header {
                let text = |header: &RecordingHeader| serde_json::to_string(header).unwrap_or_default();
                let (there, here) = (text(&blocks.header), text(header));
                return Err(RecordingFileError::Other { path: path.to_owned(), there, here });
            }
            whole = blocks.at;
            while let Some(block) = blocks.next_block()? {
                whole += 4 + block.len() as u64;
                searches += 1;
            }
        }
        file.set_len(whole).map_err(io)?;
        file.seek(SeekFrom::End(0)).map_err(io)?;
        let mut opened = RecordingFile { path: path.to_owned(), file, searches };
        if whole == 0 {
            opened.write(line.as_bytes())?;
        }
        Ok(opened)
    }

    /// Number of recorded searches in the file.
    pub fn searches(&self) -> usize {
        self.searches
    }

    /// Adds a recorded search.
    ///
    /// # Errors
    /// [`RecordingFileError::Io`].
    pub fn add(&mut self, search: &RecordedSearch) -> Result<(), RecordingFileError> {
        let packed = pack(search).map_err(|reason| RecordingFileError::Io { path: self.path.clone(), reason })?;
        let mut block = (packed.len() as u32).to_le_bytes().to_vec();
        block.extend(packed);
        self.write(&block)?;
        self.searches += 1;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), RecordingFileError> {
        self.file.write_all(bytes).map_err(|reason| RecordingFileError::Io { path: self.path.clone(), reason })
    }
}

/// Reads all recorded searches of a file. A block that was cut off at the end is ignored.
///
/// # Errors
/// [`RecordingFileError`], when the file cannot be read, is something else, or has a damaged block.
pub fn read_recording(path: &Path) -> Result<(RecordingHeader, Vec<RecordedSearch>), RecordingFileError> {
    all_searches(path, Blocks::open(path)?)
}

/// Reads all recorded searches of the content of a file; `path` is its name in errors.
///
/// # Errors
/// [`RecordingFileError`], as [`read_recording`].
pub fn parse_recording(
    path: &Path,
    content: &[u8],
) -> Result<(RecordingHeader, Vec<RecordedSearch>), RecordingFileError> {
    all_searches(path, Blocks::new(path, content)?)
}

fn all_searches(
    path: &Path,
    mut blocks: Blocks<impl BufRead>,
) -> Result<(RecordingHeader, Vec<RecordedSearch>), RecordingFileError> {
    let mut searches = Vec::new();
    while let Some(block) = blocks.next_block()? {
        let number = searches.len() + 1;
        let search =
            unpack(&block).map_err(|problem| RecordingFileError::Block { path: path.to_owned(), number, problem })?;
        searches.push(search);
    }
    Ok((blocks.header, searches))
}

struct Blocks<R> {
    path: PathBuf,
    reader: R,
    header: RecordingHeader,
    /// Offset of the first block in the file, in bytes.
    at: u64,
}

impl Blocks<BufReader<File>> {
    fn open(path: &Path) -> Result<Self, RecordingFileError> {
        let file = File::open(path).map_err(|reason| RecordingFileError::Io { path: path.to_owned(), reason })?;
        Blocks::new(path, BufReader::new(file))
    }
}

impl<R: BufRead> Blocks<R> {
    fn new(path: &Path, mut reader: R) -> Result<Self, RecordingFileError> {
        let io = |reason| RecordingFileError::Io { path: path.to_owned(), reason };
        let foreign = |problem: String| RecordingFileError::Foreign { path: path.to_owned(), problem };
        let mut line = Vec::new();
        (&mut reader).take(LONGEST_HEADER).read_until(b'\n', &mut line).map_err(io)?;
        let text = &line[mark_length(&line).map_err(io)?..];
        let header: RecordingHeader = serde_json::from_slice(text).map_err(|error| foreign(error.to_string()))?;
        if header.format != FORMAT || line.last() != Some(&b'\n') {
            return Err(foreign(format!("its first line says {:?}, not {FORMAT:?}", header.format)));
        }
        Ok(Blocks { path: path.to_owned(), reader, header, at: line.len() as u64 })
    }

    /// The next whole block; `None` at the end.
    fn next_block(&mut self) -> Result<Option<Vec<u8>>, RecordingFileError> {
        let io = |reason| RecordingFileError::Io { path: self.path.clone(), reason };
        let Some(length) = read_whole(&mut self.reader, 4).map_err(io)? else { return Ok(None) };
        let length = u32::from_le_bytes([length[0], length[1], length[2], length[3]]);
        if length > LONGEST_BLOCK {
            return Err(RecordingFileError::Foreign {
                path: self.path.clone(),
                problem: format!("a block of {length} bytes is none"),
            });
        }
        read_whole(&mut self.reader, length as usize).map_err(io)
    }
}

/// Reads `count` bytes; `None` where the file ends before.
fn read_whole(reader: &mut impl Read, count: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::with_capacity(count);
    reader.take(count as u64).read_to_end(&mut bytes)?;
    Ok((bytes.len() == count).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::super::packing::tests::example;
    use super::*;

    fn header() -> RecordingHeader {
        RecordingHeader::new(400, 16.0, 1.1, serde_json::json!({"network": "none"}))
    }

    #[test]
    fn a_file_goes_on_behind_its_last_whole_block() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("searches.zt");
        let mut file = RecordingFile::open(&path, &header()).unwrap();
        file.add(&example(0, 0)).unwrap();
        let one = std::fs::metadata(&path).unwrap().len();
        file.add(&example(0, 2)).unwrap();
        drop(file);
        let whole = std::fs::read(&path).unwrap();
        for cut in one..whole.len() as u64 {
            std::fs::write(&path, &whole[..cut as usize]).unwrap();
            assert_eq!(read_recording(&path).unwrap().1.len(), 1, "{cut}");
            let mut file = RecordingFile::open(&path, &header()).unwrap();
            assert_eq!(file.searches(), 1);
            file.add(&example(0, 2)).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
        assert_eq!(read_recording(&path).unwrap().1, [example(0, 0), example(0, 2)]);
    }

    #[test]
    fn a_file_goes_on_that_was_cut_off_within_its_first_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("searches.zt");
        drop(RecordingFile::open(&path, &header()).unwrap());
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..=whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let file = RecordingFile::open(&path, &header()).unwrap();
            assert_eq!((file.searches(), std::fs::read(&path).unwrap()), (0, whole.clone()), "{cut}");
        }
        // The beginning of another recording is left alone.
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(RecordingFile::open(&path, &RecordingHeader { nodes: 800, ..header() }).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), whole[..whole.len() - 1]);
    }

    #[test]
    fn other_files_are_named_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        for text in ["", "no recording\n", "{\"format\":\"zeitnot traces 9\"}\n"] {
            std::fs::write(&path, text).unwrap();
            let line = read_recording(&path).unwrap_err().to_string();
            assert!(line.contains("notes.txt is no recording") && !line.contains('\n'), "{line}");
            if !text.is_empty() {
                assert!(RecordingFile::open(&path, &header()).is_err());
                assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
            }
        }
        let path = folder.path().join("searches.zt");
        RecordingFile::open(&path, &header()).unwrap().add(&example(0, 0)).unwrap();
        let other = RecordingHeader { nodes: 800, ..header() };
        assert!(matches!(RecordingFile::open(&path, &other), Err(RecordingFileError::Other { .. })));
    }
}
