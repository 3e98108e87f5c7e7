// Allocation, pools, pinned memory, copies and fills.
#include <cstring>
#include "sim.h"

using namespace cusim;

namespace {
u8* written_at(u64 at) { return memory.written + (at - u64(memory.arena)); }
void* pointer(u64 at) { return reinterpret_cast<void*>(at); }

int outside(const char* what, u64 at, u64 bytes) {
  say(std::string("cusim: ") + what + " of " + number("%llu bytes at ", (unsigned long long)bytes) + place_of(pointer(at), bytes));
  return INVALID_VALUE;
}

int to_device(u64 to, const void* from, u64 bytes) {
  if (memory.room(to) < bytes) return outside("copy to the device", to, bytes);
  memmove(pointer(to), from, bytes);
  memset(written_at(to), 1, bytes);
  return OK;
}
// A device would hand out whatever lay there: here it is a fault, as a wrong value would be.
int to_host(void* to, u64 from, u64 bytes) {
  if (memory.room(from) < bytes) return outside("copy to the host", from, bytes);
  if (auto bad = static_cast<u8*>(memchr(written_at(from), 0, bytes))) {
    say("cusim: uninitialised: copy to the host of " + place_of(pointer(from + u64(bad - written_at(from))), 1) + ", which nobody wrote");
    lose_context(LAUNCH_FAILED);
    return LAUNCH_FAILED;
  }
  memmove(to, pointer(from), bytes);
  return OK;
}
int on_device(u64 to, u64 from, u64 bytes) {
  if (memory.room(to) < bytes) return outside("copy", to, bytes);
  if (memory.room(from) < bytes) return outside("copy", from, bytes);
  memmove(pointer(to), pointer(from), bytes);
  memmove(written_at(to), written_at(from), bytes);
  return OK;
}
template <class T> int fill(u64 to, T value, u64 count) {
  u64 bytes = count * sizeof(T);
  if (to % sizeof(T)) return INVALID_VALUE;
  if (memory.room(to) < bytes) return outside("fill", to, bytes);
  for (u64 k = 0; k < count; k++) memcpy(pointer(to + k * sizeof(T)), &value, sizeof(T));
  memset(written_at(to), 1, bytes);
  return OK;
}

// A call that is refused when what it names is not there; whether it is there in time, its work finds out.
struct Range { u64 at, bytes; };
int refused(const char* what, std::initializer_list<Range> ranges) {
  for (Range r : ranges)
    if (memory.room_given(r.at) < r.bytes) return outside(what, r.at, r.bytes);
  return OK;
}
int checked(void* handle, const char* what, std::initializer_list<Range> ranges, std::function<int()> work) {
  return call(CONTEXT, [&]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (int code = refused(what, ranges)) return code;
    return enqueue(stream, std::move(work));
  });
}
// Plain copies and fills wait for all work and are done when they return.
int at_once(std::function<int()> work) {
  return call(CONTEXT | NO_CAPTURE, [&]() -> int {
    drain_all();
    if (int code = lost_code()) return code;
    int code = work();
    return lost_code() ? lost_code() : code;
  });
}
bool pinned(const void* at) {
  const Allocation* found = memory.find(u64(at));
  return found && found->host && memory.room(u64(at));
}
char the_pool;
}  // namespace

