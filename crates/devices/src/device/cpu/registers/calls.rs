//! Calls of functions in machine code: the callee's registers follow the caller's, its value comes
//! back in a vector register, and the stack has nothing but where to go on.
//!
//! Only functions that change nothing are called. So whatever goes wrong below (no such item, too
//! deep, no room for registers, somebody stops it) leaves the code at the first function's call,
//! which the machine makes from its beginning.

use super::maker::{Done, JUMPS, Look, Maker, REGISTERS, T0, WORDS, X, Y, word};
use super::words::Words;
use aplomb_values::registers::{Arg, Do, Request};
use iced_x86::code_asm::*;
use std::mem::offset_of;

/// The functions that may be called by the code: they read names and lists and change none, and so
/// does all that they call. A call that fails is done again by the machine.
pub fn simple(request: &Request<'_, '_>) -> Vec<usize> {
    let mut all: Vec<usize> = (0..request.functions.len()).collect();
    loop {
        let is_simple = |of: &usize| {
            let f = &request.functions[*of];
            f.lists == 0
                && f.steps.iter().all(|step| match step {
                    Do::Call { of, .. } => all.contains(&(*of as usize)),
                    Do::Again { of: next, .. } => *next as usize == *of,
                    step => step.only_reads(),
                })
        };
        let fewer: Vec<usize> = all.iter().copied().filter(is_simple).collect();
        if fewer.len() == all.len() {
            return all;
        }
        all = fewer;
    }
}

impl Maker<'_> {
    /// A call of a function, whose registers follow the caller's.
    pub fn calls(
        &mut self,
        (at, of): (usize, u16),
        into: u16,
        (x, y): (Option<Arg>, Arg),
        out: CodeLabel,
    ) -> Done<bool> {
        let known = self.called.iter().find(|(called, _)| *called == of as usize);
        let Some((_, label)) = known.copied() else { return Ok(false) };
        let own = 8 * self.request.functions[self.function].registers as i32;
        let its = 8 * self.request.functions[of as usize].registers as i32;
        self.a.lea(rax, qword_ptr(REGISTERS + (own + its)))?;
        let (short, mut fits) = (word(offset_of!(Words, is_short)), self.a.create_label());
        self.a.cmp(rax, word(offset_of!(Words, end)))?;
        self.a.jbe(fits)?;
        self.a.mov(short, 1)?;
        self.a.jmp(out)?;
        self.a.set_label(&mut fits)?;
        self.a.zero_bytes()?;
        let y = self.read(y, Y)?;
        self.a.vmovsd(qword_ptr(REGISTERS + own), y)?;
        if let Some(x) = x {
            let x = self.read(x, X)?;
            self.a.vmovsd(qword_ptr(REGISTERS + (own + 8)), x)?;
        }
        self.store()?;
        if !self.is_called {
            self.a.mov(word(offset_of!(Words, calling)), at as i32)?;
            self.a.mov(word(offset_of!(Words, jumps_before)), JUMPS)?;
            self.a.mov(rax, word(offset_of!(Words, looks)))?;
            self.a.mov(word(offset_of!(Words, looks_before)), rax)?;
        }
        let (from, mut back) = (self.a.create_label(), self.a.create_label());
        self.a.sub(JUMPS, 1)?;
        self.a.jb(from)?;
        self.a.set_label(&mut back)?;
        self.looks.push(Look { from, back, keeps: false });
        self.a.sub(word(offset_of!(Words, depth)), 1)?;
        self.a.jbe(self.fail)?;
        self.a.add(REGISTERS, own)?;
        self.a.call(label)?;
        self.a.sub(REGISTERS, own)?;
        self.a.add(word(offset_of!(Words, depth)), 1)?;
        self.load()?;
        self.write(Arg::Register(into), T0)?;
        Ok(true)
    }

    /// The last call of a function, which is of itself: its instructions begin again.
    pub fn again(&mut self, x: Option<Arg>, y: Arg) -> Done<bool> {
        if !self.is_called {
            return Ok(false);
        }
        let y = self.read(y, Y)?;
        self.a.vmovapd(T0, y)?;
        if let Some(x) = x {
            let x = self.read(x, X)?;
            self.write(Arg::Register(1), x)?;
        }
        self.write(Arg::Register(0), T0)?;
        let (from, mut back) = (self.a.create_label(), self.a.create_label());
        self.a.sub(JUMPS, 1)?;
        self.a.jb(from)?;
        self.a.set_label(&mut back)?;
        self.looks.push(Look { from, back, keeps: true });
        self.a.jmp(self.steps[0])?;
        Ok(true)
    }

    /// The looks of a function, out of the way of others.
    pub fn looks(&mut self) -> Done {
        for mut look in std::mem::take(&mut self.looks) {
            self.a.set_label(&mut look.from)?;
            self.a.zero_bytes()?;
            if look.keeps {
                self.store()?;
            }
            self.a.mov(rdi, WORDS)?;
            self.a.call(word(offset_of!(Words, look)))?;
            self.a.test(eax, eax)?;
            self.a.jz(self.fail)?;
            self.a.mov(JUMPS, word(offset_of!(Words, jumps)))?;
            if look.keeps {
                self.load()?;
            }
            self.a.jmp(look.back)?;
        }
        Ok(())
    }
}
