// The data that profd's own pages carry beside their boxes, docs/formats/flamegraph-svg.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "formats/reader.h"
#include "formats/support/xml.h"

namespace profd::flamegraph_svg {

class ProfdPage {
 public:
  ProfdPage(ReadContext& context, ProfileBuilder& builder) : context_(context), builder_(builder) {}

  // An element of the page, in order; those that are no data are passed over.
  Result<void> start(std::string_view name, std::span<const XmlAttribute> attributes, std::uint64_t offset);
  Result<void> finish();

 private:
  enum class Order : std::uint8_t { root_first, leaf_first };
  struct Amount {
    std::int64_t whole = 0;
    double fraction = 0;
  };
  struct PageBox {
    std::uint32_t parent = kNone;
    FrameId frame;  // none: of the root, and of what was not drawn
    Amount total, self, below;
    bool remainder = false;
  };

  Result<void> begin(std::span<const XmlAttribute> attributes, std::uint64_t offset);
  Result<void> add_function(std::span<const XmlAttribute> attributes);
  Result<void> add_page_box(std::span<const XmlAttribute> attributes, std::uint64_t offset);
  Result<void> read_amount(std::string_view text, std::uint64_t offset, Amount& out) const;
  Result<void> sum_up();
  Result<void> add_down();
  Result<void> add_reversed();
  void add(ContextId at, const Amount& amount);
  bool is_zero(const Amount& amount) const;
  FrameId not_drawn();
  ContextId below_focus();

  ReadContext& context_;
  ProfileBuilder& builder_;
  MetricId metric_;
  Order order_ = Order::root_first;
  bool seen_ = false, fractional_ = false, by_line_ = false, counts_samples_ = false, estimated_ = false;
  std::vector<FrameSpec> functions_;
  std::vector<FrameId> focus_;
  std::vector<PageBox> boxes_;
  std::vector<std::uint32_t> depth_;
  FrameId not_drawn_;
  std::uint64_t n_not_drawn_ = 0;
};

}  // namespace profd::flamegraph_svg
