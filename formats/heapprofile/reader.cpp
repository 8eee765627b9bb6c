// V8 sampling heap profiles: Chrome DevTools, `node --heap-prof`, the inspector's HeapProfiler domain.
// docs/formats/heapprofile.md says what is read and what is lost.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"
#include "formats/support/v8_frame.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".heapprofile"};
constexpr ReaderNotes kNotes{
    .versions = "V8's sampling heap profile, with or without samples",
    .keeps = "bytes alive by function with file and line, order of allocation as label",
    .recording = "node --heap-prof app.js",
    .verified = "sums over the JSON of two corpus files, top functions",
};

// Struct-of-arrays by node, every node after its parent.
struct Nodes {
  std::vector<std::uint32_t> parent;
  std::vector<V8Frame> frame;
  std::vector<std::int64_t> self, id;
  std::vector<std::uint64_t> place;
};

struct Sample {
  std::uint32_t node = 0;
  std::int64_t size = 0, ordinal = 0;
};

class HeapReading {
 public:
  HeapReading(const DecodedText& text, ReadContext& context)
      // Nodes nest two levels deep each.
      : context_(context),
        in_(text.text,
            static_cast<std::uint32_t>(std::min<std::uint64_t>(
                std::uint64_t{context.limits.stack_depth} * 2 + context.limits.nesting, kNone)),
            text.offset) {}

