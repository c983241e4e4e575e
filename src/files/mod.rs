//! The files that a user names: their paths as text, what they are, and their content as text.

mod path_text;
mod regular;
mod text;

pub use path_text::{from_bytes, from_os, to_os, to_path};
pub use regular::{kind_of, open_regular};
pub use text::{TextLines, mark_length, open, read_text, without_marks};
