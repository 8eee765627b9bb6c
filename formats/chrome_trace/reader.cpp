// Chrome's trace event JSON: Chrome, Node.js, PyTorch's Kineto, Hermes, Perfetto's export and many tracers.
// docs/formats/chrome-trace.md says what is read and what is lost.
#include "formats/reader.h"

#include <array>
#include <cstring>
#include <limits>
#include <memory>

#include <fmt/format.h>

#include "formats/chrome_trace/cpu_samples.h"
#include "formats/chrome_trace/event.h"
#include "formats/chrome_trace/sampled_stacks.h"
#include "formats/chrome_trace/slices.h"
#include "formats/chrome_trace/timed_events.h"
#include "formats/support/file_url.h"
#include "formats/support/json_cursor.h"
#include "formats/support/json_keys.h"
#include "formats/support/text_number.h"
#include "formats/support/text_rows.h"
#include "formats/support/text_source.h"

namespace profd {
namespace {

using namespace chrome_trace;

constexpr std::array<std::string_view, 3> kExtensions{".trace.json", ".trace", ".json"};
constexpr ReaderNotes kNotes{
    .versions = "arrays and objects, cut off or not; V8's CPU samples, Hermes, Kineto",
    .keeps =
        "B, E and X events as time and spans, CPU samples, sampled stacks, instants, counters, async "
        "operations; categories, places; no flows",
    .recording = "node --trace-events-enabled --trace-event-categories v8,node app.js",
    .verified =
        "speedscope's snapshots: self times of 18 event files, script functions of four CPU profiles; "
        "Kineto: by hand only",
};
constexpr std::size_t kSniffCap = 64 * 1024;

// What is not read, by phase.
struct Skipped {
  std::uint64_t flows = 0, objects = 0, dumps = 0, others = 0, no_phase = 0;
};

class TraceReading {
 public:
  TraceReading(const DecodedText& text, ReadContext& context)
      : text_(text.text),
        base_(text.offset),
        context_(context),
        in_(text.text, context.limits.nesting, text.offset) {
    slices_builder_.add_metric("events", "count");
    slices_builder_.set_default_metric(slices_builder_.add_metric("time", "nanoseconds"));
  }

  Result<void> read(std::vector<ProfileBuilder>& profiles) {
    if (in_.kind() == JsonKind::array)
      PROFD_CHECK(read_events());
    else
      PROFD_CHECK(read_object());
    if (!cut_off_) PROFD_CHECK(in_.finish());
    return add_profiles(profiles);
  }

 private:
  Result<void> read_object();
  Result<void> read_events();
  Result<void> event(const Event& event);
  void metadata(const Event& event);
  void slice(const Event& event);
  void timed(const Event& event);
  FrameId frame(const Event& event, std::uint32_t name);
  FrameId located_frame(const Event& event, bool& found);
  FunctionId python_function(std::string_view name);
  LabelSetId labels(std::string_view category);
  Result<void> add_profiles(std::vector<ProfileBuilder>& profiles);
  void report();
  JsonCursor at(std::uint64_t offset, std::uint32_t depth) const {
    JsonCursor cursor = in_;
    cursor.seek(offset, depth);
    return cursor;
  }

