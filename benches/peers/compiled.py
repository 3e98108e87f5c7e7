"""Workloads for numexpr, as texts that it compiles, and for Numba, as loops somebody wrote. A formula takes the data in
the order of the table; None: this peer has no such thing.
"""
import math, os, sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from formulas import BINOMIAL, COEF, R, V


def numexpr_formula(name, dtype, _n):
    import numexpr as ne
    ne.set_num_threads(int(os.environ["NUMEXPR_NUM_THREADS"]))
    t = np.float32 if dtype == "f32" else np.float64
    known = {"one": t(1), "half": t(-.5), "two": t(2.5), "three": t(3), "q0": t(.2316419), "r": t(R), "v": t(V),
             "h": t(R + .5 * V * V), "i": t(.39894228040143267794), "zero": t(0)}
    known.update((f"c{k}", t(c)) for k, c in enumerate(COEF))
    said = lambda text, **more: ne.evaluate(text, local_dict=known | more, global_dict={})
    if name == "blackscholes":
        q = "(one/(one+q0*abs(d)))"
        p = f"i*exp(half*d*d)*({q}*(c0+{q}*(c1+{q}*(c2+{q}*(c3+{q}*c4)))))"
        cnd = f"where(d>zero,one-{p},{p})"

        def prices(S, X, T):
            d = said("(log(S/X)+h*T)/(v*sqrt(T))", S=S, X=X, T=T)
            a, b = said(cnd, d=d), said(cnd, d=said("d-v*sqrt(T)", d=d, T=T))
            return (said("S*a-X*exp(-r*T)*b", S=S, X=X, T=T, a=a, b=b),
                    said("X*exp(-r*T)*(one-b)-S*(one-a)", S=S, X=X, T=T, a=a, b=b))
        return prices
    two = {"saxpy": "b+two*a", "chain": "where(b>one+three*a,b,one+three*a)", "dot": "sum(a*b)"}.get(name)
    if two:
        return lambda a, b: said(two, a=a, b=b)
    if name == "rmse":
        return lambda a, b: float(said("sum((a-b)**2)", a=a, b=b) / a.size) ** .5
    if name == "and":
        return lambda a, b: said("a&b", a=a, b=b)
    known |= {"whole": 1, "seven": 7, "quarter": t(.25), "most": t(.75)}
    one = {"squares": "sum(a*a)", "absum": "sum(abs(a))", "difference": "a-b", "not": "~a", "remainder": "a%seven",
           "between": "sum(where((a>quarter)&(a<most),whole,whole-whole))", "clip": "where(a<zero,zero,where(a>one,one,a))",
           "sigmoid": "one/(one+exp(-a))", "few": "one+a"}.get(name)
    if name == "difference":
        return lambda a: said(one, a=a[1:], b=a[:-1])
    return one and (lambda a: said(one, a=a))


