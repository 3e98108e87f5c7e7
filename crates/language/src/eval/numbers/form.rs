//! The form of a value in registers: what is known of it before a program runs.
//!
//! A number or a character is one register. A short vector, or a strand of such, has a form of its
//! items, which are as many registers: `{(a b)←⍵ ⋄ b(a+b)}` works on two numbers. A vector that
//! grows is a list, of which only the class is known.

use super::machine::Values;
use super::program::List;
use super::stretches::Stretch;
use aplomb_ground::error::{Result, bug};
use aplomb_ground::limits::Budget;
use aplomb_values::array::{Array, DType, Data};
use std::rc::Rc;

/// A vector of more items is a list.
pub const SHORT: usize = 8;
/// Vectors stand so deep in each other, at most.
const DEEP: usize = 3;

/// Numbers or characters, or texts by their numbers (`texts`), which only names of loops hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    Number,
    Char,
    Text,
}

/// The form of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// A scalar: one register.
    One(Class),
    /// A vector of these items.
    Tuple(Rc<[Form]>),
    /// A vector of scalars of any length: a list of the call's own.
    List(Class),
}

impl Class {
    /// The class of an array's items. None: neither real numbers nor characters, or numbers of 32
    /// bits, or not here yet.
    pub fn of(a: &Array) -> Option<Class> {
        let plain = a.is_uniform() && !a.is_complex() && a.frame().is_none();
        match a.is_char() {
            true => plain.then_some(Class::Char),
            false => (plain && a.dtype() != DType::F32).then_some(Class::Number),
        }
    }
}

impl Form {
    /// A single number.
    pub const NUMBER: Form = Form::One(Class::Number);

    /// The form of a value. None: it has none.
    pub fn of(a: &Array) -> Option<Form> {
        Form::within(a, 0)
    }

    fn within(a: &Array, deep: usize) -> Option<Form> {
        match (a.rank(), Class::of(a)) {
            (0, class) => class.map(Form::One),
            (1, Some(class)) if !(1..=SHORT).contains(&a.len()) => Some(Form::List(class)),
            (1, Some(class)) => Some(Form::Tuple(vec![Form::One(class); a.len()].into())),
            (1, None) if a.len() <= SHORT && deep < DEEP && !a.is_uniform() => {
                let items = (0..a.len()).map(|k| Form::within(&a.item(k), deep + 1));
                items.collect::<Option<Rc<[Form]>>>().map(Form::Tuple)
            }
            _ => None,
        }
    }

    /// The form of the items of a vector, by the first. None: they have none.
    pub fn of_items(a: &Array) -> Option<Form> {
        match Class::of(a) {
            Some(class) => Some(Form::One(class)),
            None if a.is_uniform() || a.is_empty() => None,
            // Pieces of one vector are of any length.
            None => match a.pieces() {
                Some(pieces) => Class::of(pieces.flat()).map(Form::List),
                None => Form::of(&a.item(0)),
            },
        }
    }

    /// As a list, if it is a vector of scalars of one class.
    pub fn as_list(&self) -> Option<Form> {
        match self {
            Form::List(_) => Some(self.clone()),
            Form::Tuple(items) => match items.first()? {
                Form::One(class) if items.iter().all(|item| item == &items[0]) => {
                    Some(Form::List(*class))
                }
                _ => None,
            },
            Form::One(_) => None,
        }
    }

    /// Whether a list stands in it.
    pub fn has_lists(&self) -> bool {
        match self {
            Form::One(_) => false,
            Form::List(_) => true,
            Form::Tuple(items) => items.iter().any(Form::has_lists),
        }
    }

    /// The registers of a value: of numbers, of lists.
    pub fn registers(&self) -> (usize, usize) {
        match self {
            Form::One(_) => (1, 0),
            Form::List(_) => (0, 1),
            Form::Tuple(items) => {
                items.iter().map(Form::registers).fold((0, 0), |(a, b), (c, d)| (a + c, b + d))
            }
        }
    }

