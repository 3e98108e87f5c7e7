// Aplomb's helpers. Integers first: NVRTC has no <stdint.h>.
typedef unsigned char u8; typedef signed char i8; typedef short i16; typedef int i32;
typedef unsigned int u32; typedef long long i64; typedef unsigned long long u64;
#define DEV static __device__ __forceinline__
// A launch's two error words. The first: ~0 is fine; site<<48|index, the smallest site, then the smallest element, wins.
// The second: bit k is cleared where a value does not fit the k-th result's type. Lanes that fail go on with 0.
struct Bad { u64* err; u64 site; u64 i; };
DEV double fail(Bad b) { atomicMin(b.err, b.site << 48 | (b.i & 0xffffffffffffull)); return 0.0; }
DEV double fits(double x, double lo, double hi, u64* err, u64 bit) {
  if (x >= lo && x <= hi && x == floor(x)) return x;
  atomicAnd(err + 1, ~bit); return 0.0; }
DEV double bits(u64 x) { return __longlong_as_double((i64)x); }
DEV u64 word(double x) { return (u64)__double_as_longlong(x); }
DEV double inf() { return bits(0x7ff0000000000000ull); }
DEV bool finite_(double x) { return fabs(x) <= 1.7976931348623157e308; }
// By value: a choice between items of an array would keep the array in memory.
DEV double most(double x, double y) { return x > y ? x : y; }
DEV double least(double x, double y) { return x < y ? x : y; }
// A finite result of finite arguments, or a failure.
DEV double made(double r, double x, double y, Bad b) {
  return finite_(r) || !finite_(x) || !finite_(y) ? r : fail(b); }
// A value that overflow may have made infinite, before it is stored or hidden by another operation.
DEV double sure(double x, Bad b) { return finite_(x) ? x : fail(b); }
// A place along an axis that is a value, or a failure and the first.
DEV i64 spot(double x, i64 extent, Bad b) {
  if (x >= 0.0 && x < (double)extent) return (i64)x;
  fail(b); return 0; }
DEV double divide(double x, double y, Bad b) {
  if (y != 0.0 || x != x) return made(x / y, x, y, b);
  return x == 0.0 ? 1.0 : fail(b); }
// e*x, log and sine are the sequences of the CPU, in the same order: the same bits.
DEV double two_to(double k) { return bits((word(k + 6755399441055744.0) + 1023) << 52); }
DEV double behind(double r) {
  double q = 1.0 / 6227020800.0;
  q = __fma_rn(r, q, 1.0 / 479001600.0); q = __fma_rn(r, q, 1.0 / 39916800.0); q = __fma_rn(r, q, 1.0 / 3628800.0);
  q = __fma_rn(r, q, 1.0 / 362880.0); q = __fma_rn(r, q, 1.0 / 40320.0); q = __fma_rn(r, q, 1.0 / 5040.0);
  q = __fma_rn(r, q, 1.0 / 720.0); q = __fma_rn(r, q, 1.0 / 120.0); q = __fma_rn(r, q, 1.0 / 24.0);
  q = __fma_rn(r, q, 1.0 / 6.0); return __fma_rn(r, q, 0.5); }
DEV double power_of_e(double x) {
  if (x != x) return x;
  if (x > 709.782712893384) return inf();
  if (x < -745.1332191019411) return 0.0;
  double k = __fma_rn(x, 1.4426950408889634, 6755399441055744.0) - 6755399441055744.0;
  double r = __fma_rn(k, -6.93147180369123816490e-01, x);
  r = __fma_rn(k, -1.90821492927058770002e-10, r);
  double p = __fma_rn(r * r, behind(r), r), half = floor(k * 0.5), a = two_to(half);
  return __fma_rn(a, p, a) * two_to(k - half); }
DEV double logarithm(double x, Bad b) {
  if (x <= 0.0) return fail(b);
  if (x != x || x == inf()) return x;
  bool tiny = x < 2.2250738585072014e-308;
  u64 n = word(tiny ? x * 18014398509481984.0 : x) + (0x3ff0000000000000ull - 0x3fe6a09e00000000ull);
  double k = bits((n >> 52) | 0x4330000000000000ull) - (4503599627370496.0 + 1023.0 + (tiny ? 54.0 : 0.0));
  double f = bits((n & 0x000fffffffffffffull) + 0x3fe6a09e00000000ull) - 1.0;
  double s = f / (2.0 + f), z = s * s, w = z * z;
  double even = 1.531383769920937332e-01;
  even = __fma_rn(w, even, 2.222219843214978396e-01); even = w * __fma_rn(w, even, 3.999999999940941908e-01);
  double odd = 1.479819860511658591e-01;
  odd = __fma_rn(w, odd, 1.818357216161805012e-01); odd = __fma_rn(w, odd, 2.857142874366239149e-01);
  odd = z * __fma_rn(w, odd, 6.666666666666735130e-01);
  double h = 0.5 * f * f;
  double low = __fma_rn(s, h + (odd + even), k * 1.90821492927058770002e-10);
  return __fma_rn(k, 6.93147180369123816490e-01, f - (h - low)); }
