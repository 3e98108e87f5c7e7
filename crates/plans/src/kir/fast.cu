// `--math fast`: CUDA's own functions for those that the prelude has as the CPU's sequences. What fails, and what is 0 or
// ∞, is as there; f is of f32.
DEV bool finite_(float x) { return fabsf(x) <= 3.402823466e38f; }
DEV float sure(float x, Bad b) { return finite_(x) ? x : (float)fail(b); }
DEV double quick_exp(double x) { return exp(x); }
DEV double quick_log(double x, Bad b) { return x <= 0.0 ? fail(b) : log(x); }
DEV double quick_sin(double x) { return sin(x); }
DEV double quick_cos(double x) { return cos(x); }
DEV double quick_tan(double x, Bad b) { return made(tan(x), x, 0.0, b); }
DEV float quick_expf(float x) { return expf(x); }
DEV float quick_logf(float x, Bad b) { return x <= 0.0f ? (float)fail(b) : logf(x); }
DEV float quick_sinf(float x) { return sinf(x); }
DEV float quick_cosf(float x) { return cosf(x); }
DEV float quick_tanf(float x, Bad b) { return tanf(x); }
DEV float quick_sqrtf(float x, Bad b) { return x < 0.0f ? (float)fail(b) : sqrtf(x); }
DEV float quick_divf(float x, float y, Bad b) {
  if (y != 0.0f || x != x) return x / y;
  return x == 0.0f ? 1.0f : (float)fail(b); }
DEV float quick_powf(float x, float y, Bad b) {
  if (x == 0.0f && y < 0.0f) return (float)fail(b);
  if (y == 0.5f) return quick_sqrtf(x, b);
  if (y == 2.0f) return x * x;
  if (x < 0.0f && y != truncf(y)) return (float)fail(b);
  return powf(x, y); }
// Four numbers of a tile.
DEV void quick_four(float* to, float4 from) { to[0] = from.x; to[1] = from.y; to[2] = from.z; to[3] = from.w; }
