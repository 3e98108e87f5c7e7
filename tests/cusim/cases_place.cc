// Places: gather, scatter, sort; tiles: stencils, life, products.
#include <numeric>
#include <algorithm>
#include "selftest.h"

// Indices around both ends: -1, 0, 1, n-1 … n+1.
static void gather(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  std::vector<float> a(n), wanted;
  std::vector<i32> index;
  for (float& x : a) x = dice.half();
  i32 extent = i32(n);
  for (i32 i : {-1, 0, 1, extent - 1, extent, extent + 1, -extent, 2 * extent, 2 * extent + 1, -5 * extent - 3}) index.push_back(i);
  while (index.size() < 300) index.push_back(i32(dice.below(3 * n)) - extent);
  u64 first = ~0ull;
  for (u64 k = 0; k < index.size(); k++) {
    i32 i = index[k] - 1;
    bool in = i >= 0 && i < extent;
    float v0 = in ? a[u64(i)] : 0.0f, v1 = a[u64(((i % extent) + extent) % extent)];
    float v2 = a[u64(std::clamp(i, 0, extent - 1))], v3 = in ? a[u64(i)] : 7.5f;
    wanted.push_back(v0 + v1 * v2 + v3);
    if (!in && first == ~0ull) first = (1ull + 2) << 48 | k;
  }
  auto a0 = gpu.up(a), r0 = gpu.fresh<float>(wanted.size());
  auto a1 = gpu.up(index);
  ErrorWord err(gpu);
  gpu.launch(p, "gather", {2}, {256}, a0, a1, r0, u32(n), 7.5f, u64(0), u64(index.size()), 1u, err.at);
  same(gpu.down(r0), wanted, "r0");
  same(gpu.down(err.at), {first}, "error");
}

// n writes into 11 places and two outside.
static void scatter(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  u32 extent = 11;
  std::vector<float> v(n), before(extent, -1.0f), wanted = before;
  std::vector<i32> index(n);
  u64 first = ~0ull;
  for (u64 k = 0; k < n; k++) {
    v[k] = float(k), index[k] = i32(dice.below(extent)) + 1;
    if (k == 3) index[k] = 0;
    if (k == 7) index[k] = i32(extent) + 1;
    if (u32(index[k] - 1) < extent) wanted[u32(index[k] - 1)] = v[k];
    else if (first == ~0ull) first = (0ull + 1) << 48 | k;
  }
  auto a0 = gpu.up(v), r0 = gpu.up(before);
  auto a1 = gpu.up(index);
  auto winner = gpu.filled<u32>(extent, 0);
  ErrorWord err(gpu);
  gpu.launch(p, "scatter_win", {3}, {256}, a1, winner, extent, u32(n), 0u, err.at);
  gpu.launch(p, "scatter_put", {3}, {256}, a0, a1, winner, r0, extent, u32(n), 0u, err.at);
  same(gpu.down(r0), wanted, "r0");
  same(gpu.down(err.at), {first}, "error");
}

static void sort(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  std::vector<u32> keys(n), order(n);
  for (u32& k : keys) k = u32(dice.next()) & (dice.below(2) ? 0xffffffffu : 0x00ff0003u);
  if (n > 2) keys[1] = ~0u;  // as the padding is
  std::iota(order.begin(), order.end(), 0);
  u32 count = u32(n), tiles = std::max(1u, u32((n + 3071) / 3072));
  auto k0 = gpu.up(keys), p0 = gpu.up(order), k1 = gpu.fresh<u32>(n), p1 = gpu.fresh<u32>(n);
  auto counts = gpu.filled<u32>(1024, 0);
  ErrorWord err(gpu);
  gpu.launch(p, "sort_count", {2}, {256}, k0, counts, count, 0u, err.at);
  gpu.launch(p, "sort_places", {4}, {256}, counts, 0u, err.at);
  for (u32 digit = 0; digit < 4; digit++) {
    auto status = gpu.filled<u32>(tiles * 256, 0), ticket = gpu.filled<u32>(1, 0);
    Buf<u32> of_digit{counts.at + digit * 1024, 256};
    gpu.launch(p, "sort_pass", {tiles}, {256}, k0, p0, k1, p1, of_digit, status, ticket, digit * 8, count, 0u, err.at);
    std::swap(k0, k1), std::swap(p0, p1);
  }
  std::stable_sort(order.begin(), order.end(), [&](u32 x, u32 y) { return keys[x] < keys[y]; });
  std::stable_sort(keys.begin(), keys.end());
  same(gpu.down(k0), keys, "keys");
  same(gpu.down(p0), order, "payload");
}

struct Weights { float w[15]; };

