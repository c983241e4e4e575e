//! Finds the inputs and outputs of Maia-3 in a model that came as ONNX. Its authors export none themselves: names and
//! types are those that the exporters in use write.

use super::model::{has_sizes, listed, stated_sizes};
use super::{EndTypes, ModelInput, Precision, ValueOutput};
use crate::NetworkError;
use crate::maia3::{FEATURES, MOVES, PIECES, SQUARES};
use crate::onnx_proto::{ValueInfoProto, data_type};

/// Name of the input by which a model is recognised as a Maia-3.
const TOKENS: &str = "tokens";
/// Part of the name of the input for the rating of the side to move: `self_elos` or `elo_self`.
const OWN: &str = "self";
/// Part of the name of the input for the other rating: `oppo_elos` or `elo_oppo`.
const OPPONENT: &str = "oppo";
const POLICY: &str = "logits_move";
const VALUE: &str = "logits_value";

/// The inputs of Maia-3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maia3Input {
    /// Name of an input `[batch, 64, 12 * boards]` of float32.
    pub tokens: String,
    /// Positions of the history that a token holds, 1 to 8.
    pub boards: usize,
    /// Name of an input `[batch]`: ratings of the side to move.
    pub own_rating: String,
    /// Name of an input `[batch]`: ratings of the other side.
    pub opponent_rating: String,
    /// Whether ratings are 64-bit whole numbers instead of float32.
    pub whole_ratings: bool,
}

impl Maia3Input {
    /// Whether one of these inputs has the name by which a Maia-3 is recognised; [`ends`] checks the rest.
    pub(super) fn is_in(inputs: &[ValueInfoProto]) -> bool {
        inputs.iter().any(|input| input.name.as_deref() == Some(TOKENS))
    }

    /// Name and shape of each input tensor; the shapes are without the batch.
    pub fn tensors(&self) -> Vec<(&str, Vec<usize>)> {
        let tokens = vec![SQUARES, self.boards * PIECES];
        vec![(&self.tokens, tokens), (&self.own_rating, Vec::new()), (&self.opponent_rating, Vec::new())]
    }
}

/// The inputs, the policy and the value output of the Maia-3 in the file `file`, and their types. Other outputs, such as
/// the thinking time, are left alone.
pub(super) fn ends(
    file: &str,
    inputs: &[ValueInfoProto],
    outputs: &[ValueInfoProto],
) -> Result<(ModelInput, String, ValueOutput, EndTypes), NetworkError> {
    let wrong = |problem: String| NetworkError::Onnx {
        name: file.to_owned(),
        problem: format!("it has an input {TOKENS}, as Maia-3 has, but {problem}"),
    };
    let missing =
        |kind: &str, name: &str, ends: &[ValueInfoProto]| wrong(format!("no {kind} {name}; {}", listed(kind, ends)));
    let input = |is_it: &dyn Fn(&str) -> bool, usual: &str| {
        let found = inputs.iter().find(|input| input.name.as_deref().is_some_and(is_it));
        found.ok_or_else(|| missing("input", usual, inputs))
    };
    let tokens = input(&|name| name == TOKENS, TOKENS)?;
    let own = input(&|name| name.contains(OWN), "self_elos")?;
    let opponent = input(&|name| name.contains(OPPONENT) && !name.contains(OWN), "oppo_elos")?;
    if inputs.len() > 3 {
        return Err(wrong(format!("more than the two ratings beside it; {}", listed("input", inputs))));
    }
    let width = stated_sizes(tokens).and_then(|sizes| sizes.last().copied().flatten()).unwrap_or(FEATURES as i64);
    let boards = usize::try_from(width).ok().filter(|width| (PIECES..=FEATURES).contains(width) && width % PIECES == 0);
    let boards = boards.filter(|_| has_sizes(tokens, &[SQUARES as i64, width])).map(|width| width / PIECES);
    let boards = boards.ok_or_else(|| wrong(format!("not with the sizes batch x [{SQUARES}, {FEATURES}]")))?;
    if element_type(tokens) != data_type::FLOAT {
        return Err(wrong("not of float32".to_owned()));
    }
    let types = [own, opponent].map(element_type);
    if ![[data_type::FLOAT; 2], [data_type::INT64; 2]].contains(&types)
        || ![own, opponent].iter().all(|end| has_sizes(end, &[]))
    {
        return Err(wrong("its ratings are not one float32 or int64 for each position".to_owned()));
    }
    let output = |name: &str, size: usize| {
        let end = outputs.iter().find(|output| output.name.as_deref() == Some(name));
        let end = end.ok_or_else(|| missing("output", name, outputs))?;
        if !has_sizes(end, &[size as i64]) {
            return Err(wrong(format!("its output {name} does not have the sizes batch x [{size}]")));
        }
        match element_type(end) {
            data_type::FLOAT => Ok(Precision::Float32),
            data_type::FLOAT16 => Ok(Precision::Float16),
            data_type::BFLOAT16 => Ok(Precision::Bfloat16),
            other => Err(wrong(format!("its output {name} is of ONNX's type {other}"))),
        }
    };
    let types = EndTypes { policy: output(POLICY, MOVES)?, value: output(VALUE, 3)?, ..EndTypes::default() };
    let name = |end: &ValueInfoProto| end.name.clone().unwrap_or_default();
    let input = Maia3Input {
        tokens: name(tokens),
        boards,
        own_rating: name(own),
        opponent_rating: name(opponent),
        whole_ratings: element_type(own) == data_type::INT64,
    };
    Ok((ModelInput::Maia3(input), POLICY.to_owned(), ValueOutput::LossDrawWinLogits(VALUE.to_owned()), types))
}

