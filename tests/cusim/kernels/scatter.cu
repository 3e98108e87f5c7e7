// Scatter: r0[a1]←a0, where of equal indices the last wins. First each place learns the greatest position that writes
// it, then that position alone writes.
extern "C" __global__ void __launch_bounds__(256) scatter_win(
    const i32* __restrict__ a1, u32* __restrict__ winner, u32 extent, u32 n, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  for (u32 at = blockIdx.x * 256 + threadIdx.x; at < n; at += gridDim.x * 256) {
    const u32 i = (u32)(a1[at] - 1);
    if (i < extent) atomicMax(winner + i, at + 1);
    else fail(Bad{err, s0 + 1, at});
  }
}
extern "C" __global__ void __launch_bounds__(256) scatter_put(
    const float* __restrict__ a0, const i32* __restrict__ a1, const u32* __restrict__ winner, float* __restrict__ r0,
    u32 extent, u32 n, u32 s0, u64* err) {
  if (dead(err, s0)) return;
  for (u32 at = blockIdx.x * 256 + threadIdx.x; at < n; at += gridDim.x * 256) {
    const u32 i = (u32)(a1[at] - 1);
    if (i < extent && winner[i] == at + 1) r0[i] = a0[at];
  }
}
