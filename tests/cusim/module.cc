// Modules: a shared object made by the look-alike of NVRTC, loaded from memory.
#include <dlfcn.h>
#include <elf.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstring>
#include "sim.h"

namespace cusim {
// An image has no length; its ELF header tells where the section table, which g++ writes last, ends.
static u64 length_of(const void* image) {
  Elf64_Ehdr head;
  memcpy(&head, image, sizeof head);
  if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_machine != EM_X86_64 || head.e_type != ET_DYN) return 0;
  return head.e_shoff + u64(head.e_shnum) * head.e_shentsize;
}

template <class T> static T symbol(const Module& module, const std::string& name) {
  return reinterpret_cast<T>(dlsym(module.handle, name.c_str()));
}

static std::vector<std::string> words(const char* text) {
  std::vector<std::string> out;
  for (std::string word; text && *text; text++) {
    if (*text != ' ') word += *text;
    if ((*text == ' ' || !text[1]) && !word.empty()) out.push_back(word), word.clear();
  }
  return out;
}

int load_module(Module** out, const void* image) {
  if (!image) return INVALID_VALUE;
  // A driver older than the compiler refuses its code.
  if (options.driver < 13000) return INVALID_IMAGE;
  if (memcmp(image, "//", 2) == 0) return INVALID_PTX;
  u64 bytes = length_of(image);
  if (!bytes) return INVALID_IMAGE;
  auto made = new Module;
  made->image.assign(static_cast<const char*>(image), bytes);
  made->file = memfd_create("cusim", MFD_CLOEXEC);
  made->path = number("/proc/%d/fd/%d", getpid(), made->file);
  bool stored = made->file >= 0 && write(made->file, image, bytes) == ssize_t(bytes);
  made->handle = stored ? dlopen(made->path.c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  void* mark = made->handle ? dlsym(made->handle, "cusim_text") : nullptr;
  Dl_info where;
  if (!mark || !dladdr(mark, &where)) {
    const char* why = dlerror();
    say(std::string("cusim: a module does not load: ") + (why ? why : "not made by this compiler"));
    if (made->handle) dlclose(made->handle);
    if (made->file >= 0) close(made->file);
    delete made;
    return INVALID_IMAGE;
  }
  made->begin = static_cast<char*>(where.dli_fbase);
  made->text = static_cast<const char*>(mark);
  // What is mapped ends with the highest segment.
  auto head = reinterpret_cast<const Elf64_Ehdr*>(made->begin);
  auto segments = reinterpret_cast<const Elf64_Phdr*>(made->begin + head->e_phoff);
  made->end = made->begin;
  for (int k = 0; k < head->e_phnum; k++)
    if (segments[k].p_type == PT_LOAD) {
      char* end = made->begin + segments[k].p_vaddr + segments[k].p_memsz;
      if (end > made->end) made->end = end;
    }
  if (auto arch = symbol<const u32*>(*made, "cusim_arch")) made->arch = *arch;
  // Code of another major architecture does not run on ours, 9.0.
  if (made->arch != 90) {
    unload_module(made);
    return NO_BINARY_FOR_GPU;
  }
  *out = made;
  return OK;
}

void unload_module(Module* module) {
  for (Kernel* each : module->kernels) {
    drop_handle(each, FUNCTION);
    delete each;
  }
  dlclose(module->handle);
  close(module->file);
  delete module;
}

Kernel* find_kernel(Module* module, const std::string& name) {
  for (Kernel* each : module->kernels)
    if (each->name == name) return each;
  auto enter = symbol<void (*)(void**)>(*module, "cusim_enter_" + name);
  if (!enter) return nullptr;
  auto made = new Kernel;
  made->module = module;
  made->name = name;
  made->enter = enter;
  made->parameters = words(symbol<const char*>(*module, "cusim_parameters_" + name));
  auto sizes = symbol<const u32*>(*module, "cusim_sizes_" + name);  // their count, then each
  made->sizes = sizes + 1;
  made->parameters.resize(sizes[0], "?");
  for (std::string& each : made->parameters) {
    made->restricted.push_back(each[0] == '!');
    if (each[0] == '!') each.erase(0, 1);
  }
  made->most_threads = *symbol<const u32*>(*module, "cusim_threads_" + name);
  auto shared = symbol<char**>(*module, "cusim_shared_of_" + name);
  made->shared_begin = shared[0], made->shared_end = shared[1];
  module->kernels.push_back(made);
  add_handle(made, FUNCTION, [] {});
  return made;
}

// The name of a shared variable, from the symbols that the image still has.
Variable shared_variable(const Kernel& kernel, const char* at) {
  const char* image = kernel.module->image.data();
  auto head = reinterpret_cast<const Elf64_Ehdr*>(image);
  auto sections = reinterpret_cast<const Elf64_Shdr*>(image + head->e_shoff);
  u64 offset = u64(at - kernel.module->begin);
  for (int s = 0; s < head->e_shnum; s++) {
    if (sections[s].sh_type != SHT_SYMTAB) continue;
    auto symbols = reinterpret_cast<const Elf64_Sym*>(image + sections[s].sh_offset);
    const char* names = image + sections[sections[s].sh_link].sh_offset;
    for (u64 k = 0; k < sections[s].sh_size / sizeof(Elf64_Sym); k++) {
      const Elf64_Sym& each = symbols[k];
      if (ELF64_ST_TYPE(each.st_info) != STT_OBJECT || offset < each.st_value || offset >= each.st_value + each.st_size)
        continue;
      // "_ZZ4scanE4tile" or "tile.0": the variable of a function
      std::string name = names + each.st_name;
      name = name.substr(0, name.find('.'));
      if (size_t e = name.rfind('E'); name.rfind("_ZZ", 0) == 0 && e != std::string::npos)
        name = name.substr(name.find_first_not_of("0123456789", e + 1) == std::string::npos ? 0 : name.find_first_not_of("0123456789", e + 1));
      return {name, offset - each.st_value};
    }
  }
  return {"memory", u64(at - kernel.shared_begin)};
}
}  // namespace cusim

