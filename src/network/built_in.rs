//! The network inside the program.

/// Its name, for `--weights` and in messages.
pub const NAME: &str = "zeitnot-small";
/// The file, as it lies in `models/`.
pub const BYTES: &[u8] = include_bytes!("../../models/zeitnot-small.pb.gz");
/// Names under which `--weights` means it: its own, its file's, and Lc0's for the network that comes with the program.
pub const NAMES: [&str; 3] = [NAME, FILE, "<built in>"];
/// The name of its file in `models/`. A working copy's file of this name may differ from the network that was built in.
pub const FILE: &str = "zeitnot-small.pb.gz";
