//! The times of the chunk VM: `cargo bench -p aplomb-kernel`. Minimum of several runs; `APLOMB_ISA`
//! chooses the loops.

use aplomb_devices::device::cpu::apply::apply;
use aplomb_devices::device::cpu::{Cpu, Isa};
use aplomb_devices::device::{Device, RunCtx};
use aplomb_devices::pool::Pool;
use aplomb_ground::limits::{Budget, Interrupt};
use aplomb_kernel::files;
use aplomb_language::eval::host::Arrays;
use aplomb_plans::plan::{
    BufId, Buffer, From, Kind, Launch, Load, Origin, Plan, Reduction, Step, Store, What,
};
use aplomb_values::array::{Array, DType, Shape};
use aplomb_values::dag::{Dag, Info, Meta, Node, NodeId, Read};
use aplomb_values::prim::op::Op;
use aplomb_values::prim::scalar::Src;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

fn node() -> NodeId {
    let meta = Meta { shape: Shape::new(), dtype: DType::F64, range: None, place: None };
    let info = Info { meta, site: 0, name: None, asked: false, from: Vec::new(), born: 0 };
    Dag::default().add(Node::num(0.0), info)
}

/// One launch under construction, over vectors of n.
struct Build {
    plan: Plan,
    launch: Launch,
    inputs: Vec<Array>,
    n: usize,
}

impl Build {
    fn new(n: usize) -> Build {
        let launch = Launch {
            stage: 0,
            domain: Shape::from_slice(&[n]),
            kind: Kind::Map,
            axis: None,
            loads: Vec::new(),
            guards: Vec::new(),
            body: Vec::new(),
            stores: Vec::new(),
            reductions: Vec::new(),
            compaction: None,
            finish: None,
            tiling: None,
            tiles: Default::default(),
            after: Vec::new(),
            after_stores: Vec::new(),
            nodes: Vec::new(),
            name: "bench".into(),
        };
        Build { plan: Plan::default(), launch, inputs: Vec::new(), n }
    }

    fn buffer(&mut self, shape: &[usize], from: From) -> BufId {
        let shape = Shape::from_slice(shape);
        self.plan.buffers.push(Buffer {
            shape,
            dtype: DType::F64,
            checked: false,
            from,
            node: node(),
            last_use: None,
        });
        BufId(self.plan.buffers.len() as u32 - 1)
    }

    fn step(&mut self, what: What) -> u32 {
        self.launch.body.push(Step::new(
            what,
            DType::F64,
            Origin { node: node(), site: 1, guard: None },
        ));
        self.launch.body.len() as u32 - 1
    }

    fn input(&mut self, lo: f64, hi: f64) -> u32 {
        let step = (hi - lo) / self.n as f64;
        let items = (0..self.n).map(|k| lo + step * ((k * 7919) % self.n) as f64);
        // From the pool, as results and files are: large ones lie in huge pages.
        let Ok(mut buffer) = Pool::default().buffer(DType::F64, self.n, &Budget::new(u64::MAX))
        else {
            return 0;
        };
        for (to, x) in buffer.bytes_mut().unwrap_or_default().chunks_exact_mut(8).zip(items) {
            to.copy_from_slice(&x.to_ne_bytes());
        }
        self.inputs.push(Array::dense([self.n].as_slice(), Arc::new(buffer)));
        let n = self.n;
        let buf = self.buffer(&[n], From::Input(self.inputs.len() as u32 - 1));
        self.launch.loads.push(Load { buf, read: Read::identity(1) });
        self.step(What::Load(self.launch.loads.len() as u32 - 1))
    }

    fn c(&mut self, x: f64) -> u32 {
        self.step(What::Const(x))
    }

    fn op(&mut self, op: Op, args: &[u32]) -> u32 {
        self.step(What::Op { op, ct: 1e-14, args: args.iter().copied().collect() })
    }

    fn store(&mut self, value: u32) {
        let n = self.n;
        let buf = self.buffer(&[n], From::Launch(0));
        self.plan.roots.push(buf);
        self.launch.stores.push(Store { value, buf });
    }

