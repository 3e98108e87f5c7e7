//! Programs on pictures, a pixel at a time: what `programs` compares with.

use super::plain::g;

pub const FIVE: [f64; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];
const NINE: [f64; 9] = [1.0, 8.0, 28.0, 56.0, 70.0, 56.0, 28.0, 8.0, 1.0];

/// Rows of pixels. What lies outside is asked for by the function that knows.
#[derive(Clone)]
pub struct Picture {
    rows: i64,
    wide: i64,
    pub at: Vec<f64>,
}

/// The picture that most cases have.
pub fn test() -> Picture {
    Picture { rows: 40, wide: 50, at: g(2000) }
}

impl Picture {
    fn made(rows: i64, wide: i64, pixel: impl Fn(i64, i64) -> f64) -> Picture {
        let at = (0..rows).flat_map(|i| (0..wide).map(move |j| (i, j)));
        Picture { rows, wide, at: at.map(|(i, j)| pixel(i, j)).collect() }
    }

    fn like(&self, pixel: impl Fn(i64, i64) -> f64) -> Picture {
        Picture::made(self.rows, self.wide, pixel)
    }

    fn is_inside(&self, i: i64, j: i64) -> bool {
        (0..self.rows).contains(&i) && (0..self.wide).contains(&j)
    }

    /// Outside: 0.
    fn or_zero(&self, i: i64, j: i64) -> f64 {
        if self.is_inside(i, j) { self.at[(i * self.wide + j) as usize] } else { 0.0 }
    }

    /// Outside: the nearest pixel.
    fn near(&self, i: i64, j: i64) -> f64 {
        self.or_zero(i.clamp(0, self.rows - 1), j.clamp(0, self.wide - 1))
    }

    /// Outside: the pixel as far on this side of the edge's middle.
    fn mirrored(&self, i: i64, j: i64) -> f64 {
        let fold = |i: i64, n: i64| {
            if i < 0 {
                -i
            } else if i >= n {
                2 * (n - 1) - i
            } else {
                i
            }
        };
        self.or_zero(fold(i, self.rows), fold(j, self.wide))
    }

    fn wrapped(&self, i: i64, j: i64) -> f64 {
        self.or_zero(i.rem_euclid(self.rows), j.rem_euclid(self.wide))
    }

    /// Between four pixels.
    fn between(&self, y: f64, x: f64, pixel: impl Fn(&Picture, i64, i64) -> f64) -> f64 {
        let (i, j) = (y.floor() as i64, x.floor() as i64);
        let (p, q) = (y - y.floor(), x - x.floor());
        let row = |i| (1.0 - q) * pixel(self, i, j) + q * pixel(self, i, j + 1);
        (1.0 - p) * row(i) + p * row(i + 1)
    }

    /// By a square of binomial taps, in one pass.
    pub fn gauss(&self, taps: &[f64]) -> Picture {
        let (half, sum) = (taps.len() as i64 / 2, taps.iter().sum::<f64>());
        self.like(|i, j| {
            let mut out = 0.0;
            for (a, w) in taps.iter().enumerate() {
                for (b, v) in taps.iter().enumerate() {
                    out += w * v * self.near(i + a as i64 - half, j + b as i64 - half);
                }
            }
            out / (sum * sum)
        })
    }

    fn around(&self, i: i64, j: i64) -> f64 {
        self.or_zero(i - 1, j)
            + self.or_zero(i + 1, j)
            + self.or_zero(i, j - 1)
            + self.or_zero(i, j + 1)
    }
}

pub fn life() -> Vec<f64> {
    let mut now = Picture { at: g(2000).iter().map(|x| f64::from(0.6 < *x)).collect(), ..test() };
    for _ in 0..2 {
        now = now.like(|i, j| {
            let all: f64 = (0..9).map(|k| now.wrapped(i + k / 3 - 1, j + k % 3 - 1)).sum();
            let beside = all - now.or_zero(i, j);
            f64::from(beside == 3.0 || beside == 2.0 && now.or_zero(i, j) == 1.0)
        });
    }
    now.at
}

