// pprof's protocol buffers, gzipped.
#include <array>
#include <memory>
#include <unordered_map>

#include <zlib.h>

#include "core/model/module_address.h"
#include "formats/pprof/profile.fields.h"
#include "formats/writers/measurements.h"
#include "formats/writers/output.h"
#include "formats/writers/string_rows.h"

namespace profd {
namespace {

using namespace writers;
namespace pprof_schema = pprof::schema;

constexpr std::array<std::string_view, 4> kPprofExtensions{".pb.gz", ".pprof", ".pb", ".prof"};

// Deflates what is put into it, block by block.
class Gzip {
 public:
  Gzip(const ByteSink& sink, const StopToken& stop) : sink_(sink), stop_(stop) {
    ok_ = deflateInit2(&stream_, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
  }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip() { deflateEnd(&stream_); }

  Result<void> put(std::string_view bytes) {
    buffer_ += bytes;
    return buffer_.size() >= (1u << 18) ? drain(Z_NO_FLUSH) : Result<void>();
  }
  Result<void> finish() { return drain(Z_FINISH); }

 private:
  Result<void> drain(int flush) {
    if (!ok_) return fail(ErrorCode::internal, "zlib does not start");
    PROFD_CHECK(stop_.status());
    stream_.next_in = reinterpret_cast<Bytef*>(buffer_.data());
    stream_.avail_in = static_cast<uInt>(buffer_.size());
    std::array<std::byte, 65536> out;
    do {
      stream_.next_out = reinterpret_cast<Bytef*>(out.data());
      stream_.avail_out = static_cast<uInt>(out.size());
      if (deflate(&stream_, flush) == Z_STREAM_ERROR) return fail(ErrorCode::internal, "zlib fails");
      PROFD_CHECK(sink_(std::span(out).first(out.size() - stream_.avail_out)));
    } while (stream_.avail_out == 0);
    buffer_.clear();
    return {};
  }

  const ByteSink& sink_;
  const StopToken& stop_;
  z_stream stream_{};
  bool ok_ = false;
  std::string buffer_;
};

class PprofWriting {
 public:
  PprofWriting(const Profile& profile, const WriteOptions& options, const ByteSink& sink, LossReport& losses)
      : profile_(profile), losses_(losses), out_(sink, options.stop), whole_(profile) {}

  Result<void> run() {
    string("");
    Message head;
    for (std::size_t m = 0; m < profile_.metrics().size(); ++m) {
      Message type;
      type.varint(pprof_schema::value_type::type, string(profile_.metrics()[m].name));
      type.varint(pprof_schema::value_type::unit, string(whole_.unit(MetricId{m})));
      head.message(pprof_schema::profile::sample_type, type);
    }
    write_info(head);
    PROFD_CHECK(out_.put(head.bytes()));
    PROFD_CHECK(write_samples());
    PROFD_CHECK(write_tables());
    count_loss(losses_, "fractions", "Values that are no whole numbers were rounded.", whole_.n_rounded());
    count_loss(losses_, "frame-file",
               "Lines in another file than their function's make it a function of its own.", n_other_file_);
    return out_.finish();
  }

 private:
  std::uint64_t string(std::string_view text) { return strings_.row(text); }

  void write_info(Message& head) {
    namespace field = pprof_schema::profile;
    const ProfileInfo& info = profile_.info();
    if (info.time_ns) head.integer(field::time_nanos, *info.time_ns);
    if (info.duration_ns) head.integer(field::duration_nanos, *info.duration_ns);
    if (!info.period_type.empty()) {
      Message type;
      type.varint(pprof_schema::value_type::type, string(info.period_type));
      type.varint(pprof_schema::value_type::unit, string(info.period_unit));
      head.message(field::period_type, type);
    }
    if (info.period) head.integer(field::period, *info.period);
    std::vector<std::uint64_t> comments;
    for (const std::string& comment : info.comments) comments.push_back(string(comment));
    for (const auto& [key, value] : info.properties) {
      if (key == "drop_frames")
        head.varint(field::drop_frames, string(value));
      else if (key == "keep_frames")
        head.varint(field::keep_frames, string(value));
      else if (key == "doc_url")
        head.varint(field::doc_url, string(value));
      else
        comments.push_back(string(key + ": " + value));
    }
    head.packed(field::comment, comments);
    head.varint(field::default_sample_type, string(profile_.metrics()[profile_.default_metric().v].name));
  }

