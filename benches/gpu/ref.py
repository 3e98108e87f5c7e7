#!/usr/bin/env python3
"""What other array systems take for the workloads of work.py, on the same files, and whether the results are ours.

  ref.py [--peers cupy,torch,jax,numpy] DATA OUT SECONDS

Writes OUT/peers.jsonl, a row as soon as it is known: id, n, dtype, peer, us, mad_us, runs, first_ms, `on` (the peer's
device), `err` against Aplomb's result in DATA and `ok`; or `error`, or `late`. A peer that cannot be imported has
one row, with `missing`. NumPy is no rival here: it shows on a machine without a GPU that the formulas are Aplomb's.

Protocol: data on the device, copies in turns past the L2 cache, 3 warm-ups, then 20 runs or 30 ms, whichever is more,
timed by events; JAX, which has none, by the clock, waited for. float32 products without TF32: they are cuBLAS's with
CuPy and torch. Each peer is a process of its own. Exit code 1: a result differs from ours.
"""
import argparse, json, os, statistics, subprocess, sys, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from everyday import called
from formulas import Cupy, Jax, Numpy, Torch, apart, arrays
from work import SCALE, all_work, result

WARM, RUNS, LEAST = 3, 20, .03
PEERS = {"cupy": Cupy, "torch": Torch, "jax": Jax, "numpy": Numpy}


def measure(peer, w, folder, end):
    import numpy as np
    given = arrays(np, w, folder)
    sets = [{name: peer.load(a.copy()) for name, a in given.items()} for _ in range(w.copies)]
    f = peer.compiled(getattr(peer, called(w.formula)))
    at = iter(range(1 << 60))
    call = lambda: f(**sets[next(at) % len(sets)])
    begun = time.perf_counter_ns()
    got = f(**sets[0])
    row = {}
    host = [peer.host(a) for a in (got if isinstance(got, tuple) else (got,))]
    del got
    row["first_ms"] = (time.perf_counter_ns() - begun) / 1e6
    paths = [result(folder, w, k) for k in range(w.results)]
    if all(map(os.path.exists, paths)):
        row["err"] = max(apart(np, w, np.asarray(a), np.load(path)) for a, path in zip(host, paths))
        row["tol"], row["ok"] = w.tol, row["err"] <= w.tol
    for _ in range(max(WARM, len(sets))):
        peer.timed(call)
    us, begun = [], time.monotonic()
    while len(us) < RUNS or time.monotonic() - begun < LEAST:
        us.append(peer.timed(call))
        if len(us) >= 3 and (time.monotonic() > end or time.monotonic() - begun > 2):
            break
    mid = statistics.median(us)
    row.update(us=mid, mad_us=statistics.median(abs(x - mid) for x in us), runs=len(us))
    return row


def copied(peer):
    """What the floors stand on: bytes read and written, and how long that takes."""
    import numpy as np
    copied_n = max(4096, int(2**28 * SCALE))
    x = peer.load(np.zeros(copied_n, "float32"))
    f = peer.compiled(peer.negative)
    us = [peer.timed(lambda: f(x)) for _ in range(WARM + RUNS)][WARM:]
    return {"n": 8 * copied_n, "us": statistics.median(us), "runs": RUNS}


def child(name, folder, out, seconds):
    end, failed = time.monotonic() + seconds, []
    with open(os.path.join(out, "peers.jsonl"), "a") as f:
        def told(row):
            f.write(json.dumps(row) + "\n")
            f.flush()
            wrong = f"apart from ours by {row['err']:.1e}" if row.get("ok") is False else ""
            if wrong:
                failed.append(f"{row['id']}-{row['n']}-{row['dtype']}: {wrong}")
            says = row.get("missing") or row.get("error") or row.get("late") or wrong
            print(f"{name:6}{row.get('id', ''):22}{row.get('n', ''):>11} {row.get('us', 0):12.1f} µs  {says}".rstrip(),
                  flush=True)
        try:
            peer = PEERS[name]()
        except Exception as e:
            told({"peer": name, "missing": f"{e}"[:200]})
            return 0
        try:
            told({"id": "copy", "peer": name, "on": peer.on, **copied(peer)})
        except Exception as e:
            told({"id": "copy", "peer": name, "error": f"{e}"[:200]})
        for w in all_work():
            if w.formula != w.id:
                continue
            row = {"id": w.id, "n": w.n, "dtype": w.dtype, "peer": name, "on": peer.on}
            if time.monotonic() > end:
                row["late"] = "no time was left"
            else:
                try:
                    row.update(measure(peer, w, folder, end))
                except Exception as e:
                    row["error"] = f"{type(e).__name__}: {e}"[:200]
            told(row)
    if failed:
        print(f"{name}: {'; '.join(failed)}")
    return 1 if failed else 0


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--peers", default=os.environ.get("APLOMB_BENCH_PEERS", "cupy,torch,jax"))
    p.add_argument("--child", help=argparse.SUPPRESS)
    p.add_argument("data")
    p.add_argument("out")
    p.add_argument("seconds", type=float)
    a = p.parse_args()
    if a.child:
        return child(a.child, a.data, a.out, a.seconds)
    open(os.path.join(a.out, "peers.jsonl"), "w").close()
    names, end, failed = [n for n in a.peers.split(",") if n], time.monotonic() + a.seconds, 0
    for k, name in enumerate(names):
        if name not in PEERS:
            sys.exit(f"ref.py: no peer is called {name}; there are {' '.join(PEERS)}")
        # What one does not use is left to the others.
        share = (end - time.monotonic()) / (len(names) - k)
        if share < 1:
            print(f"{name}: no time was left")
            continue
        command = [sys.executable, os.path.abspath(__file__), "--child", name, a.data, a.out, str(share * .9)]
        try:
            failed |= subprocess.run(command, timeout=share).returncode
        except subprocess.TimeoutExpired:
            print(f"{name}: ended after {share:.0f} s, in the middle of a workload")
    return failed


if __name__ == "__main__":
    sys.exit(main())
