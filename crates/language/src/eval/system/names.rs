//! Names and what they hold: ⎕NC ⎕NL ⎕EX, the source of functions, scripts, the end of a program.

use super::files::path;
use super::modules::script_text;
use super::{Args, Does, Row, function, live, misread, text_matrix, text_vector, texts};
use crate::eval::cx::Cx;
use crate::eval::run::{At, Eval};
use crate::eval::space::Space;
use crate::eval::steps::Walk;
use crate::eval::tradfn::Call;
use crate::eval::value::{Func, Oper, Operand, Value, listing};
use crate::syntax::Sym;
use crate::syntax::ast::{ItemId, What};
use crate::syntax::resolve::{Class, Path};
use crate::syntax::steps::{Act, Step};
use crate::syntax::token::{is_name_part, is_name_start};
use aplomb_ground::error::{Kind, Result, domain, leaving, limit};
use aplomb_ground::limits::{Budget, Limits};
use aplomb_ground::span::Source;
use aplomb_values::array::Array;
use std::rc::Rc;
use std::sync::Arc;

pub static ROWS: &[Row] = &[
    function(
        "NC",
        "What a name is: 2 array, 3 function, 4 operator, 9 namespace, 0 free, ¯1 no name; for a \
         vector of names 2.1, 3.1 a ∇ function, 3.2 a dfn, 3.3 another.",
        ("x1←1 ⋄ ⎕NC'x1' 'y1'", "2.1 0"),
        name_class,
    ),
    function(
        "NL",
        "The names of class Y, as rows; as texts where Y is negative. X: letters they begin with.",
        ("a←1 ⋄ bc←2 ⋄ ⎕NL 2", "a \nbc"),
        name_list,
    ),
    function(
        "EX",
        "Frees names; 1 for each that is free now.",
        ("x←1 ⋄ ⎕EX'x' ⋄ ⎕NC'x'", "0"),
        erase,
    ),
    function(
        "CR",
        "The source of a function, as a matrix; of a derived one or a train its parts.",
        ("f←{⍵+1} ⋄ ⎕CR'f'", "f←{⍵+1}"),
        |ev, a| {
            if let Some(Value::Func(f)) = ev.held(&name_of(a.y)?)
                && !matches!(&*f, Func::Dfn(_) | Func::Trad(_))
            {
                let mut arrays = Vec::new();
                f.arrays(&mut arrays);
                ev.cx.settle(&arrays, "⎕CR")?;
                return made_of(&ev.cx, &f).map(Some);
            }
            let lines = source(ev, a.y)?;
            text_matrix(&ev.cx, &lines).map(Some)
        },
    ),
    function(
        "NR",
        "The source of a function, a text a line.",
        ("f←{⍵+1} ⋄ ≢⎕NR'f'", "1"),
        |ev, a| {
            let lines = source(ev, a.y)?;
            text_vector(&ev.cx, &lines).map(Some)
        },
    ),
    function(
        "VR",
        "The source of a function with line numbers.",
        ("f←{⍵+1} ⋄ ⎕VR'f'", "     ∇ f←{⍵+1}\n     ∇"),
        numbered,
    ),
    function(
        "FX",
        "Defines a ∇ function, or a dfn, by its lines: its name, or the number of the line that is \
         wrong.",
        ("⊢⎕FX'r←twice x' 'r←2×x' ⋄ twice 4", "twice\n8"),
        define,
    ),
    live(
        "SI",
        "The names of the ∇ functions that run, the last one first.",
        ("∇r←f\n r←⎕SI\n∇\nf", " f "),
        |ev| running(ev, |ev, call| ev.cx.text(&ev.st.symbols.name(call.trad.tradfn().name))),
    ),
    live(
        "XSI",
        "The names of the ∇ functions that run with those of their namespaces, the last one first.",
        ("∇r←f\n r←⎕XSI\n∇\nf", " #.f "),
        |ev| {
            running(ev, |ev, call| {
                let name = ev.st.symbols.name(call.trad.tradfn().name);
                ev.cx.text(&format!("{}.{name}", call.trad.home.path()))
            })
        },
    ),
    live(
        "LC",
        "The lines of the ∇ functions that run, the last one first.",
        ("∇r←f\n r←⎕LC\n∇\nf", "1"),
        |ev| running(ev, |_, call| Ok(Array::num(f64::from(call.line)))),
    ),
    function(
        "FIX",
        "Runs a script here, 'file://F.apl' or lines of text: the namespace that it made, or the \
         names of what it made; 2⎕FIX always gives names.",
        ("⊢⎕FIX'f←{⍵+1}' 'g←{⍵×2}'", " f  g "),
        fix,
    ),
    Row {
        name: "OFF",
        help: "Leaves with exit code Y; alone with 0.",
        example: ("⎕OFF 0", ""),
        options: &[],
        does: Does::Bare(|ev, a| {
            let code = ev.cx.one_integer(a.y, "an exit code")?;
            let code = u8::try_from(code).map_err(|_| domain("an exit code is 0 to 255"))?;
            ev.cx.settle(&[], "exit")?;
            ev.cx.sys.screen.exit = Some(i32::from(code));
            Err(leaving())
        }),
    },
];

