// JSON trees of d3-flame-graph and of those that feed it. docs/formats/d3-flamegraph.md has the keys.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <type_traits>
#include <unordered_map>

#include "core/support/id.h"
#include "formats/d3_flamegraph/nodes.h"
#include "formats/support/frame_text.h"
#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using d3::Nodes;

constexpr std::array<std::string_view, 1> kExtensions{".json"};
constexpr ReaderNotes kNotes{
    .versions = "name, value, children or n, v, c; inclusive or own values",
    .keeps = "names, one value, delta, kinds of frames",
    .recording = "perf script report flamegraph --format json",
    .verified = "perf's flame graph script: samples of a recording; sums over the JSON of two corpus files",
};

// The values of a tree, each less those of its children where they are inclusive.
template <class T>
struct Selfs {
  std::vector<T> value, delta;
  bool inclusive = true;
};

// Values are inclusive unless some inner node has less than its children; then each is a node's own. A root
// that says nothing, or 0, is no witness.
template <class T>
Selfs<T> selfs_of(const Nodes& nodes, const std::vector<T>& values, const std::vector<T>& deltas,
                  std::uint64_t& n_clamped) {
  Selfs<T> out{values, deltas, true};
  const std::size_t n = nodes.size();
  std::vector<T> below(n), delta_below(n);
  const auto add = [&](T& sum, T value) {
    if constexpr (std::is_same_v<T, double>) {
      sum += value;
    } else if (__builtin_add_overflow(sum, value, &sum)) {
      sum = std::numeric_limits<T>::max();
      ++n_clamped;
    }
  };
  for (std::size_t i = n; i-- > 0;) {
    const bool silent = !nodes.has_value[i] || (nodes.parent[i] == kNone && values[i] == 0);
    if (silent) {
      out.value[i] = below[i];
    } else {
      // Sums of fractions may differ in their last bits.
      const T slack = std::is_same_v<T, double> ? values[i] / static_cast<T>(1'000'000'000) : T(0);
      if (below[i] > values[i] + slack) out.inclusive = false;
    }
    if (nodes.parent[i] == kNone) continue;
    add(below[nodes.parent[i]], out.value[i]);
    add(delta_below[nodes.parent[i]], deltas[i]);
  }
  if (!out.inclusive) {
    out.value = values;
    return out;
  }
  for (std::size_t i = 0; i < n; ++i) {
    out.value[i] = std::max<T>(out.value[i] - below[i], 0);
    T delta = 0;
    if constexpr (std::is_same_v<T, double>)
      delta = deltas[i] - delta_below[i];
    else if (__builtin_sub_overflow(deltas[i], delta_below[i], &delta))
      delta = 0, ++n_clamped;
    out.delta[i] = nodes.parent[i] == kNone && deltas[i] == 0 ? 0 : delta;
  }
  return out;
}

FrameSpec frame_spec(ProfileBuilder& builder, StringId name, StringId kind) {
  const std::string text(builder.text(name));
  const FrameText parsed =
      parse_frame_text(text.empty() ? std::string_view("(empty)") : std::string_view(text));
  FrameSpec spec;
  spec.kind = parsed.kind;
  spec.inlined = parsed.inlined;
  spec.line = parsed.line;
  const std::string_view type = builder.text(kind);
  if (type == "kernel") spec.kind = FrameKind::kernel;
  if (type == "jit" || type == "java") spec.kind = FrameKind::jit;
  if (type == "inlined") spec.inlined = true;
  spec.function = builder.function(FunctionSpec{.name = builder.string(parsed.name),
                                                .file = builder.string(parsed.file),
                                                .unresolved = parsed.unresolved});
  return spec;
}

template <class T>
void add_values(const Nodes& nodes, const Selfs<T>& selfs, ProfileBuilder& builder) {
  constexpr bool kFractional = std::is_same_v<T, double>;
  const MetricId value = builder.add_metric("value", "count", kFractional);
  MetricId delta;
  if (nodes.has_delta) delta = builder.add_metric("delta", "count", kFractional);
  std::vector<ContextId> contexts(nodes.size());
  std::unordered_map<std::uint64_t, FrameId> frames;  // by name and kind
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool root = nodes.parent[i] == kNone;
    const std::string_view name = builder.text(nodes.name[i]);
    if (root && (name.empty() || name == "root" || name == "all"))
      contexts[i] = kRootContext;
    else {
      FrameId& frame = frames[std::uint64_t{nodes.name[i].v} << 32 | nodes.kind[i].v];
      if (!frame.valid()) frame = builder.frame(frame_spec(builder, nodes.name[i], nodes.kind[i]));
      contexts[i] = builder.context(root ? kRootContext : contexts[nodes.parent[i]], frame);
    }
    if (selfs.value[i] != 0) builder.add_self(contexts[i], value, selfs.value[i]);
    if (nodes.has_delta && selfs.delta[i] != 0) builder.add_self(contexts[i], delta, selfs.delta[i]);
  }
}

