extern "C" __global__ void __launch_bounds__(256) k(
    const double* a0, u64 m0, u64 n0, u64 s0, const double* a1, u64 m1, u64 n1, u64 s1, u64* err) {
  // Of two matrices of m lines of n items, s apart. Where none is greater than 2*499, no sum of 2*24 products overflows,
  // whatever its order and rounding. A block takes a line at a time: there is no division.
  for (u64 r = blockIdx.x; r < m0; r += gridDim.x)
    for (u64 c = threadIdx.x; c < n0; c += 256)
      if (!(fabs(a0[r * s0 + c]) <= 0x1p499)) fail(Bad{err, 0, r * n0 + c});
  for (u64 r = blockIdx.x; r < m1; r += gridDim.x)
    for (u64 c = threadIdx.x; c < n1; c += 256)
      if (!(fabs(a1[r * s1 + c]) <= 0x1p499)) fail(Bad{err, 0, r * n1 + c});
}
