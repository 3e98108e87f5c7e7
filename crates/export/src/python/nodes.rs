//! Kinds of nodes in Python.

use super::ops;
use super::reads::{self, tuple};
use super::value::{Kind, Value};
use super::writer::{Refused, Writer};
use crate::fit;
use aplomb_values::array::{Array, DType, Data};
use aplomb_values::body::{Rounds, Step, What};
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::kinds::{Cat, Const, Gather, Iota, Loop, Map, Reduce, Scan, Select};
use aplomb_values::dag::kinds::{Transform, WholeArrays};
use aplomb_values::dag::{Dag, Lib, Node, NodeId, Whole};
use aplomb_values::prim::op::Op;
use std::sync::Arc;

/// The most items of an array that stands in the program.
const MOST_ITEMS: usize = 1_000;

/// The most rounds that a namespace may put off: the graph of what is put off has a depth.
const MOST_PUT_OFF: u32 = 32;

/// The value of a node.
pub fn value(w: &mut Writer, at: NodeId) -> Result<Value, Refused> {
    let dag = w.dag;
    let (shape, dtype) = (dag.shape(at), dag.dtype(at));
    if dtype == DType::Char {
        return Err(Refused::new("it has to do with characters"));
    }
    match dag.node(at) {
        Node::Input(k) => input(w, k.0 as usize, shape, dtype),
        Node::Const(Const(p)) => Ok(Value::number(p.at_run_time().number())),
        Node::Iota(Iota { origin }) => {
            let n = shape[0] as f64;
            let (from, to) = (fit::number(*origin), fit::number(origin + n));
            Ok(Value::atom(format!("xp.arange({from}, {to}, dtype=xp.float64)"), Kind::F64))
        }
        Node::Map(Map { op, ct, args }) => {
            let operands: Vec<(Value, DType)> =
                args.iter().map(|a| (w.value(*a), dag.dtype(*a))).collect();
            ops::value(w, *op, *ct, &operands, dtype)
        }
        Node::Transform(Transform { src, read, .. }) => {
            if let Some(leaf) = spread_leaf(w, *src) {
                return Ok(leaf);
            }
            let x = w.value(*src);
            reads::value(w, &x, dag.shape(*src), read, shape)
        }
        Node::Reduce(Reduce { op, axis, src }) => match product(w, *op, *axis as usize, *src) {
            Some(product) => Ok(product),
            None => folded(w, *op, *axis as usize, *src, dtype),
        },
        Node::Scan(Scan { op, axis, src }) => scanned(w, *op, *axis as usize, *src),
        Node::Select(Select { args }) => {
            let all: Vec<Value> = args.iter().map(|a| w.value(*a)).collect();
            let kind = common(&all[1..], dtype);
            let cond = all[0].as_array(all[0].kind).to(Kind::Bool).text;
            let (yes, no) = (all[1].as_array(kind).text, all[2].to(kind).text);
            Ok(Value::atom(format!("xp.where({cond}, {yes}, {no})"), kind))
        }
        Node::Cat(Cat { axis, args }) => {
            let all: Vec<Value> = args.iter().map(|a| w.value(*a)).collect();
            let kind = common(&all, dtype);
            let all: Vec<String> = all.iter().map(|v| v.as_array(kind).text).collect();
            Ok(Value::atom(format!("xp.concat([{}], axis={axis})", all.join(", ")), kind))
        }
        Node::Gather(Gather { args, read, along, origin }) => {
            let mut moves = Vec::new();
            for (a, by) in along.iter().zip(&args[1..]) {
                let from = dag.shape(args[0]);
                let stride: usize = from[a.axis as usize + 1..].iter().product();
                let by = w.value(*by).as_array(Kind::F64).to(Kind::F64);
                let place = match *origin {
                    0.0 => format!("xp.astype({}, xp.int64)", by.text),
                    o => {
                        format!("xp.astype({}, xp.int64) - {}", by.guarded(), fit::whole(o as i64))
                    }
                };
                moves.push(match a.times * stride as i64 {
                    1 => place,
                    k => format!("({place}) * {}", fit::whole(k)),
                });
            }
            w.needs_all("places that values tell");
            let x = w.value(args[0]);
            reads::gathered(w, &x, dag.shape(args[0]), read, (along, &moves), shape)
        }
        Node::Loop(Loop { args, body, result }) => {
            let key = (Arc::as_ptr(body) as usize, args.to_vec());
            let states = match w.loops.get(&key) {
                Some(states) => states.clone(),
                None => {
                    let states = rounds(w, args, body, shape)?;
                    w.loops.insert(key, states.clone());
                    states
                }
            };
            let state = *result as usize;
            Ok(Value::atom(states[state].clone(), Kind::F64))
        }
        Node::Whole(WholeArrays { what, args }) => whole(w, what, args),
        other => Err(Refused::new(format!("the array API has no {}", other.kind()))),
    }
}