  Result<void> write_samples() {
    const Measurements rows(profile_);
    const auto n_metrics = static_cast<std::uint32_t>(profile_.metrics().size());
    // Rows of one context, thread and label set are one sample: pprof has no times.
    std::vector<std::int64_t> values(n_metrics);
    std::vector<std::uint64_t> locations;
    Message sample, field;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Measurement row = rows[i];
      bool any = false;
      for (std::uint32_t m = 0; m < n_metrics; ++m) {
        values[m] = whole_.of(MetricId{m}, rows.value(row.row, MetricId{m}));
        any |= values[m] != 0;
      }
      if (!any) continue;
      locations_of(row.context, locations);
      sample.clear();
      sample.packed(pprof_schema::sample::location_id, locations);
      sample.packed(pprof_schema::sample::value, values);
      write_labels(row, sample);
      field.clear();
      field.message(pprof_schema::profile::sample, sample);
      PROFD_CHECK(out_.put(field.bytes()));
    }
    return {};
  }

  void write_labels(const Measurement& row, Message& sample) {
    namespace of_label = pprof_schema::label;
    const auto text_label = [&](std::string_view key, std::string_view text) {
      Message label;
      label.varint(of_label::key, string(key));
      label.varint(of_label::str, string(text));
      sample.message(pprof_schema::sample::label, label);
    };
    const auto number_label = [&](std::string_view key, std::int64_t number, std::string_view unit) {
      Message label;
      label.varint(of_label::key, string(key));
      label.integer(of_label::num, number);
      if (!unit.empty()) label.varint(of_label::num_unit, string(unit));
      sample.message(pprof_schema::sample::label, label);
    };
    const LabelTable& labels = profile_.labels();
    if (row.label_set < labels.n_sets()) {
      for (std::uint32_t l = labels.first[row.label_set]; l < labels.first[row.label_set + 1]; ++l) {
        if (labels.is_number[l])
          number_label(text_of(profile_, labels.key[l]), labels.number[l], text_of(profile_, labels.unit[l]));
        else
          text_label(text_of(profile_, labels.key[l]), text_of(profile_, labels.text[l]));
      }
    }
    if (row.thread == kNone) return;
    const ThreadTable& threads = profile_.threads();
    if (const auto name = text_of(profile_, threads.name[row.thread]); !name.empty())
      text_label("thread", name);
    if (const auto name = text_of(profile_, threads.process_name[row.thread]); !name.empty())
      text_label("process", name);
    if (threads.tid[row.thread] >= 0) number_label("thread_id", threads.tid[row.thread], "");
    if (threads.pid[row.thread] >= 0) number_label("process_id", threads.pid[row.thread], "");
  }

  // Leaf first. Frames inlined into each other share a location.
  void locations_of(std::uint32_t context, std::vector<std::uint64_t>& out) {
    out.clear();
    while (context != 0 && context != kNone) {
      group_.clear();
      while (context != 0) {
        const std::uint32_t frame = profile_.tree().frame[context];
        group_.push_back(frame);
        context = profile_.tree().parent[context];
        if (!profile_.frames().inlined[frame]) break;
      }
      out.push_back(location_of());
    }
  }

  std::uint64_t location_of() {
    std::uint64_t hash = group_.size();
    for (const std::uint32_t frame : group_) hash = hash_combine(hash, frame);
    const auto next = static_cast<std::uint32_t>(location_first_.size());
    const std::uint32_t row = location_rows_.find_or_add(mix64(hash), next, [&](std::uint32_t r) {
      const std::size_t begin = location_first_[r];
      const std::size_t end =
          r + 1 < location_first_.size() ? location_first_[r + 1] : location_frames_.size();
      return end - begin == group_.size() &&
             std::equal(group_.begin(), group_.end(),
                        location_frames_.begin() + static_cast<std::ptrdiff_t>(begin));
    });
    if (row == next) {
      location_first_.push_back(location_frames_.size());
      location_frames_.insert(location_frames_.end(), group_.begin(), group_.end());
    }
    return std::uint64_t{row} + 1;
  }