    /// A value's numbers and lists, behind those that are there. None: it has another form.
    pub fn take(&self, a: &Array, into: &mut Values) -> Option<()> {
        match self {
            Form::One(class) => {
                (a.rank() == 0 && Class::of(a) == Some(*class)).then_some(())?;
                into.numbers.push(a.number_at(0)?);
            }
            Form::List(class) => {
                let fits = a.rank() == 1 && Class::of(a) == Some(*class);
                fits.then_some(())?;
                let items: Option<Vec<f64>> = match a.view_there() {
                    Some(view) => Some(view.each().collect()),
                    None => (0..a.len()).map(|k| a.number_at(k)).collect(),
                };
                into.lists.push(items?.into());
            }
            Form::Tuple(items) => {
                (a.rank() == 1 && a.len() == items.len()).then_some(())?;
                match Class::of(a) {
                    Some(class) => {
                        items.iter().all(|item| *item == Form::One(class)).then_some(())?;
                        for k in 0..a.len() {
                            into.numbers.push(a.number_at(k)?);
                        }
                    }
                    None if a.is_uniform() => return None,
                    None => {
                        for (k, item) in items.iter().enumerate() {
                            item.take(&a.item(k), into)?;
                        }
                    }
                }
            }
        }
        Some(())
    }

    /// The value that the next numbers and lists are.
    pub fn array(&self, from: &mut Reader<'_>, budget: &Budget) -> Result<Array> {
        match self {
            Form::One(class) => from.number().map(|x| class.scalar(x)),
            Form::List(class) => {
                let list = from.list()?.items();
                let items = budget.each(list.iter().copied())?;
                class.array(&[items.len()], items, budget)
            }
            Form::Tuple(forms) => match self.as_list() {
                Some(Form::List(class)) => {
                    let items: Result<Vec<f64>> = forms.iter().map(|_| from.number()).collect();
                    class.array(&[forms.len()], items?, budget)
                }
                _ => {
                    let items: Result<Vec<Array>> =
                        forms.iter().map(|form| form.array(from, budget)).collect();
                    Array::collect([forms.len()].as_slice(), items?, None, budget)
                }
            },
        }
    }

    /// The vector of n values, one behind the other.
    pub fn arrays(&self, values: &Values, n: usize, budget: &Budget) -> Result<Array> {
        if let Form::One(class) = self {
            let mut items = budget.room(n)?;
            items.extend_from_slice(&values.numbers);
            return class.array(&[n], items, budget);
        }
        if let (Form::Tuple(forms), Some(Form::List(class))) = (self, self.as_list())
            && n > 0
        {
            let mut items = budget.room(values.numbers.len())?;
            items.extend_from_slice(&values.numbers);
            let all = class.array(&[n, forms.len()], items, budget)?;
            return Ok(Array::rows(all, 1));
        }
        let mut from = Reader { values, numbers: 0, lists: 0 };
        let mut out = budget.room(n)?;
        for _ in 0..n {
            out.push(self.array(&mut from, budget)?);
        }
        Array::collect([n].as_slice(), out, None, budget)
    }
}

impl Class {
    /// The item that fills a list; None: no list of a call's own holds texts.
    pub fn fill(self) -> Option<f64> {
        match self {
            Class::Number => Some(0.0),
            Class::Char => Some(f64::from(u32::from(' '))),
            Class::Text => None,
        }
    }

    /// An array of items of this class: a number where characters are is one of them.
    pub fn own(self, a: Array) -> Array {
        match (self, a.data()) {
            (Class::Char, Data::Num(x, _)) => self.scalar(*x),
            _ => a,
        }
    }

    pub fn scalar(self, x: f64) -> Array {
        match self {
            Class::Number => Array::num(x),
            Class::Char => Array::char(character(x)),
            // Who holds texts makes them of their numbers.
            Class::Text => Array::num(x),
        }
    }

    pub fn array(self, shape: &[usize], items: Vec<f64>, budget: &Budget) -> Result<Array> {
        match self {
            Class::Number | Class::Text => Array::numbers(shape, items, budget),
            Class::Char => {
                let chars = budget.each(items.iter().map(|x| character(*x)))?;
                Array::chars(shape, chars, budget)
            }
        }
    }
}

/// The items of an array, or the one that it has for all, each as registers.
pub struct Items {
    of: Array,
    form: Form,
    /// All of their numbers, where each has so many and they lie one behind the other.
    flat: Option<(Array, usize)>,
    /// The same as they are taken.
    numbers: Vec<f64>,
    /// Vectors of which an item each stands for the item itself.
    parts: Vec<Items>,
}