    fn sum(&mut self, value: u32) {
        self.launch.axis = Some(0);
        self.launch.reductions.push(Reduction {
            op: Op::Add,
            value,
            node: node(),
            dtype: DType::F64,
            site: 2,
        });
        self.launch.after.push(Step::new(
            What::Reduced(0),
            DType::F64,
            Origin { node: node(), site: 0, guard: None },
        ));
        let buf = self.buffer(&[], From::Launch(0));
        self.plan.roots.push(buf);
        self.launch.after_stores.push(Store { value: 0, buf });
    }

    /// Milliseconds, the least of several runs.
    fn time(mut self, name: &str, threads: usize) {
        self.plan.launches.push(self.launch);
        let plan = Rc::new(self.plan);
        let mut cpu = Cpu::new(threads);
        let (interrupt, budget) = (Interrupt::default(), Budget::new(1 << 34));
        let ctx = RunCtx {
            interrupt: &interrupt,
            budget: &budget,
            timed: false,
            libraries: false,
            abreast: true,
        };
        let mut least = f64::INFINITY;
        let rounds = (50_000_000 / self.n.max(1)).clamp(7, 20_000);
        for _ in 0..rounds {
            let start = Instant::now();
            let done = cpu.run(&plan, &self.inputs, &ctx);
            least = least.min(start.elapsed().as_secs_f64());
            if let Err(e) = done {
                println!("{name}: {e:?}");
                return;
            }
        }
        let each = least * 1e9 / self.n as f64;
        println!("{name:24} n {:9} t{threads} {:10.3} ms {each:8.3} ns/el", self.n, least * 1e3);
    }
}

/// The cumulative normal by Abramowitz and Stegun's polynomial.
fn cnd(b: &mut Build, d: u32) -> u32 {
    let (one, a, half) = (b.c(1.0), b.c(0.2316419), b.c(-0.5));
    let size = b.op(Op::Abs, &[d]);
    let k = b.op(Op::Mul, &[a, size]);
    let k = b.op(Op::Add, &[one, k]);
    let k = b.op(Op::Recip, &[k]);
    let mut p = b.c(1.330274429);
    for c in [-1.821255978, 1.781477937, -0.356563782, 0.31938153] {
        let c = b.c(c);
        p = b.op(Op::Mul, &[k, p]);
        p = b.op(Op::Add, &[c, p]);
    }
    p = b.op(Op::Mul, &[k, p]);
    let square = b.op(Op::Mul, &[d, d]);
    let e = b.op(Op::Mul, &[half, square]);
    let e = b.op(Op::Exp, &[e]);
    let scale = b.c(0.398_942_280_401_432_7);
    let w = b.op(Op::Mul, &[scale, e]);
    let w = b.op(Op::Mul, &[w, p]);
    // d>0 takes 1-w, else w: |s-w| with s = d>0.
    let zero = b.c(0.0);
    let s = b.op(Op::Gt, &[d, zero]);
    let r = b.op(Op::Sub, &[s, w]);
    b.op(Op::Abs, &[r])
}

fn black_scholes(n: usize) -> Build {
    let mut b = Build::new(n);
    let (s, k, t) = (b.input(10.0, 100.0), b.input(10.0, 100.0), b.input(0.2, 2.0));
    let (v, drift, rate, one) = (b.c(0.3), b.c(0.065), b.c(-0.02), b.c(1.0));
    let root = b.op(Op::Sqrt, &[t]);
    let vol = b.op(Op::Mul, &[v, root]);
    let ratio = b.op(Op::Div, &[s, k]);
    let ln = b.op(Op::Ln, &[ratio]);
    let up = b.op(Op::Mul, &[drift, t]);
    let top = b.op(Op::Add, &[ln, up]);
    let d1 = b.op(Op::Div, &[top, vol]);
    let d2 = b.op(Op::Sub, &[d1, vol]);
    let (c1, c2) = (cnd(&mut b, d1), cnd(&mut b, d2));
    let e = b.op(Op::Mul, &[rate, t]);
    let e = b.op(Op::Exp, &[e]);
    let e = b.op(Op::Mul, &[k, e]);
    let (sc, ec) = (b.op(Op::Mul, &[s, c1]), b.op(Op::Mul, &[e, c2]));
    let call = b.op(Op::Sub, &[sc, ec]);
    b.store(call);
    let (r1, r2) = (b.op(Op::Sub, &[one, c1]), b.op(Op::Sub, &[one, c2]));
    let (er, sr) = (b.op(Op::Mul, &[e, r2]), b.op(Op::Mul, &[s, r1]));
    let put = b.op(Op::Sub, &[er, sr]);
    b.store(put);
    b
}

