//! `aplomb bench spellings`: natural spellings against the best ones of the same meaning.
//!
//! Pairs are `benches/spellings/pairs.txt`, whose values a test holds to be equal. Each spelling is
//! timed as a line of a session is: its plan is known after the first time.

use crate::args::BenchArgs;
use aplomb_ground::protocol::Request;
use aplomb_kernel::session::Session;
use serde_json::json;
use std::time::Instant;

const PAGE: &str = include_str!("../../benches/spellings/pairs.txt");
/// Elements of the data, and with `--small`.
const SIZES: [usize; 2] = [20_000, 2_000];
/// Ratios that are counted.
const GOALS: [f64; 2] = [3.0, 10.0];

/// A natural spelling, the best one, and lines that make what they alone read.
struct Pair<'a> {
    data: Vec<&'a str>,
    natural: &'a str,
    best: &'a str,
}

/// The lines that make the data of all, and the pairs.
fn read(page: &str) -> (Vec<&str>, Vec<Pair<'_>>) {
    let (mut setup, mut pairs) = (Vec::new(), Vec::new());
    for block in page.split("\n\n") {
        let lines: Vec<&str> = block.lines().filter_map(|l| l.strip_prefix("      ")).collect();
        match lines.as_slice() {
            lines if setup.is_empty() => setup = lines.to_vec(),
            [data @ .., natural, best] => {
                let natural = natural.split(" ⍝ ").next().unwrap_or(natural);
                pairs.push(Pair { data: data.to_vec(), natural, best });
            }
            _ => {}
        }
    }
    (setup, pairs)
}

/// A line that makes data. What it shows is not wanted.
fn made(session: &mut Session, line: &str) -> Result<(), String> {
    let mut heard = crate::front::Printer::default();
    let request = Request::Execute { code: line.into(), name: "data".into(), silent: true };
    session.handle(request, &mut heard);
    if heard.code() == 0 { Ok(()) } else { Err(format!("{line}: data that failed")) }
}

/// Milliseconds of a line, the least of several. Errors: the line's own.
fn least(session: &mut Session, line: &str, seconds: f64) -> Result<f64, String> {
    let begun = Instant::now();
    let (mut least, mut rounds) = (f64::MAX, 0);
    while rounds < 2 || begun.elapsed().as_secs_f64() < seconds && rounds < 1_000 {
        rounds += 1;
        let start = Instant::now();
        session.value_of(line).map_err(|e| format!("{line}: {e}"))?;
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(least)
}

/// A row a pair, the largest ratio last. Errors: a line's.
pub fn run(session: &mut Session, args: &BenchArgs) -> Result<String, String> {
    let file = args
        .pairs
        .as_ref()
        .map(|path| std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display())));
    let file = file.transpose()?;
    let (setup, pairs) = read(file.as_deref().map_or(PAGE, |own| own));
    let n = SIZES[usize::from(args.small)];
    made(session, &format!("n←{n}"))?;
    setup.iter().try_for_each(|line| made(session, line))?;
    let seconds = args.seconds() / (2 * pairs.len()) as f64;
    let mut rows = Vec::new();
    for Pair { data, natural, best } in &pairs {
        data.iter().try_for_each(|line| made(session, line))?;
        let (a, b) = (least(session, natural, seconds)?, least(session, best, seconds)?);
        rows.push((a / b, a, b, *natural, *best));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let row = |(ratio, a, b, natural, best): &(f64, f64, f64, &str, &str)| match args.json {
        true => json!({ "workload": "spellings", "natural": natural, "best": best, "n": n,
            "natural_ms": a, "best_ms": b, "ratio": ratio })
        .to_string(),
        false => format!("{ratio:9.2}× {a:10.3} {b:10.3} ms  {natural}   {best}"),
    };
    let mut out: String = rows.iter().map(|r| row(r) + "\n").collect();
    if !args.json {
        let within = GOALS.map(|goal| rows.iter().filter(|r| r.0 <= goal).count());
        let [three, ten] = within;
        out += &format!("{} pairs, n={n}: {three} within 3×, {ten} within 10×\n", rows.len());
    }
    Ok(out)
}
