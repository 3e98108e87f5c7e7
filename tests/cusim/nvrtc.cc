// The look-alike of NVRTC: CUDA text to a shared object of the host, by g++, handed out as a CUBIN.
//
// The text is compiled as it is, below cusim.h. Added are: a section of shared memory for each kernel, and for each
// kernel an entry that unpacks the arguments, with its bounds and parameters as data for the driver.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#define CUSIM_API extern "C" __attribute__((visibility("default")))

namespace {
enum Result { SUCCESS = 0, INVALID_INPUT = 3, INVALID_PROGRAM = 4, INVALID_OPTION = 5, COMPILATION = 6, BUILTINS = 7, INTERNAL = 11 };

struct Program {
  std::string text, name, log, image;
  std::string arch = "compute_75";
};

// --------------------------------------------------------------------------------------------------------- the text
struct Said { std::string file; unsigned line; };  // what `#line` says of a line of the text

struct Kernel {
  std::string name, bounds;
  std::vector<std::string> parameters;
  size_t begins;
};

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// `#line` is taken out of what g++ sees, so that a place is a line of the text, and kept for messages.
std::vector<Said> take_directives(std::vector<std::string>& lines, const std::string& name) {
  static const std::regex directive("^\\s*#\\s*line\\s+(\\d+)(?:\\s+\"([^\"]*)\")?.*");
  std::vector<Said> said;
  Said now{name, 1};
  for (std::string& line : lines) {
    std::smatch found;
    if (line.find('#') != std::string::npos && std::regex_match(line, found, directive)) {
      said.push_back(now);
      now.line = unsigned(std::stoul(found[1]));
      if (found[2].matched) now.file = found[2];
      line.clear();
      continue;
    }
    said.push_back(now);
    now.line++;
  }
  return said;
}

std::vector<std::string> parameter_names(const std::string& text, size_t open) {
  std::vector<std::string> names;
  std::string word;
  bool alone = false;  // __restrict__
  int depth = 0;
  for (size_t k = open; k < text.size(); k++) {
    char c = text[k];
    if (c == '(' || c == '<' || c == '[') depth++;
    bool ends = c == ')' && depth == 1;
    if ((c == ',' && depth == 1) || ends) {
      if (!word.empty()) names.push_back(alone ? "!" + word : word);
      word.clear();
      alone = false;
      if (ends) return names;
    } else if (c == ')' || c == '>' || c == ']') {
      depth--;
    } else if (isalnum(static_cast<unsigned char>(c)) || c == '_') {
      bool joined = k && (isalnum(static_cast<unsigned char>(text[k - 1])) || text[k - 1] == '_');
      word = joined ? word + c : std::string(1, c);
      alone = alone || word == "__restrict__";
    }
  }
  return names;
}

std::vector<Kernel> find_kernels(const std::string& text) {
  static const std::regex head(
      "extern\\s+\"C\"\\s+__global__\\s+(?:void\\s+)?(?:__launch_bounds__\\s*\\(([^),]*)[^)]*\\)\\s*)?(?:void\\s+)?(?:__launch_bounds__\\s*"
      "\\(([^),]*)[^)]*\\)\\s*)?(\\w+)\\s*\\(");
  std::vector<Kernel> kernels;
  for (std::sregex_iterator at(text.begin(), text.end(), head), none; at != none; ++at) {
    Kernel k;
    k.bounds = (*at)[1].matched ? (*at)[1].str() : (*at)[2].matched ? (*at)[2].str() : "1024";
    k.name = (*at)[3];
    k.begins = size_t(at->position(0));
    k.parameters = parameter_names(text, k.begins + size_t(at->length(0)) - 1);
    kernels.push_back(k);
  }
  return kernels;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '\n') { out += "\\n\"\n\""; continue; }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out + "\"";
}

