"""Workloads of every day as loops that somebody wrote for Numba: name → a function that makes the formula."""
import math

import numpy as np
from numba import njit, prange


def each(term):
    """One element for each, of the first array's dtype."""
    def make(jit):
        inner = njit(fastmath=True, error_model="numpy")(term)

        @jit
        def one(A):
            out = np.empty_like(A)
            for i in prange(A.size):
                out[i] = inner(A[i])
            return out

        @jit
        def two(A, B):
            out = np.empty_like(A)
            for i in prange(A.size):
                out[i] = inner(A[i], B[i])
            return out
        return lambda *of: (one if len(of) == 1 else two)(*of)
    return make


def total(term, zero=0):
    """The sum of a term over the elements."""
    def make(jit):
        inner = njit(fastmath=True, error_model="numpy")(term)

        @jit
        def f(A):
            s = zero
            for i in prange(A.size):
                s += inner(A[i])
            return s
        return f
    return make


def changes(jit):
    @jit
    def f(B):
        s = 0
        for i in prange(B.size - 1):
            s += B[i] != B[i + 1]
        return s
    return f


def words(jit):
    @jit
    def f(T):
        s = np.int64(T[0] != 32)
        for i in prange(T.size - 1):
            s += (T[i] == 32) & (T[i + 1] != 32)
        return s
    return f


def greatest(jit):
    @jit
    def f(A):
        s = A[0]
        for i in prange(A.size):
            s = max(s, A[i])
        return s
    return f


def year(day):
    z = day + 719468
    e = z // 146097
    d = z - 146097 * e
    y = (d - d // 1460 + d // 36524 - d // 146096) // 365
    p = d - (365 * y + y // 4 - y // 100)
    return y + 400 * e + ((5 * p + 2) // 153 >= 10)


def divisor(a, b):
    while b:
        a, b = b, a % b
    return a


def variance(jit):
    @jit
    def f(X):
        s = 0.0
        for i in prange(X.size):
            s += X[i]
        mean, q = s / X.size, 0.0
        for i in prange(X.size):
            q += (X[i] - mean) ** 2
        return q / X.size
    return f


def running(step, zero):
    def make(_jit):
        inner = njit(step)

        @njit
        def f(A):
            out = np.empty_like(A) if zero is None else np.empty(A.size, np.int32)
            s = A[0] if zero is None else zero
            for i in range(A.size):
                s = inner(s, A[i])
                out[i] = s
            return out
        return f
    return make


def moving_mean(jit):
    @jit
    def f(X):
        out = np.empty(X.size - 6, X.dtype)
        for i in prange(out.size):
            s = X[i]
            for k in range(1, 7):
                s += X[i + k]
            out[i] = s / 7
        return out
    return f


def gather(jit):
    @jit
    def f(X, I):
        out = np.empty(I.size, X.dtype)
        for i in prange(I.size):
            out[i] = X[I[i]]
        return out
    return f


def by_rows(term, zero):
    """A fold of each row."""
    def make(jit):
        inner = njit(fastmath=True)(term)

        @jit
        def f(X):
            out = np.empty(X.shape[0], np.int64 if zero == 0 and isinstance(zero, int) else X.dtype)
            for i in prange(X.shape[0]):
                s = zero
                for k in range(X.shape[1]):
                    s += inner(X[i, k])
                out[i] = s
            return out
        return f
    return make


def normalise(jit):
    @jit
    def f(X):
        out = np.empty_like(X)
        for i in prange(X.shape[0]):
            s = X[i, 0] * X[i, 0]
            for k in range(1, X.shape[1]):
                s += X[i, k] * X[i, k]
            s = math.sqrt(s)
            for k in range(X.shape[1]):
                out[i, k] = X[i, k] / s
        return out
    return f


def batches(jit):
    @jit
    def f(A, B):
        out = np.empty_like(A)
        for q in prange(A.shape[0]):
            for i in range(4):
                for k in range(4):
                    s = A[q, i, 0] * B[q, 0, k]
                    for j in range(1, 4):
                        s += A[q, i, j] * B[q, j, k]
                    out[q, i, k] = s
        return out
    return f


def distances(jit):
    @jit
    def f(A, B):
        out = np.empty((A.size, B.size), A.dtype)
        for i in prange(A.size):
            for k in range(B.size):
                out[i, k] = abs(A[i] - B[k])
        return out
    return f


def equal_pairs(jit):
    @jit
    def f(A, B):
        out = np.empty(A.size, np.int64)
        for i in prange(A.size):
            s = 0
            for k in range(B.size):
                s += A[i] == B[k]
            out[i] = s
        return out
    return f


def key_sums(_jit):
    @njit
    def f(K, X):
        most = K.max() + 1
        at, sums, found = np.full(most, -1, np.int64), np.zeros(most, X.dtype), 0
        for i in range(K.size):
            k = K[i]
            if at[k] < 0:
                at[k] = found
                found += 1
            sums[at[k]] += X[i]
        return sums[:found].copy()
    return f


def unique(_jit):
    @njit
    def f(A):
        seen, out, found = np.zeros(A.max() + 1, np.bool_), np.empty_like(A), 0
        for i in range(A.size):
            if not seen[A[i]]:
                seen[A[i]] = True
                out[found] = A[i]
                found += 1
        return out[:found].copy()
    return f


def rounds(_jit):
    @njit(fastmath=True)
    def f(X):
        X = X.copy()
        for _ in range(1000):
            for i in range(X.size):
                X[i] += 0.001 * X[i]
        return X
    return f


LOOPS = {
    "not": each(lambda b: not b), "and": each(lambda a, b: a & b), "count": total(lambda b: b),
    "between": total(lambda x: (x > 0.25) & (x < 0.75)), "running-count": running(lambda s, x: s + x, 0),
    "changes": changes, "sum-whole": total(lambda a: a), "greatest": greatest, "remainder": each(lambda a: a % 7),
    "dates": each(year), "clip": each(lambda x: min(1.0, max(0.0, x))), "variance": variance,
    "running-greatest": running(lambda s, x: max(s, x), None), "moving-mean": moving_mean, "gather": gather,
    "unique": unique, "key-sums": key_sums, "short-rows": by_rows(lambda x: x, 0.0), "normalise": normalise,
    "batches": batches, "counts-by-rows": by_rows(lambda x: x > 0.5, 0), "distances": distances,
    "equal-pairs": equal_pairs, "gcd": each(divisor), "words": words, "rounds": rounds,
    "few": each(lambda x: x + 1),
}
