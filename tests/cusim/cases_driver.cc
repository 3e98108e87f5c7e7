// What the driver and the compiler promise besides right launches.
#include <dlfcn.h>
#include <thread>
#include "selftest.h"

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_IMAGE = 200, INVALID_CONTEXT = 201, NO_BINARY = 209,
       INVALID_HANDLE = 400, NOT_FOUND = 500, RESOURCES = 701, TIMEOUT = 702, DESTROYED = 709, LAUNCH_FAILED = 719,
       IN_CAPTURE = 900, SPOILT = 901 };

template <class F> static int code_of(F body) {
  try {
    body();
    return 0;
  } catch (const Failed& f) {
    return f.code;
  }
}
static void equal(int got, int wanted, const char* what) {
  if (got != wanted) throw Wrong{std::string(what) + ": " + std::to_string(got) + ", not " + std::to_string(wanted)};
}
static void has(const std::string& text, const std::string& part) {
  if (text.find(part) == std::string::npos) throw Wrong{"`" + text + "` does not say `" + part + "`"};
}

static const char DOUBLED[] =
    "extern \"C\" __global__ void __launch_bounds__(64) doubled(const u32* a0, u32* r0, u32 n) {\n"
    "  const u32 i = blockIdx.x * 64 + threadIdx.x;\n"
    "  if (i < n) r0[i] = 2 * a0[i];\n"
    "}\n";

// Something of everything; a value is either right or a call has failed.
static void script(Device& gpu, Program& p) {
  std::vector<u32> x(100), wanted(100);
  for (u32 k = 0; k < 100; k++) x[k] = k, wanted[k] = 2 * k;
  auto a0 = gpu.up(x), r0 = gpu.fresh<u32>(100);
  gpu.launch(p, "doubled", {2}, {64}, a0, r0, 100u);
  same(gpu.down(r0), wanted, "doubled");
  gpu.free_all();
}

static void fails_at_each_call(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude + DOUBLED, "p");
  u32 failed = 0;
  for (u32 k = 1; k < 200; k++) {
    gpu.set("CUSIM_FAIL_CALL", std::to_string(k) + ":999");
    int code = code_of([&] { script(gpu, p); });
    gpu.set("CUSIM_FAIL_CALL", "0");
    gpu.restart();
    if (!code) break;
    equal(code, 999, "code");
    failed++;
  }
  if (failed < 9 || failed > 50) throw Wrong{std::to_string(failed) + " calls failed"};
  script(gpu, p);
}

static void fails_at_an_allocation(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude + DOUBLED, "p");
  gpu.set("CUSIM_FAIL_ALLOC", "2");
  equal(code_of([&] { script(gpu, p); }), OUT_OF_MEMORY, "second allocation");
  gpu.free_all();
  script(gpu, p);  // only that one fails
}

static void is_lost_until_reset(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude + DOUBLED, "p");
  gpu.set("CUSIM_LOST_AT", "6");
  equal(code_of([&] { script(gpu, p); }), LAUNCH_FAILED, "script");
  equal(code_of([&] { gpu.fresh<u32>(1); }), LAUNCH_FAILED, "allocation");
  equal(gpu.call<int()>("cuCtxSynchronize")(), LAUNCH_FAILED, "synchronize");
  gpu.restart();
  script(gpu, p);
}

static void memory_has_an_end(Device& gpu, const std::string&) {
  gpu.set("CUSIM_MEMORY", "1000000");
  auto first = gpu.fresh<u8>(600000);
  equal(code_of([&] { gpu.fresh<u8>(600000); }), OUT_OF_MEMORY, "beyond");
  size_t free = 0, total = 0;
  gpu.call<int(size_t*, size_t*)>("cuMemGetInfo_v2")(&free, &total);
  equal(int(free), 400000, "free");
  gpu.free_all();
  gpu.fresh<u8>(600000);
  gpu.set("CUSIM_MEMORY", "2147483648");
  equal(gpu.call<int(u64, void*)>("cuMemFreeAsync")(first.at, gpu.stream), INVALID_VALUE, "freed twice");
}

