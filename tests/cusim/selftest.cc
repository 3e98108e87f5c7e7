// Runs every kernel of kernels/ on cusim, at the edge sizes of its shape, under three schedules, against plain loops;
// then plants each fault of faults.cc and wants it seen.  selftest LIBRARIES ROOT [driver|cases|faults] [NAME]
#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <deque>
#include <fstream>
#include <future>
#include <memory>
#include <sstream>
#include "selftest.h"

static const char* const SCHEDULES[] = {"serial", "random", "starved"};

static std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  if (!in || out.str().empty()) throw Failed{-1, "no file " + path};
  return out.str();
}
static std::string text_of(const std::string& root, const std::string& file) {
  return slurp(root + "/tests/cusim/kernels/prelude.cu") + "\n#line 1 \"" + file + ".cu\"\n" + slurp(root + "/tests/cusim/kernels/" + file + ".cu");
}
static std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto* group : {&MAPS, &FOLDS, &PLACES, &TILES})
    all.insert(all.end(), group->begin(), group->end());
  return all;
}

struct Seen { bool any = false; std::string report, value; };

// One size under one schedule: what was said, or what was wrong.
static Seen try_out(Device& gpu, Program& program, const Case& c, u64 n) {
  Seen seen;
  gpu.last_report();
  try {
    c.run(gpu, program, n);
    gpu.free_all();
    return seen;
  } catch (const Failed& f) {
    seen.report = gpu.last_report();
    if (seen.report.empty()) seen.report = f.what;
  } catch (const Wrong& w) {
    seen.value = w.what;
  }
  seen.any = true;
  gpu.restart();
  return seen;
}

static int run_cases(Device& gpu, const std::string& root, const std::string& only) {
  int bad = 0, runs = 0;
  for (const Case& c : all_cases()) {
    if (!only.empty() && only != c.file) continue;
    auto began = std::chrono::steady_clock::now();
    Program program(gpu, text_of(root, c.file), "prelude.cu");
    for (const char* schedule : SCHEDULES) {
      gpu.set("CUSIM_SCHEDULE", schedule);
      for (u64 n : c.sizes) {
        Seen seen = try_out(gpu, program, c, n);
        runs++;
        if (!seen.any) continue;
        bad++;
        printf("%s, size %llu, %s: %s%s\n", c.file, (unsigned long long)n, schedule, seen.report.c_str(), seen.value.c_str());
      }
    }
    std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
    printf("%-12s %zu sizes, 3 schedules, %.2f s\n", c.file, c.sizes.size(), took.count());
    fflush(stdout);
  }
  printf("%d runs, %d wrong\n", runs, bad);
  return bad;
}

static int run_promises(Device& gpu, const std::string& root, const std::string& only) {
  int bad = 0;
  std::string prelude = slurp(root + "/tests/cusim/kernels/prelude.cu") + "\n";
  gpu.set("CUSIM_SCHEDULE", "random");
  for (const Promise& p : PROMISES) {
    if (!only.empty() && std::string(p.says).find(only) == std::string::npos) continue;
    std::string wrong;
    try {
      p.run(gpu, prelude);
    } catch (const Failed& f) {
      wrong = f.what;
    } catch (const Wrong& w) {
      wrong = w.what;
    }
    for (const char* each : {"CUSIM_FAIL_CALL", "CUSIM_FAIL_ALLOC", "CUSIM_LOST_AT"}) gpu.set(each, "0");
    gpu.restart();
    bad += !wrong.empty();
    printf("%s %s %s\n", wrong.empty() ? "ok   " : "WRONG", p.says, wrong.c_str());
  }
  return bad;
}

static std::string with_fault(std::string text, const Fault& f) {
  size_t at = text.find(f.text);
  if (at == std::string::npos) throw Failed{-1, std::string(f.file) + ".cu has no `" + f.text + "`"};
  return text.replace(at, strlen(f.text), f.instead);
}

