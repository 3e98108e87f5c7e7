//! From a function's instructions to machine code: which numbers stand in vector registers, jumps,
//! items of lists, and the ways out.
//!
//! A number that is read or written in the innermost loops has a vector register for the whole
//! function; its place in memory is filled when the code is left or goes aside. All others are read
//! and written where they lie. So nothing depends on the way by which an instruction is reached.

use super::calls::simple;
use super::maker::*;
use super::packed::packs;
use super::uses::most_used;
use super::words::{Kind, Row, Words};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::short::SMALL_CT;
use aplomb_values::registers::{Arg, Do, Request, SEARCHED};
use iced_x86::BlockEncoderOptions;
use iced_x86::code_asm::*;
use std::mem::offset_of;

/// Longer functions have no code.
const LONG: usize = 2000;

/// The code of a function.
pub struct Made {
    pub bytes: Vec<u8>,
    /// The place of each instruction in it.
    pub entries: Vec<u32>,
    /// The operations that calls name by number.
    pub ops: Vec<Op>,
}

/// The code of a function, and of those that it calls. None: it is too long.
pub fn code(request: &Request<'_, '_>) -> Done<Option<Made>> {
    if request.functions.iter().map(|f| f.steps.len()).sum::<usize>() > LONG {
        return Ok(None);
    }
    let mut a = CodeAssembler::new(64)?;
    let numbers = std::array::from_fn(|_| a.create_label());
    let (leave, fail, call) = (a.create_label(), a.create_label(), a.create_label());
    let ramp = a.create_label();
    let kinds = request.lists.iter().map(Kind::of).collect();
    let called = simple(request).into_iter().map(|of| (of, a.create_label())).collect();
    let maker = Maker {
        a,
        ct: request.ct,
        io: request.io,
        kinds,
        own: Vec::new(),
        numbers,
        ramp,
        packs: Vec::new(),
        function: 0,
        is_called: false,
        steps: Vec::new(),
        asides: Vec::new(),
        looks: Vec::new(),
        outs: Vec::new(),
        leave,
        fail,
        call,
        called,
        request,
    };
    maker.all()
}

