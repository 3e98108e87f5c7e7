#!/usr/bin/env bash
# A machine with a GPU, in one command: does every launch give what the CPU gives, do the sanitizers find anything, and
# how long does a workload take there and here.
#
#   benches/gpu/run.sh APLOMB [OUT]        the program; a folder for what is found, benches/gpu/out without
#
# Needs the program, bash and Python 3. libnvrtc is looked for where the loader does, in CUDA_HOME, and beside torch and
# NVIDIA's wheels of python3. Each stage has a time box and leaves its file before the next begins: device.txt,
# selftest.txt, sanitizer-*.txt, bench-*.json, and result.json of all. Exit code 0 if values agree and nothing was found.
# Not here yet: peers on the GPU (CuPy, torch, cuBLAS).
set -uo pipefail

aplomb=${1:?"usage: benches/gpu/run.sh APLOMB [OUT]"}
out=${2:-$(cd "$(dirname "$0")" && pwd)/out}
mkdir -p "$out" && rm -f "$out"/*.txt "$out"/*.json
failed=0

folders() {
    python3 - <<'PY'
import glob, os, site, sys
roots = site.getsitepackages() + [site.getusersitepackages()] + [p for p in sys.path if p.endswith("-packages")]
places = [p for root in roots for p in glob.glob(os.path.join(root, "nvidia", "*", "lib")) + [os.path.join(root, "torch", "lib")]]
home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
places += [os.path.join(home, "lib64")]
print(":".join(dict.fromkeys(p for p in places if glob.glob(os.path.join(p, "libnvrtc.so*")))))
PY
}
found=$(folders)
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$found"
# The first run is one without a cache.
XDG_CACHE_HOME=$(mktemp -d) && export XDG_CACHE_HOME
trap 'rm -rf "$XDG_CACHE_HOME"' EXIT

stage() {
    local name=$1 seconds=$2 begun=$SECONDS
    shift 2
    timeout "$seconds" "$@" >"$out/$name" 2>&1
    local rc=$?
    printf '%-28s rc %3d  %4d s\n' "$name" "$rc" $((SECONDS - begun))
    return "$rc"
}

stage device.txt 60 "$aplomb" --device cuda eval ']device' || failed=1
grep -q '^device ' "$out/device.txt" || { echo "no GPU: see $out/device.txt"; exit 1; }
stage selftest.txt 120 "$aplomb" selftest --cuda || failed=1
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck synccheck initcheck; do
        stage "sanitizer-$tool.txt" 60 compute-sanitizer --tool "$tool" --error-exitcode 9 \
            "$aplomb" --device cuda eval '(+/÷V)(2×⌽V)(+\V)(+/50 60⍴V←0.5×⍳3000)' || failed=1
    done
else
    echo "compute-sanitizer is not on the path: that stage is left out"
fi
for n in 1e5 1e6 2e7; do
    for device in cpu cuda; do
        stage "bench-$device-$n.json" 60 "$aplomb" --device "$device" bench blackscholes --n "$n" --seconds 3 --json || failed=1
    done
done

python3 - "$out" <<'PY'
import glob, json, os, sys
out = sys.argv[1]
read = lambda name: open(os.path.join(out, name), errors="replace").read()
rows = []
for path in sorted(glob.glob(os.path.join(out, "bench-*.json"))):
    device, n = os.path.basename(path)[len("bench-"):-len(".json")].rsplit("-", 1)
    for line in open(path, errors="replace"):
        try:
            rows.append({"device": device, "n": float(n), **json.loads(line)})
        except ValueError:
            pass
text = {name: read(name).splitlines() for name in ["device.txt", "selftest.txt"] if os.path.exists(os.path.join(out, name))}
json.dump({"device": text.get("device.txt"), "selftest": text.get("selftest.txt"), "bench": rows},
          open(os.path.join(out, "result.json"), "w"), indent=1, ensure_ascii=False)
print(os.path.join(out, "result.json"))
PY
exit "$failed"
