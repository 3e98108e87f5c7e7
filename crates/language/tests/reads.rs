//! Chains of index transforms: one composed read gives what reading step by step gives.

use aplomb_values::array::elements;
use aplomb_values::dag::ix::{Ix, linear};
use aplomb_values::dag::{Read, Test};
use aplomb_values::reference::unravel;

/// A small generator with a known sequence, so that a failure names its seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

/// One random transform of a shape: its result's shape and its read.
fn transform(dice: &mut Dice, shape: &[usize]) -> (Vec<usize>, Read) {
    let rank = shape.len();
    let axis = dice.roll(rank.max(1));
    let on = |k: usize, ix: Ix| {
        Read::new((0..rank).map(|j| if j == k { ix.clone() } else { Ix::axis(j) }))
    };
    let n = shape.get(axis).copied().unwrap_or(1) as i64;
    match dice.roll(7) {
        0 if rank > 0 => (shape.to_vec(), on(axis, Ix::axis(axis).times(-1).offset(n - 1))),
        1 if rank > 0 => {
            let by = dice.roll(2 * n as usize + 1) as i64 - n;
            (shape.to_vec(), on(axis, Ix::axis(axis).offset(by).modulo(n, shape)))
        }
        2 if rank > 1 => {
            let mut order: Vec<usize> = (0..rank).collect();
            let (a, b) = (dice.roll(rank), dice.roll(rank));
            order.swap(a, b);
            let out: Vec<usize> = (0..rank).map(|k| shape[order[k]]).collect();
            (out, Read::new((0..rank).map(|j| Ix::axis(order[j]))))
        }
        3 if rank > 0 => {
            let (from, len) = (dice.roll(n as usize), 1 + dice.roll(n as usize));
            let len = len.min(n as usize - from);
            let mut out = shape.to_vec();
            out[axis] = len;
            (out, on(axis, Ix::axis(axis).offset(from as i64)))
        }
        4 if rank > 0 => {
            // An over-take with a fill, or a shift.
            let mut out = shape.to_vec();
            let by = dice.roll(5) as i64 - 2;
            out[axis] = (n as usize + dice.roll(3)).min(9);
            let ix = Ix::axis(axis).offset(by);
            let mut read = on(axis, ix.clone());
            read.tests.push(Test { ix, lo: 0, hi: n, fill: 77.0 });
            (out, read)
        }
        5 if rank > 0 => {
            let mut out = shape.to_vec();
            out[axis] = 1 + dice.roll(6);
            let ix = Ix::axis(axis).offset(dice.roll(5) as i64 - 2).clamped(0, n - 1, &out);
            (out, on(axis, ix))
        }
        _ => {
            // A reshape, cycling where the result is larger.
            let out: Vec<usize> = (0..1 + dice.roll(3)).map(|_| 1 + dice.roll(5)).collect();
            let identity: Vec<Ix> = (0..out.len()).map(Ix::axis).collect();
            let total = elements(shape) as i64;
            let flat = linear(&identity, &out, &out);
            let flat = if elements(&out) as i64 > total { flat.modulo(total, &out) } else { flat };
            let mut stride = 1i64;
            let mut ix: Vec<Ix> = Vec::new();
            for &n in shape.iter().rev() {
                ix.push(flat.div(stride, &out).modulo(n as i64, &out));
                stride *= n as i64;
            }
            ix.reverse();
            (out, Read::new(ix))
        }
    }
}

fn apply(read: &Read, from: &[usize], items: &[f64], out: &[usize]) -> Vec<f64> {
    let mut place = vec![0; out.len()];
    (0..elements(out))
        .map(|i| {
            unravel(i, out, &mut place);
            if let Some(t) = read.tests.iter().find(|t| !(t.lo..t.hi).contains(&t.ix.at(&place))) {
                return t.fill;
            }
            let offset = read.ix.iter().zip(from).fold(0usize, |at, (ix, &n)| {
                let x = ix.at(&place);
                assert!(0 <= x && (x as usize) < n, "{x} of {n}: {}", read.text(out.len()));
                at * n + x as usize
            });
            // The row-major offset is the same number.
            assert_eq!(
                linear(&read.ix, from, out).at(&place),
                offset as i64,
                "{}",
                read.text(out.len())
            );
            items[offset]
        })
        .collect()
}