  std::string_view text_;
  std::uint64_t base_;
  ReadContext& context_;
  JsonCursor in_;
  std::uint32_t event_depth_ = 1;
  bool cut_off_ = false, saw_events_ = false;
  std::vector<std::pair<std::string, std::string>> properties_;
  std::optional<std::int64_t> base_time_ns_, first_time_;
  std::uint64_t n_events_ = 0, n_no_time_ = 0, n_negative_ = 0, n_no_duration_ = 0;
  ReadCounts counts_;
  Skipped skipped_;
  Threads threads_;
  TextRows names_, categories_;
  std::vector<FrameId> frame_of_name_;  // of events without a place of their own
  std::vector<LabelSetId> labels_of_category_;
  SliceTable slices_;
  ProfileBuilder slices_builder_;
  CpuSamples cpu_;
  SampledStacks stacks_;
  TimedEvents timed_;
};

Result<void> TraceReading::read_object() {
  std::optional<std::uint64_t> frames, samples;
  std::string_view key;
  for (in_.begin_object(); in_.next_key(key);) {
    const JsonKind kind = in_.kind();
    const std::uint64_t place = in_.offset();
    if (key == "traceEvents" && kind == JsonKind::array) {
      event_depth_ = 2;
      PROFD_CHECK(read_events());
      if (cut_off_) break;
    } else if (key == "baseTimeNanoseconds" && kind == JsonKind::number) {
      base_time_ns_ = in_.integer();
    } else if (kind == JsonKind::string || kind == JsonKind::number || kind == JsonKind::boolean) {
      std::string name(key);
      if (kind == JsonKind::string) {
        const std::string_view value = in_.string();
        if (value.size() < 4096)
          properties_.emplace_back(std::move(name), value);
        else
          context_.report.add("text-not-read", Severity::loss,
                              "A long text beside the events (" + name + ") is not read.");
      } else {
        in_.skip();
        properties_.emplace_back(std::move(name), text_.substr(place - base_, in_.offset() - place));
      }
    } else {
      if (key == "stackFrames" && kind == JsonKind::object) frames = place;
      if (key == "samples" && kind == JsonKind::array) samples = place;
      in_.skip();
    }
  }
  if (!in_.ok() && saw_events_ && in_.status().error().code == ErrorCode::truncated && !cut_off_) {
    cut_off_ = true;
    context_.report.add("truncated", Severity::loss,
                        "The file ends after its events; what follows them is missing.");
  }
  if (!cut_off_) PROFD_CHECK(in_.status());
  if (!saw_events_) return fail(ErrorCode::malformed, "the object has no array traceEvents", base_);
  if (cut_off_) in_ = JsonCursor(text_, context_.limits.nesting, base_);
  if (frames) {
    JsonCursor in = at(*frames, 1);
    PROFD_CHECK(stacks_.read_frames(in, text_, base_));
  }
  if (samples) {
    JsonCursor in = at(*samples, 1);
    PROFD_CHECK(stacks_.read_samples(in, text_, base_, threads_, counts_));
  }
  return {};
}

// At the array. A stream that was not closed is a trace too.
Result<void> TraceReading::read_events() {
  saw_events_ = true;
  Event event;
  bool inside = false;
  std::uint64_t n_elements = 0;
  for (in_.begin_array(); in_.next_element();) {
    read_event(in_, text_, base_, event, counts_);
    inside = !in_.ok();
    if (inside) break;
    // Writers that end every event with a comma put {} last.
    if (!event.empty) {
      PROFD_CHECK(this->event(event));
      ++n_events_;
    }
    if ((++n_elements & 4095) == 0) {
      PROFD_CHECK(context_.stop.status());
      if (context_.progress) context_.progress(in_.offset(), text_.size());
    }
  }
  if (in_.ok()) return {};
  Error error = in_.status().error();
  // Tracers that write a comma after every event write one after the last.
  if (!inside && n_events_ > 0 && error.offset && text_.substr(*error.offset - base_).starts_with(']') &&
      trim(text_.substr(0, *error.offset - base_)).ends_with(',')) {
    context_.report.add("trailing-comma", Severity::info, "A comma follows the last event.", error.offset);
    in_ = JsonCursor(text_, context_.limits.nesting, base_);
    in_.seek(*error.offset + 1, event_depth_ - 1);
    return {};
  }
  if (error.code != ErrorCode::truncated || n_events_ == 0) {
    error.where.push_back(fmt::format("event {}", n_events_));
    return tl::unexpected<Error>(std::move(error));
  }
  cut_off_ = true;
  const std::string_view kept = trim(text_);
  if (kept.ends_with('}') || kept.ends_with(','))
    context_.report.add("no-closing-bracket", Severity::info,
                        "The array of events is not closed: the trace was written as a stream.");
  else
    context_.report.add("truncated", Severity::loss, "The file ends inside an event; that event is dropped.",
                        error.offset);
  return {};
}

Result<void> TraceReading::event(const Event& event) {
  const char phase = event.phase;
  if (phase == 'M') {
    metadata(event);
    return {};
  }
  if (event.time && (!first_time_ || *event.time < *first_time_)) first_time_ = event.time;
  const bool taken = event.stack || !event.stack_frame.empty();
  if (taken) PROFD_CHECK(stacks_.take(event, threads_.row(event.pid, event.tid), in_));
  switch (phase) {
    case 'X':
    case 'B':
    case 'E':
      slice(event);
      return {};
    case 'P':
    case 'I':
      if (event.args && CpuSamples::is_part(event.name))
        return cpu_.take(event, threads_.row(event.pid, event.tid), at(*event.args, event_depth_ + 1),
                         counts_);
      if (!taken) timed(event);
      return {};
    case 'i':
    case 'R':
      if (!taken) timed(event);
      return {};
    case 'C':
    case 'b':
    case 'e':
    case 'n':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
      timed(event);
      return {};
    case 's':
    case 't':
    case 'f':
      ++skipped_.flows;
      return {};
    case 'N':
    case 'O':
    case 'D':
    case '(':
    case ')':
      ++skipped_.objects;
      return {};
    case 'v':
    case 'V':
      ++skipped_.dumps;
      return {};
    case '\0':
      ++skipped_.no_phase;
      return {};
    default:
      ++skipped_.others;
      return {};
  }
}

void TraceReading::metadata(const Event& event) {
  const bool process = event.name == "process_name", labels = event.name == "process_labels";
  if (!event.args || (!process && !labels && event.name != "thread_name")) return;
  JsonCursor in = at(*event.args, event_depth_ + 1);
  std::string name;
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == (labels ? "labels" : "name") && in.kind() == JsonKind::string)
      name = in.string();
    else
      in.skip();
  }
  if (labels)
    threads_.set_process_labels(event.pid, std::move(name));
  else if (process)
    threads_.set_process_name(event.pid, std::move(name));
  else
    threads_.set_thread_name(threads_.row(event.pid, event.tid), std::move(name));
}

