//! System variables: index origin, tolerance, printing, the generator's seed; and the constants.

use super::{Does, Row, constant, misused, text_vector};
use crate::eval::cx::Cx;
use crate::eval::host::{Answer, Errand};
use aplomb_ground::error::{Result, domain, length, nonce};
use aplomb_values::array::{Array, Reference, Referent};
use aplomb_values::prim::scalar::near_integer;
use std::any::Any;
use std::rc::Rc;

/// The rows.
pub static ROWS: &[Row] = &[
    variable(
        "IO",
        "The first index: 1 or 0.",
        ("⎕IO←0 ⋄ ⍳3", "0 1 2"),
        |cx| Ok(Array::num(cx.sys.settings.io)),
        io,
        true,
    ),
    variable(
        "CT",
        "Comparison tolerance, 0 to 2*¯32.",
        ("⎕CT←1E¯10 ⋄ 1=1+1E¯11", "1"),
        |cx| Ok(Array::num(cx.sys.settings.ct)),
        ct,
        true,
    ),
    variable(
        "PP",
        "Significant digits that print, 1 to 34; from 17 on as few as read the number back.",
        ("⎕PP←3 ⋄ ÷3", "0.333"),
        |cx| count(cx.sys.settings.pp),
        pp,
        true,
    ),
    variable(
        "PW",
        "Columns that a line has, 42 to 32767.",
        ("⎕PW←60 ⋄ ⎕PW", "60"),
        |cx| count(cx.sys.settings.pw),
        pw,
        true,
    ),
    variable(
        "RL",
        "The seed of ? and its generator's number: the same seed gives the same numbers. ⍬ or 0: \
         another one each time.",
        ("⎕RL←42 ⋄ ⎕RL", "42 1"),
        seed,
        set_seed,
        false,
    ),
    variable(
        "ML",
        "The migration level: always 1.",
        ("⎕ML", "1"),
        |_| Ok(Array::num(1.0)),
        ml,
        true,
    ),
    variable(
        "DIV",
        "What ÷0 is: 0, an error but for 0÷0, which is 1; 1, always 0.",
        ("⎕DIV←1 ⋄ 1 0÷0", "0 0"),
        |cx| Ok(Array::bool(cx.sys.settings.div)),
        div,
        true,
    ),
    variable(
        "FR",
        "The floats that functions and literals make: 645, of 64 bits; 325, of 32.",
        ("⎕FR←325 ⋄ ÷3", "0.3333333433"),
        |cx| Ok(Array::num(if cx.sys.settings.single { 325.0 } else { 645.0 })),
        fr,
        true,
    ),
    variable(
        "LX",
        "A text that runs when the workspace is loaded.",
        ("⎕LX←'main' ⋄ ⎕LX", "main"),
        |cx| {
            let latent = cx.sys.settings.latent.clone();
            cx.text(&latent)
        },
        |cx, v| {
            let text = v.to_text(cx.budget())?.filter(|_| v.is_char() || v.is_empty());
            cx.sys.settings.latent = text.ok_or_else(|| domain("⎕LX is text"))?.into();
            Ok(())
        },
        true,
    ),
    constant(
        "NULL",
        "A thing that stands for no value, and is equal to itself.",
        ("⎕NULL", "[Null]"),
        |_| Ok(null()),
    ),
    constant("AVU", "The code points of ⎕AV.", ("⍴⎕AVU", "256"), |cx| {
        cx.vector(AV.chars().map(|c| f64::from(u32::from(c))).collect())
    }),
    constant("AN", "The name of who runs the program.", ("⍴⎕AN", "0"), |cx| {
        match cx.world("the environment")?.errand(&Errand::Environment("USER".into()))? {
            Answer::Text(name) => cx.text(&name),
            _ => cx.text(""),
        }
    }),
    constant("TID", "The number of the thread: there is one, 0.", ("⎕TID", "0"), |_| {
        Ok(Array::num(0.0))
    }),
    constant("TNUMS", "The numbers of the threads: there is one, 0.", ("⎕TNUMS", "0"), |cx| {
        cx.vector(vec![0.0])
    }),
    constant("WSID", "The name of the workspace.", ("⎕WSID", "CLEAR WS"), |cx| {
        let name = cx.sys.screen.workspace.clone();
        cx.text(if name.is_empty() { "CLEAR WS" } else { &name })
    }),
    constant("A", "The letters A to Z.", ("⎕A", "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), |cx| {
        cx.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    }),
    constant("D", "The digits 0 to 9.", ("⎕D", "0123456789"), |cx| cx.text("0123456789")),
    constant("AV", "The 256 characters of classic APL.", ("⍴⎕AV", "256"), |cx| cx.text(AV)),
    constant("TC", "Backspace, line feed, carriage return.", ("⎕UCS ⎕TC", "8 10 13"), |cx| {
        cx.text("\u{8}\n\r")
    }),
    constant("ARG", "The words behind the program's file, as texts.", ("⍴⎕ARG", "0"), |cx| {
        let words = cx.sys.screen.args.to_vec();
        text_vector(cx, &words)
    }),
    constant("WA", "Bytes that are free.", ("0<⎕WA", "1"), |cx| free(cx)),
];

