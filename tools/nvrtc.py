#!/usr/bin/env python3
"""Compiles one CUDA text with NVRTC, on a machine with or without a GPU, and prints what came of it as one JSON object.

  tools/nvrtc.py FILE.cu [--arch sm_90] [--lib-dir DIR]        FILE.cu may be - for standard input

rc is NVRTC's result (0: compiled; -1: no library), log its messages, regs the registers of each kernel, spills the bytes
spilled by all of them, cubin_bytes the size of the binary, ms the time of the compilation alone. Exit code 0 if it
compiled, else 1. The library is looked for in --lib-dir, else in what tools/extras installed.
"""
import argparse
import ctypes
import glob
import json
import os
import re
import sys
import time

OPTIONS = ["--std=c++17", "--fmad=false", "--prec-div=true", "--prec-sqrt=true", "-lineinfo", "--ptxas-options=-v"]


def extras():
    top = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.environ.get("APLOMB_EXTRAS_DIR") or os.path.join(top, "target", "extras")


def load(folder):
    """The wheel's library has no run path, so its built-ins must be loaded first."""
    folders = [folder] if folder else glob.glob(os.path.join(extras(), "venv/lib/python3*/site-packages/nvidia/*/lib"))
    for place in folders:
        builtins = sorted(glob.glob(os.path.join(place, "libnvrtc-builtins.so*")))
        compilers = sorted(glob.glob(os.path.join(place, "libnvrtc.so*")))
        if builtins and compilers:
            ctypes.CDLL(os.path.abspath(builtins[-1]), mode=ctypes.RTLD_GLOBAL)
            return ctypes.CDLL(os.path.abspath(compilers[-1]), mode=ctypes.RTLD_GLOBAL)
    raise OSError("no libnvrtc in " + (", ".join(folders) or "the extras: run tools/extras"))


def sized(nvrtc, program, what):
    """One of the results that come with a call for their size."""
    size = ctypes.c_size_t()
    if getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) != 0:
        return b""
    buffer = ctypes.create_string_buffer(size.value)
    getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
    return buffer.raw[: size.value]


def usage(log):
    """Registers by kernel and bytes spilled, from the lines that ptxas writes about each entry function."""
    regs, spills, kernel = {}, 0, None
    for line in log.splitlines():
        if entry := re.search(r"Compiling entry function '([^']+)'", line):
            kernel = entry[1]
        elif spill := re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line):
            spills += int(spill[1]) + int(spill[2])
        elif (used := re.search(r"Used (\d+) registers", line)) and kernel:
            regs[kernel] = int(used[1])
    return regs, spills


def compile_text(nvrtc, text, name, arch):
    program = ctypes.c_void_p()
    rc = nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, name.encode(), 0, None, None)
    if rc != 0:
        return dict(rc=rc, log="nvrtcCreateProgram failed", regs={}, spills=0, cubin_bytes=0, ms=0.0)
    options = [o.encode() for o in [f"--gpu-architecture={arch}", *OPTIONS]]
    start = time.perf_counter()
    rc = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
    ms = (time.perf_counter() - start) * 1e3
    log = sized(nvrtc, program, "ProgramLog").rstrip(b"\0\n").decode("utf-8", "replace")
    cubin = sized(nvrtc, program, "CUBIN") if rc == 0 else b""
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    regs, spills = usage(log)
    return dict(rc=rc, log=log, regs=regs, spills=spills, cubin_bytes=len(cubin), ms=round(ms, 3))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", metavar="FILE.cu")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--lib-dir", metavar="DIR")
    args = parser.parse_args()
    if args.file == "-":
        text = sys.stdin.buffer.read()
    else:
        with open(args.file, "rb") as f:
            text = f.read()
    try:
        nvrtc = load(args.lib_dir)
    except OSError as e:
        answer = dict(rc=-1, log=str(e), regs={}, spills=0, cubin_bytes=0, ms=0.0)
    else:
        answer = compile_text(nvrtc, text, os.path.basename(args.file), args.arch)
    print(json.dumps(answer))
    return 0 if answer["rc"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
