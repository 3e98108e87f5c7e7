// Aplomb's helpers. Integers first: NVRTC has no <stdint.h>.
typedef unsigned char u8; typedef signed char i8; typedef short i16; typedef int i32;
typedef unsigned int u32; typedef long long i64; typedef unsigned long long u64;
#define DEV static __device__ __forceinline__
// The error word: ~0 is fine; site<<48|index, the smallest site, then the smallest element, wins.
struct Bad { u64* err; u64 site; u64 i; };
DEV void fail(Bad b) { atomicMin(b.err, b.site << 48 | (b.i & 0xffffffffffffull)); }
DEV bool dead(const u64* err, u64 s0) { return (*(const volatile u64*)err >> 48) < s0; }
DEV double inf() { return __longlong_as_double(0x7ff0000000000000ll); }
// A finite result of finite arguments, or a failure and 0.
DEV double made(double r, double x, double y, Bad b) {
  if (isfinite(r) || !isfinite(x) || !isfinite(y)) return r;
  fail(b); return 0.0; }
// A place along an axis that is a value, or a failure and the first.
DEV i64 spot(double x, i64 extent, Bad b) {
  if (x >= 0.0 && x < (double)extent) return (i64)x;
  fail(b); return 0; }
// A value that overflow may have made infinite, before it is stored or hidden by another operation.
DEV double sure(double x, Bad b) { if (isfinite(x)) return x; fail(b); return 0.0; }
DEV double divide(double x, double y, Bad b) {
  if (y == 0.0) { if (x == 0.0) return 1.0; fail(b); return 0.0; }
  return made(x / y, x, y, b); }
DEV double logarithm(double x, Bad b) { if (x <= 0.0) { fail(b); return 0.0; } return log(x); }
DEV double root(double x, Bad b) { if (x < 0.0) { fail(b); return 0.0; } return sqrt(x); }
DEV double power(double x, double y, Bad b) {
  if (x == 0.0 && y == 0.0) return 1.0;
  if ((x < 0.0 && y != rint(y)) || (x == 0.0 && y < 0.0)) { fail(b); return 0.0; }
  return made(pow(x, y), x, y, b); }
DEV double complement(double x, double ct, Bad b) {
  if (fabs(x) <= ct) return 1.0;
  if (fabs(x - 1.0) <= ct) return 0.0;
  fail(b); return 0.0; }
// Tolerant comparison: exact equality first, then the relative distance.
DEV bool near(double x, double y, double ct) {
  return x == y || fabs(x - y) <= ct * (fabs(x) > fabs(y) ? fabs(x) : fabs(y)); }
DEV double floor_near(double x, double ct) {
  double r = rint(x); return near(r, x, ct) ? r : floor(x); }
DEV double residue(double x, double y, double ct) {
  if (x == 0.0) return y;
  double q = y / x, r = rint(q);
  if (near(q, r, ct) && fabs(r) < 9007199254740992.0) return ct == 0.0 && q != r ? y - x * floor(q) : 0.0;
  return y - x * floor(q); }
DEV i64 div_floor(i64 a, i64 d) { i64 q = a / d; return a % d < 0 ? q - 1 : q; }
DEV i64 mod_floor(i64 a, i64 d) { i64 r = a % d; return r < 0 ? r + d : r; }
DEV i64 clamp(i64 a, i64 lo, i64 hi) { return a < lo ? lo : a > hi ? hi : a; }
