//! The network inside the program.

/// What it is called: by `--weights`, and in what the engine says of it.
pub const NAME: &str = "zeitnot-small";
/// The file, as it lies in `models/`.
pub const BYTES: &[u8] = include_bytes!("../../models/zeitnot-small.pb.gz");
/// What means it: its name, its file's, and Lc0's word for the network that comes with the program.
pub const NAMES: [&str; 3] = [NAME, FILE, "<built in>"];
/// Its file in `models/`. Only its name means it: the file of a working copy may be another one than that which was built in.
pub const FILE: &str = "zeitnot-small.pb.gz";