static void copies_stay_inside(Device& gpu, const std::string&) {
  auto x = gpu.up(std::vector<u32>{1, 2, 3});
  equal(code_of([&] { gpu.down(Buf<u32>{x.at, 4}); }), INVALID_VALUE, "too long");
  equal(code_of([&] { gpu.down(Buf<u32>{x.at + 400, 1}); }), INVALID_VALUE, "elsewhere");
  auto partly = gpu.fresh<u32>(3);
  gpu.fill(partly.at, 0, 8);
  equal(code_of([&] { gpu.down(partly); }), LAUNCH_FAILED, "uninitialised");
  has(gpu.last_report(), "byte 8 of");
}

static void handles_end(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude + DOUBLED, "p");
  void* before = gpu.stream;
  equal(code_of([&] { p.function("absent"); }), NOT_FOUND, "no such kernel");
  script(gpu, p);
  gpu.check(gpu.call<int(void*)>("cuStreamDestroy_v2")(before), "destroy");
  equal(gpu.call<int(void*)>("cuStreamSynchronize")(before), INVALID_HANDLE, "stream");
  equal(gpu.call<int(void*)>("cuStreamDestroy_v2")(before), INVALID_HANDLE, "destroyed twice");
}

static void contexts_belong_to_threads(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude + DOUBLED, "p");
  int without = 0;
  std::thread([&] { without = gpu.call<int()>("cuCtxSynchronize")(); }).join();
  equal(without, INVALID_CONTEXT, "no context in a new thread");
  // Two threads at once: calls are kept apart.
  p.function("doubled");
  std::string wrong[2];
  auto work = [&](int which) {
    try {
      gpu.make_current();
      for (int k = 0; k < 20; k++) {
        u64 a = 0, r = 0;
        u32 x[64], y[64], n = 64;
        for (u32& v : x) v = u32(k + which);
        gpu.check(gpu.call<int(u64*, size_t, void*)>("cuMemAllocAsync")(&a, 256, gpu.stream), "alloc");
        gpu.check(gpu.call<int(u64*, size_t, void*)>("cuMemAllocAsync")(&r, 256, gpu.stream), "alloc");
        gpu.check(gpu.call<int(u64, const void*, size_t, void*)>("cuMemcpyHtoDAsync_v2")(a, x, 256, gpu.stream), "up");
        void* arguments[] = {&a, &r, &n};
        using Launch = int(void*, u32, u32, u32, u32, u32, u32, u32, void*, void**, void**);
        gpu.check(gpu.call<Launch>("cuLaunchKernel")(p.function("doubled"), 1, 1, 1, 64, 1, 1, 0, gpu.stream, arguments, nullptr), "launch");
        gpu.check(gpu.call<int(void*, u64, size_t, void*)>("cuMemcpyDtoHAsync_v2")(y, r, 256, gpu.stream), "down");
        for (u32 v : y) equal(int(v), 2 * (k + which), "value");
      }
    } catch (const Wrong& w) {
      wrong[which] = w.what;
    } catch (const Failed& f) {
      wrong[which] = f.what;
    }
  };
  std::thread one(work, 0), two(work, 1);
  one.join(), two.join();
  if (!wrong[0].empty() || !wrong[1].empty()) throw Wrong{wrong[0] + wrong[1]};
  // After a reset the context is there again only once it is retained.
  gpu.call<int(int)>("cuDevicePrimaryCtxReset_v2")(0);
  equal(gpu.call<int()>("cuCtxSynchronize")(), DESTROYED, "after reset");
}