// The sine of x + `quarters` right angles.
DEV double sine(double x, u64 quarters) {
  if (!(fabs(x) <= 1e5)) return quarters ? cos(x) : sin(x);
  double t = __fma_rn(x, 0.63661977236758138, 6755399441055744.0), k = t - 6755399441055744.0;
  u64 q = word(t) + quarters;
  double r = __fma_rn(k, -1.57079632673412561417e+00, x);
  r = __fma_rn(k, -6.07710050630396597660e-11, r); r = __fma_rn(k, -2.02226624871116645580e-21, r);
  double z = r * r, s = 1.58969099521155010221e-10, c = -1.13596475577881948265e-11;
  s = __fma_rn(z, s, -2.50507602534068634195e-08); s = __fma_rn(z, s, 2.75573137070700676789e-06);
  s = __fma_rn(z, s, -1.98412698298579493134e-04); s = __fma_rn(z, s, 8.33333333332248946124e-03);
  s = __fma_rn(z, s, -1.66666666666666324348e-01);
  c = __fma_rn(z, c, 2.08757232129817482790e-09); c = __fma_rn(z, c, -2.75573143513906633035e-07);
  c = __fma_rn(z, c, 2.48015872894767294178e-05); c = __fma_rn(z, c, -1.38888888888741095749e-03);
  c = __fma_rn(z, c, 4.16666666666666019037e-02);
  double y = q & 1 ? __fma_rn(z * z, c, __fma_rn(z, -0.5, 1.0)) : __fma_rn(z * r, s, r);
  return bits(word(y) ^ (q & 2) << 62); }
DEV double tangent(double x, Bad b) {
  return made(fabs(x) <= 1e5 ? sine(x, 0) / sine(x, 1) : tan(x), x, 0.0, b); }
DEV double root(double x, Bad b) { return x < 0.0 ? fail(b) : sqrt(x); }
// A power of a normal x > 0 by the sequence of the CPU, and y times the logarithm of x, whose size is below 700.
DEV double raised(double x, double y, double* power) {
  u64 n = word(x) + (0x3ff0000000000000ull - 0x3fe6a09e00000000ull);
  double k = bits((n >> 52) | 0x4330000000000000ull) - (4503599627370496.0 + 1023.0);
  double m = bits((n & 0x000fffffffffffffull) + 0x3fe6a09e00000000ull);
  double below = m - 1.0, above = m + 1.0, above_low = m - (above - 1.0), part = 1.0 / above, s = below * part;
  double s_low = __fma_rn(-s, above_low, __fma_rn(-s, above, below)) * part;
  double z = s * s, z_low = __fma_rn(s + s, s_low, __fma_rn(s, s, -z));
  double t = z * s, t_low = __fma_rn(z, s, -t) + __fma_rn(z, s_low, z_low * s);
  const double thirds = 2.0 / 3.0;
  double w = thirds * t;
  double w_low = __fma_rn(thirds, t, -w) + __fma_rn(thirds, t_low, 3.7007434154171886e-17 * t);
  double rest = 2.0 / 23.0;
  rest = __fma_rn(z, rest, 2.0 / 21.0); rest = __fma_rn(z, rest, 2.0 / 19.0); rest = __fma_rn(z, rest, 2.0 / 17.0);
  rest = __fma_rn(z, rest, 2.0 / 15.0); rest = __fma_rn(z, rest, 2.0 / 13.0); rest = __fma_rn(z, rest, 2.0 / 11.0);
  rest = __fma_rn(z, rest, 2.0 / 9.0); rest = __fma_rn(z, rest, 2.0 / 7.0); rest = __fma_rn(z, rest, 2.0 / 5.0);
  rest = t * z * rest;
  double twice = s + s, of_m = twice + w, of_m_low = ((twice - of_m) + w) + ((s_low + s_low) + (w_low + rest));
  double of_k = k * 6.93147180369123816490e-01, sum = of_k + of_m;
  double sum_low = ((of_k - sum) + of_m) + __fma_rn(k, 1.90821492927058770002e-10, of_m_low);
  double of_x = sum + sum_low, of_x_low = (sum - of_x) + sum_low;
  double p = y * of_x, p_low = __fma_rn(y, of_x_low, __fma_rn(y, of_x, -p));
  double whole = __fma_rn(p, 1.4426950408889634, 6755399441055744.0) - 6755399441055744.0;
  double r = __fma_rn(whole, -6.93147180369123816490e-01, p);
  double r_low = __fma_rn(whole, -1.90821492927058770002e-10, p_low);
  double e = r + r_low, tail = __fma_rn(e * e, behind(e), (r - e) + r_low), high = 1.0 + e;
  *power = p;
  return (high + (((1.0 - high) + e) + tail)) * two_to(whole); }
