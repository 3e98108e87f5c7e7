// The addresses of a launch, counted: what the lanes of a warp ask for at once, array by array, as the text asks.
//
// With CUSIM_ADDRESSES=FILE. The n-th access of each lane of a warp at one place of the text is one request. Of device
// memory it costs the sectors of 32 bytes that it meets, and at least as many as its bytes would fill side by side; of
// shared memory as many turns as the most different words in one bank: 32 of 4 bytes, of 8 bytes 16 for half a warp.
#include <cstdio>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include "sim.h"

namespace cusim {
static constexpr u64 SECTOR = 32, WARP = 32;

// One array as one place of the text reads or writes it: place, base of its allocation (0: shared), whether it writes.
using Site = std::tuple<void*, u64, bool>;
struct Asked { u64 at; u32 bytes, lane; };
// Block, lane or warp, and the turn.
using Turn = std::tuple<u32, u32, u32>;
struct Found {
  u64 first = 0;                            // some address of it
  std::map<std::pair<u32, u32>, u32> turns;  // of block and lane: accesses so far
  std::map<Turn, std::vector<Asked>> requests;
};
static std::map<Site, Found> sites;

void note_address(void* place, const void* p, u64 bytes, bool writes) {
  u64 at = u64(p), base = 0;
  if (memory.owns(p)) {
    const Allocation* found = memory.find(at);
    if (!found) return;
    base = found->base;
  }
  Found& own = sites[{place, base, writes}];
  if (!own.first) own.first = at;
  u32 block = launch->fiber->block->number, lane = launch->fiber->lane;
  u32 turn = own.turns[{block, lane}]++;
  own.requests[{block, lane / u32(WARP), turn}].push_back({at, u32(bytes), lane});
}

// The argument that an address belongs to: of those in its allocation the last that does not lie behind it.
static std::string argument_of(u64 at, u64 base) {
  std::string name = "?";
  u64 best = 0;
  for (size_t k = 0; k < launch->kernel->parameters.size(); k++) {
    u64 value = 0;
    if (launch->kernel->sizes[k] == 8) memcpy(&value, launch->arguments[k], 8);
    if (value >= base && value <= at && value >= best) best = value, name = launch->kernel->parameters[k];
  }
  return name;
}

static u64 turns_of(const std::vector<Asked>& request) {
  u64 most = 0;
  // What is wider than a word goes by parts of a warp.
  u32 size = std::max(request[0].bytes, 4u), parts = size / 4;
  for (u32 part = 0; part < parts; part++) {
    std::map<u64, std::set<u64>> banks;
    for (const Asked& a : request)
      if (a.lane % WARP / (WARP / parts) == part) {
        u64 word = a.at / size;
        banks[word % (WARP / parts)].insert(word);
      }
    for (const auto& bank : banks) most = std::max(most, u64(bank.second.size()));
  }
  return most;
}

struct Sum { u64 bytes = 0, sectors = 0, least = 0, turns = 0; std::set<u64> met; };

void tell_addresses() {
  std::map<std::pair<std::string, bool>, Sum> global, shared;
  for (const auto& [site, found] : sites) {
    auto [place, base, writes] = site;
    bool is_shared = !base;
    auto of = is_shared ? shared_variable(*launch->kernel, reinterpret_cast<const char*>(found.first)).name
                        : argument_of(found.first, base);
    Sum& sum = (is_shared ? shared : global)[{of, writes}];
    for (const auto& [turn, request] : found.requests) {
      std::set<u64> sectors, bytes;
      for (const Asked& a : request) {
        sum.bytes += a.bytes;
        for (u64 k = 0; k < a.bytes; k++) sectors.insert((a.at + k) / SECTOR), bytes.insert(a.at + k);
      }
      sum.sectors += sectors.size();
      sum.least += (bytes.size() + SECTOR - 1) / SECTOR;
      if (is_shared) sum.turns = std::max(sum.turns, turns_of(request));
      else sum.met.insert(bytes.begin(), bytes.end());
    }
  }
  if (FILE* file = fopen(options.addresses.c_str(), "a")) {
    fprintf(file, "launch %s\n", launch->kernel->name.c_str());
    for (const auto& [of, sum] : global)
      fprintf(file, "global %s %s bytes %llu distinct %zu sectors %llu least %llu\n", of.first.c_str(),
              of.second ? "written" : "read", (unsigned long long)sum.bytes, sum.met.size(), (unsigned long long)sum.sectors,
              (unsigned long long)sum.least);
    for (const auto& [of, sum] : shared)
      fprintf(file, "shared %s %s bytes %llu turns %llu\n", of.first.c_str(), of.second ? "written" : "read",
              (unsigned long long)sum.bytes, (unsigned long long)sum.turns);
    fclose(file);
  }
  sites.clear();
}
}  // namespace cusim
