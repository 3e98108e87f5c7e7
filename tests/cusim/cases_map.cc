// Maps: element by element, rows, places divided by multiplication, transposition, loops.
#include <cmath>
#include "selftest.h"

static void map(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  // A slice that begins at 4 of an array with 2 more behind it, some elements of it failing.
  u64 lo = 4, all = lo + n + 2;
  std::vector<float> x(all), y(all), wanted(all, -1.0f);
  u64 first = ~0ull;
  for (u64 k = 0; k < all; k++) x[k] = dice.half(), y[k] = float(dice.below(100)) / 4.0f;
  for (u64 k = lo; k < lo + n; k += 700)
    if (k > lo + 5) y[k] = -1.0f;
  for (u64 k = lo; k < lo + n; k++) {
    wanted[k] = 1.5f * x[k] + (y[k] < 0 ? 0.0f : std::sqrt(y[k]));
    if (y[k] < 0 && first == ~0ull) first = (3ull + 5) << 48 | k;
  }
  std::vector<float> before(all, -1.0f);
  auto a0 = gpu.up(x), a1 = gpu.up(y), r0 = gpu.up(before);
  ErrorWord err(gpu);
  gpu.launch(p, "map_f32", {3}, {256}, a0, a1, r0, 1.5f, lo, n, 3u, err.at);
  same(gpu.down(r0), wanted, "r0");
  same(gpu.down(err.at), {first}, "error");
  // A launch of a later statement sees that it is dead.
  auto untouched = gpu.up(before);
  gpu.launch(p, "map_f32", {3}, {256}, a0, a1, untouched, 1.5f, lo, n, 20u, err.at);
  if (first != ~0ull) same(gpu.down(untouched), before, "dead");
}

const std::vector<Case> MAPS = {
    {"map", {0, 1, 3, 4, 5, 1023, 1024, 1025, 2051, 3 * 1024 + 1}, {5, 1025, 3073}, map},
};
