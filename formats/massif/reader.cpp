// massif's heap profiles, docs/formats/massif.md.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "formats/massif/snapshots.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"
#include "formats/support/valgrind_frame.h"

namespace profd {
namespace {

using namespace massif;

constexpr std::array<std::string_view, 1> kExtensions{".massif"};
constexpr ReaderNotes kNotes{
    .versions = "Valgrind's, with or without --stacks and --pages-as-heap",
    .keeps =
        "a profile for each snapshot with a tree: bytes by stack, lines, inlining; sizes of all snapshots as "
        "a property",
    .recording = "valgrind --tool=massif ./app",
    .verified =
        "the sizes in the files: every tree sums to its snapshot; seven corpus files counted by a script",
};

// massif keeps at most --max-snapshots (100) of them.
constexpr std::size_t kMaxProfiles = 10'000;

std::string_view name_of(Kind kind) {
  return kind == Kind::peak ? "peak" : kind == Kind::detailed ? "detailed" : "empty";
}

// `--xtree-memory=full --xtree-memory-file=x.ms` writes one tree for each kind of event, as a snapshot whose
// root is `totBk : total allocated Blocks`.
std::string_view xtree_event(const Snapshot& snapshot) {
  if (snapshot.nodes.empty()) return {};
  const std::string_view root = snapshot.nodes.front().frame;
  const std::size_t end = root.find(" : ");
  const std::string_view name = root.substr(0, end);
  return end == std::string_view::npos || name.find(' ') != std::string_view::npos ? std::string_view()
                                                                                   : name;
}

bool is_xtree(const File& file) {
  return !file.desc.empty() && file.desc.front().starts_with("xtree") &&
         std::all_of(file.snapshots.begin(), file.snapshots.end(),
                     [](const Snapshot& s) { return !xtree_event(s).empty(); });
}

// The peak when massif marked one; else the highest that has a tree; else the highest.
std::size_t main_snapshot(const File& file) {
  if (is_xtree(file)) return 0;
  const auto rank = [&](const Snapshot& s) {
    const long double size = static_cast<long double>(s.heap) + static_cast<long double>(s.extra) +
                             static_cast<long double>(s.stacks);
    return std::pair(s.kind == Kind::peak ? 2 : s.kind == Kind::detailed && s.heap > 0 ? 1 : 0, size);
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < file.snapshots.size(); ++i)
    if (rank(file.snapshots[i]) > rank(file.snapshots[best])) best = i;
  return best;
}

class Writer {
 public:
  Writer(const File& file, const Snapshot& snapshot, ReadContext& context, ProfileBuilder& builder)
      : file_(file), s_(snapshot), context_(context), builder_(builder) {}

  void run() {
    if (is_xtree(file_)) {
      const std::string_view event = xtree_event(s_), root = s_.nodes.front().frame;
      const MetricId metric = builder_.add_metric(event, root.ends_with("Blocks") ? "count" : "bytes");
      builder_.set_n_samples(0);
      describe();
      builder_.info().name = event;
      return write_tree(metric);
    }
    const MetricId heap = builder_.add_metric("heap", "bytes");
    const MetricId extra = builder_.add_metric("heap_extra", "bytes");
    const MetricId stacks = builder_.add_metric("stacks", "bytes");
    builder_.set_default_metric(s_.heap == 0 && s_.stacks > 0 ? stacks : heap);
    builder_.set_n_samples(0);
    describe();
    // What massif knows no place of stands at no frame.
    builder_.add_self(kRootContext, extra, s_.extra);
    builder_.add_self(kRootContext, stacks, s_.stacks);
    if (s_.nodes.empty()) {
      builder_.add_self(kRootContext, heap, s_.heap);
      return;
    }
    write_tree(heap);
  }

 private:
  void write_tree(MetricId metric) {
    std::vector<FrameId> frames(s_.nodes.size());
    std::vector<FrameId> stack;
    for (std::size_t n = 0; n < s_.nodes.size(); ++n) {
      const Node& node = s_.nodes[n];
      if (node.places)
        context_.report.add(
            "below-threshold", Severity::info,
            "massif left out callers that have too little; what they have stands at what they call");
      if (n > 0 && !node.places) frames[n] = frame_of(n);
      // What callers below the threshold have is of the stack that ends here.
      const std::int64_t own = node.places ? node.bytes : node.bytes - node.below;
      if (own == 0) continue;
      stack.clear();
      for (std::uint32_t at = static_cast<std::uint32_t>(n); at != 0 && at != kNone; at = s_.nodes[at].parent)
        if (frames[at].valid()) stack.push_back(frames[at]);
      builder_.add_self(builder_.context_of(stack), metric, own);
    }
  }

