// A loop whose rounds are many: each launch does `rounds` of them, the state rests in memory, so that no launch is
// long. The launches of all rounds are one graph.
extern "C" __global__ void __launch_bounds__(256) mandel_begin(
    float* __restrict__ re, float* __restrict__ im, i32* __restrict__ count, u32 n, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  for (u32 at = blockIdx.x * 256 + threadIdx.x; at < n; at += gridDim.x * 256) re[at] = im[at] = 0.0f, count[at] = 0;
}

extern "C" __global__ void __launch_bounds__(256) mandel_rounds(
    float* __restrict__ re, float* __restrict__ im, i32* __restrict__ count, u32 width, u32 n, float x0, float y0,
    float step, u32 rounds, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  for (u32 at = blockIdx.x * 256 + threadIdx.x; at < n; at += gridDim.x * 256) {
    const u32 i = at / width, j = at - i * width;
    const float cr = x0 + step * (float)j, ci = y0 + step * (float)i;
    float zr = re[at], zi = im[at];
    i32 c = count[at];
    #pragma unroll 1
    for (u32 k = 0; k < rounds; k++) {
      const float rr = zr * zr, ii = zi * zi;
      if (rr + ii > 4.0f) break;
      zi = 2.0f * zr * zi + ci;
      zr = rr - ii + cr;
      c++;
    }
    re[at] = zr;
    im[at] = zi;
    count[at] = c;
  }
}
