//! Loops as machine code: what goes round often is compiled by the device, and goes on there.
//!
//! The code works on the machine's own numbers and lists, and leaves at any instruction that it has
//! none for, or that is not what most are: the machine takes that one, and goes back to the code at
//! the next jump back. So nothing is different but the time.

use super::machine::{LOOK, Machine, Told, Way};
use super::program::Program;
use crate::eval::host::Host;
use aplomb_ground::error::Result;
use aplomb_values::registers::{List, Request, State};

/// Jumps back before a function is compiled, and before one that was is gone to.
const HOT: u32 = 1 << 9;
const WARM: u32 = 1 << 4;
/// Times that the code was gone to, after which it must have paid, and the jumps back of each that
/// do.
const TRIED: (u64, u64) = (64, 4);

/// Registers for calls that stand in each other: at least, more each time, and the most that are
/// made for the code alone.
const LEAST: usize = 1 << 10;
const WIDER: usize = 4;
const MOST: usize = 1 << 22;

/// The use of the code by a machine.
#[derive(Default)]
pub struct Native {
    /// Jumps back before there was any.
    jumps: u32,
    /// Code of an earlier run is there.
    is_made: bool,
    /// Calls within of the first one before there was any.
    calls: u32,
    /// Times that it was gone to, and the jumps back that it took.
    runs: u64,
    took: u64,
    /// The machine has no code, or goes round so little that the way there takes longer.
    is_idle: bool,
    /// The first function's registers when it began.
    start: Vec<f64>,
}

impl Native {
    /// Whether the code is to go on from a jump back.
    #[inline]
    pub fn is_due(&mut self) -> bool {
        self.jumps = self.jumps.saturating_add(1);
        (self.jumps >= HOT || self.is_made && self.jumps >= WARM) && !self.is_idle
    }

    /// The state of a program, which may have code of an earlier run.
    pub fn of(program: &Program) -> Native {
        Native { is_made: program.native.borrow().is_some(), ..Native::default() }
    }

    /// Whether all calls are to begin again as code, by one call more: once.
    #[inline]
    pub fn is_due_by_calls(&mut self) -> bool {
        self.calls = self.calls.saturating_add(1);
        self.calls == HOT && !self.is_idle
    }
}

impl Machine {
    /// The instruction that the first function begins with, or goes on with after its code.
    pub(super) fn begins(
        &mut self,
        program: &Program,
        depth: usize,
        about: (&dyn Host, Option<&Way<'_>>),
    ) -> Result<usize> {
        if !program.may_begin_again() {
            return Ok(0);
        }
        if !self.native.is_idle && program.native.borrow().is_some() {
            return self.natively(program, 0, depth, about);
        }
        // Calls begin again once.
        if self.native.calls < HOT {
            self.native.start.clear();
            let own = &self.registers[..program.code[0].registers];
            self.native.start.extend_from_slice(own);
        }
        Ok(0)
    }

    /// All calls begin again, as code: nothing has happened outside.
    pub(super) fn begins_again(
        &mut self,
        program: &Program,
        depth: usize,
        about: (&dyn Host, Option<&Way<'_>>),
    ) -> Result<usize> {
        self.waiting.clear();
        // What was done is done again.
        (self.calls, self.next_look) = (0, LOOK);
        let start = std::mem::take(&mut self.native.start);
        self.registers[..start.len()].copy_from_slice(&start);
        self.natively(program, 0, depth, about)
    }

    /// Goes on from an instruction of the first function, whose registers begin with the first: the
    /// instruction that the machine goes on with. Errors: INTERRUPT, WS FULL.
    pub(super) fn natively(
        &mut self,
        program: &Program,
        at: usize,
        depth: usize,
        (host, way): (&dyn Host, Option<&Way<'_>>),
    ) -> Result<usize> {
        self.lets_go(None);
        let mut lists: Vec<List<'_>> = self.lists.iter_mut().map(|list| list.seen()).collect();
        let request = Request {
            functions: &program.code,
            fixed: self.fixed.len(),
            lists: &lists,
            ct: self.ct,
            io: self.io,
        };
        let known = program.native.borrow().clone().filter(|code| code.fits(&request));
        let code = match known {
            Some(code) => code,
            // Other lists than that code is for may soon be at their end.
            None if self.native.is_made && (1..HOT).contains(&self.native.jumps) => {
                self.native.is_made = false;
                return Ok(at);
            }
            None => match host.compiled(&request) {
                Some(code) => {
                    *program.native.borrow_mut() = Some(code.clone());
                    code
                }
                None => {
                    self.native.is_idle = true;
                    return Ok(at);
                }
            },
        };
        let (mut at, mut took) = (at, 0);
        loop {
            // The jump that looks at the interrupt is the machine's.
            let jumps = self.next_look.saturating_sub(self.calls + 1) as u64;
            let (mut gone, mut stopped) = (self.calls as u64 + jumps, Ok(()));
            let mut more = || {
                if let Some(Way { rounds, is: Told::Calls }) = way {
                    rounds.done(gone);
                }
                gone += LOOK as u64;
                stopped = host.budget().check();
                stopped.is_ok().then_some(LOOK as u64)
            };
            let mut state = State {
                registers: &mut self.registers,
                fixed: &mut self.fixed,
                lists: &mut lists,
                jumps,
                turns: 0,
                looks: 0,
                depth,
                is_short: false,
                more: &mut more,
            };
            let to = code.run(at, &mut state);
            let made = jumps + state.looks * (LOOK as u64 + 1) - state.jumps;
            let (turns, is_short) = (state.turns, state.is_short);
            stopped?;
            self.turns += turns as usize;
            self.calls += made as usize;
            self.next_look = self.next_look.max(self.calls + 1);
            (at, took) = (to, took + made);
            let room = self.registers.len();
            if !is_short || room >= MOST {
                break;
            }
            let mut wider = host.budget().filled(0.0, (room * WIDER).max(LEAST))?;
            wider[..room].copy_from_slice(&self.registers);
            self.registers = wider;
        }
        let native = &mut self.native;
        (native.runs, native.took) = (native.runs + 1, native.took + took);
        native.is_idle = native.runs > TRIED.0 && native.took < native.runs * TRIED.1;
        Ok(at)
    }
}