/// The bytes that are free.
pub fn free(cx: &Cx<'_>) -> Result<Array> {
    Ok(Array::num(cx.budget().free() as f64))
}

/// The referent of ⎕NULL.
struct Null;

impl Referent for Null {
    fn name(&self) -> String {
        "[Null]".into()
    }

    fn as_any(self: Rc<Self>) -> Rc<dyn Any> {
        self
    }
}

thread_local! {
    /// The one ⎕NULL: it is equal to itself alone.
    static NULL: Reference = Reference::new(Rc::new(Null));
}

/// ⎕NULL.
pub fn null() -> Array {
    Array::reference(NULL.with(Reference::clone))
}

/// Whether a reference is ⎕NULL.
pub fn is_null(to: &Reference) -> bool {
    to.to::<Null>().is_some()
}

/// The atomic vector as Dyalog's ⎕AVU gives it.
const AV: &str = concat!(
    "\u{0}\u{8}\u{a}\u{d} \
     \u{c}\u{6}\u{7}\u{1b}\u{9}⌶ɫ%'⍺⍵_abcdefghijklmnopqrstuvwxyz\u{1}\u{2}¯.⍬0123456",
    "789\u{3}⊢¥$£¢∆ABCDEFGHIJKLMNOPQRSTUVWXYZ\u{f}\u{4}\u{5}ý·⍙ÁÂÃÇÈÊËÌÍÎÏÐÒÓÔÕÙÚÛÝþãìðòõ{€}\
    ⊣⌷¨ÀÄÅÆ⍨ÉÑÖØÜßàáâä",
    "åæçèéêëíîïñ[/⌿\\⍀<≤=≥>≠∨∧-+÷×?∊⍴~↑↓⍳○*⌈⌊∇∘(⊂⊃∩∪⊥⊤|;,⍱⍲⍒⍋⍉⌽⊖⍟⌹!⍕⍎⍫⍪≡≢óôöø\"#\u{1e}&´┘┐┌└\
    ┼─├┤┴┬│@ùúû^ü",
    "`∣¶:⍷¿¡⋄←→⍝)]\u{1f}\u{a0}§⎕⍞⍣",
);

const fn variable(
    name: &'static str,
    help: &'static str,
    example: (&'static str, &'static str),
    get: super::Get,
    set: super::Set,
    local: bool,
) -> Row {
    Row { name, help, example, options: &[], does: Does::Variable { get, set, local } }
}

fn count(n: usize) -> Result<Array> {
    Ok(Array::num(n as f64))
}

fn one(cx: &mut Cx<'_>, v: &Array, name: &str) -> Result<f64> {
    match cx.numbers(v, &format!("⎕{name}"))?.as_slice() {
        &[x] => Ok(x),
        _ => Err(length(format!("⎕{name} is one number"))),
    }
}

