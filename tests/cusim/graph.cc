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

std::function<int()> launch_work(Kernel* kernel, Dim grid, Dim block, void** arguments) {
  auto copied = std::make_shared<Arguments>();
  for (size_t k = 0; k < kernel->parameters.size(); k++) {
    auto from = static_cast<char*>(arguments[k]);
    copied->values.emplace_back(from, from + kernel->sizes[k]);
  }
  return [=] {
    auto at = copied->pointers();
    // As on a device the launch itself succeeds; whoever asks next hears of the fault.
    if (int code = run_launch(*kernel, grid, block, at.data())) lose_context(code);
    return OK;
  };
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
    counters.launches++;
    return enqueue(stream, launch_work(kernel, grid, block, arguments));
  });
}
CUSIM_API int cuLaunchCooperativeKernel(Kernel* kernel, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 dynamic,
                                        void* handle, void** arguments) {
  return cuLaunchKernel(kernel, gx, gy, gz, bx, by, bz, dynamic, handle, arguments, nullptr);
}

// --------------------------------------------------------------------------------------------------------- capture
namespace { void drop_graph(Graph* graph); }
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
    add_handle(made, GRAPH, [=] { drop_graph(made); });
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
struct Executable { Graph graph; const Graph* of; };
// As cuda.h lays it out.
struct KernelNode {
  Kernel* kernel;
  u32 gx, gy, gz, bx, by, bz, dynamic;
  void** arguments;
  void** extra;
  void *other_kernel, *context;
};
int node_refusal(const KernelNode& p) {
  if (!is_handle(p.kernel, FUNCTION)) return INVALID_HANDLE;
  if (p.extra || p.dynamic || p.other_kernel || !p.arguments) return NOT_SUPPORTED;
  return refusal(*p.kernel, {p.gx, p.gy, p.gz}, {p.bx, p.by, p.bz}, p.dynamic);
}
std::function<int()> work_of(const KernelNode& p) {
  return launch_work(p.kernel, {p.gx, p.gy, p.gz}, {p.bx, p.by, p.bz}, p.arguments);
}
void drop_graph(Graph* graph) {
  for (auto& each : graph->nodes) drop_handle(each.get(), GRAPH_NODE);
  delete graph;
}
}  // namespace

namespace cusim {
int add_node(Node** out, Graph* graph, Node* const* after, size_t count, Kernel* kernel, std::function<int()> work) {
  if (!is_handle(graph, GRAPH)) return INVALID_HANDLE;
  if (graph->nodes.size() != graph->work.size()) return NOT_SUPPORTED;  // a capture made it
  // Nodes that do not wait for each other would have to be raced against each other.
  const Node* last = graph->nodes.empty() ? nullptr : graph->nodes.back().get();
  if (count != (last ? 1 : 0) || (last && after[0] != last)) return NOT_SUPPORTED;
  auto made = std::make_shared<Node>(Node{graph, graph->work.size(), kernel});
  graph->nodes.push_back(made);
  graph->work.push_back(std::move(work));
  add_handle(made.get(), GRAPH_NODE, [] {});
  *out = made.get();
  return OK;
}
}  // namespace cusim

CUSIM_API int cuGraphCreate(Graph** out, u32 flags) {
  return call(CONTEXT, [=]() -> int {
    if (flags) return INVALID_VALUE;
    auto made = new Graph;
    add_handle(made, GRAPH, [=] { drop_graph(made); });
    *out = made;
    return OK;
  });
}
CUSIM_API int cuGraphAddKernelNode_v2(Node** out, Graph* graph, Node* const* after, size_t count, const KernelNode* p) {
  return call(CONTEXT, [=]() -> int {
    if (int code = node_refusal(*p)) return code;
    return add_node(out, graph, after, count, p->kernel, work_of(*p));
  });
}
// What is in streams already keeps its arguments.
CUSIM_API int cuGraphExecKernelNodeSetParams_v2(Executable* executable, Node* node, const KernelNode* p) {
  return call(CONTEXT, [=]() -> int {
    if (!is_handle(executable, GRAPH_EXEC) || !is_handle(node, GRAPH_NODE)) return INVALID_HANDLE;
    if (executable->of != node->graph || !node->kernel || p->kernel != node->kernel) return INVALID_VALUE;
    if (int code = node_refusal(*p)) return code;
    counters.updates++;
    executable->graph.work[node->at] = work_of(*p);
    return OK;
  });
}

CUSIM_API int cuGraphInstantiateWithFlags(Executable** out, Graph* graph, u64 flags) {
  return call(CONTEXT, [=]() -> int {
    if (!is_handle(graph, GRAPH)) return INVALID_HANDLE;
    if (flags & ~11ull) return INVALID_VALUE;
    auto made = new Executable{*graph, graph};
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
    counters.graphs++;
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
