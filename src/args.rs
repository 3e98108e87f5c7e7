//! The command line's words as types: forms, flags, options. Who acts on them stands in `cli`; who
//! is called by it gets these, so that nobody imports the one that calls.

use crate::told::Line;
use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;

/// The command line as a whole.
#[derive(Parser)]
#[command(name = "aplomb", version, propagate_version = true, about = "An APL that shows its work")]
pub struct Cli {
    #[command(flatten)]
    pub global: Global,
    /// A program to run; without one, the prompt, or lines from a pipe
    pub file: Option<PathBuf>,
    #[command(flatten)]
    pub how: How,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Flags that every form takes.
#[derive(Args)]
pub struct Global {
    /// Threads for computing; all processors without it
    #[arg(long, global = true, value_name = "N", value_parser = count)]
    pub threads: Option<usize>,
    /// Changes a limit; `)limits` lists them
    #[arg(
        long, global = true, value_name = "NAME=VALUE", value_delimiter = ',',
        value_parser = setting
    )]
    pub limit: Vec<(String, f64)>,
    /// Switches compiler passes off; `--off list` prints their names
    #[arg(long, global = true, value_name = "NAME", value_delimiter = ',')]
    pub off: Vec<String>,
    /// The pipeline of that name: all, acl2006, bas2008, acc2013, bar2010; alone, `trace` prints a
    /// table, pass by pass
    #[arg(
        long, global = true, value_name = "PRESET", num_args = 0..=1, require_equals = true,
        default_missing_value = ""
    )]
    pub passes: Option<String>,
    /// The legality rules of 2006 for what lies outside of an array, in any pipeline
    #[arg(long, global = true)]
    pub strict_2006: bool,
    /// `cost`: what is computed again, and what is stored, is decided by cost alone
    #[arg(long, global = true, value_name = "HOW", value_parser = ["cost"])]
    pub dup: Option<String>,
    /// The device that launches run on
    #[arg(
        long, global = true, value_name = "DEVICE", value_parser = ["auto", "cpu", "cuda"],
        default_value = "auto"
    )]
    pub device: String,
    /// Pictures in ASCII
    #[arg(long, global = true)]
    pub ascii: bool,
    /// Files that programs may read and write: those in a folder, or none
    #[arg(long, global = true, value_name = "DIR|none")]
    pub files: Option<String>,
    /// Programs may run commands of the system: ⎕SH
    #[arg(long, global = true)]
    pub allow_run: bool,
    /// The prompt begins without ~/.config/aplomb/profile.apl
    #[arg(long, global = true)]
    pub no_profile: bool,
    /// The arithmetic of a GPU: `strict` gives the CPU's bits; `fast` takes CUDA's own functions,
    /// rounds × and + once and adds products of f32 in f32, and `why` says how far results may be
    /// apart. The CPU computes as ever
    #[arg(
        long, global = true, value_name = "MATH", value_parser = ["strict", "fast"],
        default_value = "strict"
    )]
    pub math: String,
    /// The order of folds: `repeatable` gives the same bits in every run; with `any` a GPU adds
    /// sums by places as its threads come
    #[arg(
        long, global = true, value_name = "ORDER", value_parser = ["repeatable", "any"],
        default_value = "repeatable"
    )]
    pub reduce: String,
}

/// The options of how a program runs.
#[derive(Args, Clone)]
pub struct How {
    /// Writes the trace of the statement whose launches had most to do
    #[arg(long, value_name = "OUT.json")]
    pub trace: Option<PathBuf>,
    /// Runs again whenever the file is saved
    #[arg(long)]
    pub watch: bool,
    /// Words for the program, options too: ⎕ARG
    #[arg(value_name = "ARGS")]
    pub args: Vec<String>,
}

/// A file, or an expression.
#[derive(Args, Clone)]
pub struct Input {
    #[arg(required_unless_present_any = ["expr", "off"], conflicts_with = "expr")]
    pub file: Option<PathBuf>,
    /// An expression instead of a file
    #[arg(short = 'e', value_name = "EXPR", allow_hyphen_values = true)]
    pub expr: Option<String>,
}

/// A document about a statement of a program.
#[derive(Args, Clone)]
pub struct About {
    #[command(flatten)]
    pub input: Input,
    /// Tells the statement on that line, 9.2 the second that ran on it; without it the one whose
    /// launches had most to do
    #[arg(long, value_name = "N")]
    pub line: Option<Line>,
    /// Writes here instead
    #[arg(short = 'o', value_name = "OUT")]
    pub out: Option<PathBuf>,
}

#[derive(Args, Clone)]
pub struct CudaArgs {
    #[command(flatten)]
    pub about: About,
    /// Says in front of each launch what it takes of a GPU of that architecture
    #[arg(long, value_name = "sm_90")]
    pub arch: Option<String>,
}

