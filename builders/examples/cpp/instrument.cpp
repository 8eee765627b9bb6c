// A tracing profiler: link this with a program compiled with -finstrument-functions, and it writes the time
// in every call to $PROFD_OUT when it ends.
#include <chrono>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>

#include "../../cpp/profd_builder.hpp"

#define NO_TRACE __attribute__((no_instrument_function))

namespace {

std::int64_t now() NO_TRACE;
std::int64_t now() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}

struct Trace {
  profd::Builder builder{"instrument.cpp"};
  profd::BuiltMetric wall = builder.metric("wall", "nanoseconds");
  std::vector<profd::BuiltContext> stack{profd::Builder::root()};
  std::int64_t last = now();
  ~Trace() NO_TRACE { builder.write(std::getenv("PROFD_OUT") ? std::getenv("PROFD_OUT") : "out.profd"); }
};

Trace& trace() NO_TRACE;
Trace& trace() {
  static Trace trace;
  return trace;
}

void spend(Trace& t) NO_TRACE;
void spend(Trace& t) {
  t.builder.add(t.stack.back(), t.wall, now() - t.last);
  t.last = now();
}

}  // namespace

extern "C" void __cyg_profile_func_enter(void* function, void*) NO_TRACE;
extern "C" void __cyg_profile_func_exit(void*, void*) NO_TRACE;

extern "C" void __cyg_profile_func_enter(void* function, void*) {
  Trace& t = trace();
  spend(t);
  Dl_info symbol{};
  const bool known = dladdr(function, &symbol) != 0 && symbol.dli_sname != nullptr;
  const auto id = t.builder.function(known ? symbol.dli_sname : "[unknown]");
  t.stack.push_back(t.builder.context(t.stack.back(), t.builder.frame(id)));
}

extern "C" void __cyg_profile_func_exit(void*, void*) {
  Trace& t = trace();
  spend(t);
  if (t.stack.size() > 1) t.stack.pop_back();
}
