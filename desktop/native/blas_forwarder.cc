// The BLAS functions that MLX calls, forwarded to the OpenBLAS of the package scipy-openblas32, which renames them.
//
// WORKAROUND: MLX's wheel contains the slow reference BLAS. Loaded with global symbols after OpenBLAS and before MLX,
// this library takes its place. Check with new versions of MLX whether the wheel contains a faster BLAS.
//
// Matrix products can also be passed to a function that divides them among threads.
//
// WORKAROUND: products with a vector call sgemv, because OpenBLAS's sgemm does not detect them and packs the matrix
// needlessly. Check with new versions of scipy-openblas32.
#include <atomic>

namespace {

// Values of the C interface to BLAS.
constexpr int kRowMajor = 101;
constexpr int kPlain = 111;
constexpr int kTransposed = 112;

}  // namespace

extern "C" {

using Sgemm = void (*)(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float* a, int a_stride,
                       const float* b, int b_stride, float beta, float* c, int c_stride);

void scipy_cblas_sgemm(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float* a, int a_stride,
                       const float* b, int b_stride, float beta, float* c, int c_stride);
void scipy_cblas_dgemm(int order, int a_form, int b_form, int m, int n, int k, double alpha, const double* a,
                       int a_stride, const double* b, int b_stride, double beta, double* c, int c_stride);
void scipy_cblas_cgemm(int order, int a_form, int b_form, int m, int n, int k, const void* alpha, const void* a,
                       int a_stride, const void* b, int b_stride, const void* beta, void* c, int c_stride);
void scipy_cblas_sgemv(int order, int form, int m, int n, float alpha, const float* a, int a_stride, const float* x,
                       int x_step, float beta, float* y, int y_step);

__attribute__((visibility("default"))) void sotto_blas_divide_with(Sgemm divider);
__attribute__((visibility("default"))) void cblas_sgemm(int order, int a_form, int b_form, int m, int n, int k,
                                                        float alpha, const float* a, int a_stride, const float* b,
                                                        int b_stride, float beta, float* c, int c_stride);
__attribute__((visibility("default"))) void cblas_dgemm(int order, int a_form, int b_form, int m, int n, int k,
                                                        double alpha, const double* a, int a_stride, const double* b,
                                                        int b_stride, double beta, double* c, int c_stride);
__attribute__((visibility("default"))) void cblas_cgemm(int order, int a_form, int b_form, int m, int n, int k,
                                                        const void* alpha, const void* a, int a_stride, const void* b,
                                                        int b_stride, const void* beta, void* c, int c_stride);

static std::atomic<Sgemm> divided{nullptr};

// Let `divider` compute matrix products from now on; null for OpenBLAS alone.
void sotto_blas_divide_with(Sgemm divider) { divided.store(divider); }

void cblas_sgemm(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float* a, int a_stride,
                 const float* b, int b_stride, float beta, float* c, int c_stride) {
  const bool known = (a_form == kPlain || a_form == kTransposed) && (b_form == kPlain || b_form == kTransposed);
  if (order == kRowMajor && known && k > 0 && m == 1) {
    const int step = a_form == kPlain ? 1 : a_stride;
    if (b_form == kTransposed) {
      scipy_cblas_sgemv(kRowMajor, kPlain, n, k, alpha, b, b_stride, a, step, beta, c, 1);
    } else {
      scipy_cblas_sgemv(kRowMajor, kTransposed, k, n, alpha, b, b_stride, a, step, beta, c, 1);
    }
    return;
  }
  if (order == kRowMajor && known && k > 0 && n == 1) {
    const int step = b_form == kPlain ? b_stride : 1;
    if (a_form == kPlain) {
      scipy_cblas_sgemv(kRowMajor, kPlain, m, k, alpha, a, a_stride, b, step, beta, c, c_stride);
    } else {
      scipy_cblas_sgemv(kRowMajor, kTransposed, k, m, alpha, a, a_stride, b, step, beta, c, c_stride);
    }
    return;
  }
  const Sgemm compute = divided.load(std::memory_order_relaxed);
  (compute != nullptr ? compute : scipy_cblas_sgemm)(order, a_form, b_form, m, n, k, alpha, a, a_stride, b, b_stride,
                                                     beta, c, c_stride);
}

void cblas_dgemm(int order, int a_form, int b_form, int m, int n, int k, double alpha, const double* a, int a_stride,
                 const double* b, int b_stride, double beta, double* c, int c_stride) {
  scipy_cblas_dgemm(order, a_form, b_form, m, n, k, alpha, a, a_stride, b, b_stride, beta, c, c_stride);
}

void cblas_cgemm(int order, int a_form, int b_form, int m, int n, int k, const void* alpha, const void* a, int a_stride,
                 const void* b, int b_stride, const void* beta, void* c, int c_stride) {
  scipy_cblas_cgemm(order, a_form, b_form, m, n, k, alpha, a, a_stride, b, b_stride, beta, c, c_stride);
}
}
