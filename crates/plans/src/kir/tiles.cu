// Ways through tiles, in one launch. A tile is THREADS × ITEMS places; it tells the total of its own as soon as it knows it,
// and learns what stands before it from what earlier tiles told.
//
// The next tile comes from a ticket, never from blockIdx: a tile waits for earlier ones only, and those have begun. The
// blocks of earlier slices took one number each beyond their tiles, `first` in all. Whoever read the seat has passed a
// barrier of that tile since; the one here lets nobody write a tile's shared arrays that another still reads.
DEV u64 next_tile(u32* ticket, u32 first, u32* seat) {
  if (threadIdx.x == 0) *seat = atomicAdd(ticket, 1u) - first;
  __syncthreads();
  return *seat; }
// A fold of doubles: a value is not written at once with its flag. So a tile writes the value, fences, then sets the flag,
// and a reader sees the flag, fences, then reads.
struct Told { double v; u32 flag, rest; };
template <class F> DEV double warp_scan(F join, double v) {
  for (u32 by = 1; by < 32; by <<= 1) {
    double before = __shfl_up_sync(~0u, v, by);
    if (threadIdx.x % 32 >= by) v = join(before, v); }
  return v; }
DEV void tell(Told* here, double v) {
  here->v = v;
  __threadfence();
  atomicExch(&here->flag, 1u); }
// What each lane's tile told, waited for; `unit` where a lane asks for none.
DEV double heard(const volatile Told* told, bool asks, u32 at, double unit) {
  for (u32 flag = 0; __any_sync(~0u, flag == 0);) flag = asks ? told[at].flag : 1;
  __threadfence();
  if (asks) unit = told[at].v;
  return unit; }
// What stands before tile `at` of a line, and what this one tells: it is one warp's. 32 tiles are a group, 32 groups a
// link of a chain. A tile tells its total, the last one of a group the group's, the last one of a link all that stands
// up to its end. So what is joined with what never depends on who came first: a scan has the same bits each time.
template <class F> DEV double look_back(F join, double unit, Told* told, u32 tile, u32 at, double total) {
  u32 lane = threadIdx.x % 32, from = tile;
  double before = unit;
  bool tells = lane == 0;
  #pragma unroll 1
  for (u32 bits = 0; bits < 10; bits += 5) {
    u32 own = at >> bits & 31;
    if (tells && own < 31) { tell(told + tile, total); tells = false; }
    from -= own << bits;
    double v = heard(told, lane < own, from + ((lane + 1) << bits) - 1, unit);
    v = warp_scan(join, lane == own ? total : v);
    total = __shfl_sync(~0u, v, 31);
    v = __shfl_sync(~0u, v, own ? own - 1 : 0);
    if (own) before = join(v, before); }
  if (at >= 1024) {
    double all = __shfl_sync(~0u, heard(told, lane == 0, from - 1, unit), 0);
    before = join(all, before);
    total = join(all, total); }
  if (tells) tell(told + tile, total);
  return before; }
// A place of a tile in shared memory: one more behind each thread's, so that they begin in different banks.
template <u32 ITEMS> DEV u32 padded(u32 at) { return at + at / ITEMS; }
// The values of a tile become the running fold from tile `first` on; `warps` has room for nine.
template <u32 ITEMS, class F> DEV void scan_tile(F join, double unit, double* items, double* warps, Told* told,
                                                 u64 first, u64 tile) {
  u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  double* own = items + threadIdx.x * (ITEMS + 1);
  double mine[ITEMS];
  __syncthreads();
  mine[0] = own[0];
  #pragma unroll
  for (u32 k = 1; k < ITEMS; k++) mine[k] = join(mine[k - 1], own[k]);
  double lanes = warp_scan(join, mine[ITEMS - 1]);
  if (lane == 31) warps[warp] = lanes;
  __syncthreads();
  if (warp == 0) {
    double all = warp_scan(join, lane < 8 ? warps[lane] : unit), total = __shfl_sync(~0u, all, 7);
    if (lane < 8) warps[lane] = all;
    double before = look_back(join, unit, told, (u32)tile, (u32)(tile - first), total);
    if (lane == 0) warps[8] = before; }
  __syncthreads();
  double before = warps[8], left = __shfl_up_sync(~0u, lanes, 1);
  if (warp) before = join(before, warps[warp - 1]);
  if (lane) before = join(before, left);
  #pragma unroll
  for (u32 k = 0; k < ITEMS; k++) own[k] = join(before, mine[k]);
  __syncthreads(); }
// Counts have 62 bits beside their flag: one word, never torn, and no fence.
enum : u32 { TOTAL = 1, PREFIX = 2 };
enum : u64 { COUNT = (1ull << 62) - 1 };
DEV u64 look_back(const u64* status, u64 tile) {
  u32 lane = threadIdx.x % 32;
  u64 before = 0;
  for (i64 near = (i64)tile - 1;;) {
    i64 at = near - (i64)lane;
    u64 word = at >= 0 ? *(const volatile u64*)(status + at) : (u64)PREFIX << 62;
    if (__any_sync(~0u, word >> 62 == 0)) continue;
    u32 known = __ballot_sync(~0u, word >> 62 == PREFIX), last = known ? (u32)__ffs((i32)known) - 1 : 31;
    u64 v = lane <= last ? word & COUNT : 0;
    for (u32 by = 16; by > 0; by >>= 1) v += __shfl_down_sync(~0u, v, by);
    before += __shfl_sync(~0u, v, 0);
    if (known) return before;
    near -= 32; } }
// How many each warp keeps of its 32 places, ITEMS times one warp after the other, becomes where the first of them goes.
template <u32 ITEMS> DEV void count_tile(u64* counts, u64* status, u64 tile) {
  __syncthreads();
  if (threadIdx.x < 32) {
    u64 mine[ITEMS / 4], sum = 0, lanes, before = 0;
    #pragma unroll
    for (u32 k = 0; k < ITEMS / 4; k++) { mine[k] = sum; sum += counts[threadIdx.x * (ITEMS / 4) + k]; }
    lanes = sum;
    for (u32 by = 1; by < 32; by <<= 1) {
      u64 left = __shfl_up_sync(~0u, lanes, by);
      if (threadIdx.x >= by) lanes += left; }
    u64 total = __shfl_sync(~0u, lanes, 31);
    if (threadIdx.x == 0) atomicExch(status + tile, (u64)(tile ? TOTAL : PREFIX) << 62 | total);
    if (tile) {
      before = look_back(status, tile);
      if (threadIdx.x == 0) atomicExch(status + tile, (u64)PREFIX << 62 | (before + total)); }
    #pragma unroll
    for (u32 k = 0; k < ITEMS / 4; k++) counts[threadIdx.x * (ITEMS / 4) + k] = before + (lanes - sum) + mine[k]; }
  __syncthreads(); }
