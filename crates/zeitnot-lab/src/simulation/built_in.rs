//! Keeps recorded games inside the program, so that a simulation needs no file.

use crate::recordings::{RecordedSearch, RecordingFileError, RecordingHeader, parse_recording};
use std::path::Path;

/// Recording of 32 games on a virtual clock of 10+0.1 at 1,000 evaluations a second, smooth against legacy
/// (`models/README.md` has the commands).
const BYTES: &[u8] = include_bytes!("../../recordings/games.zt");

/// The recording in the program.
///
/// # Errors
/// [`RecordingFileError`], which a test excludes.
pub fn built_in_recording() -> Result<(RecordingHeader, Vec<RecordedSearch>), RecordingFileError> {
    parse_recording(Path::new("the built-in recording"), BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_recording_has_whole_games() {
        let (header, traces) = built_in_recording().unwrap();
        let games = traces.chunk_by(|a, b| a.game == b.game).count();
        assert!(header.nodes > 0 && games >= 30 && traces.len() > 1_000, "{games} games, {} searches", traces.len());
        assert!(traces.iter().all(|trace| !trace.snapshots.is_empty()));
    }
}
