// Hyperbolic functions and inverse circular ones by the sequences of the CPU (`prim::scalar::circles`): the same bits.
DEV double circle_signed(double y, double x) { return bits(word(y) ^ (word(x) & 0x8000000000000000ull)); }
DEV double circle_sinh_behind(double z) {
  double q = 1.0 / 355687428096000.0;
  q = __fma_rn(z, q, 1.0 / 1307674368000.0); q = __fma_rn(z, q, 1.0 / 6227020800.0);
  q = __fma_rn(z, q, 1.0 / 39916800.0); q = __fma_rn(z, q, 1.0 / 362880.0); q = __fma_rn(z, q, 1.0 / 5040.0);
  q = __fma_rn(z, q, 1.0 / 120.0); q = __fma_rn(z, q, 1.0 / 6.0);
  return q; }
DEV double circle_cosh_behind(double z) {
  double q = 1.0 / 20922789888000.0;
  q = __fma_rn(z, q, 1.0 / 87178291200.0); q = __fma_rn(z, q, 1.0 / 479001600.0);
  q = __fma_rn(z, q, 1.0 / 3628800.0); q = __fma_rn(z, q, 1.0 / 40320.0); q = __fma_rn(z, q, 1.0 / 720.0);
  q = __fma_rn(z, q, 1.0 / 24.0); q = __fma_rn(z, q, 0.5);
  return q; }
DEV double circle_sinh(double x, Bad b) {
  double a = fabs(x);
  if (!(a <= 708.0)) return made(sinh(x), x, 0.0, b);
  double t = power_of_e(a), far = (t - 1.0 / t) * 0.5, z = a * a;
  return circle_signed(a < 1.0 ? __fma_rn(a * z, circle_sinh_behind(z), a) : far, x); }
DEV double circle_cosh(double x, Bad b) {
  if (!(fabs(x) <= 708.0)) return made(cosh(x), x, 0.0, b);
  double t = power_of_e(fabs(x));
  return (t + 1.0 / t) * 0.5; }
DEV double circle_tanh(double x) {
  double a = fabs(x), held = 22.0 < a ? 22.0 : a, t = power_of_e(held + held);
  double far = 1.0 - 2.0 / (t + 1.0), z = held * held, c = circle_cosh_behind(z);
  double part = (circle_sinh_behind(z) - c) / __fma_rn(z, c, 1.0);
  return circle_signed(held < 0.55 ? __fma_rn(held * z, part, held) : far, x); }
DEV double circle_atan(double x) {
  double a = fabs(x), above = a, below = 1.0, high = 0.0, low = 0.0;
  if (2.4375 <= a) { above = -1.0; below = a; high = 1.57079632679489655800; low = 6.12323399573676603587e-17; }
  else if (1.1875 <= a) {
    above = a - 1.5; below = 1.5 * a + 1.0; high = 9.82793723247329054082e-01; low = 1.39033110312309984516e-17; }
  else if (0.6875 <= a) {
    above = a - 1.0; below = a + 1.0; high = 7.85398163397448278999e-01; low = 3.06161699786838301793e-17; }
  else if (0.4375 <= a) {
    above = a - 0.5; below = 0.5 * a + 1.0; high = 4.63647609000806093515e-01; low = 2.26987774529616870924e-17; }
  double r = above / below, z = r * r, w = z * z;
  double odd = 1.62858201153657823623e-02;
  odd = __fma_rn(w, odd, 4.97687799461593236017e-02); odd = __fma_rn(w, odd, 6.66107313738753120669e-02);
  odd = __fma_rn(w, odd, 9.09088713343650656196e-02); odd = __fma_rn(w, odd, 1.42857142725034663711e-01);
  odd = __fma_rn(w, odd, 3.33333333333329318027e-01);
  double even = -3.65315727442169155270e-02;
  even = __fma_rn(w, even, -5.83357013379057348645e-02); even = __fma_rn(w, even, -7.69187620504482999495e-02);
  even = __fma_rn(w, even, -1.11111104054623557880e-01); even = __fma_rn(w, even, -1.99999999998764832476e-01);
  double rest = r * (z * odd + w * even) - low - r;
  return circle_signed(high - rest, x); }
