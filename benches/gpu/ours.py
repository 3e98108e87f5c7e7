#!/usr/bin/env python3
"""Aplomb's own times for the workloads of work.py, from the traces that it writes of itself.

  ours.py cuda|cpu APLOMB DATA OUT SECONDS

Writes OUT/ours-cuda.jsonl or OUT/ours-cpu.jsonl, a row as soon as it is known. cuda: first a process whose
kernels nobody compiled before (`first_ms`), then one that finds them on the disk (`cached_ms`) and does 3 warm-ups or
more and up to 20 runs on data that is on the device. cpu: a process with 3 runs, which compares its result with the
one of cuda.

`us` is what the launches took by the trace (`kernels[].meas`, whose `clock` is in the row: the GPU's events); `end_us`
is the compiler's part and the launches with the results brought home. Both are medians, `mad_us` is the median
distance from `us`. Exit code 1, and a last line that says why: a workload failed, its values are not the other
device's, or the program gave up its device.
"""
import json, os, statistics, subprocess, sys, tempfile, time
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from work import all_work, result

WARM, RUNS = 3, 20
# Seconds that one workload may take, and its timed runs together.
MOST, RUNNING = {"cuda": 40.0, "cpu": 10.0}, 4.0


def program(w, folder, warm, runs, after=()):
    lines = []
    for copy in range(w.copies):
        lines += [f"{name}{copy}←⎕NPY'{path}'" for name, path in w.files(folder).items()]
    lines += [f"⎕DR r←{w.text(run % w.copies)}" for run in range(warm + runs)]
    return "\n".join(lines + list(after)) + "\n"


