// Streams: queues of work. When work runs, between its call and the first call that must wait for it, is a matter of
// the schedule, as on a device: what was read back too early, given back too soon, or not waited for, shows.
#include <algorithm>
#include <ctime>
#include "sim.h"

namespace cusim {
static Stream legacy;                  // the default stream, which is in order with all that are not "non-blocking"
static std::vector<Stream*> streams;   // made by calls
static u64 luck = 88172645463325252ull;

static u64 throw_dice() {
  luck ^= luck << 13, luck ^= luck >> 7, luck ^= luck << 17;
  return luck >> 11;
}

Stream* find_stream(void* handle) {
  // 0, 1, 2: the legacy default stream by two names, and that of a thread.
  if (reinterpret_cast<u64>(handle) <= 2) return &legacy;
  return is_handle(handle, STREAM) ? static_cast<Stream*>(handle) : nullptr;
}

static bool ready(const Stream& stream) {
  return !stream.queue.empty() && (!stream.queue.front().after || stream.queue.front().after->done);
}
static void run_head(Stream& stream) {
  Work work = std::move(stream.queue.front());
  stream.queue.pop_front();
  if (!work.run) return;
  // What a call could not refuse, because it depends on other streams, loses the context.
  if (int code = work.run()) lose_context(is_sticky(code) ? code : int(ILLEGAL_ADDRESS));
  if (lost_code()) forget_work();
}
// Some piece of work that is ready, of any stream; false: there is none.
static bool run_some() {
  std::vector<Stream*> able;
  if (ready(legacy)) able.push_back(&legacy);
  for (Stream* each : streams)
    if (ready(*each)) able.push_back(each);
  if (able.empty()) return false;
  run_head(*able[throw_dice() % able.size()]);
  return true;
}

void drain(Stream& stream) {
  while (!stream.queue.empty()) {
    if (ready(stream)) run_head(stream);
    else if (!run_some()) break;  // waits for a record of a capture that never ran
  }
}
void drain_all() {
  while (run_some()) {}
}
void wait_for(const std::shared_ptr<Moment>& moment) {
  while (!moment->done && run_some()) {}
}
void forget_work() {
  legacy.queue.clear();
  for (Stream* each : streams) each->queue.clear();
}

// After a call that left work behind.
static void go_on() {
  if (options.streams == Options::Eager) drain_all();
  if (options.streams != Options::Random) return;
  for (u64 k = throw_dice() % 4; k > 0; k--) run_some();
}

static void push(Stream& stream, Work work) {
  // The legacy stream and the blocking ones wait for each other's earlier work.
  if (&stream == &legacy) {
    for (Stream* each : streams)
      if (each->blocking) drain(*each);
  } else if (stream.blocking) {
    drain(legacy);
  }
  stream.queue.push_back(std::move(work));
  go_on();
}

int enqueue(Stream* stream, std::function<int()> work) {
  if (stream->capture) stream->capture->work.push_back(std::move(work));
  else push(*stream, {std::move(work), nullptr});
  return OK;
}
}  // namespace cusim

using namespace cusim;

CUSIM_API int cuStreamCreate(Stream** out, u32 flags) {
  return call(CONTEXT, [=] {
    auto made = new Stream;
    made->blocking = !(flags & 1);
    streams.push_back(made);
    add_handle(made, STREAM, [=] {
      streams.erase(std::find(streams.begin(), streams.end(), made));
      capture_ends(made);
      delete made->capture;
      delete made;
    });
    *out = made;
    return OK;
  });
}
CUSIM_API int cuStreamCreateWithPriority(Stream** out, u32 flags, int) { return cuStreamCreate(out, flags); }
CUSIM_API int cuStreamDestroy_v2(Stream* stream) {
  return call(CONTEXT, [=]() -> int {
    if (!is_handle(stream, STREAM)) return INVALID_HANDLE;
    drain(*stream);  // its work is still done
    return drop_handle(stream, STREAM);
  });
}