pub fn demosaic() -> Vec<f64> {
    let bayer = test();
    let colour = |wanted: usize| {
        bayer.like(|i, j| {
            let at = |y: i64, x: i64| bayer.mirrored(i + y, j + x);
            let ring = |a: i64| [at(0, -a) + at(0, a), at(-a, 0) + at(a, 0)];
            let diagonals = at(-1, -1) + at(-1, 1) + at(1, -1) + at(1, 1);
            let ([h, v], [h2, v2]) = (ring(1), ring(2));
            let green =
                |h: f64, h2: f64, v2: f64| 5.0 * at(0, 0) + 4.0 * h - h2 - diagonals + v2 / 2.0;
            // What the sensor has here: 0 red, 1 green, 2 blue; and what its row has but green.
            let (here, row) = ((i % 2 + j % 2) as usize, 2 * (i % 2) as usize);
            let eighths = match (wanted, here) {
                (w, h) if w == h => 8.0 * at(0, 0),
                (1, _) => 4.0 * at(0, 0) + 2.0 * (h + v) - h2 - v2,
                (w, 1) if w == row => green(h, h2, v2),
                (_, 1) => green(v, v2, h2),
                _ => 6.0 * at(0, 0) + 2.0 * diagonals - 1.5 * (h2 + v2),
            };
            eighths / 8.0
        })
    };
    (0..3).flat_map(|wanted| colour(wanted).at).collect()
}

pub fn rotate() -> Vec<f64> {
    let (sin, cos) = 10f64.to_radians().sin_cos();
    let plane = |at: &[f64]| {
        let a = Picture { at: at.to_vec(), ..test() };
        let turned = a.like(|i, j| {
            let (y, x) = (i as f64 - 19.5, j as f64 - 24.5);
            a.between(19.5 + y * cos - x * sin, 24.5 + y * sin + x * cos, Picture::or_zero)
        });
        turned.at
    };
    g(6000).chunks(2000).flat_map(plane).collect()
}

pub fn corners() -> Vec<f64> {
    let even = test().gauss(&FIVE);
    let slopes = |i, j| {
        let down = (even.near(i + 1, j) - even.near(i - 1, j)) / 2.0;
        (down, (even.near(i, j + 1) - even.near(i, j - 1)) / 2.0)
    };
    let product = |f: fn((f64, f64)) -> f64| even.like(|i, j| f(slopes(i, j))).gauss(&NINE);
    let (a, b, c) = (product(|s| s.1 * s.1), product(|s| s.0 * s.1), product(|s| s.0 * s.0));
    // The roots of λ² − trace λ + determinant.
    let pixel = |i, j| {
        let (a, b, c) = (a.near(i, j), b.near(i, j), c.near(i, j));
        let (trace, root) = (a + c, ((a - c) * (a - c) + 4.0 * b * b).sqrt());
        0.5 * (trace + root) / 2.0 + (trace - root) / 2.0
    };
    even.like(pixel).at
}

/// Vectors of blocks: rows, then columns.
struct Vectors {
    wide: i64,
    each: Vec<(f64, f64)>,
}

impl Vectors {
    /// The best of some places around each block's own, the first of several.
    fn refined(&self, old: &Picture, new: &Picture, block: i64, step: f64, reach: i64) -> Vectors {
        let best = |(at, v): (usize, &(f64, f64))| {
            let (top, left) = (at as i64 / self.wide * block, at as i64 % self.wide * block);
            let mut found = (f64::INFINITY, *v);
            for a in -reach..=reach {
                for b in -reach..=reach {
                    let v = (v.0 + step * a as f64, v.1 + step * b as f64);
                    let mut error = 0.0;
                    for i in top..top + block {
                        for j in left..left + block {
                            let (y, x) = (i as f64 + v.0, j as f64 + v.1);
                            error += (old.near(i, j) - new.between(y, x, Picture::near)).abs();
                        }
                    }
                    // Sums in another order differ in their last bits.
                    if error < found.0 * (1.0 - 1e-12) {
                        found = (error, v);
                    }
                }
            }
            found.1
        };
        Vectors { wide: self.wide, each: self.each.iter().enumerate().map(best).collect() }
    }

