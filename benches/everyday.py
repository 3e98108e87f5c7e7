"""The workloads of every day in the words of an array namespace `xp`; formulas.py's peers have these, too."""

# Those whose results have no size that is known before: no compiled function of JAX gives them.
OF_NO_SIZE = ("where", "unique", "unique_many", "key_sums", "key_counts", "repeat", "word_lengths")


class Everyday:
    def not_(self, B):
        return ~B

    def and_(self, A, B):
        return A & B

    def count(self, B):
        return self.xp.count_nonzero(B)

    def where(self, B):
        return self.xp.flatnonzero(B)

    def between(self, X):
        return self.xp.count_nonzero((X > 0.25) & (X < 0.75))

    def any(self, B):
        return B.any(1)

    def running_count(self, B):
        return self.xp.cumsum(B, dtype="int32")

    def changes(self, B):
        return self.xp.count_nonzero(B[1:] != B[:-1])

    def add_whole(self, A, B):
        # The sum of two bytes may need two.
        return A.astype("int16") + B if A.dtype == "int8" else A + B

    def sum_whole(self, A):
        return A.sum(dtype="int64")

    def greatest(self, A):
        return A.max()

    def remainder(self, A):
        return A % 7

    def dates(self, D):
        z = D + 719468
        e = z // 146097
        d = z - 146097 * e
        y = (d - d // 1460 + d // 36524 - d // 146096) // 365
        p = d - (365 * y + y // 4 - y // 100)
        return y + 400 * e + ((5 * p + 2) // 153 >= 10)

    def clip(self, X):
        return self.xp.clip(X, 0, 1)

    def sigmoid(self, X):
        return 1 / (1 + self.xp.exp(-X))

    def variance(self, X):
        return X.var()

    def rotate(self, X):
        return self.xp.roll(X, -1000)

    def reverse(self, X):
        return self.xp.ascontiguousarray(X[::-1])

    def running_greatest(self, X):
        return self.xp.maximum.accumulate(X)

    def moving_mean(self, X):
        n = X.shape[0] - 6
        return sum(X[k:k + n] for k in range(7)) / 7

    def gather(self, X, I):
        return X[I]

    def repeat(self, X, N):
        return self.xp.repeat(X, N.astype("int64"))

    def place_of_greatest(self, X):
        return X.argmax()

    def members(self, A, B):
        return self.xp.isin(A, B)

    def search(self, A, B):
        order = self.xp.argsort(A, stable=True)
        at = self.xp.minimum(self.xp.searchsorted(A, B, sorter=order), A.shape[0] - 1)
        found = order[at]
        return self.xp.where(A[found] == B, found, A.shape[0])

    def unique(self, A):
        found, first = self.xp.unique(A, return_index=True)
        return found[self.xp.argsort(first)]

    unique_many = unique

    def key_sums(self, K, X):
        _, first, key = self.xp.unique(K, return_index=True, return_inverse=True)
        return self.xp.bincount(key, X)[self.xp.argsort(first)]

    def key_counts(self, K):
        _, first, counts = self.xp.unique(K, return_index=True, return_counts=True)
        return counts[self.xp.argsort(first)]

    def median(self, X):
        k = (X.shape[0] + 1) // 2 - 1
        return self.xp.partition(X, k)[k]

    def sort_rows(self, X):
        return self.xp.sort(X, axis=1)

    def short_rows(self, X):
        return X.sum(1)

    def normalise(self, X):
        return X / self.xp.sqrt((X * X).sum(1, keepdims=True))

    def batches(self, A, B):
        return A @ B

    def gram(self, X):
        return X.T @ X

    def column_sums(self, X):
        return X.sum(0)

    def counts_by_rows(self, X):
        return self.xp.count_nonzero(X > 0.5, axis=1)

    def distances(self, A, B):
        return abs(A[:, None] - B[None, :])

    def equal_pairs(self, A, B):
        return self.xp.count_nonzero(A[:, None] == B[None, :], axis=1)

    def gcd(self, A, B):
        return self.xp.gcd(A, B)

    def words(self, T):
        c = T != 32
        return c[0] + self.xp.count_nonzero(c[1:] & ~c[:-1])

    def word_lengths(self, T):
        xp = self.xp
        c = xp.concatenate((xp.zeros(1, "bool"), T != 32, xp.zeros(1, "bool")))
        edges = xp.flatnonzero(c[1:] != c[:-1])
        return edges[1::2] - edges[::2]

    def few(self, X):
        return 1 + X

    def rounds(self, X):
        for _ in range(1000):
            X = X + 0.001 * X
        return X


def called(name):
    """A method's name for a workload's."""
    name = name.replace("-", "_")
    return name + "_" if name in ("not", "and") else name
