// The Firefox Profiler's processed JSON, version 48 (the newest that keeps all tables with their thread).
#include <array>
#include <memory>

#include "core/model/module_address.h"
#include "formats/writers/measurements.h"
#include "formats/writers/output.h"
#include "formats/writers/string_rows.h"

namespace profd {
namespace {

using namespace writers;

constexpr std::array<std::string_view, 2> kFirefoxExtensions{".firefox.json", ".processed.json"};
// Categories in the order of meta.categories.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kCategories{
    {{"Other", "grey"}, {"JavaScript", "yellow"}, {"Kernel", "orange"}, {"GC / CC", "purple"}}};

std::size_t category_of(FrameKind kind) {
  switch (kind) {
    case FrameKind::jit:
    case FrameKind::interpreted:
      return 1;
    case FrameKind::kernel:
      return 2;
    case FrameKind::gc:
      return 3;
    default:
      return 0;
  }
}

class FirefoxWriting {
 public:
  FirefoxWriting(const Profile& profile, MetricId metric, const WriteOptions& options, const ByteSink& sink)
      : profile_(profile), metric_(metric), out_(sink, options.stop), rows_(profile) {}

  Result<void> run() {
    const std::string& unit = profile_.metrics()[metric_.v].unit;
    const std::int64_t scale = nanoseconds_per(unit);
    weight_type_ = scale != 0 ? "tracing-ms" : unit == "bytes" ? "bytes" : "samples";
    scale_ = scale;
    out_.put(R"({"meta":{"interval":1,"startTime":)");
    out_.number(profile_.info().time_ns ? static_cast<double>(*profile_.info().time_ns) / 1e6 : 0.0);
    out_.put(R"(,"product":)");
    out_.json(profile_.info().program.empty() ? std::string_view("profd")
                                              : std::string_view(profile_.info().program));
    out_.put(
        R"(,"importedFrom":"profd","stackwalk":1,"version":27,"preprocessedProfileVersion":48,"symbolicated":true)");
    out_.put(R"(,"processType":0,"markerSchema":[],"categories":[)");
    for (std::size_t i = 0; i < kCategories.size(); ++i) {
      out_.put(i == 0 ? "{\"name\":" : ",{\"name\":");
      out_.json(kCategories[i].first);
      out_.key("color");
      out_.json(kCategories[i].second);
      out_.put(R"(,"subcategories":["Other"]})");
    }
    out_.put("]},\"libs\":[],\"pages\":[],\"threads\":[");
    std::vector<std::vector<std::uint32_t>> by_thread(profile_.threads().size() + 1);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (as_double(rows_.value(i, metric_)) == 0) continue;
      const std::uint32_t thread = rows_[i].thread;
      by_thread[thread < profile_.threads().size() ? thread : profile_.threads().size()].push_back(
          static_cast<std::uint32_t>(i));
    }
    bool first = true;
    for (std::size_t t = 0; t < by_thread.size() && !out_.failed(); ++t) {
      if (by_thread[t].empty() && !(first && t + 1 == by_thread.size())) continue;
      if (!first) out_.put(',');
      first = false;
      write_thread(t, by_thread[t]);
    }
    out_.put("]}\n");
    return out_.finish();
  }

