//! One operation or fold at once, for the evaluator's eager path: the same loops, no program.

use super::isa::Isa;
use super::loops::{
    Dots, Loop, Loops, Trees, dots, loops, plain, singles, trees, trees_of_singles,
};
use aplomb_values::array::DType;
use aplomb_values::prim::op::Op;
use aplomb_values::prim::reduce::{ROWS, block_of, is_single};
use aplomb_values::prim::scalar::Src;
use aplomb_values::prim::scalar::{eval, single::has_own, small_exponent};

/// Rows that are summed together.
const BUNCH: usize = 64;

fn item(x: Src, k: usize) -> f64 {
    match x {
        Src::One(x) => x,
        Src::Many(items) => items[k],
    }
}

/// Whether the argument is there for every element.
fn covers(x: Src, n: usize) -> bool {
    match x {
        Src::One(_) => true,
        Src::Many(items) => items.len() >= n,
    }
}

/// `out[i] = x[i] op y[i]`, as a result of that type before it is rounded to it; a monadic
/// operation ignores `y`. False: some element is suspect (or an argument is shorter than `out`) and
/// the caller must take the scalar meaning, element by element.
pub fn apply(isa: Isa, (op, dtype): (Op, DType), ct: f64, x: Src, y: Src, out: &mut [f64]) -> bool {
    let n = out.len();
    let dyadic = op.arity() == 2;
    if !covers(x, n) || (dyadic && !covers(y, n)) {
        return false;
    }
    let whole = |y: Src| matches!(y, Src::One(p) if small_exponent(p).is_some());
    if dtype == DType::F32 && (has_own(op) || op == Op::Pow && whole(y)) {
        return apply_short(isa, op, x, y, out);
    }
    match (op, x, y) {
        // Which exponents are whole differs by place, and then it is products in f32.
        (Op::Pow, _, Src::Many(_)) if dtype == DType::F32 => false,
        (Op::Pow, Src::Many(_), Src::One(0.5)) => {
            loops(isa, Op::Sqrt, ct).is_some_and(|l| by_loop(isa, l, false, ct, x, x, out))
        }
        (Op::Pow, Src::Many(items), Src::One(p)) if small_exponent(p).is_some() => {
            by_power(isa, plain(isa).power, (items, p), out)
        }
        _ => match loops(isa, op, ct) {
            Some(l) => by_loop(isa, l, dyadic, ct, x, y, out),
            None => out.iter_mut().enumerate().all(|(k, o)| {
                match eval(op, ct, item(x, k), item(y_or(dyadic, y), k)) {
                    Ok(value) => {
                        *o = value;
                        value.is_finite()
                    }
                    Err(_) => false,
                }
            }),
        },
    }
}

/// The same of an operation that has a meaning of its own in f32 (`prim::scalar::single`). False
/// also: an operand is no f32.
fn apply_short(isa: Isa, op: Op, x: Src, y: Src, out: &mut [f64]) -> bool {
    let dyadic = op.arity() == 2;
    let is_short = |of: Src| match of {
        Src::One(x) => f64::from(x as f32) == x,
        Src::Many(items) => items.iter().fold(true, |all, x| all & (f64::from(*x as f32) == *x)),
    };
    if !is_short(x) || (dyadic && !is_short(y)) {
        return false;
    }
    match (x, y) {
        (Src::Many(items), Src::One(p)) if op == Op::Pow => {
            by_power(isa, plain(isa).power_of_singles, (items, p), out)
        }
        _ => singles(isa, op).is_some_and(|l| by_loop(isa, l, dyadic, 0.0, x, y, out)),
    }
}

/// The folds of rows of so many elements, at most a block of `prim::reduce` each, to results of
/// that type before they are rounded to it. False: some result is not finite, or rows are no such
/// thing, or failures of the operation do not show in its result.
pub fn fold(
    isa: Isa,
    (op, dtype): (Op, DType),
    rows: &[f64],
    size: usize,
    out: &mut [f64],
) -> bool {
    let shows = matches!(op, Op::Add | Op::Mul | Op::Max | Op::Min);
    let fits = (1..=block_of(op, dtype)).contains(&size) && rows.len() == size * out.len();
    // SAFETY: as many rows of as many elements as there are results.
    let run = |l: Trees| unsafe { (l.rows)(out.as_mut_ptr(), rows.as_ptr(), out.len(), size) };
    let loops = if is_single(op, dtype) { trees_of_singles } else { trees };
    shows && fits && loops(isa, op).is_some_and(run)
}

