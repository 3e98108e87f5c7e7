//! Rows as lines under each other. Each is printed as soon as it is known, so columns have their
//! width beforehand.

use super::peers::PEERS;
use super::work::{GROUPS, Job, Work};
use aplomb_ground::error::time;
use serde_json::Value;

/// Head, width, cell.
struct Column {
    head: String,
    wide: usize,
    cell: Box<dyn Fn(&Value) -> String>,
}

pub struct Columns(Vec<Column>);

impl Columns {
    pub fn new(jobs: &[Job], gpu: bool, peers: bool) -> Columns {
        let longest = jobs.iter().map(|j| j.work.id.len()).max().unwrap_or(0).max("workload".len());
        let mut all: Vec<Column> = Vec::new();
        let mut add = |head: &str, wide: usize, cell: fn(&Value) -> String| {
            all.push(Column { head: head.into(), wide, cell: Box::new(cell) })
        };
        add("workload", longest, |r| text(&r["id"]));
        add("n", 10, |r| text(&r["n"]));
        add("type", 5, |r| text(&r["dtype"]));
        add("least", 8, |r| micros(&r["least_us"], 1.0));
        add("median", 8, |r| micros(&r["us"], 1.0));
        add("GB/s", 7, |r| rounded(&r["gb_s"], ""));
        add("Gflop/s", 7, |r| rounded(&r["gflop_s"], ""));
        add("floor", 6, |r| rounded(&r["pct"], " %"));
        add("launches", 8, |r| text(&r["kernels"]));
        if !gpu {
            add("est", 6, |r| rounded(&r["est"], " ×"));
        }
        if gpu {
            add("regs", 4, |r| text(&r["regs"]));
            add("end", 8, |r| micros(&r["end_us"], 1.0));
        }
        add("first", 8, |r| micros(&r["first_ms"], 1e3));
        for name in PEERS.iter().filter(|_| peers) {
            let cell = Box::new(move |r: &Value| rounded(&r["peers"][*name]["ratio"], " ×"));
            all.push(Column { head: name.to_string(), wide: 8, cell });
        }
        Columns(all)
    }

    pub fn head(&self) -> String {
        self.line(|c| c.head.clone())
    }

    /// A row's line, and below it what is to be said of it.
    pub fn row(&self, row: &Value) -> String {
        self.line(|c| (c.cell)(row))
            + &notes(row).iter().map(|says| format!("  {says}\n")).collect::<String>()
    }

    fn line(&self, cell: impl Fn(&Column) -> String) -> String {
        let placed = self.0.iter().enumerate().map(|(k, c)| match k {
            0 => format!("{:<wide$}", cell(c), wide = c.wide),
            _ => format!("{:>wide$}", cell(c), wide = c.wide),
        });
        format!("{}\n", placed.collect::<Vec<_>>().join("  ").trim_end())
    }
}

/// Ratios of all rows to their peers, and of estimates of launches to their times.
#[derive(Default)]
pub struct Summary {
    peers: Vec<(String, Vec<(&'static str, f64)>)>,
    estimates: Vec<f64>,
}

impl Summary {
    /// Takes up a row; one without peers says nothing.
    pub fn add(&mut self, row: &Value) {
        let ratio = |name: &&'static str| Some((*name, row["peers"][*name]["ratio"].as_f64()?));
        let ratios: Vec<_> = PEERS.iter().filter_map(ratio).collect();
        self.estimates.extend(row["est"].as_f64().filter(|est| *est > 0.0));
        if !ratios.is_empty() {
            self.peers.push((format!("{} {}", text(&row["id"]), text(&row["dtype"])), ratios));
        }
    }

    /// Geometric means to the best peer of each row and to each peer, and how many estimates are
    /// near; empty without rows.
    pub fn told(&self) -> String {
        let near = self.estimates.iter().filter(|est| (0.5..=2.0).contains(*est)).count();
        let all = self.estimates.len();
        let estimates = match all {
            0 => String::new(),
            _ => format!("\nest: within 2 × of the launches' least time in {near} of {all} rows\n"),
        };
        self.told_of_peers() + &estimates
    }

    fn told_of_peers(&self) -> String {
        let best = |(name, ratios): &(String, Vec<(&str, f64)>)| {
            (name.clone(), ratios.iter().map(|r| r.1).fold(f64::INFINITY, f64::min))
        };
        let best: Vec<(String, f64)> = self.peers.iter().map(best).collect();
        let Some(least) = best.iter().min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return String::new();
        };
        let ahead = best.iter().filter(|b| b.1 >= 1.0).count();
        let mut out = format!(
            "\nbest peer of each row: {:.2} × in geometric mean of {} rows, {ahead} at least 1 ×, \
             least {:.2} × ({})\n",
            mean(best.iter().map(|b| b.1)),
            best.len(),
            least.1,
            least.0,
        );
        for peer in PEERS {
            let of: Vec<f64> = self
                .peers
                .iter()
                .flat_map(|r| &r.1)
                .filter(|r| r.0 == *peer)
                .map(|r| r.1)
                .collect();
            if !of.is_empty() {
                out += &format!("{peer}: {:.2} × of {} rows\n", mean(of.iter().copied()), of.len());
            }
        }
        out
    }
}

/// The geometric mean; 1 of nothing.
pub fn mean(of: impl Iterator<Item = f64> + Clone) -> f64 {
    (of.clone().map(f64::ln).sum::<f64>() / of.count().max(1) as f64).exp()
}

fn notes(row: &Value) -> Vec<String> {
    let lists =
        [&row["notes"], &row["elsewhere"]].map(|l| l.as_array().into_iter().flatten().map(text));
    let peers = row["peers"].as_object().into_iter().flatten().filter_map(|(name, told)| {
        let wrong = told["ok"] == false;
        let says = wrong.then(|| format!("its result is apart from ours by {}", told["err"]));
        Some(format!("{name}: {}", told["error"].as_str().map(String::from).or(says)?))
    });
    let error = row["error"].as_str().map(String::from);
    error.into_iter().chain(lists.into_iter().flatten()).chain(peers).collect()
}

pub fn text(value: &Value) -> String {
    match value {
        Value::Null => "–".into(),
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}

fn micros(value: &Value, unit: f64) -> String {
    value.as_f64().map_or("–".into(), |x| time(x * unit))
}

/// Three digits.
fn rounded(value: &Value, unit: &str) -> String {
    let Some(x) = value.as_f64() else { return "–".into() };
    let digits = if x >= 99.95 { 0 } else { 1 + usize::from(x < 9.995) };
    format!("{x:.digits$}{unit}")
}

/// The text of `bench list`: groups, workloads with their sizes, and the benches that stand by
/// themselves.
pub fn list(works: &[Work], own: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for w in works {
        let sizes: Vec<String> =
            w.cpu.iter().map(|(dtype, n)| format!("{dtype} {}", short(*n))).collect();
        let seeds =
            if w.seeds.is_empty() { String::new() } else { format!(" ({})", w.seeds.join(" ")) };
        out += &format!("{:23}{:28}{}{seeds}\n", w.id, sizes.join(", "), w.says);
    }
    let rest = GROUPS.iter().map(|g| (g.0, g.1)).chain(own.iter().copied());
    out + "\n" + &rest.map(|(name, says)| format!("{name:23}{says}\n")).collect::<String>()
}

/// 2e7 instead of 20000000.
fn short(n: usize) -> String {
    let (all, power) = (n.to_string(), format!("{n:e}"));
    if power.len() < all.len() { power } else { all }
}
