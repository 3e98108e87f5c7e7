//! The surroundings of what the evaluator does: frames, guards that cells decide, rounds of loops.
//!
//! A scope is passed down and never written by those inside: `within` makes the inner one, runs,
//! and what was outside holds again, however the run ended. `attempt` is a run that may be refused;
//! then nothing that it wrote on the tape is left.

use super::cx::Cx;
use super::run::Eval;
use aplomb_ground::error::{Error, Kind, Result};
use aplomb_values::array::Array;

/// A condition, one boolean a cell, and whether it must hold or must not.
pub type Condition = (Array, bool);

/// The surroundings of the evaluator.
#[derive(Clone, Default)]
pub struct Scope {
    /// The number of frames that stand around: nothing may happen once a cell.
    frames: u32,
    /// The number of flattened runs that stand around: likewise.
    flattened: u32,
    /// A round of a loop is being recorded: its states have no values.
    round: bool,
    /// Conditions on cells under which the evaluator records.
    conditions: Vec<Condition>,
    /// No framed runs: cells go one by one.
    cell_by_cell: bool,
    /// Many cells go one by one, and a story does not ask for theirs to be recorded.
    many_cells: bool,
}

/// The kinds of surroundings that a run can enter.
pub enum Inside {
    /// A frame: all cells at once.
    Frame,
    /// One way of a guard that cells decide.
    Branch(Condition),
    /// The body of a loop, on states that have no values; its places are cells of a frame. Guards
    /// around are not those of its cells.
    LoopBody,
    /// Cells one after the other, to find which one fails.
    CellByCell,
    /// One cell of a frame by itself, for a function that looks at its values.
    OneCell,
    /// Many cells one after the other, because their operand cannot be recorded.
    ManyCells,
    /// A flattened run: each step for all cells.
    Flat,
    /// The same place, where the guards that stand were seen to already.
    Unconditional,
}

impl Scope {
    /// Whether what happens now happens for all cells of some frame.
    pub fn is_framed(&self) -> bool {
        self.frames > 0
    }

    /// Whether what happens now would happen once a cell, in a frame or a flattened run.
    pub fn is_once_a_cell(&self) -> bool {
        self.frames + self.flattened > 0
    }

    /// The number of frames and flattened runs.
    pub fn frames(&self) -> u32 {
        self.frames + self.flattened
    }

    /// Whether values are asked of states that have none.
    pub fn in_round(&self) -> bool {
        self.round
    }

    /// The guards that cells decide, the outermost first.
    pub fn conditions(&self) -> &[Condition] {
        &self.conditions
    }

    /// Whether a guard stands around that cells decide.
    pub fn is_conditional(&self) -> bool {
        !self.conditions.is_empty()
    }

    /// Whether cells of some frame run one after the other.
    pub fn cell_by_cell(&self) -> bool {
        self.cell_by_cell
    }

    /// Whether many cells run one after the other, whatever a story asks for.
    pub fn many_cells(&self) -> bool {
        self.many_cells
    }

    /// Goes inside; what was outside, to be set back.
    fn enter(&mut self, kind: Inside) -> Scope {
        let outer = self.clone();
        match kind {
            Inside::Frame => self.frames += 1,
            Inside::Branch(condition) => self.conditions.push(condition),
            Inside::LoopBody => {
                self.frames += 1;
                self.round = true;
                self.conditions.clear();
            }
            Inside::CellByCell => self.cell_by_cell = true,
            Inside::OneCell => {
                (self.frames, self.many_cells) = (0, true);
                self.conditions.clear();
            }
            Inside::ManyCells => self.many_cells = true,
            Inside::Flat => self.flattened += 1,
            Inside::Unconditional => self.conditions.clear(),
        }
        outer
    }
}

impl Cx<'_> {
    /// Runs in an inner scope.
    pub fn within<T>(&mut self, kind: Inside, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.sys.scope.enter(kind);
        let done = run(self);
        self.sys.scope = outer;
        done
    }
}

/// Errors that end whatever was tried: nobody goes another way after them.
pub fn is_final(e: &Error) -> bool {
    matches!(e.kind(), Kind::Interrupt | Kind::Internal | Kind::Exit)
}

/// So many cells are worth a run together: fewer are called one by one.
pub const TOGETHER: usize = 16;

impl Eval<'_> {
    /// The test whether so many cells may run together here: neither do frames stand around, nor
    /// is it asked for one cell after the other.
    pub fn runs_together(&self, n: usize) -> bool {
        let scope = &self.cx.sys.scope;
        n >= TOGETHER && !scope.is_framed() && !scope.cell_by_cell() && self.cx.host.is_on("frames")
    }

    /// A run of many cells at once: what is left of it is computed, and what it must check, is
    /// checked before it ends, since what fails later would be told without its cell. An error
    /// says why there is another way to go. Errors: those after which there is none.
    pub fn attempt_together(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<Array>,
    ) -> Result<Result<Array, Error>> {
        let from = self.cx.sys.tape.mark();
        self.attempt(|ev| {
            let made = ev.inside(Inside::Flat, run)?;
            let checks = ev.cx.sys.tape.take_checks_since(from);
            ev.cx.force_cells(checks, "each")?;
            ev.cx.ready(&made, "each")
        })
    }

    /// Runs in an inner scope.
    pub fn inside<T>(&mut self, kind: Inside, run: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.cx.sys.scope.enter(kind);
        let done = run(self);
        self.cx.sys.scope = outer;
        done
    }

    /// A run that may turn out to be another way's: on an error what it wrote is taken from the
    /// tape, and the error says why. Errors: those after which there is no other way.
    pub fn attempt<T>(
        &mut self,
        run: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<Result<T, Error>> {
        let mark = self.cx.sys.tape.mark();
        match run(self) {
            Ok(made) => Ok(Ok(made)),
            Err(e) if is_final(&e) => Err(e),
            Err(e) => {
                self.cx.sys.tape.roll_back(mark);
                Ok(Err(e))
            }
        }
    }
}