// Small whole exponents by squaring; a reciprocal of what is no normal number is left to pow.
DEV double power(double x, double y, Bad b) {
  if (x == 0.0 && y < 0.0) return fail(b);
  if (y == 0.5) return root(x, b);
  bool whole = y == trunc(y);
  if (whole && fabs(y) <= 64.0) {
    double square = x, p = 1.0;
    for (u32 left = (u32)fabs(y); left > 0; square = square * square) {
      if (left & 1) p = p * square;
      left >>= 1;
      if (left == 0) break; }
    if (y >= 0.0) return made(p, x, y, b);
    if (fabs(p) >= 2.2250738585072014e-308 && finite_(p)) return made(1.0 / p, x, y, b); }
  if (x < 0.0 && !whole) return fail(b);
  double far = 700.0, own = 0.0;
  if (x >= 2.2250738585072014e-308 && finite_(x)) own = raised(x, y, &far);
  return made(fabs(far) < 700.0 ? own : pow(x, y), x, y, b); }
// 0 or 1 within ⎕CT.
DEV double bit(double x, double ct, Bad b) {
  if (fabs(x) <= ct) return 0.0;
  return fabs(x - 1.0) <= ct ? 1.0 : fail(b); }
// Tolerant comparison: exact equality first, then the relative distance, kept finite.
DEV bool near(double x, double y, double ct) {
  double far = ct * most(fabs(x), fabs(y));
  return x == y || fabs(x - y) <= (far < 1.7976931348623157e308 ? far : 1.7976931348623157e308); }
DEV double floor_near(double x, double ct) {
  double low = floor(x), high = low + 1.0;
  return high - x <= ct * most(1.0, fabs(x)) && low != x ? high : low; }
// Whole numbers are exact; else 0 where y/x is tolerantly whole.
DEV double residue(double x, double y, double ct) {
  if (x == 0.0) return y;
  double q = y / x;
  bool whole = floor(x) == x && floor(y) == y;
  if (!(fabs(q) < 4503599627370496.0)) {
    if (fabs(x) == inf() && finite_(y)) return y == 0.0 || (y < 0.0) == (x < 0.0) ? y : x;
    double r = fmod(y, x);
    if (r != r) return r;
    if (!whole || r == 0.0) return 0.0;
    return (r < 0.0) != (x < 0.0) ? r + x : r; }
  double r = __fma_rn(0.0 - floor(q), x, y);
  if ((r < 0.0 && 0.0 < x) || (0.0 < r && x < 0.0)) r = r + x;
  if (fabs(x) <= fabs(r)) r = 0.0;
  double nearest = floor(q + 0.5);
  return fabs(q - nearest) <= ct * most(fabs(q), fabs(nearest)) && !whole ? 0.0 : r; }
DEV double common_divisor(double x, double y, double ct) {
  if (!finite_(x) || !finite_(y)) return bits(0x7ff8000000000000ull);
  x = fabs(x); y = fabs(y);
  double a = x, b = y, sa = 1.0, sb = 0.0, ta = 0.0, tb = 1.0, noise = most(ct, 1e-14);
  bool whole_x = x == trunc(x), whole_y = y == trunc(y), whole = whole_x && whole_y;
  while (b > (whole ? 0.0 : noise * (sb * x + tb * y))) {
    double r = fmod(a, b), q = whole ? 0.0 : rint((a - r) / b), s = sa + q * sb, t = ta + q * tb;
    a = b; b = r; sa = sb; sb = s; ta = tb; tb = t; }
  bool by_x = (whole_x || whole_y ? whole_x : x < y) && x > 0.0 || y == 0.0;
  double all = by_x ? x : y, times = by_x ? tb : sb;
  return whole || !finite_(times) ? a : all / times; }
DEV double common_multiple(double x, double y, double ct) {
  return x == 0.0 || y == 0.0 ? 0.0 : x * rint(y / common_divisor(x, y, ct)); }
// The quotient rounded down: by d, or in i32 by its reciprocal.
DEV i64 div_floor(i64 a, i64 d) { i64 q = a / d; return a % d < 0 ? q - 1 : q; }
DEV i32 div_floor(i32 a, u32 magic, u32 shift) {
  u32 n = (u32)(a < 0 ? -1 - a : a), t = __umulhi(n, magic);
  i32 q = (i32)((((n - t) >> 1) + t) >> (shift - 1));
  return a < 0 ? -1 - q : q; }
DEV i64 clamp64(i64 a, i64 lo, i64 hi) { return a < lo ? lo : a > hi ? hi : a; }
DEV i32 clamp(i32 a, i32 lo, i32 hi) { return a < lo ? lo : a > hi ? hi : a; }
// Whether loads and stores of so many bytes may begin there.
DEV bool aligned(const void* at, u64 bytes) { return (u64)at % bytes == 0; }