/// The names of an argument, blanks around them cut.
fn names(y: &Array, budget: &Budget) -> Result<Vec<String>> {
    Ok(texts(y, "a name", budget)?.into_iter().map(|n| n.trim().to_string()).collect())
}

/// Whether a text is a name.
pub fn is_name(name: &str) -> bool {
    name.starts_with(is_name_start) && name.chars().all(is_name_part)
}

impl Eval<'_> {
    /// The value of a name where the running dfn looks.
    fn held(&self, name: &str) -> Option<Value> {
        let sym = self.st.symbols.find(name)?;
        let mut frame = self.st.frame.as_ref();
        while let Some(f) = frame {
            if let Some(v) = f.local(sym) {
                return Some(v);
            }
            frame = f.closure.env.as_ref();
        }
        if self.st.frame.is_none()
            && let Some((_, v)) = self.below(sym)
        {
            return Some(v);
        }
        self.st.globals.get(sym).cloned()
    }

    /// Frees a name of a namespace; whether there is such a namespace.
    fn free_member(&mut self, path: &Path) -> bool {
        let Some((last, owners)) = path.names.split_last() else { return false };
        let owner = Path { head: path.head, names: owners.into() };
        let (ast, frame) = (self.st.nothing.clone(), self.st.frame.clone());
        let at = At { ast: &ast, frame: frame.as_ref() };
        let space = match self.at_path(at, &owner) {
            Some(Value::Array(a)) => Space::of(&a),
            _ => None,
        };
        let Some(space) = space else { return false };
        let outer = self.st.enter(&space);
        self.st.globals.change(*last, None);
        self.st.enter(&outer);
        true
    }

    fn free(&mut self, sym: Sym) {
        let mut frame = self.st.frame.clone();
        while let Some(f) = frame {
            if f.remove(sym).is_some() {
                return;
            }
            frame = f.closure.env.clone();
        }
        self.set_global(sym, None);
    }
}

/// Class and subclass.
fn class_of(ev: &mut Eval<'_>, name: &str) -> f64 {
    if let Some(system) = name.strip_prefix('⎕') {
        return match super::find(&system.to_uppercase()).map(super::Row::class) {
            Ok(Class::Array) => 2.1,
            Ok(Class::Func) => 3.3,
            Ok(_) => 4.3,
            Err(_) => -1.0,
        };
    }
    let held = match spoken(ev, name) {
        Some(held) => held,
        None if is_name(name) => ev.held(name),
        None => match ev.path(name) {
            Some(_) => ev.named(name),
            None => return -1.0,
        },
    };
    match held {
        Some(Value::Array(a)) if Space::of(&a).is_some() => 9.1,
        Some(Value::Array(_)) => 2.1,
        Some(Value::Func(f)) => match &*f {
            Func::Trad(_) => 3.1,
            Func::Dfn(_) => 3.2,
            f if f.hybrid().is_some() => 4.3,
            _ => 3.3,
        },
        Some(Value::Oper(Oper::Trad(_))) => 4.1,
        Some(Value::Oper(Oper::Dfn(_))) => 4.2,
        Some(Value::Oper(_)) => 4.3,
        None => 0.0,
    }
}