static void devices_and_drivers(Device& gpu, const std::string& prelude) {
  gpu.set("CUSIM_NO_DEVICE", "1");
  equal(gpu.call<int(u32)>("cuInit")(0), NO_DEVICE, "no device");
  gpu.set("CUSIM_NO_DEVICE", "0");
  gpu.set("CUSIM_DRIVER", "12020");
  int version = 0;
  gpu.call<int(int*)>("cuDriverGetVersion")(&version);
  equal(version, 12020, "version");
  Program p(gpu, prelude + DOUBLED, "p");
  equal(code_of([&] { p.function("doubled"); }), INVALID_IMAGE, "an older driver");
  gpu.set("CUSIM_DRIVER", "13000");
  std::string image = gpu.compile(prelude + DOUBLED, "p", "sm_80");
  void* module = nullptr;
  equal(gpu.call<int(void**, const void*)>("cuModuleLoadData")(&module, image.data()), NO_BINARY, "another architecture");
  const char* name = nullptr;
  gpu.call<int(int, const char**)>("cuGetErrorName")(NO_BINARY, &name);
  has(name, "CUDA_ERROR_NO_BINARY_FOR_GPU");
}

static void launches_are_refused(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude + DOUBLED, "p");
  auto x = gpu.filled<u32>(64, 0);
  auto with = [&](Dim grid, Dim block) { return code_of([&] { gpu.launch(p, "doubled", grid, block, x, x, 64u); }); };
  equal(with({0}, {64}), INVALID_VALUE, "no block");
  equal(with({1, 65536}, {64}), INVALID_VALUE, "grid y");
  equal(with({1, 1, 65536}, {64}), INVALID_VALUE, "grid z");
  equal(with({1}, {65}), RESOURCES, "over the launch bounds");
  equal(with({1}, {2048}), INVALID_VALUE, "over any block");
  equal(with({1}, {64}), 0, "all right");
}

static void captures_record(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude + DOUBLED, "p");
  auto a0 = gpu.up(std::vector<u32>{1, 2, 3});
  auto r0 = gpu.filled<u32>(3, 0);
  p.function("doubled");
  gpu.begin_capture();
  u32 n = 3;
  gpu.launch(p, "doubled", {1}, {64}, a0, r0, n);
  n = 99;  // the argument was copied
  Buf<u32> inside = gpu.fresh<u32>(3);
  gpu.launch(p, "doubled", {1}, {64}, r0, inside, 3u);
  gpu.launch(p, "doubled", {1}, {64}, inside, r0, 3u);
  gpu.check(gpu.call<int(u64, void*)>("cuMemFreeAsync")(inside.at, gpu.stream), "free");
  void* graph = gpu.end_capture();
  same(gpu.down(r0), {0, 0, 0}, "not yet");
  for (int k = 0; k < 2; k++) {
    gpu.launch_graph(graph);
    same(gpu.down(r0), {8, 16, 24}, "graph");
  }
  gpu.begin_capture();
  equal(gpu.call<int(void*)>("cuStreamSynchronize")(gpu.stream), IN_CAPTURE, "synchronize");
  void* made = nullptr;
  equal(gpu.call<int(void*, void**)>("cuStreamEndCapture")(gpu.stream, &made), SPOILT, "spoilt");
  gpu.begin_capture();
  u64 at = 0;
  equal(gpu.call<int(u64*, size_t)>("cuMemAlloc_v2")(&at, 4), IN_CAPTURE, "plain allocation");
  equal(gpu.call<int(void*, void**)>("cuStreamEndCapture")(gpu.stream, &made), SPOILT, "spoilt");
}