// ------------------------------------------------------------------------------------------------------- allocation
CUSIM_API int cuMemAllocAsync(u64* out, size_t bytes, void* handle) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (int code = memory.allocate(out, bytes, false)) return code;
    u64 at = *out;
    // In a capture the address is fixed now, and each launch of the graph finds fresh memory there.
    if (stream->capture) stream->capture->allocations.push_back(at);
    return enqueue(stream, [=] { memory.begin_life(at); return OK; });
  });
}
CUSIM_API int cuMemFreeAsync(u64 at, void* handle) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (!at) return OK;
    // What a graph allocated it keeps, from launch to launch.
    if (!stream->capture)
      if (int code = memory.release(at, false)) return code;
    return enqueue(stream, [=] { memory.end_life(at); return OK; });
  });
}
CUSIM_API int cuMemAllocFromPoolAsync(u64* out, size_t bytes, void*, void* handle) {
  return cuMemAllocAsync(out, bytes, handle);
}
namespace {
int allocate_now(u64* out, size_t bytes, bool host) {
  return call(CONTEXT | NO_CAPTURE, [=] {
    int code = memory.allocate(out, bytes, host);
    if (!code) memory.begin_life(*out);
    return code;
  });
}
int free_now(u64 at, bool host) {
  return at_once([=]() -> int {
    if (!at) return OK;
    int code = memory.release(at, host);
    if (!code) memory.end_life(at);
    return code;
  });
}
}  // namespace
CUSIM_API int cuMemAlloc_v2(u64* out, size_t bytes) { return allocate_now(out, bytes, false); }
CUSIM_API int cuMemFree_v2(u64 at) { return free_now(at, false); }
CUSIM_API int cuMemHostAlloc(void** out, size_t bytes, u32) {
  u64 at = 0;
  int code = allocate_now(&at, bytes, true);
  *out = pointer(at);
  return code;
}
CUSIM_API int cuMemAllocHost_v2(void** out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }
CUSIM_API int cuMemFreeHost(void* at) { return free_now(u64(at), true); }
CUSIM_API int cuMemHostGetDevicePointer_v2(u64* out, void* at, u32) {
  return call(CONTEXT, [=]() -> int { *out = u64(at); return memory.room(u64(at)) ? OK : INVALID_VALUE; });
}
CUSIM_API int cuMemGetInfo_v2(size_t* free, size_t* total) {
  return call(CONTEXT, [=] {
    *total = options.memory;
    *free = options.memory - std::min(options.memory, memory.in_use);
    return OK;
  });
}
CUSIM_API int cuMemGetAddressRange_v2(u64* base, size_t* bytes, u64 at) {
  return call(CONTEXT, [=]() -> int {
    if (!memory.room(at)) return NOT_FOUND;
    const Allocation* found = memory.find(at);
    *base = found->base, *bytes = found->bytes;
    return OK;
  });
}

// ------------------------------------------------------------------------------------------------------------ pools
CUSIM_API int cuDeviceGetDefaultMemPool(void** out, int) {
  return call(INIT, [=] { *out = &the_pool; return OK; });
}
CUSIM_API int cuDeviceGetMemPool(void** out, int device) { return cuDeviceGetDefaultMemPool(out, device); }
CUSIM_API int cuDeviceSetMemPool(int, void*) { return call(INIT, [] { return OK; }); }
namespace {
u64 release_threshold;
enum { THRESHOLD = 4, RESERVED_NOW = 5, RESERVED_HIGH, USED_NOW, USED_HIGH };
int pool_attribute(void* pool, int attribute, const std::function<void(u64*)>& with_wide, const std::function<void(int*)>& with_flag) {
  static int flags[4] = {0, 1, 1, 1};  // 1, 2, 3: which memory may be used again
  if (pool != &the_pool) return INVALID_HANDLE;
  u64 used[] = {memory.in_use, memory.high, memory.in_use, memory.high};
  if (attribute >= 1 && attribute <= 3) with_flag(&flags[attribute]);
  else if (attribute == THRESHOLD) with_wide(&release_threshold);
  else if (attribute >= RESERVED_NOW && attribute <= USED_HIGH) {
    with_wide(&used[attribute - RESERVED_NOW]);
    if (attribute == USED_HIGH || attribute == RESERVED_HIGH) memory.high = std::max(used[attribute - RESERVED_NOW], memory.in_use);
  } else return INVALID_VALUE;
  return OK;
}
}  // namespace
CUSIM_API int cuMemPoolSetAttribute(void* pool, int attribute, void* value) {
  return call(CONTEXT, [=] {
    return pool_attribute(pool, attribute, [=](u64* x) { memcpy(x, value, 8); }, [=](int* x) { memcpy(x, value, 4); });
  });
}
CUSIM_API int cuMemPoolGetAttribute(void* pool, int attribute, void* value) {
  return call(CONTEXT, [=] {
    return pool_attribute(pool, attribute, [=](u64* x) { memcpy(value, x, 8); }, [=](int* x) { memcpy(value, x, 4); });
  });
}
CUSIM_API int cuMemPoolTrimTo(void* pool, size_t) {
  return call(CONTEXT, [=]() -> int { return pool == &the_pool ? OK : INVALID_HANDLE; });
}

