//! Makes random networks with the inputs, the embedding and the heads of Maia-3 but without its blocks, so that their
//! outputs can be computed by hand.

use prost::Message;

use super::super::maia3::{FEATURES, OPPONENT_RATING, OWN_RATING, SQUARES};
use super::super::onnx_proto::{
    AttributeProto, Dimension, GraphProto, ModelProto, NodeProto, OperatorSetIdProto, TensorProto, TensorShapeProto,
    TensorType, TypeProto, ValueInfoProto, attribute_type, data_type,
};
use super::super::{Planes, maia3};
use zeitnot_base::splitmix::SplitMix64;

/// Features of a square after the embedding.
const WIDTH: usize = 8;
/// Kinds of promotion.
const PIECES: usize = 4;

/// The weights of a network.
pub struct RandomMaia3 {
    embedding: Vec<f32>,
    own: Vec<f32>,
    opponent: Vec<f32>,
    from: Vec<f32>,
    to: Vec<f32>,
    promotion: Vec<f32>,
    value: Vec<f32>,
}

impl RandomMaia3 {
    /// The network of this seed.
    pub fn new(seed: u64) -> RandomMaia3 {
        let mut random = SplitMix64(seed);
        let mut draw = |count: usize, scale: f64| -> Vec<f32> {
            (0..count).map(|_| ((random.unit() - 0.5) * scale) as f32).collect()
        };
        RandomMaia3 {
            embedding: draw(FEATURES * WIDTH, 1.0),
            own: draw(WIDTH, 1e-3),
            opponent: draw(WIDTH, 1e-3),
            from: draw(WIDTH * WIDTH, 1.0),
            to: draw(WIDTH * WIDTH, 1.0),
            promotion: draw(WIDTH * PIECES, 2.0),
            value: draw(WIDTH * 3, 4.0),
        }
    }

    /// All logits of moves, and those of loss, draw and win, for these planes.
    pub fn outputs(&self, planes: &Planes) -> (Vec<f32>, [f32; 3]) {
        let ratings = [OWN_RATING, OPPONENT_RATING].map(|plane| planes.values[plane]);
        let embedded: Vec<[f32; WIDTH]> = (0..SQUARES)
            .map(|square| {
                let set = (0..FEATURES).filter(|&feature| planes.masks[feature] >> square & 1 == 1);
                std::array::from_fn(|at| {
                    let pieces: f32 = set.clone().map(|feature| self.embedding[feature * WIDTH + at]).sum();
                    pieces + ratings[0] * self.own[at] + ratings[1] * self.opponent[at]
                })
            })
            .collect();
        let [from, to] = [&self.from, &self.to]
            .map(|weights| embedded.iter().map(|features| product::<WIDTH>(features, weights)).collect::<Vec<_>>());
        let score = |a: usize, b: usize| from[a].iter().zip(&to[b]).map(|(a, b)| a * b).sum::<f32>();
        let mut policy: Vec<f32> = (0..SQUARES * SQUARES).map(|pair| score(pair / SQUARES, pair % SQUARES)).collect();
        for (a, b) in (48..56).flat_map(|a| (56..64).map(move |b| (a, b))) {
            policy.extend(product::<PIECES>(&to[b], &self.promotion).map(|bias| score(a, b) + bias));
        }
        let mean: [f32; WIDTH] =
            std::array::from_fn(|at| embedded.iter().map(|features| features[at]).sum::<f32>() / SQUARES as f32);
        (policy, product::<3>(&mean, &self.value))
    }

