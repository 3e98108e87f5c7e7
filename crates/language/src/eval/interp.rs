//! The interpreter as a session holds it: a workspace, statements that commit or leave no trace.

use super::cx::{Cx, Effect, Screen, Settings, Shared, Sys, View};
use super::force::{CHECK, UNREAD};
use super::host::Host;
use super::run::{At, Eval, Outcome, Store};
use super::space::{Spaces, go_to};
use super::steps::Walk;
use super::tape::Mark;
use super::value::{Func, Oper, Value};
use crate::eval::env::Globals;
use crate::syntax::ast::Sym;
use crate::syntax::resolve::Class;
use crate::syntax::steps::Step;
use crate::syntax::{self, Ast};
use aplomb_ground::error::{Error, Kind, Result};
use aplomb_ground::span::{Place, Source};
use aplomb_values::array::format::{Boxes, Style, display, shape_text};
use aplomb_values::array::{Array, Data};
use aplomb_values::dag::Cell;
use aplomb_values::prim::op::Op;
use std::rc::Rc;
use std::sync::Arc;

/// A name of the workspace, for `)vars` and `)fns`.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Array, function or operator.
    pub class: Class,
    /// Shape and dtype, or the source of a function.
    pub says: String,
}

/// A workspace as it was. Cheap: values are shared.
#[derive(Clone)]
pub struct Snapshot {
    globals: Globals,
    spaces: Spaces,
    sys: Sys,
}

/// A workspace: names, ⎕ variables, and the machine that runs statements.
#[derive(Default)]
pub struct Interp {
    pub(super) store: Store,
    pub(super) sys: Sys,
}

impl Interp {
    /// An empty workspace.
    pub fn new() -> Self {
        Interp::default()
    }

    /// Record everything whatever its size: for traces.
    pub fn set_record_all(&mut self, on: bool) {
        self.sys.recorder.everything = on;
    }

    /// Values are not there yet, and what can be recorded without them is.
    pub fn set_ahead(&mut self, on: bool) {
        self.sys.recorder.ahead = on;
        self.sys.recorder.effect = None;
    }

    /// The first effect since then.
    pub fn effect(&self) -> Option<Effect> {
        self.sys.recorder.effect.clone()
    }

    /// Values that are asked for again are stored, however cheap they are.
    pub fn set_keep_all(&mut self, on: bool) {
        self.sys.recorder.keep_all = on;
    }

    /// The view in which results show; `]box` and `]rows` change it, a clear workspace keeps it.
    pub fn view(&mut self) -> &mut View {
        &mut self.sys.screen.view
    }

    /// Sets the words of ⎕ARG.
    pub fn set_args(&mut self, args: Vec<String>) {
        self.sys.screen.args = args.into();
    }

    /// Sets ⎕SCRIPT.
    pub fn set_script(&mut self, path: &str) {
        self.sys.screen.script = path.into();
    }

    /// Sets ⎕WSID.
    pub fn set_workspace(&mut self, name: &str) {
        self.sys.screen.workspace = name.into();
    }

    /// The text that is to run when the workspace was loaded.
    pub fn latent(&self) -> String {
        self.sys.settings.latent.to_string()
    }

    /// Runs a text's statements in order. Errors: the first; what earlier statements did stays.
    pub fn execute(&mut self, source: &Arc<Source>, host: &mut dyn Host) -> Result<()> {
        self.statements(source, host, false).map(|_| ())
    }

    /// As `execute`, but the last statement's value is given instead of shown, pending if it is.
    pub fn eval_value(
        &mut self,
        source: &Arc<Source>,
        host: &mut dyn Host,
    ) -> Result<Option<Array>> {
        self.statements(source, host, true)
    }

    /// The exit code that `⎕OFF` asked for.
    pub fn exit(&self) -> Option<i32> {
        self.sys.screen.exit
    }

    /// Digits that print.
    pub fn pp(&self) -> usize {
        self.sys.settings.pp
    }

