// A view as a table of comma separated values: RFC 4180, with a header, in UTF-8.
#include <array>
#include <memory>

#include <fmt/format.h>

#include "formats/csv_text.h"
#include "formats/writers/measurements.h"
#include "formats/writers/output.h"
#include "formats/writers/view_rows.h"

namespace profd {
namespace {

using namespace writers;

constexpr std::array<std::string_view, 1> kCsvExtensions{".csv"};

class Table {
 public:
  explicit Table(const View& view) : view_(view), tree_(view.spec.shape != Shape::flat) {}

  void header() {
    if (tree_)
      for (const std::string_view name : {"id", "parent", "depth"}) out_.text(name);
    for (const std::string_view name : {"name", "file", "line", "module"}) out_.text(name);
    if (tree_) {
      const MetricInfo& metric = view_.metric(0);
      for (const std::string_view name : {"kind", "inlined"}) out_.text(name);
      for (const std::string_view name : {"x", "width"}) out_.text(with_unit(name, metric));
    }
    for (std::size_t m = 0; m < view_.selections.size(); ++m)
      for (const std::string_view name : {"self", "total"})
        out_.text(with_unit(fmt::format("{} {}", name, view_.metric(m).name), view_.metric(m)));
    for (std::size_t m = 0; estimated_ && m < view_.selections.size(); ++m)
      out_.text(fmt::format("estimated {}", view_.metric(m).name));
    out_.end_row();
  }

  void row(const ViewRow& row) {
    if (tree_) {
      out_.number(std::uint64_t{row.id});
      if (row.parent == kNone)
        out_.text("");
      else
        out_.number(std::uint64_t{row.parent});
      out_.number(std::uint64_t{row.depth});
    }
    const Selection& selection = view_.first();
    KeyPlace place;
    if (row.key == kNone) {
      out_.text("(root)");
    } else {
      out_.text(key_name(*view_.profile, *selection.boxes->keys, row.key));
      place = key_place(*view_.profile, *selection.boxes->keys, row.key);
    }
    out_.text(place.file);
    if (place.line == 0)
      out_.text("");
    else
      out_.number(std::uint64_t{place.line});
    out_.text(place.module);
    if (tree_) {
      out_.text(text_of(row.kind));
      out_.number(std::uint64_t{row.inlined});
      out_.number(row.x);
      out_.number(row.width);
    }
    for (std::size_t m = 0; m < row.self.size(); ++m) {
      out_.number(row.self[m]);
      out_.number(row.total[m]);
    }
    for (std::size_t m = 0; estimated_ && m < row.self.size(); ++m) out_.text(text_of(row.estimate[m]));
    out_.end_row();
  }

  std::string take() { return out_.take(); }

 private:
  static std::string with_unit(std::string_view name, const MetricInfo& metric) {
    return metric.unit.empty() ? std::string(name) : fmt::format("{} ({})", name, metric.unit);
  }

  const View& view_;
  CsvText out_;
  bool tree_;
  // Further columns, only of sources that have calls and no stacks.
  bool estimated_ = view_.first().estimated;
};

class CsvWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{.id = "csv",
                                 .title = "CSV of a view",
                                 .extensions = kCsvExtensions,
                                 .mime_type = "text/csv",
                                 .is_text = true,
                                 .holds = "any view: every row with self and total in all metrics",
                                 .default_view = "flat by function"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    PROFD_TRY(const View view, view_of(profiles.front(), options, info().default_view));
    report_losses_of_view(profiles, view, losses);
    Output out(sink, options.stop);
    Table table(view);
    table.header();
    PROFD_CHECK(for_each_row(view, options.stop, losses, [&](const ViewRow& row) -> Result<void> {
      table.row(row);
      out.put(table.take());
      return out.status();
    }));
    out.put(table.take());
    return out.finish();
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_csv_writer() {
  return std::make_unique<CsvWriter>();
}

}  // namespace profd
