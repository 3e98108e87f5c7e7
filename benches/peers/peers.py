#!/usr/bin/env python3
"""Times array-library peers on the CPU workloads of ../workloads.json. One JSON object a line; README.md has the fields.

  peers.py [--venv DIR] [--only NAME,…] [--peers NAME,…] [--n N] [--dtype T] [--threads K] [--seconds S] [--small] [--list]
  peers.py [--venv DIR] [--peers NAME,…] [--threads K] --serve

--serve takes requests from standard input, {"id","dtype","n","folder","seconds"} a line, and answers with a line for each
peer and an empty object; the folder has the data, and may have Aplomb's values. This process makes the environment and
starts a child for each peer, so that limits of threads (affinity and the usual variables) hold from the first import;
children stay, so that compiled formulas and data are there when the next round of a workload begins.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
from work import ROWS, TABLE, Work, file, result, write

PEERS = ["numpy", "numexpr", "jax", "numba"]


def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--venv", help="virtual environment to make or reuse (without it: this interpreter)")
    p.add_argument("--only", help="workloads; all without it")
    p.add_argument("--peers", default=",".join(PEERS))
    p.add_argument("--n", type=float, help="instead of the table's")
    p.add_argument("--dtype", help="instead of the table's")
    p.add_argument("--threads", type=int, default=2, help="processors that each peer may use")
    p.add_argument("--seconds", type=float, default=1.0, help="of measuring, each")
    p.add_argument("--small", action="store_true", help="the table's small sizes")
    p.add_argument("--list", action="store_true")
    p.add_argument("--serve", action="store_true")
    p.add_argument("--child", help=argparse.SUPPRESS)
    return p.parse_args()


def venv_python(folder):
    py, stamp = os.path.join(folder, "bin", "python"), os.path.join(folder, "peers.stamp")
    with open(os.path.join(HERE, "requirements.txt")) as f:
        want = f.read()
    if not os.path.exists(py):
        subprocess.check_call([sys.executable, "-m", "venv", folder])
    if not os.path.exists(stamp) or open(stamp).read() != want:
        subprocess.check_call([py, "-m", "pip", "install", "-q", "-r", os.path.join(HERE, "requirements.txt")],
                              stdout=sys.stderr)
        with open(stamp, "w") as f:
            f.write(want)
    return py


class Child:
    def __init__(self, py, peer, threads):
        names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS",
                 "NUMEXPR_MAX_THREADS", "NUMBA_NUM_THREADS")
        env = os.environ | {name: str(threads) for name in names}
        env |= {"JAX_PLATFORMS": "cpu", "JAX_ENABLE_X64": "1", "PYTHONDONTWRITEBYTECODE": "1"}
        self.peer = peer
        self.process = subprocess.Popen([py, os.path.abspath(__file__), "--child", peer, "--threads", str(threads)],
                                        env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def asked(self, request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError:
            pass
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"peer": self.peer, "error": "it ended"}


def points(a):
    """The works that were asked for. Errors: a name that is none."""
    only = a.only.split(",") if a.only else list(ROWS)
    unknown = [name for name in only if name not in ROWS]
    if unknown:
        sys.exit(f"no workload is called {' '.join(unknown)}; peers.py --list")
    for row in TABLE["workloads"]:
        if row["id"] in only and "like" not in row:
            found = [(a.dtype or dtype, int(a.n or n)) for dtype, n in row["small" if a.small else "cpu"]]
            yield from (Work(row, dtype, n) for dtype, n in dict.fromkeys(found))


def outer(a):
    if a.list:
        for w in points(a):
            print(f"{w.id:14}{w.n:>10} {w.dtype:5}{w.row['says']}")
        return 0
    py = venv_python(a.venv) if a.venv else sys.executable
    unknown = [p for p in a.peers.split(",") if p not in PEERS]
    if unknown:
        sys.exit(f"no peer is called {' '.join(unknown)}; there are {' '.join(PEERS)}")
    children = [Child(py, p, a.threads) for p in a.peers.split(",")]
    if a.serve:
        for line in sys.stdin:
            for child in children:
                print(json.dumps(child.asked(json.loads(line))), flush=True)
            print("{}", flush=True)
        return 0
    failed = 0
    for w in points(a):
        with tempfile.TemporaryDirectory() as folder:
            for spec in w.data.values():
                write(os.path.join(folder, file(*spec)), *spec)
            for child in children:
                row = child.asked({"id": w.id, "dtype": w.dtype, "n": w.n, "folder": folder, "seconds": a.seconds})
                failed |= "error" in row
                if "us" in row or "error" in row:
                    print(json.dumps(row), flush=True)
    return failed


# ------------------------------------------------------------------ in a child
class Prepared:
    """A formula on its data, called once: that call compiles."""

    def __init__(self, make, w, folder):
        import numpy as np
        from formulas import apart, arrays
        data = list(arrays(np, w, folder).values())
        self.call, self.row = None, {"id": w.id, "n": w.n, "dtype": w.dtype}
        f = make(w, data)
        if f is None:
            return
        begun = time.perf_counter_ns()
        got = f()
        self.row["first_ms"] = (time.perf_counter_ns() - begun) / 1e6
        paths = [result(folder, w, k) for k in range(w.results)]
        if all(map(os.path.exists, paths)):
            got = got if isinstance(got, tuple) else (got,)
            err = max(apart(np, w, np.asarray(a), np.load(path)) for a, path in zip(got, paths))
            self.row.update(err=err, tol=w.tol, ok=bool(err <= w.tol))
        begun = time.perf_counter_ns()
        f()
        one = (time.perf_counter_ns() - begun) / 1e3
        # Short calls are timed together, half a millisecond of them.
        self.call, self.batch = f, max(1, min(100_000, int(500 / max(one, .01))))

    def measured(self, seconds):
        us, end = [], time.perf_counter() + seconds
        while not us or time.perf_counter() < end:
            begun = time.perf_counter_ns()
            for _ in range(self.batch):
                self.call()
            us.append((time.perf_counter_ns() - begun) / 1e3 / self.batch)
        mid = statistics.median(us)
        return {"us": mid, "least_us": min(us), "mad_us": statistics.median(abs(x - mid) for x in us), "runs": len(us)}


def maker(peer):
    """From a workload and its data to a call."""
    if peer in ("numpy", "jax"):
        from everyday import called
        from formulas import Jax, Numpy
        own = Numpy() if peer == "numpy" else Jax()

        def make(w, data):
            f, held = own.compiled(getattr(own, called(w.formula))), [own.load(x) for x in data]
            return lambda: own.waited(f(*held))
        return make
    import compiled
    find = compiled.numexpr_formula if peer == "numexpr" else compiled.numba_formula

    def make(w, data):
        f = find(w.formula, w.dtype, w.n)
        return f and (lambda: f(*data))
    return make


def child(peer, threads):
    try:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    except (AttributeError, OSError):
        pass
    known = make = None
    for line in sys.stdin:
        asked = json.loads(line)
        row = {"peer": peer, "threads": threads, "id": asked["id"], "n": asked["n"], "dtype": asked["dtype"]}
        # A peer that cannot do it is a finding, no crash.
        try:
            key = asked["id"], asked["n"], asked["dtype"], asked["folder"]
            if make is None:
                make = maker(peer)
                import numpy
                numpy.seterr(all="ignore")
            if known is None or known[0] != key:
                known = None
                known = key, Prepared(make, Work(ROWS[asked["id"]], asked["dtype"], asked["n"]), asked["folder"])
            if known[1].call:
                row |= known[1].row | known[1].measured(asked["seconds"])
        except Exception as e:
            row["error"] = f"{type(e).__name__}: {e}"[:200]
        print(json.dumps(row), flush=True)
    return 0


if __name__ == "__main__":
    A = parse()
    sys.exit(child(A.child, A.threads) if A.child else outer(A))
