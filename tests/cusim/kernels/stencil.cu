// Stencils in one axis and in two.
//
// 15 taps, indices clamped at the ends: a block has 1 024 results and what they read in shared memory; a block that
// lies wholly inside reads without tests. The weights are an argument by value, so they lie in the constant bank.
struct Weights { float w[15]; };
const u32 TAPS = 15, HALO = 7, RESULTS = 1024;

extern "C" __global__ void __launch_bounds__(256) stencil_15(
    const float* __restrict__ a0, float* __restrict__ r0, Weights weights, u64 n, u32 s0, u64* err) {
  __shared__ float near[RESULTS + 2 * HALO];
  if (dead(err, s0)) return;
  const u64 base = (u64)blockIdx.x * RESULTS;
  const bool inside = base >= HALO && base + RESULTS + HALO <= n;
  if (inside) {
    for (u32 k = threadIdx.x; k < RESULTS + 2 * HALO; k += 256) near[k] = __ldg(a0 + base - HALO + k);
  } else {
    for (u32 k = threadIdx.x; k < RESULTS + 2 * HALO; k += 256) {
      const i64 at = (i64)base - HALO + k;
      near[k] = a0[clamp(at, 0, (i64)n - 1)];
    }
  }
  __syncthreads();
  for (u32 k = threadIdx.x; k < RESULTS; k += 256) {
    if (base + k >= n) break;
    float v = 0.0f;
    for (u32 t = 0; t < TAPS; t++) v = v + weights.w[t] * near[k + t];
    r0[base + k] = v;
  }
}

// 3×3, 0 outside: a thread goes down 32 rows of its column and keeps three rows in registers. One test a block says
// whether it lies inside, where there are none.
template <bool INSIDE> DEV float tap(const float* x, i64 y, i64 c, i64 height, i64 width) {
  if (INSIDE) return __ldg(x + y * width + c);
  return y >= 0 && y < height && c >= 0 && c < width ? x[y * width + c] : 0.0f;
}
template <bool INSIDE> DEV float sum_of_3(const float* x, i64 y, i64 c, i64 height, i64 width, float* middle) {
  *middle = tap<INSIDE>(x, y, c, height, width);
  return tap<INSIDE>(x, y, c - 1, height, width) + *middle + tap<INSIDE>(x, y, c + 1, height, width);
}
template <bool INSIDE> DEV void roll(const float* x, float* r, i64 y0, i64 c, i64 height, i64 width) {
  float middle, of_next;
  float above = sum_of_3<INSIDE>(x, y0 - 1, c, height, width, &middle);
  float here = sum_of_3<INSIDE>(x, y0, c, height, width, &middle);
  for (i64 y = y0; y < y0 + 32; y++) {
    if (!INSIDE && y >= height) break;
    const float below = sum_of_3<INSIDE>(x, y + 1, c, height, width, &of_next);
    if (INSIDE || c < width) r[y * width + c] = (above + here + below) - 9.0f * middle;
    above = here;
    here = below;
    middle = of_next;
  }
}
extern "C" __global__ void __launch_bounds__(128) stencil_3x3(
    const float* __restrict__ a0, float* __restrict__ r0, u32 height, u32 width, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  const i64 c0 = (i64)blockIdx.x * 128, c = c0 + threadIdx.x, y0 = (i64)blockIdx.y * 32;
  const bool inside = c0 >= 1 && c0 + 129 <= (i64)width && y0 >= 1 && y0 + 33 <= (i64)height;
  if (inside) roll<true>(a0, r0, y0, c, height, width);
  else roll<false>(a0, r0, y0, c, height, width);
}
