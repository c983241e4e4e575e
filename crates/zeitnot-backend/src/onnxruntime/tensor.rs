//! Holds the tensors of inputs and reads those of outputs, whose numbers may be narrower than `f32`.

use half::{bf16, f16};
use ort::memory::Allocator;
use ort::value::{DynTensor, PrimitiveTensorElementType, TensorElementType, ValueType};

use zeitnot_network::Precision;

/// ONNX Runtime's name for the number type of an input or output.
pub(super) fn element_type(precision: Precision) -> TensorElementType {
    match precision {
        Precision::Float32 => TensorElementType::Float32,
        Precision::Float16 => TensorElementType::Float16,
        Precision::Bfloat16 => TensorElementType::Bfloat16,
    }
}

/// A number type of inputs, in which any bits are a number, and bits of 0 are zero.
pub(super) trait Number: PrimitiveTensorElementType + Copy {}

impl Number for u8 {}
impl Number for i64 {}
impl Number for f32 {}
impl Number for f16 {}
impl Number for bf16 {}

/// An input tensor in memory of the host, which is written in place from run to run.
pub(super) struct HostTensor<T> {
    tensor: DynTensor,
    count: usize,
    numbers: std::marker::PhantomData<T>,
}

impl<T: Number> HostTensor<T> {
    /// A tensor of zeros, from an allocator of memory that the host can write: its own, or pinned for a card.
    pub(super) fn new(allocator: &Allocator, shape: &[usize]) -> ort::Result<HostTensor<T>> {
        let tensor = DynTensor::new(allocator, T::into_tensor_element_type(), shape.to_vec())?;
        let mut tensor = HostTensor { tensor, count: shape.iter().product(), numbers: std::marker::PhantomData };
        // SAFETY: the tensor has room for `count` numbers of this type, in memory of the host, and nobody else has it
        // yet. What an allocator gives holds what it held.
        unsafe { std::ptr::write_bytes(tensor.tensor.data_ptr_mut().cast::<T>(), 0, tensor.count) };
        Ok(tensor)
    }

    /// Numbers of the tensor. (`ort` gives numbers in the host's own memory alone: it does not recognise pinned
    /// memory.)
    pub(super) fn numbers_mut(&mut self) -> &mut [T] {
        // SAFETY: the tensor has `count` numbers of this type, which `new` has written, lies in memory of the host, and
        // is borrowed for as long as the slice; runs, which write none of it, need the buffers around it exclusively,
        // too.
        unsafe { std::slice::from_raw_parts_mut(self.tensor.data_ptr_mut().cast::<T>(), self.count) }
    }

    /// The tensor for a run.
    pub(super) fn tensor(&self) -> &DynTensor {
        &self.tensor
    }
}

/// The numbers of an output tensor, as they lie in memory of the host.
pub(super) enum Numbers<'a> {
    Float32(&'a [f32]),
    Float16(&'a [f16]),
    Bfloat16(&'a [bf16]),
}

impl Numbers<'_> {
    /// The numbers of a run's output; `None` for what is no tensor of this type. They lie on the host wherever the run
    /// was: ONNX Runtime hands outputs over there by default, and those that were made ahead lie there too.
    pub(super) fn of(precision: Precision, tensor: &DynTensor) -> Option<Numbers<'_>> {
        let ValueType::Tensor { ty, shape, .. } = tensor.dtype() else { return None };
        let count = shape.num_elements();
        if *ty != element_type(precision) || count == 0 {
            return None;
        }
        let numbers = tensor.data_ptr();
        macro_rules! slice {
            ($type:ty) => {
                // SAFETY: the type is the tensor's and the count that of its shape, both by ONNX Runtime's own account;
                // it lies in memory of the host (see above). `Outputs` borrows the buffers that own it, so that no run
                // writes while the slice lives.
                unsafe { std::slice::from_raw_parts(numbers.cast::<$type>(), count) }
            };
        }
        Some(match precision {
            Precision::Float32 => Numbers::Float32(slice!(f32)),
            Precision::Float16 => Numbers::Float16(slice!(f16)),
            Precision::Bfloat16 => Numbers::Bfloat16(slice!(bf16)),
        })
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Numbers::Float32(numbers) => numbers.len(),
            Numbers::Float16(numbers) => numbers.len(),
            Numbers::Bfloat16(numbers) => numbers.len(),
        }
    }

    /// The number at an index below [`Numbers::len`].
    pub(super) fn get(&self, index: usize) -> f32 {
        match self {
            Numbers::Float32(numbers) => numbers[index],
            Numbers::Float16(numbers) => numbers[index].to_f32(),
            Numbers::Bfloat16(numbers) => numbers[index].to_f32(),
        }
    }
}
