#!/usr/bin/env python3
"""The workloads of benches/gpu: a row each, and their data as .npy files, which Aplomb and the peers both read.

  work.py --list
  work.py DATA SECONDS        writes what the workloads read, by the standard library alone

APLOMB_BENCH_SCALE multiplies the number of elements (1); at least some thousand are left. APLOMB_BENCH_ONLY names
workloads, by commas; all without it. The same scale gives the same files: numbers come from random.Random, seeded by
their names, in blocks that repeat.
"""
import array, math, os, random, struct, sys, time
from string import Template

SCALE = float(os.environ.get("APLOMB_BENCH_SCALE", "1"))
SEED = 20061
BLOCK = 1 << 20
# In the file, in Python's arrays, bytes.
CODES = {"f32": ("<f4", "f", 4), "f64": ("<f8", "d", 8), "i32": ("<i4", "i", 4), "i8": ("|i1", "b", 1),
         "bool": ("|b1", "b", 1)}
# What the floors are made of, for an H200: bytes a second as a copy reaches them, operations a second without tensor
# cores.
RATES = {"bytes": 4.3e12, "f32": 67e12, "f64": 34e12}
L2 = 64e6


def size(n, least=4096):
    return max(least, int(n * SCALE))


def side(n, least=64):
    return max(least, int(n * math.sqrt(SCALE)))


def distinct(all):
    """In order, each once: at a small scale sizes meet."""
    return list(dict.fromkeys(all))


def taps():
    """Sums of 15 neighbours, and of 3 by 3, where all of them are inside."""
    one = "+".join(f"(({k + 1}÷128)×{k}↓¯{14 - k}↓⍵)" for k in range(15))
    weights = (1, 2, 1, 2, 4, 2, 1, 2, 1)
    two = "+".join(f"(({w}÷16)×{k // 3} {k % 3}↓¯{2 - k // 3} ¯{2 - k % 3}↓⍵)" for k, w in enumerate(weights))
    return f"{{{one}}}$X", f"{{{two}}}$X"


PRICES = ("{(S X T)←⍵ ⋄ r←0.02 ⋄ v←0.3 ⋄ "
          "cnd←{k←÷1+0.2316419×|⍵ ⋄ c←0.39894228040143267794×(*¯0.5×⍵×⍵)×"
          "k×0.31938153+k×¯0.356563782+k×1.781477937+k×¯1.821255978+k×1.330274429 ⋄ |(⍵>0)-c} ⋄ "
          "q←v×T*0.5 ⋄ d←((⍟S÷X)+T×r+v×v÷2)÷q ⋄ a←cnd d ⋄ b←cnd d-q ⋄ e←X×*-r×T ⋄ "
          "((S×a)-e×b)((e×1-b)-S×1-a)}$S $X $T")
STEPS = ("{cx←$X ⋄ cy←$Y ⋄ z←0×cx ⋄ step←{(x y n)←⍵ ⋄ in←4≥(x×x)+y×y ⋄ a←cx+(x×x)-y×y ⋄ b←cy+2×x×y ⋄ "
         "p←(in×a)+x×~in ⋄ q←(in×b)+y×~in ⋄ p q(n+4≥(p×p)+q×q)} ⋄ 3⊃step⍣255⊢z z z}0")
BODIES = ("{(x y z m)←⍵ ⋄ u←x∘.-⍨x ⋄ v←y∘.-⍨y ⋄ w←z∘.-⍨z ⋄ s←(u×u)+(v×v)+1E¯6+w×w ⋄ g←m×⍤1÷s×s*0.5 ⋄ "
          "(+/g×u)(+/g×v)(+/g×w)}$X $Y $Z $M")
LIFE = "{s←⍵+(1⌽⍵)+¯1⌽⍵ ⋄ s←s+(1⊖s)+¯1⊖s ⋄ (s=3)∨⍵∧s=4}$X"
ROOT = "{((+/⍵×⍵)÷≢⍵)*0.5}$A-$B"
SOFTMAX = "{e←*⍵-⍤1 0⊢⌈/⍵ ⋄ e÷⍤1 0⊢+/e}$X"
COUNTS = "{h←128⍴0 ⋄ h[1+⍵]+←1 ⋄ h}$X"


