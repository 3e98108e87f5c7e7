//! Tests of a loop's states, once behind all of its turns and not in each.
//!
//! A state that is no finite number is suspect, whenever that happens. Where a round makes its next
//! value from it by sums, products, quotients and roots alone, there is no way back: ∞ and NaN give
//! ∞ or NaN in every one of these. What the last turn leaves is finite, then, only if all before it
//! was, and one look at it is as good as a look in each turn. It is another matter where elements
//! have an end of their own, behind which they go on as they like.

use super::tape::{Act, Bin, Expr, Id, Tape};

impl Tape {
    /// The acts of a turn, and those that come once behind all of them.
    pub fn turns_apart(&self) -> (&[Act], &[Act]) {
        let end = self.acts.iter().position(|act| *act == Act::Turn);
        self.acts.split_at(end.map_or(self.acts.len(), |end| end + 1))
    }

    /// The same tape, with tests of states behind its turns where that finds the same.
    pub fn later(&self) -> Tape {
        let mut tape = self.clone();
        if self.turns.count == 0 || self.turns.until.is_some() {
            return tape;
        }
        let tests = self.nodes.iter().enumerate().filter_map(|(mask, node)| match *node {
            Expr::NotFinite(kind, of) => Some((mask as Id, kind, of)),
            _ => None,
        });
        for (mask, kind, of) in tests.filter(|(mask, ..)| self.tests_alone(*mask)) {
            let next = self.turns.next.iter();
            let mut those = next.filter(|(state, next)| *next == of && self.stays_odd(*state, of));
            if let Some((state, _)) = those.next() {
                let own =
                    |act: &Act| matches!(act, Act::Make(id) | Act::Suspect(id) if *id == mask);
                tape.acts.retain(|act| !own(act));
                tape.acts.extend([Act::Make(mask), Act::Suspect(mask)]);
                tape.nodes[mask as usize] = Expr::NotFinite(kind, *state);
            }
        }
        tape
    }

    /// True of a mask that is a test, and no more.
    fn tests_alone(&self, mask: Id) -> bool {
        let reads = |act: &Act| match *act {
            Act::Make(id) => self.nodes[id as usize].operands().any(|a| a == mask),
            Act::Suspect(_) => false,
            act => act.reads(&self.turns).any(|a| a == mask),
        };
        self.acts.contains(&Act::Suspect(mask)) && !self.acts.iter().any(reads)
    }

    /// True of a value that is ∞ or NaN wherever a state is.
    fn stays_odd(&self, state: Id, value: Id) -> bool {
        // Operands stand before what they are made into.
        let mut odd: Vec<bool> = Vec::new();
        for (id, node) in self.nodes.iter().enumerate() {
            let is = |a: Id| odd[a as usize];
            let stays = match *node {
                Expr::Bin(Bin::Add | Bin::Sub | Bin::Mul, _, a, b) => is(a) || is(b),
                Expr::Bin(Bin::Div, _, a, _) | Expr::Sqrt(_, a) => is(a),
                Expr::Fma(_, a, b, c) => is(a) || is(b) || is(c),
                _ => id == state as usize,
            };
            odd.push(stays);
        }
        odd[value as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::Kind;
    use super::super::tape::Turns;
    use super::*;
    use aplomb_values::array::DType;

    /// A round `next` of a state, which is node 0, tested in each turn; its acts behind the turn.
    fn behind(next: Expr) -> usize {
        let kind = Kind::F64;
        let nodes = vec![Expr::In(0, kind), Expr::In(1, kind), next, Expr::NotFinite(kind, 2)];
        let acts = [Act::Make(1), Act::Make(2), Act::Make(3), Act::Suspect(3), Act::Turn].to_vec();
        let turns = Turns { count: 8, next: vec![(0, 2)], ..Turns::default() };
        let ins = vec![Some(DType::F64); 2];
        let tape = Tape { nodes, acts, ins, turns, ..Tape::default() }.later();
        let (turn, behind) = tape.turns_apart();
        assert_eq!(turn.len() + behind.len(), 5);
        behind.len()
    }

    #[test]
    fn a_state_is_tested_once_where_an_odd_one_stays_odd() {
        let kind = Kind::F64;
        for bin in [Bin::Add, Bin::Sub, Bin::Mul, Bin::Div] {
            assert_eq!(behind(Expr::Bin(bin, kind, 0, 1)), 2, "{bin:?}");
        }
        // 1÷∞ is 0, and 1⌊∞ is 1.
        for (bin, a, b) in [(Bin::Div, 1, 0), (Bin::Min, 0, 1), (Bin::Max, 1, 0)] {
            assert_eq!(behind(Expr::Bin(bin, kind, a, b)), 0, "{bin:?}");
        }
    }
}
