//! Finds the inputs and outputs of a model that came as ONNX, and checks that they fit a chess network.

use prost::Message;
use prost::bytes::Bytes;

use super::default_inputs;
use super::interface::{Author, Name, Names, short};
use super::maia3_input::{self, Maia3Input};
use super::{EndTypes, ModelInput, OnnxInterface, OnnxModel, Precision, ValueOutput, keys, names};
use crate::NetworkError;
use crate::format::InputFormat;
use crate::onnx_proto::{ModelEnds, ValueInfoProto, data_type};
use crate::planes::PLANES;
use crate::policy::MOVES;
use crate::{budget, proto};

/// The most characters of a model's inputs or outputs that a message lists.
const LISTED: usize = 100;

/// Finds the inputs and outputs of an ONNX model in the file `name`; `outer` is the Lc0 network around it, if any.
///
/// `None` when the bytes are no ONNX model at all. With the model comes its input format, if its metadata states one.
///
/// # Errors
/// [`NetworkError::Interface`] where a name of `interface` is the reason, else [`NetworkError::Onnx`].
pub fn inspect(
    bytes: Bytes,
    outer: Option<&proto::OnnxModel>,
    interface: &OnnxInterface,
    name: &str,
) -> Result<Option<(OnnxModel, Option<InputFormat>)>, NetworkError> {
    budget::check(&budget::ONNX, &bytes).map_err(|problem| NetworkError::Damaged { name: name.to_owned(), problem })?;
    let Ok(model) = ModelEnds::decode(bytes.clone()) else { return Ok(None) };
    let Some(mut graph) = model.graph.filter(|graph| !graph.output.is_empty()) else { return Ok(None) };
    let given = default_inputs::names(&bytes);
    graph.input.retain(|input| input.name.as_deref().is_none_or(|name| !given.contains(name.as_bytes())));
    let note = model.metadata_props.iter().find(|note| note.key.as_deref() == Some(names::INPUT_FORMAT));
    let format = match note.and_then(|note| note.value.as_deref()) {
        None => None,
        Some(id) => Some(id.parse().ok().and_then(InputFormat::from_id).ok_or_else(|| NetworkError::Onnx {
            name: name.to_owned(),
            problem: format!("its input format {id:?} is unknown"),
        })?),
    };
    if interface.first_key().is_none() && outer.is_none() && Maia3Input::is_in(&graph.input) {
        let (input, policy, value, types) = maia3_input::ends(name, &graph.input, &graph.output)?;
        drop((graph, given));
        let bytes = bytes.into();
        let model = OnnxModel { bytes, input, policy, value, moves_left: None, types, folder: None };
        return Ok(Some((model, Some(InputFormat::Maia3))));
    }
    let wanted =
        Names::of(outer, interface).map_err(|problem| NetworkError::Interface { name: name.to_owned(), problem })?;
    let inputs = Ends { file: name, kind: "input", ends: &graph.input };
    let outputs = Ends { file: name, kind: "output", ends: &graph.output };
    let (input, input_type) = inputs.require(wanted.input, &[PLANES as i64, 8, 8])?;
    let (policy, policy_type) = outputs.require(wanted.policy, &[MOVES as i64])?;
    let (value, value_type) = outputs.value(wanted.value)?;
    let moves_left = match wanted.moves_left {
        Some(wanted) => Some(outputs.require(wanted, &[1])?),
        None => outputs.find(Name::usual(keys::MOVES_LEFT, names::MOVES_LEFT), &[1])?,
    };
    let (moves_left, moves_left_type) = moves_left.unzip();
    let types = EndTypes {
        input: input_type,
        policy: policy_type,
        value: value_type,
        moves_left: moves_left_type.unwrap_or_default(),
    };
    let input = ModelInput::Dense(input);
    // The messages share the buffer: only when they are gone can the model take it without a copy.
    drop((graph, given));
    Ok(Some((OnnxModel { bytes: bytes.into(), input, policy, value, moves_left, types, folder: None }, format)))
}

/// The inputs or the outputs of the model of one file.
struct Ends<'a> {
    file: &'a str,
    /// Input or output.
    kind: &'static str,
    ends: &'a [ValueInfoProto],
}

