// The BLAS for products of many rows that no kernel computes. Python, which finds the library, passes its address.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sotto {

// Values of the C interface to BLAS.
constexpr int kRowMajor = 101;
constexpr int kPlain = 111;
constexpr int kTransposed = 112;

// A `cblas_sgemm` with 32-bit indices.
using Sgemm = void (*)(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float* a, int a_stride,
                       const float* b, int b_stride, float beta, float* c, int c_stride);

// Set the address of an Sgemm that runs on the calling thread alone; 0 for none.
void set_sgemm(std::uintptr_t address);

bool has_sgemm();

// c[m, n] = a[m, k] . b[n, k], all row-major, on the calling thread. May be called from several threads at once, but
// only if an Sgemm is set.
void sgemm(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, const float* a, std::ptrdiff_t a_stride, const float* b,
           std::ptrdiff_t b_stride, float* c, std::ptrdiff_t c_stride);

// The Sgemm, with large products divided among the threads of the pool. For MLX's own products.
void divided_sgemm(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float* a, int a_stride,
                   const float* b, int b_stride, float beta, float* c, int c_stride);

}  // namespace sotto

// The BLAS that MLX calls, which divides products in its own way: what it computes has the bits of MLX's products.
extern "C" void cblas_sgemm(int order, int a_form, int b_form, int m, int n, int k, float alpha, const float* a,
                            int a_stride, const float* b, int b_stride, float beta, float* c, int c_stride);
