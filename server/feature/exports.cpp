#include "server/feature/exports.h"

#include <array>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "core/view/focus.h"
#include "formats/loss_texts.h"
#include "server/feature/estimate.h"
#include "server/feature/exclusion.h"
#include "server/feature/flame_svg.h"
#include "server/feature/text.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kSvgExtensions{".svg"};
constexpr std::array<std::string_view, 2> kHtmlExtensions{".html", ".htm"};

constexpr WriterInfo kSvg{.id = "svg",
                          .title = "flame graph as a page",
                          .extensions = kSvgExtensions,
                          .mime_type = "image/svg+xml",
                          .is_text = true,
                          .holds = "one metric of a tree view, its 5,000 widest boxes",
                          .default_view = "top-down by function"};
constexpr WriterInfo kHtml{.id = "html",
                           .title = "flame graph as a page of HTML",
                           .extensions = kHtmlExtensions,
                           .mime_type = "text/html",
                           .is_text = true,
                           .holds = "what svg holds, to be looked at and not read back",
                           .default_view = "top-down by function"};

class FlamePageWriter final : public FormatWriter {
 public:
  explicit FlamePageWriter(const WriterInfo& info) : info_(info) {}
  const WriterInfo& info() const override { return info_; }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    ViewSpec spec = options.spec.value_or(ViewSpec{});
    if (!options.metric.empty()) spec.metric = options.metric;
    if (spec.shape == Shape::flat)
      return fail(ErrorCode::unsupported, "a flat view has no flame graph; csv and json hold it");
    PROFD_TRY(const SelectionPtr selection, select(profiles.front(), spec, options.stop));
    LayoutRequest request;
    request.shape = spec.shape;
    PROFD_TRY(request.focus, keys_of_focus(*selection, spec.focus));
    request.viewport_px = kFlameSvgWidth;
    request.max_boxes = kFlameSvgBoxes;
    PROFD_TRY(const FlameLayout layout, layout_flame(*selection, request, options.stop));
    const auto count = [&](std::string_view kind, std::string_view message, std::uint64_t n) {
      if (n > 0) losses.add(kind, Severity::loss, message, std::nullopt, n);
    };
    count("profiles", "The file holds one profile of the several there are.", profiles.size() - 1);
    count("metrics", fmt::format("The format holds one metric; written: {}.", metric_of(*selection).name),
          profiles.front()->metrics().size() - 1);
    count("narrow-boxes", "Boxes too narrow to be seen are joined; what is above them is not drawn.",
          std::accumulate(layout.n_merged.begin(), layout.n_merged.end(), std::uint64_t{0}));
    count("truncated", "Only the widest boxes are drawn.", layout.truncated ? 1 : 0);
    if (const std::string excluded = exclusion_text(*selection); !excluded.empty())
      count("excluded", excluded, 1);
    for (const std::string& warning : selection->warnings()) losses.add("filter", Severity::info, warning);
    if (const std::string estimated = estimate_text(*selection); !estimated.empty())
      count("estimated", estimated, 1);
    FlameSvgOptions how;
    how.title = options.title;
    how.view = spec;
    how.html = info_.id == kHtml.id;
    PROFD_TRY(const auto changes,
              changes_of_boxes(*selection, spec, request.focus, {layout.parent, layout.key, layout.divided},
                               options.stop));
    if (changes) how.changes = &*changes;
    if (options.report != nullptr) how.notes = loss_texts(*options.report);
    const std::string page = flame_svg(*selection, layout, how);
    return sink(std::as_bytes(std::span(page)));
  }

 private:
  static const MetricInfo& metric_of(const Selection& selection) {
    return selection.profile->metrics()[selection.metric().v];
  }

  const WriterInfo& info_;
};

}  // namespace

std::span<const FormatWriter* const> all_exports() {
  static const FlamePageWriter svg(kSvg), html(kHtml);
  static const auto list = [] {
    std::vector<const FormatWriter*> writers(all_writers().begin(), all_writers().end());
    writers.push_back(&svg);
    writers.push_back(&html);
    return writers;
  }();
  return list;
}

}  // namespace profd
