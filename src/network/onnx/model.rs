//! Finds the inputs and outputs of a model that came as ONNX, and checks that they fit a chess network.

use prost::Message;
use prost::bytes::Bytes;

use super::{EndTypes, OnnxModel, Precision, ValueOutput, names};
use crate::network::NetworkError;
use crate::network::format::InputFormat;
use crate::network::onnx_proto::{ModelEnds, ValueInfoProto, data_type};
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
/// `None` when the bytes are no ONNX model at all; with the model comes the input format, where a note in it says one.
pub(crate) fn inspect(
    bytes: Bytes,
    outer: Option<&proto::OnnxModel>,
    name: &str,
) -> Result<Option<(OnnxModel, Option<InputFormat>)>, NetworkError> {
    budget::check(&budget::ONNX, &bytes).map_err(|problem| NetworkError::Damaged { name: name.to_owned(), problem })?;
    let Ok(model) = ModelEnds::decode(bytes.clone()) else { return Ok(None) };
    let Some(graph) = model.graph.filter(|graph| !graph.output.is_empty()) else { return Ok(None) };
    let note = model.metadata_props.iter().find(|note| note.key.as_deref() == Some(names::INPUT_FORMAT));
    let format = match note.and_then(|note| note.value.as_deref()) {
        None => None,
        Some(id) => Some(id.parse().ok().and_then(InputFormat::from_id).ok_or_else(|| NetworkError::Onnx {
            name: name.to_owned(),
            problem: format!("its input format {id:?} is unknown"),
        })?),
    };
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
    let wdl = ends.find(&graph.output, names.wdl, names::WDL, &[3])?;
    let value = match wdl {
        Some((wdl, r#type)) => Some((ValueOutput::Wdl(wdl), r#type)),
        None => (ends.find(&graph.output, names.value, names::VALUE, &[1])?)
            .map(|(value, r#type)| (ValueOutput::Scalar(value), r#type)),
    };
    let moves_left = ends.find(&graph.output, names.moves_left, names::MOVES_LEFT, &[1])?;
    let missing = |what: String| NetworkError::Onnx { name: name.to_owned(), problem: what };
    let (input, input_type) =
        input.ok_or_else(|| missing(format!("it has no input {}", names.input.unwrap_or(names::INPUT))))?;
    let (policy, policy_type) =
        policy.ok_or_else(|| missing(format!("it has no output {}", names.policy.unwrap_or(names::POLICY))))?;
    let (value, value_type) =
        value.ok_or_else(|| missing(format!("it has neither an output {} nor {}", names::WDL, names::VALUE)))?;
    let (moves_left, moves_left_type) = moves_left.unzip();
    let types = EndTypes {
        input: input_type,
        policy: policy_type,
        value: value_type,
        moves_left: moves_left_type.unwrap_or_default(),
    };
    // The messages share the buffer: only without them can it be taken as it is.
    drop(graph);
    Ok(Some((OnnxModel { bytes: bytes.into(), input, policy, value, moves_left, types, folder: None }, format)))
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
    ) -> Result<Option<(String, Precision)>, NetworkError> {
        let wanted = wanted.filter(|name| !name.is_empty()).unwrap_or(usual);
        let Some(end) = ends.iter().find(|end| end.name.as_deref() == Some(wanted)) else { return Ok(None) };
        let error = |problem: String| NetworkError::Onnx { name: self.name.to_owned(), problem };
        let mut precision = Precision::Float32;
        if let Some(tensor) = end.r#type.as_ref().and_then(|r#type| r#type.tensor_type.as_ref()) {
            precision = match tensor.elem_type.unwrap_or(data_type::FLOAT) {
                data_type::FLOAT => Precision::Float32,
                data_type::FLOAT16 => Precision::Float16,
                data_type::BFLOAT16 => Precision::Bfloat16,
                other => {
                    let problem =
                        format!("{wanted} is of ONNX's type {other}, and neither float32, float16 nor bfloat16");
                    return Err(error(problem));
                }
            };
            if let Some(stated) = &tensor.shape {
                let sizes: Vec<Option<i64>> = stated.dim.iter().skip(1).map(|dim| dim.dim_value).collect();
                let fits = sizes.len() == shape.len()
                    && sizes.iter().zip(shape).all(|(stated, &wanted)| stated.is_none_or(|stated| stated == wanted));
                if !stated.dim.is_empty() && !fits {
                    return Err(error(format!("{wanted} does not have the sizes batch x {shape:?}")));
                }
            }
        }
        Ok(Some((wanted.to_owned(), precision)))
    }
}
