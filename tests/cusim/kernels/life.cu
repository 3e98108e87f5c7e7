// A generation of life on a torus of bytes: tiles of 64×16 with their rim in shared memory. The board may be smaller
// than a tile and its rim, so an index may go around more than once.
const u32 TILE_WIDTH = 64, TILE_HEIGHT = 16;

extern "C" __global__ void __launch_bounds__(256) life(
    const u8* __restrict__ a0, u8* __restrict__ r0, u32 height, u32 width, u32 s0, u64* err) {
  __shared__ u8 near[TILE_HEIGHT + 2][TILE_WIDTH + 2];
  if (dead(err, s0)) return;
  const u32 y0 = blockIdx.y * TILE_HEIGHT, x0 = blockIdx.x * TILE_WIDTH;
  for (u32 k = threadIdx.x; k < (TILE_HEIGHT + 2) * (TILE_WIDTH + 2); k += 256) {
    const u32 i = k / (TILE_WIDTH + 2), j = k % (TILE_WIDTH + 2);
    const u32 y = (y0 + i + height - 1) % height, x = (x0 + j + width - 1) % width;
    near[i][j] = a0[(u64)y * width + x];
  }
  __syncthreads();
  const u32 j = threadIdx.x % TILE_WIDTH;
  for (u32 i = threadIdx.x / TILE_WIDTH; i < TILE_HEIGHT; i += 4) {
    u32 alive = 0;
    for (u32 dy = 0; dy < 3; dy++)
      for (u32 dx = 0; dx < 3; dx++) alive += near[i + dy][j + dx];
    const u32 self = near[i + 1][j + 1];
    if (y0 + i < height && x0 + j < width) r0[(u64)(y0 + i) * width + x0 + j] = alive == 3 || (self && alive == 4);
  }
}
