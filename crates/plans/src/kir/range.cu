extern "C" __global__ void __launch_bounds__(256) k(
    const double* a0, u64 m0, u64 n0, u64 s0, const double* a1, u64 m1, u64 n1, u64 s1, u64* err) {
  // Of two matrices of m lines of n items, s apart. Where none is greater than 2*499, no sum of 2*24 products overflows,
  // whatever its order and rounding. Each line is looked at by as many blocks as there are for it: so no item is divided
  // for, and no block has all to do.
  for (int second = 0; second < 2; second++) {
    const double* a = second ? a1 : a0;
    u64 m = second ? m1 : m0, n = second ? n1 : n0, s = second ? s1 : s0;
    u32 parts = m < gridDim.x ? gridDim.x / (u32)m : 1, lines = gridDim.x / parts, part = blockIdx.x % parts;
    for (u64 r = blockIdx.x / parts; r < m; r += lines)
      for (u64 c = part * 256ull + threadIdx.x; c < n; c += parts * 256ull)
        if (!(fabs(a[r * s + c]) <= 0x1p499)) fail(Bad{err, 0, r * n + c});
  }
}
