//! Adjacency: by which order of a launch's loops threads beside each other meet elements beside
//! each other.
//!
//! Rows: BAS-06, BAS-10 … BAS-14 (Baskaran and others, 2008, Algorithm 1). A read is its *access
//! matrix*, from the loops to the array's axes. `s`, its *direction*, is the step through the loops
//! that goes to the next element; a read without reuse has one at most. The loops are run in other
//! coordinates: one of time, θ, where a fold or scan carries a dependence, which has to grow along
//! its axis (θ·d > 0), and else of space, of which the first, π, counts threads. The read's
//! neighbours are met at one time if θ·s is 0, and by neighbouring threads if π·s is 1; then all
//! other coordinates of space have to be the same (·s is 0), which the paper leaves out and without
//! which `i+j` would pass as the thread of a transpose. Coefficients are -1, 0 and 1.
//!
//! The paper tries every set of reads. One set is enough for each direction: all coordinates but π
//! are independent and 0 along the direction of every read of a set, so these directions lie on one
//! line, and as π is 1 along each they are equal.

use super::{BufId, Kind, Launch, Plan, What};
use aplomb_values::dag::ix::{Ix, axis_name};
use std::collections::BTreeMap;

/// More loops are not looked at.
const LOOPS: usize = 6;

/// The loops of a launch, and what it reads and writes where they say.
#[derive(Debug)]
pub struct Nest {
    /// The axes that have more than one place.
    loops: Vec<usize>,
    /// The loop that carries a dependence.
    ordered: Option<usize>,
    refs: Vec<Ref>,
}

/// A read or a store of a nest.
#[derive(Debug)]
struct Ref {
    buf: BufId,
    /// A row for each axis of the array, or for each part of a linear place; a column for each
    /// loop.
    rows: Vec<Vec<i64>>,
    /// Bytes that all points ask for.
    bytes: u64,
}

/// One order of the loops. Vectors have a coefficient for each axis of the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The coordinate of time; None: the loops are independent.
    pub time: Option<Vec<i64>>,
    /// The coordinate that counts threads; None: there is no loop for it.
    pub space: Option<Vec<i64>>,
    /// Whatever else could count them, `space` included.
    pub among: Vec<Vec<i64>>,
    /// The other coordinates of space.
    pub others: Vec<Vec<i64>>,
    /// The arrays whose neighbours are met by neighbouring threads.
    pub global: Vec<BufId>,
    /// The arrays without reuse for which that is not so: a copy in shared memory would serve them.
    pub staged: Vec<BufId>,
    /// Bytes that `global` are asked for.
    pub bytes: u64,
}

/// The rows of an access matrix, one for each axis of the array: the coefficients of the loops, and
/// a constant. None: some index is no affine map.
pub fn matrix(ix: &[Ix], loops: usize) -> Option<Vec<Vec<i64>>> {
    let row = |ix: &Ix| (0..loops).map(|k| ix.coefficient(k)).chain([ix.c]).collect();
    ix.iter().all(Ix::is_affine).then(|| ix.iter().map(row).collect())
}

/// A coordinate in the names of the loops: `i-j`.
pub fn named(coordinate: &[i64]) -> String {
    let mut out = String::new();
    for (k, by) in coordinate.iter().enumerate().filter(|(_, by)| **by != 0) {
        let sign = if *by < 0 { "-" } else { "+" };
        out += if out.is_empty() && *by > 0 { "" } else { sign };
        out += &axis_name(k);
    }
    out
}

