// The threads of a block: one fiber each, which runs until it waits for others, yields or ends.
#include <sys/mman.h>
#include <cstdlib>
#include <cstring>
#include "sim.h"

#ifndef __x86_64__
#error "cusim switches stacks by x86-64 code; no other machine has been tried"
#endif

namespace cusim {
// ------------------------------------------------------------------------------------------------------- switching
// ucontext would cost two system calls a switch. What a function must keep is pushed, the stacks are exchanged.
extern "C" void cusim_switch(void** from, void* to);
asm(R"(
.text
.globl cusim_switch
.hidden cusim_switch
.type cusim_switch, @function
cusim_switch:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov %rsp, (%rdi)
  mov %rsi, %rsp
  pop %r15
  pop %r14
  pop %r13
  pop %r12
  pop %rbx
  pop %rbp
  ret
.size cusim_switch, .-cusim_switch
)");

static void* scheduler;  // its stack pointer while a fiber runs

static std::vector<char*> stacks;
char* take_stack() {
  if (!stacks.empty()) {
    char* stack = stacks.back();
    stacks.pop_back();
    return stack;
  }
  void* made = mmap(nullptr, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (made == MAP_FAILED) {
    say("cusim: no memory for the stacks of threads");
    abort();
  }
  return static_cast<char*>(made);
}
void give_stack(char* stack) { stacks.push_back(stack); }

static void leave() { cusim_switch(&launch->fiber->stack_pointer, scheduler); }

static void begin() {
  launch->kernel->enter(launch->arguments);
  launch->fiber->state = State::Done;
  leave();
  abort();  // a fiber that has ended is never resumed
}

void prepare(Fiber& fiber) {
  auto top = reinterpret_cast<u64*>(fiber.stack + STACK);
  *--top = 0;  // begin's return address: it has none, and the stack is aligned as at a call
  *--top = reinterpret_cast<u64>(&begin);
  for (int k = 0; k < 6; k++) *--top = 0;
  fiber.stack_pointer = top;
}

void resume(Fiber& fiber) {
  launch->fiber = &fiber;
  renew_stamp();
  cusim_switch(&scheduler, fiber.stack_pointer);
}

void abandon() {
  launch->fiber->state = State::Done;
  leave();
  abort();
}

static u64 state_of_dice = 1;
void seed_dice(u64 seed) { state_of_dice = seed * 0x9e3779b97f4a7c15ull | 1; }
u64 dice() {
  state_of_dice ^= state_of_dice << 13;
  state_of_dice ^= state_of_dice >> 7;
  state_of_dice ^= state_of_dice << 17;
  return state_of_dice >> 11;
}

void yield_now(u64 one_in) {
  if (dice() % one_in) return;
  launch->fiber->state = State::Runs;
  leave();
}

static void wait(State as, u32 site, void* place) {
  Fiber& me = *launch->fiber;
  me.state = as;
  me.site = site;
  me.place = place;
  leave();
}

// ------------------------------------------------------------------------------------------------ warp collectives
enum Op { SYNC, SHUFFLE, UP, DOWN, XOR, BALLOT, ALL, MATCH };  // as in cusim.h

static int source_lane(const Fiber& f, int lane) {
  switch (f.op) {
    case SHUFFLE: return f.argument & 31;
    case UP: return lane - f.argument < 0 ? lane : lane - f.argument;
    case DOWN: return lane + f.argument > 31 ? lane : lane + f.argument;
    case XOR: return (lane ^ f.argument) & 31;
    default: return lane;
  }
}

struct Warp {
  Fiber* first;
  u32 size;
  u32 full() const { return size == 32 ? ~0u : (1u << size) - 1; }
  template <class F> void each(u32 lanes, F body) const {
    for (u32 k = 0; k < size; k++)
      if (lanes >> k & 1) body(first[k], int(k));
  }
};

static bool together(const Fiber& a, const Fiber& b) {
  return b.state == State::InWarp && a.site == b.site && a.op == b.op && a.mask == b.mask;
}

static void fire(const Warp& warp, u32 lanes) {
  u32 ballot = 0;
  warp.each(lanes, [&](Fiber& f, int lane) { ballot |= u32(f.value != 0) << lane; });
  warp.each(lanes, [&](Fiber& f, int lane) {
    if (f.op == BALLOT) {
      f.result = ballot;
    } else if (f.op == ALL) {
      f.result = ballot == lanes;
    } else if (f.op == MATCH) {
      u32 same = 0;
      warp.each(lanes, [&](Fiber& g, int k) { same |= u32(g.value == f.value) << k; });
      f.result = same;
    } else if (f.op != SYNC) {
      int source = source_lane(f, lane);
      if (!(lanes >> source & 1)) {
        launch->fiber = &f;
        report(LAUNCH_FAILED, f.place, number("shuffle reads lane %d, which does not take part", source));
        return;
      }
      f.result = warp.first[source].value;
    }
  });
  // Shuffles and votes order no memory, says CUDA's programming guide; __syncwarp does.
  warp.each(lanes, [&](Fiber& f, int) {
    f.state = State::Runs;
    f.syncs += f.op == SYNC;
  });
}

// A collective happens when all lanes of its mask wait for it. Nobody in the warp runs when this looks.
void step_warp(Block& block, u32 number_of_warp) {
  u32 begin = number_of_warp * 32, count = u32(block.fibers.size());
  Warp warp{&block.fibers[begin], count - begin < 32 ? count - begin : 32};
  const Fiber* stuck = nullptr;
  bool missing = false;
  for (u32 k = 0; k < warp.size; k++)
    if (warp.first[k].state == State::Runs) return;
  for (u32 k = 0; k < warp.size; k++) {
    Fiber& asks = warp.first[k];
    if (asks.state != State::InWarp) continue;
    u32 lanes = asks.mask & warp.full();
    bool all = true;
    if (!(lanes >> k & 1)) {
      launch->fiber = &asks;
      report(LAUNCH_FAILED, asks.place, number("a warp collective by lane %u, which its mask %#x leaves out", k, asks.mask));
      return;
    }
    warp.each(lanes, [&](Fiber& f, int) {
      all = all && together(asks, f);
      missing = missing || f.state == State::AtBarrier || f.state == State::Done;
    });
    if (all) {
      fire(warp, lanes);
      return;  // those lanes run: they may yet come where the others wait
    }
    if (!stuck) stuck = &asks;
  }
  if (!stuck) return;
  launch->fiber = const_cast<Fiber*>(stuck);
  report(LAUNCH_FAILED, stuck->place,
         missing ? "divergent: a lane of the mask never comes to this warp collective, it has ended or waits at a barrier"
                 : "divergent: lanes of one warp wait at different warp collectives");
}
}  // namespace cusim

using namespace cusim;

CUSIM_API Dim cusim_thread_idx() { return launch->fiber->thread; }
CUSIM_API Dim cusim_block_idx() { return launch->fiber->block->index; }
CUSIM_API Dim cusim_block_dim() { return launch->block; }
CUSIM_API Dim cusim_grid_dim() { return launch->grid; }

CUSIM_API __attribute__((noinline)) void cusim_barrier(u32 site) {
  wait(State::AtBarrier, site, __builtin_return_address(0));
}

CUSIM_API __attribute__((noinline)) u64 cusim_collective(int op, u32 mask, u64 value, int argument, u32 site) {
  Fiber& me = *launch->fiber;
  me.op = op, me.mask = mask, me.value = value, me.argument = argument;
  wait(State::InWarp, site, __builtin_return_address(0));
  return me.result;
}

CUSIM_API void cusim_fence() {
  Fiber& me = *launch->fiber;
  me.fenced_at = ++launch->tick;
  // A lane that fences again while it waits publishes nothing new.
  if (!me.wrote && me.fenced_epoch == me.block->epoch) return;
  me.wrote = false;
  me.fenced_epoch = me.block->epoch;
  me.fences++;
  renew_stamp();
  launch->published[me.block->number].push_back({me.block->epoch & ((1 << 14) - 1), me.lane, me.fences, launch->tick});
}

CUSIM_API void cusim_pause() { yield_now(1); }

CUSIM_API __attribute__((noinline)) void cusim_trap() {
  report(LAUNCH_FAILED, __builtin_return_address(0), "__trap()");
  abandon();
}
