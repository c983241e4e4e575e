//! Converts input and output tensors of a model, which may be narrower than `f32`.

use half::slice::HalfFloatSliceExt;
use half::{bf16, f16};
use ndarray::{Array2, ArrayView1, CowArray, Ix2, ShapeError};
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
/// inner error is that of a tensor of another size.
pub(super) fn output(
    precision: Precision,
    value: &DynValue,
    shape: (usize, usize),
) -> ort::Result<Result<CowArray<'_, f32, Ix2>, ShapeError>> {
    let widened = |numbers: Vec<f32>| Array2::from_shape_vec(shape, numbers).map(CowArray::from);
    Ok(match precision {
        Precision::Float32 => {
            let numbers = ArrayView1::from(value.try_extract_tensor::<f32>()?.1);
            numbers.into_shape_with_order(shape).map(CowArray::from)
        }
        Precision::Float16 => widened(value.try_extract_tensor::<f16>()?.1.to_f32_vec()),
        Precision::Bfloat16 => widened(value.try_extract_tensor::<bf16>()?.1.to_f32_vec()),
    })
}
