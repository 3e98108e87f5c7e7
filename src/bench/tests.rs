//! Each workload, small: its value is what the same text gives where nothing is fused, framed or
//! looped.

use super::table;
use super::work::{self, Table, Work};
use crate::args::BenchArgs;
use crate::front::{Pipeline, Settings};
use aplomb_devices::device::Wanted;
use aplomb_ground::protocol::{Event, Request, Sink};
use aplomb_kernel::session::Session;
use aplomb_values::array::{Array, Data};
use serde_json::json;

const ARGS: BenchArgs = BenchArgs {
    name: None,
    workload: None,
    n: None,
    dtype: None,
    seconds: None,
    small: true,
    only: Vec::new(),
    json: false,
    peers: None,
    pairs: None,
};

fn all(args: &BenchArgs) -> (Table, Vec<Work>, Vec<work::Job>) {
    let (table, works) = Table::read().expect("a table");
    let jobs = work::chosen(&works, args, false, 1 << 30).expect("jobs");
    (table, works, jobs)
}

fn session(off: &[&str]) -> Session {
    let off = off.iter().map(|s| s.to_string()).collect();
    let settings = Settings::new(Some(2), &[], off, Pipeline::default(), false).expect("settings");
    Settings { device: Wanted::Cpu, ..settings }.session()
}

struct Fails;

impl Sink for Fails {
    fn event(&mut self, event: Event) {
        if let Event::Error(failure) = event {
            panic!("{}", failure.report);
        }
    }

    fn input(&mut self, _prompt: &str) -> Option<String> {
        None
    }
}

fn value(session: &mut Session, job: &work::Job, table: &Table) -> Vec<(Vec<usize>, Vec<f64>)> {
    session.handle(
        Request::Execute { code: job.making(table, 0), name: "data".into(), silent: true },
        &mut Fails,
    );
    let names = job.results();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let values =
        session.values_of(&job.text(0), &names).unwrap_or_else(|e| panic!("{}: {e}", job.work.id));
    assert_eq!(values.len(), names.len(), "{}", job.work.id);
    values.iter().map(|a| (a.shape().to_vec(), numbers(a))).collect()
}

fn numbers(a: &Array) -> Vec<f64> {
    match a.settled().data() {
        Data::Num(x, _) => vec![*x],
        Data::Dense(b) => b.view().each().collect(),
        Data::Items(items) => items.iter().flat_map(|i| numbers(&i)).collect(),
        _ => panic!("no numbers"),
    }
}

#[test]
fn each_value_is_that_of_single_operations() {
    let args = BenchArgs { name: Some("all".into()), ..ARGS };
    let (table, works, jobs) = all(&args);
    assert!(jobs.len() == works.len() && jobs.len() > 30);
    for job in &jobs {
        let own = value(&mut session(&[]), job, &table);
        let other = value(&mut session(&["fusion", "frames", "loops", "simplify"]), job, &table);
        for ((shape, x), (other_shape, y)) in own.iter().zip(&other) {
            assert_eq!(shape, other_shape, "{}", job.work.id);
            assert!(
                !x.is_empty() && x.iter().any(|v| *v != x[0]) || shape.is_empty(),
                "{}: nothing",
                job.work.id
            );
            let most = y.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            let far = x.iter().zip(y).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
            assert!(far <= 1e-12 * most, "{}: {far} of {most}", job.work.id);
        }
        assert!(!job.text(0).contains('$'), "{}", job.text(0));
    }
}

#[test]
fn every_point_is_well_formed() {
    let (table, works) = Table::read().expect("a table");
    for gpu in [false, true] {
        let args = BenchArgs { name: Some("all".into()), small: false, ..ARGS };
        for job in work::chosen(&works, &args, gpu, u64::MAX).expect("jobs") {
            assert!(
                job.bytes() > 0.0 && job.flops() >= 0.0 && job.note.is_none(),
                "{}",
                job.work.id
            );
            let making = job.making(&table, 1);
            assert_eq!(
                making.matches("'⎕AS ").count(),
                making.matches("_←⎕DR").count(),
                "{making}"
            );
        }
    }
    let ids: std::collections::BTreeSet<&str> = works.iter().map(|w| w.id.as_str()).collect();
    assert_eq!(ids.len(), works.len());
}

#[test]
fn sizes_fit_the_memory_and_say_so() {
    let (_, works) = Table::read().expect("a table");
    let args = BenchArgs { name: Some("saxpy".into()), small: false, n: Some(1 << 40), ..ARGS };
    let jobs = work::chosen(&works, &args, false, 1 << 20).expect("jobs");
    assert_eq!(jobs[0].n, 1 << 14);
    assert!(
        jobs[0].note.as_ref().is_some_and(|says| says.contains("1099511627776")),
        "{:?}",
        jobs[0].note
    );
}

#[test]
fn what_is_asked_for_is_chosen() {
    let (_, works) = Table::read().expect("a table");
    let chosen = |args: BenchArgs| -> Result<Vec<String>, String> {
        let jobs = work::chosen(&works, &args, false, u64::MAX)?;
        Ok(jobs.iter().map(|j| format!("{} {} {}", j.work.id, j.dtype, j.n)).collect())
    };
    let words = |all: &[&str]| Ok(all.iter().map(|s| s.to_string()).collect::<Vec<_>>());
    let named = |name: &str| BenchArgs { name: Some(name.into()), ..ARGS };
    assert_eq!(chosen(named("dot")), words(&["dot f64 100000"]));
    assert_eq!(
        chosen(BenchArgs { dtype: Some("f32".into()), n: Some(9), ..named("dot") }),
        words(&["dot f32 9"])
    );
    assert_eq!(
        chosen(BenchArgs { small: false, n: Some(9), ..named("chain") }),
        words(&["chain f64 9"])
    );
    let of_group =
        BenchArgs { only: vec!["life".into(), "sort".into(), "chain".into()], ..named("papers") };
    assert_eq!(chosen(of_group), words(&["sort i32 50000", "life bool 200"]));
    assert!(chosen(BenchArgs { dtype: Some("i8".into()), ..named("dot") }).is_err());
    let unknown = chosen(BenchArgs { only: vec!["lif".into()], ..named("all") });
    assert!(unknown.is_err_and(|says| says.contains("lif;")));
}

#[test]
fn the_last_lines_are_geometric_means_to_the_best_and_to_each_peer() {
    let row = |id: &str, numpy: f64, numba: Option<f64>| {
        json!({"id": id, "dtype": "f64", "peers": {
            "numpy": {"ratio": numpy}, "numba": {"ratio": numba}, "jax": {"error": "none"}}})
    };
    let mut summary = table::Summary::default();
    summary.add(&json!({"id": "alone", "dtype": "f64"}));
    assert_eq!(summary.told(), "");
    summary.add(&row("a", 8.0, Some(0.5)));
    summary.add(&row("b", 2.0, None));
    let wanted = [
        "",
        "best peer of each row: 1.00 × in geometric mean of 2 rows, 1 at least 1 ×, least 0.50 × \
         (a f64)",
        "numpy: 4.00 × of 2 rows",
        "numba: 0.50 × of 1 rows",
        "",
    ]
    .join("\n");
    assert_eq!(summary.told(), wanted);
}
