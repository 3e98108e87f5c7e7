// MatMul: r0←0⌈a2+⍤1⊢a0+.×a1 in float. A block has a tile of 128×128, a thread 8×8 of it; steps of 16 along the inner
// axis are in shared memory twice, so that a step is loaded while the last is used, with one barrier a step.
//
// a0's part lies transposed ([k][row], 4 more a row against bank conflicts), so that both factors are read as float4.
// A thread owns rows 4ty… and 64+4ty… and columns alike. Outside is 0, which +.× does not feel.
const u32 SIDE = 128, DEEP = 16;

struct Shape { u32 rows, columns, inner; };

DEV float4 four(const float* x, u64 at, u32 have) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (have > 0) v.x = x[at];
  if (have > 1) v.y = x[at + 1];
  if (have > 2) v.z = x[at + 2];
  if (have > 3) v.w = x[at + 3];
  return v;
}
DEV u32 have(u32 at, u32 extent) { return at < extent ? extent - at : 0; }

// Two float4 of each factor for one step. `full`: the whole tile lies inside and rows are aligned.
DEV void load(const float* a0, const float* a1, Shape s, u32 k0, bool full, float4* x, float4* y) {
  const u32 t = threadIdx.x, row0 = blockIdx.y * SIDE, column0 = blockIdx.x * SIDE;
  for (u32 half = 0; half < 2; half++) {
    const u32 row = row0 + t / 4 + 64 * half, k = k0 + t % 4 * 4;
    const u32 deep = k0 + t / 32 + 8 * half, column = column0 + t % 32 * 4;
    const u64 at_x = (u64)row * s.inner + k, at_y = (u64)deep * s.columns + column;
    if (full) {
      x[half] = __ldg((const float4*)(a0 + at_x));
      y[half] = __ldg((const float4*)(a1 + at_y));
    } else {
      x[half] = four(a0, at_x, row < s.rows ? have(k, s.inner) : 0);
      y[half] = four(a1, at_y, deep < s.inner ? have(column, s.columns) : 0);
    }
  }
}
DEV void keep(float (*xs)[SIDE + 4], float (*ys)[SIDE], const float4* x, const float4* y) {
  const u32 t = threadIdx.x;
  for (u32 half = 0; half < 2; half++) {
    const u32 row = t / 4 + 64 * half, k = t % 4 * 4;
    xs[k][row] = x[half].x;
    xs[k + 1][row] = x[half].y;
    xs[k + 2][row] = x[half].z;
    xs[k + 3][row] = x[half].w;
    *(float4*)&ys[t / 32 + 8 * half][t % 32 * 4] = y[half];
  }
}
DEV void unpack(float* out, float4 low, float4 high) {
  out[0] = low.x, out[1] = low.y, out[2] = low.z, out[3] = low.w;
  out[4] = high.x, out[5] = high.y, out[6] = high.z, out[7] = high.w;
}

extern "C" __global__ void __launch_bounds__(256, 2) matmul(
    const float* __restrict__ a0, const float* __restrict__ a1, const float* __restrict__ a2, float* __restrict__ r0,
    u32 rows, u32 columns, u32 inner, u32 s0, u64* err) {
  __shared__ float xs[2][DEEP][SIDE + 4];
  __shared__ float ys[2][DEEP][SIDE];
  if (dead(err, s0)) return;
  const Shape s = {rows, columns, inner};
  const u32 tx = threadIdx.x % 16, ty = threadIdx.x / 16, row0 = blockIdx.y * SIDE, column0 = blockIdx.x * SIDE;
  const bool full = row0 + SIDE <= rows && column0 + SIDE <= columns && inner % DEEP == 0 && columns % 4 == 0;
  float sums[8][8] = {};
  float4 x[2], y[2];
  load(a0, a1, s, 0, full, x, y);
  keep(xs[0], ys[0], x, y);
  __syncthreads();
  u32 now = 0;
  for (u32 k0 = 0; k0 < inner; k0 += DEEP) {
    const bool more = k0 + DEEP < inner;
    if (more) load(a0, a1, s, k0 + DEEP, full, x, y);
    for (u32 k = 0; k < DEEP; k++) {
      float u[8], v[8];
      unpack(u, *(const float4*)&xs[now][k][ty * 4], *(const float4*)&xs[now][k][64 + ty * 4]);
      unpack(v, *(const float4*)&ys[now][k][tx * 4], *(const float4*)&ys[now][k][64 + tx * 4]);
      for (u32 i = 0; i < 8; i++)
        for (u32 j = 0; j < 8; j++) sums[i][j] = __fmaf_rn(u[i], v[j], sums[i][j]);
    }
    if (more) {
      keep(xs[now ^ 1], ys[now ^ 1], x, y);
      __syncthreads();
      now ^= 1;
    }
  }
  for (u32 i = 0; i < 8; i++) {
    const u32 row = row0 + ty * 4 + (i < 4 ? i : 60 + i);
    for (u32 j = 0; j < 8; j++) {
      const u32 column = column0 + tx * 4 + (j < 4 ? j : 60 + j);
      if (row >= rows || column >= columns) continue;
      const float v = sums[i][j] + __ldg(a2 + column);
      r0[(u64)row * columns + column] = v < 0.0f ? 0.0f : v;
    }
  }
}
