//! `⌹`: the inverse and the solution of linear equations, by Householder's QR factorisation.
//!
//! Source: Golub and Van Loan, Matrix Computations, §5.2. A tall system is solved in the least
//! squares sense. Square ones take one step of iterative refinement, which brings back the last
//! digit where the matrix is well conditioned.

use super::shape::Axis;
use crate::eval::cx::Cx;
use aplomb_ground::error::{Result, domain, length, rank};
use aplomb_ground::limits::Ticks;
use aplomb_values::array::{Array, Complex64, Shape};

/// R above the diagonal, the reflectors below it, column after column.
struct Qr {
    m: usize,
    n: usize,
    a: Vec<f64>,
    /// The diagonal of R; the reflectors use that place.
    diagonal: Vec<f64>,
}

fn singular() -> aplomb_ground::error::Error {
    domain("⌹ of a singular matrix: its columns depend on each other")
}

fn norm(v: &[f64]) -> f64 {
    let most = v.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    if most == 0.0 || !most.is_finite() {
        most
    } else {
        most * v.iter().map(|x| (x / most).powi(2)).sum::<f64>().sqrt()
    }
}

impl Qr {
    /// Of m×n with m ≥ n, by columns. Errors: DOMAIN if the rank is below n, INTERRUPT.
    fn new(cx: &Cx<'_>, m: usize, n: usize, mut a: Vec<f64>) -> Result<Qr> {
        // A column that keeps no more than rounding of what it was depends on the ones before it.
        let (mut tiny, mut ticks) = (cx.budget().room(n)?, cx.budget().ticks());
        for k in 0..n {
            ticks.spend(m)?;
            let column = &a[k * m..(k + 1) * m];
            tiny.push(norm(column) * f64::EPSILON * (m.max(n) as f64) * 4.0);
        }
        let mut diagonal = Vec::with_capacity(n);
        for k in 0..n {
            cx.host.interrupt().check()?;
            let (done, rest) = a.split_at_mut((k + 1) * m);
            let v = &mut done[k * m + k..];
            let size = norm(v);
            if !size.is_finite() || size <= tiny[k] {
                return Err(singular());
            }
            let turned = if v[0] > 0.0 { -size } else { size };
            diagonal.push(turned);
            v[0] -= turned;
            // v is scaled to |v| = √2, so that the reflection is I - vvᵀ.
            let scale = norm(v) / std::f64::consts::SQRT_2;
            v.iter_mut().for_each(|x| *x /= scale);
            for column in rest.chunks_exact_mut(m) {
                reflect(v, &mut column[k..]);
            }
        }
        Ok(Qr { m, n, a, diagonal })
    }

    /// The n numbers x with A·x nearest to b, for columns side by side; b has them in its first
    /// rows afterwards. Errors: INTERRUPT.
    fn solve<const W: usize>(&self, b: &mut [[f64; W]], ticks: &mut Ticks) -> Result<()> {
        for k in 0..self.n {
            ticks.spend((self.m - k) * W)?;
            let (v, rows) = (&self.a[k * self.m + k..(k + 1) * self.m], &mut b[k..]);
            if W == 1 {
                reflect(v, rows.as_flattened_mut());
                continue;
            }
            let mut dots = [0.0; W];
            for (v, row) in v.iter().zip(&*rows) {
                dots.iter_mut().zip(row).for_each(|(dot, x)| *dot += v * x);
            }
            for (v, row) in v.iter().zip(rows) {
                row.iter_mut().zip(dots).for_each(|(x, dot)| *x -= v * dot);
            }
        }
        for k in (0..self.n).rev() {
            ticks.spend(k * W)?;
            let x = b[k].map(|x| x / self.diagonal[k]);
            b[k] = x;
            let above = &self.a[k * self.m..k * self.m + k];
            for (row, r) in b.iter_mut().zip(above) {
                row.iter_mut().zip(x).for_each(|(b, x)| *b -= r * x);
            }
        }
        Ok(())
    }

    /// All k columns of b, W at a time, into rows of k; y is the matrix by rows. Errors: INTERRUPT.
    fn columns<const W: usize>(
        &self,
        y: &[f64],
        (k, b): (usize, &[f64]),
        out: &mut [f64],
        ticks: &mut Ticks,
    ) -> Result<()> {
        let (m, n) = (self.m, self.n);
        for first in (0..k).step_by(W) {
            let some = W.min(k - first);
            let own = |c: usize, r: usize| if c < some { b[(first + c) * m + r] } else { 0.0 };
            let right: Vec<[f64; W]> = (0..m).map(|r| std::array::from_fn(|c| own(c, r))).collect();
            let mut x = right.clone();
            self.solve(&mut x, ticks)?;
            x.truncate(n);
            if m == n && n > 0 {
                self.refine(y, &mut x, &right, ticks)?;
            }
            for (r, row) in x.iter().enumerate() {
                out[r * k + first..][..some].copy_from_slice(&row[..some]);
            }
        }
        Ok(())
    }

