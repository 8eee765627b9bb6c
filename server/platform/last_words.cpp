#include "server/platform/last_words.h"

#include <bit>
#include <utility>

namespace profd {
namespace {

constinit thread_local int n_last_words = 0;
constinit thread_local bool was_refused = false;

}  // namespace

constinit Reserve reserve;

LastWords::LastWords() {
  ++n_last_words;
}

LastWords::~LastWords() {
  --n_last_words;
}

void note_out_of_memory() {
  was_refused = true;
}

bool ran_out_of_memory() {
  return std::exchange(was_refused, false);
}

template <std::size_t kBytes>
void* Reserve::Blocks<kBytes>::take() {
  std::uint64_t before = used.load(std::memory_order_relaxed);
  while (~before != 0)
    if (used.compare_exchange_weak(before, before | (before + 1), std::memory_order_acquire))
      return blocks[static_cast<std::size_t>(std::countr_one(before))].bytes;
  return nullptr;
}

template <std::size_t kBytes>
bool Reserve::Blocks<kBytes>::give_back(const void* block) {
  const std::size_t at = reinterpret_cast<std::uintptr_t>(block) - reinterpret_cast<std::uintptr_t>(&blocks);
  if (at >= sizeof(blocks)) return false;
  used.fetch_and(~(std::uint64_t{1} << (at / kBytes)), std::memory_order_release);
  return true;
}

void* Reserve::take(std::size_t size) {
  if (n_last_words == 0 || size > 4096) return nullptr;
  void* block = size <= 512 ? small_.take() : nullptr;
  return block != nullptr ? block : large_.take();
}

void Reserve::give_back(const void* block) {
  if (!small_.give_back(block)) large_.give_back(block);
}

}  // namespace profd