impl Plan {
    /// None: its points are no loops of which all is known.
    pub fn nest(&self, l: &Launch) -> Option<Nest> {
        let kinds = [Kind::Map, Kind::Reduce, Kind::Scan];
        let loops: Vec<usize> = (0..l.domain.len()).filter(|k| l.domain[*k] > 1).collect();
        if !kinds.contains(&l.kind) || loops.is_empty() || loops.len() > LOOPS {
            return None;
        }
        let points = super::product(&l.domain);
        let mut refs: Vec<Ref> = Vec::new();
        let mut add = |buf: BufId, ix: &[Ix]| {
            let Some(rows) = rows(ix, &l.domain, &loops) else { return };
            let bytes = points.saturating_mul(self.buffer(buf).dtype.size() as u64);
            if !refs.iter().any(|r| r.buf == buf && r.rows == rows) {
                refs.push(Ref { buf, rows, bytes });
            }
        };
        for (k, load) in l.loads.iter().enumerate() {
            let own = l.body.iter().any(|s| s.what == What::Load(k as u32));
            if own && load.read.tests.is_empty() {
                add(load.buf, &load.read.ix);
            }
        }
        let identity: Vec<Ix> = (0..l.domain.len()).map(Ix::axis).collect();
        l.stores.iter().for_each(|s| add(s.buf, &identity));
        if l.kind == Kind::Scan {
            l.after_stores.iter().for_each(|s| add(s.buf, &identity));
        }
        let ordered = l.axis.and_then(|axis| loops.iter().position(|k| *k == axis));
        Some(Nest { loops, ordered, refs })
    }
}

/// An access matrix by loops. A linear place, `60·i + j` for a j below 60, is the rows that the
/// matrix has which was laid out in a row. None: some index is no affine map.
pub fn rows(ix: &[Ix], domain: &[usize], loops: &[usize]) -> Option<Vec<Vec<i64>>> {
    let all = matrix(ix, domain.len())?;
    let mut out = Vec::new();
    for row in all {
        let own: Vec<i64> = loops.iter().map(|k| row[*k]).collect();
        let mut axes: Vec<usize> = (0..own.len()).filter(|k| own[*k] != 0).collect();
        axes.sort_by_key(|k| own[*k].unsigned_abs());
        let mut below = 0u64;
        let parts = axes.iter().all(|&k| {
            let apart = own[k].unsigned_abs() > below;
            let steps = domain[loops[k]].saturating_sub(1) as u64;
            below = below.saturating_add(steps.saturating_mul(own[k].unsigned_abs()));
            apart
        });
        if !parts || axes.len() < 2 {
            out.push(own);
            continue;
        }
        // The part that moves least is the last axis of the array.
        for &k in axes.iter().rev() {
            let by = if k == axes[0] { own[k] } else { 1 };
            out.push((0..own.len()).map(|j| if j == k { by } else { 0 }).collect());
        }
    }
    Some(out)
}

/// Elimination in whole numbers: for each of the first columns the row in which it alone of them is
/// left, so far as rows last.
pub fn pivots(rows: &mut [Vec<i64>], columns: usize) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = Vec::new();
    for k in 0..columns {
        let at = (0..rows.len()).find(|r| rows[*r][k] != 0 && !found.contains(&Some(*r)));
        if let Some(at) = at {
            let pivot = rows[at].clone();
            for (_, row) in rows.iter_mut().enumerate().filter(|(r, row)| *r != at && row[k] != 0) {
                let (a, b) = (pivot[k], row[k]);
                row.iter_mut().zip(&pivot).for_each(|(x, y)| {
                    *x = x.saturating_mul(a).saturating_sub(y.saturating_mul(b))
                });
            }
        }
        found.push(at);
    }
    found
}

/// Whole numbers x for which each row times x is its last number; None: there are none, or several.
fn solved(mut rows: Vec<Vec<i64>>, unknowns: usize) -> Option<Vec<i64>> {
    let found = pivots(&mut rows, unknowns);
    let holds = (0..rows.len()).all(|r| found.contains(&Some(r)) || rows[r][unknowns] == 0);
    let one = |(k, r): (usize, &Option<usize>)| {
        let row = &rows[(*r)?];
        (row[unknowns] % row[k] == 0).then(|| row[unknowns] / row[k])
    };
    found.iter().enumerate().map(one).collect::<Option<Vec<i64>>>().filter(|_| holds)
}

/// The rank of vectors.
fn rank(mut rows: Vec<Vec<i64>>) -> usize {
    let width = rows.first().map_or(0, Vec::len);
    pivots(&mut rows, width).iter().flatten().count()
}

fn dot(x: &[i64], y: &[i64]) -> i64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

impl Ref {
    /// Whether each element is met at one point alone.
    fn is_without_reuse(&self, loops: usize) -> bool {
        rank(self.rows.clone()) == loops
    }

