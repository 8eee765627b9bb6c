#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <exception>
#include <iterator>
#include <memory>
#include <string>

#include "formats/pprof/cloud_reply.h"
#include "formats/pprof/dictionary.h"
#include "formats/pprof/records.h"
#include "formats/pprof/stacks.h"

namespace profd {
namespace {

using namespace pprof;

constexpr std::size_t kSniffCap = 64 * 1024;

constexpr std::array<std::string_view, 4> kExtensions{".pb.gz", ".pprof", ".pb", ".prof"};
constexpr ReaderNotes kNotes{
    .versions = "the whole current schema; gzip with several members",
    .keeps = "everything but is_folded: all metrics, labels, inlined lines, columns, addresses, modules",
    .recording = "go test -cpuprofile cpu.pprof",
    .verified = "go tool pprof -top, flat and cum of every function for every metric",
};

// A ValueType holds at most two integers.
bool looks_like_value_type(Cursor body) {
  while (!body.done()) {
    Field field;
    if (!read_field(body, field) || field.wire != Wire::varint || field.number > schema::value_type::unit)
      return false;
  }
  return true;
}

// Nothing marks a pprof file; what tells it apart is that every field has the number and type it should.
Confidence sniff_pprof(std::span<const std::byte> prefix, bool at_end) {
  namespace profile = schema::profile;
  Cursor cursor(prefix);
  std::size_t n_fields = 0, n_types = 0, n_strings = 0;
  while (!cursor.done()) {
    Cursor header = cursor;
    std::uint64_t tag;
    if (!read_varint(header, tag)) return at_end && n_fields < 3 ? Confidence::no : Confidence::maybe;
    const std::uint64_t number = tag >> 3;
    if (number == 0 || number >= std::size(profile::wires)) return Confidence::no;
    const auto wire = static_cast<Wire>(tag & 7);
    const bool packed = number == profile::comment && wire == Wire::length;
    if (wire != profile::wires[number] && !packed) return Confidence::no;
    Field field;
    if (!read_field(cursor, field)) break;  // cut off by the end of the prefix
    ++n_fields;
    if (number == profile::sample_type) {
      if (!looks_like_value_type(field.bytes)) return Confidence::no;
      ++n_types;
    }
    if (number == profile::string_table && n_strings++ == 0 && !field.bytes.done()) return Confidence::no;
  }
  if (n_types > 0 && n_fields > n_types) return Confidence::certain;
  if (n_fields == 0) return Confidence::no;
  return n_types > 0 || n_strings > 0 ? Confidence::maybe : Confidence::no;
}

Result<void> add_metrics(const Records& records, ProfileBuilder& builder) {
  PROFD_TRY(const std::string_view wanted,
            records.string(records.default_sample_type, "default_sample_type"));
  const std::size_t n = records.sample_types.size();
  if (n == 0 && records.samples.size() > 0)
    return fail(ErrorCode::malformed, "the file has samples but no sample_type");
  for (std::size_t i = 0; i < n; ++i) {
    const std::string place = "sample_type[" + std::to_string(i) + ']';
    PROFD_TRY(const std::string_view type, records.string(records.sample_types[i].type, place + ".type"));
    PROFD_TRY(const std::string_view unit, records.string(records.sample_types[i].unit, place + ".unit"));
    const MetricId metric = builder.add_metric(type, unit);
    // By convention the last type is the one to show.
    if (i + 1 == n) builder.set_default_metric(metric);
  }
  for (std::size_t i = 0; i < n && !wanted.empty(); ++i) {
    PROFD_TRY(std::string_view type, records.string(records.sample_types[i].type, "sample_type"));
    const bool short_name = type.starts_with("inuse_") && type.substr(6) == wanted;
    if (type == wanted || short_name) {
      builder.set_default_metric(MetricId{i});
      break;
    }
  }
  return {};
}

Result<void> add_info(const Records& records, ProfileBuilder& builder) {
  ProfileInfo& info = builder.info();
  info.format = "pprof";
  if (records.time_nanos != 0) info.time_ns = records.time_nanos;
  if (records.duration_nanos != 0) info.duration_ns = records.duration_nanos;
  if (records.period != 0) info.period = records.period;
  if (records.has_period_type) {
    PROFD_TRY(info.period_type, records.string(records.period_type.type, "period_type.type"));
    PROFD_TRY(info.period_unit, records.string(records.period_type.unit, "period_type.unit"));
  }
  for (std::size_t i = 0; i < records.comments.size(); ++i) {
    PROFD_TRY(const std::string_view comment, records.string(records.comments[i], "comment"));
    info.comments.emplace_back(comment);
  }
  const auto property = [&](const char* name, std::uint64_t index) -> Result<void> {
    PROFD_TRY(const std::string_view text, records.string(index, name));
    if (!text.empty()) info.properties.emplace_back(name, text);
    return {};
  };
  PROFD_CHECK(property("drop_frames", records.drop_frames));
  PROFD_CHECK(property("keep_frames", records.keep_frames));
  PROFD_CHECK(property("default_sample_type", records.default_sample_type));
  return property("doc_url", records.doc_url);
}

class PprofReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo kInfo = [] {
      ReaderInfo i;
      i.id = "pprof";
      i.title = "pprof protocol buffers";
      i.extensions = kExtensions;
      i.sniff_rank = 100;
      i.version = 2;
      i.producer = "Go runtime/pprof, gperftools, pprof-rs, py-spy, Node pprof, async-profiler";
      i.notes = kNotes;
      return i;
    }();
    return kInfo;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    return is_cloud_reply(prefix) ? Confidence::certain : sniff_pprof(prefix, at_end);
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    if (!is_cloud_reply(source.bytes().first(std::min(source.bytes().size(), kSniffCap))))
      return read_profile(source, context, profiles);
    PROFD_TRY(const std::vector<CloudProfile> found, read_cloud_reply(source, context));
    for (const CloudProfile& profile : found) {
      PROFD_CHECK(read_profile(profile.source, context, profiles));
      ProfileInfo& info = profiles.back().info();
      info.name = found.size() > 1 ? profile.type : "";
      for (const auto& property : profile.properties) info.properties.push_back(property);
      if (!profile.type.empty()) info.properties.emplace_back("profile_type", profile.type);
    }
    return {};
  }

