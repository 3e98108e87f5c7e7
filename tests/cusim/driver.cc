// Devices, contexts, handles, and what every call has in common: it is counted, may be made to fail, and answers the
// error of a lost context. One lock keeps callers apart.
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include "sim.h"

namespace cusim {
static std::recursive_mutex lock;
static bool initialised, alive;   // `alive`: the primary context is retained and was not reset since
static u64 retained;
static int lost;                  // the sticky code of a lost context
static char primary;              // its address is the handle
static thread_local void* current;
static std::map<Stream*, std::thread::id> capturing;  // streams that record, and for which thread

void lose_context(int code) {
  if (!lost) lost = code;
}
int lost_code() { return lost; }

// One exported function. A code that is made up by CUSIM_FAIL_CALL comes before any effect.
int call(int need, const std::function<int()>& body) {
  std::lock_guard<std::recursive_mutex> hold(lock);
  read_environment();
  u64 calls = ++counters.calls;
  if (options.lost_at && calls >= options.lost_at && alive) lose_context(LAUNCH_FAILED), options.lost_at = 0;
  if (calls == options.fail_call) {
    int code = int(options.fail_code);
    if (is_sticky(code)) lose_context(code);
    return code;
  }
  if (need & (INIT | CONTEXT) && !initialised) return NOT_INITIALIZED;
  if (need & CONTEXT) {
    if (!current) return INVALID_CONTEXT;
    if (!alive) return CONTEXT_IS_DESTROYED;
    if (lost) return lost;
  }
  if (need & NO_CAPTURE) {
    bool spoilt = false;
    for (auto& [stream, thread] : capturing)
      if (thread == std::this_thread::get_id()) stream->invalid = spoilt = true;
    if (spoilt) return CAPTURE_UNSUPPORTED;
  }
  return body();
}

// --------------------------------------------------------------------------------------------------------- handles
struct Handle { int kind; std::function<void()> drop; };
static std::map<const void*, Handle> handles;

void add_handle(void* handle, int kind, std::function<void()> drop) { handles[handle] = {kind, std::move(drop)}; }
bool is_handle(const void* handle, int kind) {
  auto found = handles.find(handle);
  return found != handles.end() && found->second.kind == kind;
}
int drop_handle(const void* handle, int kind) {
  if (!is_handle(handle, kind)) return INVALID_HANDLE;
  auto drop = std::move(handles[handle].drop);
  handles.erase(handle);
  drop();
  return OK;
}

void capture_begins(Stream* stream) { capturing[stream] = std::this_thread::get_id(); }
void capture_ends(Stream* stream) { capturing.erase(stream); }

static void reset_context() {
  alive = false;
  lost = OK;
  capturing.clear();
  forget_work();
  while (!handles.empty()) drop_handle(handles.begin()->first, handles.begin()->second.kind);
  memory.release_all();
}

// ------------------------------------------------------------------------------------------------------ the device
struct Attribute { int number, value; };
// What an H200 answers (compute capability 9.0, 132 multiprocessors).
static const Attribute ATTRIBUTES[] = {
    {1, 1024},                            // threads of a block
    {2, 1024}, {3, 1024}, {4, 64},        // block x, y, z
    {5, 2147483647}, {6, 65535}, {7, 65535},  // grid x, y, z
    {8, 49152},                           // shared bytes of a block
    {9, 65536},                           // constant bytes
    {10, 32},                             // warp
    {12, 65536}, {82, 65536},             // registers of a block, of a multiprocessor
    {13, 1980000},                        // clock, kHz
    {16, 132},                            // multiprocessors
    {36, 3201000}, {37, 6144},            // memory clock, kHz; bus, bits
    {38, 62914560},                       // L2 bytes
    {39, 2048},                           // threads of a multiprocessor
    {41, 1},                              // unified addressing
    {75, 9}, {76, 0},                     // compute capability
    {81, 233472}, {97, 232448},           // shared bytes of a multiprocessor, of a block by request
    {95, 1},                              // cooperative launch
    {106, 32},                            // blocks of a multiprocessor
    {111, 1024},                          // shared bytes reserved for the system
    {115, 1},                             // memory pools
};
}  // namespace cusim

using namespace cusim;