#[derive(Args, Clone)]
pub struct TraceArgs {
    #[command(flatten)]
    pub about: About,
    /// One JSON document (the default)
    #[arg(long, conflicts_with_all = ["ndjson", "text"])]
    pub json: bool,
    /// JSON, one document a line
    #[arg(long, conflicts_with = "text")]
    pub ndjson: bool,
    /// For people: the passes, the launches, why
    #[arg(long)]
    pub text: bool,
    /// From `--passes` alone: a table, pass by pass
    #[arg(skip)]
    pub table: bool,
    /// The device model of estimates
    #[arg(long, value_name = "ARCH", value_parser = ["sm_90"], default_value = "sm_90")]
    pub arch: String,
    /// Compiles the last statement's plan without running it
    #[arg(long, conflicts_with_all = ["all", "line"])]
    pub no_run: bool,
    /// Every statement that gave a value or had work done, not only one
    #[arg(long, conflicts_with = "line")]
    pub all: bool,
    /// Without times, and numbers drawn from one seed: the same bytes on every run
    #[arg(long)]
    pub canon: bool,
}

#[derive(Args, Clone)]
pub struct DotArgs {
    #[command(flatten)]
    pub about: About,
    /// The graph after this pass; the last one without
    #[arg(long, value_name = "NAME")]
    pub pass: Option<String>,
    /// Launches and buffers instead of nodes
    #[arg(long, conflicts_with_all = ["pass", "lets", "buffers"])]
    pub kernels: bool,
    /// Shared terms and the values that read them
    #[arg(long, conflicts_with_all = ["pass", "buffers"])]
    pub lets: bool,
    /// Buffers and their lives
    #[arg(long, conflicts_with = "pass")]
    pub buffers: bool,
    /// Without times, and numbers drawn from one seed: the same bytes on every run
    #[arg(long)]
    pub canon: bool,
}

#[derive(Args, Clone)]
pub struct ExplainArgs {
    #[command(flatten)]
    pub about: About,
    /// A node (n5, a name), a launch (k0), a pass, or a question: launches kept recomputed shared
    /// fused bytes evaluations
    #[arg(long, value_name = "WHAT")]
    pub why: Option<String>,
}

#[derive(Args, Clone)]
pub struct DiffArgs {
    /// Traces (.json, .ndjson) or programs; with -e they come before the expressions
    #[arg(value_name = "A B", num_args = 0..=2)]
    pub sides: Vec<PathBuf>,
    /// An expression instead of a file; one side alone is compared with itself under --off
    #[arg(short = 'e', value_name = "EXPR", allow_hyphen_values = true)]
    pub exprs: Vec<String>,
    /// Exit code 1 if one of these grew: launches, bytes, flops, kept, nodes, evaluations
    #[arg(long, value_name = "FIGURE", value_delimiter = ',')]
    pub fail_on: Vec<String>,
    /// Compares the statement on that line, 9.2 the second that ran on it; without it the one whose
    /// launches had most to do, under --off the same of both
    #[arg(long, value_name = "N")]
    pub line: Option<Line>,
}

#[derive(Args, Clone)]
pub struct ProfileArgs {
    #[command(flatten)]
    pub input: Input,
    /// One JSON document instead of a table
    #[arg(long)]
    pub json: bool,
    /// Writes the calls as a flame picture, SVG
    #[arg(short = 'o', value_name = "OUT.svg")]
    pub out: Option<PathBuf>,
}

#[derive(Args, Clone)]
pub struct MicroArgs {
    /// One JSON document instead of tables
    #[arg(long)]
    pub json: bool,
    /// Writes bandwidth by stride as a picture, SVG
    #[arg(short = 'o', value_name = "OUT.svg")]
    pub out: Option<PathBuf>,
}

#[derive(Args, Clone)]
pub struct BenchArgs {
    /// The workload to time, all, or papers (those that four papers measure); list names them.
    /// Besides seeds (the papers' programs, by our pipeline and by theirs), frontend (reading,
    /// recording, passes), trace (what a trace costs), layout (pictures of large graphs), jupyter
    /// (start, cells, interrupts), or tui (keys to frames)
    pub name: Option<String>,
    /// The same as NAME
    #[arg(long, value_name = "W", conflicts_with = "name")]
    pub workload: Option<String>,
    /// Elements, or the side of a matrix, instead of the workload's own
    #[arg(long, value_parser = count)]
    pub n: Option<usize>,
    /// Those of this element type, instead of the workload's own
    #[arg(long, value_name = "T", value_parser = ["f32", "f64", "i32", "i8", "bool"])]
    pub dtype: Option<String>,
    /// Seconds of measuring, for each workload
    #[arg(long, value_parser = seconds)]
    pub seconds: Option<f64>,
    /// Small sizes: all of it in some seconds
    #[arg(long)]
    pub small: bool,
    /// Of a group only these
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub only: Vec<String>,
    /// A JSON object a line
    #[arg(long)]
    pub json: bool,
    /// Times NumPy and others from this virtual environment in turns, and prints ratios
    #[arg(long, value_name = "VENV")]
    pub peers: Option<PathBuf>,
    /// Pairs of spellings of this file, instead of our own (benches/spellings says how it is read)
    #[arg(long, value_name = "FILE")]
    pub pairs: Option<PathBuf>,
}

