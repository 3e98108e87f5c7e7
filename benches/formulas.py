#!/usr/bin/env python3
"""The workloads of work.py as other array systems say them. A peer is a class, a workload a method of it by its name;
what a peer says in its own words is overridden there, and what it has not is None.
"""
import os, sys, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from everyday import OF_NO_SIZE, Everyday

FAR = 1e308
COEF = (0.31938153, -0.356563782, 1.781477937, -1.821255978, 1.330274429)
R, V = 0.02, 0.30
BINOMIAL = (1 / 16, 4 / 16, 6 / 16, 4 / 16, 1 / 16)


class Peer(Everyday):
    """An array namespace `xp` with what it calls differently. Only `load`, `host` and `wait` need a device."""

    on = "cpu"
    made = {}

    def load(self, a):
        return a

    host = load

    def wait(self):
        pass

    def waited(self, result):
        """A result that is there."""
        return result

    def compiled(self, f):
        return f

    def timed(self, f):
        """Microseconds of a call that has ended."""
        begun = time.perf_counter_ns()
        f()
        self.wait()
        return (time.perf_counter_ns() - begun) / 1e3

    # The workloads, by their names; the arguments are their data. What is said in other words elsewhere is overridden.
    def negative(self, X):
        return -X

    def saxpy(self, X, Y):
        return Y + 2.5 * X

    def chain(self, A, B):
        return self.xp.maximum(B, 1 + 3 * A)

    def dot(self, A, B):
        return self.xp.dot(A, B)

    def squares(self, A):
        return (A * A).sum()

    def absum(self, A):
        return abs(A).sum()

    def rmse(self, A, B):
        return self.xp.sqrt(((A - B) ** 2).mean())

    def gemv(self, A, V):
        return A @ V

    def tmv(self, A, V):
        return A.T @ V

    def mvt(self, A, V, W):
        return A @ V, A.T @ W

    def gemm(self, A, B):
        return A @ B

    def outer(self, A, B):
        return (A[:, None] * B[None, :]).sum(1)

    def blackscholes(self, S, X, T):
        xp = self.xp

        def cnd(d):
            k = 1 / (1 + 0.2316419 * abs(d))
            p = 0 * d
            for c in reversed(COEF):
                p = k * (p + c)
            c = 0.39894228040143267794 * xp.exp(-0.5 * d * d) * p
            return xp.where(d > 0, 1 - c, c)

        q = 0.3 * xp.sqrt(T)
        d = (xp.log(S / X) + T * (0.02 + 0.3 * 0.3 / 2)) / q
        a, b, e = cnd(d), cnd(d - q), X * xp.exp(-0.02 * T)
        return S * a - e * b, e * (1 - b) - S * (1 - a)

    def scan(self, X):
        return self.xp.cumsum(X, dtype=X.dtype)

    def compact(self, M, X):
        return X[M]

    def positive(self, X):
        return X[X > 0]

    def histogram(self, X):
        return self.xp.bincount(X, minlength=128)

    def sort(self, X):
        return self.xp.sort(X)

    def grade(self, X):
        """Places from 0."""
        return self.xp.argsort(X, stable=True)

    def difference(self, X):
        return X[1:] - X[:-1]

    def stencil15(self, X):
        n = X.shape[0] - 14
        return sum((k + 1) / 128 * X[k:k + n] for k in range(15))

    def stencil3x3(self, X):
        n, w = X.shape[0] - 2, (1, 2, 1)
        return sum(w[i] * w[j] / 16 * X[i:i + n, j:j + n] for i in range(3) for j in range(3))

    def stencil5(self, X):
        p = self.xp.pad(X, 1)
        return 0.2 * (X + p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2])

    def conv5(self, X):
        n, p = X.shape[0], self.xp.pad(X, ((2, 2), (0, 0)))
        p = self.xp.pad(sum(BINOMIAL[k] * p[k:k + n, :] for k in range(5)), ((0, 0), (2, 2)))
        return sum(BINOMIAL[k] * p[:, k:k + n] for k in range(5))

    def life(self, X):
        roll, r = self.xp.roll, X.astype("int8")
        s = roll(r, 1, 0) + r + roll(r, -1, 0)
        s = roll(s, 1, 1) + s + roll(s, -1, 1)
        return (s == 3) | (X & (s == 4))

    def life10(self, X):
        for _ in range(10):
            X = self.life(X)
        return X

    def mandelbrot(self, X, Y):
        x, y, n = 0 * X, 0 * X, 0 * X
        for _ in range(255):
            x, y, n = self.step(X, Y, x, y, n)
        return n

    def step(self, X, Y, x, y, n):
        inside = x * x + y * y <= 4
        x, y = self.xp.where(inside, X + x * x - y * y, x), self.xp.where(inside, Y + 2 * x * y, y)
        return x, y, n + (x * x + y * y <= 4)

    def nbody(self, X, Y, Z, M):
        u, v, w = (c[:, None] - c[None, :] for c in (X, Y, Z))
        s = u * u + v * v + w * w + 1e-6
        g = M / (s * self.xp.sqrt(s))
        return (g * u).sum(1), (g * v).sum(1), (g * w).sum(1)

    def csr(self, V, C, U, starts):
        """A product with a sparse matrix, which is made before the clock starts."""
        if id(V) not in self.made:
            self.made[id(V)] = self.rows(V, C, U, starts)
        return self.made[id(V)] @ U

    def softmax(self, X):
        e = self.xp.exp(X - X.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    def transpose(self, X):
        return self.xp.ascontiguousarray(X.T)

    def transpose1(self, X):
        return 1 + self.transpose(X)


class Numpy(Peer):
    def __init__(self):
        import numpy
        self.xp = numpy

    def csr(self, V, C, U, starts):
        return self.xp.add.reduceat(V * U[C], starts)

    def transpose1(self, X):
        return self.xp.add(X.T, 1, order="C")

    def add_whole(self, A, B):
        return self.xp.add(A, B, dtype="int16") if A.dtype == "int8" else A + B

    def mandelbrot(self, X, Y):
        """The usual idiom: points that escaped are dropped."""
        xp = self.xp
        n, c = xp.zeros(X.size, "int32"), X + 1j * Y
        z, live = xp.zeros_like(c), xp.arange(X.size)
        for _ in range(255):
            z = z * z + c
            inside = z.real * z.real + z.imag * z.imag <= 4
            if not inside.all():
                z, c, live = z[inside], c[inside], live[inside]
            n[live] += 1
        return n


C_TEXT = r'''
extern "C" __global__ void prices(
    const float* S, const float* X, const float* T, float* call, float* put, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = S[i], x = X[i], t = T[i], q = 0.3f * sqrtf(t), d = (logf(s / x) + t * 0.065f) / q, c[2];
  for (int j = 0; j < 2; j++) {
    float y = d - j * q, k = 1.0f / (1.0f + 0.2316419f * fabsf(y));
    float p = k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
    float e = 0.39894228f * expf(-0.5f * y * y) * p;
    c[j] = y > 0.0f ? 1.0f - e : e;
  }
  float e = x * expf(-0.02f * t);
  call[i] = s * c[0] - e * c[1];
  put[i] = e * (1.0f - c[1]) - s * (1.0f - c[0]);
}
extern "C" __global__ void steps(const double* X, const double* Y, int* out, long long n) {
  long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
  if (i >= n) return;
  double cx = X[i], cy = Y[i], x = 0.0, y = 0.0;
  int k = 0;
  while (k < 255) {
    double a = cx + x * x - y * y;
    y = cy + 2.0 * x * y;
    x = a;
    if (x * x + y * y > 4.0) break;
    k++;
  }
  out[i] = k;
}
'''


class Cupy(Peer):
    """Reductions, scans and sorts are CUB's, products cuBLAS's; prices and steps are kernels of one's own."""

    on = "gpu"

    def __init__(self):
        os.environ.pop("CUPY_TF32", None)
        import cupy
        self.xp = cupy
        if not cupy.cuda.runtime.getDeviceCount():
            raise ImportError("CuPy sees no GPU")
        self.events = cupy.cuda.Event(), cupy.cuda.Event()

    def load(self, a):
        return self.xp.asarray(a)

    def host(self, a):
        return self.xp.asnumpy(a)

    def wait(self):
        self.xp.cuda.runtime.deviceSynchronize()

    def timed(self, f):
        begin, end = self.events
        begin.record()
        f()
        end.record()
        end.synchronize()
        return 1e3 * self.xp.cuda.get_elapsed_time(begin, end)

    def kernel(self, name, args, n):
        import numpy
        if name not in self.made:
            self.made[name] = self.xp.RawKernel(C_TEXT, name)
        self.made[name](((n + 255) // 256,), (256,), args + (numpy.int64(n),))

    def blackscholes(self, S, X, T):
        call, put = self.xp.empty_like(S), self.xp.empty_like(S)
        self.kernel("prices", (S, X, T, call, put), S.size)
        return call, put

    def mandelbrot(self, X, Y):
        out = self.xp.empty(X.shape, "int32")
        self.kernel("steps", (X, Y, out), X.size)
        return out

    def rows(self, V, C, U, starts):
        from cupyx.scipy.sparse import csr_matrix
        ends = self.xp.append(starts, V.size).astype("int32")
        return csr_matrix((V, C, ends), shape=(starts.size, U.size))


class Torch(Peer):
    """Eager, as it comes; products are cuBLAS's."""

    def __init__(self):
        import torch
        self.xp = torch
        self.on = "gpu" if torch.cuda.is_available() else "cpu"
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False
        if self.on == "gpu":
            self.events = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def load(self, a):
        return self.xp.from_numpy(a).to("cuda" if self.on == "gpu" else "cpu")

    def host(self, a):
        return a.cpu().numpy()

    def wait(self):
        if self.on == "gpu":
            self.xp.cuda.synchronize()

    def timed(self, f):
        if self.on == "cpu":
            return super().timed(f)
        begin, end = self.events
        begin.record()
        f()
        end.record()
        end.synchronize()
        return 1e3 * begin.elapsed_time(end)

    def scan(self, X):
        return self.xp.cumsum(X, 0)

    def sort(self, X):
        return self.xp.sort(X).values

    def stencil15(self, X):
        w = self.xp.arange(1, 16, dtype=X.dtype, device=X.device) / 128
        return self.xp.nn.functional.conv1d(X[None, None], w[None, None])[0, 0]

    def life(self, X):
        roll, r = self.xp.roll, X.to(self.xp.int8)
        s = roll(r, 1, 0) + r + roll(r, -1, 0)
        s = roll(s, 1, 1) + s + roll(s, -1, 1)
        return (s == 3) | (X & (s == 4))

    def softmax(self, X):
        return self.xp.softmax(X, 1)

    def transpose(self, X):
        return X.T.contiguous()

    def rows(self, V, C, U, starts):
        ends = self.xp.cat([starts, self.xp.tensor([V.numel()], device=starts.device)])
        return self.xp.sparse_csr_tensor(ends, C.to(self.xp.int64), V, (starts.numel(), U.numel()))


class Jax(Peer):
    """Each formula is one compiled function, but for selections, whose results have no size that is known before."""

    def __init__(self):
        os.environ["JAX_ENABLE_X64"] = "1"
        os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
        import jax
        jax.config.update("jax_default_matmul_precision", "highest")
        self.jax, self.xp = jax, jax.numpy
        self.on = jax.default_backend()

    def load(self, a):
        return self.jax.device_put(a)

    def host(self, a):
        import numpy
        return numpy.asarray(a)

    def compiled(self, f):
        return f if f.__name__ in ("compact", "positive") + OF_NO_SIZE else self.jax.jit(f)

    def waited(self, result):
        return self.jax.block_until_ready(result)

    def timed(self, f):
        begun = time.perf_counter_ns()
        self.waited(f())
        return (time.perf_counter_ns() - begun) / 1e3

    def histogram(self, X):
        return self.xp.bincount(X.astype("int32"), length=128)

    def transpose(self, X):
        return self.xp.copy(X.T)

    def reverse(self, X):
        return X[::-1]

    def running_greatest(self, X):
        return self.jax.lax.cummax(X)

    def rounds(self, X):
        return self.jax.lax.fori_loop(0, 1000, lambda _, x: x + 0.001 * x, X)

    def softmax(self, X):
        return self.jax.nn.softmax(X, axis=1)

    def csr(self, V, C, U, starts):
        rows = self.xp.zeros(V.shape, "int32").at[starts].add(1).cumsum() - 1
        return self.jax.ops.segment_sum(V * U[C], rows, num_segments=starts.shape[0], indices_are_sorted=True)

    def mandelbrot(self, X, Y):
        begin = (0 * X, 0 * X, self.xp.zeros(X.shape, "int32"))
        return self.jax.lax.fori_loop(0, 255, lambda _, state: self.step(X, Y, *state), begin)[2]


def arrays(np, w, folder):
    """The files as a peer gets them. CSR's mask becomes the places where rows begin."""
    found = {name: np.load(path) for name, path in w.files(folder).items()}
    if w.formula == "csr":
        found["starts"] = np.flatnonzero(found.pop("S"))
    return found


def apart(np, w, theirs, ours):
    """How far from our result, as work.py says; FAR for another shape, or no number."""
    if theirs.shape != ours.shape:
        return FAR
    if not ours.size:
        return 0.0
    x, y, far, most, step = theirs.reshape(-1), ours.reshape(-1), 0.0, 0.0, 1 << 22
    kept = x.dtype == y.dtype and x.dtype.kind == "f"
    for k in range(0, y.size, step):
        a, b = (v[k:k + step] if kept else v[k:k + step].astype(np.float64) for v in (x, y))
        own = np.count_nonzero(a != b) if w.count else float(np.abs(a - b).max())
        if own != own:
            return FAR
        far = far + own if w.count else max(far, own)
        most = max(most, float(np.abs(b).max()))
    return float(far / y.size if w.count else far / (most or 1))
