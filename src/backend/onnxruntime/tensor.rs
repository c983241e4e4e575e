//! Tensors at the ends of a model that may be narrower than `f32`.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use ndarray::{Array1, CowArray, Ix2, IxDyn};
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

/// The numbers of an output tensor: whatever its dimensions are, a row of `shape` is what it says of one position. The
/// inner error is the count of numbers in a tensor of another size.
pub(super) fn output(
    precision: Precision,
    value: &DynValue,
    shape: (usize, usize),
) -> ort::Result<Result<CowArray<'_, f32, Ix2>, usize>> {
    let widened = |numbers: Vec<f32>| Array1::from(numbers).into_dyn().into();
    let numbers: CowArray<'_, f32, IxDyn> = match precision {
        Precision::Float32 => value.try_extract_array::<f32>()?.into(),
        Precision::Float16 => widened(value.try_extract_tensor::<f16>()?.1.to_f32_vec()),
        Precision::Bfloat16 => widened(value.try_extract_tensor::<bf16>()?.1.to_f32_vec()),
    };
    let count = numbers.len();
    Ok(numbers.into_shape_with_order(shape).map_err(|_| count))
}
