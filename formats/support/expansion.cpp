#include "formats/support/expansion.h"

#include <new>

#include <fmt/format.h>

#include "core/support/account.h"

namespace profd {

namespace {

// Of commands, which have no setting for it.
constexpr std::string_view kHalfTheMachine = "half of this machine's memory";

}  // namespace

ExpansionLimit within_memory(ExpansionLimit limit) {
  const Account* account = Account::current();
  if (account == nullptr) return limit;
  // Something is to be made of it, too.
  const std::uint64_t left = account->pool().left(), most = left - left / 8;
  if (most >= limit.bytes) return limit;
  return {most, account->pool().budget() != 0 ? kMemoryBudget : kHalfTheMachine};
}

Error expansion_error(const ExpansionLimit& limit, std::uint64_t offset,
                      std::optional<std::uint64_t> claimed) {
  std::string text = fmt::format("decompression was stopped: more than {} bytes would come out (limit {}",
                                 limit.bytes, limit.name);
  if (limit.name == kMemoryBudget || limit.name == kHalfTheMachine) text += ", what is left of it";
  text += ')';
  if (claimed && *claimed > limit.bytes) text += fmt::format("; the file says that it is {} bytes", *claimed);
  return {ErrorCode::limit, std::move(text), offset, {}};
}

void* allocate_for_decoder(std::size_t n, std::size_t size) {
  if (size != 0 && n > SIZE_MAX / size) return nullptr;
  return ::operator new(n* size, std::nothrow);
}

void free_of_decoder(void* block) {
  ::operator delete(block);
}

}  // namespace profd
