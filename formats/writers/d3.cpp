// The JSON tree of d3-flame-graph: {name, value, children}, values inclusive.
#include <array>
#include <memory>

#include "core/support/checked.h"
#include "formats/writers/measurements.h"
#include "formats/writers/output.h"

namespace profd {
namespace {

using namespace writers;

constexpr std::array<std::string_view, 2> kD3Extensions{".d3.json", ".flamegraph.json"};

template <class T>
std::vector<T> totals_of(const Profile& profile, const Column<T>& self) {
  std::vector<T> total(profile.tree().size(), 0);
  for (std::size_t row = 0; row < profile.self().contexts.size(); ++row)
    add_saturating(total[profile.self().contexts[row]], self[row]);
  for (std::size_t c = total.size(); c-- > 1;) add_saturating(total[profile.tree().parent[c]], total[c]);
  return total;
}

template <class T>
void write_tree(const Profile& profile, const std::vector<T>& total, Output& out) {
  const ContextTree& tree = profile.tree();
  std::vector<std::uint32_t> open;  // contexts whose children are being written
  bool fresh = true;                // nothing was written in the innermost one
  for (std::uint32_t c = 0; c < tree.size() && !out.failed(); ++c) {
    while (!open.empty() && tree.subtree_end[open.back()] <= c) {
      out.put("]}");
      open.pop_back();
      fresh = false;
    }
    if (!fresh) out.put(',');
    out.put("{\"name\":");
    out.json(c == 0 ? std::string_view("root") : name_of(profile, tree.frame[c]));
    out.key("value");
    out.number(total[c]);
    out.put(",\"children\":[");
    open.push_back(c);
    fresh = true;
  }
  for (; !open.empty(); open.pop_back()) out.put("]}");
  out.put('\n');
}

class D3Writer final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{
        "d3-flamegraph", "d3-flame-graph JSON", kD3Extensions, "application/json", true, "one metric; names"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    const Profile& profile = *profiles.front();
    PROFD_TRY(const MetricId metric, chosen_metric(profile, options, losses));
    report_losses(profiles, 1, {}, losses);
    Output out(sink, options.stop);
    std::visit([&](const auto& self) { write_tree(profile, totals_of(profile, self), out); },
               profile.self().values[metric.v]);
    return out.finish();
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_d3_writer() {
  return std::make_unique<D3Writer>();
}

}  // namespace profd
