// The kernels, written once for all instruction sets; SOTTO_LANES and SOTTO_TABLE select one.
#pragma once

#include "fused/kernels.h"
#include "fused/packed_impl.h"
#include "fused/products_impl.h"
#include "fused/recurrence_impl.h"
#include "fused/vector.h"

namespace {

using sotto::fused::Activation;
using sotto::fused::kKeyBlock;
using sotto::fused::Softmax;
using std::int64_t;

// Norms.

void rms_norm(const float* x, const float* weight, float* out, int64_t n, float eps) {
  Floats sums[4] = {};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int u = 0; u < 4; ++u) {
      const Floats v = load(x + i + u * kLanes);
      sums[u] = fused(v, v, sums[u]);
    }
  }
  for (; i < n; i += kLanes) {
    const Floats v = n - i >= kLanes ? load(x + i) : load_some(x + i, n - i);
    sums[0] = fused(v, v, sums[0]);
  }
  const float total = sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
  const float factor = 1.0f / __builtin_sqrtf(total / static_cast<float>(n) + eps);
  for (i = 0; i + kLanes <= n; i += kLanes) {
    const Floats v = load(x + i) * factor;
    store(out + i, weight ? v * load(weight + i) : v);
  }
  for (; i < n; ++i) out[i] = weight ? x[i] * factor * weight[i] : x[i] * factor;
}

void layer_norm(const float* x, const float* weight, const float* bias, float* out, int64_t n, float eps) {
  const float count = static_cast<float>(n);
  Floats sums = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) sums = sums + load(x + i);
  float total = sum(sums);
  for (; i < n; ++i) total += x[i];
  const float mean = total / count;
  sums = Floats{};
  for (i = 0; i + kLanes <= n; i += kLanes) {
    const Floats v = load(x + i) - mean;
    sums = fused(v, v, sums);
  }
  total = sum(sums);
  for (; i < n; ++i) total += (x[i] - mean) * (x[i] - mean);
  const float factor = 1.0f / __builtin_sqrtf(total / count + eps);
  for (i = 0; i + kLanes <= n; i += kLanes) {
    Floats v = (load(x + i) - mean) * factor;
    if (weight) v = v * load(weight + i);
    if (bias) v = v + load(bias + i);
    store(out + i, v);
  }
  for (; i < n; ++i) {
    float v = (x[i] - mean) * factor;
    if (weight) v = v * weight[i];
    if (bias) v = v + bias[i];
    out[i] = v;
  }
}

// Rotary positions.

// The sine and cosine of half a vector of angles. Range reduction and polynomials are in double precision: positions
// reach a million, where float32 would leave no significant bits of the remainder.
inline void sine_and_cosine(HalfFloats angle, HalfFloats* sine, HalfFloats* cosine) {
  const Doubles x = __builtin_convertvector(angle, Doubles);
  const Doubles magic = 6755399441055744.0 - Doubles{};  // 1.5 * 2^52
  const Doubles shifted = x * 0.63661977236758134308 + magic;
  const Doubles n = shifted - magic;
  Doubles r = x - n * 1.57079632673412561417e+00;  // pi / 2 in two parts, the first with 33 bits
  r = r - n * 6.07710050650619224932e-11;
  const Doubles z = r * r;
  Doubles s = z * 2.7175644142316685e-06 - 0.00019839256628746867;
  s = s * z + 0.008333329143895563;
  s = s * z - 0.16666666639557615;
  s = s * z * r + r;
  Doubles c = z * -2.720330299404365e-07 + 2.4799436397885538e-05;
  c = c * z - 0.0013888883438378718;
  c = c * z + 0.04166666661920361;
  c = c * z * z - 0.5 * z + 1.0;
  const Longs quadrant = reinterpret_cast<Longs>(shifted);
  const Longs swap = (quadrant & 1) != 0;
  const Doubles first = swap ? c : s;
  const Doubles second = swap ? s : c;
  const Doubles signed_first = (quadrant & 2) != 0 ? -first : first;
  const Doubles signed_second = ((quadrant + 1) & 2) != 0 ? -second : second;
  *sine = __builtin_convertvector(signed_first, HalfFloats);
  *cosine = __builtin_convertvector(signed_second, HalfFloats);
}

