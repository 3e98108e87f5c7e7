// Transposed read: r0←1+⍉a0. A tile of 32×32 goes through shared memory, so that both sides touch whole rows; the
// column more keeps the 32 elements of a column in 32 banks.
extern "C" __global__ void __launch_bounds__(256) transpose(
    const float* __restrict__ a0, float* __restrict__ r0, u32 height, u32 width, u32 s0, u64* err) {
  __shared__ float tile[32][33];
  if (dead(err, s0)) return;
  const u32 tx = threadIdx.x, ty = threadIdx.y;
  u32 x = blockIdx.x * 32 + tx;
  u32 y = blockIdx.y * 32 + ty;
  for (u32 k = 0; k < 32; k += 8)
    if (x < width && y + k < height) tile[ty + k][tx] = a0[(u64)(y + k) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + tx;
  y = blockIdx.x * 32 + ty;
  for (u32 k = 0; k < 32; k += 8)
    if (x < height && y + k < width) r0[(u64)(y + k) * height + x] = 1.0f + tile[tx][ty + k];
}
