//! Several points a thread at a time: contiguous arrays go in vectors of up to 16 bytes, and a fold
//! has independent partial results, so that more loads and more additions are under way.
//!
//! Rows: ACL-02, ACL-21, BAR-06. In: the body of one point, in which an array at the point's own
//! place is `a0[i]`. Out: that body in two loops. The first takes blocks of threads × items points
//! and finds `u0[e]` for `a0[i]`, `z0[e]` for `r0[i]`, `f0[…]` for the partial result `t0`; the
//! second takes the rest one by one, or everything where an array does not begin at a multiple of
//! its vectors, which is looked at in the launch: the text holds for all.
//!
//! How many points: as many as 16 bytes hold of the widest such array, and four at least in folds.
//! Heavy bodies take one: they have work enough, or wait for caches, and would only need more
//! registers.

use super::check::words;
use super::fold::{fold_text, unit};
use super::lower::Lowering;
use super::{Expr, Param, ParamKind, Stmt, Type};
use crate::plan::{Launch, What};
use aplomb_ground::error::Result;
use aplomb_values::prim::op::Op;

/// Bytes of the widest load.
const WIDEST: u32 = 16;
/// Points that are chosen for small items at most.
const MOST: u32 = 8;
/// A fold's independent partial results.
const FOLDS: u32 = 4;
/// Nanoseconds on one core of a body that is heavy.
const HEAVY: f64 = 2.0;

/// A loop over points that lie one behind the other, and who shares them.
pub(super) struct Way {
    /// The loop's variable, of which the body is written; `i` is the place in the arrays.
    pub(super) name: &'static str,
    pub(super) by: By,
    /// The text before the variable in a place: `o * m0 + `, or nothing.
    pub(super) base: Expr,
    /// The number of items.
    pub(super) count: Expr,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum By {
    /// All blocks, from `lo`.
    Grid,
    /// One block, from 0.
    Block,
}

impl Way {
    pub(super) fn all() -> Way {
        Way { name: "i", by: By::Grid, base: String::new(), count: "n".into() }
    }

    fn lo(&self) -> &'static str {
        if self.by == By::Grid { "lo + " } else { "" }
    }

    /// The loop in which a thread takes `each` points at `each` times its number, in blocks of
    /// `block`.
    fn run(
        &self,
        name: &str,
        from: &str,
        to: &str,
        (block, each): (u32, u32),
        body: Vec<Stmt>,
    ) -> Stmt {
        let thread = if each == 1 { "threadIdx.x".into() } else { format!("threadIdx.x * {each}") };
        let (own, step) = match self.by {
            By::Grid => (
                format!("(u64)blockIdx.x * {block} + {thread}"),
                format!("(u64)gridDim.x * {block}"),
            ),
            By::Block => (thread, block.to_string()),
        };
        let (from, to) = (format!("{}{from}{own}", self.lo()), format!("{}{to}", self.lo()));
        Stmt::For { name: name.into(), from, to, step, body }
    }
}

/// A contiguous array of the body: its name, its items, its name in the loop of vectors.
struct Array {
    name: String,
    of: Type,
    own: String,
    is_result: bool,
}

impl Lowering<'_> {
    /// The loops over `body`; the launch's folds are in it, and their partial results `t0…` begin
    /// before.
    pub(super) fn spread(&mut self, way: &Way, body: Vec<Stmt>) -> Result<Vec<Stmt>> {
        let folds: &[_] = if self.launch.axis.is_some() { &self.launch.reductions } else { &[] };
        let arrays = arrays(&self.params, &body);
        let widest = widest(&arrays);
        let items = self.tuning.items.map(|k| k.next_power_of_two().clamp(1, WIDEST));
        let items =
            items.unwrap_or_else(|| chosen(self.launch, way.by, widest, folds.len() as u32));
        self.items = items;
        if items == 1 {
            return Ok(vec![way.run(way.name, "", &way.count, (self.threads, 1), body)]);
        }
        // Points that lie together in a thread; with more than fit a vector, it has several, a
        // block's width apart.
        let each = widest.map_or(1, |bytes| (WIDEST / bytes).min(items));
        let block = self.threads * items;
        let begin = format!("{}{}", way.base, if way.by == By::Grid { "lo" } else { "0" });
        let begin = begin.strip_suffix(" + 0").map_or(begin.clone(), str::to_string);
        let tests: Vec<Expr> = arrays
            .iter()
            .map(|a| format!("aligned({} + {begin}, {})", a.name, each * a.of.bytes()))
            .collect();
        let whole = format!("{} / {block} * {block}", way.count);
        let whole =
            if tests.is_empty() { whole } else { format!("{} ? {whole} : 0", tests.join(" && ")) };
        let mut out = vec![Stmt::Note(format!("{items} points a thread, the rest one by one."))];
        out.push(Stmt::Let { name: "whole".into(), of: Type::U64, is: whole, node: None });
        let partial = items.min(FOLDS);
        for k in 0..folds.len() {
            out.push(Stmt::Local { name: format!("f{k}"), of: Type::F64, count: partial });
        }
        let begun =
            folds.iter().enumerate().map(|(k, r)| Ok(put(&format!("f{k}"), "e", unit(r.op)?)));
        let begun = begun.collect::<Result<Vec<_>>>()?;
        if !begun.is_empty() {
            out.push(unrolled(partial, partial, begun));
        }
        let together = together(way, &arrays, &body, (items, each), self.threads);
        out.push(way.run("at", "", "whole", (block, each), together));
        for (k, r) in folds.iter().enumerate() {
            // (0 + 1) + (2 + 3)
            let item = |j: u32| format!("f{k}[{j}]");
            let join = |x: u32, y: u32| fold_text(r.op, &item(x), &item(y));
            if partial == 4 {
                out.push(put(&format!("f{k}"), "0", join(0, 1)?));
                out.push(put(&format!("f{k}"), "2", join(2, 3)?));
            }
            out.push(Stmt::Set {
                name: format!("t{k}"),
                is: join(0, partial / 2)?,
                node: Some(r.node),
            });
        }
        out.push(way.run(way.name, "whole + ", &way.count, (self.threads, 1), body));
        Ok(out)
    }
}