// Is what was seen what the row says?
static bool as_said(const Fault& f, const Seen& seen) {
  std::string wanted = f.seen;
  if (wanted == "same") return !seen.any;
  if (wanted == "value") return !seen.value.empty();
  // "race/uninitialised": which of them comes first depends on the order of threads.
  bool word = false;
  for (size_t from = 0, to; from <= wanted.size(); from = to + 1) {
    to = std::min(wanted.find('/', from), wanted.size());
    word = word || seen.report.find(wanted.substr(from, to - from)) != std::string::npos;
  }
  bool line = seen.report.find(", line ") != std::string::npos && (!f.near || seen.report.find(f.near) != std::string::npos);
  return word && (line || wanted == "copy to the host");
}

static int run_faults(Device& gpu, const std::string& root, const std::string& only) {
  int bad = 0, named = 0, by_copy = 0, by_value = 0, equivalent = 0;
  std::vector<Case> cases = all_cases();
  // The next text is compiled while this one runs.
  auto compile = [&](const Fault& f) {
    return std::async(std::launch::async, [&] { return std::make_unique<Program>(gpu, with_fault(text_of(root, f.file), f), "prelude.cu"); });
  };
  std::vector<const Fault*> faults;
  for (const Fault& f : FAULTS)
    if (only.empty() || only == f.file) faults.push_back(&f);
  std::deque<std::future<std::unique_ptr<Program>>> ahead;
  for (size_t k = 0; k < faults.size(); k++) {
    const Fault& f = *faults[k];
    while (ahead.size() < 2 && k + ahead.size() < faults.size()) ahead.push_back(compile(*faults[k + ahead.size()]));
    const Case* c = nullptr;
    for (const Case& each : cases)
      if (!strcmp(each.file, f.file)) c = &each;
    if (!c) throw Failed{-1, std::string("no case ") + f.file};
    std::unique_ptr<Program> program = ahead.front().get();
    ahead.pop_front();
    Seen seen;
    std::string when;
    for (const char* schedule : SCHEDULES) {
      gpu.set("CUSIM_SCHEDULE", schedule);
      for (u64 n : c->faulty)
        if (!seen.any) seen = try_out(gpu, *program, *c, n), when = std::string(schedule) + ", size " + std::to_string(n);
    }
    bool right = as_said(f, seen);
    bad += !right;
    bool line = seen.report.find(", line ") != std::string::npos;
    named += right && line;
    by_copy += right && !line && !seen.report.empty();
    by_value += right && !seen.value.empty();
    equivalent += right && !seen.any;
    if (!right || getenv("SELFTEST_SAY"))
      printf("%s %s: `%s` → `%s`\n    wanted: %s%s%s\n    seen (%s): %s%s\n", right ? "ok   " : "WRONG", f.file, f.text, f.instead, f.seen,
             f.near ? " at " : "", f.near ? f.near : "", seen.any ? when.c_str() : "never", seen.report.c_str(), seen.value.c_str());
    fflush(stdout);
  }
  printf("faults: %d named with a line, %d by an uninitialised result, %d by a wrong value, %d equivalent, %d not as said\n", named, by_copy,
         by_value, equivalent, bad);
  return bad;
}

int main(int count, char** words) {
  if (count < 3) {
    fprintf(stderr, "usage: selftest LIBRARIES ROOT [driver|cases|faults] [NAME]\n");
    return 2;
  }
  std::string what = count > 3 ? words[3] : "", only = count > 4 ? words[4] : "", root = words[2];
  alarm(300);  // a launch that never ends must not hang a test
  setenv("CUSIM_REPORT", "/dev/null", 1);
  try {
    Device gpu(words[1]);
    int bad = 0;
    if (what.empty() || what == "driver") bad += run_promises(gpu, root, only);
    if (what.empty() || what == "cases") bad += run_cases(gpu, root, only);
    if (what.empty() || what == "faults") bad += run_faults(gpu, root, only);
    return bad != 0;
  } catch (const Failed& f) {
    printf("%s (%d)\n", f.what.c_str(), f.code);
    return 1;
  }
}
