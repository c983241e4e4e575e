//! Networks as data: Lc0's weight files and ONNX models, the input planes, the 1858 moves of the policy, and where
//! networks are found. The crate `zeitnot-backend` runs them.
//!
//! ```no_run
//! use zeitnot_chess::Game;
//! use zeitnot_network::{HistoryFill, OnnxInterface};
//!
//! let passed_over = |error: &_| eprintln!("{error}; it is passed over");
//! let (_, network) = zeitnot_network::load(None, &OnnxInterface::default(), passed_over)?;
//! println!("{}", network.description());
//! let game = Game::new();
//! let (planes, transform) = zeitnot_network::encode(&game, network.description().input, HistoryFill::FenOnly);
//! for mv in game.current().legal_moves() {
//!     let index = zeitnot_network::policy_index(mv, game.current().turn(), transform);
//! }
//! # Ok::<(), zeitnot_network::NetworkError>(())
//! ```
//!
//! | file | what |
//! |---|---|
//! | `file`, `gzip` | reads a [`Network`] from the bytes of a file |
//! | `proto`, `onnx_proto`, `budget` | the wire formats, and the memory that decoding them may take |
//! | `format`, `header` | the header of a network file, and the fix-ups of older files |
//! | `weights` | the tensors of a network, and those of a residual network decoded |
//! | `description` | the description of a network, for people and programs |
//! | `onnx` | conversion to ONNX, and the interface of models that came as ONNX |
//! | `planes`, `transform` | the input of a network, and the symmetries of canonical formats |
//! | `policy` | the index of a move |
//! | `ratings` | the ratings of both players, for a network that plays by them |
//! | `maia3` | input and policy of Maia-3 |
//! | `external_data` | the files that the tensors of an ONNX model may lie in |
//! | `find_network`, `built_in` | the places of networks, and the one inside the program |
//! | `maia` | the networks of Maia, recognised by their content |
//! | `error` | errors of network files |
//! | [`catalogue`], `fetch` | well-known networks, and how they are downloaded |

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

