// CUDA's runtime as far as reproducers use it, over the driver: the tests build them with g++ and run them on the
// stand-in. The file compiles itself for the device.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

extern "C" {
int cuInit(unsigned);
int cuDeviceGet(int*, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuCtxSynchronize();
int cuMemAlloc_v2(unsigned long long*, size_t);
int cuMemFree_v2(unsigned long long);
int cuMemcpyDtoD_v2(unsigned long long, unsigned long long, size_t);
int cuMemsetD8_v2(unsigned long long, unsigned char, size_t);
int cuMemcpyHtoD_v2(unsigned long long, const void*, size_t);
int cuMemcpyDtoH_v2(void*, unsigned long long, size_t);
int cuModuleLoadData(void**, const void*);
int cuModuleGetFunction(void**, void*, const char*);
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**, void**);
int nvrtcCreateProgram(void**, const char*, const char*, int, const char* const*, const char* const*);
int nvrtcCompileProgram(void*, int, const char* const*);
int nvrtcGetCUBINSize(void*, size_t*);
int nvrtcGetCUBIN(void*, char*);
}

typedef int cudaError_t;
typedef struct Stream* cudaStream_t;
enum { cudaSuccess = 0, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
struct dim3 { unsigned x; dim3(unsigned n) : x(n) {} };

static void begin() {
  static bool begun = false;
  void* context = nullptr;
  if (begun) return;
  begun = true;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) exit(3);
}
static cudaError_t cudaMalloc(void** p, size_t n) { begin(); return cuMemAlloc_v2((unsigned long long*)p, n); }
static cudaError_t cudaFree(void* p) { return cuMemFree_v2((unsigned long long)p); }
static cudaError_t cudaMemcpy(void* to, const void* from, size_t n, int kind) {
  if (n == 0) return cudaSuccess;
  if (kind == cudaMemcpyDeviceToDevice) return cuMemcpyDtoD_v2((unsigned long long)to, (unsigned long long)from, n);
  return kind == cudaMemcpyHostToDevice ? cuMemcpyHtoD_v2((unsigned long long)to, from, n)
                                        : cuMemcpyDtoH_v2(to, (unsigned long long)from, n); }
static cudaError_t cudaMemset(void* p, int byte, size_t n) {
  return n ? cuMemsetD8_v2((unsigned long long)p, (unsigned char)byte, n) : cudaSuccess; }
// What is asked for in a stream is done at once.
static cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t n, int kind, cudaStream_t) {
  return cudaMemcpy(to, from, n, kind); }
static cudaError_t cudaMemsetAsync(void* p, int byte, size_t n, cudaStream_t) { return cudaMemset(p, byte, n); }
static cudaError_t cudaStreamSynchronize(cudaStream_t) { return cuCtxSynchronize(); }
static cudaError_t cudaDeviceSynchronize() { return cuCtxSynchronize(); }
static const char* cudaGetErrorString(cudaError_t) { return "an error of the stand-in"; }
static cudaError_t launch_by_name(const char* file, std::string name, dim3 grid, dim3 block, void** args) {
  static std::map<std::string, void*> modules;
  void*& module = modules[file];
  void *program = nullptr, *function = nullptr;
  if (!module) {
    std::ifstream in(file);
    std::stringstream text;
    text << "#define APLOMB_DEVICE_ONLY\n" << in.rdbuf();
    size_t size = 0;
    if (nvrtcCreateProgram(&program, text.str().c_str(), file, 0, nullptr, nullptr)) return 1;
    // As the texts ask for: × and + round apart.
    const char* options[] = {"--gpu-architecture=sm_90", "--fmad=false"};
    if (nvrtcCompileProgram(program, 2, options) || nvrtcGetCUBINSize(program, &size)) return 1;
    std::string binary(size, 0);
    if (nvrtcGetCUBIN(program, &binary[0]) || cuModuleLoadData(&module, binary.data())) return 1;
  }
  name = name.substr(name.rfind(')') + 1);
  if (cuModuleGetFunction(&function, module, name.c_str())) return 1;
  return cuLaunchKernel(function, grid.x, 1, 1, block.x, 1, 1, 0, nullptr, args, nullptr); }
#define cudaLaunchKernel(kernel, grid, block, args, shared, stream) launch_by_name(__FILE__, #kernel, grid, block, args)
