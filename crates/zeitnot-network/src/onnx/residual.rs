//! The operators of towers of convolutions and of the heads on them (docs/lc0.md, 4.8).

use super::converter::{Converter, REST};
use super::graph::{Attribute, Value};
use crate::policy::{CONVOLUTION_MAP, CONVOLUTION_PLANES};
use crate::weights::layers::{Head, Tower};
use crate::weights::tensor::Tensor;
use crate::weights::{Block, PolicyHead, SQUARES, SqueezeExcitation};

impl<'a> Converter<'a> {
    /// The output of a tower, `[batch, filters, 8, 8]`, from the planes.
    pub(super) fn tower(&mut self, tower: &'a Tower, planes: &Value) -> Value {
        let mut flow = self.convolution("/input/convolution", &tower.input, planes);
        flow = self.activate("/input", self.activation, &flow);
        for (index, block) in tower.blocks.iter().enumerate() {
            flow = self.block(&format!("/block{index}"), block, &flow);
        }
        flow
    }

    fn block(&mut self, path: &str, block: &'a Block<Tensor>, input: &Value) -> Value {
        let mut flow = self.convolution(&format!("{path}/conv1"), &block.first, input);
        flow = self.activate(&format!("{path}/conv1"), self.activation, &flow);
        flow = self.convolution(&format!("{path}/conv2"), &block.second, &flow);
        if let Some(se) = &block.squeeze_excitation {
            flow = self.squeeze_excitation(&format!("{path}/se"), se, &flow);
        }
        flow = self.graph.node(&format!("{path}/sum"), "Add", &[&flow, input], &[]);
        self.activate(path, self.activation, &flow)
    }

    fn squeeze_excitation(&mut self, path: &str, se: &'a SqueezeExcitation<Tensor>, input: &Value) -> Value {
        let filters = se.squeeze.inputs as i64;
        let mut flow = self.mean_of_planes(&format!("{path}/mean"), input);
        flow = self.dense(&format!("{path}/squeeze"), &se.squeeze, &flow);
        flow = self.activate(&format!("{path}/squeeze"), self.activation, &flow);
        flow = self.dense(&format!("{path}/excite"), &se.excite, &flow);
        flow = self.reshape(&format!("{path}/planes"), &flow, &[REST, 2 * filters, 1, 1]);
        let sizes = self.graph.integers(&format!("{path}/sizes"), vec![filters, filters]);
        let [gate, bias] =
            self.graph.nodes(&format!("{path}/split"), "Split", &[&flow, &sizes], &[Attribute::Int("axis", 1)]);
        let gate = self.graph.node(&format!("{path}/sigmoid"), "Sigmoid", &[&gate], &[]);
        let gated = self.graph.node(&format!("{path}/gated"), "Mul", &[input, &gate], &[]);
        self.graph.node(&format!("{path}/biased"), "Add", &[&gated, &bias], &[])
    }

    /// The logits of the 1858 moves.
    pub(super) fn policy(&mut self, head: &'a PolicyHead<Tensor>, tower: &Value) -> Value {
        match head {
            PolicyHead::Classical { convolution, dense } => {
                let mut flow = self.convolution("/policy/convolution", convolution, tower);
                flow = self.activate("/policy", self.activation, &flow);
                flow = self.reshape("/policy/flat", &flow, &[REST, dense.inputs as i64]);
                self.dense("/policy/dense", dense, &flow)
            }
            PolicyHead::Convolution { hidden, output } => {
                let mut flow = self.convolution("/policy/conv1", hidden, tower);
                flow = self.activate("/policy/conv1", self.activation, &flow);
                flow = self.convolution("/policy/conv2", output, &flow);
                flow = self.reshape("/policy/flat", &flow, &[REST, (CONVOLUTION_PLANES * SQUARES) as i64]);
                let map = self.graph.integers("/policy/map", CONVOLUTION_MAP.map(i64::from).to_vec());
                self.graph.node("/policy/gather", "Gather", &[&flow, &map], &[Attribute::Int("axis", 1)])
            }
        }
    }

    /// A value or moves-left head before its last nonlinearity.
    pub(super) fn head(&mut self, path: &str, head: &'a Head, body: &Value) -> Value {
        let mut flow = self.flat_features(path, &head.features, body);
        flow = self.dense(&format!("{path}/hidden"), &head.hidden, &flow);
        flow = self.activate(&format!("{path}/hidden"), self.activation, &flow);
        self.dense(&format!("{path}/out"), &head.output, &flow)
    }
}