impl BenchArgs {
    /// A workload, a group, or a bench of its own.
    pub fn what(&self) -> &str {
        self.name.as_ref().or(self.workload.as_ref()).map_or("blackscholes", String::as_str)
    }

    /// The options of its own that were given.
    pub fn given(&self) -> Vec<&'static str> {
        let all = [
            ("--n", self.n.is_some()),
            ("--dtype", self.dtype.is_some()),
            ("--seconds", self.seconds.is_some()),
            ("--small", self.small),
            ("--only", !self.only.is_empty()),
            ("--json", self.json),
            ("--peers", self.peers.is_some()),
            ("--pairs", self.pairs.is_some()),
        ];
        all.into_iter().filter(|(_, given)| *given).map(|(name, _)| name).collect()
    }

    /// Of measuring.
    pub fn seconds(&self) -> f64 {
        self.seconds.unwrap_or(if self.small { 0.1 } else { 3.0 })
    }
}

#[derive(Args, Clone)]
pub struct TuiArgs {
    /// A program; Black-Scholes without
    pub file: Option<PathBuf>,
    /// Shows what a running notebook compiles: its connection file, or what stands in its name
    /// behind kernel-
    #[arg(long, value_name = "CONNECTION", conflicts_with = "file")]
    pub existing: Option<PathBuf>,
}

#[derive(Args, Clone)]
pub struct ReproArgs {
    /// The launch: k0, k1 …
    pub launch: String,
    #[command(flatten)]
    pub input: Input,
    /// The folder that gets k0.cu
    #[arg(short = 'o', value_name = "DIR")]
    pub out: PathBuf,
}

#[derive(Subcommand, Clone)]
pub enum KernelCommand {
    /// Tells Jupyter of this program; for the user where nothing is said
    Install {
        #[arg(long)]
        user: bool,
        /// For the virtual or conda environment that is active
        #[arg(long, conflicts_with = "user")]
        sys_prefix: bool,
        /// Under DIR/share/jupyter
        #[arg(long, value_name = "DIR", conflicts_with_all = ["user", "sys_prefix"])]
        prefix: Option<PathBuf>,
    },
    /// Serves a notebook; Jupyter calls this
    Start {
        /// Ports and key
        #[arg(short = 'f', value_name = "CONNECTION")]
        connection: PathBuf,
        /// Listens where other machines reach it, if the file says so
        #[arg(long)]
        allow_remote: bool,
        /// Takes messages of anyone, if the file has no key
        #[arg(long)]
        allow_unsigned: bool,
    },
}

/// The subcommands.
#[derive(Subcommand)]
pub enum Command {
    /// Runs a program; stops at the first error
    Run {
        file: PathBuf,
        #[command(flatten)]
        how: How,
    },
    /// Runs one line, or requests from standard input
    Eval {
        #[arg(required_unless_present = "batch", allow_hyphen_values = true)]
        expr: Option<String>,
        /// NDJSON {"id","lines":[…]} in, {"id","ok","display","error"} out
        #[arg(long, conflicts_with = "expr")]
        batch: bool,
    },
    /// All syntax errors of a program, what can never run, names that nobody sets; nothing is run
    Check {
        file: PathBuf,
        #[arg(long)]
        json: bool,
    },
    /// The language for editors, by the Language Server Protocol over standard input and output
    Lsp {
        /// Runs what is opened or saved, without effects and for two seconds at most, so that
        /// shapes are known
        #[arg(long)]
        run: bool,
    },
    /// The record of everything the compiler did
    Trace(TraceArgs),
    /// The graph for Graphviz
    Dot(DotArgs),
    /// The CUDA text of the launches
    Cuda(CudaArgs),
    /// The PTX that NVRTC makes of it
    Ptx(About),
    /// Launches, bytes, time, and why
    Explain(ExplainArgs),
    /// A whole run by source line: launches, host work, compiling, waiting
    Profile(ProfileArgs),
    /// A program in panes: source, graph, CUDA, reasons, launches, passes, switches
    Tui(TuiArgs),
    /// The changes between two traces, programs or expressions
    Diff(DiffArgs),
    /// The primitives: glyph, key, names, meanings
    Prims {
        #[arg(long)]
        json: bool,
    },
    /// The notebook: Aplomb as a Jupyter kernel
    #[command(subcommand)]
    Kernel(KernelCommand),
    /// Times a workload
    Bench(BenchArgs),
    /// A GPU's memory, measured by how threads lie beside what they read, and the model of it;
    /// without a GPU the model alone
    Microbench(MicroArgs),
    /// Every shape of launch, computed twice; with --cuda on the GPU and the CPU
    Selftest {
        #[arg(long)]
        cuda: bool,
    },
    /// Measures each launch's texts on the GPU and keeps the fastest for later runs
    Tune(Input),
    /// One launch with its data as a CUDA program of its own
    Repro(ReproArgs),
    /// Functions of a program as functions of another language
    Export(ExportArgs),
}

