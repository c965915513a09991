// The inner loops of the fused operations, one version per instruction set, called through a table of functions.
//
// All of them work on float32. A result depends on the values of its own row alone: never on how rows are grouped, on
// the number of threads, or on the rest of the batch.
#pragma once

#include <cstdint>

namespace sotto::fused {

// Keys that the attention processes at a time.
constexpr std::int64_t kKeyBlock = 64;

enum class Activation : int {
  silu,              // g / (1 + exp(-g))
  gelu,              // g (1 + erf(g / sqrt(2))) / 2
  gelu_tanh,         // g (1 + tanh(sqrt(2 / pi) (g + 0.044715 g^3))) / 2
  gelu_sigmoid,      // g / (1 + exp(-1.702 g))
  clipped_swiglu,    // silu of a clipped gate with a slope, times (clipped x + 1) (gpt-oss)
};

// The running softmax of query rows, one element each, while their keys are processed block by block.
struct Softmax {
  float* largest;  // the largest score so far; minus infinity before the first visible key
  float* total;    // the sum of exp(score - largest)
};

struct Half {
  std::uint16_t bits;  // of a float16
};
constexpr int kHalf = 16;

// Numbers of 8 or 4 bits with a scale and a bias for each group, as mx.quantize packs them: the first numbers are in the
// low bits of a word. Or numbers of kHalf bits, which are float16 and have neither.
struct Packed {
  std::uint8_t* bytes = nullptr;
  float* scales = nullptr;
  float* biases = nullptr;
  int bits = 0;
  std::int64_t group = 1;  // a multiple of 32, if there are scales

  // The numbers from `first` on, a multiple of the group.
  Packed from(std::int64_t first) const {
    const std::int64_t groups = scales ? first / group : 0;
    return {bytes + first * bits / 8, scales + groups, biases + groups, bits, group};
  }
};

// A linear recurrence over the tokens of one head. Each decays the state, [width, depth], and adds the outer product of a
// change and a key; the output is the state times the query:
//
//   state = decay state;  change = rate value, or rate (value - state key) if `corrects`;  state += change key^T
struct Recurrence {
  const float* queries;  // [tokens, depth]
  const float* keys;
  const float* values;   // [tokens, width]
  const float* decays;   // [tokens], or [tokens, depth] if `each_decays`
  const float* rates;    // [tokens]
  float* state;
  float* out;            // [tokens, width]
  std::int64_t tokens;
  std::int64_t depth;
  std::int64_t key_step;    // from one token's query or key to the next one's
  std::int64_t value_step;  // the same for values and outputs
  std::int64_t decay_step;
  std::int64_t rate_step;
  bool each_decays;
  bool corrects;
};

// Most numbers that a short convolution adds up.
constexpr std::int64_t kMostTaps = 8;

struct Kernels {
  // out[n] = x / sqrt(mean(x^2) + eps) * weight; weight may be null.
  void (*rms_norm)(const float* x, const float* weight, float* out, std::int64_t n, float eps);
  // out[n] = (x - mean) / sqrt(variance + eps) * weight + bias; weight and bias may be null.
  void (*layer_norm)(const float* x, const float* weight, const float* bias, float* out, std::int64_t n, float eps);
  // cosines[n] and sines[n] of position * frequencies[n], with the product rounded to float32.
  void (*angles)(float position, const float* frequencies, float* cosines, float* sines, std::int64_t n);
  // Rotate the pairs (x[i], x[i + half]).
  void (*rotate_halves)(const float* x, const float* cosines, const float* sines, float* out, std::int64_t half);
  // Rotate the pairs (x[2 i], x[2 i + 1]).
  void (*rotate_pairs)(const float* x, const float* cosines, const float* sines, float* out, std::int64_t half);
  // out[n] = activation(gate) * x, or activation(gate) if x is null. `slope` and `limit` are for clipped_swiglu.
  void (*activate)(
      Activation kind, const float* gate, const float* x, float* out, std::int64_t n, float slope, float limit);
  // c[m, n] = a[m, k] b[k, n], or += if `add`. Rows of b and c are contiguous; a has any strides.
  void (*multiply)(
      const float* a, std::int64_t a_row, std::int64_t a_column, const float* b, std::int64_t b_row, float* c,
      std::int64_t c_row, std::int64_t m, std::int64_t n, std::int64_t k, bool add);
  // The same with packed numbers, added to c; for few rows, as every four of them unpack the numbers anew.
  void (*multiply_packed)(
      const float* a, std::int64_t a_row, std::int64_t a_column, const Packed& b, std::int64_t b_row, float* c,
      std::int64_t c_row, std::int64_t m, std::int64_t n, std::int64_t k);
  // scores[r, j] = queries[r, :] . keys[j, :]; the row stride of queries is `query_row`, that of scores kKeyBlock.
  void (*dot)(
      const float* queries, std::int64_t query_row, std::int64_t rows, const float* keys, std::int64_t key_row,
      std::int64_t count, std::int64_t depth, float* scores);
  void (*dot_packed)(
      const float* queries, std::int64_t query_row, std::int64_t rows, const Packed& keys, std::int64_t key_row,
      std::int64_t count, std::int64_t depth, float* scores);
  // Turn scores[r, 0 .. count) into weights, and update the rows' maxima and sums; out[r, width] is rescaled to match.
  void (*soften_rows)(
      float* scores, std::int64_t rows, std::int64_t count, Softmax state, float* out, std::int64_t width);
  // The same for transposed scores, scores[count, row_stride]; row_stride is a multiple of 16.
  void (*soften_columns)(
      float* scores, std::int64_t rows, std::int64_t row_stride, std::int64_t count, Softmax state, float* rescale,
      float* out, std::int64_t width);
  // out[n] = factor * x[n].
  void (*scale)(const float* x, float factor, float* out, std::int64_t n);
  // Pack n numbers, whole groups, with the same bits as mx.quantize, and unpack them with the same as mx.dequantize.
  // Numbers that float16 cannot hold become the largest ones that it can.
  void (*pack)(const float* x, const Packed& to, std::int64_t n);
  void (*unpack)(const Packed& from, float* out, std::int64_t n);
  // Compute the rows `first` to `end` of a head's state and of its outputs, for all tokens.
  void (*recur)(const Recurrence& of, std::int64_t first, std::int64_t end);
  // out[t, c] = sum over j of x[t + j, c] weights[c, j], for channels whose rows are `x_row` and `out_row` apart.
  void (*convolve)(
      const float* x, std::int64_t x_row, const float* weights, std::int64_t taps, float* out, std::int64_t out_row,
      std::int64_t tokens, std::int64_t channels);
  // exp(x), computed exactly as in the functions above.
  float (*exponential)(float x);
};

extern const Kernels kPortable;
#if defined(__x86_64__)
extern const Kernels kAvx2;
extern const Kernels kAvx512;
#endif

// The table for the level in use.
const Kernels& kernels();

}  // namespace sotto::fused
