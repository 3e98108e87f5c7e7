//! Bytes to values, functions and namespaces. Nothing of what stands there is believed.

use super::{DEEPEST, Found, cut_short, damaged, tag};
use crate::eval::cx::Settings;
use crate::eval::host::Host;
use crate::eval::run::Store;
use crate::eval::space::Space;
use crate::eval::system;
use crate::eval::value::{Closure, Func, Oper, Operand, Trad, Value};
use crate::syntax;
use crate::syntax::ast::What;
use crate::syntax::steps::{Act, Step};
use crate::table;
use aplomb_ground::error::Result;
use aplomb_ground::limits::Budget;
use aplomb_ground::span::Source;
use aplomb_values::array::{Array, Complex64, Shape, checked_elements};
use std::rc::Rc;

/// A reader at its place, and the namespaces so far: a number stands for each.
struct Reader<'a> {
    rest: &'a [u8],
    host: &'a mut dyn Host,
    store: &'a mut Store,
    spaces: Vec<Rc<Space>>,
    depth: usize,
}

/// A whole workspace.
pub fn workspace(bytes: &[u8], host: &mut dyn Host) -> Result<Found> {
    let mut store = Store::default();
    let root = store.root.clone();
    let mut reader = Reader { rest: bytes, host, store: &mut store, spaces: vec![root], depth: 0 };
    let settings = reader.settings()?;
    let names = reader.names()?;
    for (name, value) in names {
        let sym = store.symbols.intern(&name);
        store.globals.set(sym, Some(value));
    }
    Ok(Found { store, settings })
}

/// The names of its root. Its other namespaces are new parts of the store; `root` stands for its
/// own.
pub fn names(
    bytes: &[u8],
    host: &mut dyn Host,
    store: &mut Store,
    root: &Rc<Space>,
) -> Result<Vec<(String, Value)>> {
    let mut reader = Reader { rest: bytes, host, store, spaces: vec![root.clone()], depth: 0 };
    reader.settings()?;
    reader.names()
}