/// The parameter whose one item a transform repeats: how an argument without values is made.
fn spread_leaf(w: &Writer, src: NodeId) -> Option<Value> {
    let Node::Map(Map { op: Op::Conj, args, .. }) = w.dag.node(src) else { return None };
    w.leaves.get(&(w.dag.node(args[0]).input()? as usize)).cloned()
}

/// The kind that all of these become.
fn common(all: &[Value], dtype: DType) -> Kind {
    match dtype {
        DType::Bool if all.iter().all(|v| v.kind == Kind::Bool || v.literal().is_some()) => {
            Kind::Bool
        }
        DType::F32 => Kind::F32,
        _ => Kind::F64,
    }
}

fn input(w: &Writer, k: usize, shape: &[usize], dtype: DType) -> Result<Value, Refused> {
    if let Some(leaf) = w.leaves.get(&k) {
        return Ok(leaf.clone());
    }
    let array: &Array = &w.inputs[k];
    if array.len() > MOST_ITEMS {
        let n = array.len();
        return Err(Refused::new(format!(
            "it uses an array of {n} items that the program holds; {MOST_ITEMS} are the most"
        )));
    }
    let kind = Kind::of(dtype);
    let numbers: Vec<f64> = match array.data() {
        Data::Dense(b) => b.view().each().collect(),
        _ => return Err(Refused::new("it uses an array that is not simple")),
    };
    let item = |x: f64| match kind {
        Kind::Bool if x == 0.0 => "False".into(),
        Kind::Bool => "True".into(),
        _ => fit::number(x),
    };
    let all: Vec<String> = numbers.into_iter().map(item).collect();
    let text = format!("xp.asarray([{}], dtype=xp.{})", all.join(", "), kind.name());
    let text =
        if shape.len() == 1 { text } else { format!("xp.reshape({text}, {})", tuple(shape)) };
    Ok(Value::atom(text, kind))
}

/// The functions of the array API that fold an axis.
const FOLDS: &[(Op, &str)] =
    &[(Op::Add, "sum"), (Op::Mul, "prod"), (Op::Max, "max"), (Op::Min, "min")];

fn folded(
    w: &mut Writer,
    op: Op,
    axis: usize,
    src: NodeId,
    dtype: DType,
) -> Result<Value, Refused> {
    let (x, of) = (w.value(src), w.dag.dtype(src));
    let bits = of == DType::Bool;
    if let (true, Some(name)) = (bits, bit_fold(op)) {
        let x = x.to(Kind::Bool).text;
        return Ok(Value::atom(format!("xp.{name}({x}, axis={axis})"), Kind::Bool));
    }
    if let Some((_, name)) = FOLDS.iter().find(|f| f.0 == op) {
        let kind = if of == DType::F32 { Kind::F32 } else { Kind::F64 };
        if matches!(op, Op::Max | Op::Min) {
            w.folds_some(src, axis);
        }
        let x = x.to(kind).text;
        return Ok(Value::atom(format!("xp.{name}({x}, axis={axis})"), kind));
    }
    // From the end, one after the other.
    w.folds_some(src, axis);
    let n = w.dag.shape(src)[axis];
    in_order(w, &x, axis, n, |w, item, sum| {
        ops::value(w, op, 0.0, &[(item, of), (sum, dtype)], dtype)
    })
}

fn bit_fold(op: Op) -> Option<&'static str> {
    match op {
        Op::Lcm | Op::Min => Some("all"),
        Op::Gcd | Op::Max => Some("any"),
        _ => None,
    }
}

fn in_order(
    w: &mut Writer,
    x: &Value,
    axis: usize,
    n: usize,
    step: impl FnOnce(&mut Writer, Value, Value) -> Result<Value, Refused>,
) -> Result<Value, Refused> {
    w.needs_all("from the end, one item after the other");
    let x = x.to(Kind::F64);
    let items = w.local("items", &x.text);
    let last = fit::whole(n as i64 - 1);
    let sum = w.local("sum", &format!("_along({items}, {axis}, {last})"));
    w.line(&format!("for k in range({}, -1, -1):", fit::whole(n as i64 - 2)));
    w.inside(|w| {
        let item = Value::atom(format!("_along({items}, {axis}, k)"), Kind::F64);
        let made = step(w, item, Value::atom(&sum, Kind::F64))?;
        w.line(&format!("{sum} = {}", made.to(Kind::F64).text));
        Ok(())
    })?;
    Ok(Value::atom(sum, Kind::F64))
}