fn whole(cx: &mut Cx<'_>, v: &Array, name: &str) -> Result<Option<i64>> {
    Ok(near_integer(one(cx, v, name)?, 1e-14))
}

fn io(cx: &mut Cx<'_>, v: &Array) -> Result<()> {
    match whole(cx, v, "IO")? {
        Some(k @ (0 | 1)) => cx.sys.settings.io = k as f64,
        _ => return Err(domain("⎕IO is 0 or 1")),
    }
    Ok(())
}

fn ct(cx: &mut Cx<'_>, v: &Array) -> Result<()> {
    let x = one(cx, v, "CT")?;
    if !(0.0..=2f64.powi(-32)).contains(&x) {
        return Err(domain("⎕CT is 0 to 2*¯32"));
    }
    cx.sys.settings.ct = x;
    Ok(())
}

fn pp(cx: &mut Cx<'_>, v: &Array) -> Result<()> {
    match whole(cx, v, "PP")? {
        Some(n) if (1..=34).contains(&n) => cx.sys.settings.pp = n as usize,
        _ => return Err(domain("⎕PP is 1 to 34")),
    }
    Ok(())
}

fn pw(cx: &mut Cx<'_>, v: &Array) -> Result<()> {
    match whole(cx, v, "PW")? {
        Some(n) if (42..=32_767).contains(&n) => {
            cx.sys.settings.pw = n as usize;
            // Whoever names a width wants it, also in a file.
            cx.sys.screen.view.unread = false;
        }
        _ => return Err(domain("⎕PW is 42 to 32767")),
    }
    Ok(())
}

fn ml(cx: &mut Cx<'_>, v: &Array) -> Result<()> {
    match whole(cx, v, "ML")? {
        Some(1) => Ok(()),
        _ => Err(domain("⎕ML is always 1")),
    }
}

fn div(cx: &mut Cx<'_>, v: &Array) -> Result<()> {
    match whole(cx, v, "DIV")? {
        Some(k @ (0 | 1)) => cx.sys.settings.div = k == 1,
        _ => return Err(domain("⎕DIV is 0 or 1")),
    }
    Ok(())
}

fn fr(cx: &mut Cx<'_>, v: &Array) -> Result<()> {
    match whole(cx, v, "FR")? {
        Some(k @ (325 | 645)) => cx.sys.settings.single = k == 325,
        Some(k @ 1287) => return Err(nonce(format!("⎕FR←{k}")).hint("numbers have 64 or 32 bits")),
        _ => return Err(domain("⎕FR is 645 or 325")),
    }
    Ok(())
}

fn seed(cx: &mut Cx<'_>) -> Result<Array> {
    if cx.sys.settings.seed == 0 {
        let none = cx.vector(vec![])?;
        return cx.collect(&[2], vec![none, Array::num(1.0)], None);
    }
    cx.vector(vec![cx.sys.settings.seed as f64, 1.0])
}

fn set_seed(cx: &mut Cx<'_>, v: &Array) -> Result<()> {
    let form =
        || misused("RL", "a whole number of at least 0, or that and the generator's number, 0 1 2");
    let parts = if v.rank() > 1 { return Err(form()) } else { v.to_items(cx.budget())? };
    let number = |a: &Array| {
        a.disclosed().number_scalar().and_then(|x| near_integer(x, 1e-14)).filter(|n| *n >= 0)
    };
    let seed = match parts.first() {
        None => 0,
        Some(a) if a.disclosed().rank() == 1 && a.disclosed().is_empty() => 0,
        Some(a) => number(a).ok_or_else(form)?,
    };
    match parts.get(1).map(|a| number(a).filter(|n| *n < 3)) {
        None | Some(Some(_)) if parts.len() < 3 => {}
        _ => return Err(form()),
    }
    cx.sys.settings.seed = seed as u64;
    cx.sys.settings.drawn = 0;
    Ok(())
}
