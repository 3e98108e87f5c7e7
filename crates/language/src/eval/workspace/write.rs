//! Values, functions and namespaces to bytes.

use super::{DEEPEST, tag};
use crate::eval::run::Eval;
use crate::eval::space::Space;
use crate::eval::system::variables;
use crate::eval::value::{Closure, Func, Oper, Operand, Trad, Value};
use aplomb_ground::error::{Result, domain, limit};
use aplomb_values::array::{Array, DType, Data};
use std::rc::Rc;

/// The bytes so far, and the namespaces that were met.
struct Writer {
    out: Vec<u8>,
    spaces: Vec<Rc<Space>>,
    /// The name that is written, for what cannot be.
    name: Rc<str>,
    depth: usize,
}

/// The workspace behind its head. Errors: of values that are computed; DOMAIN.
pub fn workspace(ev: &mut Eval<'_>) -> Result<Vec<u8>> {
    let root = ev.st.root.clone();
    let mut w = Writer { out: Vec::new(), spaces: vec![root], name: "".into(), depth: 0 };
    w.settings(ev);
    let mut done = 0;
    // Each namespace stands behind the one in which it was met first.
    while let Some(space) = w.spaces.get(done).cloned() {
        done += 1;
        let parent = w.space(&space.parent());
        w.text(&space.path());
        w.number(parent as u64);
        let mut members = ev.st.members(&space);
        members.sort_by_key(|(sym, _)| ev.st.symbols.name(*sym));
        w.number(members.len() as u64);
        for (sym, value) in members {
            w.name = ev.st.symbols.name(sym);
            let name = w.name.clone();
            w.text(&name);
            w.value(ev, &value)?;
        }
    }
    Ok(w.out)
}

impl Writer {
    fn settings(&mut self, ev: &Eval<'_>) {
        let s = &ev.cx.sys.settings;
        for x in [
            s.io,
            s.ct,
            s.pp as f64,
            s.pw as f64,
            f64::from(u8::from(s.div) | u8::from(s.single) << 1),
        ] {
            self.out.extend(x.to_le_bytes());
        }
        self.number(s.seed);
        self.number(s.drawn);
        self.text(&s.latent.clone());
    }

    fn byte(&mut self, tag: u8) {
        self.out.push(tag);
    }

