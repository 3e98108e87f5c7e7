#!/bin/sh
# Builds the libraries and the selftest into a folder and runs it:
#   tests/cusim/selftest.sh OUTDIR [driver|cases|faults] [NAME]
set -eu
out=${1:?"usage: selftest.sh OUTDIR [driver|cases|faults] [NAME]"}
shift
here=$(cd "$(dirname "$0")" && pwd)
"$here/build.sh" "$out"
mkdir -p "$out/t"
for file in selftest device faults cases_map cases_fold cases_place cases_driver; do
  if [ "$out/t/$file.o" -nt "$here/$file.cc" ] && [ "$out/t/$file.o" -nt "$here/selftest.h" ]; then continue; fi
  echo "-c $here/$file.cc -o $out/t/$file.o"
done | xargs -r -P 2 -L 1 g++ -std=c++17 -O1 -ffp-contract=off -Wall -Wextra
g++ "$out"/t/*.o -o "$out/selftest" -ldl -pthread
exec "$out/selftest" "$out" "$here/../.." "$@"
