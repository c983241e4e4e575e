//! Prepares a network with attention for the kernels.

use super::super::packer::Packer;
use super::super::prepared::TowerPlan;
use super::dense::{DensePlan, Packing};
use super::embedding::EmbeddingPlan;
use super::encoder::EncoderPlan;
use super::heads::{HeadPlan, PolicyPlan};
use super::smolgen::SmolgenPlan;
use crate::backend::Arithmetic;
use crate::backend::side_by_side::in_parts;
use crate::network::Block;
use crate::network::layers::{AttentionPolicy, Encoder, Head, Layers};
use zeitnot_kernels::Kernels;

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
        arithmetic: Arithmetic,
        layers: &Layers,
        policy: &AttentionPolicy,
        value: &Head,
    ) -> TransformerPlan {
        let packing = Packing { kernels, arithmetic };
        let tower = layers.tower.as_ref().map(|tower| {
            let blocks: Vec<Block> = tower.blocks.iter().map(Block::decode).collect();
            TowerPlan::new(&Packer::new(&packing.kernels, &blocks), &tower.input.decode(), &blocks, layers.activation)
        });
        let body = layers.body.as_ref();
        let embedding = body.map(|body| EmbeddingPlan::new(packing, body, layers.activation));
        let of_body = body.map_or(&[][..], |body| &body.encoders);
        let alpha = body.map_or(1.0, |body| body.alpha);
        let smolgen = of_body.iter().chain(&policy.encoders).find_map(|encoder| encoder.smolgen.as_ref());
        let columns = match (&embedding, &tower) {
            (Some(embedding), _) => embedding.columns,
            (None, tower) => tower.as_ref().map_or(0, |tower| tower.columns),
        };
        TransformerPlan {
            encoders: encoders(packing, of_body, alpha),
            smolgen: smolgen.map(|smolgen| SmolgenPlan::shared(packing, smolgen)),
            policy: PolicyPlan::new(packing, policy),
            value: HeadPlan::new(packing, value, layers.activation),
            moves_left: layers.moves_left.as_ref().map(|head| HeadPlan::new(packing, head, layers.activation)),
            tower,
            embedding,
            columns,
        }
    }

    /// Outputs of the value head: 3 or 1.
    pub(in super::super) fn value_outputs(&self) -> usize {
        self.value.outputs
    }
}

/// Packs encoders on as many threads as there are cores: a large network takes seconds.
fn encoders(packing: Packing, encoders: &[Encoder], alpha: f32) -> Vec<EncoderPlan> {
    let before = |index: usize| Some(&encoders.get(index.checked_sub(1)?)?.norm2);
    in_parts(encoders, |first, part| {
        let encoders = part.iter().enumerate();
        encoders.map(|(index, encoder)| EncoderPlan::new(packing, encoder, alpha, before(first + index))).collect()
    })
}
