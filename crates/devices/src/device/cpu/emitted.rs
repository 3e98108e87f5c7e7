//! A program's parts over some elements of a domain: the machine's instructions, and emitted loops
//! with their inputs brought together.

use super::ahead::Ahead;
use super::chunk::{CHUNK, Env, Frame, inside};
use super::convert::{Source, bits};
use super::emit::{
    Act, Aside, Feed, Goal, HEAD, HOLDING, Line, Part, Partials, Parts, Segment, tests,
};
use super::program::{Do, one};
use super::strides::Strides;
use super::walk::Piece;
use aplomb_values::array::DType;
use std::iter::repeat_n;

/// Lines of an input of a chunk.
const CHUNK_LINES: usize = CHUNK * 8 / Line::BYTES;

impl Segment {
    /// Elements that a loop's rounds are taken of at once.
    pub fn at_once(&self) -> usize {
        self.code.lanes * self.code.tape.turns.beside()
    }
}

impl Frame {
    /// Elements start…start+n; false: suspect, and the machine must take them again.
    pub fn emitted(&mut self, env: &Env, parts: &Parts, start: usize, n: usize) -> bool {
        parts.parts.iter().all(|part| match part {
            Part::Machine(k) => match (&env.program.insts[*k].act, parts.rounds.get(k)) {
                (Do::Loop(rounds), own @ Some(_)) => self.rounds(env, rounds, own, n),
                _ => self.inst(env, &env.program.insts[*k], start, n, false),
            },
            Part::Segment(segment) => self.segment(env, segment, start, n),
        })
    }

    fn segment(&mut self, env: &Env, segment: &Segment, start: usize, n: usize) -> bool {
        let mut aside = std::mem::take(&mut self.aside);
        let fine = self.segment_with(env, segment, &mut aside, start, n);
        self.aside = aside;
        fine
    }

    fn segment_with(
        &mut self,
        env: &Env,
        segment: &Segment,
        aside: &mut Aside,
        start: usize,
        n: usize,
    ) -> bool {
        let straight = |strides: &&Strides| start % strides.row + n <= strides.row;
        let fed = match env.strides.filter(straight) {
            Some(strides) => {
                let place = (start / strides.row, start % strides.row);
                straight_feeds(env, (segment, strides), aside, place)
            }
            None => self.feeds(env, segment, aside, start, n),
        };
        if !fed {
            return false;
        }
        let code = &segment.code;
        for (goal, out) in segment.goals.iter().zip(&code.tape.outs) {
            let at: *mut u8 = match goal {
                Goal::Register { own, of } => {
                    let at = self.own(*own);
                    self.at[*of] = at;
                    at.cast()
                }
                Goal::Sink(sink) => {
                    env.sinks[*sink].at.wrapping_add(start * env.sinks[*sink].dtype.size())
                }
            };
            if out.stream && !(at as usize).is_multiple_of(64) {
                return false;
            }
            aside.words.push(at as u64);
        }
        through(segment, aside, n)
    }

    /// The head of a call's table, and where each input lies; false: some is not there.
    fn feeds(
        &mut self,
        env: &Env,
        segment: &Segment,
        aside: &mut Aside,
        start: usize,
        n: usize,
    ) -> bool {
        let tape = &segment.code.tape;
        let Some(consts) = self.consts(env, segment, aside, start, n) else { return false };
        aside.words.clear();
        aside.words.extend([0, consts as u64]);
        let lines = segment.feeds.len() * CHUNK_LINES;
        let whose = std::ptr::from_ref(segment) as usize;
        if aside.whose != whose {
            aside.whose = whose;
            aside.alike.clear();
            aside.alike.extend(segment.feeds.iter().map(|_| None));
        }
        if aside.lines.len() < lines && segment.feeds.iter().any(|f| !in_order(env, *f)) {
            aside.lines.extend(repeat_n(Line::EMPTY, lines - aside.lines.len()));
        }
        for (k, feed) in segment.feeds.iter().enumerate() {
            let at = match feed {
                _ if tape.ins[k].is_none() => std::ptr::dangling(),
                Feed::Register(reg) => self.at[*reg].cast(),
                Feed::Input(_) | Feed::Tests(_) => {
                    let own = k * CHUNK_LINES..(k + 1) * CHUNK_LINES;
                    let room = match aside.lines.get_mut(own) {
                        Some(lines) => lines.as_mut_ptr().cast(),
                        None => std::ptr::null_mut(),
                    };
                    match feed {
                        Feed::Input(input) => {
                            self.source(env, *input, (room, &mut aside.alike[k]), start, n)
                        }
                        Feed::Tests(inst) => self.holds(env, *inst, room, start, n),
                        Feed::Register(_) => std::ptr::null(),
                    }
                }
            };
            if at.is_null() {
                return false;
            }
            aside.words.push(at as u64);
        }
        true
    }

