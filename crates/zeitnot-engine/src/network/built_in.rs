//! The network inside the program, which `build.rs` names: `networks/zeitnot-small.pb.gz` of this crate, or another
//! (`make EVALFILE=...`).

/// Name of the network, for `--weights` and in messages.
pub const NAME: &str = env!("ZEITNOT_BUILT_IN_NAME");
/// The file.
pub(crate) const BYTES: &[u8] = include_bytes!(env!("ZEITNOT_BUILT_IN_PATH"));
/// Names under which `--weights` means it: its own, its file's, and Lc0's for the network that comes with the program.
pub(crate) const NAMES: [&str; 3] = [NAME, FILE, "<built in>"];
/// Whether the builder of the program chose the network: it then plays whenever the user names no other.
pub(crate) const IS_CHOSEN: bool = option_env!("ZEITNOT_BUILT_IN_IS_CHOSEN").is_some();
/// The name of its file. A working copy's file of this name may differ from the network that was built in.
pub(crate) const FILE: &str = env!("ZEITNOT_BUILT_IN_FILE");
