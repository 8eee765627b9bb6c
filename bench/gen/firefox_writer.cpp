#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "bench/gen/json_text.h"
#include "bench/gen/writer.h"

namespace profd::bench {
namespace {

// A processed Firefox profile of one thread: tables by column, stacks as a tree, weights that count samples
// of 10 ms. Frames are functions with a line. The tables are kept as text, 12 bytes a stack beside it.
class FirefoxWriter : public Writer {
 public:
  FirefoxWriter(const Program& program, Sink& sink)
      : program_(program), sink_(sink), function_of_(program.functions.size(), kNone) {}

  void begin_pass(int) override {}
  std::uint64_t projected_size() const override {
    std::uint64_t size = 1200;
    for (const auto& column : columns_) size += column.size();
    // Columns of one value.
    return size + 4 * n_stacks_ + 29 * n_frames_ + 20 * n_functions_;
  }

  void add(const Sample& sample) override {
    std::uint32_t stack = kNone;
    for (const std::uint32_t index : sample.sites) {
      const Site& site = program_.sites[index];
      stack = child(stack, site.function, site.lines[site.n_inlined]);
      for (std::uint32_t i = site.n_inlined; i > 0; --i)
        stack = child(stack, site.inlined[i - 1], site.lines[i - 1]);
    }
    number(kSampleStack, stack);
    number(kSampleWeight, sample.count);
    fmt::format_to(std::back_inserter(columns_[kSampleTime]), "{}.{:06},", sample.time_ns / 1'000'000,
                   sample.time_ns % 1'000'000);
    ++n_samples_;
  }

  void finish() override {
    sink_.write(
        R"({"meta":{"interval":10,"startTime":1700000000000,"processType":0,"product":"stored",)"
        R"("stackwalk":1,"version":27,"preprocessedProfileVersion":47,"symbolicated":true,"categories":)"
        R"([{"name":"Other","color":"grey","subcategories":["Other"]}],"markerSchema":[]},"libs":[],)"
        R"("pages":[],"threads":[{"name":"stored","processName":"stored","processType":"default",)"
        R"("processStartupTime":0,"processShutdownTime":null,"registerTime":0,"unregisterTime":null,)"
        R"("pausedRanges":[],"isMainThread":true,"pid":"4100","tid":4100,)");
    begin("samples", n_samples_);
    sink_.write(R"(,"weightType":"samples")");
    column("stack", kSampleStack);
    column("time", kSampleTime);
    column("weight", kSampleWeight);
    end();
    sink_.write(
        R"("markers":{"length":0,"name":[],"startTime":[],"endTime":[],"phase":[],"category":[],"data":[]},)");
    begin("stackTable", n_stacks_);
    column("frame", kStackFrame);
    column("prefix", kStackPrefix);
    constant("category", "0", n_stacks_);
    constant("subcategory", "0", n_stacks_);
    end();
    begin("frameTable", n_frames_);
    column("func", kFrameFunction);
    column("line", kFrameLine);
    for (const char* name : {"address", "inlineDepth", "category", "subcategory"})
      constant(name, name[0] == 'a' ? "-1" : "0", n_frames_);
    for (const char* name : {"column", "nativeSymbol", "innerWindowID", "implementation"})
      constant(name, "null", n_frames_);
    end();
    begin("funcTable", n_functions_);
    column("name", kFunctionName);
    column("fileName", kFunctionFile);
    column("lineNumber", kFunctionLine);
    constant("isJS", "false", n_functions_);
    constant("relevantForJS", "false", n_functions_);
    constant("resource", "-1", n_functions_);
    constant("columnNumber", "null", n_functions_);
    end();
    sink_.write(R"("resourceTable":{"length":0,"lib":[],"name":[],"host":[],"type":[]},"nativeSymbols":)"
                R"({"length":0,"libIndex":[],"address":[],"name":[],"functionSize":[]})");
    column("stringArray", kStrings);
    sink_.write("}]}");
  }

 private:
  enum Column {
    kSampleStack,
    kSampleTime,
    kSampleWeight,
    kStackFrame,
    kStackPrefix,
    kFrameFunction,
    kFrameLine,
    kFunctionName,
    kFunctionFile,
    kFunctionLine,
    kStrings,
    kColumns
  };

  void number(Column column, std::uint64_t value) {
    const fmt::format_int digits(value);
    columns_[column].append(digits.data(), digits.size());
    columns_[column] += ',';
  }
  void column(std::string_view name, Column column) {
    std::string& text = columns_[column];
    if (!text.empty()) text.pop_back();
    sink_.write(fmt::format(R"(,"{}":[)", name));
    sink_.write(text);
    sink_.write("]");
  }
  void constant(std::string_view name, std::string_view value, std::uint64_t n) {
    sink_.write(fmt::format(R"(,"{}":[)", name));
    for (std::uint64_t i = 0; i < n; ++i) {
      if (i > 0) sink_.write(",");
      sink_.write(value);
    }
    sink_.write("]");
  }
  void begin(std::string_view name, std::uint64_t length) {
    sink_.write(fmt::format(R"("{}":{{"length":{})", name, length));
  }
  void end() { sink_.write("},"); }

  std::uint32_t child(std::uint32_t prefix, std::uint32_t function, std::uint32_t line) {
    const std::uint32_t frame = this->frame(function, line);
    const auto [found, is_new] = stacks_.try_emplace(std::uint64_t{prefix} << 32 | frame, n_stacks_);
    if (is_new) {
      ++n_stacks_;
      number(kStackFrame, frame);
      if (prefix == kNone)
        columns_[kStackPrefix] += "null,";
      else
        number(kStackPrefix, prefix);
    }
    return found->second;
  }

  std::uint32_t frame(std::uint32_t function, std::uint32_t line) {
    const auto [found, is_new] = frames_.try_emplace(std::uint64_t{function} << 32 | line, n_frames_);
    if (is_new) {
      ++n_frames_;
      number(kFrameFunction, this->function(function));
      number(kFrameLine, line);
    }
    return found->second;
  }

  std::uint32_t function(std::uint32_t index) {
    std::uint32_t& row = function_of_[index];
    if (row != kNone) return row;
    row = n_functions_++;
    const Function& function = program_.functions[index];
    number(kFunctionName, string(function.name));
    number(kFunctionFile, string(program_.files[function.file]));
    number(kFunctionLine, function.start_line);
    return row;
  }

  std::uint32_t string(const std::string& text) {
    const auto [found, is_new] = strings_.try_emplace(text, static_cast<std::uint32_t>(strings_.size()));
    if (is_new) {
      append_json_string(columns_[kStrings], text);
      columns_[kStrings] += ',';
    }
    return found->second;
  }

  const Program& program_;
  Sink& sink_;
  std::string columns_[kColumns];
  std::uint32_t n_samples_ = 0, n_stacks_ = 0, n_frames_ = 0, n_functions_ = 0;
  std::vector<std::uint32_t> function_of_;
  std::unordered_map<std::uint64_t, std::uint32_t> stacks_, frames_;  // prefix and frame; function and line
  std::unordered_map<std::string, std::uint32_t> strings_;
};

}  // namespace

std::unique_ptr<Writer> make_firefox_writer(const Program& program, Sink& sink) {
  return std::make_unique<FirefoxWriter>(program, sink);
}

}  // namespace profd::bench