  Result<void> read(std::vector<ProfileBuilder>& profiles) {
    std::optional<std::uint64_t> head, samples;
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      if (key == "head" && in_.kind() == JsonKind::object) head = in_.offset();
      if (key == "samples" && in_.kind() == JsonKind::array) samples = in_.offset();
      in_.skip();
    }
    PROFD_CHECK(in_.finish());
    if (!head) return fail(ErrorCode::malformed, "the profile has no head");
    in_.seek(*head, 1);
    PROFD_CHECK(read_tree());
    std::vector<Sample> rows;
    bool whole = false;
    if (samples) {
      in_.seek(*samples, 1);
      PROFD_CHECK(read_samples(rows, whole));
    }
    add(rows, whole);
    if (in_.n_repaired() > 0)
      context_.report.add("invalid-text", Severity::loss, "Names that are no valid text were repaired.",
                          std::nullopt, in_.n_repaired());
    builder_.info().format = "heapprofile";
    builder_.info().producer = "V8";
    profiles.push_back(std::move(builder_));
    return {};
  }

 private:
  std::uint32_t open(std::uint32_t parent) {
    nodes_.parent.push_back(parent);
    nodes_.frame.emplace_back();
    nodes_.self.push_back(0);
    nodes_.id.push_back(-1);
    nodes_.place.push_back(in_.offset());
    in_.begin_object();
    return static_cast<std::uint32_t>(nodes_.parent.size() - 1);
  }

  void member(std::uint32_t node, std::string_view key) {
    if (key == "callFrame" && in_.kind() == JsonKind::object) {
      nodes_.frame[node] = read_v8_frame(in_, builder_);
    } else if (key == "selfSize") {
      const std::uint64_t at = in_.offset();
      nodes_.self[node] = in_.integer();
      if (nodes_.self[node] < 0) in_.fail_at(at, ErrorCode::malformed, "selfSize is negative");
    } else if (key == "id" && in_.kind() == JsonKind::number) {
      nodes_.id[node] = in_.integer();
    } else {
      in_.skip();
    }
  }

  // No recursion: stacks can be as deep as a file likes.
  Result<void> read_tree() {
    std::string_view key;
    std::vector<std::uint32_t> path{open(kNone)};
    bool in_children = false;
    while (!path.empty() && in_.ok()) {
      if (in_children) {
        in_children = in_.next_element();
        if (!in_children) continue;
        path.push_back(open(path.back()));
        in_children = false;
        if ((path.back() & 4095u) == 0) PROFD_CHECK(context_.stop.status());
      } else if (in_.next_key(key)) {
        if (key == "children" && in_.kind() == JsonKind::array)
          in_children = in_.begin_array();
        else
          member(path.back(), key);
      } else {
        path.pop_back();
        in_children = !path.empty();
      }
    }
    if (in_.ok()) return {};
    return tl::unexpected<Error>(
        Error(in_.status().error()).in(fmt::format("node {}", nodes_.parent.size() - 1)));
  }

  // `whole`: the samples of every node add up to its size.
  Result<void> read_samples(std::vector<Sample>& out, bool& whole) {
    std::unordered_map<std::int64_t, std::uint32_t> row_of;
    for (std::uint32_t i = 0; i < nodes_.id.size(); ++i) {
      if (nodes_.id[i] >= 0 && !row_of.try_emplace(nodes_.id[i], i).second)
        return fail(ErrorCode::malformed, fmt::format("node id {} occurs twice", nodes_.id[i]),
                    nodes_.place[i]);
    }
    std::vector<std::int64_t> left = nodes_.self;
    whole = true;
    std::uint64_t n_missing = 0;
    std::string_view key;
    for (in_.begin_array(); in_.next_element();) {
      std::int64_t node = -1;
      Sample sample;
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "size")
          sample.size = in_.integer();
        else if (key == "nodeId")
          node = in_.integer();
        else if (key == "ordinal")
          sample.ordinal = in_.integer();
        else
          in_.skip();
      }
      const auto found = row_of.find(node);
      if (!in_.ok()) break;
      // Nodes whose allocations were all freed are left out of the tree, their samples are not always.
      if (found == row_of.end()) {
        ++n_missing;
        continue;
      }
      sample.node = found->second;
      if (__builtin_sub_overflow(left[sample.node], sample.size, &left[sample.node])) whole = false;
      out.push_back(sample);
    }
    PROFD_CHECK(in_.status());
    whole = whole && std::all_of(left.begin(), left.end(), [](std::int64_t rest) { return rest == 0; });
    if (n_missing > 0)
      context_.report.add("sample-without-node", Severity::info,
                          "Samples name nodes that are not in the tree; they are left out.", std::nullopt,
                          n_missing);
    if (!whole)
      context_.report.add("samples-differ", Severity::info,
                          "The samples do not add up to the sizes of the nodes; the sizes are taken.");
    return {};
  }

  void add(const std::vector<Sample>& rows, bool whole) {
    const MetricId size = builder_.add_metric("size", "bytes");
    std::vector<ContextId> context(nodes_.parent.size());
    for (std::size_t i = 0; i < context.size(); ++i) {
      const ContextId above = nodes_.parent[i] == kNone ? kRootContext : context[nodes_.parent[i]];
      const FunctionId function = v8_function(nodes_.frame[i], builder_);
      context[i] = above;
      if (function.valid()) {
        FrameSpec frame;
        frame.function = function;
        frame.kind = v8_kind(nodes_.frame[i], builder_);
        context[i] = builder_.context(above, builder_.frame(frame));
      }
      if (!whole && nodes_.self[i] != 0) builder_.add_self(context[i], size, nodes_.self[i]);
    }
    if (!whole) return;
    Label ordinal;
    ordinal.key = builder_.string("ordinal");
    ordinal.is_number = true;
    for (const Sample& row : rows) {
      ordinal.number = row.ordinal;
      SampleContext where;
      where.labels = builder_.label_set({&ordinal, 1});
      builder_.add_sample(context[row.node], std::array<std::int64_t, 1>{row.size}, where);
    }
  }

  ReadContext& context_;
  JsonCursor in_;
  ProfileBuilder builder_;
  Nodes nodes_;
};

class HeapprofileReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"heapprofile", "V8 sampling heap profile",          kExtensions,
                                 412,           "Chrome DevTools, node --heap-prof", 2,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    const JsonKey* head = keys.find("head");
    if (keys.kind() != JsonKind::object || head == nullptr || head->kind != JsonKind::object)
      return Confidence::no;
    const JsonKeys node = json_keys(head->value);
    const bool frame = node.has("callFrame", JsonKind::object);
    if (frame && node.has("selfSize", JsonKind::number)) return Confidence::certain;
    return frame && !node.complete() && node.find("hitCount") == nullptr ? Confidence::maybe : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    return HeapReading(decoded, context).read(profiles);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_heapprofile_reader() {
  return std::make_unique<HeapprofileReader>();
}

}  // namespace profd
