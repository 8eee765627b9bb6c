#include "formats/massif/snapshots.h"

#include "core/support/checked.h"
#include "formats/support/each_line.h"
#include "formats/support/line_reader.h"
#include "formats/support/text_number.h"

namespace profd::massif {
namespace {

class Parser {
 public:
  Parser(std::string_view text, std::size_t base, ReadContext& context)
      : lines_(text), base_(base), context_(context) {}

  Result<File> run() {
    PROFD_CHECK(each_line(lines_, context_, {.step = 4u << 20}, [&](std::string_view line) {
      offset_ = base_ + lines_.offset();
      return read_line(line);
    }));
    PROFD_CHECK(end_snapshot());
    if (out_.snapshots.empty()) return fail(ErrorCode::malformed, "the file has no snapshot", offset_);
    return std::move(out_);
  }

 private:
  Result<void> read_line(std::string_view line) {
    const std::string_view part = trim(line);
    if (part.empty() || part.front() == '#') return {};
    if (in_tree_ && (part.front() == 'n')) return read_node(line);
    in_tree_ = false;
    if (part.starts_with("desc:")) {
      out_.desc.push_back(trim(part.substr(5)));
      return {};
    }
    if (part.starts_with("cmd:")) {
      out_.command = trim(part.substr(4));
      return {};
    }
    if (part.starts_with("time_unit:")) {
      out_.time_unit = trim(part.substr(10));
      return {};
    }
    const std::size_t equals = part.find('=');
    const std::string_view key = part.substr(0, equals);
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view() : part.substr(equals + 1);
    if (key == "snapshot") {
      PROFD_CHECK(end_snapshot());
      Snapshot& next = out_.snapshots.emplace_back();
      next.offset = offset_;
      open_ = true;
      n_fields_ = 0;
      if (!parse_uint(value, next.number))
        return fail(ErrorCode::malformed, "the number of a snapshot is none", offset_);
      return {};
    }
    if (!open_) return fail(ErrorCode::malformed, "a line stands before the first snapshot", offset_);
    Snapshot& now = out_.snapshots.back();
    if (key == "heap_tree") {
      now.kind = value == "peak" ? Kind::peak : value == "detailed" ? Kind::detailed : Kind::empty;
      if (value != "peak" && value != "detailed" && value != "empty")
        return fail(ErrorCode::malformed, "the tree of a snapshot is neither empty, detailed nor peak",
                    offset_);
      in_tree_ = now.kind != Kind::empty;
      ++n_fields_;
      return {};
    }
    std::int64_t* const field = key == "time"               ? &now.time
                                : key == "mem_heap_B"       ? &now.heap
                                : key == "mem_heap_extra_B" ? &now.extra
                                : key == "mem_stacks_B"     ? &now.stacks
                                                            : nullptr;
    if (!field) {
      context_.report.add("unknown-line", Severity::loss, "lines of an unknown kind were not read", offset_);
      return {};
    }
    if (!parse_int(value, *field))
      return fail(ErrorCode::malformed, "a size or a time of a snapshot is no number", offset_);
    ++n_fields_;
    return {};
  }

  // "  n2: 160000 0x10A8B2: worker(int, int) (demo.cpp:18)": as many blanks as the node is deep.
  Result<void> read_node(std::string_view line) {
    std::vector<Node>& nodes = out_.snapshots.back().nodes;
    const std::size_t depth = line.find('n');
    std::string_view text = line.substr(depth + 1);
    const std::size_t colon = text.find(": ");
    Node node;
    if (colon == std::string_view::npos || !parse_uint(text.substr(0, colon), node.n_expected))
      return fail(ErrorCode::malformed, "a line of a heap tree has no number of callers", offset_);
    text.remove_prefix(colon + 2);
    const std::size_t blank = std::min(text.find(' '), text.size());
    if (!parse_int(text.substr(0, blank), node.bytes) || node.bytes < 0)
      return fail(ErrorCode::malformed, "a line of a heap tree has no size", offset_);
    node.frame = trim(text.substr(blank));
    node.places = node.frame.starts_with("in ");
    if (depth > context_.limits.stack_depth)
      return fail(ErrorCode::limit, "a heap tree is too deep (limit stack_depth)", offset_);
    if (depth > path_.size() || (depth == 0 && !nodes.empty()))
      return fail(ErrorCode::malformed, "a line of a heap tree is deeper than the one above allows", offset_);
    path_.resize(depth);
    if (depth > 0) {
      node.parent = path_.back();
      Node& parent = nodes[node.parent];
      ++parent.n_children;
      if (!add_saturating(parent.below, node.bytes) || parent.below > parent.bytes)
        return fail(ErrorCode::malformed, "the callers in a heap tree have more than what they call",
                    offset_);
    }
    path_.push_back(static_cast<std::uint32_t>(nodes.size()));
    nodes.push_back(node);
    return {};
  }

  Result<void> end_snapshot() {
    if (!open_) return {};
    open_ = false;
    in_tree_ = false;
    path_.clear();
    Snapshot& now = out_.snapshots.back();
    bool whole = n_fields_ >= 5 && (now.kind == Kind::empty || !now.nodes.empty());
    for (const Node& node : now.nodes) whole &= node.n_expected == node.n_children;
    if (whole && !now.nodes.empty() && now.nodes.front().bytes != now.heap)
      return fail(ErrorCode::malformed, "the tree of a snapshot does not sum to its heap", now.offset);
    if (whole) return {};
    if (!context_.partial)
      return fail(ErrorCode::truncated, "a snapshot is cut off: lines of it are missing", offset_);
    context_.report.add("snapshot-cut", Severity::loss, "a snapshot that was cut off is left out",
                        now.offset);
    out_.snapshots.pop_back();
    return {};
  }

  LineReader lines_;
  std::size_t base_;
  ReadContext& context_;
  File out_;
  bool open_ = false, in_tree_ = false;
  int n_fields_ = 0;
  std::vector<std::uint32_t> path_;  // of the node read last
  std::uint64_t offset_ = 0;
};

}  // namespace

Result<File> parse(std::string_view text, std::size_t base, ReadContext& context) {
  return Parser(text, base, context).run();
}

}  // namespace profd::massif
