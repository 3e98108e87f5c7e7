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
    case 5: return made(sinh(y), y, 0.0, b);
    case 6: return made(cosh(y), y, 0.0, b);
    case 7: return tanh(y);
    case 9: case -9: case -10: return y;
    case 10: return size;
    case 11: return 0.0;
    case 12: return y < 0.0 ? 3.14159265358979312 : 0.0;
    case -1: return size > 1.0 ? fail(b) : asin(y);
    case -2: return size > 1.0 ? fail(b) : acos(y);
    case -3: return atan(y);
    case -4: return size < 1.0 ? fail(b) : made(copysign(sqrt(size - 1.0) * sqrt(size + 1.0), y), y, 0.0, b);
    case -5: return asinh(y);
    case -6: return y < 1.0 ? fail(b) : acosh(y);
    case -7: return size >= 1.0 ? fail(b) : atanh(y);
    case -11: return y == 0.0 ? 0.0 : fail(b);
    case -12: return y == 0.0 ? 1.0 : fail(b);
    default: return y != y ? y : fail(b); } }
