//! `aplomb bench families`: programs of n parts and of 10 n, and how much longer the larger takes.

use crate::args::BenchArgs;
use aplomb_ground::protocol::Request;
use aplomb_kernel::session::Session;
use serde_json::json;
use std::time::Instant;

const PAGE: &str = include_str!("../../benches/families.txt");
/// The number of parts, and with `--small`.
const SIZES: [usize; 2] = [200, 20];
/// The growth of the parts, and that of the time that they may take.
const MORE: (usize, f64) = (10, 14.0);

/// A program of n parts.
fn program(block: &str, n: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in block.lines() {
        let (text, times) = match (line.strip_prefix("    * "), line.strip_prefix("      ")) {
            (Some(text), _) => (text, n),
            (None, Some(text)) => (text, 1),
            (None, None) => continue,
        };
        let text = match (text.split_once('«'), text.split_once('»')) {
            (Some((before, _)), Some((inner, after))) => {
                let own = inner.split_once('«').map_or("", |(_, own)| own);
                format!("{before}{}{after}", own.repeat(n))
            }
            _ => text.to_string(),
        };
        let text = text.replace('§', &n.to_string());
        lines.extend(std::iter::repeat_n(text, times));
    }
    lines
}

/// Milliseconds of a program, the least of a few. Errors: a line's.
fn least(session: &mut Session, lines: &[String], seconds: f64) -> Result<f64, String> {
    let begun = Instant::now();
    let (mut least, mut rounds) = (f64::MAX, 0);
    while rounds < 2 || begun.elapsed().as_secs_f64() < seconds {
        rounds += 1;
        let start = Instant::now();
        for line in lines {
            let mut heard = crate::front::Printer::default();
            let request =
                Request::Execute { code: line.clone(), name: "family".into(), silent: true };
            session.handle(request, &mut heard);
            if heard.code() != 0 {
                return Err(format!("{line}: a line of a family failed"));
            }
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(least)
}

/// A row a family, the one that grows most last. Errors: a line's.
pub fn run(session: &mut Session, args: &BenchArgs) -> Result<String, String> {
    let n = SIZES[usize::from(args.small)];
    let blocks: Vec<&str> =
        PAGE.split("\n\n").filter(|block| !program(block, 1).is_empty()).collect();
    let seconds = args.seconds() / (2 * blocks.len()) as f64;
    let mut rows = Vec::new();
    for block in blocks {
        let one = least(session, &program(block, n), seconds)?;
        let ten = least(session, &program(block, MORE.0 * n), seconds)?;
        let name: Vec<&str> = block.lines().filter(|l| l.starts_with("    ")).collect();
        let name: String = name.iter().map(|l| l.trim()).collect::<Vec<_>>().join(" ⋄ ");
        rows.push((ten / one, one, ten, name));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let row = |(ratio, one, ten, name): &(f64, f64, f64, String)| match args.json {
        true => json!({ "workload": "families", "program": name, "n": n, "ms": one,
            "ten_times_ms": ten, "ratio": ratio })
        .to_string(),
        false => format!("{ratio:9.2}× {one:10.3} {ten:10.3} ms  {name}"),
    };
    let mut out: String = rows.iter().map(|r| row(r) + "\n").collect();
    if !args.json {
        let within = rows.iter().filter(|r| r.0 <= MORE.1).count();
        out += &format!(
            "{} families, n={n} and {}: {within} within {}×\n",
            rows.len(),
            MORE.0 * n,
            MORE.1
        );
    }
    Ok(out)
}
