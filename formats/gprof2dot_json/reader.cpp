// The JSON that gprof2dot reads, docs/formats/gprof2dot-json.md.
#include "formats/reader.h"

#include <array>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

constexpr std::array<std::string_view, 1> kExtensions{".gprof2dot.json"};
constexpr ReaderNotes kNotes{
    .versions = "version 0",
    .keeps = "all costs, functions with modules, call chains",
    .recording = "memray transform gprof2dot out.bin",
    .verified = "memray: the bytes of a recording; gprof2dot's shares of two corpus files",
};

class Reading {
 public:
  Reading(const DecodedText& text, ReadContext& context, ProfileBuilder& builder)
      : text_(text), context_(context), builder_(builder) {}

  Result<void> run() {
    JsonCursor in(text_.text, context_.limits.nesting, text_.offset);
    std::optional<JsonCursor> costs, functions, events;
    std::string_view key;
    for (in.begin_object(); in.next_key(key);) {
      if (key == "costs") costs = in;
      if (key == "functions") functions = in;
      if (key == "events") events = in;
      if (key == "version" && in.kind() == JsonKind::number) {
        const std::int64_t version = in.integer();
        if (version != 0)
          return fail(ErrorCode::unsupported,
                      fmt::format("version {} of the format is newer than 0", version));
        continue;
      }
      in.skip();
    }
    PROFD_CHECK(in.finish());
    if (!costs || !functions || !events)
      return fail(ErrorCode::malformed, "one of costs, functions and events is missing");
    PROFD_CHECK(read_costs(*costs));
    PROFD_CHECK(survey(*events));
    for (std::size_t m = 0; m < names_.size(); ++m)
      builder_.add_metric(names_[m], units_[m].empty() ? "count" : units_[m], fractional_[m]);
    PROFD_CHECK(read_functions(*functions));
    return read_events(*events);
  }

 private:
  Result<void> read_costs(JsonCursor& in) {
    std::string_view key;
    for (in.begin_array(); in.next_element();) {
      names_.emplace_back("cost");
      units_.emplace_back();
      for (in.begin_object(); in.next_key(key);) {
        if (key == "description")
          names_.back() = in.string();
        else if (key == "unit")
          units_.back() = in.string();
        else
          in.skip();
      }
      if (names_.size() > 1000) return fail(ErrorCode::limit, "there are more than 1,000 costs");
    }
    PROFD_CHECK(in.status());
    if (names_.empty()) return fail(ErrorCode::malformed, "the file names no cost");
    fractional_.resize(names_.size());
    return {};
  }

  // Which costs are no integers.
  Result<void> survey(JsonCursor in) {
    std::string_view key;
    for (in.begin_array(); in.next_element();) {
      for (in.begin_object(); in.next_key(key);) {
        if (key != "cost") {
          in.skip();
          continue;
        }
        std::size_t m = 0;
        for (in.begin_array(); in.next_element(); ++m) {
          const JsonNumber number = in.number();
          if (m < fractional_.size()) fractional_[m] = fractional_[m] || !number.is_integer;
        }
      }
    }
    return in.status();
  }

  Result<void> read_functions(JsonCursor& in) {
    std::string_view key;
    for (in.begin_array(); in.next_element();) {
      std::string name, module, process;
      for (in.begin_object(); in.next_key(key);) {
        if (key == "name")
          name = in.string();
        else if (key == "module")
          module = in.string();
        else if (key == "process")
          process = in.string();
        else
          in.skip();
      }
      if (!in.ok()) break;
      FunctionSpec function;
      function.unresolved = name.empty();
      function.name = builder_.string(name.empty() ? std::string("[unknown]") : name);
      FrameSpec frame;
      frame.function = builder_.function(function);
      if (!module.empty()) frame.module = builder_.module({.name = module});
      if (!process.empty())
        context_.report.add("process", Severity::loss, "the processes of functions have no place");
      frames_.push_back(builder_.frame(frame));
    }
    return in.status();
  }

  Result<void> read_events(JsonCursor& in) {
    std::vector<Value> values(names_.size());
    std::vector<FrameId> chain, stack;
    std::string_view key;
    std::size_t n = 0;
    for (in.begin_array(); in.next_element(); ++n) {
      if (n % 65536 == 0) PROFD_CHECK(context_.stop.status());
      const std::uint64_t offset = in.offset();
      chain.clear();
      std::size_t n_costs = 0;
      for (std::size_t m = 0; m < values.size(); ++m)
        values[m] = fractional_[m] ? Value(0.0) : Value(std::int64_t{0});
      for (in.begin_object(); in.next_key(key);) {
        if (key == "callchain") {
          for (in.begin_array(); in.next_element();) {
            const std::int64_t index = in.integer();
            if (!in.ok()) break;
            if (index < 0 || static_cast<std::uint64_t>(index) >= frames_.size())
              return fail(ErrorCode::malformed,
                          fmt::format("an event names function {}, which is not in the table", index),
                          offset);
            if (chain.size() >= context_.limits.stack_depth)
              return fail(ErrorCode::limit, "a call chain has too many frames (limit stack_depth)", offset);
            chain.push_back(frames_[static_cast<std::size_t>(index)]);
          }
        } else if (key == "cost") {
          for (in.begin_array(); in.next_element(); ++n_costs) {
            const JsonNumber number = in.number();
            if (n_costs < values.size())
              values[n_costs] = fractional_[n_costs] ? Value(number.value) : Value(number.integer);
          }
        } else {
          in.skip();
        }
      }
      if (!in.ok()) break;
      if (n_costs != values.size())
        return fail(ErrorCode::malformed,
                    fmt::format("an event has {} costs, but there are {}", n_costs, values.size()), offset);
      // The file has the leaf first.
      stack.assign(chain.rbegin(), chain.rend());
      builder_.add_sample(builder_.context_of(stack), std::span<const Value>(values));
    }
    PROFD_CHECK(in.status());
    if (n == 0) context_.report.add("no-samples", Severity::info, "The profile has no events.");
    return {};
  }

  const DecodedText& text_;
  ReadContext& context_;
  ProfileBuilder& builder_;
  std::vector<std::string> names_, units_;
  std::vector<bool> fractional_;
  std::vector<FrameId> frames_;
};

class Gprof2dotJsonReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"gprof2dot-json",
                                 "gprof2dot JSON",
                                 kExtensions,
                                 441,
                                 "memtrail and others, for gprof2dot -f json",
                                 1,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool) const override {
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    if (!keys.has("costs", JsonKind::array)) return Confidence::no;
    const bool rest = keys.has("functions", JsonKind::array) || keys.has("events", JsonKind::array);
    return rest ? Confidence::certain : Confidence::maybe;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText text = decode_text(source);
    return Reading(text, context, profiles.emplace_back()).run();
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_gprof2dot_json_reader() {
  return std::make_unique<Gprof2dotJsonReader>();
}

}  // namespace profd