/// A sum of products of all pairs: a product of matrices, if each axis but the folded one is an
/// axis of one factor alone.
fn product(w: &Writer, op: Op, axis: usize, src: NodeId) -> Option<Value> {
    let dag = w.dag;
    let Node::Map(Map { op: Op::Mul | Op::Dot | Op::Mac, args, .. }) = dag.node(src) else {
        return None;
    };
    let [x, y] = args[..] else { return None };
    if op != Op::Add || dag.dtype(src) == DType::F32 {
        return None;
    }
    let rank = dag.shape(src).len();
    let (a, b) = (spread(dag, x), spread(dag, y));
    let apart = |k: usize| a.1.contains(&k) != b.1.contains(&k);
    let (here, there) =
        (a.1.iter().position(|k| *k == axis)?, b.1.iter().position(|k| *k == axis)?);
    if rank < 2 || !(0..rank).all(|k| k == axis || apart(k)) {
        return None;
    }
    let rest: Vec<usize> = a.1.iter().chain(&b.1).copied().filter(|k| *k != axis).collect();
    let factor = |at: NodeId| w.value(at).as_array(Kind::F64).to(Kind::F64).text;
    let text =
        format!("xp.tensordot({}, {}, axes=(({here},), ({there},)))", factor(a.0), factor(b.0));
    let mut sorted = rest.clone();
    sorted.sort_unstable();
    if sorted == rest {
        return Some(Value::atom(text, Kind::F64));
    }
    let order: Vec<String> = sorted
        .iter()
        .flat_map(|k| rest.iter().position(|r| r == k))
        .map(|k| k.to_string())
        .collect();
    Some(Value::atom(format!("xp.permute_dims({text}, ({}))", order.join(", ")), Kind::F64))
}

/// The array that a value is, repeated along new axes or not, and for each of its axes the one that
/// it is.
fn spread(dag: &Dag, at: NodeId) -> (NodeId, Vec<usize>) {
    let rank = dag.shape(at).len();
    if let Node::Transform(Transform { src, read, .. }) = dag.node(at) {
        let of =
            |(ix, n): (&Ix, &usize)| (0..rank).find(|k| ix.is_axis(*k) && dag.shape(at)[*k] == *n);
        let axes: Option<Vec<usize>> = read.ix.iter().zip(dag.shape(*src)).map(of).collect();
        if let (Some(axes), true) = (axes, read.tests.is_empty()) {
            return (*src, axes);
        }
    }
    (at, (0..rank).collect())
}

fn scanned(w: &Writer, op: Op, axis: usize, src: NodeId) -> Result<Value, Refused> {
    let (x, of) = (w.value(src), w.dag.dtype(src));
    if op == Op::Add && of != DType::F32 {
        let x = x.to(Kind::F64).text;
        return Ok(Value::atom(format!("xp.cumulative_sum({x}, axis={axis})"), Kind::F64));
    }
    let bits = of == DType::Bool;
    let name = match op {
        Op::Max => "maximum",
        Op::Min => "minimum",
        Op::Mul | Op::Dot | Op::Mac => "multiply",
        Op::Gcd if bits => "maximum",
        Op::Lcm if bits => "minimum",
        _ => return Err(Refused::new(format!("the array API has no {}\\", op.glyph()))),
    };
    let x = x.to(Kind::F64).text;
    Ok(Value::atom(format!("_scan(xp, {x}, {axis}, \"{name}\")"), Kind::F64))
}

fn whole(w: &mut Writer, what: &Whole, args: &[NodeId]) -> Result<Value, Refused> {
    match what {
        Whole::Fold { axis, body, given } => {
            let (src, axis) = (args[0], *axis as usize);
            w.folds_some(src, axis);
            let n = w.dag.shape(src)[axis];
            let x = w.value(src);
            in_order(w, &x, axis, n, |w, item, sum| {
                let mut values = vec![(item, DType::F64), (sum, DType::F64)];
                values.extend(given.iter().map(|x| (Value::number(*x), DType::F64)));
                steps(w, &body.steps, &mut values)?;
                Ok(values[body.next[0] as usize].0.clone())
            })
        }
        Whole::Lib { of: of @ (Lib::GradeUp | Lib::GradeDown), origin, rows, .. }
            if *rows || w.dag.shape(args[0]).len() == 1 =>
        {
            w.needs_all("the order of all items");
            let x = w.value(args[0]).to(Kind::F64);
            // Equal items stay in their order either way.
            let x = if *of == Lib::GradeDown { format!("-{}", x.guarded()) } else { x.text };
            let places = format!("xp.astype(xp.argsort({x}, stable=True), xp.float64)");
            let text = format!("{places} + {}", fit::number(*origin));
            Ok(Value::expression(text, Kind::F64))
        }
        _ => Err(Refused::new(format!("the array API has no {}", what.glyph()))),
    }
}

