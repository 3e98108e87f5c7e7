// A launch: some blocks are resident together and take turns; who is next is a matter of the schedule.
#include <ctime>
#include <cstring>
#include <memory>
#include "sim.h"

namespace cusim {
Launch* launch;
static u64 launches;

static u64 seconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return u64(now.tv_sec);
}
bool overdue() { return seconds() - launch->began > options.seconds; }

// ----------------------------------------------------------------------------------------------------------- blocks
// Blocks are used again: their shadows are large, and fresh memory costs page faults.
static std::vector<std::unique_ptr<Block>> spare;

static std::unique_ptr<Block> make_block(u32 number) {
  const Launch& now = *launch;
  if (spare.empty()) spare.push_back(std::make_unique<Block>());
  auto made = std::move(spare.back());
  spare.pop_back();
  made->number = number;
  made->epoch = 0;
  made->index = {number % now.grid.x, number / now.grid.x % now.grid.y, u32(number / (u64(now.grid.x) * now.grid.y))};
  size_t bytes = size_t(now.kernel->shared_end - now.kernel->shared_begin);
  made->shared.assign(bytes, char(0xA5));
  made->cells.assign(bytes, Cell{});
  made->written.assign(bytes, 0);
  made->fibers.assign(now.block.count(), Fiber{});
  for (u32 k = 0; k < made->fibers.size(); k++) {
    Fiber& f = made->fibers[k];
    f.stack = take_stack();
    f.block = made.get();
    f.lane = k;
    f.thread = {k % now.block.x, k / now.block.x % now.block.y, k / (now.block.x * now.block.y)};
    prepare(f);
  }
  return made;
}
static void drop_block(std::unique_ptr<Block> block) {
  for (const Fiber& f : block->fibers) give_stack(f.stack);
  spare.push_back(std::move(block));
}

// Shared variables have one address in the module: whose turn it is has its bytes there.
static void switch_to(Block& block) {
  Launch& now = *launch;
  if (now.current == &block) return;
  if (now.current) memcpy(now.current->shared.data(), now.kernel->shared_begin, now.current->shared.size());
  if (!block.shared.empty()) memcpy(now.kernel->shared_begin, block.shared.data(), block.shared.size());
  now.current = &block;
}

// ------------------------------------------------------------------------------------------------------- a turn
struct Count { u32 runs = 0, waits = 0, done = 0; Fiber* at_barrier = nullptr; };

static Count count(Block& block) {
  Count c;
  for (Fiber& f : block.fibers) {
    c.runs += f.state == State::Runs;
    c.done += f.state == State::Done;
    if (f.state != State::AtBarrier) continue;
    c.waits++;
    if (c.at_barrier && c.at_barrier->site != f.site) {
      launch->fiber = &f;
      report(LAUNCH_FAILED, f.place, "divergent: threads of one block wait at different barriers");
    }
    c.at_barrier = &f;
  }
  return c;
}

enum class Turn { Ended, Paused };

// Runs a block until it ends, nothing in it can run, or it gives others a turn.
static Turn turn(Block& block) {
  switch_to(block);
  u32 threads = u32(block.fibers.size());
  for (;;) {
    u32 from = u32(dice() % threads), yielded = 0;
    bool ran = false;
    for (u32 k = 0; k < threads; k++) {
      Fiber& f = block.fibers[(k + from) % threads];
      if (f.state != State::Runs) continue;
      ran = true;
      resume(f);
      if (launch->fault) return Turn::Ended;
      yielded += f.state == State::Runs;
    }
    for (u32 w = 0; w * 32 < threads; w++) {
      step_warp(block, w);
      if (launch->fault) return Turn::Ended;
    }
    Count c = count(block);
    if (launch->fault || c.done == threads) return Turn::Ended;
    if (c.waits && c.waits + c.done == threads) {
      if (c.done) {
        launch->fiber = c.at_barrier;
        report(LAUNCH_FAILED, c.at_barrier->place, "divergent: a barrier that threads which have ended never reach");
        return Turn::Ended;
      }
      block.epoch++;
      launch->work++;
      for (Fiber& f : block.fibers) f.state = State::Runs;
      if (options.pause && dice() % options.pause == 0) return Turn::Paused;
      continue;
    }
    if (!ran && !c.runs) {
      launch->fiber = &block.fibers[0];
      report(LAUNCH_FAILED, block.fibers[0].place, "deadlock: no thread of the block can go on");
      return Turn::Ended;
    }
    if (yielded && dice() % 2) return Turn::Paused;
  }
}

