//! Delayed arrays: Done, Yield and Step, the three forms that carry all fusion of producers.
//!
//! Rows: ACC-13, ACC-14, ACC-15. Done is an array in memory. Step is one such array read at p, with
//! f applied to what is read. Yield is a function from the index to the value. Three smart
//! constructors combine them: `map`, `backpermute`, `zip_with`; `compute` names the most special
//! loop that makes the array. Equal functions are one id (an arena that knows what it holds), so
//! `1+⌽A` and `⌽1+A` are the same Step. Everything is by lists: chains may be long.

use super::hash::Map;
use super::schedule::Why;
use super::work::Work;
use aplomb_ground::error::Result;
use aplomb_values::array::format::short as number;
use aplomb_values::dag::ix::Ix;
use aplomb_values::dag::{Along, Dag, Node, NodeId, Read, kinds};
use aplomb_values::prim::op::Op;
use std::collections::BTreeMap;
use std::rc::Rc;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ExprId(u32);

/// An expression over one array's element, or over the index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Expr {
    /// The element.
    X,
    /// A scalar: a number or a computed one.
    Scalar(NodeId),
    /// An element of an array in memory; on some axes functions say where.
    At(NodeId, Rc<Read>, Vec<(Along, ExprId)>),
    /// The index plus an origin (by its bits).
    Index(Rc<Ix>, u64),
    Op(Op, Vec<ExprId>),
    /// A function of an element, applied.
    Of(ExprId, ExprId),
    /// A function of the index, at another index.
    Moved(ExprId, Rc<Read>),
    /// A node that has no name in scalar functions.
    Node(NodeId, Vec<ExprId>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Delayed {
    Done(NodeId),
    Yield { f: ExprId },
    Step { p: Rc<Places>, f: ExprId, v: NodeId },
}

/// The places at which an array in memory is read: an index expression for each axis, or a function
/// where values tell.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    read: Read,
    /// The values that are added to the places of axes, as functions.
    along: Vec<(Along, ExprId)>,
}

impl Places {
    fn is_identity(&self) -> bool {
        self.along.is_empty() && self.read.is_identity()
    }
}

/// The loops that `compute` chooses among, the most special first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Identity,
    Map,
    Backpermute,
    Transform,
    Generate,
}

impl Form {
    pub fn name(self) -> &'static str {
        match self {
            Form::Identity => "Identity",
            Form::Map => "Map",
            Form::Backpermute => "Backpermute",
            Form::Transform => "Transform",
            Form::Generate => "Generate",
        }
    }
}

pub struct Fusion<'a> {
    dag: &'a Dag,
    exprs: Vec<Expr>,
    known: Map<Expr, ExprId>,
}

