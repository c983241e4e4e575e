//! The result of `time record`.

use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingSize {
    /// Positions in the file, with those of earlier runs.
    pub positions: usize,
    /// Games that they come from.
    pub games: usize,
    /// Snapshots that this run recorded.
    pub snapshots: usize,
    /// Bytes of the file.
    pub bytes: u64,
}