static void graphs_are_built_and_changed(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude + DOUBLED, "p");
  struct KernelNode { void* f; u32 g[3], b[3], dynamic; void **arguments, **extra; void *kernel, *context; };
  struct FillNode { u64 to; size_t pitch; u32 value, size; size_t width, height; };
  auto a0 = gpu.up(std::vector<u32>{1, 2, 3}), other = gpu.up(std::vector<u32>{10, 20, 30});
  auto between = gpu.fresh<u32>(3), r0 = gpu.fresh<u32>(3);
  void *graph = nullptr, *executable = nullptr, *nodes[3] = {};
  u32 n = 3;
  gpu.check(gpu.call<int(void**, u32)>("cuGraphCreate")(&graph, 0), "create");
  FillNode fill{between.at, 0, 1, 1, 12, 1};
  auto add_fill = gpu.call<int(void**, void*, void* const*, size_t, const FillNode*, void*)>("cuGraphAddMemsetNode");
  auto add = gpu.call<int(void**, void*, void* const*, size_t, const KernelNode*)>("cuGraphAddKernelNode_v2");
  gpu.check(add_fill(&nodes[0], graph, nullptr, 0, &fill, nullptr), "fill");
  void *first[] = {&a0.at, &between.at, &n}, *second[] = {&between.at, &r0.at, &n};
  KernelNode one{p.function("doubled"), {1, 1, 1}, {64, 1, 1}, 0, first, nullptr, nullptr, nullptr}, two = one;
  two.arguments = second;
  gpu.check(add(&nodes[1], graph, &nodes[0], 1, &one), "kernel");
  equal(add(&nodes[2], graph, &nodes[0], 1, &two), 801, "no chain");
  gpu.check(add(&nodes[2], graph, &nodes[1], 1, &two), "kernel");
  gpu.check(gpu.call<int(void**, void*, u64)>("cuGraphInstantiateWithFlags")(&executable, graph, 0), "instantiate");
  gpu.launch_graph(executable);
  same(gpu.down(r0), {4, 8, 12}, "as built");
  // Only launches that come after it know of a change.
  auto change = gpu.call<int(void*, void*, const KernelNode*)>("cuGraphExecKernelNodeSetParams_v2");
  auto last = gpu.fresh<u32>(3);
  gpu.launch_graph(executable);
  first[0] = &other.at, second[1] = &last.at;
  gpu.check(change(executable, nodes[1], &one), "change");
  gpu.check(change(executable, nodes[2], &two), "change");
  gpu.launch_graph(executable);
  same(gpu.down(r0), {4, 8, 12}, "before the change");
  same(gpu.down(last), {40, 80, 120}, "after the change");
  equal(change(executable, nodes[0], &one), INVALID_VALUE, "a fill is no kernel");
  gpu.check(gpu.call<int(void*)>("cuGraphDestroy")(graph), "destroy");
  equal(change(executable, nodes[1], &one), INVALID_HANDLE, "nodes end with their graph");
  gpu.check(gpu.call<int(void*)>("cuGraphExecDestroy")(executable), "destroy");
}

static void events_tell_time(Device& gpu, const std::string&) {
  void *from = nullptr, *to = nullptr, *untimed = nullptr;
  for (void** e : {&from, &to}) gpu.check(gpu.call<int(void**, u32)>("cuEventCreate")(e, 0), "create");
  gpu.check(gpu.call<int(void**, u32)>("cuEventCreate")(&untimed, 2), "create");
  float ms = -1;
  auto elapsed = gpu.call<int(float*, void*, void*)>("cuEventElapsedTime_v2");
  equal(elapsed(&ms, from, to), INVALID_HANDLE, "not recorded");
  for (void* e : {from, untimed, to}) gpu.check(gpu.call<int(void*, void*)>("cuEventRecord")(e, gpu.stream), "record");
  gpu.check(gpu.call<int(void*)>("cuEventSynchronize")(to), "wait");
  equal(elapsed(&ms, from, to), 0, "elapsed");
  if (!(ms >= 0 && ms < 1000)) throw Wrong{"time"};
  equal(elapsed(&ms, from, untimed), INVALID_HANDLE, "untimed");
}

