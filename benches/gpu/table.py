#!/usr/bin/env python3
"""One document of what run.sh found, and a table of it.

  table.py OUT COMMIT        reads OUT/*.txt *.jsonl *.tsv; writes OUT/result.json and OUT/table.txt

A stage that left no file leaves its fields null. Exit code 1: no workload was timed on the GPU.
"""
import json, os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from work import RATES, SCALE, all_work

PEERS = ("cupy", "torch", "jax")
# Of the rows of ours.py.
TAKEN = ("regs", "spill", "kernels", "first_ms", "cached_ms", "nvrtc_ms", "mad_us", "runs", "end_us", "clock",
         "up_bytes", "down_bytes", "elsewhere", "error", "late")


def lines(path):
    try:
        with open(path, errors="replace") as f:
            return f.read().splitlines()
    except FileNotFoundError:
        return []


def rows(path):
    """JSON a line; a line that a time box cut is left out."""
    out = []
    for line in lines(path):
        try:
            out.append(json.loads(line))
        except ValueError:
            pass
    return out


def by_key(all):
    return {(r.get("id"), r.get("n"), r.get("dtype")): r for r in all}


def least(values):
    return min((v for v in values if v), default=None)


def joined(w, cuda, cpu, peers, commit):
    key = w.id, w.n, w.dtype
    ours, host = cuda.get(key, {"late": "no time was left"}), cpu.get(key, {})
    theirs = {p: found.get((w.formula, w.n, w.dtype), {}) for p, found in peers.items()}
    row = {"id": w.id, "n": w.n, "dtype": w.dtype, "us": ours.get("us"), "floor_us": w.floor_us, "pct": None}
    if row["us"]:
        row["pct"] = 100 * w.floor_us / row["us"]
    for p in PEERS:
        found = theirs.get(p, {})
        row[f"{p}_us"] = found.get("us") if found.get("on") == "gpu" else None
    best = least(row[f"{p}_us"] for p in PEERS)
    row["ratio"] = best / row["us"] if best and row["us"] else None
    errors = [host.get("cuda_err")] + [found.get("err") for found in theirs.values()]
    row["max_rel_err"] = max((e for e in errors if e is not None), default=None)
    differs = [p for p, found in theirs.items() if found.get("ok") is False]
    differs += ["Aplomb on the CPU"] if host.get("ok") is False else []
    row.update((name, ours.get(name)) for name in TAKEN)
    row.update(cpu_us=host.get("us"), tol=w.tol, differs_from=differs, commit=commit)
    return row


def shown(x, digits=1):
    if x is None:
        return "–"
    return f"{x:.{digits}f}" if abs(x) < 1e6 else f"{x:.2e}"


def count(x):
    return str(x or "–")


# Head, and the cell of a row; the first three stand left.
COLUMNS = [
    ("workload", lambda r: r["id"]),
    ("n", lambda r: str(r["n"])),
    ("dtype", lambda r: r["dtype"]),
    ("launches", lambda r: count(r["kernels"])),
    ("regs", lambda r: count(r["regs"])),
    ("µs", lambda r: shown(r["us"])),
    ("±", lambda r: shown(r["mad_us"])),
    ("floor", lambda r: shown(r["floor_us"])),
    ("%", lambda r: shown(r["pct"])),
    ("end to end", lambda r: shown(r["end_us"])),
    ("first ms", lambda r: shown(r["first_ms"])),
    ("cached ms", lambda r: shown(r["cached_ms"])),
    ("CPU µs", lambda r: shown(r["cpu_us"])),
    ("CuPy µs", lambda r: shown(r["cupy_us"])),
    ("torch µs", lambda r: shown(r["torch_us"])),
    ("JAX µs", lambda r: shown(r["jax_us"])),
    ("best/ours", lambda r: shown(r["ratio"], 2)),
    ("apart", lambda r: "–" if r["max_rel_err"] is None else f"{r['max_rel_err']:.0e}"),
]


def notes(found):
    for r in found["rows"]:
        says = [r["error"], r["late"], *(r["elsewhere"] or []), *(f"DIFFERS from {who}" for who in r["differs_from"])]
        if r["up_bytes"]:
            says.append(f"{r['up_bytes']:.0f} bytes went to the device in a run")
        yield from (f"{r['id']} {r['n']} {r['dtype']}: {s}" for s in says if s)
    for p in found["peers"]:
        if p.get("missing") or p.get("error"):
            yield f"{p['peer']} {p.get('id', '')}: {p.get('missing') or p['error']}"


def table(found):
    cells = [[head for head, _ in COLUMNS]] + [[cell(r) for _, cell in COLUMNS] for r in found["rows"]]
    wide = [max(len(row[k]) for row in cells) for k in range(len(COLUMNS))]
    placed = lambda row: (c.ljust(w) if k < 3 else c.rjust(w) for k, (c, w) in enumerate(zip(row, wide)))
    rate = found["copy_bytes_per_s"]
    copy = f"a peer's -X reached {rate / 1e12:.2f} TB/s" if rate else "no peer said what a copy reaches here"
    tera = {name: f"{rate / 1e12:g}" for name, rate in RATES.items()}
    floors = (f"µs: launches alone. Floors are an H200's: {tera['bytes']} TB/s, {tera['f32']} Tflop/s in f32, "
              f"{tera['f64']} in f64; {copy}.")
    text = found["device"] + [f"commit   {found['commit']}", ""]
    if SCALE != 1:
        text.append(f"APLOMB_BENCH_SCALE={SCALE}: these figures compare with nothing")
    if found["rows"]:
        text += [" ".join(placed(row)).rstrip() for row in cells] + ["", floors]
    return "\n".join(text + list(notes(found))) + "\n"


def main(out, commit):
    at = lambda name: os.path.join(out, name)
    told = rows(at("peers.jsonl"))
    named = {p: by_key(r for r in told if r["peer"] == p) for p in dict.fromkeys(r["peer"] for r in told)}
    cuda, cpu = by_key(rows(at("ours-cuda.jsonl"))), by_key(rows(at("ours-cpu.jsonl")))
    copies = [r["n"] / r["us"] * 1e6 for r in told if r.get("id") == "copy" and r.get("us") and r["on"] == "gpu"]
    stages = [dict(zip(("name", "rc", "seconds", "box", "says"), line.split("\t"))) for line in lines(at("stages.tsv"))]
    found = {"commit": commit, "scale": SCALE, "device": lines(at("device.txt")), "selftest": lines(at("selftest.txt")),
             "stages": stages, "rates": RATES, "copy_bytes_per_s": max(copies, default=None),
             "rows": [joined(w, cuda, cpu, named, commit) for w in all_work()] if cuda else [], "peers": told}
    with open(at("result.json"), "w") as f:
        json.dump(found, f, indent=1, ensure_ascii=False, allow_nan=False)
    with open(at("table.txt"), "w") as f:
        f.write(table(found))
    return 0 if any(r["us"] for r in found["rows"]) else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
