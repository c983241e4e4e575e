//! Prepares a network with attention for the kernels.

use super::super::packer::Packer;
use super::super::prepared::TowerPlan;
use super::dense::DensePlan;
use super::embedding::EmbeddingPlan;
use super::encoder::EncoderPlan;
use super::heads::{HeadPlan, PolicyPlan};
use super::smolgen::SmolgenPlan;
use crate::side_by_side::in_parts;
use zeitnot_kernels::Kernels;
use zeitnot_network::Block;
use zeitnot_network::layers::{AttentionPolicy, Encoder, Head, Layers};

/// A prepared network and the kernels that run it, shared by all workers.
pub(in super::super) struct TransformerNetwork {
    /// The network's name.
    pub network: String,
    pub plan: TransformerPlan,
    pub kernels: Kernels,
}

/// A network with attention made ready for one instruction set.
pub(in super::super) struct TransformerPlan {
    pub(super) tower: Option<TowerPlan>,
    /// Absent where the policy alone has attention.
    pub(super) embedding: Option<EmbeddingPlan>,
    pub(super) encoders: Vec<EncoderPlan>,
    /// The last matrix of smolgen.
    pub(super) smolgen: Option<DensePlan>,
    pub(super) policy: PolicyPlan,
    pub(super) value: HeadPlan,
    pub(super) moves_left: Option<HeadPlan>,
    /// Features of a square before the heads, in vectors.
    pub(super) columns: usize,
}

impl TransformerPlan {
    /// Prepares a network with these heads.
    pub(in super::super) fn new(
        kernels: Kernels,
        layers: &Layers,
        policy: &AttentionPolicy,
        value: &Head,
    ) -> TransformerPlan {
        let tower = layers.tower.as_ref().map(|tower| {
            let blocks: Vec<Block> = tower.blocks.iter().map(Block::decode).collect();
            TowerPlan::new(&Packer::new(&kernels, &blocks), &tower.input.decode(), &blocks, layers.activation)
        });
        let body = layers.body.as_ref();
        let embedding = body.map(|body| EmbeddingPlan::new(kernels, body, layers.activation));
        let of_body = body.map_or(&[][..], |body| &body.encoders);
        let alpha = body.map_or(1.0, |body| body.alpha);
        let smolgen = of_body.iter().chain(&policy.encoders).find_map(|encoder| encoder.smolgen.as_ref());
        let columns = match (&embedding, &tower) {
            (Some(embedding), _) => embedding.columns,
            (None, tower) => tower.as_ref().map_or(0, |tower| tower.columns),
        };
        TransformerPlan {
            encoders: encoders(kernels, of_body, alpha),
            smolgen: smolgen.map(|smolgen| SmolgenPlan::shared(kernels, smolgen)),
            policy: PolicyPlan::new(kernels, policy),
            value: HeadPlan::new(kernels, value, layers.activation),
            moves_left: layers.moves_left.as_ref().map(|head| HeadPlan::new(kernels, head, layers.activation)),
            tower,
            embedding,
            columns,
        }
    }

    /// The layers that take nearly all the time, and may be quantised.
    pub(super) fn layers(&mut self) -> impl Iterator<Item = &mut DensePlan> {
        let dense = self.embedding.as_mut().and_then(|embedding| embedding.dense.as_mut());
        let embedding = dense.into_iter().flat_map(|dense| dense.feed_forward.layers());
        let encoders = self.encoders.iter_mut().flat_map(EncoderPlan::layers);
        embedding.chain(encoders).chain(&mut self.smolgen).chain(self.policy.layers())
    }

    /// Outputs of the value head: 3 or 1.
    pub(in super::super) fn value_outputs(&self) -> usize {
        self.value.outputs
    }
}

/// Packs encoders on as many threads as there are cores: a large network takes seconds.
fn encoders(kernels: Kernels, encoders: &[Encoder], alpha: f32) -> Vec<EncoderPlan> {
    in_parts(encoders, |_, part| part.iter().map(|encoder| EncoderPlan::new(kernels, encoder, alpha)).collect())
}