/// The values of ⍺ ⍵ ⍺⍺ ⍵⍵ in the dfn that runs; outside of one they are no names.
fn spoken(ev: &Eval<'_>, name: &str) -> Option<Option<Value>> {
    let frame = ev.st.frame.as_ref()?;
    let operand = |k| {
        frame.operand(k).map(|o| match o {
            Operand::F(f) => Value::Func(f.clone()),
            Operand::A(a) => Value::Array(a.clone()),
        })
    };
    match name {
        "⍺" => Some(frame.alpha.borrow().clone()),
        "⍵" => Some(Some(Value::Array(frame.omega()))),
        "⍺⍺" => Some(operand(0)),
        "⍵⍵" => Some(operand(1)),
        _ => None,
    }
}

fn name_class(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let names = names(a.y, ev.cx.budget())?;
    let classes: Vec<f64> = names.iter().map(|n| class_of(ev, n)).collect();
    if !a.y.is_simple() {
        return ev.cx.vector(classes).map(Some);
    }
    match a.y.rank() {
        2 => ev.cx.vector(classes.into_iter().map(f64::trunc).collect()).map(Some),
        _ => Ok(Some(Array::num(classes.first().map_or(-1.0, |c| c.trunc())))),
    }
}

fn name_list(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let wanted = ev.cx.numbers(a.y, "a name class")?;
    let letters =
        a.x.map(|x| x.word().ok_or_else(|| domain("the left argument of ⎕NL is letters")))
            .transpose()?;
    let mut all: Vec<String> =
        ev.st.globals.iter().map(|(sym, _)| ev.st.symbols.name(sym).to_string()).collect();
    let mut frame = ev.st.frame.clone();
    while let Some(f) = frame {
        all.extend(f.locals.borrow().iter().map(|(sym, _)| ev.st.symbols.name(*sym).to_string()));
        frame = f.closure.env.clone();
    }
    all.sort();
    all.dedup();
    let mut fits = |name: &String| {
        let class = class_of(ev, name);
        let is =
            |w: &f64| if w.fract() == 0.0 { class.trunc() == w.abs() } else { class == w.abs() };
        wanted.iter().any(is)
            && letters.as_ref().is_none_or(|l| name.starts_with(|c| l.contains(c)))
    };
    let found: Vec<String> = all.into_iter().filter(|name| fits(name)).collect();
    let listed = wanted.iter().any(|w| *w < 0.0);
    if listed {
        text_vector(&ev.cx, &found).map(Some)
    } else {
        text_matrix(&ev.cx, &found).map(Some)
    }
}

fn erase(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let names = names(a.y, ev.cx.budget())?;
    let mut freed = Vec::with_capacity(names.len());
    for name in names {
        let known = match (ev.st.symbols.find(&name), ev.path(&name)) {
            (Some(sym), _) if is_name(&name) => {
                ev.free(sym);
                true
            }
            (_, Some(path)) if !path.names.is_empty() => ev.free_member(&path),
            _ => is_name(&name),
        };
        freed.push(f64::from(u8::from(known)));
    }
    let one = a.y.is_simple() && a.y.rank() < 2;
    let result = if one {
        Array::num(freed.first().copied().unwrap_or(0.0))
    } else {
        ev.cx.vector(freed)?
    };
    ev.shy(result)
}

/// One name. Errors: DOMAIN.
fn name_of(y: &Array) -> Result<String> {
    let name = y.word().ok_or_else(|| domain("a name is text"))?;
    let name = name.trim();
    match is_name(name) {
        true => Ok(name.into()),
        false => Err(domain(format!("'{name}' is no name"))),
    }
}

/// The parts of a derived function: operands, and operators as characters.
fn made_of(cx: &Cx<'_>, f: &Func) -> Result<Array> {
    let sign = |text: String| match text.chars().count() {
        1 => Ok(Array::char(text.chars().fold(' ', |_, c| c))),
        _ => cx.text(&text),
    };
    let part = |o: &Operand| match o {
        Operand::A(a) => Ok(a.settled()),
        Operand::F(f) => match &**f {
            Func::Prim(_) | Func::System(_) | Func::Dfn(_) | Func::Trad(_) => sign(f.text()),
            f => made_of(cx, f),
        },
    };
    let parts = match f {
        Func::Op1(op, f) => vec![part(f)?, sign(op.text())?],
        Func::Op2(op, f, g) => vec![part(f)?, sign(op.text())?, part(g)?],
        Func::Outer(f) => vec![Array::char('∘'), Array::char('.'), part(f)?],
        Func::Axis(f, k) => vec![part(f)?, k.settled()],
        Func::Fork(f, g, h) => vec![part(f)?, part(g)?, part(h)?],
        Func::Atop(g, h) => vec![part(g)?, part(h)?],
        f => vec![sign(f.text())?],
    };
    cx.collect(&[parts.len()], parts, None)
}

