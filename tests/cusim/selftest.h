// A device as a program sees it: the libraries are opened by name, as cudarc does, and every call's code is looked at.
#pragma once
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

using u8 = uint8_t;
using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

struct Failed { int code; std::string what; };  // a call gave a code
struct Wrong { std::string what; };             // a value is not what plain loops give

struct Dim { u32 x = 1, y = 1, z = 1; };
template <class T> struct Buf { u64 at = 0; u64 count = 0; };

class Program;
class Device {
 public:
  explicit Device(const std::string& folder);
  // CUDA text to an image; a text that does not compile is Failed with the log.
  std::string compile(const std::string& text, const std::string& name, const char* arch = "sm_90");

  template <class T> Buf<T> fresh(u64 count) { return {allocate(count * sizeof(T)), count}; }
  template <class T> Buf<T> up(const std::vector<T>& from) {
    Buf<T> b = fresh<T>(from.size());
    copy_up(b.at, from.data(), from.size() * sizeof(T));
    return b;
  }
  template <class T> Buf<T> filled(u64 count, u8 byte) {
    Buf<T> b = fresh<T>(count);
    fill(b.at, byte, count * sizeof(T));
    return b;
  }
  template <class T> std::vector<T> down(Buf<T> b) {
    std::vector<T> out(b.count);
    copy_down(out.data(), b.at, b.count * sizeof(T));
    return out;
  }
  template <class... A> void launch(Program& program, const char* kernel, Dim grid, Dim block, A... arguments) {
    void* at[] = {raw(arguments)...};
    launch_at(program, kernel, grid, block, at);
  }

  void fill(u64 at, u8 byte, u64 bytes);
  void set(const char* option, const std::string& value);
  std::string last_report();
  void free_all();   // what the run of a case allocated
  void restart();    // after a fault: reset, retain, new stream
  void begin_capture();
  void* end_capture();         // an executable graph
  void launch_graph(void* graph);
  void check(int code, const char* what);
  void make_current();         // in another thread
  template <class F> F* call(const char* name) { return reinterpret_cast<F*>(symbol(cuda, name)); }
  void* stream = nullptr;
  const std::string folder;
  u64 generation = 0;  // counts restarts: modules of an older one are gone

 private:
  friend class Program;
  static void* symbol(void* library, const char* name);
  template <class T> static void* raw(T& x) { return &x; }
  template <class T> static void* raw(Buf<T>& b) { return &b.at; }
  u64 allocate(u64 bytes);
  void copy_up(u64 to, const void* from, u64 bytes);
  void copy_down(void* to, u64 from, u64 bytes);
  void launch_at(Program& program, const char* kernel, Dim grid, Dim block, void** arguments);
  void open_context();
  void* context = nullptr;
  void *cuda = nullptr, *nvrtc = nullptr;
  std::vector<u64> allocated;
};

// A compiled text; loaded again after a restart.
class Program {
 public:
  Program(Device& device, const std::string& text, const std::string& name);
  ~Program();
  void* function(const char* name);

  std::string image;

 private:
  Device& device;
  void* module = nullptr;
  u64 generation = 0;
  std::map<std::string, void*> functions;
};

// The stream's error word: ~0, or site<<48|element of the first failure.
struct ErrorWord {
  Buf<u64> at;
  explicit ErrorWord(Device& device) : at(device.filled<u64>(1, 0xff)) {}
};

// Numbers that repeat: a test has one input for each size.
struct Dice {
  u64 state;
  explicit Dice(u64 seed) : state(seed * 0x9e3779b97f4a7c15ull + 88172645463325252ull) {}
  u64 next() {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state >> 16;
  }
  u64 below(u64 n) { return next() % n; }
  // Small integers and halves: sums of them are exact in any order, so folds are compared bit by bit.
  float half() { return float(i64(below(17)) - 8) * 0.5f; }
};

template <class T> void same(const std::vector<T>& got, const std::vector<T>& wanted, const char* what) {
  if (got.size() != wanted.size()) throw Wrong{std::string(what) + ": another length"};
  for (u64 k = 0; k < got.size(); k++)
    if (memcmp(&got[k], &wanted[k], sizeof(T)))
      throw Wrong{std::string(what) + "[" + std::to_string(k) + "] is " + std::to_string(got[k]) + ", not " + std::to_string(wanted[k])};
}

struct Case {
  const char* file;          // kernels/FILE.cu
  std::vector<u64> sizes;    // the edges of its shape
  std::vector<u64> faulty;   // enough of them to show a planted fault
  void (*run)(Device&, Program&, u64 n);
};
extern const std::vector<Case> MAPS, FOLDS, PLACES, TILES;  // cases_*.cc

// What the driver promises besides right launches: refusals, faults by switches, captures, codes.
struct Promise { const char* says; void (*run)(Device&, const std::string& prelude); };
extern const std::vector<Promise> PROMISES;  // cases_driver.cc

// A fault planted in a kernel: the text, what stands instead, and what must be seen.
struct Fault {
  const char* file;
  const char *text, *instead;
  const char* seen;   // a word of the report; "value": no report, but a wrong value; "same": equivalent, nothing is seen
  const char* near;   // a piece of the line that the report must show; null: any line
};
extern const std::vector<Fault> FAULTS;  // faults.cc
