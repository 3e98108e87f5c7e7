//! The workloads: rows of `benches/workloads.json`, which the scripts of `benches/` read too.
//! `benches/README.md` says what a row's fields mean.

use crate::args::BenchArgs;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;

const TABLE: &str = include_str!("../../benches/workloads.json");
const SEED: usize = 20061;
/// Random numbers of one array; longer arrays repeat them.
const BLOCK: usize = 1 << 20;
/// The bytes that the caches of a GPU hold at most.
const CACHE: f64 = 64e6;
/// An array's bytes an element.
const DTYPES: &[(&str, usize)] = &[("f64", 8), ("f32", 4), ("i32", 4), ("i8", 1), ("bool", 1)];

/// Dtype and n.
type Point = (String, usize);

#[derive(Clone, Deserialize)]
pub struct Work {
    pub id: String,
    pub says: String,
    #[serde(default)]
    pub seeds: Vec<String>,
    /// Such a line is what people write every day, beside the programs of papers.
    #[serde(default)]
    pub everyday: bool,
    data: BTreeMap<String, Spec>,
    apl: Vec<String>,
    #[serde(default)]
    moves: Vec<f64>,
    #[serde(default)]
    bytes: Vec<f64>,
    flops: Vec<f64>,
    #[serde(default = "one")]
    results: usize,
    #[serde(default)]
    pub off: Vec<String>,
    /// The math of a GPU; `strict` without.
    #[serde(default)]
    pub math: Option<String>,
    pub cpu: Vec<Point>,
    small: Vec<Point>,
    gpu: Vec<Point>,
}

fn one() -> usize {
    1
}

/// Kind of numbers, what n is divided by on each axis (below 0 the extent itself), and a dtype,
/// where it is not the workload's.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Spec {
    Own(String, Vec<isize>),
    Of(String, Vec<isize>, String),
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Kind {
    /// Numbers in a range; without an end up to a part of n.
    Range { from: f64, to: Option<f64>, part_of_n: Option<usize> },
    /// Booleans; `first`: the first is 1.
    Share {
        share: f64,
        #[serde(default)]
        first: bool,
    },
}

/// Bytes a second, and operations a second by dtype.
pub type Rates = BTreeMap<String, f64>;

#[derive(Deserialize)]
pub struct Table {
    /// By a part of the device's name.
    pub rates: BTreeMap<String, Rates>,
    kinds: BTreeMap<String, Kind>,
    #[serde(rename = "workloads")]
    rows: Vec<Value>,
}

impl Table {
    /// Errors: the file is no such table.
    pub fn read() -> Result<(Table, Vec<Work>), String> {
        let wrong = |e: serde_json::Error| format!("benches/workloads.json: {e}");
        let table: Table = serde_json::from_str(TABLE).map_err(wrong)?;
        let works = table.rows.iter().map(|row| serde_json::from_value(table.whole(row)));
        let works = works.collect::<Result<_, _>>().map_err(wrong)?;
        Ok((table, works))
    }

    /// A row with what the row that it is like says.
    fn whole(&self, row: &Value) -> Value {
        let base = self.rows.iter().find(|r| row["like"].is_string() && r["id"] == row["like"]);
        let mut fields = base.and_then(Value::as_object).cloned().unwrap_or_default();
        fields.extend(row.as_object().cloned().unwrap_or_default());
        Value::Object(fields)
    }
}

/// A workload at one dtype and size.
#[derive(Clone)]
pub struct Job {
    pub work: Work,
    pub dtype: String,
    pub n: usize,
    /// The reason why n is not what was asked for.
    pub note: Option<String>,
}

/// An array that a job reads.
struct Given<'a> {
    name: &'a str,
    kind: &'a str,
    dtype: &'a str,
    shape: Vec<usize>,
}

impl Given<'_> {
    fn elements(&self) -> usize {
        self.shape.iter().fold(1, |n, extent| n.saturating_mul(*extent))
    }

    /// As the scripts call it.
    fn file(&self) -> String {
        let shape: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        format!("{}-{}-{}.npy", self.kind, self.dtype, shape.join("x"))
    }
}