/// `f←{…}` by lines; none where the name holds no function.
fn source(ev: &mut Eval<'_>, y: &Array) -> Result<Vec<String>> {
    let name = &name_of(y)?;
    let text = match ev.held(name) {
        Some(Value::Func(f)) => match &*f {
            Func::Trad(t) => return Ok(t.tradfn().lines(&t.ast)),
            f => f.text(),
        },
        Some(Value::Oper(Oper::Trad(t))) => return Ok(t.tradfn().lines(&t.ast)),
        Some(Value::Oper(op)) => op.text(),
        _ => return Ok(Vec::new()),
    };
    Ok(format!("{name}←{text}").lines().map(String::from).collect())
}

fn numbered(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let lines = source(ev, a.y)?;
    let text = if lines.is_empty() { String::new() } else { listing(&lines) };
    ev.cx.text(&text).map(Some)
}

/// A function of its lines: the name that it gets, or the number of the line that is wrong.
fn define(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let lines = texts(a.y, "a function", ev.cx.budget());
    let lines = lines.map_err(|e| misread(e, "FX", "the lines of a function"))?;
    let made = match defined(ev, &Source::new("⎕FX", lines.join("\n")))? {
        Ok(name) => ev.cx.text(&name)?,
        Err(line) => Array::num(line as f64 + ev.cx.sys.settings.io),
    };
    ev.shy(made)
}

/// Defines the function of lines, or the dfn, that a text is: the name that it gets, or the number
/// of the line, from 0 on, that is wrong.
pub fn defined(ev: &mut Eval<'_>, source: &Arc<Source>) -> Result<Result<Rc<str>, usize>> {
    ev.cx.unframed("⎕FX")?;
    let (limits, stop) = (ev.cx.host.limits().clone(), ev.cx.host.interrupt().clone());
    match crate::syntax::function(source, &mut ev.st.symbols, &limits, &stop) {
        Ok((ast, id)) => {
            let (ast, frame) = (Rc::new(ast), ev.st.frame.clone());
            let value = ev.tradfn(&ast, id);
            let sym = ast.tradfn(id).name;
            ev.define(At { ast: &ast, frame: frame.as_ref() }, sym, value)?;
            Ok(Ok(ev.st.symbols.name(sym)))
        }
        Err(e) if e.kind() == Kind::Interrupt => Err(e),
        Err(e) => Ok(match dfn(ev, source, &limits)? {
            Some(name) => Ok(name),
            None => {
                let before = e.parts().place.as_ref().map_or(0, |p| p.span.start as usize);
                Err(source.text.chars().take(before).filter(|c| *c == '\n').count())
            }
        }),
    }
}

/// The name of the dfn or dop that a text defines, once it has. None: it is no such text.
fn dfn(ev: &mut Eval<'_>, source: &Arc<Source>, limits: &Limits) -> Result<Option<Rc<str>>> {
    let stop = ev.cx.host.interrupt().clone();
    let Ok(ast) = crate::syntax::parse(source, &mut ev.st.symbols, limits, &stop) else {
        return Ok(None);
    };
    let [Step { act: Act::Run(phrase), .. }] = ast.steps.steps.as_slice() else { return Ok(None) };
    let what = |id: &ItemId| &ast.item(*id).what;
    let [name, arrow, body] = ast.phrase(*phrase).items.as_slice() else { return Ok(None) };
    let (What::Name(sym), What::Assign, What::Dfn(_)) = (what(name), what(arrow), what(body))
    else {
        return Ok(None);
    };
    let (sym, phrase, frame) = (*sym, *phrase, ev.st.frame.clone());
    ev.phrase(At { ast: &Rc::new(ast), frame: frame.as_ref() }, phrase, false)?;
    Ok(Some(ev.st.symbols.name(sym)))
}