impl<'a> Fusion<'a> {
    pub fn new(dag: &'a Dag) -> Fusion<'a> {
        Fusion { dag, exprs: Vec::new(), known: Map::default() }
    }

    fn expr(&mut self, e: Expr) -> ExprId {
        if let Some(id) = self.known.get(&e) {
            return *id;
        }
        self.exprs.push(e.clone());
        let id = ExprId(self.exprs.len() as u32 - 1);
        self.known.insert(e, id);
        id
    }

    /// An array in memory as a Step: read at its own place, nothing done to it.
    fn step(&mut self, d: &Delayed) -> Delayed {
        match d {
            Delayed::Done(v) => {
                let read = Read::identity(self.dag.shape(*v).len());
                Delayed::Step {
                    p: Rc::new(Places { read, along: Vec::new() }),
                    f: self.expr(Expr::X),
                    v: *v,
                }
            }
            other => other.clone(),
        }
    }

    /// `f` on every element: f after what is done already.
    pub fn map(&mut self, d: &Delayed, f: impl FnOnce(&mut Self, ExprId) -> ExprId) -> Delayed {
        match self.step(d) {
            Delayed::Step { p, f: g, v } => Delayed::Step { p, f: f(self, g), v },
            Delayed::Yield { f: g } => Delayed::Yield { f: f(self, g) },
            done => done,
        }
    }

    /// Element i of the result is element p(i): p before the places that are read already.
    pub fn backpermute(&mut self, d: &Delayed, p: &Read, extents: &[usize]) -> Delayed {
        match self.step(d) {
            Delayed::Step { p: q, f, v } => {
                let seen = |e: &ExprId, fusion: &mut Self| {
                    fusion.expr(Expr::Moved(*e, Rc::new(p.clone())))
                };
                let along = q.along.iter().map(|(a, e)| (*a, seen(e, self))).collect();
                Delayed::Step { p: Rc::new(Places { read: q.read.after(p, extents), along }), f, v }
            }
            Delayed::Yield { f } if p.is_identity() => Delayed::Yield { f },
            Delayed::Yield { f } => {
                Delayed::Yield { f: self.expr(Expr::Moved(f, Rc::new(p.clone()))) }
            }
            done => done,
        }
    }

    /// Always a Yield: each side gives its element at the index.
    pub fn zip_with(
        &mut self,
        sides: &[Delayed],
        f: impl FnOnce(&mut Self, Vec<ExprId>) -> ExprId,
    ) -> Delayed {
        let elements = sides.iter().map(|d| self.element(d)).collect();
        Delayed::Yield { f: f(self, elements) }
    }

    /// The element at the index, as a function of the index.
    fn element(&mut self, d: &Delayed) -> ExprId {
        match self.step(d) {
            Delayed::Step { p, f, v } => {
                let read = self.expr(Expr::At(v, Rc::new(p.read.clone()), p.along.clone()));
                if self.exprs[f.0 as usize] == Expr::X {
                    read
                } else {
                    self.expr(Expr::Of(f, read))
                }
            }
            Delayed::Yield { f } => f,
            Delayed::Done(v) => self.expr(Expr::Scalar(v)),
        }
    }

    /// The loop that makes an array of this shape; the first that fits.
    pub fn compute(&self, d: &Delayed, shape: &[usize]) -> Form {
        let Delayed::Step { p, f, v } = d else {
            return if let Delayed::Done(_) = d { Form::Identity } else { Form::Generate };
        };
        let own_place = p.is_identity() && shape == self.dag.shape(*v);
        let untouched = self.exprs[f.0 as usize] == Expr::X;
        match (own_place, untouched) {
            (true, true) => Form::Identity,
            (true, false) => Form::Map,
            (false, true) => Form::Backpermute,
            (false, false) => Form::Transform,
        }
    }

    /// `Step(p=4-i, f=1+x)`.
    pub fn text(&self, d: &Delayed) -> String {
        match d {
            Delayed::Done(_) => "Done".into(),
            Delayed::Yield { f } => format!("Yield(f={})", self.function(*f)),
            Delayed::Step { p, f, .. } => {
                let mut room = LONGEST;
                let p = match p.is_identity() {
                    true => "id".into(),
                    false => self.places(&p.read, &p.along, &mut Vec::new(), &mut room),
                };
                let f = if self.exprs[f.0 as usize] == Expr::X {
                    "id".into()
                } else {
                    self.function(*f)
                };
                format!("Step(p={p}, f={f})")
            }
        }
    }

    fn function(&self, f: ExprId) -> String {
        let mut room = LONGEST;
        self.written(f, &mut Vec::new(), &mut room).text
    }

    /// APL's order: the right side needs no brackets. `frames`: what X and the index are, innermost
    /// last.
    fn written(&self, f: ExprId, frames: &mut Vec<Frame>, room: &mut usize) -> Formula {
        if *room == 0 {
            return Formula::atom("…");
        }
        *room -= 1;
        match &self.exprs[f.0 as usize] {
            Expr::X => match frames.pop() {
                Some(Frame::Element(e)) => {
                    let text = self.written(e, frames, room);
                    frames.push(Frame::Element(e));
                    text
                }
                Some(other) => {
                    let text = self.written(f, frames, room);
                    frames.push(other);
                    text
                }
                None => Formula::atom("x"),
            },
            Expr::Scalar(at) => Formula::atom(self.scalar(*at)),
            Expr::At(v, p, _) if p.ix.is_empty() && p.tests.is_empty() => {
                Formula::atom(self.name(*v))
            }
            Expr::At(v, p, along) => {
                Formula::atom(format!("{}[{}]", self.name(*v), self.places(p, along, frames, room)))
            }
            Expr::Index(ix, origin) => {
                let read = moved(&Read::new([(**ix).clone()]), frames);
                let ix = &read.ix[0];
                let origin = f64::from_bits(*origin);
                let whole = origin == origin.trunc() && origin.abs() < 1e9;
                let text = if whole {
                    ix.offset(origin as i64).text()
                } else {
                    format!("{}+{}", number(origin), ix.text())
                };
                Formula::atom(if ix.is_axis(0) && origin == 0.0 {
                    text
                } else {
                    format!("({text})")
                })
            }
            Expr::Of(f, e) => {
                frames.push(Frame::Element(*e));
                let text = self.written(*f, frames, room);
                frames.pop();
                text
            }
            Expr::Moved(f, p) => {
                frames.push(Frame::Place(p.clone()));
                let text = self.written(*f, frames, room);
                frames.pop();
                text
            }
            Expr::Op(op, args) => self.operation(*op, args, frames, room),
            Expr::Node(at, args) => {
                let args: Vec<String> =
                    args.iter().map(|a| self.written(*a, frames, room).text).collect();
                match (self.dag.node(*at), args.as_slice()) {
                    (Node::Select(_), [cond, yes, no]) => {
                        Formula::atom(format!("({cond} ? {yes} : {no})"))
                    }
                    _ => Formula::phrase(format!(
                        "{}({})",
                        super::decide::glyph(self.dag, *at),
                        args.join(", ")
                    )),
                }
            }
        }
    }

    /// `4-i`, `j, i`, `I[i]`, with what is outside behind a bar.
    fn places(
        &self,
        p: &Read,
        along: &[(Along, ExprId)],
        frames: &mut Vec<Frame>,
        room: &mut usize,
    ) -> String {
        let read = moved(p, frames);
        let place = |(axis, ix): (usize, &Ix)| {
            let mut text = if ix.is_constant() && ix.c == 0 { String::new() } else { ix.text() };
            for (how, e) in along.iter().filter(|a| a.0.axis as usize == axis) {
                let value = self.written(*e, frames, room).bracketed();
                let (sign, by) = if how.times < 0 { ("-", -how.times) } else { ("+", how.times) };
                let sign = if text.is_empty() && sign == "+" { "" } else { sign };
                text += &if by == 1 {
                    format!("{sign}{value}")
                } else {
                    format!("{sign}{by}×{value}")
                };
            }
            if text.is_empty() { "0".into() } else { text }
        };
        let ix: Vec<String> = read.ix.iter().enumerate().map(place).collect();
        let tests = read
            .tests
            .iter()
            .map(|t| format!(" | {}≤{}<{} else {}", t.lo, t.ix.text(), t.hi, number(t.fill)));
        ix.join(", ") + &tests.collect::<String>()
    }

    fn operation(
        &self,
        op: Op,
        args: &[ExprId],
        frames: &mut Vec<Frame>,
        room: &mut usize,
    ) -> Formula {
        let all: Vec<Formula> = args.iter().map(|a| self.written(*a, frames, room)).collect();
        Formula::phrase(match (op, all.as_slice()) {
            (Op::Sqrt, [x]) => format!("{}*0.5", x.bracketed()),
            (_, [x]) => format!("{}{}", op.glyph(), x.text),
            (_, [x, y]) => format!("{}{}{}", x.bracketed(), op.glyph(), y.text),
            _ => op.glyph(),
        })
    }

    fn scalar(&self, at: NodeId) -> String {
        if self.dag.node(at).param().is_some() {
            super::decide::glyph(self.dag, at)
        } else {
            self.name(at)
        }
    }

    fn name(&self, at: NodeId) -> String {
        self.dag.info(at).name.as_ref().map_or(format!("n{}", at.index()), |n| n.to_string())
    }
}

/// A written expression, and whether it can stand left of a function as it is: a name, a number,
/// `x[…]`, brackets.
struct Formula {
    text: String,
    is_atom: bool,
}

impl Formula {
    fn atom(text: impl Into<String>) -> Formula {
        Formula { text: text.into(), is_atom: true }
    }

