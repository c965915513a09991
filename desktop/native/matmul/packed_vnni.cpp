// Products of a few rows of activations with affine and mxfp4 weights, which are multiplied where they lie: unpacking
// takes longer than multiplying three rows.
//
// A lane of a vector of weights is one word, and the words of a run are in neighbouring lanes. The products of a run are
// added up as integers, exactly. So for each row of weights only the totals of its runs are noted down; for 16 rows
// together they are then scaled and added up, in the order of the kernels in fixed_vnni.cpp, and with the same bits.
#include <immintrin.h>

#include "fixed.h"
#include "scales_vnni.h"

namespace sotto {
namespace {

// Rows of activations multiplied at a time.
constexpr int kMostRows = 4;
// Rows of weights multiplied at a time.
constexpr int kTogether = 4;
// Columns of all these rows that are multiplied at a time: their digits and the totals stay in the L1 cache.
constexpr ptrdiff_t kBandColumns = 8192;
constexpr ptrdiff_t kLine = 64;

// Weights in a format, in runs of `Run` columns.
template <Format format_, int Run>
struct Weights {
  static constexpr Format format = format_;
  static constexpr int run = Run;
  static constexpr bool nibbles = has_nibbles(format);
  // Integers for the products of a run: for all digits, or for the first one and for the others.
  static constexpr int sums = is_wide(format) ? 2 : 1;
  static constexpr int halves = nibbles ? 2 : 1;
  // The columns of a vector, and its lanes for each run.
  static constexpr int columns = digit_columns(format, Run);
  static constexpr int run_lanes = kLanes * Run / columns;
  // The vectors of four runs.
  static constexpr int quad_vectors = run_lanes / 4;

  // The codes of a vector of weights: those of the low halves of its bytes and those of the high ones, or its bytes.
  static void codes(__m512i words, __m512i (&to)[halves]) {
    if constexpr (nibbles) {
      const __m512i mask = _mm512_set1_epi32(0x0f0f0f0f);
      const __m512i low = _mm512_and_si512(words, mask), high = _mm512_and_si512(_mm512_srli_epi32(words, 4), mask);
      to[0] = format == Format::mxfp4 ? fp4_codes(low) : low;
      to[1] = format == Format::mxfp4 ? fp4_codes(high) : high;
    } else {
      to[0] = words;
    }
  }

  // The sums of each lane's products with activations in digits. The instructions for a vector wait for each other, which
  // takes no time while there are four rows of them.
  static void products(const __m512i (&codes)[halves], const int8_t* digits, __m512i (&to)[sums]) {
    __m512i total = _mm512_setzero_si512();
#pragma GCC unroll 3
    for (int place = 0; place < kFixedDigits; ++place) {
#pragma GCC unroll 2
      for (int half = 0; half < halves; ++half) {
        add_products(total, codes[half], _mm512_loadu_si512(digits + place * columns + half * 64));
      }
      if (place == 0 && sums == 2) {
        to[sums - 1] = total;
        total = _mm512_setzero_si512();
      } else if (place + 1 < kFixedDigits) {
        total = _mm512_slli_epi32(total, kDigitBits);
      }
    }
    to[0] = total;
  }
};

// Add up neighbouring lanes of four vectors, four lanes each: lane i of a quarter is the sum of that quarter of vector i.
inline __m512i add_quarters(const __m512i (&from)[kTogether]) {
  const auto added = [](__m512i a, __m512i b) {
    return _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
  };
  const __m512i left = added(from[0], from[1]), right = added(from[2], from[3]);
  return _mm512_add_epi32(_mm512_unpacklo_epi64(left, right), _mm512_unpackhi_epi64(left, right));
}

// Add up neighbouring quarters of two vectors.
inline __m512i add_pairs(__m512i a, __m512i b) {
  return _mm512_add_epi32(_mm512_shuffle_i32x4(a, b, 0x88), _mm512_shuffle_i32x4(a, b, 0xdd));
}

// Prefetches the weights of the next 16 rows, evenly and in the order of their addresses. Otherwise memory would be idle
// while totals are added up, and the processor's own prefetching would not follow four rows that are read at a time.
class Fetcher {
 public:
  explicit Fetcher(const uint8_t* next) : next_(next) {}

