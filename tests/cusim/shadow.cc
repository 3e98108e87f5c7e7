// Every access of a kernel to memory: bounds, life, alignment, initialised bytes, races.
//
// g++ instruments the text for ThreadSanitizer; its runtime is not linked, and the calls it would have come here.
#include <cstring>
#include "sim.h"

namespace cusim {
enum Access { READ, WRITE, ATOMIC_READ, ATOMIC_WRITE, ATOMIC_BOTH };
static bool writes(Access kind) { return kind == WRITE || kind == ATOMIC_WRITE || kind == ATOMIC_BOTH; }
static bool reads(Access kind) { return kind == READ || kind == ATOMIC_READ || kind == ATOMIC_BOTH; }

static constexpr u32 MOST_FENCES = 15, EPOCHS = (1 << 14) - 1, SYNCS = (1 << 9) - 1, BLOCKS = (1 << 20) - 1;

static u64 bits(Stamp stamp) {
  u64 out;
  memcpy(&out, &stamp, sizeof out);
  return out;
}
static Stamp stamp_of(u64 bits) {
  Stamp out;
  memcpy(&out, &bits, sizeof out);
  return out;
}
static constexpr u64 LAUNCH_BITS = 63, ATOMIC_BIT = 1ull << 63;

// Epoch and warp synchronisations change only while a fiber waits, so its stamp is made when it goes on.
void renew_stamp() {
  const Fiber& me = *launch->fiber;
  Stamp now;
  now.launch = launch->number & 63;
  now.fences = (me.fences < MOST_FENCES ? me.fences : MOST_FENCES) & 15;
  now.block = me.block->number & BLOCKS;
  now.lane = me.lane & 1023;
  now.epoch = me.block->epoch & EPOCHS;
  now.sync = me.syncs & SYNCS;
  now.atomic = 0;
  launch->stamp = bits(now);
}

// Did the block of `other` publish what it stamped, and has the reader fenced since?
static bool published(Stamp other) {
  if (other.block >= launch->published.size()) return false;
  for (const Published& p : launch->published[other.block]) {
    bool later_epoch = other.epoch < p.epoch;
    bool own_fence = other.epoch == p.epoch && other.lane == p.lane && other.fences < p.fences;
    if ((later_epoch || own_fence) && launch->fiber->fenced_at > p.tick) return true;
  }
  return false;
}

// Two accesses of one launch, one of them a write: are they unordered?
static bool unordered(Stamp other, Stamp now) {
  if (other.atomic && now.atomic) return false;
  if (other.block != now.block) return !published(other);
  if (other.lane == now.lane || other.epoch != now.epoch) return false;
  return other.lane / 32 != now.lane / 32 || other.sync == now.sync;
}
// Launch numbers begin at 1, so a fresh cell is never of this launch.
static inline bool races(u64 other, u64 now) {
  if ((other ^ now) & LAUNCH_BITS || other == now) return false;
  return unordered(stamp_of(other), stamp_of(now));
}

[[noreturn]] static void fault(int code, void* place, const std::string& what) {
  report(code, place, what);
  abandon();
}

static std::string who(Stamp s) {
  bool here = s.block == (launch->fiber->block->number & BLOCKS);
  return here ? number("thread %u", unsigned(s.lane)) : number("thread %u of block %u", unsigned(s.lane), unsigned(s.block));
}

[[noreturn]] __attribute__((noinline)) static void race(const void* at, u64 bytes, Access kind, u64 stamp, bool wrote,
                                                        void* place) {
  Stamp other = stamp_of(stamp);
  const char* mine = kind >= ATOMIC_READ ? (writes(kind) ? "atomic write" : "volatile read") : writes(kind) ? "write" : "read";
  const char* theirs = other.atomic ? (wrote ? "atomic write" : "volatile read") : wrote ? "write" : "read";
  fault(LAUNCH_FAILED, place,
        std::string("race: ") + mine + " of " + place_of(at, bytes) + ", unordered with a " + theirs + " by " + who(other));
}

// One access of a kernel. Its own stack and the constants of its module are no concern of ours.
static inline __attribute__((always_inline)) void check(const void* p, u64 bytes, Access kind, void* place) {
  auto at = static_cast<char*>(const_cast<void*>(p));
  Launch& now = *launch;
  if (at >= now.fiber->stack && at < now.fiber->stack + STACK) return;
  Cell* cells;
  u8* written;
  if (memory.owns(at)) {
    if (memory.room(u64(at)) < bytes) {
      const Allocation* near = memory.find(u64(at));
      bool inside = near && !near->live && u64(at) - near->base < near->bytes;
      const char* what = !inside ? "out of bounds: " : near->given ? "use before its allocation in a stream: " : "use after free: ";
      fault(ILLEGAL_ADDRESS, place, std::string(what) + (writes(kind) ? "write" : "read") + " of " + place_of(at, bytes));
    }
    if (!now.aliased.empty() && writes(kind))
      for (u64 base : now.aliased)
        if (memory.find(base) == memory.find(u64(at)))
          fault(LAUNCH_FAILED, place, "aliased: write of " + place_of(at, bytes) + ", which two arguments reach, one of them __restrict__");
    cells = memory.cells + (at - memory.arena);
    written = memory.written + (at - memory.arena);
  } else if (at >= now.kernel->shared_begin && at < now.kernel->shared_end) {
    u64 offset = u64(at - now.kernel->shared_begin);
    if (at + bytes > now.kernel->shared_end)
      fault(ILLEGAL_ADDRESS, place, "out of bounds: past the end of shared memory, " + place_of(at, bytes));
    cells = now.current->cells.data() + offset;
    written = now.current->written.data() + offset;
  } else if (at >= now.kernel->module->begin && at < now.kernel->module->end) {
    return;
  } else {
    fault(ILLEGAL_ADDRESS, place, std::string("wild address: ") + (writes(kind) ? "write" : "read") + " of " + place_of(at, bytes));
  }
  if (bytes <= 16 && (bytes & (bytes - 1)) == 0 && (u64(at) & (bytes - 1)))
    fault(MISALIGNED_ADDRESS, place, number("misaligned: %llu bytes at ", (unsigned long long)bytes) + place_of(at, bytes));

  if (!options.addresses.empty()) note_address(place, p, bytes, writes(kind));
  if ((++now.accesses & ((1 << 20) - 1)) == 0 && overdue())
    fault(LAUNCH_TIMEOUT, place, number("runs longer than %llu seconds", (unsigned long long)options.seconds));
  u64 mine = kind >= ATOMIC_READ ? now.stamp | ATOMIC_BIT : now.stamp;
  bool read = reads(kind), write = writes(kind);
  u64 fine_write = mine, fine_read = mine;  // the bytes of one access mostly have the same stamps
  for (u64 k = 0; k < bytes; k++) {
    if (read && !written[k])
      fault(LAUNCH_FAILED, place, "uninitialised: read of " + place_of(at + k, 1) + ", which nobody wrote");
    Cell& cell = cells[k];
    if (cell.write != fine_write) {
      if (races(cell.write, mine)) race(at + k, 1, kind, cell.write, true, place);
      fine_write = cell.write;
    }
    if (!write) {
      cell.read = mine;
      continue;
    }
    if (cell.read != fine_read) {
      if (races(cell.read, mine)) race(at + k, 1, kind, cell.read, false, place);
      fine_read = cell.read;
    }
    cell.write = mine;
    written[k] = 1;
  }
  now.work += write;
  now.fiber->wrote = now.fiber->wrote || write;
}

// ------------------------------------------------------------------------------------------------------- atomics
template <class T> static u64 updated(int op, u64 old, u64 with, u64 compare) {
  T a, b, r;
  memcpy(&a, &old, sizeof(T));
  memcpy(&b, &with, sizeof(T));
  switch (op) {
    case 0: r = T(a + b); break;
    case 1: r = b < a ? b : a; break;
    case 2: r = a < b ? b : a; break;
    case 3: r = b; break;
    default: {  // bitwise, where the type no longer matters
      u64 bits = op == 4 ? old | with : op == 5 ? old & with : op == 6 ? old ^ with : old == compare ? with : old;
      return bits;
    }
  }
  u64 out = 0;
  memcpy(&out, &r, sizeof(T));
  return out;
}

using Update = u64 (*)(int, u64, u64, u64);
struct Type { u32 bytes; Update update; };
// In the order of the enumeration in cusim.h. Signed sums are computed unsigned: overflow wraps on the device.
static const Type TYPES[] = {{4, updated<int32_t>}, {4, updated<u32>}, {8, updated<int64_t>},
                             {8, updated<u64>},     {4, updated<float>}, {8, updated<double>}};
}  // namespace cusim

