#include "formats/flamegraph_svg/profd_page.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "formats/flamegraph_svg/profd_words.h"
#include "formats/support/text_number.h"

namespace profd::flamegraph_svg {
namespace {

// Frames that may be walked for the stacks of a bottom-up page; a real one has 5,000 boxes.
constexpr std::uint64_t kMaxSteps = std::uint64_t{1} << 26;

tl::unexpected<Error> bad_data(std::string_view what, std::uint64_t offset) {
  return fail(ErrorCode::malformed, fmt::format("the data of the page is damaged: {}", what), offset);
}

}  // namespace

Result<void> ProfdPage::start(std::string_view name, std::span<const XmlAttribute> attributes,
                              std::uint64_t offset) {
  if (name == "metadata" && attribute(attributes, "id") == kPageData) return begin(attributes, offset);
  if (!seen_) return {};
  if (name == "f") return add_function(attributes);
  if (name == "focus") {
    focus_.push_back(builder_.frame({.function = builder_.function(attribute(attributes, "n"))}));
    return {};
  }
  return name == "b" ? add_page_box(attributes, offset) : Result<void>{};
}

Result<void> ProfdPage::begin(std::span<const XmlAttribute> attributes, std::uint64_t offset) {
  if (seen_) return bad_data("it stands twice", offset);
  if (const auto version = attribute(attributes, "data-version"); version != kPageVersion)
    return fail(ErrorCode::unsupported, fmt::format("a page of a later profd (version {})", version), offset);
  seen_ = true;
  fractional_ = attribute(attributes, "data-fractional") == "1";
  estimated_ = attribute(attributes, "data-estimated") == "1";
  by_line_ = attribute(attributes, "data-by") == "line";
  const std::string_view shape = attribute(attributes, "data-shape");
  if (shape == "bottom-up" || shape == "callers")
    order_ = Order::leaf_first;
  else if (!shape.empty() && shape != "callees")
    return bad_data("its shape is unknown", offset);
  const std::string_view metric = attribute(attributes, "data-metric");
  metric_ = builder_.add_metric(metric, attribute(attributes, "data-unit"), fractional_);
  counts_samples_ = metric == "samples" && !fractional_;
  ProfileInfo& info = builder_.info();
  info.producer = "profd";
  for (const auto& [name, key] : {std::pair("title", "data-title"), std::pair("view", "data-view")})
    if (const auto text = attribute(attributes, key); !text.empty())
      info.properties.emplace_back(name, std::string(text));
  return {};
}

Result<void> ProfdPage::add_function(std::span<const XmlAttribute> attributes) {
  FunctionSpec function;
  function.name = builder_.string(attribute(attributes, "n"));
  function.file = builder_.string(attribute(attributes, "p"));
  std::uint32_t line = 0;
  parse_uint(attribute(attributes, "l"), line);
  if (!by_line_) function.start_line = line;
  FrameSpec spec;
  spec.function = builder_.function(function);
  if (by_line_) spec.line = line;
  if (const auto module = attribute(attributes, "m"); !module.empty())
    spec.module = builder_.module({.name = module});
  functions_.push_back(spec);
  return {};
}

Result<void> ProfdPage::read_amount(std::string_view text, std::uint64_t offset, Amount& out) const {
  const bool good = fractional_ ? parse_double(text, out.fraction) && std::isfinite(out.fraction)
                                : parse_int(text, out.whole);
  return good ? Result<void>{} : bad_data("a value is no number", offset);
}

Result<void> ProfdPage::add_page_box(std::span<const XmlAttribute> attributes, std::uint64_t offset) {
  PageBox box;
  std::uint32_t n = 0;
  const std::string_view parent = attribute(attributes, "u"), function = attribute(attributes, "f"),
                         kind = attribute(attributes, "k"), self = attribute(attributes, "s");
  if (boxes_.empty() != parent.empty()) return bad_data("a box has no place", offset);
  if (!parent.empty() && (!parse_uint(parent, box.parent) || box.parent >= boxes_.size()))
    return bad_data("a box stands before what it stands on", offset);
  if (!parent.empty() && boxes_[box.parent].remainder)
    return bad_data("a box stands on what was not drawn", offset);
  depth_.push_back(parent.empty() ? 0 : depth_[box.parent] + 1);
  if (depth_.back() > context_.limits.stack_depth)
    return fail(ErrorCode::limit, "a stack is deeper than the limit stack_depth", offset);
  PROFD_CHECK(read_amount(attribute(attributes, "t"), offset, box.total));
  if (!self.empty()) PROFD_CHECK(read_amount(self, offset, box.self));
  if (const std::string_view merged = attribute(attributes, "r"); !merged.empty()) {
    if (!parse_uint(merged, n)) return bad_data("a value is no number", offset);
    n_not_drawn_ += n;
    box.remainder = true;
  } else if (!function.empty()) {
    if (!parse_uint(function, n) || n >= functions_.size())
      return bad_data("a box is of a function that is not there", offset);
    FrameSpec spec = functions_[n];
    const auto known = std::find(kPageKinds.begin(), kPageKinds.end(), kind);
    if (known != kPageKinds.end()) spec.kind = static_cast<FrameKind>(known - kPageKinds.begin());
    spec.inlined = attribute(attributes, "i") == "1";
    box.frame = builder_.frame(spec);
  } else if (!parent.empty()) {
    return bad_data("a box has no function", offset);
  }
  boxes_.push_back(box);
  return {};
}

// What stands on a box, in PageBox::below.
Result<void> ProfdPage::sum_up() {
  for (std::size_t i = boxes_.size(); i-- > 1;) {
    Amount& below = boxes_[boxes_[i].parent].below;
    below.fraction += boxes_[i].total.fraction;
    if (__builtin_add_overflow(below.whole, boxes_[i].total.whole, &below.whole))
      return bad_data("the sum of its values is too large", 0);
  }
  // What is left when its own and what stands on it are taken off belongs to boxes that were not drawn.
  for (PageBox& box : boxes_) {
    Amount& hidden = box.below;
    hidden.fraction = box.total.fraction - box.self.fraction - hidden.fraction;
    if (std::abs(hidden.fraction) < 1e-9 * std::abs(box.total.fraction)) hidden.fraction = 0;
    if (__builtin_add_overflow(hidden.whole, box.self.whole, &hidden.whole) ||
        __builtin_sub_overflow(box.total.whole, hidden.whole, &hidden.whole))
      return bad_data("the sum of its values is too large", 0);
  }
  return {};
}

bool ProfdPage::is_zero(const Amount& amount) const {
  return fractional_ ? amount.fraction == 0 : amount.whole == 0;
}

void ProfdPage::add(ContextId at, const Amount& amount) {
  if (fractional_)
    builder_.add_self(at, metric_, amount.fraction);
  else
    builder_.add_self(at, metric_, amount.whole);
}

FrameId ProfdPage::not_drawn() {
  if (!not_drawn_.valid()) {
    FunctionSpec function;
    function.name = builder_.string("[not drawn]");
    function.unresolved = true;
    not_drawn_ = builder_.frame({.function = builder_.function(function)});
  }
  return not_drawn_;
}

ContextId ProfdPage::below_focus() {
  ContextId at = kRootContext;
  for (const FrameId frame : focus_) at = builder_.context(at, frame);
  return at;
}

Result<void> ProfdPage::add_down() {
  std::vector<ContextId> contexts;
  contexts.reserve(boxes_.size());
  for (const PageBox& box : boxes_) {
    const bool root = box.parent == kNone;
    const ContextId at =
        root ? below_focus()
             : builder_.context(contexts[box.parent], box.remainder ? not_drawn() : box.frame);
    contexts.push_back(at);
    if (box.remainder)
      add(at, box.total);
    else if (!is_zero(box.self))
      add(at, box.self);
    if (!box.remainder && !is_zero(box.below)) {
      ++n_not_drawn_;
      add(builder_.context(at, not_drawn()), box.below);
    }
  }
  return {};
}

// Boxes stand on what they call: the stack of a box is the way down to the root.
Result<void> ProfdPage::add_reversed() {
  std::uint64_t n_steps = 0;
  for (std::size_t i = 0; i < boxes_.size(); ++i) {
    const PageBox& box = boxes_[i];
    const bool hidden = !box.remainder && !is_zero(box.below);
    if (!box.remainder && !hidden && is_zero(box.self)) continue;
    n_steps += depth_[i];
    if (n_steps > kMaxSteps) return fail(ErrorCode::limit, "the page has too many boxes that are too deep");
    const auto stack = [&](ContextId at, std::size_t from) {
      for (std::uint32_t b = static_cast<std::uint32_t>(from); boxes_[b].parent != kNone;
           b = boxes_[b].parent)
        at = builder_.context(at, boxes_[b].frame);
      for (const FrameId frame : focus_) at = builder_.context(at, frame);
      return at;
    };
    if (box.remainder) {
      add(stack(builder_.context(kRootContext, not_drawn()), box.parent), box.total);
      continue;
    }
    if (!is_zero(box.self)) add(stack(kRootContext, i), box.self);
    if (hidden) {
      ++n_not_drawn_;
      add(stack(builder_.context(kRootContext, not_drawn()), i), box.below);
    }
  }
  return {};
}

Result<void> ProfdPage::finish() {
  if (!seen_)
    return fail(
        ErrorCode::unsupported,
        "this page was drawn by a profd that put no data into it; open the profile it was drawn from");
  if (boxes_.empty() || (functions_.empty() && is_zero(boxes_.front().total)))
    return fail(ErrorCode::malformed, "the page shows nothing: nothing was measured");
  PROFD_CHECK(context_.stop.status());
  PROFD_CHECK(sum_up());
  if (counts_samples_ && boxes_.front().total.whole > 0)
    builder_.set_n_samples(static_cast<std::uint64_t>(boxes_.front().total.whole));
  PROFD_CHECK(order_ == Order::root_first ? add_down() : add_reversed());
  context_.report.add("not-drawn", Severity::loss,
                      "What was too small to be drawn on the page stands in frames named [not drawn].",
                      std::nullopt, n_not_drawn_);
  context_.report.add("estimates", Severity::loss,
                      "Values that the page marks with \u2248 are estimates; here they are not marked.",
                      std::nullopt, estimated_ ? 1 : 0);
  return {};
}

}  // namespace profd::flamegraph_svg
