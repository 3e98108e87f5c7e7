// Gather with the four answers to an index outside: r0←a0[i]+a0[wrapped i]×a0[clamped i]+fill where i is outside.
// ⎕IO is 1, so 1 is taken from what a1 holds. A failing lane loads nothing.
extern "C" __global__ void __launch_bounds__(256) gather(
    const float* __restrict__ a0, const i32* __restrict__ a1, float* __restrict__ r0, u32 extent, float fill, u64 lo,
    u64 n, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  for (u64 at = lo + (u64)blockIdx.x * 256 + threadIdx.x; at < lo + n; at += (u64)gridDim.x * 256) {
    const i32 i = a1[at] - 1;
    float v0 = 0.0f;
    if ((u32)i < extent) v0 = a0[i];
    else fail(Bad{err, s0 + 2, at});
    i32 wrapped = i % (i32)extent;
    if (wrapped < 0) wrapped += (i32)extent;
    const float v1 = a0[wrapped];
    const float v2 = a0[min(max(i, 0), (i32)extent - 1)];
    const float v3 = (u32)i < extent ? a0[i] : fill;
    r0[at] = v0 + v1 * v2 + v3;
  }
}
