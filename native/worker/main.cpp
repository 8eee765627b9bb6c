// profd-symbolize: the process that reads binaries for the daemon. Started by it, with one end of a pair of
// sockets at kWorkerSocket; ends when the other end is closed.
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include <unistd.h>

#include "native/worker/disassembly.h"
#include "native/worker/lookup.h"
#include "native/worker/unwinding.h"
#include "workers/exit_codes.h"
#include "workers/frames.h"
#include "workers/sandbox.h"
#include "workers/symbols.h"

namespace {

using namespace profd;

// Nothing is left to be done, and nothing of this process is worth anything.
[[noreturn]] void out_of_memory() {
  ::_exit(kWorkerOutOfMemory);
}

Result<void> serve(bool confined, native::Disassembler& disassembler, bool has_llvm) {
  PROFD_CHECK(send_frame(kWorkerSocket, encode(worker::Report(worker::Hello{PROFD_VERSION, confined}))));
  worker::StackUnwinding unwinding(kWorkerSocket);
  while (true) {
    PROFD_TRY(const Frame frame, receive_frame(kWorkerSocket));
    PROFD_TRY(const worker::Order order, worker::decode_order(frame.bytes));
    const auto* module = std::get_if<worker::ModuleOrder>(&order);
    const auto* code = std::get_if<worker::CodeOrder>(&order);
    const auto* stacks = std::get_if<StackBatch>(&order);
    if (module == nullptr && code == nullptr && stacks == nullptr)
      return fail(ErrorCode::malformed, "a file that nobody wished for");
    PROFD_TRY(worker::Done done, module != nullptr ? worker::look_up(kWorkerSocket, *module)
                                 : stacks != nullptr
                                     ? unwinding.unwind(*stacks)
                                     : worker::disassemble(kWorkerSocket, *code, disassembler, has_llvm));
    PROFD_CHECK(send_frame(kWorkerSocket, encode(worker::Report(std::move(done)))));
  }
}

}  // namespace

// `profd-symbolize --llvm`: code of ARM is to be disassembled, for which a library is opened before nothing
// can be.
int main(int argc, char** argv) {
  if (::isatty(kWorkerSocket) != 0 || ::lseek(kWorkerSocket, 0, SEEK_CUR) >= 0) {
    std::fputs("profd-symbolize is started by profd, which gives it its work\n", stderr);
    return 2;
  }
  std::set_new_handler(out_of_memory);
  native::Disassembler disassembler;
  const bool has_llvm = argc == 2 && std::string_view(argv[1]) == "--llvm";
  // Where it is not there, whoever orders such code is told.
  if (has_llvm) static_cast<void>(disassembler.prepare(native::Machine::aarch64));
  const auto confined = worker::confine();
  if (!confined) ::_exit(kWorkerNotConfined);
  // The other end is gone: so is the work.
  static_cast<void>(serve(*confined, disassembler, has_llvm));
  ::_exit(0);
}
