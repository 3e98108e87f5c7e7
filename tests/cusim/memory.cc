// Device memory: one arena that is never used twice, so that a stale pointer is always seen, with a shadow beside it.
//
// Everything is mapped without reserve: a byte costs 1 + 16 + 1 only once a kernel touches it. Fresh memory needs no
// poison, since nothing can read a byte that nobody wrote.
#include <sys/mman.h>
#include <cstdlib>
#include <cstring>
#include "sim.h"

namespace cusim {
Memory memory;

static constexpr u64 ARENA = 64ull << 30;
static constexpr u64 GRANULE = 256;  // allocations begin at multiples
// Behind each lies a gap as long as itself, within bounds, so that a stride too far does not end in a neighbour.
static u64 gap_behind(u64 bytes) { return std::clamp<u64>(bytes, 4096, 1 << 20) / GRANULE + 1; }
static std::vector<Allocation> all(1);
static u32* granules;                // number in `all` of the allocation that has this granule
static u64 next_free = GRANULE;

template <class T> static T* reserve(u64 count) {
  void* at = mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) {
    say("cusim: no address space for device memory");
    abort();
  }
  return static_cast<T*>(at);
}

void Memory::open() {
  if (arena) return;
  arena = reserve<char>(ARENA);
  cells = reserve<Cell>(ARENA);
  written = reserve<u8>(ARENA);
  granules = reserve<u32>(ARENA / GRANULE);
}

bool Memory::owns(const void* p) const {
  auto at = static_cast<const char*>(p);
  return at >= arena && at < arena + ARENA;
}

int Memory::allocate(u64* at, u64 bytes, bool host) {
  if (!bytes) return INVALID_VALUE;
  if (!host && (++counters.allocations == options.fail_alloc || bytes > options.memory || in_use + bytes > options.memory))
    return OUT_OF_MEMORY;
  u64 granules_used = (bytes + GRANULE - 1) / GRANULE;
  u64 granules_taken = granules_used + gap_behind(bytes);
  if (granules_taken > (ARENA - next_free) / GRANULE) {
    say("cusim: the arena is used up; this process has allocated 64 GiB in all");
    return OUT_OF_MEMORY;
  }
  Allocation made;
  made.base = reinterpret_cast<u64>(arena) + next_free;
  made.bytes = bytes, made.given = true, made.host = host;
  all.push_back(made);
  for (u64 k = 0; k < granules_used; k++) granules[next_free / GRANULE + k] = u32(all.size() - 1);
  if (!host) in_use += bytes;
  if (in_use > high) high = in_use;
  next_free += granules_taken * GRANULE;
  *at = made.base;
  return OK;
}

static Allocation* mutable_exact(u64 at) {
  const Allocation* found = memory.exact(at);
  return found ? const_cast<Allocation*>(found) : nullptr;
}

// What a freed allocation and its shadow held goes back to the system in whole pages.
static void give_back(const Allocation& gone) {
  auto drop = [](void* from, u64 bytes) {
    u64 begin = (reinterpret_cast<u64>(from) + 4095) & ~4095ull, end = (reinterpret_cast<u64>(from) + bytes) & ~4095ull;
    if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  };
  u64 offset = gone.base - reinterpret_cast<u64>(memory.arena);
  drop(memory.arena + offset, gone.bytes);
  drop(memory.cells + offset, gone.bytes * sizeof(Cell));
  drop(memory.written + offset, gone.bytes);
}

void Memory::begin_life(u64 at) {
  Allocation* found = mutable_exact(at);
  if (!found) return;
  found->live = true;
  // The first time its shadow is zero; a graph that is launched again finds what it left.
  if (found->host || found->lived) memset(written + (at - reinterpret_cast<u64>(arena)), found->host, found->bytes);
  found->lived = true;
}

int Memory::release(u64 at, bool host) {
  Allocation* found = mutable_exact(at);
  if (!found || !found->given || found->host != host) {
    say("cusim: free of " + place_of(reinterpret_cast<void*>(at), 0));
    return INVALID_VALUE;
  }
  found->given = false;
  if (!host) in_use -= found->bytes;
  return OK;
}

void Memory::end_life(u64 at) {
  Allocation* found = mutable_exact(at);
  if (!found || !found->live) return;
  found->live = false;
  give_back(*found);
}

void Memory::release_all() {
  for (Allocation& each : all) {
    if (each.host) continue;
    if (each.given) release(each.base, false);
    end_life(each.base);
  }
}

const Allocation* Memory::find(u64 at) const {
  if (!owns(reinterpret_cast<void*>(at))) return nullptr;
  u64 granule = (at - reinterpret_cast<u64>(arena)) / GRANULE, back = 0;
  for (; !granules[granule] && granule && back < gap_behind(~0ull); back++) granule--;
  return granules[granule] ? &all[granules[granule]] : nullptr;
}

const Allocation* Memory::exact(u64 at) const {
  const Allocation* found = find(at);
  return found && found->base == at ? found : nullptr;
}

u64 Memory::room(u64 at) const {
  if (!owns(reinterpret_cast<void*>(at))) return 0;
  const Allocation* found = &all[granules[(at - reinterpret_cast<u64>(arena)) / GRANULE]];
  if (!found->live || at < found->base || at >= found->base + found->bytes) return 0;
  return found->base + found->bytes - at;
}

u64 Memory::room_given(u64 at) const {
  const Allocation* found = find(at);
  return found && found->given && at < found->base + found->bytes ? found->base + found->bytes - at : 0;
}

// Launch numbers in stamps have few bits; when they begin again no stamp may be left.
void Memory::forget_stamps() { madvise(cells, next_free * sizeof(Cell), MADV_DONTNEED); }
}  // namespace cusim
