// Radix sort: unsigned keys with a u32 each (its item), stable, 8 bits a pass. Keys and items lie in one of two buffers:
// which, the digits tell that had more than one value (`moves`), for the others were not gone through.
DEV u32 radix_key(u8 x) { return x; }
DEV u32 radix_key(u32 x) { return x; }
DEV u32 radix_key(i8 x) { return (u32)(x + 128); }
DEV u32 radix_key(i16 x) { return (u32)(x + 32768); }
DEV u32 radix_key(i32 x) { return (u32)x ^ 0x80000000u; }
// ¯0 is 0, and NaN is one value, the greatest; the rest is IEEE's total order.
DEV u32 radix_key(float x) {
  u32 w = x != x ? 0x7fc00000u : (u32)__float_as_int(x + 0.0f);
  return w >> 31 ? ~w : w | 0x80000000u; }
DEV u64 radix_key(double x) {
  u64 w = x != x ? 0x7ff8000000000000ull : word(x + 0.0);
  return w >> 63 ? ~w : w | 0x8000000000000000ull; }
// Back to the number, by a pointer to its type.
DEV double radix_back(u32 k, const u8*) { return k; }
DEV double radix_back(u32 k, const u32*) { return k; }
DEV double radix_back(u32 k, const i8*) { return (double)k - 128.0; }
DEV double radix_back(u32 k, const i16*) { return (double)k - 32768.0; }
DEV double radix_back(u32 k, const i32*) { return (double)(i32)(k ^ 0x80000000u); }
DEV double radix_back(u32 k, const float*) { return __int_as_float((i32)(k >> 31 ? k & 0x7fffffffu : ~k)); }
DEV double radix_back(u64 k, const double*) { return bits(k >> 63 ? k & 0x7fffffffffffffffull : ~k); }
// Where the items are.
template <class T> DEV const T* radix_chosen(const T* first, const T* second, const u32* moves) {
  return __popc(*moves) & 1 ? second : first; }
// How often each value of each digit comes; `mine` holds 256 a digit.
template <class K> DEV void radix_count(const K* keys, u32* counts, u32* mine, u32 digits, u64 from, u64 n) {
  const u32 t = threadIdx.x;
  for (u32 d = 0; d < digits; d++) mine[d * 256 + t] = 0;
  __syncthreads();
  for (u64 i = from + (u64)blockIdx.x * 256 + t; i < from + n; i += (u64)gridDim.x * 256) {
    const K key = keys[i];
    for (u32 d = 0; d < digits; d++) atomicAdd(mine + d * 256 + (u32)(key >> 8 * d & 255), 1u); }
  __syncthreads();
  for (u32 d = 0; d < digits; d++)
    if (mine[d * 256 + t]) atomicAdd(counts + d * 256 + t, mine[d * 256 + t]); }
// The sum of what lower threads hold.
DEV u32 radix_before(u32 v, u32* sums) {
  const u32 t = threadIdx.x;
  u32 sum = v;
  sums[t] = sum;
  __syncthreads();
  for (u32 by = 1; by < 256; by <<= 1) {
    const u32 u = t >= by ? sums[t - by] : 0;
    __syncthreads();
    sum += u;
    sums[t] = sum;
    __syncthreads(); }
  return sum - v; }
// Counts of a digit become places, and it is told whether it has more than one value.
DEV void radix_places(u32* counts, u32* moves, u32* sums, u32 digit, u32 total) {
  const u32 count = counts[digit * 256 + threadIdx.x];
  if (count > 0 && count < total) atomicOr(moves, 1u << digit);
  counts[digit * 256 + threadIdx.x] = radix_before(count, sums); }
// Lanes of the warp with my digit, a bit each.
DEV u32 radix_alike(u32 digit) {
  u32 lanes = ~0u;
  for (u32 bit = 0; bit < 8; bit++) {
    const u32 ones = __ballot_sync(~0u, digit >> bit & 1);
    lanes &= digit >> bit & 1 ? ones : ~ones; }
  return lanes; }
