//! The ends of a model that came as ONNX: which they are, and whether they fit a chess network.

use prost::Message;
use prost::bytes::Bytes;

use super::{OnnxModel, ValueOutput, names};
use crate::network::NetworkError;
use crate::network::onnx_proto::{FLOAT, ModelEnds, ValueInfoProto};
use crate::network::planes::PLANES;
use crate::network::policy::MOVES;
use crate::network::{budget, proto};

/// Names that a network file gives for the ends of the model inside it; empty ones are Lc0's usual names.
#[derive(Default)]
struct Names<'a> {
    input: Option<&'a str>,
    policy: Option<&'a str>,
    wdl: Option<&'a str>,
    value: Option<&'a str>,
    moves_left: Option<&'a str>,
}

/// Reads the ends of an ONNX model of the file `name`; `outer` is the network message around it, if there is one.
///
/// `None` when the bytes are no ONNX model at all.
pub(crate) fn inspect(
    bytes: &Bytes,
    outer: Option<&proto::OnnxModel>,
    name: &str,
) -> Result<Option<OnnxModel>, NetworkError> {
    budget::check(&budget::ONNX, bytes).map_err(|problem| NetworkError::Damaged { name: name.to_owned(), problem })?;
    let Ok(model) = ModelEnds::decode(bytes.clone()) else { return Ok(None) };
    let Some(graph) = model.graph.filter(|graph| !graph.output.is_empty()) else { return Ok(None) };
    let names = outer.map_or_else(Names::default, |outer| Names {
        input: outer.input_planes.as_deref(),
        policy: outer.output_policy.as_deref(),
        wdl: outer.output_wdl.as_deref(),
        value: outer.output_value.as_deref(),
        moves_left: outer.output_mlh.as_deref(),
    });
    let ends = Ends { name };
    let input = ends.find(&graph.input, names.input, names::INPUT, &[PLANES as i64, 8, 8])?;
    let policy = ends.find(&graph.output, names.policy, names::POLICY, &[MOVES as i64])?;
    let value = match ends.find(&graph.output, names.wdl, names::WDL, &[3])? {
        Some(wdl) => Some(ValueOutput::Wdl(wdl)),
        None => ends.find(&graph.output, names.value, names::VALUE, &[1])?.map(ValueOutput::Scalar),
    };
    let moves_left = ends.find(&graph.output, names.moves_left, names::MOVES_LEFT, &[1])?;
    let missing = |what: String| NetworkError::Onnx { name: name.to_owned(), problem: what };
    Ok(Some(OnnxModel {
        bytes: bytes.to_vec(),
        input: input.ok_or_else(|| missing(format!("it has no input {}", names.input.unwrap_or(names::INPUT))))?,
        policy: policy.ok_or_else(|| missing(format!("it has no output {}", names.policy.unwrap_or(names::POLICY))))?,
        value: value.ok_or_else(|| missing(format!("it has neither an output {} nor {}", names::WDL, names::VALUE)))?,
        moves_left,
    }))
}

/// Looks up the ends of the model of one file.
struct Ends<'a> {
    name: &'a str,
}

impl Ends<'_> {
    /// The end called `wanted`, or `usual` when no name is given; its type must fit where the model states one.
    fn find(
        &self,
        ends: &[ValueInfoProto],
        wanted: Option<&str>,
        usual: &str,
        shape: &[i64],
    ) -> Result<Option<String>, NetworkError> {
        let wanted = wanted.filter(|name| !name.is_empty()).unwrap_or(usual);
        let Some(end) = ends.iter().find(|end| end.name.as_deref() == Some(wanted)) else { return Ok(None) };
        let error = |problem: String| NetworkError::Onnx { name: self.name.to_owned(), problem };
        if let Some(tensor) = end.r#type.as_ref().and_then(|r#type| r#type.tensor_type.as_ref()) {
            if tensor.elem_type.is_some_and(|element| element != FLOAT) {
                return Err(error(format!("{wanted} is not of float32, and other types are not yet supported")));
            }
            if let Some(stated) = &tensor.shape {
                let sizes: Vec<Option<i64>> = stated.dim.iter().skip(1).map(|dim| dim.dim_value).collect();
                let fits = sizes.len() == shape.len()
                    && sizes.iter().zip(shape).all(|(stated, &wanted)| stated.is_none_or(|stated| stated == wanted));
                if !stated.dim.is_empty() && !fits {
                    return Err(error(format!("{wanted} does not have the sizes batch x {shape:?}")));
                }
            }
        }
        Ok(Some(wanted.to_owned()))
    }
}
