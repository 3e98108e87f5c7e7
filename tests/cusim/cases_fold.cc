// Folds: reduce, several folds at once, scans, selection, segments, histogram.
#include <limits>
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

struct Folds { float most, least; double sum; u64 place; };

static void folds(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  std::vector<float> x(n);
  float inf = std::numeric_limits<float>::infinity();
  Folds wanted{-inf, inf, 0, ~0ull};
  for (u64 k = 0; k < n; k++) {
    x[k] = dice.half();  // few values, so that the greatest is there often
    if (x[k] > wanted.most) wanted.most = x[k], wanted.place = k;
    wanted.least = std::min(wanted.least, x[k]);
    wanted.sum += double(x[k]);
  }
  auto a0 = gpu.up(x);
  u32 grid = u32(std::min<u64>(5, n / 256 + 1));
  auto part = gpu.fresh<Folds>(grid), r0 = gpu.fresh<Folds>(1);
  ErrorWord err(gpu);
  gpu.launch(p, "folds", {grid}, {256}, a0, part, n, 0u, err.at);
  gpu.launch(p, "folds_last", {1}, {256}, part, r0, grid, 0u, err.at);
  Folds got = gpu.down(r0)[0];
  same<float>({got.most, got.least}, {wanted.most, wanted.least}, "most, least");
  same<double>({got.sum}, {wanted.sum}, "sum");
  same<u64>({got.place}, {wanted.place}, "place");
}

template <class T> static void scan_of(Device& gpu, u64 n, const std::function<void(Buf<T>, Buf<T>)>& run) {
  Dice dice(n);
  std::vector<T> x(n), wanted(n);
  T sum = 0;
  for (u64 k = 0; k < n; k++) x[k] = T(dice.half()), wanted[k] = sum = sum + x[k];
  auto a0 = gpu.up(x), r0 = gpu.fresh<T>(n);
  run(a0, r0);
  same(gpu.down(r0), wanted, "r0");
}

static void scan(Device& gpu, Program& p, u64 n) {
  scan_of<float>(gpu, n, [&](Buf<float> a0, Buf<float> r0) {
    u32 tiles = std::max(1u, u32((n + 4095) / 4096));
    auto status = gpu.filled<u64>(tiles, 0);
    auto ticket = gpu.filled<u32>(1, 0);
    ErrorWord err(gpu);
    gpu.launch(p, "scan_f32", {tiles}, {256}, a0, r0, status, ticket, n, 0u, err.at);
  });
}
static void scan64(Device& gpu, Program& p, u64 n) {
  scan_of<double>(gpu, n, [&](Buf<double> a0, Buf<double> r0) {
    u32 tiles = std::max(1u, u32((n + 2047) / 2048));
    auto aggregates = gpu.fresh<double>(tiles), prefixes = gpu.fresh<double>(tiles);
    auto flags = gpu.filled<u32>(tiles, 0), ticket = gpu.filled<u32>(1, 0);
    ErrorWord err(gpu);
    gpu.launch(p, "scan_f64", {tiles}, {256}, a0, r0, aggregates, prefixes, flags, ticket, n, 0u, err.at);
  });
}

static void compact(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  std::vector<float> x(n), wanted;
  std::vector<u8> mask(n);
  for (u64 k = 0; k < n; k++) {
    x[k] = float(k), mask[k] = dice.below(3) == 0;
    if (mask[k]) wanted.push_back(x[k]);
  }
  auto a0 = gpu.up(x), r0 = gpu.fresh<float>(wanted.size());
  auto a1 = gpu.up(mask);
  u32 tiles = std::max(1u, u32((n + 2047) / 2048));
  auto status = gpu.filled<u64>(tiles, 0);
  auto ticket = gpu.filled<u32>(1, 0);
  ErrorWord err(gpu);
  gpu.launch(p, "compact", {tiles}, {256}, a0, a1, r0, status, ticket, n, 0u, err.at);
  same(gpu.down(r0), wanted, "r0");
}

// Rows of n: by a warp, by a block; and columns, n rows of 8.
static void segments(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  u32 rows = 9;
  std::vector<float> x(rows * n), by_row(rows, 0.0f);
  for (u64 k = 0; k < x.size(); k++) x[k] = dice.half(), by_row[k / n] += x[k];
  auto a0 = gpu.up(x);
  ErrorWord err(gpu);
  auto warp = gpu.fresh<float>(rows), block = gpu.fresh<float>(rows);
  gpu.launch(p, "rows_by_warp", {2}, {256}, a0, warp, rows, u32(n), 0u, err.at);
  same(gpu.down(warp), by_row, "by warp");
  gpu.launch(p, "rows_by_block", {4}, {256}, a0, block, rows, n, 0u, err.at);
  same(gpu.down(block), by_row, "by block");

  u32 height = u32(n), width = 1028, parts = 3, chunk = (height + parts - 1) / parts;
  std::vector<float> y(u64(height) * width), by_column(width, 0.0f);
  for (u64 k = 0; k < y.size(); k++) y[k] = dice.half(), by_column[k % width] += y[k];
  auto a1 = gpu.up(y), part = gpu.fresh<float>(u64(parts) * width), r0 = gpu.fresh<float>(width);
  gpu.launch(p, "columns", {2, parts}, {256}, a1, part, height, width, chunk, 0u, err.at);
  gpu.launch(p, "columns_last", {5}, {256}, part, r0, parts, width, 0u, err.at);
  same(gpu.down(r0), by_column, "columns");
}

static void histogram(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  std::vector<u8> x(n);
  std::vector<u32> wanted(256, 0);
  for (u8& v : x) v = u8(dice.next()), wanted[v]++;
  auto a0 = gpu.up(x);
  auto r0 = gpu.filled<u32>(256, 0);
  ErrorWord err(gpu);
  gpu.launch(p, "histogram", {2}, {256}, a0, r0, n, 0u, err.at);
  same(gpu.down(r0), wanted, "r0");
}

const std::vector<Case> FOLDS = {
    {"reduce", {0, 1, 3, 4, 5, 1023, 1024, 1025, 2051, 7 * 1024 + 1}, {7169}, reduce},
    {"folds", {0, 1, 255, 256, 257, 515, 5 * 256 + 1}, {257, 1281}, folds},
    {"scan", {0, 1, 3, 4, 5, 4095, 4096, 4097, 8195, 40 * 4096 + 1}, {4097, 40 * 4096 + 1}, scan},
    {"scan64", {0, 1, 2, 3, 2047, 2048, 2049, 4099, 40 * 2048 + 1}, {2049, 40 * 2048 + 1}, scan64},
    {"compact", {0, 1, 7, 8, 9, 2047, 2048, 2049, 4099, 40 * 2048 + 1}, {2049, 40 * 2048 + 1}, compact},
    {"segments", {1, 2, 3, 31, 32, 33, 67, 1027}, {1, 67, 1027}, segments},
    {"histogram", {0, 1, 15, 16, 17, 4095, 4096, 4097, 8209}, {17, 8209}, histogram},
};
