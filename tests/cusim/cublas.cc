// A look-alike of libcublas: the calls that the engine makes. A product is a plain loop over the arguments as BLAS has
// them, by columns, done when the stream comes to it. Its sums are fused and in four parts, as no text of ours adds, so
// that nobody relies on their bits.
#include <dlfcn.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include "library.h"

#define CUBLAS_API extern "C" __attribute__((visibility("default")))

namespace {
enum Status { SUCCESS = 0, NOT_INITIALIZED = 1, INVALID_VALUE = 7, EXECUTION_FAILED = 13 };
enum { PEDANTIC = 2 };

struct Handle { void* stream = nullptr; int math = 0; };

template <class F> F* of_driver(const char* name) {
  static void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  return driver ? reinterpret_cast<F*>(dlsym(driver, name)) : nullptr;
}

// CUSIM_FAIL_CUBLAS=k: the k-th call of the library fails.
bool made_to_fail() {
  static unsigned long calls = 0;
  const char* fail = getenv("CUSIM_FAIL_CUBLAS");
  return ++calls, fail && calls == strtoul(fail, nullptr, 0);
}

template <class T> struct Product {
  bool ta, tb;
  long m, n, k;
  T alpha, beta;
  const T *a, *b;
  T* c;
  long lda, ldb, ldc;
};

template <class T> int run(void* data) {
  auto& p = *static_cast<Product<T>*>(data);
  auto touch = of_driver<LibraryTouch>("cusim_library_touch");
  const std::string call = sizeof(T) == 4 ? "cublasSgemm's " : "cublasDgemm's ";
  auto matrix = [&](const char* name, const T* at, long rows, long columns, long ld, int writes) {
    return touch((call + name).c_str(), at, size_t(columns), size_t(rows) * sizeof(T), size_t(ld) * sizeof(T), writes);
  };
  if (int code = matrix("A", p.a, p.ta ? p.k : p.m, p.ta ? p.m : p.k, p.lda, 0)) return code;
  if (int code = matrix("B", p.b, p.tb ? p.n : p.k, p.tb ? p.k : p.n, p.ldb, 0)) return code;
  if (p.beta != 0)
    if (int code = matrix("C", p.c, p.m, p.n, p.ldc, 0)) return code;
  if (int code = matrix("C", p.c, p.m, p.n, p.ldc, 1)) return code;
  for (long j = 0; j < p.n; j++)
    for (long i = 0; i < p.m; i++) {
      T part[4] = {};
      for (long l = 0; l < p.k; l++) {
        T x = p.ta ? p.a[i * p.lda + l] : p.a[l * p.lda + i], y = p.tb ? p.b[l * p.ldb + j] : p.b[j * p.ldb + l];
        part[l & 3] = std::fma(x, y, part[l & 3]);
      }
      T& c = p.c[j * p.ldc + i];
      c = p.alpha * ((part[0] + part[1]) + (part[2] + part[3])) + (p.beta != 0 ? p.beta * c : T(0));
    }
  return 0;
}
}  // namespace

CUBLAS_API int cublasCreate_v2(Handle** out) {
  if (made_to_fail() || !of_driver<LibraryWork>("cusim_library_work")) return NOT_INITIALIZED;
  *out = new Handle;
  return SUCCESS;
}
CUBLAS_API int cublasDestroy_v2(Handle* handle) {
  delete handle;
  return SUCCESS;
}
CUBLAS_API int cublasGetVersion_v2(Handle*, int* version) {
  *version = 130000;
  return SUCCESS;
}
CUBLAS_API int cublasSetStream_v2(Handle* handle, void* stream) {
  if (made_to_fail()) return EXECUTION_FAILED;
  handle->stream = stream;
  return SUCCESS;
}
CUBLAS_API int cublasSetMathMode(Handle* handle, int math) {
  handle->math = math;
  return SUCCESS;
}
template <class T>
static int gemm(Handle* handle, int ta, int tb, int m, int n, int k, const T* alpha, const T* a, int lda, const T* b,
                int ldb, const T* beta, T* c, int ldc) {
  if (made_to_fail()) return EXECUTION_FAILED;
  // What the engine promises of itself, beside what BLAS asks: no sums but of the type's own precision.
  bool modes = ta >= 0 && ta <= 1 && tb >= 0 && tb <= 1 && handle->math == PEDANTIC;
  bool extents = m >= 0 && n >= 0 && k >= 0;
  bool apart = lda >= std::max(1, ta ? k : m) && ldb >= std::max(1, tb ? n : k) && ldc >= std::max(1, m);
  if (!modes || !extents || !apart) return INVALID_VALUE;
  auto p = new Product<T>{ta == 1, tb == 1, m, n, k, *alpha, *beta, a, b, c, lda, ldb, ldc};
  auto work = of_driver<LibraryWork>("cusim_library_work");
  int code = work(handle->stream, run<T>, [](void* data) { delete static_cast<Product<T>*>(data); }, p);
  return code ? int(EXECUTION_FAILED) : int(SUCCESS);
}
#define CUBLAS_GEMM(name, T)                                                                                             \
  CUBLAS_API int name(Handle* handle, int ta, int tb, int m, int n, int k, const T* alpha, const T* a, int lda,          \
                      const T* b, int ldb, const T* beta, T* c, int ldc) {                                               \
    return gemm(handle, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);                                           \
  }
CUBLAS_GEMM(cublasSgemm_v2, float)
CUBLAS_GEMM(cublasDgemm_v2, double)