    fn doubled(self) -> Vectors {
        Vectors { each: self.each.iter().map(|v| (2.0 * v.0, 2.0 * v.1)).collect(), ..self }
    }
}

fn halved(a: &Picture) -> Picture {
    let sum = |i, j| (0..4).map(|k| a.or_zero(2 * i + k / 2, 2 * j + k % 2)).sum::<f64>();
    Picture::made(a.rows / 2, a.wide / 2, |i, j| sum(i, j) / 4.0)
}

pub fn motion() -> Vec<f64> {
    let f = |y: f64, x: f64| {
        0.5 + 0.3 * (0.11 * y + 0.07 * x).sin() + 0.2 * (0.23 * y - 0.19 * x).sin()
    };
    let a = Picture::made(64, 96, |i, j| f(i as f64 + 2.5, j as f64 - 1.75));
    let b = Picture::made(64, 96, |i, j| f(i as f64 + 1.0, j as f64 + 1.0));
    let (a2, b2) = (halved(&a), halved(&b));
    let (a4, b4) = (halved(&a2), halved(&b2));
    let v = Vectors { wide: 6, each: vec![(0.0, 0.0); 24] }.refined(&a4, &b4, 4, 1.0, 3).doubled();
    let v = v.refined(&a2, &b2, 8, 1.0, 1).doubled().refined(&a, &b, 16, 1.0, 1);
    let v = v.refined(&a, &b, 16, 0.5, 1).refined(&a, &b, 16, 0.25, 1);
    v.each.iter().map(|v| v.0).chain(v.each.iter().map(|v| v.1)).collect()
}

pub fn stereo() -> Vec<f64> {
    let left = test();
    let right = left.like(|i, j| left.near(i, j + if j < 10 { 2 } else { 3 }));
    let pixel = |i: i64, j: i64| {
        let mut best = (f64::INFINITY, 0);
        for d in 0..6 {
            let mut error = 0.0;
            for a in -3..=3 {
                for b in -3..=3 {
                    let (y, x) = ((i + a).clamp(0, 39), (j + b).clamp(0, 49));
                    error += (left.near(y, x) - right.near(y, x - d)).powi(2);
                }
            }
            if error < best.0 * (1.0 - 1e-12) {
                best = (error, d);
            }
        }
        best.1 as f64
    };
    left.like(pixel).at
}

pub fn canny() -> Vec<f64> {
    let planes = g(6000);
    let weights = [0.299, 0.587, 0.114];
    let grey = |k: usize| (0..3).map(|c| weights[c] * planes[2000 * c + k]).sum();
    let even = Picture { at: (0..2000).map(grey).collect(), ..test() }.gauss(&FIVE);
    let slopes = |i, j| {
        let side = |sign: i64, down: bool| {
            let at =
                |k: i64| if down { even.near(i + sign, j + k) } else { even.near(i + k, j + sign) };
            at(-1) + 2.0 * at(0) + at(1)
        };
        (side(1, false) - side(-1, false), side(1, true) - side(-1, true))
    };
    let steep = even.like(|i, j| slopes(i, j).0.hypot(slopes(i, j).1));
    let kept = even.like(|i, j| {
        let (dx, dy) = slopes(i, j);
        // Eighths of a turn from the row, to the nearest quarter of a half turn.
        let class = (dy.atan2(dx) / std::f64::consts::FRAC_PI_4).round().rem_euclid(4.0);
        let (a, b) = [(0, 1), (1, 1), (1, 0), (1, -1)][class as usize];
        let own = steep.near(i, j);
        let is_peak = own >= steep.near(i + a, j + b) && own >= steep.near(i - a, j - b);
        match own {
            own if is_peak && own >= 0.3 => 1.0,
            own if is_peak && own >= 0.05 => 0.5,
            _ => 0.0,
        }
    });
    let mut linked = kept.like(|_, _| 0.0);
    let all = (0..kept.rows).flat_map(|i| (0..kept.wide).map(move |j| (i, j)));
    let mut open: Vec<(i64, i64)> = all.filter(|(i, j)| kept.or_zero(*i, *j) == 1.0).collect();
    while let Some((i, j)) = open.pop() {
        let at = (i * kept.wide + j) as usize;
        if kept.or_zero(i, j) > 0.0 && linked.at[at] == 0.0 {
            linked.at[at] = 1.0;
            let beside = (0..9).map(|k| (i + k / 3 - 1, j + k % 3 - 1));
            open.extend(beside.filter(|(i, j)| kept.is_inside(*i, *j)));
        }
    }
    [kept.at, linked.at].concat()
}

