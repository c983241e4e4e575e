// The gradient of the weights of a 3x3 convolution over 8x8 boards with AMX, in bfloat16 with sums in float32.
//
// PyTorch (oneDNN) has fast code for a convolution and for the gradient of its input; this one took it three times as long as
// each of those.
// gradient[o][c] of the tap (dy, dx) is the sum of g[square][o] * x[square + tap][c] over all squares of all boards. A tile
// of g is 16 outputs x 32 squares, one of x 16 pairs of squares x 16 inputs. The pairs lie along a rank: three copies of x
// serve the three dx, and the three dy begin at different ranks of the same copy.

#include <ATen/ATen.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <torch/library.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace {

using Bits = uint16_t;  // of a bfloat16

constexpr int TILE = 16;             // rows of a tile, and its columns of 32 bits
constexpr int ROW = 2 * TILE;        // bfloat16 in a row of a tile
constexpr int BLOCK = TILE * TILE;   // sums of a tile
constexpr int SQUARES = 64;
constexpr int STEPS = SQUARES / ROW;  // tiles of squares on a board
constexpr int PAIRS = 10 * 4;        // pairs of squares of a board with an empty rank above and below
constexpr int BOARDS = 8;            // at a time: their tiles stay in the first-level cache
constexpr int GRADIENT_BOARD = STEPS * TILE * ROW;
constexpr int INPUT_BOARD = PAIRS * ROW;

// Linux lets a process use the tiles only after it has asked (its Documentation/arch/x86/xstate.rst).
bool permitted() {
    constexpr int ARCH_REQ_XCOMP_PERM = 0x1023, TILE_DATA = 18;
    static const bool granted = syscall(SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, TILE_DATA) == 0;
    return granted;
}

// GCC 12's tile intrinsics do not say that they read memory (its bug 114098): what was written before has to be there.
inline void written() { asm volatile("" ::: "memory"); }

// Eight tiles of 16 rows of 64 bytes.
struct alignas(64) Configuration {
    uint8_t palette = 1, start = 0, reserved[14] = {};
    uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
    uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

// 16 channels of two squares, taking turns.
inline __m512i pair(__m256i left, __m256i right) {
    alignas(64) static constexpr auto order = [] {
        std::array<uint16_t, ROW> order{};
        for (int i = 0; i < TILE; ++i) order[2 * i] = i, order[2 * i + 1] = ROW + i;
        return order;
    }();
    return _mm512_permutex2var_epi16(
        _mm512_castsi256_si512(left), _mm512_load_si512(order.data()), _mm512_castsi256_si512(right));
}

// 16 x 16 numbers of 32 bits.
inline void transpose(__m512i r[TILE]) {
    __m512i t[TILE];
    for (int i = 0; i < 16; i += 2) {
        t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
        t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
    }
    for (int i = 0; i < 16; i += 4) {
        r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
        r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
        r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
        r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
    }
    for (int i = 0; i < 4; ++i) {
        t[i] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0x88);
        t[i + 4] = _mm512_shuffle_i32x4(r[i], r[i + 4], 0xdd);
        t[i + 8] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0x88);
        t[i + 12] = _mm512_shuffle_i32x4(r[i + 8], r[i + 12], 0xdd);
    }
    for (int i = 0; i < 4; ++i) {
        r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
        r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
        r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xdd);
        r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xdd);
    }
}

inline __m256i load(const Bits* from) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); }

// 16 outputs of a board [square][outputs] -> tiles [step][output][square].
void pack_gradient(const Bits* board, int64_t outputs, Bits* to) {
    for (int step = 0; step < STEPS; ++step) {
        __m512i rows[TILE];
        for (int i = 0; i < TILE; ++i) {
            const Bits* from = board + (ROW * step + 2 * i) * outputs;
            rows[i] = pair(load(from), load(from + outputs));
        }
        transpose(rows);
        for (int i = 0; i < TILE; ++i) _mm512_store_si512(to + (step * TILE + i) * ROW, rows[i]);
    }
}

// 16 inputs of a board [square][inputs], shifted by dx files -> [pair of squares][input][2]. The outer ranks stay as they are.
void pack_input(const Bits* board, int64_t inputs, int dx, Bits* to) {
    for (int rank = 0; rank < 8; ++rank) {
        for (int i = 0; i < 4; ++i) {
            const int file = 2 * i + dx, square = 8 * rank + file;
            const __m256i left = file >= 0 ? load(board + square * inputs) : _mm256_setzero_si256();
            const __m256i right = file + 1 < 8 ? load(board + (square + 1) * inputs) : _mm256_setzero_si256();
            _mm512_store_si512(to + (4 * (rank + 1) + i) * ROW, pair(left, right));
        }
    }
}

