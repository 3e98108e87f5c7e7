# Exported functions on two local workers, with arguments that no worker could hold, one worker killed in the middle.
#
#   run.py APLOMB [NUMBERS [FUNCTION …]]      10⁹ numbers and all functions if not said otherwise
#
# Each function runs on the cluster and again, block by block, on this machine alone: the same graph in the same order,
# so the bits must be the same. Prints a line a function; exit 1 where one differs.
import importlib.util, os, pathlib, signal, subprocess, sys, tempfile, time

import array_api_compat.dask.array as xp
import dask, dask.array as da
from dask.distributed import Client, LocalCluster

# What a worker may hold: an eighth of one argument of 10⁹ numbers.
MEMORY = "1GiB"
BLOCK = 2_000_000
FUNCTIONS = ["map", "f64[n]", "sum", "f64[n]", "rmse", "f64[n] f64[n]", "window", "f64[n]", "scan", "f64[n]"]


def exported(aplomb, folder):
    here = pathlib.Path(__file__).parent
    words = [aplomb, "export", "--python", "-o", folder, here / "functions.apl", *FUNCTIONS, "product", "f64[n,k] f64[k,m]"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    spec = importlib.util.spec_from_file_location("functions", pathlib.Path(folder) / "functions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def numbers(n, seed):
    """n numbers from 0 to 1, made where they are needed."""
    return (da.arange(n, chunks=BLOCK, dtype="float64") * (1103.0 * seed) % 997.0) / 997.0


def killed(client):
    """Kills a worker once a part of the work is done; False if the work was done before."""
    pids = client.run(os.getpid)
    time.sleep(2)
    os.kill(next(iter(pids.values())), signal.SIGKILL)


def calls(module, n):
    side = int((n // 8) ** 0.5)
    matrix = lambda seed: (da.arange(side, chunks=1000, dtype="float64")[:, None] * seed
                           + da.arange(side, chunks=1000, dtype="float64")[None, :]) % 97.0 / 97.0
    x, y = numbers(n, 1), numbers(n, 2)
    yield "map", da.max(module.map(xp, x))
    yield "sum", module.sum(xp, x)
    yield "rmse", module.rmse(xp, x, y)
    yield "window", module.window(xp, x)
    yield "scan", module.scan(xp, x)
    small = min(side, 4000)
    yield "product", module.product(xp, matrix(3.0)[:small, :small], matrix(5.0)[:small, :small])


def main():
    aplomb, n = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10**9
    wanted = sys.argv[3:]
    dask.config.set({"distributed.scheduler.allowed-failures": 5, "distributed.logging.distributed": "error"})
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        module = exported(aplomb, folder)
        cluster = LocalCluster(n_workers=2, threads_per_worker=1, memory_limit=MEMORY, dashboard_address=None)
        with cluster, Client(cluster) as client:
            for name, lazy in calls(module, n):
                if wanted and name not in wanted:
                    continue
                begun = time.monotonic()
                future = client.compute(lazy)
                lost = name == "rmse"
                if lost:
                    killed(client)
                there = float(future.result())
                took = time.monotonic() - begun
                with dask.config.set(scheduler="threads", num_workers=2):
                    here = float(lazy.compute())
                same = there == here
                failed |= not same
                print(f"{name:8} {took:7.1f} s  {there!r}{'' if same else f', here {here!r}'}"
                      f"{'  one worker was killed' if lost else ''}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