/// Declares messages of Protocol Buffers as structs that `prost` reads and writes; a field is
/// `label kind name: Type = tag;`.
macro_rules! messages {
    ($($(#[$doc:meta])* $message:ident {
        $($(#[$field_doc:meta])* $label:ident $kind:ident $(($bytes:tt))? $name:ident: $type:ty = $tag:tt
            $(, $option:ident = $value:tt)?;)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, PartialEq, prost::Message)]
        pub struct $message {
            $($(#[$field_doc])*
            #[prost($kind $(= $bytes)?, $label, $($option = $value,)? tag = $tag)]
            pub $name: messages!($label $type),)*
        }
    )*};
    (optional $type:ty) => { Option<$type> };
    (repeated $type:ty) => { Vec<$type> };
    (required $type:ty) => { $type };
}

mod budget;
mod built_in;
pub mod catalogue;
mod description;
mod error;
pub mod external_data;
#[cfg(feature = "download")]
mod fetch;
mod file;
mod find_network;
mod format;
mod gzip;
mod header;
pub mod maia;
pub mod maia3;
mod onnx;
pub mod onnx_proto;
mod planes;
mod policy;
mod proto;
mod ratings;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod transform;
mod weights;

pub use built_in::{BuiltIn, NAME as BUILT_IN};
pub use description::{Architecture, Description, PositionKind};
pub use error::NetworkError;
#[cfg(feature = "download")]
pub use fetch::{FetchError, FetchProgress, Fetched, Fetcher, Source, http_reason, service_agent};
pub use find_network::{Location, find, load, load_for, user_folder};
pub use format::{InputFormat, PolicyKind, ValueKind};
pub use onnx::{
    Conversion, EndTypes, Maia3Input, MishForm, ModelInput, OnnxInterface, OnnxModel, Precision, ValueOutput,
};
pub use onnx::{fields as onnx_fields, keys as onnx_keys, without_default_inputs};
pub use planes::{HistoryFill, PLANES, Planes, encode};
pub use policy::{
    CONVOLUTION_MAP, CONVOLUTION_PLANES, FIRST_PROMOTION, MOVES, PROMOTIONS, index_to_uci, policy_index,
    positional_map, squares as move_squares,
};
pub use ratings::Ratings;
pub use transform::Transform;
pub use weights::body::PIECE_PLANES;
use weights::layers::Layers;
pub use weights::{Block, Convolution, Dense, DenseHead, PolicyHead, SQUARES, SqueezeExcitation, Weights};
pub use weights::{layers, tensor};
pub use zeitnot_kernels::Activation;

/// A loaded network file.
#[derive(Clone, Debug)]
pub struct Network {
    name: String,
    description: Description,
    body: Body,
    maia: Option<u32>,
}

/// The content of a network beyond its header.
#[derive(Clone, Debug)]
enum Body {
    /// The layers of a network in Lc0's format as they lie in the file; `decoded` is filled on the first request.
    Layers { layers: Box<Layers>, decoded: OnceLock<Option<Box<Weights>>> },
    /// A model that came as ONNX.
    Onnx(OnnxModel),
}

impl Network {
    /// Reads a network file: Lc0's protobuf (gzipped or not) or an ONNX model, recognised by its content.
    ///
    /// # Errors
    /// When the file cannot be read, is no network, is damaged, or is of a kind not yet supported.
    pub fn load(path: &Path) -> Result<Network, NetworkError> {
        Network::load_with(path, &OnnxInterface::default())
    }

    /// Reads a network file as [`Network::load`] does, with this interface if the file is an ONNX model.
    ///
    /// # Errors
    /// As [`Network::load`], and [`NetworkError::Interface`] when the network does not have this interface: it lacks a
    /// name, the file states another name or input format, or names are given for a network in Lc0's own format.
    pub fn load_with(path: &Path, interface: &OnnxInterface) -> Result<Network, NetworkError> {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let mut network = Network::parse(Cow::Owned(file::read(path)?), &name, interface)?;
        if let Body::Onnx(model) = &mut network.body {
            // The working folder may be another one by the time the model is used.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
            model.folder = path.parent().map(Path::to_owned);
        }
        Ok(network)
    }

    /// Reads the content of a network file called `name`, as [`Network::load`].
    ///
    /// # Errors
    /// As [`Network::load`].
    pub fn from_bytes(bytes: &[u8], name: &str) -> Result<Network, NetworkError> {
        Network::from_bytes_with(bytes, name, &OnnxInterface::default())
    }

    /// Reads the content of a network file called `name`, as [`Network::load_with`].
    ///
    /// # Errors
    /// As [`Network::load_with`].
    pub fn from_bytes_with(bytes: &[u8], name: &str, interface: &OnnxInterface) -> Result<Network, NetworkError> {
        Network::parse(Cow::Borrowed(bytes), name, interface)
    }

    fn parse(bytes: Cow<'_, [u8]>, name: &str, interface: &OnnxInterface) -> Result<Network, NetworkError> {
        let file::Parsed { description, body, maia } = file::parse(bytes, name, interface)?;
        Ok(Network { name: name.to_owned(), description, body, maia })
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The network's architecture, sizes, heads and input format; displays as one line.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The rating on lichess of the players whose moves a Maia learned; `None` for other networks.
    pub fn maia(&self) -> Option<u32> {
        self.maia
    }

    /// Whether the network learned the moves of people: a Maia of any kind.
    pub(crate) fn plays_like_people(&self) -> bool {
        self.maia.is_some() || self.description.input == InputFormat::Maia3
    }

    /// The network as an ONNX model: converted with these options, or unchanged if it came as ONNX.
    ///
    /// # Errors
    /// When the network cannot be converted with these options. A model that came as ONNX takes only the default
    /// options.
    pub fn onnx(&self, conversion: &Conversion) -> Result<OnnxModel, NetworkError> {
        match &self.body {
            Body::Layers { layers, .. } => onnx::convert(layers, self.description.input, conversion, &self.name),
            Body::Onnx(model) => match conversion.first_wish() {
                None => Ok(model.clone()),
                Some(wish) => {
                    let problem = format!("it came as ONNX, which is used as it is: it cannot be had with {wish}");
                    Err(NetworkError::Onnx { name: self.name.clone(), problem })
                }
            },
        }
    }

    /// The layers of a network in Lc0's format; `None` for one that came as ONNX.
    pub fn layers(&self) -> Option<&Layers> {
        match &self.body {
            Body::Layers { layers, .. } => Some(layers),
            Body::Onnx(_) => None,
        }
    }

    /// The decoded tensors of a residual network in Lc0's format without attention; `None` for other networks.
    ///
    /// The first call decodes the tensors; they are kept.
    pub fn weights(&self) -> Option<&Weights> {
        match &self.body {
            Body::Layers { layers, decoded } => decoded.get_or_init(|| layers.decode().map(Box::new)).as_deref(),
            Body::Onnx(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