    /// Columns of a line.
    pub fn pw(&self) -> usize {
        self.sys.settings.pw
    }

    /// The style in which values print; of long ones `lines` lines.
    pub fn style(&self, lines: usize) -> Style {
        style(&self.sys, lines)
    }

    /// Forces values in one evaluation; they settle in place.
    pub fn force(
        &mut self,
        arrays: &[&Array],
        why: &'static str,
        host: &mut dyn Host,
    ) -> Result<()> {
        Cx { host, sys: &mut self.sys }.force(arrays, why)
    }

    /// An array's values as something that nobody may look at before it is computed.
    pub fn pending(&mut self, a: &Array, host: &mut dyn Host) -> Result<Array> {
        Cx { host, sys: &mut self.sys }.map1(Op::Conj, a)
    }

    /// The value with nothing pending in it.
    pub fn ready(&mut self, a: &Array, why: &'static str, host: &mut dyn Host) -> Result<Array> {
        let mut ev = Eval { cx: Cx { host, sys: &mut self.sys }, st: &mut self.store };
        ev.cx.ready(a, why).map_err(|e| ev.first_cell_error(e))
    }

    /// Whether two values are the same, as ≡ has it.
    pub fn same(&mut self, x: &Array, y: &Array, host: &mut dyn Host) -> Result<bool> {
        let mut cx = Cx { host, sys: &mut self.sys };
        let same = crate::functions::search::matches(&mut cx, x, y, None)?;
        Ok(same.number_scalar() == Some(1.0))
    }

    /// A system function with options, on values. Errors: as a line would have them; SYNTAX, NONCE
    /// for a name that is none.
    pub fn call_system(
        &mut self,
        name: &str,
        options: &[(&'static str, Array)],
        x: Option<&Array>,
        y: &Array,
        host: &mut dyn Host,
    ) -> Result<Option<Array>> {
        let row = super::system::find(name)?;
        let options = super::system::Options::of(options);
        let mut ev = Eval { cx: Cx { host, sys: &mut self.sys }, st: &mut self.store };
        let outcome = ev.system_call(row, &[], &options, x, y)?;
        ev.valued(outcome)
    }

    /// A text as a value. Errors: WS FULL.
    pub fn text(&mut self, text: &str, host: &mut dyn Host) -> Result<Array> {
        Cx { host, sys: &mut self.sys }.text(text)
    }

    /// The value of a name.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.store.symbols.find(name).and_then(|s| self.store.globals.get(s))
    }

    /// Gives a name of the workspace a value, as `)load` does.
    pub fn set(&mut self, name: &str, value: Value) {
        let sym = self.store.symbols.intern(name);
        self.store.globals.set(sym, Some(value));
    }

    /// All names in alphabetical order.
    pub fn names(&self) -> Vec<Named> {
        let mut out: Vec<Named> = self
            .store
            .globals
            .iter()
            .map(|(sym, v)| Named {
                name: self.store.symbols.name(sym).to_string(),
                class: v.class(),
                says: described(v),
            })
            .collect();
        out.sort_by(|a, b| a.name.cmp(&b.name));
        out
    }

    /// The arrays that names hold, in alphabetical order.
    pub fn arrays(&self) -> Vec<(Rc<str>, Array)> {
        let Store { globals, symbols, .. } = &self.store;
        let array = |(sym, v): (Sym, &Value)| match v {
            Value::Array(a) => Some((symbols.name(sym), a.clone())),
            _ => None,
        };
        let mut all: Vec<_> = globals.iter().filter_map(array).collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    /// False if there was no such name.
    pub fn erase(&mut self, name: &str) -> bool {
        match self.store.symbols.find(name) {
            Some(sym) => self.store.globals.set(sym, None).is_some(),
            None => false,
        }
    }

    /// Forgets every name, and sets each ⎕ variable as it was at the start.
    pub fn clear(&mut self) {
        let old = std::mem::take(&mut self.sys);
        *self = Interp::default();
        self.sys.recorder = old.recorder;
        let Screen { view, args, script, .. } = (*old.screen).clone();
        self.sys.screen = Screen { view, args, script, ..Screen::default() }.into();
    }

    /// The workspace as it is.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            globals: self.store.globals.clone(),
            spaces: self.store.all_spaces(),
            sys: self.sys.clone(),
        }
    }

