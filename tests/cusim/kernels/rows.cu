// Maps of rank 3 that do not collapse: r0[i;j;k]←a0[i;j;k]+a1[k;i]+a2[j], the second operand read transposed.
//
// n÷d without a division: t is the high half of n×magic, then two shifts. Exact for n < 2*32, d ≥ 2; for d = 1 the
// text has no division at all.
DEV u32 mdiv(u32 n, u32 magic, u32 shift) {
  const u32 t = __umulhi(n, magic);
  return (t + ((n - t) >> 1)) >> (shift - 1);
}

// A long last axis: a block takes one row (i,j), its lanes go along k. What does not change in a row is read once.
extern "C" __global__ void __launch_bounds__(256) map_rows(
    const float* __restrict__ a0, const float* __restrict__ a1, const float* __restrict__ a2,
    float* __restrict__ r0, u32 d1, u32 magic1, u32 shift1, u32 d2, i64 stride_k, i64 stride_i, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  const u32 row = blockIdx.x;
  const u32 i = mdiv(row, magic1, shift1);
  const u32 j = row - i * d1;
  const float* a0_row = a0 + (u64)row * d2;
  const float* a1_row = a1 + (i64)i * stride_i;
  float* r0_row = r0 + (u64)row * d2;
  const float of_j = a2[j];
  for (u32 k = blockIdx.y * 256 + threadIdx.x; k < d2; k += gridDim.y * 256)
    r0_row[k] = a0_row[k] + a1_row[(i64)k * stride_k] + of_j;
}

// A short last axis: one flat index, taken apart by two multiplications.
extern "C" __global__ void __launch_bounds__(256) map_flat(
    const float* __restrict__ a0, const float* __restrict__ a1, const float* __restrict__ a2,
    float* __restrict__ r0, u32 d1, u32 magic1, u32 shift1, u32 d2, u32 magic2, u32 shift2, i64 stride_k, i64 stride_i,
    u32 n, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  for (u32 at = blockIdx.x * 256 + threadIdx.x; at < n; at += gridDim.x * 256) {
    const u32 row = mdiv(at, magic2, shift2), k = at - row * d2;
    const u32 i = mdiv(row, magic1, shift1), j = row - i * d1;
    r0[at] = a0[at] + a1[(i64)i * stride_i + (i64)k * stride_k] + a2[j];
  }
}
