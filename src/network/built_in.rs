//! The network inside the program.

/// What it is called: by `--weights`, and in what the engine says of it.
pub const NAME: &str = "zeitnot-small";
/// The file, as it lies in `models/`.
pub const BYTES: &[u8] = include_bytes!("../../models/zeitnot-small.pb.gz");
/// Lc0's name for the network that comes with the program, understood beside [`NAME`].
pub const LC0_NAME: &str = "<built in>";
/// The networks that come with the source. They lie in `models/` and are used by name: of files that are equally new in a
/// fresh clone, chance would choose.
pub const BROUGHT: [&str; 2] = ["zeitnot-small.pb.gz", "zeitnot-medium.pb.gz"];
