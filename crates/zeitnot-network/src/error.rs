//! The errors of network files.

use std::io;
use std::path::PathBuf;

/// An error in finding, reading or using a network; the text is one line that names the file and the problem.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the texts say what the fields are")]
pub enum NetworkError {
    /// The file cannot be opened or read.
    #[error("cannot read the network file {}: {reason}", path.display())]
    Read { path: PathBuf, reason: io::Error },
    /// A network of the catalogue that has not been downloaded.
    #[error("the network {name} is not here: `zeitnot net fetch {name}` downloads it")]
    NotFetched { name: String },
    /// A Maia, found in a folder: it plays only where the user names it.
    #[error("{} is a Maia, which plays only where it is named", path.display())]
    Maia { path: PathBuf },
    /// The file is empty.
    #[error("the network file {name} is empty")]
    Empty { name: String },
    /// The gzip stream ends early or is damaged.
    #[error("the network file {name} is truncated or damaged: {reason}")]
    Gzip { name: String, reason: io::Error },
    /// The file is, or inflates to, more than a protobuf message can hold.
    #[error("the network file {name} is too large: more than {limit_mib} MiB of content")]
    TooLarge { name: String, limit_mib: u64 },
    /// A network in the text format of 2018.
    #[error("the network file {name} is an old text network, which is not supported: convert it to protobuf (.pb.gz)")]
    TextNetwork { name: String },
    /// Neither an Lc0 network nor an ONNX model.
    #[error("the file {name} is not a network: neither an Lc0 network (.pb.gz, .pb) nor an ONNX model")]
    NotANetwork { name: String },
    /// A file that begins like a network but is inconsistent further on.
    #[error("the network file {name} is truncated or damaged: {problem}")]
    Damaged { name: String, problem: String },
    /// A tensor is missing or does not fit its neighbours.
    #[error("the network file {name} cannot be used: tensor {tensor} {problem}")]
    Tensor {
        name: String,
        /// Path of the tensor in the message tree of the file, for example `residual[3].conv1.weights`.
        tensor: String,
        problem: String,
    },
    /// A network of a kind that this version cannot run.
    #[error("the network file {name} cannot be used: {what} not yet supported")]
    Unsupported {
        name: String,
        /// The kind, with its verb: `transformer networks are`.
        what: String,
    },
    /// The network does not have the head that was asked for.
    #[error("the network file {name} has no {kind} head {wanted:?}; it has {heads}")]
    Head { name: String, kind: &'static str, wanted: String, heads: String },
    /// An ONNX model whose inputs or outputs are not those of a chess network.
    #[error("the ONNX model {name} cannot be used: {problem}")]
    Onnx { name: String, problem: String },
    /// An [`OnnxInterface`](super::OnnxInterface) that the network does not have. The network itself may be sound.
    #[error("the network file {name} cannot be used with this interface: {problem}")]
    Interface {
        name: String,
        /// The name or format that the network does not have.
        problem: String,
    },
}