    /// A call's constants, the numbers of its run among them; None: these are more than one.
    fn consts(
        &mut self,
        env: &Env,
        segment: &Segment,
        aside: &mut Aside,
        start: usize,
        n: usize,
    ) -> Option<*const u64> {
        if segment.numbers.is_empty() {
            return Some(segment.consts.as_ptr());
        }
        aside.consts.clear();
        aside.consts.extend_from_slice(&segment.consts);
        for number in &segment.numbers {
            let (input, source) = (&env.program.inputs[number.input], env.source(number.input));
            let mut item = None;
            input.walk.pieces(start, n, &mut self.place, |_, piece| match piece {
                Piece::From { at, step: 0, len } if len == n => item = one(source, at),
                _ => {}
            });
            let lanes = segment.code.tape.lanes;
            aside.consts[number.slot] = number.pattern(source.dtype, item?, lanes);
        }
        Some(aside.consts.as_ptr())
    }

    /// Elements of a row from one on into the partial results of each fold of a segment, whose
    /// reads are straight; the first is a multiple of as many from the row's beginning, and each
    /// fold's results are so many further on. False: something is suspect.
    pub fn row_folded(
        &mut self,
        env: &Env,
        (segment, strides): (&Segment, &Strides),
        (row, first, n): (usize, usize, usize),
        sums: (&mut [Partials], usize),
    ) -> bool {
        straight_feeds(env, (segment, strides), &mut self.aside, (row, first))
            && folded(segment, &mut self.aside, n, sums)
    }

    /// Elements start…start+n of a row into the partial results of each fold of a segment; start is
    /// a multiple of as many from the row's beginning on. False: something is suspect.
    pub fn folded(
        &mut self,
        env: &Env,
        segment: &Segment,
        (start, n): (usize, usize),
        sums: &mut [Partials],
    ) -> bool {
        let mut aside = std::mem::take(&mut self.aside);
        let fed = self.feeds(env, segment, &mut aside, start, n);
        let fine = fed && folded(segment, &mut aside, n, (sums, 1));
        self.aside = aside;
        fine
    }

    /// Elements start…start+n folded onto as many results of each fold of a segment. False:
    /// something is suspect.
    pub fn laid(
        &mut self,
        env: &Env,
        segment: &Segment,
        (start, n): (usize, usize),
        to: impl Iterator<Item = *mut f64>,
    ) -> bool {
        let mut aside = std::mem::take(&mut self.aside);
        let fed = self.feeds(env, segment, &mut aside, start, n);
        aside.words.extend(to.map(|to| to as u64));
        let fine = fed && through(segment, &mut aside, n);
        self.aside = aside;
        fine
    }

    /// Some rounds of a loop on the first n elements of its registers, which hold as many more as
    /// are taken at once: all turns so many times, or once where an element may have its end.
    /// False: something is suspect.
    pub fn turned(
        &mut self,
        env: &Env,
        segment: &Segment,
        (n, times): (usize, u32),
        done: usize,
    ) -> bool {
        let (lanes, beside) = (segment.code.lanes, segment.code.tape.turns.beside());
        let whole = n.next_multiple_of(segment.at_once());
        let mut aside = std::mem::take(&mut self.aside);
        let fed = self.feeds(env, segment, &mut aside, 0, whole);
        aside.words[0] = whole as u64;
        // Each copy of the tape begins a register farther on.
        for at in HEAD..HEAD + segment.feeds.len() * (beside - 1) {
            aside.words.push(aside.words[at] + (lanes * size_of::<f64>()) as u64);
        }
        if segment.code.tape.turns.until.is_some() {
            aside.words.push(self.own(done) as u64);
        } else {
            aside.words.extend([u64::from(times), 0]);
        }
        // SAFETY: the table is as `code` wants it, and its own word may be written: every register,
        // of which some are written, holds `whole` elements, and is this thread's.
        let fine = fed
            && unsafe { (segment.code.pages.entry())(aside.words.as_mut_ptr().cast_const()) } == 0;
        self.aside = aside;
        fine
    }

