// Several folds of one array in one pass: ⌈/ ⌊/ +/ and the first place of the greatest (a0⍳⌈/a0), by blocks; the
// partial results of the blocks are folded by a second launch of one block, with the same text of combining.
struct Folds { float most, least; double sum; u64 place; };

DEV Folds none() {
  return {__int_as_float((i32)0xff800000), __int_as_float(0x7f800000), 0.0, ~0ull};
}
// The smaller place wins among equals, so the order of combining does not matter to it.
DEV Folds both(Folds x, Folds y) {
  if (y.most > x.most || (y.most == x.most && y.place < x.place)) x.most = y.most, x.place = y.place;
  x.least = y.least < x.least ? y.least : x.least;
  x.sum += y.sum;
  return x;
}
DEV Folds from_lane_below(Folds x, i32 by) {
  return {__shfl_down_sync(~0u, x.most, by), __shfl_down_sync(~0u, x.least, by), __shfl_down_sync(~0u, x.sum, by),
          __shfl_down_sync(~0u, x.place, by)};
}
DEV Folds of_block(Folds x, Folds* warps) {
  for (i32 by = 16; by > 0; by >>= 1) x = both(x, from_lane_below(x, by));
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x == 0)
    for (u32 w = 1; w < 8; w++) x = both(x, warps[w]);
  return x;
}

extern "C" __global__ void __launch_bounds__(256) folds(
    const float* __restrict__ a0, Folds* __restrict__ part, u64 n, u32 s0, u64* err) {
  __shared__ Folds warps[8];
  if (dead(err, s0)) return;
  Folds mine = none();
  for (u64 i = (u64)blockIdx.x * 256 + threadIdx.x; i < n; i += (u64)gridDim.x * 256) {
    const float v = a0[i];
    mine = both(mine, Folds{v, v, (double)v, i});
  }
  mine = of_block(mine, warps);
  if (threadIdx.x == 0) part[blockIdx.x] = mine;
}

extern "C" __global__ void __launch_bounds__(256) folds_last(
    const Folds* __restrict__ part, Folds* __restrict__ r0, u32 blocks, u32 s0, u64* err) {
  __shared__ Folds warps[8];
  if (dead(err, s0)) return;
  Folds mine = none();
  for (u32 k = threadIdx.x; k < blocks; k += 256) mine = both(mine, part[k]);
  mine = of_block(mine, warps);
  if (threadIdx.x == 0) r0[0] = mine;
}