// Moves a tile to its places by one digit; tiles look back for how often their digits came before. In `small`: counts of
// the warps, 8 of 256, then sums, where digits begin in the tile and where in all; its tile.
template <u32 ITEMS, class K> DEV void radix_pass(K* key0, u32* item0, K* key1, u32* item1, const u32* counts,
    const u32* moves, u32* status, u32* ticket, u32* small, K* key_at, u32* item_at, u32 digit_at, u32 total) {
  const u32 TILE = 256 * ITEMS, AGGREGATE = 1u << 30, PREFIX = 2u << 30, COUNT = AGGREGATE - 1;
  const u32 t = threadIdx.x, lane = t % 32, warp = t / 32, shift = 8 * digit_at, moved = *moves;
  if (!(moved >> digit_at & 1)) return;
  const bool back_again = __popc(moved & ((1u << digit_at) - 1)) & 1;
  const K* keys = back_again ? key1 : key0;
  const u32* items = back_again ? item1 : item0;
  K* to_keys = back_again ? key0 : key1;
  u32* to_items = back_again ? item0 : item1;
  u32 *of_warp = small, *sums = small + 2048, *local = small + 2304, *global = small + 2560, *own = small + 2816;
  if (t == 0) own[0] = atomicAdd(ticket, 1u);
  for (u32 w = 0; w < 8; w++) of_warp[w * 256 + t] = 0;
  __syncthreads();
  const u32 tile = own[0], base = tile * TILE;
  // A warp has 32×ITEMS neighbours, 32 at a time, so that ranks count in order. Beyond the end: the last digit.
  K key[ITEMS];
  u32 item[ITEMS], rank[ITEMS];
#pragma unroll
  for (u32 k = 0; k < ITEMS; k++) {
    const u32 i = base + (warp * ITEMS + k) * 32 + lane;
    key[k] = i < total ? keys[i] : ~(K)0;
    item[k] = i < total ? items[i] : 0; }
#pragma unroll
  for (u32 k = 0; k < ITEMS; k++) {
    const u32 digit = (u32)(key[k] >> shift & 255), lanes = radix_alike(digit);
    const u32 lower = (u32)__popc(lanes & ((1u << lane) - 1));
    u32 so_far = 0;
    if (lower == 0) {  // the first lane of a digit counts for all
      so_far = of_warp[warp * 256 + digit];
      of_warp[warp * 256 + digit] = so_far + (u32)__popc(lanes); }
    rank[k] = __shfl_sync(~0u, so_far, __ffs((i32)lanes) - 1) + lower;
    __syncwarp(); }
  __syncthreads();
  // From here thread t stands for digit t.
  u32 all = 0;
  for (u32 w = 0; w < 8; w++) {
    const u32 count = of_warp[w * 256 + t];
    of_warp[w * 256 + t] = all;
    all += count; }
  const u32 beyond = t == 255 && base + TILE > total ? base + TILE - total : 0;
  const u32 real = all - beyond;
  atomicExch(status + (u64)tile * 256 + t, (tile ? AGGREGATE : PREFIX) | real);
  u32 before = 0;
  for (i64 back = (i64)tile - 1; back >= 0;) {
    const u32 told = *(const volatile u32*)(status + back * 256 + t);
    if (told >> 30 == 0) continue;
    before += told & COUNT;
    if (told >> 30 == 2) break;
    back--; }
  if (tile) atomicExch(status + (u64)tile * 256 + t, PREFIX | (before + real));
  const u32 begins = radix_before(all, sums);
  local[t] = begins;
  global[t] = counts[digit_at * 256 + t] + before - begins;
  __syncthreads();
  // In order inside the tile, so that what goes out goes in runs.
#pragma unroll
  for (u32 k = 0; k < ITEMS; k++) {
    const u32 digit = (u32)(key[k] >> shift & 255), at = local[digit] + of_warp[warp * 256 + digit] + rank[k];
    key_at[at] = key[k];
    item_at[at] = item[k]; }
  __syncthreads();
#pragma unroll
  for (u32 k = 0; k < ITEMS; k++) {
    const u32 at = k * 256 + t;
    if (base + at < total) {
      const u32 to = global[(u32)(key_at[at] >> shift & 255)] + at;
      to_keys[to] = key_at[at];
      to_items[to] = item_at[at]; } } }
// Up to 2048 items by one block: a bitonic network on keys and places.
template <class K> DEV void radix_few(K* keys, u32* items, K* key_at, u32* place_at, u32 total) {
  u32 size = 2;
  while (size < total) size <<= 1;
  for (u32 i = threadIdx.x; i < size; i += 256) {
    key_at[i] = i < total ? keys[i] : ~(K)0;
    place_at[i] = i; }
  __syncthreads();
  for (u32 run = 2; run <= size; run <<= 1)
    for (u32 by = run >> 1; by > 0; by >>= 1) {
      for (u32 k = threadIdx.x; k < size / 2; k += 256) {
        const u32 i = 2 * k - (k & (by - 1)), j = i + by;
        const K x = key_at[i], y = key_at[j];
        const u32 p = place_at[i], q = place_at[j];
        if ((x > y || (x == y && p > q)) == !(i & run)) {
          key_at[i] = y; key_at[j] = x;
          place_at[i] = q; place_at[j] = p; } }
      __syncthreads(); }
  u32 item[8];
#pragma unroll
  for (u32 k = 0; k < 8; k++) {
    const u32 i = k * 256 + threadIdx.x;
    item[k] = i < total ? items[place_at[i]] : 0; }
  __syncthreads();
#pragma unroll
  for (u32 k = 0; k < 8; k++) {
    const u32 i = k * 256 + threadIdx.x;
    if (i < total) { keys[i] = key_at[i]; items[i] = item[k]; } } }
// The first of so many ordered keys that is not below.
template <class K> DEV u32 radix_lower(const K* keys, u32 n, K wanted) {
  u32 from = 0, to = n;
  while (from < to) {
    const u32 mid = from + (to - from) / 2;
    if (keys[mid] < wanted) from = mid + 1; else to = mid; }
  return from; }
// The least item among the keys whose numbers are tolerantly y, or n. They are neighbours; of equal keys the first has
// the least item.
template <class K, class T> DEV u32 radix_find(const K* keys, const u32* items, const T* of, u32 n, double y, double ct) {
  if (y != y) return n;
  const u64 wanted = radix_key(y);
  u32 from = 0, to = n, least = n;
  while (from < to) {
    const u32 mid = from + (to - from) / 2;
    const double x = radix_back(keys[mid], of);
    const bool below = radix_key(x) < wanted && !(finite_(x) && finite_(y) && near(x, y, ct));
    if (below) from = mid + 1; else to = mid; }
  while (from < n) {
    const K key = keys[from];
    const double x = radix_back(key, of);
    if (!(x == y || (finite_(x) && finite_(y) && near(x, y, ct)))) break;
    least = items[from] < least ? items[from] : least;
    // Beyond those with the same key, by steps that double.
    u32 step = 1;
    while (from + step < n && keys[from + step] == key) step <<= 1;
    u32 low = from + step / 2, high = from + step < n ? from + step : n;
    while (low < high) {
      const u32 mid = low + (high - low) / 2;
      if (keys[mid] == key) low = mid + 1; else high = mid; }
    from = low; }
  return least; }