    /// The number of elements start…start+n that are true, for each goal of the one segment; false:
    /// something is suspect.
    pub fn counted(
        &mut self,
        env: &Env,
        segment: &Segment,
        (start, n): (usize, usize),
        counts: &mut Vec<u64>,
    ) -> bool {
        counts.clear();
        counts.extend(segment.goals.iter().map(|_| 0));
        let whole = n / segment.code.lanes * segment.code.lanes;
        if whole > 0 {
            let mut aside = std::mem::take(&mut self.aside);
            let fed = self.feeds(env, segment, &mut aside, start, n);
            aside.words[0] = whole as u64;
            aside.words.extend(counts.iter_mut().map(|count| std::ptr::from_mut(count) as u64));
            // SAFETY: the table is as `code` wants it: every input holds `whole` elements of its
            // type, every output is a number, constants are the tape's.
            let fine = fed && unsafe { (segment.code.pages.entry())(aside.words.as_ptr()) } == 0;
            self.aside = aside;
            if !fine {
                return false;
            }
        }
        // What fills no round.
        let rest = n - whole;
        if rest > 0 && !self.pass(env, start + whole, rest, false) {
            return false;
        }
        for (count, goal) in counts.iter_mut().zip(&segment.goals).filter(|_| rest > 0) {
            let Goal::Register { of, .. } = goal else { return false };
            // SAFETY: the machine has just made so many.
            let values = unsafe { std::slice::from_raw_parts(self.at[*of], rest) };
            *count += values.iter().filter(|x| **x != 0.0).count() as u64;
        }
        true
    }

    /// The tests of an instruction as truths: those that all hold, or put together in `room`. Null:
    /// they are not there.
    fn holds(
        &mut self,
        env: &Env,
        inst: usize,
        room: *mut u8,
        start: usize,
        n: usize,
    ) -> *const u8 {
        let Some(walk) = tests(&env.program.insts[inst]) else { return std::ptr::null() };
        let (mut all, fine) = (false, n <= CHUNK && !room.is_null());
        if fine && walk.repeats_soon() {
            walk.repeats((start, n), |at, part| {
                for k in 0..part.places.len() {
                    // SAFETY: the room holds a chunk, in which the parts lie.
                    unsafe { *room.add(at + k) = u8::from(part.fill(k).is_none()) };
                }
            });
            return room;
        }
        walk.pieces(start, n, &mut self.place, |at, piece| {
            let holds = matches!(piece, Piece::From { .. });
            all |= holds && piece.len() == n && n <= HOLDING.len();
            if fine && !all {
                // SAFETY: the room holds a chunk, in which the pieces lie.
                unsafe { std::slice::from_raw_parts_mut(room.add(at), piece.len()) }
                    .fill(u8::from(holds));
            }
        });
        match all {
            true => HOLDING.as_ptr(),
            false if fine => room,
            false => std::ptr::null(),
        }
    }

