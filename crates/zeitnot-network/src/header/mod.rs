//! Reads the header of a network file: input format, architecture, heads and activations, after the fix-ups that older
//! files need (docs/lc0.md, 4.6).

use super::format::{InputFormat, PolicyKind, ValueKind, activation_from_id};
use super::{NetworkError, proto};
use zeitnot_kernels::Activation;

/// The body of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// A tower of residual blocks; the tensors tell whether they squeeze and excite.
    Residual,
    /// A transformer, alone or on top of a tower.
    AttentionBody,
    /// An ONNX model inside the file.
    Onnx,
}

/// Encoding of the squares by a transformer without a tower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionEncoding {
    /// `PE_MAP`: the moves between squares, as constants beside the planes.
    Map,
    /// `PE_DENSE`: a dense layer over the pieces of the whole board.
    Dense,
}

/// The header of a network file, with a value for everything that the file leaves out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub structure: Structure,
    pub input: InputFormat,
    pub policy: PolicyKind,
    pub value: ValueKind,
    pub moves_left: bool,
    /// The nonlinearity of all layers without one of their own.
    pub activation: Activation,
    /// Activation in the feed-forward networks of encoders.
    pub ffn_activation: Activation,
    /// Activation in smolgen.
    pub smolgen_activation: Activation,
    /// Activation in the embedding of an attention policy: SELU in networks older than attention bodies, which use it
    /// in the feed-forward networks of their policy encoders too.
    pub policy_activation: Activation,
    pub policy_ffn_activation: Activation,
    /// Encoding of the squares by an attention body without a tower.
    pub position_encoding: PositionEncoding,
}

impl Header {
    /// Reads the header of the file `name`.
    ///
    /// Fix-ups (docs/lc0.md, 4.6): a file without a format is classical in everything; the two oldest structures mean
    /// classical heads; a squeeze-and-excitation network with encoders is an attention body, which with smolgen takes
    /// squared ReLU and swish; an attention body with several policy and value heads encodes squares densely. If no
    /// encoding is stated, it is dense where the file has tensors for that, else by the map.
    pub fn of(net: &proto::Net, name: &str) -> Result<Header, NetworkError> {
        let format = net.format.as_ref().and_then(|format| format.network_format.as_ref());
        let Some(format) = format else { return Ok(Header::classical(InputFormat::Classical)) };
        let unsupported = |field: &str, id: i32| NetworkError::Unsupported {
            name: name.to_owned(),
            what: format!("{field} {id} of its header is"),
        };
        let input = match format.input.unwrap_or(0) {
            0 => InputFormat::Classical,
            id => InputFormat::from_id(id).ok_or_else(|| unsupported("input format", id))?,
        };
        let weights = net.weights.as_ref();
        let encoders = weights.is_some_and(|weights| !weights.encoder.is_empty());
        let network = format.network.unwrap_or(0);
        let structure = match network {
            0 if net.onnx_model.is_some() => Structure::Onnx,
            // A file without a structure, CLASSICAL, SE.
            0..=2 => Structure::Residual,
            3 | 4 | 6 | 7 | 134 if encoders => Structure::AttentionBody,
            6 | 7 | 134 if weights.is_none_or(|weights| weights.residual.is_empty()) => Structure::AttentionBody,
            3 | 4 | 6 | 7 | 134 => Structure::Residual,
            5 => Structure::Onnx,
            id => return Err(unsupported("network structure", id)),
        };
        // The two oldest structures know only classical heads; the rest of the header does not count.
        let classical_heads = structure == Structure::Residual && matches!(network, 0..=2);
        let policy = match format.policy.unwrap_or(0) {
            _ if classical_heads => PolicyKind::Classical,
            0 | 1 => PolicyKind::Classical,
            2 => PolicyKind::Convolution,
            3 => PolicyKind::Attention,
            id => return Err(unsupported("policy format", id)),
        };
        let value = match format.value.unwrap_or(0) {
            _ if classical_heads => ValueKind::Scalar,
            0 | 1 => ValueKind::Scalar,
            2 => ValueKind::Wdl,
            id => return Err(unsupported("value format", id)),
        };
        let moves_left = match format.moves_left.unwrap_or(0) {
            0 => false,
            1 => true,
            id => return Err(unsupported("moves left format", id)),
        };
        let activation = match format.default_activation.unwrap_or(0) {
            0 => Activation::Relu,
            1 => Activation::Mish,
            id => return Err(unsupported("default activation", id)),
        };
        let old = matches!(network, 3 | 4);
        let old_smolgen = old && encoders && weights.is_some_and(|weights| weights.smolgen_w.is_some());
        let [ffn_id, smolgen_id] = if old_smolgen {
            [8, 7]
        } else {
            [format.ffn_activation.unwrap_or(0), format.smolgen_activation.unwrap_or(0)]
        };
        let policy_activation = if old && !encoders { Activation::Selu } else { activation };
        let ffn = |default| activation_from_id(ffn_id, default).ok_or_else(|| unsupported("ffn activation", ffn_id));
        let smolgen_activation = activation_from_id(smolgen_id, activation);
        let several_heads =
            weights.is_some_and(|weights| weights.policy_heads.is_some() && weights.value_heads.is_some());
        let dense = weights.is_some_and(|weights| weights.ip_emb_preproc_w.is_some());
        let position_encoding = match format.input_embedding {
            _ if network == 6 && several_heads => PositionEncoding::Dense,
            Some(1) => PositionEncoding::Map,
            Some(2) => PositionEncoding::Dense,
            None | Some(0) if dense => PositionEncoding::Dense,
            None | Some(0) => PositionEncoding::Map,
            Some(id) => return Err(unsupported("input embedding", id)),
        };
        Ok(Header {
            structure,
            input,
            policy,
            value,
            moves_left,
            activation,
            ffn_activation: ffn(activation)?,
            smolgen_activation: smolgen_activation.ok_or_else(|| unsupported("smolgen activation", smolgen_id))?,
            policy_activation,
            policy_ffn_activation: ffn(policy_activation)?,
            position_encoding,
        })
    }

    /// The header that the oldest files imply.
    fn classical(input: InputFormat) -> Header {
        Header {
            structure: Structure::Residual,
            input,
            policy: PolicyKind::Classical,
            value: ValueKind::Scalar,
            moves_left: false,
            activation: Activation::Relu,
            ffn_activation: Activation::Relu,
            smolgen_activation: Activation::Relu,
            policy_activation: Activation::Relu,
            policy_ffn_activation: Activation::Relu,
            position_encoding: PositionEncoding::Map,
        }
    }
}

#[cfg(test)]
mod tests;