    /// The step through the loops to the next element; None: there is none of whole numbers.
    fn direction(&self, loops: usize) -> Option<Vec<i64>> {
        let last = self.rows.len().checked_sub(1)?;
        let mut rows = self.rows.clone();
        rows.iter_mut().enumerate().for_each(|(k, row)| row.push(i64::from(k == last)));
        solved(rows, loops)
    }
}

/// The way in which elements beside each other are met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Adjacent {
    /// At one time: no thread meets one after the other.
    pub time: bool,
    /// By threads beside each other.
    pub space: bool,
}

impl Plan {
    /// The way in which one of a body's reads meets neighbours of its array, where threads are
    /// counted along `lanes` and each goes along `alone` by itself (BAS-11, BAS-12). None: elements
    /// are met again, have no neighbours, or values or tests say where they are.
    pub fn adjacent(
        &self,
        l: &Launch,
        load: usize,
        (lanes, alone): (Option<usize>, Option<usize>),
    ) -> Option<Adjacent> {
        let own = &l.loads[load];
        let in_body = l.body.iter().any(|s| s.what == What::Load(load as u32));
        let loops: Vec<usize> = (0..l.domain.len()).filter(|k| l.domain[*k] > 1).collect();
        if !in_body || !own.read.tests.is_empty() || loops.is_empty() || loops.len() > LOOPS {
            return None;
        }
        let rows = rows(&own.read.ix, &l.domain, &loops)?;
        let of = Ref { buf: own.buf, rows, bytes: 0 };
        let step = of.direction(loops.len()).filter(|_| of.is_without_reuse(loops.len()))?;
        let by = |axis: Option<usize>| {
            let at = axis.and_then(|axis| loops.iter().position(|k| *k == axis));
            at.map_or(0, |at| step[at])
        };
        // Where threads follow that axis too, they share its places out.
        let time = alone == lanes || by(alone) == 0;
        let others = step.iter().filter(|x| **x != 0).count() == 1;
        Some(Adjacent { time, space: by(lanes) == 1 && others })
    }
}

impl Nest {
    /// All orders in which neighbours meet neighbours, that of most bytes first. Where arrays have
    /// no reuse and there is none, the order in which they are copied: `global` is empty then.
    pub fn candidates(&self) -> Vec<Candidate> {
        let m = self.loops.len();
        let own: Vec<&Ref> = self.refs.iter().filter(|r| r.is_without_reuse(m)).collect();
        let mut along: BTreeMap<Vec<i64>, Vec<&Ref>> = BTreeMap::new();
        for r in &own {
            if let Some(s) = r.direction(m) {
                along.entry(s).or_default().push(r);
            }
        }
        let all = self.coordinates();
        let mut found: Vec<Candidate> =
            along.iter().filter_map(|(s, refs)| self.along(s, refs, (&own, &all))).collect();
        found.sort_by_key(|c| std::cmp::Reverse(c.bytes));
        if found.is_empty() && !own.is_empty() {
            found.push(self.copied(&own));
        }
        found
    }

    /// Whether steps in this order find what the steps before left for them: θ·d > 0.
    fn is_legal(&self, time: &[i64]) -> bool {
        self.ordered.is_none_or(|d| time[d] > 0)
    }

    /// Coefficients of the loops, those of fewest first, then in the order of the axes.
    fn coordinates(&self) -> Vec<Vec<i64>> {
        let mut all = vec![Vec::new()];
        for _ in &self.loops {
            let longer = |v: &Vec<i64>| [0, 1, -1].map(|x| [v.as_slice(), &[x]].concat());
            all = all.iter().flat_map(longer).collect();
        }
        let terms = |v: &Vec<i64>| v.iter().filter(|x| **x != 0).count();
        let first = |v: &Vec<i64>| v.iter().map(|x| (*x == 0, *x < 0)).collect::<Vec<_>>();
        all.retain(|v| terms(v) > 0);
        all.sort_by_key(|v| (terms(v), first(v)));
        all
    }

