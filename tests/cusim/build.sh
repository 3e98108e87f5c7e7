#!/bin/sh
# Builds the look-alikes of libcuda, libnvrtc and libcublas into a folder:  tests/cusim/build.sh OUTDIR
# Then a program finds them first with LD_LIBRARY_PATH=OUTDIR. Needs g++ (x86-64 Linux) and binutils beside it.
set -eu
out=${1:?"usage: build.sh OUTDIR"}
here=$(cd "$(dirname "$0")" && pwd)
case "$(uname -sm)" in
  "Linux x86_64") ;;
  *) echo "cusim needs Linux on x86-64" >&2; exit 1 ;;
esac
mkdir -p "$out/o"
# What the compiler of an earlier text kept and nobody has asked for since (CUSIM_KEPT).
[ ! -d "$out/kept" ] || find "$out/kept" -type f -mtime +14 -delete
out=$(cd "$out" && pwd)
# Two tests may build at once.
if command -v flock >/dev/null; then
  exec 9>"$out/o/building"
  flock 9
fi
# Is FILE newer than all that it is made of?
fresh() {
  made=$1
  shift
  for source; do [ "$made" -nt "$source" ] || return 1; done
}
flags="-std=c++17 -fPIC -fvisibility=hidden -Wall -Wextra -fno-exceptions"
objects=
for file in errors options memory report addresses shadow fibers launch module driver streams transfer graph library; do
  objects="$objects $out/o/$file.o"
  fresh "$out/o/$file.o" "$here/$file.cc" "$here/sim.h" "$here/library.h" || echo "-O2 $flags -c $here/$file.cc -o $out/o/$file.o"
done >"$out/todo"
# It only starts g++, so it need not be fast.
fresh "$out/o/nvrtc.o" "$here/nvrtc.cc" || echo "-O0 $flags -fexceptions -c $here/nvrtc.cc -o $out/o/nvrtc.o" >>"$out/todo"
fresh "$out/o/cublas.o" "$here/cublas.cc" "$here/library.h" || echo "-O2 $flags -c $here/cublas.cc -o $out/o/cublas.o" >>"$out/todo"
xargs -r -P 2 -L 1 g++ <"$out/todo"

# New files take the place of old ones by renaming: a process may have those loaded.
# shellcheck disable=SC2086
if ! fresh "$out/libcuda.so.1" $objects; then
  g++ -shared $objects -Wl,-soname,libcuda.so.1 -Wl,--no-as-needed -lm -ldl -o "$out/new.so"
  mv "$out/new.so" "$out/libcuda.so.1"
  # A driver from before CUDA 12.2: the same without what came later, so that a caller finds symbols missing.
  mkdir -p "$out/old"
  echo '{ local: cuEventElapsedTime_v2; cuCtxCreate_v4; cuMemPrefetchAsync_v2; cuMemAdvise_v2; };' >"$out/old/map"
  g++ -shared $objects -Wl,--version-script="$out/old/map" -Wl,-soname,libcuda.so.1 -Wl,--no-as-needed -lm -ldl -o "$out/new.so"
  mv "$out/new.so" "$out/old/libcuda.so.1"
fi
if ! fresh "$out/libnvrtc.so.13" "$out/o/nvrtc.o"; then
  g++ -shared "$out/o/nvrtc.o" -Wl,-soname,libnvrtc.so.13 -ldl -o "$out/new.so"
  mv "$out/new.so" "$out/libnvrtc.so.13"
fi
if ! fresh "$out/cusim.h" "$here/cusim.h"; then
  cp "$here/cusim.h" "$out/new.h"
  mv "$out/new.h" "$out/cusim.h"
fi
# A library whose work is done by the driver that the program found before it, so it is linked with none.
if ! fresh "$out/libcublas.so.13" "$out/o/cublas.o"; then
  g++ -shared "$out/o/cublas.o" -Wl,-soname,libcublas.so.13 -ldl -o "$out/new.so"
  mv "$out/new.so" "$out/libcublas.so.13"
fi
ln -sf libcuda.so.1 "$out/libcuda.so"
ln -sf libnvrtc.so.13 "$out/libnvrtc.so"
for file in libnvrtc.so.13 cusim.h; do ln -sf "../$file" "$out/old/$file"; done
ln -sf libcuda.so.1 "$out/old/libcuda.so"
# The same driver beside no library.
mkdir -p "$out/alone"
for file in libcuda.so.1 libcuda.so libnvrtc.so.13 libnvrtc.so cusim.h; do ln -sf "../$file" "$out/alone/$file"; done
