//! The parts of CUDA files that are the same for all functions.

/// The header.
pub const HEADER: &str = r#"// Functions of {from}, written by `aplomb export`.
//
// aplomb_NAME takes views of arrays on the device, rows one after the other, and memory of so many
// bytes as aplomb_NAME_workspace says; aplomb_NAME_results says types and extents of what it gives.
// It waits for the stream and gives 0 or a code; aplomb_NAME_says has a sentence for each. NAME
// does all that in C++ and throws what went wrong.
#ifndef {guard}_CUH
#define {guard}_CUH
#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>
#ifndef APLOMB_VIEWS
#define APLOMB_VIEWS
enum { APLOMB_F64, APLOMB_F32, APLOMB_I32, APLOMB_I16, APLOMB_I8, APLOMB_BOOL };
enum {
  APLOMB_EXTENTS = 1,  // an extent for which a function is not
  APLOMB_WORK = 2,     // no memory to work in
  APLOMB_SHAPE = 3,    // extents that do not fit each other
  APLOMB_TYPE = 4,     // another type, rank or count of arrays, or items that do not lie together
  APLOMB_DEVICE = 5,   // an error of the device: cudaGetLastError tells it
  APLOMB_VALUE = 16    // and above: a value without a result
};
typedef struct {
  void* data;
  int dtype, rank;
  int64_t dim[15], stride[15];
} aplomb_view;
#ifdef __cplusplus
#include <initializer_list>
#include <type_traits>
template <class T> struct aplomb_dtype;
template <> struct aplomb_dtype<double> { enum { is = APLOMB_F64 }; };
template <> struct aplomb_dtype<float> { enum { is = APLOMB_F32 }; };
template <> struct aplomb_dtype<int32_t> { enum { is = APLOMB_I32 }; };
template <> struct aplomb_dtype<int16_t> { enum { is = APLOMB_I16 }; };
template <> struct aplomb_dtype<int8_t> { enum { is = APLOMB_I8 }; };
template <> struct aplomb_dtype<uint8_t> { enum { is = APLOMB_BOOL }; };
// An array on the device, rows one after the other.
template <class T> struct gpu_array_of {
  T* data;
  int rank;
  int64_t dim[15];
  gpu_array_of(T* at, std::initializer_list<int64_t> extents) : data(at), rank(0), dim() {
    for (int64_t n : extents) dim[rank++] = n; }
  aplomb_view view() const {
    typedef typename std::remove_const<T>::type item;
    aplomb_view v = {(void*)data, aplomb_dtype<item>::is, rank, {}, {}};
    int64_t step = 1;
    for (int k = rank; k-- > 0;) { v.dim[k] = dim[k]; v.stride[k] = step; step *= dim[k]; }
    return v; }
};
typedef gpu_array_of<const double> gpu_double_array;
typedef gpu_array_of<double> gpu_double_array_view;
typedef gpu_array_of<const float> gpu_float_array;
typedef gpu_array_of<float> gpu_float_array_view;
typedef gpu_array_of<const int32_t> gpu_int_array;
typedef gpu_array_of<int32_t> gpu_int_array_view;
typedef gpu_array_of<const int16_t> gpu_i16_array;
typedef gpu_array_of<int16_t> gpu_i16_array_view;
typedef gpu_array_of<const int8_t> gpu_i8_array;
typedef gpu_array_of<int8_t> gpu_i8_array_view;
typedef gpu_array_of<const uint8_t> gpu_bool_array;
typedef gpu_array_of<uint8_t> gpu_bool_array_view;
#endif
#endif
#ifdef __cplusplus
extern "C" {
#endif
// Of the last value without a result: its place among the operations that may have none, and in
// its array.
int {stem}_last_error(int* site, int64_t* element);
#ifdef __cplusplus
}
#endif
{heads}
#endif
"#;

/// The part of a header that declares a function.
pub const DECLARED: &str = r#"
{about}#ifdef __cplusplus
extern "C" {
#endif
int64_t aplomb_{name}_workspace(const aplomb_view* in, int ins);
int aplomb_{name}_results(const aplomb_view* in, int ins, aplomb_view* out, int outs);
int aplomb_{name}(const aplomb_view* in, int ins, aplomb_view* out, int outs, void* work,
                  cudaStream_t stream);
const char* aplomb_{name}_says(int code);
#ifdef __cplusplus
}
void {name}({views}, cudaStream_t stream = 0);
#endif
"#;

