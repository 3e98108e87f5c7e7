//! Functions of CUDA: a header with a C ABI and views in C++, a text, a sample for CMake.
//!
//! Rows: BAR-09, BAR-10, BAR-23. The kernels are those that `]cuda` prints, in the shapes that hold
//! for all extents (`kir::any_extents`), so their text is the same at each of the declaration's
//! sizes. The host's part is written once for each, its numbers marked, and `fit` makes one of
//! these. Memory is the caller's.

mod texts;

use crate::c::{
    Head, extents_text, held, inputs_of, is_taken, scratch, shape_text, type_of, unused,
    with_tables,
};
use crate::declared::Extent;
use crate::{Function, Given, Planned, c::says, extents, fit, names};
use aplomb_ground::error::{Result, bug};
use aplomb_plans::kir::{self, Code, Kernel, ParamKind, Spread, Type};
use aplomb_plans::plan::{BufId, From, Kind};
use aplomb_values::array::{DType, elements};
use std::collections::BTreeMap;

/// The files of a program's functions.
pub struct CudaFiles {
    /// The declarations, for other programs.
    pub header: String,
    /// Kernels and host part.
    pub text: String,
    /// The kernels alone, as NVRTC compiles them.
    pub device: String,
    /// A sample project.
    pub cmake: String,
}

/// The files of these functions: `stem` names them, `from` the program that they stand in.
pub fn cuda(functions: &[Function<Planned>], stem: &str, from: &str) -> Result<CudaFiles> {
    let mut names: Vec<String> = Vec::new();
    let (mut heads, mut kernels, mut hosts) = (String::new(), String::new(), String::new());
    for function in functions {
        let taken = |n: &str| is_taken(n) || names.iter().any(|k| k == n);
        let name = names::identifier(&function.name, &taken);
        let written = defined(function, &name, from)?;
        heads += &written.0;
        kernels += &written.1;
        hosts += &written.2;
        names.push(name);
    }
    let device = format!("{}\n{kernels}", kir::helpers(&[&kernels]));
    let put = |text: &str| {
        text.replace("{from}", from)
            .replace("{stem}", stem)
            .replace("{guard}", &stem.to_uppercase())
            .replace("{heads}", &heads)
            .replace("{device}", &device)
            .replace("{hosts}", &hosts)
    };
    let (header, text, cmake) = (put(texts::HEADER), put(texts::TEXT), put(texts::CMAKE));
    Ok(CudaFiles { header, text, device, cmake })
}

/// The name of a type among those of views.
fn kind_of(dtype: DType) -> (&'static str, &'static str) {
    match dtype {
        DType::Bool => ("APLOMB_BOOL", "bool"),
        DType::I8 => ("APLOMB_I8", "i8"),
        DType::I16 => ("APLOMB_I16", "i16"),
        DType::I32 => ("APLOMB_I32", "int"),
        DType::F32 => ("APLOMB_F32", "float"),
        _ => ("APLOMB_F64", "double"),
    }
}

/// A function at one of its sizes, numbers marked.
struct Written {
    conditions: String,
    memory: String,
    body: String,
    shapes: String,
    kernels: String,
    /// For each launch the places of its failures among those of the function.
    sites: String,
    /// The places that can fail.
    failing: Vec<usize>,
}