#[derive(Args, Clone)]
pub struct ExportArgs {
    /// Functions of Python's array API: `def f(xp, a, b)`
    #[arg(long, conflicts_with = "c")]
    pub python: bool,
    /// Functions of C11 with OpenMP, which need nothing but the standard library
    #[arg(long)]
    pub c: bool,
    /// The folder that the files are written to; Python is printed without it
    #[arg(short = 'o', value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// The program that defines the functions; what it prints is not shown
    pub file: PathBuf,
    /// A function's name, then the types and extents of its arguments: NAME 'f64[n,3] f64[3]'.
    /// A letter is an extent that is free, a type alone a scalar. Or a call as an example:
    /// NAME '1.5 NAME 2 3⍴⍳6'
    #[arg(required = true, value_name = "NAME TYPES")]
    pub functions: Vec<String>,
}

impl ExportArgs {
    /// The language that was asked for. Errors: a sentence.
    pub fn language(&self) -> Result<Language, String> {
        match (self.python, self.c, &self.out) {
            (true, ..) => Ok(Language::Python),
            (_, true, Some(_)) => Ok(Language::C),
            (_, true, None) => Err("-o says which folder the files are written to".into()),
            (_, _, Some(_)) => Ok(Language::Cuda),
            _ => Err("-o says which folder the files are written to, --python prints".into()),
        }
    }
}

/// A language that functions are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// Functions of the array API.
    Python,
    /// C11.
    C,
    /// CUDA.
    Cuda,
}

/// A count; `2e7` is one.
fn count(text: &str) -> Result<usize, String> {
    let number = text.parse::<f64>().ok().filter(|x| x.fract() == 0.0 && (1.0..=1e15).contains(x));
    number
        .map(|x| x as usize)
        .ok_or_else(|| "a whole number of at least 1, such as 4 or 2e7".into())
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|x| (0.0..=1e6).contains(x));
    number.ok_or_else(|| "a number of seconds, such as 0.5".into())
}

fn setting(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("NAME=VALUE, such as seconds=5")?;
    let value = value.parse().map_err(|_| format!("{value} is no number"))?;
    Ok((name.to_string(), value))
}

/// The parser's own description, for those who read words before it and those who look whether it
/// is true.
pub fn command() -> clap::Command {
    Cli::command()
}

/// The same as help tells it: a file is needed where only an expression may stand for it.
pub fn for_help() -> clap::Command {
    Cli::command().mut_subcommands(|sub| {
        let has = |name: &str| sub.get_arguments().any(|arg| arg.get_id() == name);
        match has("file") && has("expr") {
            // A new one: what may stand for it cannot be taken from the old.
            true => sub.mut_arg("file", |_| {
                let file = clap::Arg::new("file").value_name("FILE").required(true);
                file.help("A program; or -e EXPR")
            }),
            false => sub,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_do_not_clash() {
        Cli::command().debug_assert();
        for_help().debug_assert();
    }

    /// Words that help shows in brackets can be left out.
    #[test]
    fn help_shows_a_file_that_is_needed_as_needed() {
        let mut all = for_help();
        all.build();
        for sub in all.get_subcommands_mut() {
            let name = sub.get_name().to_string();
            let usage = sub.render_usage().to_string();
            let alone = Cli::try_parse_from(["aplomb", &name]);
            assert_eq!(
                usage.contains("<FILE>"),
                alone.is_err() && usage.contains("FILE"),
                "{usage}"
            );
        }
    }

    #[test]
    fn a_count_may_be_written_with_an_exponent() {
        assert_eq!((count("2e7"), count("4")), (Ok(20_000_000), Ok(4)));
        assert!(count("0").is_err() && count("1.5").is_err() && count("x").is_err());
    }
}
