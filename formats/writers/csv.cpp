// A view as a table of comma separated values: RFC 4180, with a header, in UTF-8.
#include <array>
#include <memory>

#include <fmt/format.h>

#include "formats/writers/measurements.h"
#include "formats/writers/output.h"
#include "formats/writers/view_rows.h"

namespace profd {
namespace {

using namespace writers;

constexpr std::array<std::string_view, 1> kCsvExtensions{".csv"};

class Table {
 public:
  Table(const View& view, Output& out) : view_(view), out_(out), tree_(view.spec.shape != Shape::flat) {}

  void header() {
    if (tree_)
      for (const std::string_view name : {"id", "parent", "depth"}) text(name);
    for (const std::string_view name : {"name", "file", "line", "module"}) text(name);
    if (tree_) {
      const MetricInfo& metric = view_.metric(0);
      for (const std::string_view name : {"kind", "inlined"}) text(name);
      for (const std::string_view name : {"x", "width"}) text(with_unit(name, metric));
    }
    for (std::size_t m = 0; m < view_.selections.size(); ++m)
      for (const std::string_view name : {"self", "total"})
        text(with_unit(fmt::format("{} {}", name, view_.metric(m).name), view_.metric(m)));
    end_row();
  }

  void row(const ViewRow& row) {
    if (tree_) {
      number(std::uint64_t{row.id});
      if (row.parent == kNone)
        text("");
      else
        number(std::uint64_t{row.parent});
      number(std::uint64_t{row.depth});
    }
    const Selection& selection = view_.first();
    KeyPlace place;
    if (row.key == kNone) {
      text("(root)");
    } else {
      text(key_name(*view_.profile, *selection.keys, row.key));
      place = key_place(*view_.profile, *selection.keys, row.key);
    }
    text(place.file);
    if (place.line == 0)
      text("");
    else
      number(std::uint64_t{place.line});
    text(place.module);
    if (tree_) {
      text(text_of(row.kind));
      number(std::uint64_t{row.inlined});
      number(row.x);
      number(row.width);
    }
    for (std::size_t m = 0; m < row.self.size(); ++m) {
      number(row.self[m]);
      number(row.total[m]);
    }
    end_row();
  }

 private:
  static std::string with_unit(std::string_view name, const MetricInfo& metric) {
    return metric.unit.empty() ? std::string(name) : fmt::format("{} ({})", name, metric.unit);
  }

  void separate() {
    if (!first_) out_.put(',');
    first_ = false;
  }
  void text(std::string_view text) {
    separate();
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return out_.put(text);
    out_.put('"');
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t quote = std::min(text.find('"', at), text.size());
      out_.put(text.substr(at, quote - at));
      if (quote < text.size()) out_.put("\"\"");
      at = quote + 1;
    }
    out_.put('"');
  }
  template <class T>
  void number(const T& value) {
    separate();
    out_.number(value);
  }
  void end_row() {
    out_.put("\r\n");
    first_ = true;
  }

  const View& view_;
  Output& out_;
  bool tree_, first_ = true;
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
    Table table(view, out);
    table.header();
    PROFD_CHECK(for_each_row(view, options.stop, [&](const ViewRow& row) -> Result<void> {
      table.row(row);
      return out.status();
    }));
    return out.finish();
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_csv_writer() {
  return std::make_unique<CsvWriter>();
}

}  // namespace profd
