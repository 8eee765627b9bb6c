#include "server/feature/export_answer.h"

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "server/engine/atomic_file.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::uint64_t kMaxInline = 32u << 20;

}  // namespace

Result<ExportAnswer> export_profile(const OpenProfile& open, const ExportRequest& request,
                                    const StopToken& stop) {
  const LoadedProfiles& loaded = *open.loaded;
  WriteOptions how = request.how;
  how.title = open.name;
  how.decision = &loaded.decision;
  how.report = &loaded.report;
  how.stop = stop;
  const std::vector<ProfilePtr> profiles = {open.profile};
  ExportAnswer answer;
  if (request.path.empty()) {
    const auto to_answer = [&](std::span<const std::byte> bytes) -> Result<void> {
      if (answer.content.size() + bytes.size() > kMaxInline)
        return fail(ErrorCode::limit,
                    fmt::format("the export has more than the {} that fit an answer; give a uri",
                                format_bytes(kMaxInline)));
      answer.content.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      return stop.status();
    };
    PROFD_CHECK(write_profiles(*request.writer, profiles, how, to_answer, answer.losses));
    answer.size = answer.content.size();
    return answer;
  }
  PROFD_TRY(AtomicFile file, AtomicFile::create_named(request.path, request.overwrite));
  const auto to_file = [&](std::span<const std::byte> bytes) -> Result<void> {
    PROFD_CHECK(stop.status());
    answer.size += bytes.size();
    return file.write(bytes);
  };
  PROFD_CHECK(write_profiles(*request.writer, profiles, how, to_file, answer.losses));
  PROFD_CHECK(file.commit());
  answer.path = file.path();
  return answer;
}

}  // namespace profd