/// ONNX's number of an input's or output's element type; float32's where the model states none.
fn element_type(end: &ValueInfoProto) -> i32 {
    let tensor = end.r#type.as_ref().and_then(|r#type| r#type.tensor_type.as_ref());
    tensor.and_then(|tensor| tensor.elem_type).unwrap_or(data_type::FLOAT)
}

#[cfg(test)]
mod tests {
    use prost::Message as _;

    use super::*;
    use crate::onnx_proto::{GraphProto, ModelProto, TensorType};
    use crate::testing::{RandomMaia3, with_renamed_ends};
    use crate::{Conversion, InputFormat, Network, OnnxInterface};

    /// The model after a change of its graph.
    fn changed(change: impl FnOnce(&mut GraphProto)) -> Vec<u8> {
        let mut model = ModelProto::decode(&*RandomMaia3::new(1).onnx(false)).unwrap();
        change(model.graph.as_mut().unwrap());
        model.encode_to_vec()
    }

    fn tensor(end: &mut ValueInfoProto) -> &mut TensorType {
        end.r#type.as_mut().unwrap().tensor_type.as_mut().unwrap()
    }

    fn input(bytes: &[u8]) -> Maia3Input {
        let network = Network::from_bytes(bytes, "net.onnx").unwrap();
        assert_eq!(network.description().input, InputFormat::Maia3);
        match network.onnx(&Conversion::default()).unwrap().input {
            ModelInput::Maia3(input) => input,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_maia_3_is_recognised_in_each_form_that_is_exported() {
        let plain = RandomMaia3::new(1).onnx(false);
        let usual = Maia3Input {
            tokens: "tokens".to_owned(),
            boards: 8,
            own_rating: "self_elos".to_owned(),
            opponent_rating: "oppo_elos".to_owned(),
            whole_ratings: false,
        };
        assert_eq!(input(&plain), usual);
        assert!(input(&RandomMaia3::new(1).onnx(true)).whole_ratings);
        let renamed = with_renamed_ends(&plain, |name| match name {
            "self_elos" => "elo_self".to_owned(),
            "oppo_elos" => "elo_oppo".to_owned(),
            name => name.to_owned(),
        });
        let names =
            Maia3Input { own_rating: "elo_self".to_owned(), opponent_rating: "elo_oppo".to_owned(), ..usual.clone() };
        assert_eq!(input(&renamed), names);
        let last_board = changed(|graph| {
            tensor(&mut graph.input[0]).shape.as_mut().unwrap().dim[2].dim_value = Some(PIECES as i64);
        });
        assert_eq!(input(&last_board).boards, 1);
        assert_eq!(input(&changed(|graph| graph.input.rotate_left(1))), usual, "in any order");
        let open =
            changed(|graph| graph.input.iter_mut().chain(&mut graph.output).for_each(|end| tensor(end).shape = None));
        assert_eq!(input(&open), usual, "sizes left open");
        let third = changed(|graph| {
            let mut ponder = graph.output[1].clone();
            ponder.name = Some("logits_ponder".to_owned());
            graph.output.push(ponder);
        });
        assert_eq!(input(&third), usual, "the thinking time is left alone");
        let line = Network::from_bytes(&plain, "net.onnx").unwrap().description().to_string();
        assert!(line.contains("value WDL, no moves left, input Maia-3 tokens and two ratings"), "{line}");
    }

    #[test]
    fn a_file_that_is_nearly_one_ends_in_a_line() {
        let line = |bytes: &[u8]| Network::from_bytes(bytes, "net.onnx").unwrap_err().to_string();
        let size = |end: &mut ValueInfoProto, at: usize, size: i64| {
            tensor(end).shape.as_mut().unwrap().dim[at].dim_value = Some(size);
        };
        for (bytes, said) in [
            (changed(|graph| drop(graph.input.remove(1))), "no input self_elos; its inputs are tokens, oppo_elos"),
            (changed(|graph| drop(graph.input.remove(2))), "no input oppo_elos; its inputs are tokens, self_elos"),
            (
                changed(|graph| graph.input.push(ValueInfoProto { name: Some("clock".into()), r#type: None })),
                "more than",
            ),
            (changed(|graph| size(&mut graph.input[0], 2, 100)), "batch x [64, 96]"),
            (changed(|graph| size(&mut graph.input[0], 2, 0)), "batch x [64, 96]"),
            (changed(|graph| size(&mut graph.input[0], 1, 65)), "batch x [64, 96]"),
            (changed(|graph| tensor(&mut graph.input[0]).elem_type = Some(data_type::FLOAT16)), "not of float32"),
            (changed(|graph| tensor(&mut graph.input[1]).elem_type = Some(data_type::INT32)), "float32 or int64"),
            (changed(|graph| tensor(&mut graph.input[1]).elem_type = Some(data_type::INT64)), "float32 or int64"),
            (changed(|graph| drop(graph.output.remove(0))), "no output logits_move; its only output is logits_value"),
            (changed(|graph| drop(graph.output.remove(1))), "no output logits_value; its only output is logits_move"),
            (
                changed(|graph| size(&mut graph.output[0], 1, 1880)),
                "logits_move does not have the sizes batch x [4352]",
            ),
            (changed(|graph| size(&mut graph.output[1], 1, 1)), "logits_value does not have the sizes batch x [3]"),
            (changed(|graph| tensor(&mut graph.output[1]).elem_type = Some(data_type::INT64)), "of ONNX's type 7"),
        ] {
            let line = line(&bytes);
            assert!(line.contains("net.onnx") && line.contains("as Maia-3 has") && line.contains(said), "{line}");
            assert!(!line.contains('\n'), "{line}");
        }
        let interface = OnnxInterface { input_format: Some(InputFormat::Classical), ..OnnxInterface::default() };
        let plain = RandomMaia3::new(1).onnx(false);
        let line = Network::from_bytes_with(&plain, "net.onnx", &interface).unwrap_err().to_string();
        assert!(line.contains("its input format is Maia-3, as it states, and not classical"), "{line}");
    }
}
