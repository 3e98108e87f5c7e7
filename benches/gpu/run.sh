#!/usr/bin/env bash
# A machine with a GPU, in one command: does every launch give what the CPU gives, do the sanitizers find anything, and
# how long do workloads take there, on the CPU, and with CuPy, torch (cuBLAS among them) and JAX.
#
#   benches/gpu/run.sh APLOMB [OUT]        the program; a folder for what is found, benches/gpu/out without
#
# Needs the program, bash and Python 3; peers that Python cannot import are left out and said so. libnvrtc is looked for
# where the loader does, in CUDA_HOME, and beside torch and NVIDIA's wheels of python3. Each stage has a time box, nine
# minutes in all, and leaves its files before the next begins (README.md says which). Exit code 0 if values agree and
# nothing was found; 1 with a line for each stage that failed; 2 for a wrong call.
#
# APLOMB_BENCH_SCALE=1e-5   a part of the sizes, to see whether all of it runs
# APLOMB_BENCH_ONLY=a,b     only these workloads
# APLOMB_BENCH_PEERS=a,b    cupy,torch,jax without; numpy is a fourth
# APLOMB_COMMIT=…           what the rows say, where this is no checkout
set -uo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ $# -ge 1 ] || { echo "usage: benches/gpu/run.sh APLOMB [OUT]" >&2; exit 2; }
aplomb=$(command -v "$1") || { echo "$1 cannot be run" >&2; exit 2; }
aplomb=$(realpath "$aplomb")
command -v python3 >/dev/null || { echo "python3 is needed" >&2; exit 2; }
out=${2:-$here/out}
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
rm -f "$out"/*.txt "$out"/*.json "$out"/*.jsonl "$out"/stages.tsv
commit=${APLOMB_COMMIT:-$(git -C "$here" rev-parse --short=12 HEAD 2>/dev/null || echo unknown)}

folders() {
    python3 - <<'PY'
import glob, os, site, sys
roots = site.getsitepackages() + [site.getusersitepackages()] + [p for p in sys.path if p.endswith("-packages")]
places = [p for root in roots for p in glob.glob(os.path.join(root, "nvidia", "*", "lib"))]
places += [os.path.join(root, "torch", "lib") for root in roots]
home = os.environ.get("CUDA_HOME", "/usr/local/cuda")
places += [os.path.join(home, "lib64")]
places = [p for p in places if glob.glob(os.path.join(p, "libnvrtc.so*"))]
places += [p for p in ["/usr/local/nvidia/lib64"] if os.path.exists(os.path.join(p, "libcuda.so.1"))]
print(":".join(dict.fromkeys(places)))
PY
}
found=$(folders)
# Only for the program: the peers find their own.
paths="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$found"
cuda=${CUDA_HOME:-/usr/local/cuda}
PATH=$PATH:$cuda/bin:$cuda/compute-sanitizer

# Data, and a compiler's cache that is empty at first.
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME=$work/cache PYTHONDONTWRITEBYTECODE=1
mkdir -p "$work/cache" "$work/data"
failed=()

# stage FILE SECONDS COMMAND…: runs it, writes FILE and a line of stages.tsv. A failure is kept to be told at the end.
stage() {
    local name=$1 box=$2 begun=$SECONDS rc says=
    shift 2
    timeout -k 2 "$box" "$@" >"$out/$name" 2>&1
    rc=$?
    if [ "$rc" -eq 124 ] || [ "$rc" -eq 137 ]; then
        says="not done in $box s"
    elif [ "$rc" -ne 0 ]; then
        says=$(grep -v '^[[:space:]]*$' "$out/$name" | tail -n 1 | tr '\t' ' ' | cut -c1-200)
    fi
    printf '%s\t%s\t%s\t%s\t%s\n' "$name" "$rc" $((SECONDS - begun)) "$box" "$says" >>"$out/stages.tsv"
    printf '%-28s rc %3d  %4d s of %d\n' "$name" "$rc" $((SECONDS - begun)) "$box"
    [ "$rc" -eq 0 ] || failed+=("$name: exit $rc: $says")
    return "$rc"
}

finish() {
    if ! timeout 20 python3 "$here/table.py" "$out" "$commit"; then
        [ "$1" = early ] || failed+=("result.json: no workload was timed on the GPU")
    fi
    [ "$1" = early ] || cat "$out/table.txt"
    echo "$out/result.json"
    local line
    for line in "${failed[@]}"; do
        echo "FAILED $line"
    done
    [ "${#failed[@]}" -eq 0 ] || exit 1
}

# Programs that start others get the libraries by env, so that timeout can end them.
with=(env "LD_LIBRARY_PATH=$paths")
stage device.txt 20 "${with[@]}" "$aplomb" --device cuda eval ']device'
if ! grep -q '^device ' "$out/device.txt"; then
    why=$(sed -n 's/^GPU *//p' "$out/device.txt")
    failed+=("no GPU: ${why:-see $out/device.txt}")
    finish early
fi
sed -n '/^device /p;/^CUDA /p' "$out/device.txt"
stage selftest.txt 100 "${with[@]}" "$aplomb" selftest --cuda
if command -v compute-sanitizer >/dev/null; then
    for tool in memcheck racecheck synccheck initcheck; do
        file=sanitizer-$tool.txt
        sanitizer=(compute-sanitizer --tool "$tool" --error-exitcode 9)
        stage "$file" 20 "${with[@]}" "${sanitizer[@]}" "$aplomb" --device cuda "$here/shapes.apl" || continue
        # Where the program gave up the device there was nothing to look at.
        says=$(grep -m 1 '^aplomb: ' "$out/$file") && failed+=("$file: $says")
    done
else
    echo "compute-sanitizer is neither on the path nor in $cuda: that stage is left out"
fi
if stage data.txt 30 python3 "$here/../work.py" "$work/data" 27; then
    stage cuda.txt 130 "${with[@]}" python3 "$here/ours.py" cuda "$aplomb" "$work/data" "$out" 125
    stage cpu.txt 50 "${with[@]}" python3 "$here/ours.py" cpu "$aplomb" "$work/data" "$out" 46
    stage peers.txt 110 python3 "$here/ref.py" "$work/data" "$out" 105
fi
finish late
