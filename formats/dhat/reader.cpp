// DHAT's profiles, of valgrind and of Rust's dhat crate. docs/formats/dhat.md.
#include "formats/reader.h"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"
#include "formats/support/valgrind_frame.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".dhat.json"};
constexpr ReaderNotes kNotes{
    .versions = "file version 2; modes heap, ad-hoc and copy",
    .keeps = "bytes and blocks in total, at the peak and at the end, lifetimes, accesses, lines, inlining",
    .recording = "valgrind --tool=dhat ./app",
    .verified = "sums over the JSON of two corpus files: bytes and blocks in total, at the peak, at the end",
};

// What a program point counts. `blocks`: in the unit of blocks, not of bytes.
struct Field {
  std::string_view key, name;
  bool blocks;
};
constexpr std::array<Field, 11> kFields{{{"tb", "total", false},
                                         {"tbk", "total_blocks", true},
                                         {"tl", "lifetime", false},
                                         {"mb", "max", false},
                                         {"mbk", "max_blocks", true},
                                         {"gb", "gmax", false},
                                         {"gbk", "gmax_blocks", true},
                                         {"eb", "end", false},
                                         {"ebk", "end_blocks", true},
                                         {"rb", "read", false},
                                         {"wb", "written", false}}};
constexpr std::size_t kLifetime = 2;

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    JsonCursor in(text_.text, context_.limits.nesting, text_.offset);
    std::optional<JsonCursor> points, frames;
    PROFD_CHECK(read_head(in, points, frames));
    if (!points || !frames)
      return fail(ErrorCode::malformed,
                  points ? "the file has no table of frames (ftbl)" : "the file has no program points (pps)");
    PROFD_CHECK(read_frames(*frames));
    PROFD_CHECK(find_fields(*points));
    declare_metrics();
    return read_points(*points);
  }

 private:
  Result<void> read_head(JsonCursor& in, std::optional<JsonCursor>& points,
                         std::optional<JsonCursor>& frames) {
    ProfileInfo& info = builder_.info();
    std::string_view key;
    std::int64_t version = -1;
    for (in.begin_object(); in.next_key(key);) {
      const std::string name(key);
      if (key == "pps" || key == "ftbl") {
        (key == "pps" ? points : frames) = in;
        in.skip();
      } else if (key == "dhatFileVersion") {
        version = in.integer();
      } else if (key == "cmd") {
        const std::string command(in.string());
        info.program = command.substr(0, command.find(' '));
        info.properties.emplace_back("cmd", command);
      } else if (in.kind() == JsonKind::string) {
        const std::string value(in.string());
        if (name == "mode") mode_ = value;
        if (name == "bsu") unit_ = value;
        if (name == "bksu") block_unit_ = value;
        if (name == "tu") time_unit_ = value;
        info.properties.emplace_back(name, value);
      } else if (in.kind() == JsonKind::number) {
        info.properties.emplace_back(name, std::string(in.number().text));
      } else if (in.kind() == JsonKind::boolean) {
        info.properties.emplace_back(name, in.boolean() ? "true" : "false");
      } else {
        in.skip();
      }
    }
    PROFD_CHECK(in.finish());
    if (version != 2)
      return fail(ErrorCode::unsupported,
                  fmt::format("the file has version {} of DHAT's format; 2 is read", version));
    return {};
  }

  Result<void> read_frames(JsonCursor& in) {
    for (in.begin_array(); in.next_element();) {
      const std::string text(in.string());
      frames_.push_back(in.ok() ? frame_of(text) : FrameId{});
    }
    return in.status();
  }

  FrameId frame_of(std::string_view text) {
    const ValgrindFrame parsed = parse_valgrind_frame(text);
    const bool unknown = parsed.name == "???" || parsed.name.empty();
    const std::string_view module = parsed.module.substr(parsed.module.rfind('/') + 1);
    FunctionSpec function;
    function.name = builder_.string(!unknown         ? std::string(parsed.name)
                                    : module.empty() ? std::string("[unknown]")
                                                     : fmt::format("[{}]", module));
    function.file = builder_.string(parsed.file);
    function.unresolved = unknown;
    FrameSpec frame;
    frame.function = builder_.function(function);
    if (!parsed.module.empty()) frame.module = builder_.module({.name = parsed.module});
    frame.line = parsed.line;
    frame.column = parsed.column;
    frame.address = parsed.address;
    addresses_.push_back(parsed.address);
    frame_specs_.push_back(frame);
    return builder_.frame(frame);
  }

  // Which of the counts the points have at all.
  Result<void> find_fields(JsonCursor in) {
    std::string_view key;
    for (in.begin_array(); in.next_element();) {
      for (in.begin_object(); in.next_key(key);) {
        for (std::size_t f = 0; f < kFields.size(); ++f) present_[f] |= kFields[f].key == key;
        in.skip();
      }
    }
    return in.status();
  }

  void declare_metrics() {
    const bool bytes = unit_.empty();
    for (std::size_t f = 0; f < kFields.size(); ++f) {
      // A file without points still says what it counted.
      if (!present_[f] && f > 1) continue;
      const Field& field = kFields[f];
      std::string unit =
          field.blocks ? (block_unit_.empty() ? "count" : block_unit_) : (bytes ? "bytes" : unit_);
      if (f == kLifetime) unit = time_unit_ == "\xC2\xB5s" ? "microseconds" : time_unit_;
      const std::string name = bytes && !field.blocks && f != kLifetime ? fmt::format("{}_bytes", field.name)
                                                                        : std::string(field.name);
      metric_[f] = builder_.add_metric(name, unit);
    }
    builder_.set_default_metric(metric_[0]);
  }

  Result<void> read_points(JsonCursor& in) {
    std::vector<std::int64_t> values(builder_.n_metrics());
    std::vector<FrameId> stack;
    std::vector<std::uint32_t> indices;
    std::string accesses;
    std::size_t n = 0;
    std::string_view key;
    for (in.begin_array(); in.next_element(); ++n) {
      if (n % 65536 == 0) PROFD_CHECK(context_.stop.status());
      const std::uint64_t offset = in.offset();
      std::fill(values.begin(), values.end(), 0);
      indices.clear();
      accesses.clear();
      for (in.begin_object(); in.next_key(key);) {
        if (key == "fs") {
          for (in.begin_array(); in.next_element();) {
            const std::int64_t index = in.integer();
            if (!in.ok()) break;
            if (index < 0 || static_cast<std::uint64_t>(index) >= frames_.size())
              return fail(ErrorCode::malformed,
                          fmt::format("a program point names frame {}, which is not in the table", index),
                          offset);
            if (indices.size() >= context_.limits.stack_depth)
              return fail(ErrorCode::limit, "a stack has too many frames (limit stack_depth)", offset);
            indices.push_back(static_cast<std::uint32_t>(index));
          }
          continue;
        }
        if (key == "acc") {
          const std::uint64_t begin = in.offset() - text_.offset;
          in.skip();
          const std::uint64_t end = in.offset() - text_.offset;
          accesses =
              text_.text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
          continue;
        }
        const Field* found = nullptr;
        for (const Field& field : kFields)
          if (field.key == key) found = &field;
        if (found)
          values[metric_[static_cast<std::size_t>(found - kFields.data())].v] = in.integer();
        else
          in.skip();
      }
      if (!in.ok()) break;
      // The file has the leaf first.
      stack.clear();
      for (std::size_t i = indices.size(); i-- > 0;) stack.push_back(frame_at(indices, i));
      SampleContext where;
      if (!accesses.empty()) {
        while (!accesses.empty() && accesses.back() != ']') accesses.pop_back();
        const Label label{.key = builder_.string("accesses"), .text = builder_.string(accesses)};
        where.labels = builder_.label_set(std::span(&label, 1));
      }
      builder_.add_sample(stack, values, where);
    }
    PROFD_CHECK(in.status());
    if (n == 0) context_.report.add("no-samples", Severity::info, "The profile has no program points.");
    return {};
  }

  // A frame with the address of the one that called it was inlined there.
  FrameId frame_at(const std::vector<std::uint32_t>& indices, std::size_t i) {
    const std::uint32_t index = indices[i];
    if (i + 1 >= indices.size() || addresses_[index] == 0 || addresses_[index] != addresses_[indices[i + 1]])
      return frames_[index];
    FrameSpec spec = frame_specs_[index];
    spec.inlined = true;
    return builder_.frame(spec);
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::string mode_, unit_, block_unit_, time_unit_;
  std::array<bool, kFields.size()> present_{};
  std::array<MetricId, kFields.size()> metric_{};
  std::vector<FrameId> frames_;
  std::vector<std::uint64_t> addresses_;
  std::vector<FrameSpec> frame_specs_;
};

class DhatReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{
        "dhat", "DHAT heap profile", kExtensions, 440, "valgrind --tool=dhat, Rust's dhat crate", 1, kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const JsonPrefix text(prefix);
    return json_keys(text.text()).has("dhatFileVersion", JsonKind::number) ? Confidence::certain
                                                                           : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_dhat_reader() {
  return std::make_unique<DhatReader>();
}

}  // namespace profd
