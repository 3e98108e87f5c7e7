// Of f32, in f32: the sequences of the CPU, in the same order. What they cannot do is done in f64 and rounded.
DEV float short_bits(u32 x) { return __int_as_float((i32)x); }
DEV u32 short_word(float x) { return (u32)__float_as_int(x); }
DEV float single_two_to(float k) { return short_bits((short_word(k + 12582912.0f) + 127) << 23); }
DEV float single_exp(float x) {
  if (x != x) return x;
  if (x > 88.72283f) return short_bits(0x7f800000);
  if (x < -103.97208f) return 0.0f;
  float k = __fmaf_rn(x, 1.4426950408889634f, 12582912.0f) - 12582912.0f;
  float r = __fmaf_rn(k, -0.693359375f, x);
  r = __fmaf_rn(k, 2.1219444005469058e-4f, r);
  float q = 0.0013950987963497236f;
  q = __fmaf_rn(r, q, 0.008369176142057325f); q = __fmaf_rn(r, q, 0.04166619834328251f);
  q = __fmaf_rn(r, q, 0.16666516446902335f); q = __fmaf_rn(r, q, 0.5000000097504672f);
  float p = __fmaf_rn(r * r, q, r), half = floorf(k * 0.5f), a = single_two_to(half);
  return __fmaf_rn(a, p, a) * single_two_to(k - half); }
DEV float single_log(float x, Bad b) {
  if (x <= 0.0f) return (float)fail(b);
  if (x != x || x == short_bits(0x7f800000)) return x;
  bool tiny = x < 1.17549435e-38f;
  u32 n = short_word(tiny ? x * 8388608.0f : x) + (0x3f800000u - 0x3f3504f3u);
  float k = short_bits(n >> 23 | 0x4b000000u) - (tiny ? 8388758.0f : 8388735.0f);
  float f = short_bits((n & 0x007fffffu) + 0x3f3504f3u) - 1.0f, z = f * f, p = 0.06746643175822914f;
  p = __fmaf_rn(f, p, -0.11675656835285149f); p = __fmaf_rn(f, p, 0.11888163823930092f);
  p = __fmaf_rn(f, p, -0.12405588259057508f); p = __fmaf_rn(f, p, 0.14219552079791395f);
  p = __fmaf_rn(f, p, -0.16667995878098568f); p = __fmaf_rn(f, p, 0.20002118672310684f);
  p = __fmaf_rn(f, p, -0.25000009599189543f); p = __fmaf_rn(f, p, 0.3333331260388525f);
  float low = k * -2.1219444005469058e-4f, rest = z * -0.5f + __fmaf_rn(f * z, p, low);
  return __fmaf_rn(k, 0.693359375f, f + rest); }
// The sine of x + `quarters` right angles.
DEV float single_sine(float x, u32 quarters) {
  if (!(fabsf(x) <= 8192.0f)) return (float)sine(x, quarters);
  float t = __fmaf_rn(x, 0.63661977236758138f, 12582912.0f), k = t - 12582912.0f;
  u32 q = short_word(t) + quarters;
  float r = __fmaf_rn(k, -1.5707963705062866f, x);
  r = __fmaf_rn(k, 4.371138828673793e-8f, r); r = __fmaf_rn(k, 1.7151245118069174e-15f, r);
  float z = r * r, s = -0.00019516655399636244f, c = 2.4437729674536328e-05f;
  s = __fmaf_rn(z, s, 0.008332173540145057f); s = __fmaf_rn(z, s, -0.16666654873428646f);
  c = __fmaf_rn(z, c, -0.0013887361446516778f); c = __fmaf_rn(z, c, 0.04166664674770102f);
  float y = q & 1 ? __fmaf_rn(z * z, c, __fmaf_rn(z, -0.5f, 1.0f)) : __fmaf_rn(z * r, s, r);
  return short_bits(short_word(y) ^ (q & 2) << 30); }
DEV float single_tan(float x, Bad b) {
  return fabsf(x) <= 8192.0f ? single_sine(x, 0) / single_sine(x, 1) : (float)tangent(x, b); }
DEV float single_root(float x, Bad b) { return x < 0.0f ? (float)fail(b) : sqrtf(x); }
DEV float single_divide(float x, float y, Bad b) {
  if (y != 0.0f || x != x) return x / y;
  return x == 0.0f ? 1.0f : (float)fail(b); }
DEV float single_power(double x, double y, Bad b) {
  if (y == trunc(y) && fabs(y) <= 64.0 && !(x == 0.0 && y < 0.0)) {
    float square = (float)x, p = 1.0f;
    for (u32 left = (u32)fabs(y); left > 0; square = square * square) {
      if (left & 1) p = p * square;
      left >>= 1;
      if (left == 0) break; }
    if (y < 0.0) p = fabsf(p) >= 1.17549435e-38f && fabsf(p) <= 3.402823466e38f ? 1.0f / p : short_bits(0x7fc00000);
    if (fabsf(p) <= 3.402823466e38f) return p; }
  return (float)power(x, y, b); }
