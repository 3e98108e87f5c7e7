// Reduce: r0←+/a0×a1 in float, one launch. Each block leaves a partial sum; the block that comes last adds them in
// order of blocks, so that one grid gives one result.
DEV float warp_sum(float v) {
  for (int by = 16; by > 0; by >>= 1) v += __shfl_down_sync(~0u, v, by);
  return v;
}
// The sum over the block, in thread 0.
DEV float block_sum(float v, float* warps) {
  v = warp_sum(v);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = v;
  __syncthreads();
  float sum = 0.0f;
  if (threadIdx.x == 0)
    for (int w = 0; w < 8; w++) sum += warps[w];
  return sum;
}

extern "C" __global__ void __launch_bounds__(256) reduce_dot(
    const float* __restrict__ a0, const float* __restrict__ a1, float* __restrict__ r0, float* __restrict__ part,
    u32* ticket, u64 n, u32 s0, u64* err) {
  __shared__ float warps[8];
  __shared__ bool last;
  if (dead(err, s0)) return;
  // Four sums, so that four additions are under way.
  float sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
  const u64 vectors = n / 4;
  for (u64 v = (u64)blockIdx.x * 256 + threadIdx.x; v < vectors; v += (u64)gridDim.x * 256) {
    const float4 x = __ldg((const float4*)a0 + v);
    const float4 y = __ldg((const float4*)a1 + v);
    sum0 = __fmaf_rn(x.x, y.x, sum0);
    sum1 = __fmaf_rn(x.y, y.y, sum1);
    sum2 = __fmaf_rn(x.z, y.z, sum2);
    sum3 = __fmaf_rn(x.w, y.w, sum3);
  }
  const u64 tail = 4 * vectors + threadIdx.x;
  if (blockIdx.x == 0 && tail < n) sum0 = __fmaf_rn(a0[tail], a1[tail], sum0);

  const float of_block = block_sum((sum0 + sum1) + (sum2 + sum3), warps);
  if (threadIdx.x == 0) {
    part[blockIdx.x] = of_block;
    __threadfence();  // the partial sum is out before the ticket is
    last = atomicAdd(ticket, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  __threadfence();
  float v = 0.0f;
  for (u32 k = threadIdx.x; k < gridDim.x; k += 256) v += ((const volatile float*)part)[k];
  const float sum = block_sum(v, warps);
  if (threadIdx.x == 0) {
    r0[0] = sum;
    *ticket = 0;  // for the next launch
  }
}
