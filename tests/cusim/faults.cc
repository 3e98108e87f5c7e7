// Faults planted in the kernels, a row each: where, what stands instead, and what must be seen of it.
#include "selftest.h"

const std::vector<Fault> FAULTS = {
    // Map: ends, alignment, the error word.
    {"map", "blockIdx.x == 0 && tail < n", "blockIdx.x == 0 && tail <= n", "value", nullptr},
    {"map", "blockIdx.x == 0 && tail < n", "tail < n", "race", "r0[i] ="},
    {"map", "const u64 vectors = n / 4;", "const u64 vectors = (n + 3) / 4;", "out of bounds", "(a0 + i)"},
    {"map", "const u64 i = lo + 4 * v;", "const u64 i = lo + 4 * v + 1;", "misaligned", "const float4 x"},
    {"map", "r.w = body", "r.z = body", "value", nullptr},
    {"map", "Bad{err, s0 + 5, i + 1}", "Bad{err, s0 + 5, i}", "same", nullptr},
    {"map", "if (dead(err, s0)) return;", "", "value", nullptr},
    // Rows, transposition.
    {"rows", ">> (shift - 1)", ">> shift", "out of bounds", nullptr},
    {"rows", "float* r0_row = r0 + (u64)row * d2;", "float* r0_row = r0 + (u64)row * d2 + 1;", "out of bounds", "r0_row[k] ="},
    {"transpose", "__syncthreads();", "", "race/uninitialised", "1.0f + tile"},
    {"transpose", "if (x < width && y + k < height) tile", "if (x < width) tile", "out of bounds", "a0["},
    {"transpose", "tile[32][33]", "tile[32][32]", "same", nullptr},  // slower only
    // Reduce: barriers, fences, ticket.
    {"reduce", "  __syncthreads();\n  float sum", "  float sum", "race/uninitialised", "warps[w]"},
    {"reduce", "__threadfence();  // the partial", "// the partial", "race", "volatile float"},
    {"reduce", "if (!last) return;\n  __threadfence();", "if (!last) return;", "race", "volatile float"},
    {"reduce", "k += 256) v +=", "k += 255) v +=", "same", nullptr},  // 7 blocks
    {"reduce", "*ticket = 0;", "", "copy to the host", nullptr},
    {"reduce", "== gridDim.x - 1", "== gridDim.x", "copy to the host", nullptr},
    {"reduce", "last = atomicAdd", "if (blockIdx.x) last = atomicAdd", "uninitialised", "if (!last)"},
    {"reduce", "by = 16; by > 0", "by = 8; by > 0", "value", nullptr},
    // Several folds.
    {"folds", "(y.most == x.most && y.place < x.place)", "y.most == x.most", "value", nullptr},
    {"folds", "  __syncthreads();", "", "race/uninitialised", "warps[w]"},
    {"folds", "blocks; k += 256", "blocks + 1; k += 256", "out of bounds", "part[k]"},
    // Scans: the look-back.
    {"scan", "near -= 32;", "near -= 31;", "value", nullptr},
    {"scan", "if (__any_sync(~0u, flag == 0)) continue;", "", "value", nullptr},
    {"scan", "const u32 tile = tile_of_block,", "const u32 tile = blockIdx.x,", "deadlock", nullptr},
    {"scan", "(tile ? AGGREGATE : PREFIX)", "(tile ? AGGREGATE : AGGREGATE)", "same", nullptr},  // before it stand prefixes of 0
    {"scan", "base + j + 3 < n) {\n      v =", "base + j < n) {\n      v =", "out of bounds", "__ldg"},
    {"scan", "if (lane == 0) atomicExch(status + tile, PREFIX", "if (lane == 0) status[tile] = (PREFIX", "race", "status"},
    {"scan", "if (lane) before += lanes_before;", "before += lanes_before;", "value", nullptr},
    {"scan", "const float lanes_before = __shfl_up_sync(~0u, of_lanes, 1);", "const float lanes_before = lane ? __shfl_up_sync(~0u, of_lanes, 1) : 0;",
     "divergent", "lanes_before"},
    {"scan64", "__threadfence();  // the flags", "// the flags", "race", "volatile double"},
    {"scan64", "aggregate;\n      __threadfence();", "aggregate;", "race", "volatile double"},
    {"scan64", "__threadfence();  // of the prefix", "// of the prefix", "race", "volatile double"},
    {"scan64", "(flag == 2 ? prefixes : aggregates)", "(flag == 2 ? aggregates : aggregates)", "uninitialised", "volatile double"},
    // Compact.
    {"compact", "base + ITEMS <= n", "base < n", "out of bounds", "__ldg"},
    {"compact", "(of_lanes - count)", "of_lanes", "race/out of bounds", "r0[to++]"},
    {"compact", "if (lane == 0) before_tile = before;", "before_tile = before;", "race", "before_tile"},
    // Segments.
    {"segments", "if (head > width) head = width;", "", "out of bounds", nullptr},
    {"segments", "__syncthreads();  // the next row", "// the next row", "race", "warps["},
    {"segments", "(4 - ((u64)x / 4 & 3)) & 3", "0", "misaligned", "__ldg"},
    {"segments", "min(from + chunk, height)", "from + chunk", "out of bounds/uninitialised", "__ldg"},
    {"segments", "u32 k = lane; k < width", "u32 k = lane; k <= width", "out of bounds", "sum +="},
    // Histogram, gather, scatter, sort.
    {"histogram", "counts[w][threadIdx.x] = 0;", "counts[w][threadIdx.x & 127] = 0;", "race", "= 0;"},
    {"histogram", "atomicAdd(mine + a0[tail], 1u)", "mine[a0[tail]]++", "race", nullptr},
    {"histogram", "if (sum) atomicAdd(r0 + threadIdx.x, sum);", "if (sum) r0[threadIdx.x] += sum;", "race", "r0[threadIdx.x]"},
    {"gather", "if (wrapped < 0) wrapped += (i32)extent;", "", "out of bounds", "a0[wrapped]"},
    {"gather", "(i32)extent - 1)];", "(i32)extent)];", "out of bounds", "min(max"},
    {"gather", "if ((u32)i < extent) v0", "if (i < (i32)extent) v0", "out of bounds", "v0 = a0[i]"},
    {"scatter", "winner[i] == at + 1", "winner[i]", "race", "r0[i]"},
    {"scatter", "atomicMax(winner + i, at + 1)", "winner[i] = at + 1", "race", "winner[i]"},
    {"sort", "lower == 0)", "lower < 2)", "race", "of_warp[warp][digit]"},
    {"sort", "    __syncwarp();", "", "race", "of_warp[warp][digit]"},
    {"sort", "if (word >> 30 == 0) continue;", "", "race", nullptr},
    {"sort", "    __syncthreads();\n    sum += u;", "    sum += u;", "race", nullptr},
    {"sort", "if (base + at >= n) break;", "", "out of bounds", "r0[to]"},
    // Tiles.
    {"stencil", "base + RESULTS + HALO <= n", "base + RESULTS + HALO <= n + 1", "out of bounds", "__ldg"},
    {"stencil", "base >= HALO &&", "", "out of bounds", "__ldg"},
    {"stencil", "near[RESULTS + 2 * HALO]", "near[RESULTS + HALO]", "outside its array", "near[k] ="},
    {"stencil", "y0 + 33 <= (i64)height", "y0 + 32 <= (i64)height", "out of bounds", "__ldg"},
    {"life", "(y0 + i + height - 1) % height", "(y0 + i + height - 1)", "out of bounds", "a0["},
    {"life", "near[TILE_HEIGHT + 2][TILE_WIDTH + 2]", "near[TILE_HEIGHT + 2][TILE_WIDTH + 1]", "outside its array", "near[i][j]"},
    {"matmul", "const bool more = k0 + DEEP < inner;", "const bool more = true;", "out of bounds", nullptr},
    {"matmul", "keep(xs[now ^ 1], ys[now ^ 1], x, y);", "keep(xs[now], ys[now], x, y);", "race", nullptr},
    {"matmul", "if (row >= rows || column >= columns) continue;", "if (row >= rows) continue;", "out of bounds", nullptr},
    {"matmul", "at < extent ? extent - at : 0", "extent - at", "out of bounds", nullptr},
    {"matmul", "      __syncthreads();\n      now", "      now", "race/uninitialised", nullptr},
    {"pairs", "    __syncthreads();\n    for", "    for", "race/uninitialised", "tile[k]"},
    {"pairs", "    __syncthreads();\n  }", "  }", "race", "tile["},
    {"pairs", "if (i < n) r0[i]", "r0[i]", "out of bounds", "r0[i]"},
    // Blocks that stay.
    {"tickets", "    __syncthreads();  // the next number", "    // the next number", "race", "seat"},
    {"tickets", "- first;\n    __syncthreads();", "- first;", "race/uninitialised", "tile = seat"},
    {"tickets", "atomicAdd(ticket, 1u)", "(*ticket)++", "race", "ticket"},
    {"tickets", "1u) - first;", "1u);", "copy to the host", nullptr},
    {"tickets", "if (i < points)", "if (i <= points)", "out of bounds", "a0[i]"},
    {"mandelbrot", "re[at] = im[at] = 0.0f, count[at] = 0;", "re[at] = im[at] = 0.0f;", "value", nullptr},
    {"mandelbrot", "re[at] = im[at] = 0.0f,", "re[at] = 0.0f,", "uninitialised", "zi = im[at]"},
};
