#include "native/disasm/llvm_library.h"

#include <array>

#include <dlfcn.h>

namespace profd::native {
namespace {

struct Version {
  int number;
  const char* file;
};
// Newest first; Debian's names.
constexpr std::array kVersions = {
    Version{21, "libLLVM.so.21.1"}, Version{20, "libLLVM.so.20.1"}, Version{19, "libLLVM.so.19.1"},
    Version{18, "libLLVM.so.18.1"}, Version{17, "libLLVM-17.so.1"}, Version{16, "libLLVM-16.so.1"},
    Version{15, "libLLVM-15.so.1"}, Version{14, "libLLVM-14.so.1"},
};
constexpr std::uint64_t kHexImmediates = 2;
// Longer texts are cut by LLVM; lists of registers are the longest.
constexpr std::size_t kMaxText = 512;

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool initialise(void* library) {
  for (const char* name : {"LLVMInitializeAArch64TargetInfo", "LLVMInitializeAArch64TargetMC",
                           "LLVMInitializeAArch64Disassembler", "LLVMInitializeARMTargetInfo",
                           "LLVMInitializeARMTargetMC", "LLVMInitializeARMDisassembler"}) {
    void (*function)() = nullptr;
    if (!find(library, name, function)) return false;
    function();
  }
  return true;
}

}  // namespace

Result<LlvmLibrary> load_llvm() {
  for (const Version& version : kVersions) {
    void* const library = dlopen(version.file, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    LlvmLibrary found;
    found.version = version.number;
    if (find(library, "LLVMCreateDisasmCPUFeatures", found.create) &&
        find(library, "LLVMSetDisasmOptions", found.set_options) &&
        find(library, "LLVMDisasmDispose", found.dispose) &&
        find(library, "LLVMDisasmInstruction", found.instruction) && initialise(library)) {
      return found;
    }
  }
  return fail(
      ErrorCode::unsupported,
      "ARM and AArch64 code needs LLVM's library to be shown; it is not installed (Debian: libllvm14)");
}

Result<LlvmDecoder> LlvmDecoder::make(const LlvmLibrary& library, const char* triple,
                                      const std::string& features) {
  const LlvmLibrary::Context context =
      library.create(triple, "", features.c_str(), nullptr, 0, nullptr, nullptr);
  if (context == nullptr) {
    return fail(ErrorCode::unsupported, std::string("the installed LLVM does not decode ") + triple);
  }
  library.set_options(context, kHexImmediates);
  return LlvmDecoder(library, context);
}

std::size_t LlvmDecoder::decode(const std::uint8_t* bytes, std::size_t n_bytes, std::uint64_t address,
                                std::string& text) {
  std::array<char, kMaxText> buffer;
  // LLVM only reads the bytes, though its interface does not say so.
  const std::size_t length = library_.instruction(context_.get(), const_cast<std::uint8_t*>(bytes), n_bytes,
                                                  address, buffer.data(), buffer.size());
  if (length == 0 || length > n_bytes) return 0;
  text = buffer.data();
  if (const std::size_t begin = text.find_first_not_of(" \t"); begin != 0) {
    text.erase(0, begin);
  }
  for (char& c : text) {
    if (c == '\t' || c == '\n') c = ' ';
  }
  return length;
}

}  // namespace profd::native