/// The text.
pub const TEXT: &str = r#"// Functions of {from}, written by `aplomb export`.
// nvcc -fmad=false -c {stem}.cu: × and + round apart, as they do in the interpreter.
{device}
#ifndef APLOMB_DEVICE_ONLY
#include "{stem}.cuh"
#include <stdexcept>
#include <string>
namespace {
const u32 MOST_BLOCKS = 1024;
inline size_t room(size_t bytes) { return (bytes + 255) / 256 * 256; }
inline void* taken(char** left, size_t bytes) {
  void* own = *left; *left += room(bytes); return own; }
inline u32 blocks_of(i64 points, i64 each) {
  i64 all = (points + each - 1) / each;
  return all < 1 ? 1 : all > MOST_BLOCKS ? MOST_BLOCKS : (u32)all; }
inline u32 runs_of(i64 points, i64 each) {
  i64 all = (points + each - 1) / each;
  return all < 1 ? 1 : (u32)all; }
// Whether a view is of a type and a rank, its items together.
inline bool alike(const aplomb_view& v, int dtype, int rank) {
  i64 step = 1;
  bool dense = true;
  if (v.dtype != dtype || v.rank != rank) return false;
  for (int k = rank; k-- > 0;) {
    dense = dense && (v.dim[k] < 2 || v.stride[k] == step);
    step *= v.dim[k]; }
  return dense; }
inline void shaped(aplomb_view* v, int dtype, int rank, const i64* dim) {
  i64 step = 1;
  v->dtype = dtype; v->rank = rank;
  for (int k = rank; k-- > 0;) { v->dim[k] = dim[k]; v->stride[k] = step; step *= dim[k]; } }
inline bool same(const aplomb_view& x, const aplomb_view& y) {
  if (!alike(x, y.dtype, y.rank)) return false;
  for (int k = 0; k < x.rank; k++) if (x.dim[k] != y.dim[k]) return false;
  return true; }
thread_local int last_site = -1;
thread_local int64_t last_element = -1;
// Waits for the launches; the least failing place of all of them.
inline int finished(const u64* err, int launches, const int* const* sites, cudaStream_t stream) {
  std::string words((size_t)launches * 16, 0);
  int bad = cudaMemcpyAsync(&words[0], err, words.size(), cudaMemcpyDeviceToHost, stream);
  if (bad) return APLOMB_DEVICE;
  if (cudaStreamSynchronize(stream)) return APLOMB_DEVICE;
  last_site = -1;
  for (int k = 0; k < launches; k++) {
    u64 own = ((const u64*)words.data())[2 * k];
    if (own == ~0ull) continue;
    int site = sites[k][own >> 48];
    int64_t element = (int64_t)(own & 0xffffffffffffull);
    if (last_site < 0 || site < last_site || (site == last_site && element < last_element)) {
      last_site = site; last_element = element; } }
  return last_site < 0 ? 0 : APLOMB_VALUE + last_site; }
}
extern "C" int {stem}_last_error(int* site, int64_t* element) {
  if (site) *site = last_site;
  if (element) *element = last_element;
  return last_site < 0 ? 0 : APLOMB_VALUE + last_site; }
{hosts}#endif
"#;

/// The host's part of a function.
pub const FUNCTION: &str = r#"
{about}static int {name}_read(const aplomb_view* in, int ins{by_reference}) {
  if (ins != {ins}) return APLOMB_TYPE;
{read}  return 0; }
// The extents for which it is.
static bool {name}_fits({by_value}) {
{unused_fits}  return {fits}; }
static size_t {name}_bytes({by_value}) {
  size_t all = room({launches} * 16);
{unused_memory}{memory}  return all; }
extern "C" int64_t aplomb_{name}_workspace(const aplomb_view* in, int ins) {
{declared}  if ({name}_read(in, ins{asked}) || !{name}_fits({values})) return -1;
  return (int64_t){name}_bytes({values}); }
extern "C" int aplomb_{name}_results(const aplomb_view* in, int ins, aplomb_view* out, int outs) {
{declared}  int bad = {name}_read(in, ins{asked});
  if (bad) return bad;
  if (!{name}_fits({values})) return APLOMB_EXTENTS;
  if (outs != {outs}) return APLOMB_TYPE;
{shapes}  return 0; }
extern "C" int aplomb_{name}(const aplomb_view* in, int ins, aplomb_view* out, int outs, void* work,
                             cudaStream_t stream) {
{declared}  aplomb_view wanted[{outs}];
  int bad = {name}_read(in, ins{asked});
  if (!bad) bad = aplomb_{name}_results(in, ins, wanted, outs);
  if (bad) return bad;
  for (int k = 0; k < {outs}; k++) if (!same(out[k], wanted[k])) return APLOMB_SHAPE;
  if (!work) return APLOMB_WORK;
{given}{results}{unused}  char* left = (char*)work;
  u64* err = (u64*)taken(&left, {launches} * 16);
  if (cudaMemsetAsync(err, 0xff, {launches} * 16, stream)) return APLOMB_DEVICE;
{body}{sites}  static const int* const sites[] = { {site_list} };
  return finished(err, {count}, sites, stream); }
{says}void {name}({views}, cudaStream_t stream) {
  const aplomb_view in[] = { {ins_of} };
  aplomb_view out[] = { {outs_of} };
  void* work = 0;
  int64_t bytes = aplomb_{name}_workspace(in, {ins});
  int code = bytes < 0 ? aplomb_{name}_results(in, {ins}, out, {outs}) : 0;
  if (!code && cudaMalloc(&work, (size_t)bytes)) code = APLOMB_DEVICE;
  if (!code) code = aplomb_{name}(in, {ins}, out, {outs}, work, stream);
  if (work) cudaFree(work);
  if (code) throw std::runtime_error(aplomb_{name}_says(code)); }
"#;

/// Codes that only this language has, with their sentences.
pub const CODES: &[(&str, &str)] = &[
    ("APLOMB_SHAPE", "extents that do not fit each other"),
    ("APLOMB_TYPE", "another type, rank or count of arrays, or items that do not lie together"),
    ("APLOMB_DEVICE", "an error of the device: cudaGetLastError tells it"),
];

/// The sample project.
pub const CMAKE: &str = r#"# A library of the functions of {from}; its header is {stem}.cuh.
# cmake -S . -B build, where a GPU is; elsewhere with -DCMAKE_CUDA_ARCHITECTURES=90 or another.
cmake_minimum_required(VERSION 3.24)
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
  set(CMAKE_CUDA_ARCHITECTURES native)
endif()
project({stem} LANGUAGES CXX CUDA)
add_library({stem} {stem}.cu)
target_include_directories({stem} PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
set_target_properties({stem} PROPERTIES CUDA_STANDARD 17)
# The interpreter rounds × and + apart.
target_compile_options({stem} PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false>)
"#;
