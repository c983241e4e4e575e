//! The network inside the program, which `build.rs` names: `networks/zeitnot-small.pb.gz` of this crate, or another
//! (`make EVALFILE=...`).

/// Name of the network, for `--weights` and in messages.
pub const NAME: &str = env!("ZEITNOT_BUILT_IN_NAME");
/// The content of the network file.
pub(crate) const BYTES: &[u8] = include_bytes!(env!("ZEITNOT_BUILT_IN_PATH"));
/// Names by which `--weights` asks for this network: its own, its file's, and Lc0's for a network inside the program.
pub(crate) const NAMES: [&str; 3] = [NAME, FILE, "<built in>"];
/// Whether whoever built the program chose this network, which then plays unless the user names another.
pub(crate) const IS_CHOSEN: bool = option_env!("ZEITNOT_BUILT_IN_IS_CHOSEN").is_some();
/// Name of the network's file. A file of this name in a working copy may differ from the network that was built in.
pub(crate) const FILE: &str = env!("ZEITNOT_BUILT_IN_FILE");
