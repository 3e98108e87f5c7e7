// Histogram of bytes: each warp counts into its own 256 counters, so that warps do not wait for each other; 16 bytes a
// load, the last ≤ 15 by block 0.
extern "C" __global__ void __launch_bounds__(256) histogram(
    const u8* __restrict__ a0, u32* __restrict__ r0, u64 n, u32 s0, u64* err) {
  __shared__ u32 counts[8][256];
  if (dead(err, s0)) return;
  for (u32 w = 0; w < 8; w++) counts[w][threadIdx.x] = 0;
  __syncthreads();
  u32* mine = counts[threadIdx.x / 32];
  const u64 vectors = n / 16;
  for (u64 v = (u64)blockIdx.x * 256 + threadIdx.x; v < vectors; v += (u64)gridDim.x * 256) {
    const uint4 q = __ldg((const uint4*)a0 + v);
    const u32 words[4] = {q.x, q.y, q.z, q.w};
    for (u32 k = 0; k < 4; k++)
      for (u32 shift = 0; shift < 32; shift += 8) atomicAdd(mine + (words[k] >> shift & 255), 1u);
  }
  const u64 tail = 16 * vectors + threadIdx.x;
  if (blockIdx.x == 0 && tail < n) atomicAdd(mine + a0[tail], 1u);
  __syncthreads();
  u32 sum = 0;
  for (u32 w = 0; w < 8; w++) sum += counts[w][threadIdx.x];
  if (sum) atomicAdd(r0 + threadIdx.x, sum);
}
