#include "server/feature/ranges_answer.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/model/module_address.h"
#include "core/support/base_name.h"
#include "core/support/checked.h"
#include "core/support/text.h"
#include "core/view/key_memo.h"
#include "core/view/resolve.h"
#include "server/engine/jit_code.h"
#include "server/feature/estimate.h"
#include "server/feature/names.h"
#include "server/feature/text_index.h"
#include "server/feature/workspace_paths.h"

namespace profd {
namespace {

constexpr std::size_t kMaxSourceText = 400;

double range_size(const Value& value) {
  const double number = std::abs(as_double(value));
  return std::isfinite(number) ? number : 0;
}

ViewSpec spec_by_function(ViewSpec spec) {
  spec.shape = Shape::flat;
  spec.granularity = Granularity::function;
  spec.focus.clear();
  return spec;
}

// The key by function of a row or box of the view that the request has.
Result<Key> key_of_row(Views& views, const RangesRequest& request, const Selection& selection,
                       const StopToken& stop) {
  PROFD_TRY(const SelectionPtr of_key, views.selection(*request.open, request.spec, stop));
  PROFD_TRY(const std::vector<Key> keys, to_keys({*request.key}, *of_key));
  if (request.spec.granularity == Granularity::file || request.spec.granularity == Granularity::module)
    return fail(ErrorCode::invalid, fmt::format("a row by {} is no function; ask for one by its name",
                                                to_text(request.spec.granularity)));
  return selection.boxes->keys->of_frame[of_key->boxes->keys->example[keys.front()]];
}

Result<Key> key_meant(Views& views, const RangesRequest& request, const PreparedView& view,
                      const FlatView& flat, const StopToken& stop) {
  const Selection& selection = *view.selection;
  if (!request.function.empty())
    return resolve_key(*selection.profile, *selection.boxes->keys, request.function);
  if (request.key) return key_of_row(views, request, selection, stop);
  std::optional<std::size_t> most;
  for (std::size_t row = 0; row < flat.key.size(); ++row) {
    if (flat.key[row] >= selection.boxes->keys->first_group()) continue;
    if (!most || range_size(flat.self[row]) > range_size(flat.self[*most])) most = row;
  }
  if (!most) return fail(ErrorCode::not_found, "no function has a value in this view");
  return flat.key[*most];
}

std::string ranges_note(const Profile& profile, RangeUnit unit, const RangesKnown& known) {
  const auto none = [&](std::string_view what) {
    if (profile.composition() != nullptr)
      return std::string("Profiles that are put together have no lines and addresses: ask one of them.");
    return fmt::format("The profile knows no {} of this function.", what);
  };
  switch (unit) {
    case RangeUnit::automatic:
    case RangeUnit::line:
      return known.lines ? "" : none("line");
    case RangeUnit::address:
      return known.addresses ? "" : none("address");
    case RangeUnit::bytecode:
      return known.bytecodes ? "" : none("index of bytecode");
  }
  return "";
}

class RangesWriter {
 public:
  RangesWriter(Views& views, const RangesRequest& request, const SourceOfLine& source, const StopToken& stop)
      : views_(views),
        request_(request),
        source_(source),
        stop_(stop),
        profile_(*request.open->profile),
        files_(out_.files) {}

  Result<RangesAnswer> run() {
    const ViewSpec spec = spec_by_function(request_.spec);
    for (const std::string& name : request_.metrics) PROFD_CHECK(check_metric(*request_.open, name));
    PROFD_TRY(view_, prepare_view(views_, *request_.open, spec, stop_));
    PROFD_TRY(const auto flat, views_.flat(*request_.open, spec, stop_));
    PROFD_TRY(const Key key, key_meant(views_, request_, view_, *flat, stop_));
    const Selection& selection = *view_.selection;
    if (key >= selection.boxes->keys->first_group())
      return fail(ErrorCode::invalid, "a group of frames has no lines of its own; ask for a function of it");
    // Further metrics take a sweep over all of the profile.
    const bool swept = !request_.metrics.empty() || !ranges_are_in_index(selection);
    PROFD_TRY(
        ranges_,
        views_.kept<FunctionRanges>(
            *request_.open, spec, fmt::format("ranges {} {} {}", key, static_cast<int>(request_.by), swept),
            stop_, [&](const StopToken& token) -> Result<std::shared_ptr<const FunctionRanges>> {
              if (!swept) {
                StopToken own = token;
                PROFD_TRY(const auto index, selection.boxes->memo->key_index(*selection.boxes, false, own));
                if (index) return shared(function_ranges(selection, *index, key, request_.by, token));
              }
              return shared(function_ranges(selection, frames_of_key(selection, key), 1, request_.by, token,
                                            views_.executor()));
            }));
    PROFD_TRY(sources_, sources_in(views_, *request_.open, request_.workspace, stop_));
    metric_ = selection.metric().v;
    out_.head = head_of(*request_.open, spec, view_);
    out_.by = ranges_->unit.front();
    out_.known = ranges_->known.front();
    out_.head.note = ranges_note(profile_, out_.by, out_.known);
    write_function(key, *flat);
    pick_rows();
    write_rows();
    out_.paths = workspace_paths(out_.files, sources_.get());
    write_sources();
    PROFD_CHECK(write_columns());
    return std::move(out_);
  }

