// V8 heap snapshots: Chrome DevTools, v8.writeHeapSnapshot(), and what `bun --heap-prof` calls a
// .heapprofile. docs/formats/heapsnapshot.md says what is read and what is lost.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/dominators.h"
#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".heapsnapshot"};
constexpr ReaderNotes kNotes{
    .versions = "V8's heap snapshot, of any fields: Chrome, Node, Deno, Bun",
    .keeps =
        "bytes and number of objects by constructor, below what keeps them alive: a total is what is "
        "retained",
    .recording = "bun --heap-prof app.js",
    .verified = "retained sizes of two corpus files against memlab's heap analysis",
};

// Which of the numbers of a node or an edge is which; a file says it itself.
struct Layout {
  static constexpr std::uint32_t kMissing = 64;  // more fields than any has

  std::uint32_t stride = 0;
  std::uint32_t type = kMissing, name = kMissing, id = kMissing, size = kMissing, n_edges = kMissing,
                to = kMissing;
  std::vector<std::string> types;
};

enum class EdgeKind : std::uint8_t { other, internal, shortcut, weak };

class SnapshotReading {
 public:
  SnapshotReading(const DecodedText& text, ReadContext& context)
      : context_(context), in_(text.text, context.limits.nesting, text.offset) {}

  Result<void> read(std::vector<ProfileBuilder>& profiles) {
    std::optional<std::uint64_t> snapshot, nodes, edges, strings;
    bool traces = false;
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      const std::uint64_t at = in_.offset();
      if (key == "snapshot" && in_.kind() == JsonKind::object) snapshot = at;
      if (key == "nodes" && in_.kind() == JsonKind::array) nodes = at;
      if (key == "edges" && in_.kind() == JsonKind::array) edges = at;
      if (key == "strings" && in_.kind() == JsonKind::array) strings = at;
      const bool is_traces = key == "trace_tree" && in_.kind() == JsonKind::array;
      in_.skip();
      traces = traces || (is_traces && in_.offset() - at > std::string_view("[ ]").size());
    }
    PROFD_CHECK(in_.finish());
    if (!snapshot || !nodes || !edges || !strings)
      return fail(ErrorCode::malformed, fmt::format("the snapshot has no {}", !snapshot ? "head"
                                                                              : !nodes  ? "nodes"
                                                                              : !edges  ? "edges"
                                                                                        : "strings"));
    in_.seek(*snapshot, 1);
    PROFD_CHECK(read_head());
    frame_of_type_.resize(node_.types.size());
    size_ = builder_.add_metric("size", "bytes");
    objects_ = builder_.add_metric("objects", "count");
    in_.seek(*nodes, 1);
    PROFD_CHECK(read_nodes());
    in_.seek(*strings, 1);
    PROFD_CHECK(read_strings());
    in_.seek(*edges, 1);
    PROFD_CHECK(read_edges());
    PROFD_CHECK(place());
    if (traces)
      context_.report.add(
          "allocation-traces", Severity::info,
          "The stacks that allocated the objects are not read; the profile says what keeps them.");
    if (in_.n_repaired() > 0)
      context_.report.add("invalid-text", Severity::loss, "Names that are no valid text were repaired.",
                          std::nullopt, in_.n_repaired());
    builder_.info().format = "heapsnapshot";
    profiles.push_back(std::move(builder_));
    return {};
  }

 private:
  void read_fields(Layout& layout) {
    for (in_.begin_array(); in_.next_element(); ++layout.stride) {
      const std::string_view name = in_.string();
      if (name == "type") layout.type = layout.stride;
      if (name == "name" || name == "name_or_index") layout.name = layout.stride;
      if (name == "id") layout.id = layout.stride;
      if (name == "self_size") layout.size = layout.stride;
      if (name == "edge_count") layout.n_edges = layout.stride;
      if (name == "to_node") layout.to = layout.stride;
    }
  }

  // The types of the first field are a list of names, those of the others one word each.
  void read_types(Layout& layout) {
    for (in_.begin_array(); in_.next_element();) {
      if (in_.kind() != JsonKind::array || !layout.types.empty()) {
        in_.skip();
        continue;
      }
      for (in_.begin_array(); in_.next_element();) layout.types.emplace_back(in_.string());
    }
  }

  Result<void> read_head() {
    std::string_view key;
    const std::uint64_t at = in_.offset();
    for (in_.begin_object(); in_.next_key(key);) {
      if (key != "meta" || in_.kind() != JsonKind::object) {
        in_.skip();
        continue;
      }
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "node_fields")
          read_fields(node_);
        else if (key == "edge_fields")
          read_fields(edge_);
        else if (key == "node_types")
          read_types(node_);
        else if (key == "edge_types")
          read_types(edge_);
        else
          in_.skip();
      }
    }
    PROFD_CHECK(in_.status());
    for (const std::uint32_t field : {node_.type, node_.name, node_.id, node_.size, node_.n_edges})
      if (field >= Layout::kMissing || node_.stride > Layout::kMissing)
        return fail(ErrorCode::malformed, "the head does not say which fields a node has", at);
    for (const std::uint32_t field : {edge_.type, edge_.name, edge_.to})
      if (field >= Layout::kMissing || edge_.stride > Layout::kMissing)
        return fail(ErrorCode::malformed, "the head does not say which fields an edge has", at);
    return {};
  }

  // Records of `layout.stride` numbers each; `take` gets them with the place of the record.
  template <class Take>
  Result<void> read_records(const Layout& layout, std::string_view what, Take take) {
    std::array<std::int64_t, Layout::kMissing> record{};
    std::uint32_t field = 0;
    std::uint64_t n = 0, at = in_.offset();
    for (in_.begin_array(); in_.next_element();) {
      if (field == 0) at = in_.offset();
      record[field] = in_.integer();
      if (++field < layout.stride) continue;
      field = 0;
      if (!in_.ok()) break;
      if (++n >= kNone) return fail(ErrorCode::limit, fmt::format("more than {} {}s", kNone, what), at);
      if (n % 4096 == 0) PROFD_CHECK(context_.stop.status());
      PROFD_CHECK(take(record, at));
    }
    PROFD_CHECK(in_.status());
    if (field != 0)
      return fail(ErrorCode::malformed,
                  fmt::format("the last {} has {} of {} fields", what, field, layout.stride), at);
    return {};
  }

  // What the objects of a type are shown under: those of a program by their constructor.
  static bool is_named(std::string_view type) {
    return type == "object" || type == "native" || type == "synthetic";
  }

  Result<void> read_nodes() {
    PROFD_CHECK(read_records(node_, "node", [&](const auto& record, std::uint64_t at) -> Result<void> {
      const std::int64_t type = record[node_.type], name = record[node_.name],
                         n_edges = record[node_.n_edges];
      if (type < 0 || type >= static_cast<std::int64_t>(node_.types.size()))
        return fail(ErrorCode::malformed, fmt::format("node type {} is none of {}", type, node_.types.size()),
                    at);
      if (record[node_.size] < 0) return fail(ErrorCode::malformed, "a node's self_size is negative", at);
      if (n_edges < 0 || n_edges >= kNone)
        return fail(ErrorCode::malformed, fmt::format("a node has {} edges", n_edges), at);
      if (name < 0 || name >= kNone) return fail(ErrorCode::malformed, "a node's name is no string", at);
      const auto kind = static_cast<std::uint32_t>(type);
      type_.push_back(kind);
      id_.push_back(record[node_.id]);
      self_.push_back(record[node_.size]);
      n_edges_.push_back(static_cast<std::uint32_t>(n_edges));
      if (is_named(node_.types[kind])) {
        name_.push_back(static_cast<std::uint32_t>(name));
        frame_of_name_.try_emplace(name_.back());
      } else {
        name_.push_back(kNone);
      }
      return {};
    }));
    if (type_.empty()) return fail(ErrorCode::malformed, "the snapshot has no node");
    return {};
  }

  FrameId frame(std::string_view name) {
    FrameSpec spec;
    spec.function = builder_.function(name);
    spec.kind = FrameKind::data_object;
    return builder_.frame(spec);
  }

  // Most strings are contents of the heap. Those of constructors are kept, and the table of a weak map out of
  // the names of its edges.
  Result<void> read_strings() {
    constexpr std::string_view kPair = "pair in WeakMap (table @";
    std::uint32_t n = 0;
    for (in_.begin_array(); in_.next_element(); ++n) {
      if (n % 4096 == 0) PROFD_CHECK(context_.stop.status());
      if (n == kNone) return fail(ErrorCode::limit, "too many strings", in_.offset());
      const std::string_view text = in_.string();
      if (const auto found = frame_of_name_.find(n); found != frame_of_name_.end() && !text.empty())
        found->second = frame(text);
      const std::size_t pair = text.rfind(kPair);
      std::int64_t table = 0;
      if (pair != text.npos && text.ends_with(')') &&
          parse_int(text.substr(pair + kPair.size(), text.size() - pair - kPair.size() - 1), table))
        table_of_name_.emplace(n, table);
    }
    PROFD_CHECK(in_.status());
    for (const auto& [name, unused] : frame_of_name_)
      if (name >= n)
        return fail(ErrorCode::malformed, fmt::format("a node is called string {} of {}", name, n));
    return {};
  }

  Result<void> read_edges() {
    std::vector<EdgeKind> kinds;
    for (const std::string& type : edge_.types)
      kinds.push_back(type == "weak"       ? EdgeKind::weak
                      : type == "shortcut" ? EdgeKind::shortcut
                      : type == "internal" ? EdgeKind::internal
                                           : EdgeKind::other);
    std::uint32_t from = 0, left = n_edges_[0];
    const auto n_nodes = static_cast<std::uint32_t>(type_.size());
    PROFD_CHECK(read_records(edge_, "edge", [&](const auto& record, std::uint64_t at) -> Result<void> {
      while (left == 0 && from < n_nodes)
        if (++from < n_nodes) left = n_edges_[from];
      if (from == n_nodes) return fail(ErrorCode::malformed, "there are more edges than the nodes say", at);
      --left;
      const std::int64_t type = record[edge_.type], to = record[edge_.to];
      if (type < 0 || type >= static_cast<std::int64_t>(kinds.size()))
        return fail(ErrorCode::malformed, fmt::format("edge type {} is none of {}", type, kinds.size()), at);
      if (to < 0 || to % node_.stride != 0 || to / node_.stride >= n_nodes)
        return fail(ErrorCode::malformed, fmt::format("an edge leads to {}, where no node begins", to), at);
      const auto target = static_cast<std::uint32_t>(to / node_.stride);
      if (keeps_alive(kinds[static_cast<std::size_t>(type)], from, target, record[edge_.name]))
        edges_.emplace_back(from, target);
      return {};
    }));
    while (left == 0 && from < n_nodes)
      if (++from < n_nodes) left = n_edges_[from];
    if (from != n_nodes) return fail(ErrorCode::malformed, fmt::format("edges of node {} are missing", from));
    return {};
  }

  // A value in a weak map lives as long as its key: the key has an edge to it, and the edge of the map's
  // table does not count. A shortcut is the way to what belongs to a program where it comes from the root.
  bool keeps_alive(EdgeKind kind, std::uint32_t from, std::uint32_t to, std::int64_t name) const {
    if (kind == EdgeKind::weak || from == to) return false;
    if (kind == EdgeKind::shortcut) return from == 0;
    if (kind != EdgeKind::internal || name < 0 || name >= kNone) return true;
    const auto table = table_of_name_.find(static_cast<std::uint32_t>(name));
    return table == table_of_name_.end() || table->second != id_[from];
  }

  FrameId frame_of(std::uint32_t node) {
    if (name_[node] != kNone)
      if (const FrameId named = frame_of_name_.at(name_[node]); named.valid()) return named;
    FrameId& known = frame_of_type_[type_[node]];
    if (!known.valid()) known = frame("(" + node_.types[type_[node]] + ")");
    return known;
  }

  // Every object below what dominates it, so that the total of a path is what would be freed with it. A chain
  // of one constructor (a list of a million links) is one frame.
  Result<void> place() {
    const auto n = static_cast<std::uint32_t>(type_.size());
    PROFD_CHECK(context_.stop.status());
    const Dominators tree = find_dominators(n, edges_);
    PROFD_CHECK(context_.stop.status());
    edges_ = {};
    std::vector<ContextId> context(n);
    std::vector<std::uint32_t> depth(n, 0);
    std::vector<bool> placed(n);
    std::uint64_t n_deep = 0;
    for (const std::uint32_t node : tree.order) {
      placed[node] = true;
      context[node] = kRootContext;
      if (const std::uint32_t above = tree.idom[node]; above != kNone) {
        const FrameId own = frame_of(node);
        context[node] = context[above];
        depth[node] = depth[above];
        if (above == 0 || own != frame_of(above)) {
          if (depth[above] < context_.limits.stack_depth) {
            context[node] = builder_.context(context[above], own);
            ++depth[node];
          } else {
            ++n_deep;
          }
        }
      }
      add(context[node], node);
      if ((node & 4095u) == 0) PROFD_CHECK(context_.stop.status());
    }
    if (n_deep > 0)
      context_.report.add("too-deep", Severity::loss,
                          "Objects that are kept by too long a chain stand with the last of it.",
                          std::nullopt, n_deep);
    add_unreachable(placed);
    return {};
  }

  void add_unreachable(const std::vector<bool>& placed) {
    std::uint64_t n = 0;
    ContextId above;
    for (std::uint32_t node = 0; node < placed.size(); ++node) {
      if (placed[node]) continue;
      if (n++ == 0) above = builder_.context(kRootContext, frame("(not reachable)"));
      add(builder_.context(above, frame_of(node)), node);
    }
    if (n > 0)
      context_.report.add("not-reachable", Severity::info,
                          "Objects that nothing keeps alive stand below (not reachable).", std::nullopt, n);
  }

  void add(ContextId context, std::uint32_t node) {
    if (self_[node] != 0) builder_.add_self(context, size_, self_[node]);
    builder_.add_self(context, objects_, std::int64_t{1});
  }

  ReadContext& context_;
  JsonCursor in_;
  ProfileBuilder builder_;
  Layout node_, edge_;
  MetricId size_, objects_;
  std::vector<std::uint32_t> type_, name_, n_edges_;  // by node; name: kNone where the type is shown
  std::vector<std::int64_t> id_, self_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_;
  std::unordered_map<std::uint32_t, FrameId> frame_of_name_;
  std::unordered_map<std::uint32_t, std::int64_t> table_of_name_;
  std::vector<FrameId> frame_of_type_;
};

class HeapsnapshotReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"heapsnapshot",
                                 "V8 heap snapshot",
                                 kExtensions,
                                 415,
                                 "Chrome DevTools, Node, Deno, bun --heap-prof",
                                 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    static_cast<void>(at_end);
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    const JsonKey* snapshot = keys.find("snapshot");
    if (keys.kind() != JsonKind::object || snapshot == nullptr || snapshot->kind != JsonKind::object)
      return Confidence::no;
    const JsonKeys head = json_keys(snapshot->value);
    const JsonKey* meta = head.find("meta");
    if (meta == nullptr || meta->kind != JsonKind::object) return Confidence::no;
    return json_keys(meta->value).has("node_fields", JsonKind::array) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    return SnapshotReading(decoded, context).read(profiles);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_heapsnapshot_reader() {
  return std::make_unique<HeapsnapshotReader>();
}

}  // namespace profd
