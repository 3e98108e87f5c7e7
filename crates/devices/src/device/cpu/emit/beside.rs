//! Rounds of several registers' elements side by side.
//!
//! A round waits for the one before it. Elements of one register alone would leave the machine idle
//! meanwhile; those of several take turns, which wait for nothing of each other. A tape of a short
//! round is therefore written down several times, each copy with inputs of its own.

use super::code::holds;
use super::tape::{Act, Expr, Id, Tape};
use std::ops::RangeInclusive;

/// Copies beside each other, at most: the machine adds and multiplies in four steps, two at once.
const COPIES: usize = 8;
/// Elements that are taken at once, at most: there are 1, 2, 4 or 8 copies, so that any piece of a
/// chunk, which is a power of two and no shorter, is so many again and again, and no register is
/// written behind its end.
pub const AT_ONCE: usize = 64;
/// Acts of all rounds that one call takes in registers.
const ACTS: usize = 256;
/// Rounds of such a call.
const ROUNDS: RangeInclusive<usize> = 8..=32;

impl Tape {
    /// A round of a loop that has no end but its count, as often beside itself as there is room,
    /// and with more rounds a call the shorter it is. Others are as they were.
    pub fn beside(&self) -> Tape {
        if self.turns.count == 0 || self.turns.until.is_some() {
            return self.clone();
        }
        let makes = |act: &&Act| match act {
            Act::Make(id) => !matches!(self.nodes[*id as usize], Expr::In(..) | Expr::Const(..)),
            _ => true,
        };
        let acts = self.turns_apart().0.iter().filter(makes).count();
        let most = (ACTS / 8 / acts).min(COPIES).min(AT_ONCE / self.lanes.count);
        let mut tape = self.clone();
        tape.turns.copies = 1;
        let mut copies = most.checked_ilog2().map_or(1, |k| 1 << k);
        while copies > 1 && tape.turns.copies == 1 {
            let own = self.copied(copies);
            if holds(&own) {
                tape = own;
                tape.turns.copies = copies;
            }
            copies /= 2;
        }
        let all = acts * tape.turns.copies;
        tape.turns.count = (ACTS / all).clamp(*ROUNDS.start(), *ROUNDS.end());
        tape
    }

    /// Nodes and acts so many times; constants, which are alike in all, once.
    fn copied(&self, copies: usize) -> Tape {
        let ins = self.ins.len() as u32;
        let mut nodes: Vec<Expr> = Vec::new();
        let mut places: Vec<Vec<Id>> = (0..copies).map(|_| Vec::new()).collect();
        for node in &self.nodes {
            for (copy, own) in places.iter_mut().enumerate() {
                let alike = copy > 0 && matches!(node, Expr::Const(..));
                if !alike {
                    nodes.push(match *node {
                        Expr::In(slot, kind) => Expr::In(copy as u32 * ins + slot, kind),
                        node => node.of(|a| own[a as usize]),
                    });
                }
                own.push(nodes.len() as Id - 1);
            }
        }
        let place = |id: Id, copy: usize| places[copy][id as usize];
        let mut acts = Vec::new();
        for act in &self.acts {
            match *act {
                Act::Make(id) => acts.extend((0..copies).map(|k| Act::Make(place(id, k)))),
                Act::Suspect(id) => acts.extend((0..copies).map(|k| Act::Suspect(place(id, k)))),
                act => acts.push(act),
            }
        }
        let mut turns = self.turns.clone();
        let of = |k: usize| turns.next.iter().map(move |(s, n)| (place(*s, k), place(*n, k)));
        turns.next = (0..copies).flat_map(of).collect();
        let ins = (0..copies).flat_map(|_| self.ins.iter().copied()).collect();
        Tape { nodes, acts, ins, turns, outs: self.outs.clone(), ..*self }
    }
}
