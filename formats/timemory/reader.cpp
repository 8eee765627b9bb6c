// timemory's JSON: the tree of call nodes (`*.tree.json`) and the flat list with depths.
// docs/formats/timemory.md says what is read and what is lost.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_number.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 2> kExtensions{".tree.json", ".timemory.json"};
constexpr ReaderNotes kNotes{
    .versions = "*.tree.json and flat *.json",
    .keeps =
        "own values and laps of every component by rank, process and thread, files and lines; no statistics",
    .recording = "TIMEMORY_JSON_OUTPUT=ON TIMEMORY_TREE_OUTPUT=ON ./app",
    .verified = "hatchet on one tree: sum, top functions; the flat form: only hand-made files",
};

struct Metric {
  std::string name, unit;
};

// One number of one call node.
struct Entry {
  ContextId at;
  ThreadId thread;
  std::uint32_t metric;
  double value;
};

// A node of either layout while it is read.
struct Node {
  std::string prefix;
  std::vector<std::int64_t> tids, pids;
  std::int64_t depth = 0;
  bool is_dummy = false;
  double laps = 0;
  std::vector<std::pair<std::string, double>> values;  // by the name of the part, "" when there is one
};

// ">>> |_func@file.cpp:12/label" -> frame.
FrameSpec frame_of(std::string_view prefix, ProfileBuilder& builder) {
  const std::size_t arrows = prefix.find(">>>");
  if (arrows != std::string_view::npos && arrows < 16) prefix.remove_prefix(arrows + 3);
  prefix = trim(prefix);
  if (prefix.starts_with("|_")) prefix.remove_prefix(2);
  FrameSpec frame;
  std::string name(prefix);
  const std::size_t at = prefix.find('@');
  const std::size_t colon = at == std::string_view::npos ? at : prefix.find(':', at);
  if (colon != std::string_view::npos && at > 0) {
    std::size_t end = colon + 1;
    while (end < prefix.size() && prefix[end] >= '0' && prefix[end] <= '9') ++end;
    std::uint32_t line = 0;
    if (parse_uint(prefix.substr(colon + 1, end - colon - 1), line) && line != kNone) {
      frame.line = line;
      frame.file = builder.string(prefix.substr(at + 1, colon - at - 1));
      name = std::string(prefix.substr(0, at)) + std::string(prefix.substr(end));
    }
  }
  frame.function = builder.function(name.empty() ? std::string_view("(unnamed)") : std::string_view(name));
  return frame;
}

class Reading {
 public:
  Reading(JsonCursor in, ReadContext& context, ProfileBuilder& builder)
      : in_(std::move(in)), context_(context), builder_(builder) {}

  Result<void> run() {
    std::string_view key;
    bool any = false;
    for (in_.begin_object(); in_.next_key(key);) {
      if (key == "timemory" && in_.kind() == JsonKind::object) {
        any = true;
        for (in_.begin_object(); in_.next_key(key);) {
          const std::string name(key);
          component(name);
        }
      } else {
        in_.skip();
      }
    }
    PROFD_CHECK(in_.finish());
    if (!any) return fail(ErrorCode::malformed, "the file has no object timemory");
    PROFD_CHECK(context_.stop.status());
    return finish();
  }

 private:
  // {"properties": …, "unit_repr": "sec", "mpi": […]}
  void component(const std::string& name) {
    if (in_.kind() != JsonKind::object) return in_.skip();
    std::optional<std::uint64_t> ranks;
    std::uint32_t depth = 0;
    std::string_view key;
    Metric metric{name, ""};
    for (in_.begin_object(); in_.next_key(key);) {
      const JsonKind kind = in_.kind();
      const bool list =
          key == "mpi" || key == "upcxx" || key == "graph" || key == "ranks" || key == "process";
      if (list && kind == JsonKind::array && !ranks) {
        ranks = in_.offset();
        depth = in_.depth();
        in_.skip();
      } else if (key == "unit_repr" && kind == JsonKind::string) {
        metric.unit = in_.string();
      } else if (key == "properties" && kind == JsonKind::object) {
        for (in_.begin_object(); in_.next_key(key);) {
          if (key == "id" && in_.kind() == JsonKind::string)
            metric.name = in_.string();
          else
            in_.skip();
        }
      } else {
        in_.skip();
      }
    }
    if (!ranks || !in_.ok()) return;
    JsonCursor rest = in_;
    in_.seek(*ranks, depth);
    component_ = metric;
    read_ranks();
    if (in_.ok()) in_ = std::move(rest);
  }

  // One element a rank: a list of nodes, an object with a flat graph, or (one process) the nodes themselves.
  void read_ranks() {
    rank_ = -1;
    std::int64_t index = 0;
    for (in_.begin_array(); in_.next_element(); ++index) {
      if (in_.kind() == JsonKind::array) {
        rank_ = index;
        in_.begin_array();
        nodes(false);
      } else if (in_.kind() == JsonKind::object) {
        JsonCursor look = in_;
        bool flat = false;
        std::string_view key;
        for (look.begin_object(); look.next_key(key); look.skip()) flat |= key == "graph";
        if (flat)
          flat_rank();
        else
          nodes(true);
      } else {
        in_.skip();
      }
    }
  }