 private:
  void write_function(Key key, const FlatView& flat) {
    const Selection& selection = *view_.selection;
    out_.key = key;
    out_.name = key_name(profile_, *selection.boxes->keys, key);
    out_.label = short_name(out_.name);
    const KeyPlace place = key_place(profile_, *selection.boxes->keys, key);
    out_.file = files_.index_of(place.file);
    out_.line = place.line;
    Value self = zero(), total = zero();
    Estimate estimate = kExact;
    if (const auto row = flat.row_of(key)) {
      self = flat.self[*row];
      total = flat.total[*row];
      estimate = flat.estimate_of(*row);
    }
    out_.self = amount_of(view_.whole, self, (estimate & kSelfEstimated) != 0);
    out_.total = amount_of(view_.whole, total, (estimate & kTotalEstimated) != 0);
    whole_ = {self, view_.whole.unit};
  }

  [[nodiscard]] Value zero() const {
    return std::holds_alternative<double>(view_.selection->sums->total) ? Value(0.0) : Value(std::int64_t{0});
  }

  // Of rows that have something, in their order, the page.
  void pick_rows() {
    const auto& self = ranges_->sums.self[metric_];
    const auto& total = ranges_->sums.total[metric_];
    std::vector<std::uint32_t> all;
    for (std::uint32_t row = 0; row < ranges_->rows.size(); ++row)
      if (as_double(self[row]) != 0 || as_double(total[row]) != 0) all.push_back(row);
    if (request_.by_self) {
      std::stable_sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
        return range_size(self[a]) > range_size(self[b]);
      });
    }
    for (const std::uint32_t row : all) most_ = std::max(most_, range_size(self[row]));
    out_.n_rows = all.size();
    out_.offset = std::min(request_.offset, all.size());
    const std::size_t end =
        all.size() - out_.offset > request_.limit ? out_.offset + request_.limit : all.size();
    running_ = zero();
    for (std::size_t i = 0; i < out_.offset; ++i) running_ = added(running_, self[all[i]]);
    page_.assign(all.begin() + static_cast<std::ptrdiff_t>(out_.offset),
                 all.begin() + static_cast<std::ptrdiff_t>(end));
    if (end == all.size()) return;
    Value rest = zero();
    for (std::size_t i = end; i < all.size(); ++i) rest = added(rest, self[all[i]]);
    out_.remainder = remainder_of(whole_, all.size() - end, rest, end);
  }

  void write_rows() {
    const RangePlaces places(profile_, ranges_->rows.begin(), ranges_->rows.end());
    const bool estimated = ranges_->sums.estimated[metric_] != 0;
    RangeColumns& to = out_.rows;
    for (const std::uint32_t row : page_) {
      const FunctionRange& range = ranges_->rows[row];
      const Value& self = ranges_->sums.self[metric_][row];
      const Value& total = ranges_->sums.total[metric_][row];
      running_ = added(running_, self);
      to.place.push_back(places.text(range, out_.by));
      const auto number = [&](std::uint64_t at) {
        return out_.by == RangeUnit::address ? fmt::format("0x{:x}", at) : std::to_string(at);
      };
      to.from.push_back(range.known ? number(range.from) : "");
      to.to.push_back(range.to != 0 ? number(range.to) : "");
      to.file.push_back(files_.index_of(profile_.strings()[range.file]));
      to.line.push_back(range.line);
      to.code.push_back(code_of_row(range));
      to.self.push_back(self);
      to.total.push_back(total);
      to.self_text.push_back(whole_.text(self));
      to.total_text.push_back(marked(whole_.text(total), estimated));
      to.share.push_back(whole_.share_text(self));
      to.view_share.push_back(view_.whole.share_text(self));
      to.running.push_back(running_);
      to.running_share.push_back(whole_.share_text(running_));
      to.heat.push_back(most_ == 0 ? 0 : std::sqrt(range_size(self) / most_));
      to.source.emplace_back();
    }
  }

  [[nodiscard]] std::string code_of_row(const FunctionRange& range) const {
    if (out_.by != RangeUnit::address || !range.known || !range.module.valid()) return "";
    const std::string_view name = profile_.strings()[profile_.modules().name[range.module.v]];
    const AddressKind kind = address_kind(profile_.modules(), range.module);
    if (kind != AddressKind::vaddr && !(kind == AddressKind::loaded && is_jit_dump(name))) return "";
    return fmt::format("{}+0x{:x}", base_name(name), range.from);
  }