void angles(float position, const float* frequencies, float* cosines, float* sines, int64_t n) {
  constexpr int64_t step = kLanes / 2;
  for (int64_t i = 0; i < n; i += step) {
    const int64_t count = n - i < step ? n - i : step;
    HalfFloats angle = {};
    std::memcpy(&angle, frequencies + i, static_cast<std::size_t>(count) * sizeof(float));
    angle = angle * position;
    HalfFloats sine;
    HalfFloats cosine;
    sine_and_cosine(angle, &sine, &cosine);
    std::memcpy(sines + i, &sine, static_cast<std::size_t>(count) * sizeof(float));
    std::memcpy(cosines + i, &cosine, static_cast<std::size_t>(count) * sizeof(float));
  }
}

void rotate_halves(const float* x, const float* cosines, const float* sines, float* out, int64_t half) {
  int64_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    const Floats a = load(x + i);
    const Floats b = load(x + half + i);
    const Floats c = load(cosines + i);
    const Floats s = load(sines + i);
    store(out + i, a * c - b * s);
    store(out + half + i, a * s + b * c);
  }
  for (; i < half; ++i) {
    const float a = x[i];
    const float b = x[half + i];
    out[i] = a * cosines[i] - b * sines[i];
    out[half + i] = a * sines[i] + b * cosines[i];
  }
}

void rotate_pairs(const float* x, const float* cosines, const float* sines, float* out, int64_t half) {
  for (int64_t i = 0; i < half; ++i) {
    const float a = x[2 * i];
    const float b = x[2 * i + 1];
    out[2 * i] = a * cosines[i] - b * sines[i];
    out[2 * i + 1] = a * sines[i] + b * cosines[i];
  }
}

// Activations.

// 1 / (1 + exp(-x)), accurate in both tails.
inline Floats sigmoid(Floats x) {
  const Floats e = exponential(x < 0.0f ? x : -x);
  return (x < 0.0f ? e : all(1.0f)) / (1.0f + e);
}

// erf(x): an odd polynomial for |x| < 1, and 1 - exp(-q(|x|)) above, which is 1 in float32 from |x| = 4.
inline Floats error_function(Floats x) {
  const Floats z = x * x;
  Floats near = all(7.88911946662113e-05f);
  near = fused(near, z, -0.0008020841260344275f);
  near = fused(near, z, 0.0051895353371412545f);
  near = fused(near, z, -0.026854444590727902f);
  near = fused(near, z, 0.11283600176226968f);
  near = fused(near, z, -0.376126271359625f);
  near = fused(near, z, 1.128379165913751f);
  near = near * x;
  const Floats t = smaller(x < 0.0f ? -x : x, all(4.0f));
  Floats far = all(2.171869296008211e-05f);
  far = fused(far, t, -0.0004417277872430514f);
  far = fused(far, t, 0.004206579104814923f);
  far = fused(far, t, -0.025213909044663696f);
  far = fused(far, t, 0.10842788083158827f);
  far = fused(far, t, 0.6332108931591496f);
  far = fused(far, t, 1.129583164943312f);
  far = fused(far, t, -0.0001890898675711108f);
  far = 1.0f - exponential(-far);
  far = x < 0.0f ? -far : far;
  return z < 1.0f ? near : (x == x ? far : x);
}

template <Activation kind>
inline Floats activated(Floats gate, Floats x, float slope, float limit) {
  if constexpr (kind == Activation::silu) {
    return gate * sigmoid(gate);
  } else if constexpr (kind == Activation::gelu) {
    return gate * (1.0f + error_function(gate * 0.70710678118654752f)) * 0.5f;
  } else if constexpr (kind == Activation::gelu_tanh) {
    // (1 + tanh(y)) / 2 is the sigmoid of 2 y.
    const Floats cube = gate * gate * gate;
    return gate * sigmoid((gate + cube * 0.044715f) * 1.5957691216057308f);
  } else if constexpr (kind == Activation::gelu_sigmoid) {
    return gate * sigmoid(gate * 1.702f);
  } else {
    const Floats g = gate > limit ? all(limit) : gate;
    Floats linear = x > limit ? all(limit) : x;
    linear = linear < -limit ? all(-limit) : linear;
    return (linear + 1.0f) * (g * sigmoid(g * slope));
  }
}

