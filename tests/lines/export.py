# Runs exported functions under the namespaces that are there and compares what they give.
#
#   export.py CASES.json require|look
#
# A case: module, function, arguments, results. Prints a line a namespace; exit 1 where one differs, or is absent
# though it is required.
import importlib.util, json, os, sys, time

os.environ["JAX_ENABLE_X64"] = "1"
os.environ["JAX_PLATFORMS"] = "cpu"
cases, require = json.load(open(sys.argv[1])), sys.argv[2] == "require"


def numpy():
    import numpy

    return numpy


def strict():
    import array_api_strict

    return array_api_strict


def jax():
    import jax.numpy

    return jax.numpy


def dask():
    import array_api_compat.dask.array

    return array_api_compat.dask.array


def blocks():
    return dask()


def loaded(path):
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arrays(xp, case, split):
    for a in case["arguments"]:
        x = xp.reshape(xp.asarray(a["items"], dtype=getattr(xp, a["dtype"])), tuple(a["shape"]))
        # Two blocks an axis, of lengths that differ.
        yield x.rechunk(tuple(n // 2 + 1 for n in x.shape)) if split and x.ndim else x


def items(x):
    # A Dask array is computed when it is looked at.
    x = x.compute() if hasattr(x, "compute") else x
    import numpy

    return numpy.asarray(x if hasattr(x, "__array__") else x._array)


def halo(path):
    """Why a block of a part needs other blocks than its own and the next; None if it does not."""
    import dask.array
    import numpy

    seen = set()

    def noted(block, block_info=None):
        if block_info:
            seen.add(block_info[0]["chunk-location"][0])
        return block

    x = dask.array.from_array(numpy.arange(1000.0), chunks=100)
    x = x.map_blocks(noted, dtype=float)
    part = loaded(path)._blocks(x[3:], x)
    if part.chunks != ((100,) * 9 + (97,),):
        return f"blocks of {part.chunks}"
    seen.clear()
    part.blocks[4].compute(scheduler="sync")
    return None if seen == {4, 5} else f"block 4 needs {sorted(seen)}"


def differ(xp, case, split):
    """Why what a function gives differs; None where it does not."""
    import numpy

    try:
        given = getattr(loaded(case["module"]), case["function"])(xp, *arrays(xp, case, split))
    except ValueError as error:
        words = ("must be at least", "do not fit", "has shape")
        if case["small"] and any(w in str(error) for w in words):
            return refused.append(case)
        raise
    given = given if isinstance(given, tuple) else (given,)
    if len(given) != len(case["results"]):
        return f"{len(given)} results"
    for x, wanted in zip(given, case["results"]):
        x, y = items(x), numpy.asarray(wanted["items"], dtype=float).reshape(wanted["shape"])
        if x.shape != y.shape:
            return f"shape {x.shape}, not {y.shape}"
        apart = numpy.max(numpy.abs(x.astype(float) - y), initial=0)
        # Folds are taken in another order, of f32 in f32.
        single = any(a["dtype"] == "float32" for a in case["arguments"])
        if not apart <= (1e-6 if single else 1e-12) * max(1.0, numpy.max(numpy.abs(y), initial=0)):
            return f"{apart} apart"


failed = False
refused = []


def is_long(case):
    """A round that is written out forty times: blocks of it take minutes to put in order."""
    return len(open(case["module"]).readlines()) > 100


for namespace in (numpy, strict, jax, dask, blocks):
    try:
        xp = namespace()
    except ImportError as absent:
        print(f"{namespace.__name__}: skipped, {absent}")
        failed |= require
        continue
    begun = time.time()
    refused.clear()
    for case in cases:
        if namespace is blocks and is_long(case):
            continue
        # What is held to extents is so before the namespace is asked.
        if case["small"] and namespace not in (numpy, strict):
            continue
        try:
            says = differ(xp, case, namespace is blocks)
        except Exception as error:
            says = f"{type(error).__name__}: {error}"
        if says:
            print(f"{namespace.__name__}: {case['function']}: {says}: {case['what']}")
            failed = True
    with_parts = [c["module"] for c in cases if "def _blocks" in open(c["module"]).read()]
    if namespace is blocks and with_parts:
        says = halo(with_parts[0])
        if says:
            print(f"blocks: {says}")
            failed = True
    print(f"{namespace.__name__}: {len(cases)} cases in {time.time() - begun:.1f} s, {len(refused)} refused")
    # Few functions are for large extents alone.
    if len(refused) * 3 > len(cases):
        print("too many are refused")
        failed = True
sys.exit(failed)
