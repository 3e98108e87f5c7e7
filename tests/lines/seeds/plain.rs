//! Vectors and products by plain loops: what `programs` compares with.

/// The numbers that `g` makes.
pub fn g(n: usize) -> Vec<f64> {
    (1..=n).map(|i| ((1103 * i) % 997) as f64 / 997.0).collect()
}

/// The first 2000 numbers with the same in reverse.
pub fn pairs() -> impl Iterator<Item = (f64, f64)> {
    let x = g(2000);
    let y: Vec<f64> = x.iter().rev().copied().collect();
    x.into_iter().zip(y)
}

pub fn dot() -> Vec<f64> {
    vec![pairs().map(|(x, y)| x * y).sum()]
}

/// A matrix whose rows have `inner` numbers by one whose rows have `wide`.
pub fn product(a: &[f64], b: &[f64], inner: usize, wide: usize) -> Vec<f64> {
    let mut out = Vec::new();
    for row in a.chunks(inner) {
        for k in 0..wide {
            out.push(row.iter().enumerate().map(|(j, x)| x * b[j * wide + k]).sum());
        }
    }
    out
}

/// A matrix whose rows have `wide` numbers, turned.
pub fn turned(a: &[f64], wide: usize) -> Vec<f64> {
    (0..wide).flat_map(|k| a.chunks(wide).map(move |row| row[k])).collect()
}

/// Sums of threads, every third number, and in how many turns banks serve 32 threads.
pub fn micro() -> Vec<f64> {
    let a = g(16 * 256);
    let mut out = Vec::new();
    for block in a.chunks(256) {
        out.extend((0..32).map(|t| (0..8).map(|e| block[8 * t + e]).sum::<f64>()));
    }
    for block in a.chunks(256) {
        out.extend((0..32).map(|t| (0..8).map(|e| block[t + 32 * e]).sum::<f64>()));
    }
    out.extend((0..a.len() / 3).map(|t| a[3 * t]));
    for stride in 0..65 {
        let mut words: Vec<usize> = (0..32).map(|t| t * stride).collect();
        words.dedup();
        let in_bank = |bank: usize| words.iter().filter(|w| *w % 32 == bank).count();
        out.push((0..32).map(in_bank).max().unwrap_or(0) as f64);
    }
    out
}

/// Prices of calls, or of puts.
pub fn options(calls: bool) -> Vec<f64> {
    let x = g(2000);
    let normal = |d: f64| {
        let k = 1.0 / (1.0 + 0.2316419 * d.abs());
        let taps = [0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
        let sum: f64 = taps.iter().enumerate().map(|(i, c)| c * k.powi(i as i32 + 1)).sum();
        let tail = (-d * d / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt() * sum;
        if d > 0.0 { 1.0 - tail } else { tail }
    };
    let price = |i: usize| {
        let (s, strike, t) = (90.0 + 20.0 * x[i], 80.0 + 40.0 * x[1999 - i], 0.1 + x[i]);
        let (r, v) = (0.02, 0.3f64);
        let d1 = ((s / strike).ln() + (r + v * v / 2.0) * t) / (v * t.sqrt());
        let d2 = d1 - v * t.sqrt();
        let paid = strike * (-r * t).exp();
        match calls {
            true => s * normal(d1) - paid * normal(d2),
            false => paid * (1.0 - normal(d2)) - s * (1.0 - normal(d1)),
        }
    };
    (0..2000).map(price).collect()
}

pub fn mandelbrot() -> Vec<f64> {
    let c = pairs().map(|(x, y)| (-2.0 + 3.0 * x, -1.5 + 3.0 * y));
    let steps = |(a, b): (f64, f64)| {
        let (mut x, mut y) = (0.0, 0.0);
        for n in 0..255 {
            (x, y) = (a + (x * x - y * y), b + 2.0 * x * y);
            if x * x + y * y > 4.0 {
                return f64::from(n);
            }
        }
        255.0
    };
    c.map(steps).collect()
}

pub fn nbody() -> Vec<f64> {
    let bodies = g(240);
    let mut out = vec![0.0; 180];
    for (i, a) in bodies.chunks(4).enumerate() {
        for b in bodies.chunks(4) {
            let r: Vec<f64> = (0..3).map(|k| b[k] - a[k]).collect();
            let apart = 0.05 * 0.05 + r.iter().map(|x| x * x).sum::<f64>();
            for k in 0..3 {
                out[60 * k + i] += b[3] * r[k] / apart.powf(1.5);
            }
        }
    }
    out
}

pub fn radix() -> Vec<f64> {
    let mut a: Vec<f64> = g(2000).iter().map(|x| (4294967296.0 * (x - 0.5)).floor()).collect();
    a.sort_by(f64::total_cmp);
    a
}

pub fn smvm() -> Vec<f64> {
    let long: Vec<usize> = (1..=300).map(|i| ((7 * i) % 13).max(1)).collect();
    let (w, v) = (g(long.iter().sum()), g(97));
    let mut k = 0;
    let row = |n: &usize| {
        let sum = (k..k + n).map(|k| w[k] * v[(31 * (k + 1)) % 97]).sum();
        k += n;
        sum
    };
    long.iter().map(row).collect()
}

/// Spencer's fifteen points as he made them: means of 4, of 4, of 5, and a last filter.
pub fn spencer() -> Vec<f64> {
    let convolved = |x: &[f64], taps: &[f64]| -> Vec<f64> {
        x.windows(taps.len()).map(|w| w.iter().zip(taps).map(|(x, t)| x * t).sum()).collect()
    };
    let once = convolved(&g(2000), &[0.25; 4]);
    let twice = convolved(&once, &[0.25; 4]);
    let thrice = convolved(&twice, &[0.2; 5]);
    convolved(&thrice, &[-0.75, 0.75, 1.0, 0.75, -0.75])
}
