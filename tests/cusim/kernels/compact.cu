// Compact: r0←a1/a0, stable, one launch: a look-back over counts. 8 consecutive elements a thread; the count of a tile
// has 62 bits beside its flag. The result is allocated exactly, since the mask's count is known before.
const u32 ITEMS = 8, TILE = 256 * ITEMS;
const u64 AGGREGATE = 1ull << 62, PREFIX = 2ull << 62, COUNT = AGGREGATE - 1;

DEV u32 warp_scan(u32 v, u32 lane) {
  for (u32 by = 1; by < 32; by <<= 1) {
    const u32 u = __shfl_up_sync(~0u, v, by);
    if (lane >= by) v += u;
  }
  return v;
}
DEV u64 look_back(const u64* status, u32 tile, u32 lane) {
  u64 before = 0;
  for (i64 near = (i64)tile - 1;;) {
    const i64 at = near - (i64)lane;
    const u64 word = at >= 0 ? *(const volatile u64*)(status + at) : PREFIX;
    if (__any_sync(~0u, word >> 62 == 0)) continue;
    const u32 known = __ballot_sync(~0u, word >> 62 == 2);
    const u32 last = known ? (u32)__ffs((i32)known) - 1 : 31;
    u64 v = lane <= last ? word & COUNT : 0;
    for (u32 by = 16; by > 0; by >>= 1) v += __shfl_down_sync(~0u, v, by);
    before += __shfl_sync(~0u, v, 0);
    if (known) return before;
    near -= 32;
  }
}
// Bit k: element k of mine is kept. Booleans are bytes, eight of them one load.
DEV u32 kept(const u8* mask, u64 base, u64 n) {
  u32 bits = 0;
  if (base + ITEMS <= n) {
    const uint2 v = __ldg((const uint2*)(mask + base));
    for (u32 k = 0; k < 4; k++) bits |= (v.x >> (8 * k) & 1u) << k | (v.y >> (8 * k) & 1u) << (k + 4);
  } else {
    for (u32 k = 0; k < ITEMS; k++)
      if (base + k < n && mask[base + k]) bits |= 1u << k;
  }
  return bits;
}

extern "C" __global__ void __launch_bounds__(256) compact(
    const float* __restrict__ a0, const u8* __restrict__ a1, float* __restrict__ r0, u64* status, u32* ticket, u64 n,
    u32 s0, u64* err) {
  __shared__ u32 warps[8];
  __shared__ u64 before_tile;
  __shared__ u32 tile_of_block;
  if (dead(err, s0)) return;
  if (threadIdx.x == 0) tile_of_block = atomicAdd(ticket, 1u);
  __syncthreads();
  const u32 tile = tile_of_block, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u64 base = (u64)tile * TILE + threadIdx.x * ITEMS;
  const u32 bits = kept(a1, base, n);
  const u32 count = (u32)__popc(bits);
  const u32 of_lanes = warp_scan(count, lane);
  if (lane == 31) warps[warp] = of_lanes;
  __syncthreads();
  if (warp == 0) {
    const u32 of_warps = warp_scan(lane < 8 ? warps[lane] : 0, lane);
    if (lane < 8) warps[lane] = of_warps;
    const u64 aggregate = __shfl_sync(~0u, of_warps, 7);
    if (lane == 0) atomicExch(status + tile, (tile ? AGGREGATE : PREFIX) | aggregate);
    u64 before = 0;
    if (tile) {
      before = look_back(status, tile, lane);
      if (lane == 0) atomicExch(status + tile, PREFIX | (before + aggregate));
    }
    if (lane == 0) before_tile = before;
  }
  __syncthreads();
  u64 to = before_tile + (warp ? warps[warp - 1] : 0) + (of_lanes - count);
  for (u32 k = 0; k < ITEMS; k++)
    if (bits >> k & 1) r0[to++] = a0[base + k];
}
