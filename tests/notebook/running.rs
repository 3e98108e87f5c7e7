//! Kernel processes of the program under test.

#![allow(dead_code, reason = "each test that shares this uses a part of it")]

use aplomb_kernel::jupyter::client::{Answer, Channel, Client};
use aplomb_kernel::jupyter::{ConnectionInfo, fresh, write};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Longer than anything takes on a busy machine.
pub const WAIT: Duration = Duration::from_secs(30);

pub struct Running {
    process: Child,
    pub client: Client,
    pub info: ConnectionInfo,
    folder: tempfile::TempDir,
}

/// Asks until there is an answer.
pub fn eventually<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(begun.elapsed() < WAIT, "nothing within {WAIT:?}");
        std::thread::yield_now();
    }
}

fn kernel(program: &str, file: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["kernel", "start", "-f", file]);
    command
}

/// A kernel that keeps what it remembers in a folder.
pub fn remembering(folder: &std::path::Path) -> Running {
    Running::start_by(|program, file| {
        let mut command = kernel(program, file);
        command.env("XDG_STATE_HOME", folder);
        command
    })
}

impl Running {
    pub fn start() -> Running {
        Running::start_by(kernel)
    }

    /// Another where one was.
    pub fn start_with(info: ConnectionInfo) -> Running {
        Running::at(info, kernel)
    }

    /// By a command made from the program and the connection file.
    pub fn start_by(command: impl FnOnce(&str, &str) -> Command) -> Running {
        Running::at(fresh().expect("free ports"), command)
    }

    fn at(info: ConnectionInfo, command: impl FnOnce(&str, &str) -> Command) -> Running {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("connection.json");
        write(&file, &info).expect("a file");
        let mut command = command(env!("CARGO_BIN_EXE_aplomb"), file.to_str().expect("UTF-8"));
        // A standard error that takes nothing, as that of a server whose terminal is gone.
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux");
        // What earlier processes remember is none of a test's.
        if command.get_envs().all(|(name, _)| name != "XDG_STATE_HOME") {
            command.env("XDG_STATE_HOME", folder.path());
        }
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(full);
        let process = command.spawn().expect("a kernel");
        let client = Client::connect_when_open(&info, WAIT).expect("open ports");
        client.wait_until_ready(WAIT).expect("a kernel that answers");
        Running { process, client, info, folder }
    }

    /// The connection file.
    pub fn file(&self) -> std::path::PathBuf {
        self.folder.path().join("connection.json")
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn with(&self, content: Value) -> Answer {
        self.client.execute_with(&content, WAIT).expect("reply and idle")
    }

    pub fn run(&self, code: &str) -> Answer {
        self.with(json!({ "code": code }))
    }

    /// The plain text of a cell's first result.
    pub fn shown(&self, code: &str) -> String {
        let answer = self.run(code);
        let results = answer.all("execute_result");
        let first = results.first().unwrap_or_else(|| panic!("{code}: {:?}", answer.reply));
        first["data"]["text/plain"].as_str().expect("text").to_string()
    }

    /// Sends a cell and does not wait; its id.
    pub fn send(&self, code: &str) -> String {
        self.client.send(Channel::Shell, "execute_request", &json!({ "code": code }))
    }

    /// A shell request with a reply.
    pub fn ask(&self, kind: &str, content: Value) -> Value {
        self.client.ask(Channel::Shell, kind, &content, WAIT).expect("a reply")
    }

    pub fn interrupt(&self) {
        let reply = self.client.ask(Channel::Control, "interrupt_request", &json!({}), WAIT);
        assert_eq!(reply, Some(json!({ "status": "ok" })));
    }

    pub fn signal(&self, name: &str) {
        let done = Command::new("kill").args([format!("-{name}"), self.id().to_string()]).status();
        assert!(done.expect("kill").success());
    }

    /// The first line of standard output.
    pub fn first_line(&mut self) -> String {
        let mut line = String::new();
        let out = self.process.stdout.take().expect("piped");
        BufReader::new(out).read_line(&mut line).expect("a line");
        line
    }

    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    pub fn is_alive(&mut self) -> bool {
        matches!(self.process.try_wait(), Ok(None))
    }

    /// The exit code, once the process has ended.
    pub fn ended(&mut self) -> Option<i32> {
        eventually(|| self.process.try_wait().expect("a child")).code()
    }

    /// Bytes of memory that the process holds.
    pub fn resident(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.id())).unwrap_or_default();
        let line = status.lines().find(|l| l.starts_with("VmRSS:")).unwrap_or("");
        line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).unwrap_or(0) * 1024
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}