impl Job {
    fn given(&self) -> impl Iterator<Item = Given<'_>> {
        self.work.data.iter().map(|(name, spec)| {
            let (kind, parts, dtype) = match spec {
                Spec::Own(kind, parts) => (kind, parts, &self.dtype),
                Spec::Of(kind, parts, dtype) => (kind, parts, dtype),
            };
            Given {
                name,
                kind,
                dtype,
                shape: parts.iter().map(|part| self.extent(*part)).collect(),
            }
        })
    }

    /// An axis of a part of n, or of so many elements.
    fn extent(&self, part: isize) -> usize {
        if part < 0 { part.unsigned_abs() } else { (self.n / part.unsigned_abs().max(1)).max(1) }
    }

    /// Bytes of its data.
    fn held(&self) -> f64 {
        self.given().map(|g| g.elements() as f64 * bytes_of(g.dtype)).sum()
    }

    /// The least bytes that any program moves.
    pub fn bytes(&self) -> f64 {
        polynomial(&self.work.moves, self.n) * bytes_of(&self.dtype)
            + polynomial(&self.work.bytes, self.n)
    }

    /// The least operations that any program does.
    pub fn flops(&self) -> f64 {
        polynomial(&self.work.flops, self.n)
    }

    /// So many copies of the data, used in turns, that none is in a GPU's cache when its turn
    /// comes.
    pub fn copies(&self) -> usize {
        (2.0 * CACHE / self.held().max(1.0)).ceil().clamp(1.0, 20.0) as usize
    }

    /// Names that hold the results.
    pub fn results(&self) -> Vec<String> {
        (1..=self.work.results).map(|k| format!("r{k}")).collect()
    }

    /// One statement that leaves the results pending.
    pub fn text(&self, copy: usize) -> String {
        let names = self.results().join(" ");
        let names = if self.work.results > 1 { format!("({names})") } else { names };
        let text = self.work.apl.concat();
        let given = self.work.data.keys();
        let text = given
            .fold(text, |text, name| text.replace(&format!("${name}"), &format!("{name}{copy}")));
        format!("{names}←{text}")
    }

    /// Makes one copy of the data.
    pub fn making(&self, table: &Table, copy: usize) -> String {
        let each = self.given().map(|g| {
            let name = format!("{}{copy}", g.name);
            let seed = SEED + table.kinds.keys().position(|k| k == g.kind).unwrap_or(0);
            let shape: Vec<String> = g.shape.iter().map(usize::to_string).collect();
            let random = format!("?{}⍴0", g.elements().min(BLOCK));
            let (block, first) = match table.kinds.get(g.kind) {
                Some(Kind::Share { share, first }) => (format!("{share}>{random}"), *first),
                Some(Kind::Range { from, to, part_of_n }) => {
                    let to = to
                        .unwrap_or_else(|| (self.n / part_of_n.unwrap_or(1).max(1)).max(1) as f64);
                    let whole = if g.dtype.starts_with('f') { "" } else { "⌊" };
                    (format!("{whole}{}+{}×{random}", number(*from), number(to - from)), false)
                }
                None => (random, false),
            };
            let first = if first { format!("{name}[1]←1 ⋄ ") } else { String::new() };
            format!(
                "⎕RL←{seed} ⋄ {name}←{}⍴'{}'⎕AS {block} ⋄ {first}_←⎕DR {name}",
                shape.join(" "),
                g.dtype
            )
        });
        each.collect::<Vec<_>>().join(" ⋄ ")
    }

    /// Writes the first copy into a folder.
    pub fn saving(&self, folder: &str) -> String {
        let kind = |dtype: &str| match dtype {
            "bool" => dtype.to_string(),
            _ => format!("{}{}", &dtype[..1], bytes_of(dtype)),
        };
        let one =
            |g: Given<'_>| format!("{}0⎕NPY'{folder}/{}' 1 '{}'", g.name, g.file(), kind(g.dtype));
        let each = self.given().map(one);
        each.collect::<Vec<_>>().join(" ⋄ ")
    }

    /// Computes the results and writes them where the scripts look for them.
    pub fn saving_results(&self, folder: &str) -> String {
        let (id, n, dtype) = (&self.work.id, self.n, &self.dtype);
        let save = |(k, name): (usize, &String)| {
            format!(" ⋄ {name}⎕NPY'{folder}/value-{id}-{n}-{dtype}-{k}.npy' 1")
        };
        let results = self.results();
        self.text(0) + &results.iter().enumerate().map(save).collect::<String>()
    }

    /// With an n whose data take no more than a quarter of that memory.
    fn fitted(mut self, memory: u64) -> Job {
        let asked = self.n;
        while self.held() > memory as f64 / 4.0 && self.n > 1 {
            self.n /= 2;
        }
        if self.n < asked {
            let n = self.n;
            self.note = Some(format!(
                "n is {n}: the data for {asked} would take more than a quarter of the memory there \
                 is"
            ));
        }
        self
    }
}

