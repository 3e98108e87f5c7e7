#!/usr/bin/env python3
"""The workloads of workloads.json, and their data as .npy files, which Aplomb and the peers both read.

  work.py --list
  work.py DATA SECONDS        writes what the workloads read on a GPU, by the standard library alone

APLOMB_BENCH_SCALE multiplies the work of each (1); something is always left. APLOMB_BENCH_ONLY names workloads, by
commas; all without it. The same scale gives the same files: numbers come from random.Random, seeded by their names, in
blocks that repeat.
"""
import array, json, math, os, random, struct, sys, time
from string import Template

HERE = os.path.dirname(os.path.abspath(__file__))
SCALE = float(os.environ.get("APLOMB_BENCH_SCALE", "1"))
SEED = 20061
BLOCK = 1 << 20
# In the file, in Python's arrays, bytes.
CODES = {"f32": ("<f4", "f", 4), "f64": ("<f8", "d", 8), "i32": ("<i4", "i", 4), "i8": ("|i1", "b", 1),
         "bool": ("|b1", "b", 1)}
L2 = 64e6

with open(os.path.join(HERE, "workloads.json"), encoding="utf-8") as f:
    TABLE = json.load(f)
# What the floors are made of: bytes a second as a copy reaches them, operations a second without tensor cores.
RATES = TABLE["rates"]["H200"]
ROWS = {row["id"]: row for row in TABLE["workloads"]}


class Work:
    """A row of the table (benches/README.md says what its fields mean) at one dtype and n."""

    def __init__(self, row, dtype, n):
        row = ROWS.get(row.get("like"), {}) | row
        self.id, self.n, self.dtype, self.row = row["id"], n, dtype, row
        self.data = {name: (spec[2] if len(spec) > 2 else dtype, tuple(-d if d < 0 else max(1, n // d) for d in spec[1]), spec[0])
                     for name, spec in row["data"].items()}
        self.apl = "".join(row["apl"])
        self.bytes = polynomial(row, "moves", n) * CODES[dtype][2] + polynomial(row, "bytes", n)
        self.flops = polynomial(row, "flops", n)
        self.results, self.count, self.off = row.get("results", 1), row.get("count", False), row.get("off", ())
        self.math, self.formula = row.get("math", "strict"), row.get("like", self.id)
        self.tol = ({"f32": 1e-4, "f64": 1e-9} | row.get("tol", {})).get(dtype, 0)

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


def polynomial(row, name, n):
    return sum(factor * n ** power for power, factor in enumerate(row.get(name, ())))


def file(dtype, shape, what):
    return f"{what}-{dtype}-{'x'.join(map(str, shape))}.npy"


def result(folder, w, k):
    """Where Aplomb's values are for others to compare."""
    return os.path.join(folder, f"value-{w.key}-{k}.npy")


def scaled(row, n):
    """n for that part of the work, which may grow with its square or cube."""
    power = max(len((ROWS.get(row.get("like"), {}) | row).get(name, ())) - 1 for name in ("moves", "bytes", "flops"))
    return min(n, max(4096 if power == 1 else 64, int(n * SCALE ** (1 / power))))


def all_work():
    """Those of APLOMB_BENCH_ONLY at the sizes for a GPU. Errors: an id that is none."""
    only = [name for name in os.environ.get("APLOMB_BENCH_ONLY", "").split(",") if name]
    unknown = set(only) - set(ROWS)
    if unknown:
        sys.exit(f"no workload is called {' '.join(sorted(unknown))}; work.py --list")
    for row in TABLE["workloads"]:
        if not only or row["id"] in only:
            # At a small scale sizes meet.
            for dtype, n in dict.fromkeys((dtype, scaled(row, n)) for dtype, n in row["gpu"]):
                yield Work(row, dtype, n)


def numbers(what, dtype, n, part):
    """The first n numbers of that kind, for an array of which `part` says the n of the workload."""
    g = random.Random(f"{SEED} {what} {dtype}")
    kind, code = TABLE["kinds"][what], CODES[dtype][1]
    if "share" in kind:
        return array.array(code, [int(k == 0 and kind.get("first", False) or g.random() < kind["share"])
                                  for k in range(n)])
    low = kind["from"]
    high = kind["to"] if "to" in kind else max(1, part // kind["part_of_n"])
    if code in "fd":
        return array.array(code, [low + (high - low) * g.random() for _ in range(n)])
    return array.array(code, [math.floor(low + (high - low) * g.random()) for _ in range(n)])


def write(path, dtype, shape, what):
    count, (descr, _, bytes_each) = math.prod(shape), CODES[dtype]
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({''.join(f'{n}, ' for n in shape)}), }}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    block = numbers(what, dtype, min(count, BLOCK), shape[0]).tobytes()
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