    /// Elements of an input, one behind the other in their own type: in the source, or put together
    /// in `room`. Null: they are not there.
    fn source(
        &mut self,
        env: &Env,
        input: usize,
        (room, alike): (*mut u8, &mut Option<(i64, usize)>),
        start: usize,
        n: usize,
    ) -> *const u8 {
        let was = alike.take();
        let k = input;
        let (input, source) = (&env.program.inputs[input], env.source(input));
        let size = source.dtype.size();
        if let Some(from) = input.flat {
            let from = from + start as i64;
            if !inside(source, from, 1, n) {
                self.broken = true;
                return std::ptr::null();
            }
            // SAFETY: inside.
            return unsafe { source.at.offset(from as isize * size as isize) };
        }
        if n > CHUNK || room.is_null() {
            // Where there is no room to put it together it lies in one piece, or nowhere.
            return match input.walk.first(start, n, &mut self.place) {
                Piece::From { at, step: 1, len } if len == n && inside(source, at, 1, n) => {
                    // SAFETY: inside.
                    unsafe { source.at.offset(at as isize * size as isize) }
                }
                _ => std::ptr::null(),
            };
        }
        // SAFETY: parts of a range of n lie within n, and their places in the source.
        let picked = input.walk.picked(source, (start, n), |at, part| unsafe {
            part.items(source, room.add(at * size))
        });
        if let Some(fits) = picked {
            return if fits { room } else { std::ptr::null() };
        }
        if let Some(across) = input.walk.across().filter(|own| own.group(size).is_some()) {
            let piece = input.walk.first(start, n, &mut self.place);
            if let Piece::From { at: from, len, .. } = piece
                && len == n
            {
                self.ahead.resize_with(env.program.inputs.len(), Ahead::default);
                let (ahead, of) = (&mut self.ahead[k], (source, across));
                if let Some(at) = ahead.items(env.isa, of, (from, start, n)) {
                    return at;
                }
            }
        }
        let (mut direct, mut fine) = (None, true);
        input.walk.pieces(start, n, &mut self.place, |at, piece| match piece {
            Piece::From { at: from, step: 1, len } if len == n && inside(source, from, 1, n) => {
                // SAFETY: inside.
                direct = Some(unsafe { source.at.offset(from as isize * size as isize) });
            }
            Piece::From { at: from, step: 0, len } if len == n && inside(source, from, 0, n) => {
                let there = was.filter(|(at, times)| *at == from && *times >= n);
                if there.is_none() {
                    // SAFETY: inside; the room holds a chunk.
                    unsafe { copy(source, from, 0, n, room) }
                }
                *alike = there.or(Some((from, n)));
            }
            Piece::From { at: from, step, len } if inside(source, from, step, len) => {
                // SAFETY: inside; the room holds a chunk, in which the pieces lie.
                unsafe { copy(source, from, step, len, room.add(at * size)) }
            }
            // SAFETY: as above.
            Piece::Fill { with, len } => unsafe {
                fill(source.dtype, with, len, room.add(at * size))
            },
            _ => fine = false,
        });
        match direct {
            Some(at) => at,
            None if fine => room,
            None => std::ptr::null(),
        }
    }
}

/// The head of a call's table, and where each input lies, from an item of a row on; false: a number
/// of the row is not there.
fn straight_feeds(
    env: &Env,
    (segment, strides): (&Segment, &Strides),
    aside: &mut Aside,
    (row, first): (usize, usize),
) -> bool {
    let Aside { words, consts, .. } = aside;
    let mut own = segment.consts.as_ptr();
    if !segment.numbers.is_empty() {
        consts.clear();
        consts.extend_from_slice(&segment.consts);
        for (number, read) in segment.numbers.iter().zip(&strides.numbers) {
            let source = env.source(number.input);
            let Some(item) = one(source, read.place(row, first)) else { return false };
            consts[number.slot] = number.pattern(source.dtype, item, segment.code.tape.lanes);
        }
        own = consts.as_ptr();
    }
    words.clear();
    words.extend([0, own as u64]);
    words.extend(strides.feeds.iter().map(|feed| match feed {
        Some((input, read)) => read.at(env.source(*input), row, first) as u64,
        None => std::ptr::dangling::<u8>() as u64,
    }));
    true
}

/// An input that lies in its source in the domain's order, or a register.
fn in_order(env: &Env, feed: Feed) -> bool {
    match feed {
        Feed::Register(_) => true,
        Feed::Input(k) => env.program.inputs[k].flat.is_some(),
        Feed::Tests(_) => false,
    }
}

