//! Loops inside of a launch.
//!
//! | a round | strategy |
//! |---|---|
//! | is one emitted loop | several rounds of some registers' elements at once, states in registers; all of them, where they end by their count |
//! | anything else, and the last few | pieces of a chunk that stay in L1, instruction by instruction |
//! | is suspect somewhere | with care, one element after another by the scalar meaning |
//!
//! Elements whose end has come leave their piece, and the others close up.

use super::Fault;
use super::chunk::{CHUNK, Env, Frame, number};
use super::emit::{AT_ONCE, Round};
use super::program::{Inst, Rounds, Turn};
use aplomb_values::prim::scalar::Fail;

/// Bytes of a loop's registers, which stay in L1.
const NEAR: usize = 32 << 10;

/// Rounds of a loop from one look at the interrupt to the next, some more where several are taken
/// at once.
const LOOK: u32 = 256;
/// The same of rounds that stay in registers, all of a chunk in some milliseconds.
const STAY: u32 = 2048;

/// Elements of a loop's registers at a time, of which there are so many.
fn piece(regs: usize) -> usize {
    let fits = NEAR / (regs.max(1) * size_of::<f64>());
    // The power of two at or below.
    (1 << fits.max(1).ilog2()).clamp(AT_ONCE, CHUNK)
}

impl Frame {
    /// Rounds on pieces that stay in L1. False: suspect. Elements whose end has come leave the
    /// piece.
    /// `emitted`: a round as an emitted loop.
    pub(super) fn rounds(
        &mut self,
        env: &Env,
        rounds: &Rounds,
        emitted: Option<&Round>,
        n: usize,
    ) -> bool {
        let mut inner = self.inner.take().unwrap_or_default();
        // Behind the program's registers a next value for each state, and which elements are done.
        let (own, states) = (rounds.program.regs, rounds.body.next.len());
        let piece = piece(own + states + 1);
        inner.reset_for(own + states + 1, piece);
        let inside = Env {
            program: &rounds.program,
            steps: &rounds.steps,
            sinks: &[],
            parts: emitted.map(|round| &round.one),
            ..*env
        };
        let numbers: Vec<f64> = rounds.given.iter().copied().map(number).collect();
        let from = self.operands(rounds.given.iter().copied(), &numbers);
        let out: Vec<(usize, *mut f64)> =
            rounds.wanted.iter().map(|(state, reg)| (*state, self.own(*reg))).collect();
        let kept = &rounds.program.kept;
        let until = kept.get(states);
        let done = own + states;
        let mut places = [0; CHUNK];
        let mut fine = true;
        for at in (0..n).step_by(piece) {
            let mut m = piece.min(n - at);
            places.iter_mut().take(m).enumerate().for_each(|(j, place)| *place = at + j);
            for (to, (source, each)) in from.iter().enumerate() {
                let to = inner.own(to);
                for j in 0..m {
                    // SAFETY: a register inside holds a piece; operands hold n (a number its one).
                    unsafe { *to.add(j) = *source.add((at + j) * each) };
                }
            }
            let many = emitted.and_then(|round| round.many.as_ref());
            let mut round = 0;
            while round < rounds.body.count {
                let before = round;
                let turns = many.map_or(1, |many| many.code.tape.turns.count as u32);
                let many = many.filter(|_| round + turns <= rounds.body.count);
                let stays = many.is_some_and(|many| many.code.tape.repeats().is_some());
                let left = rounds.body.count - round;
                let times = if stays { left.min(STAY) / turns } else { 1 };
                round += if many.is_some() { turns * times } else { 1 };
                // The run ends as interrupted: nobody looks at its values.
                if before / LOOK != round / LOOK && env.stop.is_set() {
                    self.inner = Some(inner);
                    return true;
                }
                if let Some(many) = many {
                    inner.fill_up(rounds.given.len(), m, many.at_once());
                    if !inner.turned(&inside, many, (m, times), done) {
                        fine = false;
                        break;
                    }
                    if until.is_some() && inner.any(done, m) {
                        m = inner.leave(rounds, (done, &out), &mut places, m);
                        if m == 0 {
                            break;
                        }
                    }
                    continue;
                }
                let well = match emitted {
                    Some(round) => inner.emitted(&inside, &round.one, 0, m),
                    None => inner.pass(&inside, 0, m, false),
                };
                if !well {
                    fine = false;
                    break;
                }
                let some = until.is_some_and(|until| inner.any(*until, m));
                if let (true, Some(until)) = (some, until) {
                    // It may be a state, or be computed where the next one is.
                    inner.copy(*until, done, m);
                }
                rounds.turns.iter().for_each(|turn| inner.turn(*turn, m));
                if !some {
                    continue;
                }
                m = inner.leave(rounds, (done, &out), &mut places, m);
                if m == 0 {
                    break;
                }
            }
            match until {
                // An end that did not come.
                Some(_) => fine &= m == 0,
                // SAFETY: as above, and the result holds n.
                None if fine => unsafe {
                    for (state, out) in &out {
                        std::ptr::copy_nonoverlapping(inner.at[*state], out.add(at), m);
                    }
                },
                None => {}
            }
            if !fine {
                break;
            }
        }
        self.inner = Some(inner);
        fine
    }