CUSIM_API int cuInit(u32 flags) {
  return call(NOTHING, [=]() -> int {
    if (flags) return INVALID_VALUE;
    if (options.no_device) return NO_DEVICE;
    memory.open();
    initialised = true;
    return OK;
  });
}
CUSIM_API int cuDriverGetVersion(int* out) {
  return call(NOTHING, [=] { *out = int(options.driver); return OK; });
}
CUSIM_API int cuDeviceGetCount(int* out) {
  return call(INIT, [=] { *out = 1; return OK; });
}
CUSIM_API int cuDeviceGet(int* out, int ordinal) {
  return call(INIT, [=]() -> int { *out = 0; return ordinal == 0 ? OK : INVALID_DEVICE; });
}
CUSIM_API int cuDeviceGetName(char* out, int bytes, int device) {
  return call(INIT, [=]() -> int { snprintf(out, size_t(bytes), "cusim"); return device == 0 ? OK : INVALID_DEVICE; });
}
CUSIM_API int cuDeviceTotalMem_v2(size_t* out, int device) {
  return call(INIT, [=]() -> int { *out = options.memory; return device == 0 ? OK : INVALID_DEVICE; });
}
CUSIM_API int cuDeviceGetUuid_v2(void* out, int device) {
  return call(INIT, [=]() -> int { memcpy(out, "cusim\0\0\0\0\0\0\0\0\0\0", 16); return device == 0 ? OK : INVALID_DEVICE; });
}
CUSIM_API int cuDeviceGetUuid(void* out, int device) { return cuDeviceGetUuid_v2(out, device); }
CUSIM_API int cuDeviceGetAttribute(int* out, int attribute, int device) {
  return call(INIT, [=]() -> int {
    if (device) return INVALID_DEVICE;
    *out = 0;
    for (const Attribute& each : ATTRIBUTES)
      if (each.number == attribute) *out = each.value;
    return OK;
  });
}
CUSIM_API int cuDeviceComputeCapability(int* major, int* minor, int device) {
  return call(INIT, [=]() -> int { *major = 9, *minor = 0; return device == 0 ? OK : INVALID_DEVICE; });
}

// -------------------------------------------------------------------------------------------------------- contexts
CUSIM_API int cuDevicePrimaryCtxRetain(void** out, int device) {
  return call(INIT, [=]() -> int {
    if (device) return INVALID_DEVICE;
    if (lost && alive) return lost;
    retained++;
    alive = true;
    *out = &primary;
    return OK;
  });
}
CUSIM_API int cuDevicePrimaryCtxRelease_v2(int) {
  return call(INIT, []() -> int {
    if (!retained) return INVALID_CONTEXT;
    if (--retained == 0) reset_context();
    return OK;
  });
}
CUSIM_API int cuDevicePrimaryCtxReset_v2(int device) {
  return call(INIT, [=]() -> int { reset_context(); return device == 0 ? OK : INVALID_DEVICE; });
}
CUSIM_API int cuDevicePrimaryCtxGetState(int device, u32* flags, int* active) {
  return call(INIT, [=]() -> int { *flags = 0, *active = alive; return device == 0 ? OK : INVALID_DEVICE; });
}
CUSIM_API int cuCtxSetCurrent(void* context) {
  return call(INIT, [=]() -> int {
    if (context && context != &primary) return INVALID_CONTEXT;
    current = context;
    return OK;
  });
}
CUSIM_API int cuCtxGetCurrent(void** out) {
  return call(INIT, [=] { *out = current; return OK; });
}
CUSIM_API int cuCtxPushCurrent_v2(void* context) { return cuCtxSetCurrent(context); }
CUSIM_API int cuCtxPopCurrent_v2(void** out) {
  return call(INIT, [=] { *out = current, current = nullptr; return OK; });
}
CUSIM_API int cuCtxGetDevice(int* out) {
  return call(CONTEXT, [=] { *out = 0; return OK; });
}
CUSIM_API int cuCtxSetFlags(u32) { return call(CONTEXT, [] { return OK; }); }
CUSIM_API int cuCtxGetLimit(size_t* out, int) {
  return call(CONTEXT, [=] { *out = 0; return OK; });
}
CUSIM_API int cuCtxSetLimit(int, size_t) { return call(CONTEXT, [] { return OK; }); }
CUSIM_API int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return call(CONTEXT, [=] { *least = 0, *greatest = -5; return OK; });
}
