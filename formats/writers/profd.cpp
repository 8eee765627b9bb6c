// The native format, which holds everything.
#include <array>
#include <memory>

#include "formats/profd/profd_file.h"
#include "formats/writer.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kProfdExtensions{".profd"};

class ProfdWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{"profd", "profd native", kProfdExtensions, "application/x-protobuf",
                                 false,   "everything"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    static_cast<void>(losses);
    ProfdWriteOptions how;
    how.decision = options.decision;
    how.report = options.report;
    return write_profd(profiles, how, [&](std::span<const std::byte> bytes) -> Result<void> {
      PROFD_CHECK(options.stop.status());
      return sink(bytes);
    });
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_profd_writer() {
  return std::make_unique<ProfdWriter>();
}

}  // namespace profd
