//! `aplomb bench jupyter`: a kernel of this program, timed from a client's side.
//!
//! Start: from spawning to the first kernel_info_reply. Cell: from sending `1+1` to having reply
//! and idle. Interrupt: from asking to stop an endless cell to its idle.

use crate::args::BenchArgs;
use crate::front::{FAILED, print};
use aplomb_kernel::jupyter::client::{Channel, Client};
use aplomb_kernel::jupyter::{fresh, write};
use serde_json::json;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const WAIT: Duration = Duration::from_secs(30);
const STARTS: usize = 8;
const INTERRUPTS: usize = 20;

pub fn run(args: &BenchArgs) -> i32 {
    match measure(args.seconds()) {
        Ok(rows) => {
            if args.json {
                let rows: Vec<_> =
                    rows.iter().map(|(name, ms)| json!({ "name": name, "ms": ms })).collect();
                print(&format!("{}\n", json!({ "bench": "jupyter", "rows": rows })));
            } else {
                print(&rows.iter().map(|(name, ms)| told(name, ms)).collect::<String>());
            }
            0
        }
        Err(says) => {
            eprintln!("aplomb bench jupyter: {says}");
            FAILED
        }
    }
}

/// Sorted times of one thing.
fn told(name: &str, ms: &[f64]) -> String {
    let at = |part: f64| {
        ms.get(((ms.len() as f64 - 1.0) * part).round() as usize).copied().unwrap_or(f64::NAN)
    };
    let (n, least, middle, late, most) = (ms.len(), at(0.0), at(0.5), at(0.99), at(1.0));
    format!(
        "{name:<34} min {least:>7.2}  p50 {middle:>7.2}  p99 {late:>7.2}  max {most:>7.2} ms  of \
         {n}\n"
    )
}

/// A kernel process and a client of it; dropping ends it.
struct Running {
    kernel: Child,
    client: Client,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.client.ask(Channel::Control, "shutdown_request", &json!({}), Duration::from_secs(2));
        let _ = self.kernel.kill();
        let _ = self.kernel.wait();
    }
}

/// Started, and the milliseconds to the first reply.
fn start() -> Result<(Running, f64), String> {
    let info = fresh().map_err(|e| e.to_string())?;
    let file = std::env::temp_dir().join(format!(
        "aplomb-bench-{}-{}.json",
        std::process::id(),
        info.shell_port
    ));
    write(&file, &info).map_err(|e| format!("{}: {e}", file.display()))?;
    let begun = Instant::now();
    let program = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(program);
    command.args(["kernel", "start", "-f"]).arg(&file).stdin(Stdio::null());
    let kernel = command.spawn().map_err(|e| e.to_string())?;
    let running = Running { kernel, client: Client::connect_when_open(&info, WAIT)? };
    let first = running.client.ask(Channel::Shell, "kernel_info_request", &json!({}), WAIT);
    let took = begun.elapsed().as_secs_f64() * 1e3;
    let _ = std::fs::remove_file(&file);
    first.ok_or("the kernel does not answer")?;
    Ok((running, took))
}

fn measure(seconds: f64) -> Result<Vec<(&'static str, Vec<f64>)>, String> {
    let mut starts = Vec::new();
    for _ in 1..STARTS {
        starts.push(start()?.1);
    }
    let (running, last) = start()?;
    starts.push(last);
    let client = &running.client;
    client.wait_until_ready(WAIT).ok_or("the kernel publishes nothing")?;
    let slow = "a cell took more than 30 s";
    let mut cells = Vec::new();
    let begun = Instant::now();
    while begun.elapsed().as_secs_f64() < seconds.max(0.1) {
        let sent = Instant::now();
        client.execute("1+1", WAIT).ok_or(slow)?;
        cells.push(sent.elapsed().as_secs_f64() * 1e3);
    }
    let mut loops = Vec::new();
    let mut launches = Vec::new();
    for k in 0..INTERRUPTS {
        // A recursion of small steps, and one launch over 4E10 elements.
        let (code, times) =
            if k % 2 == 0 { ("{∇⍵}1", &mut loops) } else { ("+/1○⍳4E10", &mut launches) };
        let id = client.send(Channel::Shell, "execute_request", &json!({ "code": code }));
        std::thread::sleep(Duration::from_millis(100 + 7 * k as u64));
        let asked = Instant::now();
        client
            .ask(Channel::Control, "interrupt_request", &json!({}), WAIT)
            .ok_or("no reply to an interrupt")?;
        client.reply(Channel::Shell, &id, WAIT).ok_or(slow)?;
        client.heard(&id, WAIT).ok_or(slow)?;
        times.push(asked.elapsed().as_secs_f64() * 1e3);
    }
    let mut rows = vec![
        ("start to first kernel_info_reply", starts),
        ("cell 1+1, sent to idle", cells),
        ("interrupt of {∇⍵}1, to idle", loops),
        ("interrupt of +/1○⍳4E10, to idle", launches),
    ];
    rows.iter_mut().for_each(|(_, ms)| ms.sort_by(f64::total_cmp));
    Ok(rows)
}