 private:
  static Result<void> read_profile(const ByteSource& source, ReadContext& context,
                                   std::vector<ProfileBuilder>& profiles) {
    PROFD_TRY(Records records, read_records(source.bytes(), context));
    const bool truncated = records.truncated;
    ProfileBuilder builder;
    PROFD_CHECK(add_metrics(records, builder));
    PROFD_CHECK(add_info(records, builder));
    Result<Dictionary> built;
    std::vector<SampleSlice> slices;
    if (truncated) {
      PROFD_TRY(built, build_dictionary(records, builder, context.report));
      PROFD_CHECK(drop_unresolvable(records, *built, context));
      slices = slice_samples(records, 1);
      scan_slice(records, slices.front(), context.limits.stack_depth);
    } else {
      // Samples are checked beside the tables.
      slices = slice_samples(records, context.executor.width() * std::size_t{2});
      std::exception_ptr thrown;  // out of memory, which a task must not say
      context.executor.run(slices.size() + 1, [&](std::size_t task) {
        if (task > 0) return scan_slice(records, slices[task - 1], context.limits.stack_depth);
        try {
          built = build_dictionary(records, builder, context.report);
        } catch (...) {
          thrown = std::current_exception();
        }
      });
      if (thrown) std::rethrow_exception(thrown);
    }
    PROFD_TRY(Dictionary dictionary, std::move(built));
    if (records.samples.size() == 0) {
      if (truncated)
        return fail(ErrorCode::truncated, "the file ends before its tables; no sample can be resolved",
                    source.bytes().size());
      context.report.add("no-samples", Severity::info, "The profile has no samples.");
    }
    const bool has_drop = !dictionary.prune.empty();
    records.locations = {};  // now in the dictionary
    records.lines = {};
    records.functions = {};
    auto stacks = std::make_unique<SampleStacks>(std::move(records), std::move(dictionary), std::move(slices),
                                                 source.owner());
    PROFD_CHECK(stacks->prepare(builder, context));
    if (has_drop)
      context.report.add(
          "drop-frames", Severity::info,
          "The profile asks to hide frames by drop_frames; they and what they call are not shown, "
          "their values stay on the caller.");
    builder.set_stacks(std::move(stacks));
    profiles.push_back(std::move(builder));
    return {};
  }

  // Of a truncated file: samples whose locations were cut off are left out and counted.
  static Result<void> drop_unresolvable(Records& records, const Dictionary& dictionary,
                                        ReadContext& context) {
    SampleOffsets kept;
    for (std::size_t i = 0; i < records.samples.size(); ++i) {
      Cursor body = records.sample(i);
      Field field;
      bool known = true;
      while (!body.done() && read_field(body, field)) {
        if (field.number != schema::sample::location_id) continue;
        Cursor packed = field.bytes;
        std::uint64_t id = field.value;
        if (field.wire == Wire::varint) known &= dictionary.location_row[id] != kNone;
        while (!packed.done() && known)
          known = read_varint(packed, id) && dictionary.location_row[id] != kNone;
      }
      if (!known) continue;
      kept.push_back(records.samples[i]);
    }
    const std::uint64_t lost = records.samples.size() - kept.size();
    context.report.add("truncated", Severity::loss,
                       "The file ends early; what follows its last whole field is missing.");
    if (lost > 0)
      context.report.add("samples-without-locations", Severity::loss,
                         "Samples whose locations were cut off are left out.", std::nullopt, lost);
    records.samples = std::move(kept);
    return {};
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_pprof_reader() {
  return std::make_unique<PprofReader>();
}

}  // namespace profd
