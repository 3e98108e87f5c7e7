// Scan: r0←+\a0 in double. As scan.cu, but a value does not fit beside its flag: a tile writes the value, fences, then
// sets the flag; a reader sees the flag, fences, then reads the value. Sums of tiles and prefixes have arrays of their
// own, so that no value changes once its flag is set.
const u32 ITEMS = 8, TILE = 256 * ITEMS;

DEV double warp_scan(double v, u32 lane) {
  for (u32 by = 1; by < 32; by <<= 1) {
    const double u = __shfl_up_sync(~0u, v, by);
    if (lane >= by) v = u + v;
  }
  return v;
}
DEV double warp_sum(double v) {
  for (u32 by = 16; by > 0; by >>= 1) v += __shfl_down_sync(~0u, v, by);
  return v;
}

DEV double look_back(const u32* flags, const double* aggregates, const double* prefixes, u32 tile, u32 lane) {
  double before = 0.0;
  for (i64 near = (i64)tile - 1;;) {
    const i64 at = near - (i64)lane;
    const u32 flag = at >= 0 ? *(const volatile u32*)(flags + at) : 2u;
    if (__any_sync(~0u, flag == 0)) continue;
    const u32 known = __ballot_sync(~0u, flag == 2);
    const u32 last = known ? (u32)__ffs((i32)known) - 1 : 31;
    __threadfence();  // the flags are read before the values
    double v = 0.0;
    if (at >= 0 && lane <= last) v = *(const volatile double*)((flag == 2 ? prefixes : aggregates) + at);
    before = __shfl_sync(~0u, warp_sum(v), 0) + before;
    if (known) return before;
    near -= 32;
  }
}

extern "C" __global__ void __launch_bounds__(256) scan_f64(
    const double* __restrict__ a0, double* __restrict__ r0, double* aggregates, double* prefixes, u32* flags, u32* ticket,
    u64 n, u32 s0, u64* err) {
  __shared__ double items[TILE + TILE / 8];
  __shared__ double warps[8];
  __shared__ double before_tile;
  __shared__ u32 tile_of_block;
  if (dead(err, s0)) return;
  if (threadIdx.x == 0) tile_of_block = atomicAdd(ticket, 1u);
  __syncthreads();
  const u32 tile = tile_of_block, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u64 base = (u64)tile * TILE;

  for (u32 k = 0; k < ITEMS / 2; k++) {
    const u32 j = (k * 256 + threadIdx.x) * 2, to = j + j / 8;
    double2 v = make_double2(0.0, 0.0);
    if (base + j + 1 < n) v = __ldg((const double2*)(a0 + base + j));
    else if (base + j < n) v.x = a0[base + j];
    items[to] = v.x;
    items[to + 1] = v.y;
  }
  __syncthreads();
  double mine[ITEMS];
  const u32 from = threadIdx.x * (ITEMS + 1);
  mine[0] = items[from];
  for (u32 k = 1; k < ITEMS; k++) mine[k] = mine[k - 1] + items[from + k];
  const double of_lanes = warp_scan(mine[ITEMS - 1], lane);
  if (lane == 31) warps[warp] = of_lanes;
  __syncthreads();

  if (warp == 0) {
    const double of_warps = warp_scan(lane < 8 ? warps[lane] : 0.0, lane);
    if (lane < 8) warps[lane] = of_warps;
    const double aggregate = __shfl_sync(~0u, of_warps, 7);
    if (lane == 0) {
      (tile ? aggregates : prefixes)[tile] = aggregate;
      __threadfence();
      atomicExch(flags + tile, tile ? 1u : 2u);
    }
    double before = 0.0;
    if (tile) {
      before = look_back(flags, aggregates, prefixes, tile, lane);
      if (lane == 0) {
        prefixes[tile] = before + aggregate;
        __threadfence();  // of the prefix
        atomicExch(flags + tile, 2u);
      }
    }
    if (lane == 0) before_tile = before;
  }
  __syncthreads();

  double before = before_tile + (warp ? warps[warp - 1] : 0.0);
  const double lanes_before = __shfl_up_sync(~0u, of_lanes, 1);
  if (lane) before += lanes_before;
  for (u32 k = 0; k < ITEMS; k++) items[from + k] = before + mine[k];
  __syncthreads();
  for (u32 k = 0; k < ITEMS / 2; k++) {
    const u32 j = (k * 256 + threadIdx.x) * 2, at = j + j / 8;
    if (base + j + 1 < n) *(double2*)(r0 + base + j) = make_double2(items[at], items[at + 1]);
    else if (base + j < n) r0[base + j] = items[at];
  }
}
