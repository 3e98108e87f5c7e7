//! `aplomb repro`: one launch as a CUDA program with its data, that says whether it gives what the
//! CPU gives.

use crate::args::ReproArgs;
use crate::front::{FAILED, Printer, Settings, USAGE, on_session, print};
use aplomb_ground::error::bytes;
use aplomb_ground::protocol::Request;
use aplomb_ground::span::first_line;
use aplomb_kernel::session::Reproduction;
use aplomb_plans::kir::{Kernel, Param, ParamKind, Type};
use aplomb_plans::plan::Math;
use aplomb_values::array::{Array, Data, View};

/// Bytes of data that a text file may reasonably hold.
const MOST: usize = 1 << 20;

pub fn run(settings: Settings, args: ReproArgs) -> i32 {
    let number = args.launch.strip_prefix('k').and_then(|n| n.parse::<usize>().ok());
    let Some(number) = number else {
        eprintln!("aplomb repro: a launch is called k0, k1 and so on");
        return USAGE;
    };
    let code = match (&args.input.file, &args.input.expr) {
        (_, Some(expr)) => Ok(expr.clone()),
        (Some(file), None) => crate::script::read(file),
        (None, None) => Err("FILE or -e 'EXPR' is needed".into()),
    };
    let code = match code {
        Ok(code) => code,
        Err(says) => {
            eprintln!("aplomb: {says}");
            return USAGE;
        }
    };
    on_session(settings, move |session| {
        session.core().set_tracing(true);
        let mut printer = Printer::aside();
        let request = Request::Execute { code, name: "line 1".into(), silent: true };
        session.handle(request, &mut printer);
        // A launch that fails is worth a program of its own too.
        let made = session
            .reproduction(number)
            .map_err(|e| e.parts().says.clone())
            .and_then(|r| program(&r, number));
        let file = args.out.join(format!("k{number}.cu"));
        let written = made.and_then(|text| {
            std::fs::create_dir_all(&args.out).map_err(|e| e.to_string())?;
            std::fs::write(&file, text).map_err(|e| format!("{}: {e}", file.display()))
        });
        match written {
            Ok(()) => {
                print(&format!("{}\n", file.display()));
                0
            }
            Err(says) => {
                eprintln!("aplomb repro: {says}");
                FAILED
            }
        }
    })
}

/// The items as hexadecimal numbers of their size.
fn words(a: &Array, of: Type) -> Vec<String> {
    let settled = a.settled();
    let number = |x: f64| match of {
        Type::F64 => format!("{:#x}", x.to_bits()),
        Type::F32 => format!("{:#x}", (x as f32).to_bits()),
        Type::U32 => format!("{:#x}", x as u32),
        _ => format!("{}", x as i64),
    };
    match settled.data() {
        Data::Num(x, _) => vec![number(*x)],
        Data::Char(c) => vec![format!("{:#x}", u32::from(*c))],
        Data::Dense(b) => {
            let view: View = b.view();
            (0..view.len()).map(|k| number(view.number(k))).collect()
        }
        _ => Vec::new(),
    }
}

/// An integer type of an item's size.
fn raw(of: Type) -> &'static str {
    match of {
        Type::F64 => "u64",
        Type::F32 => "u32",
        other => other.cuda(),
    }
}

/// The most blocks of a kernel that does not need more.
const BLOCKS: u64 = 256;

fn blocks(kernel: &Kernel) -> u32 {
    kernel.blocks(kernel.points, BLOCKS).max(1)
}

/// A parameter of one kernel: what its variable in `main` is called, and its declaration where it
/// is this kernel's own.
fn own(kernel: &Kernel, p: &Param, alone: bool) -> (String, Option<String>) {
    let name = if alone { p.name.clone() } else { format!("{}_{}", kernel.name, p.name) };
    let (of, value) = match p.what {
        ParamKind::Number(Type::F64, x) => {
            return (name.clone(), Some(format!("u64 {name} = {:#x}; // {x}", x.to_bits())));
        }
        ParamKind::Number(of, x) => (of, x as i64),
        ParamKind::Launch(of) => match p.name.as_str() {
            "n" => (of, kernel.points as i64),
            "parts" => (of, i64::from(blocks(kernel))),
            _ => (of, 0),
        },
        _ => return (p.name.clone(), None),
    };
    let declared = format!("{} {name} = {value};", of.cuda());
    (name, Some(declared))
}