fn defined(
    function: &Function<Planned>,
    name: &str,
    from: &str,
) -> Result<(String, String, String)> {
    let Function { takes, samples, .. } = function;
    let sizes = takes.samples();
    let Some(first) = samples.first().filter(|_| samples.len() == sizes.len()) else {
        return Err(bug!("{} plans of {} sizes", samples.len(), sizes.len()));
    };
    let home = &first.home;
    let head = Head::new(function, first.results.len());
    let leaves = takes.leaves();
    let mut written: Vec<Written> = Vec::new();
    for sample in samples {
        written.push(Written::of(sample, name, &head)?);
    }
    let settled = |part: &dyn Fn(&Written) -> String| {
        let texts: Vec<String> = written.iter().map(part).collect();
        fit::settled(&texts, &sizes, &head.letters, fit::Style::C)
            .map_err(|says| home.placed(home.refused(&says)))
    };
    let kernels = settled(&|w| w.kernels.clone())?;
    let failing: Vec<usize> = written.iter().flat_map(|w| w.failing.clone()).collect();
    let notes = says::Notes::new(function, first, from);
    let conditions = extents::open(&settled(&|w| w.conditions.clone())?);
    let body = notes.put(&with_tables(&settled(&|w| w.body.clone())?, &head.letters));
    let memory = settled(&|w| w.memory.clone())?;
    let shapes: Vec<String> = settled(&|w| w.shapes.clone())?.lines().map(String::from).collect();
    let sites = settled(&|w| w.sites.clone())?;
    let dtypes: Vec<DType> = first.results.iter().map(|g| g.dtype(first)).collect();

    let mut about = says::source(home);
    for (leaf, own) in leaves.iter().zip(&head.arguments) {
        about +=
            &format!("//   {own}: {} {}\n", type_of(leaf.dtype), extents_text(leaf, takes, &head));
    }
    let all_shapes = shapes
        .iter()
        .map(|s| shape_text(s.split(", ").filter(|e| !e.is_empty()).map(String::from)));
    for ((own, shape), d) in head.results.iter().zip(all_shapes).zip(&dtypes) {
        about += &format!("//   {own}: {} {shape}\n", type_of(*d));
    }
    let view =
        |(own, d): (&String, DType), view: &str| format!("gpu_{}_array{view} {own}", kind_of(d).1);
    let takes_views = head.arguments.iter().zip(leaves.iter().map(|l| l.dtype));
    let takes_views = takes_views.map(|p| format!("const {}", view(p, "&")));
    let gives_views = head.results.iter().zip(dtypes.iter().copied()).map(|p| view(p, "_view"));
    let views: Vec<String> = takes_views.chain(gives_views).collect();
    let views = views.join(", ");
    let header = texts::DECLARED
        .replace("{about}", &about)
        .replace("{name}", name)
        .replace("{views}", &views);

    // The extents are read from the arguments.
    let (ins, outs) = (leaves.len(), dtypes.len());
    let letters = &head.letters;
    let by_value: Vec<String> = letters.iter().map(|l| format!("i64 {l}")).collect();
    let by_reference: String = letters.iter().map(|l| format!(", i64* {l}")).collect();
    let asked: String = letters.iter().map(|l| format!(", &{l}")).collect();
    let mut read = String::new();
    let mut known: Vec<&str> = Vec::new();
    for (k, leaf) in leaves.iter().enumerate() {
        let rank = leaf.extents.len();
        read += &format!(
            "  if (!alike(in[{k}], {}, {rank})) return APLOMB_TYPE;\n",
            kind_of(leaf.dtype).0
        );
        for (axis, extent) in leaf.extents.iter().enumerate() {
            let dim = format!("in[{k}].dim[{axis}]");
            read += &match extent {
                Extent::Fixed(n) => format!("  if ({dim} != {n}) return APLOMB_SHAPE;\n"),
                Extent::Free(l) => {
                    let free = takes.free();
                    let own: String = free
                        .iter()
                        .zip(letters)
                        .filter(|f| f.0 == l)
                        .map(|f| f.1.as_str())
                        .collect();
                    match known.contains(&l.as_str()) {
                        true => format!("  if ({dim} != *{own}) return APLOMB_SHAPE;\n"),
                        false => {
                            known.push(l);
                            format!("  *{own} = {dim};\n")
                        }
                    }
                }
            };
        }
    }
    let fits = extents::all(&conditions);
    let mut told = String::new();
    for (k, (shape, d)) in shapes.iter().zip(&dtypes).enumerate() {
        let extents: Vec<&str> = shape.split(", ").filter(|e| !e.is_empty()).collect();
        let rank = extents.len();
        told += &format!(
            "  {{ const i64 own[] = {{ {} }}; shaped(&out[{k}], {}, {rank}, own); }}\n",
            extents.iter().copied().chain(["1"]).collect::<Vec<_>>().join(", "),
            kind_of(*d).0
        );
    }
    let declared: String = letters.iter().map(|l| format!("  i64 {l} = 0;\n")).collect();
    let values = letters.join(", ");
    let given: String = head
        .arguments
        .iter()
        .enumerate()
        .map(|(k, a)| format!("  const void* {a} = in[{k}].data;\n"))
        .collect();
    let results: String = head
        .results
        .iter()
        .enumerate()
        .map(|(k, r)| format!("  void* {r} = out[{k}].data;\n"))
        .collect();
    let launches = first.plan.launches.len().max(1);
    let lists: Vec<String> = (0..first.plan.launches.len()).map(|k| format!("of{k}")).collect();
    let site_list = if lists.is_empty() { "0".into() } else { lists.join(", ") };
    let pick = |names: &[String]| unused(names, &body);
    let ins_of: String = head.arguments.iter().map(|a| format!("{a}.view(), ")).collect();
    let outs_of: String = head.results.iter().map(|r| format!("{r}.view(), ")).collect();
    let host = texts::FUNCTION
        .replace(
            "{says}",
            &notes.says(&format!("aplomb_{name}"), &|k| failing.contains(&k), texts::CODES),
        )
        .replace("{about}", &about)
        .replace("{by_reference}", &by_reference)
        .replace("{by_value}", &by_value.join(", "))
        .replace("{read}", &read)
        .replace("{fits}", &fits)
        .replace("{unused_fits}", &unused(letters, &fits))
        .replace("{unused_memory}", &unused(letters, &format!("{memory} {values}")))
        .replace(
            "{unused}",
            &pick(
                &letters
                    .iter()
                    .chain(&head.arguments)
                    .chain(&head.results)
                    .cloned()
                    .collect::<Vec<_>>(),
            ),
        )
        .replace("{shapes}", &told)
        .replace("{declared}", &declared)
        .replace("{asked}", &asked)
        .replace("{values}", &values)
        .replace("{memory}", &memory)
        .replace("{given}", &given)
        .replace("{results}", &results)
        .replace("{body}", &body)
        .replace("{sites}", &sites)
        .replace("{launches}", &launches.to_string())
        .replace("{count}", &first.plan.launches.len().to_string())
        .replace("{site_list}", &site_list)
        .replace("{ins}", &ins.to_string())
        .replace("{outs}", &outs.to_string())
        .replace("{ins_of}", &ins_of)
        .replace("{outs_of}", &outs_of)
        .replace("{views}", &views)
        .replace("{name}", name);
    Ok((header, kernels, host))
}

