// The order of numbers: below, 0 whatever its sign, above, what is no number last.
static inline u64 order_key(double x) {
  if (x != x) return ~0ull;
  u64 own = word(x + 0.0);
  return own >> 63 ? ~own : own | 1ull << 63; }
// Whether cell x comes before cell y; equal cells stay as they are.
static inline bool order_before(const double* numbers, i64 wide, bool down, i64 x, i64 y) {
  for (i64 k = 0; k < wide; k++) {
    u64 a = order_key(numbers[x * wide + k]), b = order_key(numbers[y * wide + k]);
    if (a != b) return down ? a > b : a < b; }
  return x < y; }
// The places of cells in their order: runs that are merged, two by two.
static inline void order_cells(const double* numbers, i64 n, i64 wide, bool down, i64* order, i64* other) {
  for (i64 k = 0; k < n; k++) order[k] = k;
  for (i64 run = 1; run < n; run = 2 * run) {
    for (i64 first = 0; first < n; first += 2 * run) {
      i64 middle = first + run < n ? first + run : n, end = middle + run < n ? middle + run : n;
      i64 a = first, b = middle;
      for (i64 k = first; k < end; k++) {
        bool left = b >= end || (a < middle && order_before(numbers, wide, down, order[a], order[b]));
        other[k] = left ? order[a++] : order[b++]; } }
    for (i64 k = 0; k < n; k++) order[k] = other[k]; } }
// The first place of what equals y within ct, n where there is none; `order` is that of the numbers.
static inline i64 order_find(const double* numbers, const i64* order, i64 n, double y, double ct) {
  double by = finite_(y) ? 2.0 * ct * fabs(y) : 0.0;
  u64 low = order_key(y - by), high = order_key(y + by);
  i64 from = 0, to = n, least = n;
  while (from < to) {
    i64 middle = from + (to - from) / 2;
    if (order_key(numbers[order[middle]]) < low) from = middle + 1; else to = middle; }
  for (; from < n && order_key(numbers[order[from]]) <= high; from++) {
    double x = numbers[order[from]];
    bool close = fabs(x - y) <= ct * most(fabs(x), fabs(y)) && finite_(x) && finite_(y);
    if ((x == y || close) && order[from] < least) least = order[from]; }
  return least; }
