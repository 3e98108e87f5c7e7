// Maps: element by element, rows, places divided by multiplication, transposition, loops in a graph.
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

// d ≥ 2: the multiplication and the shift that stand for a division.
struct Magic { u32 by, shift; };
static Magic magic(u64 d) {
  u32 s = 0;
  while ((1ull << s) < d) s++;
  return {u32((((1ull << 32) << s) / d) + 1 - (1ull << 32)), s};
}

// Extents d0 × d1 × n: the second operand is (n × d0), read transposed.
static void rows(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  u32 d0 = 3, d1 = 5, d2 = u32(n);
  std::vector<float> a(u64(d0) * d1 * d2), b(u64(d2) * d0), v(d1), wanted(a.size());
  for (float& x : a) x = dice.half();
  for (float& x : b) x = dice.half();
  for (float& x : v) x = dice.half();
  for (u32 i = 0; i < d0; i++)
    for (u32 j = 0; j < d1; j++)
      for (u32 k = 0; k < d2; k++) wanted[(i * d1 + j) * d2 + k] = a[(i * d1 + j) * d2 + k] + b[k * d0 + i] + v[j];
  auto a0 = gpu.up(a), a1 = gpu.up(b), a2 = gpu.up(v);
  Magic m1 = magic(d1), m2 = magic(d2);
  ErrorWord err(gpu);
  auto by_rows = gpu.fresh<float>(a.size()), flat = gpu.fresh<float>(a.size());
  gpu.launch(p, "map_rows", {d0 * d1, 2}, {256}, a0, a1, a2, by_rows, d1, m1.by, m1.shift, d2, i64(d0), i64(1), 0u, err.at);
  same(gpu.down(by_rows), wanted, "by rows");
  gpu.launch(p, "map_flat", {2}, {256}, a0, a1, a2, flat, d1, m1.by, m1.shift, d2, m2.by, m2.shift, i64(d0), i64(1),
             u32(a.size()), 0u, err.at);
  same(gpu.down(flat), wanted, "flat");
}

// n × (n + 1) / 2: a tile's edge on one axis or both.
static void transpose(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  u32 height = u32(n), width = u32(n / 2 + 1);
  std::vector<float> a(u64(height) * width), wanted(a.size());
  for (float& x : a) x = dice.half();
  for (u32 y = 0; y < height; y++)
    for (u32 x = 0; x < width; x++) wanted[x * height + y] = 1.0f + a[y * width + x];
  auto a0 = gpu.up(a), r0 = gpu.fresh<float>(a.size());
  ErrorWord err(gpu);
  gpu.launch(p, "transpose", {(width + 31) / 32, (height + 31) / 32}, {32, 8}, a0, r0, height, width, 0u, err.at);
  same(gpu.down(r0), wanted, "r0");
}

// n points in rows of 7; 3 × 5 rounds, captured once and launched twice.
static void mandelbrot(Device& gpu, Program& p, u64 n) {
  u32 width = 7, rounds = 5;
  float x0 = -2.0f, y0 = -1.0f, step = 0.25f;
  std::vector<i32> wanted(n);
  for (u32 at = 0; at < n; at++) {
    float cr = x0 + step * float(at % width), ci = y0 + step * float(at / width), zr = 0, zi = 0;
    for (u32 k = 0; k < 3 * rounds && zr * zr + zi * zi <= 4.0f; k++) {
      float rr = zr * zr, ii = zi * zi;
      zi = 2.0f * zr * zi + ci;
      zr = rr - ii + cr;
      wanted[at]++;
    }
  }
  auto re = gpu.fresh<float>(n), im = gpu.fresh<float>(n);
  auto count = gpu.fresh<i32>(n);
  ErrorWord err(gpu);
  p.function("mandel_begin");  // a module is loaded before the capture, not in it
  gpu.begin_capture();
  gpu.launch(p, "mandel_begin", {2}, {256}, re, im, count, u32(n), 0u, err.at);
  for (int k = 0; k < 3; k++)
    gpu.launch(p, "mandel_rounds", {2}, {256}, re, im, count, width, u32(n), x0, y0, step, rounds, 0u, err.at);
  void* graph = gpu.end_capture();
  for (int twice = 0; twice < 2; twice++) {
    gpu.fill(count.at, 0xee, n * 4);  // nothing ran at the capture; and each launch begins anew
    gpu.launch_graph(graph);
    same(gpu.down(count), wanted, "count");
  }
  gpu.check(gpu.call<int(void*)>("cuGraphExecDestroy")(graph), "destroy");
}

// n points in two slices of tiles, by three and by five blocks; points of a block end after 0 to 40 rounds.
static void tickets(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  std::vector<float> x(n);
  std::vector<i32> wanted(n);
  for (u64 k = 0; k < n; k++) wanted[k] = i32(dice.below(k % 7 ? 3 : 41)), x[k] = float(wanted[k]) + 0.5f;
  auto a0 = gpu.up(x);
  auto r0 = gpu.fresh<i32>(n);
  auto ticket = gpu.filled<u32>(1, 0);
  ErrorWord err(gpu);
  u64 tiles = (n + 255) / 256, half = tiles / 2;
  gpu.launch(p, "map_tickets", {3}, {256}, a0, r0, ticket, 0u, n, u64(0), half, 0u, err.at);
  gpu.launch(p, "map_tickets", {5}, {256}, a0, r0, ticket, 3u, n, half, tiles - half, 0u, err.at);
  same(gpu.down(r0), wanted, "r0");
}

const std::vector<Case> MAPS = {
    {"map", {0, 1, 3, 4, 5, 1023, 1024, 1025, 2051, 3 * 1024 + 1}, {5, 1025, 3073}, map},
    {"rows", {2, 3, 17, 127, 255, 256, 257, 511, 512, 513}, {17, 257, 513}, rows},
    {"transpose", {1, 31, 32, 33, 63, 64, 65, 97}, {33, 65}, transpose},
    {"tickets", {1, 255, 256, 257, 511, 513, 2049, 5121}, {513, 5121}, tickets},
    {"mandelbrot", {1, 255, 256, 257, 513}, {513}, mandelbrot},
};
