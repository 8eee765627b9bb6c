#include "core/view/filtered_profile.h"
#include "formats/writers/measurements.h"

namespace profd {

using namespace writers;

Result<void> write_profiles(const FormatWriter& writer, std::span<const ProfilePtr> profiles,
                            const WriteOptions& options, const ByteSink& sink, LossReport& losses) {
  const Composition* const composition = profiles.front()->composition();
  if (composition != nullptr && composition->kind == Composed::diff && writer.info().default_view.empty())
    return fail(
        ErrorCode::unsupported,
        "a comparison is no profile that another tool could read: write a view of it (svg, html, csv, "
        "json), or one of its sides");
  if (!options.spec || !writer.info().default_view.empty())
    return writer.write(profiles, options, sink, losses);
  const ProfilePtr& whole = profiles.front();
  WriteOptions how = options;
  ViewSpec spec = *options.spec;
  how.spec.reset();
  how.granularity = spec.granularity;
  if (how.metric.empty()) how.metric = spec.metric;
  if (spec.metric.empty()) spec.metric = how.metric;
  PROFD_TRY(const SelectionPtr selection, select(whole, spec, options.stop));
  PROFD_TRY(const ProfilePtr filtered, filtered_profile(*selection, spec, options.stop));
  count_loss(losses, "profiles", "The filters are those of one profile of the several there are.",
             profiles.size() - 1);
  report_excluded(*selection, losses);
  return writer.write(std::span(&filtered, 1), how, sink, losses);
}

}  // namespace profd
