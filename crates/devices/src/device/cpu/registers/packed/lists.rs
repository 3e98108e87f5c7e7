//! Items of lists in lanes: where they stand, what they are, and how they change when all of four
//! turns is computed.

use super::super::maker::*;
use super::super::words::{Kind, LANES, Row, Words};
use super::{Change, Lanes, Pack, Places, Slot, TURN, full, lane, offset};
use aplomb_values::prim::op::Op;
use aplomb_values::registers::{Arg, SEARCHED};
use iced_x86::code_asm::*;
use std::mem::offset_of;

impl Maker<'_> {
    /// Flags numbers of ymm0 that are no whole ones from 0 to below others; what is no such is 0
    /// then. ymm3 is used up.
    pub(super) fn below(
        &mut self,
        now: Option<Slot>,
        x: AsmRegisterYmm,
        extent: AsmRegisterYmm,
    ) -> Done {
        self.a.vcmppd(extent, x, extent, 17)?;
        self.a.vroundpd(ymm3, x, 3)?;
        self.a.vcmppd(ymm3, ymm3, x, 0)?;
        self.a.vandpd(extent, extent, ymm3)?;
        self.a.vxorpd(ymm3, ymm3, ymm3)?;
        self.a.vcmppd(ymm3, x, ymm3, 29)?;
        self.a.vandpd(extent, extent, ymm3)?;
        self.a.vandpd(x, x, extent)?;
        self.a.vpcmpeqd(ymm3, ymm3, ymm3)?;
        self.a.vxorpd(extent, extent, ymm3)?;
        self.flag(now, extent)
    }

    /// Places in a list, each of which has an item; `counted`: they begin with ⎕IO.
    pub(super) fn places_of(
        &mut self,
        lanes: &mut Lanes,
        pack: &Pack,
        at: Arg,
        of: u16,
        counted: bool,
    ) -> Done<Places> {
        let head = self.request.functions[self.function].steps[pack.head];
        if counted && pack.counted && Pack::name(&head).map(Arg::Fixed) == Some(at) {
            self.a.lea(rax, qword_ptr(TURN + LANES as i32))?;
            self.a.cmp(rax, row(of, offset_of!(Row, len)))?;
            self.a.ja(lanes.bail)?;
            return Ok(Places::Turns);
        }
        // There is an item 0, and places are numbers of 32 bits.
        self.a.mov(rax, row(of, offset_of!(Row, len)))?;
        self.a.lea(rcx, qword_ptr(rax - 1))?;
        self.a.cmp(rcx, i32::MAX - 1)?;
        self.a.ja(lanes.bail)?;
        self.lanes_in(lanes, at, ymm0)?;
        if counted {
            let origin = self.number(Number::Origin);
            self.a.vbroadcastsd(ymm3, origin)?;
            self.a.vsubpd(ymm0, ymm0, ymm3)?;
        }
        self.a.vxorpd(T2, T2, T2)?;
        self.a.vcvtsi2sd(T2, T2, rax)?;
        self.a.vbroadcastsd(ymm1, T2)?;
        self.below(lanes.now, ymm0, ymm1)?;
        self.a.vcvttpd2dq(T0, ymm0)?;
        self.kept(lanes).map(Places::At)
    }

    /// ymm0 ← four items side by side from a place on, which are there.
    pub(super) fn side_by_side(&mut self, of: u16, from: AsmRegister64) -> Done {
        self.a.mov(rcx, row(of, offset_of!(Row, at)))?;
        match self.kinds[of as usize] {
            Kind::Grows | Kind::Changes | Kind::F64 => {
                return self.a.vmovupd(ymm0, ymmword_ptr(rcx + from * 8));
            }
            Kind::F32 => return self.a.vcvtps2pd(ymm0, xmmword_ptr(rcx + from * 4)),
            Kind::I16 => self.a.vpmovsxwd(T0, qword_ptr(rcx + from * 2))?,
            Kind::I8 => self.a.vpmovsxbd(T0, dword_ptr(rcx + from))?,
            Kind::Bool => self.a.vpmovzxbd(T0, dword_ptr(rcx + from))?,
            _ => self.a.vmovdqu(T0, xmmword_ptr(rcx + from * 4))?,
        }
        self.a.vcvtdq2pd(ymm0, T0)
    }

    /// ymm0 ← the items at places, which are there.
    pub(super) fn items(&mut self, of: u16, places: Places) -> Done {
        let Places::At(slot) = places else { return self.side_by_side(of, TURN) };
        self.a.mov(rcx, row(of, offset_of!(Row, at)))?;
        let kind = self.kinds[of as usize];
        let place = |k: usize| {
            dword_ptr(WORDS + (offset_of!(Words, lanes) + slot * LANES * 8 + 4 * k) as i32)
        };
        if matches!(kind, Kind::Grows | Kind::Changes | Kind::F64 | Kind::F32) {
            for (half, into) in [(0, T0), (2, T1)] {
                self.a.mov(eax, place(half))?;
                self.a.mov(edx, place(half + 1))?;
                if kind == Kind::F32 {
                    self.a.vxorpd(T2, T2, T2)?;
                    self.a.vcvtss2sd(into, T2, dword_ptr(rcx + rax * 4))?;
                    self.a.vcvtss2sd(T2, T2, dword_ptr(rcx + rdx * 4))?;
                    self.a.vunpcklpd(into, into, T2)?;
                } else {
                    self.a.vmovsd(into, qword_ptr(rcx + rax * 8))?;
                    self.a.vmovhpd_3(into, into, qword_ptr(rcx + rdx * 8))?;
                }
            }
            return self.a.vinsertf128(ymm0, ymm0, T1, 1);
        }
        for k in 0..LANES {
            self.a.mov(eax, place(k))?;
            match kind {
                Kind::I16 => self.a.movsx(edx, word_ptr(rcx + rax * 2))?,
                Kind::I8 => self.a.movsx(edx, byte_ptr(rcx + rax))?,
                Kind::Bool => self.a.movzx(edx, byte_ptr(rcx + rax))?,
                _ => self.a.mov(edx, dword_ptr(rcx + rax * 4))?,
            }
            match k {
                0 => self.a.vmovd(T0, edx)?,
                _ => self.a.vpinsrd(T0, T0, edx, k as i32)?,
            }
        }
        self.a.vcvtdq2pd(ymm0, T0)
    }

    /// ymm0 ← the places of ymm0 in a list of whole numbers, or its length.
    pub(super) fn found(&mut self, lanes: &Lanes, of: u16) -> Done {
        self.a.vroundpd(ymm1, ymm0, 3)?;
        self.a.vcmppd(ymm1, ymm1, ymm0, 4)?;
        self.flag(lanes.now, ymm1)?;
        self.a.mov(r8, row(of, offset_of!(Row, len)))?;
        self.a.cmp(r8, SEARCHED as i32)?;
        self.a.ja(lanes.bail)?;
        let (mut next, mut done) = (self.a.create_label(), self.a.create_label());
        self.extent(row(of, offset_of!(Row, len)), ymm3)?;
        self.a.mov(r9, PLACE)?;
        self.a.mov(PLACE, r8)?;
        self.a.set_label(&mut next)?;
        self.a.sub(PLACE, 1)?;
        self.a.jb(done)?;
        self.load_whole(of)?;
        self.a.vxorpd(T2, T2, T2)?;
        self.a.vcvtsi2sd(T1, T2, rax)?;
        self.a.vbroadcastsd(ymm1, T1)?;
        self.a.vcmppd(ymm1, ymm1, ymm0, 0)?;
        self.a.vcvtsi2sd(T2, T2, PLACE)?;
        self.a.vbroadcastsd(ymm2, T2)?;
        self.a.vblendvpd(ymm3, ymm3, ymm2, ymm1)?;
        self.a.jmp(next)?;
        self.a.set_label(&mut done)?;
        self.a.mov(PLACE, r9)?;
        self.a.vmovapd(ymm0, ymm3)
    }

    /// Items will be set, or added to.
    pub(super) fn changes(
        &mut self,
        lanes: &mut Lanes,
        of: u16,
        places: Places,
        op: Option<Op>,
        y: Arg,
    ) -> Done {
        self.lanes_in(lanes, y, ymm0)?;
        if op.is_some() {
            // Sums of four items and one more are numbers where none of them is near the largest.
            let slot = self.kept(lanes)?;
            self.small(lanes.now)?;
            self.items(of, places)?;
            self.small(lanes.now)?;
            lanes.changes.push(Change::Item { of, places, op, y: slot, of_lanes: lanes.now });
            return Ok(());
        }
        let y = self.kept(lanes)?;
        lanes.changes.push(Change::Item { of, places, op, y, of_lanes: lanes.now });
        Ok(())
    }

    /// Flags numbers of ymm0 that are large, or none.
    pub(super) fn small(&mut self, now: Option<Slot>) -> Done {
        let (size, large) = (self.number(Number::Size), self.number(Number::Large));
        self.a.vbroadcastsd(ymm1, size)?;
        self.a.vandpd(ymm1, ymm0, ymm1)?;
        self.a.vbroadcastsd(ymm2, large)?;
        // Not below: also what is no number.
        self.a.vcmppd(ymm1, ymm1, ymm2, 21)?;
        self.flag(now, ymm1)
    }

    /// Flags turns of which one reads an item that another one sets.
    pub(super) fn apart(&mut self, lanes: &mut Lanes, pack: &Pack) -> Done {
        for of in &pack.met {
            let sets = lanes.changes.iter().find_map(|c| match c {
                Change::Item { of: own, places, .. } if own == of => Some(*places),
                _ => None,
            });
            let (Some(sets), reads) = (sets, lanes.read.iter().filter(|(own, _)| own == of)) else {
                continue;
            };
            for (_, read) in reads {
                match (read, sets) {
                    (Places::Turns, Places::Turns) => {}
                    (Places::At(a), Places::At(b)) => {
                        self.a.vmovupd(T0, xmmword_ptr(WORDS + offset(*a)))?;
                        self.a.vpcmpeqd(T0, T0, xmmword_ptr(WORDS + offset(b)))?;
                        self.a.vmovmskps(eax, T0)?;
                        self.a.cmp(eax, 15)?;
                        self.a.jne(lanes.bail)?;
                    }
                    _ => self.a.jmp(lanes.bail)?,
                }
            }
            if let Places::At(slot) = sets {
                // Each beside the next two: no two of four are the same.
                self.a.vmovupd(T0, xmmword_ptr(WORDS + offset(slot)))?;
                self.a.vpshufd(T1, T0, 0b00_11_10_01)?;
                self.a.vpcmpeqd(T1, T0, T1)?;
                self.a.vpshufd(T2, T0, 0b01_00_11_10)?;
                self.a.vpcmpeqd(T2, T0, T2)?;
                self.a.vorpd(T1, T1, T2)?;
                self.a.vmovmskps(eax, T1)?;
                self.a.test(eax, eax)?;
                self.a.jnz(lanes.bail)?;
            }
        }
        Ok(())
    }

    pub(super) fn set_items(
        &mut self,
        of: u16,
        places: Places,
        op: Option<Op>,
        y: Slot,
        of_lanes: Option<Slot>,
    ) -> Done {
        self.a.mov(rcx, row(of, offset_of!(Row, at)))?;
        if let (Places::Turns, None) = (places, op) {
            self.a.vmovupd(ymm0, full(y))?;
            let to = ymmword_ptr(rcx + TURN * 8);
            return match of_lanes {
                None => self.a.vmovupd(to, ymm0),
                Some(by) => {
                    self.a.vmovupd(ymm1, full(by))?;
                    self.a.vmaskmovpd(to, ymm1, ymm0)
                }
            };
        }
        for k in 0..LANES {
            let mut over = self.a.create_label();
            if let Some(by) = of_lanes {
                self.a.cmp(lane(by, k), 0)?;
                self.a.je(over)?;
            }
            match places {
                Places::Turns => self.a.lea(rax, qword_ptr(TURN + k as i32))?,
                Places::At(slot) => {
                    self.a.mov(eax, dword_ptr(WORDS + (offset(slot) + 4 * k as i32)))?;
                }
            }
            self.a.vmovsd(T0, lane(y, k))?;
            let to = qword_ptr(rcx + rax * 8);
            match op {
                None => {}
                Some(op) => {
                    self.a.vmovsd(T1, to)?;
                    match op {
                        Op::Add => self.a.vaddsd(T0, T1, T0)?,
                        _ => self.a.vsubsd(T0, T1, T0)?,
                    }
                }
            }
            self.a.vmovsd(to, T0)?;
            self.a.set_label(&mut over)?;
            self.a.zero_bytes()?;
        }
        Ok(())
    }

    /// The items that the turns put behind a list's own, turn by turn.
    pub(super) fn append(&mut self, lanes: &Lanes, of: u16) -> Done {
        self.a.mov(rcx, row(of, offset_of!(Row, at)))?;
        self.a.mov(rdx, row(of, offset_of!(Row, len)))?;
        let own: Vec<(Slot, Option<Slot>)> = lanes
            .changes
            .iter()
            .filter_map(|c| match c {
                Change::Append { of: own, y, of_lanes } if *own == of => Some((*y, *of_lanes)),
                _ => None,
            })
            .collect();
        if let [(y, None)] = own.as_slice() {
            self.a.vmovupd(ymm0, full(*y))?;
            self.a.vmovupd(ymmword_ptr(rcx + rdx * 8), ymm0)?;
            self.a.add(rdx, LANES as i32)?;
        } else {
            for k in 0..LANES {
                for (y, by) in &own {
                    // Behind the end there is room for all of them.
                    self.a.vmovsd(T0, lane(*y, k))?;
                    self.a.vmovsd(qword_ptr(rcx + rdx * 8), T0)?;
                    match by {
                        None => self.a.add(rdx, 1)?,
                        Some(by) => self.a.sub(rdx, lane(*by, k))?,
                    }
                }
            }
        }
        self.a.mov(row(of, offset_of!(Row, len)), rdx)
    }
}