    /// Makes the workspace what it was.
    pub fn restore(&mut self, to: &Snapshot) {
        self.store.globals = to.globals.clone();
        self.store.restore_spaces(&to.spaces);
        let written = self.sys.tape.mark();
        self.sys = to.sys.clone();
        self.sys.tape.number_from(written);
    }

    fn statements(
        &mut self,
        source: &Arc<Source>,
        host: &mut dyn Host,
        keep: bool,
    ) -> Result<Option<Array>> {
        let Store { trees, symbols, .. } = &mut self.store;
        let ast = trees.of(source, symbols, host.limits(), host.interrupt())?;
        let (steps, mut walk, mut last) = (&ast.steps, Walk::new(&ast.steps), None);
        while let Some(step) = steps.steps.get(walk.at) {
            // A jump changes no name, so there is nothing to undo.
            if !host.follows() && walk.jumps(steps, host.interrupt()) {
                continue;
            }
            let now = walk.at;
            let keep = keep && now + 1 == steps.steps.len();
            match self.statement(&ast, step, &mut walk, host, keep) {
                Ok(value) => last = value,
                Err(e) => drop(walk.catch(steps, now, e)?),
            }
            if self.sys.screen.exit.is_some() {
                break;
            }
        }
        Ok(last)
    }

    /// One statement: on an error every name is as before.
    fn statement(
        &mut self,
        ast: &Rc<Ast>,
        step: &Step,
        walk: &mut Walk,
        host: &mut dyn Host,
        keep: bool,
    ) -> Result<Option<Array>> {
        let place = step.place(ast);
        host.statement(&place, self.sys.tape.mark().number());
        let own = Statement::begin(&mut self.store, &mut self.sys, &place);
        if let Some(space) = walk.space() {
            go_to(own.store, own.sys, space);
        }
        let mut ev = Eval { cx: Cx { host, sys: own.sys }, st: own.store };
        let at = At { ast, frame: None };
        let trapped = walk.is_trapped(&ast.steps, walk.at);
        ev.st.traps = usize::from(trapped);
        ev.cx.sys.tape.guard(trapped);
        // Steps in a trap need not come to a place that looks.
        let heard = ev.cx.host.interrupt().check();
        let done = heard.and_then(|()| ev.act(at, &ast.steps, walk, keep)).and_then(|value| {
            // What fails in a trap fails there.
            let now = trapped && value.is_none();
            if now { ev.cx.settle(&[], "trap").map(|()| value) } else { Ok(value) }
        });
        let done = done.map_err(|e| ev.earliest(e));
        ev.st.traps = 0;
        ev.cx.sys.tape.guard(false);
        let done = match done {
            Ok(value) => {
                own.commit();
                Ok(value)
            }
            Err(e) if e.kind() == Kind::Exit => {
                own.commit();
                Ok(None)
            }
            Err(e) => {
                drop(own);
                self.sys.error = Some(Rc::new(e.clone()));
                Err(e.at(&place))
            }
        };
        host.ends(&place, &|| self.arrays());
        done
    }

    /// Computes what was written and may fail, and nobody has looked at yet. A program ends with
    /// it.
    pub fn finish(&mut self, host: &mut dyn Host) -> Result<()> {
        let mut ev = Eval { cx: Cx { host, sys: &mut self.sys }, st: &mut self.store };
        let done = ev.cx.settle(&[], "end").map_err(|e| ev.first_cell_error(e));
        self.sys.tape.take_checks();
        done
    }
}

