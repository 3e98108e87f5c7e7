#!/bin/sh
# Builds the look-alikes of libcuda and libnvrtc into a folder:  tests/cusim/build.sh OUTDIR
# Then a program finds them first with LD_LIBRARY_PATH=OUTDIR. Needs g++ (x86-64 Linux), and binutils beside it.
set -eu
out=${1:?"usage: build.sh OUTDIR"}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out/o"
flags="-std=c++17 -O2 -fPIC -fvisibility=hidden -fno-exceptions -Wall -Wextra"
{
  for file in errors options memory report shadow fibers launch module driver transfer graph; do
    # Up to date: nothing to do.
    if [ "$out/o/$file.o" -nt "$here/$file.cc" ] && [ "$out/o/$file.o" -nt "$here/sim.h" ]; then continue; fi
    echo "$file"
  done
} | xargs -P 2 -I@ g++ $flags -c "$here/@.cc" -o "$out/o/@.o" &
g++ -std=c++17 -O1 -fPIC -fvisibility=hidden -Wall -Wextra -shared "$here/nvrtc.cc" -Wl,-soname,libnvrtc.so.13 -o "$out/libnvrtc.so.13" -ldl
wait $!
g++ -shared "$out"/o/*.o -Wl,-soname,libcuda.so.1 -Wl,--no-as-needed -lm -ldl -o "$out/libcuda.so.1"
cp "$here/cusim.h" "$out/cusim.h"
ln -sf libcuda.so.1 "$out/libcuda.so"
ln -sf libnvrtc.so.13 "$out/libnvrtc.so"