fn program(r: &Reproduction, number: usize) -> Result<String, String> {
    let (mut data, mut main, mut checks, mut total) =
        (String::new(), String::new(), String::new(), 0);
    let array = |list: &[(u32, Array)], b: u32| list.iter().find(|x| x.0 == b).map(|x| x.1.clone());
    let mut table = |name: &str, a: &Array, of: Type| {
        let all = words(a, of);
        total += all.len() * 8;
        let rows: Vec<String> = all.chunks(8).map(|row| row.join(", ")).collect();
        let body = if all.is_empty() { "0".into() } else { rows.join(",\n  ") };
        data += &format!("static const {} {name}[] = {{\n  {body} }};\n", raw(of));
        all.len()
    };
    let alone = r.code.kernels.len() == 1;
    let mut known: Vec<String> = vec!["err".into()];
    for kernel in &r.code.kernels {
        let mut args = Vec::new();
        for p in &kernel.params {
            let (name, declared) = own(kernel, p, alone);
            args.push(format!("(void*)&{name}"));
            if known.contains(&name) {
                continue;
            }
            known.push(name.clone());
            main += &match (&p.what, name.as_str()) {
                (ParamKind::In(of, b), _) => {
                    let a = array(&r.inputs, *b).ok_or("an input is missing")?;
                    let n = table(&format!("{name}_is"), &a, *of);
                    format!(
                        "  const void* {name} = there({name}_is, {n} * sizeof({}));\n",
                        raw(*of)
                    )
                }
                (ParamKind::Out(of, b), _) => {
                    let wanted = r.outputs.as_ref().and_then(|all| array(all, *b));
                    let n = wanted.as_ref().map(|a| table(&format!("{name}_should"), a, *of));
                    let len = n.unwrap_or(r.elements);
                    if let Some(n) = n {
                        let real = i32::from(*of == Type::F64) + 2 * i32::from(*of == Type::F32);
                        checks += &format!(
                            "  bad |= differs(\"{name}\", {name}, {name}_should, {n}, sizeof({}), \
                             {real});\n",
                            raw(*of)
                        );
                    }
                    format!("  void* {name} = room({len} * sizeof({}));\n", raw(*of))
                }
                (ParamKind::Scratch(_), other) => {
                    match r.code.scratch.iter().find(|s| s.name == other) {
                        Some(s) => format!("  void* {other} = room({});\n", s.bytes),
                        None => match kernel.scratch(other, u64::from(blocks(kernel))) {
                            (bytes, true) => format!("  void* {other} = zeros({bytes});\n"),
                            (bytes, false) => format!("  void* {other} = room({bytes});\n"),
                        },
                    }
                }
                _ => format!("  {}\n", declared.ok_or_else(|| format!("nothing declares {name}"))?),
            };
        }
        for (name, byte) in &kernel.clears {
            if let Some(s) = r.code.scratch.iter().find(|s| s.name == *name) {
                if !known.contains(name) {
                    known.push(name.clone());
                    main += &format!("  void* {name} = room({});\n", s.bytes);
                }
                main += &format!("  must(cudaMemset({name}, {byte}, {}), \"memset\");\n", s.bytes);
            }
        }
        let (name, threads, blocks, args) =
            (&kernel.name, kernel.threads, blocks(kernel), args.join(", "));
        main += &format!(
            "  void* {name}_args[] = {{ {args} }};\n  must(cudaLaunchKernel((const void*){name}, \
             dim3({blocks}), \
             dim3({threads}), {name}_args, 0, 0), \"launch\");\n"
        );
    }
    if total > MOST {
        let (total, most) = (bytes(total as u64), bytes(MOST as u64));
        return Err(format!(
            "the launch's arrays take {total}, {most} are the most: a smaller line has the same \
             text"
        ));
    }
    let line = first_line(&r.statement);
    let (fmad, host) = match r.code.fast.math() {
        Math::Strict => (false, HOST.to_string()),
        // Of f32, with some room.
        Math::Fast => (true, HOST.replace("1e-11", "1e-4")),
    };
    Ok(format!(
        "// aplomb repro k{number}: {line}\n// nvcc -fmad={fmad} -o k{number} k{number}.cu && \
         ./k{number}\n{}\n\
         #ifndef APLOMB_DEVICE_ONLY\n{host}\n{data}\nint main() {{\n  \
         static const u64 fine[] = {{ ~0ull, ~0ull }};\n  const void* err = there(fine, sizeof \
         fine);\n{main}  \
         must(cudaDeviceSynchronize(), \"run\");\n  int bad = failed(err);\n{checks}  \
         puts(bad ? \"NOT as the CPU\" : \"as the CPU\");\n  return bad;\n}}\n#endif\n",
        r.text,
    ))
}

const HOST: &str = r#"#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
static void must(cudaError_t e, const char* what) {
  if (e != cudaSuccess) { fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e)); exit(2); } }
static void* room(size_t bytes) { void* p = 0; must(cudaMalloc(&p, bytes ? bytes : 8), "memory");
  return p; }
static void* there(const void* from, size_t bytes) {
  void* p = room(bytes); must(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice), "copy");
    return p; }
static void* zeros(size_t bytes) {
  void* p = room(bytes); void* from = calloc(bytes, 1);
  must(cudaMemcpy(p, from, bytes, cudaMemcpyHostToDevice), "copy"); free(from); return p; }
static int failed(const void* err) {
  u64 word[2]; must(cudaMemcpy(word, err, sizeof word, cudaMemcpyDeviceToHost), "copy");
  if (word[1] != ~0ull) printf("results that did not fit: %llx\n", ~word[1]);
  if (word[0] == ~0ull) return 0;
  printf("site %llu failed at element %llu\n", word[0] >> 48, word[0] & 0xffffffffffffull);
    return 1; }
// Sums are taken in another order than on the CPU: 1e-11 apart is the same.
static int differs(const char* name, const void* device, const void* should, size_t n,
  size_t size, int real) {
  char* own = (char*)malloc(n * size + 8);
    must(cudaMemcpy(own, device, n * size, cudaMemcpyDeviceToHost), "copy");
  for (size_t i = 0; i < n; i++) {
    const char *a = own + i * size, *b = (const char*)should + i * size; double x = 0, y = 0;
    if (!memcmp(a, b, size)) continue;
    if (real == 1) { memcpy(&x, a, 8); memcpy(&y, b, 8); }
    if (real == 2) { float f, g; memcpy(&f, a, 4); memcpy(&g, b, 4); x = f; y = g; }
    double apart = x < y ? y - x : x - y, most = x < 0 ? -x : x;
    if (real && apart <= 1e-11 * most) continue;
    printf("%s[%zu] is %.17g, on the CPU %.17g\n", name, i, x, y); free(own); return 1; }
  free(own); return 0; }"#;