#[test]
fn a_chain_of_transforms_is_one_read() {
    let mut affine = 0;
    const CHAINS: u64 = 6_000;
    for seed in 0..CHAINS {
        let mut dice = Dice(seed);
        let first: Vec<usize> = (0..1 + dice.roll(3)).map(|_| 1 + dice.roll(5)).collect();
        let items: Vec<f64> = (0..elements(&first)).map(|x| x as f64).collect();
        let (mut shape, mut step) = (first.clone(), items.clone());
        let mut whole = Read::identity(first.len());
        for _ in 0..2 + dice.roll(5) {
            let (out, read) = transform(&mut dice, &shape);
            step = apply(&read, &shape, &step, &out);
            whole = whole.after(&read, &out);
            shape = out;
        }
        assert_eq!(
            apply(&whole, &first, &items, &shape),
            step,
            "seed {seed}: {}",
            whole.text(shape.len())
        );
        affine += u64::from(linear(&whole.ix, &first, &shape).is_affine());
    }
    // The normal form is worth having only while it finds most offsets affine.
    assert!(affine * 2 > CHAINS, "{affine} of {CHAINS} offsets are affine");
}

/// The places of a source that a read meets, each once.
fn met(read: &Read, from: &[usize], out: &[usize]) -> usize {
    let mut place = vec![0; out.len()];
    let mut all: Vec<i64> = Vec::new();
    for i in 0..elements(out) {
        unravel(i, out, &mut place);
        if read.tests.iter().all(|t| (t.lo..t.hi).contains(&t.ix.at(&place))) {
            all.push(linear(&read.ix, from, out).at(&place));
        }
    }
    all.sort();
    all.dedup();
    all.len()
}

/// A figure of bytes counts never fewer than a launch meets, and for most reads no more.
#[test]
fn distinct_elements_of_a_read_are_those_it_meets() {
    let (mut exact, mut all) = (0, 0);
    for seed in 0..6_000 {
        let mut dice = Dice(seed);
        let first: Vec<usize> = (0..1 + dice.roll(3)).map(|_| 1 + dice.roll(5)).collect();
        let (mut shape, mut whole) = (first.clone(), Read::identity(first.len()));
        for _ in 0..1 + dice.roll(3) {
            let (out, read) = transform(&mut dice, &shape);
            whole = whole.after(&read, &out);
            shape = out;
        }
        let (told, true_one) =
            (whole.distinct(&first, &shape) as usize, met(&whole, &first, &shape));
        let what =
            format!("seed {seed}: {told} of {true_one} in {first:?}, {}", whole.text(shape.len()));
        assert!(true_one <= told && told <= elements(&first).min(elements(&shape)), "{what}");
        (exact, all) = (exact + usize::from(told == true_one), all + 1);
    }
    assert!(exact * 10 > all * 9, "{exact} of {all} are exact");
    // A product's operands: each in two of three loops.
    let read = |axes: &[usize]| Read::new(axes.iter().map(|k| Ix::axis(*k)));
    let loops = [300, 250, 200];
    assert_eq!(read(&[0, 2]).distinct(&[300, 200], &loops), 60_000);
    assert_eq!(read(&[2, 1]).distinct(&[200, 250], &loops), 50_000);
    // A diagonal, every second element, and what only values tell.
    assert_eq!(read(&[0, 0]).distinct(&[9, 9], &[9]), 9);
    assert_eq!(Read::new([Ix::axis(0).times(2)]).distinct(&[100], &[50]), 50);
    assert_eq!(Read::anywhere(1).distinct(&[100], &[7]), 7);
    assert_eq!(Read::anywhere(1).distinct(&[5], &[7]), 5);
}

#[test]
fn a_transposed_ravel_is_one_linear_read() {
    // ,⍉6 10⍴A of 60 items: 10*(x mod 6) + x div 6.
    let x = Ix::axis(0);
    let extents = [60];
    let transposed = [x.div(6, &extents), x.modulo(6, &extents)];
    let whole = Read::new([Ix::axis(1), Ix::axis(0)]).after(&Read::new(transposed), &extents);
    assert_eq!(linear(&whole.ix, &[6, 10], &extents).text(), "(i div 6)+10·(i mod 6)");
}
