//! Kir → CUDA C++ text with a line map: one statement a node, `// n4` at its end.

use super::{Kernel, ParamKind, Stmt};
use aplomb_ground::trace::Cuda;
use aplomb_values::dag::NodeId;

/// Before the threads of a block.
pub const BOUNDS: &str = "__launch_bounds__(";
/// The head of a canonical text has this name.
pub const NAME: &str = " k(";

pub fn print(kernels: &[Kernel]) -> Cuda {
    let mut all = Cuda::default();
    for kernel in kernels {
        let (out, before) =
            (printed(kernel, &format!(" {}(", kernel.name), true), all.text.lines().count() as u32);
        all.text += &out.text;
        all.lines.extend(out.lines.into_iter().map(|(line, nodes)| (line + before, nodes)));
        let whose = if kernels.len() > 1 { format!("{}.", kernel.name) } else { String::new() };
        all.numbers.extend(kernel.params.iter().filter_map(|p| match p.what {
            ParamKind::Number(_, value) => Some((format!("{whose}{}", p.name), value)),
            _ => None,
        }));
    }
    all
}

pub fn canonical(kernel: &Kernel) -> String {
    printed(kernel, NAME, false).text
}

/// The statements of a program in C, each line with the node that it computes.
pub fn lines(kernel: &Kernel) -> Vec<(String, Option<u32>)> {
    let mut out = Printer { marks: true, bare: true, ..Printer::default() };
    out.block(&kernel.body, 1);
    let node = |at: usize| {
        let found = out.lines.iter().find(|(line, _)| *line as usize == at + 1);
        found.and_then(|(_, nodes)| nodes.first().copied())
    };
    out.text.lines().enumerate().map(|(at, text)| (text.to_string(), node(at))).collect()
}

fn printed(kernel: &Kernel, name: &str, marks: bool) -> Printer {
    let mut out = Printer { marks, ..Printer::default() };
    let param = |p: &super::Param| match &p.what {
        ParamKind::In(t, _) => format!("const {}* __restrict__ {}", t.cuda(), p.name),
        ParamKind::Out(t, _) => format!("{}* __restrict__ {}", t.cuda(), p.name),
        ParamKind::Scratch(t) => format!("{}* {}", t.cuda(), p.name),
        ParamKind::Number(t, _) | ParamKind::Launch(t) => format!("{} {}", t.cuda(), p.name),
    };
    let params: Vec<String> = kernel.params.iter().map(param).collect();
    let head = format!("extern \"C\" __global__ void {BOUNDS}{}){name}", kernel.threads);
    out.line(&head, None);
    let mut row = String::from("   ");
    for (k, p) in params.iter().enumerate() {
        let last = k + 1 == params.len();
        if row.len() + p.len() > 110 {
            out.line(&row, None);
            row = String::from("   ");
        }
        row += &format!(" {p}{}", if last { ") {" } else { "," });
    }
    out.line(&row, None);
    out.block(&kernel.body, 1);
    out.line("}", None);
    out
}

#[derive(Default)]
struct Printer {
    text: String,
    lines: Vec<(u32, Vec<u32>)>,
    count: u32,
    marks: bool,
    /// Marks stand beside the text, not in it.
    bare: bool,
}

impl Printer {
    fn line(&mut self, text: &str, node: Option<NodeId>) {
        self.count += 1;
        self.text += text;
        if let Some(at) = node.filter(|_| self.marks) {
            if !self.bare {
                self.text += &format!("  // n{}", at.index());
            }
            self.lines.push((self.count, vec![at.index() as u32]));
        }
        self.text.push('\n');
    }

    fn block(&mut self, body: &[Stmt], depth: usize) {
        let pad = "  ".repeat(depth);
        for stmt in body {
            match stmt {
                Stmt::Let { name, of, is, node } => {
                    self.line(&format!("{pad}{} {name} = {is};", of.cuda()), *node)
                }
                Stmt::Set { name, is, node } => self.line(&format!("{pad}{name} = {is};"), *node),
                Stmt::Store { to, at, is, node } => {
                    self.line(&format!("{pad}{to}[{at}] = {is};"), *node)
                }
                Stmt::Do(e) => self.line(&format!("{pad}{e};"), None),
                Stmt::Shared { name, of, count } => {
                    self.line(&format!("{pad}__shared__ {} {name}[{count}];", of.cuda()), None);
                }
                Stmt::SharedFours { name, count } => {
                    self.line(&format!("{pad}__shared__ float4 {name}[{count}];"), None);
                }
                Stmt::Local { name, of, count } => {
                    self.line(&format!("{pad}alignas(16) {} {name}[{count}];", of.cuda()), None);
                }
                Stmt::If(e, inner) => {
                    self.line(&format!("{pad}if ({e}) {{"), None);
                    self.block(inner, depth + 1);
                    self.line(&format!("{pad}}}"), None);
                }
                Stmt::For { name, from, to, step, body } => {
                    self.line(
                        &format!(
                            "{pad}for (u64 {name} = {from}; {name} < {to}; {name} += {step}) {{"
                        ),
                        None,
                    );
                    self.block(body, depth + 1);
                    self.line(&format!("{pad}}}"), None);
                }
                Stmt::Span { name, from, to, step, body } => {
                    let next = if step == "1" { "++".into() } else { format!(" += {step}") };
                    self.line(
                        &format!("{pad}for (i64 {name} = {from}; {name} < {to}; {name}{next}) {{"),
                        None,
                    );
                    self.block(body, depth + 1);
                    self.line(&format!("{pad}}}"), None);
                }
                Stmt::Parallel { points, loops } => {
                    self.line(&format!("{pad}PARALLEL({points}, {loops})"), None);
                }
                Stmt::Each { name, next, to, body } => {
                    self.line(
                        &format!(
                            "{pad}for (u64 {name} = {next}; {name} < {to}; {name} = {next}) {{"
                        ),
                        None,
                    );
                    self.block(body, depth + 1);
                    self.line(&format!("{pad}}}"), None);
                }
                Stmt::Unrolled { name, count, out, body } => {
                    let some = if out == count { String::new() } else { format!(" {out}") };
                    self.line(&format!("{pad}#pragma unroll{some}"), None);
                    self.line(
                        &format!("{pad}for (u32 {name} = 0; {name} < {count}; {name}++) {{"),
                        None,
                    );
                    self.block(body, depth + 1);
                    self.line(&format!("{pad}}}"), None);
                }
                Stmt::Halve { name, from, body } => {
                    self.line(
                        &format!("{pad}for (u32 {name} = {from}; {name} > 0; {name} >>= 1) {{"),
                        None,
                    );
                    self.block(body, depth + 1);
                    self.line(&format!("{pad}}}"), None);
                }
                Stmt::Roll => self.line("#pragma unroll 1", None),
                Stmt::Note(text) => self.line(&format!("{pad}// {text}"), None),
            }
        }
    }
}