/// A run of n elements, whose inputs and outputs lie where the table says; false: something is
/// suspect.
fn through(segment: &Segment, aside: &mut Aside, n: usize) -> bool {
    let code = &segment.code;
    let whole = n / code.lanes * code.lanes;
    let mut suspect = 0;
    if whole > 0 {
        aside.words[0] = whole as u64;
        // SAFETY: the table is as `code` wants it: every input and output holds `whole` elements of
        // its type, outputs are this thread's, constants are the tape's.
        suspect = unsafe { (code.pages.entry())(aside.words.as_ptr()) };
    }
    if whole < n && suspect == 0 {
        suspect = match whole > 0 && apart(segment, aside, n) {
            true => last(segment, aside, n),
            false => rest(segment, aside, whole, n - whole),
        };
    }
    suspect == 0
}

/// True where n elements may be written twice: no output is read, none goes past the caches.
fn apart(segment: &Segment, aside: &Aside, n: usize) -> bool {
    let tape = &segment.code.tape;
    let (ins, outs) = aside.words[HEAD..].split_at(tape.ins.len());
    let span = |at: &u64, dtype: DType| *at..at.saturating_add((n * dtype.size()) as u64);
    let read = || ins.iter().zip(&tape.ins).filter_map(|(at, dtype)| Some(span(at, (*dtype)?)));
    segment.code.again
        && outs.iter().zip(&tape.outs).all(|(at, out)| {
            let own = span(at, out.dtype);
            read().all(|other| other.end <= own.start || own.end <= other.start)
        })
}

/// The last elements of n as one round, of which the first were made before. What was suspect.
fn last(segment: &Segment, aside: &mut Aside, n: usize) -> u64 {
    let (tape, lanes) = (&segment.code.tape, segment.code.lanes);
    for (at, dtype) in aside.words[HEAD..].iter_mut().zip(tape.types()) {
        *at += dtype.map_or(0, |dtype| ((n - lanes) * dtype.size()) as u64);
    }
    aside.words[0] = lanes as u64;
    // SAFETY: as in `through`, for elements n-lanes…n.
    unsafe { (segment.code.pages.entry())(aside.words.as_ptr()) }
}

/// An incomplete round, in lines of its own, filled up with 1. What was suspect among the elements
/// that are meant.
fn rest(segment: &Segment, aside: &mut Aside, from: usize, n: usize) -> u64 {
    let tape = &segment.code.tape;
    let all = tape.ins.len() + tape.outs.len();
    let laid = tape.acts.iter().any(|act| matches!(act, Act::Onto(..)));
    if aside.rest.len() < all {
        aside.rest.extend(repeat_n(Line::EMPTY, all - aside.rest.len()));
    }
    let mut words = std::mem::take(&mut aside.rest_words);
    words.clear();
    words.extend([segment.code.lanes as u64, aside.words[1]]);
    for (k, dtype) in tape.types().enumerate() {
        let line = aside.rest[k].0.as_mut_ptr();
        words.push(line as u64);
        if let Some(dtype) = dtype {
            let size = dtype.size();
            // SAFETY: a round of what is read or written fits a line, and `n` elements are less;
            // inputs hold them from `from` on.
            unsafe {
                fill(dtype, 1.0, segment.code.lanes, line);
                // An output may be read as well.
                if k < tape.ins.len() || laid {
                    let at = (aside.words[HEAD + k] as *const u8).add(from * size);
                    std::ptr::copy_nonoverlapping(at, line, n * size);
                }
            }
        }
    }
    // SAFETY: as in `segment_with`, for one round.
    let suspect = unsafe { (segment.code.pages.entry())(words.as_ptr()) };
    for (k, out) in tape.outs.iter().enumerate() {
        let (k, size) = (tape.ins.len() + k, out.dtype.size());
        // SAFETY: outputs hold `n` elements from `from` on, which are this thread's.
        unsafe {
            let at = (aside.words[HEAD + k] as *mut u8).add(from * size);
            std::ptr::copy_nonoverlapping(aside.rest[k].0.as_ptr(), at, n * size);
        }
    }
    aside.rest_words = words;
    suspect & ((1 << n) - 1)
}

