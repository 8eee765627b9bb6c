// HPCToolkit databases of versions 2 and 3: experiment.xml with the metric-db files beside it.
// docs/formats/hpctoolkit-v3.md says what is read and what is lost.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "formats/hpctoolkit_v3/experiment.h"
#include "formats/hpctoolkit_v3/metric_db.h"
#include "formats/support/xml.h"

namespace profd {
namespace {

using namespace hpctoolkit_v3;

constexpr std::array<std::string_view, 3> kExtensions{"experiment.xml", ".metric-db", ".mdb"};
constexpr ReaderNotes kNotes{
    .versions = "experiment.xml 2.x and 3.x with metric-db 00.10 or experiment-1.mdb",
    .keeps = "metrics by context, rank and thread, loops, lines, inlined procedures, modules; no traces",
    .recording =
        "hpcrun -e CPUTIME ./app && hpcstruct app && hpcprof -S app.hpcstruct hpctoolkit-app-measurements",
    .verified = "hatchet (inclusive totals of two databases); the XML's sums against the metric-db files",
};
constexpr std::string_view kMain = "experiment.xml";

bool is_experiment(std::span<const std::byte> prefix) {
  const std::string_view text(reinterpret_cast<const char*>(prefix.data()),
                              std::min<std::size_t>(prefix.size(), 64 << 10));
  return xml_root(text) == "HPCToolkitExperiment";
}

class HpctoolkitV3Reader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"hpctoolkit-v3",
                                 "HPCToolkit database, versions 2 and 3",
                                 kExtensions,
                                 820,
                                 "HPCToolkit hpcprof (2010 to 2022)",
                                 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    return is_experiment(prefix) || is_metric_db(prefix) ? Confidence::certain : Confidence::no;
  }
  Confidence sniff_folder(const Folder& folder) const override {
    if (!folder.has(kMain)) return Confidence::no;
    const auto xml = folder.open(kMain);
    return xml && is_experiment(xml->bytes()) ? Confidence::certain : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    if (is_metric_db(source.bytes())) {
      if (context.beside != nullptr && context.beside->has(kMain))
        return read_folder(*context.beside, context, profiles);
      return fail(
          ErrorCode::not_found,
          "a metric-db alone is no profile: it belongs to the experiment.xml of an HPCToolkit database; open "
          "that folder");
    }
    return read_database(source, context.beside, context, profiles);
  }

  Result<void> read_folder(const Folder& folder, ReadContext& context,
                           std::vector<ProfileBuilder>& profiles) const override {
    PROFD_TRY(const ByteSource xml, folder.open(kMain));
    auto done = read_database(xml, &folder, context, profiles);
    if (!done && done.error().offset) {
      Error error = std::move(done).error();
      error.where.push_back(fmt::format("{} at byte {}", kMain, *error.offset));
      error.offset.reset();
      return tl::unexpected<Error>(std::move(error));
    }
    return done;
  }

 private:
  static Result<void> read_database(const ByteSource& xml, const Folder* folder, ReadContext& context,
                                    std::vector<ProfileBuilder>& profiles) {
    ProfileBuilder builder;
    PROFD_TRY(Experiment experiment, read_experiment(xml.bytes(), context, builder));
    std::vector<MetricDb> dbs;
    if (folder != nullptr) {
      PROFD_TRY(dbs, open_metric_dbs(*folder, context));
      const std::vector<std::string>& files = folder->files();
      const auto n_traces = std::count_if(files.begin(), files.end(), [](const std::string& file) {
        return file.ends_with(".hpctrace") || file.ends_with("experiment.mt");
      });
      if (n_traces > 0)
        context.report.add("trace-not-read", Severity::loss, "Traces of the database are not read.",
                           std::nullopt, static_cast<std::uint64_t>(n_traces));
    }
    if (experiment.nodes.empty() && experiment.version.empty())
      return fail(ErrorCode::malformed, "this is no experiment.xml of HPCToolkit", 0);
    PROFD_CHECK(add_values(experiment, dbs, context, builder));
    ProfileInfo& info = builder.info();
    info.format = "hpctoolkit-v3";
    info.producer = "HPCToolkit";
    info.program = experiment.name;
    profiles.push_back(std::move(builder));
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_hpctoolkit_v3_reader() {
  return std::make_unique<HpctoolkitV3Reader>();
}

}  // namespace profd