impl Reader<'_> {
    fn budget(&self) -> &Budget {
        self.host.budget()
    }

    fn bytes(&mut self, n: usize) -> Result<&[u8]> {
        let (taken, rest) = self.rest.split_at_checked(n).ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(taken)
    }

    fn word<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or_else(cut_short)?;
        self.rest = rest;
        Ok(*taken)
    }

    fn byte(&mut self) -> Result<u8> {
        self.word::<1>().map(|[b]| b)
    }

    fn number(&mut self) -> Result<u64> {
        self.word().map(u64::from_le_bytes)
    }

    fn float(&mut self) -> Result<f64> {
        self.word().map(f64::from_le_bytes)
    }

    /// A count of things that have at least `size` bytes each.
    fn count(&mut self, size: usize) -> Result<usize> {
        let n = usize::try_from(self.number()?).map_err(|_| damaged())?;
        match n.checked_mul(size).is_some_and(|all| all <= self.rest.len()) {
            true => Ok(n),
            false => Err(cut_short()),
        }
    }

    fn text(&mut self) -> Result<String> {
        let n = self.count(1)?;
        String::from_utf8(self.bytes(n)?.to_vec()).map_err(|_| damaged())
    }

    fn settings(&mut self) -> Result<Settings> {
        let [io, ct, pp, pw, ways] = [(); 5].map(|()| self.float());
        let (io, ct, pp, pw, ways) = (io?, ct?, pp?, pw?, ways? as u8);
        let fits = (io == 0.0 || io == 1.0)
            && (0.0..=2f64.powi(-32)).contains(&ct)
            && (1.0..=34.0).contains(&pp)
            && (42.0..=32_767.0).contains(&pw);
        if !fits {
            return Err(damaged());
        }
        let (pp, pw) = (pp as usize, pw as usize);
        let (div, single) = (ways & 1 == 1, ways & 2 == 2);
        let (seed, drawn) = (self.number()?, self.number()?);
        let latent = self.text()?.into();
        Ok(Settings { io, ct, pp, pw, div, single, seed, drawn, latent, ..Settings::default() })
    }

    /// All namespaces; the names of the root.
    fn names(&mut self) -> Result<Vec<(String, Value)>> {
        let mut of_root = Vec::new();
        let mut at = 0;
        while !self.rest.is_empty() {
            let (label, parent) = (self.text()?, self.number()?);
            let space = self.space(at)?;
            if at > 0 {
                let parent = self.space(parent)?;
                self.store.describe(&space, &label, &parent);
            }
            for _ in 0..self.count(9)? {
                self.host.interrupt().check()?;
                let name = self.text()?;
                if !system::is_name(&name) {
                    return Err(damaged());
                }
                let value = self.value()?;
                if at == 0 {
                    of_root.push((name, value));
                } else {
                    let sym = self.store.symbols.intern(&name);
                    self.store.give(&space, sym, value);
                }
            }
            at += 1;
        }
        // Each namespace that something refers to was written.
        if at as usize == self.spaces.len() { Ok(of_root) } else { Err(damaged()) }
    }

    /// The namespace of a number: one that was met, or the next new one.
    fn space(&mut self, at: u64) -> Result<Rc<Space>> {
        let at = usize::try_from(at).map_err(|_| damaged())?;
        if at == self.spaces.len() {
            let space = self.store.blank_space();
            self.spaces.push(space);
        }
        self.spaces.get(at).cloned().ok_or_else(damaged)
    }

    fn numbered_space(&mut self) -> Result<Rc<Space>> {
        let at = self.number()?;
        self.space(at)
    }

    fn value(&mut self) -> Result<Value> {
        match self.byte()? {
            tag::ARRAY => self.array().map(Value::Array),
            tag::FUNCTION => self.function().map(|f| Value::Func(Rc::new(f))),
            tag::OPERATOR => self.operator().map(Value::Oper),
            _ => Err(damaged()),
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        let done = if self.depth > DEEPEST { Err(damaged()) } else { read(self) };
        self.depth -= 1;
        done
    }

    fn array(&mut self) -> Result<Array> {
        let kind = self.byte()?;
        let axes = self.count(8)?;
        if axes > 15 {
            return Err(damaged());
        }
        let extents = (0..axes).map(|_| self.number().map(|n| n as usize));
        let shape: Shape = extents.collect::<Result<_>>()?;
        let n = checked_elements(&shape)?;
        let fits = |size: usize, rest: usize| n.checked_mul(size).is_some_and(|all| all <= rest);
        let wide = match kind {
            tag::COMPLEXES => 16,
            tag::FLOATS => 8,
            tag::SINGLES | tag::NUMBERS => 4,
            tag::ITEMS => 9,
            _ => 0,
        };
        if !fits(wide, self.rest.len()) {
            return Err(cut_short());
        }
        let whole = match kind {
            tag::NULL if axes == 0 => return Ok(crate::eval::system::variables::null()),
            tag::REFERENCE if axes == 0 => return self.numbered_space().map(|s| s.value()),
            tag::ITEMS => {
                let _held = self.budget().charge_elements(n, size_of::<Array>())?;
                let items =
                    self.deeper(|r| (0..n).map(|_| r.array()).collect::<Result<Vec<_>>>())?;
                let proto = if n == 0 { Some(self.deeper(Self::array)?) } else { None };
                return match n {
                    0 => Ok(Array::items(shape, items, proto)),
                    _ => Array::collect(shape, items, None, self.host.budget()),
                };
            }
            tag::CHARS => {
                let chars: Vec<char> = self.text()?.chars().collect();
                if chars.len() != n {
                    return Err(damaged());
                }
                return Array::chars(shape, chars, self.budget());
            }
            tag::COMPLEXES => {
                let all = (0..n).map(|_| Ok(Complex64::new(self.float()?, self.float()?)));
                let all = all.collect::<Result<Vec<_>>>()?;
                return Array::complexes(shape, all, self.budget());
            }
            tag::FLOATS => (0..n).map(|_| self.float()).collect::<Result<Vec<f64>>>()?,
            tag::SINGLES => (0..n)
                .map(|_| self.word().map(f32::from_le_bytes).map(f64::from))
                .collect::<Result<Vec<f64>>>()?,
            tag::NUMBERS => (0..n)
                .map(|_| self.word().map(i32::from_le_bytes).map(f64::from))
                .collect::<Result<Vec<f64>>>()?,
            _ => return Err(damaged()),
        };
        match kind {
            _ if axes == 0 && kind != tag::SINGLES => Ok(Array::num(whole[0])),
            tag::NUMBERS => Array::numbers(shape, whole, self.budget()),
            tag::SINGLES => Array::singles(shape, &whole, self.budget()),
            _ => Array::floats(shape, whole, self.budget()),
        }
    }

    fn operand(&mut self) -> Result<Operand> {
        match self.value()? {
            Value::Array(a) => Ok(Operand::A(a)),
            Value::Func(f) => Ok(Operand::F(f)),
            Value::Oper(_) => Err(damaged()),
        }
    }

    fn function(&mut self) -> Result<Func> {
        self.deeper(|r| {
            Ok(match r.byte()? {
                tag::PRIMITIVE => Func::Prim(r.glyph()?),
                tag::SYSTEM => Func::System(r.system()?),
                tag::DFN => Func::Dfn(r.dfn()?),
                tag::LINES => Func::Trad(r.lines()?),
                tag::ONE_OPERAND => Func::Op1(r.operator()?, r.operand()?),
                tag::TWO_OPERANDS => Func::Op2(r.operator()?, r.operand()?, r.operand()?),
                tag::OUTER => Func::Outer(r.operand()?),
                tag::AXIS => match (r.operand()?, r.operand()?) {
                    (f, Operand::A(k)) => Func::Axis(f, k),
                    _ => return Err(damaged()),
                },
                tag::FORK => Func::Fork(r.operand()?, r.operand()?, r.operand()?),
                tag::ATOP => Func::Atop(r.operand()?, r.operand()?),
                _ => return Err(damaged()),
            })
        })
    }

    fn operator(&mut self) -> Result<Oper> {
        self.deeper(|r| {
            Ok(match r.byte()? {
                tag::PRIMITIVE => Oper::Prim(r.glyph()?),
                tag::SYSTEM => Oper::System(r.system()?),
                tag::DFN => Oper::Dfn(r.dfn()?),
                tag::LINES => Oper::Trad(r.lines()?),
                tag::CURRIED => Oper::Curried(Box::new(r.operator()?), Box::new(r.operand()?)),
                _ => return Err(damaged()),
            })
        })
    }

    fn glyph(&mut self) -> Result<&'static table::Prim> {
        let code = u32::try_from(self.number()?).ok();
        let glyph = code.and_then(char::from_u32).and_then(table::find);
        glyph.ok_or_else(damaged)
    }

    fn system(&mut self) -> Result<&'static system::Row> {
        let name = self.text()?;
        system::find(&name)
    }

    fn dfn(&mut self) -> Result<Rc<Closure>> {
        let (home, text) = (self.numbered_space()?, self.text()?);
        let source = Source::new("workspace", text);
        let (limits, stop) = (self.host.limits().clone(), self.host.interrupt().clone());
        let ast = syntax::parse(&source, &mut self.store.symbols, &limits, &stop)?;
        let dfn = match ast.steps.steps.as_slice() {
            [Step { act: Act::Run(phrase), .. }] => match ast.phrase(*phrase).items.as_slice() {
                [one] => match ast.item(*one).what {
                    What::Dfn(dfn) => Some(dfn),
                    _ => None,
                },
                _ => None,
            },
            _ => None,
        };
        let dfn = dfn.ok_or_else(damaged)?;
        Ok(Rc::new(Closure { ast: Rc::new(ast), dfn, env: None, home, lines: None }))
    }

    fn lines(&mut self) -> Result<Rc<Trad>> {
        let (home, text) = (self.numbered_space()?, self.text()?);
        let source = Source::new("workspace", text);
        let (limits, stop) = (self.host.limits().clone(), self.host.interrupt().clone());
        let (ast, id) = syntax::function(&source, &mut self.store.symbols, &limits, &stop)?;
        Ok(Rc::new(Trad { ast: Rc::new(ast), id, home }))
    }
}
