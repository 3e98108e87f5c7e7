//! Error guards in registers: what most often fails under one is asked before it is done.
//!
//! A step that fails goes to the guard's expression by way of the machine, which looks the guard
//! up. A division by zero and an index beyond its list are told beforehand by a comparison, so here
//! they become jumps, which machine code takes as well. What a comparison does not tell (an index
//! that is no whole number) is left to the step.

use super::program::{Catch, Program};
use aplomb_ground::error::Kind;
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, Do, Function};

/// The part of a test that a step fails.
enum Part {
    /// A step whose value a later part needs.
    Needs(Do),
    /// A comparison, by its operation and the register of its value, that must hold.
    Holds(Do, u16),
}

impl Program {
    /// The latest guard of a function's that stands before a step and catches a kind of error.
    fn catch_of(&self, function: usize, at: usize, kind: Kind) -> Option<&Catch> {
        let here = |c: &&Catch| c.function == function && c.steps.contains(&(at as u32));
        let caught =
            |c: &&Catch| c.events.iter().any(|e| *e == 0 || *e == i64::from(kind.number()));
        self.catches.iter().filter(here).filter(caught).max_by_key(|c| c.place())
    }

    /// Puts tests before the steps of a function that are known to fail on some numbers, where a
    /// guard catches that. None: there is no place for a number or a register more.
    pub fn tests_before_failures(&mut self, function: usize, of: &mut Function) -> Option<()> {
        if self.catches.iter().all(|c| c.function != function) {
            return Some(());
        }
        let old = std::mem::take(&mut of.steps);
        let (mut starts, mut jumps, mut out) = (Vec::new(), Vec::new(), Vec::new());
        for (at, step) in old.iter().enumerate() {
            starts.push(out.len() as u32);
            let kind = if matches!(step, Do::Item { .. }) { Kind::Index } else { Kind::Domain };
            if let Some(then) = self.catch_of(function, at, kind).map(|c| c.then) {
                for test in self.tests(step, of)? {
                    let mut asks = Vec::new();
                    for part in test {
                        match part {
                            Part::Needs(step) => out.push(step),
                            Part::Holds(step, into) => {
                                asks.push(out.len() + 1);
                                let y = Arg::Register(into);
                                out.extend([step, Do::Unless { y, then: 0 }]);
                            }
                        }
                    }
                    jumps.push((out.len(), then));
                    out.push(Do::Jump(then));
                    // Where a part does not hold, the step is done, or the next test asked.
                    let behind = out.len() as u32;
                    for at in asks {
                        if let Do::Unless { then, .. } = &mut out[at] {
                            *then = behind;
                        }
                    }
                }
            }
            match step {
                Do::Unless { then, .. } | Do::Jump(then) => jumps.push((out.len(), *then)),
                _ => {}
            }
            out.push(*step);
        }
        starts.push(out.len() as u32);
        for (at, to) in jumps {
            match &mut out[at] {
                Do::Unless { then, .. } | Do::Jump(then) => *then = starts[to as usize],
                _ => {}
            }
        }
        let moved = |at: u32| starts[at as usize];
        for catch in self.catches.iter_mut().filter(|c| c.function == function) {
            catch.steps = moved(catch.steps.start)..moved(catch.steps.end);
            catch.then = moved(catch.then);
        }
        of.steps = out;
        Some(())
    }

    /// The tests of which one holds where a step fails.
    fn tests(&mut self, step: &Do, of: &mut Function) -> Option<Vec<Vec<Part>>> {
        let mut register = || {
            of.registers += 1;
            u16::try_from(of.registers - 1).ok()
        };
        let holds = |op, x, y, into| Part::Holds(Do::Two { op, into, x, y }, into);
        Some(match *step {
            Do::One { op: Op::Recip, y, .. } => {
                let zero = Arg::Fixed(self.number(0.0)?);
                vec![vec![holds(Op::Eq, y, zero, register()?)]]
            }
            Do::Two { op: Op::Div, x, y, .. } => {
                let zero = Arg::Fixed(self.number(0.0)?);
                let (none, some) = (register()?, register()?);
                vec![vec![holds(Op::Eq, y, zero, none), holds(Op::Ne, x, zero, some)]]
            }
            Do::Item { of: list, at, .. } if !self.is_front(at) => {
                let origin = Arg::Fixed(self.number(self.io)?);
                let before = Arg::Fixed(self.number(self.io - 1.0)?);
                let (length, last) = (register()?, register()?);
                let x = Arg::Register(length);
                let beyond = vec![
                    Part::Needs(Do::Tally { into: length, of: list }),
                    Part::Needs(Do::Two { op: Op::Add, into: last, x, y: before }),
                    holds(Op::Gt, at, Arg::Register(last), register()?),
                ];
                vec![vec![holds(Op::Lt, at, origin, register()?)], beyond]
            }
            _ => Vec::new(),
        })
    }
}