    /// The order for reads of one direction, among all reads without reuse and all coordinates.
    fn along(
        &self,
        s: &[i64],
        refs: &[&Ref],
        (own, all): (&[&Ref], &[Vec<i64>]),
    ) -> Option<Candidate> {
        let m = self.loops.len();
        let time = match self.ordered {
            Some(_) => Some(all.iter().find(|v| self.is_legal(v) && dot(v, s) == 0)?.clone()),
            None => None,
        };
        let apart = |chosen: &[Vec<i64>], v: &Vec<i64>| {
            rank(chosen.iter().chain([v]).cloned().collect()) > chosen.len()
        };
        let mut chosen: Vec<Vec<i64>> = time.iter().cloned().collect();
        let among: Vec<Vec<i64>> =
            all.iter().filter(|v| dot(v, s) == 1 && apart(&chosen, v)).cloned().collect();
        let space = among.first()?.clone();
        chosen.push(space.clone());
        let mut others = Vec::new();
        for v in all.iter().filter(|v| dot(v, s) == 0) {
            if chosen.len() < m && apart(&chosen, v) {
                chosen.push(v.clone());
                others.push(v.clone());
            }
        }
        let is_here = |r: &&Ref| refs.iter().any(|x| std::ptr::eq::<Ref>(*x, *r));
        let (here, rest): (Vec<&Ref>, Vec<&Ref>) = own.iter().partition(|r| is_here(r));
        (chosen.len() == m).then(|| Candidate {
            time: time.map(|v| self.spread(&v)),
            space: Some(self.spread(&space)),
            among: among.iter().map(|v| self.spread(v)).collect(),
            others: others.iter().map(|v| self.spread(v)).collect(),
            bytes: here.iter().fold(0, |sum, r| sum.saturating_add(r.bytes)),
            global: bufs(&here),
            staged: bufs(&rest),
        })
    }

    /// The order where nothing is met by neighbours: the loops as they are, the dependence last.
    fn copied(&self, own: &[&Ref]) -> Candidate {
        let unit = |k: usize| {
            self.spread(&(0..self.loops.len()).map(|j| i64::from(j == k)).collect::<Vec<_>>())
        };
        let mut free: Vec<usize> =
            (0..self.loops.len()).filter(|k| Some(*k) != self.ordered).collect();
        let space = free.pop().map(unit);
        Candidate {
            time: self.ordered.map(unit),
            among: space.iter().cloned().collect(),
            space,
            others: free.into_iter().map(unit).collect(),
            global: Vec::new(),
            staged: bufs(own),
            bytes: 0,
        }
    }

    /// A coordinate of the loops as one of all axes.
    fn spread(&self, v: &[i64]) -> Vec<i64> {
        let axes = self.loops.last().map_or(0, |last| last + 1);
        let of = |k: usize| self.loops.iter().position(|l| *l == k).map_or(0, |at| v[at]);
        (0..axes).map(of).collect()
    }
}

