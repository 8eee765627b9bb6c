// This program's own stacks, compared with what the C library finds in them.
#include "tests/support/own_stack.h"

#include <csignal>
#include <cstdlib>
#include <map>
#include <vector>

#include <execinfo.h>

#include "native/elf/image.h"
#include "native/unwind/unwinder.h"
#include "tests/support/catch.h"

using namespace profd;
using namespace profd::native;
using namespace profd::test;

namespace {

struct Captured {
  StackBatch batch;
  std::vector<std::uint64_t>
      expected;  // of backtrace(), beginning with a place in the function that captured
};
Captured* g_captured = nullptr;  // a handler and a comparison of qsort() have no other way
std::size_t g_n_bytes = 0;

__attribute__((noinline)) void capture() {
  ucontext_t here;
  ::getcontext(&here);
  void* frames[256];
  const int n = ::backtrace(frames, 256);
  add_own_maps(g_captured->batch);
  add_own_stack(g_captured->batch, here, g_n_bytes);
  for (int i = 0; i < n; ++i) g_captured->expected.push_back(reinterpret_cast<std::uint64_t>(frames[i]));
}

int compare(const void* a, const void* b) {
  if (g_captured->batch.size() == 0) capture();
  return *static_cast<const int*>(a) - *static_cast<const int*>(b);
}

__attribute__((noinline)) int recurse(int depth, bool by_signal) {
  volatile int rows[24] = {3, 1, depth};
  if (depth > 0) return recurse(depth - 1, by_signal) + rows[depth % 3];
  if (by_signal)
    ::raise(SIGUSR1);
  else
    ::qsort(const_cast<int*>(rows), 3, sizeof(int), compare);
  return rows[0];
}

Captured captured(std::size_t n_bytes, bool by_signal) {
  Captured out;
  g_captured = &out;
  g_n_bytes = n_bytes;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = [](int) { capture(); };
  ::sigaction(SIGUSR1, &action, &before);
  CHECK(recurse(20, by_signal) != 0);
  ::sigaction(SIGUSR1, &before, nullptr);
  g_captured = nullptr;
  return out;
}

UnwoundStacks unwound(const StackBatch& batch) {
  OwnFiles files;
  std::map<std::string, ElfImage> images;
  Unwinder unwinder([&](const StackModule& module) -> Result<const ElfImage*> {
    const std::string& bytes = files.bytes_of(module.name);
    auto image = read_elf({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    if (!image) return nullptr;
    return &images.insert_or_assign(module.name, std::move(*image)).first->second;
  });
  auto out = unwinder.unwind(batch);
  REQUIRE(out);
  return std::move(*out);
}

// All but the first, which are two places in one function.
void check_callers(const UnwoundStacks& found, const Captured& from) {
  REQUIRE(found.addresses.size() > 20);
  REQUIRE(from.expected.size() > 20);
  CHECK(std::vector<std::uint64_t>(found.addresses.begin() + 1, found.addresses.end()) ==
        std::vector<std::uint64_t>(from.expected.begin() + 1, from.expected.end()));
}

}  // namespace

TEST_CASE("unwind: a copy of a stack has the callers that the C library finds in the stack") {
  const Captured from = captured(std::size_t{1} << 20, false);
  const UnwoundStacks found = unwound(from.batch);
  check_callers(found, from);
  CHECK(found.end == std::vector{StackEnd::whole});
  CHECK(found.exact.empty());
}

TEST_CASE("unwind: what a signal interrupted is known past its handler, and is no return address") {
  const Captured from = captured(std::size_t{1} << 20, true);
  const UnwoundStacks found = unwound(from.batch);
  check_callers(found, from);
  CHECK(found.end == std::vector{StackEnd::whole});
  // The code that the handler returns to, and what was interrupted.
  REQUIRE(found.exact.size() == 2);
  CHECK(found.exact[0] + 1 == found.exact[1]);
}

TEST_CASE("unwind: a copy that ends before the stack does cuts it there, and what is there is right") {
  const Captured from = captured(5000, false);
  const UnwoundStacks found = unwound(from.batch);
  CHECK(found.end == std::vector{StackEnd::copy_ended});
  REQUIRE(found.addresses.size() > 2);
  REQUIRE(found.addresses.size() < from.expected.size());
  for (std::size_t i = 1; i < found.addresses.size(); ++i) CHECK(found.addresses[i] == from.expected[i]);
}