class Work:
    """`data`: name → (dtype, shape, what random numbers). `apl` gives the result, or a strand of `results` of them,
    with $NAME for data. `bytes`, `flops`: the least that any program moves and does. `tol`: how far results may be
    apart, the greatest difference over the greatest value, or with `count` the part of the elements that differ. `off`:
    switches of the compiler; `math`: how the GPU computes (`--math`); `formula`: the name of what the peers compute, where
    it is another."""

    def __init__(self, id, n, dtype, data, apl, bytes=0, flops=0, tol=None, results=1, count=False,
                 off=(), math="strict", formula=None):
        self.id, self.n, self.dtype, self.data, self.apl = id, n, dtype, data, apl
        self.bytes, self.flops, self.results, self.count, self.off = bytes, flops, results, count, off
        self.math, self.formula = math, formula or id
        self.tol = tol if tol is not None else {"f32": 1e-4, "f64": 1e-9}.get(dtype, 0)

    @property
    def key(self):
        return f"{self.id}-{self.n}-{self.dtype}"

    @property
    def floor_us(self):
        return 1e6 * max(self.bytes / RATES["bytes"], self.flops / RATES.get(self.dtype, RATES["f32"]))

    def files(self, folder):
        return {name: os.path.join(folder, file(*spec)) for name, spec in self.data.items()}

    @property
    def copies(self):
        """So many copies of the data are used in turns that none is in the cache of the device when its turn comes."""
        held = sum(math.prod(shape) * CODES[dtype][2] for dtype, shape, _ in self.data.values())
        return max(1, min(20, math.ceil(2 * L2 * min(1, SCALE) / held)))

    def text(self, copy):
        return Template(self.apl).substitute({name: f"{name}{copy}" for name in self.data})


def file(dtype, shape, what):
    return f"{what}-{dtype}-{'x'.join(map(str, shape))}.npy"


def all_work():
    """Those of APLOMB_BENCH_ONLY, a list of ids; all without it. Errors: an id that is none."""
    only, known = [name for name in os.environ.get("APLOMB_BENCH_ONLY", "").split(",") if name], list(every())
    unknown = set(only) - {w.id for w in known}
    if unknown:
        sys.exit(f"no workload is called {' '.join(sorted(unknown))}; work.py --list")
    return [w for w in known if not only or w.id in only]


def every():
    def unit(n, dtype="f32", what="unit"):
        return dtype, (n,), what

    def square(n, dtype="f32", what="unit"):
        return dtype, (n, n), what

    one, two = taps()
    n28, n26, n20, n16 = size(2**28), size(2**26), size(20e6), size(16e6)
    yield Work("saxpy", n28, "f32", {"X": unit(n28), "Y": unit(n28, what="other")}, "$Y+2.5×$X", 12 * n28, 2 * n28)
    yield Work("dot", n20, "f32", {"A": unit(n20), "B": unit(n20, what="other")}, "+/$A×$B", 8 * n20, 2 * n20)
    for n in distinct(size(n, 1024) for n in (2**10, 2**17, 2**24)):
        yield Work("rmse", n, "f64", {"A": unit(n, "f64"), "B": unit(n, "f64", "other")}, ROOT, 16 * n, 3 * n)
    s = side(1000)
    yield Work("gemv", s, "f32", {"A": square(s), "V": unit(s, what="other")}, "$A+.×$V", 4 * s * s, 2 * s * s)
    for dtype, s in distinct((dtype, side(n)) for dtype in ("f32", "f64") for n in (1000, 4096)):
        data = {"A": square(s, dtype), "B": square(s, dtype, "other")}
        figures = 3 * CODES[dtype][2] * s * s, 2 * s**3
        yield Work("gemm", s, dtype, data, "$A+.×$B", *figures)
        if dtype == "f32":
            yield Work("gemm-fast", s, dtype, data, "$A+.×$B", *figures, math="fast", formula="gemm")
            yield Work("gemm-fast-ours", s, dtype, data, "$A+.×$B", *figures, math="fast", off=("cublas",), formula="gemm")
    prices = {"S": unit(n20, what="spot"), "X": unit(n20, what="strike"), "T": unit(n20, what="years")}
    yield Work("blackscholes", n20, "f32", prices, PRICES, 20 * n20, 60 * n20, results=2)
    yield Work("blackscholes-unshared", n20, "f32", prices, PRICES, 20 * n20, 60 * n20, results=2, off=("sharing",),
               formula="blackscholes")
    yield Work("blackscholes-fast", n20, "f32", prices, PRICES, 20 * n20, 60 * n20, results=2, math="fast",
               formula="blackscholes")
    yield Work("scan", n28, "f32", {"X": unit(n28)}, "+\\$X", 8 * n28, n28, tol=1e-3)
    yield Work("compact", n26, "f32", {"M": unit(n26, "bool", "half"), "X": unit(n26)}, "$M/$X", 7 * n26, n26, tol=0)
    yield Work("histogram", n28, "i8", {"X": unit(n28, "i8", "small")}, COUNTS, n28, n28)
    for n in distinct(size(n) for n in (4e6, 2**26)):
        yield Work("sort", n, "i32", {"X": unit(n, "i32", "whole")}, "$X[⍋$X]", 4 * n * 9, n)
    yield Work("stencil15", n16, "f32", {"X": unit(n16)}, one, 8 * n16, 29 * n16)
    s = side(4096)
    yield Work("stencil3x3", s, "f32", {"X": square(s)}, two, 8 * s * s, 17 * s * s)
    yield Work("life", s, "bool", {"X": square(s, "bool", "third")}, LIFE, 2 * s * s, 12 * s * s)
    n = size(2e6)
    points = {"X": unit(n, "f64", "real"), "Y": unit(n, "f64", "imaginary")}
    yield Work("mandelbrot", n, "f64", points, STEPS, 24 * n, 255 * 10 * n, tol=1e-3, count=True)
    n = size(32768, 128)
    bodies = {c: unit(n, "f32", w) for c, w in zip("XYZM", ("unit", "other", "another", "mass"))}
    yield Work("nbody", n, "f32", bodies, BODIES, 28 * n, 20 * n * n, tol=1e-3, results=3)
    n, columns = size(4.3e6), size(2**18, 256)
    sparse = {"S": unit(n, "bool", "rows"), "V": unit(n), "C": unit(n, "i32", f"below{columns}"),
              "U": unit(columns, what="other")}
    yield Work("csr", n, "f32", sparse, "+/¨$S⊂$V×$U[1+$C]", 12 * n, 2 * n)
    rows, columns = side(8192), side(1024)
    yield Work("softmax", rows, "f32", {"X": ("f32", (rows, columns), "unit")}, SOFTMAX,
               8 * rows * columns, 4 * rows * columns)
    s = side(8192)
    yield Work("transpose", s, "f32", {"X": square(s)}, "⍉$X", 8 * s * s, tol=0)


