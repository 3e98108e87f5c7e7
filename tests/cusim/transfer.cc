// Allocation, pools, pinned memory, copies, fills and events.
#include <ctime>
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

int in_stream(void* handle, std::function<int()> work) {
  return call(CONTEXT, [&]() -> int {
    Stream* stream = find_stream(handle);
    return stream ? enqueue(stream, std::move(work)) : int(INVALID_HANDLE);
  });
}
int at_once(std::function<int()> work) { return call(CONTEXT | NO_CAPTURE, work); }
char the_pool;
}  // namespace

// ------------------------------------------------------------------------------------------------------- allocation
CUSIM_API int cuMemAllocAsync(u64* out, size_t bytes, void* handle) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    int code = memory.allocate(out, bytes, false);
    if (code || !stream->capture) return code;
    // The address is fixed now; each launch of the graph finds fresh memory there.
    u64 at = *out;
    stream->capture->allocations.push_back(at);
    return enqueue(stream, [=] { memory.revive(at); return OK; });
  });
}
CUSIM_API int cuMemFreeAsync(u64 at, void* handle) {
  return in_stream(handle, [=]() -> int { return at ? memory.release(at, false) : int(OK); });
}
CUSIM_API int cuMemAllocFromPoolAsync(u64* out, size_t bytes, void*, void* handle) {
  return cuMemAllocAsync(out, bytes, handle);
}
CUSIM_API int cuMemAlloc_v2(u64* out, size_t bytes) {
  return at_once([=] { return memory.allocate(out, bytes, false); });
}
CUSIM_API int cuMemFree_v2(u64 at) {
  return at_once([=]() -> int { return at ? memory.release(at, false) : int(OK); });
}
CUSIM_API int cuMemHostAlloc(void** out, size_t bytes, u32) {
  return at_once([=] {
    u64 at = 0;
    int code = memory.allocate(&at, bytes, true);
    *out = pointer(at);
    return code;
  });
}
CUSIM_API int cuMemAllocHost_v2(void** out, size_t bytes) { return cuMemHostAlloc(out, bytes, 0); }
CUSIM_API int cuMemFreeHost(void* at) {
  return at_once([=] { return memory.release(u64(at), true); });
}
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
CUSIM_API int cuMemcpyHtoDAsync_v2(u64 to, const void* from, size_t bytes, void* stream) {
  return in_stream(stream, [=] { return to_device(to, from, bytes); });
}
CUSIM_API int cuMemcpyHtoD_v2(u64 to, const void* from, size_t bytes) {
  return at_once([=] { return to_device(to, from, bytes); });
}
CUSIM_API int cuMemcpyDtoHAsync_v2(void* to, u64 from, size_t bytes, void* stream) {
  return in_stream(stream, [=] { return to_host(to, from, bytes); });
}
CUSIM_API int cuMemcpyDtoH_v2(void* to, u64 from, size_t bytes) {
  return at_once([=] { return to_host(to, from, bytes); });
}
CUSIM_API int cuMemcpyDtoDAsync_v2(u64 to, u64 from, size_t bytes, void* stream) {
  return in_stream(stream, [=] { return on_device(to, from, bytes); });
}
CUSIM_API int cuMemcpyDtoD_v2(u64 to, u64 from, size_t bytes) {
  return at_once([=] { return on_device(to, from, bytes); });
}
CUSIM_API int cuMemcpyPeerAsync(u64 to, void*, u64 from, void*, size_t bytes, void* stream) {
  return cuMemcpyDtoDAsync_v2(to, from, bytes, stream);
}
CUSIM_API int cuMemsetD8Async(u64 to, u8 value, size_t count, void* stream) {
  return in_stream(stream, [=] { return fill(to, value, count); });
}
CUSIM_API int cuMemsetD32Async(u64 to, u32 value, size_t count, void* stream) {
  return in_stream(stream, [=] { return fill(to, value, count); });
}
CUSIM_API int cuMemsetD8_v2(u64 to, u8 value, size_t count) {
  return at_once([=] { return fill(to, value, count); });
}
CUSIM_API int cuMemsetD32_v2(u64 to, u32 value, size_t count) {
  return at_once([=] { return fill(to, value, count); });
}

// ---------------------------------------------------------------------------------------------------------- events
namespace {
struct Event { u64 time = 0; bool timed = true; };
u64 nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return u64(now.tv_sec) * 1000000000 + u64(now.tv_nsec);
}
int with_event(Event* event, int need, const std::function<int()>& body) {
  return call(CONTEXT | need, [&]() -> int { return is_handle(event, EVENT) ? body() : int(INVALID_HANDLE); });
}
}  // namespace
CUSIM_API int cuEventCreate(Event** out, u32 flags) {
  return call(CONTEXT, [=] {
    auto made = new Event;
    made->timed = !(flags & 2);
    add_handle(made, EVENT, [=] { delete made; });
    *out = made;
    return OK;
  });
}
CUSIM_API int cuEventDestroy_v2(Event* event) {
  return call(CONTEXT, [=] { return drop_handle(event, EVENT); });
}
CUSIM_API int cuEventRecord(Event* event, void* handle) {
  return with_event(event, 0, [=]() -> int {
    Stream* stream = find_stream(handle);
    return stream ? enqueue(stream, [=] { event->time = nanoseconds(); return OK; }) : int(INVALID_HANDLE);
  });
}
CUSIM_API int cuEventQuery(Event* event) {
  return with_event(event, NO_CAPTURE, [] { return OK; });
}
CUSIM_API int cuEventSynchronize(Event* event) {
  return with_event(event, NO_CAPTURE, [] { return OK; });
}
CUSIM_API int cuEventElapsedTime_v2(float* out, Event* from, Event* to) {
  return with_event(from, 0, [=]() -> int {
    if (!is_handle(to, EVENT) || !from->timed || !to->timed || !from->time || !to->time) return INVALID_HANDLE;
    *out = float(double(to->time - from->time) * 1e-6);
    return OK;
  });
}
CUSIM_API int cuEventElapsedTime(float* out, Event* from, Event* to) { return cuEventElapsedTime_v2(out, from, to); }

// What cudarc can name and this driver does not do: said so, instead of a missing symbol.
#define NOT_HERE(name) \
  CUSIM_API int name() { return call(NOTHING, [] { return NOT_SUPPORTED; }); }
NOT_HERE(cuMemAllocManaged) NOT_HERE(cuMemPrefetchAsync_v2) NOT_HERE(cuMemAdvise_v2) NOT_HERE(cuStreamAttachMemAsync)
NOT_HERE(cuMemPoolCreate) NOT_HERE(cuMemPoolDestroy) NOT_HERE(cuMemHostRegister_v2) NOT_HERE(cuMemHostUnregister)
NOT_HERE(cuModuleLoad) NOT_HERE(cuCtxCreate_v3) NOT_HERE(cuCtxCreate_v4) NOT_HERE(cuCtxDestroy_v2)
NOT_HERE(cuImportExternalMemory) NOT_HERE(cuDestroyExternalMemory) NOT_HERE(cuExternalMemoryGetMappedBuffer)
NOT_HERE(cuOccupancyMaxPotentialClusterSize) NOT_HERE(cuOccupancyMaxActiveClusters) NOT_HERE(cuProfilerStart)
NOT_HERE(cuProfilerStop) NOT_HERE(cuCtxSetCacheConfig) NOT_HERE(cuCtxGetCacheConfig)
