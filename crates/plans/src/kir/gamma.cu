// `!`: by products kept to twice the precision, between whole numbers by Lanczos' series. As `prim::scalar::gamma`, but for
// pow, exp, log and sin, which are the system's.
struct Gamma { double high, low; };
DEV Gamma gamma_times(Gamma p, double x) {
  const double high = p.high * x, low = __fma_rn(p.high, x, 0.0 - high) + p.low * x, sum = high + low;
  return Gamma{sum, low - (sum - high)}; }
DEV double gamma_between(double f) {
  double sum = 0.99999999999999709182;
  sum = sum + 57.156235665862923517 / (f + 1.0);
  sum = sum + -59.597960355475491248 / (f + 2.0);
  sum = sum + 14.136097974741747174 / (f + 3.0);
  sum = sum + -0.49191381609762019978 / (f + 4.0);
  sum = sum + 0.33994649984811888699e-4 / (f + 5.0);
  sum = sum + 0.46523628927048575665e-4 / (f + 6.0);
  sum = sum + -0.98374475304879564677e-4 / (f + 7.0);
  sum = sum + 0.15808870322491248884e-3 / (f + 8.0);
  sum = sum + -0.21026444172410488319e-3 / (f + 9.0);
  sum = sum + 0.21743961811521264320e-3 / (f + 10.0);
  sum = sum + -0.16431810653676389022e-3 / (f + 11.0);
  sum = sum + 0.84418223983852743293e-4 / (f + 12.0);
  sum = sum + -0.26190838401581408670e-4 / (f + 13.0);
  sum = sum + 0.36899182659531622704e-5 / (f + 14.0);
  const double t = f + 4.7421875 + 0.5;
  return sqrt(2.0 * 3.14159265358979312) * pow(t, f + 0.5) * exp(0.0 - t) * sum; }
DEV double gamma_next(double x) {
  const double low = floor(x), f = x - low, start = f == 0.0 ? 1.0 : gamma_between(f);
  if (low >= 0.0) {
    Gamma up = {start, 0.0};
    for (u32 k = 1; k <= (u32)low; k++) up = gamma_times(up, f + (double)k);
    return finite_(up.high) ? up.high + up.low : inf(); }
  Gamma down = {1.0, 0.0};
  for (u32 k = 0; k < (u32)(0.0 - low); k++) down = gamma_times(down, x + (double)k + 1.0);
  return finite_(down.high) ? start / (down.high + down.low) : 0.0; }
DEV double gamma_factorial(double x, Bad b) {
  if (x != x || x == inf()) return x;
  if (x > 171.0) return fail(b);
  if (x == trunc(x) && x < 0.0) return fail(b);
  if (x < -190.0) return 0.0;
  return made(gamma_next(x), x, 0.0, b); }
// ln|!x| for x of 20 and more.
DEV double gamma_log(double x) {
  const double z = x + 1.0, w = 1.0 / (z * z);
  const double series =
      (1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w * (1.0 / 1680.0 - w / 1188.0)))) / z;
  return (z - 0.5) * log(z) - z + 0.5 * log(2.0 * 3.14159265358979312) + series; }
// y(y-1)…(y-n+1) ÷ n!, whole n.
DEV double gamma_falling(double n, double y) {
  double out = 1.0;
  for (double k = 1.0; k <= n && finite_(out) && out != 0.0; k = k + 1.0) {
    const double factor = y - n + k;
    out = fabs(out) < 9e15 / most(fabs(factor), 1.0) ? out * factor / k : out * (factor / k); }
  return y == trunc(y) && fabs(out) < 9e15 && out != floor(out) ? floor(out + 0.5) : out; }
DEV double gamma_whole(double x, double y) {
  double sign = 1.0;
  if (y < 0.0 && x >= 0.0) {
    sign = fmod(x, 2.0) == 0.0 ? 1.0 : -1.0;
    y = x - y - 1.0;
  } else if (y < 0.0) {
    if (x > y) return 0.0;
    sign = fmod(y - x, 2.0) == 0.0 ? 1.0 : -1.0;
    const double other = 0.0 - (y + 1.0);
    y = 0.0 - (x + 1.0); x = other; }
  if (x < 0.0 || x > y) return sign * 0.0;
  return sign * gamma_falling(x < y - x ? x : y - x, y); }
// The sign of !x and its logarithm.
DEV double gamma_signed(double x, double* sign) {
  *sign = 1.0;
  if (x >= 20.0) return gamma_log(x);
  if (x >= -100.0) {
    const double value = gamma_next(x);
    *sign = value < 0.0 ? -1.0 : 1.0;
    return log(fabs(value)); }
  const double sine = 0.0 - sin(3.14159265358979312 * (x - 2.0 * floor(x / 2.0)));
  *sign = sine < 0.0 ? -1.0 : 1.0;
  return log(3.14159265358979312 / fabs(sine)) - gamma_log(0.0 - x - 1.0); }
DEV double gamma_binomial(double x, double y, Bad b) {
  if (!finite_(x) || !finite_(y)) return bits(0x7ff8000000000000ull);
  const bool whole_x = x == trunc(x), whole_y = y == trunc(y);
  if (whole_x && whole_y) return made(gamma_whole(x, y), x, y, b);
  if (whole_y && y < 0.0) return fail(b);
  const double rest = y - x;
  const bool whole_rest = rest == trunc(rest);
  if ((whole_x && x < 0.0) || (whole_rest && rest < 0.0)) return 0.0;
  if (whole_x && x <= 1000.0) return made(gamma_falling(x, y), x, y, b);
  if (whole_rest && rest <= 1000.0) return made(gamma_falling(rest, y), x, y, b);
  if (fabs(x) <= 170.0 && fabs(y) <= 170.0 && fabs(rest) <= 170.0)
    return made(gamma_next(y) / gamma_next(x) / gamma_next(rest), x, y, b);
  if (x >= 20.0 && y >= 20.0 && rest >= 20.0)
    return made(exp(gamma_log(y) - gamma_log(x) - gamma_log(rest)), x, y, b);
  double of_y, of_x, of_rest;
  const double above = gamma_signed(y, &of_y), below = above - gamma_signed(x, &of_x);
  const double log_all = below - gamma_signed(rest, &of_rest);
  return made(of_y * of_x * of_rest * exp(log_all), x, y, b); }