def numba_formula(name, dtype, n):
    from numba import njit, prange, set_num_threads
    set_num_threads(int(os.environ["NUMBA_NUM_THREADS"]))
    t = np.float32 if dtype == "f32" else np.float64
    # Short loops are slower on several threads.
    wide = n >= 20000 or name in ("life", "life10", "conv5", "stencil5", "nbody", "transpose1", "outer", "absum")
    jit = njit(parallel=wide, fastmath=True, cache=False, error_model="numpy")

    def blackscholes():
        c0, c1, c2, c3, c4 = (t(c) for c in COEF)
        one, half, q0, i0, r, v, h = (t(x) for x in (1, .5, .2316419, .39894228040143267794, R, V, R + .5 * V * V))

        @njit(fastmath=True, error_model="numpy", inline="always")
        def cnd(x):
            k = one / (one + q0 * abs(x))
            c = i0 * math.exp(-half * x * x) * (k * (c0 + k * (c1 + k * (c2 + k * (c3 + k * c4)))))
            return one - c if x > 0 else c

        @jit
        def f(S, X, T):
            call, put = np.empty_like(S), np.empty_like(S)
            for i in prange(S.size):
                q = math.sqrt(T[i])
                d = (math.log(S[i] / X[i]) + h * T[i]) / (v * q)
                a, b = cnd(d), cnd(d - v * q)
                e = X[i] * math.exp(-r * T[i])
                call[i] = S[i] * a - e * b
                put[i] = e * (one - b) - S[i] * (one - a)
            return call, put
        return f

    def mandelbrot():
        @jit
        def f(X, Y):
            out = np.empty(X.size, np.int32)
            for i in prange(X.size):
                a = b = 0.0
                k = 0
                while k < 255:
                    a, b = a * a - b * b + X[i], 2 * a * b + Y[i]
                    if a * a + b * b > 4:
                        break
                    k += 1
                out[i] = k
            return out
        return f

    def nbody():
        @jit
        def f(X, Y, Z, M):
            ax, ay, az = np.empty_like(X), np.empty_like(X), np.empty_like(X)
            for i in prange(X.size):
                p = q = r = 0.0
                for k in range(X.size):
                    u, v, w = X[i] - X[k], Y[i] - Y[k], Z[i] - Z[k]
                    e = u * u + v * v + w * w + 1e-6
                    s = M[k] / (e * math.sqrt(e))
                    p += s * u
                    q += s * v
                    r += s * w
                ax[i], ay[i], az[i] = p, q, r
            return ax, ay, az
        return f

    def folded(term):
        term = njit(term)

        @jit
        def f(A, B):
            s = 0.0
            for i in prange(A.size):
                s += term(A[i], B[i])
            return s
        return f

    def dot():
        return folded(lambda a, b: a * b)

    def squares():
        f = folded(lambda a, b: a * b)
        return lambda A: f(A, A)

    def absum():
        f = folded(lambda a, b: abs(a))
        return lambda A: f(A.ravel(), A.ravel())

    def rmse():
        f = folded(lambda a, b: (a - b) ** 2)
        return lambda A, B: math.sqrt(f(A, B) / A.size)

    def each(term):
        term = njit(term)

        @jit
        def f(A, B):
            out = np.empty_like(A)
            for i in prange(A.size):
                out[i] = term(A[i], B[i])
            return out
        return f

    def saxpy():
        k = t(2.5)
        return each(lambda a, b: b + k * a)

    def chain():
        one, three = t(1), t(3)
        return each(lambda a, b: max(b, one + three * a))

    def difference():
        f = each(lambda a, b: a - b)
        return lambda X: f(X[1:], X[:-1])

    def generations(rounds):
        @jit
        def f(X):
            n = X.shape[0]
            for _ in range(rounds):
                out = np.empty_like(X)
                for i in prange(n):
                    u, v = (i - 1) % n, (i + 1) % n
                    for j in range(n):
                        l = j - 1 if j else n - 1
                        r = j + 1 if j < n - 1 else 0
                        m = (X[u, l] + X[u, j] + X[u, r] + X[i, l] + X[i, j] + X[i, r] + X[v, l] + X[v, j] + X[v, r])
                        out[i, j] = 1 if m == 3 or (m == 4 and X[i, j] == 1) else 0
                X = out
            return X
        # Numba adds no booleans; their bytes are the same.
        return lambda X: f(X.view(np.uint8))

    def life():
        return generations(1)

    def life10():
        return generations(10)

    def stencil5():
        @jit
        def f(X):
            n = X.shape[0]
            out = np.empty_like(X)
            for i in prange(n):
                for j in range(n):
                    s = X[i, j]
                    if i:
                        s += X[i - 1, j]
                    if i < n - 1:
                        s += X[i + 1, j]
                    if j:
                        s += X[i, j - 1]
                    if j < n - 1:
                        s += X[i, j + 1]
                    out[i, j] = .2 * s
            return out
        return f

    def conv5():
        c0, c1, c2 = (t(c) for c in BINOMIAL[:3])

        @jit
        def f(X):
            n = X.shape[0]
            out = np.empty_like(X)
            for i in prange(n):
                v = np.zeros(n + 4, X.dtype)
                for q in range(5):
                    y = i + q - 2
                    if 0 <= y < n:
                        c = c2 if q == 2 else (c1 if q == 1 or q == 3 else c0)
                        for j in range(n):
                            v[j + 2] += c * X[y, j]
                for j in range(n):
                    out[i, j] = c0 * (v[j] + v[j + 4]) + c1 * (v[j + 1] + v[j + 3]) + c2 * v[j + 2]
            return out
        return f

    def outer():
        @jit
        def f(A, B):
            out = np.empty_like(A)
            for i in prange(A.size):
                s = 0.0
                for k in range(B.size):
                    s += A[i] * B[k]
                out[i] = s
            return out
        return f

    def transpose1():
        @jit
        def f(X):
            n = X.shape[0]
            out = np.empty_like(X)
            for bi in prange((n + 31) // 32):
                for bj in range(0, n, 32):
                    for i in range(bi * 32, min(n, bi * 32 + 32)):
                        for j in range(bj, min(n, bj + 32)):
                            out[i, j] = X[j, i] + 1
            return out
        return f

    def scan():
        @njit
        def f(X):
            out = np.empty_like(X)
            s = X[0] * 0
            for i in range(X.size):
                s += X[i]
                out[i] = s
            return out
        return f

    def positive():
        @njit
        def f(X):
            out = np.empty_like(X)
            k = 0
            for i in range(X.size):
                out[k] = X[i]
                k += X[i] > 0
            return out[:k].copy()
        return f

    def compact():
        @njit
        def f(M, X):
            out = np.empty_like(X)
            k = 0
            for i in range(X.size):
                out[k] = X[i]
                k += M[i]
            return out[:k].copy()
        return f

    def histogram():
        @njit
        def f(X):
            h = np.zeros((4, 128), np.int64)
            for i in range(0, X.size - 3, 4):
                h[0, X[i]] += 1
                h[1, X[i + 1]] += 1
                h[2, X[i + 2]] += 1
                h[3, X[i + 3]] += 1
            for i in range(X.size // 4 * 4, X.size):
                h[0, X[i]] += 1
            return h.sum(0)
        return f

    from loops import LOOPS
    if name in LOOPS:
        return LOOPS[name](jit)
    made = locals().get(name)
    return made() if callable(made) and name not in ("jit", "folded", "each", "generations") else None
