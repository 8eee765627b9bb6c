// Folded stacks: `frame;frame;… value`. Annotations as docs/formats/folded.md lists them.
#include <array>
#include <memory>

#include "formats/writers/measurements.h"
#include "formats/writers/output.h"

namespace profd {
namespace {

using namespace writers;

constexpr std::array<std::string_view, 3> kFoldedExtensions{".folded", ".collapsed", ".collapse"};

// Annotation of a frame, or nothing.
std::string_view mark_of(const FrameTable& frames, std::uint32_t frame) {
  if (frames.inlined[frame]) return "_[i]";
  switch (frames.kind[frame]) {
    case FrameKind::kernel:
      return "_[k]";
    case FrameKind::jit:
      return "_[j]";
    case FrameKind::waker:
      return "_[w]";
    default:
      return "";
  }
}

class FoldedWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{"folded",
                                 "folded stacks",
                                 kFoldedExtensions,
                                 "text/plain",
                                 true,
                                 "one metric; names, kernel, jit, inlined"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    const Profile& profile = *profiles.front();
    PROFD_TRY(const MetricId metric, chosen_metric(profile, options, losses));
    report_losses(profiles, 1, {.modules = false, .kinds = true, .inlining = true}, losses);
    std::uint64_t n_renamed = 0, n_negative = 0, n_empty = 0;
    std::vector<std::string> names(profile.frames().size());
    for (std::uint32_t f = 0; f < names.size(); ++f) {
      std::string name(name_of(profile, f));
      bool renamed = false;
      for (char& c : name) {
        const bool odd = c == ';' || static_cast<unsigned char>(c) < 0x20;
        renamed |= odd;
        if (odd) c = c == ';' ? ':' : ' ';
      }
      n_renamed += renamed;
      names[f] = name + std::string(mark_of(profile.frames(), f));
    }
    Output out(sink, options.stop);
    std::vector<std::uint32_t> path;
    const SelfTable& self = profile.self();
    for (std::size_t row = 0; row < self.contexts.size() && !out.failed(); ++row) {
      const Value value =
          std::visit([&](const auto& column) { return Value(column[row]); }, self.values[metric.v]);
      const double amount = as_double(value);
      if (amount == 0) continue;
      if (amount < 0) {
        ++n_negative;
        continue;
      }
      writers::path_of(profile, self.contexts[row], path);
      if (path.empty()) {
        ++n_empty;
        out.put("(root)");
      }
      for (std::size_t i = 0; i < path.size(); ++i) {
        if (i > 0) out.put(';');
        out.put(names[path[i]]);
      }
      out.put(' ');
      out.number(value);
      out.put('\n');
    }
    count_loss(losses, "renamed", "Names with ';' or control characters were changed.", n_renamed);
    count_loss(losses, "negative", "Negative values cannot be written.", n_negative);
    count_loss(losses, "empty-stack", "Values without a stack are written as a frame (root).", n_empty);
    return out.finish();
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_folded_writer() {
  return std::make_unique<FoldedWriter>();
}

}  // namespace profd
