// What device code needs so that g++ reads it beside a host program. It is never called here: the stand-in compiles it.
#pragma once
#include <math.h>
#include <stddef.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static
struct Place { unsigned x, y, z; };
static Place threadIdx, blockIdx, blockDim, gridDim;
static void __syncthreads() {}
static void __threadfence() {}
template <class T, class U> static T atomicAdd(T* p, U) { return *p; }
template <class T, class U> static T atomicMin(T* p, U) { return *p; }
template <class T, class U> static T atomicMax(T* p, U) { return *p; }
template <class T, class U> static T atomicAnd(T* p, U) { return *p; }
template <class T, class U> static T atomicOr(T* p, U) { return *p; }
template <class T, class U> static T atomicExch(T* p, U) { return *p; }
static void __syncwarp() {}
static int __ffs(int v) { return __builtin_ffs(v); }
static int __float_as_int(float f) { int v; __builtin_memcpy(&v, &f, 4); return v; }
static float __int_as_float(int v) { float f; __builtin_memcpy(&f, &v, 4); return f; }
template <class T> static T __shfl_down_sync(unsigned, T v, unsigned) { return v; }
template <class T> static T __shfl_up_sync(unsigned, T v, unsigned) { return v; }
template <class T> static T __shfl_sync(unsigned, T v, int) { return v; }
template <class T> static T __ldg(const T* p) { return *p; }
template <class T> static void __stwb(T* p, T v) { *p = v; }
static int __any_sync(unsigned, int test) { return test; }
struct double2 { double x, y; };
struct float2 { float x, y; };
struct float4 { float x, y, z, w; };
struct int2 { int x, y; };
struct int4 { int x, y, z, w; };
struct uint2 { unsigned x, y; };
struct uint4 { unsigned x, y, z, w; };
struct short2 { short x, y; };
struct short4 { short x, y, z, w; };
struct char2 { signed char x, y; };
struct char4 { signed char x, y, z, w; };
struct uchar2 { unsigned char x, y; };
struct uchar4 { unsigned char x, y, z, w; };
static unsigned __ballot_sync(unsigned, int) { return 0; }
static int __popc(unsigned v) { return __builtin_popcount(v); }
static unsigned __umulhi(unsigned a, unsigned b) { return unsigned((unsigned long long)a * b >> 32); }
static double __fma_rn(double a, double b, double c) { return fma(a, b, c); }
static double __longlong_as_double(long long v) { double d; __builtin_memcpy(&d, &v, 8); return d; }
static long long __double_as_longlong(double d) { long long v; __builtin_memcpy(&v, &d, 8); return v; }