// Work of two streams: `waits` or not for the other's.
static void across_streams(Device& gpu, Program& p, bool waits) {
  void *other = nullptr, *event = nullptr;
  gpu.check(gpu.call<int(void**, u32)>("cuStreamCreate")(&other, 1), "stream");
  gpu.check(gpu.call<int(void**, u32)>("cuEventCreate")(&event, 2), "event");
  auto a0 = gpu.up(std::vector<u32>{1, 2, 3});
  auto r0 = gpu.fresh<u32>(3);
  gpu.launch(p, "doubled", {1}, {64}, a0, r0, 3u);
  gpu.check(gpu.call<int(void*, void*)>("cuEventRecord")(event, gpu.stream), "record");
  if (waits) gpu.check(gpu.call<int(void*, void*, u32)>("cuStreamWaitEvent")(other, event, 0), "wait");
  u32 got[3] = {};
  gpu.check(gpu.call<int(void*, u64, size_t, void*)>("cuMemcpyDtoHAsync_v2")(got, r0.at, 12, other), "copy");
  same<u32>({got[0], got[1], got[2]}, {2, 4, 6}, "across streams");
}
// Pinned memory is read and written when the stream comes to it.
static void through_pinned(Device& gpu, bool waits) {
  void* block = nullptr;
  gpu.check(gpu.call<int(void**, size_t, u32)>("cuMemHostAlloc")(&block, 12, 0), "pinned");
  auto words = static_cast<u32*>(block);
  auto wait = [&] {
    if (waits) gpu.check(gpu.call<int(void*)>("cuStreamSynchronize")(gpu.stream), "wait");
  };
  auto x = gpu.fresh<u32>(3);
  for (u32 k = 0; k < 3; k++) words[k] = k + 5;
  gpu.check(gpu.call<int(u64, const void*, size_t, void*)>("cuMemcpyHtoDAsync_v2")(x.at, words, 12, gpu.stream), "up");
  wait();
  for (u32 k = 0; k < 3; k++) words[k] = 0;  // for what comes next
  gpu.check(gpu.call<int(void*, u64, size_t, void*)>("cuMemcpyDtoHAsync_v2")(words, x.at, 12, gpu.stream), "down");
  wait();
  same<u32>({words[0], words[1], words[2]}, {5, 6, 7}, "through pinned memory");
}
static void work_waits_only_for_what_it_is_told(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude + DOUBLED, "p");
  auto fails = [&](const std::function<void()>& body) {
    try {
      body();
    } catch (const Wrong&) {
      return true;
    } catch (const Failed&) {
      gpu.restart();
      return true;
    }
    return false;
  };
  for (const char* schedule : {"serial", "random", "starved"}) {
    gpu.set("CUSIM_SCHEDULE", schedule);
    across_streams(gpu, p, true);
    through_pinned(gpu, true);
  }
  if (!fails([&] { across_streams(gpu, p, false); })) throw Wrong{"a missing wait of a stream is not seen"};
  has(gpu.last_report(), "copy to the host");
  if (!fails([&] { through_pinned(gpu, false); })) throw Wrong{"a missing wait of the host is not seen"};
  gpu.set("CUSIM_SCHEDULE", "random");
}

static void compiler_says_where(Device& gpu, const std::string& prelude) {
  auto log = [&](const std::string& text) {
    try {
      gpu.compile(prelude + text, "p.cu");
    } catch (const Failed& f) {
      return f.what;
    }
    return std::string("no error");
  };
  has(log("extern \"C\" __global__ void k() {\n#line 105 \"n\"\n  u32 x = absent;\n}\n"), "n(105): error: ");
  has(log("#include <stdint.h>\n"), "stdint.h");  // NVRTC has no standard headers
  has(log("extern \"C\" __global__ void k(double* x) { atomicMax(x, 1.0); }\n"), "error: ");
  has(log("extern \"C\" __global__ void big(u32* r) { __shared__ u32 x[12289]; x[0] = 1; r[0] = x[0]; }\n"), "too much shared");
  has(log("extern \"C\" __global__ void deep(u32* x) { volatile u32 big[20000]; for (u32 k = 0; k < 20000; k++) big[k] = k; x[0] = big[5]; }\n"),
      "frame size");
  equal(code_of([&] { gpu.compile("", "p", "pentium"); }), 5, "architecture");
  if (!gpu.compile(prelude + DOUBLED, "p", "compute_90").empty()) throw Wrong{"a CUBIN of a virtual architecture"};
}

