// What a printed CUDA text sees when g++ compiles it: the part of CUDA C++ that NVRTC has built in.
//
// No standard header is included, as NVRTC has none. Everything that waits for other threads is a call into the
// runtime with its *site*, a number of the source place: g++ may duplicate or merge calls, so that a return address
// would call one barrier two, and two barriers one.
#pragma once

// ---------------------------------------------------------------------------------------------------- the runtime
struct cusim_dim3 { unsigned x, y, z; };
extern "C" {
// A thread's coordinates never change, so g++ may keep them in registers across a switch of threads.
cusim_dim3 cusim_thread_idx() __attribute__((const));
cusim_dim3 cusim_block_idx() __attribute__((const));
cusim_dim3 cusim_block_dim() __attribute__((const));
cusim_dim3 cusim_grid_dim() __attribute__((const));
void cusim_barrier(unsigned site);
void cusim_fence();
void cusim_pause();
unsigned long long cusim_collective(int op, unsigned mask, unsigned long long value, int argument, unsigned site);
unsigned long long cusim_atomic(void* at, int op, int type, unsigned long long value, unsigned long long compare);
[[noreturn]] void cusim_trap();
}
#define CUSIM_SITE (__COUNTER__ + 1)
#define CUSIM_INLINE static inline __attribute__((always_inline))

#define threadIdx cusim_thread_idx()
#define blockIdx cusim_block_idx()
#define blockDim cusim_block_dim()
#define gridDim cusim_grid_dim()
#define warpSize 32
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __constant__ static
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __CUDA_ARCH__ 900
#define NO_PTX 1  // g++ assembles none
#define CUSIM 1
// Each kernel has its own section, named by the compile driver, whose bounds are the kernel's shared memory.
#define __shared__ static __attribute__((section(CUSIM_SECTION), aligned(16), used))

// ------------------------------------------------------------------------------------------------- barriers, warps
#define __syncthreads() cusim_barrier(CUSIM_SITE)
#define __threadfence() cusim_fence()
// Within a block the race rules know only barriers and warp collectives; a fence alone orders nothing there.
#define __threadfence_block() ((void)0)
#define __trap() cusim_trap()
#define __nanosleep(ns) ((void)(ns), cusim_pause())

enum { CUSIM_SYNC, CUSIM_SHFL, CUSIM_UP, CUSIM_DOWN, CUSIM_XOR, CUSIM_BALLOT, CUSIM_ALL, CUSIM_MATCH };

template <class To, class From> CUSIM_INLINE To cusim_bits(From from) {
  To to{};
  __builtin_memcpy(&to, &from, sizeof(To) < sizeof(From) ? sizeof(To) : sizeof(From));
  return to;
}
template <class T> CUSIM_INLINE T cusim_shuffle(int op, unsigned mask, T value, int argument, unsigned site) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  return cusim_bits<T>(cusim_collective(op, mask, cusim_bits<unsigned long long>(value), argument, site));
}
#define __syncwarp(...) cusim_syncwarp(CUSIM_SITE __VA_OPT__(, ) __VA_ARGS__)
CUSIM_INLINE void cusim_syncwarp(unsigned site, unsigned mask = ~0u) { cusim_collective(CUSIM_SYNC, mask, 0, 0, site); }
#define __shfl_sync(mask, value, lane) cusim_shuffle(CUSIM_SHFL, mask, value, lane, CUSIM_SITE)
#define __shfl_up_sync(mask, value, by) cusim_shuffle(CUSIM_UP, mask, value, by, CUSIM_SITE)
#define __shfl_down_sync(mask, value, by) cusim_shuffle(CUSIM_DOWN, mask, value, by, CUSIM_SITE)
#define __shfl_xor_sync(mask, value, by) cusim_shuffle(CUSIM_XOR, mask, value, by, CUSIM_SITE)
#define __ballot_sync(mask, test) ((unsigned)cusim_collective(CUSIM_BALLOT, mask, (test) != 0, 0, CUSIM_SITE))
#define __any_sync(mask, test) ((int)(cusim_collective(CUSIM_BALLOT, mask, (test) != 0, 0, CUSIM_SITE) != 0))
#define __all_sync(mask, test) ((int)cusim_collective(CUSIM_ALL, mask, (test) != 0, 0, CUSIM_SITE))
#define __match_any_sync(mask, value) \
  ((unsigned)cusim_collective(CUSIM_MATCH, mask, cusim_bits<unsigned long long>(value), 0, CUSIM_SITE))