void TraceReading::slice(const Event& event) {
  if (!event.time) {
    ++n_no_time_;
    return;
  }
  const bool complete = event.phase == 'X', end = event.phase == 'E';
  std::int64_t until = *event.time;
  if (complete && !event.duration) ++n_no_duration_;
  if (complete && event.duration) {
    if (*event.duration < 0)
      ++n_negative_;
    else if (__builtin_add_overflow(until, *event.duration, &until))
      until = std::numeric_limits<std::int64_t>::max();
  }
  slices_.time.push_back(*event.time);
  slices_.until.push_back(until);
  slices_.thread.push_back(threads_.row(event.pid, event.tid));
  const std::uint32_t name = end && event.name.empty() ? kNone : names_.row(event.name);
  slices_.name.push_back(name);
  slices_.frame.push_back(end ? FrameId{} : frame(event, name));
  slices_.labels.push_back(end ? LabelSetId{0u} : labels(event.category));
  slices_.kind.push_back(complete ? SliceKind::complete : end ? SliceKind::end : SliceKind::begin);
}

void TraceReading::timed(const Event& event) {
  if (event.time)
    timed_.take(event, threads_, threads_.row(event.pid, event.tid));
  else
    ++n_no_time_;
}

FrameId TraceReading::frame(const Event& event, std::uint32_t name) {
  if (event.args) {
    // Arguments are looked into only where they name a source.
    const char* const args = text_.data() + (*event.args - base_);
    if (memmem(args, event.args_end - *event.args, "\"url\"", 5) != nullptr) {
      bool found = false;
      const FrameId frame = located_frame(event, found);
      if (found) return frame;
    }
  }
  if (frame_of_name_.size() <= name) frame_of_name_.resize(name + 1);
  FrameId& known = frame_of_name_[name];
  if (!known.valid()) {
    const std::string text = unescaped(event.name);
    FrameSpec spec;
    spec.function = event.category == "python_function"
                        ? python_function(text)
                        : slices_builder_.function(text.empty() ? "(unnamed)" : text);
    if (event.category == "python_function") spec.kind = FrameKind::interpreted;
    known = slices_builder_.frame(spec);
  }
  return known;
}

