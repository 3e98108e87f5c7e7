// Folds: reduce, several folds at once, scans, selection, segments.
#include "selftest.h"

static void reduce(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  std::vector<float> x(n), y(n);
  float sum = 0;
  for (u64 k = 0; k < n; k++) x[k] = dice.half(), y[k] = dice.half(), sum += x[k] * y[k];
  auto a0 = gpu.up(x), a1 = gpu.up(y);
  u32 grid = u32(std::min<u64>(7, n / 1024 + 1));
  auto part = gpu.fresh<float>(grid);
  auto ticket = gpu.filled<u32>(1, 0);
  ErrorWord err(gpu);
  for (int twice = 0; twice < 2; twice++) {  // the second launch finds the ticket as the first did
    auto r0 = gpu.fresh<float>(1);
    gpu.launch(p, "reduce_dot", {grid}, {256}, a0, a1, r0, part, ticket, n, 0u, err.at);
    same(gpu.down(r0), {sum}, "sum");
  }
}

const std::vector<Case> FOLDS = {
    {"reduce", {0, 1, 3, 4, 5, 1023, 1024, 1025, 2051, 7 * 1024 + 1}, {7169}, reduce},
};