impl Maker<'_> {
    fn all(mut self) -> Done<Option<Made>> {
        let mut ops = Vec::new();
        self.begin(0)?;
        self.enter()?;
        self.function(0, &mut ops)?;
        let first = std::mem::take(&mut self.steps);
        for (mut label, at) in std::mem::take(&mut self.outs) {
            self.a.set_label(&mut label)?;
            self.a.mov(eax, at as i32)?;
            self.a.jmp(self.leave)?;
        }
        let mut leave = self.leave;
        self.a.set_label(&mut leave)?;
        self.store()?;
        self.pops()?;
        self.is_called = true;
        for (of, mut label) in self.called.clone() {
            self.a.set_label(&mut label)?;
            self.begin(of)?;
            // Calls keep the stack as they find it.
            self.a.sub(rsp, 8)?;
            self.load()?;
            self.function(of, &mut ops)?;
        }
        let mut fail = self.fail;
        self.a.set_label(&mut fail)?;
        self.a.mov(rsp, word(offset_of!(Words, stack)))?;
        // Calls that are made again are not counted.
        self.a.mov(JUMPS, word(offset_of!(Words, jumps_before)))?;
        self.a.mov(rax, word(offset_of!(Words, looks_before)))?;
        self.a.mov(word(offset_of!(Words, looks)), rax)?;
        self.a.mov(rax, word(offset_of!(Words, calling)))?;
        self.pops()?;
        let values = Number::values(self.ct, self.io);
        for (label, value) in self.numbers.iter().zip(values) {
            let mut label = *label;
            self.a.set_label(&mut label)?;
            self.a.dq(&[value])?;
        }
        let mut ramp = self.ramp;
        self.a.set_label(&mut ramp)?;
        self.a.dq(&[0.0, 1.0, 2.0, 3.0].map(f64::to_bits))?;
        let made =
            self.a.assemble_options(0, BlockEncoderOptions::RETURN_NEW_INSTRUCTION_OFFSETS)?;
        let mut entries = Vec::new();
        for label in &first {
            entries.push(made.label_ip(label)? as u32);
        }
        Ok(Some(Made { bytes: made.inner.code_buffer, entries, ops }))
    }

    /// Turns to a function.
    fn begin(&mut self, of: usize) -> Done {
        let function = &self.request.functions[of];
        let steps = &function.steps;
        self.function = of;
        self.packs = match self.is_called {
            true => Vec::new(),
            false => packs(function, self.request.lists, (self.ct, self.io)),
        };
        let most = if self.packs.is_empty() { OWN.len() } else { FEWER };
        self.own = most_used(steps).into_iter().zip(OWN).take(most).collect();
        self.steps = steps.iter().map(|_| self.a.create_label()).collect();
        self.call = self.a.create_label();
        Ok(())
    }

    /// The instructions of a function, and what stands aside of them.
    fn function(&mut self, of: usize, ops: &mut Vec<Op>) -> Done {
        let steps = &self.request.functions[of].steps;
        for (at, step) in steps.iter().enumerate() {
            let mut label = self.steps[at];
            self.a.set_label(&mut label)?;
            self.a.zero_bytes()?;
            self.steps[at] = label;
            if let Some(pack) = self.packs.iter().find(|pack| pack.head == at).cloned() {
                self.pack(&pack)?;
            }
            let out = self.out(at);
            if !self.step(at, step, out)? {
                self.a.jmp(out)?;
            }
        }
        // No instruction is the last one.
        let out = self.out(steps.len());
        self.a.jmp(out)?;
        for aside in std::mem::take(&mut self.asides) {
            self.aside(aside, ops)?;
        }
        self.looks()?;
        let mut call = self.call;
        self.a.set_label(&mut call)?;
        self.a.vmovsd(word(offset_of!(Words, x)), X)?;
        self.a.vmovsd(word(offset_of!(Words, y)), Y)?;
        self.store()?;
        self.a.mov(rdi, WORDS)?;
        self.a.call(word(offset_of!(Words, aside)))?;
        self.load()?;
        self.a.vmovsd(T0, word(offset_of!(Words, z)))?;
        self.a.ret()
    }

    /// The way out at an instruction.
    fn out(&mut self, at: usize) -> CodeLabel {
        if self.is_called {
            return self.fail;
        }
        let label = self.a.create_label();
        self.outs.push((label, at));
        label
    }

    /// The code is entered.
    fn enter(&mut self) -> Done {
        for register in [WORDS, LISTS, REGISTERS, FIXED, JUMPS, PLACE] {
            self.a.push(register)?;
        }
        self.a.mov(WORDS, rdi)?;
        self.a.mov(REGISTERS, word(offset_of!(Words, registers)))?;
        self.a.mov(FIXED, word(offset_of!(Words, fixed)))?;
        self.a.mov(LISTS, word(offset_of!(Words, lists)))?;
        self.a.mov(JUMPS, word(offset_of!(Words, jumps)))?;
        self.a.mov(word(offset_of!(Words, stack)), rsp)?;
        self.load()?;
        self.a.jmp(word(offset_of!(Words, entry)))
    }

    /// And left, with the instruction in eax.
    fn pops(&mut self) -> Done {
        self.a.mov(word(offset_of!(Words, jumps)), JUMPS)?;
        for register in [PLACE, JUMPS, FIXED, REGISTERS, LISTS, WORDS] {
            self.a.pop(register)?;
        }
        self.a.ret()
    }

    /// An operation by way of a call, out of the way of others.
    fn aside(&mut self, aside: Aside, ops: &mut Vec<Op>) -> Done {
        let known = ops.iter().position(|op| *op == aside.op);
        let op = match known {
            Some(known) => known,
            None => {
                ops.push(aside.op);
                ops.len() - 1
            }
        };
        let mut from = aside.from;
        self.a.set_label(&mut from)?;
        if let Some(x) = aside.x.filter(|x| *x != X) {
            self.a.vmovapd(X, x)?;
        }
        if aside.y != Y {
            self.a.vmovapd(Y, aside.y)?;
        }
        self.a.mov(esi, op as i32)?;
        self.a.call(self.call)?;
        self.a.test(eax, eax)?;
        self.a.jz(aside.out)?;
        self.a.jmp(aside.back)
    }

    /// `T0 ← x op y`, or `op y`; where no form fits and a call fails, the way out is taken.
    fn operation(
        &mut self,
        op: Op,
        x: Option<AsmRegisterXmm>,
        y: AsmRegisterXmm,
        out: CodeLabel,
    ) -> Done {
        let (from, mut back) = (self.a.create_label(), self.a.create_label());
        match x {
            None => self.one(op, y, from)?,
            Some(x) => self.two(op, x, y, from)?,
        }
        self.a.set_label(&mut back)?;
        // A label stands before an instruction of its own, which has no bytes.
        self.a.zero_bytes()?;
        self.asides.push(Aside { from, back, out, op, x, y });
        Ok(())
    }

    /// False: the step is left to the machine.
    fn step(&mut self, at: usize, step: &Do, out: CodeLabel) -> Done<bool> {
        use Arg::{Fixed, Register};
        match *step {
            Do::One { op, into, y } => {
                let y = self.read(y, Y)?;
                self.operation(op, None, y, out)?;
                self.write(Register(into), T0)?;
            }
            Do::Two { op, into, x, y } => {
                let (x, y) = (self.read(x, X)?, self.read(y, Y)?);
                self.operation(op, Some(x), y, out)?;
                self.write(Register(into), T0)?;
            }
            Do::Copy { into, y } => {
                let y = self.read(y, Y)?;
                self.write(Register(into), y)?;
            }
            Do::Set { slot, y } => {
                let y = self.read(y, Y)?;
                self.write(Fixed(slot), y)?;
            }
            Do::Pick { into, from, n, at } => {
                let place = self.read(at, X)?;
                self.place(place, out)?;
                self.a.cmp(PLACE, i32::from(n))?;
                self.a.jae(out)?;
                self.a.vmovsd(T0, qword_ptr(REGISTERS + PLACE * 8 + 8 * i32::from(from)))?;
                self.write(Register(into), T0)?;
            }
            Do::Unless { y, then } => {
                let (y, mut on) = (self.read(y, Y)?, self.a.create_label());
                let one = self.number(Number::One);
                self.a.vmovq(rax, y)?;
                self.a.cmp(rax, one)?;
                self.a.je(on)?;
                self.a.test(rax, rax)?;
                self.a.jz(self.steps[then as usize])?;
                self.a.jmp(out)?;
                self.a.set_label(&mut on)?;
                self.a.zero_bytes()?;
            }
            Do::Item { into, of, at } if self.kinds[of as usize] != Kind::Other => {
                let place = self.read(at, X)?;
                self.place(place, out)?;
                self.within(of, out)?;
                self.item(of)?;
                self.write(Register(into), T0)?;
            }
            Do::Known { into, of, at } if self.kinds[of as usize] != Kind::Other => {
                let place = self.read(Register(at), X)?;
                self.a.vcvttsd2si(PLACE, place)?;
                self.within(of, out)?;
                self.item(of)?;
                self.write(Register(into), T0)?;
            }
            Do::SetItem { of, at, op, y } if self.kinds[of as usize].changes() => {
                let place = self.read(at, X)?;
                self.place(place, out)?;
                self.set(of, op, y, out)?;
            }
            Do::SetKnown { of, at, op, y } if self.kinds[of as usize].changes() => {
                let place = self.read(Register(at), X)?;
                self.a.vcvttsd2si(PLACE, place)?;
                self.set(of, op, y, out)?;
            }
            Do::Tally { into, of } if self.kinds[of as usize] != Kind::Other => {
                let tally = match self.kinds[of as usize] {
                    Kind::Grows => offset_of!(Row, len),
                    _ => offset_of!(Row, tally),
                };
                self.a.mov(rax, row(of, tally))?;
                self.whole(rax)?;
                self.write(Register(into), T0)?;
            }
            Do::Columns { into, of } if self.kinds[of as usize] != Kind::Other => {
                self.a.mov(rax, row(of, offset_of!(Row, columns)))?;
                self.whole(rax)?;
                self.write(Register(into), T0)?;
            }
            Do::Find { into, of, y } if self.kinds[of as usize].is_whole() => {
                let y = self.read(y, Y)?;
                self.find(of, y, out)?;
                self.write(Register(into), T0)?;
            }
            Do::Append { of, y } if self.kinds[of as usize] == Kind::Grows => {
                let y = self.read(y, Y)?;
                self.a.mov(rax, row(of, offset_of!(Row, len)))?;
                self.a.cmp(rax, row(of, offset_of!(Row, room)))?;
                self.a.jae(out)?;
                self.a.mov(rcx, row(of, offset_of!(Row, at)))?;
                self.a.vmovsd(qword_ptr(rcx + rax * 8), y)?;
                self.a.inc(rax)?;
                self.a.mov(row(of, offset_of!(Row, len)), rax)?;
            }
            Do::Cut { of, n, end: true } if self.kinds[of as usize] == Kind::Grows => {
                self.a.mov(rax, row(of, offset_of!(Row, len)))?;
                self.a.xor(ecx, ecx)?;
                self.a.sub(rax, i32::from(n))?;
                self.a.cmovb(rax, rcx)?;
                self.a.mov(row(of, offset_of!(Row, len)), rax)?;
            }
            Do::Place { into, of, row: r, column } if self.kinds[of as usize] != Kind::Other => {
                let place = self.read(r, X)?;
                self.place(place, out)?;
                self.a.cmp(PLACE, row(of, offset_of!(Row, tally)))?;
                self.a.jae(out)?;
                self.a.mov(rcx, PLACE)?;
                let place = self.read(column, X)?;
                self.place(place, out)?;
                self.a.cmp(PLACE, row(of, offset_of!(Row, columns)))?;
                self.a.jae(out)?;
                self.a.imul_2(rcx, row(of, offset_of!(Row, columns)))?;
                self.a.add(rcx, PLACE)?;
                self.whole(rcx)?;
                self.write(Register(into), T0)?;
            }
            Do::Jump(to) => {
                if (to as usize) <= at {
                    self.a.test(JUMPS, JUMPS)?;
                    self.a.jz(out)?;
                    self.a.dec(JUMPS)?;
                    if to == 0 {
                        self.a.inc(word(offset_of!(Words, turns)))?;
                    }
                }
                self.a.jmp(self.steps[to as usize])?;
            }
            Do::Call { of, into, x, y } => return self.calls((at, of), into, (x, y), out),
            Do::Again { x, y, .. } => return self.again(x, y),
            Do::Give(y) if self.is_called => {
                let y = self.read(y, Y)?;
                self.a.vmovapd(T0, y)?;
                self.a.add(rsp, 8)?;
                self.a.ret()?;
            }
            Do::Over { next } => {
                self.a.vxorpd(T0, T0, T0)?;
                self.write(Fixed(next), T0)?;
            }
            Do::Count { y, next, end } => {
                let y = self.read(y, Y)?;
                self.a.vcvttsd2si(rax, y)?;
                self.a.test(rax, rax)?;
                self.a.js(out)?;
                self.whole(rax)?;
                self.a.vucomisd(T0, y)?;
                self.a.jne(out)?;
                self.a.jp(out)?;
                self.write(Fixed(end), T0)?;
                self.a.vxorpd(T0, T0, T0)?;
                self.write(Fixed(next), T0)?;
            }
            Do::Next { of, next, slot, done } if self.kinds[of as usize] != Kind::Other => {
                let k = self.read(Fixed(next), X)?;
                self.a.vcvttsd2si(PLACE, k)?;
                self.within(of, self.steps[done as usize])?;
                let one = self.number(Number::One);
                self.a.vaddsd(T0, k, one)?;
                self.write(Fixed(next), T0)?;
                self.item(of)?;
                self.write(Fixed(slot), T0)?;
            }
            Do::CountOn { next, end, slot, done } => {
                let (k, end) = (self.read(Fixed(next), X)?, self.read(Fixed(end), Y)?);
                self.a.vucomisd(k, end)?;
                self.a.jae(self.steps[done as usize])?;
                let (one, origin) = (self.number(Number::One), self.number(Number::Origin));
                self.a.vaddsd(T0, k, origin)?;
                self.a.vaddsd(T1, k, one)?;
                self.write(Fixed(slot), T0)?;
                self.write(Fixed(next), T1)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// The place from 0 on that a number is, if it is a whole one: it may lie beyond all items.
    fn place(&mut self, number: AsmRegisterXmm, out: CodeLabel) -> Done {
        let origin = self.number(Number::Origin);
        self.a.vsubsd(T0, number, origin)?;
        self.a.vcvttsd2si(PLACE, T0)?;
        self.a.vxorpd(T1, T1, T1)?;
        self.a.vcvtsi2sd(T1, T1, PLACE)?;
        self.a.vucomisd(T0, T1)?;
        self.a.jne(out)?;
        self.a.jp(out)
    }

    /// Goes out where a list has no such item.
    fn within(&mut self, of: u16, out: CodeLabel) -> Done {
        self.a.cmp(PLACE, row(of, offset_of!(Row, len)))?;
        self.a.jae(out)
    }

    /// `T0 ←` a whole number.
    fn whole(&mut self, from: AsmRegister64) -> Done {
        self.a.vxorpd(T0, T0, T0)?;
        self.a.vcvtsi2sd(T0, T0, from)
    }

    /// `T0 ←` the item of a list.
    fn item(&mut self, of: u16) -> Done {
        match self.kinds[of as usize] {
            Kind::Grows | Kind::Changes | Kind::F64 => {
                self.a.mov(rcx, row(of, offset_of!(Row, at)))?;
                self.a.vmovsd(T0, qword_ptr(rcx + PLACE * 8))
            }
            Kind::F32 => {
                self.a.mov(rcx, row(of, offset_of!(Row, at)))?;
                self.a.vxorpd(T0, T0, T0)?;
                self.a.vcvtss2sd(T0, T0, dword_ptr(rcx + PLACE * 4))
            }
            _ => {
                self.load_whole(of)?;
                self.whole(rax)
            }
        }
    }

    /// `T0 ←` the place of a whole number in a list of such, or the list's length: within a small
    /// ⎕CT they are equal if they are the same. Goes out where there are too many.
    fn find(&mut self, of: u16, y: AsmRegisterXmm, out: CodeLabel) -> Done {
        if self.ct > SMALL_CT {
            return self.a.jmp(out);
        }
        self.a.vcvttsd2si(rdx, y)?;
        self.whole(rdx)?;
        self.a.vucomisd(T0, y)?;
        self.a.jne(out)?;
        self.a.jp(out)?;
        self.a.mov(r8, row(of, offset_of!(Row, len)))?;
        self.a.cmp(r8, SEARCHED as i32)?;
        self.a.ja(out)?;
        let (mut next, mut found) = (self.a.create_label(), self.a.create_label());
        self.a.xor(PLACE, PLACE)?;
        self.a.set_label(&mut next)?;
        self.a.cmp(PLACE, r8)?;
        self.a.jae(found)?;
        self.load_whole(of)?;
        self.a.cmp(rax, rdx)?;
        self.a.je(found)?;
        self.a.inc(PLACE)?;
        self.a.jmp(next)?;
        self.a.set_label(&mut found)?;
        self.whole(PLACE)
    }

    /// `rax ←` the item at `PLACE` of a list of whole numbers or characters.
    pub fn load_whole(&mut self, of: u16) -> Done {
        self.a.mov(rcx, row(of, offset_of!(Row, at)))?;
        match self.kinds[of as usize] {
            Kind::I32 => self.a.movsxd(rax, dword_ptr(rcx + PLACE * 4)),
            Kind::I16 => self.a.movsx(rax, word_ptr(rcx + PLACE * 2)),
            Kind::I8 => self.a.movsx(rax, byte_ptr(rcx + PLACE)),
            Kind::Bool => self.a.movzx(eax, byte_ptr(rcx + PLACE)),
            _ => self.a.mov(eax, dword_ptr(rcx + PLACE * 4)),
        }
    }

    /// The item at `PLACE` becomes y, or what an operation makes of it.
    fn set(&mut self, of: u16, op: Option<Op>, y: Arg, out: CodeLabel) -> Done {
        self.within(of, out)?;
        let mut new = self.read(y, Y)?;
        if let Some(op) = op {
            self.a.mov(rcx, row(of, offset_of!(Row, at)))?;
            self.a.vmovsd(X, qword_ptr(rcx + PLACE * 8))?;
            self.operation(op, Some(X), new, out)?;
            new = T0;
        }
        self.a.mov(rcx, row(of, offset_of!(Row, at)))?;
        self.a.vmovsd(qword_ptr(rcx + PLACE * 8), new)
    }
}