    /// The ONNX file, with ratings as whole numbers or not.
    pub fn onnx(&self, whole_ratings: bool) -> Vec<u8> {
        let mut graph = GraphProto { name: Some("maia3".to_owned()), ..GraphProto::default() };
        let rating = if whole_ratings { data_type::INT64 } else { data_type::FLOAT };
        graph.input = vec![
            end("tokens", data_type::FLOAT, &[SQUARES, FEATURES]),
            end("self_elos", rating, &[]),
            end("oppo_elos", rating, &[]),
        ];
        graph.output =
            vec![end("logits_move", data_type::FLOAT, &[maia3::MOVES]), end("logits_value", data_type::FLOAT, &[3])];
        let width = WIDTH as i64;
        let floats = [
            ("embedding", &self.embedding, vec![FEATURES as i64, width]),
            ("own", &self.own, vec![width]),
            ("opponent", &self.opponent, vec![width]),
            ("from", &self.from, vec![width, width]),
            ("to", &self.to, vec![width, width]),
            ("promotion", &self.promotion, vec![width, PIECES as i64]),
            ("value", &self.value, vec![width, 3]),
        ];
        let tensor = |name: &str, data_type, dims: Vec<i64>, bytes: Vec<u8>| TensorProto {
            dims,
            data_type: Some(data_type),
            name: Some(name.to_owned()),
            raw_data: Some(bytes.into()),
            ..TensorProto::default()
        };
        for (name, values, dims) in floats {
            let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            graph.initializer.push(tensor(name, data_type::FLOAT, dims, bytes));
        }
        let integers: [(&str, &[i64]); 8] = [
            ("one", &[1]),
            ("one_two", &[1, 2]),
            ("three", &[3]),
            ("48", &[48]),
            ("56", &[56]),
            ("64", &[64]),
            ("pairs", &[-1, 4096]),
            ("promotions", &[-1, 256]),
        ];
        for (name, values) in integers {
            let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            graph.initializer.push(tensor(name, data_type::INT64, vec![values.len() as i64], bytes));
        }
        graph.initializer.push(tensor("two", data_type::INT64, vec![1], 2_i64.to_le_bytes().to_vec()));
        for (op, inputs, output, attribute) in [
            ("Cast", "self_elos", "own_float", Some(int("to", data_type::FLOAT.into()))),
            ("Cast", "oppo_elos", "opponent_float", Some(int("to", data_type::FLOAT.into()))),
            ("MatMul", "tokens embedding", "pieces", None),
            ("Unsqueeze", "own_float one_two", "own_column", None),
            ("Unsqueeze", "opponent_float one_two", "opponent_column", None),
            ("Mul", "own_column own", "own_part", None),
            ("Mul", "opponent_column opponent", "opponent_part", None),
            ("Add", "pieces own_part", "rated", None),
            ("Add", "rated opponent_part", "squares", None),
            ("MatMul", "squares from", "origins", None),
            ("MatMul", "squares to", "targets", None),
            ("Transpose", "targets", "turned", Some(ints("perm", &[0, 2, 1]))),
            ("MatMul", "origins turned", "scores", None),
            ("Reshape", "scores pairs", "plain", None),
            ("Slice", "scores 48 56 one", "seventh", None),
            ("Slice", "seventh 56 64 two", "last_step", None),
            ("Unsqueeze", "last_step three", "last_steps", None),
            ("Slice", "targets 56 64 one", "eighth", None),
            ("MatMul", "eighth promotion", "bias", None),
            ("Unsqueeze", "bias one", "biases", None),
            ("Add", "last_steps biases", "promoted", None),
            ("Reshape", "promoted promotions", "promoting", None),
            ("Concat", "plain promoting", "logits_move", Some(int("axis", 1))),
            ("ReduceMean", "squares", "means", Some(ints("axes", &[1]))),
            ("MatMul", "means value", "values", None),
            ("Squeeze", "values one", "logits_value", None),
        ] {
            graph.node.push(NodeProto {
                input: inputs.split(' ').map(str::to_owned).collect(),
                output: vec![output.to_owned()],
                name: Some(output.to_owned()),
                op_type: Some(op.to_owned()),
                attribute: attribute.into_iter().collect(),
                domain: None,
            });
        }
        let opset = OperatorSetIdProto { domain: Some(String::new()), version: Some(17) };
        let model =
            ModelProto { ir_version: Some(8), graph: Some(graph), opset_import: vec![opset], ..ModelProto::default() };
        model.encode_to_vec()
    }
}

/// A row times a matrix of `N` columns.
fn product<const N: usize>(row: &[f32; WIDTH], weights: &[f32]) -> [f32; N] {
    std::array::from_fn(|column| row.iter().enumerate().map(|(at, number)| number * weights[at * N + column]).sum())
}

fn int(name: &str, value: i64) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        i: Some(value),
        r#type: Some(attribute_type::INT),
        ..AttributeProto::default()
    }
}

fn ints(name: &str, values: &[i64]) -> AttributeProto {
    AttributeProto {
        name: Some(name.to_owned()),
        ints: values.to_vec(),
        r#type: Some(attribute_type::INTS),
        ..AttributeProto::default()
    }
}

/// An input or output `[batch, sizes...]`.
fn end(name: &str, elem_type: i32, sizes: &[usize]) -> ValueInfoProto {
    let batch = Dimension { dim_value: None, dim_param: Some("batch".to_owned()) };
    let sizes = sizes.iter().map(|&size| Dimension { dim_value: Some(size as i64), dim_param: None });
    let shape = TensorShapeProto { dim: std::iter::once(batch).chain(sizes).collect() };
    let tensor_type = Some(TensorType { elem_type: Some(elem_type), shape: Some(shape) });
    ValueInfoProto { name: Some(name.to_owned()), r#type: Some(TypeProto { tensor_type }) }
}