std::string unit_of(const Program& program, const std::string& clean, const std::vector<Kernel>& kernels, const std::string& home) {
  std::ostringstream out;
  out << "#include \"" << home << "/cusim.h\"\n#line 1 \"cusim-text\"\n";
  size_t done = 0;
  for (const Kernel& k : kernels) {
    out << clean.substr(done, k.begins - done);
    size_t line = 1 + size_t(std::count(clean.begin(), clean.begin() + long(k.begins), '\n'));
    out << "\n#undef CUSIM_SECTION\n#define CUSIM_SECTION \"cusim_shared_" << k.name << "\"\n#line " << line << " \"cusim-text\"\n";
    done = k.begins;
  }
  out << clean.substr(done) << "\n#line 1 \"cusim-tail\"\n";
  for (const Kernel& k : kernels) {
    std::string names;  // "!a0": one that is __restrict__
    for (const std::string& p : k.parameters) names += p + " ";
    std::string begin = "__start_cusim_shared_" + k.name, end = "__stop_cusim_shared_" + k.name;
    out << "extern \"C\" {\n"
        << "__attribute__((no_sanitize(\"thread\",\"undefined\"))) void cusim_enter_" << k.name << "(void** p) { cusim_enter(&" << k.name << ", p); }\n"
        << "extern const unsigned cusim_threads_" << k.name << " = " << k.bounds << ";\n"
        << "extern const char cusim_parameters_" << k.name << "[] = " << quoted(names) << ";\n"
        << "extern decltype(cusim_sizes(&" << k.name << ")) const cusim_sizes_" << k.name << " = cusim_sizes(&" << k.name << ");\n"
        << "extern char " << begin << "[] __attribute__((weak)), " << end << "[] __attribute__((weak));\n"
        << "char* cusim_shared_of_" << k.name << "[] = {" << begin << ", " << end << "};\n}\n";
  }
  out << "extern \"C\" { extern const char cusim_text[] = " << quoted(program.text) << ";\nextern const unsigned cusim_arch = "
      << program.arch.substr(3) << "; }\n";
  return out.str();
}

// "cusim-text:12:5: error: x" to NVRTC's "name(12): error: x", with the line that `#line` says.
std::string translated(const std::string& log, const std::vector<Said>& said) {
  static const std::regex place("^cusim-text:(\\d+):(?:\\d+:)? (.*)$");
  std::ostringstream out;
  std::string ours;
  for (const std::string& line : split_lines(log)) {
    std::smatch found;
    if (std::regex_match(line, found, place)) {
      size_t at = std::stoul(found[1]);
      Said s = at >= 1 && at <= said.size() ? said[at - 1] : Said{"cusim-text", unsigned(at)};
      out << s.file << "(" << s.line << "): " << found[2].str() << "\n";
    } else if (line.rfind("cusim-text: ", 0) == 0 || line.rfind("cusim-tail", 0) == 0) {
      ours += line + "\n";
    } else {
      out << line << "\n";
    }
  }
  // What g++ says of the lines that were added follows from an error in the text, unless there is no other.
  return out.str().empty() ? ours : out.str();
}

// --------------------------------------------------------------------------------------------------------- options
struct Flags { std::string to_gxx; std::string arch; bool fma = true; std::string refused; };

// NVRTC takes an option as one word or two: `--std=c++17`, `--std c++17`.
Flags read_options(int count, const char* const* options) {
  // Known, and without a meaning for the host: rounding and denormals are IEEE's here.
  static const char* const IGNORED[] = {"--std", "-std", "--prec-div", "--prec-sqrt", "--ftz", "-lineinfo", "--generate-line-info",
                                        "--ptxas-options", "-Xptxas", "--device-as-default-execution-space", "-default-device",
                                        "--split-compile", "--extra-device-vectorization", "--restrict", "-G", "--device-debug",
                                        "--dopt", "--no-source-include", "--minimal", "-minimal", "--maxrregcount", "-maxrregcount",
                                        "--disable-warnings", "-w", "--display-error-number", "--no-display-error-number"};
  Flags flags;
  for (int k = 0; k < count; k++) {
    std::string word = options[k], value;
    if (word.rfind("-D", 0) == 0 || word.rfind("-I", 0) == 0) {
      flags.to_gxx += " '" + word + "'";
      continue;
    }
    if (size_t equals = word.find('='); equals != std::string::npos) value = word.substr(equals + 1), word.resize(equals);
    bool known = false;
    if (word == "--gpu-architecture" || word == "-arch") known = true, flags.arch = value.empty() && k + 1 < count ? options[++k] : value;
    if (word == "--fmad" || word == "-fmad") known = true, flags.fma = value != "false";
    for (const char* each : IGNORED) known = known || word == each;
    if (!known) flags.refused = options[k];
  }
  return flags;
}

// ---------------------------------------------------------------------------------------------------------- compile
std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

std::string home() {
  Dl_info where;
  if (!dladdr(reinterpret_cast<void*>(&home), &where)) return ".";
  std::string path = where.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// ------------------------------------------------------------------------------------------------------ what is kept
// In the folder CUSIM_KEPT an image stands behind all that it was made of, so a text is compiled once by all programs and
// tests that share the folder, and one of another compiler, header or text is never taken for it.

// Which g++ is found, and of when: another one may make other images of the same text.
std::string compiler() {
  const char* path = getenv("PATH");
  std::istringstream folders(path ? path : "");
  struct stat file;
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string name = folder + "/g++";
    if (stat(name.c_str(), &file) == 0)
      return name + " " + std::to_string(file.st_size) + " " + std::to_string(file.st_mtime) + "\n";
  }
  return "";
}

struct Kept {
  std::string file, key;  // no file: nothing is kept