// "torch/nn/modules/module.py(1501): _call_impl"
FunctionId TraceReading::python_function(std::string_view text) {
  const std::size_t mark = text.find("): ");
  const std::size_t open = mark == std::string_view::npos ? mark : text.rfind('(', mark);
  FunctionSpec spec;
  if (open == std::string_view::npos || !parse_uint(text.substr(open + 1, mark - open - 1), spec.start_line))
    return slices_builder_.function(text.empty() ? "(unnamed)" : text);
  spec.name = slices_builder_.string(text.substr(mark + 3));
  spec.file = slices_builder_.string(text.substr(0, open));
  return slices_builder_.function(spec);
}

// Hermes puts the place of a call into the arguments, DevTools into their member `data`.
FrameId TraceReading::located_frame(const Event& event, bool& found) {
  JsonCursor in = at(*event.args, event_depth_ + 1);
  std::string url;
  std::int64_t line = 0, column = 0, function_line = 0;
  const auto whole = [&] {
    std::int64_t value = 0;
    if (!parse_int(read_raw(in, text_, base_), value) || value < 0 || value >= kNone - 1)
      return std::int64_t{0};
    return value;
  };
  const auto member = [&](std::string_view key) {
    if (key == "url" && in.kind() == JsonKind::string)
      url = in.string();
    else if (key == "line" || key == "lineNumber")
      line = whole();
    else if (key == "column" || key == "columnNumber")
      column = whole();
    else if (key == "funcLine")
      function_line = whole();
    else
      in.skip();
  };
  std::string_view key;
  for (in.begin_object(); in.next_key(key);) {
    if (key == "data" && in.kind() == JsonKind::object) {
      for (in.begin_object(); in.next_key(key);) member(key);
    } else {
      member(key);
    }
  }
  found = in.ok() && !url.empty();
  if (!found) return {};
  const std::string text = unescaped(event.name);
  FunctionSpec function;
  function.name = slices_builder_.string(text.empty() ? "(unnamed)" : text);
  const StringId file = slices_builder_.string(url.starts_with("file:") ? path_from_file_url(url) : url);
  if (function_line > 0) {
    function.file = file;
    function.start_line = static_cast<std::uint32_t>(function_line);
  }
  FrameSpec spec;
  spec.function = slices_builder_.function(function);
  spec.file = file;
  spec.line = static_cast<std::uint32_t>(line);
  spec.column = static_cast<std::uint32_t>(column);
  return slices_builder_.frame(spec);
}

LabelSetId TraceReading::labels(std::string_view category) {
  if (category.empty()) return LabelSetId{0u};
  const std::uint32_t row = categories_.row(category);
  if (row == labels_of_category_.size()) {
    Label label;
    label.key = slices_builder_.string("category");
    label.text = slices_builder_.string(unescaped(category));
    labels_of_category_.push_back(slices_builder_.label_set({&label, 1}));
  }
  return labels_of_category_[row];
}

void TraceReading::report() {
  ImportReport& out = context_.report;
  const auto add = [&](std::string_view kind, Severity severity, std::string_view sentence, std::uint64_t n) {
    if (n > 0) out.add(kind, severity, sentence, std::nullopt, n);
  };
  add("flow-event", Severity::info, "Flow events (arrows between events) are not read.", skipped_.flows);
  add("object-event", Severity::info, "Events on objects and contexts are not read.", skipped_.objects);
  add("memory-dump", Severity::loss, "Memory dumps are not read.", skipped_.dumps);
  add("other-event", Severity::loss, "Events of a phase that is not known are not read.", skipped_.others);
  add("event-without-phase", Severity::loss, "Events without a phase were dropped.", skipped_.no_phase);
  add("event-without-time", Severity::loss, "Events without a time were dropped.", n_no_time_);
  add("event-without-duration", Severity::loss, "Complete events without a duration take no time.",
      n_no_duration_);
  add("negative-duration", Severity::loss, "Negative durations were taken as 0.", n_negative_);
  add("rounded-time", Severity::info, "Times were rounded to whole nanoseconds.", counts_.n_rounded);
}

