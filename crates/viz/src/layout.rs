//! The place of each node in a picture: layers, order in a layer, columns.
//!
//! Leaves stand just above their first user, everything else by longest path from the leaves; a
//! wire that passes layers has one shared place in each. Order: four sweeps by the mean of the
//! neighbours, starting from the source's order, so equal graphs give equal pictures. Columns:
//! pulled towards the neighbours, then pushed apart.
//!
//! Why it ends and is right: operands have smaller numbers than users, so one walk finds the
//! longest path to each node, and every box lies below what it reads. The number of sweeps is
//! fixed; they change the order within a layer only, never a layer.

/// A thing in a layer: a box or a wire on its way.
#[derive(Clone, Debug)]
pub struct Item {
    /// The node whose box, or whose wire, this is.
    pub net: usize,
    pub is_box: bool,
    pub width: usize,
    /// The first column.
    pub x: usize,
}

pub struct Layout {
    /// Top to bottom, each left to right.
    pub layers: Vec<Vec<Item>>,
}

/// The boxes that are laid out: for each node the width of its box and its drawn operands.
pub struct Boxes {
    pub widths: Vec<usize>,
    pub operands: Vec<Vec<usize>>,
}

impl Item {
    /// The column a value leaves by.
    pub fn out(&self) -> usize {
        if self.is_box { self.x + self.width / 2 } else { self.x }
    }

    /// The column by which operand `k` of `n` enters; a passing wire has one.
    pub fn port(&self, k: usize, n: usize) -> usize {
        if !self.is_box || n <= 1 {
            return self.out();
        }
        // Spread inside the brackets, in operand order.
        let room = self.width - 2;
        self.x + 1 + (room - 1) * k / (n - 1)
    }
}

/// Blanks between neighbours.
const GAP: usize = 2;

/// Boxes and wires that are laid out, and places of the picture that they stand in.
const ITEMS: usize = 1 << 23;
const PLACES: usize = 1 << 27;

/// `former` has columns of an earlier picture: what stood left of another in its layer stays left
/// of it. Errors: a sentence; the picture would fill the memory.
pub fn lay_out(boxes: &Boxes, former: &[Option<usize>]) -> Result<Layout, String> {
    let level = levels(boxes);
    let items = last_users(boxes, &level)
        .iter()
        .zip(&level)
        .fold(0usize, |n, (to, from)| n.saturating_add(to - from));
    fits(boxes, items.saturating_add(level.len()), ITEMS)?;
    let mut layers = with_wires(boxes, &level);
    let users = users(boxes);
    let mut near = Near { at: vec![None; boxes.widths.len()], boxes, users: &users };
    for sweep in 0..4 {
        order(&mut layers, &mut near, sweep % 2 == 0);
    }
    layers.iter_mut().for_each(|layer| keep_order(layer, former));
    columns(&mut layers, &mut near);
    let wide = layers.iter().flatten().map(|i| i.x + i.width).max().unwrap_or(0);
    // A layer is its boxes and mostly two lines of wires.
    fits(boxes, wide.saturating_mul(3 * layers.len()), PLACES)?;
    Ok(Layout { layers })
}

fn fits(boxes: &Boxes, places: usize, most: usize) -> Result<(), String> {
    let (n, millions) = (boxes.widths.len(), places.div_ceil(1_000_000));
    let says = || {
        format!(
            "{n} boxes with their wires are too many to draw: {millions} million places; folded, \
             or as a list, they can \
             be shown"
        )
    };
    (places <= most).then_some(()).ok_or_else(says)
}

/// Sorts those items of a layer that have a former column, among the places that they hold.
fn keep_order(layer: &mut [Item], former: &[Option<usize>]) {
    let column = |item: &Item| former.get(item.net).copied().flatten();
    let places: Vec<usize> = (0..layer.len()).filter(|k| column(&layer[*k]).is_some()).collect();
    let mut known: Vec<Item> = places.iter().map(|k| layer[*k].clone()).collect();
    known.sort_by_key(column);
    for (place, item) in places.into_iter().zip(known) {
        layer[place] = item;
    }
}