/// Forty sweeps of x ← (own + a Σ₄ x) ÷ by.
fn relaxed(own: &Picture, a: f64, by: f64) -> Picture {
    let sweep = |x: Picture, _| own.like(|i, j| (own.or_zero(i, j) + a * x.around(i, j)) / by);
    (0..40).fold(own.clone(), sweep)
}

fn projected(u: &Picture, v: &Picture) -> [Picture; 2] {
    let down = |p: &Picture, i: i64, j: i64| p.or_zero(i + 1, j) - p.or_zero(i - 1, j);
    let along = |p: &Picture, i: i64, j: i64| p.or_zero(i, j + 1) - p.or_zero(i, j - 1);
    let d = u.like(|i, j| -(down(u, i, j) + along(v, i, j)) / 2.0);
    let p = relaxed(&d, 1.0, 4.0);
    [
        u.like(|i, j| u.or_zero(i, j) - down(&p, i, j) / 2.0),
        v.like(|i, j| v.or_zero(i, j) - along(&p, i, j) / 2.0),
    ]
}

fn carried(x: &Picture, u: &Picture, v: &Picture, scale: f64) -> Picture {
    x.like(|i, j| {
        let y = (i as f64 - scale * u.or_zero(i, j)).clamp(0.0, (x.rows - 1) as f64);
        let z = (j as f64 - scale * v.or_zero(i, j)).clamp(0.0, (x.wide - 1) as f64);
        x.between(y, z, Picture::near)
    })
}

pub fn fluid() -> Vec<f64> {
    let x = Picture { rows: 20, wide: 24, at: g(480) };
    let u = x.like(|i, j| 0.2 * x.or_zero(i, j));
    let v = u.like(|i, j| u.or_zero(i, 23 - j));
    let x = x.like(|i, j| x.or_zero(19 - i, j));
    let (dt, cells) = (0.1, 480.0f64);
    let diffused = |x: &Picture, rate: f64| {
        let a = dt * rate * cells;
        relaxed(x, a, 1.0 + 4.0 * a)
    };
    let scale = dt * cells.sqrt();
    let [u, v] = projected(&diffused(&u, 1e-4), &diffused(&v, 1e-4));
    let [u, v] = projected(&carried(&u, &u, &v, scale), &carried(&v, &u, &v, scale));
    let x = carried(&diffused(&x, 2e-4), &u, &v, scale);
    [u.at, v.at, x.at].concat()
}

pub fn jacobi() -> Vec<f64> {
    let is_inner = |i: i64, j: i64| (1..39).contains(&i) && (1..49).contains(&j);
    let sweep = |x: Picture, _| {
        x.like(|i, j| if is_inner(i, j) { x.around(i, j) / 4.0 } else { x.or_zero(i, j) })
    };
    (0..5).fold(test(), sweep).at
}
