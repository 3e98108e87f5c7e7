// The failure of a call: ~0 is fine; site<<48|place, the smallest site, then the smallest place, wins.
typedef struct { u64* err; u64 site; u64 i; } Bad;
static inline double fail(Bad b) {
  u64 own = b.site << 48 | (b.i & 0xffffffffffffull);
#ifdef _OPENMP
#pragma omp critical(aplomb_failure)
#endif
  { if (own < *b.err) *b.err = own; }
  return 0.0; }
static inline double bits(u64 x) { double d; memcpy(&d, &x, 8); return d; }
static inline u64 word(double x) { u64 w; memcpy(&w, &x, 8); return w; }
static inline float short_bits(u32 x) { float f; memcpy(&f, &x, 4); return f; }
static inline u32 short_word(float x) { u32 w; memcpy(&w, &x, 4); return w; }
// The quotient rounded down.
static inline i64 div_floor(i64 a, i64 d) { i64 q = a / d; return a % d < 0 ? q - 1 : q; }