// --------------------------------------------------------------------------------------------------------- atomics
// Overloads exist for the types for which the device has them: no atomicAdd on long long, no atomicMax on double.
enum { CUSIM_ADD, CUSIM_MIN, CUSIM_MAX, CUSIM_EXCH, CUSIM_OR, CUSIM_AND, CUSIM_XOR_BITS, CUSIM_CAS };
enum { CUSIM_I32, CUSIM_U32, CUSIM_I64, CUSIM_U64, CUSIM_F32, CUSIM_F64 };
#define CUSIM_RMW(name, op, T, type)                                                                     \
  CUSIM_INLINE T name(T* at, T value) {                                                                  \
    return cusim_bits<T>(cusim_atomic(at, op, type, cusim_bits<unsigned long long>(value), 0));          \
  }
#define CUSIM_RMW_INTEGERS(name, op)                 \
  CUSIM_RMW(name, op, int, CUSIM_I32)                \
  CUSIM_RMW(name, op, unsigned, CUSIM_U32)           \
  CUSIM_RMW(name, op, unsigned long long, CUSIM_U64)
CUSIM_RMW_INTEGERS(atomicAdd, CUSIM_ADD)
CUSIM_RMW(atomicAdd, CUSIM_ADD, float, CUSIM_F32)
CUSIM_RMW(atomicAdd, CUSIM_ADD, double, CUSIM_F64)
CUSIM_RMW_INTEGERS(atomicMin, CUSIM_MIN)
CUSIM_RMW(atomicMin, CUSIM_MIN, long long, CUSIM_I64)
CUSIM_RMW_INTEGERS(atomicMax, CUSIM_MAX)
CUSIM_RMW(atomicMax, CUSIM_MAX, long long, CUSIM_I64)
CUSIM_RMW_INTEGERS(atomicExch, CUSIM_EXCH)
CUSIM_RMW(atomicExch, CUSIM_EXCH, float, CUSIM_F32)
CUSIM_RMW_INTEGERS(atomicOr, CUSIM_OR)
CUSIM_RMW_INTEGERS(atomicAnd, CUSIM_AND)
CUSIM_RMW_INTEGERS(atomicXor, CUSIM_XOR_BITS)
#define CUSIM_SWAP(T, type)                                                                              \
  CUSIM_INLINE T atomicCAS(T* at, T compare, T value) {                                                  \
    return cusim_bits<T>(cusim_atomic(at, CUSIM_CAS, type, cusim_bits<unsigned long long>(value),        \
                                      cusim_bits<unsigned long long>(compare)));                         \
  }
CUSIM_SWAP(int, CUSIM_I32)
CUSIM_SWAP(unsigned, CUSIM_U32)
CUSIM_SWAP(unsigned long long, CUSIM_U64)

// --------------------------------------------------------------------------------------------------------- vectors
#define CUSIM_VECTOR2(name, T, align)             \
  struct alignas(align) name { T x, y; };         \
  CUSIM_INLINE name make_##name(T x, T y) { return {x, y}; }
#define CUSIM_VECTOR4(name, T, align)             \
  struct alignas(align) name { T x, y, z, w; };   \
  CUSIM_INLINE name make_##name(T x, T y, T z, T w) { return {x, y, z, w}; }