// A kernel that waits for ever, one that works for ever, one that traps: a report and a code, never a hang.
static void ends_what_does_not_end(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude +
                     "extern \"C\" __global__ void ever(volatile u32* x) { while (x[0] == 0) __nanosleep(100); }\n"
                     "extern \"C\" __global__ void plain(u32* x) { for (u64 k = 0; k < 1ull << 60; k++) atomicAdd(x, 1u); }\n"
                     "extern \"C\" __global__ void traps(u32* x) { if (x[0] == 0) __trap(); }\n", "p");
  auto fault = [&](const char* kernel, int code, const char* word) {
    auto x = gpu.filled<u32>(1, 0);
    gpu.launch(p, kernel, {1}, {1}, x);
    equal(gpu.call<int()>("cuCtxSynchronize")(), code, kernel);
    has(gpu.last_report(), word);
    gpu.restart();
  };
  fault("ever", LAUNCH_FAILED, "deadlock");
  gpu.set("CUSIM_SECONDS", "0");
  fault("plain", TIMEOUT, "longer than");
  gpu.set("CUSIM_SECONDS", "60");
  fault("traps", LAUNCH_FAILED, "__trap");
}

static void restricted_pointers_are_alone(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude + "extern \"C\" __global__ void sum(const u32* __restrict__ a0, const u32* a1, u32* r0) { r0[0] = a0[0] + a1[0]; }\n", "p");
  auto x = gpu.up(std::vector<u32>{3}), y = gpu.up(std::vector<u32>{4});
  gpu.launch(p, "sum", {1}, {1}, x, x, y);  // read twice: nothing wrong
  gpu.launch(p, "sum", {1}, {1}, x, y, y);  // a1 and r0 promise nothing
  same(gpu.down(y), {9}, "sum");
  gpu.launch(p, "sum", {1}, {1}, x, y, x);
  equal(gpu.call<int()>("cuCtxSynchronize")(), LAUNCH_FAILED, "a0 and r0");
  has(gpu.last_report(), "aliased: write of byte 0 of");
}

// Every built-in that is not plain arithmetic, once.
static void built_ins_compute(Device& gpu, const std::string& prelude) {
  Program p(gpu, prelude +
      "extern \"C\" __global__ void __launch_bounds__(64) ops(u32* r, i32* s, u64* w, float* f, double* d) {\n"
      "  const u32 t = threadIdx.x, lane = t % 32;\n"
      "  atomicAdd(r, t); atomicMax(r + 1, t); atomicMin(r + 2, t); atomicOr(r + 3, 1u << lane); atomicAnd(r + 4, ~(1u << lane));\n"
      "  atomicXor(r + 5, 1u << lane); if (t == 0) atomicCAS(r + 6, 7u, 9u);\n"
      "  atomicMin(s, -(i32)t); atomicMax(s + 1, -(i32)t); atomicAdd(s + 2, -1); atomicAdd(w, 1ull << 33); atomicAdd(f, 0.5f); atomicAdd(d, 0.25);\n"
      "  u32 v = __shfl_sync(~0u, lane, 5) + __shfl_up_sync(~0u, lane, 3) * 100 + __shfl_down_sync(~0u, lane, 3) * 10000 + __shfl_xor_sync(~0u, lane, 1) * 1000000;\n"
      "  if (t == 33) { r[7] = v; }\n"
      "  const u32 even = __ballot_sync(~0u, lane % 2 == 0), same = __match_any_sync(~0u, lane / 8);\n"
      "  const bool all = __all_sync(~0u, lane < 32), any = __any_sync(~0u, lane == 40);\n"
      "  if (t == 8) { r[8] = even; r[9] = same; r[10] = all; r[11] = any; r[12] = __popc(even) + __ffs(8) * 100 + __clz(1) * 10000; r[13] = __umulhi(~0u, 16u);\n"
      "    w[1] = (u64)__double_as_longlong(1.0); f[1] = __fmaf_rn(3.0f, 2.0f, 1.0f); d[1] = __longlong_as_double(0x3ff0000000000000ll); }\n"
      "}\n", "p");
  std::vector<u32> r(14, 0);
  r[2] = r[4] = ~0u, r[5] = 0, r[6] = 7;
  auto r0 = gpu.up(r);
  auto s0 = gpu.up(std::vector<i32>{0, -100, 0});
  auto w0 = gpu.up(std::vector<u64>{0, 0});
  auto f0 = gpu.up(std::vector<float>{0, 0});
  auto d0 = gpu.up(std::vector<double>{0, 0});
  gpu.launch(p, "ops", {1}, {64}, r0, s0, w0, f0, d0);
  same(gpu.down(r0), {2016, 63, 0, ~0u, 0, 0, 9, 5 + 1 * 100 + 4 * 10000, 0x55555555, 0xff00, 1, 0, 16 + 400 + 310000, 15}, "unsigned");
  same(gpu.down(s0), {-63, 0, -64}, "signed");
  same(gpu.down(w0), {64ull << 33, 0x3ff0000000000000ull}, "wide");
  same(gpu.down(f0), {32.0f, 7.0f}, "float");
  same(gpu.down(d0), {16.0, 1.0}, "double");
}