  explicit Kept(std::string made_of) : key(std::move(made_of)) {
    const char* folder = getenv("CUSIM_KEPT");
    if (!folder || !*folder) return;
    mkdir(folder, 0777);
    unsigned long long hash = 14695981039346656037ull;  // FNV-1a; the key itself decides
    for (char c : key) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    char name[20];
    snprintf(name, sizeof name, "/%016llx", hash);
    file = folder + std::string(name);
  }

  std::string image() const {
    if (file.empty()) return "";
    const std::string all = slurp(file);
    if (all.size() <= key.size() || all.compare(0, key.size(), key) != 0) return "";
    utimensat(AT_FDCWD, file.c_str(), nullptr, 0);  // build.sh removes what nobody asked for
    return all.substr(key.size());
  }

  // Another process may be at the same text: each writes a file of its own, and its renaming is one step.
  void keep(const std::string& image) const {
    static std::atomic<unsigned> written{0};
    if (file.empty()) return;
    const std::string aside = file + "." + std::to_string(getpid()) + "." + std::to_string(written++);
    std::ofstream out(aside, std::ios::binary);
    out << key << image;
    out.close();
    if (!out || rename(aside.c_str(), file.c_str()) != 0) unlink(aside.c_str());
  }
};

// ptxas refuses more static shared memory than 48 KiB: so does this.
std::string too_much_shared(const std::string& image, const std::vector<Kernel>& kernels) {
  auto head = reinterpret_cast<const Elf64_Ehdr*>(image.data());
  auto sections = reinterpret_cast<const Elf64_Shdr*>(image.data() + head->e_shoff);
  const char* names = image.data() + sections[head->e_shstrndx].sh_offset;
  for (int s = 0; s < head->e_shnum; s++)
    for (const Kernel& k : kernels)
      if ("cusim_shared_" + k.name == names + sections[s].sh_name && sections[s].sh_size > 49152)
        return "ptxas error   : Entry function '" + k.name + "' uses too much shared data (" + std::to_string(sections[s].sh_size) +
               " bytes, 49152 max)\n";
  return "";
}

// The text through g++; SUCCESS leaves an image.
Result run(Program& program, const std::string& unit, const std::string& compiles, const std::string& library,
           const std::vector<Said>& said, bool stays) {
  const char* base = getenv("TMPDIR");
  std::string pattern = std::string(base && *base ? base : "/tmp") + "/cusim-XXXXXX";
  if (!mkdtemp(pattern.data())) {
    program.log = "cusim: no folder for temporary files\n";
    return INTERNAL;
  }
  const std::string dir = pattern;
  std::ofstream(dir + "/k.cc") << unit;
  std::string command = compiles + " -c '" + dir + "/k.cc' -o '" + dir + "/k.o' 2>'" + dir + "/log'"
                        " && g++ -shared -nostdlib '" + dir + "/k.o' -L'" + library + "' -l:libcuda.so.1 -o '" + dir + "/k.so' 2>>'" + dir + "/log'";
  int code = system(command.c_str());
  std::string log = slurp(dir + "/log");
  program.image = code ? "" : slurp(dir + "/k.so");
  if (stays) {
    program.log += "cusim: kept " + dir + "\n";
  } else {
    for (const char* file : {"/k.cc", "/k.o", "/k.so", "/log"}) unlink((dir + file).c_str());
    rmdir(dir.c_str());
  }
  program.log += translated(log, said);
  return code ? COMPILATION : SUCCESS;
}

Result compile(Program& program, const Flags& flags) {
  std::vector<std::string> lines = split_lines(program.text);
  std::vector<Said> said = take_directives(lines, program.name);
  std::string clean;
  for (const std::string& line : lines) clean += line + "\n";
  std::vector<Kernel> kernels = find_kernels(clean);
  const std::string library = home(), unit = unit_of(program, clean, kernels, library);
  const std::string command =
      "g++ -x c++ -std=c++17 -O1 -g1 -gdwarf-4 -fPIC -mfma -ffp-contract=" + std::string(flags.fma ? "fast -fexpensive-optimizations" : "off") +
      " -fno-exceptions -fno-rtti -fno-strict-aliasing -fno-threadsafe-statics -fno-builtin-printf -nostdinc -Wno-unknown-pragmas -Werror=frame-larger-than=16384" +
      flags.to_gxx + " -fsanitize=thread,bounds,alignment --param=tsan-distinguish-volatile=1 -fdiagnostics-color=never";
  const char* keep = getenv("CUSIM_KEEP");
  const bool stays = keep && *keep;
  Kept kept(compiler() + command + "\n" + slurp(library + "/cusim.h") + unit);
  if (!stays) program.image = kept.image();
  if (program.image.empty()) {
    if (Result result = run(program, unit, command, library, said, stays); result != SUCCESS) return result;
    // What g++ has something to say of is told each time.
    if (program.log.empty()) kept.keep(program.image);
  }
  if (std::string error = too_much_shared(program.image, kernels); !error.empty()) {
    program.log += error;
    program.image.clear();
    return COMPILATION;
  }
  // No registers, no spills: nothing here knows them.
  program.log += "cusim: " + std::to_string(kernels.size()) + " kernels compiled for the host by g++\n";
  return SUCCESS;
}
}  // namespace

