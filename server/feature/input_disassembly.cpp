#include "server/feature/input_disassembly.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/model/composition.h"
#include "core/view/resolve.h"
#include "server/engine/input_profile.h"

namespace profd {
namespace {

// Those to look in, in this order.
std::vector<std::size_t> inputs_in_order(const Composition& whole, MetricRole role) {
  std::vector<std::size_t> order;
  for (const bool before : {role == MetricRole::before, role != MetricRole::before}) {
    for (std::size_t input = 0; input < whole.inputs.size(); ++input) {
      if (whole.inputs[input].before == before) order.push_back(input);
    }
  }
  return order;
}

// What an input calls a metric of the whole; "" it has none.
std::string metric_of_input(const Profile& profile, std::size_t input, MetricId metric) {
  const Composition& whole = *profile.composition();
  if (metric.v >= whole.metrics.size()) return {};
  const std::uint32_t own = whole.of[whole.metrics[metric.v].of].metric_of[input];
  return own == kNone ? std::string() : whole.inputs[input].profile->metrics()[own].name;
}

// Spellings of a file, as texts of another profile.
std::vector<StringId> files_of_input(const Profile& profile, const std::vector<StringId>& files,
                                     const Profile& input) {
  std::set<std::string_view> texts;
  for (const StringId file : files) texts.insert(profile.strings()[file]);
  std::vector<StringId> out;
  for (std::uint32_t i = 1; i < input.strings().size() && out.size() < texts.size(); ++i) {
    if (texts.count(input.strings()[StringId{i}]) != 0) out.emplace_back(i);
  }
  return out;
}

std::string whose_costs(const Composition& whole, std::size_t input) {
  const ComposedInput& of = whole.inputs[input];
  const std::size_t n = whole.inputs.size();
  if (whole.kind != Composed::diff) {
    return fmt::format("Costs are those of {} alone, one of {} profiles that are {}.", of.name, n,
                       whole.kind == Composed::join ? "joined" : "added up");
  }
  const std::size_t n_before = whole.n_before(), n_runs = of.before ? n_before : n - n_before;
  const std::string side =
      fmt::format("{}the side {}", n_runs == 1 ? "" : fmt::format("one of {} runs of ", n_runs),
                  of.before ? "before" : "after");
  return fmt::format("Costs are those of {} alone, {}, as they were measured.", of.name, side);
}

}  // namespace

Result<DisassemblyAnswer> disassembly_of_input(Views& views, const DisassemblyRequest& request,
                                               const CodeLookup& look_up, const StopToken& stop) {
  const OpenProfile& open = *request.open;
  const Profile& profile = *open.profile;
  const Composition& whole = *profile.composition();
  PROFD_CHECK(check_width(open, request.spec.metric));
  MetricId metric = open.metric;
  if (!request.spec.metric.empty()) {
    PROFD_TRY(metric, resolve_metric(profile, request.spec.metric));
  }
  for (const std::string& name : request.metrics) PROFD_CHECK(check_metric(open, name));
  std::optional<DisassemblyAnswer> without;
  std::optional<Error> missing;
  bool any = false;
  const MetricRole role = metric.v < whole.metrics.size() ? whole.metrics[metric.v].role : MetricRole::sum;
  for (const std::size_t input : inputs_in_order(whole, role)) {
    const OpenProfilePtr part = open_input(open, input);
    if (!part) continue;
    any = true;
    DisassemblyRequest own = request;
    own.open = part;
    own.spec.metric = metric_of_input(profile, input, metric);
    if (own.spec.metric.empty()) continue;
    own.metrics.clear();
    for (const std::string& name : request.metrics) {
      const auto stored = profile.find_metric(name);
      std::string of_input = stored ? metric_of_input(profile, input, *stored) : std::string();
      const bool known = of_input.empty() || of_input == own.spec.metric ||
                         std::find(own.metrics.begin(), own.metrics.end(), of_input) != own.metrics.end();
      if (!known) own.metrics.push_back(std::move(of_input));
    }
    own.place.files = files_of_input(profile, request.place.files, *part->profile);
    if (!request.place.files.empty() && own.place.files.empty()) continue;
    const CodeLookup beside_it = [&, file = file_of_input(*part)](const CodeQuestion& question) {
      CodeQuestion of_input = question;
      of_input.recording = file;
      return look_up(of_input);
    };
    auto answer = disassembly_answer(views, own, beside_it, stop);
    if (!answer && answer.error().code != ErrorCode::not_found) return answer;
    if (!answer) {
      if (!missing) missing = std::move(answer.error());
      continue;
    }
    if (answer->problem.empty()) {
      answer->note = whose_costs(whole, input) + (answer->note.empty() ? "" : " ") + answer->note;
      return answer;
    }
    answer->problem = fmt::format("{}: {}", part->name, answer->problem);
    if (!without) without = std::move(*answer);
  }
  if (without) return std::move(*without);
  if (missing) return tl::unexpected<Error>(std::move(*missing));
  if (any) return fail(ErrorCode::not_found, "no profile that this is put together of has anything there");
  DisassemblyAnswer out;
  ViewSpec spec = request.spec;
  spec.shape = Shape::flat;
  spec.focus.clear();
  PROFD_TRY(const PreparedView view, prepare_view(views, open, spec, stop));
  out.head = head_of(open, spec, view);
  out.problem = fmt::format(
      "this is put together of {} profiles, and instructions are shown of one: open it by itself, {} for "
      "example",
      whole.inputs.size(), whole.inputs.front().name);
  return out;
}

}  // namespace profd