// A product by the library beside the driver: 2×3 by 3×2, by columns.
static void product(Device& gpu, int ldb, bool written) {
  void* blas = dlopen((gpu.folder + "/libcublas.so.13").c_str(), RTLD_NOW);
  if (!blas) throw Wrong{std::string("libcublas: ") + dlerror()};
  void* handle = nullptr;
  reinterpret_cast<int (*)(void**)>(dlsym(blas, "cublasCreate_v2"))(&handle);
  reinterpret_cast<int (*)(void*, void*)>(dlsym(blas, "cublasSetStream_v2"))(handle, gpu.stream);
  reinterpret_cast<int (*)(void*, int)>(dlsym(blas, "cublasSetMathMode"))(handle, 2);
  auto a = gpu.up<double>({1, 2, 3, 4, 5, 6});
  auto b = written ? gpu.up<double>({1, 0, 2, 0, 1, 1}) : gpu.fresh<double>(6);
  auto c = gpu.fresh<double>(4);
  double one = 1, zero = 0;
  using Gemm = int(void*, int, int, int, int, int, const double*, u64, int, u64, int, const double*, u64, int);
  auto gemm = reinterpret_cast<Gemm*>(dlsym(blas, "cublasDgemm_v2"));
  gpu.check(gemm(handle, 0, 0, 2, 2, 3, &one, a.at, 2, b.at, ldb, &zero, c.at, 2), "cublasDgemm");
  same(gpu.down(c), {11, 14, 8, 10}, "product");
  reinterpret_cast<int (*)(void*)>(dlsym(blas, "cublasDestroy_v2"))(handle);
  gpu.free_all();
}
static void looks_at_a_library(Device& gpu, const std::string&) {
  product(gpu, 3, true);
  gpu.set("CUSIM_REPORT", "/dev/null");
  equal(code_of([&] { product(gpu, 4, true); }), 700, "a line too far apart");
  has(gpu.last_report(), "cublasDgemm's B");
  gpu.restart();
  equal(code_of([&] { product(gpu, 3, false); }), LAUNCH_FAILED, "nobody wrote it");
  has(gpu.last_report(), "uninitialised");
  gpu.set("CUSIM_REPORT", "");
  gpu.restart();
  equal(code_of([&] { product(gpu, 2, true); }), 7, "lines that overlap");
  gpu.restart();
  product(gpu, 3, true);
}

const std::vector<Promise> PROMISES = {
    {"any one call fails, and nothing is wrong after a restart", fails_at_each_call},
    {"one allocation fails, the others do not", fails_at_an_allocation},
    {"a lost device answers so until it is reset", is_lost_until_reset},
    {"memory has an end, and room again when it is freed", memory_has_an_end},
    {"copies stay inside, and take nothing that nobody wrote", copies_stay_inside},
    {"handles end", handles_end},
    {"contexts belong to threads", contexts_belong_to_threads},
    {"no device, an old driver, another architecture", devices_and_drivers},
    {"launches that a device would refuse are refused", launches_are_refused},
    {"captures record, and refuse what a capture refuses", captures_record},
    {"graphs are built, and their kernels changed", graphs_are_built_and_changed},
    {"events tell time", events_tell_time},
    {"work waits only for what it is told to wait for", work_waits_only_for_what_it_is_told},
    {"the compiler says where", compiler_says_where},
    {"what does not end is ended", ends_what_does_not_end},
    {"restricted pointers are alone", restricted_pointers_are_alone},
    {"built-ins compute", built_ins_compute},
    {"a library's arguments are looked at", looks_at_a_library},
};