  Result<void> write_tables() {
    namespace of_mapping = pprof_schema::mapping;
    namespace of_location = pprof_schema::location;
    namespace of_line = pprof_schema::line;
    namespace of_function = pprof_schema::function;
    const FrameTable& frames = profile_.frames();
    Message field, table;
    for (std::size_t m = 0; m < profile_.modules().size(); ++m) {
      const ModuleTable& modules = profile_.modules();
      table.clear();
      table.varint(of_mapping::id, m + 1);
      table.varint(of_mapping::memory_start, modules.start[m]);
      table.varint(of_mapping::memory_limit, modules.limit[m]);
      table.varint(of_mapping::file_offset, modules.offset[m]);
      table.varint(of_mapping::filename, string(text_of(profile_, modules.name[m])));
      table.varint(of_mapping::build_id, string(text_of(profile_, modules.build_id[m])));
      table.varint(of_mapping::has_functions, 1);
      table.varint(of_mapping::has_filenames, 1);
      table.varint(of_mapping::has_line_numbers, 1);
      field.message(pprof_schema::profile::mapping, table);
    }
    PROFD_CHECK(out_.put(field.bytes()));
    for (std::size_t l = 0; l < location_first_.size(); ++l) {
      const std::size_t begin = location_first_[l];
      const std::size_t end =
          l + 1 < location_first_.size() ? location_first_[l + 1] : location_frames_.size();
      table.clear();
      table.varint(of_location::id, l + 1);
      const std::uint32_t outer = location_frames_[end - 1];
      if (frames.module[outer].valid())
        table.varint(of_location::mapping_id, std::uint64_t{frames.module[outer].v} + 1);
      table.varint(of_location::address, loaded_address(profile_.modules(), frames, outer));
      for (std::size_t f = begin; f < end; ++f) {
        const std::uint32_t frame = location_frames_[f];
        const FunctionId function = frames.function[frame];
        // Code without a symbol has an address and no line.
        if (profile_.functions().unresolved[function.v] && frames.address[frame] != 0 && end - begin == 1)
          continue;
        Message line;
        line.varint(of_line::function_id, function_of(frame));
        line.varint(of_line::line, frames.line[frame]);
        line.varint(of_line::column, frames.column[frame]);
        table.message(of_location::line, line);
      }
      field.clear();
      field.message(pprof_schema::profile::location, table);
      PROFD_CHECK(out_.put(field.bytes()));
    }
    field.clear();
    for (std::size_t f = 0; f < functions_.size(); ++f) {
      const auto& [function, file] = functions_[f];
      table.clear();
      table.varint(of_function::id, f + 1);
      table.varint(of_function::name, string(text_of(profile_, profile_.functions().name[function])));
      // Left empty when unknown: pprof demangles a name that equals its system name, and of a name that is
      // readable already it drops what stands in angle brackets.
      table.varint(of_function::system_name,
                   string(text_of(profile_, profile_.functions().system_name[function])));
      table.varint(of_function::filename, string(text_of(profile_, StringId{file})));
      table.varint(of_function::start_line, profile_.functions().start_line[function]);
      field.message(pprof_schema::profile::function, table);
    }
    for (const std::string& text : strings_) field.text(pprof_schema::profile::string_table, text);
    return out_.put(field.bytes());
  }

  // pprof keeps the file with the function.
  std::uint64_t function_of(std::uint32_t frame) {
    const std::uint32_t function = profile_.frames().function[frame].v;
    const StringId own = profile_.functions().file[function];
    const StringId file = profile_.frames().file[frame].v != 0 ? profile_.frames().file[frame] : own;
    const std::uint64_t key = (std::uint64_t{function} << 32) | file.v;
    const auto [found, added] = function_rows_.try_emplace(key, functions_.size() + 1);
    if (added) {
      functions_.emplace_back(function, file.v);
      n_other_file_ += file != own && own.v != 0;
    }
    return found->second;
  }

  const Profile& profile_;
  LossReport& losses_;
  Gzip out_;
  StringRows strings_;
  RowSet location_rows_;
  std::vector<std::uint32_t> group_, location_frames_;
  std::vector<std::size_t> location_first_;
  std::unordered_map<std::uint64_t, std::size_t> function_rows_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> functions_;  // function, file
  WholeNumbers whole_;
  std::uint64_t n_other_file_ = 0;
};

class PprofWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{
        "pprof",
        "pprof protocol buffers",
        kPprofExtensions,
        "application/octet-stream",
        false,
        "all metrics, labels, lines, columns, addresses, modules, inlining; threads as labels"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    const Profile& profile = *profiles.front();
    if (profile.metrics().empty()) return fail(ErrorCode::unsupported, "the profile has no metrics");
    report_losses(profiles, 1,
                  {.lines = true,
                   .addresses = true,
                   .modules = true,
                   .inlining = true,
                   .threads = true,
                   .labels = true,
                   .properties = true},
                  losses);
    return PprofWriting(profile, options, sink, losses).run();
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_pprof_writer() {
  return std::make_unique<PprofWriter>();
}

}  // namespace profd