    fn number(&mut self, n: u64) {
        self.out.extend(n.to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.out.extend(text.as_bytes());
    }

    /// The number of a namespace, which is written later where it is new.
    fn space(&mut self, space: &Rc<Space>) -> usize {
        let known = self.spaces.iter().position(|s| Rc::ptr_eq(s, space));
        match known {
            Some(at) => at,
            None => {
                self.spaces.push(space.clone());
                self.spaces.len() - 1
            }
        }
    }

    fn value(&mut self, ev: &mut Eval<'_>, value: &Value) -> Result<()> {
        match value {
            Value::Array(a) => {
                self.byte(tag::ARRAY);
                let a = ev.cx.ready(a, "save")?;
                self.array(ev, &a)
            }
            Value::Func(f) => {
                self.byte(tag::FUNCTION);
                self.function(ev, f)
            }
            Value::Oper(op) => {
                self.byte(tag::OPERATOR);
                self.operator(ev, op)
            }
        }
    }

    /// One level deeper. Errors: LIMIT.
    fn deeper(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.depth += 1;
        let done = match self.depth > DEEPEST {
            true => Err(limit(format!("{} is nested more than {DEEPEST} deep", self.name))),
            false => write(self),
        };
        self.depth -= 1;
        done
    }

    fn array(&mut self, ev: &mut Eval<'_>, a: &Array) -> Result<()> {
        let budget = &ev.cx.budget().clone();
        budget.check()?;
        let kind = match a.data() {
            Data::Ref(to) if variables::is_null(to) => tag::NULL,
            Data::Ref(_) => tag::REFERENCE,
            Data::Items(_) => tag::ITEMS,
            _ if a.is_char() => tag::CHARS,
            _ if a.is_complex() => tag::COMPLEXES,
            _ if a.dtype() == DType::F32 => tag::SINGLES,
            _ if a.dtype() == DType::F64 => tag::FLOATS,
            _ => tag::NUMBERS,
        };
        self.byte(kind);
        self.number(a.rank() as u64);
        a.shape().iter().for_each(|n| self.number(*n as u64));
        match a.data() {
            Data::Ref(to) if variables::is_null(to) => {}
            Data::Ref(to) => {
                let space = to.to::<Space>().ok_or_else(|| {
                    domain(format!("{} holds a reference that is no namespace", self.name))
                })?;
                let at = self.space(&space);
                self.number(at as u64);
            }
            Data::Items(items) => {
                let proto = a.prototype();
                self.deeper(|w| {
                    items.iter().try_for_each(|item| {
                        let item = ev.cx.ready(&item, "save")?;
                        w.array(ev, &item)
                    })?;
                    // Of an empty array nothing else tells what it holds.
                    if a.is_empty() { w.array(ev, &proto) } else { Ok(()) }
                })?;
            }
            _ => match kind {
                tag::CHARS => {
                    let flat = a.with_shape([a.len()].as_slice(), budget)?;
                    self.text(&flat.ready_text(budget)?);
                }
                tag::COMPLEXES => {
                    for z in a.ready_complexes(budget)? {
                        self.out.extend(z.re.to_le_bytes());
                        self.out.extend(z.im.to_le_bytes());
                    }
                }
                tag::SINGLES => a
                    .ready_numbers(budget)?
                    .into_iter()
                    .for_each(|x| self.out.extend((x as f32).to_le_bytes())),
                tag::FLOATS => {
                    a.ready_numbers(budget)?
                        .into_iter()
                        .for_each(|x| self.out.extend(x.to_le_bytes()));
                }
                _ => a
                    .ready_numbers(budget)?
                    .into_iter()
                    .for_each(|x| self.out.extend((x as i32).to_le_bytes())),
            },
        }
        Ok(())
    }

    fn operand(&mut self, ev: &mut Eval<'_>, o: &Operand) -> Result<()> {
        match o {
            Operand::A(a) => self.value(ev, &Value::Array(a.clone())),
            Operand::F(f) => self.value(ev, &Value::Func(f.clone())),
        }
    }

    fn function(&mut self, ev: &mut Eval<'_>, f: &Func) -> Result<()> {
        self.deeper(|w| match f {
            Func::Prim(p) => w.glyph(p.glyph),
            Func::System(row) => w.system(row.name),
            Func::Dfn(c) => w.dfn(c),
            Func::Trad(t) => w.lines(t),
            Func::Within(..) | Func::Shared(..) => Err(domain(format!(
                "{} is a function of other namespaces, and cannot be saved",
                w.name
            ))),
            Func::Op1(op, f) => {
                w.byte(tag::ONE_OPERAND);
                w.operator(ev, op)?;
                w.operand(ev, f)
            }
            Func::Op2(op, f, g) => {
                w.byte(tag::TWO_OPERANDS);
                w.operator(ev, op)?;
                [f, g].into_iter().try_for_each(|o| w.operand(ev, o))
            }
            Func::Outer(f) => {
                w.byte(tag::OUTER);
                w.operand(ev, f)
            }
            Func::Axis(f, k) => {
                w.byte(tag::AXIS);
                w.operand(ev, f)?;
                w.operand(ev, &Operand::A(k.clone()))
            }
            Func::Fork(f, g, h) => {
                w.byte(tag::FORK);
                [f, g, h].into_iter().try_for_each(|o| w.operand(ev, o))
            }
            Func::Atop(g, h) => {
                w.byte(tag::ATOP);
                [g, h].into_iter().try_for_each(|o| w.operand(ev, o))
            }
        })
    }

    fn operator(&mut self, ev: &mut Eval<'_>, op: &Oper) -> Result<()> {
        self.deeper(|w| match op {
            Oper::Prim(p) => w.glyph(p.glyph),
            Oper::System(row) => w.system(row.name),
            Oper::Dfn(c) => w.dfn(c),
            Oper::Trad(t) => w.lines(t),
            Oper::Curried(op, g) => {
                w.byte(tag::CURRIED);
                w.operator(ev, op)?;
                w.operand(ev, g)
            }
        })
    }

    fn glyph(&mut self, glyph: char) -> Result<()> {
        self.byte(tag::PRIMITIVE);
        self.number(u64::from(u32::from(glyph)));
        Ok(())
    }

    fn system(&mut self, name: &str) -> Result<()> {
        self.byte(tag::SYSTEM);
        self.text(name);
        Ok(())
    }

    fn dfn(&mut self, c: &Closure) -> Result<()> {
        if c.env.is_some() {
            let says = format!("{} holds the names of a call, and cannot be saved", self.name);
            return Err(domain(says));
        }
        self.byte(tag::DFN);
        let home = self.space(&c.home);
        self.number(home as u64);
        self.text(&c.text());
        Ok(())
    }

    fn lines(&mut self, t: &Trad) -> Result<()> {
        self.byte(tag::LINES);
        let home = self.space(&t.home);
        self.number(home as u64);
        self.text(&t.tradfn().lines(&t.ast).join("\n"));
        Ok(())
    }
}