    fn phrase(text: String) -> Formula {
        Formula { text, is_atom: false }
    }

    fn bracketed(&self) -> String {
        if self.is_atom { self.text.clone() } else { format!("({})", self.text) }
    }
}

/// So many terms of a function are written.
const LONGEST: usize = 40;

enum Frame {
    Element(ExprId),
    Place(Rc<Read>),
}

/// A read at the index that the frames around it make of the outermost one.
fn moved(read: &Read, frames: &[Frame]) -> Read {
    let places =
        frames.iter().rev().filter_map(|f| if let Frame::Place(p) = f { Some(p) } else { None });
    places.fold(read.clone(), |r, outer| {
        // Extents only help to shorten an index; the largest there are shorten nothing wrongly.
        r.after(outer, &[usize::MAX >> 33; 16])
    })
}

/// The name of a pair of fused nodes in the counters.
fn kind(node: &Node<NodeId>) -> &'static str {
    match node {
        Node::Map(_) => "map",
        Node::Transform(_) => "backpermute",
        Node::Iota(_) => "generate",
        other => other.kind(),
    }
}

/// A node in its delayed form, given its operands'.
fn delay(fusion: &mut Fusion, at: NodeId, of: impl Fn(NodeId) -> Delayed) -> Delayed {
    let dag = fusion.dag;
    let is_scalar = |a: &NodeId| dag.shape(*a).is_empty() && !dag.shape(at).is_empty();
    match dag.node(at) {
        node if node.is_given() => Delayed::Done(at),
        Node::Iota(kinds::Iota { origin }) => {
            Delayed::Yield { f: fusion.expr(Expr::Index(Rc::new(Ix::axis(0)), origin.to_bits())) }
        }
        Node::Transform(kinds::Transform { src, read, .. }) => {
            fusion.backpermute(&of(*src), read, dag.shape(at))
        }
        Node::Map(kinds::Map { op, args, .. }) => {
            let arrays: Vec<NodeId> = args.iter().filter(|a| !is_scalar(a)).copied().collect();
            if let [one] = arrays.as_slice() {
                return fusion.map(&of(*one), |fusion, x| {
                    let all = args
                        .iter()
                        .map(|a| if is_scalar(a) { fusion.expr(Expr::Scalar(*a)) } else { x });
                    let all = all.collect();
                    fusion.expr(Expr::Op(*op, all))
                });
            }
            let sides: Vec<Delayed> = args
                .iter()
                .map(|a| if is_scalar(a) { Delayed::Done(*a) } else { of(*a) })
                .collect();
            fusion.zip_with(&sides, |fusion, parts| {
                let all = args.iter().zip(parts);
                let all = all.map(
                    |(a, part)| if is_scalar(a) { fusion.expr(Expr::Scalar(*a)) } else { part },
                );
                let all = all.collect();
                fusion.expr(Expr::Op(*op, all))
            })
        }
        node if node.consumes().is_some() => Delayed::Done(at),
        // Another array tells the places: a Step whose p is a function of values.
        Node::Gather(kinds::Gather { args, read, along, .. }) => {
            let (src, rest) = (args[0], &args[1..]);
            let along: Vec<(Along, ExprId)> = along
                .iter()
                .zip(rest)
                .map(|(how, a)| {
                    let place = if is_scalar(a) {
                        fusion.expr(Expr::Scalar(*a))
                    } else {
                        fusion.element(&of(*a))
                    };
                    (*how, place)
                })
                .collect();
            Delayed::Step {
                p: Rc::new(Places { read: read.clone(), along }),
                f: fusion.expr(Expr::X),
                v: src,
            }
        }
        node => {
            let sides: Vec<Delayed> = node.inputs().iter().map(|a| of(*a)).collect();
            fusion.zip_with(&sides, |fusion, parts| fusion.expr(Expr::Node(at, parts)))
        }
    }
}