fn bytes_of(dtype: &str) -> f64 {
    DTYPES.iter().find(|d| d.0 == dtype).map_or(8, |d| d.1) as f64
}

fn polynomial(factors: &[f64], n: usize) -> f64 {
    factors.iter().rev().fold(0.0, |sum, factor| sum * n as f64 + factor)
}

/// As APL writes it.
fn number(x: f64) -> String {
    x.to_string().replace('-', "¯")
}

/// Groups of workloads, and whether one is in it.
pub const GROUPS: &[(&str, &str, fn(&Work) -> bool)] = &[
    ("all", "all of these", |_| true),
    (
        "papers",
        "those that four papers measure too, in our words: Accelerator (ACL), Baskaran and others \
         (BAS), Accelerate (ACC), Barracuda (BAR)",
        |w| !w.seeds.is_empty(),
    ),
    (
        "everyday",
        "lines as people write them: masks, whole numbers, keys, words, rows, small arrays",
        |w| w.everyday,
    ),
];

/// The workloads that were asked for, in the order of the table; `memory` is what arrays may take.
/// Errors: a name that is none, or nothing is left.
pub fn chosen(
    works: &[Work],
    args: &BenchArgs,
    gpu: bool,
    memory: u64,
) -> Result<Vec<Job>, String> {
    let name = args.what();
    let known = |name: &str| works.iter().any(|w| w.id == name);
    if let Some(unknown) = args.only.iter().find(|name| !known(name)) {
        return Err(format!("no workload is called {unknown}; aplomb bench list names them"));
    }
    let group = GROUPS.iter().find(|g| g.0 == name).map(|g| g.2);
    let is_meant = |w: &&Work| group.map_or(w.id == name, |has| has(w));
    let meant =
        works.iter().filter(is_meant).filter(|w| args.only.is_empty() || args.only.contains(&w.id));
    let mut jobs: Vec<Job> = Vec::new();
    for work in meant {
        let points = match (args.small, gpu && !work.gpu.is_empty()) {
            (true, _) => &work.small,
            (false, true) => &work.gpu,
            (false, false) => &work.cpu,
        };
        for (dtype, n) in of_dtype(points, args.dtype.as_deref()) {
            let n = args.n.unwrap_or(n);
            if jobs
                .iter()
                .all(|j| (j.work.id.as_str(), j.dtype.as_str(), j.n) != (&work.id, &dtype, n))
            {
                jobs.push(Job { work: work.clone(), dtype, n, note: None });
            }
        }
    }
    match (jobs.is_empty(), &args.dtype) {
        (true, Some(dtype)) => Err(format!("none of these workloads is one of {dtype}")),
        (true, None) => Err("--only left no workload".into()),
        _ => Ok(jobs.into_iter().map(|job| job.fitted(memory)).collect()),
    }
}

/// The points of a dtype; those of the other floating-point one become it where there are none.
fn of_dtype(points: &[Point], wanted: Option<&str>) -> Vec<Point> {
    let Some(wanted) = wanted else { return points.to_vec() };
    let same: Vec<Point> = points.iter().filter(|p| p.0 == wanted).cloned().collect();
    let floats = |dtype: &str| dtype.starts_with('f');
    let other = points.iter().filter(|p| same.is_empty() && floats(&p.0) && floats(wanted));
    same.iter().cloned().chain(other.map(|p| (wanted.to_string(), p.1))).collect()
}