template <Activation kind>
void activate_all(const float* gate, const float* x, float* out, int64_t n, float slope, float limit) {
  for (int64_t i = 0; i < n; i += kLanes) {
    const int64_t count = n - i < kLanes ? n - i : kLanes;
    const bool whole = count == kLanes;
    const Floats g = whole ? load(gate + i) : load_some(gate + i, count);
    const Floats other = !x ? all(1.0f) : whole ? load(x + i) : load_some(x + i, count);
    Floats value = activated<kind>(g, other, slope, limit);
    if (x && kind != Activation::clipped_swiglu) value = value * other;
    if (whole) {
      store(out + i, value);
    } else {
      store_some(out + i, value, count);
    }
  }
}

void activate(Activation kind, const float* gate, const float* x, float* out, int64_t n, float slope, float limit) {
  switch (kind) {
    case Activation::silu: return activate_all<Activation::silu>(gate, x, out, n, slope, limit);
    case Activation::gelu: return activate_all<Activation::gelu>(gate, x, out, n, slope, limit);
    case Activation::gelu_tanh: return activate_all<Activation::gelu_tanh>(gate, x, out, n, slope, limit);
    case Activation::gelu_sigmoid: return activate_all<Activation::gelu_sigmoid>(gate, x, out, n, slope, limit);
    case Activation::clipped_swiglu: return activate_all<Activation::clipped_swiglu>(gate, x, out, n, slope, limit);
  }
}

// The running softmax.

constexpr float kNone = -__builtin_inff();

void scale(const float* x, float factor, float* out, int64_t n) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) store(out + i, load(x + i) * factor);
  for (; i < n; ++i) out[i] = x[i] * factor;
}

float exponential_of_one(float x) { return exponential(all(x))[0]; }

void soften_rows(float* scores, int64_t rows, int64_t count, Softmax state, float* out, int64_t width) {
  for (int64_t r = 0; r < rows; ++r) {
    float* row = scores + r * kKeyBlock;
    Floats most = all(state.largest[r]);
    int64_t j = 0;
    for (; j + kLanes <= count; j += kLanes) most = larger(load(row + j), most);
    float top = largest(most);
    for (; j < count; ++j) top = row[j] > top ? row[j] : top;
    const float base = top == kNone ? 0.0f : top;
    Floats sums = {};
    for (j = 0; j < count; j += kLanes) {
      const int64_t here = count - j < kLanes ? count - j : kLanes;
      const Floats value = here == kLanes ? load(row + j) : load_some(row + j, here);
      const Floats weights = exponential(value - base);
      if (here == kLanes) {
        store(row + j, weights);
        sums = sums + weights;
      } else {
        store_some(row + j, weights, here);
        sums = sums + load_some(row + j, here);
      }
    }
    const float factor = exponential_of_one(state.largest[r] - base);
    state.total[r] = state.total[r] * factor + sum(sums);
    state.largest[r] = top;
    if (factor != 1.0f) scale(out + r * width, factor, out + r * width, width);
  }
}

void soften_columns(
    float* scores, int64_t rows, int64_t row_stride, int64_t count, Softmax state, float* rescale, float* out,
    int64_t width) {
  for (int64_t r = 0; r < row_stride; r += kLanes) {
    const Floats before = load(state.largest + r);
    Floats top = before;
    for (int64_t j = 0; j < count; ++j) top = larger(load(scores + j * row_stride + r), top);
    const Floats base = top == kNone ? Floats{} : top;
    Floats sums = {};
    for (int64_t j = 0; j < count; ++j) {
      const Floats weights = exponential(load(scores + j * row_stride + r) - base);
      store(scores + j * row_stride + r, weights);
      sums = sums + weights;
    }
    const Floats factor = exponential(before - base);
    store(state.total + r, load(state.total + r) * factor + sums);
    store(state.largest + r, top);
    store(rescale + r, factor);
  }
  for (int64_t r = 0; r < rows; ++r) {
    if (rescale[r] != 1.0f) scale(out + r * width, rescale[r], out + r * width, width);
  }
}

}  // namespace

namespace sotto::fused {

const Kernels SOTTO_TABLE = {
    rms_norm,
    layer_norm,
    angles,
    rotate_halves,
    rotate_pairs,
    activate,
    multiply<float>,
    multiply_packed,
    dot<float>,
    dot_packed,
    soften_rows,
    soften_columns,
    scale,
    pack,
    unpack,
    recur,
    convolve,
    exponential_of_one,
};

}  // namespace sotto::fused