fn chain(n: usize) -> Build {
    let mut b = Build::new(n);
    let (x, y) = (b.input(0.0, 1.0), b.input(0.0, 4.0));
    let (three, one) = (b.c(3.0), b.c(1.0));
    let p = b.op(Op::Mul, &[three, x]);
    let p = b.op(Op::Add, &[one, p]);
    let p = b.op(Op::Max, &[y, p]);
    b.store(p);
    b
}

fn sum_of_squares(n: usize) -> Build {
    let mut b = Build::new(n);
    let x = b.input(0.0, 1.0);
    let p = b.op(Op::Mul, &[x, x]);
    b.sum(p);
    b
}

fn one_operation(op: Op, n: usize) {
    let x: Vec<f64> = (0..n).map(|k| 0.5 + k as f64 / n as f64).collect();
    let mut out = vec![0.0; n];
    let mut least = f64::INFINITY;
    for _ in 0..2000 {
        let start = Instant::now();
        for _ in 0..10 {
            let fine = apply(
                Isa::chosen(),
                (op, DType::F64),
                1e-14,
                Src::Many(&x),
                Src::Many(&x),
                &mut out,
            );
            std::hint::black_box(fine);
        }
        least = least.min(start.elapsed().as_secs_f64() / 10.0);
    }
    println!(
        "apply {:18} n {n:9} t1 {:10.3} µs {:8.3} ns/el",
        op.name(),
        least * 1e6,
        least * 1e9 / n as f64
    );
}

fn least_ms(rounds: usize, mut work: impl FnMut() -> bool) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        if !work() {
            return f64::NAN;
        }
        least = least.min(start.elapsed().as_secs_f64() * 1e3);
    }
    least
}

fn the_files() {
    let folder = std::env::temp_dir();
    let (budget, pool) = (Budget::new(1 << 34), Pool::default());
    let text: String =
        (0..100_000).map(|k| format!("{k},{}.5,{},{}e-3,x{k}\n", k * 7, k % 13, k * 3)).collect();
    let mut host = aplomb_language::testing::Host::default();
    host.files.insert("bench.csv".into(), text.into_bytes());
    let line = aplomb_ground::span::Source::new("bench", "x←⎕CSV'bench.csv' '' 4");
    let mut interp = aplomb_language::eval::Interp::new();
    println!(
        "CSV 100 000×5            {:10.3} ms",
        least_ms(7, || interp.execute(&line, &mut host).is_ok())
    );
    let npy = folder.join(format!("aplomb-bench-{}.npy", std::process::id()));
    if let Ok(array) = Array::floats([5_000_000].as_slice(), vec![1.5; 5_000_000], &budget) {
        println!(
            "write .npy 40 MB         {:10.3} ms",
            least_ms(3, || files::write_npy(
                &npy,
                &Arrays::One(array.clone()),
                None,
                &budget,
                &Default::default()
            )
            .is_ok())
        );
        println!(
            "read .npy 40 MB          {:10.3} ms",
            least_ms(7, || files::read_npy(&npy, &pool, &budget).is_ok())
        );
    }
    let _ = std::fs::remove_file(npy);
}

fn main() {
    println!("{}", Isa::chosen().name());
    the_files();
    let ops = [
        Op::Add,
        Op::Mul,
        Op::Div,
        Op::Sqrt,
        Op::Exp,
        Op::Ln,
        Op::Circle(1),
        Op::Floor,
        Op::Eq,
        Op::Residue,
        Op::Pow,
    ];
    for op in ops {
        one_operation(op, 1000);
    }
    one_operation(Op::Add, 10);
    let large =
        std::env::var("APLOMB_BENCH_N").ok().and_then(|n| n.parse().ok()).unwrap_or(20_000_000);
    let only_large = std::env::var("APLOMB_BENCH_N").is_ok();
    let sizes =
        [1, 100, 1000, 100_000, 1_000_000].into_iter().filter(|_| !only_large).chain([large]);
    for n in sizes {
        for threads in [1, 2] {
            black_scholes(n).time("Black-Scholes", threads);
            chain(n).time("b⌈1+3×a", threads);
            sum_of_squares(n).time("+/a×a", threads);
        }
    }
}