 private:
  template <class Each>
  void column(std::string_view name, std::size_t n, Each each) {
    out_.key(name);
    out_.put('[');
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0) out_.put(',');
      each(i);
    }
    out_.put(']');
  }
  void nulls(std::string_view name, std::size_t n) {
    column(name, n, [&](std::size_t) { out_.put("null"); });
  }
  void constant(std::string_view name, std::size_t n, std::string_view value) {
    column(name, n, [&](std::size_t) { out_.put(value); });
  }

  std::uint32_t string(std::string_view text) { return strings_.row(text); }

  // Milliseconds of a time, else the value itself.
  void weight(const Value& value) {
    if (scale_ == 0) return out_.number(value);
    out_.number(as_double(value) * static_cast<double>(scale_) / 1e6);
  }

  void write_thread(std::size_t t, const std::vector<std::uint32_t>& rows) {
    strings_.clear();
    const bool known = t < profile_.threads().size();
    const ThreadTable& threads = profile_.threads();
    std::string name = known ? std::string(text_of(profile_, threads.name[t])) : std::string();
    out_.put("{\"name\":");
    out_.json(name.empty() ? "Thread" : name);
    out_.key("processName");
    out_.json(known ? text_of(profile_, threads.process_name[t]) : std::string_view());
    out_.put(
        R"(,"processType":"default","processStartupTime":0,"processShutdownTime":null,"registerTime":0)");
    out_.put(R"(,"unregisterTime":null,"pausedRanges":[],"isMainThread":)");
    out_.put(t == 0 ? "true" : "false");
    out_.key("pid");
    out_.json(std::to_string(known && threads.pid[t] >= 0 ? threads.pid[t] : 0));
    out_.key("tid");
    out_.number(known && threads.tid[t] >= 0 ? threads.tid[t] : static_cast<std::int64_t>(t));

    // The stacks that the thread has: contexts of its samples and all above them, parents first.
    const ContextTree& tree = profile_.tree();
    std::vector<std::uint32_t> stack_of(tree.size(), kNone), contexts;
    for (const std::uint32_t row : rows) {
      for (std::uint32_t c = rows_[row].context; c != 0 && stack_of[c] == kNone; c = tree.parent[c])
        stack_of[c] = 0;
    }
    for (std::uint32_t c = 1; c < tree.size(); ++c) {
      if (stack_of[c] == kNone) continue;
      stack_of[c] = static_cast<std::uint32_t>(contexts.size());
      contexts.push_back(c);
    }
    write_samples(rows, stack_of);
    write_tables(contexts, stack_of);
    out_.put('}');
  }

  void write_samples(const std::vector<std::uint32_t>& rows, const std::vector<std::uint32_t>& stack_of) {
    out_.put(",\"samples\":{\"length\":");
    out_.number(std::uint64_t{rows.size()});
    out_.key("weightType");
    out_.json(weight_type_);
    column("stack", rows.size(), [&](std::size_t i) {
      const std::uint32_t context = rows_[rows[i]].context;
      if (context == 0)
        out_.put("null");
      else
        out_.number(std::uint64_t{stack_of[context]});
    });
    column("time", rows.size(), [&](std::size_t i) {
      const std::optional<std::int64_t> time = rows_[rows[i]].time;
      out_.number(time ? static_cast<double>(*time) / 1e6 : static_cast<double>(i));
    });
    column("weight", rows.size(), [&](std::size_t i) { weight(rows_.value(rows[i], metric_)); });
    out_.put(
        "},\"markers\":{\"length\":0,\"name\":[],\"startTime\":[],\"endTime\":[],\"phase\":[],\"category\":[]"
        ",\"data\":[]}");
  }

  void write_tables(const std::vector<std::uint32_t>& contexts, const std::vector<std::uint32_t>& stack_of) {
    const ContextTree& tree = profile_.tree();
    const FrameTable& table = profile_.frames();
    std::vector<std::uint32_t> frame_row(table.size(), kNone), frames,
        func_row(profile_.functions().size(), kNone), functions;
    for (const std::uint32_t c : contexts) {
      const std::uint32_t frame = tree.frame[c];
      if (frame_row[frame] != kNone) continue;
      frame_row[frame] = static_cast<std::uint32_t>(frames.size());
      frames.push_back(frame);
      const std::uint32_t function = table.function[frame].v;
      if (func_row[function] != kNone) continue;
      func_row[function] = static_cast<std::uint32_t>(functions.size());
      functions.push_back(function);
    }
    const std::size_t n = contexts.size(), n_frames = frames.size(), n_functions = functions.size();
    const auto optional = [&](std::uint32_t value) {
      if (value == 0)
        out_.put("null");
      else
        out_.number(std::uint64_t{value});
    };
    out_.put(",\"stackTable\":{\"length\":");
    out_.number(std::uint64_t{n});
    column("frame", n,
           [&](std::size_t i) { out_.number(std::uint64_t{frame_row[tree.frame[contexts[i]]]}); });
    column("prefix", n, [&](std::size_t i) {
      const std::uint32_t parent = tree.parent[contexts[i]];
      if (parent == 0)
        out_.put("null");
      else
        out_.number(std::uint64_t{stack_of[parent]});
    });
    column("category", n, [&](std::size_t i) {
      out_.number(std::uint64_t{category_of(table.kind[tree.frame[contexts[i]]])});
    });
    constant("subcategory", n, "0");
    out_.put("},\"frameTable\":{\"length\":");
    out_.number(std::uint64_t{n_frames});
    column("address", n_frames, [&](std::size_t i) {
      const std::uint64_t address = lookup_address(table, frames[i]);
      // JavaScript numbers are exact to 2^53.
      if (address == 0 || address > (std::uint64_t{1} << 53))
        out_.put("-1");
      else
        out_.number(address);
    });
    column("inlineDepth", n_frames, [&](std::size_t i) { out_.put(table.inlined[frames[i]] ? "1" : "0"); });
    column("category", n_frames,
           [&](std::size_t i) { out_.number(std::uint64_t{category_of(table.kind[frames[i]])}); });
    constant("subcategory", n_frames, "0");
    column("func", n_frames,
           [&](std::size_t i) { out_.number(std::uint64_t{func_row[table.function[frames[i]].v]}); });
    nulls("nativeSymbol", n_frames);
    nulls("innerWindowID", n_frames);
    nulls("implementation", n_frames);
    column("line", n_frames, [&](std::size_t i) { optional(table.line[frames[i]]); });
    column("column", n_frames, [&](std::size_t i) { optional(table.column[frames[i]]); });
    out_.put("},\"funcTable\":{\"length\":");
    out_.number(std::uint64_t{n_functions});
    constant("isJS", n_functions, "false");
    constant("relevantForJS", n_functions, "false");
    const FunctionTable& all = profile_.functions();
    column("name", n_functions, [&](std::size_t i) {
      out_.number(std::uint64_t{string(text_of(profile_, all.name[functions[i]]))});
    });
    constant("resource", n_functions, "-1");
    column("fileName", n_functions, [&](std::size_t i) {
      const std::string_view file = text_of(profile_, all.file[functions[i]]);
      if (file.empty())
        out_.put("null");
      else
        out_.number(std::uint64_t{string(file)});
    });
    column("lineNumber", n_functions, [&](std::size_t i) { optional(all.start_line[functions[i]]); });
    column("columnNumber", n_functions, [&](std::size_t i) { optional(all.start_column[functions[i]]); });
    out_.put("},\"resourceTable\":{\"length\":0,\"lib\":[],\"name\":[],\"host\":[],\"type\":[]}");
    out_.put(
        ",\"nativeSymbols\":{\"length\":0,\"libIndex\":[],\"address\":[],\"name\":[],\"functionSize\":[]}");
    column("stringArray", strings_.size(), [&](std::size_t i) { out_.json(strings_[i]); });
  }

  const Profile& profile_;
  MetricId metric_;
  Output out_;
  Measurements rows_;
  std::string_view weight_type_;
  std::int64_t scale_ = 0;
  StringRows strings_;
};

class FirefoxWriter final : public FormatWriter {
 public:
  const WriterInfo& info() const override {
    static const WriterInfo info{"firefox",
                                 "Firefox Profiler JSON",
                                 kFirefoxExtensions,
                                 "application/json",
                                 true,
                                 "one metric, threads, times, lines, columns, kinds as categories"};
    return info;
  }

  Result<void> write(std::span<const ProfilePtr> profiles, const WriteOptions& options, const ByteSink& sink,
                     LossReport& losses) const override {
    const Profile& profile = *profiles.front();
    PROFD_TRY(const MetricId metric, chosen_metric(profile, options, losses));
    report_losses(profiles, 1,
                  {.lines = true, .addresses = true, .inlining = true, .threads = true, .times = true},
                  losses);
    const std::string& unit = profile.metrics()[metric.v].unit;
    if (!is_time_unit(unit) && unit != "bytes" && unit != "count")
      count_loss(losses, "unit", "The format does not have the metric's unit; values are written as samples.",
                 1);
    return FirefoxWriting(profile, metric, options, sink).run();
  }
};

}  // namespace

std::unique_ptr<FormatWriter> make_firefox_writer() {
  return std::make_unique<FirefoxWriter>();
}

}  // namespace profd