/// Every live node's form, with the loop that makes it where it is kept; and which constructors met
/// how often.
pub fn annotate(work: &mut Work) -> Result<()> {
    let schedule = work.schedule()?;
    let keep = &schedule.keep;
    let live = work.dag.live(&work.roots);
    let (texts, met) = forms(&work.dag, keep, &live);
    for (at, delayed, form) in texts {
        let text = form.map_or(delayed.clone(), |form| format!("{delayed} → {}", form.name()));
        work.delayed.insert(at, text);
    }
    for (rule, at, into) in met {
        work.note(rule, at, into, "the operand has no array of its own");
    }
    Ok(())
}

type Forms = (Vec<(NodeId, String, Option<Form>)>, Vec<(&'static str, NodeId, NodeId)>);

fn forms(dag: &Dag, keep: &BTreeMap<NodeId, Why>, live: &[bool]) -> Forms {
    let mut fusion = Fusion::new(dag);
    let mut all: Vec<Option<Delayed>> = vec![None; dag.len()];
    let (mut texts, mut met) = (Vec::new(), Vec::new());
    for at in dag.ids().filter(|at| live[at.index()]) {
        let of = |a: NodeId| match &all[a.index()] {
            Some(d) if !keep.contains_key(&a) => d.clone(),
            _ => Delayed::Done(a),
        };
        let d = delay(&mut fusion, at, of);
        let kept = keep.contains_key(&at) && !matches!(d, Delayed::Done(_));
        texts.push((at, fusion.text(&d), kept.then(|| fusion.compute(&d, dag.shape(at)))));
        if !matches!(d, Delayed::Done(_)) {
            let arrays = dag.node(at).inputs().iter().filter(|a| !dag.shape(**a).is_empty());
            let several = arrays.clone().count() > 1;
            let fused = arrays.filter(|a| !keep.contains_key(a) && !dag.node(**a).is_input());
            met.extend(fused.filter_map(|a| {
                let outer = if several { "zipWith" } else { kind(dag.node(at)) };
                Some((rule(outer, kind(dag.node(*a)))?, *a, at))
            }));
        }
        all[at.index()] = Some(d);
    }
    (texts, met)
}

/// The counters' names (ACC-14).
const RULES: &[&str] = &[
    "map/map",
    "map/backpermute",
    "map/generate",
    "map/cat",
    "map/gather",
    "backpermute/map",
    "backpermute/backpermute",
    "backpermute/generate",
    "backpermute/cat",
    "backpermute/gather",
    "zipWith/map",
    "zipWith/backpermute",
    "zipWith/generate",
    "zipWith/cat",
    "zipWith/gather",
];

fn rule(outer: &str, inner: &str) -> Option<&'static str> {
    RULES.iter().find(|r| r.split_once('/') == Some((outer, inner))).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing kept: the forms before `compute`.
    fn form_of(build: impl Fn(&mut Dag) -> NodeId) -> (String, Form) {
        let mut dag = Dag::default();
        let at = build(&mut dag);
        let keep = BTreeMap::from([(at, Why::Root)]);
        let live = dag.live(&[at]);
        let (texts, _) = forms(&dag, &keep, &live);
        let (_, text, form) = texts.into_iter().find(|t| t.0 == at).expect("the node");
        (text, form.unwrap_or(Form::Identity))
    }

    fn of_text(term: &str) -> (String, Form) {
        form_of(|dag| dag.parse(term).unwrap_or_else(|| panic!("{term}")))
    }

    #[test]
    fn acc_13_done_yield_step() {
        let table = [
            ("(add 1 A:f64[5])", "Step(p=id, f=1+x)", Form::Map),
            ("(reverse A:f64[5])", "Step(p=4-i, f=id)", Form::Backpermute),
            ("(add 1 (reverse A:f64[5]))", "Step(p=4-i, f=1+x)", Form::Transform),
            ("(reverse (add 1 A:f64[5]))", "Step(p=4-i, f=1+x)", Form::Transform),
            ("(reverse (reverse A:f64[5]))", "Step(p=id, f=id)", Form::Identity),
            ("(neg (transpose M:f64[2 3]))", "Step(p=j, i, f=-x)", Form::Transform),
            ("(mul 2 (add 1 A:f64[5]))", "Step(p=id, f=2×1+x)", Form::Map),
            ("(mul (add 1 A:f64[5]) 2)", "Step(p=id, f=(1+x)×2)", Form::Map),
            ("(sqrt (add 1 A:f64[5]))", "Step(p=id, f=(1+x)*0.5)", Form::Map),
            (
                "(mul (add 1 A:f64[5]) (reverse A:f64[5]))",
                "Yield(f=(1+A[i])×A[4-i])",
                Form::Generate,
            ),
            ("(reverse (add A:f64[5] B:f64[5]))", "Yield(f=A[4-i]+B[4-i])", Form::Generate),
        ];
        for (term, text, form) in table {
            assert_eq!(of_text(term), (text.to_string(), form), "{term}");
        }
    }

    /// A formula with every operation in brackets, read as APL reads: from the right.
    fn in_full(text: &str) -> String {
        fn phrase(rest: &mut Vec<char>) -> String {
            let mut right = term(rest);
            while let Some(glyph) = rest.pop_if(|c| *c != '(') {
                let dyadic =
                    rest.last().is_some_and(|c| c.is_alphanumeric() || *c == ')' || *c == ']');
                let left = if dyadic { term(rest) } else { String::new() };
                right = format!("({left}{glyph}{right})");
            }
            right
        }
        fn term(rest: &mut Vec<char>) -> String {
            match rest.pop() {
                Some(')') => {
                    let inner = phrase(rest);
                    assert_eq!(rest.pop(), Some('('));
                    inner
                }
                Some(']') => {
                    let mut text = String::from("]");
                    while let Some(c) = rest.pop_if(|c| *c != '[') {
                        text.insert(0, c);
                    }
                    rest.pop();
                    format!("{}[{text}", rest.pop().expect("a name"))
                }
                other => other.expect("a name").to_string(),
            }
        }
        let mut rest: Vec<char> = text.chars().collect();
        let read = phrase(&mut rest);
        assert!(rest.is_empty(), "{text}");
        read
    }

    /// A random term of a depth, as a graph's text and with every operation in brackets.
    fn random(depth: u32, state: &mut u64) -> (String, String) {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let pick = *state >> 33;
        if depth == 0 || pick.is_multiple_of(7) {
            let name = ["a", "b", "c"][pick as usize / 7 % 3];
            return (format!("{name}:f64[5]"), format!("{name}[i]"));
        }
        let (x, said_x) = random(depth - 1, state);
        if pick % 7 == 1 {
            return (format!("(neg {x})"), format!("(-{said_x})"));
        }
        let (y, said_y) = random(depth - 1, state);
        let (name, glyph) =
            [("sub", "-"), ("mul", "×"), ("add", "+"), ("max", "⌈")][pick as usize / 7 % 4];
        (format!("({name} {x} {y})"), format!("({said_x}{glyph}{said_y})"))
    }

    #[test]
    fn formulas_read_back_as_what_they_are_of() {
        let mut state = 7;
        for _ in 0..500 {
            let (term, wanted) = random(4, &mut state);
            let (text, _) = of_text(&format!("(add {term} (reverse z:f64[5]))"));
            let formula = text.trim_start_matches("Yield(f=").strip_suffix(')').expect("a formula");
            if !formula.contains('…') {
                assert_eq!(in_full(formula), format!("({wanted}+z[4-i])"), "{formula}");
            }
        }
    }

    #[test]
    fn acc_15_a_part_keeps_its_places_but_not_its_shape() {
        let part = |n: usize, from: i64, step: i64, then: &str| {
            let then = then.to_string();
            form_of(move |dag| {
                let src = dag.parse("A:f64[5]").expect("an input");
                let mut info = dag.info(src).clone();
                (info.name, info.meta.shape) = (None, [n].as_slice().into());
                let read = Read::new([Ix::axis(0).times(step).offset(from)]);
                let at = dag.add(
                    Node::Transform(kinds::Transform { name: "↑", src, read, onto: false }),
                    info.clone(),
                );
                if then.is_empty() {
                    return at;
                }
                let one = dag.parse("1").expect("a number");
                dag.add(
                    Node::Map(kinds::Map {
                        op: Op::Add,
                        ct: 0.0,
                        args: [one, at].into_iter().collect(),
                    }),
                    info,
                )
            })
        };
        assert_eq!(part(3, 0, 1, ""), ("Step(p=id, f=id)".into(), Form::Backpermute));
        assert_eq!(part(3, 0, 1, "1+"), ("Step(p=id, f=1+x)".into(), Form::Transform));
        assert_eq!(part(3, 2, -1, ""), ("Step(p=2-i, f=id)".into(), Form::Backpermute));
        let iota = |then: bool| {
            form_of(move |dag| {
                let two = dag.parse("2").expect("a number");
                let mut info = dag.info(two).clone();
                info.meta.shape = [5].as_slice().into();
                let at = dag.add(Node::Iota(kinds::Iota { origin: 1.0 }), info.clone());
                let args = [two, at].into_iter().collect();
                if then {
                    dag.add(Node::Map(kinds::Map { op: Op::Mul, ct: 0.0, args }), info)
                } else {
                    at
                }
            })
        };
        assert_eq!(iota(false), ("Yield(f=(i+1))".into(), Form::Generate));
        assert_eq!(iota(true), ("Yield(f=2×(i+1))".into(), Form::Generate));
    }

    /// Equal delayed arrays have equal ids, whichever way they were written.
    #[test]
    fn acc_14_the_constructors_meet() {
        let mut dag = Dag::default();
        let a = dag.parse("A:f64[5]").expect("an input");
        let back = Read::new([Ix::axis(0).times(-1).offset(4)]);
        let mut fusion = Fusion::new(&dag);
        let neg = |f: &mut Fusion, x| f.expr(Expr::Op(Op::Neg, vec![x]));
        let done = Delayed::Done(a);
        let turned = fusion.backpermute(&done, &back, &[5]);
        let (one, first) = (fusion.map(&turned, neg), fusion.map(&done, neg));
        let two = fusion.backpermute(&first, &back, &[5]);
        assert_eq!(one, two);
        assert!(matches!(one, Delayed::Step { .. }));
        // A Yield stays one; twice turned it is the first again in what it says.
        let pair =
            fusion.zip_with(&[done.clone(), turned], |f, parts| f.expr(Expr::Op(Op::Mul, parts)));
        let once = fusion.backpermute(&pair, &back, &[5]);
        let twice = fusion.backpermute(&once, &back, &[5]);
        assert_eq!(fusion.text(&once), "Yield(f=A[4-i]×A[i])");
        assert_eq!(fusion.text(&twice), fusion.text(&pair));
        assert_eq!(fusion.map(&pair, neg), {
            let f = fusion.element(&pair);
            Delayed::Yield { f: neg(&mut fusion, f) }
        });
    }

    #[test]
    fn acc_14_rules_are_counted() {
        let mut dag = Dag::default();
        let at = dag
            .parse("(add (neg (neg a:f64[5])) (reverse (reverse (neg b:f64[5]))))")
            .expect("a term");
        let live = dag.live(&[at]);
        let met = forms(&dag, &BTreeMap::from([(at, Why::Root)]), &live).1;
        let mut names: Vec<&str> = met.iter().map(|m| m.0).collect();
        names.sort();
        assert_eq!(
            names,
            [
                "backpermute/backpermute",
                "backpermute/map",
                "map/map",
                "zipWith/backpermute",
                "zipWith/map"
            ]
        );
    }
}