def traced(aplomb, device, w, text, seconds, cache=None):
    """A trace for each run. Errors: what the program said."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = os.path.join(folder, "w.apl"), os.path.join(folder, "w.json")
        with open(source, "w") as f:
            f.write(text)
        off = [word for name in w.off for word in ("--off", name)]
        command = [aplomb, "--device", device, "--math", w.math, *off, "trace", source, "--all", "--ndjson", "-o", out]
        try:
            env = os.environ | ({"XDG_CACHE_HOME": cache} if cache else {})
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=env,
                                  timeout=max(1, seconds))
        except subprocess.TimeoutExpired:
            raise Late(f"not done in {seconds:.0f} s")
        said = done.stderr.strip()
        if done.returncode:
            raise RuntimeError(f"exit {done.returncode}: {said.splitlines()[0] if said else 'it said nothing'}"[:300])
        with open(out) as f:
            traces = [json.loads(line) for line in f]
        traces = [t for t in traces if t["statement"].startswith("⎕DR r←")]
        untold = [d["text"] for t in traces for d in t["diagnostics"] if d["code"] == "W-untold"]
        if untold:
            raise RuntimeError(untold[0])
        return traces, said


class Late(Exception):
    pass


def launches(trace, device):
    """Microseconds of the launches on that device, and why others ran elsewhere."""
    own = [k for k in trace["kernels"] if (k.get("ran") or {"device": "cpu"})["device"] == device]
    other = [k for k in trace["kernels"] if k not in own]
    why = [f"{k['skeleton']} on the {k['ran']['device']}: {k['ran']['why']}" for k in other if k.get("ran")]
    return sum(k["meas"]["us"] for k in own if k.get("meas")), own, why


def end_us(trace):
    return 1e3 * (trace["times"].get("front_ms", 0) + trace["times"].get("launch_ms", 0))


def summary(timed, device):
    us = [launches(t, device)[0] for t in timed]
    mid = statistics.median(us)
    _, own, why = launches(timed[-1], device)
    row = {"us": mid, "mad_us": statistics.median(abs(x - mid) for x in us), "runs": len(us), "kernels": len(own),
           "end_us": statistics.median(map(end_us, timed))}
    row["clock"] = next((k["meas"]["clock"] for k in own if k.get("meas")), None)
    if why:
        row["elsewhere"] = why
    if why or not own:
        # A part of the work is no figure for it.
        row.update(us=None, mad_us=None)
    return row


def on_cuda(aplomb, w, data, seconds, cache):
    end = time.monotonic() + seconds
    save = [f"r⎕NPY'{result(data, w, 0)}'"]
    if w.results > 1:
        save = [f"({k + 1}⊃r)⎕NPY'{result(data, w, k)}'" for k in range(w.results)]
    traces, said = traced(aplomb, "cuda", w, program(w, data, 2, 0, save), seconds, cache)
    first = traces[0]
    row = {"first_ms": end_us(first) / 1e3}
    row.update((name, first["times"].get(name)) for name in ("nvrtc_ms", "compiled"))
    runs = max(3, min(RUNS, int(RUNNING / max(1e-6, end_us(traces[1]) / 1e6))))
    warm = max(WARM, w.copies)
    traces, again = traced(aplomb, "cuda", w, program(w, data, warm, runs), end - time.monotonic(), cache)
    row["cached_ms"] = end_us(traces[0]) / 1e3
    timed = traces[warm:]
    row.update(summary(timed, "cuda"))
    own = launches(timed[-1], "cuda")[1]
    known = lambda key: [k[key] for k in own if k.get(key) is not None]
    row.update(regs=max(known("regs"), default=None), spill=max(known("spill"), default=None))
    row["up_bytes"] = max(t["times"].get("up_bytes", 0) for t in timed)
    row["down_bytes"] = max(t["times"].get("down_bytes", 0) for t in timed)
    told = sorted({line for line in (said + "\n" + again).splitlines() if line.startswith("aplomb: ")})
    if told:
        raise RuntimeError(f"the program said: {told[0]}")
    return row


def on_cpu(aplomb, w, data, seconds):
    error = os.path.join(data, "error.txt")
    compared = os.path.exists(result(data, w, 0))
    parts = ["r"] if w.results == 1 else [f"({k + 1}⊃r)" for k in range(w.results)]
    far = "(+/,x≠y)÷1⌈×/⍴y" if w.count else "(⌈/,|x-y)÷{⍵+0=⍵}⌈/,|y"
    after = ["]trace off", "⎕CT←0", "e←⍬"] if compared else []
    for k, part in enumerate(parts if compared else []):
        after += [f"x←⎕NPY'{result(data, w, k)}'", f"y←{part}", f"e←e,{{(⍴x)≢⍴y:⌊/⍬ ⋄ 0=×/⍴y:0 ⋄ {far}}}0"]
    if compared:
        after.append(f"_←(⍕⌈/e)⎕NPUT'{error}' 1")
    traces, _ = traced(aplomb, "cpu", w, program(w, data, 1, 3, after), seconds)
    row = summary(traces[1:], "cpu")
    row["first_ms"] = end_us(traces[0]) / 1e3
    if compared:
        with open(error) as f:
            row["cuda_err"] = float(f.read().replace("¯", "-"))
        os.remove(error)
        row["tol"] = w.tol
        row["ok"] = row["cuda_err"] <= w.tol
    return row


def main(device, aplomb, data, out, seconds):
    end, failed = time.monotonic() + seconds, []
    with open(os.path.join(out, f"ours-{device}.jsonl"), "w") as f:
        # On the CPU the dear ones come last: its time is short, and what counts is that many values are compared.
        for w in sorted(all_work(), key=lambda w: w.flops if device == "cpu" else 0):
            row = {"id": w.id, "n": w.n, "dtype": w.dtype}
            left = end - time.monotonic()
            try:
                if left < 1:
                    raise Late("no time was left")
                if device == "cuda":
                    with tempfile.TemporaryDirectory() as cache:
                        row.update(on_cuda(aplomb, w, data, min(left, MOST[device]), cache))
                else:
                    row.update(on_cpu(aplomb, w, data, min(left, MOST[device])))
            except Late as e:
                row["late"] = str(e)
            except Exception as e:
                row["error"] = f"{e or type(e).__name__}"
            wrong = row.get("error") or (f"apart by {row['cuda_err']:.1e}" if row.get("ok") is False else "")
            if wrong:
                failed.append(f"{w.key}: {wrong}")
            print(f"{w.key:34} {row.get('us') or 0:12.1f} µs  {wrong or row.get('late') or ''}".rstrip(), flush=True)
            f.write(json.dumps(row, ensure_ascii=False) + "\n")
            f.flush()
    if failed:
        print(f"{len(failed)} failed: {'; '.join(failed)}")
    return 1 if failed else 0


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:5], float(sys.argv[5])))
