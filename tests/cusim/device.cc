// The selftest's device: see selftest.h.
#include <dlfcn.h>
#include "selftest.h"

void* Device::symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) throw Failed{-1, std::string("no symbol ") + name};
  return found;
}

Device::Device(const std::string& at) : folder(at) {
  cuda = dlopen((folder + "/libcuda.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
  nvrtc = dlopen((folder + "/libnvrtc.so.13").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!cuda || !nvrtc) throw Failed{-1, dlerror()};
  check(call<int(u32)>("cuInit")(0), "cuInit");
  open_context();
}

void Device::check(int code, const char* what) {
  if (!code) return;
  const char* name = nullptr;
  call<int(int, const char**)>("cuGetErrorName")(code, &name);
  throw Failed{code, std::string(what) + ": " + (name ? name : "?")};
}

void Device::open_context() {
  check(call<int(void**, int)>("cuDevicePrimaryCtxRetain")(&context, 0), "retain");
  make_current();
  check(call<int(void**, u32)>("cuStreamCreate")(&stream, 1), "stream");
}

void Device::make_current() { check(call<int(void*)>("cuCtxSetCurrent")(context), "set current"); }

void Device::restart() {
  check(call<int(int)>("cuDevicePrimaryCtxReset_v2")(0), "reset");
  allocated.clear();
  generation++;
  open_context();
}

std::string Device::compile(const std::string& text, const std::string& name, const char* arch) {
  void* p = nullptr;
  auto in = [&](const char* f) { return symbol(nvrtc, f); };
  using Create = int(void**, const char*, const char*, int, const char* const*, const char* const*);
  reinterpret_cast<Create*>(in("nvrtcCreateProgram"))(&p, text.c_str(), name.c_str(), 0, nullptr, nullptr);
  std::string architecture = std::string("--gpu-architecture=") + arch;
  const char* options[] = {architecture.c_str(), "--std=c++17", "--fmad=false", "-lineinfo"};
  int code = reinterpret_cast<int (*)(void*, int, const char* const*)>(in("nvrtcCompileProgram"))(p, 4, options);
  auto text_of = [&](const char* size, const char* get) {
    size_t bytes = 0;
    reinterpret_cast<int (*)(void*, size_t*)>(in(size))(p, &bytes);
    std::string out(bytes, 0);
    reinterpret_cast<int (*)(void*, char*)>(in(get))(p, out.data());
    return out;
  };
  std::string log = text_of("nvrtcGetProgramLogSize", "nvrtcGetProgramLog");
  std::string image = text_of("nvrtcGetCUBINSize", "nvrtcGetCUBIN");
  reinterpret_cast<int (*)(void**)>(in("nvrtcDestroyProgram"))(&p);
  if (code) throw Failed{code, name + " does not compile:\n" + log};
  return image;
}

u64 Device::allocate(u64 bytes) {
  if (!bytes) return 0;  // an empty array has no memory
  u64 at = 0;
  check(call<int(u64*, size_t, void*)>("cuMemAllocAsync")(&at, bytes, stream), "alloc");
  allocated.push_back(at);
  return at;
}
void Device::free_all() {
  for (u64 at : allocated) check(call<int(u64, void*)>("cuMemFreeAsync")(at, stream), "free");
  allocated.clear();
}
void Device::copy_up(u64 to, const void* from, u64 bytes) {
  if (bytes) check(call<int(u64, const void*, size_t, void*)>("cuMemcpyHtoDAsync_v2")(to, from, bytes, stream), "copy up");
}
void Device::copy_down(void* to, u64 from, u64 bytes) {
  check(call<int(void*)>("cuStreamSynchronize")(stream), "synchronize");
  if (bytes) check(call<int(void*, u64, size_t, void*)>("cuMemcpyDtoHAsync_v2")(to, from, bytes, stream), "copy down");
}
void Device::fill(u64 at, u8 byte, u64 bytes) {
  if (bytes) check(call<int(u64, u8, size_t, void*)>("cuMemsetD8Async")(at, byte, bytes, stream), "fill");
}
void Device::launch_at(Program& program, const char* kernel, Dim g, Dim b, void** arguments) {
  using Launch = int(void*, u32, u32, u32, u32, u32, u32, u32, void*, void**, void**);
  check(call<Launch>("cuLaunchKernel")(program.function(kernel), g.x, g.y, g.z, b.x, b.y, b.z, 0, stream, arguments, nullptr), kernel);
}

void Device::set(const char* option, const std::string& value) {
  if (!call<int(const char*, const char*)>("cusim_set")(option, value.c_str())) throw Failed{-1, std::string("no option ") + option};
}
std::string Device::last_report() {
  char text[2000] = "";
  call<void(char*, size_t)>("cusim_last_report")(text, sizeof text);
  call<void()>("cusim_forget_report")();
  return text;
}

void Device::begin_capture() { check(call<int(void*, int)>("cuStreamBeginCapture_v2")(stream, 1), "begin capture"); }
void* Device::end_capture() {
  void *graph = nullptr, *executable = nullptr;
  check(call<int(void*, void**)>("cuStreamEndCapture")(stream, &graph), "end capture");
  check(call<int(void**, void*, u64)>("cuGraphInstantiateWithFlags")(&executable, graph, 0), "instantiate");
  check(call<int(void*)>("cuGraphDestroy")(graph), "destroy graph");
  return executable;
}
void Device::launch_graph(void* graph) { check(call<int(void*, void*)>("cuGraphLaunch")(graph, stream), "launch graph"); }

Program::Program(Device& device, const std::string& text, const std::string& name)
    : image(device.compile(text, name)), device(device) {}
Program::~Program() {
  if (module && generation == device.generation) device.call<int(void*)>("cuModuleUnload")(module);
}
void* Program::function(const char* name) {
  if (!module || generation != device.generation) {
    functions.clear();
    device.check(device.call<int(void**, const void*)>("cuModuleLoadData")(&module, image.data()), "load");
    generation = device.generation;
  }
  void*& found = functions[name];
  if (!found) device.check(device.call<int(void**, void*, const char*)>("cuModuleGetFunction")(&found, module, name), name);
  return found;
}
