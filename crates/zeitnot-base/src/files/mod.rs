//! The files that a user names: their paths as text, what they are, and their content as text.

mod claim;
mod path_text;
mod regular;
mod text;
mod whole;

pub use claim::Claim;
pub use path_text::{from_any_encoding, from_bytes, from_os, named_path, to_os, to_path};
pub use regular::{OtherKind, is_same_file, open_regular};
pub use text::{MARK, TextLines, mark_length, open, read_text, without_marks};
pub use whole::write_whole;