impl Ends<'_> {
    /// The end (input or output) that [`Ends::find`] finds, which must be there.
    fn require(&self, wanted: Name<'_>, shape: &[i64]) -> Result<(String, Precision), NetworkError> {
        self.find(wanted, shape)?.ok_or_else(|| {
            let (kind, key) = (self.kind, wanted.key);
            let missing = format!("it has no {kind} {}", short(wanted.name));
            let why = match wanted.author {
                Author::Lc0 => format!(" ({key} names another)"),
                Author::File => format!(", which the file gives as {key}"),
                Author::User => format!(", which {key} names"),
            };
            self.error(wanted.author, format!("{missing}{why}; {}", self.list()))
        })
    }

    /// The value output: the one that was named, else Lc0's usual WDL or scalar output.
    fn value(&self, wanted: Option<Name<'_>>) -> Result<(ValueOutput, Precision), NetworkError> {
        const WDL: (&str, &[i64], fn(String) -> ValueOutput) = (keys::WDL, &[3], ValueOutput::Wdl);
        const SCALAR: (&str, &[i64], fn(String) -> ValueOutput) = (keys::VALUE, &[1], ValueOutput::Scalar);
        if let Some(wanted) = wanted {
            let (_, shape, kind) = if wanted.key == WDL.0 { WDL } else { SCALAR };
            let (name, precision) = self.require(wanted, shape)?;
            return Ok((kind(name), precision));
        }
        for ((key, shape, kind), usual) in [(WDL, names::WDL), (SCALAR, names::VALUE)] {
            if let Some((name, precision)) = self.find(Name::usual(key, usual), shape)? {
                return Ok((kind(name), precision));
            }
        }
        let problem = format!(
            "it has neither an output {} nor {} ({} or {} names another); {}",
            names::WDL,
            names::VALUE,
            keys::WDL,
            keys::VALUE,
            self.list()
        );
        Err(self.error(Author::Lc0, problem))
    }

    /// The name and type of the end that is wanted, if it is there; the shape that the model states must be `shape`.
    fn find(&self, wanted: Name<'_>, shape: &[i64]) -> Result<Option<(String, Precision)>, NetworkError> {
        let Some(end) = self.ends.iter().find(|end| end.name.as_deref() == Some(wanted.name)) else { return Ok(None) };
        let error = |problem: String| self.error(wanted.author, format!("{} {problem}", short(wanted.name)));
        let mut precision = Precision::Float32;
        if let Some(tensor) = end.r#type.as_ref().and_then(|r#type| r#type.tensor_type.as_ref()) {
            precision = match tensor.elem_type.unwrap_or(data_type::FLOAT) {
                data_type::FLOAT => Precision::Float32,
                data_type::FLOAT16 => Precision::Float16,
                data_type::BFLOAT16 => Precision::Bfloat16,
                other => {
                    return Err(error(format!("is of ONNX's type {other}, and neither float32, float16 nor bfloat16")));
                }
            };
        }
        if !has_sizes(end, shape) {
            return Err(error(format!("does not have the sizes batch x {shape:?}")));
        }
        Ok(Some((wanted.name.to_owned(), precision)))
    }

    /// The names of the ends, for a message.
    fn list(&self) -> String {
        listed(self.kind, self.ends)
    }

    /// The error about a name of this `author`: a wrong name by the user, or else a model that is of no use.
    fn error(&self, author: Author, problem: String) -> NetworkError {
        let name = self.file.to_owned();
        match author {
            Author::User => NetworkError::Interface { name, problem },
            Author::Lc0 | Author::File => NetworkError::Onnx { name, problem },
        }
    }
}

/// The sizes of an input or output after the batch dimension, `None` for each that the model does not state; no list
/// where it states no shape.
pub(super) fn stated_sizes(end: &ValueInfoProto) -> Option<Vec<Option<i64>>> {
    let shape = end.r#type.as_ref()?.tensor_type.as_ref()?.shape.as_ref().filter(|shape| !shape.dim.is_empty())?;
    Some(shape.dim.iter().skip(1).map(|dim| dim.dim_value).collect())
}

/// Whether an input or output has the sizes `wanted` after the batch dimension, as far as the model states its own.
pub(super) fn has_sizes(end: &ValueInfoProto, wanted: &[i64]) -> bool {
    stated_sizes(end).is_none_or(|sizes| {
        sizes.len() == wanted.len()
            && sizes.iter().zip(wanted).all(|(size, &wanted)| size.is_none_or(|size| size == wanted))
    })
}

/// The names of inputs or outputs, for a message: as many as fit into a line.
pub(super) fn listed(kind: &str, ends: &[ValueInfoProto]) -> String {
    let mut list = String::new();
    for (index, end) in ends.iter().enumerate() {
        let name = short(end.name.as_deref().unwrap_or_default());
        if index > 0 && list.len() + name.len() > LISTED {
            list.push_str(&format!(" and {} more", ends.len() - index));
            break;
        }
        list.push_str(if index > 0 { ", " } else { "" });
        list.push_str(&name);
    }
    match ends.len() {
        0 => format!("it has no {kind}s"),
        1 => format!("its only {kind} is {list}"),
        _ => format!("its {kind}s are {list}"),
    }
}
