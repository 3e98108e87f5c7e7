//! The peers of `benches/peers`: a process that answers for all of them, in turns with us, on the
//! same files.

use super::timed::{Stop, figure, least, median};
use super::work::Job;
use serde_json::{Map, Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub const PEERS: &[&str] = &["numpy", "numexpr", "jax", "numba"];
const SCRIPT: &str = "benches/peers/peers.py";

pub struct Peers {
    process: Child,
    asks: ChildStdin,
    answers: BufReader<ChildStdout>,
    /// For data and results.
    folder: PathBuf,
}

/// The times of the peers for one workload.
pub struct Compared {
    request: Value,
    rows: Vec<Vec<Value>>,
}

impl Peers {
    /// Errors: no checkout, no Python, no folder.
    pub fn start(venv: &Path, threads: usize) -> Result<Peers, String> {
        if !Path::new(SCRIPT).exists() {
            return Err(format!("no such file: {SCRIPT}; --peers runs in a checkout of Aplomb"));
        }
        let folder = std::env::temp_dir().join(format!("aplomb-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        let mut command = Command::new("python3");
        command.arg(SCRIPT).arg("--venv").arg(venv).args(["--peers", &PEERS.join(","), "--serve"]);
        command.args(["--threads", &threads.to_string()]);
        // Ctrl-C is ours to tell them.
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut process = command.spawn().map_err(|e| format!("python3: {e}"))?;
        match (process.stdin.take(), process.stdout.take()) {
            (Some(asks), Some(answers)) => {
                Ok(Peers { process, asks, answers: BufReader::new(answers), folder })
            }
            _ => Err("python3 has no input or output".into()),
        }
    }

    /// An empty folder for the next workload, as APL writes it between quotes. Errors: its path is
    /// no text.
    pub fn folder(&self) -> Result<String, Stop> {
        let failed = |says: String| Stop::Failed(format!("{}: {says}", self.folder.display()));
        let _ = std::fs::remove_dir_all(&self.folder);
        std::fs::create_dir_all(&self.folder).map_err(|e| failed(e.to_string()))?;
        let path = self.folder.to_str().ok_or_else(|| failed("not UTF-8".into()))?;
        Ok(path.replace('\'', "''"))
    }

    pub fn begin(&self, job: &Job) -> Compared {
        let folder = self.folder.display().to_string();
        let request =
            json!({ "id": job.work.id, "n": job.n, "dtype": job.dtype, "folder": folder });
        Compared { request, rows: vec![Vec::new(); PEERS.len()] }
    }

    /// Each peer's turn.
    pub fn round(&mut self, compared: &mut Compared, seconds: f64) -> Result<(), Stop> {
        compared.request["seconds"] = json!(seconds);
        let gone = |says: String| Stop::Failed(format!("the peers' process ended: {says}"));
        writeln!(self.asks, "{}", compared.request)
            .and_then(|()| self.asks.flush())
            .map_err(|e| gone(e.to_string()))?;
        loop {
            let mut line = String::new();
            let read = self.answers.read_line(&mut line).map_err(|e| gone(e.to_string()))?;
            let row: Value = serde_json::from_str(&line).unwrap_or(Value::Null);
            if read == 0 {
                return Err(gone("see above".into()));
            }
            if row.as_object().is_some_and(Map::is_empty) {
                return Ok(());
            }
            if let Some(k) = PEERS.iter().position(|name| row["peer"] == *name) {
                compared.rows[k].push(row);
            }
        }
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Compared {
    /// A field a peer that has the workload: its times over all rounds, and the ratio of its least
    /// to ours; above 1 we are faster.
    pub fn told(&self, ours: f64) -> Value {
        let mut out = Map::new();
        for (name, rows) in PEERS.iter().zip(&self.rows) {
            let of =
                |key: &str| -> Vec<f64> { rows.iter().filter_map(|r| r[key].as_f64()).collect() };
            let (times, error) = (of("least_us"), rows.iter().find_map(|r| r["error"].as_str()));
            if times.is_empty() && error.is_none() {
                continue;
            }
            let ok = rows.iter().find_map(|r| r["ok"].as_bool());
            let told = json!({
                "us": figure(median(&of("us"))),
                "least_us": figure(least(&times)),
                "first_ms": of("first_ms").first().map(|x| figure(*x)),
                "ratio": figure(least(&times) / ours),
                "err": of("err").first(), "ok": ok, "error": error,
            });
            out.insert(name.to_string(), told);
        }
        Value::Object(out)
    }
}