impl Written {
    fn of(planned: &Planned, name: &str, head: &Head) -> Result<Written> {
        let plan = &planned.plan;
        let mut w = Written {
            conditions: extents::of_plan(planned),
            memory: String::new(),
            body: String::new(),
            shapes: String::new(),
            kernels: String::new(),
            sites: String::new(),
            failing: Vec::new(),
        };
        let mut buffers: BTreeMap<BufId, String> = BTreeMap::new();
        for (k, input) in inputs_of(plan) {
            let leaf = planned.leaves.iter().position(|l| *l == Some(input as usize));
            let own = match leaf {
                Some(at) => head.arguments[at].clone(),
                None => {
                    let (own, array) = (format!("b{k}_"), &planned.inputs[input as usize]);
                    let table = held(planned, array, &format!("{own}is"))?;
                    let n = array.len().max(1);
                    let of = type_of(array.dtype());
                    w.body += &table;
                    w.take(of, &own, &n.to_string());
                    w.body += &format!(
                        "  if (cudaMemcpyAsync({own}, {own}is, {n} * sizeof({of}), \
                         cudaMemcpyHostToDevice, stream)) return APLOMB_DEVICE;\n"
                    );
                    own
                }
            };
            buffers.insert(BufId(k as u32), own);
        }
        for (given, own) in planned.results.iter().zip(&head.results) {
            if let Given::Buffer(b) = given {
                buffers.entry(*b).or_insert_with(|| own.clone());
            }
            let shape = given.shape(plan);
            let all: Vec<String> = shape.iter().map(|n| fit::whole(*n as i64)).collect();
            w.shapes += &format!("{}\n", all.join(", "));
        }
        for (k, buffer) in plan.buffers.iter().enumerate() {
            let at = BufId(k as u32);
            if matches!(buffer.from, From::Launch(_)) && !buffers.contains_key(&at) {
                let own = format!("b{k}_");
                let all: Vec<String> = buffer.shape.iter().map(|n| fit::whole(*n as i64)).collect();
                let items = if all.is_empty() { "1".into() } else { all.join(" * ") };
                w.take(type_of(buffer.dtype), &own, &items);
                buffers.insert(at, own);
            }
        }
        let mut sites: Vec<u32> = plan.launches.iter().flat_map(|l| l.sites()).collect();
        sites.sort_unstable();
        sites.dedup();
        for (k, launch) in plan.launches.iter().enumerate() {
            let mut code =
                kir::any_extents(plan, launch, k).map_err(|e| planned.refused(launch, &e))?;
            let place = |site: &u32| sites.iter().position(|s| s == site).map(|p| p.to_string());
            let own: Vec<String> = code.sites.iter().filter_map(place).collect();
            let own = if own.is_empty() { "0".into() } else { own.join(", ") };
            w.sites += &format!("  static const int of{k}[] = {{ {own} }};\n");
            if launch.kind == Kind::Reduce {
                // Of nothing a kernel's fold has no result.
                let axis = launch.axis.and_then(|a| launch.domain.get(a));
                w.conditions +=
                    &axis.map_or(String::new(), |n| format!("\n{} > 0", fit::whole(*n as i64)));
            }
            for bound in &code.bounds {
                let count = fit::whole(bound.count as i64);
                w.conditions += &format!("\n{count} < {}", bound.below);
            }
            for (j, kernel) in code.kernels.iter_mut().enumerate() {
                let more = if j == 0 { String::new() } else { format!("_{j}") };
                kernel.name = format!("{name}_k{k}{more}");
            }
            let text = kir::cuda(&code).text;
            let fails = |own: usize| text.contains(&format!("Bad{{err, {own}, "));
            for (_, site) in code.sites.iter().enumerate().filter(|(own, _)| fails(*own)) {
                w.failing.extend(sites.iter().position(|s| s == site));
            }
            w.kernels += &text;
            w.kernels += "\n";
            let total = elements(&launch.domain) as u64;
            w.launch(&code, k, total, &buffers)?;
        }
        for (given, own) in planned.results.iter().zip(&head.results) {
            let from = match given {
                Given::Buffer(b) if buffers.get(b) == Some(own) => continue,
                Given::Buffer(b) => buffers.get(b).cloned(),
                Given::Input(k) => {
                    let at = plan.buffers.iter().position(|b| b.from == From::Input(*k as u32));
                    at.and_then(|at| buffers.get(&BufId(at as u32)).cloned())
                }
                Given::Number(x) => {
                    w.body += &format!(
                        "  {{ const double own = {}; if (cudaMemcpyAsync({own}, &own, \
                         sizeof own, cudaMemcpyHostToDevice, stream)) return APLOMB_DEVICE; }}\n",
                        fit::number(*x)
                    );
                    continue;
                }
            };
            let n = fit::whole(elements(given.shape(plan)) as i64);
            let size = type_of(given.dtype(planned));
            let from: String = from.into_iter().collect();
            w.body += &format!(
                "  if (cudaMemcpyAsync({own}, {from}, (size_t)({n}) * sizeof({size}), \
                 cudaMemcpyDeviceToDevice, stream)) return APLOMB_DEVICE;\n"
            );
        }
        Ok(w)
    }