using namespace cusim;

// Not inlined, so that the return address is the kernel's.
CUSIM_API __attribute__((noinline)) u64 cusim_atomic(void* at, int op, int type, u64 value, u64 compare) {
  void* place = __builtin_return_address(0);
  yield_now(4);
  if (op == 0 && type == 0) type = 1;
  Type t = TYPES[type];
  check(at, t.bytes, op == 3 ? ATOMIC_WRITE : ATOMIC_BOTH, place);
  u64 old = 0;
  memcpy(&old, at, t.bytes);
  u64 made = t.update(op, old, value, compare);
  memcpy(at, &made, t.bytes);
  return old;
}

// --------------------------------------------------------------------------- what g++ calls for -fsanitize=thread
#define PLACE __builtin_return_address(0)
#define ACCESSES(bytes)                                                                                       \
  CUSIM_API void __tsan_read##bytes(void* at) { check(at, bytes, READ, PLACE); }                              \
  CUSIM_API void __tsan_write##bytes(void* at) { check(at, bytes, WRITE, PLACE); }                            \
  CUSIM_API void __tsan_unaligned_read##bytes(void* at) { check(at, bytes, READ, PLACE); }                    \
  CUSIM_API void __tsan_unaligned_write##bytes(void* at) { check(at, bytes, WRITE, PLACE); }                  \
  CUSIM_API void __tsan_volatile_read##bytes(void* at) { yield_now(8); check(at, bytes, ATOMIC_READ, PLACE); } \
  CUSIM_API void __tsan_volatile_write##bytes(void* at) { check(at, bytes, ATOMIC_WRITE, PLACE); }            \
  CUSIM_API void __tsan_unaligned_volatile_read##bytes(void* at) { yield_now(8); check(at, bytes, ATOMIC_READ, PLACE); } \
  CUSIM_API void __tsan_unaligned_volatile_write##bytes(void* at) { check(at, bytes, ATOMIC_WRITE, PLACE); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
CUSIM_API void __tsan_read_range(void* at, size_t bytes) { check(at, bytes, READ, PLACE); }
CUSIM_API void __tsan_write_range(void* at, size_t bytes) { check(at, bytes, WRITE, PLACE); }
CUSIM_API void __tsan_func_entry(void*) {}
CUSIM_API void __tsan_func_exit() {}
CUSIM_API void __tsan_init() {}

// -------------------------------------------------------------------------- and for -fsanitize=bounds,alignment
CUSIM_API void __ubsan_handle_out_of_bounds(void*, u64 index) {
  fault(ILLEGAL_ADDRESS, PLACE, number("index %lld is outside its array", (long long)index));
}
CUSIM_API void __ubsan_handle_type_mismatch_v1(void*, u64 at) {
  fault(MISALIGNED_ADDRESS, PLACE, "misaligned: a vector at " + place_of(reinterpret_cast<void*>(at), 0));
}
