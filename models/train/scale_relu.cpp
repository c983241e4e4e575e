// What lies between two convolutions, in as few passes over the memory as it takes: relu(scale * z + shift + residual), with
// a scale and a shift for each channel of each board, and the sums that these come of. Batch norm and squeeze-and-excitation
// are both of that form; how the scales come of the sums is little work and stays in Python.
//
// Planes are [boards, channels, 8, 8] in bfloat16, channels last; everything else is in float32.

#include <ATen/ATen.h>
#include <immintrin.h>
#include <torch/library.h>

#include <cstdint>
#include <optional>
#include <tuple>

namespace {

constexpr int SQUARES = 64;
constexpr int WIDTH = 32;  // channels at a time: a line of the cache

struct Floats {
    __m512 low, high;
};

inline __m512 widen(__m256i half) { return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(half), 16)); }

inline Floats load(const at::BFloat16* from) {
    const auto* halves = reinterpret_cast<const __m256i*>(from);
    return {widen(_mm256_loadu_si256(halves)), widen(_mm256_loadu_si256(halves + 1))};
}

inline Floats load(const float* from) { return {_mm512_loadu_ps(from), _mm512_loadu_ps(from + 16)}; }

inline void store(at::BFloat16* to, Floats x) {
    _mm512_storeu_si512(to, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(x.high, x.low)));
}

inline void store(float* to, Floats x) {
    _mm512_storeu_ps(to, x.low);
    _mm512_storeu_ps(to + 16, x.high);
}

inline Floats zeros() { return {_mm512_setzero_ps(), _mm512_setzero_ps()}; }
inline Floats add(Floats a, Floats b) { return {_mm512_add_ps(a.low, b.low), _mm512_add_ps(a.high, b.high)}; }
inline Floats fma(Floats a, Floats b, Floats c) {
    return {_mm512_fmadd_ps(a.low, b.low, c.low), _mm512_fmadd_ps(a.high, b.high, c.high)};
}
// NaN stays NaN: of two operands one of which is NaN the instruction returns the second.
inline Floats relu(Floats a) {
    const auto zero = _mm512_setzero_ps();
    return {_mm512_max_ps(zero, a.low), _mm512_max_ps(zero, a.high)};
}
// g where out is above 0 (or NaN), else 0.
inline Floats masked(Floats g, Floats out) {
    const auto zero = _mm512_setzero_ps();
    return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(out.low, zero, _CMP_NLE_UQ), g.low),
        _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(out.high, zero, _CMP_NLE_UQ), g.high)};
}

at::Tensor planes(const at::Tensor& x) {
    TORCH_CHECK(x.scalar_type() == at::kBFloat16 && x.dim() == 4 && x.size(2) == 8 && x.size(3) == 8,
        "not boards of 8x8 in bfloat16");
    TORCH_CHECK(x.size(1) % WIDTH == 0, x.size(1), " channels are not a multiple of ", WIDTH);
    return x.contiguous(at::MemoryFormat::ChannelsLast);
}

at::Tensor planes_like(const at::Tensor& x, const at::Tensor& z) {
    TORCH_CHECK(x.sizes() == z.sizes(), "planes of ", x.sizes(), " beside ", z.sizes());
    return planes(x);
}

// [boards, channels] of z.
at::Tensor rows(const at::Tensor& x, const at::Tensor& z) {
    TORCH_CHECK(x.scalar_type() == at::kFloat && x.sizes() == z.sizes().slice(0, 2), "rows ", x.sizes(), " beside ", z.sizes());
    return x.contiguous();
}

const at::BFloat16* values(const at::Tensor& x) { return x.const_data_ptr<at::BFloat16>(); }

// Calls f(offset of a board's first square, offset of the board's row) for every board and 32 of its channels.
template <class F>
void each(const at::Tensor& z, F f) {
    const int64_t boards = z.size(0), channels = z.size(1);
    for (int64_t board = 0; board < boards; ++board)
        for (int64_t channel = 0; channel < channels; channel += WIDTH)
            f(board * SQUARES * channels + channel, board * channels + channel);
}

// z [n, c, 8, 8] -> sums over the squares of z and of z * z, [2, n, c].
at::Tensor board_sums(const at::Tensor& z_) {
    const auto z = planes(z_);
    const int64_t channels = z.size(1), all = z.size(0) * channels;
    auto sums = at::empty({2, z.size(0), channels}, at::kFloat);
    const auto* from = values(z);
    auto* to = sums.data_ptr<float>();
    each(z, [&](int64_t at, int64_t row) {
        Floats one = zeros(), two = zeros();
        for (int square = 0; square < SQUARES; ++square) {
            const Floats x = load(from + at + square * channels);
            one = add(one, x);
            two = fma(x, x, two);
        }
        store(to + row, one);
        store(to + all + row, two);
    });
    return sums;
}

