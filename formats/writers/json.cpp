// A view as one JSON object, described in docs/cli.md.
#include <algorithm>
#include <array>
#include <memory>

#include "formats/loss_texts.h"
#include "formats/writers/measurements.h"
#include "formats/writers/output.h"
#include "formats/writers/view_rows.h"

namespace profd {
namespace {

using namespace writers;

constexpr std::array<std::string_view, 2> kJsonExtensions{".view.json", ".json"};

void write_metrics(const View& view, Output& out) {
  out.key("metrics");
  out.put('[');
  for (std::size_t m = 0; m < view.selections.size(); ++m) {
    const Selection& selection = *view.selections[m];
    out.put(m == 0 ? "{\"name\":" : ",{\"name\":");
    out.json(view.metric(m).name);
    out.key("unit");
    out.json(view.metric(m).unit);
    out.key("total");
    out.number(selection.sums->total);
    out.key("profileTotal");
    out.number(selection.sums->profile_total);
    if (!selection.rows->excluded.empty() && as_double(selection.rows->excluded[selection.metric().v]) != 0) {
      out.key("excluded");
      out.number(selection.rows->excluded[selection.metric().v]);
    }
    if (selection.sums->saturated) out.put(",\"saturated\":true");
    out.put('}');
  }
  out.put(']');
}

void write_row(const View& view, const ViewRow& row, Output& out) {
  const bool tree = view.spec.shape != Shape::flat;
  out.put(row.id == 0 ? "\n{" : ",\n{");
  if (tree) {
    out.key("id", true);
    out.number(std::uint64_t{row.id});
    out.key("parent");
    if (row.parent == kNone)
      out.put("null");
    else
      out.number(std::uint64_t{row.parent});
    out.key("depth");
    out.number(std::uint64_t{row.depth});
  }
  KeyPlace place;
  out.key("name", !tree);
  if (row.key == kNone) {
    out.json("(root)");
  } else {
    out.json(key_name(*view.profile, *view.first().boxes->keys, row.key));
    place = key_place(*view.profile, *view.first().boxes->keys, row.key);
  }
  out.key("file");
  out.json(place.file);
  out.key("line");
  out.number(std::uint64_t{place.line});
  out.key("module");
  out.json(place.module);
  if (tree) {
    out.key("kind");
    out.json(text_of(row.kind));
    out.key("inlined");
    out.put(row.inlined ? "true" : "false");
    out.key("x");
    out.number(row.x);
    out.key("width");
    out.number(row.width);
  }
  for (const auto& [name, values] : {std::pair("self", &row.self), std::pair("total", &row.total)}) {
    out.key(name);
    out.put('[');
    for (std::size_t m = 0; m < values->size(); ++m) {
      if (m > 0) out.put(',');
      out.number((*values)[m]);
    }
    out.put(']');
  }
  if (std::any_of(row.estimate.begin(), row.estimate.end(), [](Estimate e) { return e != kExact; })) {
    out.key("estimated");
    for (std::size_t m = 0; m < row.estimate.size(); ++m) {
      out.put(m == 0 ? '[' : ',');
      out.json(text_of(row.estimate[m]));
    }
    out.put(']');
  }
  out.put('}');
}

class JsonWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{.id = "json",
                                 .title = "JSON of a view",
                                 .extensions = kJsonExtensions,
                                 .mime_type = "application/json",
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
    ViewSpec spec = view.spec;
    spec.metric = view.metric(0).name;
    out.put("{\"view\":");
    out.json(to_text(spec));
    out.key("metric");
    out.json(view.metric(0).name);
    write_metrics(view, out);
    std::vector<std::string> warnings = view.first().warnings();
    if (options.report != nullptr)
      for (std::string& text : loss_texts(*options.report)) warnings.push_back(std::move(text));
    if (!warnings.empty()) {
      out.key("warnings");
      for (std::size_t i = 0; i < warnings.size(); ++i) {
        out.put(i == 0 ? '[' : ',');
        out.json(warnings[i]);
      }
      out.put(']');
    }
    out.key("rows");
    out.put('[');
    PROFD_CHECK(for_each_row(view, options.stop, losses, [&](const ViewRow& row) -> Result<void> {
      write_row(view, row, out);
      return out.status();
    }));
    out.put("]}\n");
    return out.finish();
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_json_writer() {
  return std::make_unique<JsonWriter>();
}

}  // namespace profd
