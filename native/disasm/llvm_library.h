// LLVM's C disassembler as a library that is loaded when it is first needed: 100 MB that most never want.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/support/result.h"

namespace profd::native {

// The functions of it that are called; valid as long as the program runs, as the library is never unloaded.
struct LlvmLibrary {
  using Context = void*;
  Context (*create)(const char* triple, const char* cpu, const char* features, void* info, int tag_type,
                    void* operand_info, void* symbol_look_up) = nullptr;
  int (*set_options)(Context context, std::uint64_t options) = nullptr;
  void (*dispose)(Context context) = nullptr;
  std::size_t (*instruction)(Context context, std::uint8_t* bytes, std::uint64_t n_bytes,
                             std::uint64_t address, char* text, std::size_t text_size) = nullptr;
  int version = 0;  // 14
};

// Opens the newest that is installed of the versions that are known and prepares it for ARM and AArch64.
// Fails with `unsupported` and what to install. Reads files; later calls of its functions do not.
Result<LlvmLibrary> load_llvm();

// A decoder of one kind of code. It keeps what of code depends on what stood before: where the conditional
// block of a Thumb IT instruction ends.
class LlvmDecoder {
 public:
  // `triple` and `features` as LLVM writes them: "aarch64", "+lse,+sve2". Fails where the library does not
  // know them.
  static Result<LlvmDecoder> make(const LlvmLibrary& library, const char* triple,
                                  const std::string& features);
  // The length in bytes of the instruction at the front of `bytes` and its text, or 0 where there is none.
  std::size_t decode(const std::uint8_t* bytes, std::size_t n_bytes, std::uint64_t address,
                     std::string& text);

 private:
  struct Dispose {
    void (*dispose)(void*);
    void operator()(void* context) const { dispose(context); }
  };
  LlvmDecoder(const LlvmLibrary& library, LlvmLibrary::Context context)
      : library_(library), context_(context, Dispose{library.dispose}) {}

  LlvmLibrary library_;
  std::unique_ptr<void, Dispose> context_;
};

}  // namespace profd::native