// (arcsin √z)÷√z, less 1.
DEV double circle_behind(double z) {
  double p = 3.47933107596021167570e-05;
  p = __fma_rn(z, p, 7.91534994289814532176e-04); p = __fma_rn(z, p, -4.00555345006794114027e-02);
  p = __fma_rn(z, p, 2.01212532134862925881e-01); p = __fma_rn(z, p, -3.25565818622400915405e-01);
  p = __fma_rn(z, p, 1.66666666666666657415e-01);
  double q = 7.70381505559019352791e-02;
  q = __fma_rn(z, q, -6.88283971605453293030e-01); q = __fma_rn(z, q, 2.02094576023350569471e+00);
  q = __fma_rn(z, q, -2.40339491173441421878e+00); q = __fma_rn(z, q, 1.0);
  return z * p / q; }
// What the root of z has lost.
DEV double circle_lost(double root, double z) { return 0.0 < z ? __fma_rn(root, 0.0 - root, z) / (root + root) : 0.0; }
DEV double circle_asin(double x, Bad b) {
  double a = fabs(x);
  if (!(a <= 1.0)) return x != x ? x : fail(b);
  if (a < 0.5) return circle_signed(__fma_rn(a, circle_behind(a * a), a), x);
  double z = (1.0 - a) * 0.5, root = sqrt(z), low = __fma_rn(root, circle_behind(z), circle_lost(root, z));
  root = root + root; low = low + low;
  double high = 1.57079632679489655800 - root, cut = 1.57079632679489655800 - high - root;
  return circle_signed(high + ((cut - low) + 6.12323399573676603587e-17), x); }
DEV double circle_acos(double x, Bad b) {
  double a = fabs(x);
  if (!(a <= 1.0)) return x != x ? x : fail(b);
  if (a < 0.5) return 1.57079632679489655800 - (x - (6.12323399573676603587e-17 - x * circle_behind(x * x)));
  double z = (1.0 - a) * 0.5, root = sqrt(z);
  double angle = root + __fma_rn(root, circle_behind(z), circle_lost(root, z));
  angle = angle + angle;
  return x < 0.0 ? 3.14159265358979311600 - (angle - 1.22464679914735320717e-16) : angle; }
// X○Y where X is an array, and the circles without a text of their own. As `prim::scalar::slow`.
DEV double circle_by(double x, double y, double ct, Bad b) {
  const double k = floor(x + 0.5), size = fabs(y);
  if (!(fabs(x - k) <= ct && fabs(k) <= 12.0)) return fail(b);
  switch ((i32)k) {
    case 0: return root((1.0 - y) * (1.0 + y), b);
    case 1: return sine(y, 0);
    case 2: return sine(y, 1);
    case 3: return tangent(y, b);
    case 4: return made(hypot(y, 1.0), y, 0.0, b);
    case 5: return circle_sinh(y, b);
    case 6: return circle_cosh(y, b);
    case 7: return circle_tanh(y);
    case 9: case -9: case -10: return y;
    case 10: return size;
    case 11: return 0.0;
    case 12: return y < 0.0 ? 3.14159265358979312 : 0.0;
    case -1: return circle_asin(y, b);
    case -2: return circle_acos(y, b);
    case -3: return circle_atan(y);
    case -4: return size < 1.0 ? fail(b) : made(copysign(sqrt(size - 1.0) * sqrt(size + 1.0), y), y, 0.0, b);
    case -5: return asinh(y);
    case -6: return y < 1.0 ? fail(b) : acosh(y);
    case -7: return size >= 1.0 ? fail(b) : atanh(y);
    case -11: return y == 0.0 ? 0.0 : fail(b);
    case -12: return y == 0.0 ? 1.0 : fail(b);
    default: return y != y ? y : fail(b); } }