Result<void> TraceReading::add_profiles(std::vector<ProfileBuilder>& profiles) {
  for (const auto& first : {cpu_.first_time(), stacks_.first_time()}) {
    if (first && (!first_time_ || *first < *first_time_)) first_time_ = first;
  }
  const std::int64_t origin = first_time_.value_or(0);
  report();
  PROFD_CHECK(cpu_.add_to(threads_, origin, context_, profiles));
  PROFD_CHECK(stacks_.add_to(threads_, origin, context_, profiles));
  if (slices_.size() > 0) {
    PROFD_CHECK(add_slices(slices_, threads_, origin, context_, slices_builder_));
    slices_builder_.info().name = "events";
    profiles.push_back(std::move(slices_builder_));
  }
  if (profiles.empty())
    return fail(ErrorCode::malformed,
                fmt::format("none of the trace's {} events has a duration or a stack: nothing was measured",
                            n_events_));
  // A copy of a cursor that failed at the end of a stream would be of no use.
  if (cut_off_) in_ = JsonCursor(text_, context_.limits.nesting, base_);
  // What is on no stack is of all: what was sampled meanwhile is of use beside calls and samples alike.
  for (ProfileBuilder& builder : profiles)
    PROFD_CHECK(timed_.add_to(builder, threads_, origin, context_,
                              [&](std::uint64_t offset) { return at(offset, event_depth_ + 1); }));
  timed_.report(context_);
  for (ProfileBuilder& builder : profiles) {
    ProfileInfo& info = builder.info();
    info.format = "chrome-trace";
    info.properties = properties_;
    std::int64_t start = 0;
    if (base_time_ns_ && !__builtin_add_overflow(*base_time_ns_, origin, &start)) info.time_ns = start;
  }
  return {};
}

class ChromeTraceReader final : public FormatReader {
 public:
  const ReaderInfo& info() const override {
    static const ReaderInfo info{"chrome-trace",
                                 "Chrome trace events",
                                 kExtensions,
                                 411,
                                 "Chrome, Node.js, PyTorch (Kineto), Hermes, Perfetto's export, many tracers",
                                 5,
                                 kNotes};
    return info;
  }

  Confidence sniff(std::span<const std::byte> prefix, bool at_end) const override {
    const JsonPrefix text(prefix);
    const JsonKeys keys = json_keys(text.text());
    if (keys.kind() == JsonKind::array) {
      const bool placed =
          keys.find("ts") != nullptr || keys.find("pid") != nullptr || keys.find("tid") != nullptr;
      return keys.has("ph", JsonKind::string) && placed ? Confidence::certain : Confidence::no;
    }
    if (keys.kind() != JsonKind::object) return Confidence::no;
    if (keys.has("traceEvents", JsonKind::array)) return Confidence::certain;
    if (keys.complete()) return Confidence::no;
    // The events come later than what can be seen.
    const bool hints = keys.find("displayTimeUnit") != nullptr || keys.find("stackFrames") != nullptr ||
                       keys.find("otherData") != nullptr || keys.find("deviceProperties") != nullptr;
    if (hints) return Confidence::maybe;
    return !at_end && prefix.size() >= kSniffCap && keys.find("metadata") != nullptr ? Confidence::need_more
                                                                                     : Confidence::no;
  }

  Result<void> read(const ByteSource& source, ReadContext& context,
                    std::vector<ProfileBuilder>& profiles) const override {
    const DecodedText decoded = decode_text(source);
    return TraceReading(decoded, context).read(profiles);
  }
};

}  // namespace

std::unique_ptr<FormatReader> make_chrome_trace_reader() {
  return std::make_unique<ChromeTraceReader>();
}

}  // namespace profd
