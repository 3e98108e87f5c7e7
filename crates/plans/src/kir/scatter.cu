// A whole number that any order of adding so many of its size leaves exact; a failure else, which the CPU looks into.
DEV i64 tally_whole(double x, double most, Bad b) {
  if (fabs(x) <= most && x == trunc(x)) return (i64)x;
  fail(b); return 0; }
// Adds to a sum of 64 bits in two halves: shared memory has no 64-bit addition of its own.
DEV void tally_add(u32* low, u32* high, i64 x) {
  const u32 part = (u32)x, before = atomicAdd(low, part), more = (u32)((u64)x >> 32) + (before + part < before ? 1u : 0u);
  if (more) atomicAdd(high, more); }
// Sums of a block of so many bins: to 0, and to memory.
DEV void tally_clear(u32* low, u32* high, u32 bins) {
  for (u32 k = threadIdx.x; k < bins; k += 256) { low[k] = 0; high[k] = 0; }
  __syncthreads(); }
DEV void tally_give(const u32* low, const u32* high, u32 bins, u64* sums) {
  __syncthreads();
  for (u32 k = threadIdx.x; k < bins; k += 256)
    if (low[k] | high[k]) atomicAdd(sums + k, (u64)high[k] << 32 | low[k]); }
// Sums of 32 bits of a block, a row of bins for each of some warps: to 0, and to memory.
DEV void small_clear(u32* own, u32 items) {
  for (u32 k = threadIdx.x; k < items; k += 256) own[k] = 0;
  __syncthreads(); }
DEV void small_give(const u32* own, u32 bins, u32 rows, u64* sums) {
  __syncthreads();
  for (u32 k = threadIdx.x; k < bins; k += 256) {
    u32 sum = 0;
    for (u32 r = 0; r < rows; r++) sum += own[r * bins + k];
    if (sum) atomicAdd(sums + k, (u64)(i64)(i32)sum); } }