fn levels(boxes: &Boxes) -> Vec<usize> {
    let n = boxes.widths.len();
    let mut level = vec![0usize; n];
    for (k, operands) in boxes.operands.iter().enumerate() {
        level[k] = operands.iter().map(|a| level[*a] + 1).max().unwrap_or(0);
    }
    let mut first_user = vec![usize::MAX; n];
    for (operands, at) in boxes.operands.iter().zip(&level) {
        operands.iter().for_each(|a| first_user[*a] = first_user[*a].min(*at));
    }
    for ((operands, user), at) in boxes.operands.iter().zip(&first_user).zip(&mut level) {
        if operands.is_empty() && *user != usize::MAX {
            *at = user - 1;
        }
    }
    level
}

/// Boxes by level in visiting order, and one wire a net in each level between a value and its last
/// user.
fn with_wires(boxes: &Boxes, level: &[usize]) -> Vec<Vec<Item>> {
    let depth = level.iter().max().map_or(0, |d| d + 1);
    let last_user = last_users(boxes, level);
    let mut layers: Vec<Vec<Item>> = vec![Vec::new(); depth];
    for k in visiting_order(boxes) {
        layers[level[k]].push(Item { net: k, is_box: true, width: boxes.widths[k], x: 0 });
        for layer in layers.iter_mut().take(last_user[k]).skip(level[k] + 1) {
            layer.push(Item { net: k, is_box: false, width: 1, x: 0 });
        }
    }
    layers
}

/// The layer to which each value goes on.
fn last_users(boxes: &Boxes, level: &[usize]) -> Vec<usize> {
    let mut last_user = level.to_vec();
    for (operands, at) in boxes.operands.iter().zip(level) {
        operands.iter().for_each(|a| last_user[*a] = last_user[*a].max(*at));
    }
    last_user
}

/// Operands before users, left operands first.
fn visiting_order(boxes: &Boxes) -> Vec<usize> {
    let n = boxes.widths.len();
    let mut used = vec![false; n];
    boxes.operands.iter().flatten().for_each(|a| used[*a] = true);
    let mut seen = vec![false; n];
    let mut order = Vec::with_capacity(n);
    let mut stack: Vec<(usize, bool)> =
        (0..n).rev().filter(|k| !used[*k]).map(|k| (k, false)).collect();
    while let Some((k, done)) = stack.pop() {
        if done {
            order.push(k);
        } else if !std::mem::replace(&mut seen[k], true) {
            stack.push((k, true));
            stack.extend(boxes.operands[k].iter().rev().map(|a| (*a, false)));
        }
    }
    order
}

/// The places of the nets of a neighbouring layer.
struct Near<'a> {
    at: Vec<Option<f64>>,
    boxes: &'a Boxes,
    users: &'a [Vec<usize>],
}

impl Near<'_> {
    /// The order of a layer by what `of` says of each of its items, given the places in the layer
    /// that it is pulled to.
    fn pulled<T>(
        &mut self,
        other: &[Item],
        place: impl Fn(usize, &Item) -> f64,
        layer: &[Item],
        of: impl Fn(&Self, usize, &Item) -> T,
    ) -> Vec<T> {
        other.iter().enumerate().for_each(|(k, item)| self.at[item.net] = Some(place(k, item)));
        let all = layer.iter().enumerate().map(|(k, item)| of(self, k, item)).collect();
        other.iter().for_each(|item| self.at[item.net] = None);
        all
    }

    /// The mean place of what an item is joined to in the layer above (`down`) or below.
    fn pull(&self, item: &Item, down: bool) -> Option<f64> {
        let own = std::slice::from_ref(&item.net);
        let (linked, passes): (&[usize], &[usize]) = match (down, item.is_box) {
            (true, true) => (&self.boxes.operands[item.net], &[]),
            (true, false) => (own, &[]),
            (false, _) => (&self.users[item.net], own),
        };
        let places = linked.iter().chain(passes).filter_map(|net| self.at[*net]);
        let (sum, count) = places.fold((0.0, 0), |(sum, n), x| (sum + x, n + 1));
        (count > 0).then(|| sum / f64::from(count))
    }
}

