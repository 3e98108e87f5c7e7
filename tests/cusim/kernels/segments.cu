// Folds along one axis of a matrix: +/a0 by a warp a row, by a block a row, and +⌿a0.
DEV float warp_sum(float v) {
  for (u32 by = 16; by > 0; by >>= 1) v += __shfl_down_sync(~0u, v, by);
  return v;
}

// Rows of up to 1 024: 8 rows a block. All lanes of a warp have the same row, so all leave or none.
extern "C" __global__ void __launch_bounds__(256) rows_by_warp(
    const float* __restrict__ a0, float* __restrict__ r0, u32 rows, u32 width, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  const u32 row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0.0f;
  for (u32 k = lane; k < width; k += 32) sum += a0[(u64)row * width + k];
  sum = warp_sum(sum);
  if (lane == 0) r0[row] = sum;
}

// Longer rows. A row begins anywhere: up to 3 elements come before the first aligned four.
extern "C" __global__ void __launch_bounds__(256) rows_by_block(
    const float* __restrict__ a0, float* __restrict__ r0, u32 rows, u64 width, u32 s0, u64* err) {
  __shared__ float warps[8];
  if (dead(err, s0)) return;
  for (u32 row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* x = a0 + row * width;
    u64 head = (4 - ((u64)x / 4 & 3)) & 3;
    if (head > width) head = width;
    const u64 vectors = (width - head) / 4;
    float sum = threadIdx.x < head ? x[threadIdx.x] : 0.0f;
    for (u64 v = threadIdx.x; v < vectors; v += 256) {
      const float4 q = __ldg((const float4*)(x + head) + v);
      sum += (q.x + q.y) + (q.z + q.w);
    }
    const u64 tail = head + 4 * vectors + threadIdx.x;
    if (tail < width) sum += x[tail];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      sum = 0.0f;
      for (u32 w = 0; w < 8; w++) sum += warps[w];
      r0[row] = sum;
    }
    __syncthreads();  // the next row writes `warps` again
  }
}

// The first axis: 4 columns a thread, rows split over blockIdx.y; each part is folded in order by a second launch.
extern "C" __global__ void __launch_bounds__(256) columns(
    const float* __restrict__ a0, float* __restrict__ part, u32 height, u32 width, u32 chunk, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  const u32 column = (blockIdx.x * 256 + threadIdx.x) * 4;
  if (column >= width) return;
  const u32 from = blockIdx.y * chunk, to = min(from + chunk, height);
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (u32 y = from; y < to; y++) {
    const float4 v = __ldg((const float4*)(a0 + (u64)y * width + column));
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
  }
  *(float4*)(part + (u64)blockIdx.y * width + column) = sum;
}
extern "C" __global__ void __launch_bounds__(256) columns_last(
    const float* __restrict__ part, float* __restrict__ r0, u32 parts, u32 width, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  const u32 column = blockIdx.x * 256 + threadIdx.x;
  if (column >= width) return;
  float sum = 0.0f;
  for (u32 p = 0; p < parts; p++) sum += part[(u64)p * width + column];
  r0[column] = sum;
}
