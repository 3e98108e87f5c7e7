// Switches, from the environment or by `cusim_set`: a table. A value that makes no sense is said and left alone.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include "sim.h"

namespace cusim {
Options options;
Counters counters;

struct Schedule { const char* name; u64 resident, pause; bool starve, reverse; Options::Streams streams; };
// No one of them finds all: a look-back leaves its first window only when many blocks wait for a starved one; a
// block number used for a ticket shows when blocks start from the last; missing barriers show in any.
static const Schedule SCHEDULES[] = {
    {"serial", 1, 0, false, true, Options::Eager},
    {"random", 4, 2, false, false, Options::Random},
    {"starved", 64, 1, true, false, Options::Late},
};

static bool number(const char* text, u64* out) {
  char* end = nullptr;
  errno = 0;
  u64 value = strtoull(text, &end, 0);
  if (errno || end == text || *end) return false;
  *out = value;
  return true;
}
static bool schedule(const char* text) {
  for (const Schedule& s : SCHEDULES)
    if (text == std::string(s.name)) {
      options.schedule = s.name;
      options.resident = s.resident, options.pause = s.pause;
      options.starve = s.starve, options.reverse = s.reverse, options.streams = s.streams;
      return true;
    }
  return false;
}
// "17" or "17:2": which call, and the code it gives.
static bool fail_call(const char* text) {
  std::string all = text, code;
  size_t colon = all.find(':');
  if (colon != std::string::npos) code = all.substr(colon + 1), all.resize(colon);
  counters.calls = 0;
  return number(all.c_str(), &options.fail_call) && (code.empty() || number(code.c_str(), &options.fail_code));
}

// A file that is told at the end what was called how often.
static std::string count_file;
static void tell_counts() {
  if (FILE* file = fopen(count_file.c_str(), "a")) {
    fprintf(file, "launches %llu graphs %llu updates %llu\n", (unsigned long long)counters.launches,
            (unsigned long long)counters.graphs, (unsigned long long)counters.updates);
    fclose(file);
  }
}
static bool count(const char* text) {
  if (count_file.empty()) atexit(tell_counts);
  count_file = text;
  return true;
}

struct Switch { const char* name; bool (*take)(const char*); };
static const Switch SWITCHES[] = {
    {"CUSIM_SCHEDULE", schedule},
    {"CUSIM_SEED", [](const char* t) { return number(t, &options.seed); }},
    {"CUSIM_SECONDS", [](const char* t) { return number(t, &options.seconds); }},
    {"CUSIM_MEMORY", [](const char* t) { return number(t, &options.memory); }},
    {"CUSIM_FAIL_CALL", fail_call},
    {"CUSIM_FAIL_ALLOC", [](const char* t) { counters.allocations = 0; return number(t, &options.fail_alloc); }},
    {"CUSIM_LOST_AT", [](const char* t) { counters.calls = 0; return number(t, &options.lost_at); }},
    {"CUSIM_DRIVER", [](const char* t) { return number(t, &options.driver); }},
    {"CUSIM_NO_DEVICE", [](const char* t) { options.no_device = *t && *t != '0'; return true; }},
    {"CUSIM_COUNT", count},
    {"CUSIM_ADDRESSES", [](const char* t) { options.addresses = t; return true; }},
    {"CUSIM_REPORT", [](const char* t) { options.report = t; return true; }},
};

bool set_option(const char* name, const char* value) {
  for (const Switch& s : SWITCHES)
    if (name == std::string(s.name)) return s.take(value);
  return false;
}
void read_environment() {
  static bool done = false;
  if (done) return;
  done = true;
  for (const Switch& s : SWITCHES)
    if (const char* value = getenv(s.name); value && !s.take(value))
      say(std::string("cusim: ") + s.name + "=" + value + " makes no sense and is left alone");
}
}  // namespace cusim
