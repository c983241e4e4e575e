//! Reads the heads: policies, values and moves left, one of each or several under names.

use super::layers::{AttentionBody, AttentionPolicy, Head, Policy, SquareFeatures};
use super::read::{Reader, field};
use super::tensor::Tensor;
use super::{Dense, PolicyHead, SQUARES};
use crate::format::{PolicyKind, ValueKind};
use crate::policy::{CONVOLUTION_PLANES, MOVES};
use crate::{NetworkError, proto};

/// The name of the policy head in a network with only one (docs/lc0.md, 4.6).
const FIRST_POLICY: &str = "vanilla";
/// The name of the value head in a network with only one.
const FIRST_VALUE: &str = "winner";
/// Number of promotion offsets in an attention policy: one for each kind, and one for all three.
const PROMOTION_OFFSETS: usize = 4;

impl Reader<'_> {
    /// Reads the policy heads by name, on the transformer `body` or else on a tower of `filters`.
    pub(super) fn policies(
        &self,
        net: &proto::Weights,
        filters: Option<usize>,
        body: Option<&AttentionBody>,
    ) -> Result<Vec<(String, Policy)>, NetworkError> {
        let inputs = body.map(|body| body.embedding.outputs).or(filters).unwrap_or(0);
        if body.is_some() && self.header.policy != PolicyKind::Attention {
            let what = format!("a {} policy on an attention body is", self.header.policy);
            return Err(self.decoder.unsupported(what));
        }
        let Some(several) = &net.policy_heads else {
            let head = proto::PolicyHead {
                ip_pol_w: net.ip_pol_w.clone(),
                ip_pol_b: net.ip_pol_b.clone(),
                ip2_pol_w: net.ip2_pol_w.clone(),
                ip2_pol_b: net.ip2_pol_b.clone(),
                ip3_pol_w: net.ip3_pol_w.clone(),
                ip3_pol_b: net.ip3_pol_b.clone(),
                ip4_pol_w: net.ip4_pol_w.clone(),
                pol_encoder: net.pol_encoder.clone(),
                pol_headcount: net.pol_headcount,
                policy1: net.policy1.clone(),
                policy: net.policy.clone(),
            };
            return Ok(vec![(FIRST_POLICY.to_owned(), self.policy("", net, &head, inputs, None)?)]);
        };
        // Heads without an embedding of their own share one.
        let embedding = match (&several.ip_pol_w, &net.ip_pol_w) {
            _ if self.header.policy != PolicyKind::Attention => None,
            (Some(_), _) => {
                let path = "policy_heads.";
                Some(self.dense([field!(path, several, ip_pol_w), field!(path, several, ip_pol_b)], inputs)?)
            }
            (None, Some(_)) => Some(self.dense([field!("", net, ip_pol_w), field!("", net, ip_pol_b)], inputs)?),
            (None, None) => None,
        };
        let fixed = [
            (FIRST_POLICY, "vanilla", &several.vanilla),
            ("optimistic", "optimistic_st", &several.optimistic_st),
            ("soft", "soft", &several.soft),
            ("opponent", "opponent", &several.opponent),
        ];
        let fixed = (fixed.into_iter())
            .filter_map(|(name, field, head)| Some((name, format!("policy_heads.{field}."), head.as_ref()?)));
        let map = (several.policy_head_map.iter())
            .map(|entry| (entry.key.as_str(), format!("policy_heads.policy_head_map[{}].", entry.key), &entry.value));
        let mut policies: Vec<(String, Policy)> = Vec::new();
        for (name, path, head) in fixed.chain(map) {
            let empty = head.ip2_pol_w.is_none() && head.policy.is_none();
            if !empty && policies.iter().all(|(known, _)| known != name) {
                policies.push((name.to_owned(), self.policy(&path, net, head, inputs, embedding.as_ref())?));
            }
        }
        if policies.is_empty() { Err(self.decoder.error("policy_heads", "holds no head")) } else { Ok(policies) }
    }

    fn policy(
        &self,
        path: &str,
        net: &proto::Weights,
        head: &proto::PolicyHead,
        inputs: usize,
        embedding: Option<&Dense<Tensor>>,
    ) -> Result<Policy, NetworkError> {
        let dense_layers = || [field!(path, head, ip_pol_w), field!(path, head, ip_pol_b)];
        Ok(match self.header.policy {
            PolicyKind::Classical => {
                let convolution = self.convolution(&format!("{path}policy"), head.policy.as_ref(), inputs, 1)?;
                let dense = self.dense(dense_layers(), convolution.outputs * SQUARES)?;
                self.expect_outputs(&format!("{path}ip_pol_b"), dense.outputs, MOVES)?;
                Policy::Planes(Box::new(PolicyHead::Classical { convolution, dense }))
            }
            PolicyKind::Convolution => {
                let hidden = self.convolution(&format!("{path}policy1"), head.policy1.as_ref(), inputs, 3)?;
                let output = self.convolution(&format!("{path}policy"), head.policy.as_ref(), hidden.outputs, 3)?;
                self.expect_outputs(&format!("{path}policy.weights"), output.outputs, CONVOLUTION_PLANES)?;
                Policy::Planes(Box::new(PolicyHead::Convolution { hidden, output }))
            }
            PolicyKind::Attention => {
                let embedding = match embedding {
                    Some(shared) if head.ip_pol_w.is_none() => shared.clone(),
                    _ => self.dense(dense_layers(), inputs)?,
                };
                let width = embedding.outputs;
                let heads = head.pol_headcount.unwrap_or(0) as usize;
                let shared = if head.pol_encoder.is_empty() { None } else { self.shared_smolgen(net)? };
                let encoders = (head.pol_encoder.iter().enumerate())
                    .map(|(index, encoder)| {
                        let heads = (&*format!("{path}pol_headcount"), heads);
                        let path = format!("{path}pol_encoder[{index}].");
                        self.encoder(&path, encoder, width, heads, shared.as_ref(), self.header.policy_ffn_activation)
                    })
                    .collect::<Result<Vec<_>, _>>()?;
                let query = self.dense([field!(path, head, ip2_pol_w), field!(path, head, ip2_pol_b)], width)?;
                let key = self.dense([field!(path, head, ip3_pol_w), field!(path, head, ip3_pol_b)], width)?;
                self.expect_outputs(&format!("{path}ip3_pol_b"), key.outputs, query.outputs)?;
                let promotion = field!(path, head, ip4_pol_w);
                let promotion =
                    self.decoder.sized(&promotion.path, promotion.layer, PROMOTION_OFFSETS * key.outputs)?;
                self.count(promotion.len());
                let activation = self.header.policy_activation;
                Policy::Attention(Box::new(AttentionPolicy { embedding, activation, encoders, query, key, promotion }))
            }
        })
    }

    /// Reads the value heads by name, on the transformer `body` or else on a tower of `filters`.
    pub(super) fn values(
        &self,
        net: &proto::Weights,
        filters: Option<usize>,
        body: Option<&AttentionBody>,
    ) -> Result<Vec<(String, Head)>, NetworkError> {
        let Some(several) = &net.value_heads else {
            let head = proto::ValueHead {
                ip_val_w: net.ip_val_w.clone(),
                ip_val_b: net.ip_val_b.clone(),
                ip1_val_w: net.ip1_val_w.clone(),
                ip1_val_b: net.ip1_val_b.clone(),
                ip2_val_w: net.ip2_val_w.clone(),
                ip2_val_b: net.ip2_val_b.clone(),
                value: net.value.clone(),
                ..proto::ValueHead::default()
            };
            return Ok(vec![(FIRST_VALUE.to_owned(), self.value("", &head, filters, body)?)]);
        };
        let fixed = [(FIRST_VALUE, &several.winner), ("q", &several.q), ("st", &several.st)];
        let fixed =
            fixed.into_iter().filter_map(|(name, head)| Some((name, format!("value_heads.{name}."), head.as_ref()?)));
        let map = (several.value_head_map.iter())
            .map(|entry| (entry.key.as_str(), format!("value_heads.value_head_map[{}].", entry.key), &entry.value));
        let mut values: Vec<(String, Head)> = Vec::new();
        for (name, path, head) in fixed.chain(map) {
            if head.ip1_val_w.is_some() && values.iter().all(|(known, _)| known != name) {
                values.push((name.to_owned(), self.value(&path, head, filters, body)?));
            }
        }
        if values.is_empty() { Err(self.decoder.error("value_heads", "holds no head")) } else { Ok(values) }
    }

    fn value(
        &self,
        path: &str,
        head: &proto::ValueHead,
        filters: Option<usize>,
        body: Option<&AttentionBody>,
    ) -> Result<Head, NetworkError> {
        let features = match body {
            Some(body) => SquareFeatures::Tokens(
                self.dense([field!(path, head, ip_val_w), field!(path, head, ip_val_b)], body.embedding.outputs)?,
            ),
            None => SquareFeatures::Planes(self.convolution(
                &format!("{path}value"),
                head.value.as_ref(),
                filters.unwrap_or(0),
                1,
            )?),
        };
        let inputs = features.outputs() * SQUARES;
        let hidden = self.dense([field!(path, head, ip1_val_w), field!(path, head, ip1_val_b)], inputs)?;
        let output = self.dense([field!(path, head, ip2_val_w), field!(path, head, ip2_val_b)], hidden.outputs)?;
        let wanted = match self.header.value {
            ValueKind::Scalar => 1,
            ValueKind::Wdl => 3,
        };
        self.expect_outputs(&format!("{path}ip2_val_b"), output.outputs, wanted)?;
        Ok(Head { features, hidden, output })
    }

    /// Reads the moves-left head, if the header says that there is one.
    pub(super) fn moves_left(
        &self,
        net: &proto::Weights,
        filters: Option<usize>,
        body: Option<&AttentionBody>,
    ) -> Result<Option<Head>, NetworkError> {
        if !self.header.moves_left {
            return Ok(None);
        }
        let features = match body {
            Some(body) => SquareFeatures::Tokens(
                self.dense([field!("", net, ip_mov_w), field!("", net, ip_mov_b)], body.embedding.outputs)?,
            ),
            None => {
                let block = net.moves_left.as_ref();
                SquareFeatures::Planes(self.convolution("moves_left", block, filters.unwrap_or(0), 1)?)
            }
        };
        let inputs = features.outputs() * SQUARES;
        let hidden = self.dense([field!("", net, ip1_mov_w), field!("", net, ip1_mov_b)], inputs)?;
        let output = self.dense([field!("", net, ip2_mov_w), field!("", net, ip2_mov_b)], hidden.outputs)?;
        self.expect_outputs("ip2_mov_b", output.outputs, 1)?;
        Ok(Some(Head { features, hidden, output }))
    }
}

impl SquareFeatures {
    /// Number of features of each square.
    pub fn outputs(&self) -> usize {
        match self {
            SquareFeatures::Planes(convolution) => convolution.outputs,
            SquareFeatures::Tokens(dense) => dense.outputs,
        }
    }
}
