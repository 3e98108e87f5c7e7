extern "C" __global__ void __launch_bounds__(256) k(
    const unsigned* in, unsigned* out, unsigned long long stride, unsigned long long rounds) {
  // The items are zeros, which the compiler does not know: each read waits for the one before.
  __shared__ unsigned items[1024];
  for (unsigned i = threadIdx.x; i < 1024; i += 256) items[i] = in[i];
  __syncthreads();
  const unsigned own = threadIdx.x % 32 * (unsigned)stride;
  unsigned found = 0;
  for (unsigned long long n = 0; n < rounds; n++) found = items[own + found];
  out[blockIdx.x * 256ull + threadIdx.x] = found;
}