bool is_one_of(const JsonKey& key, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return key.is_named(name); });
}

// The pages of `perf script report flamegraph`: const stacks = [tree];
constexpr std::string_view kStacks = "const stacks = ";

// The JSON text of a file: all of it, or the part of a page.
Result<std::string_view> tree_of(std::string_view text, std::uint32_t nesting) {
  if (!trim(text.substr(0, 256)).starts_with('<')) return text;
  const std::size_t said = text.rfind(kStacks);
  if (said == std::string_view::npos)
    return fail(ErrorCode::unsupported, "the page has no `const stacks = [...]`");
  const std::string_view rest = text.substr(said + kStacks.size());
  JsonCursor in(rest, nesting, said + kStacks.size());
  in.skip();
  PROFD_CHECK(in.status());
  return rest.substr(0, in.offset() - said - kStacks.size());
}

class D3FlamegraphReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"d3-flamegraph",
                                 "d3-flame-graph JSON",
                                 kExtensions,
                                 480,
                                 "d3-flame-graph, stackcollapse to JSON, perf script flamegraph",
                                 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const JsonPrefix json(prefix);
    if (const std::string_view page = trim(json.text().substr(0, 64 * 1024)); page.starts_with('<'))
      return page.find("d3-flame") == std::string_view::npos ? Confidence::no
             : page.find(kStacks) == std::string_view::npos  ? Confidence::maybe
                                                             : Confidence::certain;
    JsonKeys keys = json_keys(json.text());
    if (keys.kind() != JsonKind::object && keys.kind() != JsonKind::array) return Confidence::no;
    // Down the first children: nodes have a name, a value, children and little else.
    bool named = false, valued = false, nested = false, foreign = false;
    for (int level = 0; level < 24 && !keys.keys().empty(); ++level) {
      const JsonKey* children = nullptr;
      for (const JsonKey& key : keys.keys()) {
        const bool list = is_one_of(key, {"children", "c"});
        if (list && (key.kind == JsonKind::array || key.kind == JsonKind::null))
          children = key.kind == JsonKind::array ? &key : nullptr, nested = true;
        else if (is_one_of(key, {"name", "n"}) && key.kind == JsonKind::string)
          named = true;
        else if (is_one_of(key, {"value", "v"}) && key.kind == JsonKind::number)
          valued = true;
        else if (is_one_of(key, {"libtype", "l"}) && key.kind == JsonKind::string)
          continue;
        else if (is_one_of(key, {"delta", "d"}) && key.kind == JsonKind::number)
          continue;
        else if (is_one_of(key, {"id", "tooltip", "color", "highlight", "fade", "hide", "dimmed"}))
          foreign = true;
        else
          return Confidence::no;
      }
      if (!children) break;
      keys = json_keys(children->value);
    }
    if (!nested || !named) return Confidence::no;
    return valued && !foreign ? Confidence::certain : Confidence::maybe;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    ProfileBuilder& builder = profiles.emplace_back();
    // A frame takes two levels of brackets.
    const std::uint32_t nesting =
        std::max(context.limits.nesting, 2 * std::min(context.limits.stack_depth, 1'000'000u) + 8);
    PROFD_TRY(const std::string_view tree, tree_of(text.text, nesting));
    JsonCursor in(tree, nesting, text.offset + static_cast<std::uint64_t>(tree.data() - text.text.data()));
    PROFD_TRY(const Nodes nodes, d3::read_nodes(in, context, builder));
    std::uint64_t n_clamped = 0;
    bool inclusive = true;
    if (nodes.fractional) {
      const auto selfs = selfs_of<double>(nodes, nodes.value, nodes.delta, n_clamped);
      inclusive = selfs.inclusive;
      add_values(nodes, selfs, builder);
    } else {
      const auto selfs = selfs_of<std::int64_t>(nodes, nodes.whole_value, nodes.whole_delta, n_clamped);
      inclusive = selfs.inclusive;
      add_values(nodes, selfs, builder);
    }
    const auto row = [&](std::string_view kind, Severity severity, std::string_view message,
                         std::uint64_t n) { context.report.add(kind, severity, message, std::nullopt, n); };
    row("own-values", Severity::info,
        "some frame has less than its children: the values are taken as each frame's own", inclusive ? 0 : 1);
    row("negative-value", Severity::loss, "negative values were taken as 0", nodes.n_negative);
    row("value-too-large", Severity::loss, "sums beyond 64 bits were clamped", n_clamped);
    row("other-key", Severity::info, "keys that are no part of the format were not read", nodes.n_other_keys);
    row("repaired-text", Severity::info, "names with ill-formed text were repaired with U+FFFD",
        in.n_repaired());
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_d3_flamegraph_reader() {
  return std::make_unique<D3FlamegraphReader>();
}

}  // namespace profd