fn bufs(refs: &[&Ref]) -> Vec<BufId> {
    let mut out: Vec<BufId> = refs.iter().map(|r| r.buf).collect();
    out.sort();
    out.dedup();
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loops, the one that carries a dependence, and references by the axes they are indexed by.
    fn nest(loops: usize, ordered: Option<usize>, refs: &[&[usize]]) -> Nest {
        let row = |axis: &usize| (0..loops).map(|k| i64::from(k == *axis)).collect();
        let one = |(k, axes): (usize, &&[usize])| Ref {
            buf: BufId(k as u32),
            rows: axes.iter().map(row).collect(),
            bytes: 1 + axes.len() as u64,
        };
        let refs = refs.iter().enumerate().map(one).collect();
        Nest { loops: (0..loops).collect(), ordered, refs }
    }

    fn told(nest: &Nest) -> Vec<String> {
        let one = |c: &Candidate| {
            let list = |v: &[Vec<i64>]| v.iter().map(|v| named(v)).collect::<Vec<_>>().join(" ");
            let bufs = |v: &[BufId]| v.iter().map(|b| format!("{}", b.0)).collect::<String>();
            format!(
                "time {} space {} of {} others {} global {} staged {}",
                c.time.as_ref().map_or("-".into(), |v| named(v)),
                c.space.as_ref().map_or("-".into(), |v| named(v)),
                list(&c.among),
                list(&c.others),
                bufs(&c.global),
                bufs(&c.staged)
            )
        };
        nest.candidates().iter().map(one).collect()
    }

    /// The worked results of the paper's sections 3 and 5.
    #[test]
    fn bas_14_worked_results() {
        let (ij, ji) = ([0usize, 1], [1usize, 0]);
        let cases: [(&str, Nest, &[&str]); 8] = [
            (
                "mv: y[i] += a[i;j]×x[j]",
                nest(2, Some(1), &[&ij, &[1], &[0]]),
                &["time j space i of i others  global  staged 0"],
            ),
            (
                "tmv: y[i] += a[j;i]×x[j]",
                nest(2, Some(1), &[&ji, &[1], &[0]]),
                &["time j space i of i i+j i-j others  global 0 staged "],
            ),
            (
                "mvt: a and its transpose in one nest",
                nest(2, Some(1), &[&ij, &ji, &[1]]),
                &["time j space i of i i+j i-j others  global 1 staged 0"],
            ),
            (
                "sums of columns",
                nest(2, Some(0), &[&ij, &[1]]),
                &["time i space j of j i+j -i+j others  global 0 staged "],
            ),
            (
                "sums of rows",
                nest(2, Some(1), &[&ij, &[0]]),
                &["time j space i of i others  global  staged 0"],
            ),
            (
                "transpose: two candidates, and not i+j for both",
                nest(2, None, &[&ij, &ji]),
                &[
                    "time - space j of j i+j -i+j others i global 0 staged 1",
                    "time - space i of i i+j i-j others j global 1 staged 0",
                ],
            ),
            ("mm: all is met again", nest(3, Some(2), &[&[0, 2], &[2, 1], &[0, 1]]), &[]),
            (
                "a map: all at once",
                nest(2, None, &[&ij, &ij]),
                &["time - space j of j i+j -i+j others i global 01 staged "],
            ),
        ];
        for (says, nest, wanted) in cases {
            assert_eq!(told(&nest), wanted, "{says}");
        }
    }

    /// BAS-13 as the paper has it: every set of references, by trying all coordinates.
    #[test]
    fn bas_13_one_set_for_each_direction_is_all_that_there_is() {
        let axes: [&[usize]; 5] = [&[0, 1, 2], &[1, 0, 2], &[2, 0, 1], &[0, 2, 1], &[1, 2, 0]];
        for ordered in [None, Some(0), Some(2)] {
            for pick in 1..32usize {
                let refs: Vec<&[usize]> =
                    (0..5).filter(|k| pick >> k & 1 == 1).map(|k| axes[k]).collect();
                let nest = nest(3, ordered, &refs);
                let fast: Vec<Vec<BufId>> = nest
                    .candidates()
                    .into_iter()
                    .map(|c| c.global)
                    .filter(|g| !g.is_empty())
                    .collect();
                let valid = |set: usize| {
                    let s: Vec<Vec<i64>> = (0..refs.len())
                        .filter(|k| set >> k & 1 == 1)
                        .map(|k| nest.refs[k].direction(3).expect("a permutation"))
                        .collect();
                    let all = nest.coordinates();
                    let zero = |v: &&Vec<i64>| s.iter().all(|s| dot(v, s) == 0);
                    let flat: Vec<Vec<i64>> = all.iter().filter(zero).cloned().collect();
                    let one = all.iter().any(|v| s.iter().all(|s| dot(v, s) == 1));
                    let time = ordered.is_none_or(|d| flat.iter().any(|v| v[d] > 0));
                    one && time && rank(flat) == 2
                };
                for set in 1..1usize << refs.len() {
                    let members = |g: &Vec<BufId>| {
                        (0..refs.len())
                            .filter(|k| set >> k & 1 == 1)
                            .all(|k| g.contains(&BufId(k as u32)))
                    };
                    let among_fast = fast.iter().any(members);
                    assert_eq!(valid(set), among_fast, "{refs:?} {ordered:?} {set:b}");
                }
            }
        }
    }

    /// An order in time is legal where it goes forward along what one step hands to the next; of
    /// four kernels, every time that was chosen is, and for one that has no such step all are.
    #[test]
    fn bas_10_time_goes_forward_along_dependences() {
        let (ij, ji): (&[usize], &[usize]) = (&[0, 1], &[1, 0]);
        let kernels: [(&str, Option<usize>, &[&[usize]]); 4] = [
            ("mv", Some(1), &[ij, &[1], &[0]]),
            ("tmv", Some(1), &[ji, &[1], &[0]]),
            ("sums of columns", Some(0), &[ij, &[1]]),
            ("transpose", None, &[ij, ji]),
        ];
        for (name, ordered, refs) in kernels {
            let nest = nest(2, ordered, refs);
            let step = |d: usize| -> Vec<i64> { (0..2).map(|k| i64::from(k == d)).collect() };
            let all = nest.candidates();
            assert!(!all.is_empty(), "{name}");
            for c in &all {
                match (ordered, &c.time) {
                    (Some(d), Some(time)) => assert!(dot(time, &step(d)) > 0, "{name}: {c:?}"),
                    (None, None) => (),
                    other => panic!("{name}: {other:?}"),
                }
                assert!(c.time.as_ref().is_none_or(|time| nest.is_legal(time)), "{name}: {c:?}");
                // Threads at one time hand each other nothing.
                let space = c.space.as_ref().expect("an axis of threads");
                let across = ordered.is_some_and(|d| *space == step(d));
                assert!(!across, "{name}: {c:?}");
            }
        }
    }

    /// BAS-10: orders that go back along a dependence, or stand still on it, are no orders of time;
    /// where the neighbours of all reads lie along the dependence none is left.
    #[test]
    fn bas_10_an_order_that_goes_back_is_illegal() {
        let (ij, ji): (&[usize], &[usize]) = (&[0, 1], &[1, 0]);
        let mv = nest(2, Some(1), &[ij, &[1], &[0]]);
        for back in [[1, 0], [-1, 0], [0, -1], [1, -1], [-1, -1]] {
            assert!(!mv.is_legal(&back), "{back:?}");
        }
        for forward in [[0, 1], [1, 1], [-1, 1]] {
            assert!(mv.is_legal(&forward), "{forward:?}");
        }
        let all = mv.coordinates();
        let own: Vec<&Ref> = mv.refs.iter().take(1).collect();
        assert_eq!(mv.along(&[0, 1], &own, (&own, &all)), None, "mv of the matrix");
        let tmv = nest(2, Some(1), &[ji, &[1], &[0]]);
        let own: Vec<&Ref> = tmv.refs.iter().take(1).collect();
        let found = tmv.along(&[1, 0], &own, (&own, &all)).expect("an order");
        assert_eq!((found.time, found.space), (Some(vec![0, 1]), Some(vec![1, 0])));
    }

    /// BAS-10, BAS-11, BAS-12 for reads that are not by single axes.
    #[test]
    fn bas_12_the_step_to_the_next_element() {
        let of = |rows: &[&[i64]]| Ref {
            buf: BufId(0),
            rows: rows.iter().map(|r| r.to_vec()).collect(),
            bytes: 1,
        };
        assert_eq!(of(&[&[1, 0], &[0, 1]]).direction(2), Some(vec![0, 1]));
        assert_eq!(of(&[&[1, 1], &[0, 1]]).direction(2), Some(vec![-1, 1]));
        assert_eq!(of(&[&[1, 0], &[0, -1]]).direction(2), Some(vec![0, -1]));
        // Every second element has no neighbour.
        assert_eq!(of(&[&[1, 0], &[0, 2]]).direction(2), None);
        // A diagonal lies in no other order.
        assert_eq!(of(&[&[1], &[1]]).direction(1), None);
        assert!(!of(&[&[0, 1]]).is_without_reuse(2) && of(&[&[1, 1], &[0, 1]]).is_without_reuse(2));
        // 60·i + j is a matrix in a row.
        let linear = [Ix::axis(0).times(60).add(&Ix::axis(1))];
        assert_eq!(rows(&linear, &[9, 60], &[0, 1]), Some(vec![vec![1, 0], vec![0, 1]]));
        assert_eq!(rows(&linear, &[9, 61], &[0, 1]), Some(vec![vec![60, 1]]));
        assert_eq!(matrix(&linear, 2), Some(vec![vec![60, 1, 0]]));
    }
}