CUSIM_VECTOR2(char2, signed char, 2) CUSIM_VECTOR4(char4, signed char, 4)
CUSIM_VECTOR2(uchar2, unsigned char, 2) CUSIM_VECTOR4(uchar4, unsigned char, 4)
CUSIM_VECTOR2(short2, short, 4) CUSIM_VECTOR4(short4, short, 8)
CUSIM_VECTOR2(ushort2, unsigned short, 4) CUSIM_VECTOR4(ushort4, unsigned short, 8)
CUSIM_VECTOR2(int2, int, 8) CUSIM_VECTOR4(int4, int, 16)
CUSIM_VECTOR2(uint2, unsigned, 8) CUSIM_VECTOR4(uint4, unsigned, 16)
CUSIM_VECTOR2(longlong2, long long, 16) CUSIM_VECTOR2(ulonglong2, unsigned long long, 16)
CUSIM_VECTOR2(float2, float, 8) CUSIM_VECTOR4(float4, float, 16)
CUSIM_VECTOR2(double2, double, 16)
template <class T> CUSIM_INLINE T __ldg(const T* at) { return *at; }
template <class T> CUSIM_INLINE void __stwb(T* at, T value) { *at = value; }

// -------------------------------------------------------------------------------------------------------- integers
CUSIM_INLINE unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)((unsigned long long)a * b >> 32); }
CUSIM_INLINE int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
CUSIM_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
CUSIM_INLINE int __popc(unsigned v) { return __builtin_popcount(v); }
CUSIM_INLINE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
CUSIM_INLINE int __ffs(int v) { return __builtin_ffs(v); }
CUSIM_INLINE int __ffsll(long long v) { return __builtin_ffsll(v); }
CUSIM_INLINE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
CUSIM_INLINE int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
CUSIM_INLINE int abs(int v) { return v < 0 ? -v : v; }
CUSIM_INLINE long long abs(long long v) { return v < 0 ? -v : v; }
CUSIM_INLINE long long llabs(long long v) { return v < 0 ? -v : v; }
#define CUSIM_MINMAX(T)                                    \
  CUSIM_INLINE T min(T a, T b) { return b < a ? b : a; }   \
  CUSIM_INLINE T max(T a, T b) { return a < b ? b : a; }
CUSIM_MINMAX(int) CUSIM_MINMAX(unsigned) CUSIM_MINMAX(long) CUSIM_MINMAX(unsigned long)
CUSIM_MINMAX(long long) CUSIM_MINMAX(unsigned long long)

