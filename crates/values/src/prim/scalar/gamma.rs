//! `!` and `X!Y`: factorials by product, the gamma function between the integers by Lanczos and
//! recurrence.
//!
//! Γ(1+f) for 0 ≤ f < 1 comes from Lanczos' series (g = 607/128, 15 terms), the rest is a product
//! kept to twice the precision: a power of the series at 170 would lose a hundred ulp.

use super::Fail;

const POLE: Fail = Fail::Domain("! has a pole at every negative integer");
pub(super) const G: f64 = 607.0 / 128.0;
// The digits are the published ones.
#[allow(clippy::excessive_precision)]
pub(super) const LANCZOS: [f64; 15] = [
    0.99999999999999709182,
    57.156235665862923517,
    -59.597960355475491248,
    14.136097974741747174,
    -0.49191381609762019978,
    0.33994649984811888699e-4,
    0.46523628927048575665e-4,
    -0.98374475304879564677e-4,
    0.15808870322491248884e-3,
    -0.21026444172410488319e-3,
    0.21743961811521264320e-3,
    -0.16431810653676389022e-3,
    0.84418223983852743293e-4,
    -0.26190838401581408670e-4,
    0.36899182659531622704e-5,
];

fn is_whole(x: f64) -> bool {
    x == x.trunc()
}

/// A product as high + low part.
#[derive(Clone, Copy)]
struct Product(f64, f64);

impl Product {
    fn times(self, x: f64) -> Product {
        let high = self.0 * x;
        let low = self.0.mul_add(x, -high) + self.1 * x;
        Product(high + low, low - ((high + low) - high))
    }
}

/// Γ(1+f), 0 ≤ f < 1.
fn between(f: f64) -> f64 {
    let mut sum = LANCZOS[0];
    for (k, c) in LANCZOS.iter().enumerate().skip(1) {
        sum += c / (f + k as f64);
    }
    let t = f + G + 0.5;
    (2.0 * std::f64::consts::PI).sqrt() * t.powf(f + 0.5) * (-t).exp() * sum
}

/// Γ(1+x) = !x. ∞ where it is beyond f64.
pub fn factorial(x: f64) -> Result<f64, Fail> {
    match () {
        () if x.is_nan() || x == f64::INFINITY => Ok(x),
        () if x > 171.0 => Ok(f64::INFINITY),
        () if is_whole(x) && x < 0.0 => Err(POLE),
        () if x < -190.0 => Ok(0.0),
        () => Ok(gamma_next(x)),
    }
}

fn gamma_next(x: f64) -> f64 {
    let low = x.floor();
    let f = x - low;
    let start = if f == 0.0 { 1.0 } else { between(f) };
    if low >= 0.0 {
        let up = (1..=low as u32).fold(Product(start, 0.0), |p, k| p.times(f + f64::from(k)));
        return if up.0.is_finite() { up.0 + up.1 } else { f64::INFINITY };
    }
    // Γ(1+x) = Γ(1+f) ÷ (x+1)(x+2)…(f)
    let down = (0..(-low) as u32).fold(Product(1.0, 0.0), |p, k| p.times(x + f64::from(k) + 1.0));
    if down.0.is_finite() { start / (down.0 + down.1) } else { 0.0 }
}

/// ln|Γ(1+x)| for x ≥ 20, by Stirling's series.
fn ln_factorial(x: f64) -> f64 {
    let z = x + 1.0;
    let w = 1.0 / (z * z);
    let series =
        (1.0 / 12.0 - w * (1.0 / 360.0 - w * (1.0 / 1260.0 - w * (1.0 / 1680.0 - w / 1188.0)))) / z;
    (z - 0.5) * z.ln() - z + 0.5 * (2.0 * std::f64::consts::PI).ln() + series
}

/// `x!y` = !y ÷ (!x)×!y-x, with Dyalog's table of signs for integers.
pub fn binomial(x: f64, y: f64) -> Result<f64, Fail> {
    if !x.is_finite() || !y.is_finite() {
        return Ok(f64::NAN);
    }
    if is_whole(x) && is_whole(y) {
        return Ok(whole(x, y));
    }
    if is_whole(y) && y < 0.0 {
        return Err(POLE);
    }
    let rest = y - x;
    // A pole below the line.
    if (is_whole(x) && x < 0.0) || (is_whole(rest) && rest < 0.0) {
        return Ok(0.0);
    }
    if is_whole(x) && x <= 1_000.0 {
        return Ok(falling(x, y));
    }
    if is_whole(rest) && rest <= 1_000.0 {
        return Ok(falling(rest, y));
    }
    if [x, y, rest].iter().all(|v| v.abs() <= 170.0) {
        return Ok(gamma_next(y) / gamma_next(x) / gamma_next(rest));
    }
    if [x, y, rest].iter().all(|&v| v >= 20.0) {
        return Ok((ln_factorial(y) - ln_factorial(x) - ln_factorial(rest)).exp());
    }
    Ok(signed(y).over(signed(x)).over(signed(rest)).value())
}

/// A gamma value as sign and logarithm, for arguments where the value itself would overflow.
struct Signed {
    sign: f64,
    ln: f64,
}

impl Signed {
    fn over(self, other: Signed) -> Signed {
        Signed { sign: self.sign * other.sign, ln: self.ln - other.ln }
    }

    fn value(self) -> f64 {
        self.sign * self.ln.exp()
    }
}

fn signed(x: f64) -> Signed {
    if x >= 20.0 {
        return Signed { sign: 1.0, ln: ln_factorial(x) };
    }
    if x >= -100.0 {
        let value = gamma_next(x);
        return Signed { sign: value.signum(), ln: value.abs().ln() };
    }
    // Reflection: !x × !(¯x-1) = π ÷ sin(π×¯x), the angle reduced before the sine.
    let part = x - 2.0 * (x / 2.0).floor();
    let sine = -(std::f64::consts::PI * part).sin();
    Signed {
        sign: sine.signum(),
        ln: (std::f64::consts::PI / sine.abs()).ln() - ln_factorial(-x - 1.0),
    }
}

fn whole(x: f64, y: f64) -> f64 {
    let sign = |n: f64| if n % 2.0 == 0.0 { 1.0 } else { -1.0 };
    match () {
        () if y >= 0.0 && (x < 0.0 || x > y) => 0.0,
        () if y >= 0.0 => falling(x.min(y - x), y),
        () if x >= 0.0 => sign(x) * whole(x, x - y - 1.0),
        () if x <= y => sign(y - x) * whole(-(y + 1.0), -(x + 1.0)),
        () => 0.0,
    }
}

/// y(y-1)…(y-n+1) ÷ n!, whole n. Each partial product of whole numbers is whole, so small results
/// are exact.
fn falling(n: f64, y: f64) -> f64 {
    let mut out = 1.0;
    let mut k = 1.0;
    while k <= n && f64::is_finite(out) && out != 0.0 {
        let factor = y - n + k;
        out = if out.abs() < 9e15 / factor.abs().max(1.0) {
            out * factor / k
        } else {
            out * (factor / k)
        };
        k += 1.0;
    }
    if is_whole(y) && f64::abs(out) < 9e15 { out.round() } else { out }
}