    /// A step of refinement of solutions x for right sides b; then fewer digits that solve it
    /// without a rest are the solution: ⌹ of whole numbers shows whole numbers.
    fn refine<const W: usize>(
        &self,
        y: &[f64],
        x: &mut [[f64; W]],
        b: &[[f64; W]],
        ticks: &mut Ticks,
    ) -> Result<()> {
        let mut more = left_of(y, x, b, ticks)?;
        self.solve(&mut more, ticks)?;
        for (x, more) in x.iter_mut().zip(more) {
            x.iter_mut().zip(more).for_each(|(x, more)| *x += more);
        }
        let steps: [f64; W] = std::array::from_fn(|c| {
            let column: Vec<f64> = x.iter().map(|row| row[c]).collect();
            2f64.powi((norm(&column).log2() as i32).clamp(-900, 900) - 40)
        });
        let cut = |row: &[f64; W]| -> [f64; W] {
            std::array::from_fn(|c| (row[c] / steps[c]).round() * steps[c])
        };
        let short: Vec<[f64; W]> = x.iter().map(cut).collect();
        let rest = left_of(y, &short, b, ticks)?;
        for c in (0..W).filter(|c| rest.iter().all(|row| row[*c] == 0.0)) {
            x.iter_mut().zip(&short).for_each(|(x, short)| x[c] = short[c]);
        }
        Ok(())
    }
}

/// Columns that are solved at once, where there are several: each step on a row is one on all of
/// theirs, and none waits for its own last sum.
const BESIDE: usize = 8;

/// The rest of b when A·x is taken away, row by row; A is square, by rows. Errors: INTERRUPT.
fn left_of<const W: usize>(
    a: &[f64],
    x: &[[f64; W]],
    b: &[[f64; W]],
    ticks: &mut Ticks,
) -> Result<Vec<[f64; W]>> {
    let n = x.len();
    let one = |(k, b): (usize, &[f64; W])| {
        ticks.spend(n * W)?;
        let mut rest = *b;
        for (a, x) in a[k * n..(k + 1) * n].iter().zip(x) {
            rest.iter_mut().zip(x).for_each(|(rest, x)| *rest -= a * x);
        }
        Ok(rest)
    };
    b.iter().enumerate().map(one).collect()
}

/// Numbers that a sum of products takes at once, each into a part of its own.
const ABREAST: usize = 8;

fn reflect(v: &[f64], column: &mut [f64]) {
    let mut parts = [0.0; ABREAST];
    for (v, c) in v.chunks(ABREAST).zip(column.chunks(ABREAST)) {
        parts.iter_mut().zip(v).zip(c).for_each(|((part, v), c)| *part += v * c);
    }
    let dot: f64 = parts.iter().sum();
    column.iter_mut().zip(v).for_each(|(c, v)| *c -= v * dot);
}

/// Rows and columns; a vector is one column.
fn extent(a: &Array) -> (usize, usize) {
    (a.first_extent(), a.shape().get(1).copied().unwrap_or(1))
}

/// The columns of `b` (m×k, by columns) divided by `y` (m×n by rows): n×k by rows.
fn divided(
    cx: &Cx<'_>,
    (m, n): (usize, usize),
    y: &[f64],
    k: usize,
    b: &[f64],
) -> Result<Vec<f64>> {
    if m < n {
        return Err(length(format!("⌹ of {m} rows and {n} columns: more unknowns than equations"))
            .hint("⍉ turns it into a tall matrix"));
    }
    if !y.iter().chain(b).all(|x| x.is_finite()) {
        return Err(domain("⌹ takes finite numbers"));
    }
    let mut by_column = cx.budget().room(m.saturating_mul(n))?;
    let mut ticks = cx.budget().ticks();
    for c in 0..n {
        ticks.spend(m)?;
        by_column.extend((0..m).map(|r| y[r * n + c]));
    }
    let qr = Qr::new(cx, m, n, by_column)?;
    let mut out = cx.budget().filled(0.0, n * k)?;
    match k {
        1 => qr.columns::<1>(y, (k, b), &mut out, &mut ticks)?,
        _ => qr.columns::<BESIDE>(y, (k, b), &mut out, &mut ticks)?,
    }
    if out.iter().all(|x| x.is_finite()) { Ok(out) } else { Err(singular()) }
}