using namespace cusim;

CUSIM_API int cuModuleLoadData(Module** out, const void* image) {
  return call(CONTEXT, [=] {
    int code = load_module(out, image);
    Module* made = code ? nullptr : *out;
    if (made) add_handle(made, MODULE, [=] { unload_module(made); });
    return code;
  });
}
CUSIM_API int cuModuleLoadDataEx(Module** out, const void* image, u32, void*, void**) {
  return cuModuleLoadData(out, image);
}
CUSIM_API int cuModuleUnload(Module* module) {
  return call(CONTEXT, [=] {
    drain_all();  // launches of its kernels may be under way
    return drop_handle(module, MODULE);
  });
}
CUSIM_API int cuModuleGetFunction(Kernel** out, Module* module, const char* name) {
  return call(CONTEXT, [=]() -> int {
    if (!is_handle(module, MODULE)) return INVALID_HANDLE;
    *out = find_kernel(module, name);
    return *out ? OK : NOT_FOUND;
  });
}
CUSIM_API int cuModuleGetGlobal_v2(u64*, size_t*, Module*, const char*) {
  return call(CONTEXT, [] { return NOT_FOUND; });
}

// --------------------------------------------------------------------------------------------------- functions
CUSIM_API int cuFuncGetAttribute(int* out, int attribute, Kernel* kernel) {
  return call(CONTEXT, [=]() -> int {
    int shared = int(kernel->shared_end - kernel->shared_begin);
    switch (attribute) {
      case 0: *out = int(kernel->most_threads); return OK;
      case 1: *out = shared; return OK;
      case 2: case 3: case 7: *out = 0; return OK;  // constants, local bytes, cache mode
      case 4: *out = 0; return OK;                  // registers: g++ cannot know
      case 5: case 6: *out = 90; return OK;         // PTX and binary version
      case 8: *out = 49152 - shared; return OK;
      default: return INVALID_VALUE;
    }
  });
}
CUSIM_API int cuFuncSetAttribute(Kernel*, int, int) { return call(CONTEXT, [] { return OK; }); }
CUSIM_API int cuFuncSetCacheConfig(Kernel*, int) { return call(CONTEXT, [] { return OK; }); }

// Of an H100-like multiprocessor; registers are taken as 32 a thread, which never is the bound.
static int resident_blocks(const Kernel& kernel, int threads, size_t dynamic) {
  if (threads <= 0 || u32(threads) > kernel.most_threads) return 0;
  int by_threads = 2048 / ((threads + 31) / 32 * 32);
  size_t shared = size_t(kernel.shared_end - kernel.shared_begin) + dynamic + 1024;
  int by_shared = int(233472 / shared), most = 32;
  return std::min(most, std::min(by_threads, by_shared));
}
CUSIM_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* out, Kernel* kernel, int threads, size_t dynamic) {
  return call(CONTEXT, [=] { *out = resident_blocks(*kernel, threads, dynamic); return OK; });
}
CUSIM_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* out, Kernel* kernel, int threads, size_t dynamic, u32) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessor(out, kernel, threads, dynamic);
}
CUSIM_API int cuOccupancyMaxPotentialBlockSize(int* grid, int* block, Kernel* kernel, size_t (*)(int), size_t dynamic, int limit) {
  return call(CONTEXT, [=] {
    *block = int(kernel->most_threads);
    if (limit > 0 && limit < *block) *block = limit;
    *grid = 132 * resident_blocks(*kernel, *block, dynamic);
    return OK;
  });
}
CUSIM_API int cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, Kernel* kernel, size_t (*of)(int), size_t dynamic, int limit, u32) {
  return cuOccupancyMaxPotentialBlockSize(grid, block, kernel, of, dynamic, limit);
}
CUSIM_API int cuOccupancyAvailableDynamicSMemPerBlock(size_t* out, Kernel* kernel, int, int) {
  return call(CONTEXT, [=] { *out = size_t(49152 - (kernel->shared_end - kernel->shared_begin)); return OK; });
}