// ------------------------------------------------------------------------------------------------------------ bits
CUSIM_INLINE float __int_as_float(int v) { return cusim_bits<float>(v); }
CUSIM_INLINE float __uint_as_float(unsigned v) { return cusim_bits<float>(v); }
CUSIM_INLINE int __float_as_int(float v) { return cusim_bits<int>(v); }
CUSIM_INLINE unsigned __float_as_uint(float v) { return cusim_bits<unsigned>(v); }
CUSIM_INLINE double __longlong_as_double(long long v) { return cusim_bits<double>(v); }
CUSIM_INLINE long long __double_as_longlong(double v) { return cusim_bits<long long>(v); }
CUSIM_INLINE int __double2hiint(double v) { return (int)(cusim_bits<long long>(v) >> 32); }
CUSIM_INLINE int __double2loint(double v) { return (int)cusim_bits<long long>(v); }
CUSIM_INLINE double __hiloint2double(int hi, int lo) {
  return cusim_bits<double>((unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}
CUSIM_INLINE double __drcp_rn(double v) { return 1.0 / v; }
CUSIM_INLINE float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CUSIM_INLINE double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
#define CUSIM_ROUNDED(stem, op)                                                     \
  CUSIM_INLINE float __f##stem##_rn(float a, float b) { return a op b; }            \
  CUSIM_INLINE double __d##stem##_rn(double a, double b) { return a op b; }
CUSIM_ROUNDED(add, +) CUSIM_ROUNDED(sub, -) CUSIM_ROUNDED(mul, *) CUSIM_ROUNDED(div, /)

// ------------------------------------------------------------------------------------------------------------ libm
// The host's libm stands for the device's; both are within 2 ulp, not equal.
#define CUSIM_MATH1(name)                            \
  extern "C" double name(double);                    \
  extern "C" float name##f(float);                   \
  CUSIM_INLINE float name(float x) { return name##f(x); }
#define CUSIM_MATH2(name)                            \
  extern "C" double name(double, double);            \
  extern "C" float name##f(float, float);            \
  CUSIM_INLINE float name(float x, float y) { return name##f(x, y); }
CUSIM_MATH1(exp) CUSIM_MATH1(exp2) CUSIM_MATH1(expm1) CUSIM_MATH1(log) CUSIM_MATH1(log2) CUSIM_MATH1(log10)
CUSIM_MATH1(log1p) CUSIM_MATH1(sqrt) CUSIM_MATH1(cbrt) CUSIM_MATH1(sin) CUSIM_MATH1(cos) CUSIM_MATH1(tan)
CUSIM_MATH1(asin) CUSIM_MATH1(acos) CUSIM_MATH1(atan) CUSIM_MATH1(sinh) CUSIM_MATH1(cosh) CUSIM_MATH1(tanh)
CUSIM_MATH1(asinh) CUSIM_MATH1(acosh) CUSIM_MATH1(atanh) CUSIM_MATH1(floor) CUSIM_MATH1(ceil) CUSIM_MATH1(rint)
CUSIM_MATH1(trunc) CUSIM_MATH1(round) CUSIM_MATH1(nearbyint) CUSIM_MATH1(fabs) CUSIM_MATH1(erf) CUSIM_MATH1(erfc)
CUSIM_MATH1(tgamma) CUSIM_MATH1(lgamma)
CUSIM_MATH2(pow) CUSIM_MATH2(atan2) CUSIM_MATH2(hypot) CUSIM_MATH2(fmod) CUSIM_MATH2(fmin) CUSIM_MATH2(fmax)
CUSIM_MATH2(copysign) CUSIM_MATH2(remainder) CUSIM_MATH2(fdim) CUSIM_MATH2(nextafter)
CUSIM_INLINE double fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
CUSIM_INLINE float fmaf(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CUSIM_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
CUSIM_INLINE float rsqrtf(float x) { return 1.0f / sqrtf(x); }
CUSIM_INLINE double rsqrt(double x) { return 1.0 / sqrt(x); }
#define CUSIM_TEST(name)                                              \
  CUSIM_INLINE bool name(float x) { return __builtin_##name(x); }     \
  CUSIM_INLINE bool name(double x) { return __builtin_##name(x); }
CUSIM_INLINE float abs(float x) { return fabsf(x); }
CUSIM_INLINE double abs(double x) { return fabs(x); }
CUSIM_TEST(isfinite) CUSIM_TEST(isinf) CUSIM_TEST(isnan) CUSIM_TEST(signbit)
CUSIM_INLINE float min(float a, float b) { return fminf(a, b); }
CUSIM_INLINE float max(float a, float b) { return fmaxf(a, b); }
CUSIM_INLINE double min(double a, double b) { return fmin(a, b); }
CUSIM_INLINE double max(double a, double b) { return fmax(a, b); }

// --------------------------------------------------------------------------------------------------- entry to a kernel
// A launch has an array of pointers to arguments; the kernel's type says what they are.
template <int...> struct cusim_indices {};
template <class... A, int... I>
__attribute__((no_sanitize("thread", "undefined"))) static inline void cusim_apply(void (*kernel)(A...), void** at,
                                                                                   cusim_indices<I...>) {
  kernel(*(A*)at[I]...);
}
template <class... A>
__attribute__((no_sanitize("thread", "undefined"))) static inline void cusim_enter(void (*kernel)(A...), void** at) {
  cusim_apply(kernel, at, cusim_indices<__integer_pack(sizeof...(A))...>{});
}
template <class... A> struct cusim_sizes_of {
  unsigned count = sizeof...(A);
  unsigned size[sizeof...(A) + 1] = {sizeof(A)..., 0};
};
template <class... A> constexpr cusim_sizes_of<A...> cusim_sizes(void (*)(A...)) { return {}; }