// ---------------------------------------------------------------------------------------------------------- the calls
CUSIM_API int nvrtcVersion(int* major, int* minor) {
  *major = 13, *minor = 0;
  return SUCCESS;
}
CUSIM_API const char* nvrtcGetErrorString(int code) {
  static const char* const NAMES[] = {"NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY", "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                      "NVRTC_ERROR_INVALID_INPUT", "NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION",
                                      "NVRTC_ERROR_COMPILATION", "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE"};
  return code >= 0 && code < 8 ? NAMES[code] : "NVRTC_ERROR_INTERNAL_ERROR";
}
// A fault for a test: the part of CUSIM_PLANT before => becomes what stands behind it, wherever it is.
static std::string planted(std::string text) {
  const char* plant = getenv("CUSIM_PLANT");
  const char* arrow = plant ? strstr(plant, "=>") : nullptr;
  if (!arrow || arrow == plant) return text;
  const std::string piece(plant, arrow), instead(arrow + 2);
  for (size_t at = 0; (at = text.find(piece, at)) != std::string::npos; at += instead.size())
    text.replace(at, piece.size(), instead);
  return text;
}
CUSIM_API int nvrtcCreateProgram(Program** out, const char* text, const char* name, int headers, const char* const*, const char* const*) {
  if (!out || !text || headers < 0) return INVALID_INPUT;
  *out = new Program;
  (*out)->text = planted(text);
  (*out)->name = name && *name ? name : "default_program";
  return SUCCESS;
}
CUSIM_API int nvrtcDestroyProgram(Program** program) {
  if (!program || !*program) return INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return SUCCESS;
}
CUSIM_API int nvrtcCompileProgram(Program* program, int count, const char* const* options) {
  static std::atomic<unsigned long> compiles{0};
  if (!program) return INVALID_PROGRAM;
  program->log.clear();
  program->image.clear();
  // A missing libnvrtc-builtins ends so.
  const char* fail = getenv("CUSIM_FAIL_COMPILE");
  if (++compiles; fail && compiles == strtoul(fail, nullptr, 0)) {
    program->log = "cusim: CUSIM_FAIL_COMPILE\n";
    return BUILTINS;
  }
  Flags flags = read_options(count, options);
  if (!flags.refused.empty()) {
    program->log = "cusim: unrecognized option " + flags.refused + "\n";
    return INVALID_OPTION;
  }
  if (!flags.arch.empty()) program->arch = flags.arch;
  static const std::regex real("sm_[0-9]+"), any("(sm|compute)_[0-9]+[af]?");
  if (!std::regex_match(program->arch, any)) {
    program->log = "cusim: no architecture " + program->arch + "\n";
    return INVALID_OPTION;
  }
  bool binary = std::regex_match(program->arch, real);
  if (!binary) program->arch = "sm_0";
  Result result = compile(*program, flags);
  // Only a real architecture has a CUBIN.
  if (!binary) program->image.clear();
  return result;
}

static int give(const std::string& text, bool with_end, size_t* bytes, char* out) {
  size_t count = text.size() + with_end;
  if (bytes) *bytes = count;
  if (out) memcpy(out, text.c_str(), count);
  return SUCCESS;
}
static const char NO_PTX[] = "// cusim compiles for the host: this program has no PTX\n";
CUSIM_API int nvrtcGetProgramLogSize(Program* p, size_t* bytes) { return p ? give(p->log, true, bytes, nullptr) : int(INVALID_PROGRAM); }
CUSIM_API int nvrtcGetProgramLog(Program* p, char* out) { return p ? give(p->log, true, nullptr, out) : int(INVALID_PROGRAM); }
CUSIM_API int nvrtcGetCUBINSize(Program* p, size_t* bytes) { return p ? give(p->image, false, bytes, nullptr) : int(INVALID_PROGRAM); }
CUSIM_API int nvrtcGetCUBIN(Program* p, char* out) { return p ? give(p->image, false, nullptr, out) : int(INVALID_PROGRAM); }
CUSIM_API int nvrtcGetPTXSize(Program* p, size_t* bytes) { return p ? give(NO_PTX, true, bytes, nullptr) : int(INVALID_PROGRAM); }
CUSIM_API int nvrtcGetPTX(Program* p, char* out) { return p ? give(NO_PTX, true, nullptr, out) : int(INVALID_PROGRAM); }
