// What the rooms of the stand-in driver know of each other. Start at driver.cc for the calls, launch.cc for a launch,
// shadow.cc for the checks.
#pragma once
#include <cstddef>
#include <cstdint>
#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#define CUSIM_API extern "C" __attribute__((visibility("default")))

namespace cusim {
using u8 = uint8_t;
using u32 = uint32_t;
using u64 = uint64_t;

// ------------------------------------------------------------------------------------------- result codes (errors.cc)
enum Code : int {
  OK = 0,
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NOT_INITIALIZED = 3,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  INVALID_IMAGE = 200,
  INVALID_CONTEXT = 201,
  NO_BINARY_FOR_GPU = 209,
  INVALID_PTX = 218,
  INVALID_HANDLE = 400,
  NOT_FOUND = 500,
  NOT_READY = 600,
  ILLEGAL_ADDRESS = 700,
  LAUNCH_OUT_OF_RESOURCES = 701,
  LAUNCH_TIMEOUT = 702,
  CONTEXT_IS_DESTROYED = 709,
  MISALIGNED_ADDRESS = 716,
  LAUNCH_FAILED = 719,
  NOT_SUPPORTED = 801,
  CAPTURE_UNSUPPORTED = 900,
  CAPTURE_INVALIDATED = 901,
  CAPTURE_UNMATCHED = 903,
};
// A context that met one of these answers nothing else until it is reset.
bool is_sticky(int code);

// --------------------------------------------------------------------------------------------- switches (options.cc)
struct Options {
  u64 resident = 4;      // blocks that are interleaved
  u64 pause = 2;         // a block pauses at one in so many barriers; 0: never
  bool starve = false;   // the oldest block runs only when nothing else can
  bool reverse = false;  // blocks start from the last; otherwise in a random order near their own
  u64 seed = 1;
  u64 seconds = 60;      // a launch that takes longer is a fault
  u64 memory = 2ull << 30;
  u64 fail_call = 0, fail_code = 999, fail_alloc = 0, lost_at = 0;
  u64 driver = 13000;
  bool no_device = false;
  std::string report;    // a file; empty: standard error
  std::string addresses; // a file for what lanes ask for at once; empty: nobody counts
  std::string schedule = "random";
  enum Streams { Eager, Random, Late } streams = Random;  // when work runs: at its call, some time, when it must
};
extern Options options;
// What the k-th call or allocation is counted by; setting one of those switches begins anew.
struct Counters {
  u64 calls = 0, allocations = 0;
  u64 launches = 0, graphs = 0, updates = 0;  // of kernels and of graphs by calls; kernels of graphs that were changed
};
extern Counters counters;
void read_environment();
bool set_option(const char* name, const char* value);

// ----------------------------------------------------------------------------------------------- memory (memory.cc)
// Who touched a byte last. Ordered as the race rules of shadow.cc ask.
struct Stamp {
  u64 launch : 6, fences : 4, block : 20, lane : 10, epoch : 14, sync : 9, atomic : 1;
};
static_assert(sizeof(Stamp) == 8);
struct Cell { u64 write, read; };  // stamps as they lie in memory: most comparisons are of all bits at once

struct Allocation {
  u64 base = 0, bytes = 0;
  bool given = false;  // as calls see it: allocated, and not freed
  bool live = false;   // as work in streams sees it: its allocation has run, its free has not
  bool lived = false;
  bool host = false;  // pinned: the host writes it unseen, so it counts as initialised
};
struct Memory {
  char* arena = nullptr;
  Cell* cells = nullptr;   // of each byte of the arena
  u8* written = nullptr;   // 1: initialised
  u64 in_use = 0, high = 0;

