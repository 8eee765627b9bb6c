// The stack of the thread that asks, as a profiler copies it, and the memory of this program.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <pthread.h>
#include <ucontext.h>

#include "core/support/stack_copies.h"

namespace profd::test {

#ifdef __x86_64__
inline constexpr StackMachine kOwnMachine = StackMachine::x86_64;
#else
inline constexpr StackMachine kOwnMachine = StackMachine::aarch64;
#endif

// The code that is mapped now, as a space of its own.
inline void add_own_maps(StackBatch& batch) {
  std::ifstream in("/proc/self/maps");
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::string range, rights, offset, device, inode, path;
    fields >> range >> rights >> offset >> device >> inode >> path;
    if (rights.find('x') == std::string::npos || !path.starts_with('/')) continue;
    const std::size_t dash = range.find('-');
    batch.maps.push_back({std::stoull(range.substr(0, dash), nullptr, 16),
                          std::stoull(range.substr(dash + 1), nullptr, 16), std::stoull(offset, nullptr, 16),
                          static_cast<std::uint32_t>(batch.modules.size())});
    batch.modules.push_back({path, ""});
  }
  batch.space_end.push_back(static_cast<std::uint32_t>(batch.maps.size()));
}

// What a thread had at `at`, with at most `n_bytes` of its stack from there on.
inline void add_own_stack(StackBatch& batch, const ucontext_t& at, std::size_t n_bytes) {
  std::vector<std::uint64_t> registers;
#ifdef __x86_64__
  const auto value = [&](int row) { return static_cast<std::uint64_t>(at.uc_mcontext.gregs[row]); };
  for (const int row : {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                        REG_R9, REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15})
    registers.push_back(value(row));
  const std::uint64_t pc = value(REG_RIP), sp = value(REG_RSP);
#else
  for (const auto one : at.uc_mcontext.regs) registers.push_back(one);
  registers.push_back(at.uc_mcontext.sp);
  const std::uint64_t pc = at.uc_mcontext.pc, sp = at.uc_mcontext.sp;
#endif
  pthread_attr_t attributes;
  void* lowest = nullptr;
  std::size_t size = 0;
  ::pthread_getattr_np(::pthread_self(), &attributes);
  ::pthread_attr_getstack(&attributes, &lowest, &size);
  ::pthread_attr_destroy(&attributes);
  const std::uint64_t end = reinterpret_cast<std::uint64_t>(lowest) + size;
  if (n_bytes > end - sp) n_bytes = end - sp;
  batch.machine = kOwnMachine;
  batch.space.push_back(static_cast<std::uint32_t>(batch.space_end.size() - 1));
  batch.pc.push_back(pc);
  batch.known.push_back((std::uint64_t{1} << registers.size()) - 1);
  batch.registers.insert(batch.registers.end(), registers.begin(), registers.end());
  batch.n_bytes.push_back(static_cast<std::uint32_t>(n_bytes));
  batch.bytes.append(reinterpret_cast<const char*>(sp), n_bytes);
}

// Files as they lie on the disk.
class OwnFiles {
 public:
  const std::string& bytes_of(const std::string& path) {
    auto [at, is_new] = files_.try_emplace(path);
    if (is_new) {
      std::ifstream in(path, std::ios::binary);
      at->second.assign(std::istreambuf_iterator<char>(in), {});
    }
    return at->second;
  }

 private:
  std::map<std::string, std::string> files_;
};

}  // namespace profd::test