// relu(scale * z + shift + residual), scale and shift [n, c].
at::Tensor scale_relu(const at::Tensor& z_, const at::Tensor& scale_, const at::Tensor& shift_,
    const std::optional<at::Tensor>& residual_) {
    const auto z = planes(z_), scale = rows(scale_, z), shift = rows(shift_, z);
    const auto residual = residual_ ? planes_like(*residual_, z) : z;
    const int64_t channels = z.size(1);
    auto out = at::empty_like(z);
    const auto *from = values(z), *more = residual_ ? values(residual) : nullptr;
    const auto *a = scale.const_data_ptr<float>(), *b = shift.const_data_ptr<float>();
    auto* to = out.data_ptr<at::BFloat16>();
    each(z, [&](int64_t at, int64_t row) {
        const Floats scale = load(a + row), shift = load(b + row);
        for (int square = 0; square < SQUARES; ++square, at += channels) {
            Floats x = fma(scale, load(from + at), shift);
            if (more) x = add(x, load(more + at));
            store(to + at, relu(x));
        }
    });
    return out;
}

// Sums over the squares of g and of g * z where out is positive, [2, n, c]: the gradients of shift and scale.
at::Tensor scale_relu_sums(const at::Tensor& g_, const at::Tensor& out_, const at::Tensor& z_) {
    const auto z = planes(z_), g = planes_like(g_, z), out = planes_like(out_, z);
    const int64_t channels = z.size(1), all = z.size(0) * channels;
    auto sums = at::empty({2, z.size(0), channels}, at::kFloat);
    const auto *pg = values(g), *po = values(out), *pz = values(z);
    auto* to = sums.data_ptr<float>();
    each(z, [&](int64_t at, int64_t row) {
        Floats one = zeros(), two = zeros();
        for (int square = 0; square < SQUARES; ++square, at += channels) {
            const Floats gradient = masked(load(pg + at), load(po + at));
            one = add(one, gradient);
            two = fma(gradient, load(pz + at), two);
        }
        store(to + row, one);
        store(to + all + row, two);
    });
    return sums;
}

// With m = g where out is positive: scale * m + by_sum + by_square * z, the gradient of z, and m, that of the residual.
std::tuple<at::Tensor, at::Tensor> scale_relu_gradients(const at::Tensor& g_, const at::Tensor& out_, const at::Tensor& z_,
    const at::Tensor& scale_, const at::Tensor& by_sum_, const at::Tensor& by_square_, bool residual) {
    const auto z = planes(z_), g = planes_like(g_, z), out = planes_like(out_, z);
    const auto scale = rows(scale_, z), by_sum = rows(by_sum_, z), by_square = rows(by_square_, z);
    const int64_t channels = z.size(1);
    auto to_z = at::empty_like(z), to_residual = residual ? at::empty_like(z) : at::Tensor();
    const auto *pg = values(g), *po = values(out), *pz = values(z);
    const auto *a = scale.const_data_ptr<float>(), *b = by_sum.const_data_ptr<float>(), *c = by_square.const_data_ptr<float>();
    auto *to = to_z.data_ptr<at::BFloat16>(), *more = residual ? to_residual.data_ptr<at::BFloat16>() : nullptr;
    each(z, [&](int64_t at, int64_t row) {
        const Floats scale = load(a + row), by_sum = load(b + row), by_square = load(c + row);
        for (int square = 0; square < SQUARES; ++square, at += channels) {
            const Floats gradient = masked(load(pg + at), load(po + at));
            if (more) store(more + at, gradient);
            store(to + at, fma(scale, gradient, fma(by_square, load(pz + at), by_sum)));
        }
    });
    return {to_z, to_residual};
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(zeitnot, library) {
    library.def("board_sums(Tensor z) -> Tensor", board_sums);
    library.def("scale_relu(Tensor z, Tensor scale, Tensor shift, Tensor? residual) -> Tensor", scale_relu);
    library.def("scale_relu_sums(Tensor g, Tensor out, Tensor z) -> Tensor", scale_relu_sums);
    library.def(
        "scale_relu_gradients(Tensor g, Tensor out, Tensor z, Tensor scale, Tensor by_sum, Tensor by_square, bool residual)"
        " -> (Tensor, Tensor)",
        scale_relu_gradients);
}