fn users(boxes: &Boxes) -> Vec<Vec<usize>> {
    let mut users = vec![Vec::new(); boxes.widths.len()];
    for (k, operands) in boxes.operands.iter().enumerate() {
        operands.iter().for_each(|a| users[*a].push(k));
    }
    users
}

fn order(layers: &mut [Vec<Item>], near: &mut Near, down: bool) {
    for (r, other) in sweep(layers.len(), down) {
        let by =
            |near: &Near, k: usize, item: &Item| (near.pull(item, down).unwrap_or(k as f64), k);
        let keys = near.pulled(&layers[other], |k, _| k as f64, &layers[r], by);
        let mut keyed: Vec<((f64, usize), Item)> =
            keys.into_iter().zip(layers[r].drain(..)).collect();
        keyed.sort_by(|(a, _), (b, _)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        layers[r] = keyed.into_iter().map(|(_, item)| item).collect();
    }
}

/// Each layer with the one before it, from the top or from the bottom.
fn sweep(layers: usize, down: bool) -> impl Iterator<Item = (usize, usize)> {
    (1..layers).map(move |k| if down { (k, k - 1) } else { (layers - 1 - k, layers - k) })
}

/// Gives every item its column.
fn columns(layers: &mut [Vec<Item>], near: &mut Near) {
    for layer in layers.iter_mut() {
        let mut x = 0;
        for item in layer.iter_mut() {
            item.x = x;
            x += item.width + GAP;
        }
    }
    for down in [true, false].repeat(4) {
        for (r, other) in sweep(layers.len(), down) {
            let first = |near: &Near, _: usize, item: &Item| {
                let centre = near.pull(item, down).unwrap_or(item.out() as f64);
                centre - (item.out() - item.x) as f64
            };
            let wanted =
                near.pulled(&layers[other], |_, item| item.out() as f64, &layers[r], first);
            settle(&mut layers[r], &wanted);
        }
    }
    let left = layers.iter().flatten().map(|i| i.x).min().unwrap_or(0);
    layers.iter_mut().flatten().for_each(|i| i.x -= left);
}

/// Places near what is wanted, in order, without overlap: groups that push each other take their
/// mean (the pool of adjacent violators).
fn settle(layer: &mut [Item], wanted: &[f64]) {
    struct Pool {
        first: usize,
        sum: f64,
        count: f64,
    }
    let mut offset = vec![0.0; layer.len()];
    for k in 1..layer.len() {
        offset[k] = offset[k - 1] + (layer[k - 1].width + GAP) as f64;
    }
    let mut pools: Vec<Pool> = Vec::new();
    for k in 0..layer.len() {
        let mut pool = Pool { first: k, sum: wanted[k] - offset[k], count: 1.0 };
        while let Some(before) = pools.last() {
            if before.sum / before.count < pool.sum / pool.count {
                break;
            }
            pool = Pool {
                first: before.first,
                sum: before.sum + pool.sum,
                count: before.count + pool.count,
            };
            pools.pop();
        }
        pools.push(pool);
    }
    let mut next = 0usize;
    for (p, pool) in pools.iter().enumerate() {
        let last = pools.get(p + 1).map_or(layer.len(), |q| q.first);
        let base = (pool.sum / pool.count).round();
        for k in pool.first..last {
            layer[k].x = ((base + offset[k]).max(0.0) as usize).max(next);
            next = layer[k].x + layer[k].width + GAP;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chain of `2n` boxes whose second half reads the first backwards: as many wires as boxes in
    /// every layer.
    fn folded_chain(n: usize) -> Boxes {
        let reads = |k: usize| match k {
            0 => vec![],
            k if k < n => vec![k - 1],
            k => vec![k - 1, 2 * n - 1 - k],
        };
        Boxes { widths: vec![5; 2 * n], operands: (0..2 * n).map(reads).collect() }
    }

    #[test]
    fn what_would_fill_the_memory_is_refused_before_it_is_laid_out() {
        assert!(lay_out(&folded_chain(40), &[]).is_ok());
        let says = lay_out(&folded_chain(3_000), &[]).err().unwrap_or_default();
        assert!(says.starts_with("6000 boxes") && says.contains("million places"), "{says}");
    }
}
