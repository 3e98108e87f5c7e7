// The driver's part of libraries that bring their own kernels (library.h).
#include <cstring>
#include "library.h"
#include "sim.h"

using namespace cusim;

CUSIM_API int cusim_library_work(void* handle, int (*run)(void*), void (*drop)(void*), void* data) {
  std::shared_ptr<void> held(data, drop);
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    return enqueue(stream, [=] { return run(held.get()); });
  });
}

CUSIM_API int cusim_library_touch(const char* argument, const void* at, size_t lines, size_t bytes, size_t apart, int writes) {
  for (size_t k = 0; k < lines; k++) {
    auto line = static_cast<const char*>(at) + k * apart;
    if (!memory.owns(line) || memory.room(u64(line)) < bytes) {
      say(std::string("cusim: out of bounds: ") + (writes ? "write" : "read") + " of " + argument + ", line " +
          std::to_string(k) + ", " + place_of(line, bytes));
      return ILLEGAL_ADDRESS;
    }
    u8* written = memory.written + (line - memory.arena);
    if (writes) memset(written, 1, bytes);
    else if (auto bad = static_cast<u8*>(memchr(written, 0, bytes))) {
      say(std::string("cusim: uninitialised: read of ") + argument + ", " + place_of(line + (bad - written), 1) + ", which nobody wrote");
      return LAUNCH_FAILED;
    }
  }
  return OK;
}
