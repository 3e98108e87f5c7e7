// Launches as calls, and graphs: a capture is a list of closures over copied arguments.
#include <cstring>
#include "sim.h"

using namespace cusim;

namespace {
struct Arguments {
  std::vector<std::vector<char>> values;
  std::vector<void*> pointers() {
    std::vector<void*> out;
    for (auto& each : values) out.push_back(each.data());
    return out;
  }
};

int refusal(const Kernel& kernel, Dim grid, Dim block, u32 dynamic) {
  if (!grid.count() || !block.count() || grid.x > 2147483647u || grid.y > 65535 || grid.z > 65535) return INVALID_VALUE;
  if (block.x > 1024 || block.y > 1024 || block.z > 64) return INVALID_VALUE;
  if (block.count() > 1024) return INVALID_VALUE;
  // A bound that a kernel was compiled for is a bound of its registers.
  if (block.count() > kernel.most_threads) return LAUNCH_OUT_OF_RESOURCES;
  if (size_t(kernel.shared_end - kernel.shared_begin) + dynamic > 49152) return INVALID_VALUE;
  return OK;
}
}  // namespace

CUSIM_API int cuLaunchKernel(Kernel* kernel, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 dynamic, void* handle,
                             void** arguments, void** extra) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream || !is_handle(kernel, FUNCTION)) return INVALID_HANDLE;
    Dim grid{gx, gy, gz}, block{bx, by, bz};
    if (extra || dynamic) return NOT_SUPPORTED;  // our text has neither packed arguments nor dynamic shared memory
    if (int code = refusal(*kernel, grid, block, dynamic)) return code;
    auto copied = std::make_shared<Arguments>();
    for (size_t k = 0; k < kernel->parameters.size(); k++) {
      auto from = static_cast<char*>(arguments[k]);
      copied->values.emplace_back(from, from + kernel->sizes[k]);
    }
    return enqueue(stream, [=] {
      auto at = copied->pointers();
      // As on a device the launch itself succeeds; whoever asks next hears of the fault.
      if (int code = run_launch(*kernel, grid, block, at.data())) lose_context(code);
      return OK;
    });
  });
}
CUSIM_API int cuLaunchCooperativeKernel(Kernel* kernel, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 dynamic,
                                        void* handle, void** arguments) {
  return cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, dynamic, handle, arguments, nullptr);
}

// --------------------------------------------------------------------------------------------------------- capture
CUSIM_API int cuStreamBeginCapture_v2(void* handle, int mode) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream || u64(handle) <= 1) return stream ? CAPTURE_UNSUPPORTED : INVALID_HANDLE;
    if (mode < 0 || mode > 2 || stream->capture) return INVALID_VALUE;
    stream->capture = new Graph;
    stream->invalid = false;
    if (mode != 2) capture_begins(stream);  // 2: relaxed, nothing is forbidden
    return OK;
  });
}
CUSIM_API int cuStreamEndCapture(void* handle, Graph** out) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (!stream->capture) return CAPTURE_UNMATCHED;
    Graph* made = stream->capture;
    stream->capture = nullptr;
    capture_ends(stream);
    *out = nullptr;
    if (stream->invalid) {
      delete made;
      return CAPTURE_INVALIDATED;
    }
    add_handle(made, GRAPH, [=] { delete made; });
    *out = made;
    return OK;
  });
}
CUSIM_API int cuStreamIsCapturing(void* handle, int* out) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    *out = !stream->capture ? 0 : stream->invalid ? 2 : 1;
    return OK;
  });
}

// ---------------------------------------------------------------------------------------------------------- graphs
namespace {
struct Executable { Graph graph; };
}  // namespace

CUSIM_API int cuGraphInstantiateWithFlags(Executable** out, Graph* graph, u64 flags) {
  return call(CONTEXT, [=]() -> int {
    if (!is_handle(graph, GRAPH)) return INVALID_HANDLE;
    if (flags & ~11ull) return INVALID_VALUE;
    auto made = new Executable{*graph};
    add_handle(made, GRAPH_EXEC, [=] {
      for (u64 at : made->graph.allocations)
        if (memory.room_given(at) && !memory.release(at, false)) memory.end_life(at);
      delete made;
    });
    *out = made;
    return OK;
  });
}
CUSIM_API int cuGraphUpload(Executable* executable, void*) {
  return call(CONTEXT, [=]() -> int { return is_handle(executable, GRAPH_EXEC) ? OK : INVALID_HANDLE; });
}
CUSIM_API int cuGraphLaunch(Executable* executable, void* handle) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream || !is_handle(executable, GRAPH_EXEC)) return INVALID_HANDLE;
    if (stream->capture) return NOT_SUPPORTED;
    // What an earlier launch allocated and nobody freed is fresh again, as with AUTO_FREE_ON_LAUNCH.
    return enqueue(stream, [work = executable->graph.work] {
      for (const auto& each : work)
        if (int code = each()) return code;
      return int(OK);
    });
  });
}
CUSIM_API int cuGraphExecDestroy(Executable* executable) {
  return call(CONTEXT, [=] {
    drain_all();
    return drop_handle(executable, GRAPH_EXEC);
  });
}
CUSIM_API int cuGraphDestroy(Graph* graph) {
  return call(CONTEXT, [=] { return drop_handle(graph, GRAPH); });
}
CUSIM_API int cuGraphGetNodes(Graph* graph, void** nodes, size_t* count) {
  return call(CONTEXT, [=]() -> int {
    if (!is_handle(graph, GRAPH)) return INVALID_HANDLE;
    if (nodes) return NOT_SUPPORTED;
    *count = graph->work.size();
    return OK;
  });
}