static void stencil(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  ErrorWord err(gpu);
  std::vector<float> a(n), wanted(n, 0.0f);
  Weights weights;
  for (float& w : weights.w) w = dice.half();
  for (float& x : a) x = dice.half();
  for (i64 k = 0; k < i64(n); k++)
    for (i64 t = 0; t < 15; t++) wanted[u64(k)] = wanted[u64(k)] + weights.w[t] * a[u64(std::clamp<i64>(k + t - 7, 0, i64(n) - 1))];
  auto a0 = gpu.up(a), r0 = gpu.fresh<float>(n);
  gpu.launch(p, "stencil_15", {u32((n + 1023) / 1024)}, {256}, a0, r0, weights, n, 0u, err.at);
  same(gpu.down(r0), wanted, "15 taps");

  i64 height = i64(n % 97) + 1, width = i64(n % 389) + 1;
  std::vector<float> b(u64(height * width)), out(b.size());
  for (float& x : b) x = dice.half();
  auto at = [&](i64 y, i64 x) { return y >= 0 && y < height && x >= 0 && x < width ? b[u64(y * width + x)] : 0.0f; };
  for (i64 y = 0; y < height; y++)
    for (i64 x = 0; x < width; x++) {
      float sum = 0;  // halves: exact in any order
      for (i64 dy = -1; dy <= 1; dy++)
        for (i64 dx = -1; dx <= 1; dx++) sum += at(y + dy, x + dx);
      out[u64(y * width + x)] = sum - 9.0f * at(y, x);
    }
  auto b0 = gpu.up(b), r1 = gpu.fresh<float>(b.size());
  gpu.launch(p, "stencil_3x3", {u32(width + 127) / 128, u32(height + 31) / 32}, {128}, b0, r1, u32(height), u32(width), 0u, err.at);
  same(gpu.down(r1), out, "3 by 3");
}

// Boards of n × (n/2+1), down to 1 × 1.
static void life(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  u32 height = u32(n), width = u32(n / 2 + 1);
  std::vector<u8> board(u64(height) * width), wanted(board.size());
  for (u8& x : board) x = dice.below(3) == 0;
  for (u32 y = 0; y < height; y++)
    for (u32 x = 0; x < width; x++) {
      u32 alive = 0;
      for (u32 dy = 0; dy < 3; dy++)
        for (u32 dx = 0; dx < 3; dx++) alive += board[u64((y + dy + height - 1) % height) * width + (x + dx + width - 1) % width];
      u8 self = board[u64(y) * width + x];
      wanted[u64(y) * width + x] = alive == 3 || (self && alive == 4);
    }
  auto a0 = gpu.up(board), r0 = gpu.fresh<u8>(board.size());
  ErrorWord err(gpu);
  gpu.launch(p, "life", {(width + 63) / 64, (height + 15) / 16}, {256}, a0, r0, height, width, 0u, err.at);
  same(gpu.down(r0), wanted, "r0");
}

// n codes rows, columns and inner axis: rrr·10^6 + ccc·10^3 + iii.
static void matmul(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  u32 rows = u32(n / 1000000), columns = u32(n / 1000 % 1000), inner = u32(n % 1000);
  std::vector<float> a(u64(rows) * inner), b(u64(inner) * columns), bias(columns), wanted(u64(rows) * columns);
  for (float& x : a) x = dice.half();
  for (float& x : b) x = dice.half();
  for (float& x : bias) x = dice.half();
  for (u32 i = 0; i < rows; i++)
    for (u32 j = 0; j < columns; j++) {
      float sum = 0;
      for (u32 k = 0; k < inner; k++) sum += a[u64(i) * inner + k] * b[u64(k) * columns + j];
      wanted[u64(i) * columns + j] = std::max(0.0f, sum + bias[j]) + 0.0f;
    }
  auto a0 = gpu.up(a), a1 = gpu.up(b), a2 = gpu.up(bias), r0 = gpu.fresh<float>(wanted.size());
  ErrorWord err(gpu);
  gpu.launch(p, "matmul", {(columns + 127) / 128, (rows + 127) / 128}, {256}, a0, a1, a2, r0, rows, columns, inner, 0u, err.at);
  auto got = gpu.down(r0);
  for (float& x : got) x += 0.0f;  // ¯0 is 0
  same(got, wanted, "r0");
}

static void pairs(Device& gpu, Program& p, u64 n) {
  Dice dice(n);
  std::vector<float> x(n), w(n), wanted(n, 0.0f);
  for (u64 k = 0; k < n; k++) x[k] = dice.half(), w[k] = dice.half();
  for (u64 i = 0; i < n; i++)
    for (u64 j = 0; j < n; j++) wanted[i] += w[j] / (1.0f + (x[i] - x[j]) * (x[i] - x[j]));
  auto a0 = gpu.up(x), a1 = gpu.up(w), r0 = gpu.fresh<float>(n);
  ErrorWord err(gpu);
  gpu.launch(p, "pairs", {u32((n + 255) / 256)}, {256}, a0, a1, r0, u32(n), 0u, err.at);
  same(gpu.down(r0), wanted, "r0");
}

const std::vector<Case> PLACES = {
    {"gather", {1, 2, 3, 31, 32, 33, 257}, {3, 257}, gather},
    {"scatter", {0, 1, 8, 255, 256, 257, 769}, {8, 769}, scatter},
    {"sort", {0, 1, 2, 31, 32, 33, 3071, 3072, 3073, 6147}, {33, 6147}, sort},
};
const std::vector<Case> TILES = {
    {"stencil", {1, 6, 7, 8, 15, 387, 1023, 1024, 1025, 1030, 1031, 1032, 2047, 2048, 2049, 2054, 2055, 2056, 3079, 354}, {8, 354, 2054, 3079}, stencil},
    {"life", {1, 2, 15, 16, 17, 18, 33, 127, 128, 129}, {2, 17, 129}, life},
    {"matmul", {1001001, 5007003, 127128016, 128128016, 128128032, 129129017, 130132035}, {128128032, 129129017}, matmul},
    {"pairs", {1, 255, 256, 257, 513}, {257, 513}, pairs},
};