  void describe() {
    ProfileInfo& info = builder_.info();
    info.name = fmt::format("snapshot {}{}", s_.number, s_.kind == Kind::peak ? " (peak)" : "");
    info.producer = "massif";
    info.program = file_.command.substr(0, file_.command.find(' '));
    for (std::string_view desc : file_.desc) info.comments.emplace_back(desc);
    info.properties.emplace_back("cmd", file_.command);
    info.properties.emplace_back("snapshot", fmt::format("{}", s_.number));
    info.properties.emplace_back("snapshot_kind", name_of(s_.kind));
    info.properties.emplace_back("time", fmt::format("{}", s_.time));
    info.properties.emplace_back("time_unit", file_.time_unit);
    if (!s_.nodes.empty()) info.properties.emplace_back("allocated_by", s_.nodes.front().frame);
  }

  FrameId frame_of(std::size_t n) {
    const ValgrindFrame text = parse_valgrind_frame(s_.nodes[n].frame);
    FunctionSpec function;
    const bool unknown = text.name == "???" || text.name.empty();
    const std::string_view module = text.module.substr(text.module.rfind('/') + 1);
    function.name = builder_.string(!unknown         ? std::string(text.name)
                                    : module.empty() ? std::string("[unknown]")
                                                     : fmt::format("[{}]", module));
    function.file = builder_.string(text.file);
    function.unresolved = unknown;
    FrameSpec frame;
    frame.function = builder_.function(function);
    if (!text.module.empty()) frame.module = builder_.module({.name = text.module});
    frame.line = text.line;
    frame.address = text.address;
    // One address after another that is the same: code that was inlined into its caller.
    if (n + 1 < s_.nodes.size() && s_.nodes[n + 1].parent == n && text.address != 0)
      frame.inlined = parse_valgrind_frame(s_.nodes[n + 1].frame).address == text.address;
    return builder_.frame(frame);
  }

  const File& file_;
  const Snapshot& s_;
  ReadContext& context_;
  ProfileBuilder& builder_;
};

class MassifReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "massif", "massif heap snapshots", kExtensions, 720, "valgrind --tool=massif", 2, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    LineReader lines(sniff_text(prefix));
    bool command = false, unit = false;
    std::string_view line;
    for (int i = 0; i < 100 && lines.next(line); ++i) {
      if (line.starts_with("cmd:")) command = true;
      if (line.starts_with("time_unit:")) unit = true;
      if (line.starts_with("snapshot=")) return command && unit ? Confidence::certain : Confidence::no;
      if (!line.starts_with("desc:") && !line.starts_with("cmd:") && !line.starts_with("time_unit:") &&
          !line.starts_with("#") && !trim(line).empty())
        return Confidence::no;
    }
    return Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    PROFD_TRY(const File file, parse(text.text, text.offset, context));
    const std::size_t first = main_snapshot(file);
    Writer(file, file.snapshots[first], context, profiles.emplace_back()).run();
    std::string series;
    for (const Snapshot& s : file.snapshots)
      series +=
          fmt::format("{},{},{},{},{},{}\n", s.number, s.time, s.heap, s.extra, s.stacks, name_of(s.kind));
    profiles.front().info().properties.emplace_back("snapshots",
                                                    "number,time,heap,heap_extra,stacks,tree\n" + series);
    for (std::size_t i = 0; i < file.snapshots.size(); ++i) {
      PROFD_CHECK(context.stop.status());
      if (i == first || file.snapshots[i].kind == Kind::empty) continue;
      if (profiles.size() >= kMaxProfiles)
        return fail(ErrorCode::limit,
                    fmt::format("the file holds more than {} snapshots with a tree", kMaxProfiles));
      Writer(file, file.snapshots[i], context, profiles.emplace_back()).run();
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_massif_reader() {
  return std::make_unique<MassifReader>();
}

}  // namespace profd