  // Nodes of an array that was just begun, or the one object at the cursor; children are nested.
  void nodes(bool one) {
    std::vector<ContextId> open;
    bool in_array = !one;
    if (one) {
      in_.begin_object();
      open.push_back(kRootContext);
    }
    std::string_view key;
    while (in_.ok()) {
      if (context_.stop.check()) return;
      if (in_array) {
        if (in_.next_element()) {
          if (!in_.begin_object()) return;
          open.push_back(open.empty() ? kRootContext : open.back());
        } else if (open.empty()) {
          return;
        }
        in_array = false;
      } else if (in_.next_key(key)) {
        if (key == "node" && in_.kind() == JsonKind::object) {
          const Node node = read_node(true);
          if (in_.ok()) open.back() = place(node, open.back());
        } else if (key == "children" && in_.kind() == JsonKind::array) {
          in_.begin_array();
          in_array = true;
        } else {
          in_.skip();
        }
      } else {
        open.pop_back();
        if (one && open.empty()) return;
        in_array = true;
      }
    }
  }

  // {"rank": 0, "graph": [{"prefix", "depth", "entry", …}, …]} in preorder; values are inclusive.
  void flat_rank() {
    std::string_view key;
    std::vector<Node> rows;
    for (in_.begin_object(); in_.next_key(key);) {
      if (key == "rank" && in_.kind() == JsonKind::number) {
        rank_ = in_.integer();
      } else if (key == "graph" && in_.kind() == JsonKind::array) {
        for (in_.begin_array(); in_.next_element();) {
          if (context_.stop.check()) return;
          rows.push_back(read_node(false));
        }
      } else {
        in_.skip();
      }
    }
    if (!in_.ok()) return;
    // Inclusive values less those of the rows one level below.
    std::vector<std::size_t> open;
    std::vector<std::vector<std::pair<std::string, double>>> self;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      while (!open.empty() && rows[open.back()].depth >= rows[i].depth) open.pop_back();
      self.push_back(rows[i].values);
      if (!open.empty()) {
        for (const auto& [part, value] : rows[i].values)
          for (auto& [above, left] : self[open.back()])
            if (above == part) left -= value;
      }
      open.push_back(i);
    }
    std::vector<ContextId> at(rows.size());
    open.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      while (!open.empty() && rows[open.back()].depth >= rows[i].depth) open.pop_back();
      rows[i].values = self[i];
      at[i] = place(rows[i], open.empty() ? kRootContext : at[open.back()]);
      open.push_back(i);
    }
  }

  Node read_node(bool tree) {
    Node node;
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      const JsonKind kind = in_.kind();
      if (key == "prefix" && kind == JsonKind::string) {
        node.prefix = in_.string();
      } else if ((key == "tid" || key == "pid") && (kind == JsonKind::array || kind == JsonKind::number)) {
        auto& ids = key == "tid" ? node.tids : node.pids;
        if (kind == JsonKind::number)
          ids.push_back(in_.integer());
        else
          for (in_.begin_array(); in_.next_element();) ids.push_back(in_.integer());
      } else if (key == "depth" && kind == JsonKind::number) {
        node.depth = in_.integer();
      } else if (key == "is_dummy" && kind == JsonKind::boolean) {
        node.is_dummy = in_.boolean();
      } else if (key == (tree ? "exclusive" : "entry") && kind == JsonKind::object) {
        if (tree)
          for (in_.begin_object(); in_.next_key(key);) {
            if (key == "entry" && in_.kind() == JsonKind::object)
              read_entry(node, true);
            else
              in_.skip();
          }
        else
          read_entry(node, true);
      } else if (key == "inclusive" && tree && kind == JsonKind::object) {
        for (in_.begin_object(); in_.next_key(key);) {
          if (key == "entry" && in_.kind() == JsonKind::object)
            read_entry(node, false);
          else
            in_.skip();
        }
      } else {
        in_.skip();
      }
    }
    return node;
  }

  void read_entry(Node& node, bool values) {
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      const JsonKind kind = in_.kind();
      if (key == "laps" && kind == JsonKind::number) {
        node.laps = std::max(node.laps, in_.number().value);
      } else if (key == "repr_data" && values && kind == JsonKind::number) {
        node.values.emplace_back("", in_.number().value);
      } else if (key == "repr_data" && values && kind == JsonKind::array) {
        std::size_t i = 0;
        for (in_.begin_array(); in_.next_element(); ++i) {
          if (in_.kind() == JsonKind::number)
            node.values.emplace_back(fmt::format("[{}]", i), in_.number().value);
          else
            in_.skip();
        }
      } else if (key == "repr_data" && values && kind == JsonKind::object) {
        for (in_.begin_object(); in_.next_key(key);) {
          const std::string part = "." + std::string(key);
          if (in_.kind() == JsonKind::number)
            node.values.emplace_back(part, in_.number().value);
          else
            in_.skip();
        }
      } else {
        in_.skip();
      }
    }
  }

  std::uint32_t metric(const std::string& name, const std::string& unit) {
    for (std::uint32_t i = 0; i < metrics_.size(); ++i)
      if (metrics_[i].name == name && metrics_[i].unit == unit) return i;
    constexpr std::size_t kMax = 4096;
    if (metrics_.size() == kMax) {
      in_.fail_at(in_.offset(), ErrorCode::limit, fmt::format("more than {} metrics", kMax));
      return 0;
    }
    metrics_.push_back({name, unit});
    return static_cast<std::uint32_t>(metrics_.size() - 1);
  }

  ThreadId thread_of(const Node& node) {
    ThreadSpec thread;
    if (node.pids.size() == 1) thread.pid = node.pids[0];
    std::string process, name;
    if (rank_ >= 0) process = fmt::format("rank {}", rank_);
    if (node.tids.size() == 1) {
      thread.tid = node.tids[0];
    } else if (!node.tids.empty()) {
      // Values of several threads are stored as one.
      for (std::size_t i = 0; i < std::min<std::size_t>(node.tids.size(), 16); ++i)
        name += fmt::format("{}{}", i == 0 ? "threads " : ", ", node.tids[i]);
      if (node.tids.size() > 16) name += ", …";
    }
    thread.name = name;
    thread.process_name = process;
    return builder_.thread(thread);
  }

  // The root that joins threads is none: it has nothing, and less than its children.
  ContextId place(const Node& node, ContextId above) {
    if (node.is_dummy || (node.depth == 0 && node.prefix.starts_with("unknown-hash"))) return above;
    const ContextId at = builder_.context(above, builder_.frame(frame_of(node.prefix, builder_)));
    const ThreadId thread = thread_of(node);
    for (const auto& [part, value] : node.values)
      entries_.push_back({at, thread, metric(component_.name + part, component_.unit), value});
    if (node.laps > 0)
      entries_.push_back({at, thread, metric(component_.name + " laps", "count"), node.laps});
    return at;
  }

  Result<void> finish() {
    if (metrics_.empty()) return fail(ErrorCode::malformed, "no component has a value");
    for (const Metric& metric : metrics_) builder_.add_metric(metric.name, metric.unit, true);
    // A node stands in the tree of every component: its numbers become one row.
    std::unordered_map<std::uint64_t, std::vector<double>> rows;
    std::vector<std::pair<ContextId, ThreadId>> order;
    const auto key = [](const Entry& entry) { return std::uint64_t{entry.at.v} << 32 | entry.thread.v; };
    for (const Entry& entry : entries_) {
      auto& row = rows[key(entry)];
      if (row.empty()) {
        row.assign(metrics_.size(), 0);
        order.emplace_back(entry.at, entry.thread);
      }
      row[entry.metric] += entry.value;
    }
    std::uint64_t n_negative = 0;
    for (const auto& [at, thread] : order) {
      const std::vector<double>& row = rows[std::uint64_t{at.v} << 32 | thread.v];
      for (const double value : row) n_negative += value < 0;
      SampleContext where;
      where.thread = thread;
      builder_.add_sample(at, std::span<const double>(row), where);
    }
    if (n_negative > 0)
      context_.report.add(
          "negative-self", Severity::info,
          "Nodes have less than the nodes below them (threads that overlap); their own value is "
          "negative.",
          std::nullopt, n_negative);
    return {};
  }

  JsonCursor in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  Metric component_;
  std::int64_t rank_ = -1;
  std::vector<Metric> metrics_;
  std::vector<Entry> entries_;
};

class TimemoryReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"timemory", "timemory JSON", kExtensions, 472, "timemory, Omnitrace",
                                 1,          kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const JsonPrefix text(prefix);
    return json_keys(text.text()).has("timemory", JsonKind::object) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    ProfileBuilder builder;
    // A node nests an object and an array.
    const std::uint64_t depth = std::uint64_t{context.limits.stack_depth} * 2 + context.limits.nesting;
    const JsonCursor in(decoded.text, static_cast<std::uint32_t>(std::min<std::uint64_t>(depth, kNone)),
                        decoded.offset);
    auto read = Reading(in, context, builder).run();
    if (!read) {
      Error error = std::move(read).error();
      if (source.truncated()) error.code = ErrorCode::truncated;
      return tl::unexpected<Error>(std::move(error));
    }
    builder.info().format = "timemory";
    builder.info().producer = "timemory";
    profiles.push_back(std::move(builder));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_timemory_reader() {
  return std::make_unique<TimemoryReader>();
}

}  // namespace profd
