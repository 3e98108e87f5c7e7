// Map: r0←(p0×a0)+a1*0.5, where a negative a1 has no root. Contiguous float, 4 at a time, the last ≤ 3 by block 0.
// The slice is lo … lo+n; lo is a multiple of 4, so vectors are aligned where the arrays are.
DEV float body(float x, float y, float p0, Bad b) {
#line 104 "n"
  if (y < 0.0f) { fail(b); y = 0.0f; }
#line 105 "n"
  float root = sqrtf(y);
#line 106 "n"
  return p0 * x + root;
}
#line 12 "map.cu"

extern "C" __global__ void __launch_bounds__(256) map_f32(
    const float* __restrict__ a0, const float* __restrict__ a1, float* __restrict__ r0, float p0,
    u64 lo, u64 n, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  const u64 vectors = n / 4;
  for (u64 v = (u64)blockIdx.x * 256 + threadIdx.x; v < vectors; v += (u64)gridDim.x * 256) {
    const u64 i = lo + 4 * v;
    const float4 x = __ldg((const float4*)(a0 + i));
    const float4 y = __ldg((const float4*)(a1 + i));
    float4 r;
    r.x = body(x.x, y.x, p0, Bad{err, s0 + 5, i});
    r.y = body(x.y, y.y, p0, Bad{err, s0 + 5, i + 1});
    r.z = body(x.z, y.z, p0, Bad{err, s0 + 5, i + 2});
    r.w = body(x.w, y.w, p0, Bad{err, s0 + 5, i + 3});
    *(float4*)(r0 + i) = r;
  }
  const u64 tail = 4 * vectors + threadIdx.x;
  if (blockIdx.x == 0 && tail < n) {
    const u64 i = lo + tail;
    r0[i] = body(a0[i], a1[i], p0, Bad{err, s0 + 5, i});
  }
}