/// The loop over the points of a thread.
pub(super) fn unrolled(count: u32, out: u32, body: Vec<Stmt>) -> Stmt {
    Stmt::Unrolled { name: "e".into(), count, out, body }
}

fn put(to: &str, at: &str, is: Expr) -> Stmt {
    Stmt::Store { to: to.into(), at: at.into(), is, node: None }
}

/// Points that a thread of a map may take at a time; so many as 16 only of bytes.
pub(super) fn choices(launch: &Launch, params: &[Param], body: &[Stmt]) -> Vec<u32> {
    let most = match widest(&arrays(params, body)) {
        _ if launch.domain.is_empty() => 0,
        Some(1) => WIDEST,
        _ => MOST,
    };
    [1, 2, 4, MOST, WIDEST].into_iter().filter(|k| *k <= most).collect()
}

/// Bytes of the largest items.
fn widest(arrays: &[Array]) -> Option<u32> {
    arrays.iter().map(|a| a.of.bytes()).max()
}

/// Points a thread takes at a time where nobody tunes.
fn chosen(launch: &Launch, by: By, widest: Option<u32>, folds: u32) -> u32 {
    let ns = |what: &What| match what {
        // What calls a library keeps little in registers.
        What::Loop { .. } | What::Gather { .. } | What::Op { op: Op::Circle(_), .. } => HEAVY,
        What::Op { .. } => what.cost_among(&launch.body).ns,
        _ => 0.0,
    };
    if launch.domain.is_empty() || launch.body.iter().map(|s| ns(&s.what)).sum::<f64>() >= HEAVY {
        return 1;
    }
    let of_vector = widest.map_or(1, |bytes| (WIDEST / bytes).min(MOST));
    // All folds together have so many partial results; what goes through rows has other things to
    // keep too.
    let partial = if by == By::Grid { 2 * FOLDS } else { FOLDS };
    match folds {
        0 => of_vector,
        1 => of_vector.max(FOLDS),
        _ => (partial / folds).clamp(1, FOLDS),
    }
}

/// The body for `items` points: what it loads before it, what it stores behind it.
fn together(
    way: &Way,
    arrays: &[Array],
    body: &[Stmt],
    (items, each): (u32, u32),
    threads: u32,
) -> Vec<Stmt> {
    let mut out: Vec<Stmt> = arrays
        .iter()
        .map(|a| Stmt::Local { name: a.own.clone(), of: a.of, count: items })
        .collect();
    let vectors = |a: &Array| {
        let (own, name, vector) = (&a.own, &a.name, a.of.vector(each));
        let one = |k: u32| {
            let apart = if k == 0 { String::new() } else { format!(" + {}", k * threads * each) };
            let (mine, there) =
                (format!("(({vector}*){own})[{k}]"), format!("({name} + {}at{apart})", way.base));
            Stmt::Do(match a.is_result {
                // Said, since NVRTC takes a plain store apart in a loop.
                true => format!("__stwb(({vector}*){there}, {mine})"),
                false => format!("{mine} = __ldg((const {vector}*){there})"),
            })
        };
        (0..items / each).map(one).collect::<Vec<_>>()
    };
    out.extend(arrays.iter().filter(|a| !a.is_result).flat_map(vectors));
    let point = match each {
        _ if each == items => "at + e".into(),
        1 => format!("at + e * {threads}"),
        _ => format!("at + e / {each} * {} + e % {each}", each * threads),
    };
    let mut inner = vec![Stmt::Let { name: way.name.into(), of: Type::U64, is: point, node: None }];
    let partial = items.min(FOLDS);
    let folded = if partial == items { "e".into() } else { format!("e % {partial}") };
    inner.extend(body.iter().map(|stmt| one_of_many(stmt, arrays, &folded)));
    out.push(unrolled(items, items, inner));
    out.extend(arrays.iter().filter(|a| a.is_result).flat_map(vectors));
    out
}