// What a capture does not allow also spoils it.
static int asked(void* handle, const std::function<int(Stream&)>& answer) {
  return call(CONTEXT, [&]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (!stream->capture) return answer(*stream);
    stream->invalid = true;
    return CAPTURE_UNSUPPORTED;
  });
}
CUSIM_API int cuStreamSynchronize(void* handle) {
  return asked(handle, [](Stream& stream) {
    if (&stream == &legacy) drain_all();
    drain(stream);
    return lost_code();
  });
}
CUSIM_API int cuStreamQuery(void* handle) {
  return asked(handle, [](Stream& stream) {
    run_some();  // who asks again and again gets an answer in the end
    return lost_code() ? lost_code() : stream.queue.empty() ? OK : NOT_READY;
  });
}
CUSIM_API int cuCtxSynchronize() {
  return call(CONTEXT | NO_CAPTURE, [] {
    drain_all();
    return lost_code();
  });
}
CUSIM_API int cuLaunchHostFunc(void* handle, void (*body)(void*), void* with) {
  return call(CONTEXT, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    enqueue(stream, [=] { body(with); return OK; });
    // The host may wait for what the function does without another call: it must come.
    if (!stream->capture) drain(*stream);
    return lost_code();
  });
}

// ---------------------------------------------------------------------------------------------------------- events
namespace {
struct Event {
  std::shared_ptr<Moment> last;  // its latest record
  bool timed = true;
};
u64 nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return u64(now.tv_sec) * 1000000000 + u64(now.tv_nsec);
}
int with_event(Event* event, int need, const std::function<int()>& body) {
  return call(CONTEXT | need, [&]() -> int { return is_handle(event, EVENT) ? body() : int(INVALID_HANDLE); });
}
}  // namespace
CUSIM_API int cuEventCreate(Event** out, u32 flags) {
  return call(CONTEXT, [=] {
    auto made = new Event;
    made->timed = !(flags & 2);
    add_handle(made, EVENT, [=] { delete made; });
    *out = made;
    return OK;
  });
}
CUSIM_API int cuEventDestroy_v2(Event* event) {
  return call(CONTEXT, [=] { return drop_handle(event, EVENT); });
}
CUSIM_API int cuEventRecord(Event* event, void* handle) {
  return with_event(event, 0, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    auto moment = std::make_shared<Moment>();
    moment->captured = stream->capture != nullptr;
    event->last = moment;
    return enqueue(stream, [=] {
      moment->done = true;
      moment->time = nanoseconds();
      return OK;
    });
  });
}
CUSIM_API int cuStreamWaitEvent(void* handle, Event* event, u32) {
  return with_event(event, 0, [=]() -> int {
    Stream* stream = find_stream(handle);
    if (!stream) return INVALID_HANDLE;
    if (!event->last) return OK;  // never recorded: nothing to wait for
    // A capture is one stream here: the order in it is the list's.
    if (event->last->captured || stream->capture) return stream->capture && event->last->captured ? OK : NOT_SUPPORTED;
    push(*stream, {nullptr, event->last});
    return OK;
  });
}
CUSIM_API int cuEventQuery(Event* event) {
  return with_event(event, NO_CAPTURE, [=]() -> int {
    run_some();
    return lost_code() ? lost_code() : !event->last || event->last->done ? int(OK) : int(NOT_READY);
  });
}
CUSIM_API int cuEventSynchronize(Event* event) {
  return with_event(event, NO_CAPTURE, [=]() -> int {
    if (event->last) wait_for(event->last);
    return lost_code();
  });
}
CUSIM_API int cuEventElapsedTime_v2(float* out, Event* from, Event* to) {
  return with_event(from, 0, [=]() -> int {
    if (!is_handle(to, EVENT) || !from->timed || !to->timed || !from->last || !to->last) return INVALID_HANDLE;
    if (!from->last->done || !to->last->done) return NOT_READY;
    *out = float(double(to->last->time - from->last->time) * 1e-6);
    return OK;
  });
}
CUSIM_API int cuEventElapsedTime(float* out, Event* from, Event* to) { return cuEventElapsedTime_v2(out, from, to); }
