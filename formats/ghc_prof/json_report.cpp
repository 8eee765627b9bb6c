#include "formats/ghc_prof/json_report.h"

#include <algorithm>
#include <unordered_map>

#include "formats/ghc_prof/cost_centre.h"
#include "formats/support/json_cursor.h"

namespace profd::ghc_prof {
namespace {

class JsonReading {
 public:
  JsonReading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : in_(text.text, 2 * std::min(context.limits.stack_depth, 500'000u) + 16, text.offset),
        context_(context),
        builder_(builder) {}

  Result<void> run() {
    builder_.add_metric("time", "nanoseconds");
    builder_.add_metric("ticks", "count");
    builder_.add_metric("alloc", "bytes");
    builder_.add_metric("entries", "count");
    bool profile = false;
    std::string_view key;
    for (in_.begin_object(); in_.next_key(key);) {
      if (key == "program" && in_.kind() == JsonKind::string) {
        builder_.info().program = in_.string();
      } else if (key == "tick_interval") {
        const std::uint64_t at = in_.offset();
        const std::int64_t us = in_.integer();
        if (us < 0 || us > 1'000'000'000)
          in_.fail_at(at, ErrorCode::malformed, "tick_interval is out of range");
        tick_ns_ = us * 1000;
      } else if (key == "cost_centres") {
        read_cost_centres();
      } else if (key == "profile") {
        profile = true;
        PROFD_CHECK(read_profile());
      } else {
        in_.skip();
      }
    }
    PROFD_CHECK(in_.finish());
    if (!profile) return fail(ErrorCode::malformed, "the report has no profile");
    if (tick_ns_ > 0) {
      builder_.info().period = tick_ns_;
      builder_.info().period_type = "cpu";
      builder_.info().period_unit = "nanoseconds";
    }
    for (const auto& [context, ticks] : times_) {
      std::int64_t ns;
      if (__builtin_mul_overflow(ticks, tick_ns_, &ns)) ns = INT64_MAX;
      builder_.add_self(context, MetricId{0u}, ns);
    }
    return {};
  }

 private:
  void read_cost_centres() {
    std::string_view key;
    for (in_.begin_array(); in_.next_element();) {
      std::int64_t id = -1;
      std::string label, module, source;
      for (in_.begin_object(); in_.next_key(key);) {
        if (key == "id")
          id = in_.integer();
        else if (key == "label")
          label = in_.string();
        else if (key == "module")
          module = in_.string();
        else if (key == "src_loc")
          source = in_.string();
        else
          in_.skip();
      }
      if (in_.ok()) frames_[id] = cost_centre_frame(builder_, label, module, source);
    }
  }

  struct Open {
    ContextId context;
    bool has_id = false;
    std::int64_t entries = 0, ticks = 0, alloc = 0;
  };

  // The nodes nest as deep as stacks do, so the open ones stand in a list rather than on the call stack.
  Result<void> read_profile() {
    std::vector<Open> open;
    std::string_view key;
    std::uint64_t n = 0;
    in_.begin_object();
    open.emplace_back();
    while (!open.empty() && in_.ok()) {
      if (!in_.next_key(key)) {
        const Open& node = open.back();
        if (in_.ok() && !node.has_id) in_.fail_at(in_.offset(), ErrorCode::malformed, "a node has no id");
        if (in_.ok()) add(node);
        open.pop_back();
        if (!open.empty()) next_child(open);
        continue;
      }
      Open& node = open.back();
      const std::uint64_t at = in_.offset();
      if (key == "id") {
        const auto frame = frames_.find(in_.integer());
        if (frame == frames_.end())
          in_.fail_at(at, ErrorCode::malformed, "a node has an id that is no cost centre's");
        else
          node.context =
              builder_.context(open.size() > 1 ? open[open.size() - 2].context : kRootContext, frame->second);
        node.has_id = true;
      } else if (key == "entries" || key == "ticks" || key == "alloc") {
        const std::int64_t value = in_.integer();
        if (value < 0) in_.fail_at(at, ErrorCode::malformed, "a value of a node is negative");
        (key == "entries" ? node.entries : key == "ticks" ? node.ticks : node.alloc) = value;
      } else if (key == "children") {
        if (!node.has_id) in_.fail_at(at, ErrorCode::malformed, "a node's children come before its id");
        if (++n % 4096 == 0) PROFD_CHECK(context_.stop.status());
        in_.begin_array();
        next_child(open);
      } else {
        in_.skip();
      }
    }
    return in_.status();
  }

  // Opens the next element of the array of children; stays with the parent when there is none.
  void next_child(std::vector<Open>& open) {
    if (!in_.next_element()) return;
    if (open.size() >= context_.limits.stack_depth)
      return in_.fail_at(in_.offset(), ErrorCode::limit, "a stack is deeper than the limit stack_depth");
    in_.begin_object();
    open.emplace_back();
  }

  void add(const Open& node) {
    times_.emplace_back(node.context, node.ticks);
    builder_.add_self(node.context, MetricId{1u}, node.ticks);
    builder_.add_self(node.context, MetricId{2u}, node.alloc);
    builder_.add_self(node.context, MetricId{3u}, node.entries);
  }

  JsonCursor in_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::int64_t tick_ns_ = 0;
  std::unordered_map<std::int64_t, FrameId> frames_;
  std::vector<std::pair<ContextId, std::int64_t>>
      times_;  // the interval of ticks may stand behind the profile
};

}  // namespace

Result<void> read_json_report(const DecodedText& text, ReadContext& context, ProfileBuilder& builder) {
  return JsonReading(text, context, builder).run();
}

}  // namespace profd::ghc_prof
