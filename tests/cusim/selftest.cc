// Runs every kernel of kernels/ on cusim, at the edge sizes of its shape, under three schedules, against plain loops;
// then plants each fault of faults.cc and wants it seen.  selftest LIBRARIES ROOT [cases|faults] [NAME]
#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <fstream>
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
  return slurp(root + "/lang/src/kir/prelude.cu") + "\n#line 1 \"" + file + ".cu\"\n" + slurp(root + "/tests/cusim/kernels/" + file + ".cu");
}
static std::vector<Case> all_cases() {
  std::vector<Case> all;
  for (const auto* group : {&MAPS, &FOLDS})
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

int main(int count, char** words) {
  if (count < 3) {
    fprintf(stderr, "usage: selftest LIBRARIES ROOT [cases|faults] [NAME]\n");
    return 2;
  }
  std::string what = count > 3 ? words[3] : "", only = count > 4 ? words[4] : "", root = words[2];
  alarm(300);  // a launch that never ends must not hang a test
  setenv("CUSIM_REPORT", "/dev/null", 1);
  try {
    Device gpu(words[1]);
    int bad = 0;
    if (what != "faults") bad += run_cases(gpu, root, only);
    return bad != 0;
  } catch (const Failed& f) {
    printf("%s (%d)\n", f.what.c_str(), f.code);
    return 1;
  }
}