/// The same of complex numbers: a system of twice as many real ones, the real parts before the
/// imaginary ones.
fn divided_complex(
    cx: &Cx<'_>,
    (m, n): (usize, usize),
    y: &[Complex64],
    k: usize,
    b: &[Complex64],
) -> Result<Vec<Complex64>> {
    let mut a = cx.budget().filled(0.0, y.len().saturating_mul(4))?;
    for r in 0..m {
        for c in 0..n {
            let z = y[r * n + c];
            (a[r * 2 * n + c], a[r * 2 * n + n + c]) = (z.re, -z.im);
            (a[(m + r) * 2 * n + c], a[(m + r) * 2 * n + n + c]) = (z.im, z.re);
        }
    }
    let mut right = cx.budget().room(b.len().saturating_mul(2))?;
    for column in b.chunks_exact(m.max(1)) {
        right.extend(column.iter().map(|z| z.re).chain(column.iter().map(|z| z.im)));
    }
    let out = divided(cx, (2 * m, 2 * n), &a, k, &right)?;
    cx.budget().each((0..n * k).map(|at| Complex64::new(out[at], out[n * k + at])))
}

/// The items as complex numbers. Errors: DOMAIN.
fn complexes(cx: &Cx<'_>, y: &Array) -> Result<Vec<Complex64>> {
    y.to_complexes(cx.budget())?.ok_or_else(|| domain("⌹ takes numbers"))
}

/// `⌹Y`: the inverse, of a tall matrix the left inverse. The shape is ⌽⍴Y. Errors: RANK, LENGTH
/// (wide), DOMAIN.
pub fn inverse(cx: &mut Cx<'_>, y: &Array, _: Axis<'_>) -> Result<Array> {
    if y.rank() > 2 {
        return Err(rank("⌹ takes a matrix at most"));
    }
    let (m, n) = extent(y);
    let own = cx.ready(y, "⌹")?;
    let shape: Shape = y.shape().iter().rev().copied().collect();
    if own.is_complex() {
        let one = |r, c| Complex64::from(f64::from(u8::from(r == c)));
        let _held = cx.budget().charge_elements(m.saturating_mul(m.saturating_add(3 * n)), 32)?;
        let unit: Vec<Complex64> = (0..m).flat_map(|c| (0..m).map(move |r| one(r, c))).collect();
        let out = divided_complex(cx, (m, n), &complexes(cx, &own)?, m, &unit)?;
        return Array::complexes(shape, out, cx.budget());
    }
    let items = cx.numbers(y, "the argument of ⌹")?;
    let _held = cx.budget().charge_elements(m.saturating_mul(m.saturating_add(3 * n)), 8)?;
    let unit: Vec<f64> =
        (0..m).flat_map(|c| (0..m).map(move |r| f64::from(u8::from(r == c)))).collect();
    let out = divided(cx, (m, n), &items, m, &unit)?;
    cx.floats(&Array::numbers(shape, out, cx.budget())?)
}

/// `X⌹Y`: the numbers for which Y+.×them is X, or nearest to it. The shape is (1↓⍴Y),1↓⍴X.
/// Errors: RANK, LENGTH, DOMAIN.
pub fn divide(cx: &mut Cx<'_>, x: &Array, y: &Array, _: Axis<'_>) -> Result<Array> {
    if x.rank() > 2 || y.rank() > 2 {
        return Err(rank("⌹ takes matrices at most"));
    }
    let (left, right) = (cx.ready(x, "⌹")?, cx.ready(y, "⌹")?);
    let ((m, n), (rows, k)) = (extent(y), extent(x));
    if rows != m {
        return Err(length(format!("{rows} rows for a matrix of {m}")));
    }
    let shape: Shape = y.shape().iter().skip(1).chain(x.shape().iter().skip(1)).copied().collect();
    if left.is_complex() || right.is_complex() {
        let room = m.saturating_mul(n.saturating_add(k)).saturating_mul(3);
        let _held = cx.budget().charge_elements(room, 32)?;
        let (b, a) = (complexes(cx, &left)?, complexes(cx, &right)?);
        let columns: Vec<Complex64> =
            (0..k).flat_map(|c| (0..m).map(move |r| (r, c))).map(|(r, c)| b[r * k + c]).collect();
        let out = divided_complex(cx, (m, n), &a, k, &columns)?;
        return Array::complexes(shape, out, cx.budget());
    }
    let (b, a) =
        (cx.numbers(x, "the left argument of ⌹")?, cx.numbers(y, "the right argument of ⌹")?);
    let room = m.saturating_mul(n.saturating_add(k)).saturating_mul(3);
    let _held = cx.budget().charge_elements(room, 8)?;
    let columns: Vec<f64> =
        (0..k).flat_map(|c| (0..m).map(move |r| (r, c))).map(|(r, c)| b[r * k + c]).collect();
    let out = divided(cx, (m, n), &a, k, &columns)?;
    cx.floats(&Array::numbers(shape, out, cx.budget())?)
}