  template <int Lines>
  void fetch() {
#pragma GCC unroll 16
    for (int line = 0; line < Lines; ++line, next_ += kLine) {
      __builtin_prefetch(next_, 0, 2);
    }
  }

 private:
  const uint8_t* next_;
};

// Runs first_run .. first_run + runs of 16 rows of weights from `top`, of which those from `end` on are missing.
struct Band {
  const Matrix& matrix;
  ptrdiff_t top, end, first_run, runs;
};

// The totals of a band as vectors of four runs by four rows of weights: [rows of activations, sums, runs / 4, 4].
struct Totals {
  alignas(64) __m512i vectors[2 * kBandColumns / 32];
  ptrdiff_t quads;

  __m512i* at(ptrdiff_t sum, ptrdiff_t quad) { return vectors + (sum * quads + quad) * kTogether; }
};

// The totals of four runs of four rows of weights with M rows of activations. Weights are at `from`. If not `Whole`,
// there are only so many words.
template <typename W, int M, bool Whole>
inline void sum_four(const uint8_t* (&from)[kTogether], Fetcher& fetcher, const int8_t* digits, ptrdiff_t stride,
                     ptrdiff_t words, __m512i (&totals)[M][W::sums]) {
  __m512i quarters[M][W::sums][W::quad_vectors];
#pragma GCC unroll 4
  for (int v = 0; v < W::quad_vectors; ++v) {
    // Three quarters here and the rest in add_runs, which takes about as much of the time.
    fetcher.fetch<kTogether - 1>();
    __m512i codes[kTogether][W::halves];
#pragma GCC unroll 4
    for (int r = 0; r < kTogether; ++r) {
      const __mmask16 there = first_lanes(words - v * kLanes);
      W::codes(Whole ? _mm512_loadu_si512(from[r]) : _mm512_maskz_loadu_epi32(there, from[r]), codes[r]);
      from[r] += kLine;
    }
#pragma GCC unroll 4
    for (int k = 0; k < M; ++k) {
      __m512i lanes[W::sums][kTogether];
#pragma GCC unroll 4
      for (int r = 0; r < kTogether; ++r) {
        __m512i found[W::sums];
        W::products(codes[r], digits + k * stride + v * (kFixedDigits * W::columns), found);
#pragma GCC unroll 2
        for (int sum = 0; sum < W::sums; ++sum) {
          lanes[sum][r] = found[sum];
        }
      }
#pragma GCC unroll 2
      for (int sum = 0; sum < W::sums; ++sum) {
        quarters[k][sum][v] = add_quarters(lanes[sum]);
      }
    }
  }
#pragma GCC unroll 4
  for (int k = 0; k < M; ++k) {
#pragma GCC unroll 2
    for (int sum = 0; sum < W::sums; ++sum) {
      const __m512i(&of)[W::quad_vectors] = quarters[k][sum];
      if constexpr (W::quad_vectors == 1) {
        totals[k][sum] = of[0];
      } else if constexpr (W::quad_vectors == 2) {
        totals[k][sum] = add_pairs(of[0], of[1]);
      } else {
        totals[k][sum] = add_pairs(add_pairs(of[0], of[1]), add_pairs(of[2], of[3]));
      }
    }
  }
}

// Write the totals for four rows of weights of a band, from its given one.
template <typename W, int M>
void sum_runs(const Band& band, const FixedRows& x, int first, Totals& totals, Fetcher& fetcher) {
  const Matrix& matrix = band.matrix;
  const ptrdiff_t row_bytes = matrix.columns * kLine / W::columns;
  const ptrdiff_t first_vector = band.first_run * W::run / W::columns;
  constexpr ptrdiff_t kInPart = kFixedColumns / (4 * W::run);
  const uint8_t* from[kTogether];
#pragma GCC unroll 4
  for (int r = 0; r < kTogether; ++r) {
    from[r] = matrix.weights + smaller(band.top + first + r, band.end - 1) * row_bytes + first_vector * kLine;
  }
  // The scales of the rows in this place of the next 16. Those of four rows lie together; each four runs fetch a part.
  const ptrdiff_t type = W::format == Format::mxfp4 ? 1 : matrix.scale_type == ScaleType::f32 ? 4 : 2;
  const ptrdiff_t scales_step = kTogether * 4 * W::run * type / matrix.group;
  const ptrdiff_t in_row = matrix.columns / matrix.group * type;
  ptrdiff_t scales = (band.top + kLanes + first) * in_row + band.first_run / 4 * scales_step;
  const int8_t* part = x.digits + band.first_run * W::run / kFixedColumns * x.part;
  for (ptrdiff_t quad = 0; quad < totals.quads; part += x.part) {
    const int8_t* digits = part;
    for (ptrdiff_t end = smaller(totals.quads, quad + kInPart); quad < end; ++quad) {
      const ptrdiff_t words = (band.runs - 4 * quad) * W::run_lanes;
      if ((scales & (kLine - 1)) < scales_step) {
        __builtin_prefetch(matrix.scales + scales, 0, 2);
        if constexpr (W::format != Format::mxfp4) {
          __builtin_prefetch(matrix.biases + scales, 0, 2);
        }
      }
      scales += scales_step;
      __m512i found[M][W::sums];
      const auto sum = words >= W::quad_vectors * kLanes ? sum_four<W, M, true> : sum_four<W, M, false>;
      sum(from, fetcher, digits, x.stride, words, found);
#pragma GCC unroll 4
      for (int k = 0; k < M; ++k) {
#pragma GCC unroll 2
        for (int which = 0; which < W::sums; ++which) {
          _mm512_store_si512(totals.at(k * W::sums + which, quad) + first / kTogether, found[k][which]);
        }
      }
      digits += W::quad_vectors * kFixedDigits * W::columns;
    }
  }
}

// Turn vectors of four runs by four rows into vectors of 16 rows, one for each run.
inline void transpose_quarters(const __m512i* from, __m512i (&to)[kTogether]) {
  const __m512i low = _mm512_shuffle_i32x4(from[0], from[1], 0x44), high = _mm512_shuffle_i32x4(from[0], from[1], 0xee);
  const __m512i low2 = _mm512_shuffle_i32x4(from[2], from[3], 0x44);
  const __m512i high2 = _mm512_shuffle_i32x4(from[2], from[3], 0xee);
  to[0] = _mm512_shuffle_i32x4(low, low2, 0x88);
  to[1] = _mm512_shuffle_i32x4(low, low2, 0xdd);
  to[2] = _mm512_shuffle_i32x4(high, high2, 0x88);
  to[3] = _mm512_shuffle_i32x4(high, high2, 0xdd);
}

// results += the scaled totals of a band, for each row of activations, in the order of scale_up in fixed_vnni.cpp.
template <typename W, int M>
void add_runs(const Band& band, const FixedRows& x, Totals& totals, __m512 (&results)[M], Fetcher& fetcher) {
  constexpr ptrdiff_t kInPart = kFixedColumns / W::run;
  alignas(64) float scales[kLanes][2][kLanes];
  for (ptrdiff_t begin = 0; begin < band.runs; begin += kLanes) {
    const ptrdiff_t count = smaller(kLanes, band.runs - begin), first_run = band.first_run + begin;
    unpack_scales(band.matrix, band.top, band.end, first_run, count, scales[0][0], kLanes);
#pragma GCC unroll 4
    for (int k = 0; k < M; ++k) {
      const float* x_scales = x.scales + k * x.runs + first_run;
      const float* x_sums = x.sums + k * x.runs + first_run;
      __m512 total = _mm512_setzero_ps();
      for (ptrdiff_t run = 0; run < count; run += kTogether) {
        if (k == 0) {
          fetcher.fetch<kTogether * W::quad_vectors>();
        }
        __m512i whole[W::sums][kTogether];
#pragma GCC unroll 2
        for (int sum = 0; sum < W::sums; ++sum) {
          transpose_quarters(totals.at(k * W::sums + sum, (begin + run) / kTogether), whole[sum]);
        }
#pragma GCC unroll 4
        for (int next = 0; next < kTogether; ++next) {
          if (run + next < count) {
            const __m512 scale = _mm512_load_ps(scales[run + next][0]), bias = _mm512_load_ps(scales[run + next][1]);
            const float own = x_scales[run + next];
            if constexpr (W::sums == 2) {
              const __m512 place = _mm512_set1_ps(own * (1 << (2 * kDigitBits)));
              total = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole[1][next]), _mm512_mul_ps(place, scale), total);
            }
            const __m512 both = _mm512_mul_ps(_mm512_set1_ps(own), scale);
            total = _mm512_fmadd_ps(_mm512_cvtepi32_ps(whole[0][next]), both, total);
            total = _mm512_fmadd_ps(_mm512_set1_ps(x_sums[run + next]), bias, total);
          }
        }
        // The end of a part, or of all.
        if ((run + kTogether) % kInPart == 0 || run + kTogether >= count) {
          results[k] = first_run + run >= kInPart ? _mm512_add_ps(results[k], total) : total;
          total = _mm512_setzero_ps();
        }
      }
    }
  }
}