  void write_sources() {
    if (!source_) return;
    for (std::size_t i = 0; i < page_.size(); ++i) {
      if (out_.rows.file[i] < 0 || out_.rows.line[i] == 0) continue;
      const std::string& path = out_.paths[static_cast<std::size_t>(out_.rows.file[i])];
      if (path.empty()) continue;
      if (auto text = source_(path, out_.rows.line[i]))
        out_.rows.source[i] = cut_bytes(repair_utf8(*text), kMaxSourceText);
    }
  }

  Result<void> write_columns() {
    std::deque<std::pair<std::vector<Value>, std::vector<Value>>> pages;
    for (const std::string& name : request_.metrics) {
      PROFD_TRY(SidedNumbers numbers, metric_of_rows(*request_.open, name, [&](MetricId of) {
                  auto& [self, total] = pages.emplace_back();
                  for (const std::uint32_t row : page_) {
                    self.push_back(ranges_->sums.self[of.v][row]);
                    total.push_back(ranges_->sums.total[of.v][row]);
                  }
                  return std::pair(std::span<const Value>(self), std::span<const Value>(total));
                }));
      out_.columns.push_back(metric_rows(*request_.open, name, std::move(numbers)));
    }
    return {};
  }

  Views& views_;
  const RangesRequest& request_;
  const SourceOfLine& source_;
  const StopToken& stop_;
  const Profile& profile_;
  PreparedView view_;
  std::shared_ptr<const FunctionRanges> ranges_;
  std::shared_ptr<const SourceMap> sources_;
  std::size_t metric_ = 0;
  Whole whole_;                      // the function's self value
  std::vector<std::uint32_t> page_;  // rows of it
  Value running_;
  double most_ = 0;
  RangesAnswer out_;
  TextIndex files_;
};

}  // namespace

Value added(const Value& a, const Value& b) {
  return std::visit(
      [&]<class T>(T sum) -> Value {
        if (const T* const other = std::get_if<T>(&b)) {
          add_saturating(sum, *other);
          return sum;
        }
        return as_double(a) + as_double(b);
      },
      a);
}

RangePlaces::RangePlaces(const Profile& profile, std::vector<FunctionRange>::const_iterator begin,
                         std::vector<FunctionRange>::const_iterator end)
    : profile_(profile) {
  std::map<std::string_view, std::string_view> seen;  // base name -> path
  for (auto row = begin; row != end; ++row) {
    const auto add = [&](std::string_view path) {
      if (path.empty()) return;
      const auto [known, fresh] = seen.try_emplace(base_name(path), path);
      if (!fresh && known->second != path) ambiguous_.push_back(known->first);
    };
    add(profile.strings()[row->file]);
    if (row->module.valid()) add(profile.strings()[profile.modules().name[row->module.v]]);
  }
  std::sort(ambiguous_.begin(), ambiguous_.end());
}

std::string RangePlaces::text(const FunctionRange& row, RangeUnit unit) const {
  const auto shown = [&](std::string_view path) {
    const std::string_view base = base_name(path);
    return std::binary_search(ambiguous_.begin(), ambiguous_.end(), base) ? path : base;
  };
  switch (unit) {
    case RangeUnit::automatic:
    case RangeUnit::line:
      if (!row.known) return "no line";
      return fmt::format("{}:{}", row.file.v == 0 ? "?" : shown(profile_.strings()[row.file]), row.from);
    case RangeUnit::address:
      if (!row.known) return "no address";
      if (!row.module.valid()) return fmt::format("0x{:x}", row.from);
      return fmt::format("{}+0x{:x}", shown(profile_.strings()[profile_.modules().name[row.module.v]]),
                         row.from);
    case RangeUnit::bytecode:
      if (!row.known) return "no bytecode";
      if (row.to != 0) return fmt::format("{}->{}", row.from, row.to);
      return row.open_ended ? fmt::format("{}->", row.from) : fmt::format("bytecode {}", row.from);
  }
  return "";
}

Needs needs_of(const RangesRequest& request) {
  const ViewSpec spec = spec_by_function(request.spec);
  Needs needs = {{Part::selection, spec}, {Part::flat, spec}, {Part::one_function, spec}};
  // The sweep by which lines are made is as long as that for ranges in further metrics.
  if (!request.metrics.empty()) needs.push_back({Part::lines, spec});
  return needs;
}

Result<RangesAnswer> ranges_answer(Views& views, const RangesRequest& request, const SourceOfLine& source,
                                   const StopToken& stop) {
  return RangesWriter(views, request, source, stop).run();
}

}  // namespace profd
