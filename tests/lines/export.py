# Runs exported functions under the namespaces that are there and compares what they give.
#
#   export.py CASES.json require|look
#
# A case: module, function, arguments, results. Prints a line a namespace; exit 1 where one differs, or is absent
# though it is required.
import importlib.util, json, os, sys

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


def loaded(path):
    spec = importlib.util.spec_from_file_location("exported", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def arrays(xp, case):
    for a in case["arguments"]:
        yield xp.reshape(xp.asarray(a["items"], dtype=getattr(xp, a["dtype"])), tuple(a["shape"]))


def items(x):
    # A Dask array is computed when it is looked at.
    x = x.compute() if hasattr(x, "compute") else x
    import numpy

    return numpy.asarray(x if hasattr(x, "__array__") else x._array)


def differ(xp, case):
    """Why what a function gives differs; None where it does not."""
    import numpy

    given = getattr(loaded(case["module"]), case["function"])(xp, *arrays(xp, case))
    given = given if isinstance(given, tuple) else (given,)
    if len(given) != len(case["results"]):
        return f"{len(given)} results"
    for x, wanted in zip(given, case["results"]):
        x, y = items(x), numpy.asarray(wanted["items"], dtype=float).reshape(wanted["shape"])
        if x.shape != y.shape:
            return f"shape {x.shape}, not {y.shape}"
        apart = numpy.max(numpy.abs(x.astype(float) - y), initial=0)
        # Folds are taken in another order.
        if not apart <= 1e-12 * max(1.0, numpy.max(numpy.abs(y), initial=0)):
            return f"{apart} apart"


failed = False
for namespace in (numpy, strict, jax, dask):
    try:
        xp = namespace()
    except ImportError as absent:
        print(f"{namespace.__name__}: skipped, {absent}")
        failed |= require
        continue
    for case in cases:
        try:
            says = differ(xp, case)
        except Exception as error:
            says = f"{type(error).__name__}: {error}"
        if says:
            print(f"{namespace.__name__}: {case['function']}: {says}")
            failed = True
    print(f"{namespace.__name__}: {len(cases)} cases")
sys.exit(failed)