template <typename W, int M>
void multiply_rows(const Matrix& matrix, const FixedRows& x, float* y, ptrdiff_t y_stride, ptrdiff_t begin,
                   ptrdiff_t end) {
  constexpr ptrdiff_t kBandRuns = kBandColumns / (M > 2 ? 4 : M) / W::run;
  Totals totals;
  for (ptrdiff_t top = begin; top < end; top += kLanes) {
    Fetcher fetcher(matrix.weights + (top + kLanes) * (matrix.columns * kLine / W::columns));
    __m512 results[M];
    for (ptrdiff_t first = 0; first < x.runs; first += kBandRuns) {
      const Band band{matrix, top, end, first, smaller(kBandRuns, x.runs - first)};
      totals.quads = (band.runs + 3) / 4;
      for (int row = 0; row < smaller(kLanes, end - top); row += kTogether) {
        sum_runs<W, M>(band, x, row, totals, fetcher);
      }
      add_runs<W, M>(band, x, totals, results, fetcher);
    }
#pragma GCC unroll 4
    for (int k = 0; k < M; ++k) {
      _mm512_mask_storeu_ps(y + k * y_stride + top, first_lanes(end - top), results[k]);
    }
  }
}

template <typename W>
void multiply(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, float* y, ptrdiff_t y_stride, ptrdiff_t begin,
              ptrdiff_t end) {
  constexpr decltype(&multiply_rows<W, 1>) kKernels[] = {nullptr, multiply_rows<W, 1>, multiply_rows<W, 2>,
                                                         multiply_rows<W, 3>, multiply_rows<W, 4>};
  kKernels[rows](matrix, x, y, y_stride, begin, end);
}

}  // namespace

void multiply_packed_vnni(const Matrix& matrix, const FixedRows& x, ptrdiff_t rows, float* y, ptrdiff_t y_stride,
                          ptrdiff_t begin, ptrdiff_t end) {
  const bool is_short = run_of(matrix) == 32;
  const auto kernel = matrix.format == Format::mxfp4 ? multiply<Weights<Format::mxfp4, 32>>
                      : matrix.format == Format::affine4
                          ? (is_short ? multiply<Weights<Format::affine4, 32>> : multiply<Weights<Format::affine4, 64>>)
                          : (is_short ? multiply<Weights<Format::affine8, 32>> : multiply<Weights<Format::affine8, 64>>);
  for (ptrdiff_t m = 0; m < rows; m += kMostRows) {
    kernel(matrix, rows_from(x, m), smaller(kMostRows, rows - m), y + m * y_stride, y_stride, begin, end);
  }
}

}  // namespace sotto
