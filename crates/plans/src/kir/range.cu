extern "C" __global__ void __launch_bounds__(256) k(
    const double* a0, u64 m0, u64 n0, u64 s0, const double* a1, u64 m1, u64 n1, u64 s1, u64* err) {
  // Of two matrices of m lines of n items, s apart. Where none is greater than 2*499, no sum of 2*24 products overflows,
  // whatever its order and rounding.
  const u64 step = gridDim.x * 256ull;
  for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < m0 * n0; i += step)
    if (!(fabs(a0[i / n0 * s0 + i % n0]) <= 0x1p499)) fail(Bad{err, 0, i});
  for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < m1 * n1; i += step)
    if (!(fabs(a1[i / n1 * s1 + i % n1]) <= 0x1p499)) fail(Bad{err, 0, i});
}
