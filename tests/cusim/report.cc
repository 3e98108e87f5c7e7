// What went wrong, in one line: kernel, line of the text, node, block and thread, address.
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include "sim.h"

namespace cusim {
static std::string last;

std::string number(const char* format, ...) {
  char text[400];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
  return text;
}

void say(const std::string& line) {
  last = line;
  FILE* out = options.report.empty() ? stderr : fopen(options.report.c_str(), "a");
  if (!out) out = stderr;
  fprintf(out, "%s\n", line.c_str());
  if (out == stderr) fflush(out);
  else fclose(out);
}
std::string last_report() { return last; }

// Lines of the CUDA text that an instruction belongs to, from the innermost inlined function outwards.
static std::vector<u32> lines_of(const Module& module, void* place) {
  std::vector<u32> lines;
  // A return address is the next instruction, which may be another line's.
  u64 offset = u64(static_cast<char*>(place) - module.begin) - 1;
  std::string ask = number("addr2line -i -e %s 0x%llx 2>/dev/null", module.path.c_str(), (unsigned long long)offset);
  FILE* pipe = popen(ask.c_str(), "r");
  if (!pipe) return lines;
  char text[1024];
  while (fgets(text, sizeof text, pipe)) {
    unsigned line = 0;
    const char* colon = strrchr(text, ':');
    // The driver's own header holds shuffles and atomics; only the text's lines say anything.
    if (colon && strstr(text, "cusim-text") && sscanf(colon + 1, "%u", &line) == 1 && line) lines.push_back(line);
  }
  pclose(pipe);
  return lines;
}

static std::string line_of_text(const char* text, u32 wanted) {
  for (u32 at = 1; text && *text; at++) {
    const char* end = strchrnul(text, '\n');
    if (at == wanted) {
      while (*text == ' ') text++;
      return std::string(text, size_t(end - text));
    }
    text = *end ? end + 1 : end;
  }
  return "";
}

// `#line 105 "n"` in force at a line: "n:105".
static std::string directive_at(const char* text, u32 wanted) {
  std::string file;
  u32 said = 0;
  for (u32 at = 1; text && *text && at <= wanted; at++, said++) {
    unsigned begins = 0;
    char name[64] = "";
    if (sscanf(text, " #line %u \"%63[^\"]\"", &begins, name) >= 1) {
      said = begins - 1;
      if (*name) file = name;
    }
    const char* end = strchrnul(text, '\n');
    text = *end ? end + 1 : end;
  }
  return file.empty() ? "" : number("%s:%u", file.c_str(), said - 1);
}

static std::string source_place(const Module& module, void* place) {
  std::vector<u32> lines = lines_of(module, place);
  if (lines.empty()) return "line unknown";
  std::string said;
  for (u32 line : lines) said += number(said.empty() ? "line %u" : " called from line %u", line);
  // The outermost line belongs to the kernel itself: it names the node.
  std::string node = directive_at(module.text, lines.back());
  if (!node.empty()) said += " (" + node + ")";
  return said + " `" + line_of_text(module.text, lines.front()) + "`";
}

std::string place_of(const void* at, u64 bytes) {
  u64 address = reinterpret_cast<u64>(at);
  std::string said = number("%p", at);
  if (launch && launch->kernel && at >= launch->kernel->shared_begin && at < launch->kernel->shared_end) {
    Variable found = shared_variable(*launch->kernel, static_cast<const char*>(at));
    return number("shared %s + %llu", found.name.c_str(), (unsigned long long)found.offset);
  }
  const Allocation* found = memory.find(address);
  if (!found) return said + ", which is in no allocation";
  long long offset = (long long)(address - found->base);
  said = number("byte %lld of ", offset);
  // Which argument is it? The launch's pointers tell.
  std::string argument = "a buffer";
  if (launch && launch->arguments)
    for (size_t k = 0; k < launch->kernel->parameters.size(); k++) {
      u64 value = 0;
      if (launch->kernel->sizes[k] == 8) memcpy(&value, launch->arguments[k], 8);
      if (value >= found->base && value < found->base + found->bytes) argument = launch->kernel->parameters[k];
    }
  said += argument + number(" of %llu bytes", (unsigned long long)found->bytes);
  if (!found->live) said += found->given ? ", whose allocation has not run" : ", freed";
  long long past = offset + (long long)bytes - (long long)found->bytes;
  if (past > 0) said += number(", %lld past its end", past);
  return said;
}

void report(int code, void* place, const std::string& what) {
  if (launch->fault) return;
  launch->fault = code;
  std::string who;
  if (launch->fiber) {
    Dim b = launch->fiber->block->index, t = launch->fiber->thread;
    who = number(", block %u,%u,%u thread %u,%u,%u", b.x, b.y, b.z, t.x, t.y, t.z);
  }
  std::string where = place ? ", " + source_place(*launch->kernel->module, place) : "";
  say("cusim: kernel " + launch->kernel->name + where + who + ": " + what + " [" + options.schedule +
      number(", seed %llu, launch %llu]", (unsigned long long)options.seed, (unsigned long long)launch->serial));
}
}  // namespace cusim

// For tests in the same process: switches by name, and the last line that was said.
CUSIM_API int cusim_set(const char* name, const char* value) {
  cusim::read_environment();
  return cusim::set_option(name, value);
}
CUSIM_API void cusim_last_report(char* out, size_t bytes) {
  std::string text = cusim::last_report();
  snprintf(out, bytes, "%s", text.c_str());
}
CUSIM_API void cusim_forget_report() { cusim::last.clear(); }