/// A fact of each ∇ function that runs, the last one first.
fn running(ev: &mut Eval<'_>, fact: fn(&Eval<'_>, &Call) -> Result<Array>) -> Result<Array> {
    let facts = ev.st.calls.iter().rev().map(|call| fact(ev, call)).collect::<Result<Vec<_>>>()?;
    let proto = facts.is_empty().then(|| Array::num(0.0));
    ev.cx.collect(&[facts.len()], facts, proto)
}

/// A script's statements in the workspace, as if they stood in its lines.
fn fix(ev: &mut Eval<'_>, a: &Args<'_>) -> Result<Option<Array>> {
    let lines = texts(a.y, "a script", ev.cx.budget());
    let lines = lines.map_err(|e| misread(e, "FIX", "'file://F.apl' or lines of text"))?;
    let (name, text) = match lines.as_slice() {
        [one] if one.starts_with("file://") => {
            let path = path(&ev.cx.text(&one["file://".len()..])?)?;
            let text = script_text(&mut ev.cx, &path)?;
            (path, text)
        }
        lines => ("⎕FIX".into(), lines.join("\n")),
    };
    let limits = ev.cx.host.limits().clone();
    ev.st.depth += 1;
    if ev.st.depth > limits.depth {
        ev.st.depth -= 1;
        return Err(limit(format!("scripts stand more than {} deep", limits.depth)));
    }
    let (was, frame, here) = (ev.st.globals.clone(), ev.st.frame.take(), ev.st.here.clone());
    let (source, span) = (ev.cx.sys.source.clone(), ev.cx.sys.span);
    let done = ev.script(&Source::new(name, text), &limits);
    (ev.cx.sys.source, ev.cx.sys.span) = (source, span);
    ev.st.frame = frame;
    ev.go_to(&here);
    ev.st.depth -= 1;
    done?;
    let made = ev.st.globals.iter().filter(|(sym, v)| match (v, was.get(*sym)) {
        (Value::Array(a), was) => {
            let before = was.and_then(|was| was.clone().into_array());
            let is_same = before.is_some_and(|b| b.to_reference() == a.to_reference());
            a.to_reference().is_some() && !is_same
        }
        (Value::Func(f), Some(Value::Func(g))) => !Rc::ptr_eq(f, g),
        (Value::Oper(Oper::Dfn(f)), Some(Value::Oper(Oper::Dfn(g)))) => !Rc::ptr_eq(f, g),
        _ => true,
    });
    let made: Vec<(Sym, Value)> = made.map(|(sym, v)| (sym, v.clone())).collect();
    if let Some(space) = ev.st.unnamed.take() {
        return ev.shy(space.value());
    }
    let form = a.x.map_or(Ok(1), |x| ev.cx.one_integer(x, "the left argument of ⎕FIX"))?;
    if let ([(_, Value::Array(one))], 1) = (made.as_slice(), form) {
        return ev.shy(one.clone());
    }
    let name = |(sym, _): &(Sym, Value)| ev.st.symbols.name(*sym).to_string();
    let mut made: Vec<String> = made.iter().map(name).collect();
    made.sort();
    let made = text_vector(&ev.cx, &made)?;
    ev.shy(made)
}

impl Eval<'_> {
    /// Runs a text's statements in the current space.
    pub(super) fn script(&mut self, source: &Arc<Source>, limits: &Limits) -> Result<()> {
        let stop = self.cx.host.interrupt().clone();
        let ast = crate::syntax::parse(source, &mut self.st.symbols, limits, &stop)?;
        let ast = Rc::new(ast);
        let (steps, mut walk) = (&ast.steps, Walk::new(&ast.steps));
        while let Some(step) = steps.steps.get(walk.at) {
            self.cx.host.interrupt().check()?;
            let now = walk.at;
            let done = self.act(At { ast: &ast, frame: None }, steps, &mut walk, false);
            let done = done.map_err(|e| e.at(&step.place(&ast)));
            if let Err(e) = done {
                self.cx.sys.error = Some(walk.catch(steps, now, e)?);
            }
        }
        Ok(())
    }
}
