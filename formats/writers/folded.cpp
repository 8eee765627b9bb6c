// Folded stacks: `frame;frame;… value`. Annotations as docs/formats/folded.md lists them.
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/source/annotations.h"
#include "core/support/checked.h"
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

// " (dir/file.py:12)", which the reader takes apart again; nothing for a frame without a line of a file.
std::string place_of(const Profile& profile, std::uint32_t frame) {
  const std::string_view file = profile.strings()[file_of_frame(profile, frame)];
  const std::uint32_t line = profile.frames().line[frame];
  return file.empty() || line == 0 ? "" : fmt::format(" ({}:{})", file, line);
}

// Contexts whose stacks read the same, though their frames differ by line, address or module.
class NamedStacks {
 public:
  // Stopped, it is of no use; whoever writes asks again.
  NamedStacks(const Profile& profile, const std::vector<std::string>& names, StopToken& stop) {
    std::unordered_map<std::string_view, std::uint32_t> ids;
    std::vector<std::uint32_t> id_of_frame;
    for (const std::string& name : names)
      id_of_frame.push_back(ids.emplace(name, static_cast<std::uint32_t>(ids.size())).first->second);
    const ContextTree& tree = profile.tree();
    same_.resize(tree.size(), 0);
    std::unordered_map<std::uint64_t, std::uint32_t> first_with;
    // A parent has a smaller id.
    for (std::uint32_t context = 1; context < tree.size(); ++context) {
      if (stop.check()) return;
      const std::uint64_t stack =
          std::uint64_t{same_[tree.parent[context]]} << 32 | id_of_frame[tree.frame[context]];
      same_[context] = first_with.emplace(stack, context).first->second;
    }
  }

  // The self values of a metric, a row for each stack that reads differently, in order of its first context.
  // Sums stop at the ends of an integer, as everywhere.
  template <class Values>
  auto sums(const SelfTable& self, const Values& values, StopToken& stop) const {
    using T = std::decay_t<decltype(values[0])>;
    std::vector<std::pair<std::uint32_t, T>> rows;
    std::unordered_map<std::uint32_t, std::size_t> row_of;
    for (std::size_t i = 0; i < self.contexts.size() && !stop.check(); ++i) {
      const auto [row, is_new] = row_of.emplace(same_[self.contexts[i]], rows.size());
      if (is_new) rows.emplace_back(row->first, T{});
      add_saturating(rows[row->second].second, values[i]);
    }
    return rows;
  }

 private:
  std::vector<std::uint32_t> same_;  // by context: the first one whose stack reads the same
};

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
    const bool by_line =
        options.granularity == Granularity::line || options.granularity == Granularity::address;
    report_losses(profiles, 1, {.lines = by_line, .modules = false, .kinds = true, .inlining = true}, losses);
    std::uint64_t n_renamed = 0, n_negative = 0, n_empty = 0;
    std::vector<std::string> names(profile.frames().size());
    for (std::uint32_t f = 0; f < names.size(); ++f) {
      std::string name(name_of(profile, f));
      if (by_line) name += place_of(profile, f);
      bool renamed = false;
      for (char& c : name) {
        const bool odd = c == ';' || static_cast<unsigned char>(c) < 0x20;
        renamed |= odd;
        if (odd) c = c == ';' ? ':' : ' ';
      }
      n_renamed += renamed;
      names[f] = name + std::string(mark_of(profile.frames(), f));
    }
    StopToken stop = options.stop;
    const NamedStacks stacks(profile, names, stop);
    PROFD_CHECK(stop.status());
    Output out(sink, options.stop);
    std::vector<std::uint32_t> path;
    std::visit(
        [&](const auto& column) {
          for (const auto& [context, value] : stacks.sums(profile.self(), column, stop)) {
            if (out.failed()) return;
            if (value == 0) continue;
            if (value < 0) {
              ++n_negative;
              continue;
            }
            writers::path_of(profile, context, path);
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
        },
        profile.self().values[metric.v]);
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