    /// Copies m numbers of one register to another, which is its own from now on.
    fn copy(&mut self, from: usize, to: usize, m: usize) {
        let (from, to) = (self.at[from], self.own(to));
        // SAFETY: a register holds m numbers; two registers do not overlap, and both may be one.
        unsafe { std::ptr::copy(from, to, m) };
    }

    /// The last element of the first registers again and again, up to a multiple of so many.
    fn fill_up(&mut self, regs: usize, m: usize, many: usize) {
        debug_assert!(AT_ONCE.is_multiple_of(many), "a register has no room for {many} at once");
        for reg in 0..regs {
            let own = self.at[reg].cast_mut();
            // SAFETY: it is a register of this frame, which holds whole lines.
            (m..m.next_multiple_of(many)).for_each(|j| unsafe { *own.add(j) = *own.add(m - 1) });
        }
    }

    fn turn(&mut self, turn: Turn, m: usize) {
        match turn {
            Turn::Copy { from, to } => self.copy(from, to, m),
            Turn::Exchange { from, to } => {
                debug_assert_eq!(self.at[from], self.registers.at(from).cast_const());
                self.registers.order.swap(from, to);
                self.at.swap(from, to);
            }
        }
    }

    /// Some of the first m numbers of a register is not 0.
    fn any(&self, reg: usize, m: usize) -> bool {
        // SAFETY: a register holds m numbers.
        let all = unsafe { std::slice::from_raw_parts(self.at[reg], m) };
        // Without a way out, so that it is a few vector instructions.
        all.iter().fold(false, |some, x| some | (*x != 0.0))
    }

    /// In a loop: elements of the piece that are done give their result to `out`, and the others
    /// close up. How many are left.
    fn leave(
        &mut self,
        rounds: &Rounds,
        (done, out): (usize, &[(usize, *mut f64)]),
        places: &mut [usize; CHUNK],
        m: usize,
    ) -> usize {
        let done = self.at[done];
        // SAFETY: registers hold m numbers; a place is one of the chunk.
        unsafe {
            // Which elements go on, in order; before the first that is done none moves.
            let mut stay = [0; CHUNK];
            let (mut left, mut first) = (0, m);
            for j in 0..m {
                if *done.add(j) != 0.0 {
                    for (state, out) in out {
                        *out.add(places[j]) = *self.at[*state].add(j);
                    }
                    first = first.min(j);
                } else {
                    (stay[left], places[left]) = (j, places[j]);
                    left += 1;
                }
            }
            for reg in 0..rounds.given.len() {
                let own = self.own(reg);
                for (to, from) in stay.iter().enumerate().take(left).skip(first) {
                    *own.add(to) = *own.add(*from);
                }
            }
            left
        }
    }

    pub(super) fn rounds_with_care(
        &mut self,
        env: &Env,
        inst: &Inst,
        rounds: &Rounds,
        start: usize,
        n: usize,
    ) -> bool {
        self.want(inst.guard.as_ref(), start, n);
        let numbers: Vec<f64> = rounds.args.iter().copied().map(number).collect();
        let from = self.operands(rounds.args.iter().copied(), &numbers);
        let out: Vec<(usize, *mut f64)> =
            rounds.wanted.iter().map(|(state, reg)| (*state, self.own(*reg))).collect();
        let step = &env.steps[inst.step];
        let mut args = vec![0.0; from.len()];
        for k in 0..n {
            if env.stop.is_set() {
                break;
            }
            for (arg, (source, each)) in args.iter_mut().zip(&from) {
                // SAFETY: operands hold n (a number its one), and are read before the element is
                // written.
                *arg = unsafe { *source.add(k * each) };
            }
            let (wanted, fault) = (self.wanted[k], &mut self.fault);
            let mut unending = false;
            let states = rounds.body.run(&args, &mut |fail| {
                if wanted {
                    Fault {
                        site: step.from.site,
                        index: (start + k) as u64,
                        fail,
                        node: step.from.node,
                    }
                    .keep_least(fault);
                }
                unending |= wanted && fail == Fail::Unending;
            });
            // SAFETY: k < n, which a register holds.
            out.iter().for_each(|(state, out)| unsafe { *out.add(k) = states[*state] });
            // The host does all of it again.
            if unending {
                // SAFETY: as above.
                out.iter().for_each(|(_, out)| {
                    unsafe { std::slice::from_raw_parts_mut(out.add(k), n - k) }.fill(0.0)
                });
                break;
            }
        }
        true
    }
}
