//! Tensors at the ends of a model that may be narrower than `f32`.

use std::borrow::Cow;

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use ort::session::SessionInputValue;
use ort::value::{DynValue, Tensor, TensorElementType, TensorRef};

use crate::network::Precision;

/// The number type of an end in ONNX Runtime's words.
pub(super) fn element_type(precision: Precision) -> TensorElementType {
    match precision {
        Precision::Float32 => TensorElementType::Float32,
        Precision::Float16 => TensorElementType::Float16,
        Precision::Bfloat16 => TensorElementType::Bfloat16,
    }
}

/// An input tensor of these numbers: the numbers themselves where the model takes them as they are.
pub(super) fn input<'a>(
    precision: Precision,
    shape: [usize; 4],
    numbers: &'a [f32],
) -> ort::Result<SessionInputValue<'a>> {
    Ok(match precision {
        Precision::Float32 => TensorRef::from_array_view((shape, numbers))?.into(),
        Precision::Float16 => {
            let mut short = vec![f16::ZERO; numbers.len()];
            short.convert_from_f32_slice(numbers);
            Tensor::from_array((shape, short))?.into()
        }
        Precision::Bfloat16 => {
            let mut short = vec![bf16::ZERO; numbers.len()];
            short.convert_from_f32_slice(numbers);
            Tensor::from_array((shape, short))?.into()
        }
    })
}

/// The numbers of an output tensor.
pub(super) fn output(precision: Precision, value: &DynValue) -> ort::Result<Cow<'_, [f32]>> {
    Ok(match precision {
        Precision::Float32 => Cow::Borrowed(value.try_extract_tensor::<f32>()?.1),
        Precision::Float16 => Cow::Owned(value.try_extract_tensor::<f16>()?.1.to_f32_vec()),
        Precision::Bfloat16 => Cow::Owned(value.try_extract_tensor::<bf16>()?.1.to_f32_vec()),
    })
}