    /// Memory of so many items, from the caller's.
    fn take(&mut self, of: &str, name: &str, items: &str) {
        let bytes = format!("(size_t)({items}) * sizeof({of})");
        self.memory += &format!("  all += room({bytes});\n");
        self.body += &format!("  {of}* {name} = ({of}*)taken(&left, {bytes});\n");
    }

    fn launch(
        &mut self,
        code: &Code,
        k: usize,
        total: u64,
        buffers: &BTreeMap<BufId, String>,
    ) -> Result<()> {
        self.body += &says::mark(k);
        for (name, of, items) in scratch(code)? {
            self.take(of.cuda(), &format!("{name}{k}_"), &items);
        }
        for (j, kernel) in code.kernels.iter().enumerate() {
            self.kernel(code, kernel, (k, j), total, buffers)?;
        }
        Ok(())
    }

    fn kernel(
        &mut self,
        code: &Code,
        kernel: &Kernel,
        (k, j): (usize, usize),
        total: u64,
        buffers: &BTreeMap<BufId, String>,
    ) -> Result<()> {
        let points = match kernel.spread {
            Spread::Tiles => {
                let tile = kernel.threads * kernel.items;
                format!("({} + {}) / {tile}", fit::whole(total as i64), tile - 1)
            }
            _ => fit::whole(kernel.points as i64),
        };
        for (name, byte) in &kernel.clears {
            let s = code.scratch.iter().find(|s| s.name == *name);
            let bytes = s.ok_or_else(|| bug!("memory {name} that is cleared and not there"))?.bytes;
            let bytes = fit::whole(bytes as i64);
            self.body += &format!(
                "  if (cudaMemsetAsync({name}{k}_, {byte}, (size_t)({bytes}), stream)) return \
                 APLOMB_DEVICE;\n"
            );
        }
        let (mut own, mut args) = (String::new(), Vec::new());
        let blocks = match kernel.spread {
            // A block for each of its own tickets.
            Spread::Runs(_) => "runs_of",
            _ => "blocks_of",
        };
        own += &format!(
            "    i64 points = {points};\n    u32 blocks = {blocks}(points, {});\n",
            kernel.per_block().max(1)
        );
        for p in &kernel.params {
            let (name, of) =
                (&p.name, |b: u32| buffers.get(&BufId(b)).ok_or_else(|| bug!("no buffer {b}")));
            let is = match &p.what {
                ParamKind::In(_, b) => format!("const void* k_{name} = {};", of(*b)?),
                ParamKind::Out(_, b) => format!("void* k_{name} = {};", of(*b)?),
                ParamKind::Number(t, x) => match t {
                    Type::F64 | Type::F32 => format!("double k_{name} = {};", fit::number(*x)),
                    t => format!("{0} k_{name} = ({0})({1});", t.cuda(), fit::whole(*x as i64)),
                },
                ParamKind::Launch(t) => {
                    let value = match name.as_str() {
                        "n" => "points",
                        "parts" => "blocks",
                        _ => "0",
                    };
                    format!("{0} k_{name} = ({0}){value};", t.cuda())
                }
                ParamKind::Scratch(_) if name == "err" => format!("void* k_err = err + {};", 2 * k),
                ParamKind::Scratch(_) if code.scratch.iter().any(|s| s.name == *name) => {
                    format!("void* k_{name} = {name}{k}_;")
                }
                ParamKind::Scratch(_) => {
                    let (bytes, zero) = match name.as_str() {
                        // A slot for each block that there may be.
                        "part" => (kernel.scratch(name, 1).0.to_string() + " * MOST_BLOCKS", false),
                        _ => (per_point(kernel, name, &points), kernel.scratch(name, 1).1),
                    };
                    let mine = format!("{name}{k}_{j}_");
                    self.take("char", &mine, &bytes);
                    if zero {
                        self.body += &format!(
                            "  if (cudaMemsetAsync({mine}, 0, (size_t)({bytes}), stream)) return \
                             APLOMB_DEVICE;\n"
                        );
                    }
                    format!("void* k_{name} = {mine};")
                }
            };
            own += &format!("    {is}\n");
            args.push(format!("&k_{name}"));
        }
        let (name, threads, args) = (&kernel.name, kernel.threads, args.join(", "));
        let args = args.replace(", ", ", (void*)");
        let call = format!("(const void*){name}, dim3(blocks), dim3({threads}), args, 0, stream");
        self.body += &format!(
            "  {{\n{own}    void* args[] = {{ (void*){args} }};\n    if (cudaLaunchKernel({call})) \
             return APLOMB_DEVICE;\n  }}\n"
        );
        Ok(())
    }
}

/// The bytes of a scratch buffer that has its size by points.
fn per_point(kernel: &Kernel, name: &str, points: &str) -> String {
    let one = Kernel { points: 1, ..kernel.clone() }.scratch(name, 1).0;
    let none = Kernel { points: 0, ..kernel.clone() }.scratch(name, 1).0;
    match one - none {
        0 => one.to_string(),
        each => format!("({points}) * {each}"),
    }
}