// ---------------------------------------------------------------------------------------------------------- copies
// A copy from pinned memory reads it when it runs; what is pageable was taken when the call returns. A capture
// remembers the address.
CUSIM_API int cuMemcpyHtoDAsync_v2(u64 to, const void* from, size_t bytes, void* handle) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (int code = refused("copy to the device", {{to, bytes}})) return code;
    if (pinned(from) || stream->capture) return enqueue(stream, [=] { return to_device(to, from, bytes); });
    auto first = static_cast<const char*>(from);
    auto taken = std::make_shared<std::vector<char>>(first, first + bytes);
    return enqueue(stream, [=] { return to_device(to, taken->data(), bytes); });
  });
}
// A copy to pinned memory is there once the stream was waited for; one to pageable memory when the call returns.
CUSIM_API int cuMemcpyDtoHAsync_v2(void* to, u64 from, size_t bytes, void* handle) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (int code = refused("copy to the host", {{from, bytes}})) return code;
    enqueue(stream, [=] { return to_host(to, from, bytes); });
    if (pinned(to) || stream->capture) return lost_code();
    drain(*stream);
    return lost_code();
  });
}
CUSIM_API int cuMemcpyHtoD_v2(u64 to, const void* from, size_t bytes) {
  return at_once([=] { return to_device(to, from, bytes); });
}
CUSIM_API int cuMemcpyDtoH_v2(void* to, u64 from, size_t bytes) {
  return at_once([=] { return to_host(to, from, bytes); });
}
CUSIM_API int cuMemcpyDtoDAsync_v2(u64 to, u64 from, size_t bytes, void* stream) {
  return checked(stream, "copy", {{to, bytes}, {from, bytes}}, [=] { return on_device(to, from, bytes); });
}
CUSIM_API int cuMemcpyDtoD_v2(u64 to, u64 from, size_t bytes) {
  return at_once([=] { return on_device(to, from, bytes); });
}
CUSIM_API int cuMemcpyPeerAsync(u64 to, void*, u64 from, void*, size_t bytes, void* stream) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
CUSIM_API int cuMemsetD8Async(u64 to, u8 value, size_t count, void* stream) {
  return checked(stream, "fill", {{to, count}}, [=] { return fill(to, value, count); });
}
CUSIM_API int cuMemsetD32Async(u64 to, u32 value, size_t count, void* stream) {
  if (to % 4) return INVALID_VALUE;
  return checked(stream, "fill", {{to, count * 4}}, [=] { return fill(to, value, count); });
}
namespace {
struct FillNode { u64 to; size_t pitch; u32 value, size; size_t width, height; };  // as cuda.h lays it out
}  // namespace
CUSIM_API int cuGraphAddMemsetNode(Node** out, Graph* graph, Node* const* after, size_t count, const FillNode* p, void*) {
  return call(CONTEXT, [=, p = *p]() -> int {
    if (p.size != 1 || p.height != 1) return NOT_SUPPORTED;
    if (!p.width || p.value > 255) return INVALID_VALUE;
    if (int code = refused("fill", {{p.to, p.width}})) return code;
    return add_node(out, graph, after, count, nullptr, [=] { return fill(p.to, u8(p.value), p.width); });
  });
}
CUSIM_API int cuMemsetD8_v2(u64 to, u8 value, size_t count) {
  return at_once([=] { return fill(to, value, count); });
}
CUSIM_API int cuMemsetD32_v2(u64 to, u32 value, size_t count) {
  return at_once([=] { return fill(to, value, count); });
}

// What cudarc can name and this driver does not do: said so, instead of a missing symbol.
#define NOT_HERE(name) \
  CUSIM_API int name() { return call(NOTHING, [] { return NOT_SUPPORTED; }); }
NOT_HERE(cuMemAllocManaged) NOT_HERE(cuMemPrefetchAsync_v2) NOT_HERE(cuMemAdvise_v2) NOT_HERE(cuStreamAttachMemAsync)
NOT_HERE(cuMemPoolCreate) NOT_HERE(cuMemPoolDestroy) NOT_HERE(cuMemHostRegister_v2) NOT_HERE(cuMemHostUnregister)
NOT_HERE(cuModuleLoad) NOT_HERE(cuCtxCreate_v3) NOT_HERE(cuCtxCreate_v4) NOT_HERE(cuCtxDestroy_v2)
NOT_HERE(cuImportExternalMemory) NOT_HERE(cuDestroyExternalMemory) NOT_HERE(cuExternalMemoryGetMappedBuffer)
NOT_HERE(cuOccupancyMaxPotentialClusterSize) NOT_HERE(cuOccupancyMaxActiveClusters) NOT_HERE(cuProfilerStart)
NOT_HERE(cuProfilerStop) NOT_HERE(cuCtxSetCacheConfig) NOT_HERE(cuCtxGetCacheConfig)
