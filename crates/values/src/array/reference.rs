//! References: simple scalars that stand for something with its own identity, such as a namespace.
//!
//! The values know nothing of it but its name. Two are equal if they are one.

use super::{Array, Data, Shape};
use std::any::Any;
use std::fmt;
use std::rc::Rc;

/// A thing that references stand for.
pub trait Referent: Any {
    /// Its name, as it is shown.
    fn name(&self) -> String;
    /// The arrays in it by their names, as they are shown.
    fn arrays(&self) -> Vec<(String, Array)> {
        Vec::new()
    }
    /// The thing itself, for who knows what it is.
    fn as_any(self: Rc<Self>) -> Rc<dyn Any>;
}

/// A reference.
#[derive(Clone)]
pub struct Reference(Rc<dyn Referent>);

impl Reference {
    /// A reference to a thing.
    pub fn new(to: Rc<dyn Referent>) -> Reference {
        Reference(to)
    }

    /// The name of what it stands for.
    pub fn name(&self) -> String {
        self.0.name()
    }

    /// The arrays in what it stands for, by their names.
    pub fn arrays(&self) -> Vec<(String, Array)> {
        self.0.arrays()
    }

    /// The thing that it stands for, if it is of that type.
    pub fn to<T: 'static>(&self) -> Option<Rc<T>> {
        self.0.clone().as_any().downcast().ok()
    }

    /// A number for each thing, while it lives.
    pub fn id(&self) -> usize {
        Rc::as_ptr(&self.0).cast::<()>() as usize
    }
}

impl PartialEq for Reference {
    fn eq(&self, other: &Reference) -> bool {
        self.id() == other.id()
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl Array {
    /// The scalar that is a reference.
    pub fn reference(to: Reference) -> Array {
        Array { shape: Shape::new(), data: Data::Ref(to) }
    }

    /// Whether a reference stands in it.
    pub fn holds_reference(&self) -> bool {
        match &self.data {
            Data::Ref(_) => true,
            Data::Items(items) if items.split().is_none() && items.pieces().is_none() => {
                items.iter().any(|item| item.holds_reference())
            }
            _ => false,
        }
    }

    /// The reference that a scalar is.
    pub fn to_reference(&self) -> Option<&Reference> {
        match &self.data {
            Data::Ref(to) => Some(to),
            _ => None,
        }
    }
}
