//! The memory that machine code works on: lists by the way in which they lie, and the table that it
//! is entered with.

use aplomb_values::array::View;
use aplomb_values::prim::op::Op;
use aplomb_values::registers::List;
use std::ffi::c_void;
use std::mem::MaybeUninit;

/// The way in which a list's items lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Floats that change, of a vector that may grow.
    Grows,
    /// Floats that change, of a matrix.
    Changes,
    F64,
    F32,
    I32,
    I16,
    I8,
    Bool,
    Char,
    Other,
}

impl Kind {
    pub fn of(list: &List<'_>) -> Kind {
        match list {
            List::Own(_, None) => Kind::Grows,
            List::Own(_, Some(_)) => Kind::Changes,
            List::Shared(view, _) => match view {
                View::Bool(_) => Kind::Bool,
                View::I8(_) => Kind::I8,
                View::I16(_) => Kind::I16,
                View::I32(_) => Kind::I32,
                View::F32(_) => Kind::F32,
                View::F64(_) => Kind::F64,
                View::Char(_) => Kind::Char,
                View::Complex(_) => Kind::Other,
            },
            List::Other => Kind::Other,
        }
    }

    /// True of items that are whole numbers of 32 bits at most, or characters.
    pub fn is_whole(self) -> bool {
        matches!(self, Kind::I32 | Kind::I16 | Kind::I8 | Kind::Bool | Kind::Char)
    }

    /// True of lists whose items may get another value.
    pub fn changes(self) -> bool {
        matches!(self, Kind::Grows | Kind::Changes)
    }
}

/// A list, as the code finds it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Row {
    pub at: *const u8,
    pub len: usize,
    pub room: usize,
    pub columns: usize,
    /// Items of a vector that does not grow, rows of a matrix.
    pub tally: usize,
}

impl Row {
    pub fn of(list: &mut List<'_>) -> Row {
        let (at, len, room, columns): (*const u8, _, _, _) = match list {
            List::Own(items, columns) => {
                (items.as_mut_ptr().cast(), items.len(), items.capacity(), *columns)
            }
            List::Shared(view, columns) => {
                let at = match view {
                    View::Bool(v) => v.as_ptr(),
                    View::I8(v) => v.as_ptr().cast(),
                    View::I16(v) => v.as_ptr().cast(),
                    View::I32(v) => v.as_ptr().cast(),
                    View::F32(v) => v.as_ptr().cast(),
                    View::F64(v) => v.as_ptr().cast(),
                    View::Char(v) => v.as_ptr().cast(),
                    View::Complex(v) => v.as_ptr().cast(),
                };
                (at, view.len(), view.len(), *columns)
            }
            List::Other => (std::ptr::null(), 0, 0, None),
        };
        let (columns, tally) = match columns {
            None => (0, len),
            Some(0) => (0, 0),
            Some(columns) => (columns, len / columns),
        };
        Row { at, len, room, columns, tally }
    }
}

/// The lanes of a vector.
pub const LANES: usize = 4;
/// The most vectors that the code keeps.
pub const VECTORS: usize = 256;

/// All that the code finds and leaves, by places that it knows.
#[repr(C)]
pub struct Words {
    pub registers: *mut f64,
    pub fixed: *mut f64,
    pub lists: *mut Row,
    /// The instruction to begin with.
    pub entry: usize,
    pub jumps: u64,
    pub turns: u64,
    /// Arguments and value of a call of `aside`.
    pub x: f64,
    pub y: f64,
    pub z: f64,
    pub aside: usize,
    pub ct: f64,
    pub ops: *const Op,
    /// The end of the registers, the stack as it was on entering, the calls that may stand in each
    /// other, the first function's instruction that calls.
    pub end: usize,
    pub stack: usize,
    pub depth: usize,
    pub calling: usize,
    pub look: usize,
    /// Looks that were taken; these and the jumps before that call; whether registers ended.
    pub looks: u64,
    pub looks_before: u64,
    pub jumps_before: u64,
    pub is_short: u64,
    /// Turns that go one by one before four go at once again, and those after the next four that
    /// do not.
    pub skip: u64,
    pub apart: u64,
    /// The one who is asked for more jumps.
    pub asked: *mut c_void,
    /// Vectors of four turns at once, which are written before they are read.
    pub lanes: [MaybeUninit<[f64; LANES]>; VECTORS],
}