/// The sums of products of rows of so many pairs, which `op` takes unrounded, at most a block of
/// `prim::reduce` each, to sums of that type before they are rounded to it. False: some result is
/// not finite, or an argument is one number.
pub fn dot(
    isa: Isa,
    (op, dtype): (Op, DType),
    (x, y): (Src, Src),
    size: usize,
    out: &mut [f64],
) -> bool {
    let (Src::Many(x), Src::Many(y)) = (x, y) else { return false };
    let single = is_single(Op::Add, dtype);
    let (n, dots) = (size * out.len(), dots(isa, single));
    let most = block_of(Op::Add, dtype);
    let fits = (1..=most).contains(&size) && x.len() == n && y.len() == n;
    if op == Op::Mac {
        return fits && in_order(isa, dots, (x, y), size, out);
    }
    let Some(sums) = trees(isa, Op::Add).filter(|_| fits) else { return false };
    out.iter_mut().enumerate().all(|(row, out)| {
        // SAFETY: the arguments have so many rows of so many items.
        unsafe {
            let [x, y] = [x, y].map(|of| of.as_ptr().add(row * size));
            dots.sum(sums, out, (x, y), size)
        }
    })
}

/// The same in order, block after block.
fn in_order(isa: Isa, dots: Dots, (x, y): (&[f64], &[f64]), size: usize, out: &mut [f64]) -> bool {
    for (bunch, out) in out.chunks_mut(BUNCH).enumerate() {
        for first in (0..size).step_by(ROWS) {
            // What changes no sum.
            let mut own = [-0.0; BUNCH];
            let (rows, n) = ((out.len(), size), ROWS.min(size - first));
            // SAFETY: the arguments have so many rows of so many items.
            unsafe {
                let [x, y] = [x, y].map(|of| of.as_ptr().add(bunch * BUNCH * size + first));
                (dots.in_order)(own.as_mut_ptr(), x, y, rows, n);
            }
            for (sum, own) in out.iter_mut().zip(own) {
                *sum = if first == 0 { own } else { *sum + own };
            }
        }
    }
    // SAFETY: it is a slice.
    unsafe { (plain(isa).all_finite)(out.as_ptr(), out.len()) }
}

/// Small whole powers of as many items as there are results.
fn by_power(isa: Isa, of: Loop, (items, p): (&[f64], f64), out: &mut [f64]) -> bool {
    let n = out.len();
    // SAFETY: `covers` held n against the items; `out` is a slice of its own.
    unsafe {
        !of(out.as_mut_ptr(), items.as_ptr(), items.as_ptr(), p, n)
            && (plain(isa).all_finite)(out.as_ptr(), n)
    }
}

fn y_or(dyadic: bool, y: Src) -> Src {
    if dyadic { y } else { Src::One(0.0) }
}

fn by_loop(isa: Isa, l: Loops, dyadic: bool, ct: f64, x: Src, y: Src, out: &mut [f64]) -> bool {
    let n = out.len();
    let run = match (x, y) {
        (Src::One(_), Src::Many(_)) if dyadic => l.left,
        (Src::Many(_), Src::One(_)) if dyadic => l.right,
        (Src::Many(_), _) => l.both,
        // One element for all: once is enough.
        (Src::One(_), _) => {
            let mut one = [0.0];
            let number = |s: &Src| if let Src::One(x) = s { *x } else { 0.0 };
            // `y` is a number too, or nothing reads it.
            let (a, b) = (number(&x), number(&y));
            // SAFETY: one element at each pointer.
            let suspect = unsafe { (l.both)(one.as_mut_ptr(), &a, &b, ct, 1) };
            out.fill(one[0]);
            return !suspect && one[0].is_finite();
        }
    };
    let at = |s: &Src| match s {
        Src::One(x) => std::ptr::from_ref(x),
        Src::Many(items) => items.as_ptr(),
    };
    let second = if dyadic { at(&y) } else { at(&x) };
    // SAFETY: `covers` held n against both lengths; `out` is a slice of its own.
    unsafe {
        !run(out.as_mut_ptr(), at(&x), second, ct, n) && (plain(isa).all_finite)(out.as_ptr(), n)
    }
}
