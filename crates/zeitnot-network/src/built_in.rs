//! The networks inside the program: the one that plays where no other is named, and a tiny one for large trees.

use std::ffi::OsStr;

/// Name of the network that plays where no other is named, for `--weights` and in messages.
pub const NAME: &str = MAIN.name;
/// Name that asks for the network that plays, as in Lc0.
const LC0_NAME: &str = "<built in>";
/// Whether the network that plays was chosen at build time (`make EVALFILE=...`): files in the folders of networks are
/// then passed over unless the user names one.
pub(crate) const IS_CHOSEN: bool = option_env!("ZEITNOT_BUILT_IN_IS_CHOSEN").is_some();

/// A network inside the program.
#[derive(Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// Name of the network.
    pub name: &'static str,
    /// Name of its file. A file of this name in a working copy may differ from the network that was built in.
    pub file: &'static str,
    /// Content of its file.
    pub bytes: &'static [u8],
}

/// The network that plays, which `build.rs` names: `networks/zeitnot-small.pb.gz` of this crate, or another
/// (`make EVALFILE=...`).
pub(crate) const MAIN: BuiltIn = BuiltIn {
    name: env!("ZEITNOT_BUILT_IN_NAME"),
    file: env!("ZEITNOT_BUILT_IN_FILE"),
    bytes: include_bytes!(env!("ZEITNOT_BUILT_IN_PATH")),
};

/// A tiny network for games with large trees: those that `zeitnot time compare --cells builtin` plays.
pub(crate) const TINY: BuiltIn = BuiltIn {
    name: "zeitnot-tiny",
    file: "zeitnot-tiny.pb.gz",
    bytes: include_bytes!("../networks/zeitnot-tiny.pb.gz"),
};

/// The built-in network of this name, which may be the network's own, its file's, or Lc0's `<built in>`; `None` if no
/// built-in network has it.
pub fn named(name: &OsStr) -> Option<&'static BuiltIn> {
    let is = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    let tiny = is(&[TINY.name, TINY.file]).then_some(&TINY);
    is(&[MAIN.name, MAIN.file, LC0_NAME]).then_some(&MAIN).or(tiny)
}
