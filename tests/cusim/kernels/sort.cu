// Sort: stable, unsigned keys with a payload, 8 bits a pass. One launch counts all four digits, one makes places of
// the counts, then a pass for each digit, in which tiles look back for how often their digits came before.
const u32 ITEMS = 12, TILE = 256 * ITEMS;
const u32 AGGREGATE = 1u << 30, PREFIX = 2u << 30, COUNT = AGGREGATE - 1;

extern "C" __global__ void __launch_bounds__(256) sort_count(
    const u32* __restrict__ keys, u32* __restrict__ counts, u32 n, u32 s0, u64* err) {
  __shared__ u32 mine[4][256];
  if (dead(err, s0)) return;
  for (u32 d = 0; d < 4; d++) mine[d][threadIdx.x] = 0;
  __syncthreads();
  for (u32 i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    for (u32 d = 0; d < 4; d++) atomicAdd(&mine[d][keys[i] >> 8 * d & 255], 1u);
  __syncthreads();
  for (u32 d = 0; d < 4; d++)
    if (mine[d][threadIdx.x]) atomicAdd(counts + d * 256 + threadIdx.x, mine[d][threadIdx.x]);
}

// The exclusive sum over 256 threads.
DEV u32 places(u32 v, u32* shared) {
  const u32 t = threadIdx.x;
  u32 sum = v;
  shared[t] = sum;
  __syncthreads();
  for (u32 by = 1; by < 256; by <<= 1) {
    const u32 u = t >= by ? shared[t - by] : 0;
    __syncthreads();
    sum += u;
    shared[t] = sum;
    __syncthreads();
  }
  return sum - v;
}
extern "C" __global__ void __launch_bounds__(256) sort_places(u32* counts, u32 s0, u64* err) {
  __shared__ u32 sums[256];
  if (dead(err, s0)) return;
  const u32 at = blockIdx.x * 256 + threadIdx.x;
  const u32 count = counts[at];
  counts[at] = places(count, sums);
}

// Lanes of the warp with my digit, a bit each.
DEV u32 alike(u32 digit) {
  u32 lanes = ~0u;
  for (u32 bit = 0; bit < 8; bit++) {
    const u32 ones = __ballot_sync(~0u, digit >> bit & 1);
    lanes &= digit >> bit & 1 ? ones : ~ones;
  }
  return lanes;
}

extern "C" __global__ void __launch_bounds__(256) sort_pass(
    const u32* __restrict__ keys, const u32* __restrict__ payload, u32* __restrict__ r0, u32* __restrict__ r1,
    const u32* __restrict__ digit_places, u32* status, u32* ticket, u32 shift, u32 n, u32 s0, u64* err) {
  __shared__ u32 of_warp[8][256];  // how often each digit came in a warp, then in the warps before it
  __shared__ u32 sums[256], local[256], global[256];
  __shared__ u32 key_at[TILE], payload_at[TILE];
  __shared__ u32 tile_of_block;
  if (dead(err, s0)) return;
  const u32 t = threadIdx.x, lane = t % 32, warp = t / 32;
  if (t == 0) tile_of_block = atomicAdd(ticket, 1u);
  for (u32 w = 0; w < 8; w++) of_warp[w][t] = 0;
  __syncthreads();
  const u32 tile = tile_of_block, base = tile * TILE;

  // A warp has 32×12 consecutive elements, 32 at a time, so that ranks count in order. Beyond the end: keys of all
  // ones, which come last.
  u32 key[ITEMS], item[ITEMS], rank[ITEMS];
  for (u32 k = 0; k < ITEMS; k++) {
    const u32 i = base + (warp * ITEMS + k) * 32 + lane;
    key[k] = i < n ? __ldg(keys + i) : ~0u;
    item[k] = i < n ? __ldg(payload + i) : 0;
  }
  for (u32 k = 0; k < ITEMS; k++) {
    const u32 digit = key[k] >> shift & 255, lanes = alike(digit);
    const u32 lower = (u32)__popc(lanes & ((1u << lane) - 1));
    u32 so_far = 0;
    if (lower == 0) {  // the first lane of a digit counts for all
      so_far = of_warp[warp][digit];
      of_warp[warp][digit] = so_far + (u32)__popc(lanes);
    }
    rank[k] = __shfl_sync(~0u, so_far, __ffs((i32)lanes) - 1) + lower;
    __syncwarp();
  }
  __syncthreads();

  // From here thread t stands for digit t.
  u32 total = 0;
  for (u32 w = 0; w < 8; w++) {
    const u32 count = of_warp[w][t];
    of_warp[w][t] = total;
    total += count;
  }
  const u32 beyond = t == 255 && base + TILE > n ? base + TILE - n : 0;
  const u32 real = total - beyond;
  atomicExch(status + tile * 256 + t, (tile ? AGGREGATE : PREFIX) | real);
  u32 before = 0;
  for (i64 back = (i64)tile - 1; back >= 0;) {
    const u32 word = *(const volatile u32*)(status + back * 256 + t);
    if (word >> 30 == 0) continue;
    before += word & COUNT;
    if (word >> 30 == 2) break;
    back--;
  }
  if (tile) atomicExch(status + tile * 256 + t, PREFIX | (before + real));
  const u32 begins = places(total, sums);
  local[t] = begins;
  global[t] = digit_places[t] + before - begins;
  __syncthreads();

  // In order inside the tile, so that what goes out goes in runs.
  for (u32 k = 0; k < ITEMS; k++) {
    const u32 digit = key[k] >> shift & 255, at = local[digit] + of_warp[warp][digit] + rank[k];
    key_at[at] = key[k];
    payload_at[at] = item[k];
  }
  __syncthreads();
  for (u32 k = 0; k < ITEMS; k++) {
    const u32 at = k * 256 + t;
    if (base + at >= n) break;
    const u32 to = global[key_at[at] >> shift & 255] + at;
    r0[to] = key_at[at];
    r1[to] = payload_at[at];
  }
}