/// The steps behind the arguments, in a loop's own lines.
fn steps(w: &mut Writer, steps: &[Step], values: &mut Vec<(Value, DType)>) -> Result<(), Refused> {
    for (k, step) in steps.iter().enumerate().skip(values.len()) {
        let arg = |v: &u32| values[*v as usize].clone();
        let made = match &step.what {
            What::Const(x) => Value::number(*x),
            What::Op { op, ct, args } => {
                let operands: Vec<(Value, DType)> = args.iter().map(arg).collect();
                ops::value(w, *op, *ct, &operands, step.dtype)?
            }
            What::Select { cond, yes, no } => {
                let (cond, yes, no) = (arg(cond).0, arg(yes).0, arg(no).0);
                let kind = common(&[yes.clone(), no.clone()], step.dtype);
                let cond = cond.as_array(cond.kind).to(Kind::Bool).text;
                let (yes, no) = (yes.as_array(kind).text, no.to(kind).text);
                Value::atom(format!("xp.where({cond}, {yes}, {no})"), kind)
            }
            _ => return Err(Refused::new("a loop in it has a step of its own")),
        };
        let uses = steps[k + 1..].iter().flat_map(|s| s.what.args());
        let often = uses.filter(|v| *v as usize == k).count() > 1;
        let long = fit::width(&made.text) > 44;
        let made = match made.literal().is_none() && (often || long) {
            true => Value::atom(w.local("t", &made.text), made.kind),
            false => made,
        };
        values.push((made, step.dtype));
    }
    Ok(())
}

/// The names of the states behind a loop.
fn rounds(
    w: &mut Writer,
    args: &[NodeId],
    body: &Rounds,
    shape: &[usize],
) -> Result<Vec<String>, Refused> {
    let states: Vec<String> = (0..body.next.len())
        .map(|k| {
            let first = reads::full(&w.value(args[k]), Kind::F64, shape);
            w.local("state", &first.text)
        })
        .collect();
    let mut values: Vec<(Value, DType)> = Vec::new();
    for (k, a) in args.iter().enumerate() {
        let dtype = body.steps[k].dtype;
        values.push(match states.get(k) {
            Some(name) => (Value::atom(name, Kind::F64), dtype),
            None => (w.value(*a), w.dag.dtype(*a)),
        });
    }
    let next =
        |values: &[(Value, DType)], k: usize| values[body.next[k] as usize].0.to(Kind::F64).text;
    let Some(until) = body.until else {
        w.line(&format!("for _ in range({}):", fit::whole(i64::from(body.count))));
        w.inside(|w| {
            steps(w, &body.steps, &mut values)?;
            let all: Vec<String> = (0..states.len()).map(|k| next(&values, k)).collect();
            let (names, all) = (states.join(", "), all.join(", "));
            w.line(&match body.count {
                0..=MOST_PUT_OFF => format!("{names} = {all}"),
                // A single name takes the one array of the tuple.
                _ if states.len() == 1 => format!("({names},) = _computed({all})"),
                _ => format!("{names} = _computed({all})"),
            });
            Ok(())
        })?;
        return Ok(states);
    };
    // Each item has an end of its own.
    let going = w.local("going", &format!("xp.full({}, True)", tuple(shape)));
    w.line(&format!("while bool(xp.any({going})):"));
    w.inside(|w| {
        steps(w, &body.steps, &mut values)?;
        let all: Vec<String> = (0..states.len())
            .map(|k| {
                let state = &states[k];
                format!("xp.where({going}, {}, {state})", next(&values, k))
            })
            .collect();
        let done = values[until as usize].0.as_array(Kind::Bool).to(Kind::Bool);
        let still = format!("{going} & ~{}", done.guarded());
        let names: Vec<&str> = states.iter().chain([&going]).map(String::as_str).collect();
        let names = names.join(", ");
        w.line(&format!("{names} = _computed({}, {still})", all.join(", ")));
        Ok(())
    })?;
    Ok(states)
}
