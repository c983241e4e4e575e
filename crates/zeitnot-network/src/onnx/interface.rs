//! The parts of an ONNX model's interface that its file may leave open: input format, and names of inputs and outputs.

use super::{ValueOutput, keys, names};
use crate::format::InputFormat;
use crate::proto;

/// The input format of an ONNX model, and the names of its input and outputs.
///
/// `None` leaves a field to the file: an Lc0 network around a model states the format and may state names (docs/lc0.md,
/// 4.6), a model of ours states its format. Where the file states nothing, the format is classical, and the names are
/// those of Lc0's own models (docs/lc0.md, 4.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnnxInterface {
    /// The input format.
    pub input_format: Option<InputFormat>,
    /// Name of the input.
    pub input: Option<String>,
    /// Name of the policy output.
    pub policy: Option<String>,
    /// The value output.
    pub value: Option<ValueOutput>,
    /// Name of the moves-left output, which a network need not have.
    pub moves_left: Option<String>,
}

impl OnnxInterface {
    /// The key (see [`keys`]) of the first input or output whose name is given here; `None` if no name is.
    pub(crate) fn first_key(&self) -> Option<&'static str> {
        let value = || self.value.as_ref().map(|value| value_name(value).0);
        (self.input.as_ref().map(|_| keys::INPUT))
            .or(self.policy.as_ref().map(|_| keys::POLICY))
            .or_else(value)
            .or(self.moves_left.as_ref().map(|_| keys::MOVES_LEFT))
    }
}

/// The key (see [`keys`]) and the name of a value output.
fn value_name(value: &ValueOutput) -> (&'static str, &str) {
    match value {
        ValueOutput::Wdl(name) => (keys::WDL, name),
        ValueOutput::Scalar(name) | ValueOutput::LossDrawWinLogits(name) => (keys::VALUE, name),
    }
}

/// The author of a name of an input or output; if the model lacks the name, the error says who gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Author {
    /// Lc0, which usually gives this name.
    Lc0,
    /// The Lc0 network around the model.
    File,
    /// The user, by an [`OnnxInterface`].
    User,
}

/// The name of an input or output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name<'a> {
    pub(super) name: &'a str,
    pub(super) key: &'static str,
    pub(super) author: Author,
}

impl<'a> Name<'a> {
    /// Lc0's usual name.
    pub(super) fn usual(key: &'static str, name: &'a str) -> Name<'a> {
        Name { name, key, author: Author::Lc0 }
    }

    /// The name that the file states or the user gives; `None` if neither does.
    ///
    /// # Errors
    /// When file and user contradict each other, in words.
    fn chosen(
        stated: Option<(&'static str, &'a str)>,
        given: Option<(&'static str, &'a str)>,
    ) -> Result<Option<Name<'a>>, String> {
        match (stated, given) {
            (Some((key, name)), Some((other_key, other))) if (key, name) != (other_key, other) => {
                Err(format!("it states {key}={}, and not {other_key}={}", short(name), short(other)))
            }
            (Some((key, name)), _) => Ok(Some(Name { name, key, author: Author::File })),
            (None, given) => Ok(given.map(|(key, name)| Name { name, key, author: Author::User })),
        }
    }
}

/// The names to look for in a model; `None` where Lc0's usual names are tried.
pub(super) struct Names<'a> {
    pub(super) input: Name<'a>,
    pub(super) policy: Name<'a>,
    pub(super) value: Option<Name<'a>>,
    pub(super) moves_left: Option<Name<'a>>,
}

impl<'a> Names<'a> {
    /// The names of a model with the network `outer` around it, if there is one.
    ///
    /// # Errors
    /// When the user contradicts the file, in words.
    pub(super) fn of(outer: Option<&'a proto::OnnxModel>, interface: &'a OnnxInterface) -> Result<Names<'a>, String> {
        let stated = |key, field: fn(&proto::OnnxModel) -> &Option<String>| {
            let name = outer.and_then(|outer| field(outer).as_deref());
            name.filter(|name| !name.is_empty()).map(|name| (key, name))
        };
        let given = |key, name: &'a Option<String>| name.as_deref().map(|name| (key, name));
        let input =
            Name::chosen(stated(keys::INPUT, |outer| &outer.input_planes), given(keys::INPUT, &interface.input))?;
        let policy =
            Name::chosen(stated(keys::POLICY, |outer| &outer.output_policy), given(keys::POLICY, &interface.policy))?;
        let wdl = stated(keys::WDL, |outer| &outer.output_wdl);
        let value = Name::chosen(
            wdl.or_else(|| stated(keys::VALUE, |outer| &outer.output_value)),
            interface.value.as_ref().map(value_name),
        )?;
        let moves_left = Name::chosen(
            stated(keys::MOVES_LEFT, |outer| &outer.output_mlh),
            given(keys::MOVES_LEFT, &interface.moves_left),
        )?;
        Ok(Names {
            input: input.unwrap_or(Name::usual(keys::INPUT, names::INPUT)),
            policy: policy.unwrap_or(Name::usual(keys::POLICY, names::POLICY)),
            value,
            moves_left,
        })
    }
}

/// Characters of a name that a message shows.
const SHOWN: usize = 60;

/// A name that a file or user gave, for a message: in one line, and cut after [`SHOWN`] characters.
pub(super) fn short(name: &str) -> String {
    let mut characters = name.escape_debug();
    let mut text: String = characters.by_ref().take(SHOWN).collect();
    if characters.next().is_some() {
        text.push_str("...");
    }
    text
}