// Adds the products of some boards to the sums [dy][block of outputs][16][16] of 16 outputs, or (TWO) of 32, with 16 inputs
// and one dx. Tiles 0 to 5 are the sums, 6 is of g and 7 of x.
template <bool TWO>
void multiply(const Bits* gradient, const Bits* input, int boards, float* sums) {
    constexpr int DY = (TWO ? 2 : 1) * BLOCK, NEXT = BOARDS * GRADIENT_BOARD;
    written();
    _tile_loadd(0, sums, 64);
    _tile_loadd(1, sums + DY, 64);
    _tile_loadd(2, sums + 2 * DY, 64);
    if constexpr (TWO) {
        _tile_loadd(3, sums + BLOCK, 64);
        _tile_loadd(4, sums + BLOCK + DY, 64);
        _tile_loadd(5, sums + BLOCK + 2 * DY, 64);
    }
    for (int at = 0; at < boards * STEPS; ++at) {
        const Bits* g = gradient + at * TILE * ROW;
        const Bits* x = input + at / STEPS * INPUT_BOARD + at % STEPS * TILE * ROW;
        // Each product differs in one tile from the one before.
        _tile_loadd(6, g, 64);
        _tile_loadd(7, x, 64);
        _tile_dpbf16ps(0, 6, 7);
        if constexpr (TWO) {
            _tile_loadd(6, g + NEXT, 64);
            _tile_dpbf16ps(3, 6, 7);
            _tile_loadd(7, x + 4 * ROW, 64);
            _tile_dpbf16ps(4, 6, 7);
            _tile_loadd(6, g, 64);
            _tile_dpbf16ps(1, 6, 7);
            _tile_loadd(7, x + 8 * ROW, 64);
            _tile_dpbf16ps(2, 6, 7);
            _tile_loadd(6, g + NEXT, 64);
            _tile_dpbf16ps(5, 6, 7);
        } else {
            _tile_loadd(7, x + 4 * ROW, 64);
            _tile_dpbf16ps(1, 6, 7);
            _tile_loadd(7, x + 8 * ROW, 64);
            _tile_dpbf16ps(2, 6, 7);
        }
    }
    _tile_stored(0, sums, 64);
    _tile_stored(1, sums + DY, 64);
    _tile_stored(2, sums + 2 * DY, 64);
    if constexpr (TWO) {
        _tile_stored(3, sums + BLOCK, 64);
        _tile_stored(4, sums + BLOCK + DY, 64);
        _tile_stored(5, sums + BLOCK + 2 * DY, 64);
    }
}

at::Tensor boards_of(const at::Tensor& x) {
    TORCH_CHECK(x.scalar_type() == at::kBFloat16 && x.dim() == 4 && x.size(2) == 8 && x.size(3) == 8,
        "not boards of 8x8 in bfloat16");
    TORCH_CHECK(x.size(1) % TILE == 0, "channels in sixteens, not ", x.size(1));
    return x.contiguous(at::MemoryFormat::ChannelsLast);
}

// x [n, inputs, 8, 8], g [n, outputs, 8, 8] -> [outputs, inputs, 3, 3] in float32, channels last.
at::Tensor weight_gradient(const at::Tensor& x, const at::Tensor& g) {
    TORCH_CHECK(permitted(), "no AMX");
    const auto xs = boards_of(x), gs = boards_of(g);
    TORCH_CHECK(x.size(0) == g.size(0), x.size(0), " boards of x, ", g.size(0), " of g");
    const int64_t n = x.size(0), inputs = x.size(1), outputs = g.size(1);
    const int64_t input_blocks = inputs / TILE, output_blocks = outputs / TILE;
    const auto* from_x = static_cast<const Bits*>(xs.const_data_ptr());
    const auto* from_g = static_cast<const Bits*>(gs.const_data_ptr());
    auto packed_g = at::empty({output_blocks, BOARDS, GRADIENT_BOARD}, at::kBFloat16);
    auto packed_x = at::zeros({input_blocks, 3, BOARDS, INPUT_BOARD}, at::kBFloat16);
    // [block of inputs][dx][pair of blocks of outputs][dy][2][16][16]; if their number is odd, the last one is by itself.
    auto sums = at::zeros({input_blocks, 3, output_blocks, 3, TILE, TILE}, at::kFloat);
    auto* const pg = static_cast<Bits*>(packed_g.data_ptr());
    auto* const px = static_cast<Bits*>(packed_x.data_ptr());
    auto* const ps = sums.data_ptr<float>();

    static constexpr Configuration configuration;
    written();
    _tile_loadconfig(&configuration);
    for (int64_t first = 0; first < n; first += BOARDS) {
        const int boards = static_cast<int>(std::min<int64_t>(BOARDS, n - first));
        for (int board = 0; board < boards; ++board) {
            const Bits* g_board = from_g + (first + board) * SQUARES * outputs;
            for (int64_t o = 0; o < output_blocks; ++o)
                pack_gradient(g_board + o * TILE, outputs, pg + (o * BOARDS + board) * GRADIENT_BOARD);
            const Bits* x_board = from_x + (first + board) * SQUARES * inputs;
            for (int64_t c = 0; c < input_blocks; ++c)
                for (int dx = 0; dx < 3; ++dx)
                    pack_input(x_board + c * TILE, inputs, dx - 1, px + ((c * 3 + dx) * BOARDS + board) * INPUT_BOARD);
        }
        for (int64_t o = 0; o < output_blocks; o += 2) {
            for (int64_t copy = 0; copy < input_blocks * 3; ++copy) {
                const auto* gradient = pg + o * BOARDS * GRADIENT_BOARD;
                const auto* input = px + copy * BOARDS * INPUT_BOARD;
                float* to = ps + (copy * output_blocks + o) * 3 * BLOCK;
                if (o + 1 < output_blocks)
                    multiply<true>(gradient, input, boards, to);
                else
                    multiply<false>(gradient, input, boards, to);
            }
        }
    }
    _tile_release();

    const int64_t paired = output_blocks / 2 * 2;
    auto in_order = [&](const at::Tensor& blocks, int64_t together) {
        const int64_t groups = blocks.size(2) / together;
        return blocks.reshape({input_blocks, 3, groups, 3, together, TILE, TILE})
            .permute({2, 4, 5, 3, 1, 0, 6})
            .reshape({groups * together * TILE, 3, 3, inputs});
    };
    std::vector<at::Tensor> parts;
    if (paired > 0) parts.push_back(in_order(sums.narrow(2, 0, paired), 2));
    if (paired < output_blocks) parts.push_back(in_order(sums.narrow(2, paired, 1), 1));
    return at::cat(parts).permute({0, 3, 1, 2});
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(zeitnot, library) { library.def("weight_gradient(Tensor x, Tensor g) -> Tensor", weight_gradient); }