/// A statement that finds its arrays and partial results among those of several points.
fn one_of_many(stmt: &Stmt, arrays: &[Array], folded: &str) -> Stmt {
    let text = |e: &Expr| {
        let loads = arrays.iter().filter(|a| !a.is_result);
        loads.fold(e.clone(), |e, a| e.replace(&format!("{}[i]", a.name), &format!("{}[e]", a.own)))
    };
    let all =
        |list: &[Stmt]| list.iter().map(|s| one_of_many(s, arrays, folded)).collect::<Vec<_>>();
    match stmt.clone() {
        Stmt::Let { name, of, is, node } => Stmt::Let { name, of, is: text(&is), node },
        Stmt::Set { name, is, node } => match partial_result(&name) {
            Some(own) => {
                let item = format!("{own}[{folded}]");
                Stmt::Store {
                    to: own,
                    at: folded.into(),
                    is: renamed(&text(&is), &name, &item),
                    node,
                }
            }
            None => Stmt::Set { name, is: text(&is), node },
        },
        Stmt::Store { to, at, is, node } => {
            match arrays.iter().find(|a| a.is_result && a.name == to && at == "i") {
                Some(a) => Stmt::Store { to: a.own.clone(), at: "e".into(), is: text(&is), node },
                None => Stmt::Store { to, at, is: text(&is), node },
            }
        }
        Stmt::Do(e) => Stmt::Do(text(&e)),
        Stmt::If(e, body) => Stmt::If(text(&e), all(&body)),
        Stmt::For { name, from, to, step, body } => {
            Stmt::For { name, from, to, step, body: all(&body) }
        }
        Stmt::Unrolled { name, count, out, body } => {
            Stmt::Unrolled { name, count, out, body: all(&body) }
        }
        Stmt::Each { name, next, to, body } => Stmt::Each { name, next, to, body: all(&body) },
        Stmt::Halve { name, from, body } => Stmt::Halve { name, from, body: all(&body) },
        same @ (Stmt::Shared { .. }
        | Stmt::SharedFours { .. }
        | Stmt::Local { .. }
        | Stmt::Roll
        | Stmt::Span { .. }
        | Stmt::Parallel { .. }
        | Stmt::Note(_)) => same,
    }
}

/// `f0` for `t0`.
fn partial_result(name: &str) -> Option<String> {
    let number = name
        .strip_prefix('t')
        .filter(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))?;
    Some(format!("f{number}"))
}

/// `to` for every word `name`.
fn renamed(text: &str, name: &str, to: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    for word in words(text) {
        let Some((before, after)) = rest.split_once(word) else { break };
        out.push_str(before);
        out.push_str(if word == name { to } else { word });
        rest = after;
    }
    out + rest
}

/// The arrays that a body reads or writes at its point's own place.
fn arrays(params: &[Param], body: &[Stmt]) -> Vec<Array> {
    let mut all = Vec::new();
    for p in params {
        let (of, is_result) = match p.what {
            ParamKind::In(of, _) => (of, false),
            ParamKind::Out(of, _) => (of, true),
            _ => continue,
        };
        let found = if is_result {
            body.iter().any(|s| stores(s, &p.name))
        } else {
            reads(body, &format!("{}[i]", p.name))
        };
        if found {
            let own = format!("{}{}", if is_result { 'z' } else { 'u' }, &p.name[1..]);
            all.push(Array { name: p.name.clone(), of, own, is_result });
        }
    }
    all
}

fn stores(stmt: &Stmt, name: &str) -> bool {
    match stmt {
        Stmt::Store { to, at, .. } => to == name && at == "i",
        Stmt::If(_, body) => body.iter().any(|s| stores(s, name)),
        _ => false,
    }
}

/// Whether all points load from there: a load stands where values are made, nowhere else. What only
/// the inside of a launch reads may not be there for others.
fn reads(body: &[Stmt], place: &str) -> bool {
    let always = body.iter().any(|stmt| match stmt {
        Stmt::Let { is, .. } | Stmt::Set { is, .. } | Stmt::Store { is, .. } => is.contains(place),
        Stmt::For { body, .. } => reads(body, place),
        _ => false,
    });
    let mut parts = body.iter().filter_map(|stmt| match stmt {
        Stmt::If(_, part) => Some(part),
        _ => None,
    });
    let some = parts.clone().next().is_some();
    always || some && parts.all(|part| reads(part, place))
}

impl Type {
    /// The type of CUDA that has so many items, or their bytes; up to 16 bytes.
    pub fn vector(self, items: u32) -> &'static str {
        let own = match self {
            Type::F64 => ["double", "double2", ""],
            Type::F32 => ["float", "float2", "float4"],
            Type::I64 => ["i64", "longlong2", ""],
            Type::U64 => ["u64", "ulonglong2", ""],
            Type::U32 => ["u32", "uint2", "uint4"],
            Type::I32 => ["i32", "int2", "int4"],
            Type::I16 => ["i16", "short2", "short4"],
            Type::U8 => ["u8", "uchar2", "uchar4"],
            Type::I8 => ["i8", "char2", "char4"],
        };
        match (items, items * self.bytes()) {
            (1 | 2 | 4, ..=16) => own[items.trailing_zeros() as usize],
            (_, 8) => "uint2",
            _ => "uint4",
        }
    }
}