/// A run of n elements, whose inputs lie where the table says, into partial results, those of each
/// fold so many further on; false: something is suspect.
fn folded(
    segment: &Segment,
    aside: &mut Aside,
    n: usize,
    (sums, apart): (&mut [Partials], usize),
) -> bool {
    let (tape, lanes) = (&segment.code.tape, segment.code.lanes);
    let whole = n / lanes * lanes;
    let mut suspect = 0;
    if whole > 0 {
        aside.words[0] = whole as u64;
        let own = sums.iter_mut().step_by(apart);
        aside.words.extend(own.map(|sums| std::ptr::from_mut(sums) as u64));
        // SAFETY: the table is as `code` wants it: every input holds `whole` elements of its type,
        // every output is the partial results of a fold, constants are the tape's.
        suspect = unsafe { (segment.code.pages.entry())(aside.words.as_ptr()) };
    }
    if whole == n || suspect != 0 {
        return suspect == 0;
    }
    // What fills no register is folded into a copy, of which its lanes are taken.
    let (rest, first) = (n - whole, whole % tape.partials);
    if aside.rest.len() < tape.ins.len() {
        aside.rest.extend(repeat_n(Line::EMPTY, tape.ins.len() - aside.rest.len()));
    }
    let mut words = std::mem::take(&mut aside.rest_words);
    words.clear();
    words.extend([lanes as u64, aside.words[1]]);
    for (k, dtype) in tape.ins.iter().enumerate() {
        let line = aside.rest[k].0.as_mut_ptr();
        words.push(line as u64);
        if let Some(dtype) = *dtype {
            // SAFETY: a register's elements fit a line, and the rest are fewer; the input holds
            // them from `whole` on.
            unsafe {
                fill(dtype, 1.0, lanes, line);
                let at = (aside.words[HEAD + k] as *const u8).add(whole * dtype.size());
                std::ptr::copy_nonoverlapping(at, line, rest * dtype.size());
            }
        }
    }
    let mut turned = std::mem::take(&mut aside.turned);
    turned.clear();
    turned.extend(sums.iter().step_by(apart));
    let size = |k: usize| tape.outs[k].dtype.size();
    for (k, own) in turned.iter_mut().enumerate() {
        // SAFETY: a register's partials from the first on lie among them.
        unsafe {
            let from = std::ptr::from_ref(&sums[k * apart]).cast::<u8>().add(first * size(k));
            std::ptr::copy_nonoverlapping(from, std::ptr::from_mut(own).cast(), lanes * size(k));
        }
        words.push(std::ptr::from_mut(own) as u64);
    }
    // SAFETY: as above, for one register.
    suspect = unsafe { (segment.code.pages.entry())(words.as_ptr()) };
    for (k, own) in turned.iter().enumerate() {
        // SAFETY: as above.
        unsafe {
            let to = std::ptr::from_mut(&mut sums[k * apart]).cast::<u8>().add(first * size(k));
            std::ptr::copy_nonoverlapping(std::ptr::from_ref(own).cast(), to, rest * size(k));
        }
    }
    (aside.turned, aside.rest_words) = (turned, words);
    suspect & ((1 << rest) - 1) == 0
}

/// An unsigned type of so many bytes.
macro_rules! by_size {
    ($size:expr, $t:ident => $body:expr) => {
        match $size {
            1 => {
                type $t = u8;
                $body
            }
            2 => {
                type $t = u16;
                $body
            }
            4 => {
                type $t = u32;
                $body
            }
            _ => {
                type $t = u64;
                $body
            }
        }
    };
}

/// Safety: the elements are inside, `to` holds n.
unsafe fn copy(source: Source, at: i64, step: i64, n: usize, to: *mut u8) {
    by_size!(source.dtype.size(), T => {
        // SAFETY: the caller's.
        unsafe {
            let from = source.at.cast::<T>().offset(at as isize);
            let to = to.cast::<T>();
            match step {
                0 => std::slice::from_raw_parts_mut(to, n).fill(*from),
                1 => std::ptr::copy_nonoverlapping(from, to, n),
                _ => {
                    for k in 0..n {
                        *to.add(k) = *from.offset(k as isize * step as isize);
                    }
                }
            }
        }
    })
}

/// The same number n times. Safety: `to` holds n items of the type.
unsafe fn fill(dtype: DType, with: f64, n: usize, to: *mut u8) {
    let bits = bits(dtype, with);
    by_size!(dtype.size(), T => {
        // SAFETY: the caller's.
        unsafe { std::slice::from_raw_parts_mut(to.cast::<T>(), n) }.fill(bits as T)
    })
}
