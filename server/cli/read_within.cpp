#include "server/cli/read_within.h"

#include <memory>
#include <new>

#include "core/support/account.h"

namespace profd {

Result<void> read_within(std::uint64_t bytes,
                         const std::function<Result<void>(const StopToken& stop)>& work) {
  const StopSource stop;
  Account account(std::make_shared<MemoryPool>(bytes, 0), stop);
  Result<void> done;
  try {
    const Account::Scope scope(&account);
    done = work(StopToken(stop));
  } catch (const std::bad_alloc&) {
    done = fail(ErrorCode::limit, "there is not enough memory to read this file");
  }
  if (!done && account.over()) return tl::unexpected<Error>(account.error("reading this file"));
  return done;
}

}  // namespace profd
