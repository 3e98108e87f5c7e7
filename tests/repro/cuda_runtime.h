// CUDA's runtime as far as reproducers use it, over the driver: the tests build them with g++ and run them on the
// stand-in. The file compiles itself for the device.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

extern "C" {
int cuInit(unsigned);
int cuDeviceGet(int*, int);
int cuDevicePrimaryCtxRetain(void**, int);
int cuCtxSetCurrent(void*);
int cuCtxSynchronize();
int cuMemAlloc_v2(unsigned long long*, size_t);
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
enum { cudaSuccess = 0, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
struct dim3 { unsigned x; dim3(unsigned n) : x(n) {} };

static void begin() {
  static bool begun = false;
  void* context = nullptr;
  if (begun) return;
  begun = true;
  if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) exit(3);
}
static cudaError_t cudaMalloc(void** p, size_t n) { begin(); return cuMemAlloc_v2((unsigned long long*)p, n); }
static cudaError_t cudaMemcpy(void* to, const void* from, size_t n, int kind) {
  return kind == cudaMemcpyHostToDevice ? cuMemcpyHtoD_v2((unsigned long long)to, from, n)
                                        : cuMemcpyDtoH_v2(to, (unsigned long long)from, n); }
static cudaError_t cudaMemset(void* p, int byte, size_t n) {
  return cuMemsetD8_v2((unsigned long long)p, (unsigned char)byte, n); }
static cudaError_t cudaDeviceSynchronize() { return cuCtxSynchronize(); }
static const char* cudaGetErrorString(cudaError_t) { return "an error of the stand-in"; }
static cudaError_t launch_by_name(const char* file, std::string name, dim3 grid, dim3 block, void** args) {
  std::ifstream in(file);
  std::stringstream text;
  text << "#define APLOMB_DEVICE_ONLY\n" << in.rdbuf();
  void *program = nullptr, *module = nullptr, *function = nullptr;
  size_t size = 0;
  if (nvrtcCreateProgram(&program, text.str().c_str(), file, 0, nullptr, nullptr)) return 1;
  const char* option = "--gpu-architecture=sm_90";
  if (nvrtcCompileProgram(program, 1, &option) || nvrtcGetCUBINSize(program, &size)) return 1;
  std::string binary(size, 0);
  if (nvrtcGetCUBIN(program, &binary[0]) || cuModuleLoadData(&module, binary.data())) return 1;
  name = name.substr(name.rfind(')') + 1);
  if (cuModuleGetFunction(&function, module, name.c_str())) return 1;
  return cuLaunchKernel(function, grid.x, 1, 1, block.x, 1, 1, 0, nullptr, args, nullptr); }
#define cudaLaunchKernel(kernel, grid, block, args, shared, stream) launch_by_name(__FILE__, #kernel, grid, block, args)
