//! Describes what a device was given to compute: the model, and the arithmetic that rounds most in it.

use crate::{Arithmetic, DeviceOptions};
use zeitnot_base::digest::sha256;
use zeitnot_network::external_data;
use zeitnot_network::onnx_fields::{all, fields};
use zeitnot_network::onnx_proto::data_type;
use zeitnot_network::onnx_proto::field::{DATA_TYPE, GRAPH, INITIALIZER};
use zeitnot_network::{Architecture, Network, OnnxModel};
use zeitnot_runtime::Provider;

/// The model that a device was given, by its digests, and the arithmetic in which the device computes it.
pub(super) struct Subject {
    /// The SHA-256 of the model and of each file of its external data.
    pub(super) digests: Vec<String>,
    pub(super) arithmetic: Arithmetic,
}

impl Subject {
    pub(super) fn new(provider: Provider, network: &Network, options: &DeviceOptions, model: &OnnxModel) -> Subject {
        let of_model = sha256(model.bytes.as_slice()).expect("memory can be read");
        let digests = std::iter::once(of_model).chain(external_data::digests(model)).collect();
        // A model that was made here has the type of its conversion.
        let came_as_onnx = matches!(network.description().architecture, Architecture::Onnx { .. });
        let of_weights = came_as_onnx.then(|| narrowest(&model.bytes)).flatten();
        let asked = Arithmetic::from(options.conversion(provider).precision);
        let own = options.arithmetic.unwrap_or_else(|| unasked(provider, options));
        let arithmetic = of_weights.into_iter().fold(asked.max(own), Arithmetic::max);
        Subject { digests, arithmetic }
    }
}

/// The arithmetic in which a provider computes float32 networks unless an option says otherwise: Intel's and Apple's
/// graphics processors and neural units compute in half precision.
fn unasked(provider: Provider, options: &DeviceOptions) -> Arithmetic {
    let units = options.units.as_deref();
    match (provider, units) {
        (Provider::OpenVino, Some(units)) if units != "CPU" => Arithmetic::Float16,
        (Provider::CoreMl, units) if units != Some("cpu") => Arithmetic::Float16,
        _ => Arithmetic::Float32,
    }
}

/// The narrowest type of any weights of a model; `None` for a model without any.
fn narrowest(model: &[u8]) -> Option<Arithmetic> {
    let tensors = all(model, GRAPH).flat_map(|graph| all(graph, INITIALIZER));
    tensors.filter_map(arithmetic_of).max()
}

/// The arithmetic that goes with the type of a tensor; `None` for a type of whole numbers that are no weights.
fn arithmetic_of(tensor: &[u8]) -> Option<Arithmetic> {
    let field = fields(tensor)?.into_iter().find(|field| field.number == DATA_TYPE)?;
    // A key of one byte, and a number below 128.
    Some(match i32::from(*field.whole.get(1)?) {
        data_type::FLOAT => Arithmetic::Float32,
        data_type::FLOAT16 => Arithmetic::Float16,
        data_type::BFLOAT16 => Arithmetic::Bfloat16,
        data_type::INT8 | data_type::UINT8 => Arithmetic::Int8,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use zeitnot_network::testing::random_network;
    use zeitnot_network::{Conversion, Precision};

    fn arithmetic(provider: Provider, network: &Network, options: &str) -> Arithmetic {
        let options: DeviceOptions = options.parse().unwrap();
        let model = network.onnx(&options.conversion_of(network, provider)).unwrap();
        Subject::new(provider, network, &options, &model).arithmetic
    }

    #[test]
    fn the_bound_is_that_of_the_narrowest_type() {
        let own = Network::from_bytes(&random_network(1, 1, 8), "tiny.pb.gz").unwrap();
        let foreign = |precision| {
            let model = own.onnx(&Conversion { precision, ..Conversion::default() }).unwrap();
            Network::from_bytes(&model.bytes, "tiny.onnx").unwrap()
        };
        let [single, half] = [Precision::Float32, Precision::Float16].map(foreign);
        for (provider, network, options, expected) in [
            (Provider::OpenVino, &own, "", Arithmetic::Float32),
            (Provider::OpenVino, &own, "precision=bf16", Arithmetic::Bfloat16),
            (Provider::OpenVino, &own, "device=GPU", Arithmetic::Float16),
            (Provider::OpenVino, &own, "device=GPU,precision=f32", Arithmetic::Float32),
            (Provider::OpenVino, &single, "", Arithmetic::Float32),
            (Provider::OpenVino, &half, "", Arithmetic::Float16),
            (Provider::CoreMl, &own, "", Arithmetic::Float16),
            (Provider::CoreMl, &own, "units=cpu", Arithmetic::Float32),
            (Provider::Cuda, &own, "", Arithmetic::Float16),
            (Provider::Cuda, &own, "datatype=f32", Arithmetic::Float32),
            (Provider::Cuda, &own, "datatype=bf16", Arithmetic::Bfloat16),
            // TensorFloat-32 rounds as float16 does.
            (Provider::Cuda, &single, "", Arithmetic::Float16),
            (Provider::TensorRt, &single, "", Arithmetic::Float16),
        ] {
            assert_eq!(arithmetic(provider, network, options), expected, "{provider} {options}");
        }
    }
}