/// A statement under way. Dropped before it is committed, by an error or a panic, it leaves no
/// trace: names and modes are as they were.
struct Statement<'a> {
    store: &'a mut Store,
    sys: &'a mut Sys,
    before: Option<Before>,
}

/// The state that a statement changes beside names.
struct Before {
    settings: Shared<Settings>,
    screen: Shared<Screen>,
    error: Option<Rc<Error>>,
    mark: Mark,
}

impl<'a> Statement<'a> {
    fn begin(store: &'a mut Store, sys: &'a mut Sys, place: &Place) -> Self {
        store.reset();
        store.begin_statement();
        sys.reset();
        let before = Some(Before {
            settings: sys.settings.clone(),
            screen: sys.screen.clone(),
            error: sys.error.clone(),
            mark: sys.tape.mark(),
        });
        sys.source = Some(place.source.clone());
        sys.span = place.span;
        Statement { store, sys, before }
    }

    fn commit(mut self) {
        self.before = None;
    }
}

impl Drop for Statement<'_> {
    fn drop(&mut self) {
        self.store.reset();
        self.sys.reset();
        let Some(before) = self.before.take() else {
            let root = self.store.root.clone();
            go_to(self.store, self.sys, &root);
            return self.store.end_statement(true);
        };
        self.store.end_statement(false);
        let (drawn, seed) = (self.sys.settings.drawn, self.sys.settings.seed);
        self.sys.tape.roll_back(before.mark);
        (self.sys.settings, self.sys.screen, self.sys.error) =
            (before.settings, before.screen, before.error);
        // Numbers drawn by a failed line stay drawn.
        if self.sys.settings.seed == seed {
            self.sys.settings.drawn = drawn;
        }
    }
}

fn style(sys: &Sys, lines: usize) -> Style {
    Style {
        pp: sys.settings.pp,
        pw: sys.settings.pw,
        lines,
        boxes: sys.screen.view.boxes,
        long: sys.screen.view.rows(),
        io: sys.settings.io as usize,
    }
}

fn described(v: &Value) -> String {
    match v {
        Value::Array(a) => {
            let kind = match a.data() {
                Data::Items(_) => "nested".to_string(),
                _ => a.dtype().name().to_string(),
            };
            let pending = if a.pending().is_some() { ", pending" } else { "" };
            format!("{} {kind}{pending}", shape_text(a.shape()))
        }
        Value::Func(f) => f.text(),
        Value::Oper(op) => op.text(),
    }
}