RANGES = {"spot": (5, 30), "strike": (1, 100), "years": (.25, 10), "real": (-2, 1), "imaginary": (-1.5, 1.5)}


def numbers(what, dtype, n):
    """The first n numbers of that kind."""
    g = random.Random(f"{SEED} {what} {dtype}")
    code = CODES[dtype][1]
    if dtype == "bool" and what == "rows":
        return array.array(code, [int(k == 0 or g.random() < 1 / 16) for k in range(n)])
    if dtype == "bool":
        part = {"half": .5, "third": .3}[what]
        return array.array(code, [int(g.random() < part) for _ in range(n)])
    if what == "small":
        return array.array(code, [b & 127 for b in g.randbytes(n)])
    if what == "whole":
        return array.array(code, g.randbytes(4 * n))
    if what.startswith("below"):
        top = int(what[5:])
        return array.array(code, [int(g.random() * top) for _ in range(n)])
    low, high = RANGES.get(what, (0, 1))
    return array.array(code, [low + (high - low) * g.random() for _ in range(n)])


def write(path, dtype, shape, what):
    count, (descr, _, bytes_each) = math.prod(shape), CODES[dtype]
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in shape)}), }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    block = numbers(what, dtype, min(count, BLOCK)).tobytes()
    with open(path + ".part", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head)
        for left in range(count, 0, -BLOCK):
            f.write(block[:min(left, BLOCK) * bytes_each])
    os.replace(path + ".part", path)


def main(folder, seconds):
    end = time.monotonic() + seconds
    wanted = {file(*spec): spec for w in all_work() for spec in w.data.values()}
    for name, spec in wanted.items():
        if time.monotonic() > end:
            print(f"{name}: not made, the time is over")
            return 1
        write(os.path.join(folder, name), *spec)
        print(name, os.path.getsize(os.path.join(folder, name)))
    return 0


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        for w in all_work():
            print(f"{w.id:28}{w.n:>10} {w.dtype:5} floor {w.floor_us:9.1f} µs  copies {w.copies:2}  {w.text(0)[:60]}")
        sys.exit(0)
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1], float(sys.argv[2])))