impl Items {
    /// The items of a ready array whose form is given.
    pub fn new(of: Array, form: Form) -> Items {
        let flat = match (&form, of.split()) {
            (Form::One(class), _) if Class::of(&of) == Some(*class) => Some((of.clone(), 1)),
            (Form::Tuple(forms), Some(rows)) => {
                let class = Class::of(&rows.node).map(Form::One);
                let fits = rows.cell() == [forms.len()] && forms.first() == class.as_ref();
                let fits = fits && form.as_list().is_some();
                fits.then(|| (rows.node.clone(), forms.len()))
            }
            _ => None,
        };
        Items { of, form, flat, numbers: Vec::new(), parts: Vec::new() }
    }

    /// Items for which others stand, one of each of several vectors of as many.
    pub fn together(of: Array, parts: Vec<Items>) -> Items {
        let form = Form::Tuple(parts.iter().map(|part| part.form.clone()).collect());
        Items { of, form, flat: None, numbers: Vec::new(), parts }
    }

    /// Before items are taken one by one. Errors: WS FULL, INTERRUPT.
    pub fn ready(&mut self, budget: &Budget) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.ready(budget))?;
        if let Some((all, _)) = &self.flat {
            self.numbers = super::numbers_of(all, budget)?;
            if self.numbers.len() != all.len() {
                self.flat = None;
            }
        }
        Ok(())
    }

    /// The numbers of the first n, one behind the other. None: some item has another form. Errors:
    /// WS FULL, INTERRUPT.
    pub fn numbers(&self, n: usize, budget: &Budget) -> Result<Option<List>> {
        if let Some((all, _)) = &self.flat {
            return Ok(Some(List::Shared(all.clone())));
        }
        let numbers = budget.room(n * self.form.registers().0)?;
        let mut all = Values { numbers, lists: Vec::new() };
        let mut parts = Vec::new();
        for part in &self.parts {
            let Some(numbers) = part.numbers(n, budget)? else { return Ok(None) };
            parts.push((numbers, part.form.registers().0, part.is_one()));
        }
        let mut ticks = budget.ticks();
        for k in 0..n {
            ticks.tick()?;
            for (numbers, size, is_one) in &parts {
                let first = if *is_one { 0 } else { k * size };
                all.numbers.extend((first..first + size).map_while(|at| numbers.item(at)));
            }
            if parts.is_empty() && self.form.take(&self.item(k), &mut all).is_none() {
                return Ok(None);
            }
        }
        Ok(Some(List::Own(all.numbers, None)))
    }

    /// True where one item stands for all.
    pub fn is_one(&self) -> bool {
        self.of.rank() == 0 || self.of.len() == 1
    }

    /// The k-th item's numbers and lists, behind those that are there. None: it has another form.
    #[inline]
    pub fn take(&self, k: usize, into: &mut Values) -> Option<()> {
        match &self.flat {
            _ if !self.parts.is_empty() => {
                self.parts.iter().try_for_each(|part| part.take(k, into))
            }
            Some((_, size)) => {
                let k = if self.of.len() == 1 { 0 } else { k };
                let numbers = self.numbers.get(k * size..(k + 1) * size)?;
                into.numbers.extend_from_slice(numbers);
                Some(())
            }
            None => self.form.take(&self.item(k), into),
        }
    }

    /// The k-th item.
    pub fn item(&self, k: usize) -> Array {
        match (self.of.rank(), self.of.len()) {
            (0, _) => self.of.disclosed(),
            (_, 1) => self.of.item(0),
            _ => self.of.item(k),
        }
    }

    pub fn form(&self) -> &Form {
        &self.form
    }
}

/// The character that a register holds: no instruction makes anything else of one.
fn character(x: f64) -> char {
    char::from_u32(x as u32).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Values that are read one behind the other.
pub struct Reader<'a> {
    values: &'a Values,
    numbers: usize,
    lists: usize,
}

impl<'a> Reader<'a> {
    pub fn new(values: &'a Values) -> Reader<'a> {
        Reader { values, numbers: 0, lists: 0 }
    }

    fn number(&mut self) -> Result<f64> {
        self.numbers += 1;
        let x = self.values.numbers.get(self.numbers - 1);
        x.copied().ok_or_else(|| bug!("a value in registers ends early"))
    }

    fn list(&mut self) -> Result<&'a Stretch> {
        self.lists += 1;
        let list = self.values.lists.get(self.lists - 1);
        list.ok_or_else(|| bug!("a value in registers ends early"))
    }
}
