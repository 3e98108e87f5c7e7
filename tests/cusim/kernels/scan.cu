// Scan: r0←+\a0 in float, one launch with decoupled look-back. A tile is 256 threads × 16 consecutive elements.
//
// Tiles are numbered by a ticket, never by blockIdx: a tile waits for earlier ones only, and those have begun. A tile's
// status is one 64-bit word, flag<<32|float, so that flag and value can never be torn apart.
const u32 ITEMS = 16, TILE = 256 * ITEMS;
const u64 AGGREGATE = 1ull << 32, PREFIX = 2ull << 32;

DEV float warp_scan(float v, u32 lane) {
  for (u32 by = 1; by < 32; by <<= 1) {
    const float u = __shfl_up_sync(~0u, v, by);
    if (lane >= by) v = u + v;
  }
  return v;
}
DEV float warp_sum(float v) {
  for (u32 by = 16; by > 0; by >>= 1) v += __shfl_down_sync(~0u, v, by);
  return v;
}

// What stands before a tile: the warp looks at the 32 tiles before it, then at those before them, up to the nearest
// that knows its own prefix. Before the first tile stand prefixes of 0.
DEV float look_back(const u64* status, u32 tile, u32 lane) {
  float before = 0.0f;
  for (i64 near = (i64)tile - 1;;) {
    const i64 at = near - (i64)lane;
    const u64 word = at >= 0 ? *(const volatile u64*)(status + at) : PREFIX;
    const u32 flag = (u32)(word >> 32);
    if (__any_sync(~0u, flag == 0)) continue;
    const u32 known = __ballot_sync(~0u, flag == 2);
    const u32 last = known ? (u32)__ffs((i32)known) - 1 : 31;
    const float window = warp_sum(lane <= last ? __uint_as_float((u32)word) : 0.0f);
    before = __shfl_sync(~0u, window, 0) + before;
    if (known) return before;
    near -= 32;
  }
}

extern "C" __global__ void __launch_bounds__(256) scan_f32(
    const float* __restrict__ a0, float* __restrict__ r0, u64* status, u32* ticket, u64 n, u32 s0, u64* err) {
  __shared__ float items[TILE + TILE / 16];  // one more after 16, so that rows of 16 begin in different banks
  __shared__ float warps[8];
  __shared__ float before_tile;
  __shared__ u32 tile_of_block;
  if (dead(err, s0)) return;
  if (threadIdx.x == 0) tile_of_block = atomicAdd(ticket, 1u);
  __syncthreads();
  const u32 tile = tile_of_block, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const u64 base = (u64)tile * TILE;

  // Striped in fours from memory, then 16 consecutive ones for each thread.
  for (u32 k = 0; k < ITEMS / 4; k++) {
    const u32 j = (k * 256 + threadIdx.x) * 4, to = j + j / 16;
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (base + j + 3 < n) {
      v = __ldg((const float4*)(a0 + base + j));
    } else {
      if (base + j < n) v.x = a0[base + j];
      if (base + j + 1 < n) v.y = a0[base + j + 1];
      if (base + j + 2 < n) v.z = a0[base + j + 2];
    }
    items[to] = v.x;
    items[to + 1] = v.y;
    items[to + 2] = v.z;
    items[to + 3] = v.w;
  }
  __syncthreads();
  float mine[ITEMS];
  const u32 from = threadIdx.x * (ITEMS + 1);
  mine[0] = items[from];
  for (u32 k = 1; k < ITEMS; k++) mine[k] = mine[k - 1] + items[from + k];
  const float of_lanes = warp_scan(mine[ITEMS - 1], lane);
  if (lane == 31) warps[warp] = of_lanes;
  __syncthreads();

  if (warp == 0) {
    const float of_warps = warp_scan(lane < 8 ? warps[lane] : 0.0f, lane);
    if (lane < 8) warps[lane] = of_warps;
    const float aggregate = __shfl_sync(~0u, of_warps, 7);
    if (lane == 0) atomicExch(status + tile, (tile ? AGGREGATE : PREFIX) | __float_as_uint(aggregate));
    float before = 0.0f;
    if (tile) {
      before = look_back(status, tile, lane);
      if (lane == 0) atomicExch(status + tile, PREFIX | __float_as_uint(before + aggregate));
    }
    if (lane == 0) before_tile = before;
  }
  __syncthreads();

  float before = before_tile + (warp ? warps[warp - 1] : 0.0f);
  const float lanes_before = __shfl_up_sync(~0u, of_lanes, 1);
  if (lane) before += lanes_before;
  for (u32 k = 0; k < ITEMS; k++) items[from + k] = before + mine[k];
  __syncthreads();
  for (u32 k = 0; k < ITEMS / 4; k++) {
    const u32 j = (k * 256 + threadIdx.x) * 4, at = j + j / 16;
    const float4 v = make_float4(items[at], items[at + 1], items[at + 2], items[at + 3]);
    if (base + j + 3 < n) {
      *(float4*)(r0 + base + j) = v;
    } else {
      if (base + j < n) r0[base + j] = v.x;
      if (base + j + 1 < n) r0[base + j + 1] = v.y;
      if (base + j + 2 < n) r0[base + j + 2] = v.z;
    }
  }
}