// ---------------------------------------------------------------------------------------------------- the schedule
using Resident = std::vector<std::unique_ptr<Block>>;

// Blocks that have not come to their first barrier go first, so that all take their tickets; then the oldest starves
// while the others can do anything.
static size_t starving(const Resident& resident, u64 idle) {
  for (size_t k = 0; k < resident.size(); k++)
    if (!resident[k]->epoch) return k;
  if (resident.size() > 1 && idle < 60 * resident.size()) return 1 + dice() % (resident.size() - 1);
  return dice() % resident.size();
}

// Hardware promises no order of blocks: each schedule begins them in another.
static std::vector<u32> order_of_blocks(u32 blocks) {
  std::vector<u32> order(blocks);
  for (u32 k = 0; k < blocks; k++) order[k] = options.reverse ? blocks - 1 - k : k;
  if (options.reverse) return order;
  for (u32 k = 0; k < blocks; k++) std::swap(order[k], order[k + dice() % std::min(blocks - k, 8u)]);
  return order;
}

static void run_blocks() {
  u32 blocks = u32(launch->grid.count());
  std::vector<u32> order = order_of_blocks(blocks);
  Resident resident;
  size_t begun = 0;
  u64 idle = 0, work = 0;
  while ((begun < blocks || !resident.empty()) && !launch->fault) {
    while (resident.size() < options.resident && begun < blocks) resident.push_back(make_block(order[begun++]));
    size_t next = options.starve ? starving(resident, idle) : dice() % resident.size();
    if (turn(*resident[next]) == Turn::Ended) {
      if (launch->current == resident[next].get()) launch->current = nullptr;
      drop_block(std::move(resident[next]));
      resident.erase(resident.begin() + long(next));
      idle = 0;
      continue;
    }
    // Nobody wrote and no barrier opened for so many turns: all wait for what will not come.
    idle = launch->work == work ? idle + 1 : 0;
    work = launch->work;
    if (idle > 5000 + 500 * resident.size()) {
      launch->fiber = &resident[0]->fibers[0];
      report(LAUNCH_FAILED, resident[0]->fibers[0].place, "deadlock: every block waits for another");
    }
  }
  for (auto& left : resident) drop_block(std::move(left));
}

// Equal addresses only: parts of one allocation may be arguments of their own.
static std::vector<u64> find_aliases(const Kernel& kernel, void** arguments) {
  std::vector<u64> found, values;
  for (size_t k = 0; k < kernel.parameters.size(); k++) {
    u64 value = 0;
    if (kernel.sizes[k] == 8) memcpy(&value, arguments[k], 8);
    values.push_back(memory.room(value) ? value : 0);
    for (size_t j = 0; j < k; j++)
      if (value && values[j] == value && values[k] && (kernel.restricted[j] || kernel.restricted[k])) found.push_back(value);
  }
  return found;
}

int run_launch(Kernel& kernel, Dim grid, Dim block, void** arguments) {
  Launch now;
  now.kernel = &kernel;
  now.grid = grid, now.block = block;
  now.arguments = arguments;
  now.serial = ++launches;
  now.number = u32(1 + launches % 63);
  if (now.number == 1) memory.forget_stamps();
  now.published.resize(grid.count());
  now.aliased = find_aliases(kernel, arguments);
  now.began = seconds();
  launch = &now;
  seed_dice(options.seed + launches);
  run_blocks();
  if (!options.addresses.empty()) tell_addresses();
  launch = nullptr;
  return now.fault;
}
}  // namespace cusim