impl Eval<'_> {
    /// A top-level statement: run, show, check what nobody will look at.
    pub(super) fn top(
        &mut self,
        at: At<'_>,
        phrase: syntax::ast::PhraseId,
        keep: bool,
    ) -> Result<Option<Array>> {
        let from = self.cx.sys.tape.mark();
        let top = self.st.calls.is_empty();
        let place = || Place::new(&at.ast.source, at.ast.phrase(phrase).span);
        let mut work = top.then(|| self.cx.begin_statement(place()));
        let (outcome, assigns) = self.phrase(at, phrase, false)?;
        let outcome = match outcome {
            Outcome::Tail(..) => match self.valued(outcome)? {
                Some(a) => Outcome::Array(a),
                None => Outcome::Nothing,
            },
            o => o,
        };
        let assigns = assigns || self.st.shy;
        let mut kept = None;
        if self.cx.sys.source.as_ref().is_none_or(|s| !Arc::ptr_eq(s, &at.ast.source)) {
            self.cx.sys.source = Some(at.ast.source.clone());
        }
        self.cx.sys.span = at.ast.phrase(phrase).span;
        match outcome {
            Outcome::Array(a) if keep => {
                self.cx.hand_over(&a, from)?;
                kept = Some(a);
            }
            Outcome::Array(a) if !assigns => {
                self.cx.effect("output");
                let a = self.cx.ready_to_show(&a)?;
                let style = self.style();
                let text = self.cx.worded(place, |cx| display(&a, &style, cx.budget()))?;
                self.cx.sys.screen.prompt.clear();
                // A story ends with its value.
                self.cx.tell_work(work.take());
                match top {
                    true => self.cx.host.show(&a, &text, &style),
                    false => self.cx.host.print(&a, &text, &style),
                }
            }
            Outcome::Func(f) if !assigns => {
                let text = self.function_text(&f)?;
                self.cx.host.output(&text);
            }
            Outcome::Oper(op) if !assigns => {
                let text = self.operator_text(&op)?;
                self.cx.host.output(&text);
            }
            _ => {}
        }
        self.cx.tell_work(work);
        self.check_dead()?;
        Ok(kept)
    }

    /// A function as it prints, line ends included.
    pub(super) fn function_text(&mut self, f: &Func) -> Result<String> {
        let mut arrays = Vec::new();
        f.arrays(&mut arrays);
        self.cx.settle(&arrays, "display")?;
        Ok(match f.drawn(self.cx.sys.screen.view.trains) {
            None => {
                let parts = f.parts(&self.cx)?;
                let style = style(self.cx.sys, 0);
                display(
                    &parts,
                    &Style { boxes: style.boxes.max(Boxes::Min), ..style },
                    self.cx.budget(),
                )?
            }
            Some(text) => text + "\n",
        })
    }

    /// An operator as it prints, line end included.
    pub(super) fn operator_text(&mut self, op: &Oper) -> Result<String> {
        let mut arrays = Vec::new();
        op.arrays(&mut arrays);
        self.cx.settle(&arrays, "display")?;
        Ok(format!("{}\n", op.text()))
    }

    /// The error that came first: something recorded before this one may fail too, and then that is
    /// the error.
    pub fn earliest(&mut self, e: Error) -> Error {
        match e.kind() {
            Kind::Interrupt | Kind::Internal | Kind::Exit | Kind::WsFull => return e,
            // A request that was stopped computes nothing more.
            Kind::Limit if self.cx.host.interrupt().is_set() => return e,
            Kind::Limit => return self.earlier(e),
            _ => {}
        }
        let e = self.earlier(e);
        self.first_cell_error(e)
    }

    /// The failure of what the tape still holds, which was written before this error came; else the
    /// error itself.
    pub fn earlier(&mut self, e: Error) -> Error {
        let cells = self.cx.sys.tape.take_checks();
        let suspects = self.cx.sys.tape.take_suspects();
        match self.cx.force_cells(cells, CHECK) {
            Err(first) if first.has_place() => first,
            _ => {
                self.cx.sys.tape.set_suspects(suspects);
                e
            }
        }
    }

    /// E2: failing operations that no live value reaches are run as checks. Those that a name holds
    /// wait for what makes use of them, or for the next effect (`Cx::settle`).
    fn check_dead(&mut self) -> Result<()> {
        if self.cx.sys.tape.checks().is_empty() {
            return Ok(());
        }
        let checks = self.cx.sys.tape.take_checks();
        let pending = checks.into_iter().filter(|c| c.forced().is_none());
        let (dead, live): (Vec<Rc<Cell>>, Vec<_>) = pending.partition(|c| Rc::strong_count(c) == 1);
        self.cx.sys.tape.set_checks(live);
        self.cx
            .force_cells(dead, CHECK)
            .map_err(|e| if e.kind() == Kind::Internal { e } else { e.hint(UNREAD) })
    }

    /// Errors: WS FULL, INTERRUPT.
    pub fn display(&self, a: &Array) -> Result<String> {
        display(a, &self.style(), self.cx.budget())
    }

    /// The style in which values print now.
    pub fn style(&self) -> Style {
        let mut style = style(self.cx.sys, self.cx.host.limits().lines);
        let inside = self.st.frame.is_some() || !self.st.calls.is_empty();
        if inside && !self.cx.sys.screen.view.inside {
            let plain = View { unread: self.cx.sys.screen.view.unread, ..View::default() };
            (style.boxes, style.long) = (plain.boxes, plain.rows());
        }
        style
    }
}