  void open();
  // An allocation and a free are calls, which count bytes; and they happen later, in the order of a stream.
  int allocate(u64* at, u64 bytes, bool host);
  void begin_life(u64 at);
  int release(u64 at, bool host);
  void end_life(u64 at);
  void release_all();
  const Allocation* find(u64 at) const; // the one at or before `at`, live or not; null if there is none near
  const Allocation* exact(u64 at) const;
  u64 room(u64 at) const;               // bytes from `at` to the end of its live allocation, 0 if outside
  u64 room_given(u64 at) const;         // the same as calls see it
  bool owns(const void* p) const;
  void forget_stamps();
};
extern Memory memory;

// ----------------------------------------------------------------------------------------------- modules (module.cc)
struct Module;
struct Kernel {
  Module* module = nullptr;
  std::string name;
  void (*enter)(void**) = nullptr;
  std::vector<std::string> parameters;
  std::vector<bool> restricted;  // __restrict__
  const u32* sizes = nullptr;  // of the parameters
  u32 most_threads = 1024;
  char *shared_begin = nullptr, *shared_end = nullptr;
};
struct Module {
  void* handle = nullptr;
  int file = -1;                 // a memory file: its path is what addr2line reads
  std::string path, image;
  u32 arch = 0;                  // 90: what it was compiled for
  char *begin = nullptr, *end = nullptr;
  const char* text = nullptr;    // the CUDA text
  std::vector<Kernel*> kernels;
};
struct Variable { std::string name; u64 offset = 0; };
Variable shared_variable(const Kernel& kernel, const char* at);
int load_module(Module** out, const void* image);
void unload_module(Module* module);
Kernel* find_kernel(Module* module, const std::string& name);

// ------------------------------------------------------------------------------- threads of a launch (fibers.cc)
struct Dim { u32 x = 1, y = 1, z = 1; u64 count() const { return u64(x) * y * z; } };
enum class State : u8 { Runs, AtBarrier, InWarp, Done };
struct Block;
struct Fiber {
  void* stack_pointer = nullptr;
  char* stack = nullptr;
  Block* block = nullptr;
  Dim thread;
  u32 lane = 0;         // the number in its block
  State state = State::Runs;
  void* place = nullptr;  // in the kernel, where it waits
  u32 site = 0;
  // a warp collective: what it asks and gets
  int op = 0, argument = 0;
  u32 mask = 0;
  u64 value = 0, result = 0;
  // for the race rules
  u32 syncs = 0, fences = 0;
  u64 fenced_at = 0;
  u32 fenced_epoch = 0;
  bool wrote = true;    // since its last fence
};
struct Block {
  u32 number = 0;
  Dim index;
  u32 epoch = 0;  // barriers so far
  std::vector<Fiber> fibers;
  std::vector<char> shared;  // its shared memory while another block is in the module's
  std::vector<Cell> cells;
  std::vector<u8> written;
};
// One fence: what lane `lane` wrote before it, and what everybody in the block wrote in earlier epochs, is published.
struct Published { u32 epoch, lane, fences; u64 tick; };

struct Launch {
  Kernel* kernel = nullptr;
  Dim grid, block;
  void** arguments = nullptr;
  Block* current = nullptr;
  Fiber* fiber = nullptr;
  u32 number = 0;      // 1…63, for stamps
  u64 serial = 0;      // all launches of the process
  u64 tick = 0;        // fences so far
  u64 work = 0;        // writes and barriers so far: none for long is a deadlock
  u64 accesses = 0, began = 0;
  std::vector<std::vector<Published>> published;  // of each block
  int fault = OK;      // the first
  std::vector<u64> aliased;  // buffers that two arguments reach, one of them __restrict__: nobody may write them
  u64 stamp = 0;       // of the running fiber's accesses now
};
void renew_stamp();    // after a switch of fibers and after a fence
extern Launch* launch;  // the one that runs

constexpr size_t STACK = 32768;  // the compiler refuses a frame of more than half
char* take_stack();
void give_stack(char* stack);
void prepare(Fiber& fiber);   // its first switch enters the kernel
void resume(Fiber& fiber);    // until it waits, yields or ends
[[noreturn]] void abandon();  // the running fiber after a fault
void yield_now(u64 one_in);
void step_warp(Block& block, u32 warp);
u64 dice();
void seed_dice(u64 seed);

// ------------------------------------------------------------------------------------- launches (launch.cc), reports
bool overdue();
int run_launch(Kernel& kernel, Dim grid, Dim block, void** arguments);
// The first fault of a launch: one line that names kernel, line, node, block and thread. `what` says the rest.
void report(int code, void* place, const std::string& what);
void say(const std::string& line);
std::string last_report();
std::string number(const char* format, ...) __attribute__((format(printf, 1, 2)));
std::string place_of(const void* at, u64 bytes);  // an address in words: which buffer, which argument

// -------------------------------------------------------------------------------------- addresses (addresses.cc)
void note_address(void* place, const void* at, u64 bytes, bool writes);  // of the running fiber
void tell_addresses();                                                 // of the launch, at its end

// ---------------------------------------------------------------------------------------- the driver (driver.cc)
enum Need { NOTHING = 0, INIT = 1, CONTEXT = 2, NO_CAPTURE = 4 };
int call(int need, const std::function<int()>& body);
bool is_handle(const void* handle, int kind);
void add_handle(void* handle, int kind, std::function<void()> drop);
int drop_handle(const void* handle, int kind);
enum Kind { STREAM = 1, EVENT, MODULE, FUNCTION, GRAPH, GRAPH_EXEC, POOL, GRAPH_NODE };

// ----------------------------------------------------------------------------------------------- streams (streams.cc)
struct Moment { bool done = false, captured = false; u64 time = 0; };  // one record of an event
struct Work { std::function<int()> run; std::shared_ptr<Moment> after; };
struct Graph;
struct Node { Graph* graph = nullptr; size_t at = 0; Kernel* kernel = nullptr; };  // made by calls, not by a capture
struct Graph {
  std::vector<std::function<int()>> work;
  std::vector<u64> allocations;  // made inside, owned by the graph
  std::vector<std::shared_ptr<Node>> nodes;
};
// One more node of a graph that calls build. Here such a graph is a chain: each node depends on the one before.
int add_node(Node** out, Graph* graph, Node* const* after, size_t count, Kernel* kernel, std::function<int()> work);
struct Stream {
  std::deque<Work> queue;
  bool blocking = true;
  Graph* capture = nullptr;
  bool invalid = false;
};
Stream* find_stream(void* handle);  // null: no such stream
int enqueue(Stream* stream, std::function<int()> work);  // it runs some time, or is recorded by a capture
void drain(Stream& stream);
void drain_all();
void forget_work();
void capture_begins(Stream* stream);
void capture_ends(Stream* stream);
void lose_context(int code);
int lost_code();  // of a lost context, else 0
}  // namespace cusim
