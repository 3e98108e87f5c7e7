// A map whose blocks stay: each draws the next 256 points from a ticket, for loops that end after unequal rounds. A slice
// takes the tiles from `lo`; the blocks of earlier slices drew one number each beyond their tiles, `first` in all.
extern "C" __global__ void __launch_bounds__(256) map_tickets(
    const float* __restrict__ a0, i32* __restrict__ r0, u32* ticket, u32 first, u64 points, u64 lo, u64 n, u32 s0,
    u64* err) {
  if (dead(err, s0)) return;
  __shared__ u32 seat;
  for (;;) {
    if (threadIdx.x == 0) seat = atomicAdd(ticket, 1u) - first;
    __syncthreads();
    const u64 tile = seat;
    if (tile >= lo + n) break;
    __syncthreads();  // the next number is drawn when everybody has read this one
    const u64 i = tile * 256 + threadIdx.x;
    if (i < points) {
      float x = a0[i];
      i32 rounds = 0;
      #pragma unroll 1
      for (; x >= 1.0f; rounds++) x = x - 1.0f;
      r0[i] = rounds;
    }
  }
}
