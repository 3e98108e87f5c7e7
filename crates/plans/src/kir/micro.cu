extern "C" __global__ void __launch_bounds__(512) k(
    const float* in, float* out, unsigned long long regions, unsigned long long region, unsigned long long lane,
    unsigned long long step, unsigned long long each) {
  // Blocks take regions in turn. Thread t reads the items t*lane + n*step of a region, for each n below each.
  float sum = 0.0f;
  for (unsigned long long r = blockIdx.x; r < regions; r += gridDim.x) {
    const float* from = in + r * region + threadIdx.x * lane;
    for (unsigned long long n = 0; n < each; n++) sum += from[n * step];
  }
  out[blockIdx.x * 512ull + threadIdx.x] = sum;
}
