//! What a network *is*: Lc0's weight files and ONNX models, the input planes, the 1858 moves of the policy, and where
//! networks are found. How a network runs is the business of [`crate::backend`].
//!
//! ```no_run
//! use zeitnot::chess::Game;
//! use zeitnot::network::{self, HistoryFill, Network};
//!
//! let network = Network::load(&network::find(None)?)?;
//! println!("{}", network.description());
//! let game = Game::new();
//! let (planes, transform) = network::encode(&game, network.description().input, HistoryFill::FenOnly);
//! for mv in game.current().legal_moves() {
//!     let index = network::policy_index(mv, game.current().turn(), transform);
//! }
//! # Ok::<(), network::NetworkError>(())
//! ```
//!
//! | file | what |
//! |---|---|
//! | `file` | bytes of any kind to a [`Network`] |
//! | `proto`, `onnx_proto` | the wire formats |
//! | `format` | the header of a network: input format, heads, activation, and the fix-ups of older files |
//! | `weights` | the decoded tensors of residual networks |
//! | `onnx` | conversion to ONNX |
//! | `planes`, `transform` | the input of a network, and the symmetries of canonical formats |
//! | `policy` | the index of a move |
//! | `locate` | where networks lie |
//! | [`catalogue`], `fetch` | well-known networks, and how they are downloaded |

use std::path::Path;

pub mod catalogue;
mod description;
mod error;
mod fetch;
mod file;
mod format;
mod locate;
mod onnx;
mod onnx_proto;
mod planes;
mod policy;
mod proto;
#[doc(hidden)]
pub mod testing;
mod transform;
mod weights;

pub use description::{Architecture, Description};
pub use error::NetworkError;
pub use fetch::{FetchError, FetchProgress, Fetched, Fetcher, Source};
pub use format::{Activation, InputFormat, PolicyKind, ValueKind};
pub use locate::{find, user_folder};
pub use onnx::{Conversion, OnnxModel, Precision, ValueOutput};
pub use planes::{HistoryFill, PLANES, Planes, canonical_transform, encode};
pub use policy::{CONVOLUTION_PLANES, MOVES, index_to_uci, policy_index};
pub use transform::Transform;
pub use weights::{Block, Convolution, Dense, DenseHead, PolicyHead, SQUARES, SqueezeExcitation, Weights};

/// A loaded network file.
#[derive(Clone, Debug)]
pub struct Network {
    name: String,
    description: Description,
    body: Body,
}

/// What is known of a network beyond its header.
#[derive(Clone, Debug)]
enum Body {
    /// The decoded tensors of a residual network.
    Residual(Box<Weights>),
    /// A model that came as ONNX.
    Onnx(OnnxModel),
}

impl Network {
    /// Reads a network file: Lc0's protobuf (gzipped or not) or an ONNX model, told apart by their content.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, is no network, is damaged, or is of a kind not yet supported.
    pub fn load(path: &Path) -> Result<Network, NetworkError> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        Network::from_bytes(&file::read(path)?, &name)
    }

    /// As [`Network::load`], from the content of a file called `name`.
    ///
    /// # Errors
    ///
    /// As [`Network::load`].
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Network, NetworkError> {
        let (description, body) = file::parse(bytes, name)?;
        Ok(Network { name: name.to_owned(), description, body })
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Architecture, sizes, heads and input format; its text is one line.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The network as an ONNX model: converted as asked, or, when it came as ONNX, as it came.
    ///
    /// # Errors
    ///
    /// When the network cannot be converted so.
    pub fn onnx(&self, conversion: &Conversion) -> Result<OnnxModel, NetworkError> {
        match &self.body {
            Body::Residual(_) if *conversion != Conversion::default() => Err(NetworkError::Unsupported {
                name: self.name.clone(),
                what: "another conversion than to float32 at opset 17 is".to_owned(),
            }),
            Body::Residual(weights) => Ok(onnx::convert(weights, &self.name)),
            Body::Onnx(model) => Ok(model.clone()),
        }
    }

    /// The decoded tensors, when it is a residual network in Lc0's format.
    pub fn weights(&self) -> Option<&Weights> {
        match &self.body {
            Body::Residual(weights) => Some(weights),
            Body::Onnx(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
